//! The suites and references that come with the program: each can be read, and published figures meet the scenarios that
//! measure the same.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use stend_model::reference::Reference;
use stend_model::suite::{Changes, Instrument, Suite};

/// Figures that no scenario measures, and why.
const WITHOUT_SCENARIO: [(&str, &str); 7] = [
    (
        "rc4, 4 processes against 2",
        "RC4 is in OpenSSL's legacy provider only, which openssl speed does not load by itself",
    ),
    ("nginx over gigabit Ethernet", "needs a second machine"),
    ("openssl with the crypto engine through cryptodev", "engines are gone from current OpenSSL"),
    ("Fizz Buzz into a pipe, Neil", "a program of its own, which is not part of stend"),
    ("Fizz Buzz into a pipe, Timo Kluck", "a program of its own, which is not part of stend"),
    ("Fizz Buzz into a pipe, ais523", "a program of its own, which is not part of stend"),
    ("Fizz Buzz into a pipe, David Frank, 7 cores", "a program of its own, which is not part of stend"),
];

fn files(folder: &str) -> BTreeMap<String, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
    let paths = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let toml = paths.filter(|path: &PathBuf| path.extension().is_some_and(|extension| extension == "toml"));
    toml.map(|path| (path.file_stem().unwrap().to_str().unwrap().to_owned(), fs::read_to_string(&path).unwrap()))
        .collect()
}

fn suite(name: &str, text: &str, changes: &Changes) -> Suite {
    Suite::parse(text, name, Path::new("."), changes).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn every_suite_can_be_used_and_is_called_as_its_file() {
    let suites = files("suites");
    assert!(suites.len() >= 5);
    for (name, text) in &suites {
        let suite = suite(name, text, &Changes::default());
        assert_eq!(&suite.name, name);
        for scenario in &suite.scenarios {
            let names: BTreeSet<_> = scenario.metrics.iter().map(|metric| &metric.name).collect();
            assert_eq!(names.len(), scenario.metrics.len(), "{name}: {}: each metric has its own name", scenario.name);
        }
    }
}

#[test]
fn what_can_be_scaled_still_can() {
    for name in ["summit", "vostok-2020", "vostok-2021"] {
        let changes = Changes { scale: Some(0.001), ..Changes::default() };
        let suite = suite(name, &files("suites")[name], &changes);
        for scenario in &suite.scenarios {
            let size = stend_model::quantity::parse_size(&scenario.parameters["size"]).unwrap();
            assert!(size < 501_000_000 && size.is_multiple_of(16), "{}: {size}", scenario.name);
        }
    }
}

#[test]
fn the_vostok_suites_have_the_parameters_of_the_articles() {
    let suites = files("suites");
    let parameters = |suite_name: &str| -> Vec<Vec<String>> {
        let suite = suite(suite_name, &suites[suite_name], &Changes::default());
        let names = [
            "rw",
            "bs",
            "numjobs",
            "iodepth",
            "luns",
            "size",
            "runtime",
            "ramp_time",
            "direct",
            "ioengine",
            "log_avg_msec",
        ];
        let value = |scenario: &stend_model::suite::Scenario, name: &str| scenario.parameters[name].clone();
        suite.scenarios.iter().map(|scenario| names.iter().map(|name| value(scenario, name)).collect()).collect()
    };
    let row =
        |start: &str, rest: &str| -> Vec<String> { format!("{start} {rest}").split(' ').map(str::to_owned).collect() };
    let of_2021 = |start| row(start, "8 500GB 2400s 0s 1 libaio 30000");
    let wanted = [
        "read 4k 16 128",
        "write 4k 16 128",
        "randread 4k 2 64",
        "randwrite 4k 2 16",
        "read 128k 16 128",
        "write 128k 2 16",
    ];
    assert_eq!(parameters("vostok-2021"), wanted.map(of_2021));
    let of_2020 = |start| row(start, "1 32 8 500GB 1h 7m 1 libaio 30000");
    assert_eq!(
        parameters("vostok-2020"),
        ["read 4k", "write 4k", "randread 4k", "randwrite 4k", "read 128k", "write 128k"].map(of_2020)
    );
}

#[test]
fn quick_is_quick() {
    let suite = suite("quick", &files("suites")["quick"], &Changes::default());
    let repeats: Duration = suite
        .scenarios
        .iter()
        .map(|scenario| {
            scenario.expected.expect("every scenario says how long it takes").0 * (scenario.repeats + scenario.warmup)
        })
        .sum();
    assert!(repeats <= Duration::from_secs(5 * 60), "{repeats:?}");
}

#[test]
fn every_published_figure_stands_beside_a_scenario() {
    let mut measured = Vec::new();
    for (name, text) in files("suites") {
        for scenario in suite(&name, &text, &Changes::default()).scenarios {
            let Some(measures) = scenario.measures else { continue };
            measured.extend(scenario.metrics.iter().map(|metric| (measures.clone(), metric.name.clone(), metric.unit)));
        }
    }
    let mut without = BTreeSet::new();
    for (name, text) in files("references") {
        let reference = Reference::parse(&text, &name).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(reference.name, name);
        let mut seen = BTreeSet::new();
        for figure in &reference.figure {
            let here = format!("{name}: {} of {}: {}", figure.metric, figure.machine, figure.measures);
            assert!(seen.insert((&figure.machine, &figure.measures, &figure.metric)), "twice: {here}");
            let matches = |(measures, metric, unit): &(String, String, _)| {
                (measures, metric) == (&figure.measures, &figure.metric)
                    && figure.unit.is_none_or(|wanted| wanted == *unit)
            };
            if WITHOUT_SCENARIO.iter().any(|(measures, _)| *measures == figure.measures) {
                without.insert(figure.measures.clone());
            } else {
                assert!(measured.iter().any(matches), "no scenario for {here}");
            }
        }
        let used = |id: &str| reference.figure.iter().any(|figure| figure.machine == id);
        assert!(reference.machine.iter().all(|machine| used(&machine.id)), "{name} has a machine without figures");
    }
    assert_eq!(without.len(), WITHOUT_SCENARIO.len(), "the list of figures without a scenario is out of date");
}

/// What a machine lacks is one thing; a scenario that no machine could start is a mistake in the suite.
#[test]
fn no_suite_starts_an_instrument_wrongly() {
    for (name, text) in files("suites") {
        for scenario in suite(&name, &text, &Changes::default()).scenarios {
            let Instrument::Probe(subcommand) = &scenario.instrument else { continue };
            let parameters = scenario.parameters.iter().flat_map(|(name, value)| [format!("--{name}"), value.clone()]);
            let mut command = std::process::Command::new(crate::common::probe());
            let ended = crate::common::ended(command.arg(subcommand).args(parameters).arg("--check"));
            assert!(matches!(ended.status, Some(0 | 4)), "{name}: {}: {}", scenario.name, ended.err);
        }
    }
}

#[test]
fn the_measured_loads_are_those_that_the_program_has() {
    for (name, text) in files("suites") {
        for scenario in suite(&name, &text, &Changes::default()).scenarios {
            match &scenario.instrument {
                Instrument::Probe(subcommand) => {
                    assert!(["cipher", "copy", "pipe", "switch"].contains(&subcommand.as_str()), "{name}: {subcommand}")
                }
                Instrument::Adapter(_) => {}
                Instrument::Command(words) => {
                    let own =
                        words.iter().find_map(|word| scenario.places.get(word)?.strip_prefix("{suite_directory}/"));
                    let path = own.map(|own| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../suites").join(own));
                    assert!(path.is_some_and(|path| path.is_file()), "{name}: {words:?}");
                }
            }
        }
    }
}
