//! The queue: runs that were asked for, in a SQLite file beside the store.
//!
//! A job has the id of its run from the beginning. So whatever happens to the server, the store and the processes that there are say how far the job is,
//! and nothing is started twice.

use jiff::Timestamp;
use rusqlite::{OptionalExtension as _, Row, params};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stend_model::run::fresh_run_id;

use crate::database::Database;
use crate::error::ServerError;
use crate::order::{Batch, Order};

/// How far a job is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum State {
    /// It waits for its machine.
    Waiting,
    /// It is being measured.
    Running,
    /// It was told to stop, and has not ended yet.
    Stopping,
    /// All is measured.
    Finished,
    /// It ended before all was measured.
    Failed,
    /// Somebody stopped it.
    Stopped,
}

impl State {
    pub(crate) const ALL: [Self; 6] =
        [Self::Waiting, Self::Running, Self::Stopping, Self::Finished, Self::Failed, Self::Stopped];

    /// As it is stored.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Running => "running",
            Self::Stopping => "stopping",
            Self::Finished => "finished",
            Self::Failed => "failed",
            Self::Stopped => "stopped",
        }
    }

    fn of_word(word: &str) -> Self {
        Self::ALL.into_iter().find(|state| state.word() == word).unwrap_or(Self::Failed)
    }

    /// Whether a process may be at work for it.
    pub(crate) fn is_at_work(self) -> bool {
        matches!(self, Self::Running | Self::Stopping)
    }

    /// Whether it has not ended.
    pub(crate) fn is_open(self) -> bool {
        self == Self::Waiting || self.is_at_work()
    }
}

/// A run that was asked for.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Job {
    /// Its number.
    pub(crate) id: i64,
    /// What it was asked for with, once.
    #[serde(skip)]
    pub(crate) key: Option<String>,
    /// What is to be measured.
    pub(crate) order: Order,
    /// The id of its run, which is in the store once it has begun.
    pub(crate) run: String,
    /// How far it is.
    pub(crate) state: State,
    /// Why it failed: what the command said last.
    pub(crate) reason: Option<String>,
    /// Who asked for it; none if it was whoever started the server.
    pub(crate) user: Option<String>,
    /// When it was asked for.
    pub(crate) asked_at: String,
    /// When it last began.
    pub(crate) began_at: Option<String>,
    /// When it ended.
    pub(crate) ended_at: Option<String>,
    /// If its order makes several runs: the run of the first of its jobs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) batch: Option<String>,
    /// The round that it is of then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) round: Option<u32>,
}

const COLUMNS: &str = "id, key, asked, run, state, reason, asked_at, began_at, ended_at, user, batch, round";

impl Database {
    /// Adds an order, which is done at once or not at all. One with a key that another one had is that one: who asks twice, because an answer was lost,
    /// asks once.
    pub(crate) fn add(&self, batch: &Batch, key: Option<&str>, user: Option<&str>) -> Result<Added, ServerError> {
        if let Some(added) = self.added(batch, key)? {
            return Ok(added);
        }
        let now = Timestamp::now();
        let query = format!(
            "INSERT INTO job (key, asked, machine, run, state, asked_at, user, batch, round) \
             VALUES (?1, ?2, ?3, ?4, 'waiting', ?5, ?6, ?7, ?8) RETURNING {COLUMNS}"
        );
        let mut jobs: Vec<Job> = Vec::new();
        for (round, order) in batch.orders() {
            let of = jobs.first().map_or("", |first| &first.run);
            for name in order.label.iter().chain(order.state.iter().map(|state| &state.name)) {
                self.check_unclaimed(name, of)?;
            }
            // Many are drawn in one minute, so some are drawn twice.
            let mut run = fresh_run_id(now);
            while self.job_of_run(&run)?.is_some() {
                run = fresh_run_id(now);
            }
            let first = jobs.first().map_or(&run, |first| &first.run);
            let (of, round) = if batch.runs() > 1 { (Some(first), Some(round)) } else { (None, None) };
            let key = key.filter(|_| jobs.is_empty());
            let asked = serde_json::to_string(&order).expect("an order can be written");
            let given = params![key, asked, order.machine, run, now.to_string(), user, of, round];
            let made = self.connection.query_row(&query, given, job).map_err(|source| self.explain(source))?;
            jobs.push(made);
        }
        Ok(Added::New(jobs))
    }

    /// What became of an order that had this key.
    pub(crate) fn added(&self, batch: &Batch, key: Option<&str>) -> Result<Option<Added>, ServerError> {
        let first = key.map(|key| self.one("key", key)).transpose()?.flatten();
        let Some(first) = first else { return Ok(None) };
        let there = match &first.batch {
            Some(batch) => self.jobs_of_batch(batch)?,
            None => vec![first],
        };
        let wanted = batch.orders().map(|(_, order)| order);
        let is_it = there.iter().map(|job| job.order.clone()).eq(wanted);
        Ok(Some(if is_it { Added::Again(there) } else { Added::KeyTaken }))
    }

