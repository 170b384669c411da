//! Targets: made of real loop devices, btrfs and nbdkit, loaded, and taken down without a trace of them, and with nothing else gone.

use std::process::Stdio;

use crate::common::pools::{SMALL, assert_traces, own_name, pools_can_be_made, said_by, says, traces, up, words};
use crate::common::sshd::{Sshd, parse};
use crate::common::{Gate, Stand, ended, in_own_mounts, interrupt, path_with, probe, wait_until};

#[test]
fn a_raid10_of_twelve_disks_with_eight_luns() {
    if !pools_can_be_made() {
        return;
    }
    let (stand, name) = (Stand::new(), own_name("twelve"));
    let disks = stand.path().join("disks");
    std::fs::create_dir(&disks).unwrap();
    let arguments = [
        "rig",
        "up",
        "--name",
        &name,
        "--kind",
        "pool",
        "--where",
        disks.to_str().unwrap(),
        "--lun-size",
        "8MiB",
        "--disk-size",
        "128MiB",
    ];
    let made = stand.json(&arguments);
    let target = &made["rigs"][0];
    assert_eq!((target["state"].as_str(), target["name"].as_str()), (Some("up"), Some(name.as_str())));
    let luns: Vec<_> = target["luns"].as_array().unwrap().iter().map(|lun| lun.as_str().unwrap().to_owned()).collect();
    assert_eq!(luns.len(), 8);
    for lun in &luns {
        assert_eq!(said_by("blockdev", &["--getsize64", lun]).trim(), "8388608", "{lun}");
        // Written over, so no LUN reads as zeros.
        let zeros = said_by("sh", &["-c", "head -c 1048576 \"$1\" | tr -d '\\0' | wc -c", "sh", lun]);
        assert!(zeros.trim().parse::<u64>().unwrap() > 1_000_000, "{lun}: {zeros}");
    }
    let own = std::fs::read_dir(stand.path().join("work/targets").join(&name)).unwrap();
    let pool = own.map(|entry| entry.unwrap().path()).find(|path| path.is_dir()).unwrap().join("pool");
    let usage = said_by("btrfs", &["filesystem", "df", pool.to_str().unwrap()]);
    assert!(usage.contains("Data, RAID10") && usage.contains("Metadata, RAID10"), "{usage}");
    assert!(said_by("lsattr", &[pool.join("lun0").to_str().unwrap()]).contains('C'), "not copied on write");
    assert_eq!(said_by("btrfs", &["filesystem", "show", pool.to_str().unwrap()]).matches("devid").count(), 12);
    // What one LUN is told, no other one has.
    let last = luns.last().unwrap();
    let script = "printf 'hello, lun' | dd of=\"$1\" conv=notrunc,fsync status=none && head -c 10 \"$2\"";
    assert_eq!(said_by("sh", &["-c", script, "sh", last, last]), "hello, lun");
    assert_ne!(said_by("head", &["-c", "10", &luns[0]]), "hello, lun");
    let again = stand.run(&arguments);
    says(&again, 2, &["exists already", "rig down --name"]);
    says(&stand.run(&["clean"]), 0, &["still set up", "rig down"]);
    stand.fine(&["rig", "down", "--name", &name]);
    assert_traces(&stand, &name, &[stand.path().join("work"), disks], &[], "after down");
    says(&stand.run(&["rig", "down", "--name", &name]), 2, &["there is no rig"]);
}

#[test]
fn two_controllers_export_their_shares_and_are_counted_apart() {
    if !pools_can_be_made() {
        return;
    }
    let (stand, name) = (Stand::new(), own_name("share"));
    stand.fine(&words(&up(&name, &[])));
    let before = stand.json(&["rig", "status"]);
    let target = &before["rigs"][0];
    for (number, controller) in target["controllers"].as_array().unwrap().iter().enumerate() {
        assert_eq!(controller["luns"], serde_json::json!([number]));
        assert!(controller["process"].as_u64().is_some(), "{controller}");
    }
    let uri = target["luns"][1].as_str().unwrap();
    assert_eq!(said_by("nbdinfo", &["--size", uri]).trim(), "8388608");
    assert!(
        said_by("nbdinfo", &["--size", &uri.replace("lun1", "lun0")]).is_empty(),
        "that one is the other controller's"
    );
    said_by("nbdcopy", &[uri, "null:"]);
    let after = stand.json(&["rig", "status"]);
    let cpu = |status: &serde_json::Value, number: usize| status["rigs"][0]["controllers"][number]["cpu_ns"].as_u64();
    // Where this machine counts, only the one that worked has used more.
    if let (Some(idle), Some(busy)) = (cpu(&before, 0), cpu(&before, 1)) {
        assert_eq!(cpu(&after, 0).unwrap(), idle);
        assert!(cpu(&after, 1).unwrap() > busy);
        assert!(after["rigs"][0]["controllers"][1]["memory_bytes"].as_u64().is_some_and(|bytes| bytes > 0));
    }
    stand.fine(&["rig", "down", "--name", &name]);
    assert_traces(&stand, &name, &[stand.path().join("work")], &[], "after down");
}

