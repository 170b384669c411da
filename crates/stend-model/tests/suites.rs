//! What a person who writes a suite relies on: what it expands to, and what is said when it is wrong.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use proptest::prelude::*;
use stend_model::suite::{Ceiling, Changes, Gate, Instrument, Key, Suite, SuiteError};

const HEAD: &str = "name = \"t\"\ntitle = \"a test\"\n";
const METRICS: &str =
    "metrics = [{ name = \"throughput\", value = \"bytes/wall\", unit = \"B/s\", better = \"higher\" }]\n";

fn parse(text: &str) -> Result<Suite, SuiteError> {
    parse_with(text, &Changes::default())
}

fn parse_with(text: &str, changes: &Changes) -> Result<Suite, SuiteError> {
    Suite::parse(text, "t.toml", Path::new("/suites"), changes)
}

fn scenario(rest: &str) -> String {
    format!("{HEAD}[[scenario]]\nname = \"s\"\ninstrument = \"stend-probe copy\"\n{METRICS}{rest}")
}

/// The message, which must name the line.
fn complaint(text: &str, line: usize) -> String {
    let error = parse(text).expect_err(text);
    let said = error.to_string();
    assert!(said.starts_with(&format!("t.toml:{line}:")), "{said}\n{text}");
    assert!(!said.contains('\n'), "one line: {said}");
    said
}

#[test]
fn a_matrix_makes_a_scenario_of_each_combination_that_is_not_excluded() {
    let text = format!(
        "{HEAD}[variables]\nseconds = \"0.2\"\n[[scenario]]\nname = \"{{cipher}} {{size}}\"\nmeasures = \"{{cipher}}, blocks\"\n\
         instrument = \"stend-probe cipher\"\n\
         parameters = {{ cipher = \"{{cipher}}\", size = \"{{size}}\", seconds = \"{{seconds}}\" }}\n\
         exclude = [{{ cipher = \"magma\", size = \"64KiB\" }}]\n{METRICS}\
         [scenario.matrix]\ncipher = [\"kuznyechik\", \"magma\"]\nsize = {{ from = \"4k\", to = \"64k\", times = 4 }}\n"
    );
    let suite = parse(&text).unwrap();
    let names: Vec<_> = suite.scenarios.iter().map(|scenario| scenario.name.as_str()).collect();
    assert_eq!(names, ["kuznyechik 4KiB", "kuznyechik 16KiB", "kuznyechik 64KiB", "magma 4KiB", "magma 16KiB"]);
    let first = &suite.scenarios[0];
    assert_eq!(first.instrument, Instrument::Probe("cipher".into()));
    assert_eq!(first.parameters["seconds"], "0.2");
    assert_eq!(first.measures.as_deref(), Some("kuznyechik, blocks"));
    let family = first.family.as_ref().unwrap();
    assert_eq!(family.name, "cipher size", "nothing but axes");
    assert_eq!(family.point, [("cipher", "kuznyechik"), ("size", "4KiB")].map(|(a, b)| (a.into(), b.into())).into());
    assert!(parse(&scenario("")).unwrap().scenarios[0].family.is_none());
}

