//! How often the rule errs on simulated repeats of the same thing, and how often its intervals hold what is there.
//! Deterministic; more figures from `examples/calibration_figures.rs`.

use crate::common::{
    NOISES, Noise, autoregressive, cell, holds, interleaved, marked, pairs, rate, repeat, share, side, trials,
};
use stend_stats::{
    Cell, ChangeRule, RatioOptions, SplitMix64, Verdict, change_points, compare_runs, compare_table,
    effective_sample_size, geometric_mean_interval, median_interval, paired_ratio_interval, ratio_interval,
    shift_interval, sign_flip,
};

const TRIALS: usize = 2000;

/// Comparisons of the same with the same.
const FALSE_MARK_TRIALS: usize = 10_000;

/// A share and three standard errors of one found in `trials` trials.
fn at_most(nominal: f64, trials: usize) -> f64 {
    nominal + 3.0 * (nominal * (1.0 - nominal) / trials as f64).sqrt()
}

/// 10,000 comparisons for each kind of noise and number of repeats, unpaired and paired, without any δ: at most the nominal 5 %.
#[test]
fn aa_cells_are_rarely_marked() {
    for (noise, n) in NOISES.into_iter().flat_map(|noise| [6, 10, 20].map(|n| (noise, n))) {
        for paired in [false, true] {
            let mut random = SplitMix64::new(11);
            let mut one = || side(noise, 1, n, 1.0, 0.0, &mut random);
            let results = trials(FALSE_MARK_TRIALS, || Cell { paired, ..cell(one(), one(), 0.0) });
            let significant = share(&results, |r| r.q < Some(0.05));
            let (marks, error) = rate(results.iter().filter(|r| marked(r)).count(), FALSE_MARK_TRIALS);
            let what = format!("{noise:?} n={n}, paired {paired}");
            assert!(significant <= at_most(0.05, FALSE_MARK_TRIALS), "{what}: p {significant}");
            // Of pairs interval and test say the same, so that without δ the level is used up.
            let most = if paired { at_most(0.05, FALSE_MARK_TRIALS) } else { 0.05 - 3.0 * error };
            assert!(marks <= most, "{what}: marked {marks} ± {error}, even without δ");
        }
    }
}

