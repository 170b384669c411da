use proptest::prelude::*;
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
        assert_eq!(sample.values.keys().collect::<Vec<_>>(), ["bandwidth_bytes_per_s", "iops", "latency_mean_ns"]);
        assert!((sample.values["bandwidth_bytes_per_s"] / sample.values["iops"] / 4096.0 - 1.0).abs() < 0.01);
    }
    let mean = samples.iter().map(|sample| sample.values["iops"]).sum::<f64>() / samples.len() as f64;
    assert!((mean / iops - 1.0).abs() < 0.3, "the curve is about the figure: {mean} against {iops}");
    assert!(samples.windows(2).all(|pair| pair[0].t_ns < pair[1].t_ns));
    assert!(report.t_ns.unwrap() < samples[0].t_ns);
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
    assert!(samples[0].values.contains_key("read_iops") && samples[0].values.contains_key("write_latency_mean_ns"));
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
        with_report(|report| report.replacen("  \"jobs\"", "fio: in the midst of it\n  \"jobs\"", 1)),
        Ok(plain.clone())
    );
    assert_eq!(
        with_report(|report| format!("{}\n{report}", report.replace("\"total_ios\" : ", "\"total_ios\" : 9"))),
        Ok(plain)
    );
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
    let message = invocation(vec![nbd("lun0")], &[]).unwrap_err();
    assert!(message.contains("\"libaio\"") && message.contains("must be nbd"), "{message}");
    let message = invocation(vec![path("/dev/loop4")], &[("luns", "8")]).unwrap_err();
    assert!(message.contains("\"luns\" is 8, and the target has 1"), "{message}");
    assert!(invocation(vec![path("/dev/`id`")], &[]).is_err());
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
    ] {
        let message = Fio.check(&scenario("fio", [(name, value)])).unwrap_err();
        assert!(message.contains(part), "{name}={value}: {message}");
    }
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
}

proptest! {
    #[test]
    fn no_text_makes_the_parsers_panic(report in ".{0,300}", log in "[0-9, \n.e-]{0,200}", any in ".{0,80}") {
        let (scenario, mut finished) = read(&Fio, "fio-3.33-no-engine");
        finished.usage.exit = Some(0);
        let _ = Output::parse(&report);
        let _ = Logs::parse(&log, &log, &any, 100).map(|logs| logs.windows());
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
