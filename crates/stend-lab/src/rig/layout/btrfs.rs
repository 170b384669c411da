//! A btrfs over all disks, mounted, with a file for each LUN in it.

use serde::{Deserialize, Serialize};
use stend_model::target::Layout;

use crate::rig::basics::UNMOUNT;
use crate::rig::shell::{DEVICES_OF, Disk, LOOP_OF, names, own_devices, shell};
use crate::rig::thing::Made;
use stend_stand::host::Command;

/// A btrfs over disks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::rig) struct FileSystem {
    pub(in crate::rig) disks: Vec<Disk>,
    pub(in crate::rig) layout: Layout,
    pub(in crate::rig) uuid: String,
}

/// That btrfs, mounted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::rig) struct Mounted {
    pub(in crate::rig) disks: Vec<Disk>,
    pub(in crate::rig) path: String,
    /// Beside the usual ones.
    #[serde(default)]
    pub(in crate::rig) options: Vec<String>,
}

const BTRFS: &str = r#"mkfs.btrfs -q -f -U "$1" -d "$2" -m "$3" $devices"#;
/// All devices are named, so that no daemon needs to have found them.
const MOUNT: &str = r#"
options=noatime${2:+,$2},nosuid,nodev
for device in $devices; do
    options=$options,device=$device
    last=$device
done
mount -t btrfs -o "$options" "$last" "$1"
"#;
/// The kernel forgets the file system, which it would look for on these devices' numbers. A device that is not stend's own file loses
/// the file system's mark, if that is the one that stend made.
const FORGET: &str = r#"
for device in $devices; do
    btrfs device scan --forget "$device" >/dev/null 2>&1
done
for device; do
    [ "$(blkid -p -s UUID -o value "$device")" != "$uuid" ] || wipefs -q -a -t btrfs "$device" || exit
done
exit 0
"#;

impl Made for FileSystem {
    fn making(&self, ledger: &str) -> Command {
        let (data, metadata) = profiles(self.layout);
        let names = names(&self.disks);
        let arguments = names.iter().map(String::as_str).chain(["--", &self.uuid, data, metadata]);
        shell(ledger, &format!("{LOOP_OF}{DEVICES_OF}{BTRFS}"), &arguments.collect::<Vec<_>>())
    }

    fn taking_away(&self, ledger: &str) -> Option<Command> {
        let names = names(&self.disks);
        let arguments = names.iter().map(String::as_str).chain(["--", &self.uuid]).chain(own_devices(&self.disks));
        let script = format!("{LOOP_OF}{DEVICES_OF}uuid=$1\nshift\n{FORGET}");
        Some(shell(ledger, &script, &arguments.collect::<Vec<_>>()))
    }

    fn in_words(&self) -> String {
        format!("the btrfs {} of {} disks", self.layout, self.disks.len())
    }
}

impl Made for Mounted {
    fn making(&self, ledger: &str) -> Command {
        let names = names(&self.disks);
        let options = self.options.join(",");
        let arguments = names.iter().map(String::as_str).chain(["--", &self.path, &options]);
        shell(ledger, &format!("{LOOP_OF}{DEVICES_OF}{MOUNT}"), &arguments.collect::<Vec<_>>())
    }

    fn taking_away(&self, ledger: &str) -> Option<Command> {
        Some(shell(ledger, UNMOUNT, &[&self.path]))
    }

    fn in_words(&self) -> String {
        format!("the mount {}", self.path)
    }
}

/// btrfs's profiles of data and metadata. Without its metadata a pool is nothing, so they are always kept twice.
fn profiles(layout: Layout) -> (&'static str, &'static str) {
    match layout {
        Layout::Stripe => ("raid0", "raid1"),
        Layout::Mirror => ("raid1", "raid1"),
        Layout::Raid10 => ("raid10", "raid10"),
    }
}
