//! The table for a spreadsheet: RFC 4180, one line a cell, with all the evidence.

use serde::Serialize;

use stend_compare::table::{AgainstBase, Cell, Column, ColumnOrigin, Measured, Published, Row, Table};
use stend_compare::weighing::{Divisor, Weighing};

use super::doc::csv::number;
use super::statistics::STATISTICS;
use super::text::{direction, mark, word};
use super::{notes, weighing, wide};

/// A cell with all that is known of its place.
struct Line<'a> {
    table: &'a Table,
    row: &'a Row,
    /// The column's place.
    place: usize,
    column: &'a Column,
    cell: &'a Cell,
}

/// A field's name, and what stands in it.
type Field = (&'static str, fn(&Line) -> String);

const BEFORE_STATISTICS: [Field; 12] = [
    ("scenario", |line| line.row.scenario.clone()),
    ("metric", |line| line.row.metric.clone()),
    ("unit", |line| line.row.unit.to_string()),
    ("better", |line| direction(line.row.better).into()),
    ("main", |line| line.row.main.to_string()),
    ("column", |line| line.column.title.clone()),
    ("origin", |line| if line.column.is_run() { "run" } else { "published" }.into()),
    ("run_or_reference", |line| match &line.column.origin {
        ColumnOrigin::Run { id, .. } => id.clone(),
        ColumnOrigin::Published { reference, .. } => reference.clone(),
    }),
    ("machine", |line| match &line.column.origin {
        ColumnOrigin::Run { .. } => String::new(),
        ColumnOrigin::Published { machine, .. } => machine.clone(),
    }),
    ("grade", |line| line.column.grade.map(|grade| grade.name().to_owned()).unwrap_or_default()),
    ("kind", |line| {
        match line.cell {
            Cell::Measured(_) => "measured",
            Cell::Published(_) => "published",
            Cell::Nothing { .. } => "nothing",
            Cell::Absent => "absent",
        }
        .into()
    }),
    ("median", |line| {
        let published = line.published().and_then(|published| published.value);
        optional(line.measured().map(|measured| measured.median).or(published))
    }),
];

const AFTER_STATISTICS: [Field; 21] = [
    ("factor", |line| {
        let published = line.published().and_then(|published| published.factor);
        optional(line.against().and_then(|against| against.factor).or(published))
    }),
    ("factor_low", |line| optional(line.against().and_then(|against| against.interval).map(|(low, _)| low))),
    ("factor_high", |line| optional(line.against().and_then(|against| against.interval).map(|(_, high)| high))),
    ("p", |line| optional(line.against().and_then(|against| against.p))),
    ("q", |line| optional(line.against().and_then(|against| against.q))),
    ("floor", |line| optional(line.against().map(|against| against.floor))),
    ("verdict", |line| line.of_change(|against| word(against.verdict).into())),
    ("mark", |line| line.of_change(|against| mark(against.verdict, against.is_solid()).into())),
    ("reason", |line| line.of_change(|against| name_of(&against.reason))),
    ("design", |line| line.of_change(|against| name_of(&against.design))),
    ("counted", |line| line.of_change(|against| name_of(&against.counted))),
    ("base_count", |line| line.of_change(|against| against.base_count.to_string())),
    ("own_count", |line| line.of_change(|against| against.own_count.to_string())),
    ("visible", |line| optional(line.against().and_then(|against| against.visible))),
    ("needed", |line| line.of_change(|against| against.needed.map(|needed| needed.to_string()).unwrap_or_default())),
    ("words", |line| line.published().and_then(|published| published.words.clone()).unwrap_or_default()),
    ("note", |line| match line.cell {
        Cell::Nothing { why } => notes::lack(why).english().to_owned(),
        cell => cell.published().and_then(|published| published.note.clone()).unwrap_or_default(),
    }),
    ("of_ceilings", |line| {
        let ceilings = line.measured().into_iter().flat_map(|measured| &measured.of_ceilings);
        ceilings.map(|ceiling| format!("{} of {}", ceiling.share, ceiling.name())).collect::<Vec<_>>().join("; ")
    }),
    ("per_watt", |line| line.weighed(|by| *by == Divisor::Watt)),
    ("per_price", |line| line.weighed(|by| matches!(by, Divisor::Money { .. }))),
    ("per_kilogram", |line| line.weighed(|by| *by == Divisor::Kilogram)),
];

/// Writes every cell, the absent ones too. Numbers are in the row's unit, shares and ratios as plain numbers, all in full
/// precision. `factor` says how many times as good as the base's a run's figure is; how many times as good as a published one, the base's is.
pub fn render(table: &Table) -> String {
    let mut out = String::new();
    line(&mut out, head());
    for row in table.rows.iter().filter(|row| table.is_asked_for(row)) {
        for (place, (column, cell)) in table.columns.iter().zip(&row.cells).enumerate() {
            line(&mut out, Line { table, row, place, column, cell }.fields());
        }
    }
    out
}

fn head() -> Vec<&'static str> {
    let name = |(name, _): &Field| *name;
    let statistics = STATISTICS.iter().flat_map(|one| one.fields).copied();
    BEFORE_STATISTICS.iter().map(name).chain(statistics).chain(AFTER_STATISTICS.iter().map(name)).collect()
}

