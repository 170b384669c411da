//! The page of the schedule.

use askama::Template;
use axum::extract::Path;
use axum::response::Response;

use super::{Reader, Served, page, to};
use crate::accounts::Role;
use crate::api;
use crate::schedule::Line;

#[derive(Template)]
#[template(path = "schedule.html")]
struct Schedule {
    reader: Reader,
    lines: Vec<Line>,
}

pub(crate) async fn schedule(lab: Served, reader: Reader) -> Response {
    let lines = lab.known().lines();
    page(reader.clone(), Ok(Schedule { reader, lines }))
}

pub(crate) async fn remove(lab: Served, reader: Reader, Path(line): Path<i64>) -> Response {
    let done = api::schedule::removed(&lab, reader.asker(), line).await;
    to(reader, done.map(|()| "/schedule".into()))
}
