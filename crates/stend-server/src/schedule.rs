//! The schedule: orders that are queued again and again, at the times of a cron line.

use std::sync::Arc;
use std::time::Duration;

use croner::Cron;
use croner::parser::{CronParser, Seconds};
use jiff::{Timestamp, Zoned};
use rusqlite::{OptionalExtension as _, Row, params};
use schemars::JsonSchema;
use serde::Serialize;

use crate::api;
use crate::database::Database;
use crate::error::ServerError;
use crate::guard::now as this_second;
use crate::jobs::State;
use crate::journal::Kind;
use crate::lab::Lab;
use crate::order::Order;

/// The clock is looked at so often: it may be set meanwhile.
const LONGEST_SLEEP: Duration = Duration::from_secs(60);

/// A line of the schedule.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Line {
    /// Its number.
    pub(crate) id: i64,
    /// When, as it was given.
    pub(crate) cron: String,
    /// What is measured then.
    pub(crate) order: Order,
    /// Who added it; none if it was whoever started the server.
    pub(crate) user: Option<String>,
    /// When it was added.
    pub(crate) made_at: String,
    /// When it is next queued; none if never.
    pub(crate) next_at: Option<String>,
}

/// The times of a cron line, or what is wrong with it.
fn parse(cron: &str) -> Result<Cron, ServerError> {
    // Seconds are of use to tests alone, and do no harm.
    CronParser::builder().seconds(Seconds::Optional).build().parse(cron).map_err(|error| {
        ServerError::Refused(format!(
            "cron: {}: {error}; it is minute, hour, day, month and day of the week, as in 30 2 * * 1-5",
            cron.chars().take(80).collect::<String>()
        ))
    })
}

/// Refuses times that never come.
pub(crate) fn check(cron: &str) -> Result<(), ServerError> {
    parse(cron)?;
    let never = || ServerError::Refused("cron: this time never comes".into());
    next(cron, &Zoned::now()).map(drop).ok_or_else(never)
}

/// The next time behind this one.
fn next(cron: &str, after: &Zoned) -> Option<Zoned> {
    parse(cron).ok()?.find_next_occurrence(after, false).ok()
}

impl Database {
    /// All lines, oldest first.
    pub(crate) fn lines(&self) -> Result<Vec<Line>, ServerError> {
        let read = || -> rusqlite::Result<Vec<Line>> {
            let mut query = self.connection.prepare_cached("SELECT * FROM schedule ORDER BY id")?;
            query.query_map([], line)?.collect()
        };
        read().map_err(|source| self.explain(source))
    }

    pub(crate) fn add_line(&self, cron: &str, order: &Order, user: Option<&str>) -> Result<Line, ServerError> {
        let asked = serde_json::to_string(order).expect("an order can be written");
        self.connection
            .query_row(
                "INSERT INTO schedule (cron, asked, user, made_at) VALUES (?1, ?2, ?3, ?4) RETURNING *",
                params![cron, asked, user, Timestamp::now().to_string()],
                line,
            )
            .map_err(|source| self.explain(source))
    }

    /// Removes a line, and gives it.
    pub(crate) fn remove_line(&self, id: i64) -> Result<Option<Line>, ServerError> {
        self.connection
            .query_row("DELETE FROM schedule WHERE id = ?1 RETURNING *", [id], line)
            .optional()
            .map_err(|source| self.explain(source))
    }
}

fn line(row: &Row) -> rusqlite::Result<Line> {
    let cron: String = row.get("cron")?;
    let next_at = next(&cron, &Zoned::now()).map(|next| next.timestamp().to_string());
    Ok(Line {
        id: row.get("id")?,
        order: crate::jobs::order(row)?,
        user: row.get("user")?,
        made_at: row.get("made_at")?,
        cron,
        next_at,
    })
}

/// Queues what is due, for ever. A time at which no server was there is past.
pub(crate) async fn keep_time(lab: Arc<Lab>) {
    let mut changes = lab.changes();
    let mut since = Zoned::now();
    loop {
        changes.mark_unchanged();
        let _ = lab.with(|database| database.forget_ended(this_second())).await;
        let lines = lab.with(Database::lines).await.unwrap_or_default();
        let now = Zoned::now();
        // A clock that was set back does not make the past come again: what was queued at a time has the time in its key.
        let start = since.min(now.clone());
        for line in &lines {
            if let Some(time) = next(&line.cron, &start).filter(|time| *time <= now) {
                queue(&lab, line, &time).await;
            }
        }
        since = now;
        let soonest = lines.iter().filter_map(|line| next(&line.cron, &since)).min();
        let wait = soonest.and_then(|next| Duration::try_from(Zoned::now().duration_until(&next)).ok());
        let wait = wait.unwrap_or(LONGEST_SLEEP).min(LONGEST_SLEEP);
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            changed = changes.changed() => if changed.is_err() { return },
        }
    }
}

async fn queue(lab: &Arc<Lab>, line: &Line, time: &Zoned) {
    // No key that is sent holds this character.
    let mine = format!("line\u{1f}{}\u{1f}", line.id);
    let key = format!("{mine}{}", time.timestamp());
    let open = lab.with(Database::open_ones).await.unwrap_or_default();
    let waits = open
        .iter()
        .any(|job| job.state == State::Waiting && job.key.as_ref().is_some_and(|key| key.starts_with(&mine)));
    let refused = if waits {
        Some("the one before still waits".to_owned())
    } else {
        let ordered = api::jobs::ordered(lab, line.order.clone().into(), Some(key), line.user.clone()).await;
        ordered.err().map(|problem| problem.detail().to_owned())
    };
    if let Some(why) = refused {
        let about = format!("{} {}", line.cron, line.order.work());
        let _ = lab.with(move |database| database.note(Kind::ScheduleRefused, None, &about, &why)).await;
    }
}
