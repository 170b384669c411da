//! Orders of what is not part of the program: suites, job files, commands and states of a machine, sent to a server.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::common::{Stand, executable, interrupt, wait_until};
use crate::remote::{Client, wait};
use crate::serve::{Server, gate, short};
use crate::switching::{labels, suite};

const FORM: &str = "content-type: application/x-www-form-urlencoded";

/// A suite of one scenario, which is a script beside it.
const SUITE: &str = r#"
name = "own"
title = "A script"
repeats = 2
warmup = 0
timeout = "6h"
[gates]
foreign_cpu = "off"
steal = "off"
frequency_fall = "off"
swapping = "off"
throttling = "off"
[[scenario]]
name = "script"
command = ["sh", "{suite_directory}/script.sh"]
metrics = [{ name = "throughput", value = "bytes/wall", unit = "B/s", better = "higher" }]
"#;

/// The script, which leaves a line in a file.
fn script(marker: &Path) -> String {
    format!(
        "#!/bin/sh
echo ran >>'{}'
echo '{{\"event\":\"begin\",\"wire\":1,\"instrument\":\"script\",\"version\":\"1\",\"parameters\":{{}}}}'
echo '{{\"event\":\"repeat\",\"wall_ns\":1000000,\"work\":{{\"bytes\":1048576}},\"check\":\"passed\",\"evidence\":\"none\"}}'
echo '{{\"event\":\"end\",\"repeats\":1}}'\n",
        marker.display()
    )
}

fn lines(path: &Path) -> usize {
    fs::read_to_string(path).map_or(0, |text| text.lines().count())
}

/// The directories that runs of such orders have left.
fn left(stand: &Stand) -> usize {
    fs::read_dir(stand.store().join("server-files")).map_or(0, Iterator::count)
}

/// Sends a text, and gives its SHA-256.
fn keep(server: &Server, text: &str) -> Value {
    let kept = server.ask("POST", "/api/v1/files", &["content-type: text/plain"], text);
    assert_eq!(kept.status, 201, "{}", kept.body);
    kept.json()["sha256"].clone()
}

#[test]
fn a_suite_of_ones_own_is_measured_with_the_files_beside_it() {
    let stand = Stand::new();
    let server = Server::new(&stand);
    let client = Client::of(&server);
    let marker = stand.path().join("marker");
    fs::write(client.stand.path().join("own.toml"), SUITE).unwrap();
    executable(&client.stand.path().join("script.sh"), &script(&marker));
    let ended = client.run(&["run", "own.toml", "--even-if-unfit", "--label", "mine"]);
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    // What it starts is said before its first repeat.
    let [said, first] = ["not part of stend: suite own.toml starts", "[1] script"].map(|part| ended.err.find(part));
    assert!(said.is_some() && said < first, "{}", ended.err);
    assert_eq!(lines(&marker), 2);
    let run = &stand.json(&["show", "mine"])["run"]["run"];
    assert_eq!(run["suite"]["name"], "own");
    assert!(run["suite"]["scenarios"][0]["files"].to_string().contains("script.sh"), "{run:#}");
    assert_eq!(left(&stand), 0);
    // Whoever looks at the run finds what was sent.
    let job = &server.get("/api/v1/jobs").json()["jobs"][0];
    let file = format!("/api/v1/files/{}", job["order"]["files"]["own.toml"].as_str().unwrap());
    assert_eq!(server.get(&file).body, SUITE);
    assert!(server.get(&format!("/runs/{}", job["run"].as_str().unwrap())).body.contains(&file));
    // Rules find it by the name that its file gives it.
    let entries = server.get("/api/v1/journal?category=runs").json()["entries"].as_array().unwrap().clone();
    let finished = entries.iter().find(|entry| entry["kind"] == "run-finished").unwrap();
    assert_eq!(finished["detail"], "own");
    // A variable may name another script; what lies below the suite is not sent.
    let text =
        SUITE.replace("/script.sh", "/{which}.sh").replace("[gates]", "[variables]\nwhich = \"script\"\n[gates]");
    fs::write(client.stand.path().join("own.toml"), &text).unwrap();
    executable(&client.stand.path().join("other.sh"), &script(&marker));
    let ended = client.run(&["run", "own.toml", "--even-if-unfit", "--set", "which=other", "--quiet"]);
    assert_eq!((ended.status, lines(&marker)), (Some(0), 4), "{}", ended.err);
    fs::create_dir(client.stand.path().join("sub")).unwrap();
    executable(&client.stand.path().join("sub/deep.sh"), &script(&marker));
    client.fails(&["run", "own.toml", "--set", "which=sub/deep"], 2, &["sub/deep.sh"]);
    client.fails(&["run", "none.toml"], 2, &["none.toml"]);
    fs::write(client.stand.path().join("bad.toml"), "name = \"bad\"\n").unwrap();
    client.fails(&["run", "bad.toml"], 2, &["bad.toml"]);
    let large = format!("{SUITE}# {}\n", "x".repeat(70_000));
    fs::write(client.stand.path().join("own.toml"), large).unwrap();
    client.fails(&["run", "own.toml"], 2, &["64 KiB"]);
    assert_eq!(server.get("/api/v1/jobs").json()["jobs"].as_array().unwrap().len(), 2);
}

