//! What a command shows, before it is written: titles, sentences and tables of typed values. Builders make a document of facts, and a writer
//! for each form knows nothing of what it writes.

pub(super) mod csv;
mod markdown;
mod terminal;

use std::borrow::Cow;

use clap::ValueEnum;
use jiff::Timestamp;
use stend_model::metric::Unit;

use super::phrase::Phrase;
use super::text;
use stend_compare::table::Verdict;

pub use terminal::NARROWEST;

/// A format that every document has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Form {
    /// A table for a terminal
    Table,
    /// A Markdown table; or: markdown
    #[value(name = "md", alias = "markdown")]
    Markdown,
    /// CSV for spreadsheets: every figure with its evidence
    Csv,
}

impl Form {
    /// The end of a file's name.
    pub fn ending(self) -> &'static str {
        match self {
            Self::Table => "txt",
            Self::Markdown => "md",
            Self::Csv => "csv",
        }
    }

    /// A document in it; width and colour are a terminal's.
    pub fn write(self, document: &Doc, width: usize, colour: bool) -> String {
        match self {
            Self::Table => document.terminal(width, colour),
            Self::Markdown => document.markdown(),
            Self::Csv => document.csv(),
        }
    }
}

/// What is shown.
#[derive(Debug, Default)]
pub struct Doc {
    pub body: Vec<Block>,
    /// What stands under all tables, behind their footnotes.
    pub foot: Vec<Block>,
}

#[derive(Debug)]
pub enum Block {
    /// A title, and what is to be known of all that stands under it.
    Heading(Phrase, Phrase),
    Lines(Role, Vec<Line>),
    Table(Table),
    Trend(Trend),
}

/// What sentences are to their reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// What is shown, before all tables.
    Fact,
    /// What is to be known of the title or the table above.
    Aside,
    /// What belongs to the title above and is read with it.
    Detail,
    /// What a reader came for.
    Answer,
    /// What is said besides.
    More,
    /// A change of a level, better or worse.
    Change(Verdict),
    /// What such a change came with.
    Cause,
    Note,
    /// What marks and words of the tables mean.
    Legend,
}

/// A sentence.
#[derive(Debug)]
pub struct Line {
    /// A word in front of it.
    pub label: &'static str,
    pub said: Phrase,
    /// The column that it explains, if it explains one: it is not said where there is no room for that.
    pub about: Option<&'static str>,
}

/// Values in the order of time, with what changed at each.
#[derive(Debug)]
pub struct Trend {
    pub unit: Unit,
    pub values: Vec<(f64, Option<Verdict>)>,
}

#[derive(Debug, Clone)]
pub struct Table {
    /// What its labels are made of.
    pub corner: Vec<String>,
    pub columns: Vec<Column>,
    pub rows: Vec<Row>,
    pub frame: Frame,
}

/// How a terminal shows a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Frame {
    /// Under a head and a rule; where it has no room in full, columns are left out.
    Ruled,
    /// The same, with the reasons for missing figures beside their labels where they find room.
    Reasons,
    /// The same, with further columns in further parts, beside which labels have up to this part of the width.
    Parts { labels: usize, groups: bool },
    /// Under a head.
    Head,
    /// Without a head: words beside words.
    Bare,
    /// The same, set in, its lines broken where they are too long.
    Inset,
    /// A paragraph for each row.
    Entries,
}

#[derive(Debug, Clone)]
pub struct Column {
    pub head: String,
    /// What stands under its values, for those who give it a column of its own.
    pub under: &'static str,
    pub side: Side,
    pub optional: Option<Optional>,
    pub fold: Fold,
    /// Whether it is a drawing in characters, which only a terminal shows.
    pub is_drawn: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    Left,
    Right,
}

/// A column that may be left out.
#[derive(Debug, Clone, Copy)]
pub struct Optional {
    /// The lowest goes first.
    pub order: u8,
    /// It goes where the others leave the labels less room than this.
    pub room: usize,
    /// Whether something else says the same, so that nobody misses it.
    pub is_spare: bool,
}

/// Where a column goes that has no place beside the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fold {
    Beside,
    /// Under the label, with its head before it.
    Named,
    /// Under the row, in lines of their own.
    Lines,
}

#[derive(Debug, Clone)]
pub struct Row {
    /// A part for each part of the corner. A row that has the first part of the one above it is a further one of that.
    pub label: Vec<String>,
    /// Whether it stands under the label of a group.
    pub is_inner: bool,
    pub is_strong: bool,
    /// Whether it is written also where it says nothing.
    pub always: bool,
    /// One for each column.
    pub cells: Vec<Cell>,
}

