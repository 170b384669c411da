//! What a processor is, from its blocks in `/proc/cpuinfo`.

use std::collections::{BTreeMap, BTreeSet};

use super::arm;
use super::cpuinfo::{Block, CpuInfo};
use super::texts::Texts;

/// A family of instruction sets, as far as it decides how a `/proc/cpuinfo` looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    X86,
    Arm,
    RiscV,
    LoongArch,
    Elbrus,
    Power,
    S390,
    Mips,
}

impl Family {
    /// The family that `uname -m` names.
    pub(super) fn of_architecture(architecture: &str) -> Option<Self> {
        let starts = |names: &[&str]| names.iter().any(|name| architecture.starts_with(name));
        Some(match architecture {
            "i386" | "i486" | "i586" | "i686" => Self::X86,
            _ if starts(&["x86_64", "amd64"]) => Self::X86,
            _ if starts(&["arm", "aarch64"]) => Self::Arm,
            _ if starts(&["riscv"]) => Self::RiscV,
            _ if starts(&["loongarch"]) => Self::LoongArch,
            _ if starts(&["e2k"]) => Self::Elbrus,
            _ if starts(&["ppc", "power"]) => Self::Power,
            _ if starts(&["s390"]) => Self::S390,
            _ if starts(&["mips"]) => Self::Mips,
            _ => return None,
        })
    }

    /// The family whose kernel wrote this `/proc/cpuinfo`, if it shows.
    pub(super) fn of_cpuinfo(info: &CpuInfo) -> Option<Self> {
        let has = |key| info.get(key).is_some();
        let vendor = info.get("vendor_id").unwrap_or("");
        if has("cpu implementer") {
            Some(Self::Arm)
        } else if has("hart") || has("mvendorid") || has("uarch") {
            Some(Self::RiscV)
        } else if vendor.contains("MCST") || info.get("cache0").is_some_and(|text| text.contains("scope=")) {
            Some(Self::Elbrus)
        } else if info.get("isa").is_some_and(|text| text.contains("loongarch")) {
            Some(Self::LoongArch)
        } else if vendor == "IBM/S390" {
            Some(Self::S390)
        } else if has("cpu model") {
            Some(Self::Mips)
        } else if has("timebase") {
            Some(Self::Power)
        } else if has("flags") && has("cpu family") {
            Some(Self::X86)
        } else {
            None
        }
    }
}

/// What is known of a machine's processors.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Processor {
    /// Their name; where there are several kinds, each with its number.
    pub(super) name: Option<String>,
    /// Who made them.
    pub(super) vendor: Option<String>,
    /// Family, model, stepping, or their counterparts.
    pub(super) revision: BTreeMap<String, String>,
    /// Instruction set extensions, sorted.
    pub(super) features: Vec<String>,
    /// The microcode.
    pub(super) microcode: Option<String>,
}

impl Processor {
    /// Takes what `/proc/cpuinfo` says, and the device tree where that says no name.
    pub(super) fn of(info: &CpuInfo, texts: &Texts) -> Self {
        let family = Family::of_cpuinfo(info);
        let compatible = device_tree_name(texts);
        Self {
            name: names(info, family).or(compatible),
            vendor: vendor(info, family),
            revision: revision(info, family, texts),
            features: features(info, family),
            microcode: joined(&info.distinct("microcode")),
        }
    }
}

/// A number in hexadecimal with its `0x`, or in decimal.
fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

fn small(text: Option<&str>) -> Option<u32> {
    number(text?).and_then(|value| u32::try_from(value).ok())
}

fn joined(values: &[&str]) -> Option<String> {
    (!values.is_empty()).then(|| values.join(", "))
}

/// The names of all processors; one name if they are of one kind, otherwise each kind with its number.
fn names(info: &CpuInfo, family: Option<Family>) -> Option<String> {
    let none = Block::new();
    let blocks = if info.processors.is_empty() { vec![&none] } else { info.processors.iter().collect() };
    let mut kinds: Vec<(String, usize)> = Vec::new();
    for name in blocks.iter().filter_map(|block| name_of(info, block, family)) {
        match kinds.iter_mut().find(|(kind, _)| *kind == name) {
            Some((_, count)) => *count += 1,
            None => kinds.push((name, 1)),
        }
    }
    match kinds.as_slice() {
        [] => None,
        [(name, _)] => Some(name.clone()),
        _ => Some(kinds.iter().map(|(name, count)| format!("{count} × {name}")).collect::<Vec<_>>().join(" + ")),
    }
}

