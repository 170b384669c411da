//! Nodes that share jobs while answers are lost, writes come late, and nodes stop, die and come back.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::engines::patience;
use stend_fleet::{
    Agreement, Change, Claim, Committed, Condition, Entry, Listing, News, Revision, Stage, Trouble, Watch, Work,
    WorkError,
};

const JOBS: usize = 12;
const MACHINES: usize = 3;
const NODES: usize = 4;
const REPEATS: u32 = 4;
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

/// A node, and what it does.
struct Node {
    work: Work,
    claim: Option<Claim>,
    /// When it last had an answer to a beat.
    renewed: u64,
    /// It is stopped for so many ticks.
    stopped: u64,
}

/// What changes say, each checked when it comes.
#[derive(Default)]
pub(crate) struct History {
    claims: BTreeMap<String, Revision>,
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
        match news {
            News::Put(Entry { key, value, revision }) => match key.split_once('/').unwrap() {
                ("claim", job) => {
                    assert!(!self.ended.contains(job), "{job} is claimed, and has ended");
                    self.claims.insert(job.into(), revision);
                    self.claimed += 1;
                }
                ("machine", machine) => {
                    let before = self.machines.insert(machine.into(), value.clone());
                    assert!(
                        before.is_none_or(|job| job == value),
                        "{machine} is given to {value} while it is another's"
                    );
                }
                ("repeat", place) => {
                    let job = place.split_once('/').unwrap().0;
                    let stored: serde_json::Value = serde_json::from_str(&value).unwrap();
                    assert_eq!(
                        stored["claim"].as_i64(),
                        self.claims.get(job).copied(),
                        "{place} is stored under the last claim"
                    );
                    assert!(self.repeats.insert(key.clone()), "{place} is stored once");
                }
                ("job", job) => {
                    let stage = serde_json::from_str::<serde_json::Value>(&value).unwrap()["stage"].clone();
                    assert!(!self.ended.contains(job), "{job} is changed, and has ended");
                    if stage == "done" || stage == "failed" {
                        assert!(!self.claims.contains_key(job), "{job} has ended, and is claimed");
                        self.ended.insert(job.into());
                    }
                }
                ("beat", _) => {}
                other => panic!("nobody writes {other:?}"),
            },
            News::Removed(key, _) => match key.split_once('/').unwrap() {
                ("claim", job) => drop(self.claims.remove(job)),
                ("machine", machine) => drop(self.machines.remove(machine)),
                ("beat", _) => {}
                other => panic!("nobody removes {other:?}"),
            },
        }
    }
}

/// Does all jobs under the faults of a seed, and checks each change.
pub(crate) fn run(agreement: Arc<dyn Agreement>, seed: u64) {
    let mut chance = Chance::new(seed);
    let flaky = Arc::new(Flaky::new(Arc::clone(&agreement), seed.rotate_left(32)));
    let begin = agreement.list("").unwrap().revision;
    let mut watch = agreement.watch("", begin).unwrap();
    let node = |name: usize| Node {
        work: Work::new(Arc::clone(&flaky) as Arc<dyn Agreement>, &format!("node-{name}"), Duration::from_secs(LEASE)),
        claim: None,
        renewed: 0,
        stopped: 0,
    };
    let mut nodes: Vec<_> = (0..NODES).map(node).collect();
    for job in 0..JOBS {
        let (id, machine) = (format!("job-{job}"), format!("machine-{}", job % MACHINES));
        // Asked for until it is there.
        while nodes[0].work.add(&id, &machine, "measure").is_err() {}
    }
    let mut history = History::default();
    let calm_from = 600;
    for now in 0.. {
        assert!(now < 20_000, "jobs are left: {:?}", nodes[0].work.jobs());
        if now == calm_from {
            flaky.calm();
        }
        flaky.tick();
        for (at, one) in nodes.iter_mut().enumerate() {
            if now < calm_from {
                match chance.below(100) {
                    0 => *one = node(at),
                    1..4 => one.stopped = chance.below(3 * LEASE),
                    _ => {}
                }
            }
            if one.stopped > 0 {
                one.stopped -= 1;
                continue;
            }
            step(one, now, &mut chance);
        }
        watch.next(Duration::ZERO).unwrap().news.into_iter().for_each(|news| history.take(news));
        if now > calm_from
            && nodes[0].work.jobs().unwrap().values().all(|job| matches!(job.stage, Stage::Done | Stage::Failed))
        {
            break;
        }
    }
    // A watch may lag behind what is acknowledged.
    while history.ended.len() < JOBS {
        let news = watch.next(patience()).unwrap().news;
        assert!(!news.is_empty(), "all changes are told");
        news.into_iter().for_each(|news| history.take(news));
    }
    for (id, job) in nodes[0].work.jobs().unwrap() {
        let repeats = nodes[0].work.repeats(&id).unwrap();
        match job.stage {
            Stage::Done => {
                assert_eq!(repeats.keys().copied().collect::<Vec<_>>(), (0..REPEATS).collect::<Vec<_>>(), "{id}")
            }
            _ => assert!(job.said.is_some_and(|said| said.contains("lost")), "{id}"),
        }
    }
    assert!(history.claimed >= JOBS && history.machines.is_empty() && history.claims.is_empty());
}

/// What a node does in one tick.
fn step(node: &mut Node, now: u64, chance: &mut Chance) {
    let Some(claim) = node.claim.clone() else {
        let waiting = node.work.jobs().unwrap_or_default().into_iter().filter(|(_, job)| job.stage == Stage::Waiting);
        let waiting: Vec<_> = waiting.map(|(id, _)| id).collect();
        let claim = match waiting.len() as u64 {
            0 => None,
            count => node.work.claim(&waiting[chance.below(count) as usize]).ok().flatten(),
        };
        // Whatever is found in one look is kept: of several, one is done now, and the others are lost again.
        let taken = node.work.take_over(Duration::from_secs(now)).unwrap_or_default();
        node.claim = claim.or_else(|| taken.into_iter().next());
        node.renewed = now;
        return;
    };
    match node.work.beat(&claim) {
        Ok(()) => node.renewed = now,
        Err(WorkError::Lost(_)) => node.claim = None,
        Err(_) => {}
    }
    // Without an answer for a lease it stops what it does.
    if now - node.renewed >= LEASE {
        node.claim = None;
    }
    if node.claim.is_none() {
        return;
    }
    let Ok(repeats) = node.work.repeats(&claim.job) else { return };
    let done = match (0..REPEATS).find(|repeat| !repeats.contains_key(repeat)) {
        Some(repeat) => node.work.store(&claim, repeat, &format!("{repeat} at {now}")).map(drop),
        None => node.work.end(&claim, None).map(|()| node.claim = None),
    };
    if let Err(WorkError::Lost(_)) = done {
        node.claim = None;
    }
}
