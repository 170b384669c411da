//! Tests of the table in another layout, in all of its forms, from runs that are made of numbers.

use std::path::Path;

use stend_model::metric::Unit;
use stend_model::reference::Reference;
use stend_model::run::Repeat;
use stend_model::suite::{Changes, Key, Keys, Layout, Suite};

use crate::scene::{Mark, Role, Shape};
use crate::text::width;
use crate::{comparison, csv, html};
use stend_compare::compare;
use stend_compare::curves::{curves, sweeps};
use stend_compare::pivot::sections;
use stend_compare::table::{Cell, Lack, Table};
use stend_model::record::Record;

const SUITE: &str = r#"
name = "six"
title = "two of six, a sweep and an open load"
order = "grouped"

[table]
column = "metric"
metrics = ["IOPS", "latency p99", "CPU of controllers", "IOPS per controller CPU-second"]

[metric_sets]
all = [
    { name = "IOPS", value = "operations/wall", unit = "IOPS", better = "higher" },
    { name = "latency p50", value = "latency_p50_ns", unit = "ns", better = "lower" },
    { name = "IOPS per controller CPU-second", value = "operations/controllers_cpu", unit = "op/CPU-s", better = "higher", optional = true },
    { name = "CPU of controllers", value = "controllers_cpu/wall", unit = "cores", better = "lower", optional = true },
    { name = "latency p99", value = "latency_p99_ns", unit = "ns", better = "lower" },
]

[[scenario]]
name = "4k read"
measures = "4k read"
command = ["true"]
metric_set = "all"

[[scenario]]
name = "4k write"
measures = "4k write"
command = ["true"]
metric_set = "all"

[[scenario]]
name = "sweep of {jobs} jobs at depth {depth}"
command = ["true"]
matrix = { jobs = [1, 2], depth = [1, 4, 16] }
metric_set = "all"
"#;

const REFERENCE: &str = r#"
name = "old"
title = "An old machine"
source = "somebody, 2020"
method = "fio"
machine = [
    { id = "vostok", name = "Vostok", description = "an old one" },
    { id = "engine", name = "Engine", description = "another" },
]
figure = [
    { machine = "vostok", measures = "4k read", metric = "IOPS", value = 371000, unit = "IOPS", note = "CPU 76 %" },
    { machine = "engine", measures = "4k read", metric = "IOPS", words = "about 2 × Vostok, says the text" },
]
"#;

/// What of a scenario's repeats there is.
#[derive(Clone, Copy)]
struct Of {
    repeats: u32,
    controllers: bool,
    /// By how much the first scenario is faster than it would be.
    faster: f64,
}

const USUAL: Of = Of { repeats: 10, controllers: true, faster: 1.0 };

fn run(id: &str, of: Of) -> Record {
    let mut record = stend_testing::record(id, &[]);
    record.run.suite = Suite::parse(SUITE, "six.toml", Path::new("."), &Changes::default()).unwrap();
    let count = record.run.suite.scenarios.len();
    for number in 0..of.repeats {
        for scenario in 0..count {
            record.repeats.push(repeat(record.repeats.len() as u32, scenario, number, of));
        }
    }
    record
}

fn repeat(sequence: u32, scenario: usize, number: u32, of: Of) -> Repeat {
    // A second each, within a tenth of a percent, in no order.
    let noise = 1.0 + f64::from(number * 7 % 10) / 1e4;
    let mut repeat = stend_testing::repeat(sequence, scenario, number, 1000.0);
    let report = repeat.report.as_mut().unwrap();
    let operations = if scenario == 0 { 50e3 * of.faster } else { 20e3 * (1.0 + scenario as f64) } * noise;
    report.work.insert("operations".into(), operations);
    let latency = 1e5 * (1.0 + scenario as f64) / noise;
    report.observed.insert("latency_p50_ns".into(), latency);
    report.observed.insert("latency_p99_ns".into(), latency * 20.0);
    if of.controllers {
        let own_noise = 1.0 + f64::from(number * 3 % 10) / 1e4;
        report.observed.insert("controllers_cpu_ns".into(), 5e8 * own_noise);
    }
    repeat
}

