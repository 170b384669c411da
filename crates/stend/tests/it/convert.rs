//! Disks of VMware and Hyper-V, made by the real qemu-img: listed, converted and compared; broken and hostile ones; conversions that are interrupted
//! and killed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::common::pools::says;
use crate::common::{Ended, Gate, Stand, ended, executable, in_own_mounts, interrupt, on_path, path_with};

/// How large the disks are.
const SIZE: usize = 4 << 20;

/// A directory with disks, and one for what is made of them.
struct Share {
    stand: Stand,
}

impl Share {
    /// `None` where there is no qemu-img; the test then says so and passes, but not under CI.
    fn new() -> Option<Self> {
        let missing = ["qemu-img", "qemu-io"].into_iter().find(|program| on_path(program).is_empty());
        if let Some(program) = missing {
            assert!(std::env::var_os("CI").is_none(), "under CI nothing may be skipped: {program} is missing");
            eprintln!("skipped: {program} is missing");
            return None;
        }
        let stand = Stand::new();
        for directory in ["disks", "out"] {
            fs::create_dir(stand.path().join(directory)).unwrap();
        }
        // No two sectors are alike, and some of them are empty.
        let sectors =
            (0..SIZE / 512).flat_map(|sector| if sector % 4096 < 2048 { [sector as u64 + 1; 64] } else { [0; 64] });
        let contents: Vec<u8> = sectors.flat_map(u64::to_le_bytes).collect();
        fs::write(stand.path().join("raw"), contents).unwrap();
        Some(Self { stand })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.stand.path().join("disks").join(name)
    }

    /// Makes a disk of the raw one.
    fn disk(&self, name: &str, format: &str, options: &str) {
        fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        let options = if options.is_empty() { vec![] } else { vec!["-o", options] };
        let raw = self.stand.path().join("raw");
        let mut command = Command::new("qemu-img");
        command.args(["convert", "-f", "raw", "-O", format]).args(options).arg(raw).arg(self.path(name));
        fine(&mut command);
    }

    fn vmdk(&self, name: &str, kind: &str) {
        self.disk(name, "vmdk", &format!("subformat={kind}"));
    }

    /// Makes a snapshot on a disk, and writes to it.
    fn snapshot(&self, name: &str, parent: &str, write: &str) {
        let mut command = Command::new("qemu-img");
        fine(command.args(["create", "-q", "-f", "vmdk", "-F", "vmdk", "-b", parent]).arg(self.path(name)));
        fine(Command::new("qemu-io").args(["-f", "vmdk", "-c", write]).arg(self.path(name)));
    }

    fn words<'a>(&self, words: &[&'a str]) -> Vec<&'a str> {
        [&["convert", "disks"], words].concat()
    }

    fn convert(&self, words: &[&str]) -> Ended {
        self.stand.run(&self.words(words))
    }

    /// What lies where converted disks go.
    fn out(&self) -> Vec<String> {
        let names = fs::read_dir(self.stand.path().join("out")).unwrap();
        let mut names: Vec<_> = names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// What a converted disk has.
    fn contents(&self, name: &str) -> Vec<u8> {
        let raw = self.stand.path().join("back");
        let image = self.stand.path().join("out").join(name);
        fine(Command::new("qemu-img").args(["convert", "-f", "qcow2", "-O", "raw"]).arg(image).arg(&raw));
        fs::read(raw).unwrap()
    }

    /// That nothing is left of a conversion: no process that works in its directory, no file there, nothing half done.
    fn nothing_is_left(&self, out: &[&str]) {
        assert_eq!(self.out(), out);
        let conversions = self.stand.path().join("work/conversions");
        assert!(!conversions.exists(), "{:?}", fs::read_dir(conversions).unwrap().collect::<Vec<_>>());
        assert_eq!(working_below(&self.stand.path().join("work")), [0; 0]);
    }

    /// A disk is refused in one line, and qemu-img never sees it.
    fn refused(&self, name: &str, parts: &[&str]) {
        let called = self.stand.path().join("called");
        let path = path_with(&self.stand, "qemu-img", &format!("echo \"$@\" >>'{}'", called.display()));
        let words = self.words(&[name, "--to", "out"]);
        let ended = ended(self.stand.command(&words).env("PATH", path));
        says(&ended, 2, parts);
        assert_eq!(ended.err.trim_end().lines().count(), 1, "{}", ended.err);
        assert!(!called.exists(), "{}", fs::read_to_string(called).unwrap());
        self.nothing_is_left(&[]);
        let listed = self.stand.json(&["convert", "disks"]);
        assert!(listed["disks"].as_array().unwrap().iter().any(|disk| disk["name"] == name), "{listed:#}");
    }
}

