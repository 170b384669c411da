//! Why a verdict is what it is, in words.

use stend_stats::{MIN_REPEATS, SIGNIFICANCE};

use crate::compare::table::{AgainstBase, Cell, Column, Measured, Row, Table, Verdict};
use crate::report::language::to_settle;
use crate::report::phrase::Phrase;
use crate::report::text::{change, change_interval, other_runs, percent};

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
    let Some(Cell::Measured(base)) = row.cells.first() else { return Vec::new() };
    let one = |(index, column): (usize, &Column)| {
        let Some(Cell::Measured(value)) = row.cells.get(index) else { return None };
        let (class, words) = match &value.against_base {
            Some(against) => (crate::report::text::word(against.verdict), reason(against, base, value)),
            None => (
                "",
                Phrase::fixed(
                    "No verdict: the two are not to be compared, as the notes above the table say.",
                    "Вердикта нет: эти двое несравнимы, почему – сказано в примечаниях над таблицей.",
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
    let q = if q < 0.001 { "q < 0.001".to_owned() } else { format!("q = {q:.3}") };
    (format!(" ({q})"), format!(" ({q})"))
}

fn reason(against: &AgainstBase, base: &Measured, value: &Measured) -> Phrase {
    let size = change(against.ratio);
    let (within_en, within_ru) = against.interval.map_or_else(Default::default, |interval| {
        let interval = change_interval(interval);
        (format!(", 95 % interval {interval}"), format!(", интервал 95 %: {interval}"))
    });
    let floor = percent(against.floor);
    let (chance_en, chance_ru) = chance(against.q);
    let drift = against.drift.filter(|drift| *drift > 0.0).map(percent);
    match against.verdict {
        Verdict::Better | Verdict::Worse => {
            let better = against.verdict == Verdict::Better;
            let (drift_en, drift_ru) = drift.map_or_else(Default::default, |drift| {
                (
                    format!(", and beyond the {drift} by which the runs differ from themselves"),
                    format!(" и за {drift}, на которые прогоны отличаются от самих себя"),
                )
            });
            Phrase::new(
                format!(
                    "{} than the base: {size}{within_en}. Chance alone would hardly make it{chance_en}; all of the interval lies beyond the {floor} that do not matter{drift_en}.",
                    if better { "Better" } else { "Worse" },
                ),
                format!(
                    "{}, чем база: {size}{within_ru}. Случайность такого почти не даёт{chance_ru}; весь интервал лежит за порогом {floor}, ниже которого разница неважна{drift_ru}.",
                    if better { "Лучше" } else { "Хуже" },
                ),
            )
        }
        Verdict::Same => Phrase::new(
            format!(
                "The same as the base for all that matters: {size}{within_en}. All of the interval lies within {floor}."
            ),
            format!("Практически то же, что база: {size}{within_ru}. Весь интервал внутри порога {floor}."),
        ),
        Verdict::Unresolved => {
            let Phrase { en: why_en, ru: why_ru } = why_unresolved(against, base, value);
            let (more_en, more_ru) = against.repeats_needed.map_or_else(Default::default, |repeats| {
                let Phrase { en, ru } = to_settle(repeats);
                (format!("; {en}"), format!("; {ru}"))
            });
            Phrase::new(
                format!("The evidence does not say: {size}{within_en}. {why_en}{more_en}."),
                format!("Данные этого не говорят: {size}{within_ru}. {why_ru}{more_ru}."),
            )
        }
    }
}

/// Which condition of the rule does not hold, in the order in which the rule asks.
fn why_unresolved(against: &AgainstBase, base: &Measured, value: &Measured) -> Phrase {
    let least = MIN_REPEATS as u32;
    let (Some((low, high)), Some(q)) = (against.interval.filter(|_| base.valid.min(value.valid) >= least), against.q)
    else {
        return Phrase::fixed(
            "A verdict takes six valid repeats on each side",
            "Для вердикта нужно шесть годных повторов с каждой стороны",
        );
    };
    let floor = percent(against.floor);
    if q >= SIGNIFICANCE {
        let (chance_en, chance_ru) = chance(Some(q));
        return Phrase::new(
            format!(
                "Chance alone could make such a difference{chance_en}, and it may be more than the {floor} that do not matter"
            ),
            format!("Такую разницу может дать случайность{chance_ru}, а быть она может и больше порога {floor}"),
        );
    }
    let most = 1.0 + against.floor;
    if low <= most && high >= 1.0 / most {
        return Phrase::new(
            format!("There is a difference, but it may be less than the {floor} that do not matter"),
            format!("Разница есть, но она может быть меньше порога {floor}, ниже которого неважна"),
        );
    }
    let (drift_en, drift_ru) = against
        .drift
        .map_or_else(Default::default, |drift| (format!(" by {}", percent(drift)), format!(" на {}", percent(drift))));
    Phrase::new(
        format!(
            "The runs differ from themselves{drift_en}, first half against second, so they may differ from each other as much for no reason"
        ),
        format!(
            "Прогоны отличаются от самих себя{drift_ru}, первая половина от второй, так что и друг от друга могут отличаться без причины"
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(valid: u32) -> Measured {
        Measured {
            median: 1.0,
            interval: None,
            minimum: 1.0,
            maximum: 1.0,
            spread: None,
            valid,
            invalid: 0,
            outliers: 0,
            against_base: None,
            of_ceilings: Vec::new(),
        }
    }

    fn said(verdict: Verdict, interval: Option<(f64, f64)>, q: Option<f64>, valid: u32) -> Phrase {
        let against = AgainstBase {
            ratio: 1.05,
            interval,
            q,
            floor: 0.01,
            drift: Some(0.084),
            verdict,
            repeats_needed: (verdict == Verdict::Unresolved && valid >= 6).then_some(40),
        };
        reason(&against, &measured(10), &measured(valid))
    }

    #[test]
    fn a_mark_names_all_three_conditions() {
        let better = said(Verdict::Better, Some((1.04, 1.06)), Some(0.00003), 10);
        assert_eq!(
            better.en,
            "Better than the base: +5.0 %, 95 % interval +4.0 … +6.0 %. Chance alone would hardly make it (q < 0.001); \
             all of the interval lies beyond the 1.0 % that do not matter, and beyond the 8.4 % by which the runs differ from themselves."
        );
        assert!(said(Verdict::Worse, Some((0.9, 0.95)), Some(0.002), 10).ru.starts_with("Хуже, чем база: "));
    }

    #[test]
    fn what_is_unresolved_names_the_condition_that_fails() {
        let why = |interval, q, valid| said(Verdict::Unresolved, interval, q, valid).en;
        assert!(why(Some((0.9, 1.2)), Some(0.3), 10).contains("Chance alone could make such a difference (q = 0.300)"));
        assert!(why(Some((1.001, 1.1)), Some(0.001), 10).contains("may be less than the 1.0 % that do not matter"));
        assert!(why(Some((1.03, 1.07)), Some(0.001), 10).contains("differ from themselves by 8.4 %"));
        assert!(why(Some((1.03, 1.07)), Some(0.001), 5).contains("takes six valid repeats"));
        assert!(why(None, None, 10).contains("takes six valid repeats"));
        assert!(why(Some((0.9, 1.2)), Some(0.3), 10).ends_with("; about 40 repeats on each side would settle it."));
    }

    #[test]
    fn the_same_is_within_the_floor() {
        assert!(
            said(Verdict::Same, Some((0.995, 1.005)), Some(0.6), 10)
                .en
                .ends_with("All of the interval lies within 1.0 %.")
        );
    }
}
