//! The clocks of a machine that is reached over a link, in words.

use crate::words;
use crate::words::Given;

use stend_model::clocks::Clocks;

use super::phrase::Phrase;
use super::text::{duration, grouped};

/// How the machine's clocks stood beside the lab's in one session: how far apart, how surely, and what became of that.
pub fn how_they_stood(clocks: &Clocks) -> Phrase {
    let before = clocks.before;
    let uncertainty = clocks.uncertainty_ns();
    let sure = format!("±{}", duration(uncertainty as f64));
    let mut said = if before.realtime_ahead_ns.saturating_abs() <= uncertainty {
        words::say("clocks-agree", &[("sure", Given::Figure(&sure))])
    } else {
        let apart = distance(before.realtime_ahead_ns, uncertainty);
        let way = if before.realtime_ahead_ns > 0 { "ahead" } else { "behind" };
        let (sure, apart) = (Given::Figure(&sure), Given::Figure(&apart));
        words::say("clocks-apart", &[("sure", sure), ("apart", apart), ("way", Given::Text(way))])
    };
    if let Some(step) = clocks.was_set_by_ns() {
        let step = format!("{}{}", if step > 0 { "+" } else { "−" }, distance(step, uncertainty));
        said = words::say("clocks-set", &[("clocks", Given::Said(&said)), ("step", Given::Figure(&step))]);
    }
    match clocks.drift() {
        Some(drift) if drift.is_sure() => {
            let (by, within) = (duration(drift.gained_ns.saturating_abs() as f64), duration(drift.within_ns as f64));
            let way = if drift.gained_ns > 0 { "gained" } else { "lost" };
            let (by, within) = (Given::Figure(&by), Given::Figure(&within));
            let given = [("clocks", Given::Said(&said)), ("way", Given::Text(way)), ("by", by), ("within", within)];
            said = words::say("clocks-drift", &given);
        }
        Some(_) => {}
        None => said = words::say("clocks-once", &[("clocks", Given::Said(&said))]),
    }
    said
}

/// A distance of two clocks, with as many digits as the uncertainty lets stand: `3 600.012 s`, `1.24 ms`.
fn distance(ns: i64, uncertainty_ns: i64) -> String {
    let ns = ns.unsigned_abs();
    if ns < 1_000_000_000 {
        return duration(ns as f64);
    }
    let digits = 8_u32.saturating_sub(uncertainty_ns.max(1).ilog10()).min(6) as usize;
    // Rounded in whole nanoseconds: years of seconds leave a float too few digits.
    let unit = 10_u64.pow(9 - digits as u32);
    let rounded = ns.saturating_add(unit / 2) / unit * unit;
    let (seconds, rest) = (rounded / 1_000_000_000, rounded % 1_000_000_000);
    let rest = format!("{rest:09}");
    let point = if digits > 0 { "." } else { "" };
    format!("{}{point}{} s", grouped(seconds as usize), &rest[..digits])
}

#[cfg(test)]
mod tests {
    use stend_model::clocks::{Comparison, Reading};

    use super::*;

    const SECOND: i64 = 1_000_000_000;

    fn compared(at: i64, monotonic_ahead_ns: i64, realtime_ahead_ns: i64) -> Comparison {
        let lab = Reading { monotonic_ns: at, realtime_ns: 1_700_000_000 * SECOND + at };
        Comparison { lab, monotonic_ahead_ns, realtime_ahead_ns, uncertainty_ns: 400_000, round_trips: 16 }
    }

    #[test]
    fn one_line_says_how_clocks_stood() {
        let hour = 3600 * SECOND + 12_345_678;
        let before = compared(0, 5, hour);
        let quiet = Clocks { before, after: Some(compared(60 * SECOND, 200_005, hour + 200_000)) };
        assert_eq!(
            how_they_stood(&quiet).english(),
            "clocks compared to ±400 µs: the machine's was 3\u{a0}600.012 s ahead; moments are converted to this machine's time"
        );
        assert!(
            how_they_stood(&quiet).russian().contains("на 3\u{a0}600,012\u{a0}с впереди наших"),
            "{}",
            how_they_stood(&quiet).russian()
        );
        assert!(
            how_they_stood(&quiet).russian().contains("с точностью ±400\u{a0}мкс"),
            "{}",
            how_they_stood(&quiet).russian()
        );
        let set = Clocks { before, after: Some(compared(60 * SECOND, 5 + 3_000_000, 3_000_000)) };
        let said = how_they_stood(&set).english().to_owned();
        assert!(said.contains("; it was set by −3\u{a0}600.012 s meanwhile"), "{said}");
        assert!(said.ends_with("; it gained 3.00 ms in 60.0 s"), "{said}");
        let almost = Clocks { before: compared(0, 5, 3600 * SECOND - 140_000), after: None };
        assert!(
            how_they_stood(&almost).english().contains(" 3\u{a0}600.000 s ahead"),
            "{}",
            how_they_stood(&almost).english()
        );
        let cut = Clocks { before: compared(0, 7 * SECOND, 1000), after: None };
        assert_eq!(how_they_stood(&cut).english(), "clocks agree to ±400 µs; they were not compared again at the end");
    }
}
