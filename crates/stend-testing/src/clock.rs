//! Wall clocks that are set while programs run.

use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use tempfile::TempDir;

use crate::have;

/// A wall clock for programs that are started with it. The machine's own stays as it is.
#[derive(Debug)]
pub struct Clock {
    /// Where the program is that starts others with a clock, and what each clock says.
    directory: Arc<TempDir>,
    /// Which clock it is, of those that were made together.
    number: usize,
}

impl Clock {
    /// One that says what the machine's says. Where there can be none, the test says so and leaves it out, but not under CI.
    pub fn new() -> Option<Self> {
        Self::several().map(|[clock]| clock)
    }

    /// As many, each of which is set by itself.
    pub fn several<const COUNT: usize>() -> Option<[Self; COUNT]> {
        if !have("cc") {
            return None;
        }
        let directory = Arc::new(tempfile::tempdir().unwrap());
        let clocks = std::array::from_fn(|number| Self { directory: Arc::clone(&directory), number });
        let tried = Self { directory, number: COUNT };
        let source = tried.directory.path().join("set_clock.c");
        std::fs::write(&source, include_str!("set_clock.c")).unwrap();
        let mut compiler = Command::new("cc");
        let built = compiler.args(["-std=gnu11", "-O1", "-o"]).arg(tried.program()).arg(source).output().unwrap();
        tried.set(86_400);
        clocks.iter().for_each(|clock: &Self| clock.set(0));
        let said = tried.with(Command::new("date").arg("+%s")).output();
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
        let said = said.ok().and_then(|said| String::from_utf8(said.stdout).ok()?.trim().parse::<u64>().ok());
        if built.status.success() && said.is_some_and(|said| said >= now + 86_000) {
            return Some(clocks);
        }
        let why = format!("no program's clock can be set here: {}", String::from_utf8_lossy(&built.stderr));
        assert!(std::env::var_os("CI").is_none(), "under CI nothing may be skipped: {why}");
        eprintln!("skipped: {why}");
        None
    }

    fn program(&self) -> PathBuf {
        self.directory.path().join("set-clock")
    }

    /// How many seconds it is ahead.
    fn ahead(&self) -> PathBuf {
        self.directory.path().join(self.number.to_string())
    }

    /// What comes before the words of a program.
    pub fn words(&self) -> [String; 2] {
        [self.program(), self.ahead()].map(|path| path.to_str().unwrap().to_owned())
    }

    /// The same command, with this clock.
    pub fn with(&self, command: &Command) -> Command {
        let [program, ahead] = self.words();
        let mut with = Command::new(program);
        with.arg(ahead).arg(command.get_program()).args(command.get_args());
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
        let aside = self.ahead().with_extension("new");
        std::fs::write(&aside, ahead.to_string()).unwrap();
        std::fs::rename(aside, self.ahead()).unwrap();
    }
}
