//! `stend run -- COMMAND`: commands timed as they are typed.

use crate::common::Stand;
use serde_json::Value;

/// Without what the machine is asked before a run and after each repeat.
fn time(stand: &Stand, words: &[&str]) -> crate::common::Ended {
    stand.run(&[&["run", "--no-progress", "--even-if-unfit", "-r", "2"], words].concat())
}

/// The repeats of the newest run.
fn repeats(stand: &Stand) -> Vec<Value> {
    stand.json(&["show", "last"])["run"]["repeats"].as_array().unwrap().clone()
}

#[test]
fn a_command_is_run_where_one_is_and_what_it_prints_is_discarded() {
    let stand = Stand::new();
    let here = stand.path().join("here");
    std::fs::create_dir(&here).unwrap();
    let mut command = stand.command(&[
        "run",
        "--no-progress",
        "--even-if-unfit",
        "-r",
        "2",
        "--",
        "sh",
        "-c",
        "echo \"said $0 {x}\"; pwd >place; echo >>times",
        "a b",
    ]);
    let ended = crate::common::ended(command.current_dir(&here));
    assert!(matches!(ended.status, Some(0 | 3)), "{}", ended.err);
    assert!(!ended.out.contains("said a b") && ended.out.contains("sh -c"), "{}", ended.out);
    assert_eq!(
        std::fs::read_to_string(here.join("place")).unwrap().trim(),
        here.canonicalize().unwrap().to_str().unwrap()
    );
    let times = std::fs::read_to_string(here.join("times")).unwrap().lines().count();
    let made = repeats(&stand);
    assert_eq!(times, made.len(), "once a repeat, the warm-up too");
    let report = &made[0]["report"];
    assert!(report["wall_ns"].as_u64().unwrap() > 0 && report["observed"]["max_rss_bytes"].as_f64().unwrap() > 0.0);
    assert_eq!(report["observed"]["exit_status"], 0.0);
    let metrics = &stand.json(&["show", "last"])["run"]["run"]["suite"]["scenarios"][0]["metrics"];
    let names: Vec<_> = metrics.as_array().unwrap().iter().map(|metric| metric["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["time", "CPU time", "memory"]);
}

#[test]
fn an_exit_status_fails_the_repeat_unless_any_will_do() {
    let stand = Stand::new();
    let ended = time(&stand, &["--command", "echo oh dear >&2; exit 7"]);
    assert_eq!(ended.status, Some(3), "{}", ended.err);
    assert!(ended.out.contains("exited with status 7") && ended.out.contains("oh dear"), "{}", ended.out);
    time(&stand, &["--command", "exit 7", "--ignore-failure"]);
    assert_eq!(repeats(&stand)[0]["report"]["observed"]["exit_status"], 7.0);
    let other = time(&stand, &["--command", "true", "--ignore-failure"]);
    assert!(!other.err.contains("compare with the run before"), "nothing in common: {}", other.err);
    let again = time(&stand, &["--command", "true", "--ignore-failure"]);
    // On a busy machine one of the two may have no repeat that counts, and nothing in common with the other.
    let is_disturbed = [&other, &again].iter().any(|ended| ended.status == Some(3));
    assert!(again.err.contains("compare with the run before") || is_disturbed, "{}", again.err);
    // What is not there is not looked for again and again.
    time(&stand, &["--", "/no/such/program"]);
    assert_eq!(repeats(&stand).len(), 1, "after the warm-up it is certain");
}

#[test]
fn what_prepares_a_repeat_is_done_before_each_and_not_timed() {
    let stand = Stand::new();
    let log = stand.path().join("log");
    let (prepare, command) = (format!("echo p >>{}", log.display()), format!("echo c >>{}", log.display()));
    time(&stand, &["--prepare", &prepare, "--command", &command]);
    let made = repeats(&stand);
    assert_eq!(std::fs::read_to_string(&log).unwrap(), "p\nc\n".repeat(made.len()));
    let cpu = made[0]["report"]["cpu_ns"].as_u64().unwrap();
    assert!(cpu > 0);
    let ended = time(&stand, &["--prepare", "exit 9", "--command", "true"]);
    assert!(ended.out.contains("--prepare exited with status 9"), "{}", ended.out);
}

#[test]
fn two_commands_are_compared_in_pairs_and_values_are_scenarios() {
    let stand = Stand::new();
    time(&stand, &["--ab", "--command", "true; true", "--command", "exit 0"]);
    let sides = stand.json(&["show", "last"])["run"]["run"]["sides"].clone();
    assert_eq!((&sides[0]["label"], &sides[1]["label"]), (&"true; true".into(), &"exit 0".into()));
    assert_eq!(sides[0]["parameters"]["command"], "true; true");
    time(&stand, &["--command", "exit {n}", "--parameter", "n=0,1", "--ignore-failure"]);
    let scenarios = stand.json(&["show", "last"])["run"]["run"]["suite"]["scenarios"].clone();
    let names: Vec<_> = scenarios.as_array().unwrap().iter().map(|one| one["name"].clone()).collect();
    assert_eq!(names, ["exit 0", "exit 1"]);
}

#[test]
fn what_does_not_go_together_is_refused() {
    let stand = Stand::new();
    for (words, part) in [
        (&["--ab", "--command", "true"][..], "give --command twice"),
        (&["--ab"], "--ab without sides is for commands"),
        (&["--prepare", "true"], "--prepare is for commands"),
        (&["--ignore-failure", "quick"], "--ignore-failure is for commands"),
        (&["--command", "true", "--parameter", "n=1"], "no command has {n}"),
        (&["--command", "true {n}", "--command", "true", "--parameter", "n=1"], "all must have it"),
        (&["--command", "true", "--command", "true"], "given twice"),
        (&["--command", " "], "empty"),
        (&["--command", "true", "--parameter", "n"], "jobs=1,2,4"),
        (&["--ab", "--command", "a", "--command", "b {n}", "--parameter", "n=1"], "--parameter does not go with --ab"),
        (&["quick", "--command", "true"], "cannot be used with"),
        (&["--command", "true", "--", "true"], "cannot be used with"),
    ] {
        stand.refused(&[&["run"], words].concat(), &[part]);
    }
    assert!(stand.json(&["list"])["runs"].as_array().unwrap().is_empty());
}

#[test]
fn what_other_programs_measured_can_be_compared() {
    let stand = Stand::new();
    let write = |name: &str, text: String| {
        let path = stand.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let times =
        |seconds: f64| (0..8).map(|n| format!("{}", seconds + f64::from(n) / 1000.0)).collect::<Vec<_>>().join(", ");
    let hyperfine = |seconds| format!("{{\"results\": [{{\"command\": \"make\", \"times\": [{}]}}]}}", times(seconds));
    let [before, after] = [write("before.json", hyperfine(1.0)), write("after.json", hyperfine(0.8))];
    stand.refused(&["compare", &before, &after], &["is a file", "stend import"]);
    stand.fine(&["import", &before, &after, "--host", "desk"]);
    stand.refused(&["compare", &before, &after], &["is a file", "is called before"]);
    assert!(stand.fine(&["import", &before, "--host", "desk"]).err.contains("is here already"));
    let compared = stand.fine(&["compare", "before", "after"]);
    assert!(compared.out.contains("after against before") && compared.out.contains("△ +2"), "{}", compared.out);
    assert_eq!(stand.json(&["show", "before"])["run"]["run"]["machine"]["name"], "desk");
    // Nothing that such a file names is run.
    stand.refused(&["resume", "before"], &["finished"]);
    let go = |nanoseconds: u32| {
        (0..6).map(|n| format!("BenchmarkSort-8 100 {} ns/op\n", nanoseconds + n)).collect::<String>()
    };
    stand.fine(&["import", &write("old.txt", go(1000)), &write("new.txt", go(1500))]);
    let compared = stand.fine(&["compare", "old", "new"]);
    assert!(compared.out.contains("Sort") && compared.out.contains("▽ −3"), "{}", compared.out);
    stand.refused(
        &["import", &write("bad.json", "{\"results\": [{\"command\": \"x\"}]}".into())],
        &["bad.json", "no single measurements"],
    );
}
