//! What may happen to members of etcd and to nodes.

use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex};

use stend_fleet::Etcd;
use stend_testing::clock::Clock;
use stend_testing::etcd::{Member, Place};
use tempfile::TempDir;

use super::NODES;
use crate::chaos::Chance;
use crate::disks::Disk;
use crate::engines::etcd;
use crate::hosts::{Hosts, can_be_made};

pub(super) const MEMBERS: usize = 3;
/// The host that nothing happens to.
pub(super) const OVERSEER: usize = MEMBERS + NODES;

/// In MiB: more than the logs that etcd keeps, of 64 MiB each.
const DISK: u64 = 1024;

/// What happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// It dies, and begins again with what it has stored.
    Kill,
    /// It does nothing for a while.
    Stop,
    /// Nothing that it sends or is sent arrives.
    CutOff,
    /// Nothing that it is sent arrives.
    Deafen,
    /// Nothing that it sends arrives.
    Mute,
    /// Each `fsync` takes a third of a second longer.
    Slow,
    /// Its disk is full.
    Full,
    /// Its wall clock is set, to up to two days before or after what others say, and stays so.
    SetClock,
}

/// To whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Whom {
    Member(usize),
    Node(usize),
}

/// To a member or a node, of which the number is still to be chosen.
pub(super) type Whose = fn(usize) -> Whom;

impl Whom {
    fn host(self) -> usize {
        match self {
            Self::Member(at) => at,
            Self::Node(at) => MEMBERS + at,
        }
    }
}

/// What happens to a node is done by itself.
#[derive(Default)]
pub(super) struct Hand {
    is_stopped: Mutex<bool>,
    goes_on: Condvar,
    dies: AtomicBool,
}

impl Hand {
    /// Waits as long as it is stopped.
    pub(super) fn pass(&self) {
        drop(self.goes_on.wait_while(self.is_stopped.lock().unwrap(), |is_stopped| *is_stopped).unwrap());
    }

    pub(super) fn dies(&self) -> bool {
        self.dies.swap(false, Ordering::Relaxed)
    }

    pub(super) fn stop(&self, is_stopped: bool) {
        *self.is_stopped.lock().unwrap() = is_stopped;
        self.goes_on.notify_all();
    }
}

/// What only root makes.
struct Ground {
    hosts: Hosts,
    disks: Vec<Disk>,
}

/// Three members and the nodes, each on a host and each member on a disk of its own where that can be had.
pub(super) struct Cluster {
    members: Mutex<Vec<Member>>,
    pub(super) addresses: Vec<String>,
    pub(super) hands: Vec<Hand>,
    slowed: Mutex<Vec<(usize, Child)>>,
    /// Those of members, where they can be set.
    clocks: Option<[Clock; MEMBERS]>,
    ground: Option<Ground>,
    _directory: TempDir,
}

impl Cluster {
    /// One that answers; nothing where there is no etcd. The thread is on the overseer's host then.
    pub(super) fn start() -> Option<Self> {
        let directory = tempfile::tempdir().unwrap();
        let ground = can_be_made().then(|| {
            let disk = |at: usize| Disk::new(directory.path(), &format!("m{at}"), DISK);
            Ground { hosts: Hosts::new(OVERSEER + 1), disks: (0..MEMBERS).map(disk).collect() }
        });
        let clocks: Option<[Clock; MEMBERS]> = Clock::several();
        let place = |at: usize| {
            let mut place = match &ground {
                Some(Ground { hosts, disks }) => hosts.place(at, disks[at].path().join("data")),
                None => Place::here(&directory.path().join(at.to_string())),
            };
            place.before.extend(clocks.iter().flat_map(|clocks| clocks[at].words()));
            place
        };
        // With few entries between snapshots, a member that was away gets one.
        let options = ["--snapshot-count", "500"];
        let mut members = Member::all("http", (0..MEMBERS).map(place).collect(), &options)?;
        members.iter_mut().for_each(Member::begin);
        if let Some(ground) = &ground {
            ground.hosts.enter(OVERSEER);
        }
        members.iter_mut().for_each(Member::wait_for_answer);
        let addresses = members.iter().map(|member| member.address().to_owned()).collect();
        let hands = (0..NODES).map(|_| Hand::default()).collect();
        let (members, slowed) = (Mutex::new(members), Mutex::default());
        Some(Self { members, addresses, hands, slowed, clocks, ground, _directory: directory })
    }

    /// The thread is on a node's host from now on, if there are any.
    pub(super) fn enter(&self, node: usize) {
        if let Some(ground) = &self.ground {
            ground.hosts.enter(Whom::Node(node).host());
        }
    }