/// A PATH on which a program goes no farther than a gate, unless a condition of the shell's holds.
fn with_gate(stand: &Stand, gate: &Gate, program: &str, free: &str) -> String {
    let here = gate.path().display();
    let wait = format!("{{ : >'{here}/waits'; while ! [ -e '{here}/open' ]; do sleep 0.02; done; }}");
    path_with(stand, program, &format!("{free} || {wait}"))
}

/// A suite that reads its LUNs at random.
fn suite(stand: &Stand, repeats: u32) -> String {
    let text = format!(
        "name = \"t\"\ntitle = \"t\"\nrepeats = {repeats}\nwarmup = 0\nsample_hertz = 0\ntimeout = \"6h\"\n\
         gates = {{ steal = \"off\", frequency_fall = \"off\", swapping = \"off\", throttling = \"off\" }}\n\
         [[scenario]]\nname = \"read\"\ninstrument = \"fio\"\n\
         parameters = {{ rw = \"randread\", luns = 1, size = \"1GiB\", iodepth = 4, runtime = \"200ms\" }}\n\
         metrics = [{{ name = \"IOPS\", value = \"operations/wall\", unit = \"IOPS\", better = \"higher\" }}]\n"
    );
    let path = stand.path().join("suite.toml");
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn a_run_makes_its_target_says_what_it_was_and_takes_it_down() {
    if !pools_can_be_made() {
        return;
    }
    let stand = Stand::new();
    let suite = suite(&stand, 2);
    let file = stand.path().join("pool.toml");
    std::fs::write(&file, "where = \"tmpfs\"\ndisks = 4\ndisk_size = \"128MiB\"\nluns = 2\nlun_size = \"8MiB\"\n")
        .unwrap();
    let run = |more: &[&str]| {
        let words = ["run", suite.as_str(), "--target", file.to_str().unwrap(), "--no-progress", "--even-if-unfit"];
        let ended = stand.fine(&[&words[..], more].concat());
        let shown = stand.json(&["show", "last"]);
        assert_traces(&stand, "2", &[stand.path().join("work")], &[], "after the run");
        (ended, shown["run"].clone())
    };
    let (ended, shown) = run(&[]);
    for part in ["target: 4 disks of 128MiB (tmpfs), btrfs raid10, 2 LUNs of 8MiB, local", "not flash"] {
        let joined = ended.out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(joined.contains(part), "{part}\n{}", ended.out);
    }
    assert_eq!(shown["run"]["target"]["medium"], "memory");
    let parameters = &shown["repeats"][0]["begin"]["parameters"];
    assert_eq!((&parameters["luns"], &parameters["size"]), (&2.into(), &(8 << 20).into()), "{parameters}");
    let repeats = shown["repeats"].as_array().unwrap();
    // What btrfs's threads do, and other tests beside, does not count as foreign load.
    assert!(repeats.len() == 2 && repeats.iter().all(|repeat| repeat["outcome"] == "valid"), "{repeats:#?}");
    let (ended, shown) = run(&["--transport", "nbd", "--where", stand.path().to_str().unwrap()]);
    assert!(ended.out.contains("page cache"), "{}", ended.out);
    assert_eq!(shown["repeats"][0]["begin"]["parameters"]["ioengine"], "nbd");
    stand.fine(&["report", "last", "--output", "report.html"]);
    let page = std::fs::read_to_string(stand.path().join("report.html")).unwrap();
    assert!(page.contains("not flash") && page.contains("а не флеш-память"));
}

#[test]
fn a_target_is_loaded_by_the_storage_suite_and_by_job_files() {
    if !pools_can_be_made() {
        return;
    }
    let stand = Stand::new();
    let shown = stand.fine(&[&["run", "storage", "--dry-run"], &SMALL[..]].concat()).out;
    for part in ["ioengine=nbd", "ioengine=null", "luns=2", "size=8MiB"] {
        assert!(shown.contains(part), "{part}\n{shown}");
    }
    let jobs = stand.path().join("jobs.fio");
    let text = "[global]\nioengine=psync\nbs=4k\nrw=write\nsize=1m\n[one]\nfilename=${LUN1}\n[two]\nfilename=${LUN2}\n";
    std::fs::write(&jobs, text).unwrap();
    let run = ["run", "--fio", jobs.to_str().unwrap(), "--no-progress", "--even-if-unfit"];
    let pool = ["--where", "tmpfs", "--disks", "4", "--disk-size", "128MiB", "--luns", "2", "--lun-size", "8MiB"];
    let ended = stand.run(&[&run[..], &pool].concat());
    assert!(matches!(ended.status, Some(0 | 3)), "{}\n{}", ended.out, ended.err);
    let repeats = stand.json(&["show"])["run"]["repeats"].clone();
    assert_eq!(repeats[0]["report"]["work"]["operations"], 512.0, "{repeats}");
    assert_traces(&stand, "2", &[stand.path().join("work")], &[], "after the run");
    let more = stand.run(&[&run[..], &pool[..6], &["--luns", "1"]].concat());
    says(&more, 2, &["names ${LUN2}, and the target has LUNs up to ${LUN1}"]);
}

/// With a link that is cut while the target is loaded.
#[test]
fn a_target_behind_a_link_is_made_there_and_taken_down() {
    if !pools_can_be_made() {
        return;
    }
    let Some(sshd) = Sshd::new() else { return };
    sshd.with_build();
    sshd.has_all_programs();
    let suite = suite(&sshd.stand, 6);
    let left = [sshd.there().join("targets")];
    let run: Vec<_> =
        ["run", &suite, "--on", "stand", "--no-progress", "--even-if-unfit"].into_iter().chain(SMALL).collect();
    sshd.fine(&run);
    let shown = |sshd: &Sshd| parse(&sshd.fine(&["show", "--json"]).out)["run"].clone();
    let of_run = shown(&sshd);
    let valid = |of_run: &serde_json::Value| {
        let repeats = of_run["repeats"].as_array().unwrap();
        repeats.iter().filter(|repeat| repeat["outcome"] == "valid").count()
    };
    assert_eq!(valid(&of_run), 6, "{of_run:#}");
    assert_eq!(of_run["repeats"][0]["begin"]["parameters"]["ioengine"], "nbd");
    assert_traces(&sshd.stand, "2", &left, &[], "after the run");
    let text = std::fs::read_to_string(&suite).unwrap().replace("200ms", "3s").replace("repeats = 6", "repeats = 2");
    std::fs::write(&suite, text).unwrap();
    let child = sshd.command(&run).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let is_loaded = || traces(&sshd.stand, "2", &[]).iter().any(|trace| trace.starts_with("process fio "));
    wait_until("it is loaded", is_loaded);
    sshd.link.cut();
    let ended = child.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(4), "{}", String::from_utf8_lossy(&ended.stderr));
    assert!(!traces(&sshd.stand, "2", &[]).is_empty(), "the pool stands");
    sshd.link.mend();
    sshd.fine(&["resume", "--no-progress", "--even-if-unfit"]);
    assert_eq!(valid(&shown(&sshd)), 2);
    assert_traces(&sshd.stand, "2", &left, &[], "after the run went on");
    // It is refused where the machine cannot have it, before anything is made.
    std::fs::remove_file(sshd.stand.path().join("programs/nbdkit")).unwrap();
    sshd.refuses(&run, 4, &["nbdkit"]);
    assert_traces(&sshd.stand, "2", &left, &[], "after it was refused");
}

