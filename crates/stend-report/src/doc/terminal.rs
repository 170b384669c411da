//! A document for a terminal: as wide as it is, with footnotes, and in colour.

use std::collections::HashSet;

use super::{Block, Cell, Column, Doc, Fold, Frame, Line, Role, Row, Side, Table, Trend, Value};
use crate::grid::{Grid, Piece, Style, piece, visible, wrap};
use crate::text::{interval, mark, width};
use stend_compare::table::Verdict;
use stend_model::quantity::english_plural;

/// Narrower than this no table can be read; a terminal that says so gets lines that it breaks itself.
pub const NARROWEST: usize = 40;

/// Space between two columns of words.
const GAP: &str = "  ";

/// Heights from the least value to the greatest.
const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

pub(super) fn write(doc: &Doc, width: usize, colour: bool) -> String {
    let mut page =
        Page { width: width.max(NARROWEST), colour, out: String::new(), footnotes: Vec::new(), shown: HashSet::new() };
    page.blocks(&doc.body);
    page.footnotes();
    page.blocks(&doc.foot);
    page.out
}

struct Page<'a> {
    width: usize,
    colour: bool,
    out: String,
    footnotes: Vec<String>,
    /// The heads for which there was room.
    shown: HashSet<&'a str>,
}

impl<'a> Page<'a> {
    fn blocks(&mut self, blocks: &'a [Block]) {
        let mut before: Option<&Block> = None;
        for block in blocks {
            match block {
                Block::Heading(title, more) => self.heading(title.english(), more.english()),
                Block::Lines(role, lines) => {
                    let follows = match before {
                        Some(Block::Lines(Role::Change(_) | Role::Cause, _)) => true,
                        Some(Block::Heading(..)) | None => matches!(role, Role::Fact | Role::Detail),
                        _ => false,
                    };
                    self.lines(*role, lines, follows);
                }
                Block::Table(table) => {
                    if matches!(before, Some(Block::Lines(role, _)) if *role != Role::Aside) {
                        self.blank();
                    }
                    self.table(table);
                }
                Block::Trend(trend) => self.trend(trend),
            }
            before = Some(block);
        }
    }

    /// Sentences of one role. Those of some stand apart unless they follow what they belong to.
    fn lines(&mut self, role: Role, lines: &[Line], follows: bool) {
        let (start, indent, style, apart) = match role {
            Role::Fact => ("", GAP, Style::Plain, !follows),
            Role::Aside => ("", GAP, Style::Dim, false),
            Role::Detail => (GAP, GAP, Style::Plain, !follows),
            Role::Answer => ("", GAP, Style::Bold, true),
            Role::More => ("", GAP, Style::Plain, false),
            Role::Change(verdict) => ("", GAP, style_of(verdict), !follows),
            Role::Cause => ("    ", "      ", Style::Plain, false),
            Role::Note => ("", GAP, Style::Plain, true),
            Role::Legend => ("", GAP, Style::Dim, true),
        };
        let said = lines.iter().filter(|line| line.about.is_none_or(|head| self.shown.contains(head)));
        for (number, line) in said.collect::<Vec<_>>().into_iter().enumerate() {
            if apart && (number == 0 || role == Role::Answer) {
                self.blank();
            }
            self.paragraph(&format!("{start}{}", line.label), line.said.english(), indent, style);
        }
    }

    fn heading(&mut self, title: &str, more: &str) {
        self.blank();
        if width(title) + 2 + width(more) > self.width {
            self.paragraph("", title, GAP, Style::Bold);
            if !more.is_empty() {
                self.paragraph(GAP, more, GAP, Style::Dim);
            }
            return;
        }
        let (title, more) = (piece(title, Style::Bold), piece(more, Style::Dim));
        let gap = if more.text.is_empty() { "" } else { GAP };
        let line = [title.styled(&title.text, self.colour), more.styled(&more.text, self.colour)].join(gap);
        self.out.push_str(&format!("{line}\n"));
    }

