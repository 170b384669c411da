//! Every public function says what it is, in the same way.

use std::path::Path;

/// What every one of them tells.
const TOLD: [&str; 4] = ["* Unit:", "* Assumes:", "* Refuses:", "* Source:"];

/// The documentation of each public function of a file, by its name; that of a method begins with a dot.
fn functions(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut documentation = String::new();
    for line in text.lines() {
        let code = line.trim_start();
        if let Some(words) = code.strip_prefix("///") {
            documentation += words;
            documentation.push('\n');
        } else if let Some(rest) = code.strip_prefix("pub fn ") {
            let name = rest.split(['(', '<']).next().unwrap_or_default();
            let dot = if code.len() < line.len() { "." } else { "" };
            found.push((format!("{dot}{name}"), std::mem::take(&mut documentation)));
        } else if !code.starts_with("#[") {
            documentation.clear();
        }
    }
    found
}

#[test]
fn every_public_function_tells_unit_assumptions_refusals_and_source_and_has_an_example() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let (mut lacking, mut seen) = (Vec::new(), 0);
    for entry in std::fs::read_dir(sources).expect("the sources") {
        let text = std::fs::read_to_string(entry.expect("a file").path()).expect("UTF-8");
        for (name, documentation) in functions(&text) {
            seen += 1;
            // A method's example stands at its type.
            let example = (!name.starts_with('.')).then_some("```");
            for part in TOLD.into_iter().chain(example) {
                if !documentation.lines().any(|line| line.trim_start().starts_with(part)) {
                    lacking.push(format!("{name}: {part}"));
                }
            }
        }
    }
    assert!(lacking.is_empty(), "{lacking:#?}");
    assert!(seen > 30, "{seen} functions");
}
