//! What the words of `stend run` ask a server for, in the API's shape.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use clap::ArgMatches;
use serde_json::{Value, json};
use stend_model::run::HERE;
use stend_model::suite::Changes;
use stend_report::shell_words;
use stend_stand::bounded;

use crate::catalogue;
use crate::cli::failure::Failure;
use crate::cli::run::State;

/// Whether it is an option that a run on a server has.
pub(super) fn takes(option: &str) -> bool {
    const ORDER: [&str; 22] = [
        "what",
        "fio",
        "label",
        "repeats",
        "scale",
        "set",
        "seed",
        "only",
        "time-budget",
        "profile",
        "ab",
        "on",
        "sessions",
        "switch",
        "target",
        "target-name",
        "even-if-unfit",
        "command",
        "words",
        "prepare",
        "parameter",
        "ignore-failure",
    ];
    // A line for each repeat is printed anyway.
    let shown = ["no-progress", "format", "json"];
    ORDER.contains(&option) || shown.contains(&option)
}

/// What is asked for.
pub(super) struct Asked {
    /// Where it is asked for, and what is sent there, but for the files.
    pub(super) path: &'static str,
    pub(super) body: Value,
    /// The texts that it is made of, by their names.
    pub(super) files: BTreeMap<String, String>,
}

impl Asked {
    /// The order itself, of one run or of each.
    pub(super) fn order(&mut self) -> &mut Value {
        if self.path == "/jobs" { &mut self.body } else { &mut self.body["order"] }
    }
}

pub(super) fn asked(matches: &ArgMatches) -> Result<Asked, Failure> {
    let all = |name: &str| matches.get_many::<String>(name).map(|all| all.cloned().collect::<Vec<_>>());
    let mut order =
        json!({ "even_if_unfit": matches.get_flag("even_if_unfit"), "profile": matches.get_flag("profile") });
    let mut put = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            order[name] = value;
        }
    };
    let mut files = Files::default();
    let sides = all("ab");
    let timed = timed(matches, sides.as_ref().is_some_and(Vec::is_empty));
    let job_files: Vec<_> = matches.get_many::<PathBuf>("fio").into_iter().flatten().collect();
    if !job_files.is_empty() {
        let names = job_files.into_iter().map(|path| files.add(path)).collect::<Result<Vec<_>, _>>()?;
        put("job_files", Some(json!(names)));
    } else if timed.is_none() {
        let suite = matches.get_one::<String>("suite").map_or(catalogue::USUAL, String::as_str);
        let path = Path::new(suite);
        // As it is told where the suite is run.
        let is_file =
            !catalogue::SUITES.iter().any(|(name, _)| *name == suite) && (path.extension().is_some() || path.exists());
        let name = if is_file { files.add_suite(path, variables(matches))? } else { suite.to_owned() };
        put("suite", Some(json!(name)));
    }
    put("timed", timed);
    put("label", matches.get_one::<String>("label").map(|label| json!(label)));
    put("repeats", matches.get_one::<u32>("repeats").map(|repeats| json!(repeats)));
    put("scale", matches.get_one::<f64>("scale").map(|scale| json!(scale)));
    put("seed", matches.get_one::<u64>("seed").map(|seed| json!(seed)));
    put("only", all("only").map(|only| json!(only)));
    let budget = matches.get_raw("time_budget").and_then(|mut raw| raw.next()?.to_str().map(str::to_owned));
    put("time_budget", budget.map(|time| json!(time)));
    put("target", matches.get_one::<String>("target_name").map(|name| json!(name)));
    let target = matches.get_one::<String>("target").map(|path| files.add(Path::new(path))).transpose()?;
    put("target_file", target.map(|name| json!(name)));
    match sides.as_deref() {
        None | Some([]) => {}
        Some(sides @ [_, _]) => put("sides", Some(json!(sides))),
        Some(_) => return Err(Failure::usage("--ab takes two sides, or two --command")),
    }
    put("set", Some(variables(matches)).filter(|set| !set.is_empty()).map(|set| json!(set)));
    let machines = all("on").unwrap_or_else(|| vec![HERE.into()]);
    let sessions = matches.get_one::<u32>("sessions");
    let states: Vec<_> = matches.get_many::<State>("switch").into_iter().flatten().map(State::to_json).collect();
    let files = files.0;
    if let ([machine], None, []) = (&machines[..], sessions, &states[..]) {
        order["machine"] = json!(machine);
        return Ok(Asked { path: "/jobs", body: order, files });
    }
    let mut body = json!({ "order": order, "machines": machines });
    if let Some(sessions) = sessions {
        body["sessions"] = json!(sessions);
    }
    if !states.is_empty() {
        body["switch"] = json!(states);
    }
    Ok(Asked { path: "/batches", body, files })
}