fn fine(command: &mut Command) {
    let ended = ended(command);
    assert_eq!(ended.status, Some(0), "{command:?}\n{}\n{}", ended.out, ended.err);
}

/// The processes whose working directory is below this one.
fn working_below(directory: &Path) -> Vec<i32> {
    let pids = fs::read_dir("/proc").unwrap().filter_map(|entry| entry.unwrap().file_name().to_str()?.parse().ok());
    let below = |pid: &i32| fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|at| at.starts_with(directory));
    pids.filter(below).collect()
}

const DESCRIPTION: &str = "<Envelope xmlns:ovf=\"o\" xmlns:rasd=\"r\"><References><File ovf:href=\"box-disk1.vmdk\" ovf:id=\"f\"/></References>\
    <DiskSection><Disk ovf:fileRef=\"f\"/></DiskSection><VirtualSystem ovf:id=\"vm\"><Name>mail server</Name><Item>\
    <rasd:AllocationUnits>byte * 2^20</rasd:AllocationUnits><rasd:ResourceType>4</rasd:ResourceType>\
    <rasd:VirtualQuantity>512</rasd:VirtualQuantity></Item><Item><rasd:ResourceType>3</rasd:ResourceType>\
    <rasd:VirtualQuantity>2</rasd:VirtualQuantity></Item></VirtualSystem></Envelope>";

#[test]
fn disks_of_all_kinds_are_listed_converted_and_the_same_afterwards() {
    let Some(share) = Share::new() else { return };
    share.disk("hyper/new.vhdx", "vhdx", "");
    share.disk("hyper/old.vhd", "vpc", "force_size=on");
    share.disk("hyper/fixed.vhd", "vpc", "subformat=fixed,force_size=on");
    for kind in ["monolithicSparse", "monolithicFlat", "streamOptimized", "twoGbMaxExtentSparse", "twoGbMaxExtentFlat"]
    {
        share.vmdk(&format!("{kind}.vmdk"), kind);
    }
    share.vmdk("web/web.vmdk", "twoGbMaxExtentSparse");
    share.snapshot("web/web-000001.vmdk", "web.vmdk", "write -P 7 64k 128k");
    share.snapshot("web/web-000002.vmdk", "web-000001.vmdk", "write -P 9 128k 64k");
    share.vmdk("box-disk1.vmdk", "streamOptimized");
    fs::write(share.path("box.ovf"), DESCRIPTION).unwrap();
    fine(Command::new("tar").args(["-c", "-f", "box.ova", "box.ovf", "box-disk1.vmdk"]).current_dir(share.path("")));
    fs::remove_file(share.path("box.ovf")).unwrap();
    fs::remove_file(share.path("box-disk1.vmdk")).unwrap();

    let listed = share.stand.json(&["convert", "disks"]);
    let disks = listed["disks"].as_array().unwrap();
    let of = |name: &str| disks.iter().find(|disk| disk["name"] == name).cloned().unwrap_or_default();
    assert!(disks.iter().all(|disk| disk["problem"].is_null() && disk["size"] == SIZE), "{listed:#}");
    assert_eq!(disks.len(), 10, "parts and parents are no disks: {listed:#}");
    let chain = of("web/web-000002.vmdk");
    assert_eq!((&chain["layers"], chain["files"].as_array().unwrap().len()), (&Value::from(3), 4), "{chain}");
    let machine = &of("box.ova/box-disk1.vmdk")["machine"];
    assert_eq!(
        (&machine["name"], &machine["cpus"], &machine["memory"]),
        (&"mail server".into(), &2.into(), &(512 << 20).into())
    );
    let table = share.stand.fine(&["convert", "disks"]).out;
    assert!(table.contains("mail server, 2 processors, 512MiB") && table.contains("4, 2 snapshots"), "{table}");

    let names = ["box.ova", "hyper", "web/", "monolithicFlat.vmdk"];
    let ended = share.convert(&[&names[..], &["--to", "out"]].concat());
    says(&ended, 0, &["[1/6] box.ova/box-disk1.vmdk: 4MiB", "compared"]);
    assert_eq!(share.out().len(), 6);
    let first: Vec<_> = share.out();
    let ended = share.convert(&["--all", "--to", "out"]);
    says(&ended, 0, &["hyper-new.vhdx.qcow2 is there already", "monolithicSparse.vmdk: 4MiB"]);
    let all = share.out();
    assert!(all.len() == 10 && first.iter().all(|name| all.contains(name)), "{all:?}");
    let raw = fs::read(share.stand.path().join("raw")).unwrap();
    for name in &all {
        let mut wanted = raw.clone();
        if name.starts_with("web") {
            wanted[64 << 10..192 << 10].fill(7);
            wanted[128 << 10..192 << 10].fill(9);
        }
        assert!(share.contents(name) == wanted, "{name}");
    }
    share.nothing_is_left(&all.iter().map(String::as_str).collect::<Vec<_>>());
    says(&share.convert(&["nothing.vmdk", "--to", "out"]), 2, &["there is no disk \"nothing.vmdk\"", "lists them"]);
    says(&share.convert(&["hyper"]), 2, &["--to"]);
    says(&share.convert(&["--to", "out"]), 2, &["name the disks", "--all"]);
}

