//! Test suites of other projects: which tests pass there and fail here, by name.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::common::sshd::Sshd;
use crate::common::{Ended, Stand, executable};
use serde_json::{Value, json};

/// A suite that runs this command and reads its tests in this form. `more`: further lines of the scenario.
fn suite(stand: &Stand, format: &str, command: &str, more: &str) -> String {
    let command = command.replace('{', "{{").replace('}', "}}");
    let text = format!(
        "name = \"port\"\ntitle = \"the tests of a project\"\nsample_hertz = 0\n[[scenario]]\nname = \"unit tests\"\n\
         instrument = \"tests\"\nparameters.format = \"{format}\"\nparameters.command = '''{command}'''\n{more}\n"
    );
    let path = stand.path().join("port.toml");
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

fn run(stand: &Stand, suite: &str, more: &[&str]) -> Ended {
    stand.run(&[&["run", suite, "--no-progress", "--even-if-unfit"], more].concat())
}

/// The repeats of the newest run.
fn repeats(stand: &Stand) -> Vec<Value> {
    stand.json(&["show", "last"])["run"]["repeats"].as_array().unwrap().clone()
}

/// Outcome and name of each test of a repeat.
fn tests(repeat: &Value) -> Vec<String> {
    let line = |test: &Value| format!("{} {}", test["outcome"].as_str().unwrap(), test["name"].as_str().unwrap());
    repeat["tests"].as_array().into_iter().flatten().map(line).collect()
}

#[test]
fn tests_that_pass_there_and_fail_here_are_named_with_what_they_said() {
    let stand = Stand::new();
    let suite = suite(&stand, "tap", "cat tests.tap; exit 1", &format!("parameters.directory = {:?}", stand.path()));
    let here = |tap: &str, label: &str| {
        fs::write(stand.path().join("tests.tap"), tap).unwrap();
        let ended = run(&stand, &suite, &["--label", label]);
        assert_eq!(ended.status, Some(0), "a suite whose tests fail has run:\n{}\n{}", ended.out, ended.err);
        ended.out
    };
    let out = here("1..5\nok 1 - open\nok 2 - read\nnot ok 3 - write\nok 4 - old\nok 5 - sync\n", "there");
    assert!(out.contains("unit tests: 4 passed, 1 failed, 0 skipped."), "{out}");
    here(
        "1..6\nok 1 - open\nnot ok 2 - read\n#  got: \u{1b}[31m'2'\n# wanted: '1'\nok 3 - write\nok 4 - new\n\
         not ok 5 - newer\nok 6 - sync # SKIP no such processor\n",
        "here",
    );
    let headline = "unit tests: 1 test that passes on there fails on here; 1 is skipped only on here; 1 passes only on here; 1 exists only on \
                    there; 2 exist only on here.";
    let flat = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let compared = flat(&stand.fine(&["compare", "there", "here"]).out);
    assert!(compared.contains(headline), "{compared}");
    assert!(compared.contains("Pass on there, fail on here read got: \u{fffd}[31m'2' wanted: '1'"), "{compared}");
    let markdown = stand.fine(&["compare", "there", "here", "--format", "md"]).out;
    assert!(flat(&markdown).contains(headline) && markdown.contains("| read | got: "), "{markdown}");
    let table = &stand.json(&["compare", "there", "here"])["table"];
    let changes = table["conformance"][0]["against_base"][0]["changes"].as_array().unwrap().clone();
    let kinds: Vec<_> =
        changes.iter().map(|change| [&change["kind"], &change["test"]].map(|text| text.as_str().unwrap())).collect();
    assert_eq!(
        kinds,
        [
            ["fails_here", "read"],
            ["skipped_here", "sync"],
            ["passes_here", "write"],
            ["only_in_base", "old"],
            ["only_here", "new"],
            ["only_here", "newer"]
        ]
    );
    assert_eq!(table["rows"][0]["cells"][1]["against_base"], Value::Null, "the time is that of other work");
    let page = stand.fine(&["report", "there", "here", "-o", "-"]).out;
    for words in ["<h2 id=\"tests\">", "<code>read</code>", "1 тест проходит на there и падает на here"]
    {
        assert!(page.contains(words), "{words}");
    }
    // A new failure is worse in any order of the runs, and the other way round there is one too.
    for (base, other, status) in [("there", "here", 1), ("here", "there", 1), ("here", "here-2", 0)] {
        if other == "here-2" {
            run(&stand, &suite, &["--label", other]);
        }
        let ended = stand.run(&["compare", base, other, "--fail-on", "worse"]);
        assert_eq!(ended.status, Some(status), "{base} {other}: {}", ended.err);
    }
    let shown = flat(&stand.fine(&["show", "here"]).out);
    assert!(shown.contains("3 passed, 2 failed, 1 skipped") && shown.contains("newer fails"), "{shown}");
    // What leaves the machine names tests, and says nothing of what they said.
    stand.fine(&["export", "here", "--public", "-o", "here.stend"]);
    let other = Stand::new();
    let file = stand.path().join("here.stend");
    other.fine(&["import", file.to_str().unwrap()]);
    let repeat = &repeats(&other)[0];
    assert_eq!((tests(repeat).len(), &repeat["tests"][1]["said"]), (6, &Value::Null));
}

#[test]
fn a_suite_that_ends_early_keeps_the_tests_that_told_and_says_what_is_missing() {
    let stand = Stand::new();
    let there = suite(&stand, "tap", "printf '1..3\\nok 1 - a\\nok 2 - b\\nok 3 - c\\n'", "");
    assert_eq!(run(&stand, &there, &["--label", "there"]).status, Some(0));
    let crash = suite(&stand, "tap", "printf '1..3\\nok 1 - a\\n'; kill -SEGV $$", "");
    let ended = run(&stand, &crash, &["--label", "here"]);
    assert_eq!(ended.status, Some(3), "{}", ended.err);
    let cut = "the test suite did not run to its end: 1 passed, 0 failed, 0 skipped; 1 of 3 planned tests reported; signal 11 ended the suite";
    let flat = ended.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains(cut), "{}", ended.out);
    assert_eq!(tests(&repeats(&stand)[0]), ["passed a"]);
    let compared = stand.run(&["compare", "there", "here", "--fail-on", "worse"]);
    assert_eq!(compared.status, Some(1), "{}", compared.err);
    let flat = compared.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("2 were not reached on here, where the suite ended early"), "{}", compared.out);
    // One that runs no test has not run, whatever its exit status.
    for (command, why) in
        [("true", "the suite reported no test"), ("echo oh dear; exit 9", "exited with status 9: `oh dear`")]
    {
        let ended = run(&stand, &suite(&stand, "tap", command, ""), &[]);
        assert_eq!(ended.status, Some(3), "{command}");
        let flat = ended.out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flat.contains(why), "{}", ended.out);
    }
    // A suite that hangs is ended. How long the machine takes to come that far is not known.
    let hung = (1..8).map(|power| format!("{}s", 1 << power)).find(|timeout| {
        let hang =
            suite(&stand, "tap", "printf '1..2\\nok 1 - a\\n'; exec sleep 10000", &format!("timeout = \"{timeout}\""));
        run(&stand, &hang, &[]);
        let repeat = &repeats(&stand)[0];
        assert_eq!(repeat["outcome"]["failed"]["cause"], "timed_out");
        tests(repeat) == ["passed a"]
    });
    assert!(hung.is_some());
}

