//! A machine that the system's ssh client reaches, with the user's own configuration: jump hosts, agents, ports, ciphers.
//!
//! The first command opens one connection, and all others share it (`ControlMaster`). It closes by itself a minute after the last of them,
//! also where this program was killed; a link that dropped is opened again by the next command. What runs over it when it drops loses its
//! standard input there, which ends what a guard guards.
//!
//! There it takes a POSIX shell. The words of a command are sent in an encoding that every login shell leaves alone, and what login shells
//! print of themselves is left out: what counts begins with a mark.

mod dialling;
mod locks;
mod mux;
mod words;

use std::collections::BTreeMap;
use std::io::{Error, ErrorKind, Read, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::local::Followed;
use super::{
    Command, Happening, Host, HostError, LINK_DROPPED, Lock, Lockable, MOST_READ, Output, Process, REMOVE, WATCHED,
    stand,
};
use crate::interrupt::Interrupt;
pub use dialling::BEFORE_TRIES_OF_GUEST;
use dialling::own_directory;
use locks::Locks;
use mux::{Channel, End};
use words::{MARK, after_mark, all_quoted, last_line, marked, quoted, spelled};

/// Files of this size come over slow links too.
const LONGEST_TRANSFER: Duration = Duration::from_secs(600);
/// What a command's shell says of a program that is not there.
const NO_PROGRAM: &str = "stend: there is no such program";

/// The terminal at which ssh may ask for passphrases and keys.
pub trait Terminal: Sync {
    /// Whether others may want it at the same time.
    fn is_shared(&self) -> bool;
    /// Whether the user sits at one.
    fn is_there(&self) -> bool;
    /// Does something that has it for itself; `what` is said before.
    fn alone(&self, what: &str, deed: &mut dyn FnMut());
}

/// A machine that ssh reaches.
pub struct Ssh {
    destination: String,
    /// The file that says how it is reached, if not the user's configuration.
    configuration: Option<String>,
    /// A directory of its own for the connection's socket.
    directory: PathBuf,
    /// Held while the connection is opened.
    opening: Mutex<()>,
    /// Nobody answered when it was to be opened.
    silent: AtomicBool,
    /// The path of `stend-probe` there, which holds locks.
    probe: Mutex<Option<String>>,
    /// Where there are programs that stand in for those that the machine lacks.
    stand_ins: Mutex<Option<String>>,
    /// What is locked there.
    locks: Locks,
    /// Variables that are sent there, `NAME=value`.
    environment: Vec<String>,
    interrupt: Interrupt,
    /// Where ssh asks the user.
    terminal: &'static dyn Terminal,
    /// Whether commands give up when the user interrupts the program.
    heeds: AtomicBool,
}

impl Ssh {
    /// Opens the connection to a destination as ssh takes it: `user@host`, or a name of its configuration, which is the user's own if no other one
    /// is given.
    ///
    /// # Errors
    /// There is no way to the machine, or it is not what it was, ssh's reason in one line; or the user interrupted it.
    pub fn connect(
        destination: &str,
        configuration: Option<&str>,
        interrupt: &Interrupt,
        terminal: &'static dyn Terminal,
    ) -> Result<Self, HostError> {
        if destination.is_empty() || destination.starts_with('-') {
            return Err(link(destination, "it is no destination for ssh; user@host, or a name of ~/.ssh/config"));
        }
        let mut ssh = Self {
            destination: destination.to_owned(),
            configuration: configuration.map(str::to_owned),
            directory: own_directory().map_err(|error| link(destination, &error.to_string()))?,
            opening: Mutex::new(()),
            silent: AtomicBool::new(false),
            probe: Mutex::default(),
            stand_ins: Mutex::default(),
            locks: Locks::default(),
            environment: Vec::new(),
            interrupt: interrupt.clone(),
            terminal,
            heeds: AtomicBool::new(true),
        };
        ssh.open()?;
        ssh.environment = ssh.environment_sent()?;
        Ok(ssh)
    }

    /// Says where `stend-probe` is there, or what of it holds locks.
    pub fn set_probe(&self, path: &str) {
        if let Some(directory) = stand::stand_ins(path) {
            *self.stand_ins.lock().unwrap_or_else(PoisonError::into_inner) = Some(directory);
        }
        *self.probe.lock().unwrap_or_else(PoisonError::into_inner) = Some(path.to_owned());
    }

    /// Puts what stands in for programs that the machine lacks behind those that it has.
    fn path(&self) -> String {
        let directory = self.stand_ins.lock().unwrap_or_else(PoisonError::into_inner).clone();
        directory.map(|directory| format!("PATH=$PATH:{}\nexport PATH\n", quoted(&directory))).unwrap_or_default()
    }

    /// Starts a command over the connection that is open or not at all.
    fn start_over_open_link(&self, command: &Command) -> Result<Box<dyn Process>, HostError> {
        self.session(&self.script_of(command)).and_then(|session| self.followed(session))
    }

    fn script_of(&self, command: &Command) -> String {
        format!("{}exec {}", self.before(command), all_quoted(&command.words))
    }

    fn followed(&self, session: Channel) -> Result<Box<dyn Process>, HostError> {
        let Channel { stdin, stdout, stderr, control } = session;
        let mut awaited = control.another().map_err(|error| link(&self.destination, &error.to_string()))?;
        let wait = move || match awaited.end() {
            End::Exit(status) => vec![Happening::Ended(Some(status))],
            End::Lost => vec![Happening::Ended(None)],
            End::Refused(reason) => vec![Happening::ErrorLine(reason.into_bytes()), Happening::Ended(None)],
        };
        let process = Followed::new(stdin, stdout, stderr, wait, move || control.close());
        Ok(Box::new(Remote { process, out: false, err: false, before: 0, last_words: String::new(), then: None }))
    }

    /// Runs a script there, over a connection that is opened if it is not, or not any more.
    fn session_anew(&self, script: &str) -> Result<Channel, HostError> {
        self.open()?;
        self.session(script).or_else(|_| self.open().and_then(|()| self.session(script)))
    }

    /// Runs a script over the connection that is open or not at all.
    fn session(&self, script: &str) -> Result<Channel, HostError> {
        let command = format!("exec sh -c 'eval \"$(printf %b \"$@\")\"' sh {}", spelled(script.as_bytes()));
        Channel::open(&self.socket(), &command, &self.environment).map_err(|error| {
            // Whoever held it has ended; the next command opens the connection again.
            let _ = std::fs::remove_file(self.socket());
            match error.kind() {
                ErrorKind::Other => link(&self.destination, &error.to_string()),
                _ => link(&self.destination, LINK_DROPPED),
            }
        })
    }

    /// Runs a script to its end. Its output is exactly what it printed.
    fn exchange(&self, script: &str, feed: Feed, timeout: Duration) -> Result<Output, HostError> {
        if self.is_interrupted() {
            return Err(HostError::Interrupted);
        }
        let Channel { stdin, stdout, stderr, mut control } = self.session_anew(script)?;
        let _open = match feed {
            Feed::Nothing => {
                drop(stdin);
                None
            }
            Feed::Open => Some(stdin),
            Feed::Bytes(bytes) => {
                let (mut stdin, bytes) = (stdin, bytes.to_vec());
                // One that ends without reading it says why on standard error.
                thread::spawn(move || stdin.write_all(&bytes));
                None
            }
        };
        let parts: [Box<dyn Read + Send>; 2] = [Box::new(stdout), Box::new(stderr)];
        let [stdout, stderr] =
            collect(parts, Instant::now() + timeout, &|| self.is_interrupted()).map_err(|error| {
                control.close();
                self.not_collected(&error)
            })?;
        let end = control.end();
        let (Some(printed), Some(complained)) = (after_mark(&stdout), after_mark(&stderr)) else {
            // The next command opens it again.
            let _ = std::fs::remove_file(self.socket());
            let reason = match end {
                End::Refused(reason) => reason,
                End::Lost => LINK_DROPPED.to_owned(),
                // A login shell that starts nothing may say so on either.
                End::Exit(_) => {
                    let said = String::from_utf8_lossy(if stderr.is_empty() { &stdout } else { &stderr });
                    last_line(&said).to_owned()
                }
            };
            return Err(link(&self.destination, &reason));
        };
        let exit = match end {
            End::Exit(status) => Some(status),
            End::Lost | End::Refused(_) => None,
        };
        Ok(Output { exit, stdout: printed.to_vec(), stderr: complained.to_vec() })
    }

    fn not_collected(&self, error: &Error) -> HostError {
        match error.kind() {
            ErrorKind::Interrupted => HostError::Interrupted,
            ErrorKind::FileTooLarge => HostError::TooMuch { from: self.destination.clone() },
            _ => link(&self.destination, &error.to_string()),
        }
    }

    /// A script that goes to where a command runs, and sees to it that its program is there. What runs it comes behind that.
    fn before(&self, command: &Command) -> String {
        let mut script = marked(&self.path());
        if let Some(directory) = &command.directory {
            script += &format!("cd {} || exit 126\n", quoted(directory));
        }
        for (name, value) in &command.environment {
            script += &format!("export {name}={}\n", quoted(value));
        }
        let program = command.words.first().map_or_else(|| "''".into(), |word| quoted(word));
        script + &format!("command -v {program} >/dev/null 2>&1 || {{ echo '{NO_PROGRAM}' >&2; exit 127; }}\n")
    }

    /// Runs a script on a file.
    fn on_file(&self, path: &str, script: &str, feed: Feed) -> Result<Vec<u8>, HostError> {
        let script = format!("{}\n{script}", marked(&format!("{}set -- {}", self.path(), quoted(path))));
        let output = self.exchange(&script, feed, LONGEST_TRANSFER)?;
        if output.exit == Some(0) {
            return Ok(output.stdout);
        }
        // What comes after the first line mostly follows from it; but tar says how much it wrote before it says why not all.
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        let why = text.lines().find(|line| line.contains("No space left")).or_else(|| text.lines().next());
        let words = why.unwrap_or_default().trim().to_owned();
        // busybox says it in small letters.
        let kind = match &*words {
            words if words.contains("o such file") => ErrorKind::NotFound,
            words if words.contains("Not a directory") => ErrorKind::NotADirectory,
            _ => ErrorKind::Other,
        };
        let words = if words.is_empty() { "the shell there does not say why".to_owned() } else { words };
        Err(HostError::File { path: format!("{}:{path}", self.destination), error: Error::new(kind, words) })
    }
}

impl Drop for Ssh {
    fn drop(&mut self) {
        self.close();
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

impl Host for Ssh {
    fn name(&self) -> &str {
        &self.destination
    }

    fn run(&self, command: &Command) -> Result<Output, HostError> {
        let program = command.words.first().cloned().unwrap_or_default();
        // So that it ends there when it is not waited for any more, for whatever reason.
        let script = format!("{}set -- '' {}\n{WATCHED}", self.before(command), all_quoted(&command.words));
        let mut output = self.exchange(&script, Feed::Open, command.timeout).map_err(|error| match error {
            HostError::Link { reason, .. } if reason == TIMED_OUT => {
                HostError::TimedOut { program: program.clone(), seconds: command.timeout.as_secs() }
            }
            error => error,
        })?;
        if output.exit == Some(127) && output.stderr.starts_with(NO_PROGRAM.as_bytes()) {
            return Err(HostError::Start { program, error: ErrorKind::NotFound.into() });
        }
        for stream in [&mut output.stdout, &mut output.stderr] {
            if stream.last().is_some_and(|byte| *byte != b'\n') {
                stream.push(b'\n');
            }
        }
        Ok(output)
    }

    fn start(&self, command: &Command) -> Result<Box<dyn Process>, HostError> {
        self.session_anew(&self.script_of(command)).and_then(|session| self.followed(session))
    }

    fn read(&self, path: &str) -> Result<Vec<u8>, HostError> {
        self.on_file(path, "exec cat <\"$1\"", Feed::Nothing)
    }

    /// All in one exchange, packed by tar: a tool may leave dozens of files, and each exchange takes a round trip and two processes.
    fn read_matching(&self, patterns: &[String]) -> Result<BTreeMap<String, Vec<u8>>, HostError> {
        let Some(first) = patterns.first() else { return Ok(BTreeMap::new()) };
        let word = |pattern: &String| match pattern.strip_suffix('*') {
            Some(prefix) => format!("{}*", quoted(prefix)),
            None => quoted(pattern),
        };
        let words: Vec<_> = patterns.iter().map(word).collect();
        // What is there is put behind what is still to be looked at.
        let script = format!(
            "set -- {}\nfor file do shift; [ ! -f \"$file\" ] || set -- \"$@\" \".$file\"; done\n\
             [ $# -eq 0 ] || {{ cd / && exec tar -c -f - \"$@\"; }}",
            words.join(" ")
        );
        let archive = self.on_file(first, &script, Feed::Nothing)?;
        unpacked(&archive).map_err(|error| HostError::File { path: format!("{}:{first}", self.destination), error })
    }

    fn list(&self, directory: &str) -> Result<Vec<String>, HostError> {
        // Patterns of the shell alone: the hidden names need two of their own. Not every shell says why it cannot enter a directory.
        let script = r#"cd "$1" 2>/dev/null || {
                if [ -d "$1" ]; then echo "it cannot be entered"; elif [ -e "$1" ]; then echo "Not a directory"; else echo "No such file"; fi >&2
                exit 1
            }
            for name in * .[!.]* ..?*; do [ ! -e "$name" ] && [ ! -h "$name" ] || printf '%s\n' "$name"; done"#;
        let text = self.on_file(directory, script, Feed::Nothing)?;
        let mut names: Vec<_> = String::from_utf8_lossy(&text).lines().map(str::to_owned).collect();
        names.sort();
        Ok(names)
    }

    fn write(&self, path: &str, contents: &[u8]) -> Result<(), HostError> {
        self.on_file(path, "exec cat >\"$1\"", Feed::Bytes(contents)).map(drop)
    }

    fn append(&self, path: &str, contents: &[u8]) -> Result<(), HostError> {
        // `sync FILE` is of some systems only.
        self.on_file(path, "cat >>\"$1\" && { sync \"$1\" 2>/dev/null || sync; }", Feed::Bytes(contents)).map(drop)
    }

    fn make_directory(&self, path: &str) -> Result<(), HostError> {
        self.on_file(path, "umask 077 && exec mkdir -p \"$1\"", Feed::Nothing).map(drop)
    }

    fn put_tree(&self, directory: &str, files: &[(&str, &[u8])]) -> Result<(), HostError> {
        let below = format!("{}/", directory.trim_start_matches('/'));
        let archive = stand::tar_of(&below, files.iter().copied())
            .map_err(|error| HostError::File { path: format!("{}:{directory}", self.destination), error })?;
        // tar makes the directories by itself. What it unpacked of an archive that was cut off is removed.
        let script = format!("{REMOVE}umask 077; tar -x -f - -C / || {{ remove \"$1\"; exit 1; }}");
        self.on_file(directory, &script, Feed::Bytes(&archive)).map(drop)
    }

    fn remove(&self, path: &str) -> Result<(), HostError> {
        self.on_file(path, &format!("{REMOVE}remove \"$1\""), Feed::Nothing).map(drop)
    }

    fn lock(&self, what: &Lockable) -> Result<Box<dyn Lock>, HostError> {
        self.open()?;
        self.locks.take(self, what)
    }

    fn heed_interrupt(&self, yes: bool) {
        self.heeds.store(yes, Ordering::Relaxed);
    }

    fn is_interrupted(&self) -> bool {
        self.heeds.load(Ordering::Relaxed) && self.interrupt.requested()
    }
}

/// A command over there.
struct Remote {
    process: Followed,
    /// Whether the mark has come on each stream.
    out: bool,
    err: bool,
    /// How much came before that, in bytes.
    before: usize,
    /// What ssh said last, if the command never began.
    last_words: String,
    /// What comes next.
    then: Option<Happening>,
}

impl Process for Remote {
    fn next(&mut self, wait: Duration) -> Option<Happening> {
        if let Some(happening) = self.then.take() {
            return Some(happening);
        }
        let deadline = Instant::now() + wait;
        loop {
            let happening = self.process.next(deadline.saturating_duration_since(Instant::now()))?;
            match happening {
                // What a login shell said last may have had no newline.
                Happening::Line(line) if !self.out => {
                    self.out = line.ends_with(MARK.as_bytes());
                    self.before += line.len() + 1;
                }
                Happening::ErrorLine(line) if !self.err => {
                    self.err = line.ends_with(MARK.as_bytes());
                    self.before += line.len() + 1;
                    self.last_words = String::from_utf8_lossy(&line).into_owned();
                }
                Happening::Ended(_) if !self.out => {
                    self.then = Some(happening);
                    self.out = true;
                    return Some(Happening::ErrorLine(last_line(&self.last_words).into()));
                }
                happening => return Some(happening),
            }
            if self.before > MOST_BEFORE {
                self.process.kill();
                self.out = true;
                self.then = Some(Happening::Ended(None));
                let words = format!(
                    "the login shell there printed more than {} KiB before the command began",
                    MOST_BEFORE >> 10
                );
                return Some(Happening::ErrorLine(words.into_bytes()));
            }
            if Instant::now() >= deadline {
                return None;
            }
        }
    }

    fn send(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.process.send(bytes)
    }

    fn stop(&mut self) {
        self.process.stop();
    }

    fn kill(&mut self) {
        self.process.kill();
    }
}

fn link(destination: &str, reason: &str) -> HostError {
    HostError::Link { destination: destination.to_owned(), reason: reason.to_owned() }
}

/// The files in an archive of tar whose names begin with `./` at the root, by path.
fn unpacked(archive: &[u8]) -> std::io::Result<BTreeMap<String, Vec<u8>>> {
    let mut files = BTreeMap::new();
    for entry in tar::Archive::new(archive).entries()? {
        let mut entry = entry?;
        let path = format!("/{}", String::from_utf8_lossy(&entry.path_bytes()).trim_start_matches("./"));
        let mut contents = Vec::new();
        entry.read_to_end(&mut contents)?;
        files.insert(path, contents);
    }
    Ok(files)
}

/// A login shell may print so much before a command, in bytes.
const MOST_BEFORE: usize = 1 << 20;

const TIMED_OUT: &str = "it did not answer in time";

/// How often it is looked whether the user wants to end.
pub(super) const INTERRUPT_INTERVAL: Duration = Duration::from_millis(200);

/// What a script there has for its standard input.
#[derive(Clone, Copy)]
enum Feed<'a> {
    /// It is at its end.
    Nothing,
    /// It stays open, and ends when the script is not waited for any more.
    Open,
    /// These bytes.
    Bytes(&'a [u8]),
}

/// What comes on both streams until their ends, if they end in time and are wanted so long, and it is not too much.
fn collect(
    streams: [Box<dyn Read + Send>; 2],
    deadline: Instant,
    stop: &dyn Fn() -> bool,
) -> std::io::Result<[Vec<u8>; 2]> {
    let (sender, parts) = channel();
    for (place, stream) in streams.into_iter().enumerate() {
        let sender = sender.clone();
        thread::spawn(move || {
            let mut bytes = Vec::new();
            let _ = stream.take(MOST_READ + 1).read_to_end(&mut bytes);
            let _ = sender.send((place, bytes));
        });
    }
    drop(sender);
    let mut collected = [Vec::new(), Vec::new()];
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        match parts.recv_timeout(left.min(INTERRUPT_INTERVAL)) {
            Ok((_, bytes)) if bytes.len() as u64 > MOST_READ => return Err(ErrorKind::FileTooLarge.into()),
            Ok((place, bytes)) => collected[place] = bytes,
            Err(RecvTimeoutError::Disconnected) => return Ok(collected),
            Err(RecvTimeoutError::Timeout) if left.is_zero() => return Err(Error::other(TIMED_OUT)),
            Err(RecvTimeoutError::Timeout) if stop() => return Err(ErrorKind::Interrupted.into()),
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}
