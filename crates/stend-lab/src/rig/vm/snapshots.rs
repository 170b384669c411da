//! Snapshots of a guest: what is on all its disks at one moment, and in its memory if it runs, kept in the disks' files by QEMU.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use stend_model::target::vm::{Format, Vm};
use stend_stand::host::{Command, Host};

use super::monitor::Monitor;
use super::power::{end, switch_on};
use super::transfer::{SENT, went_on};
use super::{Standing, disk_file, standing_guest};
use crate::rig::{LONGEST_MAKING, Misuse, Obstacle, Refusal, Said, is_name};

/// A snapshot that a guest can go back to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Snapshot {
    /// Its name.
    pub name: String,
    /// When it was taken.
    pub taken: Timestamp,
    /// The memory that it holds, in bytes; 0 if the guest was off.
    pub memory_bytes: u64,
}

/// What `qemu-img info` tells of a file.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct File {
    #[serde(default)]
    snapshots: Vec<Entry>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Entry {
    name: String,
    date_sec: i64,
    vm_state_size: u64,
}

/// One that was interrupted may be on some of the files, and QEMU would take a second one of the same name. A file that cannot be changed leaves none
/// changed.
const KEEP: &str = r#"
snapshot=$1
shift
for file; do qemu-img snapshot -d "$snapshot" "$file" 2>/dev/null; done
for file; do
    qemu-img snapshot -c "$snapshot" "$file" && continue
    status=$?
    for file; do qemu-img snapshot -d "$snapshot" "$file" 2>/dev/null; done
    exit "$status"
done
"#;
/// Goes back to a snapshot (`-a`), or removes it (`-d`).
const EACH: &str = r#"
what=$1 snapshot=$2
shift 2
for file; do qemu-img snapshot "$what" "$snapshot" "$file" || exit; done
"#;
/// A guest that runs writes meanwhile.
const LIST: &str = r#"for file; do qemu-img info -U --output=json "$file" || exit; done"#;

/// Whether a text may be the name of a snapshot. QEMU takes a number for something else.
pub fn is_snapshot(text: &str) -> bool {
    is_name(text) && text.starts_with(|first: char| first.is_ascii_lowercase())
}

/// Keeps what is on a guest's disks now, and in its memory if it runs.
///
/// # Errors
/// There is no such guest, or one with such a snapshot already; it has a disk without snapshots; or QEMU cannot do it.
pub fn keep(host: &dyn Host, work: &str, name: &str, snapshot: &str) -> Result<(), Refusal> {
    let standing = standing_guest(host, work, name)?;
    let files = files_with_snapshots(&standing.vm).map_err(|disk| Misuse::NoSnapshots { name: name.into(), disk })?;
    if all(host, &standing, &files)?.iter().any(|old| old.name == snapshot) {
        return Err(Misuse::SnapshotExists { name: name.into(), snapshot: snapshot.into() }.into());
    }
    match standing.guest.runs(host) {
        true => standing.ask(|monitor| monitor.forget(snapshot).and_then(|()| monitor.keep(snapshot))),
        false => standing.run(host, KEEP, &[snapshot], &files).map(drop),
    }
}

/// Brings a guest back to what it was at a snapshot: its disks, and if it ran then, its memory too, so that it goes on from there.
///
/// # Errors
/// There is no such snapshot; the guest runs, and was off then; or QEMU cannot do it. The guest is off then.
pub fn revert(
    host: &dyn Host,
    probe: &str,
    work: &str,
    name: &str,
    snapshot: &str,
    interrupted: &dyn Fn() -> bool,
) -> Result<(), Refusal> {
    let standing = standing_guest(host, work, name)?;
    let (files, wanted) = found(host, &standing, snapshot)?;
    went_on(&standing);
    match (standing.guest.runs(host), wanted.memory_bytes > 0) {
        (true, true) => standing.ask(|monitor| monitor.revert(snapshot)).inspect_err(|_| {
            let _ = end(host, &standing);
        }),
        (false, true) => switch_on(host, probe, work, &standing, Some(snapshot), interrupted),
        (false, false) => standing.run(host, EACH, &["-a", snapshot], &files).map(drop),
        (true, false) => {
            let why = format!("it was off when the snapshot \"{snapshot}\" was taken");
            Err(Misuse::GuestIsOn { name: name.into(), why }.into())
        }
    }
}

/// Removes a snapshot of a guest.
///
/// # Errors
/// There is no such snapshot, or QEMU cannot do it.
pub fn forget(host: &dyn Host, work: &str, name: &str, snapshot: &str) -> Result<(), Refusal> {
    let standing = standing_guest(host, work, name)?;
    let (files, _) = found(host, &standing, snapshot)?;
    match standing.guest.runs(host) {
        true => standing.ask(|monitor| monitor.forget(snapshot)),
        false => standing.run(host, EACH, &["-d", snapshot], &files).map(drop),
    }
}

