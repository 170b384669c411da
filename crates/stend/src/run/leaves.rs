//! What a run leaves on the machine under test: its own directory, and others that its tools made elsewhere. Those are noted in the
//! run's directory before they are made, so that they are found after any crash.

use crate::host::{Host, HostError};

/// The name of the note.
const NOTE: &str = "leaves";

/// Notes directories that a tool is about to make.
pub(super) fn note(host: &dyn Host, work: &str, directories: &[String]) -> Result<(), HostError> {
    let path = format!("{work}/{NOTE}");
    let mut text = host.read_text(&path).unwrap_or_default();
    for directory in directories {
        if !text.lines().any(|line| line == directory) {
            text.push_str(directory);
            text.push('\n');
        }
    }
    host.write(&path, text.as_bytes())
}

/// Removes all that a run left: what is noted in its directory `work`, then the directory itself.
pub(crate) fn remove(host: &dyn Host, work: &str) -> Result<(), HostError> {
    let run = work.rsplit('/').next().unwrap_or_default();
    let own = format!("/stend-{run}");
    for directory in host.read_text(&format!("{work}/{NOTE}")).unwrap_or_default().lines() {
        // A note is a text that anybody could have written: only what bears the run's name is stend's to remove.
        if directory.starts_with('/') && directory.ends_with(&own) && !directory.contains("/../") {
            host.remove(directory)?;
        }
    }
    host.remove(work)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Local;

    #[test]
    fn what_was_noted_is_removed_and_nothing_else() {
        let root = tempfile::tempdir().unwrap();
        let path = |name: &str| format!("{}/{name}", root.path().display());
        let work = path("work/20261121-0555-3f9a");
        for directory in [&work, &path("disk/stend-20261121-0555-3f9a"), &path("disk/photographs")] {
            Local.make_directory(directory).unwrap();
        }
        note(&Local, &work, &[path("disk/stend-20261121-0555-3f9a"), path("disk/photographs")]).unwrap();
        note(&Local, &work, &[path("disk/stend-20261121-0555-3f9a")]).unwrap();
        remove(&Local, &work).unwrap();
        assert_eq!(Local.list(&path("disk")).unwrap(), ["photographs"]);
        assert!(Local.list(&path("work")).unwrap().is_empty());
        remove(&Local, &work).unwrap();
    }
}
