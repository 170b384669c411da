//! Virtual machines: a guest of QEMU that boots from an [image](super::image), reached by ssh at a port of the loopback interface.
//!
//! A guest lies in a directory of its own, as a [server](super::servers) does, and is taken away like one: its processes are those that work
//! there. Its disk is a layer on the image's, which it does not change.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use stend_model::image::{Architecture, Image};
use stend_model::target::Where;
use stend_model::target::vm::{Accelerator, Bus, Disk, Network, Vm};
use stend_stand::host::{Command, Host, HostError};
use stend_stand::hosts::GUEST;
use thiserror::Error;

use super::ability::{Ability, Need, lack};
use super::basics::Basic;
use super::check::{memory, space};
use super::control_group::{Counters, Groups, Hierarchies};
use super::image::{self, Kept};
use super::ledger::{self, Begun, Ledger};
use super::monitor::{self, MONITOR, SCREEN, Unasked};
use super::plan::Plan;
use super::servers::{Daemon, Home, OfServer, Step, Written, free_ports};
use super::thing::{Made as _, Thing};
use super::{Misuse, Obstacle, Refusal, Said, Up, base, inside, make_whole, real_path, standing, take_down, token};

/// So often another port is tried where somebody else was faster.
const TRIES: usize = 3;
/// What QEMU says then, of a port that it passes on and of one of its own.
const TAKEN: [&str; 3] = ["host forwarding rule", "ddress already in use", "evice or resource busy"];
/// For so many tenths of a second a guest that is not ready may print nothing. One that boots says what it does.
const PATIENCE: u32 = 1800;
/// A guest's services may end slowly, and its processors may be emulated.
const LONGEST_SHUT_DOWN: Duration = Duration::from_secs(10 * 60);
const PRESS_AGAIN: Duration = Duration::from_secs(5);
const LOOK: Duration = Duration::from_millis(200);
const CONSOLE: &str = "console.log";
const SSH_CONFIG: &str = "ssh_config";
/// Before the image's own, by which a guest's card asks for an address.
const NETWORK_OF_GUEST: &str = "etc/systemd/network/70-stend.network";

/// A guest that stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Guest {
    /// The name of the image that it lies on.
    pub image: String,
    /// Its processor.
    #[serde(default)]
    pub architecture: Architecture,
    /// The configuration by which ssh reaches it.
    pub ssh_config: String,
    /// The file that holds the process id of its QEMU.
    pub pid_file: String,
    /// Where it is counted what that uses.
    pub counters: Counters,
    /// The socket of its screen, by VNC. A guest of an older `stend` has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub screen: Option<String>,
    /// The address at which it finds this machine, if its network leads here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_address: Option<String>,
}

/// A machine that can be set up here.
#[derive(Debug)]
pub struct Checked {
    /// What was asked for, with what runs its processors.
    pub vm: Vm,
    image: Image,
    kept: Kept,
    /// What its disks lie on that are LUNs, by their numbers.
    luns: Vec<Option<String>>,
}

impl Checked {
    /// Whether the image has to be made first, which takes minutes.
    pub fn makes_image(&self) -> bool {
        !self.kept.is_there
    }
}

/// What `--on` calls a guest, and ssh by its configuration.
pub(super) fn address(name: &str) -> String {
    format!("{GUEST}{name}")
}

/// Whether QEMU runs guests by KVM here; it says why not. A device that can be opened is not enough.
const TRY_KVM: &str = r#"
[ -e /dev/kvm ] || { echo "there is no /dev/kvm" >&2; exit 1; }
said=$(echo quit | timeout 60 "$1" -accel kvm -cpu host -machine "$2" -nodefaults -display none -monitor stdio -S 2>&1 >/dev/null)
status=$?
[ "$status" -eq 0 ] || printf '%s\n' "$said" | grep -m 1 -i error >&2 || printf '%s\n' "$said" | head -n 1 >&2
exit "$status"
"#;
const MAKE_GUEST: &str = r#"
set -eu
image=$1
shift
ssh-keygen -q -t ed25519 -N "" -C stend -f key
ssh-keygen -q -t ed25519 -N "" -C guest -f host_key
mkdir -p seed/root/.ssh seed/etc/ssh seed/etc/systemd/network
cp key.pub seed/root/.ssh/authorized_keys
cp host_key seed/etc/ssh/ssh_host_ed25519_key
cp host_key.pub seed/etc/ssh/ssh_host_ed25519_key.pub
# What manages the guest's network is not root.
find seed/etc/systemd -type f -exec chmod 644 {} +
# Without the directories, so that those of the guest stay as they are.
tar -c -f seed.tar --owner=0 --group=0 --no-recursion -C seed \
    root/.ssh root/.ssh/authorized_keys etc/ssh/ssh_host_ed25519_key etc/ssh/ssh_host_ed25519_key.pub \
    $(cd seed && find etc/systemd/network -type f)