    fn paragraph(&mut self, start: &str, text: &str, indent: &str, style: Style) {
        let room = self.width.saturating_sub(width(start).max(width(indent)));
        for (index, line) in wrap(&visible(text), room).iter().enumerate() {
            let line = piece(line.as_str(), style);
            self.out.push_str(if index == 0 { start } else { indent });
            self.out.push_str(&line.styled(&line.text, self.colour));
            self.out.push('\n');
        }
    }

    /// One empty line, but not at the top.
    fn blank(&mut self) {
        if !self.out.is_empty() && !self.out.ends_with("\n\n") {
            self.out.push('\n');
        }
    }

    /// The number of a footnote; the same words have the same number.
    fn footnote(&mut self, words: &str) -> String {
        let place = self.footnotes.iter().position(|note| note == words).unwrap_or_else(|| {
            self.footnotes.push(words.to_owned());
            self.footnotes.len() - 1
        });
        format!("[{}]", place + 1)
    }

    fn footnotes(&mut self) {
        for (index, note) in std::mem::take(&mut self.footnotes).iter().enumerate() {
            if index == 0 {
                self.blank();
            }
            self.paragraph(&format!("[{}] ", index + 1), note, "    ", Style::Plain);
        }
    }

    /// The newest values that find room as blocks, with a mark under each that changed.
    fn trend(&mut self, trend: &Trend) {
        let values = || trend.values.iter().map(|(value, _)| *value);
        let (least, most) = (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
        let ends = interval(trend.unit, least, most);
        let room = self.width.saturating_sub(width(&ends) + 4).max(10);
        let older = trend.values.len().saturating_sub(room);
        let height = |value: f64| {
            let share = if most > least { (value - least) / (most - least) } else { 0.5 };
            BLOCKS[((share * 8.0) as usize).min(7)]
        };
        let marks = trend.values[older..].iter().map(|(_, verdict)| {
            verdict.map_or_else(|| " ".into(), |verdict| self.styled(&piece(mark(verdict, true), style_of(verdict))))
        });
        let marks: String = marks.collect();
        self.blank();
        self.out.push_str(&format!("  {}  {ends}\n", values().skip(older).map(height).collect::<String>()));
        if !marks.trim().is_empty() {
            self.out.push_str(&format!("  {}\n", marks.trim_end()));
        }
        if older > 0 {
            self.out.push_str(&format!("  ({} are not drawn)\n", english_plural(older, "older run", "older runs")));
        }
        self.blank();
    }

    fn table(&mut self, table: &'a Table) {
        match table.frame {
            Frame::Entries => self.entries(table),
            Frame::Head | Frame::Bare | Frame::Inset => self.words(table),
            Frame::Ruled | Frame::Reasons => {
                let columns = beside(table);
                let lines = self.written(table);
                let mut grid = grid(table, &columns);
                lines.iter().flatten().for_each(|line| line.push(&mut grid, &columns));
                for column in optional(&columns) {
                    let (head, way) = (&column.1.head, column.1.optional);
                    way.iter().for_each(|way| grid.may_leave_out(head, way.room, way.is_spare));
                }
                self.shown.extend(
                    columns
                        .iter()
                        .map(|(_, column)| column.head.as_str())
                        .filter(|head| !grid.leaves_out(head, self.width)),
                );
                self.out.push_str(&grid.write(self.width, self.colour));
            }
            Frame::Parts { labels, groups } => self.parts(table, labels, groups),
        }
    }

    /// As many columns side by side as fit, the rest in further parts.
    fn parts(&mut self, table: &Table, labels: usize, groups: bool) {
        let columns = beside(table);
        let rows = self.written(table);
        let label =
            rows.iter().flatten().map(|line| width(&line.label.text)).max().unwrap_or(0).min(self.width / labels);
        // Where a label has more than a figure and its evidence, the labels would be hard to find.
        let starts = |place: &usize| !table.rows[*place].is_inner;
        let apart = groups && {
            let mut lines_of_group = 0;
            rows.iter().enumerate().any(|(place, lines)| {
                lines_of_group = if starts(&place) { lines.len() } else { lines_of_group + lines.len() };
                lines_of_group > 2
            })
        };
        let part = |from: usize, end: usize| {
            let mut grid = grid(table, &columns[from..end]);
            let mut is_empty = true;
            for (place, lines) in rows.iter().enumerate() {
                if apart && place > 0 && starts(&place) {
                    grid.push(vec!["".into(); end - from + 1]);
                }
                // What stands under a row goes with it.
                let says = |line: &Written| line.always || line.says(&columns[from..end]);
                let written =
                    lines.iter().filter(|line| if table.rows[place].always { says(line) } else { says(&lines[0]) });
                for line in written {
                    line.push(&mut grid, &columns[from..end]);
                    is_empty = false;
                }
            }
            (grid, is_empty)
        };
        let mut from = 0;
        while from < columns.len() {
            let fits = |end: &usize| label + part(from, *end).0.figures_width() <= self.width;
            let end = (from + 1..=columns.len()).rev().find(fits).unwrap_or(from + 1);
            let (grid, is_empty) = part(from, end);
            if !is_empty {
                if from > 0 {
                    self.out.push('\n');
                }
                self.out.push_str(&grid.write(self.width, self.colour));
            }
            from = end;
        }
    }

    /// The lines of each row.
    fn written(&mut self, table: &Table) -> Vec<Vec<Written>> {
        let labels = labels(table);
        // A reason stands beside the widest label, behind a gap and a dash.
        let room = self.width.saturating_sub(labels.iter().map(|label| width(&label.text)).max().unwrap_or(0) + 4);
        let rows = table.rows.iter().zip(labels);
        rows.map(|(row, label)| self.row(table, row, label, room)).collect()
    }

    fn row(&mut self, table: &Table, row: &Row, label: Piece, room: usize) -> Vec<Written> {
        let indent = if row.is_inner { GAP } else { "" };
        if let Some(instead) = row.instead() {
            let text = match instead {
                Value::Lacking(why)
                    if table.frame == Frame::Reasons && !why.english().is_empty() && width(why.english()) <= room =>
                {
                    format!("– {}", why.english())
                }
                Value::Lacking(why) if !why.english().is_empty() => format!("– {}", self.footnote(why.english())),
                _ => "–".into(),
            };
            return vec![Written { label, cells: Vec::new(), span: Some(piece(text, Style::Dim)), always: true }];
        }
        let cells: Vec<Piece> = row.cells.iter().map(|cell| self.figure(cell)).collect();
        let mut lines = vec![Written { label, cells, span: None, always: row.always }];
        let named = table.columns.iter().zip(&row.cells).filter(|(column, _)| column.fold == Fold::Named);
        let named = named.map(|(column, cell)| format!("{indent}  {} {}", column.head, cell.value.shown()));
        let label = named.filter(|text| !text.ends_with(' ')).collect::<String>();
        let under: Vec<Piece> = row
            .cells
            .iter()
            .map(|cell| Piece { style: under_style(&cell.under), ..piece(cell.under.shown(), Style::Plain) })
            .collect();
        if !label.is_empty() || under.iter().any(|piece| !piece.text.is_empty()) {
            let always = row.always && !label.is_empty();
            lines.push(Written { label: piece(label, Style::Dim), cells: under, span: None, always });
        }
        let folded = table.columns.iter().zip(&row.cells).filter(|(column, _)| column.fold == Fold::Lines);
        for (_, cell) in folded {
            let Value::All(all) = &cell.value else { continue };
            for words in all {
                let wide = width(words.english()) + 2 > self.width;
                let text = if wide { self.footnote(words.english()) } else { words.english().to_string() };
                let label = piece(format!("  {text}"), Style::Dim);
                lines.push(Written { label, cells: Vec::new(), span: Some("".into()), always: true });
            }
        }
        lines
    }

    fn figure(&mut self, cell: &Cell) -> Piece {
        let mut text = match &cell.value {
            Value::Lacking(why) if !why.english().is_empty() => format!("– {}", self.footnote(why.english())),
            value => value.shown(),
        };
        for note in &cell.notes {
            let note = self.footnote(note.english());
            text = format!("{text} {note}").trim_start().to_owned();
        }
        let style = match &cell.value {
            Value::Lacking(_) | Value::Absent => Style::Dim,
            Value::Change { verdict, .. } => style_of(*verdict),
            _ if cell.is_strong => Style::Bold,
            _ => Style::Plain,
        };
        piece(text, style)
    }

    /// Words beside words, where what does not fit is left out or goes over the edge.
    fn words(&mut self, table: &Table) {
        let mut columns = beside(table);
        let mut widths: Vec<usize> = columns
            .iter()
            .map(|(place, column)| {
                let head = if table.frame == Frame::Head { width(&column.head) } else { 0 };
                let cells = table.rows.iter().map(|row| &row.cells[*place]);
                cells.map(|cell| width(&cell.value.shown())).max().unwrap_or(0).max(head)
            })
            .collect();
        let head = if table.frame == Frame::Head { &table.corner[0] } else { "" };
        let first = table.rows.iter().map(|row| width(&visible(&row.label()))).max().unwrap_or(0).max(width(head));
        let mut left_out = Vec::new();
        for (place, column) in optional(&beside(table)) {
            if first + widths.iter().map(|width| width + 2).sum::<usize>() > self.width {
                let at = columns.iter().position(|(other, _)| *other == place).expect("it is one of them");
                columns.remove(at);
                widths.remove(at);
                left_out.extend(column.optional.filter(|way| !way.is_spare).map(|_| column.head.as_str()));
            }
        }
        let indent = if table.frame == Frame::Inset { GAP } else { "" };
        let line = |label: &str, cells: &dyn Fn(usize, &Column) -> String| {
            let mut line = format!("{indent}{}{}", label, " ".repeat(first.saturating_sub(width(label))));
            for ((place, column), widest) in columns.iter().zip(&widths) {
                let text = visible(&cells(*place, column));
                let space = " ".repeat(widest.saturating_sub(width(&text)));
                let set = if column.side == Side::Left { text + &space } else { space + &text };
                line.push_str(&format!("{GAP}{set}"));
            }
            line.truncate(line.trim_end().len());
            line + "\n"
        };
        if table.frame == Frame::Head {
            self.out.push_str(&line(head, &|_, column| column.head.clone()));
        }
        for row in &table.rows {
            let label = visible(&row.label());
            let text = line(&label, &|place, _| row.cells[place].value.shown());
            if table.frame == Frame::Inset && width(text.trim_end()) > self.width {
                // The last column is broken, or all that stands beside the label where that leaves it too little room.
                let last = visible(&row.cells.last().map(|cell| cell.value.shown()).unwrap_or_default());
                let start = text.rfind(&last).filter(|start| width(&text[..*start]) <= self.width / 2);
                let (before, last) = text.trim_end().split_at(start.unwrap_or(indent.len() + label.len()));
                let room = start.map_or(width(indent) + first + 2, |_| width(before));
                let before = format!("{before}{}", " ".repeat(room - width(before)));
                self.paragraph(&before, last, &" ".repeat(room), Style::Plain);
            } else {
                self.out.push_str(&text);
            }
            let under = line("", &|place, _| row.cells[place].under.shown());
            if !under.trim().is_empty() {
                self.out.push_str(&under);
            }
        }
        if !left_out.is_empty() {
            self.paragraph("", &format!("no room here for: {}", left_out.join(", ")), GAP, Style::Plain);
        }
    }

    /// A paragraph for each row.
    fn entries(&mut self, table: &Table) {
        for row in &table.rows {
            self.blank();
            self.out.push_str(&format!("{}\n", visible(&row.label())));
            let (beside, apart): (Vec<_>, Vec<_>) =
                table.columns.iter().zip(&row.cells).partition(|(column, _)| column.fold == Fold::Beside);
            let shown =
                |cells: Vec<(&Column, &Cell)>| cells.iter().map(|(_, cell)| cell.value.shown()).collect::<Vec<_>>();
            let lines = [shown(beside).join(" · ")].into_iter().chain(shown(apart));
            lines
                .filter(|line| !line.is_empty())
                .for_each(|line| self.out.push_str(&format!("    {}\n", visible(&line))));
        }
    }

    fn styled(&self, piece: &Piece) -> String {
        piece.styled(&piece.text, self.colour)
    }
}

/// What stands in one line of a grid.
struct Written {
    label: Piece,
    cells: Vec<Piece>,
    /// What stands in place of the cells.
    span: Option<Piece>,
    /// Whether it is written also where it says nothing.
    always: bool,
}

impl Written {
    fn says(&self, columns: &[(usize, &Column)]) -> bool {
        columns.iter().any(|(place, _)| !self.cells[*place].text.is_empty() && self.cells[*place].text != "·")
    }

