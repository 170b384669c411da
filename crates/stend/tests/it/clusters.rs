//! The suite `virtual`: two nodes with the real libvirt, a guest with the real PostgreSQL, and what is done to both.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::common::pools::{says, words};
use crate::common::{Ended, NO_LIMITS, Stand, ended, no_gates, wait_until};
use crate::guests::guests_can_be_made;
use crate::servers::nothing_is_left;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap()
}

fn changed(text: String, old: &str, new: &str) -> String {
    assert!(text.contains(old), "{old}");
    text.replace(old, new)
}

/// The suite as somebody's own, on an image with no more than it takes here. Gives its path.
fn own_suite(stand: &Stand) -> String {
    let image = changed(
        read("images/debian-12-databases.toml"),
        "    \"fio\", \"postgresql\", \"mariadb-server\",\n",
        "    \"postgresql\",\n",
    );
    let image = changed(image, "disable = [\"mariadb.service\"]\n", "");
    let server = changed(read("servers/libvirt.toml"), "image = \"debian-12-databases\"", "image = \"small.toml\"");
    // Higher than those of guests, as a random address may be.
    let of_veth = "peer name eth0 netns";
    let server = changed(server, of_veth, "peer name eth0 address fe:ff:ff:ff:ff:0$number netns");
    let suite = changed(read("suites/virtual.toml"), "cluster = \"libvirt\"", "cluster = \"libvirt.toml\"");
    let gates = suite.lines().find(|line| line.starts_with("gates = ")).unwrap().to_owned();
    let suite = changed(suite, "timeout = \"15min\"", "timeout = \"6h\"");
    let suite = format!("{}\n{}", changed(suite, &gates, ""), no_gates());
    for (name, text) in [("small.toml", image), ("libvirt.toml", server), ("own.toml", suite)] {
        fs::write(stand.path().join(name), text).unwrap();
    }
    fs::create_dir(stand.path().join("virtual")).unwrap();
    for file in fs::read_dir(root().join("suites/virtual")).unwrap().flatten().filter(|file| file.path().is_file()) {
        fs::copy(file.path(), stand.path().join("virtual").join(file.file_name())).unwrap();
    }
    // The repeat's own limit is the only one.
    let nodes = changed(read("suites/virtual/nodes.py"), "LONGEST = 600\n", "LONGEST = 36000\n");
    fs::write(stand.path().join("virtual/nodes.py"), nodes).unwrap();
    stand.path().join("own.toml").to_str().unwrap().to_owned()
}

/// Whether all that this takes is here; if not, the test says so and passes, but not under CI.
fn clusters_can_be_made() -> bool {
    guests_can_be_made() && ["libvirtd", "virsh", "psql", "python3"].into_iter().all(stend_testing::have)
}

/// The commands that run and name something in this directory.
fn commands_below(directory: &Path) -> Vec<String> {
    let pids =
        fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let commands = pids.filter_map(|pid| fs::read_to_string(format!("/proc/{pid}/cmdline")).ok());
    commands.filter(|command| command.contains(directory.to_str().unwrap())).collect()
}

