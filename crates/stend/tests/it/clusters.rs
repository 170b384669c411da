//! The suite `virtual`: two nodes with the real libvirt, a guest with the real PostgreSQL, and what is done to both.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::common::pools::says;
use crate::common::{NO_GATES, Stand, ended, wait_until};
use crate::guests::guests_can_be_made;
use crate::servers::nothing_is_left;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The suite as somebody's own, on an image with no more than it takes here. Gives its path.
fn own_suite(stand: &Stand) -> String {
    let read = |path: &str| fs::read_to_string(root().join(path)).unwrap();
    let changed = |text: String, old: &str, new: &str| {
        assert!(text.contains(old), "{old}");
        text.replace(old, new)
    };
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
    let suite = format!("{}\n{NO_GATES}", changed(suite, &gates, ""));
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
    let repeats = shown["repeats"].as_array().unwrap();
    // A repeat that failed is made once more.
    for repeat in repeats {
        assert_eq!(repeat["outcome"], "valid", "{}\n{}\n{}", repeat["error_output"], repeat["outcome"], ended_run.err);
    }
    assert_eq!(repeats.len(), 2, "{shown:#}");
    let report = fs::read_to_string(stand.fine(&["report", "last"]).out.trim()).unwrap();
    for repeat in repeats {
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
    assert_eq!(kinds(&repeats[0]), ["operation", "recovery", "operation", "recovery"]);
    assert_eq!(kinds(&repeats[1])[0], "fault");
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
