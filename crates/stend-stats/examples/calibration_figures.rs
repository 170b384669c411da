//! Measures how the rule behaves on simulated repeats: false marks, coverage, power.
//!
//!     cargo run --release -p stend-stats --example calibration_figures [SECTION...]
//!
//! Deterministic: the same figures on every machine, times apart.

#[path = "../tests/it/common/mod.rs"]
mod common;

use std::time::Instant;

use common::{NOISES, Noise, autoregressive, cell, holds, interleaved, marked, pairs, repeat, share, side, trials};
use stend_stats::{
    Cell, ChangeRule, IntervalMethod, RatioOptions, SplitMix64, Spread, Verdict, aa_floor, change_points, compare_runs,
    compare_table, median, noise_floor, paired_ratio_interval, pairs_needed, ratio_interval, repeats_needed,
};

/// Of a comparison of the same with the same.
const FALSE_MARK_TRIALS: usize = 10_000;

/// Of everything else.
const TRIALS: usize = 4000;

type Section = (&'static str, fn());

/// All sections, or those named as arguments.
fn main() {
    let sections: [Section; 13] = [
        ("false_marks", false_marks),
        ("false_marks_of_tables", false_marks_of_tables),
        ("of_pairs", of_pairs),
        ("correlated", correlated),
        ("power_of_runs", power_of_runs),
        ("coverage", coverage),
        ("power", power),
        ("sessions", sessions),
        ("session_intervals", session_intervals),
        ("needed", needed),
        ("needed_is_enough", needed_is_enough),
        ("needed_by_runs", needed_by_runs),
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
        "A/A, one session, neighbours correlated, CV 2 %, δ = 1 %: share p < 0.05; marked as whole runs of one cell, of"
    );
    println!("five and of twenty (share of cells); and marked as pairs of one run, dealt in turns");
    for (n, correlation) in [6, 10, 20].into_iter().flat_map(|n| [0.0, 0.2, 0.5, 0.7, 0.8, 0.9].map(|c| (n, c))) {
        let mut random = SplitMix64::new(8);
        let mut make = || {
            let a = vec![autoregressive(correlation, n, &mut random)];
            cell(a, vec![autoregressive(correlation, n, &mut random)], 0.01)
        };
        let mut significant = 0;
        let mut marks = [1, 5, 20].map(|size| {
            let tables = (0..FALSE_MARK_TRIALS / size).map(|_| {
                let cells: Vec<_> = (0..size).map(|_| make()).collect();
                let results = compare_runs(&cells);
                significant += usize::from(size == 1 && results[0].q < Some(0.05));
                results.iter().filter(|result| marked(result)).count()
            });
            tables.sum::<usize>()
        });
        let marks = marks.each_mut().map(|count| percent(*count));
        let in_turns = (0..FALSE_MARK_TRIALS)
            .filter(|_| marked(&compare_runs(&[pairs(interleaved(correlation, n, 1.0, &mut random), 0.01)])[0]));
        let in_turns = percent(in_turns.count());
        let [one, five, twenty] = marks;
        println!(
            "  n={n} correlation {correlation}: p {}  one {one}  five {five}  twenty {twenty}  pairs {in_turns}",
            percent(significant)
        );
    }
}

/// Of [`FALSE_MARK_TRIALS`], with three standard errors.
fn percent(count: usize) -> String {
    let (share, error) = common::rate(count, FALSE_MARK_TRIALS);
    format!("{:.2} ± {:.2} %", 100.0 * share, 300.0 * error)
}

fn of_pairs() {
    println!(
        "Pairs, independent sides: coverage of the 95 % interval of the ratio (true ratio 1.04), and marked at δ = 1 % with"
    );
    println!("true ratios of 1, 1.02 and 1.04; then repeats in turns with neighbours' correlation 0.9");
    let all = NOISES.into_iter().map(Some).chain([None]);
    for (noise, n) in all.flat_map(|noise| [6, 10, 20].map(|n| (noise, n))) {
        let mut random = SplitMix64::new(24);
        let mut make = |factor: f64| match noise {
            Some(noise) => {
                let mut one = |factor| side(noise, 1, n, factor, 0.0, &mut random).concat();
                pairs([one(factor), one(1.0)], 0.01)
            }
            None => pairs(interleaved(0.9, n, factor, &mut random), 0.01),
        };
        let covered = (0..FALSE_MARK_TRIALS).filter(|_| {
            let Cell { a_sessions, b_sessions, .. } = make(1.04);
            holds(paired_ratio_interval(&a_sessions, &b_sessions, &RatioOptions::default()), 1.04)
        });
        let covered = percent(covered.count());
        let marks = [1.0, 1.02, 1.04].map(|factor| {
            percent((0..FALSE_MARK_TRIALS).filter(|_| marked(&compare_runs(&[make(factor)])[0])).count())
        });
        println!("  {noise:?} n={n}: covers {covered}  marked {} {} {}", marks[0], marks[1], marks[2]);
    }
    println!("and with several sessions of 6 pairs whose ratios differ by a CV of 1 %, CV 2 % within, 1000 trials");
    for (sessions, between) in [2, 3, 5].into_iter().flat_map(|count| [0.0, 0.01].map(|between| (count, between))) {
        let mut random = SplitMix64::new(25);
        let covered = (0..1000).filter(|_| {
            let a = side(Noise::Normal, sessions, 6, 1.04, between, &mut random);
            let b = side(Noise::Normal, sessions, 6, 1.0, 0.0, &mut random);
            holds(paired_ratio_interval(&a, &b, &RatioOptions::default()), 1.04)
        });
        println!("  {sessions} sessions, CV between {between}: covers {:.1} %", covered.count() as f64 / 10.0);
    }
}

fn power_of_runs() {
    println!(
        "Power, one session of independent normal repeats, CV 2 %, δ = 1 %: share marked by the table's rule, as whole runs of one"
    );
    println!(
        "cell, and of pairs; and as whole runs in tables of 20 cells, one of which differs, by a difference in CV"
    );
    for (n, effect) in [6, 10, 20].into_iter().flat_map(|n| [1.5, 2.0, 2.5, 3.0, 4.0].map(|effect| (n, effect))) {
        let mut random = SplitMix64::new(12);
        let mut make = |factor: f64| {
            let a = side(Noise::Normal, 1, n, factor, 0.0, &mut random);
            cell(a, side(Noise::Normal, 1, n, 1.0, 0.0, &mut random), 0.01)
        };
        let (mut table, mut runs, mut paired, mut of_twenty) = (0, 0, 0, 0);
        for trial in 0..FALSE_MARK_TRIALS {
            let mut cells = vec![make(1.0 + 0.02 * effect)];
            table += usize::from(marked(&compare_table(&cells)[0]));
            runs += usize::from(marked(&compare_runs(&cells)[0]));
            paired += usize::from(marked(&compare_runs(&[Cell { paired: true, ..cells[0].clone() }])[0]));
            if trial % 20 == 0 {
                cells.extend((1..20).map(|_| make(1.0)));
                of_twenty += usize::from(marked(&compare_runs(&cells)[0]));
            }
        }
        let rate = |count: usize| count as f64 / FALSE_MARK_TRIALS as f64;
        println!(
            "  n={n} effect/CV={effect}: table {:.4}  runs {:.4}  pairs {:.4}  of twenty {:.3}",
            rate(table),
            rate(runs),
            rate(paired),
            20.0 * rate(of_twenty)
        );
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

fn false_marks_of_tables() {
    println!(
        "A/A tables of 20 cells, δ = 0, by the table's rule: share of cells marked, and of tables with any mark; the same of pairs"
    );
    for (noise, n) in NOISES.into_iter().flat_map(|noise| [6, 10, 20].map(|n| (noise, n))) {
        let mut random = SplitMix64::new(4);
        let found = [false, true].map(|paired| {
            let (mut cells, mut tables) = (0, 0);
            for _ in 0..FALSE_MARK_TRIALS / 20 {
                let mut one = || side(noise, 1, n, 1.0, 0.0, &mut random);
                let table: Vec<_> = (0..20).map(|_| Cell { paired, ..cell(one(), one(), 0.0) }).collect();
                let marks = compare_table(&table).iter().filter(|result| marked(result)).count();
                cells += marks;
                tables += usize::from(marks > 0);
            }
            let (share, error) = common::rate(tables, FALSE_MARK_TRIALS / 20);
            format!("{}, tables {:.1} ± {:.1} %", percent(cells), 100.0 * share, 300.0 * error)
        });
        println!("  {noise:?} n={n}: {}; pairs {}", found[0], found[1]);
    }
}

fn sessions() {
    println!(
        "A/A where sessions differ (normal, CV 2 % within, 10 repeats a session), by sessions a side and CV between"
    );
    println!(
        "sessions, 10,000 comparisons (2000 with five): p < 0.05; marked by the table's rule at δ = 1 %; as whole runs;"
    );
    println!("and by the table's rule at δ = the A/A floor from 20 A/A runs of the same design");
    for (count, between) in
        [1, 2, 3, 5].into_iter().flat_map(|count| [0.0, 0.005, 0.01, 0.02, 0.05].map(|cv| (count, cv)))
    {
        let trials = if count < 5 { FALSE_MARK_TRIALS } else { 2000 };
        let mut random = SplitMix64::new(5);
        let (mut significant, mut table, mut runs, mut floored) = (0, 0, 0, 0);
        for _ in 0..trials {
            let mut one = || side(Noise::Normal, count, 10, 1.0, between, &mut random);
            let mut pooled = || median(&one().concat()).unwrap_or(f64::NAN);
            let ratios: Vec<f64> = (0..20).map(|_| pooled() / pooled()).collect();
            let delta = noise_floor(aa_floor(&ratios), None).unwrap_or(f64::NAN);
            let cells = [cell(one(), one(), 0.01)];
            let result = compare_table(&cells)[0];
            significant += usize::from(result.q < Some(0.05));
            table += usize::from(marked(&result));
            runs += usize::from(marked(&compare_runs(&cells)[0]));
            let [cell] = cells;
            floored += usize::from(marked(&compare_table(&[Cell { delta, ..cell }])[0]));
        }
        let share = |count: usize| {
            let (share, error) = common::rate(count, trials);
            format!("{:.1} ± {:.1} %", 100.0 * share, 300.0 * error)
        };
        println!(
            "  {count} sessions, CV between {between}: p {}  marked {}  runs {}  floored {}",
            share(significant),
            share(table),
            share(runs),
            share(floored)
        );
    }
}

fn needed_is_enough() {
    println!(
        "Share decided with the n that is said to be needed, normal noise of CV 2 %, δ = 1 %, 4000 trials: by the table's rule,"
    );
    println!("as whole runs of one cell, and of pairs");
    let sides = Spread { a: 0.02, b: 0.02 };
    for effect in [0.0, 0.25, 0.75, 1.0, 1.5, 2.0, 2.5, 3.0] {
        let factor = 1.0 + 0.02 * effect;
        let mut random = SplitMix64::new(26);
        let mut make = |n: usize, paired: bool| {
            let mut one = |factor| side(Noise::Normal, 1, n, factor, 0.0, &mut random);
            Cell { paired, ..cell(one(factor), one(1.0), 0.01) }
        };
        let expected = if factor > 1.01 { Verdict::Better } else { Verdict::Same };
        let n = repeats_needed(sides, factor, 0.01, 0.05).unwrap_or(6);
        let m = pairs_needed(0.02 * 2_f64.sqrt(), factor, 0.01, 0.05).unwrap_or(6);
        let (mut table, mut runs, mut paired) = (0, 0, 0);
        for _ in 0..TRIALS {
            let cells = [make(n, false)];
            table += usize::from(compare_table(&cells)[0].verdict == expected);
            runs += usize::from(compare_runs(&cells)[0].verdict == expected);
            paired += usize::from(compare_table(&[make(m, true)])[0].verdict == expected);
        }
        let share = |count: usize| count as f64 / TRIALS as f64;
        println!(
            "  effect/CV={effect}: n={n} table {:.3} runs {:.3}; pairs {m} {:.3}",
            share(table),
            share(runs),
            share(paired)
        );
    }
}

/// Of whole runs, a cell that differs by `effect` CV and as many others as the table has beside it.
fn table_of_runs(size: usize, n: usize, correlation: f64, effect: f64, random: &mut SplitMix64) -> Vec<Cell> {
    let mut side = |factor: f64| {
        let values = autoregressive(correlation, n, random);
        vec![values.into_iter().map(|value| factor * value).collect()]
    };
    (0..size).map(|place| cell(side(if place == 0 { 1.0 + 0.02 * effect } else { 1.0 }), side(1.0), 0.01)).collect()
}

fn needed_by_runs() {
    println!(
        "'n to settle' of whole runs, CV 2 %, δ = 1 %, from unresolved runs of ten repeats a side: cells in the table, correlation of"
    );
    println!(
        "neighbours, difference in CV; the quartiles of what is said, what is said without drift and correlation; and of 500 fresh runs"
    );
    println!("with the median of either as many as are decided");
    for (size, correlation, effect) in [1, 20]
        .into_iter()
        .flat_map(|size| [0.0, 0.3, 0.5].into_iter().flat_map(move |c| [1.5, 2.5].map(|e| (size, c, e))))
    {
        let mut random = SplitMix64::new(29);
        let (mut said, mut bare, mut unresolved, mut without) = (Vec::new(), Vec::new(), 0, 0);
        while unresolved < 300 {
            let cells = table_of_runs(size, 10, correlation, effect, &mut random);
            let found = compare_runs(&cells)[0];
            if marked(&found) {
                continue;
            }
            unresolved += 1;
            without += usize::from(found.needed.is_none());
            said.extend(found.needed);
            bare.extend(compare_table(&cells)[0].needed);
        }
        let quartiles = |found: &mut Vec<usize>| {
            found.sort_unstable();
            [0.25, 0.5, 0.75].map(|share| found[(share * (found.len() - 1) as f64) as usize])
        };
        let (said, bare) = (quartiles(&mut said), quartiles(&mut bare));
        let [decided, decided_bare] = [said[1], bare[1]].map(|n| {
            let runs = (0..500)
                .filter(|_| marked(&compare_runs(&table_of_runs(size, n, correlation, effect, &mut random))[0]));
            runs.count() as f64 / 500.0
        });
        println!(
            "  {size} cells, correlation {correlation}, effect/CV={effect}: said {said:?} ({without} of 300 without), bare {bare:?}; \
             decided {decided:.3}, with the bare one {decided_bare:.3}"
        );
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