#[test]
fn the_form_shows_what_it_would_start_before_it_starts_it() {
    let stand = Stand::new();
    let server = Server::new(&stand);
    let marker = stand.path().join("marker");
    let fields = |mark: &str| {
        let command = format!("echo+{mark}+>>{}", marker.display()).replace('>', "%3E");
        format!("suite=quick&machine=local&repeats=2&even_if_unfit=yes&own=commands&text={command}%0D%0A&key=k")
    };
    let shown = |page: &str| {
        let field = page.split("name=\"shown\" value=\"").nth(1).unwrap();
        field.split('"').next().unwrap().to_owned()
    };
    let send = |fields: &str| server.ask("POST", "/", &[FORM], fields);
    let first = send(&fields("one"));
    assert_eq!((first.status, lines(&marker)), (200, 0));
    assert!(first.body.contains("echo one") && shown(&first.body).len() == 64, "{}", first.body);
    // Something else than what was shown is shown first.
    let other = send(&format!("{}&shown={}", fields("two"), shown(&first.body)));
    assert_eq!(other.status, 200);
    assert_ne!(shown(&other.body), shown(&first.body));
    assert_eq!(server.get("/api/v1/jobs").json()["jobs"], json!([]));
    assert_eq!(send(&format!("{}&shown={}", fields("two"), shown(&other.body))).status, 303);
    let job = server.get("/api/v1/jobs").json()["jobs"][0].clone();
    server.until(&job["id"], "finished");
    assert!(fs::read_to_string(&marker).unwrap().lines().all(|line| line == "two"));
    assert!(server.get("/").body.contains("echo two"), "the queue names it by its command");
    // A side may name any command.
    let short = "suite=summit&scale=0.001&repeats=1&set=seconds%3D0.001&machine=local&even_if_unfit=yes";
    let sides = send(&format!("{short}&a=&b=prefix%3Dnice"));
    assert!(sides.status == 200 && sides.body.contains("prefix=nice"), "{}", sides.body);
    // What is typed is kept, however long it is written, and a file whose name is no plain one has another.
    let field = |more: &str| send(&format!("suite=quick&machine=local&repeats=1&even_if_unfit=yes&{more}"));
    let long = format!("%23{}%0A", "%D1%8F".repeat(50)).repeat(500);
    let shown = field(&format!("own=job-file&file_name=my+job.fio&text={long}%5Bx%5D%0Arw%3Dread%0Asize%3D1m%0A"));
    assert!(shown.status == 200 && shown.body.contains("own.fio") && shown.body.contains("яяя"), "{}", shown.body);
    let refused = field(&format!("own=job-file&text={}", "%D1%8F".repeat(40_000)));
    assert!(refused.status == 422 && refused.body.contains("64 KiB") && refused.body.contains("яяя"));
    let refused = field("prepare=make+clean");
    assert!(refused.status == 422 && refused.body.contains("make clean"), "{}", refused.status);
    // What is part of the program starts at once.
    assert_eq!(send(short).status, 303);
}

