//! The fingerprint of the machine under test.
//!
//! It has two parts with an id each: the hardware, and the software on it. Two runs are comparable in so far as these
//! agree. The texts that it was read from are kept, so that a better reader can read them again.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cause::Cause;
use crate::identity::identity_of;
use crate::quantity::format_size;

/// A machine's fingerprint.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Machine {
    /// What it is called, which is part of neither id: the name that the user gave it, else its name on the network.
    pub name: String,
    /// Its name on the network, where the user calls it otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network_name: Option<String>,
    /// What it is made of.
    pub hardware: Hardware,
    /// What runs on it.
    pub software: Software,
    /// Whether its kernel offers what not every kernel does, as `stend-probe` found by trying: `af_alg`, `ktls`. No part of an id, since a
    /// module may be loaded at any time.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub offers: BTreeMap<String, bool>,
    /// What could not be read, and why.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub missing: BTreeMap<String, Cause>,
    /// The texts that all this was read from, by file name or command.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub raw: BTreeMap<String, String>,
    /// Whether what may name it or its owner was left out (`stend export --public`).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub public: bool,
}

/// What a machine is made of. Nothing in it changes from one minute to the next.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
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
    /// Sockets; 0 if the machine does not say.
    pub sockets: u32,
    /// Cores in all; 0 if the machine does not say.
    pub cores: u32,
    /// Hardware threads in all, also those that are off line; 0 if the machine does not say.
    pub threads: u32,
    /// NUMA nodes; 1 under a kernel that knows nothing of them.
    pub numa_nodes: u32,
    /// Instruction set extensions, sorted.
    pub features: Vec<String>,
    /// Caches, from the core outwards.
    pub caches: Vec<Cache>,
    /// RAM, rounded to 256 MiB (below that to 16 MiB), since kernels keep some for themselves.
    pub memory_bytes: u64,
    /// The board or product, from DMI or the device tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub board: Option<String>,
    /// Whole disks.
    pub disks: Vec<Disk>,
}

/// The ranges of numbers in a list as the kernel writes it: `0-3,8`. What is no number or range is left out.
pub fn ranges(list: &str) -> impl Iterator<Item = RangeInclusive<u32>> {
    list.split(',').filter_map(|part| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        (first <= last && last < u32::MAX).then_some(first..=last)
    })
}

/// How many numbers are in such a list.
pub fn count_listed(list: &str) -> u32 {
    ranges(list).map(|range| range.end() - range.start() + 1).fold(0, u32::saturating_add)
}

/// One kind of cache.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Cache {
    /// 1, 2, 3 …
    pub level: u32,
    /// `data`, `instruction` or `unified`.
    pub kind: String,
    /// The size of one.
    pub bytes: u64,
    /// How many there are; 0 if the machine does not say.
    pub count: u32,
}

/// One whole disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Disk {
    /// Its kernel name, which is part of no id: kernels deal names out anew at each start.
    pub name: String,
    /// Its model, if it says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Its size.
    pub bytes: u64,
    /// Whether it spins.
    pub rotational: bool,
    /// The version of its firmware, if it says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub firmware: Option<String>,
}

/// What runs on a machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
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
    /// What that compiler was told beside the usual when it built the native instruments, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compiler_flags: Option<String>,
    /// The hypervisor, container or binary translation that it runs in, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub virtualization: Option<String>,
    /// What translates the instructions of `stend-probe` there, if no processor runs them as they are: `qemu-user`, `qemu-system`, or
    /// the name of another translator. What was measured so says nothing of any machine's speed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub emulator: Option<String>,
    /// The processor's microcode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub microcode: Option<String>,
    /// Of a guest that `stend` set up: what it is, and the processor and kernel of the machine that it runs on.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub guest: BTreeMap<String, String>,
    /// Vulnerabilities and what is done about them.
    pub mitigations: BTreeMap<String, String>,
    /// Settings of the kernel that change speeds.
    pub settings: BTreeMap<String, String>,
    /// Tools that suites use: version, and the digest of the program.
    pub tools: BTreeMap<String, Tool>,
}

