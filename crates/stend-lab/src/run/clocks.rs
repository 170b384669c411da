//! Asking a machine for the time over its link.

use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use serde::Deserialize;
use stend_model::clocks::{Comparison, Reading, RoundTrip};
use thiserror::Error;

use stend_stand::host::{Command, Happening, Host, HostError, Process};

/// So many questions, if there is time for them. The first ones also wait for the program to start.
const ROUND_TRIPS: usize = 16;
/// No more questions after so long: a far machine's round trips are few, and none of them gets better by waiting.
const LONGEST: Duration = Duration::from_secs(3);
/// A machine that does not answer a question for so long does not answer it.
const PATIENCE: Duration = Duration::from_secs(20);

/// Why a machine's clocks cannot be compared with this one's.
#[derive(Debug, Error)]
pub(super) enum ClockError {
    /// Nothing can be sent to `stend-probe`.
    #[error("it does not listen: {0}")]
    Deaf(#[source] std::io::Error),
    /// It says something else than the time.
    #[error("it says {said:?}")]
    Strange {
        /// What it says.
        said: String,
    },
    /// It has ended.
    #[error("stend-probe clock ended{}", .said.as_ref().map(|said| format!(": {said}")).unwrap_or_default())]
    Ended {
        /// What it said last, if it complained.
        said: Option<String>,
    },
    /// It says nothing.
    #[error("no answer within {} s", PATIENCE.as_secs())]
    Silent,
    /// This machine's clock was set meanwhile.
    #[error("this machine's clock went back meanwhile")]
    WentBack,
    /// It cannot be started.
    #[error(transparent)]
    Host(#[from] HostError),
}

/// What `stend-probe clock` prints. `event` is always `clock`.
#[derive(Deserialize)]
struct Answer {
    event: String,
    #[serde(flatten)]
    reading: Reading,
}

/// The machine's clocks beside this machine's; nothing where they are the same.
///
/// # Errors
/// It does not tell the time; why, in one line.
pub(super) fn compare(host: &dyn Host, probe: &str) -> Result<Option<Comparison>, ClockError> {
    if host.has_our_clocks() {
        return Ok(None);
    }
    let mut process = host.start(&Command::new([probe, "clock"]))?;
    let trips = ask(&mut *process);
    process.stop();
    let deadline = Instant::now() + PATIENCE;
    while !matches!(process.next(PATIENCE), Some(Happening::Ended(_)) | None) && Instant::now() < deadline {}
    let trips = trips?;
    Comparison::of(&trips).map(Some).ok_or(ClockError::WentBack)
}

fn ask(process: &mut dyn Process) -> Result<Vec<RoundTrip>, ClockError> {
    let began = Instant::now();
    let mut trips = Vec::new();
    while trips.len() < ROUND_TRIPS && (trips.is_empty() || began.elapsed() < LONGEST) {
        let asked = Reading { monotonic_ns: now(ClockId::Monotonic), realtime_ns: now(ClockId::Realtime) };
        process.send(b"\n").map_err(ClockError::Deaf)?;
        let there = answer(process)?;
        trips.push(RoundTrip { asked, there, answered_ns: now(ClockId::Monotonic) });
    }
    Ok(trips)
}

fn answer(process: &mut dyn Process) -> Result<Reading, ClockError> {
    let mut complaint = None;
    loop {
        match process.next(PATIENCE) {
            Some(Happening::Line(line)) => match serde_json::from_slice::<Answer>(&line) {
                Ok(answer) if answer.event == "clock" => return Ok(answer.reading),
                _ => return Err(ClockError::Strange { said: String::from_utf8_lossy(&line).into_owned() }),
            },
            Some(Happening::ErrorLine(line)) => complaint = Some(String::from_utf8_lossy(&line).into_owned()),
            Some(Happening::Ended(_)) => return Err(ClockError::Ended { said: complaint }),
            None => return Err(ClockError::Silent),
        }
    }
}

/// A clock of this machine, in nanoseconds.
fn now(clock: ClockId) -> i64 {
    let time = clock_gettime(clock);
    time.tv_sec.saturating_mul(1_000_000_000).saturating_add(time.tv_nsec)
}
