//! The gate before a run: an unfit machine is waited for, then refused, and measured only for a user who insists.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::{Ended, Stand, in_own_mounts, interrupt, probe};

/// Programs that keep every processor busy until this is dropped.
struct Load(Vec<Child>);

impl Load {
    fn start() -> Self {
        let processors = std::thread::available_parallelism().unwrap().get();
        let busy = || Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
        Self((0..processors).map(|_| busy()).collect())
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// A suite that is measured unless others use some of the machine. The load of these tests is far above that, also where a hypervisor
/// leaves it a fraction of the processors only.
fn suite(stand: &Stand) -> String {
    let path = stand.suite("repeats = 1\nwarmup = 0", &[("one", "steady.sh 1")]);
    let text = std::fs::read_to_string(&path).unwrap().replace("foreign_cpu = \"off\"", "foreign_cpu = \"5%\"");
    std::fs::write(&path, text).unwrap();
    path
}

fn runs(stand: &Stand) -> usize {
    stand.json(&["list"])["runs"].as_array().unwrap().len()
}

fn assert_refused(ended: &Ended) {
    assert_eq!(ended.status, Some(4), "{}\n{}", ended.out, ended.err);
    let last = ended.err.trim().lines().last().unwrap();
    for part in ["not fit to measure", "other programs: ", "above 5.0 %", "--wait", "--even-if-unfit"] {
        assert!(last.contains(part), "`{part}` is not in: {last}");
    }
}

#[test]
fn a_busy_machine_is_refused_unless_the_user_insists() {
    let stand = Stand::new();
    let suite = suite(&stand);
    let _load = Load::start();
    assert_refused(&stand.run(&["run", &suite, "--wait", "0"]));
    let waited = stand.run(&["run", &suite, "--wait", "1s"]);
    assert_refused(&waited);
    assert!(waited.err.contains("waiting 1 s at most"), "{}", waited.err);
    assert_eq!(runs(&stand), 0, "nothing was made");
    assert_eq!(stand.run(&["check", &suite]).status, Some(4), "as a run is refused");

    let insisted = stand.run(&["run", &suite, "--even-if-unfit", "--wait", "1s", "--no-progress"]);
    assert!(insisted.err.contains("waiting 1 s at most"), "what the user asks for is done: {}", insisted.err);
    let insisted = stand.run(&["run", &suite, "--even-if-unfit", "--no-progress"]);
    assert!(!insisted.err.contains("waiting"), "{}", insisted.err);
    assert!(insisted.err.contains("warning: the machine is not fit to measure: other programs"), "{}", insisted.err);
    assert!(insisted.out.contains("measured although the machine was unfit: other programs"), "{}", insisted.out);
    let shown = stand.fine(&["show"]).out;
    assert!(shown.contains("measured although unfit: other programs"), "{shown}");
}

#[test]
fn an_interrupted_wait_leaves_no_run_behind() {
    let stand = Stand::new();
    let suite = suite(&stand);
    let _load = Load::start();
    let mut child =
        stand.command(&["run", &suite, "--wait", "1h"]).stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap());
    let mut err = String::new();
    while !err.contains("waiting") {
        assert_ne!(said.read_line(&mut err).unwrap(), 0, "it waits: {err}");
    }
    let asked = Instant::now();
    interrupt(&child);
    said.read_to_string(&mut err).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{err}");
    assert!(err.contains("interrupted before anything was measured"), "{err}");
    assert!(asked.elapsed() < Duration::from_secs(300), "far less than it would have waited");
    assert_eq!(runs(&stand), 0);
}

#[test]
fn a_waiting_time_that_makes_no_sense() {
    let ended = Stand::new().run(&["run", "--wait", "soon"]);
    assert_eq!(ended.status, Some(2));
    assert!(ended.err.contains("--wait") && ended.err.contains("soon"), "{}", ended.err);
}

/// A small file system of its own for the work directory, or for fio's files.
#[test]
fn files_that_do_not_fit_are_refused_before_anything_is_written() {
    let stand = Stand::new();
    let path = stand.suite("repeats = 1\nwarmup = 0", &[("one", "steady.sh 1")]);
    let fio = |directory: &str| {
        let text = format!(
            "\n[[scenario]]\nname = \"disk\"\ninstrument = \"fio\"\n\
             parameters = {{ rw = \"read\", bs = \"4k\", luns = 2, size = \"200M\", runtime = \"1s\"{directory} }}\n\
             metrics = [{{ name = \"m\", value = \"wall\", unit = \"s\", better = \"lower\" }}]\n"
        );
        std::fs::read_to_string(&path).unwrap() + &text
    };
    let disk = stand.path().join("disk");
    let of = |name: &str, text: String| {
        let path = stand.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let in_work = of("work.toml", fio(""));
    let in_array = of("array.toml", fio(&format!(", directory = \"{}\"", disk.display())));
    // A fio that only says its version: whoever starts it for more is too late.
    let bin = stand.path().join("bin");
    std::fs::create_dir(&bin).unwrap();
    std::fs::write(bin.join("fio"), "#!/bin/sh\n[ \"$1\" = --version ] && echo fio-3.33\n").unwrap();
    std::process::Command::new("chmod").arg("+x").arg(bin.join("fio")).status().unwrap();
    let script = r#"
        mount -t tmpfs -o size=400m none "$DISK" || exit 99
        STEND_WORK=$DISK/work "$STEND" run "$IN_WORK"; echo "work $?"
        "$STEND" run "$IN_ARRAY"; echo "array $?"
        STEND_WORK=$DISK/work "$STEND" check "$IN_WORK" --json | grep -c '"unfit"'; echo "check $?"
        STEND_WORK=$DISK/work "$STEND" run "$IN_WORK" --only one --no-progress; echo "small $?"
    "#;
    let stend = stand.command(&[]).get_program().to_str().unwrap().to_owned();
    let search = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    std::fs::create_dir(&disk).unwrap();
    let (store, work, probe) = (stand.store(), stand.path().join("work"), probe());
    let environment = [
        ("DISK", disk.to_str().unwrap()),
        ("IN_WORK", &in_work),
        ("IN_ARRAY", &in_array),
        ("STEND", &stend),
        ("STEND_STORE", store.to_str().unwrap()),
        ("STEND_WORK", work.to_str().unwrap()),
        ("STEND_PROBE", probe.to_str().unwrap()),
        ("PATH", &search),
    ];
    let Some(ended) = in_own_mounts(script, &environment) else { return };
    assert_eq!(
        ended.out.lines().filter(|line| line.split(' ').count() == 2 && !line.starts_with(' ')).collect::<Vec<_>>(),
        ["work 4", "array 4", "check 0", "small 0"],
        "{}\n{}",
        ended.out,
        ended.err
    );
    let refused: Vec<_> = ended.err.lines().filter(|line| line.starts_with("stend: ")).collect();
    assert_eq!(refused.len(), 2, "one line each: {}", ended.err);
    for (line, directory) in [(refused[0], disk.join("work")), (refused[1], disk.clone())] {
        for said in [
            format!(" MiB in {}; the files in {} need 400 MiB", disk.display(), directory.display()),
            "STEND_WORK".into(),
            "--scale".into(),
        ] {
            assert!(line.contains(&said), "`{said}` is not in: {line}");
        }
        assert!(!line.contains("--wait"), "waiting makes no room: {line}");
        assert!(!line.contains("--even-if-unfit"), "nor does insisting: {line}");
    }
    assert_eq!(runs(&stand), 1, "only the one that fits");
}
