//! What a pool's disks become, by what makes it: a place for each LUN.

pub(super) mod btrfs;
pub(super) mod lvm;
pub(super) mod md;
pub(super) mod zfs;

use stend_model::target::{Disks, Layout, Manager, Medium};

use self::btrfs::{FileSystem, Mounted};
use super::basics::Basic;
use super::plan::Planning;
use super::shell::Disk;
use super::thing::Thing;
use super::{faults, served};

/// A pool that is planned up to the place of its LUNs.
pub(super) struct Pool {
    disks: Vec<Disk>,
    layout: Layout,
    manager: Manager,
    /// The directory of the LUNs, or of links to their devices.
    pub(super) luns_in: String,
}

/// Plans a pool.
pub(super) fn plan(planning: &mut Planning<'_>, disks: &Disks, layout: Layout, manager: Manager) -> Pool {
    let disks = disks_of(planning, disks);
    let files = planning.things.iter().filter_map(|thing| match thing {
        Thing::Basic(Basic::Loop { file, .. }) => Some(file),
        Thing::Spare(spare) => Some(&spare.file),
        _ => None,
    });
    let files: Vec<_> = files.cloned().map(Disk::File).collect();
    planning.schedule(if files.is_empty() { &disks } else { &files });
    let name = name(planning.ground.token);
    if manager == Manager::Btrfs {
        let uuid = uuid(planning.ground.token);
        planning.things.push(Thing::Btrfs(FileSystem { disks: disks.clone(), layout, uuid }));
        let luns_in = planning.directory("pool");
        planning.things.push(Thing::Mount(Mounted {
            disks: disks.clone(),
            path: luns_in.clone(),
            options: planning.target.mount_options.clone(),
        }));
        return Pool { disks, layout, manager, luns_in };
    }
    let group = disks.clone();
    planning.things.push(match manager {
        Manager::Md => Thing::MdArray(md::Array { disks: group, layout, name }),
        Manager::Lvm => Thing::VolumeGroup(lvm::Group { disks: group, name }),
        Manager::Btrfs | Manager::Zfs => Thing::ZfsPool(zfs::Pool { disks: group, layout, name }),
    });
    let luns_in = planning.directory("luns");
    Pool { disks, layout, manager, luns_in }
}

impl Pool {
    /// Whether its LUNs are files.
    pub(super) fn has_files(&self) -> bool {
        self.manager.has_files()
    }

    /// The LUNs at these paths.
    pub(super) fn luns(&self, paths: &[String], bytes: u64, checksums: bool, token: &str) -> Vec<Thing> {
        let one = |link: &String| match self.manager {
            Manager::Lvm => Thing::LogicalVolume(lvm::Volume {
                disks: self.disks.clone(),
                group: name(token),
                layout: self.layout,
                bytes,
                link: link.clone(),
            }),
            Manager::Zfs => Thing::ZfsVolume(zfs::Volume { pool: name(token), bytes, link: link.clone() }),
            Manager::Btrfs | Manager::Md => {
                Thing::Basic(Basic::LunFile { path: link.clone(), bytes, in_btrfs: !checksums })
            }
        };
        match self.manager {
            Manager::Md => vec![Thing::MdPartitions(md::Partitions { array: name(token), bytes, links: paths.into() })],
            _ => paths.iter().map(one).collect(),
        }
    }
}

/// The name of an array, a volume group or a ZFS pool: no other target's has it.
fn name(token: &str) -> String {
    format!("stend-{token}")
}

