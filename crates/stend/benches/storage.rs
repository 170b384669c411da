//! What an hour of a loaded storage target takes in the store, and how long its report takes: 8 LUNs, windows of a second, the machine's
//! counters at 10 Hz with 12 disks of a pool, two controllers and the load.
//!
//! `cargo bench --package stend --bench storage` runs it; `STEND_PROBE` says where `stend-probe` is. A short run is made and exported, its
//! series are put in the place of an hour's, with noise that does not compress better than what is measured, and the file is imported.
//! It prints a line for each figure, in MB and seconds, after a `|`; `storage.sh` beside this file has what they are to be.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use flate2::Compression;
use flate2::bufread::GzDecoder;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

const SUITE: &str = r#"
name = "storage-hour"
title = "an hour of storage, for the bench"
repeats = 1
warmup = 0
[gates]
foreign_cpu = "off"
steal = "off"
[[scenario]]
name = "s"
command = ["sh", "-c", """
echo '{{"event":"begin","wire":1,"instrument":"fio"}}'; sleep 0.3
echo '{{"event":"repeat","wall_ns":300000000,"work":{{"operations":1}},"check":"passed"}}'; echo '{{"event":"end"}}'"""]
metrics = [{ name = "IOPS", value = "operations/wall", unit = "IOPS", better = "higher" }]
"#;
const LUNS: u32 = 8;
const DISKS: u32 = 12;
const SECONDS: i64 = 3600;
const HERTZ: i64 = 10;

