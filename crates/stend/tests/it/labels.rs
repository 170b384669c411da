//! What runs are called, how they are listed, and how they are removed.

use crate::common::runs::{A, B, C, D, Runs};
use crate::common::{Gate, Stand};
use serde_json::json;

#[test]
fn a_label_stands_for_its_run() {
    let runs = Runs::new();
    runs.add(&[
        runs.run(A, &[("x", 1.0)]).on("desk"),
        runs.run(B, &[("x", 1.0)]).on("desk"),
        runs.run(C, &[("x", 1.0)]).on("other"),
    ]);
    let stand = &runs.stand;
    stand.fine(&["label", A, "before"]);
    stand.fine(&["label", "last~1", "after"]);
    assert_eq!(runs.titles(&["before", "after"]), ["before", "after"]);
    assert_eq!(stand.json(&["show", "before"])["run"]["run"]["id"], A);
    // Of two machines, the machine is said too; of a run that has no label, its id.
    assert_eq!(runs.titles(&["before", C]), ["desk before".to_owned(), format!("other {C}")]);
    assert_eq!(runs.titles(&["before"]), ["desk"]);
    let list = stand.fine(&["list"]);
    assert!(list.out.lines().next().unwrap().contains("label") && list.out.contains("before"), "{}", list.out);
    // A prefix of an id is one still, and a label that is gone is none.
    stand.fine(&["label", "before", "first"]);
    stand.refused(&["show", "before"], &["no run matches \"before\""]);
    stand.fine(&["label", "first"]);
    assert_eq!(stand.json(&["list"])["runs"][0]["label"], json!(null));
    stand.refused(&["label", A, "after"], &["the label \"after\" is that of run", B]);
    stand.fine(&["label", B, "after"]);
    for no_label in ["two words", "last", "last~2", "", "a..b", "x:y", A, &"x".repeat(65)] {
        stand.refused(&["label", A, no_label], &["is no label"]);
    }
    stand.refused(&["label", A, "other"], &["name of a machine"]);
    stand.refused(&["label", A, "arm-wrestling"], &["name of a reference"]);
    stand.refused(&["label", "nosuch", "x"], &["no run matches"]);
}

#[test]
fn a_label_is_exported_and_not_published() {
    let runs = Runs::new();
    runs.add(&[runs.run(A, &[("x", 1.0)]), runs.run(B, &[("x", 1.0)])]);
    let stand = &runs.stand;
    stand.fine(&["label", A, "before"]);
    let [whole, public] = ["whole", "public"].map(|name| stand.path().join(name).to_string_lossy().into_owned());
    stand.fine(&["export", A, "-o", &whole]);
    assert!(stand.fine(&["export", A, "--public", "-o", &public]).err.contains("what the run is called"));
    let elsewhere = Stand::new();
    elsewhere.fine(&["import", &public]);
    assert_eq!(elsewhere.json(&["list"])["runs"][0]["label"], json!(null));
    let elsewhere = Stand::new();
    elsewhere.fine(&["import", &whole]);
    assert_eq!(elsewhere.json(&["list"])["runs"][0]["label"], "before");
    // Here it has another name since, and that is no other run.
    stand.fine(&["label", A]);
    stand.fine(&["label", B, "before"]);
    assert!(stand.fine(&["import", &whole]).err.contains("is here already"));
    stand.fine(&["rm", A]);
    let ended = stand.fine(&["import", &whole]);
    assert!(ended.err.contains("without its label \"before\"") && ended.err.contains(B), "{}", ended.err);
    assert_eq!(stand.json(&["show", "before"])["run"]["run"]["id"], B);
    // Nor does it take the name of a machine.
    let elsewhere = Stand::new();
    elsewhere.fine(&["hosts", "add", "before", "root@before"]);
    assert!(elsewhere.fine(&["import", &whole]).err.contains("without its label \"before\""));
    assert_eq!(elsewhere.json(&["list"])["runs"][0]["label"], json!(null));
}

#[test]
fn a_run_can_be_labelled_as_it_is_made() {
    let stand = Stand::new();
    let suite = stand.suite("repeats = 1", &[("small", "steady.sh 1")]);
    stand.fine(&["run", &suite, "--no-progress", "--label", "before"]);
    assert_eq!(stand.json(&["show", "before"])["run"]["run"]["label"], "before");
    stand.refused(&["run", &suite, "--label", "before"], &["the label \"before\" is that of run"]);
    stand.refused(&["run", &suite, "--label", "local"], &["name of a machine"]);
    stand.refused(&["run", &suite, "--label", "x", "--on", "local,b@elsewhere"], &["a label is of one run"]);
    stand.refused(&["run", &suite, "--label", "x", "--sessions", "2"], &["--sessions"]);
    assert_eq!(stand.json(&["list"])["runs"].as_array().unwrap().len(), 1);
}

/// Of a labelled run of two sides each side has its own name.
#[test]
fn sides_of_labelled_runs_are_told_apart() {
    let stand = Stand::new();
    let suite = stand.suite("repeats = 1\nwarmup = 0", &[("small", "steady.sh 1")]);
    for label in ["one", "two"] {
        stand.fine(&["run", &suite, "--no-progress", "--label", label, "--ab", "", "name=other"]);
    }
    let table = stand.json(&["compare", "one:other", "two:other", "two:a"])["table"].clone();
    let titles: Vec<_> = table["columns"].as_array().unwrap().iter().map(|column| column["title"].clone()).collect();
    assert_eq!(titles, ["one:other", "two:other", "two:as it is"]);
}

