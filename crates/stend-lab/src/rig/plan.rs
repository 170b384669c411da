//! From a target's description to the things that it takes, in the order in which they are made.

use stend_model::target::{Manager, Medium, Storage, Target, Where};

use super::basics::Basic;
use super::control_group::{Counters, Groups, Hierarchies};
use super::layout::Pool;
use super::scheduler::Scheduler;
use super::shell::Disk;
use super::thing::Thing;
use super::transport::Luns;
use super::{Needs, Up, layout, transport};

/// What the plan needs to know of the machine.
pub(super) struct Ground<'a> {
    /// The target's own directory, without links in its path.
    pub(super) base: &'a str,
    /// The target's name.
    pub(super) name: &'a str,
    /// What tells this target's things from everybody else's.
    pub(super) token: &'a str,
    /// What its bytes lie on.
    pub(super) medium: &'a Medium,
    /// The control groups of the machine.
    pub(super) hierarchies: &'a Hierarchies,
    /// What the faults of the run take.
    pub(super) needs: &'a Needs,
}

/// The things of a target, and what it is when they are made. The loop devices of LUNs are known only then: until then each stands in
/// the list by its file.
pub(super) struct Plan {
    pub(super) things: Vec<Thing>,
    pub(super) up: Up,
    /// LUNs that are reached by the loop device on the file that stands for them.
    pub(super) behind_loops: bool,
}

/// A target while it is planned.
pub(super) struct Planning<'a> {
    pub(super) target: &'a Target,
    pub(super) ground: &'a Ground<'a>,
    /// Where its things lie.
    pub(super) base: String,
    pub(super) things: Vec<Thing>,
}

impl Planning<'_> {
    /// A directory of its own.
    pub(super) fn directory(&mut self, name: &str) -> String {
        self.directory_at(format!("{}/{name}", self.base))
    }

    fn directory_at(&mut self, path: String) -> String {
        self.things.push(Thing::Basic(Basic::Directory { path: path.clone() }));
        path
    }

    /// Where files lie.
    pub(super) fn files_in(&mut self, place: &Where) -> String {
        match place {
            Where::Work => self.directory("files"),
            Where::Directory(path) => {
                self.directory_at(format!("{}/stend-{}", path.trim_end_matches('/'), self.ground.token))
            }
            Where::Tmpfs => {
                let path = self.directory("ram");
                // The file system's own pages come on top.
                let bytes = self.target.files().map_or(0, |(bytes, _)| bytes) + self.ground.needs.bytes(self.target);
                let bytes = bytes + (bytes >> 4) + (16 << 20);
                self.things.push(Thing::Basic(Basic::Tmpfs { path: path.clone(), bytes }));
                path
            }
        }
    }

    /// Gives these disks the scheduler that the target is to have.
    pub(super) fn schedule(&mut self, disks: &[Disk]) {
        if let Some(name) = self.target.scheduler.clone() {
            let note = format!("{}/schedulers", self.ground.base);
            self.things.push(Thing::Scheduler(Scheduler { disks: disks.to_vec(), name, note }));
        }
    }

    /// Control groups of its own, as far as the machine has any, and what they count. They keep to these processors, if some are given.
    pub(super) fn group(&mut self, name: &str, processors: Option<&str>) -> (Vec<String>, Counters) {
        let Ground { name: target, token, hierarchies, .. } = self.ground;
        let name = format!("stend-{target}-{token}-{name}");
        let (mut cgroups, counters) = hierarchies.group(&name);
        let confined = processors.and_then(|processors| hierarchies.confined(&name, processors, &mut cgroups));
        if !cgroups.is_empty() {
            self.things.push(Thing::Cgroups(Groups { paths: cgroups.clone(), confined }));
        }
        (cgroups, counters)
    }
}

