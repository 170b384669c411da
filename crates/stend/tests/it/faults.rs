//! Faults while loaded: real disks that die and are rebuilt, real controllers that are killed and come back, and nothing lost. No test
//! depends on how fast the machine is: what has to happen before the load ends is long before it, and what comes after is waited for.

use std::process::{Command, Stdio};

use crate::common::pools::{pools_can_be_made, said_by, says};
use crate::common::{Stand, executable, on_path, path_with, wait_until};
use serde_json::Value;

pub(crate) const POOL: &str = "kind = \"pool\"\nwhere = \"tmpfs\"\ndisks = 4\ndisk_size = \"512MiB\"\nlayout = \"raid10\"\nluns = 2\n\
    lun_size = \"16MiB\"\ntransport = \"nbd\"\ncontrollers = 2\n";

/// The same without controllers.
pub(crate) fn local() -> String {
    POOL.replace("transport = \"nbd\"\ncontrollers = 2", "transport = \"local\"")
}

/// A suite of a single load, which writes with marks at an even rate and reads back, and has these faults.
fn suite(stand: &Stand, faults: &str) -> String {
    suite_of(stand, 1, "rate_iops = 50, rate_process = \"linear\"", faults)
}

/// The same with so many repeats and these parameters more. Large blocks at a low rate: fio spins before each block of a rate, on a busy
/// machine for milliseconds.
pub(crate) fn suite_of(stand: &Stand, repeats: u32, more: &str, faults: &str) -> String {
    let text = format!(
        "name = \"test\"\ntitle = \"faults\"\norder = \"grouped\"\nrepeats = {repeats}\nwarmup = 0\nsample_hertz = 0\n{}\
         [[scenario]]\nname = \"load\"\ninstrument = \"fio\"\nparameters = {{ rw = \"randwrite\", bs = \"64k\", iodepth = 4, \
         verify = \"marks\", {more} }}\nfaults = {faults}\n\
         metrics = [{{ name = \"throughput\", value = \"bytes/wall\", unit = \"B/s\", better = \"higher\" }}]\n",
        crate::common::NO_LIMITS
    );
    let path = stand.path().join("faults.toml");
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

pub(crate) fn pool(stand: &Stand, text: &str) -> String {
    let path = stand.path().join("pool.toml");
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

/// What lies about of a stand's targets: loop devices, mounts, processes.
pub(crate) fn traces(stand: &Stand) -> Vec<String> {
    let path = stand.path().to_str().unwrap();
    let loops = said_by("losetup", &["--list", "--noheadings", "--output", "BACK-FILE"]);
    let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap();
    let lines = std::fs::read_dir("/proc").unwrap().flatten().map(|entry| {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).replace('\0', " ")
    });
    let processes: Vec<_> = lines.collect();
    let programs = ["nbdkit ", "nbdfuse ", "fio ", "btrfs "];
    let own = |line: &&str| line.contains(path);
    let processes = processes.iter().map(String::as_str);
    let processes = processes.filter(|line| programs.iter().any(|program| line.starts_with(program)));
    loops
        .lines()
        .filter(own)
        .chain(mounts.lines().filter(own))
        .chain(processes.filter(own))
        .map(str::to_owned)
        .collect()
}

/// The only repeat of the newest run, which must count.
pub(crate) fn valid_repeat(stand: &Stand) -> Value {
    let shown = stand.json(&["show"]);
    let repeat = shown["run"]["repeats"][0].clone();
    assert_eq!(repeat["outcome"], "valid", "{repeat:#}");
    assert_eq!(repeat["report"]["check"], "passed");
    repeat
}

pub(crate) fn marks(repeat: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let marks = repeat["marks"].as_array().map_or(&[][..], Vec::as_slice);
    let times: Vec<_> = marks.iter().map(|mark| mark["t_ns"].as_i64().unwrap()).collect();
    assert!(times.is_sorted(), "{repeat:#}");
    let label = |label: &Value| {
        let number = ["disk", "controller"].iter().find_map(|part| label[part].as_u64());
        text(&label["deed"]) + &number.map(|number| format!(" {number}")).unwrap_or_default()
    };
    marks.iter().map(|mark| (text(&mark["kind"]), label(&mark["label"]))).collect()
}

#[test]
fn a_disk_dies_under_load_twice_and_is_replaced_and_nothing_is_lost() {
    if !pools_can_be_made() {
        return;
    }
    let stand = Stand::new();
    // The spare of the first death is the disk that dies second: what died must be a whole disk again.
    let faults = "[{ at = \"3s\", disk = 1, action = \"die\" }, { at = \"5s\", disk = 1, action = \"replace\" }, \
        { at = \"7s\", disk = 1, action = \"die\" }, { at = \"8s\", disk = 1, action = \"replace\" }]";
    // Behind nbdkit writes end in the page cache, and a dead disk is noticed only when that is written out.
    let (suite, pool) = (suite(&stand, faults), pool(&stand, &local()));
    // The first time its errors are counted when there are some: a busy machine may take two seconds to make a disk die.
    let counts = format!(
        "[ \"$1 $2\" != 'device stats' ] || [ -e '{0}' ] || {{\n\
         until {1} device stats \"$3\" | grep -q 'write_io_errs *[1-9]'; do sleep 0.02; done\n: >'{0}'\n}}",
        stand.path().join("noticed").display(),
        on_path("btrfs")
    );
    let path = path_with(&stand, "btrfs", &counts);
    let mut command = stand.command(&["run", &suite, "--target", &pool, "--even-if-unfit", "--no-progress"]);
    let ended = crate::common::ended(command.env("PATH", path));
    assert_eq!(ended.status, Some(0), "{}\n{}", ended.out, ended.err);
    let repeat = valid_repeat(&stand);
    let once = [("fault", "disk_dies 1"), ("recovery", "disk_replaced 1"), ("recovery", "disk_rebuilt 1")];
    let twice: Vec<_> =
        once.iter().chain(&once).map(|(kind, label)| ((*kind).to_owned(), (*label).to_owned())).collect();
    assert_eq!(marks(&repeat), twice);
    let write_errors = repeat["report"]["observed"]["disk1_write_io_errs"].as_f64().unwrap();
    assert!(write_errors > 0.0, "btrfs noticed nothing: {repeat:#}");
    let page = std::fs::read_to_string(stand.fine(&["report", "last"]).out.trim()).unwrap();
    assert!(page.contains("disk 1 rebuilt in") && page.contains("write_io_errs"), "the report says it");
    let shown = stand.fine(&["show"]).out;
    assert!(shown.contains("what faults did") && shown.contains("disk 1 rebuilt in"), "{shown}");
    assert_eq!(traces(&stand), [""; 0], "and all is taken down");
}

#[test]
fn a_controller_is_killed_under_load_and_comes_back_and_nothing_is_lost() {
    if !pools_can_be_made() {
        return;
    }
    let stand = Stand::new();
    let faults =
        "[{ at = \"4s\", controller = 1, action = \"kill\" }, { at = \"5s\", controller = 1, action = \"restart\" }]";
    let (suite, pool) = (suite(&stand, faults), pool(&stand, POOL));
    let ended = stand.run(&["run", &suite, "--target", &pool, "--even-if-unfit", "--no-progress", "--profile"]);
    says(&ended, 0, &["profile: load has faults and gets none"]);
    let repeat = valid_repeat(&stand);
    let wanted = [("fault", "controller_killed 1"), ("recovery", "controller_back 1")];
    assert_eq!(marks(&repeat), wanted.map(|(kind, label)| (kind.to_owned(), label.to_owned())));
    // Nothing was written while it was away, so writing took longer than at its rate: it was waited for.
    let killed = |number: usize| repeat["marks"][number]["t_ns"].as_i64().unwrap();
    assert!(killed(1) - killed(0) > 500_000_000, "{repeat:#}");
    assert_eq!(traces(&stand), [""; 0], "and all is taken down");
}

/// What becomes of the first LUN's file between writing and reading back, in the shell; at which offset that is found, and what stands there
/// then, as JSON.
type Deed = (&'static str, Option<(u32, &'static str)>);

