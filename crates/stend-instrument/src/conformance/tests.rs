//! Each reader on what the real tool printed, and on what is left of that where the tool was cut short.

use std::collections::BTreeMap;

use proptest::prelude::*;
use stend_model::checked::Checks;
use stend_model::conformance::Tests;

use super::*;
use crate::Files;
use crate::fixture::scenario;

/// What was recorded of the tool that this is named after.
macro_rules! recorded {
    ($name:literal) => {
        include_str!(concat!("../../tests/fixtures/suites/", $name))
    };
}

/// A line for each test: `+` passed, `-` failed, `~` skipped, its name, and what it said; as a repeat keeps them.
fn lines(found: Found) -> Vec<String> {
    let mut tests = Tests::default();
    found.tests.into_iter().for_each(|test| tests.add(test).unwrap());
    let line = |test: Test| {
        let sign = match test.outcome {
            TestOutcome::Passed => '+',
            TestOutcome::Failed => '-',
            TestOutcome::Skipped => '~',
        };
        format!("{sign} {} | {}", test.name, test.said).trim_end_matches(" | ").to_owned()
    };
    tests.take().into_iter().map(line).collect()
}

fn file(text: &str) -> Files {
    BTreeMap::from([("/repeat/results/a.xml".to_owned(), text.as_bytes().to_vec())])
}

fn unlike_plan(program: &str, told: u64, planned: u64, said: &str) -> Checked {
    Checked::TestsUnlikePlan { program: program.into(), planned, told, said: said.into() }
}

#[test]
fn tap_of_perl() {
    let found = tap::read(recorded!("perl.tap"));
    assert_eq!(found.cut, []);
    assert_eq!(
        lines(found),
        ["+ it works", "- one is two # really", "~ test 3 | no network", "~ not yet | later", "+ inner"]
    );
    let found = tap::read(recorded!("bail.tap"));
    assert_eq!(found.cut, [Checked::TestsGivenUp { said: "no database".into() }, unlike_plan("", 1, 3, "")]);
    assert_eq!(lines(found), ["+ a"]);
}

#[test]
fn tap_of_several_programs_under_prove() {
    let found = tap::read(recorded!("prove.tap"));
    assert_eq!(found.cut, [unlike_plan("t/dies.t", 1, 3, "")], "a signal ended it");
    assert_eq!(
        lines(found),
        [
            "+ t/basic.t: it works",
            "- t/basic.t: one is two # really",
            "~ t/basic.t: test 3 | no network",
            "~ t/basic.t: not yet | later",
            "+ t/basic.t: inner",
            "+ t/dies.t: before",
            "+ t/done.t: test 1",
            "+ t/done.t: named",
            "~ t/skipped.t | no such processor",
        ]
    );
}

#[test]
fn tap_of_node_with_its_times() {
    let found = tap::read(recorded!("node.tap"));
    assert_eq!(found.cut, []);
    assert_eq!(found.tests[0].wall_ns, Some(17_581_737));
    assert_eq!(
        lines(found),
        [
            "+ adds",
            "- fails | error: 'one is not two' expected: 2 actual: 1 operator: '=='",
            "~ skipped | no network",
            "~ todo",
            "- group | not ok 2 - b error: '1 subtest failed'",
        ]
    );
}

#[test]
fn tap_in_the_other_forms_that_it_has() {
    let read = |text: &str| {
        let found = tap::read(text);
        (found.cut.clone(), lines(found))
    };
    // A plan behind the tests, diagnostics, no numbers, no names.
    let (cut, tests) = read("ok\nnot ok\n#  got 1\n# wanted 2\nnoise\n1..2\n");
    assert_eq!((cut.len(), &tests[..]), (0, &["+ test 1".to_owned(), "- test 2 | got 1 wanted 2".to_owned()][..]));
    // One program after the other, as `cat` shows them.
    let (cut, tests) = read("1..1\nok 1 - a\n1..2\nok 1 - a\nok 2 - b\nok 1 - c\n1..1\n");
    assert_eq!((cut.len(), &tests[..]), (0, &["+ a", "+ a (2)", "+ b", "+ c"].map(str::to_owned)[..]));
    // The form of PostgreSQL's pg_regress.
    let (_, tests) = read(
        "1..2\nok 1         + boolean                                    55 ms\nnot ok 2     - char      1034 ms\n",
    );
    assert_eq!(tests, ["+ boolean", "- char"]);
    assert_eq!(read("ok 1 - a\n").0, [Checked::TestsWithoutEnd]);
    assert_eq!(read("1..3\nok 1 - a\nok 2 - b").0, [unlike_plan("", 2, 3, "")]);
    assert_eq!(read("okay then\nok-ish\n1..x\n").1, [""; 0]);
}

