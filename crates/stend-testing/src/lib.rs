//! What several modules' tests need: a small suite, a machine, runs made of numbers, wall clocks, and members of etcd.

pub mod clock;
pub mod etcd;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::{Duration, Instant};

use stend_model::cause::Cause;
use stend_model::machine::{Hardware, Machine, Software};
use stend_model::plan::Phase;
use stend_model::run::{Origin, Outcome, Repeat, Run, RunState, Series, Session};
use stend_model::suite::{Changes, Suite};
use stend_model::wire::{Begin, Check, Report, WIRE_VERSION};

use stend_model::record::Record;

/// Two scenarios, `alpha` (more is better) and `beta` (less is better).
pub const SUITE: &str = r#"
name = "small"
title = "two scenarios of numbers"
[[scenario]]
name = "alpha"
measures = "kuznyechik, independent blocks"
command = ["true"]
metrics = [{ name = "throughput", value = "bytes/wall", unit = "B/s", better = "higher" }]
[[scenario]]
name = "beta"
command = ["true"]
metrics = [{ name = "time", value = "wall", unit = "s", better = "lower" }]
"#;

/// The suite of that text.
pub fn suite() -> Suite {
    Suite::parse(SUITE, "small.toml", Path::new("."), &Changes::default()).unwrap()
}

/// A machine of which everything is known.
pub fn machine() -> Machine {
    Machine {
        name: "testbed".into(),
        network_name: None,
        hardware: Hardware {
            architecture: "e2k".into(),
            processor: "E8C2".into(),
            vendor: None,
            revision: BTreeMap::new(),
            sockets: 1,
            cores: 8,
            threads: 8,
            numa_nodes: 1,
            features: vec!["iset5".into()],
            caches: Vec::new(),
            memory_bytes: 64 << 30,
            board: None,
            disks: Vec::new(),
        },
        software: Software {
            kernel: "5.4.0".into(),
            kernel_build: "Linux version 5.4.0".into(),
            command_line: "quiet".into(),
            system: "OSL 7".into(),
            libc: None,
            compiler: Some("lcc:1.25.16".into()),
            compiler_flags: None,
            virtualization: None,
            emulator: None,
            microcode: None,
            guest: BTreeMap::new(),
            mitigations: BTreeMap::new(),
            settings: BTreeMap::new(),
            tools: BTreeMap::new(),
        },
        missing: BTreeMap::new(),
        raw: BTreeMap::from([("/proc/cpuinfo".into(), "model name : E8C2\n".into())]),
        offers: BTreeMap::new(),
        public: false,
    }
}

/// A finished run whose repeats of both scenarios took these times, in milliseconds, for a megabyte each.
pub fn record(id: &str, milliseconds: &[f64]) -> Record {
    let suite = suite();
    let mut repeats = Vec::new();
    for (number, &time) in milliseconds.iter().enumerate() {
        for scenario in 0..suite.scenarios.len() {
            repeats.push(repeat(repeats.len() as u32, scenario, number as u32, time));
        }
    }
    let started_at = "2026-11-21T05:55:00Z".parse().unwrap();
    let run = Run {
        id: id.into(),
        label: None,
        stend_version: "0.1.0".into(),
        host: "local".into(),
        started_at,
        finished_at: Some("2026-11-21T05:59:00Z".parse().unwrap()),
        state: RunState::Finished,
        seed: 7,
        suite,
        skipped: Vec::new(),
        profile: false,
        target: None,
        known: None,
        sides: Vec::new(),
        carried: false,
        imported: Some(false),
        build: None,
        machine: machine(),
    };
    let sessions = vec![Session {
        number: 0,
        started_at,
        boot_id: None,
        conditions: Vec::new(),
        noted: Vec::new(),
        missing_sensors: [("thermal".into(), "none here".into())].into(),
        clocks: None,
        screen: None,
    }];
    Record { sessions, repeats, ..Record::empty(run) }
}

