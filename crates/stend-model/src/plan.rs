//! The order in which the repeats of a run are made.
//!
//! A run has no hidden state: what comes next follows from the suite, the seed, and the repeats that there are already.
//! So a run that was killed goes on exactly where it was.
//!
//! A run with two sides is planned in pairs of neighbours, one repeat of each side. The seed decides for each pair which side comes first, so that
//! whatever disturbs the machine, slowly or in step with the repeats, favours neither side.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stend_stats::SplitMix64;

use crate::suite::{Order, Suite};

/// Whether a repeat counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// It only warms up; its data are kept.
    Warmup,
    /// It counts if it is valid.
    Measured,
}

/// One repeat to be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Step {
    /// The scenario's place in the suite.
    pub scenario: usize,
    /// Its number among the scenario's repeats of its phase, from 0; in a run with sides it is the pair's.
    pub number: u32,
    /// The side's place in the run, in a run with sides.
    pub side: Option<usize>,
    /// Whether it counts.
    pub phase: Phase,
}

/// A seed that nobody chose.
pub fn fresh_seed() -> u64 {
    getrandom::u64().expect("the system has random numbers")
}

/// How many sides there are, where there are any.
pub const SIDES: usize = 2;

/// How one scenario stands, as the planner needs to know it. In a run with sides all numbers are of pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Progress {
    /// Warm-up repeats made whose effect still lasts.
    pub warmups: u32,
    /// Warm-up repeats made whose effect is gone, or that had none because they failed.
    pub lost_warmups: u32,
    /// Measured repeats made, whatever came of them.
    pub attempts: u32,
    /// Measured repeats that are valid.
    pub valid: u32,
    /// Failed repeats at the end of the list, without one between that at least measured something.
    pub failures_in_a_row: u32,
    /// The wanted precision has been reached.
    pub settled: bool,
    /// The warm-ups are steady, so that no more of them are needed.
    pub steady: bool,
    /// The pair of which one repeat is made and the other is still to come.
    pub half: Option<Half>,
}

/// A pair that lacks a repeat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Half {
    /// The pair's number.
    pub number: u32,
    /// Whether it counts.
    pub phase: Phase,
    /// The side that is missing.
    pub missing: usize,
}

/// After so many failures in a row a scenario is given up: a tool that cannot work is not started a hundred times.
pub const MOST_FAILURES_IN_A_ROW: u32 = 3;

/// A scenario gets at most this many times its repeats when some are invalid.
pub const MOST_ATTEMPTS_PER_REPEAT: u32 = 2;

/// The planned order of all repeats, before any of them turns out invalid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    steps: Vec<Step>,
    wanted: Vec<u32>,
    /// For scenarios whose warm-ups end when they are steady: how many it takes at least.
    least_rounds: Vec<Option<u32>>,
    /// Rounds are made of the scenarios of one wave: of those whose rate is a share of another's figure once all repeats of that are made.
    waves: Vec<usize>,
    order: Order,
    seed: u64,
    in_pairs: bool,
}

impl Plan {
    /// The plan of a suite; the same seed gives the same plan. `skipped` tells which scenarios are left out.
    pub fn new(suite: &Suite, seed: u64, skipped: impl Fn(usize) -> bool) -> Self {
        Self::build(suite, seed, skipped, false)
    }

    /// The plan of a suite for a run with two sides. A scenario's repeats are then pairs.
    pub fn in_pairs(suite: &Suite, seed: u64, skipped: impl Fn(usize) -> bool) -> Self {
        Self::build(suite, seed, skipped, true)
    }

    fn build(suite: &Suite, seed: u64, skipped: impl Fn(usize) -> bool, in_pairs: bool) -> Self {
        let counts: Vec<(u32, u32)> = suite
            .scenarios
            .iter()
            .enumerate()
            .map(|(place, scenario)| if skipped(place) { (0, 0) } else { (scenario.warmup, scenario.repeats) })
            .collect();
        let least_rounds = suite.scenarios.iter().map(|scenario| scenario.steady.map(|steady| steady.rounds)).collect();
        let wanted = counts.iter().map(|count| count.1).collect();
        let mut waves = Vec::new();
        for scenario in &suite.scenarios {
            let before = |of: &str| suite.scenarios.iter().zip(&waves).find(|(other, _)| other.name == of);
            let wave = scenario.rate.as_ref().and_then(|rate| before(&rate.of)).map_or(0, |(_, wave)| wave + 1);
            waves.push(wave);
        }
        let order = suite.order;
        let mut plan = Self { steps: Vec::new(), wanted, least_rounds, waves, order, seed, in_pairs };
        plan.steps = if suite.order == Order::Grouped { plan.groups(&counts) } else { plan.rounds(&counts) };
        plan
    }

