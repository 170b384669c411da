//! How often the rule errs, and how often it finds what is there, on simulated repeats.
//! Deterministic; more figures from `examples/calibration_figures.rs`.

mod common;

use common::{NOISES, Noise, cell, marked, share, side, trials};
use stend_stats::{SplitMix64, Verdict, compare_table};

const TRIALS: usize = 2000;

/// 5 % and three standard errors of a share found in `trials` trials.
fn at_most(nominal: f64, trials: usize) -> f64 {
    nominal + 3.0 * (nominal * (1.0 - nominal) / trials as f64).sqrt()
}

#[test]
fn aa_cells_are_rarely_marked() {
    for noise in NOISES {
        for n in [6, 10] {
            let mut random = SplitMix64::new(11);
            let results = trials(TRIALS, || {
                let a = side(noise, 1, n, 1.0, 0.0, &mut random);
                cell(a, side(noise, 1, n, 1.0, 0.0, &mut random), 0.0)
            });
            let significant = share(&results, |r| r.q < Some(0.05));
            let false_marks = share(&results, marked);
            assert!(significant <= at_most(0.05, TRIALS), "{noise:?} n={n}: p {significant}");
            assert!(false_marks <= 0.05, "{noise:?} n={n}: marked {false_marks}, even without δ");
        }
    }
}

#[test]
fn aa_tables_are_rarely_marked_anywhere() {
    for noise in NOISES {
        let mut random = SplitMix64::new(12);
        let mut one = || side(noise, 1, 10, 1.0, 0.0, &mut random);
        let any = (0..100)
            .filter(|_| {
                let cells: Vec<_> = (0..20).map(|_| cell(one(), one(), 0.0)).collect();
                compare_table(&cells).iter().any(marked)
            })
            .count();
        assert!(any as f64 / 100.0 <= at_most(0.05, 100), "{noise:?}: {any} of 100 tables");
    }
}

#[test]
fn intervals_cover_the_true_ratio() {
    for noise in [Noise::Normal, Noise::LogNormal, Noise::Bimodal] {
        for n in [6, 10, 15] {
            let mut random = SplitMix64::new(13);
            let results = trials(TRIALS, || {
                let a = side(noise, 1, n, 1.05, 0.0, &mut random);
                cell(a, side(noise, 1, n, 1.0, 0.0, &mut random), 0.01)
            });
            let held = |r: &_| {
                let result: &stend_stats::CellResult = r;
                result.interval.is_some_and(|i| i.low <= 1.05 && 1.05 <= i.high)
            };
            let covered = share(&results, held);
            assert!((0.935..0.985).contains(&covered), "{noise:?} n={n}: {covered}");
        }
    }
}

/// A true change just beyond δ is not called the same more often than the interval allows.
#[test]
fn same_is_not_said_lightly() {
    for n in [6, 10, 20] {
        let mut random = SplitMix64::new(14);
        let results = trials(TRIALS, || {
            let a = side(Noise::Normal, 1, n, 1.0201, 0.0, &mut random);
            cell(a, side(Noise::Normal, 1, n, 1.0, 0.0, &mut random), 0.02)
        });
        let wrong = share(&results, |r| r.verdict == Verdict::Same);
        assert!(wrong <= at_most(0.025, TRIALS), "n={n}: {wrong}");
    }
}

/// The table of the method page: normal data, α = 0.01, effect in units of CV.
#[test]
fn power_is_that_of_the_method_page() {
    for (n, powers) in [
        (5, [0.07, 0.20, 0.40, 0.77]),
        (10, [0.27, 0.63, 0.91, 1.0]),
        (15, [0.48, 0.89, 0.99, 1.0]),
        (20, [0.63, 0.96, 1.0, 1.0]),
    ] {
        for (effect, power) in [1.0, 1.5, 2.0, 3.0].into_iter().zip(powers) {
            let mut random = SplitMix64::new(15);
            let found = (0..1000)
                .filter(|_| {
                    let a = side(Noise::Normal, 1, n, 1.0 + 0.02 * effect, 0.0, &mut random);
                    let b = side(Noise::Normal, 1, n, 1.0, 0.0, &mut random);
                    stend_stats::mann_whitney(&a[0], &b[0]).is_some_and(|t| t.p < 0.01)
                })
                .count() as f64
                / 1000.0;
            // Both are shares of trials; the effect widens a by as much, costing a little.
            assert!((found - power).abs() < 0.06, "n={n} effect {effect}: {found}, page {power}");
        }
    }
}

/// The estimate "need n" leads to a decision in about nine of ten trials.
#[test]
fn needed_repeats_suffice() {
    for (factor, delta) in [(1.03, 0.01), (1.05, 0.01), (1.10, 0.05)] {
        let spread = stend_stats::Spread { a: 0.02, b: 0.02 };
        let n = stend_stats::repeats_needed(spread, factor, delta, 0.05).expect("reachable");
        let mut random = SplitMix64::new(16);
        let results = trials(500, || {
            let a = side(Noise::Normal, 1, n, factor, 0.0, &mut random);
            cell(a, side(Noise::Normal, 1, n, 1.0, 0.0, &mut random), delta)
        });
        let decided = share(&results, |r| r.verdict == Verdict::Better);
        assert!(decided > 0.82, "{factor} δ={delta} n={n}: {decided}");
    }
}

/// Alike sessions cause no false marks. (Sessions that differ do, when there are two a side: see
/// the figures of the example; that is what the A/A floor is for.)
#[test]
fn alike_sessions_are_rarely_marked() {
    let mut random = SplitMix64::new(17);
    let results = trials(200, || {
        let a = side(Noise::Normal, 2, 10, 1.0, 0.0, &mut random);
        cell(a, side(Noise::Normal, 2, 10, 1.0, 0.0, &mut random), 0.0)
    });
    assert!(share(&results, marked) <= 0.05);
}
