//! How a run stands to the base over all scenarios, in one sentence a person would say, and the mean under the table.

use stend_model::side::AS_IT_IS;
use stend_model::suite::Layout;

use super::doc::Value;
use super::notes::{joined, listed};
use super::phrase::{Phrase, called};
use super::text::{self, change, change_interval};
use crate::words::{self, Given};
use stend_compare::standing::{Mean, OfInstrument, Standing, standings as compared};
use stend_compare::table::{Cell, Counted, Design, Note, Row, Table};

/// What is to be said of a run beside the base.
#[derive(PartialEq)]
enum Said<'a> {
    /// It differs, in its own way.
    Differs(&'a Standing),
    /// No scenario shows a difference: so many are the same, and so many unresolved, where such a difference would have been seen.
    Undiffering { same: usize, unresolved: usize, visible: Option<f64>, needed: Option<Needed> },
    /// Nothing is judged, for this reason.
    Nothing(Phrase),
}

impl<'a> Said<'a> {
    fn of(standing: &'a Standing) -> Self {
        match standing.better + standing.worse {
            0 => Self::Undiffering {
                same: standing.same,
                unresolved: standing.unresolved,
                visible: standing.visible,
                needed: Needed::by(standing),
            },
            _ => Self::Differs(standing),
        }
    }

    /// Whether the same is to be said of both; of differences that would have been seen, the larger.
    fn takes(&mut self, other: &Self) -> bool {
        match (self, other) {
            (
                Self::Undiffering { same, unresolved, visible, needed },
                Self::Undiffering {
                    same: other_same,
                    unresolved: other_unresolved,
                    visible: other,
                    needed: other_needed,
                },
            ) if (*same, *unresolved) == (*other_same, *other_unresolved) => {
                *visible = visible.iter().chain(other).copied().reduce(f64::max);
                *needed =
                    needed.zip(*other_needed).map(|(one, other)| if other.numbers > one.numbers { other } else { one });
                true
            }
            (one, other) => *one == *other,
        }
    }
}

/// How each run stands to the base by the scenarios' main metrics, or why nothing is judged between them: a sentence for each run that
/// differs, and one for all of which the same is to be said.
pub(super) fn standings(table: &Table) -> Vec<Phrase> {
    let among_others = table.layout.as_ref().is_some_and(Layout::spreads_metrics);
    let found = compared(table);
    let mut said: Vec<(Said, Vec<usize>)> = Vec::new();
    for (column, _) in text::other_runs(table) {
        let one = match found.iter().find(|standing| standing.column == column) {
            Some(standing) => Said::of(standing),
            None => match nothing_judged(table, column) {
                Some(why) => Said::Nothing(why),
                None => continue,
            },
        };
        match said.iter_mut().find_map(|(other, columns)| other.takes(&one).then_some(columns)) {
            Some(columns) => columns.push(column),
            None => said.push((one, vec![column])),
        }
    }
    said.iter().map(|(said, columns)| in_words(table, said, columns, among_others)).collect()
}

/// The sentence; `among_others` where the table shows further metrics, which are not counted here.
fn in_words(table: &Table, said: &Said, columns: &[usize], among_others: bool) -> Phrase {
    let by_main = among_others && !matches!(said, Said::Nothing(_));
    let quoted = |column: &usize| quoted(&table.columns[*column].title);
    let (base, run) = (quoted(&0), joined(&columns.iter().map(quoted).collect::<Vec<_>>()));
    let names = [("base", Given::Said(&base)), ("run", Given::Said(&run)), ("runs", Given::Count(columns.len()))];
    let sentence = match said {
        Said::Differs(standing) => {
            Phrase::joined(&with_difference(&names, standing, ["standing-first", "standing-on-all"]), "; ")
        }
        Said::Undiffering { same, unresolved, visible, needed } => {
            let parts = unresolved_on(*unresolved, *visible, *needed);
            without_difference(&names, *same, &Phrase::joined(&parts, "; "), *unresolved)
        }
        Said::Nothing(why) => nothing_between(&names, why),
    };
    words::say(if by_main { "standing-by-main" } else { "standing" }, &[("said", Given::Said(&sentence))])
}

