//! The table that everything shows: scenarios down, machines across.
//!
//! It holds numbers and verdicts, no text for people: the terminal, the report, JSON and Markdown each write it their way.

use serde::Serialize;
use stend_model::machine::Difference;
use stend_model::metric::{Better, Unit};
use stend_model::reference::Grade;

/// A comparison of one run with others and with published machines.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Table {
    /// Columns; the first is the base that the others are held against.
    pub(crate) columns: Vec<Column>,
    /// Rows, in the order of the base's suite.
    pub(crate) rows: Vec<Row>,
    /// Scenarios that only some of the runs have, as `scenario: which`.
    pub(crate) left_out: Vec<String>,
    /// Things that a reader should know before reading it, as sentences: scaled parameters, different builds, few repeats.
    pub(crate) notes: Vec<String>,
}

/// One machine, or one run of it.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Column {
    /// Its name over the column.
    pub(crate) title: String,
    /// What it is.
    pub(crate) origin: ColumnOrigin,
    /// How good the evidence is.
    pub(crate) grade: Grade,
    /// In what its machine differs from the base's.
    pub(crate) differences: Vec<Difference>,
}

/// Where a column comes from.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "lowercase", tag = "kind")]
pub(crate) enum ColumnOrigin {
    /// A run here.
    Run {
        /// Its id.
        id: String,
        /// How many sessions it has.
        sessions: u32,
    },
    /// A publication.
    Published {
        /// The reference's name.
        reference: String,
        /// The machine's short name in it.
        machine: String,
        /// What the publication says of the machine.
        description: String,
        /// Author, place and date.
        source: String,
    },
}

/// One metric of one scenario.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Row {
    /// The scenario's name.
    pub(crate) scenario: String,
    /// The metric's name.
    pub(crate) metric: String,
    /// Its unit.
    pub(crate) unit: Unit,
    /// Which way is better.
    pub(crate) better: Better,
    /// Whether it is the scenario's main metric.
    pub(crate) main: bool,
    /// One cell for each column.
    pub(crate) cells: Vec<Cell>,
}

/// What a column has for a row.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "lowercase", tag = "kind")]
pub(crate) enum Cell {
    /// It was measured here.
    Measured(Measured),
    /// It was published.
    Published(Published),
    /// The scenario is there, but no repeat counts.
    Nothing {
        /// Why: skipped, or what went wrong with the repeats.
        reason: String,
    },
    /// There is no such figure.
    Absent,
}

/// A measured value with its evidence.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Measured {
    /// Median of the valid repeats, in the row's unit.
    pub(crate) median: f64,
    /// 95 % interval of the median by order statistics; none below six repeats.
    pub(crate) interval: Option<(f64, f64)>,
    /// Smallest value.
    pub(crate) minimum: f64,
    /// Largest value.
    pub(crate) maximum: f64,
    /// Spread: 1.4826 × median absolute deviation / median.
    pub(crate) spread: f64,
    /// Valid repeats.
    pub(crate) valid: u32,
    /// Measured repeats that do not count.
    pub(crate) invalid: u32,
    /// Values marked by Tukey's rule as far from the rest. They count.
    pub(crate) outliers: u32,
    /// How it stands to the base; none in the base's own column.
    pub(crate) against_base: Option<AgainstBase>,
}

/// A measured value held against the base.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct AgainstBase {
    /// This median over the base's.
    pub(crate) ratio: f64,
    /// 95 % interval of the ratio.
    pub(crate) interval: Option<(f64, f64)>,
    /// p of the two-sided exact test, corrected for the whole table by Benjamini and Hochberg.
    pub(crate) q: Option<f64>,
    /// Differences smaller than this share do not matter here.
    pub(crate) floor: f64,
    /// What the runs differ from themselves, first half against second half, as a share: a difference is better or worse only beyond it.
    pub(crate) drift: Option<f64>,
    /// What is to be said of it.
    pub(crate) verdict: Verdict,
    /// About how many repeats on each side would settle it, where it is unresolved.
    pub(crate) repeats_needed: Option<u32>,
}

/// What is to be said of a difference, seen from this column: `Better` means that this column is better than the base.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Verdict {
    /// Better than the base.
    Better,
    /// Worse than the base.
    Worse,
    /// The same within the floor.
    Same,
    /// The evidence does not say.
    Unresolved,
}

/// A published figure. It is never coloured: there are no samples to test.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Published {
    /// The number in the row's unit, if there is one.
    pub(crate) value: Option<f64>,
    /// What the publication says instead of a number.
    pub(crate) words: Option<String>,
    /// The base's median over this number.
    pub(crate) ratio: Option<f64>,
    /// What a reader should know about it.
    pub(crate) note: Option<String>,
}
