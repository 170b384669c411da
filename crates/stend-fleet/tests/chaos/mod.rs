//! Nodes that share jobs while answers are lost, writes come late, and nodes stop, die and come back.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use stend_fleet::{
    Agreement, Beat, Change, Claim, Claims, Committed, Condition, Draft, Entry, Known, Listing, Lookout, Lost, Mirror,
    News, Revision, Table, Trouble, Watch,
};

const JOBS: usize = 12;
const MACHINES: usize = 3;
const NODES: usize = 4;
const REPEATS: u32 = 20;
/// In ticks of a clock that only this test has.
const LEASE: u64 = 12;

/// Numbers of chance that are the same for the same seed.
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed | 1)
    }

    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % end
    }

    pub(crate) fn percent(&mut self, share: u64) -> bool {
        self.below(100) < share
    }
}

type Write = (Vec<Condition>, Vec<Change>);

/// An agreement whose answers are lost, and whose writes come late.
pub(crate) struct Flaky {
    inner: Arc<dyn Agreement>,
    state: Mutex<State>,
}

struct State {
    chance: Chance,
    late: Vec<Write>,
    is_calm: bool,
}

impl Flaky {
    pub(crate) fn new(inner: Arc<dyn Agreement>, seed: u64) -> Self {
        let state = State { chance: Chance::new(seed), late: Vec::new(), is_calm: false };
        Self { inner, state: Mutex::new(state) }
    }

    /// From now on nothing is lost.
    pub(crate) fn calm(&self) {
        self.state.lock().unwrap().is_calm = true;
    }

    /// What was held back comes, or some of it.
    pub(crate) fn tick(&self) {
        let mut state = self.state.lock().unwrap();
        for write in std::mem::take(&mut state.late) {
            if state.is_calm || state.chance.percent(20) {
                let _ = self.inner.commit(&write.0, &write.1).unwrap();
            } else {
                state.late.push(write);
            }
        }
    }

    fn is_lost(&self) -> bool {
        let mut state = self.state.lock().unwrap();
        !state.is_calm && state.chance.percent(10)
    }
}

impl Agreement for Flaky {
    fn get(&self, key: &str) -> Result<Option<Entry>, Trouble> {
        if self.is_lost() { Err(Trouble::Unreached("a read was lost".into())) } else { self.inner.get(key) }
    }

    fn list(&self, prefix: &str) -> Result<Listing, Trouble> {
        if self.is_lost() { Err(Trouble::Unreached("a list was lost".into())) } else { self.inner.list(prefix) }
    }

    fn commit(&self, conditions: &[Condition], changes: &[Change]) -> Result<Committed, Trouble> {
        let mut state = self.state.lock().unwrap();
        let fate = if state.is_calm { 0 } else { state.chance.below(100) };
        match fate {
            0..70 => self.inner.commit(conditions, changes),
            70..80 => Err(Trouble::Unreached("it was not sent".into())),
            80..90 => {
                self.inner.commit(conditions, changes)?;
                Err(Trouble::Unknown("the answer was lost".into()))
            }
            _ => {
                state.late.push((conditions.to_vec(), changes.to_vec()));
                Err(Trouble::Unknown("it comes late".into()))
            }
        }
    }

    fn watch(&self, prefix: &str, behind: Revision) -> Result<Box<dyn Watch>, Trouble> {
        self.inner.watch(prefix, behind)
    }
}

/// How far a job is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Stage {
    Waiting,
    Claimed,
    Done,
    GivenUp,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Job {
    pub(crate) machine: String,
    pub(crate) stage: Stage,
}

#[derive(Serialize, Deserialize)]
struct Stored {
    claim: String,
    document: String,
}

/// What nodes know.
#[derive(Default)]
pub(crate) struct Shared {
    claims: Claims,
    pub(crate) jobs: Table<Job>,
}

impl Known for Shared {
    fn set(&mut self, key: &str, entry: Option<&Entry>) {
        if let Some(job) = key.strip_prefix("job/") {
            self.jobs.set(job, entry);
        } else {
            assert!(self.claims.set(key, entry), "{key}");
        }
    }

