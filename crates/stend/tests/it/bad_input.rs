//! Bad input gets one clear line: what, where, what would be right; and its exit status.

use crate::common::{Ended, Gate, NO_LIMITS, Stand, executable, in_own_mounts, probe};

fn says(ended: &Ended, status: i32, parts: &[&str]) {
    assert_eq!(ended.status, Some(status), "{}\n{}", ended.out, ended.err);
    for part in parts {
        assert!(ended.err.contains(part), "`{part}` is not in:\n{}", ended.err);
    }
}

fn one_line(ended: &Ended) {
    assert_eq!(ended.err.trim().lines().count(), 1, "{}", ended.err);
}

#[test]
fn an_unknown_suite() {
    let ended = Stand::new().run(&["run", "quik"]);
    says(&ended, 2, &["there is no suite \"quik\"", "did you mean \"quick\"?", "path of a TOML file"]);
    one_line(&ended);
    let ended = Stand::new().run(&["run", "./missing.toml"]);
    says(&ended, 2, &["./missing.toml cannot be read"]);
    one_line(&ended);
}

#[test]
fn a_mistake_in_what_is_changed_of_a_suite_names_the_flag_and_not_a_line_of_the_suite() {
    let stand = Stand::new();
    for (arguments, parts) in [
        (&["storage", "--scale", "7"][..], ["--scale 7: ", "above 0 and at most 1"]),
        (&["storage", "--scale", "0"], ["--scale 0: ", "above 0 and at most 1"]),
        (&["pipes", "--scale", "0.5"], ["--scale 0.5: ", "cannot be scaled"]),
        (&["storage", "--only", "nonsense"], ["--only \"nonsense\": ", "there are: "]),
        (&["storage", "--set", "size=1GiB"], ["--set size=1GiB: ", "\"lun_size\""]),
        (&["storage", "--set", "lun_size=many"], ["--set lun_size=many: ", "64KiB"]),
        (&["storage", "--set", "luns=0", "--set", "lun_size=64MiB"], ["--set luns=0: ", "1 to "]),
        (&["quick", "--set", "size"], ["NAME=VALUE", "lun_size="]),
        (&["quick", "-r", "many"], ["--repeats", "whole number"]),
        (&["quick", "--scale", "half"], ["--scale", "a number"]),
        (&["quick", "--layout", "raid6"], ["--layout", "stripe, mirror, raid10"]),
    ] {
        let ended = stand.run(&[&["run", "--dry-run"], arguments].concat());
        says(&ended, 2, &parts);
        one_line(&ended);
        assert!(!ended.err.contains(".toml:"), "{}", ended.err);
    }
}

/// A device never ends.
#[test]
fn of_what_a_person_writes_so_much_is_read_and_no_more() {
    let stand = Stand::new();
    for arguments in [
        &["run", "/dev/zero"][..],
        &["suites", "/dev/zero"],
        &["run", "--fio", "/dev/zero"],
        &["run", "quick", "--target", "/dev/zero"],
    ] {
        let ended = stand.run(arguments);
        says(&ended, 2, &["/dev/zero cannot be read", "4194304"]);
        one_line(&ended);
    }
    std::fs::create_dir_all(stand.store()).unwrap();
    std::fs::write(stand.store().join("hosts.toml"), "# not\n".repeat(1 << 20)).unwrap();
    let ended = stand.run(&["hosts"]);
    says(&ended, 2, &["hosts.toml cannot be read", "4194304"]);
}

#[test]
fn a_suite_with_a_mistake_says_where() {
    let stand = Stand::new();
    for (head, parts) in [
        ("colour = \"red\"", vec!["suite.toml:4:1", "unknown field `colour`"]),
        ("timeout = \"5 fortnights\"", vec!["suite.toml:4:11", "fortnights", "30s"]),
        ("repeats = -1", vec!["suite.toml:4:11"]),
    ] {
        let suite = stand.suite(head, &[("one", "steady.sh 1")]);
        let ended = stand.run(&["run", &suite]);
        says(&ended, 2, &parts);
        one_line(&ended);
    }
    assert!(!stand.store().join("stend.db").exists(), "nothing was made");
}

