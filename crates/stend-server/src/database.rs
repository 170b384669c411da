//! What the server keeps beside the store, in one SQLite file: the queue, the schedule, who may sign in, and the journal.

use std::cell::Cell;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::error::ServerError;

/// How each format is made from the one before it; the first from an empty file. A step that was published is not changed any more.
const STEPS: &[&str] = &[
    "
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
    ",
    // Secrets of the first format were all of whoever started the server.
    "
    CREATE TABLE user (
        name TEXT PRIMARY KEY,
        role TEXT NOT NULL,
        password TEXT NOT NULL,
        made_at TEXT NOT NULL
    ) STRICT;
    ALTER TABLE secret RENAME TO old_secret;
    CREATE TABLE secret (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        digest BLOB NOT NULL UNIQUE,
        kind TEXT NOT NULL,
        user TEXT REFERENCES user (name) ON DELETE CASCADE,
        role TEXT NOT NULL,
        name TEXT NOT NULL DEFAULT '',
        made_at TEXT,
        ends_at INTEGER
    ) STRICT;
    INSERT INTO secret (digest, kind, role, ends_at) SELECT digest, kind, 'admin', ends_at FROM old_secret;
    DROP TABLE old_secret;
    ALTER TABLE job ADD COLUMN user TEXT;
    CREATE TABLE schedule (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        cron TEXT NOT NULL,
        asked TEXT NOT NULL,
        user TEXT,
        made_at TEXT NOT NULL
    ) STRICT;
    CREATE TABLE journal (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        at TEXT NOT NULL,
        kind TEXT NOT NULL,
        who TEXT,
        about TEXT NOT NULL,
        detail TEXT NOT NULL
    ) STRICT;
    CREATE TRIGGER journal_is_not_changed BEFORE UPDATE ON journal
        BEGIN SELECT RAISE (ABORT, 'the journal is not changed'); END;
    CREATE TRIGGER journal_is_not_cut BEFORE DELETE ON journal
        BEGIN SELECT RAISE (ABORT, 'the journal is not cut'); END;
    ",
    "
    CREATE TABLE told (
        destination TEXT PRIMARY KEY,
        last INTEGER NOT NULL,
        since INTEGER,
        delivered INTEGER NOT NULL DEFAULT 0,
        failed INTEGER NOT NULL DEFAULT 0,
        given_up INTEGER NOT NULL DEFAULT 0
    ) STRICT;
    ",
    // Jobs of one order for several machines or sessions.
    "
    ALTER TABLE job ADD COLUMN batch TEXT;
    ALTER TABLE job ADD COLUMN round INTEGER;
    CREATE INDEX job_batch ON job (batch);
    ",
    "
    CREATE TABLE file (
        sha256 TEXT PRIMARY KEY,
        text TEXT NOT NULL,
        kept_at INTEGER NOT NULL
    ) STRICT;
    ",
];

/// Makes an empty file for the user alone, where there is none: hashes of passwords are nobody else's. SQLite gives its other files the same mode.
pub(crate) fn private_file(path: &Path) -> std::io::Result<()> {
    std::fs::OpenOptions::new().create(true).append(true).mode(0o600).open(path).map(drop)
}

/// The server's file, open.
#[derive(Debug)]
pub(crate) struct Database {
    pub(crate) connection: Connection,
    /// Whether an entry was added to the journal since this was last false.
    pub(crate) noted: Cell<bool>,
    path: PathBuf,
}

impl Database {
    /// Opens the file in the directory of a store, and makes it where there is none. One of an older format becomes one of this format.
    pub(crate) fn open(directory: &Path) -> Result<Self, ServerError> {
        let path = directory.join("server.db");
        private_file(&path).map_err(|source| ServerError::System { what: "server.db", source })?;
        let connection =
            Connection::open(&path).map_err(|error| ServerError::Database { path: path.clone(), source: error })?;
        let database = Self { connection, noted: Cell::new(false), path };
        let found = database.prepare().map_err(|source| database.explain(source))?;
        let known = STEPS.len() as i64;
        if found == known { Ok(database) } else { Err(ServerError::OtherFormat { path: database.path, found, known }) }
    }

    /// Brings the file to this format, and gives the one that it has then: its own where that is a newer one.
    fn prepare(&self) -> rusqlite::Result<i64> {
        self.connection.busy_timeout(std::time::Duration::from_secs(10))?;
        // A table that others refer to cannot be made anew with the keys checked.
        self.connection
            .execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = OFF;")?;
        // At once to write: of two that open an old file one waits for the other.
        let transaction = Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)?;
        let format: i64 = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
        let missing = usize::try_from(format).ok().and_then(|format| STEPS.get(format..)).unwrap_or_default();
        for step in missing {
            transaction.execute_batch(step)?;
        }
        let format = format + missing.len() as i64;
        transaction.pragma_update(None, "user_version", format)?;
        transaction.commit()?;
        self.connection.execute_batch("PRAGMA foreign_keys = ON;")?;
        Ok(format)
    }

    /// Does all of it or nothing.
    pub(crate) fn at_once<T>(&self, act: impl FnOnce() -> Result<T, ServerError>) -> Result<T, ServerError> {
        let transaction = Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate);
        let transaction = transaction.map_err(|source| self.explain(source))?;
        let done = act()?;
        transaction.commit().map_err(|source| self.explain(source))?;
        Ok(done)
    }

    /// Names the file with what SQLite said.
    pub(crate) fn explain(&self, source: rusqlite::Error) -> ServerError {
        ServerError::Database { path: self.path.clone(), source }
    }
}
