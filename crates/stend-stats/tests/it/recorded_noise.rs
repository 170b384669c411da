//! The rule on really recorded repeats: the same load as both sides must not be told apart.
//!
//! `tests/data/recorded-noise.json` is a JSON list of `{"scenario": name, "values": [..]}`, values
//! in the order recorded, at least 20 each, positive and finite; other keys are for people.
//! `tests/data/record-noise.py` records such a file.

use stend_stats::{Cell, SplitMix64, compare_table};

fn read(text: &str) -> Vec<(String, Vec<f64>)> {
    let list: serde_json::Value = serde_json::from_str(text).expect("JSON");
    let entries = list.as_array().expect("a list");
    let entry = |e: &serde_json::Value| {
        let name = e["scenario"].as_str().expect("\"scenario\": a name").to_owned();
        let values = e["values"].as_array().expect("\"values\": a list");
        let values: Vec<f64> = values.iter().map(|v| v.as_f64().expect("a number")).collect();
        assert!(values.len() >= 20, "{name}: {} values, at least 20 are needed", values.len());
        assert!(values.iter().all(|v| v.is_finite() && *v > 0.0), "{name}: not positive");
        (name, values)
    };
    entries.iter().map(entry).collect()
}

/// The first `count` places of `values` become a random choice without replacement.
fn shuffle(values: &mut [f64], count: usize, random: &mut SplitMix64) {
    for i in 0..count {
        let other = i + random.index(values.len() - i);
        values.swap(i, other);
    }
}

#[test]
fn a_against_a_is_not_told_apart() {
    let scenarios = read(include_str!("../data/recorded-noise.json"));
    assert!(scenarios.len() >= 4);
    let mut random = SplitMix64::new(2026);
    let mut wrong = 0;
    for _ in 0..100 {
        let mut cells: Vec<Cell> = Vec::new();
        for (_, values) in &scenarios {
            let mut values = values.clone();
            shuffle(&mut values, 20, &mut random);
            cells.push(crate::common::cell(vec![values[..10].to_vec()], vec![values[10..20].to_vec()], 0.01));
        }
        wrong += usize::from(compare_table(&cells).iter().any(crate::common::marked));
    }
    println!("{wrong} of 100 A/A tables of {} scenarios with a mark", scenarios.len());
    assert!(wrong <= 5, "{wrong} of 100 A/A tables contain a better or worse");
}
