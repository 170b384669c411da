//! Where runs are kept: one SQLite file, embedded.
//!
//! A repeat is on disk before the next one starts (write-ahead log, `synchronous = FULL`). A finished run cannot be
//! changed; triggers in the tables see to that. Everything that was measured is stored, nothing that is computed from it.

mod blob;
mod error;
mod export;
mod lock;
mod profiles;
mod schema;
mod write;

use std::collections::BTreeSet;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::types::{FromSql, FromSqlResult, ValueRef};
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, Row, TransactionBehavior, params};
use serde::Serialize;
use stend_model::run::{Origin, Repeat, Run, RunState, Series, Session};

use crate::owned;
use crate::profile::Profile;

pub(crate) use error::StoreError;
pub(crate) use export::{read_export, write_export};
pub(crate) use lock::MeasuringLock;
pub(crate) use write::Carried;

use error::{Result, explain};

/// How long a process waits for another one that writes.
const PATIENCE: Duration = Duration::from_secs(10);

/// A run with all that belongs to it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Record {
    /// The run.
    pub(crate) run: Run,
    /// Its sessions, in order.
    pub(crate) sessions: Vec<Session>,
    /// Its repeats, in the order in which they were made.
    pub(crate) repeats: Vec<Repeat>,
    /// Where the time goes, in the suite's order; for the scenarios that were profiled.
    pub(crate) profiles: Vec<Profile>,
}

impl Record {
    /// What emulated the machine, or any build that was measured on it, if anything did: by the fingerprint, or by what an instrument said when
    /// it began. Such figures say nothing of speed.
    pub(crate) fn emulator(&self) -> Option<&str> {
        let said = || self.repeats.iter().find_map(|repeat| repeat.begin.as_ref()?.build.get("emulator"));
        self.run.machine.software.emulator.as_ref().or_else(said).map(String::as_str)
    }

    /// What made the machine unfit in any session, measured all the same; each once.
    pub(crate) fn unfit_conditions(&self) -> Vec<String> {
        let conditions: BTreeSet<_> = self.sessions.iter().flat_map(|session| &session.conditions).collect();
        conditions.into_iter().cloned().collect()
    }
}

/// What a run was made for. Only an ordinary one stands for its machine where nothing else is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    /// A suite, measured once.
    Run,
    /// Two sides of one machine, measured in turns.
    Ab,
    /// The machine against itself.
    Noise,
}

/// The kind of a run by its document, as a column.
const KIND: &str = "CASE WHEN json_extract(document, '$.noise') THEN 'noise'
    WHEN coalesce(json_array_length(document, '$.sides'), 0) > 0 THEN 'ab' ELSE 'run' END";

impl FromSql for Kind {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        Ok(match value.as_str()? {
            "noise" => Self::Noise,
            "ab" => Self::Ab,
            _ => Self::Run,
        })
    }
}

/// One line of `stend list`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Summary {
    /// The run's id.
    pub(crate) id: String,
    /// When it began, RFC 3339.
    pub(crate) started_at: String,
    /// When it ended last, RFC 3339.
    pub(crate) finished_at: Option<String>,
    /// `open` or `finished`.
    pub(crate) state: String,
    /// The suite's name.
    pub(crate) suite: String,
    /// How the machine was reached.
    pub(crate) host: String,
    /// The machine's name.
    pub(crate) machine: String,
    /// The hardware's id.
    pub(crate) hardware_id: String,
    /// The software's id.
    pub(crate) software_id: String,
    /// How many scenarios the suite has.
    pub(crate) scenarios: u32,
    /// Measured repeats that count.
    pub(crate) valid: u32,
    /// Measured repeats that a gate or the verification refused.
    pub(crate) invalid: u32,
    /// Repeats that measured nothing.
    pub(crate) failed: u32,
    /// What it was made for.
    pub(crate) kind: Kind,
}

/// The store.
#[derive(Debug)]
pub(crate) struct Store {
    connection: Connection,
    path: PathBuf,
}

