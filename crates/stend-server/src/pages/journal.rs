//! The page of the journal.

use askama::Template;
use axum::extract::{Path, Query};
use axum::response::Response;

use super::{Reader, Served, page, to};
use crate::accounts::Role;
use crate::api;
use crate::api::journal::WhichEntries;
use crate::journal::{Category, Entry};

#[derive(Template)]
#[template(path = "journal.html")]
struct Journal {
    reader: Reader,
    categories: [Category; 6],
    category: Option<Category>,
    /// The entries, and whether the reader may put back what each changed.
    entries: Vec<(Entry, bool)>,
    next: Option<i64>,
}

pub(crate) async fn journal(lab: Served, reader: Reader, Query(which): Query<WhichEntries>) -> Response {
    let category = which.category;
    let found = api::journal::entries(&lab, &which);
    let role = reader.asker().role;
    let journal = found.map(|found| {
        let known = lab.known();
        let entries = found.entries.into_iter().map(|entry| {
            let may_put_back = known.may_put_back(entry.id, role);
            (entry, may_put_back)
        });
        Journal {
            reader: reader.clone(),
            categories: Category::ALL,
            category,
            entries: entries.collect(),
            next: found.next,
        }
    });
    page(reader, journal)
}

pub(crate) async fn put_back(lab: Served, reader: Reader, Path(entry): Path<i64>) -> Response {
    let done = api::journal::was_put_back(&lab, reader.asker(), entry).await;
    to(reader, done.map(|()| "/journal".into()))
}
