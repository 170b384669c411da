//! The agreements that are tested: one in a file, and one in etcd where that is installed.

use std::cell::Cell;
use std::rc::Rc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use stend_fleet::{Access, Address, Agreement, Alone, Etcd};
use stend_testing::etcd::Member;

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
        let fresh = move || -> Box<dyn Agreement> {
            count.set(count.get() + 1);
            Box::new(etcd(&format!("{}/fleet-{}", member.address(), count.get())))
        };
        all.push(Engine { name: "etcd", fresh: Box::new(fresh), cases: 8 });
    }
    all
}

/// The cluster at an address, without the scheme.
pub(crate) fn etcd(address: &str) -> Etcd {
    Etcd::new(Address::parse(&format!("etcd://{address}")).unwrap(), Access::default()).unwrap()
}

/// A text as etcd has it in JSON.
pub(crate) fn coded(text: &str) -> String {
    STANDARD.encode(text)
}

/// The text that etcd has so in JSON.
pub(crate) fn decoded(coded: &str) -> String {
    String::from_utf8(STANDARD.decode(coded).unwrap()).unwrap()
}

/// Does something when it goes, also where the test has failed: threads that nobody ends would hold it up.
pub(crate) struct AtEnd<F: FnMut()>(pub(crate) F);

impl<F: FnMut()> Drop for AtEnd<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}
