//! One lab measures at a time with one store: two would measure each other.

use std::path::Path;

use super::StoreError;
use crate::lock::{FileLock, LockError};

/// Not the name of the lock of the directory for runs' files, which may be the same directory.
const NAME: &str = "measuring.lock";

/// Held while measuring.
#[derive(Debug)]
pub(crate) struct MeasuringLock {
    _lock: FileLock,
}

impl MeasuringLock {
    /// Takes the lock of the store in `directory`, or says who has it.
    pub(crate) fn take(directory: &Path) -> Result<Self, StoreError> {
        let path = directory.join(NAME);
        match FileLock::take(&path) {
            Ok(lock) => Ok(Self { _lock: lock }),
            Err(LockError::Held(holder)) => Err(StoreError::Busy(format!(
                "another stend is measuring with this store{holder}; wait for it, or give another --store"
            ))),
            Err(LockError::Unusable(error)) if error.kind() == std::io::ErrorKind::StorageFull => {
                Err(StoreError::Full { path })
            }
            Err(LockError::Unusable(error)) => Err(StoreError::ReadOnly { path, reason: error.to_string() }),
            Err(LockError::NotLocked(error)) => Err(StoreError::NotLocked { path, reason: error.to_string() }),
        }
    }
}
