//! The table as Markdown, as GitHub reads it.

use std::fmt::Write;

use crate::words;
use stend_compare::table::{Cell, Column, Row, Table};
use stend_compare::weighing::Weighing;

use super::language::TEXTS;
use super::notes;
use super::phrase::of_ceiling;
use super::standing;
use super::text::{self, factor, interval, marked_change};
use super::weighing;
use super::wide::{self, Block};

/// Writes the table: the base with its evidence, each other run against it, and each publication. `fingerprint` are the lines
/// that say what the base's machine is.
pub fn render(table: &Table, fingerprint: &[String], all_metrics: bool) -> String {
    let rows = table.shown(all_metrics);
    let mut out = String::new();
    let without_place = notes::without_place(table);
    let is_table = !rows.is_empty() || table.only.is_some() || without_place.is_some();
    let Some(base) = table.columns.first().filter(|_| is_table) else {
        return "Nothing was measured.\n".into();
    };

    heading(&mut out, &base.title, &text::grade(base));
    for machine in fingerprint.iter().filter(|line| !line.is_empty()) {
        let _ = writeln!(out, "- {}", escape(machine));
    }
    if !fingerprint.is_empty() {
        out.push('\n');
    }
    let blocks = wide::blocks(table, all_metrics);
    if blocks.is_empty() {
        plain(&mut out, table, &rows, base);
    } else {
        for (_, column) in text::other_runs(table) {
            let _ = writeln!(out, "- against it: {} ({})", escape(&column.title), escape(&text::grade(column)));
            differences(&mut out, column);
        }
        blocks.iter().for_each(|block| laid_out(&mut out, block));
    }
    if all_metrics {
        wide::matrix_blocks(table).iter().for_each(|block| laid_out(&mut out, block));
    }

    table.weighings.iter().for_each(|weighing| weighed(&mut out, table, weighing));

    if !out.ends_with("\n\n") {
        out.push('\n');
    }
    for standing in text::standings(table) {
        let _ = writeln!(out, "{}\n", escape(&standing.en));
    }
    for mean in standing::means(table, true) {
        let _ = writeln!(out, "{}\n", escape(&mean.en));
    }
    for words in notes::notes(&table.notes).into_iter().map(|note| note.en).chain(without_place.map(Into::into)) {
        let _ = writeln!(out, "- Note: {}", escape(&words));
    }
    for left_out in &table.left_out {
        let _ = writeln!(out, "- Not in all runs: {}", escape(&notes::left_out(left_out).en));
    }
    out.push_str("\n▲ better, ▼ worse, ≈ the same within δ, ? unresolved");
    let is_unsettled = |(index, _): &(usize, &Column)| rows.iter().any(|row| text::to_settle(row, *index).is_some());
    if blocks.is_empty() && text::other_runs(table).iter().any(is_unsettled) {
        out.push_str("; n to settle: about how many repeats on each side would");
    }
    out.push_str(". n: valid repeats, of all where some are not; \\* a value lies far from the rest. ");
    if !text::other_runs(table).is_empty() {
        let _ = write!(out, "{} ", TEXTS.legend_delta.en);
    }
    let published = !text::references(table, &rows).is_empty();
    let more = match (blocks.is_empty(), published) {
        (true, true) => {
            "A factor beside a published figure says by how much the machine measured here is better; no test is possible there."
        }
        (true, false) => "",
        (false, true) => {
            "In brackets: the 95 % interval of the median. Published figures are single numbers; no test is possible there."
        }
        (false, false) => "In brackets: the 95 % interval of the median.",
    };
    out.push_str(more);
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

/// A line for each scenario: the base with its evidence, each other run against it, and each publication.
fn plain(out: &mut String, table: &Table, rows: &[&Row], base: &Column) {
    let name = |row: &Row| {
        let metrics = rows.iter().filter(|other| other.scenario == row.scenario).count();
        if metrics > 1 { format!("{} · {}", row.scenario, row.metric) } else { row.scenario.clone() }
    };
    let ceilings = rows.iter().any(|row| !of_ceilings(row).is_empty());
    let heads = ["scenario", "median", "spread", "95 % interval", "n"];
    head(out, heads.into_iter().chain(ceilings.then_some("of its ceiling")));
    for row in rows {
        let cells = match row.cells.first() {
            Some(Cell::Measured(value)) => [
                row.unit.show(value.median),
                text::spread(value.spread),
                value.interval.map_or_else(|| "too few repeats".into(), |(low, high)| interval(row.unit, low, high)),
                text::count(value.valid, value.invalid, value.outliers),
            ],
            other => [other.map(reason).unwrap_or_default(), String::new(), String::new(), String::new()],
        };
        line(out, [name(row)].into_iter().chain(cells).chain(ceilings.then(|| of_ceilings(row))));
    }

    for (index, column) in text::other_runs(table) {
        heading(out, &format!("{} against {}", column.title, base.title), &text::grade(column));
        differences(out, column);
        one_run(out, rows, index, name);
    }
    for (reference, columns) in text::references(table, rows) {
        heading(out, &format!("Published: {reference}"), &text::grade(columns[0].1));
        across(out, rows, &columns, text::base_name(table), name);
    }
}

fn differences(out: &mut String, column: &Column) {
    for difference in &column.differences {
        let _ = writeln!(out, "- differs in {}", escape(&words::machine::in_words(difference)));
    }
    if !column.differences.is_empty() {
        out.push('\n');
    }
}

/// A section of a table with metrics or the values on an axis across.
fn laid_out(out: &mut String, block: &Block) {
    if block.title.is_empty() {
        out.push('\n');
    } else {
        let _ = writeln!(out, "\n**{}**\n", escape(&block.title));
    }
    let ceilings = block.groups.iter().any(|group| !group.ceilings.is_empty());
    let columns = block.columns.iter().map(String::as_str).chain(["n"]).chain(ceilings.then_some("of its ceiling"));
    head(out, [block.corner.as_str()].into_iter().chain(columns));
    for group in &block.groups {
        let shares: Vec<_> = group.ceilings.iter().map(|ceiling| of_ceiling(ceiling).en.into_owned()).collect();
        for one in &group.lines {
            let label = if one.is_base { group.label.clone() } else { format!("– {}", one.label()) };
            let share = if one.is_base { shares.join("; ") } else { String::new() };
            let count = one.count().map(|count| count.to_string()).unwrap_or_default();
            let figures = one.cells.iter().map(|cell| beside(*cell)).chain([count]);
            line(out, [label].into_iter().chain(figures).chain(ceilings.then_some(share)));
        }
    }
    out.push('\n');
    for left_out in &block.without {
        let _ = writeln!(out, "- {}: {}", escape(left_out.metric), escape(&notes::lack(left_out.why).en));
    }
}

/// A figure with what it rests on, in one cell.
fn beside(cell: Option<(&Row, &Cell)>) -> String {
    let Some((row, cell)) = cell else { return String::new() };
    match cell {
        Cell::Measured(value) => {
            let figure = row.unit.show(value.median);
            let under = match (&value.against_base, value.interval) {
                (Some(against), _) => format!(" {}", marked_change(against)),
                (None, Some(interval)) => format!(" ({})", text::interval_beside(row.unit, value.median, interval)),
                (None, None) => {
                    value.spread.map(|spread| format!(" {}", text::spread(Some(spread)))).unwrap_or_default()
                }
            };
            figure + &under
        }
        Cell::Published(published) => match (published.value, &published.words) {
            (Some(value), _) => row.unit.show(value),
            (None, words) => words.clone().unwrap_or_default(),
        },
        other => reason(other),
    }
}

/// What the base reaches of its ceilings.
fn of_ceilings(row: &Row) -> String {
    match row.cells.first() {
        Some(Cell::Measured(value)) => {
            value.of_ceilings.iter().map(|ceiling| of_ceiling(ceiling).en.into_owned()).collect::<Vec<_>>().join("; ")
        }
        _ => String::new(),
    }
}

fn one_run(out: &mut String, rows: &[&Row], index: usize, name: impl Fn(&Row) -> String) {
    let any_needed = rows.iter().any(|row| text::to_settle(row, index).is_some());
    let heads = ["scenario", "median", "spread", "n", "change", "95 % interval of change"];
    head(out, heads.into_iter().chain(any_needed.then_some("n to settle")));
    for row in rows.iter().filter(|row| text::has_figure(row, index)) {
        let cells = match &row.cells[index] {
            Cell::Measured(value) => {
                let against = value.against_base.as_ref();
                let change = against.map(marked_change);
                let interval = against.and_then(|against| against.interval).map(text::change_interval);
                [
                    row.unit.show(value.median),
                    text::spread(value.spread),
                    text::count(value.valid, value.invalid, value.outliers),
                    change.unwrap_or_default(),
                    interval.unwrap_or_default(),
                ]
            }
            other => [reason(other), String::new(), String::new(), String::new(), String::new()],
        };
        let needed = any_needed.then(|| text::to_settle(row, index).unwrap_or_default());
        line(out, [name(row)].into_iter().chain(cells).chain(needed));
    }
}

/// What each machine does for a watt or for its price.
fn weighed(out: &mut String, table: &Table, weighing: &Weighing) {
    heading(out, &weighing::title(weighing).en, &weighing::meaning().en);
    let columns = weighing::columns(table, weighing);
    head(out, ["scenario"].into_iter().chain(columns.iter().map(|(_, title)| *title)));
    for row in &weighing.rows {
        let cell = |(place, _): &(usize, &str)| {
            let Some(cell) = &row.cells[*place] else { return String::new() };
            let standing = weighing::standing(cell);
            let figure = weighing::figure(weighing, row, cell);
            if standing.is_empty() { figure } else { format!("{figure}, {standing}") }
        };
        line(out, [row.scenario.clone()].into_iter().chain(columns.iter().map(cell)));
    }
    out.push('\n');
    for source in weighing::sources(table, weighing) {
        let _ = writeln!(out, "- {}", escape(&source.en));
    }
}

/// Machines of a publication across, behind the base.
fn across(out: &mut String, rows: &[&Row], columns: &text::Placed, base: &str, name: impl Fn(&Row) -> String) {
    let titles = columns.iter().map(|(_, column): &(usize, &Column)| column.title.clone());
    head(out, ["scenario".to_owned(), base.to_owned()].into_iter().chain(titles));
    for row in rows.iter().filter(|row| columns.iter().any(|(index, _)| text::has_figure(row, *index))) {
        let of_base = match row.cells.first() {
            Some(Cell::Measured(value)) => row.unit.show(value.median),
            _ => String::new(),
        };
        let cells = columns.iter().map(|(index, _)| match row.cells.get(*index) {
            Some(Cell::Published(published)) => {
                let said = match (published.value, &published.words) {
                    (Some(value), _) => row.unit.show(value),
                    (None, words) => words.clone().unwrap_or_default(),
                };
                let standing =
                    text::advantage(published, row.better).map(|advantage| format!(" ({})", factor(advantage)));
                said + &standing.unwrap_or_default()
            }
            other => other.map(reason).unwrap_or_default(),
        });
        line(out, [name(row), of_base].into_iter().chain(cells));
    }
    out.push('\n');
}

/// Why a cell has no figure.
fn reason(cell: &Cell) -> String {
    match cell {
        Cell::Nothing { why } => format!("– ({})", notes::lack(why).en),
        _ => String::new(),
    }
}

pub(super) fn heading(out: &mut String, title: &str, more: &str) {
    if !out.is_empty() && !out.ends_with("\n\n") {
        out.push('\n');
    }
    let _ = writeln!(out, "**{}** ({})\n", escape(title), escape(more));
}

pub(super) fn head(out: &mut String, titles: impl IntoIterator<Item = impl AsRef<str>>) {
    let titles: Vec<_> = titles.into_iter().map(|title| title.as_ref().to_owned()).collect();
    let rule: Vec<_> = (0..titles.len()).map(|index| if index == 0 { "---" } else { "---:" }.to_owned()).collect();
    line(out, titles);
    line(out, rule);
}

pub(super) fn line(out: &mut String, cells: impl IntoIterator<Item = String>) {
    out.push('|');
    for cell in cells {
        let _ = write!(out, " {} |", escape(&cell));
    }
    out.push('\n');
}

/// Text that Markdown takes literally, in one line.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' | '\r' | '\t' => out.push(' '),
            '|' | '\\' | '`' | '*' | '_' | '<' | '>' | '[' | ']' | '~' => {
                out.push('\\');
                out.push(character);
            }
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn every_line_of_a_table_has_as_many_cells_as_its_head() {
        let text = render(&sample::table(), &sample::fingerprint(), true);
        let mut bars = None;
        for line in text.lines() {
            let count = line.replace("\\|", "").matches('|').count();
            match (line.starts_with('|'), bars) {
                (true, Some(bars)) => assert_eq!(count, bars, "{line}"),
                (true, None) => bars = Some(count),
                (false, _) => bars = None,
            }
        }
        assert!(
            text.contains("| ▲ +8.1 % | +7.0 … +9.2 % |")
                && !text.contains("\n\n\n")
                && text.contains("- differs in kernel")
                && text.contains("| of its ceiling |")
                && text.contains("| 62 % of magma, parallel |")
                && text.contains("Published: summit")
                && text.contains("A factor beside a published figure says")
                && text.contains("; n to settle: ")
                && text.contains("× "),
            "{text}"
        );
    }

    #[test]
    fn names_cannot_break_the_table() {
        assert_eq!(escape("a|b\n<script>*"), "a\\|b \\<script\\>\\*");
    }
}