#[derive(Debug, Clone, Default)]
pub struct Cell {
    pub value: Value,
    /// What the value rests on, or how it stands to another.
    pub under: Value,
    pub notes: Vec<Phrase>,
    pub is_strong: bool,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub enum Value {
    #[default]
    Nothing,
    /// There is no such figure.
    Absent,
    /// Why there is no figure, of all cells of its row if it is the first of them and the others have nothing.
    Lacking(Phrase),
    Words(Phrase),
    /// Several that belong to one value.
    All(Vec<Phrase>),
    Number(u64, &'static str),
    Quantity(Unit, f64),
    /// An interval; the unit is not said beside the value that it belongs to.
    Interval(Unit, (f64, f64), Option<f64>),
    Spread(Option<f64>),
    Share(f64),
    Count {
        valid: u32,
        invalid: u32,
        outliers: u32,
    },
    /// A ratio and what it is taken for.
    Change {
        verdict: Verdict,
        solid: bool,
        ratio: Option<f64>,
    },
    Ratio(f64),
    ChangeInterval((f64, f64)),
    /// A line of a drawing in characters, which only a terminal shows.
    Drawn(String),
    /// How many times as good.
    Factor(f64, Option<(f64, f64)>),
    /// About so many pairs, repeats or sessions, or so many at least.
    Needed {
        numbers: usize,
        at_least: bool,
    },
    Moment(Timestamp),
}

impl Doc {
    /// A table alone.
    pub fn of(table: Table) -> Self {
        Self { body: vec![Block::Table(table)], ..Self::default() }
    }

    pub fn heading(&mut self, title: impl Into<Phrase>, more: impl Into<Phrase>) {
        self.body.push(Block::Heading(title.into(), more.into()));
    }

    pub fn say(&mut self, role: Role, lines: impl IntoIterator<Item = impl Into<Line>>) {
        add(&mut self.body, role, lines);
    }

    /// Says it under all tables.
    pub fn say_last(&mut self, role: Role, lines: impl IntoIterator<Item = impl Into<Line>>) {
        add(&mut self.foot, role, lines);
    }

    pub fn table(&mut self, table: Table) {
        self.body.push(Block::Table(table));
    }

    /// A table with its title, unless it has no row.
    pub fn titled_table(&mut self, title: &'static str, table: Table) {
        self.body.extend(titled(title, table));
    }

    /// The same under all that is said.
    pub fn titled_table_last(&mut self, title: &'static str, table: Table) {
        self.foot.extend(titled(title, table));
    }

    /// Another document under this one.
    pub fn append(&mut self, other: Self) {
        self.body.extend(other.body);
        self.foot.extend(other.foot);
    }

    /// For a terminal of this width.
    pub fn terminal(&self, width: usize, colour: bool) -> String {
        terminal::write(self, width, colour)
    }

    /// For a page or a pull request, as GitHub reads it.
    pub fn markdown(&self) -> String {
        markdown::write(self)
    }

    /// The tables for a spreadsheet, numbers in full precision.
    pub fn csv(&self) -> String {
        csv::write(self)
    }
}

fn titled(title: &'static str, table: Table) -> impl Iterator<Item = Block> {
    let is_empty = table.rows.is_empty();
    [Block::Heading(title.into(), "".into()), Block::Table(table)].into_iter().filter(move |_| !is_empty)
}

fn add(blocks: &mut Vec<Block>, role: Role, lines: impl IntoIterator<Item = impl Into<Line>>) {
    let lines: Vec<Line> = lines.into_iter().map(Into::into).collect();
    if !lines.is_empty() {
        blocks.push(Block::Lines(role, lines));
    }
}

impl<T: Into<Phrase>> From<T> for Line {
    fn from(said: T) -> Self {
        Self { label: "", said: said.into(), about: None }
    }
}

impl Line {
    pub fn labelled(label: &'static str, said: impl Into<Phrase>) -> Self {
        Self { label, ..said.into().into() }
    }
}

impl Table {
    pub fn new(corner: &[&str], columns: impl IntoIterator<Item = Column>, frame: Frame) -> Self {
        let corner = corner.iter().map(|part| (*part).to_owned()).collect();
        Self { corner, columns: columns.into_iter().collect(), rows: Vec::new(), frame }
    }

    /// With these rows.
    pub fn of(
        corner: &[&str],
        columns: impl IntoIterator<Item = Column>,
        frame: Frame,
        rows: impl Iterator<Item = Row>,
    ) -> Self {
        let mut table = Self::new(corner, columns, frame);
        rows.for_each(|row| table.push(row));
        table
    }

    /// Without the columns that only a terminal shows.
    fn without_drawings(&self) -> Cow<'_, Self> {
        if !self.columns.iter().any(|column| column.is_drawn) {
            return Cow::Borrowed(self);
        }
        let kept: Vec<bool> = self.columns.iter().map(|column| !column.is_drawn).collect();
        fn taken<T: Clone>(all: &[T], kept: &[bool]) -> Vec<T> {
            all.iter().zip(kept).filter(|(_, kept)| **kept).map(|(one, _)| one.clone()).collect()
        }
        let row = |row: &Row| Row { cells: taken(&row.cells, &kept), ..row.clone() };
        Cow::Owned(Self {
            corner: self.corner.clone(),
            columns: taken(&self.columns, &kept),
            rows: self.rows.iter().map(row).collect(),
            frame: self.frame,
        })
    }

    pub fn row(&mut self, label: impl Into<String>, cells: impl IntoIterator<Item = impl Into<Cell>>) {
        self.push(Row::new([label.into()], cells));
    }

    /// A row; where it has fewer cells than there are columns, with nothing in the last ones.
    pub fn push(&mut self, mut row: Row) {
        row.cells.resize_with(self.columns.len(), Cell::default);
        self.rows.push(row);
    }
}

impl Row {
    pub fn new(label: impl IntoIterator<Item = String>, cells: impl IntoIterator<Item = impl Into<Cell>>) -> Self {
        Self {
            label: label.into_iter().collect(),
            is_inner: false,
            is_strong: false,
            always: true,
            cells: cells.into_iter().map(Into::into).collect(),
        }
    }

