//! An md array of all disks, made by mdadm, with a partition for each LUN. Written after mdadm(8) and sfdisk(8).

use serde::{Deserialize, Serialize};
use stend_model::target::Layout;

use crate::rig::shell::{DEVICES_OF, Disk, LOOP_OF, names, own_devices, plain, shell};
use crate::rig::thing::Made;
use stend_stand::host::Command;

/// An array over disks, known by its name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::rig) struct Array {
    pub(in crate::rig) disks: Vec<Disk>,
    pub(in crate::rig) layout: Layout,
    pub(in crate::rig) name: String,
}

/// A partition for each LUN, and a link to each.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::rig) struct Partitions {
    pub(in crate::rig) array: String,
    pub(in crate::rig) bytes: u64,
    pub(in crate::rig) links: Vec<String>,
}

/// The device of the array whose name is `$1`, if it runs.
const ARRAY_OF: &str = r#"
array_of() {
    for at in /sys/block/md*; do
        [ -d "$at/md" ] || continue
        case $(mdadm --detail --export "/dev/${at##*/}" 2>/dev/null) in
        *"MD_NAME=any:$1"*) printf '/dev/%s\n' "${at##*/}"; return ;;
        esac
    done
    return 1
}
"#;
/// The mirrors of a new array are taken for equal: else they would be copied while they are loaded. Every LUN is written before it is
/// read.
const MAKE: &str = r#"
name=$1
shift
mdadm --create "/dev/md/$name" --quiet --run --metadata=1.2 --homehost=any --name="$name" "$@" $devices || exit
array_of "$name" >/dev/null || { echo "mdadm made no array of the name $name" >&2; exit 1; }
"#;
/// Devices that are not stend's own files lose the array's mark, if it is this one's.
const STOP: &str = r#"
name=$1
shift
while array=$(array_of "$name"); do
    said=$(mdadm --stop "$array" 2>&1) && continue
    again "$said"
done
for device; do
    case $(mdadm --examine --export "$device" 2>/dev/null) in
    *"MD_NAME=any:$name"*) mdadm --zero-superblock "$device" || exit ;;
    esac
done
exit 0
"#;
/// The kernel tells of new partitions a moment later.
const PARTITION: &str = r#"
array=$(array_of "$1") || { echo "the array $1 is gone" >&2; exit 1; }
mebibytes=$2
shift 2
{
    echo "label: gpt"
    echo "table-length: 256"
    for link; do echo "size=${mebibytes}MiB"; done
} | sfdisk --quiet --wipe always "$array" || exit
number=0
for link; do
    number=$((number + 1))
    tries=0
    until [ -b "${array}p$number" ]; do
        again "${array}p$number does not appear"
    done
    ln -s "${array}p$number" "$link" || exit
done
"#;

impl Made for Array {
    fn making(&self, ledger: &str) -> Command {
        let level: &[&str] = match self.layout {
            Layout::Stripe => &["--level=0"],
            Layout::Mirror => &["--level=1", "--assume-clean", "--bitmap=none"],
            Layout::Raid10 => &["--level=10", "--layout=n2", "--assume-clean", "--bitmap=none"],
        };
        let (names, count) = (names(&self.disks), format!("--raid-devices={}", self.disks.len()));
        let arguments = names.iter().map(String::as_str).chain(["--", &self.name]).chain(level.iter().copied());
        let arguments = arguments.chain([count.as_str()]);
        shell(ledger, &format!("{LOOP_OF}{DEVICES_OF}{ARRAY_OF}{MAKE}"), &arguments.collect::<Vec<_>>())
    }

    fn taking_away(&self, ledger: &str) -> Option<Command> {
        let arguments = [self.name.as_str()].into_iter().chain(own_devices(&self.disks));
        Some(shell(ledger, &format!("{ARRAY_OF}{STOP}"), &arguments.collect::<Vec<_>>()))
    }

    fn in_words(&self) -> String {
        format!("the md {} of {} disks", self.layout, self.disks.len())
    }
}

impl Made for Partitions {
    fn making(&self, ledger: &str) -> Command {
        let mebibytes = (self.bytes >> 20).to_string();
        let arguments = [&self.array, &mebibytes].into_iter().chain(&self.links).map(String::as_str);
        shell(ledger, &format!("{ARRAY_OF}{PARTITION}"), &arguments.collect::<Vec<_>>())
    }

    /// They go with their array.
    fn taking_away(&self, ledger: &str) -> Option<Command> {
        let words = ["rm", "-f"].into_iter().chain(self.links.iter().map(String::as_str));
        Some(plain(ledger, &words.collect::<Vec<_>>()))
    }

    fn in_words(&self) -> String {
        format!("the {} partitions of the array {}", self.links.len(), self.array)
    }
}
