//! Three members of etcd that are killed and stopped while nodes work.

use std::collections::BTreeSet;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use stend_fleet::{Access, Address, Agreement, Etcd};
use tempfile::TempDir;

use crate::chaos::{Chance, History, Node, Stage};
use crate::engines::{free_address, patience, wait_for};

const NODES: usize = 4;
const JOBS: usize = 24;
const REPEATS: u32 = 4;
const LEASE: Duration = Duration::from_secs(4);
const BEAT: Duration = Duration::from_millis(500);

/// A member, which may be away.
struct Member {
    clients: String,
    peers: String,
    directory: TempDir,
    child: Option<Child>,
}

struct Cluster {
    members: Vec<Member>,
}

impl Cluster {
    /// Three that answer; nothing where there is no etcd.
    fn start() -> Option<Self> {
        let member = || Member {
            clients: free_address(),
            peers: free_address(),
            directory: tempfile::tempdir().unwrap(),
            child: None,
        };
        let mut cluster = Self { members: (0..3).map(|_| member()).collect() };
        for at in 0..3 {
            if !cluster.begin(at) {
                return None;
            }
        }
        let etcd = cluster.etcd();
        wait_for("the cluster answers", || etcd.get("any").is_ok());
        Some(cluster)
    }

    fn address(&self) -> Address {
        let members: Vec<_> = self.members.iter().map(|member| member.clients.as_str()).collect();
        Address::parse(&format!("etcd://{}", members.join(","))).unwrap()
    }

    fn etcd(&self) -> Etcd {
        Etcd::new(self.address(), Access::default()).unwrap()
    }

    /// Starts a member, with what it has on its disk; whether there is an etcd.
    fn begin(&mut self, at: usize) -> bool {
        let name = |at: usize, member: &Member| format!("m{at}=http://{}", member.peers);
        let all: Vec<_> = self.members.iter().enumerate().map(|(at, member)| name(at, member)).collect();
        let member = &mut self.members[at];
        let (clients, peers) = (format!("http://{}", member.clients), format!("http://{}", member.peers));
        let child = Command::new("etcd")
            .args(["--name", &format!("m{at}"), "--data-dir", member.directory.path().to_str().unwrap()])
            .args(["--log-level", "error", "--initial-cluster", &all.join(",")])
            .args(["--listen-client-urls", &clients, "--advertise-client-urls", &clients])
            .args(["--listen-peer-urls", &peers, "--initial-advertise-peer-urls", &peers])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        member.child = child.ok();
        member.child.is_some()
    }

    fn kill(&mut self, at: usize) {
        if let Some(mut child) = self.members[at].child.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    fn signal(&self, at: usize, signal: &str) {
        if let Some(child) = &self.members[at].child {
            let done = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
            assert!(done.success());
        }
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for at in 0..self.members.len() {
            self.kill(at);
        }
    }
}

/// A node, until all jobs have ended. What was acknowledged is noted: the job, the repeat, and the word of the claim.
fn work(node: &mut Node, acknowledged: &Mutex<BTreeSet<(String, u32, String)>>, is_over: &AtomicBool) {
    let began = Instant::now();
    let mut renewed = Instant::now();
    let mut tried = Instant::now();
    while !is_over.load(Ordering::Relaxed) {
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
            std::thread::sleep(BEAT / 5);
            continue;
        }
        // It takes a while to measure.
        std::thread::sleep(Duration::from_millis(50));
        if let Some((job, repeat, claim)) = node.work("a document") {
            acknowledged.lock().unwrap().insert((job, repeat, claim.word));
        }
    }
}