#[test]
fn a_scenario_with_a_mistake_says_where() {
    let stand = Stand::new();
    let path = stand.suite("", &[("one", "steady.sh 1")]);
    let good = std::fs::read_to_string(&path).unwrap();
    for (from, to, parts) in [
        ("\"B/s\"", "\"B/fortnight\"", vec!["unknown unit \"B/fortnight\"", "cycles/B"]),
        ("\"B/s\"", "\"ns\"", vec!["the unit ns does not fit", "B/s would"]),
        (
            "name = \"one\"",
            "name = \"one\"\nmatrix = { x = { from = 8, to = 2, times = 2 } }",
            vec!["goes from 8 down to 2"],
        ),
        ("name = \"one\"", "name = \"{x}\"", vec!["{x}", "no variable or axis"]),
    ] {
        std::fs::write(&path, good.replacen(from, to, 1)).unwrap();
        let ended = stand.run(&["run", &path]);
        says(&ended, 2, &parts);
        says(&ended, 2, &["suite.toml:"]);
        one_line(&ended);
    }
}

#[test]
fn a_store_of_a_newer_version() {
    let stand = Stand::new();
    std::fs::create_dir(stand.store()).unwrap();
    let newer = rusqlite::Connection::open(stand.store().join("stend.db")).unwrap();
    newer.execute_batch("CREATE TABLE run (id TEXT); PRAGMA user_version = 99").unwrap();
    drop(newer);
    for command in ["list", "show", "run"] {
        let ended = stand.run(&[command]);
        says(&ended, 4, &["written by a newer stend (format 99"]);
        one_line(&ended);
    }
}

#[test]
fn fio_with_parameters_that_make_no_sense() {
    let stand = Stand::new();
    let path = stand.path().join("fio.toml");
    let text = "name = \"t\"\ntitle = \"t\"\n[[scenario]]\nname = \"s\"\ninstrument = \"fio\"\n\
        parameters = { rw = \"sideways\", bs = \"4k\", size = \"1M\", runtime = \"1s\" }\n\
        metrics = [{ name = \"m\", value = \"wall\", unit = \"s\", better = \"lower\" }]\n";
    std::fs::write(&path, text).unwrap();
    let ended = stand.run(&["run", path.to_str().unwrap()]);
    says(&ended, 2, &["fio.toml:3:1: scenario \"s\"", "sideways", "randread"]);
    one_line(&ended);
}

/// Each way in which an instrument goes wrong, and what is said of it.
#[test]
fn instruments_that_go_wrong() {
    for (way, parts) in [
        ("rubbish", vec!["a line that is no event", "Segmentation fault (core dumped)"]),
        ("status", vec!["it ended with status 1: the pump is broken"]),
        ("hang", vec!["it did not end within 1s and was ended"]),
        ("stubborn", vec!["it did not end within 1s and was ended"]),
        ("flood", vec!["it printed more than 100000 lines"]),
        ("killed", vec!["it was killed by signal 9"]),
        ("silent", vec!["it printed no \"begin\""]),
        ("twice", vec!["it printed 2 \"repeat\" events"]),
        ("no-end", vec!["it printed no \"end\""]),
        ("wrong", vec!["does not count: the work was wrong: 3 bytes differ"]),
        ("unchecked", vec!["does not count: the work was not verified", "verification = \"none\""]),
    ] {
        let stand = Stand::new();
        // Long enough on any machine, but for those that wait for the end of it.
        let timeout = if ["hang", "stubborn"].contains(&way) { "timeout = \"1s\"" } else { "" };
        let head = format!("repeats = 1\nwarmup = 0\n{timeout}");
        let suite = stand.suite(&head, &[("bad", &format!("faulty.sh {way}"))]);
        let ended = stand.run(&["run", &suite, "--no-progress"]);
        // What is wrong with the suite is the user's.
        says(&ended, if way == "unchecked" { 2 } else { 3 }, &parts);
        assert!(ended.err.contains("bad: 0 of 1 ("), "{way}: {}", ended.err);
        assert!(!ended.err.contains(" compare "), "{way}: there is nothing to compare: {}", ended.err);
        let shown = stand.json(&["show"]);
        let repeats = shown["run"]["repeats"].as_array().unwrap();
        assert!(!repeats.is_empty(), "{way}: it is kept");
        assert!(repeats.iter().all(|repeat| repeat["outcome"] != "valid"), "{way}");
    }
}

