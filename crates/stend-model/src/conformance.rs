//! What a project's own test suite says of its tests: each test's name, outcome and time. `docs/guide/porting.md` says what for.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cause::Cause;
use crate::plain;

/// A repeat keeps at most so many tests.
pub const MOST_TESTS: usize = 100_000;
/// Of a test's name so much, in bytes.
const LONGEST_NAME: usize = 300;
/// Of what a failing test said so much, in bytes.
const LONGEST_SAID: usize = 500;
/// Of what all failing tests of a repeat said so much, in bytes: they are kept in the repeat's document, which is read whole.
const MOST_SAID: usize = 1 << 20;
/// What a test is called that has no name.
const NAMELESS: &str = "(no name)";
/// What stands in place of the rest of a text.
const CUT: char = '…';

/// One test of a suite.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Test {
    /// Its name. Of several tests of one name the second is called `NAME (2)`.
    #[schemars(length(min = 1))]
    pub name: String,
    /// What came of it.
    pub outcome: TestOutcome,
    /// How long it took, in nanoseconds, if its suite says that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wall_ns: Option<u64>,
    /// What it said of its failure, or why it was skipped; empty where nothing was said.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub said: String,
}

/// What came of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TestOutcome {
    /// It ran, and what it checks holds.
    Passed,
    /// It ran, or was to run, and what it checks does not hold.
    Failed,
    /// It was not run, or its failure is expected.
    Skipped,
}

/// The tests of a repeat as they come: bounded, in plain text, no two of one name.
#[derive(Debug, Default)]
pub struct Tests {
    tests: Vec<Test>,
    /// Each with the last number that one of its name got.
    names: HashMap<String, usize>,
    said: usize,
}

impl Tests {
    /// One more.
    ///
    /// # Errors
    /// There are too many.
    pub fn add(&mut self, test: Test) -> Result<(), Cause> {
        if self.tests.len() == MOST_TESTS {
            return Err(Cause::TooManyTests { most: MOST_TESTS });
        }
        let name = shortened(&test.name, LONGEST_NAME);
        let name = self.unused(if name.is_empty() { NAMELESS.into() } else { name });
        // A test that passed has nothing to say.
        let room = if test.outcome == TestOutcome::Passed { 0 } else { LONGEST_SAID.min(MOST_SAID - self.said) };
        let said = shortened(&test.said, room);
        self.said += said.len();
        self.tests.push(Test { name, said, ..test });
        Ok(())
    }

    /// All of them, in the order in which they came.
    pub fn take(self) -> Vec<Test> {
        self.tests
    }

    fn unused(&mut self, name: String) -> String {
        let Some(mut number) = self.names.get(&name).copied() else {
            self.names.insert(name.clone(), 1);
            return name;
        };
        loop {
            number += 1;
            let numbered = format!("{name} ({number})");
            if !self.names.contains_key(&numbered) {
                self.names.insert(name, number);
                self.names.insert(numbered.clone(), 1);
                return numbered;
            }
        }
    }
}

/// A text in one line of at most so many bytes: each stretch of white space is one space, and what a terminal would obey is replaced.
fn shortened(text: &str, most: usize) -> String {
    let mut line = String::new();
    for word in text.split_whitespace() {
        if line.len() > most {
            break;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(&plain::one_line(word));
    }
    if line.len() > most {
        let room = most.saturating_sub(CUT.len_utf8());
        let end = (0..=room).rev().find(|&end| line.is_char_boundary(end)).unwrap_or(0);
        line.truncate(end);
        if most >= CUT.len_utf8() {
            line.push(CUT);
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn test(name: &str, outcome: TestOutcome, said: &str) -> Test {
        Test { name: name.into(), outcome, wall_ns: None, said: said.into() }
    }

    #[test]
    fn names_are_plain_bounded_and_each_is_there_once() {
        let mut tests = Tests::default();
        for name in ["a", "a (2)", "a", "a", "x\u{1b}[1m\n y", &"ё".repeat(400)] {
            tests.add(test(name, TestOutcome::Passed, "nothing to say")).unwrap();
        }
        let tests = tests.take();
        let names: Vec<_> = tests.iter().map(|test| test.name.as_str()).collect();
        assert_eq!(names[..5], ["a", "a (2)", "a (3)", "a (4)", "x\u{fffd}[1m y"]);
        assert!(names[5].len() <= LONGEST_NAME && names[5].ends_with("ё…"), "{}", names[5].len());
        assert!(tests.iter().all(|test| test.said.is_empty()));
    }

    #[test]
    fn there_is_room_for_so_many_tests_and_so_much_that_they_say() {
        let mut tests = Tests::default();
        let long = "word ".repeat(1000);
        for number in 0..MOST_TESTS {
            tests.add(test(&number.to_string(), TestOutcome::Failed, &long)).unwrap();
        }
        let one_more = tests.add(test("one more", TestOutcome::Passed, ""));
        assert_eq!(one_more, Err(Cause::TooManyTests { most: MOST_TESTS }));
        let said: usize = tests.take().iter().map(|test| test.said.len()).sum();
        assert!(said > MOST_SAID - LONGEST_SAID && said <= MOST_SAID, "{said}");
    }
}
