//! gzip over 441 HTML pages, as in "ARM wrestling".
//!
//! The pages are made up ([`corpus`]): the same bytes on every machine and in every version of `stend`, so a figure is
//! comparable wherever it was measured, and not with one from other pages. They are one file, compressed by one process:
//! a process for each page would mostly measure how fast processes start.
//!
//! | what | where it comes from |
//! |---|---|
//! | `wall_ns`, `cpu_ns` | what the guard saw of the command: gzip itself, and a shell, `wc`, `tail` and `od` of a few milliseconds |
//! | `work` | `bytes`: what went in |
//! | `observed` | `compressed_bytes`: what came out |
//!
//! The check: the last eight bytes of what gzip wrote are the CRC-32 and the length of what it read (RFC 1952); they must be
//! the corpus'. So gzip read the right bytes, all of them, and came to its end. The result is not decompressed: that would
//! be part of what is measured.

mod corpus;

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use stend_model::cause::Cause;
use stend_model::checked::Checked;
use stend_model::suite::Scenario;
use stend_model::wire::{Begin, Check, End, Event, Report, WIRE_VERSION, quote};

use self::corpus::{Corpus, PAGES};
use super::parameters::{ParameterError, Parameters, ended_well, last_words, not_taken};
use super::{Adapter, AdapterError, File, Finished, Invocation, Package, Place, Tool};

/// gzip, as an instrument.
pub(super) struct Gzip;

/// What gzip is to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Job {
    level: u32,
    pages: u32,
}

impl Job {
    fn of(scenario: &Scenario) -> Result<Self, ParameterError> {
        let parameters = Parameters::of(&scenario.parameters, "gzip", &["level", "pages"])?;
        Ok(Self { level: parameters.count("level", "6", 1..=9)?, pages: parameters.count("pages", "441", 1..=PAGES)? })
    }
}

impl Job {
    /// Where the pages lie.
    fn file(self, place: &Place) -> String {
        format!("{}/stend-pages-{}.html", place.data, self.pages)
    }
}

impl Adapter for Gzip {
    fn name(&self) -> &'static str {
        "gzip"
    }

    fn tool(&self) -> Option<Tool> {
        Some(Tool { program: "gzip", package: Package::Debian("gzip"), version_arguments: &["--version"], least: None })
    }

    fn check(&self, scenario: &Scenario) -> Result<(), AdapterError> {
        Job::of(scenario)?;
        Ok(())
    }

    fn files(&self, scenario: &Scenario, place: &Place, _answer: &str) -> Result<BTreeMap<String, File>, AdapterError> {
        let job = Job::of(scenario)?;
        let bytes = Corpus::of(job.pages).bytes.len() as u64;
        Ok(BTreeMap::from([(job.file(place), File { bytes, ..File::default() })]))
    }

    fn invocation(&self, scenario: &Scenario, place: &Place) -> Result<Invocation, Cause> {
        let job = Job::of(scenario).map_err(not_taken)?;
        let corpus = Corpus::of(job.pages);
        let path = job.file(place);
        let script = "gzip -n -c -\"$1\" \"$2\" >pages.gz && wc -c <pages.gz && tail -c 8 pages.gz | od -An -v -tu1";
        Ok(Invocation {
            words: ["sh", "-c", script, "stend-gzip", &job.level.to_string(), &path].map(str::to_owned).into(),
            files: BTreeMap::from([(path, corpus.bytes.as_slice().into())]),
            ..Invocation::default()
        })
    }

    fn translate(&self, scenario: &Scenario, finished: &Finished) -> Result<Vec<Event>, Cause> {
        let job = Job::of(scenario).map_err(not_taken)?;
        ended_well("gzip", finished, last_words)?;
        if finished.usage.wall_ns == 0 {
            return Err(Cause::GzipUntimed);
        }
        let trailer = Trailer::parse(&finished.stdout)?;
        let corpus = Corpus::of(job.pages);
        let wanted = (corpus.crc32, corpus.bytes.len() as u32);
        let right = (trailer.crc32, trailer.length) == wanted;
        let checked = Checked::GzipTrailer {
            crc32: format!("{:08x}", trailer.crc32),
            bytes: trailer.length,
            pages_crc32: format!("{:08x}", wanted.0),
            pages_bytes: wanted.1,
        };
        let report = Report {
            n: 0,
            t_ns: Some(finished.started_ns),
            wall_ns: finished.usage.wall_ns,
            cpu_ns: Some(finished.usage.cpu_ns()),
            work: BTreeMap::from([("bytes".into(), corpus.bytes.len() as f64)]),
            observed: BTreeMap::from([("compressed_bytes".into(), trailer.compressed as f64)]),
            latencies: BTreeMap::new(),
            check: if right { Check::Passed } else { Check::Failed },
            evidence: Some(vec![checked].into()),
            unknown: Map::new(),
        };
        Ok(vec![Event::Begin(begin(job, corpus, finished)), Event::Repeat(report), Event::End(End { repeats: 1 })])
    }
}

fn begin(job: Job, corpus: &Corpus, finished: &Finished) -> Begin {
    let version = finished.version.lines().next().unwrap_or_default().trim();
    let parameters = Map::from_iter([
        ("level".to_owned(), Value::from(job.level)),
        ("pages".to_owned(), job.pages.into()),
        ("corpus_bytes".to_owned(), corpus.bytes.len().into()),
        ("corpus_sha256".to_owned(), corpus.sha256.as_str().into()),
    ]);
    Begin {
        wire: WIRE_VERSION,
        instrument: "gzip".into(),
        version: Some(version.trim_start_matches("gzip ").into()),
        t_ns: Some(finished.started_ns),
        build: BTreeMap::from([("gzip".to_owned(), version.to_owned())]),
        parameters,
        missing: BTreeMap::new(),
        unknown: Map::new(),
    }
}

/// What the script prints: the result's length, and gzip's last eight bytes, as decimal numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Trailer {
    compressed: u64,
    crc32: u32,
    length: u32,
}

impl Trailer {
    fn parse(text: &str) -> Result<Self, Cause> {
        let mut words = text.split_whitespace();
        let compressed = words.next().and_then(|word| word.parse().ok());
        let bytes: Option<Vec<u8>> = words.map(|word| word.parse().ok()).collect();
        match (compressed, bytes.as_deref()) {
            (Some(compressed), Some(&[a, b, c, d, e, f, g, h])) => Ok(Self {
                compressed,
                crc32: u32::from_le_bytes([a, b, c, d]),
                length: u32::from_le_bytes([e, f, g, h]),
            }),
            _ => Err(Cause::ToolLine { output: "gzip".into(), said: quote(text) }),
        }
    }
}

#[cfg(test)]
mod tests;