/// Plans a target.
pub(super) fn plan(target: &Target, ground: &Ground<'_>) -> Plan {
    let base = super::inside(ground.base, ground.token);
    let mut planning = Planning { target, ground, base: base.clone(), things: Vec::new() };
    let bytes = target.lun_size.map_or(0, |size| size.0);
    if !matches!(target.storage, Storage::Device { .. }) {
        planning.things.push(Thing::Basic(Basic::Directory { path: base }));
    }
    let (luns_in, pool) = match &target.storage {
        Storage::Device { devices } => {
            planning.schedule(&devices.iter().cloned().map(Disk::Device).collect::<Vec<_>>());
            if target.fill {
                let filling = |path: &String| Thing::Basic(Basic::Filling { path: path.clone(), bytes, direct: true });
                planning.things.extend(devices.iter().map(filling));
            }
            let up = Up { luns: devices.clone(), ..Up::default() };
            return Plan { things: planning.things, up, behind_loops: false };
        }
        Storage::File { r#where } => (planning.files_in(r#where), None),
        Storage::Pool { disks, layout, manager } => {
            let pool = layout::plan(&mut planning, disks, *layout, manager.unwrap_or(Manager::Btrfs));
            (pool.luns_in.clone(), Some(pool))
        }
    };
    // A controller exports a directory, so each has its LUNs in one of its own.
    let shares: Vec<_> = (0..target.controllers).map(|number| format!("{luns_in}/controller{number}")).collect();
    let things = &mut planning.things;
    things.extend(shares.iter().map(|path| Thing::Basic(Basic::Directory { path: path.clone() })));
    let path_of = |lun: u32| {
        let share = shares.get(target.controller_of(lun) as usize).unwrap_or(&luns_in);
        format!("{share}/lun{lun}")
    };
    let paths: Vec<_> = (0..target.luns).map(path_of).collect();
    match &pool {
        Some(pool) => things.extend(pool.luns(&paths, bytes, target.checksums, ground.token)),
        None => things.extend(
            paths.iter().map(|path| Thing::Basic(Basic::LunFile { path: path.clone(), bytes, in_btrfs: false })),
        ),
    }
    if target.fill {
        // tmpfs has nothing to go around, and older kernels refuse to there.
        let direct = pool.is_some() || *ground.medium != Medium::Memory;
        things.extend(paths.iter().map(|path| Thing::Basic(Basic::Filling { path: path.clone(), bytes, direct })));
    }
    let files_in_pool = pool.as_ref().is_some_and(Pool::has_files);
    transport::plan(planning, Luns { paths, shares, directory: luns_in, files_in_pool })
}

#[cfg(test)]
mod tests {
    use stend_model::target::{Initiator, TargetText};

    use super::*;
    use crate::rig::thing::Made as _;

    fn planned(text: &str, medium: Medium) -> Plan {
        planned_of(&TargetText::target_of_file(text, "t.toml", &TargetText::default()).unwrap(), &medium)
    }

    fn planned_of(target: &Target, medium: &Medium) -> Plan {
        let ground = Ground {
            base: "/w/targets/t",
            name: "t",
            token: "0123456789abcdef",
            medium,
            hierarchies: &Hierarchies::default(),
            needs: &Needs::default(),
        };
        plan(target, &ground)
    }

    #[test]
    fn a_pool_is_made_from_the_bottom_up() {
        let plan = planned(
            "where = \"tmpfs\"\ndisks = 4\nluns = 2\nlun_size = \"16MiB\"\ntransport = \"nbd\"",
            Medium::Memory,
        );
        let words: Vec<_> = plan.things.iter().map(Thing::in_words).collect();
        let at = |part: &str| {
            words.iter().position(|words| words.contains(part)).unwrap_or_else(|| panic!("{part} in {words:#?}"))
        };
        let order = [
            "directory /w/targets/t/01234567",
            "directory /w/targets/t/01234567/ram",
            "RAM disk /w/targets/t/01234567/ram",
            "file /w/targets/t/01234567/ram/disk3",
            "loop device on /w/targets/t/01234567/ram/disk0",
            "btrfs raid10 of 4 disks",
            "mount /w/targets/t/01234567/pool",
            "directory /w/targets/t/01234567/pool/controller1",
            "file /w/targets/t/01234567/pool/controller0/lun0",
            "contents of /w/targets/t/01234567/pool/controller1/lun1",
            "nbdkit on /w/targets/t/01234567/c1.sock",
        ];
        let places = order.map(at);
        assert!(places.is_sorted(), "{words:#?}");
        assert_eq!(plan.up.luns[1], "nbd+unix:///lun1?socket=/w/targets/t/01234567/c1.sock");
        assert_eq!(plan.up.controllers[1].luns, [1]);
    }

    #[test]
    fn each_manager_has_its_luns_where_controllers_look_for_them() {
        for (manager, pool, lun) in [
            ("md", "the md raid10 of 4 disks", "the 2 partitions of the array stend-0123456789abcdef"),
            (
                "lvm",
                "the volume group stend-0123456789abcdef of 4 disks",
                "the logical volume /w/targets/t/01234567/luns/controller1/lun1 by LVM raid10",
            ),
            (
                "zfs",
                "the ZFS pool stend-0123456789abcdef, raid10 of 4 disks",
                "the ZFS volume /w/targets/t/01234567/luns/controller1/lun1",
            ),
        ] {
            let text = format!("manager = \"{manager}\"\ndisks = 4\nluns = 2\nlun_size = \"16MiB\"\n");
            let exported = planned(&format!("{text}transport = \"nbd\""), Medium::Memory);
            let words: Vec<_> = exported.things.iter().map(Thing::in_words).collect();
            let at = |part: &str| words.iter().position(|words| words == part).unwrap_or_else(|| panic!("{words:#?}"));
            let order = [
                "the loop device on /w/targets/t/01234567/files/disk3",
                pool,
                "the directory /w/targets/t/01234567/luns/controller1",
                lun,
                "the contents of /w/targets/t/01234567/luns/controller1/lun1",
                "nbdkit on /w/targets/t/01234567/c1.sock",
            ];
            assert!(order.map(at).is_sorted(), "{words:#?}");
            // A volume needs no loop device over it.
            let local = planned(&text, Medium::Memory);
            assert_eq!((local.behind_loops, &*local.up.luns[1]), (false, "/w/targets/t/01234567/luns/lun1"));
            for thing in &exported.things {
                let json = serde_json::to_string(thing).unwrap();
                assert_eq!(&serde_json::from_str::<Thing>(&json).unwrap(), thing, "as the ledger keeps it");
            }
        }
    }

    #[test]
    fn what_the_kernel_exports_has_paths_and_no_processes() {
        for (transport, last, lun) in [
            ("nvme-tcp", "the NVMe subsystem nqn.2026-01.stend:0123456789abcdef", "devices/lun1"),
            ("nfs", "the NFS mount /w/targets/t/01234567/nfs", "nfs/lun1"),
        ] {
            let plan = planned(&format!("disks = 4\nluns = 2\ntransport = \"{transport}\""), Medium::Memory);
            assert_eq!(plan.things.last().map(Thing::in_words).as_deref(), Some(last));
            assert_eq!(plan.up.luns[1], format!("/w/targets/t/01234567/{lun}"));
            assert!(plan.up.controllers.is_empty() && plan.up.initiators.is_empty());
            let things = serde_json::to_string(&plan.things).unwrap();
            assert_eq!(serde_json::from_str::<Vec<Thing>>(&things).unwrap(), plan.things);
        }
    }

    #[test]
    fn the_kernels_initiator_gives_paths_and_qemu_gives_nbd() {
        let text = "luns = 3\nfill = false\ntransport = \"iscsi\"";
        let by_qemu = planned(text, Medium::Memory);
        assert_eq!(by_qemu.up.luns[2], "nbd+unix:///lun2?socket=/w/targets/t/01234567/c0.sock");
        assert_eq!((by_qemu.up.controllers.len(), by_qemu.up.initiators.len()), (2, 2));
        assert_eq!(by_qemu.up.initiators[0].luns, [0, 2]);
        let target = TargetText::target_of_file(text, "t.toml", &TargetText::default()).unwrap();
        let by_kernel = planned_of(&Target { initiator: Some(Initiator::Kernel), ..target }, &Medium::Memory);
        assert_eq!(by_kernel.up.luns[2], "/w/targets/t/01234567/devices/lun2");
        assert_eq!((by_kernel.up.controllers.len(), by_kernel.up.initiators.len()), (2, 0));
        let last = by_kernel.things.last().unwrap().in_words();
        assert_eq!(last, "the iSCSI session with iqn.2026-01.stend:0123456789abcdef.c1");
    }

    #[test]
    fn files_and_devices_take_little() {
        let files = planned("where = \"/srv\"\nluns = 1\nfill = false", Medium::Files("ext4".into()));
        let words: Vec<_> = files.things.iter().map(Thing::in_words).collect();
        assert_eq!(
            words,
            [
                "the directory /w/targets/t/01234567",
                "the directory /srv/stend-0123456789abcdef",
                "the file /srv/stend-0123456789abcdef/lun0"
            ]
        );
        assert_eq!((files.up.luns, files.behind_loops), (vec!["/srv/stend-0123456789abcdef/lun0".into()], false));
        let devices = planned("devices = [\"/dev/sdb\"]\nfill = false", Medium::Devices);
        assert_eq!((devices.things, devices.up.luns), (vec![], vec!["/dev/sdb".to_owned()]));
    }
}
