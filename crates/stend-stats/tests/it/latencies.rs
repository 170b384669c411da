//! Latencies: what must hold for any input, and what is refused.

use proptest::collection::vec;
use proptest::prelude::*;
use stend_stats::Latencies;

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

/// A histogram of one digit has 344,000 ns in the bucket 327,680 … 344,063; read by HdrHistogram's libraries into three digits it is in
/// 327,680 … 327,935.
#[test]
fn a_coarse_histogram_is_read_as_its_own_libraries_read_it() {
    use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};
    let mut coarse = hdrhistogram::Histogram::<u64>::new_with_bounds(1, 3_600_000_000_000, 1).expect("bounds");
    coarse.record_n(344_000, 1000).expect("within");
    let mut bytes = Vec::new();
    V2DeflateSerializer::new().serialize(&coarse, &mut bytes).expect("memory");
    let text = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, bytes);
    let read = Latencies::from_text(&text).expect("a histogram");
    assert_eq!((read.count(), read.percentile(0.5).expect("a thousand").ns), (1000, 327_935));
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
}
