//! What reports cost: how long `stend report` takes to write large ones, how large they are, and, where there is a browser, how soon they
//! are open.
//!
//! `make bench-report` runs it, and `make bench-lab` with the lab's other speeds. It prints medians with their range and the figure to keep
//! below, and ends with status 1 if one is above.

mod load;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

#[path = "../tests/it/common/forge.rs"]
mod forge;

use forge::{Mould, times};

/// As many scenarios as the largest suite that comes with the program, `pipes`, has on a machine with all its writers.
const SCENARIOS: usize = 263;
const REPEATS: usize = 10;

/// A suite of short repeats that keep a processor busy, with the machine's series.
const BUSY: &str = r#"
name = "busy"
title = "many scenarios, for the bench"
repeats = 12
warmup = 0
[gates]
foreign_cpu = "off"
steal = "off"
[[scenario]]
name = "s"
command = ["sh", "-c", """
echo '{{"event":"begin","wire":1,"instrument":"busy"}}'; timeout 1 cat /dev/zero >/dev/null
echo '{{"event":"repeat","wall_ns":1000000000,"work":{{"bytes":1}},"check":"passed"}}'; echo '{{"event":"end"}}'"""]
metrics = [{ name = "time", value = "wall", unit = "s", better = "lower" }]
"#;

fn main() {
    // `cargo test --benches` calls it too; it measures for minutes, so not then.
    if std::env::args().any(|argument| argument == "--test") {
        return;
    }
    let probe = PathBuf::from(
        std::env::var_os("STEND_PROBE").expect("STEND_PROBE says where stend-probe is; `make bench-report` sets it"),
    );
    let temporary = tempfile::tempdir().unwrap();
    // Where the pages are kept, if they are to be looked at.
    let directory = std::env::var_os("STEND_PAGES").map_or_else(|| temporary.path().to_owned(), PathBuf::from);
    std::fs::create_dir_all(&directory).unwrap();
    let mut bench = Bench { directory, store: temporary.path().join("store"), probe, above: 0 };
    println!("{:<58} {:>10}   {:>22}   to be below", "what", "median", "range");
    let pages = [bench.million(), bench.many()];
    let opened = bench.opened(&pages);
    let above = bench.above;
    if above > 0 || !opened {
        drop(temporary);
        if above > 0 {
            eprintln!("figures above what is promised: {above}");
        }
        std::process::exit(1);
    }
}

struct Bench {
    directory: PathBuf,
    store: PathBuf,
    probe: PathBuf,
    /// How many figures were not below what they should be.
    above: u32,
}

impl Bench {
    fn stend(&self, store: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_stend"));
        command
            .args(arguments)
            .env("STEND_STORE", store)
            .env("STEND_WORK", self.store.join("work"))
            .env("STEND_PROBE", &self.probe);
        command
    }

    fn path(&self, name: &str) -> String {
        self.directory.join(name).to_str().unwrap().to_owned()
    }

    /// Runs a suite and exports the run.
    fn measured(&self, name: &str, suite: &str) -> PathBuf {
        let (file, exported) = (self.path(&format!("{name}.toml")), self.directory.join(format!("{name}.gz")));
        std::fs::write(&file, suite).unwrap();
        run(&mut self.stend(&self.store, &["run", &file, "--quiet"]));
        run(&mut self.stend(&self.store, &["export", "last", "-o", exported.to_str().unwrap()]));
        exported
    }

    /// The page of a run with a million samples, all of them in it: of storage under load, where every series moves all the time.
    fn million(&mut self) -> String {
        const SECONDS: i64 = 700;
        let short = self.measured("load", load::SUITE);
        let long = self.directory.join("long.gz");
        let samples = load::load_of(SECONDS, &short, &long);
        assert!(samples >= 1_000_000, "{samples} samples");
        self.written(&long, "million.html", &format!("{} LUNs with {samples} samples", load::LUNS))
    }

    /// The page of a run with many scenarios, each with repeats and their series.
    fn many(&mut self) -> String {
        let mould = Mould::of(&self.measured("busy", BUSY));
        let names: Vec<String> = (0..SCENARIOS).map(|place| format!("scenario {place}")).collect();
        let scenarios: Vec<(&str, Vec<f64>)> = names
            .iter()
            .zip(10..)
            .map(|(name, middle)| (name.as_str(), times(f64::from(middle), 0.02, REPEATS)))
            .collect();
        let forged = mould.with_series(mould.run("20190101-0001-0001", &scenarios));
        let samples: usize = forged.series.iter().map(|(_, one)| one["values"].as_array().unwrap().len()).sum();
        let file = self.directory.join("many.gz");
        forged.write(&file);
        self.written(&file, "many.html", &format!("{SCENARIOS} × {REPEATS} repeats with {samples} samples"))
    }

    /// Writes the page of an exported run, again and again.
    fn written(&mut self, exported: &Path, page: &str, what: &str) -> String {
        let store = self.store.join(page);
        run(&mut self.stend(&store, &["import", exported.to_str().unwrap()]));
        let page = self.path(page);
        let once = || {
            let start = Instant::now();
            run(&mut self.stend(&store, &["report", "last", "-o", &page]));
            start.elapsed().as_secs_f64() * 1e3
        };
        once();
        let times: Vec<f64> = (0..10).map(|_| once()).collect();
        self.report(&format!("report of {what}, ms"), &times, "ms", 1000.0);
        let text = std::fs::read_to_string(&page).unwrap();
        assert!(text.contains("data-samples="), "samples are in the page");
        self.report("that report, MB", &[text.len() as f64 / 1e6], "MB", 8.0);
        page
    }

    /// Opens the pages in a browser; whether they are open as soon as is promised. Without a browser that is said.
    fn opened(&self, pages: &[String]) -> bool {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/browser/run.sh");
        let target = Path::new(env!("CARGO_BIN_EXE_stend")).ancestors().nth(2).unwrap();
        let status = Command::new("sh").arg(script).arg(target).args(pages).status().unwrap();
        status.success()
    }

    fn report(&mut self, what: &str, values: &[f64], unit: &str, below: f64) {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let median = stend_stats::median(values).unwrap();
        let is_below = median <= below;
        self.above += u32::from(!is_below);
        let mark = if is_below { "" } else { "  ABOVE" };
        let range = format!("{:.2} … {:.2} {unit}", sorted[0], sorted[sorted.len() - 1]);
        println!("{what:<58} {median:>7.2} {unit:<2}   {range:>22}   {below} {unit}{mark}");
    }
}

fn run(command: &mut Command) {
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
    assert!(status.success(), "{command:?}: {status}");
}
