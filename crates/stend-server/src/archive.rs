//! The archive of a fleet: finished runs as files that do not change, each by its SHA-256 on every node, and in every node's own store.
//!
//! A node offers the runs that it has finished, and takes those that others offer. What it has it reads again by the hour, and takes anew what is no
//! longer what it was. Where so many copies are enough, the other nodes remove their file when those have theirs, and keep the run in their store. Of a
//! run that was removed a mark stays, by which each node removes what it has of it, however late it comes.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::extract::Path as InPath;
use axum::http::StatusCode;
use axum::http::header::{CONTENT_TYPE, RETRY_AFTER};
use axum::response::{IntoResponse as _, Response};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use stend_fleet::{Agreement, FOLLOWED};
use stend_model::identity::digest_of_stream;
use stend_model::record::Summary;
use stend_model::run::RunState;
use stend_store::{Store, read_export};
use tokio_util::io::ReaderStream;

use crate::api::imports::{LARGEST, uploaded};
use crate::copies::Nodes;
use crate::database::{Database, Edit, Records, numbered};
use crate::error::ServerError;
use crate::fleet::Held;
use crate::health::{Places, is_measured};
use crate::jobs::{Job, State};
use crate::journal::Kind;
use crate::lab::Lab;
use crate::order::is_plain_name;
use crate::peers::{self, Wanted};
use crate::problem::Problem;
use crate::work::{self, private_directory};

/// How often is looked for what is to be taken or offered, beside whenever something has changed.
const LOOK: Duration = Duration::from_secs(20);

/// How often each file is read again.
const CHECK: Duration = Duration::from_secs(3600);

/// A run in the archive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Archived {
    /// The SHA-256 of its file.
    pub(crate) sha256: String,
    /// The file's length in bytes.
    size: u64,
    /// The node that offered it.
    pub(crate) node: String,
    /// That it was removed. A version that does not read this still knows by the rest that the run is not to be offered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) removed: Option<Removed>,
}

impl Archived {
    /// A file that a node offers.
    pub(crate) fn new(sha256: String, size: u64, node: &str) -> Self {
        Self { sha256, size, node: node.to_owned(), removed: None }
    }

    /// Where each node has it that has it.
    fn path(&self) -> String {
        format!("/api/v1/archive/{}", self.sha256)
    }

    /// Whether it says what an entry can say, whoever wrote it.
    pub(crate) fn is_sound(&self) -> bool {
        is_digest(&self.sha256) && self.size <= LARGEST && is_plain_name(&self.node) && self.removed.is_none()
    }
}

/// That a run was removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Removed {
    /// When.
    pub(crate) at: String,
    /// The node on which it was.
    pub(crate) on: String,
}

/// So many runs are removed at once.
const REMOVED: usize = 50;

/// So many are named in an entry of the journal.
const NAMED: usize = 20;

fn directory(lab: &Lab) -> PathBuf {
    lab.store.join("archive")
}

fn place(lab: &Lab, sha256: &str) -> PathBuf {
    directory(lab).join(format!("{sha256}.stend.gz"))
}

/// The SHA-256 of a file, and its length.
pub(crate) fn digest(path: &Path) -> std::io::Result<(String, u64)> {
    let file = File::open(path)?;
    let size = file.metadata()?.len();
    Ok((digest_of_stream(file)?, size))
}

/// Does what a command of this program does, or says what it said.
fn done(lab: &Lab, words: &[String], not_done: &str) -> Result<(), ServerError> {
    let output = lab.command(words).output().map_err(ServerError::system("stend cannot be started"))?;
    let said = || format!("{not_done}: {}", String::from_utf8_lossy(&output.stderr).trim());
    if output.status.success() { Ok(()) } else { Err(ServerError::Refused(said())) }
}

/// Writes a finished run of this node's store as a file of the archive.
pub(crate) fn export(lab: &Lab, run: &str) -> Result<Archived, ServerError> {
    private_directory(&directory(lab)).map_err(ServerError::system("the archive"))?;
    let aside = directory(lab).join(format!("{run}.new"));
    let words = ["export".into(), run.into(), format!("--output={}", aside.display())];
    done(lab, &words, &format!("run {run} is not archived"))?;
    let (sha256, size) = digest(&aside).map_err(ServerError::system("the archive"))?;
    if size > LARGEST {
        let _ = std::fs::remove_file(&aside);
        return Err(ServerError::Refused(format!(
            "run {run} is not archived: a file has {} MiB at most",
            LARGEST >> 20
        )));
    }
    if let Some(through) = &lab.through {
        let sent = through.send(&aside, &sha256);
        let _ = std::fs::remove_file(&aside);
        return Ok(Archived::new(sha256, size, &sent?));
    }
    std::fs::rename(&aside, place(lab, &sha256)).map_err(ServerError::system("the archive"))?;
    let archived = Archived::new(sha256, size, lab.here());
    mark_imported(lab, &archived).map_err(ServerError::system("the archive"))?;
    Ok(archived)
}

