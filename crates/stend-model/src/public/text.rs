//! Texts without what tells whose they are: paths, names, words of the kernel's command line.

use std::borrow::Cow;

/// What stands for what was left out.
const LEFT_OUT: &str = "…";

/// The kernel's build without who made it where: `Linux version 6.12 (me@desk) (gcc …) #1 SMP …`.
pub(super) fn without_builder(build: &str) -> String {
    let is_builder = |inside: &str| inside.contains('@') && !inside.contains(char::is_whitespace);
    let mut rest = build;
    let mut made = String::new();
    while let Some((before, (inside, after))) =
        rest.split_once('(').and_then(|(before, after)| Some((before, after.split_once(')')?)))
    {
        made += before;
        made += &format!("({})", if is_builder(inside) { LEFT_OUT } else { inside });
        rest = after;
    }
    made + rest
}

/// What the kernel is told that changes speeds, and says nothing of whose it is: the keys as its documentation (admin-guide/kernel-parameters) has
/// them. One that ends in a dot stands for all that begin so.
const KNOWN_WORDS: &str = "
    amd_iommu amd_pstate apparmor audit cgroup_disable cgroup_no_v1 clocksource cpufreq. cpuidle. debug default_hugepagesz elevator
    gather_data_sampling highres hpet hugepages hugepagesz idle init_on_alloc init_on_free intel_idle. intel_iommu intel_pstate iommu
    iommu.passthrough iommu.strict irqaffinity isolcpus kaslr kpti kthread_cpus kvm. kvm-amd. kvm-intel. kvm_amd. kvm_intel. l1tf
    maxcpus mce mds mem mitigations mmio_stale_data nmi_watchdog noapic nohz nohz_full nokaslr norandmaps nosmt nosoftlockup
    nospec_store_bypass_disable nospectre_v1 nospectre_v2 nopti nowatchdog nox2apic nr_cpus numa numa_balancing nvme. nvme_core.
    page_alloc. pcie_aspm possible_cpus preempt processor. psi pti quiet randomize_kstack_offset rcu_nocb_poll rcu_nocbs
    reg_file_data_sampling retbleed ro rw scsi_mod. selinux skew_tick slab_nomerge spec_rstack_overflow spec_store_bypass_disable
    spectre_v2 spectre_v2_user srbds threadirqs transparent_hugepage tsc tsx tsx_async_abort vsyscall
";

pub(super) fn is_known(word: &str) -> bool {
    let key = word.split('=').next().unwrap_or(word);
    KNOWN_WORDS.split_whitespace().any(|known| key == known || known.ends_with('.') && key.starts_with(known))
}

/// Directories that every system has. What lies elsewhere is somebody's own.
const OF_SYSTEMS: [&str; 10] = ["bin", "boot", "etc", "lib", "lib32", "lib64", "proc", "sbin", "sys", "usr"];

/// Whether a path says nothing of whose the machine is. Below `/dev` only devices themselves do: names of volumes and of disks by their serial
/// numbers stand in its directories.
fn is_of_the_system(path: &str) -> bool {
    let mut names = path.split('/').filter(|name| !name.is_empty());
    match (names.next(), names.next(), names.next()) {
        (None, ..) => true,
        (Some("dev"), _, None) => true,
        (Some(first), ..) => OF_SYSTEMS.contains(&first),
    }
}

/// A path without all but its last name, and without that where it is a user's or a disk's, or stands alone.
fn shortened(path: &str) -> String {
    let names: Vec<_> = path.split('/').filter(|name| !name.is_empty() && *name != LEFT_OUT).collect();
    match names[..] {
        ["dev", ..] => format!("/dev/{LEFT_OUT}"),
        [] | [_] | ["home" | "Users" | "mnt" | "media", _] if !path.contains(LEFT_OUT) => format!("/{LEFT_OUT}"),
        [.., last] => format!("/{LEFT_OUT}/{last}"),
        [] => format!("/{LEFT_OUT}"),
    }
}

