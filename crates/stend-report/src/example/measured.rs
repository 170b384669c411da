//! The run behind the sample table: what its machine is, its repeats, and what was recorded meanwhile.

use std::collections::BTreeMap;

use stend_model::cause::Cause;
use stend_model::checked::Checked;
use stend_model::latency::LatencyCounts;
use stend_model::machine::{Hardware, Machine, Software};
use stend_model::metric::{Better, Metric, Unit};
use stend_model::plan::Phase;
use stend_model::quantity::Span;
use stend_model::run::{Origin, Outcome, Repeat, Run, RunState, Series, Session, Skipped};
use stend_model::suite::{Gates, Instrument, Order, Scenario, Suite, Verification};
use stend_model::wire::{Check, Report, Usage};

use super::{EVIL, SCENARIOS};
use crate::html::RunData;
use stend_model::profile::{NotSeen, Observed, Profile, Stacks, SystemCall};
use stend_testing::steal;

/// A run with its sessions, repeats and series.
pub(crate) struct SampleRun {
    pub run: Run,
    pub sessions: Vec<Session>,
    pub repeats: Vec<Repeat>,
    pub series: Vec<(u32, Series)>,
    pub profiles: Vec<Profile>,
}

impl SampleRun {
    /// As a report takes it.
    pub(crate) fn data(&self) -> RunData<'_> {
        let Self { run, sessions, repeats, series, profiles } = self;
        RunData { run, sessions, repeats, series, profiles, job: job_of }
    }
}

/// Samples of one scenario, the system calls of another, and nothing of a third.
pub(crate) fn profiles() -> Vec<Profile> {
    let folded = format!(
        "probe;main;{};read;anon_pipe_read_[k];_copy_to_iter_[k] 600\nprobe;main;read;anon_pipe_read_[k] 300\nprobe;main 100\n",
        EVIL.replace(';', "")
    );
    let stacks = Stacks { event: "cpu-clock".into(), hertz: 3989, measured_stretch: true, folded };
    let call = |name: &str, calls, time_ns| SystemCall { name: name.into(), calls, errors: 1, time_ns };
    let calls = vec![call("read", 20_002, 75_000_000), call("write", 20_000, 25_000_000)];
    let no_perf = NotSeen::new(Cause::ToolMissing { tool: "perf".into() }, Some("apt-get install -y linux-perf"));
    let killed = NotSeen::new(stend_testing::killed(), None);
    let profile = |place: usize, observed, lacks| Profile {
        scenario: SCENARIOS[place].0.into(),
        made_at: "2026-11-21T06:01:00Z".parse().expect("a moment"),
        command: vec!["stend-probe".into()],
        observed,
        lacks,
    };
    vec![
        profile(3, Observed::Stacks(stacks), Vec::new()),
        profile(4, Observed::SystemCalls { calls }, vec![no_perf]),
        profile(7, Observed::Nothing, vec![killed]),
    ]
}

/// The base's run, with `samples` samples in each series of each repeat.
pub(crate) fn run(samples: usize) -> SampleRun {
    of_run("20261121-0555-3f9a", samples, Noise(7), |_| 1.0)
}

/// The run beside it.
pub(crate) fn other_run(samples: usize) -> SampleRun {
    let mut data = of_run("20261122-0801-77c2", samples, Noise(11), |place| SCENARIOS[place].5);
    data.run.skipped.clear();
    data.profiles.clear();
    data
}

