//! Stored vectors from SciPy, NumPy, Apache Otava and HdrHistogram's C library (tests/vectors/make_vectors.py).

use crate::stored::{close, list, number, vectors};
use serde_json::Value;
use stend_stats::{
    ChangeRule, Design, Effect, Latencies, Mark, Numbers, SteadyRule, benjamini_hochberg, change_points, energy_split,
    mean, median, median_absolute_deviation, median_interval, quantile, steady_state, steady_state_by, tukey_marks,
};

/// Student's t of pairs, Welch's of sides, and the p of a difference of δ at most.
#[test]
fn effects() {
    let mut seen = [0; 2];
    for case in vectors("effects") {
        let sides: Vec<Vec<f64>> = case["sides"].as_array().expect("sides").iter().map(list).collect();
        seen[sides.len() - 1] += 1;
        let numbers = match &sides[..] {
            [pairs] => Numbers::Differences(pairs.clone()),
            [a, b] => Numbers::Sides { a: a.clone(), b: b.clone() },
            _ => panic!("{case}"),
        };
        let effect = Effect::of(&numbers).expect("two or more");
        let said = case.to_string();
        close(effect.ratio().ln(), number(&case["difference"]), 1e-9, &said);
        close(effect.error, number(&case["error"]), 1e-9, &said);
        close(effect.freedom, number(&case["freedom"]), 1e-9, &said);
        let (low, high) = effect.interval();
        close(low, list(&case["interval"])[0], 1e-9, &said);
        close(high, list(&case["interval"])[1], 1e-9, &said);
        for (delta, p) in list(&case["deltas"]).into_iter().zip(list(&case["p"])) {
            close(effect.p_beyond(delta), p, 1e-8, &said);
        }
    }
    assert!(seen.iter().all(|count| *count >= 36), "{seen:?}");
}

/// What nine of ten comparisons mark, and how many numbers decide.
#[test]
fn planning() {
    let mut seen = [0; 2];
    for case in vectors("planning") {
        let [cv, delta, level] = ["cv", "delta", "level"].map(|name| number(&case[name]));
        let count = |name: &str| case[name].as_u64().map(|count| count as usize);
        let design = if count("sides") == Some(1) { Design::InTurns } else { Design::OneAfterTheOther };
        let planned = Effect::planned(cv, count("numbers").expect("numbers"), design).expect("two or more");
        close(planned.visible(delta, level), number(&case["visible"]), 1e-6, &case.to_string());
        let found = Effect { difference: -number(&case["size"]), ..planned };
        let found = found.needed(delta, level, count("most").expect("most"));
        seen[usize::from(found.is_some())] += 1;
        assert_eq!(found, count("needed"), "{case}");
    }
    assert!(seen.iter().all(|count| *count >= 2), "{seen:?}");
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
        let x = list(&case["x"]);
        let same = |found: Option<f64>, name: &str| {
            close(found.expect(name), number(&case[name]), 1e-12, name);
        };
        same(mean(&x), "mean");
        same(median(&x), "median");
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
