//! The agreement of one node with itself: a SQLite file.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rusqlite::{Connection, OptionalExtension as _, Row, Transaction, TransactionBehavior, params};

use crate::agreement::{Agreement, Change, Committed, Condition, Entry, Listing, News, Revision, Trouble, Watch};

/// So many changes are kept for whoever watches.
const KEPT: usize = 10_000;

/// The format of the file.
const FORMAT: i64 = 1;

/// One process has the file; its threads share this.
#[derive(Debug)]
pub struct Alone {
    path: PathBuf,
    connection: Mutex<Connection>,
    changes: Arc<Changes>,
}

/// What was changed lately.
#[derive(Debug, Default)]
struct Changes {
    kept: Mutex<Kept>,
    rings: Condvar,
}

#[derive(Debug, Default)]
struct Kept {
    /// All changes behind this revision are here.
    behind: Revision,
    news: VecDeque<(Revision, News)>,
}

impl Changes {
    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Alone {
    /// Opens the file, or makes it.
    ///
    /// # Errors
    /// It cannot be opened, or is of another version.
    pub fn open(path: &Path) -> Result<Self, Trouble> {
        let open = || -> rusqlite::Result<(Connection, i64, Revision)> {
            let connection = Connection::open(path)?;
            connection.busy_timeout(Duration::from_secs(10))?;
            connection.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;")?;
            let transaction = Transaction::new_unchecked(&connection, TransactionBehavior::Immediate)?;
            let mut format: i64 = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
            if format == 0 {
                transaction.execute_batch(
                    "CREATE TABLE entry (key TEXT PRIMARY KEY, value TEXT NOT NULL, revision INTEGER NOT NULL) STRICT, WITHOUT ROWID;
                     CREATE TABLE last (revision INTEGER NOT NULL) STRICT;
                     INSERT INTO last VALUES (0);",
                )?;
                transaction.pragma_update(None, "user_version", FORMAT)?;
                format = FORMAT;
            }
            transaction.commit()?;
            let revision = if format == FORMAT { last(&connection)? } else { 0 };
            Ok((connection, format, revision))
        };
        let refused = |said: String| Trouble::Refused(format!("{}: {said}", path.display()));
        let (connection, format, revision) = open().map_err(|error| refused(error.to_string()))?;
        if format != FORMAT {
            return Err(refused(format!("it was written by another stend (format {format}; this one reads {FORMAT})")));
        }
        let changes = Arc::new(Changes::default());
        changes.lock().behind = revision;
        Ok(Self { path: path.to_owned(), connection: Mutex::new(connection), changes })
    }

    fn with<T>(&self, act: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, Trouble> {
        let connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        act(&connection).map_err(|error| Trouble::Unreached(format!("{}: {error}", self.path.display())))
    }
}

fn last(connection: &Connection) -> rusqlite::Result<Revision> {
    connection.query_row("SELECT revision FROM last", [], |row| row.get(0))
}

fn entry(row: &Row) -> rusqlite::Result<Entry> {
    Ok(Entry { key: row.get(0)?, value: row.get(1)?, revision: row.get(2)? })
}

impl Agreement for Alone {
    fn get(&self, key: &str) -> Result<Option<Entry>, Trouble> {
        let query = "SELECT key, value, revision FROM entry WHERE key = ?1";
        self.with(|connection| connection.query_row(query, [key], entry).optional())
    }

    fn list(&self, prefix: &str) -> Result<Listing, Trouble> {
        self.with(|connection| {
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
        let connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let commit = || -> rusqlite::Result<Option<(Revision, Vec<News>)>> {
            let transaction = Transaction::new_unchecked(&connection, TransactionBehavior::Immediate)?;
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
            let revision = last(&transaction)? + 1;
            let mut news = Vec::new();
            for change in changes {
                match change {
                    Change::Put(key, value) => {
                        let query =
                            "INSERT INTO entry VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE SET value = ?2, revision = ?3";
                        transaction.prepare_cached(query)?.execute(params![key, value, revision])?;
                        news.push(News::Put(Entry { key: key.clone(), value: value.clone(), revision }));
                    }
                    Change::Remove(key) => {
                        if transaction.prepare_cached("DELETE FROM entry WHERE key = ?1")?.execute([key])? > 0 {
                            news.push(News::Removed(key.clone(), revision));
                        }
                    }
                }
            }
            transaction.execute("UPDATE last SET revision = ?1", [revision])?;
            transaction.commit()?;
            Ok(Some((revision, news)))
        };
        // What SQLite did not commit it will not commit later.
        let committed = commit().map_err(|error| Trouble::Unreached(format!("{}: {error}", self.path.display())))?;
        let Some((revision, news)) = committed else { return Ok(Committed::Refused) };
        // Before another one commits, so that they are in order.
        let mut kept = self.changes.lock();
        kept.news.extend(news.into_iter().map(|news| (revision, news)));
        while kept.news.len() > KEPT
            && let Some((revision, _)) = kept.news.pop_front()
        {
            kept.behind = revision;
        }
        self.changes.rings.notify_all();
        Ok(Committed::At(revision))
    }

    fn watch(&self, prefix: &str, behind: Revision) -> Result<Box<dyn Watch>, Trouble> {
        Ok(Box::new(Watching { prefix: prefix.into(), behind, told: 0, changes: Arc::clone(&self.changes) }))
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
    /// All changes up to this revision are told, and of the next one so many.
    behind: Revision,
    told: usize,
    changes: Arc<Changes>,
}

impl Watch for Watching {
    fn next(&mut self, wait: Duration) -> Result<Option<News>, Trouble> {
        let until = Instant::now() + wait;
        let mut kept = self.changes.lock();
        loop {
            if kept.behind > self.behind {
                return Err(Trouble::Refused("the watch is too far behind; list again".into()));
            }
            let from = kept.news.partition_point(|(revision, _)| *revision <= self.behind);
            let mut at = from + self.told;
            while let Some((revision, news)) = kept.news.get(at) {
                at += 1;
                // Where the next one is of another change, this one is told as a whole.
                if kept.news.get(at).is_none_or(|(next, _)| next != revision) {
                    (self.behind, self.told) = (*revision, 0);
                } else {
                    self.told += 1;
                }
                let (News::Put(Entry { key, .. }) | News::Removed(key, _)) = news;
                if key.starts_with(&self.prefix) {
                    return Ok(Some(news.clone()));
                }
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(None);
            }
            kept = self.changes.rings.wait_timeout(kept, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}
