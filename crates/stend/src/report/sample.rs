//! Sample data for the tests of the reports: a machine, two runs on it, eleven published machines; nothing of it was measured.

use std::collections::BTreeMap;

use stend_model::latency::LatencyCounts;
use stend_model::machine::{Difference, Hardware, Machine, Software};
use stend_model::metric::{Better, Metric, Unit};
use stend_model::plan::Phase;
use stend_model::quantity::Span;
use stend_model::reference::Grade;
use stend_model::run::{Origin, Outcome, Repeat, Run, RunState, Series, Session, Skipped};
use stend_model::suite::{Gates, Instrument, Order, Scenario, Suite, Verification};
use stend_model::weight::{Known, Machines, Power, Price};
use stend_model::wire::{Check, Report, Usage};

use crate::compare::evidence::{Evidence, Reason};
use crate::compare::table::{
    AgainstBase, Cell, Column, ColumnOrigin, Lack as NoFigure, LeftOut, Measured, Note, OfCeiling, Published, Row,
    Table, Verdict,
};
use crate::compare::weighing::{MachineFiles, facts, weigh};
use crate::profile::{Lack, Observed, Profile, Stacks, SystemCall};
use crate::store::Record;

/// A name that would run a script if it were not escaped.
pub(crate) const EVIL: &str = "<script>alert(\"1\")</script> & 'x'";

const MB: f64 = 1e6;

/// Scenario, metric, unit, better, median here, ratio of the other run.
const SCENARIOS: [(&str, &str, Unit, Better, f64, f64); 9] = [
    ("magma, parallel", "throughput", Unit::BytesPerSecond, Better::Higher, 1243.0 * MB, 1.002),
    ("kuznyechik, sequential", "throughput", Unit::BytesPerSecond, Better::Higher, 171.3 * MB, 1.081),
    ("kuznyechik, parallel", "throughput", Unit::BytesPerSecond, Better::Higher, 412.0 * MB, 2.41),
    ("pipe write, 32 KiB", "throughput", Unit::BytesPerSecond, Better::Higher, 16.2e9, 0.937),
    ("4k seq read", "iops", Unit::Iops, Better::Higher, 612e3, 1.013),
    ("4k rand read", "iops", Unit::Iops, Better::Higher, 0.0, 1.0),
    ("4k rand read, latency", "latency p99", Unit::Nanoseconds, Better::Lower, 412e3, 0.84),
    ("сайт на nginx, 1 КиБ", "requests", Unit::RequestsPerSecond, Better::Higher, 184e3, 0.996),
    (EVIL, "time", Unit::Seconds, Better::Lower, 2.31, 1.0),
];

const SUMMIT: [(&str, [Option<f64>; 3]); 8] = [
    ("Elbrus-4C", [Some(116.0), Some(52.0), Some(78.0)]),
    ("Elbrus-1C+", [Some(151.0), Some(63.0), Some(102.0)]),
    ("Elbrus-8C", [Some(185.0), Some(80.0), Some(126.0)]),
    ("Elbrus-8CB", [Some(402.0), Some(95.0), Some(248.0)]),
    ("Elbrus-2C3", [Some(669.0), Some(170.0), Some(453.0)]),
    ("Elbrus-16C", [Some(671.0), Some(171.0), Some(454.0)]),
    ("Core i3-7100, AVX2", [Some(1030.0), None, None]),
    ("Core i7-9700K", [None, None, Some(411.0)]),
];

const STEAL: &str = "the hypervisor took away 4.1 % of the machine's CPU time";

/// Lines that say what the base's machine is.
pub(crate) fn fingerprint() -> Vec<String> {
    [
        "AMD Ryzen 7 7700X · x86_64 · 1 socket, 8 cores, 16 threads · 1 NUMA node",
        "32 GiB RAM · caches 8 × 32 KiB L1d, 8 × 1 MiB L2, 32 MiB L3 · Samsung SSD 990 PRO 1 TB",
        "Debian GNU/Linux 12 · Linux 6.1.0-28-amd64 · glibc 2.36 · gcc 12.2.0",
        "mitigations: spectre_v2 Enhanced IBRS, 11 others not affected · governor performance",
        "no hypervisor · microcode 0xa601206 · hardware 7d1f02c94e31 · software 51a08be2c7d0",
    ]
    .map(str::to_owned)
    .into()
}

