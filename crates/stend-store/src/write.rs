//! What is added to the store. A repeat is one transaction: when it is added, it is on disk.

use jiff::Timestamp;
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, TransactionBehavior, params, params_from_iter};
use serde::Serialize;
use stend_model::plan::{Phase, SIDES};
use stend_model::record::Kind;
use stend_model::record::Record;
use stend_model::run::{Origin, Repeat, Run, RunState, Series, Session};
use stend_stand::hosts::check_name;

use super::blob::Encoder;
use super::error::{Difference, Result, StoreError, explain};
use super::{Store, checksum, label, reports, schema};

/// In what two runs of one id differ, as far as a person can tell them apart by it.
fn different(here: &Record, other: &Record) -> StoreError {
    let repeats = [here, other].map(|record| record.repeats.len());
    let first = here.repeats.iter().zip(&other.repeats).find(|(one, other)| one != other);
    let how = if here.run.suite.name != other.run.suite.name {
        Difference::Suite { coming: other.run.suite.name.clone(), here: here.run.suite.name.clone() }
    } else if here.run.machine.public != other.run.machine.public {
        if other.run.machine.public { Difference::Public } else { Difference::PublicHere }
    } else if repeats[0] != repeats[1] {
        Difference::Repeats { coming: repeats[1], here: repeats[0] }
    } else if let Some((repeat, _)) = first {
        Difference::Repeat(repeat.sequence)
    } else {
        Difference::Otherwise
    };
    StoreError::Different { run: here.run.id.clone(), how }
}

/// What importing a run that was carried here came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Carried {
    /// It is here now.
    New,
    /// It was here, and has so many more repeats.
    Grown(usize),
    /// It was here as it is.
    Known,
}

impl Store {
    /// Adds a new, open run.
    pub fn add_run(&mut self, run: &Run) -> Result<()> {
        self.at_once(|transaction| {
            add_run(transaction, run)?;
            run.label.as_deref().map_or(Ok(()), |label| label::add(transaction, &run.id, label))
        })
    }

    /// Adds a session to an open run.
    pub fn add_session(&mut self, run: &str, session: &Session) -> Result<()> {
        self.at_once(|transaction| add_session(transaction, run, session))
    }

