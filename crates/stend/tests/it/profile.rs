//! Where the time goes: `stend run --profile` and what becomes of it, with the real perf and strace and with stand-ins.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{NO_LIMITS, Stand, ended, wait_until};
use serde_json::Value;

/// A perf that samples nothing itself. `record` runs the command, `script` prints what a real one printed; what else it does is in the
/// variable `PERF_DOES`.
pub(crate) const STAND_IN: &str = r#"#!/bin/sh
case $1 in
record)
    while [ "$1" != -o ]; do shift; done
    data=$2
    while [ "$1" != -- ]; do shift; done
    shift
    case "$PERF_DOES $*" in
    "broken "*) echo 'WARNING: perf not found for kernel 6.8.0' >&2; exit 2 ;;
    "refuse "*) printf 'Error:\nAccess to performance monitoring and observability operations is limited.\n' >&2; exit 255 ;;
    "die "*two*) kill -9 $$ ;;
    "wait "*two*) : >"$PERF_WAITS"; sleep 1000 ;;
    esac
    echo samples >"$data"
    "$@"
    ;;
script)
    case "$*" in
    *"-F event"*) if [ "$PERF_DOES" = user ]; then echo 'cpu-clock:u:'; else echo 'cpu-clock:pppH:'; fi ;;
    *) cat "$(dirname "$0")/script.txt" ;;
    esac
    ;;
esac
"#;

pub(crate) const SCRIPT: &str = "\
wc 21210 23910.859996: cpu-clock:pppH: 
\tffffffff81b6b78a _copy_to_iter ([kernel.kallsyms])
\tffffffff816c72a3 anon_pipe_read ([kernel.kallsyms])
\t           f8350 __GI___libc_read (/usr/lib/x86_64-linux-gnu/libc.so.6)

";

const FOLDED: &str = "wc;__GI___libc_read;anon_pipe_read_[k];_copy_to_iter_[k] 1\n";

/// A directory with these programs of the system and no others.
fn path_with(stand: &Stand, programs: &[&str]) -> PathBuf {
    let directory = stand.path().join("bin");
    std::fs::create_dir(&directory).unwrap();
    let usual = [
        "sh",
        "head",
        "wc",
        "date",
        "cat",
        "dirname",
        "sleep",
        "mkdir",
        "true",
        "kill",
        "grep",
        "sed",
        "sha256sum",
        "uname",
    ];
    for program in usual.iter().chain(programs) {
        if let Some(found) = find(program) {
            symlink(found, directory.join(program)).unwrap();
        }
    }
    directory
}

fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap();
    std::env::split_paths(&path).map(|directory| directory.join(program)).find(|path| path.is_file())
}

/// A stand whose perf is the stand-in.
fn with_stand_in() -> (Stand, PathBuf) {
    let stand = Stand::new();
    let path = path_with(&stand, &["strace"]);
    std::fs::write(path.join("perf"), STAND_IN).unwrap();
    std::fs::set_permissions(path.join("perf"), std::fs::Permissions::from_mode(0o755)).unwrap();
    std::fs::write(path.join("script.txt"), SCRIPT).unwrap();
    (stand, path)
}

fn run_in(stand: &Stand, path: &Path, does: &str, arguments: &[&str]) -> crate::common::Ended {
    let mut command = stand.command(arguments);
    ended(command.env("PATH", path).env("PERF_DOES", does).env("PERF_WAITS", stand.path().join("waits")))
}

fn two_scenarios(stand: &Stand) -> String {
    // The second word tells the stand-in which one it is.
    stand.suite("repeats = 2\nwarmup = 0", &[("first", "steady.sh 1 one"), ("second", "steady.sh 1 two")])
}

fn profiles(stand: &Stand) -> Vec<Value> {
    stand.json(&["profile", "last"])["profiles"].as_array().unwrap().clone()
}

/// Whether strace is here and may trace. A machine that forbids it has nothing to test.
fn strace_works() -> bool {
    let Some(_) = find("strace") else {
        assert!(std::env::var_os("CI").is_none(), "under CI nothing may be skipped, and there is no strace here");
        eprintln!("skipped: there is no strace here");
        return false;
    };
    let works = Command::new("strace").args(["-c", "-o", "/dev/null", "true"]).output().unwrap().status.success();
    if !works {
        eprintln!("skipped: this machine lets nobody trace");
    }
    works
}

