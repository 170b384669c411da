//! Machines that ssh reaches, measured as a stand is: with no more on the PATH than a shell, tar and a compiler.

use std::fs;
use std::io::Read as _;
use std::process::{Command, Stdio};

use crate::common::sshd::{Mounted, Sshd, parse, quick_compiler};
use crate::common::{interrupt, wait_until};
use serde_json::Value;

#[test]
fn a_machine_with_a_shell_and_a_compiler_is_measured_and_left_as_it_was() {
    let Some(sshd) = Sshd::new() else { return };
    let suite = sshd.suite("0.05");
    let run = ["run", &suite, "--on", "stand", "--even-if-unfit", "--no-progress"];
    let ended = sshd.fine(&run);
    assert!(ended.err.contains("stand: building stend-probe there with cc"), "{}", ended.err);
    let shown = parse(&sshd.fine(&["show", "--json"]).out);
    assert_eq!(shown["run"]["run"]["host"], "stand");
    assert_eq!(shown["run"]["repeats"].as_array().unwrap().len(), 6);
    let build = &shown["run"]["run"]["build"];
    assert_eq!(build["program"], "cc");
    assert_eq!(build["flags"], "-std=c11 -O2");
    assert_eq!(
        build["compiler"], shown["run"]["run"]["machine"]["software"]["compiler"],
        "it is a part of the machine"
    );
    for repeat in shown["run"]["repeats"].as_array().unwrap() {
        assert_eq!(repeat["begin"]["build"]["sources"], build["sources"], "the program knows what it was built of");
    }
    // What was built is used again, and by its contents: other flags make another one, and so does another compiler.
    assert!(!sshd.fine(&run).err.contains("building"));
    assert_eq!(sshd.builds().len(), 1);
    sshd.put_program("quick", &quick_compiler("quick 1", ""));
    for (flags, builds) in [("", 2), ("-O0 -DKUZMA_NO_INTRINSICS", 3)] {
        let other = [&run[..], &["--cc", "quick", "--cflags", flags]].concat();
        assert!(sshd.fine(&other).err.contains("building"), "{flags}");
        assert_eq!(sshd.builds().len(), builds);
    }
    let shown = sshd.fine(&["show", "--json"]).out;
    assert!(shown.contains("-std=c11 -O2 -O0 -DKUZMA_NO_INTRINSICS"), "the flags are in the run");
    let fingerprint = parse(&sshd.fine(&["probe", "--on", "stand", "--json"]).out);
    let here = parse(&sshd.fine(&["probe", "--json"]).out);
    // The same machine has the same fingerprint on both ways, but for the tools that it lacks on the one.
    let of = |fingerprint: &Value, part: &str| {
        let mut part = fingerprint["machine"][part].clone();
        part.as_object_mut().unwrap().remove("tools");
        part
    };
    for part in ["hardware", "software"] {
        assert_eq!(of(&fingerprint, part), of(&here, part), "{part}: {}", fingerprint["machine"]["missing"]);
    }
    let cleaned = sshd.fine(&["clean", "--on", "stand"]).err;
    assert!(!sshd.there().exists(), "{:?}", sshd.builds());
    let lock = sshd.stand.path().join("machine.lock");
    assert!(!lock.exists() && cleaned.contains(&format!("removed {}\n", lock.display())), "{cleaned}");
    assert_eq!(sshd.fine(&["clean", "--on", "stand"]).err, "there is nothing to remove\n");
}

