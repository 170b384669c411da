//! A run on a machine that no lab reaches: the plan that is carried there, and the result that is carried back. `docs/guide/hosts.md` explains
//! both to people.
//!
//! `stend-probe run` reads the plan, and gives it back in the first line of the result. It takes from it what it needs to start commands;
//! what the figures mean, it does not know.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::plan::Phase;
use crate::run::Skipped;
use crate::suite::Suite;
use crate::wire::{Begin, Sample};

/// The version of the plan that this crate writes.
pub const PLAN_VERSION: u32 = 1;

/// The version of the result that this crate reads.
pub const RESULT_VERSION: u32 = 1;

/// What is to be done on a machine that no lab reaches.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CarriedPlan {
    /// Version of this format: 1.
    pub plan: u32,
    /// Version of `stend` that wrote it.
    pub stend_version: String,
    /// The suite, with everything filled in. Gates and metrics in it are the lab's business.
    #[schemars(with = "BTreeMap<String, serde_json::Value>")]
    pub suite: Suite,
    /// The seed of the order.
    pub seed: u64,
    /// Scenarios that are left out, and why.
    pub skipped: Vec<Skipped>,
    /// Samples of the machine a second; 0: none.
    #[schemars(range(max = 100))]
    pub sample_hertz: u32,
    /// A scenario that failed so often in a row is given up.
    pub most_failures_in_a_row: u32,
    /// What the machine is asked first.
    pub questions: Vec<Question>,
    /// What applies each scenario's load.
    pub commands: Vec<Load>,
    /// Repeats, in the order in which they are to be made.
    pub steps: Vec<CarriedStep>,
}

/// A command whose output makes the machine's fingerprint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Question {
    /// Its name.
    pub name: String,
    /// Where it runs.
    pub directory: String,
    /// Its words.
    #[schemars(length(min = 1))]
    pub words: Vec<String>,
    /// After so long it is ended, in nanoseconds.
    pub timeout_ns: u64,
}

/// What applies a scenario's load once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Load {
    /// The scenario's name.
    pub scenario: String,
    /// The words are a command of `stend-probe`.
    pub by_probe: bool,
    /// The command's words.
    #[schemars(length(min = 1))]
    pub words: Vec<String>,
    /// Programs that it needs beside itself.
    pub needs: Vec<String>,
    /// The fewest processors that must be online.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processors: Option<u32>,
    /// After so long it is ended, in nanoseconds.
    pub timeout_ns: u64,
}

/// One repeat to be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CarriedStep {
    /// The command's place among the commands, from 0.
    pub command: usize,
    /// Whether it counts.
    pub phase: Phase,
    /// Its number among the scenario's repeats of its phase, from 0.
    pub number: u32,
}

/// A line of a result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", rename_all = "lowercase")]
pub enum ResultLine {
    /// The first line: what was to be done, and who did it.
    Plan {
        /// Version of this format: 1.
        result: u32,
        /// The run's id.
        run: String,
        /// When it began, by the machine's wall clock, in nanoseconds since 1970.
        realtime_ns: i64,
        /// Version of `stend-probe`.
        version: String,
        /// What `stend-probe` was built with.
        #[serde(default)]
        build: BTreeMap<String, String>,
        /// The plan.
        plan: Box<CarriedPlan>,
    },
    /// What the machine said to a question.
    Answer {
        /// The question's name.
        question: String,
        /// Whether it ended by itself.
        in_time: bool,
        /// Its exit status; 128 and the signal's number if one ended it.
        exit: i32,
        /// Its standard output.
        output: String,
        /// Its standard error.
        error_output: String,
    },
    /// A command that cannot be started here.
    Skipped {
        /// Its place among the plan's commands.
        command: usize,
        /// The program that is missing.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        program: Option<String>,
        /// How many processors are online, where those are too few.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        online: Option<u32>,
    },
    /// From here on repeats belong to this session.
    Session {
        /// Its number in the run, from 0.
        session: u32,
        /// When it began, by the machine's wall clock, in nanoseconds since 1970.
        realtime_ns: i64,
        /// And by its `CLOCK_MONOTONIC`, in nanoseconds.
        monotonic_ns: i64,
        /// The kernel's boot id, where it has one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        boot_id: Option<String>,
        /// The sampler's first event.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sampler: Option<Begin>,
    },
    /// The load was applied once, whatever came of it.
    Attempt {
        /// Its place among the plan's steps.
        step: usize,
        /// Its session.
        session: u32,
        /// When it began, by the machine's wall clock, in nanoseconds since 1970.
        realtime_ns: i64,
        /// Whether the guard ended by itself.
        in_time: bool,
        /// The guard's exit status, which is the command's.
        exit: i32,
        /// Standard output of the command, with the guard's event `usage`.
        output: String,
        /// Their standard error.
        error_output: String,
        /// What the sampler saw meanwhile.
        #[serde(default)]
        samples: Vec<Sample>,
    },
    /// Nothing more is added for now.
    Finished {
        /// When, by the machine's wall clock, in nanoseconds since 1970.
        realtime_ns: i64,
        /// Whether every step was made that can be.
        complete: bool,
    },
}
