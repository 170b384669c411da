//! The rule on really recorded runs: the same machine measured again must not be told apart from itself.
//!
//! `tests/data/recorded-runs.json` holds `{"where": text, "runs": [{scenario: [values in measured order]}, …]}`: whole
//! runs of one suite on one machine with nothing changed in between. `tests/data/record-runs.py` writes such a file.
//! `tests/data/recorded-noise.json` is a list of `{"scenario": name, "values": [..]}`, of `tests/data/record-noise.py`.

use std::collections::BTreeMap;

use crate::common::{cell, marked};
use stend_stats::{Cell, ChangeRule, Design, SplitMix64, Verdict, change_points, compare};

type Run = BTreeMap<String, Vec<f64>>;

fn runs() -> Vec<Run> {
    let file: serde_json::Value = serde_json::from_str(include_str!("../data/recorded-runs.json")).expect("JSON");
    let runs: Vec<Run> = serde_json::from_value(file["runs"].clone()).expect("a list of runs");
    assert!(runs.len() >= 5, "five runs at least");
    runs
}

/// Sixty values a scenario, made in a row.
fn noise() -> Vec<Vec<f64>> {
    let list: serde_json::Value = serde_json::from_str(include_str!("../data/recorded-noise.json")).expect("JSON");
    let values = |entry: &serde_json::Value| serde_json::from_value(entry["values"].clone()).expect("values");
    list.as_array().expect("a list").iter().map(values).collect()
}

/// Neighbours as two sides, a coin deciding which of the two is a's.
fn in_turns(values: &[f64], random: &mut SplitMix64) -> Cell {
    let (a, b): (Vec<f64>, Vec<f64>) = values
        .chunks_exact(2)
        .map(|pair| if random.next_f64() < 0.5 { (pair[0], pair[1]) } else { (pair[1], pair[0]) })
        .unzip();
    cell(&a, &b, Design::InTurns, 0.01)
}

#[test]
fn a_machine_is_not_told_apart_from_itself_in_turns() {
    let mut random = SplitMix64::new(2026);
    let (mut tables, mut marks) = (0, 0);
    for run in runs() {
        for _ in 0..40 {
            let table: Vec<_> =
                run.values().filter(|values| values.len() >= 10).map(|values| in_turns(values, &mut random)).collect();
            tables += 1;
            marks += usize::from(compare(&table).iter().any(marked));
        }
    }
    for _ in 0..200 {
        let table: Vec<_> = noise().iter().map(|values| in_turns(values, &mut random)).collect();
        tables += 1;
        marks += usize::from(compare(&table).iter().any(marked));
    }
    assert!(marks * 20 <= tables, "{marks} of {tables} tables of the same with the same have a mark");
}

/// The method page says how many cells one run after another marks on that machine: more than it may, because its hours differ.
#[test]
fn one_session_each_marks_what_the_hour_changed() {
    let runs = runs();
    let (mut cells, mut marks) = (0, 0);
    for (first, a) in runs.iter().enumerate() {
        for b in &runs[first + 1..] {
            let table: Vec<_> = a.keys().map(|name| cell(&a[name], &b[name], Design::OneAfterTheOther, 0.01)).collect();
            cells += table.len();
            marks += compare(&table).iter().filter(|result| marked(result)).count();
        }
    }
    let said = format!("of the {cells} cells of the ten pairs of recorded runs {marks} have a hollow mark");
    assert!(
        include_str!("../../../../docs/design/method.md").contains(&said),
        "docs/design/method.md ought to say: {said}"
    );
}

#[test]
fn a_doubled_speed_is_found_in_every_scenario() {
    let runs = runs();
    let double = |(name, values): (&String, &Vec<f64>)| {
        let doubled: Vec<f64> = values.iter().map(|value| value * 2.0).collect();
        cell(&doubled, &runs[1][name], Design::OneAfterTheOther, 0.01)
    };
    let table: Vec<_> = runs[0].iter().map(double).collect();
    assert!(compare(&table).iter().all(|result| result.verdict == Verdict::Better));
}

/// The worked example of the method page: the hypervisor gave the first run less, and that ended for all scenarios alike.
#[test]
fn one_disturbance_ends_for_all_scenarios_alike() {
    let runs = runs();
    let history = |name: &String| runs.iter().flat_map(|run| run[name].clone()).collect::<Vec<f64>>();
    let changes = |name: &String| change_points(&history(name), &ChangeRule::default()).expect("positive");
    let at_once = |name: &&String| changes(name).iter().any(|c| (12..=15).contains(&c.index) && c.after > c.before);
    let names: Vec<String> = runs[0].keys().cloned().collect();
    assert_eq!((names.len(), names.iter().filter(at_once).count()), (19, 12));
    let gzip = changes(&"gzip -6, 441 pages".to_owned());
    assert_eq!((gzip.len(), gzip[0].index), (1, 13));
    assert!((gzip[0].before / 2.513e7 - 1.0).abs() < 1e-3 && (gzip[0].after / 2.891e7 - 1.0).abs() < 1e-3);
    assert!(gzip[0].p > 1e-14 && gzip[0].p < 1e-13, "{gzip:?}");
}
