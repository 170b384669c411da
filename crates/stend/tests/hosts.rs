//! Machines that ssh reaches: a real sshd on loopback, with as little on its PATH as a stand needs, and what goes wrong with links.

mod common;

use std::fs;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;

use common::{Ended, Stand, wait_until};
use serde_json::Value;

/// What is on a stand's PATH: a shell, a compiler with its parts, tar, and the handful of tools that every POSIX system has.
const PROGRAMS: [&str; 19] = [
    "sh", "cc", "as", "ld", "tar", "cat", "mkdir", "rm", "mv", "uname", "sync", "sleep", "gzip", "grep", "sed", "sort",
    "uniq", "df", "getconf",
];

/// A suite that needs nothing but `stend-probe`.
const SUITE: &str = r#"
name = "tiny"
title = "two seconds"
repeats = 6
warmup = 0
sample_hertz = 0
[gates]
foreign_cpu = "off"
steal = "off"
frequency_fall = "off"
[[scenario]]
name = "cipher"
instrument = "stend-probe cipher"
parameters = { cipher = "magma", size = "4096", seconds = "SECONDS" }
metrics = [{ name = "throughput", value = "bytes/wall", unit = "B/s", better = "higher" }]
"#;

/// An sshd of the test's own, and the client's configuration for it. Between the two is a link that can be cut.
struct Sshd {
    stand: Stand,
    server: Child,
    port: u16,
    link: Link,
}

/// Passes bytes on between clients and a server, until it is cut.
struct Link {
    port: u16,
    state: Arc<Mutex<LinkState>>,
}

#[derive(Default)]
struct LinkState {
    cut: bool,
    open: Vec<TcpStream>,
}

impl Link {
    fn to(server: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = Arc::new(Mutex::new(LinkState::default()));
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let mut state = shared.lock().unwrap();
                let Some(server) = (!state.cut).then(|| TcpStream::connect(("127.0.0.1", server)).ok()).flatten()
                else {
                    continue;
                };
                for (from, to) in [(&client, &server), (&server, &client)] {
                    let (mut from, mut to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
                    thread::spawn(move || {
                        let _ = std::io::copy(&mut from, &mut to);
                        let _ = to.shutdown(Shutdown::Write);
                    });
                }
                state.open.extend([client, server]);
            }
        });
        Self { port, state }
    }

    /// Ends all connections, and lets none through until it is mended.
    fn cut(&self) {
        let mut state = self.state.lock().unwrap();
        state.cut = true;
        for stream in state.open.drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    fn mend(&self) {
        self.state.lock().unwrap().cut = false;
    }
}

impl Sshd {
    /// `None` where there is no sshd, or nobody may start one.
    fn new() -> Option<Self> {
        let sshd = ["/usr/sbin/sshd", "/usr/local/sbin/sshd"].into_iter().find(|path| fs::metadata(path).is_ok());
        if sshd.is_none() || !rustix::process::geteuid().is_root() {
            assert!(
                std::env::var_os("CI").is_none(),
                "the tests of other machines take root and sshd: apt-get install openssh-server"
            );
            eprintln!("skipped: root and sshd are needed: apt-get install openssh-server");
            return None;
        }
        let _ = fs::create_dir_all("/run/sshd");
        let stand = Stand::new();
        let path = stand.path();
        for key in ["host", "user"] {
            let made =
                Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(path.join(key)).status();
            assert!(made.unwrap().success());
        }
        fs::create_dir(path.join("programs")).unwrap();
        for program in PROGRAMS {
            let found = Command::new("sh").args(["-c", "command -v \"$1\"", "sh", program]).output().unwrap();
            let found = String::from_utf8(found.stdout).unwrap();
            std::os::unix::fs::symlink(found.trim(), path.join("programs").join(program)).unwrap();
        }
        // A port that was free a moment ago.
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let link = Link::to(port);
        configure(&stand, [port, link.port], "");
        Some(Self { server: start(&stand, port), stand, port, link })
    }

