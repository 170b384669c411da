//! Virtual machines: guests of QEMU, as a person describes each in TOML or by flags.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::text::{Complaint, in_file, in_flag, whole_mebibytes_of};
use super::{Mistake, TargetError};
use crate::position::{offset_of_key, plain};
use crate::quantity::Size;

const MEBIBYTE: u64 = 1 << 20;
const IMAGE: &str = "debian-12";
const CPUS: u32 = 2;
const MOST_CPUS: u32 = 255;
const MEMORY: Size = Size(1 << 30);
const LEAST_MEMORY: Size = Size(256 * MEBIBYTE);
/// Each has a slot of its own.
const MOST_DISKS: usize = 16;

/// A virtual machine, ready to be set up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Vm {
    /// The image that it boots from: one of `stend`'s, or the path of a TOML file.
    pub image: String,
    /// How many processors it has.
    pub cpus: u32,
    /// Its memory.
    pub memory: Size,
    /// What runs its processors. Known when the machine has been looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accelerator: Option<Accelerator>,
    /// The machine that QEMU shows it; the usual one of its architecture if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// What it is connected to.
    #[serde(default, skip_serializing_if = "Network::is_user")]
    pub network: Network,
    /// Disks beside the one that it boots from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disks: Vec<Disk>,
}

/// A disk of a virtual machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Disk {
    /// The size of one that is made for it, in whole MiB. Either this or `from` is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<Size>,
    /// A LUN of a storage rig that stands, as RIG/lun0: the guest writes on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// How one that is made for it is written.
    #[serde(default, skip_serializing_if = "Format::is_raw")]
    pub format: Format,
    /// How the guest sees it.
    #[serde(default)]
    pub bus: Bus,
    /// What the host caches.
    #[serde(default)]
    pub cache: Cache,
    /// Whether a thread of its own does its I/O.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub iothread: bool,
    /// The directory of the guest where it is mounted, with an ext4 that is made on it. Default: nothing is done with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mount: Option<String>,
}

/// What a guest is connected to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Network {
    /// To QEMU, which passes on connections from the host to its ssh, and nothing else.
    #[default]
    User,
    /// To nothing: it has no network card, and ssh reaches it by a serial port.
    None,
    /// To its host alone, by a network card and a tap device. ssh reaches it by a serial port, so the card carries nothing but the load.
    Tap,
}

impl Network {
    fn is_user(&self) -> bool {
        *self == Self::User
    }
}

/// What runs the guest's processors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Accelerator {
    /// The processor itself, by the kernel.
    Kvm,
    /// QEMU, which translates its code: it shows that something works, and not what it costs.
    Tcg,
}

/// How a guest sees a disk.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Bus {
    /// As a device of its own: `/dev/vdb`.
    #[default]
    VirtioBlk,
    /// As a disk of a SCSI controller of its own: `/dev/sda`.
    VirtioScsi,
}

/// How the host caches a disk, by QEMU's names.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Cache {
    /// The host caches nothing; the disk's own cache is used.
    #[default]
    None,
    /// The host caches, and writes out when the guest says so.
    Writeback,
    /// The host caches what is read, and each write is on the disk when it ends.
    Writethrough,
    /// Nobody caches.
    Directsync,
    /// The host caches, and does not write out when the guest says so: data are lost when the host fails.
    Unsafe,
}

/// How a file that is a disk is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// As it is.
    #[default]
    Raw,
    /// QEMU's own format, which has snapshots.
    Qcow2,
}

impl Format {
    fn is_raw(&self) -> bool {
        *self == Self::Raw
    }
}

/// What the file says that it describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum VmKind {
    /// A virtual machine.
    Vm,
}

/// A virtual machine's description. Every key may be left out but `kind`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "A virtual machine of stend")]
pub struct VmText {
    /// That it is a virtual machine.
    pub kind: Option<VmKind>,
    /// The image that it boots from: one of `stend`'s, or the path of a TOML file. Default debian-12.
    pub image: Option<String>,
    /// How many processors it has. Default 2.
    #[schemars(range(min = 1, max = 255))]
    pub cpus: Option<u32>,
    /// Its memory, in whole MiB, at least 256MiB. Default 1GiB.
    pub memory: Option<Size>,
    /// What runs its processors. Default: KVM where it works, else TCG, which is an emulator.
    pub accelerator: Option<Accelerator>,
    /// The machine that QEMU shows it, such as q35 or virt. Default: the usual one of its architecture.
    pub machine: Option<String>,
    /// What it is connected to. Default user: a network of QEMU's own, which reaches nothing outside.
    pub network: Option<Network>,
    /// Disks beside the one that it boots from.
    #[schemars(length(max = 16))]
    pub disk: Option<Vec<Disk>>,
}

impl VmText {
    /// Whether a text says that it describes a virtual machine.
    pub fn is_meant(text: &str) -> bool {
        toml::from_str::<toml::Table>(text)
            .is_ok_and(|table| table.get("kind").and_then(toml::Value::as_str) == Some("vm"))
    }

