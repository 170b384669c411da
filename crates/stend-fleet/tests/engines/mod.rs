//! The agreements that are tested: one in a file, and one in etcd where that is installed.

use std::cell::Cell;
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::rc::Rc;
use std::time::{Duration, Instant};

use stend_fleet::{Access, Address, Agreement, Alone, Etcd};
use tempfile::TempDir;

pub(crate) struct Engine {
    pub(crate) name: &'static str,
    /// One with nothing in it.
    pub(crate) fresh: Box<dyn Fn() -> Box<dyn Agreement>>,
    /// How often it is tried.
    pub(crate) cases: u32,
}

pub(crate) fn engines() -> Vec<Engine> {
    let directory = tempfile::tempdir().unwrap();
    let count = Cell::new(0);
    let alone = move || -> Box<dyn Agreement> {
        count.set(count.get() + 1);
        Box::new(Alone::open(&directory.path().join(format!("{}.db", count.get()))).unwrap())
    };
    let mut all = vec![Engine { name: "alone", fresh: Box::new(alone), cases: 32 }];
    if let Some(member) = Member::start() {
        let (member, count) = (Rc::new(member), Cell::new(0));
        let etcd = move || -> Box<dyn Agreement> {
            count.set(count.get() + 1);
            Box::new(
                Etcd::new(
                    Address::parse(&format!("etcd://{}/fleet-{}", member.address, count.get())).unwrap(),
                    Access::default(),
                )
                .unwrap(),
            )
        };
        all.push(Engine { name: "etcd", fresh: Box::new(etcd), cases: 8 });
    }
    all
}

/// How long a test waits for what must come. PATIENCE in the environment says how many times as long, where it is known that the machine is slow.
pub(crate) fn patience() -> Duration {
    let times = std::env::var("PATIENCE").ok().and_then(|times| times.parse().ok());
    Duration::from_secs(120) * times.unwrap_or(1)
}

pub(crate) fn wait_for(what: &str, mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < patience(), "{what}: in vain");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// A place to listen at that nobody has now.
pub(crate) fn free_address() -> String {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string()
}

/// The only member of a cluster.
struct Member {
    address: String,
    child: Child,
    _directory: TempDir,
}

impl Member {
    /// Starts it; nothing where there is no etcd.
    fn start() -> Option<Self> {
        let directory = tempfile::tempdir().unwrap();
        let (clients, peers) = (free_address(), free_address());
        let (of_clients, of_peers) = (format!("http://{clients}"), format!("http://{peers}"));
        let child = Command::new("etcd")
            .args(["--data-dir", directory.path().to_str().unwrap(), "--log-level", "error", "--unsafe-no-fsync"])
            .args(["--listen-client-urls", &of_clients, "--advertise-client-urls", &of_clients])
            .args(["--listen-peer-urls", &of_peers, "--initial-advertise-peer-urls", &of_peers])
            .args(["--initial-cluster", &format!("default={of_peers}")])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let mut member = Self { address: clients, child: child.ok()?, _directory: directory };
        let etcd =
            Etcd::new(Address::parse(&format!("etcd://{}", member.address)).unwrap(), Access::default()).unwrap();
        wait_for("etcd answers", || {
            assert!(member.child.try_wait().unwrap().is_none(), "etcd has ended");
            etcd.get("any").is_ok()
        });
        Some(member)
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