fn name_of(info: &CpuInfo, block: &Block, family: Option<Family>) -> Option<String> {
    let field = |key| info.of(block, key);
    let own = match family {
        Some(Family::Arm) => arm_core(field("cpu implementer"), field("cpu part")),
        Some(Family::RiscV) => field("uarch").map(str::to_owned).or_else(|| {
            let maker = risc_v_maker(field("mvendorid"))?;
            Some(format!("{maker} RISC-V core, marchid {}", field("marchid").unwrap_or("unknown")))
        }),
        Some(Family::Elbrus) => field("model name").map(|name| format!("Elbrus {name}")),
        _ => None,
    };
    let keys = ["model name", "cpu model", "cpu", "system type"];
    own.or_else(|| keys.into_iter().find_map(field).map(single_spaced))
}

/// Processors pad their names with spaces.
fn single_spaced(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn arm_core(implementer: Option<&str>, part: Option<&str>) -> Option<String> {
    let (implementer, part) = (small(implementer)?, small(part)?);
    let maker =
        arm::implementer(implementer).map_or_else(|| format!("ARM implementer {implementer:#04x}"), str::to_owned);
    let core = arm::part(implementer, part).map_or_else(|| format!("part {part:#05x}"), str::to_owned);
    Some(format!("{maker} {core}"))
}

/// The JEDEC numbers of makers of RISC-V cores.
fn risc_v_maker(number_of_maker: Option<&str>) -> Option<&'static str> {
    Some(match number(number_of_maker?)? {
        0x489 => "SiFive",
        0x5b7 => "T-Head",
        0x31e => "Andes",
        0x127 => "MIPS",
        0x61f => "Ventana",
        0x710 => "SpacemiT",
        _ => return None,
    })
}

/// The name of the first processor in the device tree, such as `thead,c910`.
fn device_tree_name(texts: &Texts) -> Option<String> {
    let (_, names) = texts.below("proc/device-tree/cpus/").find(|(name, _)| name.ends_with("/compatible"))?;
    names.split_whitespace().next().filter(|name| *name != "riscv").map(str::to_owned)
}

fn vendor(info: &CpuInfo, family: Option<Family>) -> Option<String> {
    if family == Some(Family::Arm) {
        let makers: Vec<_> = info
            .distinct("cpu implementer")
            .into_iter()
            .filter_map(|text| arm::implementer(small(Some(text))?))
            .collect();
        return joined(&makers);
    }
    if family == Some(Family::RiscV) {
        let by_name = || match info.get("uarch")?.split_once(',')?.0 {
            "sifive" => Some("SiFive"),
            "thead" => Some("T-Head"),
            "andestech" => Some("Andes"),
            "spacemit" => Some("SpacemiT"),
            _ => None,
        };
        return risc_v_maker(info.get("mvendorid")).or_else(by_name).map(str::to_owned);
    }
    let said = match family {
        Some(Family::Elbrus) => "MCST",
        Some(Family::LoongArch) => "Loongson",
        Some(Family::Power) => "IBM",
        _ => match info.get("vendor_id")? {
            "GenuineIntel" => "Intel",
            "AuthenticAMD" => "AMD",
            "HygonGenuine" => "Hygon",
            "CentaurHauls" => "Centaur/Zhaoxin",
            "Shanghai" => "Zhaoxin",
            "IBM/S390" => "IBM",
            other => other,
        },
    };
    Some(said.to_owned())
}

fn revision(info: &CpuInfo, family: Option<Family>, texts: &Texts) -> BTreeMap<String, String> {
    let mut revision = BTreeMap::new();
    let keys: &[(&str, &str)] = match family {
        Some(Family::Arm) => &[("cpu architecture", "architecture")],
        Some(Family::RiscV) => {
            &[("mvendorid", "mvendorid"), ("marchid", "marchid"), ("mimpid", "mimpid"), ("mmu", "mmu")]
        }
        Some(Family::LoongArch) => &[("cpu family", "family"), ("cpu revision", "revision")],
        _ => &[("cpu family", "family"), ("model", "model"), ("stepping", "stepping"), ("revision", "revision")],
    };
    for (key, name) in keys {
        if let Some(values) = joined(&info.distinct(key)) {
            revision.insert((*name).to_owned(), values);
        }
    }
    if family == Some(Family::Arm) {
        let mut steps: Vec<String> = Vec::new();
        for block in &info.processors {
            let variant = small(info.of(block, "cpu variant"));
            let patch = small(info.of(block, "cpu revision"));
            if let (Some(variant), Some(patch)) = (variant, patch) {
                let step = format!("r{variant}p{patch}");
                if !steps.contains(&step) {
                    steps.push(step);
                }
            }
        }
        if !steps.is_empty() {
            revision.insert("revision".into(), steps.join(", "));
        }
    }
    let chip = ["soc_id", "family"].into_iter().find_map(|name| texts.line(&format!("sys/devices/soc0/{name}")));
    if let Some(chip) = chip.or_else(|| info.get("hardware")) {
        revision.insert("chip".into(), chip.to_owned());
    }
    revision
}

