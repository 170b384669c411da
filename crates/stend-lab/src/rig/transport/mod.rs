//! How the LUNs reach the load. A transport is a file here, which says what it takes and how it is planned.

pub(super) mod iscsi;
pub(super) mod nbd;
pub(super) mod nfs;
pub(super) mod nvme;

use stend_model::target::Transport;

use super::ability::{Missing, Need};
use super::basics::Basic;
use super::control_group::Counters;
use super::plan::{Plan, Planning};
use super::thing::{Thing, things};
use super::{Controller, Up};
use stend_stand::host::Host;

things! {
    /// What brings LUNs to the load.
    pub(super) enum Carrier {
        Server(nbd::Nbdkit),
        Tgtd(iscsi::Tgtd),
        IscsiBridge(iscsi::Bridge),
        IscsiSession(iscsi::Login),
        NvmeSubsystem(nvme::Subsystem),
        NfsExport(nfs::Export),
        NfsImport(nfs::Import),
    }
    others {}
}

/// LUNs that are made: files or block devices, those of each controller in a directory of its own.
pub(super) struct Luns {
    /// Their paths.
    pub(super) paths: Vec<String>,
    /// The directories of the controllers.
    pub(super) shares: Vec<String>,
    /// The directory of all.
    pub(super) directory: String,
    /// Whether they are files in a pool, which are to be behind loop devices for who loads them here.
    pub(super) files_in_pool: bool,
}

/// A transport.
pub(super) struct Known {
    pub(super) need: Need,
    /// What it takes root for, if it does.
    pub(super) root_for: Option<&'static str>,
    /// What it lacks besides programs and parts of the kernel.
    pub(super) lack: fn(&dyn Host) -> Option<Missing>,
    /// How it is done on a machine that lacks nothing.
    pub(super) how: fn(&dyn Host) -> &'static str,
    /// Plans the rest of a target whose LUNs are made.
    plan: fn(&mut Planning<'_>, Luns) -> Up,
}

/// What any transport is that says nothing else.
const PLAIN: Known = Known {
    need: Need { programs: &[], kernel: &[] },
    root_for: None,
    lack: |_| None,
    how: |_| "can be had here",
    plan: |_, luns| Up { luns: luns.paths, ..Up::default() },
};

pub(super) const fn known(transport: Transport) -> Known {
    match transport {
        Transport::Local => PLAIN,
        Transport::Nbd => nbd::KNOWN,
        Transport::Iscsi => iscsi::KNOWN,
        Transport::NvmeTcp => nvme::KNOWN,
        Transport::Nfs => nfs::KNOWN,
    }
}

/// Plans the rest of a target whose LUNs are made.
pub(super) fn plan(mut planning: Planning<'_>, luns: Luns) -> Plan {
    let transport = planning.target.transport;
    let behind_loops = transport == Transport::Local && luns.files_in_pool;
    if behind_loops {
        let loops = luns.paths.iter().map(|path| Thing::Basic(Basic::Loop { file: path.clone(), direct: true }));
        planning.things.extend(loops);
    }
    let up = (known(transport).plan)(&mut planning, luns);
    Plan { things: planning.things, up, behind_loops }
}

/// The control groups of a controller.
fn controller_group(planning: &mut Planning<'_>, number: u32) -> (Vec<String>, Counters) {
    let processors = planning.target.processors_of(number);
    planning.group(&format!("controller{number}"), processors)
}

fn pid_file(planning: &Planning<'_>, kind: char, number: u32) -> String {
    format!("{}/{kind}{number}.pid", planning.base)
}

/// The process that has the LUNs of the controller of this number.
fn process(planning: &Planning<'_>, number: u32, pid_file: String, counters: Counters) -> Controller {
    let target = planning.target;
    let luns = (0..target.luns).filter(|&lun| target.controller_of(lun) == number).collect();
    Controller { luns, pid_file, counters }
}

/// Where the LUNs are behind sockets that speak NBD.
fn uris(planning: &Planning<'_>) -> Vec<String> {
    let target = planning.target;
    let socket = |lun: u32| super::socket(&planning.base, target.controller_of(lun));
    (0..target.luns).map(|lun| format!("nbd+unix:///lun{lun}?socket={}", socket(lun))).collect()
}

/// A TCP port below those that the kernel gives to whoever asks for any, to begin with; targets at the same time begin at others.
fn port(planning: &Planning<'_>, number: u32) -> u16 {
    let of_token = u16::from_str_radix(&planning.ground.token[..4], 16).unwrap_or(0) % 10_000;
    20_000 + of_token + u16::try_from(number).unwrap_or(0)
}
