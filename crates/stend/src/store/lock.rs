//! One lab measures at a time with one store: two would measure each other.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, Write};
use std::path::Path;
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};

use super::StoreError;

const ATTEMPTS: u32 = 20;
const PAUSE: Duration = Duration::from_millis(50);

/// Held while measuring. The system releases it when the process ends, however it ends.
#[derive(Debug)]
pub(crate) struct MeasuringLock {
    _file: File,
}

impl MeasuringLock {
    /// Takes the lock of the store in `directory`, or says who has it.
    pub(crate) fn take(directory: &Path) -> Result<Self, StoreError> {
        let path = directory.join("measuring.lock");
        let unusable = |error: std::io::Error| match error.kind() {
            std::io::ErrorKind::StorageFull => StoreError::Full { path: path.clone() },
            _ => StoreError::ReadOnly { path: path.clone(), reason: error.to_string() },
        };
        let mut file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path).map_err(unusable)?;
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
            let message = format!(
                "another stend is measuring with this store (process {}); wait for it, or give another --store",
                holder.trim()
            );
            return Err(StoreError::Busy(message));
        }
        // Who holds it is for the message alone, so a full disk is no reason to stop here.
        let _ = file.set_len(0).and_then(|()| file.rewind()).and_then(|()| write!(file, "{}", std::process::id()));
        Ok(Self { _file: file })
    }
}
