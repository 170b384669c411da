//! `stend convert`: list the disks of VMware and Hyper-V in a directory, or convert them to qcow2, one after the other.

use std::cell::RefCell;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;
use stend_lab::convert::{Disk, scan};
use stend_lab::rig::conversion::{self, Outcome, Progress, Stage, Wanted};
use stend_lab::run::prepare;
use stend_model::quantity::{english_plural, format_size};
use stend_report::doc::{Doc, Frame, Role, Table, Value, words};
use stend_stand::host::Local;
use stend_stand::interrupt::Interrupt;

use super::Global;
use super::failure::{Exit, Failure};
use super::output::{self, Shown};
use super::progress::in_words;
use crate::voice::Line;

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Directory with the disks: VMDK, VHDX, VHD, and OVF or OVA with such; those below it are looked through too
    #[arg(value_name = "DIRECTORY")]
    from: PathBuf,
    /// Disks to convert, by their names in the list; the name of a directory or an OVA stands for all disks in it
    #[arg(value_name = "NAME", requires = "to")]
    names: Vec<String>,
    /// Convert all disks
    #[arg(long, requires = "to", conflicts_with = "names")]
    all: bool,
    /// Directory for the converted disks, each named NAME.qcow2
    #[arg(long, value_name = "DIRECTORY")]
    to: Option<PathBuf>,
    /// Give the guest on each disk what it takes to run under QEMU and KVM: drivers, boot loader (virt-v2v)
    #[arg(long, requires = "to")]
    adapt: bool,
    /// Start each converted disk as a guest, and wait until its operating system begins
    #[arg(long, requires = "to")]
    boot: bool,
    #[command(flatten)]
    shown: Shown,
}

pub(super) fn run(global: &Global, arguments: &Arguments) -> Result<Exit, Failure> {
    let from = &arguments.from;
    let disks = scan(from).map_err(|error| Failure::usage(format!("{}: {error}", from.display())))?;
    let Some(to) = &arguments.to else {
        arguments.shown.print(global, "disks", &disks, || list(&disks, from))?;
        return Ok(Exit::Fine);
    };
    let chosen = chosen(&disks, arguments)?;
    let to = to.canonicalize().map_err(|error| Failure::usage(format!("--to {}: {error}", to.display())))?;
    convert(global, &chosen, &to, arguments)
}

fn list(disks: &[Disk], from: &Path) -> Doc {
    if disks.is_empty() {
        let mut doc = Doc::default();
        doc.say(Role::Fact, [format!("there are no disks of VMware or Hyper-V in {}", from.display())]);
        return doc;
    }
    let columns = ["format", "size", "takes", "files", "machine"].map(words);
    let mut table = Table::new(&["disk"], columns, Frame::Head);
    for disk in disks {
        let cells = match &disk.problem {
            Some(problem) => [disk.format.to_string(), problem.clone()].map(Value::from).to_vec(),
            None => vec![
                disk.format.to_string().into(),
                size(disk.size).into(),
                size(disk.taken).into(),
                files(disk).into(),
                machine(disk).into(),
            ],
        };
        table.row(disk.name.as_str(), cells);
    }
    Doc::of(table)
}

fn size(bytes: u64) -> String {
    format_size(bytes >> 20 << 20)
}

fn files(disk: &Disk) -> String {
    let snapshots = disk.layers.saturating_sub(1);
    let of_chain = || format!(", {}", english_plural(snapshots, "snapshot", "snapshots"));
    format!("{}{}", disk.files.len(), if snapshots > 0 { of_chain() } else { String::new() })
}

fn machine(disk: &Disk) -> String {
    let Some(machine) = &disk.machine else { return String::new() };
    let cpus = machine.cpus.map(|cpus| english_plural(cpus as usize, "processor", "processors"));
    let memory = machine.memory.map(size);
    [Some(machine.name.clone()), cpus, memory].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// The disks that were named, each once.
fn chosen<'d>(disks: &'d [Disk], arguments: &Arguments) -> Result<Vec<&'d Disk>, Failure> {
    if arguments.names.is_empty() && !arguments.all {
        return Err(Failure::usage("name the disks to convert, or give --all"));
    }
    let is_named = |disk: &Disk, name: &str| {
        let rest = disk.name.strip_prefix(name.trim_end_matches('/'));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    for name in &arguments.names {
        if !disks.iter().any(|disk| is_named(disk, name)) {
            let from = arguments.from.display();
            return Err(Failure::usage(format!(
                "there is no disk \"{name}\" in {from}; `{} convert {from}` lists them",
                output::program()
            )));
        }
    }
    let is_chosen = |disk: &&Disk| arguments.all || arguments.names.iter().any(|name| is_named(disk, name));
    let chosen: Vec<_> = disks.iter().filter(is_chosen).collect();
    for (number, disk) in chosen.iter().enumerate() {
        if let Some(other) = chosen[..number].iter().find(|other| file_name(other) == file_name(disk)) {
            let name = file_name(disk);
            return Err(Failure::usage(format!(
                "{} and {} would both be {name}; convert them one by one",
                other.name, disk.name
            )));
        }
    }
    Ok(chosen)
}

