//! `stend` and what it started, killed at moments of all kinds: `stend clean` removes what is left, nothing of the user's is touched, and
//! each repeat is stored once. The moments are drawn from a fixed seed; KILLS in the environment says how many there are in runs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::common::pools::{assert_traces, own_name, pools_can_be_made, said_by, traces, up, words};
use crate::common::{NO_LIMITS, Stand, wait_until};

/// Numbers from a fixed seed.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    /// Below 1.
    fn share(&mut self) -> f64 {
        self.next() as f64 / f64::from(1u32 << 31)
    }
}

/// Things of the user's beside and among the target's. Taken away when this is dropped.
struct Neighbours {
    /// Where the target's disks go, among files of the user's.
    disks: PathBuf,
    directories: [PathBuf; 2],
    /// All of it, as it is to be found again.
    before: Vec<String>,
    loop_device: String,
    mount: PathBuf,
    groups: Vec<PathBuf>,
    server: Child,
}

impl Neighbours {
    fn settle(stand: &Stand, name: &str) -> Self {
        let (work, disks) = (stand.path().join("work"), stand.path().join("disks"));
        std::fs::create_dir_all(work.join("targets")).unwrap();
        std::fs::create_dir(&disks).unwrap();
        std::fs::write(work.join("targets/letter"), "to a friend").unwrap();
        let image = disks.join("image");
        std::fs::write(&image, vec![7; 1 << 20]).unwrap();
        let loop_device = said_by("losetup", &["--find", "--show", image.to_str().unwrap()]).trim().to_owned();
        let mount = disks.join("stend-photographs");
        std::fs::create_dir_all(&mount).unwrap();
        assert!(Command::new("mount").args(["-t", "tmpfs", "stend"]).arg(&mount).status().unwrap().success());
        std::fs::write(mount.join("photograph"), "a cat").unwrap();
        let hierarchies = said_by(
            "find",
            &["/sys/fs/cgroup", "-maxdepth", "1", "-name", "cpuacct", "-o", "-maxdepth", "1", "-name", "cgroup.procs"],
        );
        let groups = hierarchies
            .lines()
            .map(|line| Path::new(line.trim_end_matches("/cgroup.procs")).join(format!("stend-{name}-mine")));
        let groups: Vec<_> = groups.filter(|group| std::fs::create_dir(group).is_ok()).collect();
        let socket = stand.path().join("mine.sock");
        let server = Command::new("nbdkit")
            .args(["--foreground", "--unix", socket.to_str().unwrap(), "memory", "1M"])
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        wait_until("nbdkit starts", || socket.exists());
        let directories = [work, disks.clone()];
        let before = traces(stand, name, &directories);
        assert!(before.len() >= 6, "{before:#?}");
        Self { disks, directories, before, loop_device, mount, groups, server }
    }
}

impl Drop for Neighbours {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
        let _ = Command::new("umount").arg(&self.mount).status();
        let _ = Command::new("losetup").args(["-d", &self.loop_device]).status();
        for group in &self.groups {
            let _ = std::fs::remove_dir(group);
        }
    }
}

