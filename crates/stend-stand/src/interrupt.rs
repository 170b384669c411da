//! Ctrl-C, and a terminal that goes away: once ends the repeat and keeps everything, twice ends the program.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// Whether the user, or the system that shuts down, wants the run to end.
#[derive(Debug, Clone, Default)]
pub struct Interrupt(Arc<AtomicBool>);

/// The one that listens.
static LISTENING: OnceLock<Interrupt> = OnceLock::new();

impl Interrupt {
    /// Listens to SIGINT, SIGTERM and SIGHUP from now on; to the last not where this program was started to outlive its terminal, as by
    /// nohup. Whoever asks gets the same.
    ///
    /// # Errors
    /// The system refuses to change the signals' action, which it does not do for these.
    pub fn listen() -> std::io::Result<Self> {
        use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
        if let Some(listening) = LISTENING.get() {
            return Ok(listening.clone());
        }
        let flag = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM].into_iter().chain((!is_ignored(SIGHUP)).then_some(SIGHUP)) {
            // In this order: the second signal finds the flag set and ends the program with the status for "interrupted".
            signal_hook::flag::register_conditional_shutdown(signal, 130, Arc::clone(&flag))?;
            signal_hook::flag::register(signal, Arc::clone(&flag))?;
        }
        Ok(LISTENING.get_or_init(|| Self(flag)).clone())
    }

    /// Whether it has come.
    pub fn requested(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Whether it has come to a command that listens.
    pub fn heard() -> bool {
        LISTENING.get().is_some_and(Self::requested)
    }
}

/// Whether whoever started this program told the system to ignore a signal.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    ignored.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}