#[test]
fn a_suite_says_how_its_table_is_laid_out() {
    let with = |table: &str, rest: &str| scenario(rest).replace(HEAD, &format!("{HEAD}table = {table}\n"));
    let parsed = parse(&with("{ column = \"metric\" }", "")).unwrap().table.unwrap();
    assert_eq!((parsed.row, parsed.column, parsed.metrics.len()), (Key::Scenario.into(), Key::Metric.into(), 0));
    let parsed = parse(
        &with("{ row = \"a, b\", column = \"metric\" }", "matrix = { a = [1, 2], b = [3, 4] }\n")
            .replace("name = \"s\"", "name = \"s {a} {b}\""),
    );
    let row = parsed.unwrap().table.unwrap().row;
    assert_eq!((row.to_string().as_str(), serde_json::to_string(&row).unwrap().as_str()), ("a,b", "\"a,b\""));
    assert_eq!(parse(&scenario("")).unwrap().table, None);
    let axes = "matrix = { a = [1, 2] }\n";
    for (table, parts) in [
        ("{ column = \"metric\", metrics = [\"speed\"] }", ["no scenario has a metric \"speed\"", "throughput"]),
        ("{ column = \"a\" , row = \"b\" }", ["there is no axis \"b\"", "metric, run, a"]),
        ("{ row = \"metric\", column = \"metric\" }", ["both row and column", "must differ"]),
        ("{ row = \"metric\" }", ["runs can only be columns", "row \"scenario\""]),
        ("{ row = \"run\", column = \"metric\" }", ["runs can only be columns", "all runs"]),
        ("{ row = \"scenario\", column = \"run,metric\" }", ["runs can only be columns, alone", "\"scenario,metric\""]),
        ("{ row = \"a,a\", column = \"metric\" }", ["row \"a,a\" has \"a\" twice", "t.toml"]),
        ("{ row = \"a,metric\", column = \"scenario,a\" }", ["both row and column have \"a\"", "must differ"]),
        ("{ row = \"a,,metric\", column = \"scenario\" }", ["row \"a,,metric\": a key is missing", "depth,jobs"]),
        ("{ row = \"a,b\", column = \"metric\" }", ["there is no axis \"b\"", "metric, run, a"]),
    ] {
        let text = with(table, axes).replace("name = \"s\"", "name = \"s {a}\"");
        let message = complaint(&text, 3);
        assert!(parts.iter().all(|part| message.contains(part)), "{message}");
    }
}

/// A suite of these scenarios in this order, all run by fio.
fn sequence(order: &str, scenarios: &[(&str, &str)]) -> String {
    let one = |(name, rest): &(&str, &str)| {
        format!("[[scenario]]\nname = \"{name}\"\ninstrument = \"fio\"\n{METRICS}{rest}\n")
    };
    format!("{HEAD}order = \"{order}\"\n") + &scenarios.iter().map(one).collect::<String>()
}

#[test]
fn what_depends_on_another_scenario_comes_after_it() {
    let rate = |name: &str| {
        format!("rate = {{ of = \"{name}\", share = \"{{load}}\" }}\nmatrix = {{ load = [\"50%\", \"90%\"] }}")
    };
    let rate = rate("read");
    let scenarios = [
        ("fill", "precondition = true\nrepeats = 2"),
        ("read", "steady = {}\nrepeats = 7"),
        ("read at {load}", rate.as_str()),
    ];
    let text = sequence("grouped", &scenarios);
    let suite = parse(&text).unwrap();
    let counts: Vec<_> = suite.scenarios.iter().map(|scenario| (scenario.warmup, scenario.repeats)).collect();
    assert_eq!(counts, [(2, 0), (25, 7), (1, 10), (1, 10)]);
    let rate = suite.scenarios[3].rate.as_ref().unwrap();
    assert_eq!((rate.of.as_str(), rate.share.0), ("read", 0.9));
    assert_ne!(suite.scenarios[2].identity(), suite.scenarios[3].identity(), "another rate is other work");
    // What is chosen by name brings along what it needs, and more repeats of it do not prepare more often.
    let only = |name: &str| {
        let changes = Changes { only: vec![name.into()], repeats: Some(1), ..Changes::default() };
        let suite = parse_with(&text, &changes).unwrap();
        suite
            .scenarios
            .iter()
            .map(|scenario| (scenario.name.clone(), scenario.warmup, scenario.repeats))
            .collect::<Vec<_>>()
    };
    assert_eq!(only("90%"), [("fill".into(), 2, 0), ("read".into(), 25, 1), ("read at 90%".into(), 1, 1)]);
    let chained = [
        ("fill", "precondition = true"),
        ("read", ""),
        ("open", "rate = { of = \"read\", share = \"90%\" }"),
        ("aside", ""),
        ("half of it", "rate = { of = \"open\", share = \"50%\" }"),
    ];
    let changes = Changes { only: vec!["half".into()], ..Changes::default() };
    let suite = parse_with(&sequence("grouped", &chained), &changes).unwrap();
    let names: Vec<_> = suite.scenarios.iter().map(|scenario| scenario.name.as_str()).collect();
    assert_eq!(names, ["fill", "read", "open", "half of it"], "of a rate that is a share of a rate itself");

    let read = ("read", "");
    for (order, scenarios, line, part) in [
        ("shuffled", &[("fill", "precondition = true")][..], 4, "\"precondition\" needs order = \"grouped\""),
        ("interleaved", &[("s", "steady = {}")], 4, "\"steady\" needs order = \"grouped\""),
        ("grouped", &[("s", "rate = { of = \"read\", share = \"50%\" }"), read], 4, "no scenario before it"),
        (
            "grouped",
            &[("fill", "precondition = true"), ("s", "rate = { of = \"fill\", share = 0.5 }")],
            9,
            "only prepares",
        ),
        ("grouped", &[read, ("s", "rate = { of = \"read\", share = \"120%\" }")], 9, "above 0% and at most 100%"),
        ("grouped", &[read, ("s", "rate = { of = \"read\", share = \"a lot\" }")], 9, "a lot"),
        ("grouped", &[("s", "steady = {}\nwarmup = 1")], 4, "both \"steady\" and \"warmup\""),
        ("grouped", &[("s", "steady = {}\nprecondition = true")], 4, "both \"precondition\" and \"steady\""),
        ("grouped", &[("s", "steady = { rounds = 2 }")], 4, "3 or more"),
        ("grouped", &[("s", "steady = { most = 4 }")], 4, "at least as many"),
        ("grouped", &[("s", "steady = { range = \"0%\" }")], 4, "the range 0%"),
    ] {
        let message = complaint(&sequence(order, scenarios), line);
        assert!(message.contains(part), "{message}");
    }
    let text =
        sequence("grouped", &[read, ("s", "rate = { of = \"read\", share = \"50%\" }")]).replace("\"fio\"", "\"gzip\"");
    assert!(complaint(&text, 9).contains("an instrument that can keep one: \"fio\""));
}

