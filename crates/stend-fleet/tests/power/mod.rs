//! A power cut of all members of etcd: what their disks had been given by then, and had been told to keep, is all that there is.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use stend_fleet::{Agreement as _, Change, Committed, Condition, Etcd};
use stend_testing::etcd::{Member, Place};
use stend_testing::wait_for;

use crate::disks::Disk;
use crate::engines::etcd;
use crate::hosts::can_be_made;

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

fn cluster(members: &[Member], first: usize) -> Etcd {
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

/// Writes until the power fails; how many of those that were acknowledged are lost then.
fn lost(options: &[&str]) -> Option<usize> {
    let directory = tempfile::tempdir().unwrap();
    let disks: Vec<_> = (0..3).map(|at| Cached::new(directory.path(), &format!("m{at}"))).collect();
    let mut places: Vec<_> = disks.iter().map(|disk| Place::here(disk.inner.path())).collect();
    let mut before = Member::all("http", places.clone(), options)?;
    before.iter_mut().for_each(Member::begin);
    before.iter_mut().for_each(Member::wait_for_answer);
    let (acknowledged, is_over) = (Mutex::new(BTreeSet::new()), AtomicBool::new(false));
    let write = |etcd: &Etcd, at: usize| {
        for count in 0.. {
            let key = format!("{at}/{count}");
            let done = etcd.commit(&[Condition::Absent(key.clone())], &[Change::Put(key.clone(), "x".repeat(100))]);
            if is_over.load(Ordering::Relaxed) {
                return;
            }
            if matches!(done, Ok(Committed::At(_))) {
                acknowledged.lock().unwrap().insert(key);
            }
        }
    };
    let left = std::thread::scope(|scope| {
        for at in 0..before.len() {
            let etcd = cluster(&before, at);
            scope.spawn(move || write(&etcd, at));
        }
        wait_for("writes are acknowledged", || acknowledged.lock().unwrap().len() >= WRITES);
        // Writes go on meanwhile.
        before.iter_mut().for_each(|member| member.signal("STOP"));
        before.iter().for_each(|member| wait_until_stopped(member.pid().unwrap()));
        let cut = |(at, disk): (usize, &Cached)| disk.cut(directory.path(), &format!("after-{at}"));
        let left: Vec<_> = disks.iter().enumerate().map(cut).collect();
        is_over.store(true, Ordering::Relaxed);
        before.iter_mut().for_each(Member::kill);
        left
    });
    // Members keep their addresses.
    places.iter_mut().zip(&left).for_each(|(place, disk)| place.data = disk.inner.path().join("data"));
    let mut after = Member::all("http", places, options)?;
    after.iter_mut().for_each(Member::begin);
    let mut have_ended = false;
    wait_for("the members answer, or find that they have lost too much", || {
        have_ended = after.iter_mut().any(|member| member.ended().is_some());
        have_ended || after.iter().all(Member::answers)
    });
    let there = if have_ended { Vec::new() } else { cluster(&after, 0).list("").unwrap().entries };
    let there: BTreeSet<_> = there.into_iter().map(|entry| entry.key).collect();
    let acknowledged = acknowledged.into_inner().unwrap();
    let lost = acknowledged.difference(&there).count();
    println!("{lost} of {} are lost{}", acknowledged.len(), if have_ended { ", and a member has ended" } else { "" });
    Some(lost)
}

#[test]
fn when_power_fails_everywhere_all_that_was_acknowledged_is_there() {
    if can_be_made()
        && let Some(lost) = lost(&[])
    {
        assert_eq!(lost, 0);
    }
}

/// Else the test before this one sees nothing.
#[test]
fn members_that_do_not_wait_for_their_disks_lose_what_was_acknowledged() {
    if can_be_made()
        && let Some(lost) = lost(&["--unsafe-no-fsync"])
    {
        assert_ne!(lost, 0);
    }
}
