//! A history as one file of HTML that needs no network, in each language.

use std::sync::LazyLock;

use anyhow::{Context as _, Result};
use askama::Template;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use jiff::Timestamp;
use sha2::{Digest as _, Sha256};

use super::drawing::{HistoryDrawing, drawing};
use super::words::{notes, subject, title};
use super::{columns, mark_and_size};
use crate::html::{STYLE, script};
use crate::phrase::Phrase;
use crate::text::moment;
use crate::texts::{TEXTS, Texts};
use stend_compare::history::History;

#[derive(Template)]
#[template(path = "history.html")]
struct Page<'a> {
    t: &'static Texts,
    title: Phrase,
    subject: Phrase,
    drawing: Option<HistoryDrawing>,
    rows: Vec<RowView>,
    notes: Vec<Phrase>,
    generated_at: String,
    /// What draws it anew, with the runs that there are then.
    command: &'a str,
    version: &'static str,
    style: &'static str,
    script: &'static str,
    script_digest: String,
}

/// One run.
struct RowView {
    /// The run, when it began, its median, the interval, the spread and how many repeats count.
    columns: [String; 6],
    few: bool,
    /// The change that it begins, with its class.
    change: Option<(&'static str, String)>,
}

/// What the page needs of the report's script: its language.
static SCRIPT: LazyLock<String> = LazyLock::new(|| script(include_str!("../../templates/page.js")));

/// Writes the page, which says that this command made it, and when.
///
/// # Errors
/// Only if memory for the text runs out.
pub fn page(history: &History, command: &str, generated_at: Timestamp) -> Result<String> {
    let row = |(index, point): (usize, &stend_compare::history::Point)| {
        let change = history.changes.iter().find(|change| change.point == index);
        RowView {
            columns: columns(history, point),
            few: point.interval.is_none(),
            change: change.map(|change| (if change.improved { "better" } else { "worse" }, mark_and_size(change))),
        }
    };
    let page = Page {
        t: &TEXTS,
        title: title(history),
        subject: subject(history),
        drawing: drawing(history),
        rows: history.points.iter().enumerate().map(row).collect(),
        notes: notes(history),
        generated_at: moment(generated_at),
        command,
        version: env!("CARGO_PKG_VERSION"),
        style: STYLE,
        script: &SCRIPT,
        script_digest: BASE64.encode(Sha256::digest(SCRIPT.as_bytes())),
    };
    page.render().context("the page could not be written")
}
