//! The agreement of one node with itself: a SQLite file.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rusqlite::{Connection, OptionalExtension as _, Row, Transaction, TransactionBehavior, params};

use crate::agreement::{
    Agreement, Change, Committed, Condition, Entry, Listing, MOST_CHANGES, News, Revision, Told, Trouble, Watch,
};

/// So many changes are kept for whoever watches.
const KEPT: i64 = 1000;

/// The format of the file. Those before it were of the tables of `stend serve`.
pub const FORMAT: i64 = 6;

/// What makes an empty file one of this format.
pub const TABLES: &str = "
    CREATE TABLE entry (key TEXT PRIMARY KEY, value TEXT NOT NULL, revision INTEGER NOT NULL) STRICT, WITHOUT ROWID;
    CREATE TABLE last (revision INTEGER NOT NULL) STRICT;
    INSERT INTO last VALUES (0);
    CREATE TABLE news (id INTEGER PRIMARY KEY, revision INTEGER NOT NULL, key TEXT NOT NULL, value TEXT) STRICT;
    CREATE INDEX news_revision ON news (revision);
    CREATE TRIGGER what_is_noted_is_not_changed BEFORE UPDATE ON entry WHEN old.key GLOB 'lab/journal/*'
        BEGIN SELECT RAISE (ABORT, 'the journal is not changed'); END;
    CREATE TRIGGER what_is_noted_is_not_cut BEFORE DELETE ON entry WHEN old.key GLOB 'lab/journal/*'
        BEGIN SELECT RAISE (ABORT, 'the journal is not cut'); END;
";

/// How often changes of other processes are looked for.
const LOOK: Duration = Duration::from_millis(100);
/// How long a process waits for others that write the file: SQLite has no queue of them, and a disk may be slow.
pub const WAIT_TO_WRITE: Duration = Duration::from_secs(5 * 60);

/// A file that several threads share. Other processes may have it open too.
#[derive(Debug)]
pub struct Alone {
    file: Arc<File>,
    connection: Mutex<Connection>,
}

/// What watches share.
#[derive(Debug)]
struct File {
    path: PathBuf,
    /// So that nobody who reads waits for the disk of who writes.
    to_read: Mutex<Connection>,
    /// Counts the commits of this process.
    commits: Mutex<u64>,
    rings: Condvar,
}

