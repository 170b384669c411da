//! What is added to the store. A repeat is one transaction: when it is added, it is on disk.

use jiff::Timestamp;
use rusqlite::{Connection, params};
use serde::Serialize;
use stend_model::plan::{Phase, SIDES};
use stend_model::run::{Origin, Repeat, Run, RunState, Series, Session};

use super::blob::Encoder;
use super::error::{Result, StoreError, explain};
use super::{Record, Store};

/// What importing a run that was carried here came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Carried {
    /// It is here now.
    New,
    /// It was here, and has so many more repeats.
    Grown(usize),
    /// It was here as it is.
    Known,
}

impl Store {
    /// Adds a new, open run.
    pub(crate) fn add_run(&mut self, run: &Run) -> Result<()> {
        add_run(&self.connection, run).map_err(|error| explain(&self.path, error))
    }

    /// Adds a session to an open run.
    pub(crate) fn add_session(&mut self, run: &str, session: &Session) -> Result<()> {
        add_session(&self.connection, run, session).map_err(|error| explain(&self.path, error))
    }

    /// Puts a session of an open run in its own place: more is known of it now.
    pub(crate) fn update_session(&mut self, run: &str, session: &Session) -> Result<()> {
        self.connection
            .execute(
                "UPDATE session SET document = ?3 WHERE run = ?1 AND number = ?2",
                params![run, session.number, document(session)],
            )
            .map(drop)
            .map_err(|error| explain(&self.path, error))
    }

    /// Adds a repeat with its series to an open run. When this returns, it is on disk.
    pub(crate) fn add_repeat(&mut self, run: &str, repeat: &Repeat, series: &[Series]) -> Result<()> {
        let path = self.path.clone();
        let mut add = || -> rusqlite::Result<()> {
            let transaction = self.connection.transaction()?;
            add_repeat(&transaction, run, repeat, series)?;
            transaction.commit()
        };
        add().map_err(|error| explain(&path, error))
    }

    /// Notes that nothing more is added for now; `finished` for ever.
    pub(crate) fn close_run(&mut self, run: &str, at: Timestamp, finished: bool) -> Result<()> {
        close_run(&self.connection, run, at, finished).map_err(|error| explain(&self.path, error))
    }

    /// Adds a whole run at once, as it comes from an export. A run that is there already with the same contents is fine: `false`.
    pub(crate) fn import(&mut self, record: &Record, series: &[(u32, Series)]) -> Result<bool> {
        if let Ok(id) = self.resolve(&record.run.id)
            && id == record.run.id
        {
            let mut here = self.load(&id)?;
            here.run.imported = record.run.imported;
            let same = here == *record && self.series(&id)? == series;
            return if same { Ok(false) } else { Err(StoreError::Different(id)) };
        }
        // First, so that a run that is there has all of its profiles.
        for profile in &record.profiles {
            let place = record.run.suite.scenarios.iter().position(|scenario| scenario.name == profile.scenario);
            self.add_profile(&record.run.id, place.unwrap_or_default(), profile)?;
        }
        let path = self.path.clone();
        let mut add = || -> rusqlite::Result<()> {
            let transaction = self.connection.transaction()?;
            let run = &record.run;
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
            if let Some(at) = run.finished_at {
                close_run(&transaction, &run.id, at, run.state == RunState::Finished)?;
            }
            transaction.commit()
        };
        add().map_err(|error| explain(&path, error)).map(|()| true)
    }

    /// Adds a run that was carried here. One that was carried here before, when it had less in it, gets the rest.
    pub(crate) fn import_carried(&mut self, record: &Record, series: &[(u32, Series)]) -> Result<Carried> {
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
            return Err(StoreError::Different(id.clone()));
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
            self.add_repeat(id, repeat, &own)?;
        }
        if let Some(at) = record.run.finished_at {
            self.close_run(id, at, record.run.state == RunState::Finished)?;
        }
        Ok(Carried::Grown(added))
    }

    /// Gives the machine of a run that was carried here the name that this one has, with what is known of it by that name: a person may
    /// have given another one before. What it was called, unless it is called so already.
    pub(crate) fn call_carried(&mut self, run: &Run) -> Result<Option<String>> {
        let before = self.run(&run.id)?.host;
        if before == run.host {
            return Ok(None);
        }
        // All else in the document stays as it is written.
        let named = serde_json::json!({
            "host": run.host, "known": run.known, "machine": { "name": run.machine.name, "network_name": run.machine.network_name },
        });
        let change = "UPDATE run SET host = ?2, machine = ?3, document = json_patch(json_remove(document, '$.known'), ?4) WHERE id = ?1";
        let changed = self.connection.execute(change, params![run.id, run.host, run.machine.name, named.to_string()]);
        changed.map(|_| Some(before)).map_err(|error| explain(&self.path, error))
    }
}

fn document<T: Serialize>(noun: &T) -> String {
    serde_json::to_string(noun).expect("a noun of the model is always valid JSON")
}

fn add_run(connection: &Connection, run: &Run) -> rusqlite::Result<()> {
    connection
        .execute(
            "INSERT INTO run (id, started_at, state, suite, host, machine, hardware_id, software_id, scenarios, document)
             VALUES (?1, ?2, 'open', ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            params![
                run.id,
                run.started_at.to_string(),
                run.suite.name,
                run.host,
                run.machine.name,
                run.machine.hardware_id(),
                run.machine.software_id(),
                run.suite.scenarios.len() as i64,
                document(&Run { state: RunState::Open, finished_at: None, ..run.clone() }),
            ],
        )
        .map(|_| ())
}

fn add_session(connection: &Connection, run: &str, session: &Session) -> rusqlite::Result<()> {
    connection
        .execute(
            "INSERT INTO session (run, number, document) VALUES (?1, ?2, ?3)",
            params![run, session.number, document(session)],
        )
        .map(|_| ())
}

fn add_repeat(connection: &Connection, run: &str, repeat: &Repeat, series: &[Series]) -> rusqlite::Result<()> {
    let phase = match repeat.phase {
        Phase::Warmup => "warmup",
        Phase::Measured => "measured",
    };
    // The column keeps a repeat from being stored twice. The two of a pair have one number, so there it counts both.
    let number =
        repeat.side.map_or(i64::from(repeat.number), |side| (i64::from(repeat.number) * SIDES as i64) + side as i64);
    connection.execute(
        "INSERT INTO repeat (run, sequence, scenario, phase, number, document) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        params![run, repeat.sequence, repeat.scenario as i64, phase, number, document(repeat)],
    )?;
    let mut statement = connection.prepare_cached(
        "INSERT INTO series (run, sequence, origin, metric, samples, data) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?;
    let mut encoder = Encoder::new();
    for series in series {
        let origin = match series.origin {
            Origin::Instrument => "instrument",
            Origin::Machine => "machine",
        };
        statement.execute(params![
            run,
            repeat.sequence,
            origin,
            series.metric,
            series.values.len() as i64,
            encoder.encode(series)
        ])?;
    }
    if repeat.phase == Phase::Measured {
        let column = repeat.outcome.word();
        connection.execute(&format!("UPDATE run SET {column} = {column} + 1 WHERE id = ?1"), [run])?;
    }
    Ok(())
}

fn close_run(connection: &Connection, run: &str, at: Timestamp, finished: bool) -> rusqlite::Result<()> {
    let state = if finished { "finished" } else { "open" };
    connection
        .execute("UPDATE run SET state = ?2, finished_at = ?3 WHERE id = ?1", params![run, state, at.to_string()])
        .map(|_| ())
}
