//! The upright axis of a drawing: units, ranges, and round values along it.

use std::fmt;

use serde::Serialize;
use stend_model::metric::{Unit, three_digits};

use super::numbers::{Writing, figure};
use super::phrase::Phrase;
use super::text::{decimals_for, scale_of};

/// Units of every drawing's canvas, across and down.
pub(super) const CANVAS: (f64, f64) = (4000.0, 1000.0);

/// A figure of an axis.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tick {
    /// From the top of an upright axis, from the left of a level one, in hundredths of its length.
    pub(super) percent: f64,
    pub(super) label: String,
}

impl Tick {
    /// At a share of the axis, to less than what is seen: a page has thousands of these.
    pub(super) fn at(share: f64, label: String) -> Self {
        Self { percent: (share * 1e4).round() / 100.0, label }
    }

    /// What stands there.
    pub(super) fn figure(&self) -> Phrase {
        figure(&self.label)
    }

    /// Where on the canvas it is, if its axis is the level one.
    pub(super) fn x(&self) -> f64 {
        (self.percent / 100.0 * CANVAS.0).round()
    }

    /// The same of the upright one.
    pub(super) fn y(&self) -> f64 {
        self.percent / 100.0 * CANVAS.1
    }
}

/// The figures of an axis that lies on its side: what was at the top is at the right.
pub(super) fn lying(ticks: Vec<Tick>) -> Vec<Tick> {
    ticks.into_iter().map(|tick| Tick::at(1.0 - tick.percent / 100.0, tick.label)).collect()
}

/// What a script needs to tell the value of a point of a drawing: the values at its lower and upper edge, or their powers of ten, and the
/// unit in which they are written.
#[derive(Serialize)]
pub(super) struct Readout {
    bottom: f64,
    top: f64,
    logarithmic: bool,
    divisor: f64,
    suffix: Phrase,
}

impl fmt::Display for Readout {
    /// As attributes of the drawing.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { bottom, top, logarithmic, divisor, suffix } = self;
        let first = suffix.english();
        for (code, suffix) in suffix.texts().filter(|(_, suffix)| *suffix != first) {
            write!(f, "data-suffix-{code}=\"{suffix}\" ")?;
        }
        write!(f, "data-bottom=\"{bottom}\" data-top=\"{top}\" data-divisor=\"{divisor}\" data-suffix=\"{first}\"")?;
        if *logarithmic { f.write_str(" data-log") } else { Ok(()) }
    }
}

// Numbers and the names of units have nothing to escape.
impl askama::filters::HtmlSafe for Readout {}

/// How values are written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Scale {
    /// In a unit.
    Unit(Unit),
    /// A count.
    Count,
    /// A count by the second.
    CountPerSecond,
}

impl Scale {
    /// The scale that a metric's name asks for, and the factor from its values, or its slopes, to it.
    pub(super) fn of(metric: &str) -> (Self, f64) {
        if let Some(name) = metric.strip_suffix("_total") {
            return match name {
                _ if name.ends_with("bytes") => (Self::Unit(Unit::BytesPerSecond), 1.0),
                _ if name.ends_with("_joules") => (Self::Unit(Unit::Watts), 1.0),
                // How long all waited, by the second: how many waited at once.
                _ if name.ends_with("queue_ns") => (Self::Count, 1e-9),
                // Nanoseconds by the second: the share of time that it went on.
                _ if name.ends_with("_ns") => (Self::Unit(Unit::Percent), 1e-7),
                _ => (Self::CountPerSecond, 1.0),
            };
        }
        let unit = match metric {
            _ if metric.ends_with("bytes_per_s") => Unit::BytesPerSecond,
            _ if metric.ends_with("_per_s") => return (Self::CountPerSecond, 1.0),
            _ if metric.ends_with("bytes") => Unit::Bytes,
            _ if metric.ends_with("_hz") => Unit::Hertz,
            _ if metric.ends_with("_celsius") => Unit::Celsius,
            _ if metric.ends_with("_watts") => Unit::Watts,
            _ if metric.ends_with("_joules") => Unit::Joules,
            _ if metric.ends_with("_ns") => Unit::Nanoseconds,
            _ if metric.ends_with("_percent") => Unit::Percent,
            _ if metric == "iops" || metric.ends_with("_iops") => Unit::Iops,
            _ => return (Self::Count, 1.0),
        };
        (Self::Unit(unit), 1.0)
    }

