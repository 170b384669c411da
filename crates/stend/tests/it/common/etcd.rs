//! A cluster of etcd that a fleet joins.

use stend_fleet::{Access, Address, Agreement as _, Change};
use stend_testing::etcd::{Member, Place};
use tempfile::TempDir;

pub(crate) struct Etcd {
    members: Vec<Member>,
    /// What several have on their disks.
    _directory: Option<TempDir>,
}

impl Etcd {
    /// One member that answers; nothing where etcd is not installed.
    pub(crate) fn start() -> Option<Self> {
        Some(Self { members: vec![Member::start()?], _directory: None })
    }

    /// Three members that answer.
    pub(crate) fn three() -> Option<Self> {
        let directory = tempfile::tempdir().unwrap();
        let places = ["0", "1", "2"].map(|at| Place::here(&directory.path().join(at))).into();
        let mut members = Member::all("http", places, &["--unsafe-no-fsync"])?;
        members.iter_mut().for_each(Member::begin);
        members.iter_mut().for_each(Member::wait_for_answer);
        Some(Self { members, _directory: Some(directory) })
    }

    /// What a node joins.
    pub(crate) fn fleet(&self) -> String {
        let members: Vec<_> = self.members.iter().map(Member::address).collect();
        format!("etcd://{}", members.join(","))
    }

    fn asked(&self) -> stend_fleet::Etcd {
        stend_fleet::Etcd::new(Address::parse(&self.fleet()).unwrap(), Access::default()).unwrap()
    }

    /// Whether the fleet has anything below a key.
    pub(crate) fn has(&self, prefix: &str) -> bool {
        !self.asked().list(prefix).unwrap().entries.is_empty()
    }

    /// What the fleet has under a key.
    pub(crate) fn get(&self, key: &str) -> Option<String> {
        self.asked().get(key).unwrap().map(|entry| entry.value)
    }

    /// All that the fleet has below a key.
    pub(crate) fn list(&self, prefix: &str) -> Vec<String> {
        self.asked().list(prefix).unwrap().entries.into_iter().map(|entry| entry.value).collect()
    }

    /// When it last changed what it has under a key.
    pub(crate) fn revision(&self, key: &str) -> i64 {
        self.asked().get(key).unwrap().map_or(0, |entry| entry.revision)
    }

    /// Sets what the fleet has under a key.
    pub(crate) fn put(&self, key: &str, value: &serde_json::Value) {
        self.asked().commit(&[], &[Change::Put(key.into(), value.to_string())]).unwrap();
    }

    /// Kills all members, or two of three.
    pub(crate) fn kill(&mut self) {
        self.members.iter_mut().take(2).for_each(Member::kill);
    }

    /// Starts those that were killed, with what they had.
    pub(crate) fn begin_again(&mut self) {
        self.members.iter_mut().filter(|member| member.pid().is_none()).for_each(Member::begin);
        self.members.iter_mut().for_each(Member::wait_for_answer);
    }
}