    /// Refuses a name that a run is to get which has not begun, or several together as those of a state.
    fn check_unclaimed(&self, name: &str, of: &str) -> Result<(), ServerError> {
        let query = "SELECT run FROM job WHERE state IN ('waiting', 'running', 'stopping') AND coalesce(batch, '') <> ?2 \
                     AND ?1 IN (json_extract(asked, '$.label'), json_extract(asked, '$.state.name'))";
        let claimed: Option<String> = self
            .connection
            .query_row(query, [name, of], |row| row.get(0))
            .optional()
            .map_err(|source| self.explain(source))?;
        claimed.map_or(Ok(()), |run| Err(ServerError::Refused(format!("label: run {run} is to be called {name}"))))
    }

    /// The newest orders, newest first: each by its first job.
    pub(crate) fn newest_orders(&self, limit: usize) -> Result<Vec<Job>, ServerError> {
        let query = format!("SELECT {COLUMNS} FROM job WHERE batch IS NULL OR batch = run ORDER BY id DESC LIMIT ?1");
        self.all(&query, params![limit as i64])
    }

    /// The jobs of one order, in their order; none if there is no such batch.
    pub(crate) fn jobs_of_batch(&self, batch: &str) -> Result<Vec<Job>, ServerError> {
        self.all(&format!("SELECT {COLUMNS} FROM job WHERE batch = ?1 ORDER BY id"), params![batch])
    }

    /// The newest jobs, newest first, from before this one.
    pub(crate) fn newest(&self, before: Option<i64>, limit: usize) -> Result<Vec<Job>, ServerError> {
        let query = format!("SELECT {COLUMNS} FROM job WHERE id < ?1 ORDER BY id DESC LIMIT ?2");
        self.all(&query, params![before.unwrap_or(i64::MAX), limit as i64])
    }

    /// All that are not ended, in the order in which they are measured.
    pub(crate) fn open_ones(&self) -> Result<Vec<Job>, ServerError> {
        let query = format!("SELECT {COLUMNS} FROM job WHERE state IN ('waiting', 'running', 'stopping') ORDER BY id");
        let mut jobs = self.all(&query, params![])?;
        jobs.sort_by_key(|job| std::cmp::Reverse(job.order.priority));
        Ok(jobs)
    }

    fn all(&self, query: &str, given: impl rusqlite::Params) -> Result<Vec<Job>, ServerError> {
        let read = || -> rusqlite::Result<Vec<Job>> {
            self.connection.prepare_cached(query)?.query_map(given, job)?.collect()
        };
        read().map_err(|source| self.explain(source))
    }

    /// One by its number.
    pub(crate) fn job(&self, id: i64) -> Result<Option<Job>, ServerError> {
        self.one("id", id)
    }

    /// One by its run.
    pub(crate) fn job_of_run(&self, run: &str) -> Result<Option<Job>, ServerError> {
        self.one("run", run)
    }

    fn one(&self, column: &str, value: impl rusqlite::ToSql) -> Result<Option<Job>, ServerError> {
        self.connection
            .query_row(&format!("SELECT {COLUMNS} FROM job WHERE {column} = ?1"), [value], job)
            .optional()
            .map_err(|source| self.explain(source))
    }

    /// Sets a job from one of these states to another; whether it was in one of them.
    pub(crate) fn set(&self, id: i64, from: &[State], to: State, reason: Option<&str>) -> Result<bool, ServerError> {
        let now = Timestamp::now().to_string();
        let (began, ended) = match to {
            State::Running => (Some(&now), None),
            State::Waiting | State::Stopping => (None, None),
            State::Finished | State::Failed | State::Stopped => (None, Some(&now)),
        };
        let from: Vec<_> = from.iter().map(|state| format!("'{}'", state.word())).collect();
        let query = format!(
            "UPDATE job SET state = ?2, reason = ?3, began_at = coalesce(?4, began_at), ended_at = ?5 WHERE id = ?1 AND state IN ({})",
            from.join(", ")
        );
        self.change(&query, params![id, to.word(), reason, began, ended])
    }
}

/// What became of an order.
#[derive(Debug, PartialEq)]
pub(crate) enum Added {
    /// These are its jobs now.
    New(Vec<Job>),
    /// These were its jobs before, by the same key.
    Again(Vec<Job>),
    /// Another order had that key.
    KeyTaken,
}

/// What a row asks for.
pub(crate) fn order(row: &Row) -> rusqlite::Result<Order> {
    let asked: String = row.get("asked")?;
    serde_json::from_str(&asked)
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(1, rusqlite::types::Type::Text, Box::new(error)))
}

fn job(row: &Row) -> rusqlite::Result<Job> {
    Ok(Job {
        id: row.get("id")?,
        key: row.get("key")?,
        order: order(row)?,
        run: row.get("run")?,
        state: State::of_word(row.get_ref("state")?.as_str()?),
        reason: row.get("reason")?,
        user: row.get("user")?,
        asked_at: row.get("asked_at")?,
        began_at: row.get("began_at")?,
        ended_at: row.get("ended_at")?,
        batch: row.get("batch")?,
        round: row.get("round")?,
    })
}