    /// All repeats of a scenario before the next one.
    fn groups(&self, counts: &[(u32, u32)]) -> Vec<Step> {
        let mut steps = Vec::new();
        for (scenario, &(warmup, repeats)) in counts.iter().enumerate() {
            steps.extend((0..warmup).flat_map(|number| self.halves(scenario, Phase::Warmup, number)));
            steps.extend((0..repeats).flat_map(|number| self.halves(scenario, Phase::Measured, number)));
        }
        steps
    }

    /// In each round one repeat of each scenario, or one pair.
    fn rounds(&self, counts: &[(u32, u32)]) -> Vec<Step> {
        let mut random = SplitMix64::new(self.seed);
        let mut steps = Vec::new();
        let waves = self.waves.iter().max().map_or(0, |last| last + 1);
        let phases = |wave| [(wave, Phase::Warmup), (wave, Phase::Measured)];
        for (wave, phase) in (0..waves).flat_map(phases) {
            let limit = |scenario: usize| match phase {
                _ if self.waves[scenario] != wave => 0,
                Phase::Warmup => counts[scenario].0,
                Phase::Measured => counts[scenario].1,
            };
            let most = (0..counts.len()).map(limit).max().unwrap_or(0);
            for number in 0..most {
                let mut scenarios: Vec<_> = (0..counts.len()).filter(|&scenario| number < limit(scenario)).collect();
                match self.order {
                    Order::Shuffled => random.shuffle(&mut scenarios),
                    Order::Interleaved if number % 2 == 1 => scenarios.reverse(),
                    _ => {}
                }
                steps.extend(scenarios.into_iter().flat_map(|scenario| self.halves(scenario, phase, number)));
            }
        }
        steps
    }

    /// The repeats of one number: one, or one of each side.
    fn halves(&self, scenario: usize, phase: Phase, number: u32) -> Vec<Step> {
        let step = |side| Step { scenario, number, side, phase };
        if !self.in_pairs {
            return vec![step(None)];
        }
        let first = self.first_side(scenario, number);
        vec![step(Some(first)), step(Some(1 - first))]
    }

    /// The side that a pair begins with, drawn for each pair by itself.
    fn first_side(&self, scenario: usize, number: u32) -> usize {
        let place = SplitMix64::new((scenario as u64).rotate_left(32) | u64::from(number)).next_u64();
        SplitMix64::new(self.seed ^ place).index(SIDES)
    }

    /// The planned steps in order.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// What comes next, given how each scenario stands; `None` when the run is complete.
    ///
    /// First the planned steps that have not been made. Then further attempts for scenarios that lost repeats to gates, in
    /// random rounds, until each has its valid repeats or has had twice as many attempts; none of these once the run is out of time.
    /// In grouped order a scenario has its further attempts before the next one begins: it is then in the state that it needs. In other orders
    /// those whose figures rates are shares of have theirs before the load at these rates begins.
    /// A pair that was begun is made whole before anything else.
    pub fn next(&self, progress: &[Progress], out_of_time: bool) -> Option<Step> {
        if let Some(step) = Self::second_half(progress) {
            return Some(step);
        }
        let planned = self.missing(progress, out_of_time).next().map(|step| match step.phase {
            // Each repeat of a run has a number of its own.
            Phase::Warmup => Step { number: step.number + progress[step.scenario].lost_warmups, ..step },
            Phase::Measured => step,
        });
        if out_of_time {
            return planned;
        }
        if self.order == Order::Grouped {
            return self.further_of_a_group(planned, progress).or(planned);
        }
        let further = || {
            let wave = planned.map(|step| self.waves[step.scenario]);
            let is_past = |scenario: usize| wave.is_none_or(|wave| self.waves[scenario] < wave);
            let lacking: Vec<_> = (0..self.wanted.len())
                .filter(|&scenario| is_past(scenario) && self.lacks(scenario, &progress[scenario]))
                .collect();
            let fewest = lacking.iter().map(|&scenario| progress[scenario].attempts).min()?;
            let round: Vec<_> = lacking.into_iter().filter(|&scenario| progress[scenario].attempts == fewest).collect();
            // Seeded by how far the run is, so that a resumed run draws what the uninterrupted one would have drawn.
            let attempts: u64 = progress.iter().map(|made| u64::from(made.attempts)).sum();
            let scenario = round[SplitMix64::new(self.seed ^ attempts.rotate_left(32)).index(round.len())];
            Some(self.further(scenario, &progress[scenario]))
        };
        further().or(planned)
    }

