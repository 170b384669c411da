//! Ctrl-C: once ends the repeat and keeps everything, twice ends the program.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the user, or the system that shuts down, wants the run to end.
#[derive(Debug, Clone, Default)]
pub(crate) struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Listens to SIGINT and SIGTERM from now on.
    ///
    /// # Errors
    /// The system refuses to change the signals' action, which it does not do for these two.
    pub(crate) fn listen() -> std::io::Result<Self> {
        use signal_hook::consts::{SIGINT, SIGTERM};
        let flag = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            // In this order: the second signal finds the flag set and ends the program with the status for "interrupted".
            signal_hook::flag::register_conditional_shutdown(signal, 130, Arc::clone(&flag))?;
            signal_hook::flag::register(signal, Arc::clone(&flag))?;
        }
        Ok(Self(flag))
    }

    /// Whether it has come.
    pub(crate) fn requested(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
