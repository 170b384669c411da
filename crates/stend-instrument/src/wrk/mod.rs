//! wrk: a closed load of http requests over connections that stay open.
//!
//! | what | where it comes from |
//! |---|---|
//! | `wall_ns` | wrk's own measured stretch |
//! | `cpu_ns` | what the guard saw of wrk, and of a shell |
//! | `work` | `operations`: whole responses; `bytes`: those of their bodies, and of the responses that were under way at the end |
//! | `latencies` | wrk's histogram; `latency_p50_ns`, `latency_p99_ns` in `observed` are of it |
//! | `check` | every response had status 2xx or 3xx, no connection failed, all bytes together are as many as so many responses of that length have, and the body that curl got before the load and after it is one, of the length that the suite expects, if it says one |
//!
//! Debian's wrk adds latencies that it expects to have missed while one took long, so its upper percentiles are not beside those of another
//! tool.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Map, Value};
use stend_model::cause::Cause;
use stend_model::checked::Checked;
use stend_model::suite::Scenario;
use stend_model::wire::{Begin, Check, End, Event, Report, WIRE_VERSION, quote};
use stend_stats::Latencies;

use super::parameters::{ParameterError, Parameters, ended_well, last_words, not_taken};
use super::{Adapter, AdapterError, Finished, Invocation, Place, Tool};
use stend_model::latency::LatencyCounts;

const NAMES: [&str; 6] = ["url", "connections", "threads", "duration", "encoding", "body"];
/// What curl prints of a response.
const SEEN: &str = "%{http_code} %{size_header} %{size_download}\\n";
const BEFORE: &str = r#"curl -q -sS -k --raw --noproxy "*" -H "Accept-Encoding: $2" -o before -w "$3" "$1" >seen"#;
const LOAD: &str = r#"
url=$1 encoding=$2 seen=$3
shift 3
wrk "$@" -s report.lua -H "Accept-Encoding: $encoding" "$url" >said 2>&1 || { cat said >&2; exit 1; }
cat seen
curl -q -sS -k --raw --noproxy "*" -H "Accept-Encoding: $encoding" -o after -w "$seen" "$url" || exit
cmp before after >/dev/null && echo same || echo other
sha256sum <after
"#;

/// The adapter.
#[derive(Debug)]
pub(super) struct Wrk;

/// What a scenario asks for.
struct Job {
    url: String,
    encoding: String,
    connections: u32,
    threads: u32,
    duration: Duration,
    body: Option<u64>,
}

impl Job {
    fn of(scenario: &Scenario) -> Result<Self, ParameterError> {
        let parameters = Parameters::of(&scenario.parameters, "wrk", &NAMES)?;
        let connections = parameters.count("connections", "10", 1..=10_000)?;
        Ok(Self {
            url: parameters.given("url").ok_or(ParameterError::Missing { name: "url" })?.to_owned(),
            encoding: parameters.text("encoding", "identity").to_owned(),
            connections,
            threads: parameters.count("threads", "1", 1..=connections.min(256))?,
            duration: parameters.duration("duration", "2s")?,
            body: parameters.given("body").map(|_| parameters.size("body", "1")).transpose()?,
        })
    }
}

impl Adapter for Wrk {
    fn name(&self) -> &'static str {
        "wrk"
    }

    fn tool(&self) -> Option<Tool> {
        Some(Tool { program: "wrk", package: "wrk", version_arguments: &["-v"], least: None })
    }

    fn check(&self, scenario: &Scenario) -> Result<(), AdapterError> {
        Job::of(scenario)?;
        Ok(())
    }

    fn invocation(&self, scenario: &Scenario, place: &Place) -> Result<Invocation, Cause> {
        let job = Job::of(scenario).map_err(not_taken)?;
        // wrk takes whole seconds.
        let seconds = job.duration.as_secs().max(1);
        // A response that takes long is a latency, not an error.
        let options = [
            format!("-t{}", job.threads),
            format!("-c{}", job.connections),
            format!("-d{seconds}s"),
            "--timeout".into(),
            format!("{}s", scenario.timeout.0.as_secs().max(1)),
        ];
        let of =
            |script: &str| ["sh", "-c", script, "stend-wrk", &job.url, &job.encoding, SEEN].map(str::to_owned).to_vec();
        let report = (format!("{}/report.lua", place.work), include_bytes!("report.lua").as_slice().into());
        Ok(Invocation {
            files: BTreeMap::from([report]),
            before: of(BEFORE),
            words: of(LOAD).into_iter().chain(options).collect(),
            results: vec![format!("{}/report", place.work)],
            ..Invocation::default()
        })
    }

    fn translate(&self, scenario: &Scenario, finished: &Finished) -> Result<Vec<Event>, Cause> {
        let job = Job::of(scenario).map_err(not_taken)?;
        ended_well("wrk", finished, last_words)?;
        let text = finished.files.values().next().map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        let told = Told::parse(&text.unwrap_or_default())?;
        let seen = Seen::parse(&finished.stdout)?;
        let mut latencies = Latencies::default();
        for (ns, count) in &told.latencies {
            if !latencies.record(*ns, *count) {
                return Err(Cause::ToolLine { output: "wrk".into(), said: quote(&format!("latency {ns} {count}")) });
            }
        }
        let percentile = |name: &str, share: f64| Some((name.to_owned(), latencies.percentile(share)?.ns as f64));
        let percentiles = [("latency_p50_ns", 0.5), ("latency_p99_ns", 0.99)];
        let checked = Checked::HttpResponses {
            responses: told.requests,
            status: seen.status,
            body: seen.body,
            bytes: told.bytes,
            errors: told.errors,
            sha256: seen.sha256.clone(),
        };
        let report = Report {
            n: 0,
            t_ns: Some(finished.started_ns),
            wall_ns: told.duration_us.saturating_mul(1000),
            cpu_ns: Some(finished.usage.cpu_ns()),
            work: BTreeMap::from([
                ("operations".into(), told.requests as f64),
                ("bytes".into(), told.bytes.saturating_sub(told.requests.saturating_mul(seen.header)) as f64),
            ]),
            observed: percentiles.into_iter().filter_map(|(name, share)| percentile(name, share)).collect(),
            latencies: BTreeMap::from([("latency".into(), LatencyCounts::Pairs(told.latencies.clone()))]),
            check: if is_right(&job, &told, &seen) { Check::Passed } else { Check::Failed },
            evidence: Some(vec![checked].into()),
            unknown: Map::new(),
        };
        Ok(vec![Event::Begin(begin(&job, finished)), Event::Repeat(report), Event::End(End { repeats: 1 })])
    }
}