#[test]
fn a_dry_run_says_by_what_is_built_there_and_builds_nothing() {
    let Some(sshd) = Sshd::new() else { return };
    sshd.has_all_programs();
    let suite = sshd.suite("0.05");
    let dry = |more: &[&'static str]| [&["run", &*suite, "--on", "stand", "--dry-run"], more].concat();
    let planned = sshd.fine(&dry(&["--cflags=-O3"])).out;
    assert!(planned.starts_with("stend-probe: built by ") && planned.contains(" with -std=c11 -O2 -O3\n"), "{planned}");
    sshd.refuses(&dry(&["--cc", "no-such-cc"]), 4, &["stand: there is no compiler no-such-cc there", "--cc"]);
    // As it is known of the machine.
    sshd.fine(&["hosts", "add", "board", "stand", "--cc", "lcc -O3"]);
    let known = ["run", &*suite, "--on", "board", "--dry-run"];
    sshd.refuses(&known, 4, &["stand: there is no compiler lcc there"]);
    assert!(!sshd.there().exists());
}

/// Of a file that nothing there can ask for, nobody knows whether it is locked.
#[test]
fn clean_leaves_there_what_it_cannot_lock_and_takes_an_empty_directory() {
    let Some(sshd) = Sshd::new() else { return };
    sshd.has_all_programs();
    let own = sshd.there().join("in-use.lock");
    fs::create_dir(sshd.there()).unwrap();
    let lock = sshd.stand.path().join("machine.lock");
    for path in [&own, &lock] {
        fs::write(path, "").unwrap();
    }
    let cleaned = sshd.fine(&["clean", "--on", "stand"]).err;
    for path in [&own, &lock] {
        assert!(cleaned.contains(&format!("left {}: there is no stend-probe there", path.display())), "{cleaned}");
        fs::remove_file(path).unwrap();
    }
    sshd.fine(&["clean", "--on", "stand"]);
    assert!(!sshd.there().exists());
    // What somebody else keeps there stays, and the lock's file goes all the same.
    sshd.with_build();
    fs::write(sshd.there().join("precious"), "").unwrap();
    sshd.fine(&["clean", "--on", "stand"]);
    let left: Vec<_> = fs::read_dir(sshd.there()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["precious"]);
    assert!(!lock.exists());
}

#[test]
fn clean_takes_the_cache_directory_that_was_made_there() {
    let Some(mut sshd) = Sshd::new() else { return };
    sshd.has_all_programs();
    sshd.reconfigure("ForceCommand unset STEND_WORK; eval \"$SSH_ORIGINAL_COMMAND\"");
    let cache = sshd.stand.path().join("home/.cache");
    fs::create_dir_all(cache.join("stend/build-0123456789abcdef")).unwrap();
    let cleaned = sshd.fine(&["clean", "--on", "stand"]).err;
    assert!(cleaned.contains(&format!("removed {}, in", cache.display())) && !cache.exists(), "{cleaned}");
    fs::create_dir_all(cache.join("stend/build-0123456789abcdef")).unwrap();
    fs::write(cache.join("other"), "").unwrap();
    sshd.fine(&["clean", "--on", "stand"]);
    assert!(cache.join("other").exists() && !cache.join("stend").exists());
}

/// fio leaves a file of each kind for each job. They are fetched together: one by one they took seconds for each repeat.
#[test]
fn what_a_real_tool_leaves_there_is_fetched_all_at_once() {
    let Some(mut sshd) = Sshd::new() else { return };
    let fio = crate::common::on_path("fio");
    if fio.is_empty() {
        eprintln!("skipped: fio is missing");
        return;
    }
    sshd.with_build();
    let started = sshd.stand.path().join("started");
    sshd.reconfigure(&format!("ForceCommand echo >>{}; eval \"$SSH_ORIGINAL_COMMAND\"", started.display()));
    let exchanges = || fs::read_to_string(&started).map_or(0, |text| text.lines().count());
    let suite = sshd.stand.path().join("one.toml");
    let text = "name = \"one\"\ntitle = \"one load\"\nwarmup = 0\nsample_hertz = 0\ntimeout = \"6h\"\n[gates]\nforeign_cpu = \"off\"\nsteal = \"off\"\nfrequency_fall = \"off\"\n\
        [[scenario]]\nname = \"reading\"\ninstrument = \"fio\"\n\
        parameters = { rw = \"randread\", bs = \"4k\", numjobs = 1, iodepth = 2, luns = 8, size = \"1MiB\", runtime = \"300ms\" }\n\
        metrics = [{ name = \"latency\", value = \"latency_p99_ns\", unit = \"ns\", better = \"lower\" }]\n";
    fs::write(&suite, text).unwrap();
    let run = ["run", suite.to_str().unwrap(), "--on", "stand", "--even-if-unfit", "--quiet"];
    let lacking = sshd.run(&run);
    assert_eq!(lacking.status, Some(4), "{}", lacking.err);
    assert!(lacking.err.contains("skipped: reading: fio is not on the machine's PATH"), "{}", lacking.err);
    sshd.put_program("fio", &fio);
    let mut counts = Vec::new();
    for repeats in ["1", "3"] {
        let before = exchanges();
        sshd.fine(&[&run[..], &["--repeats", repeats]].concat());
        counts.push(exchanges() - before);
        let shown = parse(&sshd.fine(&["show", "--json"]).out);
        let made = shown["run"]["repeats"].as_array().unwrap();
        assert!(made.iter().all(|repeat| repeat["outcome"] == "valid"), "{}", made[0]);
        let store = rusqlite::Connection::open(sshd.stand.store().join("stend.db")).unwrap();
        let mut logs = store.prepare("SELECT DISTINCT metric FROM series").unwrap();
        let logs: Vec<String> = logs.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
        assert!(logs.iter().any(|name| name == "lun7.iops"), "{logs:?}");
    }
    // Its job file, itself, what it left, and the directory made and removed.
    let each = (counts[1] - counts[0]) / 2;
    assert!((3..=6).contains(&each), "{each} exchanges for each repeat");
}

#[test]
fn a_link_that_drops_costs_the_repeat_in_flight_and_the_run_goes_on_later() {
    let Some(sshd) = Sshd::new() else { return };
    sshd.with_build();
    let gate = sshd.gate(2);
    let suite = sshd.gated_suite();
    fs::write(&suite, fs::read_to_string(&suite).unwrap().replace("sample_hertz = 0", "sample_hertz = 10")).unwrap();
    let mut run = sshd.command(&["run", &suite, "--on", "stand", "--even-if-unfit", "--no-progress"]);
    let run = run.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    gate.wait_until_reached();
    sshd.link.cut();
    let ended = run.wait_with_output().unwrap();
    let words = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert_eq!(ended.status.code(), Some(4), "{words}");
    // One line: whose link, what it cost, and how to go on; not what else could not be done without it.
    let last = words.lines().last().unwrap();
    assert!(last.starts_with("stend: stand: the link dropped"), "{words}");
    let cost = "; the repeat in flight is lost, 2 repeats are kept; go on with: ";
    assert!(last.contains(cost) && last.contains(" resume 2"), "{words}");
    assert_eq!(words.matches("stand: ").count(), 1, "{words}");
    let warned = |line: &str| line.starts_with("warning: ") && !line.contains("the machine is not fit");
    assert!(!words.lines().any(warned) && !words.contains("sampler") && !words.contains("guard"), "{words}");
    wait_until("nothing runs there any more", || sshd.running().is_empty());
    sshd.refuses(&["resume"], 4, &["stand: ", "Connection"]);
    sshd.link.mend();
    gate.open();
    sshd.fine(&["resume", "--even-if-unfit", "--no-progress"]);
    let shown = parse(&sshd.fine(&["show", "--json"]).out);
    let valid = shown["run"]["repeats"].as_array().unwrap().iter().filter(|repeat| repeat["outcome"] == "valid");
    assert_eq!(valid.count(), 6);
    sshd.fine(&["clean", "--on", "stand"]);
    assert!(!sshd.there().exists());
}

/// Nobody says that the link is gone: a cable was pulled, or the machine hangs.
#[test]
fn a_machine_that_falls_silent_costs_the_repeat_in_flight() {
    let Some(sshd) = Sshd::new() else { return };
    sshd.with_build();
    let gate = sshd.gate(1);
    let mut run = sshd.command(&["run", &sshd.gated_suite(), "--on", "stand", "--even-if-unfit", "--quiet"]);
    let mut run = run.stderr(Stdio::piped()).spawn().unwrap();
    gate.wait_until_reached();
    sshd.signal_connections("-STOP");
    let ended = run.wait();
    sshd.signal_connections("-CONT");
    assert_eq!(ended.unwrap().code(), Some(4));
    let mut words = String::new();
    run.stderr.take().unwrap().read_to_string(&mut words).unwrap();
    assert!(words.lines().last().unwrap().contains(": stand: "), "{words}");
    wait_until("what ran there is ended by the machine itself", || sshd.running().is_empty());
    gate.open();
    sshd.fine(&["resume", "--even-if-unfit", "--no-progress"]);
    let shown = parse(&sshd.fine(&["show", "--json"]).out);
    let repeats = shown["run"]["repeats"].as_array().unwrap();
    assert_eq!(repeats.iter().filter(|repeat| repeat["outcome"] == "valid").count(), 6);
}

/// What is sent is lost, and so is what would end the connections. The machine is called once more, and then no more.
#[test]
fn a_link_that_loses_all_is_given_up_after_fifteen_seconds_and_one_call() {
    let Some(sshd) = Sshd::new() else { return };
    sshd.with_build();
    let gate = sshd.gate(1);
    // It need not be waited for that nobody answers.
    let (path, calls, silent) = (sshd.stand.path(), sshd.stand.path().join("calls"), sshd.stand.path().join("silent"));
    let text = format!(
        "#!/bin/sh\necho \"$*\" >>'{}'\n[ ! -e '{}' ] || set -- -o ConnectTimeout=1 \"$@\"\nexec /usr/bin/ssh -F '{}' \"$@\"\n",
        calls.display(),
        silent.display(),
        path.join("ssh_config").display()
    );
    crate::common::executable(&path.join("bin/ssh"), &text);
    let calls = || {
        let all = fs::read_to_string(&calls).unwrap();
        all.lines().filter(|line| line.contains("ControlMaster=yes")).map(str::to_owned).collect::<Vec<_>>()
    };
    let run = ["run", &sshd.gated_suite(), "--on", "stand", "--even-if-unfit", "--quiet"];
    let run = sshd.command(&run).stderr(Stdio::piped()).spawn().unwrap();
    gate.wait_until_reached();
    assert_eq!(calls().len(), 1);
    fs::write(&silent, "").unwrap();
    sshd.link.silence();
    let ended = run.wait_with_output().unwrap();
    let words = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert_eq!(ended.status.code(), Some(4), "{words}");
    let last = words.lines().last().unwrap();
    assert!(last.starts_with("stend: stand: ") && last.contains("1 repeat is kept; go on with: "), "{words}");
    let calls = calls();
    assert_eq!(calls.len(), 2, "{calls:#?}");
    // As documented: ssh asks so often, and gives up when it would ask once more.
    let option = |name: &str| -> u32 {
        let value = calls[0].split_once(&format!("{name}=")).unwrap().1;
        value.split(' ').next().unwrap().parse().unwrap()
    };
    let seconds = option("ServerAliveInterval") * (option("ServerAliveCountMax") + 1);
    let documented = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide/hosts.md")).unwrap();
    assert!(documented.contains(&format!("after {seconds} seconds")), "{seconds}");
    sshd.link.mend();
    gate.open();
    fs::remove_file(&silent).unwrap();
    // The machine has not noticed: the lock that the lost link held is there until its sshd gives up.
    sshd.signal_connections("-KILL");
    wait_until("nothing runs there any more", || sshd.running().is_empty());
    sshd.fine(&["resume", "--even-if-unfit", "--no-progress"]);
}

/// The user's own configuration leads there, by way of another machine.
#[test]
fn a_machine_behind_another_one_is_measured() {
    let (Some(sshd), Some(gate)) = (Sshd::new(), Sshd::new()) else { return };
    sshd.with_build();
    sshd.knows(&gate, "gate");
    let file = sshd.stand.path().join("ssh_config");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("Host stand other-name\n", "Host stand other-name\n ProxyJump gate\n")).unwrap();
    sshd.fine(&["run", &sshd.suite("0.05"), "--on", "stand", "--even-if-unfit", "--quiet"]);
    gate.link.cut();
    sshd.refuses(&["probe", "--on", "stand"], 4, &["stand: "]);
}

