//! `stend list`: the runs that there are.

use std::fmt::Write as _;

use clap::Args;

use super::Global;
use super::failure::{Exit, Failure};
use super::output::{self, Json};
use crate::store::Store;

#[derive(Debug, Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    json: Json,
}

pub(super) fn run(global: &Global, arguments: &Arguments) -> Result<Exit, Failure> {
    let runs = Store::open_to_read(&global.store_directory()?)?.list()?;
    if arguments.json.json {
        output::print_json("runs", &runs)?;
        return Ok(Exit::Fine);
    }
    if runs.is_empty() {
        talk!("there are no runs yet; `stend run` makes one");
        return Ok(Exit::Fine);
    }
    let mut text = format!(
        "{:<20} {:<20} {:<14} {:<9} {:>5} {:>7} {:>6}  machine\n",
        "run", "began (UTC)", "suite", "state", "valid", "invalid", "failed"
    );
    for run in &runs {
        let began = run.started_at.get(..19).unwrap_or(&run.started_at).replace('T', " ");
        let hardware = stend_model::identity::short(&run.hardware_id);
        let _ = writeln!(
            text,
            "{:<20} {began:<20} {:<14} {:<9} {:>5} {:>7} {:>6}  {} {hardware}",
            run.id, run.suite, run.state, run.valid, run.invalid, run.failed, run.machine
        );
    }
    output::print(&text)?;
    Ok(Exit::Fine)
}
