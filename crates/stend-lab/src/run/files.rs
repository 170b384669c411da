//! The files that a run works on: which there are already, and how much is still to be written.

use std::collections::BTreeMap;

use stend_model::suite::{Instrument, Scenario};
use thiserror::Error;

use stend_instrument::fio_files::job_file_of;
use stend_instrument::{AdapterError, File, Place, adapter};
use stend_stand::host::{Command, Host, HostError};
use stend_stand::machine::{Space, Use};

/// So many files are asked for at once.
const AT_ONCE: usize = 500;

/// What is there by each name: a word, and of a file the blocks of 512 bytes that it takes and its length.
const SCRIPT: &str = r#"for name; do
    if [ -f "$name" ]; then echo "file $(stat -L -c '%b %s' "$name" 2>/dev/null || echo 0 1)"
    elif [ -d "$name" ]; then echo directory
    elif [ -e "$name" ]; then echo other
    else echo nothing; fi
done"#;

/// What is there by a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum There {
    Nothing,
    Directory,
    Other,
    File { allocated: u64, bytes: u64 },
}

/// Why a run's files are not as they must be, or are not known.
#[derive(Debug, Error)]
pub enum FilesError {
    /// An instrument does not say which files a scenario takes.
    #[error(transparent)]
    Unnamed(#[from] AdapterError),
    /// The directory for a file is missing.
    #[error("{by}: {path} is not a directory; make it first")]
    NoDirectory {
        /// Who works on the file.
        by: String,
        /// The directory, as the user knows it.
        path: String,
    },
    /// A device is missing.
    #[error("{by}: {path} is not there")]
    NoDevice {
        /// Who works on it.
        by: String,
        /// Its path.
        path: String,
    },
    /// A file is missing, and nobody knows how long to make it.
    #[error("{by}: {path} is not there, and no size= says how long it is to be made")]
    NoFile {
        /// Who works on it.
        by: String,
        /// Its path, as the user knows it.
        path: String,
    },
    /// A file of the user's would be lost.
    #[error(
        "{by} would write over {path}, a file of {bytes} bytes that is there already; remove it, or name another one \
         (filename=${{LUN1}} is one that stend makes)"
    )]
    Overwritten {
        /// Who works on it.
        by: String,
        /// Its path.
        path: String,
        /// Its length.
        bytes: u64,
    },
    /// The machine cannot be asked.
    #[error(transparent)]
    Host(#[from] HostError),
}

/// The files of a run, with what is there of them.
#[derive(Debug)]
pub struct Files {
    files: BTreeMap<String, File>,
    there: BTreeMap<String, There>,
    place: Place,
    use_of_space: Use,
}

