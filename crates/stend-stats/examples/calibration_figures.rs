//! Measures how the rule behaves on simulated repeats: false marks, coverage, power.
//!
//!     cargo run --release -p stend-stats --example calibration_figures
//!
//! Deterministic: the same figures on every machine.

#[path = "../tests/common/mod.rs"]
mod common;

use common::{NOISES, Noise, cell, marked, share, side, trials};
use stend_stats::{SplitMix64, Verdict, aa_floor, compare_table, median, noise_floor};

const TRIALS: usize = 4000;

fn main() {
    false_marks();
    coverage();
    power();
    tables();
    sessions();
    needed();
}

fn false_marks() {
    println!("A/A, one session, one cell: share p < 0.05, and marked at δ = 0 and δ = 1 %");
    for noise in NOISES {
        for n in [6, 10, 20] {
            let mut random = SplitMix64::new(1);
            let mut make = |delta| {
                trials(TRIALS, || {
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
            let held = share(&results, |r| r.interval.is_some_and(|i| i.low <= 1.05 && 1.05 <= i.high));
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
    for n in [6, 10, 15, 20] {
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