rm -r seed
echo "guest $(cat host_key.pub)" >known_hosts
qemu-img create -q -f qcow2 -b "$image/disk.qcow2" -F qcow2 system.qcow2
while [ $# -gt 0 ]; do
    qemu-img create -q -f "$2" "$1" "$3"
    shift 3
done
"#;

/// By a serial port ssh reaches a guest only when the connection before is over there too.
const REACH: &str = r#"for wait in 2 5 0; do
    ssh "$@" && exit || status=$?
    [ "$status" -eq 255 ] || exit "$status"
    sleep "$wait"
done
exit 255"#;
/// In the guest: makes a file system on the disk of this serial number when it has the disk for the first time, and mounts it there.
const MOUNT_DISK: &str = r#"
set -eu
mount_disk() {
    set -- /dev/disk/by-id/*stend-"$1" "$2" "/var/lib/stend-$1"
    [ -e "$3" ] || mkfs.ext4 -q -F "$1"
    : >"$3"
    mkdir -p "$2"
    mount "$1" "$2"
}
"#;

/// Gives the host's end of a guest's network its address. It is gone when QEMU ends, and the address with it.
const CONNECT: &str = r#"ip address add "$2" dev "$1" && ip link set "$1" up"#;
/// What it takes that a guest has a network with its host.
const TAP: Need = Need { programs: &[("ip", "iproute2")], kernel: &[] };

/// The two ends of a guest's network: link-local addresses, because those are nobody's (RFC 3927).
#[derive(Debug, PartialEq)]
struct Tap {
    /// The host's network device.
    device: String,
    host: String,
    guest: String,
}

impl Tap {
    /// Chosen at random, as such addresses are. 169.254.169.254 is the provider's in a cloud, so the third number stays below.
    fn of(token: &str) -> Self {
        let digits = |from: usize| u8::from_str_radix(token.get(from..from + 2).unwrap_or_default(), 16).unwrap_or(0);
        let (third, fourth) = (1 + digits(0) % 128, digits(2) & !3);
        let at = |offset: u8| format!("169.254.{third}.{}", fourth + offset);
        Self { device: format!("stend-{}", &token[..token.len().min(8)]), host: at(1), guest: at(2) }
    }

    /// The file by which the guest's systemd gives it its own.
    fn of_guest(&self) -> String {
        format!(
            "[Match]\nType=ether\n\n[Network]\nAddress={}/30\nLinkLocalAddressing=no\nIPv6AcceptRA=no\n",
            self.guest
        )
    }
}

/// Checks whether the machine can have such a guest, before anything is made.
///
/// # Errors
/// It cannot; one line that says why, and what would be right.
pub fn check(host: &dyn Host, work: &str, vm: Vm, image: Image) -> Result<Checked, Refusal> {
    let of_tap = (vm.network == Network::Tap).then_some(TAP);
    let kept = with_image(host, work, &vm.image, &image, of_tap)?;
    if vm.network == Network::Tap && host.run(&Command::new(["test", "-w", "/dev/net/tun"]))?.exit != Some(0) {
        return Err(Obstacle::NoTap.into());
    }
    let accelerator = accelerator(host, vm.accelerator, vm.machine.as_deref(), image.architecture)?;
    memory(host, vm.memory.0)?;
    let made = vm.disks.iter().filter_map(|disk| disk.size).map(|size| size.0).sum::<u64>();
    space(host, work, made.saturating_add(kept.takes(&image)), &Where::Work)?;
    let luns = vm.disks.iter().map(|disk| lun(host, work, disk)).collect::<Result<_, _>>()?;
    Ok(Checked { vm: Vm { accelerator: Some(accelerator), ..vm }, image, kept, luns })
}

/// The image that guests on this machine lie on, which may have to be made first, if there is all that this takes and what is needed besides.
fn with_image(host: &dyn Host, work: &str, name: &str, image: &Image, besides: Option<Need>) -> Result<Kept, Refusal> {
    let kept = image::kept(host, work, name, image)?;
    let of_image = (!kept.is_there).then_some(image::NEED);
    let needs = [need(image.architecture)].into_iter().chain(of_image).chain(besides);
    if let Some(missing) = needs.into_iter().find_map(|need| lack(host, &need)) {
        return Err(Obstacle::NoGuests { missing }.into());
    }
    let (here, guests) = (processor(host)?, image.architecture.of_kernel());
    if !kept.is_there && here != guests {
        let translator = host.read_text(&format!("/proc/sys/fs/binfmt_misc/qemu-{guests}")).unwrap_or_default();
        if !translator.starts_with("enabled") || host.find_program("arch-test").is_none() {
            return Err(Obstacle::NoForeignPrograms { guests, here }.into());
        }
    }
    Ok(kept)
}

/// The image that a server's guests lie on, and what runs them, where nothing decides that but the machine.
///
/// # Errors
/// There can be none here.
pub(super) fn of_server(
    host: &dyn Host,
    work: &str,
    name: &str,
    image: &Image,
) -> Result<(Kept, Accelerator), Refusal> {
    let kept = with_image(host, work, name, image, None)?;
    space(host, work, kept.takes(image), &Where::Work)?;
    let accelerator = accelerator(host, None, None, image.architecture)?;
    Ok((kept, accelerator))
}

/// The name that the kernel has for the machine's architecture.
fn processor(host: &dyn Host) -> Result<String, HostError> {
    Ok(host.run(&Command::new(["uname", "-m"]))?.text().trim().to_owned())
}

/// Where the LUN lies that a disk is, if it is one.
fn lun(host: &dyn Host, work: &str, disk: &Disk) -> Result<Option<String>, Refusal> {
    let Some((rig, number)) = disk.lun() else { return Ok(None) };
    let (_, up) = standing(host, work, rig)?;
    match up.luns.get(number) {
        Some(lun) => Ok(Some(lun.clone())),
        None => Err(Misuse::NoSuchLun { rig: rig.into(), number, luns: up.luns.len() }.into()),
    }
}

fn qemu(architecture: Architecture) -> &'static str {
    need(architecture).programs[0].0
}

/// What guests of an architecture take.
fn need(architecture: Architecture) -> Need {
    let programs: &[_] = match architecture {
        Architecture::Amd64 => &[
            ("qemu-system-x86_64", "qemu-system-x86"),
            ("qemu-img", "qemu-utils"),
            ("ssh", "openssh-client"),
            ("ssh-keygen", "openssh-client"),
        ],
        Architecture::Arm64 => &[
            ("qemu-system-aarch64", "qemu-system-arm"),
            ("qemu-img", "qemu-utils"),
            ("ssh", "openssh-client"),
            ("ssh-keygen", "openssh-client"),
        ],
    };
    Need { programs, kernel: &[] }
}

/// Whether guests of this machine's own architecture can be set up here, and by what.
pub(super) fn ability(host: &dyn Host) -> Ability {
    let here = processor(host).unwrap_or_default();
    let architecture = if here == "aarch64" { Architecture::Arm64 } else { Architecture::Amd64 };
    let missing = lack(host, &need(architecture)).or_else(|| lack(host, &image::NEED));
    let by = || match try_kvm(host, &here, architecture, machine(None, architecture)) {
        Ok(()) => "by KVM".to_owned(),
        Err(said) => format!("by TCG, an emulator, because KVM runs no guest here{said}"),
    };
    Ability { what: "virtual machines".into(), state: missing.map_or_else(|| Ok(by()), Err) }
}

fn machine(named: Option<&str>, architecture: Architecture) -> &str {
    named.unwrap_or(match architecture {
        Architecture::Amd64 => "q35",
        Architecture::Arm64 => "virt",
    })
}

fn accelerator(
    host: &dyn Host,
    wanted: Option<Accelerator>,
    named: Option<&str>,
    architecture: Architecture,
) -> Result<Accelerator, Refusal> {
    if wanted == Some(Accelerator::Tcg) {
        return Ok(Accelerator::Tcg);
    }
    match (try_kvm(host, &processor(host)?, architecture, machine(named, architecture)), wanted) {
        (Ok(()), _) => Ok(Accelerator::Kvm),
        (Err(said), Some(_)) => Err(Obstacle::NoKvm { said }.into()),
        (Err(_), None) => Ok(Accelerator::Tcg),
    }
}

/// Whether KVM runs guests of this architecture on this machine; else why not.
fn try_kvm(host: &dyn Host, here: &str, architecture: Architecture, machine: &str) -> Result<(), Said> {
    let guests = architecture.of_kernel();
    if here != guests {
        return Err(Said::of(format!("the processor here is {here}, and the guest's {guests}")));
    }
    match host.run(&Command::new(["sh", "-c", TRY_KVM, "sh", qemu(architecture), machine])) {
        Ok(output) if output.exit == Some(0) => Ok(()),
        Ok(output) => Err((&output).into()),
        Err(error) => Err(Said::of(error.to_string())),
    }
}

/// Sets a guest up, or nothing of it, and waits until ssh reaches it. What a killed stend left of one of this name is taken away first.
///
/// # Errors
/// Something cannot be made, or it does not boot; or the user interrupted it.
pub fn raise(
    host: &dyn Host,
    probe: &str,
    work: &str,
    name: &str,
    wanted: &Checked,
    interrupted: &dyn Fn() -> bool,
) -> Result<Up, Refusal> {
    let mut tries = 0;
    loop {
        tries += 1;
        take_down(host, work, name)?;
        let base = base(work, name);
        host.make_directory(&base)?;
        let base = real_path(host, &base)?;
        let plan = plan(host, &base, name, wanted);
        let begin = Begun { vm: Some(wanted.vm.clone()), ..Default::default() };
        match make_whole(host, probe, &base, begin, plan, interrupted) {
            Err(refusal) if tries < TRIES && TAKEN.iter().any(|taken| refusal.to_string().contains(taken)) => {}
            made => return made,
        }
    }
}

/// The things of a guest, in the order in which they are made, and how it is reached then.
fn plan(host: &dyn Host, base: &str, name: &str, wanted: &Checked) -> Plan {
    let token = token();
    let inside = inside(base, &token);
    let home = format!("{inside}/vm");
    let of_server = |thing| Thing::Server(thing);
    let file = |name: &str, contents: &str| {
        of_server(OfServer::ServerFile(Written::new(format!("{home}/{name}"), contents.to_owned())))
    };
    let step = |words: Vec<String>| of_server(OfServer::ServerStep(Step::new(&home, words)));
    let mut things =
        vec![Thing::Basic(Basic::Directory { path: inside.clone() }), of_server(OfServer::Home(Home::new(&home)))];
    things.extend(image::things(&wanted.image, &wanted.kept, &home));
    let port = free_ports(host, &token, 1).first().copied().unwrap_or_default();
    let tap = (wanted.vm.network == Network::Tap).then(|| Tap::of(&token));
    let ssh_config = format!(
        "Host {}\nHostName 127.0.0.1\nPort {port}\nUser root\nIdentityFile {home}/key\nIdentitiesOnly yes\nIdentityAgent none\n\
         UserKnownHostsFile {home}/known_hosts\nGlobalKnownHostsFile /dev/null\nHostKeyAlias guest\nStrictHostKeyChecking yes\nBatchMode yes\n\
         LogLevel ERROR\n",
        address(name)
    );
    things.extend([file(SSH_CONFIG, &ssh_config), file("make-guest.sh", MAKE_GUEST)]);
    things.extend(tap.as_ref().map(|tap| file(&format!("seed/{NETWORK_OF_GUEST}"), &tap.of_guest())));
    let made = wanted.vm.disks.iter().enumerate().filter_map(|(number, disk)| Some((number, disk, disk.size?)));
    let made = made.flat_map(|(number, disk, size)| [disk_file(number), disk.format.to_string(), size.0.to_string()]);
    let words = ["sh", "make-guest.sh", &wanted.kept.directory].map(str::to_owned).into_iter().chain(made);
    things.push(step(words.collect()));
    let (cgroups, counters) = Hierarchies::of(host).group(&format!("stend-{name}-{token}-vm"));
    if !cgroups.is_empty() {
        things.push(Thing::Cgroups(Groups { paths: cgroups.clone(), confined: None }));
    }
    let host_address = tap.as_ref().map(|tap| tap.host.clone());
    let power = Power {
        name,
        home: &home,
        vm: &wanted.vm,
        architecture: wanted.image.architecture,
        image: &wanted.kept.directory,
        luns: &wanted.luns,
        port,
        tap,
        cgroups,
    };
    things.extend(power.things());
    let (image, architecture) = (wanted.kept.name.clone(), wanted.image.architecture);
    let ssh_config = format!("{home}/{SSH_CONFIG}");
    let (pid_file, screen) = (format!("{home}.pid"), Some(format!("{home}/{SCREEN}")));
    let guest = Guest { image, architecture, ssh_config, pid_file, counters, screen, host_address };
    Plan { things, up: Up { guest: Some(guest), ..Up::default() }, behind_loops: false }
}

fn disk_file(number: usize) -> String {
    format!("disk{number}")
}

/// A guest as it is switched on, for the first time or again.
struct Power<'a> {
    name: &'a str,
    /// Its directory.
    home: &'a str,
    vm: &'a Vm,
    architecture: Architecture,
    /// The image's directory.
    image: &'a str,
    /// Where those of its disks lie that are LUNs.
    luns: &'a [Option<String>],
    /// By which ssh reaches it.
    port: u16,
    tap: Option<Tap>,
    cgroups: Vec<String>,
}

impl Power<'_> {
    /// What there is of a guest only while it is on.
    fn things(&self) -> Vec<Thing> {
        let Self { name, home, vm, tap, .. } = self;
        let ssh_config = format!("{home}/{SSH_CONFIG}");
        let ready = tap.as_ref().map_or("true".to_owned(), |tap| format!("grep -qF {} /proc/net/fib_trie", tap.guest));
        let ready = ["ssh", "-F", &ssh_config, "-o", "ConnectTimeout=10", &address(name), &ready].map(str::to_owned);
        let mut things = vec![OfServer::Daemon(Daemon {
            home: (*home).to_owned(),
            signal: "TERM".into(),
            words: self.command(),
            ready: ready.to_vec(),
            patience: PATIENCE,
            console: Some(CONSOLE),
            cgroups: self.cgroups.clone(),
            ports: Vec::new(),
            under: Vec::new(),
            restarts: false,
        })];
        let step = |words: Vec<String>| OfServer::ServerStep(Step::new(home, words));
        if let Some(Tap { device, host, .. }) = tap {
            things.push(step(["sh", "-c", CONNECT, "sh", device, &format!("{host}/30")].map(str::to_owned).to_vec()));
        }
        let disks = vm.disks.iter().enumerate();
        let mounts = disks
            .filter_map(|(number, disk)| Some(format!("mount_disk {} {}", disk_file(number), disk.mount.as_ref()?)));
        let mounts: Vec<_> = mounts.collect();
        if !mounts.is_empty() {
            let script = format!("{MOUNT_DISK}{}", mounts.join("\n"));
            let words = ["sh", "-c", REACH, "sh", "-F", &ssh_config, &address(name), &script].map(str::to_owned);
            things.push(step(words.to_vec()));
        }
        things.into_iter().map(Thing::Server).collect()
    }

    /// How QEMU is started, in the guest's directory.
    fn command(&self) -> Vec<String> {
        let Self { name, vm, architecture, image, luns, port, tap, .. } = self;
        let architecture = *architecture;
        let accelerator = vm.accelerator.unwrap_or(Accelerator::Tcg);
        let processor = match accelerator {
            Accelerator::Kvm => "host",
            Accelerator::Tcg => "max",
        };
        let console = match architecture {
            Architecture::Amd64 => "ttyS0",
            Architecture::Arm64 => "ttyAMA0",
        };
        let machine = machine(vm.machine.as_deref(), architecture);
        let title = format!("stend-{name}");
        let words = [qemu(architecture), "-name", &title, "-nodefaults", "-no-user-config", "-no-reboot"];
        let mut words: Vec<String> = words.map(str::to_owned).to_vec();
        let mut option = |name: &str, value: String| words.extend([name.to_owned(), value]);
        option("-display", format!("vnc=unix:{SCREEN}"));
        // The kernels of Debian's images for other architectures show nothing on one.
        if architecture == Architecture::Amd64 {
            option("-device", "VGA".into());
        }
        // The guest is somebody else's program.
        option("-sandbox", "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny".into());
        option("-machine", format!("{machine},accel={accelerator}"));
        option("-cpu", processor.into());
        option("-smp", vm.cpus.to_string());
        option("-m", format!("{}M", vm.memory.0 >> 20));
        option("-kernel", format!("{}/kernel", image));
        option("-initrd", format!("{}/initrd", image));
        option("-append", format!("root=/dev/vda rw console=tty0 console={console} panic=-1 systemd.hostname={name}"));
        option("-chardev", format!("file,id=console,path={CONSOLE}"));
        option("-serial", "chardev:console".into());
        option("-qmp", format!("unix:{MONITOR},server=on,wait=off"));
        option("-device", "virtio-rng-pci".into());
        option("-drive", "id=system,file=system.qcow2,format=qcow2,if=none,cache=writeback".into());
        option("-device", "virtio-blk-pci,drive=system,serial=stend-system".into());
        option("-drive", "id=seed,file=seed.tar,format=raw,if=none,readonly=on".into());
        option("-device", format!("virtio-blk-pci,drive=seed,serial={}", image::SEED));
        for (number, (disk, lun)) in vm.disks.iter().zip(*luns).enumerate() {
            let file = lun.clone().unwrap_or_else(|| disk_file(number));
            let (format, cache, id) = (disk.format, disk.cache, disk_file(number));
            option("-drive", format!("id={id},file={},format={format},if=none,cache={cache}", file.replace(',', ",,")));
            let thread = if disk.iothread { format!(",iothread=thread{number}") } else { String::new() };
            if disk.iothread {
                option("-object", format!("iothread,id=thread{number}"));
            }
            match disk.bus {
                Bus::VirtioBlk => option("-device", format!("virtio-blk-pci,drive={id},serial=stend-{id}{thread}")),
                Bus::VirtioScsi => {
                    option("-device", format!("virtio-scsi-pci,id=scsi{number}{thread}"));
                    option("-device", format!("scsi-hd,drive={id},bus=scsi{number}.0,serial=stend-{id}"));
                }
            }
        }
        option("-device", "virtio-serial-pci".into());
        // What is in the guest reaches nothing outside, but for the host by the tap device.
        let network = match (vm.network, tap) {
            (Network::User, _) => Some(format!("user,id=net,restrict=on,hostfwd=tcp:127.0.0.1:{port}-:22")),
            (_, Some(Tap { device, .. })) => Some(format!("tap,id=net,ifname={device},script=no,downscript=no")),
            (_, None) => None,
        };
        if let Some(network) = network {
            option("-netdev", network);
            option("-device", "virtio-net-pci,netdev=net,romfile=".into());
        }
        if vm.network != Network::User {
            option("-chardev", format!("socket,id=ssh,host=127.0.0.1,port={port},server=on,wait=off"));
            option("-device", format!("virtserialport,chardev=ssh,name={}", image::SSH_PORT));
        }
        option("-chardev", "socket,id=agent,path=agent.sock,server=on,wait=off".into());
        option("-device", "virtserialport,chardev=agent,name=org.qemu.guest_agent.0".into());
        words
    }
}

/// The ledger of the guest of this name, and the guest.
fn standing_guest(host: &dyn Host, work: &str, name: &str) -> Result<(Ledger, Guest), Refusal> {
    let ledger = super::read(host, work, name)?.unwrap_or_default();
    let guest = of_this_boot(host, &ledger).ok_or_else(|| Misuse::NoGuest { name: name.into() })?;
    Ok((ledger, guest))
}

/// Presses the guest's power button, and waits until it has shut down. What is on its disks stays.
///
/// # Errors
/// It is none, or off; it does not shut down; or the user interrupted it.
pub fn shut_down(host: &dyn Host, work: &str, name: &str, interrupted: &dyn Fn() -> bool) -> Result<(), Refusal> {
    let (ledger, guest) = standing_guest(host, work, name)?;
    if !guest.runs(host) {
        return Err(Misuse::GuestIsOff { name: name.into() }.into());
    }
    let unasked = |why| Obstacle::Unasked { name: name.into(), why };
    let (began, mut pressed) = (Instant::now(), None);
    while guest.runs(host) {
        // A guest that is booting does not notice.
        if pressed.is_none_or(|at: Instant| at.elapsed() >= PRESS_AGAIN) {
            let asked = monitor::press_power_button(guest.home());
            // One that was asked before may be ending.
            if pressed.is_none() {
                asked.map_err(unasked)?;
            }
            pressed = Some(Instant::now());
        }
        if interrupted() {
            return Err(Refusal::Interrupted);
        }
        if began.elapsed() > LONGEST_SHUT_DOWN {
            let minutes = LONGEST_SHUT_DOWN.as_secs() / 60;
            return Err(Obstacle::DoesNotShutDown { name: name.into(), minutes }.into());
        }
        std::thread::sleep(LOOK);
    }
    let path = ledger_of(host, work, name)?;
    ledger.daemon().map_or(Ok(()), |daemon| ended(host, &path, daemon))
}

/// Starts a guest that is off, on its disks as they are, and waits until ssh reaches it.
///
/// # Errors
/// It is none, or runs; it does not boot; or the user interrupted it. It is off then.
pub fn start(
    host: &dyn Host,
    probe: &str,
    work: &str,
    name: &str,
    interrupted: &dyn Fn() -> bool,
) -> Result<(), Refusal> {
    let (ledger, guest) = standing_guest(host, work, name)?;
    if guest.runs(host) {
        return Err(Misuse::GuestRuns { name: name.into() }.into());
    }
    let Some((daemon, vm)) = ledger.daemon().cloned().zip(ledger.begun.vm) else {
        return Err(Misuse::NoGuest { name: name.into() }.into());
    };
    image::check(host, work, &guest.image)?;
    memory(host, vm.memory.0)?;
    let luns: Vec<_> = vm.disks.iter().map(|disk| lun(host, work, disk)).collect::<Result<_, _>>()?;
    let ssh_config = host.read_text(&guest.ssh_config)?;
    let port = ssh_config.lines().find_map(|line| line.strip_prefix("Port ")?.parse().ok()).unwrap_or_default();
    let token = daemon.home.rsplit('/').nth(1).unwrap_or_default();
    let power = Power {
        name,
        home: &daemon.home,
        vm: &vm,
        architecture: guest.architecture,
        image: &image::directory(work, &guest.image),
        luns: &luns,
        port,
        tap: (vm.network == Network::Tap).then(|| Tap::of(token)),
        cgroups: daemon.cgroups.clone(),
    };
    let path = ledger_of(host, work, name)?;
    ended(host, &path, &daemon)?;
    let mut things = power.things().into_iter();
    things.try_for_each(|thing| super::make_one(host, probe, &path, &thing, interrupted).map(drop)).inspect_err(|_| {
        // What was said first is what went wrong.
        let _ = ended(host, &path, &daemon);
    })
}

fn ledger_of(host: &dyn Host, work: &str, name: &str) -> Result<String, Refusal> {
    let base = super::directory_of(host, work, name)?.unwrap_or_else(|| base(work, name));
    Ok(ledger::standing(&base))
}

/// Takes away what is left of a guest's QEMU.
fn ended(host: &dyn Host, ledger: &str, daemon: &Daemon) -> Result<(), Refusal> {
    let Some(command) = daemon.taking_away(ledger) else { return Ok(()) };
    host.run(&command)?;
    Ok(())
}

/// The guest of this name, if it stands.
///
/// # Errors
/// Its ledger cannot be read or understood.
pub fn guest(host: &dyn Host, work: &str, name: &str) -> Result<Option<Guest>, Refusal> {
    Ok(of_this_boot(host, &super::read(host, work, name)?.unwrap_or_default()))
}

/// The guest of a ledger, if it was set up since the machine was booted.
fn of_this_boot(host: &dyn Host, ledger: &Ledger) -> Option<Guest> {
    let here = ledger.begun.boot_id == super::boot_id(host);
    ledger.up.as_ref().and_then(|up| up.guest.clone()).filter(|_| here)
}

/// What a guest that stands is, and the processor and kernel of the machine that it runs on.
///
/// # Errors
/// There is none of this name, or the machine cannot be asked.
pub fn facts(host: &dyn Host, work: &str, name: &str) -> Result<BTreeMap<String, String>, Refusal> {
    let no_guest = || Misuse::NoGuest { name: name.into() };
    let vm = super::read(host, work, name)?.unwrap_or_default().begun.vm.ok_or_else(no_guest)?;
    let guest = guest(host, work, name)?.ok_or_else(no_guest)?;
    let process = host.read_text(&guest.pid_file)?;
    let program = format!("/proc/{}/exe", process.trim());
    let version = host.run(&Command::new([program.as_str(), "--version"]))?.text();
    let on = stend_stand::machine::collect(host, &[]);
    let mut facts = BTreeMap::from([
        ("image".to_owned(), guest.image),
        ("cpus".to_owned(), vm.cpus.to_string()),
        ("memory".to_owned(), vm.memory.to_string()),
        (
            "qemu".to_owned(),
            version.lines().next().unwrap_or_default().trim_start_matches("QEMU emulator version ").into(),
        ),
        ("host.processor".to_owned(), on.hardware.processor),
        ("host.kernel".to_owned(), on.software.kernel),
    ]);
    facts.extend(vm.accelerator.map(|accelerator| ("accelerator".to_owned(), accelerator.to_string())));
    facts.extend((vm.network != Network::User).then(|| ("network".to_owned(), vm.network.to_string())));
    facts.extend(vm.machine.map(|machine| ("machine".to_owned(), machine)));
    facts.extend(vm.disks.iter().enumerate().map(|(number, disk)| (disk_file(number), disk.to_string())));
    Ok(facts)
}

/// What a guest that stands shows on its screen, as a PNG.
///
/// # Errors
/// There is none of this name, it has no screen, or QEMU makes no picture.
pub fn picture(host: &dyn Host, work: &str, name: &str) -> Result<Vec<u8>, PictureError> {
    guest(host, work, name)?.ok_or_else(|| Refusal::from(Misuse::NoGuest { name: name.into() }))?.picture()
}

impl Guest {
    /// What it shows on its screen, as a PNG.
    ///
    /// # Errors
    /// It has no screen, or QEMU makes no picture.
    pub fn picture(&self) -> Result<Vec<u8>, PictureError> {
        self.screen.as_ref().ok_or(PictureError::NoScreen)?;
        Ok(monitor::picture(self.home())?)
    }

    /// Whether its QEMU runs.
    fn runs(&self, host: &dyn Host) -> bool {
        super::running(host, &self.pid_file).is_some()
    }

    /// Its directory.
    fn home(&self) -> &Path {
        Path::new(self.pid_file.trim_end_matches(".pid"))
    }
}

/// Why there is no picture of a guest's screen. One line.
#[derive(Debug, Error)]
pub enum PictureError {
    /// There is no such guest.
    #[error(transparent)]
    Refusal(#[from] Refusal),
    /// An older `stend` set it up.
    #[error("the virtual machine has no screen, because an older stend set it up; take it down and set it up again")]
    NoScreen,
    /// QEMU does not make it.
    #[error(transparent)]
    NoPicture(#[from] Unasked),
}

/// The configuration by which ssh reaches a guest that stands.
///
/// # Errors
/// There is none of this name, or it is no virtual machine.
pub fn ssh_config(host: &dyn Host, work: &str, name: &str) -> Result<String, Refusal> {
    let (_, guest) = standing_guest(host, work, name)?;
    if !guest.runs(host) {
        return Err(Misuse::GuestIsOff { name: name.into() }.into());
    }
    Ok(guest.ssh_config)
}
