//! The queue: runs that were asked for, in a SQLite file beside the store.
//!
//! A job has the id of its run from the beginning. So whatever happens to the server, the store and the processes that there are say how far the job is,
//! and nothing is started twice.

use std::collections::BTreeMap;

use jiff::Timestamp;
use rusqlite::{OptionalExtension as _, Row, params};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stend_model::run::HERE;

use crate::database::Database;
use crate::error::ServerError;

/// What is to be measured: words of `stend run`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Order {
    /// A suite of the program.
    #[schemars(regex(pattern = r"^[A-Za-z0-9][A-Za-z0-9_-]*$"))]
    pub(crate) suite: String,
    /// The machine: `local`, or one that `stend hosts` lists.
    #[serde(default = "here")]
    pub(crate) machine: String,
    /// What the run is to be called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) label: Option<String>,
    /// How often each scenario is measured, in place of what the suite says.
    #[schemars(range(min = 1))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) repeats: Option<u32>,
    /// What sizes and durations are multiplied by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) scale: Option<f64>,
    /// Variables of the suite, as `--set` takes them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) set: BTreeMap<String, String>,
    /// Whether to measure even if the machine is unfit; the run keeps the reasons.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) even_if_unfit: bool,
    /// A rig that is set up on this machine, to be loaded, as `--target-name` takes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) target: Option<String>,
    /// Of two jobs of a machine the one with the higher priority is measured first: -10 to 10, usually 0.
    #[schemars(range(min = -10, max = 10))]
    #[serde(default, skip_serializing_if = "is_usual")]
    pub(crate) priority: i8,
    /// Two configurations to measure alternately, as `--ab` takes them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) sides: Option<[String; 2]>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_usual(priority: &i8) -> bool {
    *priority == 0
}

fn here() -> String {
    HERE.into()
}

impl Order {
    /// The words of the command. A suite is a plain word, and other values stand in one word with their options, so none is taken for an option. (Behind
    /// `--` it would be a command to time.)
    pub(crate) fn words(&self) -> Vec<String> {
        let mut words = vec!["run".to_owned(), self.suite.clone(), format!("--on={}", self.machine)];
        words.extend(self.label.iter().map(|label| format!("--label={label}")));
        words.extend(self.repeats.iter().map(|repeats| format!("--repeats={repeats}")));
        words.extend(self.scale.iter().map(|scale| format!("--scale={scale}")));
        words.extend(self.set.iter().map(|(name, value)| format!("--set={name}={value}")));
        words.extend(self.target.iter().map(|target| format!("--target-name={target}")));
        words.extend(self.even_if_unfit.then(|| "--even-if-unfit".to_owned()));
        if let Some([a, b]) = &self.sides {
            words.extend(["--ab".to_owned(), a.clone(), b.clone()]);
        }
        words
    }

    /// The words of the command that goes on with its run.
    pub(crate) fn words_to_resume(&self, run: &str) -> Vec<String> {
        let mut words = vec!["resume".to_owned(), run.to_owned()];
        words.extend(self.even_if_unfit.then(|| "--even-if-unfit".to_owned()));
        words
    }
}

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
}

const COLUMNS: &str = "id, key, asked, run, state, reason, asked_at, began_at, ended_at, user";

impl Database {
    /// Adds an order. One with a key that another one had is that one: who asks twice, because an answer was lost, asks once.
    pub(crate) fn add(
        &self,
        order: &Order,
        key: Option<&str>,
        run: &str,
        user: Option<&str>,
    ) -> Result<Added, ServerError> {
        let asked = serde_json::to_string(order).expect("an order can be written");
        let now = Timestamp::now().to_string();
        let add = || -> rusqlite::Result<(Job, bool)> {
            let made = self.connection.execute(
                "INSERT INTO job (key, asked, machine, run, state, asked_at, user) \
                 VALUES (?1, ?2, ?3, ?4, 'waiting', ?5, ?6) ON CONFLICT (key) DO NOTHING",
                params![key, asked, order.machine, run, now, user],
            )?;
            let query = if made > 0 { "run = ?1" } else { "key = ?1" };
            let of = if made > 0 { Some(run) } else { key };
            let job = self.connection.query_row(&format!("SELECT {COLUMNS} FROM job WHERE {query}"), [of], job)?;
            Ok((job, made > 0))
        };
        let (job, is_new) = add().map_err(|source| self.explain(source))?;
        Ok(if is_new {
            Added::New(job)
        } else if job.order == *order {
            Added::Again(job)
        } else {
            Added::KeyTaken
        })
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
        self.connection
            .query_row(&format!("SELECT {COLUMNS} FROM job WHERE id = ?1"), [id], job)
            .optional()
            .map_err(|source| self.explain(source))
    }

    /// One by its run.
    pub(crate) fn job_of_run(&self, run: &str) -> Result<Option<Job>, ServerError> {
        self.connection
            .query_row(&format!("SELECT {COLUMNS} FROM job WHERE run = ?1"), [run], job)
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
    /// It is a job now.
    New(Job),
    /// It was one before, by the same key.
    Again(Job),
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
    })
}