fn of_run(id: &str, samples: usize, mut noise: Noise, ratio: fn(usize) -> f64) -> SampleRun {
    let scenarios: Vec<_> =
        SCENARIOS.iter().map(|(name, metric, unit, better, ..)| scenario(name, metric, *unit, *better)).collect();
    let suite = Suite {
        name: "quick".into(),
        title: "The quick suite: a little of everything".into(),
        titles: [("ru".into(), "Набор quick: всего понемногу".into())].into(),
        note: None,
        notes: BTreeMap::new(),
        source: None,
        order: Order::Shuffled,
        seed: Some(1),
        sample_hertz: 10,
        time_budget: None,
        scale: 0.25,
        set: BTreeMap::new(),
        table: None,
        servers: BTreeMap::new(),
        images: BTreeMap::new(),
        files: BTreeMap::new(),
        guest: None,
        scenarios,
    };
    let started_at: jiff::Timestamp = "2026-11-21T05:55:00Z".parse().expect("a moment");
    let run = Run {
        id: id.into(),
        label: None,
        stend_version: "0.1.0".into(),
        host: "local".into(),
        started_at,
        finished_at: None,
        state: RunState::Finished,
        seed: 42,
        suite,
        skipped: vec![Skipped {
            scenario: "4k rand read".into(),
            reason: Cause::ToolMissing { tool: "fio".into() },
            remedy: Some("apt-get install -y fio".into()),
        }],
        profile: true,
        target: None,
        known: None,
        sides: Vec::new(),
        carried: false,
        imported: Some(false),
        build: None,
        machine: machine(),
    };
    let (mut repeats, mut series) = (Vec::new(), Vec::new());
    for round in 0..11u32 {
        for (place, (_, _, unit, _, median, _)) in SCENARIOS.iter().enumerate().filter(|(place, _)| *place != 5) {
            let sequence = repeats.len() as u32;
            let at = started_at + jiff::SignedDuration::from_secs(i64::from(sequence) * 3);
            let repeat =
                repeat(sequence, round, place, *unit, median * ratio(place) * (1.0 + 0.012 * noise.next()), at);
            let start = 50_000_000_000 + i64::from(sequence) * 3_000_000_000;
            for one in repeat_series(start, samples, repeat.outcome != Outcome::Valid, &mut noise) {
                series.push((sequence, one));
            }
            repeats.push(repeat);
        }
    }
    let session = Session {
        number: 0,
        started_at,
        boot_id: Some("5f0c".into()),
        conditions: Vec::new(),
        noted: Vec::new(),
        missing_sensors: [("power".into(), "no RAPL and no hwmon here".into())].into(),
        clocks: None,
        screen: None,
    };
    SampleRun { run, sessions: vec![session], repeats, series, profiles: profiles() }
}

fn scenario(name: &str, name_of_metric: &str, unit: Unit, better: Better) -> Scenario {
    let value = match unit {
        Unit::BytesPerSecond => "bytes/wall",
        Unit::Nanoseconds => "latency_p99_ns",
        Unit::Seconds => "wall",
        _ => "operations/wall",
    };
    let metric = |name: &str, value: &str, unit, better| Metric {
        name: name.into(),
        value: value.parse().expect("an expression"),
        unit,
        better,
        floor: None,
        optional: false,
    };
    let mut metrics = vec![metric(name_of_metric, value, unit, better)];
    if unit == Unit::BytesPerSecond {
        metrics.push(metric("cycles a byte", "cycles/bytes", Unit::CyclesPerByte, Better::Lower));
    }
    Scenario {
        name: name.into(),
        family: None,
        measures: Some(format!("what the references call {name}")),
        instrument: Instrument::Probe("cipher".into()),
        parameters: BTreeMap::from([("size".into(), "64KiB".into()), ("mode".into(), "ecb".into())]),
        server: None,
        server_on: None,
        metrics,
        repeats: 10,
        warmup: 1,
        steady: None,
        rate: None,
        faults: Vec::new(),
        precision: None,
        timeout: Span(std::time::Duration::from_secs(60)),
        expected: None,
        gates: Gates::DEFAULT,
        verification: Verification::Required,
        needs: vec![],
        ceiling: vec![],
        processors: None,
        places: BTreeMap::new(),
        files: BTreeMap::new(),
    }
}

