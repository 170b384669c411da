//! `stend target`: set up storage to be loaded, take it down again, or say what stands.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use clap::{Args, Subcommand};
use serde::de::value::{Error as ValueError, StrDeserializer};
use serde::de::{DeserializeOwned, IntoDeserializer as _};
use stend_model::position::plain;
use stend_model::quantity::Size;
use stend_model::run::is_run_id;
use stend_model::target::{Kind, Layout, Manager, Mistake, Target, TargetError, TargetText, Transport};

use super::Global;
use super::failure::{Exit, Failure};
use super::output::{self, Json};
use stend_lab::rig::{self, ControllerStatus, Needs, Refusal, State, Status};
use stend_lab::run::prepare;
use stend_stand::bounded;
use stend_stand::host::{Host as _, Local};
use stend_stand::interrupt::Interrupt;

#[derive(Debug, Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Set up a target, and keep it
    Up {
        #[command(flatten)]
        target: Box<TargetFlags>,
        #[command(flatten)]
        name: Name,
        #[command(flatten)]
        json: Json,
    },
    /// Remove a target, with everything that was created for it
    Down {
        #[command(flatten)]
        name: Name,
    },
    /// Show the targets, their LUNs, and the CPU time and memory of their controllers
    Status {
        #[command(flatten)]
        json: Json,
    },
}

#[derive(Debug, Args)]
struct Name {
    /// The target's name
    #[arg(long, value_name = "NAME", default_value = "target", value_parser = name)]
    name: String,
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

    /// The target that they describe; `None` where nothing was said.
    pub(super) fn target(&self) -> Result<Option<Target>, TargetError> {
        self.target_with(&BTreeMap::new())
    }

    /// The same with settings of a side over it.
    pub(super) fn target_with(&self, settings: &BTreeMap<String, String>) -> Result<Option<Target>, TargetError> {
        let text = TargetText {
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
        };
        let text = text.overlaid(&TargetText::of_settings(settings)?);
        let blame = |error| TargetText::blame(settings, error);
        let target = match &self.target {
            Some(file) => {
                let contents = bounded::text(Path::new(file)).map_err(|error| TargetError::InFlag {
                    flag: "--target".into(),
                    mistake: Mistake::NoFile { file: file.clone(), said: error.to_string() },
                })?;
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

pub(super) fn run(global: &Global, arguments: &Arguments) -> Result<Exit, Failure> {
    match &arguments.action {
        Action::Up { target, name, json } => up(global, target, &name.name, *json),
        Action::Down { name } => down(global, &name.name),
        Action::Status { json } => status(*json),
    }
}

fn up(global: &Global, flags: &TargetFlags, name: &str, json: Json) -> Result<Exit, Failure> {
    let wanted = flags.target().map_err(|error| Failure::usage(error.to_string()))?;
    let wanted = wanted.map_or_else(|| TargetText::default().target(), Ok);
    let wanted = wanted.map_err(|error| Failure::usage(error.to_string()))?;
    let host = Local;
    // What this machine lacks is said before a lock for it is made.
    let wanted = rig::settle(&host, wanted)?;
    let work = prepare::work_directory(&host).map_err(Failure::unusable)?;
    let _lock = prepare::lock(&host, &work).map_err(Failure::unusable)?;
    let interrupt = Interrupt::listen()?;
    if rig::names(&host, &work).map_err(Refusal::from)?.iter().any(|old| old == name) {
        if rig::status(&host, &work, name)?.state == State::Up {
            let stend = output::program();
            return Err(Failure::usage(format!(
                "target {name} exists already; remove it with `{stend} target down --name {name}`, or give this one another --name"
            )));
        }
        rig::take_down(&host, &work, name)?;
    }
    let checked = rig::check(&host, &work, name, wanted, &Needs::default())?;
    let probe = prepare::find_probe(&host).map_err(Failure::unusable)?;
    if !global.quiet {
        talk!("making target {name}: {}", checked.target);
    }
    rig::raise(&host, &probe, &work, name, &checked, &Needs::default(), &|| interrupt.requested())?;
    print(&[rig::status(&host, &work, name)?], json)?;
    Ok(Exit::Fine)
}

fn down(global: &Global, name: &str) -> Result<Exit, Failure> {
    let host = Local;
    let work = prepare::work_directory(&host).map_err(Failure::unusable)?;
    let there = host.list(&work).is_ok();
    let _lock = there.then(|| prepare::lock(&host, &work)).transpose().map_err(Failure::unusable)?;
    if !rig::take_down(&host, &work, name)? {
        let names = rig::names(&host, &work).map_err(Refusal::from)?;
        let known = if names.is_empty() { "none".into() } else { names.join(", ") };
        return Err(Failure::usage(format!("there is no target \"{name}\"; there is: {known}")));
    }
    if !global.quiet {
        talk!("target {name} is taken down");
    }
    Ok(Exit::Fine)
}

fn status(json: Json) -> Result<Exit, Failure> {
    let work = prepare::work_directory(&Local).map_err(Failure::unusable)?;
    let names = rig::names(&Local, &work).map_err(Refusal::from)?;
    let mut statuses = names.iter().map(|name| rig::status(&Local, &work, name)).collect::<Result<Vec<_>, _>>()?;
    let mut of_runs: Vec<_> =
        statuses.iter_mut().filter(|status| status.state == State::Up && is_run_id(&status.name)).collect();
    // A run that goes on has the directory to itself.
    if !of_runs.is_empty() && prepare::lock(&Local, &work).is_ok() {
        of_runs.iter_mut().for_each(|status| status.state = State::Left);
    }
    print(&statuses, json)?;
    Ok(Exit::Fine)
}

fn print(statuses: &[Status], json: Json) -> Result<(), Failure> {
    if json.json {
        return output::print_json("targets", &statuses);
    }
    if statuses.is_empty() {
        return output::print("there are no targets\n");
    }
    let mut text = String::new();
    let stend = output::program();
    for status in statuses {
        let state = match status.state {
            State::Up => "up".to_owned(),
            State::Left => format!(
                "left by a killed run; `{stend} resume {}` continues that run, `{stend} clean` removes it",
                status.name
            ),
            State::HalfMade => format!("half made; `{stend} clean` removes it"),
            State::BeforeBoot => {
                format!("gone since this machine was booted; `{stend} clean` removes what is left")
            }
        };
        let wanted = status.target.as_ref().map(|target| format!(": {target}")).unwrap_or_default();
        let _ = writeln!(text, "{}{wanted}: {state}", status.name);
        for (number, lun) in status.luns.iter().enumerate() {
            let _ = writeln!(text, "  lun{number}  {lun}");
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
    let number = process.process.map_or("not running".into(), |number| format!("process {number}"));
    let cpu = process.cpu_ns.map(|ns| format!("{:.2} s of CPU time", ns as f64 * 1e-9));
    let memory = process.memory_bytes.map(|bytes| format!("{} MiB of memory with page cache", bytes >> 20));
    format!(
        "{}: {number}, {}, {}",
        luns.join(" "),
        cpu.unwrap_or("CPU time not counted here".into()),
        memory.unwrap_or("memory not counted here".into())
    )
}
