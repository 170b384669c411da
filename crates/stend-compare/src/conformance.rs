//! Test suites: which tests pass in the base and fail in another run, by name. These are facts, not samples: there is no statistics in it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use stend_model::conformance::TestOutcome;
use stend_model::record::Record;
use stend_model::wire::Check;

use super::filter::Filter;
use super::repeats_of;

/// The tests that a scenario ran, in each run.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Conformance {
    /// The scenario.
    pub scenario: String,
    /// What they came to in each run, in the order of the columns; none where no test told of itself.
    pub runs: Vec<Option<OfRun>>,
    /// In what each other run differs from the base, where both have tests.
    pub against_base: Vec<AgainstBase>,
}

/// What the tests came to in one run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct OfRun {
    /// In how many repeats tests told of themselves, warm-ups and those that do not count among them.
    pub repeats: u32,
    /// In how many of these the suite did not run to its end.
    pub cut: u32,
    /// How many tests passed whenever they ran.
    pub passed: usize,
    /// How many failed whenever they ran.
    pub failed: usize,
    /// How many passed in some repeats and failed in others.
    pub flaky: usize,
    /// How many were never run.
    pub skipped: usize,
    /// Those that failed, at least once.
    pub failing: Vec<Failing>,
}

/// A test that failed, at least once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Failing {
    /// Its name.
    pub test: String,
    /// What came of it.
    pub tally: Tally,
    /// What it said last; empty where nothing was said.
    pub said: String,
}

/// In how many repeats of a run something came of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct Tally {
    /// It passed.
    pub passed: u32,
    /// It failed.
    pub failed: u32,
    /// It was not run.
    pub skipped: u32,
}

/// In what the tests of a run differ from the base's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AgainstBase {
    /// The run's place among the columns.
    pub column: usize,
    /// How many tests pass in the base.
    pub passing_in_base: usize,
    /// How many fail in both.
    pub failing_in_both: usize,
    /// The tests that differ, kind by kind, in the order of their names.
    pub changes: Vec<Change>,
}

/// A test that differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Change {
    /// How.
    pub kind: Kind,
    /// Its name.
    pub test: String,
    /// What came of it in the base; none where it did not tell of itself.
    pub base: Option<Tally>,
    /// What came of it in the run.
    pub run: Option<Tally>,
    /// What it said where it failed or was skipped, in the run if it did so there; empty where nothing was said.
    pub said: String,
}

/// How a test differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// It passes in the base and fails in the run.
    FailsHere,
    /// It passes in the base, and the run's suite did not run to its end and never told of it.
    LostHere,
    /// In one of the two it sometimes fails.
    Flaky,
    /// It runs in the base, and not in the run.
    SkippedHere,
    /// It does not run in the base, and does in the run.
    SkippedInBase,
    /// It fails in the base and passes in the run.
    PassesHere,
    /// Only the base has it.
    OnlyInBase,
    /// Only the run has it.
    OnlyHere,
}

impl Kind {
    /// All, in the order in which they are told.
    pub const ALL: [Self; 8] = [
        Self::FailsHere,
        Self::LostHere,
        Self::Flaky,
        Self::SkippedHere,
        Self::SkippedInBase,
        Self::PassesHere,
        Self::OnlyInBase,
        Self::OnlyHere,
    ];

    /// Whether the run does worse than the base.
    pub fn is_worse(self) -> bool {
        matches!(self, Self::FailsHere | Self::LostHere)
    }
}

impl Conformance {
    /// Whether the tests of the run in this column came to something else than the base's: then its time is that of other work.
    pub fn differs(&self, column: usize) -> bool {
        self.against_base.iter().any(|against| against.column == column && !against.changes.is_empty())
            || self.runs.iter().flatten().any(|run| run.cut > 0)
    }
}

impl AgainstBase {
    /// How many tests differ so.
    pub fn count(&self, kind: Kind) -> usize {
        self.changes.iter().filter(|change| change.kind == kind).count()
    }
}

/// What became of a test over all repeats of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    Passes,
    Fails,
    Flaky,
    Skipped,
}

impl Tally {
    fn standing(self) -> Standing {
        match self {
            Self { passed: 1.., failed: 1.., .. } => Standing::Flaky,
            Self { passed: 1.., .. } => Standing::Passes,
            Self { failed: 1.., .. } => Standing::Fails,
            _ => Standing::Skipped,
        }
    }
}

