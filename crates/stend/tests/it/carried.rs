//! Machines that no link reaches: a plan goes there, a result comes back, and it is a run as any other.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::json;

use crate::common::{Ended, Gate, Stand, interrupt, probe, running, wait_until};

/// A place with a packed suite.
struct Isolated {
    stand: Stand,
    suite: String,
}

impl Isolated {
    fn with(head: &str, scenarios: &[(&str, &str)]) -> Self {
        let stand = Stand::new();
        let suite = stand.suite(head, scenarios);
        let isolated = Self { stand, suite };
        isolated.stand.fine(&["pack", &isolated.suite, "-o", "plan.json"]);
        isolated
    }

    fn at(&self, name: &str) -> PathBuf {
        self.stand.path().join(name)
    }

    /// `stend-probe run`, with its result in a file where it is not continued.
    fn command(&self, arguments: &[&str], result: Option<&str>) -> Command {
        let mut command = Command::new(probe());
        command.arg("run").args(arguments).current_dir(self.stand.path());
        command
            .env("STEND_WORK", self.at("work"))
            .env("STEND_LOCK", self.at("machine.lock"))
            .env_remove("STEND_PROBE")
            .stdin(Stdio::null());
        if let Some(result) = result {
            command.stdout(fs::File::create(self.at(result)).unwrap());
        }
        command
    }

    fn measure(&self, arguments: &[&str], result: Option<&str>) -> Ended {
        crate::common::ended(&mut self.command(arguments, result))
    }

    fn result(&self) -> String {
        fs::read_to_string(self.at("result.jsonl")).unwrap()
    }

    /// Must be refused with one line that says these things.
    fn refuses(&self, ended: &Ended, status: i32, parts: &[&str]) {
        assert_eq!(ended.status, Some(status), "{}\n{}", ended.out, ended.err);
        assert_eq!(ended.err.trim_end().lines().count(), 1, "{}", ended.err);
        assert!(parts.iter().all(|part| ended.err.contains(part)), "{parts:?}\n{}", ended.err);
        assert!(!self.stand.store().join("stend.db").exists(), "nothing was made");
    }

    fn import_refuses(&self, name: &str, parts: &[&str]) {
        self.refuses(&self.stand.run(&["import", name]), 2, parts);
    }
}

fn attempts(text: &str) -> usize {
    text.lines().filter(|line| line.starts_with("{\"event\":\"attempt\"")).count()
}

