//! What a large fleet asks of etcd: three members on this machine, many nodes that beat and follow, and jobs that are claimed and end.
//!
//! NODES, JOBS and SECONDS in the environment say how many and for how long, LEASE for how many seconds a node may be silent, and AGENTS how many of the
//! nodes are agents: they beat, and others follow the changes for them. Members that share two processors and one disk with all clients show orders of
//! magnitude, and what grows.

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use stend_fleet::{
    Access, Address, Agreement, Beat, Change, Claims, Condition, Entry, Etcd, Known, MOST_CHANGES, Mirror, Revision,
    Trouble,
};
use stend_testing::etcd::{Member, Place};

/// As `stend serve` has it: a lease of 20 seconds, in which a node beats four times.
const LEASE: usize = 20;
const BEATS: u32 = 4;

/// So many threads stand for all nodes when they beat.
const BEATERS: usize = 16;

/// A job takes ten minutes, so a node claims one in ten.
const JOB: Duration = Duration::from_secs(600);

#[derive(Default)]
struct Records {
    claims: Claims,
    jobs: usize,
}

impl Known for Records {
    fn set(&mut self, key: &str, entry: Option<&Entry>) {
        if !self.claims.set(key, entry) {
            self.jobs += 1;
        }
    }

    fn revision(&self, key: &str) -> Option<Revision> {
        self.claims.revision(key)
    }
}

fn claims(records: &Records) -> &Claims {
    &records.claims
}

/// The processor time of a process in seconds, and its memory in MiB.
fn used(pid: u32) -> (f64, u64) {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    let ticks: f64 = fields[11].parse::<f64>().unwrap() + fields[12].parse::<f64>().unwrap();
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    (ticks / 100.0, resident.split_whitespace().next().unwrap().parse::<u64>().unwrap() / 1024)
}

fn percentile(times: &mut [Duration], share: f64) -> f64 {
    times.sort();
    let at = ((times.len() as f64 * share).ceil() as usize).clamp(1, times.len()) - 1;
    times[at].as_secs_f64() * 1000.0
}

