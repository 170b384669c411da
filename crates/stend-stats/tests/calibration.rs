//! How often the rule errs, and how often it finds what is there, on simulated repeats.
//! Deterministic; more figures from `examples/calibration_figures.rs`.

mod common;

use common::{NOISES, Noise, autoregressive, cell, holds, marked, repeat, share, side, trials};
use stend_stats::{
    ChangeRule, RatioOptions, SplitMix64, Verdict, change_points, compare_runs, compare_table, effective_sample_size,
    geometric_mean_interval, ratio_interval,
};

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

/// Repeats that hang together fool any test that takes them for independent; what is said of whole runs keeps its level
/// up to a correlation of 0.7, and beyond that most cells stay unresolved.
#[test]
fn runs_whose_repeats_hang_together_are_rarely_marked() {
    const TRIALS: usize = 10_000;
    let cases = [(0.5, 6, 0.05), (0.7, 6, 0.05), (0.9, 6, 0.20), (0.7, 10, 0.05), (0.9, 10, 0.15), (0.7, 20, 0.05)];
    for (correlation, n, most) in cases {
        let mut random = SplitMix64::new(18);
        let mut one = || vec![autoregressive(correlation, n, &mut random)];
        let (mut bare, mut runs) = (0, 0);
        for _ in 0..TRIALS {
            let result = compare_runs(&[cell(one(), one(), 0.01)])[0];
            bare += usize::from(result.q < Some(0.05));
            runs += usize::from(marked(&result));
        }
        let rate = |count: usize| count as f64 / TRIALS as f64;
        assert!(rate(runs) <= most, "correlation {correlation}, n={n}: {}", rate(runs));
        assert!(rate(bare) > 4.0 * 0.05, "the noise is no trial: {}", rate(bare));
    }
}

/// Independent repeats pay little for that.
#[test]
fn runs_without_correlation_keep_their_power() {
    for (n, factor, least) in [(10, 1.04, 0.50), (10, 1.06, 0.88), (15, 1.05, 0.87), (20, 1.04, 0.85)] {
        let mut random = SplitMix64::new(19);
        let found = (0..600)
            .filter(|_| {
                let a = side(Noise::Normal, 1, n, factor, 0.0, &mut random);
                let cells = [cell(a, side(Noise::Normal, 1, n, 1.0, 0.0, &mut random), 0.01)];
                marked(&compare_runs(&cells)[0])
            })
            .count();
        assert!(found as f64 >= 600.0 * least, "n={n} factor {factor}: {found} of 600");
    }
}

/// Steady histories seldom show a change, even where no least change is asked for.
#[test]
fn steady_histories_have_no_change_points() {
    let rule = ChangeRule { least_change: 0.0, ..ChangeRule::default() };
    for noise in NOISES {
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
            let history: Vec<f64> = (0..25).map(|run| level(run) * repeat(Noise::Normal, &mut random)).collect();
            let points = change_points(&history, &ChangeRule::default()).expect("positive");
            points.len() == 1 && points[0].index.abs_diff(15) <= 1
        })
        .count();
    assert!(found >= 450, "{found} of 500");
}

/// τ of a long autoregression is (1 + ρ)/(1 − ρ), and the mean's error is what the effective size says.
#[test]
fn effective_size_of_an_autoregression() {
    for correlation in [0.0, 0.5, 0.9] {
        let mut random = SplitMix64::new(22);
        let (mut within, mut times) = (0, 0.0);
        for _ in 0..300 {
            let series = autoregressive(correlation, 2000, &mut random);
            let found = effective_sample_size(&series).expect("long");
            let mean = stend_stats::mean(&series).expect("finite");
            within += usize::from((mean - 100.0).abs() < 1.96 * found.standard_error);
            times += found.correlation_time / 300.0;
        }
        let expected = (1.0 + correlation) / (1.0 - correlation);
        assert!((times / expected - 1.0).abs() < 0.1, "{correlation}: τ {times}, expected {expected}");
        assert!((272..298).contains(&within), "{correlation}: {within} of 300 within 1.96 standard errors");
    }
}

/// The geometric mean over scenarios of very different spread.
#[test]
fn interval_of_the_geometric_mean_covers() {
    let mut random = SplitMix64::new(23);
    let options = RatioOptions::default();
    let covered = (0..600)
        .filter(|_| {
            let one = |noise: &Noise| {
                let a = side(*noise, 1, 10, 1.1, 0.0, &mut random);
                ratio_interval(&a, &side(*noise, 1, 10, 1.0, 0.0, &mut random), &options)
            };
            let intervals: Option<Vec<_>> = NOISES.iter().cycle().take(12).map(one).collect();
            holds(geometric_mean_interval(&intervals.expect("positive")), 1.1)
        })
        .count();
    assert!((558..=594).contains(&covered), "{covered} of 600");
}
