//! Virtual machines: a guest of QEMU that boots from an [image](super::image), reached by ssh at a port of the loopback interface.
//!
//! A guest lies in a directory of its own, as a [server](super::servers) does, and is taken away like one: its processes are those that work
//! there. Its disk is a layer on the image's, which it does not change.

mod monitor;
mod power;
mod snapshots;
mod transfer;

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use stend_model::image::{Architecture, Image};
use stend_model::target::Where;
use stend_model::target::vm::{Accelerator, Disk, Network, Vm};
use stend_stand::host::{BEFORE_TRIES_OF_GUEST, Command, Host, HostError};
use stend_stand::hosts::GUEST;
use thiserror::Error;

use super::ability::{Ability, Need, lack};
use super::basics::Basic;
use super::check::{memory, space};
use super::control_group::{Counters, Groups, Hierarchies};
use super::image::{self, Kept};
use super::ledger::{self, Begun, Ledger};
use super::plan::Plan;
use super::servers::{Daemon, Home, OfServer, Step, Written, free_ports};
use super::thing::Thing;
use super::{Misuse, Obstacle, Refusal, Said, Up, base, inside, make_whole, real_path, standing, take_down, token};

pub use self::monitor::Unasked;
pub use self::power::{shut_down, start};
pub(super) use self::snapshots::list as snapshots;
pub use self::snapshots::{Snapshot, forget, is_snapshot, keep, revert};
pub use self::transfer::{Arriving, arriving, send};

use self::monitor::{Monitor, SCREEN};
use self::power::Power;
use self::transfer::Received;

/// So often another port is tried where somebody else was faster.
const TRIES: usize = 3;
/// What QEMU says then, of a port that it passes on and of one of its own.
const TAKEN: [&str; 3] = ["host forwarding rule", "ddress already in use", "evice or resource busy"];
/// For so many tenths of a second a guest that is not ready may print nothing. One that boots says what it does.
const PATIENCE: u32 = 1800;
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
    architecture: Architecture,
    /// What its image is made of, if it has to be made.
    image: Option<Image>,
    kept: Kept,
    /// The directory of the guest whose disks it gets copies of.
    original: Option<String>,
    /// If it comes from another machine.
    received: Option<Received>,
    /// What its disks lie on that are LUNs, by their numbers.
    luns: Vec<Option<String>>,
}

