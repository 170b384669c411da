//! The history of a scenario, and the published machines.

use askama::Template;
use axum::extract::{Path, Query};
use axum::response::Response;
use serde::Deserialize;

use super::{Reader, Served, page, walled_off};
use crate::accounts::Role;
use crate::problem::Problem;
use crate::work;

/// Of which scenario, and on which machine.
#[derive(Debug, Deserialize)]
pub(crate) struct Wanted {
    scenario: String,
    #[serde(default)]
    machine: String,
}

/// The page of `stend history`.
pub(crate) async fn history(lab: Served, reader: Reader, Query(wanted): Query<Wanted>) -> Response {
    let mut words = vec!["history".to_owned(), "--format=html".into(), "--output=-".into()];
    if !wanted.machine.is_empty() {
        words.push(format!("--machine={}", wanted.machine));
    }
    words.extend(["--".into(), wanted.scenario]);
    walled_off(reader, work::ask(&lab, words).await)
}

#[derive(Template)]
#[template(path = "references.html")]
struct References {
    reader: Reader,
    references: Vec<Reference>,
    /// One of them in full, as `stend references NAME` prints it.
    one: Option<(String, String)>,
}

/// A source of published figures.
#[derive(Debug, Deserialize)]
struct Reference {
    name: String,
    title: String,
    source: String,
}

#[derive(Debug, Deserialize)]
struct All {
    references: Vec<Reference>,
}

pub(crate) async fn references(lab: Served, reader: Reader) -> Response {
    let references = gathered(&lab, reader.clone(), None).await;
    page(reader, references)
}

pub(crate) async fn reference(lab: Served, reader: Reader, Path(name): Path<String>) -> Response {
    let references = gathered(&lab, reader.clone(), Some(name)).await;
    page(reader, references)
}

async fn gathered(lab: &Served, reader: Reader, name: Option<String>) -> Result<References, Problem> {
    let all: All = serde_json::from_slice(&work::ask(lab, vec!["references".into(), "--json".into()]).await?)
        .map_err(|error| Problem::new(axum::http::StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))?;
    let one = match name {
        Some(name) => {
            let text = work::ask(lab, vec!["references".into(), "--".into(), name.clone()]).await?;
            Some((name, String::from_utf8_lossy(&text).into_owned()))
        }
        None => None,
    };
    Ok(References { reader, references: all.references, one })
}
