//! Makes what waits: `stend run` and `stend resume` as processes of their own, one a machine at a time.
//!
//! They are not this process's children in any way that counts: they live on when it ends, and the next server finds them again by the run's id among
//! their words. So a run that is watched is the run that nobody watches.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use axum::http::StatusCode;
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, geteuid, kill_process, kill_process_group, waitid};
use stend_fleet::{Change, Claim, Lost};
use stend_model::plain;
use stend_model::run::{Run, RunState};
use stend_stand::hosts::Hosts;
use stend_store::{MeasuringLock, Store, StoreError};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};

use crate::archive::{self, Archived};
use crate::database::Edit;
use crate::error::ServerError;
use crate::files::{self, Directory};
use crate::fleet;
use crate::jobs::{Job, State};
use crate::journal::Kind;
use crate::lab::{Lab, Machine};
use crate::order::Order;
use crate::parts;
use crate::problem::Problem;

/// How often a process that another server started is looked for.
const LOOK: Duration = Duration::from_millis(300);

/// The exit status of a command that could not use the machine.
const AWAY: i32 = 4;

/// So long a machine may still be held for a node that was lost, and so often it is tried.
const LONGEST_HELD: Duration = Duration::from_secs(600);
const RETRIED: Duration = Duration::from_secs(2);

/// How often the queue is looked at if nothing is heard of it.
const LONGEST_SLEEP: Duration = Duration::from_secs(30);

/// What cannot be written down is tried again after so long at most.
const LONGEST_RETRY: Duration = Duration::from_secs(60);

/// So many commands that answer requests run at once: of those that only look, and of those that do something.
pub(crate) const LOOKING: usize = 3;
pub(crate) const DOING: usize = 2;

/// One that takes longer is ended: a machine that is away is given up long before.
pub(crate) const LONGEST_COMMAND: Duration = Duration::from_secs(15 * 60);

/// So much of what a run said an agent leaves.
const LOG_SENT: usize = 16 * 1024;

/// So much of what a run said is shown.
const LOG_SHOWN: u64 = 64 * 1024;

/// Gives each machine that this node reaches its next job, and sees to those that the node has claimed, for ever.
pub(crate) async fn dispatch(lab: Arc<Lab>) {
    let mut changes = lab.changes();
    loop {
        if !lab.fleet.as_ref().is_some_and(|fleet| fleet.is_fenced()) {
            give_out(&lab).await;
        }
        // What was changed while a node did not hear of it wakes nobody.
        if matches!(tokio::time::timeout(LONGEST_SLEEP, changes.changed()).await, Ok(Err(_))) {
            return;
        }
    }
}

async fn give_out(lab: &Arc<Lab>) {
    let reading = Arc::clone(lab);
    let Ok(reached) = tokio::task::spawn_blocking(move || reading.reached_now()).await else { return };
    let (open, claimed) = {
        let known = lab.known();
        let of_jobs = |(job, claim): (&str, &Claim)| Some((job.parse().ok()?, claim.clone()));
        let with_machines = |job: Job| {
            let machines: Vec<_> = reached.iter().filter(|machine| known.may_be_on(&job, machine)).collect();
            (job, machines)
        };
        let open: Vec<_> = known.queue().into_iter().map(with_machines).collect();
        (open, known.claims.all().filter_map(of_jobs).collect::<BTreeMap<i64, Claim>>())
    };
    let mut busy: BTreeSet<&str> = claimed.values().map(|claim| claim.machine.as_str()).collect();
    // The next version has what waits.
    let is_draining = lab.is_draining.load(Ordering::SeqCst);
    // Of several sessions, a round begins when all of the round before have ended: of the open jobs of an order the first is of that round.
    let mut rounds = BTreeMap::new();
    for (job, machines) in &open {
        let has_its_turn =
            job.batch.as_ref().is_none_or(|batch| *rounds.entry(batch).or_insert(job.round) == job.round);
        let is_free =
            |machine: &&&Machine| job.state != State::Waiting || has_its_turn && !busy.contains(machine.name.as_str());
        let claim = match claimed.get(&job.id) {
            Some(claim) => Some(claim.clone()).filter(|claim| claim.node == lab.here()),
            None if is_draining => None,
            None => match machines.iter().find(is_free) {
                Some(machine) => {
                    let claim = claim(lab, job, machine).await;
                    // A job that another node was given leaves the machine to the next one.
                    let is_lost = matches!(claim, Err(ServerError::Lost(_)));
                    if job.state == State::Waiting && !(is_lost && lab.known().claims.on(&machine.name).is_none()) {
                        busy.insert(&machine.name);
                    }
                    claim.ok()
                }
                None => None,
            },
        };
        let Some(claim) = claim else { continue };
        match lab.attended().entry(job.id) {
            Entry::Vacant(entry) => {
                entry.insert(false);
                let job = Job { machine: Some(claim.machine.clone()), ..job.clone() };
                tokio::spawn(attend(Arc::clone(lab), job, claim));
            }
            Entry::Occupied(mut entry) => {
                if job.state == State::Stopping && !*entry.get() {
                    // One that is not there yet is told when it is.
                    *entry.get_mut() = stop(lab, &job.run);
                }
            }
        }
    }
}

