//! iSCSI over TCP on this machine: a tgtd for each controller, and who speaks it on the load's side.
//!
//! A tgtd has a control socket of its own in the target's directory, so it is nobody else's, whatever their control ports are. Its TCP
//! port is the first that is free from a number of the token's, and stands in a file for the load's side.

use serde::{Deserialize, Serialize};

use stend_model::target::Initiator;

use super::{Carrier, Known, Luns, controller_group, pid_file, port, process, uris};
use crate::rig::Up;
use crate::rig::ability::{Missing, Need, lack};
use crate::rig::plan::Planning;
use crate::rig::shell::{SERVERS, shell};
use crate::rig::thing::Made;
use crate::rig::thing::Thing;
use stend_stand::host::{Command, Host};

/// tgtd, a process for each controller, which exports its share of the LUNs in one target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::rig) struct Tgtd {
    pub(in crate::rig) place: Portal,
    /// The port from which a free one is looked for.
    pub(in crate::rig) from: u16,
    pub(in crate::rig) pid_file: String,
    /// The files or devices of its LUNs; the first is LUN 1, because LUN 0 is tgtd's own.
    pub(in crate::rig) luns: Vec<String>,
    pub(in crate::rig) cgroups: Vec<String>,
}

/// Where a target is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::rig) struct Portal {
    /// The beginning of the control socket's name; tgtd adds `.0`.
    pub(in crate::rig) control: String,
    /// The file that says the TCP port.
    pub(in crate::rig) port_file: String,
    /// The target's name.
    pub(in crate::rig) name: String,
}

/// qemu-storage-daemon, which reads and writes a controller's LUNs by iSCSI and exports each by NBD.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::rig) struct Bridge {
    pub(in crate::rig) place: Portal,
    pub(in crate::rig) socket: String,
    pub(in crate::rig) pid_file: String,
    /// The names of the exports, in the order of the LUNs.
    pub(in crate::rig) exports: Vec<String>,
    pub(in crate::rig) cgroups: Vec<String>,
}

/// A session of the kernel's initiator, and a link to each LUN's device. Written after iscsiadm(8).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::rig) struct Login {
    pub(in crate::rig) place: Portal,
    pub(in crate::rig) links: Vec<String>,
}

/// A tgtd that cannot have its port stays and listens nowhere; then it is ended and the next port tried. It answers a moment after it was
/// started.
pub(super) const KNOWN: Known = Known {
    need: Need { programs: &[("tgtd", "tgt"), ("tgtadm", "tgt")], kernel: &[] },
    root_for: Some("tgtd"),
    lack: |host| initiator(host).err(),
    how: |host| match initiator(host) {
        Ok(Initiator::Qemu) => "by tgtd; qemu-storage-daemon brings it to the load",
        _ => "by tgtd and the kernel's initiator",
    },
    plan,
};

const KERNEL_INITIATOR: Need =
    Need { programs: &[("iscsiadm", "open-iscsi"), ("iscsid", "open-iscsi")], kernel: &[("iscsi_tcp", "")] };
const QEMU_INITIATOR: Need = Need { programs: &[("qemu-storage-daemon", "qemu-system-common")], kernel: &[] };

/// What an initiator takes.
pub(in crate::rig) fn need_of(initiator: Initiator) -> Need {
    match initiator {
        Initiator::Kernel => KERNEL_INITIATOR,
        Initiator::Qemu => QEMU_INITIATOR,
    }
}

/// Who speaks iSCSI on the load's side: the kernel where it can, because then nothing stands between it and the load.
pub(in crate::rig) fn initiator(host: &dyn Host) -> Result<Initiator, Missing> {
    if lack(host, &KERNEL_INITIATOR).is_none() {
        return Ok(Initiator::Kernel);
    }
    if let Some(lack) = lack(host, &QEMU_INITIATOR) {
        return Err(lack);
    }
    // Its drivers are in packages of their own. Nobody listens on this port, so one that is there fails to connect.
    let driver = "driver=iscsi,node-name=lun,transport=tcp,portal=127.0.0.1:1,target=none,lun=1";
    let output = host.run(&Command::new(["timeout", "5", "qemu-storage-daemon", "--blockdev", driver]));
    let said = output.map(|output| String::from_utf8_lossy(&output.stderr).into_owned()).unwrap_or_default();
    if said.contains("Unknown driver") {
        return Err(Missing::IscsiDriver);
    }
    Ok(Initiator::Qemu)
}

