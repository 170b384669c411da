//! What a person may name to be compared: a run, a machine, a stretch of a machine's history, a reference.

use std::collections::BTreeSet;

use jiff::civil::Date;
use stend_model::identity::short;
use stend_model::reference::Reference;

use super::Failure;
use crate::host::HERE;
use crate::hosts::Hosts;
use crate::nearest;
use crate::store::{Store, StoreError, Summary};

/// What one of the words on the command line means.
pub(super) enum Named {
    /// One run, by its id, or one of its sides: `ID:SIDE`.
    Run(String),
    /// Runs of one machine and one suite, by their ids, in the order of time.
    Range(Vec<String>),
    /// A published source.
    Reference(Reference),
}

/// All names that there are.
pub(super) struct Names<'a> {
    store: &'a Store,
    /// Oldest first.
    runs: Vec<Summary>,
    references: &'a [Reference],
    /// What the user calls machines.
    hosts: Hosts,
    /// The suite that machines' runs are of, where it was said or follows from the other words.
    suite: Option<String>,
}

/// From where to where a stretch of history goes, ends included.
enum End {
    Open,
    Day(Date),
    /// A run's place among all.
    Run(usize),
}

impl<'a> Names<'a> {
    /// `words` are all that is compared: the runs among them say of which suite those of a machine are.
    pub(super) fn new(
        store: &'a Store,
        references: &'a [Reference],
        hosts: Hosts,
        suite: Option<&str>,
        words: &[String],
    ) -> Result<Self, Failure> {
        let runs = store.list()?;
        let mut names = Self { store, runs, references, hosts, suite: suite.map(str::to_owned) };
        if names.suite.is_none() {
            names.suite = names.common_suite(words);
        }
        Ok(names)
    }

    /// What a word means.
    pub(super) fn find(&self, word: &str) -> Result<Named, Failure> {
        if let Some((from, to)) = word.split_once("..") {
            return self.range(word, from, to).map(Named::Range);
        }
        let reference = self.references.iter().find(|reference| reference.name == word);
        let is_machine = self.is_machine(word);
        match reference {
            Some(_) if is_machine => Err(Failure::usage(format!(
                "\"{word}\" is both a machine and a reference; name the machine's run by its id (see `stend list`)"
            ))),
            Some(reference) => Ok(Named::Reference(reference.clone())),
            None if is_machine => self.newest_of(word).map(Named::Run),
            None => self.run(word).map(Named::Run),
        }
    }

    /// The run that a word means; a machine's name is its newest run.
    pub(super) fn find_run(&self, word: &str) -> Result<String, Failure> {
        if self.is_machine(word) { self.newest_of(word) } else { self.run(word) }
    }

    fn is_machine(&self, word: &str) -> bool {
        // An id is an id, whatever a machine is called.
        self.runs.iter().any(|run| self.is_of(run, word)) && !self.runs.iter().any(|run| run.id == word)
    }

    fn is_of(&self, run: &Summary, machine: &str) -> bool {
        self.hosts.is_of(run, machine)
    }

    /// The id of a run, with its side if one was named.
    fn run(&self, word: &str) -> Result<String, Failure> {
        if let Some((run, side)) = word.split_once(':') {
            return Ok(format!("{}:{side}", self.run(run)?));
        }
        self.store.resolve(word).map_err(|error| match error {
            StoreError::NoSuchRun(wanted) if wanted == HERE || self.hosts.find(&wanted).is_some() => {
                Failure::usage(format!("the machine \"{wanted}\" has no run yet; `stend run --on {wanted}` makes one"))
            }
            StoreError::NoSuchRun(wanted) => {
                let machines: BTreeSet<_> = self.runs.iter().map(|run| run.machine.as_str()).collect();
                let known = machines.iter().copied().chain(self.references.iter().map(|one| one.name.as_str()));
                let hint = nearest::hint(&wanted, known);
                Failure::usage(format!(
                    "\"{wanted}\" is neither a run (see `stend list`) nor a machine ({}) nor a reference ({}){hint}",
                    or_none(machines),
                    or_none(self.references.iter().map(|reference| reference.name.as_str()))
                ))
            }
            other => other.into(),
        })
    }

