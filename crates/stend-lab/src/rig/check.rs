//! Before anything is made: whether this machine can have the target, and nobody's data are lost by it.

use std::collections::BTreeMap;

use stend_model::quantity::Size;
use stend_model::target::{Disks, Medium, Storage, Target, TargetOfRun, Transport, Where};

use super::refusal::{ForRoot, Misuse, Obstacle, Refusal};
use super::transport::known;
use super::{Needs, ability, by_front, control_socket, inside, real_path, socket};
use stend_stand::host::{Command, Host};

pub(super) const MEBIBYTE: u64 = 1 << 20;
/// The longest path of a Unix socket, without the byte that ends it.
pub(super) const LONGEST_SOCKET: usize = 107;
/// A RAM disk may take so much of the memory that is available, in percent: what is measured needs the rest.
pub(super) const MOST_OF_MEMORY: u64 = 80;

/// What a device says of itself.
const DEVICE: &str = r#"
PATH=$PATH:/usr/sbin:/sbin
device=$1
[ -b "$device" ] || exit 3
real=$(readlink -f "$device")
name=${real##*/}
echo "real=$real"
echo "size=$(blockdev --getsize64 "$device")"
serial=$(lsblk -dno SERIAL "$device" 2>/dev/null)
[ -n "$serial" ] || serial=$(cat "/sys/class/block/$name/loop/backing_file" 2>/dev/null)
echo "serial=$serial"
echo "mounted=$(lsblk -nro MOUNTPOINT "$device" 2>/dev/null | grep -m 1 .)"
parts=$name
for at in /sys/class/block/"$name"/*/partition; do
    at=${at%/partition}
    [ ! -e "$at" ] || parts="$parts ${at##*/}"
