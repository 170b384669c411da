//! What has been made of a target, or was about to be: a line on disk before each thing is made, so that after any crash it is known
//! what may be there.

use serde::{Deserialize, Serialize};
use stend_model::target::TargetOfRun;

use super::Up;
use super::thing::Thing;
use crate::host::{Host, HostError};

/// The name of the file in the target's directory.
pub(super) const NAME: &str = "ledger";

/// One line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "event")]
pub(super) enum Entry {
    /// The target's description, and the boot in which it was begun.
    Begin { target: TargetOfRun, boot_id: String },
    /// A thing is about to be made.
    Make(Thing),
    /// All is made.
    Up(Up),
    /// It is about to be taken down.
    Down,
}

/// All that a ledger says.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Ledger {
    pub(super) target: Option<TargetOfRun>,
    pub(super) boot_id: String,
    /// In the order in which they were made.
    pub(super) things: Vec<Thing>,
    /// Where the LUNs are, if it is whole.
    pub(super) up: Option<Up>,
}

/// Adds a line. When this returns, it is on disk.
pub(super) fn note(host: &dyn Host, path: &str, entry: &Entry) -> Result<(), HostError> {
    let line = serde_json::to_string(entry).expect("an entry has no map with other keys than text");
    // The newline before it ends what a crash may have cut off.
    host.append(path, format!("\n{line}\n").as_bytes())
}

/// Reads a ledger. A line that was cut off is passed over: what it was to tell of was never begun.
pub(super) fn read(host: &dyn Host, path: &str) -> Result<Ledger, HostError> {
    let mut ledger = Ledger::default();
    for entry in host.read_text(path)?.lines().filter_map(|line| serde_json::from_str(line).ok()) {
        match entry {
            Entry::Begin { target, boot_id } => (ledger.target, ledger.boot_id) = (Some(target), boot_id),
            Entry::Make(thing) => ledger.things.push(thing),
            Entry::Up(up) => ledger.up = Some(up),
            Entry::Down => ledger.up = None,
        }
    }
    Ok(ledger)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Local;

    #[test]
    fn a_line_that_was_cut_off_hides_no_other() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(NAME).display().to_string();
        let thing = |name: &str| Thing::Directory { path: name.into() };
        note(&Local, &path, &Entry::Make(thing("/a"))).unwrap();
        Local.append(&path, b"\n{\"event\":\"make\",\"thing\":\"direc").unwrap();
        note(&Local, &path, &Entry::Make(thing("/b"))).unwrap();
        assert_eq!(read(&Local, &path).unwrap().things, [thing("/a"), thing("/b")]);
        let up = Up { luns: vec!["/dev/loop7".into()], ..Up::default() };
        note(&Local, &path, &Entry::Up(up.clone())).unwrap();
        assert_eq!(read(&Local, &path).unwrap().up, Some(up));
        note(&Local, &path, &Entry::Down).unwrap();
        assert_eq!(read(&Local, &path).unwrap().up, None);
    }
}
