//! `stend run --ab`: two sides of one machine in turns, compared as pairs; and what a side changes is put back.

use crate::common::{Ended, Gate, Stand, environment, executable, in_own_namespaces};
use serde_json::Value;

fn says(ended: &Ended, status: i32, parts: &[&str]) {
    assert_eq!(ended.status, Some(status), "{}\n{}", ended.out, ended.err);
    assert_eq!(ended.err.trim().lines().count(), 1, "one line:\n{}", ended.err);
    for part in parts {
        assert!(ended.err.contains(part), "`{part}` is not in:\n{}", ended.err);
    }
}

/// A suite of one scenario whose times are made: they grow by `growth` from call to call, and tremble.
fn made(stand: &Stand, repeats: u32, growth: f64, tremble: f64) -> String {
    let calls = stand.path().join("calls");
    stand.suite(
        &format!("repeats = {repeats}\nwarmup = 1"),
        &[("one", &format!("drifting.sh {} {growth} {tremble}", calls.display()))],
    )
}

fn run_ab(stand: &Stand, suite: &str, a: &str, b: &str) -> Value {
    stand.json(&["run", suite, "--even-if-unfit", "--no-progress", "--seed", "3", "--ab", a, b])["table"].clone()
}

fn against(table: &Value) -> &Value {
    &table["rows"][0]["cells"][1]["against_base"]
}

#[test]
fn the_same_twice_gives_no_mark() {
    let stand = Stand::new();
    let suite = made(&stand, 10, 0.001, 0.04);
    let table = run_ab(&stand, &suite, "", "name=same");
    assert_eq!(table["columns"][0]["title"], "as it is");
    assert_eq!(table["columns"][1]["title"], "same");
    let verdict = against(&table)["verdict"].as_str().unwrap();
    assert!(verdict == "same" || verdict == "unresolved", "{table:#}");

    // A side that was given no name has one in each language of the page.
    let page = std::fs::read_to_string(stand.fine(&["report", "last"]).out.trim()).unwrap();
    for words in ["«same» против «без изменений»", "<span lang=\"ru\">без изменений</span>"]
    {
        assert!(page.contains(words), "{words}");
    }
    for russian in page.split("<span lang=\"ru\">").skip(1).filter_map(|rest| rest.split_once("</span>")) {
        assert!(!russian.0.contains("as it is"), "{}", russian.0);
    }
    let drawings = stand.path().join("drawings");
    let directory = drawings.to_str().unwrap();
    stand.fine(&["report", "last", "-f", "svg", "--language", "ru", "--drawings", "repeats", "-o", directory]);
    let drawn = std::fs::read_to_string(drawings.join("one-repeats.svg")).unwrap();
    assert!(drawn.contains("без изменений") && !drawn.contains("as it is"), "{drawn}");
}

#[test]
fn what_slows_one_side_is_found_by_its_environment_and_its_prefix() {
    for side in ["env.SLOWER=1.05", "name=slow; prefix=env SLOWER=1.05"] {
        let stand = Stand::new();
        let suite = made(&stand, 10, 0.001, 0.01);
        let table = run_ab(&stand, &suite, "", side);
        let against = against(&table);
        assert_eq!(against["verdict"], "worse", "{table:#}");
        // A throughput at 1.05 times the time.
        let [low, high] = [0, 1].map(|end| against["interval"][end].as_f64().unwrap());
        assert!(low < 1.0 / 1.05 && 1.0 / 1.05 < high && high - low < 0.03, "{low} … {high}");
        // The other way round it is better, and one that is compared alone has its own column.
        let turned = stand.json(&["compare", "last:b", "last:a"]);
        assert_eq!(turned["table"]["rows"][0]["cells"][1]["against_base"]["verdict"], "better");
        assert_eq!(turned["table"]["columns"][1]["title"], "as it is");
    }
}

