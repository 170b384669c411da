//! Wall clocks that are set while programs run.

use std::path::PathBuf;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use tempfile::TempDir;

use crate::have;

/// A wall clock for programs that are started with it. The machine's own stays as it is.
#[derive(Debug)]
pub struct Clock(TempDir);

impl Clock {
    /// One that says what the machine's says. Where there can be none, the test says so and leaves it out, but not under CI.
    pub fn new() -> Option<Self> {
        if !have("cc") {
            return None;
        }
        let clock = Self(tempfile::tempdir().unwrap());
        let source = clock.0.path().join("set_clock.c");
        std::fs::write(&source, include_str!("set_clock.c")).unwrap();
        let mut compiler = Command::new("cc");
        let built = compiler.args(["-std=gnu11", "-O1", "-o"]).arg(clock.program()).arg(source).output().unwrap();
        clock.set(86_400);
        let [first, second, ..] = &clock.words()[..] else { unreachable!() };
        let tried = Command::new(first).args([second, "date", "+%s"]).output();
        clock.set(0);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
        let said = tried.ok().and_then(|said| String::from_utf8(said.stdout).ok()?.trim().parse::<u64>().ok());
        if built.status.success() && said.is_some_and(|said| said >= now + 86_000) {
            return Some(clock);
        }
        let why = format!("no program's clock can be set here: {}", String::from_utf8_lossy(&built.stderr));
        assert!(std::env::var_os("CI").is_none(), "under CI nothing may be skipped: {why}");
        eprintln!("skipped: {why}");
        None
    }

    fn program(&self) -> PathBuf {
        self.0.path().join("set-clock")
    }

    /// What comes before the words of a program.
    pub fn words(&self) -> Vec<String> {
        [self.program(), self.0.path().join("ahead")].map(|path| path.to_str().unwrap().to_owned()).into()
    }

    /// The same command, with this clock.
    pub fn with(&self, command: &Command) -> Command {
        let words = self.words();
        let mut with = Command::new(&words[0]);
        with.args(&words[1..]).arg(command.get_program()).args(command.get_args());
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => with.env(name, value),
                None => with.env_remove(name),
            };
        }
        if let Some(directory) = command.get_current_dir() {
            with.current_dir(directory);
        }
        with
    }

    /// Sets it to so many seconds ahead of the machine's, or behind it.
    pub fn set(&self, ahead: i64) {
        let aside = self.0.path().join("new");
        std::fs::write(&aside, ahead.to_string()).unwrap();
        std::fs::rename(aside, self.0.path().join("ahead")).unwrap();
    }
}