/// Each test of a run by its name, with what it said last of a failure, or of why it was skipped.
type ByName<'a> = BTreeMap<&'a str, (Tally, &'a str)>;

/// The tests of all scenarios that the filter takes and that ran some, in the order of the base's suite.
pub(super) fn of(records: &[&Record], filter: &Filter) -> Vec<Conformance> {
    let scenarios = records[0].run.suite.scenarios.iter().filter(|scenario| filter.takes_any_of(scenario));
    let all = scenarios.map(|scenario| of_scenario(records, &scenario.name));
    all.filter(|conformance| conformance.runs.iter().any(Option::is_some)).collect()
}

fn of_scenario(records: &[&Record], scenario: &str) -> Conformance {
    let tests: Vec<ByName> = records.iter().map(|record| by_name(record, scenario)).collect();
    let runs: Vec<_> = records.iter().zip(&tests).map(|(record, tests)| of_run(record, scenario, tests)).collect();
    let against_base = runs.iter().enumerate().skip(1).filter_map(|(column, run)| {
        let (Some(run), Some(_)) = (run, &runs[0]) else { return None };
        Some(against(column, &tests[0], &tests[column], run.cut > 0))
    });
    Conformance { scenario: scenario.to_owned(), against_base: against_base.collect(), runs }
}

fn by_name<'a>(record: &'a Record, scenario: &str) -> ByName<'a> {
    let mut tests = ByName::new();
    for test in repeats_of(record, scenario).flat_map(|repeat| &repeat.tests) {
        let (tally, said) = tests.entry(&test.name).or_default();
        match test.outcome {
            TestOutcome::Passed => tally.passed += 1,
            TestOutcome::Failed => tally.failed += 1,
            TestOutcome::Skipped => tally.skipped += 1,
        }
        // Why it failed is worth more than why it was skipped.
        if test.outcome == TestOutcome::Failed || test.outcome == TestOutcome::Skipped && tally.failed == 0 {
            *said = &test.said;
        }
    }
    tests
}

fn of_run(record: &Record, scenario: &str, tests: &ByName) -> Option<OfRun> {
    let repeats: Vec<_> = repeats_of(record, scenario).filter(|repeat| !repeat.tests.is_empty()).collect();
    let was_cut = |report: &stend_model::wire::Report| report.check == Check::Failed;
    let cut = repeats.iter().filter(|repeat| repeat.report.as_ref().is_none_or(was_cut)).count();
    let count = |standing| tests.values().filter(|(tally, _)| tally.standing() == standing).count();
    let failing = tests.iter().filter(|(_, (tally, _))| tally.failed > 0);
    (!repeats.is_empty()).then(|| OfRun {
        repeats: repeats.len() as u32,
        cut: cut as u32,
        passed: count(Standing::Passes),
        failed: count(Standing::Fails),
        flaky: count(Standing::Flaky),
        skipped: count(Standing::Skipped),
        failing: failing
            .map(|(name, (tally, said))| Failing { test: (*name).into(), tally: *tally, said: (*said).into() })
            .collect(),
    })
}

fn against(column: usize, base: &ByName, run: &ByName, is_cut: bool) -> AgainstBase {
    let stands = |tests: &ByName, standing| tests.values().filter(|(tally, _)| tally.standing() == standing).count();
    let mut failing_in_both = 0;
    let mut changes = Vec::new();
    let names = base.keys().chain(run.keys().filter(|name| !base.contains_key(*name)));
    for &name in names {
        let (there, here) = (base.get(name), run.get(name));
        let [in_base, in_run] = [there, here].map(|found| found.map(|(tally, _)| tally.standing()));
        let kind = match (in_base, in_run) {
            (Some(Standing::Passes), None) if is_cut => Kind::LostHere,
            (_, None) => Kind::OnlyInBase,
            (None, _) => Kind::OnlyHere,
            (Some(Standing::Flaky), _) | (_, Some(Standing::Flaky)) => Kind::Flaky,
            (Some(Standing::Passes), Some(Standing::Fails)) => Kind::FailsHere,
            (Some(Standing::Fails), Some(Standing::Passes)) => Kind::PassesHere,
            (Some(Standing::Passes | Standing::Fails), Some(Standing::Skipped)) => Kind::SkippedHere,
            (Some(Standing::Skipped), Some(Standing::Passes | Standing::Fails)) => Kind::SkippedInBase,
            (Some(Standing::Fails), Some(Standing::Fails)) => {
                failing_in_both += 1;
                continue;
            }
            (Some(Standing::Passes), Some(Standing::Passes)) | (Some(Standing::Skipped), Some(Standing::Skipped)) => {
                continue;
            }
        };
        let said = [here, there].into_iter().flatten().map(|(_, said)| *said).find(|said| !said.is_empty());
        changes.push(Change {
            kind,
            test: name.to_owned(),
            base: there.map(|(tally, _)| *tally),
            run: here.map(|(tally, _)| *tally),
            said: said.unwrap_or_default().to_owned(),
        });
    }
    changes.sort_by(|one, other| (one.kind, &one.test).cmp(&(other.kind, &other.test)));
    AgainstBase { column, passing_in_base: stands(base, Standing::Passes), failing_in_both, changes }
}

