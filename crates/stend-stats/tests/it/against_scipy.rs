//! Stored vectors from SciPy, NumPy, Apache Otava and HdrHistogram's C library (tests/vectors/make_vectors.py).

use crate::stored::{close, list, number, vectors};
use serde_json::Value;
use stend_stats::{
    ChangeRule, IntervalMethod, Latencies, Mark, Method, RatioOptions, SteadyRule, benjamini_hochberg, change_points,
    energy_split, geometric_mean_ratio, hodges_lehmann, mann_whitney, mean, median, median_absolute_deviation,
    median_interval, paired_ratio_interval, quantile, ratio_interval, sign_flip, signed_rank, steady_state,
    steady_state_by, tukey_marks,
};

#[test]
fn mann_whitney_exact_permutation_and_normal() {
    let mut seen = [0; 3];
    for case in vectors("mann_whitney") {
        let test = mann_whitney(&list(&case["a"]), &list(&case["b"])).expect("finite");
        let (index, method) = match case["method"].as_str() {
            Some("exact") => (0, Method::Exact),
            Some("permutation") => (1, Method::Permutation),
            _ => (2, Method::NormalApproximation),
        };
        seen[index] += 1;
        assert_eq!(test.method, method, "{case}");
        assert_eq!(test.statistic, number(&case["u"]), "{case}");
        close(test.p, number(&case["p"]), 1e-11, &case.to_string());
    }
    assert!(seen.iter().all(|n| *n >= 6), "{seen:?}");
}

#[test]
fn signed_rank_exact_permutation_and_normal() {
    let mut seen = [0; 3];
    for case in vectors("signed_rank") {
        let test = signed_rank(&list(&case["d"])).expect("finite");
        let (index, method) = match case["method"].as_str() {
            Some("exact") => (0, Method::Exact),
            Some("permutation") => (1, Method::Permutation),
            _ => (2, Method::NormalApproximation),
        };
        if index == 1 || test.method != Method::Exact {
            assert_eq!(test.method, method, "{case}");
        }
        seen[index] += 1;
        assert_eq!(test.statistic, number(&case["w"]), "{case}");
        close(test.p, number(&case["p"]), 1e-11, &case.to_string());
    }
    assert!(seen[0] >= 20 && seen[1] >= 12 && seen[2] == 2, "{seen:?}");
}

#[test]
fn sign_flip_exact() {
    for case in vectors("sign_flip") {
        let test = sign_flip(&list(&case["d"]), 1).expect("finite");
        close(test.p, number(&case["p"]), 1e-12, &case.to_string());
        close(test.statistic, number(&case["mean"]), 1e-9, &case.to_string());
    }
}

#[test]
fn median_interval_binomial() {
    for case in vectors("median_interval") {
        let n = case["n"].as_u64().expect("n") as usize;
        let values: Vec<f64> = (1..=n).map(|i| i as f64).collect();
        let found = median_interval(&values, number(&case["confidence"]));
        match (found, &case["interval"]) {
            (None, Value::Null) => {}
            (Some(found), expected) if !expected.is_null() => {
                assert_eq!(found.rank as u64, expected["rank"].as_u64().expect("rank"), "{case}");
                close(found.attained, number(&expected["attained"]), 1e-11, &case.to_string());
                assert_eq!((found.low, found.high), (found.rank as f64, (n + 1 - found.rank) as f64));
            }
            (found, _) => panic!("{case}: {found:?}"),
        }
    }
}

#[test]
fn steady_windows() {
    let mut seen = [0; 2];
    for case in vectors("steady") {
        let count = |name: &str| case[name].as_u64().expect(name) as usize;
        let rule = SteadyRule {
            rounds: count("rounds"),
            range: number(&case["most_range"]),
            drift: number(&case["most_drift"]),
        };
        let found = steady_state_by(&list(&case["x"]), &rule).expect("rounds enough");
        for (value, name) in
            [(found.mean, "mean"), (found.range, "range"), (found.drift, "drift"), (found.slope, "slope")]
        {
            close(value, number(&case[name]), 1e-9, &format!("{name} of {case}"));
        }
        assert_eq!(found.steady, case["steady"], "{case}");
        seen[usize::from(found.steady)] += 1;
    }
    assert!(seen.iter().all(|n| *n >= 6), "both outcomes: {seen:?}");
}