/// Nothing but that the bytes are kept.
const KEEP: Deed = ("cp \"$lun\" \"$old\"", None);
const EARLIER: Deed = ("$put if=\"$old\" of=\"$lun\"", Some((0, r#"{"stood":"written","repeat":"0"}"#)));
const SWAP: Deed = (
    "$put if=\"$lun\" of=\"$lun\" skip=7 seek=70 count=1",
    Some((4_587_520, r#"{"stood":"written","lun":"lun0","offset":458752}"#)),
);
const ZERO: Deed = ("$put if=/dev/zero of=\"$lun\" seek=200 count=1", Some((13_107_200, r#"{"stood":"zeros"}"#)));
const BITS: Deed = (
    // Whatever stood there, it is something else.
    "byte=$(od -An -tu1 -j200 -N1 \"$lun\"); printf \"\\\\$(printf %03o $((255 - byte)))\" | dd conv=notrunc,fsync bs=1 status=none of=\"$lun\" seek=200",
    Some((0, r#"{"stood":"bits_turned","first":200}"#)),
);

const ALL: [Deed; 5] = [KEEP, EARLIER, SWAP, ZERO, BITS];

/// Runs a load with these faults on this target, one repeat for each deed, and sees to it that each is found. `last`: the last mark of each.
/// EVERY_DEED in the environment does all to each.
fn assert_found(target: &str, load: &str, faults: &str, last: Option<&str>, deeds: &[Deed]) {
    if !pools_can_be_made() {
        return;
    }
    let deeds = if std::env::var_os("EVERY_DEED").is_some() { &ALL } else { deeds };
    let stand = Stand::new();
    let script = stand.path().join("deed.sh");
    for (number, (deed, _)) in deeds.iter().enumerate() {
        std::fs::write(stand.path().join(format!("deed.{number}")), deed).unwrap();
    }
    std::fs::write(
        &script,
        "lun=$(find \"$STEND_WORK\" -type f -name 'lun0*')\nhere=$(dirname \"$0\")\nold=$here/old\n\
         put='dd conv=notrunc,fsync bs=64k status=none'\n\
         turn=$(ls \"$here\" | grep -c '^done')\n: >\"$here/done.$turn\"\n. \"$here/deed.$turn\"\n",
    )
    .unwrap();
    let before = format!(
        "for word; do job=$word; done\n\
         case $job in */job.fio) sed -i 's|^\\[readback-lun0\\]|&\\nexec_prerun=sh {}|' \"$job\" ;; esac",
        script.display()
    );
    let path = path_with(&stand, "fio", &before);
    let (suite, pool) = (suite_of(&stand, deeds.len() as u32, load, faults), pool(&stand, target));
    // No repeat is made again for what was done to it.
    let run = ["run", &suite, "--target", &pool, "--time-budget", "1ms", "--even-if-unfit", "--no-progress"];
    let ended = crate::common::ended(stand.command(&run).env("PATH", path));
    assert_eq!(ended.status, Some(3), "{}\n{}", ended.out, ended.err);
    let shown = stand.json(&["show"]);
    let repeats = shown["run"]["repeats"].as_array().unwrap();
    assert_eq!(repeats.len(), deeds.len(), "{}", ended.err);
    for (repeat, (deed, found)) in repeats.iter().zip(deeds) {
        let marks = marks(repeat);
        assert_eq!(marks.last().map(|(_, label)| label.as_str()), last, "{repeat:#}");
        let report = &repeat["report"];
        let Some((offset, stands)) = found else {
            assert_eq!(report["check"], "passed", "{deed}: {repeat:#}");
            continue;
        };
        assert_eq!(report["check"], "failed", "{deed}: {repeat:#}");
        let facts = &report["evidence"];
        assert_eq!(
            (&facts[0]["check"], &facts[0]["job"]),
            (&"data_wrong".into(), &"readback-lun0".into()),
            "{facts:#}"
        );
        assert_eq!((&facts[1]["check"], &facts[1]["offset"]), (&"stands".into(), &(*offset).into()), "{facts:#}");
        let wanted: Value = serde_json::from_str(stands).unwrap();
        let wanted = wanted.as_object().unwrap();
        assert!(wanted.iter().all(|(name, value)| facts[1]["what"][name] == *value), "{deed}: {facts:#}");
    }
    assert_eq!(traces(&stand), [""; 0], "and all is taken down");
}

/// Two seconds of writing.
const WRITING: &str = "rate_iops = 250, rate_process = \"linear\"";

#[test]
fn what_a_pool_loses_mixes_up_or_changes_is_found() {
    assert_found(&local(), "", "[]", None, &ALL);
}

#[test]
fn what_controllers_lose_mix_up_or_change_is_found() {
    assert_found(POOL, "", "[]", None, &ALL);
}

#[test]
fn what_is_lost_mixed_up_or_changed_after_a_disk_was_rebuilt_is_found() {
    let faults = "[{ at = \"300ms\", disk = 1, action = \"die\" }, { at = \"600ms\", disk = 1, action = \"replace\" }]";
    assert_found(&local(), WRITING, faults, Some("disk_rebuilt 1"), &ALL);
}

#[test]
fn what_is_lost_or_changed_after_a_controller_came_back_is_found() {
    let faults = "[{ at = \"300ms\", controller = 0, action = \"kill\" }, { at = \"600ms\", controller = 0, action = \"restart\" }]";
    assert_found(POOL, WRITING, faults, Some("controller_back 0"), &[KEEP, EARLIER, ZERO]);
}

#[test]
fn what_is_changed_after_a_scrub_is_found() {
    let faults = "[{ at = \"300ms\", disk = 1, action = \"rot\" }, { at = \"600ms\", disk = 1, action = \"scrub\" }]";
    let checked = format!("{}checksums = true\n", local());
    assert_found(&checked, WRITING, faults, Some("scrub_ends 1"), &[SWAP, BITS]);
}

#[test]
fn what_is_lost_after_a_slow_disk_recovered_is_found() {
    let faults =
        "[{ at = \"300ms\", disk = 1, action = \"slow\" }, { at = \"600ms\", disk = 1, action = \"recover\" }]";
    assert_found(&local(), WRITING, faults, Some("disk_recovers 1"), &[ZERO]);
}

#[test]
fn stend_killed_while_a_pool_is_rebuilt_leaves_nothing_that_clean_does_not_find() {
    if !pools_can_be_made() {
        return;
    }
    let stand = Stand::new();
    let faults = "[{ at = \"500ms\", disk = 0, action = \"die\" }, { at = \"1s\", disk = 0, action = \"replace\" }]";
    let (suite, pool) = (suite(&stand, faults), pool(&stand, POOL));
    // A `btrfs` that says when it rebuilds, and holds that up for a moment.
    let begun = stand.path().join("begun");
    let before = format!("if [ \"$1 $2\" = 'replace start' ]; then\n: >'{}'\nsleep 2\nfi", begun.display());
    let path = path_with(&stand, "btrfs", &before);
    let mut running = stand.command(&["run", &suite, "--target", &pool, "--even-if-unfit", "--quiet"]);
    let mut running = running.env("PATH", path).stdout(Stdio::null()).spawn().unwrap();
    wait_until("the pool is being rebuilt", || begun.exists());
    running.kill().unwrap();
    running.wait().unwrap();
    says(&stand.run(&["clean"]), 0, &[]);
    wait_until("what was started has ended", || traces(&stand).is_empty());
}

/// A run of the suite with a `btrfs` that refuses the first so many rebuildings: how it ended, and how often one was asked for.
fn refused_rebuildings(stand: &Stand, refused: u32) -> (crate::common::Ended, usize) {
    let faults = "[{ at = \"500ms\", disk = 0, action = \"die\" }, { at = \"1s\", disk = 0, action = \"replace\" }]";
    let (suite, pool) = (suite(stand, faults), pool(stand, POOL));
    let asked = stand.path().join("asked");
    let before = format!(
        "if [ \"$1 $2\" = 'replace start' ]; then\necho >>'{asked}'\n\
         [ \"$(wc -l <'{asked}')\" -gt {refused} ] || {{ echo 'ERROR: No space left on device' >&2; exit 1; }}\nfi",
        asked = asked.display(),
    );
    let path = path_with(stand, "btrfs", &before);
    let mut command = stand.command(&["run", &suite, "--target", &pool, "--even-if-unfit", "--no-progress"]);
    let ended = crate::common::ended(command.env("PATH", path));
    (ended, std::fs::read_to_string(asked).unwrap().lines().count())
}

#[test]
fn a_rebuilding_that_finds_no_space_for_a_moment_is_tried_again() {
    if !pools_can_be_made() {
        return;
    }
    let stand = Stand::new();
    let (ended, asked) = refused_rebuildings(&stand, 4);
    assert_eq!((ended.status, asked), (Some(0), 5), "{}\n{}", ended.out, ended.err);
    let repeat = valid_repeat(&stand);
    assert_eq!(repeat["report"]["observed"]["disk0_rebuild_attempts"], 5.0);
}

#[test]
fn a_rebuilding_that_never_begins_is_not_asked_for_once_more_than_is_said() {
    if !pools_can_be_made() {
        return;
    }
    let stand = Stand::new();
    let (ended, asked) = refused_rebuildings(&stand, 1000);
    assert_ne!(ended.status, Some(0));
    let told = format!("disk 0 cannot be rebuilt, tried {asked} times: no space left; btrfs needs");
    assert!(ended.err.contains(&told), "{asked}: {}", ended.err);
    assert_eq!(traces(&stand), [""; 0], "and all is taken down");
}

/// What loads one LUN by itself: begins late, waits until its second word is there, and writes to its first.
const OWN_LOAD: &str = r#"
now() { read -r up _ </proc/uptime; echo "$((${up%.*} * 100 + 1${up#*.} - 100))0000000"; }
sleep 0.5
echo "{\"event\":\"mark\",\"t_ns\":$(now),\"kind\":\"phase\",\"label\":\"it begins\"}"
echo '{"event":"begin","wire":1,"instrument":"own"}'
while [ ! -e "$2" ]; do sleep 0.05; done
dd if=/dev/urandom of="$1" bs=1M count=4 conv=fsync,notrunc status=none
echo "{\"event\":\"repeat\",\"t_ns\":$(now),\"wall_ns\":1000000,\"work\":{\"bytes\":4194304},\"check\":\"passed\",\"evidence\":\"$1\"}"
echo '{"event":"end","repeats":1}'
"#;

/// A suite of such a load on the LUN of this number, with these faults.
fn own_suite(stand: &Stand, lun: u32, faults: &str) -> String {
    let rebuilds = stand.path().join("rebuilds").display().to_string();
    let load = stand.path().join("load.sh");
    std::fs::write(&load, OWN_LOAD).unwrap();
    let text = format!(
        "name = \"own\"\ntitle = \"a load of one's own\"\nrepeats = 1\nwarmup = 0\nsample_hertz = 0\n{}\
         [[scenario]]\nname = \"load\"\ncommand = [\"sh\", {:?}, \"@lun{lun}@\", {rebuilds:?}]\nfaults = {faults}\n\
         metrics = [{{ name = \"throughput\", value = \"bytes/wall\", unit = \"B/s\", better = \"higher\" }}]\n",
        crate::common::NO_LIMITS,
        load.to_str().unwrap(),
    );
    let path = stand.path().join("own.toml");
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn a_command_loads_the_lun_that_it_names_and_its_faults_wait_until_it_begins() {
    if !pools_can_be_made() {
        return;
    }
    let stand = Stand::new();
    let faults = "[{ at = \"10ms\", disk = 1, action = \"die\" }, { at = \"20ms\", disk = 1, action = \"replace\" }]";
    let (suite, pool) = (own_suite(&stand, 1, faults), pool(&stand, &local()));
    let before =
        format!("if [ \"$1 $2\" = 'replace start' ]; then : >'{}'; fi", stand.path().join("rebuilds").display());
    let path = path_with(&stand, "btrfs", &before);
    let mut command = stand.command(&["run", &suite, "--target", &pool, "--even-if-unfit", "--no-progress"]);
    let ended = crate::common::ended(command.env("PATH", path));
    assert_eq!(ended.status, Some(0), "{}\n{}", ended.out, ended.err);
    let repeat = valid_repeat(&stand);
    let marks = repeat["marks"].as_array().unwrap();
    let labels: Vec<_> = marks.iter().map(|mark| mark["label"]["deed"].as_str().unwrap_or_default()).collect();
    assert_eq!(labels, ["", "disk_dies", "disk_replaced", "disk_rebuilt"], "{repeat:#}");
    let times: Vec<_> = marks.iter().map(|mark| mark["t_ns"].as_i64().unwrap()).collect();
    assert!(times.is_sorted(), "{repeat:#}");
    assert!(repeat["report"]["evidence"].as_str().unwrap().starts_with("/dev/loop"), "{repeat:#}");
    assert_eq!(traces(&stand), [""; 0], "and all is taken down");

    let pool = crate::faults::pool(&stand, POOL);
    let suite = own_suite(&stand, 2, "[]");
    for (more, part) in [(&[][..], "there is no target"), (&["--target", &pool], "lun0 to lun1")] {
        says(&stand.run(&[&["run", &suite], more].concat()), 2, &["scenario \"load\" loads lun2", part]);
    }
    let suite = suite_of(&stand, 1, "size = \"1MiB\"", "[]");
    let text = std::fs::read_to_string(&suite).unwrap().replace("instrument = \"fio\"", "command = [\"true\"]");
    std::fs::write(&suite, text.replace("faults = []", "faults = [{ at = \"1s\", disk = 1, action = \"lose\" }]"))
        .unwrap();
    says(&stand.run(&["run", &suite, "--target", &pool]), 2, &["a command that names @lun0@"]);
}

#[test]
fn what_the_target_cannot_have_is_refused_before_anything_is_made() {
    let stand = Stand::new();
    let die = |disk: u32| {
        format!(
            "[{{ at = \"1s\", disk = {disk}, action = \"die\" }}, {{ at = \"2s\", disk = {disk}, action = \"replace\" }}]"
        )
    };
    let kill =
        "[{ at = \"1s\", controller = 2, action = \"kill\" }, { at = \"2s\", controller = 2, action = \"restart\" }]";
    let both = "[{ at = \"1s\", disk = 0, action = \"die\" }, { at = \"2s\", disk = 1, action = \"die\" }, \
        { at = \"3s\", disk = 0, action = \"replace\" }, { at = \"3s\", disk = 1, action = \"replace\" }]";
    let md = POOL.replace("raid10\"", "raid10\"\nmanager = \"md\"");
    let local = local();
    let stripe = POOL.replace("raid10", "stripe");
    for (faults, target, part) in [
        (die(4).as_str(), Some(POOL), "disks 0 to 3"),
        (&die(1), Some(stripe.as_str()), "no other copy"),
        (&die(1), Some("kind = \"file\"\n"), "only a pool has disks"),
        (&die(1), None, "there is no target"),
        (both, Some(POOL), "another disk is dead"),
        (kill, Some(POOL), "controllers 0 to 1"),
        (kill, Some(local.as_str()), "no controllers that can be killed"),
        (&die(1), Some(md.as_str()), "manager = \"btrfs\""),
    ] {
        let suite = suite(&stand, faults);
        let target = target.map(|text| pool(&stand, text));
        let mut words = vec!["run", suite.as_str()];
        words.extend(target.iter().flat_map(|path| ["--target", path]));
        for more in [&[][..], &["--dry-run"]] {
            let ended = stand.run(&[&words, more].concat());
            says(&ended, 2, &["scenario \"load\"", part]);
            assert_eq!(ended.err.lines().count(), 1, "{}", ended.err);
        }
    }
    let ended = stand.run(&["run", "storage-faults", "--dry-run"]);
    says(&ended, 2, &["there is no target", "--target targets/faults.toml"]);
    assert!(!stand.path().join("work/targets").exists());
}

#[test]
fn a_program_that_a_pool_needs_is_named_when_it_is_missing() {
    if !pools_can_be_made() {
        return;
    }
    let stand = Stand::new();
    let (suite, pool) = (
        suite(&stand, "[{ at = \"1s\", disk = 0, action = \"die\" }, { at = \"2s\", disk = 0, action = \"replace\" }]"),
        pool(&stand, POOL),
    );
    // All that there is but nbdkit.
    let programs = stand.path().join("programs");
    let script = "mkdir \"$1\" && ln -sf /usr/sbin/* /usr/bin/* \"$1\" && rm \"$1/nbdkit\"";
    assert!(Command::new("sh").args(["-c", script, "sh"]).arg(&programs).status().unwrap().success());
    let mut command = stand.command(&["run", &suite, "--target", &pool, "--even-if-unfit"]);
    let ended = crate::common::ended(command.env("PATH", &programs));
    if said_by("sh", &["-c", "ls /usr/sbin/nbdkit /sbin/nbdkit 2>/dev/null"]).is_empty() {
        says(&ended, 4, &["needs nbdkit", "install"]);
        assert!(!stand.path().join("work/targets").exists());
    }
}

#[test]
fn a_stend_probe_that_cannot_let_a_disk_die_is_noticed_before_the_target_is_made() {
    let stand = Stand::new();
    let suite =
        suite(&stand, "[{ at = \"1s\", disk = 0, action = \"die\" }, { at = \"2s\", disk = 0, action = \"replace\" }]");
    let pool = pool(&stand, POOL);
    // One from before it could.
    let old = stand.path().join("stend-probe");
    let script = format!(
        "#!/bin/sh\n[ \"$1\" != loop ] || {{ echo 'stend-probe: no command \"loop\"' >&2; exit 2; }}\nexec {} \"$@\"\n",
        crate::common::probe().display()
    );
    executable(&old, &script);
    let mut command = stand.command(&["run", &suite, "--target", &pool, "--even-if-unfit"]);
    let ended = crate::common::ended(command.env("STEND_PROBE", &old));
    says(&ended, 4, &["cannot kill a disk", "no command \"loop\"", "make build"]);
    assert_eq!(ended.err.lines().count(), 1, "{}", ended.err);
    assert!(!stand.path().join("work/targets").exists());
}
