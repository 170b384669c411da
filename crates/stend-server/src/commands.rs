//! What the commands that only look print, for `stend --server`: the command runs here, and its output, its words and its exit status are the answer.

use std::process::Command;
use std::sync::Arc;

use axum::Json;
use axum::extract::{Path as InPath, Query, State};
use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::archive;
use crate::lab::Lab;
use crate::problem::Problem;
use crate::work;

/// A command, and what may be asked of it: its options by their names, with the kind of value that OpenAPI has for it, and by `what` that which stands
/// without a name. Nothing else becomes a word of the command, so no option that reads or writes a file of the server's does.
pub(crate) struct Looking {
    pub(crate) name: &'static str,
    /// Where it is asked for.
    pub(crate) path: &'static str,
    pub(crate) options: &'static [(&'static str, &'static str)],
}

const WHAT: (&str, &str) = ("what", "array");
const BASELINE: (&str, &str) = ("baseline", "string");
const FILTER: (&str, &str) = ("filter", "string");
const UNIT: (&str, &str) = ("unit", "string");
const ONLY: (&str, &str) = ("only", "string");
const ROW: (&str, &str) = ("row", "string");
const COLUMN: (&str, &str) = ("column", "string");
const ALL_METRICS: (&str, &str) = ("all-metrics", "boolean");
const SUITE: (&str, &str) = ("suite", "string");
const FORMAT: (&str, &str) = ("format", "string");
const JSON: (&str, &str) = ("json", "boolean");
const QUIET: (&str, &str) = ("quiet", "boolean");
/// How it is written: `always` for text with colours, and how many columns of it.
const COLOR: (&str, &str) = ("color", "string");
pub(crate) const COLUMNS: (&str, &str) = ("columns", "integer");

/// The commands.
pub(crate) const ALL: [Looking; 4] = [
    Looking {
        name: "list",
        path: "/commands/list",
        options: &[
            SUITE,
            ("machine", "string"),
            ("label", "string"),
            ("limit", "integer"),
            FORMAT,
            JSON,
            QUIET,
            COLOR,
            COLUMNS,
        ],
    },
    Looking {
        name: "show",
        path: "/commands/show",
        options: &[WHAT, ("repeats", "boolean"), ("concluded", "boolean"), FORMAT, JSON, QUIET, COLOR, COLUMNS],
    },
    Looking {
        name: "compare",
        path: "/commands/compare",
        options: &[
            WHAT,
            SUITE,
            BASELINE,
            FILTER,
            UNIT,
            ONLY,
            ROW,
            COLUMN,
            ALL_METRICS,
            ("why", "string"),
            ("fail-on", "string"),
            FORMAT,
            JSON,
            QUIET,
            COLOR,
            COLUMNS,
        ],
    },
    Looking {
        name: "report",
        path: "/commands/report",
        options: &[WHAT, SUITE, BASELINE, FILTER, UNIT, ONLY, ROW, COLUMN, ALL_METRICS, FORMAT, QUIET, COLUMNS],
    },
];

/// Whether a server passes an option on to a command, by its name without the hyphens.
pub fn takes(command: &str, option: &str) -> bool {
    let of_it = ALL.iter().filter(|looking| looking.name == command).flat_map(|looking| looking.options);
    of_it.into_iter().any(|(name, _)| *name == option)
}

/// What a command printed.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Printed {
    /// Its exit status.
    pub status: u8,
    /// What it printed on standard output.
    pub out: String,
    /// What it said on standard error.
    pub err: String,
}

pub(crate) async fn printed(
    lab: State<Arc<Lab>>,
    InPath(name): InPath<String>,
    Query(asked): Query<Vec<(String, String)>>,
) -> Result<Json<Printed>, Problem> {
    let command = ALL.iter().find(|looking| looking.name == name);
    let command = command.ok_or_else(|| Problem::not_found("no command of this name only looks"))?;
    let named = asked.iter().filter(|(name, _)| name == WHAT.0).flat_map(|(_, what)| what.split(".."));
    archive::arrive(&lab, &named.collect::<Vec<_>>()).await;
    let (words, columns) = words(command, &asked).map_err(|said| Problem::new(StatusCode::BAD_REQUEST, said))?;
    print(&lab, &words, columns).await.map(Json)
}

/// The words of the command, and how wide its text is to be. A value stands in one word with its option, and what has no option stands behind `--`, so
/// none is taken for another option.
fn words(command: &Looking, asked: &[(String, String)]) -> Result<(Vec<String>, Option<u16>), String> {
    let (mut words, mut what, mut columns) = (vec![command.name.to_owned()], Vec::new(), None);
    for (name, value) in asked {
        let Some((_, kind)) = command.options.iter().find(|(known, _)| known == name) else {
            return Err(format!("`{}` takes no {}", command.name, crate::api::brief(name)));
        };
        match (*kind, value.as_str()) {
            _ if value.contains('\0') => return Err(format!("{name}: it is plain text")),
            _ if *name == COLUMNS.0 => {
                columns = Some(value.parse().map_err(|_| format!("{name}: it is a number of columns"))?);
            }
            ("array", name) => what.push(crate::api::plain_run(name)?.to_owned()),
            ("boolean", "true") => words.push(format!("--{name}")),
            ("boolean", "false") => {}
            ("boolean", _) => return Err(format!("{name}: it is true or false")),
            _ => words.push(format!("--{name}={value}")),
        }
    }
    if command.name == "report" {
        words.push("--output=-".into());
    }
    if !what.is_empty() {
        words.push("--".into());
        words.extend(what);
    }
    Ok((words, columns))
}

/// Runs it. It goes by the name `stend` and by the usual store, as whoever reads its advice calls it.
async fn print(lab: &Arc<Lab>, words: &[String], columns: Option<u16>) -> Result<Printed, Problem> {
    use std::os::unix::process::CommandExt as _;
    let mut command = Command::new(&lab.program);
    command.arg0("stend").args(words).env("STEND_STORE", &lab.store).env_remove("COLUMNS");
    if let Some(columns) = columns {
        command.env("COLUMNS", columns.to_string());
    }
    let output = work::looked(lab, command).await?;
    let status = output.status.code().and_then(|code| u8::try_from(code).ok());
    let ended = || Problem::new(StatusCode::SERVICE_UNAVAILABLE, "the command was ended");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Ok(Printed { status: status.ok_or_else(ended)?, out: text(output.stdout), err: text(output.stderr) })
}