/// It is so in every repeat, so the warm-up is enough to see it.
#[test]
fn a_title_in_a_language_that_the_report_has_not() {
    let stand = Stand::new();
    for key in ["titles", "notes"] {
        let suite = stand.suite(&format!("{key} = {{ rus = \"проба\" }}"), &[("steady", "steady.sh 1")]);
        stand.refused(&["run", &suite], &["suite.toml", key, "\"rus\"", "en, ru"]);
    }
}

#[test]
fn what_does_not_fit_the_suite_is_not_tried_again() {
    let stand = Stand::new();
    let suite = stand.suite("repeats = 10\nwarmup = 1", &[("bad", "faulty.sh unchecked"), ("good", "steady.sh 1")]);
    let ended = stand.run(&["run", &suite, "--no-progress"]);
    says(&ended, 2, &["the work was not verified", "bad: 0 of 10"]);
    let shown = stand.json(&["show", "last"]);
    let repeats = shown["run"]["repeats"].as_array().unwrap();
    let of = |place: u64| repeats.iter().filter(|one| one["scenario"] == place).count();
    assert_eq!((of(0), of(1)), (1, 11), "{}", ended.err);
}

#[test]
fn what_this_machine_cannot_do_is_not_tried_again() {
    let stand = Stand::new();
    let suite = stand.suite("repeats = 10", &[("bad", "faulty.sh cannot"), ("good", "steady.sh 1")]);
    let ended = stand.run(&["run", &suite, "--no-progress"]);
    says(&ended, 3, &["this machine has no pump", "bad: 0 of 10 (it ended with status 4: this machine has no pump)"]);
    assert!(ended.out.contains("this machine has no pump"), "the table says why: {}", ended.out);
    assert_eq!(
        ended.err.matches("bad (warm-up): failed").count() + ended.err.matches("bad: failed").count(),
        1,
        "{}",
        ended.err
    );
}

/// Statuses 2 and 4 refuse for good only where an instrument chose them.
#[test]
fn what_was_ended_or_has_statuses_of_its_own_is_tried_again() {
    for (way, timeout, parts) in [
        ("late", "1s", ["did not end within 1s and was ended", "bad: 0 of 1"]),
        ("babbling", "1h", ["a line that is no event", "Hello!"]),
    ] {
        let stand = Stand::new();
        let head = format!("repeats = 1\nwarmup = 0\ntimeout = \"{timeout}\"");
        let suite = stand.suite(&head, &[("bad", &format!("faulty.sh {way}"))]);
        let ended = stand.run(&["run", &suite, "--no-progress"]);
        says(&ended, 3, &parts);
        assert_eq!(ended.err.matches("bad: failed").count(), 2, "{way}: {}", ended.err);
    }
    let stand = Stand::new();
    let path = stand.suite("repeats = 1\nwarmup = 0", &[]);
    let fio = "[[scenario]]\nname = \"bad\"\ninstrument = \"fio\"\n\
        parameters = { rw = \"read\", bs = \"4k\", size = \"1M\", runtime = \"1s\" }\n\
        metrics = [{ name = \"m\", value = \"wall\", unit = \"s\", better = \"lower\" }]\n";
    std::fs::write(&path, std::fs::read_to_string(&path).unwrap() + fio).unwrap();
    let bin = stand.path().join("bin");
    std::fs::create_dir(&bin).unwrap();
    let text = "#!/bin/sh\n[ \"$1\" = --version ] && echo fio-3.33 && exit\necho 'no such disk' >&2\nexit 4\n";
    executable(&bin.join("fio"), text);
    let search = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let ended = crate::common::ended(stand.command(&["run", &path, "--no-progress"]).env("PATH", search));
    says(&ended, 3, &["fio exited with status 4: `no such disk`"]);
    assert_eq!(ended.err.matches("bad: failed").count(), 2, "{}", ended.err);
}