/// A base, another run, and two publications.
pub(crate) fn table() -> Table {
    let run = |title: &str, id: &str, sessions, grade, differences| Column {
        title: title.into(),
        origin: ColumnOrigin::Run { id: id.into(), sessions },
        grade,
        differences,
        emulator: None,
    };
    let difference = |what: &str, before: &str, after: &str| Difference {
        what: what.into(),
        before: before.into(),
        after: after.into(),
    };
    let differences = vec![
        difference("memory_bytes", "34359738368", "68719476736"),
        difference("command_line", "", "mitigations=off"),
        difference("kernel", "6.1.0-28-amd64", "6.12.3"),
        difference("mitigations.spectre_v2", "Mitigation: Enhanced IBRS", "Vulnerable"),
    ];
    let mut columns = vec![
        run("pc-7", "20261121-0555-3f9a", 1, Grade::B, vec![]),
        run("pc-7, kernel 6.12", "20261122-0801-77c2", 2, Grade::A, differences),
    ];
    let published = |reference: &str, machine: &str, source: &str| Column {
        title: machine.into(),
        origin: ColumnOrigin::Published {
            reference: reference.into(),
            machine: machine.to_lowercase(),
            description: format!("{machine}, as the publication describes it"),
            source: source.into(),
        },
        grade: Grade::D,
        differences: vec![],
        emulator: None,
    };
    columns
        .extend(SUMMIT.map(|(name, _)| published("summit", name, "On the way to the summit, RusCrypto, 2021-06-17")));
    columns.extend(
        ["Vostok, 4.19", "Vostok, 5.4", "Engine N2"].map(|name| published("vostok", name, "A storage system, 2021")),
    );

    let mut rows = Vec::new();
    for (place, (scenario, metric, unit, better, median, ratio)) in SCENARIOS.into_iter().enumerate() {
        let mut cells = vec![measured(median, place, None), measured(median * ratio, place, Some(ratio))];
        if place == 5 {
            let remedy = Some("apt-get install -y fio".into());
            cells[0] =
                Cell::Nothing { why: NoFigure::Skipped { reason: "fio is not on the machine's PATH".into(), remedy } };
            cells[1] = Cell::Nothing { why: NoFigure::Invalid { reasons: vec![STEAL.into()] } };
        }
        if place == 7 {
            cells[0] = measured_few(median);
        }
        cells.extend(SUMMIT.map(|(_, figures)| {
            figures.get(place).copied().flatten().map_or(Cell::Absent, |figure| {
                let note = (place == 2 && figure == 411.0).then(|| "true ECB through memory".to_owned());
                number(figure * MB, median, note)
            })
        }));
        cells.extend(match place {
            4 => [
                number(371e3, median, None),
                number(1.4e6, median, None),
                words("about 2 × Vostok 4.19; latency about a third"),
            ],
            5 => [words("about as 5.4"), number(118e3, median, None), words("about 2 × Vostok 4.19")],
            6 => [Cell::Absent, number(8e6, median, None), Cell::Absent],
            _ => [Cell::Absent, Cell::Absent, Cell::Absent],
        });
        rows.push(Row {
            scenario: scenario.into(),
            family: None,
            share_of: None,
            metric: metric.into(),
            unit,
            better,
            main: true,
            cells,
        });
        if place < 3 {
            let mut cells =
                vec![measured(3e9 / median, place, None), measured(3e9 / median / ratio, place, Some(1.0 / ratio))];
            cells.resize(columns.len(), Cell::Absent);
            let (unit, better) = (Unit::CyclesPerByte, Better::Lower);
            rows.push(Row {
                scenario: scenario.into(),
                family: None,
                share_of: None,
                metric: "cycles a byte".into(),
                unit,
                better,
                main: false,
                cells,
            });
        }
    }
    let run = || "20261121-0555-3f9a".to_owned();
    let other = || "20261122-0801-77c2".to_owned();
    let compilers = Difference { what: "compiler".into(), before: "gcc 12.2.0".into(), after: "clang 14.0.6".into() };
    let notes = vec![
        Note::Scaled { run: run(), factor: 0.25, target: false },
        Note::OtherBuild {
            run: other(),
            base: run(),
            instruments: vec!["stend-probe cipher".into(), "stend-probe copy".into()],
            differences: vec![compilers],
        },
    ];
    let left_out = vec![LeftOut { scenarios: vec!["gzip, level 6".into()], runs: vec![other()] }];
    Table { columns, rows, left_out, notes, ..Table::default() }
}

