//! What is wrong with a suite, in words that tell what would be right.

use thiserror::Error;

use super::expand::{ADAPTERS, KnownAdapter, MOST_REPEATS, MOST_REPEATS_IN_ALL, MOST_SCENARIOS, MOST_TEXT};
use super::faults::FaultError;
use super::layout::LayoutError;
use super::template::TemplateError;
use super::text::Scalar;
use crate::metric::MetricError;
use crate::quantity::{QuantityError, Share, Span};

/// A suite that cannot be used. The message says where and what would be right.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum SuiteError {
    /// In its file.
    #[error("{file}:{line}:{column}: {mistake}")]
    InFile {
        /// The file as the user knows it.
        file: String,
        /// Line, from 1.
        line: usize,
        /// Column in characters, from 1.
        column: usize,
        /// What is wrong, and what would be right.
        #[source]
        mistake: Box<Mistake>,
    },
    /// In what is changed of it.
    #[error("{flag}: {mistake}")]
    InFlag {
        /// The flag with its value.
        flag: String,
        /// What is wrong, and what would be right.
        #[source]
        mistake: Box<Mistake>,
    },
}

/// What is wrong with a suite.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum Mistake {
    /// It is no TOML, or no suite; what the parser said.
    #[error("{said}")]
    Toml {
        /// In one line.
        said: String,
    },
    /// It cannot be scaled by such a factor.
    #[error("it must be above 0 and at most 1; 0.01 makes everything a hundred times smaller")]
    Scale,
    /// It cannot be scaled at all.
    #[error("this suite cannot be scaled; it has no [scale] that names sizes or durations")]
    NotScalable,
    /// The counters cannot be sampled so often.
    #[error("sample_hertz is {0}; it may be 1 to 100, or 0 for off")]
    SampleHertz(u32),
    /// The suite has no such variable.
    #[error(
        "the suite has no variable \"{name}\"; it has: {}",
        if .known.is_empty() { "none".into() } else { quoted(.known) }
    )]
    NoVariable {
        /// What was to be set.
        name: String,
        /// The variables that there are.
        known: Vec<String>,
    },
    /// The suite's guest cannot be set up.
    #[error("guest: {key}: {source}")]
    Guest {
        /// The key of its description.
        key: &'static str,
        /// What is wrong.
        source: crate::target::Mistake,
    },
    /// A matrix leaves out values of something else than its axes.
    #[error("\"exclude\" names \"{0}\", which is no axis of the matrix")]
    NoAxis(String),
    /// An axis of a matrix has no values.
    #[error("axis \"{name}\": {source}")]
    Axis {
        /// The axis.
        name: String,
        /// What is wrong with it.
        source: AxisError,
    },
    /// Nothing is measured.
    #[error("\"repeats\" is 0; it must be at least 1, and at least 6 for an interval")]
    NoRepeats,
    /// A scenario makes no sense.
    #[error("scenario \"{name}\": {source}")]
    Scenario {
        /// The scenario.
        name: String,
        /// What is wrong with it.
        source: ScenarioError,
    },
    /// There are too many scenarios.
    #[error("this makes more than {MOST_SCENARIOS} scenarios; are the ranges right?")]
    TooManyScenarios,
    /// The scenarios are too long.
    #[error("this makes more than {MOST_TEXT} bytes of scenarios")]
    TooMuchText,
    /// There are too many repeats.
    #[error("this makes more than {MOST_REPEATS_IN_ALL} repeats of all scenarios together")]
    TooManyRepeats,
    /// Two scenarios cannot be told apart.
    #[error("two scenarios are called \"{0}\"; put the axes' names in braces into \"name\"")]
    SameName(String),
    /// The table cannot be laid out so.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// No scenario is left by the texts that their names are to contain; the names.
    #[error("no scenario's name contains that; there are: {}", quoted(.0))]
    NoneLeft(Vec<String>),
    /// Nothing is there.
    #[error("there is no [[scenario]]; a suite needs at least one")]
    NoScenario,
}

/// What is wrong with an axis of a matrix.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum AxisError {
    /// It has no values.
    #[error("the list is empty")]
    Empty,
    /// A number is below 0.
    #[error("{0} is negative")]
    Negative(i64),
    /// A text is no size.
    #[error(transparent)]
    Size(#[from] QuantityError),
    /// A value is of another kind.
    #[error("{0} is neither a whole number nor a size")]
    NoNumber(Scalar),
    /// It ends before it begins.
    #[error("the range goes from {from} down to {to}; \"from\" must not be above \"to\"")]
    Down {
        /// The first value.
        from: Scalar,
        /// The last one.
        to: Scalar,
    },
    /// It does not go on by adding.
    #[error("\"step\" is 0; the range would never end")]
    NoStep,
    /// It does not go on by multiplying with this.
    #[error("\"times\" is {0}; it must be at least 2")]
    Times(u64),
    /// It does not go on by multiplying.
    #[error("\"from\" is 0, which stays 0 however often it is multiplied; use \"step\"")]
    FromZero,
    /// It is not said how it goes on, or twice.
    #[error("a range has either \"step\" or \"times\"")]
    StepOrTimes,
    /// It has too many values.
    #[error("the range has more than {MOST_SCENARIOS} values")]
    TooManyValues,
    /// Together with others it has too many.
    #[error("with the axes before it there are more combinations than {MOST_TEXT} bytes hold")]
    TooManyCombinations,
}