#[test]
fn commands_and_job_files_are_measured_as_they_are_here() {
    let stand = Stand::new();
    let server = Server::new(&stand);
    let client = Client::of(&server);
    let marker = stand.path().join("marker");
    let mark = |word: &str| format!("echo {word} >>{}", marker.display());
    let timed = ["run", "-r", "2", "--even-if-unfit", "--quiet", "--json"];
    let [one, other] = ["a {n}", "b"].map(mark);
    let more = ["--command", &one, "--prepare", &mark("p"), "--parameter", "n=1,2", "--label", "timed"];
    let ended = client.run(&[&timed[..], &more].concat());
    assert!(ended.status.is_some_and(|status| [0, 3].contains(&status)), "{}", ended.err);
    let count = |word: &str| fs::read_to_string(&marker).unwrap().lines().filter(|line| *line == word).count();
    // With one to warm up, and what a busy machine takes in place of those that do not count.
    let (first, second) = (count("a 1"), count("a 2"));
    assert!(first >= 3 && second >= 3 && count("p") == first + second, "{first} {second} {}", count("p"));
    client.run(&[&timed[..], &["--ab", "--command", &one, "--command", &other, "--label", "pair"]].concat());
    assert_eq!(stand.json(&["show", "pair"])["run"]["run"]["sides"].as_array().unwrap().len(), 2);
    let ended = client.run(&[&timed[..], &["--label", "typed", "--", "sh", "-c", &mark("typed words")]].concat());
    assert!(ended.status.is_some_and(|status| [0, 3].contains(&status)), "{}", ended.err);
    assert!(count("typed words") >= 3);
    let job_file = "[reads]\nfilename=${LUN1}\nrw=read\nbs=64k\nsize=1m\n";
    fs::write(client.stand.path().join("reads.fio"), job_file).unwrap();
    let fio = ["run", "--fio", "reads.fio", "-r", "1", "--set", "lun_size=1MiB", "--even-if-unfit", "--label", "fio"];
    let ended = client.run(&fio);
    assert!(ended.status.is_some_and(|status| [0, 3].contains(&status)), "{}", ended.err);
    assert_eq!(stand.json(&["show", "fio"])["run"]["run"]["suite"]["scenarios"][0]["name"], "reads");
    assert_eq!(left(&stand), 0);
}

#[test]
fn two_states_take_turns_on_a_server_and_are_compared() {
    let stand = Stand::new();
    let server = Server::new(&stand);
    let client = Client::of(&server);
    let own = suite(&client.stand, 2);
    let at = client.stand.path().display().to_string();
    let [old, new] = ["old", "new"].map(|state| format!("{state}=echo {state} >'{at}/state'"));
    let run = ["run", &own, "--even-if-unfit", "--switch", &old, "--switch", &new];
    let ended = client.run(&[&run[..], &["--json"]].concat());
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    let table = serde_json::from_str::<Value>(&ended.out).unwrap()["table"].clone();
    assert_eq!(table["columns"][1]["grade"], "sessions_in_turns", "{table:#}");
    let measured = fs::read_to_string(client.stand.path().join("measured")).unwrap();
    assert_eq!(measured, "old\nold\nnew\nnew\n".repeat(5));
    let all: Vec<_> = ["new", "old"].iter().flat_map(|name| (1..=5).map(move |n| format!("{name}-{n}"))).collect();
    assert_eq!(labels(&stand), all);
    let batch = server.get("/api/v1/jobs").json()["jobs"][0]["batch"].as_str().unwrap().to_owned();
    assert_eq!(server.get(&format!("/api/v1/batches/{batch}")).json()["compared"], "old,new");
    let page = server.get(&format!("/batches/{batch}")).body;
    assert!(page.contains("local · old") && page.contains("/report?runs=old,new"), "{page}");
    // Other sessions would have the same names.
    client.fails(&[&run[..], &["--quiet"]].concat(), 2, &["old-1"]);
    // Without one of the runs they are not what was ordered.
    stand.fine(&["label", "old-3"]);
    assert_eq!(server.get(&format!("/api/v1/batches/{batch}")).json()["compared"], Value::Null);
    assert_eq!(server.get("/api/v1/jobs").json()["jobs"].as_array().unwrap().len(), 10);
}

