use super::*;
use crate::fixture::scenario;

/// As the script writes it, and curl.
const REPORT: &str = "requests 1000\nduration_us 1000123\nbytes 94393000\nerror_connect 0\nerror_read 0\nerror_write 0\n\
                      error_status 0\nerror_timeout 0\nlatency 44 999\nlatency 17100 1\n";
const SEEN_TWICE: &str = "200 243 94150\n200 243 94150\nsame\n\
                          e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  -\n";

/// As ab and h2load wrote them, shortened to what may be read, and what awk made of oha's table.
const AB_SAID: &str = "Document Length:        94150 bytes\n\nConcurrency Level:      2\nTime taken for tests:   1.001 seconds\n\
                  Complete requests:      10319\nFailed requests:        0\nKeep-Alive requests:    10319\n\
                  Total transferred:      974064058 bytes\nHTML transferred:       971566618 bytes\n\
                  Requests per second:    10309.83 [#/sec] (mean)\nTime per request:       0.194 [ms] (mean)\n\n\
                  percentile: 50,0.087\npercentile: 99,1.902\n";
const H2LOAD_SAID: &str = "finished in 1.00s, 4049.00 req/s, 364.44MB/s\n\
                      requests: 4049 total, 4051 started, 4049 done, 4049 succeeded, 0 failed, 0 errored, 0 timeout\n\
                      status codes: 4049 2xx, 0 3xx, 0 4xx, 0 5xx\n\
                      traffic: 364.44MB (382144669) total, 446.81KB (457537) headers (space savings 37.57%), 363.55MB (381213350) data\n\
                      time for request:      144us     31.80ms       460us      1.01ms    95.80%\nlatency: 144 4048\nlatency: 31800 1\n";
const OHA_SAID: &str = "requests 1000\nerrors 0\nbytes 94150000\nlast_ns 999012345\nend_ns 999212345\nlatency 98700 990\nlatency 7120000 10\n";

fn finished(report: &str, seen: &str) -> Finished {
    let usage = serde_json::from_str(
        r#"{"wall_ns":1100000000,"user_ns":200000000,"system_ns":300000000,"max_rss_bytes":1,"exit":0}"#,
    );
    Finished {
        stdout: seen.into(),
        stderr: String::new(),
        after: String::new(),
        files: BTreeMap::from([("/repeat/report".into(), report.into())]),
        usage: usage.unwrap(),
        started_ns: 5,
        version: "wrk debian/4.1.0-3+b2 [epoll] Copyright (C) 2012 Will Glozer\n".into(),
    }
}

fn of_loader(loader: &Http, parameters: &[(&str, &str)], report: &str, seen: &str) -> Result<Report, Cause> {
    let events = loader.translate(&scenario(loader.name(), parameters.iter().copied()), &finished(report, seen))?;
    Ok(crate::fixture::taken_apart(events).2)
}

fn report_of(parameters: &[(&str, &str)], report: &str, seen: &str) -> Result<Report, Cause> {
    of_loader(&WRK, parameters, report, seen)
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
fn each_generators_words_are_read() {
    for (loader, parameters, report, figures) in [
        (
            &AB,
            &[URL, ("connections", "2")][..],
            AB_SAID,
            (10319.0, 971_566_618.0, 1_001_000_000, 87_000.0, 1_902_000.0),
        ),
        (
            &H2LOAD,
            &[URL, ("streams", "2"), ("connections", "1")],
            H2LOAD_SAID,
            (4049.0, 381_213_350.0, 1_000_000_000, 144_000.0, 144_000.0),
        ),
        (&OHA, &[URL, ("rate", "1000")], OHA_SAID, (1000.0, 94_150_000.0, 999_212_345, 98_700.0, 98_700.0)),
    ] {
        let parameters: Vec<_> = parameters.iter().copied().chain([("duration", "1s")]).collect();
        let told = of_loader(loader, &parameters, report, SEEN_TWICE).unwrap();
        assert_eq!(told.check, Check::Passed, "{}: {:?}", loader.name(), told.evidence);
        assert_eq!((told.work["operations"], told.work["bytes"], told.wall_ns), (figures.0, figures.1, figures.2));
        for (name, wanted) in [("latency_p50_ns", figures.3), ("latency_p99_ns", figures.4)] {
            let there = told.observed[name];
            assert!((there / wanted - 1.0).abs() < 0.001, "{} {name}: {there}", loader.name());
        }
    }
}

#[test]
fn failures_are_counted_whichever_way_they_are_told() {
    let seconds = ("duration", "1s");
    let checked = |loader: &Http, own: (&str, &str), report: &str| {
        of_loader(loader, &[URL, ("connections", "4"), seconds, own], report, SEEN_TWICE).unwrap().check
    };
    let ab = |report: &str| checked(&AB, ("keepalive", "yes"), report);
    assert_eq!(ab(&AB_SAID.replace("Failed requests:        0", "Failed requests:        1")), Check::Failed);
    assert_eq!(ab(&AB_SAID.replace("Keep-Alive", "Non-2xx responses:      3\nKeep-Alive")), Check::Failed);
    let h2load = |report: &str| checked(&H2LOAD, ("streams", "2"), report);
    assert_eq!(h2load(&H2LOAD_SAID.replace("0 failed", "2 failed")), Check::Failed);
    assert_eq!(h2load(&H2LOAD_SAID.replace("0 timeout", "1 timeout")), Check::Failed);
    // Nine more than were under way at most.
    assert_eq!(h2load(&H2LOAD_SAID.replace("(381213350)", "(382060700)")), Check::Failed);
    let oha = |report: &str| checked(&OHA, ("rate", "1000"), report);
    assert_eq!(oha(OHA_SAID), Check::Passed);
    assert_eq!(oha(&OHA_SAID.replace("errors 0", "errors 1")), Check::Failed);
    assert_eq!(oha(&OHA_SAID.replace("requests 1000", "requests 998")), Check::Failed, "two are missing");
    assert_eq!(oha(&OHA_SAID.replace("last_ns 999012345", "last_ns 1199012345")), Check::Failed, "it was not open");
}

#[test]
fn a_rate_is_given_by_the_suite_or_by_a_share() {
    let mut open = scenario("oha", [URL]);
    assert!(OHA.check(&open).unwrap_err().to_string().contains("\"rate\" is missing"));
    let share = stend_model::quantity::Share(0.5);
    open.rate = Some(stend_model::suite::Rate { of: "closed".into(), share });
    OHA.check(&open).unwrap();
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
        let error = WRK.check(&scenario("wrk", parameters.iter().copied())).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
}

/// wrk takes 8 MB of memory for each second of its timeout, and ends at once where the machine has not that much.
#[test]
fn wrk_waits_no_longer_than_its_load_lasts() {
    let timeout = |duration: &str, most: u64| {
        let mut scenario = scenario("wrk", [URL, ("duration", duration)]);
        scenario.timeout = stend_model::quantity::Span(std::time::Duration::from_secs(most));
        let words = WRK.invocation(&scenario, &Place::of("run", "/work")).unwrap().words;
        words.into_iter().find_map(|word| Some(word.strip_prefix("--timeout=")?.to_owned())).unwrap()
    };
    assert_eq!((timeout("2s", 300), timeout("60s", 5)), ("3s".into(), "5s".into()));
}