fn plan(planning: &mut Planning<'_>, luns: Luns) -> Up {
    let target = planning.target;
    let portal = |planning: &Planning<'_>, number: u32| Portal {
        control: crate::rig::control_socket(&planning.base, number),
        port_file: format!("{}/c{number}.port", planning.base),
        name: format!("iqn.2026-01.stend:{}.c{number}", planning.ground.token),
    };
    let (mut controllers, mut initiators) = (Vec::new(), Vec::new());
    for number in 0..target.controllers {
        let (cgroups, counters) = controller_group(planning, number);
        let pid_file = pid_file(planning, 'c', number);
        let controller = process(planning, number, pid_file.clone(), counters);
        planning.things.push(Thing::Transport(Carrier::Tgtd(Tgtd {
            place: portal(planning, number),
            from: port(planning, number),
            pid_file,
            luns: controller.luns.iter().map(|&lun| luns.paths[lun as usize].clone()).collect(),
            cgroups,
        })));
        controllers.push(controller);
    }
    if target.initiator == Some(Initiator::Kernel) {
        let directory = planning.directory("devices");
        let link = |lun: u32| format!("{directory}/lun{lun}");
        for (number, controller) in (0..).zip(&controllers) {
            let links = controller.luns.iter().map(|&lun| link(lun)).collect();
            planning
                .things
                .push(Thing::Transport(Carrier::IscsiSession(Login { place: portal(planning, number), links })));
        }
        return Up { luns: (0..target.luns).map(link).collect(), controllers, initiators, guest: None };
    }
    for (number, controller) in (0..).zip(&controllers) {
        // The load's side, so not counted with the controllers.
        let (cgroups, counters) = planning.group(&format!("initiator{number}"), None);
        let (socket, pid_file) = (crate::rig::socket(&planning.base, number), pid_file(planning, 'i', number));
        planning.things.push(Thing::Transport(Carrier::IscsiBridge(Bridge {
            place: portal(planning, number),
            socket,
            pid_file: pid_file.clone(),
            exports: controller.luns.iter().map(|lun| format!("lun{lun}")).collect(),
            cgroups,
        })));
        initiators.push(process(planning, number, pid_file, counters));
    }
    Up { luns: uris(planning), controllers, initiators, guest: None }
}

const START: &str = r#"
export TGT_IPC_SOCKET=$1
port_file=$2 name=$3 port=$4 pid_file=$5
shift 5
while [ "$1" != -- ]; do
    echo $$ >"$1/cgroup.procs" || exit
    shift
done
shift
admin() {
    timeout 60 tgtadm --control-port 0 --lld iscsi "$@" || {
        status=$?
        [ "$status" -ne 124 ] || echo "tgtd has not answered for a minute" >&2
        return "$status"
    }
}
last=$((port + 200))
while :; do
    tgtd --control-port 0 --pid-file "$pid_file" --iscsi "portal=127.0.0.1:$port" </dev/null >/dev/null 2>&1 || exit
    tries=0
    until portals=$(admin --mode portal --op show 2>&1); do
        # One that hangs is not asked once more.
        [ $? -ne 124 ] || { echo "$portals" >&2; exit 1; }
        again "tgtd does not answer: $portals"
    done
    case $portals in *"127.0.0.1:$port"*) break ;; esac
    kill -s KILL "$(cat "$pid_file")"
    rm -f "$TGT_IPC_SOCKET.0" "$TGT_IPC_SOCKET.0.lock" "$pid_file"
    port=$((port + 1))
    [ "$port" -lt "$last" ] || { echo "200 TCP ports up to $last are taken on 127.0.0.1" >&2; exit 1; }
done
echo "$port" >"$port_file" || exit
admin --mode target --op new --tid 1 --targetname "$name" || exit
number=0
for lun; do
    number=$((number + 1))
    admin --mode logicalunit --op new --tid 1 --lun "$number" --backing-store "$lun" || exit
done
admin --mode target --op bind --tid 1 --initiator-address 127.0.0.1
"#;
/// tgtd passes over SIGTERM while it has targets.
const STOP: &str = r#"
export TGT_IPC_SOCKET=$1
port_file=$2 pid_file=$3
word=$pid_file begins="tgtd --control-port 0 --pid-file $pid_file "
admin() { timeout 2 tgtadm --control-port 0 --lld iscsi "$@" >/dev/null 2>&1; }
if [ -n "$(servers)" ]; then
    admin --mode target --op delete --force --tid 1
    admin --mode system --op delete
