//! Guests that are switched on and off.

use std::time::{Duration, Instant};

use stend_model::image::Architecture;
use stend_model::target::vm::{Accelerator, Bus, Network, Vm};
use stend_stand::host::Host;

use super::monitor::{MONITOR, Monitor, SCREEN, SYSTEM};
use super::transfer::{is_suspended, resume};
use super::{
    CONSOLE, PATIENCE, REACH, SSH_CONFIG, Standing, Tap, address, disk_file, lun, machine, qemu, standing_guest, waits,
};
use crate::rig::check::memory;
use crate::rig::servers::{Daemon, ON_CONSOLE, OfServer, Step};
use crate::rig::thing::{Made as _, Thing};
use crate::rig::{Misuse, Obstacle, Refusal, image, make_one};

/// A guest that has printed nothing for so long since it was asked does not shut down. Its services may end slowly, and its processors may be emulated.
const LONGEST_SHUT_DOWN: Duration = Duration::from_secs(10 * 60);
const PRESS_AGAIN: Duration = Duration::from_secs(5);
const LOOK: Duration = Duration::from_millis(200);

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

/// Looks whether ssh reaches a guest. One that is slow to boot is slow to answer too.
const TRY: &str = r#"exec ssh -o "ConnectTimeout=$LONGEST_LOOK" "$@""#;

/// A guest as it is switched on, for the first time or again.
pub(super) struct Power<'a> {
    pub(super) name: &'a str,
    /// Its directory.
    pub(super) home: &'a str,
    pub(super) vm: &'a Vm,
    pub(super) architecture: Architecture,
    /// The image's directory.
    pub(super) image: &'a str,
    /// Where those of its disks lie that are LUNs.
    pub(super) luns: &'a [Option<String>],
    /// By which ssh reaches it.
    pub(super) port: u16,
    pub(super) tap: Option<Tap>,
    pub(super) cgroups: Vec<String>,
    /// The snapshot whose memory it is to have; else it boots.
    pub(super) snapshot: Option<&'a str>,
}

