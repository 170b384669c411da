//! What publications say beside the base's own figures.

use std::cmp::Ordering;

use super::text;
use stend_compare::table::{Cell, Column, ColumnOrigin, Row, Table};

/// A publication whose machines did what the base did.
pub(super) struct Publication<'a> {
    /// Its name in `stend references`, its title, and author, place and date.
    pub(super) name: &'a str,
    pub(super) title: &'a str,
    pub(super) source: &'a str,
    pub(super) blocks: Vec<Block<'a>>,
    /// What it says in words in place of a number: of which machine, on which scenario.
    pub(super) words: Vec<(&'a str, &'a str, &'a str)>,
}

/// A scenario's figures.
pub(super) struct Block<'a> {
    pub(super) row: &'a Row,
    /// The base's own first.
    pub(super) bars: Vec<Bar<'a>>,
}

/// A figure: whose it is, its interval if it was measured; how many times as good the base is, and what else is said of it.
pub(super) struct Bar<'a> {
    pub(super) label: &'a str,
    pub(super) value: f64,
    pub(super) measured: Option<(f64, f64)>,
    pub(super) factor: Option<f64>,
    pub(super) note: Option<&'a str>,
    pub(super) own: bool,
}

impl<'a> Publication<'a> {
    /// All that say something of a scenario's main metric; of another metric where they say nothing of the main one.
    pub(super) fn all(table: &'a Table) -> Vec<Self> {
        let rows: Vec<&Row> = table.rows.iter().filter(|row| table.is_asked_for(row)).collect();
        let publications = text::references(table, &rows).into_iter();
        publications.filter_map(|(name, columns)| Self::of(table, &rows, name, &columns)).collect()
    }

    fn of(table: &'a Table, rows: &[&'a Row], name: &'a str, columns: &[(usize, &'a Column)]) -> Option<Self> {
        let ColumnOrigin::Published { title, source, .. } = &columns.first()?.1.origin else { return None };
        let says = |row: &Row| columns.iter().any(|(index, _)| text::has_figure(row, *index));
        let of_main = |row: &Row| rows.iter().any(|main| main.main && main.scenario == row.scenario && says(main));
        let rows = || rows.iter().copied().filter(|row| says(row) && (row.main || !of_main(row)));
        let mut words = Vec::new();
        for row in rows() {
            for (index, column) in columns {
                if let Some(published) = row.cells.get(*index).and_then(Cell::published)
                    && let (None, Some(said)) = (published.value, &published.words)
                {
                    words.push((&*column.title, &*row.scenario, &**said));
                }
            }
        }
        let blocks: Vec<_> = rows().filter_map(|row| Block::of(table, row, columns)).collect();
        (!blocks.is_empty() || !words.is_empty()).then_some(Self { name, title, source, blocks, words })
    }

    /// The title without what explains it.
    pub(super) fn short_title(&self) -> &'a str {
        self.title.split(": ").next().unwrap_or(self.title)
    }

    /// Of its machines the one that comes nearest to the base, or leaves it behind most: what it is called, how many times as good as it the
    /// base is on each scenario, and how many machines there are.
    pub(super) fn best(&self) -> Option<(&'a str, Vec<f64>, usize)> {
        let mut machines: Vec<(&str, Vec<f64>)> = Vec::new();
        for bar in self.blocks.iter().flat_map(|block| &block.bars).filter(|bar| !bar.own) {
            let Some(factor) = bar.factor else { continue };
            match machines.iter_mut().find(|(name, _)| *name == bar.label) {
                Some((_, factors)) => factors.push(factor),
                None => machines.push((bar.label, vec![factor])),
            }
        }
        let count = machines.len();
        // A machine of which little is known is not the best for that.
        let most = machines.iter().map(|(_, factors)| factors.len()).max()?;
        let known = machines.into_iter().filter(|(_, factors)| factors.len() == most);
        let mean = |factors: &[f64]| stend_stats::mean(&factors.iter().map(|factor| factor.ln()).collect::<Vec<_>>());
        let (name, factors) =
            known.min_by(|(_, one), (_, other)| mean(one).partial_cmp(&mean(other)).unwrap_or(Ordering::Equal))?;
        Some((name, factors, count))
    }
}

impl<'a> Block<'a> {
    /// None unless both have a number.
    fn of(table: &'a Table, row: &'a Row, columns: &[(usize, &'a Column)]) -> Option<Self> {
        let own = row.measured(0)?;
        let label = &table.columns.first()?.title;
        let own = Bar { label, value: own.median, measured: own.interval, factor: None, note: None, own: true };
        let bar = |(index, column): &(usize, &'a Column)| {
            let published = row.cells.get(*index)?.published()?;
            Some(Bar {
                label: &column.title,
                value: published.value?,
                measured: None,
                factor: published.factor,
                note: published.note.as_deref(),
                own: false,
            })
        };
        let bars: Vec<_> = [own].into_iter().chain(columns.iter().filter_map(bar)).collect();
        (bars.len() > 1).then_some(Self { row, bars })
    }

    /// The end of the longest bar.
    pub(super) fn most(&self) -> f64 {
        self.bars.iter().map(|bar| bar.measured.map_or(bar.value, |(_, high)| high)).fold(0.0, f64::max)
    }
}
