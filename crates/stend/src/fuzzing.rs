//! Readers of what others wrote, for the fuzz targets in `fuzz/`. Built with `--cfg fuzzing`, and for the
//! test that feeds each with its seeds.
//!
//! Each function takes any bytes. That bytes are refused is right; what is taken must keep what the documents promise of it,
//! or the function panics.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::Path;
use std::sync::LazyLock;

use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest as _, Sha256};
use stend_model::conformance::Tests;
use stend_model::identity::hexadecimal;
use stend_model::image::Image;
use stend_model::run::Series;
use stend_model::suite::{Changes, Scenario, Suite};
use stend_model::target::TargetText;
use stend_model::target::vm::VmText;
use stend_model::wire::{Event, Observed, Usage, parse_line};

use stend_instrument::fio_files::{Named, suite_of};
use stend_instrument::{Finished, adapter, check_parameters};
use stend_lab::convert::vmdk::{self, Vmdk};
use stend_lab::convert::{hyperv, ovf};
use stend_lab::run::{carried, others};
use stend_model::record::Record;
use stend_store::{read_export, write_export};

/// A run's file as it is.
pub fn packed_export(bytes: &[u8]) {
    if let Ok((record, series)) = read_export(bytes, "export") {
        goes_round(&record, &series);
    }
}

/// The lines of a run's file, which are packed here. The last one, with the checksum, is added.
pub fn export(lines: &[u8]) {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::none());
    let newline: &[u8] = if lines.ends_with(b"\n") { b"" } else { b"\n" };
    let digest = Sha256::new().chain_update(lines).chain_update(newline).finalize();
    let sha256 = hexadecimal(&digest);
    let end = format!("{{\"end\":{{\"sha256\":\"{sha256}\"}}}}\n");
    let packed = [lines, newline, end.as_bytes()].iter().try_for_each(|part| gzip.write_all(part));
    packed.and_then(|()| gzip.finish()).map(|packed| packed_export(&packed)).expect("memory takes all");
}

/// What `stend-probe run` wrote on a machine that no lab reaches.
pub fn carried_result(bytes: &[u8]) {
    if let Ok(carried) = carried::read(bytes, "result", None) {
        goes_round(&carried.record, &carried.series);
    }
}

/// What hyperfine exports, and what Go prints of its benchmarks.
pub fn others(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for kind in [others::Kind::Hyperfine, others::Kind::Go] {
        if let Ok(others) = others::read(kind, &text, "file", "elsewhere", jiff::Timestamp::UNIX_EPOCH) {
            assert!(others.record.repeats.iter().all(|repeat| repeat.report.is_some()));
            goes_round(&others.record, &[]);
        }
    }
}

/// What an instrument prints.
pub fn wire(bytes: &[u8]) {
    for line in String::from_utf8_lossy(bytes).lines() {
        let parsed = parse_line(line);
        if let Some(observed) = Observed::of_line(line) {
            let Ok(Some(Event::Sample(sample))) = &parsed else { panic!("only one reader takes {line}") };
            assert_eq!(observed.t_ns, sample.t_ns);
            assert!(observed.values.iter().map(|(name, value)| (&**name, *value)).eq(sample.metrics()));
        }
        if let Ok(Some(event)) = parsed {
            let written = serde_json::to_string(&event).expect("an event can be written");
            assert_eq!(parse_line(&written), Ok(Some(event)), "of {line}");
        }
    }
}

/// A suite, which a plan for another machine is made of too.
pub fn suite(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let parsed = Suite::parse_checked(text, "suite", Path::new("/suite"), &Changes::default(), &check_parameters);
    if let Ok(suite) = parsed {
        is_kept(&suite);
        let plan = carried::pack(suite, 1);
        // As much again would be too much for the limit on memory, and says nothing more.
        if plan.steps.len() < 10_000 {
            is_kept(&plan);
        }
    }
}

