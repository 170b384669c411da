//! `stend man`: the manual page.

use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;

use super::failure::{Exit, Failure};
use super::output;

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Write stend.1 and a page for each command to this directory
    directory: Option<PathBuf>,
}

pub(super) fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    if let Some(directory) = &arguments.directory {
        output::make_directory(directory)?;
        clap_mangen::generate_to(super::definition(), directory)
            .with_context(|| format!("{} cannot be written", directory.display()))?;
        return Ok(Exit::Fine);
    }
    let mut page = Vec::new();
    clap_mangen::Man::new(super::definition()).render(&mut page)?;
    output::print_data(&String::from_utf8_lossy(&page))?;
    Ok(Exit::Fine)
}
