//! Nothing is lost: whatever is killed or full, each finished repeat is there exactly once, and the run goes on.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::common::{
    Gate, NO_LIMITS, Stand, environment, in_own_mounts, instruments, probe, running, wait_until, wait_while,
};
use serde_json::Value;

/// Each repeat's scenario, phase and number: what must be there exactly once.
fn repeats(run: &Value) -> Vec<(u64, String, u64)> {
    let repeats = run["run"]["repeats"].as_array().unwrap();
    let key = |repeat: &Value| {
        (
            repeat["scenario"].as_u64().unwrap(),
            repeat["phase"].as_str().unwrap().to_owned(),
            repeat["number"].as_u64().unwrap(),
        )
    };
    repeats.iter().map(key).collect()
}

fn assert_complete(stand: &Stand, scenarios: u64, wanted: u64) {
    let run = stand.json(&["show", "last"]);
    let found = repeats(&run);
    let expected: BTreeSet<_> = (0..scenarios)
        .flat_map(|scenario| {
            let measured = (0..wanted).map(move |number| (scenario, "measured".to_owned(), number));
            measured.chain(std::iter::once((scenario, "warmup".to_owned(), 0)))
        })
        .collect();
    assert_eq!(found.len(), expected.len(), "each exactly once");
    assert_eq!(found.into_iter().collect::<BTreeSet<_>>(), expected);
    assert_eq!(run["run"]["run"]["state"], "finished");
}

/// The lab is killed at twenty random moments of one run, and resumed each time.
#[test]
fn killed_at_twenty_moments_the_run_is_whole() {
    let stand = Stand::new();
    // The gate keeps it from ending before the last kill.
    let gate = Gate::new();
    let suite = stand.suite("repeats = 500", &[("one", "steady.sh 1"), ("two", &gate.after(450))]);
    // Moments from a fixed seed, so that a failure can be made again.
    let mut state = 0x5EED_u64;
    let mut started = false;
    for kill in 0..20 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let moment = Duration::from_micros(20_000 + (state >> 33) % 1_100_000);
        let said = stand.path().join("said");
        let arguments = if started { vec!["resume", "--no-progress"] } else { vec!["run", &suite, "--no-progress"] };
        let mut child = stand
            .command(&arguments)
            .stdout(std::process::Stdio::null())
            .stderr(std::fs::File::create(&said).unwrap())
            .spawn()
            .unwrap();
        // Half of the moments count from the program's start, half from when it begins to measure.
        if kill % 2 == 1 {
            let measures = |text: &String| text.lines().any(|line| line.starts_with("run 2"));
            wait_while("it measures", || Some(std::fs::read_to_string(&said).unwrap()).filter(|text| !measures(text)));
        }
        std::thread::sleep(moment);
        let finished = child.try_wait().unwrap().is_some();
        child.kill().unwrap();
        child.wait().unwrap();
        let said = std::fs::read_to_string(&said).unwrap();
        assert!(!finished, "it ended by itself in stretch {kill}: {said}");
        started = started || !stand.json(&["list"])["runs"].as_array().unwrap().is_empty();
    }
    assert!(started, "at least one of the twenty got as far as beginning the run");
    assert_eq!(stand.json(&["list"])["runs"].as_array().unwrap().len(), 1);
    gate.open();
    stand.fine(&["resume", "--no-progress"]);
    assert_complete(&stand, 2, 500);
}

#[test]
fn what_the_killed_lab_had_started_does_not_run_on() {
    let stand = Stand::new();
    let marker = format!("{}", 100_000 + std::process::id());
    let text = format!(
        "name = \"t\"\ntitle = \"t\"\nsample_hertz = 10\n{NO_LIMITS}\
         [[scenario]]\nname = \"s\"\ncommand = [\"sleep\", \"{marker}\"]\ntimeout = \"1h\"\n\
         metrics = [{{ name = \"m\", value = \"wall\", unit = \"s\", better = \"lower\" }}]\n"
    );
    let suite = stand.path().join("sleep.toml");
    std::fs::write(&suite, text).unwrap();
    let mut child = stand
        .command(&["run", suite.to_str().unwrap(), "--no-progress"])
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let runs = || !running(&["sleep", &marker]).is_empty();
    wait_until("the instrument runs", runs);
    child.kill().unwrap();
    child.wait().unwrap();
    wait_until("the instrument is gone", || !runs());
}

