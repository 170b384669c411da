//! Stands that are frail: compilers that crash, lie or hang, links that are cut at any moment, small disks, and a shell that is not the usual one.
//! Each costs one clear line, and nothing is left there.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::common::sshd::{Mounted, Sshd, parse, quick_compiler};
use crate::common::{Gate, Stand, executable, wait_until};
use crate::elsewhere::{HOSTILE, harmless};

/// The same deed at one file.
fn at_info(deed: &str) -> String {
    format!("case $source in */info.c) {deed} ;; esac")
}

/// Ways in which a compiler fails, the size of the disk that it is on, if that matters, and what is said of it.
fn misdeeds() -> [(&'static str, String, Option<&'static str>, Vec<&'static str>); 8] {
    [
        ("crashes", at_info("kill -SEGV $$"), None, vec!["bad was ended by signal 11", "probe/src/machine/info.c"]),
        (
            "says that it crashed",
            at_info("echo \"$source:5:1: internal compiler error: Segmentation fault\" >&2; exit 4"),
            None,
            vec!["bad does not compile probe/src/machine/info.c", "info.c:5:1: internal compiler error: Segmentation fault"],
        ),
        (
            "says more than is kept",
            // What would be told comes when a mebibyte is full.
            at_info(
                "long=$(printf '%010000d' 0); n=0; { echo 'a first word'; \
                 while [ $n -lt 200 ]; do echo \"$long\"; n=$((n + 1)); done; echo \"error $long\"; } >&2; exit 1",
            ),
            None,
            vec!["bad does not compile probe/src/machine/info.c: a first word"],
        ),
        (
            "does something to a terminal",
            at_info(&format!("printf '%s\\n' '{HOSTILE}' >&2; exit 1")),
            None,
            vec!["bad does not compile probe/src/machine/info.c", "txet"],
        ),
        ("is no compiler", "exit 0".into(), None, vec!["bad says that all is well", "is it a C compiler?"]),
        (
            "builds what does not start",
            "[ -n \"$source\" ] || { printf '#!/bin/sh\\nkill -SEGV $$\\n' >\"$output\"; /bin/chmod +x \"$output\"; exit; }"
                .into(),
            None,
            vec!["what bad built does not run here"],
        ),
        (
            "hangs",
            "case $source in kuzma/*) /bin/sleep 98765 ;; esac".into(),
            None,
            vec!["bad did not end within 4s and was killed", "it was compiling kuzma/src/", "STEND_BUILD_TIME"],
        ),
        (
            "fills the disk",
            at_info("/bin/dd if=/dev/zero bs=1M count=64 of=\"$output\" || exit 1"),
            Some("size=8m"),
            vec!["bad does not compile probe/src/machine/info.c", "No space left on device"],
        ),
    ]
}

/// Who hangs is not waited for longer than it takes; the others may be as slow as the machine makes them.
fn build_time(misdeed: &str) -> &'static str {
    if misdeed == "hangs" { "4s" } else { "1h" }
}

#[test]
fn a_compiler_that_fails_there_is_named_with_its_file_and_its_first_error() {
    let Some(sshd) = Sshd::new() else { return };
    let suite = sshd.suite("0.05");
    for (what, deed, disk, parts) in misdeeds() {
        sshd.put_program("bad", &quick_compiler("bad 1", &deed));
        fs::create_dir_all(sshd.there()).unwrap();
        let _mounted = disk.map(|options| Mounted::new(&sshd.there(), options));
        let run = ["run", &suite, "--on", "stand", "--cc", "bad", "--even-if-unfit"];
        let ended = crate::common::ended(sshd.command(&run).env("STEND_BUILD_TIME", build_time(what)));
        assert_eq!(ended.status, Some(4), "{what}: {}", ended.err);
        let last = ended.err.lines().last().unwrap_or_default();
        let all = last.contains("stand: ") && parts.iter().all(|part| last.contains(part));
        assert!(all && harmless(last), "{what}: {parts:?}\n{}", ended.err);
        wait_until("nothing is left there", || sshd.left().is_empty());
        wait_until("nothing runs there", || sshd.running().is_empty() && !is_running("sleep 98765"));
    }
    // What holds locks is built before the rest, in the same time.
    sshd.put_program("bad", &quick_compiler("bad 1", "case $output in *stend-lock) /bin/sleep 98765 ;; esac"));
    let run = ["run", &suite, "--on", "stand", "--cc", "bad", "--even-if-unfit"];
    let ended = crate::common::ended(sshd.command(&run).env("STEND_BUILD_TIME", "4s"));
    let last = ended.err.lines().last().unwrap_or_default();
    assert!(
        last.contains("bad did not build what holds locks within 4s") && last.contains("STEND_BUILD_TIME"),
        "{last}"
    );
    wait_until("nothing runs there", || sshd.running().is_empty() && !is_running("sleep 98765"));
    assert!(parse(&sshd.fine(&["list", "--json"]).out)["runs"].as_array().unwrap().is_empty(), "nothing was begun");
    // As one of two sides, after the other one was built.
    sshd.put_program("cc", &quick_compiler("good 1", ""));
    sshd.put_program("bad", &quick_compiler("bad 1", &at_info("echo 'x.c:1: error: no such luck' >&2; exit 1")));
    let ab = ["run", &suite, "--on", "stand", "--even-if-unfit", "--ab", "cc=cc", "cc=bad"];
    sshd.refuses(&ab, 4, &["--ab: side \"cc=bad\"", "bad does not compile probe/src/machine/info.c", "no such luck"]);
    assert!(sshd.left().iter().all(|name| name.starts_with("build-")), "{:?}", sshd.left());
    assert!(parse(&sshd.fine(&["list", "--json"]).out)["runs"].as_array().unwrap().is_empty(), "nothing was begun");
}

