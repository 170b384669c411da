//! Stores full of runs: one is really measured, the others are made of it by changing its export and importing that.

use std::io::{Read as _, Write as _};
use std::path::PathBuf;

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::Stand;

/// An exported run.
pub(crate) struct Template {
    lines: Vec<Value>,
}

impl Template {
    /// The newest run of a stand.
    pub(crate) fn of(stand: &Stand) -> Self {
        let path = stand.path().join("template.stend");
        stand.fine(&["export", "last", "--output", path.to_str().unwrap()]);
        let mut text = String::new();
        GzDecoder::new(std::fs::File::open(&path).unwrap()).read_to_string(&mut text).unwrap();
        Self { lines: text.lines().map(|line| serde_json::from_str(line).unwrap()).collect() }
    }

    /// Its repeats, in the order in which they were made.
    pub(crate) fn repeats(&self) -> impl Iterator<Item = &Value> {
        self.lines.iter().filter_map(|line| line.get("repeat"))
    }

    /// The moments of a series of a repeat; none where there is no such series.
    pub(crate) fn times_ns(&self, repeat: &Value, metric: &str) -> Vec<i64> {
        let series = self.lines.iter().filter_map(|line| line.get("series"));
        let mut series = series.filter(|one| one["sequence"] == repeat["sequence"]).map(|one| &one["series"]);
        let found = series.find(|one| one["metric"] == metric).and_then(|one| one["times_ns"].as_array());
        found.into_iter().flatten().map(|time| time.as_i64().unwrap()).collect()
    }

    /// Imports the run under another id and time, changed by `change`, which is given the run and each repeat with its number in the run.
    pub(crate) fn import(
        &self,
        stand: &Stand,
        id: &str,
        started_at: &str,
        change: impl Fn(&mut Value, &mut [&mut Value]),
    ) {
        stand.fine(&["import", self.write(stand, id, started_at, change).to_str().unwrap()]);
    }

    /// Writes what [`import`](Self::import) would import.
    pub(crate) fn write(
        &self,
        stand: &Stand,
        id: &str,
        started_at: &str,
        change: impl Fn(&mut Value, &mut [&mut Value]),
    ) -> PathBuf {
        let mut lines = self.lines.clone();
        lines.pop();
        {
            let (first, rest) = lines.split_first_mut().unwrap();
            let run = &mut first["export"]["run"];
            run["id"] = json!(id);
            run["started_at"] = json!(started_at);
            run["finished_at"] = json!(started_at);
            let mut repeats: Vec<_> = rest.iter_mut().filter_map(|line| line.get_mut("repeat")).collect();
            change(run, &mut repeats);
        }
        let body: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let digest: String = Sha256::digest(body.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
        let path = stand.path().join(format!("{id}.stend"));
        let mut out = GzEncoder::new(std::fs::File::create(&path).unwrap(), Compression::fast());
        writeln!(out, "{body}{}", json!({ "end": { "sha256": digest } })).unwrap();
        out.finish().unwrap();
        path
    }
}

/// Sets how long a repeat took.
pub(crate) fn took(repeat: &mut Value, nanoseconds: f64) {
    repeat["report"]["wall_ns"] = json!(nanoseconds.round() as u64);
}
