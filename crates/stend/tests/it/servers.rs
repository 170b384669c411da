//! Servers that a suite's scenarios load: set up from a file for a run, loaded, and gone afterwards, whatever happens meanwhile.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::common::{Gate, NO_LIMITS, Stand, environment, in_own_mounts, interrupt, wait_until};

/// A server as a user writes one: nbdkit with a disk in memory.
const DISK: &str = "title = \"a disk in memory\"\nprogram = \"nbdkit\"\npackage = \"nbdkit\"\nversion = [\"--version\"]\nports = [\"nbd\"]\n\
    start = [\"nbdkit\", \"-f\", \"-i\", \"127.0.0.1\", \"-p\", \"@nbd@\", \"memory\", \"@size@\"]\n\
    [settings]\nsize = \"16M\"\n[files]\n\"etc/note\" = \"port @nbd@, size @size@\"\n";

/// A stand with that server, and a suite whose scenario is this script with `@nbd@`, `@directory@` and `@size@` as its arguments.
fn stand(script: &str, head: &str) -> (Stand, String) {
    let stand = Stand::new();
    fs::write(stand.path().join("disk.toml"), DISK).unwrap();
    let prints = "echo '{\"event\":\"begin\",\"wire\":1,\"instrument\":\"load\",\"version\":\"1\",\"parameters\":{}}'
echo '{\"event\":\"repeat\",\"wall_ns\":1000000,\"work\":{\"operations\":1000},\"check\":\"passed\",\"evidence\":\"none\"}'
echo '{\"event\":\"end\",\"repeats\":1}'\n";
    fs::write(stand.path().join("load.sh"), format!("#!/bin/sh\n{script}\n{prints}")).unwrap();
    let text = format!(
        "name = \"own\"\ntitle = \"a server of one's own\"\nwarmup = 0\nsample_hertz = 0\n{head}\n{NO_LIMITS}\n[[scenario]]\nname = \"one\"\n\
         server = \"disk.toml\"\ncommand = [\"sh\", \"{{suite_directory}}/load.sh\", \"@nbd@\", \"@directory@\", \"@size@\"]\n\
         metrics = [{{ name = \"rate\", value = \"operations/wall\", unit = \"op/s\", better = \"higher\" }}]\n"
    );
    let suite = stand.path().join("own.toml");
    fs::write(&suite, text).unwrap();
    (stand, suite.display().to_string())
}

/// The processes whose working directory is below the stand's.
fn servers(stand: &Stand) -> Vec<PathBuf> {
    let work = stand.path().join("work");
    let places = fs::read_dir("/proc").unwrap().filter_map(|entry| fs::read_link(entry.ok()?.path().join("cwd")).ok());
    places.filter(|place| place.starts_with(&work)).collect()
}

pub(crate) fn nothing_is_left(stand: &Stand) {
    assert_eq!(servers(stand), [] as [PathBuf; 0]);
    assert!(!stand.path().join("work/servers").exists());
    let groups = Command::new("find").args(["/sys/fs/cgroup", "-maxdepth", "2", "-name", "stend-*-server*"]).output();
    let of_this =
        stand.json(&["list"])["runs"].as_array().unwrap().iter().map(|run| run["id"].to_string()).collect::<Vec<_>>();
    let groups = String::from_utf8(groups.unwrap().stdout).unwrap();
    assert!(!of_this.iter().any(|id| groups.contains(id.trim_matches('"'))), "{groups}");
}

pub(crate) fn outcomes(run: &Value) -> Vec<&Value> {
    run["repeats"].as_array().unwrap().iter().map(|repeat| &repeat["outcome"]).collect()
}

