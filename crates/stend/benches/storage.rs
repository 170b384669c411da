//! What an hour of a loaded storage target takes in the store, and how long its report takes: 8 LUNs, windows of a second, the machine's
//! counters at 10 Hz with 12 disks of a pool, two controllers and the load.
//!
//! `cargo bench --package stend --bench storage` runs it; `STEND_PROBE` says where `stend-probe` is. A short run is made and exported, its
//! series are put in the place of an hour's, with noise that does not compress better than what is measured, and the file is imported.
//! It prints a line for each figure, in MB and seconds, after a `|`; `storage.sh` beside this file has what they are to be.

mod load;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use load::{LUNS, SUITE, load_of};

const SECONDS: i64 = 3600;

fn main() {
    // `cargo test --benches` calls it too, and there is nothing to test.
    if std::env::args().any(|argument| argument == "--test") {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    std::fs::write(path("suite.toml"), SUITE).unwrap();
    let small = path("small");
    run(&mut stend(&small, &["run", path("suite.toml").to_str().unwrap(), "--quiet"]));
    run(&mut stend(&small, &["export", "last", "-o", path("small.gz").to_str().unwrap()]));
    load_of(SECONDS, &path("small.gz"), &path("hour.gz"));
    let store = path("hour");
    run(&mut stend(&store, &["import", path("hour.gz").to_str().unwrap()]));
    let bytes: u64 = std::fs::read_dir(&store).unwrap().map(|entry| entry.unwrap().metadata().unwrap().len()).sum();
    let page = path("page.html");
    let times: Vec<f64> = (0..5)
        .map(|_| {
            let start = Instant::now();
            run(&mut stend(&store, &["report", "last", "-o", page.to_str().unwrap()]));
            start.elapsed().as_secs_f64()
        })
        .collect();
    println!("an hour of {LUNS} LUNs, in the store|{:.3}", bytes as f64 / 1e6);
    for time in times {
        println!("an hour of {LUNS} LUNs, its report|{time:.3}");
    }
}

fn stend(store: &Path, arguments: &[&str]) -> Command {
    let probe = std::env::var_os("STEND_PROBE").expect("STEND_PROBE says where stend-probe is");
    let mut command = Command::new(env!("CARGO_BIN_EXE_stend"));
    command.args(arguments).env("STEND_STORE", store).env("STEND_PROBE", PathBuf::from(probe));
    command.env("STEND_WORK", store.with_extension("work"));
    command
}

fn run(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}