#[test]
fn a_compiler_that_fails_here_is_named_with_its_file_and_its_first_error() {
    let stand = Stand::new();
    let work = stand.path().join("work");
    let bad = stand.path().join("bad");
    let path = format!("{}:{}", stand.path().display(), std::env::var("PATH").unwrap());
    // There is a disk for each of these tests there.
    for (what, deed, _, parts) in misdeeds().into_iter().filter(|(_, _, disk, _)| disk.is_none()) {
        executable(&bad, &quick_compiler("bad 1", &deed));
        let mut run = stand.command(&["run", "summit", "--cc", "bad", "--even-if-unfit"]);
        let ended = crate::common::ended(run.env("STEND_BUILD_TIME", build_time(what)).env("PATH", &path));
        assert_eq!(ended.status, Some(4), "{what}: {}", ended.err);
        let last = ended.err.lines().last().unwrap_or_default();
        assert!(parts.iter().all(|part| last.contains(part)) && harmless(last), "{what}: {parts:?}\n{}", ended.err);
        wait_until("nothing is left", || names(&work).iter().all(|name| !name.starts_with("build")));
        wait_until("nothing runs", || !is_running("sleep 98765"));
    }
}

#[test]
fn two_compilers_there_are_compared_and_both_are_named() {
    let Some(sshd) = Sshd::new() else { return };
    let suite = sshd.suite("0.02");
    sshd.put_program("old", &quick_compiler("lcc:1.25.14:May-01-2020:e2k-v4-linux", ""));
    sshd.put_program("new", &quick_compiler("lcc:1.25.16:May-01-2021:e2k-v4-linux", ""));
    let sides = ["name=old;cc=old;cflags=-O2", "name=new;cc=new -O3"];
    let run = ["run", &suite, "--on", "stand", "--cc", "old", "--even-if-unfit", "--no-progress", "--ab"];
    let ended = sshd.fine(&[&run[..], &sides].concat());
    for part in [
        "new differs from old",
        "compiler: lcc:1.25.14:May-01-2020:e2k-v4-linux; like gcc 9.3.0 → lcc:1.25.16:May-01-2021:e2k-v4-linux; like gcc 9.3.0",
        "compiler flags: -O2 → -O3",
    ] {
        assert!(ended.out.contains(part), "`{part}` is not in:\n{}", ended.out);
    }
    assert!(!ended.out.contains("and more"), "two lines of a version: {}", ended.out);
    assert_eq!(sshd.builds().len(), 3, "the run's own and two sides': {:?}", sshd.builds());
    let shown = parse(&sshd.fine(&["show", "--json"]).out);
    let run = &shown["run"]["run"];
    assert_eq!(run["machine"]["software"]["compiler"], "lcc:1.25.14:May-01-2020:e2k-v4-linux\nlike gcc 9.3.0");
    assert_eq!(run["sides"][1]["found"]["built"]["flags"], "-std=c11 -O2 -O3");
    sshd.fine(&["clean", "--on", "stand"]);
    assert!(!sshd.there().exists(), "{:?}", sshd.left());
}

