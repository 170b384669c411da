//! The fingerprint of the machine under test.
//!
//! It has two parts with an id each: the hardware, and the software on it. Two runs are comparable in so far as these
//! agree. The texts that it was read from are kept, so that a better reader can read them again.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::identity::identity_of;

/// A machine's fingerprint.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// Its name on the network, which is part of neither id.
    pub name: String,
    /// What it is made of.
    pub hardware: Hardware,
    /// What runs on it.
    pub software: Software,
    /// What could not be read, and why.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub missing: BTreeMap<String, String>,
    /// The texts that all this was read from, by file name or command.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub raw: BTreeMap<String, String>,
}

/// What a machine is made of. Nothing in it changes from one minute to the next.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Hardware {
    /// As `uname -m` says: `x86_64`, `aarch64`, `riscv64`, `e2k`.
    pub architecture: String,
    /// The processor's name.
    pub processor: String,
    /// Who made it, if it says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vendor: Option<String>,
    /// Family, model and stepping, or their counterparts elsewhere.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub revision: BTreeMap<String, String>,
    /// Sockets.
    pub sockets: u32,
    /// Cores in all.
    pub cores: u32,
    /// Hardware threads in all.
    pub threads: u32,
    /// NUMA nodes.
    pub numa_nodes: u32,
    /// Instruction set extensions, sorted.
    pub features: Vec<String>,
    /// Caches, from the core outwards.
    pub caches: Vec<Cache>,
    /// RAM, rounded to 256 MiB, since kernels keep some for themselves.
    pub memory_bytes: u64,
    /// The board or product, from DMI or the device tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub board: Option<String>,
    /// Whole disks.
    pub disks: Vec<Disk>,
}

/// One kind of cache.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cache {
    /// 1, 2, 3 …
    pub level: u32,
    /// `data`, `instruction` or `unified`.
    pub kind: String,
    /// The size of one.
    pub bytes: u64,
    /// How many there are.
    pub count: u32,
}

/// One whole disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Disk {
    /// Its kernel name.
    pub name: String,
    /// Its model, if it says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Its size.
    pub bytes: u64,
    /// Whether it spins.
    pub rotational: bool,
}

/// What runs on a machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Software {
    /// The kernel's release.
    pub kernel: String,
    /// The kernel's build, from `/proc/version`.
    pub kernel_build: String,
    /// The kernel's command line, without what names this machine.
    pub command_line: String,
    /// The system's name.
    pub system: String,
    /// The C library.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub libc: Option<String>,
    /// The C compiler: the first two lines of `cc --version`, because Elbrus' compiler says its own version in the first and
    /// the gcc that it is compatible with in the second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compiler: Option<String>,
    /// The hypervisor, container or binary translation that it runs in, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub virtualization: Option<String>,
    /// The processor's microcode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub microcode: Option<String>,
    /// Vulnerabilities and what is done about them.
    pub mitigations: BTreeMap<String, String>,
    /// Settings of the kernel that change speeds.
    pub settings: BTreeMap<String, String>,
    /// Tools that suites use: version, and the digest of the program.
    pub tools: BTreeMap<String, Tool>,
}

/// A program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tool {
    /// What it says of itself.
    pub version: String,
    /// Where it lies.
    pub path: String,
    /// SHA-256 of its file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
}

/// One thing in which two machines differ.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// What: `kernel`, `mitigations.spectre_v2`.
    pub what: String,
    /// What the first machine has; empty if it has none.
    pub before: String,
    /// What the second machine has; empty if it has none.
    pub after: String,
}

impl Machine {
    /// The id of the hardware.
    pub fn hardware_id(&self) -> String {
        identity_of(&self.hardware)
    }

    /// The id of the software.
    pub fn software_id(&self) -> String {
        identity_of(&self.software)
    }

    /// In what this machine and `other` differ, hardware first; empty if both ids agree.
    pub fn differences(&self, other: &Self) -> Vec<Difference> {
        let mut differences = Vec::new();
        let parts = [("", json(&self.hardware), json(&other.hardware)), ("", json(&self.software), json(&other.software))];
        for (name, before, after) in &parts {
            compare(name, before, after, &mut differences);
        }
        differences
    }
}

fn json<T: Serialize>(part: &T) -> serde_json::Value {
    serde_json::to_value(part).expect("a noun of the model is always valid JSON")
}

/// Walks both values at once and notes where they differ. Lists of words are compared as sets, other lists as a whole.
fn compare(name: &str, before: &serde_json::Value, after: &serde_json::Value, differences: &mut Vec<Difference>) {
    use serde_json::Value;
    if before == after {
        return;
    }
    let inside = |key: &str| if name.is_empty() { key.to_owned() } else { format!("{name}.{key}") };
    match (before, after) {
        (Value::Object(a), Value::Object(b)) => {
            let keys: std::collections::BTreeSet<_> = a.keys().chain(b.keys()).collect();
            for key in keys {
                compare(&inside(key), a.get(key).unwrap_or(&Value::Null), b.get(key).unwrap_or(&Value::Null), differences);
            }
        }
        (Value::Array(a), Value::Array(b)) if a.iter().chain(b).all(Value::is_string) => {
            let only_in = |list: &[Value], other: &[Value]| {
                list.iter().filter(|word| !other.contains(word)).filter_map(Value::as_str).collect::<Vec<_>>().join(" ")
            };
            differences.push(Difference { what: name.into(), before: only_in(a, b), after: only_in(b, a) });
        }
        _ => differences.push(Difference { what: name.into(), before: in_words(before), after: in_words(after) }),
    }
}

fn in_words(value: &serde_json::Value) -> String {
    use serde_json::Value;
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(in_words).collect::<Vec<_>>().join(", "),
        Value::Object(fields) => fields.values().map(in_words).collect::<Vec<_>>().join(" "),
        other => other.to_string(),
    }
}