/// A valid repeat that took so many milliseconds for a megabyte.
pub fn repeat(sequence: u32, scenario: usize, number: u32, milliseconds: f64) -> Repeat {
    Repeat {
        sequence,
        session: 0,
        scenario,
        number,
        side: None,
        phase: Phase::Measured,
        started_at: "2026-11-21T05:56:00Z".parse().unwrap(),
        outcome: Outcome::Valid,
        begin: None,
        report: Some(Report {
            n: 0,
            t_ns: Some(1),
            wall_ns: (milliseconds * 1e6) as u64,
            cpu_ns: None,
            work: BTreeMap::from([("bytes".into(), 1e6)]),
            observed: BTreeMap::new(),
            latencies: BTreeMap::new(),
            check: Check::Passed,
            evidence: None,
            screens: BTreeMap::new(),
            unknown: serde_json::Map::new(),
        }),
        marks: Vec::new(),
        tests: Vec::new(),
        usage: None,
        stopped: false,
        lasting: false,
        command: vec!["true".into()],
        output: "{\"event\":\"end\"}\n".into(),
        error_output: String::new(),
        target: BTreeMap::new(),
    }
}

/// Ten samples of a counter and of a gauge.
pub fn series() -> Vec<Series> {
    let times_ns: Vec<i64> = (0..10).map(|tick| 1_000_000_000 + tick * 100_000_000).collect();
    let counter = (0..10).map(|tick| f64::from(tick) * 1e7).collect();
    let gauge = (0..10).map(|tick| 0.1 + f64::from(tick) / 3.0).collect();
    vec![
        Series {
            metric: "cpu.user_ns_total".into(),
            origin: Origin::Machine,
            times_ns: times_ns.clone(),
            values: counter,
        },
        Series { metric: "load.1m".into(), origin: Origin::Machine, times_ns, values: gauge },
    ]
}

/// What an instrument says before it measures, where it says nothing.
pub fn begin(instrument: &str) -> Begin {
    Begin {
        wire: WIRE_VERSION,
        instrument: instrument.into(),
        version: None,
        t_ns: None,
        build: BTreeMap::new(),
        parameters: serde_json::Map::new(),
        missing: BTreeMap::new(),
        unknown: serde_json::Map::new(),
    }
}

/// Why a repeat does not count.
pub fn steal() -> Cause {
    Cause::Steal { share: 0.041, limit: 0.01 }
}

/// Why a repeat failed.
pub fn killed() -> Cause {
    Cause::Killed { signal: 9, said: String::new() }
}

/// Whether a program is on the PATH. A test that needs one that is not says so and does nothing; under CI it fails.
pub fn have(program: &str) -> bool {
    let found = std::process::Command::new("sh")
        .args(["-c", "command -v \"$1\" >/dev/null", "sh", program])
        .status()
        .is_ok_and(|status| status.success());
    if !found {
        assert!(std::env::var_os("CI").is_none(), "under CI nothing may be skipped, and there is no {program} here");
        eprintln!("skipped: there is no {program} here");
    }
    found
}

/// An address for a server: `HOST:PORT`. No other process has it: on 127.0.0.1 a connection may be given the port before the server begins.
pub fn own_address() -> String {
    static NEXT: AtomicU16 = AtomicU16::new(7000);
    let [_, high, middle, low] = std::process::id().to_be_bytes();
    format!("127.{}.{middle}.{low}:{}", high | 0x80, NEXT.fetch_add(1, Ordering::Relaxed))
}

/// How long a test waits for what must come. PATIENCE in the environment says how many times as long, where it is known that the machine is slow.
pub fn patience() -> Duration {
    let times = std::env::var("PATIENCE").ok().and_then(|times| times.parse().ok());
    Duration::from_secs(120) * times.unwrap_or(1)
}

/// Waits until something is so.
pub fn wait_for(what: &str, mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < patience(), "{what}: in vain");
        std::thread::sleep(Duration::from_millis(50));
    }
}