    /// Makes several changes, or none.
    pub(super) fn at_once<T>(&mut self, change: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T> {
        let path = self.path.clone();
        let all = || {
            // What is read here is written next: of two that read first, SQLite would turn one away without waiting.
            let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let changed = change(&transaction)?;
            transaction.commit()?;
            Ok(changed)
        };
        all().map_err(|error| explain(&path, error))
    }

    /// Puts a session of an open run in its own place: more is known of it now.
    pub fn update_session(&mut self, run: &str, session: &Session) -> Result<()> {
        let (document, checksum) = document_of_session(run, session);
        self.connection
            .execute(
                "UPDATE session SET document = ?3, checksum = ?4 WHERE run = ?1 AND number = ?2",
                params![run, session.number, document, checksum],
            )
            .map(drop)
            .map_err(|error| explain(&self.path, error))
    }

    /// Adds a repeat with its series to an open run, and the report of a real tool as it came. When this returns, it is on disk.
    pub fn add_repeat(
        &mut self,
        run: &str,
        repeat: &Repeat,
        series: &[Series],
        own_report: Option<&str>,
    ) -> Result<()> {
        self.at_once(|transaction| {
            add_repeat(transaction, run, repeat, series)?;
            own_report.map_or(Ok(()), |text| reports::add(transaction, run, repeat.sequence, text))
        })
    }

    /// Notes that nothing more is added for now; `finished` for ever.
    pub fn close_run(&mut self, run: &str, at: Timestamp, finished: bool) -> Result<()> {
        self.at_once(|transaction| close_run(transaction, run, at, finished))
    }

    /// Removes runs with all that belongs to them, for ever.
    pub fn remove(&mut self, runs: &[String]) -> Result<()> {
        for run in runs {
            self.at_once(|transaction| {
                transaction.execute_batch(schema::NOT_KEPT)?;
                for table in ["label", "own_report", "series", "repeat", "session"] {
                    transaction.execute(&format!("DELETE FROM {table} WHERE run = ?1"), [run])?;
                }
                transaction.execute("DELETE FROM run WHERE id = ?1", [run])?;
                transaction.execute_batch(schema::KEPT)
            })?;
            self.remove_profiles(run);
        }
        // The runs are gone; that their room on the disk is given back, too, can wait for a better moment.
        let _ = self.connection.execute_batch("VACUUM");
        Ok(())
    }

    /// How many bytes a run takes, but for indexes.
    pub fn size_of(&self, run: &str) -> Result<u64> {
        let parts = [
            ("run", "id", "document"),
            ("session", "run", "document"),
            ("repeat", "run", "document"),
            ("series", "run", "data"),
            ("own_report", "run", "data"),
        ];
        let sums = parts.map(|(table, of, what)| {
            format!("(SELECT coalesce(sum(octet_length({what})), 0) FROM {table} WHERE {of} = ?1)")
        });
        self.connection
            .query_row(&format!("SELECT {}", sums.join(" + ")), [run], |row| row.get::<_, i64>(0))
            .map(i64::unsigned_abs)
            .map_err(|error| explain(&self.path, error))
    }

    /// Copies the store to a directory that is there, as it is at this moment, whoever writes to it meanwhile. The copy is a store.
    pub fn copy_to(&self, directory: &std::path::Path) -> Result<()> {
        let copy = directory.join("stend.db");
        self.connection.execute("VACUUM INTO ?1", [copy.to_string_lossy()]).map_err(|error| explain(&copy, error))?;
        Ok(())
    }

    /// Adds a whole run at once, as it comes from an export. A run that is there already with the same contents is fine: `false`.
    pub fn import(&mut self, record: &Record, series: &[(u32, Series)]) -> Result<bool> {
        if let Ok(id) = self.resolve(&record.run.id)
            && id == record.run.id
        {
            let mut here = self.load_whole(&id)?;
            here.run.imported = record.run.imported;
            here.run.label.clone_from(&record.run.label);
            let same = here == *record && self.series(&id)? == series;
            return if same { Ok(false) } else { Err(different(&here, record)) };
        }
        let added = self.add_whole(record, series);
        if added.is_err() {
            self.remove_profiles(&record.run.id);
        }
        added.map(|()| true)
    }

    fn add_whole(&mut self, record: &Record, series: &[(u32, Series)]) -> Result<()> {
        let path = self.path.clone();
        let explain = |error| explain(&path, error);
        let run = &record.run;
        let transaction = self.connection.unchecked_transaction().map_err(explain)?;
        let add = || -> rusqlite::Result<()> {
            add_run(&transaction, &Run { state: RunState::Open, ..run.clone() })?;
            for session in &record.sessions {
                add_session(&transaction, &run.id, session)?;
            }
            let mut rest = series;
            for repeat in &record.repeats {
                let own = rest.iter().take_while(|(sequence, _)| *sequence <= repeat.sequence).count();
                let (own, later) = rest.split_at(own);
                let own: Vec<_> = own.iter().map(|(_, series)| series.clone()).collect();
                add_repeat(&transaction, &run.id, repeat, &own)?;
                rest = later;
            }
            for (sequence, text) in &record.own_reports {
                reports::add(&transaction, &run.id, *sequence, text)?;
            }
            if let Some(at) = run.finished_at {
                close_run(&transaction, &run.id, at, run.state == RunState::Finished)?;
            }
            if let Some(label) = run.label.as_deref().filter(|label| check_name(label).is_ok()) {
                label::add_if_free(&transaction, &run.id, label)?;
            }
            Ok(())
        };
        add().map_err(explain)?;
        // When nothing else can fail but the disk, and before the run is there: a run that is there has all of its profiles. Those that a killed
        // import of it left are none of it.
        self.remove_profiles(&run.id);
        for profile in &record.profiles {
            let place = run.suite.scenarios.iter().position(|scenario| scenario.name == profile.scenario);
            let place = place
                .ok_or_else(|| StoreError::StrayProfile { run: run.id.clone(), scenario: profile.scenario.clone() })?;
            self.add_profile(&run.id, place, profile)?;
        }
        transaction.commit().map_err(explain)
    }

    /// Adds a run that was carried here. One that was carried here before, when it had less in it, gets the rest.
    pub fn import_carried(&mut self, record: &Record, series: &[(u32, Series)]) -> Result<Carried> {
        let id = &record.run.id;
        let known = self.resolve(id).is_ok_and(|found| found == *id);
        if !known {
            return self.import(record, series).map(|_| Carried::New);
        }
        let before = self.load(id)?;
        let begins_alike = before.run.carried
            && record.repeats.starts_with(&before.repeats)
            && record.sessions.starts_with(&before.sessions)
            && record.run.suite == before.run.suite;
        if !begins_alike {
            return Err(different(&before, record));
        }
        let added = record.repeats.len() - before.repeats.len();
        let finishes = record.run.state == RunState::Finished && before.run.state == RunState::Open;
        if added == 0 && !finishes {
            return Ok(Carried::Known);
        }
        for session in &record.sessions[before.sessions.len()..] {
            self.add_session(id, session)?;
        }
        for repeat in &record.repeats[before.repeats.len()..] {
            let own = series.iter().filter(|(sequence, _)| *sequence == repeat.sequence);
            let own: Vec<_> = own.map(|(_, series)| series.clone()).collect();
            self.add_repeat(id, repeat, &own, None)?;
        }
        if let Some(at) = record.run.finished_at {
            self.close_run(id, at, record.run.state == RunState::Finished)?;
        }
        Ok(Carried::Grown(added))
    }

    /// Gives the machine of a run that was carried here the name that this one has, with what is known of it by that name: a person may
    /// have given another one before. What it was called, unless it is called so already.
    pub fn call_carried(&mut self, run: &Run) -> Result<Option<String>> {
        let before = self.run(&run.id)?.host;
        if before == run.host {
            return Ok(None);
        }
        // All else in the document stays as it is written.
        let named = serde_json::json!({
            "host": run.host, "known": run.known, "machine": { "name": run.machine.name, "network_name": run.machine.network_name },
        });
        let changed = self.at_once(|transaction| {
            let document: String = transaction.query_row(
                "SELECT json_patch(json_remove(document, '$.known'), ?2) FROM run WHERE id = ?1",
                params![run.id, named.to_string()],
                |row| row.get(0),
            )?;
            change_run(transaction, &run.id, Some(&document), |column, value| match column {
                "host" => Value::Text(run.host.clone()),
                "machine" => Value::Text(run.machine.name.clone()),
                _ => value,
            })
        });
        changed.map(|()| Some(before))
    }
}

fn document<T: Serialize>(noun: &T) -> String {
    serde_json::to_string(noun).expect("a noun of the model is always valid JSON")
}

/// The columns of a run that its checksum covers, in their order.
pub(super) const RUN: [&str; 16] = [
    "started_at",
    "finished_at",
    "state",
    "kind",
    "suite",
    "host",
    "machine",
    "hardware_id",
    "software_id",
    "scenarios",
    "sessions",
    "repeats",
    "valid",
    "invalid",
    "failed",
    "document_checksum",
];

fn checksum_of_row(run: &str, values: &[Value]) -> i64 {
    checksum::of([ValueRef::from(run)].into_iter().chain(values.iter().map(ValueRef::from)))
}

/// Of a repeat's series all together, by each one's own.
pub(super) fn checksum_of_series(checksums: &[i64]) -> i64 {
    checksum::of(checksums.iter().map(|checksum| ValueRef::Integer(*checksum)))
}

fn add_run(connection: &Connection, run: &Run) -> rusqlite::Result<()> {
    let document = document(&Run { state: RunState::Open, finished_at: None, label: None, ..run.clone() });
    let text = |text: &str| Value::Text(text.to_owned());
    let count = |count: usize| Value::Integer(count as i64);
    let values = RUN.map(|column| match column {
        "started_at" => text(&run.started_at.to_string()),
        "finished_at" => Value::Null,
        "state" => text(RunState::Open.word()),
        "kind" => text(Kind::of(run).word()),
        "suite" => text(&run.suite.name),
        "host" => text(&run.host),
        "machine" => text(&run.machine.name),
        "hardware_id" => Value::Text(run.machine.hardware_id()),
        "software_id" => Value::Text(run.machine.software_id()),
        "scenarios" => count(run.suite.scenarios.len()),
        "document_checksum" => Value::Integer(checksum::of([ValueRef::from(document.as_str())])),
        _ => count(0),
    });
    let checksum = checksum_of_row(&run.id, &values);
    let places = vec!["?"; RUN.len()].join(", ");
    let insert = format!("INSERT INTO run ({}, checksum, document, id) VALUES ({places}, ?, ?, ?)", RUN.join(", "));
    let last = [Value::Integer(checksum), Value::Text(document), text(&run.id)];
    connection.execute(&insert, params_from_iter(values.into_iter().chain(last))).map(drop)
}

/// Changes the columns of a run's row one by one, and its document if there is another one.
fn change_run(
    connection: &Connection,
    run: &str,
    document: Option<&str>,
    change: impl Fn(&str, Value) -> Value,
) -> rusqlite::Result<()> {
    let query = format!("SELECT {} FROM run WHERE id = ?1", RUN.join(", "));
    let mut statement = connection.prepare_cached(&query)?;
    let mut values: Vec<Value> =
        statement.query_row([run], |row| (0..RUN.len()).map(|column| row.get(column)).collect())?;
    for (column, value) in RUN.iter().zip(&mut values) {
        *value = match (*column, document) {
            ("document_checksum", Some(document)) => Value::Integer(checksum::of([ValueRef::from(document)])),
            (column, _) => change(column, std::mem::replace(value, Value::Null)),
        };
    }
    let checksum = checksum_of_row(run, &values);
    let set = format!("{} = ?, checksum = ?", RUN.join(" = ?, "));
    let document = document.map(|document| Value::Text(document.to_owned()));
    let set = if document.is_some() { set + ", document = ?" } else { set };
    let values = values.into_iter().chain([Value::Integer(checksum)]).chain(document);
    connection
        .prepare_cached(&format!("UPDATE run SET {set} WHERE id = ?"))?
        .execute(params_from_iter(values.chain([Value::Text(run.to_owned())])))
        .map(drop)
}

/// One more of what these columns count.
fn count_in_run(connection: &Connection, run: &str, columns: &[&str]) -> rusqlite::Result<()> {
    change_run(connection, run, None, |column, value| match value {
        Value::Integer(count) if columns.contains(&column) => Value::Integer(count + 1),
        value => value,
    })
}

fn document_of_session(run: &str, session: &Session) -> (String, i64) {
    let document = document(session);
    let checksum = checksum::of([run.into(), ValueRef::Integer(session.number.into()), document.as_str().into()]);
    (document, checksum)
}

fn add_session(connection: &Connection, run: &str, session: &Session) -> rusqlite::Result<()> {
    let (document, checksum) = document_of_session(run, session);
    connection.execute(
        "INSERT INTO session (run, number, document, checksum) VALUES (?1, ?2, ?3, ?4)",
        params![run, session.number, document, checksum],
    )?;
    count_in_run(connection, run, &["sessions"])
}

fn add_repeat(connection: &Connection, run: &str, repeat: &Repeat, series: &[Series]) -> rusqlite::Result<()> {
    let phase = match repeat.phase {
        Phase::Warmup => "warmup",
        Phase::Measured => "measured",
    };
    // The column keeps a repeat from being stored twice. The two of a pair have one number, so there it counts both.
    let number =
        repeat.side.map_or(i64::from(repeat.number), |side| (i64::from(repeat.number) * SIDES as i64) + side as i64);
    let mut statement = connection.prepare_cached(
        "INSERT INTO series (run, sequence, origin, metric, samples, data, checksum) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?;
    let (mut encoder, mut checksums, mut samples) = (Encoder::new(), Vec::new(), 0);
    let mut in_order: Vec<_> = series.iter().collect();
    in_order.sort_by_key(|series| (series.origin, &series.metric));
    for series in in_order {
        let origin = match series.origin {
            Origin::Instrument => "instrument",
            Origin::Machine => "machine",
        };
        let (count, data) = (series.values.len() as i64, encoder.encode(series));
        let (sequence, samples_of_it) = (ValueRef::Integer(repeat.sequence.into()), ValueRef::Integer(count));
        let metric = series.metric.as_str();
        let checksum =
            checksum::of([run.into(), sequence, origin.into(), metric.into(), samples_of_it, ValueRef::Blob(&data)]);
        statement.execute(params![run, repeat.sequence, origin, metric, count, data, checksum])?;
        checksums.push(checksum);
        samples += count;
    }
    let (document, series) = (document(repeat), checksum_of_series(&checksums));
    let checksum = checksum::of([
        run.into(),
        ValueRef::Integer(repeat.sequence.into()),
        ValueRef::Integer(repeat.scenario as i64),
        phase.into(),
        ValueRef::Integer(number),
        ValueRef::Integer(samples),
        ValueRef::Integer(series),
        document.as_str().into(),
    ]);
    connection.execute(
        "INSERT INTO repeat (run, sequence, scenario, phase, number, samples, series, document, checksum)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        params![run, repeat.sequence, repeat.scenario as i64, phase, number, samples, series, document, checksum],
    )?;
    let counted = ["repeats", repeat.outcome.word()];
    count_in_run(connection, run, if repeat.phase == Phase::Measured { &counted } else { &counted[..1] })
}

fn close_run(connection: &Connection, run: &str, at: Timestamp, finished: bool) -> rusqlite::Result<()> {
    let state = if finished { "finished" } else { "open" };
    change_run(connection, run, None, |column, value| match column {
        "state" => Value::Text(state.to_owned()),
        "finished_at" => Value::Text(at.to_string()),
        _ => value,
    })
}