impl Checked {
    /// Whether the image has to be made first, which takes minutes.
    pub fn makes_image(&self) -> bool {
        self.image.is_some()
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
image=$1 original=$2
shift 2
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
# Of a copy: what lies over the image, without the snapshots.
if [ -n "$original" ]; then
    qemu-img convert -O qcow2 -B "$image/disk.qcow2" -F qcow2 "$original/system.qcow2" system.qcow2
else
    qemu-img create -q -f qcow2 -b "$image/disk.qcow2" -F qcow2 system.qcow2
fi
while [ $# -gt 0 ]; do
    if [ -n "$original" ]; then
        qemu-img convert -f "$2" -O "$2" "$original/$1" "$1"
    else
        qemu-img create -q -f "$2" "$1" "$3"
    fi
    shift 3
done
"#;

/// Of one from another machine: its disk lies on the image where that is here.
const PUT_ON_IMAGE: &str = r#"qemu-img rebase -u -f qcow2 -b "$1/disk.qcow2" -F qcow2 system.qcow2"#;

/// ssh with all words but the first, which says how long is waited before each further try.
const REACH: &str = r#"waits=$1
shift
for wait in $waits 0; do
    ssh "$@" && exit || status=$?
    [ "$status" -eq 255 ] || exit "$status"
    sleep "$wait"
done
exit 255"#;

/// How long is waited before each further try to reach a guest, for [`REACH`].
fn waits() -> String {
    BEFORE_TRIES_OF_GUEST.map(|seconds| seconds.to_string()).join(" ")
}

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
    tap(host, vm.network)?;
    let kept = with_image(host, work, &vm.image, &image)?;
    let accelerator = accelerator(host, vm.accelerator, vm.machine.as_deref(), image.architecture)?;
    memory(host, vm.memory.0)?;
    let made = vm.disks.iter().filter_map(|disk| disk.size).map(|size| size.0).sum::<u64>();
    space(host, work, made.saturating_add(kept.takes(&image)), &Where::Work)?;
    let luns = vm.disks.iter().map(|disk| lun(host, work, disk)).collect::<Result<_, _>>()?;
    let (vm, architecture) = (Vm { accelerator: Some(accelerator), ..vm }, image.architecture);
    let image = Some(image).filter(|_| !kept.is_there);
    Ok(Checked { vm, architecture, image, kept, original: None, received: None, luns })
}

/// Checks whether the machine can have a guest like this one that is off, with a copy of each of its disks.
///
/// # Errors
/// It cannot; one line that says why, and what would be right.
pub fn check_copy(host: &dyn Host, work: &str, original: &str) -> Result<Checked, Refusal> {
    let Standing { guest, vm, daemon, .. } = standing_guest(host, work, original)?;
    if guest.runs(host) {
        let why = "its disks are copied when it is off".into();
        return Err(Misuse::GuestIsOn { name: original.into(), why }.into());
    }
    if let Some(disk) = first_lun(&vm) {
        return Err(Misuse::CloneOfLun { name: original.into(), disk }.into());
    }
    image::check(host, work, &guest.image)?;
    memory(host, vm.memory.0)?;
    let used = host.run(&Command::new(["du", "-s", "-B1", &daemon.home]))?;
    let used = used.text().split_whitespace().next().and_then(|bytes| bytes.parse().ok());
    space(host, work, used.unwrap_or_default(), &Where::Work)?;
    let directory = image::directory(work, &guest.image);
    let kept = Kept { name: guest.image, directory, is_there: true };
    let luns = vec![None; vm.disks.len()];
    let (architecture, original) = (guest.architecture, Some(daemon.home));
    Ok(Checked { vm, architecture, image: None, kept, original, received: None, luns })
}

/// A disk that is no file of the guest's own, if one is none.
fn first_lun(vm: &Vm) -> Option<String> {
    vm.disks.iter().find_map(|disk| disk.from.clone())
}

/// Whether guests can have a network with this host, if it is to be one.
fn tap(host: &dyn Host, network: Network) -> Result<(), Refusal> {
    if network != Network::Tap {
        return Ok(());
    }
    if let Some(missing) = lack(host, &TAP) {
        return Err(Obstacle::NoGuests { missing }.into());
    }
    match host.run(&Command::new(["test", "-w", "/dev/net/tun"]))?.exit {
        Some(0) => Ok(()),
        _ => Err(Obstacle::NoTap.into()),
    }
}

/// The image that guests on this machine lie on, which may have to be made first, if there is all that this takes.
fn with_image(host: &dyn Host, work: &str, name: &str, image: &Image) -> Result<Kept, Refusal> {
    let kept = image::kept(host, work, name, image)?;
    let of_image = (!kept.is_there).then_some(image::NEED);
    let needs = [need(image.architecture)].into_iter().chain(of_image);
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
    let kept = with_image(host, work, name, image)?;
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
    let architecture = of_processor(&here);
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

/// Whether KVM runs guests of this machine's own architecture.
pub(super) fn has_kvm(host: &dyn Host) -> bool {
    let here = processor(host).unwrap_or_default();
    let architecture = of_processor(&here);
    try_kvm(host, &here, architecture, machine(None, architecture)).is_ok()
}

fn of_processor(name: &str) -> Architecture {
    if name == "aarch64" { Architecture::Arm64 } else { Architecture::Amd64 }
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
    let mut token = token();
    if let Some(Received { network, .. }) = &wanted.received {
        token.replace_range(..network.len(), network);
    }
    let inside = inside(base, &token);
    let home = format!("{inside}/vm");
    let of_server = |thing| Thing::Server(thing);
    let file = |name: &str, contents: &str| {
        of_server(OfServer::ServerFile(Written::new(format!("{home}/{name}"), contents.to_owned())))
    };
    let step = |words: Vec<String>| of_server(OfServer::ServerStep(Step::new(&home, words)));
    let mut things =
        vec![Thing::Basic(Basic::Directory { path: inside.clone() }), of_server(OfServer::Home(Home::new(&home)))];
    things.extend(wanted.image.iter().flat_map(|image| image::things(image, &wanted.kept, &home)));
    let port = free_ports(host, &token, 1).first().copied().unwrap_or_default();
    let tap = (wanted.vm.network == Network::Tap).then(|| Tap::of(&token));
    let ssh_config = format!(
        "Host {}\nHostName 127.0.0.1\nPort {port}\nUser root\nIdentityFile {home}/key\nIdentitiesOnly yes\nIdentityAgent none\n\
         UserKnownHostsFile {home}/known_hosts\nGlobalKnownHostsFile /dev/null\nHostKeyAlias guest\nStrictHostKeyChecking yes\nBatchMode yes\n\
         LogLevel ERROR\n",
        address(name)
    );
    things.push(file(SSH_CONFIG, &ssh_config));
    if wanted.received.is_some() {
        things.push(step(["sh", "-c", PUT_ON_IMAGE, "sh", &wanted.kept.directory].map(str::to_owned).to_vec()));
    } else {
        things.push(file("make-guest.sh", MAKE_GUEST));
        things.extend(tap.as_ref().map(|tap| file(&format!("seed/{NETWORK_OF_GUEST}"), &tap.of_guest())));
        let made = wanted.vm.disks.iter().enumerate().filter_map(|(number, disk)| Some((number, disk, disk.size?)));
        let made =
            made.flat_map(|(number, disk, size)| [disk_file(number), disk.format.to_string(), size.0.to_string()]);
        let original = wanted.original.as_deref().unwrap_or_default();
        let words = ["sh", "make-guest.sh", &wanted.kept.directory, original].map(str::to_owned);
        things.push(step(words.into_iter().chain(made).collect()));
    }
    let (cgroups, counters) = Hierarchies::of(host).group(&format!("stend-{name}-{token}-vm"));
    if !cgroups.is_empty() {
        things.push(Thing::Cgroups(Groups { paths: cgroups.clone(), confined: None }));
    }
    let host_address = tap.as_ref().map(|tap| tap.host.clone());
    let power = Power {
        name,
        home: &home,
        vm: &wanted.vm,
        architecture: wanted.architecture,
        image: &wanted.kept.directory,
        luns: &wanted.luns,
        port,
        tap,
        cgroups,
        snapshot: wanted.received.as_ref().and_then(|received| received.snapshot),
    };
    things.extend(power.things());
    let (image, architecture) = (wanted.kept.name.clone(), wanted.architecture);
    let ssh_config = format!("{home}/{SSH_CONFIG}");
    let (pid_file, screen) = (format!("{home}.pid"), Some(format!("{home}/{SCREEN}")));
    let guest = Guest { image, architecture, ssh_config, pid_file, counters, screen, host_address };
    Plan { things, up: Up { guest: Some(guest), ..Up::default() }, behind_loops: false }
}

fn disk_file(number: usize) -> String {
    format!("disk{number}")
}

/// A guest that stands, with what its ledger says of it.
struct Standing {
    name: String,
    guest: Guest,
    vm: Vm,
    daemon: Daemon,
    /// The path of its ledger.
    ledger: String,
}

impl Standing {
    /// What the addresses of its network come from.
    fn token(&self) -> &str {
        self.daemon.home.rsplit('/').nth(1).unwrap_or_default()
    }
}

fn standing_guest(host: &dyn Host, work: &str, name: &str) -> Result<Standing, Refusal> {
    let no_guest = || Refusal::from(Misuse::NoGuest { name: name.into() });
    let base = super::directory_of(host, work, name)?.ok_or_else(no_guest)?;
    let ledger = ledger::read(host, &base)?.unwrap_or_default();
    let guest = of_this_boot(host, &ledger).ok_or_else(no_guest)?;
    let (daemon, vm) = ledger.daemon().cloned().zip(ledger.begun.vm).ok_or_else(no_guest)?;
    Ok(Standing { name: name.into(), guest, vm, daemon, ledger: ledger::standing(&base) })
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
    let Standing { guest, vm, .. } = standing_guest(host, work, name)?;
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
        Ok(Monitor::of(self.home())?.picture(self.home())?)
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
    let Standing { guest, .. } = standing_guest(host, work, name)?;
    if !guest.runs(host) {
        return Err(Misuse::GuestIsOff { name: name.into() }.into());
    }
    Ok(guest.ssh_config)
}

#[cfg(test)]
mod tests {
    use super::{REACH, waits};

    #[test]
    fn a_guest_that_ssh_does_not_reach_is_tried_for_over_a_minute() {
        let reached = |ssh: &str| {
            let script = format!("ssh() {{ {ssh}; }}\nsleep() {{ echo \"$1\"; }}\n{REACH}");
            let output = std::process::Command::new("sh").args(["-c", &script, "sh", &waits()]).output().unwrap();
            let slept: u64 =
                String::from_utf8(output.stdout).unwrap().lines().map(|line| line.parse::<u64>().unwrap()).sum();
            (output.status.code(), slept)
        };
        let (status, slept) = reached("return 255");
        assert!(status == Some(255) && slept > 60, "{status:?} {slept}");
        assert_eq!(reached("tries=$((tries + 1)); [ \"$tries\" -gt 5 ] || return 255"), (Some(0), slept));
        assert_eq!(reached("return 3"), (Some(3), 0), "what failed there is not tried again");
        assert_eq!(reached(":"), (Some(0), 0));
    }
}
