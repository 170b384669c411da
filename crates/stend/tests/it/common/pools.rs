//! What the tests of targets share.

use std::path::PathBuf;
use std::process::Command;

use super::{Ended, Stand};

/// Whether pools can be made here; if not, the test says so and passes, but not under CI.
pub(crate) fn pools_can_be_made() -> bool {
    let sh =
        |script: &str| Command::new("sh").args(["-c", script]).output().is_ok_and(|output| output.status.success());
    let why = if !rustix::process::geteuid().is_root() {
        "only root makes loop devices and mounts"
    } else if !sh("[ -e /dev/loop-control ] && grep -qw btrfs /proc/filesystems") {
        "the kernel has no loop devices or no btrfs"
    } else if !sh("command -v mkfs.btrfs nbdkit fio losetup nbdinfo") {
        "mkfs.btrfs, nbdkit, nbdinfo, fio or losetup is missing"
    } else {
        return true;
    };
    assert!(std::env::var_os("CI").is_none(), "under CI nothing may be skipped: {why}");
    eprintln!("skipped: {why}");
    false
}

/// A small pool with two controllers, which is made in a second or two.
pub(crate) const SMALL: [&str; 14] = [
    "--where",
    "tmpfs",
    "--disks",
    "4",
    "--disk-size",
    "128MiB",
    "--luns",
    "2",
    "--lun-size",
    "8MiB",
    "--transport",
    "nbd",
    "--controllers",
    "2",
];

pub(crate) fn up(name: &str, more: &[&'static str]) -> Vec<String> {
    let words = ["rig", "up", "--name", name].into_iter().chain(SMALL).chain(more.iter().copied());
    words.map(str::to_owned).collect()
}

pub(crate) fn words(words: &[String]) -> Vec<&str> {
    words.iter().map(String::as_str).collect()
}

/// A name that no other test on this machine has.
pub(crate) fn own_name(what: &str) -> String {
    format!("{what}-{}", std::process::id())
}

pub(crate) fn said_by(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// That a command ended so and told all of this.
pub(crate) fn says(ended: &Ended, status: i32, parts: &[&str]) {
    assert_eq!(ended.status, Some(status), "{}\n{}", ended.out, ended.err);
    assert!(parts.iter().all(|part| ended.err.contains(part)), "{parts:?}\n{}", ended.err);
}

/// All on this machine that bears the stand's path or the target's name: loop devices, mounts, processes, control groups, and
/// the files in these directories.
pub(crate) fn traces(stand: &Stand, name: &str, directories: &[PathBuf]) -> Vec<String> {
    let path = stand.path().to_str().unwrap();
    let mut found = Vec::new();
    let lines = |text: String, what: &str, found: &mut Vec<String>| {
        found.extend(text.lines().filter(|line| line.contains(path)).map(|line| format!("{what} {line}")));
    };
    lines(said_by("losetup", &["--list", "--noheadings", "--output", "BACK-FILE"]), "loop", &mut found);
    lines(std::fs::read_to_string("/proc/self/mounts").unwrap(), "mount", &mut found);
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        if line.contains(path)
            && ["nbdkit ", "nbdfuse ", "tgtd ", "qemu-storage-daemon ", "fio ", "btrfs ", "sh "]
                .iter()
                .any(|program| line.starts_with(program))
        {
            found.push(format!("process {line}"));
        }
    }
    let groups =
        said_by("find", &["/sys/fs/cgroup", "-maxdepth", "2", "-type", "d", "-name", &format!("stend-{name}-*")]);
    found.extend(groups.lines().map(|line| format!("group {line}")));
    for directory in directories {
        let files = said_by("find", &[directory.to_str().unwrap(), "-mindepth", "1", "-not", "-name", "in-use.lock"]);
        found.extend(files.lines().map(|line| format!("file {line}")));
    }
    found.sort();
    found
}

/// Waits for what ends by itself a moment later, such as a process that was killed.
pub(crate) fn assert_traces(stand: &Stand, name: &str, directories: &[PathBuf], wanted: &[String], when: &str) {
    super::wait_while(&format!("{when}, {wanted:#?} and nothing else:"), || {
        let found = traces(stand, name, directories);
        (found != wanted).then(|| format!("{found:#?}"))
    });
}
