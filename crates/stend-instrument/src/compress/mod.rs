//! Compressors over 441 HTML pages, as in "ARM wrestling".
//!
//! The pages are made up ([`corpus`]): the same bytes on every machine and in every version of `stend`, so a figure is
//! comparable wherever it was measured, and not with one from other pages. One process compresses all of them as one file, or a process
//! each page by itself; the latter mostly measures how fast processes start.
//!
//! | what | where it comes from |
//! |---|---|
//! | `wall_ns`, `cpu_ns` | what the guard saw of the compressor, and of the shell that starts it |
//! | `work` | `bytes`: what went in; `operations`: how many files that were |
//! | `observed` | `compressed_bytes`: what came out |
//!
//! The check: another command, after the measured one, decompresses the result by the same program. It must have the pages' SHA-256.

mod corpus;

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use serde_json::Value;
use stend_model::cause::Cause;
use stend_model::checked::Checked;
use stend_model::suite::Scenario;
use stend_model::wire::{Begin, Check, Event, Report, quote};

use self::corpus::{Corpus, PAGES};
use super::finished::{events, named};
use super::parameters::{ParameterError, Parameters, ended_well, last_words, not_taken};
use super::{Adapter, AdapterError, File, Finished, Invocation, Package, Place, Tool};

/// A compressor, as an instrument.
#[derive(Debug)]
pub(super) struct Compressor {
    tool: Tool,
    /// How it compresses a file to standard output.
    call: &'static str,
    /// What its files end in, by which it knows them again.
    suffix: &'static str,
    levels: RangeInclusive<u32>,
    /// The level that it takes by itself.
    level: &'static str,
}

/// Those that there are. All decompress files to standard output by `-dc`.
pub(super) static GZIP: Compressor = Compressor {
    tool: Tool { program: "gzip", package: Package::Debian("gzip"), version_arguments: &["--version"], least: None },
    call: "gzip -n -c -{level}",
    suffix: "gz",
    levels: 1..=9,
    level: "6",
};
pub(super) static PIGZ: Compressor = Compressor {
    tool: Tool { program: "pigz", package: Package::Debian("pigz"), version_arguments: &["--version"], least: None },
    call: "pigz -n -c -p {threads} -{level}",
    suffix: "gz",
    levels: 1..=9,
    level: "6",
};
pub(super) static ZSTD: Compressor = Compressor {
    tool: Tool { program: "zstd", package: Package::Debian("zstd"), version_arguments: &["--version"], least: None },
    call: "zstd -q -c -T{threads} -{level}",
    suffix: "zst",
    levels: 1..=19,
    level: "3",
};
pub(super) static BROTLI: Compressor = Compressor {
    tool: Tool {
        program: "brotli",
        package: Package::Debian("brotli"),
        version_arguments: &["--version"],
        least: None,
    },
    call: "brotli -c -q {level}",
    suffix: "br",
    levels: 0..=11,
    level: "11",
};

/// What a compressor is to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Job {
    level: u32,
    pages: u32,
    /// Where the compressor has any.
    threads: Option<u32>,
    /// A process for each page, in place of one for all.
    each: bool,
}

impl Job {
    /// Where the pages lie: this and `.html`, or this, the number of each and `.html`.
    fn stem(self, place: &Place) -> String {
        format!("{}/stend-pages-{}", place.data, self.pages)
    }

    /// The files that are compressed.
    fn files(self, place: &Place) -> Vec<(String, &'static [u8])> {
        let (corpus, stem) = (Corpus::of(self.pages), self.stem(place));
        if !self.each {
            return vec![(format!("{stem}.html"), corpus.bytes.as_slice())];
        }
        corpus.pages().zip(1..).map(|(page, number)| (format!("{stem}-{number:03}.html"), page)).collect()
    }
}

impl Compressor {
    fn job(&self, scenario: &Scenario) -> Result<Job, ParameterError> {
        let with_threads = self.call.contains("{threads}");
        let known = ["level", "pages", "files", "threads"];
        let known = if with_threads { &known[..] } else { &known[..3] };
        let parameters = Parameters::of(&scenario.parameters, self.name(), known)?;
        let threads = || parameters.count("threads", "1", 1..=1024);
        Ok(Job {
            level: parameters.count("level", self.level, self.levels.clone())?,
            pages: parameters.count("pages", "441", 1..=PAGES)?,
            threads: with_threads.then(threads).transpose()?,
            each: parameters.choice("files", "one", &["one", "each"])? == "each",
        })
    }

