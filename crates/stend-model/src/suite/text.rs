//! A suite as a person writes it in TOML.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toml::Spanned;

use super::{Action, Gates, Layout, Order, ServerOn, Steady, Verification};
use crate::metric::Metric;
use crate::quantity::{Share, Span};
use crate::target::vm::VmText;

/// A suite file.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "A suite of stend")]
pub struct SuiteText {
    /// Its name, by which `stend run` finds it.
    pub name: String,
    /// What it measures, in a sentence.
    pub title: String,
    /// The same in the report's other languages.
    #[serde(default)]
    pub titles: BTreeMap<String, String>,
    /// What to know before reading its figures: a sentence or a few, which stand beside them.
    pub note: Option<String>,
    /// The same in the report's other languages.
    #[serde(default)]
    pub notes: BTreeMap<String, String>,
    /// Where the idea comes from, if it is somebody's.
    pub source: Option<String>,
    /// The order of the repeats.
    #[serde(default)]
    pub order: Order,
    /// The order's seed; drawn anew for each run if not given.
    pub seed: Option<u64>,
    /// How often the machine's counters are sampled, in hertz, from 1 to 100; 0 switches the sampler off. Default 10.
    #[schemars(with = "Option<u32>", range(max = 100))]
    pub sample_hertz: Option<Spanned<u32>>,
    /// Repeats that do not count are made again only until all repeats together have taken so long. What is planned is always made.
    /// Default: each scenario gets up to twice its repeats, however long that takes.
    pub time_budget: Option<Span>,
    /// Default of the scenarios: valid repeats wanted. Default 10.
    #[schemars(with = "Option<u32>", range(min = 1))]
    pub repeats: Option<Spanned<u32>>,
    /// Default of the scenarios: repeats that come before and do not count. Default 1.
    pub warmup: Option<u32>,
    /// Default of the scenarios: end early at this precision.
    pub precision: Option<Share>,
    /// Default of the scenarios: a repeat that takes longer has failed. Default 60s.
    pub timeout: Option<Span>,
    /// Default of the scenarios: about how long a repeat takes.
    pub expected: Option<Span>,
    /// Default of the scenarios: what makes a repeat invalid.
    #[serde(default)]
    pub gates: Gates,
    /// What `--scale` multiplies.
    #[serde(default)]
    pub scale: Scale,
    /// Lists of metrics that several scenarios share, by name; a scenario takes one with `metric_set`.
    #[serde(default)]
    pub metric_sets: BTreeMap<String, Vec<Metric>>,
    /// Values for `{name}` in scenarios; `--set name=value` changes one.
    #[serde(default)]
    pub variables: BTreeMap<String, Scalar>,
    /// How the figures are laid out. Default: a line for each scenario, with its main metric.
    #[schemars(with = "Option<Layout>")]
    pub table: Option<Spanned<Layout>>,
    /// A virtual machine that is set up on the machine under test, and measured in turns with it.
    #[schemars(with = "Option<GuestText>")]
    pub guest: Option<Spanned<GuestText>>,
    /// What is measured.
    #[schemars(with = "Vec<ScenarioText>")]
    pub scenario: Vec<Spanned<ScenarioText>>,
}

/// A guest of the machine under test.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GuestText {
    /// What it is: the keys of a file for `stend rig up`.
    #[serde(default)]
    pub vm: VmText,
    /// Values that variables of the suite have in a guest.
    #[serde(default)]
    pub variables: BTreeMap<String, Scalar>,
}

/// The parameters that `--scale` multiplies.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scale {
    /// Parameters that are sizes; scaled ones are whole MiB, at least one.
    #[serde(default)]
    pub sizes: Vec<String>,
    /// Parameters that are durations; scaled ones are whole seconds, at least one.
    #[serde(default)]
    pub durations: Vec<String>,
}

