//! `stend rig`: set up what is to be measured, storage or a virtual machine, take it down again, or say what stands.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde::de::value::{Error as ValueError, StrDeserializer};
use serde::de::{DeserializeOwned, IntoDeserializer as _};
use stend_model::image::Image;
use stend_model::position::plain;
use stend_model::quantity::Size;
use stend_model::run::is_run_id;
use stend_model::target::vm::{Accelerator, Disk, Network, Vm, VmText};
use stend_model::target::{Kind, Layout, Manager, Mistake, Target, TargetError, TargetText, Transport};

use super::Global;
use super::failure::{Exit, Failure};
use super::output::{self, Json};
use crate::catalogue;
use stend_lab::rig::vm::PictureError;
use stend_lab::rig::{self, ControllerStatus, Needs, Refusal, State, Status, Used};
use stend_lab::run::prepare;
use stend_stand::bounded;
use stend_stand::host::{Host as _, Local, Lock};
use stend_stand::interrupt::Interrupt;

#[derive(Debug, Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Set up storage or a virtual machine, and keep it
    Up(Box<UpFlags>),
    /// Remove a rig, with everything that was created for it
    Down {
        /// The rig's name
        #[arg(long, value_name = "NAME", default_value = USUAL_NAME, value_parser = name)]
        name: String,
    },
    /// Shut a virtual machine down; its disks stay as they are
    Stop {
        /// The virtual machine's name
        #[arg(long, value_name = "NAME", default_value = USUAL_NAME, value_parser = name)]
        name: String,
    },
    /// Start a virtual machine that was shut down, on its disks as they are
    Start {
        /// The virtual machine's name
        #[arg(long, value_name = "NAME", default_value = USUAL_NAME, value_parser = name)]
        name: String,
    },
    /// Keep what is on a virtual machine's disks, and in its memory if it runs
    Snapshot {
        /// The snapshot's name
        #[arg(value_name = "SNAPSHOT", value_parser = snapshot)]
        snapshot: String,
        /// The virtual machine's name
        #[arg(long, value_name = "NAME", default_value = USUAL_NAME, value_parser = name)]
        name: String,
        /// Remove the snapshot of this name instead
        #[arg(long)]
        remove: bool,
    },
    /// Bring a virtual machine back to a snapshot; what it has done since then is lost
    Revert {
        /// The snapshot's name
        #[arg(value_name = "SNAPSHOT", value_parser = snapshot)]
        snapshot: String,
        /// The virtual machine's name
        #[arg(long, value_name = "NAME", default_value = USUAL_NAME, value_parser = name)]
        name: String,
    },
    /// Set up a virtual machine like one that is off, on copies of its disks
    Clone {
        /// The name of the new one
        #[arg(value_name = "NEW", value_parser = name)]
        new: String,
        /// The name of the virtual machine that is copied
        #[arg(long, value_name = "NAME", default_value = USUAL_NAME, value_parser = name)]
        name: String,
    },
    /// Write a virtual machine to standard output, for `stend rig receive` on another machine; it is suspended and off then
    Send {
        /// The virtual machine's name
        #[arg(long, value_name = "NAME", default_value = USUAL_NAME, value_parser = name)]
        name: String,
    },
    /// Set up the virtual machine that `stend rig send` writes to standard input; it goes on where it was suspended
    Receive {
        /// The virtual machine's name [default: the one that it had]
        #[arg(long, value_name = "NAME", value_parser = name)]
        name: Option<String>,
    },
    /// Write a picture of what a virtual machine shows on its screen, as PNG
    Screen {
        /// The file to write
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// The virtual machine's name
        #[arg(long, value_name = "NAME", default_value = USUAL_NAME, value_parser = name)]
        name: String,
    },
    /// Show the rigs: where their LUNs are, how a virtual machine is reached, and the CPU time and memory that they use
    Status {
        #[command(flatten)]
        json: Json,
    },
}

/// What a rig is called that nobody named.
const USUAL_NAME: &str = "rig";