/// What a converted disk is called.
fn file_name(disk: &Disk) -> String {
    format!("{}.qcow2", disk.name.replace(['/', '\n'], "-"))
}

fn convert(global: &Global, chosen: &[&Disk], to: &Path, arguments: &Arguments) -> Result<Exit, Failure> {
    let host = Local;
    let work = prepare::work_directory(&host).map_err(Failure::unusable)?;
    let _lock = prepare::lock(&host, &work).map_err(Failure::unusable)?;
    let probe = prepare::find_probe(&host).map_err(Failure::unusable)?;
    let interrupt = Interrupt::listen()?;
    let shown = Following::new(global.quiet);
    let booted = if arguments.boot { ", booted" } else { "" };
    let mut failed = 0;
    for (number, disk) in chosen.iter().enumerate() {
        let image = to.join(file_name(disk));
        let number = format!("[{}/{}]", number + 1, chosen.len());
        let place = format!("{number} {}", disk.name);
        if image.symlink_metadata().is_ok() {
            shown.say(&format!("{place}: left out, because {} is there already", image.display()));
            continue;
        }
        let began = Instant::now();
        shown.begin(&place);
        let image = image.to_string_lossy();
        let wanted = Wanted { disk, image: &image, adapts: arguments.adapt, boots: arguments.boot };
        let (tell, interrupted) = (|now| shown.follow(now), || interrupt.requested());
        let convert = || conversion::convert(&host, &probe, &work, wanted, &tell, &interrupted);
        match whole(disk).and_then(|()| convert().map_err(Failure::from)) {
            Ok(outcome) => {
                let (size, time) = (size(disk.size), in_words(began.elapsed()));
                let adapted = match outcome {
                    Outcome::Same => "",
                    Outcome::Adapted => ", adapted",
                    Outcome::NoSystem => ", not adapted because it has no operating system",
                };
                shown.tell(&format!("{place}: {size} in {time}, compared{adapted}{booted}: {image}"));
            }
            Err(failure) if failure.exit() == Exit::Interrupted || chosen.len() == 1 => return Err(failure),
            Err(failure) => {
                failed += 1;
                shown.say(&format!("{number} {failure}"));
            }
        }
    }
    match failed {
        0 => Ok(Exit::Fine),
        _ => Err(Failure::unusable(format!("{failed} of {} disks are not converted", chosen.len()))),
    }
}

/// Refuses a disk that is known to be broken, or is cut off.
fn whole(disk: &Disk) -> Result<(), Failure> {
    if let Some(problem) = &disk.problem {
        return Err(Failure::usage(format!("{}: {problem}", disk.name)));
    }
    disk.check().map_err(|(file, bad)| Failure::usage(format!("{file}: {bad}")))
}

/// What the user sees meanwhile.
struct Following {
    bar: Option<Line>,
    quiet: bool,
    /// What is converted, and what is done since when.
    now: RefCell<(String, Option<(Stage, Instant)>)>,
}

impl Following {
    /// How many steps the bar has.
    const STEPS: usize = 100;

    fn new(quiet: bool) -> Self {
        let bar = (std::io::stderr().is_terminal() && !quiet).then(|| Line::new("{pos:>3}% {bar:30} {msg}"));
        Self { bar, quiet, now: RefCell::default() }
    }

    fn say(&self, line: &str) {
        match &self.bar {
            Some(bar) => bar.say(line),
            None => talk!("{line}"),
        }
    }

    /// What is no failure.
    fn tell(&self, line: &str) {
        if !self.quiet {
            self.say(line);
        }
    }

    fn begin(&self, what: &str) {
        self.now.replace((what.to_owned(), None));
    }

    fn follow(&self, Progress { stage, share }: Progress) {
        let Some(bar) = &self.bar else { return };
        let (what, since) = &mut *self.now.borrow_mut();
        let began = match since {
            Some((of, began)) if *of == stage => *began,
            _ => since.insert((stage, Instant::now())).1,
        };
        let left = left(began.elapsed(), share).map(|left| format!("{} left · ", in_words(left))).unwrap_or_default();
        bar.count((share * Self::STEPS as f64) as usize, Self::STEPS);
        bar.show(&format!("{left}{} · {what}", stage.word()));
    }
}

/// How long it goes on if it goes on like this.
fn left(elapsed: Duration, share: f64) -> Option<Duration> {
    (share > 0.0).then(|| elapsed.mul_f64((1.0 - share).max(0.0) / share))
}