#[test]
fn summaries() {
    for case in vectors("summaries") {
        let (x, y) = (list(&case["x"]), list(&case["y"]));
        let same = |found: Option<f64>, name: &str| {
            close(found.expect(name), number(&case[name]), 1e-12, name);
        };
        same(mean(&x), "mean");
        same(median(&x), "median");
        same(hodges_lehmann(&x, &y), "hodges_lehmann");
        same(geometric_mean_ratio(&x), "gmean");
        same(Some(median_absolute_deviation(&x).expect("finite")), "mad");
        for (p, q) in list(&case["probs"]).iter().zip(list(&case["quantiles"])) {
            close(quantile(&x, *p).expect("finite"), q, 1e-13, "quantile");
        }
        let marks: Vec<u64> = tukey_marks(&x)
            .iter()
            .map(|mark| match mark {
                Mark::None => 0,
                Mark::Mild => 1,
                Mark::Severe => 2,
            })
            .collect();
        let expected: Vec<u64> = case["marks"].as_array().expect("marks").iter().filter_map(Value::as_u64).collect();
        assert_eq!(marks, expected);
        if let Some(slope) = case["slope"].as_f64() {
            close(steady_state(&x).expect("five rounds").slope, slope, 1e-10, "slope");
        }
    }
}

#[test]
fn false_discovery() {
    for case in vectors("false_discovery") {
        for (found, expected) in benjamini_hochberg(&list(&case["p"])).iter().zip(list(&case["q"])) {
            close(*found, expected, 1e-13, "q");
        }
    }
}

/// Against every resample enumerated: no Monte Carlo error is left, the same ends come out.
#[test]
fn bootstrap_bca_enumerated() {
    for case in vectors("bootstrap_exact") {
        let (a, b) = (vec![list(&case["a"])], vec![list(&case["b"])]);
        let found = ratio_interval(&a, &b, &RatioOptions::default()).expect("positive");
        let expected = list(&case["BCa"]);
        close(found.low, expected[0], 1e-13, &case.to_string());
        close(found.high, expected[1], 1e-13, &case.to_string());
    }
}

/// SciPy draws 400,000 times; ours is the limit. The distribution is discrete, so that where the
/// level falls near a step the draws may land on the next one: 2 % of the width is allowed.
#[test]
fn bootstrap_bca() {
    for case in vectors("bootstrap") {
        let (a, b) = (vec![list(&case["a"])], vec![list(&case["b"])]);
        let found = ratio_interval(&a, &b, &RatioOptions::default()).expect("positive");
        close(found.ratio, number(&case["ratio"]), 1e-14, "ratio");
        let expected = list(&case["BCa"]);
        let width = (expected[1] / expected[0]).ln();
        for (end, scipy) in [(found.low, expected[0]), (found.high, expected[1])] {
            let off = (end / scipy).ln().abs() / width;
            assert!(off < 0.02, "{end}, SciPy {scipy}: {off:.4} of the width; {case}");
        }
    }
}

/// Two sessions without any noise: both draws are of the one, of either, or both of the other, at 1/4, 1/2 and 1/4. So an end of a
/// percentile interval steps where its tail passes 1/4; drawn sessions are allowed four standard errors of their 10,000 draws.
#[test]
fn ends_of_percentile_intervals_are_at_their_tails() {
    let (sessions, base) = (vec![vec![100.0; 10], vec![121.0; 10]], vec![vec![1.0; 10], vec![1.0; 10]]);
    let options = |tail: f64| RatioOptions {
        confidence: 1.0 - 2.0 * tail,
        method: Some(IntervalMethod::Percentile),
        ..RatioOptions::default()
    };
    for (tail, low, high) in [(0.225, 100.0, 121.0), (0.275, 110.0, 110.0)] {
        let pairs = paired_ratio_interval(&sessions, &base, &options(tail)).expect("positive");
        let exact = ratio_interval(&sessions, &base[..1], &options(tail)).expect("positive");
        for found in [pairs, exact] {
            close(found.low, low, 1e-2, "low");
            close(found.high, high, 1e-2, "high");
        }
    }
}