#[test]
fn interrupted_once_it_keeps_everything_and_says_how_to_go_on() {
    interrupted_by(rustix::process::Signal::INT);
}

#[test]
fn a_terminal_that_goes_away_interrupts_but_not_what_was_started_to_outlive_it() {
    interrupted_by(rustix::process::Signal::HUP);
    let stand = Stand::new();
    let gate = Gate::new();
    let suite = stand.suite("repeats = 3", &[("one", &gate.after(1))]);
    let child = started_by(&["nohup"], &stand.command(&["run", &suite, "--no-progress"]))
        .current_dir(stand.path())
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    gate.wait_until_reached();
    rustix::process::kill_process(rustix::process::Pid::from_child(&child), rustix::process::Signal::HUP).unwrap();
    gate.open();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_complete(&stand, 1, 3);
}

/// A command that another program becomes.
fn started_by(words: &[&str], command: &std::process::Command) -> std::process::Command {
    let mut started = std::process::Command::new(words[0]);
    started.args(&words[1..]).arg(command.get_program()).args(command.get_args());
    started.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    started
}

fn interrupted_by(signal: rustix::process::Signal) {
    let stand = Stand::new();
    let gate = Gate::new();
    let suite = stand.suite("repeats = 60", &[("one", &gate.after(4))]);
    // Whoever runs the tests may have had signals ignored, as nohup does.
    let child = started_by(&["env", "--default-signal"], &stand.command(&["run", &suite, "--no-progress"]))
        .current_dir(stand.path())
        .stderr(std::process::Stdio::piped())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    gate.wait_until_reached();
    assert_eq!(stand.json(&["list"])["runs"][0]["valid"], 3, "the warm-up does not count");
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, signal).unwrap();
    let output = child.wait_with_output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(130), "{err}");
    let id = stand.json(&["list"])["runs"][0]["id"].as_str().unwrap().to_owned();
    assert!(err.contains(&format!("stend resume {id}")), "{err}");
    gate.open();
    stand.fine(&["resume", "--no-progress"]);
    assert_complete(&stand, 1, 60);
    assert!(!stand.path().join("work").join(&id).exists(), "the run's files are removed");
}

#[test]
fn a_run_does_not_go_on_with_another_script() {
    let stand = Stand::new();
    let gate = Gate::new();
    let script = stand.path().join("gated.sh");
    std::fs::copy(instruments().join("gated.sh"), &script).unwrap();
    let path = stand.suite("repeats = 10\nwarmup = 0", &[("one", &gate.after(1))]);
    let text = std::fs::read_to_string(&path).unwrap();
    let here = instruments().join("gated.sh");
    std::fs::write(&path, text.replace(here.to_str().unwrap(), "{suite_directory}/gated.sh")).unwrap();
    let mut child =
        stand.command(&["run", &path, "--no-progress"]).stderr(std::process::Stdio::null()).spawn().unwrap();
    gate.wait_until_reached();
    assert_eq!(stand.json(&["list"])["runs"][0]["valid"], 1);
    child.kill().unwrap();
    child.wait().unwrap();
    let old = std::fs::read_to_string(&script).unwrap();
    std::fs::write(&script, format!("{old}# edited\n")).unwrap();
    let refused = stand.run(&["resume", "--no-progress"]);
    assert_eq!(refused.status, Some(4), "{}", refused.err);
    assert!(
        refused.err.contains("cannot go on") && refused.err.contains("{suite_directory}/gated.sh"),
        "{}",
        refused.err
    );
    std::fs::remove_file(&script).unwrap();
    assert_eq!(stand.run(&["resume"]).status, Some(4), "nor without any");
    assert_eq!(stand.json(&["show"])["run"]["sessions"].as_array().unwrap().len(), 1, "nothing was added");
    std::fs::write(&script, old).unwrap();
    gate.open();
    stand.fine(&["resume", "--no-progress"]);
}

#[test]
fn two_runs_of_one_machine_are_not_gone_on_with_side_by_side() {
    let stand = Stand::new();
    let gates = [Gate::new(), Gate::new()];
    for gate in &gates {
        let suite = stand.suite("repeats = 3\nwarmup = 0", &[("one", &gate.after(1))]);
        let run = stand.command(&["run", &suite, "--no-progress"]).stderr(std::process::Stdio::null()).spawn();
        let mut run = run.unwrap();
        gate.wait_until_reached();
        run.kill().unwrap();
        run.wait().unwrap();
    }
    let listed = stand.json(&["list"])["runs"].clone();
    let [one, other] = [0, 1].map(|place| listed[place]["id"].as_str().unwrap());
    let ended = stand.run(&["resume", one, other]);
    assert_eq!(ended.status, Some(2), "{}", ended.err);
    assert_eq!(ended.err.trim_end().lines().count(), 1, "{}", ended.err);
    for part in [one, other, "one machine"] {
        assert!(ended.err.contains(part), "{}", ended.err);
    }
    gates.iter().for_each(Gate::open);
}