#[derive(Debug, Args)]
struct UpFlags {
    /// A TOML file that describes the storage, or with kind = "vm" the virtual machine
    #[arg(value_name = "FILE", conflicts_with = "target")]
    file: Option<String>,
    /// The rig's name
    #[arg(long, value_name = "NAME", default_value = USUAL_NAME, value_parser = name)]
    name: String,
    #[command(flatten)]
    json: Json,
    #[command(flatten)]
    target: TargetFlags,
    #[command(flatten)]
    vm: VmFlags,
}

/// A virtual machine by flags, or by flags over a file. Each flag is a key of the file.
#[derive(Debug, Args)]
#[command(next_help_heading = "Virtual machine: a guest of QEMU, reached with --on vm:NAME (docs/guide/virtual.md)")]
struct VmFlags {
    /// Image that the guest boots from: one of stend's, or a TOML file [default: debian-12]
    #[arg(long, value_name = "IMAGE")]
    image: Option<String>,
    /// Number of the guest's processors [default: 2]
    #[arg(long, value_name = "N")]
    cpus: Option<u32>,
    /// The guest's memory [default: 1GiB]
    #[arg(long, value_name = "SIZE")]
    memory: Option<Size>,
    /// What runs the guest's processors: kvm, or tcg, an emulator [default: kvm where it works]
    #[arg(long, value_parser = word::<Accelerator>)]
    accelerator: Option<Accelerator>,
    /// QEMU's machine, such as q35 or virt [default: the architecture's usual one]
    #[arg(long, value_name = "NAME")]
    machine: Option<String>,
    /// The guest's network: user, which reaches nothing outside, or none; ssh then goes over a serial port [default: user]
    #[arg(long, value_parser = word::<Network>)]
    network: Option<Network>,
    /// A disk beside the image: size=1GiB or from=RIG/lun0, then bus=virtio-blk|virtio-scsi, cache=none|writeback|…, iothread=true, format=qcow2; once
    /// for each disk
    #[arg(long, value_name = "KEY=VALUE,…")]
    disk: Option<Vec<Disk>>,
}

impl VmFlags {
    fn text(&self) -> VmText {
        VmText {
            kind: None,
            image: self.image.clone(),
            cpus: self.cpus,
            memory: self.memory,
            accelerator: self.accelerator,
            machine: self.machine.clone(),
            network: self.network,
            disk: self.disk.clone(),
        }
    }
}

/// A target by a file, by flags, or by flags over a file. Each flag is a key of the file.
#[derive(Debug, Args)]
#[command(next_help_heading = "Target: storage that is set up, loaded, and removed (docs/guide/storage.md)")]
pub(super) struct TargetFlags {
    /// A TOML file that describes the target
    #[arg(long, value_name = "FILE")]
    target: Option<String>,
    /// Kind of the LUNs: file, device or pool [default: follows from the other flags]
    #[arg(long, value_parser = word::<Kind>)]
    kind: Option<Kind>,
    /// Where files are created: a directory, or tmpfs [default: the directory for runs' files]
    #[arg(long, value_name = "DIRECTORY")]
    r#where: Option<String>,
    /// Block devices, which are overwritten; requires --destructive
    #[arg(long, value_name = "DEVICE,…", value_delimiter = ',')]
    devices: Option<Vec<String>>,
    /// Number of disks of a pool, which are files [default: 12]
    #[arg(long, value_name = "N")]
    disks: Option<u32>,
    /// Size of each disk [default: 256MiB]
    #[arg(long, value_name = "SIZE")]
    disk_size: Option<Size>,
    /// Layout of the pool: stripe, mirror or raid10 [default: raid10]
    #[arg(long, value_parser = word::<Layout>)]
    layout: Option<Layout>,
    /// Volume manager of the pool: btrfs, md, lvm or zfs [default: the first available]
    #[arg(long, value_parser = word::<Manager>)]
    manager: Option<Manager>,
    /// Number of LUNs [default: 8]
    #[arg(long, value_name = "N")]
    luns: Option<u32>,
    /// Size of each LUN [default: 64MiB of files, 60 % of a pool together, a device's own]
    #[arg(long, value_name = "SIZE")]
    lun_size: Option<Size>,
    /// Overwrite each LUN once before the load [default: true]
    #[arg(long, value_name = "true|false")]
    fill: Option<bool>,
    /// Use checksums, and so copy-on-write, for LUNs on btrfs [default: false]
    #[arg(long, value_name = "true|false")]
    checksums: Option<bool>,
    #[arg(long, value_parser = word::<Transport>,
        help = format!("Transport of the LUNs: {} [default: local]", Transport::ALL.map(|one| one.to_string()).join(", ")))]
    transport: Option<Transport>,
    /// Number of processes that export the LUNs, each its share [default: 2]
    #[arg(long, value_name = "N")]
    controllers: Option<u32>,
    /// Threads of each controller's nbdkit [default: nbdkit's default]
    #[arg(long, value_name = "N")]
    threads: Option<u32>,
    /// nbdkit's filters and their parameters: delay,rdelay=1ms
    #[arg(long, value_name = "WORD,…", value_delimiter = ',')]
    filters: Option<Vec<String>>,
    /// Mount options of a btrfs pool: commit=5,ssd
    #[arg(long, value_name = "OPTION,…", value_delimiter = ',')]
    mount_options: Option<Vec<String>>,
    /// I/O scheduler of the disks, such as none or mq-deadline [default: the kernel's choice]
    #[arg(long, value_name = "NAME")]
    scheduler: Option<String>,
    /// Processors of the controllers: one list such as 0-3,8, or one per controller, separated by spaces [default: all]
    #[arg(long, value_name = "LISTS")]
    processors: Option<String>,
    /// Overwrite the device with this serial number; once for each device
    #[arg(long, value_name = "SERIAL")]
    destructive: Vec<String>,
}

