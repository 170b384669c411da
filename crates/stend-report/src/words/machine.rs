//! Machines and their differences in words.

use stend_model::identity::short;
use stend_model::machine::{Cache, Difference, Machine, Software};

use fluent_bundle::{FluentArgs, FluentValue};

use super::{message, name, part, plain};
use crate::numbers::in_language;
use crate::words::language::Language;

fn filled(name: &str, given: &[(&str, FluentValue)], language: Language) -> String {
    message(name, &given.iter().map(|(name, value)| (*name, value.clone())).collect(), language)
}

/// As long as a line of a head may be, in characters.
const WIDTH: usize = 110;

/// A machine in five lines: its processor; memory, disks and board; kernel and mitigations; compiler and C library; system,
/// what it runs in, and both ids. What is not known is left out.
pub fn five_lines(machine: &Machine) -> [String; 5] {
    five_lines_in(machine, Language::English)
}

/// The same in a language.
pub fn five_lines_in(machine: &Machine, language: Language) -> [String; 5] {
    let (hardware_id, software_id) = (machine.hardware_id(), machine.software_id());
    let (hardware_id, software_id) = (short(&hardware_id), short(&software_id));
    let ids = filled("ids", &[("hardware", hardware_id.into()), ("software", software_id.into())], language);
    let [processor, memory, kernel, compiler, system] = five_lines_without_ids(machine, language);
    // The ids are what must not be cut off.
    let room = WIDTH.saturating_sub(ids.chars().count() + 3);
    [processor, memory, kernel, compiler, joined([Some(cut(&system, room)), Some(ids)])]
}

/// The same without the ids, which differ wherever anything does.
pub fn five_lines_without_ids(machine: &Machine, language: Language) -> [String; 5] {
    let software = &machine.software;
    [
        cut(&processor(machine, language), WIDTH),
        cut(&memory_and_disks(machine, language), WIDTH),
        cut(&kernel(machine, language), WIDTH),
        cut(&joined([compiler(software), software.libc.clone()]), WIDTH),
        joined([
            Some(software.system.clone()),
            software.virtualization.as_deref().map(without_evidence),
            guest(software, language),
        ]),
    ]
}

/// Of a guest what runs it, and on which processor.
fn guest(software: &Software, language: Language) -> Option<String> {
    let of = |name: &str| software.guest.get(name).map(|value| FluentValue::from(value.as_str()));
    let given = [("accelerator", of("accelerator")?), ("processor", of("host.processor")?)];
    Some(filled("guest-on", &given, language))
}

/// Both lines of the compiler, and what it was told beside the usual.
fn compiler(software: &Software) -> Option<String> {
    let version = versions_of_compiler(software.compiler.as_ref()?).replace('\n', "; ");
    Some(software.compiler_flags.as_ref().map_or_else(|| version.clone(), |flags| format!("{version} {flags}")))
}

/// What a compiler says of its version, without the machine that it compiles for: that is the one that it runs on, here.
fn versions_of_compiler(text: &str) -> String {
    text.lines().filter(|line| !line.starts_with("Target: ")).collect::<Vec<_>>().join("\n")
}

/// Without what is in brackets, which says where it was seen.
fn without_evidence(virtualization: &str) -> String {
    let mut depth = 0_u32;
    let outside: String = virtualization
        .chars()
        .filter(|c| {
            depth += u32::from(*c == '(');
            let keep = depth == 0;
            depth = depth.saturating_sub(u32::from(*c == ')'));
            keep
        })
        .collect();
    outside.replace(" ,", ",").trim().to_owned()
}

/// What is there, with dots between.
fn joined(parts: impl IntoIterator<Item = Option<String>>) -> String {
    parts.into_iter().flatten().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · ")
}

fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    text.chars().take(width.saturating_sub(1)).chain(['…']).collect()
}

/// `1 core`, `2 cores`; nothing for none.
fn counted(noun: &str, count: u32, language: Language) -> Option<String> {
    (count > 0).then(|| filled(noun, &[("count", count.into())], language))
}

