//! `openssl s_time`: TLS handshakes, one after another, each on a connection of its own.
//!
//! | what | where it comes from |
//! |---|---|
//! | `wall_ns`, `cpu_ns` | what the guard saw of it: its own times are whole seconds and those of its processor |
//! | `work` | `operations`: connections, each with a handshake and a small request, which it takes for the server to hand over a ticket |
//! | `check` | every handshake was new, or every one was resumed, as the scenario says: OpenSSL prints a letter for each |

use std::time::Duration;

use serde_json::Value;
use stend_model::cause::Cause;
use stend_model::checked::Checked;
use stend_model::suite::Scenario;
use stend_model::wire::{Check, Event, Report, quote};

use crate::finished::events;
use crate::parameters::{ParameterError, Parameters, ended_well, last_words, not_taken};
use crate::{Adapter, AdapterError, Finished, Invocation, Package, Place, Tool};

/// `openssl s_time`, as an instrument.
pub(crate) struct STime;

struct Job {
    address: String,
    path: String,
    resumed: bool,
    duration: Duration,
}

impl Job {
    fn of(scenario: &Scenario) -> Result<Self, ParameterError> {
        let names = ["address", "path", "resumed", "duration"];
        let parameters = Parameters::of(&scenario.parameters, "s_time", &names)?;
        Ok(Self {
            address: parameters.given("address").ok_or(ParameterError::Missing { name: "address" })?.to_owned(),
            path: parameters.text("path", "/").to_owned(),
            resumed: parameters.choice("resumed", "no", &["yes", "no"])? == "yes",
            duration: parameters.duration("duration", "2s")?,
        })
    }
}

impl Adapter for STime {
    fn name(&self) -> &'static str {
        "s_time"
    }

    fn starts(&self, _: &Scenario) -> Vec<String> {
        vec!["openssl s_time".to_owned()]
    }

    fn tool(&self) -> Option<Tool> {
        let package = Package::Debian("openssl");
        Some(Tool { program: "openssl", package, version_arguments: &["version"], least: Some((1, 1)) })
    }

    fn check(&self, scenario: &Scenario) -> Result<(), AdapterError> {
        Job::of(scenario)?;
        Ok(())
    }

    fn invocation(&self, scenario: &Scenario, _: &Place) -> Result<Invocation, Cause> {
        let job = Job::of(scenario).map_err(not_taken)?;
        let kind = if job.resumed { "-reuse" } else { "-new" };
        let seconds = job.duration.as_secs().max(1).to_string();
        let words = ["openssl", "s_time", "-connect", &job.address, "-www", &job.path, kind, "-time", &seconds];
        Ok(Invocation { words: words.map(str::to_owned).into(), ..Invocation::default() })
    }

    fn translate(&self, scenario: &Scenario, finished: &Finished) -> Result<Vec<Event>, Cause> {
        let job = Job::of(scenario).map_err(not_taken)?;
        ended_well("openssl s_time", finished, last_words)?;
        let made = Made::parse(&finished.stdout)?;
        let (of_kind, other) = if job.resumed { (made.resumed, made.new) } else { (made.new, made.resumed) };
        let right = made.connections > 0 && of_kind == made.connections && other == 0;
        let checked = Checked::Handshakes { connections: made.connections, new: made.new, resumed: made.resumed };
        let resumed = Value::from(if job.resumed { "yes" } else { "no" });
        let report = Report {
            check: if right { Check::Passed } else { Check::Failed },
            evidence: Some(vec![checked].into()),
            ..finished.report(finished.usage.wall_ns, [("operations", made.connections as f64)])
        };
        Ok(events(finished.begin("s_time", Some("openssl"), [("resumed", resumed)]), report))
    }
}

/// What it said that it made.
#[derive(Debug, PartialEq)]
struct Made {
    connections: u64,
    /// Handshakes of either kind, by the letters that are printed for them.
    new: u64,
    resumed: u64,
}

impl Made {
    fn parse(text: &str) -> Result<Self, Cause> {
        let told = text.lines().find_map(|line| line.split_once(" connections in ")?.0.trim().parse().ok());
        let connections = told.ok_or_else(|| Cause::ToolLine { output: "openssl s_time".into(), said: quote(text) })?;
        // A line of letters and nothing else; the first letter of a resumed series is of the connection that gets the ticket.
        let letters = |letter| {
            let lines = text.lines().filter(|line| line.bytes().all(|byte| matches!(byte, b'*' | b'r' | b't')));
            lines.map(|line| line.matches(letter).count() as u64).sum()
        };
        Ok(Self { connections, new: letters('*'), resumed: letters('r') })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::fixture::{scenario, taken_apart};

    /// As OpenSSL 3.0 wrote it, with fewer letters.
    const RESUMED: &str = "\n\nNow timing with session id reuse.\nstarting\nrrrrr\n\n5 connections in 0.40s; 12.50 connections/user sec, \
                           bytes read 1180\n5 connections in 2 real seconds, 236 bytes read per connection\n";
    const NEW: &str = "Collecting connection statistics for 1 seconds\n***\n\n3 connections in 0.66s; 4.54 connections/user sec, \
                       bytes read 708\n3 connections in 2 real seconds, 236 bytes read per connection\n";

    fn of(resumed: &str, stdout: &str) -> Result<Report, Cause> {
        let usage = r#"{"wall_ns":1500000000,"user_ns":200000000,"system_ns":300000000,"max_rss_bytes":1,"exit":0}"#;
        let finished = Finished {
            stdout: stdout.into(),
            stderr: String::new(),
            after: String::new(),
            files: BTreeMap::new(),
            usage: serde_json::from_str(usage).unwrap(),
            started_ns: 5,
            version: "OpenSSL 3.0.19 27 Jan 2026".into(),
        };
        let scenario = scenario("s_time", [("address", "127.0.0.1:1"), ("resumed", resumed)]);
        Ok(taken_apart(STime.translate(&scenario, &finished)?).2)
    }

    #[test]
    fn handshakes_count_where_all_are_of_the_kind_asked_for() {
        let report = of("yes", RESUMED).unwrap();
        assert_eq!((report.work["operations"], report.wall_ns), (5.0, 1_500_000_000));
        assert_eq!((report.check, of("no", NEW).unwrap().check), (Check::Passed, Check::Passed));
        for (resumed, stdout) in [
            ("no", RESUMED),
            ("yes", NEW),
            ("yes", &RESUMED.replace("rrrrr", "*****")),
            ("no", &NEW.replace("***", "*")),
        ] {
            assert_eq!(of(resumed, stdout).unwrap().check, Check::Failed, "{stdout}");
        }
        assert!(matches!(of("no", "no connection"), Err(Cause::ToolLine { .. })));
    }
}
