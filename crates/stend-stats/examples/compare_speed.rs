//! Time of one table: 50 cells of 20 repeats a side, and of 1,000 cells. Wall time, and CPU time where Linux tells it, which other programs on
//! the machine disturb less.
//!
//!     cargo run --release -p stend-stats --example compare_speed

#[path = "../tests/it/common/mod.rs"]
mod common;

use std::time::Instant;

use common::{Noise, Plan};
use stend_stats::Design::{InTurns, OneAfterTheOther, SessionsInTurns};
use stend_stats::{SplitMix64, compare};

/// CPU time of this thread so far, ns.
fn cpu_ns() -> Option<u64> {
    std::fs::read_to_string("/proc/thread-self/schedstat").ok()?.split(' ').next()?.parse().ok()
}

fn main() {
    println!("20 repeats a side; best of 5, wall and CPU");
    for (design, sessions, repeats, cells) in [
        (OneAfterTheOther, 1, 20, 50),
        (InTurns, 1, 20, 50),
        (SessionsInTurns, 5, 4, 50),
        (OneAfterTheOther, 1, 20, 1000),
    ] {
        let plan = Plan::new(design, sessions, repeats, cells).with(cells / 2, 1.03);
        let cells = plan.cells(|_| Noise::Normal(0.02), &mut SplitMix64::new(1));
        let time = || {
            let (start, cpu) = (Instant::now(), cpu_ns());
            let marks = compare(&cells).iter().filter(|result| common::marked(result)).count();
            let cpu = cpu.and_then(|before| Some(cpu_ns()?.saturating_sub(before)));
            (start.elapsed().as_secs_f64() * 1e3, cpu.map_or(f64::NAN, |ns| ns as f64 / 1e6), marks)
        };
        let runs: Vec<_> = (0..5).map(|_| time()).collect();
        let wall = runs.iter().map(|run| run.0).fold(f64::INFINITY, f64::min);
        let cpu = runs.iter().map(|run| run.1).fold(f64::INFINITY, f64::min);
        let design = format!("{design:?}");
        println!("{design:18} {:5} cells {wall:8.2} ms {cpu:8.2} ms  ({} marked)", cells.len(), runs[0].2);
    }
}
