//! Sockets, cores, hardware threads and NUMA nodes.

use std::collections::BTreeSet;

use stend_model::machine::count_listed;

use super::cpuinfo::CpuInfo;
use super::texts::{Texts, tallied};

/// How many of each there are; 0 where the machine does not say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Topology {
    /// Packages that sit in a socket of their own.
    pub(super) sockets: u32,
    /// Cores in all.
    pub(super) cores: u32,
    /// Hardware threads in all, also those that are off line.
    pub(super) threads: u32,
    /// NUMA nodes.
    pub(super) numa_nodes: u32,
}

impl Topology {
    /// Counts by sysfs, and by `/proc/cpuinfo` what that does not say.
    pub(super) fn of(texts: &Texts, info: &CpuInfo) -> Self {
        let directory = "sys/devices/system/cpu/";
        let list = |name: &str| texts.line(&format!("{directory}{name}")).map_or(0, count_listed);
        let tally =
            |name: &str| texts.get(&format!("{directory}cpu[0-9]*/topology/{name}")).map(tallied).unwrap_or_default();
        // Kernels that know nothing of packages write -1.
        let packages = tally("physical_package_id").iter().filter(|(_, package)| !package.starts_with('-')).count();
        let cores = tally("thread_siblings_list").len();
        let listed = u32::try_from(info.processors.len()).unwrap_or(u32::MAX);
        let threads = [list("present"), list("online"), listed].into_iter().find(|&count| count > 0).unwrap_or(0);
        Self {
            sockets: first_positive([packages, info.distinct("physical id").len(), info.distinct("package").len()]),
            cores: first_positive([cores, cores_by_cpuinfo(info), 0]),
            threads,
            // A kernel that was built without NUMA has no such directory and uses all memory as one node.
            numa_nodes: texts.line("sys/devices/system/node/online").map_or(0, count_listed).max(1),
        }
    }
}

fn first_positive(counts: [usize; 3]) -> u32 {
    counts.into_iter().find(|&count| count > 0).and_then(|count| u32::try_from(count).ok()).unwrap_or(0)
}

fn cores_by_cpuinfo(info: &CpuInfo) -> usize {
    let pairs = [("physical id", "core id"), ("package", "core")];
    let count = |(package, core)| {
        let cores = info.processors.iter().filter_map(|block| Some((block.get(package)?, block.get(core)?)));
        cores.collect::<BTreeSet<_>>().len()
    };
    pairs.into_iter().map(count).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_sysfs_cpuinfo_tells() {
        let text: String =
            (0..4).map(|n| format!("processor : {n}\nphysical id : 0\ncore id : {}\n\n", n / 2)).collect();
        let topology = Topology::of(&Texts::default(), &CpuInfo::parse(&text));
        assert_eq!(topology, Topology { sockets: 1, cores: 2, threads: 4, numa_nodes: 1 });
    }
}