    /// The cluster, as somebody sees it who asks this member first.
    pub(super) fn etcd(&self, first: usize) -> Etcd {
        let mut members = self.addresses.clone();
        members.rotate_left(first % MEMBERS);
        etcd(&members.join(","))
    }

    /// All that may happen here, to members and to nodes.
    pub(super) fn kinds(&self) -> Vec<(Kind, Whose)> {
        use Kind::{CutOff, Deafen, Full, Kill, Mute, SetClock, Slow, Stop};
        let of_members: &[Kind] =
            if self.ground.is_some() { &[Kill, Stop, CutOff, Deafen, Mute, Slow, Full] } else { &[Kill, Stop] };
        let of_nodes = of_members.iter().filter(|kind| ![Slow, Full].contains(kind));
        let clocks: &[Kind] = if self.clocks.is_some() { &[SetClock] } else { &[] };
        let member = |kind: &Kind| (*kind, Whom::Member as Whose);
        let node = |kind: &Kind| (*kind, Whom::Node as Whose);
        of_members.iter().chain(clocks).map(member).chain(of_nodes.map(node)).collect()
    }

    fn ground(&self) -> &Ground {
        self.ground.as_ref().unwrap()
    }

    pub(super) fn begin(&self, kind: Kind, whom: Whom, chance: &mut Chance) {
        let (host, mut members) = (whom.host(), self.members.lock().unwrap());
        match (kind, whom) {
            (Kind::Kill, Whom::Member(at)) => members[at].kill(),
            (Kind::Kill, Whom::Node(at)) => self.hands[at].dies.store(true, Ordering::Relaxed),
            (Kind::Stop, Whom::Member(at)) => members[at].signal("STOP"),
            (Kind::Stop, Whom::Node(at)) => self.hands[at].stop(true),
            (Kind::CutOff, _) => self.ground().hosts.cut_off(host),
            (Kind::Deafen, _) => self.ground().hosts.deafen(host),
            (Kind::Mute, _) => self.ground().hosts.mute(host, 0..=OVERSEER),
            (Kind::Slow, _) => self.slowed.lock().unwrap().push((host, slow(members[host].pid().unwrap()))),
            (Kind::Full, _) => self.ground().disks[host].fill(),
            (Kind::SetClock, _) => {
                let ahead = chance.below(4 * 86_400) as i64 - 2 * 86_400;
                self.clocks.iter().for_each(|clocks| clocks[host].set(ahead));
            }
        }
    }

    pub(super) fn end(&self, kind: Kind, whom: Whom) {
        let (host, mut members) = (whom.host(), self.members.lock().unwrap());
        match (kind, whom) {
            (Kind::Kill, Whom::Member(at)) => members[at].begin(),
            (Kind::Kill, Whom::Node(_)) | (Kind::SetClock, _) => {}
            (Kind::Stop, Whom::Member(at)) => members[at].signal("CONT"),
            (Kind::Stop, Whom::Node(at)) => self.hands[at].stop(false),
            (Kind::CutOff | Kind::Deafen | Kind::Mute, _) => self.ground().hosts.heal(host),
            (Kind::Slow, _) => self.slowed.lock().unwrap().retain_mut(|(at, strace)| *at != host || !let_go(strace)),
            (Kind::Full, _) => self.ground().disks[host].free(),
        }
    }

    /// Starts members again that have ended by themselves. One that cannot write does so, not always at once.
    pub(super) fn begin_again(&self) {
        let mut members = self.members.lock().unwrap();
        for (at, member) in members.iter_mut().enumerate().filter_map(|(at, it)| it.ended().map(|_| (at, it))) {
            let said = member.last_words();
            assert!(said.contains("no space left on device"), "member {at} has ended: {said}");
            println!("member {at} had ended");
            member.begin();
        }
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for (_, strace) in self.slowed.get_mut().unwrap() {
            let_go(strace);
        }
        // Before their disks go.
        self.members.get_mut().unwrap().clear();
    }
}

fn slow(pid: u32) -> Child {
    Command::new("strace")
        .args(["-f", "-qq", "-o", "/dev/null", "-e", "trace=fsync,fdatasync", "-p", &pid.to_string()])
        .args(["-e", "inject=fsync,fdatasync:delay_exit=300000"])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Ends it in the way in which what it follows goes on; whether it did.
fn let_go(strace: &mut Child) -> bool {
    let _ = Command::new("kill").args(["-s", "INT", &strace.id().to_string()]).status();
    strace.wait().is_ok()
}
