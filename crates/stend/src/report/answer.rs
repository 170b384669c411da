//! The answer to the reader's question, in a sentence that a person would say.

use super::phrase::Phrase;
use super::text::{self, Placed, factor, other_runs};
use crate::compare::table::{Cell, Column, Measured, Row, Table, Verdict};
use crate::language::{english_plural, russian_plural};

/// How each other run stands to the base; of a run alone, how it stands to what was published, or else how much its repeats differ. Only
/// main metrics are counted.
pub(super) fn answer(table: &Table) -> Vec<Phrase> {
    let Some(base) = table.columns.first() else { return Vec::new() };
    let others = other_runs(table);
    if !others.is_empty() {
        return others.into_iter().filter_map(|(index, other)| beside_run(table, base, index, other)).collect();
    }
    beside_published(table, base).or_else(|| alone(table, base)).into_iter().collect()
}

fn main_rows(table: &Table) -> impl Iterator<Item = &Row> {
    table.rows.iter().filter(|row| row.main)
}

fn beside_run(table: &Table, base: &Column, index: usize, other: &Column) -> Option<Phrase> {
    let verdicts: Vec<Verdict> = main_rows(table)
        .filter_map(|row| match row.cells.get(index) {
            Some(Cell::Measured(Measured { against_base: Some(against), .. })) => Some(against.verdict),
            _ => None,
        })
        .collect();
    let count = |wanted| verdicts.iter().filter(|verdict| **verdict == wanted).count();
    let [better, worse, same, unresolved] =
        [Verdict::Better, Verdict::Worse, Verdict::Same, Verdict::Unresolved].map(count);
    let all = verdicts.len();
    if all == 0 {
        return None;
    }
    let (this, that) = (&other.title, &base.title);
    let scenarios = english_plural(all, "scenario", "scenarios");
    let of_all = format!("{all} {}", russian_plural(all, "сценария", "сценариев", "сценариев"));
    if better + worse == 0 {
        let (mut en, mut ru) = (Vec::new(), Vec::new());
        if same > 0 {
            en.push(format!("on {same} they are the same"));
            ru.push(format!("на {same} они одинаковы"));
        }
        if unresolved > 0 {
            en.push(format!("on {unresolved} the evidence does not say"));
            ru.push(format!("по {unresolved} данных для вывода не хватает"));
        }
        return Some(Phrase::new(
            format!("On none of {scenarios} is {this} surely better or worse than {that}: {}.", en.join(", ")),
            format!("Ни на одном из {of_all} {this} не отличается от {that} надёжно: {}.", ru.join(", ")),
        ));
    }
    let or_none = |number: usize, none: &str| if number == 0 { none.to_owned() } else { number.to_string() };
    let mut en = format!(
        "{this} is better than {that} on {} of {scenarios} and worse on {}",
        or_none(better, "none"),
        or_none(worse, "none")
    );
    let on = |number: usize| if number == 0 { "ни на одном".to_owned() } else { format!("на {number}") };
    let mut ru = format!("{this} лучше, чем {that}, {} из {of_all} и хуже {}", on(better), on(worse));
    if same > 0 {
        en.push_str(&format!("; on {same} they are the same"));
        ru.push_str(&format!("; на {same} они одинаковы"));
    }
    if unresolved > 0 {
        en.push_str(&format!("; on {unresolved} the evidence does not say"));
        ru.push_str(&format!("; по {unresolved} данных для вывода не хватает"));
    }
    Some(Phrase::new(format!("{en}."), format!("{ru}.")))
}

