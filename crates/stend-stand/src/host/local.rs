//! The machine that `stend` itself runs on.

use std::collections::BTreeMap;
use std::fs::DirBuilder;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::DirBuilderExt as _;
use std::process::{Child, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use super::{Command, Happening, Host, HostError, Lock, Lockable, MOST_READ, Output, Process};
use crate::interrupt::Interrupt;
use crate::lock::{FileLock, LockError};

/// A line that is longer is cut there; the wire allows 1 MiB.
const LONGEST_LINE: u64 = 1 << 20;

/// Lines that wait for their reader. When so many do, the command waits too, instead of filling the memory.
const LINES_IN_FLIGHT: usize = 4096;

/// The machine that `stend` itself runs on.
#[derive(Debug, Default)]
pub struct Local;

impl Host for Local {
    fn name(&self) -> &str {
        stend_model::run::HERE
    }

    fn run(&self, command: &Command) -> Result<Output, HostError> {
        let mut process = self.start(command)?;
        process.stop();
        let deadline = Instant::now() + command.timeout;
        let mut output = Output::default();
        let program = || command.words.first().cloned().unwrap_or_default();
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let fits = match process.next(left) {
                Some(Happening::Line(line)) => Output::add(&mut output.stdout, &line, MOST_READ),
                Some(Happening::ErrorLine(line)) => Output::add(&mut output.stderr, &line, MOST_READ),
                Some(Happening::Ended(exit)) => return Ok(Output { exit, ..output }),
                None => true,
            };
            if !fits {
                process.kill();
                return Err(HostError::TooMuch { from: program() });
            }
            if left.is_zero() {
                process.kill();
                return Err(HostError::TimedOut { program: program(), seconds: command.timeout.as_secs() });
            }
        }
    }

    fn is_interrupted(&self) -> bool {
        Interrupt::heard()
    }

    fn start(&self, command: &Command) -> Result<Box<dyn Process>, HostError> {
        use std::os::unix::process::CommandExt as _;
        let (program, arguments) = command.words.split_first().expect("a command has at least one word");
        let mut builder = std::process::Command::new(program);
        builder
            .args(arguments)
            .envs(&command.environment)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // A group of its own: Ctrl-C at the terminal is for stend, which then decides what becomes of the command.
            .process_group(0);
        if let Some(directory) = &command.directory {
            builder.current_dir(directory);
        }
        let child = builder.spawn().map_err(|error| HostError::Start { program: program.clone(), error })?;
        Ok(Box::new(Followed::of_child(child)))
    }

    fn read(&self, path: &str) -> Result<Vec<u8>, HostError> {
        let mut contents = Vec::new();
        let read = std::fs::File::open(path).and_then(|file| file.take(MOST_READ + 1).read_to_end(&mut contents));
        match read {
            Ok(count) if count as u64 > MOST_READ => Err(HostError::TooMuch { from: path.into() }),
            Ok(_) => Ok(contents),
            Err(error) => Err(at(path, error)),
        }
    }

    fn read_matching(&self, patterns: &[String]) -> Result<BTreeMap<String, Vec<u8>>, HostError> {
        let mut files = BTreeMap::new();
        for pattern in patterns {
            let paths = match pattern.strip_suffix('*') {
                None => vec![pattern.clone()],
                Some(prefix) => {
                    let (directory, start) = prefix.rsplit_once('/').unwrap_or((".", prefix));
                    let names = self.list(directory).unwrap_or_default().into_iter();
                    names.filter(|name| name.starts_with(start)).map(|name| format!("{directory}/{name}")).collect()
                }
            };
            for path in paths.into_iter().filter(|path| std::path::Path::new(path).is_file()) {
                let contents = self.read(&path)?;
                files.insert(path, contents);
            }
        }
        Ok(files)
    }

    fn list(&self, directory: &str) -> Result<Vec<String>, HostError> {
        let entries = std::fs::read_dir(directory).map_err(|error| at(directory, error))?;
        let mut names: Vec<_> =
            entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        Ok(names)
    }

    fn write(&self, path: &str, contents: &[u8]) -> Result<(), HostError> {
        std::fs::write(path, contents).map_err(|error| at(path, error))
    }

    fn append(&self, path: &str, contents: &[u8]) -> Result<(), HostError> {
        let append = || {
            let mut file = std::fs::OpenOptions::new().create(true).append(true).open(path)?;
            file.write_all(contents)?;
            file.sync_all()?;
            // The name of a new file is its directory's to keep.
            match std::path::Path::new(path).parent() {
                Some(directory) => std::fs::File::open(directory)?.sync_all(),
                None => Ok(()),
            }
        };
        append().map_err(|error| at(path, error))
    }

    fn make_directory(&self, path: &str) -> Result<(), HostError> {
        DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(|error| at(path, error))
    }

    fn remove(&self, path: &str) -> Result<(), HostError> {
        let result = match std::fs::symlink_metadata(path) {
            Ok(metadata) if metadata.is_dir() => std::fs::remove_dir_all(path),
            Ok(_) => std::fs::remove_file(path),
            Err(error) => Err(error),
        };
        match result {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(at(path, error)),
            _ => Ok(()),
        }
    }

    fn has_our_clocks(&self) -> bool {
        true
    }

    fn lock(&self, what: &Lockable) -> Result<Box<dyn Lock>, HostError> {
        let path = what.path();
        let take = match what {
            Lockable::Directory(_) => FileLock::take,
            Lockable::Machine(_) => FileLock::take_shared,
        };
        match take(path.as_ref()) {
            Ok(lock) => Ok(Box::new(LocalLock { lock, what: what.clone() })),
            Err(LockError::Held(holder)) => Err(what.held("", &holder)),
            Err(LockError::Unusable(error)) => Err(what.unusable("", error)),
            Err(LockError::NotLocked(error)) => Err(HostError::NotLocked { path, error }),
        }
    }
}