/// A program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Difference {
    /// What: `kernel`, `mitigations.spectre_v2`.
    pub what: String,
    /// What the first machine has; empty if it has none.
    pub before: String,
    /// What the second machine has; empty if it has none.
    pub after: String,
}

impl Machine {
    /// Gives it the name by which a person knows it; what it calls itself stays beside.
    pub fn call(&mut self, name: &str) {
        if self.name != name {
            self.network_name = Some(std::mem::replace(&mut self.name, name.to_owned()));
        }
    }

    /// What it calls itself.
    pub fn own_name(&self) -> &str {
        self.network_name.as_deref().unwrap_or(&self.name)
    }

    /// The id of the hardware.
    pub fn hardware_id(&self) -> String {
        identity_of(&self.hardware.without_names())
    }

    /// The id of the software.
    pub fn software_id(&self) -> String {
        identity_of(&self.software)
    }

    /// In what this machine and `other` differ, hardware first; empty if both ids agree. What is left out of one that is public is left out of both.
    pub fn differences(&self, other: &Self) -> Vec<Difference> {
        let mut differences = Vec::new();
        let hardware = [&self.hardware, &other.hardware].map(|hardware| json(&hardware.without_names()));
        let public = self.public || other.public;
        let software = [&self.software, &other.software]
            .map(|software| if public { json(&software.public()) } else { json(software) });
        for [before, after] in &[hardware, software] {
            compare("", before, after, &mut differences);
        }
        differences
    }
}

impl Hardware {
    /// The same without what a restart may change: the names of disks, and their order with them.
    fn without_names(&self) -> Self {
        let mut hardware = self.clone();
        hardware.disks.iter_mut().for_each(|disk| disk.name.clear());
        hardware.disks.sort_by(|a, b| {
            (&a.model, a.bytes, a.rotational, &a.firmware).cmp(&(&b.model, b.bytes, b.rotational, &b.firmware))
        });
        hardware
    }
}

fn json<T: Serialize>(part: &T) -> serde_json::Value {
    serde_json::to_value(part).expect("a noun of the model is always valid JSON")
}

/// In what two parts of the same kind differ, under this name.
pub fn differences_of<T: Serialize>(name: &str, before: &T, after: &T, differences: &mut Vec<Difference>) {
    compare(name, &json(before), &json(after), differences);
}