fn processor(machine: &Machine, language: Language) -> String {
    let hardware = &machine.hardware;
    let counted = |noun, count| counted(noun, count, language);
    let emulator = machine.software.emulator.as_ref();
    let emulated = emulator.map(|emulator| filled("emulated-by", &[("emulator", emulator.as_str().into())], language));
    joined([
        emulated,
        Some(hardware.processor.clone()),
        Some(hardware.architecture.clone()),
        counted("sockets", hardware.sockets),
        counted("cores", hardware.cores),
        counted("threads", hardware.threads),
        counted("numa-nodes", hardware.numa_nodes).filter(|_| hardware.numa_nodes > 1),
        hardware
            .caches
            .iter()
            .filter(|cache| cache.kind != "instruction")
            .max_by_key(|cache| cache.level)
            .map(|cache| last_cache(cache, language)),
    ])
}

fn last_cache(cache: &Cache, language: Language) -> String {
    let times = if cache.count > 1 { format!("{} × ", cache.count) } else { String::new() };
    format!("{times}L{} {}", cache.level, binary(cache.bytes, language))
}

fn memory_and_disks(machine: &Machine, language: Language) -> String {
    let hardware = &machine.hardware;
    let rotational = format!(" {}", plain("rotational", language));
    let memory = (hardware.memory_bytes > 0)
        .then(|| filled("ram", &[("size", binary(hardware.memory_bytes, language).into())], language));
    let mut disks: Vec<(String, usize)> = Vec::new();
    for disk in &hardware.disks {
        let name = disk.model.as_ref().unwrap_or(&disk.name);
        let words =
            format!("{name} {}{}", decimal(disk.bytes, language), if disk.rotational { &*rotational } else { "" });
        match disks.iter_mut().find(|(other, _)| *other == words) {
            Some((_, count)) => *count += 1,
            None => disks.push((words, 1)),
        }
    }
    let disks =
        disks.into_iter().map(|(words, count)| Some(if count == 1 { words } else { format!("{count} × {words}") }));
    joined([memory].into_iter().chain(disks).chain([hardware.board.clone()]))
}

fn kernel(machine: &Machine, language: Language) -> String {
    let software = &machine.software;
    let state = |wanted: &'static str| software.mitigations.iter().filter(move |(_, text)| mitigation(text) == wanted);
    let off = state("off").map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ");
    let on = state("on").count();
    let off = if off.is_empty() { "none".to_owned() } else { off };
    let mitigations = (!software.mitigations.is_empty())
        .then(|| filled("mitigations", &[("on", on.into()), ("off", off.into())], language));
    let setting = |name: &str, what: &str| {
        let value = software.settings.get(name)?;
        Some(filled(what, &[("value", value.as_str().into())], language))
    };
    let kernel = (!software.kernel.is_empty()).then(|| format!("Linux {}", software.kernel));
    let offer = |(name, there): (&String, &bool)| {
        let there = if *there { "yes" } else { "no" };
        Some(filled("offer", &[("name", name.as_str().into()), ("there", there.into())], language))
    };
    let settings = [kernel, setting("governor", "governor-is"), setting("boost", "boost-is"), mitigations];
    joined(settings.into_iter().chain(machine.offers.iter().map(offer)))
}

/// A number of bytes in the largest binary unit, with at most one digit behind the point.
pub fn binary(bytes: u64, language: Language) -> String {
    in_language(&scaled(bytes, 1024.0, ["B", "KiB", "MiB", "GiB", "TiB"]), language)
}

/// As makers of disks count.
fn decimal(bytes: u64, language: Language) -> String {
    in_language(&scaled(bytes, 1000.0, ["B", "kB", "MB", "GB", "TB"]), language)
}

fn scaled(bytes: u64, step: f64, units: [&str; 5]) -> String {
    let mut value = bytes as f64;
    let mut unit = units[0];
    for larger in &units[1..] {
        if value < step {
            break;
        }
        value /= step;
        unit = larger;
    }
    let number = format!("{value:.1}");
    format!("{} {unit}", number.strip_suffix(".0").unwrap_or(&number))
}

/// What is done about a vulnerability, in a word: `on`, `off`, `not affected`, or the kernel's own text.
fn mitigation(text: &str) -> &str {
    if text.starts_with("Mitigation") {
        "on"
    } else if text.starts_with("Vulnerable") {
        "off"
    } else if text.starts_with("Not affected") {
        "not affected"
    } else {
        text
    }
}