#[test]
fn a_killed_run_makes_its_target_anew_when_it_goes_on() {
    if !pools_can_be_made() {
        return;
    }
    let stand = Stand::new();
    let suite = suite(&stand, 6);
    let gate = Gate::new();
    // Only those that load: the pool is filled by fio too, and it is asked for what it can.
    let free = format!("case $* in *json+*) {} ;; esac", gate.lets_through(2));
    let path = with_gate(&stand, &gate, "fio", &free);
    let kill_after = |valid: u64, arguments: &[&str]| {
        let mut command = stand.command(arguments);
        let mut child = command.env("PATH", &path).stdout(Stdio::null()).spawn().unwrap();
        gate.wait_until_reached();
        gate.start_over();
        let state = || stand.json(&["rig", "status"])["rigs"][0]["state"].clone();
        assert_eq!(state(), "up");
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(state(), "left");
        assert_eq!(stand.json(&["list"])["runs"][0]["valid"], valid);
        assert!(!traces(&stand, "2", &[]).is_empty(), "the killed run left its pool");
    };
    let arguments: Vec<_> = ["run", &suite, "--no-progress", "--even-if-unfit"].into_iter().chain(SMALL).collect();
    kill_after(2, &arguments);
    let resume = ["resume", "--no-progress", "--even-if-unfit"];
    kill_after(4, &resume);
    stand.fine(&["clean"]);
    assert_traces(&stand, "2", &[stand.path().join("work")], &[], "after clean");
    gate.open();
    let ended = ended(stand.command(&resume).env("PATH", &path));
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    let shown = stand.json(&["show", "last"]);
    assert_eq!(shown["run"]["repeats"].as_array().unwrap().len(), 6);
    assert_eq!(shown["run"]["sessions"].as_array().unwrap().len(), 3);
    assert_traces(&stand, "2", &[stand.path().join("work")], &[], "after the run went on");
}

