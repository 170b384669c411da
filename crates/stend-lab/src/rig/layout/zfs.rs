//! A ZFS pool of all disks, with a volume (zvol) for each LUN. Written after zpool-create(8), zfs-create(8) and zpool-labelclear(8).

use serde::{Deserialize, Serialize};
use stend_model::target::Layout;

use crate::rig::shell::{DEVICES_OF, Disk, LOOP_OF, names, own_devices, shell};
use crate::rig::thing::Made;
use stend_stand::host::Command;

/// A pool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::rig) struct Pool {
    pub(in crate::rig) disks: Vec<Disk>,
    pub(in crate::rig) layout: Layout,
    pub(in crate::rig) name: String,
}

/// A volume, and a link to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::rig) struct Volume {
    pub(in crate::rig) pool: String,
    pub(in crate::rig) bytes: u64,
    pub(in crate::rig) link: String,
}

/// No cache file, so that no boot imports it; nothing compressed, so that all bytes are written; blocks of 4096 bytes on the disks.
const MAKE_POOL: &str = r#"
name=$1 layout=$2
modprobe -q zfs
words=
place=0
for device in $devices; do
    case $layout in
    mirror) [ "$place" -gt 0 ] || words=mirror ;;
    raid10) [ $((place % 2)) -ne 0 ] || words="$words mirror" ;;
    esac
    words="$words $device"
    place=$((place + 1))
done
zpool create -f -o cachefile=none -o ashift=12 -O mountpoint=none -O compression=off "$name" $words
"#;
/// ZFS partitions whole disks; the mark is on the first partition then. A disk of which it was this pool's is left empty.
const DESTROY_POOL: &str = r#"
name=$1
shift
while zpool list -H -o name "$name" >/dev/null 2>&1; do
    said=$(zpool destroy "$name" 2>&1) && continue
    again "$said"
done
for device; do
    for part in "$device" "$device"1 "${device}p1" "$device-part1"; do
        [ -b "$part" ] && [ "$(blkid -p -s LABEL -o value "$part")" = "$name" ] || continue
        zpool labelclear -f "$part" || exit
        [ "$part" = "$device" ] || wipefs -q -a "$device" || exit
    done
done
exit 0
"#;
/// The device appears a moment later.
const MAKE_VOLUME: &str = r#"
pool=$1 bytes=$2 link=$3
name=${link##*/}
zfs create -V "$bytes" "$pool/$name" || exit
until [ -b "/dev/zvol/$pool/$name" ]; do
    again "/dev/zvol/$pool/$name does not appear; does udev run?"
done
ln -s "/dev/zvol/$pool/$name" "$link"
"#;
const DESTROY_VOLUME: &str = r#"
pool=$1 link=$2
name=${link##*/}
rm -f "$link"
while zfs list -H -o name "$pool/$name" >/dev/null 2>&1; do
    said=$(zfs destroy "$pool/$name" 2>&1) && continue
    again "$said"
done
exit 0
"#;

impl Made for Pool {
    fn making(&self, ledger: &str) -> Command {
        let (names, layout) = (names(&self.disks), self.layout.to_string());
        let arguments = names.iter().map(String::as_str).chain(["--", &self.name, &layout]);
        shell(ledger, &format!("{LOOP_OF}{DEVICES_OF}{MAKE_POOL}"), &arguments.collect::<Vec<_>>())
    }

    fn taking_away(&self, ledger: &str) -> Option<Command> {
        let arguments = [self.name.as_str()].into_iter().chain(own_devices(&self.disks));
        Some(shell(ledger, DESTROY_POOL, &arguments.collect::<Vec<_>>()))
    }

    fn in_words(&self) -> String {
        format!("the ZFS pool {}, {} of {} disks", self.name, self.layout, self.disks.len())
    }
}

impl Made for Volume {
    fn making(&self, ledger: &str) -> Command {
        shell(ledger, MAKE_VOLUME, &[&self.pool, &self.bytes.to_string(), &self.link])
    }

    fn taking_away(&self, ledger: &str) -> Option<Command> {
        Some(shell(ledger, DESTROY_VOLUME, &[&self.pool, &self.link]))
    }

    fn in_words(&self) -> String {
        format!("the ZFS volume {}", self.link)
    }
}
