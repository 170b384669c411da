//! Latencies of single operations, from the instrument to the drawings.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::json;

use crate::common::histories::Template;
use crate::common::{NO_LIMITS, Stand, instruments, probe};

/// A suite of one scenario, whose instrument says that it counted these latencies.
fn suite(stand: &Stand, counts: &str) -> String {
    let script = instruments().join("latencies.sh");
    let text = format!(
        "name = \"test\"\ntitle = \"latencies\"\nsample_hertz = 0\nrepeats = 3\nwarmup = 1\n{NO_LIMITS}\
         [[scenario]]\nname = \"calls\"\ncommand = [\"sh\", {script:?}, {counts:?}]\n\
         metrics = [{{ name = \"latency p50\", value = \"latency_p50_ns\", unit = \"ns\", better = \"lower\" }}]\n"
    );
    let path = stand.path().join("suite.toml");
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Ninety operations of a repeat take so long as no other repeat's do, ten of them a millisecond, and one takes a second.
const COUNTS: &str = "[[EACH,89],[1000000,10],[1000000000,1]]";

/// The drawings of the newest run, by name.
fn drawings(stand: &Stand) -> Vec<(String, String)> {
    stand.fine(&["report", "--format", "svg", "-o", "drawings"]);
    let mut found: Vec<_> = fs::read_dir(stand.path().join("drawings"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "svg"))
        .map(|path| (path.file_stem().unwrap().to_str().unwrap().to_owned(), fs::read_to_string(&path).unwrap()))
        .collect();
    found.sort();
    found
}

/// Of the three measured repeats: 267 operations of 102 to 104 µs, 30 of a millisecond, 3 of a second. The warm-up's are not among them.
fn holds_all_three(drawing: &str) {
    assert!(drawing.contains("300 in 3 repeats: p50 103 µs, p90 1.00 ms"), "{drawing}");
    assert!(!drawing.contains("p99 "), "three operations beyond it are too few: {drawing}");
}

#[test]
fn latencies_of_all_repeats_are_put_together_and_survive_export_and_import() {
    let stand = Stand::new();
    let suite = suite(&stand, COUNTS);
    stand.fine(&["run", &suite, "--no-progress"]);
    let shown = stand.json(&["show"]);
    let repeats = shown["run"]["repeats"].as_array().unwrap();
    let counts = |place: usize| repeats[place]["report"]["latencies"]["latency"].to_string();
    assert_eq!(counts(1), "[[102000,89],[1000000,10],[1000000000,1]]", "as it came");
    let of_here = drawings(&stand);
    let names: Vec<_> = of_here.iter().map(|(name, _)| name.as_str()).collect();
    assert!(names.contains(&"calls-latency") && names.contains(&"calls-latency-percentiles"), "{names:?}");
    of_here.iter().filter(|(name, _)| name.contains("latency")).for_each(|(_, drawing)| holds_all_three(drawing));

    stand.fine(&["export", "last", "-o", "one.stend"]);
    let other = Stand::new();
    let exported = stand.path().join("one.stend");
    other.fine(&["import", exported.to_str().unwrap()]);
    other.fine(&["export", "last", "-o", "again.stend"]);
    assert!(fs::read(&exported).unwrap() == fs::read(other.path().join("again.stend")).unwrap(), "bit for bit");
    assert_eq!(drawings(&other), of_here);

    let page = stand.fine(&["report", "-o", "-"]).out;
    assert!(page.contains("How long single operations took") && page.contains("Сколько длились отдельные операции"));
    assert!(page.contains("300 in 3 repeats") && page.contains("300 за 3 повтора"));
}

#[test]
fn latencies_are_carried_from_where_no_link_reaches() {
    let stand = Stand::new();
    let suite = suite(&stand, COUNTS);
    stand.fine(&["pack", &suite, "-o", "plan.json"]);
    let mut command = Command::new(probe());
    command.args(["run", "plan.json"]).current_dir(stand.path()).env("STEND_WORK", stand.path().join("work"));
    command.env("STEND_LOCK", stand.path().join("machine.lock")).env_remove("STEND_PROBE").stdin(Stdio::null());
    command.stdout(fs::File::create(stand.path().join("result.jsonl")).unwrap());
    let ended = crate::common::ended(&mut command);
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    stand.fine(&["import", "result.jsonl", "--host", "board"]);
    let all = drawings(&stand);
    let (_, drawing) = all.iter().find(|(name, _)| name == "calls-latency-percentiles").expect("drawn");
    holds_all_three(drawing);
}

#[test]
fn a_histogram_that_cannot_be_read_is_one_line() {
    // One that an instrument prints is a repeat that failed.
    let stand = Stand::new();
    stand.run(&["run", &suite(&stand, "\"HISTFAAAABB4\""), "--no-progress"]);
    let shown = stand.json(&["show"]);
    let failed = &shown["run"]["repeats"][0]["outcome"]["failed"];
    let said = "the latencies \"latency\" cannot be read: it is no compressed HdrHistogram: it is cut off";
    assert_eq!(*failed, json!({ "cause": "latencies_wrong", "said": said }));

    // One in a store.
    let stand = Stand::new();
    stand.fine(&["run", &suite(&stand, COUNTS), "--no-progress"]);
    stand.fine(&["export", "last", "-o", "one.stend"]);
    break_in_store(&stand.store().join("stend.db"));
    let refused = |arguments: &[&str], status: i32, parts: &[&str]| {
        let ended = stand.run(arguments);
        assert_eq!(ended.status, Some(status), "{}", ended.err);
        assert_eq!(ended.err.trim_end().lines().count(), 1, "{}", ended.err);
        assert!(parts.iter().all(|part| ended.err.contains(part)), "{}", ended.err);
    };
    let parts = ["is damaged", "repeat 2 of run"];
    refused(&["report", "--format", "svg", "-o", "drawings"], 4, &parts);
    refused(&["report", "-o", "page.html"], 4, &parts);
    refused(&["compare", "last"], 4, &parts);

    // One in a file.
    let author = Stand::new();
    author.fine(&["import", stand.path().join("one.stend").to_str().unwrap()]);
    let broken = Template::of(&author).write(&stand, "20990101-0000-0001", "2099-01-01T00:00:00Z", |_, repeats| {
        repeats[2]["report"]["latencies"]["latency"] = "HISTF?".into();
    });
    fs::remove_dir_all(stand.store()).unwrap();
    let parts = ["20990101-0000-0001.stend", "repeat 2: the latencies \"latency\" cannot be read"];
    refused(&["import", broken.to_str().unwrap()], 2, &parts);
    stand.fine(&["import", "one.stend"]);
}

fn break_in_store(store: &Path) {
    let connection = rusqlite::Connection::open(store).unwrap();
    let broken =
        "UPDATE repeat SET document = json_set(document, '$.report.latencies.latency', 'HISTF?') WHERE sequence = 2";
    let changed = connection.execute_batch("DROP TRIGGER repeats_stay").and_then(|()| connection.execute(broken, []));
    assert_eq!(changed, Ok(1));
}

#[test]
fn a_run_without_latencies_is_drawn_as_ever() {
    let stand = Stand::new();
    let suite = stand.suite("repeats = 2\nwarmup = 0", &[("small", "steady.sh 1")]);
    stand.fine(&["run", &suite, "--no-progress"]);
    let page = stand.fine(&["report", "-o", "-"]).out;
    assert!(!page.contains("How long single operations took"));
    assert!(drawings(&stand).iter().all(|(name, _)| !name.contains("latency")));
}

/// What counts no single operations has repeats alone: their histogram is there, and no empty drawing stands for the other.
#[test]
fn that_there_are_no_latencies_is_said_and_why() {
    let runs = crate::common::runs::Runs::new();
    runs.add(&[runs.run(crate::common::runs::A, &[("x", 1.0)])]);
    let directory = runs.stand.path().join("drawings");
    let drawings = |kinds: &str| {
        let arguments = ["report", "last", "-f", "svg", "--drawings", kinds, "-o", directory.to_str().unwrap()];
        (runs.stand.fine(&arguments).err, std::fs::read_to_string(directory.join("index.md")).unwrap())
    };
    let why = "no instrument of these runs records the latency of single operations, as fio does";
    let (said, index) = drawings("histograms,latencies");
    assert!(said.contains(&format!("no latencies: {why}")) && said.lines().count() == 1, "{said}");
    assert!(index.contains(&format!("No latencies: {why}")) && index.contains("](x-histogram.svg)"), "{index}");
    let (said, index) = drawings("histograms");
    assert!(said.is_empty() && !index.contains("No latencies"), "{said}{index}");
    let page = runs.stand.fine(&["report", "last", "-o", "-"]).out;
    assert!(page.contains("How the values are distributed") && !page.contains("class=\"latency\""));
}