#[test]
fn what_is_removed_is_gone_with_all_of_it() {
    let runs = Runs::new();
    runs.add(&[runs.run(A, &[("x", 1.0)]), runs.run(B, &[("x", 1.0)]), runs.run(C, &[("x", 1.0)])]);
    let stand = &runs.stand;
    stand.fine(&["label", A, "first"]);
    // None is removed where one is not found.
    stand.refused(&["rm", "first", "nosuch"], &["no run matches \"nosuch\""]);
    stand.refused(&["rm"], &["RUNS"]);
    let ended = stand.fine(&["rm", "first", "last"]);
    assert!(ended.err.contains(A) && ended.err.contains("(first)") && ended.err.contains(C), "{}", ended.err);
    let left: Vec<_> = stand.json(&["list"])["runs"].as_array().unwrap().iter().map(|run| run["id"].clone()).collect();
    assert_eq!(left, [B]);
    stand.refused(&["show", "first"], &["no run matches"]);
    // What is left is kept as it was before.
    let store = rusqlite::Connection::open(stand.store().join("stend.db")).unwrap();
    assert!(store.execute("DELETE FROM run", []).is_err());
    for table in ["run", "session", "repeat", "series", "label"] {
        let query = format!("SELECT count(DISTINCT {}) FROM {table}", if table == "run" { "id" } else { "run" });
        let count: i64 = store.query_row(&query, [], |row| row.get(0)).unwrap();
        assert!(count == 1 || count == 0 && matches!(table, "label" | "series"), "{table}: {count}");
    }
    runs.add(&[runs.run(A, &[("x", 2.0)])]);
    stand.fine(&["show", A]);
}

#[test]
fn a_run_that_is_being_measured_is_not_removed() {
    let stand = Stand::new();
    let gate = Gate::new();
    let suite = stand.suite("repeats = 2\nwarmup = 0", &[("one", &gate.after(1))]);
    let mut run = stand.command(&["run", &suite, "--no-progress"]).stderr(std::process::Stdio::null()).spawn().unwrap();
    gate.wait_until_reached();
    let ended = stand.run(&["rm", "last"]);
    assert_eq!(ended.status, Some(4), "{}", ended.err);
    assert!(ended.err.contains("another stend is measuring"), "{}", ended.err);
    gate.open();
    assert!(run.wait().unwrap().success());
    assert_eq!(stand.json(&["show", "last"])["run"]["run"]["state"], "finished");
    stand.fine(&["rm", "last"]);
}

#[test]
fn a_damaged_run_can_be_removed() {
    let runs = Runs::new();
    runs.add(&[runs.run(A, &[("x", 1.0)]), runs.run(B, &[("x", 1.0)])]);
    let stand = &runs.stand;
    let store = rusqlite::Connection::open(stand.store().join("stend.db")).unwrap();
    store.execute("UPDATE run SET checksum = checksum + 1 WHERE id = ?1", [A]).unwrap_err();
    store.execute_batch("DROP TRIGGER finished_run_stays_but_for_a_given_name").unwrap();
    store.execute("UPDATE run SET checksum = checksum + 1 WHERE id = ?1", [A]).unwrap();
    drop(store);
    assert!(!stand.run(&["show", A]).err.is_empty());
    stand.fine(&["rm", A]);
    stand.fine(&["show", B]);
}

#[test]
fn the_list_can_be_narrowed() {
    let runs = Runs::new();
    runs.add(&[
        runs.run(A, &[("x", 1.0)]).on("old"),
        runs.run(B, &[("x", 1.0)]).on("new"),
        runs.run(C, &[("y", 1.0)]).on("new").of_suite("other"),
        runs.run(D, &[("x", 1.0)]).on("new"),
    ]);
    let stand = &runs.stand;
    stand.fine(&["label", B, "before"]);
    let ids = |with: &[&str]| -> Vec<String> {
        let listed = stand.json(&[&["list"], with].concat());
        listed["runs"].as_array().unwrap().iter().map(|run| run["id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(ids(&["--suite", "test"]), [A, B, D]);
    assert_eq!(ids(&["--machine", "new"]), [B, C, D]);
    assert_eq!(ids(&["--machine", "new", "--suite", "test", "--limit", "1"]), [D]);
    assert_eq!(ids(&["--limit", "9"]), [A, B, C, D]);
    assert_eq!(ids(&["--label", "before"]), [B]);
    stand.refused(&["list", "--suite", "tset"], &["did you mean \"test\"?", "there are other, test"]);
    stand.refused(&["list", "--machine", "nosuch"], &["there are new, old"]);
    stand.refused(&["list", "--label", "befroe"], &["did you mean \"before\"?"]);
    stand.refused(&["list", "--limit", "0"], &["--limit"]);
}

#[test]
fn a_store_that_is_named_and_not_there_was_mistyped() {
    let stand = Stand::new();
    for command in [&["list"][..], &["show"], &["compare", "last"], &["rm", "last"], &["label", "last", "x"]] {
        stand.refused(
            &[command, &["--store", "/no/such/store"]].concat(),
            &["/no/such/store: there is no such directory"],
        );
    }
}
