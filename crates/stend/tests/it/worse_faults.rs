//! Faults that a pool does not see coming, or does not survive: a disk that rots and is scrubbed, a slow disk, disks that are lost, a power
//! failure.

use serde_json::Value;

use crate::common::pools::{own_name, pools_can_be_made, said_by, says};
use crate::common::{Stand, ended, executable, path_with};
use crate::faults::{POOL, local, marks, pool, suite_of, traces, valid_repeat};

fn labels(wanted: &[(&str, &str)]) -> Vec<(String, String)> {
    wanted.iter().map(|(kind, label)| ((*kind).to_owned(), (*label).to_owned())).collect()
}

const ROT: &str = "[{ at = \"1s\", disk = 1, action = \"rot\" }, { at = \"2s\", disk = 1, action = \"scrub\" }]";

#[test]
fn a_disk_that_rots_is_mended_by_a_scrub_and_nothing_is_lost() {
    if !pools_can_be_made() {
        return;
    }
    let stand = Stand::new();
    let suite = suite_of(&stand, 1, "rate_iops = 150, rate_process = \"linear\"", ROT);
    let pool = pool(&stand, &format!("{}checksums = true\n", local()));
    let ended = stand.run(&["run", &suite, "--target", &pool, "--even-if-unfit", "--no-progress"]);
    assert_eq!(ended.status, Some(0), "{}\n{}", ended.out, ended.err);
    let repeat = valid_repeat(&stand);
    let wanted = [("fault", "disk_rots 1"), ("recovery", "scrub_begins 1"), ("recovery", "scrub_ends 1")];
    assert_eq!(marks(&repeat), labels(&wanted));
    let observed = |name: &str| repeat["report"]["observed"][format!("disk1_scrub_{name}")].as_f64().unwrap();
    // On a busy machine spoiling takes longer than the load, which writes the whole LUN anew: then there is nothing left to be found.
    let report = &repeat["report"];
    let load_ends = report["t_ns"].as_i64().unwrap() + report["wall_ns"].as_i64().unwrap();
    let begins = repeat["marks"].as_array().unwrap().iter().find(|mark| mark["label"]["deed"] == "scrub_begins");
    if begins.unwrap()["t_ns"].as_i64().unwrap() < load_ends {
        assert!(observed("corrected_errors") > 0.0 && observed("csum_errors") > 0.0, "{repeat:#}");
    }
    assert_eq!(observed("uncorrectable_errors"), 0.0, "{repeat:#}");
    assert_eq!(traces(&stand), [""; 0], "and all is taken down");
}

/// Without checksums a pool returns either of two copies, so it is no use to spoil one.
#[test]
fn a_disk_rots_only_where_somebody_can_tell() {
    let stand = Stand::new();
    let suite = suite_of(&stand, 1, "rate_iops = 150", ROT);
    for (target, words) in [
        (POOL.to_owned(), "checksums = true"),
        (format!("{POOL}manager = \"md\"\nchecksums = true\n"), "only LUNs in a btrfs"),
    ] {
        let ended = stand.run(&["run", &suite, "--target", &pool(&stand, &target)]);
        says(&ended, 2, &[words]);
        assert_eq!(ended.err.lines().count(), 1, "{}", ended.err);
    }
}

/// The load takes seven seconds at its rate, and more than ten where half of what it writes goes to a disk that takes a mebibyte a second:
/// otherwise it would have ended before the disk recovers, and would not count.
#[test]
fn a_disk_is_slow_for_a_while() {
    if !pools_can_be_made() {
        return;
    }
    let stand = Stand::new();
    let faults = "[{ at = \"300ms\", disk = 1, action = \"slow\" }, { at = \"10s\", disk = 1, action = \"recover\" }]";
    let suite = suite_of(&stand, 1, "rate_iops = 75, rate_process = \"linear\"", faults);
    let pool = pool(&stand, &local());
    let ended = stand.run(&["run", &suite, "--target", &pool, "--even-if-unfit", "--no-progress"]);
    assert_eq!(ended.status, Some(0), "{}\n{}", ended.out, ended.err);
    let repeat = valid_repeat(&stand);
    assert_eq!(marks(&repeat), labels(&[("fault", "disk_slows 1"), ("recovery", "disk_recovers 1")]));
    assert_eq!(traces(&stand), [""; 0], "and all is taken down");
}