    /// The machine of a file with flags over it. A mistake is told with the place where its key stands.
    ///
    /// # Errors
    /// It describes none, or one that cannot be.
    pub fn vm_of_file(text: &str, file: &str, flags: &Self) -> Result<Vm, TargetError> {
        let read: Self = toml::from_str(text).map_err(|error| {
            let offset = error.span().map_or(0, |span| span.start);
            in_file(text, file, offset, Mistake::Unread { said: plain(error.message()) })
        })?;
        let over = flags.clone();
        let merged = Self {
            kind: read.kind,
            image: over.image.or(read.image),
            cpus: over.cpus.or(read.cpus),
            memory: over.memory.or(read.memory),
            accelerator: over.accelerator.or(read.accelerator),
            machine: over.machine.or(read.machine),
            network: over.network.or(read.network),
            disk: over.disk.or(read.disk),
        };
        merged.checked().map_err(|(key, mistake)| match flags.keys().any(|given| given == key) {
            true => in_flag(key, mistake),
            false => in_file(text, file, offset_of_key(text, key), mistake),
        })
    }

    /// The machine of a description by flags alone.
    ///
    /// # Errors
    /// There can be none.
    pub fn vm(&self) -> Result<Vm, TargetError> {
        self.checked().map_err(|(key, mistake)| in_flag(key, mistake))
    }

    /// The keys that it gives.
    pub fn keys(&self) -> impl Iterator<Item = &'static str> {
        let given = [
            ("image", self.image.is_some()),
            ("cpus", self.cpus.is_some()),
            ("memory", self.memory.is_some()),
            ("accelerator", self.accelerator.is_some()),
            ("machine", self.machine.is_some()),
            ("network", self.network.is_some()),
            ("disk", self.disk.is_some()),
        ];
        given.into_iter().filter(|(_, given)| *given).map(|(key, _)| key)
    }

    /// The machine, or the key of which something is wrong.
    pub(crate) fn checked(&self) -> Result<Vm, Complaint> {
        let cpus = self.cpus.unwrap_or(CPUS);
        if !(1..=MOST_CPUS).contains(&cpus) {
            return Err(("cpus", Mistake::OutOfBounds { value: cpus, least: 1, most: MOST_CPUS }));
        }
        let memory = whole_mebibytes_of("memory", self.memory.unwrap_or(MEMORY))?;
        if memory < LEAST_MEMORY {
            return Err(("memory", Mistake::LittleMemory { size: memory, least: LEAST_MEMORY }));
        }
        if let Some(machine) = self.machine.as_ref().filter(|machine| !is_machine(machine)) {
            return Err(("machine", Mistake::NoMachine(machine.clone())));
        }
        let disks = self.disk.clone().unwrap_or_default();
        if disks.len() > MOST_DISKS {
            return Err(("disk", Mistake::ManyDisks { disks: disks.len(), most: MOST_DISKS }));
        }
        disks.iter().try_for_each(Disk::check).map_err(|mistake| ("disk", mistake))?;
        let (accelerator, machine) = (self.accelerator, self.machine.clone());
        let image = self.image.clone().unwrap_or_else(|| IMAGE.into());
        let network = self.network.unwrap_or_default();
        Ok(Vm { image, cpus, memory, accelerator, machine, network, disks })
    }
}

/// Whether QEMU takes a text as the name of a machine, and as nothing more.
fn is_machine(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "-.".contains(c))
}

impl Disk {
    fn check(&self) -> Result<(), Mistake> {
        if let Some(mount) = self.mount.as_ref().filter(|mount| !is_mount_point(mount)) {
            return Err(Mistake::NoMountPoint(mount.clone()));
        }
        match (self.size, &self.from) {
            (Some(size), None) => whole_mebibytes_of("disk", size).map(drop).map_err(|(_, mistake)| mistake),
            (None, Some(from)) if lun_of(from).is_none() => Err(Mistake::NoLun(from.clone())),
            (None, Some(_)) if self.format != Format::Raw => Err(Mistake::LunHasNoFormat),
            (None, Some(_)) => Ok(()),
            (None, None) | (Some(_), Some(_)) => Err(Mistake::SizeOrFrom),
        }
    }

    /// The rig and the number of the LUN that it is, if it is one.
    pub fn lun(&self) -> Option<(&str, usize)> {
        lun_of(self.from.as_deref()?)
    }
}

/// Whether a text is a directory below the root, and cannot be mistaken for anything else by a shell.
fn is_mount_point(text: &str) -> bool {
    let is_name = |name: &str| {
        name.starts_with(|c: char| c.is_ascii_alphanumeric())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
    };
    text.strip_prefix('/').is_some_and(|names| names.split('/').all(is_name))
}

/// `RIG/lun3`.
fn lun_of(text: &str) -> Option<(&str, usize)> {
    let (rig, lun) = text.split_once('/')?;
    let number = lun.strip_prefix("lun")?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    Some((rig, number.parse().ok().filter(|_| is_number && !rig.is_empty())?))
}

/// As `--disk` takes it: `size=1GiB,bus=virtio-scsi,cache=none,iothread=true`.
impl FromStr for Disk {
    type Err = Mistake;

