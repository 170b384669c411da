//! The Test Anything Protocol, versions 12 to 14, of one program or of several one after the other, as `prove --verbose` shows them.

use stend_model::checked::Checked;
use stend_model::conformance::{Test, TestOutcome};

use super::{Found, nanoseconds};

/// What is read of one program.
#[derive(Default)]
struct Program {
    /// Its name, if `prove` told it.
    name: String,
    planned: Option<u64>,
    told: u64,
    /// Within the block of YAML behind a test.
    in_yaml: bool,
    /// The last key there says where in the suite's code, which nobody needs in a line.
    in_stack: bool,
    /// Comments belong to the test before them.
    is_heard: bool,
    /// Parts that failed of the test that comes next.
    inner: String,
}

/// Reads what a suite printed. Lines that are none of the protocol's are passed over.
pub(super) fn read(output: &str) -> Found {
    let mut found = Found::default();
    let mut program = Program::default();
    for line in output.lines() {
        let line = line.trim_end();
        if program.in_yaml {
            if line.trim() == "..." {
                program.in_yaml = false;
            } else if let Some(test) = found.tests.last_mut() {
                take_yaml(test, line, &mut program.in_stack);
            }
        } else if line == "  ---" {
            (program.in_yaml, program.in_stack, program.is_heard) = (true, false, false);
        } else if let Some((name, rest)) = named_by_prove(line) {
            program.ends(&mut found);
            match rest.strip_prefix("skipped: ") {
                Some(why) => found.tests.push(skipped(name, why)),
                None => program.name = name.to_owned(),
            }
        } else if line.starts_with("    ") {
            if line.trim_start().starts_with("not ok") {
                program.inner.push_str(line);
            }
        } else if let Some((planned, why)) = plan(line) {
            // A plan stands before all tests or behind them.
            if program.planned.is_some() {
                program.ends(&mut found);
            }
            program.planned = Some(planned);
            if planned == 0 {
                let name = if program.name.is_empty() { "all tests" } else { &program.name };
                found.tests.push(skipped(name, why));
            }
        } else if let Some(reason) = line.trim_start_matches("# ").strip_prefix("Bail out!") {
            found.cut.push(Checked::TestsGivenUp { said: reason.trim().to_owned() });
        } else if let Some(mut test) = test(line, &program) {
            if program.is_complete() {
                program.ends(&mut found);
            }
            program.told += 1;
            program.is_heard = true;
            let inner = std::mem::take(&mut program.inner);
            say_more(&mut test, &inner);
            found.tests.push(test);
        } else if let Some(said) = line.strip_prefix('#') {
            let is_heard = program.is_heard && !said.starts_with(" Subtest: ");
            found.tests.last_mut().filter(|_| is_heard).into_iter().for_each(|test| say_more(test, said));
        }
    }
    program.ends(&mut found);
    found
}

impl Program {
    /// A plan behind its tests is the last that it says.
    fn is_complete(&self) -> bool {
        self.told > 0 && self.planned == Some(self.told)
    }

    /// Nothing more comes of it: another one begins.
    fn ends(&mut self, found: &mut Found) {
        let Self { name, planned, told, .. } = std::mem::take(self);
        match planned {
            Some(planned) if planned == told => {}
            Some(planned) => {
                found.cut.push(Checked::TestsUnlikePlan { program: name, planned, told, said: String::new() });
            }
            // Before the first program nothing is told.
            None if told == 0 && name.is_empty() => {}
            None => found.cut.push(Checked::TestsWithoutEnd),
        }
    }
}

/// The name of the program of which `prove` shows the lines that follow, and what it says of it at once: `t/basic.t ..`,
/// `t/other.t .. skipped: no network`.
fn named_by_prove(line: &str) -> Option<(&str, &str)> {
    let (name, rest) = line.split_once(' ')?;
    let (dots, rest) = rest.split_once(' ').unwrap_or((rest, ""));
    let are_dots = dots.len() >= 2 && dots.bytes().all(|byte| byte == b'.');
    let is_known = rest.is_empty() || rest.starts_with("skipped: ");
    (!name.is_empty() && are_dots && is_known).then_some((name, rest))
}

/// A program that was skipped whole.
fn skipped(program: &str, why: &str) -> Test {
    Test { name: program.to_owned(), outcome: TestOutcome::Skipped, wall_ns: None, said: why.to_owned() }
}

