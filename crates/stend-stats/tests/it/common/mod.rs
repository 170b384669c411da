//! Simulated repeats, for the calibration tests and `examples/calibration_figures.rs`.
#![allow(dead_code, unreachable_pub, missing_docs)]

use stend_stats::{Cell, CellResult, Direction, RatioInterval, SplitMix64, Verdict, compare_table};

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Noise {
    /// Symmetric, CV 2 %.
    Normal,
    /// Skewed: σ of the logarithm 0.3.
    LogNormal,
    /// Two modes 6 % apart, one repeat in four in the slower, CV 1 % within each.
    Bimodal,
    /// Whole numbers, many ties: about 50 with σ 1.
    Quantised,
}

pub const NOISES: [Noise; 4] = [Noise::Normal, Noise::LogNormal, Noise::Bimodal, Noise::Quantised];

pub fn normal(random: &mut SplitMix64) -> f64 {
    let radius = (-2.0 * (1.0 - random.next_f64()).ln()).sqrt();
    radius * (std::f64::consts::TAU * random.next_f64()).cos()
}

pub fn repeat(noise: Noise, random: &mut SplitMix64) -> f64 {
    match noise {
        Noise::Normal => 100.0 + 2.0 * normal(random),
        Noise::LogNormal => 100.0 * (0.3 * normal(random)).exp(),
        Noise::Bimodal => {
            let mode = if random.next_f64() < 0.25 { 94.0 } else { 100.0 };
            mode + normal(random)
        }
        Noise::Quantised => (50.0 + normal(random)).round(),
    }
}

/// `sessions` of `n` repeats, all times `factor`, each session off by its own share of CV `drift`.
pub fn side(
    noise: Noise,
    sessions: usize,
    n: usize,
    factor: f64,
    drift: f64,
    random: &mut SplitMix64,
) -> Vec<Vec<f64>> {
    (0..sessions)
        .map(|_| {
            let level = factor * (drift * normal(random)).exp();
            (0..n).map(|_| level * repeat(noise, random)).collect()
        })
        .collect()
}

/// Repeats with CV 2 % that hang together: a stationary first-order autoregression, neighbours with this correlation.
pub fn autoregressive(correlation: f64, n: usize, random: &mut SplitMix64) -> Vec<f64> {
    let mut state = normal(random);
    let step = (1.0 - correlation * correlation).sqrt();
    let mut next = || {
        let value = 100.0 + 2.0 * state;
        state = correlation * state + step * normal(random);
        value
    };
    (0..n).map(|_| next()).collect()
}

/// Two sides of one run whose repeats hang together: dealt in blocks A B B A or B A A B, so that neighbours are pairs.
pub fn interleaved(correlation: f64, pairs: usize, factor: f64, random: &mut SplitMix64) -> [Vec<f64>; 2] {
    let repeats = autoregressive(correlation, 2 * pairs, random);
    let (mut a, mut b, mut turned) = (Vec::new(), Vec::new(), false);
    for (place, pair) in repeats.chunks_exact(2).enumerate() {
        turned = if place % 2 == 0 { random.next_f64() < 0.5 } else { !turned };
        a.push(factor * pair[usize::from(turned)]);
        b.push(pair[usize::from(!turned)]);
    }
    [a, b]
}

/// One cell of pairs in one session, δ = `delta`.
pub fn pairs([a, b]: [Vec<f64>; 2], delta: f64) -> Cell {
    Cell { paired: true, ..cell(vec![a], vec![b], delta) }
}

/// A share found in so many trials, and its standard error.
pub fn rate(count: usize, trials: usize) -> (f64, f64) {
    let share = count as f64 / trials as f64;
    // Of none found, as if of one.
    let least = share.clamp(1.0 / trials as f64, 1.0 - 1.0 / trials as f64);
    (share, (least * (1.0 - least) / trials as f64).sqrt())
}

pub fn cell(a_sessions: Vec<Vec<f64>>, b_sessions: Vec<Vec<f64>>, delta: f64) -> Cell {
    let direction = Direction::HigherIsBetter;
    Cell { a_sessions, b_sessions, direction, delta, paired: false }
}

pub fn marked(result: &CellResult) -> bool {
    matches!(result.verdict, Verdict::Better | Verdict::Worse)
}

/// Whether the interval holds this ratio.
pub fn holds(interval: Option<RatioInterval>, ratio: f64) -> bool {
    interval.is_some_and(|i| i.low <= ratio && ratio <= i.high)
}

/// Results of `trials` tables of one cell each.
pub fn trials(trials: usize, mut make: impl FnMut() -> Cell) -> Vec<CellResult> {
    (0..trials).map(|_| compare_table(&[make()])[0]).collect()
}

pub fn share(results: &[CellResult], what: impl Fn(&CellResult) -> bool) -> f64 {
    results.iter().filter(|r| what(r)).count() as f64 / results.len() as f64
}