/// A disk of VMware or Hyper-V, or the description of a machine with such.
pub fn disk(bytes: &[u8]) {
    let described = match vmdk::read(&bytes) {
        Ok(Vmdk::Described(descriptor) | Vmdk::Whole(descriptor)) => Some(descriptor),
        _ => None,
    };
    if let Some(descriptor) = described {
        let renamed = descriptor.renamed(|number| format!("disk{number}"));
        let names = renamed.lines().filter(|line| line.starts_with("RW ")).filter_map(|line| line.split('"').nth(1));
        assert!(names.into_iter().all(|name| name.starts_with("disk")), "{renamed}");
    }
    let _ = (vmdk::check_grains(&bytes), hyperv::vhd(&bytes), hyperv::vhdx(&bytes));
    let _ = ovf::read(&String::from_utf8_lossy(bytes));
}

/// The description of a rig, storage or a virtual machine, or of an image.
pub fn target(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(vm) = VmText::vm_of_file(text, "vm", &VmText::default()) {
        is_kept(&vm);
        let is_plain = |machine: &String| !machine.contains([',', '=', ' ', '/']);
        assert!(vm.machine.iter().all(is_plain), "QEMU takes it for a name alone");
    }
    if let Ok(image) = Image::parse(text, "image") {
        is_kept(&image);
        assert!(image.packages.iter().all(|package| !package.starts_with('-') && !package.contains([',', ' ', '/'])));
        assert!(image.files.keys().all(|path| !path.starts_with('/') && !path.split('/').any(|part| part == "..")));
    }
    if let Ok(target) = TargetText::target_of_file(text, "target", &TargetText::default()) {
        is_kept(&target);
        let controllers = target.controllers.max(1);
        assert!((0..target.luns).all(|lun| target.controller_of(lun) < controllers));
    }
}

/// A job file of fio's; what follows a line `== said` is what fio said against it.
pub fn job_file(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let (text, said) = text.split_once("\n== said\n").unwrap_or((text, ""));
    let file = Named { path: "jobs.fio".into(), stem: "jobs".into(), text: text.into(), readonly: !said.is_empty() };
    let _ = (file.complaint(said), file.paths(), file.words_of_commands(), file.traces());
    let shorter = [("runtime", "1s"), ("size", "4MiB")].map(|(option, value)| (option.to_owned(), value.to_owned()));
    for set in [BTreeMap::new(), BTreeMap::from(shorter)] {
        let Ok(text) = suite_of(std::slice::from_ref(&file), &set) else { continue };
        let parsed = Suite::parse_checked(&text, "suite", Path::new("/"), &Changes::default(), &check_parameters);
        if let (Ok(suite), true) = (parsed, set.is_empty()) {
            assert!(suite.scenarios.iter().all(|scenario| scenario.parameters["job"] == file.text), "as it is");
        }
    }
}

/// What fio left after a mixed load: a line `== NAME` stands before each file.
pub fn fio_output(bytes: &[u8]) {
    static MIXED: LazyLock<Scenario> = LazyLock::new(|| {
        let text = "name = \"t\"\ntitle = \"t\"\n[[scenario]]\nname = \"s\"\ninstrument = \"fio\"\n\
            parameters = { rw = \"randrw\", luns = 2, numjobs = 2, size = \"16MiB\", runtime = \"1s\" }\n\
            metrics = [{ name = \"m\", value = \"wall\", unit = \"s\", better = \"lower\" }]\n";
        let suite = Suite::parse(text, "suite", Path::new("/"), &Changes::default());
        suite.expect("it is a suite").scenarios.remove(0)
    });
    let mut files = BTreeMap::new();
    for part in String::from_utf8_lossy(bytes).split("== ").skip(1) {
        let (name, text) = part.split_once('\n').unwrap_or((part, ""));
        files.insert(name.to_owned(), text.as_bytes().to_vec());
    }
    let usage = r#"{"wall_ns":2000000000,"user_ns":500000000,"system_ns":500000000,"exit":0,"machine":{"cpus":2}}"#;
    let usage: Usage = serde_json::from_str(usage).expect("it is one");
    let (stdout, stderr, after, version) = Default::default();
    let finished = Finished { stdout, stderr, after, files, usage, started_ns: 1, version };
    let fio = adapter("fio").expect("it is there");
    for event in fio.translate(&MIXED, &finished).into_iter().flatten() {
        let written = serde_json::to_string(&event).expect("an event can be written");
        assert_eq!(parse_line(&written), Ok(Some(event)), "{written}");
    }
}

