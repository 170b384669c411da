//! A machine that the system's ssh client reaches, with the user's own configuration: jump hosts, agents, ports, ciphers.
//!
//! The first command opens one connection, and all others share it (`ControlMaster`). It closes by itself a minute after the last of them,
//! also where this program was killed; a link that dropped is opened again by the next command. What runs over it when it drops loses its
//! standard input there, which ends what a guard guards.
//!
//! There it takes a POSIX shell. The words of a command are sent in an encoding that every login shell leaves alone, and what login shells
//! print of themselves is left out: what counts begins with a mark.

mod locks;

use std::collections::BTreeMap;
use std::fs::DirBuilder;
use std::io::{Error, ErrorKind, Read, Write};
use std::os::unix::fs::DirBuilderExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::{Command, Happening, Host, HostError, Local, Lock, Lockable, Output, Process, stand};
use crate::interrupt::Interrupt;
use locks::Locks;

/// Opening the connection may take a person who types a passphrase.
const LONGEST_LOGIN: Duration = Duration::from_secs(180);
/// Files of this size come over slow links too.
const LONGEST_TRANSFER: Duration = Duration::from_secs(600);
/// Stands between what a login shell says and what a command says.
const MARK: &str = "stend: here it begins";
/// What a command's shell says of a program that is not there.
const NO_PROGRAM: &str = "stend: there is no such program";
/// A link that says nothing for three times five seconds is dead.
const OPTIONS: [&str; 3] = ["ServerAliveInterval=5", "ServerAliveCountMax=3", "ConnectTimeout=20"];

/// A machine that ssh reaches.
pub(crate) struct Ssh {
    destination: String,
    /// A directory of its own for the connection's socket.
    directory: PathBuf,
    /// Held while the connection is opened.
    opening: Mutex<()>,
    /// The path of `stend-probe` there, which holds locks.
    probe: Mutex<Option<String>>,
    /// Where there are programs that stand in for those that the machine lacks.
    stand_ins: Mutex<Option<String>>,
    /// What is locked there.
    locks: Locks,
    interrupt: Interrupt,
    /// Whether commands give up when the user interrupts the program.
    heeds: AtomicBool,
}

impl Ssh {
    /// Opens the connection to a destination as ssh takes it: `user@host`, or a name of its configuration.
    ///
    /// # Errors
    /// There is no way to the machine, or it is not what it was, ssh's reason in one line; or the user interrupted it.
    pub(crate) fn connect(destination: &str, interrupt: &Interrupt) -> Result<Self, HostError> {
        if destination.is_empty() || destination.starts_with('-') {
            return Err(link(destination, "it is no destination for ssh; user@host, or a name of ~/.ssh/config"));
        }
        let ssh = Self {
            destination: destination.to_owned(),
            directory: own_directory().map_err(|error| link(destination, &error.to_string()))?,
            opening: Mutex::new(()),
            probe: Mutex::default(),
            stand_ins: Mutex::default(),
            locks: Locks::default(),
            interrupt: interrupt.clone(),
            heeds: AtomicBool::new(true),
        };
        ssh.open()?;
        Ok(ssh)
    }

