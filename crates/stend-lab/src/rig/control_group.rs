//! Control groups, in which each controller's CPU time and memory are counted apart from the load's.

use serde::{Deserialize, Serialize};

use super::shell::shell;
use super::thing::Made;
use stend_stand::host::{Command, Host};

/// The files of one controller's groups that say what it uses. `None` where the machine does not count it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Counters {
    /// `cpuacct.usage` in nanoseconds (version 1), or `cpu.stat` with `usage_usec` (version 2).
    pub cpu: Option<String>,
    /// `memory.usage_in_bytes` or `memory.current`. The page cache that the controller fills is in it.
    pub memory: Option<String>,
}

/// A group that keeps its processes to some processors.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Confined {
    /// Its directory.
    pub(super) group: String,
    /// The processors, as the kernel writes them.
    pub(super) processors: String,
}

/// The control groups of one controller, of which one may keep it to some processors.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Groups {
    pub(super) paths: Vec<String>,
    #[serde(default)]
    pub(super) confined: Option<Confined>,
}

/// Version 1 takes no process into a group before the group has memory nodes, which are in a file that the root of version 2 lacks.
const MAKE_CGROUPS: &str = r#"
confined=$1 processors=$2
shift 2
mkdir "$@" || exit
[ -n "$confined" ] || exit 0
above=${confined%/*}
[ ! -e "$above/cpuset.mems" ] || cat "$above/cpuset.mems" >"$confined/cpuset.mems" || exit
echo "$processors" >"$confined/cpuset.cpus"
"#;
/// What ran in a group may have made others below it. A process that has just ended may still be counted in its group.
const REMOVE_CGROUPS: &str = r#"
for group; do
    tries=0
    while [ -d "$group" ]; do
        said=$(find "$group" -depth -type d -exec rmdir {} + 2>&1) && break
        again "$said"
    done
done
"#;

impl Made for Groups {
    fn making(&self, ledger: &str) -> Command {
        let [group, processors] =
            self.confined.as_ref().map_or(["", ""], |confined| [&confined.group, &confined.processors]);
        let words = [group, processors].into_iter().chain(self.paths.iter().map(String::as_str));
        shell(ledger, MAKE_CGROUPS, &words.collect::<Vec<_>>())
    }

    fn taking_away(&self, ledger: &str) -> Option<Command> {
        Some(shell(ledger, REMOVE_CGROUPS, &self.paths.iter().map(String::as_str).collect::<Vec<_>>()))
    }

    fn in_words(&self) -> String {
        format!("the control groups {}", self.paths.join(", "))
    }
}

/// Where this machine's control groups are mounted and can be added to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Hierarchies {
    /// Version 1, with the controller `cpuacct`.
    cpu: Option<String>,
    /// Version 1, with the controller `cpu`, if it is not in the one with `cpuacct`.
    limits: Option<String>,
    /// Version 1, with the controller `memory`.
    memory: Option<String>,
    /// Version 2, and whether groups in it count memory.
    unified: Option<(String, bool)>,
    /// Whatever version, with the controller `cpuset`, and the file that says which processors there are.
    cpuset: Option<(String, &'static str)>,
}

impl Hierarchies {
    /// Those of the machine. None where nobody may add a group, for example without root.
    pub(super) fn of(host: &dyn Host) -> Self {
        let mut found = Self::of_mounts(&host.read_text("/proc/self/mounts").unwrap_or_default());
        let writable = |path: &String| {
            let test = stend_stand::host::Command::new(["test", "-w", path]);
            host.run(&test).is_ok_and(|output| output.exit == Some(0))
        };
        found.cpu = found.cpu.filter(writable);
        found.limits = found.limits.filter(writable);
        found.memory = found.memory.filter(writable);
        found.unified = found.unified.filter(|(path, _)| writable(path)).map(|(path, _)| {
            let controllers = host.read_text(&format!("{path}/cgroup.subtree_control")).unwrap_or_default();
            let has = |wanted: &str| controllers.split_whitespace().any(|name| name == wanted);
            if found.cpuset.is_none() && has("cpuset") {
                found.cpuset = Some((path.clone(), "cpuset.cpus.effective"));
            }
            (path, has("memory"))
        });
        found.cpuset = found.cpuset.filter(|(path, _)| writable(path));
        found
    }

    fn of_mounts(mounts: &str) -> Self {
        let mut found = Self::default();
        for line in mounts.lines() {
            let fields: Vec<_> = line.split(' ').collect();
            let [_, path, kind, options, ..] = fields[..] else { continue };
            let has = |name: &str| options.split(',').any(|option| option == name);
            if kind == "cgroup" && has("cpuset") {
                found.cpuset = Some((path.into(), "cpuset.cpus"));
            }
            match kind {
                "cgroup" if has("cpuacct") => found.cpu = Some(path.into()),
                "cgroup" if has("cpu") => found.limits = Some(path.into()),
                "cgroup" if has("memory") => found.memory = Some(path.into()),
                "cgroup2" => found.unified = Some((path.into(), false)),
                _ => {}
            }
        }
        found
    }

    /// The groups of this name, and the files in them that count.
    pub(super) fn group(&self, name: &str) -> (Vec<String>, Counters) {
        let mut paths = Vec::new();
        let mut counters = Counters::default();
        let mut take = |hierarchy: &str| {
            let path = format!("{hierarchy}/{name}");
            paths.push(path.clone());
            path
        };
        if let Some(hierarchy) = &self.cpu {
            counters.cpu = Some(format!("{}/cpuacct.usage", take(hierarchy)));
        }
        if let Some(hierarchy) = &self.memory {
            counters.memory = Some(format!("{}/memory.usage_in_bytes", take(hierarchy)));
        }
        if let Some((hierarchy, memory)) = &self.unified
            && (counters.cpu.is_none() || (counters.memory.is_none() && *memory))
        {
            let path = take(hierarchy);
            counters.cpu.get_or_insert_with(|| format!("{path}/cpu.stat"));
            if *memory {
                counters.memory.get_or_insert_with(|| format!("{path}/memory.current"));
            }
        }
        (paths, counters)
    }

    /// The group of this name in which CPU time can be limited, added to the others.
    pub(super) fn limiting(&self, name: &str, paths: &mut Vec<String>) {
        paths.extend(self.limits.iter().map(|hierarchy| format!("{hierarchy}/{name}")));
    }

    /// The group of this name that keeps its processes to these processors, added to the others.
    pub(super) fn confined(&self, name: &str, processors: &str, paths: &mut Vec<String>) -> Option<Confined> {
        let (hierarchy, _) = self.cpuset.as_ref()?;
        let group = format!("{hierarchy}/{name}");
        if !paths.contains(&group) {
            paths.push(group.clone());
        }
        Some(Confined { group, processors: processors.to_owned() })
    }

    /// The processors that such groups can have; none where there can be no such group.
    pub(super) fn processors(&self, host: &dyn Host) -> Option<String> {
        let (hierarchy, file) = self.cpuset.as_ref()?;
        Some(host.read_text(&format!("{hierarchy}/{file}")).ok()?.trim().to_owned())
    }
}

impl Counters {
    /// The directories of the groups.
    pub(super) fn groups(&self) -> Vec<String> {
        let files = [&self.cpu, &self.memory];
        let mut directories: Vec<_> =
            files.into_iter().flatten().filter_map(|file| Some(file.rsplit_once('/')?.0.to_owned())).collect();
        directories.dedup();
        directories
    }

    /// The CPU time in nanoseconds that has been used so far.
    pub(crate) fn cpu_ns(&self, host: &dyn Host) -> Option<u64> {
        let path = self.cpu.as_ref()?;
        let text = host.read_text(path).ok()?;
        if path.ends_with("/cpu.stat") {
            let usage = text.lines().find_map(|line| line.strip_prefix("usage_usec "))?;
            return usage.trim().parse::<u64>().ok().map(|microseconds| microseconds.saturating_mul(1000));
        }
        text.trim().parse().ok()
    }

    /// The memory in bytes that is in use now.
    pub(super) fn memory_bytes(&self, host: &dyn Host) -> Option<u64> {
        host.read_text(self.memory.as_ref()?).ok()?.trim().parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VERSION_1: &str = "cgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,nosuid,cpu,cpuacct 0 0\n\
                             cgroup /sys/fs/cgroup/cpuset cgroup rw,cpuset 0 0\n\
                             cgroup /sys/fs/cgroup/memory cgroup rw,memory 0 0\n";
    const VERSION_2: &str = "cgroup2 /sys/fs/cgroup cgroup2 rw,nosuid,nodev,noexec,relatime,nsdelegate 0 0\n";

    #[test]
    fn both_versions_and_what_they_count() {
        let (paths, counters) = Hierarchies::of_mounts(VERSION_1).group("stend-t-c0");
        assert_eq!(paths, ["/sys/fs/cgroup/cpu,cpuacct/stend-t-c0", "/sys/fs/cgroup/memory/stend-t-c0"]);
        assert_eq!(counters.cpu.as_deref(), Some("/sys/fs/cgroup/cpu,cpuacct/stend-t-c0/cpuacct.usage"));
        assert_eq!(counters.memory.as_deref(), Some("/sys/fs/cgroup/memory/stend-t-c0/memory.usage_in_bytes"));

        let mut unified = Hierarchies::of_mounts(VERSION_2);
        let (paths, counters) = unified.group("g");
        assert_eq!((paths, counters.memory), (vec!["/sys/fs/cgroup/g".to_owned()], None));
        unified.unified = Some(("/sys/fs/cgroup".into(), true));
        let (_, counters) = unified.group("g");
        assert_eq!(counters.cpu.as_deref(), Some("/sys/fs/cgroup/g/cpu.stat"));
        assert_eq!(counters.memory.as_deref(), Some("/sys/fs/cgroup/g/memory.current"));

        // Both are mounted, and the old one has the controllers.
        let mut own = vec!["/sys/fs/cgroup/g".to_owned()];
        let confined = Hierarchies::of_mounts(VERSION_1).confined("g", "0-1", &mut own).unwrap();
        assert_eq!((confined.group.as_str(), own.len()), ("/sys/fs/cgroup/cpuset/g", 2));
        unified.cpuset = Some(("/sys/fs/cgroup".into(), "cpuset.cpus.effective"));
        assert_eq!(unified.confined("g", "0-1", &mut own).unwrap().group, "/sys/fs/cgroup/g");
        assert_eq!(own.len(), 2, "the same group counts");
        let apart = format!("{}cgroup /cpu cgroup rw,cpu 0 0\n", VERSION_1.replace("cpu,cpuacct", "cpuacct"));
        let mut paths = Vec::new();
        Hierarchies::of_mounts(&apart).limiting("g", &mut paths);
        assert_eq!(paths, ["/cpu/g"]);
        Hierarchies::of_mounts(VERSION_1).limiting("g", &mut paths);
        assert_eq!(paths.len(), 1, "the group that counts it limits it too");
        let hybrid = format!("{VERSION_1}cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n");
        assert_eq!(Hierarchies::of_mounts(&hybrid).group("g").0.len(), 2);
        assert_eq!(Hierarchies::of_mounts("tmpfs / tmpfs rw 0 0\n").group("g"), (vec![], Counters::default()));
    }
}
