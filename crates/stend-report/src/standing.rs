//! How a run stands to the base over all scenarios, in one sentence a person would say, and the mean under the table.

use stend_model::suite::Layout;

use super::notes::{joined, listed};
use super::numbers::russian;
use super::phrase::{Phrase, called};
use super::text::{self, change, change_interval, factor};
use crate::words::language::russian_plural;
use stend_compare::standing::{Extreme, Mean, Standing, standings as compared};
use stend_compare::table::{Cell, Note, Row, Table};
use stend_model::quantity::english_plural;

/// What is to be said of a run beside the base.
#[derive(PartialEq)]
enum Said<'a> {
    /// It differs, in its own way.
    Differs(&'a Standing),
    /// No scenario shows a difference: so many are the same, and so many unresolved.
    Undiffering { same: usize, unresolved: usize },
    /// Nothing is judged, for this reason.
    Nothing(Phrase),
}

impl<'a> Said<'a> {
    fn of(standing: &'a Standing) -> Self {
        match standing.better + standing.worse {
            0 => Self::Undiffering { same: standing.same, unresolved: standing.unresolved },
            _ => Self::Differs(standing),
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
        match said.iter_mut().find(|(other, _)| *other == one) {
            Some((_, columns)) => columns.push(column),
            None => said.push((one, vec![column])),
        }
    }
    said.iter().map(|(said, columns)| in_words(table, said, columns, among_others)).collect()
}

/// The sentence; `among_others` where the table shows further metrics, which are not counted here.
fn in_words(table: &Table, said: &Said, columns: &[usize], among_others: bool) -> Phrase {
    let runs = columns.len();
    let phrase = between(table, columns, |base, run| match said {
        Said::Differs(standing) => with_difference(base, run, standing, standing.better >= standing.worse),
        Said::Undiffering { same, unresolved } => without_difference(base, run, runs, *same, *unresolved),
        Said::Nothing(why) => nothing_between(base, run, runs, why),
    });
    let (by_en, by_ru) = if among_others && !matches!(said, Said::Nothing(_)) {
        (" (by each scenario's main metric)", " (по главному показателю каждого сценария)")
    } else {
        ("", "")
    };
    Phrase::new(format!("{}{by_en}.", phrase.en), format!("{}{by_ru}.", phrase.ru))
}

/// Why there is no verdict at all between a run and the base. Nothing where there is one on other metrics than the scenarios' main ones,
/// or where a filter took none of these.
fn nothing_judged(table: &Table, column: usize) -> Option<Phrase> {
    let is_judged = |row: &Row| matches!(&row.cells[column], Cell::Measured(value) if value.against_base.is_some());
    if !table.rows.iter().any(|row| row.main) || table.rows.iter().any(is_judged) {
        return None;
    }
    let has_figures = |row: &Row| [0, column].iter().all(|column| matches!(row.cells[*column], Cell::Measured(_)));
    let does_other_work = |note: &Note| {
        let ids = [0, column].map(|column| table.columns[column].run_id());
        matches!(note, Note::OtherWork { run, base, .. } if [Some(base.as_str()), Some(run.as_str())] == ids)
    };
    Some(if table.rows.iter().all(|row| !row.main || row.cells[column] == Cell::Absent) {
        Phrase::fixed("they have no scenario in common", "у них нет общих сценариев")
    } else if !table.rows.iter().any(has_figures) {
        Phrase::fixed("no scenario has a figure in both", "ни у одного сценария нет результата в обоих")
    } else if [0, column].iter().any(|column| table.columns[*column].emulator.is_some()) {
        Phrase::fixed("an emulator's times are not a machine's speed", "времена эмулятора — не скорость машины")
    } else if table.notes.iter().any(does_other_work) {
        Phrase::fixed(
            "no scenario did the same work in both; the notes say in what it differs",
            "ни один сценарий не выполнял в обоих одну и ту же работу; чем она отличается, сказано в примечаниях",
        )
    } else {
        Phrase::fixed(
            "no figure of both can be judged; the notes say why",
            "судить не о чем; почему, сказано в примечаниях",
        )
    })
}

fn nothing_between(base: &str, run: &str, runs: usize, why: &Phrase) -> Phrase {
    if runs > 1 {
        return Phrase::new(
            format!("Nothing can be said between {base} and any of {run}: {}", why.en),
            format!("Между {base} и каждым из прогонов {run} ничего сказать нельзя: {}", why.ru),
        );
    }
    Phrase::new(
        format!("Nothing can be said between {run} and {base}: {}", why.en),
        format!("Между {run} и {base} ничего сказать нельзя: {}", why.ru),
    )
}

/// A sentence on runs and the base, with what they are called in each language.
fn between(table: &Table, columns: &[usize], sentence: impl Fn(&str, &str) -> Phrase) -> Phrase {
    // What is no name must not run into the sentence.
    let quoted = |column: usize| {
        let title = called(&table.columns[column].title);
        let ru = if title.en == title.ru { title.ru.to_string() } else { format!("«{}»", title.ru) };
        Phrase::new(title.en, ru)
    };
    let (base, runs) = (quoted(0), joined(&columns.iter().map(|column| quoted(*column)).collect::<Vec<_>>()));
    Phrase { en: sentence(&base.en, &runs.en).en, ru: sentence(&base.ru, &runs.ru).ru }
}

fn without_difference(base: &str, run: &str, runs: usize, same: usize, unresolved: usize) -> Phrase {
    let all = same + unresolved;
    let [all_en, all_ru] = on_all(all);
    match (same, unresolved) {
        (_, 0) if runs > 1 => Phrase::new(
            format!("Each of {run} is the same as {base} on {all_en}"),
            format!("Прогоны {run} не отличаются от {base}: одинаково {all_ru}"),
        ),
        (_, 0) => Phrase::new(
            format!("{run} and {base} are the same on {all_en}"),
            format!("{run} и {base} одинаковы {all_ru}"),
        ),
        (0, _) => {
            let why = Phrase::new(format!("unresolved on {all_en}"), format!("не решено {all_ru}"));
            nothing_between(base, run, runs, &why)
        }
        (same, unresolved) => {
            let unresolved_en = unresolved_in_english(unresolved);
            let scenarios = english_plural(all, "scenario", "scenarios");
            let [en, ru] = if runs > 1 {
                [
                    format!("{run} to differ from {base}: each is the same on {same}"),
                    format!(
                        "Отличий прогонов {run} от {base} не видно ни в одном сценарии из {all}: у каждого одинаково в {same}"
                    ),
                ]
            } else {
                [
                    format!("{run} and {base} to differ: the same on {same}"),
                    format!("Отличий {run} от {base} не видно ни в одном сценарии из {all}: одинаково в {same}"),
                ]
            };
            Phrase::new(
                format!("Of {scenarios} none shows {en}; {unresolved_en}"),
                format!("{ru}; не решено: {unresolved}"),
            )
        }
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
    let [most_en, most_ru] = most(sides[first].1.as_ref(), all);
    let mut en = format!("{run} is {} than {base} on {on_en}{most_en}", words[first]);
    let mut ru = format!("{run} {}, чем {base}, {on_ru}{most_ru}", words_ru[first]);
    let (count, extreme) = sides[second];
    if count > 0 {
        let [most_en, most_ru] = most(extreme.as_ref(), all);
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
            let form = russian_plural(all, "сценария", "сценариев", "сценариев");
            [format!("all {all} scenarios"), format!("в каждом из {all} {form}")]
        }
    }
}

/// Where it stands out most; of a single scenario, which that is.
fn most(extreme: Option<&Extreme>, all: usize) -> [String; 2] {
    let Some(Extreme { scenario, ratio }) = extreme else { return [const { String::new() }; 2] };
    let factor = factor(*ratio);
    if all == 1 {
        return [format!(", “{scenario}” ({factor})"), format!(", «{scenario}» ({})", russian(&factor))];
    }
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
        let (mean, run) = (standing.mean.as_ref()?, called(&table.columns[standing.column].title));
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
                "{}: {ratio}{interval}, the geometric mean over {count} scenarios, where more is better{without_en}",
                run.en
            ),
            format!(
                "{}: {}{} — среднее геометрическое по {count} {}, больше — лучше{without_ru}",
                run.ru,
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
