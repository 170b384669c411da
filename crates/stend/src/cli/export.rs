//! `stend export`: a run with all its samples as one file.

use std::io::{BufWriter, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;

use super::Global;
use super::failure::{Exit, Failure};
use crate::store::{Store, write_export};

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The run
    #[arg(default_value = "last")]
    run: String,
    /// The file to write, or - for standard output [default: RUN.stend.gz]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(super) fn run(global: &Global, arguments: &Arguments) -> Result<Exit, Failure> {
    let store = Store::open_to_read(&global.store_directory()?)?;
    let id = store.resolve(&arguments.run)?;
    let record = store.load(&id)?;
    let series = store.series(&id)?;
    let path = arguments.output.clone().unwrap_or_else(|| PathBuf::from(format!("{id}.stend.gz")));
    if path == Path::new("-") {
        if std::io::stdout().is_terminal() {
            return Err(Failure::usage("the file is compressed and no sight for a terminal; give -o FILE, or a pipe"));
        }
        write_export(&record, &series, BufWriter::new(std::io::stdout().lock()))?;
        return Ok(Exit::Fine);
    }
    if std::fs::metadata(&path).is_ok_and(|target| !target.is_file()) {
        let message =
            format!("{} is no place for a file; give another one with -o, or - for standard output", path.display());
        return Err(Failure::usage(message));
    }
    // Written beside its place and then moved there, so that a full disk leaves no half a file.
    let partial = path.with_extension(format!("partial-{}", std::process::id()));
    let write = || -> anyhow::Result<()> {
        let mut file = BufWriter::new(std::fs::File::create(&partial)?);
        write_export(&record, &series, &mut file)?;
        file.flush()?;
        file.get_ref().sync_all()?;
        std::fs::rename(&partial, &path)?;
        Ok(())
    };
    write()
        .inspect_err(|_| drop(std::fs::remove_file(&partial)))
        .with_context(|| format!("{} cannot be written", path.display()))?;
    talk!("{}", path.display());
    Ok(Exit::Fine)
}