struct LocalLock {
    lock: FileLock,
    what: Lockable,
}

impl Lock for LocalLock {
    fn remove_file(&mut self) -> Result<(), HostError> {
        self.lock.remove_file().map_err(|error| at(&self.what.path(), error))?;
        if let Lockable::Directory(directory) = &self.what {
            let _ = std::fs::remove_dir(directory);
        }
        Ok(())
    }
}

fn at(path: &str, error: std::io::Error) -> HostError {
    HostError::File { path: path.into(), error }
}

/// A command whose streams are read as it prints them.
pub(super) struct Followed {
    stdin: Option<Box<dyn Write + Send>>,
    happenings: Receiver<Happening>,
    kill: Box<dyn Fn() + Send>,
}

impl Followed {
    /// `wait` waits for the command's end when both streams are at theirs, and says what is still to be said; `kill` ends it at once.
    pub(super) fn new(
        stdin: impl Write + Send + 'static,
        stdout: impl Read + Send + 'static,
        stderr: impl Read + Send + 'static,
        wait: impl FnOnce() -> Vec<Happening> + Send + 'static,
        kill: impl Fn() + Send + 'static,
    ) -> Self {
        let (sender, happenings) = sync_channel(LINES_IN_FLIGHT);
        let out = forward(stdout, sender.clone(), Happening::Line);
        let err = forward(stderr, sender.clone(), Happening::ErrorLine);
        thread::spawn(move || {
            for reader in [out, err] {
                let _ = reader.join();
            }
            for happening in wait() {
                let _ = sender.send(happening);
            }
        });
        Self { stdin: Some(Box::new(stdin)), happenings, kill: Box::new(kill) }
    }

    fn of_child(mut child: Child) -> Self {
        // The child's process group while it is certain that the number is still the child's.
        let group = Arc::new(Mutex::new(Pid::from_raw(child.id() as i32)));
        let streams = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(stdin), Some(stdout), Some(stderr)) = streams else { unreachable!("they are piped") };
        let shared_group = Arc::clone(&group);
        let wait = move || {
            let exit = reap(child, &shared_group);
            vec![Happening::Ended(exit.and_then(|status| status.code()))]
        };
        let kill = move || {
            let group = group.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            if let Some(group) = *group {
                let _ = kill_process_group(group, Signal::KILL);
            }
        };
        Self::new(stdin, stdout, stderr, wait, kill)
    }
}

/// Waits for the child, and withdraws its number before the system may give it to somebody else.
fn reap(mut child: Child, group: &Mutex<Option<Pid>>) -> Option<ExitStatus> {
    if let Some(pid) = Pid::from_raw(child.id() as i32) {
        let _ = waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
    }
    let mut group = group.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    *group = None;
    child.wait().ok()
}

fn forward<S: Read + Send + 'static>(
    stream: S,
    sender: SyncSender<Happening>,
    wrap: fn(Vec<u8>) -> Happening,
) -> thread::JoinHandle<()> {
    thread::spawn(move || {
        let mut stream = BufReader::with_capacity(1 << 16, stream);
        loop {
            let mut line = Vec::new();
            match (&mut stream).take(LONGEST_LINE).read_until(b'\n', &mut line) {
                Ok(0) | Err(_) => return,
                Ok(_) => {}
            }
            if line.last() == Some(&b'\n') {
                line.pop();
            }
            if sender.send(wrap(line)).is_err() {
                return;
            }
        }
    })
}

impl Process for Followed {
    fn next(&mut self, wait: Duration) -> Option<Happening> {
        match self.happenings.recv_timeout(wait) {
            Ok(happening) => Some(happening),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => Some(Happening::Ended(None)),
        }
    }

