//! With the fio that is here.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;
use stend_testing::have;

use stend_model::cause::Cause;
use stend_model::quantity::Span;
use stend_model::suite::{Action, Fault, Part};
use stend_model::wire::{Check, Report};
use tempfile::tempdir;

use super::super::*;
use crate::fixture::{run, run_as, scenario, taken_apart};

/// What a load gave. On a busy machine a short one may end before a window is whole; then it is made again.
fn loaded(scenario: &Scenario, directory: &Path, enough: impl Fn(&[Sample]) -> bool) -> (Vec<Sample>, Report) {
    const ATTEMPTS: usize = 50;
    let load = || {
        let finished = run(&Fio, scenario, directory);
        let (_, samples, report) = taken_apart(Fio.translate(scenario, &finished).unwrap());
        (samples, report)
    };
    let mut tried = std::iter::repeat_with(load).take(ATTEMPTS);
    tried.find(|(samples, _)| enough(samples)).expect("one of the loads has a whole window")
}

/// What holds of any latencies, of those in a window as of all, to the width of a bucket.
fn plausible(values: &BTreeMap<String, f64>) -> Option<bool> {
    let [mean, p99, most] = ["mean", "p99", "max"].map(|one| values.get(&format!("latency_{one}_ns")).copied());
    let (mean, p99, most) = (mean?, p99?, most?);
    Some(0.0098 * p99 <= mean && mean <= 1.02 * most && p99 <= 1.02 * most)
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
    let rates_of = |sample: &Sample| {
        let of = |name: &str| sample.values.get(name).copied();
        Some([of("iops")?, of("lun0.iops")?, of("lun1.iops")?])
    };
    let plausible_in = |sample: &Sample| plausible(&sample.values);
    let (samples, report) = loaded(&scenario, directory.path(), |samples| {
        samples.iter().any(|sample| rates_of(sample).is_some())
            && samples.iter().any(|sample| plausible_in(sample).is_some())
    });
    assert_eq!(report.check, Check::Passed, "{:?}", report.evidence);
    // Each LUN has a curve of its own, and they sum up to that of all.
    let mut rates = samples.iter().filter_map(rates_of);
    assert!(rates.all(|[all, one, other]| (all - (one + other)).abs() < 1.0), "{samples:?}");
    // How much the last window lacks nobody can say on a busy machine, so windows and whole are not held against each other but for the
    // worst.
    assert!(samples.iter().filter_map(plausible_in).all(|fine| fine), "{samples:?}");
    assert_eq!(plausible(&report.observed), Some(true), "{:?}", report.observed);
    let worst =
        samples.iter().filter_map(|sample| sample.values.get("latency_max_ns")).fold(0.0, |a, b| f64::max(a, *b));
    assert!(worst <= 1.02 * report.observed["latency_max_ns"], "{worst} {:?}", report.observed);
}

#[test]
fn means_come_from_histograms_by_direction_and_from_averages_where_there_are_none_as_fine() {
    if !have("fio") {
        return;
    }
    for (more, means) in [
        ([("rw", "randrw"), ("runtime", "300ms")], &["read_latency_mean_ns", "write_latency_mean_ns"][..]),
        ([("rw", "write"), ("loops", "2000")], &["latency_mean_ns"]),
    ] {
        let common = [("size", "1MiB"), ("ioengine", "psync"), ("direct", "0"), ("log_avg_msec", "50")];
        let scenario = scenario("fio", common.into_iter().chain(more));
        let directory = tempdir().unwrap();
        let finished = run(&Fio, &scenario, directory.path());
        assert_eq!(
            finished.files.keys().any(|path| path.contains("log_clat.")),
            more[1].0 == "loops",
            "averages of latencies cost time at each operation"
        );
        let has_all = |sample: &Sample| means.iter().all(|mean| sample.values.contains_key(*mean));
        loaded(&scenario, directory.path(), |samples| samples.iter().any(has_all));
    }
}

/// fio, with a command of the test's own between writing and reading back.
struct Between(String);

impl Adapter for Between {
    fn name(&self) -> &'static str {
        "fio"
    }
    fn tool(&self) -> Option<Tool> {
        Fio.tool()
    }
    fn check(&self, scenario: &Scenario) -> Result<(), AdapterError> {
        Fio.check(scenario)
    }
    fn invocation(&self, scenario: &Scenario, place: &Place) -> Result<Invocation, Cause> {
        let mut invocation = Fio.invocation(scenario, place)?;
        for text in invocation.files.values_mut() {
            let changed =
                String::from_utf8_lossy(text).replace("[lun0]\n", &format!("[lun0]\nexec_postrun={}\n", self.0));
            *text = Cow::Owned(changed.into_bytes());
        }
        Ok(invocation)
    }
    fn translate(&self, scenario: &Scenario, finished: &Finished) -> Result<Vec<Event>, Cause> {
        Fio.translate(scenario, finished)
    }
}

