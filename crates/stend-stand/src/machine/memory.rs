//! RAM.

/// Bytes of one entry of `/proc/meminfo`, such as `MemTotal`.
pub(super) fn entry(meminfo: &str, name: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.trim().strip_prefix(name)?.strip_prefix(':'))?;
    let mut words = line.split_whitespace();
    let number: u64 = words.next()?.parse().ok()?;
    match words.next() {
        Some("kB") => number.checked_mul(1024),
        None => Some(number),
        Some(_) => None,
    }
}

/// Rounds to 256 MiB, because each kernel keeps a few for itself; machines with less than that to 16 MiB.
pub(super) fn rounded(bytes: u64) -> u64 {
    let step: u64 = if bytes < 256 << 20 { 16 << 20 } else { 256 << 20 };
    bytes.saturating_add(step / 2) / step * step
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_rounded() {
        assert_eq!(
            entry("MemTotal:       24684092 kB\nMemFree: 1 kB", "MemTotal").map(rounded),
            Some((23 << 30) + (512 << 20))
        );
        assert_eq!(rounded(61_000_000), 64 << 20);
        assert_eq!(entry("MemTotal: many kB", "MemTotal"), None);
        assert_eq!(entry("MemTotal: 18446744073709551615 kB", "MemTotal"), None);
    }
}
