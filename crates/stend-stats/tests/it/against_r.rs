//! Stored vectors from R (tests/vectors/make_vectors.R).

use crate::stored::{close, table};
use stend_stats::{ChangeRule, benjamini_hochberg, change_points};

#[test]
fn adjusted_p() {
    for row in table("false_discovery") {
        for (found, expected) in benjamini_hochberg(&row["p"]).iter().zip(&row["q"]) {
            close(*found, *expected, 1e-12, "q");
        }
    }
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
