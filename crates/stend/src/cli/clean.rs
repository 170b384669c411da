//! `stend clean`: remove what interrupted runs and rigs left on a machine, and what was built there for them, images too; put back what runs
//! had changed.

use clap::Args;
use stend_model::quantity::english_plural;
use stend_model::run::is_run_id;

use super::Global;
use super::failure::{Exit, Failure};
use super::on::{Cleaned, On};
use super::output;
use stend_lab::rig;
use stend_lab::run::leaves;
use stend_lab::side;
use stend_stand::host::{Command, HostError, LOCK_FILE, stand};

#[derive(Debug, Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    on: On,
}

pub(super) fn run(global: &Global, arguments: &Arguments) -> Result<Exit, Failure> {
    let unusable = |error: HostError| Failure::unusable(error.to_string());
    // While somebody measures, those files are in use. Where there are none, nothing is made either.
    let Cleaned { host, work, is_there, locker, machine_lock, machine, directory } = arguments.on.to_clean(global)?;
    if !is_there && machine_lock.is_none() {
        talk!("there is nothing to remove");
        return Ok(Exit::Fine);
    }
    let host = &*host;
    let names = if is_there { host.list(&work).map_err(unusable)? } else { Vec::new() };
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
    for name in rig::names(host, &work).map_err(unusable)? {
        let name = name.as_str();
        if rig::is_name(name) && rig::status(host, &work, name).is_ok_and(|status| status.state.stands()) {
            talk!("rig {name} is still set up; `{} rig down --name {name}` removes it", output::program());
            continue;
        }
        match rig::take_down(host, &work, name) {
            Ok(true) => talk!("removed rig {name}"),
            // Not stend's.
            Ok(false) => continue,
            Err(refusal) => failure = failure.or(Some(refusal)),
        }
        removed += 1;
    }
    for name in rig::servers::names(host, &work).map_err(unusable)? {
        match rig::servers::take_down(host, &work, &name) {
            Ok(true) => talk!("removed the servers of run {name}"),
            Ok(false) => continue,
            Err(refusal) => failure = failure.or(Some(refusal)),
        }
        removed += 1;
    }
    let conversions = rig::conversion::clean(host, &work)?;
    if conversions > 0 {
        talk!("removed what {} left", english_plural(conversions, "interrupted conversion", "interrupted conversions"));
        removed += conversions;
    }
    // Of images that guests lie on nothing is removed.
    let mut used = Vec::new();
    for name in rig::names(host, &work).map_err(unusable)? {
        used.extend(rig::vm::guest(host, &work, &name)?.map(|guest| guest.image));
    }
    for name in rig::image::names(host, &work).map_err(unusable)?.iter().filter(|name| !used.contains(name)) {
        rig::image::remove(host, &work, name).map_err(unusable)?;
        talk!("removed image {name}");
        removed += 1;
    }
    // The build that is in use holds the locks, and maybe what this machine removes files with. So it goes last.
    let is_in_use = |name: &&String| locker.as_ref().is_some_and(|path| path.starts_with(&format!("{work}/{name}/")));
    let (last, first): (Vec<_>, Vec<_>) = builds.into_iter().partition(is_in_use);
    for name in first.into_iter().chain(last) {
        let path = format!("{work}/{name}");
        host.remove(&path).map_err(unusable)?;
        talk!("removed {path}");
    }
    // The directory first: whoever gets the machine's lock finds it whole or not at all.
    let mut is_left = false;
    let mut left = |what: String| {
        talk!("left {what}");
        is_left = true;
    };
    let untold = "there is no stend-probe there to check whether it is locked";
    match directory {
        Some(mut lock) => lock.remove_file().unwrap_or_else(|error| left(format!("the lock {error}"))),
        None if names.iter().any(|name| name == LOCK_FILE) => left(format!("{work}/{LOCK_FILE}: {untold}")),
        None => drop(host.run(&Command::new(["rmdir", &work]))),
    }
    if is_there && host.list(&work).is_err() {
        talk!("removed {work}");
        removed += 1;
        // Most systems have it; where it was made for that directory, nothing else is in it.
        if let Some((above, _)) = work.rsplit_once('/').filter(|(above, _)| above.ends_with("/.cache"))
            && host.run(&Command::new(["rmdir", above])).is_ok_and(|output| output.exit == Some(0))
        {
            talk!("removed {above}, in which nothing was left");
        }
    }
    // It may be another user's, and in /tmp only that one may remove it.
    match (machine.map(|mut lock| lock.remove_file()), machine_lock) {
        (Some(Ok(())), Some(path)) => {
            talk!("removed {path}");
            removed += 1;
        }
        (Some(Err(error)), _) => left(format!("the lock {error}")),
        (None, Some(path)) => left(format!("{path}: {untold}")),
        (_, None) => {}
    }
    if removed == 0 && !is_left {
        talk!("there is nothing to remove");
    }
    failure.map_or(Ok(Exit::Fine), |refusal| Err(refusal.into()))
}