/// A scenario, or with a matrix a family of them.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScenarioText {
    /// Its name; with a matrix it must hold the `{axis}` names, so that each scenario has its own.
    pub name: String,
    /// What it measures, in the words that the references use.
    pub measures: Option<String>,
    /// What loads the machine: `stend-probe SUBCOMMAND`, `fio`, `openssl`, `gzip`, `wrk` and others. Either this or `command`.
    pub instrument: Option<String>,
    /// A program of your own that prints the wire, with its arguments. Either this or `instrument`.
    pub command: Option<Vec<String>>,
    /// The instrument's parameters.
    #[serde(default)]
    pub parameters: BTreeMap<String, Scalar>,
    /// The server that it loads: the name of one of `servers/`, or the path of a TOML file beside the suite: `mine.toml`.
    pub server: Option<String>,
    /// Where the server stands if the scenario is measured in a guest. Default: in the guest.
    pub server_on: Option<ServerOn>,
    /// Axes: one scenario is made for each combination of their values.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, Axis>")]
    pub matrix: BTreeMap<String, Spanned<Axis>>,
    /// Combinations to leave out: all axes named must match.
    #[serde(default)]
    pub exclude: Vec<BTreeMap<String, Scalar>>,
    /// What is computed from each repeat; the first is the main one. Either this or `metric_set`.
    #[serde(default)]
    pub metrics: Vec<Metric>,
    /// The name of a list in the suite's `metric_sets`.
    pub metric_set: Option<String>,
    /// Valid repeats wanted.
    #[schemars(with = "Option<u32>", range(min = 1))]
    pub repeats: Option<Spanned<u32>>,
    /// Repeats that come before and do not count.
    pub warmup: Option<u32>,
    /// Instead of a fixed number of warm-ups: as many as it takes until they are steady. `{}` is SNIA's rule.
    pub steady: Option<Steady>,
    /// The scenario only prepares those after it: `repeats` says how often it is run, and none of them counts.
    #[serde(default)]
    pub precondition: bool,
    /// An open load at a share of what another scenario of the suite has reached.
    pub rate: Option<RateText>,
    /// What breaks while the target is loaded, and how it is mended again.
    #[serde(default)]
    pub faults: Vec<FaultText>,
    /// End early at this precision.
    pub precision: Option<Share>,
    /// A repeat that takes longer has failed.
    pub timeout: Option<Span>,
    /// About how long a repeat takes.
    pub expected: Option<Span>,
    /// What makes a repeat invalid; what is not named here is as in the suite.
    #[serde(default)]
    pub gates: Gates,
    /// Whether a repeat must prove that its work was right.
    #[serde(default)]
    pub verification: Verification,
    /// Programs that must be on the machine's PATH.
    #[serde(default)]
    pub needs: Vec<String>,
    /// Names of scenarios of this suite that no figure of this one can be expected to pass, such as a copy within the first cache for
    /// a pipe. Figures are shown with the share of them that is reached.
    #[serde(default)]
    pub ceiling: Vec<CeilingText>,
    /// The fewest processors that the machine must have online; a name of an axis in braces too.
    pub processors: Option<Scalar>,
}

/// A scenario of this suite that is a ceiling of another: its name, or `{ of = "one process", times = "{multi}" }`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected a scenario's name, or { of = \"NAME\", times = 4 }")]
pub enum CeilingText {
    /// Its figures themselves.
    Name(String),
    /// So many times its rates.
    Times(TimesText),
}

/// So many times the rates of a scenario.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TimesText {
    /// The scenario's name.
    pub of: String,
    /// How many times, a whole number from 1.
    pub times: Scalar,
}

/// The rate of an open load: `{ of = "4k random read", share = "70%" }`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RateText {
    /// The scenario whose operations per second are the whole.
    pub of: String,
    /// The share of them, above 0 and at most 100%.
    pub share: Scalar,
}

/// A fault, or what mends it: `{ at = "30%", disk = 3, action = "die" }`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FaultText {
    /// When: a share of the parameter `runtime`, after the ramp (`"30%"`), or a time since the start of the load (`"3s"`).
    pub at: Scalar,
    /// A disk of a pool, by its number from 0. Either this or `controller`.
    pub disk: Option<u32>,
    /// A controller, by its number from 0. Either this or `disk`.
    pub controller: Option<u32>,
    /// All disks together, in place of one.
    #[serde(default)]
    pub pool: bool,
    /// `die` and `replace`, `rot` and `scrub`, `slow` and `recover`, or `lose` of a disk, `kill` and `restart` of a controller, `power-off` of
    /// the pool.
    pub action: Action,
}

/// A text, number or truth value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected a text in quotes, a number, true or false")]
pub enum Scalar {
    /// `true` or `false`.
    Truth(bool),
    /// A whole number.
    Integer(i64),
    /// A number with a fraction.
    Float(f64),
    /// A text.
    Text(String),
}

impl std::fmt::Display for Scalar {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Truth(value) => write!(f, "{value}"),
            Self::Integer(value) => write!(f, "{value}"),
            Self::Float(value) => write!(f, "{value}"),
            Self::Text(value) => f.write_str(value),
        }
    }
}

/// The values of an axis: a list, or a range.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected a list of values, or a range: { from = 1, to = 8, times = 2 }")]
pub enum Axis {
    /// Each value by itself.
    List(Vec<Scalar>),
    /// From one number or size to another.
    Range(Range),
}

/// A range: `{ from = "4k", to = "64M", times = 4 }` or `{ from = 1, to = 9, step = 2 }`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Range {
    /// The first value: a whole number or a size.
    pub from: Scalar,
    /// The last value, if the steps hit it.
    pub to: Scalar,
    /// What is added each time. Either this or `times`.
    pub step: Option<Scalar>,
    /// What is multiplied by each time, at least 2. Either this or `step`.
    pub times: Option<u64>,
}