impl Store {
    /// Opens the store in `directory` for reading and writing, and creates what is missing, for the user alone.
    pub(crate) fn open(directory: &Path) -> Result<Self> {
        let path = directory.join("stend.db");
        make_directory(directory)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&path, flags).map_err(|error| explain(&path, error))?;
        let mut store = Self { connection, path };
        store.prepare()?;
        Ok(store)
    }

    /// Opens the store in `directory` for reading alone; a store that does not exist yet is an empty one.
    pub(crate) fn open_to_read(directory: &Path) -> Result<Self> {
        let path = directory.join("stend.db");
        if !path.exists() {
            return match std::fs::metadata(directory) {
                Ok(there) if !there.is_dir() => {
                    Err(StoreError::NotAStore { path: directory.into(), reason: "it is not a directory".into() })
                }
                _ => Self::empty(path),
            };
        }
        let writable = rustix::fs::access(directory, rustix::fs::Access::WRITE_OK).is_ok()
            && rustix::fs::access(&path, rustix::fs::Access::WRITE_OK).is_ok();
        let store = if writable {
            Self::open_as(&path, "mode=rw")?
        } else {
            // Even a reader of a write-ahead log writes beside it, unless somebody else has opened it to write. Where nobody has, and all is in
            // the file itself, that is read as it stands.
            match Self::open_as(&path, "mode=ro") {
                Err(error) if Self::has_log(&path) => return Err(error),
                Err(_) => Self::open_as(&path, "immutable=1")?,
                Ok(store) => store,
            }
        };
        // Without tables somebody is making it at this very moment.
        if store.check_format()? == 0 { Self::empty(store.path) } else { Ok(store) }
    }

    /// Opens the file of a store in one of SQLite's modes, and reads a little of it.
    fn open_as(path: &Path, mode: &str) -> Result<Self> {
        let plain = path.to_string_lossy().replace('%', "%25").replace('?', "%3f").replace('#', "%23");
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(format!("file:{plain}?{mode}"), flags);
        let store = Self { connection: connection.map_err(|error| explain(path, error))?, path: path.to_owned() };
        store.check_format()?;
        Ok(store)
    }

    /// Whether something stands in the write-ahead log that is not in the file yet.
    fn has_log(path: &Path) -> bool {
        let mut log = path.as_os_str().to_owned();
        log.push("-wal");
        std::fs::metadata(log).is_ok_and(|log| log.len() > 0)
    }

    fn empty(path: PathBuf) -> Result<Self> {
        let connection = Connection::open_in_memory().map_err(|error| explain(&path, error))?;
        let mut store = Self { connection, path };
        store.prepare()?;
        Ok(store)
    }

    fn prepare(&mut self) -> Result<()> {
        let path = self.path.clone();
        let explain = |error| explain(&path, error);
        self.connection.busy_timeout(PATIENCE).map_err(explain)?;
        self.connection.execute_batch("PRAGMA synchronous = FULL;").map_err(explain)?;
        let lacks = |connection: &Connection| connection.query_row(schema::LACKS_ADDITIONS, [], |row| row.get(0));
        if self.check_format()? != schema::FORMAT || lacks(&self.connection).map_err(explain)? {
            let behavior = TransactionBehavior::Immediate;
            let transaction = self.connection.transaction_with_behavior(behavior).map_err(explain)?;
            // While this one waited for its turn another process may have made the tables.
            if format_of(&transaction, &path)? != schema::FORMAT {
                transaction.execute_batch(schema::TABLES).map_err(explain)?;
                transaction.pragma_update(None, "user_version", schema::FORMAT).map_err(explain)?;
            }
            if lacks(&transaction).map_err(explain)? {
                transaction.execute_batch(schema::ADDITIONS).map_err(explain)?;
            }
            transaction.commit().map_err(explain)?;
        }
        self.use_write_ahead_log().map_err(explain)
    }

    /// Turns the write-ahead log on, which stays on. SQLite does not wait by itself for others to let go of the file here.
    fn use_write_ahead_log(&self) -> rusqlite::Result<()> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            match self.connection.execute_batch("PRAGMA journal_mode = WAL;") {
                Err(error)
                    if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) && Instant::now() < deadline =>
                {
                    std::thread::sleep(Duration::from_millis(10));
                }
                result => return result,
            }
        }
    }

    /// The file's format: 0 for a file without tables.
    fn check_format(&self) -> Result<i64> {
        // In one transaction: otherwise another process could make the tables between two looks.
        let transaction = self.connection.unchecked_transaction().map_err(|error| explain(&self.path, error))?;
        format_of(&transaction, &self.path)
    }

    /// All runs, oldest first.
    pub(crate) fn list(&self) -> Result<Vec<Summary>> {
        let list = || -> rusqlite::Result<Vec<Summary>> {
            let mut statement = self.connection.prepare(&format!(
                "SELECT id, started_at, finished_at, state, suite, host, machine, hardware_id, software_id, scenarios, valid, invalid, failed, {KIND}
                 FROM run ORDER BY started_at, id",
            ))?;
            let rows = statement.query_map([], |row| {
                Ok(Summary {
                    id: row.get(0)?,
                    started_at: row.get(1)?,
                    finished_at: row.get(2)?,
                    state: row.get(3)?,
                    suite: row.get(4)?,
                    host: row.get(5)?,
                    machine: row.get(6)?,
                    hardware_id: row.get(7)?,
                    software_id: row.get(8)?,
                    scenarios: row.get(9)?,
                    valid: row.get(10)?,
                    invalid: row.get(11)?,
                    failed: row.get(12)?,
                    kind: row.get(13)?,
                })
            })?;
            rows.collect()
        };
        list().map_err(|error| explain(&self.path, error))
    }

    /// Whether there is a run with this very id.
    pub(crate) fn has_run(&self, id: &str) -> Result<bool> {
        self.connection
            .query_row("SELECT count(*) FROM run WHERE id = ?1", [id], |row| row.get::<_, i64>(0))
            .map(|count| count > 0)
            .map_err(|error| explain(&self.path, error))
    }

    /// The newest finished ordinary run of the same suite that began before this run.
    pub(crate) fn finished_before(&self, id: &str) -> Result<Option<String>> {
        let runs = self.list()?;
        let Some(place) = runs.iter().position(|run| run.id == id) else { return Ok(None) };
        let is_it = |run: &&Summary| run.suite == runs[place].suite && run.state == "finished" && run.kind == Kind::Run;
        Ok(runs[..place].iter().rfind(is_it).map(|run| run.id.clone()))
    }

    /// The id that a person means: an id, the beginning of one, `last`, or `last~1` for the one before.
    pub(crate) fn resolve(&self, wanted: &str) -> Result<String> {
        let explain = |error| explain(&self.path, error);
        if wanted.starts_with("last") {
            let back = back_from_last(wanted).ok_or_else(|| StoreError::NoSuchRun(wanted.into()))?;
            let found = self
                .connection
                .query_row("SELECT id FROM run ORDER BY started_at DESC, id DESC LIMIT 1 OFFSET ?1", [back], |row| {
                    row.get(0)
                })
                .optional();
            return match found.map_err(explain)? {
                Some(id) => Ok(id),
                None => {
                    let count = self.connection.query_row("SELECT count(*) FROM run", [], |row| row.get::<_, i64>(0));
                    let runs = count.map_err(explain)?.unsigned_abs();
                    let wanted = wanted.to_owned();
                    Err(if runs == 0 { StoreError::Empty } else { StoreError::TooFarBack { wanted, runs } })
                }
            };
        }
        let mut statement = self
            .connection
            .prepare("SELECT id FROM run WHERE substr(id, 1, length(?1)) = ?1 ORDER BY length(id), started_at")
            .map_err(explain)?;
        let found: Vec<String> =
            statement.query_map([wanted], |row| row.get(0)).and_then(Iterator::collect).map_err(explain)?;
        match &found[..] {
            [] => Err(StoreError::NoSuchRun(wanted.into())),
            [only] => Ok(only.clone()),
            [first, ..] if first == wanted => Ok(first.clone()),
            _ => {
                const SHOWN: usize = 4;
                let more = found.len().saturating_sub(SHOWN);
                let shown = found[..found.len().min(SHOWN)].join(", ");
                let more = if more > 0 { format!(" and {more} more") } else { String::new() };
                Err(StoreError::Ambiguous(wanted.into(), shown + &more))
            }
        }
    }

    /// The newest run that is not finished and could go on here, if there is one.
    pub(crate) fn newest_open(&self) -> Result<Option<String>> {
        self.connection
            .query_row("SELECT id FROM run WHERE state = 'open' AND json_extract(document, '$.imported') IS 0 ORDER BY started_at DESC, id DESC LIMIT 1", [], |row| {
                row.get(0)
            })
            .optional()
            .map_err(|error| explain(&self.path, error))
    }

    /// The finished noise measurements, oldest first, without their repeats.
    pub(crate) fn noise_runs(&self) -> Result<Vec<Run>> {
        let query = "SELECT document FROM run WHERE state = 'finished' AND json_extract(document, '$.noise') ORDER BY started_at, id";
        self.documents(query, [])
    }

    /// All runs without what belongs to them, oldest first.
    pub(crate) fn runs(&self) -> Result<Vec<Run>> {
        self.list()?.iter().map(|summary| self.run(&summary.id)).collect()
    }

    /// The repeats of the scenario at this place in a run's suite, in the order in which they were made.
    pub(crate) fn repeats_of(&self, id: &str, scenario: usize) -> Result<Vec<Repeat>> {
        let query = "SELECT document FROM repeat WHERE run = ?1 AND scenario = ?2 ORDER BY sequence";
        self.documents(query, params![id, scenario as i64])
    }

    /// A run with its sessions and repeats. Series are read apart, since they are large.
    pub(crate) fn load(&self, id: &str) -> Result<Record> {
        let run = self.run(id)?;
        let sessions = self.documents("SELECT document FROM session WHERE run = ?1 ORDER BY number", [id])?;
        let repeats = self.documents("SELECT document FROM repeat WHERE run = ?1 ORDER BY sequence", [id])?;
        let profiles = self.profiles(id)?;
        Ok(Record { run, sessions, repeats, profiles })
    }

    /// A run alone.
    fn run(&self, id: &str) -> Result<Run> {
        let (document, state, finished_at): (String, String, Option<String>) = self
            .connection
            .query_row("SELECT document, state, finished_at FROM run WHERE id = ?1", [id], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?))
            })
            .map_err(|error| explain(&self.path, error))?;
        let mut run: Run = self.parse(&document)?;
        run.state = if state == "finished" { RunState::Finished } else { RunState::Open };
        run.finished_at = finished_at.and_then(|moment| moment.parse().ok());
        Ok(run)
    }

    /// All series of a run with their repeats' sequence numbers, in order.
    pub(crate) fn series(&self, id: &str) -> Result<Vec<(u32, Series)>> {
        let explain = |error| explain(&self.path, error);
        let mut statement = self
            .connection
            .prepare("SELECT sequence, origin, metric, samples, data FROM series WHERE run = ?1 ORDER BY sequence, origin, metric")
            .map_err(explain)?;
        let read = |row: &Row| -> rusqlite::Result<_> {
            Ok(blob::Stored {
                sequence: row.get(0)?,
                origin: if row.get_ref(1)?.as_str()? == "machine" { Origin::Machine } else { Origin::Instrument },
                metric: row.get(2)?,
                samples: usize::try_from(row.get::<_, i64>(3)?).unwrap_or(0),
                data: row.get(4)?,
            })
        };
        let stored: rusqlite::Result<Vec<_>> = statement.query_map([id], read).map_err(explain)?.collect();
        blob::decode_all(stored.map_err(explain)?).map_err(|metric| StoreError::NotAStore {
            path: self.path.clone(),
            reason: format!("series {metric} of run {id} is damaged"),
        })
    }

    /// How many samples a run has in all, without reading them.
    pub(crate) fn count_samples(&self, id: &str) -> Result<i64> {
        self.connection
            .query_row("SELECT coalesce(sum(samples), 0) FROM series WHERE run = ?1", [id], |row| row.get(0))
            .map_err(|error| explain(&self.path, error))
    }

    fn documents<T: serde::de::DeserializeOwned>(&self, query: &str, of: impl rusqlite::Params) -> Result<Vec<T>> {
        let explain = |error| explain(&self.path, error);
        let mut statement = self.connection.prepare(query).map_err(explain)?;
        let documents: Vec<String> =
            statement.query_map(of, |row| row.get(0)).and_then(Iterator::collect).map_err(explain)?;
        documents.iter().map(|document| self.parse(document)).collect()
    }

    fn parse<T: serde::de::DeserializeOwned>(&self, document: &str) -> Result<T> {
        serde_json::from_str(document).map_err(|error| StoreError::NotAStore {
            path: self.path.clone(),
            reason: format!("a document is damaged ({error})"),
        })
    }
}

