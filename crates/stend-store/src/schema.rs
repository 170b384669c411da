//! The tables.

/// The format that this version writes, kept in SQLite's `user_version`.
pub(super) const FORMAT: i64 = 4;

/// Documents are JSON: what is searched or listed stands in columns of its own beside them. Each row has a checksum of the run's id and of its other
/// columns; a run's covers its document by that one's own checksum, so that a list does not read documents. `repeat.series` is one of the checksums
/// of the repeat's series, and `run.sessions` and `run.repeats` count what belongs to the run, so that what is lost is missed.
pub(super) const TABLES: &str = "
CREATE TABLE run (
    id TEXT PRIMARY KEY,
    started_at TEXT NOT NULL,
    finished_at TEXT,
    state TEXT NOT NULL CHECK (state IN ('open', 'finished')),
    kind TEXT NOT NULL,
    suite TEXT NOT NULL,
    host TEXT NOT NULL,
    machine TEXT NOT NULL,
    hardware_id TEXT NOT NULL,
    software_id TEXT NOT NULL,
    scenarios INTEGER NOT NULL,
    sessions INTEGER NOT NULL DEFAULT 0,
    repeats INTEGER NOT NULL DEFAULT 0,
    valid INTEGER NOT NULL DEFAULT 0,
    invalid INTEGER NOT NULL DEFAULT 0,
    failed INTEGER NOT NULL DEFAULT 0,
    document_checksum INTEGER NOT NULL,
    checksum INTEGER NOT NULL,
    document TEXT NOT NULL
) STRICT;
CREATE INDEX run_by_time ON run (started_at);

CREATE TABLE session (
    run TEXT NOT NULL REFERENCES run (id),
    number INTEGER NOT NULL,
    checksum INTEGER NOT NULL,
    document TEXT NOT NULL,
    PRIMARY KEY (run, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE repeat (
    run TEXT NOT NULL REFERENCES run (id),
    sequence INTEGER NOT NULL,
    scenario INTEGER NOT NULL,
    phase TEXT NOT NULL,
    number INTEGER NOT NULL,
    samples INTEGER NOT NULL,
    series INTEGER NOT NULL,
    checksum INTEGER NOT NULL,
    document TEXT NOT NULL,
    PRIMARY KEY (run, sequence),
    UNIQUE (run, scenario, phase, number)
) STRICT;

CREATE TABLE series (
    run TEXT NOT NULL REFERENCES run (id),
    sequence INTEGER NOT NULL,
    origin TEXT NOT NULL,
    metric TEXT NOT NULL,
    samples INTEGER NOT NULL,
    checksum INTEGER NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (run, sequence, origin, metric)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER finished_run_gets_no_session BEFORE INSERT ON session WHEN (SELECT state FROM run WHERE id = NEW.run) = 'finished'
BEGIN SELECT RAISE(ABORT, 'the run is finished and cannot be changed'); END;
CREATE TRIGGER finished_run_gets_no_repeat BEFORE INSERT ON repeat WHEN (SELECT state FROM run WHERE id = NEW.run) = 'finished'
BEGIN SELECT RAISE(ABORT, 'the run is finished and cannot be changed'); END;
CREATE TRIGGER finished_run_gets_no_series BEFORE INSERT ON series WHEN (SELECT state FROM run WHERE id = NEW.run) = 'finished'
BEGIN SELECT RAISE(ABORT, 'the run is finished and cannot be changed'); END;
CREATE TRIGGER repeats_stay BEFORE UPDATE ON repeat
BEGIN SELECT RAISE(ABORT, 'a repeat cannot be changed'); END;
CREATE TRIGGER series_stay BEFORE UPDATE ON series
BEGIN SELECT RAISE(ABORT, 'a series cannot be changed'); END;

-- What is known of a session only at its end is added then; a session of a finished run stays. So does the run, but for what a person calls the
-- machine of one that was carried here.
CREATE TRIGGER sessions_of_finished_runs_stay BEFORE UPDATE ON session WHEN (SELECT state FROM run WHERE id = OLD.run) = 'finished'
BEGIN SELECT RAISE(ABORT, 'the run is finished and cannot be changed'); END;
CREATE TRIGGER finished_run_stays_but_for_a_given_name BEFORE UPDATE ON run WHEN OLD.state = 'finished' AND NOT (
    json_extract(OLD.document, '$.carried') IS 1
    AND json_remove(OLD.document, '$.host', '$.known', '$.machine.name', '$.machine.network_name')
        IS json_remove(NEW.document, '$.host', '$.known', '$.machine.name', '$.machine.network_name')
    AND (OLD.id, OLD.started_at, OLD.finished_at, OLD.state, OLD.kind, OLD.suite, OLD.hardware_id, OLD.software_id, OLD.scenarios)
        IS (NEW.id, NEW.started_at, NEW.finished_at, NEW.state, NEW.kind, NEW.suite, NEW.hardware_id, NEW.software_id, NEW.scenarios)
    AND (OLD.sessions, OLD.repeats, OLD.valid, OLD.invalid, OLD.failed) IS (NEW.sessions, NEW.repeats, NEW.valid, NEW.invalid, NEW.failed)
)
BEGIN SELECT RAISE(ABORT, 'the run is finished and cannot be changed'); END;
CREATE TABLE own_report (
    run TEXT NOT NULL REFERENCES run (id),
    sequence INTEGER NOT NULL,
    checksum INTEGER NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (run, sequence)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER finished_run_gets_no_own_report BEFORE INSERT ON own_report WHEN (SELECT state FROM run WHERE id = NEW.run) = 'finished'
BEGIN SELECT RAISE(ABORT, 'the run is finished and cannot be changed'); END;
CREATE TRIGGER own_reports_stay BEFORE UPDATE ON own_report
BEGIN SELECT RAISE(ABORT, 'a report cannot be changed'); END;
";

/// What keeps rows from being removed, but for [`super::Store::remove`].
pub(super) const KEPT: &str = "
CREATE TRIGGER finished_run_is_kept BEFORE DELETE ON run WHEN OLD.state = 'finished'
BEGIN SELECT RAISE(ABORT, 'the run is finished and cannot be changed'); END;
CREATE TRIGGER sessions_are_kept BEFORE DELETE ON session
BEGIN SELECT RAISE(ABORT, 'a session cannot be removed'); END;
CREATE TRIGGER repeats_are_kept BEFORE DELETE ON repeat
BEGIN SELECT RAISE(ABORT, 'a repeat cannot be removed'); END;
CREATE TRIGGER series_are_kept BEFORE DELETE ON series
BEGIN SELECT RAISE(ABORT, 'a series cannot be removed'); END;
CREATE TRIGGER own_reports_are_kept BEFORE DELETE ON own_report
BEGIN SELECT RAISE(ABORT, 'a report cannot be removed'); END;
";

/// The same triggers, gone.
pub(super) const NOT_KEPT: &str = "
DROP TRIGGER finished_run_is_kept;
DROP TRIGGER sessions_are_kept;
DROP TRIGGER repeats_are_kept;
DROP TRIGGER series_are_kept;
DROP TRIGGER own_reports_are_kept;
";

/// What people call runs. No part of the format: stores of older versions get it, and those versions do without it.
pub(super) const LABELS: &str = "
CREATE TABLE IF NOT EXISTS label (
    name TEXT PRIMARY KEY,
    run TEXT NOT NULL UNIQUE
) STRICT, WITHOUT ROWID;
";
