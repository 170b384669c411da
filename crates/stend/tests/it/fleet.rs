//! Several nodes that share one queue, one journal and one archive, whichever is asked.

use std::io::BufRead as _;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use rustix::process::Signal;
use serde_json::json;
use stend_testing::clock::Clock;

use crate::access::puts_back;
use crate::common::etcd::{Etcd, Late};
use crate::common::sshd::Sshd;
use crate::common::{Stand, wait_until};
use crate::nodes::{archived, join, join_quickly, quick_node, two_nodes};
use crate::serve::{Server, gate, short, short_on};

/// A node that has joined a fleet.
pub(crate) fn node<'a>(stand: &'a Stand, etcd: &Etcd, name: &str) -> Server<'a> {
    Server::listening(stand, &["--listen", "127.0.0.1:0", "--fleet", &etcd.fleet(), "--node", name])
}

#[test]
fn whichever_node_is_asked_a_job_is_done_by_the_one_that_has_the_machine() {
    let Some(etcd) = Etcd::start() else { return };
    let (one, other) = (Stand::new(), Stand::new());
    let alpha = node(&one, &etcd, "alpha").signed_in();
    // Whoever has signed in to one is known to all.
    let beta = node(&other, &etcd, "beta").signed_in_with(&alpha);
    wait_until("alpha has heard of beta", || alpha.get("/api/v1/machines").body.contains("beta"));
    let made = alpha.order(&short_on("beta"), &[]);
    assert_eq!(made.status, 201, "{}", made.body);
    let here = beta.order(&short(), &[]);
    assert_eq!((here.status, &here.json()["order"]["machine"]), (201, &json!("beta")), "{}", here.body);
    let there = beta.order(&short_on("alpha"), &[]);
    assert_eq!(there.status, 201, "{}", there.body);
    for job in [&made, &here, &there] {
        beta.until(&job.json()["id"], "finished");
    }
    let jobs = |node: &Server| node.get("/api/v1/jobs").json()["jobs"].clone();
    wait_until("both show the same", || jobs(&alpha) == jobs(&beta));
    let refused = alpha.order(&short_on("gamma"), &[]);
    assert!(refused.status == 422 && refused.body.contains("there are alpha, beta"), "{}", refused.body);
}

