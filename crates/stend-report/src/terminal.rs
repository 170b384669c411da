//! The table for a terminal: first the base, then the other runs, then each publication; under them what the marks mean.

mod wide;

use stend_compare::standing::{Mean, standings};
use stend_compare::table::{Cell, Column, Measured, Note, Row, Table, Verdict};
use stend_compare::weighing::Weighing;

use super::doc::NARROWEST;
use super::grid::{Grid, HEAD_WIDTH, Piece, Style, piece, visible, wrap};
use super::language::TEXTS;
use super::notes;
use super::phrase;
use super::standing;
use super::text::{self, has_figure, interval, marked_change, width};
use super::weighing;

/// How the table is written.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Columns of the terminal.
    pub width: usize,
    /// Whether escapes for colour may be written. The caller knows `NO_COLOR` and whether it is a terminal.
    pub colour: bool,
    /// All metrics; otherwise each scenario's main one.
    pub all_metrics: bool,
}

const TO_SETTLE: &str = "n to settle";
const CHANGE_INTERVAL: &str = "95 % interval of change";

/// Writes the table. `fingerprint` are the lines that say what the base's machine is. In what the others differ from it is
/// for the caller to print above.
pub fn render(table: &Table, fingerprint: &[String], options: &Options) -> String {
    let rows = table.shown(options.all_metrics);
    let mut page = Page {
        table,
        rows,
        options: Options { width: options.width.max(NARROWEST), ..*options },
        out: String::new(),
        footnotes: Vec::new(),
        seen: Seen::default(),
    };
    for line in fingerprint {
        page.paragraph("", line, "  ", Style::Plain);
    }
    if page.table.columns.is_empty() || page.rows.is_empty() {
        page.blank();
        page.paragraph("", &nothing_shown(table), "", Style::Bold);
    } else if table.layout.as_ref().is_some_and(|layout| !layout.is_plain()) {
        page.laid_out();
    } else {
        page.base();
        page.other_runs();
        page.publications();
    }
    if options.all_metrics {
        page.matrices();
    }
    for weighing in &table.weighings {
        page.weighing(weighing);
    }
    page.foot();
    page.out
}

/// Why there is no row.
fn nothing_shown(table: &Table) -> String {
    let mut notes = table.notes.iter().filter(|note| matches!(note, Note::OnlyRows { shown: 0, .. }));
    let sentence = |words: &str| {
        let mut letters = words.chars();
        letters.next().map(|first| first.to_uppercase().chain(letters).chain(['.']).collect()).unwrap_or_default()
    };
    match notes.next() {
        Some(note) => sentence(&notes::note(note).en),
        // A note says which scenarios have none.
        None if notes::without_place(table).is_some() => "No row is shown.".into(),
        None => "Nothing was measured.".into(),
    }
}

/// Which marks the table has shown: only those are explained.
#[derive(Default)]
struct Seen {
    verdicts: bool,
    mean: bool,
    weighed: bool,
    to_settle: bool,
    published: bool,
    wide_published: bool,
    wide_intervals: bool,
    outliers: bool,
    some_invalid: bool,
    too_few: bool,
}

struct Page<'a> {
    table: &'a Table,
    rows: Vec<&'a Row>,
    options: Options,
    out: String,
    footnotes: Vec<String>,
    seen: Seen,
}

impl<'a> Page<'a> {
    /// The base with all its evidence.
    fn base(&mut self) {
        let column = &self.table.columns[0];
        // Where its figures are called so below.
        let others = text::other_runs(self.table).len();
        let published = self.table.columns.iter().any(|column| column.reference().is_some());
        let as_base = if others > 1 || others == 1 && published { " (base)" } else { "" };
        self.heading(&format!("{}{as_base}", column.title), &text::grade(column));
        let mut grid = Grid::new(["scenario", "median", "spread", "95 % interval", "n"]);
        let labelled = self.labelled(self.rows.iter().copied());
        // A reason stands beside the widest label, behind a gap and a dash, or else under the table.
        let widest_label = labelled.iter().map(|(label, _)| width(&label.text)).max().unwrap_or(0);
        let room = self.options.width.saturating_sub(widest_label + 4);
        for (label, row) in labelled {
            match row.cells.first() {
                Some(Cell::Measured(value)) => {
                    let few = || "too few repeats".to_owned();
                    let between = value.interval.map_or_else(few, |(low, high)| interval(row.unit, low, high));
                    self.seen.too_few |= value.interval.is_none();
                    grid.push(vec![
                        label,
                        piece(row.unit.show(value.median), Style::Bold),
                        text::spread(value.spread).into(),
                        between.into(),
                        self.count(value).into(),
                    ]);
                    for ceiling in &value.of_ceilings {
                        let share = format!("  {}", phrase::of_ceiling(ceiling).en);
                        let share = if width(&share) > self.options.width {
                            format!("  {}", self.footnote(share.trim_start()))
                        } else {
                            share
                        };
                        grid.push_span(piece(share, Style::Dim), "".into());
                    }
                }
                Some(Cell::Published(published)) => {
                    let value = self.published_value(row, published);
                    grid.push(vec![label, value.into(), "".into(), "".into(), "".into()]);
                }
                Some(Cell::Nothing { why }) => {
                    let reason = &notes::lack(why).en;
                    let text = if width(reason) <= room {
                        format!("– {reason}")
                    } else {
                        format!("– {}", self.footnote(reason))
                    };
                    grid.push_span(label, piece(text, Style::Dim));
                }
                Some(Cell::Absent) | None => grid.push_span(label, piece("–", Style::Dim)),
            }
        }
        for head in ["95 % interval", "spread", "n"] {
            grid.may_leave_out(head, 0, false);
        }
        self.out.push_str(&grid.write(self.options.width, self.options.colour));
    }

