//! Virtual machines: guests of the real QEMU, on an image of the distribution's own packages.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Stdio};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use rustix::process::Signal;
use serde_json::Value;

use crate::common::etcd::Etcd;
use crate::common::pools::{own_name, says};
use crate::common::{Stand, on_path, path_with, running, wait_until};
use crate::nodes::join_quickly;
use crate::serve::Server;

/// Little more than boots and is reached.
const IMAGE: &str = "title = \"A small Debian\"\nrelease = \"bookworm\"\narchitecture = \"amd64\"\nsize = \"1GiB\"\n\
    packages = [\"linux-image-cloud-amd64\", \"systemd-sysv\", \"udev\", \"dbus\", \"openssh-server\"]\n\
    [files]\n\"root/looks.sh\" = '''\n\
    [ \"$(nproc) $(cat /sys/block/vdc/size)\" = '1 16384' ] && grep -q '/srv/a ext4' /proc/mounts || exit\n\
    [ \"$(ls /sys/class/net | wc -l) $(cat /sys/block/sda/size)\" = '2 8192' ]\n'''\n";
const GUEST: &str = "kind = \"vm\"\nimage = \"small.toml\"\nmemory = \"512MiB\"\ncpus = 1\naccelerator = \"tcg\"\n\
    [[disk]]\nsize = \"4MiB\"\nformat = \"qcow2\"\niothread = true\n";

/// Says a line to whoever connects.
const SERVER: &str = "title = \"A line\"\nprogram = \"python3\"\nports = [\"port\"]\nstart = [\"python3\", \"line.py\"]\n[files]\n\"line.py\" = '''\n\
    import socket\nserver = socket.create_server((\"@address@\", @port@))\n\
    while True:\n    connection, peer = server.accept()\n    connection.sendall(f\"{peer[0]}\\n\".encode())\n    connection.close()\n'''\n";

/// In a guest it looks for what the guest is to have, works where its disk is mounted, and asks a server on the host, which says who asks.
const SUITE: &str = "name = \"both\"\ntitle = \"Both\"\nrepeats = 1\nwarmup = 0\ntimeout = \"6h\"\n\
    gates = { steal = \"off\", foreign_cpu = \"off\", frequency_fall = \"off\", swapping = \"off\", throttling = \"off\" }\n\
    [variables]\nwhere = \"/\"\nlooks = \"true\"\nasks = \"127.0.0.1\"\n\
    [guest.variables]\nwhere = \"/srv/a\"\nlooks = \"sh /root/looks.sh\"\nasks = \"169.254.\"\n\
    [guest.vm]\nimage = \"small.toml\"\nmemory = \"512MiB\"\ncpus = 1\naccelerator = \"tcg\"\nnetwork = \"tap\"\n\
    [[guest.vm.disk]]\nsize = \"8MiB\"\nmount = \"/srv/a\"\n\
    [[guest.vm.disk]]\nsize = \"4MiB\"\nbus = \"virtio-scsi\"\niothread = true\nformat = \"qcow2\"\n\
    [[scenario]]\nname = \"s\"\ninstrument = \"time\"\nparameters = { command = \"{looks}\", directory = \"{where}\" }\nverification = \"none\"\n\
    metrics = [{ name = \"time\", value = \"wall\", unit = \"s\", better = \"lower\" }]\n\
    [[scenario]]\nname = \"over the network\"\ninstrument = \"time\"\nserver = \"line.toml\"\nserver_on = \"host\"\nverification = \"none\"\n\
    parameters = { command = \"bash -c 'read said </dev/tcp/@address@/@port@; [[ $said == {asks}* ]]'\" }\n\
    metrics = [{ name = \"time\", value = \"wall\", unit = \"s\", better = \"lower\" }]\n";

/// Whether guests can be made here; if not, the test says so and passes, but not under CI.
pub(crate) fn guests_can_be_made() -> bool {
    let programs = ["mmdebstrap", "qemu-img", "qemu-system-x86_64", "ssh-keygen", "mke2fs"];
    let missing = programs.into_iter().find(|program| {
        let found = Command::new("sh").args(["-c", "PATH=$PATH:/sbin; command -v \"$0\"", program]).output();
        !found.is_ok_and(|output| output.status.success())
    });
    let why = match missing {
        Some(program) => format!("{program} is missing"),
        None if !rustix::process::geteuid().is_root() => "only root makes images".into(),
        None => return true,
    };
    assert!(std::env::var_os("CI").is_none(), "under CI nothing may be skipped: {why}");
    eprintln!("skipped: {why}");
    false
}

