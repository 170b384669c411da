//! The table in another layout: metrics or the values on an axis across, all runs and published machines of a figure under each other.

use super::*;
use crate::wide::{Block, Group, Line, blocks, matrix_blocks};
use stend_compare::table::Lack;

/// Where there is no such figure.
const ABSENT: &str = "·";

/// What stands in one line of the grid.
enum Written {
    Cells {
        label: Piece,
        cells: Vec<Piece>,
        /// Whether it stands also in a part in which it says nothing: a published machine has no figures for most metrics.
        always: bool,
    },
    Span(Piece, Piece),
}

impl Page<'_> {
    /// The table in its own layout.
    pub(super) fn laid_out(&mut self) {
        let column = &self.table.columns[0];
        self.heading(&column.title, &text::grade(column));
        for (_, column) in text::other_runs(self.table) {
            let words = format!("against it: {}, {}", column.title, text::grade(column));
            self.paragraph("", &words, "  ", Style::Dim);
        }
        for block in blocks(self.table, self.options.all_metrics) {
            self.block(&block);
        }
    }

    /// The matrices, where all figures are asked for.
    pub(super) fn matrices(&mut self) {
        for block in matrix_blocks(self.table) {
            self.block(&block);
        }
    }

    fn block(&mut self, block: &Block) {
        if !block.title.is_empty() {
            self.heading(&block.title, "");
        }
        let groups: Vec<Vec<Written>> = block.groups.iter().map(|group| self.group(group)).collect();
        let labels = groups.iter().flatten().map(|line| match line {
            Written::Cells { label, .. } | Written::Span(label, _) => width(&label.text),
        });
        let label = labels.max().unwrap_or(0).min(self.options.width / 3);
        let mut from = 0;
        while from < block.columns.len() {
            // As many side by side as fit, the rest in further parts.
            let (grid, end) = (from + 1..=block.columns.len())
                .rev()
                .map(|end| (part(block, &groups, from, end), end))
                .find(|(grid, end)| *end == from + 1 || label + grid.figures_width() <= self.options.width)
                .expect("one column is always taken");
            if from > 0 {
                self.out.push('\n');
            }
            self.out.push_str(&grid.write(self.options.width, self.options.colour));
            from = end;
        }
        for left_out in &block.without {
            let why = &notes::lack(left_out.why).en;
            self.paragraph("", &format!("{}: {why}", left_out.metric), "  ", Style::Dim);
        }
    }

    fn group(&mut self, group: &Group) -> Vec<Written> {
        let mut written = Vec::new();
        for line in &group.lines {
            let label = if line.is_base {
                group.label.as_str().into()
            } else {
                piece(format!("  {}", line.label()), Style::Dim)
            };
            match line.lack {
                Some(lack) => {
                    let reason = piece(format!("– {}", self.footnote(&notes::lack(lack).en)), Style::Dim);
                    written.push(Written::Span(label, reason));
                }
                None => self.line(label, line, &mut written),
            }
        }
        for ceiling in group.ceilings {
            let share = format!("  {}", phrase::of_ceiling(ceiling).en);
            written.push(Written::Span(piece(share, Style::Dim), "".into()));
        }
        written
    }

    /// The figures of a line, and under those of a run what they rest on: the intervals of the base's, how another run's stand to them.
    fn line(&mut self, label: Piece, line: &Line, written: &mut Vec<Written>) {
        let figures: Vec<Piece> = line.cells.iter().map(|cell| self.wide_figure(*cell, line.is_base)).collect();
        let is_run = line.column.is_run();
        written.push(Written::Cells { label, cells: figures, always: is_run });
        let under: Vec<Piece> = line.cells.iter().map(|cell| self.under_figure(*cell)).collect();
        if under.iter().any(|piece| !piece.text.is_empty()) {
            let count = line.count();
            self.seen.outliers |= count.as_ref().is_some_and(|count| count.outliers > 0);
            self.seen.some_invalid |= count.as_ref().is_some_and(|count| count.some_invalid);
            let count = count.map(|count| format!("  n {count}")).unwrap_or_default();
            let indent = if line.is_base { "" } else { "  " };
            let label = piece(format!("{indent}{count}"), Style::Dim);
            written.push(Written::Cells { label, cells: under, always: !count.is_empty() });
        }
    }

    fn wide_figure(&mut self, cell: Option<(&Row, &Cell)>, bold: bool) -> Piece {
        match cell {
            Some((row, Cell::Measured(value))) => {
                self.seen.too_few |= value.interval.is_none();
                piece(row.unit.show(value.median), if bold { Style::Bold } else { Style::Plain })
            }
            Some((row, Cell::Published(published))) => {
                self.seen.wide_published = true;
                piece(self.published_short(row, published), Style::Plain)
            }
            Some((_, Cell::Nothing { why: Lack::NotReported { reason: None, .. } })) => piece("–", Style::Dim),
            Some((_, Cell::Nothing { why })) => piece(format!("– {}", self.footnote(&notes::lack(why).en)), Style::Dim),
            Some((_, Cell::Absent)) | None => piece(ABSENT, Style::Dim),
        }
    }

    fn under_figure(&mut self, cell: Option<(&Row, &Cell)>) -> Piece {
        let Some((row, Cell::Measured(value))) = cell else { return "".into() };
        if value.against_base.is_some() {
            return self.verdict(value);
        }
        match (value.interval, value.spread) {
            (Some(interval), _) => {
                self.seen.wide_intervals = true;
                piece(text::interval_beside(row.unit, value.median, interval), Style::Dim)
            }
            (None, Some(spread)) => piece(text::spread(Some(spread)), Style::Dim),
            (None, None) => "".into(),
        }
    }
}

/// The grid of the columns from one to another.
fn part(block: &Block, groups: &[Vec<Written>], from: usize, end: usize) -> Grid {
    let heads = block.columns[from..end].iter().cloned();
    let mut grid = Grid::new([block.corner.clone()].into_iter().chain(heads));
    // Where a label has more than a figure and its evidence, the labels would be hard to find.
    let apart = groups.iter().any(|group| group.len() > 2);
    for (place, group) in groups.iter().enumerate() {
        if apart && place > 0 {
            grid.push(vec!["".into(); end - from + 1]);
        }
        for line in group {
            match line {
                Written::Cells { label, cells, always } => {
                    let part = &cells[from..end];
                    if *always || part.iter().any(|piece| !piece.text.is_empty() && piece.text != ABSENT) {
                        grid.push([label.clone()].into_iter().chain(part.iter().cloned()).collect());
                    }
                }
                Written::Span(label, text) => grid.push_span(label.clone(), text.clone()),
            }
        }
    }
    grid
}