    /// What makes a pair whole that was begun.
    fn second_half(progress: &[Progress]) -> Option<Step> {
        progress.iter().enumerate().find_map(|(scenario, made)| {
            let Half { number, phase, missing } = made.half?;
            Some(Step { scenario, number, side: Some(missing), phase })
        })
    }

    /// A further attempt.
    fn further(&self, scenario: usize, made: &Progress) -> Step {
        let number = made.attempts;
        let side = self.in_pairs.then(|| self.first_side(scenario, number));
        Step { scenario, number, side, phase: Phase::Measured }
    }

    /// The further attempt of a scenario that is past, by what is planned next.
    fn further_of_a_group(&self, planned: Option<Step>, progress: &[Progress]) -> Option<Step> {
        let before = planned.map_or(self.wanted.len(), |step| step.scenario);
        let scenario = (0..before).find(|&scenario| self.lacks(scenario, &progress[scenario]))?;
        Some(self.further(scenario, &progress[scenario]))
    }

    /// How many steps are still to be made at least.
    pub fn remaining(&self, progress: &[Progress]) -> Vec<Step> {
        let least = |step: &Step| match self.least_rounds[step.scenario].filter(|_| step.phase == Phase::Warmup) {
            // Of warm-ups that end when they are steady nobody knows how many come.
            Some(rounds) => step.number < rounds.max(progress[step.scenario].warmups + 1),
            None => true,
        };
        Self::second_half(progress).into_iter().chain(self.missing(progress, false).filter(least)).collect()
    }

    /// The planned steps that have not been made and are still wanted.
    fn missing<'a>(&'a self, progress: &'a [Progress], out_of_time: bool) -> impl Iterator<Item = Step> + 'a {
        let is_left = move |scenario: usize| {
            let made = &progress[scenario];
            if out_of_time {
                !self.is_done(scenario, made) && made.attempts < self.wanted[scenario]
            } else {
                self.lacks(scenario, made)
            }
        };
        let wanted = move |step: &Step| {
            let made = &progress[step.scenario];
            match step.phase {
                // What only prepares is worth it as long as something is left that it prepares; of itself nothing ever is.
                Phase::Warmup if self.wanted[step.scenario] == 0 => {
                    let mut later = step.scenario..self.wanted.len();
                    step.number >= made.warmups && made.failures_in_a_row < MOST_FAILURES_IN_A_ROW && later.any(is_left)
                }
                Phase::Warmup => step.number >= made.warmups && !made.steady && is_left(step.scenario),
                Phase::Measured => step.number >= made.attempts && !self.is_done(step.scenario, made),
            }
        };
        self.steps.iter().copied().filter(wanted)
    }

    fn is_done(&self, scenario: usize, made: &Progress) -> bool {
        made.settled || made.failures_in_a_row >= MOST_FAILURES_IN_A_ROW || made.valid >= self.wanted[scenario]
    }

    fn lacks(&self, scenario: usize, made: &Progress) -> bool {
        !self.is_done(scenario, made) && made.attempts < self.wanted[scenario] * MOST_ATTEMPTS_PER_REPEAT
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};
    use std::path::Path;

    use proptest::prelude::*;

    use super::*;
    use crate::suite::Changes;

    fn suite(order: &str, repeats: &[u32]) -> Suite {
        use std::fmt::Write as _;
        let mut text = format!("name = \"t\"\ntitle = \"t\"\norder = \"{order}\"\n");
        for (place, repeats) in repeats.iter().enumerate() {
            let _ = write!(
                text,
                "[[scenario]]\nname = \"s{place}\"\ncommand = [\"true\"]\nrepeats = {repeats}\n\
                 metrics = [{{ name = \"m\", value = \"wall\", unit = \"s\", better = \"lower\" }}]\n"
            );
        }
        Suite::parse(&text, "t.toml", Path::new("."), &Changes::default()).unwrap()
    }

