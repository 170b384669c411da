//! Loads of a web server: one file, asked for again and again.
//!
//! | what | where it comes from |
//! |---|---|
//! | `wall_ns` | the generator's own measured stretch |
//! | `cpu_ns` | what the guard saw of the generator, curl and a shell |
//! | `work` | `operations`: whole responses; `bytes`: those of their bodies, and of the responses that were under way at the end |
//! | `latencies` | each response's time, or the generator's histogram; `latency_p50_ns`, `latency_p99_ns` in `observed` are of it |
//! | `check` | every response had a good status, no connection failed, all bytes together are as many as so many responses of that length have, and the body that curl got before the load and after it is one, of the length that the suite expects, if it says one |
//!
//! Each generator measures latencies in its own way, so those of two are not put side by side: they are figures of different scenarios.

mod ab;
mod h2load;
mod oha;
mod wrk;

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;
use stend_model::cause::Cause;
use stend_model::checked::Checked;
use stend_model::latency::LatencyCounts;
use stend_model::suite::Scenario;
use stend_model::wire::{Begin, Check, Event, Report, quote};
use stend_stats::Latencies;

use super::finished::events;
use super::parameters::{ParameterError, Parameters, ended_well, last_words, not_taken};
use super::{Adapter, AdapterError, Finished, Invocation, LEAST_OF_RATE, Place, Tool};

/// ApacheBench, the generator of "ARM wrestling".
pub(super) static AB: Http = Http(&ab::Ab);
/// h2load, for HTTP/2.
pub(super) static H2LOAD: Http = Http(&h2load::H2Load);
/// oha, for a load that does not wait for responses.
pub(super) static OHA: Http = Http(&oha::Oha);
/// wrk.
pub(super) static WRK: Http = Http(&wrk::Wrk);

/// The parameters that all have.
const NAMES: [&str; 5] = ["url", "connections", "duration", "encoding", "body"];
/// What curl prints of a response.
const SEEN: &str = "%{http_code} %{size_header} %{size_download}\\n";
const BEFORE: &str =
    r#"curl -q -sS -k --http1.1 --raw --noproxy "*" -H "Accept-Encoding: $2" -o before -w "$3" "$1" >seen"#;
/// The load. The generator's words follow; what is after it stands between.
const LOAD: [&str; 2] = [
    r#"
url=$1 encoding=$2 seen=$3
shift 3
"$@" >said 2>&1 || { cat said >&2; exit 1; }
"#,
    r#"
cat seen
curl -q -sS -k --http1.1 --raw --noproxy "*" -H "Accept-Encoding: $encoding" -o after -w "$seen" "$url" || exit
cmp before after >/dev/null && echo same || echo other
sha256sum <after
"#,
];

/// A generator of load.
trait Loader: Sync {
    /// The program.
    fn tool(&self) -> Tool;

    /// The parameters of its own, each with its default.
    fn parameters(&self) -> &'static [Own] {
        &[]
    }

    /// Its words for a job, the program first. A response that takes as long as `patience` is a latency, not an error.
    fn words(&self, job: &Job, patience: u64) -> Vec<String>;

    /// A file that it reads, in its directory: name and text.
    fn file(&self) -> Option<(&'static str, &'static str)> {
        None
    }

    /// Commands that make `report` of what it left: its standard output and error are in `said`.
    fn report(&self) -> &'static str;

    /// Reads that.
    fn told(&self, job: &Job, report: &str) -> Result<Told, Cause>;
}

/// A parameter of one generator.
struct Own {
    name: &'static str,
    /// Empty where it must be given, by the suite or by the rate that a scenario's share comes to.
    default: &'static str,
    /// The words that it may be; a whole number from 1 on if there are none.
    choices: &'static [&'static str],
}

