use std::time::Duration;

use proptest::prelude::*;
use stend_model::quantity::Span;
use stend_model::suite::{Action, Fault, Part};
use stend_model::target::TargetText;
use stend_model::wire::Check;
use tempfile::tempdir;

use super::*;
use crate::instrument::LunAddress;
use crate::instrument::fixture::{have, read, record, run, scenario, taken_apart};

fn translated(name: &str) -> Result<Vec<Event>, String> {
    let (scenario, finished) = read(&Fio, name);
    Fio.translate(&scenario, &finished)
}

#[test]
#[ignore = "records fixtures with the fio that is here"]
fn record_fixtures() {
    let common = [("luns", "2"), ("numjobs", "2"), ("size", "16MiB"), ("percent_of_size", "80%"), ("runtime", "1s")];
    let with = |more: &[(&'static str, &'static str)]| common.iter().chain(more).copied().collect::<Vec<_>>();
    record(&Fio, "fio-3.33-randread", &with(&[("rw", "randread"), ("iodepth", "16"), ("ramp_time", "500ms")]));
    record(&Fio, "fio-3.33-write-128k", &with(&[("rw", "write"), ("bs", "128k"), ("iodepth", "4")]));
    record(&Fio, "fio-3.33-randrw", &with(&[("rw", "randrw"), ("rwmixread", "70"), ("iodepth", "4")]));
    // A directory that does not exist is no error: fio makes it. A file in its place is.
    record(&Fio, "fio-3.33-no-directory", &with(&[("directory", "/etc/passwd/stend")]));
    record(&Fio, "fio-3.33-no-engine", &with(&[("ioengine", "nonsense")]));
    // Before: mount -t tmpfs -o size=8m none /mnt/stend-small
    if std::path::Path::new("/mnt/stend-small").is_dir() {
        record(&Fio, "fio-3.33-disk-full", &with(&[("directory", "/mnt/stend-small")]));
    }
}

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
        let read = |name: &str| crate::latency::read(&report.latencies[name]).unwrap();
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
    assert!(report.cpu_ns.unwrap() > 0);
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
    for (name, parts) in [
        ("fio-3.33-no-directory", ["status", "Not a directory"]),
        ("fio-3.33-no-engine", ["status 1", "failed to load engine"]),
        ("fio-3.33-disk-full", ["status", "No space left on device"]),
    ] {
        let message = translated(name).unwrap_err();
        assert!(parts.iter().all(|part| message.contains(part)) && !message.contains('\n'), "{name}: {message}");
    }
}

/// The recorded report, changed by hand in ways in which fio is known to change it.
fn with_report(change: impl Fn(&str) -> String) -> Result<Vec<Event>, String> {
    let (scenario, mut finished) = read(&Fio, "fio-3.33-randread");
    let report = finished.files.get_mut("/repeat/report.json").unwrap();
    *report = change(&String::from_utf8_lossy(report)).into_bytes();
    Fio.translate(&scenario, &finished)
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
    let message = with_report(|report| report.replacen("\"short_ios\" : 0", "\"short_ios\" : fio: pid=4896, err=5", 1))
        .unwrap_err();
    assert!(message.contains("complete JSON") && message.contains("\"short_ios\" : fio: pid=4896"), "{message}");
}

