//! Stored vectors from R (tests/vectors/make_vectors.R).

use crate::stored::{close, table};
use stend_stats::{
    ChangeRule, IntervalMethod, RatioOptions, autocorrelation, benjamini_hochberg, change_points,
    effective_sample_size, hodges_lehmann, mann_whitney, pseudomedian, pseudomedian_interval, rank_correlation,
    ratio_interval, shift_interval, sign_flip, signed_rank,
};

/// `exactRankTests::wilcox.exact`: its two-sided p with ties adds up what is as far from the mean as the observed U, ours doubles the
/// smaller tail. Where U's distribution is symmetric they agree; else theirs has one smaller tail and another not much larger.
#[test]
fn exact_rank_tests() {
    let mut equal = 0;
    for row in table("rank_tests") {
        let (a, b) = (&row["a"], &row["b"]);
        let test = mann_whitney(a, b).expect("finite");
        assert_eq!(test.statistic, row["u"][0], "{row:?}");
        let r = row["p"][0];
        assert!(r <= test.p * 1.1 && r >= test.p / 2.0 * (1.0 - 1e-9), "{r} {test:?}");
        equal += usize::from((r / test.p - 1.0).abs() < 1e-9);
        assert!((hodges_lehmann(a, b).expect("finite") - row["shift"][0]).abs() < 1e-12, "{row:?}");
    }
    assert!(equal >= 8, "{equal} of 15");
}

/// `wilcox.test(conf.int = TRUE)`, exact. Beyond 120 values ours is the normal approximation: two ranks
/// in a thousand off at most.
#[test]
fn intervals_of_the_shift() {
    let mut seen = [0; 2];
    for row in table("shift_interval") {
        let (a, b) = (&row["a"], &row["b"]);
        let found = shift_interval(a, b, row["confidence"][0]).expect("enough");
        let rank = row["rank"][0];
        assert!((hodges_lehmann(a, b).expect("finite") - row["shift"][0]).abs() < 1e-9, "{row:?}");
        let exact = a.len() + b.len() <= stend_stats::EXACT_TOTAL;
        seen[usize::from(exact)] += 1;
        if exact {
            assert_eq!(found.rank as f64, rank, "{row:?}");
            close(found.attained, row["attained"][0], 1e-12, "attained");
            assert!((found.low - row["low"][0]).abs() < 1e-9 && (found.high - row["high"][0]).abs() < 1e-9, "{row:?}");
        } else {
            assert!((found.rank as f64 / rank - 1.0).abs() <= 0.002, "{found:?}, R {rank}");
            assert!((found.attained - row["attained"][0]).abs() < 1e-3, "{found:?} {row:?}");
        }
    }
    assert!(seen.iter().all(|n| *n >= 6), "{seen:?}");
}

/// `cor.test(method = "spearman", exact = FALSE)`.
#[test]
fn rank_correlations() {
    for row in table("rank_correlation") {
        let found = rank_correlation(&row["x"], &row["y"]).expect("enough");
        assert!((found.correlation - row["correlation"][0]).abs() < 1e-12, "{found:?} {row:?}");
        close(found.p, row["p"][0], 1e-9, &format!("{row:?}"));
    }
}

