//! Three members of etcd, and nodes that work, while members and nodes die, are stopped, are cut off or have bad disks.

mod faults;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use stend_fleet::{Agreement, Claim};
use stend_testing::wait_for;

use crate::chaos::{Chance, History, Node, Stage};
use crate::engines::{AtEnd, coded, decoded};
use faults::{Cluster, Hand, Kind, MEMBERS, Whom, Whose};

const NODES: usize = 6;
/// Fewer than nodes: some wait for those that are silent.
const MACHINES: usize = 4;
const JOBS: usize = 24;
const REPEATS: u32 = 4;
const LEASE: Duration = Duration::from_secs(3);
const BEAT: Duration = Duration::from_millis(500);

/// What was acknowledged: a claim, or a repeat under it.
struct Acknowledged {
    at: Instant,
    job: String,
    repeat: Option<u32>,
    claim: Claim,
}

/// A node, until all jobs have ended. What was acknowledged is noted.
fn work(new: impl Fn() -> Node, hand: &Hand, acknowledged: &Mutex<Vec<Acknowledged>>, is_over: &AtomicBool) {
    let mut node = new();
    let note = |job: String, repeat: Option<u32>, claim: Claim| {
        acknowledged.lock().unwrap().push(Acknowledged { at: Instant::now(), job, repeat, claim });
    };
    let began = Instant::now();
    let mut renewed = Instant::now();
    let mut tried = Instant::now();
    while !is_over.load(Ordering::Relaxed) {
        if hand.dies() {
            node = new();
        }
        if tried.elapsed() > BEAT {
            tried = Instant::now();
            // By when it was asked for: nobody has seen it before.
            let asked = Instant::now();
            if node.beat() {
                renewed = asked;
            }
        }
        if renewed.elapsed() > LEASE {
            node.claim = None;
            continue;
        }
        if node.claim.is_none() {
            node.look_for_work(began.elapsed(), LEASE, |_| 0);
            if let Some((job, claim)) = node.claim.clone() {
                note(job, None, claim);
            }
            std::thread::sleep(BEAT / 5);
            continue;
        }
        // It takes a while to measure.
        std::thread::sleep(Duration::from_millis(50));
        // At the worst moment: it has looked whether it is heard.
        hand.pass();
        if let Some((job, repeat, claim)) = node.work("a document") {
            note(job, Some(repeat), claim);
        }
    }
}

/// How long the work for a job paused when it changed owner: from the last change of the old one that was acknowledged, to the first
/// repeat of the new one.
fn takeovers(acknowledged: &[Acknowledged]) -> Vec<Duration> {
    let mut last: BTreeMap<&str, (&str, Instant)> = BTreeMap::new();
    let mut pauses = Vec::new();
    for Acknowledged { at, job, repeat, claim } in acknowledged {
        match last.get(job.as_str()) {
            Some((word, _)) if *word != claim.word && repeat.is_none() => continue,
            Some((word, before)) if *word != claim.word => pauses.push(at.duration_since(*before)),
            _ => {}
        }
        last.insert(job, (&claim.word, *at));
    }
    pauses.sort();
    pauses
}

/// What there is as a member knows it by itself, or as the majority does; nothing if it does not answer.
fn stored(member: &str, is_by_itself: bool) -> Option<Vec<Value>> {
    let mut all: Vec<Value> = Vec::new();
    loop {
        let from = all
            .last()
            .map_or_else(|| coded("stend/"), |pair| coded(&format!("{}\0", decoded(pair["key"].as_str().unwrap()))));
        let body = json!({ "key": from, "range_end": coded("stend0"), "limit": "1000", "serializable": is_by_itself });
        let answer = ureq::post(format!("http://{member}/v3/kv/range")).send(body.to_string()).ok()?;
        let answer: Value = serde_json::from_reader(answer.into_body().into_reader()).ok()?;
        all.extend(answer["kvs"].as_array().into_iter().flatten().cloned());
        if answer["more"] != true {
            return Some(all);
        }
    }
}