#[test]
fn a_server_of_a_users_file_stands_while_it_is_loaded() {
    let seen = "nbdinfo --size \"nbd://127.0.0.1:$1\" >>\"${0%/*}/seen\" && cat \"$2/etc/note\" >>\"${0%/*}/seen\" && echo >>\"${0%/*}/seen\"";
    let (stand, suite) = stand(seen, "repeats = 2");
    if !stend_testing::have("nbdkit") || !stend_testing::have("nbdinfo") {
        return;
    }
    stand.fine(&["run", &suite, "--no-progress"]);
    let seen = fs::read_to_string(stand.path().join("seen")).unwrap();
    let lines: Vec<_> = seen.lines().collect();
    assert!(lines.len() == 4 && lines[0] == "16777216" && lines[1].ends_with(", size 16M"), "{seen}");
    assert_eq!(lines[..2], lines[2..], "it is one server for both");
    let machine = stand.json(&["show", "last"])["run"]["run"]["machine"].clone();
    let version = machine["software"]["tools"]["nbdkit"]["version"].as_str().unwrap_or_default();
    assert!(version.starts_with("nbdkit "), "{machine:#}");
    nothing_is_left(&stand);
}

#[test]
fn each_side_has_a_server_with_its_own_setting() {
    let (stand, suite) = stand("nbdinfo --size \"nbd://127.0.0.1:$1\" >>\"${0%/*}/$3\"", "repeats = 3");
    if !stend_testing::have("nbdkit") || !stend_testing::have("nbdinfo") {
        return;
    }
    stand.fine(&["run", &suite, "--no-progress", "--ab", "rig.size=8M", "rig.disk.size=4M"]);
    let sizes = |side: &str| fs::read_to_string(stand.path().join(side)).unwrap();
    assert_eq!((sizes("8M"), sizes("4M")), ("8388608\n".repeat(3), "4194304\n".repeat(3)));
    let differences = stand.json(&["compare", "last"])["table"]["columns"][1]["differences"].to_string();
    assert!(differences.contains("disk.size") && differences.contains("8M"), "{differences}");
    nothing_is_left(&stand);
    stand.refused(&["run", &suite, "--ab", "rig.size=8M", "rig.colour=red"], &["rig.colour", "disk.size"]);
}

#[test]
fn a_server_that_dies_costs_the_repeat_and_is_started_anew() {
    let once = "[ -e \"${0%/*}/died\" ] || {
    touch \"${0%/*}/died\"
    server=$(cat \"$2.pid\")
    kill -9 \"$server\"
    while grep -q '^State:[[:space:]]*[^ZX[:space:]]' \"/proc/$server/status\" 2>/dev/null; do sleep 0.02; done
}";
    let (stand, suite) = stand(once, "repeats = 2");
    if !stend_testing::have("nbdkit") {
        return;
    }
    stand.fine(&["run", &suite, "--no-progress"]);
    let run = stand.json(&["show", "last"])["run"].clone();
    let outcomes = outcomes(&run);
    assert_eq!(outcomes[0]["failed"]["cause"], "server_ended", "{outcomes:#?}");
    assert_eq!(outcomes[0]["failed"]["server"], "disk");
    assert_eq!(outcomes[1..], [&Value::from("valid"), &"valid".into()]);
    nothing_is_left(&stand);
}

#[test]
fn what_a_killed_run_left_is_stopped_by_clean() {
    let gate = Gate::new();
    let waits = format!("sh {}/{}", crate::common::instruments().display(), gate.after(0));
    let (stand, suite) = stand(&format!("{waits} >/dev/null"), "repeats = 1");
    if !stend_testing::have("nbdkit") {
        return;
    }
    let run = ["run", &*suite, "--no-progress"];
    let mut child = stand.command(&run).stdout(Stdio::null()).spawn().unwrap();
    gate.wait_until_reached();
    assert!(!servers(&stand).is_empty());
    child.kill().unwrap();
    child.wait().unwrap();
    gate.open();
    wait_until("the instrument ends with its guard", || {
        servers(&stand).iter().all(|place| place.starts_with(stand.path().join("work/servers")))
    });
    assert!(!servers(&stand).is_empty(), "it stands until somebody cleans up");
    let said = stand.fine(&["clean"]).err;
    assert!(said.contains("removed the servers of run"), "{said}");
    nothing_is_left(&stand);
}