impl TargetFlags {
    /// The file that describes it, if one does.
    pub(super) fn file(&self) -> Option<&str> {
        self.target.as_deref()
    }

    /// The target that they describe, with settings of a side over it; `None` where nothing was said.
    pub(super) fn target_with(&self, settings: &BTreeMap<String, String>) -> Result<Option<Target>, TargetError> {
        self.target_of(self.target.as_deref(), settings)
    }

    /// What the flags say, without a file.
    fn text(&self) -> TargetText {
        TargetText {
            kind: self.kind,
            r#where: self.r#where.clone(),
            devices: self.devices.clone(),
            disks: self.disks,
            disk_size: self.disk_size,
            layout: self.layout,
            manager: self.manager,
            luns: self.luns,
            lun_size: self.lun_size,
            fill: self.fill,
            checksums: self.checksums,
            transport: self.transport,
            controllers: self.controllers,
            threads: self.threads,
            filters: self.filters.clone(),
            mount_options: self.mount_options.clone(),
            scheduler: self.scheduler.clone(),
            processors: self.processors.clone(),
        }
    }

    fn target_of(
        &self,
        file: Option<&str>,
        settings: &BTreeMap<String, String>,
    ) -> Result<Option<Target>, TargetError> {
        let text = self.text().overlaid(&TargetText::of_settings(settings)?);
        let blame = |error| TargetText::blame(settings, error);
        let target = match file {
            Some(file) => {
                let contents = contents(file)?;
                TargetText::target_of_file(&contents, file, &text).map_err(blame)?
            }
            None if text == TargetText::default() && self.destructive.is_empty() => return Ok(None),
            None => text.target().map_err(blame)?,
        };
        if let (Some(serial), []) = (self.destructive.first(), target.devices()) {
            return Err(TargetError::InFlag {
                flag: "--destructive".into(),
                mistake: Mistake::NothingToDestroy(serial.clone()),
            });
        }
        Ok(Some(Target { destructive: self.destructive.clone(), ..target }))
    }
}

fn contents(file: &str) -> Result<String, TargetError> {
    bounded::text(Path::new(file)).map_err(|error| TargetError::InFlag {
        flag: "--target".into(),
        mistake: Mistake::NoFile { file: file.to_owned(), said: error.to_string() },
    })
}

/// One of a few words, with those that there are in the message.
fn word<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    let deserializer: StrDeserializer<'_, ValueError> = text.into_deserializer();
    T::deserialize(deserializer).map_err(|error| plain(&error.to_string()))
}

