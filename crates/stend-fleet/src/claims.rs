//! Jobs that several nodes share: each is done under one claim at a time, and what is stored of it is stored under the claim that is the last.
//!
//! A claim is an entry, and whoever works for a job changes anything only on the condition that this entry is unchanged: to be allowed to write and to
//! write are one act. So a node that was away too long, or a write that comes late, changes nothing.
//!
//! A node says that it is there by an entry too, which it changes again and again. One that has not changed for a lease, by the clock of whoever looks, is
//! the entry of a node that has stopped its work, if it still runs: it knows of its last change before anybody else does.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::agreement::{Agreement, Change, Committed, Condition, Entry, Revision, Trouble};
use crate::mirror::{Draft, Known, Table};

/// A job that so many nodes have lost is not given to another one.
pub const MOST_OWNERS: u32 = 4;

/// The right to work for a job, as long as nobody else has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// The node that has it.
    pub node: String,
    /// The machine that the job is done on. One job of a machine is done at a time.
    pub machine: String,
    /// How many nodes have had the job, with this one.
    pub owners: u32,
    /// No other claim has this word.
    pub word: String,
}

/// Why nothing may be done for a job any more: another node has it, or it has ended.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("job {0} is no longer this node's")]
pub struct Lost(pub String);

/// The claims as a node knows of them.
#[derive(Debug, Default)]
pub struct Claims {
    claims: Table<Claim>,
    /// The jobs that machines are busy with.
    machines: Table<String>,
}

impl Claims {
    /// Takes an entry of a claim or a machine, or that there is none; whether it is one.
    pub fn set(&mut self, key: &str, entry: Option<&Entry>) -> bool {
        match key.split_once('/') {
            Some(("claim", job)) => self.claims.set(job, entry),
            Some(("machine", machine)) => self.machines.set(machine, entry),
            _ => return false,
        }
        true
    }

    /// The revision of such an entry.
    pub fn revision(&self, key: &str) -> Option<Revision> {
        match key.split_once('/')? {
            ("claim", job) => self.claims.revision(job),
            ("machine", machine) => self.machines.revision(machine),
            _ => None,
        }
    }

    /// The claim to a job.
    pub fn of(&self, job: &str) -> Option<&Claim> {
        self.claims.get(job)
    }

    /// All, by their jobs.
    pub fn all(&self) -> impl Iterator<Item = (&str, &Claim)> {
        self.claims.iter()
    }

    /// The job that a machine is busy with.
    pub fn on(&self, machine: &str) -> Option<&str> {
        self.machines.get(machine).map(String::as_str)
    }
}

/// What claims are changed with, where `claims` gives those of what is known.
impl<K: Known> Draft<'_, K> {
    /// Claims a job that nobody has, for a machine that is free; nothing if that is not so.
    pub fn claim(&mut self, claims: fn(&K) -> &Claims, job: &str, machine: &str, node: &str) -> Option<Claim> {
        let known = claims(self.known);
        if known.of(job).is_some() || known.on(machine).is_some() {
            return None;
        }
        let (node, machine) = (node.to_owned(), machine.to_owned());
        let claim = Claim { node, machine, owners: 1, word: fresh_word() };
        self.put(&format!("claim/{job}"), &claim);
        self.put(&format!("machine/{}", claim.machine), &job);
        Some(claim)
    }

    /// Takes the job of a node that is silent. It keeps it if it has said anything meanwhile.
    ///
    /// # Errors
    /// The job is not that node's, or so many nodes have lost it that it is given up: free it then.
    pub fn take_over(
        &mut self,
        claims: fn(&K) -> &Claims,
        job: &str,
        silent: &Silent,
        node: &str,
    ) -> Result<Option<Claim>, Lost> {
        let before = claims(self.known).of(job).filter(|claim| claim.node == silent.node);
        let before = before.ok_or_else(|| Lost(job.to_owned()))?;
        self.require(silent.condition());
        if before.owners >= MOST_OWNERS {
            return Ok(None);
        }
        let claim = Claim { node: node.to_owned(), owners: before.owners + 1, word: fresh_word(), ..before.clone() };
        self.put(&format!("claim/{job}"), &claim);
        Ok(Some(claim))
    }

    /// Makes the change only as long as a claim holds.
    ///
    /// # Errors
    /// It does not hold.
    pub fn hold(&mut self, claims: fn(&K) -> &Claims, job: &str, claim: &Claim) -> Result<(), Lost> {
        if claims(self.known).of(job) != Some(claim) {
            return Err(Lost(job.to_owned()));
        }
        self.rely_on(&format!("claim/{job}"));
        Ok(())
    }

    /// Ends the claim to a job, and frees its machine.
    pub fn free(&mut self, claims: fn(&K) -> &Claims, job: &str) {
        if let Some(claim) = claims(self.known).of(job) {
            self.remove(&format!("machine/{}", claim.machine));
            self.remove(&format!("claim/{job}"));
        }
    }
}