/// Two LUNs that are written and read back.
fn verified(pattern: &'static str) -> Scenario {
    let parameters =
        [("rw", pattern), ("luns", "2"), ("size", "2MiB"), ("verify", "marks"), ("ioengine", "psync"), ("direct", "0")];
    scenario("fio", parameters)
}

#[test]
fn what_is_read_back_is_what_was_written_and_else_the_check_fails() {
    if !have("fio") {
        return;
    }
    for pattern in ["write", "randwrite"] {
        let scenario = verified(pattern);
        let directory = tempdir().unwrap();
        let finished = run(&Fio, &scenario, directory.path());
        let (_, _, report) = taken_apart(Fio.translate(&scenario, &finished).unwrap());
        assert_eq!(report.check, Check::Passed, "{:?}", report.evidence);
        assert_eq!((report.work["bytes"], report.observed["verified_bytes"]), (4194304.0, 4194304.0));
    }
}

/// Between writing and reading back something else comes to stand in the first LUN.
#[test]
fn a_lost_a_mixed_up_and_a_changed_block_are_found_and_told_with_their_offsets() {
    if !have("fio") {
        return;
    }
    let written = |repeat: &str, offset| {
        let [run, repeat, lun] = ["r", repeat, "lun0"].map(str::to_owned);
        Stood::Written { run, repeat, lun, offset }
    };
    let block = "dd of=../data/stend-2MiB-lun0 bs=4096 count=1 conv=notrunc status=none";
    for (deed, offset, stands) in [
        ("cp ../data/old ../data/stend-2MiB-lun0".to_owned(), 0, written("6", 0)),
        (format!("{block} if=../data/old skip=3 seek=3"), 12288, written("6", 12288)),
        (format!("{block} if=../data/stend-2MiB-lun0 skip=5 seek=9"), 36864, written("7", 20480)),
        (format!("{block} if=/dev/zero seek=200"), 819_200, Stood::Zeros),
        (
            "printf '\\000' | dd of=../data/stend-2MiB-lun0 bs=1 seek=1500000 conv=notrunc status=none".into(),
            1_499_136,
            Stood::BitsTurned { bits: 0, first: 864 },
        ),
    ] {
        let scenario = verified("randwrite");
        let directory = tempdir().unwrap();
        run_as(6, &Between("cp ../data/stend-2MiB-lun0 ../data/old".into()), &scenario, directory.path());
        let spoil = Between(deed.clone());
        let finished = run(&spoil, &scenario, directory.path());
        let (_, _, report) = taken_apart(spoil.translate(&scenario, &finished).unwrap());
        let evidence = report.evidence.unwrap();
        assert_eq!(report.check, Check::Failed, "{deed}: {evidence:?}");
        let [Checked::DataWrong { job, .. }, Checked::Stands { file, offset: at, what }, ..] = evidence.facts() else {
            panic!("{deed}: {evidence:?}");
        };
        assert_eq!((&**job, &**file, *at), ("readback-lun0", "stend-2MiB-lun0", offset), "{deed}: {evidence:?}");
        // How many bits of a byte are 0 depends on what was written.
        let what = match what {
            Stood::BitsTurned { bits: 1..=8, first } => Stood::BitsTurned { bits: 0, first: *first },
            other => other.clone(),
        };
        assert_eq!(what, stands, "{deed}: {evidence:?}");
    }
}

/// The rate that was asked for, and whether the load was open.
fn asked_and_open(report: &stend_model::wire::Report) -> (f64, bool) {
    let facts = report.evidence.as_ref().unwrap().facts();
    let rate = facts.iter().find_map(|fact| match fact {
        Checked::Rate { asked, open, .. } => Some((*asked, *open)),
        _ => None,
    });
    rate.unwrap_or_else(|| panic!("{facts:?}"))
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
    assert_eq!(asked_and_open(&open).0, 400.0, "{:?}", open.evidence);
    // Nobody does as much as this.
    let closed = with_rate("4000000000", "psync", &[]);
    assert_eq!(closed.check, Check::Failed);
    assert!(!asked_and_open(&closed).1, "{:?}", closed.evidence);
    // What waits for a part that broke has not done wrong work.
    let at = Span(Duration::from_millis(100));
    let fault = Fault { at, part: Part::Controller(0), action: Action::Kill };
    let broken = with_rate("4000000000", "psync", &[fault]);
    assert_eq!(broken.check, Check::Passed, "{:?}", broken.evidence);
}
