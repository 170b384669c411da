//! Hosts: network namespaces on one switch, which is a bridge in another one. They are gone when nobody has them open and nothing runs in them.

use std::fs::File;
use std::io::Read as _;
use std::os::fd::{AsFd as _, AsRawFd as _};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use stend_testing::etcd::Place;
use stend_testing::have;

/// Whether hosts and disks can be made here; if not, the test says so and passes, but not under CI.
pub(crate) fn can_be_made() -> bool {
    if !["unshare", "nsenter", "ip", "tc", "mkfs.ext4", "strace"].into_iter().all(have) {
        return false;
    }
    let trial = "unshare --net ip link add name trial type bridge && [ -e /dev/loop-control ]";
    let is_so = Command::new("sh").args(["-c", trial]).output().is_ok_and(|output| output.status.success());
    if !is_so {
        let why = "this user makes no network namespaces with bridges, or no loop devices, here";
        assert!(std::env::var_os("CI").is_none(), "under CI nothing may be skipped: {why}");
        eprintln!("skipped: {why}");
    }
    is_so
}

struct Namespace(File);

impl Namespace {
    fn new() -> Self {
        let mut first = Command::new("unshare")
            .args(["--net", "sh", "-c", "echo; read -r _"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        first.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
        let open = File::open(format!("/proc/{}/ns/net", first.id())).unwrap();
        drop(first.stdin.take());
        first.wait().unwrap();
        Self(open)
    }

    fn path(&self) -> String {
        format!("/proc/{}/fd/{}", std::process::id(), self.0.as_raw_fd())
    }

    fn run(&self, script: &str) {
        let inside = format!("--net={}", self.path());
        let output = Command::new("nsenter").args([&inside, "sh", "-ec", script]).output().unwrap();
        assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

pub(crate) struct Hosts {
    switch: Namespace,
    all: Vec<Namespace>,
}

impl Hosts {
    pub(crate) fn new(count: usize) -> Self {
        let hosts = Self { switch: Namespace::new(), all: (0..count).map(|_| Namespace::new()).collect() };
        hosts.switch.run("ip link add name switch type bridge; ip link set switch up");
        for (at, host) in hosts.all.iter().enumerate() {
            let path = host.path();
            hosts.switch.run(&format!(
                "ip link add name port{at} type veth peer name eth0 netns {path}; ip link set port{at} master switch up"
            ));
            let address = Self::address(at);
            host.run(&format!("ip link set lo up; ip address add {address}/24 dev eth0; ip link set eth0 up"));
        }
        hosts
    }

    fn address(at: usize) -> String {
        format!("10.77.0.{}", at + 1)
    }

    /// A member of etcd there.
    pub(crate) fn place(&self, at: usize, data: PathBuf) -> Place {
        let [clients, peers] = [2379, 2380].map(|port| format!("{}:{port}", Self::address(at)));
        Place { clients, peers, data, before: vec!["nsenter".into(), format!("--net={}", self.all[at].path())] }
    }

    /// From now on, the sockets of this thread and of those that it starts are there.
    pub(crate) fn enter(&self, at: usize) {
        move_into_link_name_space(self.all[at].0.as_fd(), Some(LinkNameSpaceType::Network)).unwrap();
    }

    /// Takes a host from the switch. It does not notice.
    pub(crate) fn cut_off(&self, at: usize) {
        self.switch.run(&format!("ip link set port{at} nomaster"));
    }

    /// Loses all that is sent to a host.
    pub(crate) fn deafen(&self, at: usize) {
        self.switch.run(&format!("tc qdisc replace dev port{at} root pfifo limit 0"));
    }

    /// Loses all that a host sends to these: it has hardware addresses of theirs that nobody has.
    pub(crate) fn mute(&self, at: usize, to: impl Iterator<Item = usize>) {
        let lose =
            |to| format!("ip neigh replace {} lladdr 02:00:00:00:00:ff dev eth0 nud permanent\n", Self::address(to));
        self.all[at].run(&to.filter(|to| *to != at).map(lose).collect::<String>());
    }

    /// Loses nothing of a host any more.
    pub(crate) fn heal(&self, at: usize) {
        self.switch
            .run(&format!("ip link set port{at} master switch; tc qdisc del dev port{at} root 2>/dev/null || :"));
        self.all[at].run("ip neigh flush dev eth0 nud permanent");
    }
}