/// What a side calls otherwise is another server, and not only another line in the table.
#[test]
fn a_sides_own_program_is_the_server() {
    let (stand, suite) = stand("", "repeats = 2");
    if !stend_testing::have("nbdkit") {
        return;
    }
    for side in ["one", "other"] {
        fs::create_dir(stand.path().join(side)).unwrap();
        let wrapper = format!(
            "#!/bin/sh\ncase $1 in -f) echo >>'{}' ;; esac\nexec nbdkit \"$@\"\n",
            stand.path().join(side).join("started").display()
        );
        crate::common::executable(&stand.path().join(side).join("nbdkit"), &wrapper);
    }
    let tool = |side: &str| format!("tool.nbdkit={}", stand.path().join(side).join("nbdkit").display());
    stand.fine(&["run", &suite, "--no-progress", "--ab", &tool("one"), &tool("other")]);
    for side in ["one", "other"] {
        assert!(stand.path().join(side).join("started").exists(), "{side}");
    }
    nothing_is_left(&stand);
}

/// What belongs to another user is removed by root, who must not follow where that one's links lead.
#[test]
fn a_server_may_run_as_another_user() {
    let (stand, suite) = stand(
        "cat \"$2/who\" >\"${0%/*}/who\"; stat -c %U \"/proc/$(cat \"$2.pid\")\" >>\"${0%/*}/who\"",
        "repeats = 1",
    );
    if !stend_testing::have("nbdkit") {
        return;
    }
    let victim = stand.path().join("victim");
    fs::create_dir(&victim).unwrap();
    fs::write(victim.join("kept"), "").unwrap();
    let text = DISK.replace("[settings]", "user = \"nobody\"\nprepare = [[\"sh\", \"prepare.sh\"]]\n[settings]");
    let prepare = format!("\"prepare.sh\" = \"id -un >who; ln -s '{}' link; mkdir -m 0 closed\"\n", victim.display());
    fs::write(stand.path().join("disk.toml"), text + &prepare).unwrap();
    stand.fine(&["run", &suite, "--no-progress"]);
    let who = fs::read_to_string(stand.path().join("who")).unwrap();
    let is_root = rustix::process::geteuid().is_root();
    assert!(!is_root || who == "nobody\nnobody\n", "{who}");
    assert!(victim.join("kept").exists());
    nothing_is_left(&stand);
}

/// It leaves its directory and its parent, and what its preparation started goes on in the background.
#[test]
fn what_hides_is_stopped_all_the_same() {
    let (stand, suite) = stand("", "repeats = 1");
    if !stend_testing::have("nbdkit") {
        return;
    }
    let counted =
        PathBuf::from("/sys/fs/cgroup/cgroup.procs").exists() || PathBuf::from("/sys/fs/cgroup/cpuacct").exists();
    let is_root = rustix::process::geteuid().is_root();
    let leaves = if counted && is_root { "[\"nbdkit\", " } else { "[\"nbdkit\", \"-f\", " };
    let text = DISK.replace("[\"nbdkit\", \"-f\", ", leaves);
    // With -f it would stay; without it the port is enough to say that it is ready, if its keeper waits.
    let text = match leaves.contains("-f") {
        true => text,
        false => text.replace(
            "start = [\"nbdkit\", \"-i\", \"127.0.0.1\", \"-p\", \"@nbd@\", \"memory\", \"@size@\"]",
            "start = [\"sh\", \"-c\", \"nbdkit -i 127.0.0.1 -p @nbd@ memory @size@; while :; do sleep 1; done\"]",
        ),
    };
    let text = text
        .replace("[settings]", "prepare = [[\"sh\", \"-c\", \"(setsid sleep 5555 >/dev/null 2>&1 &)\"]]\n[settings]");
    fs::write(stand.path().join("disk.toml"), text).unwrap();
    // Of how somebody likes names to be listed nothing may depend.
    let ended = stand.command(&["run", &suite, "--no-progress"]).env("QUOTING_STYLE", "c").output().unwrap();
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    nothing_is_left(&stand);
}