/// The first two scenarios only, so that what is expected can be read.
fn short(table: &Table) -> Table {
    let mut table = table.clone();
    table.rows.retain(|row| row.family.is_none());
    table
}

fn before_and_after() -> Table {
    let reference = Reference::parse(REFERENCE, "old.toml").unwrap();
    compare(&[&run("before", USUAL), &run("after", Of { faster: 1.25, ..USUAL })], &[reference])
}

fn shown(table: &Table, width: usize) -> String {
    comparison::document(table, &[], false).terminal(width, false)
}

#[test]
fn before_after_and_the_published_stand_under_each_other() {
    let text = shown(&short(&before_and_after()), 100);
    insta::assert_snapshot!("wide", text);
    let coloured = comparison::document(&short(&before_and_after()), &[], false).terminal(100, true);
    assert!(coloured.contains("\u{1b}[38;2;0;158;115m△ +25.0 %"), "{coloured}");
    let published = coloured.lines().find(|line| line.contains("371 kIOPS")).unwrap();
    assert!(!published.contains("38;2;"), "{published}");
}

#[test]
fn what_does_not_fit_side_by_side_stands_in_parts() {
    for limit in [60, 80, 100, 120] {
        let text = shown(&before_and_after(), limit);
        for line in text.lines() {
            assert!(width(line) <= limit, "{} > {limit}: {line}", width(line));
            assert_eq!(line, line.trim_end());
        }
        assert_eq!(text.matches("latency").count(), 1, "each metric stands once: {text}");
    }
    let narrow = shown(&before_and_after(), 60);
    assert!(narrow.matches("4k read").count() > 1);
    let vostok = narrow.lines().filter(|line| line.trim_start().starts_with("Vostok")).collect::<Vec<_>>();
    assert!(matches!(vostok[..], [one] if one.contains("371 kIOPS")), "only where it has a figure: {narrow}");
}

#[test]
fn without_controllers_their_columns_are_a_line_of_words() {
    let table = compare(&[&run("a", Of { controllers: false, ..USUAL })], &[]);
    let why = Cell::Nothing { why: Lack::NotReported { value: "operations/controllers_cpu".into(), reason: None } };
    assert!(table.rows.iter().any(|row| row.cells[0] == why));
    let text = shown(&table, 100);
    let line = text.lines().find(|line| line.starts_with("CPU of controllers: ")).unwrap();
    assert!(line.contains("no controllers"), "{text}");
    assert!(!text.lines().any(|line| line.contains("cores")) && !text.contains("NaN"), "{text}");
    let page = page(&[&run("a", Of { controllers: false, ..USUAL })]);
    assert!(page.contains("CPU of controllers: <span lang=\"en\">no controllers"));
    // A run that has some beside one that has none: a dash, and no word of a verdict.
    let both = compare(&[&run("a", USUAL), &run("b", Of { controllers: false, ..USUAL })], &[]);
    let text = shown(&short(&both), 100);
    assert!(text.contains("CPU of") && text.lines().any(|line| line.contains("b ") && line.contains('–')), "{text}");
}

#[test]
fn a_single_repeat_has_neither_interval_nor_spread() {
    let table = short(&compare(&[&run("a", Of { repeats: 1, ..USUAL })], &[]));
    let text = shown(&table, 100);
    assert!(text.contains("50.0 kIOPS") && !text.contains('…') && !text.contains('±'), "{text}");
    assert!(text.contains("An interval of the median takes six valid repeats"));
    assert!(comparison::document(&table, &[], false).markdown().contains("| 4k read | 50.0 kIOPS |"));
}

#[test]
fn a_scenario_that_was_left_out_is_a_line_with_its_reason() {
    let mut left_out = run("a", USUAL);
    left_out.repeats.retain(|repeat| repeat.scenario != 1);
    left_out.run.skipped.push(stend_model::run::Skipped {
        scenario: "4k write".into(),
        reason: stend_model::cause::Cause::ToolMissing { tool: "fio".into() },
        remedy: None,
    });
    let text = shown(&compare(&[&left_out], &[]), 100);
    let line = text.lines().find(|line| line.starts_with("4k write")).unwrap();
    assert!(line.ends_with("– [1]") && text.contains("[1] skipped: fio is not"), "{text}");
}