/// CHAOS in the environment says for how many seconds, and SEED with which faults.
#[test]
fn no_repeat_is_lost_or_doubled_while_members_die_and_stop() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let seconds = number("CHAOS").unwrap_or(10);
    let seed = number("SEED").unwrap_or_else(|| u64::from(std::process::id()));
    println!("SEED={seed}");
    let Some(mut cluster) = Cluster::start() else { return };
    let etcd = Arc::new(cluster.etcd());
    let begin = etcd.list("").unwrap().revision;
    let mut chance = Chance::new(seed);
    let acknowledged = Mutex::new(BTreeSet::new());
    let (is_over, mut jobs) = (AtomicBool::new(false), 0);
    let add = |node: &Node, count: usize, jobs: &mut usize| {
        for _ in 0..count {
            node.add(&format!("job-{:05}", *jobs), &format!("machine-{}", *jobs % NODES));
            *jobs += 1;
        }
    };
    let new = |name: &str| {
        let agreement: Arc<dyn Agreement> = Arc::new(cluster.etcd());
        Node::new(&agreement, name, REPEATS)
    };
    let overseer = new("overseer");
    add(&overseer, JOBS, &mut jobs);
    let mut nodes: Vec<_> = (0..NODES).map(|at| new(&format!("node-{at}"))).collect();
    let stages = |node: &Node| -> Vec<Stage> {
        let _ = node.mirror.catch_up(Duration::ZERO);
        node.mirror.known().jobs.iter().map(|(_, job)| job.stage).collect()
    };
    std::thread::scope(|scope| {
        for node in &mut nodes {
            scope.spawn(|| work(node, &acknowledged, &is_over));
        }
        let until = Instant::now() + Duration::from_secs(seconds);
        while Instant::now() < until {
            std::thread::sleep(Duration::from_millis(200 + chance.below(800)));
            let at = usize::try_from(chance.below(3)).unwrap();
            let pause = Duration::from_millis(500 + chance.below(3000));
            if chance.percent(50) {
                cluster.kill(at);
                std::thread::sleep(pause);
                assert!(cluster.begin(at));
            } else {
                cluster.signal(at, "-STOP");
                std::thread::sleep(pause);
                cluster.signal(at, "-CONT");
            }
            if stages(&overseer).into_iter().filter(|stage| *stage == Stage::Waiting).count() < JOBS / 2 {
                add(&overseer, JOBS / 2, &mut jobs);
            }
        }
        wait_for("all jobs have ended", || {
            let all = stages(&overseer);
            all.len() == jobs && all.iter().all(|stage| matches!(stage, Stage::Done | Stage::GivenUp))
        });
        is_over.store(true, Ordering::Relaxed);
    });
    // Each change there was, in its order.
    let mut watch = etcd.watch("", begin).unwrap();
    let mut history = History::default();
    while history.ended() < jobs {
        let news = watch.next(patience()).unwrap().news;
        assert!(!news.is_empty(), "all changes are told");
        news.into_iter().for_each(|news| history.take(news));
    }
    // What was acknowledged is there on each member.
    for member in &cluster.members {
        let one = Etcd::new(Address::parse(&format!("etcd://{}", member.clients)).unwrap(), Access::default()).unwrap();
        wait_for("the member answers", || one.get("any").is_ok());
        let stored = one.list("repeat/").unwrap().entries;
        let stored: BTreeSet<_> = stored
            .iter()
            .map(|entry| {
                let mut parts = entry.key.split('/').skip(1);
                let value: serde_json::Value = serde_json::from_str(&entry.value).unwrap();
                (
                    parts.next().unwrap().to_owned(),
                    parts.next().unwrap().parse().unwrap(),
                    value["claim"].as_str().unwrap().to_owned(),
                )
            })
            .collect();
        let missing: Vec<_> = acknowledged.lock().unwrap().difference(&stored).cloned().collect();
        assert!(missing.is_empty(), "{missing:?} are missing");
    }
    let mut given_up = 0;
    for (id, job) in overseer.mirror.known().jobs.iter() {
        let repeats = etcd.list(&format!("repeat/{id}/")).unwrap().entries.len();
        given_up += usize::from(job.stage == Stage::GivenUp);
        assert!(job.stage == Stage::GivenUp || repeats == REPEATS as usize, "{id}: {job:?} has {repeats}");
    }
    println!("{jobs} jobs, {given_up} given up, {} claims", history.claimed());
}
