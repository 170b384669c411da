//! How the LUNs reach the load.

pub(super) mod iscsi;
pub(super) mod nbd;
pub(super) mod nfs;
pub(super) mod nvme;

use stend_model::target::{Initiator, Transport};

use self::iscsi::{Bridge, Login, Portal, Tgtd};
use self::nbd::Nbdkit;
use super::control_group::Counters;
use super::faults;
use super::plan::{Plan, Planning};
use super::thing::Thing;
use super::{Controller, Up, layout};

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

/// Plans the rest of a target whose LUNs are made.
pub(super) fn plan(mut planning: Planning<'_>, luns: Luns) -> Plan {
    let mut behind_loops = false;
    let up = match planning.target.transport {
        Transport::Local => {
            behind_loops = luns.files_in_pool;
            if behind_loops {
                let loops = luns.paths.iter().map(|path| Thing::Loop { file: path.clone(), direct: true });
                planning.things.extend(loops);
            }
            Up { luns: luns.paths, ..Up::default() }
        }
        Transport::Nbd => nbd(&mut planning, luns),
        Transport::Iscsi => iscsi(&mut planning, &luns),
        Transport::NvmeTcp => nvme_tcp(&mut planning, luns),
        Transport::Nfs => nfs(&mut planning, luns),
    };
    Plan { things: planning.things, up, behind_loops }
}

fn nbd(planning: &mut Planning<'_>, luns: Luns) -> Up {
    let mut controllers = Vec::new();
    for (number, directory) in (0..).zip(luns.shares) {
        let (cgroups, counters) = controller_group(planning, number);
        let (socket, pid_file) = (super::socket(&planning.base, number), pid_file(planning, 'c', number));
        let front = planning.ground.needs.fronts.then(|| faults::front(&socket));
        planning.things.push(Thing::Server(Nbdkit {
            socket,
            pid_file: pid_file.clone(),
            directory,
            cgroups,
            threads: planning.target.threads,
            filters: planning.target.filters.clone(),
        }));
        planning.things.extend(front);
        controllers.push(process(planning, number, pid_file, counters));
    }
    Up { luns: uris(planning), controllers, initiators: Vec::new() }
}

/// The control groups of a controller.
fn controller_group(planning: &mut Planning<'_>, number: u32) -> (Vec<String>, Counters) {
    let processors = planning.target.processors_of(number);
    planning.group(&format!("controller{number}"), processors)
}

fn iscsi(planning: &mut Planning<'_>, luns: &Luns) -> Up {
    let target = planning.target;
    let portal = |planning: &Planning<'_>, number: u32| Portal {
        control: super::control_socket(&planning.base, number),
        port_file: format!("{}/c{number}.port", planning.base),
        name: format!("iqn.2026-01.stend:{}.c{number}", planning.ground.token),
    };
    let (mut controllers, mut initiators) = (Vec::new(), Vec::new());
    for number in 0..target.controllers {
        let (cgroups, counters) = controller_group(planning, number);
        let pid_file = pid_file(planning, 'c', number);
        let controller = process(planning, number, pid_file.clone(), counters);
        planning.things.push(Thing::Tgtd(Tgtd {
            place: portal(planning, number),
            from: port(planning, number),
            pid_file,
            luns: controller.luns.iter().map(|&lun| luns.paths[lun as usize].clone()).collect(),
            cgroups,
        }));
        controllers.push(controller);
    }
    if target.initiator == Some(Initiator::Kernel) {
        let directory = planning.directory("devices");
        let link = |lun: u32| format!("{directory}/lun{lun}");
        for (number, controller) in (0..).zip(&controllers) {
            let links = controller.luns.iter().map(|&lun| link(lun)).collect();
            planning.things.push(Thing::IscsiSession(Login { place: portal(planning, number), links }));
        }
        return Up { luns: (0..target.luns).map(link).collect(), controllers, initiators };
    }
    for (number, controller) in (0..).zip(&controllers) {
        // The load's side, so not counted with the controllers.
        let (cgroups, counters) = planning.group(&format!("initiator{number}"), None);
        let (socket, pid_file) = (super::socket(&planning.base, number), pid_file(planning, 'i', number));
        planning.things.push(Thing::IscsiBridge(Bridge {
            place: portal(planning, number),
            socket,
            pid_file: pid_file.clone(),
            exports: controller.luns.iter().map(|lun| format!("lun{lun}")).collect(),
            cgroups,
        }));
        initiators.push(process(planning, number, pid_file, counters));
    }
    Up { luns: uris(planning), controllers, initiators }
}

fn nvme_tcp(planning: &mut Planning<'_>, luns: Luns) -> Up {
    let directory = planning.directory("devices");
    let links: Vec<_> = (0..planning.target.luns).map(|lun| format!("{directory}/lun{lun}")).collect();
    let subsystem = nvme::Subsystem {
        name: format!("nqn.2026-01.stend:{}", planning.ground.token),
        from: port(planning, 0),
        port_file: format!("{}/nvme.port", planning.base),
        luns: luns.paths,
        links: links.clone(),
    };
    planning.things.push(Thing::NvmeSubsystem(subsystem));
    Up { luns: links, ..Up::default() }
}

fn nfs(planning: &mut Planning<'_>, luns: Luns) -> Up {
    let directory = luns.directory;
    let uuid = layout::uuid(planning.ground.token);
    planning.things.push(Thing::NfsExport(nfs::Export { directory: directory.clone(), uuid }));
    let path = planning.directory("nfs");
    planning.things.push(Thing::NfsImport(nfs::Import { directory, path: path.clone() }));
    Up { luns: (0..planning.target.luns).map(|lun| format!("{path}/lun{lun}")).collect(), ..Up::default() }
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