/// A title that does not run into a sentence where it is no name.
pub(super) fn quoted(title: &str) -> Phrase {
    match title {
        AS_IT_IS => words::say("side-as-it-is-quoted", &[]),
        title => title.into(),
    }
}

/// Why there is no verdict at all between a run and the base. Nothing where there is one on other metrics than the scenarios' main ones,
/// or where a filter took none of these.
fn nothing_judged(table: &Table, column: usize) -> Option<Phrase> {
    let is_judged = |row: &Row| row.cells[column].against_base().is_some();
    // Of tests the answer is which of them fail.
    let ran_tests = |row: &Row| table.conformance.iter().any(|of| of.scenario == row.scenario);
    if !table.rows.iter().any(|row| row.main && !ran_tests(row)) || table.rows.iter().any(is_judged) {
        return None;
    }
    let has_figures = |row: &Row| [0, column].iter().all(|column| row.measured(*column).is_some());
    let does_other_work = |note: &Note| {
        let ids = [0, column].map(|column| table.columns[column].run_id());
        matches!(note, Note::OtherWork { run, base, .. } if [Some(base.as_str()), Some(run.as_str())] == ids)
    };
    let why = if table.rows.iter().all(|row| !row.main || row.cells[column] == Cell::Absent) {
        "nothing-in-common"
    } else if !table.rows.iter().any(has_figures) {
        "nothing-in-both"
    } else if [0, column].iter().any(|column| table.columns[*column].emulator.is_some()) {
        "nothing-of-emulators"
    } else if table.notes.iter().any(does_other_work) {
        "nothing-of-other-work"
    } else {
        "nothing-judged"
    };
    Some(words::say(why, &[]))
}

/// What the base and the runs are called, and how many runs these are.
type Names<'a> = [(&'static str, Given<'a>); 3];

fn nothing_between(names: &Names, why: &Phrase) -> Phrase {
    let [base, run, runs] = *names;
    words::say("nothing-between", &[base, run, runs, ("why", Given::Said(why))])
}

fn without_difference(names: &Names, same: usize, unresolved_on: &Phrase, unresolved: usize) -> Phrase {
    let [base, run, runs] = *names;
    let all = ("all", Given::Count(same + unresolved));
    match (same, unresolved) {
        (_, 0) => words::say("standing-same", &[base, run, runs, all]),
        _ => {
            let given = [("same", Given::Count(same)), ("unresolved", Given::Said(unresolved_on))];
            words::say("standing-undiffering", &[base, run, runs, all, given[0], given[1]])
        }
    }
}

/// How many pairs, sessions or repeats would settle all that is unresolved, and how many to ask for to have them.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Needed {
    numbers: usize,
    at_least: bool,
    to_ask: usize,
    of: Counted,
}

impl Needed {
    fn by(standing: &Standing) -> Option<Self> {
        let &Standing { at_least, counted: of, .. } = standing;
        Some(Self { numbers: standing.needed?, at_least, to_ask: standing.to_ask?, of })
    }
}

/// How many scenarios are unresolved, what difference would have been seen on them, and what would settle them all.
fn unresolved_on(count: usize, visible: Option<f64>, needed: Option<Needed>) -> Vec<Phrase> {
    let visible = visible.map(text::percent).unwrap_or_default();
    let counted = ("count", Given::Count(count));
    let unresolved = words::say("unresolved-on", &[counted, ("visible", Given::Figure(&visible))]);
    let settle = needed.map(|Needed { numbers, at_least, to_ask, of }| {
        let option = if of == Counted::Sessions { "--sessions" } else { "-r" };
        let given = [("numbers", Given::Count(numbers)), ("counted", Given::Text(text::counted(of)))];
        let option = format!("{option} {to_ask}");
        let message = if at_least { "settle-least" } else { "settle-all" };
        words::say(message, &[counted, given[0], given[1], ("option", Given::Text(&option))])
    });
    [unresolved].into_iter().chain(settle).collect()
}

