//! oha: an open load. Requests are begun at a rate, whether or not earlier ones have been answered.
//!
//! A request's latency counts from the moment when it was due, so that a server that stalls is charged with all that it kept waiting.
//! oha is driven by a timer of one millisecond: at more than some thousand requests a second they come in small bursts, and a response's
//! time includes the wait for those before it.

use stend_model::cause::Cause;

use super::{Bytes, Job, Loader, Own, Told, lines_of_numbers, unexpected};
use crate::{Package, Tool};

pub(super) struct Oha;

impl Loader for Oha {
    fn tool(&self) -> Tool {
        Tool { program: "oha", package: Package::Crate("oha"), version_arguments: &["--version"], least: Some((1, 4)) }
    }

    fn parameters(&self) -> &'static [Own] {
        &[Own { name: "threads", default: "1", choices: &[] }, Own { name: RATE, default: "", choices: &[] }]
    }

    fn words(&self, job: &Job, patience: u64) -> Vec<String> {
        vec![
            "oha".into(),
            "--no-tui".into(),
            "--insecure".into(),
            "--disable-compression".into(),
            "--latency-correction".into(),
            "--output-format=csv".into(),
            "--output=responses".into(),
            format!("--worker-threads={}", job.number("threads")),
            format!("-c{}", job.connections),
            format!("-q{}", job.number(RATE)),
            format!("-n{}", asked(job)),
            format!("-t{patience}s"),
            format!("-HAccept-Encoding: {}", job.encoding),
            job.url.clone(),
        ]
    }

    // Of the responses that came: begun at, name, connection, first byte, time, bytes of the body, status.
    fn report(&self) -> &'static str {
        r#"
awk -F, '
    function rounded(ns, of) { for (of = 1; ns >= 1000 * of; of *= 10); return int(ns / of) * of }
    NR > 1 {
        $7 ~ /^2/ ? good++ : bad++
        bytes += $6
        if ($1 > last) last = $1
        if ($1 + $4 > end) end = $1 + $4
        took[rounded($5 * 1e9)]++
    }
    END {
        printf "requests %d\nerrors %d\nbytes %.0f\nlast_ns %.0f\nend_ns %.0f\n", good, bad, bytes, last * 1e9, end * 1e9
        for (ns in took) printf "latency %.0f %d\n", ns, took[ns]
    }' responses >report
"#
    }

    fn told(&self, job: &Job, report: &str) -> Result<Told, Cause> {
        let (mut told, mut last) = (Told::default(), 0);
        for line in lines_of_numbers("oha", report) {
            let (name, numbers, line) = line?;
            match (name, &numbers[..]) {
                ("requests", [number]) => told.requests = *number,
                ("errors", [number]) => told.errors = *number,
                ("bytes", [number]) => told.bytes = Bytes::Bodies(*number),
                ("last_ns", [number]) => last = *number,
                ("end_ns", [number]) => told.wall_ns = *number,
                ("latency", [ns, count]) => told.latencies.push((*ns, *count)),
                _ => return Err(unexpected("oha", line)),
            }
        }
        if told.wall_ns == 0 {
            return Err(unexpected("oha", report));
        }
        // Only those that succeeded are in its table.
        told.errors += asked(job).saturating_sub(told.requests + told.errors);
        let begun = asked(job).saturating_sub(1) as f64 / (last.max(1) as f64 * 1e-9);
        told.rate = Some((begun, job.number(RATE) as f64));
        Ok(told)
    }
}

/// The parameter that is the rate.
const RATE: &str = "rate";

/// How many requests are made.
fn asked(job: &Job) -> u64 {
    job.number(RATE).saturating_mul(job.seconds())
}
