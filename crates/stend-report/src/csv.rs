//! The table for a spreadsheet: RFC 4180, one line a cell, with all the evidence.

use serde::Serialize;

use stend_compare::table::{Cell, Column, ColumnOrigin, Row, Table};
use stend_compare::weighing::{Divisor, Weighing};

use super::text::{mark, word};
use super::{weighing, wide};

const HEAD: [&str; 40] = [
    "scenario",
    "metric",
    "unit",
    "better",
    "main",
    "column",
    "origin",
    "run_or_reference",
    "machine",
    "grade",
    "kind",
    "median",
    "interval_low",
    "interval_high",
    "minimum",
    "maximum",
    "spread",
    "valid",
    "invalid",
    "outliers",
    "factor",
    "factor_low",
    "factor_high",
    "q",
    "floor",
    "verdict",
    "needed",
    "words",
    "note",
    "of_ceilings",
    "per_watt",
    "per_price",
    "reason",
    "p",
    "design",
    "counted",
    "base_count",
    "own_count",
    "visible",
    "mark",
];

/// Writes every cell, the absent ones too. Numbers are in the row's unit, shares and ratios as plain numbers, all in full
/// precision. `factor` says how many times as good as the base's a run's figure is; how many times as good as a published one, the base's is.
pub fn render(table: &Table) -> String {
    let mut out = String::new();
    line(&mut out, HEAD);
    for row in table.rows.iter().filter(|row| table.is_asked_for(row)) {
        for (place, (column, cell)) in table.columns.iter().zip(&row.cells).enumerate() {
            let mut fields = fields(row, column, cell);
            if row.main {
                fields[place_of("per_watt")] = weighed(table, &row.scenario, place, |by| *by == Divisor::Watt);
                fields[place_of("per_price")] = weighed(table, &row.scenario, place, |by| *by != Divisor::Watt);
            }
            line(&mut out, fields);
        }
    }
    out
}

/// The place of a column in every line.
fn place_of(name: &str) -> usize {
    HEAD.iter().position(|head| *head == name).expect("a name of the head")
}

/// A figure weighed, and of what the watts or the price are: `4.5e6 / W of processor`.
fn weighed(table: &Table, scenario: &str, column: usize, by: impl Fn(&Divisor) -> bool) -> String {
    let of = |weighing: &Weighing| {
        let row = weighing.rows.iter().find(|row| row.scenario == scenario)?;
        row.cells.get(column)?.as_ref().map(|cell| weighing::plain(weighing, row, cell))
    };
    table.weighings.iter().filter(|weighing| by(&weighing.by)).find_map(of).unwrap_or_default()
}

fn fields(row: &Row, column: &Column, cell: &Cell) -> [String; HEAD.len()] {
    // What is tiny would be a long row of zeros.
    let number = |value: f64| if value.abs() < 1e-6 { format!("{value:e}") } else { value.to_string() };
    let optional = |value: Option<f64>| value.map(number).unwrap_or_default();
    let mut fields = [const { String::new() }; HEAD.len()];
    let mut set = |name: &str, value: String| {
        fields[place_of(name)] = value;
    };
    set("scenario", row.scenario.clone());
    set("metric", row.metric.clone());
    set("unit", row.unit.to_string());
    set("better", super::text::direction(row.better).into());
    set("main", row.main.to_string());
    set("column", column.title.clone());
    set("grade", column.grade.map(|grade| grade.name().to_owned()).unwrap_or_default());
    match &column.origin {
        ColumnOrigin::Run { id, .. } => {
            set("origin", "run".into());
            set("run_or_reference", id.clone());
        }
        ColumnOrigin::Published { reference, machine, .. } => {
            set("origin", "published".into());
            set("run_or_reference", reference.clone());
            set("machine", machine.clone());
        }
    }
    match cell {
        Cell::Measured(value) => {
            set("kind", "measured".into());
            set("median", number(value.median));
            set("interval_low", optional(value.interval.map(|(low, _)| low)));
            set("interval_high", optional(value.interval.map(|(_, high)| high)));
            set("minimum", number(value.minimum));
            set("maximum", number(value.maximum));
            set("spread", optional(value.spread));
            set("valid", value.valid.to_string());
            set("invalid", value.invalid.to_string());
            set("outliers", value.outliers.to_string());
            let shares = value.of_ceilings.iter().map(|ceiling| format!("{} of {}", ceiling.share, ceiling.scenario));
            set("of_ceilings", shares.collect::<Vec<_>>().join("; "));
            if let Some(against) = &value.against_base {
                set("factor", optional(against.factor));
                set("factor_low", optional(against.interval.map(|(low, _)| low)));
                set("factor_high", optional(against.interval.map(|(_, high)| high)));
                set("q", optional(against.q));
                set("floor", number(against.floor));
                set("verdict", word(against.verdict).into());
                set("needed", against.needed.map(|needed| needed.to_string()).unwrap_or_default());
                set("reason", name_of(&against.reason));
                set("p", optional(against.p));
                set("design", name_of(&against.design));
                set("counted", name_of(&against.counted));
                set("base_count", against.base_count.to_string());
                set("own_count", against.own_count.to_string());
                set("visible", optional(against.visible));
                set("mark", mark(against.verdict, against.is_solid()).into());
            }
        }
        Cell::Published(published) => {
            set("kind", "published".into());
            set("median", optional(published.value));
            set("factor", optional(published.factor));
            set("words", published.words.clone().unwrap_or_default());
            set("note", published.note.clone().unwrap_or_default());
        }
        Cell::Nothing { why } => {
            set("kind", "nothing".into());
            set("note", super::notes::lack(why).english().to_owned());
        }
        Cell::Absent => set("kind", "absent".into()),
    }
    fields
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
        assert_eq!(simple.split(',').count(), HEAD.len(), "{simple}");
        assert!(!text.contains("NaN"));
        assert!(text.contains(",\"0.62 of magma, parallel\",,,"), "{text}");
    }

    #[test]
    fn a_single_value_leaves_the_spread_empty() {
        let single = stend_compare::compare(&[&stend_testing::record("a", &[1.0])], &[]);
        let text = render(&single);
        let field = |line: &str| {
            let place = HEAD.iter().position(|head| *head == "spread").unwrap();
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