#[test]
fn a_run_goes_on_with_its_own_compiler_or_not_at_all() {
    let Some(sshd) = Sshd::new() else { return };
    let (gate, suite) = (sshd.gate(1), sshd.gated_suite());
    sshd.put_program("own", &quick_compiler("own 1", ""));
    let mut run = sshd.command(&["run", &suite, "--on", "stand", "--cc", "own", "--cflags=-O3", "--even-if-unfit"]);
    let mut run = run.stdout(Stdio::null()).spawn().unwrap();
    gate.wait_until_reached();
    run.kill().unwrap();
    run.wait().unwrap();
    wait_until("nothing runs there any more", || sshd.running().is_empty());
    sshd.put_program("own", &quick_compiler("own 2", ""));
    sshd.refuses(&["resume", "--even-if-unfit"], 4, &["cannot go on", "compiler: own 1; like gcc 9.3.0 → own 2"]);
    sshd.put_program("own", &quick_compiler("own 1", ""));
    gate.open();
    sshd.fine(&["resume", "--even-if-unfit", "--no-progress"]);
    let shown = parse(&sshd.fine(&["show", "--json"]).out);
    assert_eq!(shown["run"]["run"]["build"]["program"], "own");
    assert_eq!(shown["run"]["run"]["machine"]["software"]["compiler_flags"], "-O3");
}

#[test]
fn a_build_ends_with_the_link_and_with_the_lab_and_leaves_nothing() {
    let Some(sshd) = Sshd::new() else { return };
    let suite = sshd.suite("0.05");
    let gate = Gate::new();
    let (waits, open) = (gate.path().join("waits"), gate.path().join("open"));
    let deed = format!(": >{}; while ! [ -e {} ]; do /bin/sleep 0.05; done", waits.display(), open.display());
    sshd.put_program("cc", &quick_compiler("slow 1", &at_info(&deed)));
    for ends in ["link", "lab"] {
        let _ = fs::remove_file(&waits);
        let mut run = sshd.command(&["run", &suite, "--on", "stand", "--even-if-unfit", "--no-progress"]);
        let mut run = run.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        gate.wait_until_reached();
        assert!(sshd.left().iter().any(|name| name.starts_with("building-")), "{:?}", sshd.left());
        if ends == "link" {
            sshd.link.cut();
            let ended = run.wait_with_output().unwrap();
            let words = String::from_utf8_lossy(&ended.stderr).into_owned();
            assert_eq!(ended.status.code(), Some(4), "{words}");
            assert!(words.lines().last().unwrap().contains("stand: "), "{words}");
            sshd.link.mend();
        } else {
            run.kill().unwrap();
            run.wait().unwrap();
        }
        wait_until("what was begun is removed", || sshd.left().is_empty());
        wait_until("nothing runs there", || sshd.running().is_empty());
    }
    gate.open();
    sshd.fine(&["run", &suite, "--on", "stand", "--even-if-unfit", "--no-progress"]);
}

#[test]
fn a_sampler_that_ends_is_started_again() {
    let Some(sshd) = Sshd::new() else { return };
    sshd.put_program("cc", &quick_compiler("quick 1", ""));
    // Some repeats come after it has ended: one of them notices.
    let (gate, suite) = (sshd.gate(0), sshd.gated_suite());
    let text = fs::read_to_string(&suite).unwrap().replace("sample_hertz = 0", "sample_hertz = 10");
    fs::write(&suite, text.replace("repeats = 6", "repeats = 60")).unwrap();
    let mut run = sshd.command(&["run", &suite, "--on", "stand", "--even-if-unfit", "--no-progress"]);
    let run = run.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    gate.wait_until_reached();
    let sampler =
        || processes().into_iter().find(|(_, words)| words.contains(&own(&sshd)) && words.contains(" sample --hertz"));
    wait_until("there is a sampler", || sampler().is_some());
    let process = rustix::process::Pid::from_raw(sampler().unwrap().0).unwrap();
    rustix::process::kill_process(process, rustix::process::Signal::KILL).unwrap();
    gate.open();
    let ended = run.wait_with_output().unwrap();
    let words = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert_eq!(ended.status.code(), Some(0), "{words}");
    assert!(words.contains("the sampler ended") && words.contains("it is started again"), "{words}");
    wait_until("nothing runs there", || sshd.running().is_empty());
}