    /// Makes the whole run; `valid` decides what comes of each attempt.
    fn make(plan: &Plan, scenarios: usize, valid: impl FnMut(Step) -> bool) -> Vec<Step> {
        make_until(plan, scenarios, valid, usize::MAX)
    }

    /// The same for a run that is out of time after so many attempts.
    fn make_until(plan: &Plan, scenarios: usize, mut valid: impl FnMut(Step) -> bool, most: usize) -> Vec<Step> {
        let mut progress = vec![Progress::default(); scenarios];
        let mut made = Vec::new();
        while let Some(step) = plan.next(&progress, made.len() >= most) {
            let of_it = &mut progress[step.scenario];
            match step.phase {
                Phase::Warmup => of_it.warmups += 1,
                Phase::Measured => {
                    of_it.attempts += 1;
                    of_it.valid += u32::from(valid(step));
                }
            }
            made.push(step);
        }
        made
    }

    /// An open run goes on in the order that it was begun in, by whichever stend.
    #[test]
    fn the_sides_that_pairs_begin_with_are_the_same_for_ever() {
        let plan = Plan::in_pairs(&suite("interleaved", &[12, 12]), 2026, |_| false);
        let firsts =
            |scenario: usize| (0..12).map(|number| plan.first_side(scenario, number).to_string()).collect::<String>();
        assert_eq!([firsts(0), firsts(1)], ["010111001000", "101010111110"]);
    }

    #[test]
    fn the_order_that_a_seed_shuffles_to_is_the_same_for_ever() {
        let plan = Plan::new(&suite("shuffled", &[2, 2, 2, 2, 2]), 0x5eed_2026_5eed_2026, |_| false);
        let scenarios = |steps: &[Step]| steps.iter().map(|step| step.scenario.to_string()).collect::<String>();
        assert_eq!(scenarios(plan.steps()), "043214203124310");
        let further = &make(&plan, 5, |_| false)[15..];
        assert_eq!(scenarios(further), "2140341032");
    }

    #[test]
    fn what_only_prepares_is_not_tried_again_when_it_has_failed_often_enough() {
        let mut suite = suite("grouped", &[1, 2]);
        (suite.scenarios[0].warmup, suite.scenarios[0].repeats) = (1, 0);
        let plan = Plan::new(&suite, 1, |_| false);
        let next = |failures_in_a_row: u32| {
            let failed = Progress { failures_in_a_row, ..Progress::default() };
            plan.next(&[failed, Progress::default()], false).map(|step| step.scenario)
        };
        assert_eq!(next(MOST_FAILURES_IN_A_ROW - 1), Some(0));
        assert_eq!(next(MOST_FAILURES_IN_A_ROW), Some(1));
    }

    #[test]
    fn interleaved_goes_there_and_back() {
        let plan = Plan::new(&suite("interleaved", &[2, 2, 2]), 1, |_| false);
        let measured: Vec<_> = plan.steps().iter().filter(|s| s.phase == Phase::Measured).map(|s| s.scenario).collect();
        assert_eq!(measured, [0, 1, 2, 2, 1, 0]);
    }

    #[test]
    fn invalid_repeats_are_made_again_but_not_for_ever() {
        let plan = Plan::new(&suite("shuffled", &[3, 3]), 1, |_| false);
        let made = make(&plan, 2, |step| step.scenario == 0 && step.number != 1);
        let attempts = |scenario| made.iter().filter(|s| s.phase == Phase::Measured && s.scenario == scenario).count();
        assert_eq!(attempts(0), 4, "one of three was invalid, so one more");
        assert_eq!(attempts(1), 6, "never valid: twice as many, and no more");
    }

    #[test]
    fn a_run_that_is_out_of_time_makes_what_is_planned_and_nothing_again() {
        let plan = Plan::new(&suite("shuffled", &[3, 3]), 1, |_| false);
        let made = |most| make_until(&plan, 2, |_| false, most).len();
        assert_eq!(made(0), plan.steps.len());
        assert_eq!(made(plan.steps.len() + 2), plan.steps.len() + 2);
        assert_eq!(made(usize::MAX), plan.steps.len() + 6);
    }

