//! A lock on a file of this machine, for as long as a process holds it.

use std::fs::{File, OpenOptions};
use std::io::{Error, Read, Seek, Write};
use std::path::Path;
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};

const ATTEMPTS: u32 = 20;
const PAUSE: Duration = Duration::from_millis(50);

/// A lock that is held. The system releases it when the process ends, however it ends.
#[derive(Debug)]
pub(crate) struct FileLock {
    _file: File,
}

/// Why a lock was not taken.
#[derive(Debug)]
pub(crate) enum LockError {
    /// Somebody else holds it: the process, as it named itself.
    Held(String),
    /// The file cannot be made or opened.
    Unusable(Error),
}

impl FileLock {
    /// Takes the lock, or says who has it.
    pub(crate) fn take(path: &Path) -> Result<Self, LockError> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let mut file = options.open(path).map_err(LockError::Unusable)?;
        // A stend that was killed a moment ago may have been starting an instrument: that one holds a copy until it has become another
        // program.
        let free = (0..ATTEMPTS).any(|attempt| {
            if attempt > 0 {
                std::thread::sleep(PAUSE);
            }
            flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok()
        });
        if !free {
            let mut holder = String::new();
            let _ = file.read_to_string(&mut holder);
            return Err(LockError::Held(holder.trim().to_owned()));
        }
        // Who holds it is for the message alone, so a full disk is no reason to stop here.
        let _ = file.set_len(0).and_then(|()| file.rewind()).and_then(|()| write!(file, "{}", std::process::id()));
        Ok(Self { _file: file })
    }
}