fn cut(path: &Path, by: u64) {
    let file = fs::OpenOptions::new().write(true).open(path).unwrap();
    file.set_len(file.metadata().unwrap().len() - by).unwrap();
}

fn change(path: &Path, at: usize, bytes: &[u8]) {
    let mut all = fs::read(path).unwrap();
    all.splice(at..at + bytes.len(), bytes.iter().copied());
    fs::write(path, all).unwrap();
}

#[test]
fn what_is_broken_or_hostile_is_refused_in_a_line_before_qemu_sees_it() {
    let Some(share) = Share::new() else { return };
    let secret = share.stand.path().join("secret.vmdk");
    share.vmdk("s.vmdk", "monolithicFlat");
    fs::rename(share.path("s-flat.vmdk"), &secret).unwrap();
    fs::remove_file(share.path("s.vmdk")).unwrap();
    // Of the last grain the last sector is missing: QEMU would read zeros.
    for (name, kind, part) in [("grain.vmdk", "monolithicSparse", 512), ("end.vmdk", "streamOptimized", 0)] {
        share.vmdk(name, kind);
        let length = fs::metadata(share.path(name)).unwrap().len();
        cut(&share.path(name), if part == 0 { length / 2 } else { part });
        share.refused(name, &[name, "cut off"]);
    }
    share.vmdk("flat.vmdk", "monolithicFlat");
    cut(&share.path("flat-flat.vmdk"), 512);
    share.refused("flat.vmdk", &["flat-flat.vmdk", "cut off"]);
    share.vmdk("split.vmdk", "twoGbMaxExtentSparse");
    cut(&share.path("split-s001.vmdk"), 4096);
    share.refused("split.vmdk", &["split-s001.vmdk", "cut off"]);
    fs::remove_file(share.path("split-s001.vmdk")).unwrap();
    share.refused("split.vmdk", &["needs \"split-s001.vmdk\""]);
    share.disk("old.vhd", "vpc", "");
    cut(&share.path("old.vhd"), 512);
    share.refused("old.vhd", &["cut off"]);
    share.disk("new.vhdx", "vhdx", "");
    cut(&share.path("new.vhdx"), fs::metadata(share.path("new.vhdx")).unwrap().len() - (200 << 10));
    share.refused("new.vhdx", &["cut off"]);
    share.disk("checkpoint.vhd", "vpc", "");
    let end = fs::metadata(share.path("checkpoint.vhd")).unwrap().len() as usize - 512;
    change(&share.path("checkpoint.vhd"), end + 60, &[0, 0, 0, 4]);
    share.refused("checkpoint.vhd", &["only what differs", "Merge-VHD"]);
    fs::write(share.path("text.vmdk"), "a letter to a friend").unwrap();
    share.refused("text.vmdk", &["no VMDK"]);
    fs::write(share.path("empty.vmdk"), "").unwrap();
    share.refused("empty.vmdk", &["cut off"]);

    // Names of files that are no business of whoever wrote the disk.
    let hostile = |name: &str, file: &str, rest: &str| {
        let text = format!(
            "# Disk DescriptorFile\nversion=1\nCID=1\nparentCID=ffffffff\ncreateType=\"monolithicFlat\"\nRW 8 FLAT \"{file}\" 0\n{rest}"
        );
        fs::write(share.path(name), text).unwrap();
    };
    let absolute = secret.to_str().unwrap();
    std::os::unix::fs::symlink(&secret, share.path("link")).unwrap();
    for file in [absolute, "../secret.vmdk", "x/../../secret.vmdk", "link", "/etc/shadow"] {
        hostile("hostile.vmdk", file, "");
        share.refused("hostile.vmdk", &["outside the directory", file]);
    }
    for file in ["nbd:127.0.0.1:10809", "nbd://127.0.0.1/x", "json:{}", "fat:/etc", ".", ""] {
        hostile("hostile.vmdk", file, "");
        share.refused("hostile.vmdk", &["is not there as a file", file]);
    }
    fs::write(share.path("eight"), [1; 4096]).unwrap();
    hostile("hostile.vmdk", "eight", "parentCID=1\nparentFileNameHint=\"/etc/passwd\"\n");
    share.refused("hostile.vmdk", &["outside the directory", "/etc/passwd"]);
    hostile("hostile.vmdk", "eight", "RW much FLAT \"eight\" 0\n");
    share.refused("hostile.vmdk", &["line 7 of its descriptor"]);
    hostile("hostile.vmdk", "eight", "parentCID=1\nparentFileNameHint=\"hostile.vmdk\"\n");
    // A parent of itself has no end, so there is nothing newest.
    assert!(!share.stand.fine(&["convert", "disks"]).out.contains("hostile"));
    fs::remove_file(share.path("hostile.vmdk")).unwrap();
    // A header without sectors makes QEMU open what the descriptor inside names.
    share.vmdk("header.vmdk", "monolithicSparse");
    change(&share.path("header.vmdk"), 12, &[0; 8]);
    share.refused("header.vmdk", &["impossible sizes"]);
    share.vmdk("parent.vmdk", "monolithicSparse");
    share.snapshot("snapshot.vmdk", "parent.vmdk", "write -P 7 0 64k");
    let text = fs::read(share.path("parent.vmdk")).unwrap();
    let at = text.windows(4).position(|part| part == b"CID=").unwrap();
    // The id is random, and qemu-img writes it without zeros before it.
    change(&share.path("parent.vmdk"), at + 4, if text[at + 4] == b'1' { b"2" } else { b"1" });
    share.refused("snapshot.vmdk", &["its parent parent.vmdk was changed"]);
    // A descriptor in an archive names files beside nothing.
    fs::write(share.path("box.ovf"), DESCRIPTION).unwrap();
    fs::write(share.path("box-disk1.vmdk"), format!("# Disk DescriptorFile\nRW 8 FLAT \"{absolute}\" 0\n")).unwrap();
    fine(Command::new("tar").args(["-c", "-f", "box.ova", "box.ovf", "box-disk1.vmdk"]).current_dir(share.path("")));
    share.refused("box.ova/box-disk1.vmdk", &["lies in an archive"]);
    cut(&share.path("box.ova"), 9800);
    share.refused("box.ova", &["box.ova"]);
    // The others are converted all the same.
    share.vmdk("fine.vmdk", "monolithicSparse");
    let ended = share.convert(&["fine.vmdk", "text.vmdk", "--to", "out"]);
    says(&ended, 4, &["[1/2] fine.vmdk: 4MiB", "[2/2] text.vmdk: it is no VMDK", "1 of 2 disks are not converted"]);
    share.nothing_is_left(&["fine.vmdk.qcow2"]);
}

