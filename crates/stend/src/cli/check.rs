//! `stend check`: is this machine fit to measure now?

use std::fmt::Write as _;

use clap::Args;
use stend_model::suite::{Changes, Gates};

use super::Global;
use super::failure::{Exit, Failure};
use super::on::On;
use super::output::{self, Json};
use crate::catalogue;
use stend_lab::run::{fitness, prepare};
use stend_report::words;
use stend_report::words::language::Language;
use stend_stand::host::{Host as _, Local};
use stend_stand::machine::{self, State};

#[derive(Debug, Args)]
#[command(
    after_help = "Without a suite the usual gates decide, with one the widest that its scenarios have: beyond it `stend run` waits, and then refuses.\n\nExit status: 0 fit · 2 usage or configuration · 4 not fit"
)]
pub(super) struct Arguments {
    /// For this suite: its gates, and the space that its files need [default: the usual gates, and no files]
    suite: Option<String>,
    #[command(flatten)]
    on: On,
    #[command(flatten)]
    json: Json,
}

pub(super) fn run(global: &Global, arguments: &Arguments) -> Result<Exit, Failure> {
    let directory = global.store_directory()?;
    let (host, probe) = arguments.on.host_with_probe(global)?;
    let host = &*host;
    let work = prepare::work_directory(host).map_err(Failure::unusable)?;
    let suite =
        arguments.suite.as_ref().map(|name| catalogue::suite(name, &Changes::default()).map_err(Failure::usage));
    let suite = suite.transpose()?;
    let skipped = suite.as_ref().map(|suite| prepare::skipped(host, suite, &[])).unwrap_or_default();
    let scenarios: Vec<_> = suite.iter().flat_map(|suite| prepare::measured(suite, &skipped)).collect();
    // Results are kept here, wherever they are measured.
    let results = (host.name() == Local.name()).then(|| directory.to_string_lossy());
    let spaces = prepare::spaces(host, scenarios.iter().copied(), results.as_deref(), &work, "new", None);
    let gates = if scenarios.is_empty() { Gates::DEFAULT } else { fitness::widest_gates(scenarios.iter().copied()) };
    let mut findings = machine::check(host, &spaces.map_err(Failure::unusable)?, &gates);
    findings.push(prepare::other_labs(host, probe.is_some() || host.name() == Local.name()));
    let exit = if findings.iter().any(|finding| finding.state == State::Unfit) { Exit::Unusable } else { Exit::Fine };
    if arguments.json.json {
        output::print_json("findings", &findings)?;
        return Ok(exit);
    }
    let mut text = String::new();
    for finding in &findings {
        let mark = match finding.state {
            State::Fine => "fine   ",
            State::Warning => "warning",
            State::Unfit => "unfit  ",
        };
        let told = words::condition(&finding.condition, Language::English);
        let _ = writeln!(text, "{mark}  {}", told.in_a_line());
        if finding.state != State::Fine && !told.advice.is_empty() {
            let _ = writeln!(text, "         {}", told.advice);
        }
    }
    output::print(&text)?;
    Ok(exit)
}
