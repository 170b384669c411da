//! What has been made of a target, or was about to be: a line on disk before each thing is made, so that after any crash it is known
//! what may be there.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use stend_model::target::TargetOfRun;
use stend_model::target::vm::Vm;

use super::servers::{Daemon, OfServer};
use super::thing::Thing;
use super::{TOKEN_DIGITS, Up};
use stend_stand::host::{Host, HostError};
use stend_stand::ledger;

/// The path of the ledger in the target's directory while the target is made and stands.
pub(super) fn standing(base: &str) -> String {
    format!("{base}/ledger")
}

/// Its path from when the target begins to be taken down.
pub(super) fn taken_down(base: &str) -> String {
    format!("{base}/ledger-taking-down")
}

/// One line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "event")]
pub(super) enum Entry {
    /// What is made, and in which boot that was begun.
    Begin(Begun),
    /// A thing is about to be made.
    Make(Thing),
    /// All is made.
    Up(Up),
}

/// What is made.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct Begun {
    /// The storage, if it is some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) target: Option<TargetOfRun>,
    /// The virtual machine, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) vm: Option<Vm>,
    pub(super) boot_id: String,
}

/// All that a ledger says.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Ledger {
    pub(super) begun: Begun,
    /// In the order in which they were made.
    pub(super) things: Vec<Thing>,
    /// Whether it is being taken down.
    pub(super) goes: bool,
    /// Where the LUNs are, if it is whole and not being taken down.
    pub(super) up: Option<Up>,
}

impl Ledger {
    /// The server or guest, if there is one.
    pub(super) fn daemon(&self) -> Option<&Daemon> {
        self.things.iter().find_map(|thing| match thing {
            Thing::Server(OfServer::Daemon(daemon)) => Some(daemon),
            _ => None,
        })
    }
}

/// Reads the ledger in a target's directory, which has no links in its path; none where there is none.
///
/// # Errors
/// It cannot be read or understood, or names what cannot be this target's.
pub(super) fn read(host: &dyn Host, base: &str) -> Result<Option<Ledger>, HostError> {
    let (path, goes, entries) = match ledger::read(host, &taken_down(base))? {
        Some(entries) => (taken_down(base), true, entries),
        None => match ledger::read(host, &standing(base))? {
            Some(entries) => (standing(base), false, entries),
            None => return Ok(None),
        },
    };
    let mut ledger = Ledger { goes, ..Ledger::default() };
    for entry in entries {
        if let Some(path_of_others) = foreign_path(base, &entry) {
            let why = format!("it names {path_of_others}, which is nothing of this target's; nothing is done with it");
            return Err(HostError::File { path, error: std::io::Error::other(why) });
        }
        match entry {
            Entry::Begin(begun) => ledger.begun = begun,
            Entry::Make(thing) => ledger.things.push(thing),
            Entry::Up(up) => ledger.up = Some(up).filter(|_| !goes),
        }
    }
    Ok(Some(ledger))
}

/// Notes a thing more of a target that stands.
///
/// # Errors
/// It cannot be written.
pub(super) fn note_thing(host: &dyn Host, path: &str, thing: &Thing) -> Result<(), HostError> {
    ledger::note(host, path, &Entry::Make(thing.clone()))
}

