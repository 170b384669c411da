//! A machine made from one text: the scripts run for real, in a directory that has that machine's files and with a PATH that has
//! that machine's commands.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::TempDir;

use crate::host::{Command, Host, HostError, Lock, Lockable, Output, Process};

/// What the scripts may use; all else must come from the fixture.
const COMMANDS: [&str; 5] = ["sh", "cat", "sleep", "sha256sum", "df"];

/// A machine in a temporary directory.
pub(super) struct FixtureHost {
    root: TempDir,
}

impl FixtureHost {
    /// The machine in `tests/fixtures/machines/<name>/machine.txt`.
    pub(super) fn named(name: &str) -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/machines").join(name).join("machine.txt");
        Self::of(&fs::read_to_string(path).unwrap())
    }

    /// A machine from its text: `== path` and the lines of that file, `$ command` and the lines that it prints.
    pub(super) fn of(text: &str) -> Self {
        let host = Self { root: TempDir::new().unwrap() };
        let root = host.root.path();
        for directory in ["bin", "printed"] {
            fs::create_dir(root.join(directory)).unwrap();
        }
        let search = std::env::var_os("PATH").unwrap();
        for command in COMMANDS {
            let found =
                std::env::split_paths(&search).map(|directory| directory.join(command)).find(|path| path.exists());
            if let Some(real) = found {
                std::os::unix::fs::symlink(real, root.join("bin").join(command)).unwrap();
            }
        }
        let mut place: Option<PathBuf> = None;
        let mut texts: BTreeMap<PathBuf, String> = BTreeMap::new();
        for line in text.lines() {
            if let Some(path) = line.strip_prefix("== ") {
                place = Some(root.join(path));
            } else if let Some(command) = line.strip_prefix("$ ") {
                host.add_command(command.split(' ').next().unwrap());
                place = Some(root.join("printed").join(command.replace('/', "_")));
            } else if let Some(place) = &place {
                texts.entry(place.clone()).or_default().push_str(&format!("{line}\n"));
                continue;
            }
            texts.entry(place.clone().unwrap()).or_default();
        }
        for (path, text) in texts {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            // The blank line before the next heading is there for the reader.
            let text = text.strip_suffix("\n\n").map(|text| format!("{text}\n")).unwrap_or(text);
            fs::write(path, text).unwrap();
        }
        host
    }

    /// Replaces a file.
    pub(super) fn put(&self, path: &str, text: &str) {
        let path = self.root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Makes a command that prints what the fixture says.
    fn add_command(&self, name: &str) {
        use std::os::unix::fs::PermissionsExt as _;
        let path = self.root.path().join("bin").join(name);
        let printed = self.root.path().join("printed");
        let script = format!("#!/bin/sh\nexec cat \"{}/${{0##*/}} $*\" 2>/dev/null\n", printed.display());
        fs::write(&path, script).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
}

impl Host for FixtureHost {
    fn name(&self) -> &str {
        "fixture"
    }

    fn run(&self, command: &Command) -> Result<Output, HostError> {
        let (program, arguments) = command.words.split_first().unwrap();
        let output = std::process::Command::new(self.root.path().join("bin").join(program))
            .args(arguments)
            .current_dir(self.root.path())
            .env_clear()
            .env("PATH", self.root.path().join("bin"))
            .output()
            .unwrap();
        Ok(Output { exit: output.status.code(), stdout: output.stdout, stderr: output.stderr })
    }

    fn start(&self, _: &Command) -> Result<Box<dyn Process>, HostError> {
        unreachable!("a fingerprint starts nothing")
    }

    fn read(&self, path: &str) -> Result<Vec<u8>, HostError> {
        unreachable!("a fingerprint reads {path} by its script")
    }

    fn read_matching(&self, patterns: &[String]) -> Result<BTreeMap<String, Vec<u8>>, HostError> {
        unreachable!("a fingerprint reads {patterns:?} by its script")
    }

    fn list(&self, directory: &str) -> Result<Vec<String>, HostError> {
        unreachable!("a fingerprint lists {directory} by its script")
    }

    fn write(&self, path: &str, _: &[u8]) -> Result<(), HostError> {
        unreachable!("a fingerprint does not write {path}")
    }

    fn append(&self, path: &str, _: &[u8]) -> Result<(), HostError> {
        unreachable!("a fingerprint does not write {path}")
    }

    fn make_directory(&self, path: &str) -> Result<(), HostError> {
        unreachable!("a fingerprint does not make {path}")
    }

    fn remove(&self, path: &str) -> Result<(), HostError> {
        unreachable!("a fingerprint does not remove {path}")
    }

    fn lock(&self, what: &Lockable) -> Result<Box<dyn Lock>, HostError> {
        unreachable!("a fingerprint does not lock {what:?}")
    }
}

/// A host that is out of reach.
pub(super) struct Unreachable;

impl Host for Unreachable {
    fn name(&self) -> &str {
        "unreachable"
    }

    fn run(&self, command: &Command) -> Result<Output, HostError> {
        let seconds = Duration::from_secs(1).as_secs();
        Err(HostError::TimedOut { program: command.words[0].clone(), seconds })
    }

    fn start(&self, _: &Command) -> Result<Box<dyn Process>, HostError> {
        unreachable!()
    }

    fn read(&self, _: &str) -> Result<Vec<u8>, HostError> {
        unreachable!()
    }

    fn read_matching(&self, _: &[String]) -> Result<BTreeMap<String, Vec<u8>>, HostError> {
        unreachable!()
    }

    fn list(&self, _: &str) -> Result<Vec<String>, HostError> {
        unreachable!()
    }

    fn write(&self, _: &str, _: &[u8]) -> Result<(), HostError> {
        unreachable!()
    }

    fn append(&self, _: &str, _: &[u8]) -> Result<(), HostError> {
        unreachable!()
    }

    fn make_directory(&self, _: &str) -> Result<(), HostError> {
        unreachable!()
    }

    fn remove(&self, _: &str) -> Result<(), HostError> {
        unreachable!()
    }

    fn lock(&self, _: &Lockable) -> Result<Box<dyn Lock>, HostError> {
        unreachable!()
    }
}