fn features(info: &CpuInfo, family: Option<Family>) -> Vec<String> {
    let mut features = BTreeSet::new();
    // In a machine with several kinds of cores a program can count on what all of them have, but each is listed: it says what
    // the machine is, not what may be used.
    for text in ["flags", "features"].into_iter().flat_map(|key| info.distinct(key)) {
        let words = text.split_whitespace().map(str::to_lowercase);
        features.extend(words.filter(|word| family != Some(Family::X86) || is_x86_instruction_set(word)));
    }
    if matches!(family, Some(Family::RiscV)) {
        for text in info.distinct("isa") {
            let mut parts = text.split('_').map(str::trim).filter(|part| !part.is_empty());
            features.extend(parts.next().map(str::to_lowercase));
            features.extend(parts.map(str::to_lowercase));
        }
    }
    features.into_iter().collect()
}

/// Whether a flag of x86 names instructions. The rest says what the kernel does (`pti`, `ibrs`), how the machine counts time,
/// or what only kernels use: it would change the hardware's id with the kernel. TSX is left out for the same reason, since
/// kernels switch it off.
fn is_x86_instruction_set(flag: &str) -> bool {
    const PREFIXES: [&str; 7] = ["sse", "avx", "amx_", "bmi", "sha_", "sha5", "3dnow"];
    const WORDS: [&str; 49] = [
        "abm",
        "ace",
        "ace2",
        "adx",
        "aes",
        "cldemote",
        "clflush",
        "clflushopt",
        "clwb",
        "clzero",
        "cmov",
        "cmpccxadd",
        "cx16",
        "cx8",
        "erms",
        "f16c",
        "fma",
        "fma4",
        "fpu",
        "fsrm",
        "fxsr",
        "fzrm",
        "gfni",
        "gmi",
        "lahf_lm",
        "lm",
        "mmx",
        "mmxext",
        "movbe",
        "movdir64b",
        "movdiri",
        "pclmulqdq",
        "pni",
        "popcnt",
        "rdpid",
        "rdrand",
        "rdseed",
        "rdtscp",
        "serialize",
        "sm3",
        "sm4",
        "ssse3",
        "tbm",
        "vaes",
        "vpclmulqdq",
        "waitpkg",
        "xop",
        "xsave",
        "xsavec",
    ];
    PREFIXES.iter().any(|prefix| flag.starts_with(prefix)) || WORDS.contains(&flag)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn processor(text: &str) -> Processor {
        Processor::of(&CpuInfo::parse(text), &Texts::default())
    }

    #[test]
    fn several_kinds_of_cores_are_counted() {
        let block = |n: u32, part: &str| format!("processor : {n}\nCPU implementer : 0x41\nCPU part : {part}\n\n");
        let text: String = (0..4).map(|n| block(n, "0xd05")).chain((4..8).map(|n| block(n, "0xd0b"))).collect();
        assert_eq!(processor(&text).name.as_deref(), Some("4 × ARM Cortex-A55 + 4 × ARM Cortex-A76"));
    }

    #[test]
    fn an_unknown_core_is_named_by_its_numbers() {
        let text = "processor : 0\nCPU implementer : 0x77\nCPU part : 0x123\n";
        assert_eq!(processor(text).name.as_deref(), Some("ARM implementer 0x77 part 0x123"));
        assert_eq!(processor(text).vendor, None);
    }

    #[test]
    fn power_and_mips_have_names_too() {
        let power = "processor\t: 0\ncpu\t\t: POWER9, altivec supported\nrevision\t: 2.2\n\ntimebase\t: 512000000\n";
        assert_eq!(processor(power).name.as_deref(), Some("POWER9, altivec supported"));
        let mips = "system type : board\nprocessor : 0\ncpu model : MIPS 1004Kc V2.15\n";
        assert_eq!(processor(mips).name.as_deref(), Some("MIPS 1004Kc V2.15"));
    }

    #[test]
    fn flags_of_the_kernel_are_no_instruction_sets() {
        let text = "processor : 0\ncpu family : 6\nflags : fpu sse4_2 pti ibrs hypervisor avx512f rtm constant_tsc\n";
        assert_eq!(processor(text).features, ["avx512f", "fpu", "sse4_2"]);
    }

    #[test]
    fn nothing_gives_nothing() {
        assert_eq!(processor(""), Processor::default());
    }
}
