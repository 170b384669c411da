//! `stend profile`: where the time of a run's scenarios goes.

use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;
use serde::Serialize;

use super::Global;
use super::completions;
use super::failure::{Exit, Failure};
use super::output::{self, Json};
use stend_model::profile::parts::Summary;
use stend_model::profile::{Observed, Profile, Stacks};
use stend_model::record::Record;
use stend_report::words;
use stend_report::{flame, profile};
use stend_store::Store;

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The run: its id or a prefix of it, its label, `last`, or `last~1` for the one before
    #[arg(default_value = "last", add = completions::runs())]
    run: String,
    /// Only the scenario with this name, or those whose name contains it
    scenario: Option<String>,
    /// Print the folded stacks of one scenario, one per line, for other tools
    #[arg(long, conflicts_with_all = ["svg", "json"])]
    folded: bool,
    /// Print the flame graph of one scenario as SVG, with search and zoom in a browser
    #[arg(long, conflicts_with = "json")]
    svg: bool,
    /// The file to write instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    json: Json,
}

pub(super) fn run(global: &Global, arguments: &Arguments) -> Result<Exit, Failure> {
    let store = Store::open_to_read(&global.store_to_read()?)?;
    let record = store.load(&store.resolve(&arguments.run)?)?;
    let profiles = chosen(&record, arguments.scenario.as_deref())?;
    let table = !(arguments.folded || arguments.svg || arguments.json.json);
    let text = if arguments.folded {
        only(&profiles)?.1.folded.clone()
    } else if arguments.svg {
        let (name, stacks) = only(&profiles)?;
        flame::standalone(stacks, name)?
    } else if arguments.json.json {
        as_json(&profiles)?
    } else {
        let colour = global.colour() && arguments.output.is_none();
        let render = |profile: &&Profile| profile::render(profile, output::width(), colour);
        profiles.iter().map(render).collect::<Vec<_>>().join("\n")
    };
    match &arguments.output {
        Some(path) => {
            output::replace(path, text.as_bytes()).with_context(|| format!("{} cannot be written", path.display()))?
        }
        None if table => output::print_styled(&text)?,
        None => output::print_data(&text)?,
    }
    Ok(Exit::Fine)
}

/// The profiles that a person means.
fn chosen<'a>(record: &'a Record, scenario: Option<&str>) -> Result<Vec<&'a Profile>, Failure> {
    let id = &record.run.id;
    if record.profiles.is_empty() {
        let how = "`stend run --profile` makes them";
        return Err(Failure::usage(format!("run {id} has no profiles; {how}")));
    }
    let all: Vec<_> = record.profiles.iter().collect();
    let Some(wanted) = scenario else { return Ok(all) };
    let exact: Vec<_> = all.iter().copied().filter(|profile| profile.scenario == wanted).collect();
    let found = if exact.is_empty() {
        all.iter().copied().filter(|profile| profile.scenario.contains(wanted)).collect()
    } else {
        exact
    };
    if found.is_empty() {
        let message = format!("no profiled scenario's name contains \"{wanted}\"; there are: {}", names(&all));
        return Err(Failure::usage(message));
    }
    Ok(found)
}

/// The one profile's stacks, where one is needed.
fn only<'a>(profiles: &[&'a Profile]) -> Result<(&'a str, &'a Stacks), Failure> {
    let [profile] = profiles else {
        return Err(Failure::usage(format!("give one scenario; there are: {}", names(profiles))));
    };
    match &profile.observed {
        Observed::Stacks(stacks) => Ok((&profile.scenario, stacks)),
        _ => {
            let why =
                profile.lacks.first().map(|lack| format!(": {}", words::lack_of_profile(lack))).unwrap_or_default();
            Err(Failure::usage(format!("no stacks were sampled of \"{}\"{why}", profile.scenario)))
        }
    }
}

fn names(profiles: &[&Profile]) -> String {
    profiles.iter().map(|profile| format!("\"{}\"", profile.scenario)).collect::<Vec<_>>().join(", ")
}

fn as_json(profiles: &[&Profile]) -> Result<String, Failure> {
    #[derive(Serialize)]
    struct Shown<'a> {
        #[serde(flatten)]
        profile: &'a Profile,
        /// What the samples add up to.
        summary: Option<Summary>,
    }
    let shown = |profile: &&'_ Profile| match &profile.observed {
        Observed::Stacks(stacks) => Some(stacks.summary()),
        _ => None,
    };
    let all: Vec<_> = profiles.iter().map(|profile| Shown { profile, summary: shown(profile) }).collect();
    output::json("profiles", &all)
}
