//! Targets that a machine cannot have, or that would cost somebody's data: said in one line, and nothing is made.

use std::io::BufRead as _;
use std::process::{Command, Stdio};

use crate::common::pools::{pools_can_be_made, said_by, says, up, words};
use crate::common::{Stand, ended};

#[test]
fn what_a_machine_cannot_have_is_said_before_anything_is_made() {
    let stand = Stand::new();
    let nothing_made = || assert!(!stand.path().join("work/targets").exists());
    let refused = |arguments: &[&str], status: i32, parts: &[&str]| {
        let ended = stand.run(&[&["rig", "up"], arguments].concat());
        says(&ended, status, parts);
        assert_eq!(ended.err.trim_end().lines().count(), 1, "one line: {}", ended.err);
        nothing_made();
    };
    says(&stand.run(&["rig", "up", "--layout", "raid6"]), 2, &["raid6", "raid10"]);
    says(&stand.run(&["rig", "up", "--name", "../etc"]), 2, &["lower-case letters"]);
    refused(&["--disks", "3"], 2, &["--disks: raid10 of 3 disks cannot be made"]);
    refused(&["--destructive", "S1"], 2, &["--destructive", "this target has none"]);
    refused(&["--target", "nowhere.toml"], 2, &["nowhere.toml cannot be read"]);
    std::fs::write(stand.path().join("bad.toml"), "kind = \"pool\"\nraid = 10\n").unwrap();
    refused(&["--target", "bad.toml"], 2, &["bad.toml:2:1: unknown field `raid`"]);
    refused(&["--where", "/no/such/place"], 2, &["/no/such/place", "make it first"]);
    let large = format!("{}", 1u64 << 50);
    refused(&["--where", stand.path().to_str().unwrap(), "--lun-size", &large], 4, &["free", "make it smaller"]);
    if !pools_can_be_made() {
        return;
    }
    refused(&["--where", "tmpfs", "--lun-size", &large], 4, &["of memory", "make it smaller"]);
    refused(&["--devices", "/dev/null"], 2, &["/dev/null is no block device"]);
    // Devices that somebody uses, or that hold something.
    let image = stand.path().join("image");
    std::fs::File::create(&image).unwrap().set_len(128 << 20).unwrap();
    let image = image.to_str().unwrap();
    let device = said_by("losetup", &["--find", "--show", image]).trim().to_owned();
    let in_use = || {
        let flags = ["--devices", device.as_str()];
        refused(&flags, 2, &["would be overwritten; to allow that", "--destructive SERIAL"]);
        let wrong = [&flags[..], &["--destructive", "S1"]].concat();
        refused(
            &wrong,
            2,
            &["would be overwritten", "--destructive S1 is not its serial number", "--destructive SERIAL"],
        );
        let more = [&flags[..], &["--destructive", image, "--destructive", "S1"]].concat();
        refused(&more, 2, &["--destructive S1", "none of the target's"]);
        let large = [&flags[..], &["--destructive", image, "--lun-size", "1GiB"]].concat();
        refused(&large, 2, &["LUNs of 1GiB", "128MiB"]);
        assert!(Command::new("mkfs.btrfs").args(["-q", &device]).status().unwrap().success());
        refused(&flags, 2, &["it holds btrfs"]);
        let place = stand.path().join("place");
        std::fs::create_dir(&place).unwrap();
        assert!(Command::new("mount").arg(&device).arg(&place).status().unwrap().success());
        let refusal = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            refused(
                &[&flags[..], &["--destructive", image]].concat(),
                2,
                &["is in use", "mounted on", "whatever is typed"],
            );
        }));
        assert!(Command::new("umount").arg(&place).status().unwrap().success());
        refusal.unwrap();
        // What only other processes see as mounted.
        assert!(Command::new("mkfs.ext4").args(["-q", "-F", &device]).status().unwrap().success());
        let allowed = [&flags[..], &["--destructive", image]].concat();
        let script = "mount \"$1\" \"$2\" && echo mounted && cat";
        let mut elsewhere = Command::new("unshare")
            .args(["--mount", "--propagation", "private", "sh", "-c", script, "sh", &device])
            .arg(&place)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        std::io::BufReader::new(elsewhere.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let refusal = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            assert_eq!(line, "mounted\n");
            refused(&allowed, 2, &["is in use", "whatever is typed"]);
        }));
        drop(elsewhere.stdin.take());
        elsewhere.wait().unwrap();
        refusal.unwrap();
        // A partition that belongs to somebody, without a trace in the system.
        let partition = format!("{device}p1");
        assert!(Command::new("addpart").args([&device, "1", "2048", "65536"]).status().unwrap().success());
        let script = "printf 'HM\\001\\000' | dd of=\"$1\" conv=notrunc,fsync status=none";
        assert!(Command::new("sh").args(["-c", script, "sh", &partition]).status().unwrap().success());
        let refusal = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            refused(&allowed, 2, &["is in use", "p1 is a LVM1_member"]);
        }));
        assert!(Command::new("delpart").args([&device, "1"]).status().unwrap().success());
        refusal.unwrap();
        // One device under two names.
        let twice = format!("{device},{}", device.replace("/dev/", "/dev/./"));
        refused(&["--devices", &twice, "--destructive", image], 2, &["are the same device"]);
        // Allowed, it is the LUN.
        let made = stand.json(&["rig", "up", "--devices", &device, "--destructive", image]);
        assert_eq!(made["rigs"][0]["luns"], serde_json::json!([device]));
        assert_eq!(made["rigs"][0]["target"]["lun_size"], "128MiB");
        stand.fine(&["rig", "down"]);
        // Or a disk of a pool, which takes its own mark from it in the end.
        let second = stand.path().join("second");
        std::fs::File::create(&second).unwrap().set_len(128 << 20).unwrap();
        let second = second.to_str().unwrap();
        let other = said_by("losetup", &["--find", "--show", second]).trim().to_owned();
        let pool = [
            "rig",
            "up",
            "--kind",
            "pool",
            "--layout",
            "mirror",
            "--luns",
            "1",
            "--lun-size",
            "16MiB",
            "--destructive",
            image,
            "--destructive",
            second,
        ];
        let devices = format!("{device},{other}");
        let made = stand.run(&[&pool[..], &["--devices", &devices]].concat());
        let kind = said_by("blkid", &["-p", "-s", "TYPE", "-o", "value", &other]);
        let down = stand.run(&["rig", "down"]);
        let left = [&device, &other].map(|device| said_by("blkid", &["-p", "-s", "TYPE", "-o", "value", device]));
        let _ = Command::new("losetup").args(["-d", &other]).status();
        assert_eq!((made.status, down.status), (Some(0), Some(0)), "{}\n{}", made.err, down.err);
        assert_eq!((kind.trim(), left), ("btrfs", [String::new(), String::new()]));
    };
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(in_use));
    let _ = Command::new("losetup").args(["-d", &device]).status();
    outcome.unwrap();
}