    /// Starts the server again, with these lines in its configuration beside the usual ones.
    fn reconfigure(&mut self, more: &str) {
        let _ = self.server.kill();
        let _ = self.server.wait();
        configure(&self.stand, [self.port, self.link.port], more);
        self.server = start(&self.stand, self.port);
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.stand.command(arguments);
        let path = std::env::var("PATH").unwrap();
        // What is built there is there.
        command.env("PATH", format!("{}/bin:{path}", self.stand.path().display())).env_remove("STEND_PROBE");
        command.env("STEND_WORK", self.stand.path().join("here"));
        command
    }

    fn run(&self, arguments: &[&str]) -> Ended {
        common::ended(&mut self.command(arguments))
    }

    fn fine(&self, arguments: &[&str]) -> Ended {
        let ended = self.run(arguments);
        assert_eq!(ended.status, Some(0), "{arguments:?}\n{}\n{}", ended.out, ended.err);
        ended
    }

    /// Must fail with one line that says these things.
    fn refuses(&self, arguments: &[&str], status: i32, parts: &[&str]) {
        let ended = self.run(arguments);
        assert_eq!(ended.status, Some(status), "{arguments:?}\n{}\n{}", ended.out, ended.err);
        let last = ended.err.lines().last().unwrap_or_default();
        assert!(parts.iter().all(|part| last.contains(part)), "{parts:?}\n{}", ended.err);
    }

