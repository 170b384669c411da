//! A comparison as a document: first the base, then the other runs, then each publication; under them what the marks mean.

use super::conformance;
use super::doc::{self, Cell, Doc, Fold, Frame, Line, Role, Row, Table, Value, figures};
use super::forest::Forest;
use super::notes;
use super::phrase::{Phrase, of_ceiling};
use super::standing;
use super::statistics;
use super::text::{self, Placed, has_figure, width};
use super::texts::TEXTS;
use super::weighing;
use super::wide::{self, Block, Group};
use crate::words;
use stend_compare::standing::standings;
use stend_compare::table::{self, Lack, Measured, Note, Published};
use stend_compare::weighing::Weighing;

const TO_SETTLE: &str = "n to settle";
const CHANGE_INTERVAL: &str = "95 % interval of change";
const CEILING: &str = "of its ceiling";

/// Makes it of the figures of all metrics, or each scenario's main one. `fingerprint` are the lines that say what the base's machine is.
pub fn document(table: &table::Table, fingerprint: &[String], all_metrics: bool) -> Doc {
    let rows = table.shown(all_metrics);
    let mut page = Page { table, rows, all_metrics, doc: Doc::default(), seen: Seen::default() };
    page.differences();
    page.doc.say(Role::Fact, fingerprint.iter().filter(|line| !line.is_empty()).map(String::as_str));
    if table.columns.is_empty() || page.rows.is_empty() {
        page.doc.say(Role::Answer, [nothing_shown(table)]);
    } else if page.is_laid_out() {
        page.laid_out();
    } else {
        page.base();
        page.other_runs();
        page.publications();
    }
    if all_metrics {
        wide::matrix_blocks(table).iter().for_each(|block| page.block(block));
    }
    conformance::sections(table).iter().for_each(|section| page.conformance(section));
    table.weighings.iter().for_each(|weighing| page.weighing(weighing));
    page.foot();
    page.doc
}

/// Why there is no row.
fn nothing_shown(table: &table::Table) -> String {
    let mut notes = table.notes.iter().filter(|note| matches!(note, Note::OnlyRows { shown: 0, .. }));
    let sentence = |words: &str| {
        let mut letters = words.chars();
        letters.next().map(|first| first.to_uppercase().chain(letters).chain(['.']).collect()).unwrap_or_default()
    };
    match notes.next() {
        Some(note) => sentence(notes::note(note).english()),
        // A note says which scenarios have none.
        None if notes::without_place(table).is_some() => "No row is shown.".into(),
        None => "Nothing was measured.".into(),
    }
}

/// Which marks the tables have: only those are explained.
#[derive(Default)]
struct Seen {
    verdicts: bool,
    /// Marks of what was measured one after the other.
    hollow: bool,
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
    table: &'a table::Table,
    rows: Vec<&'a table::Row>,
    all_metrics: bool,
    doc: Doc,
    seen: Seen,
}

impl<'a> Page<'a> {
    fn is_laid_out(&self) -> bool {
        self.table.layout.as_ref().is_some_and(|layout| !layout.is_plain())
    }

    /// What differs between the machines stands above all figures.
    fn differences(&mut self) {
        for column in self.table.columns.iter().skip(1).filter(|column| !column.differences.is_empty()) {
            self.doc.heading(format!("{} differs from {}:", column.title, self.table.columns[0].title), "");
            self.doc.say(Role::Detail, column.differences.iter().map(words::machine::in_words));
        }
    }

    /// The base with all its evidence.
    fn base(&mut self) {
        let column = &self.table.columns[0];
        // Where its figures are called so below.
        let others = text::other_runs(self.table).len();
        let published = self.table.columns.iter().any(|column| column.reference().is_some());
        let as_base = if others > 1 || others == 1 && published { " (base)" } else { "" };
        self.doc.heading(format!("{}{as_base}", column.title), text::grade(column).english());
        let of_base = |row: &&'a table::Row| row.measured(0).map_or(&[][..], |value| &value.of_ceilings);
        let ceilings = self.rows.iter().any(|row| !of_base(row).is_empty());
        let columns = [figures("median")].into_iter().chain(statistics::of_base().map(|one| one.column(0)));
        let columns = columns.chain(ceilings.then(|| figures(CEILING).folded(Fold::Lines)));
        let mut table = Table::new(self.corner(), columns, Frame::Reasons);
        for row in self.rows.clone() {
            let mut cells = match row.cells.first() {
                Some(table::Cell::Measured(value)) => {
                    self.seen.too_few |= value.interval.is_none();
                    self.see_count(value);
                    let median = Cell { is_strong: true, ..Value::Quantity(row.unit, value.median).into() };
                    let evidence = statistics::of_base().map(|one| one.of(value, row.unit).into());
                    [median].into_iter().chain(evidence).collect()
                }
                Some(cell) => vec![self.or_lacking(row, cell)],
                None => vec![Value::Lacking("".into()).into()],
            };
            let shares: Vec<Phrase> = of_base(&row).iter().map(of_ceiling).collect();
            if !shares.is_empty() {
                cells.push(Value::All(shares).into());
            }
            table.push(self.row(row, cells));
        }
        self.doc.table(table);
    }

