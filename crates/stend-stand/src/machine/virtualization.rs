//! The hypervisor, container, binary translation or emulation that a system runs in.

use super::cpuinfo::CpuInfo;
use super::processor::Family;
use super::texts::Texts;

/// What is said of a hypervisor that shows itself by nothing but the processor's flag.
pub(super) const UNKNOWN_HYPERVISOR: &str = "unknown hypervisor (CPU flag)";

/// What the system runs in, with the evidence; nothing if there is no sign of anything.
pub(super) fn virtualization(texts: &Texts, info: &CpuInfo) -> Option<String> {
    let signs = [translation(texts, info), hypervisor(texts, info), container(texts)];
    let signs: Vec<_> = signs.into_iter().flatten().collect();
    (!signs.is_empty()).then(|| signs.join(", "))
}

/// A processor that is not of the architecture that programs see.
fn translation(texts: &Texts, info: &CpuInfo) -> Option<String> {
    if info.get("vendor_id") == Some("VirtualApple") {
        return Some("binary translation (Rosetta 2)".into());
    }
    let architecture = texts.line("uname -m")?;
    let (seen, real) = (Family::of_architecture(architecture)?, Family::of_cpuinfo(info)?);
    match (seen, real) {
        _ if seen == real => None,
        (Family::X86, Family::Elbrus) => Some("binary translation of x86 on Elbrus".into()),
        _ => Some(format!("emulation ({architecture}, but /proc/cpuinfo is that of another architecture)")),
    }
}

fn hypervisor(texts: &Texts, info: &CpuInfo) -> Option<String> {
    let with = |name: &str, by: &str| Some(format!("{name} ({by})"));
    if texts.line("sys/hypervisor/type") == Some("xen") {
        let host = texts.get("proc/xen/capabilities").is_some_and(|text| text.contains("control_d"));
        return with(if host { "Xen, its host" } else { "Xen" }, "/sys/hypervisor");
    }
    let flagged = info.get("flags").is_some_and(|flags| flags.split_whitespace().any(|flag| flag == "hypervisor"));
    // Only on x86 does a flag tell a machine from a virtual one, so that a cloud's name on a real machine does not count.
    let may_be = flagged || Family::of_cpuinfo(info) != Some(Family::X86);
    if let Some((name, said)) = by_dmi(texts).filter(|_| may_be) {
        return with(name, &format!("DMI: {said}"));
    }
    if let Some(program) = texts.get("proc/sysinfo").and_then(|text| text.split_once(':')) {
        return with(program.1.trim(), "/proc/sysinfo");
    }
    if let Some(name) = texts.line("proc/device-tree/hypervisor/compatible") {
        let name = if name.contains("kvm") {
            "KVM"
        } else if name.contains("xen") {
            "Xen"
        } else {
            name
        };
        return with(name, "device tree");
    }
    if texts.get("proc/cpuinfo").is_some_and(|text| text.contains("emulated by qemu")) {
        return with("QEMU", "/proc/cpuinfo");
    }
    let clocks = texts.line("sys/devices/system/clocksource/clocksource0/available_clocksource").unwrap_or("");
    for (clock, name) in [("kvm-clock", "KVM"), ("hyperv", "Hyper-V"), ("xen", "Xen")] {
        if clocks.split_whitespace().any(|word| word.starts_with(clock)) {
            return with(name, &format!("clock source {clock}"));
        }
    }
    flagged.then(|| UNKNOWN_HYPERVISOR.to_owned())
}

