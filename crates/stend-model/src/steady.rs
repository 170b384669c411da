//! Whether a scenario's warm-ups were steady when it was measured.

use std::collections::{BTreeMap, BTreeSet};

use crate::plan::Phase;
use crate::run::{Outcome, Repeat};
use crate::suite::{Scenario, Suite};
use stend_stats::{SteadyRule, SteadyState, steady_state_by};

/// How the last rounds of a session stand; `None` as long as there are too few of them, or for a scenario that asks for no steadiness.
///
/// Rounds that a gate would make invalid are rounds all the same: they are what happened to the target. Rounds of another session are not:
/// a run's files are removed when it is interrupted.
pub fn state(scenario: &Scenario, repeats: &[&Repeat], session: u32) -> Option<SteadyState> {
    let steady = scenario.steady?;
    let metric = scenario.metrics.first()?;
    let rounds: Vec<_> = repeats
        .iter()
        .filter(|repeat| repeat.phase == Phase::Warmup && repeat.session == session)
        .filter(|repeat| !matches!(repeat.outcome, Outcome::Failed(_)))
        .filter_map(|repeat| repeat.value(metric))
        .collect();
    let rule = SteadyRule { rounds: steady.rounds as usize, range: steady.range.0, drift: steady.slope.0 };
    steady_state_by(&rounds, &rule)
}

/// The scenarios that were measured although they never got steady, each with how its last rounds stood, as far as there were enough.
pub fn never_steady<'a>(suite: &'a Suite, repeats: &[Repeat]) -> BTreeMap<&'a str, Option<SteadyState>> {
    let mut unsteady = BTreeMap::new();
    for (place, scenario) in suite.scenarios.iter().enumerate().filter(|(_, scenario)| scenario.steady.is_some()) {
        let of_it: Vec<_> = repeats.iter().filter(|repeat| repeat.scenario == place).collect();
        let measured: BTreeSet<_> =
            of_it.iter().filter(|repeat| repeat.counts()).map(|repeat| repeat.session).collect();
        let states = measured.into_iter().map(|session| state(scenario, &of_it, session));
        if let Some(state) = states.into_iter().find(|state| state.is_none_or(|state| !state.steady)) {
            unsteady.insert(scenario.name.as_str(), state);
        }
    }
    unsteady
}
