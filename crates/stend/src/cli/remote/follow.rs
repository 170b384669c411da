//! `stend --server URL run`: a job of the server's, followed to its end.

use std::io::{BufRead as _, BufReader, Read};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use clap::ArgMatches;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};
use stend_model::run::{HERE, is_run_id};
use stend_stand::interrupt::Interrupt;

use super::link::{Link, Lost, brief};
use super::{Given, look};
use crate::catalogue;
use crate::cli::Global;
use crate::cli::failure::{Exit, Failure};
use crate::cli::output;

/// How long a server that was there may be away.
const PATIENCE: Duration = Duration::from_secs(120);
/// How soon Ctrl-C is noticed.
const LOOK: Duration = Duration::from_millis(100);
/// No event is longer.
const LONGEST_LINE: u64 = 1 << 20;

/// Whether it is an option that a run on a server has.
pub(super) fn takes(option: &str) -> bool {
    let order = ["what", "label", "repeats", "scale", "set", "ab", "on", "even-if-unfit"];
    // A line for each repeat is printed anyway.
    let shown = ["no-progress", "format", "json"];
    order.contains(&option) || shown.contains(&option)
}

/// A job as the server tells of it.
#[derive(Deserialize)]
struct Job {
    id: i64,
    run: String,
    reason: Option<String>,
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
    let order = order(matches)?;
    let mut key = [0; 16];
    getrandom::fill(&mut key).map_err(|error| Failure::unusable(format!("no random numbers: {error}")))?;
    let key: String = key.iter().map(|byte| format!("{byte:02x}")).collect();
    let interrupt = Interrupt::listen()?;
    let job: Job = link.insist(|link| link.post("/jobs", Some((&order, &key))))?;
    // It becomes part of paths, and of commands that a person is told to type.
    if !is_run_id(&job.run) {
        return Err(link.strange());
    }
    let run = &job.run;
    if !global.quiet {
        talk!("run {run}: job {} of {url}; it is shown on {url}/runs/{run}", job.id, url = link.url());
    }
    let (sender, receiver) = channel();
    let (of_thread, wanted) = (link.clone(), run.clone());
    std::thread::spawn(move || listen(&of_thread, &wanted, &sender));
    match follow(global, link, &job, &receiver, &interrupt)?.as_str() {
        "finished" => {
            let shown = given.iter().filter(|(name, _)| matches!(name.as_str(), "format" | "json"));
            let own = [("what", run.as_str()), ("concluded", "true")];
            let own = own.map(|(name, value)| (name.to_owned(), value.to_owned()));
            let exit = look(global, link, "show", own.into_iter().chain(shown.cloned()).collect())?;
            if !global.quiet {
                talk!("show all of this one: {} show {run}", output::program());
            }
            Ok(exit)
        }
        "stopped" => {
            talk!("interrupted; {}", way_on(link, run));
            Ok(Exit::Interrupted)
        }
        _ => {
            let now: InFull = link.insist(|link| link.get(&format!("/jobs/{}", job.id), &[]))?;
            let reason = now.job.reason.as_deref().map_or("it ended without a reason".into(), brief);
            let reason = reason.trim_start_matches("stend: ");
            Err(Failure::unusable(format!("run {run}: {reason}; {}", way_on(link, run))))
        }
    }
}

#[derive(Deserialize)]
struct InFull {
    job: Job,
}

fn way_on(link: &Link, run: &str) -> String {
    format!("go on with: Resume on {}/runs/{run}", link.url())
}

/// The order, as the API has it.
fn order(matches: &ArgMatches) -> Result<Value, Failure> {
    let all = |name: &str| matches.get_many::<String>(name).map(|all| all.cloned().collect::<Vec<_>>());
    let suite = matches.get_one::<String>("suite").map_or(catalogue::USUAL, String::as_str);
    let machines = all("on").unwrap_or_else(|| vec![HERE.into()]);
    let [machine] = &machines[..] else {
        return Err(Failure::usage("--on: with --server name one machine"));
    };
    let sides = all("ab");
    if sides.as_ref().is_some_and(|sides| sides.len() != 2) {
        return Err(Failure::usage("--ab: with --server give it two sides"));
    }
    let mut order = json!({ "suite": suite, "machine": machine, "even_if_unfit": matches.get_flag("even_if_unfit") });
    let mut put = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            order[name] = value;
        }
    };
    put("label", matches.get_one::<String>("label").map(|label| json!(label)));
    put("repeats", matches.get_one::<u32>("repeats").map(|repeats| json!(repeats)));
    put("scale", matches.get_one::<f64>("scale").map(|scale| json!(scale)));
    put("sides", sides.map(|sides| json!(sides)));
    let set = matches.get_many::<(String, String)>("set");
    put(
        "set",
        set.map(|set| set.map(|(name, value)| (name.clone(), json!(value))).collect::<serde_json::Map<_, _>>().into()),
    );
    Ok(order)
}

/// Says each repeat as it comes, and gives the state in which the job ended. Ctrl-C stops the job first.
fn follow(
    global: &Global,
    link: &Link,
    job: &Job,
    receiver: &Receiver<Told>,
    interrupt: &Interrupt,
) -> Result<String, Failure> {
    let mut state = String::new();
    let mut is_told_to_stop = false;
    let mut last = None;
    // Of a run that was stopped or failed no end is told: it may go on. All that is stored of it is awaited.
    let mut until = None;
    loop {
        if interrupt.requested() && !is_told_to_stop {
            is_told_to_stop = true;
            talk!("stopping job {} on the server; Ctrl-C again ends only this program", job.id);
            let _: IgnoredAny = link.insist(|link| link.post(&format!("/jobs/{}/stop", job.id), None))?;
        }
        match receiver.recv_timeout(LOOK) {
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Err(link.strange()),
            Ok(Told::Repeat(sequence, text)) => {
                last = Some(sequence);
                say(global, sequence, &text, link)?;
            }
            Ok(Told::Job(new)) if new != state => {
                if !global.quiet && matches!(new.as_str(), "waiting" | "running") {
                    talk!("run {}: {new}", job.run);
                }
                until =
                    matches!(new.as_str(), "stopped" | "failed").then(|| last_stored(link, &job.run)).transpose()?;
                state = new;
            }
            Ok(Told::Job(_)) => {}
            Ok(Told::End) => return Ok("finished".into()),
            Ok(Told::Gone(failure)) => {
                return Err(failure.and_then(&format!("what became of run {} is shown on {}", job.run, link.url())));
            }
        }
        if until.is_some_and(|until| last >= until) {
            return Ok(state);
        }
    }
}

/// The number of the last repeat that is stored; none of a run that has none, or has not begun.
fn last_stored(link: &Link, run: &str) -> Result<Option<u32>, Failure> {
    #[derive(Deserialize)]
    struct Shown {
        run: Repeats,
    }
    #[derive(Deserialize)]
    struct Repeats {
        repeats: Vec<Repeat>,
    }
    #[derive(Deserialize)]
    struct Repeat {
        sequence: u32,
    }
    match link.insist(|link| match link.get::<Shown>(&format!("/runs/{run}"), &[]) {
        Err(Lost::Refused(failure)) if failure.exit() == Exit::Usage => Ok(None),
        answer => answer.map(Some),
    })? {
        None => Ok(None),
        Some(shown) => Ok(shown.run.repeats.last().map(|repeat| repeat.sequence)),
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
