//! LUNs that reach the load by another way than a loop device or NBD, and what is said where a machine has no such way.

use std::process::{Command, Stdio};

use crate::common::pools::{SMALL, assert_traces, own_name, pools_can_be_made, said_by, says};
use crate::common::{Ended, Stand, ended, path_with};

/// Whether LUNs can be exported by iSCSI here and brought to the load in user space; if not, the test says so and passes, but not under CI.
fn iscsi_can_be_had() -> bool {
    if !pools_can_be_made() {
        return false;
    }
    let found = Command::new("sh").args(["-c", "command -v tgtd tgtadm qemu-storage-daemon"]).output().unwrap();
    // Its driver for iSCSI is a package of its own. With it this fails too, for want of a portal.
    let driver = "driver=iscsi,node-name=a,transport=tcp,portal=127.0.0.1:1,target=none";
    let tried = Command::new("timeout").args(["10", "qemu-storage-daemon", "--blockdev", driver]).output().unwrap();
    let why = if !found.status.success() {
        "tgt or qemu-storage-daemon is missing"
    } else if String::from_utf8_lossy(&tried.stderr).contains("Unknown driver") {
        "qemu-block-extra is missing"
    } else {
        return true;
    };
    assert!(std::env::var_os("CI").is_none(), "under CI nothing may be skipped: {why}");
    eprintln!("skipped: {why}");
    false
}

/// Two controllers with a file for each LUN.
const FILES: [&str; 10] =
    ["--luns", "3", "--lun-size", "2MiB", "--transport", "iscsi", "--controllers", "2", "--where", "tmpfs"];

fn iscsi(name: &str) -> Vec<&str> {
    [&["rig", "up", "--name", name], &FILES[..]].concat()
}

fn luns(target: &serde_json::Value) -> Vec<String> {
    target["luns"].as_array().unwrap().iter().map(|lun| lun.as_str().unwrap().to_owned()).collect()
}

#[test]
fn what_is_written_by_iscsi_lies_in_the_pool_and_is_read_back() {
    if !iscsi_can_be_had() {
        return;
    }
    let (stand, name) = (Stand::new(), own_name("iscsi"));
    // All of the small pool but its LUNs' number and transport.
    let more = ["--luns", "3", "--lun-size", "8MiB", "--transport", "iscsi"];
    let made = stand.json(&[&["rig", "up", "--name", &name], &SMALL[..6], &more].concat());
    let target = &made["rigs"][0];
    assert_eq!(target["target"]["storage"]["manager"], "btrfs", "the first that this machine has");
    let luns = luns(target);
    // Bytes that differ from one block to the next, to each LUN others.
    for (number, lun) in luns.iter().enumerate() {
        let bytes: Vec<u8> =
            (0..8_u32 << 20).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8 ^ number as u8).collect();
        let (written, back) = (stand.path().join("written"), stand.path().join("back"));
        std::fs::write(&written, &bytes).unwrap();
        assert!(Command::new("nbdcopy").arg("--flush").args([&written]).arg(lun).status().unwrap().success());
        assert!(Command::new("nbdcopy").arg(lun).arg(&back).status().unwrap().success());
        assert!(std::fs::read(&back).unwrap() == bytes, "{lun}");
        let found = said_by("find", &[stand.path().to_str().unwrap(), "-name", &format!("lun{number}")]);
        let file = found.lines().next().unwrap();
        assert!(file.contains(&format!("/pool/controller{}/", number % 2)), "{found}");
        assert!(std::fs::read(file).unwrap() == bytes, "{file}");
    }
    // Who serves and who loads are counted apart.
    let status = stand.json(&["rig", "status"]);
    let target = &status["rigs"][0];
    for (what, numbers) in [("controllers", [[0, 2].as_slice(), &[1]]), ("initiators", [&[0, 2], &[1]])] {
        for (process, numbers) in target[what].as_array().unwrap().iter().zip(numbers) {
            assert_eq!(process["luns"], serde_json::json!(numbers), "{what}");
            assert!(process["process"].as_u64().is_some(), "{what}: {process}");
        }
        assert_eq!(target[what].as_array().unwrap().len(), 2);
    }
    let text = stand.fine(&["rig", "status"]).out;
    assert!(text.contains("controller1  lun1") && text.contains("initiator0  lun0 lun2"), "{text}");
    stand.fine(&["rig", "down", "--name", &name]);
    assert_traces(&stand, &name, &[stand.path().join("work")], &[], "after down");
}