impl<'a> Line<'a> {
    fn measured(&self) -> Option<&'a Measured> {
        self.cell.measured()
    }

    fn published(&self) -> Option<&'a Published> {
        self.cell.published()
    }

    fn against(&self) -> Option<&'a AgainstBase> {
        self.cell.against_base()
    }

    fn of_change(&self, say: impl Fn(&AgainstBase) -> String) -> String {
        self.against().map(say).unwrap_or_default()
    }

    /// The figure of a main metric weighed, and of what the watts or the price are: `4.5e6 / W of processor`.
    fn weighed(&self, by: impl Fn(&Divisor) -> bool) -> String {
        let of = |weighing: &Weighing| {
            let row = weighing.rows.iter().find(|row| row.scenario == self.row.scenario && self.row.main)?;
            row.cells.get(self.place)?.as_ref().map(|cell| weighing::plain(weighing, row, cell))
        };
        self.table.weighings.iter().filter(|weighing| by(&weighing.by)).find_map(of).unwrap_or_default()
    }

    fn fields(&self) -> impl Iterator<Item = String> {
        let statistics = STATISTICS.iter().flat_map(|one| one.numbers(self.measured(), self.row.unit));
        let [before, after] =
            [&BEFORE_STATISTICS[..], &AFTER_STATISTICS[..]].map(|all| all.iter().map(|(_, of)| of(self)));
        before.chain(statistics).chain(after)
    }
}

fn optional(value: Option<f64>) -> String {
    value.map(number).unwrap_or_default()
}

/// A word of a closed list, as JSON has it.
fn name_of(word: &impl Serialize) -> String {
    let value = serde_json::to_value(word).ok();
    value.as_ref().and_then(|value| value.as_str()).unwrap_or_default().to_owned()
}

/// Writes the table in its own layout, a line for each run or published machine of what goes down, with a field for each of its keys: of each
/// column the median, its interval
/// and, in other runs than the base, factor and verdict.
pub fn render_laid_out(table: &Table) -> String {
    const PARTS: [&str; 5] = ["", " low", " high", " factor", " verdict"];
    let mut out = String::new();
    for block in wide::blocks(table, true) {
        if !out.is_empty() {
            out.push_str("\r\n");
        }
        let unit = |place: usize| {
            let mut rows = block.groups.iter().flat_map(|group| &group.lines).filter_map(|line| line.cells[place]);
            rows.next().map(|(row, _)| format!(" [{}]", row.unit)).unwrap_or_default()
        };
        let heads = block.columns.iter().enumerate().flat_map(|(place, column)| {
            let unit = unit(place);
            PARTS.map(|part| if part.is_empty() { format!("{column}{unit}") } else { format!("{column}{part}") })
        });
        let start = (!block.title.is_empty()).then(|| "section".to_owned());
        let start = start.into_iter().chain(block.keys.iter().cloned());
        line(&mut out, start.chain(["column".into(), "origin".into()]).chain(heads));
        for group in &block.groups {
            for one in &group.lines {
                let origin = if one.column.reference().is_some() { "published" } else { "run" };
                let start = (!block.title.is_empty()).then(|| block.title.clone());
                let start = start.into_iter().chain(group.values.iter().map(|value| (*value).to_owned()));
                let start = start.chain([one.column.title.clone(), origin.into()]);
                line(&mut out, start.chain(one.cells.iter().flat_map(|cell| parts(cell.map(|(_, cell)| cell)))));
            }
        }
    }
    out
}