fn variables(matches: &ArgMatches) -> BTreeMap<String, String> {
    matches.get_many::<(String, String)>("set").into_iter().flatten().cloned().collect()
}

/// Commands to time, if there are any.
fn timed(matches: &ArgMatches, in_turns: bool) -> Option<Value> {
    let lines = matches.get_many::<String>("command").into_iter().flatten().cloned();
    let words: Vec<_> = matches.get_many::<String>("words").into_iter().flatten().cloned().collect();
    let typed = (!words.is_empty()).then(|| shell_words(&words));
    let commands: Vec<_> = lines.chain(typed).collect();
    if commands.is_empty() {
        return None;
    }
    let parameters = matches.get_many::<(String, Vec<String>)>("parameter").into_iter().flatten().cloned();
    let mut timed = json!({
        "commands": commands,
        "parameters": parameters.collect::<BTreeMap<_, _>>(),
        "ignore_failure": matches.get_flag("ignore_failure"),
        "in_turns": in_turns,
    });
    if let Some(prepare) = matches.get_one::<String>("prepare") {
        timed["prepare"] = json!(prepare);
    }
    Some(timed)
}

/// Texts to send, by the names that they have there.
#[derive(Default)]
struct Files(BTreeMap<String, String>);

impl Files {
    /// Adds a file, and gives its name.
    fn add(&mut self, path: &Path) -> Result<String, Failure> {
        let shown = path.display();
        let name = path.file_name().and_then(|name| name.to_str());
        let name = name.ok_or_else(|| Failure::usage(format!("{shown}: it is no file with a plain name")))?.to_owned();
        let text = bounded::text(path).map_err(|error| Failure::usage(format!("{shown} cannot be read: {error}")))?;
        if self.0.insert(name.clone(), text).is_some() {
            return Err(Failure::usage(format!(
                "{shown}: another file is called {name} too; with --server names differ"
            )));
        }
        Ok(name)
    }

    /// Adds a suite with what lies beside it: its servers, and files that its commands name.
    fn add_suite(&mut self, path: &Path, variables: BTreeMap<String, String>) -> Result<String, Failure> {
        let changes = Changes { variables, ..Changes::default() };
        let suite = catalogue::suite(&path.to_string_lossy(), &changes).map_err(Failure::usage)?;
        let name = self.add(path)?;
        let whole = path.canonicalize().unwrap_or_default();
        let directory = whole.parent().unwrap_or(Path::new("/"));
        let servers = suite.servers.keys().filter(|name| name.ends_with(".toml")).map(|name| directory.join(name));
        let named = suite.scenarios.iter().flat_map(|scenario| scenario.places.keys()).map(PathBuf::from);
        let below: BTreeSet<_> = servers.chain(named).filter(|path| path.starts_with(directory)).collect();
        for path in below.iter().filter(|path| **path != whole && path.is_file()) {
            if path.parent() != Some(directory) {
                let shown = path.display();
                let said = format!("{shown}: with --server only what lies beside the suite is sent, not below it");
                return Err(Failure::usage(said));
            }
            self.add(path)?;
        }
        Ok(name)
    }
}