fn repeat(sequence: u32, round: u32, place: usize, unit: Unit, value: f64, started_at: jiff::Timestamp) -> Repeat {
    let (work, observed, wall_ns) = match unit {
        Unit::Seconds => ([("operations", 1.0)], None, value * 1e9),
        Unit::Nanoseconds => ([("operations", 1000.0)], Some(("latency_p99_ns", value)), 2e9),
        Unit::BytesPerSecond => ([("bytes", value * 2.0)], Some(("clock_hz", 3e9)), 2e9),
        _ => ([("operations", value * 2.0)], None, 2e9),
    };
    let owned = |(name, value): (&str, f64)| (name.to_owned(), value);
    let report = Report {
        n: 0,
        t_ns: None,
        wall_ns: wall_ns as u64,
        cpu_ns: Some(wall_ns as u64),
        work: work.map(owned).into(),
        observed: observed.map(owned).into_iter().collect(),
        latencies: observed
            .filter(|(name, _)| name.starts_with("latency"))
            .map(|(_, p99)| ("latency".to_owned(), latencies(p99)))
            .into_iter()
            .collect(),
        check: Check::Passed,
        evidence: Some(
            vec![
                Checked::RfcVector,
                Checked::Backend { backend: "table".into(), bytes: 65536, blocks: 0, keys: 0, tags: 4 },
            ]
            .into(),
        ),
        screens: Default::default(),
        unknown: Default::default(),
    };
    let outcome = match (place, round) {
        (3, 4) => Outcome::Invalid(vec![steal()]),
        (8, 6) => Outcome::Failed(Cause::Exited { status: 1, said: EVIL.into() }),
        _ => Outcome::Valid,
    };
    let failed = matches!(outcome, Outcome::Failed(_));
    Repeat {
        sequence,
        session: 0,
        scenario: place,
        number: round.saturating_sub(1),
        side: None,
        phase: if round == 0 { Phase::Warmup } else { Phase::Measured },
        started_at,
        outcome,
        begin: None,
        report: (!failed).then_some(report),
        marks: Vec::new(),
        tests: Vec::new(),
        usage: Some(usage(wall_ns, if (place, round) == (3, 4) { 0.041 } else { 0.002 })),
        stopped: false,
        lasting: false,
        command: ["stend-probe", "cipher", "--size", "64KiB", "--label", "it's"].map(str::to_owned).into(),
        output: String::new(),
        error_output: if failed { EVIL.into() } else { String::new() },
        target: Default::default(),
    }
}

/// 1000 latencies of two humps, of which the 99th percentile is about this one.
fn latencies(p99: f64) -> LatencyCounts {
    let hump = |middle: f64, count: u64| {
        (0..40u32).map(move |step| {
            ((middle * 1.015f64.powi(step as i32 - 20)) as u64, count + u64::from(20 - step.abs_diff(20)) / 4)
        })
    };
    LatencyCounts::Pairs(
        hump(p99 / 4.0, 15).chain(hump(p99 / 1.35, 5)).chain([(p99 as u64, 22), ((p99 * 3.0) as u64, 8)]).collect(),
    )
}

/// What a command used that kept one of 16 processors busy, while the hypervisor took this share of them all.
fn usage(wall_ns: f64, steal: f64) -> Usage {
    let total = 16.0 * wall_ns;
    let machine = [
        ("busy_ns", wall_ns + 0.01 * total),
        ("idle_ns", total * (0.99 - steal) - wall_ns),
        ("steal_ns", steal * total),
        ("cpus", 16.0),
        ("swapped_pages", 0.0),
    ];
    Usage {
        t_ns: None,
        wall_ns: wall_ns as u64,
        user_ns: wall_ns as u64,
        system_ns: 0,
        max_rss_bytes: 8 << 20,
        exit: Some(0),
        signal: None,
        timed_out: false,
        left_running: false,
        clock_step_ns: None,
        machine: machine.map(|(name, value)| (name.to_owned(), value)).into(),
    }
}

