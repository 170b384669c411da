//! The clocks of a machine that is reached over a link, in words of both languages.

use stend_model::clocks::Clocks;

use super::numbers::russian;
use super::phrase::Phrase;
use super::text::{duration, grouped};

/// How the machine's clocks stood beside the lab's in one session: how far apart, how surely, and what became of that.
pub(crate) fn words(clocks: &Clocks) -> Phrase {
    let before = clocks.before;
    let uncertainty = clocks.uncertainty_ns();
    let (mut en, mut ru) = if before.realtime_ahead_ns.saturating_abs() <= uncertainty {
        let sure = duration(uncertainty as f64);
        (format!("clocks agree to ±{sure}"), format!("часы согласны с точностью {}", russian(&format!("±{sure}"))))
    } else {
        let (apart, sure) = (distance(before.realtime_ahead_ns, uncertainty), duration(uncertainty as f64));
        let (way_en, way_ru) = if before.realtime_ahead_ns > 0 {
            ("ahead", "впереди наших")
        } else {
            ("behind", "позади наших")
        };
        (
            format!(
                "clocks compared to ±{sure}: the machine's was {apart} {way_en}; moments are put on this side's time"
            ),
            format!(
                "часы сверены с точностью {}: у машины они были на {} {way_ru}; моменты даны по нашим часам",
                russian(&format!("±{sure}")),
                russian(&apart)
            ),
        )
    };
    if let Some(step) = clocks.was_set_by_ns() {
        let (apart, sign) = (distance(step, uncertainty), if step > 0 { "+" } else { "−" });
        en += &format!("; it was set by {sign}{apart} meanwhile, which no measured time depends on");
        let step = russian(&format!("{sign}{apart}"));
        ru += &format!("; за это время их перевели на {step}, от чего измеренное не зависит");
    }
    match clocks.drift() {
        Some(drift) if drift.is_sure() => {
            let (gained, within) =
                (duration(drift.gained_ns.saturating_abs() as f64), duration(drift.within_ns as f64));
            let (way_en, way_ru) =
                if drift.gained_ns > 0 { ("gained", "ушли вперёд") } else { ("lost", "отстали") };
            en += &format!("; it {way_en} {gained} in {within}");
            ru += &format!("; они {way_ru} на {} за {}", russian(&gained), russian(&within));
        }
        Some(_) => {}
        None => {
            en += "; they were not compared again at the end";
            ru += "; в конце они не сверены";
        }
    }
    Phrase::new(en, ru)
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
            words(&quiet).en,
            "clocks compared to ±400 µs: the machine's was 3\u{a0}600.012 s ahead; moments are put on this side's time"
        );
        assert!(words(&quiet).ru.contains("на 3\u{a0}600,012\u{a0}с впереди наших"), "{}", words(&quiet).ru);
        assert!(words(&quiet).ru.contains("с точностью ±400\u{a0}мкс"), "{}", words(&quiet).ru);
        let set = Clocks { before, after: Some(compared(60 * SECOND, 5 + 3_000_000, 3_000_000)) };
        let said = words(&set).en;
        assert!(said.contains("; it was set by −3\u{a0}600.012 s meanwhile"), "{said}");
        assert!(said.ends_with("; it gained 3.00 ms in 60.0 s"), "{said}");
        let almost = Clocks { before: compared(0, 5, 3600 * SECOND - 140_000), after: None };
        assert!(words(&almost).en.contains(" 3\u{a0}600.000 s ahead"), "{}", words(&almost).en);
        let cut = Clocks { before: compared(0, 7 * SECOND, 1000), after: None };
        assert_eq!(words(&cut).en, "clocks agree to ±400 µs; they were not compared again at the end");
    }
}