impl Power<'_> {
    /// What there is of a guest only while it is on.
    pub(super) fn things(&self) -> Vec<Thing> {
        let Self { name, home, vm, tap, .. } = self;
        let ssh_config = format!("{home}/{SSH_CONFIG}");
        let ready = tap.as_ref().map_or("true".to_owned(), |tap| format!("grep -qF {} /proc/net/fib_trie", tap.guest));
        let ready = ["sh", "-c", TRY, "sh", "-F", &ssh_config, &address(name), &ready].map(str::to_owned);
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
        // What is in its memory is mounted already.
        if !mounts.is_empty() && self.snapshot.is_none() {
            let script = format!("{MOUNT_DISK}{}", mounts.join("\n"));
            let words =
                ["sh", "-c", REACH, "sh", &waits(), "-F", &ssh_config, &address(name), &script].map(str::to_owned);
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
        // On a busy host the emulator's timers come late, and the kernel of a guest that compares them with its own clock panics. Linux leaves that
        // out itself where it finds KVM.
        let timers = match architecture {
            Architecture::Amd64 => " no_timer_check",
            Architecture::Arm64 => "",
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
        let boots = format!("root=/dev/vda rw{timers} panic=-1 systemd.hostname={name}");
        option("-append", format!("{boots} console=tty0 console={console}"));
        option("-chardev", format!("file,id=console,path={ON_CONSOLE}"));
        option("-serial", "chardev:console".into());
        option("-qmp", format!("unix:{MONITOR},server=on,wait=off"));
        option("-device", "virtio-rng-pci".into());
        option("-drive", format!("id={SYSTEM},file=system.qcow2,format=qcow2,if=none,cache=writeback"));
        option("-device", format!("virtio-blk-pci,drive={SYSTEM},serial=stend-system"));
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
        if let Some(snapshot) = self.snapshot {
            option("-loadvm", snapshot.to_owned());
        }
        words
    }
}

/// Presses the guest's power button, and waits until it has shut down. What is on its disks stays.
///
/// # Errors
/// It is none, or off; it does not shut down; or the user interrupted it.
pub fn shut_down(host: &dyn Host, work: &str, name: &str, interrupted: &dyn Fn() -> bool) -> Result<(), Refusal> {
    let standing = standing_guest(host, work, name)?;
    let guest = &standing.guest;
    if !guest.runs(host) {
        return Err(Misuse::GuestIsOff { name: name.into() }.into());
    }
    let press = || Monitor::of(guest.home())?.press_power_button();
    let printed = || std::fs::metadata(guest.home().join(CONSOLE)).map_or(0, |console| console.len());
    let (mut last, mut since, mut pressed) = (printed(), Instant::now(), None);
    while guest.runs(host) {
        // A guest that is booting does not notice.
        if pressed.is_none_or(|at: Instant| at.elapsed() >= PRESS_AGAIN) {
            let asked = press();
            // One that was asked before may be ending.
            if pressed.is_none() {
                asked.map_err(|why| Obstacle::Unasked { name: name.into(), why })?;
            }
            pressed = Some(Instant::now());
        }
        if interrupted() {
            return Err(Refusal::Interrupted);
        }
        let now = printed();
        if now != last {
            (last, since) = (now, Instant::now());
        }
        if since.elapsed() > LONGEST_SHUT_DOWN {
            let minutes = LONGEST_SHUT_DOWN.as_secs() / 60;
            return Err(Obstacle::DoesNotShutDown { name: name.into(), minutes }.into());
        }
        std::thread::sleep(LOOK);
    }
    end(host, &standing)
}

/// Starts a guest that is off, on its disks as they are, and waits until ssh reaches it. One that was suspended goes on.
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
    let standing = standing_guest(host, work, name)?;
    if standing.guest.runs(host) {
        return Err(Misuse::GuestRuns { name: name.into() }.into());
    }
    match is_suspended(&standing) {
        true => resume(host, probe, work, &standing, interrupted),
        false => switch_on(host, probe, work, &standing, None, interrupted),
    }
}

/// Switches on a guest that is off, with the memory of a snapshot if one is named.
pub(super) fn switch_on(
    host: &dyn Host,
    probe: &str,
    work: &str,
    standing: &Standing,
    snapshot: Option<&str>,
    interrupted: &dyn Fn() -> bool,
) -> Result<(), Refusal> {
    let Standing { name, guest, vm, daemon, ledger } = standing;
    image::check(host, work, &guest.image)?;
    memory(host, vm.memory.0)?;
    let luns: Vec<_> = vm.disks.iter().map(|disk| lun(host, work, disk)).collect::<Result<_, _>>()?;
    let ssh_config = host.read_text(&guest.ssh_config)?;
    let port = ssh_config.lines().find_map(|line| line.strip_prefix("Port ")?.parse().ok()).unwrap_or_default();
    let power = Power {
        name,
        home: &daemon.home,
        vm,
        architecture: guest.architecture,
        image: &image::directory(work, &guest.image),
        luns: &luns,
        port,
        tap: (vm.network == Network::Tap).then(|| Tap::of(standing.token())),
        cgroups: daemon.cgroups.clone(),
        snapshot,
    };
    end(host, standing)?;
    let mut things = power.things().into_iter();
    things.try_for_each(|thing| make_one(host, probe, ledger, &thing, interrupted).map(drop)).inspect_err(|_| {
        // What was said first is what went wrong.
        let _ = end(host, standing);
    })
}

/// Ends what is left of a guest's QEMU, if something is.
pub(super) fn end(host: &dyn Host, standing: &Standing) -> Result<(), Refusal> {
    let Some(command) = standing.daemon.taking_away(&standing.ledger) else { return Ok(()) };
    host.run(&command)?;
    Ok(())
}
