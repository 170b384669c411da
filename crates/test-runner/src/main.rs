//! Runs the tests of this workspace side by side, each in a process of its own, and ends those that hang.
//!
//! cargo runs one test program after another, and the tests of one as threads: a test that hangs holds up all, and what it
//! started outlives it. Here each test has a supervisor ([`supervise`]) that adopts all that the test starts. When the test
//! has ended, or its time is up, nothing of it is left, and a test that left something behind fails.

mod plan;
mod supervise;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use clap::Parser;

use plan::Test;

/// The longest output of a failed test that is shown, in bytes; the end of it.
const SHOWN: usize = 32 << 10;

#[derive(Parser)]
#[command(
    about,
    long_about = "Runs the tests of the programs that cargo names on standard input:\n\n  \
    cargo test --workspace --no-run --message-format=json-render-diagnostics | test-runner\n\n\
    Prints what failed with its output, and ends with \"N passed, N failed\". Exit status: 0 all passed, 1 some failed, \
    2 they could not be run."
)]
struct Arguments {
    /// Only tests whose name has one of these in it
    filters: Vec<String>,
    /// But none whose name has this in it
    #[arg(long, value_name = "FILTER")]
    skip: Vec<String>,
    /// Starts those whose name has this in it before all others, and gives them three times as long
    #[arg(long, value_name = "FILTER")]
    long: Vec<String>,
    /// How many tests run at a time [default: processors and six: most tests wait most of the time]
    #[arg(long, value_name = "N")]
    slots: Option<usize>,
    /// Ends a test after so many seconds, times PATIENCE, if that is set in the environment
    #[arg(long, value_name = "SECONDS", default_value_t = 300)]
    limit: u64,
    /// Keeps how long each test took in FILE, and starts with the longest of the last time
    #[arg(long, value_name = "FILE")]
    times: Option<PathBuf>,
    /// Supervises this one command
    #[arg(long, hide = true, value_name = "WORD", num_args = 1.., allow_hyphen_values = true)]
    supervise: Vec<String>,
}

