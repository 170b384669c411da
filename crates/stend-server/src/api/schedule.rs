//! The schedule.

use std::sync::Arc;

use axum::extract::Path;
use axum::http::StatusCode;
use axum::{Extension, Json};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::accounts::{Body, read};
use stend_model::record::JSON_VERSION;
use stend_model::run::HERE;

use super::plan::planned;
use super::{Answer, Served};
use crate::accounts::Who;
use crate::database::Edit;
use crate::journal::Kind;
use crate::lab::Lab;
use crate::order::{ONE_LABEL, Order};
use crate::problem::Problem;
use crate::schedule::{Line, check};

/// The lines of the schedule.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Lines {
    schema_version: u32,
    /// The lines, oldest first.
    lines: Vec<Line>,
}

pub(crate) async fn lines(lab: Served) -> Answer<Json<Lines>> {
    Ok(Json(Lines { schema_version: JSON_VERSION, lines: lab.known().lines() }))
}

/// A line to add.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewLine {
    /// When: minute, hour, day of the month, month and day of the week, as cron has them, by this machine's clock.
    pub(crate) cron: String,
    /// What is to be measured then.
    pub(crate) order: Order,
}

pub(crate) async fn add(lab: Served, who: Extension<Who>, line: Body<NewLine>) -> Answer<(StatusCode, Json<Line>)> {
    let NewLine { cron, order } = read(line)?;
    Ok((StatusCode::CREATED, Json(added(&lab, who.0, cron, order).await?)))
}

pub(crate) async fn added(lab: &Arc<Lab>, who: Who, cron: String, order: Order) -> Answer<Line> {
    check(&cron)?;
    if order.label.is_some() {
        return Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, ONE_LABEL));
    }
    let machine = if order.machine == HERE { lab.here().to_owned() } else { order.machine };
    let order = Order { machine, ..order };
    planned(lab, &order.clone().into(), Some(&who)).await?;
    let add = move |edit: &mut Edit| {
        edit.name_files(&order)?;
        let line = edit.add_line(&cron, &order, who.name.as_deref());
        edit.note_line(Kind::ScheduleAdded, who.name.as_deref(), line.id, &cron, &order.work());
        Ok(line)
    };
    Ok(lab.change(add).await?)
}

pub(crate) async fn remove(lab: Served, who: Extension<Who>, Path(id): Path<i64>) -> Answer<StatusCode> {
    removed(&lab, who.0, id).await.map(|()| StatusCode::NO_CONTENT)
}

pub(crate) async fn removed(lab: &Arc<Lab>, who: Who, id: i64) -> Answer<()> {
    let remove = move |edit: &mut Edit| {
        let line = edit.remove_line(id);
        if let Some(line) = &line {
            edit.note_line(Kind::ScheduleRemoved, who.name.as_deref(), id, &line.cron, &line.order.work());
        }
        Ok(line.is_some())
    };
    if lab.change(remove).await? { Ok(()) } else { Err(Problem::not_found(format!("there is no line {id}"))) }
}