#[test]
fn what_was_measured_without_a_link_is_a_run_as_any_other() {
    let head = "repeats = 6\nwarmup = 1\nseed = 7";
    let mut isolated = Isolated::with(head, &[("small", "steady.sh 1"), ("large", "steady.sh 4")]);
    let more = "[[scenario]]\nname = \"cipher\"\ninstrument = \"stend-probe cipher\"\nparameters = { cipher = \"magma\", size = \"4096\", seconds = \"0.3\" }\n\
                metrics = [{ name = \"throughput\", value = \"bytes/wall\", unit = \"B/s\", better = \"higher\" }]\n\
                [[scenario]]\nname = \"absent\"\ncommand = [\"no-such-program\"]\n\
                metrics = [{ name = \"throughput\", value = \"bytes/wall\", unit = \"B/s\", better = \"higher\" }]\n\
                [[scenario]]\nname = \"wide\"\ncommand = [\"true\"]\nprocessors = 1000000\n\
                metrics = [{ name = \"throughput\", value = \"bytes/wall\", unit = \"B/s\", better = \"higher\" }]\n\
                [[scenario]]\nname = \"tool\"\ninstrument = \"gzip\"\nparameters = { level = \"1\" }\n\
                metrics = [{ name = \"throughput\", value = \"bytes/wall\", unit = \"B/s\", better = \"higher\" }]\n";
    let text = fs::read_to_string(&isolated.suite).unwrap().replace("sample_hertz = 0", "sample_hertz = 50");
    fs::write(&isolated.suite, text + more).unwrap();
    isolated.suite = isolated.at("suite.toml").to_str().unwrap().to_owned();
    let packed = isolated.stand.fine(&["pack", &isolated.suite, "-o", "plan.json"]);
    assert!(
        packed
            .err
            .lines()
            .any(|line| line.starts_with("left out: \"tool\": real tools require a connection to the lab")),
        "{}",
        packed.err
    );
    let ended = isolated.measure(&["plan.json"], Some("result.jsonl"));
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    assert!(ended.err.contains("skipped: absent: no-such-program is missing"), "{}", ended.err);
    isolated.stand.fine(&["import", "result.jsonl", "--host", "board"]);
    let shown = isolated.stand.json(&["show"]);
    let (run, repeats) = (&shown["run"]["run"], shown["run"]["repeats"].as_array().unwrap());
    assert_eq!((run["host"].as_str(), run["state"].as_str()), (Some("board"), Some("finished")));
    assert_eq!(repeats.len(), 3 * 7);
    assert!(repeats.iter().all(|repeat| repeat["outcome"] == "valid"), "{repeats:?}");
    assert!(shown["run"]["samples"].as_i64().unwrap() > 0, "the machine was watched");
    let skipped: Vec<_> = run["skipped"].as_array().unwrap().iter().map(|one| &one["scenario"]).collect();
    assert_eq!(skipped, ["tool", "absent", "wide"]);
    let reason = &run["skipped"][2]["reason"];
    assert_eq!(
        (reason["cause"].as_str(), &reason["needed"]),
        (Some("processors_missing"), &1_000_000.into()),
        "{reason}"
    );
    // The same measured directly, in the same order: the same machine, and the same work.
    isolated.stand.fine(&[
        "run",
        &isolated.suite,
        "--even-if-unfit",
        "--quiet",
        "--only",
        "small",
        "--only",
        "large",
        "--only",
        "cipher",
    ]);
    let direct = isolated.stand.json(&["show"]);
    let mut there = run["machine"].clone();
    assert_eq!(there["name"], "board");
    there["name"] = there.as_object_mut().unwrap().remove("network_name").unwrap();
    assert_eq!(direct["run"]["run"]["machine"], there, "its fingerprint is the same but for what a person calls it");
    let compared = isolated.stand.fine(&["compare", "last~1", "last"]);
    for name in ["small", "large", "cipher"] {
        let mut rows = compared.out.lines().filter(|line| line.starts_with(name));
        let has_verdict = |row: &str| ["△", "▽", "~", "?"].iter().any(|mark| row.contains(mark));
        assert!(rows.any(has_verdict), "{name} has no verdict:\n{}", compared.out);
    }
    let again = isolated.stand.fine(&["import", "result.jsonl"]);
    assert!(again.err.contains("is here already"), "{}", again.err);
    let exported = isolated.stand.fine(&["export", "last~1", "-o", "carried.gz"]);
    assert!(exported.err.contains("carried.gz"), "{}", exported.err);
}

#[test]
fn what_counters_of_energy_said_there_is_joules_here() {
    let stand = Stand::new();
    let suite = "name = \"carried\"\ntitle = \"t\"\nrepeats = 3\nwarmup = 0\nsample_hertz = 50\n\
                 [[scenario]]\nname = \"cipher\"\ninstrument = \"stend-probe cipher\"\n\
                 parameters = { cipher = \"magma\", size = \"4096\", seconds = \"0.3\" }\n\
                 metrics = [{ name = \"energy\", value = \"processor_energy\", unit = \"J\", better = \"lower\" }]\n";
    fs::write(stand.path().join("energy.toml"), suite).unwrap();
    let isolated = Isolated { suite: stand.path().join("energy.toml").to_str().unwrap().to_owned(), stand };
    isolated.stand.fine(&["pack", &isolated.suite, "-o", "plan.json"]);
    let ended = isolated.measure(&["plan.json"], Some("result.jsonl"));
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    // A processor that takes 30 W, whatever this one has.
    let counted = |line: &str| {
        let mut line: serde_json::Value = serde_json::from_str(line).unwrap();
        for sample in line["samples"].as_array_mut().into_iter().flatten() {
            sample["values"]["energy.rapl.package-0_joules_total"] = json!(sample["t_ns"].as_f64().unwrap() * 30e-9);
        }
        line.to_string() + "\n"
    };
    let result: String = isolated.result().lines().map(counted).collect();
    fs::write(isolated.at("result.jsonl"), result).unwrap();
    isolated.stand.fine(&["import", "result.jsonl"]);
    let shown = isolated.stand.json(&["show"]);
    let repeats = shown["run"]["repeats"].as_array().unwrap();
    assert_eq!(repeats.len(), 3);
    for repeat in repeats {
        let observed = &repeat["report"]["observed"];
        let watts = observed["processor_energy_joules"].as_f64().unwrap_or_else(|| panic!("{repeat}"))
            / (repeat["report"]["wall_ns"].as_f64().unwrap() * 1e-9);
        assert!((watts / 30.0 - 1.0).abs() < 1e-6, "{watts} W\n{repeat}");
    }
}

