//! Jobs that several nodes share: each is done under one claim at a time, and what is stored of it is stored under the claim that is the last.
//!
//! A claim is an entry, and the revision of its last change is its number. Whoever works for a job writes on the condition that the claim has this number
//! still: to be allowed to write and to write are one act, so a node that was away too long, or a write that comes late, changes nothing. A node that has
//! no answer reads what became of its write by a word of chance in it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::agreement::{Agreement, Change, Committed, Condition, Entry, Revision, Trouble};

/// A job that so many nodes have lost is not given to another one: a person is told.
const MOST_TRIES: u32 = 4;

/// What is to be done on a machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// The machine. One job of a machine is done at a time.
    pub machine: String,
    /// What is to be done, for whoever does it.
    pub order: String,
    /// How far it is.
    pub stage: Stage,
    /// The node that does it, or did.
    pub node: Option<String>,
    /// How many nodes have had it.
    pub tries: u32,
    /// What was said at its end.
    pub said: Option<String>,
}

/// How far a job is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    /// It waits for a node.
    Waiting,
    /// A node works for it.
    Claimed,
    /// All is done.
    Done,
    /// It was given up.
    Failed,
}

/// The right to work for a job, as long as nobody else has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// The job.
    pub job: String,
    /// The machine that the job is done on.
    pub machine: String,
    /// The number of the claim. A later one of the same job is higher.
    pub number: Revision,
}

/// Why work does not go on.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum WorkError {
    /// Another node has the job, or it has ended: nothing more may be done for it.
    #[error("job {0} is no longer this node's")]
    Lost(String),
    /// There is no job of this name, or there is one already.
    #[error("{0}")]
    NoJob(String),
    /// There is no answer. The same may be tried again.
    #[error(transparent)]
    Trouble(#[from] Trouble),
}

type Done<T> = Result<T, WorkError>;

#[derive(Serialize, Deserialize)]
struct Claimed {
    node: String,
    word: String,
}

#[derive(Serialize, Deserialize)]
struct Stored {
    claim: Revision,
    document: String,
}

/// What was last seen of a claim, and since when nothing has changed.
#[derive(Debug)]
struct Seen {
    claim: Revision,
    beat: Option<Revision>,
    since: Duration,
}

/// The jobs, for one node.
pub struct Work {
    agreement: Arc<dyn Agreement>,
    node: String,
    lease: Duration,
    seen: BTreeMap<String, Seen>,
}

impl Work {
    /// For a node of this name. A claim that has not been renewed for a lease, by the clock of whoever looks, is another node's to take.
    pub fn new(agreement: Arc<dyn Agreement>, node: &str, lease: Duration) -> Self {
        Self { agreement, node: node.to_owned(), lease, seen: BTreeMap::new() }
    }

    /// Adds a job. One that is added again, because an answer was lost, is there once.
    ///
    /// # Errors
    /// Another job has this name, or there is no answer.
    pub fn add(&self, id: &str, machine: &str, order: &str) -> Done<()> {
        let job = Job {
            machine: machine.to_owned(),
            order: order.to_owned(),
            stage: Stage::Waiting,
            node: None,
            tries: 0,
            said: None,
        };
        let put = Change::Put(job_key(id), written(&job));
        match self.agreement.commit(&[Condition::Absent(job_key(id))], &[put])? {
            Committed::At(_) => Ok(()),
            Committed::Refused => match self.job(id)? {
                Some((there, _)) if there.machine == machine && there.order == order => Ok(()),
                _ => Err(WorkError::NoJob(format!("there is another job {id}"))),
            },
        }
    }

    /// All jobs, by their names.
    ///
    /// # Errors
    /// There is no answer.
    pub fn jobs(&self) -> Done<BTreeMap<String, Job>> {
        let listing = self.agreement.list("job/")?;
        listing.entries.iter().map(|entry| Ok((name(entry, "job/"), read(entry)?))).collect()
    }