#[test]
fn a_run_in_a_state_goes_on_in_that_state_and_its_name_is_its_own() {
    let stand = Stand::new();
    let gate = gate(&stand, 2);
    let server = Server::new(&stand);
    let entered = stand.path().join("entered");
    let state = |name: &str| json!({ "name": name, "command": format!("echo {name} >>'{}'", entered.display()) });
    let batch = json!({
        "order": short(), "machines": ["local"], "sessions": 1, "switch": [state("old"), state("new")],
    });
    let made = server.batch(&batch, &[]);
    assert_eq!(made.status, 201, "{}", made.body);
    let jobs = made.json()["jobs"].as_array().unwrap().clone();
    gate.wait_until_reached();
    for claimed in ["old-1", "new-1", "old", "new"] {
        let mut other = short();
        other["label"] = json!(claimed);
        let answer = server.order(&other, &[]);
        assert!(answer.status == 422 && answer.body.contains(claimed), "{}", answer.body);
    }
    let again = server.batch(&batch, &[]);
    assert!(again.status == 422 && again.body.contains("old"), "{}", again.body);
    server.ask("POST", &format!("/api/v1/jobs/{}/stop", jobs[1]["id"]), &[], "");
    server.ask("POST", &format!("/api/v1/jobs/{}/stop", jobs[0]["id"]), &[], "");
    gate.open();
    server.until(&jobs[0]["id"], "stopped");
    assert_eq!(lines(&entered), 1);
    server.ask("POST", &format!("/api/v1/jobs/{}/resume", jobs[0]["id"]), &[], "");
    server.until(&jobs[0]["id"], "finished");
    assert_eq!(fs::read_to_string(&entered).unwrap(), "old\nold\n");
    // A command that fails is the reason why its job does.
    let mut order = short();
    order["state"] = json!({ "name": "none", "command": "echo no such kernel >&2; exit 3" });
    let job = server.order(&order, &[]).json()["id"].clone();
    wait_until("it has failed", || server.job(&job)["state"] == "failed");
    assert!(server.job(&job)["reason"].as_str().unwrap().contains("no such kernel"), "{}", server.job(&job));
}