/// How a test ended.
struct Ended {
    passed: bool,
    seconds: f64,
    cpu_seconds: f64,
    output: String,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if let Some((program, words)) = arguments.supervise.split_first() {
        let patience = std::env::var("PATIENCE").ok().and_then(|times| times.parse().ok()).unwrap_or(1);
        return supervise::supervise(program, words, Duration::from_secs(arguments.limit), patience);
    }
    match run(&arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("test-runner: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// Whether all passed.
fn run(arguments: &Arguments) -> Result<bool> {
    let messages = std::io::read_to_string(std::io::stdin()).context("standard input")?;
    let times = arguments.times.as_deref().map(read_times).unwrap_or_default();
    let mut tests = plan::tests(&messages)?;
    let named_by = |filters: &[String], test: &Test| filters.iter().any(|filter| test.name.contains(filter.as_str()));
    tests.retain(|test| {
        (arguments.filters.is_empty() || named_by(&arguments.filters, test)) && !named_by(&arguments.skip, test)
    });
    anyhow::ensure!(
        !tests.is_empty(),
        "no test is left by the filters {:?}, skipping {:?}",
        arguments.filters,
        arguments.skip
    );
    // Taken from the end: the longest first, so that none is begun when all others are done; before them those that nobody has
    // timed yet.
    let expected = |test: &Test| times.get(&test.name).map_or(f64::INFINITY, |[wall, _]| *wall);
    let is_long = |test: &Test| named_by(&arguments.long, test);
    tests.sort_by(|a, b| is_long(a).cmp(&is_long(b)).then(expected(a).total_cmp(&expected(b))));

    let processors = thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let slots = arguments.slots.unwrap_or(processors + 6).max(1);
    let own_mounts = own_mounts();
    let (queue, results) = (Mutex::new(tests), Mutex::new(BTreeMap::new()));
    thread::scope(|scope| {
        for _ in 0..slots {
            scope.spawn(|| {
                while let Some(test) = { queue.lock().unwrap().pop() } {
                    let limit = if is_long(&test) { arguments.limit * 3 } else { arguments.limit };
                    let ended = one(&test, limit, own_mounts).unwrap_or_else(|error| Ended {
                        passed: false,
                        seconds: 0.0,
                        cpu_seconds: 0.0,
                        output: format!("{error:#}\n"),
                    });
                    if !ended.passed {
                        println!("---- {} ({:.1} s)\n{}", test.name, ended.seconds, tail(&ended.output));
                    }
                    results.lock().unwrap().insert(test.name, ended);
                }
            });
        }
    });
    let results = results.into_inner().unwrap();
    if let Some(file) = &arguments.times {
        write_times(file, times, &results)?;
    }
    Ok(report(&results))
}

/// The words that give a command mounts of its own, where the system allows that: what a test mounts no other test sees. One that
/// kills the server of a mounted file system would make `mkfs.btrfs`, which looks at all that is mounted, fail in others.
fn own_mounts() -> &'static [&'static str] {
    const WORDS: &[&str] = &["unshare", "--mount"];
    let possible = Command::new(WORDS[0]).args(&WORDS[1..]).arg("true").stderr(Stdio::null()).status();
    if possible.is_ok_and(|status| status.success()) { WORDS } else { &[] }
}

/// Runs a test under a supervisor of its own.
fn one(test: &Test, limit: u64, own_mounts: &[&str]) -> Result<Ended> {
    let mut said = tempfile::tempfile().context("a temporary file")?;
    let began = Instant::now();
    let this = std::env::current_exe().context("this program's own path")?;
    let mut words = own_mounts.iter().map(OsStr::new).chain([this.as_os_str()]);
    let status = Command::new(words.next().expect("this program at least"))
        .args(words)
        .args(["--limit", &limit.to_string(), "--supervise"])
        .arg(&test.program)
        .args(["--exact", &test.test, "--nocapture", "--test-threads=1"])
        .current_dir(&test.directory)
        .env("CARGO_MANIFEST_DIR", &test.directory)
        .stdin(Stdio::null())
        .stdout(said.try_clone()?)
        .stderr(said.try_clone()?)
        .status()
        .context("the supervisor")?;
    let seconds = began.elapsed().as_secs_f64();
    let mut output = Vec::new();
    std::io::Seek::rewind(&mut said)?;
    said.read_to_end(&mut output)?;
    let mut output = String::from_utf8_lossy(&output).into_owned();
    let mut cpu_seconds = 0.0;
    if let Some((before, ticks)) = output.rsplit_once(supervise::CPU) {
        cpu_seconds = ticks.trim().parse().unwrap_or(0.0) / 100.0;
        output.truncate(before.len());
    }
    Ok(Ended { passed: status.success(), seconds, cpu_seconds, output })
}

/// Says what was skipped and what failed, and whether all passed.
fn report(results: &BTreeMap<String, Ended>) -> bool {
    let lines = results.values().filter(|ended| ended.passed).flat_map(|ended| ended.output.lines());
    let skipped: BTreeSet<_> = lines.filter(|line| line.starts_with("skipped: ")).collect();
    for line in skipped {
        println!("{line}");
    }
    let (passed, failed): (Vec<_>, Vec<_>) = results.iter().partition(|(_, ended)| ended.passed);
    for (name, ended) in &failed {
        println!("failed: {name} ({:.1} s)", ended.seconds);
    }
    println!("{} passed, {} failed", passed.len(), failed.len());
    failed.is_empty()
}

fn tail(output: &str) -> &str {
    let mut from = output.len().saturating_sub(SHOWN);
    while !output.is_char_boundary(from) {
        from += 1;
    }
    &output[from..]
}

/// Seconds and processor seconds by test; what cannot be read is as if nobody had timed it.
fn read_times(file: &Path) -> BTreeMap<String, [f64; 2]> {
    let text = fs::read_to_string(file).unwrap_or_default();
    let pair = |line: &str| {
        let mut fields = line.splitn(3, '\t');
        let seconds = [fields.next()?.parse().ok()?, fields.next()?.parse().ok()?];
        Some((fields.next()?.to_owned(), seconds))
    };
    text.lines().filter_map(pair).collect()
}

/// Those of before too: it may have been a part of all that ran.
fn write_times(file: &Path, mut times: BTreeMap<String, [f64; 2]>, results: &BTreeMap<String, Ended>) -> Result<()> {
    times.extend(results.iter().map(|(name, ended)| (name.clone(), [ended.seconds, ended.cpu_seconds])));
    let line = |(name, [wall, cpu]): (&String, &[f64; 2])| format!("{wall:.2}\t{cpu:.2}\t{name}\n");
    let lines: String = times.iter().map(line).collect();
    fs::write(file, lines).with_context(|| file.display().to_string())
}
