//! Caches, from sysfs or from where Elbrus lists them.

use std::collections::BTreeMap;

use stend_model::machine::Cache;

use super::cpuinfo::CpuInfo;
use super::topology::Topology;

/// Caches from lines of `level type size processors that share it`, each line once, from the core outwards.
pub(super) fn from_sysfs(text: &str) -> Vec<Cache> {
    let mut kinds: BTreeMap<(u32, String, u64), u32> = BTreeMap::new();
    for line in text.lines() {
        let mut words = line.split_whitespace();
        let (Some(level), Some(kind), Some(size)) = (words.next(), words.next(), words.next()) else { continue };
        let (Ok(level), Some(bytes)) = (level.parse(), size_in_bytes(size)) else { continue };
        let count = kinds.entry((level, kind.to_lowercase(), bytes)).or_default();
        // Without the list of who shares it, equal caches are one line and cannot be counted.
        *count = if words.next().is_some() { count.saturating_add(1) } else { 0 };
    }
    kinds.into_iter().map(|((level, kind, bytes), count)| Cache { level, kind, bytes, count }).collect()
}

/// Caches from `cache0 : level=1 type=Data scope=Private size=64K …`, as Elbrus has them in `/proc/cpuinfo`. The third level
/// says `scope=Private` there too, though the chip has it once.
pub(super) fn from_cpuinfo(info: &CpuInfo, topology: &Topology) -> Vec<Cache> {
    let Some(first) = info.processors.first() else { return Vec::new() };
    let lines = first.iter().filter(|(key, _)| key.strip_prefix("cache").is_some_and(|n| n.parse::<u8>().is_ok()));
    let mut caches: Vec<_> = lines
        .filter_map(|(_, text)| {
            let field = |name| text.split_whitespace().find_map(|word| word.strip_prefix(name));
            let level = field("level=")?.parse().ok()?;
            let count = if level < 3 { topology.cores } else { topology.sockets };
            Some(Cache { level, kind: field("type=")?.to_lowercase(), bytes: size_in_bytes(field("size=")?)?, count })
        })
        .collect();
    caches.sort_by(|a, b| (a.level, &a.kind).cmp(&(b.level, &b.kind)));
    caches
}

/// Bytes from `48K` or `16M`; nothing for 0, which is what firmware says that does not know.
fn size_in_bytes(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let shift = match text[digits.len()..].chars().next() {
        None => 0,
        Some('K' | 'k') => 10,
        Some('M' | 'm') => 20,
        Some('G' | 'g') => 30,
        Some(_) => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(1 << shift).filter(|&bytes| bytes > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_caches_are_counted() {
        let text = "1 Data 48K 0\n1 Data 48K 1\n3 Unified 16M 0-1\nrubbish\n2 Unified ? 0\n2 Unified 0K 0\n1 Instruction 64K\n";
        let cache = |level, kind: &str, bytes, count| Cache { level, kind: kind.into(), bytes, count };
        assert_eq!(
            from_sysfs(text),
            [cache(1, "data", 48 << 10, 2), cache(1, "instruction", 64 << 10, 0), cache(3, "unified", 16 << 20, 1)]
        );
    }
}
