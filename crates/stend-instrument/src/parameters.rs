//! Reading a scenario's parameters, which are all text, for the adapters. Each error names the parameter and says what would
//! be right.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::time::Duration;

use stend_model::cause::Cause;
use stend_model::plain;
use stend_model::quantity::{QuantityError, parse_duration, parse_share, parse_size};
use stend_model::wire::{Usage, quote};
use thiserror::Error;

use super::Finished;

/// What is wrong with a parameter, and what would be right.
#[derive(Debug, PartialEq, Eq, Error)]
pub enum ParameterError {
    /// It must be there.
    #[error("parameter \"{name}\" is missing")]
    Missing {
        /// The parameter.
        name: &'static str,
    },
    /// The tool does not know it.
    #[error("{tool} has no parameter \"{name}\"; there are: {}", .known.join(", "))]
    Unknown {
        /// The tool.
        tool: String,
        /// The parameter.
        name: String,
        /// Those that it knows.
        known: Vec<String>,
    },
    /// It is none of the words that it may be.
    #[error("parameter \"{name}\" is \"{text}\"; it may be {}", .choices.join(", "))]
    NoChoice {
        /// The parameter.
        name: String,
        /// What it is.
        text: String,
        /// What it may be.
        choices: Vec<String>,
    },
    /// It is no whole number, or out of its range.
    #[error("parameter \"{name}\" is \"{text}\"; it must be a whole number, {} to {}", .range.start(), .range.end())]
    NoCount {
        /// The parameter.
        name: String,
        /// What it is.
        text: String,
        /// Its range.
        range: RangeInclusive<u32>,
    },
    /// It is no size, length of time or share.
    #[error("parameter \"{name}\": {source}")]
    NoQuantity {
        /// The parameter.
        name: String,
        /// What is wrong with it.
        source: QuantityError,
    },
    /// It is a share of nothing, or of more than all.
    #[error("parameter \"{name}\" is \"{text}\"; it must be above 0% and at most 100%")]
    BeyondAll {
        /// The parameter.
        name: String,
        /// What it is.
        text: String,
    },
}

/// The parameters of one scenario, for one tool.
#[derive(Debug, Clone, Copy)]
pub(super) struct Parameters<'a> {
    values: &'a BTreeMap<String, String>,
}

impl<'a> Parameters<'a> {
    /// Refuses parameters that `tool` does not know, so that a misspelt one is no silent default.
    pub(super) fn of(values: &'a BTreeMap<String, String>, tool: &str, known: &[&str]) -> Result<Self, ParameterError> {
        match values.keys().find(|name| !known.contains(&name.as_str())) {
            Some(name) => Err(ParameterError::Unknown { tool: tool.into(), name: name.clone(), known: owned(known) }),
            None => Ok(Self { values }),
        }
    }

    /// The text of a parameter, or its default.
    pub(super) fn text(&self, name: &str, default: &'a str) -> &'a str {
        self.values.get(name).map_or(default, String::as_str)
    }

    /// The text of a parameter, if it is given.
    pub(super) fn given(&self, name: &str) -> Option<&'a str> {
        self.values.get(name).map(String::as_str)
    }

