//! What is said of a history.

use stend_model::identity::short;
use stend_model::machine::Difference;
use stend_model::metric::{Better, three_digits};

use super::mark_and_size;
use crate::phrase::Phrase;
use crate::text::two_levels;
use crate::words::{self, Given};
use stend_compare::history::{Change, Differences, History, LeftOut, Nearest, Point};

pub(super) fn title(history: &History) -> Phrase {
    let better = match history.better {
        Better::Higher => "higher",
        Better::Lower => "lower",
    };
    let (scenario, metric) = (Given::Text(&history.scenario), Given::Text(&history.metric));
    words::say("history-title", &[("scenario", scenario), ("metric", metric), ("better", Given::Text(better))])
}

pub(super) fn subject(history: &History) -> Phrase {
    let day = |point: &Point| point.started_at.strftime("%Y-%m-%d").to_string();
    let first = history.points.first().map(day).unwrap_or_default();
    let last = history.points.last().map(day).filter(|last| *last != first).unwrap_or_default();
    words::say(
        "history-subject",
        &[
            ("machine", Given::Text(&history.machine)),
            ("hardware", Given::Text(short(&history.hardware_id))),
            ("runs", Given::Count(history.points.len())),
            ("first", Given::Text(&first)),
            ("last", Given::Text(&last)),
        ],
    )
}

/// When it was, with which run, and from which level to which.
pub(super) fn headline(history: &History, change: &Change) -> Phrase {
    let at = history.points[change.point].started_at.strftime("%Y-%m-%d %H:%M UTC").to_string();
    let (before, after) = two_levels(history.unit, change.before, change.after);
    words::say(
        "history-change",
        &[
            ("size", Given::Figure(&mark_and_size(change))),
            ("at", Given::Text(&at)),
            ("run", Given::Text(&change.after_run)),
            ("before", Given::Figure(&before)),
            ("after", Given::Figure(&after)),
            ("p", Given::Figure(&p(change.p))),
        ],
    )
}

/// p as people read it: `= 0.0004`, `< 10⁻⁹`.
fn p(p: f64) -> String {
    if p < 1e-9 { "< 10⁻⁹".into() } else { format!("= {}", three_digits(p)) }
}

/// What else changed between the last run before and the first after, or near them.
pub(super) fn causes(change: &Change) -> Vec<Phrase> {
    if !change.with.is_empty() {
        return in_words(&change.with);
    }
    let between = |before, after| [("before", Given::Text(before)), ("after", Given::Text(after))];
    let mut words = vec![words::say("history-no-cause", &between(&change.before_run, &change.after_run))];
    if let Some(Nearest { before_run, after_run, with }) = &change.nearest {
        let with = in_words(with);
        let what = Phrase::of(|language| with.iter().map(|one| one.say(language)).collect::<Vec<_>>().join("; "));
        let [before, after] = between(before_run, after_run);
        words.push(words::say("history-near", &[before, after, ("what", Given::Said(&what))]));
    }
    words
}

fn in_words(differences: &Differences) -> Vec<Phrase> {
    let one = |difference: &Difference| {
        Phrase::of(|language| words::machine::words_of(difference, language).sentence(language))
    };
    let of_build = |difference: &Difference| match difference.what.as_str() {
        "stend" => one(difference),
        _ => words::say("history-build", &[("what", Given::Said(&one(difference)))]),
    };
    differences.machine.iter().map(one).chain(differences.build.iter().map(of_build)).collect()
}

pub(super) fn notes(history: &History) -> Vec<Phrase> {
    let about = if history.points.is_empty() {
        "history-no-run"
    } else if history.more_needed > 0 {
        "history-too-few"
    } else if history.without_ratio {
        "history-without-ratio"
    } else if history.changes.is_empty() {
        "history-no-change"
    } else {
        "history-rule"
    };
    let about = words::say(about, &[("more", Given::Count(history.more_needed))]);
    std::iter::once(about).chain(left_out(history.left_out)).collect()
}

fn left_out(left_out: LeftOut) -> impl Iterator<Item = Phrase> {
    let LeftOut { other_machine, other_work, emulated, no_value, two_sides } = left_out;
    let all = [
        ("history-other-machine", other_machine),
        ("history-other-work", other_work),
        ("history-emulated", emulated),
        ("history-two-sides", two_sides),
        ("history-no-value", no_value),
    ];
    all.into_iter().filter(|(_, runs)| *runs > 0).map(|(name, runs)| words::say(name, &[("runs", Given::Count(runs))]))
}