    /// Claims a job that waits; nothing if another node has it, or its machine.
    ///
    /// # Errors
    /// There is no such job, or no answer. It may be this node's then, and is found by the next try, or taken over by a node when a lease has passed.
    pub fn claim(&self, id: &str) -> Done<Option<Claim>> {
        let (job, revision) = self.job(id)?.ok_or_else(|| WorkError::NoJob(format!("there is no job {id}")))?;
        if job.stage != Stage::Waiting {
            return Ok(None);
        }
        // One that waits has no claim.
        let conditions = [Condition::Unchanged(job_key(id), revision), Condition::Absent(machine_key(&job.machine))];
        self.claimed(id, job, &conditions)
    }

    /// Takes over what another node has lost: each claim that was neither changed nor renewed for a lease, as far as this node has seen. `now` is a
    /// clock of this node that is never set.
    ///
    /// # Errors
    /// There is no answer.
    pub fn take_over(&mut self, now: Duration) -> Done<Vec<Claim>> {
        let claims = self.agreement.list("claim/")?.entries;
        let beats = self.agreement.list("beat/")?.entries;
        let beats: BTreeMap<_, _> = beats.iter().map(|entry| (name(entry, "beat/"), entry.revision)).collect();
        let ids: Vec<_> = claims.iter().map(|entry| name(entry, "claim/")).collect();
        self.seen.retain(|id, _| ids.contains(id));
        let mut taken = Vec::new();
        for (id, entry) in ids.into_iter().zip(&claims) {
            let (claim, beat) = (entry.revision, beats.get(&id).copied());
            let seen = self.seen.entry(id.clone()).or_insert(Seen { claim, beat, since: now });
            if (seen.claim, seen.beat) != (claim, beat) {
                *seen = Seen { claim, beat, since: now };
            }
            if now.saturating_sub(seen.since) < self.lease {
                continue;
            }
            let Some((job, revision)) = self.job(&id)? else { continue };
            let still = match beat {
                Some(beat) => Condition::Unchanged(beat_key(&id), beat),
                None => Condition::Absent(beat_key(&id)),
            };
            let conditions =
                [Condition::Unchanged(claim_key(&id), claim), still, Condition::Unchanged(job_key(&id), revision)];
            if job.tries >= MOST_TRIES {
                let said = format!("{} nodes have lost it", job.tries);
                let job = Job { stage: Stage::Failed, said: Some(said), ..job };
                self.agreement.commit(&conditions, &ending(&id, &job))?;
                continue;
            }
            taken.extend(self.claimed(&id, job, &conditions)?);
        }
        Ok(taken)
    }

    /// Makes this node the owner of a job, if the conditions hold.
    fn claimed(&self, id: &str, job: Job, conditions: &[Condition]) -> Done<Option<Claim>> {
        let word = fresh_word();
        let job = Job { stage: Stage::Claimed, node: Some(self.node.clone()), tries: job.tries + 1, ..job };
        let claimed = Claimed { node: self.node.clone(), word: word.clone() };
        let changes = [
            Change::Put(claim_key(id), written(&claimed)),
            Change::Put(machine_key(&job.machine), id.to_owned()),
            Change::Put(job_key(id), written(&job)),
        ];
        let claim = |number| Claim { job: id.to_owned(), machine: job.machine.clone(), number };
        match self.agreement.commit(conditions, &changes) {
            Ok(Committed::At(revision)) => Ok(Some(claim(revision))),
            Ok(Committed::Refused) => Ok(None),
            Err(trouble) => {
                let Some(entry) = self.agreement.get(&claim_key(id))? else { return Err(trouble.into()) };
                let is_mine = read::<Claimed>(&entry)?.word == word;
                if is_mine { Ok(Some(claim(entry.revision))) } else { Err(trouble.into()) }
            }
        }
    }

    /// Renews a claim.
    ///
    /// # Errors
    /// It is lost, or there is no answer. A node that has had none for a lease stops what it does.
    pub fn beat(&self, claim: &Claim) -> Done<()> {
        let change = Change::Put(beat_key(&claim.job), claim.number.to_string());
        self.under(claim, &[], &[change]).map(drop)
    }