/// A difference as people say it: `kernel 4.19.0 → 5.4.0`, `mitigation spectre_v2: on → off`.
pub fn in_words(difference: &Difference) -> String {
    in_words_in(difference, Language::English)
}

/// The same in a language.
fn in_words_in(difference: &Difference, language: Language) -> String {
    words_of(difference, language).sentence(language)
}

/// A difference in a language's words: what it is, and how it is here and there.
pub struct DifferenceInWords {
    /// What differs.
    pub subject: String,
    /// The value before and after, each with its unit; of a compiler several lines.
    pub values: [String; 2],
    /// Whether the values are what only one side has of a list.
    one_sided: bool,
}

impl DifferenceInWords {
    /// All of it in one line.
    pub fn sentence(&self, language: Language) -> String {
        let Self { subject, values, one_sided } = self;
        let [before, after] = values.each_ref().map(|value| value.replace('\n', "; "));
        if *one_sided {
            let part = |values: &str, name: &str| {
                (!values.is_empty()).then(|| filled(name, &[("values", values.into())], language))
            };
            let parts: Vec<_> =
                [part(&before, "lost-values"), part(&after, "gained-values")].into_iter().flatten().collect();
            return format!("{subject}: {}", parts.join("; "));
        }
        // A value with spaces would run into its name.
        let colon = if [&**subject, &*before, &*after].iter().any(|text| text.contains(char::is_whitespace)) {
            ":"
        } else {
            ""
        };
        format!("{subject}{colon} {before} → {after}")
    }

    /// The same with values that fit into a sentence: of several lines the first that differs, cut between words.
    pub fn shortened(mut self, language: Language) -> Self {
        let [before, after] = self.values.each_ref().map(|value| value.lines().collect::<Vec<_>>());
        let lines = (0..before.len().max(after.len())).map(|line| [before.get(line), after.get(line)]);
        let none = if self.one_sided { String::new() } else { plain("no-value", language) };
        if let Some(lines) = lines.into_iter().find(|[one, other]| one != other) {
            self.values = lines.map(|line| line.map_or_else(|| none.clone(), |line| (*line).to_owned()));
        }
        let [before, after] = &self.values;
        let cut = [before, after].map(|value| cut_between_words(value));
        if cut[0] != cut[1] || before == after {
            self.values = cut;
            return self;
        }
        // Where they are alike up to the cut, what differs is shown instead.
        let alike = before.split_inclusive(' ').zip(after.split_inclusive(' ')).take_while(|(one, other)| one == other);
        let begin = alike.map(|(word, _)| word.len()).sum::<usize>();
        self.values = [before, after].map(|value| format!("… {}", cut_between_words(&value[begin..])));
        self
    }
}

/// As much of a text as a sentence takes, in whole words where these are not too long.
fn cut_between_words(text: &str) -> String {
    const LONGEST: usize = 48;
    const SHORTEST: usize = 16;
    if text.chars().count() <= LONGEST {
        return text.to_owned();
    }
    let head: String = text.chars().take(LONGEST).collect();
    match head.rfind(' ').filter(|place| *place >= SHORTEST) {
        Some(place) => format!("{} …", head[..place].trim_end_matches([',', ';', ' '])),
        None => head + "…",
    }
}

/// A difference in words.
pub fn words_of(difference: &Difference, language: Language) -> DifferenceInWords {
    let Difference { what, before, after } = difference;
    if let Some(name) = what.strip_prefix("mitigations.") {
        let states = [before, after].map(|text| mitigation(text));
        // Where both are on, the texts tell what changed.
        let texts = if states[0] == states[1] { [before.as_str(), after.as_str()] } else { states };
        let values = texts.map(|text| match text {
            "" => plain("mitigation-not-listed", language),
            "on" => plain("mitigation-on", language),
            "off" => plain("mitigation-off", language),
            "not affected" => plain("mitigation-not-affected", language),
            other => other.to_owned(),
        });
        let subject = filled("mitigation-of", &[("name", name.into())], language);
        return DifferenceInWords { subject, values, one_sided: false };
    }
    let one_sided = what == "features";
    let versions = [before, after].map(|text| versions_of_compiler(text));
    let [before, after] =
        if what == "compiler" && versions[0] != versions[1] { versions.each_ref() } else { [before, after] };
    let values = [before, after].map(|text| match (what.as_str(), text.parse()) {
        ("memory_bytes", Ok(bytes)) => binary(bytes, language),
        _ if text.is_empty() && !one_sided => plain("no-value", language),
        _ => text.clone(),
    });
    DifferenceInWords { subject: part_called(what, language), values, one_sided }
}

