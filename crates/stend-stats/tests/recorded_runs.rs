//! The rule on really recorded runs: the same machine measured again must not be told apart from itself.
//!
//! `tests/data/recorded-runs.json` holds `{"where": text, "runs": [{scenario: [values in measured order]}, …]}`: whole
//! runs of one suite on one machine with nothing changed in between. `tests/data/record-runs.py` writes such a file.

mod common;

use std::collections::BTreeMap;

use stend_stats::{Cell, compare_runs, compare_table};

type Run = BTreeMap<String, Vec<f64>>;

fn runs() -> Vec<Run> {
    let file: serde_json::Value = serde_json::from_str(include_str!("data/recorded-runs.json")).expect("JSON");
    let runs: Vec<Run> = serde_json::from_value(file["runs"].clone()).expect("a list of runs");
    assert!(runs.len() >= 5, "five runs at least");
    runs
}

/// The scenarios that all runs have, with enough repeats.
fn common_scenarios(runs: &[Run]) -> Vec<String> {
    let enough = |name: &&String| runs.iter().all(|run| run.get(*name).is_some_and(|values| values.len() >= 6));
    runs[0].keys().filter(enough).cloned().collect()
}

fn cell(a: &[f64], b: &[f64]) -> Cell {
    common::cell(vec![a.to_vec()], vec![b.to_vec()], 0.01)
}

#[test]
fn a_machine_is_not_told_apart_from_itself() {
    let runs = runs();
    let scenarios = common_scenarios(&runs);
    assert!(scenarios.len() >= 15, "{} scenarios", scenarios.len());
    let (mut cells, mut marks, mut marks_without_drift) = (0, 0, 0);
    for (first, a) in runs.iter().enumerate() {
        for b in &runs[first + 1..] {
            let table: Vec<_> = scenarios.iter().map(|name| cell(&a[name], &b[name])).collect();
            cells += table.len();
            marks += compare_runs(&table).iter().filter(|result| common::marked(result)).count();
            marks_without_drift += compare_table(&table).iter().filter(|result| common::marked(result)).count();
        }
    }
    println!("{marks} marks in {cells} cells; {marks_without_drift} if drift were not looked at");
    assert!(marks * 100 <= cells, "{marks} marks in {cells} cells is more than one in a hundred");
}

#[test]
fn a_real_difference_is_still_found() {
    let runs = runs();
    let scenarios = common_scenarios(&runs);
    // Every scenario twice as fast as another run of the same: more than any of them drifts.
    let double =
        |name: &String| cell(&runs[0][name].iter().map(|value| value * 2.0).collect::<Vec<_>>(), &runs[1][name]);
    let table: Vec<_> = scenarios.iter().map(double).collect();
    let found = compare_runs(&table).iter().filter(|result| common::marked(result)).count();
    assert!(found * 10 >= scenarios.len() * 8, "{found} of {}", scenarios.len());
}
