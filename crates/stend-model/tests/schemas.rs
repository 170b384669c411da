//! The published JSON Schemas are generated from the types. `make schemas` writes them anew after the types have changed.

use std::path::Path;

use serde_json::Value;
use stend_model::{carried, image, reference, suite, target, wire};

fn schemas() -> [(&'static str, Value); 8] {
    [
        ("docs/reference/wire.schema.json", wire::schema()),
        ("suites/suite.schema.json", schemars::schema_for!(suite::text::SuiteText).to_value()),
        ("references/reference.schema.json", schemars::schema_for!(reference::Reference).to_value()),
        ("targets/target.schema.json", schemars::schema_for!(target::TargetText).to_value()),
        ("targets/vm.schema.json", schemars::schema_for!(target::vm::VmText).to_value()),
        ("images/image.schema.json", schemars::schema_for!(image::Image).to_value()),
        ("docs/reference/carried-plan.schema.json", schemars::schema_for!(carried::CarriedPlan).to_value()),
        ("docs/reference/carried-result.schema.json", schemars::schema_for!(carried::ResultLine).to_value()),
    ]
}

#[test]
fn the_files_are_what_the_types_say() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for (file, schema) in schemas() {
        let wanted = format!("{}\n", serde_json::to_string_pretty(&schema).unwrap());
        if std::env::var_os("STEND_WRITE_SCHEMAS").is_some() {
            std::fs::write(root.join(file), &wanted).unwrap();
        }
        let found = std::fs::read_to_string(root.join(file)).unwrap_or_default();
        assert!(found == wanted, "{file} is not what the types say; write it anew with `make schemas`");
    }
}

#[test]
fn every_suite_reference_and_target_keeps_its_schema() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for (directory, least, schema) in [
        ("suites", 5, &schemas()[1].1),
        ("references", 5, &schemas()[2].1),
        ("targets", 1, &schemas()[3].1),
        ("images", 1, &schemas()[5].1),
    ] {
        let validator = jsonschema::validator_for(schema).unwrap();
        let mut seen = 0;
        for entry in std::fs::read_dir(root.join(directory)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "toml") {
                let document: toml::Value = toml::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
                let document = serde_json::to_value(document).unwrap();
                let errors: Vec<_> = validator
                    .iter_errors(&document)
                    .map(|error| format!("{}: {error}", error.instance_path()))
                    .collect();
                assert!(errors.is_empty(), "{}: {errors:?}", path.display());
                seen += 1;
            }
        }
        assert!(seen >= least, "{directory} has {seen} files");
    }
}

#[test]
fn the_wires_schema_refuses_what_the_parser_refuses() {
    let validator = jsonschema::validator_for(&wire::schema()).unwrap();
    for (line, fine) in [
        (r#"{"event":"begin","wire":1,"instrument":"x"}"#, true),
        (r#"{"event":"sample","t_ns":1,"metric":"iops","value":2.5}"#, true),
        (r#"{"event":"repeat","wall_ns":1,"work":{"bytes":1},"check":"passed","extra":[1]}"#, true),
        (r#"{"event":"mark","t_ns":1,"kind":"recovery","label":"rebuilt"}"#, true),
        (r#"{"event":"end","repeats":1}"#, true),
        (r#"{"event":"test","name":"a","outcome":"failed","said":"oh dear"}"#, true),
        (r#"{"event":"test","name":"","outcome":"passed"}"#, false),
        (r#"{"event":"test","name":"a","outcome":"perhaps"}"#, false),
        (r#"{"event":"mark","t_ns":1,"kind":"weather","label":"rain"}"#, false),
        (r#"{"event":"mark","t_ns":1,"kind":"fault","label":""}"#, false),
        (r#"{"event":"repeat","wall_ns":0,"work":{"bytes":1},"check":"passed"}"#, false),
        (r#"{"event":"repeat","wall_ns":1,"work":{},"check":"passed"}"#, false),
        (r#"{"event":"repeat","wall_ns":1,"work":{"bytes":1},"check":"perhaps"}"#, false),
        (r#"{"event":"begin","wire":1}"#, false),
        (r#"{"no_event":1}"#, false),
    ] {
        let value: Value = serde_json::from_str(line).unwrap();
        assert_eq!(validator.is_valid(&value), fine, "schema: {line}");
        assert_eq!(wire::parse_line(line).is_ok(), fine, "parser: {line}");
    }
}