    fn send(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        match &mut self.stdin {
            Some(stdin) => stdin.write_all(bytes).and_then(|()| stdin.flush()),
            None => Err(std::io::ErrorKind::BrokenPipe.into()),
        }
    }

    fn stop(&mut self) {
        self.stdin = None;
    }

    fn kill(&mut self) {
        self.stdin = None;
        (self.kill)();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_status_and_errors_of_a_command() {
        let output = Local.run(&Command::new(["sh", "-c", "echo out; echo err >&2; exit 3"])).unwrap();
        assert_eq!((output.exit, output.text().as_str(), &output.stderr[..]), (Some(3), "out\n", &b"err\n"[..]));
        let error = Local.run(&Command::new(["no-such-program-here"])).unwrap_err().to_string();
        assert!(error.contains("no-such-program-here"), "{error}");
    }

    #[test]
    fn a_command_that_does_not_end_is_killed_with_its_children() {
        let mut command = Command::new(["sh", "-c", "sleep 1000 & sleep 1000"]);
        command.timeout = Duration::from_millis(200);
        let started = Instant::now();
        assert!(matches!(Local.run(&command), Err(HostError::TimedOut { .. })));
        assert!(started.elapsed() < Duration::from_secs(500), "far less than its children would sleep");
    }

    #[test]
    fn lines_come_as_they_are_printed_and_stdin_stays_open() {
        let mut process = Local.start(&Command::new(["sh", "-c", "echo first; cat >/dev/null; echo last"])).unwrap();
        let patient = Duration::from_secs(300);
        assert_eq!(process.next(patient), Some(Happening::Line(b"first".into())));
        assert_eq!(process.next(Duration::from_millis(100)), None, "it waits for its standard input");
        process.stop();
        assert_eq!(process.next(patient), Some(Happening::Line(b"last".into())));
        assert_eq!(process.next(patient), Some(Happening::Ended(Some(0))));
    }

    #[test]
    fn an_endless_line_is_cut_and_does_not_fill_the_memory() {
        let mut process = Local.start(&Command::new(["sh", "-c", "yes | tr -d '\\n'"])).unwrap();
        let Some(Happening::Line(line)) = process.next(Duration::from_secs(300)) else { panic!() };
        assert_eq!(line.len() as u64, LONGEST_LINE);
        process.kill();
    }

    #[test]
    fn a_flood_and_a_file_without_an_end_are_read_so_far_and_no_further() {
        let said = |ended: Result<Vec<u8>, HostError>| ended.unwrap_err().to_string();
        // On a slow machine it takes longer than a command may by itself.
        let flood = Command {
            timeout: Duration::from_secs(3600),
            ..Command::new(["sh", "-c", "yes a-longer-line-than-one-letter"])
        };
        let flood = Local.run(&flood).map(|output| output.stdout);
        for (said, from) in [(said(flood), "sh"), (said(Local.read("/dev/zero")), "/dev/zero")] {
            assert!(said.contains(from) && said.contains("more than 128 MiB"), "{said}");
        }
    }

    #[test]
    fn programs_are_found_where_they_can_be_started() {
        use std::os::unix::fs::PermissionsExt;
        assert!(Local.find_program("sh").is_some_and(|path| path.ends_with("/sh")));
        // Every shell has it built in, and every system has it as a program too.
        assert!(Local.find_program("printf").is_some_and(|path| path.ends_with("/printf")));
        for missing in ["no-such-program-here", "export", "/no/such/program", "/etc/passwd", "/tmp"] {
            assert_eq!(Local.find_program(missing), None, "{missing}");
        }
        let directory = tempfile::tempdir().unwrap();
        let own = directory.path().join("own");
        let path = own.to_str().unwrap();
        std::fs::write(&own, "#!/bin/sh\n").unwrap();
        assert_eq!(Local.find_program(path), None, "nobody may execute it");
        std::fs::set_permissions(&own, PermissionsExt::from_mode(0o755)).unwrap();
        assert_eq!(Local.find_program(path).as_deref(), Some(path));
    }

    #[test]
    fn a_command_that_reads_its_standard_input_finds_its_end() {
        let output = Local.run(&Command::new(["cat"])).unwrap();
        assert_eq!((output.exit, output.stdout.len()), (Some(0), 0));
    }

    #[test]
    fn files_and_directories() {
        let directory = tempfile::tempdir().unwrap();
        let inner = format!("{}/a/b", directory.path().display());
        Local.make_directory(&inner).unwrap();
        Local.write(&format!("{inner}/x"), b"hello").unwrap();
        assert_eq!(Local.read_text(&format!("{inner}/x")).unwrap(), "hello");
        assert_eq!(Local.list(&inner).unwrap(), ["x"]);
        Local.remove(&inner).unwrap();
        Local.remove(&inner).unwrap();
        assert!(Local.read(&inner).unwrap_err().to_string().contains("a/b"));
    }
}
