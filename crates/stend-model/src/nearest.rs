//! Which of the names that there are somebody may have meant who typed another.

/// Less alike than this, two names are no slip of the finger. Jaro and Winkler's measure, from 0 to 1.
const ALIKE: f64 = 0.75;

/// Shorter than this, one letter more or less is another word.
const LEAST_LETTERS: usize = 3;

/// The name that is most like the one that was typed, if one is.
pub fn nearest<'a>(typed: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let typed = typed.to_lowercase();
    let alike = |name: &'a str| {
        let lower = name.to_lowercase();
        // In a short word, two letters that changed places are much by that measure.
        let one_slip = typed.chars().count() >= LEAST_LETTERS && strsim::damerau_levenshtein(&typed, &lower) == 1;
        (strsim::jaro_winkler(&typed, &lower).max(if one_slip { ALIKE } else { 0.0 }), name)
    };
    let best = known.into_iter().map(alike).max_by(|one, other| one.0.total_cmp(&other.0));
    best.filter(|(measure, _)| *measure >= ALIKE).map(|(_, name)| name)
}

/// ` (did you mean "pipe"?)`, or nothing.
pub fn hint<'a>(typed: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(typed, known).map(|name| format!(" (did you mean \"{name}\"?)")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_known_and_another_word_is_not() {
        let known = ["throughput", "latency p99", "B/s", "ns"];
        assert_eq!(nearest("troughput", known), Some("throughput"));
        assert_eq!(nearest("latency p95", known), Some("latency p99"));
        assert_eq!(nearest("GB/s", known), Some("B/s"));
        assert_eq!(nearest("nss", known), Some("ns"));
        assert_eq!(nearest("quartz", known), None);
        assert_eq!(nearest("nwe", ["old", "new"]), Some("new"));
        assert_eq!(hint("", known), "");
    }
}