/// A generator as an instrument.
pub(super) struct Http(&'static dyn Loader);

/// What a scenario asks for.
struct Job {
    url: String,
    encoding: String,
    connections: u32,
    duration: Duration,
    body: Option<u64>,
    /// The generator's own parameters.
    own: BTreeMap<&'static str, String>,
}

impl Job {
    /// Whole seconds, which is what the generators take.
    fn seconds(&self) -> u64 {
        self.duration.as_secs().max(1)
    }

    /// One of the generator's own numbers.
    fn number(&self, name: &str) -> u64 {
        self.own.get(name).and_then(|text| text.parse().ok()).unwrap_or(1)
    }
}

/// What a generator reported.
#[derive(Debug, Default, PartialEq)]
struct Told {
    /// Whole responses with a good status.
    requests: u64,
    wall_ns: u64,
    bytes: Bytes,
    /// Requests that failed in any way.
    errors: u64,
    /// Nanoseconds, and how many took so long.
    latencies: Vec<(u64, u64)>,
    /// Figures of its own.
    observed: BTreeMap<String, f64>,
    /// Of an open load: how many requests a second were begun, and how many should be.
    rate: Option<(f64, f64)>,
}

/// What a generator counts as received.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Bytes {
    /// Headers and bodies.
    All(u64),
    /// Bodies.
    Bodies(u64),
}

impl Default for Bytes {
    fn default() -> Self {
        Self::Bodies(0)
    }
}

impl Told {
    /// Whether a load that was to be open was so.
    fn is_open(&self) -> bool {
        self.rate.is_none_or(|(begun, asked)| begun >= LEAST_OF_RATE * asked)
    }

    /// Adds the percentiles of its latencies to what is observed.
    fn add_percentiles(&mut self, tool: &str) -> Result<(), Cause> {
        let mut latencies = Latencies::default();
        for (ns, count) in &self.latencies {
            if !latencies.record(*ns, *count) {
                return Err(Cause::ToolLine { output: tool.into(), said: quote(&format!("latency {ns} {count}")) });
            }
        }
        for (name, share) in [("latency_p50_ns", 0.5), ("latency_p99_ns", 0.99)] {
            self.observed.extend(latencies.percentile(share).map(|value| (name.to_owned(), value.ns as f64)));
        }
        Ok(())
    }
}

impl Http {
    fn job(&self, scenario: &Scenario) -> Result<Job, ParameterError> {
        let own = self.0.parameters();
        let names: Vec<_> = NAMES.into_iter().chain(own.iter().map(|own| own.name)).collect();
        let parameters = Parameters::of(&scenario.parameters, self.name(), &names)?;
        let connections = parameters.count("connections", "10", 1..=10_000)?;
        let value = |own: &Own| {
            if own.default.is_empty() && parameters.given(own.name).is_none() && scenario.rate.is_none() {
                return Err(ParameterError::Missing { name: own.name });
            }
            let value = if own.choices.is_empty() {
                // A thread without a connection has nothing to do.
                let most = if own.name == "threads" { connections.min(256) } else { 10_000_000 };
                parameters
                    .count(own.name, if own.default.is_empty() { "1" } else { own.default }, 1..=most)?
                    .to_string()
            } else {
                parameters.choice(own.name, own.default, own.choices)?.to_owned()
            };
            Ok((own.name, value))
        };
        Ok(Job {
            url: parameters.given("url").ok_or(ParameterError::Missing { name: "url" })?.to_owned(),
            encoding: parameters.text("encoding", "identity").to_owned(),
            connections,
            duration: parameters.duration("duration", "2s")?,
            body: parameters.given("body").map(|_| parameters.size("body", "1")).transpose()?,
            own: own.iter().map(value).collect::<Result<_, _>>()?,
        })
    }

    fn begin(&self, job: &Job, finished: &Finished) -> Begin {
        let value = |text: &String| text.parse::<u64>().map_or_else(|_| Value::from(text.as_str()), Value::from);
        let own = job.own.iter().map(|(name, text)| (*name, value(text)));
        let parameters = [("connections", Value::from(job.connections)), ("encoding", job.encoding.as_str().into())];
        finished.begin(self.name(), Some(self.name()), parameters.into_iter().chain(own))
    }
}