#[test]
fn a_test_that_sometimes_fails_is_flaky_and_two_sides_take_turns() {
    let stand = Stand::new();
    let directory = format!("parameters.directory = {:?}\nrepeats = 4", stand.path());
    let command = "echo >>times; n=$(wc -l <times); echo 1..2; echo ok 1 - always; [ $((n % 2)) = 0 ] && echo ok 2 - odd || echo not ok 2 - odd";
    run(&stand, &suite(&stand, "tap", command, &directory), &[]);
    let conformance = &stand.json(&["show", "last"])["run"]["table"]["conformance"][0]["runs"][0];
    assert_eq!(
        [&conformance["passed"], &conformance["flaky"], &conformance["repeats"]],
        [&json!(1), &json!(1), &json!(4)]
    );
    let shown = stand.fine(&["show", "last"]).out;
    assert!(shown.contains("failed in 2 of 4"), "{shown}");
    let command = "echo 1..2; echo ok 1 - always; echo ${BROKEN:+not} ok 2 - side";
    let ended =
        run(&stand, &suite(&stand, "tap", command, "repeats = 2"), &["--ab", "name=old", "name=new; env.BROKEN=1"]);
    assert!(ended.out.contains("1 test that passes on old fails on new"), "{}", ended.out);
    // One side that crashes does not keep the other from running, whichever comes first.
    let command = "echo 1..2; echo ok 1 - always; [ -z \"$BROKEN\" ] || kill -SEGV $$; echo ok 2 - side";
    let ended =
        run(&stand, &suite(&stand, "tap", command, ""), &["--ab", "name=old", "name=new; env.BROKEN=1", "--seed", "1"]);
    assert!(ended.out.contains("1 was not reached on new"), "{}", ended.out);
}

