//! `stend --server URL run`: a job of the server's, followed to its end.

use std::io::{BufRead as _, BufReader, Read};
use std::slice;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use clap::ArgMatches;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::json;
use stend_model::run::is_run_id;
use stend_stand::interrupt::Interrupt;

use super::link::{Link, Lost, brief};
use super::order::{self, Asked};
use super::{Given, look};
use crate::cli::Global;
use crate::cli::failure::{Exit, Failure};
use crate::cli::output;
use crate::cli::run::FOREIGN;

/// How long a server that was there may be away.
const PATIENCE: Duration = Duration::from_secs(120);
/// How soon Ctrl-C is noticed.
const LOOK: Duration = Duration::from_millis(100);
/// No event is longer.
const LONGEST_LINE: u64 = 1 << 20;

/// A job as the server tells of it.
#[derive(Deserialize)]
struct Job {
    id: i64,
    run: String,
    order: Order,
    reason: Option<String>,
}

#[derive(Deserialize)]
struct Order {
    machine: String,
    state: Option<State>,
}

#[derive(Deserialize)]
struct State {
    name: String,
}

impl Job {
    /// Its run, which becomes part of paths, and of commands that a person is told to type.
    fn checked(&self, link: &Link) -> Result<&str, Failure> {
        if is_run_id(&self.run) { Ok(&self.run) } else { Err(link.strange()) }
    }
}

/// The jobs of an order.
#[derive(Deserialize)]
struct Batch {
    jobs: Vec<Job>,
    compared: Option<String>,
}

/// What came of a run.
enum Told {
    /// A repeat, by its number.
    Repeat(u32, String),
    /// The job's state.
    Job(String),
    /// Nothing more comes.
    End,
    /// The server is away, or answers something else.
    Gone(Failure),
}

pub(super) fn run(global: &Global, link: &Link, matches: &ArgMatches, given: &Given) -> Result<Exit, Failure> {
    let mut asked = order::asked(matches)?;
    let mut key = [0; 16];
    getrandom::fill(&mut key).map_err(|error| Failure::unusable(format!("no random numbers: {error}")))?;
    let key: String = key.iter().map(|byte| format!("{byte:02x}")).collect();
    let interrupt = Interrupt::listen()?;
    let files = std::mem::take(&mut asked.files);
    let is_quiet = global.quiet || files.is_empty();
    for (name, text) in files {
        let kept: Kept = link.insist(|link| link.send("/files", "text/plain", &text))?;
        asked.order()["files"][&name] = json!(kept.sha256);
    }
    if !is_quiet {
        show_foreign(link, &asked)?;
    }
    if asked.path == "/jobs" {
        let job: Job = link.insist(|link| link.post(asked.path, Some((&asked.body, &key))))?;
        return one(global, link, &job, given, &interrupt);
    }
    let batch: Batch = link.insist(|link| link.post(asked.path, Some((&asked.body, &key))))?;
    several(global, link, batch.jobs, given, &interrupt)
}

#[derive(Deserialize)]
struct Kept {
    sha256: String,
}

/// Says what of other people is about to be run, as the server finds it.
fn show_foreign(link: &Link, asked: &Asked) -> Result<(), Failure> {
    #[derive(Deserialize)]
    struct Plan {
        plan: String,
    }
    let plan: Plan = link.insist(|link| link.post("/plan", Some((&asked.body, ""))))?;
    plan.plan.lines().filter(|line| line.starts_with(FOREIGN)).for_each(|line| talk!("{}", brief(line)));
    Ok(())
}

/// Follows one run to its end, and prints its table.
fn one(global: &Global, link: &Link, job: &Job, given: &Given, interrupt: &Interrupt) -> Result<Exit, Failure> {
    let run = job.checked(link)?;
    if !global.quiet {
        talk!("run {run}: job {} of {url}; it is shown on {url}/runs/{run}", job.id, url = link.url());
    }
    match seen_through(global, link, job, &mut slice::from_ref(job), interrupt)?.as_str() {
        "finished" => {
            let own = [("what", run), ("concluded", "true")];
            let exit = look(global, link, "show", shown(&own, given))?;
            if !global.quiet {
                talk!("show all of this one: {} show {run}", output::program());
            }
            Ok(exit)
        }
        "stopped" => {
            talk!("interrupted; {}", way_on(link, run));
            Ok(Exit::Interrupted)
        }
        _ => Err(why_failed(link, job)?),
    }
}

