//! What the suite `arm-wrestling` measures besides a web server: compressors that are checked, what a machine lacks, how it scales, and heat.

use std::fmt::Write as _;

use stend_testing::have;

use crate::common::{Gate, NO_LIMITS, Stand, ended, environment, executable, in_own_mounts, path_with, probe};

/// Writes a suite of these scenarios, whose first metric is a throughput.
fn suite(stand: &Stand, head: &str, scenarios: &[&str]) -> String {
    let mut text = format!("name = \"wrestling\"\ntitle = \"t\"\nrepeats = 1\nwarmup = 0\n{head}\n");
    for scenario in scenarios {
        let _ = write!(
            text,
            "[[scenario]]\n{scenario}\nmetrics = [\n\
             {{ name = \"throughput\", value = \"bytes/wall\", unit = \"B/s\", better = \"higher\" }},\n\
             {{ name = \"throughput per CPU-second\", value = \"bytes/cpu\", unit = \"B/CPU-s\", better = \"higher\" }},\n]\n"
        );
    }
    let path = stand.path().join("wrestling.toml");
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn a_compressor_that_loses_a_page_does_not_count() {
    let stand = Stand::new();
    let pages = |files: &str| {
        format!(
            "name = \"{files}\"\ninstrument = \"gzip\"\nparameters = {{ pages = 3, level = 1, files = \"{files}\" }}"
        )
    };
    let suite = suite(&stand, &format!("sample_hertz = 0\n{NO_LIMITS}"), &[&pages("one"), &pages("each")]);
    stand.fine(&["run", &suite, "--quiet"]);
    let run = stand.json(&["show", "last"])["run"].clone();
    for repeat in run["repeats"].as_array().unwrap() {
        let check = repeat["report"]["evidence"][0].clone();
        assert_eq!((&repeat["outcome"], &check["check"]), (&"valid".into(), &"decompressed".into()), "{repeat:#}");
        let command = repeat["command"].to_string();
        assert!(!command.contains("-dc"), "decompression is no part of what is measured: {command}");
    }
    // It compresses less than it is given, and that rightly.
    let losing = "case $* in *-c*-1*) for page; do :; done; head -c 1000 \"$page\" | /bin/gzip -c; exit ;; esac";
    let path = path_with(&stand, "gzip", losing);
    let run = ended(stand.command(&["run", &suite, "--no-progress"]).env("PATH", path));
    assert_eq!(run.status, Some(3), "{}\n{}", run.out, run.err);
    let shown = stand.run(&["show", "last"]).out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(shown.contains("decompressed, it has SHA-256"), "{shown}");
}

/// On every machine: one has one processor at least, and no machine has 65536 of them.
#[test]
fn what_a_machine_lacks_is_left_out_and_what_scales_is_held_against_linear() {
    let stand = Stand::new();
    let copy = "name = \"copy, threads: {threads}\"\ninstrument = \"stend-probe cipher\"\n\
        parameters = { size = \"4KiB\", seconds = 0.01, threads = \"{threads}\" }\nmatrix = { threads = [1, 65536] }\n\
        processors = \"{threads}\"\nceiling = [{ of = \"copy, threads: 1\", times = \"{threads}\" }]";
    let twice = "name = \"the same, of twice\"\ninstrument = \"stend-probe cipher\"\n\
        parameters = { size = \"4KiB\", seconds = 0.01 }\nceiling = [{ of = \"copy, threads: 1\", times = 2 }]";
    let unknown =
        "name = \"rc4\"\ninstrument = \"openssl\"\nparameters = { algorithm = \"rc4\", provider = \"nowhere\" }";
    let disk = "name = \"disk\"\ninstrument = \"hdparm\"\nverification = \"none\"";
    let suite = suite(&stand, &format!("sample_hertz = 0\n{NO_LIMITS}"), &[copy, twice, unknown, disk]);
    // No block device lies below a file system of the kernel's own.
    let hdparm = stand.path().join("programs/hdparm");
    std::fs::create_dir_all(hdparm.parent().unwrap()).unwrap();
    executable(&hdparm, "#!/bin/sh\necho 'hdparm v9.65'\n");
    let path = format!("{}:{}", hdparm.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let work = tempfile::tempdir_in("/dev/shm").unwrap();
    let run = ended(stand.command(&["run", &suite, "--no-progress"]).env("PATH", path).env("STEND_WORK", work.path()));
    assert_eq!(run.status, Some(0), "{}\n{}", run.out, run.err);
    for said in [
        "left out: scenarios that take more processors than the ",
        "skipped: rc4: openssl here cannot run rc4: ",
        "skipped: disk: the directory for runs' files lies on ",
    ] {
        assert!(run.err.contains(said), "`{said}` is not in {}", run.err);
    }
    let shown = stand.json(&["compare", "last"])["table"].clone();
    let of = |scenario: &str, metric: &str| {
        let rows = shown["rows"].as_array().unwrap();
        let row = rows.iter().find(|row| row["scenario"] == scenario && row["metric"] == metric).unwrap();
        (row["cells"][0]["median"].as_f64().unwrap(), row["cells"][0]["of_ceilings"][0].clone())
    };
    for (metric, times) in [("throughput", 2), ("throughput per CPU-second", 1)] {
        let ((one, none), (other, ceiling)) = (of("copy, threads: 1", metric), of("the same, of twice", metric));
        assert_eq!((none.is_null(), &ceiling["times"]), (true, &times.into()), "{metric}: {ceiling}");
        let share = ceiling["share"].as_f64().unwrap();
        assert!((share / (other / one / f64::from(times)) - 1.0).abs() < 1e-9, "{metric}: {ceiling}");
    }
    let text = stand.fine(&["show", "last"]).out;
    assert!(text.contains("% of 2 × copy, threads: 1"), "{text}");
}

#[test]
fn hdparm_reads_the_disk_that_the_runs_files_lie_on() {
    let (stand, gate) = (Stand::new(), Gate::new());
    let hdparm = "name = \"{read}\"\ninstrument = \"hdparm\"\nverification = \"none\"\nparameters = { read = \"{read}\" }\n\
        matrix = { read = [\"disk\", \"cache\"] }";
    let suite = suite(&stand, &format!("sample_hertz = 0\n{NO_LIMITS}"), &[hdparm]);
    let script = r#"
        PATH=$PATH:/usr/sbin:/sbin
        truncate -s 64M "$DIRECTORY/disk" && mkfs.ext4 -q "$DIRECTORY/disk" && mkdir "$DIRECTORY/mounted" || exit
        mount -o loop "$DIRECTORY/disk" "$DIRECTORY/mounted" || exit
        STEND_WORK=$DIRECTORY/mounted/work "$STEND" run "$SUITE" --even-if-unfit --no-progress
    "#;
    let mut owned = Vec::new();
    if !have("hdparm") {
        return;
    }
    let Some(ended) = in_own_mounts(script, &environment(&stand, &gate, &suite, &mut owned)) else { return };
    assert_eq!(ended.status, Some(0), "{}\n{}", ended.out, ended.err);
    let run = stand.json(&["show", "last"])["run"].clone();
    let repeats = run["repeats"].as_array().unwrap();
    assert_eq!(repeats.len(), 2, "{}", ended.err);
    for repeat in repeats {
        assert!(repeat["begin"]["parameters"]["device"].as_str().unwrap().starts_with("/dev/loop"), "{repeat:#}");
        assert!(repeat["report"]["work"]["bytes"].as_f64().unwrap() > 0.0, "{repeat:#}");
    }
}

/// An instrument during which the processor becomes hot and slow, as the i.MX6Q did. It waits until that was sampled.
const HEATING: &str = r#"set -eu
root=$1 samples=$2
# In place and of the same length: what is sampled is the one or the other.
now() { printf '%s\n' "$2" 1<>"$root/sys/$1"; }
sampled() {
	from=$(grep -c "$1" "$samples" || :)
	until [ $(($(grep -c "$1" "$samples" || :) - from)) -ge "$2" ]; do sleep 0.02; done
}
now devices/system/cpu/cpu0/cpufreq/scaling_cur_freq 996000
now class/thermal/thermal_zone0/temp 45000
now devices/system/cpu/cpu0/thermal_throttle/core_throttle_count 0
echo '{"event":"begin","wire":1,"instrument":"heating.sh","version":"1","parameters":{}}'
start=$(date +%s%N)
sampled '"cpu0.frequency_hz":996000000' 12
sampled 'cpu.throttles_total":0' 1
now devices/system/cpu/cpu0/cpufreq/scaling_cur_freq 396000
now class/thermal/thermal_zone0/temp 73000
now devices/system/cpu/cpu0/thermal_throttle/core_throttle_count 1
sampled '"cpu0.frequency_hz":396000000' 12
# A counter is drawn by its growth: of a single interval nothing is, since that is the same all the time.
sampled 'cpu.throttles_total":1' 2
echo '{"event":"repeat","wall_ns":'$(($(date +%s%N) - start))',"work":{"bytes":1},"cpu_ns":1,"check":"passed","evidence":"none"}'
echo '{"event":"end","repeats":1}'
"#;

#[test]
fn a_machine_that_heat_slows_down_is_caught_and_shown_on_the_axis_of_time() {
    let stand = Stand::new();
    let (root, samples) = (stand.path().join("root"), stand.path().join("samples"));
    for (file, text) in [
        ("devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "996000\n"),
        ("devices/system/cpu/cpu0/thermal_throttle/core_throttle_count", "0\n"),
        ("class/thermal/thermal_zone0/type", "imx_thermal_zone\n"),
        ("class/thermal/thermal_zone0/temp", "45000\n"),
    ] {
        let path = root.join("sys").join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    std::fs::write(&samples, "").unwrap();
    let (wrapper, script) = (stand.path().join("stend-probe"), stand.path().join("heating.sh"));
    let text = format!(
        "#!/bin/sh\nif [ \"${{1:-}}\" = sample ]; then\n\tshift\n\t'{0}' sample --root '{1}' \"$@\" | tee -a '{2}'\n\texit\nfi\n\
         exec '{0}' \"$@\"\n",
        probe().display(),
        root.display(),
        samples.display()
    );
    executable(&wrapper, &text);
    executable(&script, HEATING);
    let command = format!("name = \"heating\"\ncommand = [\"sh\", {script:?}, {root:?}, {samples:?}]");
    let gates = NO_LIMITS.replace("frequency_fall = \"off\"\n", "");
    let suite = suite(&stand, &format!("sample_hertz = 20\n{gates}"), &[&command]);
    let run = ended(stand.command(&["run", &suite, "--no-progress"]).env("STEND_PROBE", &wrapper));
    assert_eq!(run.status, Some(3), "{}\n{}", run.out, run.err);
    let shown = stand.json(&["show", "last"])["run"].clone();
    let cause = &shown["repeats"][0]["outcome"]["invalid"][0];
    assert_eq!(cause["cause"], "clock_fell", "{cause}");
    assert_eq!((cause["before_hz"].as_f64(), cause["after_hz"].as_f64()), (Some(996e6), Some(396e6)));
    // They are drawn on the axis of the repeat, which says why it does not count.
    let drawings = stand.path().join("drawings");
    stand.fine(&["report", "last", "--format", "svg", "--drawings", "samples", "-o", drawings.to_str().unwrap()]);
    let files =
        std::fs::read_dir(drawings).unwrap().map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap());
    let files: Vec<_> = files.filter(|text| text.contains("1 · invalid · the clock fell by 60")).collect();
    for drawn in [
        "heating: Clock frequency",
        "heating: Temperature",
        "lowest 45.0 °C, highest 73.0 °C",
        "heating: Slowed down by heat",
    ] {
        assert!(files.iter().any(|text| text.contains(drawn)), "`{drawn}` is not drawn\n{}", files.join("\n"));
    }
}