#[test]
fn what_is_no_number_is_not_reported() {
    let report = with_report(|report| {
        let at = report.find("\"lat_ns\"").unwrap();
        let (before, after) = report.split_at(at);
        let mean = after.lines().find(|line| line.contains("\"mean\"")).unwrap();
        format!("{before}{}", after.replacen(mean, "          \"mean\" : -nan,", 1))
    });
    let (_, _, report) = taken_apart(report.unwrap());
    assert!(!report.observed.contains_key("latency_mean_ns") && report.observed.contains_key("latency_p99_ns"));
    assert_eq!(report.check, Check::Passed);
}

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
        assert_eq!(begin.missing["clock"], format!("the machine's clock was set by about {seconds} s while fio ran"));
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
fn a_clock_that_is_set_meanwhile_moves_no_sample() {
    let plain = taken_apart(translated("fio-3.33-randread").unwrap());
    for step_ms in [-3_600_000_i64, 3_600_000] {
        let stepped = with_report(|report| later(report, step_ms));
        let (begin, samples, report) = taken_apart(stepped.unwrap());
        assert!(begin.missing["clock"].contains("was set by about"), "{:?}", begin.missing);
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

#[test]
fn a_report_that_is_cut_off_or_wrong_fails_the_repeat() {
    for share in [1, 10, 50, 90, 99] {
        let message = with_report(|report| report[..report.len() * share / 100].into()).unwrap_err();
        assert!(message.contains("complete JSON") && message.len() < 400, "{share}%: {message}");
    }
    assert!(with_report(|_| String::new()).unwrap_err().contains("no report"));
    assert!(
        with_report(|report| report.replace("\"jobs\" : [", "\"jobs\" : 7, \"x\" : ["))
            .unwrap_err()
            .contains("not as expected")
    );
    let idle = with_report(|report| report.replace("\"total_ios\" : ", "\"total_ios\" : 0.")).unwrap_err();
    assert!(idle.contains("no operation"), "{idle}");
    let failed = with_report(|report| report.replacen("\"error\" : 0", "\"error\" : 5", 1)).unwrap_err();
    assert!(failed.contains("job \"lun0\" failed with error 5"), "{failed}");
}

#[test]
fn a_fio_that_was_killed_is_said_to_have_been() {
    let (scenario, mut finished) = read(&Fio, "fio-3.33-randread");
    let report = finished.files.get_mut("/repeat/report.json").unwrap();
    report.truncate(report.len() / 2);
    (finished.usage.exit, finished.usage.signal) = (None, Some(9));
    assert_eq!(Fio.translate(&scenario, &finished).unwrap_err(), "fio was ended by signal 9");
    // The same where it had ended its report before.
    let (_, whole) = read(&Fio, "fio-3.33-randread");
    finished.files = whole.files;
    assert_eq!(Fio.translate(&scenario, &finished).unwrap_err(), "fio was ended by signal 9");
}

#[test]
fn counts_that_disagree_are_a_failed_check() {
    let short = with_report(|report| report.replacen("\"short_ios\" : 0", "\"short_ios\" : 3", 1)).unwrap();
    assert_eq!(taken_apart(short).2.check, Check::Failed);
    let fewer = with_report(|report| report.replacen("\"io_bytes\" : ", "\"io_bytes\" : 1", 1)).unwrap();
    let (_, _, report) = taken_apart(fewer);
    assert_eq!(report.check, Check::Failed);
    assert!(report.evidence.unwrap().contains("bytes counted"));
}

#[test]
fn the_job_file_says_what_the_parameters_say() {
    let place = Place { run: "r".into(), data: "/data".into(), work: "/repeat".into(), luns: vec![] };
    let parameters = [
        ("rw", "randwrite"),
        ("luns", "2"),
        ("numjobs", "16"),
        ("iodepth", "128"),
        ("size", "1GiB"),
        ("ramp_time", "7m"),
    ];
    let invocation = Fio.invocation(&scenario("fio", parameters), &place).unwrap();
    let text = String::from_utf8(invocation.files["/repeat/job.fio"].to_vec()).unwrap();
    for line in [
        "rw=randwrite",
        "numjobs=16",
        "iodepth=128",
        "size=1073741824",
        "ramp_time=420000ms",
        "filename=/data/stend-1GiB-lun1",
    ] {
        assert!(text.lines().any(|have| have == line), "{line}\n{text}");
    }
    let other = Fio.invocation(&scenario("fio", [("directory", "/mnt/a b")]), &place).unwrap();
    assert!(
        String::from_utf8_lossy(&other.files["/repeat/job.fio"]).contains("filename=/mnt/a b/stend-r/stend-64MiB-lun0")
    );
    assert_eq!(other.leaves, ["/mnt/a b/stend-r"]);
}

#[test]
fn the_luns_of_a_target_are_used_instead_of_files() {
    let path = |path: &str| LunAddress::Path(path.into());
    let nbd = |name: &str| LunAddress::Nbd(format!("nbd+unix:///{name}?socket=/s"));
    let invocation = |luns: Vec<LunAddress>, parameters: &[(&'static str, &'static str)]| {
        let place = Place { run: "r".into(), data: "/data".into(), work: "/repeat".into(), luns };
        let scenario = scenario("fio", parameters.iter().copied());
        assert!(Fio.files(&scenario, &place).unwrap().is_empty(), "nothing is laid out");
        Fio.invocation(&scenario, &place)
    };
    let of_devices = invocation(vec![path("/dev/loop4"), path("/dev/loop5")], &[("luns", "2")]).unwrap();
    let text = String::from_utf8_lossy(&of_devices.files["/repeat/job.fio"]).into_owned();
    assert!(text.ends_with("\n[lun0]\nfilename=/dev/loop4\n\n[lun1]\nfilename=/dev/loop5\n"), "{text}");
    assert!(!of_devices.words.iter().any(|word| word.contains("lun0") || word.contains("loop")), "nor here");
    let of_nbd = invocation(vec![nbd("lun0")], &[("ioengine", "nbd")]).unwrap();
    let text = String::from_utf8_lossy(&of_nbd.files["/repeat/job.fio"]).into_owned();
    assert!(text.ends_with("\n[lun0]\nuri=nbd+unix:///lun0?socket=/s\n"), "{text}");
    let of_null = invocation(vec![nbd("lun0")], &[("ioengine", "null")]).unwrap();
    let text = String::from_utf8_lossy(&of_null.files["/repeat/job.fio"]).into_owned();
    assert!(text.ends_with("\n[lun0]\nfilename=null\n"), "{text}");
    let message = invocation(vec![nbd("lun0")], &[]).unwrap_err();
    assert!(message.contains("\"libaio\"") && message.contains("must be nbd"), "{message}");
    let message = invocation(vec![path("/dev/loop4")], &[("luns", "8")]).unwrap_err();
    assert!(message.contains("\"luns\" is 8, and the target has 1"), "{message}");
    assert!(invocation(vec![path("/dev/`id`")], &[]).is_err());
}

#[test]
fn scenarios_are_fitted_to_the_luns_of_a_target() {
    let target = |transport: &str| {
        let text = format!("luns = 3\nlun_size = \"8MiB\"\ntransport = \"{transport}\"\n");
        TargetText::target_of_file(&text, "t.toml", &TargetText::default()).unwrap()
    };
    let fitted = |parameters: &[(&'static str, &'static str)], transport: &str| {
        let mut scenario = scenario("fio", parameters.iter().copied());
        fit_to_luns(&mut scenario, &target(transport)).map(|()| scenario.parameters)
    };
    let of_nbd = fitted(&[("luns", "1"), ("directory", "")], "nbd").unwrap();
    assert_eq!((&*of_nbd["luns"], &*of_nbd["size"], &*of_nbd["ioengine"]), ("3", "8MiB", "nbd"));
    assert_eq!(fitted(&[("ioengine", "null")], "nbd").unwrap()["ioengine"], "null", "fio alone is fio alone");
    // A job file has no parameters but its own.
    let file = [("job", "[a]\nfilename=${{LUN3}}\n"), ("readonly", "0"), ("directory", "")];
    let of_file = fitted(&file, "local").unwrap();
    assert_eq!((&*of_file["size"], of_file.get("luns")), ("8MiB", None));
    for (text, transport, part) in [
        ("[a]\nfilename=${{LUN3}}\n", "nbd", "set transport = \"local\""),
        ("[a]\nfilename=${{LUN4}}\n", "local", "names ${LUN4}, and the target has LUNs up to ${LUN3}"),
        ("[a]\nrw=read\n", "local", "names no LUN"),
    ] {
        let message = fitted(&[("job", text)], transport).unwrap_err();
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn bad_parameters_are_refused_before_anything_runs() {
    for (name, value, part) in [
        ("rw", "sideways", "randread"),
        ("bs", "4 parsecs", "64KiB"),
        ("bs", "100", "512"),
        ("numjobs", "0", "1 to 1024"),
        ("runtime", "1ms", "100ms"),
        ("percent_of_size", "0%", "above 0%"),
        ("size", "2k", "at least 1MiB"),
        ("directory", "here", "absolute"),
        ("directory", "/dev/", "below /dev"),
        ("directory", "/tmp/`id`", "fio cannot"),
        ("ioengine", "libaio\nexec_prerun=id", "engine"),
        ("exec_prerun", "id", "no parameter"),
        ("verify", "crc32c", "write or randwrite"),
        ("verify", "rot13", "crc32c"),
        ("loops", "0", "1 to"),
        ("rate_process", "poisson", "without \"rate_iops\""),
        ("rate_iops", "0", "1 to"),
    ] {
        let message = Fio.check(&scenario("fio", [(name, value)])).unwrap_err();
        assert!(message.contains(part), "{name}={value}: {message}");
    }
    for (parameters, part) in [
        ([("loops", "2"), ("runtime", "2s")], "\"runtime\" is given together with \"loops\""),
        ([("rw", "randrw"), ("rate_iops", "100")], "takes one direction"),
        ([("numjobs", "8"), ("rate_iops", "7")], "each of the 8 jobs"),
        ([("job", "[a]\nrw=read"), ("bs", "4k")], "a job file has no parameter \"bs\""),
        ([("job", "[a]\nfilename=${{LUN257}}"), ("phase", "0")], "${LUN1} to ${LUN256}"),
        ([("job", "[a]\nrw=read\n[b]\nrw=read"), ("phase", "2")], "0 to 1"),
    ] {
        let message = Fio.check(&scenario("fio", parameters)).unwrap_err();
        assert!(message.contains(part), "{parameters:?}: {message}");
    }
    let verified = [("rw", "write"), ("verify", "crc32c")];
    for (more, part) in
        [(("numjobs", "2"), "must be 1"), (("loops", "3"), "must be 1"), (("ramp_time", "1s"), "\"verify\"")]
    {
        let message = Fio.check(&scenario("fio", verified.into_iter().chain([more]))).unwrap_err();
        assert!(message.contains(part), "{more:?}: {message}");
    }
}

#[test]
fn histograms_take_a_bounded_memory() {
    let window = |parameters: &[(&str, &str)]| {
        Job::of(&scenario("fio", parameters.iter().copied())).unwrap().histogram_window_ms()
    };
    assert_eq!(window(&[("luns", "8"), ("runtime", "60s"), ("log_avg_msec", "1000")]), Some(1000));
    assert_eq!(window(&[("luns", "8"), ("runtime", "1h"), ("log_avg_msec", "1000")]), Some(3515));
    assert_eq!(window(&[("loops", "1")]), None);
    // A job file says itself how many jobs run for how long; where not, an hour.
    let of_file = |text: &'static str| {
        JobFile::of(&scenario("fio", [("job", text), ("phase", "1")])).unwrap().histogram_window_ms
    };
    assert_eq!(of_file("[a]\nruntime=60\n[b]\nstonewall\nruntime=90h\n"), 1000, "phases have their own");
    assert_eq!(of_file("[global]\nruntime=1h\n[a]\nnumjobs=4\n[b]\nnumjobs=4\n"), 7031);
    assert_eq!(of_file("[a]\nnumjobs=8\n"), 7031);
    assert_eq!(of_file("[global]\nlog_hist_msec=50\n[a]\nruntime=1h\n"), 50, "what the file says goes before that");
}

#[test]
fn the_fio_that_is_here_is_understood() {
    if !have("fio") {
        return;
    }
    let directory = tempdir().unwrap();
    let parameters = [
        ("rw", "randread"),
        ("luns", "2"),
        ("size", "1MiB"),
        ("runtime", "200ms"),
        ("ioengine", "psync"),
        ("direct", "0"),
        ("log_avg_msec", "50"),
    ];
    let scenario = scenario("fio", parameters);
    let finished = run(&Fio, &scenario, directory.path());
    let (_, samples, report) = taken_apart(Fio.translate(&scenario, &finished).unwrap());
    assert_eq!(report.check, Check::Passed, "{:?}", report.evidence);
    assert!(!samples.is_empty());
    // Each LUN has a curve of its own, and they sum up to that of all.
    let rates = samples.iter().filter_map(|sample| {
        Some([sample.values.get("iops")?, sample.values.get("lun0.iops")?, sample.values.get("lun1.iops")?])
    });
    let rates: Vec<_> = rates.collect();
    assert!(
        !rates.is_empty() && rates.iter().all(|[all, one, other]| (**all - (**one + **other)).abs() < 1.0),
        "{rates:?}"
    );
    let percentiles: Vec<_> = samples.iter().filter_map(|sample| sample.values.get("latency_p99_ns")).collect();
    assert!(!percentiles.is_empty());
    // The windows' worst bounds the whole's, to the width of a bucket and what the last window may lack.
    let worst =
        samples.iter().filter_map(|sample| sample.values.get("latency_max_ns")).fold(0.0, |a, b| f64::max(a, *b));
    assert!((worst / report.observed["latency_max_ns"] - 1.0).abs() < 0.02, "{worst} {:?}", report.observed);
    // The whole's mean lies between the windows' means, but for what the last window lacks.
    let means = samples.iter().filter_map(|sample| sample.values.get("latency_mean_ns").copied());
    let (least, most) = (means.clone().fold(f64::INFINITY, f64::min), means.fold(0.0, f64::max));
    let mean = report.observed["latency_mean_ns"];
    assert!((0.8 * least..=1.2 * most).contains(&mean), "{least} {mean} {most}");
}

#[test]
fn means_come_from_histograms_by_direction_and_from_averages_where_there_are_none_as_fine() {
    if !have("fio") {
        return;
    }
    let of = |more: [(&'static str, &'static str); 2]| {
        let common = [("size", "1MiB"), ("ioengine", "psync"), ("direct", "0"), ("log_avg_msec", "50")];
        let scenario = scenario("fio", common.into_iter().chain(more));
        let directory = tempdir().unwrap();
        let finished = run(&Fio, &scenario, directory.path());
        assert_eq!(
            finished.files.keys().any(|path| path.contains("log_clat.")),
            more[1].0 == "loops",
            "averages of latencies cost time at each operation"
        );
        taken_apart(Fio.translate(&scenario, &finished).unwrap()).1
    };
    let mixed = of([("rw", "randrw"), ("runtime", "300ms")]);
    let both = |sample: &&Sample| {
        sample.values.contains_key("read_latency_mean_ns") && sample.values.contains_key("write_latency_mean_ns")
    };
    assert!(mixed.iter().any(|sample| both(&sample)), "{mixed:?}");
    let in_loops = of([("rw", "write"), ("loops", "2000")]);
    assert!(in_loops.iter().any(|sample| sample.values.contains_key("latency_mean_ns")), "{in_loops:?}");
}

/// fio, with a command of the test's own between writing and reading back.
struct Between(&'static str);

impl Adapter for Between {
    fn name(&self) -> &'static str {
        "fio"
    }
    fn tool(&self) -> Tool {
        Fio.tool()
    }
    fn check(&self, scenario: &Scenario) -> Result<(), String> {
        Fio.check(scenario)
    }
    fn invocation(&self, scenario: &Scenario, place: &Place) -> Result<Invocation, String> {
        let mut invocation = Fio.invocation(scenario, place)?;
        for text in invocation.files.values_mut() {
            let changed =
                String::from_utf8_lossy(text).replace("[lun0]\n", &format!("[lun0]\nexec_postrun={}\n", self.0));
            *text = Cow::Owned(changed.into_bytes());
        }
        Ok(invocation)
    }
    fn translate(&self, scenario: &Scenario, finished: &Finished) -> Result<Vec<Event>, String> {
        Fio.translate(scenario, finished)
    }
}

#[test]
fn what_is_read_back_is_what_was_written_and_else_the_check_fails() {
    if !have("fio") {
        return;
    }
    for pattern in ["write", "randwrite"] {
        let parameters = [
            ("rw", pattern),
            ("luns", "2"),
            ("size", "2MiB"),
            ("verify", "crc32c"),
            ("ioengine", "psync"),
            ("direct", "0"),
        ];
        let scenario = scenario("fio", parameters);
        let directory = tempdir().unwrap();
        let finished = run(&Fio, &scenario, directory.path());
        let (_, _, report) = taken_apart(Fio.translate(&scenario, &finished).unwrap());
        assert_eq!(report.check, Check::Passed, "{:?}", report.evidence);
        assert_eq!((report.work["bytes"], report.observed["verified_bytes"]), (4194304.0, 4194304.0));
        // A byte of the second half of the first LUN turns over between the two.
        let directory = tempdir().unwrap();
        let spoil = Between("printf stend | dd of=../data/stend-2MiB-lun0 bs=1 seek=1500000 conv=notrunc status=none");
        let finished = run(&spoil, &scenario, directory.path());
        let (_, _, report) = taken_apart(spoil.translate(&scenario, &finished).unwrap());
        let evidence = report.evidence.unwrap();
        assert_eq!(report.check, Check::Failed, "{evidence}");
        assert!(evidence.contains("\"readback-lun0\" read other data") && evidence.contains("crc32c"), "{evidence}");
    }
}

#[test]
fn an_open_load_that_cannot_keep_up_is_not_open() {
    if !have("fio") {
        return;
    }
    let with_rate = |rate: &'static str, engine: &'static str, faults: &[Fault]| {
        let directory = tempdir().unwrap();
        let parameters =
            [("size", "1MiB"), ("runtime", "500ms"), ("ioengine", engine), ("direct", "0"), ("rate_iops", rate)];
        let scenario = Scenario { faults: faults.to_vec(), ..scenario("fio", parameters) };
        let finished = run(&Fio, &scenario, directory.path());
        taken_apart(Fio.translate(&scenario, &finished).unwrap()).2
    };
    let open = with_rate("400", "psync", &[]);
    let rate = open.work["operations"] / (open.wall_ns as f64 * 1e-9);
    assert!(rate < 800.0, "held back: {rate}");
    assert!(open.evidence.unwrap().contains("operations/s of 400 asked for"));
    // Nobody does as much as this.
    let closed = with_rate("4000000000", "psync", &[]);
    assert_eq!(closed.check, Check::Failed);
    assert!(closed.evidence.unwrap().contains("the load was not open"));
    // What waits for a part that broke has not done wrong work.
    let at = Span(Duration::from_millis(100));
    let fault = Fault { at, part: Part::Controller(0), action: Action::Kill };
    let broken = with_rate("4000000000", "psync", &[fault]);
    assert_eq!(broken.check, Check::Passed, "{:?}", broken.evidence);
}

#[test]
fn histograms_are_put_together_and_percentiles_are_not() {
    use super::histogram::{Histogram, parse};
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

proptest! {
    #[test]
    fn no_text_makes_the_parsers_panic(report in ".{0,300}", log in "[0-9, \n.e-]{0,200}", any in ".{0,80}") {
        let (scenario, mut finished) = read(&Fio, "fio-3.33-no-engine");
        finished.usage.exit = Some(0);
        let _ = Output::parse(&report);
        let layout = Layout { jobs_of_a_lun: Some(1), luns: 2, window_ms: 100, histogram_window_ms: 100, together_ms: None };
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