/// The clauses of a sentence about a run; `first` says on how many scenarios it differs, and `on_all` that it does on all of them.
fn with_difference(names: &[(&str, Given)], standing: &Standing, [first, on_all]: [&str; 2]) -> Vec<Phrase> {
    let all = standing.judged();
    let side = |message: &str, way: &Phrase, count: usize| {
        let counts = [("count", Given::Count(count)), ("all", Given::Count(all))];
        let given: Vec<_> = names.iter().copied().chain([("way", Given::Said(way))]).chain(counts).collect();
        words::say(if count == all { on_all } else { message }, &given)
    };
    let ways = if standing.speeds { ["faster", "slower"] } else { ["text-better", "text-worse"] };
    let ways = ways.map(|way| words::say(way, &[]));
    let better = |message| side(message, &ways[0], standing.better);
    let worse = |message| side(message, &ways[1], standing.worse);
    let second = "standing-second";
    let mut parts = match standing.better >= standing.worse {
        true => vec![better(first), worse(second)],
        false => vec![worse(first), better(second)],
    };
    parts.truncate([standing.better, standing.worse].iter().filter(|count| **count > 0).count());
    if standing.same == all {
        parts.push(side(first, &words::say("the-same", &[]), all));
    }
    if let Some(mean) = &standing.mean {
        let [change, interval] = mean_figures(mean);
        let given = [("change", Given::Figure(&change)), ("interval", Given::Figure(&interval))];
        let count = ("count", Given::Count(mean.scenarios));
        parts.push(words::say("on-average", &[count, given[0], given[1]]));
    }
    if standing.same > 0 && standing.same < all {
        parts.push(words::say("same-on", &[("count", Given::Count(standing.same))]));
    }
    if standing.unresolved > 0 {
        parts.extend(unresolved_on(standing.unresolved, standing.visible, Needed::by(standing)));
    }
    parts
}

/// How the one other run stands to the base by each instrument, where several measured something: a line for each.
pub(super) fn parts(table: &Table) -> Vec<Phrase> {
    match &compared(table)[..] {
        [only] if text::other_runs(table).len() == 1 => only.parts.iter().map(part).collect(),
        _ => Vec::new(),
    }
}

fn part(OfInstrument { instrument, standing }: &OfInstrument) -> Phrase {
    // What would have been seen, and what would settle it, stands in the sentence about all.
    let standing = &Standing { visible: None, needed: None, ..standing.clone() };
    let work = instrument.strip_prefix("stend-probe ").unwrap_or(instrument);
    let said = Phrase::joined(&with_difference(&[], standing, ["part-first", "part-on-all"]), "; ");
    words::say("part", &[("work", Given::Text(work)), ("said", Given::Said(&said))])
}

/// What the mean's line is called.
pub(super) fn mean_label(mean: &Mean) -> Phrase {
    words::say("mean-label", &[("count", Given::Count(mean.scenarios))])
}

/// The mean with its mark.
pub(super) fn mean_change(design: Design, mean: &Mean) -> Value {
    Value::Change { verdict: mean.verdict, solid: design.takes_turns(), ratio: Some(mean.factor) }
}

/// The mean and its interval.
pub(super) fn mean_figures(mean: &Mean) -> [String; 2] {
    [change(mean.factor), mean.interval.map(change_interval).unwrap_or_default()]
}

/// The mean of each run as a sentence, with what is not in it; unless `all`, only where something is not.
pub(super) fn means(table: &Table, all: bool) -> Vec<Phrase> {
    let mean = |standing: &Standing| {
        let (mean, run) = (standing.mean_of_several()?, called(&table.columns[standing.column].title));
        if !all && mean.missing.is_empty() {
            return None;
        }
        let [ratio, interval] = mean_figures(mean);
        let missing = listed(&mean.missing);
        let given = [
            ("run", Given::Said(&run)),
            ("ratio", Given::Figure(&ratio)),
            ("interval", Given::Figure(&interval)),
            ("count", Given::Count(mean.scenarios)),
            ("missing", Given::Said(&missing)),
        ];
        Some(words::say("mean", &given))
    };
    compared(table).iter().filter_map(mean).collect()
}

#[cfg(test)]
#[path = "standing_tests.rs"]
mod tests;
