//! fio's own job files, end to end, with the real fio: what they need is known before anything is written, what is wrong with them is said in
//! one line, and what fio said itself is given back.

use std::fs;

use serde_json::{Value, json};

use crate::common::{Ended, Gate, Stand, environment, in_own_mounts, on_path, path_with};
use crate::load::{have_fio, repeats};

/// Writes a job file.
fn jobs(stand: &Stand, name: &str, text: &str) -> String {
    let path = stand.path().join(name);
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Runs a job file, whatever the machine is like.
fn run(stand: &Stand, path: &str, more: &[&str]) -> Ended {
    stand.run(&[&["run", "--fio", path, "--even-if-unfit", "--no-progress"], more].concat())
}

/// That nothing was begun, and one line says why: with these parts.
#[track_caller]
fn refused(stand: &Stand, ended: &Ended, status: i32, parts: &[&str]) {
    assert_eq!(ended.status, Some(status), "{}\n{}", ended.out, ended.err);
    assert_eq!(ended.err.trim_end().lines().count(), 1, "{}", ended.err);
    for part in parts {
        assert!(ended.err.contains(part), "{part} is not in\n{}", ended.err);
    }
    assert_eq!(stand.json(&["list"])["runs"].as_array().map(Vec::len), Some(0), "nothing was begun");
}

#[test]
fn what_a_job_file_would_write_is_added_up_before_the_first_byte() {
    if !have_fio() {
        return;
    }
    let (stand, gate) = (Stand::new(), Gate::new());
    let (disk, other) = (stand.path().join("disk"), stand.path().join("other"));
    for directory in [&disk, &other] {
        fs::create_dir(directory).unwrap();
    }
    let of_other = format!("directory={}\n", other.display());
    let cases = [
        ("huge", "[a]\nrw=write\nsize=900g\n".to_owned(), "900 GiB"),
        ("jobs", "[a]\nrw=write\nsize=20m\nnumjobs=4\n".into(), "80 MiB"),
        ("files", "[a]\nrw=read\nfilesize=10m\nnrfiles=4\n[b]\nrw=read\nnrfiles=2\nsize=40m\n".into(), "80 MiB"),
        (
            "offsets",
            "[a]\nrw=read\nsize=20m\noffset=20m\noffset_increment=20m\nnumjobs=3\nfilename=x\n".into(),
            "80 MiB",
        ),
        (
            "phases",
            format!("[a]\nrw=write\nsize=40m\n{of_other}[b]\nstonewall\nrw=write\nsize=40m\n{of_other}"),
            "80 MiB",
        ),
        ("two", format!("[a]\nrw=write\nsize=40m\n{of_other}[b]\nrw=write\nsize=40m\n"), "fits"),
        ("shared", "[a]\nrw=write\nsize=40m\nnumjobs=4\nfilename=x\n".into(), "fits"),
        ("kept", format!("[a]\nrw=read\nsize=40m\nfilename={}/kept\n", other.display()), "fits"),
        ("nothing", "[a]\nioengine=null\nrw=write\nsize=900g\nio_size=1m\n".into(), "fits"),
    ];
    for (name, text, _) in &cases {
        jobs(&stand, &format!("{name}.fio"), &format!("[global]\nioengine=psync\nbs=64k\n{text}"));
    }
    let script = r#"
        mount -t tmpfs -o size=64m none "$DIRECTORY/disk" || exit 99
        mount -t tmpfs -o size=64m none "$DIRECTORY/other" || exit 99
        export STEND_WORK=$DIRECTORY/disk/work
        refusals() {
            for name; do
                "$STEND" run --fio "$DIRECTORY/$name.fio" --even-if-unfit --no-progress >/dev/null
                echo "$name $? $(find "$DIRECTORY/disk" "$DIRECTORY/other" -type f -size +64k | wc -l)"
                rm -f "$DIRECTORY/other"/[ab]*
            done
        }
        refusals huge jobs files offsets phases two shared nothing
        "$STEND" run --fio "$DIRECTORY/huge.fio" --dry-run >/dev/null; echo "dry $? 0"
        "$STEND" run --fio "$DIRECTORY/huge.fio" --even-if-unfit --no-progress --set size=1m >/dev/null; echo "small $? 0"
        head -c 41943040 /dev/zero >"$DIRECTORY/other/kept"
        refusals kept
    "#;
    let mut owned = Vec::new();
    let environment = environment(&stand, &gate, "", &mut owned);
    let Some(ended) = in_own_mounts(script, &environment) else { return };
    let line = |name: &str| {
        let found = ended.out.lines().find_map(|line| line.strip_prefix(&format!("{name} ")).map(str::to_owned));
        found.unwrap_or_else(|| panic!("{name} is not in {}\n{}", ended.out, ended.err))
    };
    let mut refusals = ended.err.lines().filter(|line| line.contains("free space"));
    for (name, _, needed) in &cases {
        if *needed == "fits" {
            let said = line(name);
            assert!(said.starts_with("0 ") || said.starts_with("3 "), "{name}: {said}\n{}", ended.err);
            continue;
        }
        assert_eq!(line(name), "4 0", "{name} is refused and nothing is written\n{}", ended.err);
        let told = refusals.next().unwrap();
        let place = if *name == "phases" { &other } else { &disk };
        for part in [*needed, place.to_str().unwrap(), "--set size=", " MiB in "] {
            assert!(told.contains(part), "{name}: {part} is not in {told}");
        }
    }
    assert_eq!(line("dry"), "4 0", "a dry run says so too\n{}", ended.err);
    assert!(["0 0", "3 0"].contains(&line("small").as_str()), "{}\n{}", ended.out, ended.err);
}

#[test]
fn of_what_fio_says_the_first_error_is_told_with_its_line() {
    if !have_fio() {
        return;
    }
    let stand = Stand::new();
    let nowhere = stand.path().join("nowhere");
    let text = format!("[global]\nsize=1m\ndirectory={}\n[a]\nrw=read\n", nowhere.display());
    let path = jobs(&stand, "a.fio", &text);
    let said = run(&stand, &path, &[]);
    refused(&stand, &said, 2, &["[a]", "nowhere is not a directory"]);
    assert!(!said.err.contains("dropped"), "{}", said.err);
}

/// fio makes what is missing of a path, as root anywhere.
#[test]
fn of_a_path_that_is_named_only_the_last_part_is_made() {
    if !have_fio() {
        return;
    }
    let stand = Stand::new();
    let missing = stand.path().join("mistyped");
    let within = missing.join("x");
    let named = jobs(&stand, "a.fio", &format!("[a]\nrw=write\nsize=1m\nfilename={}\n", within.display()));
    let lun = jobs(&stand, "b.fio", "[a]\nrw=write\nsize=1m\nfilename=${LUN1}\n");
    let set = |directory: &std::path::Path| format!("directory={}", directory.display());
    let lun_size = ["--set", "lun_size=1MiB"];
    for dry in [&["--dry-run"][..], &[]] {
        refused(&stand, &run(&stand, &named, dry), 2, &["[a]", missing.to_str().unwrap(), "make it first"]);
        let said = run(&stand, &lun, &[dry, &lun_size, &["--set", &set(&within)]].concat());
        refused(&stand, &said, 2, &[&set(&within), "mistyped is not a directory", "make it first"]);
        let said = stand.run(&[&["run", "storage", "--set", &set(&within), "--only", "random write"], dry].concat());
        refused(&stand, &said, 2, &[&set(&within), "make it first"]);
    }
    assert!(!missing.exists());
    let ended = run(&stand, &lun, &[&lun_size[..], &["--set", &set(&missing)]].concat());
    assert!(matches!(ended.status, Some(0 | 3)), "{}\n{}", ended.out, ended.err);
    assert!(missing.is_dir());
}

#[test]
fn an_engine_that_fio_lacks_is_named_before_anything_is_run() {
    if !have_fio() {
        return;
    }
    let stand = Stand::new();
    // One whose own options fio cannot know either, and one without any; a suite's scenario, too.
    for text in ["[a]\nioengine=dfs\npool=x\nsize=1m\n", "[global]\nioengine=libhdfs\n[a]\nrw=read\nsize=1m\n"] {
        let path = jobs(&stand, "a.fio", text);
        let engine = if text.contains("dfs\np") { "\"dfs\"" } else { "\"libhdfs\"" };
        for dry in [&["--dry-run"][..], &[]] {
            refused(&stand, &run(&stand, &path, dry), 4, &["fio here has no engine", engine]);
        }
    }
    let suite = "name = \"t\"\ntitle = \"t\"\n[[scenario]]\nname = \"s\"\ninstrument = \"fio\"\n\
        parameters = { ioengine = \"libhdfs\" }\n\
        metrics = [{ name = \"m\", value = \"wall\", unit = \"s\", better = \"lower\" }]\n";
    let path = jobs(&stand, "t.toml", suite);
    refused(&stand, &stand.run(&["run", &path]), 4, &["fio here has no engine \"libhdfs\""]);
}

#[test]
fn engines_that_move_no_data_count_what_they_do_or_are_refused() {
    if !have_fio() {
        return;
    }
    let stand = Stand::new();
    for engine in ["filecreate", "filestat", "filedelete"] {
        let text =
            format!("[global]\nioengine={engine}\nfilesize=4k\nnrfiles=50\nopenfiles=1\ncreate_on_open=1\n[a]\n[b]\n");
        let text = if engine == "filecreate" { text } else { text.replace("create_on_open=1\n", "") };
        let ended = run(&stand, &jobs(&stand, "a.fio", &text), &[]);
        assert!(matches!(ended.status, Some(0 | 3)), "{engine}: {}\n{}", ended.out, ended.err);
        let repeats = repeats(&stand);
        let report = &repeats[0]["report"];
        assert_eq!(report["check"], "passed", "{engine}: {repeats:?}");
        assert_eq!(report["work"]["operations"], 100.0, "{engine}: two jobs of 50 files each");
        assert_eq!(report["work"].get("bytes"), None, "{engine}: it moves none");
        assert!(!ended.out.contains("B/s"), "{engine}: {}", ended.out);
    }
    let stand = Stand::new();
    for (text, parts) in [
        ("[a]\nioengine=exec\nprogram=/bin/true\n", ["a.fio:2: ", "exec"]),
        ("[b]\nrw=read\nsize=1m\n[a]\nioengine=exec\nprogram=/bin/true\n", ["a.fio:5: ", "exec"]),
        ("[a]\nruntime=1\nioengine=cpuio\ncpuload=50\n", ["a.fio:3: ", "cpuio"]),
        (
            "[a]\nruntime=1\ngroup_reporting\nioengine=cpuio\ncpuload=50\n[b]\nrw=read\nsize=1m\n",
            ["a.fio:3: ", "group_reporting"],
        ),
        ("[a]\nfill_device=1\nrw=write\n", ["a.fio:2: ", "size="]),
        ("[global]\nio_submit_mode=offload\nsize=1m\n[a]\nrw=read\n", ["a.fio:2: ", "never end"]),
    ] {
        let path = jobs(&stand, "a.fio", text);
        refused(&stand, &run(&stand, &path, &["--dry-run"]), 2, &parts);
    }
    // Beside a load that moves data it is a load on the processors, and counts for nothing.
    let text =
        "[global]\nsize=1m\nbs=4k\n[cpu]\nioengine=cpuio\ncpuload=10\nruntime=1\nexit_on_io_done=1\n[read]\nrw=read\n";
    let ended = run(&stand, &jobs(&stand, "a.fio", text), &[]);
    assert!(matches!(ended.status, Some(0 | 3)), "{}\n{}", ended.out, ended.err);
    let report = &repeats(&stand)[0]["report"];
    assert_eq!((&report["work"]["operations"], &report["work"]["bytes"]), (&256.0.into(), &1_048_576.0.into()));
}

#[test]
fn a_file_that_is_there_is_not_written_over() {
    if !have_fio() {
        return;
    }
    let stand = Stand::new();
    let precious = stand.path().join("precious");
    fs::write(&precious, vec![7; 65536]).unwrap();
    let name = format!("filename={}\n", precious.display());
    let elsewhere = format!("directory={}\nfilename=precious\n", stand.path().display());
    for text in [
        format!("[a]\nrw=write\nsize=64k\n{name}"),
        format!("[a]\nrw=randrw\nsize=4k\n{elsewhere}"),
        // fio makes a file longer by writing all of it anew.
        format!("[a]\nrw=read\nsize=128k\n{name}"),
        format!("[a]\nioengine=filedelete\nfilesize=64k\n{name}"),
        format!("[global]\nrw=write\n[b]\nsize=4k\n[a]\nstonewall\nsize=4k\n{name}"),
    ] {
        let path = jobs(&stand, "a.fio", &text);
        for dry in [&["--dry-run"][..], &[]] {
            refused(&stand, &run(&stand, &path, dry), 2, &["[a]", precious.to_str().unwrap(), "is there already"]);
        }
        assert!(fs::read(&precious).unwrap() == vec![7; 65536], "{text}");
    }
    let read = format!("[a]\nrw=read\nsize=64k\nbs=4k\n{name}");
    let ended = run(&stand, &jobs(&stand, "a.fio", &read), &[]);
    assert!(matches!(ended.status, Some(0 | 3)), "{}\n{}", ended.out, ended.err);
    assert_eq!(repeats(&stand)[0]["report"]["work"]["operations"], 16.0);
    // What fio itself makes under its own names is used again, as fio does.
    let again = format!("[a]\nrw=write\nsize=64k\nbs=4k\ndirectory={}\n", stand.path().display());
    for _ in 0..2 {
        let ended = run(&stand, &jobs(&stand, "a.fio", &again), &[]);
        assert!(matches!(ended.status, Some(0 | 3)), "{}\n{}", ended.out, ended.err);
    }
}

#[test]
fn a_job_file_is_made_shorter_by_setting_what_it_says() {
    if !have_fio() {
        return;
    }
    let stand = Stand::new();
    // Some twenty minutes and 900 GB, inherited, said twice, and in other words.
    let text = "[global]\nbs=4k\nsize=900g\nioengine=null\n[a]\nrw=read\n[b]\nrw=read\nSIZE = 90g\nsize=800g\n\
        [c]\nstonewall\nrw=read\ntime_based\ntimeout=20m\n";
    let path = jobs(&stand, "a.fio", &text.replace("SIZE", "size"));
    let set = ["--set", "size=1MiB", "--set", "runtime=100ms"];
    let ended = run(&stand, &path, &set);
    assert!(matches!(ended.status, Some(0 | 3)), "{}\n{}", ended.out, ended.err);
    let repeats = repeats(&stand);
    assert_eq!(repeats[0]["report"]["work"]["operations"], 512.0, "two sections of a mebibyte");
    let shown = stand.json(&["show"]);
    assert_eq!(shown["run"]["run"]["suite"]["set"], serde_json::json!({ "size": "1MiB", "runtime": "100ms" }));
    // It is other work than the file as it is.
    let parameters = &shown["run"]["run"]["suite"]["scenarios"][0]["parameters"];
    assert_eq!(
        (&parameters["set_size"], &parameters["set_runtime"]),
        (&"1MiB".into(), &"100ms".into()),
        "{parameters}"
    );
    let stand = Stand::new();
    for (set, parts) in [
        ("runtime=soon", &["runtime", "soon"][..]),
        ("size=much", &["size", "much"]),
        ("size=0", &["size", "0"]),
        ("loops=-1", &["loops", "-1"]),
        ("loops=2", &["loops", "no section"]),
        ("colour=red", &["colour", "runtime", "size", "lun_size"]),
    ] {
        refused(&stand, &run(&stand, &path, &["--set", set]), 2, parts);
    }
}

#[test]
fn what_fio_wrote_itself_is_given_back() {
    if !have_fio() {
        return;
    }
    let stand = Stand::new();
    let path = jobs(&stand, "a.fio", "[global]\nsize=1m\nbs=4k\n[read/it]\nrw=read\n[write]\nstonewall\nrw=write\n");
    let ended = run(&stand, &path, &["-r", "2"]);
    assert!(matches!(ended.status, Some(0 | 3)), "{}\n{}", ended.out, ended.err);
    let given = |stand: &Stand, to: &str| {
        stand.fine(&["export", "--fio", "last", "-o", to]);
        let entries = fs::read_dir(stand.path().join(to)).unwrap().map(|entry| entry.unwrap().path());
        let mut paths: Vec<_> = entries.collect();
        paths.sort();
        paths.iter().map(|path| fs::read(path).unwrap()).collect::<Vec<_>>()
    };
    let reports = given(&stand, "reports");
    let repeats = repeats(&stand);
    assert_eq!(reports.len(), repeats.len(), "one each");
    for (report, repeat) in reports.iter().zip(&repeats) {
        let report: Value = serde_json::from_slice(report).unwrap();
        assert!(report["fio version"].as_str().is_some_and(|version| version.starts_with("fio-")), "{report}");
        let job = &report["jobs"][0];
        let name = ["read/it", "write"][repeat["scenario"].as_u64().unwrap() as usize];
        let direction = name.split('/').next().unwrap();
        assert_eq!(job["jobname"], name);
        assert_eq!(job[direction]["total_ios"].as_f64(), repeat["report"]["work"]["operations"].as_f64());
    }
    // What reads fio's reports reads these.
    if !on_path("fio_jsonplus_clat2csv").is_empty() {
        let first = fs::read_dir(stand.path().join("reports")).unwrap().next().unwrap().unwrap().path();
        let mut tool = std::process::Command::new("fio_jsonplus_clat2csv");
        let ended = crate::common::ended(tool.arg(&first).arg("table.csv").current_dir(stand.path()));
        assert_eq!(ended.status, Some(0), "{}{}", ended.out, ended.err);
    }
    let again = stand.run(&["export", "--fio", "last", "-o", "reports"]);
    assert_eq!((again.status, again.err.trim_end().lines().count()), (Some(2), 1), "{}", again.err);
    // They go with the run.
    let file = stand.path().join("run.gz");
    stand.fine(&["export", "last", "-o", file.to_str().unwrap()]);
    let other = Stand::new();
    other.fine(&["import", file.to_str().unwrap()]);
    assert!(given(&other, "reports") == reports);
    // But not with one that may be published: they name the machine and its files.
    assert!(other.fine(&["export", "last", "--public", "-o", "public.gz"]).err.contains("reports of fio's own"));
    let third = Stand::new();
    third.fine(&["import", other.path().join("public.gz").to_str().unwrap()]);
    assert_eq!(third.run(&["export", "--fio", "last"]).status, Some(2));
    let none = Stand::new();
    let suite = none.suite("repeats = 1\nwarmup = 0", &[("one", "steady.sh 1")]);
    none.fine(&["run", &suite, "--quiet"]);
    let ended = none.run(&["export", "--fio", "last"]);
    assert_eq!((ended.status, ended.err.trim_end().lines().count()), (Some(2), 1), "{}", ended.err);
}

#[test]
fn a_report_of_fios_that_is_too_large_is_left_out_and_the_repeat_says_so() {
    if !have_fio() {
        return;
    }
    let stand = Stand::new();
    let path = jobs(&stand, "a.fio", "[read]\nsize=1m\nrw=read\n");
    // White space behind a report is still that report.
    let padded = format!(
        "case $* in *--output=*) {} \"$@\" || exit; for word; do case $word in --output=*)\n\
         head -c 34000000 /dev/zero | tr '\\0' ' ' >>\"${{word#--output=}}\"; esac; done; exit ;; esac",
        on_path("fio")
    );
    let search = path_with(&stand, "fio", &padded);
    let words = ["run", "--fio", &path, "-r", "1", "--even-if-unfit", "--no-progress"];
    let ended = crate::common::ended(stand.command(&words).env("PATH", search));
    assert!(matches!(ended.status, Some(0 | 3)), "{}\n{}", ended.out, ended.err);
    let repeat = &repeats(&stand)[0];
    assert_eq!(repeat["report"]["check"], "passed", "it is read all the same: {repeat:#}");
    assert_eq!(
        repeat["begin"]["missing"]["report"],
        json!({ "cause": "own_report_too_large", "mib": 33, "most_mib": 32 }),
        "{repeat:#}"
    );
    let none = stand.run(&["export", "--fio", "last"]);
    assert_eq!((none.status, none.err.trim_end().lines().count()), (Some(2), 1), "{}", none.err);
}
