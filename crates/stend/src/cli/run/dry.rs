//! `stend run --dry-run`: what would be done.

use stend_model::side::Side;
use stend_model::suite::Suite;

use crate::cli::failure::Failure;
use crate::cli::output;
use crate::host::Host;
use crate::host::stand::Compiler;
use crate::language::english_plural;
use crate::run::{plan, prepare};
use crate::side;

/// Prints the plan of a suite on a machine. Sides that name no compiler are built by the usual one.
pub(super) fn print(host: &dyn Host, suite: Suite, sides: Vec<Side>, usual: &Compiler) -> Result<(), Failure> {
    use std::fmt::Write as _;
    let skipped = prepare::skipped(host, &suite, &sides);
    let left_out = |name: &str| skipped.iter().find(|skipped| skipped.scenario == name);
    let plan = plan(&suite, &sides, suite.seed.unwrap_or(0), &skipped);
    let mut text = format!("{}: {}\n", suite.name, suite.title);
    let work = prepare::work_directory(host).map_err(Failure::unusable)?;
    let foreseen = side::foreseen(host, &work, usual, &sides);
    let foreseen = foreseen.map_err(|reason| Failure::unusable(format!("--ab: {reason}")))?;
    for (side, lines) in sides.iter().zip(foreseen) {
        let _ = writeln!(text, "side {}", side.in_full());
        for line in lines {
            let _ = writeln!(text, "      {line}");
        }
    }
    let repeats = if sides.is_empty() { ["repeat", "repeats"] } else { ["pair of repeats", "pairs of repeats"] };
    for scenario in &suite.scenarios {
        let in_a_line = |value: &str| value.lines().map(str::trim).collect::<Vec<_>>().join("; ");
        let parameters: Vec<_> =
            scenario.parameters.iter().map(|(name, value)| format!("{name}={}", in_a_line(value))).collect();
        let state =
            left_out(&scenario.name).map(|skipped| format!(" (skipped: {})", skipped.reason)).unwrap_or_default();
        let _ = writeln!(
            text,
            "  {}{state}\n      {} {} · {}",
            scenario.name,
            scenario.instrument,
            parameters.join(" "),
            english_plural(scenario.repeats as usize, repeats[0], repeats[1])
        );
    }
    let _ = writeln!(text, "{} in all, warm-ups included", english_plural(plan.len(), "repeat", "repeats"));
    output::print(&text)?;
    Ok(())
}