/// Median or words, interval, factor and verdict.
fn parts(cell: Option<&Cell>) -> [String; 5] {
    let mut parts = [const { String::new() }; 5];
    match cell {
        Some(Cell::Measured(value)) => {
            parts[0] = value.median.to_string();
            if let Some((low, high)) = value.interval {
                (parts[1], parts[2]) = (low.to_string(), high.to_string());
            }
            if let Some(against) = &value.against_base {
                (parts[3], parts[4]) =
                    (against.factor.map(|factor| factor.to_string()).unwrap_or_default(), word(against.verdict).into());
            }
        }
        Some(Cell::Published(published)) => {
            parts[0] = match (published.value, &published.words) {
                (Some(value), _) => value.to_string(),
                (None, words) => words.clone().unwrap_or_default(),
            };
        }
        _ => {}
    }
    parts
}

/// Writes a line. Text that a spreadsheet would take for a formula gets an apostrophe before it, as spreadsheets mark text.
pub(super) fn line(out: &mut String, fields: impl IntoIterator<Item = impl AsRef<str>>) {
    for (index, field) in fields.into_iter().enumerate() {
        let field = field.as_ref();
        let is_formula = field.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']) && field.parse::<f64>().is_err();
        let field = if is_formula { &format!("'{field}") } else { field };
        if index > 0 {
            out.push(',');
        }
        if field.contains(['"', ',', '\r', '\n']) {
            out.push('"');
            out.push_str(&field.replace('"', "\"\""));
            out.push('"');
        } else {
            out.push_str(field);
        }
    }
    out.push_str("\r\n");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;

    #[test]
    fn every_cell_has_a_line_with_every_field() {
        let table = example::table();
        let text = render(&table);
        let cells: usize = table.rows.iter().map(|row| row.cells.len()).sum();
        assert_eq!(text.matches("\r\n").count(), cells + 1);
        let simple = text.lines().find(|line| line.contains("measured") && !line.contains('"')).unwrap();
        assert_eq!(simple.split(',').count(), head().len(), "{simple}");
        assert!(!text.contains("NaN"));
        assert!(text.contains(",\"0.62 of magma, parallel\",,,\r\n"), "{text}");
    }

    #[test]
    fn a_single_value_leaves_the_spread_empty() {
        let single = stend_compare::compare(&[&stend_testing::record("a", &[1.0])], &[]);
        let text = render(&single);
        let field = |line: &str| {
            let place = head().iter().position(|head| *head == "spread").unwrap();
            line.split(',').nth(place).unwrap().to_owned()
        };
        assert_eq!(text.lines().map(field).collect::<Vec<_>>(), ["spread", "", ""]);
    }

    #[test]
    fn commas_quotes_and_line_ends_are_quoted() {
        let mut out = String::new();
        line(&mut out, ["a,b", "say \"x\"", "two\nlines", "plain"]);
        assert_eq!(out, "\"a,b\",\"say \"\"x\"\"\",\"two\nlines\",plain\r\n");
    }

    #[test]
    fn text_that_a_spreadsheet_would_run_is_marked_as_text_and_numbers_stay_numbers() {
        let mut out = String::new();
        line(&mut out, ["=1+1", "+cmd", "-x", "@SUM(A1)", "\tx", "-1.5e-7", "+3", "a=b", "-inf", "-"]);
        assert_eq!(out, "'=1+1,'+cmd,'-x,'@SUM(A1),'\tx,-1.5e-7,+3,a=b,-inf,'-\r\n");
    }
}
