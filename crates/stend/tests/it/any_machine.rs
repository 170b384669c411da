//! Orders for any machine that has a label, and for machines that only other nodes reach.

use rustix::process::Signal;
use serde_json::json;

use crate::common::etcd::Etcd;
use crate::common::{Gate, Stand, wait_until};
use crate::fleet::node;
use crate::serve::{Server, gate, short, short_on};

#[test]
fn a_job_for_any_machine_with_a_label_is_given_to_one_and_the_rest_of_its_order_too() {
    let Some(etcd) = Etcd::start() else { return };
    let (one, other) = (Stand::new(), Stand::new());
    let gates = [&one, &other].map(|stand| gate(stand, 0));
    one.fine(&["hosts", "set", "local", "--label", "cpu=epyc"]);
    other.fine(&["hosts", "set", "local", "--label", "cpu=epyc", "--label", "kernel=new"]);
    let alpha = node(&one, &etcd, "alpha").signed_in();
    let _beta = node(&other, &etcd, "beta");
    wait_until("alpha has heard of beta's labels", || alpha.get("/api/v1/machines").body.contains("kernel"));
    let page = alpha.get("/").body;
    assert!(page.contains("value=\"cpu=epyc\"") && !page.contains("value=\"kernel=new\""), "one machine has that");
    let refused = alpha.order(&short_on("cpu=elbrus"), &[]);
    assert!(refused.status == 422 && refused.body.contains("there are cpu=epyc, kernel=new"), "{}", refused.body);
    // Two states of one machine, which both may begin at once.
    let state = |name: &str| json!({ "name": name, "command": "true" });
    let batch = json!({
        "order": short(), "machines": ["cpu=epyc"], "sessions": 1, "switch": [state("old"), state("new")],
    });
    let made = alpha.batch(&batch, &[]);
    assert_eq!(made.status, 201, "{}", made.body);
    let jobs = made.json()["jobs"].clone();
    let began = |id: &serde_json::Value| alpha.job(id)["state"] != "waiting";
    wait_until("one has begun", || began(&jobs[0]["id"]));
    let chosen = alpha.job(&jobs[0]["id"])["machine"].clone();
    // The other node is free, and passes over what is behind it in the queue.
    let free = if chosen == "alpha" { "beta" } else { "alpha" };
    let second = alpha.order(&short_on(free), &[]).json()["id"].clone();
    let third = alpha.order(&short_on("kernel=new"), &[]).json()["id"].clone();
    wait_until("the other node is at work", || began(&second));
    assert!(!began(&jobs[1]["id"]));
    gates.iter().for_each(Gate::open);
    for (id, machine) in [(&jobs[0]["id"], &chosen), (&jobs[1]["id"], &chosen), (&third, &json!("beta"))] {
        let job = alpha.until(id, "finished");
        assert_eq!((&job["machine"], &job["node"]), (machine, machine), "{job:#}");
    }
    assert_eq!(alpha.until(&second, "finished")["machine"], json!(null), "it was named");
}

#[test]
fn an_order_is_tried_by_a_node_that_reaches_its_machine() {
    let Some(etcd) = Etcd::start() else { return };
    let (one, other) = (Stand::new(), Stand::new());
    other.fine(&["hosts", "add", "rack", "nowhere.invalid"]);
    let alpha = node(&one, &etcd, "alpha").signed_in();
    let beta = node(&other, &etcd, "beta");
    wait_until("alpha has heard of the machine", || alpha.get("/api/v1/nodes").body.contains("rack"));
    let order = short_on("rack");
    let tried = || alpha.ask("POST", "/api/v1/plan", &["content-type: application/json"], &order.to_string());
    for refused in [tried(), alpha.order(&order, &[])] {
        assert!(refused.status == 503 && refused.body.contains("nowhere.invalid: "), "{}", refused.body);
    }
    // All of an order is tried there.
    let state = json!({ "name": "same", "command": "true" });
    let batch = json!({ "order": short(), "machines": ["beta"], "switch": [state, state] });
    let refused = alpha.batch(&batch, &[]);
    assert!(refused.status == 422 && refused.body.contains("called same"), "{}", refused.body);
    // Without that node the other one says what it would do itself.
    beta.kill(Signal::KILL);
    let plan = tried();
    assert!(plan.status == 200 && !plan.json()["plan"].as_str().unwrap().is_empty(), "{}", plan.body);
}

#[test]
fn a_machine_that_cannot_be_used_is_passed_over_for_another_with_the_label() {
    let stand = Stand::new();
    let gate = gate(&stand, 0);
    stand.fine(&["hosts", "set", "local", "--label", "cpu=epyc"]);
    stand.fine(&["hosts", "add", "off", "nowhere.invalid", "--label", "cpu=epyc"]);
    let server = Server::new(&stand);
    let first = server.order(&short(), &[]).json();
    gate.wait_until_reached();
    let made = server.order(&short_on("cpu=epyc"), &[]);
    assert_eq!(made.status, 201, "{}", made.body);
    // It is the only one that is free, and says why it is not used.
    let id = &made.json()["id"];
    wait_until("it was tried", || server.job(id)["reason"].as_str().is_some_and(|why| why.contains("nowhere.invalid")));
    assert_eq!((&server.job(id)["state"], &server.job(id)["machine"]), (&json!("waiting"), &json!(null)));
    gate.open();
    let job = server.until(id, "finished");
    assert_eq!((&job["machine"], &job["reason"]), (&json!("local"), &json!(null)));
    server.until(&first["id"], "finished");
    // Where no other has the label, it fails.
    stand.fine(&["hosts", "set", "off", "--label", "cpu=", "--label", "kernel=new"]);
    let plan = server.order(&short_on("kernel=new"), &[]);
    assert!(plan.status == 503 && plan.body.contains("nowhere.invalid"), "{}", plan.body);
}
