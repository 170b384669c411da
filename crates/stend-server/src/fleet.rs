//! A node of a fleet: what it is called, where the fleet keeps what it agrees on, and whether the node still hears of it.
//!
//! A node beats, and what it works for is its own as long as it does. One that has had no answer for most of a lease stops what it measures, before
//! another node may take it over.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stend_fleet::{Agreement, Beat, BeatError, Change, Claim, Claims, Condition, Heard, Lookout, Silent, Trouble};

use crate::accounts::fresh_secret;
use crate::database::{Edit, Records};
use crate::error::ServerError;
use crate::jobs::State;
use crate::joined::machine_id;
use crate::journal::Kind;
use crate::lab::{Lab, Labels, Machine};
use crate::metrics;
use crate::order::is_plain_name;
use crate::update;

/// A node that has not been heard of for so many tenths of a lease measures nothing more.
const MOST_SILENT: u32 = 6;

/// So many nodes hear of each other all the time.
const FEW: usize = 50;

/// So many jobs of an agent are ended at once.
const FREED: usize = 20;

/// In a lease a node beats so often.
const BEATS: u32 = 4;

/// What the fleet is told of a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct NodeEntry {
    /// Where other nodes and people reach it; empty for an agent, which nobody reaches.
    pub(crate) url: String,
    /// The certificate that it shows there, PEM, if it made it itself.
    pub(crate) certificate: Option<String>,
    /// What tells the node's machine from others, hashed.
    pub(crate) machine: String,
    pub(crate) version: String,
    pub(crate) began_at: String,
    /// The machines that it reaches, its own first.
    pub(crate) machines: Vec<String>,
    /// Their labels, of those that have some.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) labels: BTreeMap<String, Labels>,
    /// The SHA-256 of the program that it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) program: Option<String>,
    /// Whether it begins nothing more, because another version takes its place.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_draining: bool,
    /// The node that an agent asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) through: Option<String>,
}

impl NodeEntry {
    /// That of this server, which is found there.
    pub(crate) fn here(url: String, certificate: Option<String>) -> Self {
        Self {
            url,
            certificate,
            machine: machine_id(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            began_at: jiff::Timestamp::now().to_string(),
            machines: Vec::new(),
            labels: BTreeMap::new(),
            program: None,
            is_draining: false,
            through: None,
        }
    }

    /// The machines that it reaches, its own first.
    pub(crate) fn machines(&self) -> impl Iterator<Item = Machine> {
        let labels = |name: &String| self.labels.get(name).cloned().unwrap_or_default();
        self.machines.iter().map(move |name| Machine { name: name.clone(), labels: labels(name) })
    }

    pub(crate) fn is_agent(&self) -> bool {
        self.url.is_empty()
    }

    /// Whether it says what the agent of this name may say of itself.
    pub(crate) fn is_of_agent(&self, name: &str) -> bool {
        let is_time = self.began_at.parse::<jiff::Timestamp>().is_ok();
        let words = [&self.machine, &self.version].into_iter().chain(&self.through);
        let are_plain = words.chain(&self.program).map(String::as_str).all(is_plain_name);
        let is_it_alone = self.machines == [name] && self.labels.is_empty();
        self.is_agent() && self.certificate.is_none() && is_it_alone && is_time && are_plain
    }
}

/// What a node has in its archive.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Held {
    /// So many runs, each as a file.
    pub(crate) runs: usize,
    /// So many bytes these files have.
    pub(crate) bytes: u64,
}

/// What a node says of itself with each beat.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Figures {
    /// The load average of its machine over a minute.
    pub(crate) load: f64,
    /// The processors of its machine that its server may use.
    pub(crate) processors: usize,
    /// What it has in its archive; an agent has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) archive: Option<Held>,
    /// So many bytes are free where its store is.
    pub(crate) free_bytes: u64,
}

impl Figures {
    /// Those of this node.
    fn of(lab: &Lab) -> Self {
        let archive = *lab.archived.lock().unwrap_or_else(PoisonError::into_inner);
        let volume = rustix::fs::statvfs(&lab.store);
        Self {
            load: metrics::load(Path::new("/proc")).first().copied().unwrap_or_default(),
            processors: std::thread::available_parallelism().map_or(1, NonZero::get),
            archive: archive.filter(|_| lab.through.is_none()),
            free_bytes: volume.map_or(0, |volume| volume.f_bavail * volume.f_frsize),
        }
    }
}