    fn other_runs(&mut self) {
        let runs = text::other_runs(self.table);
        match runs.as_slice() {
            [] => {}
            [(index, column)] => self.one_run(*index, column),
            _ => self.across("Other runs", &runs),
        }
    }

    /// With one other run there is room for all that is known of the change; on a narrow terminal some of it is left out.
    fn one_run(&mut self, index: usize, column: &Column) {
        const ROOM_FOR_NAMES: usize = 24;
        let title = format!("{} against {}", column.title, self.table.columns[0].title);
        self.heading(&title, &text::grade(column));
        let mut grid = self.run_grid(index);
        grid.may_leave_out(CHANGE_INTERVAL, ROOM_FOR_NAMES, false);
        for head in [TO_SETTLE, "spread", "n"] {
            grid.may_leave_out(head, 0, false);
        }
        let to_settle = self.rows.iter().any(|row| text::to_settle(row, index).is_some());
        self.seen.to_settle |= to_settle && !grid.leaves_out(TO_SETTLE, self.options.width);
        self.out.push_str(&grid.write(self.options.width, self.options.colour));
    }

    fn run_grid(&mut self, index: usize) -> Grid {
        let to_settle = self.rows.iter().any(|row| text::to_settle(row, index).is_some());
        let last = [(to_settle, TO_SETTLE), (true, CHANGE_INTERVAL)];
        let shown =
            |cells: [Piece; 2]| cells.into_iter().zip(last).filter(|(_, (shown, _))| *shown).map(|(cell, _)| cell);
        let head = last.into_iter().filter(|(shown, _)| *shown).map(|(_, name)| name);
        let mut grid = Grid::new(["scenario", "median", "spread", "n", "change"].into_iter().chain(head));
        for (label, row) in self.labelled(self.rows.iter().copied()) {
            match row.cells.get(index) {
                Some(Cell::Measured(value)) => {
                    let mut cells: Vec<Piece> = vec![label, row.unit.show(value.median).into()];
                    cells.push(text::spread(value.spread).into());
                    cells.push(self.count(value).into());
                    cells.push(self.verdict(value));
                    let against = value.against_base.as_ref();
                    let needed = text::to_settle(row, index).unwrap_or_default();
                    let between = against.and_then(|against| against.interval).map(text::change_interval);
                    cells.extend(shown([needed.into(), between.unwrap_or_default().into()]));
                    grid.push(cells);
                }
                Some(Cell::Nothing { why }) => {
                    let text = format!("– {}", self.footnote(&notes::lack(why).en));
                    grid.push_span(label, piece(text, Style::Dim));
                }
                _ => grid.push_span(label, piece("–", Style::Dim)),
            }
        }
        if let Some(mean) = self.mean(index) {
            let [ratio, interval] = standing::mean_figures(&mean);
            let label = piece(standing::mean_label(&mean).en, Style::Bold);
            let mut cells = vec![label, "".into(), "".into(), "".into(), ratio.into()];
            cells.extend(shown(["".into(), interval.into()]));
            grid.push(cells);
        }
        grid
    }

    /// The geometric mean of a run's ratios, where it is shown under them.
    fn mean(&mut self, column: usize) -> Option<Mean> {
        let found = standings(self.table).into_iter().find(|standing| standing.column == column)?.mean;
        self.seen.mean |= found.is_some();
        found
    }