/// The file that says that a run of the archive was brought into this node's store.
fn mark(lab: &Lab, archived: &Archived) -> PathBuf {
    directory(lab).join(format!("{}.imported", archived.sha256))
}

/// What a node has in its archive of a run.
fn files(lab: &Lab, archived: &Archived) -> [PathBuf; 2] {
    [place(lab, &archived.sha256), mark(lab, archived)]
}

fn mark_imported(lab: &Lab, archived: &Archived) -> std::io::Result<()> {
    std::fs::write(mark(lab, archived), "")
}

/// Whether a run of the archive was brought into this node's store.
pub(crate) fn is_imported(lab: &Lab, archived: &Archived) -> bool {
    mark(lab, archived).exists()
}

impl Edit<'_, '_> {
    /// Offers a run to all nodes, unless one has.
    pub(crate) fn offer(&mut self, run: &str, archived: &Archived) {
        if self.known.archive.get(run).is_none() {
            self.put(&key(run), archived);
        }
    }

    /// Removes finished runs from all nodes.
    fn remove_runs(&mut self, runs: &[String], node: &str) -> Result<(), ServerError> {
        refuse_what_is_at_work(self.known, runs)?;
        let is_there = |run: &&String| self.known.archive.get(run).is_none_or(|archived| archived.removed.is_none());
        let there: Vec<&str> = runs.iter().filter(is_there).map(String::as_str).collect();
        let removed = Removed { at: Timestamp::now().to_string(), on: node.to_owned() };
        for run in &there {
            if let Some(job) = self.known.job_of_run(run) {
                self.rely_on(&format!("job/{}", numbered(job.id)));
            }
            // One that was not offered yet has no file.
            let none = || Archived::new(String::new(), 0, node);
            let archived = self.known.archive.get(run).cloned().unwrap_or_else(none);
            self.put(&key(run), &Archived { removed: Some(removed.clone()), ..archived });
        }
        if !there.is_empty() {
            self.note_removed(&there, Some(node));
        }
        Ok(())
    }

    /// Notes that runs were removed, in a fleet on which node.
    pub(crate) fn note_removed(&mut self, runs: &[&str], node: Option<&str>) {
        let more = if runs.len() > NAMED { ", …" } else { "" };
        let on = node.map(|node| format!(" ({node})")).unwrap_or_default();
        let named = format!("{}{more}{on}", runs[..runs.len().min(NAMED)].join(", "));
        self.note(Kind::RunsRemoved, None, &runs.len().to_string(), &named);
    }
}

fn key(run: &str) -> String {
    format!("archive/{run}")
}

fn refuse_what_is_at_work(known: &Records, runs: &[String]) -> Result<(), ServerError> {
    let is_open = |run: &&String| known.job_of_run(run).is_some_and(|job| job.state.is_open());
    let open = runs.iter().find(is_open);
    open.map_or(Ok(()), |run| Err(ServerError::Refused(format!("run {run} is in the queue: let it end, or stop it"))))
}

/// Removes finished runs from the fleet of a store: each node then removes what it has of them.
pub(crate) fn remove_runs(database: &Database, runs: &[String], node: &str) -> Result<(), ServerError> {
    refuse_what_is_at_work(&database.known(), runs)?;
    runs.chunks(REMOVED).try_for_each(|some| database.change(|edit| edit.remove_runs(some, node)))
}

/// When and on which node a run was removed from a fleet, if it was: without reading the rest.
pub(crate) fn removed(agreement: &dyn Agreement, run: &str) -> Result<Option<Removed>, ServerError> {
    let entry = agreement.get(&format!("{FOLLOWED}{}", key(run)))?;
    let archived = entry.and_then(|entry| serde_json::from_str::<Archived>(&entry.value).ok());
    Ok(archived.and_then(|archived| archived.removed))
}

