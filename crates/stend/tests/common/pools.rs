//! What the tests of targets share.

use std::process::Command;

use super::Ended;

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
    let words = ["target", "up", "--name", name].into_iter().chain(SMALL).chain(more.iter().copied());
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
