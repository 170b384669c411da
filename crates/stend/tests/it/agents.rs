//! Machines that nobody reaches: agents that dial out to a node, and what they may not do.

use std::io::BufRead as _;
use std::path::Path;
use std::process::{Child, Stdio};

use serde_json::{Value, json};

use crate::common::etcd::Etcd;
use crate::common::{Gate, Stand, wait_until};
use crate::nodes::{archived, join_quickly, quick_node, two_nodes};
use crate::serve::{Server, gate, short_on};

/// A machine with an agent.
struct Agent {
    stand: Stand,
    child: Child,
}

impl Agent {
    /// The agent `gamma`, which has been invited by one node and is known to this one. What it measures comes to a gate, which lets so many through.
    fn gated(free: u32, by: &Stand, node: &Server) -> (Gate, Self) {
        let stand = Stand::new();
        let gate = gate(&stand, free);
        let agent = Self::invited(stand, &invitation(by, &["--agent", "gamma"]));
        wait_until("the fleet has its machine", || node.get("/api/v1/nodes").body.contains("gamma"));
        (gate, agent)
    }

    /// The leases of these tests are short: on a busy machine a node may not hear of its fleet for a moment, and takes no agent then.
    fn invited(mut stand: Stand, invitation: &str) -> Self {
        loop {
            let mut agent = Self::start(stand, &[invitation]);
            let answer = agent.answer();
            if !answer.contains("does not hear of the fleet") {
                assert!(answer.contains("asks node"), "{answer}");
                return agent;
            }
            stand = agent.kill();
        }
    }

    fn start(stand: Stand, words: &[&str]) -> Self {
        let mut command = stand.command(&[&["agent"], words].concat());
        let gated = stand.path().join("gated-probe");
        if gated.exists() {
            command.env("STEND_PROBE", gated);
        }
        let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        Self { stand, child }
    }

    /// The next line that it says.
    fn says(&mut self) -> String {
        let stderr = self.child.stderr.as_mut().unwrap();
        let bytes = std::io::Read::bytes(stderr).map_while(Result::ok).take_while(|byte| *byte != b'\n');
        String::from_utf8(bytes.collect()).unwrap()
    }

    /// The first line that it says but those that it tries again.
    fn answer(&mut self) -> String {
        std::iter::repeat_with(|| self.says()).find(|line| !line.contains("no node answers")).unwrap()
    }

    /// Waits until it has a node's answer.
    fn ready(mut self) -> Self {
        let answer = self.answer();
        assert!(answer.contains("asks node"), "{answer}");
        self
    }

    fn kill(mut self) -> Stand {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        std::mem::replace(&mut self.stand, Stand::new())
    }

    /// What it said at its end, and its exit status.
    fn ended(&mut self) -> (String, Option<i32>) {
        let mut said = String::new();
        std::io::Read::read_to_string(self.child.stderr.as_mut().unwrap(), &mut said).unwrap();
        (said, self.child.wait().unwrap().code())
    }