fn write(stand: &Stand, name: &str, text: &str) -> String {
    let path = stand.path().join(name);
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Takes a guest down at last, also where the test fails.
struct Down<'a, F: Fn(&[&str]) -> Command>(F, &'a str);

impl<F: Fn(&[&str]) -> Command> Drop for Down<'_, F> {
    fn drop(&mut self) {
        let _ = self.0(&["rig", "down", "--name", self.1, "--quiet"]).output();
        let _ = self.0(&["clean"]).output();
    }
}

/// The processes of a guest, also of one that a stand-in of QEMU has started.
fn guests(name: &str) -> Vec<rustix::process::Pid> {
    let program = "qemu-system-x86_64";
    let of = |program: &str| running(&[program, "-name", &format!("stend-{name}")]);
    [of(program), of(&on_path(program))].concat()
}

/// What is left of a guest: its processes, directories and control groups.
fn left(stand: &Stand, name: &str) -> Vec<String> {
    let mut left: Vec<_> = guests(name).iter().map(|pid| format!("process {pid:?}")).collect();
    if stand.path().join("work/targets").join(name).exists() {
        left.push(format!("work/targets/{name}"));
    }
    let groups = Command::new("find").args(["/sys/fs/cgroup", "-name", &format!("stend-{name}-*")]).output().unwrap();
    left.extend(String::from_utf8_lossy(&groups.stdout).lines().map(str::to_owned));
    left
}

/// Speaks VNC with a guest by requests and events, up to a part of its screen.
fn a_browser_speaks_vnc(server: &Server, name: &str, of_node: &str) {
    let place = format!("/rigs/{name}/screen");
    // By HTTP 1.0: an answer of 1.1 comes in chunks, which end anywhere in a line.
    let mut stream = TcpStream::connect(&server.address).unwrap();
    let (address, cookie) = (&server.address, &server.cookie);
    write!(stream, "GET {place}/events{of_node} HTTP/1.0\r\nhost: {address}\r\ncookie: {cookie}\r\n\r\n").unwrap();
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    let mut event = || lines.find_map(|line| line.strip_prefix("data: ").map(str::to_owned)).unwrap();
    let viewer = format!("{place}/{}{of_node}", event());
    let say = |bytes: &[u8]| assert_eq!(server.send_bytes(&viewer, bytes).status, 204);
    let mut told = Vec::new();
    let mut hear = |count: usize| -> Vec<u8> {
        while told.len() < count {
            let part = event();
            told.extend(BASE64_STANDARD.decode(&part).unwrap_or_else(|error| panic!("{error}: {part}")));
        }
        told.drain(..count).collect()
    };
    assert_eq!(hear(12), b"RFB 003.008\n");
    say(b"RFB 003.008\n");
    assert_eq!(hear(2), [1, 1], "no password: who may watch has been asked before");
    say(&[1]);
    assert_eq!(hear(4), [0; 4]);
    say(&[1]);
    let begin = hear(24);
    assert!(begin[..4].iter().any(|byte| *byte > 0), "a width and a height: {begin:?}");
    hear(u32::from_be_bytes(begin[20..].try_into().unwrap()) as usize);
    say(&[3, 0, 0, 0, 0, 0, 0, 1, 0, 1]);
    let update = hear(4);
    assert!(update[0] == 0 && update[2..] != [0; 2], "an update of so many rectangles: {update:?}");
    assert_eq!(server.send_bytes(&format!("{place}/none{of_node}"), b"").status, 404);
    // Who has gone types no more.
    drop(lines);
    wait_until("the viewer has gone", || server.send_bytes(&viewer, b"").status == 404);
}

/// Does something with the files of a guest that is off, as `qemu-io` is told.
fn on_disks(guest: &Value, what: &str) {
    let screen = guest["guest"]["screen"].as_str().unwrap();
    for disk in ["system.qcow2", "disk0"] {
        let disk = Path::new(screen).with_file_name(disk);
        let said = Command::new("qemu-io").args(["-f", "qcow2", "-c", what]).arg(disk).output().unwrap();
        let said = String::from_utf8_lossy(&said.stdout);
        assert!(!said.contains("failed"), "{said}");
    }
}