fn name(text: &str) -> Result<String, String> {
    match rig::is_name(text) {
        true => Ok(text.to_owned()),
        false => Err("it may have 1 to 32 lower-case letters, digits and dashes, and not look like a run's id".into()),
    }
}

fn snapshot(text: &str) -> Result<String, String> {
    match rig::vm::is_snapshot(text) {
        true => Ok(text.to_owned()),
        false => Err("it may have 1 to 32 lower-case letters, digits and dashes, and begins with a letter".into()),
    }
}

pub(super) fn run(global: &Global, arguments: &Arguments) -> Result<Exit, Failure> {
    match &arguments.action {
        Action::Up(flags) => up(global, flags),
        Action::Down { name } => down(global, name),
        Action::Stop { name } => stop(global, name),
        Action::Start { name } => start(global, name),
        Action::Snapshot { snapshot, name, remove: false } => keep(global, name, snapshot),
        Action::Snapshot { snapshot, name, remove: true } => forget(global, name, snapshot),
        Action::Revert { snapshot, name } => revert(global, name, snapshot),
        Action::Clone { new, name } => copy(global, name, new),
        Action::Send { name } => send(global, name),
        Action::Receive { name } => receive(global, name.as_deref()),
        Action::Screen { file, name } => screen(file, name),
        Action::Status { json } => status(*json),
    }
}

/// What is to be set up.
enum Wanted {
    Storage(Box<Target>),
    Vm(Box<(Vm, Image)>),
}

impl UpFlags {
    fn wanted(&self) -> Result<Wanted, Failure> {
        let usage = |error: TargetError| Failure::usage(error.to_string());
        let text = self.file.as_deref().map(contents).transpose().map_err(usage)?;
        let of_vm = self.vm.text();
        let is_vm = text.as_deref().is_some_and(VmText::is_meant);
        if !is_vm && (self.file.is_some() || self.target.target.is_some() || of_vm.keys().next().is_none()) {
            if let Some(key) = of_vm.keys().next() {
                return Err(Failure::usage(format!(
                    "--{key} is for a virtual machine, and this file describes storage"
                )));
            }
            let target = self.target.target_of(self.file.as_deref().or(self.target.file()), &BTreeMap::new());
            let target = target.map_err(usage)?.map_or_else(|| TargetText::default().target(), Ok).map_err(usage)?;
            return Ok(Wanted::Storage(Box::new(target)));
        }
        if let Some(key) = self.target.text().keys().next() {
            let flag = key.replace('_', "-");
            return Err(Failure::usage(format!("--{flag} is for storage, and this is a virtual machine")));
        }
        let vm = match (&text, &self.file) {
            (Some(text), Some(file)) => VmText::vm_of_file(text, file, &of_vm),
            _ => of_vm.vm(),
        };
        let vm = vm.map_err(usage)?;
        // A path in a file is one beside it.
        let beside = self.file.as_deref().filter(|_| self.vm.image.is_none());
        let beside = beside.and_then(|file| Path::new(file).parent()).unwrap_or(Path::new(""));
        let image = catalogue::image(&vm.image, beside).map_err(|error| Failure::usage(error.to_string()))?;
        Ok(Wanted::Vm(Box::new((vm, image))))
    }
}

fn up(global: &Global, flags: &UpFlags) -> Result<Exit, Failure> {
    let (name, json) = (flags.name.as_str(), flags.json);
    let host = Local;
    // What this machine lacks is said before a lock for it is made.
    let wanted = match flags.wanted()? {
        Wanted::Storage(target) => Wanted::Storage(Box::new(rig::settle(&host, *target)?)),
        wanted => wanted,
    };
    let work = prepare::work_directory(&host).map_err(Failure::unusable)?;
    let _lock = prepare::lock(&host, &work).map_err(Failure::unusable)?;
    let interrupt = Interrupt::listen()?;
    make_room(&work, name)?;
    let interrupted = || interrupt.requested();
    match wanted {
        Wanted::Storage(target) => {
            let checked = rig::check(&host, &work, name, *target, &Needs::default())?;
            let probe = prepare::find_probe(&host).map_err(Failure::unusable)?;
            if !global.quiet {
                talk!("making rig {name}: {}", checked.target);
            }
            rig::raise(&host, &probe, &work, name, &checked, &Needs::default(), &interrupted)?;
        }
        Wanted::Vm(wanted) => {
            let (vm, image) = *wanted;
            raise_guest(global, &work, name, vm, image, &interrupted)?;
        }
    }
    print(&[rig::status(&host, &work, name)?], json)?;
    Ok(Exit::Fine)
}

