//! Drift: what a run differs from itself.

use proptest::prelude::*;
use stend_stats::{Reason, Verdict, compare_runs, compare_table, drift_floors, half_drift};

const STEADY: [f64; 10] = [100.0, 100.2, 99.8, 100.1, 99.9, 100.0, 100.2, 99.8, 100.1, 99.9];

fn times(values: &[f64], factor: f64) -> Vec<f64> {
    values.iter().map(|value| value * factor).collect()
}

/// The second half lies lower by this share.
fn falling(share: f64) -> Vec<f64> {
    STEADY.iter().enumerate().map(|(place, value)| if place < 5 { *value } else { value * (1.0 - share) }).collect()
}

#[test]
fn a_difference_beyond_noise_but_within_drift_is_unresolved() {
    let cell = |a: Vec<f64>| crate::common::cell(vec![a], vec![falling(0.10)], 0.01);
    let small = [cell(times(&STEADY, 1.08))];
    assert_eq!(compare_table(&small)[0].verdict, Verdict::Better, "significant, and beyond δ");
    let result = compare_runs(&small)[0];
    assert_eq!((result.verdict, result.reason, result.needed), (Verdict::Unresolved, Reason::WithinDrift, None));
    assert!(result.drift.is_some_and(|drift| (drift - 1.0 / 0.9 + 1.0).abs() < 0.01));
    assert_eq!(compare_runs(&[cell(times(&STEADY, 2.0))])[0].verdict, Verdict::Better, "beyond the drift too");
}

#[test]
fn a_steady_cell_in_a_restless_table_is_judged_by_the_table() {
    let restless = || crate::common::cell(vec![falling(0.2)], vec![falling(0.2)], 0.01);
    let steady = || crate::common::cell(vec![times(&STEADY, 1.05)], vec![STEADY.to_vec()], 0.01);
    assert_eq!(compare_runs(&[steady()])[0].verdict, Verdict::Better);
    assert_eq!(compare_runs(&[steady(), restless(), restless()])[0].reason, Reason::WithinDrift);
}

#[test]
fn same_is_judged_by_the_floor_alone() {
    let cells = [
        crate::common::cell(vec![STEADY.to_vec()], vec![STEADY.to_vec()], 0.01),
        crate::common::cell(vec![falling(0.3)], vec![falling(0.3)], 0.01),
    ];
    assert_eq!(compare_runs(&cells)[0].verdict, Verdict::Same);
}

#[test]
fn pairs_do_not_drift() {
    let mut cell = crate::common::cell(vec![times(&falling(0.3), 1.1)], vec![falling(0.3)], 0.01);
    cell.paired = true;
    assert_eq!(drift_floors(&[cell.clone()]), [None]);
    assert_eq!(compare_runs(&[cell])[0].verdict, Verdict::Better);
}

#[test]
fn too_few_or_senseless_values_have_no_drift() {
    assert_eq!(half_drift(&STEADY[..5]), None);
    assert_eq!(half_drift(&[1.0, 1.0, f64::NAN, 1.0, 1.0, 1.0]), None);
    assert_eq!(half_drift(&[1.0, 1.0, 0.0, 1.0, 1.0, 1.0]), None);
    assert!(drift_floors(&[]).is_empty());
}

proptest! {
    #[test]
    fn drift_has_no_unit_and_no_direction(values in prop::collection::vec(0.1f64..1e9, 6..30), factor in 1e-6f64..1e6) {
        let drift = half_drift(&values).unwrap();
        let scaled = half_drift(&times(&values, factor)).unwrap();
        prop_assert!((drift - scaled).abs() <= 1e-9 * (1.0 + drift));
        let reversed: Vec<_> = values.iter().rev().copied().collect();
        prop_assert!((drift - half_drift(&reversed).unwrap()).abs() <= 1e-9 * (1.0 + drift));
    }

    #[test]
    fn no_input_makes_it_panic(a in prop::collection::vec(any::<f64>(), 0..12), b in prop::collection::vec(any::<f64>(), 0..12), delta in any::<f64>()) {
        let _ = compare_runs(&[crate::common::cell(vec![a], vec![b], delta)]);
    }
}

/// Pairs of which most agree and some are far off: the interval shows what a robust spread does not.
#[test]
fn what_makes_an_interval_wide_is_in_the_repeats_that_are_needed() {
    let base = vec![100.0; 12];
    let ratios = [0.951, 0.953, 0.955, 0.952, 0.954, 0.953, 0.952, 0.954, 1.15, 1.14, 1.15, 1.16];
    let mut pairs = crate::common::cell(vec![times(&ratios, 100.0)], vec![base], 0.01);
    pairs.paired = true;
    let result = compare_runs(&[pairs])[0];
    let interval = result.interval.unwrap();
    assert!(interval.low < 0.96 && interval.high > 1.05 && result.verdict == Verdict::Unresolved, "{result:?}");
    assert!(result.needed.is_none_or(|needed| needed > 40), "{result:?}");
}

/// With the correlation and the drift of a table more repeats are needed than the cell's own spread says; where there is none of them as many.
#[test]
fn what_hangs_together_needs_more_repeats() {
    let wave = |phase: f64| -> Vec<f64> {
        (0..20).map(|place| 100.0 + 2.0 * (phase + f64::from(place) * 0.4).sin()).collect()
    };
    let cell = || crate::common::cell(vec![times(&wave(0.3), 1.03)], vec![wave(0.0)], 0.01);
    let needed = |cells: &[stend_stats::Cell]| compare_runs(cells)[0].needed;
    let table: Vec<_> = (0..10).map(|_| cell()).collect();
    assert!(needed(&table).is_none_or(|needed| needed > 100), "{:?}", needed(&table));
    // Of the same values in an order that neither rises nor falls.
    let mixed = |values: Vec<f64>| -> Vec<f64> { (0..20).map(|place| values[place * 7 % 20]).collect() };
    let cell = || crate::common::cell(vec![times(&mixed(wave(0.3)), 1.03)], vec![mixed(wave(0.0))], 0.01);
    let table: Vec<_> = (0..10).map(|_| cell()).collect();
    let result = compare_runs(&table)[0];
    assert!(result.verdict == Verdict::Better || result.needed.is_some_and(|needed| needed < 60), "{result:?}");
}
