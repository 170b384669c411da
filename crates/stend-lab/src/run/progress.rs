//! How each scenario of a run stands, from the repeats that there are.

use std::collections::BTreeMap;

use stend_model::plan::{Half, MOST_FAILURES_IN_A_ROW, Phase, Plan, Progress, SIDES};
use stend_model::run::{Outcome, Repeat, Run, Skipped};
use stend_model::side::{Side, pairs};
use stend_model::suite::{Scenario, Suite};
use stend_stats::precision_reached;

use super::refused_for_good;
use stend_model::steady;

/// The plan of a run, in pairs if it has sides.
pub fn plan(suite: &Suite, sides: &[Side], seed: u64, skipped: &[Skipped]) -> Plan {
    let is_skipped = |place: usize| skipped.iter().any(|skipped| skipped.scenario == suite.scenarios[place].name);
    if sides.is_empty() { Plan::new(suite, seed, is_skipped) } else { Plan::in_pairs(suite, seed, is_skipped) }
}

/// How each scenario stands, for a session. What was prepared in another session is gone: the run's files are removed at the end of each.
/// What failed prepared nothing, and is tried again.
pub fn progress(run: &Run, repeats: &[Repeat], session: u32) -> Vec<Progress> {
    let mut of_scenarios = vec![Vec::new(); run.suite.scenarios.len()];
    for repeat in repeats {
        of_scenarios[repeat.scenario].push(repeat);
    }
    let mut progress = Vec::new();
    for (place, of_it) in of_scenarios.iter().enumerate() {
        let mut standing = Progress::default();
        if run.sides.is_empty() {
            standing = of_repeats(run, place, of_it, session);
        } else {
            for side in 0..SIDES {
                let of_side: Vec<_> = of_it.iter().copied().filter(|repeat| repeat.side == Some(side)).collect();
                let other = of_repeats(run, place, &of_side, session);
                let first = side == 0;
                standing.settled = other.settled && (first || standing.settled);
                standing.steady = other.steady && (first || standing.steady);
                standing.failures_in_a_row = standing.failures_in_a_row.max(other.failures_in_a_row);
            }
            count_pairs(&mut standing, &run.suite.scenarios[place], of_it, session);
            standing.valid = pairs(repeats, place).len() as u32;
        }
        progress.push(standing);
    }
    // Nothing comes between the two of a pair, so only the last of all repeats can be without its partner still.
    if let (false, Some(last)) = (run.sides.is_empty(), repeats.last()) {
        let standing = &mut progress[last.scenario];
        if standing.failures_in_a_row < MOST_FAILURES_IN_A_ROW {
            standing.half = half(&run.suite.scenarios[last.scenario], &of_scenarios[last.scenario], last, session);
        }
    }
    progress
}

/// How the repeats of a scenario stand that all are of one side, or of none.
fn of_repeats(run: &Run, place: usize, of_it: &[&Repeat], session: u32) -> Progress {
    let scenario = &run.suite.scenarios[place];
    let mut standing = Progress::default();
    for repeat in of_it {
        match repeat.phase {
            Phase::Warmup if is_lost(scenario, repeat, session) => standing.lost_warmups += 1,
            Phase::Warmup => standing.warmups += 1,
            Phase::Measured => standing.attempts += 1,
        }
        standing.valid += u32::from(repeat.counts());
        standing.failures_in_a_row = match repeat.outcome {
            _ if refused_for_good(&run.suite, repeat).is_some() => MOST_FAILURES_IN_A_ROW,
            Outcome::Failed(_) => standing.failures_in_a_row + 1,
            _ => 0,
        };
    }
    standing.steady = steady::state(scenario, of_it, session).is_some_and(|state| state.steady);
    if let (Some(precision), Some(metric)) = (scenario.precision, scenario.metrics.first()) {
        let values: Vec<_> =
            of_it.iter().filter(|repeat| repeat.counts()).filter_map(|repeat| repeat.value(metric)).collect();
        standing.settled = precision_reached(&values, precision.0);
    }
    standing
}

/// Whether a warm-up's effect is gone, or there was none.
fn is_lost(scenario: &Scenario, repeat: &Repeat, session: u32) -> bool {
    let prepares = scenario.is_precondition() || scenario.steady.is_some();
    prepares && (matches!(repeat.outcome, Outcome::Failed(_)) || repeat.session != session)
}

