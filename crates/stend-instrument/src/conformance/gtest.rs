//! What GoogleTest prints. Its XML is written at the very end, so that of a suite that crashes nothing but this is left.

use stend_model::checked::Checked;
use stend_model::conformance::{Test, TestOutcome};

use super::{Found, last_part, nanoseconds};

/// What is read of one program.
#[derive(Default)]
struct Program {
    planned: u64,
    told: u64,
    /// The test that runs, with what it has printed.
    running: Option<(String, String)>,
}

/// Reads the standard output of one program or of several, one after the other.
pub(super) fn read(output: &str) -> Found {
    let mut found = Found::default();
    let mut program: Option<Program> = None;
    for line in output.lines() {
        if let Some(planned) = counted(line, "Running ") {
            cut_off(&mut found, program.take());
            program = Some(Program { planned, ..Program::default() });
            continue;
        }
        let Some(at_hand) = &mut program else { continue };
        if let Some(name) = line.strip_prefix("[ RUN      ] ") {
            at_hand.running = Some((name.trim().to_owned(), String::new()));
        } else if let Some(name) = line.strip_prefix("[ DISABLED ] ") {
            let test = Test {
                name: name.trim().to_owned(),
                outcome: TestOutcome::Skipped,
                wall_ns: None,
                said: String::new(),
            };
            found.tests.push(test);
        } else if counted(line, "").is_some() && line.contains(" ran.") {
            cut_off(&mut found, program.take());
        } else if let Some((name, said)) = &mut at_hand.running {
            match ended(line, name) {
                Some((before, outcome, wall_ns)) => {
                    // What a test prints without a newline stands before its end.
                    let said = format!("{said}{before}");
                    found.tests.push(Test { name: std::mem::take(name), outcome, wall_ns, said });
                    at_hand.told += 1;
                    at_hand.running = None;
                }
                None => {
                    said.push_str(line);
                    said.push('\n');
                }
            }
        }
    }
    cut_off(&mut found, program);
    found
}

/// How many tests a program says of: `[==========] Running 6 tests from 3 test suites.`
fn counted(line: &str, before: &str) -> Option<u64> {
    let rest = line.strip_prefix("[==========] ")?.strip_prefix(before)?;
    let (count, rest) = rest.split_once(' ')?;
    rest.starts_with("test").then(|| count.parse().ok()).flatten()
}

/// How the running test ended, with what stands before that in the line.
fn ended<'l>(line: &'l str, name: &str) -> Option<(&'l str, TestOutcome, Option<u64>)> {
    const ENDS: [(&str, TestOutcome); 3] = [
        ("[       OK ] ", TestOutcome::Passed),
        ("[  FAILED  ] ", TestOutcome::Failed),
        ("[  SKIPPED ] ", TestOutcome::Skipped),
    ];
    ENDS.into_iter().find_map(|(mark, outcome)| {
        let (before, rest) = line.split_once(mark)?;
        // `, where GetParam() = 2` may stand behind the name.
        let rest = rest.strip_prefix(name).filter(|rest| rest.is_empty() || rest.starts_with([',', ' ']))?;
        let milliseconds = rest.rsplit_once('(').and_then(|(_, time)| nanoseconds(time.strip_suffix(" ms)")?));
        Some((before, outcome, milliseconds.map(|ns| ns / 1000)))
    })
}

/// A program ends. The test that still runs is the one that ended it.
fn cut_off(found: &mut Found, program: Option<Program>) {
    let Some(Program { planned, mut told, running }) = program else { return };
    if let Some((name, said)) = running {
        let said = last_part(&said).to_owned();
        found.tests.push(Test { name, outcome: TestOutcome::Failed, wall_ns: None, said });
        told += 1;
    } else if planned == told {
        return;
    }
    found.cut.push(Checked::TestsUnlikePlan { program: String::new(), planned, told, said: String::new() });
}
