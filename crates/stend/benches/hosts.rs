//! Whether ssh adds anything to what is measured: a suite on this machine by itself, and through a real sshd on loopback to itself, in turns.
//!
//! `make bench-hosts` runs it. Each round is one run of either kind, the next round in the other order, and is compared by `stend compare`; it
//! ends with status 1 if any scenario of any round has a verdict, and says which. The program that measures is the same on both ways, byte for
//! byte: `build.sh` makes it by the same compiler. Without a person's `--even-if-unfit` a machine that is not fit is waited for, then refused.

use std::process::{ExitCode, Stdio};

use serde_json::Value;

#[allow(dead_code, reason = "the tests use the rest")]
#[path = "../tests/it/common/mod.rs"]
mod common;

use common::sshd::{Sshd, parse};

/// A run of either kind, local and through ssh, and their comparison with the local one as the base.
struct Round {
    number: usize,
    runs: [String; 2],
    table: Value,
}

fn main() -> ExitCode {
    // `cargo test --benches` calls it too; it measures for many minutes, so not then.
    if std::env::args().any(|argument| argument == "--test") {
        return ExitCode::SUCCESS;
    }
    match bench() {
        Ok(0) => ExitCode::SUCCESS,
        Ok(marked) => {
            eprintln!("verdicts between the local runs and those through ssh: {marked}; there should be none");
            ExitCode::FAILURE
        }
        Err(why) => {
            eprintln!("bench-hosts: {why}");
            ExitCode::from(2)
        }
    }
}

/// Makes all rounds, and gives the number of verdicts.
fn bench() -> Result<u64, String> {
    let mut words = std::env::args().skip(1).filter(|word| word != "--bench");
    let rounds: Option<usize> = words.next().and_then(|word| word.parse().ok());
    let rounds = rounds.filter(|rounds| *rounds > 0);
    let rounds = rounds.ok_or("the first word is the number of rounds, 1 or more; then come words for `stend run`")?;
    let wanted: Vec<String> = words.collect();
    let desk = Sshd::new().ok_or("it takes root and sshd: apt-get install openssh-server")?;
    // Both ways shall find the same tools.
    desk.has_all_programs();
    let mut marked = 0;
    for number in 1..=rounds {
        marked += measure(&desk, number, &wanted)?.say()?;
    }
    Ok(marked)
}

/// Makes a run of either kind. Which comes first changes from round to round, so that what drifts favours neither.
fn measure(desk: &Sshd, number: usize, wanted: &[String]) -> Result<Round, String> {
    let mut runs = [String::new(), String::new()];
    let order = if number % 2 == 1 { [0, 1] } else { [1, 0] };
    for kind in order {
        eprintln!("round {number}: {}", if kind == 1 { "through ssh" } else { "local" });
        runs[kind] = run(desk, kind == 1, wanted)?;
    }
    let mut compared = parse(&desk.fine(&["compare", &runs[0], &runs[1], "--json"]).out);
    Ok(Round { number, runs, table: compared["table"].take() })
}

/// Makes one run, and gives its id. That repeats did not count is no reason to end: they are made again, and the table says how many there are.
fn run(desk: &Sshd, through_ssh: bool, wanted: &[String]) -> Result<String, String> {
    let on = if through_ssh { "stand" } else { "local" };
    let mut command = desk.command(&["run", "--on", on, "--cc", "cc", "--quiet"]);
    if !through_ssh {
        // Nobody else shall measure here meanwhile.
        command.env_remove("STEND_LOCK");
    }
    let ended = common::ended(command.args(wanted).stdin(Stdio::null()));
    if !matches!(ended.status, Some(0 | 3)) {
        return Err(format!("the run on {on} did not end well: {}", ended.err.trim()));
    }
    let shown = parse(&desk.fine(&["show", "--json"]).out);
    Ok(shown["run"]["run"]["id"].as_str().ok_or("`stend show --json` names no run")?.to_owned())
}

impl Round {
    /// Prints a line for the round and one for each scenario that has a verdict, whose number it gives.
    fn say(&self) -> Result<u64, String> {
        let standing = &self.table["standings"][0];
        let count = |what: &str| standing[what].as_u64().unwrap_or_default();
        let (marked, others) = (count("better") + count("worse"), count("same") + count("unresolved"));
        if marked + others == 0 {
            return Err(format!(
                "no scenario has enough repeats that count in both runs, {} and {}; the machine may be too busy",
                self.runs[0], self.runs[1]
            ));
        }
        let percent =
            |ratio: &Value| ratio.as_f64().map_or("?".into(), |ratio| format!("{:+.1} %", (ratio - 1.0) * 100.0));
        let mean = &standing["mean"];
        println!(
            "round {}: {} scenarios, verdicts: {marked} ({} better through ssh, {} worse), same: {}, unresolved: {}; geometric mean, ssh by local: {} (95 % interval {} to {})",
            self.number,
            marked + others,
            count("better"),
            count("worse"),
            count("same"),
            count("unresolved"),
            percent(&mean["factor"]),
            percent(&mean["interval"][0]),
            percent(&mean["interval"][1]),
        );
        for row in self.table["rows"].as_array().into_iter().flatten() {
            let against = &row["cells"][1]["against_base"];
            if let (Some(verdict @ ("better" | "worse")), true) = (against["verdict"].as_str(), row["main"] == true) {
                println!("  {verdict} through ssh: {}, {}", row["scenario"], percent(&against["factor"]));
            }
        }
        Ok(marked)
    }
}
