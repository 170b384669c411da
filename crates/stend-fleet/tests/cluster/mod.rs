//! Three members of etcd that are killed and stopped while nodes work.

use std::collections::BTreeSet;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use stend_fleet::{Access, Address, Agreement as _, Claim, Etcd, Stage, Work, WorkError};
use tempfile::TempDir;

use crate::chaos::{Chance, History};
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

/// A node, until all jobs have ended. What was acknowledged is noted.
fn node(work: &mut Work, acknowledged: &Mutex<BTreeSet<(String, u32, i64)>>, is_over: &AtomicBool) {
    let began = Instant::now();
    let mut claim: Option<Claim> = None;
    let mut renewed = Instant::now();
    while !is_over.load(Ordering::Relaxed) {
        let Some(held) = claim.clone() else {
            let jobs = work.jobs().unwrap_or_default();
            let waiting = jobs.into_iter().find(|(_, job)| job.stage == Stage::Waiting);
            claim = waiting.and_then(|(id, _)| work.claim(&id).ok().flatten());
            if claim.is_none() {
                claim = work.take_over(began.elapsed()).unwrap_or_default().pop();
                std::thread::sleep(BEAT / 5);
            }
            renewed = Instant::now();
            continue;
        };
        if renewed.elapsed() > BEAT {
            match work.beat(&held) {
                Ok(()) => renewed = Instant::now(),
                Err(WorkError::Lost(_)) => claim = None,
                Err(_) if renewed.elapsed() > LEASE => claim = None,
                Err(_) => {}
            }
            continue;
        }
        let Ok(repeats) = work.repeats(&held.job) else { continue };
        let done = match (0..REPEATS).find(|repeat| !repeats.contains_key(repeat)) {
            Some(repeat) => {
                // It takes a while to measure.
                std::thread::sleep(Duration::from_millis(50));
                work.store(&held, repeat, "a document").map(|is_mine| {
                    if is_mine {
                        acknowledged.lock().unwrap().insert((held.job.clone(), repeat, held.number));
                    }
                })
            }
            None => work.end(&held, None).map(|()| claim = None),
        };
        if let Err(WorkError::Lost(_)) = done {
            claim = None;
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
    let add = |work: &Work, count: usize, jobs: &mut usize| {
        for _ in 0..count {
            let (id, machine) = (format!("job-{:05}", *jobs), format!("machine-{}", *jobs % NODES));
            wait_for("a job is added", || work.add(&id, &machine, "measure").is_ok());
            *jobs += 1;
        }
    };
    let new = |name: &str| Work::new(Arc::new(cluster.etcd()), name, LEASE);
    let overseer = new("overseer");
    add(&overseer, JOBS, &mut jobs);
    let mut works: Vec<_> = (0..NODES).map(|at| new(&format!("node-{at}"))).collect();
    std::thread::scope(|scope| {
        for work in &mut works {
            scope.spawn(|| node(work, &acknowledged, &is_over));
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
            let open = overseer.jobs().unwrap_or_default();
            if open.values().filter(|job| job.stage == Stage::Waiting).count() < JOBS / 2 {
                add(&overseer, JOBS / 2, &mut jobs);
            }
        }
        wait_for("all jobs have ended", || {
            let all = overseer.jobs().unwrap_or_default();
            all.len() == jobs && all.values().all(|job| matches!(job.stage, Stage::Done | Stage::Failed))
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
                    value["claim"].as_i64().unwrap(),
                )
            })
            .collect();
        let missing: Vec<_> = acknowledged.lock().unwrap().difference(&stored).cloned().collect();
        assert!(missing.is_empty(), "{missing:?} are missing");
    }
    for (id, job) in overseer.jobs().unwrap() {
        let repeats = overseer.repeats(&id).unwrap().len();
        assert!(job.stage == Stage::Failed || repeats == REPEATS as usize, "{id}: {job:?} has {repeats}");
    }
    let (all, failed) = (overseer.jobs().unwrap(), |job: &&stend_fleet::Job| job.stage == Stage::Failed);
    println!("{jobs} jobs, {} given up, {} claims", all.values().filter(failed).count(), history.claimed());
}