    fn revision(&self, key: &str) -> Option<Revision> {
        key.strip_prefix("job/").map_or_else(|| self.claims.revision(key), |job| self.jobs.revision(job))
    }
}

impl Shared {
    fn waiting(&self) -> Vec<String> {
        let is_free = |job: &Job| job.stage == Stage::Waiting && self.claims.on(&job.machine).is_none();
        self.jobs.iter().filter(|(_, job)| is_free(job)).map(|(id, _)| id.to_owned()).collect()
    }
}

pub(crate) fn claims(known: &Shared) -> &Claims {
    &known.claims
}

/// Why a change is not made.
#[derive(Debug)]
pub(crate) enum Not {
    Answered,
    Lost,
}

impl From<Trouble> for Not {
    fn from(_: Trouble) -> Self {
        Self::Answered
    }
}

impl From<Lost> for Not {
    fn from(_: Lost) -> Self {
        Self::Lost
    }
}

fn set(draft: &mut Draft<Shared>, id: &str, stage: Stage) {
    let job = draft.known.jobs.get(id).unwrap();
    draft.put(&format!("job/{id}"), &Job { stage, ..job.clone() });
}

/// A node, and how it works.
pub(crate) struct Node {
    pub(crate) name: String,
    pub(crate) mirror: Mirror<Shared>,
    beat: Beat,
    lookout: Lookout,
    pub(crate) claim: Option<(String, Claim)>,
    /// How many repeats a job has.
    repeats: u32,
}

impl Node {
    pub(crate) fn new(agreement: &Arc<dyn Agreement>, name: &str, repeats: u32) -> Self {
        let mirror = loop {
            if let Ok(mirror) = Mirror::open(Arc::clone(agreement), name) {
                break mirror;
            }
        };
        let beat = Beat::new(Arc::clone(agreement), name, name);
        Self { name: name.to_owned(), mirror, beat, lookout: Lookout::default(), claim: None, repeats }
    }

    pub(crate) fn add(&self, id: &str, machine: &str) {
        let job = Job { machine: machine.to_owned(), stage: Stage::Waiting };
        loop {
            let added = self.mirror.change(|draft| {
                if draft.known.jobs.get(id).is_none() {
                    draft.put(&format!("job/{id}"), &job);
                }
                Ok::<_, Trouble>(())
            });
            if added.is_ok() {
                return;
            }
            let _ = self.mirror.catch_up(Duration::ZERO);
        }
    }

    /// Who has the claim to a job, as far as this node knows.
    pub(crate) fn claim_to(&self, job: &str) -> Option<Claim> {
        self.mirror.known().claims.of(job).cloned()
    }

    /// What another node has claimed, as far as this one knows.
    pub(crate) fn claim_by(&self, node: &str) -> Option<(String, Claim)> {
        let known = self.mirror.known();
        known.claims.all().find(|(_, claim)| claim.node == node).map(|(job, claim)| (job.to_owned(), claim.clone()))
    }

    pub(crate) fn beat(&mut self) -> bool {
        self.beat.renew(None).is_ok()
    }

