//! How often the rule errs on simulated measurements of the same thing, and how often it finds what is there.
//! Deterministic; the method page's figures come from `examples/calibration.rs`, with more trials.

use crate::common::{NOISES, Noise, Plan, marked};
use stend_stats::Design::{self, InTurns, OneAfterTheOther, SessionsInTurns};
use stend_stats::{
    ChangeRule, Direction, Effect, Numbers, SplitMix64, change_points, compare, median_interval, visible_difference,
};

const TABLES: usize = 400;

const TRIALS: usize = 2000;

/// A share and three standard errors of one found in `trials` trials.
fn at_most(nominal: f64, trials: usize) -> f64 {
    nominal + 3.0 * (nominal * (1.0 - nominal) / trials as f64).sqrt()
}

/// Solid marks: whatever disturbs the machine, at most one table in twenty has any false mark.
#[test]
fn what_is_measured_in_turns_is_rarely_marked_by_mistake() {
    for noise in NOISES {
        for (design, sessions, repeats, cells) in [
            (InTurns, 1, 6, 1),
            (InTurns, 1, 6, 20),
            (InTurns, 1, 10, 20),
            (SessionsInTurns, 5, 3, 20),
            (SessionsInTurns, 10, 3, 1),
        ] {
            let found = Plan::new(design, sessions, repeats, cells).try_out(|_| noise, TABLES, 11);
            let what = format!("{}, {design:?}, {sessions} × {repeats}, {cells} cells", noise.name());
            assert!(found.false_tables <= at_most(0.05, TABLES), "{what}: {found:?}");
        }
    }
}

/// Hollow marks: right where nothing changes between the sides, and only there.
#[test]
fn one_session_each_is_right_where_sessions_do_not_differ() {
    let steady = NOISES.iter().filter(|noise| {
        !matches!(noise, Noise::Wave { .. } | Noise::Trend(_) | Noise::Step(_) | Noise::Sine(_) | Noise::Sessions(_))
    });
    for noise in steady {
        for n in [6, 10, 20] {
            let found = Plan::new(OneAfterTheOther, 1, n, 20).try_out(|_| *noise, TABLES, 12);
            assert!(found.false_tables <= at_most(0.05, TABLES), "{}, n = {n}: {found:?}", noise.name());
        }
    }
    let differing = |design, sessions| {
        Plan::new(design, sessions, 6, 1).try_out(|_| Noise::Sessions(0.05), TABLES, 13).false_tables
    };
    assert!(differing(OneAfterTheOther, 1) > 0.4, "one session says nothing of others");
    for sessions in [2, 3, 5] {
        let marked = differing(OneAfterTheOther, sessions);
        assert!(marked <= at_most(0.05, TABLES), "{sessions} say what sessions differ by: {marked}");
    }
}

/// What the method page promises.
#[test]
fn real_differences_are_found() {
    for (design, n, cells, faster, by, cv, least) in [
        (InTurns, 6, 20, 1, 0.05, 0.01, 0.85),
        (InTurns, 10, 20, 1, 0.10, 0.03, 0.95),
        (InTurns, 10, 100, 1, 0.10, 0.03, 0.80),
        (OneAfterTheOther, 10, 20, 20, 0.10, 0.03, 0.95),
    ] {
        let found =
            Plan::new(design, 1, n, cells).with(faster, 1.0 + by).try_out(|_| Noise::Normal(cv), TABLES, 14).found;
        assert!(found >= least, "{design:?}, n = {n}, {faster} of {cells} by {by}: {found}");
    }
    // Rows that are noisy do not hide the quiet ones.
    let mut random = SplitMix64::new(15);
    let noise = |place: usize| Noise::Normal(if place.is_multiple_of(2) { 0.03 } else { 0.1 });
    let plan = Plan::new(OneAfterTheOther, 1, 10, 20).with(20, 1.1);
    let quiet: usize = (0..TABLES)
        .map(|_| compare(&plan.cells(noise, &mut random)).iter().step_by(2).filter(|found| marked(found)).count())
        .sum();
    assert!(quiet as f64 >= 0.95 * (10 * TABLES) as f64, "{quiet}");
}

/// The difference that is said to be visible is found in nine of ten, and about as many numbers as are said to be needed decide.
#[test]
fn what_is_said_to_be_visible_and_needed_is() {
    for (design, n, cells) in [(InTurns, 6, 1), (InTurns, 10, 20), (OneAfterTheOther, 10, 20), (InTurns, 20, 100)] {
        let by = visible_difference(0.03, n, design, 0.01, cells).expect("enough");
        let found = Plan::new(design, 1, n, cells).with(1, 1.0 + by).try_out(|_| Noise::Normal(0.03), TABLES, 16).found;
        assert!((0.82..0.97).contains(&found), "{design:?}, n = {n}, {cells} cells, {by}: {found}");
    }
    for (design, by) in [(InTurns, 0.05), (InTurns, 0.0), (OneAfterTheOther, 0.04)] {
        let difference = f64::ln_1p(by);
        let error = 0.03 * (2.0_f64 / 10.0).sqrt();
        let freedom = if design == InTurns { 9.0 } else { 18.0 };
        let needed = Effect { difference, error, freedom, numbers: 10 }.needed(0.01, 0.05, 10_000).expect("a number");
        let mut random = SplitMix64::new(17);
        let plan = Plan::new(design, 1, needed, 1).with(1, 1.0 + by);
        let decided = (0..TABLES)
            .filter(|_| {
                compare(&plan.cells(|_| Noise::Normal(0.03), &mut random))[0].verdict
                    != stend_stats::Verdict::Unresolved
            })
            .count();
        let share = decided as f64 / TABLES as f64;
        assert!((0.82..0.97).contains(&share), "{design:?} {by}: {needed} decide {share}");
    }
}

