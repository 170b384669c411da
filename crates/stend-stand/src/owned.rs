//! Whose a directory is. From those for runs' files and for stored runs programs are started and commands are taken, and what ledgers
//! there name is removed; so nobody else may write there, or put another directory in such a one's place.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use thiserror::Error;

use crate::host::{Command, Host, HostError};
use stend_model::run::HERE;

/// The directory without links in its path and all above it, each as `ls -ldn` has it, after the user's number and the line of the system's
/// own directory. Where there is no `ls`, a shell can still tell whose the directory is.
const CHAIN: &str = r#"
[ -e "$1" ] || exit 0
cd "$1" 2>/dev/null && at=$(pwd -P) || { echo other; exit 0; }
if ! command -v ls >/dev/null || ! command -v id >/dev/null; then
    if [ -O "$at" ]; then echo own; else echo other; fi
    exit 0
fi
id -u
ls -ldn /
while [ -n "$at" ]; do
    ls -ldn "$at"
    at=${at%/*}
done
"#;

const DANGER: &str = "who could have any program started from there";

/// Why a directory is not used.
#[derive(Debug, PartialEq, Eq, Error)]
pub enum NotOwn {
    /// It belongs to somebody else; their number, where the machine says it.
    #[error("{path} belongs to another user{}, {DANGER}", .owner.map(|owner| format!(" (number {owner})")).unwrap_or_default())]
    Others {
        /// The directory.
        path: String,
        /// Whose it is.
        owner: Option<u32>,
    },
    /// Others may write in it.
    #[error("{path} can be written by others, {DANGER}; if nobody has, `chmod go-w {path}`")]
    Open {
        /// The directory.
        path: String,
    },
    /// The machine does not say whose it is.
    #[error("it cannot be said whose {path} is: {why}")]
    Unknown {
        /// The directory.
        path: String,
        /// What it says.
        why: String,
    },
}

/// A directory, as far as it matters here.
struct Directory {
    path: String,
    owner: u32,
    /// The group or all may write in it.
    open: bool,
    /// Nobody can take away there what is another's.
    sticky: bool,
}

/// Why a directory of a machine is not the user's alone to write in, if it is there and is not, or if the machine does not tell.
///
/// # Errors
/// The machine cannot be asked.
pub fn why_not(host: &dyn Host, path: &str) -> Result<Option<NotOwn>, HostError> {
    if host.name() == HERE {
        return Ok(check_here(Path::new(path)).err());
    }
    let output = host.run(&Command::new(["sh", "-c", CHAIN, "sh", path]))?;
    Ok(judge_listing(&output.text(), path).err())
}

fn judge_listing(said: &str, path: &str) -> Result<(), NotOwn> {
    let mut lines = said.lines();
    let own = match lines.next() {
        None | Some("own") => return Ok(()),
        Some("other") => return Err(NotOwn::Others { path: path.to_owned(), owner: None }),
        Some(own) => own.parse().ok(),
    };
    let listed: Option<Vec<_>> = lines.map(listed).collect();
    let (Some(own), Some((root, chain))) = (own, listed.as_ref().and_then(|all| all.split_first())) else {
        return Err(NotOwn::Unknown { path: path.to_owned(), why: format!("{said:?}") });
    };
    judge(own, root.owner, chain)
}

/// Checks that nobody else may write in a directory of this machine, where there is one.
///
/// # Errors
/// Somebody else may, or it cannot be found out.
pub fn check_here(path: &Path) -> Result<(), NotOwn> {
    let look = || -> std::io::Result<_> {
        let real = path.canonicalize()?;
        let of = |path: &Path| {
            let found = path.metadata()?;
            let path = path.display().to_string();
            let mode = found.mode();
            Ok(Directory { path, owner: found.uid(), open: mode & 0o022 != 0, sticky: mode & 0o1000 != 0 })
        };
        Ok((of(Path::new("/"))?.owner, real.ancestors().map(of).collect::<std::io::Result<Vec<_>>>()?))
    };
    match look() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(NotOwn::Unknown { path: path.display().to_string(), why: error.to_string() }),
        Ok((root, chain)) => judge(rustix::process::geteuid().as_raw(), root, &chain),
    }
}

/// A directory by its line of `ls -ldn`.
fn listed(line: &str) -> Option<Directory> {
    let mut words = line.split_ascii_whitespace();
    let (mode, _, owner) = (words.next()?.as_bytes(), words.next()?, words.next()?);
    Some(Directory {
        path: line.get(line.find(" /")? + 1..)?.to_owned(),
        owner: owner.parse().ok()?,
        open: *mode.get(5)? == b'w' || *mode.get(8)? == b'w',
        sticky: matches!(mode.get(9)?, b't' | b'T'),
    })
}

/// What is wrong with a directory, the first of the chain, or with one above it, for the user of this number; `root` owns the system.
fn judge(own: u32, root: u32, chain: &[Directory]) -> Result<(), NotOwn> {
    for (place, Directory { path, owner, open, sticky }) in chain.iter().enumerate() {
        let itself = place == 0;
        if *owner != own && (itself || *owner != root) {
            return Err(NotOwn::Others { path: path.clone(), owner: Some(*owner) });
        }
        if *open && (itself || !sticky) {
            return Err(NotOwn::Open { path: path.clone() });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_user_and_the_system_may_own_or_write_a_directory_and_those_above() {
        let said = |lines: &[&str]| judge(1000, 0, &lines.iter().map(|line| listed(line).unwrap()).collect::<Vec<_>>());
        let home = "drwxr-xr-x 9 1000 1000 4096 Nov  1 00:00 /home/u";
        let below = |line: &str| said(&[line, home, "drwxr-xr-x 3 0 0 4096 Nov  1 00:00 /home"]);
        assert_eq!(below("drwx------ 2 1000 1000 40 Nov  1 00:00 /home/u/w x"), Ok(()));
        assert_eq!(below("drwxr-xr-x. 2 1000 1000 40 Nov  1 00:00 /home/u/w"), Ok(()));
        let others = |owner| Err(NotOwn::Others { path: "/home/u/w".into(), owner: Some(owner) });
        let open = |path: &str| Err(NotOwn::Open { path: path.into() });
        for (line, why) in [
            ("drwx------ 2 1001 1000 40 Nov  1 00:00 /home/u/w", others(1001)),
            ("drwx------ 2 0 0 40 Nov  1 00:00 /home/u/w", others(0)),
            ("drwxrwxr-x 2 1000 1000 40 Nov  1 00:00 /home/u/w", open("/home/u/w")),
            ("drwxr-xrwt 2 1000 1000 40 Nov  1 00:00 /home/u/w", open("/home/u/w")),
        ] {
            assert_eq!(below(line), why, "{line}");
        }
        let own = "drwx------ 2 1000 1000 40 Nov  1 00:00 /a/w";
        assert_eq!(said(&[own, "drwxrwxrwt 9 0 0 40 Nov  1 00:00 /a"]), Ok(()));
        assert_eq!(said(&[own, "drwxrwxrwx 9 0 0 40 Nov  1 00:00 /a"]), open("/a"));
        let of_other = NotOwn::Others { path: "/a".into(), owner: Some(1001) };
        assert_eq!(said(&[own, "drwxr-xr-x 9 1001 0 40 Nov  1 00:00 /a"]), Err(of_other));
        assert!(listed("rubbish").is_none() && listed("drwx 1 2").is_none());
    }

    #[test]
    fn a_directory_of_this_machine_is_judged_by_what_it_is() {
        use std::os::unix::fs::PermissionsExt as _;
        let directory = tempfile::tempdir().unwrap();
        let inner = directory.path().join("inner");
        assert_eq!(check_here(&inner), Ok(()), "it is not there");
        std::fs::create_dir(&inner).unwrap();
        assert_eq!(check_here(&inner), Ok(()));
        let open = |path: &Path, mode| std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        open(directory.path(), 0o777);
        assert!(matches!(check_here(&inner), Err(NotOwn::Open { .. })));
        open(directory.path(), 0o1777);
        assert_eq!(check_here(&inner), Ok(()));
        open(&inner, 0o1777);
        assert!(check_here(&inner).is_err());
    }
}