/// There are no samples to test, so figures are counted and no verdict is given.
fn beside_published(table: &Table, base: &Column) -> Option<Phrase> {
    let rows: Vec<&Row> = main_rows(table).collect();
    let columns: Placed = text::references(table, &rows).into_iter().flat_map(|(_, columns)| columns).collect();
    let mut factors: Vec<f64> = Vec::new();
    let mut machines = 0;
    for (index, _) in &columns {
        let of_machine = rows.iter().filter_map(|row| match row.cells.get(*index) {
            Some(Cell::Published(published)) => text::advantage(published, row.better),
            _ => None,
        });
        let before = factors.len();
        factors.extend(of_machine);
        machines += usize::from(factors.len() > before);
    }
    let (low, high) = (factors.iter().copied().reduce(f64::min)?, factors.iter().copied().reduce(f64::max)?);
    let (all, above) = (factors.len(), factors.iter().filter(|factor| **factor > 1.0).count());
    let [low, high] = [low, high].map(|value| factor(value).trim_start_matches("× ").to_owned());
    let this = &base.title;
    Some(Phrase::new(
        format!(
            "{this} does better than {above} of {} of {}: it is {low} to {high} times as good. These differences cannot be tested, for single numbers were published.",
            english_plural(all, "published figure", "published figures"),
            english_plural(machines, "other machine", "other machines"),
        ),
        format!(
            "{this} превосходит {above} из {all} {} {machines} {}: её результат – от {low} до {high} опубликованного. Проверить эти отличия нельзя: опубликованы отдельные числа.",
            russian_plural(all, "опубликованной цифры", "опубликованных цифр", "опубликованных цифр"),
            russian_plural(machines, "другой машины", "других машин", "других машин"),
        ),
    ))
}

fn alone(table: &Table, base: &Column) -> Option<Phrase> {
    let mut spreads: Vec<(f64, &str)> = main_rows(table)
        .filter_map(|row| match row.cells.first() {
            Some(Cell::Measured(value)) => Some((value.spread?, row.scenario.as_str())),
            _ => None,
        })
        .collect();
    spreads.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (middle, (most, name)) = (spreads.get(spreads.len() / 2)?.0, *spreads.last()?);
    let (middle, most) = (text::spread(Some(middle)), text::spread(Some(most)));
    let this = &base.title;
    Some(Phrase::new(
        format!(
            "There is nothing to hold {this} against yet; its own repeats differ by {middle} on a typical scenario, and by {most} at most ({name})."
        ),
        format!(
            "Сравнить {this} пока не с чем; её собственные повторы различаются на {middle} в типичном сценарии и самое большее на {most} ({name})."
        ),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    fn against(table: &mut Table, verdicts: &[Verdict]) {
        table.columns.truncate(2);
        let mut verdicts = verdicts.iter();
        for row in table.rows.iter_mut().filter(|row| row.main) {
            row.cells.truncate(2);
            if let Cell::Measured(Measured { against_base, .. }) = &mut row.cells[1] {
                *against_base = against_base.take().and_then(|one| {
                    let verdict = *verdicts.next()?;
                    Some(crate::compare::table::AgainstBase { verdict, ..one })
                });
            }
        }
    }

    #[test]
    fn it_says_on_how_many_scenarios_a_run_is_better() {
        let said = answer(&sample::table());
        assert_eq!(said.len(), 1);
        assert_eq!(
            said[0].en,
            "pc-7, kernel 6.12 is better than pc-7 on 3 of 8 scenarios and worse on 1; on 2 they are the same; on 2 the evidence does not say."
        );
        assert_eq!(
            said[0].ru,
            "pc-7, kernel 6.12 лучше, чем pc-7, на 3 из 8 сценариев и хуже на 1; на 2 они одинаковы; по 2 данных для вывода не хватает."
        );
    }

    #[test]
    fn without_a_sure_difference_it_says_so() {
        let mut table = sample::table();
        against(&mut table, &[Verdict::Same, Verdict::Unresolved]);
        let said = answer(&table);
        assert_eq!(
            said[0].en,
            "On none of 2 scenarios is pc-7, kernel 6.12 surely better or worse than pc-7: on 1 they are the same, on 1 the evidence does not say."
        );
        against(&mut table, &[]);
        assert!(answer(&table).is_empty(), "without a verdict there is nothing to say");
    }

    #[test]
    fn a_run_alone_is_held_against_what_was_published_without_a_verdict() {
        let mut table = sample::table();
        table.columns.remove(1);
        table.rows.iter_mut().for_each(|row| drop(row.cells.remove(1)));
        let said = answer(&table);
        assert!(said[0].en.starts_with("pc-7 does better than "), "{}", said[0].en);
        assert!(
            said[0].en.contains("of 10 other machines: it is 0.44 to 19.4 times as good")
                && !said[0].en.contains("verdict"),
            "{}",
            said[0].en
        );
        table.columns.truncate(1);
        table.rows.iter_mut().for_each(|row| row.cells.truncate(1));
        assert!(
            answer(&table)[0]
                .en
                .starts_with("There is nothing to hold pc-7 against yet; its own repeats differ by ±0.6 %")
        );
        table.columns.clear();
        assert!(answer(&table).is_empty());
    }
}
