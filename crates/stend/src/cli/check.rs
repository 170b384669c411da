//! `stend check`: is this machine fit to measure now?

use clap::Args;
use stend_model::suite::{Changes, Gates};

use super::Global;
use super::completions;
use super::failure::{Exit, Failure};
use super::on::On;
use super::output::Shown;
use crate::catalogue;
use stend_lab::run::{fitness, prepare};
use stend_report::doc::{self, Cell, Doc, Frame, Table, Value};
use stend_report::words;
use stend_report::words::language::Language;
use stend_stand::host::{Host as _, Local};
use stend_stand::machine::{self, Finding, State};

#[derive(Debug, Args)]
#[command(
    after_help = "Without a suite the default gates apply; with a suite, for each gate the widest limit of its scenarios. Beyond these limits `stend run` waits, and then refuses.\n\nExit status: 0 fit · 2 usage or configuration error · 4 unfit"
)]
pub(super) struct Arguments {
    /// Check for this suite: its gates, and the space that its files need [default: the default gates, and no files]
    #[arg(add = completions::suites())]
    suite: Option<String>,
    #[command(flatten)]
    on: On,
    #[command(flatten)]
    shown: Shown,
}

pub(super) fn run(global: &Global, arguments: &Arguments) -> Result<Exit, Failure> {
    let directory = global.store_directory()?;
    let (host, probe) = arguments.on.host_with_probe(global)?;
    let host = &*host;
    let work = prepare::work_directory(host).map_err(Failure::unusable)?;
    let suite =
        arguments.suite.as_ref().map(|name| catalogue::suite(name, &Changes::default()).map_err(Failure::usage));
    let suite = suite.transpose()?;
    let skipped = suite.as_ref().map(|suite| prepare::skipped(host, suite, &[], &work)).unwrap_or_default();
    let scenarios: Vec<_> = suite.iter().flat_map(|suite| prepare::measured(suite, &skipped)).collect();
    // Results are kept here, wherever they are measured.
    let results = (host.name() == Local.name()).then(|| directory.to_string_lossy());
    let files =
        prepare::files(host, scenarios.iter().copied(), &work, prepare::NEW, None).map_err(Failure::unusable)?;
    let gates = if scenarios.is_empty() { Gates::DEFAULT } else { fitness::widest_gates(scenarios.iter().copied()) };
    let mut findings = machine::check(host, &files.spaces(results.as_deref(), &work), &gates);
    findings.push(prepare::other_labs(host, probe.is_some() || host.name() == Local.name()));
    let exit = if findings.iter().any(|finding| finding.state == State::Unfit) { Exit::Unusable } else { Exit::Fine };
    arguments.shown.print(global, "findings", &findings, || document(&findings))?;
    Ok(exit)
}

fn document(findings: &[Finding]) -> Doc {
    let mut table = Table::new(&["state"], [doc::words("finding").with_under("advice")], Frame::Bare);
    for finding in findings {
        let told = words::condition(&finding.condition, Language::English);
        let state = match finding.state {
            State::Fine => "fine",
            State::Warning => "warning",
            State::Unfit => "unfit",
        };
        let is_advice = finding.state != State::Fine && !told.advice.is_empty();
        let advice = if is_advice { Value::from(told.advice.clone()) } else { Value::Nothing };
        table.row(state, [Cell::from(Value::from(told.in_a_line())).over(advice)]);
    }
    Doc::of(table)
}
