//! What the server keeps beside the store: the queue, the schedule, who may sign in, and the journal. One node has it in a SQLite file, and all of it in
//! its memory too: reading asks nobody, and what changes is changed on the condition that nothing was missed.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::{Deref, DerefMut};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use stend_fleet::{
    Agreement, Alone, Change, Claims, Committed, Condition, Draft, Entry, Known, Mirror, Reading, Revision, Table,
};

use crate::accounts::{Account, Kept};
use crate::archive::Archived;
use crate::error::ServerError;
use crate::fleet::NodeEntry;
use crate::former::Former;
use crate::gate::{AGENT, Myself};
use crate::jobs::{Chosen, Job, Ordered, Progress};
use crate::joined::Joined;
use crate::journal::Noted;
use crate::older;
use crate::schedule::Planned;
use crate::tell::Place;
use crate::update::{UPDATE, Update};

/// The file of one node, in the directory of the store.
const FILE: &str = "server.db";

/// What a table is called, and its entries behind a slash.
pub(crate) const USERS: &str = "users";

/// All that is kept, as it was last seen.
#[derive(Default)]
pub(crate) struct Records {
    /// By name. They are one entry: that one admin is left is a matter of all.
    pub(crate) users: Table<BTreeMap<String, Account>>,
    /// By the digests of what is secret.
    pub(crate) secrets: Table<Kept>,
    /// By the number of the first of its jobs.
    pub(crate) orders: Table<Ordered>,
    /// How far jobs are, by their numbers; none of one that has not begun.
    pub(crate) progress: Table<Progress>,
    /// The machines that were chosen for the labels of orders, by the numbers of the orders.
    pub(crate) chosen: Table<Chosen>,
    /// The lines of the schedule, by their numbers.
    pub(crate) lines: Table<Planned>,
    /// The last numbers that were given.
    pub(crate) counts: Table<i64>,
    /// The entries of the journal, by their numbers.
    pub(crate) journal: Table<Noted>,
    /// What changes found, by the numbers of their entries in the journal.
    pub(crate) former: Table<Former>,
    /// The places of those who are told, by their names.
    pub(crate) places: Table<Place>,
    /// When a file was last sent, by its SHA-256.
    pub(crate) files: Table<i64>,
    /// The nodes of a fleet, by their names.
    pub(crate) nodes: Table<NodeEntry>,
    /// The finished runs of a fleet, by their ids.
    pub(crate) archive: Table<Archived>,
    /// Which nodes work for which jobs.
    pub(crate) claims: Claims,
    /// The jobs of all orders, with how far they are.
    pub(crate) jobs: BTreeMap<i64, Job>,
    /// Those that have not ended.
    pub(crate) open: BTreeSet<i64>,
    /// The same, by their machines.
    pub(crate) open_on: BTreeMap<String, BTreeSet<i64>>,
    /// The update of a fleet that was offered last.
    pub(crate) update: Table<Update>,
    /// Which agent this is, if it is one.
    pub(crate) myself: Option<Myself>,
    /// The numbers of jobs, by their runs.
    pub(crate) of_run: HashMap<String, i64>,
}

/// The key of an entry that has a number: in the order of the numbers.
pub(crate) fn numbered(id: i64) -> String {
    format!("{id:012}")
}

impl Known for Records {
    fn set(&mut self, key: &str, entry: Option<&Entry>) {
        let (table, rest) = key.split_once('/').unwrap_or((key, ""));
        match table {
            USERS => self.users.set(rest, entry),
            "secret" => self.secrets.set(rest, entry),
            "order" => {
                if entry.is_none() {
                    self.forget_order(rest);
                }
                self.orders.set(rest, entry);
                self.take_order(rest);
            }
            "job" => {
                self.progress.set(rest, entry);
                if let Ok(id) = rest.parse() {
                    self.take_progress(id);
                }
            }
            "chosen" => {
                self.chosen.set(rest, entry);
                self.take_chosen(rest);
            }
            "line" => self.lines.set(rest, entry),
            "count" => self.counts.set(rest, entry),
            "journal" => self.journal.set(rest, entry),
            "former" => self.former.set(rest, entry),
            "told" => self.places.set(rest, entry),
            "file" => self.files.set(rest, entry),
            "node" => self.nodes.set(rest, entry),
            "archive" => self.archive.set(rest, entry),
            UPDATE => self.update.set(rest, entry),
            AGENT => self.myself = entry.and_then(|entry| serde_json::from_str(&entry.value).ok()),
            // Or of a newer version.
            _ => drop(self.claims.set(key, entry)),
        }
    }

    fn revision(&self, key: &str) -> Option<Revision> {
        let (table, rest) = key.split_once('/').unwrap_or((key, ""));
        match table {
            USERS => self.users.revision(rest),
            "secret" => self.secrets.revision(rest),
            "order" => self.orders.revision(rest),
            "job" => self.progress.revision(rest),
            "chosen" => self.chosen.revision(rest),
            "line" => self.lines.revision(rest),
            "count" => self.counts.revision(rest),
            "journal" => self.journal.revision(rest),
            "former" => self.former.revision(rest),
            "told" => self.places.revision(rest),
            "file" => self.files.revision(rest),
            "node" => self.nodes.revision(rest),
            "archive" => self.archive.revision(rest),
            UPDATE => self.update.revision(rest),
            _ => self.claims.revision(key),
        }
    }
}

