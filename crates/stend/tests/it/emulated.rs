//! What an emulator made is marked, and compared with nothing: a run by a cross-built `stend-probe` under qemu-user, and such runs among others.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::forge::{Forged, Mould, times};
use crate::common::{Ended, NO_LIMITS, Stand, ended};
use serde_json::{Value, json};

const CROSS: &str = "aarch64";

/// A program that starts `stend-probe` of another architecture under an emulator; nothing where there is no such compiler or emulator.
fn emulated_probe(directory: &Path) -> Option<PathBuf> {
    let (compiler, emulator) = (format!("{CROSS}-linux-gnu-gcc"), format!("qemu-{CROSS}-static"));
    for program in [&compiler, &emulator] {
        if Command::new(program).arg("--version").output().is_err() {
            assert!(std::env::var_os("CI").is_none(), "under CI nothing may be skipped: there is no {program}");
            eprintln!("skipped: there is no {program} here; `make packages-cross` installs it");
            return None;
        }
    }
    // The objects of `make test-cross`, if it was there first.
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let make = Command::new("make")
        .args(["-s", "-C", "probe", "LDFLAGS=-static"])
        .args([
            format!("CC={compiler}"),
            format!("AR={CROSS}-linux-gnu-ar"),
            format!("BUILD=../target/native/cross-{CROSS}"),
        ])
        .current_dir(&root)
        .env_remove("MAKEFLAGS")
        .output()
        .unwrap();
    assert!(make.status.success(), "{}", String::from_utf8_lossy(&make.stderr));
    let built = root.join(format!("target/native/cross-{CROSS}/stend-probe"));
    let script = directory.join("emulated-probe");
    std::fs::write(&script, format!("#!/bin/sh\nexec {emulator} '{}' \"$@\"\n", built.display())).unwrap();
    std::fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    Some(script)
}

