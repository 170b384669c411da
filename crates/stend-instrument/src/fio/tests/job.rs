//! Job files, and what is refused before one is written.

use stend_model::cause::Cause;
use stend_model::quantity::Share;
use stend_model::suite::Rate;
use stend_model::target::{Medium, TargetOfRun, TargetText};

use super::super::*;
use crate::LunAddress;
use crate::fixture::scenario;

#[test]
fn the_job_file_says_what_the_parameters_say() {
    let place =
        Place { run: "r".into(), mark: "r 7 0".into(), data: "/data".into(), work: "/repeat".into(), luns: vec![] };
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
        let place = Place { run: "r".into(), mark: "r 7 0".into(), data: "/data".into(), work: "/repeat".into(), luns };
        let scenario = scenario("fio", parameters.iter().copied());
        assert!(Fio.files(&scenario, &place, "").unwrap().is_empty(), "nothing is laid out");
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
    let refused = |luns, parameters| match invocation(luns, parameters) {
        Err(Cause::Parameters { said }) => said,
        other => panic!("{other:?}"),
    };
    let message = refused(vec![nbd("lun0")], &[]);
    assert!(message.contains("\"libaio\"") && message.contains("must be nbd"), "{message}");
    let message = refused(vec![path("/dev/loop4")], &[("luns", "8")]);
    assert!(message.contains("\"luns\" is 8, and the target has 1"), "{message}");
    assert!(invocation(vec![path("/dev/`id`")], &[]).is_err());
}

/// The file is removed with its repeat, so a report makes it again of what is stored.
#[test]
fn the_job_of_a_stored_repeat_is_what_fio_was_given() {
    let record = stend_testing::record("20261121-0555-3f9a", &[1.0]);
    let (mut run, mut repeat) = (record.run, record.repeats[0].clone());
    let directory = format!("/var/tmp/stend/{}", run.id);
    let place = Place::of(&run.id, &directory);
    // Also where several runs are taken together.
    run.id = format!("20200101-0000-0000..{}", run.id);
    for (parameters, rate) in [
        (&[("rw", "randwrite"), ("ioengine", "psync"), ("direct", "0"), ("directory", "/mnt/a")][..], false),
        (&[("job", "[a]\nrw=read\nfilename=/mnt/a\n"), ("size", "8MiB")], false),
        (&[("luns", "2"), ("numjobs", "2")], true),
    ] {
        let mut stored = scenario("fio", parameters.iter().copied());
        let mut measured = stored.clone();
        if rate {
            stored.rate = Some(Rate { of: "s".into(), share: Share(0.5) });
            assert_eq!(Fio.job(&run, &stored, &repeat), None, "a rate that is not known is not left out");
            measured.parameters.insert("rate_iops".into(), "4000".into());
            let parameters = Map::from_iter([("rate_iops".to_owned(), 4000.into())]);
            repeat.begin = Some(Begin { parameters, ..stend_testing::begin("fio") });
        }
        let invocation = Fio.invocation(&measured, &place).unwrap();
        repeat.command = invocation.words;
        let given = String::from_utf8(invocation.files[&format!("{directory}/repeat/job.fio")].to_vec()).unwrap();
        assert_eq!(Fio.job(&run, &stored, &repeat), Some(given));
    }
    let target = TargetText::target_of_file("luns = 2\n", "t.toml", &TargetText::default()).unwrap();
    run.target = Some(TargetOfRun { target, medium: Medium::Memory, tools: Default::default(), name: None });
    let job = Fio.job(&run, &scenario("fio", [("luns", "2")]), &repeat).unwrap();
    assert!(job.ends_with("\n[lun0]\nfilename=${LUN1}\n\n[lun1]\nfilename=${LUN2}\n"), "{job}");
    assert!(job.contains("ioengine=libaio\ndirect=1\n"), "{job}");
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
        let message = fitted(&[("job", text)], transport).unwrap_err().to_string();
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
        ("verify", "marks", "write or randwrite"),
        ("verify", "crc32c", "marks"),
        ("loops", "0", "1 to"),
        ("rate_process", "poisson", "without \"rate_iops\""),
        ("rate_iops", "0", "1 to"),
    ] {
        let message = Fio.check(&scenario("fio", [(name, value)])).unwrap_err().to_string();
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
        let message = Fio.check(&scenario("fio", parameters)).unwrap_err().to_string();
        assert!(message.contains(part), "{parameters:?}: {message}");
    }
    let verified = [("rw", "write"), ("verify", "marks")];
    for (more, part) in
        [(("numjobs", "2"), "must be 1"), (("loops", "3"), "must be 1"), (("ramp_time", "1s"), "\"verify\"")]
    {
        let message = Fio.check(&scenario("fio", verified.into_iter().chain([more]))).unwrap_err().to_string();
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