/// Sees that no rig of a name stands. What is left of one is removed.
fn make_room(work: &str, name: &str) -> Result<(), Failure> {
    if rig::names(&Local, work).map_err(Refusal::from)?.iter().any(|old| old == name) {
        if rig::status(&Local, work, name)?.state.stands() {
            let stend = output::program();
            return Err(Failure::usage(format!(
                "rig {name} exists already; remove it with `{stend} rig down --name {name}`, or choose another name"
            )));
        }
        rig::take_down(&Local, work, name)?;
    }
    Ok(())
}

/// Sets a guest up. The directory for runs' files is locked meanwhile.
pub(super) fn raise_guest(
    global: &Global,
    work: &str,
    name: &str,
    vm: Vm,
    image: Image,
    interrupted: &dyn Fn() -> bool,
) -> Result<(), Failure> {
    let checked = rig::vm::check(&Local, work, vm, image)?;
    let probe = prepare::find_probe(&Local).map_err(Failure::unusable)?;
    if !global.quiet {
        talk!("making rig {name}: {}", checked.vm);
        if checked.makes_image() {
            talk!("making image {} first, which takes minutes; the next guest finds it made", checked.vm.image);
        }
    }
    rig::vm::raise(&Local, &probe, work, name, &checked, interrupted)?;
    Ok(())
}

/// Takes a rig down, and if it was a guest sees that its image is still what it was. Whether there was one.
pub(super) fn lower(work: &str, name: &str) -> Result<bool, Failure> {
    let guest = rig::vm::guest(&Local, work, name)?;
    let was_there = rig::take_down(&Local, work, name)?;
    guest.map_or(Ok(()), |guest| rig::image::check(&Local, work, &guest.image))?;
    Ok(was_there)
}

fn down(global: &Global, name: &str) -> Result<Exit, Failure> {
    let host = Local;
    let work = prepare::work_directory(&host).map_err(Failure::unusable)?;
    let _lock = locked(&host, &work)?;
    let lowered = lower(&work, name);
    if matches!(lowered, Ok(false)) {
        let names = rig::names(&host, &work).map_err(Refusal::from)?;
        let known = if names.is_empty() { "none".into() } else { names.join(", ") };
        return Err(Failure::usage(format!("there is no rig \"{name}\"; there is: {known}")));
    }
    lowered?;
    if !global.quiet {
        talk!("rig {name} is taken down");
    }
    Ok(Exit::Fine)
}

/// The lock of the directory for runs' files. Where there is none, nothing is there to be locked, and none is made.
fn locked(host: &Local, work: &str) -> Result<Option<Box<dyn Lock>>, Failure> {
    host.list(work).is_ok().then(|| prepare::lock(host, work)).transpose().map_err(Failure::unusable)
}

fn stop(global: &Global, name: &str) -> Result<Exit, Failure> {
    with_guests(|work, interrupted| Ok(rig::vm::shut_down(&Local, work, name, interrupted)?))?;
    if !global.quiet {
        talk!("{name} is off");
    }
    Ok(Exit::Fine)
}

fn start(global: &Global, name: &str) -> Result<Exit, Failure> {
    with_guests(|work, interrupted| {
        let probe = prepare::find_probe(&Local).map_err(Failure::unusable)?;
        Ok(rig::vm::start(&Local, &probe, work, name, interrupted)?)
    })?;
    if !global.quiet {
        talk!("{name} is up");
    }
    Ok(Exit::Fine)
}

fn keep(global: &Global, name: &str, snapshot: &str) -> Result<Exit, Failure> {
    with_guests(|work, _| Ok(rig::vm::keep(&Local, work, name, snapshot)?))?;
    if !global.quiet {
        talk!("{name} has the snapshot {snapshot}");
    }
    Ok(Exit::Fine)
}