#[test]
fn parameters_that_the_instrument_refuses_are_not_tried_again() {
    let stand = Stand::new();
    let path = stand.suite("repeats = 3", &[("good", "steady.sh 1"), ("own", "faulty.sh sideways")]);
    let probe = "[[scenario]]\nname = \"bad\"\ninstrument = \"stend-probe cipher\"\nparameters = { cipher = \"rot13\" }\n\
        metrics = [{ name = \"m\", value = \"wall\", unit = \"s\", better = \"lower\" }]\n";
    std::fs::write(&path, std::fs::read_to_string(&path).unwrap() + probe).unwrap();
    let ended = stand.run(&["run", &path, "--no-progress"]);
    says(
        &ended,
        2,
        &["bad: 0 of 3 (it was started wrongly (status 2): ", "rot13", "own: 0 of 3 (", "unknown way sideways"],
    );
    for name in ["bad", "own"] {
        assert_eq!(ended.err.matches(&format!("{name} (warm-up): failed: ")).count(), 1, "{}", ended.err);
        assert!(!ended.err.contains(&format!("{name}: failed")), "{}", ended.err);
    }
    let shown = stand.json(&["show"]);
    let valid = shown["run"]["repeats"].as_array().unwrap().iter().filter(|repeat| repeat["outcome"] == "valid");
    assert_eq!(valid.count(), 4, "the others go on");
}

#[test]
fn a_program_that_does_not_exist() {
    let stand = Stand::new();
    let path = stand.path().join("t.toml");
    let text = format!(
        "name = \"t\"\ntitle = \"t\"\nsample_hertz = 0\nrepeats = 1\nwarmup = 0\n{NO_LIMITS}\
        [[scenario]]\nname = \"s\"\ncommand = [\"no-such-program\"]\n\
        metrics = [{{ name = \"m\", value = \"wall\", unit = \"s\", better = \"lower\" }}]\n"
    );
    std::fs::write(&path, text).unwrap();
    let ended = stand.run(&["run", path.to_str().unwrap(), "--no-progress"]);
    says(&ended, 3, &["status 127", "no-such-program"]);
}

#[test]
fn a_tool_that_is_missing_or_too_old_is_skipped_by_name() {
    let stand = Stand::new();
    let path = stand.suite("repeats = 1\nwarmup = 0", &[("good", "steady.sh 1")]);
    let fio = "\n[[scenario]]\nname = \"disk\"\ninstrument = \"fio\"\nparameters = { rw = \"read\", bs = \"4k\", size = \"1M\", runtime = \"1s\" }\n\
        metrics = [{ name = \"m\", value = \"wall\", unit = \"s\", better = \"lower\" }]\n";
    let text = std::fs::read_to_string(&path).unwrap() + fio;
    std::fs::write(&path, text).unwrap();
    // A PATH of our own: the tools that the test needs, and an fio of another age or none.
    let bin = stand.path().join("bin");
    std::fs::create_dir(&bin).unwrap();
    for tool in ["sh", "head", "wc", "date", "cat", "uname", "sed", "cut", "tr", "grep", "printf", "sha256sum"] {
        let found = std::process::Command::new("sh").args(["-c", &format!("command -v {tool}")]).output().unwrap();
        let found = String::from_utf8(found.stdout).unwrap().trim().to_owned();
        if found.starts_with('/') {
            std::os::unix::fs::symlink(found, bin.join(tool)).unwrap();
        }
    }
    let run = || crate::common::ended(stand.command(&["run", &path, "--no-progress"]).env("PATH", &bin));
    says(&run(), 0, &["skipped: disk: fio is not on the machine's PATH", "apt-get install -y fio"]);
    executable(&bin.join("fio"), "#!/bin/sh\necho fio-2.1\n");
    says(&run(), 0, &["skipped: disk: fio is too old: \"fio-2.1\""]);
    let only = crate::common::ended(stand.command(&["run", &path, "--only", "disk"]).env("PATH", &bin));
    says(&only, 4, &["no scenario of the suite can be measured here", "stend doctor"]);
}