/// The numbers of a run's repeats as a browser that follows it gets them: it asks again when a stream ends, and gives up one that is refused.
fn follow(server: &Server, run: &str, told: &Sender<u64>) -> Vec<u64> {
    let mut ids: Vec<u64> = Vec::new();
    loop {
        let last: Vec<String> = ids.last().map(|id| format!("last-event-id: {id}")).into_iter().collect();
        let headers: Vec<&str> = last.iter().map(String::as_str).collect();
        let mut lines = server.send("GET", &format!("/api/v1/runs/{run}/events"), &headers, "").lines();
        let status = lines.next().unwrap().unwrap();
        assert_eq!(status.split(' ').nth(1), Some("200"), "{status}");
        for line in lines.map_while(Result::ok) {
            if let Some(id) = line.strip_prefix("id: ") {
                ids.push(id.parse().unwrap());
                let _ = told.send(*ids.last().unwrap());
            }
            if line == "event: end" {
                return ids;
            }
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_run_is_followed_and_kept_on_each_node_and_what_is_damaged_is_mended() {
    let Some(etcd) = Etcd::start() else { return };
    let (one, other) = (Stand::new(), Stand::new());
    let gate = gate(&one, 0);
    let (alpha, beta) = two_nodes(&one, &other, &etcd);
    let made = alpha.order(&short(), &[]).json();
    let (id, run) = (&made["id"], made["run"].as_str().unwrap());
    gate.wait_until_reached();
    // Beta has no such run, and shows what alpha has.
    let events = beta.send("GET", &format!("/api/v1/runs/{run}/events"), &[], "");
    let page = beta.get(&format!("/runs/{run}"));
    assert!(page.status == 200 && page.body.contains(run), "{}", page.body);
    assert_eq!(beta.get(&format!("/api/v1/jobs/{id}")).json()["job"]["node"], "alpha");
    gate.open();
    let told: Vec<String> = events.lines().map_while(Result::ok).filter(|line| line.starts_with("event:")).collect();
    let repeats = one.json(&["show", run])["run"]["repeats"].as_array().unwrap().len();
    assert_eq!(told.iter().filter(|line| *line == "event: repeat").count(), repeats, "{told:?}");
    assert_eq!(told.last().unwrap(), "event: end");
    // It is kept by both, as one file.
    wait_until("beta has the run", || other.run(&["show", run]).status == Some(0));
    let files = archived(&one);
    assert_eq!((files.len(), &files), (1, &archived(&other)));
    let file = other.store().join("archive").join(files.first().unwrap());
    let whole = std::fs::read(&file).unwrap();
    wait_until("each node says what it has", || {
        let nodes = beta.get("/api/v1/nodes").json()["nodes"].clone();
        let figures = |node: &serde_json::Value| node["figures"].clone();
        let says = |figures: serde_json::Value| {
            let has = figures["archive"] == json!({ "runs": 1, "bytes": whole.len() });
            has && figures["free_bytes"].as_u64() > Some(0)
        };
        nodes.as_array().unwrap().iter().map(figures).all(says)
    });
    other.fine(&["export", run, "--output", "again"]);
    assert!(std::fs::read(other.path().join("again")).unwrap() == whole, "the store has what the file has");
    // A file that is no longer what it was is noticed by the next server at once, and mended from the other node.
    beta.kill(Signal::TERM);
    std::fs::write(&file, &whole[..whole.len() / 2]).unwrap();
    let _beta = quick_node(&other, &etcd, "beta");
    wait_until("the file is mended", || std::fs::read(&file).is_ok_and(|file| file == whole));
    wait_until("it is noted", || alpha.get("/api/v1/journal?category=machines").body.contains("archive-mended"));
}

#[test]
fn so_many_nodes_keep_a_file_and_all_have_the_run() {
    let Some(etcd) = Etcd::start() else { return };
    let stands = [(); 3].map(|()| Stand::new());
    let begun = |at: usize| {
        join_quickly(&stands[at].store(), &etcd, ["alpha", "beta", "gamma"][at]);
        let file = stands[at].store().join("fleet.toml");
        std::fs::write(&file, std::fs::read_to_string(&file).unwrap() + "copies = 2\n").unwrap();
        Server::strange(&stands[at])
    };
    let alpha = begun(0).signed_in();
    let mut others = [1, 2].map(|at| Some(begun(at)));
    wait_until("all have heard of each other", || {
        alpha.get("/api/v1/nodes").json()["nodes"].as_array().unwrap().len() == 3
    });
    let id = alpha.order(&short(), &[]).json()["id"].clone();
    let run = alpha.until(&id, "finished")["run"].as_str().unwrap().to_owned();
    let has_run = |at: usize| stands[at].run(&["show", &run]).status == Some(0);
    let has_file = |at: usize| !archived(&stands[at]).is_empty();
    wait_until("all have the run", || (0..3).all(has_run));
    wait_until("one of them need not keep the file", || has_file(1) != has_file(2));
    assert!(has_file(0), "who has measured it keeps it");
    // One that is away for a while still has it; one that has left has not.
    let (kept, without) = if has_file(1) { (1, 2) } else { (2, 1) };
    let keeper = others[kept - 1].take().unwrap();
    keeper.kill(Signal::TERM);
    stands[kept].fine(&["fleet", "leave"]);
    wait_until("another keeps it", || has_file(without));
    assert_eq!(archived(&stands[without]), archived(&stands[0]));
    let file = |at: usize| stands[at].store().join("archive").join(archived(&stands[at]).first().unwrap());
    assert!(std::fs::read(file(without)).unwrap() == std::fs::read(file(0)).unwrap());
    assert!(has_run(kept), "its runs stay its own");
}

#[test]
fn machines_and_rigs_of_a_node_are_looked_at_and_changed_on_any_other() {
    let Some(etcd) = Etcd::start() else { return };
    let (one, other) = (Stand::new(), Stand::new());
    join_quickly(&one.store(), &etcd, "alpha");
    let [anna, vera] = [("anna", "admin"), ("vera", "viewer")]
        .map(|(name, role)| one.fine(&["users", "add", name, "--role", role]).out.trim().to_owned());
    let alpha = Server::strange(&one).signed_in_as("anna", &anna);
    join_quickly(&other.store(), &etcd, "beta");
    let beta = Server::strange(&other);
    wait_until("alpha has heard of beta", || alpha.get("/api/v1/machines").body.contains("beta"));
    for machine in ["alpha", "beta"] {
        let page = alpha.get(&format!("/machines/{machine}"));
        assert!(page.status == 200 && page.body.contains("id=\"now\""), "{machine}: {}", page.body);
        let checked = alpha.ask("POST", &format!("/machines/{machine}/check"), &[], "");
        assert!(checked.status == 200 && checked.body.contains("role=\"status\""), "{machine}: {}", checked.body);
    }
    let form = "content-type: application/x-www-form-urlencoded";
    let page = alpha.get("/rigs");
    assert!(page.body.contains(">alpha</strong>") && page.body.contains("/rigs?node=beta"), "{}", page.body);
    let up = alpha.ask("POST", "/rigs?node=beta", &[form], "kind=file&name=r1&luns=1&lun_size=1MiB&disks=");
    assert_eq!(up.status, 303, "{}", up.body);
    let stands = |stand: &Stand| stand.run(&["rig", "status"]).out.contains("r1");
    assert!(stands(&other) && !stands(&one));
    let nobodys = alpha.ask("POST", "/rigs?node=gamma", &[form], "kind=file&name=r2&luns=1&lun_size=1MiB&disks=");
    assert_eq!(nobodys.status, 404, "{}", nobodys.body);
    let of_beta = alpha.get("/rigs?node=beta").body;
    assert!(of_beta.contains("/rigs/r1/down?node=beta") && !alpha.get("/rigs").body.contains("r1"), "{of_beta}");
    // What browsers may send from any page does nothing.
    let begun = alpha.send("HEAD", "/rigs/r1/down?node=beta", &[], "").lines().next().unwrap().unwrap();
    assert!(begun.contains(" 405 ") && stands(&other), "{begun}");
    assert_eq!(alpha.ask("POST", "/rigs/r1/down?node=beta", &[form], "").status, 303);
    assert!(!stands(&other));
    let journal = || alpha.get("/api/v1/journal?category=machines").body;
    wait_until("both are noted", || journal().contains("\"rig-up\"") && journal().contains("\"rig-down\""));
    // A user who may not set up rigs here may not there.
    let alpha = alpha.signed_in_as("vera", &vera);
    for path in ["/rigs?node=beta", "/machines/beta/check"] {
        assert_eq!(alpha.ask("POST", path, &[form], "kind=file").status, 403, "{path}");
    }
    // What is known of a machine is shown when its node is not there.
    beta.kill(Signal::KILL);
    let page = alpha.get("/machines/beta");
    assert!(page.status == 200 && !page.body.contains("id=\"now\""), "{}", page.body);
}

#[test]
fn who_waits_for_a_run_is_led_to_the_node_that_begins_it() {
    let Some(etcd) = Etcd::start() else { return };
    let (one, other) = (Stand::new(), Stand::new());
    let gate = gate(&one, 0);
    let (alpha, beta) = two_nodes(&one, &other, &etcd);
    let first = alpha.order(&short(), &[]).json();
    gate.wait_until_reached();
    let made = alpha.order(&short(), &[]).json();
    let run = made["run"].as_str().unwrap();
    let mut lines = beta.send("GET", &format!("/api/v1/runs/{run}/events"), &[], "").lines().map_while(Result::ok);
    assert!(lines.any(|line| line == "data: waiting"));
    assert_eq!(alpha.ask("POST", &format!("/api/v1/jobs/{}/stop", first["id"]), &[], "").status, 200);
    alpha.until(&made["id"], "running");
    assert!(!lines.any(|line| line == "event: end"), "the stream ends, and the run does not");
    gate.open();
    let told = follow(&beta, run, &channel().0);
    assert_eq!(told.len(), one.json(&["show", run])["run"]["repeats"].as_array().unwrap().len());
}

#[test]
fn what_another_node_or_a_command_has_done_just_now_is_there_for_whoever_asks() {
    let Some(etcd) = Etcd::start() else { return };
    let (one, other, third) = (Stand::new(), Stand::new(), Stand::new());
    let gate = gate(&one, 0);
    let late = Late::to(&etcd);
    let alpha = node(&one, &etcd, "alpha").signed_in();
    let beta = Server::listening(&other, &["--listen", "127.0.0.1:0", "--fleet", late.fleet(), "--node", "beta"]);
    let beta = beta.signed_in_with(&alpha);
    let order = || {
        late.until_asked_for(b"lab/order");
        let made = alpha.order(&short(), &[]).json();
        (made["id"].clone(), made["run"].as_str().unwrap().to_owned())
    };
    let (first, run) = order();
    assert!(beta.get(&format!("/runs/{run}")).body.contains(&run));
    let (second, run) = order();
    let mut lines = beta.send("GET", &format!("/api/v1/runs/{run}/events"), &[], "").lines().map_while(Result::ok);
    assert!(lines.any(|line| line == "data: waiting"));
    drop(lines);
    // Behind others that beta has not heard of either.
    let jobs = [order(), order(), order()].map(|(id, _)| id);
    for id in jobs.iter().rev().chain([&second, &first]) {
        assert_eq!(beta.ask("POST", &format!("/api/v1/jobs/{id}/stop"), &[], "").status, 200, "{id}");
    }
    gate.open();
    for nothing in ["runs/20000101-0000-0000", "jobs/1000"] {
        assert_eq!(beta.get(&format!("/api/v1/{nothing}")).status, 404);
    }
    late.until_asked_for(b"lab/secre");
    let token = alpha.ask("POST", "/api/v1/tokens", &[], "").json()["token"].as_str().unwrap().to_owned();
    let bearer = format!("authorization: Bearer {token}");
    assert_eq!(beta.ask("GET", "/api/v1/jobs", &[&bearer], "").status, 200);
    // An invitation by a command, which itself is not late.
    let file = other.store().join("fleet.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace(late.fleet(), &etcd.fleet())).unwrap();
    late.until_asked_for(b"lab/secre");
    let invitation = other.fine(&["fleet", "invite"]).out;
    third.fine(&["fleet", "join", invitation.trim(), "--node", "gamma"]);
}

#[test]
fn a_run_that_is_removed_is_removed_from_each_node_however_late_it_comes() {
    let Some(mut etcd) = Etcd::start() else { return };
    let (one, other) = (Stand::new(), Stand::new());
    let alpha = quick_node(&one, &etcd, "alpha").signed_in();
    let beta = quick_node(&other, &etcd, "beta");
    let runs = [(); 3].map(|()| {
        let made = alpha.order(&short(), &[]).json();
        alpha.until(&made["id"], "finished");
        made["run"].as_str().unwrap().to_owned()
    });
    let has = |stand: &Stand, run: &str| stand.run(&["show", run]).status == Some(0);
    let files = |stand: &Stand| std::fs::read_dir(stand.store().join("archive")).unwrap().count();
    wait_until("beta has all", || runs.iter().all(|run| has(&other, run)) && files(&other) == 6);
    other.fine(&["export", &runs[0], "--output", "kept"]);
    beta.kill(Signal::TERM);
    wait_until("the silent node is the first on the page", || {
        let page = alpha.get("/nodes").body;
        page.find(">beta<").unwrap() < page.find(">alpha ").unwrap()
    });
    one.fine(&["rm", &runs[0], "--dry-run"]);
    assert!(has(&one, &runs[0]));
    one.fine(&["rm", &runs[0]]);
    wait_until("alpha has no file of it", || files(&one) == 4);
    assert!(!has(&one, &runs[0]) && has(&other, &runs[0]), "beta is away");
    // A version that does not know the mark has an entry to read.
    let entry = etcd.get(&format!("lab/archive/{}", runs[0])).unwrap();
    let entry: serde_json::Value = serde_json::from_str(&entry).unwrap();
    assert!(entry["sha256"].is_string() && entry["size"].is_u64() && entry["removed"]["on"] == "alpha", "{entry}");
    let beta = quick_node(&other, &etcd, "beta");
    wait_until("beta has removed it too", || !has(&other, &runs[0]) && files(&other) == 4);
    assert_eq!(
        beta.ask("GET", &format!("/api/v1/runs/{}", runs[0]), &[&format!("cookie: {}", alpha.cookie)], "").status,
        404
    );
    // It is offered to nobody again, and not taken from a file.
    let kept = other.path().join("kept");
    for stand in [&one, &other] {
        stand.refused(&["import", kept.to_str().unwrap()], &["was removed from the fleet on node alpha", "--store"]);
        assert!(!has(stand, &runs[0]));
    }
    let elsewhere = one.path().join("elsewhere");
    one.fine(&["--store", elsewhere.to_str().unwrap(), "import", kept.to_str().unwrap()]);
    // By rule it is the same.
    beta.kill(Signal::TERM);
    other.fine(&["label", &runs[1], "kept"]);
    std::fs::write(other.store().join("server.toml"), "[retention]\nto_size = \"1\"\n").unwrap();
    let beta = quick_node(&other, &etcd, "beta");
    wait_until("the rule is followed on both", || [&one, &other].iter().all(|stand| !has(stand, &runs[2])));
    wait_until("its files are gone", || files(&one) == 2 && files(&other) == 2);
    let journal = alpha.get("/api/v1/journal?category=runs").json()["entries"].clone();
    let removed = journal.as_array().unwrap().iter().filter(|entry| entry["kind"] == "runs-removed");
    let removed: Vec<_> = removed.map(|entry| (entry["about"].as_str(), entry["detail"].as_str().unwrap())).collect();
    let noted = [format!("{} (beta)", runs[2]), format!("{} (alpha)", runs[0])];
    assert_eq!(removed, noted.each_ref().map(|detail| (Some("1"), &**detail)));
    // Without the fleet nothing is removed.
    etcd.kill();
    let refused = one.run(&["rm", &runs[1]]);
    assert!(refused.status == Some(4) && refused.err.lines().count() == 1, "{}", refused.err);
    assert!(has(&one, &runs[1]));
    drop(beta);
}

#[test]
fn another_node_goes_on_with_what_a_dead_one_has_made() {
    another_goes_on_after(Signal::KILL);
}

#[test]
fn another_node_goes_on_with_what_one_has_made_that_stands_still_for_long() {
    another_goes_on_after(Signal::STOP);
}

fn another_goes_on_after(signal: Signal) {
    let (Some(etcd), Some(machine)) = (Etcd::start(), Sshd::new()) else { return };
    machine.with_build();
    let gate = machine.gate(2);
    let suite = std::fs::read_to_string(machine.gated_suite()).unwrap();
    let stores = ["alpha", "beta"].map(|name| machine.stand.path().join(name));
    let node = |at: usize| {
        let store = stores[at].to_str().unwrap();
        Server::of_command(
            &machine.stand,
            &mut machine.command(&["--store", store, "serve", "--listen", "127.0.0.1:0"]),
        )
    };
    for (store, name) in stores.iter().zip(["alpha", "beta"]) {
        join_quickly(store, &etcd, name);
        machine.fine(&["--store", store.to_str().unwrap(), "hosts", "add", "box", "stand"]);
    }
    let alpha = node(0).signed_in();
    let file = alpha.ask("POST", "/api/v1/files", &["content-type: text/plain"], &suite).json();
    let order = json!({
        "suite": "gated.toml", "files": { "gated.toml": file["sha256"] }, "machine": "box", "even_if_unfit": true,
    });
    let made = alpha.order(&order, &[]);
    assert_eq!(made.status, 201, "{}", made.body);
    let (id, run) = (made.json()["id"].clone(), made.json()["run"].as_str().unwrap().to_owned());
    gate.wait_until_reached();
    let beta = node(1).signed_in_with(&alpha);
    wait_until("the repeats are known to all", || etcd.has(&format!("repeat/{id}/")));
    // Whoever follows the run goes on, at the node that takes it over and at any other.
    let elsewhere = Stand::new();
    let gamma = quick_node(&elsewhere, &etcd, "gamma").signed_in_with(&alpha);
    let (stopped, followed) = std::thread::scope(|scope| {
        let viewers = [&beta, &gamma].map(|server| {
            let ((sender, told), run) = (channel(), &run);
            let viewer = scope.spawn(move || follow(server, run, &sender));
            told.recv().unwrap();
            viewer
        });
        // What it measures ends by itself.
        let stopped = if signal == Signal::KILL {
            alpha.kill(signal);
            None
        } else {
            alpha.signal(signal);
            Some(alpha)
        };
        wait_until("beta has taken it", || beta.job(&id)["node"] == "beta");
        gate.open();
        beta.until(&id, "finished");
        (stopped, viewers.map(|viewer| viewer.join().unwrap()))
    });
    let repeats = machine.stand.json(&["--store", stores[1].to_str().unwrap(), "show", &run])["run"]["repeats"].clone();
    let numbers: Vec<_> = repeats.as_array().unwrap().iter().map(|repeat| repeat["number"].as_u64().unwrap()).collect();
    assert_eq!(numbers, [0, 1, 2, 3, 4, 5], "each is there once");
    let sequence: Vec<_> =
        repeats.as_array().unwrap().iter().map(|repeat| repeat["sequence"].as_u64().unwrap()).collect();
    assert_eq!(followed, [sequence.clone(), sequence], "each was told once");
    // On a busy machine a node may lose its short lease for a moment, and goes on in a session more.
    assert_ne!(repeats[0]["session"], repeats[5]["session"], "{repeats:#}");
    wait_until("the parts are gone", || !etcd.has(&format!("repeat/{id}/")));
    let journal = beta.get("/api/v1/journal?category=runs").body;
    assert!(journal.contains("run-taken-over") && journal.contains("alpha"), "{journal}");
    // A node that comes back has the whole run too, and not what it had of it.
    let _alpha = stopped.map_or_else(
        || node(0),
        |alpha| {
            alpha.signal(Signal::CONT);
            alpha
        },
    );
    let has_all =
        || machine.run(&["--store", stores[0].to_str().unwrap(), "show", &run, "--json"]).out.contains("\"finished\"");
    wait_until("alpha has the whole run", has_all);
}

#[test]
fn a_node_whose_clock_is_set_keeps_its_run() {
    let (Some(etcd), Some(machine), Some(clock)) = (Etcd::start(), Sshd::new(), Clock::new()) else { return };
    machine.with_build();
    let gate = machine.gate(2);
    let suite = std::fs::read_to_string(machine.gated_suite()).unwrap();
    let [one, other] = ["alpha", "beta"].map(|name| {
        let store = machine.stand.path().join(name);
        // No node is taken for dead because the machine is busy.
        join(&store, &etcd, name, "20s");
        let store = store.to_str().unwrap().to_owned();
        machine.fine(&["--store", &store, "hosts", "add", "box", "stand"]);
        machine.command(&["--store", &store, "serve", "--listen", "127.0.0.1:0"])
    });
    let alpha = Server::of_command(&machine.stand, &mut clock.with(&one)).signed_in();
    let file = alpha.ask("POST", "/api/v1/files", &["content-type: text/plain"], &suite).json();
    let order = json!({
        "suite": "gated.toml", "files": { "gated.toml": file["sha256"] }, "machine": "box", "even_if_unfit": true,
    });
    let made = alpha.order(&order, &[]);
    assert_eq!(made.status, 201, "{}", made.body);
    let id = made.json()["id"].clone();
    gate.wait_until_reached();
    let mut other = other;
    let beta = Server::of_command(&machine.stand, &mut other).signed_in_with(&alpha);
    for ahead in [5 * 3600, -5 * 3600] {
        clock.set(ahead);
        for _ in 0..2 {
            let before = etcd.revision("beat/alpha");
            wait_until("alpha says that it is there", || etcd.revision("beat/alpha") > before);
        }
    }
    gate.open();
    let job = beta.until(&id, "finished");
    assert_eq!(job["node"], "alpha");
    let store = machine.stand.path().join("alpha");
    let shown = machine.stand.json(&["--store", store.to_str().unwrap(), "show", job["run"].as_str().unwrap()]);
    assert_eq!(shown["run"]["sessions"].as_array().unwrap().len(), 1, "it was not stopped");
    let began: jiff::Timestamp = job["began_at"].as_str().unwrap().parse().unwrap();
    let ended: jiff::Timestamp = job["ended_at"].as_str().unwrap().parse().unwrap();
    assert!(ended < began, "its clock was set: {job:#}");
    assert!(!beta.get("/api/v1/journal?category=runs").body.contains("run-taken-over"));
}

#[test]
fn a_node_that_is_cut_off_measures_nothing_says_so_and_goes_on_later() {
    let Some(mut etcd) = Etcd::three() else { return };
    let stand = Stand::new();
    let gate = gate(&stand, 0);
    let alpha = quick_node(&stand, &etcd, "alpha").signed_in();
    let id = alpha.order(&short(), &[]).json()["id"].clone();
    let run = alpha.job(&id)["run"].as_str().unwrap().to_owned();
    gate.wait_until_reached();
    let is_measured = || {
        let found =
            std::process::Command::new("pgrep").args(["-f", "--", &format!("--id={run}|resume {run}")]).output();
        !found.unwrap().stdout.is_empty()
    };
    assert!(is_measured());
    etcd.kill();
    wait_until("nothing is measured any more", || !is_measured());
    let says_so = |path: &str| alpha.get(path).body.contains("does not hear of the fleet");
    wait_until("it is said", || says_so("/"));
    let of_run = format!("/runs/{run}");
    for path in [
        &of_run,
        "/machines/alpha",
        "/references",
        "/references/vostok-2020",
        "/rigs",
        "/schedule",
        "/journal",
        "/nodes",
        "/access",
        "/batches/1",
    ] {
        assert!(says_so(path), "{path}");
    }
    let page = alpha.ask("GET", "/schedule", &["accept-language: ru"], "").body;
    assert!(page.contains("Узел потерял связь"), "{page}");
    assert!(alpha.get("/api/v1/nodes").json()["cut_off"].is_string());
    // What is known is still shown, and what would be changed is refused.
    assert_eq!(alpha.job(&id)["state"], "running");
    let refused = alpha.ask("POST", &format!("/api/v1/jobs/{id}/stop"), &[], "");
    assert_eq!((refused.status, refused.json()["detail"].as_str().unwrap().lines().count()), (503, 1));
    gate.open();
    etcd.begin_again();
    alpha.until(&id, "finished");
    wait_until("it hears again", || !says_so("/"));
    let nodes = alpha.get("/api/v1/nodes").json();
    let of = |field: &str| nodes["nodes"][0][field].clone();
    assert_eq!((of("name"), of("machines"), of("runs")), (json!("alpha"), json!(["alpha"]), json!([])));
    for member in 0..3 {
        assert!(nodes["members"][member]["version"].as_str().unwrap().starts_with("3."), "{nodes:#}");
    }
    let page = alpha.get("/nodes").body;
    assert!(page.contains("alpha") && page.contains("leads"), "{page}");
}

#[test]
fn a_server_becomes_the_first_node_with_all_that_it_had_and_leaves_again() {
    let Some(etcd) = Etcd::start() else { return };
    let (stand, other) = (Stand::new(), Stand::new());
    let password = stand.fine(&["users", "add", "anna", "--role", "admin"]).out;
    let alone = Server::strange(&stand).signed_in_as("anna", password.trim());
    alone.until(&alone.order(&short(), &[]).json()["id"], "finished");
    stand.fine(&["hosts", "set", "local", "--label", "cpu=epyc"]);
    alone.until(&alone.order(&short_on("cpu=epyc"), &[]).json()["id"], "finished");
    let line = json!({ "cron": "0 0 1 1 *", "order": short() }).to_string();
    let add = || alone.ask("POST", "/api/v1/schedule", &["content-type: application/json"], &line);
    assert_eq!(add().status, 201);
    let path = format!("/api/v1/schedule/{}", add().json()["id"]);
    assert_eq!(alone.ask("DELETE", &path, &[], "").status, 204);
    let busy = stand.run(&["fleet", "init", &etcd.fleet(), "--node", "alpha"]);
    assert!(busy.status == Some(4) && busy.err.contains("serve"), "{}", busy.err);
    let before = alone.get("/api/v1/journal?category=runs").json()["entries"].clone();
    alone.kill(Signal::TERM);
    other.refused(&["fleet", "join", &etcd.fleet()], &["there is no fleet", "stend fleet init"]);
    other.refused(&["fleet", "status"], &["no fleet", "stend fleet join"]);
    stand.fine(&["fleet", "init", &etcd.fleet(), "--node", "alpha"]);
    other.refused(&["fleet", "init", &etcd.fleet()], &["there is a fleet"]);
    other.fine(&["fleet", "join", &etcd.fleet(), "--node", "beta"]);
    let beta = Server::strange(&other).signed_in_as("anna", password.trim());
    let alpha = Server::strange(&stand).signed_in_with(&beta);
    assert_eq!(beta.get("/api/v1/journal?category=runs").json()["entries"], before);
    let of = |path: &str, list: &str| beta.get(path).json()[list][0].clone();
    let jobs = beta.get("/api/v1/jobs").json()["jobs"].clone();
    assert_eq!((&jobs[0]["machine"], &jobs[1]["order"]["machine"]), (&json!("alpha"), &json!("alpha")));
    assert_eq!(of("/api/v1/schedule", "lines")["order"]["machine"], "alpha");
    // What it had measured before is in the archive of all.
    let run = of("/api/v1/jobs", "jobs")["run"].as_str().unwrap().to_owned();
    wait_until("beta has the run", || other.run(&["show", &run]).status == Some(0));
    let status = stand.fine(&["fleet", "status"]).out;
    let there =
        |name: &str| status.lines().any(|line| line.starts_with(&format!("node {name}")) && line.contains(": there"));
    assert!(there("alpha (this one)") && there("beta") && status.contains("leads"), "{status}");
    let wrong = stand.run(&["fleet", "doctor"]);
    assert!(wrong.status == Some(1) && wrong.err.contains("three or five"), "{}", wrong.err);
    assert_eq!(wrong.err.lines().filter(|line| line.starts_with('✗')).count(), 1, "{}", wrong.err);
    // What was done before can be put back on any node.
    let entries = beta.get("/api/v1/journal").json()["entries"].as_array().unwrap().clone();
    let removed = entries.iter().find(|entry| entry["kind"] == "schedule-removed").unwrap()["id"].clone();
    assert_eq!(beta.ask("POST", &format!("/api/v1/journal/{removed}/put-back"), &[], "").status, 204);
    let lines = || alpha.get("/api/v1/schedule").json()["lines"].clone();
    wait_until("alpha has both", || [0, 1].iter().all(|line| lines()[line]["order"]["machine"] == "alpha"));
    // Users are users of all nodes.
    other.fine(&["users", "add", "boris"]);
    assert_eq!(stand.fine(&["users"]).out.lines().count(), 2);
    alpha.kill(Signal::TERM);
    stand.fine(&["fleet", "leave"]);
    stand.refused(&["fleet", "leave"], &["no fleet"]);
    let alone = Server::strange(&stand).signed_in_as("anna", password.trim());
    let jobs = alone.get("/api/v1/jobs").json()["jobs"].clone();
    assert_eq!((&jobs[0]["machine"], &jobs[1]["order"]["machine"]), (&json!("local"), &json!("local")));
    drop(beta);
}

#[test]
fn a_fleet_whose_etcd_is_lost_begins_again_from_a_back_up() {
    let (Some(lost), Some(new)) = (Etcd::start(), Etcd::start()) else { return };
    let (stand, copy, other) = (Stand::new(), Stand::new(), Stand::new());
    join_quickly(&stand.store(), &lost, "alpha");
    let password = stand.fine(&["users", "add", "anna", "--role", "admin"]).out;
    let alpha = Server::strange(&stand).signed_in_as("anna", password.trim());
    let runs: Vec<String> = (0..2)
        .map(|_| {
            let made = alpha.order(&short(), &[]).json();
            alpha.until(&made["id"], "finished");
            made["run"].as_str().unwrap().to_owned()
        })
        .collect();
    let before = alpha.get("/api/v1/journal?category=runs").json()["entries"].clone();
    wait_until("both runs are archived", || archived(&stand).len() == 2);
    stand.fine(&["backup", copy.store().to_str().unwrap()]);
    alpha.kill(Signal::KILL);
    drop(lost);
    // The members and the node are gone.
    join_quickly(&copy.store(), &new, "alpha");
    let alpha = Server::strange(&copy).signed_in_as("anna", password.trim());
    join_quickly(&other.store(), &new, "beta");
    let beta = Server::strange(&other).signed_in_as("anna", password.trim());
    for server in [&alpha, &beta] {
        assert_eq!(server.get("/api/v1/journal?category=runs").json()["entries"], before);
        let jobs = server.get("/api/v1/jobs").json()["jobs"].as_array().unwrap().clone();
        assert_eq!(jobs.iter().map(|job| job["run"].as_str().unwrap()).rev().collect::<Vec<_>>(), runs);
    }
    // The same files by their SHA-256, and each run in each store.
    wait_until("beta has both runs", || archived(&other) == archived(&stand));
    assert_eq!(archived(&copy), archived(&stand));
    wait_until("they are in its store", || runs.iter().all(|run| other.run(&["show", run]).status == Some(0)));
}

#[test]
fn a_change_is_put_back_in_a_fleet_as_on_one_server() {
    let Some(etcd) = Etcd::start() else { return };
    let stand = Stand::new();
    join_quickly(&stand.store(), &etcd, "alpha");
    puts_back(&stand, &mut Server::strange(&stand));
}

#[test]
fn a_name_is_one_nodes_and_a_store_is_of_one_fleet() {
    let Some(etcd) = Etcd::start() else { return };
    let (one, other) = (Stand::new(), Stand::new());
    let alpha = quick_node(&one, &etcd, "alpha").signed_in();
    join_quickly(&other.store(), &etcd, "alpha");
    let serve = ["serve", "--listen", "127.0.0.1:0"];
    other.refused(&serve, &["another node is called alpha"]);
    other.refused(&[&serve[..], &["--fleet", "etcd://127.0.0.1:1"]].concat(), &["this store is node alpha", "leave"]);
    // One that has the name by mistake takes nobody out but itself.
    other.fine(&["fleet", "leave"]);
    let id = alpha.order(&short(), &[]).json()["id"].clone();
    alpha.until(&id, "finished");
    assert!(alpha.get("/api/v1/nodes").body.contains("\"alpha\"") && !other.store().join("fleet.toml").exists());
    let strange = Stand::new();
    strange.refused(&["fleet", "join", &etcd.fleet(), "--node", "alpha"], &["another node is called alpha", "--node"]);
    strange.refused(&[&serve[..], &["--fleet", "etcd:/x"]].concat(), &["etcd://HOST:PORT"]);
    strange.refused(&["fleet", "init", &etcd.fleet()], &["there is a fleet"]);
    strange.refused(&[&serve[..], &["--fleet", &etcd.fleet(), "--node", "local"]].concat(), &["not \"local\""]);
    let away = strange.run(&[&serve[..], &["--fleet", "etcd://127.0.0.1:1"]].concat());
    assert!(away.status == Some(4) && away.err.lines().count() == 1, "{}", away.err);
    assert!(!strange.store().join("fleet.toml").exists(), "what could not be joined is not kept");
    // Members of two clusters are no fleet's.
    let another = Etcd::start().unwrap();
    let [own, of_another] = [&etcd, &another].map(|etcd| etcd.fleet().strip_prefix("etcd://").unwrap().to_owned());
    let both = format!("{own},{of_another}");
    strange.refused(&["fleet", "join", &format!("etcd://{both}")], &[&own, &of_another, "two clusters"]);
    let file = one.store().join("fleet.toml");
    std::fs::write(&file, std::fs::read_to_string(&file).unwrap().replace(&own, &both)).unwrap();
    let wrong = one.run(&["fleet", "doctor"]);
    let said = wrong.err.lines().find(|line| line.contains("another cluster")).expect(&wrong.err);
    assert!(wrong.status == Some(1) && said.contains(&of_another) && said.contains("fleet.toml"), "{}", wrong.err);
}
