//! Two states of one machine, in sessions that take turns: what the commands of `--switch` do is what the instrument sees.

use std::fs;
use std::process::Stdio;

use crate::common::sshd::{Sshd, parse};
use crate::common::{Gate, Stand, wait_until};
use serde_json::Value;

/// A suite of one scenario that is twice as fast where the file `state` there holds `new`, and notes in `measured` what it found.
pub(crate) fn suite(stand: &Stand, repeats: u32) -> String {
    let of_states = "#!/bin/sh
state=$(cat state 2>/dev/null); echo \"$state\" >>measured
case $state in new) wall=500000;; *) wall=1000000;; esac
echo '{\"event\":\"begin\",\"wire\":1,\"instrument\":\"states\",\"version\":\"1\",\"parameters\":{}}'
echo '{\"event\":\"repeat\",\"wall_ns\":'$wall',\"work\":{\"bytes\":1048576},\"check\":\"passed\",\"evidence\":\"none\"}'
echo '{\"event\":\"end\",\"repeats\":1}'\n";
    crate::common::executable(&stand.path().join("states.sh"), of_states);
    let text = fs::read_to_string(stand.suite(&format!("repeats = {repeats}\nwarmup = 0"), &[("one", "steady.sh 1")]));
    let own = format!("command = [\"sh\", \"-c\", \"cd {0} && exec ./states.sh\"]", stand.path().display());
    let lines = text
        .unwrap()
        .lines()
        .map(|line| if line.starts_with("command") { own.clone() } else { line.into() })
        .collect::<Vec<_>>();
    let path = stand.path().join("states.toml");
    fs::write(&path, lines.join("\n").replace("\"test\"", "\"states\"")).unwrap();
    path.to_str().unwrap().to_owned()
}

pub(crate) fn labels(stand: &Stand) -> Vec<String> {
    let runs = stand.json(&["list"])["runs"].as_array().unwrap().clone();
    let mut labels: Vec<_> = runs.iter().filter_map(|run| run["label"].as_str().map(str::to_owned)).collect();
    labels.sort();
    labels
}

fn titles(table: &Value) -> Vec<&Value> {
    table["columns"].as_array().unwrap().iter().map(|column| &column["title"]).collect()
}

#[test]
fn two_states_take_turns_and_are_compared() {
    let stand = Stand::new();
    let suite = suite(&stand, 2);
    let run = ["run", &*suite, "--no-progress", "--switch", "old=echo old >state", "--switch", "new=echo new >state"];
    let made = parse(&stand.fine(&[&run[..], &["--json"]].concat()).out)["table"].clone();
    assert_eq!(titles(&made), ["old", "new"]);
    assert_eq!(made["columns"][1]["grade"], "sessions_in_turns");
    let against = &made["rows"][0]["cells"][1]["against_base"];
    assert_eq!((&against["verdict"], &against["own_count"]), (&"better".into(), &5.into()), "{against:#}");
    let all: Vec<_> = ["new", "old"].iter().flat_map(|name| (1..=5).map(move |n| format!("{name}-{n}"))).collect();
    assert_eq!(labels(&stand), all);
    let measured = || fs::read_to_string(stand.path().join("measured")).unwrap();
    assert_eq!(measured(), "old\nold\nnew\nnew\n".repeat(5));
    // The names of the states are those of all their sessions.
    let compared = |words: &[&str]| stand.json(&[&["compare"], words].concat())["table"].clone();
    assert_eq!(compared(&["old", "new"])["rows"], made["rows"]);
    assert_eq!(titles(&compared(&["new", "old", "--baseline", "old"])), ["old", "new"]);
    stand.refused(&["compare", "old", "old"], &["named twice"]);
    stand.refused(&["show", "old"], &["old-1, old-2", "name one of them"]);
    let notes = compared(&["old", "new"])["notes"].clone();
    assert!(!notes.as_array().unwrap().iter().any(|note| note["kind"] == "few_repeats"), "ten of them: {notes:#}");
    // Nothing is made twice; more sessions add to those that are there.
    let again = stand.fine(&run);
    assert!(again.err.contains("all sessions are there already"), "{}", again.err);
    assert_eq!(measured().lines().count(), 20);
    stand.fine(&[&run[..], &["--sessions", "6"]].concat());
    assert_eq!((measured().lines().count(), labels(&stand).len()), (24, 12));
}