/// By the server of the node `alpha`, from the node `beta`.
fn it_goes_to_another_node_and_back(alpha: &Server, of_alpha: &Stand, of_beta: &Stand, name: &str) {
    let on = |stand: &Stand| -> Vec<Value> { stand.json(&["rig", "status"])["rigs"].as_array().unwrap().clone() };
    let migrate = |from: &str, to: &str| {
        let form = ["content-type: application/x-www-form-urlencoded"];
        alpha.ask("POST", &format!("/rigs/{name}/migrations?node={from}"), &form, &format!("to={to}"))
    };
    let images = |stand: &Stand| fs::read_dir(stand.path().join("work/images")).unwrap().count();
    assert!(alpha.get("/rigs?node=beta").body.contains(&format!("/rigs/{name}/migrations?node=beta")));
    for nowhere in ["beta", "gamma", ""] {
        assert_eq!(migrate("beta", nowhere).status, 422, "{nowhere}");
    }
    // The other one cannot have it.
    let before = on(of_beta);
    of_alpha.fine(&["rig", "up", "--kind", "file", "--luns", "1", "--lun-size", "1MiB", "--name", name]);
    let refused = migrate("beta", "alpha");
    assert!(refused.status == 422 && refused.body.contains("exists already"), "{}", refused.body);
    assert_eq!(on(of_beta)[0]["guest"]["process"], before[0]["guest"]["process"]);
    of_alpha.fine(&["rig", "down", "--name", name]);
    let gone = migrate("beta", "alpha");
    assert_eq!((gone.status, gone.header("location")), (303, Some("/rigs?node=alpha")), "{}", gone.body);
    let there = on(of_alpha);
    assert_eq!((on(of_beta).len(), &there[0]["state"], &there[0]["vm"]), (0, &"up".into(), &before[0]["vm"]));
    assert_eq!(images(of_alpha), 1);
    let entries = alpha.get("/api/v1/journal").body;
    assert!(entries.contains("rig-migrated"), "{entries}");
    assert_eq!(migrate("alpha", "beta").status, 303);
    assert_eq!((on(of_alpha).len(), &on(of_beta)[0]["state"]), (0, &"up".into()));
    assert_eq!(images(of_beta), 1, "its image is there");
    assert!(on(of_beta)[0]["guest"].get("snapshots").is_none());

    // Who fetches it goes away when its image is there.
    let before = on(of_beta);
    let path = format!("{}:{}", of_beta.path().join("programs").display(), std::env::var("PATH").unwrap());
    let mut send = of_beta.command(&["rig", "send", "--name", name]);
    let mut sends = send.env("PATH", path).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut sent = BufReader::new(sends.stdout.take().unwrap());
    sent.read_line(&mut String::new()).unwrap();
    let mut archive = tar::Archive::new(sent);
    let names = archive.entries().unwrap().map(|entry| entry.unwrap().path().unwrap().into_owned());
    assert!(names.take(5).any(|name| name == Path::new("system.qcow2")));
    drop(archive);
    let ended = sends.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.code() == Some(4) && said.contains("cannot be sent"), "{said}");
    let after = on(of_beta);
    assert!(after[0]["state"] == "up" && after[0]["guest"]["process"] != before[0]["guest"]["process"], "{after:?}");
}

