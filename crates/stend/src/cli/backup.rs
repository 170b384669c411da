//! `stend backup`: copies the store while it is in use.

use std::path::{Path, PathBuf};

use clap::Args;
use stend_store::Store;

use super::Global;
use super::failure::{Exit, Failure};
use super::serve::failure;

/// What lies beside the databases and belongs to the store. Locks and half-written files do not.
const PLAIN: [&str; 5] = ["hosts.toml", "server.toml", "server-tls", "server-logs", "profiles"];

#[derive(Debug, Args)]
#[command(
    after_help = "The copy is a store: `stend --store DIRECTORY list` reads it, and to restore it is to move it to the store's place"
)]
pub(super) struct Arguments {
    /// The directory to make, which must not exist
    directory: PathBuf,
}

pub(super) fn run(global: &Global, arguments: &Arguments) -> Result<Exit, Failure> {
    let store = global.store_to_read()?;
    let to = &arguments.directory;
    if to.exists() {
        return Err(Failure::usage(format!("{} exists: give a directory that does not", to.display())));
    }
    let name = to.file_name().ok_or_else(|| Failure::usage(format!("{} is no name of a directory", to.display())))?;
    // Under another name until it is whole. One that a killed back-up left is worth nothing.
    let partial = to.with_file_name(format!("{}.partial", name.to_string_lossy()));
    let named = |path: &Path, error: std::io::Error| Failure::unusable(format!("{}: {error}", path.display()));
    if partial.exists() {
        std::fs::remove_dir_all(&partial).map_err(|error| named(&partial, error))?;
    }
    stend_store::make_directory(&partial)?;
    let copied = copy(&store, &partial);
    if copied.is_err() {
        let _ = std::fs::remove_dir_all(&partial);
    }
    copied?;
    std::fs::rename(&partial, to).map_err(|error| named(to, error))?;
    if !global.quiet {
        let runs = Store::open_to_read(to)?.list()?.len();
        talk!("{}: {runs} runs", to.display());
    }
    Ok(Exit::Fine)
}

fn copy(store: &Path, to: &Path) -> Result<(), Failure> {
    // The queue first: a run that it holds and the copy of the store lacks is made again, and not the other way round.
    stend_server::copy(store, to).map_err(failure)?;
    let opened = Store::open_to_read(store)?;
    if opened.is_there() {
        opened.copy_to(to)?;
    }
    for name in PLAIN {
        let from = store.join(name);
        if from.exists() {
            copy_all(&from, &to.join(name))
                .map_err(|error| Failure::unusable(format!("{}: {error}", from.display())))?;
        }
    }
    Ok(())
}

/// Copies a file, or a directory with all in it, with the permissions of each; links are none of the store's.
fn copy_all(from: &Path, to: &Path) -> std::io::Result<()> {
    let kind = from.symlink_metadata()?;
    if kind.is_file() {
        std::fs::copy(from, to)?;
        return std::fs::File::open(to)?.sync_all();
    }
    if kind.is_dir() {
        std::fs::create_dir(to)?;
        std::fs::set_permissions(to, kind.permissions())?;
        for entry in std::fs::read_dir(from)? {
            let entry = entry?;
            copy_all(&entry.path(), &to.join(entry.file_name()))?;
        }
    }
    Ok(())
}
