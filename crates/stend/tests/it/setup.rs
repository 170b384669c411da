//! `make run` and `make test` on a machine where something is missing: what is said, and what is done about it.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{Ended, ended};

/// A machine that has nothing but what stands in its one folder of programs.
struct Machine {
    directory: tempfile::TempDir,
}

impl Machine {
    /// With the tools that every system has.
    fn new() -> Self {
        let machine = Self { directory: tempfile::tempdir().unwrap() };
        std::fs::create_dir(machine.programs()).unwrap();
        for tool in ["sh", "make", "awk", "cat", "rm", "mktemp", "env", "grep"] {
            symlink(found(tool), machine.programs().join(tool)).unwrap();
        }
        machine
    }

    fn programs(&self) -> PathBuf {
        self.directory.path().join("bin")
    }

    fn calls(&self) -> String {
        std::fs::read_to_string(self.directory.path().join("calls")).unwrap_or_default()
    }

    /// A program that says how it was called.
    fn with(self, name: &str, script: &str) -> Self {
        let path = self.programs().join(name);
        let text = format!(
            "#!/bin/sh\necho \"{name} $*\" >>\"{}\"\n{script}\n",
            self.directory.path().join("calls").display()
        );
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        self
    }

    fn user(self, id: u32) -> Self {
        self.with("id", &format!("echo {id}"))
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(self.programs().join(words[0]));
        // What a make around the tests says to the makes below it is not for this one.
        for name in ["MAKEFLAGS", "MAKELEVEL", "MFLAGS", "CARGO", "CC", "CI"] {
            command.env_remove(name);
        }
        command.args(&words[1..]).current_dir(root()).env("PATH", self.programs());
        command
    }