    fn from_str(text: &str) -> Result<Self, Mistake> {
        let unread = |said: String| Mistake::Unread { said };
        let mut table = toml::Table::new();
        for part in text.split(',') {
            let Some((key, value)) = part.split_once('=') else {
                return Err(unread(format!("\"{part}\" has no =; a disk is written like size=1GiB,bus=virtio-scsi")));
            };
            let value = value.parse().map_or_else(|_| toml::Value::from(value), toml::Value::Boolean);
            if table.insert(key.to_owned(), value).is_some() {
                return Err(Mistake::Twice(key.to_owned()));
            }
        }
        let disk: Self = table.try_into().map_err(|error: toml::de::Error| unread(plain(error.message())))?;
        disk.check().map(|()| disk)
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::User => "user",
            Self::None => "none",
            Self::Tap => "tap",
        })
    }
}

impl fmt::Display for Accelerator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Kvm => "kvm",
            Self::Tcg => "tcg",
        })
    }
}

impl fmt::Display for Bus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::VirtioBlk => "virtio-blk",
            Self::VirtioScsi => "virtio-scsi",
        })
    }
}

impl fmt::Display for Cache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "none",
            Self::Writeback => "writeback",
            Self::Writethrough => "writethrough",
            Self::Directsync => "directsync",
            Self::Unsafe => "unsafe",
        })
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Raw => "raw",
            Self::Qcow2 => "qcow2",
        })
    }
}

impl fmt::Display for Disk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.size, &self.from) {
            (Some(size), _) => write!(f, "{size}")?,
            (None, from) => f.write_str(from.as_deref().unwrap_or_default())?,
        }
        f.write_str(if self.format.is_raw() { "" } else { " qcow2" })?;
        write!(f, " {} cache={}", self.bus, self.cache)?;
        f.write_str(if self.iothread { " iothread" } else { "" })?;
        self.mount.iter().try_for_each(|mount| write!(f, " at {mount}"))
    }
}

/// The machine in a line: `debian-12, 2 processors, 1GiB, tcg, disk 1GiB virtio-blk cache=none`.
impl fmt::Display for Vm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let s = if self.cpus == 1 { "" } else { "s" };
        write!(f, "{}, {} processor{s}, {}", self.image, self.cpus, self.memory)?;
        self.accelerator.iter().try_for_each(|accelerator| write!(f, ", {accelerator}"))?;
        if !self.network.is_user() {
            write!(f, ", network {}", self.network)?;
        }
        self.disks.iter().try_for_each(|disk| write!(f, ", disk {disk}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_go_over_the_file_and_mistakes_are_told_where_they_stand() {
        let text = "kind = \"vm\"\ncpus = 0\nmemory = \"2GiB\"\n";
        let flags = |text: &str| toml::from_str::<VmText>(text).unwrap();
        let vm = VmText::vm_of_file(text, "vm.toml", &flags("cpus = 4")).unwrap();
        assert_eq!((vm.cpus, vm.memory, vm.image.as_str()), (4, Size(2 << 30), "debian-12"));
        for (flagged, said) in [
            ("", "vm.toml:2:1: it is 0; it may be 1 to 255"),
            ("cpus = 1\nmemory = \"100MiB\"", "--memory: 100MiB is less than 256MiB"),
            ("cpus = 1\nmachine = \"q35,accel=xen\"", "--machine: \"q35,accel=xen\""),
            ("cpus = 1\n[[disk]]\nbus = \"virtio-blk\"", "--disk: "),
            ("cpus = 1\n[[disk]]\nfrom = \"/dev/sda\"", "--disk: \"/dev/sda\""),
        ] {
            let error = VmText::vm_of_file(text, "vm.toml", &flags(flagged)).unwrap_err().to_string();
            assert!(error.starts_with(said), "{error}");
        }
        let error = VmText::vm_of_file("kind = \"vm\"\n[[disk]]\nsize = 1\n", "vm.toml", &flags("")).unwrap_err();
        assert!(error.to_string().starts_with("vm.toml:2:1: 1 is less than 1MiB"), "{error}");
    }

    #[test]
    fn a_disk_is_a_flag_too() {
        let disk: Disk = "size=1GiB,bus=virtio-scsi,iothread=true".parse().unwrap();
        assert_eq!(disk.to_string(), "1GiB virtio-scsi cache=none iothread");
        let lun: Disk = "from=pool/lun3".parse().unwrap();
        assert_eq!(lun.lun(), Some(("pool", 3)));
        assert_eq!(
            "size=1GiB,mount=/srv/a".parse::<Disk>().unwrap().to_string(),
            "1GiB virtio-blk cache=none at /srv/a"
        );
        for mount in ["srv", "/", "/srv/../etc", "/srv/a b", "/srv/$x", "/srv/", "/-o"] {
            format!("size=1GiB,mount={mount}").parse::<Disk>().unwrap_err();
        }
        for text in ["1GiB", "size=1GiB,size=2GiB", "size=1GiB,bus=ide", "size=1GiB,from=pool/lun0", "from=pool/lun+1"]
        {
            text.parse::<Disk>().unwrap_err();
        }
    }
}
