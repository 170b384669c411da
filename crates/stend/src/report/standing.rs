//! How a run stands to the base over all scenarios, in one sentence a person would say, and the mean under the table.

use stend_model::suite::Layout;

use super::notes::listed;
use super::numbers::russian;
use super::phrase::Phrase;
use super::text::{change, change_interval, factor};
use crate::compare::standing::{Extreme, Mean, Standing, standings as compared};
use crate::compare::table::Table;
use crate::language::{english_plural, russian_plural};

/// A sentence for each run: how it stands to the base by the scenarios' main metrics.
pub(super) fn standings(table: &Table) -> Vec<Phrase> {
    let among_others = table.layout.as_ref().is_some_and(Layout::spreads_metrics);
    compared(table).iter().map(|standing| sentence(table, standing, among_others)).collect()
}

/// The sentence; `among_others` where the table shows further metrics, which are not counted here.
fn sentence(table: &Table, standing: &Standing, among_others: bool) -> Phrase {
    let [base, run] = [0, standing.column].map(|column| table.columns[column].title.as_str());
    let Phrase { en, ru } = match (standing.better, standing.worse) {
        (0, 0) => without_difference(base, run, standing),
        (better, worse) => with_difference(base, run, standing, better >= worse),
    };
    let (by_en, by_ru) = if among_others {
        (" (by each scenario's main metric)", " (по главной метрике каждого сценария)")
    } else {
        ("", "")
    };
    Phrase::new(format!("{en}{by_en}."), format!("{ru}{by_ru}."))
}

fn without_difference(base: &str, run: &str, standing: &Standing) -> Phrase {
    let all = standing.judged();
    let [all_en, all_ru] = on_all(all);
    match (standing.same, standing.unresolved) {
        (_, 0) => Phrase::new(
            format!("{run} and {base} are the same on {all_en}"),
            format!("{run} и {base} одинаковы {all_ru}"),
        ),
        (0, _) => Phrase::new(
            format!("Nothing can be said between {run} and {base}: unresolved on {all_en}"),
            format!("Между {run} и {base} ничего не решено {all_ru}"),
        ),
        (same, unresolved) => Phrase::new(
            format!(
                "Of {} none shows {run} and {base} to differ: the same on {same}; {}",
                english_plural(all, "scenario", "scenarios"),
                unresolved_in_english(unresolved)
            ),
            format!(
                "Отличий {run} от {base} не видно ни в одном сценарии из {all}: одинаково в {same}; не решено: {unresolved}"
            ),
        ),
    }
}

fn with_difference(base: &str, run: &str, standing: &Standing, better_first: bool) -> Phrase {
    let (words, words_ru) = if standing.speeds {
        (["faster", "slower"], ["быстрее", "медленнее"])
    } else {
        (["better", "worse"], ["лучше", "хуже"])
    };
    let sides = [(standing.better, &standing.best), (standing.worse, &standing.worst)];
    let (first, second) = if better_first { (0, 1) } else { (1, 0) };
    let all = standing.judged();
    let [on_en, on_ru] = on(sides[first].0, all);
    let [most_en, most_ru] = most(sides[first].1.as_ref());
    let mut en = format!("{run} is {} than {base} on {on_en}{most_en}", words[first]);
    let mut ru = format!("{run} {}, чем {base}, {on_ru}{most_ru}", words_ru[first]);
    let (count, extreme) = sides[second];
    if count > 0 {
        let [most_en, most_ru] = most(extreme.as_ref());
        en += &format!("; {} on {count}{most_en}", words[second]);
        ru += &format!("; {} в {count}{most_ru}", words_ru[second]);
    }
    if standing.same > 0 {
        en += &format!("; the same on {}", standing.same);
        ru += &format!("; одинаково в {}", standing.same);
    }
    if standing.unresolved > 0 {
        en += &format!("; {}", unresolved_in_english(standing.unresolved));
        ru += &format!("; не решено: {}", standing.unresolved);
    }
    Phrase::new(en, ru)
}

fn unresolved_in_english(count: usize) -> String {
    english_plural(count, "is unresolved", "are unresolved")
}

/// `31 of 40 scenarios`, `all 40 scenarios`, `the one scenario`.
fn on(count: usize, all: usize) -> [String; 2] {
    if count == all {
        return on_all(all);
    }
    let form = russian_plural(count, "сценарии", "сценариях", "сценариях");
    [format!("{count} of {all} scenarios"), format!("в {count} {form} из {all}")]
}

fn on_all(all: usize) -> [String; 2] {
    match all {
        1 => ["the one scenario".into(), "в единственном сценарии".into()],
        2 => ["both scenarios".into(), "в обоих сценариях".into()],
        _ => {
            let form = russian_plural(all, "сценарии", "сценариях", "сценариях");
            [format!("all {all} scenarios"), format!("во всех {all} {form}")]
        }
    }
}

/// Where it stands out most.
fn most(extreme: Option<&Extreme>) -> [String; 2] {
    let Some(Extreme { scenario, ratio }) = extreme else { return [const { String::new() }; 2] };
    let factor = factor(*ratio);
    [
        format!(", most of all on “{scenario}” ({factor})"),
        format!(", больше всего в «{scenario}» ({})", russian(&factor)),
    ]
}

/// What the mean's line is called.
pub(super) fn mean_label(mean: &Mean) -> Phrase {
    let count = mean.scenarios;
    Phrase::new(format!("geometric mean of {count}"), format!("среднее геометрическое {count}"))
}

/// The mean and its interval.
pub(super) fn mean_figures(mean: &Mean) -> [String; 2] {
    [change(mean.ratio), mean.interval.map(change_interval).unwrap_or_default()]
}

/// The mean of each run as a sentence, with what is not in it; unless `all`, only where something is not.
pub(super) fn means(table: &Table, all: bool) -> Vec<Phrase> {
    let mean = |standing: &Standing| {
        let (mean, run) = (standing.mean.as_ref()?, &table.columns[standing.column].title);
        if !all && mean.missing.is_empty() {
            return None;
        }
        let [ratio, interval] = mean_figures(mean);
        let interval = if interval.is_empty() { interval } else { format!(" ({interval})") };
        let count = mean.scenarios;
        let (without_en, without_ru) = if mean.missing.is_empty() {
            (String::new(), String::new())
        } else {
            let Phrase { en, ru } = listed(&mean.missing);
            (format!("; not in it: {en}"), format!("; без {ru}"))
        };
        Some(Phrase::new(
            format!(
                "{run}: {ratio}{interval}, the geometric mean over {count} scenarios, where more is better{without_en}"
            ),
            format!(
                "{run}: {}{} – среднее геометрическое по {count} {}, больше – лучше{without_ru}",
                russian(&ratio),
                russian(&interval),
                russian_plural(count, "сценарию", "сценариям", "сценариям")
            ),
        ))
    };
    compared(table).iter().filter_map(mean).collect()
}

#[cfg(test)]
#[path = "standing_tests.rs"]
mod tests;
