//! What fio reports at its end, and what becomes of a report that is not as it should be.

use proptest::prelude::*;
use stend_model::cause::Cause;
use stend_model::wire::Check;

use super::super::*;
use super::{translated, with_report};
use crate::fixture::{read, taken_apart};

#[test]
fn a_random_read_becomes_work_time_and_latencies() {
    let (begin, samples, report) = taken_apart(translated("fio-3.33-randread").unwrap());
    assert_eq!(begin.version.as_deref(), Some("3.33"));
    assert_eq!(begin.build["fio"], "fio-3.33");
    assert_eq!(begin.parameters["region"], 13_418_496, "80% of 16 MiB in whole blocks");
    assert_eq!(begin.parameters["ioengine"], "libaio");
    assert!((1_000_000_000..1_100_000_000).contains(&report.wall_ns), "the ramp is left out: {}", report.wall_ns);
    assert_eq!(report.check, Check::Passed, "{:?}", report.evidence);
    assert!((report.work["bytes"] / 4096.0 - report.work["operations"]).abs() <= 64.0);
    let observed = |name: &str| report.observed[name];
    assert!(observed("latency_p50_ns") < observed("latency_p99_ns"));
    assert!(observed("latency_p99_ns") <= observed("latency_p999_ns"));
    assert!(observed("latency_p999_ns") <= observed("latency_max_ns"));
    // Little's law: what is in flight is the rate times the latency. The ends of the run make it inexact.
    let in_flight = report.work["operations"] / (report.wall_ns as f64) * observed("latency_mean_ns");
    assert!((in_flight / 64.0 - 1.0).abs() < 0.1, "{in_flight}");
    let iops = report.work["operations"] / (report.wall_ns as f64 * 1e-9);
    assert!(samples.len() >= 7, "{}", samples.len());
    for sample in &samples {
        assert_eq!(sample.values.keys().collect::<Vec<_>>(), ["bandwidth_bytes_per_s", "iops"]);
        assert!((sample.values["bandwidth_bytes_per_s"] / sample.values["iops"] / 4096.0 - 1.0).abs() < 0.01);
    }
    let mean = samples.iter().map(|sample| sample.values["iops"]).sum::<f64>() / samples.len() as f64;
    assert!((mean / iops - 1.0).abs() < 0.3, "the curve is about the figure: {mean} against {iops}");
    assert!(samples.windows(2).all(|pair| pair[0].t_ns < pair[1].t_ns));
    assert!(report.t_ns.unwrap() < samples[0].t_ns);
}

#[test]
fn every_operation_is_in_the_histogram() {
    for (name, names) in
        [("fio-3.33-randread", &["latency"][..]), ("fio-3.33-randrw", &["latency", "read_latency", "write_latency"])]
    {
        let (_, _, report) = taken_apart(translated(name).unwrap());
        assert_eq!(report.latencies.keys().collect::<Vec<_>>(), names, "{name}");
        let read = |name: &str| stend_model::latency::read(&report.latencies[name]).unwrap();
        let all = read("latency");
        // With a ramp what was in flight at its end is in one count and not in the other.
        assert!((all.count() as f64 - report.work["operations"]).abs() <= 64.0, "{name}: {}", all.count());
        for (share, figure) in [(0.5, "latency_p50_ns"), (0.99, "latency_p99_ns")] {
            let (found, told) = (all.percentile(share).unwrap().ns as f64, report.observed[figure]);
            assert!((found / told - 1.0).abs() < 0.001, "{name}: fio says {told}, the histogram {found}");
        }
        if names.len() > 1 {
            assert_eq!(all, stend_stats::Latencies::merged([&read("read_latency"), &read("write_latency")]));
            assert_eq!(read("write_latency").count() as f64, report.work["write_operations"]);
        }
    }
}

#[test]
fn a_write_without_a_ramp_counts_exactly() {
    let (_, _, report) = taken_apart(translated("fio-3.33-write-128k").unwrap());
    assert_eq!(report.work["bytes"], report.work["operations"] * 131_072.0);
    assert_eq!(report.check, Check::Passed, "{:?}", report.evidence);
    assert_eq!(report.cpu_ns, Some(714_999_985), "15.746063 % and 2.124469 % of 4001 ms");
}

