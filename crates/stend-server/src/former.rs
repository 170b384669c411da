//! What changes of users and of the schedule found: with it they are put back, if nothing has changed the same since.

use std::ops::Bound;

use serde::{Deserialize, Serialize};

use crate::accounts::{Account, Role};
use crate::database::{Edit, Records, numbered};
use crate::error::ServerError;
use crate::journal::Kind;
use crate::schedule::Planned;

/// So many changes can be put back. What was before older ones is forgotten.
const KEPT: usize = 1000;

/// What was there before a change, by the number of its entry in the journal; nothing if the change added it. It has the hash of a password, and is shown
/// to nobody.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Former {
    /// A user, by name.
    User(String, Option<Account>),
    /// A line of the schedule, by its number.
    Line(i64, Option<Box<Planned>>),
}

impl Former {
    /// The least role of those who may put it back.
    pub(crate) fn needs(&self) -> Role {
        match self {
            Self::User(..) => Role::Admin,
            Self::Line(..) => Role::Operator,
        }
    }

    /// Gives this machine its name in a fleet.
    pub(crate) fn name_machine(&mut self, name: &str) {
        if let Self::Line(_, Some(line)) = self {
            line.name_machine(name);
        }
    }
}

fn key(entry: i64) -> String {
    format!("former/{}", numbered(entry))
}

impl Records {
    /// What was there before the change of an entry.
    pub(crate) fn former(&self, entry: i64) -> Option<&Former> {
        self.former.get(&numbered(entry))
    }

    /// The first entry behind a change that changed the same again.
    fn changed_since(&self, entry: i64, former: &Former) -> Option<i64> {
        let after = self.journal.range::<String>((Bound::Excluded(numbered(entry)), Bound::Unbounded));
        let mut same = after.filter(|(number, noted)| match former {
            Former::User(name, _) => noted.is_of_user(name),
            Former::Line(line, _) => {
                self.former.get(number).is_some_and(|later| matches!(later, Former::Line(other, _) if other == line))
            }
        });
        same.next()?.0.parse().ok()
    }

    /// Whether who has a role may put the change of an entry back now.
    pub(crate) fn may_put_back(&self, entry: i64, role: Role) -> bool {
        let is_it = |former: &Former| role >= former.needs() && self.changed_since(entry, former).is_none();
        self.former(entry).is_some_and(is_it)
    }
}

impl Edit<'_, '_> {
    /// Adds an entry of a change to a user, which is yet to be made, and keeps what they are before it.
    pub(crate) fn note_user(&mut self, kind: Kind, who: Option<&str>, name: &str, detail: &str) {
        let former = Former::User(name.to_owned(), self.known.account(name).cloned());
        self.note_change(kind, who, name, detail, &former);
    }

    /// The same of a line of the schedule.
    pub(crate) fn note_line(&mut self, kind: Kind, who: Option<&str>, id: i64, cron: &str, detail: &str) {
        let former = Former::Line(id, self.known.lines.get(&numbered(id)).cloned().map(Box::new));
        self.note_change(kind, who, cron, detail, &former);
    }

    fn note_change(&mut self, kind: Kind, who: Option<&str>, about: &str, detail: &str, former: &Former) {
        let entry = self.note(kind, who, about, detail);
        self.put(&key(entry), former);
        let known = self.known;
        if known.former.iter().count() >= KEPT
            && let Some((oldest, _)) = known.former.iter().next()
        {
            self.remove(&format!("former/{oldest}"));
        }
    }

    /// Makes what a change changed as it was before it. If that leaves a user who may start nothing, some of what waits of theirs is stopped, and there is
    /// the name if there may be more.
    pub(crate) fn put_back(&mut self, entry: i64, who: Option<&str>) -> Result<Option<String>, ServerError> {
        let known = self.known;
        let former = known.former(entry).ok_or_else(|| no_change(entry))?;
        if let Some(later) = known.changed_since(entry, former) {
            return Err(ServerError::Refused(format!("entry {later} has changed the same after entry {entry}")));
        }
        match former {
            Former::User(name, before) => {
                self.put_back_user(name, before.as_ref())?;
                self.note_user(Kind::UserPutBack, who, name, &entry.to_string());
                let may_start = before.as_ref().is_some_and(|user| user.role >= Role::Operator);
                Ok((!may_start && self.stop_some(name)).then(|| name.clone()))
            }
            Former::Line(id, before) => {
                let cron = self.put_back_line(*id, before.as_deref())?;
                self.note_line(Kind::SchedulePutBack, who, *id, &cron, &entry.to_string());
                Ok(None)
            }
        }
    }
}

/// There is nothing to put back.
pub(crate) fn no_change(entry: i64) -> ServerError {
    let said = format!("entry {entry} is none of the last {KEPT} changes of users and of the schedule");
    ServerError::Missing(said)
}

#[cfg(test)]
mod tests {
    use super::KEPT;
    use crate::accounts::{Kind as Opens, Role, Secret};
    use crate::journal::Kind;
    use crate::testing;

    /// Also where what was ended has not been forgotten yet.
    #[test]
    fn what_a_user_had_signed_in_with_stays_ended_when_they_come_back() {
        let (_store, database) = testing::database();
        let add = |name| crate::api::accounts::add(&database, None, name, Role::Admin).unwrap();
        let word = |kind| if kind == Opens::Session { "session" } else { "token" };
        add("anna");
        add("boris");
        for kind in [Opens::Session, Opens::Token] {
            let keep = database.change::<()>(|edit| {
                let (user, ends_at) = (Some("boris"), Some(100));
                edit.keep_secret(&Secret { secret: word(kind), kind, user, role: Role::Admin, name: "", ends_at });
                Ok(())
            });
            keep.unwrap();
        }
        let is_good = |kind: Opens| database.known().who(word(kind), kind, 1).is_some();
        assert!(is_good(Opens::Session) && is_good(Opens::Token));
        crate::api::accounts::remove(&database, None, "boris").unwrap();
        let entry = database.known().last_entry();
        database.change(|edit| edit.put_back(entry, None)).unwrap();
        assert!(database.known().account("boris").is_some());
        assert!(!is_good(Opens::Session) && !is_good(Opens::Token));
    }

    #[test]
    fn what_was_before_old_changes_is_forgotten() {
        let (_store, database) = testing::database();
        let numbers =
            || database.known().former.iter().map(|(number, _)| number.parse().unwrap()).collect::<Vec<usize>>();
        for count in 1..=KEPT + 2 {
            let note = database.change::<()>(|edit| {
                edit.note_user(Kind::RoleChanged, None, "anna", "viewer");
                Ok(())
            });
            note.unwrap();
            if count == KEPT {
                assert_eq!(numbers(), (1..=KEPT).collect::<Vec<_>>());
            }
        }
        assert_eq!(numbers(), (3..=KEPT + 2).collect::<Vec<_>>());
    }
}
