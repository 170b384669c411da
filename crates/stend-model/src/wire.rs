//! What an instrument prints: one JSON event a line. `docs/reference/instruments.md` explains it to people who write one.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use thiserror::Error;

use crate::cause::{Why, fact};
use crate::checked::Checks;
use crate::conformance::Test;
use crate::latency::LatencyCounts;
use crate::picture::Picture;

/// The version of the wire that this crate speaks.
pub const WIRE_VERSION: u32 = 1;

/// One line of an instrument's standard output.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", rename_all = "lowercase")]
pub enum Event {
    /// The instrument has started.
    Begin(Begin),
    /// Something was observed meanwhile.
    Sample(Sample),
    /// Something happened meanwhile.
    Mark(Mark),
    /// A test of a suite has ended.
    Test(Test),
    /// The load was applied once.
    Repeat(Report),
    /// The instrument has finished.
    End(End),
    /// What a guarded command used; printed by `stend-probe guard`.
    Usage(Usage),
}

/// The instrument's first line: what measures, how it was built, and with which parameters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Begin {
    /// Version of the wire; this page is version 1.
    pub wire: u32,
    /// What measures, for example `stend-probe cipher`.
    pub instrument: String,
    /// Its version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// When it began, in nanoseconds of `CLOCK_MONOTONIC`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub t_ns: Option<i64>,
    /// What the measured code was built with. A comparison says in what two builds differ, and compares them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub build: BTreeMap<String, String>,
    /// The parameters in force, defaults included.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub parameters: Map<String, Value>,
    /// What could not be read on this machine, and why.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub missing: BTreeMap<String, Why>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub unknown: Map<String, Value>,
}

/// Something that was observed while the load ran. `metric` with `value`, or several in `values`; both mean the same.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sample {
    /// When, in nanoseconds of `CLOCK_MONOTONIC`.
    pub t_ns: i64,
    /// One metric's name; it ends in its unit, and in `_total` if it is a counter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metric: Option<String>,
    /// Its value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// Several metrics of the same moment.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub values: BTreeMap<String, f64>,
}

/// A [`Sample`] of many metrics without copies of their names, as a sampler prints it line after line.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Observed<'l> {
    /// Always `sample`.
    event: &'l str,
    /// When, in nanoseconds of `CLOCK_MONOTONIC`.
    pub t_ns: i64,
    /// Several metrics of the same moment.
    #[serde(borrow)]
    pub values: BTreeMap<&'l str, f64>,
}

impl<'l> Observed<'l> {
    /// Reads a line. `None`: it is another event, or this one written in another way; [`parse_line`] knows.
    pub fn of_line(line: &'l str) -> Option<Self> {
        let observed: Self = serde_json::from_str(line).ok()?;
        (observed.event == "sample" && !observed.values.is_empty()).then_some(observed)
    }
}

/// A moment at which something happened while the load ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Mark {
    /// When, in nanoseconds of `CLOCK_MONOTONIC`.
    pub t_ns: i64,
    /// What kind of thing.
    pub kind: MarkKind,
    /// What happened.
    pub label: Label,
}

/// What happened at a moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Label {
    /// A fault that `stend` made, or mended.
    Deed(#[schemars(schema_with = "fact")] Deed),
    /// As an instrument says it, for people.
    Said(#[schemars(length(min = 1))] String),
}

/// What became of a part of the target; disks and controllers have numbers from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "deed", rename_all = "snake_case")]
pub enum Deed {
    /// It answers every read and write with an error from here on.
    DiskDies {
        /// Which.
        disk: u32,
    },
    /// A fresh one took its place, and the pool begins to rebuild itself onto it.
    DiskReplaced {
        /// Which.
        disk: u32,
    },
    /// The pool has rebuilt itself.
    DiskRebuilt {
        /// Which.
        disk: u32,
    },
    /// Blocks of it change.
    DiskRots {
        /// Which.
        disk: u32,
    },
    /// All that it holds begins to be read and mended.
    ScrubBegins {
        /// Which.
        disk: u32,
    },
    /// All that it holds was read.
    ScrubEnds {
        /// Which.
        disk: u32,
    },
    /// It moves only so much from here on.
    DiskSlows {
        /// Which.
        disk: u32,
    },
    /// It is as fast as before.
    DiskRecovers {
        /// Which.
        disk: u32,
    },
    /// It died, and none takes its place.
    DiskLost {
        /// Which.
        disk: u32,
    },
    /// All disks lost their power.
    PowerLost,
    /// It was ended by SIGKILL.
    ControllerKilled {
        /// Which.
        controller: u32,
    },
    /// It was started again.
    ControllerBack {
        /// Which.
        controller: u32,
    },
}

/// What kind of thing happened at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum MarkKind {
    /// The load goes on in another way from here: it is warmed up, it writes, it reads back.
    Phase,
    /// Something is done to what is loaded: a machine is migrated, a snapshot is taken.
    Operation,
    /// Something broke, or was broken.
    Fault,
    /// Something was mended.
    Recovery,
}

