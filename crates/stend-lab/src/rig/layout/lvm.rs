//! An LVM volume group of all disks, with a logical volume for each LUN. Written after lvmraid(7), vgcreate(8) and lvcreate(8).

use serde::{Deserialize, Serialize};
use stend_model::target::Layout;

use crate::rig::shell::{DEVICES_OF, Disk, LOOP_OF, names, own_devices, shell};
use crate::rig::thing::Made;
use stend_stand::host::Command;

/// A volume group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::rig) struct Group {
    pub(in crate::rig) disks: Vec<Disk>,
    pub(in crate::rig) name: String,
}

/// A logical volume over all disks of its group, and a link to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::rig) struct Volume {
    pub(in crate::rig) disks: Vec<Disk>,
    pub(in crate::rig) group: String,
    pub(in crate::rig) layout: Layout,
    pub(in crate::rig) bytes: u64,
    pub(in crate::rig) link: String,
}

/// LVM is to see these disks and no others, whatever the machine's file of devices or its filters say.
const ONLY_THESE: &str = r#"
filter=
for device in $devices; do filter="$filter\"a|^$device\$|\","; done
only="devices { use_devicesfile=0 filter=[$filter\"r|.*|\"] }"
"#;
/// Extents of 1 MiB, so that a small disk is not lost to rounding.
const MAKE_GROUP: &str = r#"vgcreate --config "$only" --quiet --yes --physicalextentsize 1m "$1" $devices >/dev/null"#;
/// Devices that are not stend's own files lose LVM's mark. They had none before, or they would have been refused.
const REMOVE_GROUP: &str = r#"
group=$1
shift
while vgs --config "$only" "$group" >/dev/null 2>&1; do
    said=$(vgremove --config "$only" --force --yes "$group" 2>&1) && continue
    again "$said"
done
for device; do
    [ "$(blkid -p -s TYPE -o value "$device")" = LVM2_member ] || continue
    [ -z "$(pvs --config "$only" --noheadings --options vg_name "$device" | tr -d ' ')" ] || continue
    pvremove --config "$only" --quiet --yes "$device" >/dev/null || exit
done
exit 0
"#;
const MAKE_VOLUME: &str = r#"
group=$1 link=$2 bytes=$3
shift 3
name=${link##*/}
lvcreate --config "$only" --quiet --yes --wipesignatures n --name "$name" --size "${bytes}b" "$@" "$group" >/dev/null || exit
until [ -b "/dev/$group/$name" ]; do
    again "/dev/$group/$name does not appear"
done
ln -s "/dev/$group/$name" "$link"
"#;
const REMOVE_VOLUME: &str = r#"
group=$1 link=$2
name=${link##*/}
rm -f "$link"
while lvs --config "$only" "$group/$name" >/dev/null 2>&1; do
    said=$(lvremove --config "$only" --force --yes "$group/$name" 2>&1) && continue
    again "$said"
done
exit 0
"#;

fn on_disks(ledger: &str, disks: &[Disk], script: &str, arguments: &[&str]) -> Command {
    let names = names(disks);
    let arguments = names.iter().map(String::as_str).chain(["--"]).chain(arguments.iter().copied());
    shell(ledger, &format!("{LOOP_OF}{DEVICES_OF}{ONLY_THESE}{script}"), &arguments.collect::<Vec<_>>())
}

impl Made for Group {
    fn making(&self, ledger: &str) -> Command {
        on_disks(ledger, &self.disks, MAKE_GROUP, &[&self.name])
    }

    fn taking_away(&self, ledger: &str) -> Option<Command> {
        let arguments: Vec<_> = [self.name.as_str()].into_iter().chain(own_devices(&self.disks)).collect();
        Some(on_disks(ledger, &self.disks, REMOVE_GROUP, &arguments))
    }

    fn in_words(&self) -> String {
        format!("the volume group {} of {} disks", self.name, self.disks.len())
    }
}

impl Made for Volume {
    fn making(&self, ledger: &str) -> Command {
        let (all, pairs) = (self.disks.len().to_string(), (self.disks.len() / 2).to_string());
        // New mirrors are taken for equal: else they would be copied while they are loaded. Every LUN is written before it is read.
        let how: &[&str] = match self.layout {
            Layout::Stripe => &["--type", "striped", "--stripes", &all],
            Layout::Mirror => &["--type", "raid1", "--mirrors", "1", "--nosync"],
            Layout::Raid10 => &["--type", "raid10", "--mirrors", "1", "--stripes", &pairs, "--nosync"],
        };
        let bytes = self.bytes.to_string();
        on_disks(ledger, &self.disks, MAKE_VOLUME, &[&[self.group.as_str(), &self.link, &bytes], how].concat())
    }

    fn taking_away(&self, ledger: &str) -> Option<Command> {
        Some(on_disks(ledger, &self.disks, REMOVE_VOLUME, &[&self.group, &self.link]))
    }

    fn in_words(&self) -> String {
        format!("the logical volume {} by LVM {}", self.link, self.layout)
    }
}