#[test]
fn variables_can_be_set_and_unknown_ones_are_refused() {
    let text = format!("{}parameters = {{ size = \"{{size}}\" }}\n", scenario(""))
        .replace("title", "variables = { size = \"4k\" }\ntitle");
    let set = |name: &str| Changes { variables: BTreeMap::from([(name.into(), "8k".into())]), ..Changes::default() };
    assert_eq!(parse(&text).unwrap().scenarios[0].parameters["size"], "4k");
    assert_eq!(parse_with(&text, &set("size")).unwrap().scenarios[0].parameters["size"], "8k");
    let message = parse_with(&text, &set("sise")).unwrap_err().to_string();
    assert!(message.contains("\"sise\"") && message.contains("\"size\""), "{message}");
}

#[test]
fn the_scale_makes_named_sizes_and_durations_smaller_and_says_so() {
    let text = format!(
        "{HEAD}scale = {{ sizes = [\"size\"], durations = [\"runtime\"] }}\n[[scenario]]\nname = \"s\"\ninstrument = \"fio\"\n\
         parameters = {{ size = \"500GB\", runtime = \"2400s\", bs = \"4k\" }}\n{METRICS}"
    );
    let scaled = |scale| parse_with(&text, &Changes { scale: Some(scale), ..Changes::default() });
    let suite = scaled(0.001).unwrap();
    let parameters = &suite.scenarios[0].parameters;
    assert_eq!((suite.scale, parameters["runtime"].as_str(), parameters["bs"].as_str()), (0.001, "2s", "4k"));
    assert_eq!(parameters["size"], "477MiB");
    assert_eq!(scaled(1e-9).unwrap().scenarios[0].parameters["size"], "1MiB", "never nothing");
    assert_eq!(scaled(1.0).unwrap().scenarios[0].parameters["size"], "500GB", "as it stands");
    assert!(scaled(2.0).is_err() && scaled(0.0).is_err() && scaled(f64::NAN).is_err());
    let message =
        parse_with(&scenario(""), &Changes { scale: Some(0.5), ..Changes::default() }).unwrap_err().to_string();
    assert!(message.contains("[scale]"), "{message}");
}

