//! Reading of the stored vectors.
#![allow(dead_code, unreachable_pub, missing_docs)]

use std::collections::BTreeMap;

use serde_json::Value;

pub fn vectors(name: &str) -> Vec<Value> {
    let path = format!("{}/tests/vectors/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("the vectors are committed");
    serde_json::from_str(&text).expect("a JSON list")
}

pub fn list(value: &Value) -> Vec<f64> {
    value.as_array().expect("a list").iter().map(number).collect()
}

pub fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

pub fn close(found: f64, expected: f64, tolerance: f64, what: &str) {
    let error = (found - expected).abs() / expected.abs().max(1e-300);
    assert!(found == expected || error <= tolerance, "{what}: {found}, expected {expected}");
}

/// The rows of a table that R wrote: no quotes, lists within a column separated by spaces.
pub fn table(name: &str) -> Vec<BTreeMap<String, Vec<f64>>> {
    let path = format!("{}/tests/vectors/r_{name}.csv", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("the vectors are committed");
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let names = lines.next().expect("a head");
    let numbers = |column: &str| column.split(' ').map(|number| number.parse().expect("a number")).collect();
    lines.map(|row| names.iter().map(|name| (*name).to_owned()).zip(row.into_iter().map(numbers)).collect()).collect()
}
