//! What other programs measured, as runs: `hyperfine --export-json`, and `go test -bench`.
//!
//! Of the machine little is known, and nothing was watched meanwhile. Nothing that such a file names is ever run.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Map;
use stend_instrument::{literal, quoted};
use stend_model::identity::identity_of;
use stend_model::plan::Phase;
use stend_model::record::Record;
use stend_model::run::{Outcome, Repeat, Run, RunState, Session};
use stend_model::suite::{Changes, Suite};
use stend_model::wire::{Check, Report};
use stend_stand::machine::{self, Unanswered};
use thiserror::Error;

/// Of a file so much is read.
pub const MOST_BYTES: u64 = 64 << 20;

/// Why a file is no measurement of another program.
#[derive(Debug, Error)]
pub enum OthersError {
    /// It is no JSON, or not hyperfine's.
    #[error("{file} is no export of hyperfine: {said}")]
    NotHyperfine {
        /// The file as the user knows it.
        file: String,
        /// What the parser said.
        said: String,
    },
    /// No single time is in it.
    #[error("{file}: {what} has no single measurements; export them with hyperfine --export-json")]
    NoTimes {
        /// The file.
        file: String,
        /// The command.
        what: String,
    },
    /// A number is none that a time can be.
    #[error("{file}: {what}: {number} is no length of time")]
    BadTime {
        /// The file.
        file: String,
        /// The command or benchmark.
        what: String,
        /// The number.
        number: f64,
    },
    /// Nothing was measured.
    #[error("{file} has no measurement")]
    Empty {
        /// The file.
        file: String,
    },
    /// A command or benchmark has no name that a scenario could have, or there are too many.
    #[error("{file}: {said}")]
    Unusable {
        /// The file.
        file: String,
        /// Why not.
        said: String,
    },
}

/// A run of another program, and units of its figures that are left out.
pub struct Others {
    pub record: Record,
    pub left_out: BTreeSet<String>,
}

/// Which program's a file is, by its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Hyperfine,
    Go,
}

impl Kind {
    /// By how the file begins; nothing where it is neither.
    pub fn of(beginning: &str) -> Option<Self> {
        let is_go = |line: &str| line.starts_with("Benchmark") || line.starts_with("goos:") || line.starts_with("pkg:");
        if beginning.trim_start().starts_with('{') && beginning.contains("\"results\"") {
            Some(Self::Hyperfine)
        } else {
            beginning.lines().any(is_go).then_some(Self::Go)
        }
    }
}

/// What was found of a command or a benchmark.
#[derive(Default)]
struct Measured {
    name: String,
    /// The words of what was run, which tell it from other work.
    words: Vec<String>,
    reports: Vec<Report>,
}