/// The repeats of a run of this load, one operation at a time, with these faults at four seconds; and how it ended. `before`: what the shell
/// does before it becomes this program. Each is to write a mebibyte before its fault, of which something is on every disk: where the
/// machine is too slow for that, all is made again with four seconds more, which is less than the load takes.
fn repeats(
    stand: &Stand,
    target: &str,
    repeats: u32,
    load: &str,
    faults: &str,
    (program, before): (&str, &str),
) -> (Option<i32>, Vec<Value>) {
    let pool = pool(stand, target);
    let mut seconds = 4;
    loop {
        let faults = faults.replace("\"4s\"", &format!("\"{seconds}s\""));
        let suite = suite_of(stand, repeats, load, &faults);
        let text = std::fs::read_to_string(&suite).unwrap().replace("iodepth = 4", "iodepth = 1");
        std::fs::write(&suite, text).unwrap();
        // None is made again because it does not count.
        let run = ["run", &suite, "--target", &pool, "--time-budget", "1ms", "--even-if-unfit", "--no-progress"];
        let mut command = stand.command(&run);
        if !before.is_empty() {
            command.env("PATH", path_with(stand, program, before));
        }
        let ended = ended(&mut command);
        assert!(matches!(ended.status, Some(0 | 3)), "{}\n{}", ended.out, ended.err);
        assert_eq!(traces(stand), [""; 0], "and all is taken down");
        let found = stand.json(&["show"])["run"]["repeats"].as_array().unwrap().clone();
        let written = |repeat: &Value| repeat["report"]["work"]["bytes"].as_f64().unwrap_or_default();
        if found.iter().all(|repeat| written(repeat) >= 1024.0 * 1024.0) {
            return (ended.status, found);
        }
        seconds += 4;
    }
}

fn observed(repeat: &Value, name: &str) -> f64 {
    repeat["report"]["observed"][name].as_f64().unwrap_or_else(|| panic!("{name}: {repeat:#}"))
}

/// What was checked of a repeat, the first of this kind.
fn checked<'a>(repeat: &'a Value, what: &str) -> Option<&'a Value> {
    repeat["report"]["evidence"].as_array().unwrap().iter().find(|fact| fact["check"] == what)
}

const POWER: &str = "[{ at = \"4s\", pool = true, action = \"power-off\" }]";
const FLUSHES: &str = "rate_iops = 50, rate_process = \"linear\", fsync = 4";

#[test]
fn what_was_flushed_survives_a_power_failure_and_each_repeat_has_a_pool_of_its_own() {
    if !pools_can_be_made() {
        return;
    }
    let stand = Stand::new();
    let (status, found) = repeats(&stand, &local(), 2, FLUSHES, POWER, ("", ""));
    assert_eq!((status, found.len()), (Some(0), 2), "{found:#?}");
    for repeat in &found {
        assert_eq!((&repeat["outcome"], &repeat["report"]["check"]), (&"valid".into(), &"passed".into()), "{repeat:#}");
        assert_eq!(marks(repeat), labels(&[("fault", "power_lost")]));
        assert!(observed(repeat, "flushed_bytes") > 0.0 && observed(repeat, "lost_flushed_bytes") == 0.0, "{repeat:#}");
        assert!(checked(repeat, "flushed_there").is_some(), "{repeat:#}");
    }
}

/// The disks' processes die one after another, on a busy machine with time between them in which a mirror would go on with its other half.
#[test]
fn no_disk_outlives_another_in_a_power_failure() {
    if !pools_can_be_made() {
        return;
    }
    let stand = Stand::new();
    let slowly = "script=$2\n\
        case $script in *'kill -s'*)\n\
        shift 2\n\
        set -- -c \"kill() {\n\
            case \\$1 in -s) how=\\\"-s \\$2\\\"; shift 2 ;; -*) how=\\$1; shift ;; *) how= ;; esac\n\
            while command kill \\$how \\\"\\$1\\\" && [ \\$# -gt 1 ]; do shift; sleep 1; done\n\
        }\n\
        $script\" \"$@\" ;;\n\
        esac";
    let (status, found) = repeats(&stand, &local(), 1, FLUSHES, POWER, ("sh", slowly));
    assert_eq!((status, found.len()), (Some(0), 1), "{found:#?}");
    assert_eq!(observed(&found[0], "lost_flushed_bytes"), 0.0, "{:#}", found[0]);
}

