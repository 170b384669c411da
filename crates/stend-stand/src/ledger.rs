//! Ledgers: files of one JSON document a line, each on disk before what it tells of is done. So after any crash it is known what may
//! have been done.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::host::{Host, HostError};

/// Adds a line. When this returns, it is on disk.
pub fn note(host: &dyn Host, path: &str, entry: &impl Serialize) -> Result<(), HostError> {
    let line = serde_json::to_string(entry).expect("an entry has no map with other keys than text");
    // The newline before it ends what a crash may have cut off.
    host.append(path, format!("\n{line}\n").as_bytes())
}

/// What a ledger says, in order; nothing where there is none. A line that was cut off is passed over: what it was to tell of was never
/// begun.
///
/// # Errors
/// It cannot be read; or a whole line says something else than an entry, as a newer stend may write it: nobody knows then what was done.
pub fn read<T: DeserializeOwned>(host: &dyn Host, path: &str) -> Result<Option<Vec<T>>, HostError> {
    let text = match host.read_text(path) {
        Err(HostError::File { error, .. }) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        text => text?,
    };
    let whole = (1..).zip(text.lines()).filter_map(|(number, line)| Some((number, serde_json::from_str(line).ok()?)));
    let entry = |(number, value): (usize, Value)| {
        serde_json::from_value(value).map_err(|error| {
            let why = format!("line {number}: {error}; if a newer stend made it, use that one");
            HostError::File { path: path.to_owned(), error: std::io::Error::other(why) }
        })
    };
    whole.map(entry).collect::<Result<_, _>>().map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Local;

    #[test]
    fn a_line_that_was_cut_off_hides_no_other_and_one_that_is_not_understood_is_told() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("ledger").display().to_string();
        let read = || read::<[u32; 2]>(&Local, &path);
        assert_eq!(read().unwrap(), None);
        note(&Local, &path, &[1, 2]).unwrap();
        Local.append(&path, b"\n[3, ").unwrap();
        note(&Local, &path, &[4, 5]).unwrap();
        assert_eq!(read().unwrap(), Some(vec![[1, 2], [4, 5]]));
        note(&Local, &path, &"of a newer version").unwrap();
        let said = read().unwrap_err().to_string();
        assert!(said.contains(&path) && said.contains("line 7: ") && said.contains("newer"), "{said}");
        std::fs::remove_file(&path).unwrap();
        std::fs::create_dir(&path).unwrap();
        assert!(read().is_err(), "a directory is no ledger, and not the same as none");
    }
}
