//! Opening the one connection to a machine, by the system's ssh client, which stays as its holder; and closing it.

use std::fs::DirBuilder;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::words::{CHANGED_KEY, in_words};
use super::{Ssh, collect, link};
use crate::host::{Host as _, HostError, LINK_DROPPED, Output};

/// Opening the connection may take a person who types a passphrase.
const LONGEST_LOGIN: Duration = Duration::from_secs(180);
/// So many seconds pass before each further try to reach a guest. By a serial port it is reached again only when the connection before is over there
/// too, which takes an emulated one on a busy machine a while.
pub const BEFORE_TRIES_OF_GUEST: [u64; 5] = [2, 5, 10, 20, 40];
/// So often it is asked meanwhile whether the user interrupted it.
const LOOK: Duration = Duration::from_millis(100);
/// A link that says nothing for fifteen seconds is dead: ssh asks after five and after ten, and gives up when it would ask once more.
const OPTIONS: [&str; 3] = ["ServerAliveInterval=5", "ServerAliveCountMax=2", "ConnectTimeout=20"];
/// The link to a guest does not leave this machine and ends with its QEMU. An emulated one on a busy machine may say nothing for long.
const OPTIONS_OF_GUEST: [&str; 3] = ["ServerAliveInterval=30", "ServerAliveCountMax=3", "ConnectTimeout=120"];

impl Ssh {
    /// Where the client that is the connection listens.
    pub(super) fn socket(&self) -> PathBuf {
        self.directory.join("link")
    }

    /// Opens the connection, if it is not open.
    pub(super) fn open(&self) -> Result<(), HostError> {
        let _opening = self.opening.lock().unwrap_or_else(PoisonError::into_inner);
        if self.socket().exists() {
            return Ok(());
        }
        if self.silent.load(Ordering::Relaxed) {
            return Err(link(&self.destination, LINK_DROPPED));
        }
        // Several machines are dialled at once as long as ssh asks nothing.
        let quiet = if self.terminal.is_shared() { Some(self.dial(false)?) } else { None };
        let mut ended = match quiet {
            Some(ended) if !(ended.exit != Some(0) && wants_to_ask(&ended) && self.terminal.is_there()) => ended,
            Some(_) => {
                let mut dialled = None;
                self.terminal.alone("ssh asks", &mut || dialled = Some(self.dial(true)));
                dialled.unwrap_or(Err(HostError::Interrupted))?
            }
            None => self.dial(true)?,
        };
        for seconds in BEFORE_TRIES_OF_GUEST {
            if ended.exit == Some(0) || self.configuration.is_none() {
                break;
            }
            let until = Instant::now() + Duration::from_secs(seconds);
            while Instant::now() < until && !self.is_interrupted() {
                std::thread::sleep(LOOK);
            }
            ended = self.dial(false)?;
        }
        if ended.exit == Some(0) {
            // What was locked before the link dropped is not locked any more.
            return self.locks.take_again(self).inspect_err(|_| self.close());
        }
        let complaint = String::from_utf8_lossy(&ended.stderr);
        // Each try takes as long, and much is tried at a run's end.
        self.silent.store(complaint.contains("timed out"), Ordering::Relaxed);
        Err(link(&self.destination, &in_words(&complaint, &self.destination)))
    }

    /// The ssh client, with the configuration that says how the machine is reached.
    fn client(&self) -> std::process::Command {
        let mut builder = std::process::Command::new("ssh");
        if let Some(file) = &self.configuration {
            builder.args(["-F", file]);
        }
        builder
    }

    /// Starts the ssh client that is the connection. `asks`: it may ask the user for passphrases, passwords, and whether a host key is right.
    fn dial(&self, asks: bool) -> Result<Output, HostError> {
        let mut builder = self.client();
        let socket = self.socket();
        builder.arg("-S").arg(&socket).args(["-o", "ControlMaster=yes", "-o", "ControlPersist=60", "-T", "-x"]);
        let options = if self.configuration.is_some() { OPTIONS_OF_GUEST } else { OPTIONS };
        builder.args(options.iter().flat_map(|option| ["-o", option]));
        if !asks {
            builder.args(["-o", "BatchMode=yes"]);
        }
        // Its first session is this one; it stays in the background when that ends. It asks at the terminal.
        builder.args(["--", &self.destination, "exit 0"]);
        self.finish(builder, LONGEST_LOGIN)
    }

