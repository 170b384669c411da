//! What has been made of a target, or was about to be: a line on disk before each thing is made, so that after any crash it is known
//! what may be there.

use serde::{Deserialize, Serialize};
use stend_model::target::TargetOfRun;

use super::Up;
use super::thing::Thing;
use crate::host::{Host, HostError};

/// The path of the ledger in the target's directory while the target is made and stands.
pub(super) fn standing(base: &str) -> String {
    format!("{base}/ledger")
}

/// Its path from when the target begins to be taken down.
pub(super) fn taken_down(base: &str) -> String {
    format!("{base}/ledger-taking-down")
}

/// Whether there is a ledger at that path.
pub(super) fn is_there(host: &dyn Host, path: &str) -> bool {
    let (directory, name) = path.rsplit_once('/').expect("a path of a ledger has a directory");
    host.list(directory).is_ok_and(|names| names.iter().any(|one| one == name))
}

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
}

/// All that a ledger says.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Ledger {
    pub(super) target: Option<TargetOfRun>,
    pub(super) boot_id: String,
    /// In the order in which they were made.
    pub(super) things: Vec<Thing>,
    /// Where the LUNs are, if it is whole and not being taken down.
    pub(super) up: Option<Up>,
}

/// Adds a line. When this returns, it is on disk.
pub(super) fn note(host: &dyn Host, path: &str, entry: &Entry) -> Result<(), HostError> {
    let line = serde_json::to_string(entry).expect("an entry has no map with other keys than text");
    // The newline before it ends what a crash may have cut off.
    host.append(path, format!("\n{line}\n").as_bytes())
}

/// Reads the ledger in a target's directory. A line that was cut off is passed over: what it was to tell of was never begun.
pub(super) fn read(host: &dyn Host, base: &str) -> Result<Ledger, HostError> {
    let taken_down = taken_down(base);
    let goes = is_there(host, &taken_down);
    let text = host.read_text(&if goes { taken_down } else { standing(base) })?;
    let mut ledger = Ledger::default();
    for entry in text.lines().filter_map(|line| serde_json::from_str(line).ok()) {
        match entry {
            Entry::Begin { target, boot_id } => (ledger.target, ledger.boot_id) = (Some(target), boot_id),
            Entry::Make(thing) => ledger.things.push(thing),
            Entry::Up(up) => ledger.up = Some(up).filter(|_| !goes),
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
        let base = directory.path().display().to_string();
        let path = standing(&base);
        let thing = |name: &str| Thing::Directory { path: name.into() };
        note(&Local, &path, &Entry::Make(thing("/a"))).unwrap();
        Local.append(&path, b"\n{\"event\":\"make\",\"thing\":\"direc").unwrap();
        note(&Local, &path, &Entry::Make(thing("/b"))).unwrap();
        assert_eq!(read(&Local, &base).unwrap().things, [thing("/a"), thing("/b")]);
        let up = Up { luns: vec!["/dev/loop7".into()], ..Up::default() };
        note(&Local, &path, &Entry::Up(up.clone())).unwrap();
        assert_eq!(read(&Local, &base).unwrap().up, Some(up));
        std::fs::rename(path, taken_down(&base)).unwrap();
        let goes = read(&Local, &base).unwrap();
        assert_eq!((goes.things.len(), goes.up), (2, None));
    }
}