#[test]
fn a_server_that_does_not_start_is_told_by_its_own_words() {
    let (stand, suite) = stand("", "repeats = 1");
    if !stend_testing::have("nbdkit") {
        return;
    }
    for (start, said) in [
        ("[\"sh\", \"-c\", \"echo hello; echo fatal: no room >&2; exit 3\"]", "fatal: no room"),
        ("[\"no-such-server\"]", "no-such-server"),
    ] {
        let text = DISK.lines().map(|line| match line.starts_with("start") {
            true => format!("start = {start}\n"),
            false => format!("{line}\n"),
        });
        fs::write(stand.path().join("disk.toml"), text.collect::<String>()).unwrap();
        let ended = stand.run(&["run", &suite, "--no-progress"]);
        assert!(
            ended.status == Some(3) && ended.err.contains("one: 0 of 1 (server disk could not be set up: "),
            "{}",
            ended.err
        );
        assert!(ended.err.contains(said), "{}", ended.err);
        let run = stand.json(&["show", "last"])["run"].clone();
        let outcomes = outcomes(&run);
        assert_eq!(
            (outcomes.len(), &outcomes[0]["failed"]["cause"]),
            (1, &"server_not_made".into()),
            "it is not tried again"
        );
        nothing_is_left(&stand);
    }
    fs::write(stand.path().join("disk.toml"), DISK.replace("\"nbdkit\"\npackage", "\"no-nbdkit\"\npackage")).unwrap();
    let ended = stand.run(&["run", &suite, "--no-progress"]);
    assert!(ended.status == Some(4) && ended.err.contains("apt-get install -y nbdkit"), "{}", ended.err);
}

/// A machine of four processors on two cores, as far as its kernel's files go, and a `taskset` that only notes what it is told.
#[test]
fn with_four_processors_a_server_and_its_load_have_a_half_each() {
    let (stand, suite) = stand("cat \"$2/etc/note\" >\"${0%/*}/seen\"", "repeats = 1");
    if !stend_testing::have("nbdkit") {
        return;
    }
    let apart = DISK.replace("size @size@\"", "@processors@\"").replace("ports = ", "apart = true\nports = ");
    fs::write(stand.path().join("disk.toml"), apart).unwrap();
    let is_apart = |stand: &Stand| {
        let table = stand.json(&["compare", "last"])["table"].clone();
        let notes = table["notes"].as_array().unwrap().clone();
        let of_it: Vec<_> = notes.into_iter().filter(|note| note["kind"] == "loaded").collect();
        assert!(of_it.len() == 1 && of_it[0]["servers"] == serde_json::json!(["disk"]), "{table:#}");
        (of_it[0]["processors"].as_u64().unwrap(), of_it[0]["apart"].as_bool().unwrap())
    };
    stand.fine(&["run", &suite, "--no-progress"]);
    let (processors, apart) = is_apart(&stand);
    assert_eq!(apart, processors >= 4);
    let bin = stand.path().join("bin");
    fs::create_dir(&bin).unwrap();
    let told = stand.path().join("told");
    let taskset = format!("#!/bin/sh\necho \"$1 $2 ${{3##*/}}\" >>'{}'\nshift 2\nexec \"$@\"\n", told.display());
    crate::common::executable(&bin.join("taskset"), &taskset);
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let (gate, mut owned) = (Gate::new(), Vec::new());
    let mut environment = environment(&stand, &gate, &suite, &mut owned);
    environment.push(("PATH", &path));
    let script = r#"
        cd /sys/devices/system && mount -t tmpfs none cpu && echo 0-3 >cpu/online || exit
        for n in 0 1 2 3; do
            mkdir -p "cpu/cpu$n/topology" && echo "$((n % 2)),$((n % 2 + 2))" >"cpu/cpu$n/topology/thread_siblings_list" || exit
        done
        cd "$DIRECTORY" && "$STEND" run "$SUITE" --no-progress"#;
    let Some(ended) = in_own_mounts(script, &environment) else { return };
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    assert_eq!(is_apart(&stand), (4, true));
    let seen = fs::read_to_string(stand.path().join("seen")).unwrap();
    assert!(seen.ends_with(", 2"), "@processors@ is the server's half: {seen}");
    let told = fs::read_to_string(told).unwrap();
    assert_eq!(told, "-c 0,2 nbdkit\n-c 1,3 sh\n");
    nothing_is_left(&stand);
}

