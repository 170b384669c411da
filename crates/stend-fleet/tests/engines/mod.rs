//! The agreements that are tested: one in a file, and one in etcd where that is installed.

use std::cell::Cell;
use std::net::TcpListener;
use std::path::Path;
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
pub(crate) struct Member {
    pub(crate) address: String,
    words: Vec<String>,
    child: Child,
    _directory: Option<TempDir>,
}

impl Member {
    /// One that answers; nothing where there is no etcd.
    fn start() -> Option<Self> {
        let directory = tempfile::tempdir().unwrap();
        let mut member = Self::spawn("http", &["--unsafe-no-fsync"], directory.path())?;
        member._directory = Some(directory);
        let address = Address::parse(&format!("etcd://{}", member.address)).unwrap();
        let etcd = Etcd::new(address, Access::default()).unwrap();
        wait_for("etcd answers", || {
            assert!(member.child.try_wait().unwrap().is_none(), "etcd has ended");
            etcd.get("any").is_ok()
        });
        Some(member)
    }

    /// Starts one with further options, which has its data below this directory; nothing where there is no etcd.
    pub(crate) fn spawn(scheme: &str, options: &[&str], directory: &Path) -> Option<Self> {
        let (address, peers) = (free_address(), free_address());
        let (of_clients, of_peers) = (format!("{scheme}://{address}"), format!("http://{peers}"));
        let (data, cluster) = (directory.join("data"), format!("default={of_peers}"));
        let words = [
            &["--data-dir", data.to_str().unwrap(), "--log-level", "error"][..],
            &["--listen-client-urls", &of_clients, "--advertise-client-urls", &of_clients],
            &["--listen-peer-urls", &of_peers, "--initial-advertise-peer-urls", &of_peers],
            &["--initial-cluster", &cluster],
            options,
        ];
        let words: Vec<_> = words.concat().into_iter().map(str::to_owned).collect();
        Some(Self { address, child: begin(&words)?, words, _directory: None })
    }

    /// Kills it, and starts it with what it has on its disk.
    pub(crate) fn begin_anew(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.child = begin(&self.words).unwrap();
    }
}

fn begin(words: &[String]) -> Option<Child> {
    let mut command = Command::new("etcd");
    command.args(words).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().ok()
}

impl Drop for Member {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
