//! The I/O scheduler of a target's disks. It belongs to the device, and outlives the target: what stood there is noted beside the ledger
//! before it is changed, and put back when the target is taken down.

use serde::{Deserialize, Serialize};

use super::shell::{DEVICES_OF, Disk, LOOP_OF, names, shell};
use super::thing::Made;
use stend_stand::host::Command;

/// A scheduler that disks are given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Scheduler {
    pub(super) disks: Vec<Disk>,
    pub(super) name: String,
    /// The file that says what each disk had.
    pub(super) note: String,
}

/// Where the kernel says it of a device, which may be a partition; and the word in brackets, which is the one in force.
const QUEUE: &str = r#"
file_of() {
    file=/sys/class/block/$1/queue/scheduler
    [ -e "$file" ] || file=/sys/class/block/$1/../queue/scheduler
}
in_force() {
    sed -n 's/.*\[\(.*\)\].*/\1/p' "$1"
}
boot=$(cat /proc/sys/kernel/random/boot_id)
"#;
const SET: &str = r#"
note=$1 wanted=$2
echo "$boot" >"$note" || exit
kernel_names=
for device in $devices; do
    real=$(readlink -f "$device") || exit
    kernel_names="$kernel_names ${real##*/}"
done
for name in $kernel_names; do
    file_of "$name"
    echo "$name $(in_force "$file")" >>"$note" || exit
done
for name in $kernel_names; do
    file_of "$name"
    echo "$wanted" >"$file" || exit
    [ "$(in_force "$file")" = "$wanted" ] || { echo "$name has $(in_force "$file") all the same" >&2; exit 1; }
done
"#;
/// What somebody else has set meanwhile stays, and so does everything after a boot.
const PUT_BACK: &str = r#"
note=$1 wanted=$2
[ -e "$note" ] || exit 0
{
    read -r of_boot
    while [ "$of_boot" = "$boot" ] && read -r name before; do
        file_of "$name"
        [ ! -e "$file" ] || [ -z "$before" ] || [ "$(in_force "$file")" != "$wanted" ] || echo "$before" >"$file" || exit
    done
} <"$note"
rm -f "$note"
"#;

impl Made for Scheduler {
    fn making(&self, ledger: &str) -> Command {
        let names = names(&self.disks);
        let arguments = names.iter().map(String::as_str).chain(["--", &self.note, &self.name]);
        shell(ledger, &format!("{LOOP_OF}{DEVICES_OF}{QUEUE}{SET}"), &arguments.collect::<Vec<_>>())
    }

    fn taking_away(&self, ledger: &str) -> Option<Command> {
        Some(shell(ledger, &format!("{QUEUE}{PUT_BACK}"), &[&self.note, &self.name]))
    }

    fn in_words(&self) -> String {
        format!("the scheduler {} of {} disks", self.name, self.disks.len())
    }
}
