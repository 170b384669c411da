//! `stend label`: what a person calls a run.

use clap::Args;
use stend_model::run::HERE;
use stend_stand::hosts::{Hosts, check_name};
use stend_store::Store;

use super::Global;
use super::completions;
use super::failure::{Exit, Failure};
use crate::catalogue;

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The run: its id or a prefix of it, its label, `last`, or `last~1` for the one before
    #[arg(add = completions::runs())]
    run: String,
    /// The label: 1 to 64 letters, digits, and - . or _ [default: the run's label is removed]
    label: Option<String>,
}

pub(super) fn run(global: &Global, arguments: &Arguments) -> Result<Exit, Failure> {
    let directory = global.store_to_read()?;
    let mut store = Store::open(&directory)?;
    let id = store.resolve(&arguments.run)?;
    if let Some(label) = &arguments.label {
        check(&store, &Hosts::read(&directory).map_err(Failure::usage)?, label)?;
    }
    let before = store.label(&id, arguments.label.as_deref())?;
    if !global.quiet {
        match (&arguments.label, before) {
            (Some(label), Some(before)) if before != *label => talk!("run {id}: {before} → {label}"),
            (Some(label), _) => talk!("run {id}: {label}"),
            (None, Some(before)) => talk!("run {id}: no longer {before}"),
            (None, None) => talk!("run {id} has no label"),
        }
    }
    Ok(Exit::Fine)
}

/// Refuses a label by which no run would be found: of a word that may also be a machine or a reference, that would be meant.
pub(super) fn check(store: &Store, hosts: &Hosts, label: &str) -> Result<(), Failure> {
    if check_name(label).is_err() {
        return Err(Failure::usage(format!(
            "\"{label}\" is no label: a label is 1 to 64 letters, digits, and - . or _, begins with a letter, digit or _, and is neither `last` nor the id of a run"
        )));
    }
    let is_machine =
        label == HERE || hosts.find(label).is_some() || store.list()?.iter().any(|run| run.machine == label);
    let is_reference = catalogue::references().iter().any(|reference| reference.name == label);
    let what = match (is_machine, is_reference) {
        (true, _) => "machine",
        (_, true) => "reference",
        _ => return Ok(()),
    };
    Err(Failure::usage(format!("\"{label}\" is the name of a {what}, so it cannot be a label")))
}
