//! Which volume managers and transports a machine has, and what would bring those that it lacks.

use std::collections::BTreeMap;

use stend_model::machine::Tool;
use stend_model::target::{Disks, Layout, Manager, Storage, Target, Transport, ranges};

use super::control_group::Hierarchies;
use super::refusal::{ManagerLack, Obstacle, Refusal};
use super::transport::{iscsi, known};
use super::vm;
use crate::run::prepare::install_command;
use stend_stand::host::{Command, Host};
use stend_stand::machine::{ToolQuery, tools};

/// What something takes.
pub(super) struct Need {
    /// Programs, each with the Debian package that has it.
    pub(super) programs: &'static [(&'static str, &'static str)],
    /// Parts of the kernel by their modules' names, each with what brings it where it is no part of the distribution's kernel.
    pub(super) kernel: &'static [(&'static str, &'static str)],
}

/// Something that is missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Missing {
    /// The machine could not be asked.
    Unasked {
        /// What it said.
        said: String,
    },
    /// Programs and parts of the kernel, each with what brings it; nothing brings a part that is a module of its own.
    Parts {
        /// The programs, with their packages.
        programs: Vec<(&'static str, &'static str)>,
        /// The parts of the kernel.
        kernel: Vec<(&'static str, &'static str)>,
    },
    /// The kernel's NFS server does not run.
    NfsServer,
    /// qemu-storage-daemon cannot speak iSCSI.
    IscsiDriver,
}

impl Missing {
    /// What it is, as the rest of a sentence about what needs it.
    pub fn what(&self) -> String {
        match self {
            Self::Unasked { said } => said.clone(),
            Self::Parts { programs, kernel } => {
                let are = if programs.len() == 1 { "is" } else { "are" };
                let of_programs = || format!("needs {}, which {are} not here", names(programs));
                let of_kernel = || format!("needs {}, which the kernel here has not", names(kernel));
                let parts = [(!programs.is_empty()).then(of_programs), (!kernel.is_empty()).then(of_kernel)];
                parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
            }
            Self::NfsServer => "needs the NFS server, which does not run".into(),
            Self::IscsiDriver => "needs qemu-storage-daemon's driver for iSCSI, which is not here".into(),
        }
    }

    /// What would bring it.
    pub fn remedy(&self) -> String {
        match self {
            Self::Unasked { .. } => "mend that first".into(),
            Self::Parts { programs, kernel } => {
                let mut packages = Vec::new();
                for (_, package) in programs.iter().chain(kernel).filter(|(_, package)| !package.is_empty()) {
                    if !packages.contains(package) {
                        packages.push(*package);
                    }
                }
                let modules: Vec<_> = kernel.iter().filter(|(_, package)| package.is_empty()).copied().collect();
                let install = (!packages.is_empty()).then(|| install_command(&packages.join(" ")));
                let build = (!modules.is_empty()).then(|| format!("a kernel with the modules {}", names(&modules)));
                [install, build].into_iter().flatten().collect::<Vec<_>>().join(", and ")
            }
            Self::NfsServer => "systemctl start nfs-server".into(),
            Self::IscsiDriver => install_command("qemu-block-extra"),
        }
    }
}

fn names(all: &[(&'static str, &str)]) -> String {
    all.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(" and ")
}

impl std::fmt::Display for Missing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}; to have it: {}", self.what(), self.remedy())
    }
}

/// A volume manager or a transport.
pub struct Ability {
    /// What it is, in words.
    pub what: String,
    /// How it is done here, or why it is not.
    pub state: Result<String, Missing>,
}

const MKFS: &[(&str, &str)] = &[("mkfs.btrfs", "btrfs-progs"), ("chattr", "e2fsprogs")];
const MDADM: &[(&str, &str)] = &[("mdadm", "mdadm"), ("sfdisk", "fdisk")];
const LVM: &[(&str, &str)] = &[("vgcreate", "lvm2"), ("lvcreate", "lvm2")];
const ZFS: &[(&str, &str)] = &[("zpool", "zfsutils-linux"), ("zfs", "zfsutils-linux")];

fn of_manager(manager: Manager, layout: Layout) -> Need {
    let kernel: &[_] = match (manager, layout) {
        (Manager::Btrfs, _) => &[("btrfs", "")],
        (Manager::Md, Layout::Stripe) => &[("raid0", "")],
        (Manager::Md, Layout::Mirror) => &[("raid1", "")],
        (Manager::Md, Layout::Raid10) => &[("raid10", "")],
        (Manager::Lvm, Layout::Stripe) => &[("dm_mod", "")],
        (Manager::Lvm, Layout::Mirror) => &[("dm_mod", ""), ("dm_raid", ""), ("raid1", "")],
        (Manager::Lvm, Layout::Raid10) => &[("dm_mod", ""), ("dm_raid", ""), ("raid10", "")],
        (Manager::Zfs, _) => &[("zfs", "zfs-dkms")],
    };
    let programs = match manager {
        Manager::Btrfs => MKFS,
        Manager::Md => MDADM,
        Manager::Lvm => LVM,
        Manager::Zfs => ZFS,
    };
    Need { programs, kernel }
}

