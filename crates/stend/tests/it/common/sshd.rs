//! A machine that ssh reaches: a real sshd on loopback, with no more on its PATH than a stand needs, and a link that can be cut.

use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::Value;

use super::{Ended, Gate, NO_LIMITS, Stand, executable, on_path};

/// What is on a stand's PATH: a shell, tar, and a compiler with its parts.
pub(crate) const PROGRAMS: [&str; 5] = ["sh", "tar", "cc", "as", "ld"];

/// A suite that needs nothing but `stend-probe`.
pub(crate) const SUITE: &str = r#"
name = "tiny"
title = "two seconds"
repeats = 6
warmup = 0
sample_hertz = 0
timeout = "6h"
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
pub(crate) struct Sshd {
    pub(crate) stand: Stand,
    pub(crate) server: Child,
    pub(crate) link: Link,
}

/// Passes bytes on between clients and a server, until it is cut.
pub(crate) struct Link {
    pub(crate) port: u16,
    pub(crate) state: Arc<Mutex<LinkState>>,
}

#[derive(Default)]
pub(crate) struct LinkState {
    /// The server's port.
    pub(crate) server: u16,
    pub(crate) cut: bool,
    pub(crate) held: bool,
    pub(crate) silent: bool,
    pub(crate) open: Vec<TcpStream>,
}

impl Link {
    /// To no server yet.
    pub(crate) fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = Arc::new(Mutex::new(LinkState::default()));
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                while shared.lock().unwrap().held {
                    thread::sleep(std::time::Duration::from_millis(20));
                }
                let mut state = shared.lock().unwrap();
                let Some(server) = (!state.cut).then(|| TcpStream::connect(("127.0.0.1", state.server)).ok()).flatten()
                else {
                    continue;
                };
                // Else what is passed on in small pieces waits for acknowledgements, 40 ms at a time.
                for end in [&client, &server] {
                    end.set_nodelay(true).unwrap();
                }
                for (from, to) in [(&client, &server), (&server, &client)] {
                    let (mut from, mut to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
                    let shared = Arc::clone(&shared);
                    thread::spawn(move || {
                        let mut block = [0; 1 << 14];
                        while let Ok(count @ 1..) = from.read(&mut block) {
                            if !shared.lock().unwrap().silent && to.write_all(&block[..count]).is_err() {
                                break;
                            }
                        }
                        let _ = to.shutdown(Shutdown::Write);
                    });
                }
                state.open.extend([client, server]);
            }
        });
        Self { port, state }
    }

    /// Ends all connections, and lets none through until it is mended.
    pub(crate) fn cut(&self) {
        let mut state = self.state.lock().unwrap();
        state.cut = true;
        for stream in state.open.drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    /// Ends all connections, and lets new ones wait until it is mended.
    pub(crate) fn hold(&self) {
        self.state.lock().unwrap().held = true;
        self.cut();
        self.state.lock().unwrap().cut = false;
    }

    /// Loses what is sent from here on, and answers no new connection, until it is mended: as where a cable was pulled.
    pub(crate) fn silence(&self) {
        let mut state = self.state.lock().unwrap();
        (state.held, state.silent) = (true, true);
    }

    pub(crate) fn mend(&self) {
        let mut state = self.state.lock().unwrap();
        (state.cut, state.held, state.silent) = (false, false, false);
    }
}

