//! Why a verdict is what it is, in words.

use stend_stats::Reason;

use crate::phrase::Phrase;
use crate::text::{change, change_interval, other_runs, percent, probability};
use crate::texts::to_settle;
use crate::words::{self, Given};
use stend_compare::evidence::FloorSource;
use stend_compare::table::{AgainstBase, Cell, Column, Row, Table};

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
    if !matches!(row.cells.first(), Some(Cell::Measured(_))) {
        return Vec::new();
    }
    let one = |(index, column): (usize, &Column)| {
        let Some(Cell::Measured(value)) = row.cells.get(index) else { return None };
        let (class, words) = match &value.against_base {
            Some(against) => (crate::text::word(against.verdict), reason(against)),
            None => ("", words::say("no-verdict", &[])),
        };
        Some(ReasonView { title: column.title.clone(), class, words })
    };
    other_runs(table).into_iter().filter_map(one).collect()
}

/// The verdict, its size, and the condition that decided.
pub(super) fn reason(against: &AgainstBase) -> Phrase {
    // What a machine differs from itself by may well matter; it only hides what is smaller.
    let noise = matches!(against.evidence.floor_source, FloorSource::Noise { .. });
    let drift = against.drift.filter(|drift| *drift > 0.0).map(percent).unwrap_or_default();
    let size = against.ratio.map(change).unwrap_or_default();
    let interval = against.interval.map(change_interval).unwrap_or_default();
    let (floor, q) = (percent(against.floor), against.q.map(probability).unwrap_or_default());
    let more = to_settle(against).unwrap_or_default();
    let given = [
        ("verdict", Given::Text(crate::text::word(against.verdict))),
        ("size", Given::Figure(&size)),
        ("interval", Given::Figure(&interval)),
        ("q", Given::Figure(&q)),
        ("floor", Given::Figure(&floor)),
        ("noise", Given::Text(if noise { "true" } else { "false" })),
        ("drift", Given::Figure(if against.evidence.resembling { "" } else { &drift })),
        ("reason", Given::Text(unresolved(against))),
        ("more", Given::Said(&more)),
    ];
    words::say("reason", &given)
}

/// Which condition of the rule does not hold, for the message.
fn unresolved(against: &AgainstBase) -> &'static str {
    match against.reason {
        Reason::TooFewRepeats => "too-few-repeats",
        Reason::NotFinite => "not-finite",
        Reason::NotPositive => "not-positive",
        Reason::UnequalPairs => "unequal-pairs",
        Reason::CrossesFloor => "crosses-floor",
        Reason::WithinDrift if against.evidence.resembling => "resembling",
        Reason::WithinDrift => "within-drift",
        Reason::NotSignificant => "not-significant",
        Reason::NoEvidence | Reason::BadFloor | Reason::BeyondFloor | Reason::WithinFloor => "no-test",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stend_compare::evidence::Evidence;
    use stend_compare::table::Verdict;

    fn said(verdict: Verdict, reason: Reason, interval: Option<(f64, f64)>, q: Option<f64>) -> Phrase {
        super::reason(&against(verdict, reason, interval, q))
    }

    fn against(verdict: Verdict, reason: Reason, interval: Option<(f64, f64)>, q: Option<f64>) -> AgainstBase {
        AgainstBase {
            ratio: Some(1.05),
            interval,
            q,
            floor: 0.01,
            drift: Some(0.084),
            verdict,
            reason,
            repeats_needed: (verdict == Verdict::Unresolved).then_some(40),
            evidence: Box::<Evidence>::default(),
        }
    }

    #[test]
    fn a_mark_names_all_three_conditions() {
        let better = said(Verdict::Better, Reason::BeyondFloor, Some((1.04, 1.06)), Some(0.00003));
        assert_eq!(
            better.english(),
            "Better than the base: +5.0 %, 95 % interval +4.0 … +6.0 %. This is unlikely to be chance (q < 0.001); \
             the whole interval lies beyond the 1.0 % that do not matter, and beyond the drift of 8.4 % within the runs."
        );
        let worse = said(Verdict::Worse, Reason::BeyondFloor, Some((0.9, 0.95)), Some(0.002));
        assert!(worse.russian().starts_with("Хуже, чем база: "));
    }

    #[test]
    fn what_is_unresolved_names_the_condition_that_fails() {
        let why = |reason, interval, q| said(Verdict::Unresolved, reason, interval, q).english().to_owned();
        let chance = why(Reason::NotSignificant, Some((0.9, 1.2)), Some(0.3));
        assert!(chance.contains("The difference may be chance (q = 0.300)"));
        assert!(chance.ends_with("; about 40 repeats on each side would settle it."));
        let crosses = why(Reason::CrossesFloor, Some((1.001, 1.1)), Some(0.001));
        assert!(crosses.contains("may be less than the 1.0 % that do not matter"));
        let drift = why(Reason::WithinDrift, Some((1.03, 1.07)), Some(0.001));
        assert!(drift.contains("the first half differs from the second by 8.4 %"));
        assert!(why(Reason::TooFewRepeats, None, None).contains("requires six valid repeats"));
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

    #[test]
    fn what_lies_within_the_machines_own_noise_is_not_said_to_be_of_no_matter() {
        let said = |verdict, reason, interval| {
            let mut against = against(verdict, reason, Some(interval), Some(0.3));
            against.floor = 0.36;
            against.evidence.floor_source =
                FloorSource::Noise { run: "20261122-1921-1ce1".into(), measured_at: jiff::Timestamp::UNIX_EPOCH };
            super::reason(&against)
        };
        let same = said(Verdict::Same, Reason::WithinFloor, (0.8, 1.2));
        assert_eq!(
            same.english(),
            "Cannot be told apart from the base: +5.0 %, 95 % interval −20.0 … +20.0 %. The whole interval lies within the 36 % by which the \
             machine differs from itself."
        );
        assert!(same.russian().starts_with("Неотличимо от базы: "), "{}", same.russian());
        for (verdict, reason) in [
            (Verdict::Better, Reason::BeyondFloor),
            (Verdict::Same, Reason::WithinFloor),
            (Verdict::Unresolved, Reason::CrossesFloor),
            (Verdict::Unresolved, Reason::NotSignificant),
        ] {
            let said = said(verdict, reason, (0.8, 1.2));
            let (en, ru) = (said.english(), said.russian());
            assert!(en.contains("the 36 % by which the machine differs from itself") && !en.contains("matter"), "{en}");
            assert!(ru.contains("на которые машина отличается от самой себя") && !ru.contains("важн"), "{ru}");
        }
    }
}
