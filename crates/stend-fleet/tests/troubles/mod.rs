//! Members of etcd that are full, too old or cut off.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use stend_fleet::{
    Agreement, Change, Committed, Condition, Draft, Entry, Known, Mirror, News, Revision, Table, Told, Trouble, Watch,
};
use stend_testing::etcd::Member;
use stend_testing::{patience, wait_for};

use crate::engines::etcd;
use crate::hosts::{Hosts, can_be_made};

#[derive(Default)]
struct Texts(Table<String>);

impl Known for Texts {
    fn set(&mut self, key: &str, entry: Option<&Entry>) {
        self.0.set(key, entry);
    }

    fn revision(&self, key: &str) -> Option<Revision> {
        self.0.revision(key)
    }
}

fn put(agreement: &dyn Agreement, key: &str, value: &str) -> Result<Committed, Trouble> {
    agreement.commit(&[Condition::Absent(key.into())], &[Change::Put(key.into(), value.into())])
}

fn add(mirror: &Mirror<Texts>, key: &str) -> Result<(), Trouble> {
    mirror.change(|draft: &mut Draft<Texts>| {
        draft.put(key, &"a text");
        Ok(())
    })
}

fn assert_refused<T>(done: Result<T, Trouble>, parts: &[&str]) {
    match done.map(drop) {
        Err(Trouble::Refused(said)) if parts.iter().all(|part| said.contains(part)) => {}
        other => panic!("{other:?}, not {parts:?}"),
    }
}

#[test]
fn a_member_without_space_is_read_and_says_so_when_something_is_to_be_changed() {
    let directory = tempfile::tempdir().unwrap();
    let Some(mut member) = Member::only("http", &["--quota-backend-bytes", "300000"], directory.path()) else { return };
    member.wait_for_answer();
    let agreement: Arc<dyn Agreement> = Arc::new(etcd(member.address()));
    let mirror = Mirror::<Texts>::open(Arc::clone(&agreement), "a").unwrap();
    add(&mirror, "before").unwrap();
    let long = "x".repeat(30_000);
    let change = || agreement.commit(&[], &[Change::Put("long".into(), long.clone())]);
    // As in life, it is full of what is no longer so.
    let refused = (0..100).find_map(|_| change().err());
    let says = [member.address(), "database space exceeded"];
    assert_refused(refused.map_or(Ok(()), Err), &says);
    assert_refused(add(&mirror, "meanwhile"), &says);
    assert_eq!(agreement.get("long").unwrap().unwrap().value, long);
    assert!(mirror.catch_up(Duration::ZERO).is_ok() && mirror.known().0.get("before").is_some());
    let health = agreement.members().pop().unwrap().health.unwrap();
    assert!(health.errors.iter().any(|error| error.contains("NOSPACE")), "{health:?}");
    // What its keeper does then.
    let ask = |path: &str, body: Value| -> Value {
        let answer = ureq::post(format!("http://{}/v3/{path}", member.address())).send(body.to_string()).unwrap();
        serde_json::from_reader(answer.into_body().into_reader()).unwrap()
    };
    let revision = agreement.list("").unwrap().revision;
    ask("kv/compaction", json!({ "revision": revision.to_string(), "physical": true }));
    ask("maintenance/defragment", json!({}));
    let alarm = ask("maintenance/alarm", json!({ "action": "GET" }))["alarms"][0]["memberID"].take();
    ask("maintenance/alarm", json!({ "action": "DEACTIVATE", "alarm": "NOSPACE", "memberID": alarm }));
    add(&mirror, "after").unwrap();
    assert!(mirror.known().0.get("after").is_some() && mirror.known().0.get("meanwhile").is_none());
}

/// Answers as etcd 3.3 does, which has the same requests below another path.
fn too_old() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut reader = BufReader::new(stream.unwrap());
            let (mut head, mut length) = (String::new(), 0);
            while !head.ends_with("\r\n\r\n") && reader.read_line(&mut head).unwrap() > 0 {}
            for line in head.lines() {
                if let Some((name, value)) = line.split_once(": ")
                    && name.eq_ignore_ascii_case("content-length")
                {
                    length = value.parse().unwrap();
                }
            }
            reader.read_exact(&mut vec![0; length]).unwrap();
            let (status, body) = if head.starts_with("GET /version ") {
                ("200 OK", r#"{"etcdserver":"3.3.25","etcdcluster":"3.3.0"}"#)
            } else {
                ("404 Not Found", "404 page not found\n")
            };
            let length = body.len();
            let answer = format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}");
            reader.get_mut().write_all(answer.as_bytes()).unwrap();
        }
    });
    address
}