    fn publications(&mut self) {
        for (reference, columns) in text::references(self.table, &self.rows) {
            let mut grades: Vec<String> = columns.iter().map(|(_, column)| text::grade(column)).collect();
            grades.dedup();
            let title = format!("Published: {reference}");
            self.across_titled(&title, &grades.join(", "), &columns);
        }
    }

    /// Machines across, and under each figure how it stands to the base.
    fn weighing(&mut self, weighing: &Weighing) {
        self.heading(&weighing::title(weighing).en, "");
        let columns = weighing::columns(self.table, weighing);
        let part = |places: &[(usize, &str)]| {
            let titles = places.iter().map(|(_, title)| (*title).to_owned());
            let mut grid = Grid::new(["scenario".to_owned()].into_iter().chain(titles));
            for row in &weighing.rows {
                let cells = || places.iter().map(|(place, _)| row.cells[*place].as_ref());
                let figure = |cell: Option<&_>| cell.map_or("·".into(), |cell| weighing::figure(weighing, row, cell));
                let figures = cells().map(|cell| figure(cell).into());
                grid.push([row.scenario.as_str().into()].into_iter().chain(figures).collect());
                let standings: Vec<String> =
                    cells().map(|cell| cell.map(weighing::standing).unwrap_or_default()).collect();
                if standings.iter().any(|standing| !standing.is_empty()) {
                    grid.push([Piece::from("")].into_iter().chain(standings.into_iter().map(Piece::from)).collect());
                }
            }
            grid
        };
        let label = weighing.rows.iter().map(|row| width(&row.scenario)).max().unwrap_or(0).min(self.options.width / 3);
        let mut from = 0;
        while from < columns.len() {
            let fits = |end: &usize| label + part(&columns[from..*end]).figures_width() <= self.options.width;
            let end = (from + 1..=columns.len()).rev().find(fits).unwrap_or(from + 1);
            if from > 0 {
                self.out.push('\n');
            }
            self.out.push_str(&part(&columns[from..end]).write(self.options.width, self.options.colour));
            from = end;
        }
        for source in weighing::sources(self.table, weighing) {
            self.paragraph("", &source.en, "  ", Style::Dim);
        }
        self.seen.weighed = true;
    }

    fn across(&mut self, title: &str, columns: &text::Placed) {
        let mut grades: Vec<_> = columns
            .iter()
            .map(|(_, column)| match &column.emulator {
                Some(_) => format!("{} {}", column.title, text::grade(column)),
                None => format!("{} {}", column.title, column.grade),
            })
            .collect();
        grades.dedup();
        self.across_titled(title, &format!("grades: {}", grades.join(", ")), columns);
    }

    /// Machines across, two lines for each row: the figures, and under them how they stand to the base. As many machines
    /// side by side as fit, the rest in further blocks.
    fn across_titled(&mut self, title: &str, grade: &str, columns: &text::Placed) {
        self.heading(title, grade);
        let any = |row: &Row, columns: &[(usize, &Column)]| columns.iter().any(|(index, _)| has_figure(row, *index));
        let rows = self.rows.iter().copied().filter(|row| any(row, columns));
        let rows: Vec<(Piece, &Row)> = self.labelled(rows);
        let cells: Vec<Vec<(Piece, Piece)>> =
            rows.iter().map(|(_, row)| columns.iter().map(|(index, _)| self.figure(row, *index)).collect()).collect();
        let widest = |place: usize| {
            let head = wrap(&columns[place].1.title, HEAD_WIDTH).iter().map(|line| width(line)).max().unwrap_or(0);
            let texts = cells.iter().map(|row| width(&row[place].0.text).max(width(&row[place].1.text)));
            texts.max().unwrap_or(0).max(head)
        };
        let base = text::base_name(self.table);
        let of_base = |row: &Row| match row.cells.first() {
            Some(Cell::Measured(value)) => format!("  {base} {}", row.unit.show(value.median)),
            _ => format!("  {base} –"),
        };
        let first = rows.iter().map(|(label, row)| width(&label.text).max(width(&of_base(row)))).max().unwrap_or(0);
        let first = first.min(self.options.width / 2);
        let mut place = 0;
        while place < columns.len() {
            let mut end = place;
            let mut taken = first;
            while end < columns.len() && (end == place || taken + 2 + widest(end) <= self.options.width) {
                taken += 2 + widest(end);
                end += 1;
            }
            let part_of = &columns[place..end];
            // Runs that have nothing of the base's.
            if !rows.iter().any(|(_, row)| any(row, part_of)) {
                place = end;
                continue;
            }
            if place > 0 {
                self.out.push('\n');
            }
            let titles = part_of.iter().map(|(_, column)| column.title.clone());
            let mut grid = Grid::new(["scenario".to_owned()].into_iter().chain(titles));
            for ((label, row), cells) in rows.iter().zip(&cells) {
                if !any(row, &columns[place..end]) {
                    continue;
                }
                let part = &cells[place..end];
                grid.push([label.clone()].into_iter().chain(part.iter().map(|(figure, _)| figure.clone())).collect());
                let of_base = piece(of_base(row), Style::Dim);
                grid.push([of_base].into_iter().chain(part.iter().map(|(_, standing)| standing.clone())).collect());
            }
            let means: Vec<Option<Mean>> = part_of.iter().map(|(index, _)| self.mean(*index)).collect();
            if means.iter().any(Option::is_some) {
                let cell = |mean: &Option<Mean>| {
                    mean.as_ref().map(|mean| standing::mean_figures(mean)[0].clone()).unwrap_or_default().into()
                };
                let label = piece("geometric mean", Style::Bold);
                grid.push([label].into_iter().chain(means.iter().map(cell)).collect());
            }
            self.out.push_str(&grid.write(self.options.width, self.options.colour));
            place = end;
        }
    }

