//! What is sampled of the repeat that is being made, shown to other processes ([`stend_model::current`]).

use std::collections::HashMap;
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
    /// When the last sample was observed that is shown, of each metric that begins a line.
    last_ns: HashMap<String, i64>,
}

impl Onlookers {
    /// A repeat begins.
    pub(super) fn begin(&self, current: &Current) {
        let begin = || -> std::io::Result<Shown> {
            // Closed in whatever is started: nothing that is measured has it.
            let file = File::from(memfd_create(NAME, MemfdFlags::CLOEXEC)?);
            let mut shown = Shown { file, written: 0, last_ns: HashMap::new() };
            shown.write(&serde_json::to_string(current)?)?;
            Ok(shown)
        };
        *self.lock() = begin().ok();
    }

    /// It has ended.
    pub(super) fn end(&self) {
        *self.lock() = None;
    }

    /// Shows a sample, as it was printed: a line that begins with this metric.
    pub(super) fn sample(&self, origin: Origin, t_ns: i64, metric: &str, line: &str) {
        if let Some(shown) = &mut *self.lock() {
            let last = shown.last_ns.get(metric);
            if shown.written < MOST && last.is_none_or(|last| t_ns >= last.saturating_add(EACH_NS)) {
                shown.last_ns.insert(metric.to_owned(), t_ns);
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

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Seek as _};

    use stend_model::current::sample;
    use stend_model::plan::Phase;

    use super::*;

    #[test]
    fn each_metric_is_shown_once_a_second() {
        let onlookers = Onlookers::default();
        // Before a repeat there is nothing to be shown of it.
        onlookers.sample(Origin::Machine, 0, "early", "early");
        let started_at = "2026-11-27T10:00:00Z".parse().unwrap();
        let current = Current { sequence: 4, scenario: 1, number: 2, side: None, phase: Phase::Measured, started_at };
        onlookers.begin(&current);
        for t_ns in (0..=3_000_000_000).step_by(250_000_000) {
            // An instrument may print each metric with a time of its own.
            onlookers.sample(Origin::Instrument, t_ns, "a", &format!("a {t_ns}"));
            onlookers.sample(Origin::Instrument, t_ns + 1000, "b", &format!("b {t_ns}\n"));
        }
        let mut text = String::new();
        {
            let mut shown = onlookers.lock();
            let file = &mut shown.as_mut().unwrap().file;
            file.rewind().unwrap();
            file.read_to_string(&mut text).unwrap();
        }
        let mut lines = text.lines();
        assert_eq!(serde_json::from_str::<Current>(lines.next().unwrap()).unwrap(), current);
        let shown: Vec<_> = lines.map(|line| sample(line).unwrap()).collect();
        let wanted: Vec<_> =
            (0..=3).flat_map(|s: u64| ["a", "b"].map(|name| format!("{name} {}", s * 1_000_000_000))).collect();
        assert!(
            shown
                .iter()
                .map(|(origin, line)| (*origin, *line))
                .eq(wanted.iter().map(|line| (Origin::Instrument, line.as_str()))),
            "{shown:?}"
        );
        onlookers.end();
        assert!(onlookers.lock().is_none());
    }
}
