//! Why a verdict is what it is, in words.

use stend_stats::Reason;

use crate::phrase::Phrase;
use crate::text::{change, change_interval, other_runs, percent, probability};
use crate::texts::to_settle;
use crate::words::{self, Given};
use stend_compare::table::{AgainstBase, Column, Row, Table};

/// A verdict on one run, and what speaks for it.
pub(super) struct ReasonView {
    /// The run's title.
    pub(super) title: String,
    /// The style: the verdict's name, or empty where there is none.
    pub(super) class: &'static str,
    pub(super) words: Phrase,
}

/// The verdicts on a scenario's main metric, one for each run that was measured beside the base.
pub(super) fn reasons(table: &Table, row: &Row) -> Vec<ReasonView> {
    if row.measured(0).is_none() {
        return Vec::new();
    }
    let one = |(index, column): (usize, &Column)| {
        let (class, words) = match &row.measured(index)?.against_base {
            Some(against) => (crate::text::word(against.verdict), reason(against)),
            None => ("", words::say("no-verdict", &[])),
        };
        Some(ReasonView { title: column.title.clone(), class, words })
    };
    other_runs(table).into_iter().filter_map(one).collect()
}

/// The verdict, its size, and the condition that decided.
pub(super) fn reason(against: &AgainstBase) -> Phrase {
    let size = against.factor.map(change).unwrap_or_default();
    let interval = against.interval.map(change_interval).unwrap_or_default();
    let (floor, q) = (percent(against.floor), against.q.map(probability).unwrap_or_default());
    let more = to_settle(against).unwrap_or_default();
    let visible = against.visible.map(percent).unwrap_or_default();
    let given = [
        ("verdict", Given::Text(crate::text::word(against.verdict))),
        ("size", Given::Figure(&size)),
        ("interval", Given::Figure(&interval)),
        ("q", Given::Figure(&q)),
        ("floor", Given::Figure(&floor)),
        ("visible", Given::Figure(&visible)),
        ("reason", Given::Text(unresolved(against))),
        ("more", Given::Said(&more)),
    ];
    words::say("reason", &given)
}

/// Which condition of the rule does not hold, for the message.
fn unresolved(against: &AgainstBase) -> &'static str {
    match against.reason {
        Reason::TooFew => "too-few",
        Reason::NotFinite => "not-finite",
        Reason::NotPositive => "not-positive",
        Reason::UnequalPairs => "unequal-pairs",
        Reason::CrossesFloor => "crosses-floor",
        Reason::NotSignificant => "not-significant",
        Reason::BadFloor | Reason::BeyondFloor | Reason::WithinFloor => "no-test",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stend_compare::table::{Counted, Design, Verdict};

    fn said(verdict: Verdict, reason: Reason, interval: Option<(f64, f64)>, q: Option<f64>) -> Phrase {
        super::reason(&AgainstBase {
            factor: Some(1.05),
            interval,
            p: q,
            q,
            floor: 0.01,
            design: Design::InTurns,
            counted: Counted::Pairs,
            base_count: 10,
            own_count: 10,
            verdict,
            reason,
            visible: Some(0.062),
            needed: (verdict == Verdict::Unresolved).then_some(40),
            numbers: None,
        })
    }

    #[test]
    fn a_mark_names_both_conditions() {
        let better = said(Verdict::Better, Reason::BeyondFloor, Some((1.04, 1.06)), Some(0.00003));
        assert_eq!(
            better.english(),
            "Better than the base: +5.0 %, 95 % interval +4.0 … +6.0 %. This is unlikely to be chance (q < 0.001); \
             the whole interval lies beyond the 1.0 % that do not matter."
        );
        let worse = said(Verdict::Worse, Reason::BeyondFloor, Some((0.9, 0.95)), Some(0.002));
        assert!(worse.russian().starts_with("Хуже, чем база: "));
    }

    #[test]
    fn what_is_unresolved_names_the_condition_that_fails_and_what_would_have_been_seen() {
        let why = |reason, interval, q| said(Verdict::Unresolved, reason, interval, q).english().to_owned();
        let chance = why(Reason::NotSignificant, Some((0.9, 1.2)), Some(0.3));
        assert!(chance.contains("(q = 0.300)") && chance.contains("6.2 % would have been seen"), "{chance}");
        assert!(chance.ends_with("; about 40 pairs would settle it."), "{chance}");
        let crosses = why(Reason::CrossesFloor, Some((1.001, 1.1)), Some(0.04));
        assert!(crosses.contains("may be less than the 1.0 % that do not matter"));
        assert!(why(Reason::TooFew, None, None).contains("requires five"));
        assert!(why(Reason::NotPositive, None, None).contains("zero or negative"));
    }

    #[test]
    fn the_same_is_within_the_floor() {
        let same = said(Verdict::Same, Reason::WithinFloor, Some((0.995, 1.005)), Some(0.6));
        assert_eq!(
            same.english(),
            "The same as the base for all that matters: +5.0 %, 95 % interval −0.5 … +0.5 %. The whole interval lies within the 1.0 % that do \
             not matter."
        );
    }
}