    fn suite(&self, seconds: &str) -> String {
        let path = self.stand.path().join("tiny.toml");
        fs::write(&path, SUITE.replace("SECONDS", seconds)).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// Puts a build there that another test made.
    fn with_build(&self) {
        static BUILT: OnceLock<tempfile::TempDir> = OnceLock::new();
        let built = BUILT.get_or_init(|| {
            let suite = self.suite("0.05");
            self.fine(&["run", &suite, "--on", "stand", "--even-if-unfit", "--quiet"]);
            let kept = tempfile::tempdir().unwrap();
            copy(&self.there(), kept.path());
            kept
        });
        if self.builds().is_empty() {
            fs::create_dir_all(self.there()).unwrap();
            copy(built.path(), &self.there());
        }
    }

    /// What runs there of this test's.
    fn running(&self) -> String {
        let pattern = self.there().display().to_string();
        let found = Command::new("pgrep").args(["-a", "-f", &pattern]).output().unwrap();
        String::from_utf8_lossy(&found.stdout).into_owned()
    }

    fn there(&self) -> PathBuf {
        self.stand.path().join("there")
    }

    fn builds(&self) -> Vec<String> {
        let names = fs::read_dir(self.there()).into_iter().flatten().flatten();
        let names = names.map(|entry| entry.file_name().to_string_lossy().into_owned());
        names.filter(|name| name.starts_with("build")).collect()
    }
}

/// Writes sshd's configuration and the client's, which goes to the second port.
fn configure(stand: &Stand, ports: [u16; 2], more: &str) {
    let path = stand.path().display();
    let server = format!(
        "Port {}\nListenAddress 127.0.0.1\nHostKey {path}/host\nAuthorizedKeysFile {path}/user.pub\nStrictModes no\nUsePAM no\n\
         PidFile none\nPermitRootLogin yes\n{more}\nSetEnv PATH={path}/programs STEND_WORK={path}/there\n",
        ports[0]
    );
    fs::write(stand.path().join("sshd_config"), server).unwrap();
    let client = format!(
        "Host stand other-name\n HostName 127.0.0.1\n Port {}\n User root\n IdentityFile {path}/user\n \
         UserKnownHostsFile {path}/known\n StrictHostKeyChecking yes\n",
        ports[1]
    );
    fs::write(stand.path().join("ssh_config"), client).unwrap();
    let key = fs::read_to_string(stand.path().join("host.pub")).unwrap();
    fs::write(stand.path().join("known"), format!("[127.0.0.1]:{} {key}", ports[1])).unwrap();
    // ssh reads the configuration of the user's home by the system's list of users, so it is told.
    let bin = stand.path().join("bin");
    let _ = fs::create_dir(&bin);
    let wrapper = format!("#!/bin/sh\nexec /usr/bin/ssh -F {path}/ssh_config \"$@\"\n");
    fs::write(bin.join("ssh"), wrapper).unwrap();
    fs::set_permissions(bin.join("ssh"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
}

fn start(stand: &Stand, port: u16) -> Child {
    let sshd = Command::new("/usr/sbin/sshd")
        .args(["-D", "-e", "-f"])
        .arg(stand.path().join("sshd_config"))
        .stderr(Stdio::null())
        .spawn();
    wait_until("sshd listens", || TcpStream::connect(("127.0.0.1", port)).is_ok());
    sshd.unwrap()
}

impl Drop for Sshd {
    fn drop(&mut self) {
        self.link.cut();
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

#[test]
fn a_machine_with_a_shell_and_a_compiler_is_measured_and_left_as_it_was() {
    let Some(sshd) = Sshd::new() else { return };
    let suite = sshd.suite("0.05");
    let run = ["run", &suite, "--on", "stand", "--even-if-unfit", "--no-progress"];
    let ended = sshd.fine(&run);
    assert!(ended.err.contains("stand: building stend-probe there with cc"), "{}", ended.err);
    let shown = parse(&sshd.fine(&["show", "--json"]).out);
    assert_eq!(shown["run"]["run"]["host"], "stand");
    assert_eq!(shown["run"]["repeats"].as_array().unwrap().len(), 6);
    // What was built is used again, and by its contents: other flags make another one.
    assert!(!sshd.fine(&run).err.contains("building"));
    assert_eq!(sshd.builds().len(), 1);
    let flagged = sshd.fine(&[&run[..], &["--cflags", "-O1 -DKUZMA_NO_INTRINSICS -DSTEND_NO_INTRINSICS"]].concat());
    assert!(flagged.err.contains("building"));
    assert_eq!(sshd.builds().len(), 2);
    let shown = sshd.fine(&["show", "--json"]).out;
    assert!(
        shown.contains("-std=c11 -O2 -O1 -DKUZMA_NO_INTRINSICS -DSTEND_NO_INTRINSICS"),
        "the flags are in each repeat's build"
    );
    let fingerprint = parse(&sshd.fine(&["probe", "--on", "stand", "--json"]).out);
    let here = parse(&sshd.fine(&["probe", "--json"]).out);
    assert_eq!(
        fingerprint["machine"]["hardware"], here["machine"]["hardware"],
        "it is the same machine: {fingerprint:#}"
    );
    sshd.fine(&["clean", "--on", "stand"]);
    assert!(!sshd.there().exists(), "{:?}", sshd.builds());
}

fn copy(from: &std::path::Path, to: &std::path::Path) {
    let status = Command::new("cp").arg("-a").arg(from.join(".")).arg(to).status().unwrap();
    assert!(status.success());
}

#[test]
fn a_link_that_drops_costs_the_repeat_in_flight_and_the_run_goes_on_later() {
    let Some(sshd) = Sshd::new() else { return };
    sshd.with_build();
    let suite = sshd.suite("1");
    let mut run = sshd.command(&["run", &suite, "--on", "stand", "--even-if-unfit", "--no-progress"]);
    let run = run.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let made = || {
        let shown = sshd.run(&["show", "--json"]);
        let shown = (shown.status == Some(0)).then(|| parse(&shown.out));
        shown.is_some_and(|shown| {
            shown["run"]["run"]["state"] == "open" && shown["run"]["repeats"].as_array().unwrap().len() >= 2
        })
    };
    wait_until("two repeats are made", made);
    wait_until("the third is being made", || sshd.running().contains("cipher"));
    sshd.link.cut();
    let ended = run.wait_with_output().unwrap();
    let words = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert_eq!(ended.status.code(), Some(4), "{words}");
    assert!(words.lines().any(|line| line.contains("go on with") && line.contains("resume")), "{words}");
    assert!(words.lines().last().unwrap().contains("stand: "), "{words}");
    wait_until("nothing runs there any more", || sshd.running().is_empty());
    sshd.refuses(&["resume"], 4, &["stand: ", "Connection"]);
    sshd.link.mend();
    sshd.fine(&["resume", "--even-if-unfit", "--no-progress"]);
    let shown = parse(&sshd.fine(&["show", "--json"]).out);
    let valid = shown["run"]["repeats"].as_array().unwrap().iter().filter(|repeat| repeat["outcome"] == "valid");
    assert_eq!(valid.count(), 6);
    sshd.fine(&["clean", "--on", "stand"]);
    assert!(!sshd.there().exists());
}

/// What stands in the place of `stend-probe` there tells another time than it is, and after a while yet another.
#[test]
fn clocks_are_compared_and_one_that_is_wrong_or_set_changes_no_duration() {
    let Some(sshd) = Sshd::new() else { return };
    sshd.with_build();
    let build = sshd.there().join(&sshd.builds()[0]).join("build");
    let asked = sshd.stand.path().join("asked");
    fs::rename(build.join("stend-probe"), build.join("real")).unwrap();
    let lying = format!(
        "#!/bin/sh\n[ \"$1\" = clock ] || exec {build}/real \"$@\"\n\
         if [ -e {asked} ]; then exec {build}/real clock --ahead 7200s; fi\n: >{asked}\nexec {build}/real clock --ahead 3600s\n",
        build = build.display(),
        asked = asked.display()
    );
    fs::write(build.join("stend-probe"), lying).unwrap();
    fs::set_permissions(build.join("stend-probe"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let suite = sshd.suite("0.05");
    sshd.fine(&["run", &suite, "--on", "stand", "--even-if-unfit", "--quiet"]);
    let shown = parse(&sshd.fine(&["show", "--json"]).out);
    let clocks = &shown["run"]["sessions"][0]["clocks"];
    let hours = |of: &str| clocks[of]["realtime_ahead_ns"].as_f64().unwrap() / 3600e9;
    let sure = |of: &str| clocks[of]["uncertainty_ns"].as_f64().unwrap();
    assert!((hours("before") - 1.0).abs() * 3600e9 <= sure("before") + 1e6, "{clocks}");
    assert!((hours("after") - 2.0).abs() * 3600e9 <= sure("after") + 1e6, "{clocks}");
    // Both count from the same moment here, so that what is found is known.
    for of in ["before", "after"] {
        assert!(clocks[of]["monotonic_ahead_ns"].as_f64().unwrap().abs() <= sure(of), "{clocks}");
    }
    for repeat in shown["run"]["repeats"].as_array().unwrap() {
        assert_eq!(repeat["outcome"], "valid", "{repeat}");
        let wall = repeat["report"]["wall_ns"].as_f64().unwrap();
        assert!((0.05e9..3600e9).contains(&wall), "{wall}");
    }
    let said = sshd.fine(&["show"]).out;
    let line = said.lines().find(|line| line.starts_with("clocks compared to ±")).expect("a line about clocks");
    assert!(line.contains(" s ahead; ") && line.contains("it was set by +3\u{a0}600"), "{line}");
}

#[test]
fn two_labs_see_each_other() {
    let Some(sshd) = Sshd::new() else { return };
    sshd.with_build();
    let suite = sshd.suite("20");
    let mut first = sshd.command(&["run", &suite, "--on", "stand", "--even-if-unfit", "--quiet"]).spawn().unwrap();
    wait_until("it measures", || sshd.running().contains("cipher"));
    // Another lab: another store, and another name for the same machine.
    let mut second = sshd.command(&["run", &suite, "--on", "other-name", "--even-if-unfit"]);
    let second = common::ended(second.env("STEND_STORE", sshd.stand.path().join("another")));
    assert_eq!(second.status, Some(4), "{}", second.err);
    let line = second.err.lines().last().unwrap();
    let parts = ["other-name", "another stend is using", &format!("process {}, since 20", first.id())];
    assert!(parts.iter().all(|part| line.contains(part)), "{line}");
    sshd.refuses(&["clean", "--on", "stand"], 4, &["another stend is using"]);
    first.kill().unwrap();
    first.wait().unwrap();
    wait_until("a killed lab leaves nothing running", || sshd.running().is_empty());
    sshd.fine(&["clean", "--on", "stand"]);
    assert!(!sshd.there().exists());
}

#[test]
fn what_login_shells_say_is_not_measured() {
    let Some(mut sshd) = Sshd::new() else { return };
    sshd.with_build();
    let suite = sshd.suite("0.05");
    let noise = sshd.stand.path().join("noise.sh");
    fs::write(&noise, "echo 'Welcome! {\"event\":\"end\"}'\necho 'It is Tuesday.' >&2\n").unwrap();
    sshd.reconfigure(&format!("SetEnv BASH_ENV={}\nBanner {}", noise.display(), noise.display()));
    sshd.fine(&["run", &suite, "--on", "stand", "--even-if-unfit", "--no-progress"]);
    let shown = parse(&sshd.fine(&["show", "--json"]).out);
    let repeats = shown["run"]["repeats"].to_string();
    assert!(!repeats.contains("Tuesday") && !repeats.contains("Welcome"), "{repeats}");
}

#[test]
fn what_a_machine_lacks_or_refuses_is_one_line_and_nothing_is_left() {
    let Some(sshd) = Sshd::new() else { return };
    let suite = sshd.suite("0.05");
    let run = ["run", &suite, "--on", "stand", "--even-if-unfit"];
    let with = |more: &[&'static str]| [&run[..], more].concat();
    sshd.refuses(&with(&["--cc", "no-such-cc"]), 4, &["stand: there is no compiler no-such-cc there", "--cc"]);
    sshd.refuses(&with(&["--cflags", "--no-such-flag"]), 4, &["stand: ", "--no-such-flag", "does not compile"]);
    assert!(sshd.builds().is_empty(), "what failed is removed: {:?}", sshd.builds());
    sshd.refuses(&["run", &suite, "--on=-oProxyCommand=id"], 4, &["no destination for ssh"]);
    // A disk that is full, and one that cannot be written.
    fs::create_dir_all(sshd.there()).unwrap();
    for (options, part) in [("size=300k", "No space left"), ("ro", "Read-only file system")] {
        let _mounted = Mounted::new(&sshd.there(), options);
        sshd.refuses(&run, 4, &["stand:", part]);
        assert!(sshd.builds().is_empty(), "{options}: {:?}", sshd.builds());
    }
    // Somebody else answers.
    let known = sshd.stand.path().join("known");
    let other = fs::read_to_string(sshd.stand.path().join("user.pub")).unwrap();
    fs::write(&known, format!("[127.0.0.1]:{} {other}", sshd.link.port)).unwrap();
    sshd.refuses(&run, 4, &["stand: its host key has changed", "ssh-keygen -R"]);
    sshd.link.cut();
    sshd.refuses(&run, 4, &["stand: ", "Connection"]);
}

/// A file system in memory that is there as long as this is.
struct Mounted(PathBuf);

impl Mounted {
    fn new(path: &std::path::Path, options: &str) -> Self {
        let status = Command::new("mount").args(["-t", "tmpfs", "-o", options, "none"]).arg(path).status().unwrap();
        assert!(status.success());
        Self(path.to_owned())
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

fn parse(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}
