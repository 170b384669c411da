//! Before and after a change of the target: what it is made of is kept and compared, and two of its settings are measured in turns.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Stdio;

use serde_json::Value;

use crate::common::pools::{SMALL, assert_traces, own_name, pools_can_be_made, said_by, says, traces, up, words};
use crate::common::runs::flat;
use crate::common::{Ended, Gate, NO_LIMITS, Stand, ended, path_with};

/// A suite of fio that reads its LUNs at random for a moment.
fn suite(stand: &Stand, repeats: u32) -> String {
    let text = format!(
        "name = \"t\"\ntitle = \"t\"\nrepeats = {repeats}\nwarmup = 0\nsample_hertz = 0\n{NO_LIMITS}\
         [[scenario]]\nname = \"read\"\ninstrument = \"fio\"\n\
         parameters = {{ rw = \"randread\", luns = 1, size = \"1GiB\", iodepth = 4, runtime = \"100ms\" }}\n\
         metrics = [{{ name = \"IOPS\", value = \"operations/wall\", unit = \"IOPS\", better = \"higher\" }}]\n"
    );
    let path = stand.path().join("suite.toml");
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

const RUN: [&str; 3] = ["run", "--no-progress", "--even-if-unfit"];

fn run<'a>(suite: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&RUN[..], &[suite], &SMALL, more].concat()
}

/// The scheduler in force of a device, by the kernel's name.
fn scheduler(device: &str) -> String {
    let text = std::fs::read_to_string(format!("/sys/block/{device}/queue/scheduler")).unwrap();
    text.split_once('[').and_then(|(_, rest)| rest.split_once(']')).unwrap().0.to_owned()
}

/// The devices that a target gave a scheduler, each with the one that it had before.
fn noted(stand: &Stand) -> Vec<(String, String)> {
    let targets = stand.path().join("work/targets");
    let notes = std::fs::read_dir(targets).unwrap().map(|target| target.unwrap().path().join("schedulers"));
    let note = notes.into_iter().find_map(|note| std::fs::read_to_string(note).ok()).unwrap();
    let pair = |line: &str| line.split_once(' ').map(|(device, before)| (device.to_owned(), before.to_owned()));
    note.lines().skip(1).map(|line| pair(line).unwrap()).collect()
}

/// What has got another user since is that one's.
fn assert_put_back(devices: &[(String, String)]) {
    let is_free = |device: &str| !Path::new(&format!("/sys/block/{device}/loop/backing_file")).exists();
    for (device, before) in devices.iter().filter(|(device, _)| is_free(device)) {
        assert_eq!(&scheduler(device), before, "{device}");
    }
}

fn with_path(stand: &Stand, arguments: &[&str], path: &str) -> Ended {
    ended(stand.command(arguments).env("PATH", path))
}

