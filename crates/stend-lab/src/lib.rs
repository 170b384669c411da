//! Makes runs: repeats, gates, targets, faults, sides, profiles.

#![allow(missing_docs, reason = "used by this workspace alone")]
#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod profile;
pub mod rig;
pub mod run;
pub mod side;