#[test]
fn two_runs_at_once_have_servers_of_their_own() {
    let gate = Gate::new();
    let size = "nbdinfo --size \"nbd://127.0.0.1:$1\" >>\"${0%/*}/seen\"; echo \"$1 $2\" >\"${0%/*}/place\"";
    let waits = format!("{size}; sh {}/{} >/dev/null; {size}", crate::common::instruments().display(), gate.after(0));
    let ((first, suite), (second, other)) = (stand(&waits, "repeats = 1"), stand(size, "repeats = 1"));
    if !stend_testing::have("nbdkit") || !stend_testing::have("nbdinfo") {
        return;
    }
    let mut command = first.command(&["run", &suite, "--no-progress"]);
    let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    gate.wait_until_reached();
    second.fine(&["run", &other, "--no-progress"]);
    nothing_is_left(&second);
    gate.open();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = |stand: &Stand, name: &str| fs::read_to_string(stand.path().join(name)).unwrap();
    assert_eq!(text(&first, "seen"), "16777216\n".repeat(2), "it goes on after the other has gone");
    assert_eq!(text(&second, "seen"), "16777216\n");
    let places = [&first, &second].map(|stand| text(stand, "place"));
    let [one, other] = places.each_ref().map(|place| place.split_once(' ').unwrap());
    assert!(one.0 != other.0 && one.1 != other.1, "{places:?}");
    nothing_is_left(&first);
}

/// Between looking for a free port and listening on it somebody else may be faster.
#[test]
fn where_a_port_is_taken_meanwhile_another_is_tried() {
    let (stand, suite) = stand("echo \"$1\" >>\"${0%/*}/ports\"", "repeats = 1");
    if !stend_testing::have("nbdkit") {
        return;
    }
    let ports = stand.path().join("ports");
    let start = format!(
        "start = [\"sh\", \"-c\", \"if [ ! -e '{0}' ]; then echo \\\"$5\\\" >'{0}'; echo 'bind: Address already in use' >&2; exit 1; fi; \
         exec \\\"$@\\\"\", \"sh\", \"nbdkit\"",
        ports.display()
    );
    fs::write(stand.path().join("disk.toml"), DISK.replace("start = [\"nbdkit\"", &start)).unwrap();
    stand.fine(&["run", &suite, "--no-progress"]);
    let ports = fs::read_to_string(ports).unwrap();
    let ports: Vec<_> = ports.lines().collect();
    assert!(ports.len() == 2 && ports[0] != ports[1], "{ports:?}");
    nothing_is_left(&stand);
}

/// One that never gets ready is not waited for, and is gone: at once if the run is interrupted, and with `clean` if it is killed.
#[test]
fn what_waits_for_a_server_is_ended() {
    let (stand, suite) = stand("", "repeats = 1");
    if !stend_testing::have("nbdkit") {
        return;
    }
    let asked = stand.path().join("asked");
    let ready = format!("ready = [\"sh\", \"-c\", \"touch '{}'; exec sleep 31536000\"]\n[settings]", asked.display());
    fs::write(stand.path().join("disk.toml"), DISK.replace("[settings]", &ready)).unwrap();
    let begun = || {
        let mut command = stand.command(&["run", &suite, "--no-progress"]);
        let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        wait_until("it is asked whether it is ready", || asked.exists());
        child
    };
    let interrupted = begun();
    interrupt(&interrupted);
    let output = interrupted.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", String::from_utf8_lossy(&output.stderr));
    nothing_is_left(&stand);
    fs::remove_file(&asked).unwrap();
    let mut killed = begun();
    killed.kill().unwrap();
    killed.wait().unwrap();
    stand.fine(&["clean"]);
    nothing_is_left(&stand);
}