/// The question "is the pool faster after this change?" in one command: killed in the midst, it goes on to whole pairs, and each repeat
/// keeps what the pool that it loaded was found to be.
#[test]
fn two_settings_of_a_pool_are_measured_in_turns() {
    if !pools_can_be_made() {
        return;
    }
    let stand = Stand::new();
    let suite = suite(&stand, 4);
    let gate = Gate::new();
    // The fourth load waits: one pair is whole, and of the next one repeat is made.
    let wait = format!("{{ : >'{0}/waits'; while ! [ -e '{0}/open' ]; do sleep 0.02; done; }}", gate.path().display());
    let path = path_with(&stand, "fio", &format!("case $* in *json+*) {} || {wait} ;; esac", gate.lets_through(3)));
    let before = "name=before; target.layout=raid10; target.threads=2; target.scheduler=none";
    let after = "name=after; target.layout=mirror; target.threads=4; target.scheduler=mq-deadline; target.filters=noparallel; \
                 target.mount_options=commit=7; target.processors=0";
    let arguments = run(&suite, &["--seed", "3", "--ab", before, after]);
    let mut command = stand.command(&arguments);
    let mut child = command.env("PATH", &path).stdout(Stdio::null()).spawn().unwrap();
    gate.wait_until_reached();
    let devices = noted(&stand);
    assert_eq!(devices.len(), 4);
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!traces(&stand, "2", &[]).is_empty(), "the killed run left its pool");
    stand.fine(&["clean"]);
    assert_traces(&stand, "2", &[stand.path().join("work")], &[], "after clean");
    assert_put_back(&devices);
    gate.open();
    let resume = ["resume", "--no-progress", "--even-if-unfit"];
    // A pool that other programs make is another pool.
    let other = path_with(&stand, "mkfs.btrfs", "[ \"$1\" != --version ] || { echo 'btrfs-progs v99'; exit; }");
    says(&with_path(&stand, &resume, &other), 4, &["cannot go on: its target is made by other programs now", "v99"]);
    std::fs::remove_file(stand.path().join("programs/mkfs.btrfs")).unwrap();
    let resumed = with_path(&stand, &resume, &path);
    assert_eq!(resumed.status, Some(0), "{}", resumed.err);
    assert_traces(&stand, "2", &[stand.path().join("work")], &[], "after the run");
    assert_put_back(&devices);

    let shown = stand.json(&["show", "last"])["run"].clone();
    let repeats = shown["repeats"].as_array().unwrap();
    let keys: BTreeSet<_> = repeats.iter().map(|repeat| (repeat["number"].as_u64(), repeat["side"].as_u64())).collect();
    assert_eq!(keys.len(), repeats.len(), "each once");
    let cells = &shown["table"]["rows"][0]["cells"];
    assert_eq!((&cells[0]["valid"], &cells[1]["valid"]), (&4.into(), &4.into()), "whole pairs: {shown:#}");
    for repeat in repeats {
        let of = |name: &str| repeat["target"][name].as_str().unwrap_or_default().to_owned();
        let found = ["layout", "threads", "scheduler", "filters"].map(of);
        let commits = of("mount_options").split(',').any(|option| option == "commit=7");
        match repeat["side"].as_u64() {
            Some(0) => assert_eq!((found, commits), (["raid10", "2", "none", ""].map(str::to_owned), false)),
            _ => {
                assert_eq!((found, commits), (["mirror", "4", "mq-deadline", "noparallel"].map(str::to_owned), true));
                assert_eq!(of("processors"), "0");
            }
        }
    }
    assert_eq!(shown["run"]["sides"][1]["found"]["target"]["storage"]["layout"], "mirror");
    let compared = flat(&stand.fine(&["compare", "last"]).out);
    for part in [
        "after differs from before:",
        "target's layout: raid10 → mirror",
        "target's threads: 2 → 4",
        "target's scheduler: none → mq-deadline",
        "target's filters: none → noparallel",
        "btrfs raid10, 2 LUNs of 8MiB, nbd from 2 controllers, threads 2",
        "btrfs mirror, 2 LUNs of 8MiB, nbd from 2 controllers, threads 4",
    ] {
        assert!(compared.contains(part), "{part}\n{compared}");
    }
    let page = std::fs::read_to_string(stand.fine(&["report", "last"]).out.trim()).unwrap().replace("&#39;", "'");
    for part in ["target's scheduler", "цель: scheduler", "планировщик mq-deadline"] {
        assert!(page.contains(part), "{part}");
    }
}

/// What a run that was killed leaves of its disks: the numbers of loop devices with a scheduler.
fn leave_schedulers_behind(stand: &Stand) {
    let script = r#"cd "$1" || exit
        for number in 0 1 2 3 4 5; do
            truncate -s 1MiB "left$number" && device=$(losetup --find --show "left$number") || exit
            echo mq-deadline >"/sys/block/${device##*/}/queue/scheduler" || exit
            devices="$devices $device"
        done
        losetup -d $devices"#;
    let left = std::process::Command::new("sh").args(["-c", script, "sh"]).arg(stand.path()).status().unwrap();
    assert!(left.success());
}