#[test]
fn what_is_no_order_of_ones_own_is_refused_in_a_line() {
    let stand = Stand::new();
    let server = Server::new(&stand);
    let kept = keep(&server, SUITE);
    let text = "[x]\nrw=read\nsize=1m\n";
    let (job_file, many) = (keep(&server, text), (0..17).map(|n| (format!("f{n}"), kept.clone())));
    let many: serde_json::Map<_, _> = many.collect();
    let absent = "0".repeat(64);
    let state = |name: &str, command: &str| json!({ "name": name, "command": command });
    for (order, part) in [
        (json!({}), "suite: name a suite"),
        (json!({ "suite": "own.toml" }), "suite: "),
        (json!({ "suite": "own", "files": { "own": kept } }), "suite: "),
        (json!({ "suite": "own.toml", "files": { "own.toml": absent } }), "no file of this SHA-256"),
        (json!({ "suite": "own.toml", "files": { "own.toml": "x" } }), "no file of this SHA-256"),
        (json!({ "suite": "../own.toml", "files": { "../own.toml": kept } }), "files: "),
        (json!({ "suite": "quick", "files": { "/etc/cron.d/x": kept } }), "files: "),
        (json!({ "suite": "quick", "files": { ".hidden": kept } }), "files: "),
        (json!({ "suite": "quick", "files": { "--help": kept } }), "files: "),
        (json!({ "suite": "quick", "files": many }), "files: "),
        (json!({ "suite": "quick", "job_files": ["x.fio"], "files": { "x.fio": job_file } }), "suite: "),
        (json!({ "job_files": ["x.fio"] }), "job_files"),
        (json!({ "job_files": ["/etc/passwd"] }), "job_files"),
        (json!({ "suite": "quick", "target_file": "/etc/passwd" }), "target_file"),
        (json!({ "timed": { "commands": [] } }), "timed: "),
        (json!({ "timed": { "commands": ["true"] }, "files": { "x": kept } }), "timed: "),
        (json!({ "timed": { "commands": ["tr\u{0}ue"] } }), "plain text"),
        (json!({ "timed": { "commands": ["true {n}"], "parameters": { "": ["1"] } } }), "parameter"),
        (json!({ "timed": { "commands": ["true {n}"], "parameters": { "n": ["1,2"] } } }), "parameter"),
        (json!({ "timed": { "commands": ["true {n}"], "parameters": { "n": [] } } }), "parameter"),
        (json!({ "timed": { "commands": ["true {n}"], "parameters": { "n=1": ["2"] } } }), "parameter"),
        (json!({ "suite": "quick", "state": state("a=b", "true") }), "state: "),
        (json!({ "suite": "quick", "state": state("a", " ") }), "state: "),
        (json!({ "suite": "quick", "time_budget": "soon" }), "time"),
        (json!({ "suite": "quick", "only": ["nothing is called so"] }), "nothing is called so"),
        // Without the script beside it.
        (json!({ "suite": "own.toml", "files": { "own.toml": job_file } }), "own.toml"),
    ] {
        let answer = server.order(&order, &[]);
        let detail = answer.json()["detail"].as_str().unwrap().to_owned();
        assert!(answer.status == 422 && detail.contains(part), "{order}: {} {detail}", answer.status);
        assert!(detail.lines().count() == 1 && !detail.contains("server-files"), "{detail}");
    }
    let switch = |one: Value, other: Value| json!([one, other]);
    for (switch, more, part) in [
        (switch(state("a", "true"), state("a", "true")), json!({}), "called a"),
        (switch(state("a", "true"), state("local", "true")), json!({}), "local"),
        (switch(state("a", "true"), state("-b", "true")), json!({}), "state: "),
        (switch(state("a", "true"), state("b", "true")), json!({ "label": "x" }), "label: "),
        (switch(state("a", "true"), state("b", "true")), json!({ "sides": ["", ""] }), "sides: "),
        (switch(state("a", "true"), state("b", "true")), json!({ "state": state("c", "true") }), "switch: "),
    ] {
        let mut order = short();
        order.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let answer = server.batch(&json!({ "order": order, "machines": ["local"], "switch": switch }), &[]);
        let detail = answer.json()["detail"].as_str().unwrap().to_owned();
        assert!(answer.status == 422 && detail.contains(part), "{switch}: {} {detail}", answer.status);
    }
    assert_eq!(server.ask("POST", "/api/v1/files", &["content-type: text/plain"], &"x".repeat(70_000)).status, 413);
    assert_eq!(server.get(&format!("/api/v1/files/{absent}")).status, 404);
    assert_eq!(server.get("/api/v1/batches/none").status, 404);
    assert_eq!((server.get("/api/v1/jobs").json()["jobs"].clone(), left(&stand)), (json!([]), 0));
}

#[test]
fn an_order_that_is_sent_again_is_the_one_that_is_there_whatever_it_is_called() {
    let stand = Stand::new();
    let server = Server::new(&stand);
    let order = json!({ "timed": { "commands": ["true"] }, "repeats": 1, "label": "mine", "even_if_unfit": true });
    let key = ["idempotency-key: one"];
    let made = server.order(&order, &key).json();
    server.until(&made["id"], "finished");
    let again = server.order(&order, &key);
    assert_eq!((again.status, &again.json()["run"]), (200, &made["run"]));
    assert_eq!(server.order(&order, &[]).status, 422);
}

#[test]
fn one_interrupt_stops_all_runs_that_are_left() {
    let stand = Stand::new();
    let gate = gate(&stand, 2);
    let server = Server::new(&stand);
    let client = Client::of(&server);
    let child = client.start(&["--sessions", "4"]);
    gate.wait_until_reached();
    interrupt(&child);
    let jobs = || server.get("/api/v1/jobs").json()["jobs"].as_array().unwrap().clone();
    wait_until("all are told", || jobs().iter().all(|job| job["state"] != "waiting" && job["state"] != "running"));
    gate.open();
    let ended = wait(child);
    assert_eq!(ended.status, Some(130), "{}", ended.err);
    assert_eq!(ended.err.matches("stopping 4 runs").count(), 1, "{}", ended.err);
    assert!(jobs().iter().all(|job| job["state"] == "stopped") && jobs().len() == 4, "{:#?}", jobs());
    let stops = server.get("/api/v1/journal?category=runs").json()["entries"].as_array().unwrap().clone();
    assert_eq!(stops.iter().filter(|entry| entry["kind"] == "run-stopped").count(), 4, "each once");
}
