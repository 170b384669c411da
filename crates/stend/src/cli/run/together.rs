//! Machines measured side by side, each a run of its own in a thread of its own. What befalls one costs only its own run.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;

use serde::Serialize;

use super::Options;
use super::finish::{conclude, fell_short, finish};
use crate::cli::Global;
use crate::cli::failure::{Exit, Failure};
use crate::cli::output::{self, Shown};
use crate::voice::{Display, Voice};
use stend_compare::compare_what;
use stend_compare::filter::Filter;
use stend_compare::pool::{Pool, pools};
use stend_compare::sides::views;
use stend_lab::run::Ending;
use stend_model::record::JSON_VERSION;
use stend_model::record::Record;
use stend_stand::interrupt::Interrupt;
use stend_store::Store;

/// What makes a run, or goes on with one: it is told of Ctrl-C, and tells the run's id as soon as the run is in the store.
type Make<'a> = dyn Fn(&Interrupt, &OnceLock<String>) -> Result<Ending, Failure> + Send + Sync + 'a;

/// One run to be made.
pub(in crate::cli) struct Job<'a> {
    /// The machine, as the user calls it.
    pub(in crate::cli) name: String,
    /// The run's id, if it is in the store already.
    pub(in crate::cli) run: Option<String>,
    /// Whether it is made on this machine: of such ones each waits for the one before it.
    pub(in crate::cli) is_on_this_machine: bool,
    /// What to type after `stend` where nothing was begun.
    pub(in crate::cli) again: String,
    pub(in crate::cli) make: Box<Make<'a>>,
}

/// What came of it.
struct Made {
    name: String,
    run: Option<String>,
    again: String,
    result: Result<Ending, Failure>,
}

/// Makes all runs, and prints one table of those that are complete. The exit status is the worst of all.
pub(in crate::cli) fn run(global: &Global, jobs: Vec<Job>, options: Options, shown: Shown) -> Result<Exit, Failure> {
    let interrupt = Interrupt::listen()?;
    match <[Job; 1]>::try_from(jobs) {
        Ok([job]) => one(global, job, &interrupt, options, shown),
        Err(jobs) => several(global, jobs, &interrupt, options, shown),
    }
}

fn one(global: &Global, job: Job, interrupt: &Interrupt, options: Options, shown: Shown) -> Result<Exit, Failure> {
    let begun = begun(&job);
    match ((job.make)(interrupt, &begun), begun.get()) {
        (Ok(Ending::Complete), Some(run)) => {
            let store = Store::open_to_read(&global.store_directory()?)?;
            finish(global, &store, run, options, shown)
        }
        (Ok(_), run) => Ok(interrupted(run)),
        (Err(failure), Some(run)) if failure.has_stopped_a_run() => Err(failure.and_then(&go_on_with(run))),
        // Whatever it was that failed then.
        (Err(_), None) if interrupt.requested() => Ok(interrupted(None)),
        (Err(failure), _) => Err(failure),
    }
}

fn go_on_with(run: &str) -> String {
    format!("go on with: {} resume {run}", output::program())
}

fn begun(job: &Job) -> OnceLock<String> {
    job.run.clone().map_or_else(OnceLock::new, OnceLock::from)
}

fn interrupted(run: Option<&String>) -> Exit {
    match run {
        Some(run) => talk!("{}", go_on_with(run)),
        None => talk!("interrupted before anything was measured"),
    }
    Exit::Interrupted
}

fn several(
    global: &Global,
    jobs: Vec<Job>,
    interrupt: &Interrupt,
    options: Options,
    shown: Shown,
) -> Result<Exit, Failure> {
    let (made, voices) = make_all(global, jobs, interrupt, options, false);
    conclude_all(global, &made, voices, options, shown)
}

