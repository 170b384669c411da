//! Measures how the rule behaves on simulated repeats: false marks, coverage, power.
//!
//!     cargo run --release -p stend-stats --example calibration_figures [SECTION...]
//!
//! Deterministic: the same figures on every machine, times apart.

#[path = "../tests/common/mod.rs"]
mod common;

use std::time::Instant;

use common::{NOISES, Noise, autoregressive, cell, holds, marked, repeat, share, side, trials};
use stend_stats::{
    ChangeRule, IntervalMethod, RatioOptions, SplitMix64, Verdict, aa_floor, change_points, compare_runs,
    compare_table, median, noise_floor, ratio_interval,
};

/// Of a comparison of the same with the same.
const FALSE_MARK_TRIALS: usize = 10_000;

/// Of everything else.
const TRIALS: usize = 4000;

type Section = (&'static str, fn());

/// All sections, or those named as arguments.
fn main() {
    let sections: [Section; 10] = [
        ("false_marks", false_marks),
        ("correlated", correlated),
        ("power_of_runs", power_of_runs),
        ("coverage", coverage),
        ("power", power),
        ("tables", tables),
        ("sessions", sessions),
        ("session_intervals", session_intervals),
        ("needed", needed),
        ("histories", histories),
    ];
    let named: Vec<String> = std::env::args().skip(1).collect();
    for (name, section) in sections {
        if named.is_empty() || named.iter().any(|one| one == name) {
            let start = Instant::now();
            section();
            println!("  ({name}: {:.0} s)", start.elapsed().as_secs_f64());
        }
    }
}

fn correlated() {
    println!(
        "A/A, one session, one cell, neighbours correlated, CV 2 %, δ = 1 %: share p < 0.05, marked by the table's"
    );
    println!("rule, marked as whole runs; and as whole runs in tables of 20 cells, share of cells");
    for (n, correlation) in [6, 10, 20].into_iter().flat_map(|n| [0.0, 0.2, 0.5, 0.7, 0.9].map(|c| (n, c))) {
        let mut random = SplitMix64::new(8);
        let mut make = || {
            let a = vec![autoregressive(correlation, n, &mut random)];
            cell(a, vec![autoregressive(correlation, n, &mut random)], 0.01)
        };
        let (mut significant, mut table, mut runs) = (0, 0, 0);
        for _ in 0..FALSE_MARK_TRIALS {
            let cells = [make()];
            let result = compare_table(&cells)[0];
            significant += usize::from(result.q < Some(0.05));
            table += usize::from(marked(&result));
            runs += usize::from(marked(&compare_runs(&cells)[0]));
        }
        let of_twenty = (0..FALSE_MARK_TRIALS / 20).map(|_| {
            let cells: Vec<_> = (0..20).map(|_| make()).collect();
            compare_runs(&cells).iter().filter(|result| marked(result)).count()
        });
        let of_twenty = of_twenty.sum::<usize>();
        let rate = |count: usize| count as f64 / FALSE_MARK_TRIALS as f64;
        println!(
            "  n={n} correlation {correlation}: p {:.4}  table {:.4}  runs {:.4}  of twenty {:.4}",
            rate(significant),
            rate(table),
            rate(runs),
            rate(of_twenty)
        );
    }
}

fn power_of_runs() {
    println!(
        "Power, one session of independent normal repeats, CV 2 %, δ = 1 %: share marked by the table's rule, as whole"
    );
    println!("runs of one cell, and as whole runs in tables of 20 cells, one of which differs");
    for n in [6, 10, 20] {
        for effect in [2.0, 2.5, 3.0] {
            let mut random = SplitMix64::new(12);
            let mut make = |factor: f64| {
                let a = side(Noise::Normal, 1, n, factor, 0.0, &mut random);
                cell(a, side(Noise::Normal, 1, n, 1.0, 0.0, &mut random), 0.01)
            };
            let (mut table, mut runs, mut of_twenty) = (0, 0, 0);
            for trial in 0..FALSE_MARK_TRIALS {
                let mut cells = vec![make(1.0 + 0.02 * effect)];
                table += usize::from(marked(&compare_table(&cells)[0]));
                runs += usize::from(marked(&compare_runs(&cells)[0]));
                if trial % 20 == 0 {
                    cells.extend((1..20).map(|_| make(1.0)));
                    of_twenty += usize::from(marked(&compare_runs(&cells)[0]));
                }
            }
            let rate = |count: usize| count as f64 / FALSE_MARK_TRIALS as f64;
            let of_twenty = 20.0 * rate(of_twenty);
            println!(
                "  n={n} effect/CV={effect}: table {:.3}  runs {:.3}  of twenty {of_twenty:.3}",
                rate(table),
                rate(runs)
            );
        }
    }
}

fn session_intervals() {
    println!("Coverage of the 95 % interval with several sessions a side of 6 repeats (normal, CV 2 % within),");
    println!("2000 draws: percentile, BCa");
    for sessions in [2, 3, 5, 8] {
        for between in [0.0, 0.01, 0.02] {
            let mut random = SplitMix64::new(9);
            let mut held = [0; 2];
            for _ in 0..1000 {
                let a = side(Noise::Normal, sessions, 6, 1.05, between, &mut random);
                let b = side(Noise::Normal, sessions, 6, 1.0, between, &mut random);
                for (count, method) in held.iter_mut().zip([IntervalMethod::Percentile, IntervalMethod::Bca]) {
                    let options = RatioOptions { draws: 2000, method: Some(method), ..RatioOptions::default() };
                    *count += usize::from(holds(ratio_interval(&a, &b, &options), 1.05));
                }
            }
            let [percentile, bca] = held.map(|count| count as f64 / 1000.0);
            println!("  {sessions} sessions, CV between {between}: {percentile:.3}  {bca:.3}");
        }
    }
    println!("and with one session, 10,000 trials");
    for (noise, n) in NOISES.into_iter().flat_map(|noise| [6, 10, 20].map(|n| (noise, n))) {
        let mut random = SplitMix64::new(10);
        let mut held = [0; 2];
        for _ in 0..FALSE_MARK_TRIALS {
            let (a, b) = (side(noise, 1, n, 1.05, 0.0, &mut random), side(noise, 1, n, 1.0, 0.0, &mut random));
            for (count, method) in held.iter_mut().zip([IntervalMethod::Percentile, IntervalMethod::Bca]) {
                let options = RatioOptions { method: Some(method), ..RatioOptions::default() };
                *count += usize::from(holds(ratio_interval(&a, &b, &options), 1.05));
            }
        }
        let [percentile, bca] = held.map(|count| count as f64 / FALSE_MARK_TRIALS as f64);
        println!("  {noise:?} n={n}: {percentile:.4}  {bca:.4}");
    }
}

fn histories() {
    println!("Steady histories with a change point, default rule and with no least change");
    let alarm = |history: &[f64]| {
        let found = |rule| change_points(history, &rule).is_some_and(|points| !points.is_empty());
        [found(ChangeRule::default()), found(ChangeRule { least_change: 0.0, ..ChangeRule::default() })]
    };
    let count = |make: &mut dyn FnMut() -> Vec<f64>| {
        let mut counts = [0.0; 2];
        for _ in 0..FALSE_MARK_TRIALS {
            let found = alarm(&make());
            counts.iter_mut().zip(found).for_each(|(count, found)| *count += f64::from(u8::from(found)));
        }
        counts.map(|count| count / FALSE_MARK_TRIALS as f64)
    };
    for n in [20, 50] {
        let mut random = SplitMix64::new(11);
        for noise in NOISES {
            let [default, all] = count(&mut || (0..n).map(|_| repeat(noise, &mut random)).collect());
            println!("  {n} values, {noise:?}: {default:.4}  {all:.4}");
        }
        for correlation in [0.2, 0.5] {
            let [default, all] = count(&mut || autoregressive(correlation, n, &mut random));
            println!("  {n} values, correlation {correlation}: {default:.4}  {all:.4}");
        }
    }
}

fn false_marks() {
    println!("A/A, one session, one cell: share p < 0.05, and marked at δ = 0 and δ = 1 %");
    for noise in NOISES {
        for n in [6, 10, 20] {
            let mut random = SplitMix64::new(1);
            let mut make = |delta| {
                trials(FALSE_MARK_TRIALS, || {
                    let a = side(noise, 1, n, 1.0, 0.0, &mut random);
                    cell(a, side(noise, 1, n, 1.0, 0.0, &mut random), delta)
                })
            };
            let (bare, floored) = (make(0.0), make(0.01));
            println!(
                "  {noise:?} n={n}: p {:.4}  δ=0 {:.4}  δ=1% {:.4}",
                share(&bare, |r| r.q < Some(0.05)),
                share(&bare, marked),
                share(&floored, marked)
            );
        }
    }
}

fn coverage() {
    println!("Coverage of the 95 % interval of the ratio (true ratio 1.05), one session; and of");
    println!("'same' given wrongly when the true ratio lies just outside δ (CV 2 %, δ = 2 %)");
    for noise in [Noise::Normal, Noise::LogNormal, Noise::Bimodal] {
        for n in [6, 7, 10, 15, 20, 40] {
            let mut random = SplitMix64::new(2);
            let results = trials(TRIALS, || {
                let a = side(noise, 1, n, 1.05, 0.0, &mut random);
                cell(a, side(noise, 1, n, 1.0, 0.0, &mut random), 0.01)
            });
            let held = share(&results, |r| holds(r.interval, 1.05));
            let results = trials(TRIALS, || {
                let a = side(noise, 1, n, 1.0201, 0.0, &mut random);
                cell(a, side(noise, 1, n, 1.0, 0.0, &mut random), 0.02)
            });
            let same = share(&results, |r| r.verdict == Verdict::Same);
            println!("  {noise:?} n={n}: covers {held:.4}  wrongly same {same:.4}");
        }
    }
}

fn power() {
    println!("Power, normal, CV 2 %, δ = 0: share p < 0.01 (method page) and share marked");
    for n in [5, 10, 15, 20] {
        for effect in [1.0, 1.5, 2.0, 3.0] {
            let mut random = SplitMix64::new(3);
            let results = trials(TRIALS, || {
                let a = side(Noise::Normal, 1, n, 1.0 + 0.02 * effect, 0.0, &mut random);
                cell(a, side(Noise::Normal, 1, n, 1.0, 0.0, &mut random), 0.0)
            });
            println!(
                "  n={n} effect/CV={effect}: p<.01 {:.3}  marked {:.3}",
                share(&results, |r| r.test.is_some_and(|t| t.p < 0.01)),
                share(&results, marked)
            );
        }
    }
}

fn tables() {
    println!("A/A tables of 50 cells, n = 10, δ = 0: share of tables with any mark");
    for noise in NOISES {
        let mut random = SplitMix64::new(4);
        let any = (0..400).filter(|_| {
            let mut one = || side(noise, 1, 10, 1.0, 0.0, &mut random);
            let cells: Vec<_> = (0..50).map(|_| cell(one(), one(), 0.0)).collect();
            compare_table(&cells).iter().any(marked)
        });
        println!("  {noise:?}: {:.4}", any.count() as f64 / 400.0);
    }
}

fn sessions() {
    println!("A/A with sessions that differ (normal, CV 2 % within, 10 repeats a session), by");
    println!("sessions a side and CV between sessions: share marked at δ = 1 %, and at δ = the A/A");
    println!("floor from 20 A/A runs of the same design");
    for count in [1, 2, 3, 5] {
        for drift in [0.0, 0.005, 0.01, 0.02, 0.05] {
            let mut random = SplitMix64::new(5);
            let mut one = || side(Noise::Normal, count, 10, 1.0, drift, &mut random);
            let plain = trials(1000, || cell(one(), one(), 0.01));
            let mut pooled = || median(&one().concat()).unwrap_or(f64::NAN);
            let mut floors = Vec::new();
            for _ in 0..1000 {
                let ratios: Vec<f64> = (0..20).map(|_| pooled() / pooled()).collect();
                floors.extend(noise_floor(aa_floor(&ratios), None));
            }
            let mut floors = floors.into_iter();
            let floored = trials(1000, || cell(one(), one(), floors.next().unwrap_or(f64::NAN)));
            let (plain, floored) = (share(&plain, marked), share(&floored, marked));
            println!("  {count} sessions, CV between {drift}: {plain:.4}  {floored:.4}");
        }
    }
}

fn needed() {
    println!("'need n' for a true effect of 1.5 × CV (3 %), δ = 1 %, from unresolved runs of n = 8;");
    println!("then the share decided at the median estimate");
    let mut random = SplitMix64::new(6);
    let mut run = |n| {
        trials(1000, || {
            let a = side(Noise::Normal, 1, n, 1.03, 0.0, &mut random);
            cell(a, side(Noise::Normal, 1, n, 1.0, 0.0, &mut random), 0.01)
        })
    };
    let mut estimates: Vec<usize> = run(8).iter().filter_map(|r| r.needed).collect();
    estimates.sort_unstable();
    let at = |share: f64| estimates[(share * (estimates.len() - 1) as f64) as usize];
    println!("  quartiles {} {} {}", at(0.25), at(0.5), at(0.75));
    let ideal = stend_stats::repeats_needed(stend_stats::Spread { a: 0.02, b: 0.02 }, 1.03, 0.01, 0.05);
    for n in [at(0.5), ideal.unwrap_or(6)] {
        println!("  n={n}: decided {:.3}", share(&run(n), marked));
    }
}
