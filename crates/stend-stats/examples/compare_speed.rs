//! Time of one table: 50 cells of 20 repeats a side, 10,000 draws where draws are needed.
//!
//!     cargo run --release -p stend-stats --example compare_speed

use std::time::Instant;
use stend_stats::{Cell, Direction, SplitMix64, compare_table};

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

fn main() {
    println!("50 cells, 20 repeats a side; best of 5");
    for (name, cells) in [
        ("1 session", cells(1, 20, 9, false)),
        ("1 session, ties", cells(1, 20, 0, false)),
        ("2 sessions of 10", cells(2, 10, 9, false)),
        ("4 sessions of 5, ties", cells(4, 5, 0, false)),
        ("1 session, paired", cells(1, 20, 9, true)),
        ("2 sessions of 10, paired", cells(2, 10, 9, true)),
    ] {
        let time = || {
            let start = Instant::now();
            let marks = compare_table(&cells).iter().filter(|r| r.q < Some(0.05)).count();
            (start.elapsed(), marks)
        };
        let (best, marks) = (0..5).map(|_| time()).min().unwrap_or_default();
        println!("{name:26} {:8.2} ms  ({marks} significant)", best.as_secs_f64() * 1e3);
    }
}
