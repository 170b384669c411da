//! Where the time goes: what a profiler saw of a scenario, and what is computed from it.
//!
//! A profile is made after all repeats and counts for nothing. Kept is what was observed, folded stacks or counts of system calls;
//! shares and drawings are made on reading.

pub(crate) mod parts;
pub(crate) mod perf;
pub(crate) mod strace;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use stend_model::cause::Cause;

use crate::language::Language;
use crate::words;

/// What a profiler saw of one scenario.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Profile {
    /// The scenario's name.
    pub(crate) scenario: String,
    /// When it was made.
    pub(crate) made_at: Timestamp,
    /// The instrument's command, as it was started under the profiler.
    pub(crate) command: Vec<String>,
    /// What was observed.
    pub(crate) observed: Observed,
    /// Why there is not more of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) lacks: Vec<Lack>,
}

/// What was observed of a scenario.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub(crate) enum Observed {
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
pub(crate) struct Stacks {
    /// What a sample was taken by: `cycles`, or `cpu-clock` where the machine counts none.
    pub(crate) event: String,
    /// Samples asked for in a second of processor time.
    pub(crate) hertz: u32,
    /// Whether only the stretch that the instrument measures is in it. Otherwise its preparations are too.
    pub(crate) measured_stretch: bool,
    /// A line for each stack: `program;function;function 12`, the outermost first, and how many samples. A function of the kernel
    /// ends in `_[k]`.
    pub(crate) folded: String,
}

/// One system call, as often as it was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SystemCall {
    /// Its name.
    pub(crate) name: String,
    /// How often it was called.
    pub(crate) calls: u64,
    /// How often it failed.
    pub(crate) errors: u64,
    /// Time in it, waiting included.
    pub(crate) time_ns: u64,
}

/// Why something cannot be observed here.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Lack {
    pub(crate) why: Cause,
    /// What would change that, if it is known: a command, or an option.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) remedy: Option<String>,
}

impl Lack {
    pub(crate) fn new(why: Cause, remedy: Option<&str>) -> Self {
        Self { why, remedy: remedy.map(str::to_owned) }
    }
}

impl std::fmt::Display for Lack {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&words::cause(&self.why, Language::English))?;
        self.remedy.iter().try_for_each(|remedy| write!(f, "; to have it: {remedy}"))
    }
}

/// What a tool says is wrong: the first line that says something.
fn complaint(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && *line != "Error:");
    lines.map(str::to_owned).next().unwrap_or_else(|| "it does not say why".into())
}
