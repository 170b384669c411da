//! The journal: what happened, and who did it. The server adds to it, and the file refuses to change or remove what is in it.

use jiff::Timestamp;
use rusqlite::{Row, params};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::database::Database;
use crate::error::ServerError;

/// What an entry is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Category {
    /// The server and the machines.
    Machines,
    /// Runs, the queue and the schedule.
    Runs,
    /// What comparisons say.
    Verdicts,
    /// Disks, by SMART.
    Disks,
    /// Temperatures, fans and voltages.
    Sensors,
    /// Users, sessions and tokens.
    Users,
}

impl Category {
    pub(crate) const ALL: [Self; 6] =
        [Self::Machines, Self::Runs, Self::Verdicts, Self::Disks, Self::Sensors, Self::Users];

    /// As it is given, and named among the messages.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Machines => "machines",
            Self::Runs => "runs",
            Self::Verdicts => "verdicts",
            Self::Disks => "disks",
            Self::Sensors => "sensors",
            Self::Users => "users",
        }
    }
}

macro_rules! kinds {
    ($($kind:ident $word:literal $category:ident $grave:literal,)+) => {
        /// What happened.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
        pub(crate) enum Kind {
            $(#[serde(rename = $word)] $kind,)+
        }

        impl Kind {
            pub(crate) const ALL: &[Self] = &[$(Self::$kind,)+];

            /// As it is stored, and named among the messages.
            pub(crate) fn word(self) -> &'static str {
                match self { $(Self::$kind => $word,)+ }
            }

            pub(crate) fn category(self) -> Category {
                match self { $(Self::$kind => Category::$category,)+ }
            }

            /// Whether somebody should look at it.
            pub(crate) fn is_grave(self) -> bool {
                match self { $(Self::$kind => $grave,)+ }
            }
        }
    };
}

kinds! {
    ServerStarted "server-started" Machines false,
    ServerEnded "server-ended" Machines false,
    RigUp "rig-up" Machines false,
    RigDown "rig-down" Machines false,
    RunQueued "run-queued" Runs false,
    RunBegan "run-began" Runs false,
    RunFinished "run-finished" Runs false,
    RunStopped "run-stopped" Runs false,
    RunFailed "run-failed" Runs true,
    RunResumed "run-resumed" Runs false,
    RunImported "run-imported" Runs false,
    RunsRemoved "runs-removed" Runs false,
    ScheduleAdded "schedule-added" Runs false,
    ScheduleRemoved "schedule-removed" Runs false,
    ScheduleRefused "schedule-refused" Runs true,
    RunWorse "run-worse" Verdicts true,
    RuleRefused "rule-refused" Verdicts false,
    DiskFailing "disk-failing" Disks true,
    DiskHealthy "disk-healthy" Disks false,
    SensorHot "sensor-hot" Sensors true,
    SensorCool "sensor-cool" Sensors false,
    TellingFailed "telling-failed" Machines false,
    TellingGivenUp "telling-given-up" Machines true,
    SignedIn "signed-in" Users false,
    SignInRefused "sign-in-refused" Users true,
    UserAdded "user-added" Users false,
    UserRemoved "user-removed" Users false,
    RoleChanged "role-changed" Users false,
    PasswordChanged "password-changed" Users false,
    TokenMade "token-made" Users false,
    TokenEnded "token-ended" Users false,
}

/// An entry.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Entry {
    /// Its number.
    pub(crate) id: i64,
    /// When it happened.
    pub(crate) at: String,
    /// What it is about.
    pub(crate) category: Category,
    /// What happened.
    pub(crate) kind: Kind,
    /// Whether somebody should look at it.
    pub(crate) is_grave: bool,
    /// Who did it; none if it was the server, or whoever started it.
    pub(crate) who: Option<String>,
    /// The run, user, machine or token.
    pub(crate) about: String,
    /// More of it: a suite, a role, a reason.
    pub(crate) detail: String,
}

impl Database {
    /// Adds an entry.
    pub(crate) fn note(&self, kind: Kind, who: Option<&str>, about: &str, detail: &str) -> Result<(), ServerError> {
        self.change(
            "INSERT INTO journal (at, kind, who, about, detail) VALUES (?1, ?2, ?3, ?4, ?5)",
            params![Timestamp::now().to_string(), kind.word(), who, about, detail],
        )?;
        self.noted.set(true);
        Ok(())
    }

    /// Whether there is such an entry.
    pub(crate) fn was_noted(&self, kind: Kind, about: &str, detail: &str) -> Result<bool, ServerError> {
        let query = "SELECT EXISTS (SELECT 1 FROM journal WHERE kind = ?1 AND about = ?2 AND detail = ?3)";
        let found = self.connection.query_row(query, [kind.word(), about, detail], |row| row.get(0));
        found.map_err(|source| self.explain(source))
    }

    /// The same, unless it says what the last one says.
    pub(crate) fn note_once(&self, kind: Kind, about: &str, detail: &str) -> Result<(), ServerError> {
        let last = self.entries(None, None, 1)?;
        let is_said = last.iter().any(|last| last.kind == kind && last.about == about && last.detail == detail);
        if is_said { Ok(()) } else { self.note(kind, None, about, detail) }
    }

    /// The newest entries, newest first: of a category, from before this one.
    pub(crate) fn entries(
        &self,
        category: Option<Category>,
        before: Option<i64>,
        limit: usize,
    ) -> Result<Vec<Entry>, ServerError> {
        let is_wanted = |kind: &&Kind| category.is_none_or(|category| kind.category() == category);
        let kinds: Vec<_> = Kind::ALL.iter().filter(is_wanted).map(|kind| format!("'{}'", kind.word())).collect();
        self.read_entries(
            &format!(
                "SELECT id, at, kind, who, about, detail FROM journal \
                 WHERE id < ?1 AND kind IN ({}) ORDER BY id DESC LIMIT ?2",
                kinds.join(", ")
            ),
            params![before.unwrap_or(i64::MAX), limit as i64],
        )
    }

    /// The entries behind this one, oldest first.
    pub(crate) fn entries_after(&self, last: i64, limit: usize) -> Result<Vec<Entry>, ServerError> {
        let kinds: Vec<_> = Kind::ALL.iter().map(|kind| format!("'{}'", kind.word())).collect();
        self.read_entries(
            &format!(
                "SELECT id, at, kind, who, about, detail FROM journal \
                 WHERE id > ?1 AND kind IN ({}) ORDER BY id LIMIT ?2",
                kinds.join(", ")
            ),
            params![last, limit as i64],
        )
    }

    fn read_entries(&self, query: &str, given: impl rusqlite::Params) -> Result<Vec<Entry>, ServerError> {
        let read = || -> rusqlite::Result<Vec<Option<Entry>>> {
            self.connection.prepare_cached(query)?.query_map(given, entry)?.collect()
        };
        // What a newer version noted is for that one.
        read().map(|entries| entries.into_iter().flatten().collect()).map_err(|source| self.explain(source))
    }
}

fn entry(row: &Row) -> rusqlite::Result<Option<Entry>> {
    let word: String = row.get("kind")?;
    let Some(kind) = Kind::ALL.iter().copied().find(|kind| kind.word() == word) else { return Ok(None) };
    Ok(Some(Entry {
        id: row.get("id")?,
        at: row.get("at")?,
        category: kind.category(),
        kind,
        is_grave: kind.is_grave(),
        who: row.get("who")?,
        about: row.get("about")?,
        detail: row.get("detail")?,
    }))
}
