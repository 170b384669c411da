//! Prints the calibration tables of the method page: how often the rule marks what does not differ, and how often it finds what does, on
//! simulated repeats. `cargo run --release --package stend-stats --example calibration [TABLES]`.

#[path = "../tests/it/common/mod.rs"]
mod common;

use std::num::NonZero;
use std::thread;

use common::{NOISES, Noise, Plan};
use stend_stats::Design::{self, InTurns, OneAfterTheOther, SessionsInTurns};
use stend_stats::{ChangeRule, SplitMix64, change_points};

fn percent(share: f64) -> String {
    format!("{:.1}", share * 100.0)
}

fn head(columns: &[&str]) {
    println!("| {} |\n|{}", columns.join(" | "), "---|".repeat(columns.len()));
}

/// A row for each, in their order; on all processors.
fn rows<T: Copy + Send + Sync>(of: &[T], row: impl Fn(T) -> String + Sync) {
    let share = of.len().div_ceil(thread::available_parallelism().map_or(1, NonZero::get));
    let lines = |part: &[T]| part.iter().map(|one| format!("| {} |\n", row(*one))).collect::<String>();
    thread::scope(|scope| {
        let parts: Vec<_> = of.chunks(share).map(|part| scope.spawn(|| lines(part))).collect();
        parts.into_iter().for_each(|part| print!("{}", part.join().unwrap()));
    });
}

/// Tables with any false mark, in a design.
fn levels(title: &str, design: Design, sessions: usize, numbers: &[usize], tables: usize) {
    println!("\n{title}\n");
    let sizes = [1, 20, 100];
    let columns: Vec<String> = numbers.iter().flat_map(|n| sizes.map(|cells| format!("n = {n}, {cells}"))).collect();
    let mut names = vec!["noise"];
    names.extend(columns.iter().map(String::as_str));
    head(&names);
    rows(&NOISES, |noise| {
        let cell = |n: usize, cells: usize| {
            let trials = if cells == 1 { 5 * tables } else { tables };
            let found = Plan::new(design, sessions, n, cells).try_out(|_| noise, trials, 1);
            if design == OneAfterTheOther && sessions == 1 && cells > 1 {
                format!("{} / {}", percent(found.false_cells), percent(found.false_tables))
            } else {
                percent(found.false_tables)
            }
        };
        let cells: Vec<String> = numbers.iter().flat_map(|n| sizes.map(|cells| cell(*n, cells))).collect();
        format!("{} | {}", noise.name(), cells.join(" | "))
    });
}

fn main() {
    let tables = std::env::args().nth(1).map_or(1000, |text| text.parse().expect("a number of tables"));
    levels("In turns: % of tables with any false mark", InTurns, 1, &[6, 10, 20], tables);
    levels("Sessions in turns, five repeats each: % of tables with any false mark", SessionsInTurns, 5, &[5], tables);
    levels("The same with ten sessions", SessionsInTurns, 10, &[5], tables);
    levels("One session each: % of cells / of tables with any false mark", OneAfterTheOther, 1, &[6, 10, 20], tables);
    for (title, sessions) in [("Two", 2), ("Three", 3), ("Five", 5)] {
        let title = format!("{title} sessions each, one side after the other: % of tables with any false mark");
        levels(&title, OneAfterTheOther, sessions, &[5], tables);
    }
    println!("\nSteady histories of 50 values with any change, %\n");
    head(&["noise", "changed"]);
    let neighbours = |correlation| Noise::Wave { correlation, common: false };
    let noises =
        [Noise::Normal(0.02), Noise::LogNormal(0.3), Noise::Bimodal, Noise::Rounded, neighbours(0.2), neighbours(0.5)];
    rows(&noises, |noise| {
        let mut random = SplitMix64::new(4);
        let rule = ChangeRule { least_change: 0.0, ..ChangeRule::default() };
        let changed = (0..10 * tables).filter(|_| {
            let values = Plan::new(OneAfterTheOther, 1, 25, 1).cells(|_| noise, &mut random).remove(0);
            let history = [values.a_sessions.concat(), values.b_sessions.concat()].concat();
            change_points(&history, &rule).is_some_and(|found| !found.is_empty())
        });
        format!("{} | {}", noise.name(), percent(changed.count() as f64 / (10 * tables) as f64))
    });
    println!("\nPower: % of the cells that differ found\n");
    head(&["design", "n", "cells", "of them faster", "by", "CV", "found"]);
    let differences = [
        (InTurns, 6, 20, 1, 0.05, 0.01),
        (InTurns, 10, 20, 1, 0.10, 0.03),
        (InTurns, 6, 20, 1, 0.10, 0.03),
        (InTurns, 10, 20, 1, 0.05, 0.03),
        (InTurns, 10, 100, 1, 0.10, 0.03),
        (InTurns, 10, 1, 1, 0.05, 0.03),
        (InTurns, 10, 20, 20, 0.05, 0.03),
        (OneAfterTheOther, 10, 20, 20, 0.10, 0.03),
        (OneAfterTheOther, 10, 20, 20, 0.05, 0.03),
        (OneAfterTheOther, 20, 20, 20, 0.10, 0.10),
        (OneAfterTheOther, 6, 1, 1, 0.10, 0.01),
    ];
    rows(&differences, |(design, n, cells, faster, by, cv)| {
        let plan = Plan::new(design, 1, n, cells).with(faster, 1.0 + by);
        let found = plan.try_out(|_| Noise::Normal(cv), tables, 2).found;
        format!("{design:?} | {n} | {cells} | {faster} | {} % | {} % | {}", by * 100.0, cv * 100.0, percent(found))
    });
    // Every other row is noisy; the quiet ones are counted.
    let plan = Plan::new(OneAfterTheOther, 1, 10, 20).with(20, 1.1);
    let mut random = SplitMix64::new(3);
    let noise = |place: usize| Noise::Normal(if place.is_multiple_of(2) { 0.03 } else { 0.1 });
    let mut quiet = 0;
    for _ in 0..tables {
        let results = stend_stats::compare(&plan.cells(noise, &mut random));
        quiet += results.iter().step_by(2).filter(|result| common::marked(result)).count();
    }
    println!("\nQuiet rows of a table half of which has CV 10 %: {}", percent(quiet as f64 / (10 * tables) as f64));
}