/// Killed at random moments while it makes a pool or takes it down, `stend clean` removes all of it, and nothing else.
#[test]
fn killed_at_any_moment_clean_removes_all_that_was_made_and_nothing_else() {
    if !pools_can_be_made() {
        return;
    }
    let (stand, name) = (Stand::new(), own_name("killed"));
    let neighbours = Neighbours::settle(&stand, &name);
    let Neighbours { disks, directories, before, .. } = &neighbours;

    let mut arguments = up(&name, &[]);
    let place = arguments.iter().position(|word| word == "tmpfs").unwrap();
    arguments[place] = disks.to_str().unwrap().to_owned();
    let ledger = stand.path().join("work/targets").join(&name).join("ledger");
    let entries = || std::fs::read_to_string(&ledger).map_or(0, |text| text.lines().count());
    stand.fine(&words(&arguments));
    let all_entries = entries();
    let began = Instant::now();
    stand.fine(&["rig", "down", "--name", &name]);
    let taking_down = began.elapsed();
    assert_traces(&stand, &name, directories, before, "after up and down");

    // Moments from a fixed seed, spread over the whole of what is to be interrupted: of making, by what the ledger tells, and a little
    // later; of taking down, by the time that it takes.
    let mut random = Random(0x5EED);
    let mut half_made = 0;
    for kill in 0..14 {
        let share = random.share();
        let makes = kill % 3 != 2;
        let words_of_it = if makes {
            words(&arguments)
        } else {
            stand.fine(&words(&arguments));
            vec!["rig", "down", "--name", &name]
        };
        let mut child = stand.command(&words_of_it).stdout(Stdio::null()).spawn().unwrap();
        if makes {
            let reached = (all_entries as f64 * share) as usize;
            wait_until("so much is made", || entries() >= reached);
            std::thread::sleep(Duration::from_millis(random.next() % 64));
        } else {
            std::thread::sleep(taking_down.mul_f64(share));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let cleaned = stand.fine(&["clean"]);
        assert!(!cleaned.err.contains("letter"), "it was left, so nothing is said of it: {}", cleaned.err);
        half_made += u32::from(cleaned.err.contains("removed rig"));
        if cleaned.err.contains("rig down") {
            stand.fine(&["rig", "down", "--name", &name]);
        }
        assert_traces(&stand, &name, directories, before, &format!("kill {kill} at {share:.2} of {words_of_it:?}"));
    }
    assert!(half_made >= 8, "of making, nearly all moments were in the middle: {half_made}");
    assert_eq!(std::fs::read_to_string(neighbours.mount.join("photograph")).unwrap(), "a cat");
}

/// A load that writes and reads back, while a disk or a controller fails and comes back.
fn breaking_suite(stand: &Stand, name: &str, faults: &str) -> String {
    let limits = NO_LIMITS.replace("6h", "20s");
    let text = format!(
        "name = \"t\"\ntitle = \"t\"\norder = \"grouped\"\nrepeats = {REPEATS}\nwarmup = 0\nsample_hertz = 5\n{limits}\
         [[scenario]]\nname = \"load\"\ninstrument = \"fio\"\nparameters = {{ rw = \"randwrite\", bs = \"64k\", \
         verify = \"marks\", rate_iops = 250, rate_process = \"linear\" }}\nfaults = {faults}\n\
         metrics = [{{ name = \"throughput\", value = \"bytes/wall\", unit = \"B/s\", better = \"higher\" }}]\n"
    );
    let path = stand.path().join(name);
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

const REPEATS: usize = 2;
const DISK: &str =
    "[{ at = \"300ms\", disk = 1, action = \"die\" }, { at = \"600ms\", disk = 1, action = \"replace\" }]";
const CONTROLLER: &str = "[{ at = \"300ms\", controller = 0, action = \"kill\" }, { at = \"600ms\", controller = 0, \
    action = \"restart\" }]";

const END: &str = "[{ at = \"200ms\", disk = 1, action = \"rot\" }, { at = \"400ms\", disk = 1, action = \"scrub\" }, \
    { at = \"700ms\", pool = true, action = \"power-off\" }]";

/// The command lines of this stand's processes and of all that these started, but for the user's own.
fn processes(stand: &Stand, not: u32) -> BTreeMap<u32, String> {
    let path = stand.path().to_str().unwrap();
    let mut all = BTreeMap::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Some(number) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let parent = stat.rsplit(") ").next().and_then(|rest| rest.split(' ').nth(1)?.parse::<u32>().ok());
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        if !line.is_empty() && number != not {
            all.insert(number, (parent.unwrap_or(0), line));
        }
    }
    let mut own: BTreeSet<u32> =
        all.iter().filter(|(_, (_, line))| line.contains(path)).map(|(number, _)| *number).collect();
    loop {
        let more = all.iter().filter(|(number, (parent, _))| own.contains(parent) && !own.contains(number));
        let more: Vec<_> = more.map(|(number, _)| *number).collect();
        if more.is_empty() {
            break;
        }
        own.extend(more);
    }
    all.into_iter().filter(|(number, _)| own.contains(number)).map(|(number, (_, line))| (number, line)).collect()
}

/// The command lines of what this process started, and of what that started.
fn started_by(process: &str) -> Vec<String> {
    let threads = std::fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let children = threads.map(|thread| std::fs::read_to_string(thread.path().join("children")).unwrap_or_default());
    let mut lines = Vec::new();
    for child in children.collect::<String>().split_whitespace() {
        let line = std::fs::read(format!("/proc/{child}/cmdline")).unwrap_or_default();
        lines.push(String::from_utf8_lossy(&line).replace('\0', " "));
        lines.extend(started_by(child));
    }
    lines
}

/// Killed in a run: the lab, or something that it started. What is going on is known by who is there.
#[test]
fn killed_in_any_phase_of_a_run_nothing_is_left_and_each_repeat_is_there_once() {
    if !pools_can_be_made() {
        return;
    }
    let kills = std::env::var("KILLS").ok().map_or(3, |text| text.parse().expect("KILLS is a number"));
    let (stand, name) = (Stand::new(), own_name("run"));
    let neighbours = Neighbours::settle(&stand, &name);
    let Neighbours { disks, directories, before, server, .. } = &neighbours;
    let [disk, controller, end] = [("disk", DISK), ("controller", CONTROLLER), ("end", END)]
        .map(|(name, faults)| breaking_suite(&stand, &format!("{name}.toml"), faults));
    let pool = ["--where", disks.to_str().unwrap(), "--disks", "4", "--disk-size", "256MiB", "--luns", "2"];
    let pool = [&pool[..], &["--lun-size", "16MiB", "--transport", "nbd", "--checksums", "true"]].concat();
    let all: [&String; 3] = [&disk, &controller, &end];
    // What is going on, and in which suites that is.
    let moments: [(&str, &[&String]); 7] = [
        ("mkfs.btrfs", &all),
        ("--output-format=json+", &all),
        ("again.fio", &[&end]),
        ("replace start", &[&disk]),
        ("scrub start", &[&end]),
        ("fio --name=fill", &all),
        ("taken down", &all),
    ];
    let mut random = Random(0x5EED_5EED);
    let mut told = BTreeMap::<String, usize>::new();
    for kill in 0..kills {
        let _ = std::fs::remove_dir_all(stand.store());
        let (moment, suites) = moments[kill % moments.len()];
        let suite = suites[random.next() as usize % suites.len()];
        let run = [&["run", suite, "--even-if-unfit", "--no-progress"], &pool[..]].concat();
        let mut lab = stand.command(&run).stdout(Stdio::null()).spawn().unwrap();
        let mut goes_on = true;
        wait_until("that is reached, or the run has ended", || {
            goes_on = lab.try_wait().unwrap().is_none();
            let is_reached = if moment == "taken down" {
                let targets = std::fs::read_dir(directories[0].join("targets")).into_iter().flatten().flatten();
                targets.map(|entry| entry.path()).any(|path| path.join("ledger-taking-down").exists())
            } else {
                started_by(&lab.id().to_string()).iter().any(|line| line.contains(moment))
            };
            is_reached || !goes_on
        });
        // The load lasts some seconds: it writes, something fails, and it reads back.
        let at_most = if moment.contains("output-format") { 4096 } else { 256 };
        std::thread::sleep(Duration::from_millis(random.next() % at_most));
        let found = processes(&stand, server.id());
        // Every third time the lab, else whoever is there.
        let victim = match found.keys().nth(random.next() as usize % found.len().max(1)) {
            Some(number) if kill % 3 != 0 => *number,
            _ => lab.id(),
        };
        let line = found.get(&victim).cloned().unwrap_or_default();
        let program = line.split(' ').next().unwrap_or_default().rsplit('/').next().unwrap_or_default().to_owned();
        if goes_on && lab.try_wait().unwrap().is_none() {
            // It may have ended by now.
            let _ = kill_process(Pid::from_raw(victim.cast_signed()).unwrap(), Signal::KILL);
        }
        let ended = lab.wait().unwrap();
        let at = format!("kill {kill} of {program} ({victim}) at \"{moment}\" of {suite}: {line:.300}");
        let cleaned = stand.run(&["clean"]);
        assert_eq!(cleaned.status, Some(0), "{at}\n{}", cleaned.err);
        assert_traces(&stand, &name, directories, before, &at);
        *told.entry(format!("{moment}: {program}")).or_default() += 1;

        let runs = stand.run(&["list", "--json"]);
        let runs: serde_json::Value = serde_json::from_str(&runs.out).unwrap_or_default();
        let Some(one) = runs["runs"].get(0) else {
            assert_ne!(ended.code(), Some(0), "{at}");
            continue;
        };
        let mut complete = ended.code() == Some(0);
        if one["state"] != "finished" && !complete {
            let resumed = stand.run(&["resume", "--even-if-unfit", "--no-progress"]);
            complete = resumed.status == Some(0);
            assert!(matches!(resumed.status, Some(0 | 2 | 3)), "{at}\n{}\n{}", resumed.out, resumed.err);
            assert_traces(&stand, &name, directories, before, &format!("{at}, and resumed"));
        }
        let shown = stand.json(&["show", "last"]);
        let repeats = shown["run"]["repeats"].as_array().unwrap();
        let valid: Vec<_> = repeats.iter().filter(|repeat| repeat["outcome"] == "valid").collect();
        let numbers: BTreeSet<_> = valid.iter().map(|repeat| repeat["number"].as_u64().unwrap()).collect();
        assert_eq!(numbers.len(), valid.len(), "each once: {at}\n{repeats:#?}");
        assert!(!complete || valid.len() == REPEATS, "{at}\n{repeats:#?}");
        let sequence = repeats.iter().map(|repeat| repeat["sequence"].as_u64().unwrap());
        assert!(sequence.eq(0..repeats.len() as u64), "{at}\n{repeats:#?}");
        *told.entry(if complete { "complete" } else { "given up" }.into()).or_default() += 1;
    }
    eprintln!("{told:#?}");
    assert_eq!(std::fs::read_to_string(neighbours.mount.join("photograph")).unwrap(), "a cat");
}
