//! `--format`: each command that shows something for people writes the same as a table, as Markdown, for a spreadsheet and for programs.

use std::path::Path;

use serde_json::Value;

use crate::common::runs::{A, B, Runs};
use crate::common::{Stand, ended};

/// What a place with two runs and a named machine is asked for, a word of each answer, and which document of the schema
/// it is.
fn commands(stand: &Stand) -> Vec<(Vec<&'static str>, &'static str, &'static str)> {
    stand.fine(&["hosts", "add", "xeon", "bench@xeon.lan", "--watts", "65"]);
    vec![
        (vec!["list"], A, "list"),
        (vec!["hosts"], "xeon", "hosts"),
        (vec!["hosts", "show", "local"], "finished", "hosts show"),
        (vec!["suites"], "quick", "suites"),
        (vec!["suites", "quick"], "copy", "suites SUITE"),
        (vec!["history", "copy"], A, "history"),
        (vec!["history", "throughput"], "copy", "history METRIC"),
        (vec!["show", A], "copy", "show"),
        (vec!["compare", A, B], "copy", "compare"),
        (vec!["compare", A, B, "--why", "copy"], "interval", "compare --why"),
    ]
}

/// That it is as the schema says.
fn assert_keeps_schema(text: &str, document: &str) {
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/output.schema.json");
    let all: Value = serde_json::from_str(&std::fs::read_to_string(schema).unwrap()).unwrap();
    let mut schema = all["documents"][document].clone();
    schema["$defs"] = all["$defs"].clone();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let value: Value = serde_json::from_str(text).unwrap();
    let errors: Vec<_> =
        validator.iter_errors(&value).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{document}: {errors:?}");
    let object = value.as_object().unwrap();
    for name in object.keys() {
        let without: serde_json::Map<_, _> = object
            .iter()
            .filter(|(other, _)| *other != name)
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        assert!(!validator.is_valid(&without.into()), "{document} without {name}");
    }
}

/// A store with two runs of one scenario.
fn runs() -> Runs {
    let runs = Runs::new();
    runs.add(&[runs.run(A, &[("copy", 1.0)]), runs.run(B, &[("copy", 0.5)])]);
    runs
}

#[test]
fn every_command_writes_every_format() {
    let runs = runs();
    for (command, word, document) in commands(&runs.stand) {
        let written = |format: &str| runs.stand.fine(&[&command[..], &["--format", format]].concat()).out;
        assert!(written("table").contains(word), "{command:?}: {}", written("table"));
        assert_eq!(written("json"), runs.stand.fine(&[&command[..], &["--json"]].concat()).out, "{command:?}");
        assert_keeps_schema(&written("json"), document);
        let page = written("md");
        assert!(page.contains(&word.replace('_', "\\_")) && !page.contains("\n\n\n"), "{command:?}: {page}");
        for table in page.split("\n\n").filter(|part| part.starts_with('|')) {
            let bars = |line: &str| line.replace("\\|", "").matches('|').count();
            assert!(
                table.lines().all(|line| bars(line) == bars(table.lines().next().unwrap())),
                "{command:?}: {table}"
            );
        }
        let sheet = written("csv");
        assert!(sheet.contains(word) && sheet.lines().count() > 1, "{command:?}: {sheet}");
        for table in sheet.split("\r\n\r\n") {
            assert!(table.lines().next().unwrap().split(',').count() > 1, "{command:?}: {table}");
        }
    }
}

#[test]
fn a_machine_that_is_looked_at_is_told_of_in_every_format() {
    let stand = Stand::new();
    for command in ["check", "doctor"] {
        for (format, wanted) in [("table", "fine"), ("md", "| --- |"), ("csv", "state,"), ("json", "\"findings\"")] {
            // What it found decides the status.
            let ended = ended(&mut stand.command(&[command, "--format", format]));
            assert!(ended.out.contains(wanted), "{command} {format}: {}{}", ended.out, ended.err);
            if format == "json" {
                assert_keeps_schema(&ended.out, command);
            }
        }
    }
}

#[test]
fn numbers_in_a_spreadsheet_are_in_full_and_heads_have_their_units() {
    let runs = runs();
    let sheet = runs.stand.fine(&["history", "copy", "--format", "csv"]).out;
    let mut lines = sheet.lines();
    let heads: Vec<&str> = lines.next().unwrap().split(',').collect();
    let median = heads.iter().position(|head| head.starts_with("median")).expect("a head with its unit");
    let fields: Vec<&str> = lines.next().unwrap().split(',').collect();
    assert!(
        fields.len() == heads.len() && fields[median].parse::<f64>().is_ok_and(|median| median > 1000.0),
        "{sheet}"
    );
}
