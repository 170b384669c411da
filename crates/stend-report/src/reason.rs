//! Why a verdict is what it is, in words.

use stend_stats::Reason;

use crate::language::to_settle;
use crate::numbers::russian;
use crate::phrase::Phrase;
use crate::text::{change, change_interval, other_runs, percent, probability};
use stend_compare::evidence::FloorSource;
use stend_compare::table::{AgainstBase, Cell, Column, Row, Table, Verdict};

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
            None => (
                "",
                Phrase::fixed(
                    "No verdict: the two are not to be compared, as the notes above the table say.",
                    "Вердикта нет: их нельзя сравнить, почему — сказано в примечаниях над таблицей.",
                ),
            ),
        };
        Some(ReasonView { title: column.title.clone(), class, words })
    };
    other_runs(table).into_iter().filter_map(one).collect()
}

/// How significant it is, where a test was made.
fn chance(q: Option<f64>) -> (String, String) {
    let Some(q) = q else { return Default::default() };
    let q = format!(" (q {})", probability(q));
    (q.clone(), q)
}

/// δ as what a difference is held against. What a machine differs from itself by may well matter; it only hides what is smaller. Of the
/// Russian word for a threshold, the form that the sentence takes.
fn held_against(against: &AgainstBase, threshold: &str) -> (String, String) {
    let floor = percent(against.floor);
    if matches!(against.evidence.floor_source, FloorSource::Noise { .. }) {
        return (
            format!("the {floor} by which the machine differs from itself"),
            format!("{floor}, на которые машина отличается от самой себя"),
        );
    }
    (format!("the {floor} that do not matter"), format!("{threshold} {floor}, ниже которого разница неважна"))
}

/// The verdict, its size, and the condition that decided.
pub(super) fn reason(against: &AgainstBase) -> Phrase {
    let Phrase { en, ru } = verdict_and_why(against);
    Phrase::new(en, russian(&ru))
}

fn verdict_and_why(against: &AgainstBase) -> Phrase {
    let size = against.ratio.map(change).unwrap_or_default();
    let (within_en, within_ru) = against.interval.map_or_else(Default::default, |interval| {
        let interval = change_interval(interval);
        (format!(", 95 % interval {interval}"), format!(", интервал 95 %: {interval}"))
    });
    let (chance_en, chance_ru) = chance(against.q);
    let drift = against.drift.filter(|drift| *drift > 0.0 && !against.evidence.resembling).map(percent);
    match against.verdict {
        Verdict::Better | Verdict::Worse => {
            let better = against.verdict == Verdict::Better;
            let (drift_en, drift_ru) = drift.map_or_else(Default::default, |drift| {
                (
                    format!(", and beyond the drift of {drift} within the runs"),
                    format!(", и за дрейфом внутри прогонов, {drift}"),
                )
            });
            let (floor_en, floor_ru) = held_against(against, "порогом");
            Phrase::new(
                format!(
                    "{} than the base: {size}{within_en}. This is unlikely to be chance{chance_en}; the whole interval lies beyond {floor_en}{drift_en}.",
                    if better { "Better" } else { "Worse" },
                ),
                format!(
                    "{}, чем база: {size}{within_ru}. Случайность маловероятна{chance_ru}; весь интервал лежит за {floor_ru}{drift_ru}.",
                    if better { "Лучше" } else { "Хуже" },
                ),
            )
        }
        Verdict::Same => {
            let (floor_en, floor_ru) = held_against(against, "порога");
            let (same_en, same_ru) = match against.evidence.floor_source {
                FloorSource::Noise { .. } => ("Cannot be told apart from the base", "Неотличимо от базы"),
                _ => ("The same as the base for all that matters", "Практически то же, что база"),
            };
            Phrase::new(
                format!("{same_en}: {size}{within_en}. The whole interval lies within {floor_en}."),
                format!("{same_ru}: {size}{within_ru}. Весь интервал внутри {floor_ru}."),
            )
        }
        Verdict::Unresolved => {
            let Phrase { en: why_en, ru: why_ru } = why_unresolved(against);
            let (more_en, more_ru) = to_settle(against)
                .map_or_else(Default::default, |Phrase { en, ru }| (format!("; {en}"), format!("; {ru}")));
            if size.is_empty() {
                return Phrase::new(
                    format!("Insufficient evidence. {why_en}."),
                    format!("Данных недостаточно. {why_ru}."),
                );
            }
            Phrase::new(
                format!("Insufficient evidence: {size}{within_en}. {why_en}{more_en}."),
                format!("Данных недостаточно: {size}{within_ru}. {why_ru}{more_ru}."),
            )
        }
    }
}

