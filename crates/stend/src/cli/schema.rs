//! The published JSON Schema of what commands print as JSON is made of its types. `make schemas` writes it anew after these have changed.

use std::path::Path;

use schemars::generate::{SchemaGenerator, SchemaSettings};
use schemars::{JsonSchema, Schema, json_schema};
use serde_json::{Map, Value};
use stend_compare::history::History;
use stend_compare::table::{ForPrograms, Row};
use stend_model::record::Summary;
use stend_model::suite::Suite;
use stend_model::weight::Known;
use stend_stand::machine;

use super::{doctor, history, show, suites};
use stend_model::record::JSON_VERSION;

const FILE: &str = "docs/reference/output.schema.json";

/// An object with the version, and these beside it.
fn document(parts: impl IntoIterator<Item = (&'static str, Schema)>) -> Value {
    let version = ("schema_version", json_schema!({ "const": JSON_VERSION }));
    let properties: Map<String, Value> =
        [version].into_iter().chain(parts).map(|(name, schema)| (name.to_owned(), schema.to_value())).collect();
    let required: Vec<&String> = properties.keys().collect();
    serde_json::json!({ "type": "object", "required": required, "properties": properties })
}

fn of<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

fn schema() -> Value {
    let mut of_types = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let generator = &mut of_types;
    let one_host = [("host", of::<Known>(generator)), ("runs", of::<Vec<Summary>>(generator))];
    let documents = [
        ("list", document([("runs", of::<Vec<Summary>>(generator))])),
        ("show", document([("run", of::<show::InFull>(generator))])),
        ("compare", document([("table", of::<ForPrograms>(generator))])),
        ("compare --why", document([("row", of::<Row>(generator))])),
        ("history", document([("history", of::<History>(generator))])),
        ("history METRIC", document([("scenarios", of::<Vec<history::WithMetric>>(generator))])),
        ("hosts", document([("hosts", of::<Vec<Known>>(generator))])),
        ("hosts show", document(one_host)),
        ("check", document([("findings", of::<Vec<machine::Finding>>(generator))])),
        ("doctor", document([("findings", of::<Vec<doctor::Finding>>(generator))])),
        ("suites", document([("suites", of::<Vec<suites::Line>>(generator))])),
        ("suites SUITE", document([("suite", of::<Suite>(generator))])),
    ];
    let documents: Map<String, Value> = documents.into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect();
    serde_json::json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "What the commands of stend print with --json",
        "documents": documents,
        "$defs": of_types.take_definitions(true),
    })
}

#[test]
fn the_file_is_what_the_types_say() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(FILE);
    let wanted = format!("{}\n", serde_json::to_string_pretty(&schema()).unwrap());
    if std::env::var_os("STEND_WRITE_SCHEMAS").is_some() {
        std::fs::write(&path, &wanted).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == wanted, "{FILE} is not what the types say; write it anew with `make schemas`");
}