impl Files {
    /// Looks for the files that measuring these scenarios takes.
    ///
    /// # Errors
    /// The machine cannot be asked, or a file cannot have its name.
    pub(super) fn of<'a>(
        host: &dyn Host,
        scenarios: impl Iterator<Item = &'a Scenario>,
        place: Place,
        has_target: bool,
    ) -> Result<Self, FilesError> {
        let mut use_of_space = Use::Work;
        let mut files: BTreeMap<String, File> = BTreeMap::new();
        // The phases of a job file follow each other, and all ask the same.
        let mut newest: Option<(Command, String)> = None;
        for scenario in scenarios {
            if job_file_of(scenario).is_some() {
                use_of_space = Use::JobFile;
            }
            if let Instrument::Adapter(name) = &scenario.instrument
                && let Some(adapter) = adapter(name)
                // A target has seen to its space by itself.
                && !(has_target && scenario.instrument.loads_luns())
            {
                newest = match (adapter.question(scenario, &place)?, newest) {
                    (Some(question), Some((asked, answer))) if question == asked => Some((asked, answer)),
                    (Some(question), _) => {
                        let answer = host.run(&question)?.text();
                        Some((question, answer))
                    }
                    (None, _) => None,
                };
                let answer = newest.as_ref().map_or("", |(_, answer)| answer);
                for (path, file) in adapter.files(scenario, &place, answer)? {
                    files.entry(path).and_modify(|there| there.add(&file)).or_insert(file);
                }
            }
        }
        let names: Vec<_> = files.keys().chain(files.values().filter_map(|file| file.directory.as_ref())).collect();
        let mut there = BTreeMap::new();
        for names in names.chunks(AT_ONCE) {
            let words = ["sh", "-c", SCRIPT, "sh"].into_iter().chain(names.iter().map(|name| name.as_str()));
            let said = host.run(&Command::new(words))?.text();
            there.extend(names.iter().map(|name| (*name).clone()).zip(said.lines().map(There::read)));
        }
        Ok(Self { files, there, place, use_of_space })
    }

    /// The directories that are written to, with what is known to be written: the store's if it is there, the one for runs' files, and those that
    /// adapters were told to use. What an earlier session of the run left there is there already.
    pub fn spaces(&self, store: Option<&str>, work: &str) -> Vec<Space> {
        let space = |purpose, directory: &str| Space { purpose, directory: directory.to_owned(), bytes: 0 };
        let mut spaces: Vec<_> = store.map(|store| space(Use::Results, store)).into_iter().collect();
        spaces.push(space(Use::Work, work));
        for (directory, bytes) in self.missing().filter(|(_, bytes)| *bytes > 0) {
            // People know the directory that they named, not the run's own in it.
            let directory = directory.strip_suffix(&format!("/stend-{}", self.place.run)).unwrap_or(directory);
            let directory = if directory == self.place.data { work } else { directory };
            let at = spaces.iter().position(|space| space.purpose != Use::Results && space.directory == directory);
            let at = at.unwrap_or_else(|| {
                spaces.push(space(self.use_of_space, directory));
                spaces.len() - 1
            });
            spaces[at].purpose = self.use_of_space;
            spaces[at].bytes = spaces[at].bytes.saturating_add(bytes);
        }
        spaces
    }

    /// The directories that will be written to, with what is still to be written there.
    fn missing(&self) -> impl Iterator<Item = (&str, u64)> {
        self.files.iter().map(|(path, file)| {
            let allocated = match self.there(path) {
                There::File { allocated, .. } => allocated,
                _ => 0,
            };
            let directory = path.rsplit_once('/').map_or("/", |path| path.0);
            (directory, file.bytes.saturating_sub(allocated))
        })
    }

    /// Sees to it that no file of the user's is lost, and that those are there which are only read.
    ///
    /// # Errors
    /// One is not as it must be.
    pub fn check(&self) -> Result<(), FilesError> {
        let objection = self.files.iter().find_map(|(path, file)| {
            let by = file.by.clone();
            // As the user knows it: what has no directory lies in the run's own.
            let known = |name: &'_ str| name.strip_prefix(&format!("{}/", self.place.data)).unwrap_or(name).to_owned();
            if let Some(directory) = file.directory.as_ref().filter(|there| self.there(there) != There::Directory) {
                return Some(FilesError::NoDirectory { by, path: known(directory) });
            }
            match self.there(path) {
                There::Nothing if file.must_exist && file.bytes == 0 => {
                    let (is_device, path) = (path.starts_with("/dev/"), known(path));
                    Some(if is_device { FilesError::NoDevice { by, path } } else { FilesError::NoFile { by, path } })
                }
                There::File { bytes, .. } if bytes > 0 && file.overwrites(bytes) => {
                    Some(FilesError::Overwritten { by, path: path.clone(), bytes })
                }
                _ => None,
            }
        });
        objection.map_or(Ok(()), Err)
    }

    fn there(&self, name: &str) -> There {
        self.there.get(name).copied().unwrap_or(There::Nothing)
    }
}

impl There {
    fn read(line: &str) -> Self {
        let mut words = line.split(' ');
        match words.next() {
            Some("file") => {
                let mut number = || words.next().and_then(|word| word.parse().ok()).unwrap_or(0_u64);
                Self::File { allocated: number().saturating_mul(512), bytes: number() }
            }
            Some("directory") => Self::Directory,
            Some("other") => Self::Other,
            _ => Self::Nothing,
        }
    }
}
