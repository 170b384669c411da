//! NVMe over TCP on this machine: the kernel's target (nvmet) exports the LUNs, and its host side reads and writes them. Written after
//! the kernel's nvmet and nvme-connect(1).

use serde::{Deserialize, Serialize};

use super::{Carrier, Known, Luns, PLAIN, port};
use crate::rig::Up;
use crate::rig::ability::Need;
use crate::rig::plan::Planning;
use crate::rig::shell::shell;
use crate::rig::thing::Made;
use crate::rig::thing::Thing;
use stend_stand::host::Command;

/// A subsystem with a namespace for each LUN, a port, and a connection to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::rig) struct Subsystem {
    /// Its qualified name.
    pub(in crate::rig) name: String,
    /// The port from which a free one is looked for.
    pub(in crate::rig) from: u16,
    /// The file that says the port that was taken.
    pub(in crate::rig) port_file: String,
    /// The files or devices of the LUNs.
    pub(in crate::rig) luns: Vec<String>,
    /// The links to the devices that appear.
    pub(in crate::rig) links: Vec<String>,
}

pub(super) const KNOWN: Known = Known {
    need: Need { programs: &[("nvme", "nvme-cli")], kernel: &[("nvmet", ""), ("nvmet_tcp", ""), ("nvme_tcp", "")] },
    root_for: Some("the kernel's target"),
    plan,
    ..PLAIN
};

fn plan(planning: &mut Planning<'_>, luns: Luns) -> Up {
    let directory = planning.directory("devices");
    let links: Vec<_> = (0..planning.target.luns).map(|lun| format!("{directory}/lun{lun}")).collect();
    let subsystem = Subsystem {
        name: format!("nqn.2026-01.stend:{}", planning.ground.token),
        from: port(planning, 0),
        port_file: format!("{}/nvme.port", planning.base),
        luns: luns.paths,
        links: links.clone(),
    };
    planning.things.push(Thing::Transport(Carrier::NvmeSubsystem(subsystem)));
    Up { luns: links, ..Up::default() }
}

const EXPORT: &str = r#"
name=$1 port=$2 port_file=$3
shift 3
for module in nvmet nvmet-tcp nvme-tcp; do modprobe -q "$module"; done
all=/sys/kernel/config/nvmet
own=$all/subsystems/$name
mkdir "$own" && echo 1 >"$own/attr_allow_any_host" || exit
number=0
while [ "$1" != -- ]; do
    number=$((number + 1))
    mkdir "$own/namespaces/$number" && readlink -f "$1" >"$own/namespaces/$number/device_path" &&
        echo 1 >"$own/namespaces/$number/enable" || exit
    shift
done
shift
last=$((port + 200))
while :; do
    at=$all/ports/$port
    echo "$port" >"$port_file" || exit
    if mkdir "$at" 2>/dev/null; then
        echo ipv4 >"$at/addr_adrfam" && echo tcp >"$at/addr_trtype" && echo 127.0.0.1 >"$at/addr_traddr" &&
            echo "$port" >"$at/addr_trsvcid" || exit
        said=$(ln -s "$own" "$at/subsystems/$name" 2>&1) && break
        rmdir "$at"
    fi
    port=$((port + 1))
    [ "$port" -lt "$last" ] || { echo "no port up to $last can be had: $said" >&2; exit 1; }
done
nvme connect --transport=tcp --traddr=127.0.0.1 --trsvcid="$port" --nqn="$name" >/dev/null || exit
# The namespaces' devices appear a moment later; a device that is one path of several has no file in /dev.
number=0
for link; do
    number=$((number + 1))
    tries=0
    while :; do
        for at in /sys/class/nvme-subsystem/* /sys/class/nvme/*; do
            [ "$(cat "$at/subsysnqn" 2>/dev/null)" = "$name" ] || continue
            for space in "$at"/nvme*n*; do
                [ "$(cat "$space/nsid" 2>/dev/null)" = "$number" ] && [ -b "/dev/${space##*/}" ] || continue
                ln -s "/dev/${space##*/}" "$link" || exit
                break 3
            done
        done
        again "no device appears for namespace $number of $name"
    done
done
"#;
const REMOVE: &str = r#"
name=$1 port_file=$2
shift 2
rm -f "$@"
all=/sys/kernel/config/nvmet
own=$all/subsystems/$name
if grep -qsxF "$name" /sys/class/nvme/*/subsysnqn; then
    nvme disconnect --nqn="$name" >/dev/null || exit
fi
for link in "$all"/ports/*/subsystems/"$name"; do
    [ ! -L "$link" ] || rm "$link" || exit
done
if [ -s "$port_file" ]; then
    at=$all/ports/$(cat "$port_file")
    # Somebody else's port has a subsystem.
    [ ! -d "$at" ] || [ -n "$(ls "$at/subsystems")" ] || rmdir "$at" || exit
fi
for space in "$own"/namespaces/*; do
    [ -d "$space" ] || continue
    echo 0 >"$space/enable"
    rmdir "$space" || exit
done
[ ! -d "$own" ] || rmdir "$own" || exit
rm -f "$port_file"
"#;

impl Made for Subsystem {
    fn making(&self, ledger: &str) -> Command {
        let from = self.from.to_string();
        let arguments = [&self.name, &from, &self.port_file].into_iter().chain(&self.luns).map(String::as_str);
        let arguments = arguments.chain(["--"]).chain(self.links.iter().map(String::as_str));
        shell(ledger, EXPORT, &arguments.collect::<Vec<_>>())
    }

    fn taking_away(&self, ledger: &str) -> Option<Command> {
        let arguments = [&self.name, &self.port_file].into_iter().chain(&self.links).map(String::as_str);
        Some(shell(ledger, REMOVE, &arguments.collect::<Vec<_>>()))
    }

    fn in_words(&self) -> String {
        format!("the NVMe subsystem {}", self.name)
    }
}
