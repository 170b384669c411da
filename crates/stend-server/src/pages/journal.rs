//! The page of the journal.

use askama::Template;
use axum::extract::Query;
use axum::response::Response;

use super::{Reader, Served, page};
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
    entries: Vec<Entry>,
    next: Option<i64>,
}

pub(crate) async fn journal(lab: Served, reader: Reader, Query(which): Query<WhichEntries>) -> Response {
    let category = which.category;
    let found = api::journal::entries(&lab, &which);
    let journal = found.map(|found| Journal {
        reader: reader.clone(),
        categories: Category::ALL,
        category,
        entries: found.entries,
        next: found.next,
    });
    page(reader, journal)
}
