//! `stend compare`: filters, layouts, thresholds, and what is said of runs that cannot be compared.

use crate::common::forge::{Forged, times};
use crate::common::runs::{A, B, C, Runs, flat, verdicts};
use serde_json::{Value, json};

#[test]
fn a_filter_leaves_what_it_takes_and_says_so() {
    let runs = Runs::new();
    let scenarios = [("4k read", 1.0), ("4k write", 1.0), ("copy", 1.0)];
    let mut other = scenarios;
    (other[0].1, other[2].1) = (2.0, 0.5);
    runs.add(&[runs.run(A, &scenarios), runs.run(B, &other)]);
    let rows = |arguments: &[&str]| {
        let table = runs.table(&[&[A, B], arguments].concat());
        table["rows"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row["scenario"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(rows(&["--filter", "scenario:4k*"]), ["4k read", "4k write"]);
    assert_eq!(rows(&["--filter", "-scenario:\"4k read\"", "--unit", "B/s"]), ["4k write", "copy"]);
    assert_eq!(rows(&["--only", "significant"]), ["4k read", "copy"]);
    assert_eq!(rows(&["--only", "unresolved"]), [""; 0]);
    let out = flat(&runs.stand.fine(&["compare", A, B, "--only", "worse"]).out);
    assert!(
        out.contains("1 of 3 rows is shown: what is worse") && out.contains("4k read") && !out.contains("4k write"),
        "{out}"
    );
    assert!(out.contains("on 1 of 3 scenarios"), "all are counted: {out}");
    assert!(out.contains("geometric mean of 3"), "{out}");
    let csv = runs.stand.fine(&["compare", A, B, "--only", "worse", "--format", "csv"]).out;
    assert_eq!(csv.lines().count(), 1 + 2, "{csv}");
    let markdown = runs.stand.fine(&["compare", A, B, "--only", "unresolved", "--format", "markdown"]).out;
    assert!(markdown.contains("No row is shown: none of 3 rows is unresolved"), "{markdown}");
    let out = flat(&runs.stand.fine(&["compare", A, B, "--only", "unresolved"]).out);
    assert!(
        out.contains("No row is shown: none of 3 rows is unresolved.") && !out.contains("Nothing was measured"),
        "{out}"
    );
    assert_eq!(out.matches("none of 3 rows").count(), 1, "{out}");
    let out = flat(&runs.stand.fine(&["compare", A, B, "--filter", "scenario:4k*"]).out);
    assert!(out.contains("the correction for many comparisons is over these figures"), "{out}");
    let out = flat(&runs.stand.fine(&["compare", A, B, "--filter", "metric:throughput"]).out);
    assert!(out.contains("copy · throughput"), "a metric that was asked for is named: {out}");
    runs.refused(
        &[A, B, "--filter", "scenario:5k*"],
        &[
            "the filter `scenario:5k*` takes no figure",
            "scenarios: \"4k read\"",
            "metrics: \"throughput\"",
            "units: B/s",
        ],
    );
    runs.refused(&[A, B, "--json", "--format", "csv"], &["--json is --format json", "leave out one"]);
    runs.refused(&[A, B, "--unit", "ns"], &["takes no figure", "units: B/s"]);
    runs.refused(&[A, B, "--filter", "scenario:("], &["the filter `scenario:(`, character 11: behind \"scenario:\""]);
    runs.refused(&[A, B, "--filter", "depth:16"], &["character 1: there is no key \"depth\" here"]);
    let ended = runs.compare(&[A, B, "--unit", "parrots"]);
    assert!(ended.status == Some(2) && ended.err.contains("unknown unit \"parrots\"; known are"), "{}", ended.err);
    let ended = runs.compare(&[A, B, "--unit", "GB/s"]);
    assert!(ended.err.contains("unknown unit \"GB/s\" (did you mean \"B/s\"?)"), "{}", ended.err);
    runs.refused(&[A, "--only", "worse"], &["--only takes two runs"]);
}

#[test]
fn several_keys_make_the_name_of_a_line_or_a_column() {
    let runs = Runs::new();
    let with_axes = |id: &str, factor: f64| {
        let names = ["read 1 × 1", "read 1 × 8", "read 4 × 1", "read 4 × 8"];
        let mut run = runs.run(id, &names.map(|name| (name, factor)));
        for (scenario, name) in run.run["suite"]["scenarios"].as_array_mut().unwrap().iter_mut().zip(names) {
            let (jobs, depth) = name.trim_start_matches("read ").split_once(" × ").unwrap();
            scenario["family"] = json!({ "name": "read JOBS × DEPTH", "point": { "jobs": jobs, "depth": depth } });
        }
        run
    };
    runs.add(&[with_axes(A, 1.0), with_axes(B, 0.5)]);
    let out = |arguments: &[&str]| runs.stand.fine(&[&["compare", A, B], arguments].concat()).out;
    let starts = |text: &str, start: &str| {
        text.lines().any(|line| line.trim_end() == start || line.starts_with(&format!("{start}  ")))
    };
    let text = out(&["--row", "jobs,depth", "--column", "metric"]);
    for label in ["jobs · depth", "1 · 1", "1 · 8", "4 · 1", "4 · 8"] {
        assert!(starts(&text, label), "{label}: {text}");
    }
    // Spaces behind a comma are none of the name.
    assert_eq!(text, out(&["--row", "jobs, depth"]));
    let text = out(&["--row", "metric", "--column", "depth,jobs"]);
    let head = text.lines().find(|line| line.starts_with("metric ")).unwrap();
    assert!(flat(head).ends_with("1 · 1 1 · 4 8 · 1 8 · 4"), "the first key orders first: {text}");
    let text = out(&["--row", "scenario,metric"]);
    assert!(starts(&text, "read 4 × 8 · throughput"), "{text}");
    let csv = out(&["--row", "depth,jobs", "--format", "csv"]);
    assert!(csv.starts_with("section,depth,jobs,column,origin,throughput [B/s],"), "{csv}");
    let json = runs.table(&[A, B, "--row", "depth,jobs"]);
    assert_eq!(json["layout"], json!({ "row": "depth,jobs", "column": "metric" }));

    for (arguments, parts) in [
        (&["--row", "jobs,dpth"][..], &["there is no axis \"dpth\"", "scenario, metric, run, depth, jobs"][..]),
        (&["--row", "jobs,jobs"], &["row \"jobs,jobs\" has \"jobs\" twice"]),
        (&["--row", "jobs,depth", "--column", "depth"], &["both row and column have \"depth\"; they must differ"]),
        (&["--row", "jobs,"], &["row \"jobs,\": a key is missing"]),
        (&["--row", "jobs,run"], &["runs can only be columns, alone"]),
        (&["--row", "jobs", "--column", "run"], &["runs can only be columns, alone", "\"scenario,metric\""]),
    ] {
        runs.refused(&[&[A, B], arguments].concat(), parts);
    }
}

#[test]
fn scenarios_without_an_axis_that_is_laid_out_are_counted_and_named() {
    let runs = Runs::new();
    let with_axis = |id: &str, factor: f64| {
        let names = ["kuznyechik", "magma", "copy", "pipe"];
        let mut run = runs.run(id, &names.map(|name| (name, factor)));
        for scenario in &mut run.run["suite"]["scenarios"].as_array_mut().unwrap()[..2] {
            scenario["family"] = json!({ "name": "CIPHER", "point": { "cipher": scenario["name"] } });
        }
        run
    };
    runs.add(&[with_axis(A, 1.0), with_axis(B, 0.5)]);
    let says = "2 of 4 scenarios have no axis \"cipher\" and so no place in this table: \"copy\", \"pipe\"";
    let by_cipher = |more: &[&str]| runs.compare(&[&[A, B, "--row", "cipher"], more].concat());
    let ended = by_cipher(&[]);
    assert!(flat(&ended.out).contains(&format!("Note: {says}")) && ended.err.is_empty(), "{}{}", ended.out, ended.err);
    assert_eq!(ended.out.matches("\"copy\"").count(), 1, "{}", ended.out);
    let ended = by_cipher(&["--format", "md"]);
    assert!(ended.out.contains(&format!("- Note: {says}")), "{}", ended.out);
    let ended = by_cipher(&["--format", "csv"]);
    assert!(ended.err.contains(says) && !ended.out.contains("no axis"), "{}{}", ended.out, ended.err);
    // JSON has every row all the same.
    assert_eq!(runs.table(&[A, B, "--row", "cipher"])["rows"].as_array().map(Vec::len), Some(4));

    for all_have_it in [&["--filter", "cipher:*"][..], &["--format", "md", "--filter", "cipher:*"]] {
        let ended = by_cipher(all_have_it);
        assert!(ended.status == Some(0) && !ended.out.contains("no axis"), "{}{}", ended.out, ended.err);
    }
    for none_has_it in [&["--filter", "scenario:copy"][..], &["--filter", "scenario:copy", "--only", "better"]] {
        for (format, sentence) in [("table", "No row is shown."), ("md", "")] {
            let ended = by_cipher(&[none_has_it, &["--format", format]].concat());
            assert!(
                flat(&ended.out).contains("1 of 1 scenario has no axis \"cipher\"")
                    && ended.out.contains(sentence)
                    && !ended.out.contains("Nothing was measured"),
                "{}{}",
                ended.out,
                ended.err
            );
        }
    }
}

/// On a telephone, or in half a window: what has no room is named and left out.
#[test]
fn nothing_is_wider_than_forty_columns() {
    let runs = Runs::new();
    let name = "a scenario with a rather long name, longer than a line is";
    let run = |id: &str, factor: f64| runs.run(id, &[(name, factor), ("x", 23.0)]).of_suite("a-suite-with-a-name");
    runs.add(&[run(A, 1.0), run(B, 1.02)]);
    for arguments in [
        &["compare", A, B][..],
        &["compare", A, B, "--format", "table", "--all-metrics"],
        &["compare", A, B, "--column", "metric"],
        &["compare", A, "vostok-2021", B],
        &["compare", A, B, "--why", "x"],
        &["show", A],
        &["list"],
        &["history", "x"],
    ] {
        let ended = crate::common::ended(runs.stand.command(arguments).env("COLUMNS", "40"));
        assert_eq!(ended.status, Some(0), "{arguments:?}: {}", ended.err);
        let wide: Vec<&str> = ended.out.lines().filter(|line| line.chars().count() > 40).collect();
        assert!(wide.is_empty(), "{arguments:?}: {wide:#?}");
    }
    let out = |arguments: &[&str]| crate::common::ended(runs.stand.command(arguments).env("COLUMNS", "40")).out;
    assert!(
        flat(&out(&["compare", A, B])).contains("no room here for: 95 % interval of change"),
        "{}",
        out(&["compare", A, B])
    );
    assert!(out(&["list"]).contains("no room here for: ") && out(&["list"]).contains(A), "{}", out(&["list"]));
}

#[test]
fn the_order_of_metrics_is_no_part_of_the_work() {
    let runs = Runs::new();
    let with_time = |id: &str, turned: bool| {
        let mut run = runs.run(id, &[("x", 1.0)]);
        let metrics = run.run["suite"]["scenarios"][0]["metrics"].as_array_mut().unwrap();
        metrics.push(json!({ "name": "time", "value": "wall", "unit": "s", "better": "lower" }));
        if turned {
            metrics.reverse();
        }
        run
    };
    runs.add(&[with_time(A, false), with_time(B, true)]);
    let table = runs.table(&[A, B]);
    assert_eq!(verdicts(&table), ["same", "same"], "{table}");
    assert!(table["notes"].as_array().unwrap().iter().all(|note| note["kind"] != "other_work"), "{table}");
    // What a metric is computed from is.
    let mut other = with_time(C, false);
    other.run["suite"]["scenarios"][0]["metrics"][1]["value"] = json!("cpu");
    runs.add(&[other]);
    assert_eq!(verdicts(&runs.table(&[A, C])), ["none", "none"]);
}

#[test]
fn formats_have_two_names_where_two_are_used() {
    let runs = Runs::new();
    runs.add(&[runs.run(A, &[("x", 1.0)]), runs.run(B, &[("x", 0.5)])]);
    let print = |arguments: &[&str]| runs.stand.fine(arguments).out;
    assert_eq!(print(&["compare", A, B, "--format", "md"]), print(&["compare", A, B, "--format", "markdown"]));
    assert_eq!(
        print(&["report", A, "-o", "-", "--format", "md"]),
        print(&["report", A, "-o", "-", "--format", "markdown"])
    );
    for (command, all) in [
        ("compare", "table, md, csv, json"),
        ("history", "table, md, csv, json, svg, html"),
        ("report", "html, md, csv, json, svg"),
    ] {
        let help = flat(&print(&[command, "--help"]));
        assert!(help.contains("or: markdown"), "{help}");
        let ended = runs.stand.run(&[command, A, "--format", "mrkdown"]);
        assert_eq!((ended.status, ended.err.trim().lines().count()), (Some(2), 1), "{}", ended.err);
        assert!(
            ended.err.contains(&format!("invalid value 'mrkdown' for '--format <FORMAT>' [possible values: {all}]")),
            "{}",
            ended.err
        );
    }
}

/// What goes to no terminal is as wide as COLUMNS says.
#[test]
fn tables_keep_to_the_width_that_there_is() {
    let runs = Runs::new();
    let scenarios =
        [("4k random read, one job at depth 1", 1.0), ("4k random write, eight jobs at depth 16", 1.0), ("copy", 1.0)];
    runs.add(&[
        runs.run(A, &scenarios),
        runs.run(B, &scenarios.map(|(name, middle)| (name, 0.7 * middle))),
        runs.run(C, &scenarios),
    ]);
    let wide = |columns: usize, arguments: &[&str]| {
        let ended = crate::common::ended(runs.stand.command(arguments).env("COLUMNS", columns.to_string()));
        assert_eq!(ended.status, Some(0), "{}", ended.err);
        assert!(!ended.out.contains('\u{1b}'), "{}", ended.out);
        let width = |line: &str| line.chars().count();
        for line in ended.out.lines() {
            assert!(
                width(line) <= columns,
                "{arguments:?} at {columns}: {} columns: {line}\n{}",
                width(line),
                ended.out
            );
        }
        ended.out
    };
    for arguments in [
        &["compare", A, B][..],
        &["compare", A, B, "--all-metrics"],
        &["compare", A, B, C],
        &["compare", A, B, "--row", "metric"],
        &["compare", A, B, "--why", "copy"],
        &["show", A, "--repeats"],
        &["history", "copy"],
    ] {
        for columns in [60, 80, 200] {
            wide(columns, arguments);
        }
    }
    // An id says when a run began, where there is no room for more.
    assert!(wide(120, &["list"]).contains("2026-03-01 00:00:00") && !wide(80, &["list"]).contains("2026-03-01"));
    assert!(wide(200, &["compare", A, B]).lines().count() < wide(60, &["compare", A, B]).lines().count());
}

#[test]
fn a_threshold_is_crossed_only_beyond_itself() {
    let runs = Runs::new();
    runs.add(&[runs.run(A, &[("x", 1.0), ("y", 1.0)]), runs.run(B, &[("x", 1.04), ("y", 0.5)])]);
    let status = |arguments: &[&str]| {
        let ended = runs.compare(&[&[A, B], arguments].concat());
        assert!(
            ended.out.contains("throughput") || ended.out.contains('▽') || ended.out.contains('△'),
            "{}",
            ended.out
        );
        ended.status.unwrap()
    };
    for (arguments, wanted) in [
        (&["--fail-on", "hollow-worse"][..], 1),
        (&["--fail-on", "hollow-worse:5%"], 0),
        (&["--fail-on", "hollow-worse:1%"], 1),
        (&["--fail-on", "hollow-different:5%"], 1),
        (&["--fail-on", "hollow-different:150%"], 0),
        (&["--fail-on", "hollow-worse", "--filter", "scenario:y"], 0),
        // What is not shown fails all the same.
        (&["--fail-on", "hollow-worse", "--only", "better"], 1),
        (&["--fail-on", "hollow-worse", "--format", "csv"], 1),
        // Nothing here was measured in turns, so that nothing could fail.
        (&["--fail-on", "worse"], 2),
    ] {
        assert_eq!(status(arguments), wanted, "{arguments:?}");
    }
    // Nothing crosses it, but not because all is well.
    runs.add(&[runs.mould.run(C, &[("x", times(1.0, 0.1, 10)), ("y", times(1.0, 0.1, 10))])]);
    let ended = runs.compare(&[A, C, "--fail-on", "hollow-worse"]);
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    assert!(ended.err.contains("nothing crossed it, but 2 of 2 figures are unresolved"), "{}", ended.err);
    let ended = runs.compare(&[A, B, "--fail-on", "worse:5"]);
    assert!(
        ended.status == Some(2) && ended.err.contains("5 without % is 5 times the base; write 5%"),
        "{}",
        ended.err
    );
    let ended = runs.compare(&[A, B, "--fail-on", "worst"]);
    assert!(ended.status == Some(2) && ended.err.contains("write worse, different"), "{}", ended.err);
    runs.refused(&[A, "--fail-on", "worse"], &["--fail-on takes two runs"]);
}

#[test]
fn a_verdict_says_what_it_rests_on() {
    let runs = Runs::new();
    let mut with_floor = runs.run(B, &[("x", 1.0)]);
    with_floor.run["suite"]["scenarios"][0]["metrics"][0]["floor"] = json!("2%");
    runs.add(&[
        runs.run(A, &[("x", 1.0), ("y", 1.0), ("z", 1.0)]),
        with_floor,
        runs.run(C, &[("x", 1.0), ("y", 0.5), ("z", 1.1)]).in_sessions(2),
    ]);
    let table = runs.table(&[A, C]);
    let against = |row: usize| &table["rows"][row]["cells"][1]["against_base"];
    let number = |value: &Value| value.as_f64().unwrap();
    let better = against(1);
    assert_eq!(
        ["verdict", "reason", "design", "counted"].map(|field| better[field].as_str().unwrap()),
        ["better", "beyond_floor", "one_after_the_other", "repeats"],
        "{better}"
    );
    assert!(number(&better["p"]) > 0.0 && number(&better["p"]) <= number(&better["q"]), "{better}");
    assert_eq!((&better["base_count"], &better["own_count"]), (&json!(10), &json!(10)));
    assert!((0.01..0.1).contains(&number(&better["visible"])), "{better}");
    let csv = runs.stand.fine(&["compare", A, C, "--format", "csv"]).out;
    let field = |line: &str, name: &str| {
        let place = csv.lines().next().unwrap().split(',').position(|head| head == name).unwrap();
        line.split(',').nth(place).unwrap().to_owned()
    };
    let line = csv.lines().find(|line| line.starts_with("y,") && line.contains(C)).unwrap();
    for name in ["reason", "design", "counted"] {
        assert_eq!(field(line, name), better[name].as_str().unwrap());
    }
    assert_eq!(field(line, "p").parse::<f64>().unwrap(), number(&better["p"]));
    assert_eq!(field(line, "mark"), "△");
    assert_eq!((field(line, "base_count"), field(line, "own_count")), ("10".into(), "10".into()));
    // The suite's own floor.
    let table = runs.table(&[B, A]);
    assert_eq!(table["rows"][0]["cells"][1]["against_base"]["floor"], json!(0.02));
}

#[test]
fn one_figure_is_explained_in_words() {
    let runs = Runs::new();
    runs.add(&[
        runs.run(A, &[("copy, small", 1.0), ("copy, large", 1.0), ("pipe", 1.0)]),
        runs.run(B, &[("copy, small", 0.5), ("copy, large", 1.0), ("pipe", 1.0)]),
    ]);
    let why = |of: &str| flat(&runs.stand.fine(&["compare", A, B, "--why", of]).out);
    let better = why("small");
    for part in [
        "copy, small · throughput, in B/s, higher is better",
        "△ better Better than the base",
        "measured one after the other",
        "yes enough repeats of each side: 10 and 10",
        "yes t-test: the difference is more than δ = 1.0 %, q < 0.05: q <",
        "one of 3 tests",
        "yes the whole 95 % interval beyond δ: × 2.00",
        "– or else the whole interval within δ",
    ] {
        assert!(better.contains(part), "`{part}` is not in:\n{better}");
    }
    let same = why("pipe:throughput");
    assert!(same.contains("~ same") && same.contains("yes or else the whole interval within δ"), "{same}");
    runs.refused(&[A, B, "--why", "copy"], &["\"copy\" is a part of several scenarios' names"]);
    runs.refused(&[A, B, "--why", "pope"], &["there is no scenario \"pope\" here (did you mean \"pipe\"?)"]);
    runs.refused(&[A, B, "--why", "pipe:latency"], &["\"pipe\" has no metric \"latency\"; it has \"throughput\""]);
    runs.refused(&[A, "--why", "pipe"], &["--why \"pipe\" takes two runs or more"]);
}

#[test]
fn machines_are_weighed_by_what_they_draw_and_cost() {
    let runs = Runs::new();
    runs.add(&[runs.run(A, &[("x", 1.0)]).on("heavy"), runs.run(B, &[("x", 2.0)]).on("light")]);
    let file = runs.stand.path().join("machines.toml");
    let path = file.to_str().unwrap();
    let text = |light: &str| {
        format!(
            "[[machine]]\nname = \"heavy\"\npower = {{ loaded = 40, of = \"the whole\", source = \"wattmeter\" }}\n\
             [[machine]]\nname = \"light\"\npower = {{ loaded = {light}, of = \"the whole\", source = \"wattmeter\" }}\n"
        )
    };
    std::fs::write(&file, text("10")).unwrap();
    // Half the throughput for a quarter of the watts.
    let table = runs.table(&[A, B, "--machines", path]);
    let cells = &table["weighings"][0]["rows"][0]["cells"];
    let number = |cell: usize, field: &str| cells[cell][field].as_f64().unwrap();
    assert!(
        (number(0, "value") / 25e6 - 1.0).abs() < 0.01 && (number(1, "value") / 50e6 - 1.0).abs() < 0.01,
        "{cells}"
    );
    assert!((number(1, "factor") - 2.0).abs() < 0.02, "{cells}");
    let out = flat(&runs.stand.fine(&["compare", A, B, "--machines", path]).out);
    for part in [
        "Per watt: the whole",
        "MB/s / W",
        "light 20260201-0000-000b: 10 W, the whole (wattmeter)",
        "there is no verdict",
    ] {
        assert!(out.contains(part), "{part}: {out}");
    }
    let markdown = runs.stand.fine(&["compare", A, B, "--machines", path, "--format", "markdown"]).out;
    assert!(markdown.contains("**Per watt: the whole**") && markdown.contains("MB/s / W, × 2.0"), "{markdown}");
    let csv = runs.stand.fine(&["compare", A, B, "--machines", path, "--format", "csv"]).out;
    assert!(
        csv.lines().next().unwrap().ends_with(",per_watt,per_price,per_kilogram") && csv.contains("B/s / W, the whole"),
        "{csv}"
    );
    // Found without being named.
    let configuration = runs.stand.path().join("configuration/stend/machines");
    std::fs::create_dir_all(&configuration).unwrap();
    std::fs::copy(&file, configuration.join("ours.toml")).unwrap();
    let mut command = runs.stand.command(&["compare", A, B]);
    let ended = crate::common::ended(command.env("XDG_CONFIG_HOME", runs.stand.path().join("configuration")));
    assert!(ended.out.contains("Per watt: the whole"), "{}", ended.out);
    std::fs::write(&file, text("0")).unwrap();
    runs.refused(&[A, B, "--machines", path], &["machines.toml:5:8: machine \"light\": a power of 0 W is none"]);
    std::fs::write(&file, text("10").replace("light", "else").replace("heavy", "other")).unwrap();
    runs.refused(
        &[A, B, "--machines", path],
        &["machines.toml has none of the machines that are compared: heavy, light"],
    );
    runs.refused(&[A, B, "--machines", "nowhere.toml"], &["nowhere.toml cannot be read"]);
}

#[test]
fn runs_and_values_that_cannot_be_compared_are_said_to() {
    let runs = Runs::new();
    let base = runs.run(A, &[("x", 1.0)]).on("pc");
    let mut cases: Vec<(Forged, &str, &str)> = Vec::new();
    let mut unit = runs.run("20260201-0000-0001", &[("x", 1.0)]);
    unit.run["suite"]["scenarios"][0]["metrics"][0] =
        json!({ "name": "throughput", "value": "wall", "unit": "s", "better": "lower" });
    cases.push((
        unit,
        "none",
        "name = throughput, value = bytes/wall, unit = B/s → name = throughput, value = wall, unit = s",
    ));
    cases.push((runs.mould.run("20260201-0000-0002", &[("x", vec![1.0])]), "unresolved", "fewer than 5 repeats"));
    cases.push((
        runs.mould.run("20260201-0000-0003", &[("x", vec![1.0; 10])]),
        "same",
        "are the same on this scenario",
    ));
    cases.push((runs.mould.run("20260201-0000-0004", &[("x", vec![2.0; 10])]), "worse", "is slower than"));
    for (id, bytes) in [("20260201-0000-0005", 0.0), ("20260201-0000-0006", -1e6)] {
        let mut bad = runs.run(id, &[("x", 1.0)]);
        bad.repeats[3]["report"]["work"]["bytes"] = json!(bytes);
        cases.push((bad, "unresolved", "on \"x\": a value is zero or negative, and has no ratio"));
    }
    // What is divided by nothing is no number.
    let mut infinite = runs.run("20260201-0000-0007", &[("x", 1.0)]);
    infinite.repeats.iter_mut().for_each(|repeat| repeat["report"]["wall_ns"] = json!(0));
    cases.push((infinite, "none", "bytes/wall"));
    let ids: Vec<String> = cases.iter().map(|(run, ..)| run.run["id"].as_str().unwrap().to_owned()).collect();
    runs.add(&[base]);
    for ((run, verdict, said), id) in cases.into_iter().zip(&ids) {
        runs.add(&[run.on("pc")]);
        assert_eq!(verdicts(&runs.table(&[A, id])), [verdict], "{id}");
        let out = runs.stand.fine(&["compare", A, id]).out;
        assert!(flat(&out).contains(said), "{said}:\n{out}");
        assert!(!out.contains("NaN") && !out.contains("inf"), "{out}");
        // None of these says how many repeats would settle it: of a single one no spread is known.
        let markdown = runs.stand.fine(&["compare", A, id, "--format", "markdown"]).out;
        for text in [&out, &markdown] {
            assert!(!text.contains("settle") && !flat(text).contains("ublished figure"), "{text}");
        }
    }
    // Where nothing is judged a sentence says why, on the terminal and on the page.
    let (unit, infinite) = (&ids[0], &ids[6]);
    for (id, says) in [
        (unit, "no scenario did the same work in both; the notes say in what it differs."),
        (infinite, "no scenario has a figure in both."),
    ] {
        let sentence = format!("Nothing can be said between pc {id} and pc {A}: {says}");
        let out = flat(&runs.stand.fine(&["compare", A, id]).out);
        assert!(out.contains(&sentence), "{out}");
        let page = runs.stand.fine(&["report", A, id, "-o", "-"]).out.replace('\u{a0}', " ");
        assert!(page.contains(&sentence), "the page lacks: {sentence}");
        assert!(page.contains(&format!("Между pc {id} и pc {A} ничего сказать нельзя: ")), "nor is it in Russian");
    }
    // Another unit, too few repeats, and a value that has no ratio.
    for id in [&ids[0], &ids[1], &ids[4], &ids[5]] {
        runs.refused(&[A, id, "--fail-on", "hollow-worse"], &["no figure of these runs can be judged"]);
    }
    assert_eq!(runs.compare(&[A, &ids[2], "--fail-on", "hollow-worse"]).status, Some(0));
    runs.add(&[runs.run(B, &[("z", 1.0)])]);
    runs.refused(&[A, B], &["no scenario in common"]);
    runs.refused(&[A, A], &["is named twice"]);
    let ended = runs.stand.run(&["report", A, A]);
    assert_eq!((ended.status, ended.err.trim().lines().count()), (Some(2), 1), "{}", ended.err);
    assert!(ended.err.contains(&format!("run {A} is named twice")), "{}", ended.err);
    runs.refused(
        &["vostok-2020", "vostok-2021"],
        &["references cannot be compared with one another", "name a run first"],
    );
    runs.refused(&[A, "vostok-2021"], &["vostok-2021 has no figure that", A, "nothing to compare"]);
    let out = flat(&runs.stand.fine(&["compare", A, &ids[2], "vostok-2021"]).out);
    assert!(out.contains("vostok-2021 has no figure that is compared here"), "{out}");
    runs.stand.fine(&["compare", A]);
    // JSON has no NaN, so a file with one is no export.
    let file = runs.stand.path().join("nan.gz");
    let mut nan = runs.run(C, &[("x", 1.0)]);
    nan.repeats[0]["report"]["work"]["bytes"] = Value::Null;
    nan.write(&file);
    let ended = runs.stand.run(&["import", file.to_str().unwrap()]);
    assert!(ended.status == Some(2) && ended.err.contains("is no run exported by stend: line 3"), "{}", ended.err);
}
