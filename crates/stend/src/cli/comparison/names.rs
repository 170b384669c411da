//! What a person may name to be compared: a run, a machine, a stretch of a machine's history, a reference.

use std::collections::BTreeSet;
use std::path::Path;

use jiff::civil::Date;
use stend_model::identity::short;
use stend_model::reference::Reference;

use crate::cli::failure::Failure;
use stend_model::nearest;
use stend_model::quantity::english_plural;
use stend_model::record::{Kind, Summary};
use stend_model::run::{HERE, session_of_label};
use stend_report::shell_words;
use stend_stand::hosts::Hosts;
use stend_store::{Store, StoreError, back_from_last};

/// What one of the words on the command line means.
pub(super) enum Named {
    /// One run, by its id, or one of its sides: `ID:SIDE`.
    Run(String),
    /// Runs of one machine and one suite, by their ids, in the order of time.
    Range(Vec<String>),
    /// A published source.
    Reference(Reference),
}

impl Named {
    /// The ids of its runs, with a side where one was named; a reference has none.
    fn runs(self) -> Vec<String> {
        match self {
            Self::Run(id) => vec![id],
            Self::Range(ids) => ids,
            Self::Reference(_) => Vec::new(),
        }
    }
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
    /// Whether it was said.
    suite_was_said: bool,
    /// Whether more than one thing is named: then `last` counts ordinary runs.
    several: bool,
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
        let several = words.len() > 1;
        let mut names = Self {
            store,
            runs,
            references,
            hosts,
            suite: suite.map(str::to_owned),
            suite_was_said: suite.is_some(),
            several,
        };
        if names.suite.is_none() {
            names.suite = names.common_suite(words);
        }
        Ok(names)
    }

    /// Refuses a suite that was asked for where the words name neither a machine nor a range, so that it would be ignored.
    pub(super) fn check_suite<'w>(
        &self,
        suite: Option<&str>,
        mut words: impl Iterator<Item = &'w String>,
    ) -> Result<(), Failure> {
        match suite {
            Some(suite) if !words.any(|word| word.contains("..") || self.is_machine(word)) => {
                Err(Failure::usage(format!(
                    "--suite {suite} says of which suite the runs of machines and ranges are, and neither is named here; leave it out"
                )))
            }
            _ => Ok(()),
        }
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
            None => self.called(word),
        }
    }

    /// The sessions of this name, else the run.
    fn called(&self, word: &str) -> Result<Named, Failure> {
        match self.sessions_of(word)? {
            sessions if sessions.is_empty() => self.run(word).map(Named::Run),
            sessions => Ok(Named::Range(sessions)),
        }
    }

    /// The run that a word means; a machine's name is its newest run, that of sessions the first of them.
    pub(super) fn find_run(&self, word: &str) -> Result<String, Failure> {
        if self.is_machine(word) {
            return self.newest_of(word);
        }
        self.called(word).map(|named| named.runs().swap_remove(0))
    }

    fn is_machine(&self, word: &str) -> bool {
        // An id is an id, and a label a label, whatever a machine is called.
        self.runs.iter().any(|run| self.is_of(run, word)) && !self.is_run(word)
    }

    fn is_run(&self, word: &str) -> bool {
        self.runs.iter().any(|run| run.id == word || run.label.as_deref() == Some(word))
    }

    /// The finished runs whose labels are of sessions of this name, as `NAME-1`; none where a run itself is called so.
    fn sessions_of(&self, name: &str) -> Result<Vec<String>, Failure> {
        if self.is_run(name) {
            return Ok(Vec::new());
        }
        let is_session = |run: &&Summary| {
            run.label.as_deref().and_then(session_of_label).is_some_and(|(of, _)| of == name) && run.is_ordinary()
        };
        let runs: Vec<_> = self.runs.iter().filter(is_session).collect();
        if runs.iter().any(|run| !self.are_of_one(runs[0], run)) {
            return Err(Failure::usage(format!(
                "\"{name}\": the runs {name}-1 and so on are of several machines or suites; name one of them"
            )));
        }
        Ok(runs.into_iter().map(|run| run.id.clone()).collect())
    }

    /// Whether they are of one machine and one suite. Two machines of one make may have the same hardware.
    fn are_of_one(&self, one: &Summary, other: &Summary) -> bool {
        self.hosts.is_one((&one.machine, &one.host), (&other.machine, &other.host))
            && (&one.hardware_id, &one.suite) == (&other.hardware_id, &other.suite)
    }

    fn is_of(&self, run: &Summary, machine: &str) -> bool {
        self.hosts.is_of((&run.machine, &run.host), machine)
    }

    /// The id of a run, with its side if one was named.
    fn run(&self, word: &str) -> Result<String, Failure> {
        if let Some((run, side)) = word.split_once(':') {
            if self.is_machine(run) || run == HERE || self.hosts.find(run).is_some() {
                return Err(Failure::usage(format!(
                    "\"{word}\": {run} is a machine; its runs from one to another are {run}:FROM..TO, all of them {run}:.., and a side is \
                     one of a run, as in last:SIDE"
                )));
            }
            return Ok(format!("{}:{side}", self.of_kind(run, Some(Kind::Ab))?));
        }
        self.of_kind(word, self.several.then_some(Kind::Run))
    }

    /// The id of a run; if `last` is counted from, among those of this kind.
    fn of_kind(&self, word: &str, kind: Option<Kind>) -> Result<String, Failure> {
        if let (Some(back), Some(kind)) = (back_from_last(word), kind) {
            if self.runs.is_empty() {
                return Err(StoreError::Empty.into());
            }
            let mut of_it = self.runs.iter().rev().filter(|run| run.kind == kind);
            return of_it.nth(back as usize).map(|run| run.id.clone()).ok_or_else(|| {
                let count = self.runs.iter().filter(|run| run.kind == kind).count();
                let (one, many) = match kind {
                    Kind::Ab => ("run of two sides", "runs of two sides"),
                    Kind::Run => ("ordinary run", "ordinary runs"),
                };
                if count == 0 {
                    return Failure::usage(format!(
                        "\"{word}\": there is no {one} yet; `stend list` shows what there is"
                    ));
                }
                let there = english_plural(count, one, many);
                let verb = if count == 1 { "is" } else { "are" };
                Failure::usage(format!("\"{word}\" goes back too far: there {verb} {there}; `stend list` shows them"))
            });
        }
        self.store.resolve(word).map_err(|error| match error {
            StoreError::NoSuchRun(wanted) if wanted == HERE || self.hosts.find(&wanted).is_some() => {
                Failure::usage(format!("the machine \"{wanted}\" has no run yet; `stend run --on {wanted}` makes one"))
            }
            StoreError::NoSuchRun(wanted) if Path::new(&wanted).is_file() => {
                let label = Path::new(&wanted).file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
                Failure::usage(if self.is_run(label) {
                    format!("\"{wanted}\" is a file; the run that was imported from it is called {label}")
                } else {
                    format!("\"{wanted}\" is a file; `stend import {}` makes a run of it", shell_words(std::slice::from_ref(&wanted)))
                })
            }
            StoreError::NoSuchRun(wanted) => {
                let machines: BTreeSet<_> = self.runs.iter().map(|run| run.machine.as_str()).collect();
                let labels = self.runs.iter().filter_map(|run| run.label.as_deref());
                let known = machines.iter().copied().chain(labels);
                let known = known.chain(self.references.iter().map(|one| one.name.as_str()));
                let hint = nearest::hint(&wanted, known);
                Failure::usage(format!(
                    "\"{wanted}\" is neither a run or a label (see `stend list`) nor a machine ({}) nor a reference ({}){hint}",
                    or_none(machines),
                    or_none(self.references.iter().map(|reference| reference.name.as_str()))
                ))
            }
            other => other.into(),
        })
    }

    /// Says so where `last` is not the newest run of all, because that one is not compared with others as a run.
    pub(super) fn say_what_last_is(&self, word: &str) {
        if !self.several || back_from_last(word).is_none() {
            return;
        }
        if let (Ok(id), Ok(newest)) = (self.run(word), self.store.resolve(word))
            && id != newest
        {
            talk!("{word}: {id}, beside others runs of two sides are not counted");
        }
    }

    /// The one suite that the runs among the words are of; else the one that all machines among them have runs of, of several the newest.
    fn common_suite(&self, words: &[String]) -> Option<String> {
        let of_runs: BTreeSet<&str> = words.iter().flat_map(|word| self.runs_in(word)).collect();
        let machines: BTreeSet<&str> = words.iter().filter_map(|word| self.machine_in(word)).collect();
        let mut common = of_runs;
        if common.is_empty() {
            let suites = machines.iter().map(|machine| self.suites_of(machine));
            common = suites.reduce(|one, other| &one & &other).unwrap_or_default();
        }
        if common.len() < 2 || machines.is_empty() {
            return if common.len() == 1 { common.pop_first().map(str::to_owned) } else { None };
        }
        // The suite that all of them were measured with last: of each, the machine that waits longest says when.
        let since = |suite: &&&str| {
            let newest = |machine: &&str| self.newest_finished(machine, suite).map(|run| &run.started_at);
            machines.iter().map(newest).min().flatten()
        };
        let newest = *common.iter().filter(|suite| since(suite).is_some()).max_by_key(since)?;
        let who = match machines.first() {
            Some(machine) if machines.len() == 1 => format!("{machine} has"),
            _ => "all have".to_owned(),
        };
        say_suite(newest, &format!("that {who} finished runs of"), &common);
        Some(newest.to_owned())
    }

    /// The suites of the runs that a word names: a run, or the ends of a range.
    fn runs_in(&self, word: &str) -> Vec<&str> {
        if self.is_machine(word) {
            return Vec::new();
        }
        let range = word.split_once("..").map(|(from, to)| [from.split_once(':').map_or(from, |(_, from)| from), to]);
        let named: Vec<_> = match range {
            Some(ends) => {
                let is_run = |end: &&str| !end.is_empty() && end.parse::<Date>().is_err();
                ends.into_iter().filter(is_run).filter_map(|end| self.of_kind(end, Some(Kind::Run)).ok()).collect()
            }
            None => self.called(word).map(Named::runs).unwrap_or_default(),
        };
        let stored = |id: &String| id.split_once(':').map_or(id.clone(), |(id, _)| id.to_owned());
        let ids: BTreeSet<String> = named.iter().map(stored).collect();
        self.runs.iter().filter(|run| ids.contains(&run.id)).map(|run| run.suite.as_str()).collect()
    }

    /// The machine that a word names, by itself or before a range.
    fn machine_in<'w>(&self, word: &'w str) -> Option<&'w str> {
        let machine = match word.split_once("..") {
            Some((from, _)) => from.split_once(':')?.0,
            None => word,
        };
        self.is_machine(machine).then_some(machine)
    }

    /// The runs that stand for a machine: those that are not of two sides.
    fn ordinary(&self, machine: &str) -> impl DoubleEndedIterator<Item = &Summary> {
        self.runs.iter().filter(move |run| run.kind == Kind::Run && self.is_of(run, machine))
    }

    fn newest_finished(&self, machine: &str, suite: &str) -> Option<&Summary> {
        self.ordinary(machine).rfind(|run| run.suite == suite && run.is_finished())
    }

    fn suites_of(&self, machine: &str) -> BTreeSet<&str> {
        self.ordinary(machine).map(|run| run.suite.as_str()).collect()
    }

    /// The newest run of a machine, a finished one if there is one.
    fn newest_of(&self, machine: &str) -> Result<String, Failure> {
        if self.ordinary(machine).next().is_none() {
            let newest = self.runs.iter().rfind(|run| self.is_of(run, machine));
            let newest = newest.map(|run| run.id.as_str()).unwrap_or_default();
            return Err(Failure::usage(format!(
                "the machine \"{machine}\" has no ordinary run yet, only runs of two sides; name one by its id, \
                 as {newest}, the newest"
            )));
        }
        let suite = self.suite_of(machine)?;
        let runs: Vec<_> = self.ordinary(machine).filter(|run| run.suite == suite).collect();
        // What has a name of the user's is what the user says it is.
        if self.hosts.find(machine).is_none() {
            one_hardware(machine, &runs)?;
        }
        let finished = runs.iter().rev().find(|run| run.is_finished());
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
        if let [first, last] = at_ends[..]
            && !self.are_of_one(first, last)
        {
            let what = if first.suite == last.suite { "machines" } else { "suites" };
            return Err(bad(format!("goes from one of two {what} to the other; name them apart")));
        }
        if let (Some(wanted), Some(end)) = (&self.suite, at_ends.first())
            && self.suite_was_said
            && *wanted != end.suite
        {
            return Err(bad(format!("is of runs of the suite \"{}\", and --suite is {wanted}", end.suite)));
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
        let mut runs: Vec<&Summary> = within.filter(|run| run.is_ordinary()).collect();
        if let Some(end) = at_ends.first() {
            runs.retain(|run| self.are_of_one(run, end));
        }
        runs.retain(|run| machine.is_none_or(|machine| self.is_of(run, machine)));
        let Some(first) = runs.first() else {
            return Err(bad("holds no finished ordinary run; give the earlier end first (see `stend list`)".into()));
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
            let suite = match &self.suite {
                Some(_) => self.suite_of(machine)?,
                None => {
                    let suites = runs.iter().map(|run| run.suite.as_str()).collect();
                    let newest = runs[runs.len() - 1].suite.clone();
                    say_suite(&newest, &format!("in {word}"), &suites);
                    newest
                }
            };
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
        let found = match back_from_last(text) {
            Some(_) => self.of_kind(text, Some(Kind::Run))?,
            None => self.store.resolve(text).map_err(|error| match error {
                StoreError::NoSuchRun(_) => Failure::usage(format!(
                    "the range \"{word}\": \"{text}\" is neither a run (see `stend list`) nor a day such as 2026-11-21"
                )),
                other => other.into(),
            })?,
        };
        Ok(self.runs.iter().position(|run| run.id == found).map_or(End::Open, End::Run))
    }
}

/// Says which suite was taken, where there are others.
fn say_suite(suite: &str, why: &str, all: &BTreeSet<&str>) {
    let others: Vec<_> = all.iter().filter(|other| **other != suite).copied().collect();
    if !others.is_empty() {
        talk!("suite {suite}, the newest {why}; --suite takes another: {}", others.join(", "));
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
