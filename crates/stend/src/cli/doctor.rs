//! `stend doctor`: which tools are missing, and how to get them.

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::Global;
use super::failure::{Exit, Failure};
use super::output::Shown;
use crate::catalogue;
use stend_instrument::{ADAPTERS, Tool};
use stend_lab::profile::{perf, strace};
use stend_lab::rig::{self, Ability};
use stend_lab::run::prepare;
use stend_model::suite::{Changes, Instrument};
use stend_report::doc::{self, Cell, Doc, Frame, Table, Value};
use stend_report::words;
use stend_report::words::language::Language;
use stend_stand::host::Local;

#[derive(Debug, Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    shown: Shown,
}

/// One thing that is needed.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Finding {
    what: String,
    fine: bool,
    /// Whether the suite that runs where none is named skips something without it.
    needed: bool,
    /// What it is for, if it is not needed.
    purpose: Option<&'static str>,
    /// Its version or place, or what is wrong with it.
    state: String,
    /// The command that would fix it.
    remedy: Option<String>,
}

pub(super) fn run(global: &Global, arguments: &Arguments) -> Result<Exit, Failure> {
    let host = Local;
    let mut findings = vec![match prepare::find_probe(&host) {
        Ok(path) => {
            Finding { what: "stend-probe".into(), fine: true, needed: true, purpose: None, state: path, remedy: None }
        }
        Err(error) => {
            let (state, remedy) = (error.to_string(), Some("make build".into()));
            Finding { what: "stend-probe".into(), fine: false, needed: true, purpose: None, state, remedy }
        }
    }];
    let profilers = [perf::TOOL, strace::TOOL].map(|tool| (tool, Some("profiles")));
    for (tool, purpose) in tools_of_suites().into_iter().chain(profilers) {
        let state = prepare::state_of(&host, tool.program, tool);
        findings.push(Finding {
            what: tool.program.into(),
            fine: state.is_ok(),
            needed: purpose.is_none(),
            purpose,
            remedy: state.is_err().then(|| prepare::remedy(tool)),
            state: state.unwrap_or_else(|cause| words::cause(&cause, Language::English)),
        });
    }
    for Ability { what, state } in rig::abilities(&host) {
        let (fine, state, remedy) = match state {
            Ok(state) => (true, state, None),
            Err(lack) => (false, lack.what(), Some(lack.remedy())),
        };
        findings.push(Finding { what, fine, needed: false, purpose: Some("rigs"), state, remedy });
    }
    let exit = if findings.iter().all(|finding| finding.fine || !finding.needed) { Exit::Fine } else { Exit::Unusable };
    arguments.shown.print(global, "findings", &findings, || document(&findings))?;
    Ok(exit)
}

/// The programs that suites start, each once: first those of the suite that runs where none is named, without which little can be measured.
fn tools_of_suites() -> Vec<(Tool, Option<&'static str>)> {
    let usual = catalogue::suite(catalogue::USUAL, &Changes::default()).expect("it is a part of the program");
    let is_usual = |name: &str| {
        usual.scenarios.iter().any(|scenario| matches!(&scenario.instrument, Instrument::Adapter(used) if used == name))
    };
    let mut tools: Vec<(Tool, Option<&'static str>)> = Vec::new();
    for adapter in ADAPTERS {
        let Some(tool) = adapter.tool() else { continue };
        if !tools.iter().any(|(other, _)| other.program == tool.program) {
            tools.push((tool, (!is_usual(adapter.name())).then_some("other suites")));
        }
    }
    tools.sort_by_key(|(_, purpose)| purpose.is_some());
    tools
}

fn document(findings: &[Finding]) -> Doc {
    let mut table = Table::new(&["state"], [doc::words("what").with_under("remedy")], Frame::Bare);
    for Finding { what, fine, purpose, state, remedy, .. } in findings {
        let use_of_it = purpose.map(|purpose| format!(" (for {purpose})")).unwrap_or_default();
        let remedy = remedy.as_ref().map_or(Value::Nothing, |remedy| format!("fix it with: {remedy}").into());
        let said = Cell::from(Value::from(format!("{what}{use_of_it}: {state}")));
        table.row(if *fine { "fine" } else { "missing" }, [said.over(remedy)]);
    }
    Doc::of(table)
}
