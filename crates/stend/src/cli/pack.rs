//! `stend pack`: a suite for a machine that no link reaches.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;
use stend_model::cause::Cause;
use stend_model::run::Skipped;

use super::changing::Changing;
use super::completions;
use super::failure::{Exit, Failure};
use super::output;
use super::run::fresh_seed;
use crate::catalogue;
use stend_lab::run::carried;
use stend_model::quantity::english_plural;
use stend_report::words;
use stend_report::words::language::Language;
use stend_stand::host::stand;

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// A suite's name, or the path of a TOML file
    #[arg(default_value = "quick", add = completions::suites())]
    suite: String,
    #[command(flatten)]
    changing: Changing,
    /// The output file: a tar archive with the plan, stend-probe's sources and their build.sh; only the plan if it ends in .json; - for the plan on
    /// standard output [default: stend-SUITE.tar]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// The plan's name in the archive.
const PLAN: &str = "suite.json";

pub(super) fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    let suite = catalogue::suite(&arguments.suite, &arguments.changing.changes(None)).map_err(Failure::usage)?;
    let seed = suite.seed.unwrap_or_else(fresh_seed);
    let plan = carried::pack(suite, seed);
    if plan.commands.is_empty() {
        let reason = plan.skipped.first().map(|skipped| words::cause(&skipped.reason, Language::English));
        let reason = reason.unwrap_or_default();
        return Err(Failure::usage(format!(
            "no scenario of suite \"{}\" can be measured without a link: {reason}",
            plan.suite.name
        )));
    }
    let mut text = serde_json::to_string_pretty(&plan).context("the plan is no JSON")?;
    text.push('\n');
    if arguments.output.as_deref() == Some(Path::new("-")) {
        output::print(&text)?;
        return Ok(Exit::Fine);
    }
    let directory = format!("stend-{}", plan.suite.name);
    let path = arguments.output.clone().unwrap_or_else(|| PathBuf::from(format!("{directory}.tar")));
    let alone = path.extension().is_some_and(|extension| extension == "json");
    let contents = if alone {
        text.into_bytes()
    } else {
        let digest = format!("{}\n", stand::sources());
        let files = [(PLAN, text.as_bytes()), ("README", README.as_bytes()), ("sources.digest", digest.as_bytes())];
        stand::archive(&format!("{directory}/"), &files).context("the sources cannot be packed")?
    };
    write(&path, &contents)?;
    for (reason, scenarios) in left_out(&plan.skipped) {
        let names: Vec<_> = scenarios.iter().map(|name| format!("\"{name}\"")).collect();
        talk!("left out: {}: {}", names.join(", "), words::cause(reason, Language::English));
    }
    let shown = path.display();
    let name = path.file_name().map_or_else(|| shown.to_string(), |name| name.to_string_lossy().into_owned());
    talk!(
        "{shown}: {}, {}, seed {}",
        english_plural(plan.commands.len(), "scenario", "scenarios"),
        english_plural(plan.steps.len(), "repeat", "repeats"),
        plan.seed
    );
    if alone {
        talk!("on the machine: stend-probe run {name} > result.jsonl");
    } else {
        talk!(
            "on the machine: tar xf {name}; cd {directory}; sh probe/build.sh; build/stend-probe run {PLAN} > result.jsonl"
        );
    }
    talk!("then here: {} import result.jsonl", output::program());
    Ok(Exit::Fine)
}

/// The scenarios that cannot be carried, by why not.
fn left_out(skipped: &[Skipped]) -> Vec<(&Cause, Vec<&str>)> {
    let mut reasons: Vec<(&Cause, Vec<&str>)> = Vec::new();
    for Skipped { scenario, reason, .. } in skipped {
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, scenarios)) => scenarios.push(scenario),
            None => reasons.push((reason, vec![scenario])),
        }
    }
    reasons
}

/// Written beside its place and then moved there, so that a full disk leaves no half a file.
fn write(path: &Path, contents: &[u8]) -> Result<(), Failure> {
    if std::fs::metadata(path).is_ok_and(|target| !target.is_file()) {
        let message = format!(
            "a file cannot be written to {}; name another place with -o, or - for standard output",
            path.display()
        );
        return Err(Failure::usage(message));
    }
    let partial = path.with_extension(format!("partial-{}", std::process::id()));
    let write = || -> std::io::Result<()> {
        let mut file = std::fs::File::create(&partial)?;
        file.write_all(contents)?;
        file.sync_all()?;
        std::fs::rename(&partial, path)
    };
    let written = write().inspect_err(|_| drop(std::fs::remove_file(&partial)));
    Ok(written.with_context(|| format!("{} cannot be written", path.display()))?)
}

/// For whoever finds the archive's contents on a machine.
const README: &str =
    "A measuring program and its plan (suite.json) for this machine. A shell and a C compiler are needed:

    sh probe/build.sh                         # put CC=gcc or another compiler before it, flags after it
    build/stend-probe run suite.json > result.jsonl    # a line for each repeat; Ctrl-C keeps them
    build/stend-probe run suite.json --continue result.jsonl

Copy result.jsonl to the machine with stend, and run there:

    stend import result.jsonl --host NAME
";