/// A PATH on which qemu-img waits at a gate when it is called for this, after it wrote a part of what it is to write.
fn gated(share: &Share, gate: &Gate, stage: &str) -> String {
    let gate = gate.path().display();
    let waits = format!(
        "if [ \"$1\" = {stage} ]; then\n    for last; do :; done\n    [ \"$1\" != convert ] || head -c 4096 /dev/zero >\"$last\"\n    \
         : >'{gate}/waits'\n    until [ -e '{gate}/open' ]; do sleep 0.05; done\nfi"
    );
    path_with(&share.stand, "qemu-img", &waits)
}

fn begun(share: &Share, path: &str) -> Child {
    let words = share.words(&["web.vmdk", "--to", "out"]);
    share.stand.command(&words).env("PATH", path).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

#[test]
fn an_interrupted_conversion_leaves_nothing() {
    let Some(share) = Share::new() else { return };
    share.vmdk("web.vmdk", "monolithicSparse");
    for stage in ["check", "convert", "compare"] {
        let gate = Gate::new();
        let child = begun(&share, &gated(&share, &gate, stage));
        gate.wait_until_reached();
        assert_eq!(share.out().len(), usize::from(stage != "check"), "there is half an image");
        interrupt(&child);
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(
            (output.status.code(), said.trim_end()),
            (Some(130), "stend: interrupted; what was half made is removed")
        );
        share.nothing_is_left(&[]);
    }
    // The same command does the rest.
    says(&share.convert(&["--all", "--to", "out"]), 0, &["web.vmdk: 4MiB"]);
}

/// `stend`, its guard or qemu-img is killed twenty times, drawn from a fixed seed.
#[test]
fn killed_at_any_stage_clean_removes_all_of_a_conversion_and_nothing_else() {
    let Some(share) = Share::new() else { return };
    share.vmdk("web.vmdk", "monolithicSparse");
    let (out, work) = (share.stand.path().join("out"), share.stand.path().join("work"));
    let own = "stend-photographs-part";
    fs::write(out.join(own), "a cat").unwrap();
    fs::create_dir_all(work.join("conversions-of-mine")).unwrap();
    let mut neighbour = Command::new("sleep").arg("1000000").current_dir(&out).spawn().unwrap();
    let mut random = 0x5EED_u64;
    let mut draw = |below: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % below
    };
    let mut halves = 0;
    for kill in 0..20 {
        let stage = ["check", "measure", "convert", "convert", "compare"][draw(5) as usize];
        let gate = Gate::new();
        let mut child = begun(&share, &gated(&share, &gate, stage));
        gate.wait_until_reached();
        let victims = working_below(&work);
        let of = |name: &str| {
            let has =
                |pid: &i32| fs::read_to_string(format!("/proc/{pid}/cmdline")).is_ok_and(|line| line.contains(name));
            victims.iter().copied().find(has)
        };
        // Those below it may be what only looks on, and numbers may begin anew.
        let is_first = |pid: &i32| {
            let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
            let parent = status.lines().find_map(|line| line.strip_prefix("PPid:")?.trim().parse().ok());
            parent.is_some_and(|parent: i32| !victims.contains(&parent))
        };
        halves += usize::from(share.out().len() > 1);
        // qemu-img by the wrapper's name; else one of the shells above it, or stend itself.
        let victim = match draw(4) {
            0 => of("programs/qemu-img"),
            1 => victims.iter().copied().find(is_first),
            _ => Some(child.id() as i32),
        };
        let victim = Pid::from_raw(victim.expect("it runs")).unwrap();
        kill_process(victim, Signal::KILL).unwrap();
        if draw(2) == 0 && victim == Pid::from_child(&child) {
            // Nobody is left to end what goes on.
            for guard in of_user("stend-probe", &work) {
                let _ = kill_process(guard, Signal::KILL);
            }
        }
        child.wait().unwrap();
        let cleaned = share.stand.run(&["clean"]);
        assert_eq!(cleaned.status, Some(0), "kill {kill} at {stage}: {}", cleaned.err);
        assert_eq!(share.out(), [own], "kill {kill} at {stage}: {}", cleaned.err);
        assert!(!work.join("conversions").exists(), "kill {kill} at {stage}: {}", cleaned.err);
        assert_eq!(working_below(&work), [0; 0], "kill {kill} at {stage}");
        assert!(work.join("conversions-of-mine").exists());
        assert!(neighbour.try_wait().unwrap().is_none());
    }
    assert!(halves >= 5, "only {halves} times there was half an image");
    neighbour.kill().unwrap();
    neighbour.wait().unwrap();
    says(&share.convert(&["--all", "--to", "out"]), 0, &["web.vmdk: 4MiB"]);
    assert_eq!(share.out(), [own, "web.vmdk.qcow2"]);
}