#[test]
fn cargo_with_several_programs() {
    let found = cargo::read(recorded!("cargo.txt"));
    assert_eq!(found.cut, []);
    let wrong = "thread 'tests::fails'";
    let lines = lines(found);
    assert!(lines[2].contains(wrong) && lines[2].contains("wrong sum left: 2 right: 3"), "{}", lines[2]);
    let starts = [
        "+ sums::tests::adds",
        "~ sums::tests::off",
        "- sums::tests::fails | before",
        "+ sums::tests::panics",
        "~ sums::tests::slow | slow",
        "+ sums::tests::talks",
        "+ it::crashes",
        "+ it::first",
        "+ it::last",
        "+ sums (doc)::src/lib.rs - add (line 3)",
        "+ sums (doc)::src/lib.rs - add (line 6)",
    ];
    assert_eq!(lines.len(), starts.len());
    let others = lines.iter().zip(starts);
    others.for_each(|(line, start)| assert!(line.starts_with(start), "{line} instead of {start}"));
}

#[test]
fn cargo_that_stops_and_a_program_that_crashes() {
    assert_eq!(cargo::read(recorded!("cargo-stopped.txt")).cut, [Checked::TestsStoppedAtFailure]);
    let found = cargo::read(recorded!("cargo-crash.txt"));
    let signal = "(signal: 6, SIGABRT: process abort signal)";
    assert_eq!(found.cut, [unlike_plan("it", 1, 3, signal)]);
    let lines = lines(found);
    assert!(
        lines.contains(&format!("- it::crashes | {signal}")),
        "the one that ran is the one that ended it: {lines:?}"
    );
    assert!(lines.contains(&"+ sums::tests::talks".to_owned()), "whose words stood before its end");
    assert!(lines.last().unwrap().starts_with("+ sums (doc)"), "and others go on");
}

#[test]
fn googletest_and_its_crash() {
    let found = gtest::read(recorded!("gtest.txt"));
    assert_eq!(found.cut, []);
    let of_text = lines(found);
    assert_eq!(
        of_text,
        [
            "+ Sums.Adds",
            "- Sums.Fails | g.cc:4: Failure Expected equality of these values: 1 2 one is <not> two g.cc:4: Failure Value of: false \
             Actual: false Expected: true",
            "~ Sums.DISABLED_Later",
            "~ Sums.Skips | g.cc:6: Skipped no such processor",
            "+ Z.Crashes",
            "+ All/P.IsSmall/0",
            "- All/P.IsSmall/1 | g.cc:8: Failure Expected: (GetParam()) < (2), actual: 2 vs 2",
        ]
    );
    let found = junit::read(&file(recorded!("gtest.xml")));
    assert_eq!(found.cut, []);
    let names =
        |lines: &[String]| lines.iter().map(|line| line.split(" | ").next().unwrap().to_owned()).collect::<Vec<_>>();
    assert_eq!(names(&lines(found)), names(&of_text), "both say the same");
    let found = gtest::read(recorded!("gtest-crash.txt"));
    assert_eq!(found.cut, [unlike_plan("", 4, 6, "")]);
    assert_eq!(lines(found).last().unwrap(), "- Z.Crashes");
}

#[test]
fn junit_of_pytest() {
    let found = junit::read(&file(recorded!("pytest.xml")));
    assert_eq!(found.cut, []);
    assert_eq!(found.tests[6].wall_ns, Some(9_000_000));
    assert_eq!(
        lines(found),
        [
            "+ t.test_passes",
            "- t.test_fails | AssertionError: one is not two <&> assert 1 == 2",
            "~ t.test_skips | no network",
            "~ t.test_xfail | known",
            "+ t.test_xpass",
            "+ t.test_param[1]",
            "- t.test_param[a b] | AssertionError: assert 'a b' != 'a b'",
            "+ t.test_param[\\xe9\\x1b[1m]",
            "- t.test_teardown | failed on teardown with \"RuntimeError: teardown\"",
            "- t.test_setup | failed on setup with \"RuntimeError: setup\"",
            "+ t.TestC.test_in_class",
        ]
    );
}