    fn push(&self, grid: &mut Grid, columns: &[(usize, &Column)]) {
        match &self.span {
            Some(span) => grid.push_span(self.label.clone(), span.clone()),
            None => {
                let cells = columns.iter().map(|(place, _)| self.cells[*place].clone());
                grid.push([self.label.clone()].into_iter().chain(cells).collect());
            }
        }
    }
}

fn grid(table: &Table, columns: &[(usize, &Column)]) -> Grid {
    Grid::new([table.corner[0].as_str()].into_iter().chain(columns.iter().map(|(_, column)| column.head.as_str())))
}

/// The columns that stand beside each other, each with its place.
fn beside(table: &Table) -> Vec<(usize, &Column)> {
    table.columns.iter().enumerate().filter(|(_, column)| column.fold == Fold::Beside).collect()
}

/// Those of them that may be left out, in the order in which they go.
fn optional<'t>(columns: &[(usize, &'t Column)]) -> Vec<(usize, &'t Column)> {
    let mut optional: Vec<_> = columns.iter().copied().filter(|(_, column)| column.optional.is_some()).collect();
    optional.sort_by_key(|(_, column)| column.optional.map(|way| way.order));
    optional
}

/// The labels; of what has further rows each says only what is its own.
fn labels(table: &Table) -> Vec<Piece> {
    let mut before: Option<&Row> = None;
    let label = |row| {
        let before = before.replace(row);
        let Row { label, is_inner, is_strong, .. }: &Row = row;
        match (&label[..], before.map(|before| &before.label[..])) {
            ([name, own], Some([other, _])) if name == other => piece(format!("  · {own}"), Style::Plain),
            _ if *is_inner => piece(format!("  {}", row.label()), Style::Dim),
            _ => piece(row.label(), if *is_strong { Style::Bold } else { Style::Plain }),
        }
    };
    table.rows.iter().map(label).collect()
}

fn style_of(verdict: Verdict) -> Style {
    match verdict {
        Verdict::Better => Style::Better,
        Verdict::Worse => Style::Worse,
        Verdict::Same | Verdict::Unresolved => Style::Plain,
    }
}

/// Colour follows a mark, and intervals stand back.
fn under_style(under: &Value) -> Style {
    match under {
        Value::Change { verdict, .. } => style_of(*verdict),
        Value::Interval(..) | Value::Spread(_) => Style::Dim,
        _ => Style::Plain,
    }
}
