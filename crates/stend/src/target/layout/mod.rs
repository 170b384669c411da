//! What a pool's disks become, by what makes it: a place for each LUN.

pub(super) mod btrfs;

use stend_model::target::{Disks, Layout, Medium};

use self::btrfs::{FileSystem, Mounted};
use super::plan::Planning;
use super::shell::Disk;
use super::thing::Thing;

/// Plans a pool. Gives the directory of its LUNs.
pub(super) fn plan(planning: &mut Planning<'_>, disks: &Disks, layout: Layout) -> String {
    let disks = disks_of(planning, disks);
    planning.things.push(Thing::Btrfs(FileSystem { disks: disks.clone(), layout, uuid: uuid(planning.ground.token) }));
    let path = planning.directory("pool");
    planning.things.push(Thing::Mount(Mounted { disks, path: path.clone() }));
    path
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
fn uuid(token: &str) -> String {
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
