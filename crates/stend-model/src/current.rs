//! A repeat that is being made, for whoever looks on.
//!
//! The process that measures keeps it in a file of its memory, which others find among its open files by [`NAME`]. The first line is a [`Current`]; each
//! further one is a letter for who observed it and a sample as it was printed ([`crate::wire`]), at most one a second. The file goes with the repeat or
//! the process. It is written whether anybody looks on or not, so a run that is watched is the run that nobody watches.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::plan::Phase;
use crate::run::Origin;

/// What the file is called: `/proc/PID/fd` has a link to `/memfd:NAME (deleted)`.
pub const NAME: &str = "stend-current-repeat";

/// The file is no larger, in bytes: hours of a large machine.
pub const MOST: u64 = 16 << 20;

/// Which repeat it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Current {
    /// Its place in the run, from 0.
    pub sequence: u32,
    /// The scenario's place in the suite.
    pub scenario: usize,
    /// Its number among the scenario's repeats of its phase, from 0.
    pub number: u32,
    /// Its side's place in the run, in a run with sides.
    pub side: Option<usize>,
    /// Whether it is to count.
    pub phase: Phase,
    /// When it began, by the lab's wall clock.
    pub started_at: Timestamp,
}

/// Begins a line with who observed its sample.
pub fn letter(origin: Origin) -> char {
    match origin {
        Origin::Instrument => 'i',
        Origin::Machine => 'm',
    }
}

/// Who observed the sample of a line, and the sample as it was printed.
pub fn sample(line: &str) -> Option<(Origin, &str)> {
    let of = |origin| Some((origin, line.strip_prefix(letter(origin))?));
    of(Origin::Instrument).or_else(|| of(Origin::Machine))
}
