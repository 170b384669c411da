//! One lab at a time measures a machine with one store: two would measure each other. Other machines may be measured meanwhile.

use std::path::Path;

use stend_model::identity::{identity_of, short};

use super::StoreError;
use stend_stand::lock::{FileLock, LockError};

/// Not the name of the lock of the directory for runs' files, which may be the same directory.
const NAME: &str = "measuring.lock";

/// Held while measuring.
#[derive(Debug)]
pub struct MeasuringLock {
    _lock: FileLock,
}

impl MeasuringLock {
    /// Takes the lock of one machine in the store in `directory`, or says who has it. `host` is how the machine is reached; nothing for this one.
    pub fn take(directory: &Path, host: Option<&str>) -> Result<Self, StoreError> {
        // A destination may hold anything, so its digest stands for it.
        let path = directory.join(
            host.map_or_else(|| NAME.to_owned(), |host| format!("measuring-{}.lock", short(&identity_of(&host)))),
        );
        match FileLock::take(&path) {
            Ok(lock) => Ok(Self { _lock: lock }),
            Err(LockError::Held(holder)) => {
                Err(StoreError::Measuring { machine: host.unwrap_or("this machine").to_owned(), holder })
            }
            Err(LockError::Unusable(error)) if error.kind() == std::io::ErrorKind::StorageFull => {
                Err(StoreError::Full { path })
            }
            Err(LockError::Unusable(error)) => Err(StoreError::ReadOnly { path, said: error.to_string() }),
            Err(LockError::NotLocked(error)) => Err(StoreError::NotLocked { path, said: error.to_string() }),
        }
    }
}