/// What is left outside of the nodes that were made there.
fn left_of_nodes(stand: &Stand) -> Vec<String> {
    let said = |program: &str, arguments: &[&str]| {
        let output = Command::new(program).args(arguments).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let work = stand.path().join("work");
    let mut left = commands_below(&work);
    let of_nodes = |line: &&str| line.contains("node-a") || line.contains("node-b");
    left.extend(said("ip", &["-brief", "link"]).lines().filter(of_nodes).map(str::to_owned));
    left.extend(said("ip", &["netns"]).lines().filter(of_nodes).map(str::to_owned));
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
    left.extend(mounts.lines().filter(|line| line.contains(work.to_str().unwrap())).map(str::to_owned));
    left
}

#[test]
fn a_loaded_guest_is_migrated_and_outlives_its_node_and_no_row_is_lost() {
    if !clusters_can_be_made() {
        return;
    }
    let stand = Stand::new();
    let suite = own_suite(&stand);
    let definitions = || fs::read_dir("/etc/libvirt/qemu").map(|all| all.flatten().count()).unwrap_or_default();
    let of_user = definitions();
    let run = ["run", &suite, "-r", "1", "--set", "settle=2s", "--even-if-unfit", "--no-progress", "--only"];
    let ended_run = stand.fine(&[&run[..], &["migration, shared", "--only", "cut off"]].concat());
    let shown = stand.json(&["show", "last"])["run"].clone();
    // The emulator may lose what a guest writes to its memory while it is migrated, when QEMU's threads wait for a processor. Its kernel hangs or
    // gives up then, and the repeat is made once more. No other one fails.
    let is_over = |said: &str| said.contains("Kernel panic") || said.contains("soft lockup");
    let is_of_emulator = |repeat: &&Value| repeat["outcome"] != "valid" && is_over(&repeat.to_string());
    let repeats: Vec<_> = shown["repeats"].as_array().unwrap().iter().filter(|it| !is_of_emulator(it)).collect();
    for repeat in &repeats {
        assert_eq!(repeat["outcome"], "valid", "{}\n{}\n{}", repeat["error_output"], repeat["outcome"], ended_run.err);
    }
    assert_eq!(repeats.len(), 2, "{shown:#}");
    let report = fs::read_to_string(stand.fine(&["report", "last"]).out.trim()).unwrap();
    for repeat in &repeats {
        let observed = &repeat["report"]["observed"];
        assert_eq!(observed["lost_rows"], 0.0, "{observed}");
        assert!(repeat["report"]["work"]["operations"].as_f64().unwrap() > 10.0, "{repeat:#}");
        assert!(observed["downtime_ns"].as_f64().unwrap() > 0.0, "{observed}");
        assert!(!repeat["begin"]["build"]["libvirt"].as_str().unwrap().is_empty());
        let screens = repeat["report"]["screens"].as_object().unwrap();
        let (of, picture) = screens.iter().next().unwrap();
        let picture = picture.as_str().unwrap();
        assert!(screens.len() == 1 && of.contains(", VNC 10.99.0.") && picture.starts_with("iVBOR"), "{screens:?}");
        assert!(report.contains(of), "{of}");
    }
    let kinds = |repeat: &Value| -> Vec<String> {
        let marks = repeat["marks"].as_array().unwrap().iter();
        marks.map(|mark| mark["kind"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(kinds(repeats[0]), ["operation", "recovery", "operation", "recovery"]);
    assert_eq!(kinds(repeats[1])[0], "fault");
    let observed = &repeats[1]["report"]["observed"];
    // Before the node is off, and after it came back.
    assert_eq!((&observed["second_starts_refused"], &observed["second_starts"]), (&2.0.into(), &0.0.into()));
    assert_eq!(observed["dip_share"], 1.0, "while it was cut off nothing was acknowledged: {observed}");
    nothing_is_left(&stand);
    assert_eq!(left_of_nodes(&stand), [""; 0]);
    assert_eq!(definitions(), of_user);

    // Killed while the guest boots.
    let mut killed = stand.command(&[&run[..], &["migration, shared"]].concat()).spawn().unwrap();
    let work = stand.path().join("work");
    wait_until("the guest boots", || commands_below(&work).iter().any(|command| command.contains("guest=db-shared")));
    killed.kill().unwrap();
    killed.wait().unwrap();
    // The image that another guest would lie on is another one now.
    let image = fs::read_dir(work.join("images")).unwrap().flatten().next().unwrap().path();
    fs::remove_file(image.join("kernel")).unwrap();
    fs::write(image.join("kernel"), "another one").unwrap();
    let refused = stand.run(&[&run[..], &["migration, shared"]].concat());
    says(&refused, 4, &["kernel is not what it was when the image was made"]);
    stand.fine(&["clean"]);
    assert_eq!(left_of_nodes(&stand), [""; 0]);
    assert!(!work.exists());
}

/// Three machines, each a network: this one, and `m1` and `m2`, which ssh reaches. `m3` is `m2`, and does not see this one's files; nothing listens
/// at `m4`. Runs the words to their end, or kills what they start when a guest boots and cleans up. Then all is on the machines as it was before;
/// control groups are one machine's, where others may make theirs, so of those only the ones that nodes got names for.
const MACHINES: &str = r#"
set -e
PATH=$PATH:/usr/sbin:/sbin
here=$1 how=$2
shift 2
mount -t tmpfs none /run
mkdir -p /run/sshd /run/home /run/bin "$here/work" "$here/of-nodes"
mount --bind "$here/of-nodes" /var/tmp
printf '#!/bin/sh\nmade=$(/usr/bin/mktemp "$@") && echo "$made" >>/run/made && echo "$made"\n' >/run/bin/mktemp
for key in host user; do ssh-keygen -q -t ed25519 -N '' -f "/run/$key"; done
ip link set lo up
ip link add under type bridge
ip address add 10.98.0.254/24 dev under
ip link set under up
for number in 1 2; do
    ip netns add m$number
    ip link add m$number type veth peer name eth0 netns m$number
    ip link set m$number master under up
    ip -n m$number address add 10.98.0.$number/24 dev eth0
    ip -n m$number link set eth0 up
done
listens() { # NUMBER NETWORK PORT
    printf 'Port %s\nListenAddress 10.98.0.%s\nHostKey /run/host\nAuthorizedKeysFile /run/user.pub\nStrictModes no\nUsePAM no\nPidFile none\nPermitRootLogin yes\nSetEnv HOME=/run/home PATH=/run/bin:/usr/sbin:/usr/bin:/sbin:/bin\n' "$3" "$2" >/run/m$1
    printf 'Host m%s\n HostName 10.98.0.%s\n Port %s\n User root\n IdentityFile /run/user\n UserKnownHostsFile /run/known\n HostKeyAlias m\n' "$1" "$2" "$3" >>/run/config
    nsenter --net=/run/netns/m$2 unshare --mount sh -c "$4 exec /usr/sbin/sshd -D -e -f /run/m$1" 2>/run/m$1.log &
    until grep -q 'Server listening' /run/m$1.log; do kill -s 0 $!; sleep 0.1; done
}
echo "m $(cat /run/host.pub)" >/run/known
listens 1 1 22 ''
listens 2 2 22 ''
listens 3 2 23 "mount -t tmpfs none '$here/work';"
printf 'Host m4\n HostName 10.98.0.254\n' >>/run/config
printf '#!/bin/sh\nexec /usr/bin/ssh -F /run/config "$@"\n' >/run/bin/ssh
chmod +x /run/bin/*
PATH=/run/bin:$PATH
state() {
    all=$(ps -e -o args=)
    echo "$all" | grep -v -e sshd -e '^ps ' -e machines || :
    ls "$here/of-nodes"
    for number in 1 2; do ip -n m$number -brief link; done
    while read -r made; do find /sys/fs/cgroup -maxdepth 2 -name "${made##*/}"; done <>/run/made
    sort /proc/self/mounts
}
before=$(state)
status=0
if [ "$how" = run ]; then
    "$@" || status=$?
    [ "$status" -ne 0 ] || [ -s /run/made ]
else
    "$@" &
    until pgrep -f guest=db-shared >/dev/null; do kill -s 0 $!; sleep 0.1; done
    kill -s KILL $!
    "$1" clean
fi
tries=0
until after=$(state) && [ "$before" = "$after" ]; do
    tries=$((tries + 1))
    if [ $tries -ge 600 ]; then
        echo "$before" >before
        echo "$after" | diff before - >&2
    fi
    sleep 0.1
done
exit $status
"#;

fn on_machines(stand: &Stand, how: &str, arguments: &[&str]) -> Ended {
    let run = stand.command(arguments);
    let mut command = Command::new("unshare");
    command.args(["--net", "--mount", "--pid", "--fork", "--kill-child=KILL", "--mount-proc"]);
    command.args(["sh", "-c", MACHINES, "machines"]).arg(stand.path()).arg(how);
    command.arg(run.get_program()).args(run.get_args()).current_dir(stand.path());
    command.envs(run.get_envs().filter_map(|(name, value)| Some((name, value?))));
    ended(&mut command)
}

/// Whether nodes can be on machines that ssh reaches, beside what a cluster takes.
fn machines_can_be_made() -> bool {
    clusters_can_be_made()
        && ["unshare", "sshd", "ssh-keygen", "ip", "bridge", "pgrep"].into_iter().all(stend_testing::have)
}

/// Without guests: what is done to the nodes themselves.
#[test]
fn nodes_may_be_on_machines_that_ssh_reaches() {
    if !machines_can_be_made() {
        return;
    }
    let stand = Stand::new();
    let server = changed(read("servers/libvirt.toml"), "image = \"debian-12-databases\"\n", "");
    fs::write(stand.path().join("nodes.toml"), changed(server, "@accelerator@", "tcg")).unwrap();
    let script = r#"
set -ex
directory=$1
does() { sh "$directory/nodes.sh" "$@"; }
answers() { timeout 60 virsh --connect qemu+tcp://$1/system list >/dev/null; }
[ "$(does run node-b sh -c 'echo "$(hostname) it'\''s  here"')" = "node-b it's  here" ]
does run node-a touch /var/lib/libvirt/kept
does cut node-a
does run node-a ip link show eth0 | grep NO-CARRIER
answers node-b
does power-off node-a
if does run node-a true; then exit 1; fi
does join node-a
does power-on node-a
until answers node-a; do sleep 0.1; done
does run node-a rm /var/lib/libvirt/kept
"#;
    fs::write(stand.path().join("nodes.sh"), script).unwrap();
    let suite = format!(
        "name = \"nodes\"\ntitle = \"Nodes\"\nrepeats = 1\nwarmup = 0\n{NO_LIMITS}\
         [[scenario]]\nname = \"s\"\ninstrument = \"time\"\nserver = \"nodes.toml\"\nverification = \"none\"\n\
         parameters = {{ command = \"sh @directory@/enter.sh sh {}/nodes.sh @directory@\" }}\n\
         metrics = [{{ name = \"time\", value = \"wall\", unit = \"s\", better = \"lower\" }}]\n",
        stand.path().display()
    );
    fs::write(stand.path().join("nodes-suite.toml"), suite).unwrap();
    let run =
        |setting: &str| on_machines(&stand, "run", &["run", "nodes-suite.toml", "--no-progress", "--set", setting]);
    let ended = run("rig.nodes=m1 m2");
    assert_eq!(ended.status, Some(0), "{}\n{}", ended.out, ended.err);
    nothing_is_left(&stand);
    let shown = stand.json(&["show", "last"])["run"].clone();
    assert_eq!(shown["run"]["suite"]["servers"]["nodes.toml"]["settings"]["nodes"], "m1 m2");
    for (nodes, said) in [
        ("m1", "rig.nodes: there are two machines needed, and 1 named"),
        ("m1 m4", "rig.nodes: m4: ssh: connect to host 10.98.0.254 port 22: Connection refused"),
        ("m1 m3", "rig.nodes: m3: it does not see"),
        ("m2 m2", "rig.nodes: m2 is 10.98.0.2, as another one of the three machines"),
    ] {
        says(&run(&format!("rig.nodes={nodes}")), 3, &[said]);
    }
    let refused = |setting: &str, said: &str| {
        stand.refused(&["run", "nodes-suite.toml", "--set", setting], &[said]);
    };
    refused("rig.node=m1", "--set rig.node: no server of the suite has a setting \"node\"; there are: rig.nodes.nodes");
    refused("rig.nodes=@port@", "--set rig.nodes: @port@ stands for nothing");
}

/// Long: `make test-all`.
#[test]
fn a_guest_goes_from_machine_to_machine_and_outlives_one() {
    if std::env::var_os("EVERY_OPERATION").is_none() || !machines_can_be_made() {
        return;
    }
    let stand = Stand::new();
    let suite = own_suite(&stand);
    let of = |nodes: &str, only: &[&str]| {
        let nodes = format!("rig.nodes={nodes}");
        let first =
            ["run", &suite, "-r", "1", "--set", "settle=2s", "--set", &nodes, "--even-if-unfit", "--no-progress"];
        first.iter().chain(only).map(|word| (*word).to_owned()).collect::<Vec<_>>()
    };
    // The image is made where packages can be had.
    says(
        &stand.run(&words(&of("m1", &["--only", "migration, shared"]))),
        3,
        &["there are two machines needed, and 1 named"],
    );
    let all = of("m1 m2", &["--only", "migration, shared", "--only", "copied", "--only", "cut off"]);
    let ended_run = on_machines(&stand, "run", &words(&all));
    assert_eq!(ended_run.status, Some(0), "{}\n{}", ended_run.out, ended_run.err);
    let shown = stand.json(&["show", "last"])["run"].clone();
    let repeats = shown["repeats"].as_array().unwrap();
    assert_eq!(repeats.len(), 3, "{shown:#}");
    for repeat in repeats {
        assert_eq!(repeat["outcome"], "valid", "{}\n{}", repeat["error_output"], ended_run.err);
        assert_eq!(repeat["report"]["observed"]["lost_rows"], 0.0, "{repeat:#}");
    }
    assert_eq!(repeats[2]["report"]["observed"]["second_starts_refused"], 2.0);
    nothing_is_left(&stand);
    let killed = on_machines(&stand, "kill", &words(&of("m1 m2", &["--only", "migration, shared"])));
    assert_eq!(killed.status, Some(0), "{}\n{}", killed.out, killed.err);
    nothing_is_left(&stand);
}

/// Long: `make test-all`.
#[test]
fn every_operation_passes() {
    if std::env::var_os("EVERY_OPERATION").is_none() || !clusters_can_be_made() {
        return;
    }
    let stand = Stand::new();
    let of_pool = root().join("targets/guests.toml");
    for suite in [&["virtual"][..], &["virtual-storage", "--target", of_pool.to_str().unwrap()]] {
        let run = [&["run"][..], suite, &["--scale", "0.5", "-r", "1", "--even-if-unfit", "--no-progress"]].concat();
        let ended = stand.fine(&run);
        let shown = stand.json(&["show", "last"])["run"].clone();
        assert_eq!(shown["run"]["skipped"].as_array().map_or(0, Vec::len), 0, "{}", ended.err);
        for repeat in shown["repeats"].as_array().unwrap() {
            assert_eq!(repeat["outcome"], "valid", "{}\n{}", repeat["error_output"], repeat["outcome"]);
            assert_eq!(repeat["report"]["observed"]["lost_rows"].as_f64().unwrap_or_default(), 0.0, "{repeat:#}");
        }
    }
    nothing_is_left(&stand);
    assert_eq!(left_of_nodes(&stand), [""; 0]);
}

/// Runs Python beside the suite's own files.
fn python(script: &str) {
    let mut command = Command::new("python3");
    command.args(["-c", script]).env("PYTHONPATH", root().join("suites/virtual")).env("PYTHONDONTWRITEBYTECODE", "1");
    let ended = ended(&mut command);
    assert_eq!(ended.status, Some(0), "{}\n{}", ended.out, ended.err);
}

#[test]
fn rows_that_are_missing_changed_or_foreign_are_found() {
    if !stend_testing::have("python3") {
        return;
    }
    python(
        "
from rows import *
rows = Rows(Postgresql, '', 1)
rows.acknowledged = [(1, 0, 10), (2, 10, 20), (4, 500, 700)]
rows.unanswered = {3}
right = {number: text_of(number) for number in (1, 2, 4)}
assert rows.judge(right) == (0, None)
assert rows.judge(right | {3: text_of(3)}) == (0, None), 'it may have been stored without an answer'
assert rows.judge({1: right[1], 2: right[2]})[0] == 1
assert rows.judge(right | {2: 'x'})[0] == 1
assert rows.judge(right | {9: text_of(9)})[1]
assert rows.judge({1: right[1]}, rows.rows_until(10)) == (0, None)
assert (rows.longest_gap_ns(), rows.longest_gap_ns(0, 15)) == (680, 10)

# Of a guest whose kernel has given up nothing is waited for.
from types import SimpleNamespace
from guest import Guest
from nodes import NodeError
import tempfile
with tempfile.TemporaryDirectory() as shared:
    guest = Guest(SimpleNamespace(shared=shared), 'db', 100)
    rows = Rows(Postgresql, '', 1, check=guest.check)
    stuck = b'[ 9.0] watchdog: BUG: soft lockup - CPU#0 stuck for %ds! [kworker/0:2:136]\\r\\n'
    for printed in (b'', b'\\r\\nlogin: ', stuck % 26):
        open(guest.console, 'wb').write(printed)
        guest.check()
    for printed in (b'[ 1.0] Kernel panic - not syncing: no root\\r\\n[ 1.1] more', stuck % 313, stuck % 1002):
        open(guest.console, 'wb').write(printed)
        for wait in (rows.prepare, lambda: rows.wait_for_more(0)):
            try:
                wait()
            except NodeError as error:
                assert str(error).startswith('db: ' + printed.decode().splitlines()[0]), error
            else:
                raise AssertionError('it waits')
",
    );
}

#[test]
fn balancing_follows_a_lasting_load_and_nothing_goes_to_and_fro() {
    if !stend_testing::have("python3") {
        return;
    }
    python(
        "
from random import Random
from balance import *

# A moment's load is none to follow.
balancer = Balancer()
for now in range(30):
    loads = {'a': {'x': 1.0, 'y': 0.5} if now % 3 else {}, 'b': {}}
    assert balancer.advise(now, loads) is None
# One guest alone is no better off elsewhere.
balancer = Balancer()
assert all(balancer.advise(now, {'a': {'x': 1.5}, 'b': {}}) is None for now in range(30))
# Whatever the loads are, as long as they last: each move narrows the gap, and they come to an end.
for seed in range(300):
    random = Random(seed)
    loads = {node: {} for node in 'abc'[: random.randint(2, 3)]}
    for guest in range(random.randint(1, 8)):
        loads[random.choice(list(loads))][guest] = random.random()
    balancer, last, moves = Balancer(), None, 0
    for now in range(200):
        found = balancer.advise(now, loads)
        if found is None:
            continue
        guest, origin, to = found
        totals = lambda: [sum(of.values()) for of in loads.values()]
        squares = sum(total * total for total in totals())
        loads[to][guest] = loads[origin].pop(guest)
        assert sum(total * total for total in totals()) < squares, (seed, loads)
        assert last is None or now - last >= COOLDOWN, seed
        last, moves = now, moves + 1
    assert last is None or last < 150, (seed, moves)
",
    );
}
