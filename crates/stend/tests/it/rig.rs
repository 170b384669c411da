//! The rig of the articles in its short form: `vostok-2021` on a target, with the real fio, and nothing left of it.

use crate::common::Stand;
use crate::common::histories::Template;
use crate::common::pools::{assert_traces, pools_can_be_made};
use serde_json::Value;

/// Runs the six scenarios for a second or so each, and sees to it that each did its work. No gate: a machine that is busy with other tests
/// makes no repeat count, and that is no fault of the rig.
fn six_scenarios(stand: &Stand, target: &[&str]) -> Value {
    let run =
        ["run", "vostok-2021", "--scale", "0.0005", "--set", "log_avg_msec=200", "--even-if-unfit", "--no-progress"];
    // Repeats that do not count are made again only until the budget is spent, which is at once.
    let ended = stand.run(&[&run[..], &["--time-budget", "1ms"], target].concat());
    assert!(matches!(ended.status, Some(0 | 3)), "{}\n{}", ended.out, ended.err);
    let shown = stand.json(&["show"])["run"].clone();
    let repeats = shown["repeats"].as_array().unwrap();
    let scenarios: Vec<_> = repeats.iter().map(|repeat| repeat["scenario"].as_u64().unwrap()).collect();
    assert_eq!(scenarios, [0, 1, 2, 3, 4, 5], "{}", ended.err);
    for repeat in repeats {
        assert_eq!(repeat["report"]["check"], "passed", "{repeat}");
        assert!(repeat["report"]["work"]["operations"].as_f64().unwrap() > 0.0, "{repeat}");
    }
    let recorded = Template::of(stand);
    for repeat in recorded.repeats() {
        let name = &shown["run"]["suite"]["scenarios"][repeat["scenario"].as_u64().unwrap() as usize]["name"];
        assert_windows(&recorded, repeat, name);
        assert_controllers(repeat, shown["run"]["target"]["controllers"].as_u64().unwrap_or(0));
    }
    let id = shown["run"]["id"].as_str().unwrap();
    assert_traces(stand, id, &[stand.path().join("work")], &[], "after the run");
    shown["run"].clone()
}

/// There is a figure for each window from the beginning on; one in which nothing ended has nothing done. Only where the machine was too
/// busy for each job to complete what it first had in flight may fio have written no line, or few, and the repeat says that it has none.
fn assert_windows(recorded: &Template, repeat: &Value, name: &Value) {
    let times = recorded.times_ns(repeat, "iops");
    let report = &repeat["report"];
    let mut began = report["t_ns"].as_i64();
    let window_ns = repeat["begin"]["parameters"]["log_avg_msec"].as_i64().unwrap() * 1_000_000;
    eprintln!("{name}: {} windows in {} ms", times.len(), report["wall_ns"].as_u64().unwrap() / 1_000_000);
    for time in &times {
        let is_next = began.is_some_and(|began| (time - began).abs_diff(window_ns) <= 1_000_000);
        assert!(is_next, "{name}: a window is missing: {times:?} of {report}");
        began = Some(*time);
    }
    let parameter = |name: &str| repeat["begin"]["parameters"][name].as_f64().unwrap();
    let in_flight = parameter("luns") * parameter("numjobs") * parameter("iodepth");
    let each_completed_what_it_began_with = report["work"]["operations"].as_f64().unwrap() > in_flight;
    assert!(times.len() > 3 || !each_completed_what_it_began_with, "{name}: {times:?} of {repeat}");
    let has_none = times.is_empty() && recorded.times_ns(repeat, "latency_p50_ns").is_empty();
    assert_eq!(has_none, repeat["begin"]["missing"]["series"]["cause"] == "no_window", "{name}: {repeat}");
}

/// What the controllers used is known, or it is said why not.
fn assert_controllers(repeat: &Value, controllers: u64) {
    let used = repeat["report"]["observed"]["controllers_cpu_ns"].as_f64();
    let why = repeat["begin"]["missing"]["controllers_cpu_ns"]["cause"].as_str();
    eprintln!("{used:?} {why:?}");
    assert_eq!(
        used.is_some() || why.is_some_and(|why| ["not_read_around", "cpu_time_unread", "begin_unknown"].contains(&why)),
        controllers > 0,
        "{repeat:#}"
    );
    assert!(used.is_none_or(|used| used > 0.0), "{repeat:#}");
}

#[test]
fn six_scenarios_load_files() {
    let stand = Stand::new();
    if !std::process::Command::new("fio").arg("--version").output().is_ok_and(|output| output.status.success()) {
        assert!(std::env::var_os("CI").is_none(), "under CI nothing may be skipped, and there is no fio here");
        eprintln!("skipped: there is no fio here");
        return;
    }
    let run = six_scenarios(&stand, &["--kind", "file", "--luns", "2", "--lun-size", "16MiB"]);
    assert_eq!(run["target"]["luns"], 2);
}

#[test]
fn six_scenarios_load_a_raid10_of_twelve_disks_behind_two_controllers() {
    if !pools_can_be_made() {
        return;
    }
    let stand = Stand::new();
    let rig = concat!(env!("CARGO_MANIFEST_DIR"), "/../../targets/vostok-small.toml");
    let run = six_scenarios(&stand, &["--target", rig]);
    let target = &run["target"];
    assert_eq!((&target["luns"], &target["controllers"]), (&8.into(), &2.into()), "{target}");
    assert!(target["storage"].to_string().contains("\"count\":12"), "{target}");
}
