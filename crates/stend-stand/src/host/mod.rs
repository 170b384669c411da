//! How to reach the machine under test.
//!
//! All that touches that machine goes through [`Host`]: running a command, reading a file, putting a file. [`Local`] is the machine that
//! stend itself runs on; [`Ssh`] does the same steps over a link, so nothing above this module may know where the machine is.

mod local;
mod ssh;
pub mod stand;

use std::collections::BTreeMap;
use std::time::Duration;

use thiserror::Error;

pub use local::Local;
pub use ssh::{BEFORE_TRIES_OF_GUEST, Ssh, Terminal};

/// The file that is locked in a directory. Not the store's, which may be in the same directory.
pub const LOCK_FILE: &str = "in-use.lock";

/// What a file holds, or a command prints on one of its streams, is read so far, in bytes. More is an error.
const MOST_READ: u64 = 128 << 20;

/// What is said of a link where ssh says nothing.
pub const LINK_DROPPED: &str = "the link dropped";

/// Shell: `remove PATH`.
const REMOVE: &str = include_str!("remove.sh");
/// Shell: runs a command that ends with standard input. Its words stand behind a directory that is removed if it fails, or an empty word.
const WATCHED: &str = concat!(include_str!("remove.sh"), include_str!("watched.sh"));

/// The machine under test, as something that commands can be run on. Paths are the machine's own.
pub trait Host: Send + Sync {
    /// How it is reached: `local`, or an ssh destination.
    fn name(&self) -> &str;

    /// Runs a short command to its end and gives what it printed. It has no standard input.
    fn run(&self, command: &Command) -> Result<Output, HostError>;

    /// Starts a command whose lines come as it prints them. Its standard input stays open until the process is stopped or dropped,
    /// so that a guard there notices when this side is gone.
    fn start(&self, command: &Command) -> Result<Box<dyn Process>, HostError>;

    /// The contents of a file, also of one in `/proc` or `/sys`.
    fn read(&self, path: &str) -> Result<Vec<u8>, HostError>;

    /// The files that these patterns stand for, by path: a pattern is a path, or with a final `*` all files whose paths begin like it. Those
    /// that are not there are left out.
    fn read_matching(&self, patterns: &[String]) -> Result<BTreeMap<String, Vec<u8>>, HostError>;

    /// The names in a directory, sorted.
    fn list(&self, directory: &str) -> Result<Vec<String>, HostError>;

    /// Creates or replaces a file.
    fn write(&self, path: &str, contents: &[u8]) -> Result<(), HostError>;

    /// Adds to the end of a file, which is created if it is not there. When this returns, the file is on disk.
    fn append(&self, path: &str, contents: &[u8]) -> Result<(), HostError>;

    /// Creates a directory and those above it, for the user alone.
    fn make_directory(&self, path: &str) -> Result<(), HostError>;

    /// Creates a directory and these files in it, by their paths in there.
    fn put_tree(&self, directory: &str, files: &[(&str, &[u8])]) -> Result<(), HostError> {
        for (path, contents) in files {
            let path = format!("{directory}/{path}");
            self.make_directory(path.rsplit_once('/').map_or(directory, |path| path.0))?;
            self.write(&path, contents)?;
        }
        Ok(())
    }

    /// Removes a file, or a directory with all that is in it. Nothing there is no error.
    fn remove(&self, path: &str) -> Result<(), HostError>;

    /// Whether the machine's clocks are the lab's own.
    fn has_our_clocks(&self) -> bool {
        false
    }

    /// Sees to it that no other stend uses a directory there, or the machine, until the lock is dropped, or this program ends in whatever way.
    fn lock(&self, what: &Lockable) -> Result<Box<dyn Lock>, HostError>;

    /// Whether commands give up with [`HostError::Interrupted`] when the user interrupts the program. Not while it tidies up.
    fn heed_interrupt(&self, _yes: bool) {}

    /// Whether the user has interrupted the program, and that is to be heeded now.
    fn is_interrupted(&self) -> bool {
        false
    }

