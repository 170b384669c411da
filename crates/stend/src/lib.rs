//! `stend` says what a machine is worth on the work that servers do.
//!
//! The way through the house, one direction, no way back: `suite → plan → run → journal → store → compare → report`. `docs/design/architecture.md` shows it.

#![deny(clippy::print_stdout, clippy::print_stderr)]

/// Says something on standard error, like `eprintln!`; of the machine that this thread measures, where there are several.
macro_rules! talk {
    ($($words:tt)*) => { $crate::voice::say(format_args!($($words)*)) };
}

mod catalogue;
mod cli;
#[cfg(any(fuzzing, test))]
pub mod fuzzing;
mod voice;

/// The program, with the arguments of this process.
pub fn main() -> std::process::ExitCode {
    cli::main()
}
