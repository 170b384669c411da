//! Where runs are kept: one SQLite file, embedded.
//!
//! A repeat is on disk before the next one starts (write-ahead log, `synchronous = FULL`). A finished run cannot be
//! changed; triggers in the tables see to that. Everything that was measured is stored, nothing that is computed from it.

#![deny(clippy::print_stdout, clippy::print_stderr)]

mod blob;
mod checksum;
mod error;
mod export;
mod label;
mod lock;
mod profiles;
mod reports;
mod schema;
mod write;

use std::collections::BTreeMap;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, Row, TransactionBehavior, params};
use serde::de::DeserializeOwned;
use stend_model::record::Kind;
use stend_model::record::Record;
use stend_model::record::Summary;
use stend_model::run::{Origin, Repeat, Run, RunState, Series, Session};

use stend_stand::owned;

pub use error::StoreError;
pub use export::{read_export, write_export};
pub use lock::MeasuringLock;
pub use write::Carried;

use error::{Damage, NoStore, Result, explain};

/// How long a process waits for others that write. SQLite has no queue of them, and a disk may be slow; a repeat that was measured is worth the
/// time.
const PATIENCE: Duration = Duration::from_secs(5 * 60);

/// The store.
#[derive(Debug)]
pub struct Store {
    connection: Connection,
    path: PathBuf,
}