/// Makes an empty file for the user alone, where there is none: hashes of passwords are nobody else's. SQLite gives its other files the same mode.
pub(crate) fn private_file(path: &Path) -> std::io::Result<()> {
    std::fs::OpenOptions::new().create(true).append(true).mode(0o600).open(path).map(drop)
}

/// Changes that are drawn up: what they do is in the module of what they change.
pub(crate) struct Edit<'a, 'b>(&'a mut Draft<'b, Records>);

impl<'b> Deref for Edit<'_, 'b> {
    type Target = Draft<'b, Records>;

    fn deref(&self) -> &Self::Target {
        self.0
    }
}

impl DerefMut for Edit<'_, '_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        self.0
    }
}

/// Where it is kept.
#[derive(Clone)]
pub(crate) struct Database(pub(crate) Arc<Mirror<Records>>);

impl std::fmt::Debug for Database {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // What is in it is nobody else's.
        formatter.write_str("Database")
    }
}

impl Database {
    /// Opens what a fleet agrees on, if the store is of one; otherwise the file in the store's directory, which is made where there is none. One of an
    /// older format becomes one of this format. `purpose` says what for: two of one node and purpose are never open to change anything at once.
    pub(crate) fn open(directory: &Path, joined: Option<&Joined>, purpose: &str) -> Result<Self, ServerError> {
        let agreement: Arc<dyn Agreement> = match joined {
            Some(joined) => Arc::new(joined.etcd(directory)?),
            None => Arc::new(alone(&directory.join(FILE))?),
        };
        let name = joined.map_or_else(|| purpose.to_owned(), |joined| format!("{}/{purpose}", joined.node));
        Ok(Self(Arc::new(Mirror::open(agreement, &name)?)))
    }

    /// What is kept, as it is now. Nothing changes while this is held, so it is held for a moment.
    pub(crate) fn known(&self) -> Reading<'_, Records> {
        self.0.known()
    }

    /// Makes changes, all or none. They are drawn up again where others come before.
    pub(crate) fn change<T>(&self, draw_up: impl Fn(&mut Edit) -> Result<T, ServerError>) -> Result<T, ServerError> {
        self.0.change(|draft| draw_up(&mut Edit(draft)))
    }
}

fn alone(path: &Path) -> Result<Alone, ServerError> {
    private_file(path).map_err(ServerError::system(FILE))?;
    older::renew(path).map_err(|source| ServerError::Database { path: path.to_owned(), source })?;
    Ok(Alone::open(path)?)
}

/// Whether an entry is of work that is under way here and now, and of no use elsewhere.
fn is_of_now(key: &str) -> bool {
    ["lab/claim/", "lab/machine/"].iter().any(|prefix| key.starts_with(prefix))
        || !["lab/", "text/"].iter().any(|prefix| key.starts_with(prefix))
}

/// What a fleet takes over from the server that its first node had, as changes, with the machine by its name.
pub(crate) fn to_move(store: &Path, node: &str) -> Result<Vec<Change>, ServerError> {
    let path = store.join(FILE);
    if !path.exists() {
        return Ok(Vec::new());
    }
    let mut changes = Vec::new();
    for entry in alone(&path)?.list("")?.entries {
        let key = entry.key.as_str();
        if is_of_now(key) {
            continue;
        }
        let strange = |error: serde_json::Error| ServerError::Refused(format!("{}: {key}: {error}", path.display()));
        let value = match key.strip_prefix("lab/").and_then(|rest| rest.split_once('/')) {
            Some(("order", _)) => changed(&entry.value, |ordered: &mut Ordered| ordered.name_machine(node)),
            Some(("chosen", _)) => changed(&entry.value, |chosen: &mut Chosen| chosen.name_machine(node)),
            Some(("line", _)) => changed(&entry.value, |line: &mut Planned| line.name_machine(node)),
            Some(("former", _)) => changed(&entry.value, |former: &mut Former| former.name_machine(node)),
            _ => Ok(entry.value),
        };
        let value = value.map_err(strange)?;
        changes.push(Change::Put(entry.key, value));
    }
    Ok(changes)
}

/// An entry after a change.
fn changed<T: Serialize + DeserializeOwned>(entry: &str, change: impl FnOnce(&mut T)) -> serde_json::Result<String> {
    let mut read = serde_json::from_str(entry)?;
    change(&mut read);
    serde_json::to_string(&read)
}

/// Copies what the server of a store keeps, or its fleet, to a directory that is there. It becomes a file of one node.
pub(crate) fn copy(store: &Path, to: &Path) -> Result<(), ServerError> {
    let path = store.join(FILE);
    let mut all = match Joined::read(store)? {
        Some(joined) => joined.etcd(store)?.list("")?.entries,
        None if path.exists() => alone(&path)?.list("")?.entries,
        None => return Ok(()),
    };
    all.retain(|entry| !is_of_now(&entry.key));
    let copy = alone(&to.join(FILE))?;
    for entries in all.chunks(stend_fleet::MOST_CHANGES) {
        let absent: Vec<_> = entries.iter().map(|entry| Condition::Absent(entry.key.clone())).collect();
        let put: Vec<_> = entries.iter().map(|entry| Change::Put(entry.key.clone(), entry.value.clone())).collect();
        if copy.commit(&absent, &put)? == Committed::Refused {
            return Err(ServerError::Refused(format!("{}: somebody else writes to it", to.display())));
        }
    }
    Ok(())
}