/// The programs and parts of the kernel that are missing, as lines `program NAME` and `kernel NAME`. What is built into a kernel without
/// modules shows in one of these places.
const MISSING: &str = r#"
PATH=$PATH:/usr/sbin:/sbin
while [ "$1" != -- ]; do
    command -v "$1" >/dev/null || echo "program $1"
    shift
done
shift
for part; do
    grep -qsw "$part" /proc/filesystems && continue
    grep -qs "\[$part\]" /proc/mdstat && continue
    [ "$part" = dm_mod ] && grep -qsw device-mapper /proc/misc && continue
    [ -e "/sys/module/$part" ] || modprobe -n -q "$part" 2>/dev/null || echo "kernel $part"
done
"#;

/// What is missing of it.
pub(super) fn lack(host: &dyn Host, need: &Need) -> Option<Missing> {
    let programs = need.programs.iter().map(|(program, _)| *program);
    let words = ["sh", "-c", MISSING, "sh"].into_iter().chain(programs).chain(["--"]);
    let words = words.chain(need.kernel.iter().map(|(part, _)| *part));
    let said = match host.run(&Command::new(words)) {
        Ok(output) => output.text(),
        Err(error) => return Some(Missing::Unasked { said: error.to_string() }),
    };
    let missing = |kind: &str, all: &[(&'static str, &'static str)]| {
        let is_missing = |name: &str| said.lines().any(|line| line.strip_prefix(kind) == Some(name));
        all.iter().copied().filter(|(name, _)| is_missing(name)).collect::<Vec<_>>()
    };
    let (programs, kernel) = (missing("program ", need.programs), missing("kernel ", need.kernel));
    (!programs.is_empty() || !kernel.is_empty()).then_some(Missing::Parts { programs, kernel })
}

/// Whether pools of this layout can be made by this manager.
fn lack_of_manager(host: &dyn Host, manager: Manager, layout: Layout) -> Option<Missing> {
    lack(host, &of_manager(manager, layout))
}

/// Whether this transport can be had.
fn lack_of_transport(host: &dyn Host, transport: Transport) -> Option<Missing> {
    let known = known(transport);
    lack(host, &known.need).or_else(|| (known.lack)(host))
}

/// Everything that this machine may have.
pub fn all(host: &dyn Host) -> Vec<Ability> {
    let managers = Manager::ALL.map(|manager| Ability {
        what: format!("pools by {manager}"),
        state: lack_of_manager(host, manager, Layout::Raid10).map_or_else(|| Ok("can be made here".into()), Err),
    });
    let transports = Transport::ALL.map(|transport| {
        let how = || (known(transport).how)(host).to_owned();
        let state = lack_of_transport(host, transport).map_or_else(|| Ok(how()), Err);
        Ability { what: format!("transport {transport}"), state }
    });
    managers.into_iter().chain(transports).chain([vm::ability(host)]).collect()
}

/// What makes those programs say their version whose version says something of a target.
const VERSIONS: [(&str, &str); 11] = [
    ("nbdkit", "--version"),
    ("mkfs.btrfs", "--version"),
    ("mdadm", "--version"),
    ("vgcreate", "--version"),
    ("zpool", "version"),
    ("tgtd", "--version"),
    ("qemu-storage-daemon", "--version"),
    ("iscsiadm", "--version"),
    ("nvme", "version"),
    ("mount.nfs", "-V"),
    ("losetup", "--version"),
];
/// Where each program is.
const PLACES: &str =
    r#"PATH=$PATH:/usr/sbin:/sbin; for program; do at=$(command -v "$program") && echo "$program=$at"; done; exit 0"#;