#[test]
fn interrupted_while_it_is_made_it_leaves_nothing_behind() {
    if !pools_can_be_made() {
        return;
    }
    let (stand, name) = (Stand::new(), own_name("interrupted"));
    // There are loop devices by then, and no pool yet.
    let gate = Gate::new();
    let path = with_gate(&stand, &gate, "mkfs.btrfs", "false");
    let mut command = stand.command(&words(&up(&name, &[])));
    let mut child = command.env("PATH", path).stdout(Stdio::null()).spawn().unwrap();
    gate.wait_until_reached();
    interrupt(&child);
    // What is being made is made first.
    gate.open();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_traces(&stand, &name, &[stand.path().join("work")], &[], "after Ctrl-C");
}

/// Whatever it says meanwhile, and however much.
#[test]
fn interrupted_while_it_is_filled_it_leaves_nothing_behind() {
    if !pools_can_be_made() {
        return;
    }
    let (stand, name) = (Stand::new(), own_name("filled"));
    let (begun, told) = (stand.path().join("begun"), stand.path().join("told"));
    // When it is told to end it first says more than a pipe holds, so that it is heard for as long.
    let line = "flood ".repeat(200);
    let floods = format!(
        "case $* in *--name=fill*) trap 'n=80; while [ $n -gt 0 ]; do echo \"{line}\"; n=$((n - 1)); done; : >\"{}\"; exit 1' TERM; \
         : >'{}'; while :; do echo \"{line}\"; done ;; esac",
        told.display(),
        begun.display()
    );
    let path = path_with(&stand, "fio", &floods);
    let ends_gently = || {
        let mut command = stand.command(&words(&up(&name, &[])));
        let child = command.env("PATH", &path).stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        wait_until("it is filled", || begun.exists());
        interrupt(&child);
        let ended = child.wait_with_output().unwrap();
        assert_eq!(ended.status.code(), Some(130), "{}", String::from_utf8_lossy(&ended.stderr));
        assert_traces(&stand, &name, &[stand.path().join("work")], &[], "after Ctrl-C");
        std::fs::remove_file(&begun).unwrap();
        told.exists()
    };
    // The guard waits two seconds from TERM to KILL, which may be too short on a busy machine.
    assert!((0..5).any(|_| ends_gently()), "it is told to end, and waited for");
}