#[test]
fn defaults_come_from_the_suite_and_then_from_the_rule_book() {
    let suite = parse(&format!(
        "repeats = 7\ngates = {{ steal = \"2%\", foreign_cpu = \"off\" }}\n{}gates = {{ steal = 0.5 }}\n",
        scenario("")
    ))
    .unwrap();
    let scenario = &suite.scenarios[0];
    assert_eq!((scenario.repeats, scenario.warmup, suite.sample_hertz), (7, 1, 10));
    assert_eq!(scenario.gates.steal, Some(Gate::Limit(0.5)));
    assert_eq!(scenario.gates.foreign_cpu, Some(Gate::Off));
    assert_eq!(scenario.gates.frequency_fall, Some(Gate::Limit(0.03)));
}

#[test]
fn scenarios_can_share_their_metrics() {
    let set = METRICS.replace("metrics =", "s =");
    let text = scenario("metric_set = \"s\"\n").replace(METRICS, "") + "[metric_sets]\n" + &set;
    assert_eq!(parse(&text).unwrap().scenarios, parse(&scenario("")).unwrap().scenarios);
}

#[test]
fn what_is_wrong_where_and_what_would_be_right() {
    for (text, line, parts) in [
        (format!("{HEAD}colour = \"red\"\n"), 3, vec!["unknown field `colour`", "scenario"]),
        (scenario("reapeats = 3\n"), 7, vec!["unknown field `reapeats`", "repeats"]),
        (scenario("").replace("B/s", "furlongs"), 6, vec!["furlongs", "cycles/B"]),
        (scenario("").replace("B/s", "ns"), 3, vec!["the unit ns does not fit", "B/s would"]),
        (scenario("").replace("bytes/wall", "a/b/c"), 6, vec!["a/b/c", "bytes/cpu"]),
        (scenario("matrix = { x = { from = 9, to = 1, step = 1 } }\n"), 7, vec!["axis \"x\"", "9 down to 1"]),
        (scenario("matrix = { x = { from = 1, to = 9, step = 0 } }\n"), 7, vec!["never end"]),
        (scenario("matrix = { x = { from = 1, to = 9, step = 1, times = 2 } }\n"), 7, vec!["either"]),
        (scenario("matrix = { x = { from = \"4 parsecs\", to = 9, times = 2 } }\n"), 7, vec!["parsecs", "64KiB"]),
        (scenario("matrix = { x = { from = 0, to = 99999999, step = 1 } }\n"), 7, vec!["10000"]),
        (scenario("matrix = { x = [] }\n"), 7, vec!["empty"]),
        (scenario("matrix = { x = [1, 2] }\n"), 3, vec!["two scenarios are called \"s\"", "braces"]),
        (scenario("parameters = { size = \"{sise}\" }\n"), 3, vec!["{sise}", "there are: suite_directory"]),
        (scenario("exclude = [{ y = 1 }]\n"), 3, vec!["\"y\"", "no axis"]),
        (scenario("command = [\"x\"]\n"), 3, vec!["both"]),
        (scenario("metric_set = \"x\"\n"), 3, vec!["both"]),
        (scenario("metric_set = \"x\"\n").replace(METRICS, ""), 3, vec!["no metric set \"x\""]),
        (scenario("").replace(METRICS, ""), 3, vec!["neither"]),
        (scenario("").replace("\"higher\"", "\"higher\", optional = true"), 3, vec!["main one", "cannot be optional"]),
        (scenario("repeats = 0\n"), 7, vec!["at least 1"]),
        (scenario("timeout = \"soon\"\n"), 7, vec!["\"soon\"", "30s"]),
        (scenario("timeout = \"0s\"\n"), 3, vec!["\"timeout\" is", "1ms to 365d"]),
        (scenario("expected = \"10000000000000000000s\"\n"), 3, vec!["\"expected\"", "365d"]),
        (scenario("repeats = 4000000000\n"), 3, vec!["more than 100000"]),
        (scenario("gates = { steal = \"much\" }\n"), 7, vec!["\"much\"", "\"off\""]),
        (scenario("").replace("stend-probe copy", "fioo"), 3, vec!["unknown instrument \"fioo\"", "\"fio\""]),
        (format!("sample_hertz = 1000\n{}", scenario("")), 1, vec!["sample_hertz", "100"]),
        (format!("{HEAD}scenario = []\n"), 1, vec!["at least one"]),
        ("name = \n".into(), 1, vec!["t.toml:1:8"]),
    ] {
        let message = complaint(&text, line);
        for part in parts {
            assert!(message.contains(part), "`{part}` is not in: {message}");
        }
    }
}