#[test]
fn the_same_command_goes_on_after_a_reboot() {
    let stand = Stand::new();
    let suite = suite(&stand, 1);
    let (there, back) = (stand.path().join("there"), stand.path().join("back"));
    let new = "new=[ -e back ] || { touch there; while :; do sleep 1; done; }; echo new >state";
    let run = ["run", &*suite, "--no-progress", "--sessions", "2", "--switch", "old=echo old >state", "--switch", new];
    let mut child = stand.command(&run).stdout(Stdio::null()).spawn().unwrap();
    wait_until("the machine goes down", || there.exists());
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(labels(&stand), ["old-1"]);
    fs::write(back, "").unwrap();
    let table = parse(&stand.fine(&[&run[..], &["--json"]].concat()).out)["table"].clone();
    assert_eq!(titles(&table), ["old", "new"]);
    assert_eq!(labels(&stand), ["new-1", "new-2", "old-1", "old-2"]);
    assert_eq!(fs::read_to_string(stand.path().join("measured")).unwrap(), "old\nnew\n".repeat(2));
}

/// By a reboot that fails the machine stays as it is, and only its words tell.
#[test]
fn a_command_that_may_not_have_switched_is_told() {
    let stand = Stand::new();
    let suite = suite(&stand, 1);
    let run = ["run", &*suite, "--no-progress", "--sessions", "2", "--switch", "old=true", "--switch"];
    let made = stand.fine(&[&run[..], &["new=no-such-reboot; sleep 0"]].concat());
    let said = |part: &str| made.err.lines().filter(|line| line.contains(part)).count();
    assert_eq!((said("no-such-reboot"), said("differs between old and new")), (2, 1), "{}", made.err);
    assert_eq!(said("no solid mark"), 1, "{}", made.err);
}

#[test]
fn a_session_on_a_machine_that_has_changed_is_told_at_once() {
    let stand = Stand::new();
    let suite = suite(&stand, 1);
    let compiler = "#!/bin/sh\ncat \"${0%/*}/version\"\n";
    crate::common::executable(&stand.path().join("cc"), compiler);
    fs::write(stand.path().join("version"), "cc 1\n").unwrap();
    let path = format!("{}:{}", stand.path().display(), std::env::var("PATH").unwrap());
    let old = "old=[ ! -e seen ] || echo cc 2 >version; touch seen";
    let run = ["run", &*suite, "--no-progress", "--sessions", "2", "--switch", old, "--switch", "new=true"];
    let ended = stand.command(&run).env("PATH", path).output().unwrap();
    let said = String::from_utf8(ended.stderr).unwrap();
    let told: Vec<_> = said.lines().filter(|line| line.contains("not sessions of one column")).collect();
    assert!(ended.status.success() && told.len() == 2, "{said}");
    assert!(told[0].contains("old-2 differs from old-1") && told[0].contains("rm old-2"), "{said}");
}

#[test]
fn a_session_that_was_not_finished_is_measured_anew() {
    let stand = Stand::new();
    let gate = Gate::new();
    let suite = stand.suite("repeats = 2\nwarmup = 0", &[("one", &gate.after(1))]);
    let run = ["run", &suite, "--no-progress", "--sessions", "1", "--switch", "old=true", "--switch", "new=true"];
    let mut child = stand.command(&run).stdout(Stdio::null()).spawn().unwrap();
    gate.wait_until_reached();
    child.kill().unwrap();
    child.wait().unwrap();
    gate.open();
    let again = stand.fine(&run);
    assert!(again.err.contains("no longer old-1"), "{}", again.err);
    assert_eq!(labels(&stand), ["new-1", "old-1"]);
    let runs = stand.json(&["list"])["runs"].clone();
    let states: Vec<_> = runs.as_array().unwrap().iter().map(|run| (&run["state"], run["label"].is_null())).collect();
    assert_eq!(states.iter().filter(|state| **state == (&"open".into(), true)).count(), 1, "{runs:#}");
    assert_eq!(states.len(), 3);
}

