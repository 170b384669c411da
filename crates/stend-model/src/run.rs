//! A run: one suite on one machine. Sessions ⊃ repeats ⊃ samples.

use std::collections::BTreeMap;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cause::{Cause, Why, fact};
use crate::clocks::Clocks;
use crate::condition::Condition;
use crate::conformance::Test;
use crate::machine::Machine;
use crate::metric::Metric;
use crate::picture::Picture;
use crate::plan::{Phase, fresh_seed};
use crate::side::Side;
use crate::suite::Suite;
use crate::target::TargetOfRun;
use crate::weight::Known;
use crate::wire::{Begin, Mark, Report, Usage};

/// How the machine that stend itself runs on is reached.
pub const HERE: &str = "local";

/// What a run is, apart from its repeats. Immutable but for `state` and `finished_at`, and those too once it is finished; what a person calls the
/// machine of a run that was carried here may be corrected.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Run {
    /// Its name: the UTC moment it began, and four random hexadecimal digits: `20261121-0555-3f9a`.
    pub id: String,
    /// What a person calls it. It may be given and changed at any time, so the store keeps it apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Version of `stend` that made it.
    pub stend_version: String,
    /// How the machine was reached: `local`, or an ssh destination.
    pub host: String,
    /// When it began.
    pub started_at: Timestamp,
    /// When it was finished or interrupted last.
    pub finished_at: Option<Timestamp>,
    /// How far it is.
    pub state: RunState,
    /// The seed of its order.
    pub seed: u64,
    /// What is measured.
    pub suite: Suite,
    /// Scenarios that were left out, and why.
    pub skipped: Vec<Skipped>,
    /// Whether each scenario is to be profiled after its repeats.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub profile: bool,
    /// The storage that was set up for it, if it was; where a side sets something of it, that of the first side.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<TargetOfRun>,
    /// The two configurations that were measured in turns; none for a run of the machine as it is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sides: Vec<Side>,
    /// `stend-probe run` made it where no lab was, and it was carried here. Then `host` is the name that a person gave the machine, and all
    /// moments are by the machine's own clock.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub carried: bool,
    /// Whether it was read from a file, so that nothing that it names may ever be run: no command, compiler, host or device. An export does not
    /// say; who reads one does. Runs of old versions do not say either.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imported: Option<bool>,
    /// The `stend-probe` that it was made with; runs of old versions do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build: Option<Build>,
    /// What was known of the machine by its name when the run began; none for one that has no name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known: Option<Known>,
    /// The machine under test when the run began.
    pub machine: Machine,
}

impl Run {
    /// Whether more repeats may be made of it here.
    pub fn may_go_on(&self) -> bool {
        self.state == RunState::Open && self.imported == Some(false)
    }
}

/// What a `stend-probe` was built of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Build {
    /// The compiler that the run asked for, as it is called: `lcc`, a path. None where the `stend-probe` lay there, built.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// What it was told beside the usual.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub asked_flags: String,
    /// What the compiler says of its version: its first two lines, or the first alone where the `stend-probe` lay there.
    pub compiler: String,
    /// All that it was told, but for the files and what single files need.
    pub flags: String,
    /// The first 16 digits of the SHA-256 of its sources, if it knows them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sources: Option<String>,
}

impl Build {
    /// Says in a machine's fingerprint that it was this compiler that built for it, where it was asked for.
    pub fn note(&self, machine: &mut Machine) {
        if self.program.is_some() {
            machine.software.compiler = Some(self.compiler.clone());
            machine.software.compiler_flags = Some(self.asked_flags.clone()).filter(|flags| !flags.is_empty());
            machine.missing.remove("compiler");
        }
    }
}

/// The label of a run that is one of several sessions of one name, from 1: `old-1`.
pub fn label_of_session(name: &str, number: u32) -> String {
    format!("{name}-{number}")
}

/// The name and the number in such a label.
pub fn session_of_label(label: &str) -> Option<(&str, u32)> {
    let (name, number) = label.rsplit_once('-')?;
    let number = number.parse().ok().filter(|parsed: &u32| *parsed > 0 && parsed.to_string() == number)?;
    (!name.is_empty()).then_some((name, number))
}

/// How far a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RunState {
    /// Under way; or the program died, and `stend resume` goes on.
    Open,
    /// Nothing more will be added.
    Finished,
}

impl RunState {
    /// The word that is stored, and shown in lists.
    pub fn word(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Finished => "finished",
        }
    }

    /// By that word; of an unknown one it is not certain that nothing more comes.
    pub fn of_word(word: &str) -> Self {
        if word == Self::Finished.word() { Self::Finished } else { Self::Open }
    }
}

/// A scenario that was left out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Skipped {
    /// The scenario's name.
    pub scenario: String,
    /// Why.
    #[schemars(schema_with = "fact")]
    pub reason: Cause,
    /// The command that would mend it, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
}

/// One stretch of measuring: from the start of the program, or of `resume`, to its end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Session {
    /// Its number in the run, from 0.
    pub number: u32,
    /// When it began.
    pub started_at: Timestamp,
    /// The kernel's boot id, where it has one: sessions of different boots are independent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boot_id: Option<String>,
    /// What made the machine unfit to measure when the session began. It was measured because the user insisted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
    /// What `stend check` warned of when the session began.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub noted: Vec<Condition>,
    /// What the sampler could not read, and why.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub missing_sensors: BTreeMap<String, Why>,
    /// The machine's clocks beside the lab's, where they are not the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clocks: Option<Clocks>,
    /// What the screen of a virtual machine showed when the session ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub screen: Option<Picture>,
}