fn main() {
    // `cargo test --benches` calls it too, and there is nothing to test.
    if std::env::args().any(|argument| argument == "--test") {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    std::fs::write(path("suite.toml"), SUITE).unwrap();
    let small = path("small");
    run(&mut stend(&small, &["run", path("suite.toml").to_str().unwrap(), "--quiet"]));
    run(&mut stend(&small, &["export", "last", "-o", path("small.gz").to_str().unwrap()]));
    an_hour(&path("small.gz"), &path("hour.gz"));
    let store = path("hour");
    run(&mut stend(&store, &["import", path("hour.gz").to_str().unwrap()]));
    let bytes: u64 = std::fs::read_dir(&store).unwrap().map(|entry| entry.unwrap().metadata().unwrap().len()).sum();
    let page = path("page.html");
    let times: Vec<f64> = (0..5)
        .map(|_| {
            let start = Instant::now();
            run(&mut stend(&store, &["report", "last", "-o", page.to_str().unwrap()]));
            start.elapsed().as_secs_f64()
        })
        .collect();
    println!("an hour of {LUNS} LUNs, in the store|{:.3}", bytes as f64 / 1e6);
    for time in times {
        println!("an hour of {LUNS} LUNs, its report|{time:.3}");
    }
}

fn stend(store: &Path, arguments: &[&str]) -> Command {
    let probe = std::env::var_os("STEND_PROBE").expect("STEND_PROBE says where stend-probe is");
    let mut command = Command::new(env!("CARGO_BIN_EXE_stend"));
    command.args(arguments).env("STEND_STORE", store).env("STEND_PROBE", PathBuf::from(probe));
    command.env("STEND_WORK", store.with_extension("work"));
    command
}

fn run(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Puts an hour's series in the place of an export's own.
fn an_hour(from: &Path, to: &Path) {
    let mut digest = Sha256::new();
    let mut gzip = GzEncoder::new(File::create(to).unwrap(), Compression::fast());
    let mut write = |value: &Value| {
        let line = format!("{value}\n");
        digest.update(line.as_bytes());
        gzip.write_all(line.as_bytes()).unwrap();
    };
    for line in BufReader::new(GzDecoder::new(BufReader::new(File::open(from).unwrap()))).lines() {
        let mut value: Value = serde_json::from_str(&line.unwrap()).unwrap();
        if value.get("series").is_some() || value.get("end").is_some() {
            continue;
        }
        let Some(repeat) = value.get_mut("repeat") else {
            write(&value);
            continue;
        };
        let start = repeat["usage"]["t_ns"].as_i64().unwrap();
        let wall = (SECONDS as u64) * 1_000_000_000;
        repeat["usage"]["wall_ns"] = wall.into();
        repeat["report"]["wall_ns"] = wall.into();
        repeat["report"]["t_ns"] = start.into();
        repeat["marks"] = json!([{ "t_ns": start + 1_200_000_000_000_i64, "kind": "fault", "label": "disk 3 dies" }]);
        let sequence = repeat["sequence"].clone();
        write(&value);
        for (metric, origin, values, hertz) in series() {
            let moment = |place: i64| start + 1_000_000 + place * 1_000_000_000 / hertz;
            let times: Vec<_> = (0..values.len() as i64).map(moment).collect();
            let series = json!({ "metric": metric, "origin": origin, "times_ns": times, "values": values });
            write(&json!({ "series": { "sequence": sequence, "series": series } }));
        }
    }
    let sha256: String = digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    gzip.write_all(format!("{}\n", json!({ "end": { "sha256": sha256 } })).as_bytes()).unwrap();
    gzip.finish().unwrap();
}

/// Name, origin, values and samples by the second of every series, sorted by name.
fn series() -> Vec<(String, &'static str, Vec<f64>, i64)> {
    let mut noise = Noise(11);
    let mut all = Vec::new();
    let mut counter = |name: String, by_second: f64, step: f64| {
        let mut total = 1e12;
        let values = (0..SECONDS * HERTZ).map(|_| {
            total += (by_second / HERTZ as f64 * (1.0 + 0.3 * noise.next()) / step).round() * step;
            total
        });
        let values: Vec<_> = values.collect();
        all.push((name, "machine", values, HERTZ));
    };
    const TICK: f64 = 10e6;
    for cpu in ["cpu", "cpu0", "cpu1"] {
        for kind in ["user", "system", "idle", "iowait", "irq", "softirq", "steal", "nice"] {
            let by_second = match kind {
                "user" | "system" | "idle" => 3e8,
                "nice" | "irq" => 0.0,
                _ => 3e7,
            };
            counter(format!("{cpu}.{kind}_ns_total"), by_second, TICK);
        }
    }
    let disks = (0..DISKS).map(|disk| format!("disk.loop{disk}"));
    for disk in disks.chain(["disk.vda".to_owned(), "pool".to_owned()]) {
        for (what, by_second, step) in [
            ("reads_total", 9e3, 1.0),
            ("read_bytes_total", 3.6e7, 4096.0),
            ("writes_total", 4e3, 1.0),
            ("written_bytes_total", 1.6e7, 4096.0),
            ("busy_ns_total", 6e8, 1e6),
            ("queue_ns_total", 9e9, 1e6),
        ] {
            counter(format!("{disk}.{what}"), by_second, step);
        }
    }
    for controller in 0..2 {
        counter(format!("controller{controller}.cpu_ns_total"), 4e8, 1.0);
        counter(format!("controller{controller}.user_ns_total"), 1e8, TICK);
        counter(format!("controller{controller}.system_ns_total"), 3e8, TICK);
    }
    for (name, by_second, step) in [
        ("loader.user_ns_total", 2e8, TICK),
        ("loader.system_ns_total", 4e8, TICK),
        ("context_switches_total", 6e4, 1.0),
        ("pressure.cpu_some_ns_total", 2e8, 1e3),
        ("pressure.io_some_ns_total", 5e8, 1e3),
        ("pressure.io_full_ns_total", 2e8, 1e3),
        ("net.eth0.received_bytes_total", 1e3, 1.0),
        ("net.eth0.sent_bytes_total", 1e3, 1.0),
    ] {
        counter(name.to_owned(), by_second, step);
    }
    let mut gauge = |name: String, origin: &'static str, level: f64, step: f64, hertz: i64| {
        let value = |_| (level * (1.0 + 0.2 * noise.next()) / step).round() * step;
        all.push((name, origin, (0..SECONDS * hertz).map(value).collect::<Vec<_>>(), hertz));
    };
    let disks = (0..DISKS).map(|disk| format!("disk.loop{disk}"));
    for disk in disks.chain(["disk.vda".to_owned(), "pool".to_owned()]) {
        gauge(format!("{disk}.in_flight"), "machine", 12.0, 1.0, HERTZ);
    }
    for name in ["memory.available_bytes", "memory.free_bytes", "memory.cached_bytes", "memory.dirty_bytes"] {
        gauge(name.into(), "machine", 8e9, 4096.0, HERTZ);
    }
    gauge("memory.total_bytes".into(), "machine", 1.6e10, 1e12, HERTZ);
    for name in ["loader", "controller0", "controller1"] {
        gauge(format!("{name}.memory_bytes"), "machine", 2e8, 4096.0, HERTZ);
    }
    let luns = (0..LUNS).map(|lun| format!("lun{lun}."));
    for prefix in luns.chain([String::new()]) {
        for (what, level, step) in [
            ("iops", 12_000.0, 1.0),
            ("bandwidth_bytes_per_s", 5e7, 1024.0),
            ("latency_mean_ns", 4e5, 0.125),
            ("latency_p50_ns", 3e5, 1.0),
            ("latency_p99_ns", 2e6, 1.0),
            ("latency_p999_ns", 9e6, 1.0),
            ("latency_max_ns", 4e7, 1.0),
        ] {
            gauge(format!("{prefix}{what}"), "instrument", level, step, 1);
        }
    }
    all.sort_by(|a, b| (a.1, &a.0).cmp(&(b.1, &b.0)));
    all
}

/// A linear congruential generator, from −1 to 1.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as f64 / f64::from(1u32 << 30) - 1.0
    }
}
