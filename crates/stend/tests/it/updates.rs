//! A new version on all nodes of a fleet, one after the other.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::common::etcd::Etcd;
use crate::common::{Gate, Stand, probe, wait_until};
use crate::nodes::{join, quick_node};
use crate::serve::{Server, gate, short, short_on};

/// A program of one's own that is `stend`, with more bytes at its end, which change nothing but its SHA-256.
fn program(directory: &Path, more: &str) -> PathBuf {
    std::fs::create_dir_all(directory).unwrap();
    let program = directory.join("stend");
    let of_stand = Stand::new().command(&[]);
    std::fs::copy(of_stand.get_program(), &program).unwrap();
    let mut file = std::fs::File::options().append(true).open(&program).unwrap();
    std::io::Write::write_all(&mut file, more.as_bytes()).unwrap();
    std::fs::copy(probe(), directory.join("stend-probe")).unwrap();
    program
}

/// A command of a stand by another program than usual.
fn by(program: &Path, stand: &Stand, words: &[&str]) -> Command {
    let usual = stand.command(words);
    let mut command = Command::new(program);
    command.args(words).current_dir(stand.path());
    command.envs(usual.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command
}

/// A node with a program of its own, at an address that stays.
struct Node {
    stand: Stand,
    gate: Gate,
    program: PathBuf,
    address: String,
}

impl Node {
    fn new(etcd: &Etcd, name: &str) -> Self {
        let stand = Stand::new();
        let gate = gate(&stand, 0);
        join(&stand.store(), etcd, name, "5s");
        let program = program(&stand.path().join("bin"), "");
        Self { stand, gate, program, address: stend_testing::own_address() }
    }

    fn serve(&self) -> Server<'_> {
        let mut command = by(&self.program, &self.stand, &["serve", "--listen", &self.address]);
        command.env("STEND_PROBE", self.stand.path().join("gated-probe"));
        Server::of_command(&self.stand, &mut command)
    }

    fn is_new(&self, new: &Path) -> bool {
        ["stend", "stend-probe"].iter().all(|name| {
            let read = |program: &Path| std::fs::read(program.with_file_name(name)).unwrap();
            read(&self.program) == read(new)
        })
    }
}