/// A path in an entry that no target in this directory can have. Its own lie there, or have its token in their names: control groups, and
/// files where the user wanted them. Beside them there are only devices.
fn foreign_path(base: &str, entry: &Entry) -> Option<String> {
    let is_token =
        |word: &str| word.len() == TOKEN_DIGITS && word.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let token = |name: &str| name.strip_prefix("stend-").is_some_and(|rest| rest.split('-').any(is_token));
    let is_own = |path: &str| {
        let below = |directory: &str| path.strip_prefix(directory).is_some_and(|rest| rest.starts_with('/'));
        // Memory that anybody keeps files in is no device.
        let is_device = below("/dev") && !below("/dev/shm");
        !path.split('/').any(|name| name == "..") && (below(base) || is_device || path.split('/').any(token))
    };
    if let Entry::Make(Thing::Server(thing)) = entry {
        let path = thing.path();
        let is_below = path.strip_prefix(base).is_some_and(|rest| rest.starts_with('/'));
        if !is_below || path.split('/').any(|name| name == "..") {
            return Some(if path.is_empty() { "nothing".into() } else { path.into() });
        }
    }
    let mut rest = match entry {
        // What the user asked for: where it was to lie, and on which devices.
        Entry::Begin(_) => Vec::new(),
        entry => vec![serde_json::to_value(entry).expect("what was read can be written")],
    };
    while let Some(value) = rest.pop() {
        match value {
            Value::String(path) if path.starts_with('/') && !is_own(&path) => return Some(path),
            Value::Array(values) => rest.extend(values),
            Value::Object(values) => rest.extend(values.into_iter().map(|(_, value)| value)),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rig::basics::Basic;
    use crate::rig::control_group::Groups;
    use stend_stand::host::Local;

    /// A server's directory is removed with all that is in it, and the processes there are ended.
    #[test]
    fn a_servers_directory_is_below_the_ledgers() {
        let directory = tempfile::tempdir().unwrap();
        let base = directory.path().display().to_string();
        let own = format!("{base}/01234567/0-nginx");
        for (path, fine) in [
            (own.as_str(), true),
            ("", false),
            ("victim", false),
            ("../victim", false),
            ("/dev/victim", false),
            (&base, false),
            (&format!("{base}-2/x"), false),
            (&format!("{base}/../x"), false),
        ] {
            for thing in [r#""home","path":"#, r#""daemon","signal":"TERM","cgroups":[],"home":"#] {
                let line = format!("{{\"event\":\"make\",\"thing\":{thing}{path:?}}}\n");
                std::fs::write(standing(&base), line).unwrap();
                assert_eq!(read(&Local, &base).is_ok(), fine, "{thing}{path}");
            }
        }
    }

    #[test]
    fn what_a_target_cannot_have_is_refused_whole() {
        let directory = tempfile::tempdir().unwrap();
        let base = directory.path().display().to_string();
        let own = Thing::Basic(Basic::Directory { path: format!("{base}/01234567") });
        let note = |thing: &Thing| ledger::note(&Local, &standing(&base), &Entry::Make(thing.clone())).unwrap();
        note(&own);
        note(&Thing::Basic(Basic::Loop { file: "/srv/stend-0123456789abcdef/disk0".into(), direct: true }));
        note(&Thing::Cgroups(Groups {
            paths: vec!["/sys/fs/cgroup/stend-target-0123456789abcdef-controller0".into()],
            confined: None,
        }));
        let up = Up { luns: vec!["/dev/loop7".into()], ..Up::default() };
        ledger::note(&Local, &standing(&base), &Entry::Up(up.clone())).unwrap();
        assert_eq!(read(&Local, &base).unwrap().unwrap().up, Some(up));
        std::fs::rename(standing(&base), taken_down(&base)).unwrap();
        let goes = read(&Local, &base).unwrap().unwrap();
        assert_eq!((goes.things.len(), goes.up), (3, None));
        std::fs::rename(taken_down(&base), standing(&base)).unwrap();
        let good = std::fs::read(standing(&base)).unwrap();
        for path in [
            "/etc/passwd",
            &format!("{base}/../other"),
            &format!("{base}-2/x"),
            "/srv/stend-mine/x",
            "/sys/fs/cgroup/system.slice",
            "/dev/../etc",
            "/dev/shm/letter",
        ] {
            std::fs::write(standing(&base), &good).unwrap();
            note(&Thing::Basic(Basic::SparseFile { path: path.into(), bytes: 1 }));
            let said = read(&Local, &base).unwrap_err().to_string();
            assert!(said.contains(path), "{said}");
        }
    }
}
