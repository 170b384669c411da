//! What `cargo test` prints: of each program the lines of Rust's own test harness.

use std::collections::HashMap;

use stend_model::checked::Checked;
use stend_model::conformance::{Test, TestOutcome};

use super::Found;

/// What is read of one program.
#[derive(Default)]
struct Program {
    /// Where its tests begin among all.
    first: usize,
    planned: u64,
    /// Tests of which it is said that they began, and not yet how they ended.
    begun: Vec<String>,
}

/// Where a line belongs.
enum Part {
    /// Between programs, or among the lines of tests.
    Tests,
    /// What the failing test of this name printed.
    Output(String),
    /// The names of those that failed.
    Failures,
}

/// Reads both outputs as one text.
pub(super) fn read(output: &str) -> Found {
    let mut found = Found::default();
    let mut name = String::new();
    let mut program: Option<Program> = None;
    let mut part = Part::Tests;
    let mut said = HashMap::<String, String>::new();
    let (mut stopped, mut went_on) = (false, false);
    for line in output.lines() {
        // It may stand behind the name of the test that was the last.
        stopped |= line.contains(": test failed, to rerun pass") || line.contains(": doctest failed, to rerun pass");
        if let Some(next) = program_named(line) {
            cut_off(&mut found, program.take(), &name, "");
            (name, part) = (next, Part::Tests);
        } else if let Some(planned) = running(line) {
            cut_off(&mut found, program.take(), &name, "");
            program = Some(Program { first: found.tests.len(), planned, begun: Vec::new() });
            (part, said) = (Part::Tests, HashMap::new());
        } else if is_count_of_targets(line) {
            went_on = true;
        } else if let Some(why) = line.trim_start().strip_prefix("process didn't exit successfully: ") {
            let why = why.rsplit_once("` ").map_or(why, |(_, why)| why);
            cut_off(&mut found, program.take(), &name, why);
        } else if let Some(running) = &mut program {
            if line.starts_with("test result: ") {
                ends(&mut found, program.take().unwrap_or_default(), &name, &said);
            } else if line == "failures:" {
                part = Part::Failures;
            } else if let Some(test) = line.strip_prefix("---- ").and_then(output_of) {
                part = Part::Output(test.to_owned());
            } else if let Some((test, result)) = line.strip_prefix("test ").and_then(|line| line.split_once(" ... ")) {
                let test = test.trim_end_matches(" - should panic");
                match outcome(result) {
                    Some((outcome, why)) => found.tests.push(named(&name, test, outcome, why)),
                    None => running.begun.push(test.to_owned()),
                }
            } else {
                match &part {
                    Part::Tests => {
                        // What a test printed stood between its name and how it ended.
                        if let Some((outcome, why)) = outcome(line)
                            && let Some(test) = running.begun.pop()
                        {
                            found.tests.push(named(&name, &test, outcome, why));
                        }
                    }
                    Part::Output(test) => {
                        let text = said.entry(test.clone()).or_default();
                        if text.len() < 4096 {
                            text.push_str(line.trim());
                            text.push(' ');
                        }
                    }
                    Part::Failures => {
                        said.entry(line.trim().to_owned()).or_default();
                    }
                }
            }
        }
    }
    cut_off(&mut found, program, &name, "");
    if stopped && !went_on {
        found.cut.push(Checked::TestsStoppedAtFailure);
    }
    found
}

fn named(program: &str, test: &str, outcome: TestOutcome, said: &str) -> Test {
    let name = if program.is_empty() { test.to_owned() } else { format!("{program}::{test}") };
    Test { name, outcome, wall_ns: None, said: said.to_owned() }
}

/// A program has told its result: what failing tests printed came before.
fn ends(found: &mut Found, program: Program, name: &str, said: &HashMap<String, String>) {
    let Program { first, planned, begun } = program;
    for test in begun {
        // Other output hid the end of its line.
        let outcome = if said.contains_key(&test) { TestOutcome::Failed } else { TestOutcome::Passed };
        found.tests.push(named(name, &test, outcome, ""));
    }
    let prefix = if name.is_empty() { String::new() } else { format!("{name}::") };
    let failed = found.tests[first..].iter_mut().filter(|test| test.outcome == TestOutcome::Failed);
    for test in failed {
        if let Some(words) = test.name.strip_prefix(&prefix).and_then(|test| said.get(test)) {
            test.said.clone_from(words);
        }
    }
    let told = (found.tests.len() - first) as u64;
    if told != planned {
        let (program, said) = (name.to_owned(), String::new());
        found.cut.push(Checked::TestsUnlikePlan { program, planned, told, said });
    }
}

/// A program that has not told its result ended in the midst of its tests. One that had begun did not end.
fn cut_off(found: &mut Found, program: Option<Program>, name: &str, why: &str) {
    let Some(Program { first, planned, begun }) = program else { return };
    found.tests.extend(begun.iter().map(|test| named(name, test, TestOutcome::Failed, why)));
    let told = (found.tests.len() - first) as u64;
    let (program, said) = (name.to_owned(), why.to_owned());
    found.cut.push(Checked::TestsUnlikePlan { program, planned, told, said });
}

/// The program that cargo starts next: `     Running unittests src/lib.rs (target/debug/deps/foo-0123456789abcdef)`, `   Doc-tests foo`.
fn program_named(line: &str) -> Option<String> {
    let line = line.strip_prefix("   ")?.trim_start();
    if let Some(name) = line.strip_prefix("Doc-tests ") {
        return Some(format!("{name} (doc)"));
    }
    let line = line.strip_prefix("Running ")?;
    let path = match line.rsplit_once('(') {
        Some((_, path)) => path.trim_end_matches(')'),
        // With --verbose it is a command.
        None => line.trim_start_matches('`').split(['`', ' ']).next()?,
    };
    let file = path.rsplit(['/', '\\']).next()?;
    let is_hash = |text: &str| text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let name = file.rsplit_once('-').filter(|(_, hash)| is_hash(hash)).map_or(file, |(name, _)| name);
    Some(name.to_owned())
}

/// How many tests a program is going to run: `running 3 tests`.
fn running(line: &str) -> Option<u64> {
    let count = line.strip_prefix("running ")?;
    count.strip_suffix(" tests").or_else(|| count.strip_suffix(" test"))?.parse().ok()
}

/// `error: 2 targets failed:`, which cargo says when it has run them all.
fn is_count_of_targets(line: &str) -> bool {
    let count = line.strip_prefix("error: ").and_then(|line| line.split_once(' '));
    count.is_some_and(|(count, rest)| {
        count.parse::<u32>().is_ok() && rest.starts_with("target") && rest.contains("failed")
    })
}

/// The test of which this is the printed output: `a::b stdout ----`.
fn output_of(line: &str) -> Option<&str> {
    let line = line.strip_suffix(" ----")?;
    line.strip_suffix(" stdout").or_else(|| line.strip_suffix(" stderr"))
}

/// How a test ended, and what is said of that.
fn outcome(text: &str) -> Option<(TestOutcome, &str)> {
    // `--report-time` puts it behind.
    let text = text.rsplit_once(" <").filter(|(_, time)| time.ends_with("s>")).map_or(text, |(text, _)| text);
    match text {
        "ok" => Some((TestOutcome::Passed, "")),
        "FAILED" => Some((TestOutcome::Failed, "")),
        _ => {
            let why = text.strip_prefix("ignored")?;
            (why.is_empty() || why.starts_with(", ")).then_some((TestOutcome::Skipped, why.trim_start_matches(", ")))
        }
    }
}
