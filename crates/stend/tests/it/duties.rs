//! What one node of a fleet does for all: it tells of what happens, and it queues what the schedule says.

use std::net::UdpSocket;
use std::process::Command;
use std::sync::mpsc::{Receiver, channel};

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::common::etcd::Etcd;
use crate::common::{Stand, wait_until};
use crate::nodes::quick_node;
use crate::serve::{short, short_on};
use crate::telling::{QUICKLY, Receiving, SMTPD, python_with_smtpd, read_mail, receiver, refused_sign_in, settings};

/// What is sent to a port by UDP.
fn datagrams() -> (u16, Receiver<String>) {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let port = socket.local_addr().unwrap().port();
    let (send, receive) = channel();
    std::thread::spawn(move || {
        let mut buffer = vec![0; 1 << 16];
        while let Ok(length) = socket.recv(&mut buffer) {
            if send.send(String::from_utf8_lossy(&buffer[..length]).into_owned()).is_err() {
                return;
            }
        }
    });
    (port, receive)
}

/// The node that has a duty.
fn whose(etcd: &Etcd, duty: &str) -> Option<String> {
    let claim: Value = serde_json::from_str(&etcd.get(&format!("lab/claim/duty {duty}"))?).unwrap();
    claim["node"].as_str().map(str::to_owned)
}

#[test]
fn each_is_told_of_each_entry_once_whichever_node_tells() {
    let Some(etcd) = Etcd::start() else { return };
    let Some(python) = python_with_smtpd() else { return };
    let (one, other) = (Stand::new(), Stand::new());
    let (hook, posted) = receiver(Vec::new());
    let (trap, trapped) = datagrams();
    let smtpd = Receiving::start(Command::new(python).args(["-W", "ignore", "-c", SMTPD, "0", "none"]));
    let mail = smtpd.lines.recv().unwrap();
    let text = format!(
        "{QUICKLY}[[webhook]]\nname = \"hook\"\nurl = \"http://127.0.0.1:{hook}/\"\n\
         [[trap]]\nname = \"trap\"\nto = \"127.0.0.1:{trap}\"\ncommunity = \"public\"\n\
         [mail]\nserver = \"localhost:{mail}\"\nfrom = \"lab@example.org\"\nto = [\"a@example.org\"]\n\
         tls = \"none\"\ngather = \"1ms\"\n"
    );
    settings(&one, &text);
    settings(&other, &text);
    let is_told = |newest: &Value| {
        let told = |name: &str| -> Value {
            serde_json::from_str(&etcd.get(&format!("lab/told/{name}")).unwrap_or("null".into())).unwrap()
        };
        ["hook", "trap", "mail"].iter().all(|name| told(name)["last"] == *newest)
    };
    let alpha = quick_node(&one, &etcd, "alpha").signed_in();
    let all_by = |node: &str| {
        ["tell hook", "tell trap", "tell mail"].iter().all(|duty| whose(&etcd, duty).as_deref() == Some(node))
    };
    wait_until("alpha tells", || all_by("alpha"));
    let beta = quick_node(&other, &etcd, "beta").signed_in_with(&alpha);
    let names: [String; 8] = std::array::from_fn(|at| format!("who-{at}"));
    for (at, name) in names[..4].iter().enumerate() {
        refused_sign_in(if at % 2 == 0 { &alpha } else { &beta }, name);
    }
    let newest = || beta.get("/api/v1/journal?limit=1").json()["entries"][0].clone();
    // What a node sends while it is killed may be sent again.
    wait_until("all is told", || {
        let newest = newest();
        newest["about"] == names[3].as_str() && is_told(&newest["id"])
    });
    alpha.kill(Signal::KILL);
    names[4..].iter().for_each(|name| refused_sign_in(&beta, name));
    wait_until("beta tells", || all_by("beta"));
    wait_until("all is told", || is_told(&newest()["id"]));
    beta.kill(Signal::TERM);
    let of_mail = |line: String| {
        let body = read_mail(python, &serde_json::from_str(&line).unwrap())["body"].as_str().unwrap().to_owned();
        body.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let ways: [(&str, Vec<String>); 3] = [
        ("webhook", posted.try_iter().map(|posted| posted.body).collect()),
        ("trap", trapped.try_iter().collect()),
        ("mail", smtpd.lines.try_iter().flat_map(of_mail).collect()),
    ];
    for (way, came) in ways {
        let counts = names.each_ref().map(|name| came.iter().filter(|text| text.contains(name)).count());
        assert_eq!(counts, [1; 8], "{way}: {came:#?}");
    }
}

#[test]
fn a_line_of_the_schedule_is_queued_once_whichever_node_queues() {
    let Some(etcd) = Etcd::start() else { return };
    let (one, other) = (Stand::new(), Stand::new());
    let alpha = quick_node(&one, &etcd, "alpha").signed_in();
    wait_until("alpha queues", || whose(&etcd, "schedule").as_deref() == Some("alpha"));
    let beta = quick_node(&other, &etcd, "beta").signed_in_with(&alpha);
    let line = json!({ "cron": "* * * * * *", "order": short_on("beta") }).to_string();
    let added = beta.ask("POST", "/api/v1/schedule", &["content-type: application/json"], &line);
    assert_eq!(added.status, 201, "{}", added.body);
    // The time at which each was queued is in its key.
    let times = || -> Vec<String> {
        let orders = etcd.list("lab/order/").into_iter().map(|order| serde_json::from_str::<Value>(&order).unwrap());
        orders.map(|order| order["key"].as_str().unwrap().to_owned()).collect()
    };
    wait_until("alpha has queued some", || times().len() > 2);
    alpha.kill(Signal::KILL);
    let before = times().len();
    wait_until("beta queues", || whose(&etcd, "schedule").as_deref() == Some("beta"));
    wait_until("beta has queued some", || times().len() > before + 2);
    let mut once = times();
    let all = once.len();
    once.sort();
    once.dedup();
    assert_eq!(once.len(), all, "{once:?}");
    // The lab still takes what is asked for by hand.
    assert_eq!(beta.order(&short(), &[]).status, 201);
}