/// Sessions, then repeats: computed exactly, against NumPy's 400,000 draws, to 2 % of the width.
#[test]
fn bootstrap_over_sessions() {
    for case in vectors("sessions") {
        let sessions =
            |side: &Value| -> Vec<Vec<f64>> { side.as_array().expect("sessions").iter().map(list).collect() };
        let (a, b) = (sessions(&case["a"]), sessions(&case["b"]));
        let found = ratio_interval(&a, &b, &RatioOptions::default()).expect("positive");
        assert_eq!(found.method, IntervalMethod::Percentile);
        let expected = list(&case["percentile"]);
        let width = (expected[1] / expected[0]).ln();
        for (end, numpy) in [(found.low, expected[0]), (found.high, expected[1])] {
            let off = (end / numpy).ln().abs() / width;
            assert!(off < 0.02, "{end}, NumPy {numpy}: {off:.4} of the width; {case}");
        }
    }
}

/// Apache Otava finds the same changes at the same places; it knows no least segment, so that ours is 1.
#[test]
fn change_points_and_energy() {
    let mut seen = [0; 4];
    for case in vectors("change_points") {
        let history = list(&case["x"]);
        let split = energy_split(&history).expect("finite");
        assert_eq!(split.index as u64, case["split"], "{case}");
        close(split.statistic, number(&case["statistic"]), 1e-10, "energy statistic");
        let rule = ChangeRule {
            window: case["window"].as_u64().expect("window") as usize,
            least_values: 2,
            least_segment: 1,
            significance: number(&case["significance"]),
            least_change: number(&case["least_change"]),
        };
        let found = change_points(&history, &rule).expect("positive");
        let expected = case["points"].as_array().expect("points");
        assert_eq!(found.len(), expected.len(), "{found:?} {case}");
        for (point, otava) in found.iter().zip(expected) {
            assert_eq!(point.index as u64, otava["index"], "{case}");
            close(point.before, number(&otava["before"]), 1e-12, "before");
            close(point.after, number(&otava["after"]), 1e-12, "after");
            close(point.p, number(&otava["p"]), 1e-9, "p");
        }
        seen[found.len().min(3)] += 1;
    }
    assert!(seen.iter().all(|n| *n >= 2), "none, one, two, more: {seen:?}");
}

#[test]
fn latencies_merged() {
    for case in vectors("latencies") {
        let part = |pairs: &Value| {
            let mut latencies = Latencies::default();
            for pair in pairs.as_array().expect("pairs") {
                let (ns, count) = (pair[0].as_u64().expect("ns"), pair[1].as_u64().expect("count"));
                assert!(latencies.record(ns, count));
            }
            latencies
        };
        let parts: Vec<Latencies> = case["parts"].as_array().expect("parts").iter().map(part).collect();
        let total = Latencies::merged(&parts);
        assert_eq!(total.count(), case["count"]);
        let (least, most) = total.range().expect("some");
        assert_eq!((least, most), (case["least"].as_u64().expect("least"), case["most"].as_u64().expect("most")));
        for (share, ns) in list(&case["shares"]).iter().zip(list(&case["values"])) {
            let found = total.percentile(*share);
            // Ten are needed in the tail.
            match found {
                Some(found) => assert_eq!(found.ns as f64, ns, "{share}"),
                None => assert!(total.count() as f64 * (1.0 - share) < 10.0),
            }
        }
        let text = case["text"].as_str().expect("text");
        assert_eq!(Latencies::from_text(text).as_ref(), Ok(&total), "what another implementation wrote");
    }
}