    /// A figure, and how it stands to the base.
    fn figure(&mut self, row: &Row, index: usize) -> (Piece, Piece) {
        match row.cells.get(index) {
            Some(Cell::Measured(value)) => (row.unit.show(value.median).into(), self.verdict(value)),
            Some(Cell::Published(published)) => {
                let value = self.published_value(row, published);
                let standing = text::advantage(published, row.better).map(text::factor).unwrap_or_default();
                self.seen.published |= !standing.is_empty();
                (value.into(), standing.into())
            }
            Some(Cell::Nothing { why }) => {
                (piece(format!("– {}", self.footnote(&notes::lack(why).en)), Style::Dim), "".into())
            }
            _ => (piece("·", Style::Dim), "".into()),
        }
    }

    fn published_value(&mut self, row: &Row, published: &stend_compare::table::Published) -> String {
        let mut text = self.published_short(row, published);
        if let Some(note) = &published.note {
            text.push(' ');
            text.push_str(&self.footnote(note));
        }
        text
    }

    /// The figure, or the number of the footnote that has the words in its place.
    fn published_short(&mut self, row: &Row, published: &stend_compare::table::Published) -> String {
        const SHORT: usize = 12;
        match (published.value, &published.words) {
            (Some(value), _) => row.unit.show(value),
            (None, Some(words)) if width(words) <= SHORT => visible(words),
            (None, Some(words)) => self.footnote(words),
            (None, None) => "–".into(),
        }
    }

    /// Mark and change. Colour only follows the mark, and a mark is only given where there are samples on both sides.
    fn verdict(&mut self, value: &Measured) -> Piece {
        let Some(against) = &value.against_base else { return "".into() };
        self.seen.verdicts = true;
        let style = match against.verdict {
            Verdict::Better => Style::Better,
            Verdict::Worse => Style::Worse,
            Verdict::Same | Verdict::Unresolved => Style::Plain,
        };
        piece(marked_change(against), style)
    }

    fn count(&mut self, value: &Measured) -> String {
        self.seen.outliers |= value.outliers > 0;
        self.seen.some_invalid |= value.invalid > 0;
        text::count(value.valid, value.invalid, value.outliers)
    }