#[test]
fn busybox_is_shell_and_tar_enough() {
    let Some(sshd) = Sshd::new() else { return };
    let Some(busybox) = ["/bin/busybox", "/usr/bin/busybox"].into_iter().find(|path| Path::new(path).exists()) else {
        assert!(std::env::var_os("CI").is_none(), "under CI nothing may be skipped: apt-get install busybox");
        eprintln!("skipped: apt-get install busybox");
        return;
    };
    for program in ["sh", "tar"] {
        sshd.put_program(program, busybox);
    }
    let suite = sshd.suite("0.05");
    sshd.put_program("bad", &quick_compiler("bad 1", &at_info("exit 1")));
    let bad = ["run", &suite, "--on", "stand", "--cc", "bad", "--even-if-unfit"];
    // Some of its shells have applets without a PATH. Where it has no rm, what a first build leaves that fails is said.
    let removes = Command::new(busybox).args(["sh", "-c", "rm -f /nowhere"]).env("PATH", "/nowhere").status().unwrap();
    let left = ["what was begun is left", "there is no rm here"];
    sshd.refuses(
        &bad,
        4,
        &[&["bad does not compile probe/src/machine/info.c"], &left[..if removes.success() { 0 } else { 2 }]].concat(),
    );
    let begun = sshd.left().len();
    sshd.put_program("cc", &quick_compiler("quick 1", ""));
    sshd.fine(&["run", &suite, "--on", "stand", "--even-if-unfit", "--no-progress"]);
    let of = |fingerprint: &str| {
        let machine = parse(fingerprint)["machine"].clone();
        let mut software = machine["software"].clone();
        for other in ["tools", "compiler"] {
            software.as_object_mut().unwrap().remove(other);
        }
        (machine["hardware"].clone(), software)
    };
    let (there, here) = (sshd.fine(&["probe", "--on", "stand", "--json"]).out, sshd.fine(&["probe", "--json"]).out);
    assert_eq!(of(&there), of(&here), "the same machine: {there}");
    sshd.refuses(&bad, 4, &["bad does not compile probe/src/machine/info.c"]);
    assert_eq!(sshd.left().len(), begun + 1, "nothing is added to it but the build: {:?}", sshd.left());
    sshd.fine(&["clean", "--on", "stand"]);
    assert!(!sshd.there().exists(), "{:?}", sshd.left());
}

#[test]
fn a_disk_that_fills_while_measuring_costs_no_repeat_and_can_be_cleaned() {
    let Some(sshd) = Sshd::new() else { return };
    sshd.put_program("cc", &quick_compiler("quick 1", ""));
    let (gate, suite) = (sshd.gate(1), sshd.gated_suite());
    fs::create_dir_all(sshd.there()).unwrap();
    let _mounted = Mounted::new(&sshd.there(), "size=8m");
    let mut run = sshd.command(&["run", &suite, "--on", "stand", "--even-if-unfit", "--no-progress"]);
    let run = run.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    gate.wait_until_reached();
    let full = fs::write(sshd.there().join("filler"), vec![1; 64 << 20]);
    assert!(full.is_err(), "the disk is full");
    gate.open();
    let ended = run.wait_with_output().unwrap();
    let words = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert_eq!(ended.status.code(), Some(0), "{words}");
    let shown = parse(&sshd.fine(&["show", "--json"]).out);
    let valid = shown["run"]["repeats"].as_array().unwrap().iter().filter(|repeat| repeat["outcome"] == "valid");
    assert_eq!(valid.count(), 6);
    // With the disk still full.
    sshd.fine(&["clean", "--on", "stand"]);
    assert_eq!(sshd.left(), ["filler"]);
}

fn own(sshd: &Sshd) -> String {
    sshd.stand.path().display().to_string()
}

fn names(directory: &Path) -> Vec<String> {
    let names = fs::read_dir(directory).into_iter().flatten().flatten();
    names.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

fn is_running(words: &str) -> bool {
    let found = Command::new("pgrep").args(["-f", words]).output().unwrap();
    !found.stdout.is_empty()
}

/// All processes with their words.
fn processes() -> Vec<(i32, String)> {
    let numbers = names(Path::new("/proc")).into_iter().filter_map(|name| name.parse().ok());
    let words = |process: i32| {
        let line = fs::read(format!("/proc/{process}/cmdline")).ok()?;
        Some((process, String::from_utf8_lossy(&line).replace('\0', " ")))
    };
    numbers.filter_map(words).collect()
}