impl MarkKind {
    /// Whether the load may fall at it.
    pub fn may_slow(self) -> bool {
        matches!(self, Self::Operation | Self::Fault)
    }
}

/// The load was applied once: the work, the time that it took, and whether it was right.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    /// Its number within this invocation, from 0.
    #[serde(default)]
    pub n: u32,
    /// When the measured part began, in nanoseconds of `CLOCK_MONOTONIC`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub t_ns: Option<i64>,
    /// Its length in nanoseconds.
    #[schemars(range(min = 1))]
    pub wall_ns: u64,
    /// CPU time that all ends of the load used in it, user and system, in nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_ns: Option<u64>,
    /// What was done: `bytes`, `operations`, `requests`, …
    #[schemars(extend("minProperties" = 1))]
    pub work: BTreeMap<String, f64>,
    /// What is no quotient of work and time: `clock_hz`, `latency_p99_ns`, …
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub observed: BTreeMap<String, f64>,
    /// How many operations took how long, by name. `latency` is what `latency_p99_ns` in `observed` is a percentile of, and so for other names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub latencies: BTreeMap<String, LatencyCounts>,
    /// Whether the work was right.
    pub check: Check,
    /// What was checked, and how.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Checks>,
    /// What virtual machines showed on their screens at its end, by what is said of each.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub screens: BTreeMap<String, Picture>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub unknown: Map<String, Value>,
}

/// Whether the work was right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Check {
    /// It was checked and is right.
    Passed,
    /// It was checked and is wrong.
    Failed,
    /// It cannot be checked.
    None,
}

/// The instrument's last line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct End {
    /// How many `repeat` events it printed.
    #[serde(default)]
    pub repeats: u32,
}

/// What a guarded command used, from start to end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Usage {
    /// When the command was started, in nanoseconds of `CLOCK_MONOTONIC`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub t_ns: Option<i64>,
    /// Wall time in nanoseconds.
    pub wall_ns: u64,
    /// CPU time in user mode, with that of its waited-for children.
    pub user_ns: u64,
    /// CPU time in the kernel, with that of its waited-for children.
    pub system_ns: u64,
    /// Largest resident set of one process.
    #[serde(default)]
    pub max_rss_bytes: u64,
    /// Its exit status, if it exited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<i32>,
    /// The signal that ended it, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// The guard ended it because its time was up.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub timed_out: bool,
    /// The command left processes running, which the guard ended.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub left_running: bool,
    /// By how much the Unix time (`CLOCK_REALTIME`) went on more than `CLOCK_MONOTONIC` meanwhile, in nanoseconds: other than a few
    /// microseconds only where somebody set the clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_step_ns: Option<i64>,
    /// How the machine's own counters grew meanwhile, all CPUs summed: `busy_ns`, `idle_ns`, `steal_ns`,
    /// `swapped_pages`, `throttles`. A counter that the machine lacks is left out.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub machine: BTreeMap<String, f64>,
}

