//! Profiles: a file for each beside the database, `profiles/RUN/PLACE.json`, the place being the scenario's in the suite.
//!
//! They are not in the database because no table is computed from them, and because other tools read files.

use std::fs::DirBuilder;
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::PathBuf;

use super::{Result, Store, StoreError};
use stend_model::profile::Profile;

impl Store {
    /// Adds the profile of the scenario at this place in the run's suite. When this returns, it is on disk.
    pub fn add_profile(&self, run: &str, scenario: usize, profile: &Profile) -> Result<()> {
        let directory = self.profile_directory(run);
        let path = directory.join(format!("{scenario:05}.json"));
        let write = || -> std::io::Result<()> {
            DirBuilder::new().recursive(true).mode(0o700).create(&directory)?;
            let part = path.with_extension("part");
            let mut file = std::fs::File::create(&part)?;
            file.write_all(&serde_json::to_vec(profile)?)?;
            file.sync_all()?;
            std::fs::rename(&part, &path)?;
            std::fs::File::open(&directory)?.sync_all()
        };
        write().map_err(|error| match error.kind() {
            ErrorKind::StorageFull => StoreError::Full { path: path.clone() },
            _ => StoreError::ReadOnly { path: path.clone(), said: error.to_string() },
        })
    }

    /// Removes the profiles of a run that is not there.
    pub(super) fn remove_profiles(&self, run: &str) {
        let _ = std::fs::remove_dir_all(self.profile_directory(run));
    }

    /// The profiles of a run, in its suite's order.
    pub(super) fn profiles(&self, run: &str) -> Result<Vec<Profile>> {
        let directory = self.profile_directory(run);
        let entries = match std::fs::read_dir(&directory) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(StoreError::BadProfile { path: directory, said: error.to_string() }),
            Ok(entries) => entries,
        };
        let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
        // A lab that was killed may have left half of one beside them.
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
        paths.sort();
        let read = |path: PathBuf| {
            let bad = |said: String| StoreError::BadProfile { path: path.clone(), said };
            let text = std::fs::read(&path).map_err(|error| bad(error.to_string()))?;
            serde_json::from_slice(&text).map_err(|error| bad(error.to_string()))
        };
        paths.into_iter().map(read).collect()
    }

    fn profile_directory(&self, run: &str) -> PathBuf {
        self.path.with_file_name("profiles").join(run)
    }
}