/// Times that double within the run: as pairs of neighbours 3 % are found, and by two runs that drift like that they are not.
#[test]
fn pairs_see_through_a_drift_that_hides_it_from_two_runs() {
    let stand = Stand::new();
    let suite = made(&stand, 12, 0.04, 0.004);
    let table = run_ab(&stand, &suite, "", "env.SLOWER=1.04");
    assert_eq!(against(&table)["verdict"], "worse", "{table:#}");
    assert!(against(&table)["drift"].is_null(), "drift hits both alike: {table:#}");
    for slower in ["1", "1.04"] {
        std::fs::write(stand.path().join("calls"), "").unwrap();
        let arguments = ["run", &suite, "--even-if-unfit", "--no-progress", "-r", "12"];
        let ended = crate::common::ended(stand.command(&arguments).env("SLOWER", slower));
        assert_eq!(ended.status, Some(0), "{}", ended.err);
    }
    let two_runs = stand.json(&["compare", "last~1", "last"]);
    assert_eq!(against(&two_runs["table"])["verdict"], "unresolved", "{two_runs:#}");
}

#[test]
fn each_side_is_shown_listed_exported_and_reported() {
    let stand = Stand::new();
    let suite = made(&stand, 6, 0.001, 0.01);
    run_ab(&stand, &suite, "name=plain", "name=slow;env.SLOWER=1.05");
    let shown = stand.fine(&["show", "last", "--repeats"]).out;
    for part in
        ["side plain: as it is", "side slow: env.SLOWER=1.05", "one (plain) #0", "one (slow) #5", "pair by pair"]
    {
        assert!(shown.contains(part), "`{part}` is not in:\n{shown}");
    }
    let run = stand.json(&["show", "last"])["run"].clone();
    let repeats = run["repeats"].as_array().unwrap();
    let of =
        |side: u64| repeats.iter().filter(|repeat| repeat["side"] == side && repeat["phase"] == "measured").count();
    assert_eq!((of(0), of(1), repeats.len()), (6, 6, 14));
    let id = run["run"]["id"].as_str().unwrap().to_owned();
    // Imported elsewhere it is the same, to the last byte.
    let file = stand.path().join("run.gz");
    stand.fine(&["export", &id, "--output", file.to_str().unwrap()]);
    let other = Stand::new();
    other.fine(&["import", file.to_str().unwrap()]);
    let again = other.path().join("again.gz");
    other.fine(&["export", &id, "--output", again.to_str().unwrap()]);
    assert_eq!(std::fs::read(&file).unwrap(), std::fs::read(&again).unwrap());
    assert_eq!(other.fine(&["compare", "last"]).out, stand.fine(&["compare", &id]).out);
    // One side is a column beside others, and no side stands beside itself.
    let (plain, slow) = (format!("{id}:plain"), format!("{id}:slow"));
    let beside = other.json(&["compare", &slow, &plain]);
    assert_eq!(beside["table"]["columns"].as_array().unwrap().len(), 2);
    says(&other.run(&["compare", &plain, &slow, &id]), 2, &["is named twice"]);
    assert!(other.fine(&["compare", "last:slow", "--format", "csv"]).out.contains(&format!("{id}:slow")));
    says(&other.run(&["compare", "last:fast"]), 2, &["no side \"fast\"", "\"plain\" and \"slow\""]);
    let page = other.fine(&["report", "last"]).out;
    let page = std::fs::read_to_string(page.trim()).unwrap();
    assert!(page.contains("plain") && page.contains("env.SLOWER=1.05"));
}