#[test]
fn how_fit_the_machine_was_is_recorded_with_each_session() {
    let isolated = Isolated::with("repeats = 2\nwarmup = 0", &[("one", "steady.sh 1")]);
    assert_eq!(isolated.measure(&["plan.json"], Some("result.jsonl")).status, Some(0));
    let mut lines: Vec<serde_json::Value> =
        isolated.result().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let answer = lines.iter_mut().find(|line| line["question"] == "conditions").expect("it was asked");
    let said = answer["output"].as_str().unwrap();
    assert!(said.contains("before proc/stat:") && said.contains("end:"), "{said}");
    // As a machine would have answered with little memory left and a slow clock.
    answer["output"] = "proc/meminfo:MemTotal: 1000000 kB\nproc/meminfo:MemAvailable: 10000 kB\n\
                        sys/devices/system/clocksource/clocksource0/current_clocksource:hpet\nend:\n"
        .into();
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    fs::write(isolated.at("result.jsonl"), text).unwrap();
    isolated.stand.fine(&["import", "result.jsonl"]);
    let session = isolated.stand.json(&["show"])["run"]["sessions"][0].clone();
    let memory = json!({ "condition": "free_memory", "available": 10_240_000, "total": 1_024_000_000 });
    let clock = json!({ "condition": "clock_source", "name": "hpet" });
    let noted = session["noted"].as_array().unwrap();
    assert!(noted.contains(&memory) && noted.contains(&clock), "{session}");
    // A result of a stend that did not ask.
    let without: String =
        lines.iter().filter(|line| line["question"] != "conditions").map(|line| format!("{line}\n")).collect();
    fs::write(isolated.at("older.jsonl"), without).unwrap();
    let elsewhere = isolated.at("elsewhere");
    let mut import = isolated.stand.command(&["import", "older.jsonl"]);
    assert_eq!(crate::common::ended(import.env("STEND_STORE", &elsewhere)).status, Some(0));
}

#[test]
fn what_is_interrupted_is_gone_on_with_there_and_grows_here() {
    let gate = Gate::new();
    let isolated = Isolated::with("repeats = 6\nwarmup = 0", &[("waits", &gate.after(3))]);
    let child = started(isolated.command(&["plan.json", "--quiet"], Some("result.jsonl")));
    gate.wait_until_reached();
    interrupt(&child);
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(said.contains("3 of 6 repeats") && said.contains("plan.json --continue"), "{said}");
    assert_eq!(attempts(&isolated.result()), 3);
    isolated.stand.fine(&["import", "result.jsonl"]);
    let id = isolated.stand.json(&["show"])["run"]["run"]["id"].as_str().unwrap().to_owned();
    for arguments in [&["resume"][..], &["resume", &id]] {
        assert_eq!(isolated.stand.run(arguments).status, Some(2), "it cannot go on here");
    }
    gate.open();
    let ended = isolated.measure(&["plan.json", "--continue", "result.jsonl"], None);
    assert_eq!((ended.status, ended.out.as_str()), (Some(0), ""), "{}", ended.err);
    let grown = isolated.stand.fine(&["import", "result.jsonl"]);
    assert!(grown.err.contains("got 3 repeats more"), "{}", grown.err);
    let shown = isolated.stand.json(&["show"]);
    assert_eq!(shown["run"]["run"]["state"], "finished");
    assert_eq!(shown["run"]["sessions"].as_array().unwrap().len(), 2);
    let numbers: Vec<_> = shown["run"]["repeats"].as_array().unwrap().iter().map(|repeat| &repeat["number"]).collect();
    assert_eq!(numbers, [0, 1, 2, 3, 4, 5]);
}

