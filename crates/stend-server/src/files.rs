//! Texts that orders are made of and that are not part of the program: suites, job files, descriptions of rigs. Each is kept once, by its SHA-256.

use std::collections::{BTreeMap, HashSet};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use stend_fleet::Change;
use stend_model::identity::digest_of;
use stend_model::run::is_run_id;

use crate::accounts::fresh_secret;
use crate::database::{Database, Edit};
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
    /// The text of this SHA-256.
    pub(crate) fn file(&self, digest: &str) -> Result<Option<String>, ServerError> {
        Ok(self.0.agreement().get(&place(digest))?.map(|entry| entry.value))
    }

    /// The texts of an order, by their names.
    pub(crate) fn files_of(&self, order: &Order) -> Result<BTreeMap<String, String>, ServerError> {
        let text = |(name, digest): (&String, &String)| match self.file(digest)? {
            Some(text) => Ok((name.clone(), text)),
            None => Err(not_sent(name)),
        };
        order.files.iter().map(text).collect()
    }
}

/// Where a text is. It is in no node's memory.
fn place(digest: &str) -> String {
    format!("text/{digest}")
}

fn not_sent(name: &str) -> ServerError {
    ServerError::Refused(format!("files: {name}: no file of this SHA-256 was sent; send it first"))
}

impl Edit<'_, '_> {
    /// Keeps a text, and gives the SHA-256 that it goes by.
    pub(crate) fn keep_file(&mut self, text: &str) -> Result<String, ServerError> {
        if text.len() > LONGEST {
            return Err(ServerError::Refused(format!("a file has {} KiB at most", LONGEST >> 10)));
        }
        let digest = digest_of(text.as_bytes());
        self.forget_unnamed_but(&digest);
        self.put(&format!("file/{digest}"), &now());
        self.beside(Change::Put(place(&digest), text.to_owned()));
        Ok(digest)
    }

    /// Forgets some of those that no order has named for long.
    fn forget_unnamed_but(&mut self, new: &str) {
        let known = self.known;
        let end = now() - UNNAMED_FOR;
        let old: Vec<&str> =
            known.files.iter().filter(|(_, kept_at)| **kept_at < end).map(|(digest, _)| digest).collect();
        if old.is_empty() {
            return;
        }
        let of_jobs = known.jobs.values().flat_map(|job| job.order.files.values());
        let named: HashSet<&str> = of_jobs.chain(known.files_of_lines()).map(String::as_str).collect();
        let is_unnamed = |digest: &&str| *digest != new && !named.contains(digest);
        for digest in old.into_iter().filter(is_unnamed).take(FORGOTTEN) {
            self.remove(&format!("file/{digest}"));
            self.beside(Change::Remove(place(digest)));
        }
    }

    /// Makes the change only if the files of an order are there. Whoever finds them unnamed at the same time does not remove them.
    pub(crate) fn name_files(&mut self, order: &Order) -> Result<(), ServerError> {
        for (name, digest) in &order.files {
            self.known.files.get(digest).ok_or_else(|| not_sent(name))?;
            self.put(&format!("file/{digest}"), &now());
        }
        Ok(())
    }
}

/// So many are forgotten at once.
const FORGOTTEN: usize = 16;

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
        write().map_err(ServerError::system("the files of an order"))?;
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
