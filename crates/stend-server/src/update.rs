//! A new version on all nodes, one after the other, while the fleet goes on.
//!
//! `stend fleet update` offers the programs that it is one of. A node whose turn it is takes them, claims nothing more, waits for what it measures, puts
//! them in the place of its own, and begins again as the new version. The next one has its turn when this one is back, so a version that does not begin
//! costs one node.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::extract::Path as InPath;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse as _, Response};
use serde::{Deserialize, Serialize};
use stend_fleet::Lookout;
use tokio_util::io::ReaderStream;

use crate::accounts::fresh_secret;
use crate::archive::{digest, is_digest};
use crate::database::{Database, Edit};
use crate::error::ServerError;
use crate::fleet::NodeEntry;
use crate::health::{Places, is_measured};
use crate::joined::Joined;
use crate::journal::Kind;
use crate::lab::{Lab, UPLOADS};
use crate::peers::{self, Wanted};
use crate::problem::Problem;
use crate::work::{DOING, private_directory};

/// The entry of the update that there is.
pub(crate) const UPDATE: &str = "update";

/// The programs of a version, which lie beside each other. The first one is always there.
const PROGRAMS: [&str; 3] = ["stend", "stend-probe", "morse"];

/// No program is longer.
const LARGEST: u64 = 512 << 20;

/// How often is looked whether a node is free.
const LOOK: Duration = Duration::from_millis(200);

/// A node that is silent for so many leases is not waited for.
const LEASES: u32 = 4;

/// How soon an agent tries again what failed.
const RETRIED: Duration = Duration::from_secs(30);

/// Programs that are offered to all nodes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Update {
    /// No other update has this word.
    word: String,
    /// What `stend` says of itself.
    version: String,
    /// The programs, by their names.
    programs: BTreeMap<String, Program>,
    /// The node that offers them.
    from: String,
    /// The node whose turn it is, until it is back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    turn: Option<String>,
    /// Why no more nodes are updated: the node, and what it said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    failed: Option<(String, String)>,
}

impl Update {
    /// The SHA-256 of the new `stend`.
    pub(crate) fn wanted(&self) -> Option<&str> {
        self.programs.get(PROGRAMS[0]).map(|program| program.sha256.as_str())
    }
}

/// A program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Program {
    sha256: String,
    size: u64,
}

/// The SHA-256 of the program that this process is, which tells versions from each other that have one number.
pub(crate) fn own_digest() -> Option<String> {
    digest(Path::new("/proc/self/exe")).ok().map(|(sha256, _)| sha256)
}

fn directory(store: &Path) -> PathBuf {
    store.join("programs")
}

/// Where the programs of a version are that lie with this one.
fn beside(program: &Path, name: &str) -> PathBuf {
    if name == PROGRAMS[0] { program.to_owned() } else { program.with_file_name(name) }
}

/// The same path with more behind its name.
fn and(path: &Path, more: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(more);
    name.into()
}