#[test]
fn the_axes_of_a_matrix_can_go_down_and_across() {
    let mut table = before_and_after();
    table.layout = Some(Layout { row: axis("jobs"), column: axis("depth"), metrics: vec![] });
    let text = shown(&table, 100);
    assert!(text.lines().any(|line| line == "sweep of JOBS jobs at depth DEPTH · IOPS"), "{text}");
    let head = text.lines().find(|line| line.contains("jobs ╲ depth")).unwrap();
    assert_eq!(head.split_whitespace().collect::<Vec<_>>(), ["jobs", "╲", "depth", "1", "4", "16"]);
    let first = text.lines().find(|line| line.starts_with("1 ")).unwrap();
    assert!(first.contains("60.0 kIOPS") && first.contains("100 kIOPS"), "{text}");
    // Metrics down and scenarios across: the same figures, turned.
    table.layout = Some(Layout { row: Key::Metric.into(), column: Key::Scenario.into(), metrics: vec![] });
    let rows = table.shown(true);
    let turned = sections(&rows, table.layout.as_ref().unwrap());
    assert_eq!((turned.len(), turned[0].lines.len(), turned[0].columns.len()), (1, 5, 8));
    assert!(
        turned[0].lines.iter().all(|line| line.cells.iter().flatten().all(|row| line.values == [row.metric.as_str()]))
    );
}

fn axis(name: &str) -> Keys {
    Key::Axis(name.into()).into()
}

fn keys(text: &str) -> Keys {
    text.parse().unwrap()
}

#[test]
fn several_keys_go_down_or_across_the_first_of_them_first() {
    let table = before_and_after();
    let lines = |row: &str, column: &str| {
        let layout =
            Layout { row: keys(row), column: keys(column), metrics: vec!["latency p99".into(), "IOPS".into()] };
        let sections = sections(&table.rows.iter().collect::<Vec<_>>(), &layout);
        assert_eq!(sections.len(), 1, "{row} {column}: {sections:?}");
        let section = &sections[0];
        assert!(section.lines.iter().all(|line| line.cells.len() == section.columns.len()));
        let figures = section.lines.iter().flat_map(|line| &line.cells).flatten().count();
        let labels: Vec<String> = section.lines.iter().map(|line| line.values.join(" · ")).collect();
        (section.corner.clone(), labels, section.columns.clone(), figures)
    };
    let (corner, labels, columns, figures) = lines("jobs,depth", "metric");
    assert_eq!((corner.as_str(), figures), ("jobs · depth", 6 * 5));
    assert_eq!(labels, ["1 · 1", "1 · 4", "1 · 16", "2 · 1", "2 · 4", "2 · 16"]);
    assert_eq!(columns[..2], ["latency p99", "IOPS"], "the layout's order");
    let (_, labels, ..) = lines("depth,jobs", "metric");
    assert_eq!(labels, ["1 · 1", "1 · 2", "4 · 1", "4 · 2", "16 · 1", "16 · 2"], "the first key orders first");
    let (corner, labels, columns, _) = lines("metric,jobs", "depth");
    assert_eq!(
        (corner.as_str(), &labels[..3]),
        ("metric · jobs", &["latency p99 · 1", "latency p99 · 2", "IOPS · 1"].map(String::from)[..])
    );
    assert_eq!(columns, ["1", "4", "16"]);
    let (corner, labels, columns, _) = lines("jobs", "depth,metric");
    assert_eq!((corner.as_str(), labels.len(), columns.len()), ("jobs", 2, 15));
    assert_eq!(columns[..2], ["1 · latency p99", "1 · IOPS"]);

    // In a spreadsheet each key has a field of its own; elsewhere the label has them all.
    let mut table = before_and_after();
    table.layout = Some(Layout { row: keys("jobs,depth"), column: keys("metric"), metrics: vec!["IOPS".into()] });
    let csv = csv::render_laid_out(&table);
    assert!(csv.starts_with("section,jobs,depth,column,origin,IOPS [IOPS],"), "{csv}");
    assert!(csv.lines().nth(1).unwrap().starts_with("sweep of JOBS jobs at depth DEPTH,1,1,"), "{csv}");
    assert!(shown(&table, 100).lines().any(|line| line.starts_with("2 · 16  ")), "{}", shown(&table, 100));
    let markdown = comparison::document(&table, &[], false).markdown();
    assert!(markdown.contains("| jobs · depth | IOPS | n |") && markdown.contains("| 2 · 16 | "), "{markdown}");
    table.layout = Some(Layout { row: keys("jobs"), column: keys("depth,metric"), metrics: vec!["IOPS".into()] });
    assert!(csv::render_laid_out(&table).contains(",1 · IOPS [IOPS],1 · IOPS low,"));

    // Scenarios and their metrics down: the table with a column for each run.
    table.layout = Some(Layout { row: keys("scenario,metric"), column: keys("run"), metrics: vec![] });
    let text = shown(&table, 100);
    assert!(text.contains("4k read · IOPS") && text.contains("  · latency p50"), "{text}");
}

