//! A target as a person writes it: TOML, flags, or flags over a file.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use toml::Spanned;

use super::{Disks, Kind, Layout, Manager, Mistake, Storage, Target, TargetError, Transport, Where, options};
use crate::position::{line_and_column, plain};
use crate::quantity::Size;

const MEBIBYTE: u64 = 1 << 20;
/// btrfs makes no file system on less than 109 MiB a disk.
pub(super) const LEAST_DISK: Size = Size(128 * MEBIBYTE);
pub(super) const MOST_DISKS: u32 = 64;
const MOST_LUNS: u32 = 256;
/// What fits into a pool whose disks are small, where btrfs's own chunks take the largest share: in hundredths.
const USABLE_SHARE: u64 = 60;

const DISKS: u32 = 12;
const DISK_SIZE: Size = Size(256 * MEBIBYTE);
const LUNS: u32 = 8;
const LUN_SIZE: Size = Size(64 * MEBIBYTE);
const CONTROLLERS: u32 = 2;
const MOST_THREADS: u32 = 256;

/// A target's description. Every key may be left out.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "A target of stend")]
pub struct TargetText {
    /// What the LUNs lie on. If not given it follows from the other keys: `disks`, `disk_size` or `layout` make a pool, `devices`
    /// alone makes a target of devices, anything else one of files.
    pub kind: Option<Kind>,
    /// Where files lie: an absolute path, or `tmpfs` for a RAM disk of their own. Default: the directory for runs' files.
    pub r#where: Option<String>,
    /// Block devices: the LUNs themselves, or the disks of a pool. They are overwritten, and only after their serial numbers were typed.
    #[schemars(length(min = 1, max = 64))]
    pub devices: Option<Vec<String>>,
    /// Of a pool: the number of its disks, which are files. Default 12.
    #[schemars(range(min = 2, max = 64))]
    pub disks: Option<u32>,
    /// Of a pool: the size of each of these, at least 128MiB. Default 256MiB.
    pub disk_size: Option<Size>,
    /// Of a pool: how the data are spread over the disks. Default raid10.
    pub layout: Option<Layout>,
    /// Of a pool: the volume manager that spreads the data. Default: the first of btrfs, md, lvm, zfs that the machine has.
    pub manager: Option<Manager>,
    /// How many LUNs there are. Default 8; with `kind = "device"` the number of devices.
    #[schemars(range(min = 1, max = 256))]
    pub luns: Option<u32>,
    /// The size of each, in whole MiB. Default: 64MiB of files; 60 % of a pool, shared out; a device's own size.
    pub lun_size: Option<Size>,
    /// Whether each LUN is written over once before it is loaded. Default true.
    pub fill: Option<bool>,
    /// Of a pool by btrfs: whether LUNs have checksums. Then they are copied on write. Default false.
    pub checksums: Option<bool>,
    /// How the LUNs reach the load. Default local.
    pub transport: Option<Transport>,
    /// With the transports nbd and iscsi: processes that export the LUNs, each its share. Default 2, or 1 where there is 1 LUN.
    #[schemars(range(min = 1, max = 256))]
    pub controllers: Option<u32>,
    /// With the transport nbd: threads of each controller's nbdkit for one connection. Default: nbdkit's own, 16.
    #[schemars(range(min = 1, max = 256))]
    pub threads: Option<u32>,
    /// With the transport nbd: nbdkit's filters, the first one nearest to the load, and their parameters: `["delay", "rdelay=1ms"]`.
    #[schemars(length(max = 16))]
    pub filters: Option<Vec<String>>,
    /// Of a pool by btrfs: mount options, such as `["commit=5", "ssd"]`. Without them `noatime` alone.
    #[schemars(length(max = 16))]
    pub mount_options: Option<Vec<String>>,
    /// Of a pool or of devices: the I/O scheduler of the disks, such as `none` or `mq-deadline`. Default: what the kernel gave them.
    #[schemars(length(min = 1, max = 32))]
    pub scheduler: Option<String>,
    /// With the transports nbd and iscsi: the processors of the controllers as the kernel writes them, `0-3,8`; or one such list for each
    /// controller, with a space between. Default: all.
    pub processors: Option<String>,
}

