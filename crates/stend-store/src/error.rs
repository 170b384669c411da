//! What the store could not do, in words that tell what to do.

use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;
use thiserror::Error;

use super::blob::DamagedSeries;
use super::export::ExportError;
use super::schema;
use stend_model::quantity::english_plural;
use stend_stand::owned::NotOwn;

/// What the store could not do. Each message is one line and names the file. It holds all causes too, so none is a source: a command that ends
/// by this error would tell it twice.
#[derive(Debug, Error)]
pub enum StoreError {
    /// The file was written by a version that this one does not know.
    #[error("{path} was written by a newer stend (format {found}; this one knows up to {known}): use that one, or another --store", path = .path.display(), known = schema::FORMAT)]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: i64,
    },
    /// The file was written by a version whose format this one does not read any more.
    #[error("{path} was written by an older stend (format {found}; this one reads {known}): use that one, or another --store", path = .path.display(), known = schema::FORMAT)]
    Older {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: i64,
    },
    /// A part of a run is not what was stored.
    #[error("{path}: {what} of run {run} is damaged: {why}; other runs can be read", path = .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The part.
        what: String,
        /// The run.
        run: String,
        /// What is wrong with it.
        why: Damage,
    },
    /// The file, or its directory, cannot be written.
    #[error("{path} cannot be written: {said}; give a writable directory with --store or STEND_STORE", path = .path.display())]
    ReadOnly {
        /// The file.
        path: PathBuf,
        /// What the system said.
        said: String,
    },
    /// Others may write in the directory.
    #[error("{0}; give a directory of your own with --store or STEND_STORE")]
    NotOwn(NotOwn),
    /// The system does not lock the file.
    #[error("{path} cannot be locked: {said}; keep runs on another file system: --store or STEND_STORE", path = .path.display())]
    NotLocked {
        /// The file.
        path: PathBuf,
        /// What the system said.
        said: String,
    },
    /// The disk is full.
    #[error("the disk that holds {path} is full: free some space there; what was stored before is safe", path = .path.display())]
    Full {
        /// The file.
        path: PathBuf,
    },
    /// The file is no store, or damaged.
    #[error("{path} is no store of stend: {why}", path = .path.display())]
    NotAStore {
        /// The file, or what is in the place of its directory.
        path: PathBuf,
        /// What is wrong with it.
        why: NoStore,
    },
    /// There is no such run.
    #[error("no run matches \"{0}\"; `stend list` shows those that there are")]
    NoSuchRun(String),
    /// A side of a run was named where a whole run is meant.
    #[error("\"{0}\" is one side of a run; `stend compare {0}` shows it, and here the run is named alone: {run}", run = .0.split(':').next().unwrap_or_default())]
    Side(String),
    /// Another run is called so.
    #[error(
        "the label \"{label}\" is that of run {run}; `stend label {run} NAME` gives that run another one, `stend label {run}` none"
    )]
    LabelTaken {
        /// The label.
        label: String,
        /// The run that has it.
        run: String,
    },
    /// There are no runs at all.
    #[error("there are no runs yet; `stend run` makes one")]
    Empty,
    /// There are not so many runs.
    #[error("\"{wanted}\" goes back too far: there {}; `stend list` shows them", if *.runs == 1 { "is 1 run".to_owned() } else { format!("are {runs} runs") })]
    TooFarBack {
        /// What was asked for.
        wanted: String,
        /// How many there are.
        runs: u64,
    },
    /// Several runs match.
    #[error("\"{0}\" matches several runs: {1}; give more of the id")]
    Ambiguous(String, String),
    /// Several runs are labelled as sessions of this name.
    #[error("\"{0}\" is the name of several sessions: {1}; name one of them")]
    Sessions(String, String),
    /// Somebody else is measuring with this store.
    #[error("another stend is measuring {machine} with this store{holder}; wait for it")]
    Measuring {
        /// The machine.
        machine: String,
        /// Who it is, in parentheses behind a space, if they say so.
        holder: String,
    },
    /// Somebody else is writing in the file.
    #[error("{path} is in use by another stend; try again when it is done", path = .0.display())]
    InUse(PathBuf),
    /// A profile cannot be read.
    #[error("{path} cannot be read as a profile: {said}; the run can do without it: remove it", path = .path.display())]
    BadProfile {
        /// The file, or the directory of the run's.
        path: PathBuf,
        /// What the system or the parser said.
        said: String,
    },
    /// A profile of no scenario of its run.
    #[error("run {run} has a profile of \"{scenario}\", and no such scenario; nothing was imported")]
    StrayProfile {
        /// The run.
        run: String,
        /// What it is of.
        scenario: String,
    },
    /// A file is no run that was exported.
    #[error("{file} is no run exported by stend: {why}")]
    BadExport {
        /// The file as the user knows it.
        file: String,
        /// What is wrong with it.
        why: ExportError,
    },
    /// The end of an exported run is missing.
    #[error(
        "{file} is cut off: it ends after {whole}; copy it again, or export the run again",
        whole = english_plural(*.lines, "whole line", "whole lines")
    )]
    CutOff {
        /// The file as the user knows it.
        file: String,
        /// How many of its lines are whole.
        lines: usize,
    },
    /// A run with this id is there already, with other contents.
    #[error(
        "run {run} is here already, and this one of the same id is another: {how}; it is not imported, but another --store takes it"
    )]
    Different {
        /// Its id.
        run: String,
        /// In what the two differ.
        how: Difference,
    },
    /// Anything else that SQLite says.
    #[error("{path}: {error}", path = .path.display())]
    Other {
        /// The file.
        path: PathBuf,
        /// What SQLite said.
        error: rusqlite::Error,
    },
}

