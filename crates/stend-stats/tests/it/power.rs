//! How often the rule finds what is there, on simulated repeats: against power found by NumPy, the figures of the method page, and the promise of
//! "need n". Deterministic.

use crate::common::{Noise, cell, marked, rate, side};
use crate::stored::{number, vectors};
use stend_stats::{
    Cell, SplitMix64, Spread, Verdict, compare_runs, compare_table, mann_whitney, pairs_needed, repeats_needed,
    signed_rank,
};

/// Both sides of normal noise with a CV of 2 %, `a` faster by `effect` CV.
fn sides(n: usize, effect: f64, random: &mut SplitMix64) -> [Vec<f64>; 2] {
    [1.0 + 0.02 * effect, 1.0].map(|factor| side(Noise::Normal, 1, n, factor, 0.0, random).concat())
}

/// Of the exact tests, against 200,000 trials by NumPy: 4000 trials each, to four standard errors of both.
#[test]
fn the_tests_find_as_much_as_numpys() {
    const TRIALS: usize = 4000;
    let mut seen = 0;
    for case in vectors("power") {
        let (n, level) = (case["n"].as_u64().expect("n") as usize, number(&case["level"]));
        let mut random = SplitMix64::new(15);
        let (mut of_sides, mut of_pairs) = (0, 0);
        for _ in 0..TRIALS {
            let [a, b] = sides(n, number(&case["effect"]), &mut random);
            let logs: Vec<f64> = a.iter().zip(&b).map(|(a, b)| a.ln() - b.ln()).collect();
            of_sides += usize::from(mann_whitney(&a, &b).expect("finite").p < level);
            of_pairs += usize::from(signed_rank(&logs).expect("finite").p < level);
        }
        for (count, name) in [(of_sides, "sides"), (of_pairs, "pairs")] {
            let ((found, error), expected) = (rate(count, TRIALS), number(&case[name]));
            let numpy = (expected * (1.0 - expected) / 200_000.0).sqrt();
            assert!((found - expected).abs() <= 4.0 * error.hypot(numpy), "{name} {case}: {found} ± {error}");
            seen += 1;
        }
    }
    assert!(seen >= 60, "{seen}");
}

/// The method page's table: share marked by interval and test, as whole runs of one cell, and as pairs. CV 2 %, δ = 1 %. The page's figures are
/// of 10,000 trials, these of 2500: three standard errors of both.
#[test]
fn verdicts_have_the_power_of_the_method_page() {
    const TRIALS: usize = 2500;
    for (n, effect, said) in POWER {
        let mut random = SplitMix64::new(12);
        let mut counts = [0; 3];
        for _ in 0..TRIALS {
            let [a, b] = sides(n, effect, &mut random);
            let cells = [cell(vec![a], vec![b], 0.01)];
            let paired = [Cell { paired: true, ..cells[0].clone() }];
            for (count, result) in
                counts.iter_mut().zip([compare_table(&cells)[0], compare_runs(&cells)[0], compare_runs(&paired)[0]])
            {
                *count += usize::from(marked(&result));
            }
        }
        for (count, said) in counts.into_iter().zip(said) {
            let ((found, error), said) = (rate(count, TRIALS), said / 100.0);
            let off = 3.0 * error.hypot(error / 2.0) + 0.0005;
            assert!((found - said).abs() <= off, "n={n} effect {effect}: {found} ± {off}, page {said}");
        }
    }
}

/// Repeats, difference in CV, and what is marked, %.
const POWER: [(usize, f64, [f64; 3]); 15] = [
    (6, 1.5, [29.3, 7.8, 18.6]),
    (6, 2.0, [56.7, 17.8, 38.1]),
    (6, 2.5, [80.5, 28.7, 59.4]),
    (6, 3.0, [93.4, 38.1, 76.4]),
    (6, 4.0, [99.7, 49.7, 94.7]),
    (10, 1.5, [43.3, 23.2, 48.7]),
    (10, 2.0, [76.9, 47.7, 81.9]),
    (10, 2.5, [94.4, 68.5, 96.5]),
    (10, 3.0, [99.3, 81.6, 99.8]),
    (10, 4.0, [100.0, 91.4, 100.0]),
    (20, 1.5, [69.8, 57.3, 81.9]),
    (20, 2.0, [96.0, 89.9, 99.1]),
    (20, 2.5, [99.8, 98.6, 100.0]),
    (20, 3.0, [100.0, 99.8, 100.0]),
    (20, 4.0, [100.0, 100.0, 100.0]),
];

/// With the n that is said to be needed nine of ten trials are decided, less three standard errors of 600 trials.
#[test]
fn needed_repeats_suffice() {
    const TRIALS: usize = 600;
    for (effect, delta) in [0.5, 0.75, 1.0, 1.5, 2.0, 3.0]
        .map(|effect| (effect, 0.0))
        .into_iter()
        .chain([0.0, 1.0, 1.25, 1.5, 2.0, 2.5, 3.0].map(|effect| (effect, 0.01)))
    {
        let factor = 1.0 + 0.02 * effect;
        let expected = if factor > 1.0 + delta { Verdict::Better } else { Verdict::Same };
        let needed = [
            repeats_needed(Spread { a: 0.02, b: 0.02 }, factor, delta, 0.05),
            pairs_needed(0.02 * 2_f64.sqrt(), factor, delta, 0.05),
        ];
        for (needed, paired) in needed.into_iter().zip([false, true]) {
            let n = needed.expect("reachable");
            let mut random = SplitMix64::new(16);
            let decided = (0..TRIALS).filter(|_| {
                let [a, b] = sides(n, effect, &mut random);
                let cells = [Cell { paired, ..cell(vec![a], vec![b], delta) }];
                compare_table(&cells)[0].verdict == expected
            });
            let (share, error) = rate(decided.count(), TRIALS);
            println!("effect {effect} CV, δ = {delta}, paired {paired}, n = {n}: {share} ± {error}");
            assert!(share + 3.0 * error >= 0.9, "effect {effect} CV, δ = {delta}, paired {paired}, n = {n}: {share}");
            assert!(n == 6 || share <= 0.98, "more than was promised by far: n = {n}: {share}");
        }
    }
}

/// Of the same thing with other words: the smaller of two spreads decides nothing, the sum of their squares does.
#[test]
fn needed_repeats_look_at_both_sides() {
    let of = |a, b| repeats_needed(Spread { a, b }, 1.05, 0.01, 0.05);
    assert_eq!(of(0.03, 0.04), of(0.05, 0.0));
    assert_eq!(of(0.03, 0.04), of(0.04, 0.03));
    assert!(of(0.03, 0.04) > of(0.03, 0.03));
    for senseless in [f64::NAN, f64::INFINITY, -0.01] {
        assert_eq!(of(senseless, 0.02), None);
        assert_eq!(pairs_needed(senseless, 1.05, 0.01, 0.05), None);
    }
    assert_eq!(pairs_needed(0.02, 1.01, 0.01, 0.05), None, "on the floor no number of pairs is enough");
}