#[test]
fn junit_of_ctest() {
    let found = junit::read(&file(recorded!("ctest.xml")));
    assert_eq!(found.cut, []);
    assert_eq!(
        lines(found),
        [
            "+ passes",
            "- fails | one line <two> & \"three\"",
            "- crashes",
            "- not-there | Unable to find executable",
            "~ skips | SKIP_RETURN_CODE=77",
            "- hangs",
            "~ disabled",
            "+ willfail",
        ],
        "as CTest's own summary has them"
    );
}

#[test]
fn junit_of_node_and_mocha() {
    let found = junit::read(&file(recorded!("node.xml")));
    assert_eq!(found.cut, []);
    assert_eq!(
        lines(found),
        [
            "+ test.adds",
            "- test.fails | one is not two",
            "~ test.skipped | no network",
            "~ test.todo | true",
            "+ test.a",
            "- test.b | boom <b>",
        ]
    );
    let found = junit::read(&file(recorded!("mocha.xml")));
    assert_eq!(found.cut, []);
    let lines = lines(found);
    assert_eq!([&lines[0][..], &lines[2]], ["+ sums.adds", "~ sums.later"]);
    assert!(lines[1].starts_with("- sums.fails | 1 == 2 + expected - actual"), "{}", lines[1]);
}

#[test]
fn a_file_that_is_no_result_or_is_cut_off_says_so() {
    let cut = |text: &str| {
        let found = junit::read(&file(text));
        let [Checked::TestsFileCut { file, said }] = &found.cut[..] else { panic!("{:?} of {text}", found.cut) };
        assert_eq!(file, "a.xml");
        (found.tests.len(), said.clone())
    };
    let whole = recorded!("pytest.xml");
    let (tests, said) = cut(&whole[..whole.find("test_teardown").unwrap()]);
    assert!(tests == 8 && !said.is_empty(), "{tests}: {said}");
    let at_an_end = whole.find("<testcase classname=\"t\" name=\"test_skips\"").unwrap();
    assert_eq!(cut(&whole[..at_an_end]), (2, "it ends in the midst".into()));
    assert_eq!(cut(""), (0, "it is empty".into()));
    assert_eq!(cut("<html/>"), (0, "<html> is no <testsuite>".into()));
    assert!(cut("not at all").1.contains("empty"));
    let bomb = "<?xml version=\"1.0\"?><!DOCTYPE t [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;\">]>\
        <testsuite><testcase name=\"&b;\"/></testsuite>";
    assert_eq!(cut(bomb), (0, "it has a document type".into()));
    let found =
        junit::read(&file("<testsuite><testcase name='a&b;'><failure>x&c;&#65;&#x0;</failure></testcase></testsuite>"));
    assert_eq!(lines(found), ["- a&b; | x\u{fffd}A\u{fffd}"], "nothing is resolved that was not agreed on");
}

