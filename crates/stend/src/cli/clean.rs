//! `stend clean`: remove what interrupted runs and targets left on a machine, and what was built there for them; put back what
//! runs had changed.

use clap::Args;
use stend_model::run::is_run_id;

use super::Global;
use super::failure::{Exit, Failure};
use super::on::{Cleaned, On};
use super::output;
use crate::host::{HostError, LOCK_FILE, stand};
use crate::run::leaves;
use crate::side;
use crate::target::{self, State};

#[derive(Debug, Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    on: On,
}

pub(super) fn run(global: &Global, arguments: &Arguments) -> Result<Exit, Failure> {
    let unusable = |error: HostError| Failure::unusable(error.to_string());
    // While somebody measures, those files are in use. Where there are none, nothing is made either.
    let Some(Cleaned { host, work, locks }) = arguments.on.to_clean(global)? else {
        talk!("there is nothing to remove");
        return Ok(Exit::Fine);
    };
    let host = &*host;
    let names = host.list(&work).map_err(unusable)?;
    let (runs, builds): (Vec<_>, Vec<_>) = (
        names.iter().filter(|name| is_run_id(name)).collect(),
        names.iter().filter(|name| stand::is_build(name)).collect(),
    );
    for name in &runs {
        let path = format!("{work}/{name}");
        leaves::remove(host, &path).map_err(unusable)?;
        talk!("removed {path}");
    }
    let mut removed = runs.len() + builds.len();
    let side::Restored { put_back, left } = side::restore(host, &work).map_err(Failure::unusable)?;
    for line in put_back.iter().chain(&left) {
        talk!("{line}");
        removed += 1;
    }
    let mut failure = None;
    for status in target::statuses(host, &work) {
        let name = &status.name;
        if status.state == State::Up && target::is_name(name) {
            talk!("target {name} stands; `{} target down --name {name}` takes it down", output::program());
            continue;
        }
        match target::take_down(host, &work, name) {
            Ok(_) => talk!("removed target {name}"),
            Err(refusal) => failure = failure.or(Some(refusal)),
        }
        removed += 1;
    }
    // A build may hold what this machine removes files with. So if there is nothing else, all go together, with the directory that was made for
    // them; else what is half done goes first.
    let others = host.list(&work).map_err(unusable)?;
    let mut others = others.iter().filter(|name| !stand::is_build(name) && *name != LOCK_FILE);
    if !builds.is_empty() && others.next().is_none() {
        host.remove(&work).map_err(unusable)?;
    }
    for name in builds.iter().rev() {
        let path = format!("{work}/{name}");
        host.remove(&path).map_err(unusable)?;
        talk!("removed {path}");
    }
    drop(locks);
    if removed == 0 {
        talk!("there is nothing to remove");
    }
    failure.map_or(Ok(Exit::Fine), |refusal| Err(refusal.into()))
}
