//! Values printed in tables, and the figures of the project's method page.

use stend_stats::{
    Cell, Direction, Evidence, IntervalMethod, Method, RatioInterval, RatioOptions, Reason, Verdict, aa_floor,
    compare_table, geometric_mean_interval, judge, mann_whitney, median_interval, median_interval_of_sessions,
    noise_floor, precision_reached, sign_flip, steady_state,
};

/// Two samples of n and m values whose U is `u`, without ties.
fn samples_with_u(n: usize, m: usize, u: usize) -> (Vec<f64>, Vec<f64>) {
    // aᵢ stands above `u / n` values of b, the last u % n of them above one more.
    let b: Vec<f64> = (1..=m).map(|j| j as f64).collect();
    let above = |i: usize| u / n + usize::from(i >= n - u % n);
    let a = (0..n).map(|i| above(i) as f64 + 0.5 + i as f64 / (4 * n) as f64).collect();
    (a, b)
}

/// Critical values of U, two-sided α = 0.05: Milton, *J. Amer. Statist. Assoc.* 59 (1964), as in
/// most textbooks.
#[test]
fn critical_values_of_u() {
    for (n, m, critical) in [
        (4, 4, 0),
        (5, 5, 2),
        (6, 6, 5),
        (7, 7, 8),
        (8, 8, 13),
        (9, 9, 17),
        (10, 10, 23),
        (12, 12, 37),
        (15, 15, 64),
        (20, 20, 127),
        (5, 10, 8),
        (8, 12, 22),
        (10, 20, 55),
    ] {
        let p = |u| {
            let (a, b) = samples_with_u(n, m, u);
            let test = mann_whitney(&a, &b).expect("finite");
            assert_eq!((test.statistic, test.method), (u as f64, Method::Exact));
            test.p
        };
        assert!(p(critical) <= 0.05, "n={n} m={m} U={critical}: {}", p(critical));
        assert!(p(critical + 1) > 0.05, "n={n} m={m} U={}: {}", critical + 1, p(critical + 1));
    }
}