    fn packages(&self, purpose: &str) -> Ended {
        ended(&mut self.command(&["sh", "setup/packages.sh", purpose]))
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn found(tool: &str) -> PathBuf {
    let directories = std::env::var_os("PATH").unwrap();
    let paths = std::env::split_paths(&directories).map(|directory| directory.join(tool));
    paths.into_iter().find(|path| path.is_file()).unwrap_or_else(|| panic!("{tool} is not on the PATH"))
}

const RUST: &str = "echo 'rustc 1.95.0 (f2d3ce0bd 2026-03-21)'";

#[test]
fn without_a_toolchain_make_run_says_how_to_get_it() {
    let nothing = || Machine::new().user(0).with("apt-get", "");
    let old = "echo 'rustc 1.63.0'";
    for (machine, parts) in [
        (nothing(), vec!["cargo is missing", "https://rustup.rs"]),
        (nothing().with("cargo", ""), vec!["Rust 1.89 or newer is needed", "here is: none", "https://rustup.rs"]),
        (nothing().with("cargo", "").with("rustc", old), vec!["Rust 1.89 or newer is needed", "here is: rustc 1.63.0"]),
        (nothing().with("cargo", "").with("rustc", RUST), vec!["a C compiler is missing", "apt-get install -y gcc"]),
    ] {
        let ended = ended(&mut machine.command(&["make", "run"]));
        assert_eq!(ended.status, Some(2), "{}", ended.err);
        for part in parts {
            assert!(ended.err.contains(part), "`{part}` is not in: {}", ended.err);
        }
        let said = ended.err.lines().filter(|line| !line.starts_with("make: ***")).count();
        assert_eq!(said, 1, "{}", ended.err);
        assert!(!machine.calls().contains("apt-get"), "nothing is installed for what cannot be built");
    }
}

#[test]
fn root_installs_what_is_missing_and_says_what_for() {
    let machine = Machine::new().user(0).with("apt-get", "").with("gzip", "");
    let ended = machine.packages("run");
    assert_eq!(ended.status, Some(0));
    assert!(ended.err.contains("fio: the storage scenarios") && ended.err.contains("openssl: the OpenSSL scenarios"));
    assert!(!ended.err.contains("gzip"), "it is there: {}", ended.err);
    let calls = machine.calls();
    assert!(calls.contains("apt-get update -qq\n"), "{calls}");
    assert!(calls.contains("apt-get install -y -qq --no-install-recommends fio openssl\n"), "{calls}");
}

/// A server's package starts it, as a service of everybody's.
#[test]
fn services_of_new_packages_are_not_started() {
    let machine = Machine::new().user(0);
    for tool in ["chmod", "cp"] {
        symlink(found(tool), machine.programs().join(tool)).unwrap();
    }
    let system = machine.directory.path().join("sbin");
    std::fs::create_dir(&system).unwrap();
    std::fs::write(system.join("invoke-rc.d"), "").unwrap();
    std::fs::set_permissions(system.join("invoke-rc.d"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let policy = system.join("policy-rc.d");
    let machine = machine.with(
        "apt-get",
        &format!("{policy:?}; echo \"$?\" >>'{}.said'; cp {policy:?} {policy:?}.kept", policy.display()),
    );
    assert_eq!(machine.packages("run").status, Some(0));
    assert_eq!(std::fs::read_to_string(policy.with_extension("d.said")).unwrap(), "101\n101\n");
    assert!(!policy.exists());
    // What a killed one leaves forbids nothing.
    assert!(Command::new(policy.with_extension("d.kept")).status().unwrap().success());
    // And one that is there already stays as it is.
    std::fs::write(&policy, "own").unwrap();
    machine.packages("run");
    assert_eq!(std::fs::read_to_string(&policy).unwrap(), "own");
}

#[test]
fn a_machine_that_has_nothing_gets_what_each_purpose_needs() {
    for (purpose, some) in [
        ("run", vec!["fio", "openssl", "gzip"]),
        ("test", vec!["clang", "pkg-config", "btrfs-progs", "openssh-server", "valgrind"]),
        ("cross", vec!["qemu-user-static", "gcc-s390x-linux-gnu"]),
        ("bench", vec!["clang", "nbdkit", "pv"]),
        ("profile", vec!["strace"]),
    ] {
        let machine = Machine::new().user(0).with("apt-get", "");
        let ended = machine.packages(purpose);
        assert_eq!(ended.status, Some(0), "{purpose}: {}", ended.err);
        let calls = machine.calls();
        let asked = calls.lines().find(|call| call.starts_with("apt-get install ")).unwrap_or_default();
        for package in some {
            assert!(asked.split(' ').any(|word| word == package), "{purpose}: {package} is not in: {asked}");
        }
    }
}

#[test]
fn who_may_ask_sudo_installs_and_nobody_else() {
    let sudo = r#"[ "$1" = -n ] && shift; exec "$@""#;
    let machine = Machine::new().user(1000).with("apt-get", "").with("sudo", sudo).with("true", "");
    assert_eq!(machine.packages("run").status, Some(0));
    assert!(machine.calls().contains("apt-get install -y -qq --no-install-recommends fio openssl gzip\n"));

    // Who would be asked for a password, and who has no sudo at all.
    for machine in [Machine::new().with("sudo", "exit 1"), Machine::new()] {
        let machine = machine.user(1000).with("apt-get", "");
        let ended = machine.packages("run");
        assert_eq!(ended.status, Some(0), "it goes on");
        let command = "sudo apt-get install -y --no-install-recommends fio openssl gzip\n";
        assert!(ended.err.contains(command) && ended.err.contains("Going on without them"), "{}", ended.err);
        assert!(!machine.calls().contains("apt-get install"), "{}", machine.calls());
    }
}

#[test]
fn packages_that_cannot_be_had_stop_nothing() {
    let machine = Machine::new().user(0).with("apt-get", "echo 'E: no network' >&2; exit 100");
    let ended = machine.packages("run");
    assert_eq!(ended.status, Some(0));
    assert!(ended.err.contains("E: no network") && ended.err.contains("could not be installed; going on without"));
    // Another Linux.
    let ended = Machine::new().user(0).packages("run");
    assert_eq!(ended.status, Some(0));
    assert!(ended.err.contains("your system's package manager") && ended.err.contains("fio: the storage scenarios"));
}

#[test]
fn where_nothing_may_be_left_out_a_package_that_cannot_be_had_is_named_at_once() {
    let machine = Machine::new().user(0).with("apt-get", "").with("fio", "").with("gzip", "");
    let ended = ended(machine.command(&["sh", "setup/packages.sh", "run"]).env("CI", "true"));
    assert_eq!(ended.status, Some(1), "{}", ended.err);
    let last = ended.err.lines().last().unwrap_or_default();
    assert!(last.contains("openssl: the OpenSSL scenarios"), "{}", ended.err);
}

#[test]
fn a_machine_that_has_everything_is_asked_nothing() {
    let machine = Machine::new().user(0).with("apt-get", "");
    let machine = ["fio", "openssl", "gzip"].into_iter().fold(machine, |machine, tool| machine.with(tool, ""));
    let ended = machine.packages("run");
    assert_eq!((ended.status, ended.err.as_str(), machine.calls().as_str()), (Some(0), "", ""));
    assert_eq!(machine.packages("everything").status, Some(2), "an unknown purpose");
}
