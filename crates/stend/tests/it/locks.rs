//! The lock of a machine that labs reach over links: who holds it, and what becomes of it when a link drops.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use crate::common::sshd::{Sshd, parse};
use crate::common::{Gate, probe, wait_until};

/// Another lab that holds a machine's lock.
struct Other(Child);

impl Other {
    const NAME: &str = "anna@desk, process 4711, since 2026-11-22 10:00 UTC";

    fn on(sshd: &Sshd) -> Self {
        let mut command = Command::new(probe());
        command
            .args(["lock", "--shared", "--holder", Self::NAME, "--file"])
            .arg(sshd.stand.path().join("machine.lock"));
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "locked\n");
        Self(child)
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A run that waits at a gate in its first repeat.
fn measuring(sshd: &Sshd) -> (Child, Gate) {
    sshd.with_build();
    let gate = sshd.gate(0);
    let child = started(sshd, &["run", &sshd.gated_suite(), "--on", "stand", "--even-if-unfit", "--no-progress"]);
    gate.wait_until_reached();
    (child, gate)
}

fn started(sshd: &Sshd, arguments: &[&str]) -> Child {
    sshd.command(arguments).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

fn ended(child: Child) -> (Option<i32>, String) {
    let output = child.wait_with_output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// Yet another lab, with a store of its own and another name for the machine, is told who measures there.
fn refused_because_of(sshd: &Sshd, parts: &[&str]) {
    let suite = sshd.suite("0.05");
    let mut second = sshd.command(&["run", &suite, "--on", "other-name", "--even-if-unfit"]);
    let second = crate::common::ended(second.env("STEND_STORE", sshd.stand.path().join("another")));
    assert_eq!(second.status, Some(4), "{}", second.err);
    let line = second.err.lines().last().unwrap();
    assert!(
        line.contains("another stend measures on other-name") && parts.iter().all(|part| line.contains(part)),
        "{line}"
    );
}

fn valid(sshd: &Sshd) -> usize {
    let shown = parse(&sshd.fine(&["show", "--json"]).out);
    let repeats = shown["run"]["repeats"].as_array().unwrap().clone();
    repeats.iter().filter(|repeat| repeat["outcome"] == "valid").count()
}

#[test]
fn two_labs_see_each_other() {
    let Some(sshd) = Sshd::new() else { return };
    let (mut first, _gate) = measuring(&sshd);
    refused_because_of(&sshd, &[&format!("process {}, since 20", first.id()), "machine.lock"]);
    sshd.refuses(&["clean", "--on", "stand"], 4, &["another stend measures on stand"]);
    first.kill().unwrap();
    first.wait().unwrap();
    wait_until("a killed lab leaves nothing running", || sshd.running().is_empty());
    sshd.fine(&["clean", "--on", "stand"]);
    assert!(!sshd.there().exists());
}

/// By a wrong STEND_LOCK, on this machine and on another.
#[test]
fn a_file_that_is_no_lock_is_refused_and_left_as_it_is() {
    let Some(sshd) = Sshd::new() else { return };
    sshd.with_build();
    let file = sshd.stand.path().join("machine.lock");
    std::fs::write(&file, "precious\n").unwrap();
    let suite = sshd.suite("0.05");
    for arguments in [&["check"][..], &["run", &suite, "--even-if-unfit"], &["clean"]] {
        let words = |ended: &crate::common::Ended| format!("{}{}", ended.out, ended.err);
        let there = sshd.run(&[arguments, &["--on", "stand"]].concat());
        let here = crate::common::ended(sshd.command(arguments).env("STEND_LOCK", &file).env("STEND_PROBE", probe()));
        for ended in [there, here] {
            assert_eq!(ended.status, Some(4), "{arguments:?}: {}", words(&ended));
            assert!(
                words(&ended).contains("machine.lock is no lock: it holds data"),
                "{arguments:?}: {}",
                words(&ended)
            );
        }
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "precious\n", "{arguments:?}");
    }
}

#[test]
fn check_says_who_measures_there_and_takes_nothing_away() {
    let Some(sshd) = Sshd::new() else { return };
    sshd.has_all_programs();
    let lock = sshd.stand.path().join("machine.lock");
    let of_labs = |shown: &str| {
        let line = shown.lines().find(|line| line.contains("other labs: ")).unwrap_or_else(|| panic!("{shown}"));
        line.to_owned()
    };
    let check = || sshd.run(&["check", "--on", "stand"]);
    assert!(of_labs(&check().out).starts_with("fine     other labs: none"));
    assert!(!lock.exists() && sshd.builds().is_empty(), "a look leaves nothing");
    let other = Other::on(&sshd);
    assert!(of_labs(&check().out).starts_with("warning  other labs: not known: "), "nothing there could tell");
    drop(other);
    sshd.with_build();
    let other = Other::on(&sshd);
    let checked = check();
    assert_eq!(checked.status, Some(4), "{}", checked.out);
    let line = of_labs(&checked.out);
    assert!(
        line.starts_with("unfit    other labs: another stend measures on stand (") && line.contains(Other::NAME),
        "{line}"
    );
    let findings = parse(&sshd.run(&["check", "--on", "stand", "--json"]).out);
    let labs = findings["findings"].as_array().unwrap().iter().find(|one| one["condition"] == "lab_at_work");
    assert_eq!(labs.unwrap()["state"], "unfit");
    drop(other);
    assert!(of_labs(&check().out).starts_with("fine     other labs: none"));
    // The same of this machine.
    let child = sshd.command(&["check"]).env("STEND_LOCK", &lock).env("STEND_PROBE", probe()).output().unwrap();
    assert!(of_labs(&String::from_utf8_lossy(&child.stdout)).starts_with("fine "));
    let _other = Other::on(&sshd);
    let child = sshd.command(&["check"]).env("STEND_LOCK", &lock).env("STEND_PROBE", probe()).output().unwrap();
    assert!(of_labs(&String::from_utf8_lossy(&child.stdout)).contains("another stend measures on this machine ("));
}

#[test]
fn after_a_link_dropped_resume_takes_the_lock_again_unless_another_lab_has_it() {
    let Some(sshd) = Sshd::new() else { return };
    let (run, gate) = measuring(&sshd);
    sshd.link.cut();
    let (status, words) = ended(run);
    assert_eq!(status, Some(4), "{words}");
    wait_until("nothing runs there any more", || sshd.running().is_empty());
    let other = Other::on(&sshd);
    sshd.link.mend();
    let resume = ["resume", "--even-if-unfit", "--no-progress"];
    sshd.refuses(&resume, 4, &["another stend measures on stand", Other::NAME]);
    drop(other);
    gate.start_over();
    let resumed = started(&sshd, &resume);
    gate.wait_until_reached();
    refused_because_of(&sshd, &[&format!("process {}, since 20", resumed.id()), "machine.lock"]);
    gate.open();
    let (status, words) = ended(resumed);
    assert_eq!(status, Some(0), "{words}");
    assert_eq!(valid(&sshd), 6);
}

#[test]
fn a_link_that_comes_back_at_once_costs_a_repeat_and_the_lock_is_taken_again() {
    let Some(sshd) = Sshd::new() else { return };
    let (run, gate) = measuring(&sshd);
    sshd.link.hold();
    wait_until("nothing runs there any more", || sshd.running().is_empty());
    gate.start_over();
    sshd.link.mend();
    gate.wait_until_reached();
    refused_because_of(&sshd, &[&format!("process {}, since 20", run.id())]);
    gate.open();
    let (status, words) = ended(run);
    assert_eq!(status, Some(0), "{words}");
    assert!(words.contains("failed: "), "{words}");
    assert_eq!(valid(&sshd), 6);
}

#[test]
fn a_lab_that_was_quicker_when_the_link_came_back_is_named() {
    let Some(sshd) = Sshd::new() else { return };
    let (run, gate) = measuring(&sshd);
    sshd.link.hold();
    wait_until("nothing runs there any more", || sshd.running().is_empty());
    let other = Other::on(&sshd);
    sshd.link.mend();
    let (status, words) = ended(run);
    assert_eq!(status, Some(4), "{words}");
    let last = words.lines().last().unwrap_or_default();
    assert!(last.contains("another stend measures on stand") && last.contains(Other::NAME), "{words}");
    assert!(words.contains("go on with: "), "{words}");
    drop(other);
    gate.open();
    sshd.fine(&["resume", "--even-if-unfit", "--no-progress"]);
    assert_eq!(valid(&sshd), 6);
}