/// How many tests a plan has, and why there is none: `1..4`, `1..0 # SKIP no network`.
fn plan(line: &str) -> Option<(u64, &str)> {
    let (count, rest) = line.strip_prefix("1..")?.split_once(' ').unwrap_or((line.strip_prefix("1..")?, ""));
    let why = rest.trim_start_matches(['#', ' ']);
    let why = why.get(..4).filter(|word| word.eq_ignore_ascii_case("skip")).map_or(why, |word| &why[word.len()..]);
    Some((count.parse().ok()?, why.trim()))
}

/// A test: `ok 3 - it works`, `not ok 4 it fails # TODO later`.
fn test(line: &str, program: &Program) -> Option<Test> {
    let (is_ok, rest) = match line.strip_prefix("not ok") {
        Some(rest) => (false, rest),
        None => (true, line.strip_prefix("ok")?),
    };
    // `prove` says `ok` of a whole program, which is no test.
    if !(rest.starts_with(' ') || rest.is_empty() && program.name.is_empty()) {
        return None;
    }
    let rest = rest.trim_start();
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = rest.split_at(digits);
    let (words, directive) = described(rest.trim_start());
    let (words, wall_ns) = timed(words.trim_start_matches(['-', '+']).trim());
    let outcome = match (directive.as_ref().map(|(word, _)| word.as_str()), is_ok) {
        (Some("skip"), _) | (Some("todo"), false) => TestOutcome::Skipped,
        (_, true) => TestOutcome::Passed,
        (_, false) => TestOutcome::Failed,
    };
    let called = match (words.is_empty(), number.is_empty()) {
        (false, _) => words,
        (true, false) => format!("test {number}"),
        (true, true) => format!("test {}", program.told + 1),
    };
    let name = if program.name.is_empty() { called } else { format!("{}: {called}", program.name) };
    Some(Test { name, outcome, wall_ns, said: directive.map(|(_, why)| why).unwrap_or_default() })
}

/// A description without its directive, and that with its reason. A sign that is escaped begins none.
fn described(text: &str) -> (String, Option<(String, String)>) {
    let starts = text.match_indices('#').map(|(at, _)| at);
    for at in starts.filter(|&at| !text[..at].ends_with('\\')) {
        let said = text[at + 1..].trim_start();
        // `# SKIP`, `# skipped: why`, `# TODO why`.
        let directive = ["skip", "todo"]
            .into_iter()
            .find(|word| said.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word)));
        if let Some(word) = directive {
            let why =
                said[word.len()..].trim_start_matches(|c: char| c.is_ascii_alphabetic()).trim_start_matches([':', ' ']);
            return (plain(&text[..at]), Some((word.to_owned(), why.to_owned())));
        }
    }
    (plain(text), None)
}

fn plain(text: &str) -> String {
    text.replace("\\#", "#").replace("\\\\", "\\")
}

/// A description without the time that PostgreSQL's `pg_regress` puts into it: `boolean                   55 ms`.
fn timed(words: &str) -> (String, Option<u64>) {
    let split = words.strip_suffix(" ms").and_then(|words| words.rsplit_once("  "));
    let time = split.and_then(|(name, number)| Some((name.trim_end(), number.trim().parse::<u32>().ok()?)));
    match time {
        Some((name, milliseconds)) => (name.to_owned(), Some(u64::from(milliseconds) * 1_000_000)),
        None => (words.to_owned(), None),
    }
}

/// What the block of YAML behind a test says of it.
fn take_yaml(test: &mut Test, line: &str, in_stack: &mut bool) {
    let key = line.strip_prefix("  ").filter(|line| !line.starts_with(' ')).and_then(|line| line.split_once(':'));
    match key {
        Some(("duration_ms", milliseconds)) => test.wall_ns = nanoseconds(milliseconds).map(|ns| ns / 1000),
        Some((key, _)) => {
            let places = ["stack", "location", "at", "type", "failureType", "severity", "code", "name"];
            *in_stack = places.contains(&key);
        }
        None => {}
    }
    if !*in_stack && !line.starts_with("  duration_ms:") {
        say_more(test, line);
    }
}

/// A test that failed says so; more than is kept of it need not be gathered.
fn say_more(test: &mut Test, said: &str) {
    if test.outcome == TestOutcome::Failed && test.said.len() < 4096 {
        test.said.push(' ');
        test.said.push_str(said.trim());
    }
}
