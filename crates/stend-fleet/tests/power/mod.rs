//! A power cut of all members of etcd: what their disks had been given by then, and had been told to keep, is all that there is.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use stend_fleet::{Agreement as _, Change, Committed, Condition, Etcd};
use stend_testing::etcd::{Member, Place};
use stend_testing::wait_for;
use tempfile::TempDir;

use crate::disks::Disk;
use crate::engines::{AtEnd, etcd};
use crate::hosts::can_be_made;

const MEMBERS: usize = 3;
/// So many are acknowledged before the power fails.
const WRITES: usize = 200;
/// In MiB: etcd takes 64 for its log at once, and for the next one.
const DISK: u64 = 256;

/// A disk with a cache of its own: a filesystem on a file of another one. What the inner one gives to its device is in memory of the
/// outer one, until the inner one tells its device to keep it.
struct Cached {
    // Dropped in this order.
    inner: Disk,
    outer: Disk,
}

impl Cached {
    fn new(directory: &Path, name: &str) -> Self {
        let outer = Disk::new(directory, name, DISK + DISK / 4);
        Self { inner: Disk::new(outer.path(), "inner", DISK), outer }
    }

    /// What is left of it after a power cut.
    fn cut(&self, directory: &Path, name: &str) -> Self {
        let image = directory.join(format!("{name}.image"));
        self.outer.copy_device(&image);
        let outer = Disk::of(image);
        Self { inner: Disk::of(outer.path().join("inner.image")), outer }
    }
}

/// The cluster, of which this member is asked first.
fn asked(members: &[Member], first: usize) -> Etcd {
    let mut addresses: Vec<_> = members.iter().map(Member::address).collect();
    addresses.rotate_left(first);
    etcd(&addresses.join(","))
}

/// Waits until all threads of a process are stopped: it has finished what it asked of the kernel.
fn wait_until_stopped(pid: u32) {
    wait_for("the member stops", || {
        let threads = std::fs::read_dir(format!("/proc/{pid}/task")).unwrap();
        threads.flatten().all(|thread| {
            let stat = std::fs::read_to_string(thread.path().join("stat")).unwrap_or_default();
            stat.rsplit_once(") ").is_none_or(|(_, rest)| rest.starts_with('T'))
        })
    });
}

/// What there is after a power cut.
struct Cut {
    /// Keys whose writes were acknowledged before.
    acknowledged: BTreeSet<String>,
    /// Where the members were, with what is left of their data.
    places: Vec<Place>,
    _disks: Vec<Cached>,
    _directory: TempDir,
}

impl Cut {
    /// Writes until the power fails. Nothing where there is no etcd, or no disks are made.
    fn make(options: &[&str]) -> Option<Self> {
        if !can_be_made() {
            return None;
        }
        let directory = tempfile::tempdir().unwrap();
        let disks: Vec<_> = (0..MEMBERS).map(|at| Cached::new(directory.path(), &format!("m{at}"))).collect();
        let mut places: Vec<_> = disks.iter().map(|disk| Place::here(disk.inner.path())).collect();
        let mut members = Member::all("http", places.clone(), options)?;
        members.iter_mut().for_each(Member::begin);
        members.iter_mut().for_each(Member::wait_for_answer);
        let (acknowledged, is_over) = (Mutex::new(BTreeSet::new()), AtomicBool::new(false));
        let write = |etcd: &Etcd, at: usize| {
            for key in (0..).map(|count| format!("write/{at}-{count}-")) {
                let done = etcd.commit(&[Condition::Absent(key.clone())], &[Change::Put(key.clone(), "x".repeat(100))]);
                if matches!(done, Ok(Committed::At(_))) {
                    acknowledged.lock().unwrap().insert(key);
                }
                if is_over.load(Ordering::Relaxed) {
                    return;
                }
            }
        };
        let left: Vec<_> = std::thread::scope(|scope| {
            let _over = AtEnd(|| is_over.store(true, Ordering::Relaxed));
            for at in 0..MEMBERS {
                let etcd = asked(&members, at);
                scope.spawn(move || write(&etcd, at));
            }
            wait_for("writes are acknowledged", || acknowledged.lock().unwrap().len() >= WRITES);
            // Writes go on meanwhile.
            members.iter_mut().for_each(|member| member.signal("STOP"));
            members.iter().for_each(|member| wait_until_stopped(member.pid().unwrap()));
            let cut = |(at, disk): (usize, &Cached)| disk.cut(directory.path(), &format!("after-{at}"));
            let left = disks.iter().enumerate().map(cut).collect();
            is_over.store(true, Ordering::Relaxed);
            members.iter_mut().for_each(Member::kill);
            left
        });
        // Members keep their addresses.
        places.iter_mut().zip(&left).for_each(|(place, disk)| place.data = disk.inner.path().join("data"));
        let acknowledged = acknowledged.into_inner().unwrap();
        Some(Self { acknowledged, places, _disks: left, _directory: directory })
    }

    /// Those that were acknowledged, and that fewer than two of three members have on their disks: in what they would read when they begin
    /// again, keys are as they were sent. Members that have lost much do not begin at all, and do not end.
    fn lost(&self) -> Vec<&String> {
        let kept = |place: &Place| -> BTreeSet<String> {
            let words = ["-rahoE", "write/[0-9]+-[0-9]+-", place.data.to_str().unwrap()];
            let found = Command::new("grep").args(words).output().unwrap();
            String::from_utf8(found.stdout).unwrap().lines().map(str::to_owned).collect()
        };
        let kept: Vec<_> = self.places.iter().map(kept).collect();
        let is_lost = |key: &&String| kept.iter().filter(|kept| kept.contains(*key)).count() < 2;
        let lost: Vec<_> = self.acknowledged.iter().filter(is_lost).collect();
        println!("{} of {} are lost", lost.len(), self.acknowledged.len());
        lost
    }
}

#[test]
fn when_power_fails_everywhere_all_that_was_acknowledged_is_there() {
    let Some(cut) = Cut::make(&[]) else { return };
    assert_eq!(cut.lost(), [""; 0]);
    let mut members = Member::all("http", cut.places.clone(), &[]).unwrap();
    members.iter_mut().for_each(Member::begin);
    members.iter_mut().for_each(Member::wait_for_answer);
    let there = asked(&members, 0).list("").unwrap().entries;
    let there: BTreeSet<_> = there.into_iter().map(|entry| entry.key).collect();
    let missing: Vec<_> = cut.acknowledged.difference(&there).collect();
    assert_eq!(missing, [""; 0]);
}

/// Else the test before this one sees nothing.
#[test]
fn members_that_do_not_wait_for_their_disks_lose_what_was_acknowledged() {
    let Some(cut) = Cut::make(&["--unsafe-no-fsync"]) else { return };
    assert!(!cut.lost().is_empty());
}
