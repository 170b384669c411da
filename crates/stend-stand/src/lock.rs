//! A lock on a file of this machine, for as long as a process holds it.

use std::fs::{File, Metadata, OpenOptions, Permissions};
use std::io::{Error, ErrorKind, Read, Seek, Write};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use stend_model::plain;

const ATTEMPTS: u32 = 20;
const PAUSE: Duration = Duration::from_millis(50);
/// Of what stands in the file so much is read, in bytes.
const LONGEST_HOLDER: u64 = 256;
/// What a lock's file begins with, before its holder. A file that begins otherwise is somebody's data. `stend-probe lock` writes the same.
const MARK: &str = "stend: ";

/// A lock that is held. The system releases it when the process ends, however it ends.
#[derive(Debug)]
pub struct FileLock {
    _file: File,
    path: PathBuf,
}

/// Why a lock was not taken.
#[derive(Debug)]
pub enum LockError {
    /// Somebody else holds it: ` (user@lab, process 7, since …)`, or nothing if it did not name itself.
    Held(String),
    /// The file cannot be made or opened.
    Unusable(Error),
    /// The file is there, and the system does not lock it.
    NotLocked(Error),
}

impl FileLock {
    /// Takes the lock, or says who has it.
    pub fn take(path: &Path) -> Result<Self, LockError> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        Self::take_named(path, || options.open(path))
    }

    /// Takes a lock that all users of this machine share, in a directory where anybody may write. So nothing is followed and nothing but a
    /// plain file of one name is taken: the file might be somebody's trap. `stend-probe lock --shared` does the same.
    pub fn take_shared(path: &Path) -> Result<Self, LockError> {
        Self::take_named(path, || open_shared(path))
    }

    /// Only who holds the lock removes its file. So a file that still has its name when it is locked keeps it until it is given back; one that
    /// has lost it in between is nobody's lock, and the next one is tried. `stend-probe lock` does the same.
    fn take_named(path: &Path, open: impl Fn() -> std::io::Result<File>) -> Result<Self, LockError> {
        for _ in 0..ATTEMPTS {
            let mut file = open().map_err(LockError::Unusable)?;
            let taken = attempts(|| flock(&file, FlockOperation::NonBlockingLockExclusive), PAUSE);
            if !taken.map_err(|error| LockError::NotLocked(error.into()))? {
                let text = beginning(&mut file).unwrap_or_default();
                return Err(LockError::Held(in_brackets(text.strip_prefix(MARK).unwrap_or(&text))));
            }
            if !is_still(&file, path) {
                continue;
            }
            let text = beginning(&mut file).map_err(LockError::Unusable)?;
            if !text.is_empty() && !text.starts_with(MARK) {
                return Err(LockError::Unusable(Error::other("it holds data, which is left as it is")));
            }
            // Who holds it is for the message alone, so a full disk is no reason to stop here, nor a file that another user made.
            let _ = file.set_len(0).and_then(|()| file.rewind()).and_then(|()| write!(file, "{MARK}{}", holder()));
            return Ok(Self { _file: file, path: path.to_owned() });
        }
        Err(LockError::Unusable(Error::other("it comes and goes")))
    }

    /// Removes the file, while the lock is held. Another one may be made and locked from then on.
    pub fn remove_file(&self) -> std::io::Result<()> {
        match std::fs::remove_file(&self.path) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

/// What stands at the beginning of the file.
fn beginning(file: &mut File) -> std::io::Result<String> {
    let mut text = Vec::new();
    file.take(LONGEST_HOLDER).read_to_end(&mut text)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// Whether the path still leads to the file that was opened.
fn is_still(file: &File, path: &Path) -> bool {
    let identity = |metadata: Metadata| (metadata.dev(), metadata.ino());
    let (opened, named) = (file.metadata().map(identity), path.metadata().map(identity));
    matches!((opened, named), (Ok(opened), Ok(named)) if opened == named)
}

/// A holder as it stands in a message. Anybody may have written it, so it must do nothing to a terminal.
pub fn in_brackets(holder: &str) -> String {
    let holder = plain::one_line(holder.trim());
    if holder.is_empty() { String::new() } else { format!(" ({holder})") }
}

/// Who this program is, for those who want a lock that it holds: `user@lab, process 7, since 2026-11-22 10:00 UTC`.
pub fn holder() -> String {
    let since = jiff::Timestamp::now().strftime("%Y-%m-%d %H:%M UTC");
    format!("{}, since {since}", who())
}

/// Whether a holder is this very process.
pub fn is_ours(holder: &str) -> bool {
    holder.strip_prefix(&who()).is_some_and(|rest| rest.starts_with(", since "))
}

fn who() -> String {
    let named = |variable| std::env::var(variable).ok().filter(|name| !name.is_empty());
    let listed = || user_of(rustix::process::getuid().as_raw(), &std::fs::read_to_string("/etc/passwd").ok()?);
    let user = named("USER").or_else(|| named("LOGNAME")).or_else(listed);
    let user = user.unwrap_or_else(|| format!("user number {}", rustix::process::getuid().as_raw()));
    let lab = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let lab = if lab.trim().is_empty() { "a lab" } else { lab.trim() };
    format!("{user}@{lab}, process {}", std::process::id())
}

/// The name of the user of this number in a list as /etc/passwd is one.
fn user_of(number: u32, list: &str) -> Option<String> {
    let users = list.lines().map(|line| line.split(':').collect::<Vec<_>>());
    let is_it = |user: &Vec<&str>| user.get(2).and_then(|text| text.parse().ok()) == Some(number);
    users.into_iter().find(is_it).map(|user| user[0].to_owned())
}

fn open_shared(path: &Path) -> std::io::Result<File> {
    // Without O_CREAT where the file is there: kernels refuse that for somebody else's file in a directory that all may write.
    let plain = (rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK).bits() as i32;
    let open = |options: &mut OpenOptions| options.read(true).custom_flags(plain).open(path);
    for _ in 0..ATTEMPTS {
        let opened = match open(OpenOptions::new().write(true)) {
            Err(error) if error.kind() == ErrorKind::PermissionDenied => open(&mut OpenOptions::new()),
            opened => opened,
        };
        let file = match opened {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                match open(OpenOptions::new().write(true).create_new(true).mode(0o666)) {
                    // Somebody was quicker.
                    Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
                    Err(error) => return Err(error),
                    Ok(file) => {
                        file.set_permissions(Permissions::from_mode(0o666))?;
                        file
                    }
                }
            }
            Err(error) if error.raw_os_error() == Some(Errno::LOOP.raw_os_error()) => {
                return Err(Error::other("it is a symbolic link"));
            }
            opened => opened?,
        };
        let metadata = file.metadata()?;
        return match (metadata.is_file(), metadata.nlink()) {
            (true, 0 | 1) => Ok(file),
            (true, _) => Err(Error::other("it has another name too")),
            (false, _) => Err(Error::other("it is no plain file")),
        };
    }
    Err(Error::other("it comes and goes"))
}

/// Tries until the lock is taken (`true`), for a while. A stend that was killed a moment ago may have been starting an instrument: that
/// one holds a copy until it has become another program.
fn attempts(mut lock: impl FnMut() -> Result<(), Errno>, pause: Duration) -> Result<bool, Errno> {
    let mut held = 0;
    loop {
        match lock() {
            Ok(()) => return Ok(true),
            Err(Errno::INTR) => {}
            Err(Errno::WOULDBLOCK) => {
                held += 1;
                if held == ATTEMPTS {
                    return Ok(false);
                }
                std::thread::sleep(pause);
            }
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_lock_that_somebody_has_is_held() {
        let of = |mut answers: Vec<Result<(), Errno>>| {
            attempts(move || if answers.len() > 1 { answers.remove(0) } else { answers[0] }, Duration::ZERO)
        };
        assert_eq!(of(vec![Ok(())]), Ok(true));
        assert_eq!(of(vec![Err(Errno::INTR), Err(Errno::WOULDBLOCK), Ok(())]), Ok(true));
        assert_eq!(of(vec![Err(Errno::WOULDBLOCK)]), Ok(false));
        assert_eq!(of(vec![Err(Errno::WOULDBLOCK), Err(Errno::NOLCK)]), Err(Errno::NOLCK));
    }

    #[test]
    fn a_user_is_named_by_the_list_of_users() {
        let list = "root:x:0:0:root:/root:/bin/bash\n\n# no user\nanna:x:1000:1000::/home/anna:/bin/sh\n";
        assert_eq!(user_of(1000, list).as_deref(), Some("anna"));
        assert_eq!(user_of(0, list).as_deref(), Some("root"));
        assert_eq!(user_of(1, list), None);
    }

    #[test]
    fn a_holder_without_a_name_is_not_named() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("lock");
        let file = File::create(&path).unwrap();
        flock(&file, FlockOperation::LockExclusive).unwrap();
        let holder = |path: &Path| match FileLock::take(path) {
            Err(LockError::Held(holder)) => holder,
            other => panic!("{other:?}"),
        };
        assert_eq!(holder(&path), "");
        std::fs::write(&path, "a\x1b[2Jb").unwrap();
        assert_eq!(holder(&path), " (a\u{fffd}[2Jb)", "what stands there does nothing to a terminal");
    }

    #[test]
    fn a_file_with_data_is_no_lock() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("data");
        for take in [FileLock::take, FileLock::take_shared] {
            for data in ["precious\n", "stend", "\0", " "] {
                std::fs::write(&path, data).unwrap();
                match take(&path) {
                    Err(LockError::Unusable(error)) => assert!(error.to_string().contains("holds data"), "{error}"),
                    other => panic!("{other:?}"),
                }
                assert_eq!(std::fs::read_to_string(&path).unwrap(), data);
            }
            // Nothing yet, and what an earlier holder left.
            std::fs::write(&path, "").unwrap();
            drop(take(&path).unwrap());
            drop(take(&path).unwrap());
        }
    }

    #[test]
    fn a_file_that_its_holder_removed_is_nobodys_lock() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("lock");
        let held = FileLock::take(&path).unwrap();
        // What another stend opened just before the file was removed.
        let opened = std::cell::Cell::new(Some(File::open(&path).unwrap()));
        held.remove_file().unwrap();
        assert!(!path.exists());
        held.remove_file().expect("nothing there is no error");
        let first = FileLock::take(&path).unwrap();
        drop(held);
        let late = FileLock::take_named(&path, || opened.take().map_or_else(|| File::open(&path), Ok));
        assert!(matches!(late, Err(LockError::Held(_))), "the new file is what counts: {late:?}");
        drop(first);
    }

    #[test]
    fn a_lock_of_all_users_is_a_plain_file_of_one_name_that_all_may_write() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("lock");
        drop(FileLock::take_shared(&path).unwrap());
        let held = FileLock::take_shared(&path).unwrap();
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o666);
        assert!(std::fs::read_to_string(&path).unwrap().contains(&format!("process {}", std::process::id())));
        assert!(matches!(FileLock::take_shared(&path), Err(LockError::Held(_))));
        drop(held);
        let precious = directory.path().join("precious");
        std::fs::write(&precious, "precious").unwrap();
        let refused = |why: &str| match FileLock::take_shared(&path) {
            Err(LockError::Unusable(error)) => assert!(error.to_string().contains(why), "{error}"),
            other => panic!("{other:?}"),
        };
        for (link, why) in [
            (std::os::unix::fs::symlink as fn(_, _) -> _, "symbolic link"),
            (|from: &Path, to: &Path| std::fs::hard_link(from, to), "another name"),
        ] {
            std::fs::remove_file(&path).unwrap();
            link(&precious, &path).unwrap();
            refused(why);
        }
        std::fs::remove_file(&path).unwrap();
        std::fs::create_dir(&path).unwrap();
        refused("directory");
        std::fs::remove_dir(&path).unwrap();
        rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU, 0).unwrap();
        refused("no plain file");
        assert_eq!(std::fs::read_to_string(&precious).unwrap(), "precious");
    }
}
