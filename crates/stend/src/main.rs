//! `stend` says what a machine is worth on the work that servers do.
//!
//! The way through the house, one direction, no way back: `suite → plan → run → journal → store → compare → report`. `docs/architecture.md` shows it.

/// Says something on standard error, like `eprintln!`. That nobody listens any more is no reason to end a run.
macro_rules! talk {
    ($($words:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!(std::io::stderr(), $($words)*);
    }};
}

mod catalogue;
mod cli;
mod compare;
mod dips;
mod history;
mod host;
mod instrument;
mod language;
mod lock;
mod machine;
mod nearest;
mod noise;
mod profile;
mod report;
mod run;
mod side;
mod steady;
mod store;
mod target;
#[cfg(test)]
mod testing;

fn main() -> std::process::ExitCode {
    cli::main()
}