/// What is wrong with a scenario.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum ScenarioError {
    /// Its instrument, which is none of the suite's, refuses its parameters.
    #[error("{said}")]
    Refused {
        /// What the instrument said.
        said: String,
    },
    /// A text of it cannot be filled.
    #[error(transparent)]
    Template(#[from] TemplateError),
    /// A parameter that is to be scaled is no quantity.
    #[error("parameter \"{name}\": {source}")]
    Parameter {
        /// The parameter.
        name: String,
        /// What is wrong with it.
        source: QuantityError,
    },
    /// A metric cannot be computed.
    #[error("metric \"{name}\": {source}")]
    Metric {
        /// The metric.
        name: String,
        /// What is wrong with it.
        source: MetricError,
    },
    /// The main metric may be missing.
    #[error("metric \"{0}\" is the main one, being the first, and cannot be optional")]
    MainIsOptional(String),
    /// It has no metric.
    #[error("has neither \"metrics\" nor \"metric_set\"; say what is computed from a repeat")]
    NoMetrics,
    /// A metric set has no metric.
    #[error("the metric set \"{0}\" is empty")]
    EmptySet(String),
    /// There is no such metric set.
    #[error("there is no metric set \"{name}\"; there are: {}", quoted(.known))]
    NoSet {
        /// What was asked for.
        name: String,
        /// The sets that there are.
        known: Vec<String>,
    },
    /// It has two keys of which it may have one.
    #[error("has both \"{one}\" and \"{other}\"; one of them")]
    Both {
        /// The one.
        one: &'static str,
        /// The other.
        other: &'static str,
    },
    /// What prepares has warm-ups.
    #[error("has both \"precondition\" and \"warmup\"; \"repeats\" says how often it is run")]
    WarmupOfPrecondition,
    /// It has too many repeats.
    #[error("{0} repeats are more than {MOST_REPEATS}")]
    Repeats(u32),
    /// A length of time is out of bounds.
    #[error("\"{name}\" is {span}; it may be 1ms to 365d")]
    Span {
        /// The key.
        name: &'static str,
        /// Its value.
        span: Span,
    },
    /// There is no such instrument.
    #[error(
        "unknown instrument \"{0}\"; there are \"stend-probe SUBCOMMAND\", {all}, or \"command\"",
        all = adapters(|_| true)
    )]
    UnknownInstrument(String),
    /// A command has no words.
    #[error("\"command\" is empty")]
    EmptyCommand,
    /// Nothing loads the machine.
    #[error("has neither \"instrument\" nor \"command\"")]
    NoInstrument,
    /// The rounds of a steady state are too few.
    #[error("\"steady\" wants {rounds} rounds of {most} at most; it takes 3 or more, and at least as many at most")]
    Rounds {
        /// How many are looked at together.
        rounds: u32,
        /// How many there may be.
        most: u32,
    },
    /// A share of a steady state is out of bounds.
    #[error("\"steady\" has the {name} {share}; it must be above 0% and at most 100%")]
    SteadyShare {
        /// The key.
        name: &'static str,
        /// Its value.
        share: Share,
    },
    /// Its instrument cannot load at a given rate.
    #[error("\"rate\" needs an instrument that can keep one: {able}", able = adapters(|known| known.rate.is_some()))]
    NoRate,
    /// The rate is given twice.
    #[error("has both \"rate\" and the parameter \"{0}\"; one of them")]
    RateTwice(&'static str),
    /// The rate is no share.
    #[error("\"rate\": {0}")]
    Rate(#[source] QuantityError),
    /// The rate is out of bounds.
    #[error("\"rate\" has the share {0}; it must be above 0% and at most 100%")]
    RateShare(Share),
    /// The rate is of one without a figure.
    #[error("\"rate\" is of \"{0}\", which only prepares and has no figure")]
    RateOfPrecondition(String),
    /// The rate is of one that there is not.
    #[error("\"rate\" is of \"{0}\", and no scenario before it is called that")]
    RateOfNone(String),
    /// It needs those before it, and they may come in any order.
    #[error("\"{0}\" needs order = \"grouped\", in which one scenario follows the other")]
    NotGrouped(&'static str),
    /// Its figures are held against themselves.
    #[error("\"ceiling\" names the scenario itself; it takes the names of others")]
    OwnCeiling,
    /// Its figures are held against those of one that there is not.
    #[error("\"ceiling\" names \"{name}\", and there is no such scenario; there are: {}", quoted(.known))]
    NoCeiling {
        /// What was named.
        name: String,
        /// The scenarios that there are.
        known: Vec<String>,
    },
    /// A count is none.
    #[error("\"{name}\" is \"{text}\"; it must be a whole number from 1")]
    NoCount {
        /// The key.
        name: &'static str,
        /// Its value.
        text: String,
    },
    /// Its instrument loads no target that could break.
    #[error("\"faults\" needs what loads a target: the instrument {able}, or a command that names @lun0@", able = adapters(|known| known.loads_targets))]
    NoTarget,
    /// What breaks makes no sense.
    #[error(transparent)]
    Fault(#[from] FaultError),
}

fn adapters(able: impl Fn(&KnownAdapter) -> bool) -> String {
    quoted(ADAPTERS.iter().filter(|known| able(known)).map(|known| known.name))
}

/// The names in quotes, with commas between.
pub(super) fn quoted(names: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    names.into_iter().map(|name| format!("\"{}\"", name.as_ref())).collect::<Vec<_>>().join(", ")
}
