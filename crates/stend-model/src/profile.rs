//! Where the time goes: what a profiler saw of a scenario, and what is computed from it.
//!
//! A profile is made after all repeats and counts for nothing. Kept is what was observed, folded stacks or counts of system calls;
//! shares and drawings are made on reading.

pub mod parts;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::cause::Cause;

/// What a profiler saw of one scenario.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    /// The scenario's name.
    pub scenario: String,
    /// When it was made.
    pub made_at: Timestamp,
    /// The instrument's command, as it was started under the profiler.
    pub command: Vec<String>,
    /// What was observed.
    pub observed: Observed,
    /// Why there is not more of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lacks: Vec<NotSeen>,
}

/// What was observed of a scenario.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Observed {
    /// Samples of what ran.
    Stacks(Stacks),
    /// Counts and times of system calls of the whole command, most time first.
    SystemCalls {
        /// One for each system call.
        calls: Vec<SystemCall>,
    },
    /// Nothing.
    Nothing,
}

/// Samples of all that the instrument started, by stack.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stacks {
    /// What a sample was taken by: `cycles`, or `cpu-clock` where the machine counts none.
    pub event: String,
    /// Samples asked for in a second of processor time.
    pub hertz: u32,
    /// Whether only the stretch that the instrument measures is in it. Otherwise its preparations are too.
    pub measured_stretch: bool,
    /// A line for each stack: `program;function;function 12`, the outermost first, and how many samples. A function of the kernel
    /// ends in `_[k]`.
    pub folded: String,
}

/// One system call, as often as it was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SystemCall {
    /// Its name.
    pub name: String,
    /// How often it was called.
    pub calls: u64,
    /// How often it failed.
    pub errors: u64,
    /// Time in it, waiting included.
    pub time_ns: u64,
}

/// Why something cannot be observed here.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NotSeen {
    /// The reason.
    pub why: Cause,
    /// What would change that, if it is known: a command, or an option.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
}

impl NotSeen {
    /// With what would change it, if that is known.
    pub fn new(why: Cause, remedy: Option<&str>) -> Self {
        Self { why, remedy: remedy.map(str::to_owned) }
    }
}