    #[test]
    fn a_group_has_its_further_attempts_before_the_next_one_begins() {
        let plan = Plan::new(&suite("grouped", &[3, 2]), 1, |_| false);
        let made = make(&plan, 2, |step| step.scenario == 1 || step.number > 1);
        let order: Vec<_> = made.iter().map(|step| (step.scenario, step.phase)).collect();
        assert_eq!(order.iter().filter(|one| **one == (0, Phase::Measured)).count(), 5, "the first two were invalid");
        assert!(order.is_sorted_by_key(|(scenario, phase)| (*scenario, *phase)), "{order:?}");
    }

    /// Whose rate is a share of another's figure comes when that figure is there, further attempts and all.
    #[test]
    fn an_open_load_waits_for_the_figure_that_its_rate_is_a_share_of() {
        let metrics = "metrics = [{ name = \"m\", value = \"wall\", unit = \"s\", better = \"lower\" }]";
        let text = format!(
            "name = \"t\"\ntitle = \"t\"\nrepeats = 3\n\
            [[scenario]]\nname = \"a\"\ncommand = [\"true\"]\n{metrics}\n\
            [[scenario]]\nname = \"open {{share}}\"\ninstrument = \"oha\"\nparameters = {{ url = \"http://a/\" }}\n\
            rate = {{ of = \"a\", share = \"{{share}}\" }}\nmatrix = {{ share = [\"50%\", \"90%\"] }}\n{metrics}\n\
            [[scenario]]\nname = \"b\"\ncommand = [\"true\"]\n{metrics}\n"
        );
        let suite = Suite::parse(&text, "t.toml", Path::new("."), &Changes::default()).unwrap();
        let made = make(&Plan::new(&suite, 1, |_| false), 4, |step| step.number != 1);
        let is_open = |step: &Step| suite.scenarios[step.scenario].rate.is_some();
        assert!(made.is_sorted_by_key(is_open), "{made:?}");
        let measured: Vec<_> = made.iter().filter(|step| step.phase == Phase::Measured).collect();
        assert_eq!(measured.len(), 16, "each has a further attempt for the one that did not count");
        assert!(measured[..8].windows(2).any(|pair| pair[0].scenario != pair[1].scenario), "in rounds");
    }

    #[test]
    fn warm_ups_go_on_until_they_are_steady_or_there_are_enough() {
        let text = "name = \"t\"\ntitle = \"t\"\norder = \"grouped\"\n\
            [[scenario]]\nname = \"fill\"\ncommand = [\"true\"]\nprecondition = true\nrepeats = 2\n\
            metrics = [{ name = \"m\", value = \"wall\", unit = \"s\", better = \"lower\" }]\n\
            [[scenario]]\nname = \"load\"\ncommand = [\"true\"]\nsteady = { most = 8 }\nrepeats = 3\n\
            metrics = [{ name = \"m\", value = \"wall\", unit = \"s\", better = \"lower\" }]\n";
        let suite = Suite::parse(text, "t.toml", Path::new("."), &Changes::default()).unwrap();
        let plan = Plan::new(&suite, 1, |_| false);
        // What is made when the load gets steady at this round, and how many steps are left when it begins.
        let make = |steady_at: u32| {
            let mut progress = vec![Progress::default(); 2];
            let (mut made, mut left) = (Vec::new(), Vec::new());
            while let Some(step) = plan.next(&progress, false) {
                left.push(plan.remaining(&progress).len());
                let of_it = &mut progress[step.scenario];
                match step.phase {
                    Phase::Warmup => of_it.warmups += 1,
                    Phase::Measured => (of_it.attempts, of_it.valid) = (of_it.attempts + 1, of_it.valid + 1),
                }
                of_it.steady = step.scenario == 1 && of_it.warmups >= steady_at;
                made.push((step.scenario, step.phase));
            }
            (made, left, progress)
        };
        let of = |made: &[(usize, Phase)], what| made.iter().filter(|one| **one == what).count();
        for (steady_at, rounds) in [(5, 5), (7, 7), (100, 8)] {
            let (made, left, _) = make(steady_at);
            assert_eq!((of(&made, (0, Phase::Warmup)), of(&made, (0, Phase::Measured))), (2, 0), "it only prepares");
            assert_eq!((of(&made, (1, Phase::Warmup)), of(&made, (1, Phase::Measured))), (rounds, 3));
            assert!(made.is_sorted_by_key(|(scenario, phase)| (*scenario, *phase)), "one after the other");
            assert_eq!((left[0], left[left.len() - 1]), (2 + 5 + 3, 1), "five rounds at least");
            assert_eq!(left[2 + 5], usize::from(rounds > 5) + 3, "then one more at a time");
        }
        // In another session what was prepared is gone; it is made again only for what is still to be measured.
        let (_, _, mut progress) = make(5);
        let forgotten = |made: Progress| Progress { warmups: 0, lost_warmups: made.warmups, steady: false, ..made };
        progress.iter_mut().for_each(|made| *made = forgotten(*made));
        assert_eq!(plan.next(&progress, false), None);
        let after = |valid: u32, attempts: u32, out_of_time: bool| {
            let mut progress = progress.clone();
            (progress[1].valid, progress[1].attempts) = (valid, attempts);
            plan.next(&progress, out_of_time)
        };
        let fill = Some(Step { scenario: 0, number: 2, side: None, phase: Phase::Warmup });
        assert_eq!((after(2, 2, false), after(2, 2, true), after(2, 5, false)), (fill, fill, fill));
        // Nor for what has had all its attempts.
        assert_eq!((after(2, 6, false), after(2, 3, true)), (None, None));
    }

