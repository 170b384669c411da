//! A member of etcd that a fleet joins.

use stend_fleet::{Access, Address, Agreement as _, Change};
use stend_testing::etcd::Member;

pub(crate) struct Etcd(Member);

impl Etcd {
    /// One that answers; nothing where etcd is not installed.
    pub(crate) fn start() -> Option<Self> {
        Member::start().map(Self)
    }

    /// What a node joins.
    pub(crate) fn fleet(&self) -> String {
        format!("etcd://{}", self.0.address())
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

    /// When it last changed what it has under a key.
    pub(crate) fn revision(&self, key: &str) -> i64 {
        self.asked().get(key).unwrap().map_or(0, |entry| entry.revision)
    }

    /// Sets what the fleet has under a key.
    pub(crate) fn put(&self, key: &str, value: &serde_json::Value) {
        self.asked().commit(&[], &[Change::Put(key.into(), value.to_string())]).unwrap();
    }

    pub(crate) fn kill(&mut self) {
        self.0.kill();
    }

    /// Starts it again, with what it had.
    pub(crate) fn begin_again(&mut self) {
        self.0.begin();
        self.0.wait_for_answer();
    }
}