#[test]
fn what_a_suite_makes_of_little_text_is_bounded() {
    let range = "{ from = 1, to = 1000, step = 1 }";
    let long = "x".repeat(1000);
    let variable = format!("variables = {{ v = \"{long}\" }}\n");
    let filled = |times: usize| format!("parameters = {{ a = \"{}\" }}\n", "{v}".repeat(times));
    for (text, line, part) in [
        // Few of a million are left, but all are made.
        (
            scenario(&format!("matrix = {{ x = {range}, y = {range}, z = [1] }}\nexclude = [{{ z = 1 }}]\n")),
            7,
            "axis \"y\"",
        ),
        (variable.clone() + &scenario(&filled(2000)), 4, "1048576"),
        (
            variable + &scenario(&format!("matrix = {{ x = {range} }}\n{}", filled(900))).replace("\"s\"", "\"s {x}\""),
            4,
            "16777216",
        ),
        (
            scenario("repeats = 100000\nmatrix = { x = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] }\n")
                .replace("\"s\"", "\"s {x}\""),
            3,
            "1000000",
        ),
    ] {
        let message = complaint(&text, line);
        assert!(message.contains(part), "`{part}` is not in: {message}");
    }
}

#[test]
fn an_identity_tells_what_is_measured_not_how_often() {
    let identity = |text: &str| parse(text).unwrap().scenarios[0].identity();
    let base = identity(&scenario("parameters = { size = \"4k\" }\n"));
    assert_eq!(base, identity(&scenario("repeats = 99\nparameters = { size = \"4k\" }\n")));
    assert_ne!(base, identity(&scenario("parameters = { size = \"8k\" }\n")));
    assert_ne!(base, identity(&scenario("verification = \"none\"\nparameters = { size = \"4k\" }\n")));
}

#[test]
fn an_identity_is_the_same_wherever_the_suite_and_its_data_lie() {
    let in_directory = |directory: &str, instrument: &str| {
        let text = scenario("").replace("instrument = \"stend-probe copy\"\n", instrument);
        Suite::parse(&text, "t.toml", Path::new(directory), &Changes::default()).unwrap().scenarios.remove(0)
    };
    let command = "command = [\"sh\", \"{suite_directory}/count.sh\", \"/a\"]\n";
    let (one, other) = (in_directory("/a", command), in_directory("/b", command));
    assert_eq!(one.instrument, Instrument::Command(vec!["sh".into(), "/a/count.sh".into(), "/a".into()]));
    assert_eq!(one.identity(), other.identity());
    assert_ne!(one.identity(), in_directory("/a", &command.replace("count", "guess")).identity());
    assert_ne!(one.identity(), in_directory("/a", &command.replace("\"/a\"", "\"/b\"")).identity());

    let fio = |directory: &str, size: &str| {
        let parameters = format!("parameters = {{ directory = \"{directory}\", size = \"{size}\" }}");
        in_directory("/", &format!("instrument = \"fio\"\n{parameters}\n")).identity()
    };
    assert_eq!(fio("/pool/old", "1GiB"), fio("/pool/new", "1GiB"));
    assert_ne!(fio("/pool/old", "1GiB"), fio("/pool/old", "2GiB"));
}

#[test]
fn scenarios_that_were_stored_before_places_were_noted_still_read() {
    let scenario = parse(&scenario("parameters = { size = \"4k\" }\n")).unwrap().scenarios.remove(0);
    let stored = serde_json::to_value(&scenario).unwrap();
    assert!(stored.get("places").is_none() && stored.get("files").is_none());
    assert_eq!(serde_json::from_value::<stend_model::suite::Scenario>(stored).unwrap(), scenario);
}