/// The last repeat leaves no pool, so what is profiled after it has one of its own.
#[test]
fn what_is_profiled_after_a_power_failure_has_a_pool() {
    if !pools_can_be_made() {
        return;
    }
    let stand = Stand::new();
    let suite = suite_of(&stand, 1, FLUSHES, POWER);
    let text = std::fs::read_to_string(&suite).unwrap().replace("iodepth = 4", "iodepth = 1");
    let (head, lost) = text.split_once("[[scenario]]").unwrap();
    let reads = "[[scenario]]\nname = \"reads\"\ninstrument = \"fio\"\n\
        parameters = { rw = \"read\", bs = \"16k\", size = \"1MiB\", luns = 1 }\n\
        metrics = [{ name = \"throughput\", value = \"bytes/wall\", unit = \"B/s\", better = \"higher\" }]\n";
    std::fs::write(&suite, format!("{head}{reads}[[scenario]]{lost}")).unwrap();
    let path = path_with(&stand, "perf", "");
    executable(&stand.path().join("programs/perf"), crate::profile::STAND_IN);
    std::fs::write(stand.path().join("programs/script.txt"), crate::profile::SCRIPT).unwrap();
    let pool = pool(&stand, &local());
    let mut command =
        stand.command(&["run", &suite, "--target", &pool, "--profile", "--even-if-unfit", "--no-progress"]);
    let ended = ended(command.env("PATH", path));
    assert_eq!(ended.status, Some(0), "{}\n{}", ended.out, ended.err);
    let profiles = stand.json(&["profile", "last"])["profiles"].clone();
    assert_eq!((&profiles[0]["scenario"], &profiles[0]["lacks"]), (&"reads".into(), &Value::Null));
    assert_eq!(profiles[0]["observed"]["kind"], "stacks", "{profiles:#}");
    assert_eq!(profiles.as_array().unwrap().len(), 1, "{profiles:#}");
    assert_eq!(traces(&stand), [""; 0], "and all is taken down");
}

/// Otherwise the test above would pass on disks that keep everything.
#[test]
fn what_was_not_flushed_does_not_survive_a_power_failure() {
    if !pools_can_be_made() {
        return;
    }
    let stand = Stand::new();
    let (status, found) = repeats(&stand, POOL, 1, "rate_iops = 50, rate_process = \"linear\"", POWER, ("", ""));
    assert_eq!((status, found.len()), (Some(0), 1), "{found:#?}");
    let repeat = &found[0];
    assert_eq!(observed(repeat, "flushed_bytes"), 0.0, "{repeat:#}");
    assert!(observed(repeat, "lost_bytes") > 0.0, "{repeat:#}");
    assert!(checked(repeat, "unflushed_lost").is_some(), "{repeat:#}");
}

#[test]
fn disks_that_only_say_that_they_flushed_are_found() {
    if !pools_can_be_made() {
        return;
    }
    let stand = Stand::new();
    // Such a cache writes nothing out, whoever asks.
    let lies = "for word; do shift; [ \"$word\" != cache=writeback ] || word=cache=unsafe; set -- \"$@\" \"$word\"; done\n\
        PATH=${PATH#*:} exec nbdkit \"$@\"";
    let (status, found) = repeats(&stand, &local(), 1, FLUSHES, POWER, ("nbdkit", lies));
    assert_eq!(status, Some(3), "{found:#?}");
    for repeat in &found {
        assert_eq!(repeat["report"]["check"], "failed", "{repeat:#}");
        assert!(observed(repeat, "lost_flushed_bytes") > 0.0, "{repeat:#}");
        let lost = checked(repeat, "flushed_lost").unwrap_or_else(|| panic!("{repeat:#}"));
        assert_eq!(lost["places"][0]["check"], "lost_in", "{repeat:#}");
        // Of a pool that lost what it is made of nothing may be left to look at.
        let looked = ["stands", "pool_unmountable"].into_iter().find_map(|what| checked(repeat, what));
        assert!(looked.is_some(), "{repeat:#}");
    }
}