/// A line that is no event.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum WireError {
    /// Not JSON at all.
    #[error("not JSON ({said}): {line}")]
    NotJson {
        /// What the parser said.
        said: String,
        /// The line, shortened.
        line: String,
    },
    /// JSON, but no object with an `event`.
    #[error("no object with an \"event\": {line}")]
    NoEvent {
        /// The line, shortened.
        line: String,
    },
    /// A known event with a field that is missing or wrong.
    #[error("bad \"{event}\" event ({source}): {line}")]
    BadEvent {
        /// The event's name.
        event: String,
        /// What is wrong with it.
        source: EventError,
        /// The line, shortened.
        line: String,
    },
}

/// What is wrong with an event.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum EventError {
    /// A field is missing, or has another form.
    #[error("{said}")]
    Unread {
        /// What the parser said.
        said: String,
    },
    /// It is of another version of the wire.
    #[error("wire version {0} is not {WIRE_VERSION}")]
    Version(u32),
    /// A sample has a metric or a value alone.
    #[error("\"metric\" and \"value\" go together")]
    HalfSample,
    /// A sample has no value at all.
    #[error("neither \"metric\" nor \"values\"")]
    EmptySample,
    /// A mark says nothing.
    #[error("\"label\" is empty")]
    EmptyLabel,
    /// A test has no name.
    #[error("\"name\" is empty")]
    EmptyName,
    /// A repeat took no time.
    #[error("\"wall_ns\" is 0")]
    NoTime,
    /// A repeat did nothing.
    #[error("\"work\" is empty")]
    NoWork,
    /// A repeat did less than nothing of this.
    #[error("\"work\" has a negative \"{0}\"")]
    NegativeWork(String),
}

const EVENTS: [&str; 7] = ["begin", "sample", "mark", "test", "repeat", "end", "usage"];

/// Reads one line. `Ok(None)` is an event that this version does not know, or an empty line: it is kept and ignored.
pub fn parse_line(line: &str) -> Result<Option<Event>, WireError> {
    if line.trim().is_empty() {
        return Ok(None);
    }
    // Samples come thousands a second: no detour through a tree of values for them, as a tagged event takes one.
    if line.starts_with("{\"event\":\"sample\",")
        && let Ok(sample) = serde_json::from_str::<Sample>(line)
    {
        return check(Event::Sample(sample), line).map(Some);
    }
    if let Ok(event) = serde_json::from_str::<Event>(line) {
        return check(event, line).map(Some);
    }
    let value: Value = serde_json::from_str(line)
        .map_err(|error| WireError::NotJson { said: error.to_string(), line: quote(line) })?;
    let Some(name) = value.get("event").and_then(Value::as_str) else {
        return Err(WireError::NoEvent { line: quote(line) });
    };
    if !EVENTS.contains(&name) {
        return Ok(None);
    }
    let name = name.to_owned();
    match serde_json::from_value::<Event>(value) {
        Ok(event) => check(event, line).map(Some),
        Err(error) => {
            let source = EventError::Unread { said: error.to_string() };
            Err(WireError::BadEvent { event: name, source, line: quote(line) })
        }
    }
}

fn check(event: Event, line: &str) -> Result<Event, WireError> {
    let bad = |event: &str, source| WireError::BadEvent { event: event.into(), source, line: quote(line) };
    match &event {
        Event::Begin(begin) if begin.wire != WIRE_VERSION => Err(bad("begin", EventError::Version(begin.wire))),
        Event::Sample(sample) if sample.metric.is_some() != sample.value.is_some() => {
            Err(bad("sample", EventError::HalfSample))
        }
        Event::Sample(sample) if sample.metric.is_none() && sample.values.is_empty() => {
            Err(bad("sample", EventError::EmptySample))
        }
        Event::Mark(Mark { label: Label::Said(words), .. }) if words.trim().is_empty() => {
            Err(bad("mark", EventError::EmptyLabel))
        }
        Event::Test(test) if test.name.trim().is_empty() => Err(bad("test", EventError::EmptyName)),
        Event::Repeat(report) if report.wall_ns == 0 => Err(bad("repeat", EventError::NoTime)),
        Event::Repeat(report) if report.work.is_empty() => Err(bad("repeat", EventError::NoWork)),
        Event::Repeat(report) => match report.work.iter().find(|(_, amount)| **amount < 0.0) {
            Some((name, _)) => Err(bad("repeat", EventError::NegativeWork(name.clone()))),
            None => Ok(event),
        },
        _ => Ok(event),
    }
}