impl Sshd {
    /// `None` where there is no sshd, or nobody may start one.
    pub(crate) fn new() -> Option<Self> {
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
            std::os::unix::fs::symlink(on_path(program), path.join("programs").join(program)).unwrap();
        }
        let link = Link::new();
        Some(Self { server: start(&stand, &link, ""), stand, link })
    }

    /// Starts the server again, with these lines in its configuration beside the usual ones, but for `SetEnv`, of which sshd heeds only one.
    pub(crate) fn reconfigure(&mut self, more: &str) {
        assert!(!more.contains("SetEnv"), "{more}");
        let _ = self.server.kill();
        let _ = self.server.wait();
        self.server = start(&self.stand, &self.link, more);
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.stand.command(arguments);
        let path = std::env::var("PATH").unwrap();
        // What is built there is there.
        command.env("PATH", format!("{}/bin:{path}", self.stand.path().display())).env_remove("STEND_PROBE");
        // Wide enough that no line is broken.
        command.env("COLUMNS", "500");
        // The desk is another machine than the one that it reaches.
        command.env("STEND_WORK", self.stand.path().join("here"));
        command.env("STEND_LOCK", self.stand.path().join("here.lock"));
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ended {
        super::ended(&mut self.command(arguments))
    }

    pub(crate) fn fine(&self, arguments: &[&str]) -> Ended {
        let ended = self.run(arguments);
        assert_eq!(ended.status, Some(0), "{arguments:?}\n{}\n{}", ended.out, ended.err);
        ended
    }

    /// Must fail with one line that says these things.
    pub(crate) fn refuses(&self, arguments: &[&str], status: i32, parts: &[&str]) {
        let ended = self.run(arguments);
        assert_eq!(ended.status, Some(status), "{arguments:?}\n{}\n{}", ended.out, ended.err);
        let last = ended.err.lines().last().unwrap_or_default();
        assert!(parts.iter().all(|part| last.contains(part)), "{parts:?}\n{}", ended.err);
    }

    pub(crate) fn suite(&self, seconds: &str) -> String {
        let path = self.stand.path().join("tiny.toml");
        fs::write(&path, SUITE.replace("SECONDS", seconds)).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// Puts a build there. It is made once for all tests that the same `stend-probe` is tested by.
    pub(crate) fn with_build(&self) {
        if !self.builds().is_empty() {
            return;
        }
        // Of these sources, by this compiler, with these flags.
        let version = Command::new(super::probe()).arg("--version").output().unwrap();
        let mut digest = DefaultHasher::new();
        version.stdout.hash(&mut digest);
        let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("stand-build-{:016x}", digest.finish()));
        let one_at_a_time = fs::File::create(kept.with_extension("lock")).unwrap();
        one_at_a_time.lock().unwrap();
        if !kept.exists() {
            // The compiler's own work is tested by itself; what `make` built of the same sources with the same flags is the same program.
            let compiler = on_path("cc");
            self.put_program("cc", &ready_compiler(&format!("{compiler} --version"), ""));
            let suite = self.suite("0.05");
            let made = self.fine(&["run", &suite, "--on", "stand", "--even-if-unfit", "--quiet"]);
            assert!(!made.err.contains("building"), "only what went wrong is said: {}", made.err);
            self.put_program("cc", &compiler);
            // A test counts its own runs.
            self.fine(&["rm", "last"]);
            let copied = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
            copy(&self.there(), copied.path());
            fs::rename(copied.keep(), &kept).unwrap();
            return;
        }
        fs::create_dir_all(self.there()).unwrap();
        copy(&kept, &self.there());
    }

    /// A gate there for the runs of `gated_suite`: a repeat comes as far as it says, and waits there.
    pub(crate) fn gate(&self, free: u32) -> Gate {
        let gate = Gate::new();
        for program in ["sleep", "wc"] {
            self.put_program(program, &on_path(program));
        }
        let script = super::instruments().join("gated.sh");
        let text = format!("#!/bin/sh\nexec sh {} {} {free}\n", script.display(), gate.path().display());
        self.put_program("gated", &text);
        gate
    }

    /// A suite of six repeats that go through the gate of the machine that makes them.
    pub(crate) fn gated_suite(&self) -> String {
        let path = self.stand.path().join("gated.toml");
        let text = format!(
            "name = \"gated\"\ntitle = \"as far as a gate\"\nrepeats = 6\nwarmup = 0\nsample_hertz = 0\n{NO_LIMITS}\
             [[scenario]]\nname = \"one\"\ncommand = [\"gated\"]\n\
             metrics = [{{ name = \"throughput\", value = \"bytes/wall\", unit = \"B/s\", better = \"higher\" }}]\n"
        );
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// Lets this desk reach another machine too, by this name of ssh's.
    pub(crate) fn knows(&self, other: &Self, name: &str) {
        let file = self.stand.path().join("ssh_config");
        let (port, theirs) = (other.link.port, other.stand.path().display());
        let host = format!(
            "Host {name}\n HostName 127.0.0.1\n Port {port}\n User root\n IdentityFile {theirs}/user\n \
             UserKnownHostsFile {theirs}/known\n StrictHostKeyChecking yes\n"
        );
        fs::write(&file, fs::read_to_string(&file).unwrap() + &host).unwrap();
    }

    /// Sends those that serve a connection a signal: where they are stopped, the connection stays and says nothing.
    pub(crate) fn signal_connections(&self, signal: &str) {
        let _ = Command::new("pkill").args([signal, "-P", &self.server.id().to_string()]).status();
    }

    /// Sends the server a signal: one that is stopped takes connections and says nothing.
    pub(crate) fn signal(&self, signal: &str) {
        let status = Command::new("kill").args([signal, &self.server.id().to_string()]).status();
        assert!(status.unwrap().success());
    }

    /// What runs there of this test's.
    pub(crate) fn running(&self) -> String {
        let pattern = self.there().display().to_string();
        let found = Command::new("pgrep").args(["-a", "-f", &pattern]).output().unwrap();
        String::from_utf8_lossy(&found.stdout).into_owned()
    }

    /// Puts a program there in the place of another of that name: a script, or a link to what begins with a slash.
    pub(crate) fn put_program(&self, name: &str, text: &str) {
        let path = self.stand.path().join("programs").join(name);
        let _ = fs::remove_file(&path);
        if text.starts_with('/') {
            std::os::unix::fs::symlink(text, &path).unwrap();
        } else {
            executable(&path, text);
        }
    }

    /// Puts all programs of this machine there.
    pub(crate) fn has_all_programs(&self) {
        for directory in ["/usr/sbin", "/usr/bin", "/sbin", "/bin"] {
            for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
                let _ = std::os::unix::fs::symlink(
                    entry.path(),
                    self.stand.path().join("programs").join(entry.file_name()),
                );
            }
        }
    }

    /// What is in the directory for runs' files there, but for the lock's file.
    pub(crate) fn left(&self) -> Vec<String> {
        let names = fs::read_dir(self.there()).into_iter().flatten().flatten();
        let names = names.map(|entry| entry.file_name().to_string_lossy().into_owned());
        names.filter(|name| name != "in-use.lock").collect()
    }

    pub(crate) fn there(&self) -> PathBuf {
        self.stand.path().join("there")
    }

    pub(crate) fn builds(&self) -> Vec<String> {
        let names = fs::read_dir(self.there()).into_iter().flatten().flatten();
        let names = names.map(|entry| entry.file_name().to_string_lossy().into_owned());
        names.filter(|name| name.starts_with("build")).collect()
    }
}