fn begin(new: &Path, stand: &Stand) -> Child {
    let mut command = by(new, stand, &["fleet", "update"]);
    command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

/// What a command said, and its exit status.
fn ended(child: Child) -> (String, Option<i32>) {
    let output = child.wait_with_output().unwrap();
    (String::from_utf8(output.stderr).unwrap(), output.status.code())
}

#[test]
fn each_node_becomes_the_new_version_when_it_has_ended_what_it_measures() {
    let Some(etcd) = Etcd::start() else { return };
    let nodes = ["alpha", "beta"].map(|name| Node::new(&etcd, name));
    let alpha = nodes[0].serve().signed_in();
    let beta = nodes[1].serve().signed_in_with(&alpha);
    wait_until("alpha has heard of beta", || alpha.get("/api/v1/machines").body.contains("beta"));
    let jobs = ["alpha", "beta", "alpha"].map(|machine| alpha.order(&short_on(machine), &[]).json()["id"].clone());
    nodes.iter().for_each(|node| node.gate.wait_until_reached());
    let place = Stand::new();
    let new = program(&place.path().join("new"), "new");
    let updating = begin(&new, &nodes[0].stand);
    // The one whose turn it is begins nothing more, and goes on with what it measures.
    let drains = |server: &Server, name: &str| {
        let nodes = server.get("/api/v1/nodes").json()["nodes"].clone();
        nodes.as_array().unwrap().iter().any(|node| node["name"] == name && node["is_draining"] == true)
    };
    wait_until("one has its turn", || drains(&alpha, "alpha") || drains(&alpha, "beta"));
    assert!(alpha.get("/nodes").body.contains("is being updated"));
    assert_eq!(
        (alpha.job(&jobs[0])["state"].clone(), alpha.job(&jobs[2])["state"].clone()),
        (json!("running"), json!("waiting"))
    );
    assert!(nodes.iter().all(|node| !node.is_new(&new)));
    nodes.iter().for_each(|node| node.gate.open());
    let (said, status) = ended(updating);
    assert_eq!(status, Some(0), "{said}");
    assert!(said.contains("alpha: has the new version") && said.contains("beta: has the new version"), "{said}");
    assert!(nodes.iter().all(|node| node.is_new(&new)));
    for job in &jobs {
        alpha.until(job, "finished");
    }
    // Both are there, with what was before beside it, and each run was measured once.
    let programs: Vec<Value> =
        beta.get("/api/v1/nodes").json()["nodes"].as_array().unwrap().iter().map(|it| it["program"].clone()).collect();
    assert!(programs.len() == 2 && programs[0] == programs[1] && programs[0].is_string(), "{programs:?}");
    assert!(nodes.iter().all(|node| node.program.with_file_name("stend.before").exists()));
    let journal = || alpha.get("/api/v1/journal?limit=1000").json();
    let count = |kind: &str| journal()["entries"].as_array().unwrap().iter().filter(|it| it["kind"] == kind).count();
    wait_until("all is noted", || count("node-updated") == 2);
    assert_eq!((count("run-finished"), count("run-began")), (3, 3));
    // There is nothing to do a second time.
    let (said, status) = ended(begin(&new, &nodes[0].stand));
    assert_eq!(status, Some(0), "{said}");
}

#[test]
fn a_version_that_does_not_begin_costs_one_node() {
    let Some(etcd) = Etcd::start() else { return };
    let nodes = ["alpha", "beta"].map(|name| Node::new(&etcd, name));
    let alpha = nodes[0].serve().signed_in();
    let mut servers = vec![alpha, nodes[1].serve()];
    let place = Stand::new();
    let new = program(&place.path().join("new"), "new");
    // A node that cannot write beside its program says so, and remains what it was.
    for node in &nodes {
        std::fs::create_dir(node.program.with_file_name("stend-probe.new")).unwrap();
    }
    let (said, status) = ended(begin(&new, &nodes[0].stand));
    assert!(status == Some(1) && said.contains("bin/stend-probe: ") && said.contains("no more nodes"), "{said}");
    assert!(nodes.iter().all(|node| !node.is_new(&new) && !node.program.with_file_name("stend.new").exists()));
    wait_until("it is noted", || servers[0].get("/api/v1/journal?limit=1000").body.contains("update-failed"));
    // One that is not back keeps the others from their turn.
    for node in &nodes {
        std::fs::remove_dir(node.program.with_file_name("stend-probe.new")).unwrap();
        std::fs::write(node.stand.store().join("server.toml"), "nothing = 1").unwrap();
    }
    let (said, status) = ended(begin(&new, &nodes[0].stand));
    assert!(status == Some(1) && said.contains("is not back from its turn"), "{said}");
    assert_eq!(nodes.iter().filter(|node| node.is_new(&new)).count(), 1, "{said}");
    // It goes on when that one is mended.
    let at = nodes.iter().position(|node| node.is_new(&new)).unwrap();
    drop(servers.remove(at));
    nodes.iter().for_each(|node| std::fs::remove_file(node.stand.store().join("server.toml")).unwrap());
    let _back = nodes[at].serve();
    wait_until("the other one has its turn", || nodes.iter().all(|node| node.is_new(&new)));
}

#[test]
fn what_a_newer_version_wrote_does_no_harm() {
    let Some(etcd) = Etcd::start() else { return };
    let stand = Stand::new();
    let alpha = quick_node(&stand, &etcd, "alpha").signed_in();
    let noted = alpha.get("/api/v1/journal").json()["entries"][0]["id"].as_i64().unwrap();
    let number = |id: i64| format!("{id:012}");
    etcd.put(&format!("lab/journal/{}", number(noted + 1)), &json!({ "kind": "from the future", "at": "then" }));
    etcd.put(
        "lab/node/omega",
        &json!({
            "url": "https://omega:7836", "certificate": null, "machine": "m", "version": "9.0.0",
            "began_at": "2030-01-01T00:00:00Z", "machines": ["omega"], "wings": 2,
        }),
    );
    etcd.put("lab/wings/omega", &json!({ "span": 3 }));
    etcd.put("lab/secret/0", &json!({ "kind": "wing" }));
    etcd.put("lab/update", &json!({ "word": "x", "wings": 2 }));
    wait_until("the other one is there", || alpha.get("/api/v1/nodes").body.contains("9.0.0"));
    // What is not understood is not shown, and nothing is written in its place.
    let id = alpha.order(&short(), &[]).json()["id"].clone();
    alpha.until(&id, "finished");
    let entries = alpha.get("/api/v1/journal?limit=1000").json()["entries"].clone();
    let ids: Vec<i64> = entries.as_array().unwrap().iter().map(|entry| entry["id"].as_i64().unwrap()).collect();
    assert!(ids.iter().all(|id| *id != noted + 1) && ids.iter().any(|id| *id > noted + 1), "{ids:?}");
    assert!(alpha.get("/").status == 200 && alpha.get("/journal").status == 200 && alpha.get("/nodes").status == 200);
}