/// Follows the runs of several machines, sessions or states to their ends, one after the other as they were queued, and prints one table.
fn several(
    global: &Global,
    link: &Link,
    jobs: Vec<Job>,
    given: &Given,
    interrupt: &Interrupt,
) -> Result<Exit, Failure> {
    let Some(first) = jobs.first() else { return Err(link.strange()) };
    let batch = first.checked(link)?;
    if !global.quiet {
        talk!("{} runs, which are shown on {}/batches/{batch}", jobs.len(), link.url());
    }
    let mut worst = Exit::Fine;
    let mut left = &jobs[..];
    for (place, job) in jobs.iter().enumerate() {
        let run = job.checked(link)?;
        if !global.quiet {
            let state = job.order.state.as_ref().map(|state| format!(", {}", brief(&state.name))).unwrap_or_default();
            talk!("run {run}: {} of {}, {}{state}", place + 1, jobs.len(), brief(&job.order.machine));
        }
        if !left.is_empty() {
            left = &jobs[place..];
        }
        match seen_through(global, link, job, &mut left, interrupt)?.as_str() {
            "finished" => {}
            "stopped" => worst = Exit::Interrupted,
            _ => {
                talk!("stend: {}", why_failed(link, job)?);
                worst = worst.max(Exit::Unusable);
            }
        }
    }
    let batch: Batch = link.insist(|link| link.get(&format!("/batches/{batch}"), &[]))?;
    let Some(compared) = batch.compared else {
        talk!("not all of these runs are finished; go on with: Resume on {}/batches/{}", link.url(), first.run);
        return Ok(worst);
    };
    let names: Vec<_> = compared.split(',').map(|name| ("what", name)).collect();
    look(global, link, "compare", shown(&names, given))
}

/// What is asked of a command that shows runs.
fn shown(own: &[(&str, &str)], given: &Given) -> Given {
    let form = given.iter().filter(|(name, _)| matches!(name.as_str(), "format" | "json"));
    own.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).chain(form.cloned()).collect()
}

/// Follows a job to its end, and gives the state in which it ended. Ctrl-C stops what is `left`, once; then nothing is.
fn seen_through(
    global: &Global,
    link: &Link,
    job: &Job,
    left: &mut &[Job],
    interrupt: &Interrupt,
) -> Result<String, Failure> {
    let (sender, receiver) = channel();
    let (of_thread, wanted) = (link.clone(), job.run.clone());
    std::thread::spawn(move || listen(&of_thread, &wanted, &sender));
    follow(global, link, job, left, &receiver, interrupt)
}

fn why_failed(link: &Link, job: &Job) -> Result<Failure, Failure> {
    let now: InFull = link.insist(|link| link.get(&format!("/jobs/{}", job.id), &[]))?;
    let reason = now.job.reason.as_deref().map_or("it ended without a reason".into(), brief);
    let reason = reason.trim_start_matches("stend: ");
    Ok(Failure::unusable(format!("run {}: {reason}; {}", job.run, way_on(link, &job.run))))
}

#[derive(Deserialize)]
struct InFull {
    job: Job,
}

fn way_on(link: &Link, run: &str) -> String {
    format!("go on with: Resume on {}/runs/{run}", link.url())
}

/// Says each repeat as it comes, and gives the state in which the job ended. Ctrl-C stops the job first.
fn follow(
    global: &Global,
    link: &Link,
    job: &Job,
    left: &mut &[Job],
    receiver: &Receiver<Told>,
    interrupt: &Interrupt,
) -> Result<String, Failure> {
    let mut state = String::new();
    loop {
        if interrupt.requested() && !left.is_empty() {
            match left {
                [one] => talk!("stopping job {} on the server; Ctrl-C again ends only this program", one.id),
                _ => talk!("stopping {} runs on the server; Ctrl-C again ends only this program", left.len()),
            }
            // The last ones first, so that none begins because one before it has ended.
            for job in std::mem::take(left).iter().rev() {
                let _: IgnoredAny = link.insist(|link| link.post(&format!("/jobs/{}/stop", job.id), None))?;
            }
        }
        match receiver.recv_timeout(LOOK) {
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Err(link.strange()),
            Ok(Told::Repeat(sequence, text)) => say(global, sequence, &text, link)?,
            Ok(Told::Job(new)) if new != state => {
                if !global.quiet && matches!(new.as_str(), "waiting" | "running") {
                    talk!("run {}: {new}", job.run);
                }
                state = new;
            }
            Ok(Told::Job(_)) => {}
            Ok(Told::End) => return Ok(if state.is_empty() { "finished".into() } else { state }),
            Ok(Told::Gone(failure)) => {
                return Err(failure.and_then(&format!("what became of run {} is shown on {}", job.run, link.url())));
            }
        }
    }
}