/// A word that may be a path, with spaces in it.
pub(super) fn path_shortened(word: &str) -> Cow<'_, str> {
    if word.starts_with('/') && !is_of_the_system(word) { shortened(word).into() } else { word.into() }
}

/// A text with its absolute paths shortened, and how many they were.
pub(super) fn without_paths(text: &str) -> (String, usize) {
    let begins_path = |c: char| c.is_whitespace() || "\"'`,:;([{<|=".contains(c);
    let ends_path = |c: char| begins_path(c) || ")]}>".contains(c);
    let (mut made, mut found) = (String::new(), 0);
    let mut rest = text;
    while let Some(at) = rest.find('/') {
        let (before, path) = rest.split_at(at);
        made += before;
        let length = path.find(ends_path).unwrap_or(path.len());
        let (path, after) = path.split_at(length);
        // What follows a name is relative or a quotient, unless that is an option's, and what follows a colon and another slash is an address.
        let is_option = made.rsplit(begins_path).next().is_some_and(|word| word.starts_with('-'));
        let begins = is_option || made.chars().next_back().is_none_or(begins_path) && !path.starts_with("//");
        if begins && path.len() > 1 && !is_of_the_system(path) {
            let short = shortened(path);
            found += usize::from(short != path);
            made += &short;
        } else {
            made += path;
        }
        rest = after;
    }
    (made + rest, found)
}

/// A text in which a name is replaced where it stands as a whole word, and how often it did.
pub(super) fn replaced(text: &str, name: &str, by: &str) -> (String, usize) {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    let (mut made, mut found, mut rest) = (String::new(), 0, text);
    while let Some(at) = rest.find(name) {
        let (before, after) = (&rest[..at], &rest[at + name.len()..]);
        made += before;
        let whole = !made.chars().next_back().is_some_and(is_part) && !after.chars().next().is_some_and(is_part);
        made += if whole { by } else { name };
        found += usize::from(whole);
        rest = after;
    }
    (made + rest, found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lose_what_tells_of_their_owner_and_nothing_else_changes() {
        for (text, wanted) in [
            ("bytes/wall and/or 1/2", "bytes/wall and/or 1/2"),
            ("see https://example.org/a/b, http://x/y", "see https://example.org/a/b, http://x/y"),
            ("/usr/bin/fio /proc/stat /dev/sda /dev/null", "/usr/bin/fio /proc/stat /dev/sda /dev/null"),
            ("/dev/disk/by-id/ata-SERIAL /dev/mapper/desk-root", "/dev/… /dev/…"),
            ("/home/me /home/me/x /mnt/pool /data", "/… /…/x /… /…"),
            ("-I/home/me/include --to=/srv/a/b:/srv/c/d", "-I/…/include --to=/…/b:/…/d"),
            ("\"/opt/firm/bin/cc\" failed", "\"/…/cc\" failed"),
            ("{suite_directory}/wc.sh ./a/b ../c", "{suite_directory}/wc.sh ./a/b ../c"),
        ] {
            assert_eq!(without_paths(text).0, wanted);
            assert_eq!(without_paths(wanted), (wanted.to_owned(), 0), "again");
        }
        assert_eq!(path_shortened("/home/a b/c d.sh"), "/…/c d.sh");
    }

    #[test]
    fn of_the_kernel_only_what_changes_its_speed_is_told() {
        assert_eq!(
            without_builder("Linux version 6.1 (me@desk) (gcc (Debian) 12) #1 (x)"),
            "Linux version 6.1 (…) (gcc (Debian) 12) #1 (x)"
        );
        let told = ["quiet", "kvm_amd.nested=1", "isolcpus=2-7"];
        assert!(told.iter().all(|word| is_known(word)));
        assert!(!["kvm", "root=x", "mitigationsx=1", ""].iter().any(|word| is_known(word)));
    }

    #[test]
    fn names_are_replaced_where_they_stand_alone() {
        assert_eq!(replaced("pc7: pc7-old pc77 (pc7)", "pc7", "m"), ("m: pc7-old pc77 (m)".to_owned(), 2));
    }
}
