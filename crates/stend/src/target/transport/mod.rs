//! How the LUNs reach the load.

pub(super) mod nbd;

use stend_model::target::Transport;

use self::nbd::Nbdkit;
use super::plan::{Plan, Planning};
use super::thing::Thing;
use super::{Controller, Up};

/// LUNs that are made: files or block devices, those of each controller in a directory of its own.
pub(super) struct Luns {
    /// Their paths.
    pub(super) paths: Vec<String>,
    /// The directories of the controllers.
    pub(super) shares: Vec<String>,
    /// Whether they are files in a pool, which are to be behind loop devices for who loads them here.
    pub(super) in_pool: bool,
}

/// Plans the rest of a target whose LUNs are made.
pub(super) fn plan(mut planning: Planning<'_>, luns: Luns) -> Plan {
    match planning.target.transport {
        Transport::Local => {
            let behind_loops = luns.in_pool;
            if behind_loops {
                let loops = luns.paths.iter().map(|path| Thing::Loop { file: path.clone(), direct: true });
                planning.things.extend(loops);
            }
            let up = Up { luns: luns.paths, controllers: Vec::new() };
            Plan { things: planning.things, up, behind_loops }
        }
        Transport::Nbd => {
            let target = planning.target;
            let mut controllers = Vec::new();
            for (number, directory) in (0..).zip(luns.shares) {
                let (cgroups, counters) = planning.group(&format!("controller{number}"));
                let socket = super::socket(&planning.base, number);
                let pid_file = format!("{}/c{number}.pid", planning.base);
                planning.things.push(Thing::Server(Nbdkit { socket, pid_file: pid_file.clone(), directory, cgroups }));
                let luns = (0..target.luns).filter(|&lun| target.controller_of(lun) == number).collect();
                controllers.push(Controller { luns, pid_file, counters });
            }
            let uri = |lun: u32| {
                format!("nbd+unix:///lun{lun}?socket={}", super::socket(&planning.base, target.controller_of(lun)))
            };
            let up = Up { luns: (0..target.luns).map(uri).collect(), controllers };
            Plan { things: planning.things, up, behind_loops: false }
        }
    }
}