    fn other_runs(&mut self) {
        let runs = text::other_runs(self.table);
        match runs.as_slice() {
            [] => {}
            [(index, column)] => self.one_run(*index, column),
            _ => {
                let grade = |column: &table::Column| format!("{}: {}", column.title, text::grade(column).english());
                let grades: Vec<_> = runs.iter().map(|(_, column)| grade(column)).collect();
                self.across("Other runs", &grades.join("; "), &runs);
            }
        }
    }

    /// With one other run there is room for all that is known of the change.
    fn one_run(&mut self, index: usize, column: &table::Column) {
        const ROOM_FOR_NAMES: usize = 24;
        // Characters of the forest plot.
        const DRAWN: usize = 25;
        let title = format!("{} against {}", column.title, self.table.columns[0].title);
        self.doc.heading(title, text::grade(column).english());
        let to_settle = self.rows.iter().any(|row| text::to_settle(row, index).is_some());
        self.seen.to_settle |= to_settle;
        let standings = standings(self.table);
        let found = standings.iter().find(|found| found.column == index);
        let forest = Forest::of(self.table, index, found);
        let drawn =
            forest.as_ref().map(|forest| figures(forest.head(DRAWN)).may_go_for(0, ROOM_FOR_NAMES).spare().drawn());
        let columns = [figures("median")]
            .into_iter()
            .chain(statistics::of_each().map(|one| one.column(2)))
            .chain([figures("change")])
            .chain(to_settle.then(|| figures(TO_SETTLE).may_go(2)))
            .chain([figures(CHANGE_INTERVAL).may_go_for(1, ROOM_FOR_NAMES)])
            .chain(drawn);
        let mut table = Table::new(self.corner(), columns, Frame::Ruled);
        let of_change = |change: Value, needed: Option<Value>, interval: Option<(f64, f64)>| {
            let needed = to_settle.then(|| needed.unwrap_or_default());
            let interval = interval.map(Value::ChangeInterval).unwrap_or_default();
            [change].into_iter().chain(needed).chain([interval])
        };
        let drawn_line = |scenario: Option<&String>| {
            let forest = forest.as_ref()?;
            let line = forest.lines.iter().find(|line| line.scenario.as_ref() == scenario)?;
            Some(Value::Drawn(forest.characters(line, DRAWN)))
        };
        for row in self.rows.clone() {
            let cells = match &row.cells[index] {
                table::Cell::Measured(value) => {
                    let interval = value.against_base.as_ref().and_then(|against| against.interval);
                    let of_change = of_change(self.change(value), text::to_settle(row, index), interval);
                    self.see_count(value);
                    let evidence = statistics::of_each().map(|one| one.of(value, row.unit));
                    let cells = [Value::Quantity(row.unit, value.median)].into_iter().chain(evidence);
                    let drawn = drawn_line(Some(&row.scenario)).filter(|_| row.main);
                    cells.chain(of_change).chain(drawn).map(Cell::from).collect()
                }
                cell => vec![self.or_lacking(row, cell)],
            };
            table.push(self.row(row, cells));
        }
        if let Some((design, mean)) = found.and_then(|found| Some((found.design, found.mean_of_several()?))) {
            self.seen.mean = true;
            let of_change = of_change(standing::mean_change(design, mean), None, mean.interval);
            let before = std::iter::repeat_n(Value::Nothing, 1 + statistics::of_each().count());
            let cells = before.chain(of_change).chain(drawn_line(None));
            let label = standing::mean_label(mean).english().to_owned();
            table.push(Row { is_strong: true, ..Row::new([label], cells) });
        }
        self.doc.table(table);
    }

    fn publications(&mut self) {
        for (reference, columns) in text::references(self.table, &self.rows) {
            let mut grades: Vec<String> =
                columns.iter().map(|(_, column)| text::grade(column).english().to_owned()).collect();
            grades.dedup();
            self.across(&format!("Published: {reference}"), &grades.join(", "), &columns);
        }
    }

