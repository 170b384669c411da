//! The tests of a project's own suite in words: which of them fail here, by name.

use stend_compare::conformance::{AgainstBase, Change, Conformance, Kind, OfRun, Tally};
use stend_compare::table::Table;

use super::phrase::Phrase;
use super::standing::quoted;
use super::texts::TEXTS;
use crate::words::{self, Given};

/// A list has at most so many tests; the JSON has all.
const MOST_LISTED: usize = 100;

/// The tests of one scenario.
pub(super) struct Section {
    pub(super) title: Phrase,
    /// Each run, and what its tests came to, in the order of [`heads`].
    pub(super) counts: Vec<(Phrase, [usize; 6])>,
    pub(super) lists: Vec<List>,
}

/// What is counted of a run.
pub(super) fn heads() -> [Phrase; 6] {
    let t = &TEXTS;
    [&t.tests_passed, &t.tests_failed, &t.tests_flaky, &t.tests_skipped, &t.tests_repeats, &t.tests_cut]
        .map(Clone::clone)
}

/// Tests of which the same is to be said.
pub(super) struct List {
    pub(super) title: Phrase,
    /// Each with what became of it and what it said.
    pub(super) tests: Vec<(String, Phrase)>,
    /// How many more there are.
    pub(super) more: Option<Phrase>,
}

/// The sections, one for each scenario that ran tests.
pub(super) fn sections(table: &Table) -> Vec<Section> {
    table.conformance.iter().map(|conformance| section(table, conformance)).collect()
}

/// A sentence for each run and scenario: how many tests that pass in the base fail in it.
pub(super) fn headlines(table: &Table) -> Vec<Phrase> {
    let of = |conformance: &Conformance| {
        let scenario = conformance.scenario.as_str();
        let said: Vec<Phrase> = match (&conformance.runs[..], &conformance.against_base[..]) {
            ([Some(alone)], _) => vec![alone_in_words(alone)],
            (_, others) => others.iter().map(|against| in_words(table, against)).collect(),
        };
        let sentence = |said: Phrase| {
            words::say("tests-sentence", &[("scenario", Given::Text(scenario)), ("said", Given::Said(&said))])
        };
        said.into_iter().map(sentence).collect::<Vec<_>>()
    };
    table.conformance.iter().flat_map(of).collect()
}

fn alone_in_words(run: &OfRun) -> Phrase {
    let given = [("passed", run.passed), ("failed", run.failed), ("flaky", run.flaky), ("skipped", run.skipped)];
    let given = given.map(|(name, count)| (name, Given::Count(count)));
    let mut parts = vec![words::say("tests-alone", &given)];
    if run.cut > 0 {
        let given = [("cut", Given::Count(run.cut as usize)), ("repeats", Given::Count(run.repeats as usize))];
        parts.push(words::say("tests-cut", &given));
    }
    Phrase::joined(&parts, "; ")
}

fn in_words(table: &Table, against: &AgainstBase) -> Phrase {
    let (base, run) = titles(table, against.column);
    let say = |name: &str, count: usize| {
        let count = ("count", Given::Count(count));
        words::say(name, &[count, ("base", Given::Said(&base)), ("run", Given::Said(&run))])
    };
    let part = |kind: Kind| match (kind, against.count(kind)) {
        (Kind::FailsHere, 0) => Some(say("tests-none-fails-here", against.passing_in_base)),
        (_, 0) => None,
        (kind, count) => Some(say(&format!("tests-{}", name_of(kind)), count)),
    };
    let both = Some(against.failing_in_both).filter(|count| *count > 0);
    let both = both.map(|count| say("tests-failing-in-both", count));
    Phrase::joined(&Kind::ALL.into_iter().filter_map(part).chain(both).collect::<Vec<_>>(), "; ")
}

/// What the base and a run are called within a sentence.
fn titles(table: &Table, column: usize) -> (Phrase, Phrase) {
    let title = |column: usize| table.columns.get(column).map_or("", |column| column.title.as_str());
    (quoted(title(0)), quoted(title(column)))
}