/// Whether perf is here and the kernel lets it look into itself. A machine that does not has nothing to test.
fn perf_works() -> bool {
    if find("perf").is_none() {
        assert!(std::env::var_os("CI").is_none(), "under CI nothing may be skipped, and there is no perf here");
        eprintln!("skipped: there is no perf here");
        return false;
    }
    let directory = tempfile::tempdir().unwrap();
    let recorded = Command::new("perf")
        .args(["record", "-e", "cpu-clock:k", "-o"])
        .arg(directory.path().join("data"))
        .arg("true")
        .output()
        .unwrap();
    if !recorded.status.success() {
        eprintln!("skipped: this machine lets perf see nothing: {}", String::from_utf8_lossy(&recorded.stderr));
    }
    recorded.status.success()
}

#[test]
fn the_real_perf_sees_both_ends_of_a_pipe_in_the_kernel() {
    if !perf_works() {
        return;
    }
    let stand = Stand::new();
    let suite = stand.path().join("pipe.toml");
    let text = format!(
        "name = \"t\"\ntitle = \"t\"\nrepeats = 3\nwarmup = 0\n{NO_LIMITS}\
        [[scenario]]\nname = \"pipe\"\ninstrument = \"stend-probe pipe\"\n\
        parameters = {{ writer = \"write\", reader = \"read\", chunk = \"64KiB\", cores = \"same\", seconds = \"0.5\" }}\n\
        metrics = [{{ name = \"throughput\", value = \"bytes/wall\", unit = \"B/s\", better = \"higher\" }}]\n"
    );
    std::fs::write(&suite, text).unwrap();
    let suite = suite.to_str().unwrap();
    let folded = || stand.fine(&["profile", "last", "pi", "--folded"]).out;
    let count = |folded: &str| -> u64 {
        folded.lines().map(|line| line.rsplit_once(' ').unwrap().1.parse::<u64>().unwrap()).sum()
    };
    // Linux called these pipe_write and pipe_read before 6.16.
    let ends = ["pipe_write_[k]", "pipe_read_[k]"];
    // Samples are of processor time, of which a busy machine may give little in half a second: then it is tried again.
    let seen = (0..10).find_map(|_| {
        let ended = stand.fine(&["run", suite, "--profile", "--no-progress"]);
        let folded = folded();
        (count(&folded) > 20 && ends.iter().all(|end| folded.contains(end))).then_some((ended, folded))
    });
    let (ended, folded) = seen.unwrap_or_else(|| panic!("few samples, or not {ends:?}, in {}", folded()));
    assert!(ended.err.contains("profile [1/1] pipe") && ended.err.contains("stend profile 2"), "{}", ended.err);

    let run = stand.json(&["show", "last"]);
    assert_eq!(run["run"]["repeats"].as_array().unwrap().len(), 3, "the profiled one is no repeat");
    assert_eq!((&run["run"]["run"]["profile"], &run["run"]["run"]["state"]), (&Value::Bool(true), &"finished".into()));

    let profiles = profiles(&stand);
    assert_eq!((profiles.len(), &profiles[0]["observed"]["kind"]), (1, &"stacks".into()), "{profiles:?}");
    assert_eq!(profiles[0]["observed"]["measured_stretch"], true);
    let samples = profiles[0]["summary"]["samples"].as_u64().unwrap();
    assert_eq!(count(&folded), samples);
    assert!(folded.lines().all(|line| line.starts_with("stend-probe;")), "nothing but the instrument: {folded}");

    let svg = stand.fine(&["profile", "last", "pipe", "--svg"]).out;
    assert!(svg.starts_with("<?xml") && svg.contains("pipe_write"));
    let report = ended.err.lines().find_map(|line| line.strip_prefix("report: ")).unwrap();
    let page = std::fs::read_to_string(report).unwrap();
    assert!(page.contains("<svg class=\"flames\"") && page.contains("pipe_write · "), "the flame graph is in the page");
    assert!(stand.fine(&["profile"]).out.contains("kernel: "));

    // The same suite without a profile is the same work.
    stand.fine(&["run", suite, "--quiet"]);
    let notes = stand.json(&["compare", "last~1", "last"])["table"]["notes"].to_string();
    assert!(!notes.contains("other_"), "{notes}");
    assert_eq!(stand.run(&["profile", "last"]).status, Some(2), "that one has none");
}