/// Processes of this program that were started for a conversion below this directory.
fn of_user(program: &str, work: &Path) -> Vec<Pid> {
    let work = work.to_str().unwrap();
    let names = fs::read_dir("/proc").unwrap().filter_map(|entry| entry.unwrap().file_name().to_str()?.parse().ok());
    let is_one = |pid: &i32| {
        let line = fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.split('\0').next().is_some_and(|first| first.ends_with(program)) && line.contains(work)
    };
    names.filter(is_one).filter_map(Pid::from_raw).collect()
}

#[test]
fn an_image_that_differs_stands_still_or_finds_no_room_is_not_kept() {
    let Some(share) = Share::new() else { return };
    share.vmdk("web.vmdk", "monolithicSparse");
    let with = |before: &str| {
        let path = path_with(&share.stand, "qemu-img", before);
        let words = share.words(&["web.vmdk", "--to", "out"]);
        let ended = ended(share.stand.command(&words).env("PATH", path));
        assert_eq!(ended.err.trim_end().lines().count(), 1, "{}", ended.err);
        share.nothing_is_left(&[]);
        ended
    };
    let spoil = "qemu-io -f qcow2 -c 'write -P 99 512 512' \"$(ls -d \"$OUT\"/stend-*)\" >/dev/null";
    let out = share.stand.path().join("out");
    let spoil = format!("OUT='{}'\n[ \"$1\" != compare ] || {spoil}", out.display());
    says(&with(&spoil), 4, &["web.vmdk.qcow2 cannot be made", "Content mismatch at offset 512"]);
    says(&with("[ \"$1\" != convert ] || kill -s SEGV $$"), 4, &["qemu-img was ended by signal 11"]);
    // One that stands still is given up by the clock, which goes on by a minute whenever it is looked at.
    let clock = "[ \"$3\" != /proc/uptime ] || { echo m >>minutes; echo $(($(wc -l <minutes) * 60)); exit; }";
    path_with(&share.stand, "cut", &clock.replace("minutes", share.stand.path().join("minutes").to_str().unwrap()));
    says(&with("[ \"$1\" != convert ] || exec sleep 1000000"), 4, &["it has read and written nothing for 600 s"]);
    fs::remove_file(share.stand.path().join("programs/cut")).unwrap();
    executable(
        &share.stand.path().join("programs/qemu-img"),
        &format!("#!/bin/sh\nexec {} \"$@\"\n", on_path("qemu-img")),
    );

    let out = out.to_str().unwrap();
    let script = format!(
        "mount -t tmpfs -o size=1m small '{out}' && \"$STEND\" convert '{}' --all --to '{out}'",
        share.path("").display()
    );
    let stend = share.stand.command(&[]).get_program().to_str().unwrap().to_owned();
    let (store, work) =
        (share.stand.store().display().to_string(), share.stand.path().join("work").display().to_string());
    let probe = crate::common::probe().display().to_string();
    let environment =
        [("STEND", stend.as_str()), ("STEND_STORE", &store), ("STEND_WORK", &work), ("STEND_PROBE", &probe)];
    let Some(ended) = in_own_mounts(&script, &environment) else { return };
    says(&ended, 4, &["it takes 2 MiB", "has 1 MiB free"]);
    share.nothing_is_left(&[]);
}