/// Walks both values at once and notes where they differ. Lists of words are compared as sets, the kernel's command line among them; other
/// lists as a whole.
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
                compare(
                    &inside(key),
                    a.get(key).unwrap_or(&Value::Null),
                    b.get(key).unwrap_or(&Value::Null),
                    differences,
                );
            }
        }
        (Value::Array(a), Value::Array(b)) if a.iter().chain(b).all(Value::is_string) => {
            let only_in = |list: &[Value], other: &[Value]| {
                list.iter().filter(|word| !other.contains(word)).filter_map(Value::as_str).collect::<Vec<_>>().join(" ")
            };
            differences.push(Difference { what: name.into(), before: only_in(a, b), after: only_in(b, a) });
        }
        (Value::String(a), Value::String(b)) if name == "command_line" => {
            let only_in = |line: &str, other: &str| -> String {
                let other: Vec<_> = other.split_whitespace().collect();
                line.split_whitespace().filter(|word| !other.contains(word)).collect::<Vec<_>>().join(" ")
            };
            let (before, after) = match (only_in(a, b), only_in(b, a)) {
                // The same words in another order, of which the last one counts.
                (before, after) if before.is_empty() && after.is_empty() => (a.clone(), b.clone()),
                apart => apart,
            };
            differences.push(Difference { what: name.into(), before, after });
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
        Value::Object(fields) => {
            let words = fields.iter().map(|(key, value)| match (key.as_str(), value) {
                ("bytes", Value::Number(number)) => number.as_u64().map_or_else(|| number.to_string(), format_size),
                (_, Value::Bool(true)) => key.clone(),
                (_, Value::Bool(false)) => String::new(),
                ("level", Value::Number(level)) => format!("L{level}"),
                ("count", Value::Number(count)) => format!("× {count}"),
                _ => in_words(value),
            });
            words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_the_kernel_are_read() {
        assert!(ranges("0-2,8").flatten().eq([0, 1, 2, 8]));
        assert_eq!(count_listed("0-3,8"), 5);
        assert_eq!(count_listed("0\n"), 1);
        assert_eq!(count_listed("3-0,x,-,4294967295-,0-4294967295"), 0);
    }

    fn disk(name: &str, model: &str) -> Disk {
        Disk { name: name.into(), model: Some(model.into()), bytes: 1 << 40, rotational: false, firmware: None }
    }

    fn machine() -> Machine {
        Machine {
            name: "a".into(),
            network_name: None,
            hardware: Hardware {
                architecture: "x86_64".into(),
                processor: "Processor".into(),
                vendor: None,
                revision: BTreeMap::new(),
                sockets: 1,
                cores: 2,
                threads: 4,
                numa_nodes: 1,
                features: vec!["avx".into(), "sse".into()],
                caches: vec![Cache { level: 1, kind: "data".into(), bytes: 32 << 10, count: 2 }],
                memory_bytes: 1 << 30,
                board: None,
                disks: vec![disk("sda", "A"), disk("sdb", "B")],
            },
            software: Software {
                kernel: "5.4.0".into(),
                kernel_build: String::new(),
                command_line: String::new(),
                system: "System".into(),
                libc: None,
                compiler: None,
                compiler_flags: None,
                virtualization: None,
                emulator: None,
                microcode: None,
                guest: BTreeMap::new(),
                mitigations: BTreeMap::from([("spectre_v2".into(), "Vulnerable".into())]),
                settings: BTreeMap::new(),
                tools: BTreeMap::new(),
            },
            missing: BTreeMap::new(),
            raw: BTreeMap::new(),
            offers: BTreeMap::new(),
            public: false,
        }
    }

    #[test]
    fn neither_its_name_nor_what_was_kept_or_missed_is_part_of_an_id() {
        let mut other = machine();
        other.name = "b".into();
        other.missing.insert("libc".into(), Cause::AskedInPart);
        other.raw.insert("/proc/version".into(), "text".into());
        assert_eq!(machine().hardware_id(), other.hardware_id());
        assert_eq!(machine().software_id(), other.software_id());
        assert_eq!(machine().differences(&other), []);
    }

    #[test]
    fn disks_that_change_their_names_are_the_same_disks() {
        let mut other = machine();
        other.hardware.disks = vec![disk("sda", "B"), disk("sdb", "A")];
        assert_eq!(machine().hardware_id(), other.hardware_id());
        assert_eq!(machine().differences(&other), []);
    }

    #[test]
    fn differences_are_named_by_their_place() {
        let mut other = machine();
        other.hardware.features = vec!["sse".into(), "avx2".into()];
        other.hardware.caches[0].bytes = 48 << 10;
        other.software.mitigations.clear();
        let difference = |what: &str, before: &str, after: &str| Difference {
            what: what.into(),
            before: before.into(),
            after: after.into(),
        };
        assert_eq!(
            machine().differences(&other),
            [
                difference("caches", "32KiB × 2 data L1", "48KiB × 2 data L1"),
                difference("features", "avx", "avx2"),
                difference("mitigations.spectre_v2", "Vulnerable", ""),
            ]
        );
        assert_ne!(machine().hardware_id(), other.hardware_id());
        assert_ne!(machine().software_id(), other.software_id());
    }

    #[test]
    fn of_the_kernels_command_line_only_the_words_that_differ_are_told() {
        let apart = |before: &str, after: &str| {
            let of = |line: &str| {
                let mut machine = machine();
                machine.software.command_line = line.into();
                machine
            };
            let [difference] = of(before).differences(&of(after)).try_into().unwrap();
            assert_eq!(difference.what, "command_line");
            (difference.before, difference.after)
        };
        let words = |before: &str, after: &str| (before.to_owned(), after.to_owned());
        assert_eq!(
            apart("ro quiet mitigations=off", "ro isolcpus=2-3 quiet"),
            words("mitigations=off", "isolcpus=2-3")
        );
        assert_eq!(apart("ro quiet", "ro quiet nosmt"), words("", "nosmt"));
        // Of a setting that stands twice the last one counts.
        assert_eq!(apart("psi=0 psi=1", "psi=1 psi=0"), words("psi=0 psi=1", "psi=1 psi=0"));
    }
}