#[test]
fn markdown_and_csv_have_a_line_for_each_machine_and_all_cells_in_each() {
    let table = before_and_after();
    let text = comparison::document(&table, &[], false).markdown();
    let lines: Vec<&str> = text.lines().filter(|line| line.starts_with('|')).collect();
    assert!(lines.iter().all(|line| line.matches('|').count() == 7), "{text}");
    assert!(text.contains("| – after | 62.5 kIOPS △ +25.0 % |") && text.contains("| – Vostok | 371 kIOPS |"), "{text}");
    let after = lines.iter().find(|line| line.starts_with("| – after")).unwrap();
    assert!(lines[0].ends_with("| n |") && after.ends_with("| 10 |"), "the count that the legend explains: {text}");
    let text = csv::render_laid_out(&table);
    let fields = |line: &str| line.split(',').count();
    let lines: Vec<&str> = text.lines().filter(|line| !line.contains('"')).collect();
    assert!(lines.len() > 8 && lines.iter().all(|line| fields(line) == fields(lines[0])), "{text}");
    assert!(lines[0].starts_with("scenario,column,origin,IOPS [IOPS],IOPS low"), "{}", lines[0]);
    assert!(lines.iter().any(|line| line.contains(",1.2") && line.contains(",better,")), "{text}");
}

#[test]
fn markdown_says_what_is_reached_of_a_ceiling_in_each_layout() {
    let mut capped = run("a", USUAL);
    capped.run.suite.scenarios[1].ceiling = vec![stend_model::suite::Ceiling::Of("4k read".into())];
    let text = comparison::document(&short(&compare(&[&capped], &[])), &[], false).markdown();
    let line = text.lines().find(|line| line.starts_with("| 4k write")).unwrap();
    assert!(line.ends_with("| 10 | 80 % of 4k read |"), "{text}");
}

#[test]
fn a_value_far_from_the_rest_is_starred_whichever_column_it_stands_in() {
    let mut stray = run("a", USUAL);
    let last = stray.repeats.iter_mut().rfind(|repeat| repeat.scenario == 1).unwrap();
    last.report.as_mut().unwrap().observed.insert("latency_p99_ns".into(), 1e9);
    let table = short(&compare(&[&stray], &[]));
    let text = shown(&table, 100);
    assert!(text.contains("  n 10* ") && text.contains("*: a value lies far from the rest"), "{text}");
    assert!(comparison::document(&table, &[], false).markdown().contains("| 10\\* |"));
    assert_eq!(page(&[&stray]).matches("n 10*").count(), 1);
}