/// A work directory serves several stores; what a run has there is nobody else's while it goes on.
#[test]
fn nobody_else_uses_the_work_directory_of_a_run() {
    let stand = Stand::new();
    let suite = stand.suite("repeats = 1\nwarmup = 0", &[("slow", "faulty.sh hang")]);
    let mut child =
        stand.command(&["run", &suite, "--no-progress"]).stderr(std::process::Stdio::null()).spawn().unwrap();
    let files = || {
        let entries = std::fs::read_dir(stand.path().join("work")).into_iter().flatten();
        entries.filter(|entry| entry.as_ref().unwrap().path().is_dir()).count()
    };
    wait_until("the run has its files there", || files() == 1);
    let other = stand.path().join("other-store");
    for arguments in [vec!["clean"], vec!["run", suite.as_str()]] {
        // The machine's lock comes first. Who gave that another place is still kept from the directory.
        for (lock, part) in [("machine.lock", "another stend measures on this machine"), ("another.lock", "STEND_WORK")]
        {
            let mut command = stand.command(&arguments);
            command.env("STEND_STORE", &other).env("STEND_LOCK", stand.path().join(lock));
            let ended = crate::common::ended(&mut command);
            assert_eq!(ended.status, Some(4), "{arguments:?}: {}", ended.err);
            assert!(ended.err.contains(&format!("process {}, since", child.id())), "{}", ended.err);
            assert!(ended.err.contains(part), "{}", ended.err);
        }
    }
    assert_eq!(files(), 1);
    child.kill().unwrap();
    child.wait().unwrap();
    stand.fine(&["clean"]);
    assert_eq!(files(), 0, "what the killed one left is removed");
}

#[test]
fn a_full_disk_is_said_and_nothing_is_lost() {
    let stand = Stand::new();
    let gate = Gate::new();
    let suite = stand.suite("repeats = 200", &[("one", &gate.after(4))]);
    let stend = stand.command(&[]).get_program().to_str().unwrap().to_owned();
    let script = r#"
        set -u
        mount -t tmpfs -o size=24m none "$DISK" || exit 99
        "$STEND" run "$SUITE" --even-if-unfit --no-progress >"$DIRECTORY/out" 2>"$DIRECTORY/err" &
        lab=$!
        # Once some repeats are there, something else fills the disk.
        while ! [ -e "$GATE/waits" ] && kill -0 $lab; do sleep 0.05; done
        dd if=/dev/zero of="$DISK/filler" bs=4k 2>/dev/null
        : >"$GATE/open"
        wait $lab
        echo "status $?"
        stored_before=$("$STEND" list --json | grep -o '"valid": [0-9]*' | grep -o '[0-9]*')
        echo "stored $stored_before"
        rm "$DISK/filler"
        "$STEND" resume --even-if-unfit --no-progress >/dev/null 2>"$DIRECTORY/err2"
        echo "resumed $?"
        "$STEND" show last --json >"$DIRECTORY/shown.json"
    "#;
    let disk = stand.path().join("disk");
    std::fs::create_dir(&disk).unwrap();
    let probe = probe();
    let store = disk.join("store");
    let work = stand.path().join("work");
    let environment = [
        ("DISK", disk.to_str().unwrap()),
        ("GATE", gate.path().to_str().unwrap()),
        ("DIRECTORY", stand.path().to_str().unwrap()),
        ("STEND", &stend),
        ("SUITE", &suite),
        ("STEND_STORE", store.to_str().unwrap()),
        ("STEND_WORK", work.to_str().unwrap()),
        ("STEND_PROBE", probe.to_str().unwrap()),
    ];
    let Some(ended) = in_own_mounts(script, &environment) else { return };
    let read = |name: &str| std::fs::read_to_string(stand.path().join(name)).unwrap_or_default();
    let err = read("err");
    assert!(ended.out.contains("status 4"), "{}\n{err}\n{}", ended.out, ended.err);
    assert!(err.contains("is full") && err.contains("stend resume"), "{err}");
    let said = err.lines().filter(|line| line.starts_with('[') && !line.contains("warm-up")).count();
    let stored: usize = ended.out.lines().find_map(|line| line.strip_prefix("stored ")).unwrap().parse().unwrap();
    assert_eq!(stored, said, "what was said to be done is stored");
    assert!(ended.out.contains("resumed 0"), "{}\n{}", ended.out, read("err2"));
    let shown: Value = serde_json::from_str(&read("shown.json")).unwrap();
    let found = repeats(&shown);
    assert_eq!(found.len(), 201);
    assert_eq!(found.into_iter().collect::<BTreeSet<_>>().len(), 201, "each exactly once");
}