/// What a program says of itself.
fn version(program: &Path) -> std::io::Result<String> {
    let output = Command::new(program).arg("--version").output()?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Offers a program, and those that lie beside it, to a fleet.
fn offer(store: &Path, program: &Path, joined: &Joined, database: &Database) -> Result<(), ServerError> {
    private_directory(&directory(store)).map_err(ServerError::system("the programs"))?;
    let mut programs = BTreeMap::new();
    for name in PROGRAMS {
        let path = beside(program, name);
        if name != PROGRAMS[0] && !path.exists() {
            continue;
        }
        let (sha256, size) = digest(&path).map_err(ServerError::system("the programs"))?;
        let kept = directory(store).join(&sha256);
        if !digest(&kept).is_ok_and(|found| found.0 == sha256) {
            std::fs::copy(&path, &kept).map_err(ServerError::system("the programs"))?;
        }
        programs.insert(name.to_owned(), Program { sha256, size });
    }
    let version = version(program).map_err(ServerError::system("the programs"))?;
    let (word, from) = (fresh_secret(), joined.node.clone());
    let update = Update { word, version, programs, from, turn: None, failed: None };
    database.change(|edit| {
        // Another one before it is given up, also if a node that had its turn is not back.
        edit.put(UPDATE, &update);
        edit.note(Kind::UpdateOffered, None, &joined.node, &update.version);
        Ok(())
    })
}

/// Updates the fleet of a store to a program and those that lie beside it. `told` is given how far it is, first and whenever that changes, until all
/// nodes that are heard of have had their turn, one has failed, or one is not back from its turn.
pub(crate) fn update(store: &Path, program: &Path, mut told: impl FnMut(&Updating)) -> Result<Updating, ServerError> {
    let joined = Joined::read(store)?.ok_or_else(crate::no_fleet)?;
    let database = Database::open(store, Some(&joined), "update")?;
    offer(store, program, &joined, &database)?;
    let (mut lookout, began) = (Lookout::default(), Instant::now());
    let mut last = None;
    loop {
        // A node that is away for a moment has a server that does not answer, and agrees again.
        let Ok(heard) = lookout.hear(&**database.0.agreement(), || began.elapsed()) else {
            std::thread::sleep(LOOK);
            continue;
        };
        let is_silent = |node: &String| heard.get(node).is_none_or(|heard| heard.silence >= joined.lease * LEASES);
        let _ = database.0.catch_up(Duration::ZERO);
        let Some(now) = progress(&database) else { return Err(ServerError::Missing("the fleet has no update".into())) };
        if last.as_ref() != Some(&now) {
            told(&now);
        }
        let is_over = match &now.turn {
            Some(node) => is_silent(node),
            None => now.open.iter().all(is_silent),
        };
        if now.failed.is_some() || is_over {
            return Ok(now);
        }
        last = Some(now);
        std::thread::sleep(LOOK);
    }
}

/// How far the update of a fleet is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Updating {
    /// The nodes and agents that are the new version.
    pub done: Vec<String>,
    /// The nodes that are not yet.
    pub open: Vec<String>,
    /// Agents that are not yet, which follow by themselves, and nodes of a version that has no updates.
    pub later: Vec<String>,
    /// The node whose turn it is.
    pub turn: Option<String>,
    /// Why no more nodes are updated: the node, and what it said.
    pub failed: Option<(String, String)>,
}

/// How far the update is of a fleet that a database is of.
pub(crate) fn progress(database: &Database) -> Option<Updating> {
    let known = database.known();
    let update = known.update.get("")?;
    let is_new = |(_, node): &(&str, &NodeEntry)| node.program.as_deref() == update.wanted();
    let (done, rest): (Vec<_>, Vec<_>) = known.nodes.iter().partition(is_new);
    let is_later = |(_, node): &(&str, &NodeEntry)| node.is_agent() || node.program.is_none();
    let (later, open): (Vec<_>, Vec<_>) = rest.into_iter().partition(is_later);
    let names = |nodes: Vec<(&str, _)>| nodes.into_iter().map(|(name, _)| name.to_owned()).collect();
    let (turn, failed) = (update.turn.clone(), update.failed.clone());
    Some(Updating { done: names(done), open: names(open), later: names(later), turn, failed })
}

impl Edit<'_, '_> {
    /// Gives a node its turn, or keeps it; whether it has it.
    fn take_turn(&mut self, word: &str, node: &str) -> bool {
        let Some(update) = self.known.update.get("").cloned().filter(|update| update.word == word) else {
            return false;
        };
        if update.failed.is_some() || update.turn.as_ref().is_some_and(|other| other != node) {
            return false;
        }
        if update.turn.is_none() {
            self.put(UPDATE, &Update { turn: Some(node.to_owned()), ..update });
        }
        true
    }

    /// Ends the turn of a node: it is the new version, or it says why not.
    fn end_turn(&mut self, node: &str, why: Option<&str>) -> Result<(), ServerError> {
        let Some(update) = self.known.update.get("").filter(|update| update.turn.as_deref() == Some(node)).cloned()
        else {
            return Ok(());
        };
        let failed = why.map(|why| (node.to_owned(), why.to_owned()));
        let (kind, said) = match why {
            Some(why) => (Kind::UpdateFailed, why.to_owned()),
            None => (Kind::NodeUpdated, update.version.clone()),
        };
        self.put(UPDATE, &Update { turn: None, failed, ..update });
        self.note(kind, None, node, &said);
        Ok(())
    }
}

