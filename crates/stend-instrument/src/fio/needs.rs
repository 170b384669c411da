//! Which files a job file works on, and how long it makes them, by fio's own parse.
//!
//! fio says what it makes of each option (`--debug=parse`): variables filled in, sizes as bytes. How it makes files of that is in its HOWTO under
//! `filename`, `directory`, `size` and `filesize`.

use std::collections::BTreeMap;

use super::file::engine_has_files;
use crate::{File, Writes};
use stend_stand::host::Command;

/// More files than this of one section are counted and not named.
const MOST_FILES: u64 = 20_000;
/// No word of a command may be longer than 128 KiB.
const LONGEST_WORD: usize = 64 << 10;

/// Hands fio a text in pieces.
const SCRIPT: &str = r#"
clock=$1 readonly=$2
shift 2
for part; do printf %s "$part"; done | fio "$clock" $readonly --debug=parse --parse-only -
"#;
/// Before it parses, fio tries out for 60 ms whether the processor's clock will do; not where another one is named.
pub(super) const CLOCK: &str = "--clocksource=clock_gettime";

/// Asks fio what it makes of a job file.
pub(super) fn question(text: &str, readonly: bool, variables: BTreeMap<String, String>) -> Command {
    let mut words = vec!["sh", "-c", SCRIPT, "sh", CLOCK, if readonly { "--readonly" } else { "" }];
    let mut rest = text;
    while !rest.is_empty() {
        let end =
            (0..=rest.len().min(LONGEST_WORD)).rev().find(|&end| rest.is_char_boundary(end)).unwrap_or(rest.len());
        let (part, behind) = rest.split_at(end);
        words.push(part);
        rest = behind;
    }
    Command { environment: variables, ..Command::new(words) }
}

/// What fio made of an option.
#[derive(Debug, Clone, Default)]
struct Value {
    text: String,
    /// The last number of it; of a range that is the upper end.
    number: Option<u64>,
}

/// A section's options, by their names.
type Options = BTreeMap<String, Value>;

/// The files that these sections work on, all where none is named, by path. Those without a directory lie in `data`.
pub(super) fn files(answer: &str, chosen: &[String], data: &str) -> BTreeMap<String, File> {
    let mut files: BTreeMap<String, File> = BTreeMap::new();
    for (name, options) in sections(answer) {
        if !chosen.is_empty() && !chosen.contains(&name) {
            continue;
        }
        for (path, file) in of_section(&name, &options, data) {
            files.entry(path).and_modify(|there| there.add(&file)).or_insert(file);
        }
    }
    files
}

fn sections(answer: &str) -> Vec<(String, Options)> {
    let mut global = Options::new();
    let mut found: Vec<(String, Options)> = Vec::new();
    let mut in_global = false;
    // The option whose numbers follow.
    let mut newest = String::new();
    for line in answer.lines() {
        let said = line.strip_prefix("parse ").and_then(|rest| rest.trim_start().split_once(' '));
        let Some(said) = said.map(|(_, said)| said.trim_start()) else { continue };
        if let Some(name) = said.strip_prefix("Parsing section [").and_then(|rest| rest.strip_suffix(']')) {
            in_global = name.eq_ignore_ascii_case("global");
            if !in_global {
                found.push((name.to_owned(), global.clone()));
            }
            continue;
        }
        let Some(options) = (if in_global { Some(&mut global) } else { found.last_mut().map(|(_, options)| options) })
        else {
            continue;
        };
        if let Some((key, text)) = said.strip_prefix("handle_option=").and_then(|rest| rest.split_once(", ptr=")) {
            canonical(key).clone_into(&mut newest);
            options.insert(newest.clone(), Value { text: text.to_owned(), number: None });
        } else if let Some(number) = said.strip_prefix("ret=0, out=").and_then(|number| number.parse().ok())
            && let Some(value) = options.get_mut(&newest)
        {
            value.number = Some(number);
        }
    }
    found
}

/// The one name of options that have several.
pub(super) fn canonical(key: &str) -> &str {
    match key {
        "timeout" => "runtime",
        "readwrite" => "rw",
        "nr_files" => "nrfiles",
        "fileoffset" => "offset",
        "io_limit" => "io_size",
        "fill_fs" => "fill_device",
        other => other,
    }
}