/// Measures all machines so many times, and prints one table with a column of sessions for each.
pub(in crate::cli) fn rounds<'j>(
    global: &Global,
    rounds: u32,
    jobs: impl Fn() -> Vec<Job<'j>>,
    options: Options,
    shown: Shown,
) -> Result<Exit, Failure> {
    let interrupt = Interrupt::listen()?;
    let mut runs: Vec<Vec<String>> = Vec::new();
    for round in 1..=rounds {
        if !global.quiet {
            talk!("session {round} of {rounds}");
        }
        // What takes turns goes first in every other round.
        let (made, voices) = make_all(global, jobs(), &interrupt, options, round % 2 == 0);
        if !made.iter().all(|one| matches!(one.result, Ok(Ending::Complete))) {
            talk!("{} of {rounds} sessions are complete", round - 1);
            return conclude_all(global, &made, voices, options, shown);
        }
        runs.resize_with(made.len(), Vec::new);
        for (of_machine, one) in runs.iter_mut().zip(made) {
            of_machine.extend(one.run);
        }
    }
    let exit = show_sessions(global, &runs, options, shown)?;
    if !global.quiet {
        let ends = runs.iter().filter_map(|runs| Some(format!("{}..{}", runs.first()?, runs.last()?)));
        talk!("compare them again: {} compare {}", output::program(), ends.collect::<Vec<_>>().join(" "));
    }
    Ok(exit)
}

/// Prints one table of runs that are sessions: a column for each list of ids.
pub(super) fn show_sessions(
    global: &Global,
    runs: &[Vec<String>],
    options: Options,
    shown: Shown,
) -> Result<Exit, Failure> {
    let store = Store::open_to_read(&global.store_directory()?)?;
    let load = |ids: &Vec<String>| ids.iter().map(|id| store.load(id)).collect::<Result<Vec<Record>, _>>();
    let records = runs.iter().map(load).collect::<Result<Vec<_>, _>>()?;
    let exits = records.iter().flatten().map(|record| fell_short(record, std::slice::from_ref(record)));
    let exit = exits.max().unwrap_or(Exit::Fine);
    let columns: Vec<Pool> = records.into_iter().flat_map(pools).collect();
    let views: Vec<Record> = columns.iter().map(|column| column.record.clone()).collect();
    let mut table = output::table_of(&views);
    table.notes.splice(0..0, columns.iter().filter_map(Pool::note));
    match shown.is_json() {
        true => output::print_json("table", &table)?,
        false => output::print_table(global, shown.format()?, &views[0], &table, options.all_metrics)?,
    }
    Ok(exit)
}

/// Makes all runs side by side, but those on this machine one after the other, from the last one on if that is wanted.
fn make_all(
    global: &Global,
    jobs: Vec<Job>,
    interrupt: &Interrupt,
    options: Options,
    last_first: bool,
) -> (Vec<Made>, Vec<Voice>) {
    let display = Display::new(options.bar(global), jobs.iter().map(|job| &*job.name));
    let voices: Vec<_> = jobs.iter().map(|job| display.voice(&job.name)).collect();
    let all = jobs.into_iter().zip(voices.clone()).enumerate();
    let (mut here, elsewhere): (Vec<_>, Vec<_>) = all.partition(|(_, (job, _))| job.is_on_this_machine);
    if last_first {
        here.reverse();
    }
    let queues = std::iter::once(here).chain(elsewhere.into_iter().map(|one| vec![one]));
    let mut made: Vec<(usize, Made)> = std::thread::scope(|scope| {
        let make = |queue: Vec<_>| {
            let make = move |(place, (job, voice))| (place, alone(job, voice, interrupt));
            scope.spawn(move || queue.into_iter().map(make).collect::<Vec<_>>())
        };
        let threads: Vec<_> = queues.map(make).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("what panics in it is caught")).collect()
    });
    made.sort_by_key(|(place, _)| *place);
    display.clear();
    (made.into_iter().map(|(_, made)| made).collect(), voices)
}