/// A node that has not been heard of for a lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Silent {
    /// Its name.
    pub node: String,
    beat: Option<Revision>,
}

impl Silent {
    fn condition(&self) -> Condition {
        let key = beat_key(&self.node);
        self.beat.map_or_else(|| Condition::Absent(key.clone()), |beat| Condition::Unchanged(key.clone(), beat))
    }
}

/// What a node has heard of others.
#[derive(Debug, Default)]
pub struct Lookout(BTreeMap<String, (Option<Revision>, Duration)>);

impl Lookout {
    /// Looks at what a node last said; whether that has been the same for a lease, by a clock of whoever looks that is never set.
    ///
    /// # Errors
    /// There is no answer.
    pub fn look(
        &mut self,
        agreement: &dyn Agreement,
        node: &str,
        clock: impl Fn() -> Duration,
        lease: Duration,
    ) -> Result<Option<Silent>, Trouble> {
        // It was so when it was asked, and is new when it is answered: an answer that takes long makes nobody silent.
        let asked = clock();
        let beat = agreement.get(&beat_key(node))?.map(|entry| entry.revision);
        let answered = clock();
        let seen = self.0.entry(node.to_owned()).or_insert((beat, answered));
        if seen.0 != beat {
            *seen = (beat, answered);
        }
        Ok((asked.saturating_sub(seen.1) >= lease).then(|| Silent { node: node.to_owned(), beat }))
    }

    /// Looks at what all nodes last said, by their names.
    ///
    /// # Errors
    /// There is no answer.
    pub fn hear(
        &mut self,
        agreement: &dyn Agreement,
        clock: impl Fn() -> Duration,
    ) -> Result<BTreeMap<String, Heard>, Trouble> {
        let mut heard = BTreeMap::new();
        let beats = agreement.list(BEATS)?.entries;
        let now = clock();
        for entry in beats {
            let node = entry.key.trim_start_matches(BEATS).to_owned();
            let seen = self.0.entry(node.clone()).or_insert((Some(entry.revision), now));
            if seen.0 != Some(entry.revision) {
                *seen = (Some(entry.revision), now);
            }
            let says = serde_json::from_str::<Beaten>(&entry.value).ok().and_then(|beaten| beaten.says);
            heard.insert(node, Heard { silence: now.saturating_sub(seen.1), says });
        }
        Ok(heard)
    }

    /// Forgets all nodes but these.
    pub fn keep(&mut self, is_kept: impl Fn(&str) -> bool) {
        self.0.retain(|node, _| is_kept(node));
    }
}

/// What was heard of a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heard {
    /// For how long it has not said anything.
    pub silence: Duration,
    /// How it is, in its own words.
    pub says: Option<String>,
}

/// What a node says of itself, again and again.
pub struct Beat {
    agreement: Arc<dyn Agreement>,
    node: String,
    /// Where it has its store: a node that begins again there is the same one.
    home: String,
    word: String,
    last: Option<Revision>,
    /// How it is, which it says with the next beat.
    pub says: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct Beaten {
    home: String,
    word: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    says: Option<String>,
}

/// Why a node is not heard.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum BeatError {
    /// Another one has its name.
    #[error("another node is called {0}: remove fleet.toml beside this store, and join by another name")]
    Taken(String),
    /// There is no answer. The same may be tried again.
    #[error(transparent)]
    Trouble(#[from] Trouble),
}

impl Beat {
    /// A node that has not said anything yet. `home` is a word for where its store is.
    pub fn new(agreement: Arc<dyn Agreement>, node: &str, home: &str) -> Self {
        Self { agreement, node: node.to_owned(), home: home.to_owned(), word: fresh_word(), last: None, says: None }
    }