/// A metric, if some report has what it needs.
const METRICS: [(&str, &str); 6] = [
    ("runs", r#"{ name = "time", value = "wall", unit = "s", better = "lower" }"#),
    ("operations", r#"{ name = "time", value = "wall/operations", unit = "ns", better = "lower" }"#),
    ("bytes", r#"{ name = "throughput", value = "bytes/wall", unit = "B/s", better = "higher", optional = true }"#),
    ("max_rss_bytes", r#"{ name = "memory", value = "max_rss_bytes", unit = "B", better = "lower", optional = true }"#),
    (
        "allocated_bytes",
        r#"{ name = "allocated", value = "allocated_bytes", unit = "B", better = "lower", optional = true }"#,
    ),
    (
        "allocations",
        r#"{ name = "allocations", value = "allocations", unit = "1", better = "lower", optional = true }"#,
    ),
];

/// Reads such a file. `machine` is what its machine is called, `made_at` when the file was made.
///
/// # Errors
/// Why it is none.
pub fn read(kind: Kind, text: &str, file: &str, machine: &str, made_at: Timestamp) -> Result<Others, OthersError> {
    let mut hardware = BTreeMap::new();
    let mut left_out = BTreeSet::new();
    let measured = match kind {
        Kind::Hyperfine => hyperfine(text, file)?,
        Kind::Go => go(text, file, &mut hardware, &mut left_out)?,
    };
    if measured.iter().all(|one| one.reports.is_empty()) {
        return Err(OthersError::Empty { file: file.to_owned() });
    }
    let suite = suite(kind, &measured, file)?;
    let mut of_machine = machine::from_answer(Err(Unanswered::Unasked));
    of_machine.call(machine);
    let known = |name: &str| hardware.get(name).cloned().unwrap_or_default();
    (of_machine.hardware.processor, of_machine.hardware.architecture) = (known("cpu"), known("goarch"));
    // The same file is the same run.
    let digest = identity_of(&text);
    let run = Run {
        id: format!("{}-{}", made_at.strftime("%Y%m%d-%H%M"), &digest[..4]),
        label: None,
        stend_version: env!("CARGO_PKG_VERSION").into(),
        host: machine.to_owned(),
        started_at: made_at,
        finished_at: Some(made_at),
        state: RunState::Finished,
        seed: 0,
        suite,
        skipped: Vec::new(),
        profile: false,
        target: None,
        sides: Vec::new(),
        carried: false,
        imported: Some(true),
        build: None,
        known: None,
        machine: of_machine,
    };
    let session = Session {
        number: 0,
        started_at: made_at,
        boot_id: None,
        conditions: Vec::new(),
        noted: Vec::new(),
        missing_sensors: BTreeMap::new(),
        clocks: None,
        screen: None,
    };
    let mut repeats = Vec::new();
    for (scenario, one) in measured.into_iter().enumerate() {
        for (number, report) in (0..).zip(one.reports) {
            repeats.push(Repeat {
                sequence: repeats.len() as u32,
                session: 0,
                scenario,
                number,
                side: None,
                phase: Phase::Measured,
                started_at: made_at,
                outcome: Outcome::Valid,
                begin: None,
                report: Some(report),
                marks: Vec::new(),
                tests: Vec::new(),
                usage: None,
                stopped: false,
                lasting: false,
                command: one.words.clone(),
                output: String::new(),
                error_output: String::new(),
                target: BTreeMap::new(),
            });
        }
    }
    Ok(Others { record: Record { sessions: vec![session], repeats, ..Record::empty(run) }, left_out })
}

fn suite(kind: Kind, measured: &[Measured], file: &str) -> Result<Suite, OthersError> {
    let (name, title) = match kind {
        Kind::Hyperfine => ("hyperfine", "Measured by hyperfine"),
        Kind::Go => ("go-bench", "Measured by go test -bench"),
    };
    let mut text = format!("name = \"{name}\"\ntitle = \"{title}\"\nwarmup = 0\n");
    for one in measured {
        let words: Vec<_> = one.words.iter().map(|word| quoted(&literal(word))).collect();
        let has = |name: &str| {
            one.reports.iter().any(|report| report.work.contains_key(name) || report.observed.contains_key(name))
        };
        let metrics: Vec<_> = METRICS.iter().filter(|(name, _)| has(name)).map(|(_, metric)| *metric).collect();
        let _ = write!(
            text,
            "[[scenario]]\nname = {}\ncommand = [{}]\nrepeats = {}\nverification = \"none\"\nmetrics = [{}]\n",
            quoted(&literal(&one.name)),
            words.join(", "),
            one.reports.len().max(1),
            metrics.join(", ")
        );
    }
    let said = |error: stend_model::suite::SuiteError| OthersError::Unusable {
        file: file.to_owned(),
        said: error.to_string(),
    };
    Suite::parse(&text, "made of it", Path::new("/"), &Changes::default()).map_err(said)
}

fn report(wall_ns: f64, work: (&str, f64), observed: BTreeMap<String, f64>) -> Report {
    Report {
        n: 0,
        t_ns: None,
        wall_ns: (wall_ns.round() as u64).max(1),
        cpu_ns: None,
        work: BTreeMap::from([(work.0.to_owned(), work.1)]),
        observed,
        latencies: BTreeMap::new(),
        check: Check::None,
        evidence: None,
        screens: BTreeMap::new(),
        unknown: Map::new(),
    }
}

/// What hyperfine exports.
#[derive(Deserialize)]
struct Export {
    results: Vec<OfCommand>,
}

#[derive(Deserialize)]
struct OfCommand {
    command: String,
    /// Seconds.
    times: Option<Vec<f64>>,
    #[serde(default)]
    memory_usage_byte: Vec<f64>,
}

fn hyperfine(text: &str, file: &str) -> Result<Vec<Measured>, OthersError> {
    let export: Export = serde_json::from_str(text)
        .map_err(|error| OthersError::NotHyperfine { file: file.to_owned(), said: error.to_string() })?;
    let one = |of: OfCommand| {
        let times = of.times.filter(|times| !times.is_empty());
        let times = times.ok_or_else(|| OthersError::NoTimes { file: file.to_owned(), what: of.command.clone() })?;
        let report = |(place, seconds): (usize, f64)| {
            check(seconds, file, &of.command)?;
            let memory = of.memory_usage_byte.get(place).filter(|bytes| bytes.is_finite() && **bytes > 0.0);
            let observed = memory.map(|bytes| ("max_rss_bytes".to_owned(), *bytes)).into_iter().collect();
            Ok(report(seconds * 1e9, ("runs", 1.0), observed))
        };
        let reports = times.into_iter().enumerate().map(report).collect::<Result<_, _>>()?;
        Ok(Measured { words: vec!["hyperfine".into(), of.command.clone()], reports, name: of.command })
    };
    export.results.into_iter().map(one).collect()
}

/// A length of time, in any unit.
fn check(number: f64, file: &str, what: &str) -> Result<(), OthersError> {
    // A century, in nanoseconds.
    if number > 0.0 && number < 3e18 {
        return Ok(());
    }
    Err(OthersError::BadTime { file: file.to_owned(), what: what.to_owned(), number })
}

/// Lines such as `BenchmarkSort/1k-8   5000   234567 ns/op   16 B/op   2 allocs/op`; a benchmark that stands there several times was repeated.
fn go(
    text: &str,
    file: &str,
    hardware: &mut BTreeMap<String, String>,
    left_out: &mut BTreeSet<String>,
) -> Result<Vec<Measured>, OthersError> {
    let mut package = String::new();
    let mut all: Vec<((String, String), Measured)> = Vec::new();
    for line in text.lines() {
        if let Some((key, value)) = line.split_once(": ") {
            match key {
                "pkg" => value.trim().clone_into(&mut package),
                "cpu" | "goarch" => _ = hardware.insert(key.to_owned(), value.trim().to_owned()),
                _ => {}
            }
        }
        let mut words = line.split_whitespace();
        let Some(name) = words.next().and_then(|word| word.strip_prefix("Benchmark")) else { continue };
        // Other lines begin so too: what a benchmark prints, or its name alone.
        let Some(operations) = words.next().and_then(|word| word.parse::<f64>().ok()) else { continue };
        let rest: Vec<&str> = words.collect();
        let of = |unit: &str| {
            rest.chunks(2).find(|pair| pair.get(1) == Some(&unit)).and_then(|pair| pair[0].parse::<f64>().ok())
        };
        let Some(nanoseconds) = of("ns/op") else { continue };
        let name = without_processors(name);
        check(nanoseconds, file, name)?;
        check(operations, file, name)?;
        let finite = |number: &f64| number.is_finite() && *number >= 0.0;
        let observed = [("allocated_bytes", of("B/op")), ("allocations", of("allocs/op"))];
        let observed =
            observed.into_iter().filter_map(|(name, number)| Some((name.to_owned(), number.filter(finite)?)));
        let wall_ns = nanoseconds * operations;
        check(wall_ns, file, name)?;
        let mut report = report(wall_ns, ("operations", operations), observed.collect());
        if let Some(megabytes) = of("MB/s").filter(finite) {
            report.work.insert("bytes".into(), megabytes * 1e6 * wall_ns * 1e-9);
        }
        let known = ["ns/op", "B/op", "allocs/op", "MB/s"];
        left_out.extend(
            rest.chunks(2)
                .filter_map(|pair| pair.get(1))
                .filter(|unit| !known.contains(unit))
                .map(|unit| (*unit).to_owned()),
        );
        let key = (package.clone(), name.to_owned());
        match all.iter_mut().find(|(other, _)| *other == key) {
            Some((_, one)) => one.reports.push(report),
            None => {
                let words = vec!["go".into(), "test".into(), "-bench".into(), package.clone(), name.to_owned()];
                all.push((key, Measured { name: name.to_owned(), words, reports: vec![report] }));
            }
        }
    }
    // The package is said where there are several.
    let packages: BTreeSet<String> = all.iter().map(|((package, _), _)| package.clone()).collect();
    let named = |((package, name), one): ((String, String), Measured)| {
        let name = if packages.len() > 1 { format!("{package}: {name}") } else { name };
        Measured { name, ..one }
    };
    Ok(all.into_iter().map(named).collect())
}

/// Behind the last hyphen stands how many processors were used, where there were several.
fn without_processors(name: &str) -> &str {
    match name.rsplit_once('-') {
        Some((name, number)) if !name.is_empty() && number.parse::<u32>().is_ok() => name,
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: Timestamp = Timestamp::UNIX_EPOCH;

    fn values(others: &Others, scenario: usize, metric: usize) -> Vec<f64> {
        let metric = &others.record.run.suite.scenarios[scenario].metrics[metric];
        let of_it = others.record.repeats.iter().filter(|repeat| repeat.scenario == scenario);
        of_it.filter_map(|repeat| repeat.value(metric)).collect()
    }

    #[test]
    fn hyperfine_gives_each_of_its_times() {
        // As version 1.18 writes it.
        let text = r#"{ "results": [ { "command": "sort {x} 'a b'", "mean": 0.15, "stddev": 0.01, "median": 0.15, "user": 0.1, "system": 0.02,
            "min": 0.1, "max": 0.2, "times": [0.1, 0.2], "memory_usage_byte": [1048576, 2097152], "exit_codes": [0, null] },
            { "command": "true", "times": [0.5], "exit_codes": [0] } ] }"#;
        assert_eq!(Kind::of(text), Some(Kind::Hyperfine));
        let read = read(Kind::Hyperfine, text, "a.json", "desk", AT).unwrap();
        let names: Vec<_> = read.record.run.suite.scenarios.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["sort {x} 'a b'", "true"]);
        assert_eq!(
            (values(&read, 0, 0), values(&read, 0, 1), values(&read, 1, 0)),
            (vec![0.1, 0.2], vec![1048576.0, 2097152.0], vec![0.5])
        );
        assert_eq!(read.record.run.machine.name, "desk");
        for (text, part) in [
            ("{", "no export of hyperfine"),
            (r#"{"results": []}"#, "no measurement"),
            (r#"{"results": [{"command": "x", "mean": 1}]}"#, "x has no single measurements"),
            (r#"{"results": [{"command": "x", "times": [-1]}]}"#, "-1 is no length of time"),
            (r#"{"results": [{"command": "x", "times": [1]}, {"command": "x", "times": [1]}]}"#, "x"),
        ] {
            let error = super::read(Kind::Hyperfine, text, "a.json", "desk", AT).err().map(|error| error.to_string());
            assert!(
                error.as_ref().is_some_and(|error| error.starts_with("a.json") && error.contains(part)),
                "{text}: {error:?}"
            );
        }
    }

    #[test]
    fn a_benchmark_that_go_repeats_has_so_many_repeats() {
        let text = "goos: linux\ngoarch: amd64\npkg: example.org/sort\ncpu: AMD EPYC 7763\nBenchmarkSort/1k-8 \t 5000\t 200000 ns/op\t 45.3 MB/s\t 16 B/op\t 2 allocs/op\n\
            BenchmarkSort/1k-8 \t 5000\t 210000 ns/op\t 45.0 MB/s\t 16 B/op\t 2 allocs/op\nBenchmarkTiny 1000000000 0.2500 ns/op 7 frobs/op\nBenchmarkBad\n--- BENCH: BenchmarkSort\nPASS\n";
        assert_eq!(Kind::of(text), Some(Kind::Go));
        let read = read(Kind::Go, text, "a.txt", "ci", AT).unwrap();
        let names: Vec<_> = read.record.run.suite.scenarios.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["Sort/1k", "Tiny"]);
        let close = |found: Vec<f64>, wanted: &[f64]| {
            found.len() == wanted.len() && found.iter().zip(wanted).all(|(a, b)| (a / b - 1.0).abs() < 1e-9)
        };
        assert!(close(values(&read, 0, 0), &[200_000.0, 210_000.0]) && close(values(&read, 1, 0), &[0.25]));
        assert!(close(values(&read, 0, 1), &[45.3e6, 45.0e6]) && close(values(&read, 0, 2), &[16.0, 16.0]));
        assert_eq!(read.record.run.machine.hardware.processor, "AMD EPYC 7763");
        assert_eq!(read.left_out.into_iter().collect::<Vec<_>>(), ["frobs/op"]);
    }

    proptest::proptest! {
        #[test]
        fn whatever_a_file_holds_it_is_read_or_refused(text in "(Benchmark[A-Za-z/0-9-]{0,6} [0-9.e-]{0,6} [0-9.e+-]{0,8} (ns/op|x)\n|pkg: [a-z]{0,3}\n|[ -~]{0,20}\n){0,6}") {
            let _ = read(Kind::Go, &text, "a.txt", "ci", AT);
            let _ = read(Kind::Hyperfine, &text, "a.txt", "ci", AT);
        }
    }
}