#[cfg(test)]
mod tests {
    use stend_model::conformance::Test;
    use stend_testing::record;

    use super::*;
    use crate::compare;

    /// A run whose first scenario ran these tests, a list for each repeat: `+` passed, `-` failed, `~` skipped.
    fn run(id: &str, repeats: &[&str]) -> Record {
        let mut run = record(id, &vec![1.0; repeats.len()]);
        let of_first = run.repeats.iter_mut().filter(|repeat| repeat.scenario == 0);
        for (repeat, tests) in of_first.zip(repeats) {
            repeat.tests = tests.split_whitespace().map(test).collect();
        }
        run
    }

    fn test(text: &str) -> Test {
        let (sign, name) = text.split_at(1);
        let outcome = match sign {
            "+" => TestOutcome::Passed,
            "-" => TestOutcome::Failed,
            _ => TestOutcome::Skipped,
        };
        let said = if sign == "-" { format!("{name} is wrong") } else { String::new() };
        Test { name: name.into(), outcome, wall_ns: None, said }
    }

    fn changes(base: &Record, other: &Record) -> Vec<(Kind, String)> {
        let mut table = compare(&[base, other], &[]);
        assert_eq!(table.conformance.len(), 1, "only one scenario has tests");
        let against = table.conformance.remove(0).against_base.remove(0);
        against.changes.into_iter().map(|change| (change.kind, change.test)).collect()
    }

    #[test]
    fn each_test_that_differs_is_named_by_how_it_does() {
        let base = run("20260101-0000-0001", &["+same +breaks +flakes -mended -bad +off ~on +gone ~never"]);
        let here = run(
            "20260101-0000-0002",
            &[
                "+same -breaks +flakes +mended -bad ~off +on +new ~never",
                "+same -breaks -flakes +mended -bad ~off +on +new ~never",
            ],
        );
        let named = |kind, name: &str| (kind, name.to_owned());
        let found = changes(&base, &here);
        assert_eq!(
            found,
            [
                named(Kind::FailsHere, "breaks"),
                named(Kind::Flaky, "flakes"),
                named(Kind::SkippedHere, "off"),
                named(Kind::SkippedInBase, "on"),
                named(Kind::PassesHere, "mended"),
                named(Kind::OnlyInBase, "gone"),
                named(Kind::OnlyHere, "new"),
            ]
        );
        let table = compare(&[&base, &here], &[]);
        let conformance = &table.conformance[0];
        let against = &conformance.against_base[0];
        assert_eq!((against.passing_in_base, against.failing_in_both, against.column), (5, 1, 1));
        assert_eq!(against.changes[0].said, "breaks is wrong");
        let counts = conformance.runs[1].as_ref().unwrap();
        assert_eq!((counts.passed, counts.failed, counts.flaky, counts.skipped, counts.repeats), (4, 2, 1, 2, 2));
        assert_eq!(counts.failing.iter().map(|one| one.test.as_str()).collect::<Vec<_>>(), ["bad", "breaks", "flakes"]);
        assert!(changes(&base, &base).is_empty());
    }

    #[test]
    fn a_test_that_a_suite_cut_short_did_not_reach_is_lost_and_not_left_out() {
        let base = run("20260101-0000-0001", &["+a +b ~c"]);
        let mut here = run("20260101-0000-0002", &["+a"]);
        assert_eq!(changes(&base, &here)[0].0, Kind::OnlyInBase);
        here.repeats[0].report.as_mut().unwrap().check = Check::Failed;
        let found = changes(&base, &here);
        assert_eq!(found, [(Kind::LostHere, "b".to_owned()), (Kind::OnlyInBase, "c".to_owned())]);
        // One that hung has no report at all.
        here.repeats[0].report = None;
        assert_eq!(changes(&base, &here), found);
    }

    #[test]
    fn a_time_is_judged_only_where_the_tests_came_to_the_same() {
        let times: Vec<_> = (0..12).map(|n| 10.0 + f64::from(n % 3) / 100.0).collect();
        let twice: Vec<_> = times.iter().map(|time| time * 2.0).collect();
        let with = |id: &str, times: &[f64], tests: &str| {
            let mut run = record(id, times);
            run.repeats.iter_mut().filter(|repeat| repeat.scenario == 0).for_each(|repeat| {
                repeat.tests = tests.split_whitespace().map(test).collect();
            });
            run
        };
        let judged = |tests: &str| {
            let (base, other) =
                (with("20260101-0000-0001", &times, "+a +b"), with("20260101-0000-0002", &twice, tests));
            let table = compare(&[&base, &other], &[]);
            table.rows.iter().map(|row| row.against_base().count()).collect::<Vec<_>>()
        };
        assert_eq!(judged("+a +b"), [1, 1]);
        assert_eq!(judged("+a -b"), [0, 1], "the other scenario has no tests");
    }
}
