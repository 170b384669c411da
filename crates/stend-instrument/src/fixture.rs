//! For tests: recorded outputs of real tools, and running the tools themselves.
//!
//! A fixture is a folder in `tests/fixtures/tools/`: `parameters.json`, `version`, `usage.json`, `stdout`, `stderr`, `after`, and the result
//! files by name. They are recorded with
//! `STEND_RECORD=1 cargo test -p stend record_fixtures -- --ignored --test-threads 1`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use stend_model::suite::{Changes, Scenario, Suite};
use stend_model::wire::{Event, Report, Sample, Usage, parse_line};

use super::{Adapter, Finished, Place};

/// A scenario of this adapter with these parameters.
pub(super) fn scenario<'a>(instrument: &str, parameters: impl IntoIterator<Item = (&'a str, &'a str)>) -> Scenario {
    let parameters: String = parameters.into_iter().map(|(name, value)| format!("{name} = {value:?}\n")).collect();
    let text = format!(
        "name = \"t\"\ntitle = \"t\"\n[[scenario]]\nname = \"s\"\ninstrument = \"{instrument}\"\n\
         metrics = [{{ name = \"m\", value = \"wall\", unit = \"s\", better = \"lower\" }}]\n[scenario.parameters]\n{parameters}"
    );
    Suite::parse(&text, "t.toml", Path::new("."), &Changes::default()).unwrap().scenarios.remove(0)
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/tools").join(name)
}

/// A recorded repeat.
pub(super) fn read(adapter: &dyn Adapter, name: &str) -> (Scenario, Finished) {
    let folder = folder(name);
    let text =
        |file: &str| fs::read_to_string(folder.join(file)).unwrap_or_else(|error| panic!("{name}/{file}: {error}"));
    let parameters: BTreeMap<String, String> = serde_json::from_str(&text("parameters.json")).unwrap();
    let scenario = scenario(adapter.name(), parameters.iter().map(|(name, value)| (name.as_str(), value.as_str())));
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(&folder).unwrap() {
        let file = entry.unwrap().file_name().into_string().unwrap();
        if !["parameters.json", "usage.json", "version", "stdout", "stderr", "after"].contains(&file.as_str()) {
            files.insert(format!("/repeat/{file}"), fs::read(folder.join(&file)).unwrap());
        }
    }
    let usage = serde_json::from_str(&text("usage.json")).unwrap();
    let (stdout, stderr) = (text("stdout"), text("stderr"));
    let (after, version) = (fs::read_to_string(folder.join("after")).unwrap_or_default(), text("version"));
    (scenario, Finished { stdout, stderr, after, files, usage, started_ns: 1_000_000_000_000, version })
}

/// Runs what the adapter asks for, as the runner does, in directories of its own.
pub(super) fn run(adapter: &dyn Adapter, scenario: &Scenario, directory: &Path) -> Finished {
    run_as(7, adapter, scenario, directory)
}

