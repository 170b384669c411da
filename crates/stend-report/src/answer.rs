//! The answer to the reader's question, in a sentence that a person would say.

use stend_model::target::Medium;

use super::phrase::Phrase;
use super::published::Publication;
use super::standing::standings;
use super::text::{self, factor, other_runs};
use crate::words::{self, Given};
use stend_compare::table::{Column, ColumnOrigin, Note, Row, Table};

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
    let lines = beside_published(table);
    if lines.is_empty() { alone(table, base).into_iter().collect() } else { lines }
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

/// A line a publication: how the base stands to its best machine. There are no samples to test, so there is no verdict.
fn beside_published(table: &Table) -> Vec<Phrase> {
    let line = |publication: &Publication| {
        let (machine, factors, machines) = publication.best()?;
        let ends = [factors.iter().copied().reduce(f64::min)?, factors.iter().copied().reduce(f64::max)?];
        let [low, high] = ends.map(|end| factor(end).trim_start_matches("× ").to_owned());
        let factors_said = if low == high { low } else { format!("{low} … {high}") };
        let given = [
            ("publication", Given::Text(publication.short_title())),
            ("factors", Given::Figure(&factors_said)),
            ("machine", Given::Text(machine)),
            ("machines", Given::Count(machines)),
            ("scenarios", Given::Count(factors.len())),
        ];
        Some(words::say("beside-published", &given))
    };
    Publication::all(table).iter().filter_map(line).collect()
}

fn alone(table: &Table, base: &Column) -> Option<Phrase> {
    let mut spreads: Vec<(f64, &str)> =
        main_rows(table).filter_map(|row| Some((row.measured(0)?.spread?, row.scenario.as_str()))).collect();
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
    use stend_compare::table::Cell;

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
        let names_a_machine = |table: &Table| answer(table)[0].english().contains("\u{a0}× ");
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
        let said: Vec<_> =
            answer(&table).iter().map(|line| (line.english().to_owned(), line.russian().to_owned())).collect();
        let (english, russian) = &said[0];
        // Of the machines with the most figures, the one that comes nearest.
        assert_eq!(
            english,
            "On the way to the summit: 0.91 … 1.85\u{a0}× Elbrus-16C, the best of its 8 machines (3 scenarios)."
        );
        assert!(russian.contains("1,85\u{a0}× Elbrus-16C, лучшая из 8 машин (3 сценария)"), "{russian}");
        assert!(!english.contains("verdict") && said.len() > 1, "a line a publication: {said:?}");
        // A machine that says little of the work is not the best for that, and a single figure is no range.
        let has_factor = |cell: &Cell| matches!(cell, Cell::Published(published) if published.factor.is_some());
        let mut kept = false;
        for cell in table.rows.iter_mut().filter(|row| row.main).flat_map(|row| &mut row.cells) {
            if has_factor(cell) && std::mem::replace(&mut kept, true) {
                *cell = Cell::Absent;
            }
        }
        let said = answer(&table);
        assert!(!said[0].english().contains('…') && !said[0].english().contains("machines"), "{}", said[0].english());
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