#[test]
fn files_need_no_root_and_are_exported_too() {
    if !pools_can_be_made() {
        return;
    }
    let stand = Stand::new();
    let as_nobody = |arguments: &[&str]| stand.command_of_nobody(arguments).unwrap();
    let made =
        ended(&mut as_nobody(&["rig", "up", "--luns", "3", "--lun-size", "2MiB", "--transport", "nbd", "--json"]));
    assert_eq!(made.status, Some(0), "{}", made.err);
    let made: serde_json::Value = serde_json::from_str(&made.out).unwrap();
    let target = &made["rigs"][0];
    assert_eq!(target["target"]["storage"], serde_json::json!({ "kind": "file", "where": "work" }));
    assert_eq!(target["controllers"][0]["luns"], serde_json::json!([0, 2]));
    assert_eq!(target["controllers"][0]["cpu_ns"], serde_json::Value::Null, "who is not root makes no control groups");
    let uri = target["luns"][2].as_str().unwrap();
    assert_eq!(said_by("nbdinfo", &["--size", uri]).trim(), "2097152");
    let down = ended(&mut as_nobody(&["rig", "down"]));
    assert_eq!(down.status, Some(0), "{}", down.err);
    assert_traces(&stand, "rig", &[stand.path().join("work")], &[], "after down");
}

#[test]
fn a_directory_behind_a_link_has_loop_devices_that_are_found_again() {
    if !pools_can_be_made() {
        return;
    }
    let (stand, name) = (Stand::new(), own_name("link"));
    let (disks, link) = (stand.path().join("disks"), stand.path().join("link"));
    std::fs::create_dir(&disks).unwrap();
    std::os::unix::fs::symlink(&disks, &link).unwrap();
    let link = link.to_str().unwrap();
    let size = ["--where", link, "--disks", "4", "--disk-size", "128MiB", "--luns", "1", "--lun-size", "8MiB"];
    let made = stand.json(&[&["rig", "up", "--name", &name], &size[..]].concat());
    assert!(made["rigs"][0]["luns"][0].as_str().is_some_and(|lun| lun.starts_with("/dev/loop")), "{made}");
    stand.fine(&["rig", "down", "--name", &name]);
    assert_traces(&stand, &name, &[stand.path().join("work"), disks], &[], "after down");
}

#[test]
fn luns_that_do_not_fit_after_all_leave_nothing_behind() {
    if !pools_can_be_made() {
        return;
    }
    let (stand, name) = (Stand::new(), own_name("tight"));
    // 256 MiB of pool, of which btrfs itself takes more than 8.
    let size = ["--where", "tmpfs", "--disks", "4", "--disk-size", "128MiB", "--luns", "2", "--lun-size", "124MiB"];
    let ended = stand.run(&[&["rig", "up", "--name", &name], &size[..]].concat());
    says(&ended, 4, &["lun1 cannot be made", "No space", "make the LUNs smaller"]);
    assert_traces(&stand, &name, &[stand.path().join("work")], &[], "after a pool that was too small");
}

#[test]
fn a_disk_that_fills_up_meanwhile_leaves_nothing_behind() {
    if !pools_can_be_made() {
        return;
    }
    let (stand, name) = (Stand::new(), own_name("full"));
    let disk = stand.path().join("disk");
    std::fs::create_dir(&disk).unwrap();
    let script = r#"
        mount -t tmpfs -o size=640m none "$DISK" || exit 99
        "$STEND" rig up --name "$NAME" --where "$DISK" --disks 4 --disk-size 128MiB --luns 2 --lun-size 96MiB &
        stend=$!
        # It passed the check, and then somebody else takes the space.
        for _ in $(seq 4000); do
            set -- "$DISK"/stend-*/disk0
            [ -e "$1" ] && break
            sleep 0.005
        done
        mount -o remount,size=1m "$DISK" || exit 98
        wait $stend
        status=$?
        losetup --list --noheadings --output BACK-FILE | grep -F "$DISK" && exit 97
        ls -A "$DISK" && [ -z "$(ls -A "$DISK")" ] || exit 96
        exit $status
    "#;
    let stend = stand.command(&[]).get_program().to_str().unwrap().to_owned();
    let work = stand.path().join("work");
    let probe = probe();
    let environment = [
        ("DISK", disk.to_str().unwrap()),
        ("STEND", &stend),
        ("NAME", &name),
        ("STEND_WORK", work.to_str().unwrap()),
        ("STEND_PROBE", probe.to_str().unwrap()),
    ];
    let Some(ended) = in_own_mounts(script, &environment) else { return };
    says(&ended, 4, &["cannot be made"]);
    assert_traces(&stand, &name, &[work], &[], "after a full disk");
}
