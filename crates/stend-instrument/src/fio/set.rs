//! What a user sets of a job file without editing it: `--set runtime=10s`, `--set size=1GiB`.
//!
//! The file's text is kept as it is, and what was set beside it. Lines that say it get the new value wherever they stand, so sections that inherit
//! it have it too. How long a section runs at most is also said to those that do not say it.

use std::collections::BTreeMap;
use std::time::Duration;

use stend_model::quantity::{QuantityError, parse_duration, parse_size};
use thiserror::Error;

use super::needs::canonical;

/// A value that an option cannot be set to.
#[derive(Debug, Error)]
#[error("--set {name}={value}: {what}")]
pub struct SetError {
    name: &'static str,
    value: String,
    #[source]
    what: Unfit,
}

/// What is wrong with it.
#[derive(Debug, Error)]
enum Unfit {
    /// It is no size or length of time.
    #[error(transparent)]
    Quantity(#[from] QuantityError),
    /// It is shorter than fio can measure.
    #[error("it must be at least 1ms")]
    TooShort,
    /// It is no number of loops.
    #[error("it must be a whole number above 0")]
    NoCount,
    /// Nothing would be done.
    #[error("it must be more than 0 bytes")]
    NoBytes,
}

/// fio's options that can be set.
pub(super) const NAMES: [&str; 6] = [RUNTIME, "ramp_time", "size", "io_size", "filesize", "loops"];
/// The one that is also said to sections that do not say it.
pub(super) const RUNTIME: &str = "runtime";

/// The parameter of a scenario that holds what was set; `size` alone is that of LUNs.
pub(super) fn parameter(name: &str) -> String {
    format!("set_{name}")
}

/// What is set, as fio takes it.
pub(super) fn of(parameters: &BTreeMap<String, String>) -> Result<BTreeMap<&'static str, String>, SetError> {
    let mut set = BTreeMap::new();
    for name in NAMES {
        let Some(value) = parameters.get(&parameter(name)) else { continue };
        let taken = taken(name, value).map_err(|what| SetError { name, value: value.clone(), what })?;
        set.insert(name, taken);
    }
    Ok(set)
}

/// A value of an option, as fio takes it.
fn taken(name: &str, value: &str) -> Result<String, Unfit> {
    match name {
        RUNTIME | "ramp_time" => {
            let time = parse_duration(value)?;
            if name == RUNTIME && time < Duration::from_millis(1) {
                return Err(Unfit::TooShort);
            }
            Ok(format!("{}ms", time.as_millis()))
        }
        "loops" => {
            let loops = value.parse::<u32>().ok().filter(|loops| *loops > 0);
            Ok(loops.ok_or(Unfit::NoCount)?.to_string())
        }
        _ => {
            // Job files have small letters.
            let large = value.ends_with(['m', 'g', 't']).then(|| value.to_uppercase());
            match parse_size(large.as_deref().unwrap_or(value))? {
                0 => Err(Unfit::NoBytes),
                size => Ok(size.to_string()),
            }
        }
    }
}

/// Whether a line says an option.
fn says(line: &str, name: &str) -> bool {
    let key = line.trim().split('=').next().unwrap_or_default().trim();
    canonical(key) == name
}

/// Whether a text says an option.
pub(super) fn is_said(text: &str, name: &str) -> bool {
    text.lines().any(|line| says(line, name))
}

/// The text with what is set.
pub(super) fn applied(set: &BTreeMap<&'static str, String>, text: &str) -> String {
    if set.is_empty() {
        return text.to_owned();
    }
    let changed = |line: &str| {
        let named = set.iter().find(|(name, _)| says(line, name));
        named.map_or_else(|| line.to_owned(), |(name, value)| format!("{name}={value}"))
    };
    text.lines().map(|line| changed(line) + "\n").collect()
}
