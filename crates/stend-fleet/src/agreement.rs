//! The trait, and the nouns of it.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Counts the changes of an agreement, from 1. A later change has a higher one.
pub type Revision = i64;

/// A text, and the change that made it so.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Its key: parts, separated by slashes.
    pub key: String,
    /// The text.
    pub value: String,
    /// The revision of its last change.
    pub revision: Revision,
}

/// The entries below a prefix, by their keys, as they were at one revision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listing {
    /// The entries.
    pub entries: Vec<Entry>,
    /// At which revision; [`Agreement::watch`] goes on behind it.
    pub revision: Revision,
}

/// No commit has more changes, nor more conditions: etcd takes no more.
pub const MOST_CHANGES: usize = 128;

/// What must be so for a change to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Condition {
    /// The entry was last changed at this revision.
    Unchanged(String, Revision),
    /// There is no such entry.
    Absent(String),
}

/// A change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// Sets the text of a key.
    Put(String, String),
    /// Removes an entry.
    Remove(String),
}

/// What became of changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Committed {
    /// All were made, at this revision.
    At(Revision),
    /// A condition does not hold, and none was made.
    Refused,
}

/// One of those that keep an agreement together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// Where it is.
    pub address: String,
    /// How it is, or why it does not say so.
    pub health: Result<Health, Trouble>,
}

/// How a member is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Health {
    /// Its version: `3.4.23`.
    pub version: String,
    /// Which cluster it is of: members that agree with each other say the same.
    pub cluster: String,
    /// So many bytes its database has on the disk.
    pub size: u64,
    /// Whether the others follow it.
    pub is_leader: bool,
    /// What it says is wrong.
    pub errors: Vec<String>,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Trouble {
    /// Nobody was asked, or nobody could answer: nothing was done.
    #[error("{0}")]
    Unreached(String),
    /// The answer was lost. What was asked for may be done, now or later.
    #[error("{0}; whether it was done is not known")]
    Unknown(String),
    /// It was refused for good, or is no request.
    #[error("{0}")]
    Refused(String),
}

/// Changes as they are made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum News {
    /// An entry was set.
    Put(Entry),
    /// An entry was removed, at this revision.
    Removed(String, Revision),
}

/// Changes that were made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// Those that are news to the watch, in their order: of each commit all.
    pub news: Vec<News>,
    /// All changes up to this revision are told.
    pub revision: Revision,
}

/// Tells of changes, each once and in their order.
pub trait Watch: Send {
    /// The next changes, or how far there are none; the same as before if nothing comes within this time.
    ///
    /// # Errors
    /// The watch is lost, or has missed what is no longer kept. List again, and watch behind that.
    fn next(&mut self, wait: Duration) -> Result<Told, Trouble>;
}

/// A store of texts that all nodes see alike. Reads see every change that was acknowledged before they began.
pub trait Agreement: Send + Sync {
    /// The revision of the last change, if that is found out without asking anybody.
    fn newest(&self) -> Option<Revision> {
        None
    }

    /// Those that keep it together with others, and how they are; none where one keeps it alone.
    fn members(&self) -> Vec<Member> {
        Vec::new()
    }

    /// An entry.
    ///
    /// # Errors
    /// There is no answer.
    fn get(&self, key: &str) -> Result<Option<Entry>, Trouble>;

    /// All entries whose key begins so.
    ///
    /// # Errors
    /// There is no answer.
    fn list(&self, prefix: &str) -> Result<Listing, Trouble>;

    /// Makes all of these changes if all conditions hold, or none: [`MOST_CHANGES`] at most, each of another key.
    ///
    /// # Errors
    /// There is no answer. After [`Trouble::Unknown`] a read says what was done, once it cannot be done any more: so each change needs a condition.
    fn commit(&self, conditions: &[Condition], changes: &[Change]) -> Result<Committed, Trouble>;

    /// Tells of changes below a prefix behind this revision.
    ///
    /// # Errors
    /// There is no answer, or those changes are no longer kept.
    fn watch(&self, prefix: &str, behind: Revision) -> Result<Box<dyn Watch>, Trouble>;
}
