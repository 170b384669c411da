//! A cluster of etcd that a fleet joins.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
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

/// A way to etcd by which the news of changes can be late: nothing is heard of them until a key is asked for.
pub(crate) struct Late {
    address: String,
    held: Arc<Held>,
}

/// Until a request has this.
type Held = (Mutex<Option<String>>, Condvar);

impl Late {
    pub(crate) fn to(etcd: &Etcd) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("etcd://{}", listener.local_addr().unwrap());
        let late = Self { address, held: Arc::default() };
        let (held, member) = (Arc::clone(&late.held), etcd.members[0].address().to_owned());
        std::thread::spawn(move || {
            for asker in listener.incoming().map_while(Result::ok) {
                if let Ok(answerer) = TcpStream::connect(&member) {
                    pass_on(&held, &asker, &answerer);
                }
            }
        });
        late
    }

    /// What a node joins.
    pub(crate) fn fleet(&self) -> &str {
        &self.address
    }

    /// From now on there is no news, until somebody asks for a key that begins so: of nine bytes, which base64 tells from others.
    pub(crate) fn until_asked_for(&self, key: &[u8; 9]) {
        *self.held.0.lock().unwrap() = Some(BASE64_STANDARD.encode(key));
    }
}

impl Drop for Late {
    fn drop(&mut self) {
        *self.held.0.lock().unwrap() = None;
        self.held.1.notify_all();
    }
}

/// Passes on what both say. Of a connection on which changes are watched, what is said while it is held comes later.
fn pass_on(held: &Arc<Held>, asker: &TcpStream, answerer: &TcpStream) {
    let is_watch = Arc::new(Mutex::new(false));
    let (asked, is_one) = (Arc::clone(held), Arc::clone(&is_watch));
    let ask = move |said: &[u8]| {
        let said = String::from_utf8_lossy(said);
        if said.contains("/v3/watch") {
            *is_one.lock().unwrap() = true;
        }
        let (mut key, changed) = (asked.0.lock().unwrap(), &asked.1);
        if key.as_ref().is_some_and(|key| said.contains(key)) {
            *key = None;
            changed.notify_all();
        }
    };
    let held = Arc::clone(held);
    let answer = move |_: &[u8]| {
        if *is_watch.lock().unwrap() {
            drop(held.1.wait_while(held.0.lock().unwrap(), |key| key.is_some()).unwrap());
        }
    };
    copy(asker, answerer, ask);
    copy(answerer, asker, answer);
}

fn copy(from: &TcpStream, to: &TcpStream, see: impl Fn(&[u8]) + Send + 'static) {
    let (mut from, mut to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
    std::thread::spawn(move || {
        let mut some = vec![0; 1 << 16];
        while let Ok(count @ 1..) = from.read(&mut some) {
            see(&some[..count]);
            if to.write_all(&some[..count]).is_err() {
                break;
            }
        }
        let _ = to.shutdown(Shutdown::Both);
    });
}
