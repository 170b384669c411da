//! The adapter on recorded output of the real fio, and with the fio that is here.

mod clock;
mod job;
mod logs;
mod real;
mod report;

use super::*;
use crate::fixture::{read, record};
use stend_model::cause::Cause;

fn translated(name: &str) -> Result<Vec<Event>, Cause> {
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

/// The recorded report, changed by hand in ways in which fio is known to change it.
fn with_report(change: impl Fn(&str) -> String) -> Result<Vec<Event>, Cause> {
    let (scenario, mut finished) = read(&Fio, "fio-3.33-randread");
    let report = finished.files.get_mut("/repeat/report.json").unwrap();
    *report = change(&String::from_utf8_lossy(report)).into_bytes();
    Fio.translate(&scenario, &finished)
}