impl Sample {
    /// Each metric of this moment with its value.
    pub fn metrics(&self) -> impl Iterator<Item = (&str, f64)> {
        let single = self.metric.as_deref().zip(self.value);
        single.into_iter().chain(self.values.iter().map(|(name, value)| (name.as_str(), *value)))
    }
}

impl Usage {
    /// CPU time in user mode and in the kernel together.
    pub fn cpu_ns(&self) -> u64 {
        self.user_ns.saturating_add(self.system_ns)
    }

    /// What became of the machine's CPU time meanwhile; `None` where the machine does not say.
    pub fn machine_cpu(&self) -> Option<MachineCpu> {
        let counter = |name: &str| self.machine.get(name).copied();
        let (busy, idle, steal) = (counter("busy_ns")?, counter("idle_ns")?, counter("steal_ns")?);
        let foreign_ns = busy - self.cpu_ns() as f64;
        Some(MachineCpu { total_ns: busy + idle + steal, steal_ns: steal, foreign_ns, cpus: counter("cpus")? })
    }
}

/// CPU time of a whole machine while a command ran, all CPUs summed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MachineCpu {
    /// All of it.
    pub total_ns: f64,
    /// What the hypervisor took away.
    pub steal_ns: f64,
    /// What others than the command used; below zero where the kernel counts the command's time in finer steps than the machine's.
    pub foreign_ns: f64,
    /// How many CPUs there are.
    pub cpus: f64,
}

/// A line as it is quoted in a message: one line, at most 200 characters, control characters made visible.
pub fn quote(line: &str) -> String {
    let shortened: String = line.chars().take(200).collect();
    let more = if line.chars().nth(200).is_some() { "…" } else { "" };
    format!("`{}`{more}", shortened.escape_debug().to_string().replace("\\\"", "\"").replace("\\'", "'"))
}

