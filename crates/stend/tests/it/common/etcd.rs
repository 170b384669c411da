//! A member of etcd for tests, in memory as far as the disk is concerned.

use std::net::TcpListener;
use std::process::{Child, Command, Stdio};

use stend_fleet::{Access, Address, Agreement as _, Change};
use tempfile::TempDir;

use super::wait_until;

pub(crate) struct Etcd {
    address: String,
    words: Vec<String>,
    child: Child,
    _directory: TempDir,
}

impl Etcd {
    /// One that answers; nothing where etcd is not installed.
    pub(crate) fn start() -> Option<Self> {
        let free = || TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
        let (address, peers, directory) = (free(), free(), tempfile::tempdir().unwrap());
        let (clients, peers) = (format!("http://{address}"), format!("http://{peers}"));
        let (data, cluster) = (directory.path().join("data"), format!("default={peers}"));
        let words = [
            &["--data-dir", data.to_str().unwrap(), "--log-level", "error", "--unsafe-no-fsync"][..],
            &["--listen-client-urls", &clients, "--advertise-client-urls", &clients, "--initial-cluster", &cluster],
            &["--listen-peer-urls", &peers, "--initial-advertise-peer-urls", &peers],
        ];
        let words: Vec<String> = words.concat().into_iter().map(str::to_owned).collect();
        let etcd = Self { address, child: begin(&words)?, words, _directory: directory };
        etcd.wait_for_answer();
        Some(etcd)
    }

    fn wait_for_answer(&self) {
        wait_until("etcd answers", || std::net::TcpStream::connect(&self.address).is_ok());
    }

    /// What a node joins.
    pub(crate) fn fleet(&self) -> String {
        format!("etcd://{}", self.address)
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

    /// Sets what the fleet has under a key.
    pub(crate) fn put(&self, key: &str, value: &serde_json::Value) {
        self.asked().commit(&[], &[Change::Put(key.into(), value.to_string())]).unwrap();
    }

    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Starts it again, with what it had.
    pub(crate) fn begin_again(&mut self) {
        self.child = begin(&self.words).unwrap();
        self.wait_for_answer();
    }
}

fn begin(words: &[String]) -> Option<Child> {
    let mut command = Command::new("etcd");
    command.args(words).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().ok()
}

impl Drop for Etcd {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