/// What test suites print, and their files: the first line says which form it is.
pub fn test_results(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (format, text) = text.split_once('\n').unwrap_or(("", &text));
    let suite = format!(
        "name = \"t\"\ntitle = \"t\"\n[[scenario]]\nname = \"s\"\ninstrument = \"tests\"\n\
         parameters = {{ command = \"true\", format = {format:?} }}\n"
    );
    let parsed = Suite::parse_checked(&suite, "suite", Path::new("/"), &Changes::default(), &check_parameters);
    let Ok(mut suite) = parsed else { return };
    let usage = r#"{"wall_ns":2000000000,"user_ns":500000000,"system_ns":500000000,"exit":1}"#;
    let usage: Usage = serde_json::from_str(usage).expect("it is one");
    let files = BTreeMap::from([("/results/a.xml".to_owned(), text.as_bytes().to_vec())]);
    let (stderr, version) = Default::default();
    let after = String::new();
    let finished = Finished { stdout: text.to_owned(), stderr, after, files, usage, started_ns: 1, version };
    let events = adapter("tests").expect("it is there").translate(&suite.scenarios.remove(0), &finished);
    let mut tests = Tests::default();
    for event in events.into_iter().flatten() {
        if let Event::Test(test) = event {
            let _ = tests.add(test);
        } else {
            let written = serde_json::to_string(&event).expect("an event can be written");
            assert_eq!(parse_line(&written), Ok(Some(event)), "{written}");
        }
    }
    let tests = tests.take();
    for test in &tests {
        let event = Event::Test(test.clone());
        let written = serde_json::to_string(&event).expect("an event can be written");
        assert_eq!(parse_line(&written), Ok(Some(event)), "{written}");
    }
    let names: BTreeSet<&str> = tests.iter().map(|test| test.name.as_str()).collect();
    assert_eq!(names.len(), tests.len(), "no two of one name");
    is_kept(&tests);
}

/// A run that was read is exported, and that export is the run again, to the byte.
fn goes_round(record: &Record, series: &[(u32, Series)]) {
    let write = |record: &Record, series: &[_]| {
        let mut packed = Vec::new();
        write_export(record, series, &mut packed).expect("memory takes all");
        packed
    };
    let first = write(record, series);
    let (record, series) = read_export(&first[..], "export").expect("it was exported");
    assert!(write(&record, &series) == first, "another export than before");
}

/// What is kept as JSON comes back as it was.
fn is_kept<T: serde::Serialize + serde::de::DeserializeOwned>(value: &T) {
    let text = serde_json::to_string(value).expect("it can be written");
    let read: T = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert_eq!(serde_json::to_string(&read).expect("it can be written"), text);
}

#[cfg(test)]
mod tests {
    use super::*;

    type Reader = fn(&[u8]);

    /// The targets of `fuzz/`, each of which is a function here.
    const TARGETS: [(&str, Reader); 11] = [
        ("carried_result", carried_result),
        ("disk", disk),
        ("export", export),
        ("fio_output", fio_output),
        ("job_file", job_file),
        ("others", others),
        ("packed_export", packed_export),
        ("suite", suite),
        ("target", target),
        ("test_results", test_results),
        ("wire", wire),
    ];

    #[test]
    fn each_target_takes_its_seeds() {
        let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
        let files = |folder: &str| {
            let mut paths: Vec<_> =
                std::fs::read_dir(fuzz.join(folder)).into_iter().flatten().map(|entry| entry.unwrap().path()).collect();
            paths.sort();
            paths
        };
        let names =
            files("fuzz_targets").into_iter().map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned());
        assert!(names.eq(TARGETS.map(|(name, _)| name)));
        for (name, target) in TARGETS {
            let seeds = files(&format!("seeds/{name}"));
            assert!(!seeds.is_empty() || name == "packed_export", "{name} has none");
            for seed in seeds {
                target(&std::fs::read(seed).unwrap());
            }
        }
    }
}
