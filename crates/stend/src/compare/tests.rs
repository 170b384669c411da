use stend_model::reference::Reference;
use stend_model::run::{Outcome, RunState, Skipped};

use super::*;
use crate::testing::record;

const REFERENCE: &str = r#"
name = "r"
title = "t"
source = "s"
grade = "D"
method = "m"
[[machine]]
id = "old"
name = "Old"
description = "an old one"
[[machine]]
id = "mute"
name = "Mute"
description = "without figures"
[[figure]]
machine = "old"
measures = "kuznyechik, independent blocks"
metric = "throughput"
value = 5e8
unit = "B/s"
"#;

fn steady(middle: f64) -> Vec<f64> {
    [-4.0, -3.0, -2.0, -1.0, 0.0, 0.0, 1.0, 2.0, 3.0, 4.0].iter().map(|step| middle * (1.0 + step / 1000.0)).collect()
}

fn verdicts(table: &Table) -> Vec<Verdict> {
    let of = |row: &Row| match &row.cells[1] {
        Cell::Measured(measured) => measured.against_base.as_ref().unwrap().verdict,
        other => panic!("{other:?}"),
    };
    table.rows.iter().map(of).collect()
}

#[test]
fn better_and_worse_follow_each_metrics_own_direction() {
    let (base, half) = (record("a", &steady(2.0)), record("b", &steady(1.0)));
    // Half the time: twice the throughput and half the time, both better.
    assert_eq!(verdicts(&compare(&[&base, &half], &[])), [Verdict::Better, Verdict::Better]);
    assert_eq!(verdicts(&compare(&[&half, &base], &[])), [Verdict::Worse, Verdict::Worse]);
    assert_eq!(verdicts(&compare(&[&base, &base], &[])), [Verdict::Same, Verdict::Same]);
}

#[test]
fn few_repeats_give_no_verdict() {
    let (base, other) = (record("a", &[1.0, 1.0, 1.0, 1.0, 1.0]), record("b", &[9.0, 9.0, 9.0, 9.0, 9.0]));
    let table = compare(&[&base, &other], &[]);
    assert_eq!(verdicts(&table), [Verdict::Unresolved, Verdict::Unresolved]);
    let Cell::Measured(measured) = &table.rows[0].cells[0] else { panic!() };
    assert_eq!(measured.interval, None);
}

#[test]
fn repeats_that_do_not_count_are_shown_and_not_counted() {
    let mut base = record("a", &steady(1.0));
    base.repeats[0].outcome = Outcome::Invalid(vec!["steal".into()]);
    let table = compare(&[&base], &[]);
    let Cell::Measured(measured) = &table.rows[0].cells[0] else { panic!() };
    assert_eq!((measured.valid, measured.invalid), (9, 1));
}

#[test]
fn a_scenario_without_any_valid_repeat_says_why() {
    let mut base = record("a", &[1.0]);
    base.repeats[0].outcome = Outcome::Failed("killed by signal 9".into());
    base.run.skipped.push(Skipped { scenario: "beta".into(), reason: "no fio".into(), remedy: Some("get fio".into()) });
    let table = compare(&[&base], &[]);
    assert_eq!(table.rows[0].cells[0], Cell::Nothing { reason: "failed: killed by signal 9".into() });
    assert_eq!(table.rows[1].cells[0], Cell::Nothing { reason: "skipped: no fio; mend it with: get fio".into() });
}

#[test]
fn other_parameters_are_another_thing() {
    let (base, mut other) = (record("a", &steady(1.0)), record("b", &steady(2.0)));
    other.run.suite.scenarios[0].parameters.insert("size".into(), "8k".into());
    let table = compare(&[&base, &other], &[]);
    let Cell::Measured(measured) = &table.rows[0].cells[1] else { panic!() };
    assert_eq!(measured.against_base, None);
    assert!(table.notes.iter().any(|note| note.contains("size none → 8k")), "{:?}", table.notes);
}

#[test]
fn published_figures_stand_beside_with_their_ratio_and_no_verdict() {
    let base = record("a", &steady(1.0));
    let table = compare(&[&base], &[Reference::parse(REFERENCE, "r.toml").unwrap()]);
    let titles: Vec<_> = table.columns.iter().map(|column| column.title.as_str()).collect();
    assert_eq!(titles, ["testbed", "Old"], "a machine without a figure takes no column");
    let Cell::Published(published) = &table.rows[0].cells[1] else { panic!() };
    // A megabyte in a millisecond is 1 GB/s, twice the published 500 MB/s.
    assert!((published.ratio.unwrap() - 2.0).abs() < 1e-9);
    assert_eq!(table.rows[1].cells[1], Cell::Absent);
    assert_eq!(table.columns[1].grade, Grade::D);
}

#[test]
fn what_a_reader_must_know_is_said() {
    let (mut base, mut other) = (record("a", &steady(1.0)), record("b", &steady(1.0)));
    base.run.suite.scale = 0.01;
    other.run.state = RunState::Open;
    other.run.suite.scenarios.pop();
    other.repeats.retain(|repeat| repeat.scenario == 0);
    let table = compare(&[&base, &other], &[]);
    assert!(table.notes.iter().any(|note| note.contains("scaled by 0.01")));
    assert!(table.notes.iter().any(|note| note.contains("stend resume b")));
    assert_eq!(table.left_out, ["beta: not in b"]);
}

#[test]
fn a_bad_reference_says_where() {
    let broken = REFERENCE.replace("machine = \"old\"", "machine = \"odl\"");
    assert!(Reference::parse(&broken, "r.toml").unwrap_err().contains("no [[machine]]"));
    let broken = REFERENCE.replace("unit = \"B/s\"\n", "");
    assert!(Reference::parse(&broken, "r.toml").unwrap_err().contains("\"unit\""));
    let broken = REFERENCE.replace("grade = \"D\"", "grade = \"E\"");
    assert!(Reference::parse(&broken, "r.toml").unwrap_err().starts_with("r.toml:5:9"));
}