fn main() {
    let number =
        |name: &str, usual: usize| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual);
    let (nodes, jobs, seconds) = (number("NODES", 1000), number("JOBS", 10_000), number("SECONDS", 60));
    let followers = nodes.saturating_sub(number("AGENTS", 0));
    let beat_every = Duration::from_secs(number("LEASE", LEASE) as u64) / BEATS;
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let places = (0..3).map(|at| Place::here(&directory.path().join(at.to_string()))).collect();
    let mut members = Member::all("http", places, &[]).expect("etcd is installed");
    members.iter_mut().for_each(Member::begin);
    // Each node asks another member first.
    let etcd = |at: usize| {
        let mut order: Vec<_> = members.iter().map(|member| member.address()).collect();
        let turn = at % order.len();
        order.rotate_left(turn);
        let address = Address::parse(&format!("etcd://{}", order.join(","))).unwrap();
        Arc::new(Etcd::new(address, Access::default()).unwrap())
    };
    let first = etcd(0);
    while first.get("any").is_err() {
        std::thread::sleep(Duration::from_millis(100));
    }
    let began = Instant::now();
    let order = "o".repeat(300);
    for at in (0..jobs).step_by(MOST_CHANGES) {
        let keys = (at..jobs.min(at + MOST_CHANGES)).map(|job| format!("lab/order/{job:012}"));
        let (absent, put): (Vec<_>, Vec<_>) =
            keys.map(|key| (Condition::Absent(key.clone()), Change::Put(key, order.clone()))).unzip();
        first.commit(&absent, &put).unwrap();
    }
    println!("{jobs} jobs queued in {:.1} s", began.elapsed().as_secs_f64());
    let began = Instant::now();
    let listed = first.list("lab/").unwrap();
    println!("{} entries listed in {:.2} s", listed.entries.len(), began.elapsed().as_secs_f64());
    let is_over = AtomicBool::new(false);
    let (beats, claimed) = (Mutex::new(Vec::new()), Mutex::new(Vec::new()));
    let followed = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        // Each node follows all that changes, and agents are told by a node.
        for at in 0..followers {
            let (etcd, is_over, followed, behind) = (etcd(at), &is_over, &followed, listed.revision);
            let follow = move || {
                let mut watch = etcd.watch("lab/", behind).unwrap();
                while !is_over.load(Ordering::Relaxed) {
                    if let Ok(told) = watch.next(Duration::from_secs(1)) {
                        followed.fetch_add(told.news.len(), Ordering::Relaxed);
                    }
                }
            };
            std::thread::Builder::new().stack_size(128 << 10).spawn_scoped(scope, follow).unwrap();
        }
        for beater in 0..BEATERS {
            let (agreement, is_over, beats) = (etcd(beater) as Arc<dyn Agreement>, &is_over, &beats);
            scope.spawn(move || {
                let names = (beater..nodes).step_by(BEATERS);
                let mut own: Vec<_> =
                    names.map(|node| Beat::new(Arc::clone(&agreement), &format!("node-{node}"), "home")).collect();
                let mut times = Vec::new();
                while !is_over.load(Ordering::Relaxed) {
                    let began = Instant::now();
                    for beat in &mut own {
                        let asked = Instant::now();
                        if beat.renew(None).is_ok() {
                            times.push(asked.elapsed());
                        }
                        // Spread over the time between two beats.
                        std::thread::sleep(
                            (beat_every / u32::try_from(nodes / BEATERS + 1).unwrap()).saturating_sub(asked.elapsed()),
                        );
                    }
                    std::thread::sleep(beat_every.saturating_sub(began.elapsed()));
                }
                beats.lock().unwrap().extend(times);
            });
        }
        std::thread::sleep(Duration::from_secs(10));
        let before: Vec<_> = members.iter().map(|member| used(member.pid().unwrap())).collect();
        let began = Instant::now();
        scope.spawn(|| {
            let mirror = Mirror::<Records>::open(etcd(1) as Arc<dyn Agreement>, "claimer").unwrap();
            let mut times = Vec::new();
            for job in 0.. {
                if is_over.load(Ordering::Relaxed) {
                    break;
                }
                let (id, machine) = (format!("{job:012}"), format!("machine-{}", job % nodes));
                let asked = Instant::now();
                let done =
                    mirror.change(|draft| Ok::<_, Trouble>(draft.claim(claims, &id, &machine, "claimer").is_some()));
                if done == Ok(true) {
                    times.push(asked.elapsed());
                }
                std::thread::sleep((JOB / u32::try_from(nodes).unwrap()).saturating_sub(asked.elapsed()));
            }
            claimed.lock().unwrap().extend(times);
        });
        std::thread::sleep(Duration::from_secs(seconds as u64));
        let lasted = began.elapsed().as_secs_f64();
        for (member, before) in members.iter().zip(before) {
            let (after, memory) = used(member.pid().unwrap());
            println!(
                "member {}: {:.1} % of a core, {memory} MiB",
                member.address(),
                (after - before.0) / lasted * 100.0
            );
        }
        is_over.store(true, Ordering::Relaxed);
    });
    let (mut beats, mut claimed) = (beats.into_inner().unwrap(), claimed.into_inner().unwrap());
    println!(
        "{nodes} nodes, {followers} of them follow: {} beats, p50 {:.1} ms, p99 {:.1} ms",
        beats.len(),
        percentile(&mut beats, 0.5),
        percentile(&mut beats, 0.99)
    );
    println!(
        "{} claims, p50 {:.1} ms, p99 {:.1} ms",
        claimed.len(),
        percentile(&mut claimed, 0.5),
        percentile(&mut claimed, 0.99)
    );
    println!("{} changes told", followed.load(Ordering::Relaxed));
}
