//! The journal.

use axum::Json;
use axum::extract::Query;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use stend_model::record::JSON_VERSION;

use super::{Answer, Served, cut, page};
use crate::journal::{Category, Entry};
use crate::lab::Lab;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WhichEntries {
    pub(crate) category: Option<Category>,
    pub(crate) before: Option<i64>,
    pub(crate) limit: Option<usize>,
}

/// Entries of the journal, newest first.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Entries {
    schema_version: u32,
    /// The entries.
    pub(crate) entries: Vec<Entry>,
    /// What `before` is for the next page; none on the last one.
    pub(crate) next: Option<i64>,
}

pub(crate) async fn journal(lab: Served, Query(which): Query<WhichEntries>) -> Answer<Json<Entries>> {
    entries(&lab, &which).map(Json)
}

pub(crate) fn entries(lab: &Lab, which: &WhichEntries) -> Answer<Entries> {
    let limit = page(which.limit)?;
    let mut entries = lab.known().entries(which.category, which.before, limit + 1);
    let next = cut(&mut entries, limit, |entry| entry.id);
    Ok(Entries { schema_version: JSON_VERSION, entries, next })
}