#[test]
fn what_is_on_a_converted_disk_is_adapted_if_virt_v2v_can() {
    let Some(share) = Share::new() else { return };
    for name in ["system.vmdk", "data.vmdk", "strange.vmdk"] {
        share.vmdk(name, "monolithicSparse");
    }
    let convert = |name: &str, script: &str| {
        let path = path_with(&share.stand, "virt-v2v-in-place", script);
        let words = share.words(&[name, "--to", "out", "--adapt"]);
        let ended = ended(share.stand.command(&words).current_dir(share.stand.path()).env("PATH", path));
        fs::remove_file(share.stand.path().join("programs/virt-v2v-in-place")).unwrap();
        ended
    };
    // It gets the image under the name that it has until it is whole.
    let adapts = "for image; do :; done; [ -e \"$image\" ] && exec qemu-io -f qcow2 -c 'write -P 7 0 512' \"$image\"";
    says(&convert("system.vmdk", adapts), 0, &["system.vmdk: 4MiB", "compared, adapted"]);
    assert_eq!(share.contents("system.vmdk.qcow2")[..512], [7; 512]);
    let finds_none = "echo 'virt-v2v-in-place: error: inspection could not detect the source guest' >&2; exit 1";
    says(&convert("data.vmdk", finds_none), 0, &["not adapted because it has no operating system"]);
    let fails = "echo '[   0.0] Opening'; echo 'virt-v2v-in-place: error: this guest is strange' >&2; exit 1";
    says(&convert("strange.vmdk", fails), 4, &["virt-v2v: this guest is strange"]);
    share.nothing_is_left(&["data.vmdk.qcow2", "system.vmdk.qcow2"]);
}

