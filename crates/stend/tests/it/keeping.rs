//! What is kept: removing runs by rule, and back-ups of a store that is in use.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;

use crate::common::runs::{A, B, C, Runs};
use crate::common::{Stand, wait_until};
use crate::serve::{Server, gate, short};

const OLD: &str = "20000101-0000-0001";
const OLDER: &str = "20000101-0000-0000";
/// Of no age at all.
const FUTURE: &str = "29990101-0000-0000";

fn ids(stand: &Stand) -> Vec<String> {
    let runs = stand.json(&["list"])["runs"].as_array().unwrap().clone();
    runs.iter().map(|run| run["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_rule_removes_the_oldest_and_never_what_has_a_label() {
    let runs = Runs::new();
    let of = |id: &str| runs.run(id, &[("x", 1.0)]);
    let stand = &runs.stand;
    runs.add(&[of(OLDER), of(OLD), of(A), of(B), of(FUTURE)]);
    stand.fine(&["label", OLDER, "kept"]);
    let said = stand.fine(&["rm", "--older-than", "3650d", "--dry-run"]).err;
    assert!(said.contains(OLD) && said.lines().count() == 1, "{said}");
    assert_eq!(ids(stand).len(), 5, "nothing was removed");
    stand.fine(&["rm", "--older-than", "3650d"]);
    assert_eq!(ids(stand), [OLDER, A, B, FUTURE]);
    // Whatever the size, the oldest go first.
    let mut fewest = usize::MAX;
    for size in ["1", "1KiB", "10KiB", "30KiB", "100KiB", "1GiB"] {
        let said = stand.fine(&["rm", "--to-size", size, "--dry-run"]).err;
        let removed: Vec<_> =
            said.lines().filter_map(|line| line.split_once("run ")?.1.split([' ', ',']).next()).collect();
        let removed: Vec<_> = removed.into_iter().filter(|id| id.len() == A.len()).collect();
        assert!([A, B, FUTURE].starts_with(&removed) && removed.len() <= fewest, "{size}: {said}");
        fewest = removed.len();
    }
    assert_eq!(fewest, 0);
    stand.fine(&["rm", "--to-size", "1"]);
    assert_eq!(ids(stand), [OLDER]);
    stand.refused(&["rm", "--to-size", "1", "last"], &["--to-size"]);
    stand.refused(&["rm", "--older-than", "long"], &["--older-than"]);
    stand.refused(&["rm", "--to-size", "many"], &["--to-size"]);
}

#[test]
fn a_server_removes_by_the_rule_of_its_settings_and_says_so() {
    let runs = Runs::new();
    let of = |id: &str| runs.run(id, &[("x", 1.0)]);
    let stand = &runs.stand;
    runs.add(&[of(OLDER), of(OLD), of(FUTURE)]);
    stand.fine(&["label", OLDER, "kept"]);
    std::fs::write(stand.store().join("server.toml"), "[retention]\nolder_than = \"3650d\"\n").unwrap();
    let server = Server::new(stand);
    wait_until("it is removed", || ids(stand) == [OLDER, FUTURE]);
    let removed = || {
        let entries = server.get("/api/v1/journal?category=runs").json()["entries"].as_array().unwrap().clone();
        entries.into_iter().find(|entry| entry["kind"] == "runs-removed")
    };
    wait_until("it is said", || removed().is_some());
    assert_eq!((&removed().unwrap()["about"], &removed().unwrap()["detail"]), (&json!("1"), &json!(OLD)));
}

#[test]
fn a_store_is_copied_while_it_is_measured_and_the_copy_is_a_store() {
    let stand = Stand::new();
    let gate = gate(&stand, 2);
    let password = stand.fine(&["users", "add", "admin", "--role", "admin"]).out.trim().to_owned();
    stand.fine(&["hosts", "add", "desk", "user@desk.example.org"]);
    let mut server = Server::strange(&stand);
    let sign_in = |server: &mut Server| {
        let form = format!("name=admin&password={password}");
        server.cookie.clear();
        let answer = server.ask("POST", "/sign-in", &["content-type: application/x-www-form-urlencoded"], &form);
        answer.header("set-cookie").unwrap().split(';').next().unwrap().clone_into(&mut server.cookie);
    };
    sign_in(&mut server);
    let job = server.order(&short(), &[]).json();
    let waiting = server.order(&short(), &[]).json()["id"].clone();
    gate.wait_until_reached();
    let copy = stand.path().join("copy");
    let place = copy.to_str().unwrap();
    // What a back-up that was killed has left is in nobody's way.
    std::fs::create_dir(stand.path().join("copy.partial")).unwrap();
    std::fs::write(stand.path().join("copy.partial/stend.db"), "half").unwrap();
    stand.fine(&["backup", place]);
    assert!(!stand.path().join("copy.partial").exists());
    assert_eq!(std::fs::metadata(&copy).unwrap().permissions().mode() & 0o777, 0o700);
    stand.refused(&["backup", place], &["exists"]);
    server.ask("POST", &format!("/api/v1/jobs/{waiting}/stop"), &[], "");
    gate.open();
    server.until(&job["id"], "finished");
    drop(server);
    // The copy has the run as it was, and goes on with it and with the queue.
    let there = |arguments: &[&str]| stand.json(&[&["--store", place], arguments].concat());
    let run = job["run"].as_str().unwrap();
    let before = there(&["show", run])["run"].clone();
    let repeats = before["repeats"].as_array().unwrap().len();
    assert_eq!((&before["run"]["state"], repeats > 0), (&json!("open"), true));
    assert_eq!(there(&["hosts"])["hosts"][0]["name"], "desk");
    let mut server = Server::listening(&stand, &["--store", place, "--listen", "127.0.0.1:0"]);
    sign_in(&mut server);
    server.until(&job["id"], "finished");
    server.until(&waiting, "finished");
    wait_until("both are there", || there(&["list"])["runs"].as_array().unwrap().len() == 2);
}

#[test]
fn a_store_without_a_server_is_copied_and_one_that_is_not_there_is_refused() {
    let runs = Runs::new();
    runs.add(&[runs.run(C, &[("x", 1.0)])]);
    let copy = runs.stand.path().join("copy");
    runs.stand.fine(&["backup", copy.to_str().unwrap()]);
    let list = |store: &str| runs.stand.json(&["--store", store, "list"]);
    assert_eq!(list(copy.to_str().unwrap()), list(runs.stand.store().to_str().unwrap()));
    assert!(!copy.join("server.db").exists());
    let nowhere = Stand::new();
    let ended = nowhere.run(&["backup", nowhere.path().join("a/b/copy").to_str().unwrap()]);
    assert!(ended.status == Some(0) || ended.err.lines().count() == 1, "{}", ended.err);
}