/// What stands in the place of `stend-probe` there tells another time than it is, and after a while yet another.
#[test]
fn clocks_are_compared_and_one_that_is_wrong_or_set_changes_no_duration() {
    let Some(sshd) = Sshd::new() else { return };
    sshd.with_build();
    let build = sshd.there().join(&sshd.builds()[0]).join("build");
    let asked = sshd.stand.path().join("asked");
    // What stands in for small programs goes on doing so.
    fs::create_dir(build.join("real")).unwrap();
    for part in ["stend-probe", "stand-ins"] {
        fs::rename(build.join(part), build.join("real").join(part)).unwrap();
    }
    std::os::unix::fs::symlink("real/stand-ins", build.join("stand-ins")).unwrap();
    let lying = format!(
        "#!/bin/sh\n[ \"$1\" = clock ] || exec {build}/real/stend-probe \"$@\"\n\
         if [ -e {asked} ]; then exec {build}/real/stend-probe clock --ahead 7200s; fi\n: >{asked}\nexec {build}/real/stend-probe clock --ahead 3600s\n",
        build = build.display(),
        asked = asked.display()
    );
    fs::write(build.join("stend-probe"), lying).unwrap();
    fs::set_permissions(build.join("stend-probe"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let suite = sshd.suite("0.05");
    sshd.fine(&["run", &suite, "--on", "stand", "--even-if-unfit", "--quiet"]);
    let shown = parse(&sshd.fine(&["show", "--json"]).out);
    let clocks = &shown["run"]["sessions"][0]["clocks"];
    let hours = |of: &str| clocks[of]["realtime_ahead_ns"].as_f64().unwrap() / 3600e9;
    let sure = |of: &str| clocks[of]["uncertainty_ns"].as_f64().unwrap();
    assert!((hours("before") - 1.0).abs() * 3600e9 <= sure("before") + 1e6, "{clocks}");
    assert!((hours("after") - 2.0).abs() * 3600e9 <= sure("after") + 1e6, "{clocks}");
    // Both count from the same moment here, so that what is found is known.
    for of in ["before", "after"] {
        assert!(clocks[of]["monotonic_ahead_ns"].as_f64().unwrap().abs() <= sure(of), "{clocks}");
    }
    for repeat in shown["run"]["repeats"].as_array().unwrap() {
        assert_eq!(repeat["outcome"], "valid", "{repeat}");
        let wall = repeat["report"]["wall_ns"].as_f64().unwrap();
        assert!((0.05e9..3600e9).contains(&wall), "{wall}");
    }
    let said = sshd.fine(&["show"]).out;
    let line = said.lines().find(|line| line.starts_with("clocks compared to ±")).expect("a line about clocks");
    // As many digits as the comparison was sure of; on a busy machine it may have been sure of few.
    assert!(line.contains(" s ahead; "), "{line}");
    let step = line.split("it was set by +").nth(1).and_then(|rest| rest.split(" s ").next()).expect("a step");
    let step: f64 = step.replace('\u{a0}', "").parse().expect("seconds");
    assert!((step - 3600.0).abs() * 1e9 <= 2.0 * (sure("before") + sure("after")) + 1e6, "{line}");
}

#[test]
fn what_login_shells_say_is_not_measured() {
    let Some(mut sshd) = Sshd::new() else { return };
    sshd.with_build();
    let suite = sshd.suite("0.05");
    let noise = sshd.stand.path().join("noise.sh");
    fs::write(
        &noise,
        "echo 'Welcome! {\"event\":\"end\"}'\necho 'It is Tuesday.' >&2\nprintf 'Welcome'\nprintf 'Tuesday' >&2\n",
    )
    .unwrap();
    let more = format!("Banner {0}\nForceCommand . {0}; eval \"$SSH_ORIGINAL_COMMAND\"", noise.display());
    sshd.reconfigure(&more);
    let heard = Command::new(sshd.stand.path().join("bin/ssh")).args(["stand", ":"]).output().unwrap();
    assert!(String::from_utf8_lossy(&heard.stdout).contains("Welcome"), "{heard:?}");
    sshd.fine(&["run", &suite, "--on", "stand", "--even-if-unfit", "--no-progress"]);
    let shown = parse(&sshd.fine(&["show", "--json"]).out);
    let repeats = shown["run"]["repeats"].to_string();
    assert!(!repeats.contains("Tuesday") && !repeats.contains("Welcome"), "{repeats}");
}

/// csh is no POSIX shell: it has another syntax, and takes no long words.
#[test]
fn csh_as_the_login_shell_will_do() {
    login_shell_will_do("bsd-csh", "csh");
}

/// Nor is fish.
#[test]
fn fish_as_the_login_shell_will_do() {
    login_shell_will_do("fish", "fish");
}

fn login_shell_will_do(program: &str, package: &str) {
    let shell = crate::common::on_path(program);
    if shell.is_empty() {
        assert!(std::env::var_os("CI").is_none(), "under CI nothing may be skipped: apt-get install {package}");
        eprintln!("skipped: apt-get install {package}");
        return;
    }
    let Some(mut sshd) = Sshd::new() else { return };
    let suite = sshd.suite("0.05");
    sshd.put_program("cc", &quick_compiler("quick 1", ""));
    // What sshd starts for a user whose shell it is.
    sshd.reconfigure(&format!("ForceCommand exec {shell} -c \"$SSH_ORIGINAL_COMMAND\""));
    sshd.fine(&["run", &suite, "--on", "stand", "--even-if-unfit", "--no-progress"]);
    let shown = parse(&sshd.fine(&["show", "--json"]).out);
    let repeats = shown["run"]["repeats"].as_array().unwrap().clone();
    assert!(repeats.len() == 6 && repeats.iter().all(|repeat| repeat["outcome"] == "valid"), "{repeats:?}");
    assert!(sshd.run(&["check", "--on", "stand"]).out.contains("governor"));
    sshd.fine(&["clean", "--on", "stand"]);
    assert!(!sshd.there().exists(), "{:?}", sshd.left());
}

#[test]
fn ctrl_c_while_the_machine_says_what_it_is_leaves_nothing_running_there() {
    let Some(sshd) = Sshd::new() else { return };
    sshd.with_build();
    let suite = sshd.suite("0.05");
    let asked = sshd.stand.path().join("asked");
    sshd.put_program("getconf", &format!("#!/bin/sh\n: >{}\nexec /bin/sleep 98766\n", asked.display()));
    for command in [&["run", &suite, "--on", "stand", "--even-if-unfit"][..], &["probe", "--on", "stand"]] {
        let _ = fs::remove_file(&asked);
        let child = sshd.command(command).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        wait_until("it is asked", || asked.exists());
        interrupt(&child);
        let ended = child.wait_with_output().unwrap();
        assert_eq!(ended.status.code(), Some(130), "{command:?}: {}", String::from_utf8_lossy(&ended.stderr));
        let sleeps = || crate::common::running(&["/bin/sleep", "98766"]);
        wait_until("nothing runs there", || sshd.running().is_empty() && sleeps().is_empty());
        assert!(sshd.left().iter().all(|name| name.starts_with("build-")), "{:?}", sshd.left());
    }
}

#[test]
fn what_a_machine_lacks_or_refuses_is_one_line_and_nothing_is_left() {
    let Some(sshd) = Sshd::new() else { return };
    let suite = sshd.suite("0.05");
    let run = ["run", &suite, "--on", "stand", "--even-if-unfit"];
    let with = |more: &[&'static str]| [&run[..], more].concat();
    sshd.refuses(&with(&["--cc", "no-such-cc"]), 4, &["stand: there is no compiler no-such-cc there", "--cc"]);
    for cc in ["--cc=", "--cc= ", "--cc=-O2", "--cc=./cc"] {
        let refused = sshd.run(&with(&[cc]));
        assert_eq!(refused.status, Some(2), "{}", refused.err);
        assert!(refused.err.contains("name a compiler as it is called on the PATH"), "{}", refused.err);
    }
    sshd.refuses(&with(&["--cflags", "--no-such-flag"]), 4, &["stand: ", "--no-such-flag", "does not compile"]);
    assert!(sshd.builds().is_empty(), "what failed is removed: {:?}", sshd.builds());
    sshd.refuses(&["run", &suite, "--on=-oProxyCommand=id"], 2, &["no destination for ssh"]);
    // A disk that is full, and one that cannot be written.
    fs::create_dir_all(sshd.there()).unwrap();
    for (options, part) in [("size=300k", "No space left"), ("ro", "Read-only file system")] {
        let _mounted = Mounted::new(&sshd.there(), options);
        sshd.refuses(&run, 4, &["stand:", part]);
        assert!(sshd.builds().is_empty(), "{options}: {:?}", sshd.builds());
    }
    // Somebody else answers. The command that removes the old key may be typed as it stands.
    let kept_under = format!("[127.0.0.1]:{}", sshd.link.port);
    let known = sshd.stand.path().join("known");
    let other = fs::read_to_string(sshd.stand.path().join("user.pub")).unwrap();
    fs::write(&known, format!("[127.0.0.1]:{} {other}", sshd.link.port)).unwrap();
    sshd.refuses(&run, 4, &["stand: its host key has changed", "`ssh-keygen ", &kept_under]);
    // Nobody has looked at its key yet.
    fs::write(&known, "").unwrap();
    sshd.refuses(&run, 4, &["stand: ssh does not know its host key yet; `ssh stand` shows it"]);
    sshd.link.cut();
    sshd.refuses(&run, 4, &["stand: ", "Connection"]);
}
