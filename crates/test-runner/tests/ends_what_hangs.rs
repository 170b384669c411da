//! Tests that hang, fail, or leave something behind, written in sh and named to the runner as cargo names its own.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// A program with these tests, each a piece of sh in which `$here` is its directory.
struct Program {
    directory: TempDir,
}

impl Program {
    fn new(tests: &[(&str, &str)]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("program");
        let names: String = tests.iter().map(|(name, _)| format!("echo '{name}: test'\n")).collect();
        let cases: String = tests.iter().map(|(name, body)| format!("{name})\n{body}\n;;\n")).collect();
        let text = format!(
            "#!/bin/sh\nhere='{}'\ncase \"$*\" in *--ignored*) exit ;; --list*)\n{names}exit ;; esac\n\
             [ \"$1\" = --exact ] || exit 9\ncase $2 in\n{cases}esac\n",
            directory.path().display()
        );
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
        Self { directory }
    }

    fn start(&self, arguments: &[&str]) -> Child {
        let here = self.directory.path();
        let message = serde_json::json!({
            "reason": "compiler-artifact", "manifest_path": here.join("Cargo.toml"), "executable": here.join("program"),
            "target": { "name": "it" }, "profile": { "test": true },
        });
        let mut runner = Command::new(env!("CARGO_BIN_EXE_test-runner"))
            .args(arguments)
            // Limits are the usual ones here.
            .env_remove("PATIENCE")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        writeln!(runner.stdin.take().unwrap(), "Compiling\n{message}").unwrap();
        runner
    }

    fn run(&self, arguments: &[&str]) -> (Option<i32>, String) {
        let Output { status, stdout, .. } = self.start(arguments).wait_with_output().unwrap();
        (status.code(), String::from_utf8_lossy(&stdout).into_owned())
    }

    /// The process whose number a test wrote down.
    fn process(&self, name: &str) -> Option<String> {
        let number = fs::read_to_string(self.directory.path().join(name)).ok()?;
        let number = number.strip_suffix('\n')?;
        let stat = fs::read_to_string(format!("/proc/{number}/stat")).ok()?;
        let is_zombie = stat.rsplit_once(") ").is_none_or(|(_, rest)| rest.starts_with('Z'));
        (!is_zombie).then(|| number.to_owned())
    }
}

/// A process in a session of its own, which no signal to the test's group reaches, under this name.
fn daemon(name: &str) -> String {
    format!(
        "setsid sh -c 'echo $$ >\"$0\"; exec sleep 1000' \"$here/{name}\" & while ! [ -s \"$here/{name}\" ]; do sleep 0.02; done"
    )
}

fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(300);
    while !condition() {
        assert!(Instant::now() < deadline, "waited for: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn what_passes_and_what_fails_is_counted_and_only_failures_are_shown() {
    let program = Program::new(&[
        ("good", "echo all is well; echo 'skipped: there is no moon here'"),
        ("bad", "echo the moon fell; exit 101"),
        ("killed", "kill -9 $$"),
    ]);
    let (status, said) = program.run(&[]);
    assert_eq!(status, Some(1), "{said}");
    assert!(said.ends_with("\n1 passed, 2 failed\n"), "{said}");
    assert!(said.contains("the moon fell") && !said.contains("all is well"), "{said}");
    assert!(said.contains("skipped: there is no moon here\n"), "{said}");
    assert!(said.contains("failed: ") && said.contains("it bad (") && said.contains("it killed ("), "{said}");
    assert_eq!(program.run(&["it good"]).0, Some(0), "only those that are asked for");
    let (status, said) = program.run(&["it good", "it bad", "--skip", "bad"]);
    assert_eq!(status, Some(0), "not what is to be skipped: {said}");
    assert_eq!(program.run(&["no such test"]).0, Some(2), "none is no success");
}

#[test]
fn one_that_hangs_is_ended_with_all_that_it_started() {
    let program = Program::new(&[("hangs", &format!("{}; trap '' TERM; while :; do sleep 1; done", daemon("daemon")))]);
    let (status, said) = program.run(&["--limit", "5"]);
    assert_eq!(status, Some(1), "{said}");
    assert!(said.contains("did not end within 5 s") && said.contains("sleep 1000"), "{said}");
    assert!(said.contains("failed: ") && said.contains("it hangs ("), "{said}");
    assert_eq!(program.process("daemon"), None);
    let (_, said) = program.run(&["--limit", "1", "--long", "it hangs"]);
    assert!(said.contains("did not end within 3 s"), "{said}");
}

#[test]
fn one_that_leaves_a_process_behind_fails_and_the_process_is_ended() {
    let program = Program::new(&[("leaves", &daemon("daemon"))]);
    let (status, said) = program.run(&[]);
    assert_eq!(status, Some(1), "{said}");
    assert!(said.contains("left behind") && said.contains("sleep 1000"), "{said}");
    assert_eq!(program.process("daemon"), None);
}

#[test]
fn a_runner_that_is_killed_leaves_nothing() {
    let program = Program::new(&[("waits", &format!("{}; sleep 1000", daemon("daemon")))]);
    let mut runner = program.start(&[]);
    wait_until("the test runs", || program.process("daemon").is_some());
    runner.kill().unwrap();
    runner.wait().unwrap();
    wait_until("what the test started is gone", || program.process("daemon").is_none());
}

#[test]
fn the_longest_of_the_last_time_is_first_and_what_nobody_timed_before_it() {
    let program = Program::new(&[
        ("short", "echo short >>\"$here/order\""),
        ("long", "echo long >>\"$here/order\""),
        ("fresh", "echo fresh >>\"$here/order\""),
    ]);
    let times = program.directory.path().join("times");
    let package = program.directory.path().file_name().unwrap().to_str().unwrap();
    fs::write(&times, format!("0.1\t0.1\t{package}/it short\n7\t0\t{package}/it long\nrubbish\n")).unwrap();
    let (status, said) = program.run(&["--slots", "1", "--times", times.to_str().unwrap()]);
    assert_eq!(status, Some(0), "{said}");
    assert_eq!(fs::read_to_string(program.directory.path().join("order")).unwrap(), "fresh\nlong\nshort\n");
    fs::remove_file(program.directory.path().join("order")).unwrap();
    program.run(&["--slots", "1", "--times", times.to_str().unwrap(), "--long", "it short"]);
    assert!(fs::read_to_string(program.directory.path().join("order")).unwrap().starts_with("short\n"));
    let kept = fs::read_to_string(&times).unwrap();
    assert!(kept.lines().count() == 3 && kept.contains("it fresh"), "{kept}");
}