    fn begin(&self, job: Job, finished: &Finished) -> Begin {
        let corpus = Corpus::of(job.pages);
        let parameters = [
            ("level", Value::from(job.level)),
            ("pages", job.pages.into()),
            ("files", if job.each { "each" } else { "one" }.into()),
            ("corpus_bytes", corpus.bytes.len().into()),
            ("corpus_sha256", corpus.sha256.as_str().into()),
        ];
        let threads = job.threads.map(|threads| ("threads", threads.into()));
        finished.begin(self.name(), Some(self.name()), parameters.into_iter().chain(threads))
    }
}

impl Adapter for Compressor {
    fn name(&self) -> &'static str {
        self.tool.program
    }

    fn tool(&self) -> Option<Tool> {
        Some(self.tool)
    }

    fn check(&self, scenario: &Scenario) -> Result<(), AdapterError> {
        self.job(scenario)?;
        Ok(())
    }

    fn files(&self, scenario: &Scenario, place: &Place, _answer: &str) -> Result<BTreeMap<String, File>, AdapterError> {
        let file = |(path, bytes): (String, &[u8])| (path, File { bytes: bytes.len() as u64, ..File::default() });
        Ok(self.job(scenario)?.files(place).into_iter().map(file).collect())
    }

    fn invocation(&self, scenario: &Scenario, place: &Place) -> Result<Invocation, Cause> {
        let job = self.job(scenario).map_err(not_taken)?;
        let (suffix, threads) = (self.suffix, job.threads.unwrap_or(1).to_string());
        let call = self.call.replace("{level}", &job.level.to_string()).replace("{threads}", &threads);
        let compress = if job.each {
            format!(r#"for page in "$1"-*.html; do {call} "$page" >"${{page##*/}}.{suffix}" || exit; done"#)
        } else {
            format!(r#"exec {call} "$1".html >pages.html.{suffix}"#)
        };
        // brotli writes the first of several files alone to standard output.
        let check = format!(
            r#"cat ./*.{suffix} | wc -c; for file in ./*.{suffix}; do {} -dc "$file"; done | sha256sum"#,
            self.name()
        );
        let script = |script: &str| ["sh", "-c", script, "stend", &job.stem(place)].map(str::to_owned).into();
        Ok(Invocation {
            words: script(&compress),
            after: script(&check),
            files: job.files(place).into_iter().map(|(path, bytes)| (path, bytes.into())).collect(),
            ..Invocation::default()
        })
    }

    fn translate(&self, scenario: &Scenario, finished: &Finished) -> Result<Vec<Event>, Cause> {
        let job = self.job(scenario).map_err(not_taken)?;
        ended_well(self.name(), finished, last_words)?;
        if finished.usage.wall_ns == 0 {
            return Err(Cause::ToolUntimed { tool: self.name().into() });
        }
        let result = Decompressed::parse(&finished.after)?;
        let corpus = Corpus::of(job.pages);
        let is_right = result.sha256 == corpus.sha256;
        let checked = Checked::Decompressed { sha256: result.sha256, pages_sha256: corpus.sha256.clone() };
        let operations = if job.each { f64::from(job.pages) } else { 1.0 };
        let work = [("bytes", corpus.bytes.len() as f64), ("operations", operations)];
        let report = Report {
            observed: named([("compressed_bytes", result.compressed as f64)]),
            check: if is_right { Check::Passed } else { Check::Failed },
            evidence: Some(vec![checked].into()),
            ..finished.report(finished.usage.wall_ns, work)
        };
        Ok(events(self.begin(job, finished), report))
    }
}

/// What the check prints: the length of what was compressed, and the SHA-256 of what that becomes.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Decompressed {
    compressed: u64,
    sha256: String,
}

impl Decompressed {
    fn parse(text: &str) -> Result<Self, Cause> {
        let mut words = text.split_whitespace();
        let compressed = words.next().and_then(|word| word.parse().ok());
        let is_digest = |word: &&str| word.len() == 64 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
        match (compressed, words.next().filter(is_digest)) {
            (Some(compressed), Some(sha256)) => Ok(Self { compressed, sha256: sha256.into() }),
            _ => Err(Cause::ToolLine { output: "sha256sum".into(), said: quote(text) }),
        }
    }
}

#[cfg(test)]
mod tests;
