//! `stend completions`: what a shell needs to complete the command line. The shell calls this program, which knows runs, machines, suites and
//! scenarios; whatever cannot be read completes to nothing.

use std::collections::BTreeSet;
use std::ffi::OsStr;

use clap::Args;
use clap_complete::Shell;
use clap_complete::engine::{
    ArgValueCandidates, ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter as _,
};
use clap_complete::env::{CompleteEnv, Shells};
use stend_model::record::Summary;
use stend_model::run::{RunState, session_of_label};
use stend_model::suite::Changes;
use stend_stand::hosts::Hosts;
use stend_store::Store;

use super::failure::{Exit, Failure};
use super::{ColorChoice, Global, output};
use crate::catalogue;

/// Set where a shell asks.
const VARIABLE: &str = "STEND_COMPLETE";

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The shell
    shell: Shell,
}

pub(super) fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    let shells = Shells::builtins();
    let shell = shells.completer(&arguments.shell.to_string()).expect("it is one of them");
    shell.write_registration(VARIABLE, "stend", "stend", "stend", &mut script).map_err(Failure::unusable)?;
    output::print_data(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Fine)
}

/// Answers a shell that asks what may come next, and ends; does nothing where none does.
pub(super) fn answer() {
    CompleteEnv::with_factory(super::definition).var(VARIABLE).complete();
}

/// The words of the line that is being completed.
fn words() -> Vec<String> {
    std::env::args().skip_while(|word| word != "--").skip(1).collect()
}

/// What an option of that line was given.
fn given(option: &str) -> Option<String> {
    let words = words();
    let after =
        words.iter().zip(words.iter().skip(1)).find(|(word, _)| *word == option).map(|(_, value)| value.clone());
    after.or_else(|| words.iter().find_map(|word| Some(word.strip_prefix(option)?.strip_prefix('=')?.to_owned())))
}

fn store() -> Option<std::path::PathBuf> {
    let store = given("--store").map(Into::into);
    Global { store, server: None, beat: None, color: ColorChoice::Never, quiet: true }.store_to_read().ok()
}

/// Newest first.
fn stored() -> Vec<Summary> {
    let mut runs = store().and_then(|store| Store::open_to_read(&store).ok()?.list().ok()).unwrap_or_default();
    runs.reverse();
    runs
}

/// What a shell would not take for one plain word is left out: names in imported runs are other people's, and what is completed stands on the
/// user's command line.
fn candidates(names: impl IntoIterator<Item = (String, String)>) -> Vec<CompletionCandidate> {
    let is_plain = |name: &str| {
        !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "-._".contains(c)) && !name.starts_with('-')
    };
    let of = |(place, (name, help)): (usize, (String, String))| {
        let help: String = help.chars().filter(|c| !c.is_control()).collect();
        CompletionCandidate::new(name).help((!help.is_empty()).then(|| help.into())).display_order(Some(place))
    };
    names.into_iter().filter(|(name, _)| is_plain(name)).enumerate().map(of).collect()
}

/// Runs by label and by id, each with what it is of.
fn of_runs(runs: &[Summary]) -> Vec<(String, String)> {
    let about =
        |run: &Summary| format!("{} on {}, {}", run.suite, run.machine, run.started_at.get(..10).unwrap_or_default());
    let labelled = runs.iter().filter_map(|run| Some((run.label.clone()?, about(run))));
    labelled.chain(runs.iter().map(|run| (run.id.clone(), about(run)))).collect()
}

/// The names that the user gave to machines.
fn named() -> Vec<String> {
    let hosts = store().and_then(|store| Hosts::read(&store).ok());
    hosts.iter().flat_map(|hosts| hosts.all()).map(|known| known.name.clone()).collect()
}

fn of_machines(runs: &[Summary]) -> BTreeSet<String> {
    named().into_iter().chain(runs.iter().map(|run| run.machine.clone())).collect()
}

/// A run.
pub(super) fn runs() -> ArgValueCandidates {
    ArgValueCandidates::new(|| candidates(of_runs(&stored())))
}

/// A run that can be resumed.
pub(super) fn open_runs() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let mut runs = stored();
        runs.retain(|run| run.state == Some(RunState::Open));
        candidates(of_runs(&runs))
    })
}

/// Whatever can be compared.
pub(super) fn comparable() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let runs = stored();
        let sessions = runs.iter().filter_map(|run| session_of_label(run.label.as_deref()?));
        let sessions: BTreeSet<_> = sessions.map(|(name, _)| name.to_owned()).collect();
        let sessions = sessions.into_iter().map(|name| (name, "its sessions".to_owned()));
        let machines = of_machines(&runs).into_iter().map(|name| (name, "the machine's newest run".to_owned()));
        candidates(of_runs(&runs).into_iter().chain(sessions).chain(machines).chain(of_references()))
    })
}

/// A machine that can be reached by name.
pub(super) fn hosts() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let named = named().into_iter().map(|name| (name, String::new()));
        candidates(named.chain([("local".to_owned(), "this machine".to_owned())]))
    })
}

/// A machine that has runs, or a name.
pub(super) fn machines() -> ArgValueCandidates {
    ArgValueCandidates::new(|| candidates(of_machines(&stored()).into_iter().map(|name| (name, String::new()))))
}

/// A label.
pub(super) fn labels() -> ArgValueCandidates {
    ArgValueCandidates::new(|| candidates(stored().into_iter().filter_map(|run| Some((run.label?, String::new())))))
}

fn of_references() -> impl Iterator<Item = (String, String)> {
    catalogue::references().into_iter().map(|reference| (reference.name, reference.title))
}

/// A published source.
pub(super) fn references() -> ArgValueCandidates {
    ArgValueCandidates::new(|| candidates(of_references()))
}

/// A suite that comes with the program, or the path of one.
pub(super) fn suites() -> ArgValueCompleter {
    ArgValueCompleter::new(|current: &OsStr| {
        let is_it = |name: &str| current.to_str().is_some_and(|current| name.starts_with(current));
        let title =
            |name: &str| catalogue::suite(name, &Changes::default()).map(|suite| suite.title).unwrap_or_default();
        let named = catalogue::SUITES.iter().filter(|(name, _)| is_it(name));
        let named = named.map(|(name, _)| ((*name).to_owned(), title(name)));
        let is_suite = |path: &std::path::Path| path.is_dir() || path.extension().is_some_and(|it| it == "toml");
        let mut all = candidates(named);
        all.extend(PathCompleter::any().filter(is_suite).complete(current));
        all
    })
}

/// A suite of the stored runs.
pub(super) fn measured_suites() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let suites: BTreeSet<_> = stored().into_iter().map(|run| run.suite).collect();
        candidates(suites.into_iter().map(|name| (name, String::new())))
    })
}

/// How the scenarios begin of the suite that the line names, or of the one that is taken where it names none. A shell would take a whole name,
/// which has spaces, for several words, and the beginning is enough.
pub(super) fn scenarios() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let is_suite =
            |word: &String| catalogue::SUITES.iter().any(|(name, _)| name == word) || word.ends_with(".toml");
        let named = words().into_iter().find(is_suite);
        let suite = catalogue::suite(named.as_deref().unwrap_or(catalogue::USUAL), &Changes::default());
        let scenarios = suite.map(|suite| suite.scenarios).unwrap_or_default();
        let first = |name: &str| name.split([' ', ',']).next().unwrap_or_default().to_owned();
        let beginnings: BTreeSet<_> = scenarios.iter().map(|scenario| first(&scenario.name)).collect();
        candidates(beginnings.into_iter().map(|name| (name, String::new())))
    })
}