#[test]
fn a_pair_that_a_kill_tore_is_made_again_and_no_other() {
    let stand = Stand::new();
    let gate = Gate::new();
    // The third pair's second repeat waits at the gate: two warm-ups and five measured are before it.
    let suite = stand.suite("repeats = 6", &[("one", &gate.after(7))]);
    let arguments = ["run", &suite, "--even-if-unfit", "--no-progress", "--ab", "name=x", "name=y"];
    let mut child = stand.command(&arguments).stderr(std::process::Stdio::null()).spawn().unwrap();
    gate.wait_until_reached();
    child.kill().unwrap();
    child.wait().unwrap();
    gate.open();
    stand.fine(&["resume", "--even-if-unfit", "--no-progress"]);
    let run = stand.json(&["show", "last"]);
    let repeats = run["run"]["repeats"].as_array().unwrap();
    let measured: Vec<_> = repeats.iter().filter(|repeat| repeat["phase"] == "measured").collect();
    let numbers: Vec<_> = measured.iter().map(|repeat| repeat["number"].as_u64().unwrap()).collect();
    assert_eq!(numbers, [0, 0, 1, 1, 2, 3, 3, 4, 4, 5, 5, 6, 6], "the torn one, 2, is replaced by another, 6");
    for pair in measured[5..].chunks(2) {
        assert_ne!(pair[0]["side"], pair[1]["side"]);
    }
    let cell = |side: usize| run["run"]["table"]["rows"][0]["cells"][side]["valid"].clone();
    assert_eq!((cell(0), cell(1)), (6.into(), 6.into()), "the half of the torn pair does not count");
}

#[test]
fn an_invalid_repeat_costs_its_pair_alone() {
    let stand = Stand::new();
    // Of the side that is told to, every call fails its check for a while.
    let script = stand.path().join("once-wrong.sh");
    std::fs::write(
        &script,
        "echo '{\"event\":\"begin\",\"wire\":1,\"instrument\":\"x\"}'\n\
         check=passed; if [ -n \"${WRONG:-}\" ]; then echo >>\"$1\"; [ \"$(wc -l <\"$1\")\" -eq 3 ] && check=failed; fi\n\
         echo '{\"event\":\"repeat\",\"wall_ns\":1000000,\"work\":{\"bytes\":1000},\"check\":\"'$check'\"}'\n\
         echo '{\"event\":\"end\"}'\n",
    )
    .unwrap();
    let calls = stand.path().join("wrong");
    let suite = stand.suite("repeats = 6", &[("one", &format!("drifting.sh {} 0 0", calls.display()))]);
    let text = std::fs::read_to_string(&suite).unwrap();
    let here = crate::common::instruments().join("drifting.sh");
    std::fs::write(&suite, text.replace(here.to_str().unwrap(), script.to_str().unwrap())).unwrap();
    run_ab(&stand, &suite, "", "env.WRONG=1");
    let run = stand.json(&["show", "last"]);
    let repeats = run["run"]["repeats"].as_array().unwrap();
    let of = |outcome: &dyn Fn(&Value) -> bool| repeats.iter().filter(|repeat| outcome(&repeat["outcome"])).count();
    assert_eq!(of(&|outcome| outcome["invalid"].is_array()), 1);
    // Two warm-ups, six whole pairs, and what was made of the lost one.
    assert!((15..=16).contains(&repeats.len()), "{}", repeats.len());
    let row = &run["run"]["table"]["rows"][0]["cells"];
    assert_eq!((&row[0]["valid"], &row[1]["valid"]), (&6.into(), &6.into()));
}

