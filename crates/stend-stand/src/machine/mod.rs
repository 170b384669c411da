//! The fingerprint of the machine under test, and whether it is fit to measure.
//!
//! Everything is asked of the machine in one or two small shell scripts, because over ssh each question costs a round trip.
//! What the scripts print is read here, by functions that know nothing but text.

mod arm;
mod caches;
mod check;
mod cpuinfo;
mod disks;
mod judge;
mod kernel;
mod memory;
mod processor;
mod settings;
mod texts;
mod tools;
mod topology;
mod userland;
mod virtualization;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::time::Duration;

use stend_model::cause::Cause;
use stend_model::machine::{Hardware, Machine, Software};
use thiserror::Error;

use crate::host::{Command, Host, HostError, Output};
use cpuinfo::CpuInfo;
use processor::Processor;
use texts::Texts;
use topology::Topology;

pub use check::{check, conditions_answered, conditions_question};
pub use judge::{Finding, Space, State, TICKS_OF_DOUBT, Use};
pub use settings::chosen;
pub use tools::{ToolQuery, tools};
pub use userland::compiler_of;

/// Why a machine does not answer.
#[derive(Debug, Error)]
pub enum Unanswered {
    /// Nobody has asked it.
    #[error("it was not asked")]
    Unasked,
    /// It takes too long.
    #[error("it did not answer in time")]
    TooSlow,
    /// It cannot be asked.
    #[error(transparent)]
    Host(#[from] HostError),
}

/// Takes the fingerprint of a machine. What it does not say is in [`Machine::missing`] with why, and never invented; a machine
/// that cannot be asked at all has a fingerprint of which everything is missing, with the reason under `collection`.
pub fn collect(host: &dyn Host, queries: &[ToolQuery]) -> Machine {
    let mut machine = from_answer(host.run(&collection()).map_err(Unanswered::from));
    if machine.missing.contains_key("collection") {
        return machine;
    }
    match tools(host, queries) {
        Ok((found, missing)) => {
            machine.software.tools = found;
            machine.missing.extend(missing);
        }
        Err(error) => {
            machine.missing.insert("tools".into(), Cause::Unasked { said: error.to_string() });
        }
    }
    machine
}

/// What asks a machine for all but its tools.
pub fn collection() -> Command {
    command(concat!(include_str!("texts.sh"), include_str!("collect.sh")), &[])
}

/// The fingerprint, without the tools, from what a machine answered to [`collection`], or why it did not.
pub fn from_answer(collected: Result<Output, Unanswered>) -> Machine {
    match collected {
        Ok(output) => read(&output),
        Err(error) => {
            let mut machine = read(&Output::default());
            machine.missing.insert("collection".into(), Cause::Unasked { said: error.to_string() });
            machine
        }
    }
}

/// One of the scripts of this module, to be run in the root directory.
fn command(text: &str, arguments: &[&str]) -> Command {
    let words = ["sh", "-c", text, "sh"].into_iter().chain(arguments.iter().copied());
    let mut command = Command::new(words);
    command.directory = Some("/".into());
    // An emulated machine on a busy host is that slow.
    command.timeout = Duration::from_secs(600);
    command
}

/// The fingerprint from what the script printed.
fn read(output: &Output) -> Machine {
    let texts = Texts::parse(output);
    let info = CpuInfo::parse(texts.get("proc/cpuinfo").unwrap_or(""));
    let mut missing = Missing::new();
    let hardware = hardware(&texts, &info, &mut missing);
    let software = software(&texts, &info, &mut missing);
    if !output.text().lines().any(|line| line == "end:") {
        missing.insert("collection".into(), Cause::AskedInPart);
    }
    let name = texts.line("uname -n").unwrap_or("").to_owned();
    let offers = BTreeMap::new();
    Machine { name, network_name: None, hardware, software, offers, missing, raw: raw(&texts), public: false }
}

/// What could not be read, and why.
type Missing = BTreeMap<String, Cause>;

/// The value, or an empty one and a note on why there is none.
fn or_missing<T: Default>(missing: &mut Missing, what: &str, value: Option<T>, why: impl FnOnce() -> Cause) -> T {
    value.unwrap_or_else(|| {
        missing.insert(what.to_owned(), why());
        T::default()
    })
}

fn nothing_in(sources: &[&str]) -> Cause {
    Cause::Silent { sources: sources.iter().map(|&source| source.to_owned()).collect() }
}

fn hardware(texts: &Texts, info: &CpuInfo, missing: &mut Missing) -> Hardware {
    let architecture = texts.line("uname -m").map(str::to_owned);
    let architecture = or_missing(missing, "architecture", architecture, || texts.why("uname -m"));
    let processor = Processor::of(info, texts);
    let topology = Topology::of(texts, info);
    for (what, count) in [("sockets", topology.sockets), ("cores", topology.cores), ("threads", topology.threads)] {
        if count == 0 {
            missing.insert(what.into(), nothing_in(&["/sys/devices/system/cpu", "/proc/cpuinfo"]));
        }
    }
    if texts.get("sys/devices/system/node/online").is_none() {
        missing.insert("numa_nodes".into(), texts.why("sys/devices/system/node/online"));
    }
    let mut caches = caches::from_sysfs(texts.get("caches").unwrap_or(""));
    if caches.is_empty() {
        caches = caches::from_cpuinfo(info, &topology);
    }
    if caches.is_empty() {
        missing.insert("caches".into(), nothing_in(&["/sys/devices/system/cpu", "/proc/cpuinfo"]));
    }
    let memory = texts.get("proc/meminfo").and_then(|text| memory::entry(text, "MemTotal")).map(memory::rounded);
    let (disks, left_out) = disks::disks(texts);
    missing.extend(left_out.into_iter().map(|(name, why)| (format!("disks.{name}"), why)));
    if disks.is_empty() {
        missing.entry("disks".into()).or_insert_with(|| nothing_in(&["/sys/block"]));
    }
    let board = board(texts);
    if board.is_none() {
        missing.insert("board".into(), texts.why("sys/class/dmi/id/product_name"));
    }
    Hardware {
        processor: or_missing(missing, "processor", processor.name, || nothing_in(&["/proc/cpuinfo"])),
        architecture,
        vendor: processor.vendor,
        revision: processor.revision,
        sockets: topology.sockets,
        cores: topology.cores,
        threads: topology.threads,
        numa_nodes: topology.numa_nodes,
        features: processor.features,
        caches,
        memory_bytes: or_missing(missing, "memory", memory, || texts.why("proc/meminfo")),
        board,
        disks,
    }
}

/// The product and the board in it, from DMI or the device tree.
fn board(texts: &Texts) -> Option<String> {
    // What makers of boards leave in when they fill in nothing.
    const EMPTY: [&str; 7] = [
        "To Be Filled By O.E.M.",
        "To be filled by O.E.M.",
        "System Product Name",
        "System manufacturer",
        "Default string",
        "None",
        "Not Specified",
    ];
    let dmi = |name: &str| texts.line(&format!("sys/class/dmi/id/{name}")).filter(|text| !EMPTY.contains(text));
    let pair = |a: Option<&str>, b: Option<&str>| match (a, b) {
        (Some(a), Some(b)) if b.starts_with(a) => Some(b.to_owned()),
        (Some(a), Some(b)) => Some(format!("{a} {b}")),
        (a, b) => a.or(b).map(str::to_owned),
    };
    let product = pair(dmi("sys_vendor"), dmi("product_name"));
    let board = dmi("board_name").and_then(|name| pair(dmi("board_vendor"), Some(name)));
    let by_dmi = match (product, board) {
        (Some(product), Some(board)) if product != board => Some(format!("{product} (board {board})")),
        (product, board) => product.or(board),
    };
    by_dmi.or_else(|| {
        ["proc/device-tree/model", "sys/devices/soc0/machine"]
            .into_iter()
            .find_map(|name| Some(texts.line(name)?.to_owned()))
    })
}

fn software(texts: &Texts, info: &CpuInfo, missing: &mut Missing) -> Software {
    let mut text =
        |what: &str, name: &str| or_missing(missing, what, texts.get(name).map(str::to_owned), || texts.why(name));
    let kernel = text("kernel", "proc/sys/kernel/osrelease");
    let kernel_build = text("kernel_build", "proc/version");
    let command_line = kernel::anonymous(&text("command_line", "proc/cmdline"));
    let system = texts.get("etc/os-release").and_then(userland::system);
    let system = or_missing(missing, "system", system, || texts.why("etc/os-release"));
    let libc = userland::libc(texts);
    if libc.is_none() {
        missing.insert("libc".into(), texts.why("ldd --version"));
    }
    let compiler = userland::compiler(texts);
    if compiler.is_none() {
        let tools = userland::COMPILERS.map(str::to_owned).into();
        missing.insert("compiler".into(), Cause::NoneOnPath { tools });
    }
    let vulnerabilities = "sys/devices/system/cpu/vulnerabilities/";
    let mitigations: BTreeMap<_, _> =
        texts.below(vulnerabilities).map(|(name, text)| (name.to_owned(), text.to_owned())).collect();
    if mitigations.is_empty() {
        missing.insert("mitigations".into(), texts.why(&format!("{vulnerabilities}*")));
    }
    let (settings, unread) = settings::settings(texts);
    missing.extend(unread);
    Software {
        kernel,
        kernel_build,
        command_line,
        system,
        libc,
        compiler,
        compiler_flags: None,
        virtualization: virtualization::virtualization(texts, info),
        emulator: None,
        microcode: Processor::of(info, texts).microcode,
        guest: BTreeMap::new(),
        mitigations,
        settings,
        tools: BTreeMap::new(),
    }
}

/// The texts to keep: without what names the machine, and none of them too long.
fn raw(texts: &Texts) -> BTreeMap<String, String> {
    const LONGEST: usize = 64 << 10;
    let kept = texts.all().filter(|(name, text)| {
        // A control group's name is often that of a container or of a user's session.
        !["uname -n", "end", "proc/1/cgroup"].contains(name) && !text.trim().is_empty() && text.len() <= LONGEST
            || *name == "proc/cpuinfo"
    });
    kept.map(|(name, text)| {
        let text = match name {
            "proc/cpuinfo" => cpuinfo::to_keep(text),
            "proc/cmdline" => kernel::anonymous(text),
            _ => text.to_owned(),
        };
        let is_file = name.split(' ').next().is_some_and(|word| word.contains('/'));
        (if is_file { format!("/{name}") } else { name.to_owned() }, text)
    })
    .collect()
}
