//! What a user changes of a suite without editing it.

use std::time::Duration;

use super::completions;
use clap::Args;
use stend_model::quantity::Span;
use stend_model::suite::Changes;

/// Options of the commands that take a suite.
#[derive(Debug, Clone, Args)]
pub(super) struct Changing {
    /// Set a variable of the suite or of a job file, or a setting of a server: rig.NAME=VALUE
    #[arg(long, value_name = "NAME=VALUE", value_parser = assignment)]
    set: Vec<(String, String)>,
    /// Multiply the suite's sizes and durations by this, 1 at most: 0.01 is a hundredth
    #[arg(long, value_name = "FACTOR", allow_negative_numbers = true)]
    scale: Option<f64>,
    /// Valid repeats of each scenario
    #[arg(short = 'r', long, visible_alias = "runs", value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    repeats: Option<u32>,
    /// Seed of the order of repeats
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Run only scenarios whose name contains this; may be given several times
    #[arg(long, value_name = "TEXT", add = completions::scenarios())]
    only: Vec<String>,
}

impl Changing {
    /// The changes, with a time budget of their own.
    pub(super) fn changes(&self, time_budget: Option<Duration>) -> Changes {
        Changes {
            variables: self.set.iter().cloned().collect(),
            scale: self.scale,
            repeats: self.repeats,
            seed: self.seed,
            time_budget: time_budget.map(Span),
            only: self.only.clone(),
            in_guest: false,
        }
    }
}

/// `NAME=VALUE` of a variable.
fn assignment(text: &str) -> Result<(String, String), String> {
    assigned(text, "lun_size=64MiB")
}

/// `NAME=VALUE`, as in the example.
pub(super) fn assigned(text: &str, example: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err(format!("write NAME=VALUE, for example {example}")),
    }
}