    /// The one suite that the runs among the words are of; else the one that all machines among them have runs of.
    fn common_suite(&self, words: &[String]) -> Option<String> {
        let of_run = |word: &&String| {
            let id = self.store.resolve(word).ok().filter(|_| !self.is_machine(word))?;
            self.runs.iter().find(|run| run.id == id).map(|run| run.suite.clone())
        };
        let of_runs: BTreeSet<String> = words.iter().filter_map(|word| of_run(&word)).collect();
        let mut common = of_runs;
        if common.is_empty() {
            let machines = words.iter().filter(|word| self.is_machine(word));
            let suites = |machine: &String| self.suites_of(machine).into_iter().map(str::to_owned).collect();
            common = machines.map(suites).reduce(|a: BTreeSet<String>, b| &a & &b).unwrap_or_default();
        }
        let machines: Vec<_> = words.iter().filter(|word| self.is_machine(word)).collect();
        if common.len() < 2 || machines.len() < 2 {
            return if common.len() == 1 { common.pop_first() } else { None };
        }
        // The suite that all of them were measured with last: of each, the machine that waits longest says when.
        let since = |suite: &String| {
            let newest = |machine: &&String| self.newest_finished(machine, suite).map(|run| &run.started_at);
            machines.iter().map(newest).min().flatten()
        };
        let newest = common.iter().filter(|suite| since(suite).is_some()).max_by_key(|suite| since(suite))?.clone();
        let others: Vec<_> = common.iter().filter(|suite| **suite != newest).map(String::as_str).collect();
        talk!(
            "suite {newest}, the newest that all have finished runs of; --suite takes another: {}",
            others.join(", ")
        );
        Some(newest)
    }

    fn newest_finished(&self, machine: &str, suite: &str) -> Option<&Summary> {
        let is_it = |run: &&Summary| self.is_of(run, machine) && run.suite == suite && run.state == "finished";
        self.runs.iter().rfind(is_it)
    }

    fn suites_of(&self, machine: &str) -> BTreeSet<&str> {
        self.runs.iter().filter(|run| self.is_of(run, machine)).map(|run| run.suite.as_str()).collect()
    }

    /// The newest run of a machine, a finished one if there is one.
    fn newest_of(&self, machine: &str) -> Result<String, Failure> {
        let suite = self.suite_of(machine)?;
        let runs: Vec<_> = self.runs.iter().filter(|run| self.is_of(run, machine) && run.suite == suite).collect();
        // What has a name of the user's is what the user says it is.
        if self.hosts.find(machine).is_none() {
            one_hardware(machine, &runs)?;
        }
        let finished = runs.iter().rev().find(|run| run.state == "finished");
        let newest = finished.or_else(|| runs.last()).expect("a machine is known by its runs, and the suite too");
        Ok(newest.id.clone())
    }

    /// The suite that a machine's runs are taken of.
    fn suite_of(&self, machine: &str) -> Result<String, Failure> {
        let suites = self.suites_of(machine);
        match &self.suite {
            Some(wanted) if suites.contains(wanted.as_str()) => Ok(wanted.clone()),
            Some(wanted) => Err(Failure::usage(format!(
                "the machine \"{machine}\" has no run of the suite \"{wanted}\"; it has runs of {}",
                or_none(suites)
            ))),
            None if suites.len() == 1 => Ok(suites.into_iter().collect()),
            None => Err(Failure::usage(format!(
                "the machine \"{machine}\" has runs of several suites: {}; say which with --suite, or name a run",
                or_none(suites)
            ))),
        }
    }