/// The disks, those that are files behind loop devices.
fn disks_of(planning: &mut Planning<'_>, disks: &Disks) -> Vec<Disk> {
    match disks {
        Disks::Devices(devices) => devices.iter().cloned().map(Disk::Device).collect(),
        Disks::Files { count, size, r#where } => {
            let directory = planning.files_in(r#where);
            let paths: Vec<_> = (0..*count).map(|disk| format!("{directory}/disk{disk}")).collect();
            planning
                .things
                .extend(paths.iter().map(|path| Thing::Basic(Basic::SparseFile { path: path.clone(), bytes: size.0 })));
            let direct = *planning.ground.medium != Medium::Memory;
            let paths: Vec<_> = (0..).zip(paths).map(|(number, path)| served::plan(planning, number, path)).collect();
            let things = &mut planning.things;
            // A process's file is read past the page cache, or it would be as fast as memory.
            let of_process = |file: &str| !file.starts_with(&directory);
            let of_file =
                |file: &String| Thing::Basic(Basic::Loop { file: file.clone(), direct: direct || of_process(file) });
            things.extend(paths.iter().map(of_file));
            let disks: Vec<_> = paths.into_iter().map(Disk::File).collect();
            things.extend(faults::spares(planning.ground.needs, &disks, size.0, direct));
            disks
        }
    }
}

/// A random UUID for the pool, from the token's 16 hexadecimal digits, so that this pool is known from any other.
pub(super) fn uuid(token: &str) -> String {
    // Version 8 is for numbers of one's own making (RFC 9562).
    format!("{}-{}-8{}-8000-{:0>12}", &token[..8], &token[8..12], &token[12..15], &token[15..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rig::thing::Made as _;
    use stend_stand::host::{Host as _, Local};

    /// What the real scripts tell the tools, which here only write down how they were called, and fail.
    fn calls(thing: &Thing, making: bool) -> String {
        use std::os::unix::fs::PermissionsExt as _;
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        for tool in ["mdadm", "vgcreate", "vgs", "lvcreate", "lvs", "zpool", "zfs", "blkid", "modprobe"] {
            let log = path("log").display().to_string();
            std::fs::write(path(tool), format!("#!/bin/sh\necho \"${{0##*/}} $*\" >>{log}\nexit 1\n")).unwrap();
            std::fs::set_permissions(path(tool), std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        std::fs::write(path("ledger"), "").unwrap();
        let ledger = path("ledger").display().to_string();
        let mut command = if making { thing.making(&ledger) } else { thing.taking_away(&ledger).unwrap() };
        let tools = format!("{}:{}", directory.path().display(), std::env::var("PATH").unwrap());
        command.environment.insert("PATH".into(), tools);
        let output = Local.run(&command).unwrap();
        assert_eq!(output.exit == Some(0), !making, "{}", String::from_utf8_lossy(&output.stderr));
        std::fs::read_to_string(path("log")).unwrap_or_default()
    }

    fn disks(count: usize) -> Vec<Disk> {
        (0..count).map(|disk| Disk::Device(format!("/dev/none{disk}"))).collect()
    }

    #[test]
    fn mdadm_is_told_the_level_the_copies_and_all_disks() {
        let array = |layout, count| {
            calls(&Thing::MdArray(md::Array { disks: disks(count), layout, name: "stend-t".into() }), true)
        };
        let always = "mdadm --create /dev/md/stend-t --quiet --run --metadata=1.2 --homehost=any --name=stend-t";
        let mirrored = "--assume-clean --bitmap=none";
        assert_eq!(
            array(Layout::Raid10, 4),
            format!(
                "{always} --level=10 --layout=n2 {mirrored} --raid-devices=4 /dev/none0 /dev/none1 /dev/none2 /dev/none3\n"
            )
        );
        assert_eq!(
            array(Layout::Mirror, 2),
            format!("{always} --level=1 {mirrored} --raid-devices=2 /dev/none0 /dev/none1\n")
        );
        assert_eq!(array(Layout::Stripe, 2), format!("{always} --level=0 --raid-devices=2 /dev/none0 /dev/none1\n"));
    }

    #[test]
    fn lvm_sees_the_disks_alone_and_makes_pairs_of_them() {
        let only = "--config devices { use_devicesfile=0 filter=[\"a|^/dev/none0$|\",\"a|^/dev/none1$|\",\"a|^/dev/none2$|\",\
                    \"a|^/dev/none3$|\",\"r|.*|\"] }";
        let group = Thing::VolumeGroup(lvm::Group { disks: disks(4), name: "stend-t".into() });
        let all = "/dev/none0 /dev/none1 /dev/none2 /dev/none3";
        assert_eq!(
            calls(&group, true),
            format!("vgcreate {only} --quiet --yes --physicalextentsize 1m stend-t {all}\n")
        );
        let volume = |layout| {
            Thing::LogicalVolume(lvm::Volume {
                disks: disks(4),
                group: "stend-t".into(),
                layout,
                bytes: 8 << 20,
                link: "/w/lun0".into(),
            })
        };
        for (layout, how) in [
            (Layout::Stripe, "--type striped --stripes 4"),
            (Layout::Mirror, "--type raid1 --mirrors 1 --nosync"),
            (Layout::Raid10, "--type raid10 --mirrors 1 --stripes 2 --nosync"),
        ] {
            let said = calls(&volume(layout), true);
            let wanted =
                format!("lvcreate {only} --quiet --yes --wipesignatures n --name lun0 --size 8388608b {how} stend-t\n");
            assert_eq!(said, wanted);
        }
        // What is not there is not removed.
        assert_eq!(calls(&volume(Layout::Raid10), false), format!("lvs {only} stend-t/lun0\n"));
        assert!(calls(&group, false).starts_with(&format!("vgs {only} stend-t\nblkid ")));
    }

    #[test]
    fn zfs_makes_mirrors_of_two() {
        let pool = |layout, count| Thing::ZfsPool(zfs::Pool { disks: disks(count), layout, name: "stend-t".into() });
        let always = "modprobe -q zfs\nzpool create -f -o cachefile=none -o ashift=12 -O mountpoint=none -O compression=off stend-t";
        for (layout, count, words) in [
            (Layout::Stripe, 2, "/dev/none0 /dev/none1"),
            (Layout::Mirror, 2, "mirror /dev/none0 /dev/none1"),
            (Layout::Raid10, 4, "mirror /dev/none0 /dev/none1 mirror /dev/none2 /dev/none3"),
        ] {
            assert_eq!(calls(&pool(layout, count), true), format!("{always} {words}\n"));
        }
        let volume = zfs::Volume { pool: "stend-t".into(), bytes: 8 << 20, link: "/w/lun0".into() };
        assert_eq!(calls(&Thing::ZfsVolume(volume), true), "zfs create -V 8388608 stend-t/lun0\n");
        assert_eq!(calls(&pool(Layout::Stripe, 2), false), "zpool list -H -o name stend-t\n");
    }

    #[test]
    fn a_uuid_is_one() {
        assert_eq!(uuid("0123456789abcdef"), "01234567-89ab-8cde-8000-00000000000f");
    }
}
