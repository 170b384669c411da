//! The API's description, OpenAPI 3.1: made of the types, and of one line for each request.

use schemars::generate::{SchemaGenerator, SchemaSettings};
use serde_json::{Map, Value, json};

use crate::api::{JobInFull, JobList, LARGEST_PAGE, LONGEST_KEY, Runs, Token};
use crate::jobs::{Job, Order};
use crate::problem::Problem;

/// Documents that commands print have their schemas in this file, which the server has too.
const COMMANDS: &str = "output.schema.json";

/// What a request answers with.
enum Answer {
    /// A value of the API's own.
    Own(fn(&mut SchemaGenerator) -> schemars::Schema),
    /// What a command prints.
    Command(&'static str),
    /// Server-sent events.
    Events,
}

/// A request: method, path, what it does, its query, what is sent, the status where all is well, and the answer.
struct Request {
    method: &'static str,
    path: &'static str,
    does: &'static str,
    query: &'static [(&'static str, &'static str)],
    takes_order: bool,
    status: &'static str,
    answer: Answer,
}

const fn get(path: &'static str, does: &'static str, answer: Answer) -> Request {
    Request { method: "get", path, does, query: &[], takes_order: false, status: "200", answer }
}

const fn post(path: &'static str, does: &'static str, status: &'static str, answer: Answer) -> Request {
    Request { method: "post", status, ..get(path, does, answer) }
}

fn requests() -> Vec<Request> {
    use Answer::{Command, Events, Own};
    let job = || Own(SchemaGenerator::subschema_for::<Job>);
    vec![
        Request {
            query: &[
                ("suite", "string"),
                ("machine", "string"),
                ("label", "string"),
                ("before", "string"),
                ("limit", "integer"),
            ],
            ..get("/runs", "List runs, newest first", Own(SchemaGenerator::subschema_for::<Runs>))
        },
        get("/runs/{run}", "Show a run in full", Command("show")),
        get("/runs/{run}/events", "Follow a run: each repeat as it is stored, behind that of Last-Event-ID", Events),
        Request {
            query: &[("runs", "string")],
            ..get("/compare", "Compare runs; the first is the base", Command("compare"))
        },
        get("/suites", "List the suites", Command("suites")),
        get("/machines", "List the machines", Command("hosts")),
        Request {
            query: &[("before", "integer"), ("limit", "integer")],
            ..get("/jobs", "List jobs, newest first", Own(SchemaGenerator::subschema_for::<JobList>))
        },
        Request { takes_order: true, ..post("/jobs", "Queue a run; of one Idempotency-Key only one", "201", job()) },
        get("/jobs/{job}", "Show a job, and what its command said", Own(SchemaGenerator::subschema_for::<JobInFull>)),
        post("/jobs/{job}/stop", "Stop a job", "200", job()),
        post("/jobs/{job}/resume", "Resume a job that was stopped or has failed", "200", job()),
        post("/tokens", "Create a token", "201", Own(SchemaGenerator::subschema_for::<Token>)),
    ]
}

/// The document.
pub(crate) fn document() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.definitions_path = "/components/schemas".into();
    });
    let mut generator = settings.for_serialize().into_generator();
    let mut taken = SchemaSettings::draft2020_12()
        .with(|settings| settings.definitions_path = "/components/schemas".into())
        .for_deserialize()
        .into_generator();
    let mut paths: Map<String, Value> = Map::new();
    for request in requests() {
        let at = paths.entry(format!("/api/v1{}", request.path)).or_insert_with(|| json!({}));
        at[request.method] = operation(&request, &mut generator, &mut taken);
    }
    let problem = generator.subschema_for::<Problem>();
    let mut schemas = generator.take_definitions(true);
    schemas.extend(taken.take_definitions(true));
    json!({
        "openapi": "3.1.0",
        "info": { "title": "stend serve", "version": "1" },
        "security": [{ "token": [] }, { "session": [] }],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "responses": { "problem": {
                "description": "What went wrong",
                "content": { "application/problem+json": { "schema": problem } },
            } },
            "securitySchemes": {
                "token": { "type": "http", "scheme": "bearer" },
                "session": { "type": "apiKey", "in": "cookie", "name": "stend_session" },
            },
        },
    })
}

fn operation(request: &Request, generator: &mut SchemaGenerator, taken: &mut SchemaGenerator) -> Value {
    let content = match &request.answer {
        Answer::Own(schema) => json!({ "application/json": { "schema": schema(generator) } }),
        Answer::Command(name) => {
            json!({ "application/json": { "schema": { "$ref": format!("{COMMANDS}#/documents/{name}") } } })
        }
        Answer::Events => json!({ "text/event-stream": { "schema": { "type": "string" } } }),
    };
    let in_path = request.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    let in_path = in_path.map(|name| {
        let kind = if name == "job" { "integer" } else { "string" };
        json!({ "name": name, "in": "path", "required": true, "schema": { "type": kind } })
    });
    let in_query = request.query.iter().map(|(name, kind)| {
        let mut schema = json!({ "type": kind });
        if *name == "limit" {
            (schema["minimum"], schema["maximum"]) = (1.into(), LARGEST_PAGE.into());
        }
        json!({ "name": name, "in": "query", "required": *name == "runs", "schema": schema })
    });
    let header = |name: &str, schema: Value| json!({ "name": name, "in": "header", "schema": schema });
    let in_header = match request.answer {
        Answer::Events => Some(header("Last-Event-ID", json!({ "type": "integer", "minimum": 0 }))),
        _ if request.takes_order => {
            Some(header("Idempotency-Key", json!({ "type": "string", "minLength": 1, "maxLength": LONGEST_KEY })))
        }
        _ => None,
    };
    let parameters: Vec<Value> = in_path.chain(in_query).chain(in_header).collect();
    let mut operation = json!({
        "summary": request.does,
        "responses": {
            request.status: { "description": "Done", "content": content.clone() },
            "default": { "$ref": "#/components/responses/problem" },
        },
    });
    if !parameters.is_empty() {
        operation["parameters"] = parameters.into();
    }
    if request.takes_order {
        operation["responses"]["200"] =
            json!({ "description": "An order of this key was there before", "content": content });
        let order = taken.subschema_for::<Order>();
        operation["requestBody"] = json!({ "required": true, "content": { "application/json": { "schema": order } } });
    }
    operation
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::document;

    #[test]
    fn the_file_is_what_the_types_say() {
        let file = "docs/reference/openapi.json";
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file);
        let wanted = format!("{}\n", serde_json::to_string_pretty(&document()).unwrap());
        if std::env::var_os("STEND_WRITE_SCHEMAS").is_some() {
            std::fs::write(&path, &wanted).unwrap();
        }
        let found = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(found == wanted, "{file} is not what the types say; write it anew with `make schemas`");
    }
}