/// The machine's and the instrument's series of one repeat of two seconds, `samples` in each.
fn repeat_series(start_ns: i64, samples: usize, foreign_load: bool, noise: &mut Noise) -> Vec<Series> {
    let step = 2_000_000_000 / samples.max(1) as i64;
    let times: Vec<i64> = (0..samples as i64).map(|index| start_ns + index * step).collect();
    let mut of = |metric: &str, origin, counter: bool, level: f64, jitter: f64| {
        let mut total = 1e12;
        let values = times.iter().map(|_| {
            let value = level + jitter * noise.next();
            total += value.max(0.0) * step as f64 * 1e-9;
            if counter { total } else { value }
        });
        Series { metric: metric.into(), origin, times_ns: times.clone(), values: values.collect() }
    };
    let machine = Origin::Machine;
    vec![
        of("cpu.user_ns_total", machine, true, 0.9e9, 0.1e9),
        of("cpu.system_ns_total", machine, true, if foreign_load { 2.4e9 } else { 0.2e9 }, 0.08e9),
        of("cpu.steal_ns_total", machine, true, if foreign_load { 0.7e9 } else { 0.0 }, 0.0),
        of("cpu.idle_ns_total", machine, true, 14.5e9, 0.3e9),
        of("cpu0.idle_ns_total", machine, true, 0.9e9, 0.05e9),
        of("cpu0.user_ns_total", machine, true, 0.1e9, 0.05e9),
        of("cpu1.idle_ns_total", machine, true, 0.2e9, 0.05e9),
        of("cpu1.user_ns_total", machine, true, 0.8e9, 0.05e9),
        of("cpu0.frequency_hz", machine, false, 4.4e9, 0.04e9),
        of("cpu1.frequency_hz", machine, false, 5.2e9, 0.04e9),
        of("memory.available_bytes", machine, false, 25.1e9, 0.05e9),
        of("thermal.package_celsius", machine, false, 61.0, 1.5),
        of("disk.sda.read_bytes_total", machine, true, 210e6, 60e6),
        of("swap.pages_total", machine, true, 0.0, 0.0),
        of("iops", Origin::Instrument, false, 612e3, 9e3),
        of("latency_p50_ns", Origin::Instrument, false, 210e3, 9e3),
        of("latency_p99_ns", Origin::Instrument, false, 390e3, 30e3),
        of("loader.user_ns_total", machine, true, 0.5e9, 0.0),
    ]
}

fn machine() -> Machine {
    Machine {
        name: "pc-7".into(),
        network_name: None,
        hardware: Hardware {
            architecture: "x86_64".into(),
            processor: "AMD Ryzen 7 7700X".into(),
            vendor: Some("AuthenticAMD".into()),
            revision: BTreeMap::new(),
            sockets: 1,
            cores: 8,
            threads: 16,
            numa_nodes: 1,
            features: vec!["avx2".into()],
            caches: vec![],
            memory_bytes: 32 << 30,
            board: None,
            disks: vec![],
        },
        software: Software {
            kernel: "6.1.0-28-amd64".into(),
            kernel_build: "#1 SMP".into(),
            command_line: "quiet".into(),
            system: "Debian GNU/Linux 12".into(),
            libc: None,
            compiler: Some("gcc 12.2.0".into()),
            compiler_flags: None,
            virtualization: None,
            emulator: None,
            microcode: None,
            guest: BTreeMap::new(),
            mitigations: BTreeMap::new(),
            settings: BTreeMap::new(),
            tools: BTreeMap::new(),
        },
        missing: BTreeMap::from([("power".into(), Cause::Silent { sources: vec!["/sys/class/powercap".into()] })]),
        raw: BTreeMap::new(),
        offers: BTreeMap::new(),
        public: false,
    }
}

/// Noise that is the same on every machine: a linear congruential generator, three draws to a value in −1 … 1.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> f64 {
        let mut draw = || {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) as f64 / f64::from(1u32 << 31)
        };
        (draw() + draw() + draw()) / 1.5 - 1.0
    }
}

/// What fio was told, whichever repeat it is.
fn job_of(_: &Run, scenario: &Scenario, _: &Repeat) -> Option<String> {
    let is_fio = matches!(&scenario.instrument, Instrument::Adapter(name) if name == "fio");
    is_fio.then(|| "[lun0]\nioengine=libaio\ndirect=1\n".to_owned())
}
