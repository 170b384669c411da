//! The API's description, OpenAPI 3.1: made of the types, and of one line for each request.

use schemars::generate::{SchemaGenerator, SchemaSettings};
use serde_json::{Map, Value, json};

use crate::accounts::{Role, Who};
use crate::api::accounts::{MadeToken, NewToken, NewUser, OwnPassword, Password, Tokens, UserChange, Users};
use crate::api::files::KeptFile;
use crate::api::imports::Imported;
use crate::api::jobs::{JobInFull, JobList, Jobs};
use crate::api::journal::Entries;
use crate::api::nodes::Nodes;
use crate::api::plan::{Asked, Plan};
use crate::api::schedule::{Lines, NewLine};
use crate::api::{LARGEST_PAGE, LONGEST_KEY, Runs};
use crate::commands::{self, Looking, Printed};
use crate::jobs::Job;
use crate::journal::Category;
use crate::order::{Batch, Order};
use crate::problem::Problem;
use crate::schedule::Line;

/// Documents that commands print have their schemas in this file, which the server has too.
const COMMANDS: &str = "output.schema.json";

/// Where an order is sent to.
const ORDERS: &str = "/jobs";
const BATCHES: &str = "/batches";

/// What a request answers with.
enum Answer {
    /// A value of the API's own.
    Own(Schema),
    /// What a command prints.
    Command(&'static str),
    /// Server-sent events.
    Events,
    /// A plain text.
    Text,
    /// A compressed file.
    File,
    /// Nothing.
    Nothing,
}

type Schema = fn(&mut SchemaGenerator) -> schemars::Schema;

/// A request: method, path, what it does, its query, what is sent, the role that it needs and whether in person, the status where all is well, and the
/// answer.
struct Request {
    method: &'static str,
    path: &'static str,
    does: &'static str,
    query: &'static [(&'static str, &'static str)],
    takes: Option<Schema>,
    takes_file: bool,
    needs: Role,
    in_person: bool,
    status: &'static str,
    answer: Answer,
}

const fn get(path: &'static str, does: &'static str, answer: Answer) -> Request {
    Request {
        method: "get",
        path,
        does,
        query: &[],
        takes: None,
        takes_file: false,
        needs: Role::Viewer,
        in_person: false,
        status: "200",
        answer,
    }
}

const fn post(path: &'static str, does: &'static str, status: &'static str, answer: Answer) -> Request {
    Request { method: "post", status, ..get(path, does, answer) }
}

/// An answer of this type.
fn own<T: schemars::JsonSchema>() -> Answer {
    Answer::Own(SchemaGenerator::subschema_for::<T>)
}

impl Request {
    /// The same, with a body of this type.
    fn takes<T: schemars::JsonSchema>(self) -> Self {
        Self { takes: Some(SchemaGenerator::subschema_for::<T>), ..self }
    }