/// The name of a kind in those of messages.
fn name_of(kind: Kind) -> &'static str {
    match kind {
        Kind::FailsHere => "fails-here",
        Kind::LostHere => "lost-here",
        Kind::Flaky => "flaky",
        Kind::SkippedHere => "skipped-here",
        Kind::SkippedInBase => "skipped-in-base",
        Kind::PassesHere => "passes-here",
        Kind::OnlyInBase => "only-in-base",
        Kind::OnlyHere => "only-here",
    }
}

fn section(table: &Table, conformance: &Conformance) -> Section {
    let runs = conformance.runs.iter().enumerate();
    let counts = runs.filter_map(|(column, run)| {
        let run = run.as_ref()?;
        let counts = [run.passed, run.failed, run.flaky, run.skipped, run.repeats as usize, run.cut as usize];
        Some((titles(table, column).1, counts))
    });
    let lists = match (&conformance.runs[..], &conformance.against_base[..]) {
        ([Some(alone)], _) => {
            let tests =
                alone.failing.iter().map(|one| (one.test.clone(), became(&[stands(one.tally, None)], &one.said)));
            vec![list(words::say("tests-list-failing", &[]), tests)]
        }
        (_, others) => others.iter().flat_map(|against| lists_of(table, against)).collect(),
    };
    Section {
        title: words::say("tests-title", &[("scenario", Given::Text(&conformance.scenario))]),
        counts: counts.collect(),
        lists: lists.into_iter().filter(|list| !list.tests.is_empty()).collect(),
    }
}

fn lists_of(table: &Table, against: &AgainstBase) -> Vec<List> {
    let (base, run) = titles(table, against.column);
    let given = [("base", Given::Said(&base)), ("run", Given::Said(&run))];
    let of_kind = |kind: Kind| {
        let changes = against.changes.iter().filter(move |change| change.kind == kind);
        let tests = changes.map(|change| (change.test.clone(), became(&how(change, &base, &run), &change.said)));
        list(words::say(&format!("tests-list-{}", name_of(kind)), &given), tests)
    };
    Kind::ALL.map(of_kind).into()
}

fn list(title: Phrase, tests: impl Iterator<Item = (String, Phrase)>) -> List {
    let mut tests: Vec<_> = tests.collect();
    let more = tests.len().checked_sub(MOST_LISTED).filter(|more| *more > 0);
    tests.truncate(MOST_LISTED);
    List { title, tests, more: more.map(|more| words::say("tests-more", &[("count", Given::Count(more))])) }
}

/// What the title of its list does not say of a test.
fn how(change: &Change, base: &Phrase, run: &Phrase) -> Vec<Phrase> {
    let sides = [(change.base, base), (change.run, run)];
    let wanted = match change.kind {
        Kind::FailsHere | Kind::LostHere | Kind::PassesHere => return Vec::new(),
        Kind::Flaky => return sides.into_iter().filter_map(|(tally, on)| Some(stands(tally?, Some(on)))).collect(),
        Kind::SkippedHere | Kind::OnlyInBase => change.base,
        Kind::SkippedInBase | Kind::OnlyHere => change.run,
    };
    wanted.into_iter().map(|tally| stands(tally, None)).collect()
}

/// What became of a test in one run.
fn stands(tally: Tally, on: Option<&Phrase>) -> Phrase {
    let Tally { passed, failed, .. } = tally;
    let ran = passed + failed;
    let name = match (passed, failed) {
        _ if on.is_some() && ran > 0 => "tests-failed-of-on",
        (0, 0) => "tests-skipped",
        (_, 0) => "tests-passes",
        (0, _) => "tests-fails",
        _ => "tests-failed-of",
    };
    let nothing = Phrase::default();
    let on = ("run", Given::Said(on.unwrap_or(&nothing)));
    words::say(name, &[("failed", Given::Count(failed as usize)), ("ran", Given::Count(ran as usize)), on])
}

fn became(how: &[Phrase], said: &str) -> Phrase {
    let how = Phrase::joined(how, ", ");
    match (how.english().is_empty(), said.is_empty()) {
        (true, _) => said.into(),
        (false, true) => how,
        (false, false) => Phrase::joined(&[how, said.into()], "; "),
    }
}
