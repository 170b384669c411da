//! Ctrl-C: once ends the repeat and keeps everything, twice ends the program.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// Whether the user, or the system that shuts down, wants the run to end.
#[derive(Debug, Clone, Default)]
pub(crate) struct Interrupt(Arc<AtomicBool>);

/// The one that listens.
static LISTENING: OnceLock<Interrupt> = OnceLock::new();

impl Interrupt {
    /// Listens to SIGINT and SIGTERM from now on. Whoever asks gets the same.
    ///
    /// # Errors
    /// The system refuses to change the signals' action, which it does not do for these two.
    pub(crate) fn listen() -> std::io::Result<Self> {
        use signal_hook::consts::{SIGINT, SIGTERM};
        if let Some(listening) = LISTENING.get() {
            return Ok(listening.clone());
        }
        let flag = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            // In this order: the second signal finds the flag set and ends the program with the status for "interrupted".
            signal_hook::flag::register_conditional_shutdown(signal, 130, Arc::clone(&flag))?;
            signal_hook::flag::register(signal, Arc::clone(&flag))?;
        }
        Ok(LISTENING.get_or_init(|| Self(flag)).clone())
    }

    /// Whether it has come.
    pub(crate) fn requested(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Whether it has come to a command that listens.
    pub(crate) fn heard() -> bool {
        LISTENING.get().is_some_and(Self::requested)
    }
}
