//! What is sampled of the repeat that is being made, shown to other processes ([`stend_model::current`]).

use std::fs::File;
use std::io::Write as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::fs::{MemfdFlags, memfd_create};
use stend_model::current::{Current, MOST, NAME, letter};
use stend_model::run::Origin;

/// From one sample to the next that is shown, in nanoseconds.
const EACH_NS: i64 = 1_000_000_000;

/// Whoever looks on, if anybody does. Where they cannot be shown anything they are not: a run does not depend on them.
#[derive(Debug, Clone, Default)]
pub(super) struct Onlookers(Arc<Mutex<Option<Shown>>>);

#[derive(Debug)]
struct Shown {
    file: File,
    written: u64,
    /// When the last sample was observed that is shown of the instrument, and of the machine.
    last_ns: [Option<i64>; 2],
}

impl Onlookers {
    /// A repeat begins.
    pub(super) fn begin(&self, current: &Current) {
        let begin = || -> std::io::Result<Shown> {
            // Closed in whatever is started: nothing that is measured has it.
            let file = File::from(memfd_create(NAME, MemfdFlags::CLOEXEC)?);
            let mut shown = Shown { file, written: 0, last_ns: [None; 2] };
            shown.write(&serde_json::to_string(current)?)?;
            Ok(shown)
        };
        *self.lock() = begin().ok();
    }

    /// It has ended.
    pub(super) fn end(&self) {
        *self.lock() = None;
    }

    /// Shows a sample, as it was printed.
    pub(super) fn sample(&self, origin: Origin, t_ns: i64, line: &str) {
        if let Some(shown) = &mut *self.lock() {
            let last_ns = &mut shown.last_ns[usize::from(origin == Origin::Machine)];
            // Several metrics of one moment may stand in a line each.
            if last_ns.is_none_or(|last| t_ns == last || t_ns >= last.saturating_add(EACH_NS)) {
                *last_ns = Some(t_ns);
                let _ = shown.write(&format!("{}{}", letter(origin), line.trim_end()));
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Shown>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shown {
    fn write(&mut self, line: &str) -> std::io::Result<()> {
        self.written += line.len() as u64 + 1;
        // At once: of what comes in parts half may be read.
        if self.written <= MOST { self.file.write_all(format!("{line}\n").as_bytes()) } else { Ok(()) }
    }
}
