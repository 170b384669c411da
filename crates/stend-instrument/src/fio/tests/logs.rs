//! What fio logs while it runs.

use super::super::*;
use stend_model::cause::Cause;

#[test]
fn histograms_are_put_together_and_percentiles_are_not() {
    use crate::fio::histogram::{Histogram, parse};
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
        assert!(matches!(parse(bad), Err(Cause::ToolLine { .. })), "{bad}");
    }
}

#[test]
fn a_job_that_stands_still_is_not_left_out() {
    let log = |stamps: &[(u64, u64)]| -> String {
        stamps.iter().map(|(ms, value)| format!("{ms}, {value}, 0, 8192, 0\n")).collect()
    };
    let windows_of = |files: &[(&str, String)], together_ms: Option<u32>| -> Vec<(f64, f64)> {
        let layout = Layout {
            jobs_of_a_lun: Some(1),
            luns: 2,
            window_ms: 100,
            histogram_window_ms: 100,
            together_ms,
            measured: None,
        };
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
    assert_eq!(late, sums(&[80.0; 5]), "the next line is the mean of all that ended meanwhile");
    // Lines of a job that is late once fall into one window, and are still one job's.
    let drifting = log(&[(1000, 40), (1100, 40), (1160, 60), (1240, 20), (1301, 40), (1401, 40)]);
    assert_eq!(windows(&[(one, steady.clone()), (other, drifting)]), sums(&[90.0; 5]));
    // One that has not begun or has ended is no dip.
    let short = log(&[(1100, 40), (1201, 40)]);
    assert_eq!(windows(&[(one, steady.clone()), (other, short)]), [(1100.0, 90.0), (1200.0, 90.0)]);
    // But one that says nothing more where all end together never came back, and where none does, neither did any.
    let gone = log(&[(1000, 40), (1100, 40)]);
    let together = |files: &[(&str, String)]| windows_of(files, Some(500));
    assert_eq!(together(&[(one, steady.clone()), (other, gone.clone())]), sums(&[90.0, 90.0, 50.0, 50.0, 50.0]));
    assert_eq!(together(&[(one, gone.clone()), (other, gone.clone())]), sums(&[80.0, 80.0, 0.0, 0.0, 0.0]));
    // Nor where fio was late before the other's last line, or steps over a window before the end.
    let late = log(&[(1000, 50), (1100, 50), (1201, 50), (1401, 50)]);
    let ended = ("log_clat.1.log", log(&[(1201, 9), (1301, 9)]));
    assert_eq!(together(&[(one, late), (other, gone), ended]), sums(&[90.0, 90.0, 50.0, 50.0, 50.0]));
    let drifting = log(&[(1000, 40), (1100, 40), (1201, 40), (1349, 40)]);
    assert_eq!(together(&[(one, steady), (other, drifting)]), sums(&[90.0; 5]));
}

#[test]
fn what_logs_pass_over_is_filled_in_so_far_and_no_further() {
    let text: String = (0..6_u64).map(|line| format!("{}, 5, 0, 4096, 0\n", 1000 + line * 1_000_000_000)).collect();
    let layout = Layout {
        jobs_of_a_lun: Some(1),
        luns: 1,
        window_ms: 100,
        histogram_window_ms: 100,
        together_ms: None,
        measured: None,
    };
    let logs = Logs::parse([("log_iops.1.log", &*text)].into_iter(), &layout).unwrap();
    assert_eq!(logs.windows().len(), 10_000 + 6);
}

#[test]
fn counts_that_no_number_holds_are_added_up_all_the_same() {
    use crate::fio::histogram::parse;
    let counts: Vec<_> = (0..1856).map(|at| if at < 2 { u64::MAX.to_string() } else { "0".into() }).collect();
    let read = parse(&format!("1, 0, 4096, {}\n", counts.join(", "))).unwrap();
    let mut all = read[0].2.clone();
    all.add(&read[0].2);
    assert_eq!((all.mean(), all.quantile(1.0)), (Some(0.5), Some(1.0)));
}

/// As fio 3.33 writes it of many operations in flight: a job's first line comes when its first operation has ended, windows after the beginning,
/// and its last one in the last whole window before all that was in flight has ended.
#[test]
fn a_load_begins_where_it_began_also_where_its_first_operations_take_several_windows() {
    let log = |windows: std::ops::RangeInclusive<u64>, drift: u64| -> String {
        windows.map(|window| format!("{}, 50, 0, 8192, 0\n", 50_000 + 100 * window + drift)).collect()
    };
    let of = |files: &[String], wall_ms: f64, together: bool| {
        let layout = Layout {
            jobs_of_a_lun: Some(2),
            luns: 1,
            window_ms: 100,
            histogram_window_ms: 100,
            together_ms: together.then_some(1000),
            measured: Some((2, wall_ms)),
        };
        let names: Vec<_> = (1..=files.len()).map(|job| format!("log_iops.{job}.log")).collect();
        let files = names.iter().zip(files).map(|(name, text)| (name.as_str(), text.as_str()));
        let logs = Logs::parse(files, &layout).unwrap();
        let windows: Vec<_> = logs.windows().iter().map(|(ms, values)| (*ms - 50_000.0, values["iops"])).collect();
        (logs.began_ms().unwrap() - 50_000.0, windows)
    };
    let began = |files: &[String], wall_ms: f64| of(files, wall_ms, true).0;
    // Each begins at 0 by the test's clock and works for a second; what is in flight then takes up to 390 ms more.
    assert_eq!(began(&[log(1..=10, 0), log(1..=10, 0)], 1000.0), 0.0);
    assert_eq!(began(&[log(1..=10, 0), log(1..=10, 1)], 999.0), 0.0);
    assert_eq!(began(&[log(4..=13, 0), log(3..=13, 0)], 1380.0), 0.0);
    assert_eq!(began(&[log(4..=13, 0), log(4..=12, 0)], 1395.0), 0.0);
    assert_eq!(began(&[log(4..=13, 3), log(4..=13, 0)], 1310.0), 0.0, "stamps drift by milliseconds");
    // What reads back afterwards is another job, and later.
    assert_eq!(began(&[log(3..=10, 0), log(2..=10, 0), log(30..=40, 0)], 1000.0), 0.0);
    // A job that began late is not when the load began.
    assert_eq!(began(&[log(2..=11, 50), log(1..=10, 0)], 1060.0), 0.0);
    // Until then nothing had ended, which is no window that is not there.
    let (_, windows) = of(&[log(4..=12, 0), log(3..=13, 0)], 1380.0, true);
    let rates =
        |range: std::ops::RangeInclusive<u32>, rate: f64| range.map(move |window| (f64::from(100 * window), rate));
    let wanted: Vec<_> = rates(1..=2, 0.0).chain(rates(3..=3, 50.0)).chain(rates(4..=12, 100.0)).collect();
    assert_eq!(windows[..12], wanted);
    // Where jobs need not begin together, only windows that all of them have are whole.
    let (began, windows) = of(&[log(4..=9, 0), log(3..=10, 0)], 1000.0, false);
    assert_eq!((began, windows), (0.0, rates(4..=9, 100.0).collect()));
}

proptest::proptest! {
    /// Where all jobs begin and end together, each window up to the last one that is told has a figure, and one in which operations ended has
    /// as many as the histograms count.
    #[test]
    fn no_window_is_missing_between_others(
        jobs in proptest::collection::vec((stamps(1..20), stamps(0..6)), 1..5),
        wall_ms in proptest::option::of(900_u32..2000),
    ) {
        let lines = |stamps: &[u64], rest: &str| -> String {
            stamps.iter().map(|ms| format!("{}, {rest}\n", 50_000 + ms)).collect()
        };
        let counts: String = (0..1856).map(|bucket| if bucket == 300 { ", 7" } else { ", 0" }).collect();
        let files: Vec<_> = (1..)
            .zip(&jobs)
            .flat_map(|(job, (rates, ended)): (u32, _)| {
                [
                    (format!("log_iops.{job}.log"), lines(rates, "5, 1, 8192, 0")),
                    (format!("log_clat_hist.{job}.log"), lines(ended, &format!("1, 8192{counts}"))),
                ]
            })
            .collect();
        let layout = Layout {
            jobs_of_a_lun: Some(1),
            luns: 2,
            window_ms: 100,
            histogram_window_ms: 100,
            together_ms: Some(1000),
            measured: wall_ms.map(|wall| (jobs.len() as u32, f64::from(wall))),
        };
        let logs = Logs::parse(files.iter().map(|(name, text)| (&**name, &**text)), &layout).unwrap();
        let rates: Vec<_> =
            logs.windows().into_iter().filter_map(|(ms, values)| Some((ms, *values.get("iops")?))).collect();
        for pair in rates.windows(2) {
            proptest::prop_assert_eq!(pair[1].0 - pair[0].0, 100.0, "{:?}", rates);
        }
        // What no line of a rate follows is counted.
        let first = jobs.iter().flat_map(|(rates, _)| rates).min().unwrap();
        let window = |ms: &u64| ((*ms as f64 - *first as f64) / 100.0).round() as i64;
        let last = jobs.iter().flat_map(|(rates, _)| rates).map(window).max().unwrap();
        for (ms, rate) in &rates {
            let at = ((ms - 50_000.0 - *first as f64) / 100.0).round() as i64;
            if at <= last {
                continue;
            }
            let lines = jobs.iter().flat_map(|(_, ended)| ended).filter(|ms| window(ms) == at).count();
            proptest::prop_assert_eq!(*rate, 70.0 * lines as f64, "{:?}", rates);
        }
    }
}

/// When lines of a job were written, in milliseconds from some moment on.
fn stamps(count: std::ops::Range<usize>) -> impl proptest::strategy::Strategy<Value = Vec<u64>> {
    use proptest::strategy::Strategy;
    proptest::collection::vec(0_u64..2000, count).prop_map(|mut stamps| {
        stamps.sort_unstable();
        stamps
    })
}
