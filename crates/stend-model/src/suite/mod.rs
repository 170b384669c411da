//! Suites: scenarios in a TOML file, and the concrete scenarios that they expand to.
//!
//! [`text`] is the file as a person writes it; [`expand`](Suite::expand) turns it into a [`Suite`], in which variables,
//! ranges and matrices are gone and every scenario says exactly what is run. `docs/reference/suites.md` explains the format.

mod error;
mod expand;
mod faults;
mod gates;
mod layout;
mod template;
pub mod text;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fmt::Display;
use std::path::Path;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use error::{AxisError, Mistake, ScenarioError, SuiteError};
pub use faults::{Action, Fault, FaultError, Part};
pub use gates::{Gate, Gates};
pub use layout::{Key, Keys, Layout, LayoutError};
pub use template::TemplateError;

use crate::identity::identity_of;
use crate::image::Image;
use crate::metric::{Expression, Metric, Unit};
use crate::quantity::{Share, Span};
use crate::server::{Server, UnknownPlace, filled, lun_number, names_in};
use crate::target::vm::Vm;

/// A suite, ready to be planned: every scenario is concrete.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Suite {
    /// Its name, by which `stend run` finds it.
    pub name: String,
    /// What it measures, in a sentence.
    pub title: String,
    /// The same in other languages, by the code of the language: `ru`.
    #[serde(default)]
    pub titles: BTreeMap<String, String>,
    /// What to know before reading its figures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The same in other languages, by the code of the language.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub notes: BTreeMap<String, String>,
    /// Where the idea comes from, if it is somebody's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The order of the repeats.
    pub order: Order,
    /// The order's seed; drawn anew for each run if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// How often the machine's counters are sampled, in hertz; 0 switches the sampler off.
    pub sample_hertz: u32,
    /// Repeats that do not count are made again only until all repeats together have taken so long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_budget: Option<Span>,
    /// By how much sizes and durations were scaled down; 1 is the suite as it stands.
    pub scale: f64,
    /// The variables that were set by hand.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub set: BTreeMap<String, String>,
    /// How its figures are laid out, if not as a line for each scenario.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<Layout>,
    /// The servers that its scenarios load, by the names that they have there.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub servers: BTreeMap<String, Server>,
    /// The images of these servers' guests, by the servers' names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub images: BTreeMap<String, Image>,
    /// The files of the folder beside it, by their paths from there, where it is a part of the program. They are put on the machine for a run.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, String>,
    /// The guest that is measured in turns with the machine on which it is set up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guest: Option<Vm>,
    /// What is measured.
    pub scenarios: Vec<Scenario>,
}

/// One thing that is measured: a load, its parameters, and what is computed from it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Scenario {
    /// Its name, unique in the suite.
    pub name: String,
    /// Where it stands in the family that a matrix made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub family: Option<Family>,
    /// What it measures, in the words that the references use; published figures with the same words stand beside it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measures: Option<String>,
    /// What loads the machine.
    pub instrument: Instrument,
    /// The instrument's parameters.
    pub parameters: BTreeMap<String, String>,
    /// The server that it loads, by its name in the suite's [`servers`](Suite::servers). `@name@` in the command and in parameters is that
    /// server's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// Where that stands, if not on the machine that is measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_on: Option<ServerOn>,
    /// What is computed from each repeat; the first is the main one.
    pub metrics: Vec<Metric>,
    /// How many valid repeats are wanted.
    pub repeats: u32,
    /// How many repeats come before and do not count.
    pub warmup: u32,
    /// When its warm-ups are steady; `warmup` is then the most that there may be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steady: Option<Steady>,
    /// The rate of an open load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// What breaks while it loads its target, and how it is mended, in the order of time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<Fault>,
    /// The measured repeats may end early, at six or more, once the interval's half-width is below this share of the median.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub precision: Option<Share>,
    /// A repeat that takes longer is ended and has failed.
    pub timeout: Span,
    /// About how long a repeat takes, for the progress display before the first one has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<Span>,
    /// What makes a repeat invalid.
    pub gates: Gates,
    /// Whether a repeat must prove that its work was right.
    pub verification: Verification,
    /// Programs that must be on the machine's PATH.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<String>,
    /// Scenarios of the suite whose figures this one's are held against, as shares. No part of the work.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ceiling: Vec<Ceiling>,
    /// The fewest processors that the machine must have online. No part of the work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processors: Option<u32>,
    /// The words of the command and the values of parameters that hold `{suite_directory}`, each with what the suite says in its
    /// place: `/home/me/wc.sh` with `{suite_directory}/wc.sh`. Where a suite lies is no part of the work.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub places: BTreeMap<String, String>,
    /// Files in the suite's directory that the command names, as the suite says them, each with the SHA-256 of its contents.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, String>,
}

