//! The rule on really recorded runs: the same machine measured again must not be told apart from itself.
//!
//! `tests/data/recorded-runs.json` holds `{"where": text, "runs": [{scenario: [values in measured order]}, …]}`: whole
//! runs of one suite on one machine with nothing changed in between. `tests/data/record-runs.py` writes such a file.

use std::collections::BTreeMap;

use stend_stats::{
    Cell, ChangeRule, change_points, compare_runs, compare_table, effective_sample_size, serial_correlation,
};

type Run = BTreeMap<String, Vec<f64>>;

fn runs() -> Vec<Run> {
    let file: serde_json::Value = serde_json::from_str(include_str!("../data/recorded-runs.json")).expect("JSON");
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
    crate::common::cell(vec![a.to_vec()], vec![b.to_vec()], 0.01)
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
            marks += compare_runs(&table).iter().filter(|result| crate::common::marked(result)).count();
            marks_without_drift += compare_table(&table).iter().filter(|result| crate::common::marked(result)).count();
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
    let found = compare_runs(&table).iter().filter(|result| crate::common::marked(result)).count();
    assert!(found * 10 >= scenarios.len() * 8, "{found} of {}", scenarios.len());
}

/// The worked example of the method page: the hypervisor gave the first run less, and that ended for all scenarios alike.
#[test]
fn one_disturbance_ends_for_all_scenarios_alike() {
    let runs = runs();
    let history = |name: &String| runs.iter().flat_map(|run| run[name].clone()).collect::<Vec<f64>>();
    let changes = |name: &String| change_points(&history(name), &ChangeRule::default()).expect("positive");
    let at_once = |name: &&String| changes(name).iter().any(|c| (12..=14).contains(&c.index) && c.after > c.before);
    let names: Vec<String> = runs[0].keys().cloned().collect();
    assert_eq!((names.len(), names.iter().filter(at_once).count()), (19, 12));
    let gzip = changes(&"gzip -6, 441 pages".to_owned());
    assert_eq!((gzip.len(), gzip[0].index), (1, 13));
    assert!((gzip[0].before / 2.513e7 - 1.0).abs() < 1e-3 && (gzip[0].after / 2.891e7 - 1.0).abs() < 1e-3);
    assert!(gzip[0].p > 1e-14 && gzip[0].p < 1e-13, "{gzip:?}");
}

/// The method page's figures of repeats that hang together.
#[test]
fn recorded_repeats_hang_together_a_little() {
    let runs = runs();
    let found = serial_correlation(runs.iter().flat_map(|run| run.values().map(Vec::as_slice))).expect("many");
    assert!((found.correlation - 0.1189).abs() < 1e-4 && (found.z - 2.968).abs() < 1e-3, "{found:?}");
    let noise: serde_json::Value = serde_json::from_str(include_str!("../data/recorded-noise.json")).expect("JSON");
    let series = |name: &str| -> Vec<f64> {
        let entry = noise.as_array().expect("a list").iter().find(|entry| entry["scenario"] == name).expect(name);
        serde_json::from_value(entry["values"].clone()).expect("values")
    };
    let gzip = effective_sample_size(&series("gzip-6")).expect("sixty");
    assert!((gzip.size - 12.08).abs() < 0.01 && (gzip.standard_error - 0.878e-3).abs() < 1e-6, "{gzip:?}");
    assert_eq!(effective_sample_size(&series("openssl-sha256")).expect("sixty").size, 60.0);
}
