//! Texts that orders are made of and that are not part of the program: suites, job files, descriptions of rigs. Each is kept once, by its SHA-256.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use rusqlite::{OptionalExtension as _, params};
use stend_model::identity::digest_of;
use stend_model::run::is_run_id;

use crate::accounts::fresh_secret;
use crate::database::Database;
use crate::error::ServerError;
use crate::guard::now;
use crate::lab::Lab;
use crate::order::Order;
use crate::work::private_directory;

/// No text is longer, in bytes.
pub(crate) const LONGEST: usize = 64 * 1024;

/// One that no order names is removed so many seconds after it was sent.
const UNNAMED_FOR: i64 = 24 * 3600;

impl Database {
    /// Keeps a text, and gives the SHA-256 that it goes by.
    pub(crate) fn keep_file(&self, text: &str) -> Result<String, ServerError> {
        if text.len() > LONGEST {
            return Err(ServerError::Refused(format!("a file has {} KiB at most", LONGEST >> 10)));
        }
        let digest = digest_of(text.as_bytes());
        let now = now();
        let keep = || {
            self.connection.execute(
                "DELETE FROM file WHERE kept_at < ?1 AND sha256 NOT IN \
                 (SELECT value FROM job, json_each(job.asked, '$.files') \
                 UNION ALL SELECT value FROM schedule, json_each(schedule.asked, '$.files'))",
                [now - UNNAMED_FOR],
            )?;
            self.connection.execute(
                "INSERT INTO file (sha256, text, kept_at) VALUES (?1, ?2, ?3) \
                 ON CONFLICT DO UPDATE SET kept_at = excluded.kept_at",
                params![digest, text, now],
            )
        };
        keep().map_err(|source| self.explain(source))?;
        Ok(digest)
    }

    /// The text of this SHA-256.
    pub(crate) fn file(&self, digest: &str) -> Result<Option<String>, ServerError> {
        self.connection
            .query_row("SELECT text FROM file WHERE sha256 = ?1", [digest], |row| row.get(0))
            .optional()
            .map_err(|source| self.explain(source))
    }

    /// The texts of an order, by their names.
    pub(crate) fn files_of(&self, order: &Order) -> Result<BTreeMap<String, String>, ServerError> {
        let text = |(name, digest): (&String, &String)| match self.file(digest)? {
            Some(text) => Ok((name.clone(), text)),
            None => {
                Err(ServerError::Refused(format!("files: {name}: no file of this SHA-256 was sent; send it first")))
            }
        };
        order.files.iter().map(text).collect()
    }
}

/// A directory with the files of an order, in which its command runs. It is removed when nobody needs it any more.
pub(crate) struct Directory(PathBuf);

impl Directory {
    /// That of a run, which has the same place whenever it goes on.
    pub(crate) fn of_run(lab: &Lab, run: &str) -> Self {
        Self(of_run(lab, run))
    }

    /// One for a command that only says what would be done.
    pub(crate) fn for_now(lab: &Lab) -> Self {
        Self(lab.store.join(PLACE).join(fresh_secret()))
    }

    /// Writes the files, and has a command run here; where the server itself does if there are none.
    pub(crate) fn enter(&self, texts: &BTreeMap<String, String>, command: &mut Command) -> Result<(), ServerError> {
        if texts.is_empty() {
            return Ok(());
        }
        let write = || -> std::io::Result<()> {
            private_directory(&self.0)?;
            for (name, text) in texts {
                let mut options = std::fs::OpenOptions::new();
                // A suite may start one of them.
                let mut file = options.create(true).write(true).truncate(true).mode(0o700).open(self.0.join(name))?;
                file.write_all(text.as_bytes())?;
            }
            Ok(())
        };
        write().map_err(|source| ServerError::System { what: "the files of an order", source })?;
        command.current_dir(&self.0);
        // It was meant from where the server is.
        if let Some(probe) = std::env::var_os(PROBE).and_then(|probe| std::path::absolute(probe).ok()) {
            command.env(PROBE, probe);
        }
        Ok(())
    }

    /// What a command said here, without the place, which says nothing to who sent the files.
    pub(crate) fn left_out(&self, said: &str) -> String {
        left_out(&self.0, said)
    }
}

/// The directory of a run.
pub(crate) fn of_run(lab: &Lab, run: &str) -> PathBuf {
    lab.store.join(PLACE).join(run)
}

/// A text without the place of a directory.
pub(crate) fn left_out(directory: &Path, text: &str) -> String {
    text.replace(&format!("{}/", directory.display()), "")
}

/// Names the program that measures on the machine.
const PROBE: &str = "STEND_PROBE";

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Removes what plans have left whose server was killed.
pub(crate) fn remove_left(store: &Path) {
    for entry in std::fs::read_dir(store.join(PLACE)).into_iter().flatten().flatten() {
        if !is_run_id(&entry.file_name().to_string_lossy()) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// Where in the store's directory these directories are.
const PLACE: &str = "server-files";