#[test]
fn a_script_of_ones_own_may_tell_of_tests_too() {
    let stand = Stand::new();
    let script = stand.path().join("own.sh");
    executable(
        &script,
        r#"#!/bin/sh
cat <<'END'
{"event":"begin","wire":1,"instrument":"own"}
{"event":"test","name":"first","outcome":"passed","wall_ns":12}
{"event":"test","name":"first","outcome":"failed","said":"two\nlines"}
{"event":"test","name":"/home/me/a/x.c","outcome":"passed"}
{"event":"test","name":"/home/me/b/x.c","outcome":"passed"}
{"event":"repeat","wall_ns":5,"work":{"tests":4},"check":"passed"}
{"event":"end"}
END
"#,
    );
    let text = format!(
        "name = \"own\"\ntitle = \"own\"\nrepeats = 1\nwarmup = 0\n{}[[scenario]]\nname = \"own\"\ncommand = [{script:?}]\n\
         metrics = [{{ name = \"time\", value = \"wall\", unit = \"s\", better = \"lower\" }}]\n",
        crate::common::NO_LIMITS
    );
    let path = stand.path().join("own.toml");
    fs::write(&path, text).unwrap();
    let ended = run(&stand, path.to_str().unwrap(), &[]);
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    let repeat = &repeats(&stand)[0];
    assert_eq!(tests(repeat)[..2], ["passed first", "failed first (2)"]);
    assert_eq!((&repeat["tests"][0]["wall_ns"], &repeat["tests"][1]["said"]), (&json!(12), &json!("two lines")));
    // Names that differ in a path alone stay apart where paths are left out.
    stand.fine(&["export", "last", "--public", "-o", "own.stend"]);
    let other = Stand::new();
    other.fine(&["import", stand.path().join("own.stend").to_str().unwrap()]);
    let names: std::collections::BTreeSet<_> = tests(&repeats(&other)[0]).into_iter().collect();
    assert!(names.len() == 4 && !names.iter().any(|name| name.contains("/home")), "{names:?}");
    // Another machine may run it without a lab, and not what a lab must read.
    let pack = |path: &str| stand.run(&["pack", path, "-o", "plan.json"]);
    assert_eq!(pack(path.to_str().unwrap()).status, Some(0));
    let refused = pack(&suite(&stand, "tap", "true", ""));
    assert!(refused.status != Some(0) && refused.err.contains("require a connection to the lab"), "{}", refused.err);
}

/// Whatever is fetched from a machine that ssh reaches.
#[test]
fn results_in_files_come_from_the_machine_that_ran_the_suite() {
    let Some(sshd) = Sshd::new() else { return };
    sshd.with_build();
    let path = sshd.stand.path().join("port.toml");
    let command = "echo '<testsuite><testcase classname=\\\"a\\\" name=\\\"b\\\"/><testcase name=\\\"c\\\"><failure message=\\\"no\\\"/></testcase></testsuite>' \
                   >$STEND_RESULTS/one.xml; echo '<testsuite><testcase name=\\\"d\\\"/>' >$STEND_RESULTS/two.xml";
    let text = format!(
        "name = \"port\"\ntitle = \"t\"\nsample_hertz = 0\n[[scenario]]\nname = \"s\"\ninstrument = \"tests\"\n\
         parameters = {{ format = \"junit\", command = \"{command}\" }}\n"
    );
    fs::write(&path, text).unwrap();
    let ended = sshd.run(&["run", path.to_str().unwrap(), "--on", "stand", "--even-if-unfit", "--no-progress"]);
    assert_eq!(ended.status, Some(3), "{}\n{}", ended.out, ended.err);
    let flat = ended.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("two.xml cannot be read to its end: it ends in the midst"), "{}", ended.out);
    let shown: Value = serde_json::from_str(&sshd.fine(&["show", "--json"]).out).unwrap();
    assert_eq!(tests(&shown["run"]["repeats"][0]), ["passed a.b", "failed c", "passed d"]);
}