/// This node among others.
pub(crate) struct Fleet {
    pub(crate) node: String,
    /// What nodes show each other; empty for an agent.
    pub(crate) secret: String,
    lease: Duration,
    beat: Mutex<Beat>,
    /// What was heard of others, by a clock that began with this server.
    heard: Mutex<Lookout>,
    /// What one node of the fleet does for all, and this one would.
    duties: Mutex<BTreeSet<String>>,
    began: Instant,
    /// When the last beat was sent that was answered, since this machine was started.
    renewed: Mutex<Duration>,
    /// How often it was cut off, and came back.
    fences: AtomicU64,
}

/// The claims of what is known.
pub(crate) fn claims(known: &Records) -> &Claims {
    &known.claims
}

impl Fleet {
    /// Says that the node is there. One of the same name that is no longer heard is replaced, and one that is makes this fail.
    pub(crate) fn begin(
        agreement: &Arc<dyn Agreement>,
        node: &str,
        lease: Duration,
        home: &str,
    ) -> Result<Self, ServerError> {
        let mut beat = Beat::new(Arc::clone(agreement), node, home);
        let (mut lookout, began) = (Lookout::default(), Instant::now());
        let renewed = loop {
            let silent = lookout.look(&**agreement, node, || began.elapsed(), lease)?;
            let asked = since_boot();
            match beat.renew(silent.as_ref()) {
                Ok(()) => break asked,
                // It may have died a moment ago.
                Err(BeatError::Taken(_)) if began.elapsed() < lease + lease / 2 => std::thread::sleep(lease / 10),
                Err(error) => return Err(ServerError::Refused(error.to_string())),
            }
        };
        Ok(Self {
            node: node.to_owned(),
            secret: String::new(),
            lease,
            beat: Mutex::new(beat),
            heard: Mutex::default(),
            duties: Mutex::default(),
            began,
            renewed: Mutex::new(renewed),
            fences: AtomicU64::new(0),
        })
    }

    /// The same with what nodes show each other.
    pub(crate) fn with_secret(self, agreement: &dyn Agreement) -> Result<Self, ServerError> {
        Ok(Self { secret: secret_of_nodes(agreement)?, ..self })
    }

    /// Whether it is cut off, and measures nothing.
    pub(crate) fn is_fenced(&self) -> bool {
        self.silence() >= self.lease * MOST_SILENT / 10
    }

    /// How often it has been, and came back.
    pub(crate) fn fences(&self) -> u64 {
        self.fences.load(Ordering::SeqCst)
    }

    pub(crate) fn lease(&self) -> Duration {
        self.lease
    }

    /// What was heard of each node, as far as this one knows.
    pub(crate) fn heard(&self, lab: &Lab) -> Result<BTreeMap<String, Heard>, Trouble> {
        let mut heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        heard.hear(&**lab.database.0.agreement(), || self.began.elapsed())
    }

    /// Whether a node that has been silent for so long is there.
    pub(crate) fn is_there(&self, silence: Duration) -> bool {
        silence < self.lease
    }

