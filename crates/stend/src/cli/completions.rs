//! `stend completions`: what a shell needs to complete the command line.

use clap::Args;
use clap_complete::Shell;

use super::failure::{Exit, Failure};
use super::output;

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The shell
    shell: Shell,
}

pub(super) fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut super::definition(), "stend", &mut script);
    output::print_data(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Fine)
}