#[test]
fn without_perf_system_calls_are_counted_and_the_user_is_told_what_would_help() {
    if !strace_works() {
        return;
    }
    let stand = Stand::new();
    let path = path_with(&stand, &["strace"]);
    let suite = two_scenarios(&stand);
    let ended = run_in(&stand, &path, "", &["run", &suite, "--profile", "--no-progress"]);
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    let told = "profile: perf is not on the machine's PATH; to have it: ";
    assert_eq!(ended.err.matches(told).count(), 1, "once, not for each scenario: {}", ended.err);
    for profile in profiles(&stand) {
        assert_eq!(profile["observed"]["kind"], "system_calls", "{profile}");
        let remedy = profile["lacks"][0]["remedy"].as_str().unwrap();
        assert!(remedy.ends_with("apt-get install -y linux-perf"), "{remedy}");
        let calls = profile["observed"]["calls"].as_array().unwrap();
        let read = calls.iter().find(|call| call["name"] == "read").unwrap();
        // wc reads a mebibyte from a pipe of 64 KiB.
        assert!(read["calls"].as_u64() >= Some(16), "{read}");
    }
    let refused = stand.run(&["profile", "last", "first", "--folded"]);
    assert_eq!(refused.status, Some(2));
    assert!(refused.err.contains("no stacks were sampled of \"first\": perf is not on"), "{}", refused.err);
}