    /// Runs an ssh client to its end.
    fn finish(&self, mut builder: std::process::Command, timeout: Duration) -> Result<Output, HostError> {
        if self.is_interrupted() {
            return Err(HostError::Interrupted);
        }
        builder.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let unstarted = |error| HostError::Start { program: "ssh".into(), error };
        let mut child = builder.spawn().map_err(unstarted)?;
        let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) else {
            unreachable!("they are piped")
        };
        let collected =
            collect([Box::new(stdout), Box::new(stderr)], Instant::now() + timeout, &|| self.is_interrupted());
        if collected.is_err() {
            let _ = child.kill();
        }
        let exit = child.wait().map_err(unstarted)?.code();
        let [stdout, stderr] = collected.map_err(|error| self.not_collected(&error))?;
        Ok(Output { exit, stdout, stderr })
    }

    /// Which of this program's variables the user's configuration sends there, as `NAME=value`.
    pub(super) fn environment_sent(&self) -> Result<Vec<String>, HostError> {
        let mut builder = self.client();
        builder.args(["-G", "--", &self.destination]);
        let configuration = self.finish(builder, LONGEST_LOGIN)?.text();
        let patterns: Vec<_> = configuration.lines().filter_map(|line| line.strip_prefix("sendenv ")).collect();
        let variables =
            std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
        let sent = variables.filter(|(name, _)| patterns.iter().any(|pattern| matches(pattern, name)));
        Ok(sent.map(|(name, value)| format!("{name}={value}")).collect())
    }

    /// Ends the client that is the connection.
    pub(super) fn close(&self) {
        let mut builder = self.client();
        builder.arg("-S").arg(self.socket()).args(["-O", "exit", "--", &self.destination]);
        builder.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let _ = builder.status();
        let _ = std::fs::remove_file(self.socket());
    }
}

/// Whether an ssh that was not allowed to ask the user could have gone on by that.
fn wants_to_ask(ended: &Output) -> bool {
    let complaint = String::from_utf8_lossy(&ended.stderr);
    let refused = ["Permission denied", "Host key verification failed", "Too many authentication failures"];
    refused.iter().any(|words| complaint.contains(words)) && !complaint.contains(CHANGED_KEY)
}

/// Whether ssh's pattern for names, with `*` and `?`, stands for this one.
fn matches(pattern: &str, name: &str) -> bool {
    match (pattern.as_bytes(), name.as_bytes()) {
        ([], []) => true,
        ([b'*', ..], _) => matches(&pattern[1..], name) || !name.is_empty() && matches(pattern, &name[1..]),
        ([b'?', ..], [_, ..]) => matches(&pattern[1..], &name[1..]),
        ([one, ..], [other, ..]) if one == other => matches(&pattern[1..], &name[1..]),
        _ => false,
    }
}

/// After so long the ssh client of a `stend` that was killed has ended and taken its socket away.
const FORGOTTEN: Duration = Duration::from_secs(120);

/// Removes the directories for sockets that are empty because a `stend` of this user was killed, if they are so old.
fn sweep(base: &Path, age: Duration) {
    let own = rustix::process::geteuid().as_raw();
    let process = |name: &str| name.strip_prefix("stend-")?.split_once('-')?.0.parse::<u32>().ok();
    for entry in std::fs::read_dir(base).into_iter().flatten().flatten() {
        let Some(process) = entry.file_name().to_str().and_then(process) else { continue };
        let Ok(found) = entry.metadata() else { continue };
        let old = found.modified().ok().and_then(|at| at.elapsed().ok()).is_some_and(|since| since >= age);
        if found.uid() == own && old && !Path::new(&format!("/proc/{process}")).exists() {
            // Only an empty one.
            let _ = std::fs::remove_dir(entry.path());
        }
    }
}

/// A directory for a socket: its path must be short.
pub(super) fn own_directory() -> std::io::Result<PathBuf> {
    let base = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|path| path.is_dir());
    let base = base.unwrap_or_else(std::env::temp_dir);
    sweep(&base, FORGOTTEN);
    let moment = jiff::Timestamp::now().as_nanosecond() as u64;
    let directory = base.join(format!("stend-{}-{moment:x}", std::process::id()));
    DirBuilder::new().mode(0o700).create(&directory)?;
    Ok(directory)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_directories_of_those_that_were_killed_are_removed_and_nothing_else() {
        let base = tempfile::tempdir().unwrap();
        let own = std::process::id();
        // No process has such a number.
        let killed = u32::MAX;
        let [gone, used, running, other] =
            [format!("stend-{killed}-1"), format!("stend-{killed}-2"), format!("stend-{own}-3"), "stend-x-4".into()]
                .map(|name| base.path().join(name));
        for directory in [&gone, &used, &running, &other] {
            std::fs::create_dir(directory).unwrap();
        }
        std::fs::write(used.join("link"), "").unwrap();
        sweep(base.path(), Duration::from_secs(3600));
        assert!(gone.exists(), "it may be one of another container that is just being made");
        sweep(base.path(), Duration::ZERO);
        assert!(!gone.exists() && used.exists() && running.exists() && other.exists());
    }
}