#[test]
fn a_mixed_load_has_both_directions_and_one_histogram() {
    let (_, samples, report) = taken_apart(translated("fio-3.33-randrw").unwrap());
    let work = |name: &str| report.work[name];
    assert_eq!(work("operations"), work("read_operations") + work("write_operations"));
    assert_eq!(work("bytes"), work("read_bytes") + work("write_bytes"));
    assert!((work("read_operations") / work("operations") - 0.7).abs() < 0.02);
    assert!(report.observed["latency_p50_ns"] < report.observed["latency_p99_ns"]);
    assert!(
        samples[0].values.contains_key("read_iops") && samples[0].values.contains_key("write_bandwidth_bytes_per_s")
    );
}

#[test]
fn what_fio_failed_of_is_quoted() {
    for (name, part) in [
        ("fio-3.33-no-directory", "Not a directory"),
        ("fio-3.33-no-engine", "engine nonsense not loadable"),
        ("fio-3.33-disk-full", "No space left on device"),
    ] {
        let cause = translated(name).unwrap_err();
        assert!(Fio.lasts(&cause, &read(&Fio, name).1), "{name}: it would fail again");
        let Cause::ToolExited { said, .. } = cause else { panic!("{name}: {cause:?}") };
        assert!(said.contains(part) && !said.contains('\n'), "{name}: {said}");
    }
}

#[test]
fn messages_and_interim_reports_are_no_hindrance() {
    let plain = translated("fio-3.33-randread").unwrap();
    assert_eq!(
        with_report(|report| format!("fio: this is only a warning\nnote: so is this\n{report}")),
        Ok(plain.clone())
    );
    assert_eq!(
        with_report(|report| format!("{}\n{report}", report.replace("\"total_ios\" : ", "\"total_ios\" : 9"))),
        Ok(plain)
    );
}

/// The forms in which fio is known to put messages into its report; each is from a bug report of its users, or was seen here.
#[test]
fn messages_before_after_and_within_the_report_are_no_hindrance() {
    let plain = translated("fio-3.33-randread").unwrap();
    for before in [
        "fio: io_u error on file /dev/sdb: Input/output error: read offset=184912257024, buflen=4096\n\
         fio: pid=5509, err=5/file:io_u.c:1896, func=io_u error, error=Input/output error\n",
        "job (noop): ioengine=cpuio, cpuload=1, cpucycle=50000\n",
        "fio: sprandom sets norandommap=1\n",
        "w : Saving output of postrun in w.postrun.txt\n",
        "crc32c: verify failed at file /tmp/v offset 98304, length 4096\n       Expected CRC: 32663eae\n       Received CRC: 9dd78825\n",
        "\nnote: both iodepth >= 1 and synchronous I/O engine are selected, queue depth will be capped at 1\n",
        "fio: no newline behind this",
    ] {
        assert_eq!(with_report(|report| format!("{before}{report}")).as_ref(), Ok(&plain), "{before}");
    }
    for after in ["\nfio: terminating on signal 15\n", "fio: terminating on signal 15", "\nclient <box>: exited\n"] {
        assert_eq!(with_report(|report| format!("{}{after}", report.trim_end())).as_ref(), Ok(&plain), "{after}");
    }
    for within in [
        "fio: pid=4896, err=5/file:ioengines.c:351, func=td_io_queue, error=Input/output error",
        "Jobs: 4 (f=2): [r(4)][50.0%][r=512MiB/s][r=131k IOPS][eta 00m:01s]",
        "       Expected CRC: 32663eae",
    ] {
        for line in ["  \"jobs\"", "        \"total_ios\"", "      \"write\"", "  \"disk_util\""] {
            let with = with_report(|report| report.replacen(line, &format!("{within}\n{line}"), 1));
            assert_eq!(with.as_ref(), Ok(&plain), "{within} before {line}");
        }
    }
}

#[test]
fn a_message_within_a_line_of_the_report_is_quoted_with_the_line() {
    let cause = with_report(|report| report.replacen("\"short_ios\" : 0", "\"short_ios\" : fio: pid=4896, err=5", 1));
    let Err(Cause::FioReportCut { said, .. }) = cause else { panic!("{cause:?}") };
    assert!(said.contains("\"short_ios\" : fio: pid=4896"), "{said}");
}