#[test]
fn where_perf_is_forbidden_the_reason_and_the_remedy_are_said() {
    for (does, told) in [
        ("refuse", "perf is forbidden here: Access to performance monitoring"),
        ("broken", "perf does not work here: WARNING: perf not found for kernel 6.8.0"),
        ("hidden", "the kernel hides the names of its functions (kernel.kptr_restrict is "),
        ("user", "perf may not look into the kernel (kernel.perf_event_paranoid is "),
    ] {
        let (stand, path) = with_stand_in();
        let _ = std::fs::remove_file(path.join("strace"));
        if does == "hidden" {
            // As the first line of /proc/kallsyms is then.
            let head = find("head").unwrap();
            let text = format!(
                "#!/bin/sh\ncase $* in *kallsyms*) echo '0000000000000000 A fixed' ;; *) exec {} \"$@\" ;; esac\n",
                head.display()
            );
            std::fs::remove_file(path.join("head")).unwrap();
            std::fs::write(path.join("head"), text).unwrap();
            std::fs::set_permissions(path.join("head"), std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        let suite = two_scenarios(&stand);
        let ended = run_in(&stand, &path, does, &["run", &suite, "--profile", "--no-progress"]);
        assert_eq!(ended.status, Some(0), "{}", ended.err);
        assert_eq!(ended.err.matches(told).count(), 1, "{}", ended.err);
        assert!(ended.err.contains("strace is not on the machine's PATH; to have it: "), "{}", ended.err);
        assert!(ended.err.contains("apt-get install -y strace"), "{}", ended.err);
        assert!(ended.err.contains("profile: there is none"), "{}", ended.err);
        let profiles = profiles(&stand);
        assert_eq!((profiles.len(), &profiles[0]["observed"]["kind"]), (2, &"nothing".into()));
        assert!(stand.fine(&["profile"]).out.contains(&format!("not seen: {}", told.trim_end())));
    }
}

#[test]
fn a_perf_that_dies_costs_only_its_profile() {
    let (stand, path) = with_stand_in();
    let suite = two_scenarios(&stand);
    let ended = run_in(&stand, &path, "die", &["run", &suite, "--profile", "--no-progress"]);
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    assert!(ended.err.contains("warning: profile of second: it was killed by signal 9"), "{}", ended.err);
    let profiles = profiles(&stand);
    assert_eq!(profiles[0]["observed"]["folded"], FOLDED);
    assert_eq!(profiles[1]["observed"]["kind"], "nothing");
    let run = stand.json(&["show", "last"]);
    assert_eq!((run["run"]["repeats"].as_array().unwrap().len(), &run["run"]["run"]["state"]), (4, &"finished".into()));
    assert!(stand.path().join("work").read_dir().unwrap().all(|entry| entry.unwrap().path().is_file()), "all removed");
}

/// A run of the suite whose lab is killed while it profiles the second scenario.
fn killed_at_the_second_profile(stand: &Stand, path: &Path, suite: &str) {
    let waits = stand.path().join("waits");
    let mut child = stand
        .command(&["run", suite, "--profile", "--quiet"])
        .env("PATH", path)
        .env("PERF_DOES", "wait")
        .env("PERF_WAITS", &waits)
        .spawn()
        .unwrap();
    wait_until("it profiles the second scenario", || waits.exists());
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_lab_that_is_killed_while_it_profiles_goes_on_with_what_is_missing() {
    let (stand, path) = with_stand_in();
    let suite = two_scenarios(&stand);
    killed_at_the_second_profile(&stand, &path, &suite);
    let before = profiles(&stand);
    assert_eq!(before.len(), 1);

    // The wish is the run's: nobody has to repeat it.
    let ended = run_in(&stand, &path, "", &["resume", "--no-progress"]);
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    assert!(ended.err.contains("profile [1/1] second"), "{}", ended.err);
    let after = profiles(&stand);
    assert_eq!((after.len(), &after[0], &after[1]["observed"]["folded"]), (2, &before[0], &FOLDED.into()));
    let run = stand.json(&["show", "last"]);
    assert_eq!((run["run"]["repeats"].as_array().unwrap().len(), &run["run"]["run"]["state"]), (4, &"finished".into()));
}

#[test]
fn what_is_profiled_when_a_killed_run_goes_on_is_prepared_again() {
    let (stand, path) = with_stand_in();
    // It only counts how often it is called.
    let calls = crate::common::Gate::new();
    let suite = stand.suite(
        "order = \"grouped\"\nrepeats = 2\nwarmup = 0",
        &[("fill", &calls.after(99)), ("first", "steady.sh 1 one"), ("second", "steady.sh 1 two")],
    );
    let text = std::fs::read_to_string(&suite).unwrap();
    let only_prepares = text.replacen("name = \"fill\"\n", "name = \"fill\"\nprecondition = true\nrepeats = 1\n", 1);
    std::fs::write(&suite, only_prepares).unwrap();
    let called = || std::fs::read_to_string(calls.path().join("called")).unwrap().lines().count();
    killed_at_the_second_profile(&stand, &path, &suite);
    assert_eq!(called(), 1, "the profiles of one session are made on what its repeats were made on");
    assert_eq!(run_in(&stand, &path, "", &["resume", "--no-progress"]).status, Some(0));
    assert_eq!((called(), profiles(&stand).len()), (2, 2));
    let run = stand.json(&["show", "last"]);
    assert_eq!(run["run"]["repeats"].as_array().unwrap().len(), 5, "it is no repeat of the run");
}

#[test]
fn profiles_travel_with_an_exported_run() {
    let (stand, path) = with_stand_in();
    let suite = two_scenarios(&stand);
    run_in(&stand, &path, "", &["run", &suite, "--profile", "--quiet"]);
    let file = stand.path().join("run.gz");
    let file = file.to_str().unwrap();
    stand.fine(&["export", "last", "-o", file]);
    let other = Stand::new();
    other.fine(&["import", file]);
    assert_eq!(profiles(&other), profiles(&stand));
    let again = other.path().join("again.gz");
    other.fine(&["export", "last", "-o", again.to_str().unwrap()]);
    assert_eq!(std::fs::read(file).unwrap(), std::fs::read(again).unwrap());
    assert!(other.fine(&["import", file]).err.contains("is here already"));
}

#[test]
fn a_wish_that_cannot_be_met_gets_one_line() {
    let (stand, path) = with_stand_in();
    let suite = two_scenarios(&stand);
    run_in(&stand, &path, "", &["run", &suite, "--profile", "--quiet"]);
    for (arguments, told) in [
        (&["profile", "last", "--folded"][..], "give one scenario; there are: \"first\", \"second\""),
        (
            &["profile", "last", "third"],
            "no profiled scenario's name contains \"third\"; there are: \"first\", \"second\"",
        ),
        (&["profile", "last", "first", "--svg", "--folded"], "cannot be used with"),
    ] {
        let ended = stand.run(arguments);
        assert_eq!(ended.status, Some(2), "{arguments:?}");
        assert!(ended.err.contains(told), "{}", ended.err);
    }
    let broken = stand.store().join("profiles");
    let broken = broken.read_dir().unwrap().next().unwrap().unwrap().path().join("00001.json");
    std::fs::write(&broken, "{}").unwrap();
    let ended = stand.run(&["show"]);
    assert_eq!(ended.status, Some(4));
    assert!(
        ended.err.contains("00001.json cannot be read as a profile") && ended.err.contains("remove it"),
        "{}",
        ended.err
    );
    std::fs::remove_file(&broken).unwrap();
    assert_eq!(profiles(&stand).len(), 1);
}