fi
end_servers
rm -f "$TGT_IPC_SOCKET.0" "$TGT_IPC_SOCKET.0.lock" "$port_file" "$pid_file"
"#;
/// The shell itself goes into the control groups and becomes the daemon, which is ready when its parent ends. Its server has to stand before
/// the exports.
const BRIDGE: &str = r#"
read -r port <"$1" || exit
name=$2 socket=$3 pid_file=$4
shift 4
while [ "$1" != -- ]; do
    echo $$ >"$1/cgroup.procs" || exit
    shift
done
shift
exports=$*
set -- --nbd-server "addr.type=unix,addr.path=$socket,max-connections=0"
number=0
for lun in $exports; do
    number=$((number + 1))
    set -- "$@" --blockdev "driver=iscsi,node-name=$lun,transport=tcp,portal=127.0.0.1:$port,target=$name,lun=$number"
    set -- "$@" --export "type=nbd,id=$lun,node-name=$lun,name=$lun,writable=on"
done
exec qemu-storage-daemon "$@" --pidfile "$pid_file" --daemonize </dev/null
"#;
const STOP_BRIDGE: &str = r#"
socket=$1 pid_file=$2
word=$socket begins="qemu-storage-daemon --nbd-server addr.type=unix,addr.path=$socket,"
end_servers
rm -f "$socket" "$pid_file"
"#;
/// udev makes the names by path a moment later.
const LOG_IN: &str = r#"
read -r port <"$1" || exit
name=$2
shift 2
modprobe -q iscsi_tcp
iscsiadm --mode discovery --type sendtargets --portal "127.0.0.1:$port" >/dev/null || exit
iscsiadm --mode node --targetname "$name" --portal "127.0.0.1:$port" --login >/dev/null || exit
number=0
for link; do
    number=$((number + 1))
    device=/dev/disk/by-path/ip-127.0.0.1:$port-iscsi-$name-lun-$number
    tries=0
    until [ -b "$device" ]; do
        again "$device does not appear; does udev run?"
    done
    ln -s "$device" "$link" || exit
done
"#;
const LOG_OUT: &str = r#"
name=$1
shift
rm -f "$@"
while grep -qsxF "$name" /sys/class/iscsi_session/*/targetname; do
    said=$(iscsiadm --mode node --targetname "$name" --logout 2>&1) && continue
    again "$said"
done
iscsiadm --mode node --targetname "$name" --op delete >/dev/null 2>&1
exit 0
"#;

impl Made for Tgtd {
    fn making(&self, ledger: &str) -> Command {
        let Portal { control, port_file, name } = &self.place;
        let from = self.from.to_string();
        let arguments = [control, port_file, name, &from, &self.pid_file].into_iter().map(String::as_str);
        let arguments = arguments.chain(self.cgroups.iter().map(String::as_str)).chain(["--"]);
        shell(ledger, START, &arguments.chain(self.luns.iter().map(String::as_str)).collect::<Vec<_>>())
    }

    fn taking_away(&self, ledger: &str) -> Option<Command> {
        let arguments = [&self.place.control, &self.place.port_file, &self.pid_file];
        Some(shell(ledger, &format!("{SERVERS}{STOP}"), &arguments.map(String::as_str)))
    }

    fn in_words(&self) -> String {
        format!("tgtd for {}", self.place.name)
    }
}

impl Made for Bridge {
    fn making(&self, ledger: &str) -> Command {
        let arguments = [&self.place.port_file, &self.place.name, &self.socket, &self.pid_file].map(String::as_str);
        let arguments = arguments.into_iter().chain(self.cgroups.iter().map(String::as_str)).chain(["--"]);
        shell(ledger, BRIDGE, &arguments.chain(self.exports.iter().map(String::as_str)).collect::<Vec<_>>())
    }

    fn taking_away(&self, ledger: &str) -> Option<Command> {
        Some(shell(ledger, &format!("{SERVERS}{STOP_BRIDGE}"), &[&self.socket, &self.pid_file]))
    }

    fn in_words(&self) -> String {
        format!("qemu-storage-daemon on {}", self.socket)
    }
}

impl Made for Login {
    fn making(&self, ledger: &str) -> Command {
        let arguments = [&self.place.port_file, &self.place.name].into_iter().chain(&self.links).map(String::as_str);
        shell(ledger, LOG_IN, &arguments.collect::<Vec<_>>())
    }

    fn taking_away(&self, ledger: &str) -> Option<Command> {
        let arguments = [&self.place.name].into_iter().chain(&self.links).map(String::as_str);
        Some(shell(ledger, LOG_OUT, &arguments.collect::<Vec<_>>()))
    }

    fn in_words(&self) -> String {
        format!("the iSCSI session with {}", self.place.name)
    }
}
