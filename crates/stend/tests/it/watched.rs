//! What is watched of a target while fio loads it, and of the load itself.

use crate::common::pools::{SMALL, pools_can_be_made};
use crate::common::{NO_LIMITS, Stand};
use serde_json::Value;

const HEAD: &str = "name = \"watched\"\ntitle = \"t\"\nrepeats = 1\nwarmup = 0\norder = \"grouped\"\n";
const SCENARIO: &str = "[[scenario]]\nname = \"s\"\ninstrument = \"fio\"\n\
    parameters = { rw = \"randread\", bs = \"4k\", iodepth = 4, luns = 2, size = \"8MiB\", runtime = \"1500ms\", ramp_time = \"1000ms\" }\n\
    metrics = [\n\
    { name = \"IOPS\", value = \"operations/wall\", unit = \"IOPS\", better = \"higher\" },\n";

fn suite(stand: &Stand, more: &str) -> String {
    let path = stand.path().join("watched.toml");
    std::fs::write(&path, format!("{HEAD}{NO_LIMITS}{SCENARIO}{more}]\n")).unwrap();
    path.to_str().unwrap().to_owned()
}

/// The run that was made last, and what was watched.
fn recorded(stand: &Stand) -> (Value, Vec<String>) {
    let shown = stand.json(&["show", "last"]);
    let store = rusqlite::Connection::open(stand.store().join("stend.db")).unwrap();
    let mut names = store.prepare("SELECT metric FROM series").unwrap();
    let names: Vec<String> = names.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    (shown["run"]["repeats"][0].clone(), names)
}

#[test]
fn controllers_disks_and_the_load_are_watched_and_what_the_controllers_used_is_counted() {
    if !pools_can_be_made() {
        return;
    }
    let stand = Stand::new();
    let more = "{ name = \"IOPS per controller CPU-second\", value = \"operations/controllers_cpu\", unit = \"op/CPU-s\", better = \"higher\" },\n";
    let suite = suite(&stand, more);
    stand.fine(&[&["run", &suite, "--quiet"][..], &SMALL].concat());
    let (repeat, series) = recorded(&stand);
    assert_eq!(repeat["outcome"], "valid", "{repeat}");
    let (report, usage) = (&repeat["report"], &repeat["usage"]);
    let of = |name: &str| report["observed"][name].as_f64().unwrap_or_else(|| panic!("{name} of {report}"));
    let parts = [of("controller0_cpu_ns"), of("controller1_cpu_ns")];
    assert!(parts.iter().all(|part| *part > 0.0));
    assert_eq!(of("controllers_cpu_ns"), parts[0] + parts[1]);
    let cpus = usage["machine"]["cpus"].as_f64().unwrap();
    assert!(of("controllers_cpu_ns") < report["wall_ns"].as_f64().unwrap() * cpus, "no more than there was");
    assert!(of("controllers_memory_bytes") > 0.0);
    let has = |name: &str| series.iter().any(|metric| metric == name);
    for name in [
        "controller0.cpu_ns_total",
        "controller0.user_ns_total",
        "controller1.system_ns_total",
        "controller1.memory_bytes",
        "loader.user_ns_total",
        "loader.system_ns_total",
        "loader.memory_bytes",
        "pool.in_flight",
        "pool.queue_ns_total",
        "pool.busy_ns_total",
        "lun0.iops",
        "lun1.latency_max_ns",
    ] {
        assert!(has(name), "{name}");
    }
}

#[test]
fn without_a_target_there_is_the_load_alone() {
    if crate::common::pools::said_by("fio", &["--version"]).is_empty() {
        eprintln!("skipped: fio is missing");
        return;
    }
    let stand = Stand::new();
    let suite = suite(&stand, "");
    stand.fine(&["run", &suite, "--quiet"]);
    let (repeat, series) = recorded(&stand);
    assert_eq!(repeat["outcome"], "valid", "{repeat}");
    let has = |name: &str| series.iter().any(|metric| metric == name);
    assert!(has("loader.user_ns_total") && has("loader.memory_bytes"));
    assert!(!series.iter().any(|name| ["controller", "pool.", "luns."].iter().any(|part| name.starts_with(part))));
    let observed = repeat["report"]["observed"].as_object().unwrap();
    assert!(!observed.keys().any(|name| name.contains("controller")), "{observed:?}");
}
