//! What the end-to-end tests share: the real `stend` with the real `stend-probe`, in a store of its own.

pub(crate) mod etcd;
pub(crate) mod forge;
pub(crate) mod histories;
pub(crate) mod pools;
pub(crate) mod runs;
pub(crate) mod sshd;

use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use assert_cmd::cargo::CommandCargoExt as _;
use rustix::process::Pid;
use serde_json::Value;
use tempfile::TempDir;

/// No gate at all, and more time than a repeat takes on any machine: what other tests, other programs and the hypervisor do meanwhile is no fault
/// of the test that measures. Behind the other keys of a suite.
pub(crate) const NO_LIMITS: &str = "timeout = \"6h\"\n[gates]\nforeign_cpu = \"off\"\nsteal = \"off\"\nfrequency_fall = \"off\"\n\
    swapping = \"off\"\nthrottling = \"off\"\n";

/// The gates alone, for the end of a suite that says its own time.
pub(crate) fn no_gates() -> &'static str {
    &NO_LIMITS[NO_LIMITS.find('[').unwrap()..]
}

/// A place of its own: store, work directory and suites.
pub(crate) struct Stand {
    directory: TempDir,
}

/// How a command ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) status: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Stand {
    pub(crate) fn new() -> Self {
        Self { directory: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn store(&self) -> PathBuf {
        self.path().join("store")
    }

    /// The program, in this place's environment.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::cargo_bin("stend").unwrap();
        command
            .args(arguments)
            .current_dir(self.path())
            .env("STEND_STORE", self.store())
            .env("STEND_WORK", self.path().join("work"))
            // Tests on one machine are as many labs, and what they measure does not count.
            .env("STEND_LOCK", self.path().join("machine.lock"))
            .env("STEND_PROBE", probe())
            .env("NO_COLOR", "1")
            .env_remove("COLUMNS")
            .env_remove("STEND_NO_PROGRESS");
        command
    }

    /// The same as somebody who is not root, who may read this place; with a work directory of their own. `None` where nobody else than root
    /// may start the program, or the tests are not root's.
    pub(crate) fn command_of_nobody(&self, arguments: &[&str]) -> Option<Command> {
        let of_root = self.command(arguments);
        let mut command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
        let open = std::os::unix::fs::PermissionsExt::from_mode(0o1777);
        std::fs::set_permissions(self.path(), open).unwrap();
        let mut trial = Command::new("setpriv");
        trial.args(["--reuid=65534", "--regid=65534", "--clear-groups", "test", "-x"]).arg(of_root.get_program());
        if !trial.output().is_ok_and(|output| output.status.success()) {
            eprintln!("skipped: nobody but root may start the program here");
            return None;
        }
        command.arg(of_root.get_program()).args(arguments).current_dir(self.path());
        command.envs(of_root.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.env("STEND_WORK", self.path().join("nobody"));
        Some(command)
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ended {
        ended(&mut self.command(arguments))
    }

    /// Runs a command that must succeed.
    pub(crate) fn fine(&self, arguments: &[&str]) -> Ended {
        let ended = self.run(arguments);
        assert_eq!(ended.status, Some(0), "{arguments:?}\n{}\n{}", ended.out, ended.err);
        ended
    }

    /// Runs a command that is refused as usage, with one line that says all this.
    pub(crate) fn refused(&self, arguments: &[&str], parts: &[&str]) {
        let ended = self.run(arguments);
        assert_eq!(ended.status, Some(2), "{arguments:?}\n{}\n{}", ended.out, ended.err);
        assert_eq!(ended.err.trim().lines().count(), 1, "{}", ended.err);
        for part in parts {
            assert!(ended.err.contains(part), "{arguments:?}: `{part}` is not in:\n{}", ended.err);
        }
    }

    /// The JSON that a command prints.
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let mut arguments = arguments.to_vec();
        arguments.push("--json");
        serde_json::from_str(&self.fine(&arguments).out).unwrap()
    }

    /// What a terminal gets of a command, on which it runs.
    pub(crate) fn on_a_terminal(&self, arguments: &[&str]) -> String {
        let of = self.command(arguments);
        let words: Vec<_> = [of.get_program()]
            .into_iter()
            .chain(of.get_args())
            .map(|word| format!("'{}'", word.to_str().unwrap()))
            .collect();
        let mut command = Command::new("script");
        command
            .args(["--quiet", "--return", "--command", &words.join(" "), "/dev/null"])
            .stdin(std::process::Stdio::null());
        command.current_dir(self.path()).envs(of.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let ended = ended(command.env("TERM", "xterm"));
        assert_eq!(ended.status, Some(0), "{}", ended.out);
        ended.out
    }

    /// Writes a suite of instruments from `tests/instruments`, each with its arguments, and gives its path.
    pub(crate) fn suite(&self, head: &str, scenarios: &[(&str, &str)]) -> String {
        use std::fmt::Write as _;
        let limits = if head.contains("timeout = ") { no_gates() } else { NO_LIMITS };
        let mut text =
            format!("name = \"test\"\ntitle = \"instruments written in sh\"\nsample_hertz = 0\n{head}\n{limits}");
        for (name, call) in scenarios {
            let mut words = call.split(' ');
            let script = instruments().join(words.next().unwrap());
            let words: Vec<_> =
                ["sh", script.to_str().unwrap()].into_iter().chain(words).map(|word| format!("{word:?}")).collect();
            let _ = write!(
                text,
                "[[scenario]]\nname = {name:?}\ncommand = [{}]\n\
                 metrics = [{{ name = \"throughput\", value = \"bytes/wall\", unit = \"B/s\", better = \"higher\" }}]\n",
                words.join(", ")
            );
        }
        let path = self.path().join("suite.toml");
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }
}

/// The gate of `gated.sh`: a run comes as far as this lets it, and waits there.
pub(crate) struct Gate {
    directory: TempDir,
}

impl Gate {
    pub(crate) fn new() -> Self {
        Self { directory: tempfile::tempdir().unwrap() }
    }

    /// The call of an instrument that goes through so many times before it waits.
    pub(crate) fn after(&self, free: u32) -> String {
        format!("gated.sh {} {free}", self.path().display())
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    /// For a program that a test wraps: a condition of the shell's that holds for the first so many calls.
    pub(crate) fn lets_through(&self, free: u32) -> String {
        let called = self.path().join("called");
        format!("{{ echo >>'{0}'; [ \"$(wc -l <'{0}')\" -le {free} ]; }}", called.display())
    }

    /// Waits until the instrument waits: what came before is done, and nothing more will be.
    pub(crate) fn wait_until_reached(&self) {
        wait_until("the run comes to the gate", || self.path().join("waits").exists());
    }

    /// As if nobody had come yet.
    pub(crate) fn start_over(&self) {
        for file in ["waits", "called"] {
            let _ = std::fs::remove_file(self.path().join(file));
        }
    }

    pub(crate) fn open(&self) {
        std::fs::write(self.path().join("open"), "").unwrap();
    }
}

pub(crate) fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    wait_while(what, || (!condition()).then(String::new));
}

/// Waits as long as there is something else than what is wanted. What a test has started and not waited for goes on meanwhile: where it
/// has ended, nothing more will come.
pub(crate) fn wait_while(what: &str, mut something_else: impl FnMut() -> Option<String>) {
    let deadline = Instant::now() + stend_testing::patience();
    loop {
        let ended = ended_children();
        let Some(there) = something_else() else { return };
        assert!(Instant::now() < deadline, "waited for: {what} {there}");
        assert!(ended.is_empty(), "waited for: {what} {there}\nmeanwhile these ended: {ended:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The names of processes that this test has started, which have ended and were not waited for.
fn ended_children() -> Vec<String> {
    // Those of the thread: other tests may run in other ones.
    let children = std::fs::read_to_string("/proc/thread-self/children").unwrap_or_default();
    let name = |pid: &str| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let (before, rest) = stat.rsplit_once(") ")?;
        rest.starts_with('Z').then(|| before.to_owned() + ")")
    };
    children.split_whitespace().filter_map(name).collect()
}

/// Writes a program.
pub(crate) fn executable(path: &Path, text: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// The directories at and below these places that others than their owner may look into.
pub(crate) fn open_directories(places: &[&Path]) -> String {
    let found = Command::new("find").args(places).args(["-type", "d", "-not", "-perm", "700"]).output().unwrap();
    assert!(found.status.success(), "{}", String::from_utf8_lossy(&found.stderr));
    String::from_utf8(found.stdout).unwrap()
}

/// Where a program is, also one for root; empty where there is none.
pub(crate) fn on_path(program: &str) -> String {
    let script = "PATH=$PATH:/usr/sbin:/sbin; command -v \"$1\"";
    let found = Command::new("sh").args(["-c", script, "sh", program]).output().unwrap();
    String::from_utf8(found.stdout).unwrap().trim().to_owned()
}

/// A PATH on which a program does something in the shell before it does what it is for.
pub(crate) fn path_with(stand: &Stand, program: &str, before: &str) -> String {
    let programs = stand.path().join("programs");
    std::fs::create_dir_all(&programs).unwrap();
    let text = format!("#!/bin/sh\n{before}\nexec {} \"$@\"\n", on_path(program));
    executable(&programs.join(program), &text);
    format!("{}:{}", programs.display(), std::env::var("PATH").unwrap())
}

/// What Ctrl-C does to a program.
pub(crate) fn interrupt(child: &Child) {
    rustix::process::kill_process(Pid::from_child(child), rustix::process::Signal::INT).unwrap();
}

pub(crate) fn ended(command: &mut Command) -> Ended {
    let output = command.output().unwrap();
    Ended {
        status: output.status.code(),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

pub(crate) fn instruments() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/instruments")
}

/// The instrument half. `make test` builds it and says where it is.
pub(crate) fn probe() -> PathBuf {
    let built = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/release/stend-probe");
    let probe = std::env::var_os("STEND_PROBE").map_or(built, PathBuf::from);
    assert!(probe.is_file(), "{} is missing; `make test` builds it first", probe.display());
    probe
}

/// The processes whose command lines begin with these words.
pub(crate) fn running(words: &[&str]) -> Vec<Pid> {
    let begin: String = words.iter().map(|word| format!("{word}\0")).collect();
    let is_one = |pid: &Pid| {
        let line = std::fs::read(format!("/proc/{}/cmdline", pid.as_raw_pid()));
        line.is_ok_and(|line| line.starts_with(begin.as_bytes()))
    };
    let names = std::fs::read_dir("/proc").unwrap().map(|entry| entry.unwrap().file_name());
    let pids = names.filter_map(|name| Pid::from_raw(name.to_str()?.parse().ok()?));
    pids.filter(is_one).collect()
}

/// Runs a shell script in a mount namespace of its own, so that it may mount small file systems. `None` where the
/// system does not allow that; the test then says so and passes, but not under CI.
pub(crate) fn in_own_mounts(script: &str, environment: &[(&str, &str)]) -> Option<Ended> {
    in_own_namespaces("m", script, environment)
}

/// The same in namespaces of other kinds, as the letters of `unshare` name them.
pub(crate) fn in_own_namespaces(kinds: &str, script: &str, environment: &[(&str, &str)]) -> Option<Ended> {
    let root = rustix::process::geteuid().is_root();
    // Settings of the kernel are root's, and no user namespace changes that.
    let only_root = kinds != "m";
    let kinds = format!("-{}{kinds}", if root { "" } else { "r" });
    let mut command = Command::new("unshare");
    command.arg(&kinds).args(["sh", "-c", script]).envs(environment.iter().copied());
    if let Some((_, work)) = environment.iter().find(|(name, _)| *name == "STEND_WORK") {
        command.env("STEND_LOCK", format!("{work}.machine.lock"));
    }
    let trial = if kinds.contains('m') { "mount -t tmpfs none /mnt" } else { "true" };
    let possible = Command::new("unshare").arg(&kinds).args(["sh", "-c", trial]).output();
    if (only_root && !root) || !possible.is_ok_and(|output| output.status.success()) {
        let why = "this system does not give this user namespaces of their own";
        assert!(std::env::var_os("CI").is_none(), "under CI nothing may be skipped: {why}");
        eprintln!("skipped: {why}");
        return None;
    }
    Some(ended(&mut command))
}

/// The environment of a script that starts `stend` by itself.
pub(crate) fn environment<'a>(
    stand: &'a Stand,
    gate: &'a Gate,
    suite: &'a str,
    owned: &'a mut Vec<String>,
) -> Vec<(&'a str, &'a str)> {
    let text = |path: &Path| path.to_str().unwrap().to_owned();
    owned.extend([
        stand.command(&[]).get_program().to_str().unwrap().to_owned(),
        text(&stand.store()),
        text(&stand.path().join("work")),
        text(&probe()),
        text(stand.path()),
        text(gate.path()),
    ]);
    let names = ["STEND", "STEND_STORE", "STEND_WORK", "STEND_PROBE", "DIRECTORY", "GATE"];
    let mut all: Vec<_> = names.into_iter().zip(owned.iter().map(String::as_str)).collect();
    all.push(("SUITE", suite));
    all
}

/// A store of its own without a run in it, and what runs for it are forged from.
pub(crate) fn with_mould() -> (Stand, forge::Mould) {
    let (there, stand) = (Stand::new(), Stand::new());
    let suite = there.suite("repeats = 1\nwarmup = 0", &[("one", "steady.sh 1")]);
    there.fine(&["run", &suite, "--quiet"]);
    let file = stand.path().join("mould.gz");
    there.fine(&["export", "last", "-o", file.to_str().unwrap()]);
    let mould = forge::Mould::of(&file);
    (stand, mould)
}