done
used=
for part in $parts; do
    for at in /sys/class/block/"$part"/holders/*; do [ ! -e "$at" ] || used="by ${at##*/}"; done
    for at in /sys/fs/btrfs/*/devices/"$part"; do [ ! -e "$at" ] || used="by a mounted btrfs"; done
    grep -qs "^/dev/$part " /proc/swaps && used="as swap space"
    # What belongs to one of these may be in use without a trace in /sys.
    kind=$(blkid -p -s TYPE -o value "/dev/$part" 2>/dev/null)
    case $kind in *_member) used="$part is a $kind" ;; esac
done
# Whatever else holds it, such as a mount that only other processes see: then nobody can open it exclusively, as this does
# before it would write, and with --no-act it writes nothing.
if [ -z "$used" ]; then
    said=$(LC_ALL=C wipefs --no-act --all "$device" 2>&1 >/dev/null)
    case $said in *" busy"*) used="by somebody whom the kernel does not name" ;; esac
fi
echo "used=$used"
echo "type=$(blkid -p -s TYPE -o value "$device" 2>/dev/null)"
echo "table=$(blkid -p -s PTTYPE -o value "$device" 2>/dev/null)"
"#;

/// A device.
struct Device {
    /// Its own path, whatever it was called.
    real: String,
    size: u64,
    /// Its serial number; of a loop device the path of its file. Empty if it has none.
    serial: String,
    /// By whom it is in use.
    used: Option<String>,
    /// What lies on it.
    holds: Option<String>,
}

/// Checks a target. Gives it with its LUNs' size, and what it is made of.
pub(super) fn check(
    host: &dyn Host,
    work: &str,
    base: &str,
    target: Target,
    needs: &Needs,
) -> Result<TargetOfRun, Refusal> {
    needs_root(host, &target)?;
    let mut target = ability::settle(host, target)?;
    tools(host, &target, needs)?;
    ability::check_options(host, &target)?;
    let medium = match target.files() {
        Some((bytes, place)) => space(host, work, bytes.saturating_add(needs.bytes(&target)), place)?,
        None => Medium::Devices,
    };
    if let Some(Where::Directory(path)) = target.place_mut() {
        // The kernel names the file of a loop device by its path without links, and it is found again by that.
        *path = real_path(host, path)?;
        plain_path(path, "\"where\"")?;
    }
    if target.transport.has_controllers() {
        let (inside, last) = (inside(base, "any-token"), target.controllers.saturating_sub(1));
        // tgtd adds two characters.
        let control = format!("{}.0", control_socket(&inside, last));
        let longest = if target.transport == Transport::Iscsi { control } else { socket(&inside, last) };
        let longest = if needs.fronts { by_front(&longest) } else { longest };
        if longest.len() > LONGEST_SOCKET {
            return Err(Obstacle::LongSocket { path: longest }.into());
        }
    }
    plain_path(base, "STEND_WORK")?;
    let smallest = devices(host, &target)?;
    if let Some(smallest) = smallest {
        match (&target.storage, target.lun_size) {
            (Storage::Device { .. }, None) => target.lun_size = Some(Size(smallest / MEBIBYTE * MEBIBYTE)),
            (Storage::Device { devices }, Some(size)) if size.0 > smallest => {
                return Err(Misuse::SmallDevices { size, devices: devices.clone(), smallest }.into());
            }
            (Storage::Pool { disks: Disks::Devices(devices), layout, .. }, Some(size)) => {
                // The smallest disk decides how much of each can be used.
                let holds = smallest.saturating_mul(devices.len() as u64) / layout.copies();
                if size.0.saturating_mul(u64::from(target.luns)) > holds {
                    return Err(Misuse::SmallPool { luns: target.luns, size, layout: *layout, holds }.into());
                }
            }
            _ => {}
        }
    }
    let tools = ability::programs(host, &target)?;
    Ok(TargetOfRun { target, medium, tools, name: None })
}

/// Whether fio, mount and the URIs of exports take a path as it is.
fn plain_path(path: &str, set: &'static str) -> Result<(), Refusal> {
    match path.chars().find(|c| c.is_control() || c.is_whitespace() || ":$`\"'\\;#*?,&".contains(*c)) {
        Some(bad) => Err(Obstacle::BadPath { path: path.into(), bad, set }.into()),
        None => Ok(()),
    }
}

/// Whether fio can load it.
pub(super) fn check_load(host: &dyn Host, target: &Target) -> Result<(), Refusal> {
    if target.behind_nbd() {
        let engines = host.run(&Command::new(["fio", "--enghelp"])).map(|output| output.text()).unwrap_or_default();
        if !stend_instrument::has_engine(&engines, "nbd") {
            return Err(Obstacle::NoNbdEngine.into());
        }
    }
    Ok(())
}

fn needs_root(host: &dyn Host, target: &Target) -> Result<(), Refusal> {
    let why = match &target.storage {
        Storage::Pool { .. } => ForRoot::Pool,
        Storage::Device { .. } => ForRoot::Devices,
        Storage::File { r#where: Where::Tmpfs } => ForRoot::RamDisk,
        Storage::File { .. } => match known(target.transport).root_for {
            None => return Ok(()),
            Some(what) => ForRoot::Transport { transport: target.transport, what },
        },
    };
    let user = host.run(&Command::new(["id", "-u"])).map(|output| output.text()).unwrap_or_default();
    if user.trim() == "0" {
        return Ok(());
    }
    Err(Obstacle::NotRoot(why).into())
}

fn tools(host: &dyn Host, target: &Target, needs: &Needs) -> Result<(), Refusal> {
    let mut wanted = vec![("flock", "util-linux"), ("fallocate", "util-linux"), ("mountpoint", "util-linux")];
    if matches!(target.storage, Storage::Pool { .. }) {
        wanted.extend([("losetup", "mount"), ("mount", "mount")]);
    }
    if !target.devices().is_empty() {
        wanted.extend([("lsblk", "util-linux"), ("blkid", "util-linux"), ("wipefs", "util-linux")]);
    }
    if target.fill {
        wanted.push(("fio", "fio"));
    }
    if !needs.slow.is_empty() || needs.forgetful {
        wanted.extend([("nbdfuse", "libnbd-bin"), ("nbdkit", "nbdkit")]);
    }
    let script =
        r#"PATH=$PATH:/usr/sbin:/sbin; for program; do command -v "$program" >/dev/null || echo "$program"; done"#;
    let words = ["sh", "-c", script, "sh"].into_iter().chain(wanted.iter().map(|(program, _)| *program));
    let missing = host.run(&Command::new(words))?.text();
    if let Some((program, package)) = wanted.iter().find(|(program, _)| missing.lines().any(|line| line == *program)) {
        return Err(Obstacle::NoProgram { program, package }.into());
    }
    Ok(())
}

/// What files in this place lie on, if they fit.
pub(super) fn space(host: &dyn Host, work: &str, bytes: u64, place: &Where) -> Result<Medium, Refusal> {
    let directory = match place {
        Where::Tmpfs => {
            memory(host, bytes)?;
            return Ok(Medium::Memory);
        }
        Where::Work => work,
        Where::Directory(path) => path,
    };
    let script = r#"[ -d "$1" ] && [ -w "$1" ] || exit 3; df -B1 --output=fstype,avail "$1" | tail -n 1"#;
    let output = host.run(&Command::new(["sh", "-c", script, "sh", directory]))?;
    if output.exit == Some(3) {
        return Err(Misuse::NoDirectory { directory: directory.into() }.into());
    }
    let text = output.text();
    let mut fields = text.split_whitespace();
    let (Some(kind), Some(free)) = (fields.next(), fields.next().and_then(|free| free.parse::<u64>().ok())) else {
        return Err(Obstacle::SpaceUnknown { directory: directory.into(), said: text.trim().into() }.into());
    };
    if free < bytes {
        return Err(Obstacle::NoSpace { directory: directory.into(), free, bytes }.into());
    }
    if ["tmpfs", "ramfs"].contains(&kind) {
        memory(host, bytes)?;
        return Ok(Medium::Memory);
    }
    Ok(Medium::Files(kind.into()))
}

pub(super) fn memory(host: &dyn Host, bytes: u64) -> Result<(), Refusal> {
    let text = host.read_text("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let kibibytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    let Some(available) = kibibytes.map(|kibibytes| kibibytes << 10) else {
        return Err(Obstacle::MemoryUnknown.into());
    };
    let most = available / 100 * MOST_OF_MEMORY;
    if bytes <= most {
        return Ok(());
    }
    Err(Obstacle::NoMemory { bytes, available }.into())
}

/// The serial number that was typed and is of none of these.
fn unknown<'a>(target: &'a Target, serials: &[String]) -> Option<&'a String> {
    target.destructive.iter().find(|typed| !serials.contains(typed))
}

fn serials_of(host: &dyn Host, target: &Target) -> Result<Vec<String>, Refusal> {
    target.devices().iter().map(|path| device(host, path).map(|device| device.serial)).collect()
}

/// Checks that every device may be overwritten. Gives the size of the smallest.
pub(super) fn devices(host: &dyn Host, target: &Target) -> Result<Option<u64>, Refusal> {
    let mut smallest: Option<u64> = None;
    let mut serials = Vec::new();
    let mut paths = BTreeMap::new();
    for path in target.devices() {
        let device = device(host, path)?;
        if let Some(other) = paths.insert(device.real, path) {
            return Err(Misuse::SameDevice { one: other.into(), other: path.into() }.into());
        }
        let Device { holds, serial, .. } = device;
        if let Some(user) = device.used {
            return Err(Misuse::InUse { device: path.into(), user }.into());
        }
        if serial.is_empty() {
            return Err(Misuse::NoSerial { device: path.into(), holds }.into());
        }
        if !target.destructive.contains(&serial) {
            // One that is of no device of the target is this one's, mistyped.
            let typed = unknown(target, &serials_of(host, target)?).cloned();
            return Err(Misuse::Unconfirmed { device: path.into(), holds, typed }.into());
        }
        smallest = Some(smallest.map_or(device.size, |smallest| smallest.min(device.size)));
        serials.push(serial);
    }
    if let Some(typed) = unknown(target, &serials) {
        return Err(Misuse::UnknownSerial { typed: typed.clone(), devices: serials.len() }.into());
    }
    Ok(smallest)
}

fn device(host: &dyn Host, path: &str) -> Result<Device, Refusal> {
    let output = host.run(&Command::new(["sh", "-c", DEVICE, "sh", path]))?;
    if output.exit == Some(3) {
        return Err(Misuse::NoDevice { path: path.into() }.into());
    }
    let text = output.text();
    let said: BTreeMap<_, _> = text.lines().filter_map(|line| line.split_once('=')).collect();
    let of = |key: &str| said.get(key).map(|value| value.trim()).filter(|value| !value.is_empty());
    let Some(size) = of("size").and_then(|size| size.parse().ok()) else {
        return Err(Obstacle::SizeUnknown { path: path.into() }.into());
    };
    let mounted = of("mounted").map(|place| format!("mounted on {place}"));
    let table = of("table").map(|table| format!("a partition table ({table})"));
    Ok(Device {
        real: of("real").unwrap_or(path).into(),
        size,
        serial: of("serial").unwrap_or_default().into(),
        used: mounted.or_else(|| of("used").map(str::to_owned)),
        holds: of("type").map(str::to_owned).or(table),
    })
}