/// Follows the updates of a fleet, as the node or agent that this is, for ever. Where there is one, this process becomes another program.
pub(crate) fn keep(lab: &Arc<Lab>, own: Option<String>) {
    let Some(fleet) = &lab.fleet else { return };
    let (lab, node) = (Arc::clone(lab), fleet.node.clone());
    std::thread::spawn(move || {
        let (mut last, mut told) = (None, None);
        loop {
            let update = lab.known().update.get("").cloned().filter(|update| update.failed.is_none());
            if let Some(update) = update.filter(|update| last.as_ref() != Some(&update.word)) {
                match step(&lab, &node, own.as_deref(), &update) {
                    Ok(false) => {}
                    Ok(true) => last = Some(update.word),
                    Err(why) => {
                        say_why(&lab, &node, &why.to_string(), told.as_ref() != Some(&update.word));
                        told = Some(update.word);
                        std::thread::sleep(RETRIED);
                    }
                }
            }
            std::thread::sleep(LOOK);
        }
    });
}

/// Does what is this node's part of an update; whether there is nothing more to do.
fn step(lab: &Lab, node: &str, own: Option<&str>, update: &Update) -> Result<bool, ServerError> {
    let is_agent = lab.through.is_some();
    if is_new(lab, own, update) {
        keep_programs(lab, update);
        return Ok(is_agent || lab.database.change(|edit| edit.end_turn(node, None)).is_ok());
    }
    // An agent sees an update when its node has had its turn, and is nobody's neighbour.
    let may = is_agent || lab.database.change(|edit| Ok(edit.take_turn(&update.word, node))).unwrap_or(false);
    if may { become_new(lab, update).map(|()| false) } else { Ok(false) }
}

/// Says why this node is not the new version. With a node the update ends; an agent says it once, and tries again.
fn say_why(lab: &Lab, node: &str, why: &str, is_first: bool) {
    lab.is_draining.store(false, Ordering::SeqCst);
    lab.changed();
    // What cannot be said now is said when it is tried again.
    let _ = lab.database.change(|edit| {
        if lab.through.is_none() {
            edit.end_turn(node, Some(why))?;
        } else if is_first {
            edit.note(Kind::UpdateFailed, None, node, why);
        }
        Ok(())
    });
}

/// Has the programs of an update for whoever asks this node, and no others.
fn keep_programs(lab: &Lab, update: &Update) {
    let _ = private_directory(&directory(&lab.store));
    for (name, program) in &update.programs {
        let kept = directory(&lab.store).join(&program.sha256);
        if !kept.exists() {
            let aside = and(&kept, ".new");
            // What is not there is asked for elsewhere.
            let _ = std::fs::copy(beside(&lab.program, name), &aside).and_then(|_| std::fs::rename(&aside, &kept));
        }
    }
    let is_kept = |name: &str| update.programs.values().any(|program| program.sha256 == name);
    for file in std::fs::read_dir(directory(&lab.store)).into_iter().flatten().flatten() {
        if !file.file_name().to_str().is_some_and(is_kept) {
            let _ = std::fs::remove_file(file.path());
        }
    }
}

/// Whether this process and the programs beside it are those of an update.
fn is_new(lab: &Lab, own: Option<&str>, update: &Update) -> bool {
    let is_it = |(name, program): (&String, &Program)| {
        name == PROGRAMS[0]
            || digest(&beside(&lab.program, name)).is_ok_and(|found| found == (program.sha256.clone(), program.size))
    };
    update.wanted() == own && update.programs.iter().all(is_it)
}

/// Programs that are to be replaced, and beside each the new one until it has its place.
#[derive(Default)]
struct Replaced(Vec<(PathBuf, PathBuf)>);