    /// The power of ten and the unit's text in which values of this size are written.
    fn parts(self, size: f64) -> (f64, String) {
        match self {
            Self::Unit(unit) => scale_of(unit, size),
            Self::Count | Self::CountPerSecond => {
                let (divisor, suffix) = scale_of(Unit::OperationsPerSecond, size);
                let end = if self == Self::Count { "" } else { "/s" };
                (divisor, suffix.replace("op/s", end))
            }
        }
    }

    /// How a script tells values between these edges, which are powers of ten where the axis is logarithmic.
    pub(super) fn readout(self, bottom: f64, top: f64, logarithmic: bool) -> Readout {
        let largest = if logarithmic { 10f64.powf(top) } else { bottom.abs().max(top.abs()) };
        let (divisor, suffix) = self.parts(largest);
        // A millionth of what is drawn is not seen.
        let digits = 6 - (top - bottom).abs().log10().floor() as i32;
        let rounded = |value: f64| {
            let power = 10f64.powi(digits);
            let rounded = (value * power).round() / power;
            if rounded.is_finite() { rounded } else { value }
        };
        let (bottom, top) = (rounded(bottom), rounded(top));
        let named = |language| Writing::of(language).unit(&suffix).unwrap_or(&suffix).to_owned();
        Readout { bottom, top, logarithmic, divisor, suffix: Phrase::of(named) }
    }

    /// Two values in one unit, with as many decimals as tell them apart.
    pub(super) fn show_range(self, low: f64, high: f64) -> (String, String) {
        let (divisor, suffix) = self.parts(low.abs().max(high.abs()));
        let decimals = decimals_for((high - low) / divisor / 20.0).max(decimals_for(high.abs() / divisor / 100.0));
        let show = |value: f64| format!("{:.decimals$} {suffix}", value / divisor).trim_end().to_owned();
        (show(low), show(high))
    }

    /// A round value, without digits that say nothing.
    fn show_round(self, value: f64) -> String {
        let (divisor, suffix) = self.parts(value * 1.000_001);
        format!("{} {suffix}", (value / divisor * 1e6).round() / 1e6).trim_end().to_owned()
    }

    /// One value.
    pub(super) fn show(self, value: f64) -> String {
        let (divisor, suffix) = self.parts(value);
        let number = three_digits(value / divisor);
        format!("{number} {suffix}").trim_end().to_owned()
    }
}

/// The highest value over the lowest from which an axis of quantities above zero is logarithmic.
const WIDE: f64 = 8.0;

/// An axis of quantities above zero, such as latencies: of equal ratios where the range is wide.
#[derive(Debug, Clone, Copy)]
pub(super) struct Axis {
    low: f64,
    high: f64,
    logarithmic: bool,
}

impl Axis {
    /// From one value to the other.
    pub(super) fn new(low: f64, high: f64) -> Self {
        Self { low, high, logarithmic: high / low > WIDE }
    }

    /// The same with some room above; below too, or down to zero.
    pub(super) fn with_air(low: f64, high: f64) -> Self {
        let logarithmic = high / low > WIDE;
        let (low, high) = if logarithmic { (low / 1.25, high * 1.25) } else { (0.0, high * 1.1) };
        Self { low, high, logarithmic }
    }

    /// From zero to some room above a value, whatever else there is: what is as long as its value takes that.
    pub(super) fn from_zero(high: f64) -> Self {
        Self { low: 0.0, high: high * 1.1, logarithmic: false }
    }