#[test]
fn what_is_no_number_is_not_reported() {
    let with_mean = |figure: &str| {
        with_report(|report| {
            let at = report.find("\"lat_ns\"").unwrap();
            let (before, after) = report.split_at(at);
            let mean = after.lines().find(|line| line.contains("\"mean\"")).unwrap();
            format!("{before}{}", after.replacen(mean, &format!("          \"mean\" : {figure},"), 1))
        })
    };
    // Times the number of operations it is more than any number, which could not be stored.
    let endless = with_mean("1e308");
    assert!(matches!(&endless, Err(Cause::FioFigure { name, .. }) if name == "latency_mean_ns"), "{endless:?}");
    let less_than_none = with_report(|report| report.replacen("\"io_bytes\" : ", "\"io_bytes\" : -", 1));
    let is_less = |figure: &str| figure.parse::<f64>().unwrap() < 0.0;
    assert!(
        matches!(&less_than_none, Err(Cause::FioFigure { name, figure }) if name == "bytes" && is_less(figure)),
        "{less_than_none:?}"
    );
    let (_, _, report) = taken_apart(with_mean("-nan").unwrap());
    assert!(!report.observed.contains_key("latency_mean_ns") && report.observed.contains_key("latency_p99_ns"));
    assert_eq!(report.check, Check::Passed);
}

#[test]
fn a_report_that_is_cut_off_or_wrong_fails_the_repeat() {
    for share in [1, 10, 50, 90, 99] {
        let cut = with_report(|report| report[..report.len() * share / 100].into());
        assert!(matches!(&cut, Err(Cause::FioReportCut { said, .. }) if said.len() < 300), "{share}%: {cut:?}");
    }
    assert_eq!(with_report(|_| String::new()), Err(Cause::FioReportMissing { said: String::new() }));
    let other = with_report(|report| report.replace("\"jobs\" : [", "\"jobs\" : 7, \"x\" : ["));
    assert!(matches!(other, Err(Cause::FioReportOther { .. })), "{other:?}");
    let idle = with_report(|report| report.replace("\"total_ios\" : ", "\"total_ios\" : 0."));
    assert!(matches!(idle, Err(Cause::FioIdle { .. })), "{idle:?}");
    let failed = with_report(|report| report.replacen("\"error\" : 0", "\"error\" : 5", 1));
    assert!(matches!(&failed, Err(Cause::FioJobFailed { job, error: 5, .. }) if job == "lun0"), "{failed:?}");
}

#[test]
fn a_fio_that_was_killed_is_said_to_have_been() {
    let (scenario, mut finished) = read(&Fio, "fio-3.33-randread");
    let report = finished.files.get_mut("/repeat/report.json").unwrap();
    report.truncate(report.len() / 2);
    (finished.usage.exit, finished.usage.signal) = (None, Some(9));
    let killed = Cause::ToolKilled { tool: "fio".into(), signal: 9, said: String::new() };
    assert_eq!(Fio.translate(&scenario, &finished), Err(killed.clone()));
    assert!(!Fio.lasts(&killed, &finished), "the next one may end well");
    // The same where it had ended its report before.
    let (_, whole) = read(&Fio, "fio-3.33-randread");
    finished.files = whole.files;
    assert_eq!(Fio.translate(&scenario, &finished), Err(killed));
}

#[test]
fn counts_that_disagree_are_a_failed_check() {
    let short = with_report(|report| report.replacen("\"short_ios\" : 0", "\"short_ios\" : 3", 1)).unwrap();
    assert_eq!(taken_apart(short).2.check, Check::Failed);
    let fewer = with_report(|report| report.replacen("\"io_bytes\" : ", "\"io_bytes\" : 1", 1)).unwrap();
    let (_, _, report) = taken_apart(fewer);
    assert_eq!(report.check, Check::Failed);
    assert!(matches!(report.evidence.unwrap().facts()[0], Checked::FioCounts { .. }));
}

proptest! {
    #[test]
    fn no_text_makes_the_parsers_panic(report in ".{0,300}", log in "[0-9, \n.e-]{0,200}", any in ".{0,80}") {
        let (scenario, mut finished) = read(&Fio, "fio-3.33-no-engine");
        finished.usage.exit = Some(0);
        let _ = Output::parse(&report);
        let layout = Layout { jobs_of_a_lun: Some(1), luns: 2, window_ms: 100, histogram_window_ms: 100, together_ms: None, measured: None };
        let files = [("log_iops.1.log", &*log), ("log_bw.2.log", &*log), ("log_clat_hist.1.log", &*log), (&*any, &*any)];
        let _ = Logs::parse(files.into_iter(), &layout).map(|logs| logs.windows());
        finished.files = BTreeMap::from([("/repeat/report.json".into(), report.into_bytes())]);
        finished.stderr = any;
        prop_assert!(Fio.translate(&scenario, &finished).is_err());
    }

    #[test]
    fn no_change_of_a_report_makes_it_panic(at in 0usize..16_000, with in "[0-9a-z{}\",:.\\-]{0,8}") {
        let _ = with_report(|report| {
            let at = at.min(report.len() - 1);
            format!("{}{with}{}", &report[..at], &report[at + 1..])
        });
    }
}
