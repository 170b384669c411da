//! The journal.

use std::sync::Arc;

use axum::extract::{Path, Query};
use axum::http::StatusCode;
use axum::{Extension, Json};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use stend_model::record::JSON_VERSION;

use super::accounts::stop_rest;
use super::{Answer, Served, blocking, cut, page};
use crate::accounts::Who;
use crate::error::ServerError;
use crate::former::{Former, no_change};
use crate::guard::lacks;
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

/// Makes what a change changed as it was before it, if nothing has changed the same since.
pub(crate) async fn put_back(lab: Served, who: Extension<Who>, Path(entry): Path<i64>) -> Answer<StatusCode> {
    was_put_back(&lab, who.0, entry).await.map(|()| StatusCode::NO_CONTENT)
}

pub(crate) async fn was_put_back(lab: &Arc<Lab>, who: Who, entry: i64) -> Answer<()> {
    let least = lab.known().former(entry).map(Former::needs).ok_or_else(|| no_change(entry))?;
    if who.role < least {
        return Err(lacks(least, Some(&who)));
    }
    let put_back = move |lab: &Lab| {
        let left = lab.database.change(|edit| edit.put_back(entry, who.name.as_deref()))?;
        left.map_or(Ok::<_, ServerError>(()), |name| stop_rest(&lab.database, &name, true))
    };
    Ok(blocking(lab, put_back).await??)
}
