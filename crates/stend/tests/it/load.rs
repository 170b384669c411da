//! Storage under load, end to end: job files of the user's own, preconditioning, steady state, and open load, with the real fio. No test
//! depends on how fast it is, or on what else the machine does.

use std::fs;

use crate::common::{Ended, Gate, NO_LIMITS, Stand};
use serde_json::Value;

/// Whether fio is here. Under CI it must be.
pub(crate) fn have_fio() -> bool {
    let found = std::process::Command::new("fio").arg("--version").output().is_ok();
    assert!(found || std::env::var_os("CI").is_none(), "under CI nothing may be skipped, and there is no fio here");
    if !found {
        eprintln!("skipped: there is no fio here");
    }
    found
}

fn says(ended: &Ended, status: i32, parts: &[&str]) {
    assert_eq!(ended.status, Some(status), "{}\n{}", ended.out, ended.err);
    for part in parts {
        assert!(ended.err.contains(part), "{part} is not in\n{}", ended.err);
    }
}

fn job_file(stand: &Stand, text: &str) -> String {
    let path = stand.path().join("jobs.fio");
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

/// The repeats of the newest run.
pub(crate) fn repeats(stand: &Stand) -> Vec<Value> {
    stand.json(&["show"])["run"]["repeats"].as_array().unwrap().clone()
}

#[test]
fn a_job_file_is_run_as_it_is() {
    if !have_fio() {
        return;
    }
    let stand = Stand::new();
    let path = job_file(
        &stand,
        "; two readers, then a writer that reads back\n[global]\nioengine=psync\nbs=4k\nsize=1m\nfilename=${LUN1}\n\
         [sequential]\nrw=read\n[random]\nrw=randread\nnumjobs=2\n[written]\nstonewall\nrw=write\nverify=crc32c\n",
    );
    let shown = stand.run(&["run", "--fio", &path, "--dry-run"]);
    says(&shown, 0, &[]);
    assert!(shown.out.contains("sequential + random") && shown.out.contains("written"), "{}", shown.out);
    let lines = |text: &str| shown.out.lines().filter(|line| line.trim() == text).count();
    assert_eq!((lines("[random]"), lines("numjobs=2")), (1, 1), "each line by itself, and once: {}", shown.out);
    // A machine that is stolen from makes repeats invalid, which is right and no matter here.
    let run = ["run", "--fio", &path, "--even-if-unfit", "--no-progress", "--set", "lun_size=1MiB"];
    let ended = stand.run(&run);
    assert!(matches!(ended.status, Some(0 | 3)), "{}\n{}", ended.out, ended.err);
    let repeats = repeats(&stand);
    let of = |scenario: u64| repeats.iter().find(|repeat| repeat["scenario"] == scenario).unwrap();
    let (read, written) = (&of(0)["report"], &of(1)["report"]);
    assert_eq!((&read["check"], &written["check"]), (&"passed".into(), &"passed".into()), "{repeats:?}");
    assert_eq!(read["work"]["operations"], 768.0, "one job and two of 256 operations each, which report apart");
    assert_eq!(written["work"]["operations"], 256.0, "what was written");
    assert_eq!(written["work"]["bytes"], 1_048_576.0);
    assert_eq!(written["observed"]["verified_bytes"], 1_048_576.0, "it was read back, after it was written");
    assert_eq!(of(0)["begin"]["parameters"]["sections"], serde_json::json!(["sequential", "random"]));
    let left: Vec<_> =
        fs::read_dir(stand.path().join("work")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["in-use.lock"], "the run's files are gone");
}

#[test]
fn a_job_file_has_percentiles_of_each_window() {
    if !have_fio() {
        return;
    }
    let stand = Stand::new();
    let path = job_file(
        &stand,
        "[global]\nioengine=psync\nbs=4k\nsize=1m\nfilename=${LUN1}\ntime_based=1\nruntime=2\n\
         [sequential]\nrw=read\n[random]\nrw=randread\nnumjobs=2\n",
    );
    let run = ["run", "--fio", &path, "--even-if-unfit", "--no-progress", "--set", "lun_size=1MiB"];
    let ended = stand.run(&[&run[..], &["--set", "log_avg_msec=200"]].concat());
    assert!(matches!(ended.status, Some(0 | 3)), "{}\n{}", ended.out, ended.err);
    let store = rusqlite::Connection::open(stand.store().join("stend.db")).unwrap();
    let samples = |metric: &str| -> u32 {
        store.query_row("SELECT samples FROM series WHERE metric = ?1", [metric], |row| row.get(0)).unwrap_or(0)
    };
    for metric in ["iops", "latency_p50_ns", "latency_p99_ns", "latency_p999_ns", "latency_max_ns"] {
        assert!((4..=12).contains(&samples(metric)), "{metric}: {} windows in two seconds", samples(metric));
    }
}

#[test]
fn a_job_file_with_a_mistake_is_quoted_and_nothing_is_run() {
    if !have_fio() {
        return;
    }
    let stand = Stand::new();
    for (text, parts) in [
        ("[a]\nrw=read\nsize=1m\nnonsense=7\n", ["jobs.fio:4: ", "Bad option", "`nonsense=7`"]),
        ("[global]\nsize=1m\n\n[a]\nrw = sideways\n", ["jobs.fio:5: ", "failed parsing", "`rw = sideways`"]),
        ("rw=read\n[a]\n", ["jobs.fio:1: ", "before the first [section]", "`rw=read`"]),
        ("[a]\nrw=write\nsize=1m\nfilename=/dev/stend-disk\n", ["jobs.fio:4: ", "is a device", "${LUN1}"]),
        ("; nothing\n", ["jobs.fio", "no [section]", "[global]"]),
    ] {
        let path = job_file(&stand, text);
        let ended = stand.run(&["run", "--fio", &path]);
        says(&ended, 2, &parts);
        assert_eq!(ended.err.trim_end().lines().count(), 1, "{}", ended.err);
    }
    says(&stand.run(&["run", "--fio", "nowhere.fio"]), 2, &["nowhere.fio cannot be read"]);
    says(&stand.run(&["run", "quick", "--fio", "nowhere.fio"]), 2, &["cannot be used with"]);
    assert_eq!(stand.json(&["list"])["runs"].as_array().map(Vec::len), Some(0));
}

#[test]
fn fio_that_fails_in_the_middle_says_of_what() {
    if !have_fio() {
        return;
    }
    let stand = Stand::new();
    // A disk that is full: the device that always is, under the name of a file.
    let path = job_file(
        &stand,
        "[global]\nioengine=psync\nbs=4k\nrw=write\nsize=1m\n[fill]\nfilename=${LUN1}\n\
         [break]\nstonewall\nexec_prerun=ln -sf /dev/full full\nfilename=full\n",
    );
    let ended = stand.run(&["run", "--fio", &path, "--even-if-unfit", "--no-progress", "--set", "lun_size=1MiB"]);
    says(&ended, 3, &["break: 0 of 1 (fio's job \"break\" failed with error 28", "No space left on device"]);
    let tried = repeats(&stand).iter().filter(|repeat| repeat["scenario"] == 1).count();
    assert_eq!(tried, 1, "a disk that is full is full the next time too");
}

/// A suite of an instrument that says how much it did: each time the next of these numbers.
fn numbers(stand: &Stand, head: &str, numbers: &str) -> String {
    let script = "n=$(cat \"$1\" 2>/dev/null || echo 0); echo $((n + 1)) >\"$1\"; shift\n\
        if [ \"$n\" -lt $# ]; then shift \"$n\"; else set --; fi\n\
        echo '{\"event\":\"begin\",\"wire\":1,\"instrument\":\"numbers\"}'\n\
        echo '{\"event\":\"repeat\",\"wall_ns\":1000000,\"work\":{\"bytes\":'\"${1:-100}\"'},\"check\":\"passed\"}'\n\
        echo '{\"event\":\"end\",\"repeats\":1}'\n";
    fs::write(stand.path().join("numbers.sh"), script).unwrap();
    let words: Vec<_> = numbers.split(' ').map(|number| format!("\"{number}\"")).collect();
    let text = format!(
        "name = \"t\"\ntitle = \"t\"\nsample_hertz = 0\norder = \"grouped\"\nrepeats = 6\n\
         {NO_LIMITS}\
         [[scenario]]\nname = \"load\"\ncommand = [\"sh\", \"{{suite_directory}}/numbers.sh\", \"{{suite_directory}}/count\", {}]\n\
         metrics = [{{ name = \"throughput\", value = \"bytes/wall\", unit = \"B/s\", better = \"higher\" }}]\n{head}\n",
        words.join(", ")
    );
    let path = stand.path().join("t.toml");
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn a_load_is_measured_when_it_is_steady() {
    let stand = Stand::new();
    // Falls as a fresh disk does, and is steady from the fourth round on.
    let suite = numbers(&stand, "steady = {}", "900 400 200 104 100 102 98 101");
    stand.fine(&["run", &suite, "--no-progress", "--even-if-unfit"]);
    let repeats = repeats(&stand);
    let rounds = repeats.iter().filter(|repeat| repeat["phase"] == "warmup").count();
    assert_eq!((rounds, repeats.len()), (8, 8 + 6), "the window 104 100 102 98 101 is the first that is steady");
}

#[test]
fn what_never_gets_steady_is_shown_as_such() {
    let stand = Stand::new();
    let suite = numbers(&stand, "steady = { rounds = 3, most = 4 }", "100 200 300 400");
    let ended = stand.run(&["run", &suite, "--no-progress", "--even-if-unfit"]);
    says(&ended, 3, &["load never reached a steady state, and was measured nevertheless: range 67 %, slope 67 %"]);
    let repeats = repeats(&stand);
    let rounds = repeats.iter().filter(|repeat| repeat["phase"] == "warmup").count();
    assert_eq!((rounds, repeats.len()), (4, 4 + 6));
    // The next one is steady from the start; they are not set against each other all the same.
    stand.fine(&["run", &suite, "--no-progress", "--even-if-unfit"]);
    let table = &stand.json(&["compare", "last~1", "last"])["table"];
    assert!(table["rows"][0]["cells"][1]["against_base"].is_null(), "no verdict: {table}");
    assert!(table["notes"].to_string().contains("\"not_steady\""), "{}", table["notes"]);
}

#[test]
fn what_was_prepared_is_prepared_again_when_a_killed_run_goes_on() {
    let stand = Stand::new();
    let gate = Gate::new();
    let head = "order = \"grouped\"\nrepeats = 4\nwarmup = 0";
    let suite = stand.suite(head, &[("fill", "steady.sh 1"), ("load", &gate.after(2))]);
    let text = fs::read_to_string(&suite).unwrap();
    fs::write(&suite, text.replace("name = \"fill\"\n", "name = \"fill\"\nprecondition = true\n")).unwrap();
    let mut child = stand.command(&["run", &suite, "--no-progress", "--even-if-unfit"]).spawn().unwrap();
    gate.wait_until_reached();
    child.kill().unwrap();
    child.wait().unwrap();
    gate.open();
    stand.fine(&["resume", "--no-progress", "--even-if-unfit"]);
    let made: Vec<_> = repeats(&stand)
        .iter()
        .map(|repeat| ["scenario", "number", "session"].map(|name| repeat[name].as_u64().unwrap()))
        .collect();
    assert_eq!(made, [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 1], [1, 2, 1], [1, 3, 1]]);
}

#[test]
fn what_prepares_is_tried_again_when_it_fails() {
    let stand = Stand::new();
    let flag = stand.path().join("flag");
    let suite = stand.suite(
        "order = \"grouped\"\nrepeats = 1\nwarmup = 0",
        &[("fill", &format!("once.sh {}", flag.display())), ("load", "steady.sh 1")],
    );
    let text = fs::read_to_string(&suite).unwrap();
    fs::write(&suite, text.replace("name = \"fill\"\n", "name = \"fill\"\nprecondition = true\n")).unwrap();
    stand.fine(&["run", &suite, "--no-progress", "--even-if-unfit"]);
    let made: Vec<_> = repeats(&stand)
        .iter()
        .map(|repeat| (repeat["scenario"].as_u64().unwrap(), repeat["number"].as_u64().unwrap()))
        .collect();
    assert_eq!(made, [(0, 0), (0, 1), (1, 0)], "the first one failed");
}

#[test]
fn an_open_load_has_its_share_of_what_was_reached() {
    if !have_fio() {
        return;
    }
    let stand = Stand::new();
    let scenario = |name: &str, rest: &str| {
        format!(
            "[[scenario]]\nname = \"{name}\"\ninstrument = \"fio\"\nrepeats = 1\nwarmup = 0\n\
             gates = {{ foreign_cpu = \"off\", steal = \"off\", frequency_fall = \"off\", swapping = \"off\" }}\n\
             metrics = [{{ name = \"IOPS\", value = \"operations/wall\", unit = \"IOPS\", better = \"higher\" }}]\n{rest}\n"
        )
    };
    let fio = |more: &str| format!("parameters = {{ size = \"1MiB\", ioengine = \"psync\", direct = 0{more} }}");
    let text = "name = \"t\"\ntitle = \"t\"\nsample_hertz = 0\norder = \"grouped\"\n".to_owned()
        // One that is held back itself, so that half of it can be reached however slow this machine is.
        + &scenario("filled", &format!("precondition = true\n{}", fio(", rw = \"write\", loops = 1"))
            .replace("repeats = 1\nwarmup = 0\n", ""))
            .replace("repeats = 1\nwarmup = 0\n", "")
        + &scenario("whole", &fio(", runtime = \"500ms\", rate_iops = 400, rate_process = \"linear\""))
        + &scenario("half", &format!("rate = {{ of = \"whole\", share = \"50%\" }}\n{}", fio(", runtime = \"500ms\", rate_process = \"linear\"")));
    let path = stand.path().join("t.toml");
    fs::write(&path, text).unwrap();
    let ended = stand.run(&["run", path.to_str().unwrap(), "--no-progress", "--even-if-unfit"]);
    assert!(matches!(ended.status, Some(0 | 3)), "{}\n{}", ended.out, ended.err);
    assert!(!ended.out.contains("filled"), "what only prepares is in no table: {}", ended.out);
    let repeats = repeats(&stand);
    let phases: Vec<_> =
        repeats.iter().map(|repeat| (repeat["scenario"].as_u64().unwrap(), &repeat["phase"])).collect();
    assert_eq!(phases[0], (0, &"warmup".into()), "{phases:?}");
    let whole = repeats.iter().find(|repeat| repeat["scenario"] == 1 && repeat["outcome"] == "valid");
    let half = repeats.iter().find(|repeat| repeat["scenario"] == 2).unwrap();
    match whole {
        Some(whole) => {
            let report = &whole["report"];
            let reached = report["work"]["operations"].as_f64().unwrap() / report["wall_ns"].as_f64().unwrap() * 1e9;
            let asked = half["begin"]["parameters"]["rate_iops"].as_f64().unwrap();
            assert!((asked - reached / 2.0).abs() <= 1.0, "{asked} of {reached}");
        }
        None => assert_eq!(half["outcome"]["failed"]["cause"], "rate_unknown", "{half}"),
    }
}