    /// Machines across, and under each figure how it stands to the base.
    fn across(&mut self, title: &str, grade: &str, places: &Placed) {
        self.doc.heading(title, grade);
        let titles = places.iter().map(|(_, column)| figures(column.title.as_str()));
        let base = figures(text::base_name(self.table)).folded(Fold::Named);
        let columns = [base].into_iter().chain(titles);
        let mut table = Table::new(self.corner(), columns, Frame::Parts { labels: 2, groups: false });
        for row in self.rows.clone() {
            if !places.iter().any(|(index, _)| has_figure(row, *index)) {
                continue;
            }
            let of_base = row.measured(0).map_or_else(|| "–".into(), |value| Value::Quantity(row.unit, value.median));
            let figures = places.iter().map(|(index, _)| self.beside_base(row, &row.cells[*index]));
            let cells = [of_base.into()].into_iter().chain(figures).collect();
            table.push(Row { always: false, ..self.row(row, cells) });
        }
        let found = standings(self.table);
        let mean = |index: usize| {
            let found = found.iter().find(|found| found.column == index)?;
            Some(standing::mean_change(found.design, found.mean_of_several()?))
        };
        let means = places.iter().map(|(index, _)| mean(*index));
        let means: Vec<Value> = means.map(Option::unwrap_or_default).collect();
        if means.iter().any(|mean| *mean != Value::Nothing) {
            self.seen.mean = true;
            let mean = Row::new(["geometric mean".to_owned()], [Value::Nothing].into_iter().chain(means));
            table.push(Row { always: false, is_strong: true, ..mean });
        }
        self.doc.table(table);
    }

    /// A figure, and how it stands to the base.
    fn beside_base(&mut self, row: &table::Row, cell: &table::Cell) -> Cell {
        match cell {
            table::Cell::Measured(value) => {
                Cell::from(Value::Quantity(row.unit, value.median)).over(self.change(value))
            }
            table::Cell::Published(published) => {
                let standing = published.factor.map(|factor| Value::Factor(factor, None));
                self.seen.published |= standing.is_some();
                with_note(row, published).over(standing.unwrap_or_default())
            }
            table::Cell::Absent => Value::Absent.into(),
            table::Cell::Nothing { .. } => self.or_lacking(row, cell),
        }
    }

    /// What the tests of a scenario came to, and which of them differ.
    fn conformance(&mut self, section: &conformance::Section) {
        self.doc.heading(section.title.clone(), "");
        let heads = conformance::heads().map(|head| figures(head.english()));
        let mut table = Table::new(&["run"], heads, Frame::Ruled);
        for (run, counts) in &section.counts {
            table.row(run.english(), counts.map(|count| Value::Number(count as u64, "")));
        }
        self.doc.table(table);
        for list in &section.lists {
            self.doc.heading(list.title.clone(), "");
            let mut table = Table::new(&["test"], [doc::words("said")], Frame::Inset);
            for (test, said) in &list.tests {
                table.row(test.as_str(), [Value::from(said.clone())]);
            }
            self.doc.table(table);
            self.doc.say(Role::Aside, list.more.clone());
        }
    }

    /// What each machine does for a watt or for its price.
    fn weighing(&mut self, weighing: &Weighing) {
        self.doc.heading(weighing::title(weighing), "");
        let places = weighing::columns(self.table, weighing);
        let columns = places.iter().map(|(_, title)| figures(*title));
        let mut table = Table::new(&["scenario"], columns, Frame::Parts { labels: 3, groups: false });
        for row in &weighing.rows {
            let cells = places.iter().map(|(place, _)| match &row.cells[*place] {
                None => Cell::from(Value::Absent),
                Some(cell) => {
                    let standing = cell.factor.map(|factor| Value::Factor(factor, cell.interval));
                    Cell::from(Value::from(weighing::figure(weighing, row, cell))).over(standing.unwrap_or_default())
                }
            });
            table.row(row.scenario.as_str(), cells);
        }
        self.doc.table(table);
        self.doc.say(Role::Aside, weighing::sources(self.table, weighing));
        self.seen.weighed = true;
    }

    /// The table in its own layout.
    fn laid_out(&mut self) {
        let column = &self.table.columns[0];
        self.doc.heading(column.title.as_str(), text::grade(column).english());
        let others = text::other_runs(self.table).into_iter();
        let others =
            others.map(|(_, column)| format!("against it: {}, {}", column.title, text::grade(column).english()));
        self.doc.say(Role::Aside, others);
        wide::blocks(self.table, self.all_metrics).iter().for_each(|block| self.block(block));
    }