/// Makes the directory of a store where there is none, for the user alone. Nobody else may write in it: commands are taken from what
/// stands there, and machines are reached as it says.
pub(crate) fn make_directory(directory: &Path) -> Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(directory).map_err(|error| match error.kind() {
        std::io::ErrorKind::StorageFull => StoreError::Full { path: directory.into() },
        _ => StoreError::ReadOnly { path: directory.into(), reason: error.to_string() },
    })?;
    owned::check_here(directory).map_err(StoreError::NotOwn)
}

/// How many runs before the newest one `last` and `last~1` mean; nothing for any other word.
pub(crate) fn back_from_last(wanted: &str) -> Option<u32> {
    match wanted.strip_prefix("last")? {
        "" => Some(0),
        back => back.strip_prefix('~')?.parse().ok(),
    }
}

/// The format of the file at `path`: 0 for a file without tables.
fn format_of(connection: &Connection, path: &Path) -> Result<i64> {
    let explain = |error| explain(path, error);
    let found: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0)).map_err(explain)?;
    if found > schema::FORMAT {
        return Err(StoreError::Newer { path: path.to_owned(), found });
    }
    if found == 0 {
        let tables: i64 =
            connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).map_err(explain)?;
        if tables > 0 {
            let reason = "it is some other program's database".into();
            return Err(StoreError::NotAStore { path: path.to_owned(), reason });
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests;