impl Session {
    /// When a repeat of this session began, on the lab's time axis: by the machine's own clock where the clocks were compared, else when the
    /// lab said that it should.
    pub fn began(&self, repeat: &Repeat) -> Timestamp {
        let t_ns = repeat.usage.as_ref().and_then(|usage| usage.t_ns);
        self.clocks.zip(t_ns).and_then(|(clocks, t_ns)| clocks.in_lab_time(t_ns)).unwrap_or(repeat.started_at)
    }
}

/// The load applied once, whatever came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Repeat {
    /// Its place in the run, from 0, in the order in which the repeats were made.
    pub sequence: u32,
    /// The session's number.
    pub session: u32,
    /// The scenario's place in the suite.
    pub scenario: usize,
    /// Its number among the scenario's repeats of its phase, from 0. In a run with sides it is the pair's: one repeat of each side has it.
    pub number: u32,
    /// Its side's place in the run, in a run with sides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub side: Option<usize>,
    /// Whether it counts.
    pub phase: Phase,
    /// When it began, by the lab's wall clock.
    pub started_at: Timestamp,
    /// Whether it is valid, and if not, why.
    pub outcome: Outcome,
    /// The instrument's `begin`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub begin: Option<Begin>,
    /// The instrument's `repeat`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<Report>,
    /// What happened meanwhile, in the order in which it was told.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<Mark>,
    /// The tests of a project's own suite, if it ran one, in the order in which they were told.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tests: Vec<Test>,
    /// What the guarded command used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// `stend` ended the command because of what it printed, so that how it ended says nothing of it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stopped: bool,
    /// It failed in a way in which the next one would too, as its instrument's adapter says.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lasting: bool,
    /// The command as it was started, word by word.
    pub command: Vec<String>,
    /// Its standard output as it came, without `sample` lines; shortened if it was very long.
    pub output: String,
    /// Its standard error as it came; shortened if it was very long.
    pub error_output: String,
    /// What was found of the target that it loaded when that was made, by the keys of a target and the names of the kernel's settings.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub target: BTreeMap<String, String>,
}

impl Repeat {
    /// Whether it counts: measured and valid.
    pub fn counts(&self) -> bool {
        self.phase == Phase::Measured && self.outcome == Outcome::Valid
    }

    /// The metric's value, if it was reported.
    pub fn value(&self, metric: &Metric) -> Option<f64> {
        self.report.as_ref().and_then(|report| metric.of(report))
    }
}

/// What came of a repeat.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// Measured, verified, and no gate closed.
    Valid,
    /// Measured, but a gate closed or the verification failed. Kept, shown, never counted.
    Invalid(Vec<Cause>),
    /// Not measured; why.
    Failed(Cause),
}

impl Outcome {
    /// The outcome in a word.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Valid => "valid",
            Self::Invalid(_) => "invalid",
            Self::Failed(_) => "failed",
        }
    }

    /// Why it is not valid; nothing if it is.
    pub fn causes(&self) -> &[Cause] {
        match self {
            Self::Valid => &[],
            Self::Invalid(causes) => causes,
            Self::Failed(cause) => std::slice::from_ref(cause),
        }
    }
}

/// What was observed of one metric while one repeat ran.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Series {
    /// The metric's name; it ends in `_total` if it is a counter.
    pub metric: String,
    /// Who observed it.
    pub origin: Origin,
    /// Moments, in nanoseconds of the machine's `CLOCK_MONOTONIC`.
    pub times_ns: Vec<i64>,
    /// Values at those moments.
    pub values: Vec<f64>,
}

/// Who observed a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// The instrument itself.
    Instrument,
    /// `stend-probe sample`, beside it.
    Machine,
}

/// A fresh id for a run: the minute in which it begins, and four digits that tell apart runs of the same minute.
pub fn fresh_run_id(at: Timestamp) -> String {
    format!("{}-{:04x}", at.strftime("%Y%m%d-%H%M"), fresh_seed() & 0xFFFF)
}

/// Whether a text is an id that stend gives to a run: `20261121-0555-3f9a`. Ids become names of files, so nothing else may pass for one.
pub fn is_run_id(text: &str) -> bool {
    let parts: Vec<_> = text.split('-').collect();
    let is = |part: &str, length: usize, digit: fn(&char) -> bool| {
        part.len() == length && part.chars().all(|character| digit(&character))
    };
    match parts[..] {
        [day, minute, random] => {
            is(day, 8, char::is_ascii_digit)
                && is(minute, 4, char::is_ascii_digit)
                && is(random, 4, char::is_ascii_hexdigit)
        }
        _ => false,
    }
}

/// The clock of the fastest CPU at each moment, in Hz; idle ones lower theirs.
pub fn fastest_clock<'a>(machine: impl IntoIterator<Item = &'a Series>) -> Vec<f64> {
    let of_a_cpu = |series: &&Series| series.metric.starts_with("cpu") && series.metric.ends_with(".frequency_hz");
    let mut fastest = BTreeMap::<i64, f64>::new();
    for series in machine.into_iter().filter(of_a_cpu) {
        for (&time, &value) in series.times_ns.iter().zip(&series.values) {
            let seen = fastest.entry(time).or_insert(value);
            *seen = seen.max(value);
        }
    }
    fastest.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::is_run_id;

    #[test]
    fn nothing_else_passes_for_an_id() {
        assert!(is_run_id("20261121-0555-3f9a"));
        for other in ["Documents", "20261121-0555", "20261121-0555-3f9a-old", "2026112a-0555-3f9a", "", "a-b-c", "../x"]
        {
            assert!(!is_run_id(other), "{other}");
        }
    }
}