/// `wilcox.test(d, conf.int = TRUE)`, exact. Beyond 120 pairs ours is the normal approximation.
#[test]
fn signed_ranks_of_pairs() {
    let mut seen = [0; 2];
    for row in table("signed_rank") {
        let d = &row["d"];
        let test = signed_rank(d).expect("finite");
        let found = pseudomedian_interval(d, row["confidence"][0]).expect("enough");
        assert_eq!(test.statistic, row["w"][0], "{row:?}");
        assert!((pseudomedian(d).expect("finite") - row["middle"][0]).abs() < 1e-9, "{row:?}");
        let exact = d.len() <= stend_stats::EXACT_TOTAL;
        seen[usize::from(exact)] += 1;
        if exact {
            close(test.p, row["p"][0], 1e-10, &format!("{row:?}"));
            assert_eq!(found.rank as f64, row["rank"][0], "{row:?}");
            close(found.attained, row["attained"][0], 1e-12, "attained");
            assert!((found.low - row["low"][0]).abs() < 1e-9 && (found.high - row["high"][0]).abs() < 1e-9, "{row:?}");
        } else {
            // Far out in the tail the approximation is too wide.
            assert!(test.p >= 0.95 * row["p"][0] && test.p < row["p"][0] * 1.05 + 1e-8, "{test:?} {row:?}");
            assert!((found.rank as f64 / row["rank"][0] - 1.0).abs() <= 0.002, "{found:?} {row:?}");
            assert!((found.attained - row["attained"][0]).abs() < 1e-3, "{found:?} {row:?}");
        }
    }
    assert!(seen[0] >= 4 && seen[1] >= 30, "{seen:?}");
}

#[test]
fn sign_flips() {
    for row in table("sign_flip") {
        close(sign_flip(&row["d"], 1).expect("finite").p, row["p"][0], 1e-10, &format!("{row:?}"));
    }
}

#[test]
fn adjusted_p() {
    for row in table("false_discovery") {
        for (found, expected) in benjamini_hochberg(&row["p"]).iter().zip(&row["q"]) {
            close(*found, *expected, 1e-12, "q");
        }
    }
}

/// From 60,000 draws of `boot`; ours is the limit, which is discrete. 4 % of the width is allowed.
#[test]
fn bootstrap_bca_and_percentile() {
    for row in table("bootstrap") {
        let sides = [vec![row["a"].clone()], vec![row["b"].clone()]];
        for (method, name) in [(IntervalMethod::Bca, "bca"), (IntervalMethod::Percentile, "percentile")] {
            let options = RatioOptions { method: Some(method), ..RatioOptions::default() };
            let found = ratio_interval(&sides[0], &sides[1], &options).expect("positive");
            assert_eq!(found.method, method);
            let expected = &row[name];
            let width = (expected[1] / expected[0]).ln();
            for (end, r) in [(found.low, expected[0]), (found.high, expected[1])] {
                let off = (end / r).ln().abs() / width;
                assert!(off < 0.04, "{name} {end}, R {r}: {off:.4} of the width; {row:?}");
            }
        }
    }
}

/// `acf`, and the variance of the mean by `mcmc::initseq` (Geyer's own code). A variance below that of independent
/// values counts as theirs.
#[test]
fn correlation() {
    let mut less = 0;
    for row in table("correlation") {
        let series = &row["x"];
        for (found, expected) in autocorrelation(series, 10).expect("long enough").iter().zip(&row["acf"]) {
            assert!((found - expected).abs() < 1e-12, "{found}, R {expected}");
        }
        let time = row["variance"][0] / row["gamma0"][0];
        less += usize::from(time < 1.0);
        let found = effective_sample_size(series).expect("long enough");
        close(found.correlation_time, time.max(1.0), 1e-9, "correlation time");
        close(found.size * found.correlation_time, series.len() as f64, 1e-12, "size");
        let n = series.len() as f64;
        close(found.standard_error.powi(2), row["gamma0"][0] * time.max(1.0) / (n - 1.0), 1e-9, "standard error");
    }
    assert!((1..12).contains(&less), "both kinds: {less}");
}

/// `t.test(var.equal = TRUE)` of both sides of one change.
#[test]
fn t_test_of_a_change() {
    let rule = ChangeRule { least_values: 2, ..ChangeRule::default() };
    for row in table("t_test") {
        let history = [row["left"].clone(), row["right"].clone()].concat();
        let found = change_points(&history, &rule).expect("positive");
        assert_eq!((found.len(), found[0].index), (1, row["left"].len()), "{found:?}");
        close(found[0].p, row["p"][0], 1e-9, "p");
    }
}
