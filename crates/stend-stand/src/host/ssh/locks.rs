//! What a lab has locked on a machine that ssh reaches: each lock is held by a process there whose standard input is the link.

use std::io::Error;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use super::{INTERRUPT_INTERVAL, NO_PROGRAM, TIMED_OUT, link};
use crate::host::{Command, Happening, Host as _, HostError, LINK_DROPPED, Lock, Lockable, Process, Ssh};
use crate::lock;

/// `stend-probe lock`'s status when somebody else holds the lock.
const HELD: i32 = 75;
/// Its status when it does not understand how it was started.
const MISUSED: i32 = 2;
/// Why a lock is held by this very program.
const OURS: &str = "the machine is locked by this stend itself, over a link that fell silent, whose end the machine has not noticed yet, \
                    or by another name (docs/guide/hosts.md)";
/// A machine under load may take its time to start a process.
const PATIENCE: Duration = Duration::from_secs(60);

/// All that is locked there.
#[derive(Default)]
pub(super) struct Locks(Mutex<Vec<Weak<Held>>>);

/// A lock, and the process that holds it.
struct Held {
    what: Lockable,
    process: Mutex<Box<dyn Process>>,
}

/// A lock that a process over there holds as long as its standard input is open.
struct RemoteLock {
    held: Arc<Held>,
    destination: String,
}

impl Lock for RemoteLock {
    /// The process that holds it does that, since by then nothing else may be there that could.
    fn remove_file(&mut self) -> Result<(), HostError> {
        let failed = |reason: &str| {
            let path = format!("{}:{}", self.destination, self.held.what.path());
            Err(HostError::File { path, error: Error::other(reason.to_owned()) })
        };
        let mut process = self.held.process.lock().unwrap_or_else(PoisonError::into_inner);
        if process.send(b"remove\n").is_err() {
            return Err(link(&self.destination, LINK_DROPPED));
        }
        match process.next(PATIENCE) {
            Some(Happening::Line(_)) => Ok(()),
            Some(Happening::ErrorLine(line)) => {
                failed(String::from_utf8_lossy(&line).rsplit(": ").next().unwrap_or_default())
            }
            Some(Happening::Ended(_)) => Err(link(&self.destination, LINK_DROPPED)),
            None => failed(TIMED_OUT),
        }
    }
}

impl Locks {
    /// Takes a lock over the link, which is open.
    pub(super) fn take(&self, ssh: &Ssh, what: &Lockable) -> Result<Box<dyn Lock>, HostError> {
        let held = Arc::new(Held { what: what.clone(), process: Mutex::new(hold(ssh, what)?) });
        let mut all = self.all();
        all.retain(|held| held.strong_count() > 0);
        all.push(Arc::downgrade(&held));
        Ok(Box::new(RemoteLock { held, destination: ssh.destination.clone() }))
    }

    /// Takes all of them again, after the link dropped and is open anew. Another lab may have been quicker.
    pub(super) fn take_again(&self, ssh: &Ssh) -> Result<(), HostError> {
        let all: Vec<_> = self.all().iter().filter_map(Weak::upgrade).collect();
        for held in all {
            let again = hold(ssh, &held.what)?;
            *held.process.lock().unwrap_or_else(PoisonError::into_inner) = again;
        }
        Ok(())
    }

    fn all(&self) -> MutexGuard<'_, Vec<Weak<Held>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Starts a process there that holds the lock.
fn hold(ssh: &Ssh, what: &Lockable) -> Result<Box<dyn Process>, HostError> {
    let probe = ssh.probe.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let probe = probe.expect("what holds locks is there before anything is locked");
    let path = what.path();
    let at = format!("{}:", ssh.destination);
    let holder = lock::holder();
    let mut words = vec![probe.as_str(), "lock", "--file", &path, "--holder", &holder];
    words.extend(matches!(what, Lockable::Machine(_)).then_some("--shared"));
    let mut process = ssh.start_over_open_link(&Command::new(words))?;
    let deadline = Instant::now() + PATIENCE;
    let mut words = String::new();
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        match process.next(left.min(INTERRUPT_INTERVAL)) {
            Some(Happening::Line(_)) => return Ok(process),
            Some(Happening::ErrorLine(line)) => words = String::from_utf8_lossy(&line).into_owned(),
            Some(Happening::Ended(Some(HELD))) => {
                let holder = words.rsplit_once("held by ").map_or("", |held| held.1);
                if lock::is_ours(holder) {
                    return Err(link(&ssh.destination, OURS));
                }
                return Err(what.held(&at, &lock::in_brackets(holder)));
            }
            // What was being built went with the link.
            Some(Happening::Ended(Some(127))) if words.starts_with(NO_PROGRAM) => {
                return Err(link(
                    &ssh.destination,
                    &format!("the link dropped, and {probe} there is gone; start it again"),
                ));
            }
            // A build of an older stend, which knows no such lock.
            Some(Happening::Ended(Some(MISUSED))) => {
                return Err(HostError::Start { program: format!("{probe} lock"), error: Error::other(words) });
            }
            Some(Happening::Ended(Some(_))) => {
                let error = Error::other(words.rsplit(": ").next().unwrap_or_default().to_owned());
                return Err(match words.contains(" cannot be locked: ") {
                    true => HostError::NotLocked { path: format!("{at}{path}"), error },
                    false => what.unusable(&at, error),
                });
            }
            Some(Happening::Ended(None)) => return Err(link(ssh.name(), &words)),
            None if left.is_zero() => return Err(link(&ssh.destination, TIMED_OUT)),
            None if ssh.is_interrupted() => return Err(HostError::Interrupted),
            None => {}
        }
    }
}