    /// Says that the node is there, the first time also in place of one that is silent.
    ///
    /// # Errors
    /// There is no answer, or another node of the same name has said so since.
    pub fn renew(&mut self, silent: Option<&Silent>) -> Result<(), BeatError> {
        if self.last.is_none() {
            self.last = match self.agreement.get(&beat_key(&self.node))? {
                Some(entry) => {
                    let beaten: Option<Beaten> = serde_json::from_str(&entry.value).ok();
                    let is_own = beaten.is_some_and(|beaten| beaten.home == self.home);
                    let is_silent = silent.is_some_and(|silent| silent.beat == Some(entry.revision));
                    if !is_own && !is_silent {
                        return Err(BeatError::Taken(self.node.clone()));
                    }
                    Some(entry.revision)
                }
                None => None,
            };
        }
        let key = beat_key(&self.node);
        let condition =
            self.last.map_or_else(|| Condition::Absent(key.clone()), |last| Condition::Unchanged(key.clone(), last));
        let beaten = Beaten { home: self.home.clone(), word: self.word.clone(), says: self.says.clone() };
        let change = Change::Put(key.clone(), serde_json::to_string(&beaten).expect("it can be written"));
        match self.agreement.commit(&[condition], &[change])? {
            Committed::At(revision) => self.last = Some(revision),
            Committed::Refused => {
                // One whose answer was lost, or came late; or somebody has removed it, and it is said anew.
                let entry = self.agreement.get(&key)?;
                let is_own = |entry: &Entry| {
                    serde_json::from_str::<Beaten>(&entry.value).is_ok_and(|beaten| beaten.word == self.word)
                };
                if !entry.iter().all(is_own) {
                    return Err(BeatError::Taken(self.node.clone()));
                }
                self.last = entry.map(|entry| entry.revision);
                if self.last.is_none() {
                    return Err(BeatError::Trouble(Trouble::Unreached(format!("{key} was removed"))));
                }
            }
        }
        Ok(())
    }
}

/// Whether a name is that of a node whose store is elsewhere, as far as that has been said.
///
/// # Errors
/// There is no answer.
pub fn is_anothers(agreement: &dyn Agreement, node: &str, home: &str) -> Result<bool, Trouble> {
    Ok(anothers(agreement, node, home)?.is_some())
}

/// So often in a lease it is asked whether a node has said something.
pub const LOOKS: u32 = 10;

/// The same of one that is there: it says something within a lease.
///
/// # Errors
/// There is no answer.
pub fn is_taken(agreement: &dyn Agreement, node: &str, home: &str, lease: Duration) -> Result<bool, Trouble> {
    let before = anothers(agreement, node, home)?;
    if before.is_none() {
        return Ok(false);
    }
    for _ in 0..LOOKS {
        std::thread::sleep(lease / LOOKS);
        if anothers(agreement, node, home)? != before {
            return Ok(true);
        }
    }
    Ok(false)
}

/// When a node said something last whose store is elsewhere.
fn anothers(agreement: &dyn Agreement, node: &str, home: &str) -> Result<Option<Revision>, Trouble> {
    let is_own = |entry: &Entry| serde_json::from_str(&entry.value).is_ok_and(|beaten: Beaten| beaten.home == home);
    let entry = agreement.get(&beat_key(node))?.filter(|entry| !is_own(entry));
    Ok(entry.map(|entry| entry.revision))
}

/// Before the names of nodes that have said something.
const BEATS: &str = "beat/";

fn beat_key(node: &str) -> String {
    format!("{BEATS}{node}")
}

/// A word that nobody else has.
pub(crate) fn fresh_word() -> String {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).expect("there are random numbers");
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