#[test]
fn a_missing_probe_says_how_to_build_it() {
    let stand = Stand::new();
    let suite = stand.suite("", &[("one", "steady.sh 1")]);
    let ended = crate::common::ended(stand.command(&["run", &suite]).env("STEND_PROBE", "/nowhere/stend-probe"));
    says(&ended, 4, &["STEND_PROBE is /nowhere/stend-probe"]);
}

#[test]
fn a_store_that_cannot_be_written() {
    let stand = Stand::new();
    let suite = stand.suite("", &[("one", "steady.sh 1")]);
    // Nobody can make a directory there, root neither.
    let ended = crate::common::ended(stand.command(&["run", &suite]).env("STEND_STORE", "/sys/kernel/stend"));
    says(&ended, 4, &["/sys/kernel/stend", "cannot be written", "--store"]);
    one_line(&ended);
}

#[test]
fn a_work_directory_that_cannot_be_written() {
    let stand = Stand::new();
    let suite = stand.suite("", &[("one", "steady.sh 1")]);
    let ended = crate::common::ended(stand.command(&["run", &suite]).env("STEND_WORK", "/sys/kernel/stend"));
    says(&ended, 4, &["/sys/kernel/stend", "set STEND_WORK to a directory that can be written"]);
    one_line(&ended);
    // As a service without a home has it.
    let mut command = stand.command(&["check", "--json"]);
    let ended = crate::common::ended(command.env_remove("STEND_WORK").env_remove("XDG_CACHE_HOME").env("HOME", "/"));
    assert!(!ended.out.contains("//"), "{}", ended.out);
}

#[test]
fn a_read_only_store_can_still_be_read() {
    let stand = Stand::new();
    let suite = stand.suite("repeats = 1\nwarmup = 0", &[("one", "steady.sh 1")]);
    stand.fine(&["run", &suite, "--quiet"]);
    let stend = stand.command(&[]).get_program().to_str().unwrap().to_owned();
    let store = stand.store();
    let script = r#"
        mount --bind "$STEND_STORE" "$STEND_STORE" && mount -o remount,ro,bind "$STEND_STORE" || exit 99
        "$STEND" list; echo "list $?"
        "$STEND" run "$SUITE"; echo "run $?"
    "#;
    let probe = probe();
    let environment = [
        ("STEND", stend.as_str()),
        ("STEND_STORE", store.to_str().unwrap()),
        ("STEND_PROBE", probe.to_str().unwrap()),
        ("SUITE", suite.as_str()),
    ];
    let Some(ended) = in_own_mounts(script, &environment) else { return };
    assert!(ended.out.contains("list 0") && ended.out.contains("finished"), "{}\n{}", ended.out, ended.err);
    assert!(ended.out.contains("run 4") && ended.err.contains("cannot be written"), "{}\n{}", ended.out, ended.err);
}

