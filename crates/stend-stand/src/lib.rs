//! The machine under test: how it is reached, what it is, and what stend leaves there.

#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod bounded;
pub mod host;
pub mod hosts;
pub mod interrupt;
pub mod ledger;
pub mod lock;
pub mod machine;
pub mod owned;
pub mod socket;