    /// Metrics or the values on an axis across, all runs and published machines of a figure under each other.
    fn block(&mut self, block: &Block) {
        if !block.title.is_empty() {
            self.doc.heading(block.title.as_str(), "");
        }
        let ceilings = block.groups.iter().any(|group| !group.ceilings.is_empty());
        let columns = block.columns.iter().map(|head| figures(head.as_str()));
        let columns = columns
            .chain([figures("n").folded(Fold::Named)])
            .chain(ceilings.then(|| figures(CEILING).folded(Fold::Lines)));
        let mut table = Table::new(&[&block.corner], columns, Frame::Parts { labels: 3, groups: true });
        for group in &block.groups {
            self.group(group, &mut table);
        }
        self.doc.table(table);
        let why = |left_out: &stend_compare::pivot::WithoutFigures| {
            format!("{}: {}", left_out.metric, notes::lack(left_out.why).english())
        };
        self.doc.say(Role::Aside, block.without.iter().map(why));
    }

    fn group(&mut self, group: &Group, table: &mut Table) {
        for line in &group.lines {
            let mut cells: Vec<Cell> = match line.lack {
                Some(lack) => vec![Value::Lacking(notes::lack(lack)).into()],
                None => line.cells.iter().map(|cell| self.wide(*cell, line.is_base)).collect(),
            };
            cells.resize_with(line.cells.len(), Cell::default);
            let count = line.count();
            self.seen.outliers |= count.as_ref().is_some_and(|count| count.outliers > 0);
            self.seen.some_invalid |= count.as_ref().is_some_and(|count| count.some_invalid);
            cells.push(count.map_or(Value::Nothing, |count| count.to_string().into()).into());
            if line.is_base && !group.ceilings.is_empty() {
                cells.push(Value::All(group.ceilings.iter().map(of_ceiling).collect()).into());
            }
            let label = if line.is_base { &group.label } else { line.label() };
            let row = Row::new([label.to_owned()], cells);
            table.push(Row { is_inner: !line.is_base, always: line.column.is_run(), ..row });
        }
    }

    /// A figure, and under that of a run what it rests on: the interval of the base's, how another run's stands to it.
    fn wide(&mut self, cell: Option<(&table::Row, &table::Cell)>, is_strong: bool) -> Cell {
        match cell {
            Some((row, table::Cell::Measured(value))) => {
                self.seen.too_few |= value.interval.is_none();
                let under = match (&value.against_base, value.interval) {
                    (Some(_), _) => self.change(value),
                    (None, Some(ends)) => {
                        self.seen.wide_intervals = true;
                        Value::Interval(row.unit, ends, Some(value.median))
                    }
                    (None, None) => value.spread.map_or(Value::Nothing, |spread| Value::Spread(Some(spread))),
                };
                Cell { is_strong, ..Value::Quantity(row.unit, value.median).into() }.over(under)
            }
            Some((row, table::Cell::Published(published))) => {
                self.seen.wide_published = true;
                published_figure(row, published)
            }
            Some((_, table::Cell::Nothing { why: Lack::NotReported { reason: None, .. } })) => {
                Value::Lacking("".into()).into()
            }
            Some((_, table::Cell::Nothing { why })) => Value::Lacking(notes::lack(why)).into(),
            Some((_, table::Cell::Absent)) | None => Value::Absent.into(),
        }
    }

    /// What stands where nothing was measured.
    fn or_lacking(&self, row: &table::Row, cell: &table::Cell) -> Cell {
        match cell {
            table::Cell::Published(published) => with_note(row, published),
            table::Cell::Nothing { why } => Value::Lacking(notes::lack(why)).into(),
            table::Cell::Measured(_) | table::Cell::Absent => Value::Lacking("".into()).into(),
        }
    }

    /// A mark is only given where there are samples on both sides.
    fn change(&mut self, value: &Measured) -> Value {
        let Some(against) = &value.against_base else { return Value::Nothing };
        self.seen.verdicts = true;
        self.seen.hollow |= !against.is_solid();
        Value::Change { verdict: against.verdict, solid: against.is_solid(), ratio: against.factor }
    }

    fn see_count(&mut self, value: &Measured) {
        self.seen.outliers |= value.outliers > 0;
        self.seen.some_invalid |= value.invalid > 0;
    }