#[test]
fn who_may_only_read_a_store_sees_the_run_that_is_being_made_and_one_that_was_killed() {
    let stand = Stand::new();
    let gate = Gate::new();
    let suite = stand.suite("repeats = 9\nwarmup = 0", &[("one", &gate.after(3))]);
    let Some(mut list) = stand.command_of_nobody(&["list", "--json"]) else { return };
    let run = stand.command(&["run", &suite, "--no-progress"]).stderr(std::process::Stdio::null()).spawn();
    let mut run = run.unwrap();
    gate.wait_until_reached();
    let readable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(stand.store(), readable).unwrap();
    let valid = |list: &mut std::process::Command| {
        let ended = crate::common::ended(list);
        assert_eq!(ended.status, Some(0), "{}", ended.err);
        let listed: serde_json::Value = serde_json::from_str(&ended.out).unwrap();
        listed["runs"][0]["valid"].clone()
    };
    assert_eq!(valid(&mut list), 3, "what is only in the write-ahead log is seen too");
    run.kill().unwrap();
    run.wait().unwrap();
    assert_eq!(valid(&mut list), 3);
    // Where the log is not to be read, nothing is shown that is not all there is.
    let log = stand.store().join("stend.db-wal");
    std::fs::set_permissions(&log, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let ended = crate::common::ended(&mut list);
    says(&ended, 4, &["stend.db"]);
    gate.open();
}

#[test]
fn runs_and_references_that_do_not_exist() {
    let stand = Stand::new();
    for command in [&["show"][..], &["compare", "last"], &["compare", "last~1", "last"], &["report", "last"]] {
        says(&stand.run(command), 2, &["there are no runs yet; `stend run` makes one"]);
    }
    let file = stand.path().join("file");
    std::fs::write(&file, "").unwrap();
    for command in [&["list"][..], &["compare", "last"], &["report", "last"], &["show"]] {
        let ended = stand.run(&[command, &["--store", file.to_str().unwrap()]].concat());
        says(&ended, 4, &["file is no store of stend: it is not a directory"]);
    }
    says(&stand.run(&["compare", "nothing"]), 2, &["\"nothing\" is neither a run", "on-the-way-to-the-summit"]);
    says(&stand.run(&["references", "nothing"]), 2, &["there is no reference \"nothing\""]);
    says(&stand.run(&["compare", "on-the-way-to-the-summit"]), 2, &["name a run first"]);
    says(&stand.run(&["resume"]), 2, &["no run that is not finished"]);
    says(&stand.run(&["import", "nothing.gz"]), 2, &["nothing.gz cannot be read"]);
    says(&stand.run(&["frobnicate"]), 2, &["unrecognized subcommand"]);
    says(&stand.run(&["run", "--set", "x"]), 2, &["NAME=VALUE"]);
}

#[test]
fn a_finished_run_is_not_resumed() {
    let stand = Stand::new();
    let suite = stand.suite("repeats = 1\nwarmup = 0", &[("one", "steady.sh 1")]);
    stand.fine(&["run", &suite, "--quiet"]);
    says(&stand.run(&["resume", "last"]), 2, &["is finished"]);
}

#[test]
fn runs_without_anything_in_common() {
    let stand = Stand::new();
    for name in ["one", "two"] {
        let suite = stand.suite("repeats = 1\nwarmup = 0", &[(name, "steady.sh 1")]);
        stand.fine(&["run", &suite, "--quiet"]);
    }
    for command in ["compare", "report"] {
        let ended = stand.run(&[command, "last~1", "last"]);
        says(&ended, 2, &["these runs have no scenario in common", "is of suite test"]);
    }
    says(&stand.run(&["compare", "last"]), 0, &["no figure is published", "name a second run"]);
    for command in ["show", "export", "profile"] {
        let ended = stand.run(&[command, "last:a"]);
        says(&ended, 2, &["\"last:a\" is one side of a run", "named alone: last"]);
        one_line(&ended);
    }
    says(&stand.run(&["report", "last", "--filter", "scenario:three"]), 2, &["takes no figure", "scenarios: \"two\""]);
    says(&stand.run(&["report", "last", "--only", "worse"]), 2, &["--only takes two runs or more"]);
    says(&stand.run(&["report", "last", "--baseline", "last~1"]), 2, &["is not among what is compared"]);
}