#[test]
fn what_is_killed_loses_the_repeat_in_flight_alone() {
    let gate = Gate::new();
    let isolated = Isolated::with("repeats = 4\nwarmup = 0", &[("waits", &gate.after(2))]);
    let mut child = started(isolated.command(&["plan.json", "--quiet"], Some("result.jsonl")));
    gate.wait_until_reached();
    let other = isolated.measure(&["plan.json"], Some("other.jsonl"));
    assert_eq!(other.status, Some(4), "{}", other.err);
    assert!(
        other.err.contains("another stend measures on this machine (")
            && other.err.contains(&format!(", process {}, since 20", child.id())),
        "{}",
        other.err
    );
    let locked = isolated.stand.run(&["run", &isolated.suite, "--even-if-unfit"]);
    assert!(locked.err.contains("another stend"), "{}", locked.err);
    child.kill().unwrap();
    child.wait().unwrap();
    let script = gate.path().to_str().unwrap().to_owned();
    wait_until("the command ends with whoever started it", || {
        running(&["sh", crate::common::instruments().join("gated.sh").to_str().unwrap(), &script]).is_empty()
    });
    assert_eq!(attempts(&isolated.result()), 2);
    // What was being written when the power went.
    let mut text = isolated.result();
    text.push_str("{\"event\":\"attempt\",\"step\":2,\"sess");
    fs::write(isolated.at("result.jsonl"), &text).unwrap();
    let imported = isolated.stand.fine(&["import", "result.jsonl"]);
    assert!(imported.err.contains("its last line was cut off, and is left out"), "{}", imported.err);
    gate.open();
    let ended = isolated.measure(&["--continue", "result.jsonl", "plan.json"], None);
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    assert!(ended.err.contains("the last line of result.jsonl was cut off"), "{}", ended.err);
    assert_eq!(attempts(&isolated.result()), 4);
}

#[test]
fn of_repeats_that_do_not_count_the_first_reason_is_told() {
    let isolated = Isolated::with("repeats = 1\nwarmup = 0", &[("bad", "faulty.sh wrong")]);
    isolated.measure(&["plan.json"], Some("result.jsonl"));
    let ended = isolated.stand.fine(&["import", "result.jsonl"]);
    for part in [" invalid, the first: ", "3 bytes differ"] {
        assert!(ended.err.contains(part), "{}", ended.err);
    }
}

fn started(mut command: Command) -> Child {
    command.stderr(Stdio::piped()).spawn().unwrap()
}

#[test]
fn what_fails_there_is_a_failed_repeat_here() {
    let isolated = Isolated::with("repeats = 6\nwarmup = 0", &[("lasts", "lasting.sh 1000"), ("works", "steady.sh 1")]);
    // Only what never ends has a limit that it can meet, however busy the machine is.
    let text = fs::read_to_string(&isolated.suite).unwrap();
    fs::write(&isolated.suite, text.replace("name = \"lasts\"\n", "name = \"lasts\"\ntimeout = \"1s\"\n")).unwrap();
    isolated.stand.fine(&["pack", &isolated.suite, "-o", "plan.json"]);
    let ended = isolated.measure(&["plan.json"], Some("result.jsonl"));
    assert_eq!(ended.status, Some(3), "{}", ended.err);
    assert!(ended.err.contains("lasts failed again and again, and is given up"), "{}", ended.err);
    isolated.stand.fine(&["import", "result.jsonl"]);
    let shown = isolated.stand.json(&["show"]);
    let repeats = shown["run"]["repeats"].as_array().unwrap();
    let failed: Vec<_> = repeats.iter().filter_map(|repeat| repeat["outcome"].get("failed")).collect();
    assert_eq!(failed, [&json!({ "cause": "timed_out", "limit": "1s" }); 3]);
}