#[test]
fn a_socket_whose_path_is_too_long_for_a_run_is_said_before_there_is_a_run() {
    if !pools_can_be_made() {
        return;
    }
    let stand = Stand::new();
    let suite = stand.suite("", &[("load", "steady.sh 1")]);
    // A target of a short name would have its socket in it.
    let mut work = stand.path().join("w").to_str().unwrap().to_owned();
    let more = 80_usize.saturating_sub(work.len());
    work.extend(std::iter::repeat_n('w', more));
    let words = ["run", &suite, "--even-if-unfit", "--luns", "1", "--lun-size", "1MiB", "--transport", "nbd"];
    let refused = ended(stand.command(&words).env("STEND_WORK", &work));
    says(&refused, 4, &["the path of the socket", "set STEND_WORK to a shorter one"]);
    assert_eq!(stand.json(&["list"])["runs"], serde_json::json!([]));
}

#[test]
fn a_missing_transport_and_a_missing_root_are_named() {
    if !pools_can_be_made() {
        return;
    }
    let stand = Stand::new();
    let bin = stand.path().join("bin");
    std::fs::create_dir(&bin).unwrap();
    for directory in ["/usr/bin", "/usr/sbin"] {
        for entry in std::fs::read_dir(directory).unwrap().flatten().filter(|entry| entry.file_name() != "nbdkit") {
            let _ = std::os::unix::fs::symlink(entry.path(), bin.join(entry.file_name()));
        }
    }
    let arguments = up("missing", &[]);
    let without = ended(stand.command(&words(&arguments)).env("PATH", &bin));
    says(&without, 4, &["needs nbdkit", "apt-get install -y nbdkit"]);
    // Somebody who is not root.
    if let Some(mut command) = stand.command_of_nobody(&words(&arguments)) {
        says(&ended(&mut command), 4, &["a pool takes root", "sudo", "kind = \"file\""]);
    }
}