fn forget(global: &Global, name: &str, snapshot: &str) -> Result<Exit, Failure> {
    with_guests(|work, _| Ok(rig::vm::forget(&Local, work, name, snapshot)?))?;
    if !global.quiet {
        talk!("{name} has no snapshot {snapshot} any more");
    }
    Ok(Exit::Fine)
}

fn revert(global: &Global, name: &str, snapshot: &str) -> Result<Exit, Failure> {
    with_guests(|work, interrupted| {
        let probe = prepare::find_probe(&Local).map_err(Failure::unusable)?;
        Ok(rig::vm::revert(&Local, &probe, work, name, snapshot, interrupted)?)
    })?;
    if !global.quiet {
        talk!("{name} is what it was at the snapshot {snapshot}");
    }
    Ok(Exit::Fine)
}

fn copy(global: &Global, name: &str, new: &str) -> Result<Exit, Failure> {
    with_guests(|work, interrupted| {
        make_room(work, new)?;
        let checked = rig::vm::check_copy(&Local, work, name)?;
        let probe = prepare::find_probe(&Local).map_err(Failure::unusable)?;
        if !global.quiet {
            talk!("making rig {new}: {}", checked.vm);
        }
        rig::vm::raise(&Local, &probe, work, new, &checked, interrupted)?;
        Ok(())
    })?;
    if !global.quiet {
        talk!("{new} is up, a clone of {name}");
    }
    Ok(Exit::Fine)
}

fn send(global: &Global, name: &str) -> Result<Exit, Failure> {
    let mut to = std::io::stdout().lock();
    if to.is_terminal() {
        let said = format!("the virtual machine is written to standard output: `{} rig send >FILE`", output::program());
        return Err(Failure::usage(said));
    }
    let mut tell = |said: &str| {
        if !global.quiet {
            talk!("{name}: {said}");
        }
    };
    with_guests(|work, interrupted| {
        let probe = prepare::find_probe(&Local).map_err(Failure::unusable)?;
        Ok(rig::vm::send(&Local, &probe, work, name, &mut to, &mut tell, interrupted)?)
    })?;
    if !global.quiet {
        let stend = output::program();
        talk!(
            "{name} is sent, and off here; `{stend} rig down --name {name}` removes it, `{stend} rig start --name {name}` takes it up again"
        );
    }
    Ok(Exit::Fine)
}

fn receive(global: &Global, name: Option<&str>) -> Result<Exit, Failure> {
    let mut from = std::io::stdin().lock();
    if from.is_terminal() {
        let said =
            format!("the virtual machine is read from standard input: `{} rig receive <FILE`", output::program());
        return Err(Failure::usage(said));
    }
    let arriving = rig::vm::arriving(&mut from)?;
    let name = name.unwrap_or(arriving.name()).to_owned();
    let work = prepare::work_directory(&Local).map_err(Failure::unusable)?;
    let _lock = prepare::lock(&Local, &work).map_err(Failure::unusable)?;
    let interrupt = Interrupt::listen()?;
    make_room(&work, &name)?;
    let probe = prepare::find_probe(&Local).map_err(Failure::unusable)?;
    if !global.quiet {
        talk!("making rig {name}: {}", arriving.vm());
    }
    arriving.receive(&Local, &probe, &work, &name, &|| interrupt.requested())?;
    if !global.quiet {
        talk!("{name} is up");
    }
    Ok(Exit::Fine)
}

/// Does something with a guest, while nobody else uses the directory for runs' files.
fn with_guests(act: impl FnOnce(&str, &dyn Fn() -> bool) -> Result<(), Failure>) -> Result<(), Failure> {
    let work = prepare::work_directory(&Local).map_err(Failure::unusable)?;
    let _lock = locked(&Local, &work)?;
    let interrupt = Interrupt::listen()?;
    act(&work, &|| interrupt.requested())
}