/// Where a server stands that is loaded from a guest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ServerOn {
    /// On the guest's host, at the other end of the guest's network. The host itself loads it by its loopback interface.
    Host,
}

/// A scenario whose figures bound those of another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Ceiling {
    /// Its figures themselves.
    Of(String),
    /// So many times its rates: what as many as that would do if each were alone.
    Times {
        /// The scenario's name.
        of: String,
        /// How many times.
        times: u32,
    },
}

impl Ceiling {
    /// The scenario's name.
    pub fn of(&self) -> &str {
        match self {
            Self::Of(of) | Self::Times { of, .. } => of,
        }
    }

    /// By how much its rates are multiplied.
    pub fn times(&self) -> u32 {
        match self {
            Self::Of(_) => 1,
            Self::Times { times, .. } => *times,
        }
    }
}

/// A scenario's place in the family that a matrix made. No part of the work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Family {
    /// The family's name, without the values of its axes: `4k random read, depth DEPTH`.
    pub name: String,
    /// The scenario's value on each axis.
    pub point: BTreeMap<String, String>,
}

/// What a scenario does: its instrument, parameters, how metrics are computed, and verification. Two scenarios may be compared
/// where this agrees.
///
/// Names, numbers of repeats and gates are left out: they change how well something is measured, not what. So are places: the
/// same work in another directory is the same work.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Work<'a> {
    /// What loads the machine.
    pub instrument: Cow<'a, Instrument>,
    /// Its parameters, without those that only name a place.
    pub parameters: BTreeMap<&'a str, &'a str>,
    /// Value and unit of each metric, by name: which of them is the main one, and stands first, changes no figure.
    pub metrics: BTreeMap<&'a str, (&'a Expression, Unit)>,
    /// Whether a repeat must prove that its work was right.
    pub verification: Verification,
    /// In which state of the machine it is measured, if in a steady one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steady: Option<&'a Steady>,
    /// The metric by which it is steady, which is the main one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steady_by: Option<&'a str>,
    /// The rate of an open load, as a share: a machine is loaded by what it can do itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<&'a Rate>,
    /// What breaks meanwhile.
    #[serde(skip_serializing_if = "<[Fault]>::is_empty")]
    pub faults: &'a [Fault],
    /// Where its server stands, if not on the machine that is measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_on: Option<ServerOn>,
}

impl Scenario {
    /// Whether it only prepares those after it, and counts for nothing.
    pub fn is_precondition(&self) -> bool {
        self.repeats == 0
    }

    /// Whether its pool ends with each repeat, and what is left of it is read again.
    pub fn ends_its_pool(&self) -> bool {
        self.faults.iter().any(|fault| fault.action.is_the_end())
    }