/// Which condition of the rule does not hold.
fn why_unresolved(against: &AgainstBase) -> Phrase {
    let (floor_en, floor_ru) = held_against(against, "порога");
    match against.reason {
        Reason::TooFewRepeats => Phrase::fixed(
            "A verdict requires six valid repeats on each side",
            "Для вердикта нужно шесть годных повторов с каждой стороны",
        ),
        Reason::NotFinite => Phrase::fixed(
            "A value is not a finite number, so there is nothing to test",
            "Одно из значений — не конечное число, проверять нечего",
        ),
        Reason::NotPositive => Phrase::fixed(
            "A value is zero or negative, so there is no ratio to test",
            "Одно из значений — ноль или меньше, отношения для проверки нет",
        ),
        Reason::UnequalPairs => Phrase::fixed(
            "Not every repeat of one side has its partner on the other",
            "Не у каждого повтора одной стороны есть пара на другой",
        ),
        Reason::CrossesFloor => Phrase::new(
            format!("There is a difference, but it may be less than {floor_en}"),
            format!("Разница есть, но она может быть меньше {floor_ru}"),
        ),
        Reason::WithinDrift if against.evidence.resembling => Phrase::new(
            "There is a difference, but neighbouring repeats of a run are correlated, so they count for fewer, which is too few to be certain",
            "Разница есть, но соседние повторы прогона коррелируют и считаются за меньшее их число, а этого мало для уверенности",
        ),
        Reason::WithinDrift => {
            let (drift_en, drift_ru) = against.drift.map_or_else(Default::default, |drift| {
                (format!(" by {}", percent(drift)), format!(" на {}", percent(drift)))
            });
            Phrase::new(
                format!(
                    "Within a run the first half differs from the second{drift_en}, so the runs may differ from each other by as much without a cause"
                ),
                format!(
                    "Внутри прогона первая половина отличается от второй{drift_ru}, поэтому и прогоны могут так отличаться друг от друга без причины"
                ),
            )
        }
        Reason::NotSignificant => {
            let (chance_en, chance_ru) = chance(against.q);
            Phrase::new(
                format!("The difference may be chance{chance_en}, and it may be more than {floor_en}"),
                format!("Разница может быть случайной{chance_ru}, а может быть и больше {floor_ru}"),
            )
        }
        Reason::NoEvidence | Reason::BadFloor | Reason::BeyondFloor | Reason::WithinFloor => {
            Phrase::fixed("No test could be made", "Проверить ничего не удалось")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stend_compare::evidence::Evidence;

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
            better.en,
            "Better than the base: +5.0 %, 95 % interval +4.0 … +6.0 %. This is unlikely to be chance (q < 0.001); \
             the whole interval lies beyond the 1.0 % that do not matter, and beyond the drift of 8.4 % within the runs."
        );
        let worse = said(Verdict::Worse, Reason::BeyondFloor, Some((0.9, 0.95)), Some(0.002));
        assert!(worse.ru.starts_with("Хуже, чем база: "));
    }

    #[test]
    fn what_is_unresolved_names_the_condition_that_fails() {
        let why = |reason, interval, q| said(Verdict::Unresolved, reason, interval, q).en;
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
            same.en,
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
            same.en,
            "Cannot be told apart from the base: +5.0 %, 95 % interval −20.0 … +20.0 %. The whole interval lies within the 36 % by which the \
             machine differs from itself."
        );
        assert!(same.ru.starts_with("Неотличимо от базы: "), "{}", same.ru);
        for (verdict, reason) in [
            (Verdict::Better, Reason::BeyondFloor),
            (Verdict::Same, Reason::WithinFloor),
            (Verdict::Unresolved, Reason::CrossesFloor),
            (Verdict::Unresolved, Reason::NotSignificant),
        ] {
            let Phrase { en, ru } = said(verdict, reason, (0.8, 1.2));
            assert!(en.contains("the 36 % by which the machine differs from itself") && !en.contains("matter"), "{en}");
            assert!(ru.contains("на которые машина отличается от самой себя") && !ru.contains("важн"), "{ru}");
        }
    }
}