/// The same two runs, of which no figure is better or worse, on machines that do not differ.
pub(crate) fn table_without_differences() -> Table {
    let mut table = table();
    table.columns.truncate(2);
    table.columns.iter_mut().for_each(|column| column.differences.clear());
    for row in &mut table.rows {
        row.cells.truncate(2);
        for cell in &mut row.cells {
            if let Cell::Measured(Measured { against_base: Some(against), .. }) = cell {
                let resolved = against.verdict != Verdict::Unresolved;
                (against.verdict, against.reason) = match resolved {
                    true => (Verdict::Same, Reason::WithinFloor),
                    false => (Verdict::Unresolved, Reason::CrossesFloor),
                };
            }
        }
    }
    table
}

/// The table of the base's run and the other one, whose machine draws 95 W and costs 400 dollars.
pub(crate) fn weighed(base: &SampleRun) -> Table {
    let mut table = table();
    let source = || Some("a meter at the socket, 2026-11".to_owned());
    let known = Known {
        name: base.run.machine.name.clone(),
        power: Some(Power { loaded: 95.0, idle: None, of: "the whole machine".into(), source: source() }),
        price: Some(Price { amount: 400.0, currency: "USD".into(), of: "the processor".into(), source: source() }),
        ..Known::default()
    };
    let files = MachineFiles { named: vec![Machines { machine: vec![known] }], kept: Vec::new() };
    let records = ["20261121-0555-3f9a", "20261122-0801-77c2"].map(|id| Record {
        run: Run { id: id.into(), ..base.run.clone() },
        sessions: base.sessions.clone(),
        repeats: Vec::new(),
        profiles: Vec::new(),
    });
    let records: Vec<_> = records.iter().collect();
    table.weighings = weigh(&table, &facts(&table, &records, &[], &files));
    table
}

fn measured(median: f64, place: usize, ratio: Option<f64>) -> Cell {
    let verdict = [
        Verdict::Same,
        Verdict::Better,
        Verdict::Better,
        Verdict::Worse,
        Verdict::Unresolved,
        Verdict::Same,
        Verdict::Better,
        Verdict::Unresolved,
        Verdict::Same,
    ][place];
    Cell::Measured(Measured {
        median,
        interval: Some((median * 0.994, median * 1.007)),
        minimum: median * 0.98,
        maximum: median * 1.03,
        spread: Some(0.0062),
        valid: if place == 3 { 9 } else { 10 },
        invalid: u32::from(place == 3),
        outliers: u32::from(place == 1),
        against_base: ratio.map(|ratio| AgainstBase {
            ratio: Some(ratio),
            interval: Some((ratio * 0.99, ratio * 1.01)),
            q: Some(0.0004),
            floor: 0.01,
            drift: Some(0.012),
            verdict,
            reason: match verdict {
                Verdict::Better | Verdict::Worse => Reason::BeyondFloor,
                Verdict::Same => Reason::WithinFloor,
                Verdict::Unresolved => Reason::CrossesFloor,
            },
            repeats_needed: (verdict == Verdict::Unresolved).then_some(24),
            evidence: Box::<Evidence>::default(),
        }),
        of_ceilings: if place == 3 {
            vec![OfCeiling { scenario: "magma, parallel".into(), share: 0.62 }]
        } else {
            vec![]
        },
    })
}

fn measured_few(median: f64) -> Cell {
    let Cell::Measured(value) = measured(median, 0, None) else { unreachable!() };
    Cell::Measured(Measured { interval: None, valid: 5, ..value })
}

fn number(value: f64, median: f64, note: Option<String>) -> Cell {
    Cell::Published(Published { value: Some(value), words: None, ratio: (median > 0.0).then(|| median / value), note })
}

fn words(words: &str) -> Cell {
    Cell::Published(Published { value: None, words: Some(words.into()), ratio: None, note: None })
}

/// A page without the points that its script draws: base 64 may hold any few letters.
pub(crate) fn without_points(html: &str) -> String {
    let mut parts = html.split(" data-samples=\"");
    let before = parts.next().unwrap_or_default().to_owned();
    parts.fold(before, |all, part| all + part.split_once('"').map_or(part, |(_, rest)| rest))
}

