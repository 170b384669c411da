//! A machine whose clock is set while fio runs.

use stend_model::cause::Why;

use super::super::*;
use super::{translated, with_report};
use crate::fixture::{read, taken_apart};

#[test]
fn a_small_step_of_the_clock_is_known_by_what_the_guard_saw() {
    let plain = taken_apart(translated("fio-3.33-randread").unwrap());
    // Too small to be seen from the report and the logs alone; the second one came before fio looked at the clock.
    for (step_ms, written_later_ms) in [(3_000_i64, 3_000), (3_000, 0), (-2_500, -2_500), (-2_500, 0)] {
        let (scenario, mut finished) = read(&Fio, "fio-3.33-randread");
        finished.usage.clock_step_ns = Some(step_ms * 1_000_000);
        let written = finished.files.get_mut("/repeat/report.json").unwrap();
        *written = later(&String::from_utf8_lossy(written), written_later_ms).into_bytes();
        let (begin, samples, report) = taken_apart(Fio.translate(&scenario, &finished).unwrap());
        let seconds = step_ms as f64 / 1e3;
        assert_eq!(begin.missing["clock"], Cause::ClockSet { seconds }.into());
        let times = |samples: &[Sample]| samples.iter().map(|sample| sample.t_ns).collect::<Vec<_>>();
        assert_eq!(times(&samples), times(&plain.1), "{step_ms} {written_later_ms}");
        assert_eq!(report.t_ns, plain.2.t_ns);
    }
    // The guard says that nobody set the clock, so a report an hour late is only late.
    let (scenario, mut finished) = read(&Fio, "fio-3.33-randread");
    finished.usage.clock_step_ns = Some(-4_000);
    assert!(!taken_apart(Fio.translate(&scenario, &finished).unwrap()).0.missing.contains_key("clock"));
}

/// The report, written so much later by the clock on the wall.
fn later(report: &str, step_ms: i64) -> String {
    let line = report.lines().find(|line| line.contains("\"timestamp_ms\"")).unwrap();
    let written: i64 = line.chars().filter(char::is_ascii_digit).collect::<String>().parse().unwrap();
    report.replacen(line, &format!("  \"timestamp_ms\" : {},", written + step_ms), 1)
}

#[test]
fn when_a_load_began_that_wrote_no_window_is_known_only_if_it_was_short() {
    let began = |took_ms: u64| {
        let (scenario, mut finished) = read(&Fio, "fio-3.33-randread");
        let written = finished.files.get_mut("/repeat/report.json").unwrap();
        let report = String::from_utf8_lossy(written);
        let took = |line: &str| match line.trim_start().starts_with("\"runtime\"") {
            true => format!("\"runtime\" : {took_ms},"),
            false => line.to_owned(),
        };
        *written = report.lines().map(took).collect::<Vec<_>>().join("\n").into_bytes();
        finished.files.retain(|path, _| !path.contains("/log_"));
        let (begin, _, report) = taken_apart(Fio.translate(&scenario, &finished).unwrap());
        assert!(matches!(begin.missing["series"], Why::Fact(Cause::NoWindow { .. })), "{:?}", begin.missing);
        assert_eq!(report.wall_ns, took_ms * 1_000_000);
        report.t_ns
    };
    // fio itself was kept waiting, and may have ended long after its load.
    assert_eq!(began(1000), None);
    assert!(began(150).is_some(), "its windows are of 100 ms");
}

#[test]
fn a_clock_that_is_set_meanwhile_moves_no_sample() {
    let plain = taken_apart(translated("fio-3.33-randread").unwrap());
    for step_ms in [-3_600_000_i64, 3_600_000] {
        let stepped = with_report(|report| later(report, step_ms));
        let (begin, samples, report) = taken_apart(stepped.unwrap());
        assert!(matches!(begin.missing["clock"], Why::Fact(Cause::ClockSet { .. })), "{:?}", begin.missing);
        assert_eq!(samples.len(), plain.1.len());
        for (sample, there) in samples.iter().zip(&plain.1) {
            assert!((sample.t_ns - there.t_ns).abs() < 500_000_000, "{} {}", sample.t_ns, there.t_ns);
            assert_eq!(sample.values, there.values);
        }
        assert_eq!(report.wall_ns, plain.2.wall_ns);
    }
    assert!(!plain.0.missing.contains_key("clock"));
    // A report that is late, as after a job that has to write out what it wrote: nobody set the clock.
    let (scenario, mut finished) = read(&Fio, "fio-3.33-randread");
    finished.usage.wall_ns += 60_000_000_000;
    let written = finished.files.get_mut("/repeat/report.json").unwrap();
    *written = later(&String::from_utf8_lossy(written), 60_000).into_bytes();
    let late = taken_apart(Fio.translate(&scenario, &finished).unwrap());
    assert!(!late.0.missing.contains_key("clock"), "{:?}", late.0.missing);
    assert_eq!(late.1[0].t_ns, plain.1[0].t_ns, "the samples stand where they stood");
    // A report that does not say when it was written: the last line of the logs is taken for its end, and nobody is blamed.
    let silent = taken_apart(with_report(|report| report.replacen("timestamp_ms", "timestamp_s", 1)).unwrap());
    assert!(!silent.0.missing.contains_key("clock") && silent.1.len() == plain.1.len());
    assert!(silent.1.windows(2).all(|pair| pair[0].t_ns < pair[1].t_ns));
}