fn suite(stand: &Stand) -> String {
    let text = format!(
        "name = \"calls\"\ntitle = \"calls\"\nrepeats = 6\nwarmup = 0\nsample_hertz = 0\n{NO_LIMITS}\
         [[scenario]]\nname = \"call\"\ninstrument = \"stend-probe switch\"\nparameters = {{ method = \"call\", seconds = \"2ms\" }}\n\
         metrics = [{{ name = \"time\", value = \"wall/operations\", unit = \"ns\", better = \"lower\" }}]\n"
    );
    let path = stand.path().join("calls.toml");
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn a_probe_under_an_emulator_makes_a_run_that_is_marked_and_compared_with_nothing() {
    let stand = Stand::new();
    let Some(probe) = emulated_probe(stand.path()) else { return };
    let suite = suite(&stand);
    let emulated = |arguments: &[&str]| ended(stand.command(arguments).env("STEND_PROBE", &probe));

    stand.fine(&["run", &suite, "--no-progress", "--even-if-unfit"]);
    let native = stand.json(&["list"])["runs"][0]["id"].as_str().unwrap().to_owned();
    let native_page = stand.fine(&["report", &native, "-o", "-"]).out;
    assert!(!native_page.contains("emulated by") && !native_page.contains("эмулятор"), "nothing native is marked");

    let run = emulated(&["run", &suite, "--no-progress", "--even-if-unfit"]);
    assert_eq!(run.status, Some(0), "{}\n{}", run.out, run.err);
    assert!(run.err.contains("stend-probe is emulated by qemu-user here: conformance only"), "{}", run.err);
    assert!(run.out.contains("emulated by qemu-user: conformance only"), "the table is headed so:\n{}", run.out);
    assert!(run.out.contains("emulated by qemu-user: not compared"), "{}", run.out);
    let shown = stand.json(&["show", "last"]);
    let id = shown["run"]["run"]["id"].as_str().unwrap().to_owned();
    assert_eq!(shown["run"]["run"]["machine"]["software"]["emulator"], json!("qemu-user"));
    assert_eq!(stand.json(&["show", &native])["run"]["run"]["machine"]["software"]["emulator"], Value::Null);
    let page = stand.fine(&["report", &id, "-o", "-"]).out;
    assert!(
        page.contains("emulated by qemu-user: conformance only") && page.contains("эмулятор qemu-user"),
        "both languages"
    );

    for arguments in
        [&[&native[..], &id][..], &[&id, &native], &[&id], &[&id, "vostok-2021"], &[&native, &id, "--fail-on", "worse"]]
    {
        let refused = stand.run(&[&["compare"], arguments].concat());
        assert_eq!(refused.status, Some(2), "{arguments:?}\n{}", refused.out);
        assert!(refused.err.contains("emulated: not compared") && refused.err.lines().count() == 1, "{}", refused.err);
    }
    let refused = emulated(&["run", &suite, "--ab", "env.A=1", "env.A=2", "--no-progress", "--even-if-unfit"]);
    assert_eq!(refused.status, Some(2), "{}", refused.err);
    assert!(refused.err.contains("emulated: not compared"), "{}", refused.err);
    let probed: Value = serde_json::from_str(&emulated(&["probe", "--json"]).out).unwrap();
    assert_eq!(probed["machine"]["software"]["emulator"], json!("qemu-user"));
}

/// Forged runs, some of them marked.
struct Runs {
    stand: Stand,
    mould: Mould,
}

impl Runs {
    fn new() -> Self {
        let (stand, mould) = crate::common::with_mould();
        Self { stand, mould }
    }

    fn run(&self, id: &str, milliseconds: f64) -> Forged {
        self.mould.run(id, &[("one", times(milliseconds, 0.004, 10))])
    }

    fn add(&self, run: &Forged) {
        let path = self.stand.path().join("run.gz");
        run.write(&path);
        self.stand.fine(&["import", path.to_str().unwrap()]);
    }

    fn compare(&self, arguments: &[&str]) -> Ended {
        self.stand.run(&[&["compare"], arguments].concat())
    }
}

const FIRST: &str = "20261101-0800-aaaa";
const SECOND: &str = "20261102-0800-bbbb";
const EMULATED: &str = "20261103-0800-cccc";
const BUILD: &str = "20261104-0800-dddd";

fn runs() -> Runs {
    let runs = Runs::new();
    runs.add(&runs.run(FIRST, 10.0));
    runs.add(&runs.run(SECOND, 12.0));
    let mut marked = runs.run(EMULATED, 90.0);
    marked.run["machine"]["software"]["emulator"] = json!("qemu-user");
    runs.add(&marked);
    // The machine is none, but what was measured on it was: an instrument tells by its build.
    let mut built = runs.run(BUILD, 80.0);
    for repeat in &mut built.repeats {
        repeat["begin"]["build"]["emulator"] = json!("qemu-user");
    }
    runs.add(&built);
    runs
}

#[test]
fn among_others_it_has_no_verdict_and_no_part_in_a_mean() {
    let runs = runs();
    let table = runs.stand.json(&["compare", FIRST, SECOND, EMULATED, BUILD])["table"].clone();
    let cells = &table["rows"][0]["cells"];
    assert_eq!(cells[1]["against_base"]["verdict"], json!("worse"), "{table:#}");
    for column in [2, 3] {
        assert_eq!(cells[column]["against_base"], Value::Null, "{table:#}");
        assert_eq!(table["columns"][column]["emulator"], json!("qemu-user"));
    }
    let standings = table["standings"].as_array().unwrap();
    assert_eq!(standings.iter().map(|standing| &standing["column"]).collect::<Vec<_>>(), [&json!(1)], "{table:#}");
    let notes: Vec<_> = table["notes"].as_array().unwrap().iter().filter(|note| note["kind"] == "emulated").collect();
    assert_eq!(notes.iter().map(|note| &note["run"]).collect::<Vec<_>>(), [&json!(EMULATED), &json!(BUILD)]);

    let text = crate::common::runs::flat(&runs.compare(&[FIRST, SECOND, EMULATED]).out);
    assert!(text.contains("emulated by qemu-user: conformance only"), "{text}");
    // What is judged decides alone.
    assert_eq!(runs.compare(&[FIRST, SECOND, EMULATED, "--fail-on", "hollow-worse"]).status, Some(1));
    assert_eq!(runs.compare(&[SECOND, FIRST, EMULATED, "--fail-on", "hollow-worse"]).status, Some(0));
    for arguments in [
        &[FIRST, EMULATED][..],
        &[FIRST, BUILD],
        &[EMULATED, FIRST, SECOND],
        &[BUILD],
        &[FIRST, EMULATED, "--fail-on", "worse"],
    ] {
        let refused = runs.compare(arguments);
        assert_eq!(refused.status, Some(2), "{arguments:?}\n{}", refused.out);
        assert!(refused.err.contains("emulated: not compared"), "{}", refused.err);
    }
    assert!(runs.compare(&[EMULATED, FIRST, SECOND]).err.contains("--baseline"));
}

#[test]
fn it_has_no_weight() {
    let runs = runs();
    let name = runs.stand.json(&["show", FIRST])["run"]["run"]["machine"]["name"].clone();
    let file = runs.stand.path().join("machines.toml");
    let text = format!(
        "[[machine]]\nname = {name}\npower = {{ loaded = 100.0, of = \"the whole\", source = \"a wattmeter\" }}\n"
    );
    std::fs::write(&file, text).unwrap();
    let weighings =
        runs.stand.json(&["compare", FIRST, SECOND, EMULATED, "--machines", file.to_str().unwrap()])["table"]["weighings"].clone();
    let sides = weighings[0]["sides"].as_array().unwrap();
    assert!(sides[0].is_object() && sides[1].is_object() && sides[2].is_null(), "{weighings:#}");
    assert!(weighings[0]["rows"][0]["cells"][2].is_null(), "{weighings:#}");
}

#[test]
fn it_has_no_place_in_a_history() {
    let runs = runs();
    let history = runs.stand.json(&["history", "one"])["history"].clone();
    let ids: Vec<_> = history["points"].as_array().unwrap().iter().map(|point| &point["run"]).collect();
    assert_eq!(ids, [&json!(FIRST), &json!(SECOND)], "{history:#}");
    assert_eq!(history["left_out"]["emulated"], json!(2));
    assert!(runs.stand.fine(&["history", "one"]).out.contains("2 runs that an emulator made"));

    let only = Runs::new();
    let mut marked = only.run(EMULATED, 90.0);
    marked.run["machine"]["software"]["emulator"] = json!("qemu-user");
    only.add(&marked);
    let refused = only.stand.run(&["history", "one"]);
    assert_eq!(refused.status, Some(2), "{}", refused.out);
    assert!(refused.err.contains("emulated: not compared"), "{}", refused.err);
}
