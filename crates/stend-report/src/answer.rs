//! The answer to the reader's question, in a sentence that a person would say.

use stend_model::target::Medium;

use super::phrase::Phrase;
use super::standing::standings;
use super::text::{self, Placed, factor, other_runs};
use crate::words::{self, Given};
use stend_compare::table::{Cell, Column, ColumnOrigin, Note, Row, Table};

/// How each other run stands to the base; of a run alone, how it stands to what was published, or else how much its repeats differ. Only
/// main metrics are counted.
pub(super) fn answer(table: &Table) -> Vec<Phrase> {
    let Some(base) = table.columns.first() else { return Vec::new() };
    if !other_runs(table).is_empty() {
        return standings(table);
    }
    if let Some(why) = not_the_real_thing(table, base) {
        return vec![why];
    }
    beside_published(table, base).or_else(|| alone(table, base)).into_iter().collect()
}

/// Of a run whose figures must not be held against other machines', that and why: it was scaled, or the disks of its target were files.
fn not_the_real_thing(table: &Table, base: &Column) -> Option<Phrase> {
    let ColumnOrigin::Run { id, .. } = &base.origin else { return None };
    let why = table.notes.iter().find_map(|note| match note {
        Note::Scaled { run, .. } if run == id => Some("scaled"),
        Note::Target { run, target } if run == id => match target.medium {
            Medium::Memory => Some("memory"),
            Medium::Files(_) => Some("files"),
            Medium::Devices => None,
        },
        _ => None,
    });
    Some(words::say("not-comparable", &[("run", Given::Text(&base.title)), ("why", Given::Text(why?))]))
}

fn main_rows(table: &Table) -> impl Iterator<Item = &Row> {
    table.rows.iter().filter(|row| row.main)
}

/// There are no samples to test, so figures are counted and no verdict is given.
fn beside_published(table: &Table, base: &Column) -> Option<Phrase> {
    let rows: Vec<&Row> = main_rows(table).collect();
    let columns: Placed = text::references(table, &rows).into_iter().flat_map(|(_, columns)| columns).collect();
    let mut factors: Vec<(f64, &str, &str)> = Vec::new();
    let mut machines = 0;
    for (index, column) in &columns {
        let of_machine = rows.iter().filter_map(|row| match row.cells.get(*index) {
            Some(Cell::Published(published)) => {
                let factor = published.factor?;
                Some((factor, row.scenario.as_str(), column.title.as_str()))
            }
            _ => None,
        });
        let before = factors.len();
        factors.extend(of_machine);
        machines += usize::from(factors.len() > before);
    }
    factors.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (low, high) = (*factors.first()?, *factors.last()?);
    let (all, above) = (factors.len(), factors.iter().filter(|(factor, ..)| *factor > 1.0).count());
    let beside = |(value, scenario, machine): (f64, &str, &str)| {
        let (size, way) = if value < 1.0 { (1.0 / value, "worse") } else { (value, "better") };
        let times = factor(size);
        let times = Given::Number(times.trim_start_matches("× "));
        let named = [("scenario", Given::Text(scenario)), ("machine", Given::Text(machine))];
        words::say("beside-machine", &[("times", times), ("way", Given::Text(way)), named[0], named[1]])
    };
    let (low, high) = (beside(low), beside(high));
    let given = [
        ("run", Given::Text(&base.title)),
        ("above", Given::Count(above)),
        ("all", Given::Count(all)),
        ("machines", Given::Count(machines)),
        ("low", Given::Said(&low)),
        ("high", Given::Said(&high)),
    ];
    Some(words::say(if all == 1 { "beside-one" } else { "beside-published" }, &given))
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
    let spreads = [("middle", Given::Figure(&middle)), ("most", Given::Figure(&most))];
    Some(words::say(
        "alone",
        &[("run", Given::Text(&base.title)), ("scenario", Given::Text(name)), spreads[0], spreads[1]],
    ))
}

