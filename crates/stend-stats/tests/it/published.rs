//! Published examples, and the rule clause by clause.

use std::slice::from_ref;

use crate::common::cell;
use stend_stats::{
    Cell, Counted, Design, Direction, Effect, Numbers, Reason, Verdict, compare, median_interval, precision_reached,
    steady_state, visible_difference,
};

/// Student's sleep data (*Biometrika* 6, 1908), the example of R's `t.test`: paired t = 4.0621 with 9 degrees of freedom and p = 0.002833;
/// as two groups Welch's t = 1.8608 with 17.776 and p = 0.07939.
#[test]
fn students_sleep() {
    let first = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0];
    let second = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4];
    let pairs = second.iter().zip(&first).map(|(second, first)| second - first).collect();
    let paired = Effect::of(&Numbers::Differences(pairs)).expect("ten");
    assert!((paired.difference / paired.error - 4.0621).abs() < 1e-4 && paired.freedom == 9.0);
    assert!((paired.p_beyond(0.0) - 0.002_833).abs() < 1e-6);
    let groups = Effect::of(&Numbers::Sides { a: second.to_vec(), b: first.to_vec() }).expect("ten");
    assert!((groups.difference / groups.error - 1.8608).abs() < 1e-4 && (groups.freedom - 17.776).abs() < 1e-3);
    assert!((groups.p_beyond(0.0) - 0.079_39).abs() < 1e-5);
    let (low, high) = groups.interval();
    assert!((low.ln() + 0.205_483_2).abs() < 1e-6 && (high.ln() - 3.365_483_2).abs() < 1e-6);
}

/// Darwin's maize, the data of Fisher's own example (*The Design of Experiments*, §17): t = 2.148 with 14 degrees of freedom, p = 4.97 %.
#[test]
fn darwins_maize() {
    let eighths = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48];
    let numbers = eighths.iter().map(|eighth| f64::from(*eighth) / 8.0).collect();
    let effect = Effect::of(&Numbers::Differences(numbers)).expect("fifteen");
    assert!((effect.difference / effect.error - 2.148).abs() < 1e-3 && effect.freedom == 14.0);
    assert!((effect.p_beyond(0.0) - 0.0497).abs() < 1e-4);
}

/// A rate around `level` whose logarithms have exactly this mean difference to one around 1.
fn around(level: f64, spread: f64) -> Vec<f64> {
    [-1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5].iter().map(|step| level * (spread * step).exp()).collect()
}

#[test]
fn the_rule_clause_by_clause() {
    let one = |a: &[f64], delta| {
        let found = compare(&[cell(a, &around(1.0, 0.001), Design::OneAfterTheOther, delta)]).remove(0);
        (found.verdict, found.reason)
    };
    assert_eq!(one(&around(1.02, 0.001), 0.01), (Verdict::Better, Reason::BeyondFloor));
    assert_eq!(one(&around(0.98, 0.001), 0.01), (Verdict::Worse, Reason::BeyondFloor));
    assert_eq!(one(&around(1.005, 0.001), 0.01), (Verdict::Same, Reason::WithinFloor));
    assert_eq!(one(&around(1.02, 0.02), 0.01), (Verdict::Unresolved, Reason::NotSignificant));
    assert_eq!(one(&around(1.02, 0.001), 0.03), (Verdict::Same, Reason::WithinFloor), "δ is what does not matter");
    assert_eq!(one(&around(1.02, 0.001), -0.1), (Verdict::Unresolved, Reason::BadFloor));
    assert_eq!(one(&around(1.02, 0.001)[..4], 0.01), (Verdict::Unresolved, Reason::TooFew));
    assert_eq!(one(&[1.0, 1.0, 1.0, 1.0, 0.0], 0.01), (Verdict::Unresolved, Reason::NotPositive));
    assert_eq!(one(&[1.0, 1.0, 1.0, 1.0, f64::NAN], 0.01), (Verdict::Unresolved, Reason::NotFinite));
    // A time that is shorter is better.
    let time = Cell {
        direction: Direction::LowerIsBetter,
        ..cell(&around(0.98, 0.001), &around(1.0, 0.001), Design::OneAfterTheOther, 0.01)
    };
    assert_eq!(compare(&[time])[0].verdict, Verdict::Better);
}

/// p of one cell between 0.025 and 0.05: significant, but the interval reaches over δ.
#[test]
fn a_significant_difference_whose_interval_crosses_the_floor_is_unresolved() {
    let crossing = (0..400).map(|step| {
        compare(&[cell(
            &around(1.01 + 1e-5 * f64::from(step), 0.002),
            &around(1.0, 0.002),
            Design::OneAfterTheOther,
            0.01,
        )])
        .remove(0)
    });
    let found: Vec<_> = crossing.filter(|found| found.reason == Reason::CrossesFloor).collect();
    assert!(!found.is_empty());
    assert!(
        found.iter().all(|found| found.verdict == Verdict::Unresolved && (0.024..0.05).contains(&found.p.unwrap()))
    );
}