    /// The same, for those who have this role.
    fn needs(self, needs: Role) -> Self {
        Self { needs, ..self }
    }
}

fn requests() -> Vec<Request> {
    use Answer::{Command, Events, Nothing};
    let operators = |request: Request| request.needs(Role::Operator);
    let admins = |request: Request| request.needs(Role::Admin);
    let in_person = |request: Request| Request { in_person: true, ..request };
    let delete = |path, does| Request { method: "delete", ..post(path, does, "204", Nothing) };
    let of_command = |looking: &Looking| Request {
        query: looking.options,
        ..get(looking.path, "What a command prints on the server, and its exit status", own::<Printed>())
    };
    let mut all = vec![
        Request {
            query: &[
                ("suite", "string"),
                ("machine", "string"),
                ("label", "string"),
                ("before", "string"),
                ("limit", "integer"),
            ],
            ..get("/runs", "List runs, newest first", own::<Runs>())
        },
        get("/runs/{run}", "Show a run in full", Command("show")),
        Request {
            query: &[("until", "string")],
            ..get(
                "/runs/{run}/events",
                "Follow a run: each repeat as it is stored, behind that of Last-Event-ID",
                Events,
            )
        },
        Request {
            query: &[("runs", "string")],
            ..get("/compare", "Compare runs; the first is the base", Command("compare"))
        },
        get("/suites", "List the suites", Command("suites")),
        get("/machines", "List the machines", Command("hosts")),
        Request {
            query: &[("before", "integer"), ("limit", "integer")],
            ..get("/jobs", "List jobs, newest first", own::<JobList>())
        },
        operators(
            post("/plan", "Say what an order would do, of one run or of several", "200", own::<Plan>())
                .takes::<Asked>(),
        ),
        operators(post(ORDERS, "Queue a run; of one Idempotency-Key only one", "201", own::<Job>()).takes::<Order>()),
        operators(
            post(
                BATCHES,
                "Queue runs of several machines, sessions or states, all or none; of one Idempotency-Key only once",
                "201",
                own::<Jobs>(),
            )
            .takes::<Batch>(),
        ),
        get("/batches/{batch}", "Show the jobs of such an order, by the run of the first", own::<Jobs>()),
        Request {
            takes_file: true,
            ..operators(post(
                "/files",
                "Keep a text of at most 64 KiB that an order names: a suite, a job file, a rig",
                "201",
                own::<KeptFile>(),
            ))
        },
        get("/files/{file}", "Show a text that was kept, by its SHA-256", Answer::Text),
        get(
            "/archive/{sha256}",
            "Send a finished run of the fleet as stend export writes it, by its SHA-256",
            Answer::File,
        ),
        get("/jobs/{job}", "Show a job, and what its command said", own::<JobInFull>()),
        operators(post("/jobs/{job}/stop", "Stop a job", "200", own::<Job>())),
        operators(post("/jobs/{job}/resume", "Resume a job that was stopped or has failed", "200", own::<Job>())),
        Request {
            query: &[("host", "string")],
            takes_file: true,
            ..operators(post(
                "/imports",
                "Import a file of at most 256 MiB, as stend import does",
                "201",
                own::<Imported>(),
            ))
        },
        get("/schedule", "List the lines of the schedule", own::<Lines>()),
        operators(post("/schedule", "Add a line to the schedule", "201", own::<Line>()).takes::<NewLine>()),
        operators(delete("/schedule/{line}", "Remove a line from the schedule")),
        Request {
            query: &[("category", "string"), ("before", "integer"), ("limit", "integer")],
            ..operators(get("/journal", "List the journal, newest first", own::<Entries>()))
        },
        operators(post(
            "/journal/{entry}/put-back",
            "Make what a change of the schedule, or for admins of users, changed as it was before, if nothing has changed it since",
            "204",
            Nothing,
        )),
        get("/nodes", "List the nodes of the fleet, and the members of etcd", own::<Nodes>()),
        get("/changes", "Follow the queue, the schedule and the journal: an event whenever one has changed", Events),
        get("/me", "Say who is signed in", own::<Who>()),
        in_person(post("/me/password", "Change one's own password", "204", Nothing).takes::<OwnPassword>()),
        get("/tokens", "List one's own tokens, or for an admin all", own::<Tokens>()),
        in_person(post("/tokens", "Create a token", "201", own::<MadeToken>()).takes::<NewToken>()),
        in_person(delete("/tokens/{token}", "End a token")),
        admins(get("/users", "List the users", own::<Users>())),
        admins(post("/users", "Add a user, with a password that is made", "201", own::<Password>()).takes::<NewUser>()),
        Request {
            method: "patch",
            ..admins(post("/users/{user}", "Change a user's role", "204", Nothing).takes::<UserChange>())
        },
        admins(delete("/users/{user}", "Remove a user, with sessions and tokens")),
        admins(post("/users/{user}/password", "Make a new password for a user", "200", own::<Password>())),
    ];
    all.extend(commands::ALL.iter().map(of_command));
    all
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
        Answer::Nothing => Value::Null,
        Answer::Command(name) => {
            json!({ "application/json": { "schema": { "$ref": format!("{COMMANDS}#/documents/{name}") } } })
        }
        Answer::Events => json!({ "text/event-stream": { "schema": { "type": "string" } } }),
        Answer::Text => json!({ "text/plain": { "schema": { "type": "string" } } }),
        Answer::File => json!({ "application/gzip": { "schema": { "type": "string", "format": "binary" } } }),
    };
    let in_path = request.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    let in_path = in_path.map(|name| {
        let kind = if matches!(name, "job" | "line" | "token" | "entry") { "integer" } else { "string" };
        json!({ "name": name, "in": "path", "required": true, "schema": { "type": kind } })
    });
    let in_query = request.query.iter().map(|(name, kind)| {
        let mut schema = json!({ "type": kind });
        if *name == "category" {
            schema["enum"] = Category::ALL.map(Category::word).to_vec().into();
        }
        if *kind == "array" {
            schema["items"] = json!({ "type": "string" });
        }
        if *name == "until" {
            schema["enum"] = json!(["ended"]);
        }
        // The command itself takes any number.
        if *name == "limit" && !request.path.starts_with("/commands/") {
            (schema["minimum"], schema["maximum"]) = (1.into(), LARGEST_PAGE.into());
        }
        json!({ "name": name, "in": "query", "required": *name == "runs", "schema": schema })
    });
    let is_order = request.method == "post" && [ORDERS, BATCHES].contains(&request.path);
    let header = |name: &str, schema: Value| json!({ "name": name, "in": "header", "schema": schema });
    let in_header = match request.answer {
        Answer::Events if request.path.contains("{run}") => {
            Some(header("Last-Event-ID", json!({ "type": "integer", "minimum": 0 })))
        }
        _ if is_order => {
            Some(header("Idempotency-Key", json!({ "type": "string", "minLength": 1, "maxLength": LONGEST_KEY })))
        }
        _ => None,
    };
    let parameters: Vec<Value> = in_path.chain(in_query).chain(in_header).collect();
    let mut operation = json!({
        "summary": request.does,
        "description": format!("For {}s{}", request.needs.word(), if request.in_person { ", in person" } else { "" }),
        "responses": {
            request.status: { "description": "Done" },
            "default": { "$ref": "#/components/responses/problem" },
        },
    });
    if !content.is_null() {
        operation["responses"][request.status]["content"] = content.clone();
    }
    if !parameters.is_empty() {
        operation["parameters"] = parameters.into();
    }
    if is_order {
        operation["responses"]["200"] =
            json!({ "description": "An order of this key was there before", "content": content });
    }
    if let Some(body) = request.takes {
        let schema = body(taken);
        operation["requestBody"] = json!({ "required": true, "content": { "application/json": { "schema": schema } } });
    }
    if request.takes_file {
        operation["requestBody"] = json!({ "required": true, "content": { "application/octet-stream": {} } });
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
