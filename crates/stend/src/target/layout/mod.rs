//! What a pool's disks become, by what makes it: a place for each LUN.

pub(super) mod btrfs;
pub(super) mod lvm;
pub(super) mod md;
pub(super) mod zfs;

use stend_model::target::{Disks, Layout, Manager, Medium};

use self::btrfs::{FileSystem, Mounted};
use super::plan::Planning;
use super::shell::Disk;
use super::thing::Thing;

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
    let name = name(planning.ground.token);
    if manager == Manager::Btrfs {
        let uuid = uuid(planning.ground.token);
        planning.things.push(Thing::Btrfs(FileSystem { disks: disks.clone(), layout, uuid }));
        let luns_in = planning.directory("pool");
        planning.things.push(Thing::Mount(Mounted { disks: disks.clone(), path: luns_in.clone() }));
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
    pub(super) fn luns(&self, paths: &[String], bytes: u64, token: &str) -> Vec<Thing> {
        let one = |link: &String| match self.manager {
            Manager::Lvm => Thing::LogicalVolume(lvm::Volume {
                disks: self.disks.clone(),
                group: name(token),
                layout: self.layout,
                bytes,
                link: link.clone(),
            }),
            Manager::Zfs => Thing::ZfsVolume(zfs::Volume { pool: name(token), bytes, link: link.clone() }),
            Manager::Btrfs | Manager::Md => Thing::LunFile { path: link.clone(), bytes, in_btrfs: true },
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
            let things = &mut planning.things;
            things.extend(paths.iter().map(|path| Thing::SparseFile { path: path.clone(), bytes: size.0 }));
            let direct = *planning.ground.medium != Medium::Memory;
            things.extend(paths.iter().map(|file| Thing::Loop { file: file.clone(), direct }));
            paths.into_iter().map(Disk::File).collect()
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

    #[test]
    fn a_uuid_is_one() {
        assert_eq!(uuid("0123456789abcdef"), "01234567-89ab-8cde-8000-00000000000f");
    }
}