    /// For how long it has not heard of the fleet.
    pub(crate) fn silence(&self) -> Duration {
        since_boot().saturating_sub(*self.renewed.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Beats for ever. What this node measures follows the file: it goes on without this server for as long as with it.
    fn keep_beating(&self, lab: &Lab) {
        loop {
            let asked = since_boot();
            let beaten = {
                let mut beat = self.beat.lock().unwrap_or_else(PoisonError::into_inner);
                beat.says = serde_json::to_string(&Figures::of(lab)).ok();
                beat.renew(None)
            };
            // What cannot be told to what is measured here counts for nothing.
            if beaten.is_ok() && write_beat(&lab.store, asked).is_ok() {
                let was_fenced = self.is_fenced();
                *self.renewed.lock().unwrap_or_else(PoisonError::into_inner) = asked;
                if was_fenced {
                    self.fences.fetch_add(1, Ordering::SeqCst);
                    lab.changed();
                }
            }
            let taken = since_boot().saturating_sub(asked);
            std::thread::sleep((self.lease / BEATS).saturating_sub(taken));
        }
    }

    /// What has a command of this node follow its beats.
    pub(crate) fn words(&self, store: &Path) -> String {
        format!("--beat={}:{}", self.lease.as_millis(), beat_file(store).display())
    }
}

/// How long ago this machine was started, by a clock that goes on while it sleeps and that all of its processes have.
pub fn since_boot() -> Duration {
    let now = clock_gettime(ClockId::Boottime);
    Duration::try_from(now).unwrap_or_default()
}

/// Says when the node was last heard, at once or not at all.
fn write_beat(store: &Path, asked: Duration) -> std::io::Result<()> {
    let file = beat_file(store);
    let aside = file.with_extension("beat-new");
    std::fs::write(&aside, asked.as_millis().to_string())?;
    std::fs::rename(aside, file)
}

/// What a node changes as long as it is heard.
fn beat_file(store: &Path) -> PathBuf {
    store.join("server.beat")
}

/// What nodes show each other; the first of them draws it.
fn secret_of_nodes(agreement: &dyn Agreement) -> Result<String, ServerError> {
    const KEY: &str = "secret-of-nodes";
    loop {
        if let Some(entry) = agreement.get(KEY)? {
            return Ok(entry.value);
        }
        let drawn = fresh_secret();
        agreement.commit(&[Condition::Absent(KEY.into())], &[Change::Put(KEY.into(), drawn)])?;
    }
}

/// Starts what makes a server a node, on threads of its own.
pub(crate) fn start(lab: &Arc<Lab>, entry: NodeEntry) {
    let Some(fleet) = &lab.fleet else { return };
    // A duty that this node had, and may have no longer by its settings, is anybody's.
    let _ = lab.database.change(|edit| {
        edit.free_duties(&fleet.node);
        Ok(())
    });
    let entry = NodeEntry { program: update::own_digest(), ..entry };
    // Whoever hears that it serves can ask the fleet for it.
    tell(fleet, lab, &entry);
    update::keep(lab, entry.program.clone());
    let (of_beats, with) = (Arc::clone(fleet), Arc::clone(lab));
    std::thread::spawn(move || of_beats.keep_beating(&with));
    let (fleet, lab) = (Arc::clone(fleet), Arc::clone(lab));
    std::thread::spawn(move || keep_known(&fleet, &lab, &entry));
}

/// Tells the fleet of this node as it is now, and gives the machines that it reaches.
fn tell(fleet: &Fleet, lab: &Lab, entry: &NodeEntry) -> Vec<String> {
    let reached = lab.reached_now();
    let machines = reached.iter().map(|machine| machine.name.clone()).collect();
    let labelled = reached.into_iter().filter(|machine| !machine.labels.is_empty());
    let labels = labelled.map(|machine| (machine.name, machine.labels)).collect();
    let through = lab.known().myself.as_ref().map(|myself| myself.node.clone());
    let is_draining = lab.is_draining.load(Ordering::SeqCst);
    let entry = NodeEntry { machines, labels, through, is_draining, ..entry.clone() };
    // What cannot be told now is told later.
    let _ = lab.database.change(|edit| {
        if edit.known.nodes.get(&fleet.node) != Some(&entry) {
            edit.put(&format!("node/{}", fleet.node), &entry);
        }
        Ok(())
    });
    entry.machines
}

/// Tells the fleet of this node as it is, and takes over what others have lost, for ever.
fn keep_known(fleet: &Fleet, lab: &Arc<Lab>, entry: &NodeEntry) {
    let (mut lookout, began) = (Lookout::default(), Instant::now());
    loop {
        if !fleet.is_fenced() {
            let machines = tell(fleet, lab, entry);
            // An agent hears of nobody else.
            let is_agent = lab.through.is_some();
            if !is_agent {
                take_over(fleet, lab, &machines, &mut lookout, began);
            }
            // Of many nodes each would hear of all: then only whoever wants to see them does.
            let is_few = lab.known().nodes.iter().count() <= FEW;
            if is_few && !is_agent {
                let _ = fleet.heard(lab);
            }
        }
        std::thread::sleep(fleet.lease / BEATS);
    }
}

/// Whether this node does what one node does for all: it does until it is silent. Alone it does all.
pub(crate) async fn has_duty(lab: &Arc<Lab>, name: &str) -> bool {
    let Some(fleet) = &lab.fleet else { return true };
    // As a machine that is always busy.
    let duty = format!("duty {name}");
    fleet.duties.lock().unwrap_or_else(PoisonError::into_inner).insert(duty.clone());
    let claim = lab.known().claims.of(&duty).cloned();
    if let Some(claim) = claim {
        return claim.node == fleet.node && !fleet.is_fenced();
    }
    let node = fleet.node.clone();
    let claimed = lab.change(move |edit| Ok(edit.claim(claims, &duty, &duty, &node).is_some())).await;
    claimed.unwrap_or(false)
}

/// Waits until this node does what one node does for all.
pub(crate) async fn until_duty(lab: &Arc<Lab>, name: &str) {
    let Some(fleet) = &lab.fleet else { return };
    let mut changes = lab.changes();
    while !has_duty(lab, name).await {
        let _ = tokio::time::timeout(fleet.lease, changes.changed()).await;
    }
}

/// Takes the jobs of nodes that are silent, where this one reaches the machine too, and what they did for all.
fn take_over(fleet: &Fleet, lab: &Lab, machines: &[String], lookout: &mut Lookout, began: Instant) {
    // Of the others: each node is asked about by those only who could take something from it.
    let duties = fleet.duties.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let is_for_here = |claim: &Claim| machines.contains(&claim.machine) || duties.contains(&claim.machine);
    let others: Vec<(String, Claim)> = {
        let known = lab.known();
        let of_others = known.claims.all().filter(|(_, claim)| claim.node != fleet.node && is_for_here(claim));
        of_others.map(|(job, claim)| (job.to_owned(), claim.clone())).collect()
    };
    lookout.keep(|node| others.iter().any(|(_, claim)| claim.node == node));
    let nodes: BTreeSet<&str> = others.iter().map(|(_, claim)| claim.node.as_str()).collect();
    for node in nodes {
        let looked = lookout.look(&**lab.database.0.agreement(), node, || began.elapsed(), fleet.lease);
        let Ok(Some(silent)) = looked else { continue };
        let lost = others.iter().filter(|(_, claim)| claim.node == node);
        for (job, _) in lost {
            // What cannot be taken now is looked at again.
            let _ = lab.database.change(|edit| edit.take_from(job, &silent, &fleet.node));
        }
    }
}

impl Edit<'_, '_> {
    /// Gives up what a node does for all.
    pub(crate) fn free_duties(&mut self, node: &str) {
        let own = self.known.claims.all().filter(|(job, claim)| claim.node == node && job.parse::<i64>().is_err());
        let duties: Vec<String> = own.map(|(duty, _)| duty.to_owned()).collect();
        duties.iter().for_each(|duty| self.free(claims, duty));
    }

    /// Ends some jobs of an agent that is none any more; whether there may be others.
    pub(crate) fn free_jobs_of(&mut self, agent: &str) -> bool {
        let own = self.known.claims.all().filter(|(_, claim)| claim.node == agent).map(|(job, _)| job.to_owned());
        let own: Vec<_> = own.take(FREED).collect();
        for job in &own {
            self.free(claims, job);
            let Some(known) = job.parse().ok().and_then(|id| self.known.job(id)) else { continue };
            let (id, run, said) = (known.id, known.run.clone(), format!("agent {agent} was revoked"));
            self.set(id, &[State::Running, State::Stopping], State::Failed, Some(&said));
            self.note(Kind::RunFailed, None, &run, &said);
        }
        own.len() == FREED
    }

    /// Takes a job from a node that is silent, or gives it up when so many have lost it.
    fn take_from(&mut self, job: &str, silent: &Silent, node: &str) -> Result<(), ServerError> {
        let taken = self.take_over(claims, job, silent, node)?;
        if taken.is_none() {
            self.free(claims, job);
        }
        let Some(job_known) = job.parse().ok().and_then(|id| self.known.job(id)) else { return Ok(()) };
        let (id, run) = (job_known.id, job_known.run.clone());
        if taken.is_some() {
            self.give(id, node);
            self.note(Kind::RunTakenOver, None, &run, &silent.node);
            return Ok(());
        }
        let said = format!("{} nodes have lost it, the last one {}", stend_fleet::MOST_OWNERS, silent.node);
        self.set(id, &[State::Running, State::Stopping], State::Failed, Some(&said));
        self.note(Kind::RunFailed, None, &run, &said);
        Ok(())
    }
}