/// The repeats that are stored: the job, the repeat, and the word of the claim.
fn repeats(stored: &[Value]) -> BTreeSet<(String, u32, String)> {
    let text = |pair: &Value, field: &str| decoded(pair[field].as_str().unwrap_or_default());
    let repeat = |pair: &Value| {
        let key = text(pair, "key");
        let (job, number) = key.strip_prefix("stend/repeat/")?.split_once('/').unwrap();
        let value: Value = serde_json::from_str(&text(pair, "value")).unwrap();
        Some((job.to_owned(), number.parse().unwrap(), value["claim"].as_str().unwrap().to_owned()))
    };
    stored.iter().filter_map(repeat).collect()
}

/// CHAOS in the environment says for how many seconds, and SEED with which faults. Without it, each kind of fault comes once.
#[test]
fn no_repeat_is_lost_or_doubled_whatever_happens_to_members_and_nodes() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let seed = number("SEED").unwrap_or_else(|| u64::from(std::process::id()));
    println!("SEED={seed}");
    let Some(cluster) = Cluster::start() else { return };
    let etcd = cluster.etcd(0);
    let began = etcd.list("").unwrap().revision;
    let acknowledged = Mutex::new(Vec::new());
    let (is_over, mut jobs) = (AtomicBool::new(false), 0);
    let add = |node: &Node, count: usize, jobs: &mut usize| {
        for _ in 0..count {
            node.add(&format!("job-{:05}", *jobs), &format!("machine-{}", *jobs % MACHINES));
            *jobs += 1;
        }
    };
    let new = |name: &str, first: usize| {
        let agreement: Arc<dyn Agreement> = Arc::new(cluster.etcd(first));
        Node::new(&agreement, name, REPEATS)
    };
    let overseer = new("overseer", 0);
    add(&overseer, JOBS, &mut jobs);
    let stages = || -> Vec<Stage> {
        let _ = overseer.mirror.catch_up(Duration::ZERO);
        overseer.mirror.known().jobs.iter().map(|(_, job)| job.stage).collect()
    };
    std::thread::scope(|scope| {
        let _over = AtEnd(|| {
            is_over.store(true, Ordering::Relaxed);
            cluster.hands.iter().for_each(|hand| hand.stop(false));
        });
        for (at, hand) in cluster.hands.iter().enumerate() {
            let (new, cluster, acknowledged, is_over) = (&new, &cluster, &acknowledged, &is_over);
            scope.spawn(move || {
                cluster.enter(at);
                work(|| new(&format!("node-{at}"), at), hand, acknowledged, is_over);
            });
        }
        let mut faults = Faults {
            cluster: &cluster,
            overseer: &overseer,
            chance: Chance::new(seed),
            began: Instant::now(),
            left: cluster.kinds(),
        };
        let until = number("CHAOS").map(|seconds| Instant::now() + Duration::from_secs(seconds));
        while until.map_or(!faults.left.is_empty(), |until| Instant::now() < until) {
            if faults.left.is_empty() {
                faults.left = cluster.kinds();
            }
            faults.happen();
            if stages().into_iter().filter(|stage| *stage == Stage::Waiting).count() < JOBS / 2 {
                add(&overseer, JOBS / 2, &mut jobs);
            }
        }
        wait_for("all jobs have ended", || {
            cluster.begin_again();
            let all = stages();
            all.len() == jobs && all.iter().all(|stage| matches!(stage, Stage::Done | Stage::GivenUp))
        });
    });
    // Each change there was, in its order.
    let mut watch = etcd.watch("", began).unwrap();
    let mut history = History::default();
    wait_for("all changes are told", || {
        let told = watch.next(Duration::from_secs(1));
        told.into_iter().flat_map(|told| told.news).for_each(|news| history.take(news));
        history.ended() == jobs
    });
    // Each member has the same, and what was acknowledged is there.
    let mut all = Vec::new();
    wait_for("all members have the same", || {
        cluster.begin_again();
        let read = |by_itself| cluster.addresses.iter().map(move |member| stored(member, by_itself));
        all = read(true).chain(read(false)).collect();
        all[0].is_some() && all.windows(2).all(|two| two[0] == two[1])
    });
    let stored = repeats(all[0].as_ref().unwrap());
    let acknowledged = acknowledged.into_inner().unwrap();
    for Acknowledged { job, repeat, claim, .. } in &acknowledged {
        let is_there = repeat.is_none_or(|repeat| stored.contains(&(job.clone(), repeat, claim.word.clone())));
        assert!(is_there, "{repeat:?} of {job}, under {claim:?}, is missing");
    }
    let mut given_up = 0;
    for (id, job) in overseer.mirror.known().jobs.iter() {
        let repeats = stored.iter().filter(|(job, ..)| job == id).count();
        given_up += usize::from(job.stage == Stage::GivenUp);
        assert!(job.stage == Stage::GivenUp || repeats == REPEATS as usize, "{id}: {job:?} has {repeats}");
    }
    println!("{jobs} jobs, {given_up} given up, {} claims, {} repeats", history.claimed(), stored.len());
    let pauses = takeovers(&acknowledged);
    if let Some(worst) = pauses.last() {
        let median = pauses[pauses.len() / 2];
        println!("{} takeovers: {median:.1?} median, {worst:.1?} worst, with a lease of {LEASE:?}", pauses.len());
    }
}

