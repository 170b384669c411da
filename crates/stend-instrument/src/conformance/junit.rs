//! JUnit's XML, as pytest, CTest, GoogleTest, Surefire, Jest and many others write it. There is no standard; this is what they have in
//! common, and where they differ.

use std::borrow::Cow;

use quick_xml::Reader;
use quick_xml::XmlVersion;
use quick_xml::events::{BytesStart, Event};
use stend_model::checked::Checked;
use stend_model::conformance::{Test, TestOutcome};
use thiserror::Error;

use super::{Found, last_part, nanoseconds};
use crate::Files;
use crate::xml::text_of;

/// Reads the files with results. A file that is cut off gives the tests that stand in it whole.
pub(super) fn read(files: &Files) -> Found {
    let mut found = Found::default();
    for (path, contents) in files {
        if let Err(error) = read_one(&String::from_utf8_lossy(contents), &mut found.tests) {
            let said = error.to_string();
            let file = path.rsplit('/').next().unwrap_or(path).to_owned();
            found.cut.push(Checked::TestsFileCut { file, said });
        }
    }
    found
}

/// A test case while it is read.
struct Case {
    test: Test,
    /// CTest writes that it found no program as it writes that a test was skipped.
    not_run: bool,
    /// What it printed.
    output: String,
}

/// What the text at hand is of.
#[derive(Clone, Copy, PartialEq)]
enum Within {
    Failure,
    Output,
    Other,
}

/// Why a file is not read to its end.
#[derive(Debug, Error)]
enum JunitError {
    #[error(transparent)]
    Xml(#[from] quick_xml::Error),
    #[error("<{0}> is no <testsuite>")]
    NoResults(String),
    #[error("it has a document type")]
    DocumentType,
    #[error("it ends in the midst")]
    Cut,
    #[error("it is empty")]
    Empty,
}

fn read_one(text: &str, tests: &mut Vec<Test>) -> Result<(), JunitError> {
    let mut reader = Reader::from_str(text.trim_start_matches('\u{feff}'));
    reader.config_mut().expand_empty_elements = true;
    let (mut depth, mut is_results) = (0_usize, false);
    let mut case: Option<Case> = None;
    let (mut within, mut words) = (Within::Other, String::new());
    loop {
        match reader.read_event()? {
            Event::Start(tag) => {
                depth += 1;
                is_results |= depth == 1 && matches!(tag.local_name().as_ref(), b"testsuites" | b"testsuite");
                if !is_results {
                    let name = String::from_utf8_lossy(tag.local_name().as_ref()).into_owned();
                    return Err(JunitError::NoResults(name));
                }
                words.clear();
                within = match (tag.local_name().as_ref(), &mut case) {
                    (b"testcase", _) => {
                        case = Some(case_of(&tag));
                        Within::Other
                    }
                    (kind, Some(case)) => begun(kind, &tag, case),
                    (_, None) => Within::Other,
                };
            }
            Event::End(tag) => {
                depth = depth.saturating_sub(1);
                if let Some(case) = &mut case {
                    match within {
                        Within::Failure if case.test.said.is_empty() => case.test.said = std::mem::take(&mut words),
                        Within::Output => case.output = std::mem::take(&mut words),
                        _ => {}
                    }
                }
                within = Within::Other;
                if tag.local_name().as_ref() == b"testcase" {
                    tests.extend(case.take().map(finished));
                }
            }
            // Nobody needs one for results, and it may define entities that grow without end.
            Event::DocType(_) => return Err(JunitError::DocumentType),
            Event::Eof if depth > 0 => return Err(JunitError::Cut),
            Event::Eof if !is_results => return Err(JunitError::Empty),
            Event::Eof => return Ok(()),
            other => words.extend(text_of(&other)),
        }
    }
}

fn attribute(tag: &BytesStart, name: &str) -> String {
    let found = tag.try_get_attribute(name).ok().flatten();
    let value = found.map(|found| match found.normalized_value(XmlVersion::Implicit1_0) {
        Ok(value) => value.into_owned(),
        // With references that XML does not have.
        Err(_) => String::from_utf8_lossy(&found.value).into_owned(),
    });
    value.unwrap_or_default()
}

fn case_of(tag: &BytesStart) -> Case {
    let [name, class, time, status] = ["name", "classname", "time", "status"].map(|name| attribute(tag, name));
    // CTest says the name twice.
    let class: Cow<str> = if class == name { "".into() } else { class.into() };
    let name = match (class.as_ref(), name.as_str()) {
        ("", name) => name.to_owned(),
        (class, "") => class.to_owned(),
        (class, name) => format!("{class}.{name}"),
    };
    let was_run = !matches!(status.as_str(), "notrun" | "disabled" | "skipped");
    // GoogleTest has a result besides.
    let not_run = status == "notrun" && attribute(tag, "result").is_empty();
    let outcome = if was_run { TestOutcome::Passed } else { TestOutcome::Skipped };
    Case {
        test: Test { name, outcome, wall_ns: nanoseconds(&time), said: String::new() },
        not_run,
        output: String::new(),
    }
}

/// An element within a test case.
fn begun(kind: &[u8], tag: &BytesStart, case: &mut Case) -> Within {
    let message = attribute(tag, "message");
    let test = &mut case.test;
    match kind {
        // Node writes so of a test that is still to be done.
        b"failure" if test.outcome == TestOutcome::Skipped => Within::Other,
        b"failure" | b"error" => {
            if test.outcome != TestOutcome::Failed {
                (test.outcome, test.said) = (TestOutcome::Failed, message.trim().to_owned());
            }
            Within::Failure
        }
        b"skipped" if test.outcome != TestOutcome::Failed => {
            let was_to_run = case.not_run && !message.is_empty() && !message.starts_with("SKIP_");
            test.outcome = if was_to_run { TestOutcome::Failed } else { TestOutcome::Skipped };
            test.said = message;
            Within::Failure
        }
        b"system-out" | b"system-err" if case.output.trim().is_empty() => Within::Output,
        _ => Within::Other,
    }
}

/// A test that says nothing of its failure has printed something: its last words.
fn finished(case: Case) -> Test {
    let Case { mut test, output, .. } = case;
    if test.outcome == TestOutcome::Failed && test.said.trim().is_empty() {
        test.said = last_part(&output).to_owned();
    }
    test
}