/// 500 tables of twenty cells for each kind of noise: of the cells few are marked, and of the tables few have any mark.
#[test]
fn aa_tables_are_rarely_marked_anywhere() {
    for (noise, paired) in NOISES.into_iter().flat_map(|noise| [false, true].map(|paired| (noise, paired))) {
        let mut random = SplitMix64::new(12);
        let (mut cells, mut tables) = (0, 0);
        for _ in 0..FALSE_MARK_TRIALS / 20 {
            let mut one = || side(noise, 1, 10, 1.0, 0.0, &mut random);
            let table: Vec<_> = (0..20).map(|_| Cell { paired, ..cell(one(), one(), 0.0) }).collect();
            let marks = compare_table(&table).iter().filter(|r| marked(r)).count();
            cells += marks;
            tables += usize::from(marks > 0);
        }
        let (share, error) = rate(cells, FALSE_MARK_TRIALS);
        assert!(share + 3.0 * error <= 0.05, "{noise:?}, paired {paired}: {share} ± {error} of cells");
        let (share, _) = rate(tables, FALSE_MARK_TRIALS / 20);
        assert!(share <= at_most(0.05, FALSE_MARK_TRIALS / 20), "{noise:?}, paired {paired}: {share} of tables");
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

/// Of 10,000 samples each: the interval of a median covers as often as its order statistics say, whatever the noise, and that of a shift at least
/// as often as it is asked to; a test by flips of signs, made on pairs of the same, keeps its level.
#[test]
fn exact_intervals_and_tests_keep_what_they_say() {
    for (noise, n) in [Noise::Normal, Noise::LogNormal].into_iter().flat_map(|noise| [6, 10, 20].map(|n| (noise, n))) {
        let mut random = SplitMix64::new(30);
        let (mut medians, mut shifts, mut flips, mut attained) = (0, 0, 0, 0.0);
        for _ in 0..FALSE_MARK_TRIALS {
            let mut one = || side(noise, 1, n, 1.0, 0.0, &mut random).concat();
            let (a, b) = (one(), one());
            let moved: Vec<f64> = a.iter().map(|value| value + 4.0).collect();
            let of_median = median_interval(&a, 0.95).expect("six or more");
            attained = of_median.attained;
            medians += usize::from(of_median.low <= 100.0 && 100.0 <= of_median.high);
            let of_shift = shift_interval(&moved, &b, 0.95).expect("four or more");
            shifts += usize::from(of_shift.low <= 4.0 && 4.0 <= of_shift.high);
            let differences: Vec<f64> = a.iter().zip(&b).map(|(a, b)| a.ln() - b.ln()).collect();
            flips += usize::from(sign_flip(&differences, 1).expect("finite").p < 0.05);
        }
        let [(medians, error), (shifts, of_shifts), (flips, _)] =
            [medians, shifts, flips].map(|count| rate(count, FALSE_MARK_TRIALS));
        println!("{noise:?} n={n}: medians {medians}, of {attained}; shifts {shifts}; flips {flips}");
        assert!((medians - attained).abs() <= 3.0 * error, "{noise:?} n={n}: {medians}, said {attained}");
        assert!(shifts + 3.0 * of_shifts >= 0.95 && shifts <= 0.98, "{noise:?} n={n}: {shifts}");
        assert!(flips <= at_most(0.05, FALSE_MARK_TRIALS), "{noise:?} n={n}: {flips}");
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

/// Pairs keep their coverage where what disturbs both of a pair is many times what differs between them.
#[test]
fn intervals_of_pairs_cover_the_true_ratio() {
    let all = NOISES.into_iter().map(Some).chain([None]);
    for (noise, n) in all.flat_map(|noise| [6, 10, 20].map(|n| (noise, n))) {
        let mut random = SplitMix64::new(24);
        let held = (0..TRIALS).filter(|_| {
            let [a, b] = match noise {
                Some(noise) => [1.04, 1.0].map(|factor| side(noise, 1, n, factor, 0.0, &mut random).concat()),
                None => interleaved(0.9, n, 1.04, &mut random),
            };
            holds(paired_ratio_interval(&[a], &[b], &RatioOptions::default()), 1.04)
        });
        let (covered, error) = rate(held.count(), TRIALS);
        assert!(covered + 3.0 * error >= 0.95 && covered <= 0.985, "{noise:?} n={n}: {covered} ± {error}");
    }
}

/// Alike sessions cause no false marks.
#[test]
fn alike_sessions_are_rarely_marked() {
    for (sessions, paired) in [(2, false), (3, false), (2, true)] {
        let mut random = SplitMix64::new(17);
        let mut one = || side(Noise::Normal, sessions, 10, 1.0, 0.0, &mut random);
        let results = trials(if paired { 200 } else { TRIALS }, || Cell { paired, ..cell(one(), one(), 0.0) });
        assert!(share(&results, marked) <= 0.05, "{sessions} sessions, paired {paired}");
    }
}

/// The method page's table of sessions that differ: sessions a side, CV between them, and the share of whole runs marked by mistake. Two sessions
/// a side are not enough either, but far better than one.
#[test]
fn sessions_that_differ_are_marked_as_often_as_is_said() {
    const TRIALS: usize = 2500;
    for (sessions, between, said) in [
        (1, 0.005, 0.005),
        (1, 0.01, 0.038),
        (1, 0.02, 0.191),
        (1, 0.05, 0.546),
        (2, 0.01, 0.008),
        (2, 0.02, 0.053),
        (2, 0.05, 0.171),
    ] {
        let mut random = SplitMix64::new(28);
        let mut one = || side(Noise::Normal, sessions, 10, 1.0, between, &mut random);
        let marks = (0..TRIALS).filter(|_| marked(&compare_runs(&[cell(one(), one(), 0.01)])[0])).count();
        let (share, error) = rate(marks, TRIALS);
        // The page's figures are of 10,000 trials.
        let off = 3.0 * error.hypot(error / 2.0) + 0.0005;
        assert!((share - said).abs() <= off, "{sessions} sessions, CV between {between}: {share} ± {off}, said {said}");
    }
}

/// The figures of the method page: neighbours with a correlation, repeats a side, cells in a table, and the share of cells that are marked
/// by mistake. A test that takes repeats for independent is fooled; what is said of whole runs keeps its level, also of a single cell, and errs
/// as often as is said and no more.
#[test]
fn runs_whose_repeats_hang_together_are_rarely_marked() {
    for (correlation, n, size, said) in [
        (0.5, 10, 1, 0.0085),
        (0.7, 6, 1, 0.0178),
        (0.9, 6, 1, 0.0413),
        (0.9, 6, 5, 0.0482),
        (0.9, 6, 20, 0.0439),
        (0.8, 10, 1, 0.0261),
        (0.9, 10, 1, 0.0468),
        (0.9, 10, 5, 0.0417),
        (0.9, 10, 20, 0.0388),
        (0.9, 20, 1, 0.0353),
        (0.9, 20, 20, 0.0247),
    ] {
        let mut random = SplitMix64::new(18);
        let mut one = || vec![autoregressive(correlation, n, &mut random)];
        let (mut bare, mut runs) = (0, 0);
        for _ in 0..FALSE_MARK_TRIALS / size {
            let cells: Vec<_> = (0..size).map(|_| cell(one(), one(), 0.01)).collect();
            for result in compare_runs(&cells) {
                bare += usize::from(result.test.is_some_and(|test| test.p < 0.05));
                runs += usize::from(marked(&result));
            }
        }
        let ((bare, _), (runs, error)) = (rate(bare, FALSE_MARK_TRIALS), rate(runs, FALSE_MARK_TRIALS));
        // Both are shares of 10,000; cells of one table hang together by its estimate.
        let off = 3.0 * error * if size > 1 { 2.0 } else { 2_f64.sqrt() };
        assert!(
            (runs - said).abs() <= off,
            "correlation {correlation}, n={n}, {size} cells: {runs} ± {off}, said {said}"
        );
        assert!(bare > 4.0 * 0.05, "the noise is no trial: {bare}");
    }
}

/// Repeats in turns share the wave. Differences of one block A B B A hang together by ρ(1 − ρ)/2 all the same, which is most at ρ = 0.5: there
/// the test is a little off its level, and with δ the verdicts are far below it.
#[test]
fn pairs_whose_repeats_hang_together_are_rarely_marked() {
    for (correlation, n) in [0.5, 0.9].into_iter().flat_map(|correlation| [6, 10, 20].map(|n| (correlation, n))) {
        for (delta, most) in [(0.0, 0.065), (0.01, 0.005)] {
            let mut random = SplitMix64::new(27);
            let marks = (0..FALSE_MARK_TRIALS)
                .filter(|_| marked(&compare_runs(&[pairs(interleaved(correlation, n, 1.0, &mut random), delta)])[0]));
            let (share, error) = rate(marks.count(), FALSE_MARK_TRIALS);
            let most = at_most(most, FALSE_MARK_TRIALS);
            assert!(share <= most, "correlation {correlation}, n={n}, δ = {delta}: {share} ± {error}");
        }
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
