//! Files that orders are made of.

use axum::Json;
use axum::extract::Path;
use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::Serialize;
use stend_model::record::JSON_VERSION;

use super::{Answer, Served, blocking, brief};
use crate::problem::Problem;

/// A file that is kept.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct KeptFile {
    schema_version: u32,
    /// By what an order names it.
    sha256: String,
}

/// Keeps a text until an order names it, for a day at least.
pub(crate) async fn keep(lab: Served, text: String) -> Answer<(StatusCode, Json<KeptFile>)> {
    let sha256 = lab.change(move |edit| edit.keep_file(&text)).await?;
    Ok((StatusCode::CREATED, Json(KeptFile { schema_version: JSON_VERSION, sha256 })))
}

pub(crate) async fn file(lab: Served, Path(sha256): Path<String>) -> Answer<String> {
    let said = format!("no file has the SHA-256 {}", brief(&sha256));
    blocking(&lab, move |lab| lab.file(&sha256)).await??.ok_or_else(|| Problem::not_found(said))
}
