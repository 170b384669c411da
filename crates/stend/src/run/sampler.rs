//! The machine's own counters while a run is made: `stend-probe sample` beside it, read by a thread.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use stend_model::run::{Origin, Series};
use stend_model::wire::{Event, parse_line};

use super::SeriesBuilder;
use crate::host::{Command, Happening, Host, Process};

/// How long the sampler may take to say which sensors it has.
const PATIENCE: Duration = Duration::from_secs(3);

/// A running sampler; dropped, it ends.
pub(super) struct Sampler {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    begun: Condvar,
    stop: AtomicBool,
}

#[derive(Default)]
struct State {
    series: SeriesBuilder,
    missing: Option<BTreeMap<String, String>>,
    /// Why it ended, if it did so by itself.
    ended: Option<String>,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Sampler {
    /// Starts sampling; at 0 hertz there is none.
    pub(super) fn start(host: &dyn Host, probe: &str, hertz: u32) -> anyhow::Result<Self> {
        let shared = Arc::new(Shared::default());
        if hertz == 0 {
            return Ok(Self { shared, thread: None });
        }
        let command = Command::new([probe, "sample", "--hertz", &hertz.to_string()]);
        let process = host.start(&command).context("the sampler cannot be started")?;
        let thread = std::thread::spawn({
            let shared = Arc::clone(&shared);
            move || follow(process, &shared)
        });
        let sampler = Self { shared, thread: Some(thread) };
        let waits = |state: &mut State| state.missing.is_none() && state.ended.is_none();
        let _ = sampler.shared.begun.wait_timeout_while(sampler.shared.lock(), PATIENCE, waits);
        if let Some(reason) = &sampler.shared.lock().ended {
            anyhow::bail!("the sampler ended at once: {reason}");
        }
        Ok(sampler)
    }

    /// What it could not read, as `name: reason`.
    pub(super) fn missing(&self) -> Vec<String> {
        let state = self.shared.lock();
        state.missing.iter().flatten().map(|(name, reason)| format!("{name}: {reason}")).collect()
    }

    /// What was sampled since the last call, and why the sampler ended if it did.
    pub(super) fn drain(&mut self) -> (Vec<Series>, Option<String>) {
        let mut state = self.shared.lock();
        (state.series.take(Origin::Machine), state.ended.take())
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn follow(mut process: Box<dyn Process>, shared: &Shared) {
    let mut last_words = String::new();
    loop {
        if shared.stop.load(Ordering::Relaxed) {
            return end(process);
        }
        match process.next(Duration::from_millis(100)) {
            Some(Happening::Line(line)) => match parse_line(&String::from_utf8_lossy(&line)) {
                Ok(Some(Event::Sample(sample))) => shared.lock().series.add(&sample),
                Ok(Some(Event::Begin(begin))) => {
                    shared.lock().missing = Some(begin.missing);
                    shared.begun.notify_all();
                }
                Ok(_) => {}
                Err(error) => last_words = error.to_string(),
            },
            Some(Happening::ErrorLine(line)) => last_words = String::from_utf8_lossy(&line).into_owned(),
            Some(Happening::Ended(exit)) => {
                let status = exit.map_or("killed by a signal".into(), |exit| format!("status {exit}"));
                let reason = if last_words.is_empty() { status } else { format!("{status}: {last_words}") };
                shared.lock().ended = Some(reason);
                shared.begun.notify_all();
                return;
            }
            None => {}
        }
    }
}

/// Closes its standard input, which ends it; one that does not end is killed.
fn end(mut process: Box<dyn Process>) {
    process.stop();
    let deadline = Instant::now() + Duration::from_secs(2);
    while Instant::now() < deadline {
        if let Some(Happening::Ended(_)) = process.next(Duration::from_millis(50)) {
            return;
        }
    }
    process.kill();
}