/// Claims a job for this node and a machine, and begins it if it waits. So a process that is there is always known of.
async fn claim(lab: &Arc<Lab>, job: &Job, machine: &Machine) -> Result<Claim, ServerError> {
    let (begun, machine, node) = (job.clone(), machine.clone(), lab.here().to_owned());
    let fleet = lab.fleet.as_ref().map(|fleet| fleet.node.clone());
    let claim = move |edit: &mut Edit| {
        let lost = || ServerError::from(Lost(begun.run.clone()));
        let job = edit.known.job(begun.id).ok_or_else(lost)?;
        // Another machine may have been chosen meanwhile.
        edit.rely_on_choice(job);
        if !edit.known.may_be_on(job, &machine) {
            return Err(lost());
        }
        let claim = edit.claim(fleet::claims, &begun.id.to_string(), &machine.name, &node).ok_or_else(lost)?;
        if edit.begin(begun.id, &machine.name, fleet.as_deref()) {
            edit.note(Kind::RunBegan, None, &begun.run, &begun.order.work());
            return Ok(claim);
        }
        // It may have been stopped meanwhile.
        if job.state.is_at_work() { Ok(claim) } else { Err(lost()) }
    };
    lab.change(claim).await
}

/// Sees a job to its end.
async fn attend(lab: Arc<Lab>, job: Job, claim: Claim) {
    if end(&lab, &job, &claim).await.is_none() {
        // Nobody answers, or it is another node's: it is looked at again, but not at once.
        tokio::time::sleep(RETRIED).await;
    }
    lab.attended().remove(&job.id);
    lab.changed();
}

