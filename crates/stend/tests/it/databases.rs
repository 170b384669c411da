//! The suite of databases against the real servers: the answers of all agree, and what one lacks costs its own scenarios alone.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::common::sshd::{Sshd, parse};
use crate::common::{NO_LIMITS, Stand, no_gates};
use crate::servers::{nothing_is_left, outcomes};

/// Few documents, and short loads: what is measured does not count here.
const SHORT: [&str; 8] =
    ["run", "database", "--no-progress", "--even-if-unfit", "--set", "documents=1000", "--set", "duration=50ms"];

fn have_servers() -> bool {
    ["python3", "redis-server", "psql"].into_iter().all(stend_testing::have)
}

/// The outcomes of a run's repeats, by the name of the scenario.
fn by_scenario(run: &Value) -> BTreeMap<&str, Vec<&Value>> {
    let scenarios = run["run"]["suite"]["scenarios"].as_array().unwrap();
    let mut by_scenario = BTreeMap::<_, Vec<_>>::new();
    for repeat in run["repeats"].as_array().unwrap() {
        let scenario = &scenarios[repeat["scenario"].as_u64().unwrap() as usize];
        by_scenario.entry(scenario["name"].as_str().unwrap()).or_default().push(repeat);
    }
    by_scenario
}

#[test]
fn all_databases_give_the_same_right_answers() {
    if !have_servers() || !stend_testing::have("tarantool") {
        return;
    }
    let stand = Stand::new();
    // As somebody's own: without warm-ups, and whatever else the machine does.
    let suites = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../suites");
    let text = fs::read_to_string(suites.join("database.toml")).unwrap();
    let text = text.replace("warmup = 1\n", "warmup = 0\n").replace("timeout = \"10min\"", "timeout = \"6h\"");
    fs::write(stand.path().join("own.toml"), format!("{text}\n{}", no_gates())).unwrap();
    fs::create_dir(stand.path().join("database")).unwrap();
    for file in fs::read_dir(suites.join("database")).unwrap().flatten().filter(|file| file.path().is_file()) {
        fs::copy(file.path(), stand.path().join("database").join(file.file_name())).unwrap();
    }
    let mut run = SHORT;
    run[1] = "./own.toml";
    let engines = ["redis", "tarantool", "postgresql", "sqlite"];
    let only: Vec<_> = engines.iter().flat_map(|engine| ["--only", engine]).collect();
    let ended = stand.fine(&[&run[..], &only, &["-r", "1"]].concat());
    let run = stand.json(&["show", "last"])["run"].clone();
    let mut answers = BTreeMap::<_, BTreeSet<_>>::new();
    let mut measured = BTreeSet::new();
    for (scenario, repeats) in by_scenario(&run) {
        let operation = scenario.split(',').next().unwrap();
        for repeat in repeats {
            let report = &repeat["report"];
            assert_eq!(report["check"], "passed", "{scenario}: {repeat:#}\n{}", ended.err);
            let evidence = report["evidence"].as_str().unwrap();
            answers.entry(operation).or_default().insert(evidence.rsplit(' ').next().unwrap().to_owned());
            measured.insert(scenario);
            if operation == "load" {
                assert!(report["observed"]["memory_bytes"].as_f64().unwrap() > 0.0, "{report:#}");
            }
        }
    }
    assert_eq!(measured.len(), 24, "{measured:?}\n{}", ended.err);
    assert!(answers.values().all(|digests| digests.len() == 1), "{answers:#?}");
    nothing_is_left(&stand);
}

#[test]
fn a_database_that_cannot_allocate_costs_only_its_own_repeats() {
    if !have_servers() {
        return;
    }
    let stand = Stand::new();
    let only = ["--only", "load, redis", "--only", "load, postgresql", "--only", "load, sqlite", "-r", "1"];
    let sides = ["--ab", "", "rig.maxmemory=1mb;rig.shared_buffers=1000TB"];
    let ended = stand.run(&[&SHORT[..], &only, &sides].concat());
    assert_eq!(ended.status, Some(3), "{}", ended.err);
    let run = stand.json(&["show", "last"])["run"].clone();
    let by_scenario = by_scenario(&run);
    let last = |scenario: &str| {
        by_scenario[scenario].iter().rev().find(|repeat| repeat["side"] == 1).unwrap()["outcome"].clone()
    };
    let redis = last("load, redis");
    assert!(redis["failed"]["said"].as_str().unwrap().starts_with("redis: OOM command not allowed"), "{redis}");
    let postgresql = last("load, postgresql");
    assert_eq!(postgresql["failed"]["cause"], "server_not_made", "{postgresql}");
    assert!(postgresql["failed"]["said"].as_str().unwrap().contains("FATAL"), "{postgresql}");
    assert!(by_scenario["load, sqlite"].iter().all(|repeat| repeat["report"]["check"] == "passed"));
    nothing_is_left(&stand);
}