/// Whether all responses were what they should be. Those that were under way at the end have sent a part of their bytes.
fn is_right(job: &Job, told: &Told, seen: &Seen) -> bool {
    let one = seen.header + seen.body;
    let least = told.requests.saturating_mul(one);
    let most = least.saturating_add(u64::from(job.connections).saturating_mul(one));
    seen.status == 200
        && seen.is_same
        && told.errors == 0
        && told.requests > 0
        && (least..=most).contains(&told.bytes)
        && job.body.is_none_or(|body| body == seen.body)
}

fn begin(job: &Job, finished: &Finished) -> Begin {
    let version = finished.version.lines().next().unwrap_or_default();
    let version = version.split(" Copyright").next().unwrap_or_default().trim();
    let parameters = Map::from_iter([
        ("connections".to_owned(), Value::from(job.connections)),
        ("threads".to_owned(), job.threads.into()),
        ("encoding".to_owned(), job.encoding.as_str().into()),
    ]);
    Begin {
        wire: WIRE_VERSION,
        instrument: "wrk".into(),
        version: Some(version.trim_start_matches("wrk ").into()),
        t_ns: Some(finished.started_ns),
        build: BTreeMap::from([("wrk".to_owned(), version.to_owned())]),
        parameters,
        missing: BTreeMap::new(),
        unknown: Map::new(),
    }
}

/// What wrk reported.
#[derive(Debug, Default, PartialEq)]
struct Told {
    requests: u64,
    duration_us: u64,
    bytes: u64,
    errors: u64,
    /// Nanoseconds, and how many took so long.
    latencies: Vec<(u64, u64)>,
}

impl Told {
    fn parse(text: &str) -> Result<Self, Cause> {
        let mut told = Self::default();
        for line in text.lines() {
            let wrong = || Cause::ToolLine { output: "wrk".into(), said: quote(line) };
            let mut words = line.split(' ');
            let name = words.next().unwrap_or_default();
            let numbers: Vec<u64> = words.map(str::parse).collect::<Result<_, _>>().map_err(|_| wrong())?;
            match (name, &numbers[..]) {
                ("requests", [number]) => told.requests = *number,
                ("duration_us", [number]) => told.duration_us = *number,
                ("bytes", [number]) => told.bytes = *number,
                ("latency", [us, count]) => told.latencies.push((us.saturating_mul(1000), *count)),
                (name, [number]) if name.starts_with("error_") => told.errors = told.errors.saturating_add(*number),
                _ => return Err(wrong()),
            }
        }
        match told.duration_us {
            0 => Err(Cause::ToolLine { output: "wrk".into(), said: quote(text) }),
            _ => Ok(told),
        }
    }
}

/// What curl saw before the load and after it.
#[derive(Debug, PartialEq)]
struct Seen {
    status: u64,
    /// Bytes of the header, and of the body.
    header: u64,
    body: u64,
    /// Whether both responses were alike.
    is_same: bool,
    sha256: String,
}

impl Seen {
    fn parse(text: &str) -> Result<Self, Cause> {
        let mut lines = text.lines();
        let mut line = || lines.next().unwrap_or_default();
        let (before, after, same, digest) = (line(), line(), line(), line());
        let numbers: Vec<u64> = before.split(' ').filter_map(|word| word.parse().ok()).collect();
        match (&numbers[..], same, digest.get(..64)) {
            (&[status, header, body], "same" | "other", Some(sha256)) => {
                Ok(Self { status, header, body, is_same: before == after && same == "same", sha256: sha256.into() })
            }
            _ => Err(Cause::ToolLine { output: "curl".into(), said: quote(text) }),
        }
    }
}

#[cfg(test)]
mod tests;