#[test]
fn of_what_a_server_prints_without_end_only_so_much_is_kept() {
    let (stand, suite) = stand("wc -c <\"$2.said\" >>\"${0%/*}/seen\"", "repeats = 2");
    if !stend_testing::have("nbdkit") {
        return;
    }
    let start =
        "start = [\"sh\", \"-c\", \"head -c 20000000 /dev/zero | tr '\\\\0' x; exec \\\"$@\\\"\", \"sh\", \"nbdkit\"";
    fs::write(stand.path().join("disk.toml"), DISK.replace("start = [\"nbdkit\"", start)).unwrap();
    stand.fine(&["run", &suite, "--no-progress"]);
    let seen = fs::read_to_string(stand.path().join("seen")).unwrap();
    assert_eq!(seen, "20000000\n0\n");
    nothing_is_left(&stand);
}

#[test]
fn what_a_suite_says_of_servers_is_checked_before_anything_starts() {
    let (stand, suite) = stand("", "repeats = 1");
    let with = |what: &str, instead: &str| {
        let path = stand.path().join("bad.toml");
        fs::write(&path, fs::read_to_string(&suite).unwrap().replace(what, instead)).unwrap();
        path.display().to_string()
    };
    stand.refused(&["run", &with("disk.toml", "ngnix")], &["\"ngnix\"", "\"nginx\"", "beside the suite"]);
    stand.refused(&["run", &with("disk.toml", "disc.toml")], &["disc.toml"]);
    stand.refused(&["run", &with("@nbd@", "@http@")], &["\"one\"", "@http@", "@nbd@"]);
    let twice = with(
        "[[scenario]]",
        "[[scenario]]\nname = \"two\"\nserver = \"x/disk.toml\"\ncommand = [\"true\"]\n\
         metrics = [{ name = \"r\", value = \"wall\", unit = \"s\", better = \"lower\" }]\n[[scenario]]",
    );
    fs::create_dir(stand.path().join("x")).unwrap();
    fs::write(stand.path().join("x/disk.toml"), DISK).unwrap();
    stand.refused(&["run", &twice], &["x/disk.toml", "one name"]);
    stand.refused(&["run", &suite, "--ab", "rig.size=8M", "rig.size=@nbd@"], &["@nbd@", "@processors@"]);
    stand.refused(&["pack", &suite], &["\"own\"", "without a link"]);
    fs::write(stand.path().join("disk.toml"), DISK.replace("[files]", "[filse]")).unwrap();
    stand.refused(&["run", &suite], &["disk.toml:", "filse"]);
}

/// The real server under the real loads: what is counted is right, and the server's own time is not foreign.
#[test]
fn nginx_is_loaded_by_each_generator() {
    if !["nginx", "wrk", "ab", "h2load", "curl", "openssl"].into_iter().all(stend_testing::have) {
        return;
    }
    let stand = Stand::new();
    let run = ["run", "arm-wrestling", "--no-progress", "--set", "duration=1s", "-r", "1", "--even-if-unfit"];
    let only = ["http, page, 10 connections", "tls12_aes, page, 10 ", "streams", "by ab", "tls13_aes, handshakes"];
    let only = only.into_iter().flat_map(|name| ["--only", name]);
    let ended = stand.run(&run.into_iter().chain(only).collect::<Vec<_>>());
    let run = stand.json(&["show", "last"])["run"].clone();
    let repeats = run["repeats"].as_array().unwrap();
    let measured = |name: &str| repeats.iter().filter(|repeat| repeat["begin"]["instrument"] == name).count();
    assert!(["wrk", "ab", "h2load", "s_time"].into_iter().all(|name| measured(name) > 0), "{}", ended.err);
    // On a machine that is busy enough no response may be whole within the second.
    for repeat in repeats.iter().filter(|repeat| repeat["report"]["work"]["operations"] != 0.0) {
        let report = &repeat["report"];
        assert_eq!(report["check"], "passed", "{repeat:#}");
        let work = |name: &str| report["work"][name].as_f64();
        if let Some(bytes) = work("bytes") {
            let under_way = bytes - work("operations").unwrap() * 94_150.0;
            assert!((0.0..=10.0 * 94_500.0).contains(&under_way), "{report:#}");
        }
    }
    nothing_is_left(&stand);
}