/// The same; nothing if it has not come to an end that counts.
async fn end(lab: &Arc<Lab>, job: &Job, claim: &Claim) -> Option<()> {
    let fences = || lab.fleet.as_ref().map(|fleet| fleet.fences());
    let is_cut_off = |before| lab.fleet.as_ref().is_some_and(|fleet| fleet.is_fenced()) || fences() != before;
    let before = fences();
    let ended = {
        let (lab, job, claim) = (Arc::clone(lab), job.clone(), claim.clone());
        tokio::task::spawn_blocking(move || {
            let ended = see_through_as_a_node(&lab, &job, &claim);
            // Rules are for suites, by the names that their files give them.
            let suite = run_in_store(&lab, &job.run).ok().flatten().map(|run| run.suite.name);
            (ended, suite)
        })
        .await
    };
    let mut is_away = false;
    let (state, reason, suite) = match ended {
        Ok((Ok(ended), suite)) => {
            is_away = ended.is_away && suite.is_none();
            (ended.state, ended.reason, suite)
        }
        Ok((Err(ServerError::Agreement(_) | ServerError::Lost(_)), _)) => return None,
        Ok((Err(error), _)) => (State::Failed, Some(error.to_string()), None),
        Err(panic) => (State::Failed, Some(panic.to_string()), None),
    };
    // What ended because the node was cut off goes on later, here or elsewhere.
    if is_cut_off(before) && state != State::Finished {
        return None;
    }
    let suite = suite.unwrap_or_else(|| job.order.work());
    let archived = if lab.fleet.is_some() && state == State::Finished {
        let (lab, run) = (Arc::clone(lab), job.run.clone());
        tokio::task::spawn_blocking(move || archived(&lab, &run)).await.ok()
    } else {
        None
    };
    let (state, reason, archived) = match archived {
        // Nobody can ask an agent for it later.
        Some(Err(why)) if lab.through.is_some() => (State::Failed, Some(why.to_string()), None),
        archived => (state, reason, archived.and_then(Result::ok)),
    };
    // What an agent's command said nobody can ask it for.
    let log = (lab.through.is_some() && state != State::Finished).then(|| last_part(log(lab, &job.run)));
    // Nothing has begun there: another machine with the label may have the job.
    let others = if is_away { lab.machines().await.unwrap_or_default() } else { Vec::new() };
    let set = {
        let (job, claim) = (job.clone(), claim.clone());
        move |edit: &mut Edit| {
            let id = job.id.to_string();
            edit.hold(fleet::claims, &id, &claim)?;
            if edit.pass_over(job.id, &claim.machine, &others, reason.as_deref()) {
                edit.free(fleet::claims, &id);
                return Ok(());
            }
            let is_set = edit.set(job.id, &[State::Running, State::Stopping], state, reason.as_deref());
            match state {
                State::Finished if is_set => {
                    edit.note(Kind::RunFinished, None, &job.run, &suite);
                    archived.iter().for_each(|archived| edit.offer(&job.run, archived));
                }
                State::Failed if is_set => {
                    edit.note(Kind::RunFailed, None, &job.run, reason.as_deref().unwrap_or_default());
                }
                // Who stopped it has been noted.
                _ => {}
            }
            log.iter().for_each(|log| edit.beside(Change::Put(place_of_log(job.id), log.clone())));
            edit.free(fleet::claims, &id);
            Ok(())
        }
    };
    // What was measured is not measured again because it cannot be written down now.
    let mut pause = RETRIED;
    while let Err(error) = lab.change(set.clone()).await {
        if matches!(error, ServerError::Lost(_)) || lab.fleet.as_ref().is_some_and(|fleet| fleet.is_fenced()) {
            return None;
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(LONGEST_RETRY);
    }
    if lab.fleet.is_some() && state == State::Finished {
        let (lab, job) = (Arc::clone(lab), job.clone());
        // What is left is of no harm.
        let _ = tokio::task::spawn_blocking(move || parts::forget(&lab, &job)).await;
    }
    Some(())
}

/// A finished run as it is archived, or why it is not. What a node cannot archive now it offers later; an agent tries as long as no node answers.
fn archived(lab: &Lab, run: &str) -> Result<Archived, ServerError> {
    let began = Instant::now();
    loop {
        let archived = archive::export(lab, run);
        let is_fenced = || lab.fleet.as_ref().is_some_and(|fleet| fleet.is_fenced());
        match archived {
            Err(ServerError::Agreement(_))
                if lab.through.is_some() && !is_fenced() && began.elapsed() < LONGEST_HELD =>
            {
                std::thread::sleep(RETRIED);
            }
            archived => return archived,
        }
    }
}

/// How a job ended.
struct Ended {
    state: State,
    reason: Option<String>,
    /// Whether the machine could not be used.
    is_away: bool,
}

impl Ended {
    fn as_is(state: State) -> Self {
        Self { state, reason: None, is_away: false }
    }
}

/// The same as [`see_through`], from where another node was, and so that another can go on.
fn see_through_as_a_node(lab: &Lab, job: &Job, claim: &Claim) -> Result<Ended, ServerError> {
    let Some(fleet) = &lab.fleet else { return see_through(lab, job, claim) };
    parts::bring(lab, job)?;
    let (is_over, began) = (AtomicBool::new(false), Instant::now());
    std::thread::scope(|scope| {
        scope.spawn(|| add_parts(lab, job, claim, &is_over));
        let ended = loop {
            let ended = see_through(lab, job, claim);
            // Of a node that was lost a machine may not have heard yet.
            let is_held = ended.as_ref().is_ok_and(|ended| ended.is_away) && claim.owners > 1;
            if !is_held || began.elapsed() > LONGEST_HELD || fleet.is_fenced() || !is_wanted(lab, job, claim) {
                break ended;
            }
            std::thread::sleep(RETRIED);
        };
        is_over.store(true, Ordering::SeqCst);
        ended
    })
}

/// Adds what is made of a run to what all know, until it is over.
fn add_parts(lab: &Lab, job: &Job, claim: &Claim, is_over: &AtomicBool) {
    // What was added under this claim before, or under an earlier one, is looked for first.
    let mut last = None;
    loop {
        // Before the look: what was made until then is added once more.
        let was_over = is_over.load(Ordering::SeqCst);
        // It is another node's: what is made from here on counts for nothing.
        if !is_own(lab, job, claim) {
            if let Some(pid) = process(lab, &job.run) {
                let _ = kill_process_group(pid, Signal::KILL);
            }
            if was_over {
                return;
            }
            std::thread::sleep(LOOK);
            continue;
        }
        let added = match last {
            _ if !parts::are_of_use(lab, job) => Ok(None),
            Some(last) => parts::add(lab, job, claim, last).map(Some),
            None => parts::last(lab, job).map(Some),
        };
        match added {
            Ok(now) => last = now,
            // Nobody answers, or it was added and the answer was lost.
            Err(_) => last = None,
        }
        if was_over {
            return;
        }
        std::thread::sleep(LOOK);
    }
}

/// Starts what is missing of a job, or finds what is at work, and waits for its end.
fn see_through(lab: &Lab, job: &Job, claim: &Claim) -> Result<Ended, ServerError> {
    let mut status = None;
    let directory = Directory::of_run(lab, &job.run);
    let mut was_found = false;
    if let Some(pid) = process_of(lab, &job.run) {
        was_found = true;
        while measures(pid, lab, &job.run) {
            std::thread::sleep(LOOK);
        }
    }
    // In a fleet what was found may have ended because nobody heard of its node.
    if !was_found || lab.fleet.is_some() {
        let begun = state_in_store(lab, &job.run)?;
        match begun {
            Some(RunState::Finished) => return Ok(Ended::as_is(State::Finished)),
            Some(RunState::Open) | None if is_stopping(lab, job) => return Ok(Ended::as_is(State::Stopped)),
            _ => {}
        }
        let words = match begun {
            Some(_) => job.order.words_to_resume(&job.run),
            None => {
                let order = Order { machine: job.machine().to_owned(), ..job.order.clone() };
                [order.words(lab.here()), vec![format!("--id={}", job.run)]].concat()
            }
        };
        if !is_free(lab, job, claim)? {
            return Ok(Ended::as_is(State::Stopped));
        }
        let beat = lab.fleet.as_ref().map(|fleet| fleet.words(&lab.store));
        let mut command = lab.command(&[beat.into_iter().collect(), words].concat());
        directory.enter(&lab.files_of(&job.order)?, &mut command)?;
        if lab.fleet.is_some() {
            // What this node knows may be old: that it has the job still is asked of all.
            lab.database.change(|edit| {
                edit.hold(fleet::claims, &job.id.to_string(), claim)?;
                edit.beside(Change::Put(parts::began(job), claim.word.clone()));
                Ok::<_, ServerError>(())
            })?;
        }
        status = Some(start(lab, job, command)?);
    }
    let asked_to_stop = is_stopping(lab, job);
    let code = status.and_then(code);
    Ok(match (state_in_store(lab, &job.run)?, code) {
        (Some(RunState::Finished), _) => Ended::as_is(State::Finished),
        (_, Some(130)) => Ended::as_is(State::Stopped),
        _ if asked_to_stop => Ended::as_is(State::Stopped),
        _ => Ended { state: State::Failed, reason: last_line(lab, &job.run), is_away: code == Some(AWAY) },
    })
}

/// Whether this node has the job, as far as it knows.
fn is_own(lab: &Lab, job: &Job, claim: &Claim) -> bool {
    lab.known().claims.of(&job.id.to_string()) == Some(claim)
}

/// Whether it is to be measured here still.
fn is_wanted(lab: &Lab, job: &Job, claim: &Claim) -> bool {
    is_own(lab, job, claim) && !is_stopping(lab, job)
}

/// Whether somebody has told it to stop by now.
fn is_stopping(lab: &Lab, job: &Job) -> bool {
    lab.known().job(job.id).is_some_and(|job| job.state == State::Stopping)
}

/// Waits until nobody measures the machine with this store by hand; whether the job is still wanted then.
fn is_free(lab: &Lab, job: &Job, claim: &Claim) -> Result<bool, ServerError> {
    let destination = Hosts::read(&lab.store).ok().and_then(|hosts| hosts.lead(lab.name_here(job.machine())).ok());
    let address = destination.filter(|destination| !destination.is_here()).map(|destination| destination.address);
    let mut told = None;
    while let Err(StoreError::Measuring { holder, .. }) = MeasuringLock::take(&lab.store, address.as_deref()) {
        if !is_wanted(lab, job, claim) {
            return Ok(false);
        }
        if told.as_ref() != Some(&holder) {
            let mut log = log_to_write(lab, &job.run)?;
            let _ = writeln!(log, "waiting: the machine is being measured{holder}");
            told = Some(holder);
        }
        std::thread::sleep(LOOK);
    }
    Ok(true)
}

/// Makes a directory for the user alone, where there is none.
pub(crate) fn private_directory(path: &std::path::Path) -> std::io::Result<()> {
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

fn log_to_write(lab: &Lab, run: &str) -> Result<File, ServerError> {
    private_directory(&lab.logs()).map_err(ServerError::system("the directory of logs"))?;
    let mut options = OpenOptions::new();
    options.create(true).append(true).mode(0o600).open(log_of(lab, run)).map_err(ServerError::system("the log"))
}

fn code(status: ExitStatus) -> Option<i32> {
    status.code().or_else(|| status.signal().map(|signal| 128 + signal))
}

/// Runs the command of a job to its end. What it says goes to the run's log.
fn start(lab: &Lab, job: &Job, mut command: Command) -> Result<ExitStatus, ServerError> {
    let log = log_to_write(lab, &job.run)?;
    command.arg("--no-progress").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::from(log));
    // A signal to the server's group is none to the run.
    command.process_group(0);
    let mut child = command.spawn().map_err(ServerError::system("stend cannot be started"))?;
    let pid = Pid::from_child(&child);
    lab.processes().insert(job.run.clone(), pid);
    // Who stopped it before it was there found nothing to stop.
    if is_stopping(lab, job) {
        stop(lab, &job.run);
    }
    lab.changed();
    // Its number is its own until it is waited for.
    while matches!(waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT), Err(Errno::INTR)) {}
    lab.processes().remove(&job.run);
    child.wait().map_err(ServerError::system("stend cannot be waited for"))
}