    /// Its label, with all parts that it has.
    fn label(&self) -> String {
        self.label.join(" · ")
    }

    /// Why it has no figure at all, where it says that in place of them.
    fn instead(&self) -> Option<&Value> {
        let (first, others) = self.cells.split_first()?;
        let is_reason = matches!(first.value, Value::Lacking(_));
        let empty = |cell: &Cell| cell.value == Value::Nothing && cell.under == Value::Nothing;
        (is_reason && others.iter().all(empty)).then_some(&first.value)
    }
}

impl From<Value> for Cell {
    fn from(value: Value) -> Self {
        Self { value, ..Self::default() }
    }
}

impl Cell {
    pub fn over(self, under: Value) -> Self {
        Self { under, ..self }
    }
}

impl<T: Into<Phrase>> From<T> for Value {
    fn from(words: T) -> Self {
        Self::Words(words.into())
    }
}

/// A column of words, which are set left.
pub fn words(head: impl Into<String>) -> Column {
    Column { side: Side::Left, ..figures(head) }
}

/// A column of figures, which are set right.
pub fn figures(head: impl Into<String>) -> Column {
    Column { head: head.into(), under: "", side: Side::Right, optional: None, fold: Fold::Beside, is_drawn: false }
}

impl Column {
    /// It may be left out; the lowest goes first.
    pub fn may_go(self, order: u8) -> Self {
        self.may_go_for(order, 0)
    }

    /// It may be left out where the labels have less room than this.
    pub fn may_go_for(self, order: u8, room: usize) -> Self {
        Self { optional: Some(Optional { order, room, is_spare: false }), ..self }
    }

    /// It is one that nobody misses where it is left out.
    pub fn spare(mut self) -> Self {
        self.optional.iter_mut().for_each(|optional| optional.is_spare = true);
        self
    }

    pub fn folded(self, fold: Fold) -> Self {
        Self { fold, ..self }
    }

    /// It is a drawing in characters.
    pub fn drawn(self) -> Self {
        Self { is_drawn: true, ..self }
    }

    pub fn with_under(self, under: &'static str) -> Self {
        Self { under, ..self }
    }
}

impl Value {
    /// As people read it, without the words of a reason.
    pub fn shown(&self) -> String {
        match self {
            Self::Nothing => String::new(),
            Self::Absent => "·".into(),
            Self::Lacking(_) => "–".into(),
            Self::Words(words) => words.english().to_string(),
            Self::All(all) => all.iter().map(|words| words.english()).collect::<Vec<_>>().join("; "),
            Self::Number(number, "") => number.to_string(),
            Self::Number(number, what) => format!("{number} {what}"),
            Self::Quantity(unit, value) => unit.show(*value),
            Self::Interval(unit, (low, high), None) => text::interval(*unit, *low, *high),
            Self::Interval(unit, ends, Some(beside)) => text::interval_beside(*unit, *beside, *ends),
            Self::Spread(spread) => text::spread(*spread),
            Self::Share(share) => text::percent(*share),
            Self::Count { valid, invalid, outliers } => text::count(*valid, *invalid, *outliers),
            Self::Change { verdict, solid, ratio } => text::marked(*verdict, *solid, *ratio),
            Self::Ratio(ratio) => text::change(*ratio),
            Self::ChangeInterval(ends) => text::change_interval(*ends),
            Self::Drawn(drawn) => drawn.clone(),
            Self::Factor(factor, None) => text::factor(*factor),
            Self::Factor(factor, Some((low, high))) => {
                let ends = [low, high].map(|end| text::factor(*end).trim_start_matches("× ").to_owned());
                format!("{} ({})", text::factor(*factor), ends.join(" … "))
            }
            Self::Needed { numbers, at_least } => format!("{} {numbers}", if *at_least { '≥' } else { '≈' }),
            Self::Moment(moment) => moment.strftime("%Y-%m-%d %H:%M").to_string(),
        }
    }
}
