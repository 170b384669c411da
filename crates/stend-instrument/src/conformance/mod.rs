//! A project's own test suite: which tests pass here. `docs/guide/porting.md` says what for.
//!
//! | what | where it comes from |
//! |---|---|
//! | tests | what the suite prints (`tap`, `cargo`, `gtest`), or the files that it puts into `$STEND_RESULTS` (`junit`) |
//! | `wall_ns`, `cpu_ns` | what the guard saw of the command, with all children that it waited for |
//! | `work` | `tests`: how many told of themselves; `passed` |
//! | `observed` | `failed`, `skipped`, `exit_status` |
//! | `check` | whether the suite ran to its end. A test that fails is a result; the exit status decides nothing |

mod cargo;
mod gtest;
mod junit;
mod tap;
#[cfg(test)]
mod tests;

use stend_model::cause::Cause;
use stend_model::checked::Checked;
use stend_model::conformance::{Test, TestOutcome};
use stend_model::suite::Scenario;
use stend_model::wire::{Check, End, Event, Report};

use super::finished::named;
use super::line::{self, Line};
use super::parameters::{ParameterError, Parameters, ended_well, last_words, not_taken};
use super::{Adapter, AdapterError, Finished, Invocation, Place, Tool};

/// A test suite, as an instrument.
pub(super) struct TestSuite;

/// What a reader finds in what a suite left.
#[derive(Debug, Default, PartialEq)]
struct Found {
    tests: Vec<Test>,
    /// Why these may not be all.
    cut: Vec<Checked>,
}

/// How a suite tells of its tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    /// The Test Anything Protocol, on standard output.
    Tap,
    /// `cargo test`, on both outputs: the programs' names are on standard error.
    Cargo,
    /// GoogleTest's own text, on standard output.
    Gtest,
    /// Files of JUnit's XML.
    Junit,
}

/// The directory in which a repeat's files of results lie, below its own one.
const RESULTS: &str = "results";

/// What is to be run.
struct Job<'a> {
    line: Line<'a>,
    format: Format,
}

impl<'a> Job<'a> {
    fn of(scenario: &'a Scenario) -> Result<Self, ParameterError> {
        let known = [&line::PARAMETERS[..], &["format"]].concat();
        let parameters = Parameters::of(&scenario.parameters, "tests", &known)?;
        let line = Line::of(&parameters)?;
        parameters.written("format").ok_or(ParameterError::Missing { name: "format" })?;
        let format = match parameters.choice("format", "", &["tap", "cargo", "gtest", "junit"])? {
            "tap" => Format::Tap,
            "cargo" => Format::Cargo,
            "gtest" => Format::Gtest,
            _ => Format::Junit,
        };
        Ok(Self { line, format })
    }

    fn words(&self) -> Vec<String> {
        let both = if self.format == Format::Cargo { " 2>&1" } else { "" };
        let script = format!(
            "mkdir {RESULTS} && STEND_RESULTS=$(pwd)/{RESULTS} && export STEND_RESULTS && cd -- \"$1\" && \
             exec sh -c \"$2\" </dev/null{both}"
        );
        self.line.in_shell(&script, self.line.command)
    }

    fn prepare(&self) -> Vec<String> {
        let script = "cd -- \"$1\" && exec sh -c \"$2\" </dev/null";
        self.line.prepare.map(|line| self.line.in_shell(script, line)).unwrap_or_default()
    }
}

impl Adapter for TestSuite {
    fn name(&self) -> &'static str {
        "tests"
    }

    fn tool(&self) -> Option<Tool> {
        None
    }

    fn starts(&self, scenario: &Scenario) -> Vec<String> {
        line::starts(scenario)
    }

    fn check(&self, scenario: &Scenario) -> Result<(), AdapterError> {
        Job::of(scenario)?;
        Ok(())
    }

    fn invocation(&self, scenario: &Scenario, place: &Place) -> Result<Invocation, Cause> {
        let job = Job::of(scenario).map_err(not_taken)?;
        let results = format!("{}/{RESULTS}/*", place.work);
        Ok(Invocation {
            words: job.words(),
            before: job.prepare(),
            results: if job.format == Format::Junit { vec![results] } else { Vec::new() },
            ..Invocation::default()
        })
    }

    fn translate(&self, scenario: &Scenario, finished: &Finished) -> Result<Vec<Event>, Cause> {
        let job = Job::of(scenario).map_err(not_taken)?;
        let usage = &finished.usage;
        let Found { tests, mut cut } = match job.format {
            Format::Tap => tap::read(&finished.stdout),
            Format::Cargo => cargo::read(&finished.stdout),
            Format::Gtest => gtest::read(&finished.stdout),
            Format::Junit => junit::read(&finished.files),
        };
        if tests.is_empty() {
            ended_well(job.line.command, finished, |stderr| match last_words(stderr) {
                said if said.is_empty() => last_words(&finished.stdout),
                said => said,
            })?;
            return Err(Cause::NoTests { said: last_words(&finished.stdout) });
        }
        cut.extend(usage.signal.map(|signal| Checked::TestsKilled { signal }));
        let count = |outcome| tests.iter().filter(|test| test.outcome == outcome).count();
        let [passed, failed, skipped] = [TestOutcome::Passed, TestOutcome::Failed, TestOutcome::Skipped].map(count);
        let came = Checked::TestsCame { passed: passed as u64, failed: failed as u64, skipped: skipped as u64 };
        let observed = [("failed", failed as f64), ("skipped", skipped as f64)];
        let observed = observed.into_iter().chain(usage.exit.map(|exit| ("exit_status", f64::from(exit))));
        let report = Report {
            observed: named(observed),
            check: if cut.is_empty() { Check::Passed } else { Check::Failed },
            evidence: Some([came].into_iter().chain(cut).collect::<Vec<_>>().into()),
            ..finished.report(usage.wall_ns, [("tests", tests.len() as f64), ("passed", passed as f64)])
        };
        let begin = finished.begin("tests", None, job.line.in_force());
        let ends = [Event::Repeat(report), Event::End(End { repeats: 1 })];
        Ok([Event::Begin(begin)].into_iter().chain(tests.into_iter().map(Event::Test)).chain(ends).collect())
    }

    fn lasts(&self, _: &Cause, finished: &Finished) -> bool {
        line::lasts(finished)
    }
}

/// The last words of a text that may be long.
fn last_part(text: &str) -> &str {
    const LAST_WORDS: usize = 400;
    let text = text.trim();
    let start = (text.len().saturating_sub(LAST_WORDS)..).find(|&at| text.is_char_boundary(at));
    &text[start.unwrap_or(0)..]
}

/// A time in seconds as suites write it, in nanoseconds: `0.012`, `1,234.5`.
fn nanoseconds(seconds: &str) -> Option<u64> {
    let seconds: f64 = seconds.trim().replace(',', "").parse().ok()?;
    (0.0..1e9).contains(&seconds).then_some((seconds * 1e9).round() as u64)
}