#[test]
fn a_side_may_have_another_tool_and_another_parameter() {
    let stand = Stand::new();
    let own = stand.path().join("own-gzip");
    executable(
        &own,
        "#!/bin/sh\ncase \"$1\" in --version) echo 'gzip 9.99 of this test' ;; *) exec /bin/gzip \"$@\" ;; esac\n",
    );
    let suite = stand.path().join("gzip.toml");
    let text = format!(
        "name = \"g\"\ntitle = \"g\"\nsample_hertz = 0\nrepeats = 1\nwarmup = 0\n{}\
         [[scenario]]\nname = \"pages\"\ninstrument = \"gzip\"\nparameters = {{ level = 1, pages = 2 }}\n\
         metrics = [{{ name = \"throughput\", value = \"bytes/wall\", unit = \"B/s\", better = \"higher\" }}]\n\
         [[scenario]]\nname = \"other\"\ncommand = [\"true\"]\n\
         metrics = [{{ name = \"m\", value = \"wall\", unit = \"s\", better = \"lower\" }}]\n",
        crate::common::NO_LIMITS
    );
    std::fs::write(&suite, text).unwrap();
    let suite = suite.to_str().unwrap();
    let tool = format!("name=own;tool.gzip={};set.level=2", own.display());
    let ended =
        stand.fine(&["run", suite, "--even-if-unfit", "--no-progress", "--ab", "name=usual;set.level=1", &tool]);
    assert!(ended.err.contains("skipped: other: it has no parameter \"level\""), "{}", ended.err);
    let run = stand.json(&["show", "last"])["run"].clone();
    for repeat in run["repeats"].as_array().unwrap() {
        let is_own = repeat["side"] == 1;
        assert_eq!(repeat["begin"]["version"].as_str().unwrap().contains("9.99"), is_own, "{repeat:#}");
        assert_eq!(repeat["begin"]["parameters"]["level"], if is_own { 2 } else { 1 });
    }
    let differences = stand.fine(&["compare", "last"]).out;
    assert!(differences.contains("own differs from usual") && differences.contains("9.99"), "{differences}");
}

/// With these a build takes the least time.
const PLAIN: &str = "-O0 -DKUZMA_NO_INTRINSICS -DSTEND_NO_INTRINSICS";

#[test]
fn both_compilers_and_their_flags_are_said() {
    let stand = Stand::new();
    let suite = stand.path().join("cipher.toml");
    let text = format!(
        "name = \"c\"\ntitle = \"c\"\nsample_hertz = 0\nrepeats = 1\nwarmup = 0\n{}\
         [[scenario]]\nname = \"kuznyechik\"\ninstrument = \"stend-probe cipher\"\nparameters = {{ cipher = \"kuznyechik\", size = \"64KiB\", \
         seconds = \"0.01\" }}\nmetrics = [{{ name = \"throughput\", value = \"bytes/wall\", unit = \"B/s\", better = \"higher\" }}]\n\
         [[scenario]]\nname = \"script\"\ncommand = [\"true\"]\n\
         metrics = [{{ name = \"m\", value = \"wall\", unit = \"s\", better = \"lower\" }}]\n",
        crate::common::NO_LIMITS
    );
    std::fs::write(&suite, text).unwrap();
    // A compiler of its own name, so that it is told from the usual one.
    let own = stand.path().join("own-cc");
    executable(
        &own,
        "#!/bin/sh\ncase \"$*\" in --version) printf 'own-cc 7.1\\ncompatible with gcc 9\\nand more\\n' ;; *) exec cc \"$@\" ;; esac\n",
    );
    let arguments = [
        "run",
        suite.to_str().unwrap(),
        "--even-if-unfit",
        "--no-progress",
        "--ab",
        &format!("name=plain;cflags={PLAIN}"),
        &format!("name=own;cc={};cflags={PLAIN} -fno-inline", own.display()),
    ];
    let ended = stand.fine(&arguments);
    assert!(ended.err.contains("skipped: script: it is none of the native instruments"), "{}", ended.err);
    let built: Vec<_> = ended.err.lines().filter(|line| line.contains("building")).collect();
    assert_eq!(built.len(), 2, "{}", ended.err);
    assert!(
        built[0].starts_with("side \"plain\": building stend-probe with ")
            && built[0].ends_with(&format!(", -std=c11 -O2 {PLAIN}"))
    );
    let own = format!("side \"own\": building stend-probe with own-cc 7.1, -std=c11 -O2 {PLAIN} -fno-inline");
    assert_eq!(built[1], own);
    for part in ["own differs from plain", "own-cc 7.1", "compatible with gcc 9", "STEND_NO_INTRINSICS -fno-inline"] {
        assert!(ended.out.contains(part), "`{part}` is not in:\n{}", ended.out);
    }
    assert!(!ended.out.contains("and more"), "two lines of a version: {}", ended.out);
    let run = stand.json(&["show", "last"])["run"].clone();
    for repeat in run["repeats"].as_array().unwrap() {
        let flags = if repeat["side"] == 0 { PLAIN } else { &format!("{PLAIN} -fno-inline") };
        assert!(repeat["begin"]["build"]["flags"].as_str().unwrap().ends_with(flags), "{repeat:#}");
        assert_eq!(repeat["outcome"], "valid");
    }
    // What was built once is kept.
    let work = stand.path().join("work");
    let times = || {
        let names = std::fs::read_dir(&work).unwrap().map(|entry| entry.unwrap());
        let builds = names.filter(|entry| entry.file_name().to_string_lossy().starts_with("build"));
        let of =
            |entry: std::fs::DirEntry| entry.path().join("build/stend-probe").metadata().unwrap().modified().unwrap();
        let mut times: Vec<_> = builds.map(of).collect();
        times.sort();
        times
    };
    let before = times();
    assert_eq!(before.len(), 2);
    stand.fine(&arguments);
    assert_eq!(times(), before);
}

