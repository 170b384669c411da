//! Runs made of numbers: a real run is exported, edited line by line, and imported under another id.

#![allow(dead_code, reason = "tests and the bench each use their part")]

use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;

use flate2::Compression;
use flate2::bufread::GzDecoder;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

/// What runs are made from: a real one with a repeat.
pub(crate) struct Mould {
    run: Value,
    session: Value,
    repeat: Value,
    /// The series of each repeat of the real run.
    series: Vec<Vec<Value>>,
}

/// A run as it is exported.
pub(crate) struct Forged {
    pub(crate) run: Value,
    pub(crate) sessions: Vec<Value>,
    pub(crate) repeats: Vec<Value>,
    /// Each with the `sequence` of its repeat.
    pub(crate) series: Vec<(usize, Value)>,
}

impl Mould {
    /// Takes it from an exported run.
    pub(crate) fn of(exported: &Path) -> Self {
        let lines = BufReader::new(GzDecoder::new(BufReader::new(File::open(exported).unwrap()))).lines();
        let lines: Vec<Value> = lines.map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect();
        let first =
            |key: &str| lines.iter().find_map(|line| line.get(key)).unwrap_or_else(|| panic!("no {key}")).clone();
        let repeats = lines.iter().filter_map(|line| line.get("repeat"));
        let series_of = |repeat: &Value| {
            let series = lines.iter().filter_map(|line| line.get("series"));
            let own = series.filter(|series| series["sequence"] == repeat["sequence"]);
            own.map(|series| series["series"].clone()).collect()
        };
        Self {
            run: first("export")["run"].clone(),
            session: first("session"),
            repeat: first("repeat"),
            series: repeats.map(series_of).collect(),
        }
    }

    /// Gives each repeat the series of one of the real run's, in turns.
    pub(crate) fn with_series(&self, mut run: Forged) -> Forged {
        let sequences = 0..run.repeats.len();
        let of =
            |sequence: usize| self.series[sequence % self.series.len()].iter().map(move |one| (sequence, one.clone()));
        run.series = sequences.flat_map(of).collect();
        run
    }

    /// A finished run of these scenarios, each with the milliseconds that its repeats took for a megabyte. The id says when it was.
    pub(crate) fn run(&self, id: &str, scenarios: &[(&str, Vec<f64>)]) -> Forged {
        let moment = format!("{}-{}-{}T{}:{}:00Z", &id[..4], &id[4..6], &id[6..8], &id[9..11], &id[11..13]);
        let mut run = self.run.clone();
        (run["id"], run["started_at"], run["finished_at"]) = (json!(id), json!(moment), json!(moment));
        let scenario = run["suite"]["scenarios"][0].clone();
        let named = |(name, times): &(&str, Vec<f64>)| {
            let mut one = scenario.clone();
            (one["name"], one["repeats"]) = (json!(name), json!(times.len()));
            one
        };
        run["suite"]["scenarios"] = scenarios.iter().map(named).collect();
        let longest = scenarios.iter().map(|(_, times)| times.len()).max().unwrap_or(0);
        let mut repeats: Vec<Value> = Vec::new();
        for number in 0..longest {
            for (place, (_, times)) in scenarios.iter().enumerate() {
                let Some(milliseconds) = times.get(number) else { continue };
                let mut repeat = self.repeat.clone();
                (repeat["sequence"], repeat["number"]) = (json!(repeats.len()), json!(number));
                (repeat["scenario"], repeat["phase"], repeat["outcome"]) =
                    (json!(place), json!("measured"), json!("valid"));
                repeat["report"]["wall_ns"] = json!((milliseconds * 1e6) as u64);
                repeat["report"]["work"]["bytes"] = json!(1e6);
                repeats.push(repeat);
            }
        }
        Forged { run, sessions: vec![self.session.clone()], repeats, series: Vec::new() }
    }
}

impl Forged {
    /// The same with its repeats shared out over sessions of different boots.
    pub(crate) fn in_sessions(mut self, sessions: usize) -> Self {
        let session = self.sessions[0].clone();
        let numbered = |number: usize| {
            let mut one = session.clone();
            (one["number"], one["boot_id"]) = (json!(number), json!(format!("boot {number}")));
            one
        };
        self.sessions = (0..sessions).map(numbered).collect();
        let repeats = self.repeats.len();
        for (place, repeat) in self.repeats.iter_mut().enumerate() {
            repeat["session"] = json!(place * sessions / repeats);
        }
        self
    }

    /// The same of another machine.
    pub(crate) fn on(mut self, machine: &str) -> Self {
        self.run["machine"]["name"] = json!(machine);
        self
    }

    /// The same of another suite.
    pub(crate) fn of_suite(mut self, suite: &str) -> Self {
        self.run["suite"]["name"] = json!(suite);
        self
    }

    /// Writes it as `stend export` does.
    pub(crate) fn write(&self, path: &Path) {
        let mut digest = Sha256::new();
        let mut gzip = GzEncoder::new(File::create(path).unwrap(), Compression::fast());
        let mut write = |value: Value| {
            let line = format!("{value}\n");
            digest.update(line.as_bytes());
            gzip.write_all(line.as_bytes()).unwrap();
        };
        write(json!({ "export": { "version": 2, "run": self.run } }));
        self.sessions.iter().for_each(|session| write(json!({ "session": session })));
        for (sequence, repeat) in self.repeats.iter().enumerate() {
            write(json!({ "repeat": repeat }));
            for (_, series) in self.series.iter().filter(|(of, _)| *of == sequence) {
                write(json!({ "series": { "sequence": sequence, "series": series } }));
            }
        }
        let sha256: String = digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        gzip.write_all(format!("{}\n", json!({ "end": { "sha256": sha256 } })).as_bytes()).unwrap();
        gzip.finish().unwrap();
    }
}

/// So many times about a middle, spread by a share, in an order that neither rises nor falls.
pub(crate) fn times(middle: f64, spread: f64, count: usize) -> Vec<f64> {
    let step = |place: usize| ((place * 7 + 3) % count) as f64 / count as f64 - 0.5;
    (0..count).map(|place| middle * (1.0 + 2.0 * spread * step(place))).collect()
}
