use proptest::prelude::*;
use stend_model::cause::Cause;
use stend_testing::have;
use tempfile::tempdir;

use super::*;
use crate::fixture::{read, record, run, scenario, taken_apart};

#[test]
#[ignore = "records fixtures with the gzip that is here"]
fn record_fixtures() {
    record(&Gzip, "gzip-1.12-pages-3", &[("pages", "3"), ("level", "6")]);
}

#[test]
fn the_trailer_proves_what_was_read() {
    let (scenario, mut finished) = read(&Gzip, "gzip-1.12-pages-3");
    let (begin, _, report) = taken_apart(Gzip.translate(&scenario, &finished).unwrap());
    assert_eq!(begin.version.as_deref(), Some("1.12"));
    assert_eq!(begin.parameters["corpus_sha256"], Corpus::of(3).sha256.as_str());
    assert_eq!(report.check, Check::Passed, "{:?}", report.evidence);
    assert_eq!(report.work["bytes"], Corpus::of(3).bytes.len() as f64);
    assert!(report.observed["compressed_bytes"] < report.work["bytes"] / 2.0);

    let trailer = Trailer::parse(&finished.stdout).unwrap();
    finished.stdout = format!("{}\n 1 2 3 4 5 6 7 8\n", trailer.compressed);
    let (_, _, report) = taken_apart(Gzip.translate(&scenario, &finished).unwrap());
    assert_eq!(report.check, Check::Failed);
    finished.stdout = "12\n 1 2 3\n".into();
    let line = Cause::ToolLine { output: "gzip".into(), said: stend_model::wire::quote(&finished.stdout) };
    assert_eq!(Gzip.translate(&scenario, &finished), Err(line));
    finished.usage.exit = Some(1);
    finished.stderr = "gzip: pages.html: No such file or directory\n".into();
    let said = stend_model::wire::quote(finished.stderr.trim());
    let exited = Cause::ToolExited { tool: "gzip".into(), status: 1, said };
    assert_eq!(Gzip.translate(&scenario, &finished), Err(exited));
}

#[test]
fn the_pages_are_the_same_everywhere_and_for_ever() {
    // The pages are part of what is measured: if this fails, figures of different versions are not comparable.
    assert_eq!(Corpus::of(3).sha256, THREE_PAGES);
    assert_eq!(Corpus::of(PAGES).sha256, ALL_PAGES);
    assert!(Corpus::of(PAGES).bytes.starts_with(&Corpus::of(3).bytes));
    let megabytes = Corpus::of(PAGES).bytes.len() as f64 / 1e6;
    assert!((41.5..42.5).contains(&megabytes), "{megabytes}");
}

#[test]
fn bad_parameters_are_refused_before_anything_runs() {
    for (name, value, part) in
        [("level", "0", "1 to 9"), ("pages", "442", "1 to 441"), ("threads", "2", "no parameter")]
    {
        let message = Gzip.check(&scenario("gzip", [(name, value)])).unwrap_err().to_string();
        assert!(message.contains(part), "{name}={value}: {message}");
    }
}

#[test]
fn the_gzip_that_is_here_is_understood() {
    if !have("gzip") {
        return;
    }
    let scenario = scenario("gzip", [("pages", "2"), ("level", "9")]);
    let finished = run(&Gzip, &scenario, tempdir().unwrap().path());
    let (_, _, report) = taken_apart(Gzip.translate(&scenario, &finished).unwrap());
    assert_eq!(report.check, Check::Passed, "{:?}", report.evidence);
}

proptest! {
    #[test]
    fn no_text_makes_the_parser_panic(text in "[0-9 \n]{0,60}", any in ".{0,60}") {
        let _ = (Trailer::parse(&text), Trailer::parse(&any));
    }
}

const THREE_PAGES: &str = "b7efddb55600b0519e4fb259a7dfc447fc821b216d6645f53bc41248a4668342";
const ALL_PAGES: &str = "f93a8bab155089073a28952b4ff900447b719d21eb675db8084b197d2298ef6a";