#[test]
fn a_guest_is_made_measured_and_taken_away_and_its_image_stays_as_it_was() {
    if !guests_can_be_made() {
        return;
    }
    let stand = Stand::new();
    let name = own_name("guest");
    write(&stand, "small.toml", IMAGE);
    let file = write(&stand, "guest.toml", GUEST);
    let up = ["rig", "up", &file, "--name", &name];
    let down_at_last = Down(|words: &[&str]| stand.command(words), &name);
    // A suite's own guest is measured in turns with its host, has what was asked for, and is gone then.
    let suite = write(&stand, "both.toml", SUITE);
    write(&stand, "line.toml", SERVER);
    let run = ["run", &suite, "--sessions", "1", "--even-if-unfit", "--no-progress"];
    let ended = stand.run(&run);
    assert_eq!(ended.status, Some(0), "{}\n{}", ended.out, ended.err);
    assert!(ended.out.contains("emulated by qemu-system"), "{}", ended.out);
    let listed = stand.json(&["list"])["runs"].clone();
    let address = listed[1]["host"].as_str().unwrap();
    assert!(listed[0]["host"] == "local" && address.starts_with("vm:20"), "{listed}");
    let shown = stand.json(&["show", listed[1]["id"].as_str().unwrap()])["run"].clone();
    assert_eq!((&shown["run"]["host"], &shown["repeats"][0]["outcome"]), (&address.into(), &"valid".into()));
    let software = &shown["run"]["machine"]["software"];
    assert!(software["virtualization"].as_str().is_some_and(|said| said.contains("QEMU")), "{software}");
    let said = |name: &str| software["guest"][name].as_str().unwrap_or_default();
    assert_eq!((said("accelerator"), said("network")), ("tcg", "tap"), "{software}");
    for repeat in shown["repeats"].as_array().unwrap() {
        assert_eq!(repeat["outcome"], "valid", "{repeat}");
        assert!(repeat["report"]["observed"]["host_foreign_cpu_share"].is_f64(), "{repeat}");
    }
    assert_eq!(said("disk1"), "4MiB qcow2 virtio-scsi cache=none iothread", "{software}");
    assert!(said("image").starts_with("small-") && !said("host.processor").is_empty(), "{software}");
    let screen = shown["sessions"][0]["screen"].as_str().unwrap();
    let report = stand.fine(&["report", listed[1]["id"].as_str().unwrap()]).out;
    assert!(screen.starts_with("iVBOR") && fs::read_to_string(report.trim()).unwrap().contains(screen), "{report}");
    let rigs = || stand.json(&["rig", "status"])["rigs"].clone();
    assert_eq!(rigs(), serde_json::json!([]));
    assert_eq!(left(&stand, address.trim_start_matches("vm:")), [""; 0]);

    // One that stays; that it boots need not be seen again, and takes the processor from other tests.
    let at_once = "until [ -S qmp.sock ]; do sleep 0.1; done; exit 0";
    let paused = "set -- \"$@\" -S";
    path_with(&stand, "qemu-system-x86_64", paused);
    let path = path_with(&stand, "ssh", at_once);
    let made = stand.command(&[&up[..], &["--json"]].concat()).env("PATH", path).output().unwrap();
    for program in ["ssh", "qemu-system-x86_64"] {
        fs::remove_file(stand.path().join("programs").join(program)).unwrap();
    }
    let made = serde_json::from_slice::<Value>(&made.stdout).unwrap()["rigs"][0].clone();
    let address = format!("vm:{name}");
    assert_eq!((&made["state"], &made["guest"]["address"]), (&"up".into(), &address.as_str().into()), "{made}");
    assert!(made["guest"]["process"].is_u64(), "{made}");
    let picture = stand.path().join("screen.png");
    stand.fine(&["rig", "screen", picture.to_str().unwrap(), "--name", &name]);
    assert!(fs::read(&picture).unwrap().starts_with(b"\x89PNG"));
    let mut greeting = [0; 4];
    UnixStream::connect(made["guest"]["screen"].as_str().unwrap()).unwrap().read_exact(&mut greeting).unwrap();
    assert_eq!(&greeting, b"RFB ", "a viewer of VNC finds its server");
    let server = Server::new(&stand);
    let screen = format!("/rigs/{name}/screen.png");
    let page = server.get("/rigs").body;
    assert!(page.contains(&screen) && page.contains(&address), "{page}");
    let mut answer = Vec::new();
    server.send("GET", &screen, &[], "").read_to_end(&mut answer).unwrap();
    let head = String::from_utf8_lossy(&answer);
    assert!(head.starts_with("HTTP/1.1 200") && head.contains("image/png"), "{head}");
    assert!(answer.windows(5).any(|part| part == b"\x89PNG\r"));
    assert_eq!(server.get("/rigs/none/screen.png").status, 422);
    assert!(server.get(&format!("/rigs/{name}/screen")).body.contains(&name));
    assert_eq!(server.get("/rigs/none/screen").status, 404);
    a_browser_speaks_vnc(&server, &name, "");
    if let Some(etcd) = Etcd::start() {
        let (asked, that_has_it) = (Stand::new(), Stand::new());
        let path = path_with(&stand, "ssh", at_once);
        let node = |stand, name: &str, work: &Path| {
            let stand: &Stand = stand;
            join_quickly(&stand.store(), &etcd, name);
            let mut serve = stand.command(&["serve", "--listen", "127.0.0.1:0"]);
            Server::of_command(stand, serve.env("STEND_WORK", work).env("PATH", &path))
        };
        let alpha = node(&asked, "alpha", &asked.path().join("work")).signed_in();
        let beta = node(&that_has_it, "beta", &stand.path().join("work"));
        wait_until("alpha has heard of beta", || alpha.get("/rigs?node=beta").body.contains(&address));
        a_browser_speaks_vnc(&alpha, &name, "?node=beta");
        it_goes_to_another_node_and_back(&alpha, &asked, &stand, &name);
        fs::remove_file(stand.path().join("programs/ssh")).unwrap();
        drop(beta);
    }
    // Shut down and started, it is on the disk that it had.
    let status = || rigs()[0].clone();
    let console = || Path::new(status()["guest"]["screen"].as_str().unwrap()).with_file_name("console.log");
    if status()["state"] == "off" {
        let said = fs::read_to_string(console()).unwrap();
        let last: Vec<_> = said.lines().rev().take(10).collect();
        panic!("it has ended by itself: {last:#?}");
    }
    let before = status()["guest"]["process"].clone();
    says(&stand.run(&["rig", "start", "--name", &name]), 2, &["runs already"]);
    // Kept with its memory, it goes back to it.
    let act = |words: &[&str]| stand.run(&[&["rig"], words, &["--name", &name]].concat());
    let at_once = |words: &[&str]| {
        // Of a QEMU that was killed: the next one has not begun because it is there.
        let _ = fs::remove_file(console().with_file_name("qmp.sock"));
        let path = path_with(&stand, "ssh", at_once);
        let ended =
            crate::common::ended(stand.command(&[&["rig"], words, &["--name", &name]].concat()).env("PATH", path));
        fs::remove_file(stand.path().join("programs/ssh")).unwrap();
        ended
    };
    let snapshots = || {
        let all = status()["guest"]["snapshots"].as_array().cloned().unwrap_or_default();
        let one = |one: Value| (one["name"].as_str().unwrap().to_owned(), one["memory_bytes"].as_u64() > Some(0));
        all.into_iter().map(one).collect::<Vec<_>>()
    };
    let form = ["content-type: application/x-www-form-urlencoded"];
    let (running, off) = (("running".to_owned(), true), ("off".to_owned(), false));
    let taken = server.ask("POST", &format!("/rigs/{name}/snapshots"), &form, "name=running");
    assert_eq!((taken.status, snapshots()), (303, vec![running.clone()]), "{}", taken.body);
    says(&act(&["snapshot", "running"]), 2, &["already", "--remove"]);
    says(&act(&["snapshot", "7"]), 2, &["begins with a letter"]);
    says(&act(&["revert", "none"]), 2, &["no snapshot \"none\"", "running"]);
    says(&act(&["clone", "other"]), 2, &["runs, and", "rig stop --name"]);
    says(&act(&["revert", "running"]), 0, &[]);
    assert_eq!(status()["guest"]["process"], before);
    let stopped = server.ask("POST", &format!("/rigs/{name}/stop"), &[], "");
    assert_eq!(stopped.status, 303, "{}", stopped.body);
    assert_eq!((&status()["state"], guests(&name).len()), (&"off".into(), 0));
    says(&stand.run(&["rig", "stop", "--name", &name]), 2, &["is off", "rig start --name"]);
    says(&stand.run(&["probe", "--on", &address]), 2, &["is off", "rig start --name"]);
    let page = server.get("/rigs").body;
    assert!(page.contains(&format!("/rigs/{name}/start")) && page.contains(&format!("/rigs/{name}/clones")), "{page}");
    // A clone has what the original has, and what is written after a snapshot is gone with it.
    // What an interrupted snapshot left on one of the disks is not taken for it.
    let disk = Path::new(status()["guest"]["screen"].as_str().unwrap()).with_file_name("disk0");
    assert!(Command::new("qemu-img").args(["snapshot", "-c", "off"]).arg(&disk).status().unwrap().success());
    on_disks(&status(), "write -P 7 1M 64k");
    assert_eq!(snapshots(), std::slice::from_ref(&running));
    says(&act(&["snapshot", "off"]), 0, &[]);
    assert_eq!(snapshots(), [running, off]);
    on_disks(&status(), "write -P 8 1M 64k");
    let reverted = server.ask("POST", &format!("/rigs/{name}/snapshots/off/revert"), &[], "");
    assert_eq!(reverted.status, 303, "{}", reverted.body);
    on_disks(&status(), "read -P 7 1M 64k");
    let clone = own_name("clone");
    let clone_down_at_last = Down(|words: &[&str]| stand.command(words), &clone);
    says(&act(&["clone", &name]), 2, &["exists already"]);
    says(&at_once(&["clone", &clone]), 0, &[&clone]);
    let of = |name: &str| rigs().as_array().unwrap().iter().find(|rig| rig["name"] == name).cloned().unwrap();
    let kill = |name: &str| {
        guests(name).into_iter().for_each(|pid| rustix::process::kill_process(pid, Signal::KILL).unwrap());
        wait_until("it is off", || of(name)["state"] == "off");
    };
    kill(&clone);
    let of_clone = of(&clone);
    on_disks(&of_clone, "read -P 7 1M 64k");
    assert!(of_clone["guest"].get("snapshots").is_none(), "{}", of_clone);
    drop(clone_down_at_last);
    assert_eq!(left(&stand, &clone), [""; 0]);
    says(&act(&["snapshot", "--remove", "off"]), 0, &[]);
    says(&at_once(&["start"]), 0, &[]);
    let after = status();
    assert!(after["state"] == "up" && after["guest"]["process"] != before, "{after}");
    // With its memory it does not boot.
    kill(&name);
    says(&at_once(&["revert", "running"]), 0, &[]);
    assert_eq!(status()["state"], "up");
    assert!(!fs::read_to_string(console()).unwrap().contains("Linux version"));
    let removed = server.ask("POST", &format!("/rigs/{name}/snapshots/running/remove"), &[], "");
    assert_eq!((removed.status, snapshots()), (303, vec![]), "{}", removed.body);
    drop(server);
    says(&stand.run(&up), 2, &["exists already", "rig down --name"]);
    says(&stand.run(&["clean"]), 0, &[&format!("rig {name} is still set up")]);
    stand.fine(&["rig", "down", "--name", &name]);
    assert_eq!(left(&stand, &name), [""; 0]);
    for words in [&["probe", "--on", &address][..], &["rig", "screen", "none.png", "--name", &name]] {
        says(&stand.run(words), 2, &["no virtual machine of the name"]);
    }

    // The next one finds the image, and is killed while it boots.
    let images = || fs::read_dir(stand.path().join("work/images")).map(|all| all.flatten().collect::<Vec<_>>());
    let image = images().unwrap()[0].path();
    let made_at = fs::metadata(image.join("disk.qcow2")).unwrap().modified().unwrap();
    let path = path_with(&stand, "qemu-system-x86_64", paused);
    let mut booting = stand.command(&run).env("PATH", path).spawn().unwrap();
    let killed_name = || rigs()[0]["name"].as_str().map(str::to_owned);
    wait_until("the guest boots", || killed_name().is_some_and(|name| !guests(&name).is_empty()));
    booting.kill().unwrap();
    booting.wait().unwrap();
    let killed_name = killed_name().unwrap();
    assert_eq!(fs::metadata(image.join("disk.qcow2")).unwrap().modified().unwrap(), made_at);

    // One that ends at once.
    let path = path_with(&stand, "qemu-system-x86_64", "echo 'no machine today' >&2; exit 1");
    let ended = crate::common::ended(stand.command(&up).env("PATH", path));
    says(&ended, 4, &["it ended at once", "no machine today"]);
    // Nor does one that prints without end fill the disk.
    let panic = "printf '\\n[ 1.2] Kernel panic - not syncing: no root\\nRebooting\\n'";
    let gives_up = "head -c 40000000 /dev/zero >&3; [ \"$(wc -c <console.log)\" -le 16777216 ] && PANIC >&3; exit 0";
    let gives_up = gives_up.replace("PANIC", panic);
    let path = path_with(&stand, "qemu-system-x86_64", &gives_up);
    let ended = crate::common::ended(stand.command(&up).env("PATH", path));
    says(&ended, 4, &["it ended at once", "Kernel panic - not syncing: no root"]);
    assert_eq!(left(&stand, &name), [""; 0]);

    // One that never boots is given up by the clock, which goes on by a minute whenever it is looked at. It gets longer to answer each time.
    let path = path_with(&stand, "qemu-system-x86_64", paused);
    let clock = "[ \"$3\" != /proc/uptime ] || { echo m >>minutes; echo $(($(wc -l <minutes) * 60)); exit; }";
    path_with(&stand, "cut", &clock.replace("minutes", stand.path().join("minutes").to_str().unwrap()));
    let looks = stand.path().join("looks");
    path_with(&stand, "ssh", &format!("echo \"$*\" >>{}; exit 255", looks.display()));
    let ended = crate::common::ended(stand.command(&up).env("PATH", path));
    says(&ended, 4, &["it is not ready", "it has said nothing"]);
    let looks = fs::read_to_string(looks).unwrap();
    let longest = |look: &str| look.split("ConnectTimeout=").nth(1)?.split(' ').next()?.parse::<u32>().ok();
    let longest: Vec<_> = looks.lines().map(|look| longest(look).expect(&looks)).collect();
    assert!(longest.len() > 1 && longest[0] >= 10 && longest.is_sorted_by(|one, next| one < next), "{looks}");
    assert_eq!(left(&stand, &name), [""; 0]);

    // A template that somebody changed is used no more.
    Command::new("chmod").arg("u+w").arg(image.join("kernel")).status().unwrap();
    fs::write(image.join("kernel"), "another one").unwrap();
    says(&stand.run(&up), 4, &["kernel is not what it was when the image was made"]);
    Command::new("rm").arg("-f").arg(image.join("sha256")).status().unwrap();
    says(&stand.run(&up), 4, &["sha256 is not what it was when the image was made"]);
    drop(down_at_last);
    stand.fine(&["clean"]);
    assert!(!stand.path().join("work/targets").exists());
    assert!(images().is_err(), "and clean removes it");
    assert_eq!(left(&stand, &killed_name), [""; 0]);
}