/// A key, and what is wrong with it.
pub(super) type Complaint = (&'static str, Mistake);

impl TargetText {
    /// Reads the text of a description. `file` is its name for messages.
    pub fn parse(text: &str, file: &str) -> Result<Self, TargetError> {
        toml::from_str(text).map_err(|error| {
            let offset = error.span().map_or(0, |span| span.start);
            in_file(text, file, offset, Mistake::Unread { said: plain(error.message()) })
        })
    }

    /// This description with another one's keys over its own.
    #[must_use]
    pub fn overlaid(self, over: &Self) -> Self {
        let over = over.clone();
        // Who asks for another transport by a flag need not edit the file's controllers away.
        let controllers = self.controllers.filter(|_| over.transport.is_none_or(Transport::has_controllers));
        let processors = self.processors.filter(|_| over.transport.is_none_or(Transport::has_controllers));
        let stays_nbd = over.transport.is_none_or(|transport| transport == Transport::Nbd);
        Self {
            kind: over.kind.or(self.kind),
            r#where: over.r#where.or(self.r#where),
            devices: over.devices.or(self.devices),
            disks: over.disks.or(self.disks),
            disk_size: over.disk_size.or(self.disk_size),
            layout: over.layout.or(self.layout),
            manager: over.manager.or(self.manager),
            luns: over.luns.or(self.luns),
            lun_size: over.lun_size.or(self.lun_size),
            fill: over.fill.or(self.fill),
            checksums: over.checksums.or(self.checksums),
            transport: over.transport.or(self.transport),
            controllers: over.controllers.or(controllers),
            threads: over.threads.or(self.threads.filter(|_| stays_nbd)),
            filters: over.filters.or(self.filters.filter(|_| stays_nbd)),
            mount_options: over.mount_options.or(self.mount_options),
            scheduler: over.scheduler.or(self.scheduler),
            processors: over.processors.or(processors),
        }
    }

    /// The description that settings of a side say: `layout` and `mirror`, `filters` and `delay,rdelay=1ms`.
    ///
    /// # Errors
    /// There is no such key, or it does not take the value.
    pub fn of_settings(settings: &BTreeMap<String, String>) -> Result<Self, TargetError> {
        let read = |key: &str, value: &Value| serde_json::from_value::<Self>(serde_json::json!({ key: value }));
        let mut keys = Map::new();
        for (key, value) in settings {
            let words = value.split(',').map(str::trim).filter(|word| !word.is_empty());
            let bare = serde_json::from_str::<Value>(value).ok();
            // As what it is meant follows from the key: text, a number or a word of TOML's, or a list.
            let meant = [bare, Some(words.map(Value::from).collect())].into_iter().flatten();
            let text = Some(Value::from(value.as_str())).filter(|_| !value.is_empty());
            let fits = |meant: &Value| read(key, meant).is_ok_and(|text| text != Self::default());
            let Some(meant) = text.into_iter().chain(meant).find(fits) else {
                let why = read(key, &Value::from(value.as_str())).err().filter(|_| !value.is_empty());
                let mistake = why.map_or(Mistake::NoValue, |error| Mistake::Unread { said: plain(&error.to_string()) });
                return Err(TargetError::InFlag { flag: format!("target.{key}={value}"), mistake });
            };
            keys.insert(key.clone(), meant);
        }
        Ok(serde_json::from_value(Value::Object(keys)).expect("each key of it was read"))
    }

    /// A mistake in a description with a side's settings over it: where it is in a key that the side sets, that setting is what is named.
    pub fn blame(settings: &BTreeMap<String, String>, error: TargetError) -> TargetError {
        let TargetError::InFlag { flag, mistake } = &error else { return error };
        let key = flag.trim_start_matches('-').replace('-', "_");
        match settings.get(&key) {
            Some(value) => {
                TargetError::InFlag { flag: format!("--ab: target.{key}={value}"), mistake: mistake.clone() }
            }
            None => error,
        }
    }

    /// The target of a description by flags alone.
    pub fn target(&self) -> Result<Target, TargetError> {
        self.checked().map_err(|(key, mistake)| in_flag(key, mistake))
    }

    /// The target of a file with flags over it. A mistake is told with the place where its key stands.
    pub fn target_of_file(text: &str, file: &str, flags: &Self) -> Result<Target, TargetError> {
        let merged = Self::parse(text, file)?.overlaid(flags);
        merged.checked().map_err(|(key, mistake)| {
            let keys: BTreeMap<Spanned<String>, toml::Value> = toml::from_str(text).unwrap_or_default();
            match keys.keys().find(|name| name.get_ref() == key) {
                Some(name) if !flags.says(key) => in_file(text, file, name.span().start, mistake),
                None if !flags.says(key) => in_file(text, file, 0, mistake),
                _ => in_flag(key, mistake),
            }
        })
    }

    /// The keys that it gives.
    pub fn keys(&self) -> impl Iterator<Item = &'static str> {
        let given = [
            ("kind", self.kind.is_some()),
            ("where", self.r#where.is_some()),
            ("devices", self.devices.is_some()),
            ("disks", self.disks.is_some()),
            ("disk_size", self.disk_size.is_some()),
            ("layout", self.layout.is_some()),
            ("manager", self.manager.is_some()),
            ("luns", self.luns.is_some()),
            ("lun_size", self.lun_size.is_some()),
            ("fill", self.fill.is_some()),
            ("checksums", self.checksums.is_some()),
            ("transport", self.transport.is_some()),
            ("controllers", self.controllers.is_some()),
            ("threads", self.threads.is_some()),
            ("filters", self.filters.is_some()),
            ("mount_options", self.mount_options.is_some()),
            ("scheduler", self.scheduler.is_some()),
            ("processors", self.processors.is_some()),
        ];
        given.into_iter().filter(|(_, given)| *given).map(|(key, _)| key)
    }

    fn says(&self, key: &str) -> bool {
        self.keys().any(|given| given == key)
    }

    fn kind(&self) -> Kind {
        self.kind.unwrap_or_else(|| {
            if ["disks", "disk_size", "layout", "manager"].into_iter().any(|key| self.says(key)) {
                Kind::Pool
            } else if self.devices.is_some() {
                Kind::Device
            } else {
                Kind::File
            }
        })
    }

    fn checked(&self) -> Result<Target, Complaint> {
        let kind = self.kind();
        self.no_contradictions(kind)?;
        let devices = self.checked_devices()?;
        let luns = match (kind, &devices) {
            (Kind::Device, Some(devices)) => devices.len() as u32,
            _ => within("luns", self.luns.unwrap_or(LUNS), 1, MOST_LUNS)?,
        };
        let lun_size = self.lun_size.map(whole_mebibytes).transpose()?;
        let (storage, lun_size) = match kind {
            Kind::File => (Storage::File { r#where: self.place()? }, Some(lun_size.unwrap_or(LUN_SIZE))),
            Kind::Device => match devices {
                Some(devices) => (Storage::Device { devices }, lun_size),
                None => {
                    return Err((if self.kind.is_some() { "kind" } else { "devices" }, Mistake::NoDevices));
                }
            },
            Kind::Pool => {
                let (disks, layout) = self.pool(devices)?;
                let lun_size = pool_luns(&disks, layout, luns, lun_size)?;
                (Storage::Pool { disks, layout, manager: self.manager }, Some(lun_size))
            }
        };
        let transport = self.transport.unwrap_or(Transport::Local);
        let controllers = match (transport.has_controllers(), self.controllers) {
            (false, None) => 0,
            (false, Some(_)) => return Err(("controllers", Mistake::NoControllers(transport))),
            (true, given) => {
                let controllers = given.unwrap_or(CONTROLLERS.min(luns));
                if !(1..=luns).contains(&controllers) {
                    return Err(("controllers", Mistake::Controllers { controllers, luns }));
                }
                controllers
            }
        };
        if let (Transport::Nfs, Some(manager)) = (transport, self.manager.filter(|manager| !manager.has_files())) {
            return Err(("transport", Mistake::NoFiles(manager)));
        }
        let checksums = self.checksums.unwrap_or(false);
        if checksums && self.manager.is_some_and(|manager| manager != Manager::Btrfs) {
            return Err(("checksums", Mistake::NoChecksums));
        }
        self.checked_options(kind, transport, controllers)?;
        Ok(Target {
            storage,
            luns,
            lun_size,
            fill: self.fill.unwrap_or(true),
            checksums,
            transport,
            initiator: None,
            controllers,
            threads: self.threads,
            filters: self.filters.clone().unwrap_or_default(),
            mount_options: self.mount_options.clone().unwrap_or_default(),
            scheduler: self.scheduler.clone(),
            processors: self.processors.clone(),
            destructive: Vec::new(),
        })
    }

    /// Checks what is handed on to nbdkit, mount and the kernel.
    fn checked_options(&self, kind: Kind, transport: Transport, controllers: u32) -> Result<(), Complaint> {
        for key in ["threads", "filters"] {
            if self.says(key) && transport != Transport::Nbd {
                return Err((key, Mistake::NoNbdkit(transport)));
            }
        }
        if let Some(threads) = self.threads {
            within("threads", threads, 1, MOST_THREADS)?;
        }
        options::filters(self.filters.as_deref().unwrap_or_default())?;
        if let Some(words) = &self.mount_options {
            let other = match (kind, self.manager) {
                (Kind::Pool, None | Some(Manager::Btrfs)) => None,
                (Kind::Pool, Some(manager)) => Some(Mistake::PoolNotMounted(manager)),
                (Kind::File | Kind::Device, _) => Some(Mistake::NotMounted),
            };
            if let Some(mistake) = other {
                return Err(("mount_options", mistake));
            }
            options::mount_options(words)?;
        }
        if let Some(scheduler) = &self.scheduler {
            if kind == Kind::File {
                return Err(("scheduler", Mistake::NoDisks));
            }
            options::scheduler(scheduler)?;
        }
        if let Some(processors) = &self.processors {
            if controllers == 0 {
                return Err(("processors", Mistake::NobodysProcessors(transport)));
            }
            options::processors(processors, controllers)?;
        }
        Ok(())
    }

    /// Refuses keys that mean nothing for this kind, rather than pass over them.
    fn no_contradictions(&self, kind: Kind) -> Result<(), Complaint> {
        let (foreign, owner): (&[&'static str], _) = match kind {
            Kind::File => (&["devices", "disks", "disk_size", "layout", "manager", "checksums"], "a target of files"),
            Kind::Device => {
                (&["where", "disks", "disk_size", "layout", "manager", "luns", "checksums"], "a target of devices")
            }
            Kind::Pool if self.devices.is_some() => (&["where", "disks", "disk_size"], "a pool of devices"),
            Kind::Pool => (&[], "a pool of files"),
        };
        if let Some(&key) = foreign.iter().find(|key| self.says(key)) {
            let instead = match (kind, key) {
                (Kind::File, "devices") => "; leave out \"kind\", or set it to \"device\" or \"pool\"",
                (Kind::File, _) => "; set kind = \"pool\", or leave it out",
                (Kind::Device, "luns") => ", because each device is a LUN; leave it out",
                _ => "; leave it out",
            };
            return Err((key, Mistake::Foreign { owner, key, instead }));
        }
        if let (Kind::Device, Some(transport)) = (kind, self.transport)
            && transport != Transport::Local
        {
            return Err(("transport", Mistake::DevicesExported(transport)));
        }
        Ok(())
    }

    fn checked_devices(&self) -> Result<Option<Vec<String>>, Complaint> {
        let Some(devices) = &self.devices else { return Ok(None) };
        if devices.is_empty() || devices.len() > MOST_DISKS as usize {
            return Err(("devices", Mistake::Devices(devices.len())));
        }
        for (place, device) in devices.iter().enumerate() {
            if !device.starts_with("/dev/") {
                return Err(("devices", Mistake::NoDevice(device.clone())));
            }
            plain_path("devices", device)?;
            if devices[..place].contains(device) {
                return Err(("devices", Mistake::Twice(device.clone())));
            }
        }
        Ok(Some(devices.clone()))
    }

    fn place(&self) -> Result<Where, Complaint> {
        match self.r#where.as_deref() {
            None => Ok(Where::Work),
            Some("tmpfs") => Ok(Where::Tmpfs),
            Some(path) if path.starts_with('/') => {
                plain_path("where", path)?;
                let path = path.trim_end_matches('/');
                Ok(Where::Directory(if path.is_empty() { "/" } else { path }.into()))
            }
            Some(other) => Err(("where", Mistake::NoPlace(other.into()))),
        }
    }

    fn pool(&self, devices: Option<Vec<String>>) -> Result<(Disks, Layout), Complaint> {
        let layout = self.layout.unwrap_or(Layout::Raid10);
        let (disks, count, key) = match devices {
            Some(devices) => {
                let count = devices.len() as u32;
                (Disks::Devices(devices), count, "devices")
            }
            None => {
                let count = self.disks.unwrap_or(DISKS);
                let size = self.disk_size.unwrap_or(DISK_SIZE);
                if size < LEAST_DISK {
                    return Err(("disk_size", Mistake::SmallDisk(size)));
                }
                let size = whole_mebibytes_of("disk_size", size)?;
                (Disks::Files { count, size, r#where: self.place()? }, count, "disks")
            }
        };
        if let Some(manager) = self.manager {
            manager.takes(layout, count as usize).map_err(|mistake| (key, mistake))?;
        }
        let least = layout.least_disks();
        if !(least..=MOST_DISKS).contains(&count) {
            let key = if count < least && self.disks.is_none() && key == "disks" { "layout" } else { key };
            return Err((key, Mistake::Disks { layout, count }));
        }
        Ok((disks, layout))
    }
}

/// The size of a pool's LUNs, which must fit into what the disks hold.
fn pool_luns(disks: &Disks, layout: Layout, luns: u32, given: Option<Size>) -> Result<Size, Complaint> {
    let Disks::Files { count, size, .. } = disks else {
        // How large devices are is known only on the machine.
        return given.ok_or(("lun_size", Mistake::NoLunSize));
    };
    let holds = u64::from(*count).saturating_mul(size.0) / layout.copies();
    let luns = u64::from(luns);
    match given {
        Some(size) if size.0.saturating_mul(luns) > holds => {
            Err(("lun_size", Mistake::LunsTooLarge { luns, size, layout, holds }))
        }
        Some(size) => Ok(size),
        None => {
            let size = Size(holds / 100 * USABLE_SHARE / luns / MEBIBYTE * MEBIBYTE);
            if size.0 == 0 {
                return Err(("luns", Mistake::TooManyLuns(luns)));
            }
            Ok(size)
        }
    }
}

fn within(key: &'static str, value: u32, least: u32, most: u32) -> Result<u32, Complaint> {
    if (least..=most).contains(&value) { Ok(value) } else { Err((key, Mistake::OutOfBounds { value, least, most })) }
}

fn whole_mebibytes(size: Size) -> Result<Size, Complaint> {
    whole_mebibytes_of("lun_size", size)
}

/// Disks and LUNs have whole MiB, as fio's files do.
pub(super) fn whole_mebibytes_of(key: &'static str, size: Size) -> Result<Size, Complaint> {
    let below = size.0 / MEBIBYTE;
    match size.0 % MEBIBYTE {
        0 if below > 0 => Ok(size),
        _ if below == 0 => Err((key, Mistake::LessThanMebibyte(size))),
        _ => Err((key, Mistake::NotWhole { size, below })),
    }
}

/// A path that fio's job files and mount's table take as it is.
fn plain_path(key: &'static str, path: &str) -> Result<(), Complaint> {
    if path.split('/').any(|name| name == "..") {
        return Err((key, Mistake::Upwards(path.into())));
    }
    match path.chars().find(|c| c.is_control() || c.is_whitespace() || ":$`\"'\\;#*?,".contains(*c)) {
        Some(bad) => Err((key, Mistake::BadPath { path: path.into(), bad })),
        None => Ok(()),
    }
}

pub(super) fn in_file(text: &str, file: &str, offset: usize, mistake: Mistake) -> TargetError {
    let (line, column) = line_and_column(text, offset);
    TargetError::InFile { file: file.into(), line, column, mistake }
}

pub(super) fn in_flag(key: &str, mistake: Mistake) -> TargetError {
    TargetError::InFlag { flag: format!("--{}", key.replace('_', "-")), mistake }
}
