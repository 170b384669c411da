//! A run with all that belongs to it, as it is stored and read, and its line in a list of runs.

use schemars::JsonSchema;
use serde::Serialize;

use crate::condition::Condition;
use crate::profile::Profile;
use crate::run::{Repeat, Run, RunState, Session};

/// The version of what `--json` prints; it grows when something that was there changes its meaning.
pub const JSON_VERSION: u32 = 1;

/// A run with all that belongs to it.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// The run.
    pub run: Run,
    /// Its sessions, in order.
    pub sessions: Vec<Session>,
    /// Its repeats, in the order in which they were made.
    pub repeats: Vec<Repeat>,
    /// Where the time goes, in the suite's order; for the scenarios that were profiled.
    pub profiles: Vec<Profile>,
    /// The reports of real tools as they came, by their repeats' sequence numbers; only where all of the run was asked for.
    pub own_reports: Vec<(u32, String)>,
}

impl Record {
    /// A run of which nothing is made yet.
    pub fn empty(run: Run) -> Self {
        Self { run, sessions: Vec::new(), repeats: Vec::new(), profiles: Vec::new(), own_reports: Vec::new() }
    }

    /// What emulated the machine, or any build that was measured on it, if anything did: by the fingerprint, or by what an instrument said when
    /// it began. Such figures say nothing of speed.
    pub fn emulator(&self) -> Option<&str> {
        let said = || self.repeats.iter().find_map(|repeat| repeat.begin.as_ref()?.build.get("emulator"));
        self.run.machine.software.emulator.as_ref().or_else(said).map(String::as_str)
    }

    /// What made the machine unfit in any session, measured all the same; each once, as it was at its worst.
    pub fn unfit_conditions(&self) -> Vec<Condition> {
        let mut conditions: Vec<Condition> = Vec::new();
        for condition in self.sessions.iter().flat_map(|session| &session.conditions) {
            match conditions.iter_mut().find_map(|other| Some((condition.excess_over(other)?, other))) {
                Some((excess, other)) if excess > 0.0 => *other = condition.clone(),
                Some(_) => {}
                None => conditions.push(condition.clone()),
            }
        }
        conditions
    }
}

/// What a run was made for. Only an ordinary one stands for its machine where nothing else is said.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A suite, measured once.
    #[default]
    Run,
    /// Two sides of one machine, measured in turns.
    Ab,
}

impl Kind {
    /// Of this run.
    pub fn of(run: &Run) -> Self {
        if run.sides.is_empty() { Self::Run } else { Self::Ab }
    }

    /// As it is stored.
    pub fn word(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Ab => "ab",
        }
    }

    /// By the word that is stored; an unknown one is an ordinary run's.
    pub fn of_word(word: &str) -> Self {
        if word == Self::Ab.word() { Self::Ab } else { Self::Run }
    }
}

/// One line of `stend list`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Summary {
    /// The run's id.
    pub id: String,
    /// What a person calls it.
    pub label: Option<String>,
    /// When it began, RFC 3339.
    pub started_at: String,
    /// When it ended last, RFC 3339.
    pub finished_at: Option<String>,
    /// None where it is damaged: then nothing but the id is certain.
    pub state: Option<RunState>,
    /// The suite's name.
    pub suite: String,
    /// How the machine was reached.
    pub host: String,
    /// The machine's name.
    pub machine: String,
    /// The hardware's id.
    pub hardware_id: String,
    /// The software's id.
    pub software_id: String,
    /// How many scenarios the suite has.
    pub scenarios: u32,
    /// Measured repeats that count.
    pub valid: u32,
    /// Measured repeats that a gate or the verification refused.
    pub invalid: u32,
    /// Repeats that measured nothing.
    pub failed: u32,
    /// What it was made for.
    pub kind: Kind,
}

impl Summary {
    /// Whether nothing more will be added to it.
    pub fn is_finished(&self) -> bool {
        self.state == Some(RunState::Finished)
    }

    /// Whether it stands for its machine beside other runs.
    pub fn is_ordinary(&self) -> bool {
        self.is_finished() && self.kind == Kind::Run
    }
}