#[test]
fn smallest_p_of_the_method_page() {
    for (n, p) in [(4, 0.029), (5, 0.0079), (6, 0.0022), (7, 0.000_58)] {
        let (a, b) = samples_with_u(n, n, 0);
        let found = mann_whitney(&a, &b).expect("finite").p;
        assert!((found / p - 1.0).abs() < 0.02, "n={n}: {found}");
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

/// Darwin's maize, the data of Fisher's own example (*The Design of Experiments*, §21): 863 of
/// 32768 sums reach the observed one on either side, so p = 1726/32768.
#[test]
fn fishers_sign_flip() {
    let eighths = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48];
    let inches: Vec<f64> = eighths.iter().map(|e| f64::from(*e) / 8.0).collect();
    let test = sign_flip(&inches, 0).expect("finite");
    assert_eq!(test.p, 1726.0 / 32768.0);
}

#[test]
fn all_equal_is_no_difference() {
    let test = mann_whitney(&[5.0; 10], &[5.0; 8]).expect("finite");
    assert_eq!((test.p, test.method), (1.0, Method::Permutation));
    assert_eq!(mann_whitney(&[5.0; 100], &[5.0; 80]).map(|t| t.p), Some(1.0));
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

fn evidence(low: f64, high: f64, q: f64) -> Evidence {
    let ratio = (low * high).sqrt();
    let method = IntervalMethod::Bca;
    Evidence {
        repeats_a: 6,
        repeats_b: 6,
        interval: Some(RatioInterval { ratio, low, high, confidence: 0.95, method }),
        q: Some(q),
        delta: 0.01,
        direction: Direction::HigherIsBetter,
    }
}

#[test]
fn the_rule_clause_by_clause() {
    use Reason::*;
    use Verdict::*;
    let edge = 1.0 / 1.01;
    for (low, high, q, verdict, reason) in [
        (1.02, 1.05, 0.01, Better, BeyondFloor),
        (0.90, 0.95, 0.01, Worse, BeyondFloor),
        (1.02, 1.05, 0.05, Unresolved, NotSignificant),
        (1.01, 1.05, 0.01, Unresolved, CrossesFloor),
        (0.90, edge, 0.01, Unresolved, CrossesFloor),
        (edge, 1.01, 0.01, Same, WithinFloor),
        (edge, 1.01, 0.90, Same, WithinFloor),
        (0.98, 1.01, 0.90, Unresolved, NotSignificant),
        (0.50, 2.00, 0.01, Unresolved, CrossesFloor),
        (f64::NAN, 2.00, 0.01, Unresolved, NoEvidence),
        (-0.50, 2.00, 0.01, Unresolved, NoEvidence),
        (2.00, 1.05, 0.01, Unresolved, NoEvidence),
        (1.02, f64::INFINITY, 0.01, Unresolved, NoEvidence),
        (1.02, 1.05, f64::NAN, Unresolved, NoEvidence),
    ] {
        let found = judge(&evidence(low, high, q));
        assert_eq!((found.verdict, found.reason), (verdict, reason), "{low} {high} {q}");
    }
    let good = evidence(1.02, 1.05, 0.01);
    let lower = judge(&Evidence { direction: Direction::LowerIsBetter, ..good });
    assert_eq!(lower.verdict, Worse);
    assert_eq!(judge(&Evidence { repeats_b: 5, ..good }).reason, TooFewRepeats);
    assert_eq!(judge(&Evidence { delta: -0.01, ..good }).reason, BadFloor);
    assert_eq!(judge(&Evidence { interval: None, ..good }).reason, NoEvidence);
}

#[test]
fn floors_are_the_largest_that_is_known_and_refuse_what_is_no_floor() {
    assert_eq!(noise_floor(None, None), Some(0.01));
    assert_eq!(noise_floor(Some(0.005), Some(0.03)), Some(0.03));
    assert_eq!(noise_floor(Some(0.02), None), Some(0.02));
    for wrong in [-0.01, f64::NAN, f64::INFINITY] {
        assert_eq!((noise_floor(Some(wrong), None), noise_floor(None, Some(wrong))), (None, None));
    }
    let doubled = [2.0; 20];
    assert!((aa_floor(&doubled).unwrap() - 1.0).abs() < 1e-12);
    for wrong in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(aa_floor(&[1.0, wrong]), None);
    }
    assert_eq!(aa_floor(&[]), None);
}

/// With ties a sum below the mean may have the larger tail below it: of the 21 pairs of mid-ranks 13 have a sum of at most that of these
/// two, and 9 one of at least it.
#[test]
fn with_ties_the_smaller_tail_counts_on_whichever_side_it_is() {
    let (few, many) = ([0.0, 3.0], [1.0, 1.0, 2.0, 2.0, 2.0]);
    for (a, b) in [(&few[..], &many[..]), (&many, &few)] {
        let p = mann_whitney(a, b).unwrap().p;
        assert!((p - 18.0 / 21.0).abs() < 1e-12, "{p}");
    }
}

#[test]
fn a_table_with_every_reason() {
    let cell = |a: &[f64], b: &[f64]| Cell {
        a_sessions: vec![a.to_vec()],
        b_sessions: vec![b.to_vec()],
        direction: Direction::LowerIsBetter,
        delta: 0.01,
        paired: false,
    };
    let base = [100.0, 100.1, 100.2, 99.9, 99.8, 100.05];
    let times = |factor: f64| base.map(|v| v * factor);
    let wide = [80.0, 90.0, 100.0, 110.0, 120.0, 130.0];
    let zero = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0];
    let unpaired = Cell { paired: true, ..cell(&base, &wide[..5]) };
    let cells = [
        (cell(&times(0.8), &base), Reason::BeyondFloor),
        (cell(&times(1.001), &base), Reason::WithinFloor),
        (cell(&wide, &base), Reason::NotSignificant),
        (cell(&base[..5], &times(0.5)), Reason::TooFewRepeats),
        (cell(&[f64::NAN; 6], &base), Reason::NotFinite),
        (cell(&zero, &base), Reason::NotPositive),
        (unpaired, Reason::UnequalPairs),
        (Cell { delta: f64::NAN, ..cell(&base, &base) }, Reason::BadFloor),
        (cell(&[], &[]), Reason::TooFewRepeats),
        (cell(&base[..1], &base), Reason::TooFewRepeats),
    ];
    let table: Vec<Cell> = cells.iter().map(|c| c.0.clone()).collect();
    let results = compare_table(&table);
    for (result, (_, reason)) in results.iter().zip(&cells) {
        assert_eq!(result.reason, *reason, "{result:?}");
        assert_eq!(result.q.is_some(), result.test.is_some());
    }
    assert_eq!(results[0].verdict, Verdict::Better);
    // Three cells were tested; the best p, 2/C(12, 6), is multiplied by three at most.
    let p = 2.0 / 924.0;
    assert!((results[0].test.expect("tested").p - p).abs() < 1e-15);
    assert!(results[0].q.expect("tested") <= 3.0 * p + 1e-15);
    assert!(results[2].needed.expect("an estimate") > 6);
    assert_eq!(results[3].needed, Some(6));
    assert_eq!((results[8].needed, results[9].needed), (None, None), "of a single repeat no spread is known");
    assert_eq!(results[3].ratio.map(|r| r.round()), Some(2.0));
}

