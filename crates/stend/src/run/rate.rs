//! The rate of an open load, from what another scenario of the run has reached.

use std::borrow::Cow;

use stend_model::run::Repeat;
use stend_model::suite::{Scenario, Suite};

/// The parameter that instruments take a rate by.
const PARAMETER: &str = "rate_iops";

/// The scenario with the rate that its share comes to, from the repeats of its side that there are. The instrument reports it among its parameters.
///
/// # Errors
/// The scenario that it is a share of has no repeat that counts.
pub(super) fn applied<'a>(
    suite: &Suite,
    scenario: &'a Scenario,
    side: Option<usize>,
    repeats: &[Repeat],
) -> Result<Cow<'a, Scenario>, String> {
    let Some(rate) = &scenario.rate else { return Ok(Cow::Borrowed(scenario)) };
    let reached: Vec<_> = repeats
        .iter()
        .filter(|repeat| suite.scenarios[repeat.scenario].name == rate.of && repeat.side == side && repeat.counts())
        .filter_map(|repeat| repeat.report.as_ref())
        .filter_map(|report| Some(report.work.get("operations")? / (report.wall_ns as f64 * 1e-9)))
        .collect();
    let ceiling = stend_stats::median(&reached)
        .ok_or_else(|| format!("its rate is a share of \"{}\", which has no repeat that counts", rate.of))?;
    let wanted = (ceiling * rate.share.0).round().max(1.0);
    let mut scenario = scenario.clone();
    scenario.parameters.insert(PARAMETER.into(), format!("{wanted}"));
    Ok(Cow::Owned(scenario))
}