/// Keeps the archive of a node, for ever: with a file of each run, or only of those that so many nodes keep.
pub(crate) async fn keep(lab: Arc<Lab>, copies: Option<NonZeroUsize>) {
    let mut changes = lab.changes();
    let mut kept = Kept {
        lock: Places::here().lock,
        copies,
        nodes: Nodes::default(),
        whole: HashSet::new(),
        elsewhere: HashSet::new(),
        gone: HashSet::new(),
        later: HashMap::new(),
        checked: Instant::now(),
    };
    loop {
        let with = Arc::clone(&lab);
        let Ok(after) = tokio::task::spawn_blocking(move || kept.pass(&with)).await else { return };
        kept = after;
        let _ = tokio::time::timeout(LOOK, changes.changed()).await;
    }
}

/// What a node remembers of its archive.
struct Kept {
    /// The file that whoever measures on this machine has locked: nothing is done meanwhile.
    lock: PathBuf,
    /// So many nodes keep a file; otherwise all.
    copies: Option<NonZeroUsize>,
    /// The nodes that share files, where not each has all.
    nodes: Nodes,
    /// The files that are what they should be, by their SHA-256.
    whole: HashSet<String>,
    /// The files that others keep, of runs that are in this node's store.
    elsewhere: HashSet<String>,
    /// The runs that were removed, and of which this node has nothing.
    gone: HashSet<String>,
    /// What could not be taken or offered, by its SHA-256 or run: when it is tried again, and how long after that.
    later: HashMap<String, (Instant, Duration)>,
    /// When they were last read.
    checked: Instant,
}

impl Kept {
    fn pass(mut self, lab: &Lab) -> Self {
        if self.checked.elapsed() >= CHECK && !is_measured(&self.lock) {
            self.whole.clear();
            self.elsewhere.clear();
            self.gone.clear();
            self.checked = Instant::now();
        }
        if self.copies.is_some() {
            let nodes = Nodes::of(&lab.known());
            if self.nodes != nodes {
                self.nodes = nodes;
                self.elsewhere.clear();
            }
        }
        self.remove_removed(lab);
        self.offer_missing(lab);
        self.take_missing(lab);
        self.leave_to_others(lab);
        self.count(lab);
        self
    }

    /// The others that keep a file, if this node need not.
    fn keepers(&self, archived: &Archived, here: &str) -> Option<Vec<&str>> {
        let keepers = self.nodes.keepers(archived, self.copies?);
        (!keepers.contains(&here)).then_some(keepers)
    }

    /// Whether something is to be tried now.
    fn is_due(&self, what: &str) -> bool {
        self.later.get(what).is_none_or(|(next, _)| *next <= Instant::now())
    }

    /// Puts something off that failed, each time for twice as long.
    fn put_off(&mut self, what: &str) {
        let pause = self.later.get(what).map_or(LOOK, |(_, pause)| (*pause * 2).min(CHECK));
        self.later.insert(what.to_owned(), (Instant::now() + pause, pause));
    }

    /// Removes what this node has of runs that were removed.
    fn remove_removed(&mut self, lab: &Lab) {
        let is_new = |(run, archived): &(&str, &Archived)| archived.removed.is_some() && !self.gone.contains(*run);
        let files = |(run, archived): (&str, &Archived)| (run.to_owned(), files(lab, archived));
        let new: HashMap<_, _> = lab.known().archive.iter().filter(is_new).map(files).collect();
        if new.is_empty() || is_measured(&self.lock) {
            return;
        }
        let Ok(runs) = lab.runs() else { return };
        let here = runs.iter().map(|run| &run.id).filter(|run| new.contains_key(*run));
        let (busy, here): (Vec<_>, Vec<_>) = here.cloned().partition(|run| work::process(lab, run).is_some());
        let done =
            if here.is_empty() { Ok(()) } else { Store::open(&lab.store).and_then(|mut store| store.remove(&here)) };
        // What cannot be removed now is tried again with the next change.
        if done.is_err() {
            return;
        }
        for (run, files) in new.into_iter().filter(|(run, _)| !busy.contains(run)) {
            let _ = files.map(std::fs::remove_file);
            self.gone.insert(run);
        }
        if !here.is_empty() {
            lab.changed();
        }
    }

