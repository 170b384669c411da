//! The series of a loaded storage target, for benches: 8 LUNs, windows of a second, the machine's counters at 10 Hz with 12 disks of a pool,
//! two controllers and the load, with noise that does not compress better than what is measured.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;

use flate2::Compression;
use flate2::bufread::GzDecoder;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// A suite of one short repeat, whose export takes the series.
pub(crate) const SUITE: &str = r#"
name = "storage-load"
title = "storage under load, for the bench"
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
pub(crate) const LUNS: u32 = 8;
const DISKS: u32 = 12;
const HERTZ: i64 = 10;

/// Puts the series of so many seconds of load in the place of an export's own, and gives the number of samples.
pub(crate) fn load_of(seconds: i64, from: &Path, to: &Path) -> usize {
    let mut samples = 0;
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
        let wall = (seconds as u64) * 1_000_000_000;
        repeat["usage"]["wall_ns"] = wall.into();
        repeat["report"]["wall_ns"] = wall.into();
        repeat["report"]["t_ns"] = start.into();
        repeat["marks"] = json!([{ "t_ns": start + seconds * 333_333_333, "kind": "fault", "label": "disk 3 dies" }]);
        let sequence = repeat["sequence"].clone();
        write(&value);
        for (metric, origin, values, hertz) in series(seconds) {
            samples += values.len();
            let moment = |place: i64| start + 1_000_000 + place * 1_000_000_000 / hertz;
            let times: Vec<_> = (0..values.len() as i64).map(moment).collect();
            let series = json!({ "metric": metric, "origin": origin, "times_ns": times, "values": values });
            write(&json!({ "series": { "sequence": sequence, "series": series } }));
        }
    }
    let sha256: String = digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    gzip.write_all(format!("{}\n", json!({ "end": { "sha256": sha256 } })).as_bytes()).unwrap();
    gzip.finish().unwrap();
    samples
}

/// Name, origin, values and samples by the second of every series, sorted by name.
fn series(seconds: i64) -> Vec<(String, &'static str, Vec<f64>, i64)> {
    let mut noise = Noise(11);
    let mut all = Vec::new();
    let mut counter = |name: String, by_second: f64, step: f64| {
        let mut total = 1e12;
        let values = (0..seconds * HERTZ).map(|_| {
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
        all.push((name, origin, (0..seconds * hertz).map(value).collect::<Vec<_>>(), hertz));
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