#[test]
fn a_member_that_is_too_old_is_refused_with_its_version() {
    let address = too_old();
    let agreement: Arc<dyn Agreement> = Arc::new(etcd(&address));
    let says = [address.as_str(), "etcd 3.3.25", "3.4 or newer"];
    assert_refused(agreement.get("a"), &says);
    assert_refused(agreement.list("a"), &says);
    assert_refused(put(&*agreement, "a", "x"), &says);
    assert_refused(agreement.members().pop().unwrap().health, &says);
    assert_refused(Mirror::<Texts>::open(agreement, "a"), &says);
}

#[test]
fn a_member_of_another_cluster_is_never_asked() {
    let directories = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let begun = |directory: &tempfile::TempDir| {
        let mut member = Member::only("http", &["--unsafe-no-fsync"], directory.path())?;
        member.wait_for_answer();
        Some(member)
    };
    let Some([mut first, second]) =
        begun(&directories[0]).zip(begun(&directories[1])).map(|(first, second)| [first, second])
    else {
        return;
    };
    let both = etcd(&format!("{},{}", first.address(), second.address()));
    let [own, other] = [&first, &second].map(|member| etcd(member.address()));
    put(&both, "a", "x").unwrap();
    let mut watch = both.watch("", 0).unwrap();
    assert_eq!(watch.next(patience()).unwrap().news.len(), 1);
    let health: Vec<_> = both.members().into_iter().map(|member| member.health.unwrap()).collect();
    assert!(health[0].errors.is_empty() && health[0].cluster != health[1].cluster, "{health:?}");
    assert!(health[1].errors.iter().any(|error| error.contains("another cluster")), "{health:?}");
    // Who has asked nobody yet goes by the first that answers.
    assert!(etcd(&format!("{},{}", second.address(), first.address())).members()[0].health.is_ok());
    first.kill();
    let asked: [&dyn Fn() -> Result<(), Trouble>; 3] =
        [&|| both.get("a").map(drop), &|| both.list("").map(drop), &|| put(&both, "b", "x").map(drop)];
    for asked in asked {
        for _ in 0..3 {
            assert!(asked().is_err());
        }
    }
    put(&other, "b", "of the other").unwrap();
    assert!(watch.next(Duration::ZERO).is_err());
    assert_eq!(other.list("").unwrap().entries.len(), 1);
    first.begin();
    first.wait_for_answer();
    wait_for("the first is asked", || put(&both, "c", "x").is_ok());
    wait_for("the news comes", || {
        let told = watch.next(Duration::from_secs(1));
        told.is_ok_and(|told| matches!(&told.news[..], [News::Put(entry)] if entry.key == "c"))
    });
    assert_eq!((own.list("").unwrap().entries.len(), other.list("").unwrap().entries.len()), (2, 1));
}

/// Members and somebody who watches, of which only the members lose each other.
#[test]
fn a_watch_of_a_member_that_is_cut_off_from_the_others_ends_and_goes_on_at_another() {
    if !can_be_made() {
        return;
    }
    const MEMBERS: usize = 3;
    let directory = tempfile::tempdir().unwrap();
    let hosts = Hosts::new(MEMBERS + 1);
    let places = (0..MEMBERS).map(|at| hosts.place(at, directory.path().join(at.to_string()))).collect();
    let Some(mut members) = Member::all("http", places, &["--unsafe-no-fsync"]) else { return };
    hosts.enter(MEMBERS);
    members.iter_mut().for_each(Member::begin);
    members.iter_mut().for_each(Member::wait_for_answer);
    let [first, second, third] = [0, 1, 2].map(|at| members[at].address().to_owned());
    let (alone, others, all) =
        (etcd(&first), etcd(&format!("{second},{third}")), etcd(&format!("{first},{second},{third}")));
    let behind = alone.list("").unwrap().revision;
    let mut watches = [&alone, &all].map(|agreement| agreement.watch("", behind).unwrap());
    let key = |told: &Told| match &told.news[..] {
        [News::Put(entry)] => Some(entry.key.clone()),
        _ => None,
    };
    put(&others, "before", "x").unwrap();
    for watch in &mut watches {
        wait_for("the news comes", || key(&watch.next(Duration::from_secs(1)).unwrap()).as_deref() == Some("before"));
    }
    hosts.mute(0, 1..MEMBERS);
    (1..MEMBERS).for_each(|at| hosts.mute(at, 0..1));
    let began = Instant::now();
    // The others may have to choose a leader.
    wait_for("the others go on", || put(&others, "meanwhile", "x").is_ok());
    let [alone, all] = &mut watches;
    // By itself it would be silent as long as this lasts.
    wait_for("the watch ends", || alone.next(Duration::from_secs(1)).is_err());
    println!("the watch ended after {:.1?}", began.elapsed());
    let goes_on = |watch: &mut dyn Watch| {
        wait_for("the news comes", || {
            watch.next(Duration::from_secs(1)).is_ok_and(|told| key(&told).as_deref() == Some("meanwhile"))
        });
    };
    goes_on(&mut **all);
    (0..MEMBERS).for_each(|at| hosts.heal(at));
    goes_on(&mut **alone);
    drop(members);
}
