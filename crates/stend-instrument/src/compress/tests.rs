use proptest::prelude::*;
use stend_model::cause::Cause;
use stend_testing::have;
use tempfile::tempdir;

use super::*;
use crate::fixture::{read, record, run, scenario, taken_apart};

const ALL: [&Compressor; 4] = [&GZIP, &PIGZ, &ZSTD, &BROTLI];

#[test]
#[ignore = "records fixtures with the gzip that is here"]
fn record_fixtures() {
    record(&GZIP, "gzip-1.12-pages-3", &[("pages", "3"), ("level", "6")]);
}

#[test]
fn what_was_decompressed_proves_what_was_compressed() {
    let (scenario, mut finished) = read(&GZIP, "gzip-1.12-pages-3");
    let (begin, _, report) = taken_apart(GZIP.translate(&scenario, &finished).unwrap());
    assert_eq!(begin.version.as_deref(), Some("1.12"));
    assert_eq!(begin.parameters["corpus_sha256"], Corpus::of(3).sha256.as_str());
    assert_eq!(report.check, Check::Passed, "{:?}", report.evidence);
    assert_eq!(report.work["bytes"], Corpus::of(3).bytes.len() as f64);
    assert!(report.observed["compressed_bytes"] < report.work["bytes"] / 2.0);

    finished.after = format!("12\n{ALL_PAGES}  -\n");
    let (_, _, report) = taken_apart(GZIP.translate(&scenario, &finished).unwrap());
    assert_eq!(report.check, Check::Failed);
    finished.after = "12\n 1 2 3\n".into();
    let line = Cause::ToolLine { output: "sha256sum".into(), said: stend_model::wire::quote(&finished.after) };
    assert_eq!(GZIP.translate(&scenario, &finished), Err(line));
    finished.usage.exit = Some(1);
    finished.stderr = "gzip: pages.html: No such file or directory\n".into();
    let said = stend_model::wire::quote(finished.stderr.trim());
    let exited = Cause::ToolExited { tool: "gzip".into(), status: 1, said };
    assert_eq!(GZIP.translate(&scenario, &finished), Err(exited));
}

#[test]
fn the_pages_are_the_same_everywhere_and_for_ever() {
    // The pages are part of what is measured: if this fails, figures of different versions are not comparable.
    assert_eq!(Corpus::of(3).sha256, THREE_PAGES);
    assert_eq!(Corpus::of(PAGES).sha256, ALL_PAGES);
    assert!(Corpus::of(PAGES).bytes.starts_with(&Corpus::of(3).bytes));
    let megabytes = Corpus::of(PAGES).bytes.len() as f64 / 1e6;
    assert!((41.5..42.5).contains(&megabytes), "{megabytes}");
    let pages: Vec<_> = Corpus::of(3).pages().collect();
    assert!(pages.len() == 3 && pages.concat() == Corpus::of(3).bytes);
    assert!(pages.iter().all(|page| page.starts_with(b"<!DOCTYPE html>") && page.ends_with(b"</html>\n")));
}

#[test]
fn bad_parameters_are_refused_before_anything_runs() {
    for (adapter, name, value, part) in [
        (&GZIP, "level", "0", "1 to 9"),
        (&GZIP, "pages", "442", "1 to 441"),
        (&GZIP, "threads", "2", "no parameter"),
        (&GZIP, "files", "two", "one, each"),
        (&PIGZ, "threads", "0", "1 to 1024"),
        (&ZSTD, "level", "20", "1 to 19"),
        (&BROTLI, "level", "12", "0 to 11"),
    ] {
        let message = adapter.check(&scenario(adapter.name(), [(name, value)])).unwrap_err().to_string();
        assert!(message.contains(part), "{} {name}={value}: {message}", adapter.name());
    }
}

/// One process for all pages, and one for each; with threads where it has any.
#[test]
fn the_compressors_that_are_here_are_understood() {
    for adapter in ALL.into_iter().filter(|adapter| have(adapter.name())) {
        let threads = [("threads", "2")].into_iter().filter(|_| adapter.call.contains("{threads}"));
        for files in ["one", "each"] {
            let parameters = [("pages", "3"), ("files", files)].into_iter().chain(threads.clone());
            let scenario = scenario(adapter.name(), parameters);
            let finished = run(adapter, &scenario, tempdir().unwrap().path());
            let (begin, _, report) = taken_apart(adapter.translate(&scenario, &finished).unwrap());
            let version = begin.version.unwrap();
            assert!(version.starts_with(|c: char| c.is_ascii_digit()) && !version.contains(' '), "{version}");
            assert_eq!(report.check, Check::Passed, "{}, {files}: {:?}", adapter.name(), report.evidence);
            assert_eq!(report.work["operations"], if files == "each" { 3.0 } else { 1.0 });
        }
    }
}

proptest! {
    #[test]
    fn no_text_makes_the_parser_panic(text in "[0-9 \n]{0,60}", any in ".{0,60}") {
        let _ = (Decompressed::parse(&text), Decompressed::parse(&any));
    }
}

const THREE_PAGES: &str = "b7efddb55600b0519e4fb259a7dfc447fc821b216d6645f53bc41248a4668342";
const ALL_PAGES: &str = "f93a8bab155089073a28952b4ff900447b719d21eb675db8084b197d2298ef6a";