#[test]
fn two_runs_on_pools_that_differ_say_in_what() {
    if !pools_can_be_made() {
        return;
    }
    let stand = Stand::new();
    let suite = suite(&stand, 1);
    leave_schedulers_behind(&stand);
    // Without controllers.
    let run = |more: &[&'static str]| [&RUN[..], &[&*suite], &SMALL[..10], more].concat();
    stand.fine(&run(&[]));
    let other = path_with(&stand, "mkfs.btrfs", "[ \"$1\" != --version ] || { echo 'btrfs-progs v99'; exit; }");
    let arguments = run(&["--scheduler", "mq-deadline", "--mount-options", "commit=7"]);
    let second = with_path(&stand, &arguments, &other);
    assert_eq!(second.status, Some(0), "{}", second.err);
    let compared = flat(&stand.fine(&["compare", "last~1", "last"]).out);
    let version = said_by("mkfs.btrfs", &["--version"]);
    for part in [
        "target's scheduler: none → mq-deadline".to_owned(),
        "commit=7".to_owned(),
        format!("version of mkfs.btrfs: {} → btrfs-progs v99", version.trim()),
    ] {
        assert!(compared.contains(&part), "{part}\n{compared}");
    }
    // Made again it is the same, but for what loop devices keep of whoever had their numbers before.
    let again = with_path(&stand, &arguments, &other);
    assert_eq!(again.status, Some(0), "{}", again.err);
    let same = stand.fine(&["compare", "last~1", "last"]).out;
    let said: Vec<_> = same.lines().filter(|line| line.contains(" → ") && !line.contains("read_ahead_kb")).collect();
    assert_eq!(said, [""; 0]);
    let machine = stand.json(&["show", "last"])["run"]["run"]["machine"].clone();
    for name in [
        "vm.dirty_ratio",
        "vm.dirty_bytes",
        "vm.dirty_background_ratio",
        "vm.dirty_background_bytes",
        "vm.swappiness",
        "vm.vfs_cache_pressure",
    ] {
        let wanted = std::fs::read_to_string(format!("/proc/sys/{}", name.replace('.', "/"))).unwrap();
        assert_eq!(machine["software"]["settings"][name], wanted.trim(), "{name}");
    }
}

#[test]
fn what_was_asked_for_is_so_while_it_stands_and_put_back_afterwards() {
    if !pools_can_be_made() {
        return;
    }
    let (stand, name) = (Stand::new(), own_name("keys"));
    let last = std::thread::available_parallelism().unwrap().get() - 1;
    let processors = format!("0 {last}");
    let mut arguments =
        up(&name, &["--threads", "3", "--filters", "delay,rdelay=1ms,fua", "--scheduler", "mq-deadline"]);
    arguments.extend(["--mount-options", "commit=7", "--processors", &processors].map(str::to_owned));
    let made = stand.json(&words(&arguments));
    let devices = noted(&stand);
    assert_eq!(devices.len(), 4);
    assert!(devices.iter().all(|(device, _)| scheduler(device) == "mq-deadline"), "{devices:?}");
    let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap();
    let mount = mounts.lines().find(|line| line.contains(stand.path().to_str().unwrap()) && line.contains(" btrfs "));
    let mount = mount.unwrap();
    assert!(["commit=7", "nosuid", "nodev", "noatime"].iter().all(|option| mount.contains(option)), "{mount}");
    for (number, controller) in made["rigs"][0]["controllers"].as_array().unwrap().iter().enumerate() {
        let process = format!("/proc/{}", controller["process"]);
        let line = std::fs::read_to_string(format!("{process}/cmdline")).unwrap().replace('\0', " ");
        assert!(
            line.contains("--threads=3 --filter=delay --filter=fua file dir=") && line.ends_with(" rdelay=1ms "),
            "{line}"
        );
        let status = std::fs::read_to_string(format!("{process}/status")).unwrap();
        let allowed =
            status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap().trim().to_owned();
        assert_eq!(allowed, if number == 0 { "0".to_owned() } else { last.to_string() });
    }
    let uri = made["rigs"][0]["luns"][1].as_str().unwrap();
    assert_eq!(said_by("nbdinfo", &["--size", uri]).trim(), "8388608");
    stand.fine(&["rig", "down", "--name", &name]);
    assert_traces(&stand, &name, &[stand.path().join("work")], &[], "after down");
    assert_put_back(&devices);

    // A device of the user's has its own again too, unless somebody has changed it since.
    let image = stand.path().join("image");
    std::fs::File::create(&image).unwrap().set_len(16 << 20).unwrap();
    let image = image.to_str().unwrap();
    let device = said_by("losetup", &["--find", "--show", image]).trim().to_owned();
    let short = device.trim_start_matches("/dev/");
    let own = scheduler(short);
    let arguments = ["rig", "up", "--devices", &device, "--destructive", image, "--scheduler", "mq-deadline"];
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        for changed in [None, Some("kyber")] {
            stand.fine(&arguments);
            assert_eq!(scheduler(short), "mq-deadline");
            if let Some(other) = changed {
                std::fs::write(format!("/sys/block/{short}/queue/scheduler"), other).unwrap();
            }
            stand.fine(&["rig", "down"]);
            assert_eq!(scheduler(short), changed.unwrap_or(&own));
        }
    }));
    let _ = std::fs::write(format!("/sys/block/{short}/queue/scheduler"), &own);
    said_by("losetup", &["-d", &device]);
    outcome.unwrap();
}