    /// Offers finished runs of this node's store that are not in the archive, also those that were made by hand. A run of the queue is offered by the
    /// node that has finished its job: another one may have measured something else under its name.
    fn offer_missing(&mut self, lab: &Lab) {
        let Ok(runs) = lab.runs() else { return };
        let is_finished = |run: &&Summary| run.state == Some(RunState::Finished);
        let missing: Vec<&str> = {
            let known = lab.known();
            let finished = runs.iter().filter(is_finished).map(|run| run.id.as_str());
            finished.filter(|run| known.archive.get(run).is_none() && may_offer(&known, run, lab.here())).collect()
        };
        for run in missing {
            if is_measured(&self.lock) {
                return;
            }
            if !self.is_due(run) {
                continue;
            }
            let offered = export(lab, run).and_then(|archived| {
                lab.database.change(|edit| {
                    let job = edit.known.job_of_run(run).map(|job| job.id);
                    job.iter().for_each(|id| edit.rely_on(&format!("job/{}", numbered(*id))));
                    if may_offer(edit.known, run, lab.here()) {
                        edit.offer(run, &archived);
                    }
                    Ok(())
                })
            });
            if offered.is_err() {
                self.put_off(run);
            }
        }
    }

    /// Takes runs that others have and this node has not, or has damaged.
    fn take_missing(&mut self, lab: &Lab) {
        let wanted = |(run, archived): (&str, &Archived)| (run.to_owned(), archived.clone());
        let is_unknown = |(_, archived): &(&str, &Archived)| {
            let is_settled = self.whole.contains(&archived.sha256) || self.elsewhere.contains(&archived.sha256);
            archived.removed.is_none() && !is_settled
        };
        let unknown: Vec<_> = lab.known().archive.iter().filter(is_unknown).map(wanted).collect();
        for (run, archived) in unknown {
            if is_measured(&self.lock) {
                return;
            }
            if !self.is_due(&archived.sha256) {
                continue;
            }
            if is_imported(lab, &archived)
                && !place(lab, &archived.sha256).exists()
                && self.keepers(&archived, lab.here()).is_some()
            {
                self.elsewhere.insert(archived.sha256);
                continue;
            }
            match take_one(lab, &run, &archived) {
                Ok(()) => drop(self.whole.insert(archived.sha256)),
                Err(_) => self.put_off(&archived.sha256),
            }
        }
    }

    /// Removes the files that others keep, as soon as all of these have theirs.
    fn leave_to_others(&mut self, lab: &Lab) {
        let is_left = |archived: &&Archived| {
            let is_here = archived.removed.is_none() && self.whole.contains(&archived.sha256);
            is_here && self.is_due(&archived.sha256) && self.keepers(archived, lab.here()).is_some()
        };
        let left: Vec<_> = {
            let known = lab.known();
            let all = known.archive.iter().map(|(_, archived)| archived);
            all.filter(is_left).cloned().collect()
        };
        for archived in left {
            if is_measured(&self.lock) {
                return;
            }
            let has_it = |node: &&str| peers::has(lab, node, &archived.path());
            let are_kept = self.keepers(&archived, lab.here()).is_some_and(|keepers| keepers.iter().all(has_it));
            if are_kept && std::fs::remove_file(place(lab, &archived.sha256)).is_ok() {
                self.whole.remove(&archived.sha256);
                self.elsewhere.insert(archived.sha256);
            } else {
                self.put_off(&archived.sha256);
            }
        }
    }

    /// Says what this node keeps.
    fn count(&self, lab: &Lab) {
        let held = {
            let known = lab.known();
            let all = known.archive.iter().map(|(_, archived)| archived);
            let whole = all.filter(|it| it.removed.is_none() && self.whole.contains(&it.sha256));
            whole.fold(Held::default(), |held, it| Held { runs: held.runs + 1, bytes: held.bytes + it.size })
        };
        *lab.archived.lock().unwrap_or_else(PoisonError::into_inner) = Some(held);
    }
}

/// Whether a run of this node's store is as all should have it.
fn may_offer(known: &Records, run: &str, here: &str) -> bool {
    let is_own = |job: &Job| job.state == State::Finished && job.node.as_ref().is_none_or(|node| node == here);
    known.job_of_run(run).is_none_or(is_own)
}

