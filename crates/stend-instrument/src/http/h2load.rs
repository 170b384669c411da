//! h2load: a closed load by HTTP/2, each connection with some streams.

use stend_model::cause::Cause;

use super::{Bytes, Job, Loader, Own, Told, unexpected};
use crate::{Package, Tool};

pub(super) struct H2Load;

impl Loader for H2Load {
    fn tool(&self) -> Tool {
        let package = Package::Debian("nghttp2-client");
        Tool { program: "h2load", package, version_arguments: &["--version"], least: None }
    }

    fn parameters(&self) -> &'static [Own] {
        &[Own { name: "threads", default: "1", choices: &[] }, Own { name: "streams", default: "1", choices: &[] }]
    }

    fn words(&self, job: &Job, patience: u64) -> Vec<String> {
        vec![
            "h2load".into(),
            format!("-t{}", job.number("threads")),
            format!("-c{}", job.connections),
            format!("-m{}", job.number("streams")),
            format!("-D{}", job.seconds()),
            format!("-N{patience}"),
            "--log-file=responses".into(),
            format!("-Haccept-encoding: {}", job.encoding),
            job.url.clone(),
        ]
    }

    // Microseconds of three digits: there are few of them, and a histogram has no more.
    fn report(&self) -> &'static str {
        r#"
{
    cat said
    awk '
        function rounded(us, of) { for (of = 1; us >= 1000 * of; of *= 10); return int(us / of) * of }
        $2 ~ /^2/ { took[rounded($3)]++ }
        END { for (us in took) print "latency:", us, took[us] }' responses
} >report
"#
    }

    fn told(&self, job: &Job, report: &str) -> Result<Told, Cause> {
        let mut told = Told { wall_ns: job.seconds().saturating_mul(1_000_000_000), ..Told::default() };
        for line in report.lines() {
            let wrong = || unexpected("h2load", line);
            let Some((name, rest)) = line.split_once(": ") else { continue };
            // Of "94.31MB (98893) total" the exact figure.
            let of = |what: &str| {
                let one = rest.split(", ").find_map(|part| part.strip_suffix(what)).ok_or_else(wrong)?;
                let one = one.trim_end().rsplit(['(', ' ']).next().unwrap_or_default();
                one.trim_end_matches(')').parse::<u64>().map_err(|_| wrong())
            };
            match name {
                "requests" => {
                    told.requests = of("succeeded")?;
                    told.errors = of("failed")?.max(of("errored")?.saturating_add(of("timeout")?));
                }
                "traffic" => told.bytes = Bytes::Bodies(of("data")?),
                "latency" => {
                    let (us, count) = rest.split_once(' ').ok_or_else(wrong)?;
                    let number = |text: &str| text.parse::<u64>().map_err(|_| wrong());
                    told.latencies.push((number(us)?.saturating_mul(1000), number(count)?));
                }
                _ => {}
            }
        }
        if told.requests == 0 && told.errors == 0 { Err(unexpected("h2load", report)) } else { Ok(told) }
    }
}
