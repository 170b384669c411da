//! What fio logs while it runs.

use super::super::*;

#[test]
fn histograms_are_put_together_and_percentiles_are_not() {
    use crate::instrument::fio::histogram::{Histogram, parse};
    // 99 fast operations in one window and 1 slow one in another: the 99th percentile of all is fast.
    let line = |ms: u32, bucket: usize, count: u32| {
        let counts: Vec<_> = (0..1856).map(|at| if at == bucket { count.to_string() } else { "0".into() }).collect();
        format!("{ms}, 0, 4096, {}\n", counts.join(", "))
    };
    let read = parse(&(line(100, 217, 99) + &line(200, 681, 1))).unwrap();
    let mut all = Histogram::default();
    read.iter().for_each(|(_, _, histogram)| all.add(histogram));
    // As fio's own report of the same run names these two buckets.
    let (quick, slow) = (358.0, 54016.0);
    let expected =
        [("latency_p50_ns", quick), ("latency_p99_ns", quick), ("latency_p999_ns", slow), ("latency_max_ns", slow)];
    assert_eq!(all.figures().collect::<Vec<_>>(), expected);
    assert_eq!(all.mean(), Some((99.0 * quick + slow) / 100.0));
    assert_eq!((Histogram::default().quantile(0.5), Histogram::default().mean()), (None, None));
    for bad in ["1, 0, 4096, 1, 2\n", "1, 0\n", "x", "1, 0, 4096, -1"] {
        assert!(parse(bad).unwrap_err().contains("clat_hist log has the line"), "{bad}");
    }
}

#[test]
fn a_job_that_stands_still_is_not_left_out() {
    let log = |stamps: &[(u64, u64)]| -> String {
        stamps.iter().map(|(ms, value)| format!("{ms}, {value}, 0, 8192, 0\n")).collect()
    };
    let windows_of = |files: &[(&str, String)], together_ms: Option<u32>| -> Vec<(f64, f64)> {
        let layout = Layout { jobs_of_a_lun: Some(1), luns: 2, window_ms: 100, histogram_window_ms: 100, together_ms };
        let logs = Logs::parse(files.iter().map(|(name, text)| (*name, text.as_str())), &layout).unwrap();
        logs.windows().into_iter().filter_map(|(ms, values)| Some((ms, *values.get("iops")?))).collect()
    };
    let windows = |files: &[(&str, String)]| windows_of(files, None);
    let (one, other) = ("log_iops.1.log", "log_iops.2.log");
    let steady = log(&[(1000, 50), (1100, 50), (1201, 50), (1301, 50), (1401, 50)]);
    // As fio 3.33 writes it of a job whose server was stopped: no lines, and then what it does again.
    let stalled = log(&[(1000, 40), (1100, 40), (1401, 40)]);
    let sums = |all: &[f64]| (10..).map(|window| f64::from(window * 100)).zip(all.iter().copied()).collect::<Vec<_>>();
    assert_eq!(windows(&[(one, steady.clone()), (other, stalled.clone())]), sums(&[90.0, 90.0, 50.0, 50.0, 90.0]));
    // All stand still, and no operation ends.
    assert_eq!(windows(&[(one, stalled.clone()), (other, stalled.clone())]), sums(&[80.0, 80.0, 0.0, 0.0, 80.0]));
    // Operations end, and it is fio that was late.
    let ended = ("log_clat.1.log", log(&[(1201, 9), (1301, 9)]));
    let late: Vec<_> = windows(&[(one, stalled.clone()), (other, stalled.clone()), ended]);
    assert_eq!(late, [(1000.0, 80.0), (1100.0, 80.0), (1400.0, 80.0)]);
    // Lines of a job that is late once fall into one window, and are still one job's.
    let drifting = log(&[(1000, 40), (1100, 40), (1160, 60), (1240, 20), (1301, 40), (1401, 40)]);
    assert_eq!(windows(&[(one, steady.clone()), (other, drifting)]), sums(&[90.0; 5]));
    // One that has not begun or has ended is no dip.
    let short = log(&[(1100, 40), (1201, 40)]);
    assert_eq!(windows(&[(one, steady.clone()), (other, short)]), [(1100.0, 90.0), (1200.0, 90.0)]);
    // But one that says nothing more where all end together never came back, and where none does, neither did any.
    let gone = log(&[(1000, 40), (1100, 40)]);
    let together = |files: &[(&str, String)]| windows_of(files, Some(500));
    assert_eq!(together(&[(one, steady), (other, gone.clone())]), sums(&[90.0, 90.0, 50.0, 50.0, 50.0]));
    assert_eq!(together(&[(one, gone.clone()), (other, gone)]), sums(&[80.0, 80.0, 0.0, 0.0, 0.0]));
}