fn screen(file: &Path, name: &str) -> Result<Exit, Failure> {
    let work = prepare::work_directory(&Local).map_err(Failure::unusable)?;
    let picture = rig::vm::picture(&Local, &work, name).map_err(|error| match error {
        PictureError::Refusal(refusal) => refusal.into(),
        error => Failure::unusable(error.to_string()),
    })?;
    output::write(file, &picture)?;
    Ok(Exit::Fine)
}

fn status(json: Json) -> Result<Exit, Failure> {
    let work = prepare::work_directory(&Local).map_err(Failure::unusable)?;
    let names = rig::names(&Local, &work).map_err(Refusal::from)?;
    let mut statuses = names.iter().map(|name| rig::status(&Local, &work, name)).collect::<Result<Vec<_>, _>>()?;
    let mut of_runs: Vec<_> =
        statuses.iter_mut().filter(|status| status.state.stands() && is_run_id(&status.name)).collect();
    // A run that goes on has the directory to itself.
    if !of_runs.is_empty() && prepare::lock(&Local, &work).is_ok() {
        of_runs.iter_mut().for_each(|status| status.state = State::Left);
    }
    print(&statuses, json)?;
    Ok(Exit::Fine)
}

fn print(statuses: &[Status], json: Json) -> Result<(), Failure> {
    if json.json {
        return output::print_json("rigs", &statuses);
    }
    if statuses.is_empty() {
        return output::print("there are no rigs\n");
    }
    let mut text = String::new();
    let stend = output::program();
    for status in statuses {
        let state = match status.state {
            State::Up => "up".to_owned(),
            State::Off => format!("off; `{stend} rig start --name {}` starts it", status.name),
            State::Left if status.vm.is_some() => format!("left by a killed run; `{stend} clean` removes it"),
            State::Left => format!(
                "left by a killed run; `{stend} resume {}` continues that run, `{stend} clean` removes it",
                status.name
            ),
            State::HalfMade => format!("half made; `{stend} clean` removes it"),
            State::BeforeBoot => {
                format!("gone since this machine was booted; `{stend} clean` removes what is left")
            }
        };
        let (target, vm) = (status.target.as_ref(), status.vm.as_ref());
        let wanted = target.map(|target| format!(": {target}")).or(vm.map(|vm| format!(": {vm}"))).unwrap_or_default();
        let _ = writeln!(text, "{}{wanted}: {state}", status.name);
        for (number, lun) in status.luns.iter().enumerate() {
            let _ = writeln!(text, "  lun{number}  {lun}");
        }
        if let Some(guest) = &status.guest {
            let _ = writeln!(text, "  {}  {}", guest.address, used(&guest.used));
            if let Some(screen) = &guest.screen {
                let _ = writeln!(text, "  screen  VNC at {screen}");
            }
            for one in &guest.snapshots {
                let memory = if one.memory_bytes > 0 { "with its memory" } else { "of its disks" };
                let _ = writeln!(text, "  snapshot  {}, {memory}, {}", one.name, one.taken);
            }
        }
        if status.controllers.is_empty() && !status.luns.is_empty() {
            let _ = writeln!(text, "  no controllers: no process exports these LUNs");
        }
        let processes = [("controller", &status.controllers), ("initiator", &status.initiators)];
        for (what, processes) in processes {
            for (number, process) in processes.iter().enumerate() {
                let _ = writeln!(text, "  {what}{number}  {}", in_words(process));
            }
        }
    }
    output::print(&text)
}

/// What a process that serves LUNs uses.
fn in_words(process: &ControllerStatus) -> String {
    let luns: Vec<_> = process.luns.iter().map(|lun| format!("lun{lun}")).collect();
    format!("{}: {}", luns.join(" "), used(&process.used))
}

fn used(process: &Used) -> String {
    let number = process.process.map_or("not running".into(), |number| format!("process {number}"));
    let cpu = process.cpu_ns.map(|ns| format!("{:.2} s of CPU time", ns as f64 * 1e-9));
    let memory = process.memory_bytes.map(|bytes| format!("{} MiB of memory with page cache", bytes >> 20));
    format!(
        "{number}, {}, {}",
        cpu.unwrap_or("CPU time not counted here".into()),
        memory.unwrap_or("memory not counted here".into())
    )
}
