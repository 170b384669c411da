//! Several nodes that share one queue, one journal and one archive, whichever is asked.

use serde_json::json;

use crate::common::Stand;
use crate::common::etcd::Etcd;
use crate::serve::{Server, short};

/// A node that has joined a fleet.
fn node<'a>(stand: &'a Stand, etcd: &Etcd, name: &str) -> Server<'a> {
    Server::listening(stand, &["--listen", "127.0.0.1:0", "--fleet", &etcd.fleet(), "--node", name])
}

#[test]
fn whichever_node_is_asked_a_job_is_done_by_the_one_that_has_the_machine() {
    let Some(etcd) = Etcd::start() else { return };
    let (one, other) = (Stand::new(), Stand::new());
    let alpha = node(&one, &etcd, "alpha").signed_in();
    let mut beta = node(&other, &etcd, "beta");
    // Whoever has signed in to one is known to all.
    beta.cookie.clone_from(&alpha.cookie);
    let order = |machine: &str| {
        let mut order = short();
        order["machine"] = json!(machine);
        order
    };
    let made = alpha.order(&order("beta"), &[]);
    assert_eq!(made.status, 201, "{}", made.body);
    let here = beta.order(&short(), &[]);
    assert_eq!((here.status, &here.json()["order"]["machine"]), (201, &json!("beta")), "{}", here.body);
    let there = beta.order(&order("alpha"), &[]);
    assert_eq!(there.status, 201, "{}", there.body);
    for job in [&made, &here, &there] {
        beta.until(&job.json()["id"], "finished");
    }
    assert_eq!(alpha.get("/api/v1/jobs").json()["jobs"], beta.get("/api/v1/jobs").json()["jobs"]);
    let refused = alpha.order(&order("gamma"), &[]);
    assert!(refused.status == 422 && refused.body.contains("there are alpha, beta"), "{}", refused.body);
}