#[test]
fn a_compiler_that_builds_nothing_is_quoted() {
    let stand = Stand::new();
    let broken = stand.path().join("broken-cc");
    executable(
        &broken,
        "#!/bin/sh\ncase \"$*\" in *--version*) echo broken 1 ;; *-dumpmachine*) ;; *) echo 'x.c:1: error: no such luck' >&2; exit 1 ;; esac\n",
    );
    let build = |side: &str| stand.run(&["run", "summit", "--even-if-unfit", "--ab", "", side]);
    let parts = ["--ab: side \"cc=", "does not compile kuzma/src/", "x.c:1: error: no such luck"];
    let mut ended = build(&format!("cc={}", broken.display()));
    // Before it says that it builds.
    ended.err =
        ended.err.lines().filter(|line| !line.contains(": building ")).map(|line| format!("{line}\n")).collect();
    says(&ended, 4, &parts);
    says(
        &build("cc=no-such-compiler"),
        4,
        &["side \"cc=no-such-compiler\"", "there is no compiler no-such-compiler here"],
    );
    says(&build("cc=false"), 4, &["false is no compiler that says its version"]);
    assert!(stand.json(&["list"])["runs"].as_array().unwrap().is_empty(), "nothing was begun");
    let names = std::fs::read_dir(stand.path().join("work")).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(names.into_iter().all(|name| !name.to_string_lossy().starts_with("build")), "nothing is left");
}

#[test]
fn what_is_no_side_is_said_in_a_line() {
    let stand = Stand::new();
    let suite = made(&stand, 6, 0.0, 0.0);
    let text = stand.path().join("text");
    std::fs::write(&text, "no program").unwrap();
    let long = format!("env.A={}", "x".repeat(99));
    for (a, b, status, parts) in [
        ("colour=red", "", 2, vec!["no setting \"colour\"", "env.NAME="]),
        ("", "summit", 2, vec!["\"summit\" is no setting of a side"]),
        ("", "", 2, vec!["both sides are called \"as it is\"", "name=…"]),
        ("env.A=1", "env.A=1", 2, vec!["both sides are called \"env.A=1\"", "set something else"]),
        ("name=x;env.A=1", "name=x;env.A=2", 2, vec!["both sides are called \"x\"", "another name"]),
        ("", &long, 2, vec!["too long", "name=…"]),
        ("", "backend=avx2", 2, vec!["no scenario of suite \"test\" has a parameter \"backend\"", "there are: none"]),
        ("", "sysctl.vm.swapiness=1", 4, vec!["no sysctl \"vm.swapiness\""]),
        ("", "sysctl.../etc/passwd=1", 2, vec!["no name of a sysctl"]),
        ("", "prefix=no-such-program -c 0", 4, vec!["no-such-program is not on the machine's PATH"]),
        ("", &format!("tool.fio={}", text.display()), 4, vec!["that is no program"]),
    ] {
        says(&stand.run(&["run", &suite, "--even-if-unfit", "--ab", a, b]), status, &parts);
    }
    let one = stand.run(&["run", &suite, "--ab", "env.A=1"]);
    assert_eq!(one.status, Some(2), "{}", one.err);
    assert!(one.err.contains("--ab takes two sides"), "{}", one.err);
    let profiled = stand.run(&["run", &suite, "--profile", "--ab", "", "env.A=1"]);
    assert_eq!(profiled.status, Some(2), "{}", profiled.err);
    says(&stand.run(&["run", "quick", "--only", "gzip", "--ab", "", "set.level=10"]), 2, &["level"]);
    assert!(!stand.store().join("stend.db").exists() || stand.json(&["list"])["runs"].as_array().unwrap().is_empty());
}