/// Tells the process of a run to stop, as Ctrl-C does; whether there is one. Of one that has just been started /proc has no words yet.
pub(crate) fn stop(lab: &Lab, run: &str) -> bool {
    let processes = lab.processes();
    let process = processes.get(run).copied().or_else(|| process_of(lab, run));
    process.is_some_and(|pid| kill_process(pid, Signal::INT).is_ok())
}

/// The process that measures a run now.
pub(crate) fn process(lab: &Lab, run: &str) -> Option<Pid> {
    let started = lab.processes().get(run).copied();
    started.or_else(|| process_of(lab, run))
}

/// The process that measures a run.
fn process_of(lab: &Lab, run: &str) -> Option<Pid> {
    let entries = std::fs::read_dir("/proc").ok()?.flatten();
    let mut pids = entries.filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?));
    pids.find(|pid| measures(*pid, lab, run))
}

/// Whether a process is a `stend` of this user that measures a run: the run's id is among its words, and no other store. What it starts has other
/// words, and a zombie has none.
fn measures(pid: Pid, lab: &Lab, run: &str) -> bool {
    let process = PathBuf::from(format!("/proc/{}", pid.as_raw_pid()));
    if std::fs::metadata(&process).map(|process| process.uid()).ok() != Some(geteuid().as_raw()) {
        return false;
    }
    let words = std::fs::read(process.join("cmdline")).unwrap_or_default();
    let words: Vec<&[u8]> = words.split(|byte| *byte == 0).collect();
    let is_command = |command: &str| words.iter().take(COMMAND_PLACE + 1).any(|word| *word == command.as_bytes());
    let has = |wanted: &str| words.contains(&wanted.as_bytes());
    if !(is_command("run") && has(&format!("--id={run}")) || is_command("resume") && has(run)) {
        return false;
    }
    // The same run is in a copy of a store.
    let store = words.iter().position(|word| *word == b"--store").and_then(|at| words.get(at + 1));
    let store = store.and_then(|store| process.join("cwd").join(OsStr::from_bytes(store)).canonicalize().ok());
    store.is_none_or(|store| lab.store.canonicalize().is_ok_and(|own| own == store))
}