    /// Where a program lies that the PATH leads to; one that is given with a slash lies there or nowhere.
    fn find_program(&self, name: &str) -> Option<String> {
        // `command -v` would answer for what the shell has built in, which nobody can start.
        const SCRIPT: &str = r#"
            found() { [ -f "$1" ] && [ -x "$1" ] && printf '%s\n' "$1"; }
            case $1 in */*) found "$1"; exit ;; esac
            set -f
            IFS=:
            for directory in $PATH; do found "${directory:-.}/$1" && exit; done
            exit 1
        "#;
        let output = self.run(&Command::new(["sh", "-c", SCRIPT, "sh", name])).ok()?;
        (output.exit == Some(0)).then(|| output.text().trim_end_matches('\n').to_owned())
    }

    /// The contents of a file as text, without what is no UTF-8.
    fn read_text(&self, path: &str) -> Result<String, HostError> {
        self.read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    }
}

/// A command for a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// The program and its arguments. No shell sees them.
    pub words: Vec<String>,
    /// Variables to set beside those that the host has.
    pub environment: BTreeMap<String, String>,
    /// Where it runs; the host's default if not given.
    pub directory: Option<String>,
    /// A command that [`Host::run`] waits for longer is killed.
    pub timeout: Duration,
}

impl Command {
    /// A command of these words, with five minutes to end: on a machine that is busy and has slow disks the least takes half of one.
    pub fn new<W: Into<String>>(words: impl IntoIterator<Item = W>) -> Self {
        Self {
            words: words.into_iter().map(Into::into).collect(),
            environment: BTreeMap::new(),
            directory: None,
            timeout: Duration::from_secs(300),
        }
    }
}

/// What a command printed, and how it ended.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Output {
    /// Its exit status, if it exited.
    pub exit: Option<i32>,
    /// Its standard output; a last line without a newline gets one.
    pub stdout: Vec<u8>,
    /// Its standard error.
    pub stderr: Vec<u8>,
}

impl Output {
    /// Adds a line to one of its streams, if that has no more bytes than this by it.
    fn add(stream: &mut Vec<u8>, line: &[u8], most: u64) -> bool {
        let fits = (stream.len() + line.len()) as u64 <= most;
        if fits {
            stream.extend_from_slice(line);
            stream.push(b'\n');
        }
        fits
    }

    /// Standard output as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }
}

/// What a lab locks on a machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lockable {
    /// The directory for runs' files.
    Directory(String),
    /// The machine itself, which users and labs share, by a file of this path.
    Machine(String),
}

impl Lockable {
    /// The file that is locked.
    fn path(&self) -> String {
        match self {
            Self::Directory(directory) => format!("{directory}/{LOCK_FILE}"),
            Self::Machine(path) => path.clone(),
        }
    }

    /// Why it is not to be had: somebody has it. `at` is what stands before paths of another machine, `holder` who it is, in brackets.
    fn held(&self, at: &str, holder: &str) -> HostError {
        let holder = holder.into();
        match self {
            Self::Directory(directory) => HostError::DirectoryInUse { directory: format!("{at}{directory}"), holder },
            Self::Machine(lock) => {
                let machine = at.strip_suffix(':').unwrap_or("this machine").into();
                HostError::MachineInUse { machine, lock: lock.as_str().into(), holder }
            }
        }
    }

    /// Why it cannot be locked at all.
    fn unusable(&self, at: &str, error: std::io::Error) -> HostError {
        let path = format!("{at}{}", self.path());
        match self {
            Self::Directory(_) => HostError::File { path, error },
            Self::Machine(_) => HostError::NoLock { path, error },
        }
    }
}

/// A lock that is held until it is dropped.
pub trait Lock: Send {
    /// Removes the file that is locked, and the directory with it if it is the lock of a directory and nothing else is in there. What was
    /// locked stays locked for those who hold the file open already, and those find out that it is gone.
    fn remove_file(&mut self) -> Result<(), HostError>;
}

/// A started command.
pub trait Process: Send {
    /// The next thing that it does, waiting at most so long; `None` if nothing happened.
    fn next(&mut self, wait: Duration) -> Option<Happening>;

    /// Writes to its standard input. Only for a few bytes: a command that does not read them makes this one wait.
    fn send(&mut self, bytes: &[u8]) -> std::io::Result<()>;

    /// Closes its standard input, which makes a guard end what it guards. It still has to be waited for with [`Process::next`].
    fn stop(&mut self);

    /// Ends it at once, with what it started.
    fn kill(&mut self);
}

/// What a started command does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Happening {
    /// A line on standard output, without its newline.
    Line(Vec<u8>),
    /// A line on standard error, without its newline.
    ErrorLine(Vec<u8>),
    /// It has ended and both streams are at their end: exit status, or nothing if a signal ended it.
    Ended(Option<i32>),
}

/// Something that the machine under test would not do.
#[derive(Debug, Error)]
pub enum HostError {
    /// A file or directory could not be used.
    #[error("{path}: {error}")]
    File {
        /// Its path there.
        path: String,
        /// What the system said.
        error: std::io::Error,
    },
    /// Somebody else uses the directory for runs' files.
    #[error("another stend is using {directory}{holder}; wait for it, or set STEND_WORK to another directory")]
    DirectoryInUse {
        /// Its path, behind the machine's destination where that is another.
        directory: String,
        /// Who it is, in brackets, if they say.
        holder: Box<str>,
    },
    /// Somebody else measures on the machine.
    #[error("another stend measures on {machine}{holder}; wait for it (the lock there is {lock}; docs/guide/hosts.md)")]
    MachineInUse {
        /// Its destination, or this machine in words.
        machine: Box<str>,
        /// The lock's path there.
        lock: Box<str>,
        /// Who it is, in brackets, if they say.
        holder: Box<str>,
    },
    /// What is to be the machine's lock is something else.
    #[error("{path} is no lock: {error}; set STEND_LOCK to another path there")]
    NoLock {
        /// Its path, behind the machine's destination where that is another.
        path: String,
        /// What is wrong with it.
        error: std::io::Error,
    },
    /// The user interrupted the program.
    #[error("interrupted")]
    Interrupted,
    /// The system does not lock a file.
    #[error("{path} cannot be locked: {error}; set STEND_WORK to a directory on another file system")]
    NotLocked {
        /// Its path there.
        path: String,
        /// What the system said.
        error: std::io::Error,
    },
    /// A command could not be started.
    #[error("cannot start {program}: {error}")]
    Start {
        /// The program.
        program: String,
        /// What the system said.
        error: std::io::Error,
    },
    /// There is no way to the machine, or none any more.
    #[error("{destination}: {reason}")]
    Link {
        /// The ssh destination.
        destination: String,
        /// What ssh said.
        reason: String,
    },
    /// A command printed, or a file holds, more than anybody reads.
    #[error("{from} gave more than {} MiB, and no more is read", MOST_READ >> 20)]
    TooMuch {
        /// The program, the file or the destination.
        from: String,
    },
    /// A command did not end in its time.
    #[error("{program} did not end within {seconds} s and was killed")]
    TimedOut {
        /// The program.
        program: String,
        /// Its time.
        seconds: u64,
    },
}

/// Why there is no way to a machine any more, if it was that which failed: what ssh said.
pub fn lost_link(error: &anyhow::Error) -> Option<&str> {
    error.chain().find_map(|cause| match cause.downcast_ref::<HostError>() {
        Some(HostError::Link { reason, .. }) => Some(reason.as_str()),
        _ => None,
    })
}