impl Adapter for Http {
    fn name(&self) -> &'static str {
        self.0.tool().program
    }

    fn tool(&self) -> Option<Tool> {
        Some(self.0.tool())
    }

    fn check(&self, scenario: &Scenario) -> Result<(), AdapterError> {
        self.job(scenario)?;
        Ok(())
    }

    fn invocation(&self, scenario: &Scenario, place: &Place) -> Result<Invocation, Cause> {
        let job = self.job(scenario).map_err(not_taken)?;
        let words = self.0.words(&job, scenario.timeout.0.as_secs().max(1));
        let script = [LOAD[0], self.0.report(), LOAD[1]].concat();
        let of = |script: &str| {
            ["sh", "-c", script, "stend-load", &job.url, &job.encoding, SEEN].map(str::to_owned).to_vec()
        };
        let file = self.0.file().map(|(name, text)| (format!("{}/{name}", place.work), text.as_bytes().into()));
        Ok(Invocation {
            files: file.into_iter().collect(),
            before: of(BEFORE),
            words: of(&script).into_iter().chain(words).collect(),
            results: vec![format!("{}/report", place.work)],
            ..Invocation::default()
        })
    }

    fn translate(&self, scenario: &Scenario, finished: &Finished) -> Result<Vec<Event>, Cause> {
        let job = self.job(scenario).map_err(not_taken)?;
        ended_well(self.name(), finished, last_words)?;
        let text = finished.files.values().next().map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        let mut told = self.0.told(&job, &text.unwrap_or_default())?;
        told.add_percentiles(self.name())?;
        let seen = Seen::parse(&finished.stdout)?;
        let (bytes, bodies) = match told.bytes {
            Bytes::All(bytes) => (bytes, bytes.saturating_sub(told.requests.saturating_mul(seen.header))),
            Bytes::Bodies(bytes) => (bytes, bytes),
        };
        let checked = Checked::HttpResponses {
            responses: told.requests,
            status: seen.status,
            body: seen.body,
            bytes,
            errors: told.errors,
            sha256: seen.sha256.clone(),
        };
        let rate =
            told.rate.map(|(begun, asked)| Checked::Rate { reached: begun.round(), asked, open: told.is_open() });
        let work = [("operations", told.requests as f64), ("bytes", bodies as f64)];
        let report = Report {
            check: if is_right(&job, &told, &seen) { Check::Passed } else { Check::Failed },
            observed: told.observed,
            latencies: match told.latencies.is_empty() {
                true => BTreeMap::new(),
                false => BTreeMap::from([("latency".into(), LatencyCounts::Pairs(told.latencies))]),
            },
            evidence: Some(rate.into_iter().chain([checked]).collect::<Vec<_>>().into()),
            ..finished.report(told.wall_ns, work)
        };
        Ok(events(self.begin(&job, finished), report))
    }
}

/// Whether all responses were what they should be. Those that were under way at the end have sent a part of their bytes.
fn is_right(job: &Job, told: &Told, seen: &Seen) -> bool {
    let (bytes, one) = match told.bytes {
        Bytes::All(bytes) => (bytes, seen.header + seen.body),
        Bytes::Bodies(bytes) => (bytes, seen.body),
    };
    let least = told.requests.saturating_mul(one);
    let under_way = u64::from(job.connections).saturating_mul(job.number("streams"));
    let most = least.saturating_add(under_way.saturating_mul(one));
    seen.status == 200
        && seen.is_same
        && told.errors == 0
        && told.is_open()
        && told.requests > 0
        && (least..=most).contains(&bytes)
        && job.body.is_none_or(|body| body == seen.body)
}

/// A line of a generator that says something else than it should.
fn unexpected(tool: &str, line: &str) -> Cause {
    Cause::ToolLine { output: tool.into(), said: quote(line) }
}

/// Lines of a name and whole numbers.
fn lines_of_numbers<'a>(
    tool: &'a str,
    report: &'a str,
) -> impl Iterator<Item = Result<(&'a str, Vec<u64>, &'a str), Cause>> {
    report.lines().map(move |line| {
        let mut words = line.split(' ');
        let name = words.next().unwrap_or_default();
        let numbers = words.map(str::parse).collect::<Result<_, _>>().map_err(|_| unexpected(tool, line))?;
        Ok((name, numbers, line))
    })
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
            _ => Err(unexpected("curl", text)),
        }
    }
}

#[cfg(test)]
mod tests;