/// What happens, up to four faults at a time.
struct Faults<'a> {
    cluster: &'a Cluster,
    overseer: &'a Node,
    chance: Chance,
    began: Instant,
    /// Those that have not come yet.
    left: Vec<(Kind, Whose)>,
}

impl Faults<'_> {
    fn below(&mut self, end: usize) -> usize {
        self.chance.below(end as u64) as usize
    }

    fn happen(&mut self) {
        std::thread::sleep(Duration::from_millis(100 + self.chance.below(500)));
        let mut now: Vec<(Kind, Whom)> = Vec::new();
        for _ in 0..=self.chance.below(4).min(self.left.len() as u64 - 1) {
            let at = self.below(self.left.len());
            let (kind, whose) = self.left.swap_remove(at);
            let whom = self.choose(whose);
            if now.iter().any(|(_, other)| *other == whom) {
                self.left.push((kind, whose));
                continue;
            }
            println!("{:.1?}: {kind:?} {whom:?}", self.began.elapsed());
            self.cluster.begin(kind, whom, &mut self.chance);
            now.push((kind, whom));
        }
        let claims: Vec<_> = now.iter().filter_map(|(kind, whom)| self.lost_by(*kind, *whom)).collect();
        std::thread::sleep(Duration::from_millis(500 + self.chance.below(1500)));
        let (of_members, of_nodes): (Vec<_>, Vec<_>) =
            now.into_iter().partition(|(_, whom)| matches!(whom, Whom::Member(_)));
        of_members.into_iter().for_each(|(kind, whom)| self.cluster.end(kind, whom));
        wait_for("others take over", || {
            let _ = self.overseer.mirror.catch_up(Duration::ZERO);
            claims.iter().all(|(job, claim)| self.overseer.claim_to(job).as_ref() != Some(claim))
        });
        of_nodes.into_iter().for_each(|(kind, whom)| self.cluster.end(kind, whom));
        self.cluster.begin_again();
    }

    /// Of nodes one that works, if there is one.
    fn choose(&mut self, whom: Whose) -> Whom {
        let chosen = whom(0);
        match chosen {
            Whom::Member(_) => whom(self.below(MEMBERS)),
            Whom::Node(_) => {
                let _ = self.overseer.mirror.catch_up(Duration::ZERO);
                let first = self.below(NODES);
                let mut all = (0..NODES).map(|at| (first + at) % NODES);
                whom(all.find(|at| self.overseer.claim_by(&format!("node-{at}")).is_some()).unwrap_or(first))
            }
        }
    }

    /// What a node has that will be silent.
    fn lost_by(&self, kind: Kind, whom: Whom) -> Option<(String, Claim)> {
        match whom {
            Whom::Node(at) if kind != Kind::Kill => self.overseer.claim_by(&format!("node-{at}")),
            _ => None,
        }
    }
}
