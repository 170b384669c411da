//! `stend check`: is this machine fit to measure now?

use std::fmt::Write as _;

use clap::Args;
use stend_model::suite::Gates;

use super::Global;
use super::failure::{Exit, Failure};
use super::output::{self, Json};
use crate::host::Local;
use crate::machine::{self, State};

#[derive(Debug, Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    json: Json,
}

pub(super) fn run(global: &Global, arguments: &Arguments) -> Result<Exit, Failure> {
    let directory = global.store_directory()?;
    let findings = machine::check(&Local, &directory.to_string_lossy(), &Gates::DEFAULT);
    let exit = if findings.iter().any(|finding| finding.state == State::Unfit) { Exit::Unsteady } else { Exit::Fine };
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
        let _ = writeln!(text, "{mark}  {}: {}", finding.what, finding.value);
        if finding.state != State::Fine && !finding.advice.is_empty() {
            let _ = writeln!(text, "         {}", finding.advice);
        }
    }
    output::print(&text)?;
    Ok(exit)
}