/// A boot sector that switches on paging as an operating system does, if interrupt 0x10 is served by the BIOS of a display, and halts:
/// `mov [0x1000], 0x83; mov cr3, 0x1000; or cr4, 0x10; or cr0, 0x80000001`.
const BOOT_SECTOR: &[u8] = b"\xfa\x31\xc0\x8e\xd8\x81\x3e\x42\x00\x00\xc0\x75\x28\
    \x66\xc7\x06\x00\x10\x83\x00\x00\x00\x66\xb8\x00\x10\x00\x00\x0f\x22\xd8\x0f\x20\xe0\x66\x83\xc8\x10\x0f\x22\xe0\x0f\x20\xc0\x66\x0d\x01\x00\x00\x80\x0f\x22\xc0\xf4\xeb\xfd";

#[test]
fn a_converted_disk_is_booted_if_it_can_be() {
    let Some(share) = Share::new() else { return };
    if on_path("qemu-system-x86_64").is_empty() {
        assert!(std::env::var_os("CI").is_none(), "under CI nothing may be skipped: qemu-system-x86_64 is missing");
        eprintln!("skipped: qemu-system-x86_64 is missing");
        return;
    }
    share.vmdk("data.vmdk", "monolithicSparse");
    let raw = share.stand.path().join("raw");
    change(&raw, 0, BOOT_SECTOR);
    change(&raw, 510, &[0x55, 0xaa]);
    share.vmdk("system.vmdk", "monolithicSparse");
    says(&share.convert(&["system.vmdk", "--to", "out", "--boot"]), 0, &["system.vmdk: 4MiB", "compared, booted"]);
    let ended = share.convert(&["data.vmdk", "--to", "out", "--boot"]);
    says(
        &ended,
        4,
        &["a guest that boots from", "data.vmdk.qcow2 cannot be made", "its firmware finds nothing to boot"],
    );
    share.nothing_is_left(&["data.vmdk.qcow2", "system.vmdk.qcow2"]);
    assert!(share.contents("system.vmdk.qcow2") == fs::read(raw).unwrap());
}