/// What the disks have kept is mixed up before it is read: in the first LUN stands what belongs in the second, and in that are other bits.
#[test]
fn what_is_mixed_up_or_changed_after_a_power_failure_is_found() {
    if !pools_can_be_made() {
        return;
    }
    let stand = Stand::new();
    let deed = "case \"$*\" in */again.fio*)\n\
        left=$(find \"$STEND_WORK\" -type d -name '*-left')\n\
        mount -o remount,rw \"$left\"\n\
        cp \"$left/lun1\" \"$0.lun1\"\n\
        dd if=\"$0.lun1\" of=\"$left/lun0\" conv=notrunc,fsync bs=1M status=none\n\
        LC_ALL=C tr '\\000-\\377' '\\200-\\377\\000-\\177' <\"$0.lun1\" | dd of=\"$left/lun1\" conv=notrunc,fsync bs=1M iflag=fullblock status=none\n\
        mount -o remount,ro \"$left\" ;;\nesac";
    let (status, found) = repeats(&stand, &local(), 1, FLUSHES, POWER, ("fio", deed));
    assert_eq!(status, Some(3), "{found:#?}");
    for repeat in &found {
        assert_eq!(repeat["report"]["check"], "failed", "{repeat:#}");
        assert_eq!(observed(repeat, "lost_flushed_bytes"), observed(repeat, "flushed_bytes"), "{repeat:#}");
        let places = &checked(repeat, "flushed_lost").unwrap_or_else(|| panic!("{repeat:#}"))["places"];
        assert_eq!((&places[0]["lun"], &places[1]["lun"]), (&0.into(), &1.into()), "{repeat:#}");
        let facts = repeat["report"]["evidence"].as_array().unwrap();
        let of = |lun: &str| facts.iter().find(|fact| fact["check"] == "stands" && fact["file"] == lun);
        assert!(of("lun0").is_some(), "{repeat:#}");
        // Each block begins with `stend `, the highest bits of which are turned.
        let hex = of("lun1").and_then(|fact| fact["what"]["hex"].as_str()).unwrap_or_default();
        assert!(hex.starts_with("f3 f4 e5 ee e4 a0 "), "{repeat:#}");
    }
}

#[test]
fn lost_disks_lose_data_where_there_is_no_other_copy_and_none_where_there_is() {
    if !pools_can_be_made() {
        return;
    }
    let stand = Stand::new();
    let one = "[{ at = \"4s\", disk = 1, action = \"lose\" }]";
    let three = "[{ at = \"4s\", disk = 0, action = \"lose\" }, { at = \"4s\", disk = 1, action = \"lose\" }, \
        { at = \"4s\", disk = 2, action = \"lose\" }]";
    let load = "rate_iops = 50, rate_process = \"linear\"";
    let stripe = local().replace("raid10", "stripe");
    // Of metadata a stripe has two copies too, so with one disk less it can be mounted; with one disk of four nothing can.
    for (target, faults, least, most) in
        [(local(), one, 0.0, 0.0), (stripe, one, 0.01, 0.99), (local(), three, 0.01, 1.0)]
    {
        let (status, found) = repeats(&stand, &target, 1, load, faults, ("", ""));
        assert_eq!((status, found.len()), (Some(0), 1), "{found:#?}");
        let repeat = &found[0];
        let share = observed(repeat, "lost_bytes") / observed(repeat, "acknowledged_bytes");
        assert!((least..=most).contains(&share), "{share}: {repeat:#}");
        let what = if most == 0.0 { "none_lost" } else { "lost_as_expected" };
        assert!(checked(repeat, what).is_some(), "{repeat:#}");
    }
}

/// After errors btrfs lets a pool only be read.
#[test]
fn a_pool_that_can_only_be_read_is_taken_down() {
    if !pools_can_be_made() {
        return;
    }
    let (stand, name) = (Stand::new(), own_name("read-only"));
    stand.fine(&["rig", "up", "--name", &name, "--target", &pool(&stand, POOL)]);
    let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap();
    let of_pool = mounts.lines().find(|line| line.contains(stand.path().to_str().unwrap()) && line.contains(" btrfs "));
    said_by("mount", &["-o", "remount,ro", of_pool.unwrap().split(' ').nth(1).unwrap()]);
    stand.fine(&["rig", "down", "--name", &name]);
    assert_eq!(traces(&stand), [""; 0]);
    assert!(!stand.path().join("work/targets").exists());
}

#[test]
fn an_end_that_cannot_be_checked_is_refused() {
    let stand = Stand::new();
    let mended =
        "[{ at = \"2s\", pool = true, action = \"power-off\" }, { at = \"3s\", disk = 1, action = \"recover\" }]";
    for (load, faults, words) in [
        ("rate_iops = 50", POWER, "iodepth = 1"),
        ("rate_iops = 50", mended, "nothing comes after that"),
        ("rate_iops = 50", "[{ at = \"2s\", disk = 1, action = \"power-off\" }]", "pool = true"),
        ("rate_iops = 50", "[{ at = \"2s\", pool = true, action = \"die\" }]", "power-off"),
    ] {
        let suite = suite_of(&stand, 1, load, faults);
        let ended = stand.run(&["run", &suite, "--target", &pool(&stand, POOL)]);
        says(&ended, 2, &[words]);
        assert_eq!(ended.err.lines().count(), 1, "{}", ended.err);
    }
}