#[test]
fn intervals_hold_the_true_ratio() {
    for noise in
        [Noise::Normal(0.02), Noise::LogNormal(0.3), Noise::Bimodal, Noise::Wave { correlation: 0.9, common: true }]
    {
        for n in [6, 10, 20] {
            let mut random = SplitMix64::new(18);
            let plan = Plan::new(InTurns, 1, n, 1).with(1, 1.05);
            let held = (0..2000)
                .filter(|_| {
                    let (low, high) = compare(&plan.cells(|_| noise, &mut random))[0].interval.expect("six");
                    low <= 1.05 && 1.05 <= high
                })
                .count();
            assert!((0.935..=0.985).contains(&(held as f64 / 2000.0)), "{}, n = {n}: {held}", noise.name());
        }
    }
}

/// What the scenarios of a round have in common is in the mean's error, and in turns in none of its numbers.
#[test]
fn the_geometric_means_interval_holds_what_the_scenarios_share() {
    let held = |noise: Noise, design: Design, sessions: usize| {
        let mut random = SplitMix64::new(19);
        let plan = Plan::new(design, sessions, 10 / sessions.min(2), 20);
        (0..1000)
            .filter(|_| {
                let results = compare(&plan.cells(|_| noise, &mut random));
                let of: Vec<(&Numbers, Direction)> = results
                    .iter()
                    .map(|found| (found.numbers.as_ref().expect("numbers"), Direction::HigherIsBetter))
                    .collect();
                let (low, high) = Effect::of_all(&of).expect("twenty").interval();
                low <= 1.0 && 1.0 <= high
            })
            .count()
    };
    for noise in
        [Noise::Normal(0.02), Noise::Wave { correlation: 0.9, common: true }, Noise::Trend(0.04), Noise::Step(0.1)]
    {
        let held = held(noise, InTurns, 1);
        assert!(held >= 930, "{}: {held} of 1000", noise.name());
    }
}

fn repeat(noise: Noise, random: &mut SplitMix64) -> f64 {
    Plan::new(OneAfterTheOther, 1, 1, 1).cells(|_| noise, random)[0].a_sessions[0][0]
}

#[test]
fn intervals_of_the_median_cover_it() {
    let mut random = SplitMix64::new(20);
    for n in [6, 10, 20] {
        let held = (0..2000)
            .filter(|_| {
                let values: Vec<f64> = (0..n).map(|_| repeat(Noise::LogNormal(0.3), &mut random)).collect();
                let found = median_interval(&values, 0.95).expect("six");
                found.low <= 100.0 && 100.0 <= found.high
            })
            .count();
        assert!(held >= 1880, "n = {n}: {held} of 2000");
    }
}

/// Steady histories seldom show a change, even where no least change is asked for.
#[test]
fn steady_histories_have_no_change_points() {
    let rule = ChangeRule { least_change: 0.0, ..ChangeRule::default() };
    for noise in [Noise::Normal(0.02), Noise::LogNormal(0.3), Noise::Bimodal, Noise::Rounded] {
        let mut random = SplitMix64::new(20);
        let alarms = (0..TRIALS)
            .filter(|_| {
                let history: Vec<f64> = (0..50).map(|_| repeat(noise, &mut random)).collect();
                !change_points(&history, &rule).expect("positive").is_empty()
            })
            .count();
        let rate = alarms as f64 / TRIALS as f64;
        assert!(rate <= at_most(0.05, TRIALS), "{noise:?}: {rate}");
    }
}

/// A change of three CV, ten values on either side, is found where it is.
#[test]
fn changes_are_found_in_their_place() {
    let mut random = SplitMix64::new(21);
    let found = (0..500)
        .filter(|_| {
            let level = |run: usize| if run < 15 { 1.0 } else { 1.06 };
            let history: Vec<f64> = (0..25).map(|run| level(run) * repeat(Noise::Normal(0.02), &mut random)).collect();
            let points = change_points(&history, &ChangeRule::default()).expect("positive");
            points.len() == 1 && points[0].index.abs_diff(15) <= 1
        })
        .count();
    assert!(found >= 450, "{found} of 500");
}

/// A bad run some values before a level falls for good draws no change to itself.
#[test]
fn a_single_bad_run_does_not_move_a_change() {
    let mut random = SplitMix64::new(22);
    for before in [3, 5, 8, 15] {
        let found = (0..200)
            .filter(|_| {
                let level = |run: usize| match run {
                    _ if run == 20 - before => 0.6,
                    _ if run >= 20 => 0.88,
                    _ => 1.0,
                };
                let history: Vec<f64> =
                    (0..40).map(|run| level(run) * repeat(Noise::Normal(0.02), &mut random)).collect();
                let points = change_points(&history, &ChangeRule::default()).expect("positive");
                points.len() == 1 && points[0].index == 20
            })
            .count();
        assert!(found >= 190, "{before} before: {found} of 200");
    }
}