#[test]
fn a_dry_run_says_the_sides_and_the_pairs() {
    let stand = Stand::new();
    let suite = made(&stand, 6, 0.0, 0.0);
    let out = stand.fine(&["run", &suite, "--dry-run", "--ab", "", "env.A=1"]).out;
    for part in ["side as it is\n", "side env.A=1\n", "6 pairs of repeats", "14 repeats in all"] {
        assert!(out.contains(part), "`{part}` is not in:\n{out}");
    }
    // What can be found out without building or setting anything is.
    let own = stand.path().join("own-cc");
    executable(&own, "#!/bin/sh\nprintf 'own-cc 7.1\\ncompatible with gcc 9\\n'\n");
    let built = format!("name=own;cc={};cflags=-O3", own.display());
    let out = stand.fine(&["run", "summit", "--dry-run", "--ab", "", &built]).out;
    for part in ["side own: cc=", "stend-probe: built by own-cc 7.1; compatible with gcc 9 with -std=c11 -O2 -O3"] {
        assert!(out.contains(part), "`{part}` is not in:\n{out}");
    }
    assert!(!stand.path().join("work").exists(), "nothing is made for it");
    for (side, part) in [
        ("cc=no-such-compiler", "there is no compiler no-such-compiler here"),
        ("prefix=no-such-program", "no-such-program is not on the machine's PATH"),
        ("sysctl.vm.swapiness=1", "no sysctl \"vm.swapiness\""),
    ] {
        says(&stand.run(&["run", "summit", "--dry-run", "--ab", "", side]), 4, &["--ab: side", part]);
    }
}

/// In a namespace of host names `kernel.domainname` is nobody else's.
const SIDES: &str = "--ab sysctl.kernel.domainname=one.example 'name=two;sysctl.kernel.domainname=two.example'";

#[test]
fn a_sysctl_is_set_for_its_side_and_put_back_by_clean_after_a_kill() {
    let stand = Stand::new();
    let gate = Gate::new();
    let suite = stand.suite("repeats = 6", &[("one", &gate.after(5))]);
    let script = format!(
        r#"
        now() {{ cat /proc/sys/kernel/domainname; }}
        echo before.example >/proc/sys/kernel/domainname
        begin() {{ "$STEND" "$@" --even-if-unfit --no-progress >"$DIRECTORY/out" 2>"$DIRECTORY/err" & lab=$!; }}
        reached() {{ while ! [ -e "$GATE/waits" ] && kill -0 $lab; do sleep 0.05; done; }}
        begin run "$SUITE" {SIDES}
        reached
        echo "amid $(now)"
        kill -9 $lab; wait $lab
        echo "killed $(now)"
        "$STEND" clean 2>"$DIRECTORY/cleaned"
        echo "cleaned $? $(now)"
        rm "$GATE/waits"
        begin resume
        reached
        kill -9 $lab; wait $lab
        echo "again $(now)"
        : >"$GATE/open"
        "$STEND" resume --even-if-unfit --no-progress >/dev/null 2>"$DIRECTORY/resumed"
        echo "resumed $? $(now)"
        "$STEND" clean 2>/dev/null
        echo "last $(now)"
    "#
    );
    let mut owned = Vec::new();
    let Some(ended) = in_own_namespaces("mu", &script, &environment(&stand, &gate, &suite, &mut owned)) else { return };
    let read = |name: &str| std::fs::read_to_string(stand.path().join(name)).unwrap_or_default();
    let said = |word: &str| {
        let line = ended.out.lines().find_map(|line| line.strip_prefix(word));
        line.unwrap_or_else(|| panic!("no `{word}` in\n{}\n{}\n{}", ended.out, ended.err, read("err")))
            .trim()
            .to_owned()
    };
    for word in ["amid", "killed", "again"] {
        assert!(["one.example", "two.example"].contains(&said(word).as_str()), "{word}: {}", ended.out);
    }
    assert_eq!(said("cleaned"), "0 before.example", "{}", read("cleaned"));
    assert!(read("cleaned").contains("put back sysctl kernel.domainname to \"before.example\""), "{}", read("cleaned"));
    assert_eq!(said("resumed"), "0 before.example", "{}", read("resumed"));
    assert!(read("resumed").contains("a run that was killed had changed it"), "{}", read("resumed"));
    assert_eq!(said("last"), "before.example");
}