/// What the adapter makes of a suite that ended so.
fn translated(format: &str, stdout: &str, files: Files, end: &str) -> Result<(Check, Vec<Checked>, usize), Cause> {
    let finished = Finished {
        after: String::new(),
        stdout: stdout.into(),
        stderr: "make: *** oh dear\n".into(),
        files,
        usage: serde_json::from_str(&format!(r#"{{"wall_ns":1000,"user_ns":1,"system_ns":1,{end}}}"#)).unwrap(),
        started_ns: 1,
        version: String::new(),
    };
    let events = TestSuite.translate(&scenario("tests", [("command", "make check"), ("format", format)]), &finished)?;
    let tests = events.iter().filter(|event| matches!(event, Event::Test(_))).count();
    let report = events.into_iter().find_map(|event| match event {
        Event::Repeat(report) => Some(report),
        _ => None,
    });
    let report = report.unwrap();
    let Some(Checks::Facts(facts)) = report.evidence else { panic!("it has evidence") };
    Ok((report.check, facts, tests))
}

#[test]
fn a_suite_has_run_if_it_told_of_tests_whatever_its_exit_status() {
    let came = |passed, failed, skipped| Checked::TestsCame { passed, failed, skipped };
    let made = translated("tap", recorded!("perl.tap"), Files::new(), "\"exit\":1");
    assert_eq!(made, Ok((Check::Passed, vec![came(2, 1, 2)], 5)));
    let made = translated("tap", "1..2\nok 1\n", Files::new(), "\"exit\":0");
    assert_eq!(made, Ok((Check::Failed, vec![came(1, 0, 0), unlike_plan("", 1, 2, "")], 1)));
    let made = translated("junit", "", file(recorded!("pytest.xml")), "\"signal\":11");
    let (check, facts, tests) = made.unwrap();
    assert_eq!((check, facts.last(), tests), (Check::Failed, Some(&Checked::TestsKilled { signal: 11 }), 11));
    let none = translated("junit", "nothing to do\n", Files::new(), "\"exit\":0");
    assert_eq!(none, Err(Cause::NoTests { said: "`nothing to do`".into() }));
    let none = translated("cargo", "error: could not compile\n", Files::new(), "\"exit\":101");
    let said = "`make: *** oh dear`".to_owned();
    assert_eq!(none, Err(Cause::ToolExited { tool: "make check".into(), status: 101, said }));
}

#[test]
fn the_suite_runs_where_it_is_to_and_its_results_come_from_a_directory_of_the_repeat() {
    let place = Place::of("r", "/place/r");
    let of = |parameters: &[(&'static str, &'static str)]| {
        TestSuite.invocation(&scenario("tests", parameters.iter().copied()), &place).unwrap()
    };
    let junit = of(&[("command", "make check"), ("format", "junit"), ("directory", "/src"), ("prepare", "make")]);
    assert_eq!(junit.results, ["/place/r/repeat/results/*"]);
    assert_eq!(junit.words[3..], ["stend", "/src", "make check"]);
    assert_eq!(junit.before[3..], ["stend", "/src", "make"]);
    let cargo = of(&[("command", "cargo test"), ("format", "cargo")]);
    assert!(cargo.results.is_empty() && cargo.words[2].ends_with("2>&1") && !junit.words[2].ends_with("2>&1"));
    let wrong = |parameters: &[(&'static str, &'static str)]| {
        TestSuite.check(&scenario("tests", parameters.iter().copied())).unwrap_err().to_string()
    };
    assert_eq!(wrong(&[("command", "x")]), "parameter \"format\" is missing");
    assert_eq!(wrong(&[("format", "tap")]), "parameter \"command\" is missing");
    assert!(wrong(&[("command", "x"), ("format", "xml")]).ends_with("it may be tap, cargo, gtest, junit"));
}

proptest! {
    /// However a suite's output is cut, the tests that it told of before are read, and nothing else is made of it.
    #[test]
    fn of_an_output_cut_anywhere_the_beginning_is_read(at in 0.0..1.0_f64) {
        let cut_at = |text: &'static str| {
            let mut end = (text.len() as f64 * at) as usize;
            while !text.is_char_boundary(end) { end -= 1 }
            &text[..end]
        };
        type Reader = fn(&str) -> Found;
        let readers: [(Reader, &str, bool); 4] = [
            (tap::read, recorded!("node.tap"), true),
            (gtest::read, recorded!("gtest.txt"), true),
            // Between two programs nothing says that another one was to come; how cargo ended does.
            (cargo::read, recorded!("cargo.txt"), false),
            (|text| junit::read(&file(text)), recorded!("node.xml"), true),
        ];
        for (read, text, says_so) in readers {
            let (whole, part) = (read(text), read(cut_at(text)));
            prop_assert!(part.tests.len() <= whole.tests.len());
            // The last one may be cut in its name, or be taken for the one that ended the suite.
            for (one, other) in part.tests.iter().rev().skip(1).rev().zip(&whole.tests) {
                prop_assert_eq!((&one.name, one.outcome), (&other.name, other.outcome));
            }
            let is_whole = part.tests.len() == whole.tests.len() || part.tests.is_empty();
            prop_assert!(is_whole || !says_so || !part.cut.is_empty());
        }
    }

    #[test]
    fn readers_take_any_text(text in "(ok|not ok|1\\.\\.|[0-9 #\\-]|test a \\.\\.\\. |running 2 tests|\\[ RUN      \\] |<testcase|[a-z<>&;\"= \\n])*") {
        for found in [tap::read(&text), gtest::read(&text), cargo::read(&text), junit::read(&file(&text))] {
            let mut tests = Tests::default();
            found.tests.into_iter().for_each(|test| tests.add(test).unwrap());
        }
    }
}
