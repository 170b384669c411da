//! What a run leaves on the machine under test: its own directory, and others that its tools made elsewhere. Those are noted in the
//! run's directory before they are made, so that they are found after any crash.

use std::thread::sleep;
use std::time::{Duration, Instant};

use super::attempt::GUARD_GRACE;
use stend_stand::host::{Host, HostError};

/// The name of the note.
const NOTE: &str = "leaves";
/// From one try to remove a directory to the next.
const AGAIN: Duration = Duration::from_millis(50);

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
pub fn remove(host: &dyn Host, work: &str) -> Result<(), HostError> {
    let run = work.rsplit('/').next().unwrap_or_default();
    let own = format!("/stend-{run}");
    for directory in host.read_text(&format!("{work}/{NOTE}")).unwrap_or_default().lines() {
        // A note is a text that anybody could have written: only what bears the run's name is stend's to remove.
        if directory.starts_with('/') && directory.ends_with(&own) && !directory.contains("/../") {
            remove_all(host, directory)?;
        }
    }
    remove_all(host, work)
}

/// Removes a directory in which a tool may still be writing: after a crash its guard is ending it meanwhile.
fn remove_all(host: &dyn Host, directory: &str) -> Result<(), HostError> {
    let deadline = Instant::now() + GUARD_GRACE;
    loop {
        match host.remove(directory) {
            // What was written after the directory had been emptied, in the system's words or those of `rm`.
            Err(HostError::File { error, .. })
                if error.to_string().contains("not empty") && Instant::now() < deadline =>
            {
                sleep(AGAIN);
            }
            result => return result,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stend_stand::host::Local;

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

    #[test]
    fn a_tool_that_still_writes_for_a_moment_does_not_keep_its_directory() {
        let root = tempfile::tempdir().unwrap();
        let work = root.path().join("20261121-0555-3f9a");
        let path = work.to_str().unwrap();
        // Not every time does it write just between the last look and the removal.
        for _ in 0..30 {
            Local.make_directory(path).unwrap();
            let until = Instant::now() + Duration::from_millis(20);
            let write = |name: u64| std::fs::write(work.join(name.to_string()), "").is_ok();
            std::thread::scope(|scope| {
                scope.spawn(|| (0..).take_while(|_| Instant::now() < until).all(write));
                while Local.list(path).unwrap().is_empty() && Instant::now() < until {}
                remove(&Local, path).unwrap();
            });
            assert!(!work.exists());
        }
    }
}