/// A run with its sessions, repeats and series.
pub(crate) struct SampleRun {
    pub(crate) run: Run,
    pub(crate) sessions: Vec<Session>,
    pub(crate) repeats: Vec<Repeat>,
    pub(crate) series: Vec<(u32, Series)>,
    pub(crate) profiles: Vec<Profile>,
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
    let no_perf = Lack::new("perf is not on the machine's PATH", Some("apt-get install -y linux-perf"));
    let killed = Lack::new("it was killed by signal 9", None);
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
        source: None,
        order: Order::Shuffled,
        seed: Some(1),
        sample_hertz: 10,
        time_budget: None,
        scale: 0.25,
        set: BTreeMap::new(),
        table: None,
        scenarios,
    };
    let started_at: jiff::Timestamp = "2026-11-21T05:55:00Z".parse().expect("a moment");
    let run = Run {
        id: id.into(),
        stend_version: "0.1.0".into(),
        host: "local".into(),
        started_at,
        finished_at: None,
        state: RunState::Finished,
        seed: 42,
        suite,
        skipped: vec![Skipped {
            scenario: "4k rand read".into(),
            reason: "fio is not on the machine's PATH".into(),
            remedy: Some("apt-get install -y fio".into()),
        }],
        profile: true,
        noise: false,
        target: None,
        known: None,
        sides: Vec::new(),
        carried: false,
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
        missing_sensors: vec!["power: no RAPL and no hwmon here".into()],
        clocks: None,
    };
    SampleRun { run, sessions: vec![session], repeats, series, profiles: profiles() }
}

fn scenario(name: &str, metric: &str, unit: Unit, better: Better) -> Scenario {
    let value = match unit {
        Unit::BytesPerSecond => "bytes/wall",
        Unit::Nanoseconds => "latency_p99_ns",
        Unit::Seconds => "wall",
        _ => "operations/wall",
    };
    Scenario {
        name: name.into(),
        family: None,
        measures: Some(format!("what the references call {name}")),
        instrument: Instrument::Probe("cipher".into()),
        parameters: BTreeMap::from([("size".into(), "64KiB".into()), ("mode".into(), "ecb".into())]),
        metrics: vec![Metric {
            name: metric.into(),
            value: value.parse().expect("an expression"),
            unit,
            better,
            floor: None,
            optional: false,
        }],
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
        places: BTreeMap::new(),
        files: BTreeMap::new(),
    }
}

fn repeat(sequence: u32, round: u32, place: usize, unit: Unit, value: f64, started_at: jiff::Timestamp) -> Repeat {
    let (work, observed, wall_ns) = match unit {
        Unit::Seconds => ([("operations", 1.0)], None, value * 1e9),
        Unit::Nanoseconds => ([("operations", 1000.0)], Some(("latency_p99_ns", value)), 2e9),
        Unit::BytesPerSecond => ([("bytes", value * 2.0)], None, 2e9),
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
        latencies: observed.map(|(_, p99)| ("latency".to_owned(), latencies(p99))).into_iter().collect(),
        check: Check::Passed,
        evidence: Some("first and last block against the reference cipher, round trip of 64 KiB".into()),
        unknown: Default::default(),
    };
    let outcome = match (place, round) {
        (3, 4) => Outcome::Invalid(vec![STEAL.into()]),
        (8, 6) => Outcome::Failed(EVIL.into()),
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
        usage: Some(usage(wall_ns, if (place, round) == (3, 4) { 0.041 } else { 0.002 })),
        stopped: false,
        command: ["stend-probe", "cipher", "--size", "64KiB", "--label", "it's"].map(str::to_owned).into(),
        output: String::new(),
        error_output: if failed { EVIL.into() } else { String::new() },
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
        of("temperature_celsius", machine, false, 61.0, 1.5),
        of("disk.read_bytes_total", machine, true, 210e6, 60e6),
        of("swap.pages_total", machine, true, 0.0, 0.0),
        of("iops", Origin::Instrument, false, 612e3, 9e3),
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
            mitigations: BTreeMap::new(),
            settings: BTreeMap::new(),
            tools: BTreeMap::new(),
        },
        missing: BTreeMap::from([("power".into(), "no RAPL here".into())]),
        raw: BTreeMap::new(),
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