/// As many as `Effect::needed` says, which the planning tables of `against_scipy` test.
#[test]
fn a_cell_that_is_undecided_says_how_many_numbers_would_decide() {
    let of = |a: &[f64], b: &[f64]| compare(&[cell(a, b, Design::OneAfterTheOther, 0.01)]).remove(0);
    let found = of(&around(1.02, 0.02), &around(1.0, 0.02));
    let needed = Effect::of(&found.numbers.expect("repeats")).expect("seven").needed(0.01, 0.05, 10_000);
    assert!(needed.is_some_and(|needed| needed > 7));
    assert_eq!((found.verdict, found.needed), (Verdict::Unresolved, needed));
    assert_eq!(of(&around(1.02, 0.001), &around(1.0, 0.001)).needed, None, "decided");
    let two = of(&[1.0, 1.1], &[1.2, 1.3]);
    assert_eq!((two.reason, two.needed), (Reason::TooFew, Some(5)));
    let single = of(&[1.0], &[1.2]);
    assert_eq!((single.reason, single.interval, single.needed), (Reason::TooFew, None, None));
}

#[test]
fn a_single_number_has_no_error() {
    for numbers in [
        Numbers::Differences(vec![0.1]),
        Numbers::Sides { a: vec![0.1], b: vec![0.2] },
        Numbers::Sides { a: vec![0.1, 0.2], b: vec![0.2] },
        Numbers::Sides { a: vec![0.1], b: vec![0.2, 0.3] },
    ] {
        assert_eq!(Effect::of(&numbers), None, "{numbers:?}");
    }
}

/// What neither side varies in is decided by δ alone: there is nothing to test.
#[test]
fn values_that_are_all_equal_are_compared_as_they_are() {
    let one = |a: f64, design| compare(&[cell(&[a; 5], &[100.0; 5], design, 0.01)]).remove(0);
    for design in [Design::InTurns, Design::OneAfterTheOther] {
        let found = [101.5, 99.5, 100.9, 100.0].map(|a| one(a, design).verdict);
        assert_eq!(found, [Verdict::Better, Verdict::Same, Verdict::Same, Verdict::Same], "{design:?}");
        let twice = one(200.0, design);
        assert!((twice.ratio.unwrap() - 2.0).abs() < 1e-12 && twice.p == Some(0.0));
    }
    let equal = Effect::of(&Numbers::Sides { a: vec![0.5; 5], b: vec![0.5; 4] }).expect("two or more");
    assert_eq!((equal.error, equal.freedom, equal.p_beyond(0.0)), (0.0, 7.0, 1.0));
}

#[test]
fn one_number_is_a_pair_a_session_or_a_repeat() {
    let sides = |count: usize, of: usize| (vec![vec![1.02; of]; count], vec![vec![1.0; of]; count]);
    let counted = |design, count, of| {
        let (a_sessions, b_sessions) = sides(count, of);
        let direction = Direction::HigherIsBetter;
        let found = compare(&[Cell { a_sessions, b_sessions, design, direction, delta: 0.01 }]).remove(0);
        (found.counted, found.counts, found.verdict)
    };
    assert_eq!(counted(Design::InTurns, 2, 5), (Counted::Pairs, [10, 10], Verdict::Better));
    assert_eq!(counted(Design::SessionsInTurns, 5, 3), (Counted::Sessions, [5, 5], Verdict::Better));
    assert_eq!(counted(Design::OneAfterTheOther, 5, 3), (Counted::Sessions, [5, 5], Verdict::Better));
    assert_eq!(counted(Design::OneAfterTheOther, 2, 3), (Counted::Sessions, [2, 2], Verdict::Better));
    assert_eq!(counted(Design::OneAfterTheOther, 1, 12), (Counted::Repeats, [12, 12], Verdict::Better));
    assert_eq!(counted(Design::InTurns, 1, 4), (Counted::Pairs, [4, 4], Verdict::Unresolved));
    // A round without repeats on one side does not count.
    let (mut a_sessions, b_sessions) = sides(6, 2);
    a_sessions[3].clear();
    let numbers = Numbers::of(Design::SessionsInTurns, &a_sessions, &b_sessions).expect("as many").0;
    assert_eq!(numbers.counts(), [5, 5]);
    assert_eq!(Numbers::of(Design::InTurns, &a_sessions, &b_sessions), None, "a repeat without a neighbour");
}

/// Each pair is disturbed by as much as the difference is large, so that sides taken apart say nothing.
#[test]
fn pairs_see_through_a_common_drift() {
    let b: Vec<f64> = (0..10).map(|i| 100.0 * 1.1_f64.powi(i)).collect();
    let a: Vec<f64> = b.iter().enumerate().map(|(i, value)| value * (1.05 + 0.001 * (i % 3) as f64)).collect();
    let verdict = |design| compare(&[cell(&a, &b, design, 0.01)])[0].verdict;
    assert_eq!((verdict(Design::InTurns), verdict(Design::OneAfterTheOther)), (Verdict::Better, Verdict::Unresolved));
}