impl Drop for Replaced {
    fn drop(&mut self) {
        self.0.iter().for_each(|(_, aside)| drop(std::fs::remove_file(aside)));
    }
}

/// Becomes the new version. It comes back only if that cannot be.
fn become_new(lab: &Lab, update: &Update) -> Result<(), ServerError> {
    let refused = |said: String| Err(ServerError::Refused(said));
    let mut replaced = Replaced::default();
    for (name, program) in &update.programs {
        if !PROGRAMS.contains(&name.as_str()) || !is_digest(&program.sha256) || program.size > LARGEST {
            return refused(format!("{name}: it is no program of stend"));
        }
        let kept = fetch(lab, update, program)?;
        // Beside the old one, since that is where it can take its place at once, and by another name until then.
        let old = beside(&lab.program, name);
        let aside = and(&old, ".new");
        replaced.0.push((old.clone(), aside.clone()));
        let copy = || -> std::io::Result<()> {
            std::fs::copy(&kept, &aside)?;
            std::fs::set_permissions(&aside, std::fs::Permissions::from_mode(0o755))?;
            File::open(&aside)?.sync_all()
        };
        copy().or_else(|error| refused(format!("{}: {error}", old.display())))?;
    }
    let said = version(&and(&lab.program, ".new"));
    if !said.as_ref().is_ok_and(|said| *said == update.version) {
        let said = said.unwrap_or_else(|error| error.to_string());
        return refused(format!("the new stend does not run here: it says \"{}\"", crate::api::brief(&said)));
    }
    // What is measured here now is measured by the old version to its end.
    lab.is_draining.store(true, Ordering::SeqCst);
    lab.changed();
    let lock = Places::here().lock;
    let is_busy = || {
        let is_at_work = lab.doing.available_permits() < DOING || lab.uploads.available_permits() < UPLOADS;
        is_at_work || !lab.attended().is_empty() || is_measured(&lock)
    };
    // An agent does not see an update for a while, when it asks another node.
    let is_wanted = || match lab.known().update.get("") {
        Some(now) => now.word == update.word && (lab.through.is_some() || now.turn.as_deref() == Some(lab.here())),
        None => lab.through.is_some(),
    };
    while is_wanted() && is_busy() {
        std::thread::sleep(LOOK);
    }
    if !is_wanted() {
        return refused("another update was offered".into());
    }
    for (old, aside) in &replaced.0 {
        let before = and(old, ".before");
        let _ = std::fs::remove_file(&before);
        // It may be the first one of its name.
        let _ = std::fs::hard_link(old, &before);
        std::fs::rename(aside, old).or_else(|error| refused(format!("{}: {error}", old.display())))?;
    }
    let error = Command::new(&lab.program).args(std::env::args_os().skip(1)).exec();
    refused(format!("{}: {error}", lab.program.display()))
}

/// A program of an update in this store: it is there, or a node gives it.
fn fetch(lab: &Lab, update: &Update, program: &Program) -> Result<PathBuf, ServerError> {
    let Program { sha256, size } = program;
    private_directory(&directory(&lab.store)).map_err(ServerError::system("the programs"))?;
    let to = directory(&lab.store).join(sha256);
    if digest(&to).is_ok_and(|found| found == (sha256.clone(), *size)) {
        return Ok(to);
    }
    let path = format!("/api/v1/programs/{sha256}");
    let wanted = Wanted { path, sha256, size: *size, first: &update.from };
    match &lab.through {
        Some(through) => through.fetch(&wanted, &to)?,
        None => peers::fetch(lab, &wanted, &to)?,
    }
    Ok(to)
}

/// A program of an update.
pub(crate) async fn file(lab: crate::api::Served, InPath(sha256): InPath<String>) -> Result<Response, Problem> {
    let missing = || Problem::not_found("this node has no program of this SHA-256");
    if !is_digest(&sha256) {
        return Err(missing());
    }
    let file = tokio::fs::File::open(directory(&lab.store).join(&sha256)).await.map_err(|_| missing())?;
    Ok(([(CONTENT_TYPE, "application/octet-stream")], Body::from_stream(ReaderStream::new(file))).into_response())
}