/// What a part of the fingerprint is called; names that the system or a tool gave are kept.
pub fn part_called(what: &str, language: Language) -> String {
    let known = name("fingerprint", &what.replace('.', "-"));
    if let Some(known) = part(&known, None, &FluentArgs::new(), language) {
        return known;
    }
    let of = |message: &str, name: &str| filled(message, &[("name", name.into())], language);
    if let Some(name) = what.strip_prefix("revision.") {
        return of("revision-of", name);
    }
    if let Some(name) = what.strip_prefix("guest.") {
        return of("guest-of", name);
    }
    if let Some(name) = what.strip_prefix("target.") {
        return if name.starts_with("tools.") { part_called(name, language) } else { of("target-of", name) };
    }
    if let Some((tool, part)) = what.strip_prefix("tools.").and_then(|of_tool| of_tool.rsplit_once('.')) {
        match part {
            "version" => return of("version-of", tool),
            "path" => return of("path-of", tool),
            "sha256" => return of("digest-of", tool),
            _ => {}
        }
    }
    what.strip_prefix("settings.").or_else(|| what.strip_prefix("tools.")).unwrap_or(what).to_owned()
}

/// What says most about a machine, for who reads a few differences only. All else follows in the order in which it is found.
const TELLING: [&str; 9] = [
    "processor",
    "target.",
    "kernel",
    "command_line",
    "mitigations.",
    "compiler",
    "compiler_flags",
    "memory_bytes",
    "threads",
];