#[test]
fn scenarios_side_by_side_do_not_share_one_number_of_repeats() {
    let mut fewer = run("a", USUAL);
    let invalid = fewer.repeats.iter_mut().filter(|repeat| repeat.scenario == 4 && repeat.number > 6);
    invalid.for_each(|repeat| repeat.outcome = stend_model::run::Outcome::Invalid(vec![stend_testing::steal()]));
    let mut table = compare(&[&fewer], &[]);
    table.layout = Some(Layout { row: axis("jobs"), column: axis("depth"), metrics: vec![] });
    let text = shown(&table, 100);
    let counts: Vec<_> = text.lines().filter(|line| line.starts_with("  n ")).collect();
    assert!(counts[0].starts_with("  n 7/10 … 10 ") && counts[1].starts_with("  n 10 "), "{text}");
    assert!(text.contains("n: valid repeats, of all that were measured"), "{text}");
}

#[test]
fn curves_that_are_too_many_are_counted() {
    let mut many = before_and_after();
    let sweep: Vec<_> = many.rows.iter().filter(|row| row.family.is_some()).cloned().collect();
    for jobs in ["3", "4", "5", "6"] {
        for mut row in sweep.iter().filter(|row| row.family.as_ref().is_some_and(|at| at.point["jobs"] == "1")).cloned()
        {
            row.scenario = format!("{} of {jobs}", row.scenario);
            row.family.as_mut().unwrap().point.insert("jobs".into(), jobs.into());
            many.rows.push(row);
        }
    }
    // Depth has fewer values then, and a curve for each of its three at both latencies.
    let found = curves(&many);
    assert_eq!((found[0].along, found[0].curves.len(), found[0].left_out), ("jobs", 3, 3));
    assert!(found[0].curves.iter().all(|curve| curve.metric == "latency p99"));
    assert_eq!(curves(&before_and_after())[0].left_out, 0);
    let view = crate::curve::curves_view(&many, &found[0], 0).unwrap();
    assert!(view.caption.english().contains(": 3."), "{}", view.caption.english());
}

#[test]
fn a_figure_is_drawn_along_the_only_axis_of_numbers() {
    let mut table = before_and_after();
    assert!(sweeps(&table).is_empty(), "two such axes are a matrix");
    for at in table.rows.iter_mut().filter_map(|row| row.family.as_mut()) {
        let jobs = format!("{} jobs", at.point["jobs"]);
        at.point.insert("jobs".into(), jobs);
    }
    let found = sweeps(&table);
    let [main] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((main.along, main.curves.len(), main.curves[0].of), ("depth", 2, Some(("jobs", "1 jobs"))));
    let view = crate::curve::curves_view(&table, main, 0).unwrap();
    assert!(view.title.english().starts_with("IOPS by depth: sweep of"), "{}", view.title.english());
    let scene = &view.views[0].scene;
    assert!(scene.across.iter().map(|tick| tick.label.as_str()).eq(["1", "4", "16"]), "{:?}", scene.across);
    assert!(scene.labels.is_empty(), "the axis has them");

    // What an operation costs is as long as its value.
    table.rows.iter_mut().for_each(|row| row.unit = Unit::CpuSeconds);
    let found = sweeps(&table);
    let view = crate::curve::curves_view(&table, &found[0], 0).unwrap();
    let bars: Vec<_> = view.views[0].scene.marks.iter().filter(|mark| matches!(mark.role, Role::Area(_))).collect();
    assert_eq!(bars.len(), 6, "of two curves at three depths");
    let place = |mark: &Mark| match mark.shape {
        Shape::Rectangle(place) => place,
        _ => panic!("{mark:?}"),
    };
    let medians =
        found[0].curves.iter().flat_map(|curve| &curve.points).map(|point| point.figure.measured(0).unwrap().median);
    let scales: Vec<f64> = bars.iter().zip(medians).map(|(mark, median)| place(mark).height / median).collect();
    assert!(scales.iter().all(|scale| (scale / scales[0] - 1.0).abs() < 0.01), "{scales:?}");
    let mut spans: Vec<_> = bars.iter().map(|mark| (place(mark).left, place(mark).left + place(mark).width)).collect();
    spans.sort_by(|a, b| a.0.total_cmp(&b.0));
    assert!(spans.windows(2).all(|pair| pair[0].1 <= pair[1].0 + 1e-6), "none hides another: {spans:?}");
}