/// The same as the repeat of a number.
pub(super) fn run_as(number: usize, adapter: &dyn Adapter, scenario: &Scenario, directory: &Path) -> Finished {
    let place = Place {
        run: "r".into(),
        mark: super::mark_of("r", number, 0x0123_4567_89ab_cdef),
        data: directory.join("data").display().to_string(),
        work: directory.join("work").display().to_string(),
        luns: vec![],
    };
    for path in [&place.data, &place.work] {
        fs::create_dir_all(path).unwrap();
    }
    let invocation = adapter.invocation(scenario, &place).unwrap();
    for (path, contents) in &invocation.files {
        fs::write(path, contents).unwrap();
    }
    let started = |words: &[String]| {
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).envs(&invocation.environment).current_dir(&place.work).stdin(Stdio::null());
        command.output().unwrap()
    };
    let (before, start) = (children_cpu_ns(), Instant::now());
    let output = started(&invocation.words);
    let (wall_ns, used) = (start.elapsed().as_nanos() as u64, children_cpu_ns());
    let after = if invocation.after.is_empty() { Vec::new() } else { started(&invocation.after).stdout };
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(&place.work).unwrap() {
        let path = entry.unwrap().path().display().to_string();
        let asked =
            |pattern: &String| pattern.strip_suffix('*').map_or(*pattern == path, |prefix| path.starts_with(prefix));
        if invocation.results.iter().any(asked) {
            files.insert(path.clone(), fs::read(&path).unwrap());
        }
    }
    let tool = adapter.tool().expect("a real tool");
    let version = Command::new(tool.program).args(tool.version_arguments).output().unwrap();
    Finished {
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        after: String::from_utf8_lossy(&after).into_owned(),
        files,
        usage: Usage {
            t_ns: None,
            wall_ns,
            user_ns: used.0 - before.0,
            system_ns: used.1 - before.1,
            max_rss_bytes: 0,
            exit: output.status.code(),
            signal: None,
            timed_out: false,
            left_running: false,
            clock_step_ns: None,
            machine: BTreeMap::new(),
        },
        started_ns: 1_000_000_000_000,
        version: String::from_utf8_lossy(&version.stdout).into_owned(),
    }
}

/// User and system time of the children that have ended, in ticks of 1/100 s.
fn children_cpu_ns() -> (u64, u64) {
    let text = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = text.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |place: usize| fields.get(place).and_then(|field| field.parse::<u64>().ok()).unwrap_or(0) * 10_000_000;
    (ticks(13), ticks(14))
}

/// Records a fixture.
pub(super) fn record(adapter: &dyn Adapter, name: &str, parameters: &[(&str, &str)]) {
    let directory = tempfile::tempdir().unwrap();
    let scenario = scenario(adapter.name(), parameters.iter().copied());
    // The first one lays out files; what is kept is a repeat like any other.
    run(adapter, &scenario, directory.path());
    fs::remove_dir_all(directory.path().join("work")).unwrap();
    let finished = run(adapter, &scenario, directory.path());
    let folder = folder(name);
    fs::create_dir_all(&folder).unwrap();
    let write = |file: &str, contents: &[u8]| fs::write(folder.join(file), contents).unwrap();
    write("parameters.json", serde_json::to_string_pretty(&scenario.parameters).unwrap().as_bytes());
    write("usage.json", serde_json::to_string(&finished.usage).unwrap().as_bytes());
    write("version", finished.version.as_bytes());
    write("stdout", finished.stdout.as_bytes());
    write("stderr", finished.stderr.as_bytes());
    if !finished.after.is_empty() {
        write("after", finished.after.as_bytes());
    }
    for (path, contents) in &finished.files {
        write(path.rsplit('/').next().unwrap(), contents);
    }
}

/// The events' parts. Each event must also be a line of the wire that reads back as itself.
pub(super) fn taken_apart(events: Vec<Event>) -> (stend_model::wire::Begin, Vec<Sample>, Report) {
    let (mut begins, mut samples, mut reports, mut ends) = (Vec::new(), Vec::new(), Vec::new(), 0);
    for event in events {
        let line = serde_json::to_string(&event).unwrap();
        assert_eq!(parse_line(&line), Ok(Some(event.clone())), "{line}");
        match event {
            Event::Begin(begin) => begins.push(begin),
            Event::Sample(sample) => samples.push(sample),
            Event::Repeat(report) => reports.push(report),
            Event::Mark(_) => {}
            Event::End(end) => ends += end.repeats,
            other @ (Event::Test(_) | Event::Usage(_)) => panic!("{other:?}"),
        }
    }
    assert_eq!((begins.len(), reports.len(), ends), (1, 1, 1));
    (begins.remove(0), samples, reports.remove(0))
}