/// The programs that a settled target is made and served by, as they are here.
pub(super) fn programs(host: &dyn Host, target: &Target) -> Result<BTreeMap<String, Tool>, Refusal> {
    let mut needs = vec![known(target.transport).need];
    if let Storage::Pool { layout, manager, .. } = &target.storage {
        needs.extend(manager.map(|manager| of_manager(manager, *layout)));
        needs.push(Need { programs: &[("losetup", "mount")], kernel: &[] });
    }
    needs.extend(target.initiator.map(iscsi::need_of));
    let wanted = needs.iter().flat_map(|need| need.programs).map(|(program, _)| *program);
    let words = ["sh", "-c", PLACES, "sh"].into_iter().chain(wanted);
    let said = host.run(&Command::new(words))?.text();
    let mut places: Vec<(&str, &str)> = said.lines().filter_map(|line| line.split_once('=')).collect();
    places.retain(|(program, _)| VERSIONS.iter().any(|(known, _)| known == program));
    let query = |(program, path): &(&str, &str)| ToolQuery {
        program: (*path).to_owned(),
        version_arguments: VERSIONS
            .iter()
            .filter(|(known, _)| known == program)
            .map(|(_, word)| (*word).to_owned())
            .collect(),
    };
    let (mut found, _) = tools(host, &places.iter().map(query).collect::<Vec<_>>())?;
    let named = |(program, path): (&str, &str)| Some((program.to_owned(), found.remove(path)?));
    Ok(places.into_iter().filter_map(named).collect())
}

/// The schedulers that the queues of devices, or those of loop devices, take: a line for each that does not take the wanted one. One that
/// is not loaded yet may be loaded when it is asked for.
const SCHEDULERS: &str = r#"
PATH=$PATH:/usr/sbin:/sbin
wanted=$1
shift
[ $# -gt 0 ] || set -- /sys/block/loop[0-9]*
for device; do
    name=$(readlink -f "$device")
    queue=/sys/class/block/${name##*/}/queue
    [ -e "$queue" ] || queue=/sys/class/block/${name##*/}/../queue
    { read -r there <"$queue/scheduler"; } 2>/dev/null || continue
    case " $there " in *" $wanted "* | *"[$wanted]"*) continue ;; esac
    modprobe -n -q "$wanted-iosched" 2>/dev/null || echo "${device##*/} takes $there"
done
"#;

/// Refuses a scheduler that the kernel has not for these disks, and processors that controllers cannot be kept to.
pub(super) fn check_options(host: &dyn Host, target: &Target) -> Result<(), Refusal> {
    if let Some(wanted) = &target.scheduler {
        let words = ["sh", "-c", SCHEDULERS, "sh", wanted].into_iter();
        let said = host.run(&Command::new(words.chain(target.devices().iter().map(String::as_str))))?.text();
        if let Some(line) = said.lines().next() {
            return Err(Obstacle::NoScheduler { wanted: wanted.clone(), said: line.into() }.into());
        }
    }
    let Some(lists) = &target.processors else { return Ok(()) };
    let Some(there) = Hierarchies::of(host).processors(host) else {
        return Err(Obstacle::NoCpuset.into());
    };
    let known = ranges(&there).unwrap_or_default();
    let mut numbers = lists.split_whitespace().filter_map(ranges).flatten().flatten();
    match numbers.find(|number| !known.iter().any(|range| range.contains(number))) {
        Some(number) => Err(Obstacle::NoProcessor { number, there }.into()),
        None => Ok(()),
    }
}

/// Settles what the description left to the machine, and refuses what the machine has not.
pub(super) fn settle(host: &dyn Host, mut target: Target) -> Result<Target, Refusal> {
    let transport = target.transport;
    // The others are not mounted.
    let needs_files = transport == Transport::Nfs || !target.mount_options.is_empty();
    if let Storage::Pool { disks, layout, manager } = &mut target.storage {
        let layout = *layout;
        let count = match disks {
            Disks::Files { count, .. } => *count as usize,
            Disks::Devices(devices) => devices.len(),
        };
        let fits = |manager: &Manager| !needs_files || manager.has_files();
        match *manager {
            Some(wanted) => {
                if let Some(missing) = lack_of_manager(host, wanted, layout) {
                    return Err(Obstacle::NoManager { manager: wanted, missing }.into());
                }
            }
            None => {
                let mut lacks = Vec::new();
                for candidate in Manager::ALL.into_iter().filter(fits) {
                    let lack = match candidate.takes(layout, count) {
                        Ok(()) => lack_of_manager(host, candidate, layout).map(ManagerLack::Missing),
                        Err(mistake) => Some(ManagerLack::NeverMakes(mistake)),
                    };
                    match lack {
                        None => {
                            *manager = Some(candidate);
                            break;
                        }
                        Some(lack) => lacks.push((candidate, lack)),
                    }
                }
                if manager.is_none() {
                    return Err(Obstacle::NoManagers { lacks }.into());
                }
            }
        }
    }
    if let Some(missing) = lack_of_transport(host, transport) {
        return Err(Obstacle::NoTransport { transport, missing }.into());
    }
    if transport == Transport::Iscsi {
        target.initiator = iscsi::initiator(host).ok();
    }
    Ok(target)
}