/// The same differences, those that say most about the machines first.
pub fn most_telling_first(differences: &[Difference]) -> Vec<&Difference> {
    let rank = |difference: &&Difference| {
        let what = difference.what.as_str();
        let tells = |name: &&str| what == *name || (name.ends_with('.') && what.starts_with(name));
        TELLING.iter().position(tells).unwrap_or(TELLING.len())
    };
    let mut sorted: Vec<_> = differences.iter().collect();
    sorted.sort_by_key(rank);
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn difference(what: &str, before: &str, after: &str) -> Difference {
        Difference { what: what.into(), before: before.into(), after: after.into() }
    }

    #[test]
    fn differences_read_like_speech() {
        let words = |what: &str, before: &str, after: &str| in_words(&difference(what, before, after));
        assert_eq!(words("kernel", "4.19.0", "5.4.0"), "kernel 4.19.0 → 5.4.0");
        assert_eq!(
            words("mitigations.spectre_v2", "Mitigation: IBRS", "Vulnerable"),
            "mitigation spectre_v2: on → off"
        );
        assert_eq!(
            words("mitigations.mds", "Mitigation: A", "Mitigation: B"),
            "mitigation mds: Mitigation: A → Mitigation: B"
        );
        assert_eq!(words("mitigations.its", "", "Not affected"), "mitigation its: not listed → not affected");
        assert_eq!(words("memory_bytes", "1073741824", "24964497408"), "memory: 1 GiB → 23.2 GiB");
        assert_eq!(words("settings.vm.swappiness", "60", "1"), "vm.swappiness 60 → 1");
        assert_eq!(words("compiler", "lcc:1.27\ngcc 9.3.0", ""), "compiler: lcc:1.27; gcc 9.3.0 → none");
        assert_eq!(
            words("compiler", "cc 12.2.0", "clang version 14.0.6\nTarget: x86_64-pc-linux-gnu"),
            "compiler: cc 12.2.0 → clang version 14.0.6"
        );
        assert_eq!(words("compiler_flags", "", "-O3 -flto"), "compiler flags: none → -O3 -flto");
        assert_eq!(words("features", "avx", ""), "instruction sets: lost avx");
        assert_eq!(words("tools.fio.version", "fio-3.33", "fio-3.36"), "version of fio: fio-3.33 → fio-3.36");
        assert_eq!(words("target.tools.nbdkit.version", "1.32", "1.34"), "version of nbdkit: 1.32 → 1.34");
        assert_eq!(words("target.scheduler", "none", "kyber"), "target's scheduler: none → kyber");
    }

    #[test]
    fn differences_are_said_in_russian_too() {
        let words =
            |what: &str, before: &str, after: &str| in_words_in(&difference(what, before, after), Language::Russian);
        assert_eq!(words("kernel", "4.19.0", "5.4.0"), "ядро 4.19.0 → 5.4.0");
        assert_eq!(
            words("mitigations.spectre_v2", "Mitigation: IBRS", "Vulnerable"),
            "защита от spectre_v2: включена → выключена"
        );
        assert_eq!(words("mitigations.its", "", "Not affected"), "защита от its: не названа → не нужна");
        assert_eq!(words("target.scheduler", "none", "kyber"), "цель: scheduler: none → kyber");
        assert_eq!(words("command_line", "", "nosmt"), "командная строка ядра: нет → nosmt");
        assert_eq!(words("memory_bytes", "1073741824", "24964497408"), "память: 1\u{a0}ГиБ → 23,2\u{a0}ГиБ");
        assert_eq!(words("features", "avx", "avx2"), "наборы команд: нет больше avx; появились avx2");
    }

    #[test]
    fn what_is_too_long_for_a_sentence_is_cut_between_words_and_where_it_differs() {
        let short = |what: &str, before: &str, after: &str| {
            let difference = Difference { what: what.into(), before: before.into(), after: after.into() };
            words_of(&difference, Language::English).shortened(Language::English).sentence(Language::English)
        };
        assert_eq!(
            short("compiler", "cc (Debian 12.2.0-14) 12.2.0\nCopyright", "Debian clang version 14.0.6\nTarget: x86_64"),
            "compiler: cc (Debian 12.2.0-14) 12.2.0 → Debian clang version 14.0.6"
        );
        assert_eq!(
            short("compiler", "lcc:1.27.14\ngcc 9.3.0", "lcc:1.27.14\ngcc 10.1.0"),
            "compiler: gcc 9.3.0 → gcc 10.1.0"
        );
        assert_eq!(
            short("compiler", "cc 12.2.0", "cc 12.2.0\nTarget: x86_64-linux-gnu"),
            "compiler: none → Target: x86_64-linux-gnu"
        );
        let features = "aes avx avx2 avx512bw avx512cd avx512dq avx512f avx512vl bmi1 bmi2";
        assert_eq!(
            short("features", features, ""),
            "instruction sets: lost aes avx avx2 avx512bw avx512cd avx512dq avx512f …"
        );
        let build = "Linux version 6.1.0-18-amd64 (debian-kernel@lists.debian.org) gcc-12 #1 SMP";
        assert_eq!(
            short("kernel_build", &format!("{build} 2024"), &format!("{build} 2025")),
            "kernel build: … 2024 → … 2025"
        );
        assert_eq!(short("x", &"a".repeat(60), "b"), format!("x {}… → b", "a".repeat(48)));
    }

    #[test]
    fn what_says_most_about_a_machine_comes_first() {
        let of = |what: &str| difference(what, "a", "b");
        let found =
            ["board", "cores", "memory_bytes", "processor", "command_line", "kernel", "mitigations.mds", "settings.x"]
                .map(of);
        let told: Vec<_> = most_telling_first(&found).into_iter().map(|one| one.what.as_str()).collect();
        assert_eq!(
            told,
            ["processor", "kernel", "command_line", "mitigations.mds", "memory_bytes", "board", "cores", "settings.x"]
        );
    }

    #[test]
    fn evidence_has_no_place_in_a_head() {
        assert_eq!(without_evidence("QEMU (DMI: QEMU (x)), container docker (/.dockerenv)"), "QEMU, container docker");
    }

    #[test]
    fn sizes_are_short() {
        assert_eq!(binary(266_240 << 10, Language::English), "260 MiB");
        assert_eq!(decimal(500_107_862_016, Language::English), "500.1 GB");
        assert_eq!(decimal(500_107_862_016, Language::Russian), "500,1\u{a0}ГБ");
        assert_eq!(binary(0, Language::English), "0 B");
    }
}