fn run_in_store(lab: &Lab, run: &str) -> Result<Option<Run>, ServerError> {
    let store = Store::open_to_read(&lab.store)?;
    Ok(if store.has_run(run)? { Some(store.run(run)?) } else { None })
}

fn state_in_store(lab: &Lab, run: &str) -> Result<Option<RunState>, ServerError> {
    Ok(run_in_store(lab, run)?.map(|run| run.state))
}

fn log_of(lab: &Lab, run: &str) -> PathBuf {
    lab.logs().join(format!("{run}.log"))
}

/// Where an agent leaves the end of what a command said that did not finish its run.
fn place_of_log(job: i64) -> String {
    format!("log/{job}")
}

/// So much of it.
fn last_part(log: String) -> String {
    let from = log.len().saturating_sub(LOG_SENT);
    let from = (from..=log.len()).find(|at| log.is_char_boundary(*at)).unwrap_or_default();
    log[from..].to_owned()
}

/// The end of what a run's command said.
pub(crate) fn log(lab: &Lab, run: &str) -> String {
    let of_agent = {
        let known = lab.known();
        let job = known.job_of_run(run).filter(|job| lab.through.is_none() && known.is_of_agent(job));
        job.map(|job| job.id)
    };
    if let Some(job) = of_agent {
        let left = lab.database.0.agreement().get(&place_of_log(job)).ok().flatten();
        return left.map(|entry| plain::lines(&entry.value).into_owned()).unwrap_or_default();
    }
    let read = || -> std::io::Result<Vec<u8>> {
        let mut file = File::open(log_of(lab, run))?;
        let size = file.metadata()?.len();
        file.seek(SeekFrom::Start(size.saturating_sub(LOG_SHOWN)))?;
        let mut text = Vec::new();
        file.take(LOG_SHOWN).read_to_end(&mut text)?;
        Ok(text)
    };
    files::left_out(&files::of_run(lab, run), &String::from_utf8_lossy(&read().unwrap_or_default()))
}