#[test]
fn what_cannot_be_compared_or_had_is_said_before_anything_is_made() {
    if !pools_can_be_made() {
        return;
    }
    let stand = Stand::new();
    let refused = |suite: &str, more: &[&str], status: i32, parts: &[&str]| {
        let ended = stand.run(&run(suite, more));
        says(&ended, status, parts);
        let lines: Vec<_> = ended.err.lines().filter(|line| !line.contains("as root, and not part of stend")).collect();
        assert_eq!(lines.len(), 1, "one line: {}", ended.err);
        assert!(!stand.path().join("work/targets").exists());
        assert_eq!(stand.json(&["list"])["runs"], Value::Array(Vec::new()));
    };
    let plain = suite(&stand, 2);
    for (a, b, parts) in [
        ("target.raid=6", "", ["--ab: target.raid=6: unknown field", "`layout`"]),
        ("target.layout=raid6", "", ["--ab: target.layout=raid6: ", "mirror"]),
        ("target.threads=0", "", ["--ab: target.threads=0: it is 0", "1 to 256"]),
        ("target.filters=log,logfile=x", "", ["--ab: target.filters=log,logfile=x: there is no filter", "noparallel"]),
        ("target.lun_size=4MiB", "", ["would not do the same work: size is 4MiB", "8MiB on the other"]),
        ("target.luns=1;target.controllers=1", "", ["luns is 1 on one side and 2 on the other", "set the same"]),
        ("target.transport=local", "", ["would not do the same work: ioengine", "transport"]),
    ] {
        refused(&plain, &["--ab", a, b], 2, &parts);
    }
    refused(&plain, &["--ab", "target.scheduler=nosuch", ""], 4, &["there is no scheduler \"nosuch\" here", "takes"]);
    refused(&plain, &["--ab", "target.processors=4000", ""], 4, &["names processor 4000, and here are 0"]);
    let text = std::fs::read_to_string(&plain).unwrap();
    let fill = "[[scenario]]\nname = \"fill\"\ninstrument = \"fio\"\nprecondition = true\n\
                parameters = { rw = \"write\", luns = 1, size = \"1GiB\" }\n\
                metrics = [{ name = \"IOPS\", value = \"operations/wall\", unit = \"IOPS\", better = \"higher\" }]\n";
    let text = text.replace("sample_hertz", "order = \"grouped\"\nsample_hertz");
    let prepared = stand.path().join("prepared.toml").to_str().unwrap().to_owned();
    std::fs::write(&prepared, text.replacen("[[scenario]]", &format!("{fill}[[scenario]]"), 1)).unwrap();
    refused(
        &prepared,
        &["--ab", "target.layout=mirror", ""],
        2,
        &["\"fill\" prepares its LUNs", "made anew for each side"],
    );
    let words = ["run", &plain, "--target-name", "x", "--ab", "target.threads=1", ""];
    says(&stand.run(&words), 2, &["--target-name x: it is left standing as it is", "--target instead"]);
}
