//! A run against itself.

use crate::common::{NOISES, cell, marked, repeat};
use proptest::prelude::*;
use stend_stats::{SplitMix64, aa_floor, compare_runs, median, self_noise, self_ratios};

/// Against every deal of eight pairs, made one by one.
#[test]
fn every_deal_is_there_once() {
    let mut random = SplitMix64::new(3);
    let values: Vec<f64> = (0..17).map(|_| repeat(NOISES[0], &mut random)).collect();
    let mut expected = Vec::new();
    for deal in 0..256_u32 {
        let side = |side: u32| -> Vec<f64> {
            (0..8).map(|pair| values[2 * pair + usize::from((deal >> pair & 1) == side)]).collect()
        };
        expected.push(median(&side(1)).unwrap() / median(&side(0)).unwrap());
    }
    let both = |ratios: &[f64]| -> Vec<f64> { ratios.iter().flat_map(|ratio| [*ratio, 1.0 / ratio]).collect() };
    let sorted = |mut ratios: Vec<f64>| {
        ratios.sort_by(f64::total_cmp);
        ratios
    };
    let found = sorted(both(&self_ratios([&values[..]], 0).unwrap()));
    assert_eq!(found.len(), 256);
    for (found, expected) in found.iter().zip(sorted(expected)) {
        assert!((found / expected - 1.0).abs() < 1e-12, "{found} {expected}");
    }
}

/// 0.90 times the CV with ten pairs, all deals counted; 0.68 with twenty, some drawn.
#[test]
fn the_floor_is_that_of_the_documentation() {
    for (pairs, expected) in [(10, 0.90), (20, 0.68)] {
        let mut random = SplitMix64::new(4);
        let floors = (0..400).map(|_| {
            let run: Vec<f64> = (0..2 * pairs).map(|_| repeat(NOISES[0], &mut random)).collect();
            self_noise([&run[..]], 7).unwrap()
        });
        let mean = floors.sum::<f64>() / 400.0;
        assert!((mean / (0.02 * expected) - 1.0).abs() < 0.05, "{pairs} pairs: {mean}, expected {expected} × 2 %");
    }
}

/// With the machine's own noise as δ the same is as good as never told apart, and a difference far beyond it is.
#[test]
fn as_the_floor_of_verdicts_it_lets_no_noise_through() {
    for noise in NOISES {
        let mut random = SplitMix64::new(5);
        let (mut wrong, mut found) = (0, 0);
        for _ in 0..1000 {
            let mut run = |n: usize| (0..n).map(|_| repeat(noise, &mut random)).collect::<Vec<f64>>();
            let floor = self_noise([&run(20)[..]], 7).unwrap().max(0.01);
            let (a, b) = (run(10), run(10));
            let fivefold: Vec<f64> = a.iter().map(|value| 5.0 * value).collect();
            wrong += usize::from(marked(&compare_runs(&[cell(vec![a], vec![b.clone()], floor)])[0]));
            found += usize::from(marked(&compare_runs(&[cell(vec![fivefold], vec![b], floor)])[0]));
        }
        assert!(wrong <= 10 && found >= 900, "{noise:?}: {wrong} wrong, {found} found, of 1000");
    }
}

#[test]
fn sessions_are_not_mixed_and_too_few_pairs_are_none() {
    let (one, other) = ([1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0], [2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0]);
    // Neighbours of different sessions would differ by a factor of two.
    assert_eq!(self_noise([&one[..], &other[..]], 1), Some(0.0));
    assert_eq!(self_ratios([&one[..], &other[..4]], 1), None);
    assert_eq!(self_ratios([&[0.0; 12][..]], 1), None);
    assert_eq!(self_ratios([&[f64::NAN; 12][..]], 1), None);
    assert_eq!(self_noise([], 1), None);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn noise_has_no_unit(values in prop::collection::vec(0.1f64..1e6, 12..40), factor in 1e-3f64..1e3) {
        let scaled: Vec<f64> = values.iter().map(|value| value * factor).collect();
        let (one, other) = (self_noise([&values[..]], 9).unwrap(), self_noise([&scaled[..]], 9).unwrap());
        prop_assert!((one - other).abs() <= 1e-9 * (1.0 + one));
        prop_assert_eq!(Some(one), aa_floor(&self_ratios([&values[..]], 9).unwrap()));
    }
}