/// Makes one run among several.
fn alone(job: Job, voice: Voice, interrupt: &Interrupt) -> Made {
    let last = voice.last_words();
    let _speaking = voice.speak();
    let begun = begun(&job);
    let made = catch_unwind(AssertUnwindSafe(|| (job.make)(interrupt, &begun)));
    let result = match made.unwrap_or_else(|_| Err(Failure::unusable("stend itself failed, as said above"))) {
        Err(_) if begun.get().is_none() && interrupt.requested() => Ok(Ending::Interrupted),
        result => result,
    };
    last.say(&match &result {
        Ok(Ending::Complete) => "complete".to_owned(),
        Ok(Ending::Interrupted) => "interrupted".to_owned(),
        Err(failure) => failure.to_string(),
    });
    Made { name: job.name, run: begun.into_inner(), again: job.again, result }
}

/// Of one machine, for programs.
#[derive(Serialize)]
struct HostJson<'m> {
    host: &'m str,
    run: Option<&'m str>,
    /// What the status would be if this were the only machine.
    exit: u8,
    /// Why its run is not complete.
    reason: Option<String>,
}

fn conclude_all(
    global: &Global,
    made: &[Made],
    voices: Vec<Voice>,
    options: Options,
    shown: Shown,
) -> Result<Exit, Failure> {
    let store = Store::open_to_read(&global.store_directory()?)?;
    let mut complete: Vec<Record> = Vec::new();
    for one in made {
        if let (Ok(Ending::Complete), Some(run)) = (&one.result, &one.run) {
            complete.push(store.load(run)?);
        }
    }
    let all: Vec<Record> = complete.iter().cloned().flat_map(views).collect();
    let table = match &all.iter().collect::<Vec<_>>()[..] {
        [] => None,
        [_] => Some(output::table_of(&all)),
        several => Some(compare_what(several, &[], &Filter::default())),
    };
    if let (Some(table), false) = (&table, shown.is_json()) {
        output::print_table(global, shown.format()?, &all[0], table, options.all_metrics)?;
    }
    let mut exits = Vec::new();
    for (one, voice) in made.iter().zip(voices) {
        let _speaking = voice.without_line().speak();
        exits.push(match (&one.result, &one.run) {
            (Ok(Ending::Complete), Some(run)) => {
                let record = complete.iter().find(|record| record.run.id == *run).expect("it is complete");
                let views = views(record.clone());
                conclude(global, &store, record, &views, &output::table_of(&views))?
            }
            (result, _) => {
                let exit = result.as_ref().map_or_else(Failure::exit, |_| Exit::Interrupted);
                talk!("{}", one.not_complete());
                exit
            }
        });
    }
    if shown.is_json() {
        let hosts: Vec<_> = made.iter().zip(&exits).map(|(made, exit)| made.for_programs(*exit)).collect();
        let text = serde_json::json!({ "schema_version": JSON_VERSION, "hosts": hosts, "table": table });
        output::print(&format!("{text:#}\n"))?;
    } else if let (false, true) = (global.quiet, complete.len() > 1) {
        let ids: Vec<_> = complete.iter().map(|record| record.run.id.as_str()).collect();
        talk!("compare them again: {} compare {}", output::program(), ids.join(" "));
    }
    Ok(exits.into_iter().max().unwrap_or(Exit::Fine))
}

impl Made {
    /// Why its run is not complete, and what to type.
    fn not_complete(&self) -> String {
        let next = match &self.run {
            Some(run) => go_on_with(run),
            None => format!("try again with: {} {}", output::program(), self.again),
        };
        match &self.result {
            Err(failure) => format!("{failure}; {next}"),
            Ok(_) if self.run.is_none() => format!("interrupted before anything was measured; {next}"),
            Ok(_) => format!("interrupted; {next}"),
        }
    }

    fn for_programs(&self, exit: Exit) -> HostJson<'_> {
        let reason = match &self.result {
            Err(failure) => Some(failure.to_string()),
            Ok(Ending::Interrupted) => Some("interrupted".into()),
            Ok(Ending::Complete) => None,
        };
        HostJson { host: &self.name, run: self.run.as_deref(), exit: exit as u8, reason }
    }
}
