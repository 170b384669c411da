use super::*;
use crate::fixture::scenario;

/// As the script writes it, and curl.
const REPORT: &str = "requests 1000\nduration_us 1000123\nbytes 94393000\nerror_connect 0\nerror_read 0\nerror_write 0\n\
                      error_status 0\nerror_timeout 0\nlatency 44 999\nlatency 17100 1\n";
const SEEN_TWICE: &str = "200 243 94150\n200 243 94150\nsame\n\
                          e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  -\n";

fn finished(report: &str, seen: &str) -> Finished {
    let usage = serde_json::from_str(
        r#"{"wall_ns":1100000000,"user_ns":200000000,"system_ns":300000000,"max_rss_bytes":1,"exit":0}"#,
    );
    Finished {
        stdout: seen.into(),
        stderr: String::new(),
        files: BTreeMap::from([("/repeat/report".into(), report.into())]),
        usage: usage.unwrap(),
        started_ns: 5,
        version: "wrk debian/4.1.0-3+b2 [epoll] Copyright (C) 2012 Will Glozer\n".into(),
    }
}

fn report_of(parameters: &[(&str, &str)], report: &str, seen: &str) -> Result<Report, Cause> {
    let events = Wrk.translate(&scenario("wrk", parameters.iter().copied()), &finished(report, seen))?;
    Ok(crate::fixture::taken_apart(events).2)
}

const URL: (&str, &str) = ("url", "http://127.0.0.1:1/page.html");

#[test]
fn responses_latencies_and_the_stretch_are_wrks_own() {
    let report = report_of(&[URL, ("connections", "4"), ("body", "94150")], REPORT, SEEN_TWICE).unwrap();
    assert_eq!((report.wall_ns, report.cpu_ns), (1_000_123_000, Some(500_000_000)));
    assert_eq!((report.work["operations"], report.work["bytes"]), (1000.0, 94_150_000.0));
    assert_eq!(report.check, Check::Passed, "{:?}", report.evidence);
    assert!((44_000.0..44_100.0).contains(&report.observed["latency_p99_ns"]), "{:?}", report.observed);
}

#[test]
fn what_was_not_as_it_should_be_does_not_pass() {
    let checked = |report: &str, seen: &str| report_of(&[URL, ("connections", "4")], report, seen).unwrap().check;
    assert_eq!(checked(REPORT, SEEN_TWICE), Check::Passed);
    // At the end four responses may have been under way.
    assert_eq!(checked(&REPORT.replace("94393000", "94770572"), SEEN_TWICE), Check::Passed);
    assert_eq!(checked(&REPORT.replace("94393000", "94770573"), SEEN_TWICE), Check::Failed);
    assert_eq!(checked(&REPORT.replace("94393000", "94392999"), SEEN_TWICE), Check::Failed);
    assert_eq!(checked(&REPORT.replace("error_status 0", "error_status 1"), SEEN_TWICE), Check::Failed);
    assert_eq!(checked(&REPORT.replace("error_timeout 0", "error_timeout 2"), SEEN_TWICE), Check::Failed);
    assert_eq!(checked(REPORT, &SEEN_TWICE.replace("same", "other")), Check::Failed);
    assert_eq!(checked(REPORT, &SEEN_TWICE.replace("200 243", "404 243")), Check::Failed);
    assert_eq!(checked(REPORT, &SEEN_TWICE.replacen("243", "244", 1)), Check::Failed);
    let wrong_body = report_of(&[URL, ("connections", "4"), ("body", "1000")], REPORT, SEEN_TWICE).unwrap();
    assert_eq!(wrong_body.check, Check::Failed);
}

#[test]
fn what_is_no_report_is_told_with_the_line() {
    for (report, seen, said) in [
        ("", SEEN_TWICE, ""),
        ("requests many\n", SEEN_TWICE, "requests many"),
        ("hello 1\n", SEEN_TWICE, "hello 1"),
        (REPORT, "curl: (7) Failed to connect", "curl: (7)"),
    ] {
        let Err(Cause::ToolLine { said: quoted, .. }) = report_of(&[URL], report, seen) else { panic!("{report}") };
        assert!(quoted.contains(said), "{quoted}");
    }
}

#[test]
fn parameters_that_make_no_sense_are_named() {
    for (parameters, said) in [
        (&[][..], "\"url\" is missing"),
        (&[URL, ("connections", "0")], "1 to 10000"),
        (&[URL, ("connections", "2"), ("threads", "3")], "1 to 2"),
        (&[URL, ("rate", "5")], "no parameter \"rate\""),
    ] {
        let error = Wrk.check(&scenario("wrk", parameters.iter().copied())).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
}