    /// Says where `stend-probe` is there, or what of it holds locks.
    pub(crate) fn set_probe(&self, path: &str) {
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

    fn socket(&self) -> PathBuf {
        self.directory.join("link")
    }

    /// Opens the connection, if it is not open.
    fn open(&self) -> Result<(), HostError> {
        let _opening = self.opening.lock().unwrap_or_else(PoisonError::into_inner);
        if self.socket().exists() {
            return Ok(());
        }
        let mut builder = std::process::Command::new("ssh");
        let socket = self.socket();
        builder.arg("-S").arg(&socket).args(["-o", "ControlMaster=yes", "-o", "ControlPersist=60", "-T", "-x"]);
        builder.args(OPTIONS.iter().flat_map(|option| ["-o", option]));
        // Its first session is this one; it stays in the background when that ends. It asks for passphrases at the terminal.
        builder.args(["--", &self.destination, "exit 0"]);
        builder.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let ended = self.finish(builder, None, LONGEST_LOGIN)?;
        if ended.exit == Some(0) {
            // What was locked before the link dropped is not locked any more.
            return self.locks.take_again(self).inspect_err(|_| self.close());
        }
        Err(link(&self.destination, &in_words(&String::from_utf8_lossy(&ended.stderr))))
    }

    fn close(&self) {
        let mut builder = std::process::Command::new("ssh");
        builder.arg("-S").arg(self.socket()).args(["-O", "exit", "--", &self.destination]);
        builder.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let _ = builder.status();
        let _ = std::fs::remove_file(self.socket());
    }

    /// Starts a command over the connection that is open or not at all.
    fn start_over_open_link(&self, command: &Command) -> Result<Box<dyn Process>, HostError> {
        let process = Local.start(&Command::new(self.client(&self.script_of(command))))?;
        Ok(Box::new(Remote { process, out: false, err: false, last_words: String::new(), then: None }))
    }

    /// Feeds an ssh client and waits for its end.
    fn finish(
        &self,
        builder: std::process::Command,
        input: Option<&[u8]>,
        timeout: Duration,
    ) -> Result<Output, HostError> {
        let stop = || self.is_interrupted();
        if stop() {
            return Err(HostError::Interrupted);
        }
        finish(builder, input, timeout, &stop).map_err(|error| match error.kind() {
            ErrorKind::NotFound => HostError::Start { program: "ssh".into(), error },
            ErrorKind::Interrupted => HostError::Interrupted,
            _ => link(&self.destination, &error.to_string()),
        })
    }

    /// The ssh client for a command, over the connection that is open or not at all.
    fn client(&self, script: &str) -> Vec<String> {
        let socket = self.socket().to_string_lossy().into_owned();
        let remote = format!("exec sh -c 'eval \"$(printf %b \"$0\")\"' '{}'", spelled(script.as_bytes()));
        ["ssh", "-S", &socket, "-o", "ControlMaster=no", "-o", "ProxyCommand=false", "-T", "-x", "--"]
            .into_iter()
            .chain([self.destination.as_str(), remote.as_str()])
            .map(str::to_owned)
            .collect()
    }

    /// Runs a script to its end. Its output is exactly what it printed.
    fn exchange(&self, script: &str, input: Option<&[u8]>, timeout: Duration) -> Result<Output, HostError> {
        self.open()?;
        let words = self.client(script);
        let mut builder = std::process::Command::new(&words[0]);
        builder.args(&words[1..]).stdout(Stdio::piped()).stderr(Stdio::piped());
        builder.stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() });
        // A group of its own: Ctrl-C at the terminal is for stend, which then decides what becomes of the command.
        builder.process_group(0);
        let ended = self.finish(builder, input, timeout)?;
        let (Some(stdout), Some(stderr)) = (after_mark(&ended.stdout), after_mark(&ended.stderr)) else {
            // The next command opens it again.
            let _ = std::fs::remove_file(self.socket());
            return Err(link(&self.destination, &in_words(&String::from_utf8_lossy(&ended.stderr))));
        };
        // ssh's own status of a command that a signal ended, and of a link that dropped.
        let exit = ended.exit.filter(|status| *status != 255);
        Ok(Output { exit, stdout: stdout.to_vec(), stderr: stderr.to_vec() })
    }

    /// The words of a command as a script.
    fn script_of(&self, command: &Command) -> String {
        let mut script = marked(&self.path());
        if let Some(directory) = &command.directory {
            script += &format!("cd {} || exit 126\n", quoted(directory));
        }
        for (name, value) in &command.environment {
            script += &format!("export {name}={}\n", quoted(value));
        }
        let words: Vec<_> = command.words.iter().map(|word| quoted(word)).collect();
        let program = words.first().map_or("''", String::as_str);
        script += &format!("command -v {program} >/dev/null 2>&1 || {{ echo '{NO_PROGRAM}' >&2; exit 127; }}\n");
        script + "exec " + &words.join(" ")
    }

    /// Runs a script on a file.
    fn on_file(&self, path: &str, script: &str, input: Option<&[u8]>) -> Result<Vec<u8>, HostError> {
        let script = format!("{}\n{script}", marked(&format!("{}set -- {}", self.path(), quoted(path))));
        let output = self.exchange(&script, input, LONGEST_TRANSFER)?;
        if output.exit == Some(0) {
            return Ok(output.stdout);
        }
        // What comes after the first line mostly follows from it; but tar says how much it wrote before it says why not all.
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        let why = text.lines().find(|line| line.contains("No space left")).or_else(|| text.lines().next());
        let words = why.unwrap_or_default().trim().to_owned();
        let kind = if words.contains("No such file") { ErrorKind::NotFound } else { ErrorKind::Other };
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
        let mut output =
            self.exchange(&self.script_of(command), None, command.timeout).map_err(|error| match error {
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
        self.open()?;
        self.start_over_open_link(command)
    }

    fn read(&self, path: &str) -> Result<Vec<u8>, HostError> {
        self.on_file(path, "exec cat <\"$1\"", None)
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
        let archive = self.on_file(first, &script, None)?;
        unpacked(&archive).map_err(|error| HostError::File { path: format!("{}:{first}", self.destination), error })
    }

    fn list(&self, directory: &str) -> Result<Vec<String>, HostError> {
        // Patterns of the shell alone: the hidden names need two of their own.
        let script = r#"cd "$1" || exit; for name in * .[!.]* ..?*; do [ ! -e "$name" ] && [ ! -h "$name" ] || printf '%s\n' "$name"; done"#;
        let text = self.on_file(directory, script, None)?;
        let mut names: Vec<_> = String::from_utf8_lossy(&text).lines().map(str::to_owned).collect();
        names.sort();
        Ok(names)
    }

    fn write(&self, path: &str, contents: &[u8]) -> Result<(), HostError> {
        self.on_file(path, "exec cat >\"$1\"", Some(contents)).map(drop)
    }

    fn append(&self, path: &str, contents: &[u8]) -> Result<(), HostError> {
        // `sync FILE` is of some systems only.
        self.on_file(path, "cat >>\"$1\" && { sync \"$1\" 2>/dev/null || sync; }", Some(contents)).map(drop)
    }

    fn make_directory(&self, path: &str) -> Result<(), HostError> {
        self.on_file(path, "exec mkdir -p \"$1\"", None).map(drop)
    }

    fn put_tree(&self, directory: &str, files: &[(&str, &[u8])]) -> Result<(), HostError> {
        let below = format!("{}/", directory.trim_start_matches('/'));
        let archive = stand::tar_of(&below, files.iter().copied())
            .map_err(|error| HostError::File { path: format!("{}:{directory}", self.destination), error })?;
        // tar makes the directories by itself. What it unpacked of an archive that was cut off is removed.
        let script = format!("tar -x -f - -C / || {{\n{REMOVE}\nexit 1\n}}");
        self.on_file(directory, &script, Some(&archive)).map(drop)
    }

    fn remove(&self, path: &str) -> Result<(), HostError> {
        self.on_file(path, REMOVE, None).map(drop)
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
    process: Box<dyn Process>,
    /// Whether the mark has come on each stream.
    out: bool,
    err: bool,
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
                Happening::Line(line) if !self.out => self.out = line.ends_with(MARK.as_bytes()),
                Happening::ErrorLine(line) if !self.err => {
                    self.err = line.ends_with(MARK.as_bytes());
                    self.last_words = String::from_utf8_lossy(&line).into_owned();
                }
                Happening::Ended(exit) => {
                    // ssh's own status of a command that a signal ended, and of a link that dropped.
                    let ended = Happening::Ended(exit.filter(|status| *status != 255));
                    if self.out {
                        return Some(ended);
                    }
                    self.then = Some(ended);
                    self.out = true;
                    return Some(Happening::ErrorLine(in_words(&self.last_words).into_bytes()));
                }
                happening => return Some(happening),
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

fn marked(script: &str) -> String {
    format!("printf '%s\\n' '{MARK}'\nprintf '%s\\n' '{MARK}' >&2\n{script}\n")
}

/// What came after the mark, if it came.
fn after_mark(bytes: &[u8]) -> Option<&[u8]> {
    let mark = [MARK.as_bytes(), b"\n"].concat();
    let at = bytes.windows(mark.len()).position(|window| window == mark)?;
    Some(&bytes[at + mark.len()..])
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

/// Removes `$1`. Where there is no rm yet, GNU's tar removes what it packs.
const REMOVE: &str = r#"if [ ! -e "$1" ] && [ ! -h "$1" ]; then :
elif command -v rm >/dev/null 2>&1; then rm -rf "$1"
else tar -c -f /dev/null --remove-files "$1" 2>/dev/null || { echo "there is no rm here" >&2; exit 1; }
fi"#;

/// A word as a POSIX shell takes it literally.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// A text as `printf %b` gives it back, of characters that no shell takes for anything else within single quotes.
fn spelled(text: &[u8]) -> String {
    let mut spelled = String::with_capacity(text.len() * 2);
    for &byte in text {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b' ' | b'/' | b'.' | b',' | b':' | b'=' | b'_' | b'-' | b'+' => {
                spelled.push(char::from(byte));
            }
            _ => spelled += &format!("\\0{byte:03o}"),
        }
    }
    spelled
}

/// ssh's complaint in one line.
fn in_words(complaint: &str) -> String {
    if complaint.contains("REMOTE HOST IDENTIFICATION HAS CHANGED") {
        return "its host key has changed; if that is right, remove the old one with ssh-keygen -R, else somebody is in between".into();
    }
    let mut lines = complaint.lines().map(str::trim).filter(|line| !line.is_empty() && *line != MARK);
    let last = lines.next_back().unwrap_or("the link dropped");
    last.trim_start_matches("ssh: ").to_owned()
}

/// A directory for a socket: its path must be short.
fn own_directory() -> std::io::Result<PathBuf> {
    let base = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|path| path.is_dir());
    let base = base.unwrap_or_else(std::env::temp_dir);
    let moment = jiff::Timestamp::now().as_nanosecond() as u64;
    let directory = base.join(format!("stend-{}-{moment:x}", std::process::id()));
    DirBuilder::new().mode(0o700).create(&directory)?;
    Ok(directory)
}

const TIMED_OUT: &str = "it did not answer in time";

/// How often it is looked whether the user wants to end.
pub(super) const INTERRUPT_INTERVAL: Duration = Duration::from_millis(200);

/// Feeds a program and waits for its end. One that takes longer, or that is not wanted any more, is killed.
fn finish(
    mut builder: std::process::Command,
    input: Option<&[u8]>,
    timeout: Duration,
    stop: &dyn Fn() -> bool,
) -> std::io::Result<Output> {
    let mut child = builder.spawn()?;
    let (sender, parts) = channel();
    for (place, stream) in streams(&mut child) {
        let sender = sender.clone();
        thread::spawn(move || {
            let mut stream = stream;
            let mut bytes = Vec::new();
            let _ = stream.read_to_end(&mut bytes);
            let _ = sender.send((place, bytes));
        });
    }
    drop(sender);
    if let (Some(input), Some(mut stdin)) = (input.map(<[u8]>::to_vec), child.stdin.take()) {
        // One that ends without reading it says why on standard error.
        thread::spawn(move || stdin.write_all(&input));
    }
    match collect(&parts, Instant::now() + timeout, stop) {
        Ok([stdout, stderr]) => Ok(Output { exit: child.wait()?.code(), stdout, stderr }),
        Err(error) => {
            let _ = child.kill();
            let _ = child.wait();
            Err(error)
        }
    }
}

fn streams(child: &mut Child) -> Vec<(usize, Box<dyn Read + Send>)> {
    let out = child.stdout.take().map(|stream| (0, Box::new(stream) as Box<dyn Read + Send>));
    let err = child.stderr.take().map(|stream| (1, Box::new(stream) as Box<dyn Read + Send>));
    out.into_iter().chain(err).collect()
}

/// What came on both streams, if they end in time.
fn collect(
    parts: &Receiver<(usize, Vec<u8>)>,
    deadline: Instant,
    stop: &dyn Fn() -> bool,
) -> std::io::Result<[Vec<u8>; 2]> {
    let mut collected = [Vec::new(), Vec::new()];
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        match parts.recv_timeout(left.min(INTERRUPT_INTERVAL)) {
            Ok((place, bytes)) => collected[place] = bytes,
            Err(RecvTimeoutError::Disconnected) => return Ok(collected),
            Err(RecvTimeoutError::Timeout) if left.is_zero() => return Err(Error::other(TIMED_OUT)),
            Err(RecvTimeoutError::Timeout) if stop() => return Err(ErrorKind::Interrupted.into()),
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}
