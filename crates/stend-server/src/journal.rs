//! The journal: what happened, and who did it. The server adds to it, and the file of one node refuses to change or remove what is in it.

use std::collections::HashMap;
use std::ops::Bound;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stend_fleet::Change;
use stend_model::plain;

use crate::accounts::fresh_secret;
use crate::database::{Edit, Records, numbered};
use crate::gate::NEW_ENTRY;

/// No text of an agent is longer.
const LONGEST_OF_AGENT: usize = 500;

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
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
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
    RigStarted "rig-started" Machines false,
    RigStopped "rig-stopped" Machines false,
    RigSnapshot "rig-snapshot" Machines false,
    RigSnapshotRemoved "rig-snapshot-removed" Machines false,
    RigReverted "rig-reverted" Machines false,
    RigCloned "rig-cloned" Machines false,
    RigMigrated "rig-migrated" Machines false,
    ScreenOpened "screen-opened" Machines false,
    RunQueued "run-queued" Runs false,
    RunBegan "run-began" Runs false,
    RunFinished "run-finished" Runs false,
    RunStopped "run-stopped" Runs false,
    RunFailed "run-failed" Runs true,
    RunResumed "run-resumed" Runs false,
    RunTakenOver "run-taken-over" Runs false,
    ArchiveMended "archive-mended" Machines true,
    RunImported "run-imported" Runs false,
    RunsRemoved "runs-removed" Runs false,
    ScheduleAdded "schedule-added" Runs false,
    ScheduleRemoved "schedule-removed" Runs false,
    SchedulePutBack "schedule-put-back" Runs false,
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
    UserPutBack "user-put-back" Users false,
    PasswordChanged "password-changed" Users false,
    TokenMade "token-made" Users false,
    TokenEnded "token-ended" Users false,
    UpdateOffered "update-offered" Machines false,
    NodeUpdated "node-updated" Machines false,
    UpdateFailed "update-failed" Machines true,
    NodeJoined "node-joined" Machines false,
    NodeLeft "node-left" Machines false,
    Invited "invited" Users false,
    AgentJoined "agent-joined" Users false,
    AgentRevoked "agent-revoked" Users false,
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

/// An entry as it is kept, by its number.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Noted {
    at: String,
    pub(crate) kind: Kind,
    who: Option<String>,
    about: String,
    detail: String,
}

/// What an agent says, as far as it is kept.
pub(crate) fn of_agent(text: &str) -> String {
    plain::one_line(text).chars().take(LONGEST_OF_AGENT).collect()
}

impl Noted {
    /// The same as it is kept of an agent, whose clock and words are its own.
    pub(crate) fn of_agent(self, name: &str) -> Self {
        let (about, detail) = (of_agent(&self.about), of_agent(&self.detail));
        Self { at: Timestamp::now().to_string(), who: Some(name.to_owned()), about, detail, ..self }
    }

    /// Whether it is of a change to this user.
    pub(crate) fn is_of_user(&self, name: &str) -> bool {
        let is_change = matches!(
            self.kind,
            Kind::UserAdded | Kind::UserRemoved | Kind::RoleChanged | Kind::UserPutBack | Kind::PasswordChanged
        );
        is_change && self.about == name
    }
}

fn entry((number, noted): (&str, &Noted)) -> Entry {
    let Noted { at, kind, who, about, detail } = noted;
    Entry {
        id: number.parse().unwrap_or_default(),
        at: at.clone(),
        category: kind.category(),
        kind: *kind,
        is_grave: kind.is_grave(),
        who: who.clone(),
        about: about.clone(),
        detail: detail.clone(),
    }
}

impl Edit<'_, '_> {
    /// Adds an entry, and gives its number; an agent does not know it.
    pub(crate) fn note(&mut self, kind: Kind, who: Option<&str>, about: &str, detail: &str) -> i64 {
        let (who, about, detail) = (who.map(str::to_owned), about.to_owned(), detail.to_owned());
        let noted = Noted { at: Timestamp::now().to_string(), kind, who, about, detail };
        if self.known.myself.is_some() {
            let text = serde_json::to_string(&noted).expect("it can be written");
            self.beside(Change::Put(format!("{NEW_ENTRY}{}", fresh_secret()), text));
            return 0;
        }
        let mut id = self.known.last_entry() + 1;
        while self.puts(&key(id)) {
            id += 1;
        }
        self.put(&key(id), &noted);
        id
    }

    /// The same, unless it says what the last one says.
    pub(crate) fn note_once(&mut self, kind: Kind, about: &str, detail: &str) {
        let last = self.known.journal.iter().next_back();
        let is_said = last.is_some_and(|(_, last)| last.kind == kind && last.about == about && last.detail == detail);
        if !is_said {
            self.note(kind, None, about, detail);
        }
    }
}

fn key(id: i64) -> String {
    format!("journal/{}", numbered(id))
}

impl Records {
    /// The number of the last entry; 0 if there is none.
    pub(crate) fn last_entry(&self) -> i64 {
        self.journal.last_key().and_then(|key| key.parse().ok()).unwrap_or_default()
    }

    /// Whether there is such an entry.
    pub(crate) fn was_noted(&self, kind: Kind, about: &str, detail: &str) -> bool {
        self.journal.iter().any(|(_, noted)| noted.kind == kind && noted.about == about && noted.detail == detail)
    }

    /// Which of two kinds was noted last of something.
    pub(crate) fn last_of(&self, about: &str, one: Kind, other: Kind) -> Option<Kind> {
        let mut kinds =
            self.journal.iter().rev().filter(|(_, noted)| noted.about == about).map(|(_, noted)| noted.kind);
        kinds.find(|kind| [one, other].contains(kind))
    }

    /// How many entries of each kind there are.
    pub(crate) fn count_kinds(&self) -> HashMap<Kind, usize> {
        let mut counts = HashMap::new();
        for (_, noted) in self.journal.iter() {
            *counts.entry(noted.kind).or_default() += 1;
        }
        counts
    }

    /// The newest entries, newest first: of a category, from before this one.
    pub(crate) fn entries(&self, category: Option<Category>, before: Option<i64>, limit: usize) -> Vec<Entry> {
        let is_wanted = |(_, noted): &(&str, &Noted)| category.is_none_or(|category| noted.kind.category() == category);
        let before = before.map_or(Bound::Unbounded, |id| Bound::Excluded(numbered(id.max(0))));
        let range = self.journal.range::<String>((Bound::Unbounded, before));
        range.rev().filter(is_wanted).take(limit).map(entry).collect()
    }

    /// The entries behind this one, oldest first.
    pub(crate) fn entries_after(&self, last: i64, limit: usize) -> Vec<Entry> {
        self.journal
            .range::<String>((Bound::Excluded(numbered(last)), Bound::Unbounded))
            .take(limit)
            .map(entry)
            .collect()
    }
}