    /// `FROM..TO`, or `MACHINE:FROM..TO`.
    fn range(&self, word: &str, from: &str, to: &str) -> Result<Vec<String>, Failure> {
        let bad = |why: String| Failure::usage(format!("the range \"{word}\" {why}"));
        let (machine, from) = match from.split_once(':') {
            Some((machine, _)) if !self.is_machine(machine) => {
                return Err(bad(format!("names the machine \"{machine}\", which has no run here (see `stend list`)")));
            }
            Some((machine, from)) => (Some(machine), from),
            None => (None, from),
        };
        let (from, to) = (self.end(word, from)?, self.end(word, to)?);
        let at_ends: Vec<&Summary> = [&from, &to]
            .into_iter()
            .filter_map(|end| if let End::Run(place) = end { self.runs.get(*place) } else { None })
            .collect();
        // Two machines of one make may have the same hardware.
        let is_same = |one: &Summary, other: &Summary| {
            (&one.machine, &one.hardware_id, &one.suite) == (&other.machine, &other.hardware_id, &other.suite)
        };
        if let [first, last] = at_ends[..]
            && !is_same(first, last)
        {
            let what = if first.suite == last.suite { "machines" } else { "suites" };
            return Err(bad(format!("goes from one of two {what} to the other; name them apart")));
        }
        let is_within = |place: usize, run: &Summary| {
            let day = run.started_at.get(..10).unwrap_or_default();
            let after = match &from {
                End::Open => true,
                End::Day(date) => day >= date.to_string().as_str(),
                End::Run(first) => place >= *first,
            };
            let before = match &to {
                End::Open => true,
                End::Day(date) => day <= date.to_string().as_str(),
                End::Run(last) => place <= *last,
            };
            after && before
        };
        let within = self.runs.iter().enumerate().filter(|(place, run)| is_within(*place, run)).map(|(_, run)| run);
        let mut runs: Vec<&Summary> = within.filter(|run| run.state == "finished").collect();
        if let Some(end) = at_ends.first() {
            runs.retain(|run| is_same(run, end));
        }
        runs.retain(|run| machine.is_none_or(|machine| self.is_of(run, machine)));
        let Some(first) = runs.first() else {
            return Err(bad("holds no finished run; give the earlier end first (see `stend list`)".into()));
        };
        let machine = machine.unwrap_or(&first.machine);
        if at_ends.is_empty() && runs.iter().any(|run| !self.is_of(run, machine)) {
            let machines: BTreeSet<_> = runs.iter().map(|run| run.machine.as_str()).collect();
            return Err(bad(format!(
                "holds runs of several machines: {}; say which as in {machine}:{word}",
                or_none(machines)
            )));
        }
        if at_ends.is_empty() {
            let suite = self.suite_of(machine)?;
            runs.retain(|run| run.suite == suite);
            one_hardware(machine, &runs)?;
        }
        if runs.is_empty() {
            return Err(bad("holds no finished run of that suite (see `stend list`)".into()));
        }
        Ok(runs.into_iter().map(|run| run.id.clone()).collect())
    }

    /// An end of a range: nothing, a day, or a run.
    fn end(&self, word: &str, text: &str) -> Result<End, Failure> {
        if text.is_empty() {
            return Ok(End::Open);
        }
        if let Ok(date) = text.parse::<Date>() {
            return Ok(End::Day(date));
        }
        match self.store.resolve(text) {
            Ok(id) => Ok(self.runs.iter().position(|run| run.id == id).map_or(End::Open, End::Run)),
            Err(StoreError::NoSuchRun(_)) => Err(Failure::usage(format!(
                "the range \"{word}\": \"{text}\" is neither a run (see `stend list`) nor a day such as 2026-11-21"
            ))),
            Err(other) => Err(other.into()),
        }
    }
}

/// Two machines may have the same name.
fn one_hardware(machine: &str, runs: &[&Summary]) -> Result<(), Failure> {
    let mut newest: Vec<&Summary> = Vec::new();
    for run in runs.iter().rev() {
        if !newest.iter().any(|other| other.hardware_id == run.hardware_id) {
            newest.push(run);
        }
    }
    if newest.len() < 2 {
        return Ok(());
    }
    let each = newest.iter().map(|run| format!("hardware {}, newest run {}", short(&run.hardware_id), run.id));
    Err(Failure::usage(format!(
        "\"{machine}\" is the name of {} machines: {}; name a run",
        newest.len(),
        each.collect::<Vec<_>>().join("; ")
    )))
}

fn or_none<'t>(names: impl IntoIterator<Item = &'t str>) -> String {
    let names: Vec<_> = names.into_iter().collect();
    if names.is_empty() { "none here".into() } else { names.join(", ") }
}