    /// Rows with their labels: the scenario; and where more than main metrics are shown the metric, each scenario named once.
    fn labelled(&self, rows: impl IntoIterator<Item = &'a Row>) -> Vec<(Piece, &'a Row)> {
        let mut scenario = None;
        let spread = self.table.layout.as_ref().is_some_and(stend_model::suite::Layout::spreads_metrics);
        let metrics = self.options.all_metrics || self.table.by_metric || spread;
        let label = |row: &'a Row| {
            let same = scenario.replace(&row.scenario) == Some(&row.scenario);
            let label = match (metrics, same) {
                (false, _) => row.scenario.clone(),
                (true, false) => format!("{} · {}", row.scenario, row.metric),
                (true, true) => format!("  · {}", row.metric),
            };
            (piece(label, Style::Plain), row)
        };
        rows.into_iter().map(label).collect()
    }

    /// The number of a footnote; the same words have the same number.
    fn footnote(&mut self, words: &str) -> String {
        let place = self.footnotes.iter().position(|note| note == words).unwrap_or_else(|| {
            self.footnotes.push(words.to_owned());
            self.footnotes.len() - 1
        });
        format!("[{}]", place + 1)
    }

    fn foot(&mut self) {
        let footnotes = std::mem::take(&mut self.footnotes);
        if !footnotes.is_empty() {
            self.blank();
        }
        for (index, note) in footnotes.iter().enumerate() {
            self.paragraph(&format!("[{}] ", index + 1), note, "    ", Style::Plain);
        }
        let table = self.table;
        for standing in text::standings(table) {
            self.blank();
            self.paragraph("", &standing.en, "  ", Style::Bold);
        }
        let is_laid_out = table.layout.as_ref().is_some_and(|layout| !layout.is_plain());
        for mean in standing::means(table, is_laid_out) {
            self.paragraph("", &mean.en, "  ", Style::Plain);
        }
        let without_place = notes::without_place(table);
        if !table.notes.is_empty() || !table.left_out.is_empty() || without_place.is_some() {
            self.blank();
        }
        if let Some(words) = &without_place {
            self.paragraph("Note: ", words, "  ", Style::Plain);
        }
        // That no row is shown stands where the rows would.
        let shown = table.notes.iter().filter(|note| !matches!(note, Note::OnlyRows { shown: 0, .. }));
        for note in notes::notes(shown) {
            self.paragraph("Note: ", &note.en, "  ", Style::Plain);
        }
        for left_out in &table.left_out {
            self.paragraph("Not in all runs: ", &notes::left_out(left_out).en, "  ", Style::Plain);
        }
        let legend = self.legend();
        if !legend.is_empty() {
            self.blank();
        }
        for line in legend {
            self.paragraph("", &line, "  ", Style::Dim);
        }
    }

    fn legend(&self) -> Vec<String> {
        let seen = &self.seen;
        let base = match text::base_name(self.table) {
            "base" => "the base",
            machine => machine,
        };
        let published = format!(
            "× 2.00 under a published figure: {base} is twice as good (twice the throughput, or half the time); below 1 it is worse. No test is possible, so there is no mark"
        );
        let all = [
            (seen.verdicts, "▲ better · ▼ worse · ≈ the same within δ · ? unresolved: the evidence does not say"),
            (seen.verdicts, TEXTS.legend_delta.en.trim_end_matches('.')),
            (
                seen.to_settle,
                "n to settle: about how many repeats on each side would; empty where that is over a thousand, or where repeats would not help",
            ),
            (
                seen.mean,
                "geometric mean: of the ratios of the scenarios' main metrics, each turned so that more is better",
            ),
            (seen.weighed, &weighing::meaning().en),
            (seen.published, &published),
            (seen.wide_intervals, "Under a figure of the base: the 95 % interval of its median, in the same unit"),
            (
                seen.wide_published,
                "Published figures are single numbers without samples: no test is possible, so they have no mark",
            ),
            (seen.some_invalid, "n: valid repeats, of all that were measured; invalid ones are kept and never counted"),
            (seen.outliers, "*: a value lies far from the rest by Tukey's rule; it counts"),
            (seen.too_few, "An interval of the median takes six valid repeats"),
        ];
        all.into_iter().filter(|(shown, _)| *shown).map(|(_, line): (bool, &str)| line.to_owned()).collect()
    }

    fn heading(&mut self, title: &str, more: &str) {
        self.blank();
        let room = self.options.width;
        if width(title) + 2 + width(more) <= room {
            let (title, more) = (piece(title, Style::Bold), piece(more, Style::Dim));
            let colour = self.options.colour;
            self.out.push_str(&title.styled(&title.text, colour));
            if !more.text.is_empty() {
                self.out.push_str("  ");
                self.out.push_str(&more.styled(&more.text, colour));
            }
            self.out.push('\n');
        } else {
            self.paragraph("", title, "  ", Style::Bold);
            self.paragraph("  ", more, "  ", Style::Dim);
        }
    }

    fn paragraph(&mut self, start: &str, text: &str, indent: &str, style: Style) {
        let room = self.options.width.saturating_sub(width(start).max(width(indent)));
        for (index, line) in wrap(&visible(text), room).iter().enumerate() {
            let line = piece(line.as_str(), style);
            self.out.push_str(if index == 0 { start } else { indent });
            self.out.push_str(&line.styled(&line.text, self.options.colour));
            self.out.push('\n');
        }
    }

    /// One empty line, but not at the top.
    fn blank(&mut self) {
        if !self.out.is_empty() && !self.out.ends_with("\n\n") {
            self.out.push('\n');
        }
    }
}

#[cfg(test)]
#[path = "terminal_tests.rs"]
mod tests;