/// What cannot be judged takes no part in the correction of others.
#[test]
fn the_correction_is_over_what_is_tested() {
    let tested = cell(&around(1.02, 0.004), &around(1.0, 0.004), Design::OneAfterTheOther, 0.01);
    let few = cell(&[1.0; 3], &[1.0; 3], Design::OneAfterTheOther, 0.01);
    let alone = compare(from_ref(&tested))[0].q;
    let beside = compare(&[tested.clone(), few.clone(), few])[0].q;
    assert_eq!(alone, beside);
    let same = cell(&around(1.0, 0.1), &around(1.0, 0.1), Design::OneAfterTheOther, 0.01);
    assert!(compare(&[tested, same])[0].q > alone);
}

/// What an unresolved cell would have to reach for a mark is told by Benjamini and Hochberg's step after those that are marked.
#[test]
fn what_is_visible_depends_on_the_table() {
    let design = Design::OneAfterTheOther;
    let (noise, mark) = (around(1.0, 0.02), around(1.5, 0.02));
    let effect = Effect::of(&Numbers::of(design, from_ref(&noise), from_ref(&noise)).expect("sides").0).expect("seven");
    for (marks, cells, level) in
        [(0, 1, 0.05), (0, 4, 0.0125), (1, 4, 0.025), (2, 4, 0.0375), (3, 4, 0.05), (4, 5, 0.05), (2, 2, 0.05)]
    {
        let table: Vec<Cell> =
            (0..cells).map(|place| cell(if place < marks { &mark } else { &noise }, &noise, design, 0.01)).collect();
        let found = compare(&table);
        assert_eq!(found.iter().filter(|one| one.verdict == Verdict::Better).count(), marks);
        let last = found.last().expect("cells").visible.expect("less than tenfold");
        assert!((last / effect.visible(0.01, level) - 1.0).abs() < 1e-9, "{marks} of {cells}: {last}");
    }
    // Before anything is measured nothing is marked yet.
    let planned = |numbers, cells| visible_difference(0.02, numbers, design, 0.01, cells);
    let effect = Effect::planned(0.02, 7, design).expect("seven");
    assert_eq!(planned(7, 1), Some(effect.visible(0.01, 0.05)));
    assert_eq!(planned(7, 10), Some(effect.visible(0.01, 0.005)));
    assert!(Effect::planned(0.02, 2, design).is_some() && Effect::planned(0.02, 1, design).is_none());
    assert_eq!((planned(4, 1), visible_difference(5.0, 7, design, 0.01, 1)), (None, None));
}

/// More than tenfold is not told, and a ratio that is no number neither.
#[test]
fn what_says_nothing_is_not_told() {
    let design = Design::OneAfterTheOther;
    let wild = around(1.0, 3.0);
    let found = compare(&[cell(&wild, &wild, design, 0.01)]).remove(0);
    assert_eq!((found.reason, found.visible), (Reason::NotSignificant, None));
    for (a, b) in [(1e-300, 1e300), (1e300, 1e-300)] {
        let found = compare(&[cell(&[a; 5], &[b; 5], design, 0.01)]).remove(0);
        assert_eq!((found.ratio, found.interval), (None, None));
    }
}

#[test]
fn median_intervals_of_the_method_page() {
    let values: Vec<f64> = (1..=10).map(f64::from).collect();
    for (n, low, high, attained) in [(6, 1.0, 6.0, 0.969), (9, 2.0, 8.0, 0.961), (10, 2.0, 9.0, 0.979)] {
        let found = median_interval(&values[..n], 0.95).expect("n ≥ 6");
        assert_eq!((found.low, found.high), (low, high));
        assert!((found.attained - attained).abs() < 0.0005);
    }
    for n in 0..=5 {
        assert_eq!(median_interval(&values[..n], 0.95), None);
    }
}

#[test]
fn steady_state_limits_are_inclusive() {
    let range = steady_state(&[90.0, 110.0, 100.0, 110.0, 90.0]).expect("five");
    assert!(range.steady && (range.range - 0.20).abs() < 1e-12, "{range:?}");
    let slope = steady_state(&[95.0, 97.5, 100.0, 102.5, 105.0]).expect("five");
    assert!(slope.steady && (slope.drift - 0.10).abs() < 1e-12, "{slope:?}");
    assert!(!steady_state(&[89.0, 111.0, 100.0, 111.0, 89.0]).expect("five").steady);
    assert!(!steady_state(&[94.0, 97.0, 100.0, 103.0, 106.0]).expect("five").steady);
    assert!(steady_state(&[0.0; 5]).is_none());
}

#[test]
fn precision_needs_six() {
    assert!(precision_reached(&[100.0; 6], 0.0));
    assert!(!precision_reached(&[100.0; 5], 0.5));
    assert!(precision_reached(&[99.0, 101.0, 100.0, 100.0, 100.0, 100.0], 0.01));
    assert!(!precision_reached(&[98.9, 101.0, 100.0, 100.0, 100.0, 100.0], 0.01));
}
