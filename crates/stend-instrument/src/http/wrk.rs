//! wrk: a closed load over connections that stay open.
//!
//! Debian's wrk adds latencies that it expects to have missed while one took long, so its upper percentiles are not beside those of another
//! generator.

use stend_model::cause::Cause;

use super::{Bytes, Job, Loader, Own, Told, lines_of_numbers, unexpected};
use crate::{Package, Tool};

pub(super) struct Wrk;

impl Loader for Wrk {
    fn tool(&self) -> Tool {
        Tool { program: "wrk", package: Package::Debian("wrk"), version_arguments: &["-v"], least: None }
    }

    fn parameters(&self) -> &'static [Own] {
        &[Own { name: "threads", default: "1", choices: &[] }]
    }

    fn words(&self, job: &Job, patience: u64) -> Vec<String> {
        // No response that it counts takes longer than all of them. For each second it takes 8 MB of memory, which small machines do not give it.
        let patience = patience.min(job.seconds() + 1);
        vec![
            "wrk".into(),
            format!("-t{}", job.number("threads")),
            format!("-c{}", job.connections),
            format!("-d{}s", job.seconds()),
            format!("--timeout={patience}s"),
            "-sreport.lua".into(),
            format!("-HAccept-Encoding: {}", job.encoding),
            job.url.clone(),
        ]
    }

    fn file(&self) -> Option<(&'static str, &'static str)> {
        Some(("report.lua", include_str!("report.lua")))
    }

    fn report(&self) -> &'static str {
        ""
    }

    fn told(&self, _: &Job, report: &str) -> Result<Told, Cause> {
        let (mut told, mut bytes) = (Told::default(), 0);
        for line in lines_of_numbers("wrk", report) {
            let (name, numbers, line) = line?;
            match (name, &numbers[..]) {
                ("requests", [number]) => told.requests = *number,
                ("duration_us", [number]) => told.wall_ns = number.saturating_mul(1000),
                ("bytes", [number]) => bytes = *number,
                ("latency", [us, count]) => told.latencies.push((us.saturating_mul(1000), *count)),
                (name, [number]) if name.starts_with("error_") => told.errors = told.errors.saturating_add(*number),
                _ => return Err(unexpected("wrk", line)),
            }
        }
        told.bytes = Bytes::All(bytes);
        if told.wall_ns == 0 { Err(unexpected("wrk", report)) } else { Ok(told) }
    }
}