/// The power fails while a repeat is made: what the file system had given to its disk by then is all that there is.
#[test]
fn when_power_fails_all_repeats_before_are_on_the_disk() {
    let stand = Stand::new();
    let gate = Gate::new();
    let suite = stand.suite("repeats = 5\nwarmup = 0", &[("one", &gate.after(3))]);
    let script = r#"
        set -eu
        cd "$DIRECTORY"
        mkdir disk after
        truncate -s 64M image
        mkfs.ext4 -q image
        mount -o loop image disk
        STEND_STORE=$DIRECTORY/disk/store "$STEND" run "$SUITE" --even-if-unfit --quiet >out 2>err &
        lab=$!
        while ! [ -e "$GATE/waits" ] && kill -0 $lab; do sleep 0.05; done
        cp image copy
        : >"$GATE/open"
        wait $lab
        umount disk
        mount -o loop copy after
        STEND_STORE=$DIRECTORY/after/store "$STEND" show last --json >shown.json
        umount after
    "#;
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: only root makes loop devices");
        return;
    }
    let mut owned = Vec::new();
    let Some(ended) = in_own_mounts(script, &environment(&stand, &gate, &suite, &mut owned)) else { return };
    assert_eq!(ended.status, Some(0), "{}\n{}", ended.out, ended.err);
    let shown: Value =
        serde_json::from_str(&std::fs::read_to_string(stand.path().join("shown.json")).unwrap()).unwrap();
    assert_eq!(repeats(&shown), [0, 1, 2].map(|number| (0, "measured".to_owned(), number)));
}

#[test]
fn an_instrument_that_is_killed_costs_its_repeat_alone() {
    let stand = Stand::new();
    let suite = stand.suite("repeats = 6\nwarmup = 0", &[("good", "steady.sh 1"), ("bad", "faulty.sh killed")]);
    let ended = stand.run(&["run", &suite, "--no-progress"]);
    assert_eq!(ended.status, Some(3), "{}", ended.err);
    assert!(ended.err.contains("bad: failed: it was killed by signal 9"), "{}", ended.err);
    let run = stand.json(&["show", "last"]);
    let outcomes = run["run"]["repeats"].as_array().unwrap();
    assert_eq!(outcomes.iter().filter(|repeat| repeat["outcome"] == "valid").count(), 6);
    assert_eq!(
        outcomes.iter().filter(|repeat| repeat["outcome"]["failed"].is_object()).count(),
        3,
        "given up after three"
    );
}

#[test]
fn a_dead_sampler_is_started_again() {
    let stand = Stand::new();
    let gate = Gate::new();
    let path = stand.suite("repeats = 30", &[("one", &gate.after(3))]);
    let text = std::fs::read_to_string(&path).unwrap().replace("sample_hertz = 0", "sample_hertz = 50");
    std::fs::write(&path, text).unwrap();
    // A probe of its own name, so that only this test's sampler is found and killed.
    let probe_copy = stand.path().join("stend-probe-of-this-test");
    std::fs::copy(probe(), &probe_copy).unwrap();
    let mut command = stand.command(&["run", &path, "--no-progress"]);
    let child = command
        .env("STEND_PROBE", &probe_copy)
        .stderr(std::process::Stdio::piped())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let sampler = || running(&[probe_copy.to_str().unwrap(), "sample"]).first().copied();
    gate.wait_until_reached();
    rustix::process::kill_process(sampler().unwrap(), rustix::process::Signal::KILL).unwrap();
    gate.open();
    let output = child.wait_with_output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{err}");
    assert!(err.contains("the sampler ended (killed by a signal); it is started again"), "{err}");
    assert!(instruments().is_dir());
}