    /// What it does, wherever that is.
    pub fn work(&self) -> Work<'_> {
        let places = self.instrument.place_parameters();
        let parameters = self.parameters.iter().filter(|(name, _)| !places.contains(&name.as_str()));
        Work {
            instrument: match &self.instrument {
                Instrument::Command(words) => {
                    let words = words.iter().map(|word| self.without_place(word).to_owned());
                    Cow::Owned(Instrument::Command(words.collect()))
                }
                other => Cow::Borrowed(other),
            },
            parameters: parameters.map(|(name, value)| (name.as_str(), self.without_place(value))).collect(),
            metrics: self.metrics.iter().map(|metric| (metric.name.as_str(), (&metric.value, metric.unit))).collect(),
            verification: self.verification,
            steady: self.steady.as_ref(),
            steady_by: self.metrics.first().filter(|_| self.steady.is_some()).map(|metric| metric.name.as_str()),
            rate: self.rate.as_ref(),
            faults: &self.faults,
            server_on: self.server_on,
        }
    }

    /// The identity of its [`work`](Self::work).
    pub fn identity(&self) -> String {
        identity_of(&self.work())
    }

    /// The places where it is done, by parameter; `{suite_directory}` and what follows it is named as the suite says it.
    pub fn where_done(&self) -> BTreeMap<&str, &str> {
        let parameters = self.instrument.place_parameters();
        let given = parameters.iter().filter_map(|name| Some((*name, self.parameters.get(*name)?.as_str())));
        self.places.iter().map(|(place, name)| (name.as_str(), place.as_str())).chain(given).collect()
    }

    fn without_place<'a>(&'a self, text: &'a str) -> &'a str {
        self.places.get(text).map_or(text, String::as_str)
    }

    /// Whether it loads the LUNs of a run's target.
    pub fn loads_luns(&self) -> bool {
        self.instrument.loads_luns() || self.luns_named().next().is_some()
    }

    /// The numbers of the LUNs that its command or a parameter names, as `@lun0@`.
    pub fn luns_named(&self) -> impl Iterator<Item = u32> + use<'_> {
        luns_named(&self.instrument, &self.parameters)
    }

    /// The scenario with these values for the `@name@` of its server and of the target's LUNs.
    ///
    /// # Errors
    /// Something there names what neither has.
    pub fn placed(&self, values: &BTreeMap<String, String>) -> Result<Self, UnknownPlace> {
        let mut scenario = self.clone();
        for value in scenario.parameters.values_mut() {
            *value = filled(value, values)?;
        }
        if let Instrument::Command(words) = &mut scenario.instrument {
            for word in words {
                *word = filled(word, values)?;
            }
        }
        Ok(scenario)
    }

    /// The scenario with the suite's directory here.
    #[must_use]
    pub fn in_directory(&self, directory: &str) -> Self {
        let mut scenario = self.clone();
        let put = |text: &mut String| {
            if let Some(place) = self.places.get(text) {
                *text = place.replace("{suite_directory}", directory);
            }
        };
        scenario.parameters.values_mut().for_each(put);
        if let Instrument::Command(words) = &mut scenario.instrument {
            words.iter_mut().for_each(put);
        }
        scenario
    }

    /// The metric of this name.
    pub fn metric(&self, name: &str) -> Option<&Metric> {
        self.metrics.iter().find(|metric| metric.name == name)
    }
}

/// When rounds of a load are steady: SNIA's rule, or stricter or milder ones. The rounds are the scenario's warm-ups, and the value is its
/// main metric. `docs/reference/suites.md` explains it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Steady {
    /// Rounds that are looked at together, from 3. Default 5.
    #[schemars(range(min = 3))]
    pub rounds: u32,
    /// Rounds at most; then it is measured all the same, and shown as not steady. Default 25.
    pub most: u32,
    /// How far the highest may be from the lowest, as a share of the mean. Default 20%.
    pub range: Share,
    /// By how much a straight line through them may rise or fall, as a share of the mean. Default 10%.
    pub slope: Share,
}

impl Default for Steady {
    fn default() -> Self {
        Self { rounds: 5, most: 25, range: Share(0.2), slope: Share(0.1) }
    }
}

/// The rate of an open load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Rate {
    /// The scenario whose operations per second are the whole.
    pub of: String,
    /// The share of them.
    pub share: Share,
}

/// What loads the machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Instrument {
    /// A subcommand of `stend-probe`.
    Probe(String),
    /// A real tool behind an adapter: `fio`, `openssl`, `gzip`.
    Adapter(String),
    /// Any program that prints the wire.
    Command(Vec<String>),
}

/// The numbers of the LUNs that a command or its parameters name.
fn luns_named<'a>(
    instrument: &'a Instrument,
    parameters: &'a BTreeMap<String, String>,
) -> impl Iterator<Item = u32> + use<'a> {
    let words = match instrument {
        Instrument::Command(words) => words.as_slice(),
        Instrument::Probe(_) | Instrument::Adapter(_) => &[],
    };
    let parameters = parameters.values().filter(|_| !words.is_empty());
    words.iter().chain(parameters).flat_map(|text| names_in(text)).filter_map(lun_number)
}