    /// The text of a parameter, if there is more than blanks in it.
    pub(super) fn written(&self, name: &str) -> Option<&'a str> {
        self.given(name).filter(|text| !text.trim().is_empty())
    }

    /// One of a few words.
    pub(super) fn choice(&self, name: &str, default: &'a str, choices: &[&str]) -> Result<&'a str, ParameterError> {
        let text = self.text(name, default);
        if choices.contains(&text) {
            Ok(text)
        } else {
            Err(ParameterError::NoChoice { name: name.into(), text: text.into(), choices: owned(choices) })
        }
    }

    /// A whole number in a range.
    pub(super) fn count(
        &self,
        name: &str,
        default: &'a str,
        range: RangeInclusive<u32>,
    ) -> Result<u32, ParameterError> {
        let text = self.text(name, default);
        let value = text.trim().parse().ok().filter(|value| range.contains(value));
        value.ok_or_else(|| ParameterError::NoCount { name: name.into(), text: text.into(), range })
    }

    /// A size in bytes.
    pub(super) fn size(&self, name: &str, default: &'a str) -> Result<u64, ParameterError> {
        parse_size(self.text(name, default)).map_err(no_quantity(name))
    }

    /// A length of time.
    pub(super) fn duration(&self, name: &str, default: &'a str) -> Result<Duration, ParameterError> {
        parse_duration(self.text(name, default)).map_err(no_quantity(name))
    }

    /// A share above 0 and at most 1.
    pub(super) fn share(&self, name: &str, default: &'a str) -> Result<f64, ParameterError> {
        let text = self.text(name, default);
        let share = parse_share(text).map_err(no_quantity(name))?;
        if share > 0.0 && share <= 1.0 {
            Ok(share)
        } else {
            Err(ParameterError::BeyondAll { name: name.into(), text: text.into() })
        }
    }
}

/// The words, for an error that outlives them.
fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// What makes of a wrong quantity the error of the parameter of this name.
fn no_quantity(name: &str) -> impl Fn(QuantityError) -> ParameterError {
    |source| ParameterError::NoQuantity { name: name.into(), source }
}

/// Fails unless the tool exited with status 0; `said` finds in its standard error what it said of that.
pub(super) fn ended_well(tool: &str, finished: &Finished, said: impl Fn(&str) -> String) -> Result<(), Cause> {
    how_it_ended(tool, &finished.usage, || said(&finished.stderr))
}

/// Why a command that used so much has failed, with what it said of that; nothing where it exited with status 0.
///
/// # Errors
/// Why it has failed.
pub fn how_it_ended(tool: &str, usage: &Usage, said: impl FnOnce() -> String) -> Result<(), Cause> {
    let tool = tool.to_owned();
    Err(match (usage.timed_out, usage.signal, usage.exit) {
        (true, ..) => Cause::ToolTimedOut { tool, said: said() },
        (_, Some(signal), _) => Cause::ToolKilled { tool, signal, said: said() },
        (_, _, Some(0)) => return Ok(()),
        (_, _, Some(status)) => Cause::ToolExited { tool, status, said: said() },
        (_, _, None) => Cause::ToolEndUnknown { tool, said: said() },
    })
}

/// The last line that says something. Empty if there is none.
pub fn last_words(text: &str) -> String {
    match plain::last_line(text) {
        "" => String::new(),
        line => quote(line),
    }
}

/// What is wrong with parameters, which were checked before, as why a repeat failed.
pub(super) fn not_taken(error: impl Display) -> Cause {
    Cause::Parameters { said: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values() -> BTreeMap<String, String> {
        [("size", "64MiB"), ("jobs", "0"), ("rw", "sideways"), ("share", "120%")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into()
    }

    #[test]
    fn bad_parameters_are_named_with_what_would_be_right() {
        let values = values();
        let error = Parameters::of(&values, "fio", &["size", "rw", "share"]).unwrap_err();
        assert_eq!(error.to_string(), "fio has no parameter \"jobs\"; there are: size, rw, share");
        let parameters = Parameters::of(&values, "fio", &["size", "rw", "share", "jobs"]).unwrap();
        assert_eq!(parameters.size("size", "1"), Ok(64 << 20));
        assert_eq!(parameters.duration("runtime", "2s"), Ok(Duration::from_secs(2)));
        assert!(parameters.count("jobs", "1", 1..=8).unwrap_err().to_string().contains("1 to 8"));
        assert!(parameters.choice("rw", "read", &["read", "write"]).unwrap_err().to_string().contains("read, write"));
        assert!(parameters.share("share", "80%").unwrap_err().to_string().contains("at most 100%"));
    }
}
