//! The machine's own counters while a run is made: `stend-probe sample` beside it, read by a thread.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use stend_model::cause::Why;
use stend_model::run::{Origin, Series};
use stend_model::wire::{Event, Observed, Usage, parse_line};

use super::SeriesBuilder;
use super::onlookers::Onlookers;
use crate::rig::watched::Watched;
use stend_stand::host::{Command, Happening, Host, Process};

/// How long the sampler may take to say which sensors it has, and to read them for the first time.
const PATIENCE: Duration = Duration::from_secs(3);

/// How long a sample may be on its way from the sampler to here. Only on a machine that is too busy to sample in time is it waited for so long.
const LAG: Duration = Duration::from_millis(250);

/// How often a sampler that says nothing is looked at; each sample is taken as it comes.
const LOOK: Duration = Duration::from_millis(500);

/// A sampler prints at most so much in one repeat, in bytes; what it says of a large machine for an hour, ten times a second, is half as much.
const MOST_PRINTED: usize = 1 << 30;

/// A running sampler; dropped, it ends.
pub(super) struct Sampler {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    /// From one sample to the next, in nanoseconds.
    period_ns: i64,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    onlookers: Onlookers,
    /// Rings when it has begun, sampled, or ended.
    news: Condvar,
    stop: AtomicBool,
}

#[derive(Default)]
struct State {
    series: SeriesBuilder,
    missing: Option<BTreeMap<String, Why>>,
    /// The moment of the newest sample, if there is one.
    newest_ns: Option<i64>,
    /// What it has printed since a repeat ended, in bytes.
    printed: usize,
    /// Why it ended, if it did so by itself, or had to.
    ended: Option<String>,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shared {
    /// Takes a sample.
    fn take<'m>(&self, t_ns: i64, metrics: impl Iterator<Item = (&'m str, f64)>) {
        let mut state = self.lock();
        state.series.add_all(t_ns, metrics);
        state.newest_ns = Some(t_ns);
        self.news.notify_all();
    }

    /// Counts what it printed, and says how much that is by now.
    fn count(&self, bytes: usize) -> usize {
        let mut state = self.lock();
        state.printed += bytes;
        state.printed
    }

    /// Says why it has ended.
    fn end(&self, reason: String) {
        self.lock().ended = Some(reason);
        self.news.notify_all();
    }
}

impl Sampler {
    /// Starts sampling; at 0 hertz there is none. Guards write their number to `pid_file` while they run something.
    pub(super) fn start(
        host: &dyn Host,
        probe: &str,
        hertz: u32,
        watched: &Watched,
        pid_file: &str,
        onlookers: &Onlookers,
    ) -> anyhow::Result<Self> {
        let shared = Arc::new(Shared { onlookers: onlookers.clone(), ..Shared::default() });
        if hertz == 0 {
            return Ok(Self { shared, thread: None, period_ns: 0 });
        }
        let mut words =
            [probe, "sample", "--hertz", &hertz.to_string(), "--loader", pid_file].map(str::to_owned).to_vec();
        for (option, pairs) in [("--group", &watched.groups), ("--disks", &watched.disks)] {
            words.extend(pairs.iter().flat_map(|(name, of)| [option.to_owned(), format!("{name}={of}")]));
        }
        let command = Command::new(words);
        let process = host.start(&command).context("the sampler cannot be started")?;
        let thread = std::thread::spawn({
            let shared = Arc::clone(&shared);
            move || follow(process, &shared, MOST_PRINTED)
        });
        let sampler = Self { shared, thread: Some(thread), period_ns: 1_000_000_000 / i64::from(hertz) };
        // So that each counter is known before the first command starts.
        let waits = |state: &mut State| state.newest_ns.is_none() && state.ended.is_none();
        let _ = sampler.shared.news.wait_timeout_while(sampler.shared.lock(), PATIENCE, waits);
        if let Some(reason) = &sampler.shared.lock().ended {
            anyhow::bail!("the sampler ended at once: {reason}");
        }
        Ok(sampler)
    }

    /// What it could not read, and why.
    pub(super) fn missing(&self) -> BTreeMap<String, Why> {
        self.shared.lock().missing.clone().unwrap_or_default()
    }

