//! Time of one table: 50 cells of 20 repeats a side, 10,000 draws where draws are needed. Wall time, and CPU time where Linux tells
//! it, which other programs on the machine disturb less.
//!
//!     cargo run --release -p stend-stats --example compare_speed

use std::time::Instant;
use stend_stats::{Cell, Direction, SplitMix64, compare_runs};

fn cells(sessions: usize, repeats: usize, digits: i32, paired: bool) -> Vec<Cell> {
    let mut random = SplitMix64::new(1);
    let scale = 10_f64.powi(digits);
    let mut side = |level: f64| -> Vec<Vec<f64>> {
        let mut value = || {
            let noise = (0..12).map(|_| random.next_f64()).sum::<f64>() - 6.0;
            (level * (1.0 + 0.02 * noise) * scale).round() / scale
        };
        (0..sessions).map(|_| (0..repeats).map(|_| value()).collect()).collect()
    };
    (0..50)
        .map(|i| Cell {
            a_sessions: side(100.0 + f64::from(i) / 10.0),
            b_sessions: side(100.0),
            direction: Direction::HigherIsBetter,
            delta: 0.01,
            paired,
        })
        .collect()
}

/// CPU time of this thread so far, ns.
fn cpu_ns() -> Option<u64> {
    std::fs::read_to_string("/proc/thread-self/schedstat").ok()?.split(' ').next()?.parse().ok()
}

fn main() {
    println!("50 cells, 20 repeats a side; best of 5, wall and CPU");
    for (name, cells) in [
        ("1 session", cells(1, 20, 9, false)),
        ("1 session, ties", cells(1, 20, 0, false)),
        ("2 sessions of 10", cells(2, 10, 9, false)),
        ("4 sessions of 5, ties", cells(4, 5, 0, false)),
        ("1 session, paired", cells(1, 20, 9, true)),
        ("2 sessions of 10, paired", cells(2, 10, 9, true)),
    ] {
        let time = || {
            let (start, cpu) = (Instant::now(), cpu_ns());
            let marks = compare_runs(&cells).iter().filter(|r| r.q < Some(0.05)).count();
            let cpu = cpu.and_then(|before| Some(cpu_ns()?.saturating_sub(before)));
            (start.elapsed().as_secs_f64() * 1e3, cpu.map_or(f64::NAN, |ns| ns as f64 / 1e6), marks)
        };
        let runs: Vec<_> = (0..5).map(|_| time()).collect();
        let wall = runs.iter().map(|run| run.0).fold(f64::INFINITY, f64::min);
        let cpu = runs.iter().map(|run| run.1).fold(f64::INFINITY, f64::min);
        println!("{name:26} {wall:8.2} ms {cpu:8.2} ms  ({} significant)", runs[0].2);
    }
}
