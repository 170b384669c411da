//! Files of versions that had a table for each kind, as they become one of entries.

use std::path::Path;

use rusqlite::{Connection, Transaction, TransactionBehavior};
use stend_fleet::{FORMAT, TABLES, WAIT_TO_WRITE};

/// How each format was made from the one before it; the first from an empty file.
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

/// What the tables have, as entries. Secrets are bound to their users as those of this version are.
const ENTRIES: &str = "
    INSERT INTO entry SELECT 'lab/order/' || printf('%012d', id), json_object(
        'batch', json_object('order', json_remove(asked, '$.machine'), 'machines', json_array(machine)),
        'key', key, 'user', user, 'asked_at', asked_at, 'runs', json_array(run), 'of', batch, 'round', round), 1
    FROM job;
    INSERT INTO entry SELECT 'lab/job/' || printf('%012d', id), json_object(
        'state', state, 'reason', reason, 'began_at', began_at, 'ended_at', ended_at), 1
    FROM job;
    INSERT INTO entry SELECT 'lab/users', json_group_object(name, json_object(
        'role', role, 'password', password, 'made_at', made_at)), 1
    FROM user HAVING count(*) > 0;
    INSERT INTO entry SELECT 'lab/secret/' || lower(hex(digest)), json_object(
        'id', secret.id, 'kind', kind, 'user', user, 'user_made_at', user.made_at, 'role', secret.role,
        'name', secret.name, 'made_at', secret.made_at, 'ends_at', ends_at), 1
    FROM secret LEFT JOIN user ON user.name = secret.user;
    INSERT INTO entry SELECT 'lab/line/' || printf('%012d', id), json_object(
        'cron', cron, 'order', json(asked), 'user', user, 'made_at', made_at), 1
    FROM schedule;
    INSERT INTO entry SELECT 'lab/count/line', seq, 1 FROM sqlite_sequence WHERE name = 'schedule';
    INSERT INTO entry SELECT 'lab/journal/' || printf('%012d', id), json_object(
        'at', at, 'kind', kind, 'who', who, 'about', about, 'detail', detail), 1
    FROM journal;
    INSERT INTO entry SELECT 'lab/told/' || destination, json_object(
        'last', last, 'since', since, 'delivered', delivered, 'failed', failed, 'given_up', given_up), 1
    FROM told;
    INSERT INTO entry SELECT 'lab/file/' || sha256, kept_at, 1 FROM file;
    INSERT INTO entry SELECT 'text/' || sha256, text, 1 FROM file;
    UPDATE last SET revision = 1;
    DROP TABLE job; DROP TABLE secret; DROP TABLE user; DROP TABLE schedule; DROP TABLE journal; DROP TABLE told; DROP TABLE file;
";

/// Makes a file of an older format one of this, all at once or not at all. Other files are left alone.
pub(crate) fn renew(path: &Path) -> rusqlite::Result<()> {
    let connection = Connection::open(path)?;
    connection.busy_timeout(WAIT_TO_WRITE)?;
    // A table that others refer to cannot be made anew with the keys checked.
    connection.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = OFF;")?;
    // At once to write: of two that open an old file one waits for the other.
    let transaction = Transaction::new_unchecked(&connection, TransactionBehavior::Immediate)?;
    let format: i64 = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
    if !(1..FORMAT).contains(&format) {
        return Ok(());
    }
    for step in STEPS.iter().skip(usize::try_from(format).unwrap_or_default()) {
        transaction.execute_batch(step)?;
    }
    transaction.execute_batch(TABLES)?;
    transaction.execute_batch(ENTRIES)?;
    transaction.pragma_update(None, "user_version", FORMAT)?;
    transaction.commit()
}
