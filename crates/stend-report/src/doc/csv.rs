//! The tables of a document for a spreadsheet: RFC 4180, numbers in full precision, with their units in the heads.

use super::{Block, Cell, Doc, Table, Value};
use crate::csv::line;
use crate::text::word;

pub(super) fn write(doc: &Doc) -> String {
    let blocks = || doc.body.iter().chain(&doc.foot);
    // With several titles each line says under which it stands.
    let several = blocks().filter(|block| matches!(block, Block::Heading(..))).count() > 1;
    let mut out = String::new();
    let mut section = None;
    for block in blocks() {
        match block {
            Block::Heading(title, _) => section = Some(title.english()).filter(|_| several),
            Block::Table(wanted) => {
                if !out.is_empty() {
                    out.push_str("\r\n");
                }
                table(&mut out, &wanted.without_drawings(), section);
            }
            Block::Lines(..) | Block::Trend(_) => {}
        }
    }
    out
}

fn table(out: &mut String, table: &Table, section: Option<&str>) {
    let columns: Vec<Fields> = (0..table.columns.len()).map(|place| Fields::of(table, place)).collect();
    let heads = columns.iter().flat_map(|column| &column.heads).cloned();
    line(out, section.map(|_| "section".to_owned()).into_iter().chain(table.corner.iter().cloned()).chain(heads));
    for row in &table.rows {
        let labels = (0..table.corner.len()).map(|part| row.label.get(part).cloned().unwrap_or_default());
        let fields = columns.iter().zip(&row.cells).flat_map(|(column, cell)| column.taken_from(cell));
        line(out, section.map(str::to_owned).into_iter().chain(labels).chain(fields));
    }
}

/// What a column of the document is in a spreadsheet: a field for each part that some cell of it has.
struct Fields {
    names: Vec<(bool, &'static str)>,
    heads: Vec<String>,
}

impl Fields {
    fn of(table: &Table, place: usize) -> Self {
        let column = &table.columns[place];
        let all = || table.rows.iter().flat_map(|row| fields(&row.cells[place]));
        let units = |is_under: bool| {
            let mut units: Vec<String> =
                all().filter(|(name, _)| *name == (is_under, UNIT)).map(|(_, unit)| unit).collect();
            units.dedup();
            units
        };
        let mut names = vec![(false, "")];
        for (name, _) in all() {
            if !names.contains(&name) && (name.1 != UNIT || units(name.0).len() > 1) {
                names.push(name);
            }
        }
        // What goes first was in no cell, and is no field where another one is.
        if names.len() > 1 && !all().any(|(name, _)| name == names[0]) {
            names.remove(0);
        }
        let head = |&(is_under, name): &(bool, &str)| {
            let unit = match &units(is_under)[..] {
                [unit] if name.is_empty() => format!(" [{unit}]"),
                _ => String::new(),
            };
            let parts = [column.head.as_str(), if is_under { column.under } else { "" }, name];
            parts.iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join(" ") + &unit
        };
        Self { heads: names.iter().map(head).collect(), names }
    }

    fn taken_from(&self, cell: &Cell) -> Vec<String> {
        let has = fields(cell);
        let of = |wanted: &(bool, &str)| has.iter().find(|(name, _)| name == wanted).map(|(_, text)| text.clone());
        self.names.iter().map(|name| of(name).unwrap_or_default()).collect()
    }
}

const UNIT: &str = "unit";

/// The parts of a cell, each with its name and whether it stands under the value.
fn fields(cell: &Cell) -> Vec<((bool, &'static str), String)> {
    let of = |is_under: bool, value| parts(value).into_iter().map(move |(name, text)| ((is_under, name), text));
    let note = cell.notes.iter().map(|note| ((false, "note"), note.english().to_string()));
    of(false, &cell.value).chain(of(true, &cell.under)).chain(note).collect()
}

/// What is tiny would be a long row of zeros.
pub(crate) fn number(value: f64) -> String {
    if value.abs() < 1e-6 { format!("{value:e}") } else { value.to_string() }
}

/// The numbers or words of a value in full, each with its name.
pub(crate) fn parts(value: &Value) -> Vec<(&'static str, String)> {
    let one = |text: String| vec![("", text)];
    let ends = |(low, high): (f64, f64)| vec![("low", number(low)), ("high", number(high))];
    match value {
        Value::Nothing | Value::Absent | Value::Spread(None) | Value::Drawn(_) => Vec::new(),
        Value::Lacking(why) => vec![("note", why.english().to_string())],
        Value::Words(_) | Value::All(_) => one(value.shown()),
        Value::Number(count, _) => one(count.to_string()),
        Value::Quantity(unit, value) => vec![("", number(*value)), (UNIT, unit.to_string())],
        Value::Spread(Some(value)) | Value::Share(value) | Value::Ratio(value) => one(number(*value)),
        Value::Interval(_, interval, _) | Value::ChangeInterval(interval) => ends(*interval),
        Value::Factor(factor, interval) => [one(number(*factor)), interval.map(ends).unwrap_or_default()].concat(),
        Value::Count { valid, invalid, outliers } => {
            vec![("", valid.to_string()), ("invalid", invalid.to_string()), ("outliers", outliers.to_string())]
        }
        Value::Change { verdict, ratio, .. } => {
            vec![("", ratio.map(number).unwrap_or_default()), ("verdict", word(*verdict).into())]
        }
        Value::Needed { numbers, .. } => one(numbers.to_string()),
        Value::Moment(moment) => one(moment.to_string()),
    }
}
