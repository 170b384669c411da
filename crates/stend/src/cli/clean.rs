//! `stend clean`: remove what interrupted runs left on this machine.

use clap::Args;

use super::Global;
use super::failure::{Exit, Failure};
use crate::host::{Host as _, Local};
use crate::run::{leaves, prepare};
use crate::store::MeasuringLock;

#[derive(Debug, Args)]
pub(super) struct Arguments {}

pub(super) fn run(global: &Global, _: &Arguments) -> Result<Exit, Failure> {
    let store = global.store_directory()?;
    // While somebody measures, those files are in use.
    let _lock = if store.exists() { Some(MeasuringLock::take(&store)?) } else { None };
    let directory = prepare::work_directory(&Local).map_err(Failure::unusable)?;
    let names: Vec<_> = Local.list(&directory).unwrap_or_default().into_iter().filter(|name| is_run_id(name)).collect();
    for name in &names {
        let path = format!("{directory}/{name}");
        leaves::remove(&Local, &path).map_err(|error| Failure::unusable(error.to_string()))?;
        eprintln!("removed {path}");
    }
    if names.is_empty() {
        eprintln!("there is nothing to remove");
    }
    Ok(Exit::Fine)
}

/// Whether a name is one that stend gives to a run. Nothing else in that directory is stend's to remove.
fn is_run_id(name: &str) -> bool {
    let parts: Vec<_> = name.split('-').collect();
    let is =
        |part: &str, length: usize, digit: fn(&char) -> bool| part.len() == length && part.chars().all(|c| digit(&c));
    match parts[..] {
        [day, minute, random] => {
            is(day, 8, char::is_ascii_digit)
                && is(minute, 4, char::is_ascii_digit)
                && is(random, 4, char::is_ascii_hexdigit)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::is_run_id;

    #[test]
    fn only_what_stend_named_is_removed() {
        assert!(is_run_id("20261121-0555-3f9a"));
        for other in ["Documents", "20261121-0555", "20261121-0555-3f9a-old", "2026112a-0555-3f9a", "", "a-b-c"] {
            assert!(!is_run_id(other), "{other}");
        }
    }
}
