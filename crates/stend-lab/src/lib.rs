//! Makes runs: repeats, gates, targets, faults, sides, profiles.

#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod convert;
pub mod profile;
pub mod rig;
pub mod run;
pub mod side;