#[test]
fn a_preparation_that_fails_costs_only_the_scenarios_of_its_server() {
    if !stend_testing::have("python3") {
        return;
    }
    let stand = Stand::new();
    let only = ["--only", "read, reindexer", "--only", "start, reindexer", "--only", "read, sqlite", "-r", "1"];
    let ended = stand.command(&[&SHORT[..], &only].concat()).env("PIP_NO_INDEX", "1").output().unwrap();
    let told = String::from_utf8_lossy(&ended.stderr).into_owned();
    let run = stand.json(&["show", "last"])["run"].clone();
    let by_scenario = by_scenario(&run);
    for scenario in ["read, reindexer", "start, reindexer"] {
        let failed = &by_scenario[scenario][0]["outcome"]["failed"];
        assert_eq!((by_scenario[scenario].len(), &failed["cause"]), (1, &"server_not_made".into()), "{told}");
        let line = told.lines().find(|line| line.contains(&format!("{scenario}: 0 of 1"))).unwrap_or(&told);
        assert!(line.contains("server reindexer") && line.contains("pyreindexer"), "{told}");
    }
    assert!(by_scenario["read, sqlite"].iter().all(|repeat| repeat["report"]["check"] == "passed"), "{told}");
    nothing_is_left(&stand);
}

/// What it held is gone with it, and the next one is loaded anew.
#[test]
fn a_database_that_is_killed_is_started_and_loaded_anew() {
    if !have_servers() {
        return;
    }
    let stand = Stand::new();
    let engine = concat!(env!("CARGO_MANIFEST_DIR"), "/../../suites/database/redis.py");
    let script = format!(
        "#!/bin/sh\n[ -e \"${{0%/*}}/died\" ] || {{\n    touch \"${{0%/*}}/died\"\n    kill -9 \"$(cat \"$1.pid\")\"\n}}\n\
         directory=$1 port=$2\nshift 2\nexec python3 -B {engine:?} --directory \"$directory\" --port \"$port\" \"$@\"\n"
    );
    fs::write(stand.path().join("load.sh"), script).unwrap();
    let suite = stand.path().join("own.toml");
    let text = format!(
        "name = \"own\"\ntitle = \"killed\"\nwarmup = 0\nrepeats = 2\nsample_hertz = 0\n{NO_LIMITS}\n[[scenario]]\nname = \"read\"\nserver = \"redis\"\n\
         command = [\"sh\", \"{{suite_directory}}/load.sh\", \"@directory@\", \"@port@\"]\n\
         parameters = {{ operation = \"read\", documents = 1000, duration = \"50ms\" }}\n\
         metrics = [{{ name = \"rate\", value = \"operations/wall\", unit = \"op/s\", better = \"higher\" }}]\n"
    );
    fs::write(&suite, text).unwrap();
    stand.fine(&["run", suite.to_str().unwrap(), "--no-progress"]);
    let run = stand.json(&["show", "last"])["run"].clone();
    let outcomes = outcomes(&run);
    assert_eq!(outcomes[0]["failed"]["cause"], "server_ended", "{outcomes:#?}");
    assert_eq!(outcomes[1..], [&Value::from("valid"), &"valid".into()]);
    nothing_is_left(&stand);
}

/// What the program brings of the suite is put there for the run.
#[test]
fn databases_of_another_machine_are_measured_there() {
    let Some(sshd) = Sshd::new().filter(|_| have_servers()) else { return };
    sshd.has_all_programs();
    sshd.with_build();
    let only = ["--only", "read, redis", "--only", "read, sqlite", "-r", "1", "--on", "stand"];
    let ended = sshd.run(&[&SHORT[..], &only].concat());
    let run = parse(&sshd.fine(&["show", "last", "--json"]).out)["run"].clone();
    let by_scenario = by_scenario(&run);
    assert_eq!(by_scenario.len(), 2, "{}", ended.err);
    for repeat in by_scenario.values().flatten() {
        assert_eq!(repeat["report"]["check"], "passed", "{repeat:#}\n{}", ended.err);
        assert!(repeat["command"][1].as_str().unwrap().starts_with(sshd.there().to_str().unwrap()), "{repeat:#}");
    }
    assert!(sshd.left().iter().all(|name| name.starts_with("build")), "{:?}", sshd.left());
}
