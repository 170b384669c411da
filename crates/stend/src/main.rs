//! `stend` says what a machine is worth on the work that servers do.
//!
//! The way through the house, one direction, no way back: `suite → plan → run → journal → store → compare → report`. `docs/architecture.md` shows it.

mod catalogue;
mod cli;
mod compare;
mod host;
mod instrument;
mod machine;
mod report;
mod run;
mod store;
#[cfg(test)]
mod testing;

fn main() -> std::process::ExitCode {
    cli::main()
}
