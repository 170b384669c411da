//! What a user sets of a job file without editing it: `--set runtime=10s`, `--set size=1GiB`.
//!
//! The file's text is kept as it is, and what was set beside it. Lines that say it get the new value wherever they stand, so sections that inherit
//! it have it too. How long a section runs at most is also said to those that do not say it.

use std::collections::BTreeMap;
use std::time::Duration;

use stend_model::quantity::{parse_duration, parse_size};

use super::needs::canonical;

/// fio's options that can be set.
pub(super) const NAMES: [&str; 6] = [RUNTIME, "ramp_time", "size", "io_size", "filesize", "loops"];
/// The one that is also said to sections that do not say it.
pub(super) const RUNTIME: &str = "runtime";

/// The parameter of a scenario that holds what was set; `size` alone is that of LUNs.
pub(super) fn parameter(name: &str) -> String {
    format!("set_{name}")
}

/// What is set, as fio takes it.
pub(super) fn of(parameters: &BTreeMap<String, String>) -> Result<BTreeMap<&'static str, String>, String> {
    let mut set = BTreeMap::new();
    for name in NAMES {
        let Some(value) = parameters.get(&parameter(name)) else { continue };
        let wrong = |why: &str| format!("--set {name}={value}: {why}");
        let taken = match name {
            RUNTIME | "ramp_time" => {
                let time = parse_duration(value).map_err(|error| wrong(&error.to_string()))?;
                if name == RUNTIME && time < Duration::from_millis(1) {
                    return Err(wrong("it must be at least 1ms"));
                }
                format!("{}ms", time.as_millis())
            }
            "loops" => {
                let loops = value.parse::<u32>().ok().filter(|loops| *loops > 0);
                loops.ok_or_else(|| wrong("it must be a whole number above 0"))?.to_string()
            }
            _ => {
                // Job files have small letters.
                let large = value.ends_with(['m', 'g', 't']).then(|| value.to_uppercase());
                let size = parse_size(large.as_ref().unwrap_or(value)).map_err(|error| wrong(&error.to_string()))?;
                if size == 0 {
                    return Err(wrong("it must be more than 0 bytes"));
                }
                size.to_string()
            }
        };
        set.insert(name, taken);
    }
    Ok(set)
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