impl StoreError {
    /// Whether a name was asked for that means no run, or several; else something is wrong with the store.
    pub fn is_of_a_name(&self) -> bool {
        use StoreError::{Ambiguous, Empty, NoSuchRun, Sessions, Side, TooFarBack};
        matches!(self, NoSuchRun(_) | Side(_) | Empty | TooFarBack { .. } | Ambiguous(..) | Sessions(..))
    }
}

/// What is wrong with a part of a run.
#[derive(Debug, Error)]
pub enum Damage {
    /// It has another checksum than beside it.
    #[error("its checksum is another one than when it was stored")]
    NotAsStored,
    /// Some of such parts are not there.
    #[error("{there} of {of} can be read")]
    Lost {
        /// How many are.
        there: usize,
        /// How many were stored.
        of: i64,
    },
    /// Some series of a repeat are not there.
    #[error("not all of its series can be read")]
    SeriesLost,
    /// A repeat is not there, and its series are.
    #[error("there are only its series")]
    OnlySeries,
    /// A series cannot be unpacked.
    #[error(transparent)]
    Series(DamagedSeries),
    /// It cannot be read.
    #[error("{said}")]
    Unread {
        /// What SQLite, the unpacker or the parser said.
        said: String,
    },
}

/// What is wrong with a file that is no store.
#[derive(Debug, Error)]
pub enum NoStore {
    /// It lies in no directory.
    #[error("it is not a directory")]
    NoDirectory,
    /// It has other tables.
    #[error("it is some other program's database")]
    OfOthers,
    /// It cannot be read.
    #[error("{said}")]
    Unread {
        /// What SQLite said.
        said: String,
    },
}

/// In what two runs of one id differ: the one that comes, and the one here.
#[derive(Debug, Error)]
pub enum Difference {
    /// In their suites.
    #[error("it is of suite {coming}, and the one here of {here}")]
    Suite {
        /// That of the one.
        coming: String,
        /// That of the other.
        here: String,
    },
    /// The one that comes was made to be published.
    #[error("it was exported with --public")]
    Public,
    /// The one here was made to be published.
    #[error("the one here was exported with --public")]
    PublicHere,
    /// In how many repeats they have.
    #[error("it has {}, and the one here {here}", english_plural(*.coming, "repeat", "repeats"))]
    Repeats {
        /// How many the one has.
        coming: usize,
        /// How many the other has.
        here: usize,
    },
    /// In a repeat.
    #[error("repeat {0} is not the same")]
    Repeat(u32),
    /// In something beside the repeats.
    #[error("what it says of its machine, its sessions or its samples is not the same")]
    Otherwise,
}

pub(super) type Result<T> = std::result::Result<T, StoreError>;

/// What SQLite says, in words that tell what to do.
pub(super) fn explain(path: &Path, error: rusqlite::Error) -> StoreError {
    let path = path.to_owned();
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => StoreError::Full { path },
        // With the disk full, SQLite's own files beside the store cannot grow either, and that has other codes.
        Some(ErrorCode::SystemIoFailure | ErrorCode::CannotOpen) if is_full(&path) => StoreError::Full { path },
        Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
            StoreError::ReadOnly { path, said: error.to_string() }
        }
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
            StoreError::NotAStore { path, why: NoStore::Unread { said: error.to_string() } }
        }
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::InUse(path),
        _ => StoreError::Other { path, error },
    }
}

fn is_full(path: &Path) -> bool {
    let directory = path.parent().unwrap_or(path);
    rustix::fs::statvfs(directory).is_ok_and(|volume| volume.f_bavail * volume.f_frsize < 1 << 16)
}