fn last_line(lab: &Lab, run: &str) -> Option<String> {
    let said = log(lab, run);
    said.lines().map(str::trim).rfind(|line| !line.is_empty()).map(str::to_owned)
}

/// What a command of this program prints that only looks, or why it prints nothing, in its own line.
pub(crate) async fn ask(lab: &Arc<Lab>, words: Vec<String>) -> Result<Vec<u8>, Problem> {
    fine(looked(lab, lab.command(&words)).await?).map(|output| output.stdout)
}

/// The same, with whether a threshold was crossed that is among the words.
pub(crate) async fn ask_if(lab: &Arc<Lab>, words: Vec<String>) -> Result<(bool, Vec<u8>), Problem> {
    let output = fine(looked(lab, lab.command(&words)).await?)?;
    Ok((output.status.code() == Some(1), output.stdout))
}

/// What `stend check` prints of a machine, fit or not.
pub(crate) async fn check(lab: &Arc<Lab>, machine: &str) -> Result<Vec<u8>, Problem> {
    let machine = lab.name_here(machine);
    let output = looked(lab, lab.command(&["check".to_owned(), format!("--on={machine}")])).await?;
    if output.stdout.is_empty() { Err(refused(&output)) } else { Ok(output.stdout) }
}

/// Runs a command that only looks, to its end, or until nobody wants to know any more.
pub(crate) async fn looked(lab: &Arc<Lab>, command: Command) -> Result<Output, Problem> {
    let _one = lab.looking.acquire().await.expect("nobody closes it");
    ended(command, |_| {}).await
}

/// Runs a command that does something or says what would be done. It goes on if who asked goes away: it may be setting up a rig.
/// What it says meanwhile is told line by line.
pub(crate) async fn done(
    lab: &Arc<Lab>,
    words: Vec<String>,
    tell: impl FnMut(&str) + Send + 'static,
) -> Result<Output, Problem> {
    done_with(lab, words, BTreeMap::new(), tell).await
}

/// The same, in a directory with these files.
pub(crate) async fn done_with(
    lab: &Arc<Lab>,
    words: Vec<String>,
    texts: BTreeMap<String, String>,
    tell: impl FnMut(&str) + Send + 'static,
) -> Result<Output, Problem> {
    let lab = Arc::clone(lab);
    let run = tokio::spawn(async move {
        let _one = lab.doing.acquire().await.expect("nobody closes it");
        let mut command = lab.command(&words);
        let directory = Directory::for_now(&lab);
        directory.enter(&texts, &mut command)?;
        let mut output = ended(command, tell).await?;
        for said in [&mut output.stdout, &mut output.stderr] {
            *said = directory.left_out(&String::from_utf8_lossy(said)).into_bytes();
        }
        fine(output)
    });
    run.await.map_err(|panic| Problem::new(StatusCode::SERVICE_UNAVAILABLE, panic.to_string()))?
}