/// A hypervisor by the names that it gives to the virtual machine's board.
fn by_dmi(texts: &Texts) -> Option<(&'static str, String)> {
    const NAMES: [(&str, &str); 17] = [
        ("KVM", "KVM"),
        ("QEMU", "QEMU"),
        ("VMware", "VMware"),
        ("VirtualBox", "VirtualBox"),
        ("innotek", "VirtualBox"),
        ("Hyper-V", "Hyper-V"),
        ("Virtual Machine", "Hyper-V"),
        ("Xen", "Xen"),
        ("Bochs", "Bochs"),
        ("Parallels", "Parallels"),
        ("BHYVE", "bhyve"),
        ("OpenStack", "KVM under OpenStack"),
        ("Amazon EC2", "Amazon EC2"),
        ("Google Compute Engine", "Google Compute Engine"),
        ("Alibaba Cloud", "Alibaba Cloud"),
        ("DigitalOcean", "DigitalOcean"),
        ("Yandex", "Yandex Cloud"),
    ];
    let fields = ["product_name", "sys_vendor", "board_vendor", "bios_vendor"];
    fields.into_iter().filter_map(|field| texts.line(&format!("sys/class/dmi/id/{field}"))).find_map(|said| {
        // Amazon's machines without a hypervisor say so in the product's name.
        let known = NAMES.iter().find(|(sign, _)| said.contains(sign) && !said.contains(".metal"))?;
        Some((known.1, said.to_owned()))
    })
}

fn container(texts: &Texts) -> Option<String> {
    let name = |name: &str, by: &str| Some(format!("container {name} ({by})"));
    if let Some(manager) = texts.line("run/systemd/container") {
        return name(manager, "/run/systemd/container");
    }
    let groups = texts.get("proc/1/cgroup").unwrap_or("");
    for sign in ["kubepods", "docker", "libpod", "lxc", "containerd"] {
        if groups.contains(sign) {
            return name(sign, "/proc/1/cgroup");
        }
    }
    let exists = texts.get("exists").unwrap_or("");
    for (file, kind) in [(".dockerenv", "docker"), ("run/.containerenv", "podman"), ("proc/vz", "OpenVZ")] {
        if exists.lines().any(|line| line == file) {
            return name(kind, &format!("/{file}"));
        }
    }
    let release = texts.line("proc/sys/kernel/osrelease").unwrap_or("").to_lowercase();
    if release.contains("microsoft") { Some("WSL (kernel's name)".into()) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Output;

    fn found(lines: &str) -> Option<String> {
        let texts = Texts::parse(&Output { exit: Some(0), stdout: lines.into(), stderr: Vec::new() });
        let info = CpuInfo::parse(texts.get("proc/cpuinfo").unwrap_or(""));
        virtualization(&texts, &info)
    }

    const GUEST: &str = "uname -m:x86_64\nproc/cpuinfo:processor : 0\nproc/cpuinfo:cpu family : 6\nproc/cpuinfo:flags : fpu hypervisor\n";

    #[test]
    fn a_flag_alone_is_an_unknown_hypervisor() {
        assert_eq!(found(GUEST).as_deref(), Some(UNKNOWN_HYPERVISOR));
    }

    #[test]
    fn better_evidence_names_it() {
        let with = |more: &str| found(&format!("{GUEST}{more}"));
        assert_eq!(
            with("sys/class/dmi/id/sys_vendor:QEMU\nexists:.dockerenv\n").as_deref(),
            Some("QEMU (DMI: QEMU), container docker (/.dockerenv)")
        );
        let clocks = "sys/devices/system/clocksource/clocksource0/available_clocksource:tsc kvm-clock\n";
        assert_eq!(with(clocks).as_deref(), Some("KVM (clock source kvm-clock)"));
    }

    #[test]
    fn a_real_machine_of_a_cloud_is_no_guest() {
        let text = GUEST.replace(" hypervisor", "") + "sys/class/dmi/id/sys_vendor:Amazon EC2\n";
        assert_eq!(found(&text), None);
    }

    #[test]
    fn x86_programs_on_elbrus_are_translated() {
        let text = "uname -m:x86_64\nproc/cpuinfo:processor : 0\nproc/cpuinfo:vendor_id : Elbrus-MCST\n";
        assert_eq!(found(text).as_deref(), Some("binary translation of x86 on Elbrus"));
    }
}
