//! The nouns of `stend`, as Rust types.
//!
//! Everything here is a value: parsing text into it, checking it, and turning it into JSON. No file is opened, no
//! program started, no clock read. The JSON Schemas in `docs/` and `suites/` are generated from these types.
//!
//! | module | noun |
//! |---|---|
//! | [`wire`] | what an instrument prints: one JSON event a line |
//! | [`quantity`] | sizes, durations and shares as people write them |
//! | [`metric`] | what is computed from a repeat, its unit, and which way is better |
//! | [`suite`] | scenarios in a TOML file, and the concrete scenarios that they expand to |
//! | [`position`] | what is wrong with a text, and where |
//! | [`plan`] | the order in which the repeats of a run are made |
//! | [`machine`] | the fingerprint of the machine under test |
//! | [`run`] | a run, its sessions, repeats and sample series |
//! | [`current`] | a repeat that is being made, for whoever looks on |
//! | [`cause`] | why a repeat does not count, or was not measured |
//! | [`checked`] | what was checked of a repeat's work |
//! | [`condition`] | what a machine is like just before it is measured |
//! | [`conformance`] | what the tests of a project's own suite came to |
//! | [`carried`] | a run on a machine that no lab reaches: its plan and its result |
//! | [`clocks`] | the clocks of two machines beside each other |
//! | [`latency`] | how many operations of a repeat took how long |
//! | [`side`] | one of two configurations that a run measures in turns |
//! | [`image`] | what is installed on the disk that a virtual machine boots from |
//! | [`target`] | the storage that is set up for a run and loaded by it |
//! | [`public`] | a run as it may be published |
//! | [`reference`](mod@reference) | published figures of machines that are out of reach |
//! | [`record`] | a run with all that belongs to it, and its line in a list |
//! | [`profile`] | where the time of a scenario goes |
//! | [`dips`], [`steady`] | what faults did to a load; whether warm-ups were steady |
//! | [`nearest`], [`plain`] | the name that somebody may have meant; text that a terminal may be given |
//! | [`weight`] | what machines cost and draw, given by hand |

#![warn(missing_docs)]

pub mod carried;
pub mod cause;
pub mod checked;
pub mod clocks;
pub mod condition;
pub mod conformance;
pub mod current;
pub mod dips;
pub mod identity;
pub mod image;
pub mod latency;
pub mod machine;
pub mod metric;
pub mod nearest;
pub mod picture;
pub mod plain;
pub mod plan;
pub mod position;
pub mod profile;
pub mod public;
pub mod quantity;
pub mod record;
pub mod reference;
pub mod run;
pub mod server;
pub mod side;
pub mod steady;
pub mod suite;
pub mod target;
pub mod weight;
pub mod wire;
