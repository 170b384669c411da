//! What people are shown: one table, written for the terminal, for Markdown, for spreadsheets, and as a page of HTML.
//!
//! Only this module formats. It is given values and returns text; it neither measures nor computes a statistic.
//!
//! | module | what it writes |
//! |---|---|
//! | [`terminal`] | the table of `stend run` and `stend compare` |
//! | [`wide`] | what stands where when metrics or axes go across, for all of these |
//! | [`why`] | for one figure, which conditions of a verdict hold |
//! | [`markdown`] | the same for an issue or a README |
//! | [`csv`] | every cell with its evidence, for a spreadsheet |
//! | [`history`] | one metric over a machine's runs, for terminal, Markdown and spreadsheet |
//! | [`list`] | the runs that there are |
//! | [`noise`] | how much a machine differs from itself |
//! | [`profile`], [`flame`] | where the time goes, as text and as a flame graph |
//! | [`figures_index`] | what is in a directory of drawings |
//! | [`scene`], [`svg`] | the marks of a drawing, and how they are written for the page and for files |
//! | [`html`] | one file with table, repeats, sample series and method, that needs no network; its drawings as files of their own |

mod answer;
mod chart;
mod clocks;
pub(crate) mod csv;
mod curve;
mod dots;
mod faults;
pub(crate) mod figures_index;
pub(crate) mod flame;
mod grid;
mod heat;
mod histogram;
pub(crate) mod history;
pub(crate) mod html;
pub(crate) mod language;
mod latency;
pub(crate) mod list;
pub(crate) mod markdown;
pub(crate) mod noise;
mod notes;
pub(crate) mod numbers;
pub(crate) mod phrase;
mod points;
pub(crate) mod profile;
mod reason;
#[cfg(test)]
pub(crate) mod sample;
mod scale;
mod scene;
mod series;
mod sheet;
mod standing;
mod svg;
pub(crate) mod terminal;
pub(crate) mod text;
mod timeline;
mod weighing;
pub(crate) mod why;
mod wide;

pub(crate) use clocks::how_they_stood as how_clocks_stood;
pub(crate) use faults::what_they_did as what_faults_did;
pub(crate) use grid::{sequences, wrapped};
pub(crate) use notes::{target_of_run, without_place};
pub(crate) use text::shell_words;