/// Sees to it that a run of the archive is in this node's archive and store as it should be.
fn take_one(lab: &Lab, run: &str, archived: &Archived) -> Result<(), ServerError> {
    let path = place(lab, &archived.sha256);
    let was_there = path.exists();
    if !digest(&path).is_ok_and(|found| found == (archived.sha256.clone(), archived.size)) {
        // A store that was restored has the run, and not the file.
        let is_in_store = lab.runs()?.iter().any(|known| known.id == run && known.state == Some(RunState::Finished));
        if !(is_in_store && is_same(lab, run, archived)) {
            take(lab, archived)?;
        }
        if was_there {
            lab.database.change(|edit| {
                edit.note(Kind::ArchiveMended, None, run, lab.here());
                Ok(())
            })?;
        }
    }
    if is_imported(lab, archived) {
        return Ok(());
    }
    // Whoever sent it, it is this run that is looked for under its id.
    let file = File::open(&path).map_err(ServerError::system("the archive"))?;
    let (record, _) = read_export(file, run)?;
    if record.run.id != run || record.run.carried {
        return Err(ServerError::Refused(format!("the file of run {run} in the archive is of run {}", record.run.id)));
    }
    if work::process(lab, run).is_some() {
        return Err(ServerError::Refused(format!("run {run} is being measured here")));
    }
    // What this node has of it under an earlier claim, or by itself while it was cut off, is not what counts.
    let mut store = Store::open(&lab.store)?;
    if store.has_run(run)? && !is_same(lab, run, archived) {
        store.remove(&[run.to_owned()])?;
    }
    done(lab, &["import".into(), path.display().to_string()], &format!("run {run} is not imported"))?;
    mark_imported(lab, archived).map_err(ServerError::system("the archive"))?;
    lab.changed();
    Ok(())
}

/// Whether a run of this node's store is as the archive has it: then its file is in its place. That of another one does not stay.
fn is_same(lab: &Lab, run: &str, archived: &Archived) -> bool {
    let Ok(own) = export(lab, run) else { return false };
    let is_same = own.sha256 == archived.sha256;
    if !is_same {
        let _ = files(lab, &own).map(std::fs::remove_file);
    }
    is_same
}

/// Waits until finished runs that others have measured are in this node's store, but not for long.
pub(crate) async fn arrive(lab: &Arc<Lab>, runs: &[&str]) {
    let is_coming = |run: &&str| {
        let archived = lab.known().archive.get(run).cloned();
        archived.is_some_and(|archived| archived.removed.is_none() && !is_imported(lab, &archived))
    };
    let mut changes = lab.changes();
    let arrived = async { while runs.iter().any(is_coming) && changes.changed().await.is_ok() {} };
    let _ = tokio::time::timeout(LOOK, arrived).await;
}

/// Takes a file from whoever has it, first from the node that offered it.
fn take(lab: &Lab, archived: &Archived) -> Result<(), ServerError> {
    let Archived { sha256, size, node, .. } = archived;
    if *size > LARGEST {
        return Err(ServerError::Refused(format!("a file has {} MiB at most", LARGEST >> 20)));
    }
    private_directory(&directory(lab)).map_err(ServerError::system("the archive"))?;
    peers::fetch(lab, &Wanted { path: archived.path(), sha256, size: *size, first: node }, &place(lab, sha256))
}

/// Moves a file to a directory that may be on another filesystem.
fn moved(file: &Path, to: &Path) -> std::io::Result<()> {
    let aside = to.with_extension("new");
    std::fs::copy(file, &aside)?;
    File::open(&aside)?.sync_all()?;
    std::fs::rename(aside, to)
}

/// Keeps a file that an agent sends: its run is in the archive when the agent ends it.
pub(crate) async fn keep_sent(lab: &Arc<Lab>, sha256: &str, body: Body) -> Result<(), Problem> {
    if !is_digest(sha256) {
        return Err(Problem::new(StatusCode::BAD_REQUEST, "this is no SHA-256"));
    }
    let failed = |error: std::io::Error| Problem::new(StatusCode::INSUFFICIENT_STORAGE, error.to_string());
    let _place = lab.uploads.acquire().await.expect("nobody closes it");
    private_directory(&directory(lab)).map_err(failed)?;
    let sent = uploaded(lab, body).await?;
    let (lab, wanted) = (Arc::clone(lab), sha256.to_owned());
    let kept = tokio::task::spawn_blocking(move || {
        let (found, _) = digest(&sent.0).map_err(failed)?;
        if found != wanted {
            return Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "the file has another SHA-256"));
        }
        // Who sent it removes its own.
        File::open(&sent.0).and_then(|file| file.sync_all()).map_err(failed)?;
        let place = place(&lab, &wanted);
        std::fs::rename(&sent.0, &place).or_else(|_| moved(&sent.0, &place)).map_err(failed)?;
        File::open(directory(&lab)).and_then(|directory| directory.sync_all()).map_err(failed)
    });
    kept.await.map_err(|panic| Problem::new(StatusCode::SERVICE_UNAVAILABLE, panic.to_string()))?
}