#[test]
fn a_plan_with_a_mistake_says_where() {
    let isolated = Isolated::with("repeats = 2", &[("one", "steady.sh 1")]);
    let good = fs::read_to_string(isolated.at("plan.json")).unwrap();
    for (from, to, parts) in [
        ("\"plan\": 1", "\"plan\": 2", ["plan.json:2:11: ", "this stend-probe knows version 1"]),
        ("\"plan\": 1", "\"plam\": 1", ["plan.json:1:1: ", "`stend pack SUITE` writes one"]),
        ("\"plan\": 1,", "\"plan\": 1", ["plan.json:3:3: ", "a comma or } is wanted"]),
        ("\n  \"sample_hertz\": 0", "\n  \"sample_hertz\": 101", ["\"sample_hertz\" must be", "from 0 to 100"]),
        ("\"command\": 0", "\"command\": 1", ["there is no command of this number", "the first is 0"]),
        ("\"by_probe\": false", "\"by_probe\": 0", ["\"by_probe\" must be", "true or false"]),
    ] {
        assert!(good.contains(from), "{from}");
        fs::write(isolated.at("plan.json"), good.replacen(from, to, 1)).unwrap();
        isolated.refuses(&isolated.measure(&["plan.json"], Some("result.jsonl")), 2, &parts);
        assert_eq!(isolated.result(), "", "nothing was printed");
    }
    for (name, part) in [("missing.json", "missing.json cannot be read"), (".", ". is no file")] {
        isolated.refuses(&isolated.measure(&[name], Some("result.jsonl")), 2, &[part]);
    }
}

#[test]
fn a_result_that_is_none_says_why() {
    let isolated = Isolated::with("repeats = 2\nwarmup = 0", &[("one", "steady.sh 1")]);
    assert_eq!(isolated.measure(&["plan.json"], Some("result.jsonl")).status, Some(0));
    let good = isolated.result();
    let write = |text: &str| fs::write(isolated.at("bad.jsonl"), text).unwrap();
    isolated.import_refuses("plan.json", &["plan.json is a plan and no result", "stend-probe run"]);
    isolated.import_refuses(".", &[". cannot be read", "directory"]);
    isolated.import_refuses("missing.jsonl", &["missing.jsonl cannot be read"]);
    isolated.import_refuses("suite.toml", &["suite.toml is no run"]);
    let lines: Vec<_> = good.lines().collect();
    let line = lines.iter().position(|line| line.starts_with("{\"event\":\"attempt\"")).unwrap();
    let at = format!("bad.jsonl:{}: ", line + 1);
    let without = |number: usize| {
        lines.iter().enumerate().filter(|(n, _)| *n != number).map(|(_, l)| format!("{l}\n")).collect::<String>()
    };
    for (text, parts) in [
        (String::new(), vec!["bad.jsonl is empty"]),
        (
            good.replacen("{\"event\":\"attempt\"", "{\"event\":\"attempted\"", 1),
            vec![&at, "no line of a result", "attempted"],
        ),
        (good.replacen("\"step\":0", "\"step\":99", 1), vec![&at, "no step 99"]),
        (good.replacen("\"step\":1", "\"step\":0", 1), vec!["bad.jsonl:", "step 0 was made already"]),
        (good.replacen("\"result\":1", "\"result\":2", 1), vec!["bad.jsonl:1: ", "format 2; this stend knows 1"]),
        (without(0), vec!["bad.jsonl:1: ", "begins with its plan"]),
        (without(line - 1), vec!["bad.jsonl:", "not the one that goes on"]),
        (format!("{}\n", lines[0]), vec!["before anything was measured"]),
        (
            lines[0][..lines[0].len() / 2].to_owned(),
            vec!["bad.jsonl is a result that was cut off in its first line", "carry it"],
        ),
    ] {
        write(&text);
        isolated.import_refuses("bad.jsonl", &parts);
    }
    // What goes on with a file looks at it as closely.
    let other = good.replacen("\"repeats\":2", "\"repeats\":3", 1);
    for (text, part) in [
        (other.as_str(), "bad.jsonl is the result of another plan"),
        ("", "bad.jsonl is no result of stend-probe run"),
        ("{\"event\":\"end\"}\n", "bad.jsonl is no result of stend-probe run"),
    ] {
        write(text);
        let ended = isolated.measure(&["plan.json", "--continue", "bad.jsonl"], None);
        isolated.refuses(&ended, 2, &[part]);
        assert_eq!(fs::read_to_string(isolated.at("bad.jsonl")).unwrap(), text, "it is as it was");
    }
}

