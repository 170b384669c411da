//! The queue: runs that were asked for, in a SQLite file beside the store.
//!
//! A job has the id of its run from the beginning. So whatever happens to the server, the store and the processes that there are say how far the job is,
//! and nothing is started twice.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension as _, Row, params};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stend_model::run::HERE;

use crate::error::ServerError;

const FORMAT: i64 = 1;

const TABLES: &str = "
    CREATE TABLE job (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        key TEXT UNIQUE,
        asked TEXT NOT NULL,
        machine TEXT NOT NULL,
        run TEXT NOT NULL UNIQUE,
        state TEXT NOT NULL,
        reason TEXT,
        asked_at TEXT NOT NULL,
        began_at TEXT,
        ended_at TEXT
    ) STRICT;
    CREATE INDEX job_state ON job (state);
    CREATE TABLE secret (
        digest BLOB PRIMARY KEY,
        kind TEXT NOT NULL,
        ends_at INTEGER
    ) STRICT;
";

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
    /// Two configurations to measure alternately, as `--ab` takes them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) sides: Option<[String; 2]>,
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
        let all = [Self::Waiting, Self::Running, Self::Stopping, Self::Finished, Self::Stopped];
        all.into_iter().find(|state| state.word() == word).unwrap_or(Self::Failed)
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
    /// What is to be measured.
    pub(crate) order: Order,
    /// The id of its run, which is in the store once it has begun.
    pub(crate) run: String,
    /// How far it is.
    pub(crate) state: State,
    /// Why it failed: what the command said last.
    pub(crate) reason: Option<String>,
    /// When it was asked for.
    pub(crate) asked_at: String,
    /// When it last began.
    pub(crate) began_at: Option<String>,
    /// When it ended.
    pub(crate) ended_at: Option<String>,
}

/// The queue's file.
#[derive(Debug)]
pub(crate) struct Jobs {
    connection: Connection,
    path: PathBuf,
}

const COLUMNS: &str = "id, asked, run, state, reason, asked_at, began_at, ended_at";

impl Jobs {
    /// Opens the queue in the directory of a store, and makes it where there is none.
    pub(crate) fn open(directory: &Path) -> Result<Self, ServerError> {
        let path = directory.join("server.db");
        let connection =
            Connection::open(&path).map_err(|error| ServerError::Queue { path: path.clone(), source: error })?;
        let jobs = Self { connection, path };
        jobs.prepare().map_err(|source| jobs.explain(source))?;
        match jobs.format()? {
            FORMAT => Ok(jobs),
            found => Err(ServerError::OtherFormat { path: jobs.path, found, known: FORMAT }),
        }
    }

    fn prepare(&self) -> rusqlite::Result<()> {
        self.connection.busy_timeout(std::time::Duration::from_secs(10))?;
        self.connection.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;")?;
        let transaction = self.connection.unchecked_transaction()?;
        let format: i64 = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
        if format == 0 {
            transaction.execute_batch(TABLES)?;
            transaction.pragma_update(None, "user_version", FORMAT)?;
        }
        transaction.commit()
    }

    fn format(&self) -> Result<i64, ServerError> {
        self.connection
            .pragma_query_value(None, "user_version", |row| row.get(0))
            .map_err(|source| self.explain(source))
    }

    fn explain(&self, source: rusqlite::Error) -> ServerError {
        ServerError::Queue { path: self.path.clone(), source }
    }

    /// Adds an order. One with a key that another one had is that one: who asks twice, because an answer was lost, asks once.
    pub(crate) fn add(&self, order: &Order, key: Option<&str>, run: &str) -> Result<Added, ServerError> {
        let asked = serde_json::to_string(order).expect("an order can be written");
        let now = Timestamp::now().to_string();
        let add = || -> rusqlite::Result<(Job, bool)> {
            let transaction = self.connection.unchecked_transaction()?;
            let made = transaction.execute(
                "INSERT INTO job (key, asked, machine, run, state, asked_at) VALUES (?1, ?2, ?3, ?4, 'waiting', ?5) \
                 ON CONFLICT (key) DO NOTHING",
                params![key, asked, order.machine, run, now],
            )?;
            let query = if made > 0 { "run = ?1" } else { "key = ?1" };
            let of = if made > 0 { Some(run) } else { key };
            let job = transaction.query_row(&format!("SELECT {COLUMNS} FROM job WHERE {query}"), [of], job)?;
            transaction.commit()?;
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
    pub(crate) fn newest(&self, before: Option<i64>, limit: u32) -> Result<Vec<Job>, ServerError> {
        let query = format!("SELECT {COLUMNS} FROM job WHERE id < ?1 ORDER BY id DESC LIMIT ?2");
        self.all(&query, params![before.unwrap_or(i64::MAX), limit])
    }

    /// All that are not ended, in the order in which they were asked for.
    pub(crate) fn open_ones(&self) -> Result<Vec<Job>, ServerError> {
        let query = format!("SELECT {COLUMNS} FROM job WHERE state IN ('waiting', 'running', 'stopping') ORDER BY id");
        self.all(&query, params![])
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
        self.connection
            .execute(&query, params![id, to.word(), reason, began, ended])
            .map(|changed| changed > 0)
            .map_err(|source| self.explain(source))
    }

    /// Keeps the digest of a secret, until this second.
    pub(crate) fn keep_secret(&self, digest: &[u8], kind: &str, ends_at: Option<i64>) -> Result<(), ServerError> {
        self.connection
            .execute(
                "INSERT OR REPLACE INTO secret (digest, kind, ends_at) VALUES (?1, ?2, ?3)",
                params![digest, kind, ends_at],
            )
            .map(drop)
            .map_err(|source| self.explain(source))
    }

    /// Whether a secret of this kind is kept and has not ended.
    pub(crate) fn has_secret(&self, digest: &[u8], kind: &str, now: i64) -> Result<bool, ServerError> {
        self.connection
            .query_row(
                "SELECT count(*) FROM secret WHERE digest = ?1 AND kind = ?2 AND (ends_at IS NULL OR ends_at > ?3)",
                params![digest, kind, now],
                |row| row.get::<_, i64>(0),
            )
            .map(|count| count > 0)
            .map_err(|source| self.explain(source))
    }

    /// Forgets a secret; whether it was there.
    pub(crate) fn forget_secret(&self, digest: &[u8], kind: &str) -> Result<bool, ServerError> {
        self.connection
            .execute("DELETE FROM secret WHERE digest = ?1 AND kind = ?2", params![digest, kind])
            .map(|removed| removed > 0)
            .map_err(|source| self.explain(source))
    }

    /// Forgets all of a kind, and whatever has ended.
    pub(crate) fn forget_old(&self, kind: &str, now: i64) -> Result<(), ServerError> {
        self.connection
            .execute("DELETE FROM secret WHERE kind = ?1 OR ends_at <= ?2", params![kind, now])
            .map(drop)
            .map_err(|source| self.explain(source))
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

fn job(row: &Row) -> rusqlite::Result<Job> {
    let asked: String = row.get("asked")?;
    let order = serde_json::from_str(&asked)
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(1, rusqlite::types::Type::Text, Box::new(error)))?;
    Ok(Job {
        id: row.get("id")?,
        order,
        run: row.get("run")?,
        state: State::of_word(row.get_ref("state")?.as_str()?),
        reason: row.get("reason")?,
        asked_at: row.get("asked_at")?,
        began_at: row.get("began_at")?,
        ended_at: row.get("ended_at")?,
    })
}