impl Instrument {
    /// Whether it loads the LUNs of a run's target, all of them, by itself.
    pub fn loads_luns(&self) -> bool {
        self.known().is_some_and(|known| known.loads_targets)
    }

    /// Whether it runs a project's own test suite.
    pub fn runs_tests(&self) -> bool {
        self.known().is_some_and(|known| known.runs_tests)
    }

    /// Its name; of a command the program alone.
    pub fn program(&self) -> String {
        match self {
            Self::Command(words) => words.first().cloned().unwrap_or_default(),
            known => known.to_string(),
        }
    }

    /// The parameters that say where the work is done and nothing else.
    pub fn place_parameters(&self) -> &'static [&'static str] {
        self.known().map_or(&[], |known| known.places)
    }

    /// The parameter that is its rate, if it can load at one.
    pub fn rate_parameter(&self) -> Option<&'static str> {
        self.known()?.rate
    }

    fn known(&self) -> Option<&'static expand::KnownAdapter> {
        expand::ADAPTERS.iter().find(|known| matches!(self, Self::Adapter(name) if name == known.name))
    }
}

impl std::fmt::Display for Instrument {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Probe(subcommand) => write!(f, "stend-probe {subcommand}"),
            Self::Adapter(name) => f.write_str(name),
            Self::Command(words) => f.write_str(&words.join(" ")),
        }
    }
}

/// The order of a run's repeats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// In rounds of one repeat of each scenario, each round in a random order: slow drift of the machine hits all alike.
    #[default]
    Shuffled,
    /// In rounds of one repeat of each scenario, there and back again: A B C, C B A.
    Interleaved,
    /// All repeats of a scenario before the next one, for loads that need a long run-up.
    Grouped,
}

/// Whether a repeat must prove that its work was right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Verification {
    /// It must: a repeat whose `check` is not `passed` is invalid.
    #[default]
    Required,
    /// Nothing can be checked; the table says so.
    None,
}

/// What a user may change of a suite without editing it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Changes {
    /// Variables to set, and settings of servers: `rig.NAME`.
    pub variables: BTreeMap<String, String>,
    /// Factor for the sizes and durations that the suite names in `[scale]`.
    pub scale: Option<f64>,
    /// Repeats of each scenario.
    pub repeats: Option<u32>,
    /// The order's seed.
    pub seed: Option<u64>,
    /// How long all repeats together may take before none is made again.
    pub time_budget: Option<Span>,
    /// Only scenarios whose name contains one of these; empty is all.
    pub only: Vec<String>,
    /// Whether it is measured in a guest, where variables have the values that the suite gives them there.
    pub in_guest: bool,
}

impl Suite {
    /// What it measures, in the language of this code where that is given.
    pub fn title_in(&self, language: &str) -> &str {
        self.titles.get(language).unwrap_or(&self.title)
    }

    /// Whether repeats that took so long together leave no time to make one again.
    pub fn out_of_time(&self, spent: Duration) -> bool {
        self.time_budget.is_some_and(|budget| spent >= budget.0)
    }

    /// Reads a suite's text. `file` is its name for messages, `directory` becomes the variable `{suite_directory}`.
    pub fn parse(text: &str, file: &str, directory: &Path, changes: &Changes) -> Result<Self, SuiteError> {
        Self::parse_checked(text, file, directory, changes, &|_| Ok::<_, Infallible>(()))
    }

    /// Reads a suite's text, and asks `check` of each scenario whether its parameters make sense. What it says against one becomes an
    /// error that says where the scenario is, or which of the changes it comes from.
    pub fn parse_checked<E: Display>(
        text: &str,
        file: &str,
        directory: &Path,
        changes: &Changes,
        check: &dyn Fn(&Scenario) -> Result<(), E>,
    ) -> Result<Self, SuiteError> {
        let expand = |changes: &Changes| expand::expand(text, file, directory, changes, check);
        expand(changes).map_err(|error| expand::blame(error, changes, expand))
    }
}