#[test]
fn every_suite_passes_the_checks_of_its_adapters() {
    let place =
        Place { run: "r".into(), mark: "r 7 0".into(), data: "/data".into(), work: "/repeat".into(), luns: vec![] };
    let suites = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../suites");
    let files = std::fs::read_dir(suites).unwrap().map(|entry| entry.unwrap().path());
    for file in files.filter(|file| file.extension().is_some_and(|extension| extension == "toml")) {
        let (name, text) = (file.file_name().unwrap().to_str().unwrap(), &std::fs::read_to_string(&file).unwrap());
        for scale in [None, Some(0.001)] {
            let changes = Changes { scale, ..Changes::default() };
            let parsed = Suite::parse_checked(text, name, Path::new("."), &changes, &super::check_parameters);
            let suite = match parsed {
                Err(error) if scale.is_some() && error.to_string().contains("cannot be scaled") => continue,
                parsed => parsed.unwrap_or_else(|error| panic!("{error}")),
            };
            for scenario in &suite.scenarios {
                if let stend_model::suite::Instrument::Adapter(name) = &scenario.instrument {
                    let adapter = super::adapter(name).unwrap();
                    adapter.invocation(scenario, &place).unwrap();
                }
            }
        }
    }
}

/// What adapters say of tools that went wrong is stend's own, so the Russian report says it in Russian.
#[test]
fn every_failure_has_a_russian_form() {
    use super::{compress::GZIP, fio::Fio, openssl::OpenSsl};
    type Change = fn(&mut Finished);
    fn report(finished: &mut Finished, change: impl Fn(String) -> String) {
        let report = finished.files.get_mut("/repeat/report.json").unwrap();
        *report = change(String::from_utf8(report.clone()).unwrap()).into_bytes();
    }
    let cases: [(&dyn Adapter, &str, Change); 17] = [
        (&Fio, "fio-3.33-no-directory", |_| {}),
        (&Fio, "fio-3.33-no-engine", |_| {}),
        (&Fio, "fio-3.33-disk-full", |_| {}),
        (&Fio, "fio-3.33-randread", |finished| drop(finished.files.remove("/repeat/report.json"))),
        (&Fio, "fio-3.33-randread", |finished| report(finished, |text| text[..text.len() / 2].into())),
        (&Fio, "fio-3.33-randread", |finished| report(finished, |_| "{\"jobs\": 7}".into())),
        (&Fio, "fio-3.33-randread", |finished| report(finished, |text| text.replace("\"error\" : 0", "\"error\" : 5"))),
        (&Fio, "fio-3.33-randread", |finished| {
            let log = finished.files.get_mut("/repeat/log_iops.log").unwrap();
            log.extend_from_slice(b"Hello!\n");
        }),
        (&OpenSsl, "openssl-3.0-unknown", |_| {}),
        (&OpenSsl, "openssl-3.0-aes-256-gcm", |finished| finished.stderr = String::new()),
        (&OpenSsl, "openssl-3.0-aes-256-gcm", |finished| finished.stderr = "too few".into()),
        (&OpenSsl, "openssl-3.0-aes-256-gcm", |finished| finished.stderr = "+R:many".into()),
        (&OpenSsl, "openssl-3.0-aes-256-gcm", |finished| finished.stderr = "+R:0:aes-256-gcm:1.000000".into()),
        (&OpenSsl, "openssl-3.0-aes-256-gcm", |finished| finished.usage.timed_out = true),
        (&GZIP, "gzip-1.12-pages-3", |finished| finished.usage.wall_ns = 0),
        (&GZIP, "gzip-1.12-pages-3", |finished| finished.after = "Hello!".into()),
        (&GZIP, "gzip-1.12-pages-3", |finished| finished.usage.exit = Some(1)),
    ];
    let mut kinds = std::collections::HashSet::new();
    for (adapter, name, change) in cases {
        let (scenario, mut finished) = read(adapter, name);
        change(&mut finished);
        kinds.insert(std::mem::discriminant(&adapter.translate(&scenario, &finished).unwrap_err()));
    }
    assert!(kinds.len() >= 10, "{kinds:#?}");
}
