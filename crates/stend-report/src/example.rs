//! Sample data for the tests of the reports: a machine, two runs on it, eleven published machines; nothing of it was measured.

mod measured;

use crate::words::language::Language;
use stend_model::cause::Cause;
use stend_model::machine::Difference;
use stend_model::metric::{Better, Unit};
use stend_model::run::Run;
use stend_model::weight::{Known, Machines, Power, Price};
use stend_stats::Reason;

pub(crate) use measured::{SampleRun, other_run, profiles, run};
use stend_compare::table::{
    AgainstBase, Cell, Column, ColumnOrigin, Counted, Design, Grade, Lack as NoFigure, LeftOut, Measured, Note,
    OfCeiling, Published, Row, Table, Verdict,
};
use stend_compare::weighing::{MachineFiles, facts, weigh};
use stend_model::record::Record;
use stend_stats::Numbers;
use stend_testing::steal;

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
        origin: ColumnOrigin::Run { id: id.into(), sessions, boots: sessions },
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
        run("pc-7", "20261121-0555-3f9a", 5, None, vec![]),
        run("pc-7, kernel 6.12", "20261122-0801-77c2", 5, Some(Grade::SessionsInTurns), differences),
    ];
    let published = |reference: &str, machine: &str, source: &str| Column {
        title: machine.into(),
        origin: ColumnOrigin::Published {
            title: "On the way to the summit: Magma and Kuznyechik on Elbrus".into(),
            reference: reference.into(),
            machine: machine.to_lowercase(),
            description: format!("{machine}, as the publication describes it"),
            source: source.into(),
        },
        grade: Some(Grade::Published),
        differences: vec![],
        emulator: None,
    };
    columns
        .extend(SUMMIT.map(|(name, _)| published("summit", name, "On the way to the summit, RusCrypto, 2021-06-17")));
    columns.extend(
        ["Vostok, 4.19", "Vostok, 5.4", "Engine N2"].map(|name| published("vostok", name, "A storage system, 2021")),
    );

    let instrument = |place| match place {
        0..3 => "stend-probe cipher",
        3 => "stend-probe pipe",
        4..7 => "fio",
        _ => "others",
    };
    let mut rows = Vec::new();
    for (place, (scenario, metric, unit, better, median, ratio)) in SCENARIOS.into_iter().enumerate() {
        let mut cells = vec![measured(median, place, None), measured(median * ratio, place, Some(ratio))];
        if place == 5 {
            let remedy = Some("apt-get install -y fio".into());
            let reason = Cause::ToolMissing { tool: "fio".into() };
            cells[0] = Cell::Nothing { why: NoFigure::Skipped { reason, remedy } };
            cells[1] = Cell::Nothing { why: NoFigure::Invalid { causes: vec![steal()] } };
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
            instrument: instrument(place).into(),
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
                instrument: instrument(place).into(),
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
    // What is better lower is as good as it is low.
    for row in rows.iter_mut().filter(|row| row.better == Better::Lower) {
        for cell in &mut row.cells {
            match cell {
                Cell::Published(published) => published.factor = published.factor.map(f64::recip),
                Cell::Measured(Measured { against_base: Some(against), .. }) => {
                    against.factor = against.factor.map(f64::recip);
                    against.interval = against.interval.map(|(low, high)| (high.recip(), low.recip()));
                }
                _ => {}
            }
        }
    }
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
        sessions: base.sessions.clone(),
        ..Record::empty(Run { id: id.into(), ..base.run.clone() })
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
            factor: Some(ratio),
            interval: Some((ratio * 0.99, ratio * 1.01)),
            q: Some(0.0004),
            floor: 0.01,
            verdict,
            reason: match verdict {
                Verdict::Better | Verdict::Worse => Reason::BeyondFloor,
                Verdict::Same => Reason::WithinFloor,
                Verdict::Unresolved => Reason::CrossesFloor,
            },
            visible: Some(0.034),
            needed: (verdict == Verdict::Unresolved).then_some(24),
            p: Some(0.0002),
            design: Design::SessionsInTurns,
            counted: Counted::Sessions,
            base_count: 5,
            own_count: 5,
            numbers: Some(Numbers::Differences(
                [-0.004, -0.002, 0.0, 0.002, 0.004].map(|step| ratio.ln() + step).to_vec(),
            )),
        }),
        of_ceilings: if place == 3 {
            vec![OfCeiling { scenario: "magma, parallel".into(), times: 1, share: 0.62 }]
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
    Cell::Published(Published { value: Some(value), words: None, factor: (median > 0.0).then(|| median / value), note })
}

fn words(words: &str) -> Cell {
    Cell::Published(Published { value: None, words: Some(words.into()), factor: None, note: None })
}

/// Markup without what only readers of other languages see.
pub(crate) fn in_english_and_russian(html: &str) -> String {
    let mut html = html.to_owned();
    for code in Language::ALL[2..].iter().map(|language| language.code()) {
        let elements = [
            format!("<span lang=\"{code}\">"),
            format!("<button type=\"button\" data-switch=\"{code}\""),
            format!("<template class=\"texts\" lang=\"{code}\">"),
        ];
        let attributes = ["", "title-", "suffix-"].map(|what| format!(" data-{what}{code}=\""));
        let ends = ["</span>", "</button>", "</template>", "\"", "\"", "\""];
        for (begin, end) in elements.iter().chain(&attributes).zip(ends) {
            let mut parts = html.split(begin);
            let before = parts.next().unwrap_or_default().to_owned();
            html = parts.fold(before, |all, part| all + part.split_once(end).map_or("", |(_, rest)| rest));
        }
    }
    html
}

/// A page without the points that its script draws: base 64 may hold any few letters.
pub(crate) fn without_points(html: &str) -> String {
    let mut parts = html.split(" data-samples=\"");
    let before = parts.next().unwrap_or_default().to_owned();
    parts.fold(before, |all, part| all + part.split_once('"').map_or(part, |(_, rest)| rest))
}