/// A repeat, in a line as a run without a terminal has it.
fn say(global: &Global, sequence: u32, text: &str, link: &Link) -> Result<(), Failure> {
    #[derive(Deserialize)]
    struct Repeat {
        scenario: String,
        side: Option<String>,
        phase: String,
        outcome: String,
        why: Phrase,
        value: Phrase,
    }
    /// A text, or one in each language, English first.
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Phrase {
        Of(String),
        In(Vec<String>),
    }
    let words = |phrase: &Phrase| match phrase {
        Phrase::Of(text) => brief(text),
        Phrase::In(texts) => texts.first().map(|text| brief(text)).unwrap_or_default(),
    };
    let repeat: Repeat = serde_json::from_str(text).map_err(|_| link.strange())?;
    let side = repeat.side.map(|side| format!(" ({})", brief(&side))).unwrap_or_default();
    let warmup = if repeat.phase == "warmup" { " (warm-up)" } else { "" };
    let name = format!("[{}] {}{side}{warmup}", u64::from(sequence) + 1, brief(&repeat.scenario));
    match repeat.outcome.as_str() {
        "valid" if !global.quiet => talk!("{name}: {}", words(&repeat.value)),
        "valid" => {}
        "invalid" if warmup.is_empty() => talk!("{name}: does not count: {}", words(&repeat.why)),
        "invalid" if global.quiet => {}
        "invalid" => talk!("{name}: disturbed: {}", words(&repeat.why)),
        _ => talk!("{name}: failed: {}", words(&repeat.why)),
    }
    Ok(())
}

/// Tells what comes of a run. Where the connection is lost it goes on behind the last repeat.
fn listen(link: &Link, run: &str, sender: &Sender<Told>) {
    let mut last = None;
    let mut away: Option<Instant> = None;
    loop {
        let failure = match link.events(run, last) {
            Ok(stream) => {
                let mut lines = BufReader::new(stream);
                while let Some(event) = next(&mut lines) {
                    away = None;
                    let told = match event.name.as_str() {
                        // What was told is not told again, whatever the server does.
                        "repeat" if event.id <= last => None,
                        "repeat" => {
                            last = event.id;
                            event.id.map(|id| Told::Repeat(id, event.data))
                        }
                        "job" => Some(Told::Job(event.data)),
                        "end" => Some(Told::End),
                        _ => None,
                    };
                    let is_end = matches!(told, Some(Told::End));
                    if told.is_some_and(|told| sender.send(told).is_err()) || is_end {
                        return;
                    }
                }
                Failure::unusable(format!("{} loses every connection", link.url()))
            }
            Err(Lost::Refused(failure)) => {
                let _ = sender.send(Told::Gone(failure));
                return;
            }
            Err(Lost::Cut(failure) | Lost::Unreached(failure)) => failure,
        };
        if away.get_or_insert_with(Instant::now).elapsed() > PATIENCE {
            let _ = sender.send(Told::Gone(failure));
            return;
        }
        std::thread::sleep(LOOK);
    }
}

#[derive(Default)]
struct Event {
    name: String,
    id: Option<u32>,
    data: String,
}

/// The next event that has come whole; nothing where the stream ends before, or is none.
fn next(lines: &mut BufReader<impl Read>) -> Option<Event> {
    let mut event = Event::default();
    loop {
        let mut line = Vec::new();
        lines.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line).ok()?;
        let line = line.strip_suffix(b"\n")?;
        let line = std::str::from_utf8(line).ok()?.trim_end_matches('\r');
        if line.is_empty() && !event.name.is_empty() {
            return Some(event);
        }
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match name {
            "event" => value.clone_into(&mut event.name),
            "id" => event.id = Some(value.parse().ok()?),
            "data" => value.clone_into(&mut event.data),
            _ => {}
        }
    }
}