#[test]
fn killed_while_it_starts_its_servers_nothing_of_them_is_left_after_clean() {
    if !iscsi_can_be_had() {
        return;
    }
    let (stand, name) = (Stand::new(), own_name("iscsikill"));
    let ledger = stand.path().join("work/targets").join(&name).join("ledger");
    // Each is killed when the ledger says that this is about to be made.
    for (thing, times) in [("\"tgtd\"", 1), ("\"tgtd\"", 2), ("\"iscsi_bridge\"", 1), ("\"iscsi_bridge\"", 2)] {
        let mut child = stand.command(&iscsi(&name)).stdout(Stdio::null()).spawn().unwrap();
        crate::common::wait_until(thing, || {
            std::fs::read_to_string(&ledger).is_ok_and(|text| text.matches(thing).count() >= times)
        });
        child.kill().unwrap();
        child.wait().unwrap();
        stand.fine(&["clean"]);
        // It had been made by then, if it was faster.
        let _ = stand.run(&["rig", "down", "--name", &name]);
        assert_traces(&stand, &name, &[stand.path().join("work")], &[], &format!("after a kill at {thing} {times}"));
    }
}

#[test]
fn a_tgtd_that_hangs_is_named_and_ended() {
    if !iscsi_can_be_had() {
        return;
    }
    let (stand, name) = (Stand::new(), own_name("iscsihang"));
    for hangs_at in ["--mode portal --op show", "--mode target --op new"] {
        let path = path_with(&stand, "timeout", &format!("case $* in *tgtadm*'{hangs_at}'*) exit 124 ;; esac"));
        let ended = ended(stand.command(&iscsi(&name)).env("PATH", path));
        says(&ended, 4, &["tgtd for iqn", "has not answered for a minute"]);
        assert_traces(&stand, &name, &[stand.path().join("work")], &[], hangs_at);
    }
}

