//! ApacheBench: a closed load in one thread, by HTTP/1.0.
//!
//! It tells percentiles, not a histogram. Its time of a response counts from the beginning of the connection where there is one for each.

use stend_model::cause::Cause;

use super::{Bytes, Job, Loader, Own, Told, unexpected};
use crate::{Package, Tool};

pub(super) struct Ab;

/// It keeps a record of each request that it may make, so it has to be told how many a second there are at most.
const MOST_A_SECOND: u64 = 500_000;

impl Loader for Ab {
    fn tool(&self) -> Tool {
        Tool { program: "ab", package: Package::Debian("apache2-utils"), version_arguments: &["-V"], least: None }
    }

    fn parameters(&self) -> &'static [Own] {
        &[Own { name: "keepalive", default: "yes", choices: &["yes", "no"] }]
    }

    fn words(&self, job: &Job, patience: u64) -> Vec<String> {
        let keepalive = (job.own["keepalive"] == "yes").then(|| "-k".to_owned());
        let seconds = job.seconds();
        let words = [
            "-q".into(),
            format!("-c{}", job.connections),
            format!("-t{seconds}"),
            format!("-n{}", seconds * MOST_A_SECOND),
            format!("-s{patience}"),
            "-epercentiles".into(),
            format!("-HAccept-Encoding: {}", job.encoding),
            job.url.clone(),
        ];
        std::iter::once("ab".to_owned()).chain(keepalive).chain(words).collect()
    }

    fn report(&self) -> &'static str {
        "{ cat said && sed '1d;s/^/percentile: /' percentiles; } >report\n"
    }

    fn told(&self, _: &Job, report: &str) -> Result<Told, Cause> {
        let mut told = Told::default();
        let (mut complete, mut bytes) = (0, 0);
        for line in report.lines() {
            let Some((name, value)) = line.split_once(':') else { continue };
            let first = value.split_whitespace().next().unwrap_or_default();
            let wrong = |_| unexpected("ab", line);
            let count = || first.parse::<u64>().map_err(wrong);
            match name {
                "Complete requests" => complete = count()?,
                "Failed requests" | "Write errors" | "Non-2xx responses" => told.errors += count()?,
                "HTML transferred" => bytes = count()?,
                "Time taken for tests" => {
                    let seconds: f64 = first.parse().map_err(|_| unexpected("ab", line))?;
                    told.wall_ns = (seconds * 1e9).round() as u64;
                }
                "percentile" => {
                    let (share, ms) = first.split_once(',').ok_or_else(|| unexpected("ab", line))?;
                    let name = match share {
                        "50" => "latency_p50_ns",
                        "99" => "latency_p99_ns",
                        _ => continue,
                    };
                    let ms: f64 = ms.parse().map_err(|_| unexpected("ab", line))?;
                    told.observed.insert(name.into(), ms * 1e6);
                }
                _ => {}
            }
        }
        (told.requests, told.bytes) = (complete, Bytes::Bodies(bytes));
        if told.wall_ns == 0 { Err(unexpected("ab", report)) } else { Ok(told) }
    }
}