fn of_section(section: &str, options: &Options, data: &str) -> Vec<(String, File)> {
    let text = |key: &str| options.get(key).map(|value| value.text.as_str()).filter(|text| !text.is_empty());
    let engine = text("ioengine").unwrap_or_default();
    if !engine_has_files(engine) || text("opendir").is_some() {
        return Vec::new();
    }
    let number = |key: &str| options.get(key).and_then(|value| value.number).filter(|number| !is_share(*number));
    let names: Vec<String> = text("filename").map(split).unwrap_or_default();
    let directories: Vec<String> = text("directory").map(split).unwrap_or_default();
    let jobs = number("numjobs").unwrap_or(1).max(1);
    let count = if names.is_empty() { number("nrfiles").unwrap_or(1).max(1) } else { names.len() as u64 };
    let given = number("filesize").or_else(|| number("size").map(|size| size / count));
    // These make names, and nothing behind them.
    let is_empty = matches!(engine, "filecreate" | "filedelete" | "ftruncate");
    let bytes_of = |job: u64| {
        let of_job = number("offset_increment").unwrap_or(0).saturating_mul(job);
        let start = number("offset").unwrap_or(0).saturating_add(of_job);
        let length = given.filter(|_| !is_empty);
        length.map_or(0, |length| start.saturating_add(length))
    };
    let pattern = text("rw").map_or("read", |pattern| pattern.split(':').next().unwrap_or(pattern));
    let writes = !matches!(pattern, "read" | "randread") || engine == "filedelete";
    // A command may make them first, and a trace names its own.
    let by_others = text("exec_prerun").or(text("read_iolog")).is_some();
    // None can be made there.
    let is_device = |path: &str| path.starts_with("/dev/") && !path.starts_with("/dev/shm/");
    let place = |job: u64| directories.get((job % directories.len().max(1) as u64) as usize);
    // fio would make those that are missing, be they mistyped; in the run's own directory that harms nobody.
    let directory = |path: &str, job: u64| match path.strip_prefix(data) {
        Some(own) if own.starts_with('/') => place(job).map(|directory| absolute(directory, data)),
        _ if is_device(path) || by_others && place(job).is_none() => None,
        _ => Some(parent(path).to_owned()),
    };
    let file = |path: &str, bytes: u64, job: u64| File {
        bytes: if is_device(path) { 0 } else { bytes },
        by: format!("section [{section}]"),
        writes: match (names.is_empty(), writes) {
            (true, _) => Writes::ItsOwn,
            (false, false) => Writes::WhereLonger,
            (false, true) => Writes::Always,
        },
        directory: directory(path, job),
        must_exist: is_device(path) || (given.is_none() && !is_empty && !by_others),
    };
    let path = |job: u64, name: &str| match place(job) {
        Some(directory) => format!("{}/{}", absolute(directory, data), name.trim_start_matches('/')),
        None => absolute(name, data),
    };
    let format = text("filename_format").unwrap_or("$jobname.$jobnum.$filenum");
    let named = |job: u64, number: u64| match names.get(number as usize) {
        Some(name) => name.clone(),
        None => format
            .replace("$jobname", section)
            .replace("$jobnum", &job.to_string())
            .replace("$filenum", &number.to_string()),
    };
    if jobs.saturating_mul(count) > MOST_FILES {
        let all = (0..jobs.min(MOST_FILES)).map(bytes_of).fold(0, u64::saturating_add).saturating_mul(count);
        let first = path(0, &named(0, 0));
        return vec![(first.clone(), File { writes: Writes::ItsOwn, ..file(&first, all, 0) })];
    }
    let all = (0..jobs).flat_map(|job| (0..count).map(move |number| (job, number)));
    let one = |(job, number)| {
        let path = path(job, &named(job, number));
        let file = file(&path, bytes_of(job), job);
        (path, file)
    };
    all.map(one).collect()
}

/// Whether a size is a share of what is there: fio stores the percentage counted down from the largest number.
fn is_share(number: u64) -> bool {
    number >= u64::MAX - 101
}

/// Names with colons between them; one in a name has a backslash before it.
fn split(text: &str) -> Vec<String> {
    let plain = text.replace("\\:", "\0");
    plain.split(':').filter(|name| !name.is_empty()).map(|name| name.replace('\0', ":")).collect()
}

/// The directory that a path lies in.
pub(super) fn parent(path: &str) -> &str {
    match path.trim_end_matches('/').rsplit_once('/') {
        None | Some(("", _)) => "/",
        Some((parent, _)) => parent,
    }
}

fn absolute(path: &str, data: &str) -> String {
    if path.starts_with('/') { path.to_owned() } else { format!("{data}/{path}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_answer_is_taken() {
        let answer = "fio: set debug option parse\nparse    1  Parsing section [global]\nparse 1 [a b]\n\
            parse    1    handle_option=size, ptr=900g\nparse    1    __handle_option=size, type=OPT_STR_VAL_ZONE, ptr=900g\n\
            parse    1      ret=0, out=966367641600\nparse    1  Parsing section [a b]\n\
            parse    1  handle_option=filename, ptr=/x\\:y:z\nparse 1 handle_option=filesize, ptr=1m-2m\n\
            parse 1 ret=0, out=1048576\nparse 1 ret=0, out=2097152\n";
        let found = files(answer, &[], "/data");
        let bytes: Vec<_> = found.iter().map(|(path, file)| (path.as_str(), file.bytes)).collect();
        assert_eq!(bytes, [("/data/z", 2 << 20), ("/x:y", 2 << 20)]);
        assert!(files(answer, &["c".into()], "/data").is_empty());
        assert!(files("nothing that is known\nparse\nparse x\n", &[], "/data").is_empty());
    }
}