/// The words of a command that does something, beside what it prints.
pub(crate) async fn said(lab: &Arc<Lab>, words: Vec<String>) -> Result<String, Problem> {
    done(lab, words, |_| {}).await.map(|output| String::from_utf8_lossy(&output.stderr).into_owned())
}

pub(crate) fn fine(output: Output) -> Result<Output, Problem> {
    if matches!(output.status.code(), Some(0 | 1 | 3)) { Ok(output) } else { Err(refused(&output)) }
}

async fn ended(command: Command, mut tell: impl FnMut(&str)) -> Result<Output, Problem> {
    let unavailable = |said: String| Problem::new(StatusCode::SERVICE_UNAVAILABLE, said);
    let mut command = tokio::process::Command::from(command);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    let output = async {
        let mut child = command.spawn()?;
        let (out, err) = (child.stdout.take(), child.stderr.take());
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        let printed = async { out.expect("it is piped").read_to_end(&mut stdout).await };
        let said = async {
            let mut err = BufReader::new(err.expect("it is piped"));
            let mut begin = 0;
            while err.read_until(b'\n', &mut stderr).await? > 0 {
                tell(String::from_utf8_lossy(&stderr[begin..]).trim_end());
                begin = stderr.len();
            }
            Ok(())
        };
        let (status, ..) = tokio::try_join!(child.wait(), printed, said)?;
        Ok::<_, std::io::Error>(Output { status, stdout, stderr })
    };
    let output = tokio::time::timeout(LONGEST_COMMAND, output).await;
    let output = output.map_err(|_| unavailable("the command takes too long, and was ended".into()))?;
    output.map_err(|error| match error.kind() {
        // A word with a null character is none.
        ErrorKind::InvalidInput => Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "what is asked for is no plain text"),
        _ => unavailable(error.to_string()),
    })
}

/// Its last line says why.
fn refused(output: &Output) -> Problem {
    let said = String::from_utf8_lossy(&output.stderr);
    let last = said.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("it was ended");
    let is_usage = output.status.code() == Some(2);
    let status = if is_usage { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::SERVICE_UNAVAILABLE };
    Problem::new(status, last.trim_start_matches("stend: "))
}

/// Behind the program and its options for all commands.
const COMMAND_PLACE: usize = 5;

/// A command of the same program, with the same store.
pub(crate) fn command(program: &Path, store: &Path) -> Command {
    let mut command = Command::new(program);
    command.arg("--store").arg(store).arg("--color=never");
    command
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;
    use crate::jobs::Added;
    use crate::order::Order;
    use crate::testing;

    #[test]
    fn a_run_that_is_stopped_before_its_command_has_begun_is_stopped() {
        let (store, database) = testing::database();
        // In the place of a process of which /proc has no words yet, one that has other words.
        let program = store.path().join("program");
        std::fs::write(&program, "#!/bin/sh\nexec sleep 1000\n").unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        let order: Order = serde_json::from_str(r#"{"suite": "quick"}"#).unwrap();
        let batch = order.into();
        let Added::New(jobs) = database.change(|edit| edit.add(&batch, None, None)).unwrap() else {
            panic!("it is new")
        };
        let lab = Lab::new(store.path().to_owned(), program, database, None, false);
        // As the server has it: what a script starts in the background ignores SIGINT, and so would all that it starts.
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let _inside = runtime.enter();
        let _handled = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::interrupt()).unwrap();
        std::thread::scope(|scope| {
            let ended = scope.spawn(|| start(&lab, &jobs[0], lab.command(&["run".into()])));
            while lab.processes().is_empty() {
                assert!(!ended.is_finished());
                std::thread::sleep(Duration::from_millis(10));
            }
            assert!(stop(&lab, &jobs[0].run));
            assert_eq!(code(ended.join().unwrap().unwrap()), Some(130));
        });
        assert!(lab.processes().is_empty());
        assert!(!stop(&lab, &jobs[0].run), "it has ended");
    }
}