    /// Whether labels have the metric, too: where more than main metrics are shown.
    fn corner(&self) -> &'static [&'static str] {
        let spread = self.table.layout.as_ref().is_some_and(stend_model::suite::Layout::spreads_metrics);
        if self.all_metrics || self.table.by_metric || spread { &["scenario", "metric"] } else { &["scenario"] }
    }

    fn row(&self, row: &table::Row, cells: Vec<Cell>) -> Row {
        let metric = (self.corner().len() > 1).then(|| row.metric.clone());
        Row::new([row.scenario.clone()].into_iter().chain(metric), cells)
    }

    fn foot(&mut self) {
        let table = self.table;
        self.doc.say_last(Role::Answer, conformance::headlines(table));
        self.doc.say_last(Role::Answer, text::standings(table));
        self.doc.say_last(Role::More, standing::parts(table));
        self.doc.say_last(Role::More, standing::means(table, self.is_laid_out()));
        // That no row is shown stands where the rows would.
        let shown = table.notes.iter().filter(|note| !matches!(note, Note::OnlyRows { shown: 0, .. }));
        let titles = notes::ColumnTitles::of(&table.columns);
        let without_place = notes::without_place(table).map(Phrase::from);
        let notes =
            without_place.into_iter().chain(notes::notes(shown, &titles)).map(|note| Line::labelled("Note: ", note));
        let left_out = table
            .left_out
            .iter()
            .map(|left_out| Line::labelled("Not in all runs: ", notes::left_out(left_out, &titles)));
        self.doc.say_last(Role::Note, notes.chain(left_out));
        let legend = self.legend();
        self.doc.say_last(Role::Legend, legend);
    }

    fn legend(&self) -> Vec<Line> {
        let seen = &self.seen;
        let base = match text::base_name(self.table) {
            "base" => "the base",
            machine => machine,
        };
        let published = format!(
            "× 2.00 with a published figure: {base} is twice as good (twice the throughput, or half the time); below 1 it is worse. No test is possible, so there is no mark"
        );
        let weighing = weighing::meaning();
        let all = [
            (
                seen.verdicts && !seen.hollow,
                "▲ better · ▼ worse · ≈ the same within δ · ? unresolved: insufficient evidence",
            ),
            (seen.hollow, "△ better · ▽ worse · ~ the same within δ · ? unresolved: insufficient evidence"),
            (seen.hollow, TEXTS.legend_turns.english().trim_end_matches('.')),
            (seen.verdicts, TEXTS.legend_delta.english().trim_end_matches('.')),
            (
                seen.to_settle,
                "n to settle: about how many pairs, repeats or sessions of each side would; empty where that is over a thousand",
            ),
            (
                seen.mean,
                "geometric mean: of the ratios of the scenarios' main metrics, each turned so that more is better, tested as a scenario is",
            ),
            (seen.weighed, weighing.english()),
            (seen.published, &published),
            (seen.wide_intervals, "With a figure of the base: the 95 % interval of its median, in the same unit"),
            (
                seen.wide_published,
                "Published figures are single numbers without samples: no test is possible, so they have no mark",
            ),
            (seen.some_invalid, "n: valid repeats, of all that were measured; invalid ones are kept and never counted"),
            (seen.outliers, "*: a value lies far from the rest by Tukey's rule; it counts"),
            (seen.too_few, "An interval of the median takes six valid repeats"),
        ];
        let about = |line: &str| line.starts_with(TO_SETTLE).then_some(TO_SETTLE);
        let shown = all.into_iter().filter(|(shown, _)| *shown);
        shown.map(|(_, line): (bool, &str)| Line { about: about(line), ..line.into() }).collect()
    }
}

/// A published figure with what is said of it.
fn with_note(row: &table::Row, published: &Published) -> Cell {
    let mut cell = published_figure(row, published);
    cell.notes.extend(published.note.as_deref().map(Phrase::from));
    cell
}

/// The figure, or the words in its place, which are a note where they are long.
fn published_figure(row: &table::Row, published: &Published) -> Cell {
    const SHORT: usize = 12;
    match (published.value, &published.words) {
        (Some(value), _) => Value::Quantity(row.unit, value).into(),
        (None, Some(words)) if width(words) <= SHORT => Value::from(words.as_str()).into(),
        (None, Some(words)) => Cell { notes: vec![words.as_str().into()], ..Cell::default() },
        (None, None) => Value::from("–").into(),
    }
}

#[cfg(test)]
#[path = "comparison_tests.rs"]
mod tests;
