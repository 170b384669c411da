//! `hdparm -t` and `-T`: sequential reads of the disk that the directory for runs' files lies on, and of the page cache.
//!
//! | what | where it comes from |
//! |---|---|
//! | `wall_ns` | hdparm's own time, in hundredths of a second |
//! | `cpu_ns` | what the guard saw of hdparm, and of the shell that finds the device |
//! | `work` | `bytes`: hdparm's megabytes of 2²⁰ bytes |
//!
//! hdparm looks at nothing that it reads, so nothing is verified.

use serde_json::Value;
use stend_model::cause::Cause;
use stend_model::suite::Scenario;
use stend_model::wire::{Event, quote};

use super::finished::events;
use super::parameters::{ParameterError, Parameters, ended_well, last_words, not_taken};
use super::{Adapter, AdapterError, Finished, Invocation, Package, Place, Tool};

/// hdparm, as an instrument.
pub(super) struct Hdparm;

/// Prints the source of the file system that a directory lies on, or is going to.
const SOURCE: &str = r#"
there=$1
until [ -z "$there" ] || [ -e "$there" ]; do there=${there%/*}; done
source=$(df -P -- "${there:-/}" | { read -r _ && read -r source _ && printf '%s\n' "$source"; })
"#;
/// Says whether hdparm can read it.
const ABLE: &str = r#"
kind=other
[ -b "$source" ] && if (: <"$source") 2>/dev/null; then kind=device; else kind=denied; fi
printf '%s %s\n' "$kind" "$source"
"#;
const READ: &str = r#"
printf '%s\n' "$source"
exec hdparm "$2" "$source"
"#;

/// The option that a scenario asks for: `-t` reads the disk, `-T` the page cache.
fn option(scenario: &Scenario) -> Result<&'static str, ParameterError> {
    let parameters = Parameters::of(&scenario.parameters, "hdparm", &["read"])?;
    Ok(if parameters.choice("read", "disk", &["disk", "cache"])? == "disk" { "-t" } else { "-T" })
}

impl Adapter for Hdparm {
    fn name(&self) -> &'static str {
        "hdparm"
    }

    fn tool(&self) -> Option<Tool> {
        Some(Tool { program: "hdparm", package: Package::Debian("hdparm"), version_arguments: &["-V"], least: None })
    }

    fn check(&self, scenario: &Scenario) -> Result<(), AdapterError> {
        option(scenario)?;
        Ok(())
    }

    fn abilities(&self, _: &Scenario, _program: &str, work: &str) -> Option<Vec<String>> {
        Some(["sh", "-c", &format!("{SOURCE}{ABLE}"), "stend-hdparm", work].map(str::to_owned).into())
    }

    fn lacks(&self, _: &Scenario, said: &str) -> Option<Cause> {
        match said.trim().split_once(' ') {
            Some(("device", _)) => None,
            Some(("denied", device)) => Some(Cause::NotReadable { file: device.into() }),
            Some((_, source)) => Some(Cause::NoBlockDevice { source: source.into() }),
            None => Some(Cause::NoBlockDevice { source: quote(said) }),
        }
    }

    fn invocation(&self, scenario: &Scenario, place: &Place) -> Result<Invocation, Cause> {
        let option = option(scenario).map_err(not_taken)?;
        let words = ["sh", "-c", &format!("{SOURCE}{READ}"), "stend-hdparm", &place.work, option];
        Ok(Invocation { words: words.map(str::to_owned).into(), ..Invocation::default() })
    }

    fn translate(&self, _: &Scenario, finished: &Finished) -> Result<Vec<Event>, Cause> {
        ended_well("hdparm", finished, last_words)?;
        let (device, megabytes, seconds) = figures(&finished.stdout)
            .ok_or_else(|| Cause::ToolLine { output: "hdparm".into(), said: quote(&finished.stdout) })?;
        let begin = finished.begin("hdparm", Some("hdparm"), [("device", Value::from(device))]);
        let bytes = megabytes as f64 * f64::from(1 << 20);
        Ok(events(begin, finished.report((seconds * 1e9).round() as u64, [("bytes", bytes)])))
    }
}

/// The device, megabytes and seconds: ` Timing buffered disk reads: 1234 MB in  3.00 seconds = 411.20 MB/sec`.
fn figures(text: &str) -> Option<(&str, u32, f64)> {
    let device = text.lines().next()?;
    let line = text.lines().find_map(|line| line.trim().strip_prefix("Timing "))?;
    let words: Vec<_> = line.split_once(':')?.1.split_whitespace().collect();
    let [megabytes, "MB", "in", seconds, "seconds", ..] = words[..] else { return None };
    let seconds = seconds.parse().ok().filter(|seconds| (0.01..1e6).contains(seconds))?;
    Some((device, megabytes.parse().ok()?, seconds))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use stend_model::wire::Check;

    use super::*;
    use crate::fixture::{scenario, taken_apart};

    /// What hdparm 9.65 printed.
    const DISK: &str =
        "/dev/loop0\n\n/dev/loop0:\n Timing buffered disk reads: 256 MB in  0.09 seconds = 2892.50 MB/sec\n";

    fn finished(stdout: &str) -> Finished {
        let usage = r#"{"wall_ns":3100000000,"user_ns":200000000,"system_ns":300000000,"max_rss_bytes":1,"exit":0}"#;
        Finished {
            stdout: stdout.into(),
            stderr: String::new(),
            after: String::new(),
            files: BTreeMap::new(),
            usage: serde_json::from_str(usage).unwrap(),
            started_ns: 5,
            version: "hdparm v9.65\n".into(),
        }
    }

    #[test]
    fn its_megabytes_and_seconds_are_taken() {
        let events = Hdparm.translate(&scenario("hdparm", []), &finished(DISK)).unwrap();
        let (begin, _, report) = taken_apart(events);
        assert_eq!((report.wall_ns, report.work["bytes"], report.check), (90_000_000, 268_435_456.0, Check::None));
        assert_eq!((begin.version.as_deref(), begin.parameters["device"].as_str()), (Some("9.65"), Some("/dev/loop0")));
        for text in ["", "x\n", "/dev/a\n Timing x: 1 MB in 0.00 seconds\n", "/dev/a\n Timing x: -1 MB in 3 seconds\n"]
        {
            assert!(matches!(Hdparm.translate(&scenario("hdparm", []), &finished(text)), Err(Cause::ToolLine { .. })));
        }
    }

    #[test]
    fn it_takes_a_block_device_that_may_be_read() {
        let lacks = |said: &str| Hdparm.lacks(&scenario("hdparm", []), said);
        assert_eq!(lacks("device /dev/vda1\n"), None);
        assert_eq!(lacks("denied /dev/vda1\n"), Some(Cause::NotReadable { file: "/dev/vda1".into() }));
        assert_eq!(lacks("other server:/a b\n"), Some(Cause::NoBlockDevice { source: "server:/a b".into() }));
        assert!(matches!(lacks(""), Some(Cause::NoBlockDevice { .. })));
    }
}