    /// Claims a job that waits, or takes one from a node that is silent.
    pub(crate) fn look_for_work(&mut self, now: Duration, lease: Duration, choose: impl Fn(usize) -> usize) {
        let _ = self.mirror.catch_up(Duration::ZERO);
        let waiting = self.mirror.known().waiting();
        if !waiting.is_empty() {
            let id = &waiting[choose(waiting.len())];
            let claimed = self.mirror.change(|draft| {
                let job = draft.known.jobs.get(id).unwrap();
                if job.stage != Stage::Waiting {
                    return Ok(None);
                }
                let claim = draft.claim(claims, id, &job.machine, &self.name);
                if claim.is_some() {
                    set(draft, id, Stage::Claimed);
                }
                Ok::<_, Not>(claim)
            });
            self.claim = claimed.ok().flatten().map(|claim| (id.clone(), claim));
        }
        // Its own are those of before it died, or of a claim whose answer was lost.
        let all: Vec<_> =
            self.mirror.known().claims.all().map(|(job, claim)| (job.to_owned(), claim.clone())).collect();
        for (job, claim) in all {
            if claim.node == self.name {
                self.claim = self.claim.take().or(Some((job, claim)));
                continue;
            }
            let looked = self.lookout.look(&**self.mirror.agreement(), &claim.node, || now, lease);
            let Ok(Some(silent)) = looked else { continue };
            if self.claim.is_some() {
                continue;
            }
            let taken = self.mirror.change(|draft| {
                let taken = draft.take_over(claims, &job, &silent, &self.name)?;
                if taken.is_none() {
                    set(draft, &job, Stage::GivenUp);
                    draft.free(claims, &job);
                }
                Ok::<_, Not>(taken)
            });
            self.claim = taken.ok().flatten().map(|claim| (job, claim));
        }
    }

    /// Stores the next repeat of what it has claimed, or ends it; whether it stored one.
    pub(crate) fn work(&mut self, document: &str) -> Option<(String, u32, Claim)> {
        let (job, claim) = self.claim.clone()?;
        let stored = self.mirror.agreement().list(&format!("repeat/{job}/")).ok()?.entries;
        let number = |entry: &Entry| entry.key.rsplit('/').next().unwrap().parse::<u32>().unwrap();
        let stored: BTreeSet<u32> = stored.iter().map(number).collect();
        let next = (0..self.repeats).find(|repeat| !stored.contains(repeat));
        let done = self.mirror.change(|draft| {
            draft.hold(claims, &job, &claim)?;
            match next {
                Some(repeat) => {
                    let key = format!("repeat/{job}/{repeat:06}");
                    let stored = Stored { claim: claim.word.clone(), document: document.to_owned() };
                    draft.require(Condition::Absent(key.clone()));
                    draft.beside(Change::Put(key, serde_json::to_string(&stored).unwrap()));
                }
                None => {
                    set(draft, &job, Stage::Done);
                    draft.free(claims, &job);
                }
            }
            Ok::<_, Not>(())
        });
        match (done, next) {
            (Ok(()), Some(repeat)) => return Some((job, repeat, claim)),
            (Ok(()), None) | (Err(Not::Lost), _) => self.claim = None,
            (Err(Not::Answered), _) => {}
        }
        None
    }
}

/// What changes say, each checked when it comes.
#[derive(Default)]
pub(crate) struct History {
    /// The word and the machine of the claim to each job.
    claims: BTreeMap<String, (String, String)>,
    machines: BTreeMap<String, String>,
    repeats: BTreeSet<String>,
    ended: BTreeSet<String>,
    claimed: usize,
}

impl History {
    pub(crate) fn ended(&self) -> usize {
        self.ended.len()
    }

    pub(crate) fn claimed(&self) -> usize {
        self.claimed
    }

