//! `stend list`: the runs that there are.

use clap::Args;

use super::Global;
use super::failure::{Exit, Failure};
use super::output::{self, Json};
use stend_store::{Store, StoreError};

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
        talk!("{}", StoreError::Empty);
        return Ok(Exit::Fine);
    }
    output::print(&stend_report::list::terminal(&runs, output::width()))?;
    Ok(Exit::Fine)
}