#[test]
fn a_sysctl_is_put_back_after_an_interruption_and_what_others_set_is_left() {
    let stand = Stand::new();
    let gate = Gate::new();
    let suite = stand.suite("repeats = 6", &[("one", &gate.after(5))]);
    let script = format!(
        r#"
        now() {{ cat /proc/sys/kernel/domainname; }}
        echo before.example >/proc/sys/kernel/domainname
        begin() {{ "$STEND" run "$SUITE" --even-if-unfit --no-progress {SIDES} >"$DIRECTORY/out" 2>"$DIRECTORY/err" & lab=$!; }}
        reached() {{ while ! [ -e "$GATE/waits" ] && kill -0 $lab; do sleep 0.05; done; }}
        begin
        reached
        kill -INT $lab; wait $lab
        echo "interrupted $? $(now)"
        rm "$GATE/waits" "$GATE/called"
        begin
        reached
        echo somebody.example >/proc/sys/kernel/domainname
        kill -9 $lab; wait $lab
        "$STEND" clean 2>"$DIRECTORY/cleaned"
        echo "cleaned $? $(now)"
        mount --bind /proc/sys /proc/sys && mount -o remount,ro,bind /proc/sys
        "$STEND" run "$SUITE" --even-if-unfit {SIDES} 2>"$DIRECTORY/refused"
        echo "refused $?"
    "#
    );
    let mut owned = Vec::new();
    let Some(ended) = in_own_namespaces("mu", &script, &environment(&stand, &gate, &suite, &mut owned)) else { return };
    let read = |name: &str| std::fs::read_to_string(stand.path().join(name)).unwrap_or_default();
    for line in ["interrupted 130 before.example", "cleaned 0 somebody.example", "refused 4"] {
        assert!(
            ended.out.lines().any(|said| said == line),
            "`{line}` is not in\n{}\n{}\n{}",
            ended.out,
            ended.err,
            read("err")
        );
    }
    assert!(read("cleaned").contains("left sysctl kernel.domainname at \"somebody.example\""), "{}", read("cleaned"));
    assert!(read("refused").contains("take root"), "{}", read("refused"));
    assert_eq!(read("refused").trim().lines().count(), 1, "{}", read("refused"));
}

