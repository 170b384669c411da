//! What people are shown: one table, written for the terminal, for Markdown, for spreadsheets, and as a page of HTML.
//!
//! Only this module formats. It is given values and returns text; it neither measures nor computes a statistic.
//!
//! | module | what it writes |
//! |---|---|
//! | [`doc`] | a document, which any command may make, for terminal, Markdown and spreadsheet |
//! | [`comparison`] | the document of `stend run` and `stend compare` |
//! | [`wide`] | what stands where when metrics or axes go across, for all of these |
//! | [`why`] | for one figure, which conditions of a verdict hold |
//! | [`csv`] | every cell of a comparison with its evidence, for a spreadsheet |
//! | [`history`] | one metric over a machine's runs, as document, drawing and page |
//! | [`profile`], [`flame`] | where the time goes, as text and as a flame graph |
//! | [`figures_index`] | what is in a directory of drawings |
//! | [`scene`], [`svg`] | the marks of a drawing, and how they are written for the page and for files |
//! | [`html`] | one file with table, repeats, sample series and method, that needs no network; its drawings as files of their own |

#![deny(clippy::print_stdout, clippy::print_stderr)]

mod answer;
mod chart;
mod clocks;
pub mod comparison;
mod conformance;
pub mod csv;
mod curve;
pub mod doc;
mod dots;
#[cfg(test)]
mod example;
mod faults;
pub mod figures_index;
pub mod flame;
mod forest;
mod grid;
mod heat;
mod histogram;
pub mod history;
pub mod html;
mod latency;
mod notes;
pub mod numbers;
pub mod phrase;
mod points;
pub mod profile;
mod published;
mod reason;
mod scale;
mod scene;
mod series;
mod session;
mod sheet;
mod standing;
mod statistics;
mod svg;
pub mod text;
pub mod texts;
mod timeline;
mod weighing;
pub mod why;
mod wide;
pub mod words;

pub use clocks::how_they_stood as how_clocks_stood;
pub use faults::what_they_did as what_faults_did;
pub use grid::sequences;
pub use notes::{target_of_run, without_place};
pub use text::shell_words;