    /// Stores the document of a repeat, once; whether it is this one that is stored, and not that of a former owner.
    ///
    /// # Errors
    /// The claim is lost, or there is no answer. Then the same may be stored again.
    pub fn store(&self, claim: &Claim, repeat: u32, document: &str) -> Done<bool> {
        let key = repeat_key(&claim.job, repeat);
        let stored = Stored { claim: claim.number, document: document.to_owned() };
        match self.under(claim, &[Condition::Absent(key.clone())], &[Change::Put(key.clone(), written(&stored))]) {
            Ok(()) => Ok(true),
            // Nobody else writes under this claim.
            Err(WorkError::Lost(job)) => match self.agreement.get(&key)? {
                Some(entry) => Ok(read::<Stored>(&entry)?.claim == claim.number),
                None => Err(WorkError::Lost(job)),
            },
            Err(error) => Err(error),
        }
    }

    /// The documents of a job's repeats, by their numbers, whoever stored them.
    ///
    /// # Errors
    /// There is no answer.
    pub fn repeats(&self, job: &str) -> Done<BTreeMap<u32, String>> {
        let prefix = format!("repeat/{job}/");
        let listing = self.agreement.list(&prefix)?;
        let repeat = |entry: &Entry| Ok((name(entry, &prefix).parse().ok(), read::<Stored>(entry)?.document));
        let all = listing.entries.iter().map(repeat).collect::<Done<Vec<(Option<u32>, String)>>>()?;
        Ok(all.into_iter().filter_map(|(number, document)| Some((number?, document))).collect())
    }

    /// Ends a job as done, or as failed with the reason.
    ///
    /// # Errors
    /// The claim is lost, or there is no answer. Then it may be ended again.
    pub fn end(&self, claim: &Claim, failed: Option<&str>) -> Done<()> {
        let Some((job, revision)) = self.job(&claim.job)? else { return Err(WorkError::Lost(claim.job.clone())) };
        let stage = if failed.is_some() { Stage::Failed } else { Stage::Done };
        if job.stage == stage && job.node.as_ref() == Some(&self.node) {
            return Ok(());
        }
        let job = Job { stage, said: failed.map(str::to_owned), ..job };
        let unchanged = Condition::Unchanged(job_key(&claim.job), revision);
        self.under(claim, &[unchanged], &ending(&claim.job, &job))
    }

    /// Makes changes as long as a claim holds.
    fn under(&self, claim: &Claim, more: &[Condition], changes: &[Change]) -> Done<()> {
        let holds = Condition::Unchanged(claim_key(&claim.job), claim.number);
        let conditions: Vec<_> = std::iter::once(holds).chain(more.iter().cloned()).collect();
        match self.agreement.commit(&conditions, changes)? {
            Committed::At(_) => Ok(()),
            Committed::Refused => Err(WorkError::Lost(claim.job.clone())),
        }
    }

    fn job(&self, id: &str) -> Done<Option<(Job, Revision)>> {
        let entry = self.agreement.get(&job_key(id))?;
        entry.map(|entry| Ok((read(&entry)?, entry.revision))).transpose()
    }
}

/// What ends a job, and frees its machine.
fn ending(id: &str, job: &Job) -> [Change; 4] {
    [
        Change::Remove(claim_key(id)),
        Change::Remove(beat_key(id)),
        Change::Remove(machine_key(&job.machine)),
        Change::Put(job_key(id), written(job)),
    ]
}

fn job_key(id: &str) -> String {
    format!("job/{id}")
}

fn claim_key(id: &str) -> String {
    format!("claim/{id}")
}

fn beat_key(id: &str) -> String {
    format!("beat/{id}")
}

fn machine_key(machine: &str) -> String {
    format!("machine/{machine}")
}

fn repeat_key(job: &str, repeat: u32) -> String {
    format!("repeat/{job}/{repeat:06}")
}

/// What stands behind a prefix in the key of an entry.
fn name(entry: &Entry, prefix: &str) -> String {
    entry.key.strip_prefix(prefix).unwrap_or(&entry.key).to_owned()
}

fn written(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("it can be written")
}

fn read<T: DeserializeOwned>(entry: &Entry) -> Done<T> {
    let strange = |error| Trouble::Refused(format!("{} is no entry of this stend: {error}", entry.key));
    Ok(serde_json::from_str(&entry.value).map_err(strange)?)
}

/// A word that nobody else has.
pub(crate) fn fresh_word() -> String {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).expect("there are random numbers");
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