#[test]
fn a_value_that_the_kernel_does_not_take_is_said_before_anything_is_measured() {
    let stand = Stand::new();
    let suite = made(&stand, 6, 0.0, 0.0);
    let script = r#"
        "$STEND" run "$SUITE" --even-if-unfit --ab '' sysctl.net.ipv4.ip_default_ttl=soon 2>"$DIRECTORY/refused"
        echo "refused $? $(cat /proc/sys/net/ipv4/ip_default_ttl)"
        "$STEND" run "$SUITE" --even-if-unfit --no-progress --ab '' sysctl.net.ipv4.ip_default_ttl=64 >"$DIRECTORY/out" 2>"$DIRECTORY/same"
        echo "same $?"
        "$STEND" list --json
    "#;
    let mut owned = Vec::new();
    let gate = Gate::new();
    let Some(ended) = in_own_namespaces("n", script, &environment(&stand, &gate, &suite, &mut owned)) else { return };
    let read = |name: &str| std::fs::read_to_string(stand.path().join(name)).unwrap_or_default();
    assert!(ended.out.contains("refused 4 64\nsame 0"), "{}\n{}\n{}", ended.out, read("refused"), read("same"));
    assert!(!read("out").contains("differs from as it is:"), "both have 64: {}", read("out"));
    let refused = read("refused");
    assert!(refused.contains("sysctl net.ipv4.ip_default_ttl cannot be set to \"soon\""), "{refused}");
    assert_eq!(refused.trim().lines().count(), 1, "{refused}");
    assert_eq!(ended.out.matches("\"id\"").count(), 1, "the refused one was not begun:\n{}", ended.out);
}

/// Few machines of tests have governors, so this one gets the files of two processors.
#[test]
fn a_governor_is_set_for_its_side() {
    let stand = Stand::new();
    let gate = Gate::new();
    let suite = stand.suite("repeats = 6", &[("one", &gate.after(5))]);
    let script = r#"
        cpu=/sys/devices/system/cpu
        mount -t tmpfs none $cpu || exit 99
        "$STEND" run "$SUITE" --even-if-unfit --ab '' governor=performance 2>"$DIRECTORY/none"
        echo "none $?"
        for number in 0 1; do
            mkdir -p $cpu/cpu$number/cpufreq
            echo 'performance powersave' >$cpu/cpu$number/cpufreq/scaling_available_governors
            echo powersave >$cpu/cpu$number/cpufreq/scaling_governor
        done
        "$STEND" run "$SUITE" --even-if-unfit --ab '' governor=ondemand 2>"$DIRECTORY/unknown"
        echo "unknown $?"
        "$STEND" run "$SUITE" --even-if-unfit --no-progress --ab governor=performance 'name=same;governor=performance' 2>"$DIRECTORY/err" &
        while ! [ -e "$GATE/waits" ] && kill -0 $!; do sleep 0.05; done
        # Unlike these, files of the kernel end their line.
        now() { for file in $cpu/cpu*/cpufreq/scaling_governor; do awk 1 ORS=' ' $file; done; }
        echo "amid $(now)"
        : >"$GATE/open"
        wait $!
        echo "ended $? $(now)"
        rm "$GATE/waits" "$GATE/called" "$GATE/open"
        "$STEND" run "$SUITE" --even-if-unfit --no-progress --ab governor=performance 'name=same;governor=performance' 2>"$DIRECTORY/err" &
        while ! [ -e "$GATE/waits" ] && kill -0 $!; do sleep 0.05; done
        kill -9 $!; wait $!
        echo "killed $(now)"
        "$STEND" clean 2>>"$DIRECTORY/err"
        echo "cleaned $? $(now)"
    "#;
    let mut owned = Vec::new();
    let Some(ended) = in_own_namespaces("m", script, &environment(&stand, &gate, &suite, &mut owned)) else { return };
    let read = |name: &str| std::fs::read_to_string(stand.path().join(name)).unwrap_or_default();
    let expected = [
        "none 4",
        "unknown 4",
        "amid performance performance",
        "ended 0 powersave powersave",
        "killed performance performance",
        "cleaned 0 powersave powersave",
    ];
    for line in expected {
        assert!(
            ended.out.lines().any(|said| said.trim() == line),
            "`{line}` is not in\n{}\n{}",
            ended.out,
            read("err")
        );
    }
    assert!(read("none").contains("this machine has no governors"), "{}", read("none"));
    assert!(read("unknown").contains("no such governor; it has performance powersave"), "{}", read("unknown"));
}