#[test]
fn only_what_has_a_place_in_the_layout_is_shown_and_judged() {
    let mut table = before_and_after();
    table.layout = Some(Layout { row: axis("jobs"), column: axis("depth"), metrics: vec![] });
    let shown = table.shown(false);
    assert_eq!(shown.len(), 6, "the sweep alone");
    assert!(shown.iter().all(|row| row.family.is_some()));
}

#[test]
fn a_run_without_the_first_line_of_a_matrix_has_its_heat_map_all_the_same() {
    let mut part = run("part", USUAL);
    part.run.suite.scenarios.retain(|scenario| scenario.family.as_ref().is_none_or(|at| at.point["jobs"] != "1"));
    // What is left keeps its repeats.
    part.repeats.retain(|repeat| !(2..5).contains(&repeat.scenario));
    part.repeats.iter_mut().filter(|repeat| repeat.scenario > 4).for_each(|repeat| repeat.scenario -= 3);
    let page = page(&[&run("whole", USUAL), &part]);
    assert_eq!(page.matches("<svg class=\"heat\" width=\"364\"").count(), 2);
}

#[test]
fn a_sweep_has_a_curve_for_each_value_of_its_shorter_axis_and_an_open_load_its_ceiling() {
    let mut table = before_and_after();
    let found = curves(&table);
    let [sweep] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((sweep.along, sweep.curves.len()), ("depth", 4));
    assert_eq!((sweep.curves[0].of, sweep.curves[0].metric), (Some(("jobs", "1")), "latency p50"));
    let values: Vec<_> = sweep.curves[0].points.iter().map(|point| point.value).collect();
    assert_eq!(values, [Some("1"), Some("4"), Some("16")]);
    for row in table.rows.iter_mut().filter(|row| row.family.is_some()) {
        row.share_of = Some("4k read".into());
    }
    let found = curves(&table);
    assert!(found[0].curves.iter().all(|curve| curve.points.last().is_some_and(|point| point.value.is_none())));
}

fn page(records: &[&Record]) -> String {
    let table = compare(records, &[Reference::parse(REFERENCE, "old.toml").unwrap()]);
    let runs: Vec<_> = records
        .iter()
        .map(|record| html::RunData {
            run: &record.run,
            sessions: &record.sessions,
            repeats: &record.repeats,
            series: &[],
            profiles: &[],
            job: |_, _, _| None,
        })
        .collect();
    let generated_at = "2026-11-21T07:00:00Z".parse().unwrap();
    html::render(&html::Input { table: &table, runs: &runs, command: "stend report", generated_at }).unwrap()
}

#[test]
fn the_page_has_the_table_the_matrix_and_the_curves() {
    let html = page(&[&run("before", USUAL), &run("after", Of { faster: 1.25, ..USUAL })]);
    let html = crate::example::in_english_and_russian(&html);
    let table = html
        .split_once("<table class=\"wide\" aria-labelledby=\"table\">")
        .unwrap()
        .1
        .split_once("</table>")
        .unwrap()
        .0;
    assert!(table.contains("<span class=\"verdict better\"><span class=\"unseen\"><span lang=\"en\">better</span><span lang=\"ru\">лучше</span> </span><span lang=\"en\">△ +25.0\u{a0}%</span>"));
    let published = table.split("<tr").find(|line| line.contains("371 kIOPS")).unwrap();
    assert!(published.contains("class=\"published\"") && !published.contains("verdict"), "{published}");
    assert!(table.contains("about 2 × Vostok, says the text"));
    // A map for each run, on one scale: six cells each, of which the least has the first colour and the most the last.
    assert_eq!(html.matches("<svg class=\"heat\" width=\"364\"").count(), 2);
    assert_eq!(
        (html.matches("<g class=\"h0\"><title").count(), html.matches("<g class=\"h6\"><title").count()),
        (2, 2)
    );
    assert_eq!(html.matches("<figure class=\"chart curve\">").count(), 2);
    assert_eq!(html.matches("<span lang=\"en\">").count(), html.matches("<span lang=\"ru\">").count());
    assert!(!html.contains("NaN") && !html.contains("inf "));
}
