//! `stend report`: a run, or several side by side, as one HTML file.

use std::path::PathBuf;

use clap::Args;

use super::Global;
use super::failure::{Exit, Failure};
use super::output;
use crate::catalogue;
use crate::store::Store;

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Runs, the first of which is the base; RUN:SIDE is one side of a run
    #[arg(default_value = "last")]
    runs: Vec<String>,
    /// The file to write [default: reports/RUN.html in the store, or reports/RUN+RUN.html]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(super) fn run(global: &Global, arguments: &Arguments) -> Result<Exit, Failure> {
    let directory = global.store_directory()?;
    let store = Store::open_to_read(&directory)?;
    let mut records = Vec::new();
    for wanted in &arguments.runs {
        records.extend(output::load(&store, wanted)?);
    }
    let table = output::beside_one_another(&store, &records, &catalogue::references())?;
    let all = records.iter().collect::<Vec<_>>();
    let path = arguments.output.clone().unwrap_or_else(|| output::report_path(&directory, &all));
    // Behind the page itself its place would be one line of rubbish.
    let printed = output::is_standard_output(&path);
    let path = output::write_report(&store, &records, &table, &path)?;
    if !printed {
        output::print(&format!("{}\n", path.display()))?;
    }
    Ok(Exit::Fine)
}
