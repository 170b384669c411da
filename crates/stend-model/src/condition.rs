//! What a machine is found to be like just before it is measured. These are facts, as [causes](crate::cause) are.

#![allow(missing_docs, reason = "the fields are named after what they hold, and the variants say the rest")]

use std::mem::discriminant;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cause::Cause;

/// One thing that was looked at. Shares are of one, frequencies in Hz, amounts in bytes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "condition", rename_all = "snake_case")]
pub enum Condition {
    /// The machine could not be asked.
    Machine {
        said: String,
    },
    /// The load average over the last minute.
    Load {
        average: f64,
        threads: u32,
    },
    /// How much of the machine's CPU time programs used while `stend` looked, beyond how much repeats do not count, and the names of those
    /// that used most of it where that is too much.
    ForeignLoad {
        share: f64,
        limit: Option<f64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        said: Option<String>,
    },
    /// How much of it the hypervisor took away.
    Steal {
        share: f64,
        limit: Option<f64>,
    },
    /// For how much of the last ten seconds something waited.
    Pressure {
        resource: Resource,
        share: f64,
    },
    /// What lies in swap, and how many pages went there or came back while `stend` looked.
    Swap {
        used: u64,
        total: u64,
        pages: u64,
    },
    /// Memory that programs can have.
    FreeMemory {
        available: u64,
        total: u64,
    },
    /// Space for the runs that are kept.
    ResultsSpace {
        available: u64,
        mount: String,
    },
    /// Space for the files of the load: what those in `directory` need, if that is known, and whether a job file names them.
    LoadSpace {
        available: u64,
        mount: String,
        directory: String,
        needed: u64,
        job_file: bool,
    },
    /// Runs cannot be kept there.
    ResultsUnwritable {
        path: String,
    },
    /// The load cannot have its files there.
    LoadUnwritable {
        path: String,
    },
    /// By what the clock is governed; none where that is not to be seen.
    Governor {
        governors: Vec<String>,
    },
    /// How high the clock may go, and could.
    FrequencyLimit {
        allowed_hz: f64,
        possible_hz: f64,
    },
    /// Whether the clock goes beyond its nominal frequency; empty where that is not to be seen.
    Turbo {
        setting: String,
    },
    /// How often a processor was slowed down for its heat, since the machine started or while `stend` looked.
    Throttling {
        times: u64,
        just_now: bool,
    },
    /// The machine does not count how often.
    ThrottlingUncounted,
    /// Where temperatures are read.
    TemperatureSensors {
        names: Vec<String>,
    },
    /// Whether the machine runs on its battery.
    Power {
        battery: bool,
    },
    /// Hardware threads that may be used.
    Processors {
        allowed: u32,
        online: u32,
    },
    /// What the kernel reads the time from.
    ClockSource {
        name: String,
    },
    /// The hypervisor, or what emulates the machine; empty where there is no sign of any.
    Virtualization {
        by: String,
        known: bool,
    },
    HugePages {
        setting: String,
    },
    /// `kernel.randomize_va_space`: `off`, `partial` (stack and libraries), `full`, or its number.
    AddressRandomization {
        setting: String,
    },
    /// No other lab builds or measures here.
    OtherLabs,
    /// Another lab does, or whether it does cannot be found out.
    LabAtWork {
        said: String,
    },
    /// Its lock's file is there, and nothing that could tell who holds it.
    LabUnknown {
        path: String,
    },
    /// This could not be looked at.
    Unread {
        of: Topic,
        why: Cause,
    },
}

impl Condition {
    /// What it is of, if it says so, and how much was found, where more is worse.
    fn amount(&self) -> Option<(Option<Resource>, f64)> {
        match *self {
            Self::Load { average, .. } => Some((None, average)),
            Self::ForeignLoad { share, .. } | Self::Steal { share, .. } => Some((None, share)),
            Self::Pressure { resource, share } => Some((Some(resource), share)),
            _ => None,
        }
    }

    /// By how much there was more of the same here; none where something else is said.
    pub fn excess_over(&self, other: &Self) -> Option<f64> {
        match (self.amount(), other.amount()) {
            (Some((of, own)), Some((of_other, its))) => {
                (discriminant(self) == discriminant(other) && of == of_other).then_some(own - its)
            }
            _ => (self == other).then_some(0.0),
        }
    }
}

/// What programs wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Resource {
    Cpu,
    Io,
    Memory,
}

/// What could not be looked at: the tag of its condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Topic {
    Load,
    ForeignLoad,
    Pressure,
    FreeMemory,
    ResultsSpace,
    LoadSpace,
    ClockSource,
    HugePages,
    AddressRandomization,
}