#[test]
fn a_wrong_name_is_refused_or_corrected_by_another_import() {
    let isolated = Isolated::with("repeats = 2\nwarmup = 0", &[("one", "steady.sh 1")]);
    assert_eq!(isolated.measure(&["plan.json"], Some("result.jsonl")).status, Some(0));
    for (name, part) in [
        ("a b", "--host: \"a b\" is no name; write 1 to 64 letters"),
        ("last", "\"last\" is how a run is named"),
        ("arm-wrestling", "\"arm-wrestling\" is a reference"),
        ("local", "\"local\" is this machine"),
    ] {
        isolated.refuses(&isolated.stand.run(&["import", "result.jsonl", "--host", name]), 2, &[part]);
    }
    let stand = &isolated.stand;
    stand.fine(&["hosts", "add", "board", "root@board", "--watts", "12"]);
    let names = |run: &serde_json::Value| {
        let run = &run["run"]["run"];
        ["/host", "/machine/name", "/known/power/loaded"].map(|at| run.pointer(at).cloned().unwrap_or_default())
    };
    stand.fine(&["import", "result.jsonl", "--host", "baord"]);
    let wrong = stand.json(&["show"]);
    assert_eq!(names(&wrong), [json!("baord"), json!("baord"), json!(null)]);
    let again = stand.fine(&["import", "result.jsonl", "--host", "board"]);
    assert!(again.err.contains("is called board now, and no longer baord"), "{}", again.err);
    let right = stand.json(&["show"]);
    assert_eq!(names(&right), [json!("board"), json!("board"), json!(12.0)]);
    assert_eq!(right["run"]["run"]["machine"]["network_name"], wrong["run"]["run"]["machine"]["network_name"]);
    assert_eq!(right["run"]["repeats"], wrong["run"]["repeats"]);
    assert_eq!(stand.json(&["list"])["runs"][0]["machine"], "board");
    stand.fine(&["report", "last", "-o", "carried.html"]);
    let page = fs::read_to_string(isolated.at("carried.html")).unwrap();
    assert!(page.contains("board: measured without a link, and carried here"), "the page says how it came");
    assert_eq!(stand.json(&["hosts", "show", "board"])["runs"].as_array().unwrap().len(), 1);
    // Nobody says another one: it keeps the name that it has.
    stand.fine(&["import", "result.jsonl"]);
    assert_eq!(names(&stand.json(&["show"])), names(&right));
    let elsewhere = isolated.at("elsewhere");
    stand.fine(&["export", "last", "-o", "run.gz"]);
    let mut import = stand.command(&["import", "run.gz"]);
    assert_eq!(crate::common::ended(import.env("STEND_STORE", &elsewhere)).status, Some(0));
}

#[test]
fn the_archive_has_all_that_the_machine_needs() {
    let isolated = Isolated::with("repeats = 2\nwarmup = 0", &[("one", "steady.sh 1")]);
    isolated.stand.fine(&["pack", &isolated.suite]);
    let unpacked = Command::new("tar").args(["-x", "-f", "stend-test.tar"]).current_dir(isolated.stand.path()).status();
    assert!(unpacked.unwrap().success());
    let there = isolated.at("stend-test");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for file in ["probe/build.sh", "kuzma/instructions.mk", "probe/src/carried/command.c", "kuzma/src/backend.c"] {
        assert_eq!(fs::read(there.join(file)).unwrap(), fs::read(root.join(file)).unwrap(), "{file}");
    }
    assert!(there.join("build").is_dir() && there.join("README").is_file());
    let plan: serde_json::Value = serde_json::from_slice(&fs::read(there.join("suite.json")).unwrap()).unwrap();
    assert_eq!(plan["steps"].as_array().unwrap().len(), 2);
    // Built as it is told to be, the program says of which sources; `true` compiles nothing, and what it is told to is written all the same.
    let digest = fs::read_to_string(there.join("sources.digest")).unwrap();
    let built =
        Command::new("sh").arg("probe/build.sh").env("CC", "true").env_remove("SOURCES").current_dir(&there).output();
    assert!(!built.unwrap().status.success());
    let told = fs::read_to_string(there.join("build/build_info.h")).unwrap();
    assert!(digest.trim().len() == 16 && told.contains(&format!("BUILD_SOURCES \"{}\"", digest.trim())), "{told}");
    let nothing = isolated.stand.run(&["pack", "quick", "--only", "gzip", "-o", "none.json"]);
    isolated.refuses(&nothing, 2, &["no scenario of suite \"quick\" can be measured without a link"]);
    assert!(!isolated.at("none.json").exists());
}
