//! What people call runs: at most one name a run, at most one run a name. A name may be given to a finished run, which is not changed by it.

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension as _, params};
use stend_model::run::session_of_label;

use super::error::{Result, StoreError, explain};
use super::{Store, schema};

impl Store {
    /// Makes room for them in a store of an older version.
    pub(super) fn make_labels(&self) -> Result<()> {
        // Only what is not there yet takes the lock for writing.
        if self.has_labels()? {
            return Ok(());
        }
        self.connection.execute_batch(schema::LABELS).map_err(|error| explain(&self.path, error))
    }

    /// Gives a run a label in place of the one that it has, if any; with none, takes that one away. Of what it was called.
    pub fn label(&mut self, run: &str, label: Option<&str>) -> Result<Option<String>> {
        let before = self.label_of(run)?;
        if let Some(label) = label {
            self.check_free(label, run)?;
        }
        self.at_once(|transaction| {
            transaction.execute("DELETE FROM label WHERE run = ?1", [run])?;
            label.map_or(Ok(()), |label| add(transaction, run, label))
        })?;
        Ok(before)
    }

    /// Refuses a label that another run has.
    pub fn check_free(&self, label: &str, run: &str) -> Result<()> {
        match self.labelled(label)? {
            Some(other) if other != run => Err(StoreError::LabelTaken { label: label.to_owned(), run: other }),
            _ => Ok(()),
        }
    }

    /// Of each run that has one.
    pub(super) fn labels(&self) -> Result<BTreeMap<String, String>> {
        if !self.has_labels()? {
            return Ok(BTreeMap::new());
        }
        let all = || -> rusqlite::Result<_> {
            let mut statement = self.connection.prepare("SELECT run, name FROM label")?;
            statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
        };
        all().map_err(|error| explain(&self.path, error))
    }

    /// Of this run.
    pub fn label_of(&self, run: &str) -> Result<Option<String>> {
        self.find("SELECT name FROM label WHERE run = ?1", run)
    }

    /// The id of the run that is called so.
    pub fn labelled(&self, label: &str) -> Result<Option<String>> {
        self.find("SELECT run FROM label WHERE name = ?1", label)
    }

    /// The labels of the sessions of this name, in the order of their numbers.
    pub(super) fn sessions_called(&self, name: &str) -> Result<Vec<String>> {
        let labels = self.labels()?.into_values();
        let number = |label: &str| session_of_label(label).filter(|(of, _)| *of == name).map(|(_, number)| number);
        let mut found: Vec<(u32, String)> = labels.filter_map(|label| Some((number(&label)?, label))).collect();
        found.sort_unstable();
        Ok(found.into_iter().map(|(_, label)| label).collect())
    }

    fn find(&self, query: &str, wanted: &str) -> Result<Option<String>> {
        if !self.has_labels()? {
            return Ok(None);
        }
        let found = self.connection.query_row(query, [wanted], |row| row.get(0)).optional();
        found.map_err(|error| explain(&self.path, error))
    }

    /// A store that an older version made, and that was only read since, has none.
    fn has_labels(&self) -> Result<bool> {
        let query = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'label'";
        let count = self.connection.query_row(query, [], |row| row.get::<_, i64>(0));
        count.map(|count| count > 0).map_err(|error| explain(&self.path, error))
    }
}

pub(super) fn add(connection: &Connection, run: &str, label: &str) -> rusqlite::Result<()> {
    connection.execute("INSERT INTO label (name, run) VALUES (?2, ?1)", params![run, label]).map(drop)
}

/// The same, unless another run has it.
pub(super) fn add_if_free(connection: &Connection, run: &str, label: &str) -> rusqlite::Result<()> {
    connection.execute("INSERT OR IGNORE INTO label (name, run) VALUES (?2, ?1)", params![run, label]).map(drop)
}