/// The command's own connection ends as where a machine reboots, and the machine is back later.
#[test]
fn a_machine_that_reboots_is_waited_for() {
    let Some(desk) = Sshd::new() else { return };
    desk.with_build();
    desk.put_program("touch", &crate::common::on_path("touch"));
    desk.put_program("sleep", &crate::common::on_path("sleep"));
    let suite = desk.suite("0.01");
    let down = desk.stand.path().join("down");
    let new = format!("new=[ -e {0} ] || {{ touch {0}; while :; do sleep 1; done; }}", down.display());
    let run = ["run", &suite, "--on", "stand", "--sessions", "1", "-r", "1", "--even-if-unfit", "--no-progress"];
    let said = desk.stand.path().join("said");
    let mut child = desk
        .command(&[&run[..], &["--switch", "old=true", "--switch", &new]].concat())
        .stdout(Stdio::null())
        .stderr(fs::File::create(&said).unwrap())
        .spawn()
        .unwrap();
    wait_until("the machine goes down", || down.exists());
    desk.link.cut();
    wait_until("the lab waits for it", || {
        fs::read_to_string(&said).unwrap().contains("waiting for stand to come back")
    });
    desk.link.mend();
    let status = child.wait().unwrap();
    assert_eq!(status.code(), Some(0), "{}", fs::read_to_string(&said).unwrap());
    let runs = parse(&desk.fine(&["list", "--json"]).out)["runs"].clone();
    assert_eq!(runs.as_array().unwrap().len(), 2, "{runs:#}");
}

#[test]
fn what_cannot_be_switched_is_refused_and_nothing_is_measured() {
    let stand = Stand::new();
    let suite = suite(&stand, 1);
    let (old, new) = (["--switch", "old=true"], ["--switch", "new=true"]);
    fn with<'a>(suite: &'a str, more: &[&'a str]) -> Vec<&'a str> {
        [&["run", suite, "--no-progress"], more].concat()
    }
    for (more, says) in [
        (&old[..], "takes two"),
        (&[old, new, ["--switch", "other=true"]].concat(), "takes two"),
        (&[old, old].concat(), "both states are called old"),
        (&[old, ["--switch", "new="]].concat(), "the command is empty"),
        (&[old, ["--switch", "new"]].concat(), "NAME=VALUE"),
        (&[old, ["--switch", "two words=true"]].concat(), "is no label"),
        (&[old, ["--switch", "local=true"]].concat(), "name of a machine"),
        (&[old, new, ["--on", "local,b@elsewhere"]].concat(), "for one machine"),
        (&[old, new, ["--label", "x"]].concat(), "--label"),
    ] {
        stand.refused(&with(&suite, more), &[says]);
    }
    let dry = stand.fine(&with(&suite, &[&old[..], &["--switch", "new=touch touched", "--dry-run"]].concat()));
    assert!(dry.out.contains("old: true") && dry.out.contains("new: touch touched"), "{}", dry.out);
    assert!(!stand.path().join("touched").exists());
    let failing = stand.run(&with(&suite, &["--switch", "old=echo so >&2; exit 3", "--switch", "new=true"]));
    assert_eq!(failing.status, Some(4), "{}", failing.err);
    assert!(failing.err.contains("status 3: so"), "{}", failing.err);
    assert!(labels(&stand).is_empty() && !stand.path().join("measured").exists());
    // What another run is called is not taken from it.
    stand.fine(&with(&suite, &["--label", "old-1"]));
    let other = stand.suite("repeats = 1\nwarmup = 0", &[("one", "steady.sh 1")]);
    stand.refused(&["run", &other, old[0], old[1], new[0], new[1]], &["old-1 is run", "choose another name"]);
    // On a busy machine its repeats may not count.
    let made = stand.run(&["run", "-r", "1", "--even-if-unfit", "--label", "one-1", "--command", "true"]);
    assert!(matches!(made.status, Some(0 | 3)), "{}", made.err);
    let other = ["run", "--command", "exit 0", "--switch", "one=true", "--switch", "two=true"];
    stand.refused(&other, &["one-1 is run", "other work"]);
}
