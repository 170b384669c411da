//! Publications beside the base: a small panel each, with bars.

use crate::phrase::Phrase;
use crate::published::{Bar, Block, Publication};
use crate::scene::{Mark, Place, Role, Shape, level};
use crate::svg::{Look, elements};
use crate::text;
use crate::words::{self, Given};
use stend_compare::table::Table;

/// On which canvas a bar is drawn; it is stretched to its place.
const BAR: Place = Place { left: 0.0, top: 0.0, width: 1000.0, height: 24.0 };

/// A publication's.
pub(super) struct PublishedView {
    /// Its title, author, place and date.
    pub(super) title: String,
    pub(super) blocks: Vec<BlockView>,
    /// What it says in words, in a sentence.
    pub(super) words: Option<Phrase>,
}

/// A scenario's.
pub(super) struct BlockView {
    /// The scenario's place on the page.
    pub(super) anchor: usize,
    pub(super) scenario: String,
    pub(super) metric: String,
    pub(super) bars: Vec<BarView>,
}

pub(super) struct BarView {
    pub(super) label: String,
    pub(super) own: bool,
    pub(super) drawing: String,
    pub(super) value: String,
    pub(super) factor: String,
    pub(super) note: String,
}

/// All of them.
pub(super) fn views(table: &Table, names: &[&str]) -> Vec<PublishedView> {
    let view = |publication: &Publication| PublishedView {
        title: publication.source.to_owned(),
        blocks: publication.blocks.iter().map(|block| block_view(block, names)).collect(),
        words: said(publication),
    };
    Publication::all(table).iter().map(view).collect()
}

fn block_view(block: &Block, names: &[&str]) -> BlockView {
    let most = block.most();
    let bar = |bar: &Bar| BarView {
        label: bar.label.to_owned(),
        own: bar.own,
        drawing: elements(&marks(bar, most), Look::Page),
        value: block.row.unit.show(bar.value),
        factor: bar.factor.map(text::factor).unwrap_or_default(),
        note: bar.note.unwrap_or_default().to_owned(),
    };
    BlockView {
        anchor: names.iter().position(|name| *name == block.row.scenario).unwrap_or(0),
        scenario: block.row.scenario.clone(),
        metric: block.row.metric.clone(),
        bars: block.bars.iter().map(bar).collect(),
    }
}

fn marks(bar: &Bar, most: f64) -> Vec<Mark> {
    let long = |value: f64| (value / most * BAR.width).clamp(0.0, BAR.width);
    let place = Place { top: 5.0, width: long(bar.value), height: 14.0, ..BAR };
    let mut marks = vec![Mark::new(Role::Bar { own: bar.own }, Shape::Rectangle(place))];
    if let Some((low, high)) = bar.measured {
        marks.push(Mark::new(Role::BarInterval, level(long(low), long(high), 12.0)));
    }
    marks
}

fn said(publication: &Publication) -> Option<Phrase> {
    let one = |(machine, scenario, words): &(&str, &str, &str)| {
        let given =
            [("machine", Given::Text(machine)), ("scenario", Given::Text(scenario)), ("words", Given::Text(words))];
        words::say("published-in-words", &given)
    };
    let all: Vec<Phrase> = publication.words.iter().map(one).collect();
    (!all.is_empty()).then(|| Phrase::joined(&all, "; "))
}
