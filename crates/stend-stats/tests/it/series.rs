//! Correlation, effective size and latencies: what must hold for any input, and what is refused.

use proptest::collection::vec;
use proptest::prelude::*;
use stend_stats::{Latencies, autocorrelation, effective_sample_size, serial_correlation};

#[test]
fn correlation_by_hand() {
    // Deviations −2 −1 0 1 2: products of neighbours 2, 0, 0, 2 over squares 10.
    let found = autocorrelation(&[1.0, 2.0, 3.0, 4.0, 5.0], 2).expect("five");
    for (found, expected) in found.iter().zip([1.0, 0.4, -0.1]) {
        assert!((found - expected).abs() < 1e-15, "{found}");
    }
    let trend: Vec<f64> = (0..20).map(f64::from).collect();
    let found = serial_correlation([&trend[..]]).expect("twenty");
    assert!(found.z > 3.0 && found.correlation == 0.95, "{found:?}");
}

/// Mean and variance of the ranks' neighbour correlation over all 720 orders of six, against the formulas: z has mean 0 and variance 1.
#[test]
fn z_is_standardised() {
    let mut orders = vec![vec![]];
    for rank in 0..6 {
        let insert = |order: &Vec<f64>| -> Vec<Vec<f64>> {
            (0..=order.len()).map(|place| [&order[..place], &[f64::from(rank)], &order[place..]].concat()).collect()
        };
        orders = orders.iter().flat_map(insert).collect();
    }
    assert_eq!(orders.len(), 720);
    let z: Vec<f64> = orders.iter().map(|order| serial_correlation([&order[..]]).expect("six").z).collect();
    let mean = z.iter().sum::<f64>() / 720.0;
    let variance = z.iter().map(|z| z * z).sum::<f64>() / 720.0;
    assert!(mean.abs() < 1e-12 && (variance - 1.0).abs() < 1e-12, "{mean} {variance}");
}

#[test]
fn senseless_input_is_refused() {
    assert_eq!(autocorrelation(&[1.0, 2.0], 2), None);
    assert_eq!(autocorrelation(&[], 0), None);
    assert_eq!(effective_sample_size(&[1.0, 2.0, 1.0]), None);
    for series in
        [[7.0; 8], [f64::NAN, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], [f64::INFINITY, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]]
    {
        assert_eq!(autocorrelation(&series, 1), None);
        assert_eq!(effective_sample_size(&series), None);
        assert_eq!(serial_correlation([&series[..]]), None);
    }
    // 0.1 + 0.1 + … is not 0.8: equal values are equal all the same.
    assert_eq!(autocorrelation(&[0.1; 10], 1), None);
    assert_eq!(serial_correlation([&[1.0, 2.0, 3.0, 4.0, 5.0][..]]), None);
}

#[test]
fn percentiles_need_a_tail() {
    let mut latencies = Latencies::default();
    assert_eq!((latencies.range(), latencies.percentile(0.5)), (None, None));
    assert!(latencies.record(5_000, 9_999));
    assert_eq!(latencies.percentile(0.999), None);
    assert!(latencies.record(5_000, 1));
    assert!(latencies.percentile(0.999).is_some(), "10,000 are enough");
    for share in [0.0, 1.0, -0.5, f64::NAN] {
        assert_eq!(latencies.percentile(share), None);
    }
    assert!(!latencies.record(5_000, u64::MAX));
    assert_eq!(latencies.count(), 10_000);
    assert!(latencies.record(61_000_000_000, 7) && latencies.record(0, 1));
    assert_eq!((latencies.count(), latencies.beyond_range()), (10_008, 7));
    assert_eq!(Latencies::merged([&latencies, &latencies]).beyond_range(), 14);
    assert_eq!(Latencies::merged([]).count(), 0);
}

/// Of a calm second and a bad one the mean of both p99 is far from p99.
#[test]
fn percentiles_are_not_averaged() {
    let (mut calm, mut bad) = (Latencies::default(), Latencies::default());
    assert!(calm.record(1_000_000, 1_000_000) && bad.record(1_000_000, 900) && bad.record(100_000_000, 100));
    let p99 = |latencies: &Latencies| latencies.percentile(0.99).expect("enough").ns as f64;
    assert!((p99(&calm) + p99(&bad)) / 2.0 > 50e6);
    assert!(p99(&Latencies::merged([&calm, &bad])) < 1.01e6);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn correlation_knows_no_unit_and_no_direction(series in vec(-100.0..100.0_f64, 6..60), factor in 1e-3..1e3_f64, shift in -1e3..1e3_f64) {
        let moved: Vec<f64> = series.iter().map(|value| value * factor + shift).collect();
        let back: Vec<f64> = series.iter().rev().copied().collect();
        let lags = series.len() - 1;
        let (found, other, reversed) = (autocorrelation(&series, lags).unwrap(), autocorrelation(&moved, lags).unwrap(), autocorrelation(&back, lags).unwrap());
        prop_assert_eq!(found[0], 1.0);
        for lag in 0..=lags {
            prop_assert!(found[lag].abs() <= 1.0 + 1e-12);
            prop_assert!((found[lag] - other[lag]).abs() < 1e-6 && (found[lag] - reversed[lag]).abs() < 1e-9);
        }
        // All lags on both sides sum to nothing: deviations do.
        prop_assert!((1.0 + 2.0 * found[1..].iter().sum::<f64>()).abs() < 1e-9);
        let size = effective_sample_size(&series).unwrap();
        prop_assert!(size.size >= 1.0 - 1e-9 && size.size <= series.len() as f64 + 1e-9);
        prop_assert!(size.standard_error > 0.0);
        let monotone: Vec<f64> = series.iter().map(|value| (value / 30.0).exp()).collect();
        prop_assert_eq!(serial_correlation([&series[..]]), serial_correlation([&monotone[..]]));
    }

    #[test]
    fn merged_is_all_together(values in vec((0_u64..100_000_000_000, 1_u64..50), 1..60), at in 0_usize..60, share in 0.01..0.99_f64) {
        let of = |values: &[(u64, u64)]| {
            let mut latencies = Latencies::default();
            assert!(values.iter().all(|(ns, count)| latencies.record(*ns, *count)));
            latencies
        };
        let (left, right) = values.split_at(at.min(values.len()));
        let merged = Latencies::merged([&of(left), &of(right)]);
        prop_assert_eq!(&merged, &of(&values));
        prop_assert_eq!(&merged, &Latencies::merged([&of(right), &of(left)]));
        if let Some(found) = merged.percentile(share) {
            prop_assert!(found.low <= found.ns && found.ns <= found.high);
            let next = merged.percentile((share + 0.005).min(0.99));
            prop_assert!(next.is_none_or(|next| next.ns >= found.ns));
            // The definition, to a bucket's width.
            let up_to = |limit: f64| values.iter().filter(|(ns, _)| (*ns.min(&60_000_000_000) as f64) <= limit).map(|(_, count)| count).sum::<u64>() as f64;
            prop_assert!(up_to(found.ns as f64 * 1.001 + 100.0) >= share * merged.count() as f64 - 1e-6);
        }
    }

    #[test]
    fn no_input_makes_it_panic(series in vec(any::<f64>(), 0..30), lag in 0_usize..40) {
        for value in autocorrelation(&series, lag).unwrap_or_default() {
            prop_assert!(value.is_finite());
        }
        prop_assert!(effective_sample_size(&series).is_none_or(|found| found.size.is_finite()));
        prop_assert!(serial_correlation([&series[..]]).is_none_or(|found| found.z.is_finite() && found.correlation.is_finite()));
    }
}