/// Counts the pairs that were begun, each by its number. What one of the two has lost, the pair has lost.
fn count_pairs(standing: &mut Progress, scenario: &Scenario, of_it: &[&Repeat], session: u32) {
    let mut warmups = BTreeMap::new();
    let mut attempts = 0;
    for repeat in of_it {
        match repeat.phase {
            Phase::Warmup => *warmups.entry(repeat.number).or_insert(false) |= is_lost(scenario, repeat, session),
            Phase::Measured => attempts = attempts.max(repeat.number + 1),
        }
    }
    standing.attempts = attempts;
    standing.lost_warmups = warmups.values().filter(|lost| **lost).count() as u32;
    standing.warmups = warmups.len() as u32 - standing.lost_warmups;
}

/// The pair that lacks its second repeat. One whose first does not count is lost already, and so is one that an interruption tore: its two would be
/// no neighbours.
fn half(scenario: &Scenario, of_it: &[&Repeat], last: &Repeat, session: u32) -> Option<Half> {
    let side = last.side?;
    let partner = |repeat: &&&Repeat| (repeat.phase, repeat.number) == (last.phase, last.number);
    let is_worth_it = match last.phase {
        Phase::Warmup => !is_lost(scenario, last, session),
        // How a test suite ends on one side says nothing of the other, and both are wanted.
        Phase::Measured => (last.counts() || scenario.instrument.runs_tests()) && last.session == session,
    };
    let alone = of_it.iter().filter(partner).count() == 1;
    (is_worth_it && alone).then(|| Half { number: last.number, phase: last.phase, missing: SIDES - 1 - side })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use stend_model::plan::Step;

    use super::*;

    /// A run of two sides and so many repeats of its two scenarios, of which nothing is made.
    fn run_of(order: &str, repeats: u32, seed: u64) -> Run {
        let mut run = stend_testing::record("20261121-0555-3f9a", &[]).run;
        run.suite.order = serde_json::from_value(order.into()).unwrap();
        run.suite.scenarios.iter_mut().for_each(|scenario| scenario.repeats = repeats);
        run.sides = vec!["".parse().unwrap(), "env.A=1".parse().unwrap()];
        run.seed = seed;
        run
    }

    fn made(run: &Run, step: Step, sequence: usize, session: u32, outcome: Outcome) -> Repeat {
        let Step { scenario, number, side, phase } = step;
        assert!(scenario < run.suite.scenarios.len());
        Repeat { side, phase, session, outcome, ..stend_testing::repeat(sequence as u32, scenario, number, 1.0) }
    }

    /// Goes on with a run; `happens` says what comes of each repeat, and before which the lab is killed.
    fn go_on(run: &Run, mut happens: impl FnMut(usize, Step) -> (Outcome, bool)) -> Vec<Repeat> {
        let plan = plan(&run.suite, &run.sides, run.seed, &run.skipped);
        let mut repeats = Vec::new();
        let mut session = 0;
        while let Some(step) = plan.next(&progress(run, &repeats, session), false) {
            let (outcome, killed) = happens(repeats.len(), step);
            if killed {
                session += 1;
                // What the next session makes follows from what is stored alone.
                let Some(step) = plan.next(&progress(run, &repeats, session), false) else { break };
                repeats.push(made(run, step, repeats.len(), session, outcome));
            } else {
                repeats.push(made(run, step, repeats.len(), session, outcome));
            }
            assert!(repeats.len() < 10_000, "it ends");
        }
        repeats
    }

    /// Every number of a scenario's phase is made once a side at most, and pairs are neighbours of one session.
    fn assert_pairs(run: &Run, repeats: &[Repeat]) {
        let keys: std::collections::BTreeSet<_> =
            repeats.iter().map(|repeat| (repeat.scenario, repeat.phase, repeat.number, repeat.side)).collect();
        assert_eq!(keys.len(), repeats.len(), "each exactly once");
        for place in 0..run.suite.scenarios.len() {
            for pair in pairs(repeats, place) {
                let [a, b] = pair.of_sides;
                assert_eq!(a.sequence.abs_diff(b.sequence), 1, "neighbours");
                assert_eq!((a.session, a.number), (b.session, b.number));
            }
        }
    }

    const ORDERS: [&str; 3] = ["shuffled", "interleaved", "grouped"];

    #[test]
    fn an_invalid_repeat_costs_its_pair_alone() {
        let run = run_of("shuffled", 6, 3);
        let bad = |sequence: usize, step: Step| {
            let bad = step.phase == Phase::Measured && step.scenario == 0 && (step.number == 1 || step.number == 4);
            let second = step.side == Some(1);
            let _ = sequence;
            (if bad && second { Outcome::Invalid(vec![stend_testing::steal()]) } else { Outcome::Valid }, false)
        };
        let repeats = go_on(&run, bad);
        assert_pairs(&run, &repeats);
        let numbers: Vec<_> = pairs(&repeats, 0).iter().map(|pair| pair.of_sides[0].number).collect();
        assert_eq!(numbers, [0, 2, 3, 5, 6, 7]);
        assert_eq!(pairs(&repeats, 1).len(), 6);
        let of_other = repeats.iter().filter(|repeat| repeat.scenario == 1 && repeat.phase == Phase::Measured).count();
        assert_eq!(of_other, 12, "none of the other scenario's is made again");
    }

    #[test]
    fn a_side_that_always_fails_ends_the_scenario() {
        let run = run_of("shuffled", 6, 3);
        let happens = |_: usize, step: Step| {
            let fails = step.scenario == 0 && step.side == Some(1);
            (if fails { Outcome::Failed(stend_testing::killed()) } else { Outcome::Valid }, false)
        };
        let repeats = go_on(&run, happens);
        let failed = repeats.iter().filter(|repeat| matches!(repeat.outcome, Outcome::Failed(_))).count();
        assert_eq!(failed as u32, MOST_FAILURES_IN_A_ROW);
        assert_eq!((pairs(&repeats, 0).len(), pairs(&repeats, 1).len()), (0, 6));
    }

    #[test]
    fn what_only_prepares_is_made_for_both_sides_in_each_session() {
        let mut run = run_of("grouped", 4, 3);
        (run.suite.scenarios[0].repeats, run.suite.scenarios[0].warmup) = (0, 1);
        // Killed in the midst of the measured pairs, and before the second half of what prepares.
        let repeats = go_on(&run, |sequence, _| (Outcome::Valid, sequence == 8 || sequence == 9));
        assert_pairs(&run, &repeats);
        let prepared = |session: u32| {
            let of_it = repeats.iter().filter(|repeat| repeat.scenario == 0 && repeat.session == session);
            of_it.map(|repeat| (repeat.number, repeat.side.unwrap())).collect::<Vec<_>>()
        };
        assert_eq!(prepared(0).iter().map(|(number, _)| *number).collect::<Vec<_>>(), [0, 0]);
        assert_eq!(prepared(1).len(), 1, "torn");
        assert_eq!(prepared(2).iter().map(|(number, _)| *number).collect::<Vec<_>>(), [2, 2], "what was torn is lost");
        assert_eq!(pairs(&repeats, 1).len(), 4);
    }

    proptest! {
        #[test]
        fn whatever_is_lost_the_pairs_are_whole(
            seed: u64,
            order in 0usize..3,
            wanted in 1u32..9,
            bad in prop::collection::btree_set(0usize..60, 0..5),
            killed in prop::collection::btree_set(0usize..60, 0..5),
        ) {
            let run = run_of(ORDERS[order], wanted, seed);
            let invalid = Outcome::Invalid(vec![stend_testing::steal()]);
            let repeats = go_on(&run, |sequence, _| {
                (if bad.contains(&sequence) { invalid.clone() } else { Outcome::Valid }, killed.contains(&sequence))
            });
            assert_pairs(&run, &repeats);
            for place in 0..run.suite.scenarios.len() {
                let pairs = pairs(&repeats, place);
                let attempts = progress(&run, &repeats, 9)[place].attempts;
                prop_assert!(pairs.len() as u32 == wanted || attempts == 2 * wanted, "{} of {wanted}", pairs.len());
            }
        }

        /// Where nothing is lost, a run that is killed between two pairs makes the same as one that is not.
        #[test]
        fn killed_between_pairs_the_same_is_drawn(seed: u64, order in 0usize..3, wanted in 1u32..9, kills in 0usize..12) {
            let run = run_of(ORDERS[order], wanted, seed);
            let whole = go_on(&run, |_, _| (Outcome::Valid, false));
            let torn = go_on(&run, |sequence, _| (Outcome::Valid, sequence % 2 == 0 && sequence <= 2 * kills));
            let keys = |repeats: &[Repeat]| {
                repeats.iter().map(|repeat| (repeat.scenario, repeat.phase, repeat.number, repeat.side)).collect::<Vec<_>>()
            };
            prop_assert_eq!(keys(&whole), keys(&torn));
        }
    }
}