    #[test]
    fn a_tool_that_always_fails_is_given_up() {
        let plan = Plan::new(&suite("shuffled", &[10]), 1, |_| false);
        let made = Progress { warmups: 1, attempts: 2, failures_in_a_row: 3, ..Progress::default() };
        assert_eq!(plan.next(&[made], false), None);
    }

    proptest! {
        #[test]
        fn every_repeat_comes_exactly_once(seed: u64, repeats in prop::collection::vec(1u32..6, 1..6), order in 0usize..3) {
            let order = ["shuffled", "interleaved", "grouped"][order];
            let plan = Plan::new(&suite(order, &repeats), seed, |_| false);
            let made = make(&plan, repeats.len(), |_| true);
            prop_assert_eq!(&made, plan.steps());
            let mut counts = HashMap::new();
            for step in made {
                *counts.entry(step).or_insert(0) += 1;
            }
            prop_assert!(counts.values().all(|&count| count == 1));
            prop_assert_eq!(counts.len() as u32, repeats.iter().sum::<u32>() + repeats.len() as u32);
        }

        #[test]
        fn pairs_are_of_neighbours(seed: u64, repeats in prop::collection::vec(1u32..8, 1..6), order in 0usize..3) {
            let order = ["shuffled", "interleaved", "grouped"][order];
            let plan = Plan::in_pairs(&suite(order, &repeats), seed, |_| false);
            let all: HashSet<_> = plan.steps().iter().collect();
            prop_assert_eq!(all.len(), plan.steps.len(), "each exactly once");
            prop_assert_eq!(plan.steps.len() as u32, 2 * (repeats.iter().sum::<u32>() + repeats.len() as u32));
            for pair in plan.steps().chunks(2) {
                prop_assert_eq!(Step { side: pair[1].side, ..pair[0] }, pair[1], "neighbours are one of each side");
                prop_assert_eq!(pair.iter().filter_map(|step| step.side).sum::<usize>(), 1);
            }
        }
    }

    #[test]
    fn pairs_begin_with_either_side() {
        let plan = Plan::in_pairs(&suite("shuffled", &[40]), 7, |_| false);
        let measured: Vec<_> = plan.steps().iter().filter(|step| step.phase == Phase::Measured).collect();
        let with_the_second = measured.chunks(2).filter(|pair| pair[0].side == Some(1)).count();
        assert!((12..=28).contains(&with_the_second), "{with_the_second} of 40 pairs");
    }

    #[test]
    fn a_pair_that_was_begun_is_made_whole_before_anything_else() {
        let plan = Plan::in_pairs(&suite("grouped", &[3, 3]), 1, |_| false);
        let half = Half { number: 2, phase: Phase::Measured, missing: 1 };
        let second = Progress { warmups: 1, attempts: 3, valid: 2, half: Some(half), ..Progress::default() };
        let progress = [Progress::default(), second];
        let step = Step { scenario: 1, number: 2, side: Some(1), phase: Phase::Measured };
        assert_eq!((plan.next(&progress, false), plan.next(&progress, true)), (Some(step), Some(step)));
        assert_eq!(plan.remaining(&progress).len(), 1 + 8);
    }
}