    /// What it shows nodes.
    fn secret(&self) -> String {
        secret(&self.stand.store())
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn secret(store: &Path) -> String {
    let kept: Value = serde_json::from_slice(&std::fs::read(store.join("agent.json")).unwrap()).unwrap();
    kept["secret"].as_str().unwrap().to_owned()
}

fn invitation(node: &Stand, words: &[&str]) -> String {
    node.fine(&[&["fleet", "invite"], words].concat()).out.trim().to_owned()
}

#[test]
fn an_agent_measures_what_is_ordered_for_its_machine_and_each_node_shows_it() {
    let Some(etcd) = Etcd::start() else { return };
    let (one, other) = (Stand::new(), Stand::new());
    let (alpha, beta) = two_nodes(&one, &other, &etcd);
    let (gate, agent) = Agent::gated(2, &one, &beta);
    let made = beta.order(&short_on("gamma"), &[]);
    assert_eq!(made.status, 201, "{}", made.body);
    let (id, run) = (made.json()["id"].clone(), made.json()["run"].as_str().unwrap().to_owned());
    gate.wait_until_reached();
    assert_eq!(beta.job(&id)["node"], "gamma");
    // A node that no agent asks shows what the agent has made so far, and the rest as it comes.
    let events = beta.send("GET", &format!("/api/v1/runs/{run}/events"), &[], "");
    let mut lines = events.lines().map_while(Result::ok);
    let first = lines.by_ref().find(|line| line.starts_with("id: "));
    assert_eq!(first.as_deref(), Some("id: 0"));
    let page = beta.get(&format!("/runs/{run}"));
    assert!(page.status == 200 && page.body.contains(&run), "{}", page.body);
    let nodes = beta.get("/nodes").body;
    assert!(nodes.contains("gamma") && nodes.contains("agent, asks alpha"), "{nodes}");
    gate.open();
    beta.until(&id, "finished");
    let told: Vec<String> = lines.filter(|line| line.starts_with("id: ") || line.starts_with("event: end")).collect();
    let repeats = agent.stand.json(&["show", &run])["run"]["repeats"].as_array().unwrap().len();
    assert!(repeats > 3, "{repeats}");
    let ids: Vec<String> = (1..repeats).map(|number| format!("id: {number}")).collect();
    assert_eq!(told, [ids, vec!["event: end".to_owned()]].concat());
    // Each node has the run itself, as the agent measured it.
    let whole = agent.stand.json(&["show", &run])["run"]["repeats"].clone();
    let kept: Value = serde_json::from_str(&etcd.get(&format!("lab/archive/{run}")).unwrap()).unwrap();
    let kept = kept["sha256"].as_str().unwrap();
    for stand in [&one, &other] {
        wait_until("a node has the run", || stand.store().join(format!("archive/{kept}.imported")).exists());
        assert_eq!(stand.json(&["show", &run])["run"]["repeats"], whole);
        // And no file of what it had followed.
        assert_eq!(archived(stand), [format!("{kept}.stend.gz")].into());
    }
    wait_until("the parts are gone", || !etcd.has(&format!("repeat/{id}/")));
    let journal = alpha.get("/api/v1/journal").json();
    let finished = journal["entries"].as_array().unwrap().iter().find(|entry| entry["kind"] == "run-finished").unwrap();
    assert_eq!((&finished["who"], &finished["about"]), (&json!("gamma"), &json!(run)));
}

#[test]
fn an_agent_asks_another_node_when_its_own_dies_and_goes_on_when_it_was_killed() {
    let Some(etcd) = Etcd::start() else { return };
    let (one, other) = (Stand::new(), Stand::new());
    let (alpha, beta) = two_nodes(&one, &other, &etcd);
    let (gate, agent) = Agent::gated(2, &one, &beta);
    let made = beta.order(&short_on("gamma"), &[]).json();
    let (id, run) = (&made["id"], made["run"].as_str().unwrap());
    gate.wait_until_reached();
    alpha.kill(rustix::process::Signal::KILL);
    wait_until("it asks the other one", || beta.get("/api/v1/nodes").body.contains("\"through\":\"beta\""));
    // The next one of this store has its job, and what it made.
    let stand = agent.kill();
    gate.open();
    let agent = Agent::start(stand, &[]).ready();
    beta.until(id, "finished");
    let repeats = agent.stand.json(&["show", run])["run"]["repeats"].clone();
    let numbers: Vec<_> = repeats.as_array().unwrap().iter().map(|repeat| repeat["sequence"].clone()).collect();
    let each: Vec<_> = (0..numbers.len()).map(|number| json!(number)).collect();
    assert_eq!(numbers, each);
    wait_until("the node has the run", || other.run(&["show", run, "--json"]).out.contains("\"finished\""));
}

#[test]
fn an_agent_waits_for_a_node_that_answers() {
    let Some(etcd) = Etcd::start() else { return };
    let one = Stand::new();
    join_quickly(&one.store(), &etcd, "alpha");
    let address = stend_testing::own_address();
    let node = || Server::listening(&one, &["--listen", &address]);
    let alpha = node();
    let stand = Agent::invited(Stand::new(), &invitation(&one, &["--agent", "gamma"])).kill();
    alpha.kill(rustix::process::Signal::KILL);
    let mut agent = Agent::start(stand, &[]);
    let line = agent.says();
    assert!(line.contains("no node answers"), "{line}");
    let _alpha = node();
    let line = agent.answer();
    assert!(line.contains("asks node alpha"), "{line}");
}

#[test]
fn what_an_agents_command_said_is_shown_when_its_run_fails() {
    let Some(etcd) = Etcd::start() else { return };
    let one = Stand::new();
    let alpha = quick_node(&one, &etcd, "alpha").signed_in();
    let (_gate, _agent) = Agent::gated(0, &one, &alpha);
    let mut order = short_on("gamma");
    order["state"] = json!({ "name": "none", "command": "echo no such kernel >&2; exit 3" });
    let made = alpha.order(&order, &[]);
    assert_eq!(made.status, 201, "{}", made.body);
    let id = made.json()["id"].clone();
    wait_until("the job has failed", || alpha.job(&id)["state"] == "failed");
    let shown = alpha.get(&format!("/api/v1/jobs/{id}")).json();
    let said = [&shown["job"]["reason"], &shown["log"]].map(|text| text.as_str().unwrap().to_owned());
    assert!(said.iter().all(|text| text.contains("no such kernel")), "{said:?}");
}

#[test]
fn an_agent_that_is_revoked_is_out_and_an_invitation_is_good_once() {
    let Some(etcd) = Etcd::start() else { return };
    let one = Stand::new();
    let alpha = quick_node(&one, &etcd, "alpha").signed_in();
    let stand = Stand::new();
    let gate = gate(&stand, 0);
    let invited = invitation(&one, &["--agent", "gamma"]);
    let mut agent = Agent::invited(stand, &invited);
    let unlucky = Stand::new();
    unlucky.refused(&["agent", &invited], &["was used"]);
    unlucky.refused(&["fleet", "join", &invited, "--node", "delta"], &["was used"]);
    unlucky.refused(&["agent"], &["stend fleet invite"]);
    unlucky.refused(&["agent", "https://lab-1#1234"], &["no invitation"]);
    one.refused(&["fleet", "invite", "--agent", "alpha"], &["alpha is a node"]);
    one.refused(&["fleet", "invite", "--agent", "a b"], &["--agent"]);
    wait_until("the fleet has its machine", || alpha.get("/api/v1/nodes").body.contains("gamma"));
    let id = alpha.order(&short_on("gamma"), &[]).json()["id"].clone();
    gate.wait_until_reached();
    let secret = agent.secret();
    let asks = || {
        let bearer = format!("authorization: Bearer {secret}");
        alpha.ask_fleet("GET", "/api/v1/agent/entries", &[&bearer], "").status
    };
    assert_eq!(asks(), 200);
    one.fine(&["fleet", "revoke", "gamma"]);
    wait_until("no node answers it", || asks() == 401);
    let (said, status) = agent.ended();
    assert!(status == Some(2) && said.contains("revoked"), "{said}");
    assert_eq!(alpha.job(&id)["state"], "failed");
    one.refused(&["fleet", "revoke", "gamma"], &["gamma"]);
    // It is no node any more, and what it was given opens nothing.
    assert!(!alpha.get("/api/v1/nodes").body.contains("gamma"));
    let mut again = Agent::start(agent.kill(), &[]);
    let (said, status) = again.ended();
    // A node that has not heard of the fleet for a moment says so first.
    let last: Vec<_> = said.lines().filter(|line| !line.contains("trying again")).collect();
    assert!(status == Some(4) && last.len() == 1, "{status:?} {said}");
    gate.open();
}

#[test]
fn an_agent_changes_and_sees_its_own_jobs_alone() {
    let Some(etcd) = Etcd::start() else { return };
    let one = Stand::new();
    let alpha = quick_node(&one, &etcd, "alpha").signed_in();
    let (gate, agent) = Agent::gated(0, &one, &alpha);
    let gated = crate::serve::gate(&one, 0);
    let of_agent = alpha.order(&short_on("gamma"), &[]).json()["id"].clone();
    let of_node = alpha.order(&short_on("alpha"), &[]).json()["id"].clone();
    let later = alpha.order(&short_on("gamma"), &[]).json()["id"].clone();
    gate.wait_until_reached();
    let bearer = format!("authorization: Bearer {}", agent.secret());
    let ask = |method: &str, path: &str, body: &str| alpha.ask_fleet(method, path, &[&bearer], body);
    let entries = |query: &str| ask("GET", &format!("/api/v1/agent/entries{query}"), "");
    // It sees its own order, and neither users nor secrets nor others' jobs.
    let view = entries("").json();
    let keys: Vec<&str> = view["entries"].as_array().unwrap().iter().map(|it| it["key"].as_str().unwrap()).collect();
    let number = |id: &Value| format!("{:012}", id.as_i64().unwrap());
    for wanted in [
        "lab/agent".to_owned(),
        "lab/node/gamma".to_owned(),
        "lab/machine/gamma".to_owned(),
        format!("lab/order/{}", number(&of_agent)),
        format!("lab/job/{}", number(&of_agent)),
        format!("lab/claim/{of_agent}"),
        format!("lab/order/{}", number(&later)),
    ] {
        assert!(keys.contains(&wanted.as_str()), "{wanted}: {keys:?}");
    }
    assert_eq!(keys.len(), 7, "{keys:?}");
    for key in [
        "lab/users".to_owned(),
        "secret-of-nodes".to_owned(),
        "fleet".to_owned(),
        "beat/alpha".to_owned(),
        "word/alpha/server".to_owned(),
        "word/gammab/agent".to_owned(),
        format!("began/{of_node}"),
        format!("lab/order/{}", number(&of_node)),
        "text/0000000000000000000000000000000000000000000000000000000000000000".to_owned(),
    ] {
        assert_eq!(entries(&format!("?key={key}")).status, 403, "{key}");
    }
    let own_part = number(&of_agent)[..11].to_owned();
    for prefix in [
        "",
        "lab/",
        "beat/",
        "repeat/",
        "secret",
        &format!("repeat/{of_node}/"),
        &format!("repeat/{of_agent}"),
        &format!("began/{of_agent}"),
        &format!("log/{of_agent}"),
        &format!("lab/job/{own_part}"),
        "lab/node/gamma",
        "beat/gamma",
    ] {
        assert_eq!(entries(&format!("?prefix={prefix}")).status, 403, "{prefix}");
    }
    assert_eq!(entries(&format!("?key=began/{of_agent}")).status, 200);
    // What it would change that is not its own is refused, whatever the condition.
    let revision = |key: &str| {
        let entries = view["entries"].as_array().unwrap();
        entries.iter().find(|entry| entry["key"] == key).map_or(Value::Null, |entry| entry["revision"].clone())
    };
    let claim = format!("lab/claim/{of_agent}");
    let held = json!([claim, revision(&claim)]);
    let of_other = json!({ "node": "gamma", "machine": "alpha", "owners": 1, "word": "x" }).to_string();
    let own = json!({ "node": "gamma", "machine": "gamma", "owners": 1, "word": "x" }).to_string();
    let stolen = json!({ "node": "alpha", "machine": "gamma", "owners": 1, "word": "x" }).to_string();
    let node = |url: &str, machine: &str, version: &str| {
        json!({
            "url": url, "certificate": null, "machine": "m", "version": version,
            "began_at": "2026-11-27T00:00:00Z", "machines": [machine],
        })
        .to_string()
    };
    let job = format!("lab/job/{}", number(&of_agent));
    let foreign = json!({ "state": "finished", "reason": null, "began_at": null, "ended_at": null, "node": "alpha" });
    let run = alpha.job(&of_agent)["run"].as_str().unwrap().to_owned();
    let archived = json!({ "sha256": "../../server", "size": 1, "node": "alpha" }).to_string();
    let on = |key: &str| json!([key, revision(key)]);
    for (conditions, changes) in [
        (json!([]), json!([["lab/users", "{}"]])),
        (json!([["lab/users", null]]), json!([["lab/users", "{}"]])),
        (json!([["lab/secret/x", null]]), json!([["lab/secret/x", "{}"]])),
        (json!([["lab/node/alpha", null]]), json!([["lab/node/alpha", null]])),
        (json!([on("lab/node/gamma")]), json!([["lab/node/gamma", node("javascript:x", "gamma", "1")]])),
        (json!([on("lab/node/gamma")]), json!([["lab/node/gamma", node("", "alpha", "1")]])),
        (json!([on("lab/node/gamma")]), json!([["lab/node/gamma", node("", "gamma", "\u{1b}[2J")]])),
        (json!([["beat/alpha", null]]), json!([["beat/alpha", "{}"]])),
        (json!([]), json!([["beat/gamma", "{}"]])),
        (json!([[format!("lab/claim/{of_node}"), null]]), json!([[format!("lab/claim/{of_node}"), of_other]])),
        (json!([[claim, null]]), json!([[claim, stolen]])),
        (json!([held]), json!([[claim, stolen]])),
        (json!([]), json!([[claim, null]])),
        (json!([on("lab/machine/gamma")]), json!([["lab/machine/gamma", null]])),
        (json!([["lab/machine/alpha", null]]), json!([["lab/machine/alpha", "\"1\""]])),
        // A second claim, without its machine, or by a number that is written otherwise.
        (json!([[format!("lab/claim/{later}"), null]]), json!([[format!("lab/claim/{later}"), own]])),
        (
            json!([[format!("lab/claim/0{later}"), null], ["lab/machine/gamma", null]]),
            json!([[format!("lab/claim/0{later}"), own], ["lab/machine/gamma", format!("\"0{later}\"")]]),
        ),
        (json!([["word/gamma/other", null]]), json!([["word/gamma/other", "x"]])),
        (json!([held]), json!([[format!("log/{of_agent}/more"), "x"]])),
        (json!([held, on(&job)]), json!([[job, foreign.to_string()]])),
        (json!([on(&job)]), json!([[job, foreign.to_string().replace("alpha", "gamma")]])),
        (json!([]), json!([[format!("repeat/{of_agent}/000000000000"), "x"]])),
        (json!([]), json!([[format!("log/{of_agent}"), "x"]])),
        (json!([held]), json!([[format!("began/{later}"), "x"]])),
        (json!([held]), json!([[format!("repeat/{of_node}/000000000000"), "x"]])),
        (json!([held, [format!("lab/archive/{run}"), null]]), json!([[format!("lab/archive/{run}"), archived]])),
        (json!([held]), json!([["lab/journal/000000000001", "{}"]])),
        (json!([held]), json!([["lab/journal/new/1", "{}"]])),
        (
            json!([held]),
            json!([[
                "lab/journal/new/1",
                json!({ "at": "", "kind": "user-added", "about": "x", "detail": "" }).to_string()
            ]]),
        ),
        (json!([["lab/order/000000000099", null]]), json!([["lab/order/000000000099", "{}"]])),
        (json!([["text/x", null]]), json!([["text/x", "x"]])),
        (json!([["secret-of-nodes", null]]), json!([["secret-of-nodes", "x"]])),
        (json!([]), json!([["secret-of-nodes", null]])),
    ] {
        let body = json!({ "conditions": conditions, "changes": changes }).to_string();
        let refused = ask("POST", "/api/v1/agent/changes", &body);
        assert!([403, 422].contains(&refused.status), "{body}: {} {}", refused.status, refused.body);
    }
    let long =
        |length: usize| json!({ "conditions": [], "changes": [["secret-of-nodes", "x".repeat(length)]] }).to_string();
    for (body, status) in [("no changes", 403), ("{}", 403), (&long(500_000), 403), (&long(2_000_000), 413)] {
        let refused = ask("POST", "/api/v1/agent/changes", body);
        assert_eq!(refused.status, status, "{}", refused.body);
    }
    assert_eq!(ask("POST", "/api/v1/agent/archive/..%2f..%2fserver", "x").status, 400);
    assert_eq!(ask("POST", &format!("/api/v1/agent/archive/{}", "0".repeat(64)), "x").status, 422);
    // An answer shows what the agent sees only if it follows something that was changed, or something was not as it thought.
    let seen = |conditions: Value| {
        let body = json!({ "conditions": conditions, "changes": [["word/gamma/agent", "x"]] }).to_string();
        let done = ask("POST", "/api/v1/agent/changes", &body).json();
        (done["revision"].is_i64(), done["view"].clone())
    };
    assert_eq!(seen(json!([])), (true, json!({ "revision": 0, "entries": [] })));
    let (is_done, shown) = seen(json!([["beat/gamma", null]]));
    assert_eq!((is_done, &shown["entries"]), (false, &view["entries"]));
    // What it shows is no token of the API, and no token makes an agent.
    for path in ["/api/v1/runs", "/api/v1/nodes", "/api/v1/journal", "/api/v1/archive/x"] {
        assert_eq!(ask("GET", path, "").status, 401, "{path}");
    }
    assert_eq!(alpha.get("/api/v1/agent/entries").status, 401);
    // All is as it was, and goes on.
    assert_eq!(entries("").json()["entries"], view["entries"]);
    gate.open();
    gated.open();
    alpha.until(&of_agent, "finished");
    alpha.until(&of_node, "finished");
    alpha.until(&later, "finished");
}

#[test]
fn a_node_joins_by_an_invitation() {
    let Some(etcd) = Etcd::start() else { return };
    let (one, other) = (Stand::new(), Stand::new());
    let alpha = quick_node(&one, &etcd, "alpha").signed_in();
    let invited = invitation(&one, &[]);
    other.refused(&["agent", &invited], &["stend fleet join"]);
    other.refused(&["fleet", "join", &invited, "--node", "beta"], &["was used"]);
    assert!(!other.store().join("fleet.toml").exists());
    // A name that another node has is refused, and the invitation good still.
    let invited = invitation(&one, &[]);
    other.refused(&["fleet", "join", &invited, "--node", "alpha"], &["another node is called alpha", "good still"]);
    other.refused(&["fleet", "join", &invited, "--node", "a b"], &["--node"]);
    other.fine(&["fleet", "join", &invited, "--node", "beta"]);
    // A node is no agent.
    let invited = invitation(&one, &["--agent", "gamma"]);
    other.refused(&["agent", &invited], &["stend fleet leave"]);
    other.refused(&["fleet", "join", &invited], &["stend fleet leave"]);
    let beta = Server::strange(&other).signed_in_with(&alpha);
    wait_until("the other one is there", || alpha.get("/api/v1/nodes").body.contains("\"beta\""));
    let id = alpha.order(&short_on("beta"), &[]).json()["id"].clone();
    beta.until(&id, "finished");
    // The name of one that has gone is free, and the node that invited hears first whether it has.
    drop(beta);
    let invited = invitation(&one, &[]);
    Stand::new().fine(&["fleet", "join", &invited, "--node", "beta"]);
}
