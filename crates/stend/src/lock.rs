//! A lock on a file of this machine, for as long as a process holds it.

use std::fs::{File, OpenOptions};
use std::io::{Error, Read, Seek, Write};
use std::path::Path;
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

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
    /// Somebody else holds it: ` (process 7)`, or nothing if it did not name itself.
    Held(String),
    /// The file cannot be made or opened.
    Unusable(Error),
    /// The file is there, and the system does not lock it.
    NotLocked(Error),
}

impl FileLock {
    /// Takes the lock, or says who has it.
    pub(crate) fn take(path: &Path) -> Result<Self, LockError> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let mut file = options.open(path).map_err(LockError::Unusable)?;
        let taken = attempts(|| flock(&file, FlockOperation::NonBlockingLockExclusive), PAUSE);
        if !taken.map_err(|error| LockError::NotLocked(error.into()))? {
            let mut holder = String::new();
            let _ = file.read_to_string(&mut holder);
            let holder = holder.trim();
            // A lab elsewhere says more of itself than its number.
            let number = holder.bytes().all(|byte| byte.is_ascii_digit());
            return Err(LockError::Held(match (holder.is_empty(), number) {
                (true, _) => String::new(),
                (_, true) => format!(" (process {holder})"),
                _ => format!(" ({holder})"),
            }));
        }
        // Who holds it is for the message alone, so a full disk is no reason to stop here.
        let _ = file.set_len(0).and_then(|()| file.rewind()).and_then(|()| write!(file, "{}", std::process::id()));
        Ok(Self { _file: file })
    }
}

/// Tries until the lock is taken (`true`), for a while. A stend that was killed a moment ago may have been starting an instrument: that
/// one holds a copy until it has become another program.
fn attempts(mut lock: impl FnMut() -> Result<(), Errno>, pause: Duration) -> Result<bool, Errno> {
    let mut held = 0;
    loop {
        match lock() {
            Ok(()) => return Ok(true),
            Err(Errno::INTR) => {}
            Err(Errno::WOULDBLOCK) => {
                held += 1;
                if held == ATTEMPTS {
                    return Ok(false);
                }
                std::thread::sleep(pause);
            }
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_lock_that_somebody_has_is_held() {
        let of = |mut answers: Vec<Result<(), Errno>>| {
            attempts(move || if answers.len() > 1 { answers.remove(0) } else { answers[0] }, Duration::ZERO)
        };
        assert_eq!(of(vec![Ok(())]), Ok(true));
        assert_eq!(of(vec![Err(Errno::INTR), Err(Errno::WOULDBLOCK), Ok(())]), Ok(true));
        assert_eq!(of(vec![Err(Errno::WOULDBLOCK)]), Ok(false));
        assert_eq!(of(vec![Err(Errno::WOULDBLOCK), Err(Errno::NOLCK)]), Err(Errno::NOLCK));
    }

    #[test]
    fn a_holder_without_a_name_is_not_named() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("lock");
        let file = File::create(&path).unwrap();
        flock(&file, FlockOperation::LockExclusive).unwrap();
        let holder = |path: &Path| match FileLock::take(path) {
            Err(LockError::Held(holder)) => holder,
            other => panic!("{other:?}"),
        };
        assert_eq!(holder(&path), "");
        std::fs::write(&path, "7").unwrap();
        assert_eq!(holder(&path), " (process 7)");
    }
}