/// Whether a text is a SHA-256.
pub(crate) fn is_digest(sha256: &str) -> bool {
    sha256.len() == 64 && sha256.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// A file of the archive.
pub(crate) async fn file(lab: crate::api::Served, InPath(sha256): InPath<String>) -> Result<Response, Problem> {
    let missing =
        || Problem::not_found(format!("no run of the archive has the SHA-256 {}", crate::api::brief(&sha256)));
    if !is_digest(&sha256) {
        return Err(missing());
    }
    // Whoever measures here is not disturbed; the others have it too, or will.
    if is_measured(&Places::here().lock) {
        let mut busy =
            Problem::new(StatusCode::SERVICE_UNAVAILABLE, "this node's machine is being measured").into_response();
        busy.headers_mut().insert(RETRY_AFTER, LOOK.as_secs().into());
        return Ok(busy);
    }
    let file = tokio::fs::File::open(place(&lab, &sha256)).await.map_err(|_| missing())?;
    Ok(([(CONTENT_TYPE, "application/gzip")], Body::from_stream(ReaderStream::new(file))).into_response())
}

#[cfg(test)]
mod tests {
    use stend_model::identity::digest_of;
    use stend_store::write_export;

    use super::*;
    use crate::testing;

    fn lab() -> (tempfile::TempDir, Arc<Lab>) {
        let (store, database) = testing::database();
        let lab = Lab::new(store.path().to_owned(), "/bin/true".into(), database, None, false);
        (store, Arc::new(lab))
    }

    fn runtime() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
    }

    /// Where a server that begins removes what was being sent when the last one was killed.
    #[test]
    fn what_an_agent_sends_is_no_part_of_the_archive_until_it_is_there() {
        let (store, lab) = lab();
        let count = |name: &str| std::fs::read_dir(store.path().join(name)).map_or(0, Iterator::count);
        let sent = Body::from_stream(tokio_stream::pending::<std::io::Result<&str>>());
        let sha256 = "0".repeat(64);
        let begun = async {
            loop {
                match (count("server-uploads"), count("archive")) {
                    (0, 0) => tokio::task::yield_now().await,
                    there => return there,
                }
            }
        };
        let there = runtime().block_on(async {
            tokio::select! {
                kept = keep_sent(&lab, &sha256, sent) => panic!("it ends: {:?}", kept.is_ok()),
                there = begun => there,
            }
        });
        assert_eq!(there, (1, 0));
    }

    #[test]
    fn a_file_is_kept_under_its_own_digest_alone() {
        let (_store, lab) = lab();
        let kept = || std::fs::read_dir(directory(&lab)).map_or(0, Iterator::count);
        let own = digest_of(b"a run");
        let send =
            |sha256: &str| runtime().block_on(keep_sent(&lab, sha256, Body::from("a run"))).map_err(|no| no.status());
        for another in [digest_of(b"another run"), own.replace(&own[..1], "x"), "../".repeat(21) + "a"] {
            assert!(send(&another).is_err_and(|status| status.is_client_error()), "{another}");
        }
        assert_eq!(kept(), 0);
        assert_eq!((send(&own), kept()), (Ok(()), 1));
    }

    #[test]
    fn a_file_of_another_run_is_not_taken() {
        let (_store, lab) = lab();
        private_directory(&directory(&lab)).unwrap();
        let mut file = Vec::new();
        write_export(&stend_testing::record("20260101-0000-bbbb", &[1.0]), &[], &mut file).unwrap();
        let path = directory(&lab).join("file");
        std::fs::write(&path, file).unwrap();
        let (sha256, size) = digest(&path).unwrap();
        let archived = Archived::new(sha256, size, "other");
        std::fs::rename(path, place(&lab, &archived.sha256)).unwrap();
        let refused = take_one(&lab, "20260101-0000-aaaa", &archived).unwrap_err().to_string();
        assert!(refused.contains("is of run 20260101-0000-bbbb") && !is_imported(&lab, &archived), "{refused}");
        take_one(&lab, "20260101-0000-bbbb", &archived).unwrap();
        assert!(is_imported(&lab, &archived));
    }
}