impl File {
    fn read<T>(&self, act: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, Trouble> {
        act(&locked(&self.to_read)).map_err(|error| self.unreached(&error))
    }

    fn unreached(&self, error: &rusqlite::Error) -> Trouble {
        Trouble::Unreached(format!("{}: {error}", self.path.display()))
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Alone {
    /// Opens the file, or makes it.
    ///
    /// # Errors
    /// It cannot be opened, or is of another version.
    pub fn open(path: &Path) -> Result<Self, Trouble> {
        let connect = || -> rusqlite::Result<Connection> {
            let connection = Connection::open(path)?;
            connection.busy_timeout(WAIT_TO_WRITE)?;
            connection.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;")?;
            Ok(connection)
        };
        let open = || -> rusqlite::Result<(Connection, Connection, i64)> {
            let connection = connect()?;
            // At once to write: of two that open an empty file one waits for the other.
            let transaction = Transaction::new_unchecked(&connection, TransactionBehavior::Immediate)?;
            let mut format: i64 = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
            if format == 0 {
                transaction.execute_batch(TABLES)?;
                transaction.pragma_update(None, "user_version", FORMAT)?;
                format = FORMAT;
            }
            transaction.commit()?;
            Ok((connection, connect()?, format))
        };
        let refused = |said: String| Trouble::Refused(format!("{}: {said}", path.display()));
        let (connection, to_read, format) = open().map_err(|error| refused(error.to_string()))?;
        if format != FORMAT {
            let said = format!(
                "{} was written by another stend (format {format}; this one reads {FORMAT}): use that one, or another --store",
                path.display()
            );
            return Err(Trouble::Refused(said));
        }
        let (to_read, commits) = (Mutex::new(to_read), Mutex::new(0));
        let file = File { path: path.to_owned(), to_read, commits, rings: Condvar::new() };
        Ok(Self { file: Arc::new(file), connection: Mutex::new(connection) })
    }
}

fn last(connection: &Connection) -> rusqlite::Result<Revision> {
    connection.prepare_cached("SELECT revision FROM last")?.query_row([], |row| row.get(0))
}

fn entry(row: &Row) -> rusqlite::Result<Entry> {
    Ok(Entry { key: row.get(0)?, value: row.get(1)?, revision: row.get(2)? })
}

/// Makes changes in a transaction; whether the conditions held.
fn changed(
    transaction: &Transaction,
    conditions: &[Condition],
    changes: &[Change],
) -> rusqlite::Result<Option<Revision>> {
    for condition in conditions {
        let (key, wanted) = match condition {
            Condition::Unchanged(key, revision) => (key, Some(*revision)),
            Condition::Absent(key) => (key, None),
        };
        let found: Option<Revision> = transaction
            .prepare_cached("SELECT revision FROM entry WHERE key = ?1")?
            .query_row([key], |row| row.get(0))
            .optional()?;
        if found != wanted {
            return Ok(None);
        }
    }
    let revision = last(transaction)? + 1;
    let mut tell = transaction.prepare_cached("INSERT INTO news (revision, key, value) VALUES (?1, ?2, ?3)")?;
    for change in changes {
        match change {
            Change::Put(key, value) => {
                let query = "INSERT INTO entry VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE SET value = ?2, revision = ?3";
                transaction.prepare_cached(query)?.execute(params![key, value, revision])?;
                tell.execute(params![revision, key, value])?;
            }
            Change::Remove(key) => {
                if transaction.prepare_cached("DELETE FROM entry WHERE key = ?1")?.execute([key])? > 0 {
                    tell.execute(params![revision, key, None::<String>])?;
                }
            }
        }
    }
    transaction.prepare_cached("DELETE FROM news WHERE id <= ?1")?.execute([transaction.last_insert_rowid() - KEPT])?;
    transaction.prepare_cached("UPDATE last SET revision = ?1")?.execute([revision])?;
    Ok(Some(revision))
}

impl Agreement for Alone {
    fn newest(&self) -> Option<Revision> {
        self.file.read(last).ok()
    }

    fn get(&self, key: &str) -> Result<Option<Entry>, Trouble> {
        let query = "SELECT key, value, revision FROM entry WHERE key = ?1";
        self.file.read(|connection| connection.prepare_cached(query)?.query_row([key], entry).optional())
    }

    fn list(&self, prefix: &str) -> Result<Listing, Trouble> {
        self.file.read(|connection| {
            let transaction = connection.unchecked_transaction()?;
            let query = "SELECT key, value, revision FROM entry WHERE key >= ?1 AND substr(key, 1, length(?1)) = ?1 \
                         AND (?2 IS NULL OR key < ?2) ORDER BY key";
            let entries = transaction
                .prepare_cached(query)?
                .query_map(params![prefix, end(prefix)], entry)?
                .collect::<rusqlite::Result<_>>()?;
            Ok(Listing { entries, revision: last(&transaction)? })
        })
    }

    fn commit(&self, conditions: &[Condition], changes: &[Change]) -> Result<Committed, Trouble> {
        if conditions.len().max(changes.len()) > MOST_CHANGES {
            return Err(Trouble::Refused(format!("no more than {MOST_CHANGES} changes are made at once")));
        }
        let connection = locked(&self.connection);
        let commit = || -> rusqlite::Result<Option<Revision>> {
            let transaction = Transaction::new_unchecked(&connection, TransactionBehavior::Immediate)?;
            let revision = changed(&transaction, conditions, changes)?;
            if revision.is_some() {
                transaction.commit()?;
            }
            Ok(revision)
        };
        // What SQLite did not commit it will not commit later.
        let Some(revision) = commit().map_err(|error| self.file.unreached(&error))? else {
            return Ok(Committed::Refused);
        };
        *locked(&self.file.commits) += 1;
        self.file.rings.notify_all();
        Ok(Committed::At(revision))
    }

    fn watch(&self, prefix: &str, behind: Revision) -> Result<Box<dyn Watch>, Trouble> {
        let file = Arc::clone(&self.file);
        Ok(Box::new(Watching { prefix: prefix.into(), behind, file }))
    }
}

/// The first text behind all that begin so; nothing if there is none.
pub(crate) fn end(prefix: &str) -> Option<String> {
    let mut text = prefix.to_owned();
    while let Some(last) = text.pop() {
        let next = u32::from(last) + 1;
        // Behind the last character before the surrogates comes the first behind them.
        if let Some(next) = char::from_u32(if next == 0xD800 { 0xE000 } else { next }) {
            text.push(next);
            return Some(text);
        }
    }
    None
}

struct Watching {
    prefix: String,
    /// All changes up to this revision were told.
    behind: Revision,
    file: Arc<File>,
}

impl Watching {
    /// What has changed since.
    fn look(&mut self) -> Result<Vec<News>, Trouble> {
        let news = |row: &Row| -> rusqlite::Result<News> {
            let (revision, key): (Revision, String) = (row.get(0)?, row.get(1)?);
            Ok(match row.get(2)? {
                Some(value) => News::Put(Entry { key, value, revision }),
                None => News::Removed(key, revision),
            })
        };
        let (first, last, mut news) = self.file.read(|connection| {
            let transaction = connection.unchecked_transaction()?;
            let last = last(&transaction)?;
            if last == self.behind {
                return Ok((None, last, Vec::<News>::new()));
            }
            let first: Option<(i64, Revision)> = transaction
                .prepare_cached("SELECT id, revision FROM news ORDER BY id LIMIT 1")?
                .query_row([], |row| Ok((row.get(0)?, row.get(1)?)))
                .optional()?;
            let query = "SELECT revision, key, value FROM news WHERE revision > ?1 ORDER BY id";
            let news =
                transaction.prepare_cached(query)?.query_map([self.behind], news)?.collect::<rusqlite::Result<_>>()?;
            Ok((first, last, news))
        })?;
        // Of the first change that is kept a part may be gone.
        let is_kept = first.is_none_or(|(id, revision)| id == 1 || revision <= self.behind);
        if !is_kept {
            return Err(Trouble::Refused("the watch is too far behind; list again".into()));
        }
        self.behind = last;
        news.retain(|(News::Put(Entry { key, .. }) | News::Removed(key, _))| key.starts_with(&self.prefix));
        Ok(news)
    }
}

impl Watch for Watching {
    fn next(&mut self, wait: Duration) -> Result<Told, Trouble> {
        let until = Instant::now() + wait;
        let before = self.behind;
        loop {
            // Before the look: a commit that comes meanwhile is not slept through.
            let seen = *locked(&self.file.commits);
            let news = self.look()?;
            let left = until.saturating_duration_since(Instant::now());
            if self.behind > before || left.is_zero() {
                return Ok(Told { news, revision: self.behind });
            }
            let commits = locked(&self.file.commits);
            let is_same = |commits: &mut u64| *commits == seen;
            let waited = self.file.rings.wait_timeout_while(commits, left.min(LOOK), is_same);
            drop(waited.unwrap_or_else(PoisonError::into_inner));
        }
    }
}