/// The same for a user to whom `/etc/subuid` gives other numbers.
fn with_other_numbers(stand: &Stand, user: &Command) -> Command {
    let numbers = write(stand, "subuid", "nobody:100000:65536\n");
    let mounts = "mount --bind \"$0\" /etc/subuid && mount --bind \"$0\" /etc/subgid && exec \"$@\"";
    let mut command = Command::new("unshare");
    command.args(["--mount", "sh", "-c", mounts, &numbers]).arg(user.get_program()).args(user.get_args());
    command.envs(user.get_envs().filter_map(|(name, value)| Some((name, value?)))).current_dir(stand.path());
    command
}

#[test]
fn a_user_who_is_not_root_makes_an_image_and_measures_in_a_guest_on_it() {
    let stand = Stand::new();
    if std::env::var_os("EVERY_OPERATION").is_none() || !guests_can_be_made() {
        return;
    }
    let name = own_name("own");
    write(&stand, "small.toml", IMAGE);
    let file = write(&stand, "guest.toml", GUEST);
    let command = |words: &[&str]| Some(with_other_numbers(&stand, &stand.command_of_nobody(words)?));
    let up = ["rig", "up", &file, "--name", &name];
    let Some(mut making) = command(&up) else { return };
    let command = |words: &[&str]| command(words).unwrap();
    let run = |words: &[&str]| crate::common::ended(&mut command(words));
    let _down_at_last = Down(command, &name);
    let work = stand.path().join("nobody");
    // Killed while the packages are unpacked, which are files of other numbers.
    let mut makes = making.spawn().unwrap();
    let unpacked = format!("find '{}' -path '*/mmdebstrap.*/var/lib/dpkg/status' -size +0", work.display());
    let is_unpacked =
        || !Command::new("sh").args(["-c", &unpacked]).output().is_ok_and(|output| output.stdout.is_empty());
    wait_until("packages are unpacked", || is_unpacked() || makes.try_wait().unwrap().is_some());
    makes.kill().unwrap();
    assert!(!makes.wait().unwrap().success());
    says(&run(&["clean"]), 0, &[]);
    assert!(!work.join("targets").exists() && !work.join("images").exists());
    says(&run(&up), 0, &[]);
    let suite = "name = \"one\"\ntitle = \"One\"\nrepeats = 1\nwarmup = 0\ntimeout = \"6h\"\n[[scenario]]\nname = \"s\"\ninstrument = \"time\"\n\
        parameters = { command = \"sh -c 'test $(id -u) -eq 0'\" }\nverification = \"none\"\n\
        metrics = [{ name = \"time\", value = \"wall\", unit = \"s\", better = \"lower\" }]\n";
    let suite = write(&stand, "one.toml", suite);
    let store = stand.path().join("store-of-nobody");
    let measure = ["run", &suite, "--on", &format!("vm:{name}"), "--even-if-unfit", "--no-progress"];
    let ended = crate::common::ended(command(&measure).env("STEND_STORE", store));
    assert_eq!(ended.status, Some(0), "{}\n{}", ended.out, ended.err);
    says(&run(&["rig", "down", "--name", &name]), 0, &[]);
    says(&run(&["clean"]), 0, &[]);
    assert!(!work.join("targets").exists() && guests(&name).is_empty());
}