/// The snapshots of a guest, in the order in which they were taken.
///
/// # Errors
/// Its disks cannot be looked at.
pub(in crate::rig) fn list(host: &dyn Host, work: &str, name: &str) -> Result<Vec<Snapshot>, Refusal> {
    let standing = standing_guest(host, work, name)?;
    files_with_snapshots(&standing.vm).map_or(Ok(Vec::new()), |files| all(host, &standing, &files))
}

/// The files that a guest writes on and that can hold its memory, or why it has no snapshots. The one that it boots from comes last: it tells which snapshots there are.
pub(super) fn files_with_snapshots(vm: &Vm) -> Result<Vec<String>, String> {
    let disks = vm.disks.iter().enumerate().map(|(number, disk)| match (&disk.from, disk.format) {
        (Some(lun), _) => Err(format!("a LUN, {lun}")),
        (None, Format::Raw) => Err(format!("written raw (disk {number})")),
        (None, Format::Qcow2) => Ok(disk_file(number)),
    });
    disks.chain([Ok("system.qcow2".to_owned())]).collect()
}

fn all(host: &dyn Host, standing: &Standing, files: &[String]) -> Result<Vec<Snapshot>, Refusal> {
    let said = standing.run(host, LIST, &[], files)?;
    let unclear =
        |error: serde_json::Error| Obstacle::QemuImg { name: standing.name.clone(), said: Said::of(error.to_string()) };
    let told = serde_json::Deserializer::from_str(&said).into_iter::<File>();
    let mut of_files = told.collect::<Result<Vec<_>, _>>().map_err(unclear)?;
    let last = of_files.pop().map(|file| file.snapshots).unwrap_or_default();
    // One that was interrupted is on some of the disks only.
    let is_whole = |one: &Entry| of_files.iter().all(|file| file.snapshots.iter().any(|other| other.name == one.name));
    let snapshot = |one: Entry| Snapshot {
        taken: Timestamp::from_second(one.date_sec).unwrap_or_default(),
        memory_bytes: one.vm_state_size,
        name: one.name,
    };
    Ok(last.into_iter().filter(|one| one.name != SENT && is_whole(one)).map(snapshot).collect())
}

/// The files of a guest, and its snapshot of this name.
fn found(host: &dyn Host, standing: &Standing, snapshot: &str) -> Result<(Vec<String>, Snapshot), Refusal> {
    let files =
        files_with_snapshots(&standing.vm).map_err(|disk| Misuse::NoSnapshots { name: standing.name.clone(), disk })?;
    let snapshots = all(host, standing, &files)?;
    match snapshots.iter().find(|one| one.name == snapshot) {
        Some(one) => Ok((files, one.clone())),
        None => {
            let there = snapshots.into_iter().map(|one| one.name).collect();
            Err(Misuse::NoSnapshot { name: standing.name.clone(), snapshot: snapshot.into(), there }.into())
        }
    }
}

impl Standing {
    pub(super) fn ask(&self, what: impl FnOnce(&mut Monitor) -> Result<(), super::Unasked>) -> Result<(), Refusal> {
        let asked = Monitor::of(self.guest.home()).and_then(|mut monitor| what(&mut monitor));
        asked.map_err(|why| Obstacle::Unasked { name: self.name.clone(), why }.into())
    }

    /// Runs a script on files in the guest's directory, and gives what it printed.
    fn run(&self, host: &dyn Host, script: &str, first: &[&str], files: &[String]) -> Result<String, Refusal> {
        let words =
            ["sh", "-c", script, "sh"].into_iter().chain(first.iter().copied()).chain(files.iter().map(String::as_str));
        let directory = Some(self.daemon.home.clone());
        let output = host.run(&Command { directory, timeout: LONGEST_MAKING, ..Command::new(words) })?;
        match output.exit {
            Some(0) => Ok(output.text()),
            _ => Err(Obstacle::QemuImg { name: self.name.clone(), said: (&output).into() }.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use stend_model::target::vm::VmText;

    use super::*;

    #[test]
    fn a_guest_has_snapshots_if_each_of_its_disks_has() {
        let files = |disks: &[&str]| {
            let disk = Some(disks.iter().map(|disk| disk.parse().unwrap()).collect());
            files_with_snapshots(&VmText { disk, ..VmText::default() }.vm().unwrap())
        };
        assert_eq!(files(&["size=1MiB,format=qcow2"]).unwrap(), ["disk0", "system.qcow2"]);
        let raw = files(&["size=1MiB,format=qcow2", "size=1MiB"]).unwrap_err();
        assert!(raw.contains("raw (disk 1)"), "{raw}");
        let lun = files(&["from=pool/lun0"]).unwrap_err();
        assert!(lun.contains("pool/lun0"), "{lun}");
    }
}