#[cfg(test)]
mod tests {
    use stend_model::target::{TargetOfRun, TargetText};

    use super::*;
    use crate::example;

    #[test]
    fn beside_another_run_it_says_what_the_table_says() {
        let table = example::table();
        assert_eq!(answer(&table), standings(&table));
        assert_eq!(answer(&table).len(), 1);
    }

    /// A run beside published machines, without the notes of the sample.
    fn beside_machines() -> Table {
        let mut table = example::table();
        table.columns.remove(1);
        table.rows.iter_mut().for_each(|row| drop(row.cells.remove(1)));
        table.notes.clear();
        table
    }

    #[test]
    fn a_scaled_run_and_one_on_files_are_not_held_against_what_was_published() {
        let names_a_machine = |table: &Table| answer(table)[0].english().contains("other machines: ");
        assert!(names_a_machine(&beside_machines()));
        let run = || "20261121-0555-3f9a".to_owned();
        let on = |medium: Medium| {
            let target = TargetText::default().target().unwrap();
            Note::Target {
                run: run(),
                target: Box::new(TargetOfRun { target, medium, name: None, tools: Default::default() }),
            }
        };
        for note in [
            Note::Scaled { run: run(), factor: 0.1, target: false },
            on(Medium::Memory),
            on(Medium::Files("ext4".into())),
        ] {
            let table = Table { notes: vec![note.clone()], ..beside_machines() };
            assert!(!names_a_machine(&table) && answer(&table).len() == 1, "{note:?}");
        }
        assert!(names_a_machine(&Table { notes: vec![on(Medium::Devices)], ..beside_machines() }));
        let other = Note::Scaled { run: "20261121-0555-0000".into(), factor: 0.1, target: false };
        assert!(names_a_machine(&Table { notes: vec![other], ..beside_machines() }), "another run's");
    }

    #[test]
    fn a_run_alone_is_held_against_what_was_published_without_a_verdict() {
        let mut table = beside_machines();
        let said = answer(&table);
        assert!(said[0].english().starts_with("pc-7 does better than "), "{}", said[0].english());
        assert!(
            said[0].english().contains("of 10 other machines: it is 2.29 times worse than ")
                && said[0].english().contains(" at worst, and at best 19.4 times as good as ")
                && said[0].russian().contains(": она в 2,29 раза хуже ")
                && !said[0].english().contains("verdict"),
            "{}",
            said[0].english()
        );

        // The figures of one machine that are better than the run's, then a single one of them.
        for cell in table.rows.iter_mut().flat_map(|row| &mut row.cells) {
            if let Cell::Published(published) = cell {
                published.factor = published.factor.map(|_| 0.5);
            }
        }
        let said = answer(&table);
        assert!(said[0].english().starts_with("pc-7 does better than none of "), "{}", said[0].english());
        assert!(said[0].russian().starts_with("pc-7 не превосходит ни одного из "), "{}", said[0].russian());
        let has_factor = |cell: &Cell| matches!(cell, Cell::Published(published) if published.factor.is_some());
        let mut kept = false;
        for cell in table.rows.iter_mut().filter(|row| row.main).flat_map(|row| &mut row.cells) {
            if has_factor(cell) && std::mem::replace(&mut kept, true) {
                *cell = Cell::Absent;
            }
        }
        let said = answer(&table);
        assert!(
            said[0].english().starts_with("pc-7 is 2.00 times worse than ")
                && said[0].english().contains("the only published figure")
                && !said[0].english().contains(" of 1 "),
            "{}",
            said[0].english()
        );
        assert!(said[0].russian().starts_with("pc-7 в 2,00 раза хуже "), "{}", said[0].russian());
        table.columns.truncate(1);
        table.rows.iter_mut().for_each(|row| row.cells.truncate(1));
        assert!(
            answer(&table)[0]
                .english()
                .starts_with("There is nothing to hold pc-7 against yet; its own repeats differ by ±0.6 %")
        );
        table.columns.clear();
        assert!(answer(&table).is_empty());
    }
}