    /// What was sampled from the last sample of the call before until a command's end, a little after it too ([`cut_to`] leaves what is
    /// within), and why the sampler ended if it did.
    pub(super) fn drain(&mut self, usage: Option<&Usage>) -> (Vec<Series>, Option<String>) {
        let window = usage.and_then(window);
        let mut state = self.shared.lock();
        if let Some(window) = &window {
            // A sample that was due before the command's end may still be on its way.
            let due = |state: &mut State| {
                state.ended.is_none()
                    && state.newest_ns.is_some_and(|newest| newest.saturating_add(self.period_ns) <= *window.end())
            };
            let waited = self.shared.news.wait_timeout_while(state, LAG, due);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        state.printed = 0;
        let series = state.series.take(Origin::Machine);
        // What the next command found when it started, however late the first sample in it is.
        for Series { metric, times_ns, values, .. } in &series {
            if let (Some(&time), Some(&value)) = (times_ns.last(), values.last()) {
                state.series.add_all(time, std::iter::once((metric.as_str(), value)));
            }
        }
        (series, state.ended.take())
    }
}

/// Leaves what was observed while a command ran. If nobody knows when that was, all is left.
pub(super) fn cut_to(series: &mut Vec<Series>, usage: Option<&Usage>) {
    if let Some(window) = usage.and_then(window) {
        series.iter_mut().for_each(|series| cut(series, &window));
        series.retain(|series| !series.values.is_empty());
    }
}

/// From the start of a guarded command to its end, on the machine's monotonic clock.
fn window(usage: &Usage) -> Option<RangeInclusive<i64>> {
    usage.t_ns.map(|start| start..=start.saturating_add_unsigned(usage.wall_ns))
}

/// Leaves of a series what was observed in a window. Its moments are in order.
fn cut(series: &mut Series, window: &RangeInclusive<i64>) {
    let begin = series.times_ns.partition_point(|time| time < window.start());
    let end = series.times_ns.partition_point(|time| time <= window.end());
    series.times_ns = series.times_ns[begin..end].to_vec();
    series.values = series.values[begin..end].to_vec();
}

impl Drop for Sampler {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn follow(mut process: Box<dyn Process>, shared: &Shared, most_printed: usize) {
    let mut last_words = String::new();
    loop {
        if shared.stop.load(Ordering::Relaxed) {
            return end(process);
        }
        match process.next(LOOK) {
            Some(Happening::Line(line)) => {
                if shared.count(line.len()) > most_printed {
                    shared.end(format!("it printed more than {} MiB in one repeat", most_printed >> 20));
                    return end(process);
                }
                let line = String::from_utf8_lossy(&line);
                // Nearly every line is one of these.
                if let Some(Observed { t_ns, values, .. }) = Observed::of_line(&line) {
                    let first = values.keys().next().copied().unwrap_or_default();
                    shared.onlookers.sample(Origin::Machine, t_ns, first, &line);
                    shared.take(t_ns, values.into_iter());
                    continue;
                }
                match parse_line(&line) {
                    Ok(Some(Event::Sample(sample))) => shared.take(sample.t_ns, sample.metrics()),
                    Ok(Some(Event::Begin(begin))) => {
                        shared.lock().missing = Some(begin.missing);
                        shared.news.notify_all();
                    }
                    Ok(_) => {}
                    Err(error) => last_words = error.to_string(),
                }
            }
            Some(Happening::ErrorLine(line)) => last_words = String::from_utf8_lossy(&line).into_owned(),
            Some(Happening::Ended(exit)) => {
                let status = exit.map_or("killed by a signal".into(), |exit| format!("status {exit}"));
                let reason = if last_words.is_empty() { status } else { format!("{status}: {last_words}") };
                return shared.end(reason);
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

#[cfg(test)]
mod tests {
    use super::*;
    use stend_stand::host::Local;

    /// A stand says what it likes, for as long as a repeat lasts.
    #[test]
    fn one_that_prints_without_end_is_ended() {
        let flood = r#"while :; do echo '{"event":"sample","t_ns":1,"values":{"a":1}}'; done"#;
        let process = Local.start(&Command::new(["sh", "-c", flood])).unwrap();
        let shared = Shared::default();
        follow(process, &shared, 2 << 20);
        let mut state = shared.lock();
        assert_eq!(state.ended.as_deref(), Some("it printed more than 2 MiB in one repeat"));
        assert!(state.series.take(Origin::Machine)[0].values.len() < (3 << 20) / 40);
    }
}