#[test]
fn what_a_guest_cannot_have_is_said_in_one_line_before_anything_is_made() {
    let stand = Stand::new();
    let refused = |arguments: &[&str], status: i32, parts: &[&str]| {
        let ended = stand.run(&[&["rig", "up"], arguments].concat());
        says(&ended, status, parts);
        assert_eq!(ended.err.trim_end().lines().count(), 1, "one line: {}", ended.err);
        assert!(!stand.path().join("work/targets").exists());
    };
    let mut receive = stand.command(&["rig", "receive"]);
    let mut receives = receive.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    receives.stdin.take().unwrap().write_all(b"{\"stend_guest\": 1}\n").unwrap();
    let ended = receives.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.code() == Some(4) && said.contains("cannot be received"), "{said}");
    refused(&["--image", "debian-21"], 2, &["there is no image \"debian-21\"", "debian-12"]);
    refused(&["--cpus", "0"], 2, &["--cpus: it is 0"]);
    refused(&["--memory", "1MiB"], 2, &["--memory: 1MiB is less than 256MiB"]);
    refused(&["--cpus", "1", "--luns", "2"], 2, &["--luns is for storage"]);
    refused(&["--disk", "bus=virtio-blk"], 2, &["either a size", "or is from a LUN"]);
    write(&stand, "bad.toml", "kind = \"vm\"\nimage = \"i.toml\"\ncpu = 1\n");
    refused(&["bad.toml"], 2, &["bad.toml:3:1: unknown field `cpu`"]);
    write(&stand, "storage.toml", "luns = 2\n");
    refused(&["storage.toml", "--cpus", "1"], 2, &["--cpus is for a virtual machine"]);
    write(&stand, "vm.toml", "kind = \"vm\"\nimage = \"i.toml\"\n");
    refused(&["vm.toml"], 2, &["i.toml cannot be read"]);
    write(&stand, "i.toml", &IMAGE.replace("1GiB", "1TiB"));
    if !guests_can_be_made() {
        return;
    }
    refused(&["vm.toml"], 4, &["MiB free", "make it smaller"]);
    write(&stand, "i.toml", IMAGE);
    if let Some(mut of_nobody) = stand.command_of_nobody(&["rig", "up", "vm.toml"]) {
        says(&crate::common::ended(&mut of_nobody), 4, &["takes root", "uidmap"]);
    }
    refused(&["vm.toml", "--memory", "100TiB"], 4, &["of memory", "make it smaller"]);
    refused(&["vm.toml", "--disk", "from=pool/lun0"], 2, &["no target of the name \"pool\" stands"]);
    let lacks_kvm = "for word; do [ \"$word\" != kvm ] || { echo 'no KVM for guests' >&2; exit 1; }; done";
    let path = path_with(&stand, "qemu-system-x86_64", lacks_kvm);
    let vm = stand.path().join("vm.toml");
    let up = ["rig", "up", vm.to_str().unwrap(), "--accelerator", "kvm"];
    let ended = crate::common::ended(stand.command(&up).env("PATH", path));
    says(&ended, 4, &["KVM runs no guest here", "tcg"]);
    let lists: Value = stand.json(&["rig", "status"]);
    assert_eq!(lists["rigs"], serde_json::json!([]));
}
