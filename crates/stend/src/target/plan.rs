//! From a target's description to the things that it takes, in the order in which they are made.

use stend_model::target::{Disks, Medium, Storage, Target, Transport, Where};

use super::control_group::Hierarchies;
use super::thing::{Disk, Thing};
use super::{Controller, Up};

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
}

/// The things of a target, and what it is when they are made. The loop devices of LUNs are known only then: until then each stands in
/// the list by its file.
pub(super) struct Plan {
    pub(super) things: Vec<Thing>,
    pub(super) up: Up,
    /// LUNs that are reached by the loop device on the file that stands for them.
    pub(super) behind_loops: bool,
}

/// A random UUID for the pool, from the token's 16 hexadecimal digits, so that this pool is known from any other.
fn uuid(token: &str) -> String {
    // Version 8 is for numbers of one's own making (RFC 9562).
    format!("{}-{}-8{}-8000-{:0>12}", &token[..8], &token[8..12], &token[12..15], &token[15..])
}

/// Plans a target.
pub(super) fn plan(target: &Target, ground: &Ground) -> Plan {
    let Ground { base, name, token, .. } = ground;
    let base = &super::inside(base, token);
    let mut things = Vec::new();
    let directory = |things: &mut Vec<Thing>, path: String| {
        things.push(Thing::Directory { path: path.clone() });
        path
    };
    let bytes = target.lun_size.map_or(0, |size| size.0);
    let files_in = |things: &mut Vec<Thing>, place: &Where| match place {
        Where::Work => directory(things, format!("{base}/files")),
        Where::Directory(path) => directory(things, format!("{}/stend-{token}", path.trim_end_matches('/'))),
        Where::Tmpfs => {
            let path = directory(things, format!("{base}/ram"));
            // The file system's own pages come on top.
            let bytes = target.files().map_or(0, |(bytes, _)| bytes + (bytes >> 4) + (16 << 20));
            things.push(Thing::Tmpfs { path: path.clone(), bytes });
            path
        }
    };
    if !matches!(target.storage, Storage::Device { .. }) {
        things.push(Thing::Directory { path: base.clone() });
    }
    let (luns_in, in_btrfs) = match &target.storage {
        Storage::Device { devices } => {
            if target.fill {
                things.extend(devices.iter().map(|path| Thing::Filling { path: path.clone(), bytes, direct: true }));
            }
            let up = Up { luns: devices.clone(), controllers: Vec::new() };
            return Plan { things, up, behind_loops: false };
        }
        Storage::File { r#where } => (files_in(&mut things, r#where), false),
        Storage::Pool { disks, layout } => {
            let disks = match disks {
                Disks::Devices(devices) => devices.iter().cloned().map(Disk::Device).collect::<Vec<_>>(),
                Disks::Files { count, size, r#where } => {
                    let directory = files_in(&mut things, r#where);
                    let paths: Vec<_> = (0..*count).map(|disk| format!("{directory}/disk{disk}")).collect();
                    things.extend(paths.iter().map(|path| Thing::SparseFile { path: path.clone(), bytes: size.0 }));
                    let direct = *ground.medium != Medium::Memory;
                    things.extend(paths.iter().map(|file| Thing::Loop { file: file.clone(), direct }));
                    paths.into_iter().map(Disk::File).collect()
                }
            };
            things.push(Thing::Btrfs { disks: disks.clone(), layout: *layout, uuid: uuid(token) });
            let path = directory(&mut things, format!("{base}/pool"));
            things.push(Thing::Mount { disks, path: path.clone() });
            (path, true)
        }
    };
    // A controller exports a directory, so each has its LUNs in one of its own.
    let shares: Vec<_> = (0..target.controllers).map(|number| format!("{luns_in}/controller{number}")).collect();
    things.extend(shares.iter().map(|path| Thing::Directory { path: path.clone() }));
    let path_of = |lun: u32| {
        let share = shares.get(target.controller_of(lun) as usize).unwrap_or(&luns_in);
        format!("{share}/lun{lun}")
    };
    let paths: Vec<_> = (0..target.luns).map(path_of).collect();
    things.extend(paths.iter().map(|path| Thing::LunFile { path: path.clone(), bytes, in_btrfs }));
    if target.fill {
        // tmpfs has nothing to go around, and older kernels refuse to there.
        let direct = in_btrfs || *ground.medium != Medium::Memory;
        things.extend(paths.iter().map(|path| Thing::Filling { path: path.clone(), bytes, direct }));
    }
    match target.transport {
        Transport::Local => {
            let behind_loops = in_btrfs;
            if behind_loops {
                things.extend(paths.iter().map(|path| Thing::Loop { file: path.clone(), direct: true }));
            }
            Plan { things, up: Up { luns: paths, controllers: Vec::new() }, behind_loops }
        }
        Transport::Nbd => {
            let mut controllers = Vec::new();
            for (number, directory) in (0..).zip(shares) {
                let (cgroups, counters) = ground.hierarchies.group(&format!("stend-{name}-{token}-controller{number}"));
                if !cgroups.is_empty() {
                    things.push(Thing::Cgroups { paths: cgroups.clone() });
                }
                let (socket, pid_file) = (super::socket(base, number), format!("{base}/c{number}.pid"));
                things.push(Thing::Server { socket, pid_file: pid_file.clone(), directory, cgroups });
                let luns = (0..target.luns).filter(|&lun| target.controller_of(lun) == number).collect();
                controllers.push(Controller { luns, pid_file, counters });
            }
            let uri =
                |lun: u32| format!("nbd+unix:///lun{lun}?socket={}", super::socket(base, target.controller_of(lun)));
            Plan { things, up: Up { luns: (0..target.luns).map(uri).collect(), controllers }, behind_loops: false }
        }
    }
}

#[cfg(test)]
mod tests {
    use stend_model::target::TargetText;

    use super::*;

    fn planned(text: &str, medium: Medium) -> Plan {
        let target = TargetText::target_of_file(text, "t.toml", &TargetText::default()).unwrap();
        let ground = Ground {
            base: "/w/targets/t",
            name: "t",
            token: "0123456789abcdef",
            medium: &medium,
            hierarchies: &Hierarchies::default(),
        };
        plan(&target, &ground)
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

    #[test]
    fn a_uuid_is_one() {
        assert_eq!(uuid("0123456789abcdef"), "01234567-89ab-8cde-8000-00000000000f");
    }
}
