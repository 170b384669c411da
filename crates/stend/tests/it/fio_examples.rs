//! The job files that come with fio as examples: each is run, or refused in one line that says why.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::Stand;
use crate::load::have_fio;

/// Where Debian's package has them.
const EXAMPLES: &str = "/usr/share/doc/fio/examples";

/// So many tests share the examples, since each has little time.
const PARTS: usize = 4;

/// The examples of a part; none where they are not installed, which under CI they must be.
fn examples(part: usize) -> Vec<PathBuf> {
    let entries = fs::read_dir(EXAMPLES).map(|entries| entries.flatten().map(|entry| entry.path()).collect());
    let mut paths: Vec<PathBuf> = entries.unwrap_or_default();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "fio"));
    paths.sort();
    let here = have_fio() && !paths.is_empty();
    assert!(
        here || std::env::var_os("CI").is_none(),
        "under CI nothing may be skipped, and there is nothing in {EXAMPLES}"
    );
    if !here {
        eprintln!("skipped: there are no examples of fio's in {EXAMPLES}; fio-examples has them");
        paths.clear();
    }
    paths.into_iter().skip(part).step_by(PARTS).collect()
}

fn name(path: &Path) -> String {
    path.file_name().unwrap().to_str().unwrap().to_owned()
}

/// The one line by which a file is refused. Of several scenarios each may have one of its own before.
#[track_caller]
fn one_line(said: &str, of: &str) -> String {
    let lines: Vec<_> = said.trim_end().lines().filter(|line| !line.starts_with("skipped: ")).collect();
    assert!(lines.len() == 1 && lines[0].starts_with("stend: "), "{of}: {said}");
    lines[0].to_owned()
}

fn planned_or_refused_in_one_line(part: usize) {
    let stand = Stand::new();
    for path in examples(part) {
        let ended = stand.run(&["run", "--fio", path.to_str().unwrap(), "--dry-run"]);
        match ended.status {
            Some(0) => {
                assert!(ended.err.is_empty() && ended.out.contains("1 repeat"), "{}: {}", name(&path), ended.err)
            }
            Some(2 | 4) => {
                let line = one_line(&ended.err, &name(&path));
                // What follows from the cause is no cause.
                let follows = line.contains(" dropped") || line.contains("failed to load engine");
                assert!(!follows && line.len() < 400, "{line}");
                eprintln!("{}: {line}", name(&path));
            }
            status => panic!("{}: {status:?}\n{}", name(&path), ended.err),
        }
    }
}

/// Takes minutes; `make test-all` asks for it.
fn made_shorter_runs_to_its_end_with_its_counts_right(part: usize) {
    if std::env::var_os("EVERY_EXAMPLE").is_none() {
        return;
    }
    for path in examples(part) {
        let stand = Stand::new();
        // Directories of its own instead of those that the examples name.
        let own = format!("{}/", stand.path().display());
        let mut text = fs::read_to_string(&path).unwrap();
        for directory in ["/tmp/", "/scratch", "/data1", "/mount-point-of-ssd", "/mnt/pmem"] {
            text = text.replace(&format!("={directory}"), &format!("={own}"));
        }
        // A device that is here is nobody's to try.
        if text
            .lines()
            .any(|line| line.contains("=/dev/") && !line.contains("/dev/null") && !line.contains("/dev/zero"))
        {
            continue;
        }
        // Nor is another machine.
        if ["gfapi", "rados", "rbd", "rdma"].iter().any(|engine| text.contains(&format!("ioengine={engine}"))) {
            continue;
        }
        let copy = stand.path().join("example.fio");
        fs::write(&copy, &text).unwrap();
        let says = |option: &str| text.lines().any(|line| line.trim().starts_with(&format!("{option}=")));
        let large = text.lines().any(|line| line.starts_with("filesize=") && !line.ends_with('k'));
        let mut words = vec!["run", "--fio", "example.fio", "--even-if-unfit", "--no-progress", "--set", "runtime=1s"];
        for (option, set) in [("size", "size=4MiB"), ("io_size", "io_size=4MiB"), ("filesize", "filesize=4MiB")] {
            if says(option) && (option != "filesize" || large) {
                words.extend(["--set", set]);
            }
        }
        let ended = stand.run(&words);
        let name = name(&path);
        match ended.status {
            Some(2 | 4) => eprintln!("{name}: {}", one_line(&ended.err, &name)),
            Some(0 | 3) => {
                let shown = stand.json(&["show"]);
                let mut said = vec!["right".to_owned()];
                for repeat in shown["run"]["repeats"].as_array().unwrap() {
                    // What takes a server or a device of its own fails, and says so in a line. A machine that is busy makes a repeat invalid,
                    // which is no fault of the example.
                    match repeat["outcome"].get("failed") {
                        None => assert_eq!(repeat["report"]["check"], "passed", "{name}: {repeat:#}\n{}", ended.err),
                        Some(why) => {
                            let words = why["said"].as_str().unwrap_or_default();
                            let follows = words.contains(" dropped")
                                || ["fio_report_missing", "tool_killed"].contains(&why["cause"].as_str().unwrap());
                            assert!(!follows && words.lines().count() <= 1, "{name}: {why}");
                            said.push(why.to_string());
                        }
                    }
                }
                eprintln!("{name}: {}", said.last().unwrap());
            }
            status => panic!("{name}: {status:?}\n{}", ended.err),
        }
    }
}

#[test]
fn each_example_of_the_first_part_is_planned_or_refused_in_one_line() {
    planned_or_refused_in_one_line(0);
}

#[test]
fn each_example_of_the_first_part_made_shorter_runs_to_its_end() {
    made_shorter_runs_to_its_end_with_its_counts_right(0);
}

#[test]
fn each_example_of_the_second_part_is_planned_or_refused_in_one_line() {
    planned_or_refused_in_one_line(1);
}

#[test]
fn each_example_of_the_second_part_made_shorter_runs_to_its_end() {
    made_shorter_runs_to_its_end_with_its_counts_right(1);
}

#[test]
fn each_example_of_the_third_part_is_planned_or_refused_in_one_line() {
    planned_or_refused_in_one_line(2);
}

#[test]
fn each_example_of_the_third_part_made_shorter_runs_to_its_end() {
    made_shorter_runs_to_its_end_with_its_counts_right(2);
}

#[test]
fn each_example_of_the_fourth_part_is_planned_or_refused_in_one_line() {
    planned_or_refused_in_one_line(3);
}

#[test]
fn each_example_of_the_fourth_part_made_shorter_runs_to_its_end() {
    made_shorter_runs_to_its_end_with_its_counts_right(3);
}