    pub(super) fn is_logarithmic(&self) -> bool {
        self.logarithmic
    }

    /// The lower end.
    pub(super) fn low(&self) -> f64 {
        self.low
    }

    /// Where a value is, as a share of the axis from its upper end.
    pub(super) fn share(&self, value: f64) -> f64 {
        if self.logarithmic {
            (self.high / value).ln() / (self.high / self.low).ln()
        } else {
            (self.high - value) / (self.high - self.low)
        }
    }

    pub(super) fn ticks(&self, scale: Scale) -> Vec<Tick> {
        if self.logarithmic {
            log_ticks(scale, self.low.log10(), self.high.log10())
        } else {
            ticks(scale, self.low, self.high)
        }
    }
}

/// Ticks at round values within the range, from low to high, all in one unit.
pub(super) fn ticks(scale: Scale, low: f64, high: f64) -> Vec<Tick> {
    let range = high - low;
    // The largest step of the series 1, 2, 5 that leaves at least two and a half of it in the range: three to seven ticks.
    let most = range / 2.5;
    let power = 10f64.powf(most.log10().floor());
    let step = [5.0, 2.0, 1.0].into_iter().map(|factor| factor * power).find(|step| *step <= most);
    let Some(step) = step.filter(|step| step.is_finite() && *step > 0.0) else { return Vec::new() };
    let (divisor, suffix) = scale.parts(low.abs().max(high.abs()));
    let decimals = decimals_for(step / divisor * 1.001);
    let first = (low / step).ceil() as i64;
    let last = (high / step).floor() as i64;
    (first..=last.min(first + 8))
        .map(|index| {
            let value = index as f64 * step;
            let share = (high - value) / range;
            let label = format!("{:.decimals$} {suffix}", value / divisor);
            Tick::at(share, label.trim_end().to_owned())
        })
        .collect()
}

/// Ticks of an axis on which equal distances are equal ratios, between these powers of ten: at 1, 2 and 5 of each where there is room, else
/// at some of the powers alone.
pub(super) fn log_ticks(scale: Scale, low: f64, high: f64) -> Vec<Tick> {
    const MOST: usize = 7;
    let range = high - low;
    let decades = (low.floor() as i32..=high.ceil() as i32).collect::<Vec<_>>();
    let of = |decades: &[i32], factors: &[f64]| -> Vec<Tick> {
        let values = decades.iter().flat_map(|power| factors.iter().map(|factor| factor * 10f64.powi(*power)));
        let within = values.filter(|value| (low..=high).contains(&value.log10()));
        within
            .map(|value| {
                let share = (high - value.log10()) / range;
                Tick::at(share, scale.show_round(value))
            })
            .collect()
    };
    if range.is_nan() || range <= 0.0 || decades.len() > 40 {
        return Vec::new();
    }
    let all = [&[1.0, 2.0, 5.0][..], &[1.0, 3.0], &[1.0]].map(|factors| of(&decades, factors));
    if all[0].len() < 2 {
        return within_a_step(scale, low, high);
    }
    if let Some(ticks) = all.into_iter().find(|ticks| ticks.len() <= MOST) {
        return ticks;
    }
    let every: Vec<_> = decades.into_iter().filter(|power| power % 2 == 0).collect();
    of(&every, &[1.0]).into_iter().take(2 * MOST).collect()
}

/// Ticks of an axis of equal ratios that is so short that hardly one of 1, 2 and 5 is on it: at round distances instead.
fn within_a_step(scale: Scale, low: f64, high: f64) -> Vec<Tick> {
    let (lowest, highest) = (10f64.powf(low), 10f64.powf(high));
    let moved = |tick: Tick| {
        let value = highest - tick.percent / 100.0 * (highest - lowest);
        let share = (high - value.log10()) / (high - low);
        Tick::at(share, tick.label)
    };
    ticks(scale, lowest, highest).into_iter().map(moved).collect()
}