    pub(crate) fn take(&mut self, news: News) {
        let (key, value) = match news {
            News::Put(entry) => (entry.key, Some(entry.value)),
            News::Removed(key, _) => (key, None),
        };
        let (kind, name) = key.strip_prefix("lab/").unwrap_or(&key).split_once('/').unwrap();
        let read = |value: &str| serde_json::from_str::<serde_json::Value>(value).unwrap();
        match (kind, value) {
            ("claim", Some(value)) => {
                assert!(!self.ended.contains(name), "{name} is claimed, and has ended");
                let text = |field: &str| read(&value)[field].as_str().unwrap().to_owned();
                self.claims.insert(name.into(), (text("word"), text("machine")));
                let others =
                    self.claims.iter().filter(|(job, (_, machine))| *job != name && *machine == text("machine"));
                let others: Vec<_> = others.collect();
                assert!(others.is_empty(), "{name} is claimed while its machine is another's: {others:?}");
                self.claimed += 1;
            }
            ("machine", Some(job)) => {
                let before = self.machines.insert(name.into(), job.clone());
                assert!(before.is_none_or(|before| before == job), "{name} is given to {job} while it is another's");
            }
            ("repeat", Some(value)) => {
                let job = name.split_once('/').unwrap().0;
                let claim = self.claims.get(job).map(|(word, _)| word.as_str());
                assert_eq!(read(&value)["claim"].as_str(), claim, "{name} is stored under the last claim");
                assert!(self.repeats.insert(name.into()), "{name} is stored once");
            }
            ("job", Some(value)) => {
                assert!(!self.ended.contains(name), "{name} is changed, and has ended");
                if ["Done", "GivenUp"].contains(&read(&value)["stage"].as_str().unwrap()) {
                    assert!(!self.claims.contains_key(name), "{name} has ended, and is claimed");
                    self.ended.insert(name.into());
                }
            }
            ("claim", None) => drop(self.claims.remove(name)),
            ("machine", None) => drop(self.machines.remove(name)),
            ("beat" | "word", Some(_)) => {}
            other => panic!("nobody does {other:?}"),
        }
    }
}

/// Does all jobs under the faults of a seed, and checks each change.
pub(crate) fn run(agreement: Arc<dyn Agreement>, seed: u64) {
    let mut chance = Chance::new(seed);
    let flaky = Arc::new(Flaky::new(Arc::clone(&agreement), seed.rotate_left(32)));
    let begin = agreement.list("").unwrap().revision;
    let mut watch = agreement.watch("", begin).unwrap();
    let shared = Arc::clone(&flaky) as Arc<dyn Agreement>;
    let node = |at: usize| (Node::new(&shared, &format!("node-{at}"), REPEATS), Times::default());
    let mut nodes: Vec<_> = (0..NODES).map(node).collect();
    for job in 0..JOBS {
        nodes[0].0.add(&format!("job-{job}"), &format!("machine-{}", job % MACHINES));
    }
    let mut history = History::default();
    let calm_from = 2000;
    for now in 0.. {
        assert!(now < 20_000, "jobs are left");
        if now == calm_from {
            flaky.calm();
        }
        flaky.tick();
        for (at, one) in nodes.iter_mut().enumerate() {
            if now < calm_from {
                match chance.below(100) {
                    0 => *one = node(at),
                    1..4 => one.1.stopped = chance.below(3 * LEASE),
                    _ => {}
                }
            }
            let (node, times) = one;
            if times.stopped > 0 {
                times.stopped -= 1;
                continue;
            }
            step(node, times, now, &mut chance);
        }
        watch.next(Duration::ZERO).unwrap().news.into_iter().for_each(|news| history.take(news));
        if history.ended() == JOBS {
            break;
        }
    }
    let calm = Mirror::<Shared>::open(Arc::clone(&agreement), "calm").unwrap();
    for (id, job) in calm.known().jobs.iter() {
        let repeats = agreement.list(&format!("repeat/{id}/")).unwrap().entries.len();
        assert!(job.stage == Stage::GivenUp || repeats == REPEATS as usize, "{id}: {job:?} has {repeats}");
    }
    assert!(history.claimed >= JOBS && history.machines.is_empty() && history.claims.is_empty());
}

/// Times of a node, in ticks.
#[derive(Default)]
struct Times {
    /// When it last had an answer to a beat.
    renewed: u64,
    /// It is stopped for so many more.
    stopped: u64,
}

/// What a node does in one tick.
fn step(node: &mut Node, times: &mut Times, now: u64, chance: &mut Chance) {
    if node.beat() {
        times.renewed = now;
    }
    // Without an answer for a lease it stops what it does.
    if now - times.renewed >= LEASE {
        node.claim = None;
        return;
    }
    if node.claim.is_none() {
        let choice = chance.below(JOBS as u64) as usize;
        node.look_for_work(Duration::from_secs(now), Duration::from_secs(LEASE), |count| choice % count);
    } else {
        node.work(&format!("at {now}"));
    }
}