/// The JSON Schema of an event.
pub fn schema() -> Value {
    let mut schema = schemars::schema_for!(Event).to_value();
    schema["title"] = "One line of the stend wire, version 1".into();
    schema
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_a_sampler_prints_is_read_without_copies_and_means_the_same() {
        let line = r#"{"event":"sample","t_ns":7,"values":{"a":1,"b":-0.5}}"#;
        let observed = Observed::of_line(line).unwrap();
        let Ok(Some(Event::Sample(sample))) = parse_line(line) else { panic!() };
        assert_eq!(observed.t_ns, sample.t_ns);
        let values: Vec<_> = observed.values.into_iter().collect();
        assert_eq!(values, sample.metrics().collect::<Vec<_>>());
        for other in [
            r#"{"event":"sample","t_ns":7,"metric":"a","value":1}"#,
            r#"{"event":"sample","t_ns":7,"metric":"a","value":1,"values":{"b":1}}"#,
            r#"{"event":"sample","t_ns":7,"values":{}}"#,
            r#"{"event":"sample","t_ns":7,"values":{"a\u0041":1}}"#,
            r#"{"event":"mark","t_ns":7,"values":{"a":1}}"#,
        ] {
            assert_eq!(Observed::of_line(other), None, "{other}");
        }
    }

    #[test]
    fn more_time_than_64_bits_hold_is_as_much_as_they_hold() {
        let line = format!(r#"{{"event":"usage","wall_ns":1,"user_ns":{},"system_ns":5}}"#, u64::MAX);
        let Ok(Some(Event::Usage(usage))) = parse_line(&line) else { panic!() };
        assert_eq!(usage.cpu_ns(), u64::MAX);
    }

    #[test]
    fn unknown_events_and_fields_are_kept() {
        assert_eq!(parse_line(r#"{"event":"weather","rain":true}"#), Ok(None));
        assert_eq!(parse_line("  "), Ok(None));
        let line = r#"{"event":"repeat","wall_ns":5,"work":{"bytes":1},"check":"passed","colour":"red"}"#;
        let Ok(Some(Event::Repeat(report))) = parse_line(line) else { panic!() };
        assert_eq!(report.unknown["colour"], "red");
    }

    #[test]
    fn rubbish_is_quoted() {
        for (line, part) in [
            ("hello", "not JSON"),
            ("[1,2]", "no object"),
            (r#"{"event":"repeat","wall_ns":5,"work":{"bytes":1}}"#, "check"),
            (r#"{"event":"repeat","wall_ns":0,"work":{"bytes":1},"check":"passed"}"#, "wall_ns"),
            (r#"{"event":"repeat","wall_ns":5,"work":{},"check":"passed"}"#, "empty"),
            (r#"{"event":"repeat","wall_ns":5,"work":{"bytes":-1},"check":"passed"}"#, "negative"),
            (
                r#"{"event":"repeat","wall_ns":5,"work":{"x":1},"check":"none","latencies":{"latency":[[5]]}}"#,
                "length 1",
            ),
            (r#"{"event":"repeat","wall_ns":5,"work":{"x":1},"check":"none","latencies":{"latency":[[-5,1]]}}"#, "-5"),
            (r#"{"event":"repeat","wall_ns":5,"work":{"x":1},"check":"none","latencies":{"latency":5}}"#, "pairs"),
            (r#"{"event":"sample","t_ns":5}"#, "neither"),
            (r#"{"event":"sample","t_ns":5,"metric":"x"}"#, "go together"),
            (r#"{"event":"mark","t_ns":5,"kind":"fault","label":" "}"#, "empty"),
            (
                r#"{"event":"mark","t_ns":5,"kind":"weather","label":"rain"}"#,
                "`phase`, `operation`, `fault`, `recovery`",
            ),
            (r#"{"event":"mark","kind":"fault","label":"disk 3 dies"}"#, "t_ns"),
            (r#"{"event":"begin","wire":2,"instrument":"x"}"#, "version 2"),
        ] {
            let message = parse_line(line).unwrap_err().to_string();
            assert!(message.contains(part) && message.contains(&line[..5]), "{line}: {message}");
        }
        let long = "x".repeat(5000);
        assert!(parse_line(&long).unwrap_err().to_string().len() < 400);
    }

    #[test]
    fn a_mark_says_when_and_what() {
        let line = r#"{"event":"mark","t_ns":5,"kind":"fault","label":"disk 3 dies"}"#;
        let mark = Mark { t_ns: 5, kind: MarkKind::Fault, label: Label::Said("disk 3 dies".into()) };
        assert_eq!(parse_line(line), Ok(Some(Event::Mark(mark.clone()))));
        assert_eq!(serde_json::to_string(&Event::Mark(mark)).unwrap(), line);
    }

    #[test]
    fn both_forms_of_a_sample_mean_the_same() {
        let read = |line| match parse_line(line) {
            Ok(Some(Event::Sample(sample))) => sample.metrics().map(|(n, v)| (n.to_owned(), v)).collect::<Vec<_>>(),
            other => panic!("{other:?}"),
        };
        let single = read(r#"{"event":"sample","t_ns":1,"metric":"iops","value":3}"#);
        let several = read(r#"{"event":"sample","t_ns":1,"values":{"iops":3}}"#);
        assert_eq!(single, several);
    }

    proptest! {
        #[test]
        fn no_line_makes_the_parser_panic(line in ".{0,200}") {
            let _ = parse_line(&line);
        }

        #[test]
        fn a_written_event_reads_back(wall_ns in 1u64..1 << 53, bytes in 0u32.., evidence in ".{0,30}",
            pairs in prop::collection::vec((0u64.., 0u64..), 0..9)) {
            let event = Event::Repeat(Report {
                n: 3, t_ns: Some(7), wall_ns, cpu_ns: None,
                work: BTreeMap::from([("bytes".into(), f64::from(bytes))]),
                observed: BTreeMap::new(), latencies: BTreeMap::from([("latency".into(), LatencyCounts::Pairs(pairs))]),
                check: Check::Passed, evidence: Some(Checks::Said(evidence)), screens: BTreeMap::new(), unknown: Map::new(),
            });
            let line = serde_json::to_string(&event).unwrap();
            prop_assert_eq!(parse_line(&line), Ok(Some(event)));
        }
    }
}
