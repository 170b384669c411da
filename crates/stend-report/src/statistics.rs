//! What is shown of a run's own figures beside their median: in the terminal, as Markdown, for a spreadsheet, and on the page.
//!
//! A further one is a line here, its head in each language as `text-NAME`, and a field of `Measured`.

use stend_compare::table::Measured;
use stend_model::metric::Unit;

use super::doc::csv::parts;
use super::doc::{Column, Value, figures};
use super::numbers::figure;
use super::phrase::Phrase;
use super::texts::{TEXTS, Texts};
use crate::words;

/// Which tables of a comparison show it.
#[derive(PartialEq)]
enum Shown {
    /// For each run.
    ForEach,
    /// Of the base, where no change stands beside it.
    OfBase,
    /// Only the scenario's own table, which has all, and a spreadsheet.
    InDetail,
}

pub(super) struct Statistic {
    pub(super) name: &'static str,
    shown: Shown,
    /// Where a terminal has no room, the lowest goes first.
    order: u8,
    /// What its numbers are called in a spreadsheet.
    pub(super) fields: &'static [&'static str],
    value: fn(&Measured, Unit) -> Value,
}

pub(super) const STATISTICS: [Statistic; 4] = [
    Statistic {
        name: "spread",
        shown: Shown::ForEach,
        order: 1,
        fields: &["spread"],
        value: |measured, _| Value::Spread(measured.spread),
    },
    Statistic {
        name: "interval",
        shown: Shown::OfBase,
        order: 0,
        fields: &["interval_low", "interval_high"],
        value: |measured, unit| match measured.interval {
            Some(ends) => Value::Interval(unit, ends, None),
            None => TEXTS.too_few.clone().into(),
        },
    },
    Statistic {
        name: "range",
        shown: Shown::InDetail,
        order: 0,
        fields: &["minimum", "maximum"],
        value: |measured, unit| Value::Interval(unit, (measured.minimum, measured.maximum), None),
    },
    Statistic {
        name: "count",
        shown: Shown::ForEach,
        order: 2,
        fields: &["valid", "invalid", "outliers"],
        value: |measured, _| Value::Count {
            valid: measured.valid,
            invalid: measured.invalid,
            outliers: measured.outliers,
        },
    },
];

/// Those of the base's table.
pub(super) fn of_base() -> impl Iterator<Item = &'static Statistic> {
    STATISTICS.iter().filter(|one| one.shown != Shown::InDetail)
}

/// Those of each run's.
pub(super) fn of_each() -> impl Iterator<Item = &'static Statistic> {
    STATISTICS.iter().filter(|one| one.shown == Shown::ForEach)
}

impl Statistic {
    pub(super) fn of(&self, measured: &Measured, unit: Unit) -> Value {
        (self.value)(measured, unit)
    }

    fn head(&self) -> Phrase {
        words::text(self.name)
    }

    /// Its column in a document, which goes after so many others where there is no room.
    pub(super) fn column(&self, after: u8) -> Column {
        figures(self.head().english().to_lowercase()).may_go(self.order + after)
    }

    /// Its fields in a spreadsheet.
    pub(super) fn numbers(&self, measured: Option<&Measured>, unit: Unit) -> Vec<String> {
        // Words say why there is no number.
        let value = measured.map(|measured| self.of(measured, unit)).filter(|value| !matches!(value, Value::Words(_)));
        let mut numbers: Vec<String> = value.iter().flat_map(parts).map(|(_, number)| number).collect();
        numbers.resize_with(self.fields.len(), String::new);
        numbers
    }
}

/// One of them in a cell of the page.
#[derive(Default)]
pub(super) struct StatisticView {
    pub(super) said: Phrase,
    /// Whether words stand in place of a figure.
    pub(super) lacks: bool,
    /// What its column is sorted by; empty sorts last.
    pub(super) key: String,
}

impl StatisticView {
    pub(super) fn of(statistic: &Statistic, measured: Option<&Measured>, unit: Unit) -> Self {
        let Some(measured) = measured else { return Self::default() };
        let key = statistic.numbers(Some(measured), unit).swap_remove(0);
        match statistic.of(measured, unit) {
            Value::Words(said) => Self { said, lacks: true, key },
            value => Self { said: figure(&value.shown()), lacks: false, key },
        }
    }
}

impl Texts {
    /// For the templates: the heads of those that the first table shows of the base.
    #[allow(clippy::unused_self, reason = "templates reach functions through a value")]
    pub(super) fn of_each(&self) -> Vec<Phrase> {
        of_each().map(Statistic::head).collect()
    }

    /// For the templates: the heads of all.
    #[allow(clippy::unused_self, reason = "templates reach functions through a value")]
    pub(super) fn statistics(&self) -> Vec<Phrase> {
        STATISTICS.iter().map(Statistic::head).collect()
    }
}