/// A suite that writes with marks and reads back.
fn suite(stand: &Stand) -> String {
    let text = "name = \"t\"\ntitle = \"t\"\nrepeats = 1\nwarmup = 0\nsample_hertz = 0\ntimeout = \"6h\"\n\
         gates = { steal = \"off\", frequency_fall = \"off\", swapping = \"off\", throttling = \"off\" }\n\
         [[scenario]]\nname = \"write\"\ninstrument = \"fio\"\n\
         parameters = { rw = \"write\", luns = 1, size = \"1GiB\", iodepth = 4, loops = 1, verify = \"marks\" }\n\
         metrics = [{ name = \"IOPS\", value = \"operations/wall\", unit = \"IOPS\", better = \"higher\" }]\n";
    let path = stand.path().join("suite.toml");
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn a_run_loads_a_standing_target_and_leaves_it_standing() {
    if !iscsi_can_be_had() {
        return;
    }
    let (stand, name) = (Stand::new(), own_name("mine"));
    let suite = suite(&stand);
    let before = luns(&stand.json(&iscsi(&name))["rigs"][0]);
    let run = ["run", suite.as_str(), "--no-progress", "--even-if-unfit", "--target-name", &name];
    let ended = stand.fine(&run);
    let said = ended.out.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in
        ["iscsi from 2 controllers", "between fio and tgtd stands qemu-storage-daemon", "it stood before the run"]
    {
        assert!(said.contains(part), "{part}\n{}", ended.out);
    }
    let shown = stand.json(&["show", "last"])["run"].clone();
    let parameters = &shown["repeats"][0]["begin"]["parameters"];
    assert_eq!((&parameters["luns"], &parameters["ioengine"]), (&3.into(), &"nbd".into()), "{parameters}");
    assert_eq!(
        (&shown["run"]["target"]["name"], &shown["repeats"][0]["outcome"]),
        (&name.as_str().into(), &"valid".into())
    );
    let after = stand.json(&["rig", "status"]);
    assert_eq!((after["rigs"][0]["state"].as_str(), luns(&after["rigs"][0])), (Some("up"), before));
    says(&stand.run(&[&run[..], &["--luns", "2"]].concat()), 2, &["--target-name", "leave out the other flags"]);
    let jobs = stand.path().join("jobs.fio");
    std::fs::write(&jobs, "[one]\nfilename=${LUN1}\nrw=read\nsize=1m\n").unwrap();
    let of_paths = stand.run(&["run", "--fio", jobs.to_str().unwrap(), "--target-name", &name]);
    says(&of_paths, 2, &["behind iscsi they have none", "set transport = \"local\""]);
    stand.fine(&["rig", "down", "--name", &name]);
    assert_traces(&stand, &name, &[stand.path().join("work")], &[], "after down");
    says(&stand.run(&run), 2, &["no target of the name", "rig up --name"]);
}

/// Who is not root, and a PATH without a program.
fn refused_without(stand: &Stand, missing: &str, arguments: &[&str]) -> Ended {
    let bin = stand.path().join(format!("without-{missing}"));
    std::fs::create_dir(&bin).unwrap();
    for directory in ["/usr/bin", "/usr/sbin"] {
        for entry in std::fs::read_dir(directory).unwrap().flatten().filter(|entry| entry.file_name() != missing) {
            let _ = std::os::unix::fs::symlink(entry.path(), bin.join(entry.file_name()));
        }
    }
    // The scripts look there too, whatever the PATH is.
    let script = "mount -t tmpfs none /usr/sbin && exec \"$@\"";
    let mut command = stand.command(arguments);
    command.env("PATH", &bin);
    let mut own = Command::new("unshare");
    own.args(["--mount", "--propagation", "private", "sh", "-c", script, "sh"]);
    own.arg(command.get_program()).args(arguments).current_dir(stand.path());
    own.envs(command.get_envs().filter_map(|(key, value)| Some((key, value?))));
    ended(&mut own)
}

#[test]
fn what_a_machine_lacks_is_named_with_what_brings_it() {
    let stand = Stand::new();
    let up = |more: &[&str]| stand.run(&[&["rig", "up"], more].concat());
    says(&up(&["--manager", "raid"]), 2, &["raid", "btrfs"]);
    says(&up(&["--manager", "md", "--layout", "mirror", "--disks", "4"]), 2, &["a mirror by md", "take 2 disks"]);
    says(&up(&["--manager", "zfs", "--transport", "nfs"]), 2, &["nfs exports files", "manager = \"btrfs\""]);
    says(&up(&["--transport", "nvme-tcp", "--controllers", "2"]), 2, &["no process exports anything"]);
    if !iscsi_can_be_had() {
        return;
    }
    let found = stand.json(&["doctor"]);
    let findings = found["findings"].as_array().unwrap();
    let finding =
        |what: &str| findings.iter().find(|finding| finding["what"] == what).unwrap_or_else(|| panic!("{what}"));
    assert_eq!(finding("pools by btrfs")["fine"], true);
    assert_eq!(finding("transport iscsi")["fine"], true);
    let of_all = ["pools by md", "pools by lvm", "pools by zfs", "transport nvme-tcp", "transport nfs"];
    for (what, flags) in of_all.into_iter().zip([
        &["--manager", "md"][..],
        &["--manager", "lvm"],
        &["--manager", "zfs"],
        &["--transport", "nvme-tcp"],
        &["--transport", "nfs"],
    ]) {
        let finding = finding(what);
        if finding["fine"] == true {
            continue;
        }
        // What doctor says is what the command says, in one line.
        let state = finding["state"].as_str().unwrap();
        let refused = up(flags);
        says(&refused, 4, &[state, finding["remedy"].as_str().unwrap()]);
        assert_eq!(refused.err.trim_end().lines().count(), 1, "{}", refused.err);
        assert!(!stand.path().join("work").exists(), "nothing is made, and no lock is left");
    }
    let without = refused_without(&stand, "tgtd", &["rig", "up", "--transport", "iscsi", "--luns", "1"]);
    says(&without, 4, &["the transport iscsi needs tgtd", "apt-get install -y tgt"]);
    if let Some(mut as_nobody) = stand.command_of_nobody(&["rig", "up", "--transport", "iscsi"]) {
        says(&ended(&mut as_nobody), 4, &["iscsi takes root", "sudo"]);
    }
}