#[test]
fn only_some_scenarios() {
    let text = format!(
        "{HEAD}[[scenario]]\nname = \"s {{x}}\"\ncommand = [\"true\"]\nmatrix = {{ x = [1, 2, 3] }}\n{METRICS}"
    );
    let only = |parts: &[&str]| {
        parse_with(&text, &Changes { only: parts.iter().map(|&part| part.into()).collect(), ..Changes::default() })
    };
    let names: BTreeSet<_> = only(&["s 1", "3"]).unwrap().scenarios.into_iter().map(|scenario| scenario.name).collect();
    assert_eq!(names, BTreeSet::from(["s 1".into(), "s 3".into()]));
    assert!(only(&["nine"]).unwrap_err().to_string().contains("\"s 2\""));
}

#[test]
fn in_a_guest_variables_have_other_values() {
    let text = |guest: &str| {
        format!(
            "{HEAD}[variables]\nplace = \"\"\nsize = \"1MiB\"\n{guest}[[scenario]]\nname = \"s\"\ninstrument = \"fio\"\n\
             parameters = {{ directory = \"{{place}}\", size = \"{{size}}\" }}\n{METRICS}"
        )
    };
    let whole = text("[guest.variables]\nplace = \"/srv/a\"\nsize = \"2MiB\"\n[guest.vm]\ncpus = 3\n");
    let parameters = |changes: &Changes| {
        let suite = parse_with(&whole, changes).unwrap();
        assert_eq!(suite.guest.map(|guest| guest.cpus), Some(3));
        ["directory", "size"].map(|name| suite.scenarios[0].parameters[name].clone())
    };
    assert_eq!(parameters(&Changes::default()), ["", "1MiB"]);
    let in_guest = Changes { in_guest: true, ..Changes::default() };
    assert_eq!(parameters(&in_guest), ["/srv/a", "2MiB"]);
    let variables = BTreeMap::from([("size".into(), "3MiB".into())]);
    assert_eq!(parameters(&Changes { variables, ..in_guest }), ["/srv/a", "3MiB"], "the user's come last");
    for (guest, said) in [
        ("[guest.variables]\nplaces = \"/srv/a\"\n", "t.toml:6:2: the suite has no variable \"places\""),
        ("[guest.vm]\ncpus = 0\n", "guest: cpus: it is 0"),
        ("[[guest.vm.disk]]\nsize = \"1GiB\"\nmount = \"srv\"\n", "guest: disk: \"srv\" is no place for a disk"),
    ] {
        let error = parse(&text(guest)).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
}

proptest! {
    #[test]
    fn no_text_makes_the_reader_panic(text in ".{0,300}") {
        let _ = parse(&text);
    }

    #[test]
    fn no_change_of_a_byte_makes_the_reader_panic(place in 0usize..200, byte in any::<char>()) {
        let mut text: Vec<char> = scenario("matrix = { x = { from = \"1k\", to = \"4k\", times = 2 } }\n").chars().collect();
        let place = place % text.len();
        text[place] = byte;
        let _ = parse(&text.into_iter().collect::<String>());
    }
}

#[test]
fn a_ceiling_is_another_scenario_of_the_suite() {
    let suite = |ceiling: &str| {
        format!(
            "{HEAD}[[scenario]]\nname = \"copy, {{size}}\"\ninstrument = \"stend-probe copy\"\n\
             matrix = {{ size = [\"4KiB\", \"1MiB\"] }}\n{METRICS}\
             [[scenario]]\nname = \"pipe, {{size}}\"\ninstrument = \"stend-probe pipe\"\n\
             matrix = {{ size = [\"4KiB\", \"1MiB\"] }}\nceiling = [{ceiling}]\n{METRICS}"
        )
    };
    let parsed = parse(&suite("\"copy, {size}\", \"copy, 1MiB\"")).unwrap();
    assert_eq!(parsed.scenarios[2].ceiling, ["copy, 4KiB", "copy, 1MiB"].map(|of| Ceiling::Of(of.into())));
    let without = parse(&suite("")).unwrap();
    assert_eq!(parsed.scenarios[2].identity(), without.scenarios[2].identity(), "it is no part of the work");
    let only = Changes { only: vec!["pipe, 4".into()], ..Changes::default() };
    assert_eq!(
        parse_with(&suite("\"copy, 4KiB\""), &only).unwrap().scenarios.len(),
        1,
        "a part of the suite is a suite"
    );

    let times = |times: &str| suite(&format!("{{ of = \"copy, 4KiB\", times = {times} }}"));
    let four = Ceiling::Times { of: "copy, 4KiB".into(), times: 4 };
    assert_eq!(parse(&times("4")).unwrap().scenarios[2].ceiling, [four]);
    assert!(complaint(&times("0"), 8).contains("\"times\" is \"0\"; it must be a whole number from 1"));
    let message = complaint(&suite("\"copy, 8KiB\""), 8);
    assert!(message.contains("\"copy, 8KiB\"") && message.contains("\"copy, 1MiB\""), "{message}");
    assert!(complaint(&suite("\"pipe, 4KiB\""), 8).contains("itself"));
    assert!(complaint(&suite("\"copy, {depth}\""), 8).contains("{depth}"));
}

#[test]
fn faults_have_a_time_and_are_mended() {
    let with = |parameters: &str, faults: &str| {
        sequence("shuffled", &[("s", &format!("parameters = {{ {parameters} }}\nfaults = [{faults}]"))])
    };
    let die = "{ at = \"30%\", disk = 3, action = \"die\" }";
    let replace = "{ at = \"7s\", disk = 3, action = \"replace\" }";
    let suite = parse(&with("runtime = \"10s\", ramp_time = \"2s\"", &format!("{replace}, {die}"))).unwrap();
    let told: Vec<_> = suite.scenarios[0].faults.iter().map(|fault| format!("{} {fault}", fault.at)).collect();
    assert_eq!(
        told,
        ["5s disk 3 dies", "7s disk 3 replaced"],
        "in the order of time; a share is of the runtime after the ramp"
    );
    let back: Suite = serde_json::from_value(serde_json::to_value(&suite).unwrap()).unwrap();
    assert_eq!(back, suite);
    let without = parse(&with("runtime = \"10s\", ramp_time = \"2s\"", "")).unwrap();
    assert_ne!(suite.scenarios[0].identity(), without.scenarios[0].identity(), "it is other work");

    let ten = "runtime = \"10s\"";
    let (marked, deep) = ("verify = \"marks\"", "verify = \"marks\", iodepth = 2");
    let (kill, restart) = ("controller = 0, action = \"kill\" }", "controller = 0, action = \"restart\" }");
    for (parameters, faults, part) in [
        (ten, die.to_owned(), "never mended; add { at = …, disk = 3, action = \"replace\" }"),
        (ten, replace.to_owned(), "does not die before that"),
        (ten, format!("{die}, {die}, {replace}"), "a second time"),
        (ten, format!("{{ at = 1, {kill}, {{ at = 1, {restart}"), "at the same time"),
        (ten, format!("{{ at = 2, {kill}, {{ at = 1, {restart}"), "not killed before that"),
        (ten, "{ at = 1, controller = 0, action = \"die\" }".into(), "a controller takes"),
        (ten, "{ at = 1, disk = 0, action = \"kill\" }".into(), "a disk takes"),
        (ten, "{ at = 1, action = \"die\" }".into(), "names one part"),
        (ten, "{ at = 1, disk = 0, controller = 0, action = \"die\" }".into(), "names one part"),
        (ten, "{ at = \"100%\", disk = 0, action = \"die\" }".into(), "below 100%"),
        ("rw = \"read\"", format!("{die}, {replace}"), "without the parameter \"runtime\""),
        (ten, "{ at = \"soon\", disk = 0, action = \"die\" }".into(), "\"soon\""),
        (ten, "{ at = 1, disk = 0, action = \"rot\" }".into(), "add { at = …, disk = 0, action = \"scrub\" }"),
        (ten, "{ at = 1, disk = 0, action = \"scrub\" }".into(), "does not rot before that"),
        (
            ten,
            "{ at = 1, disk = 0, action = \"slow\" }, { at = 2, disk = 0, action = \"replace\" }".into(),
            "does not die",
        ),
        (ten, "{ at = 1, disk = 0, action = \"recover\" }".into(), "does not slow down before that"),
        (ten, "{ at = 1, pool = true, action = \"die\" }".into(), "a pool takes the action \"power-off\""),
        (ten, "{ at = 1, disk = 1, action = \"power-off\" }".into(), "a pool takes the action \"power-off\""),
        (ten, "{ at = 1, pool = true, action = \"power-off\" }".into(), "verify = \"marks\" and iodepth = 1"),
        (deep, "{ at = 1, disk = 1, action = \"lose\" }".into(), "verify = \"marks\" and iodepth = 1"),
        (marked, format!("{{ at = 1, disk = 3, action = \"lose\" }}, {replace}"), "nothing comes after that"),
        (
            marked,
            "{ at = 1, disk = 3, action = \"lose\" }, { at = 2, disk = 3, action = \"lose\" }".into(),
            "nothing is left",
        ),
    ] {
        let error = parse(&with(parameters, &faults)).expect_err(&faults).to_string();
        assert!(error.contains(part) && !error.contains('\n'), "{faults}: {error}");
    }
    let other = scenario(&format!("faults = [{die}, {replace}]\n"));
    assert!(complaint(&other, 3).contains("the instrument \"fio\", or a command that names @lun0@"));
}

#[test]
fn a_title_is_told_in_the_language_that_it_is_given_in() {
    let suite =
        |titles: &str| scenario("").replacen("title = \"a test\"\n", &format!("title = \"a test\"\n{titles}\n"), 1);
    assert_eq!(parse(&suite("titles = { ru = \"проба\" }")).unwrap().title_in("ru"), "проба");
    assert_eq!(parse(&suite("")).unwrap().title_in("ru"), "a test");
}

fn shipped(name: &str) -> Suite {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../suites");
    let text = std::fs::read_to_string(folder.join(format!("{name}.toml"))).unwrap();
    Suite::parse(&text, name, &folder, &Changes::default()).unwrap()
}

/// What the articles ask of storage is to be seen in the table, not only kept with the repeats.
#[test]
fn the_tables_of_storage_have_what_the_articles_ask_for() {
    let asked = |name: &str, values: &[&str]| {
        let suite = shipped(name);
        let shown = &suite.table.as_ref().unwrap().metrics;
        for value in values {
            let of_value = |scenario: &stend_model::suite::Scenario| {
                let metric = scenario.metrics.iter().find(|metric| metric.value.to_string() == *value);
                metric.is_some_and(|metric| shown.contains(&metric.name))
            };
            assert!(suite.scenarios.iter().any(of_value), "{name}: no column shows {value}");
        }
    };
    let faults = ["verified_bytes", "dip_share", "dip_ns", "rebuild_ns"];
    asked("storage-faults", &faults);
    for name in ["vostok-2020", "vostok-2021", "storage"] {
        asked(name, &["controllers_memory_bytes", "operations/controllers_cpu"]);
    }
}

/// `quick` measures the pipe writer as programs that use the library have it.
#[test]
fn quick_writes_to_pipes_by_the_sizes_of_the_library() {
    let text = include_str!("../../../pipe-writer/src/sizes.c");
    let number = |name: &str| -> u64 {
        let line = text.lines().find_map(|line| line.trim().strip_prefix(name)?.strip_prefix(" = ")).unwrap();
        let words: Vec<&str> = line.split([' ', ',']).collect();
        match words[..] {
            [number, "<<", bits, ..] => number.parse::<u64>().unwrap() << bits.parse::<u32>().unwrap(),
            [number, ..] => number.parse().unwrap(),
            [] => unreachable!(),
        }
    };
    let suite = shipped("quick");
    let scenario = suite
        .scenarios
        .iter()
        .find(|scenario| scenario.parameters.get("writer").is_some_and(|writer| writer == "vmsplice-fresh"));
    let parameters = &scenario.unwrap().parameters;
    let size = |name: &str| stend_model::quantity::parse_size(&parameters[name]).unwrap();
    assert_eq!(parameters["cores"], "same");
    assert_eq!(size("pipe-size"), number("PIPE_ONE_CORE"));
    assert_eq!(size("chunk"), number("PIPE_ONE_CORE") / number("CHUNKS_ONE_CORE"));
    assert_eq!(parameters["huge-pages"], "yes", "whole chunks are taken from huge pages, where there are some");
}