impl Store {
    /// Opens the store in `directory` for reading and writing, and creates what is missing, for the user alone.
    pub fn open(directory: &Path) -> Result<Self> {
        let path = directory.join("stend.db");
        make_directory(directory)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&path, flags).map_err(|error| explain(&path, error))?;
        let mut store = Self { connection, path };
        store.prepare()?;
        Ok(store)
    }

    /// Opens the store in `directory` for reading alone; a store that does not exist yet is an empty one.
    pub fn open_to_read(directory: &Path) -> Result<Self> {
        let path = directory.join("stend.db");
        if !path.exists() {
            return match std::fs::metadata(directory) {
                Ok(there) if !there.is_dir() => {
                    Err(StoreError::NotAStore { path: directory.into(), why: NoStore::NoDirectory })
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
        if self.check_format()? != schema::FORMAT {
            let behavior = TransactionBehavior::Immediate;
            let transaction = self.connection.transaction_with_behavior(behavior).map_err(explain)?;
            // While this one waited for its turn another process may have made the tables.
            if format_of(&transaction, &path)? != schema::FORMAT {
                transaction.execute_batch(schema::TABLES).map_err(explain)?;
                transaction.execute_batch(schema::KEPT).map_err(explain)?;
                transaction.pragma_update(None, "user_version", schema::FORMAT).map_err(explain)?;
            }
            transaction.commit().map_err(explain)?;
        }
        self.use_write_ahead_log().map_err(explain)?;
        self.make_labels()
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
    pub fn list(&self) -> Result<Vec<Summary>> {
        let mut labels = self.labels()?;
        let mut list = || -> rusqlite::Result<Vec<Summary>> {
            let query = format!("SELECT {}, checksum, id FROM run", write::RUN.join(", "));
            let mut statement = self.connection.prepare(&query)?;
            let rows = statement.query_map([], |row| {
                let id = String::from_utf8_lossy(row.get_ref("id")?.as_bytes()?).into_owned();
                if !checksum::holds(&id, row, write::RUN.len())? {
                    return Ok(Summary { id, ..Summary::default() });
                }
                Ok(Summary {
                    label: labels.remove(&id),
                    id,
                    started_at: row.get("started_at")?,
                    finished_at: row.get("finished_at")?,
                    state: Some(RunState::of_word(row.get_ref("state")?.as_str()?)),
                    suite: row.get("suite")?,
                    host: row.get("host")?,
                    machine: row.get("machine")?,
                    hardware_id: row.get("hardware_id")?,
                    software_id: row.get("software_id")?,
                    scenarios: row.get("scenarios")?,
                    valid: row.get("valid")?,
                    invalid: row.get("invalid")?,
                    failed: row.get("failed")?,
                    kind: Kind::of_word(&row.get::<_, String>("kind")?),
                })
            })?;
            let mut runs: Vec<_> = rows.collect::<rusqlite::Result<_>>()?;
            runs.sort_by(|one, other| (&one.started_at, &one.id).cmp(&(&other.started_at, &other.id)));
            Ok(runs)
        };
        list().map_err(|error| explain(&self.path, error))
    }

    /// A number that is another one once another process, or another connection of this one, has changed the store.
    pub fn version(&self) -> Result<i64> {
        self.connection
            .pragma_query_value(None, "data_version", |row| row.get(0))
            .map_err(|error| explain(&self.path, error))
    }

    /// Whether the store's file is there; one that is not is read as an empty store, and stays so.
    pub fn is_there(&self) -> bool {
        self.connection.path().is_some_and(|path| !path.is_empty())
    }

    /// The repeats of a run behind the one with this sequence number, or all, in their order.
    pub fn repeats_after(&self, id: &str, sequence: Option<u32>) -> Result<Vec<Repeat>> {
        self.rows(
            id,
            "repeat",
            "SELECT sequence, scenario, phase, number, samples, series, document, checksum FROM repeat \
             WHERE run = ?1 AND sequence > ?2 ORDER BY sequence",
            params![id, sequence.map_or(-1, i64::from)],
        )
    }

    /// Whether there is a run with this very id.
    pub fn has_run(&self, id: &str) -> Result<bool> {
        self.connection
            .query_row("SELECT count(*) FROM run WHERE id = ?1", [id], |row| row.get::<_, i64>(0))
            .map(|count| count > 0)
            .map_err(|error| explain(&self.path, error))
    }

    /// The newest finished ordinary run of the same suite that began before this run and has something to be compared.
    pub fn finished_before(&self, id: &str) -> Result<Option<String>> {
        let runs = self.list()?;
        let Some(place) = runs.iter().position(|run| run.id == id) else { return Ok(None) };
        let is_it = |run: &&Summary| run.suite == runs[place].suite && run.is_ordinary() && run.valid > 0;
        Ok(runs[..place].iter().rfind(is_it).map(|run| run.id.clone()))
    }

    /// The id that a person means: an id, the beginning of one, `last`, or `last~1` for the one before.
    pub fn resolve(&self, wanted: &str) -> Result<String> {
        let explain = |error| explain(&self.path, error);
        if wanted.contains(':') {
            return Err(StoreError::Side(wanted.into()));
        }
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
        if let Some(id) = self.labelled(wanted)? {
            return Ok(id);
        }
        let mut statement = self
            .connection
            .prepare("SELECT id FROM run WHERE substr(id, 1, length(?1)) = ?1 ORDER BY length(id), started_at")
            .map_err(explain)?;
        let found: Vec<String> =
            statement.query_map([wanted], |row| row.get(0)).and_then(Iterator::collect).map_err(explain)?;
        match &found[..] {
            [] => Err(match &self.sessions_called(wanted)?[..] {
                [] => StoreError::NoSuchRun(wanted.into()),
                sessions => StoreError::Sessions(wanted.into(), some_of(sessions)),
            }),
            [only] => Ok(only.clone()),
            [first, ..] if first == wanted => Ok(first.clone()),
            _ => Err(StoreError::Ambiguous(wanted.into(), some_of(&found))),
        }
    }

    /// The newest run that is not finished and could go on here, if there is one.
    pub fn newest_open(&self) -> Result<Option<String>> {
        self.connection
            .query_row("SELECT id FROM run WHERE state = 'open' AND json_extract(document, '$.imported') IS 0 ORDER BY started_at DESC, id DESC LIMIT 1", [], |row| {
                row.get(0)
            })
            .optional()
            .map_err(|error| explain(&self.path, error))
    }

    /// Gives each run, oldest first, with what its document says; one at a time, since there may be many.
    pub fn each_run<T: DeserializeOwned>(&self, mut each: impl FnMut(Summary, T)) -> Result<()> {
        for summary in self.list()? {
            let (document, _) = self.run_as(&summary.id)?;
            each(summary, document);
        }
        Ok(())
    }

    /// A run without its sessions and repeats.
    pub fn run(&self, id: &str) -> Result<Run> {
        self.described(id).map(|(run, _)| run)
    }

    fn described(&self, id: &str) -> Result<(Run, RunRow)> {
        let (mut run, row): (Run, _) = self.run_as(id)?;
        (run.state, run.finished_at, run.label) = (row.state, row.finished_at, self.label_of(id)?);
        Ok((run, row))
    }

    /// A run with its sessions and repeats. Series are read apart, since they are large.
    pub fn load(&self, id: &str) -> Result<Record> {
        self.load_with(id, None)
    }

    /// A run with its sessions, and of its repeats those of the scenario at this place in its suite, without profiles.
    pub fn load_scenario(&self, id: &str, scenario: usize) -> Result<Record> {
        self.load_with(id, Some(scenario))
    }

    fn load_with(&self, id: &str, scenario: Option<usize>) -> Result<Record> {
        // In one transaction: the run may be growing.
        let _transaction = self.connection.unchecked_transaction().map_err(|error| explain(&self.path, error))?;
        let (run, row) = self.described(id)?;
        let sessions: Vec<Session> = self.rows(
            id,
            "session",
            "SELECT number, document, checksum FROM session WHERE run = ?1 ORDER BY number",
            params![id],
        )?;
        let query = "SELECT sequence, scenario, phase, number, samples, series, document, checksum FROM repeat";
        let repeats: Vec<Repeat> = match scenario {
            None => self.rows(id, "repeat", &format!("{query} WHERE run = ?1 ORDER BY sequence"), params![id])?,
            Some(place) => {
                let query = format!("{query} WHERE run = ?1 AND scenario = ?2 ORDER BY sequence");
                self.rows(id, "repeat", &query, params![id, place as i64])?
            }
        };
        let lost = |what: &str, there: usize, of: i64| self.damaged(id, what, Damage::Lost { there, of });
        if sessions.len() as i64 != row.sessions {
            return Err(lost("a session", sessions.len(), row.sessions));
        }
        let in_order = repeats.is_sorted_by(|one, next| one.sequence < next.sequence);
        if !in_order || scenario.is_none() && repeats.len() as i64 != row.repeats {
            return Err(lost("a repeat", repeats.len(), row.repeats));
        }
        let profiles = if scenario.is_none() { self.profiles(id)? } else { Vec::new() };
        Ok(Record { run, sessions, repeats, profiles, own_reports: Vec::new() })
    }

    /// The same with the reports of real tools, which are large.
    pub fn load_whole(&self, id: &str) -> Result<Record> {
        Ok(Record { own_reports: self.own_reports(id)?, ..self.load(id)? })
    }

    /// What the document of a run says, and what stands beside it.
    fn run_as<T: DeserializeOwned>(&self, id: &str) -> Result<(T, RunRow)> {
        let query = format!("SELECT {}, checksum, document FROM run WHERE id = ?1", write::RUN.join(", "));
        let read = |row: &Row| -> rusqlite::Result<_> {
            let document = row.get_ref("document")?;
            let sound = checksum::holds(id, row, write::RUN.len())?
                && row.get_ref("document_checksum")? == ValueRef::Integer(checksum::of([document]));
            if !sound {
                return Ok(None);
            }
            let state = RunState::of_word(row.get_ref("state")?.as_str()?);
            let finished_at: Option<String> = row.get("finished_at")?;
            let finished_at = finished_at.and_then(|moment| moment.parse().ok());
            let row = RunRow { state, finished_at, sessions: row.get("sessions")?, repeats: row.get("repeats")? };
            Ok(Some((self.parse(document.as_bytes()?, id, "the description"), row)))
        };
        let found = self.connection.query_row(&query, [id], read).map_err(|error| self.explain_of(id, error))?;
        let (document, row) = found.ok_or_else(|| self.damaged(id, "the description", Damage::NotAsStored))?;
        Ok((document?, row))
    }

    /// All series of a run with their repeats' sequence numbers, in order.
    pub fn series(&self, id: &str) -> Result<Vec<(u32, Series)>> {
        self.series_from(id, 0)
    }

    /// The same of the repeats from this one on.
    pub fn series_from(&self, id: &str, first: u32) -> Result<Vec<(u32, Series)>> {
        let explain = |error| self.explain_of(id, error);
        let _transaction = self.connection.unchecked_transaction().map_err(explain)?;
        let mut statement = self
            .connection
            .prepare("SELECT sequence, origin, metric, samples, data, checksum FROM series WHERE run = ?1 AND sequence >= ?2 ORDER BY sequence, origin, metric")
            .map_err(explain)?;
        let mut of_repeats: BTreeMap<i64, Vec<i64>> = BTreeMap::new();
        let mut read = |row: &Row| -> rusqlite::Result<_> {
            let sequence = row.get_ref(0)?.as_i64()?;
            if !checksum::holds(id, row, 5)? {
                return Ok(Err(sequence));
            }
            of_repeats.entry(sequence).or_default().push(row.get(5)?);
            Ok(Ok(blob::Stored {
                sequence: row.get(0)?,
                origin: if row.get_ref(1)?.as_str()? == "machine" { Origin::Machine } else { Origin::Instrument },
                metric: row.get(2)?,
                samples: usize::try_from(row.get::<_, i64>(3)?).unwrap_or(0),
                data: row.get(4)?,
            }))
        };
        let stored: rusqlite::Result<Vec<_>> =
            statement.query_map(params![id, first], &mut read).map_err(explain)?.collect();
        let damaged = |sequence: i64, why| self.damaged(id, &format!("repeat {sequence}"), why);
        let stored: std::result::Result<Vec<_>, i64> = stored.map_err(explain)?.into_iter().collect();
        let stored = stored.map_err(|sequence| damaged(sequence, Damage::NotAsStored))?;
        // What is not there any more, nobody would miss.
        let mut statement = self
            .connection
            .prepare("SELECT sequence, series FROM repeat WHERE run = ?1 AND sequence >= ?2")
            .map_err(explain)?;
        let all = statement.query_map(params![id, first], |row| Ok((row.get(0)?, row.get(1)?))).map_err(explain)?;
        for repeat in all {
            let (sequence, series): (i64, i64) = repeat.map_err(explain)?;
            let found = of_repeats.remove(&sequence).unwrap_or_default();
            if write::checksum_of_series(&found) != series {
                return Err(damaged(sequence, Damage::SeriesLost));
            }
        }
        if let Some((sequence, _)) = of_repeats.into_iter().next() {
            return Err(damaged(sequence, Damage::OnlySeries));
        }
        blob::decode_all(stored).map_err(|why| self.damaged(id, &format!("series {}", why.metric), Damage::Series(why)))
    }

    /// How many repeats of a run are stored.
    pub fn count_repeats(&self, id: &str) -> Result<usize> {
        let count = "SELECT count(*) FROM repeat WHERE run = ?1";
        let counted: rusqlite::Result<i64> = self.connection.query_row(count, [id], |row| row.get(0));
        counted.map(|count| usize::try_from(count).unwrap_or(0)).map_err(|error| self.explain_of(id, error))
    }

    /// How many samples a run has in all, without reading them.
    pub fn count_samples(&self, id: &str) -> Result<i64> {
        self.connection
            .query_row("SELECT coalesce(sum(samples), 0) FROM repeat WHERE run = ?1", [id], |row| row.get(0))
            .map_err(|error| self.explain_of(id, error))
    }

    /// The documents of rows that belong to a run. The first column is the row's number, the last two are its document and its checksum.
    fn rows<T: DeserializeOwned>(
        &self,
        run: &str,
        what: &str,
        query: &str,
        of: impl rusqlite::Params,
    ) -> Result<Vec<T>> {
        let explain = |error| self.explain_of(run, error);
        let mut statement = self.connection.prepare(query).map_err(explain)?;
        let last = statement.column_count() - 1;
        let mut rows = statement.query(of).map_err(explain)?;
        let mut documents = Vec::new();
        while let Some(row) = rows.next().map_err(explain)? {
            let number = row.get_ref(0).map_err(explain)?;
            let what = format!("{what} {}", number.as_i64().unwrap_or(-1));
            if !checksum::holds(run, row, last).map_err(explain)? {
                return Err(self.damaged(run, &what, Damage::NotAsStored));
            }
            let document = row.get_ref(last - 1).map_err(explain)?.as_bytes().unwrap_or_default();
            documents.push(self.parse(document, run, &what)?);
        }
        Ok(documents)
    }

    fn parse<T: DeserializeOwned>(&self, document: &[u8], run: &str, what: &str) -> Result<T> {
        serde_json::from_slice(document)
            .map_err(|error| self.damaged(run, what, Damage::Unread { said: error.to_string() }))
    }

    fn damaged(&self, run: &str, what: &str, why: Damage) -> StoreError {
        StoreError::Damaged { path: self.path.clone(), what: what.to_owned(), run: run.to_owned(), why }
    }

    /// What SQLite says while it reads a run. What it finds damaged there may well be whole elsewhere.
    fn explain_of(&self, run: &str, error: rusqlite::Error) -> StoreError {
        match error.sqlite_error_code() {
            // The one is SQLite's word for it, the other is of a value that is no such value.
            Some(ErrorCode::DatabaseCorrupt) | None => {
                self.damaged(run, "a part", Damage::Unread { said: error.to_string() })
            }
            Some(_) => explain(&self.path, error),
        }
    }
}

/// What stands in a run's row beside its document.
struct RunRow {
    state: RunState,
    finished_at: Option<Timestamp>,
    sessions: i64,
    repeats: i64,
}

/// Makes the directory of a store where there is none, for the user alone. Nobody else may write in it: commands are taken from what
/// stands there, and machines are reached as it says.
pub fn make_directory(directory: &Path) -> Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(directory).map_err(|error| match error.kind() {
        std::io::ErrorKind::StorageFull => StoreError::Full { path: directory.into() },
        _ => StoreError::ReadOnly { path: directory.into(), said: error.to_string() },
    })?;
    owned::check_here(directory).map_err(StoreError::NotOwn)
}

/// The first of them, in a sentence.
fn some_of(names: &[String]) -> String {
    const SHOWN: usize = 4;
    let more = names.len().saturating_sub(SHOWN);
    let shown = names[..names.len().min(SHOWN)].join(", ");
    if more > 0 { format!("{shown} and {more} more") } else { shown }
}

/// How many runs before the newest one `last` and `last~1` mean; nothing for any other word.
pub fn back_from_last(wanted: &str) -> Option<u32> {
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
    if (1..schema::FORMAT).contains(&found) {
        return Err(StoreError::Older { path: path.to_owned(), found });
    }
    if found == 0 {
        let tables: i64 =
            connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).map_err(explain)?;
        if tables > 0 {
            return Err(StoreError::NotAStore { path: path.to_owned(), why: NoStore::OfOthers });
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests;