/// A compiler for tests of what is around compilers: it "compiles" every file in no time, and links a `stend-probe` that was built before. It says
/// `version` of itself, and does `deed` before each file; `$source` is empty where it links.
pub(crate) fn quick_compiler(version: &str, deed: &str) -> String {
    ready_compiler(&format!("printf '%s\\nlike gcc 9.3.0\\nand more\\n' '{version}'"), deed)
}

/// The same, which says of itself what a command of the shell prints.
fn ready_compiler(version: &str, deed: &str) -> String {
    format!(
        "#!/bin/sh\n\
         case \"$*\" in\n*--version*) {version}; exit ;;\n\
         *-dumpmachine*) echo x86_64-linux-gnu; exit ;;\nesac\n\
         output= source= before=\n\
         for word; do\ncase $before in -o) output=$word ;; -c) source=$word ;; esac\nbefore=$word\ndone\n\
         {deed}\n\
         case $source in '') /bin/cp '{}' \"$output\" ;; *) echo object >\"$output\" ;; esac\n",
        super::probe().display()
    )
}

/// Writes sshd's configuration and the client's, which goes to the second port. The user has a home without login scripts: those of
/// whoever runs the tests may take seconds, or say something.
fn configure(stand: &Stand, ports: [u16; 2], more: &str) {
    let path = stand.path().display();
    let server = format!(
        "Port {}\nListenAddress 127.0.0.1\nHostKey {path}/host\nAuthorizedKeysFile {path}/user.pub\nStrictModes no\nUsePAM no\n\
         PidFile none\nPermitRootLogin yes\n{more}\nSetEnv HOME={path}/home PATH={path}/programs STEND_WORK={path}/there STEND_LOCK={path}/machine.lock\n",
        ports[0]
    );
    fs::write(stand.path().join("sshd_config"), server).unwrap();
    let _ = fs::create_dir(stand.path().join("home"));
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
    executable(&bin.join("ssh"), &wrapper);
}

/// A server that listens, at whose port the link ends.
fn start(stand: &Stand, link: &Link, more: &str) -> Child {
    let log = stand.path().join("sshd.log");
    loop {
        // Free a moment ago; whoever takes it before the server does makes another one necessary.
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        configure(stand, [port, link.port], more);
        let mut server = Command::new("/usr/sbin/sshd")
            .args(["-D", "-e", "-f"])
            .arg(stand.path().join("sshd_config"))
            .stdout(Stdio::null())
            .stderr(fs::File::create(&log).unwrap())
            .spawn()
            .unwrap();
        let said = || fs::read_to_string(&log).unwrap_or_default();
        while server.try_wait().unwrap().is_none() {
            if said().contains("Server listening") {
                link.state.lock().unwrap().server = port;
                return server;
            }
            thread::sleep(std::time::Duration::from_millis(10));
        }
        assert!(said().contains("Address already in use"), "{}", said());
    }
}

impl Drop for Sshd {
    fn drop(&mut self) {
        self.link.cut();
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

pub(crate) fn copy(from: &std::path::Path, to: &std::path::Path) {
    let status = Command::new("cp").arg("-a").arg(from.join(".")).arg(to).status().unwrap();
    assert!(status.success());
}

/// A file system in memory that is there as long as this is.
pub(crate) struct Mounted(PathBuf);

impl Mounted {
    pub(crate) fn new(path: &std::path::Path, options: &str) -> Self {
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

pub(crate) fn parse(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}