/// The tools themselves, of a project of each kind.
#[test]
fn suites_of_real_tools_are_read() {
    let stand = Stand::new();
    let write = |name: &str, text: &str| {
        let path = stand.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write("sums/Cargo.toml", "[package]\nname = \"sums\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n");
    write(
        "sums/src/lib.rs",
        "#[test] fn adds() {}\n#[test] fn fails() { panic!(\"oh dear\") }\n#[test] #[ignore] fn off() {}\n",
    );
    write("sums/tests/it.rs", "#[test] fn crashes() { std::process::abort() }\n");
    write(
        "CMakeLists.txt",
        "cmake_minimum_required(VERSION 3.21)\nproject(t NONE)\nenable_testing()\nadd_test(NAME good COMMAND true)\n\
         add_test(NAME bad COMMAND sh -c \"echo oh dear; exit 3\")\nadd_test(NAME none COMMAND /no/such/program)\n",
    );
    write("t/a.t", "use Test::More tests => 2; ok(1, 'one'); ok(0, 'two');");
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let at = format!("parameters.directory = {:?}", stand.path());
    let made = |format: &str, program: &str, command: &str| {
        if !stend_testing::have(program) {
            return Vec::new();
        }
        let ended = run(&stand, &suite(&stand, format, command, &at), &[]);
        let repeat = &repeats(&stand)[0];
        assert!(!tests(repeat).is_empty(), "{command}: {}\n{repeat:#}", ended.out);
        tests(repeat)
    };
    let of_cargo =
        made("cargo", &cargo, &format!("cd sums && '{cargo}' test --offline --no-fail-fast -- --test-threads=1"));
    assert_eq!(of_cargo, ["passed sums::adds", "failed sums::fails", "skipped sums::off", "failed it::crashes"]);
    let of_ctest = made("junit", "cmake", "cmake -B b . && ctest --test-dir b --output-junit $STEND_RESULTS/ctest.xml");
    assert!(of_ctest.is_empty() || of_ctest == ["passed good", "failed bad", "failed none"], "{of_ctest:?}");
    let of_prove = made("tap", "prove", "prove -v t");
    assert!(of_prove.is_empty() || of_prove == ["passed t/a.t: one", "failed t/a.t: two"], "{of_prove:?}");
}

/// A suite without a form of its own, by the script from the guide: the tests of a cipher library, here and for another processor.
#[test]
fn the_tests_of_our_own_library_pass_on_another_processor() {
    let stand = Stand::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let guide = fs::read_to_string(root.join("docs/guide/porting.md")).unwrap();
    let (_, script) = guide.split_once("```sh\n#!/bin/sh\n").expect("the guide has the script");
    let script = format!("#!/bin/sh\n{}", script.split_once("\n```").unwrap().0);
    let path = stand.path().join("tap.sh");
    executable(&path, &script);
    let built = |compiler: &str, build: &str| {
        let programs = ["vectors", "multiply"].map(|name| format!("{build}/tests/{name}"));
        let make = Command::new("make")
            .args([
                "-s",
                "-C",
                "kuzma",
                "LDFLAGS=-static",
                "OPTIMIZE=-O0",
                // The code for each processor is a matter of the library's own tests.
                "CFLAGS=-DKUZMA_NO_INTRINSICS",
                &format!("BUILD={build}"),
                &format!("CC={compiler}"),
            ])
            .args(&programs)
            .current_dir(&root)
            .env_remove("MAKEFLAGS")
            .output()
            .unwrap();
        assert!(make.status.success(), "{}", String::from_utf8_lossy(&make.stderr));
        programs.join(" ")
    };
    for program in ["qemu-aarch64-static", "aarch64-linux-gnu-gcc"] {
        if !stend_testing::have(program) {
            return;
        }
    }
    let native = built("cc", "../target/native/porting");
    let cross = built("aarch64-linux-gnu-gcc", "../target/native/porting-aarch64");
    let text = format!(
        "name = \"kuzma\"\ntitle = \"t\"\nsample_hertz = 0\n[[scenario]]\nname = \"kuzma\"\ninstrument = \"tests\"\n\
         parameters = {{ format = \"tap\", directory = {:?}, command = \"{} $PROGRAMS\" }}\n",
        root.join("kuzma"),
        path.display()
    );
    fs::write(stand.path().join("kuzma.toml"), text).unwrap();
    let sides = [
        format!("name=native; env.PROGRAMS={native}"),
        format!("name=aarch64; env.PROGRAMS={cross}; env.RUN=qemu-aarch64-static"),
    ];
    let ended = run(&stand, "./kuzma.toml", &["--ab", &sides[0], &sides[1]]);
    assert!(
        ended.out.contains("none of the 2 tests that pass on native fails on aarch64"),
        "{}\n{}",
        ended.out,
        ended.err
    );
    assert_eq!(
        tests(&repeats(&stand)[0]),
        ["passed multiply", "passed vectors"].map(str::to_owned).iter().rev().cloned().collect::<Vec<_>>()
    );
}
