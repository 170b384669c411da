//! The schedule: orders that are queued again and again, at the times of a cron line.

use std::sync::Arc;
use std::time::Duration;

use croner::Cron;
use croner::parser::{CronParser, Seconds};
use jiff::{Timestamp, Zoned};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stend_model::run::HERE;

use crate::api;
use crate::database::{Edit, Records, numbered};
use crate::error::ServerError;
use crate::fleet::has_duty;
use crate::guard::now as this_second;
use crate::jobs::{Job, State};
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

/// A line as it is kept, by its number.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Planned {
    cron: String,
    order: Order,
    user: Option<String>,
    made_at: String,
}

impl Planned {
    /// Gives this machine its name in a fleet.
    pub(crate) fn name_machine(&mut self, name: &str) {
        if self.order.machine == HERE {
            name.clone_into(&mut self.order.machine);
        }
    }
}

fn line(id: i64, planned: &Planned) -> Line {
    let Planned { cron, order, user, made_at } = planned.clone();
    let next_at = next(&cron, &Zoned::now()).map(|next| next.timestamp().to_string());
    Line { id, cron, order, user, made_at, next_at }
}

/// What counts the lines that were ever added: no number is given twice.
const COUNT: &str = "line";

impl Records {
    /// All lines, oldest first.
    pub(crate) fn lines(&self) -> Vec<Line> {
        self.lines.iter().filter_map(|(id, planned)| Some(line(id.parse().ok()?, planned))).collect()
    }

    /// The SHA-256 of all files that lines name.
    pub(crate) fn files_of_lines(&self) -> impl Iterator<Item = &String> {
        self.lines.iter().flat_map(|(_, planned)| planned.order.files.values())
    }
}

impl Edit<'_, '_> {
    pub(crate) fn add_line(&mut self, cron: &str, order: &Order, user: Option<&str>) -> Line {
        let id = self.known.counts.get(COUNT).copied().unwrap_or_default() + 1;
        let (user, made_at) = (user.map(str::to_owned), Timestamp::now().to_string());
        let planned = Planned { cron: cron.to_owned(), order: order.clone(), user, made_at };
        self.put(&format!("count/{COUNT}"), &id);
        self.put(&key(id), &planned);
        line(id, &planned)
    }

    /// Removes a line, and gives it.
    pub(crate) fn remove_line(&mut self, id: i64) -> Option<Line> {
        let line = line(id, self.known.lines.get(&numbered(id))?);
        self.remove(&key(id));
        Some(line)
    }

    /// Adds a line again that was removed, or removes one that was added, and gives its times.
    pub(crate) fn put_back_line(&mut self, id: i64, before: Option<&Planned>) -> Result<String, ServerError> {
        let Some(before) = before else {
            let missing = || ServerError::Missing(format!("there is no line {id}"));
            return self.remove_line(id).map(|line| line.cron).ok_or_else(missing);
        };
        self.name_files(&before.order)?;
        self.put(&key(id), before);
        Ok(before.cron.clone())
    }
}

fn key(id: i64) -> String {
    format!("line/{}", numbered(id))
}

/// Queues what is due, for ever. A time at which no server was there is past.
pub(crate) async fn keep_time(lab: Arc<Lab>) {
    let mut changes = lab.changes();
    let mut since = Zoned::now();
    let mut had = None;
    loop {
        changes.mark_unchanged();
        while matches!(lab.change(|edit| Ok(edit.forget_some(this_second(), None))).await, Ok(true)) {}
        let lines = lab.known().lines();
        let now = Zoned::now();
        // A clock that was set back does not make the past come again: what was queued at a time has the time in its key.
        let mut start = since.min(now.clone());
        // One node of a fleet queues. Who takes that over looks back as far as nobody may have.
        let has = has_duty(&lab, "schedule").await;
        if let (true, Some(false), Some(fleet)) = (has, had, &lab.fleet) {
            start = start.saturating_sub(jiff::SignedDuration::try_from(fleet.lease() * 3).unwrap_or_default());
        }
        had = Some(has);
        for line in &lines {
            if let Some(time) = next(&line.cron, &start).filter(|time| has && *time <= now) {
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
    // Another node may have been faster.
    if lab.known().orders.iter().any(|(_, ordered)| ordered.key() == Some(&key)) {
        return;
    }
    let is_mine = |job: &Job| job.key.as_ref().is_some_and(|key| key.starts_with(&mine));
    let waits = lab.known().open_ones().any(|job| job.state == State::Waiting && is_mine(job));
    let refused = if waits {
        Some("the one before still waits".to_owned())
    } else {
        let ordered = api::jobs::ordered(lab, line.order.clone().into(), Some(key), line.user.clone(), None).await;
        ordered.err().map(|problem| problem.detail().to_owned())
    };
    if let Some(why) = refused {
        let about = format!("{} {}", line.cron, line.order.work());
        let _ = lab.note(Kind::ScheduleRefused, None, about, why).await;
    }
}