/// The upper end of an axis of shares in percent, from the values on it: with no more air above 100 % than shows a line there, since there is
/// nothing beyond.
pub(super) fn top_of_shares(low: f64, high: f64) -> f64 {
    const HIGHEST: f64 = 102.0;
    padded(low, high).1.min(HIGHEST.max(high))
}

/// A range with some air about it; never empty.
pub(super) fn padded(low: f64, high: f64) -> (f64, f64) {
    let air = (high - low) * 0.06;
    if air > 0.0 {
        // What cannot be negative is not drawn as if it could.
        (if low >= 0.0 { (low - air).max(0.0) } else { low - air }, high + air)
    } else {
        let air = if low == 0.0 { 1.0 } else { low.abs() * 0.05 };
        (low - air, high + air)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_their_units() {
        for (metric, value, text) in [
            ("disk.vda.written_bytes_total", 2e6, "2.00 MB/s"),
            ("disk.vda.busy_ns_total", 5e8, "50.0 %"),
            ("disk.vda.queue_ns_total", 2.5e9, "2.50"),
            ("context_switches_total", 21_500.0, "21.5 k/s"),
            ("bandwidth_bytes_per_s", 1.1e9, "1.10 GB/s"),
            ("latency_mean_ns", 2e6, "2.00 ms"),
            ("thermal.coretemp_celsius", 61.0, "61.0 °C"),
            ("load.1m", 1.5, "1.50"),
        ] {
            let (scale, factor) = Scale::of(metric);
            assert_eq!(scale.show(value * factor), text, "{metric}");
        }
    }

    #[test]
    fn equal_ratios_have_round_ticks_too() {
        let labels = |low: f64, high: f64| {
            log_ticks(Scale::Unit(Unit::Nanoseconds), low.log10(), high.log10())
                .into_iter()
                .map(|tick| tick.label)
                .collect::<Vec<_>>()
        };
        assert_eq!(labels(80e3, 2.4e6), ["100 µs", "200 µs", "500 µs", "1 ms", "2 ms"]);
        assert_eq!(labels(800.0, 1.2e8), ["1 µs", "10 µs", "100 µs", "1 ms", "10 ms", "100 ms"]);
        assert_eq!(labels(90e3, 1.1e6), ["100 µs", "200 µs", "500 µs", "1 ms"]);
        assert_eq!(labels(90e3, 40e6), ["100 µs", "300 µs", "1 ms", "3 ms", "10 ms", "30 ms"]);
        assert_eq!(labels(6.1e6, 6.9e6), ["6.2 ms", "6.4 ms", "6.6 ms", "6.8 ms"], "where none of 1, 2 and 5 is");
        assert_eq!(labels(2e3, 2e9), ["10 µs", "100 µs", "1 ms", "10 ms", "100 ms", "1 s"]);
        assert!(labels(5.0, 5.0).is_empty() && labels(f64::NAN, 5.0).is_empty());
        assert!(labels(1.0, 1e30).len() <= 20);
    }

    #[test]
    fn ticks_are_round_and_in_one_unit() {
        let labels = |scale, low, high| ticks(scale, low, high).into_iter().map(|tick| tick.label).collect::<Vec<_>>();
        assert_eq!(labels(Scale::Unit(Unit::BytesPerSecond), 0.93e9, 1.07e9), ["0.95 GB/s", "1.00 GB/s", "1.05 GB/s"]);
        assert_eq!(labels(Scale::Unit(Unit::Percent), 0.0, 103.0), ["0 %", "20 %", "40 %", "60 %", "80 %", "100 %"]);
        assert_eq!(labels(Scale::CountPerSecond, 0.0, 4200.0), ["0 k/s", "1 k/s", "2 k/s", "3 k/s", "4 k/s"]);
        assert!(labels(Scale::Count, 1.0, 1.0).is_empty());
        let memory = Scale::Unit(Unit::Bytes).show_range(25.05e9, 25.15e9);
        assert_eq!(memory, ("25.050 GB".into(), "25.150 GB".into()));
    }
}