#[test]
fn pairs_see_through_a_common_drift() {
    // Both sides drift by tens of per cent together; b is 3 % lower each time.
    let b: Vec<f64> = (0..12).map(|i| 100.0 + 5.0 * f64::from(i)).collect();
    let a: Vec<f64> = b.iter().enumerate().map(|(i, v)| v * (1.03 + 0.001 * (i % 3) as f64)).collect();
    let cell = |paired| Cell {
        a_sessions: vec![a.clone()],
        b_sessions: vec![b.clone()],
        direction: Direction::HigherIsBetter,
        delta: 0.01,
        paired,
    };
    let results = compare_table(&[cell(true), cell(false)]);
    assert_eq!(results[0].verdict, Verdict::Better);
    assert_eq!(results[1].verdict, Verdict::Unresolved);
}

#[test]
fn geometric_mean_interval_shrinks_with_scenarios() {
    let one = evidence(0.98, 1.0 / 0.98, 0.5).interval.expect("given");
    let four = geometric_mean_interval(&[one; 4]).expect("sound");
    assert!((four.low.ln() - 0.98_f64.ln() / 2.0).abs() < 1e-12);
    assert!((four.high * four.low - 1.0).abs() < 1e-12);
    assert_eq!(geometric_mean_interval(&[]), None);
}

/// The interval of the median by all 6⁶ ways to draw six sessions of equal repeats: a draw's median is that of the drawn levels.
#[test]
fn a_medians_interval_over_sessions_is_that_of_all_ways_to_draw_them() {
    let levels = [100.0, 101.0, 102.0, 103.0, 104.0, 105.0];
    let mut medians = Vec::new();
    for draw in 0..6_usize.pow(6) {
        let mut drawn: Vec<f64> = (0..6).map(|place| levels[draw / 6_usize.pow(place) % 6]).collect();
        drawn.sort_by(f64::total_cmp);
        medians.push(f64::midpoint(drawn[2], drawn[3]));
    }
    medians.sort_by(f64::total_cmp);
    let tail = (0.025 * medians.len() as f64) as usize;
    let expected = (medians[tail], medians[medians.len() - 1 - tail]);
    let sessions: Vec<Vec<f64>> = levels.iter().map(|level| vec![*level; 5]).collect();
    let is_by_draws = |sessions: &[Vec<f64>], moved: f64| {
        let (low, high) = median_interval_of_sessions(sessions, &RatioOptions::default()).expect("thirty");
        let apart = (low + moved - expected.0).abs().max((high + moved - expected.1).abs());
        assert!(apart < 1e-9, "{low} … {high} is not {expected:?} less {moved}");
    };
    is_by_draws(&sessions, 0.0);
    // All repeats as if they were of one session would say half of it, and more of them less still.
    let pooled = median_interval(&sessions.concat(), 0.95).expect("thirty");
    assert!(pooled.high - pooled.low < expected.1 - expected.0, "{pooled:?}");
    // Levels that are not above zero have the same, moved.
    let moved: Vec<Vec<f64>> = sessions.iter().map(|session| session.iter().map(|v| v - 102.0).collect()).collect();
    is_by_draws(&moved, 102.0);
}
