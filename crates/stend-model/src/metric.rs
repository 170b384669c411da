//! Metrics: what is computed from a repeat, in which unit, and which way is better.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::quantity::Share;
use crate::wire::Report;

/// Which way is better. Each metric declares it; nothing is guessed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// More is better, as with bytes per second.
    Higher,
    /// Less is better, as with latency.
    Lower,
}

/// What is computed from each repeat of a scenario.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Metric {
    /// Its name within the scenario: `throughput`, `latency p99`.
    pub name: String,
    /// How it is computed: a quantity, or one quantity over another: `bytes/wall`, `cycles/bytes`, `latency_p99_ns`.
    pub value: Expression,
    /// The unit that it is shown in.
    pub unit: Unit,
    /// Which way is better.
    pub better: Better,
    /// Differences below this share are noise whatever the statistics say; 1 % if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub floor: Option<Share>,
    /// Whether a repeat counts that does not report what it needs: the CPU time of controllers where there are none. Never the main metric.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub optional: bool,
}

impl Metric {
    /// The wall time of a repeat, in seconds.
    pub fn time() -> Self {
        let value = Expression { numerator: Quantity::Wall, denominator: None };
        Self { name: "time".into(), value, unit: Unit::Seconds, better: Better::Lower, floor: None, optional: false }
    }

    /// Checks that the unit fits the expression.
    pub fn check(&self) -> Result<(), MetricError> {
        if self.value.dimension() == self.unit.dimension() {
            Ok(())
        } else {
            Err(MetricError::UnitDoesNotFit {
                expression: self.value.to_string(),
                unit: self.unit,
                fitting: Unit::ALL
                    .iter()
                    .filter(|unit| unit.dimension() == self.value.dimension())
                    .map(ToString::to_string)
                    .collect(),
            })
        }
    }

    /// The metric's value in a repeat, in the metric's unit. `None` where the repeat did not report what it needs, or
    /// the result is no finite number.
    pub fn of(&self, report: &Report) -> Option<f64> {
        let value = self.value.of(report)? / self.unit.in_base_units();
        value.is_finite().then_some(value)
    }
}

/// A metric that makes no sense.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum MetricError {
    /// The unit measures something else.
    #[error("the unit {unit} does not fit the value \"{expression}\"; {}", fitting_units(.fitting))]
    UnitDoesNotFit {
        /// The value's expression.
        expression: String,
        /// The unit given.
        unit: Unit,
        /// The units that would fit.
        fitting: Vec<String>,
    },
    /// The expression is neither a name nor one name over another.
    #[error(
        "\"{0}\" is no value; write a name or one over another: bytes/wall, bytes/cpu, cycles/bytes, latency_p99_ns"
    )]
    BadExpression(String),
    /// The unit is unknown.
    #[error("unknown unit \"{0}\"; known are {known}", known = Unit::ALL.map(Unit::symbol).join(", "))]
    UnknownUnit(String),
}

fn fitting_units(units: &[String]) -> String {
    if units.is_empty() { "no known unit does".into() } else { format!("{} would", units.join(", ")) }
}

/// One quantity of a repeat, or one over another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expression {
    numerator: Quantity,
    denominator: Option<Quantity>,
}

/// A quantity of a repeat.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Quantity {
    /// Wall time.
    Wall,
    /// CPU time of all ends of the load.
    Cpu,
    /// Core cycles: wall time × the calibrated clock that the instrument observed.
    Cycles,
    /// Core cycles of the load itself: CPU time of all ends × the calibrated clock. On a busy machine it counts no wait.
    CpuCycles,
    /// A named amount of work, or something observed. A name that ends in `_cpu` is CPU time: `controllers_cpu` is what was observed as
    /// `controllers_cpu_ns`. One that ends in `_energy` is energy: `processor_energy` is what was observed as `processor_energy_joules`.
    Named(String),
}

/// Exponents of wall time, CPU time, bytes, cycles, temperature and energy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Dimension {
    time: i8,
    cpu: i8,
    bytes: i8,
    cycles: i8,
    celsius: i8,
    energy: i8,
}

impl Quantity {
    fn dimension(&self) -> Dimension {
        let none = Dimension::default();
        match self {
            Self::Wall => Dimension { time: 1, ..none },
            Self::Cpu => Dimension { cpu: 1, ..none },
            Self::Cycles | Self::CpuCycles => Dimension { cycles: 1, ..none },
            Self::Named(name) if name.ends_with("_cpu") => Dimension { cpu: 1, ..none },
            Self::Named(name) if name.ends_with("_energy") || name.ends_with("_joules") => {
                Dimension { energy: 1, ..none }
            }
            Self::Named(name) if name.ends_with("_ns") => Dimension { time: 1, ..none },
            Self::Named(name) if name == "bytes" || name.ends_with("_bytes") => Dimension { bytes: 1, ..none },
            Self::Named(name) if name.ends_with("_hz") => Dimension { time: -1, ..none },
            Self::Named(name) if name.ends_with("_celsius") => Dimension { celsius: 1, ..none },
            Self::Named(_) => none,
        }
    }

    /// In base units: seconds, bytes, cycles, hertz, degrees Celsius, joules, or a plain count.
    fn of(&self, report: &Report) -> Option<f64> {
        match self {
            Self::Wall => Some(report.wall_ns as f64 * 1e-9),
            Self::Cpu => report.cpu_ns.map(|cpu_ns| cpu_ns as f64 * 1e-9),
            Self::Cycles => Some(report.wall_ns as f64 * 1e-9 * report.observed.get("clock_hz")?),
            Self::CpuCycles => Some(report.cpu_ns? as f64 * 1e-9 * report.observed.get("clock_hz")?),
            Self::Named(name) if name.ends_with("_cpu") => Some(report.observed.get(&format!("{name}_ns"))? * 1e-9),
            Self::Named(name) if name.ends_with("_energy") => report.observed.get(&format!("{name}_joules")).copied(),
            Self::Named(name) => {
                let value = *report.work.get(name).or_else(|| report.observed.get(name))?;
                Some(if name.ends_with("_ns") { value * 1e-9 } else { value })
            }
        }
    }
}

impl Expression {
    fn dimension(&self) -> Dimension {
        let over = self.denominator.as_ref().map(Quantity::dimension).unwrap_or_default();
        let Dimension { time, cpu, bytes, cycles, celsius, energy } = self.numerator.dimension();
        Dimension {
            time: time - over.time,
            cpu: cpu - over.cpu,
            bytes: bytes - over.bytes,
            cycles: cycles - over.cycles,
            celsius: celsius - over.celsius,
            energy: energy - over.energy,
        }
    }

    fn of(&self, report: &Report) -> Option<f64> {
        let numerator = self.numerator.of(report)?;
        Some(match &self.denominator {
            Some(denominator) => numerator / denominator.of(report)?,
            None => numerator,
        })
    }
}

impl Expression {
    /// Whether it is of the time that passes: a rate, or a time itself. What does twice as much at once doubles the one and halves the other.
    pub fn is_of_wall_time(&self) -> bool {
        *self.denominator.as_ref().unwrap_or(&self.numerator) == Quantity::Wall
    }
}

impl FromStr for Quantity {
    type Err = ();
    fn from_str(text: &str) -> Result<Self, ()> {
        let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        match text {
            "wall" => Ok(Self::Wall),
            "cpu" => Ok(Self::Cpu),
            "cycles" => Ok(Self::Cycles),
            "cpu_cycles" => Ok(Self::CpuCycles),
            name if name.starts_with(|c: char| c.is_ascii_lowercase()) && name.chars().all(allowed) => {
                Ok(Self::Named(name.into()))
            }
            _ => Err(()),
        }
    }
}

impl FromStr for Expression {
    type Err = MetricError;
    fn from_str(text: &str) -> Result<Self, MetricError> {
        let bad = |()| MetricError::BadExpression(text.into());
        let (numerator, denominator) = match text.split_once('/') {
            Some((numerator, denominator)) => (numerator, Some(denominator)),
            None => (text, None),
        };
        Ok(Self {
            numerator: numerator.trim().parse().map_err(bad)?,
            denominator: denominator.map(|name| name.trim().parse().map_err(bad)).transpose()?,
        })
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Wall => "wall",
            Self::Cpu => "cpu",
            Self::Cycles => "cycles",
            Self::CpuCycles => "cpu_cycles",
            Self::Named(name) => name,
        })
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.numerator)?;
        self.denominator.as_ref().map_or(Ok(()), |denominator| write!(f, "/{denominator}"))
    }
}

/// The unit that a metric is shown in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Bytes per second of wall time.
    BytesPerSecond,
    /// Bytes per second of CPU time, that of both ends of the load together.
    BytesPerCpuSecond,
    /// Operations per second of CPU time.
    OperationsPerCpuSecond,
    /// Core cycles per byte.
    CyclesPerByte,
    /// Core cycles.
    Cycles,
    /// Operations per second.
    OperationsPerSecond,
    /// Input and output operations per second.
    Iops,
    /// Requests per second.
    RequestsPerSecond,
    /// Seconds.
    Seconds,
    /// Nanoseconds.
    Nanoseconds,
    /// Seconds of CPU time.
    CpuSeconds,
    /// Seconds of CPU time per second: as many processors as are busy.
    Cores,
    /// Bytes.
    Bytes,
    /// Hertz.
    Hertz,
    /// Degrees Celsius.
    Celsius,
    /// Bytes for a joule.
    BytesPerJoule,
    /// Operations for a joule.
    OperationsPerJoule,
    /// Joules.
    Joules,
    /// Watts: joules per second of wall time.
    Watts,
    /// Hundredths.
    Percent,
    /// A plain number.
    One,
}

impl Unit {
    /// Every unit.
    pub const ALL: [Self; 21] = [
        Self::BytesPerSecond,
        Self::BytesPerCpuSecond,
        Self::OperationsPerCpuSecond,
        Self::CyclesPerByte,
        Self::Cycles,
        Self::OperationsPerSecond,
        Self::Iops,
        Self::RequestsPerSecond,
        Self::Seconds,
        Self::Nanoseconds,
        Self::CpuSeconds,
        Self::Cores,
        Self::Bytes,
        Self::Hertz,
        Self::Celsius,
        Self::BytesPerJoule,
        Self::OperationsPerJoule,
        Self::Joules,
        Self::Watts,
        Self::Percent,
        Self::One,
    ];

    /// As it is written in suites and shown.
    pub const fn symbol(self) -> &'static str {
        match self {
            Self::BytesPerSecond => "B/s",
            Self::BytesPerCpuSecond => "B/CPU-s",
            Self::OperationsPerCpuSecond => "op/CPU-s",
            Self::CyclesPerByte => "cycles/B",
            Self::Cycles => "cycles",
            Self::OperationsPerSecond => "op/s",
            Self::Iops => "IOPS",
            Self::RequestsPerSecond => "requests/s",
            Self::Seconds => "s",
            Self::Nanoseconds => "ns",
            Self::CpuSeconds => "CPU-s",
            Self::Cores => "cores",
            Self::Bytes => "B",
            Self::Hertz => "Hz",
            Self::Celsius => "°C",
            Self::BytesPerJoule => "B/J",
            Self::OperationsPerJoule => "op/J",
            Self::Joules => "J",
            Self::Watts => "W",
            Self::Percent => "%",
            Self::One => "1",
        }
    }

    fn dimension(self) -> Dimension {
        let none = Dimension::default();
        match self {
            Self::BytesPerSecond => Dimension { bytes: 1, time: -1, ..none },
            Self::BytesPerCpuSecond => Dimension { bytes: 1, cpu: -1, ..none },
            Self::OperationsPerCpuSecond => Dimension { cpu: -1, ..none },
            Self::CyclesPerByte => Dimension { cycles: 1, bytes: -1, ..none },
            Self::Cycles => Dimension { cycles: 1, ..none },
            Self::OperationsPerSecond | Self::Iops | Self::RequestsPerSecond | Self::Hertz => {
                Dimension { time: -1, ..none }
            }
            Self::Seconds | Self::Nanoseconds => Dimension { time: 1, ..none },
            Self::CpuSeconds => Dimension { cpu: 1, ..none },
            Self::Cores => Dimension { cpu: 1, time: -1, ..none },
            Self::Bytes => Dimension { bytes: 1, ..none },
            Self::Celsius => Dimension { celsius: 1, ..none },
            Self::BytesPerJoule => Dimension { bytes: 1, energy: -1, ..none },
            Self::OperationsPerJoule => Dimension { energy: -1, ..none },
            Self::Joules => Dimension { energy: 1, ..none },
            Self::Watts => Dimension { energy: 1, time: -1, ..none },
            Self::Percent | Self::One => none,
        }
    }

    fn in_base_units(self) -> f64 {
        match self {
            Self::Nanoseconds => 1e-9,
            Self::Percent => 0.01,
            _ => 1.0,
        }
    }

    /// A value in this unit as a person reads it: three digits, and a prefix where the unit takes one.
    ///
    /// `1234567890 B/s` → `1.23 GB/s`; `850 ns` → `850 ns`; `0.72 cycles/B` → `0.72 cycles/B`.
    pub fn show(self, value: f64) -> String {
        const LARGE: [(f64, &str); 4] = [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")];
        match self {
            Self::Seconds | Self::Nanoseconds | Self::CpuSeconds => {
                let suffix = if self == Self::CpuSeconds { "CPU-s" } else { "s" };
                let seconds = value * self.in_base_units();
                for (factor, prefix) in [(1.0, ""), (1e-3, "m"), (1e-6, "µ"), (1e-9, "n")] {
                    if seconds.abs() >= factor || factor == 1e-9 {
                        return format!("{} {prefix}{suffix}", three_digits(seconds / factor));
                    }
                }
                unreachable!("the last factor always fits")
            }
            Self::Cores | Self::CyclesPerByte | Self::Cycles | Self::Percent | Self::Celsius | Self::One => {
                let symbol = if self == Self::One { "" } else { self.symbol() };
                format!("{} {symbol}", three_digits(value)).trim_end().to_owned()
            }
            _ => {
                let (factor, prefix) =
                    LARGE.into_iter().find(|(factor, _)| value.abs() >= *factor).unwrap_or((1.0, ""));
                format!("{} {prefix}{}", three_digits(value / factor), self.symbol())
            }
        }
    }
}

/// A number for people with three significant digits, no exponent unless it is below a thousandth or has more than 15 digits, and the minus sign
/// of printed text.
pub fn three_digits(value: f64) -> String {
    let magnitude = value.abs();
    let digits = match magnitude {
        _ if magnitude == 0.0 => return "0".into(),
        _ if magnitude >= 1e15 => format!("{magnitude:.2e}"),
        _ if magnitude >= 99.95 => format!("{magnitude:.0}"),
        _ if magnitude >= 9.995 => format!("{magnitude:.1}"),
        _ if magnitude >= 0.9995 => format!("{magnitude:.2}"),
        _ if magnitude >= 0.001 => format!("{magnitude:.3}"),
        _ => format!("{magnitude:.2e}"),
    };
    if value < 0.0 { format!("−{digits}") } else { digits }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.symbol())
    }
}

impl FromStr for Unit {
    type Err = MetricError;
    fn from_str(text: &str) -> Result<Self, MetricError> {
        Self::ALL.into_iter().find(|unit| unit.symbol() == text).ok_or_else(|| MetricError::UnknownUnit(text.into()))
    }
}

macro_rules! as_text {
    ($type:ty, $name:literal, $schema:expr) => {
        impl Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
            }
        }
        impl JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                $name.into()
            }
            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                $schema
            }
        }
    };
}

as_text!(
    Expression,
    "Expression",
    schemars::json_schema!({
        "type": "string",
        "pattern": "^[a-z][a-z0-9_]*( */ *[a-z][a-z0-9_]*)?$",
        "description": "A quantity of a repeat, or one over another: wall, cpu (seconds), cycles, cpu_cycles, a name that ends in _cpu for what was observed as …_cpu_ns, or a name from the repeat's work or observed values"
    })
);
as_text!(
    Unit,
    "Unit",
    schemars::json_schema!({ "enum": Unit::ALL.map(Unit::symbol), "description": "The unit that the metric is shown in" })
);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{Event, parse_line};

    fn report() -> Report {
        let line = r#"{"event":"repeat","wall_ns":2000000000,"cpu_ns":1000000000,"work":{"bytes":8000,"operations":4},
            "observed":{"clock_hz":3000000000,"latency_p99_ns":1500,"processor_load":0.5,"controllers_cpu_ns":250000000,"processor_energy_joules":50},"check":"passed"}"#;
        match parse_line(line) {
            Ok(Some(Event::Repeat(report))) => report,
            other => panic!("{other:?}"),
        }
    }

    fn metric(value: &str, unit: &str) -> Metric {
        Metric {
            name: "m".into(),
            value: value.parse().unwrap(),
            unit: unit.parse().unwrap(),
            better: Better::Higher,
            floor: None,
            optional: false,
        }
    }

    #[test]
    fn values_in_their_units() {
        for (value, unit, wanted) in [
            ("bytes/wall", "B/s", 4000.0),
            ("bytes/cpu", "B/CPU-s", 8000.0),
            ("cycles/bytes", "cycles/B", 750_000.0),
            ("cpu_cycles/bytes", "cycles/B", 375_000.0),
            ("cpu_cycles/operations", "cycles", 7.5e8),
            ("operations/wall", "IOPS", 2.0),
            ("latency_p99_ns", "ns", 1500.0),
            ("wall", "s", 2.0),
            ("wall/operations", "ns", 5e8),
            ("processor_load", "%", 50.0),
            ("operations/controllers_cpu", "op/CPU-s", 16.0),
            ("controllers_cpu", "CPU-s", 0.25),
            ("operations/processor_energy", "op/J", 0.08),
            ("processor_energy", "J", 50.0),
            ("processor_energy/wall", "W", 25.0),
            ("controllers_cpu/wall", "cores", 0.125),
            ("controllers_cpu_ns", "s", 0.25),
        ] {
            let metric = metric(value, unit);
            metric.check().unwrap();
            let got = metric.of(&report()).unwrap();
            assert!((got / wanted - 1.0).abs() < 1e-12, "{value} in {unit}: {got}");
        }
    }

    #[test]
    fn what_was_not_reported_is_missing_and_not_zero() {
        assert_eq!(metric("requests/wall", "requests/s").of(&report()), None);
    }

    #[test]
    fn a_unit_that_does_not_fit_is_refused_with_one_that_does() {
        let message = metric("bytes/wall", "ns").check().unwrap_err().to_string();
        assert!(message.contains("B/s would"), "{message}");
        assert!("furlong".parse::<Unit>().unwrap_err().to_string().contains("cycles/B"));
        assert!("bytes/wall/wall".parse::<Expression>().is_err());
        assert!("".parse::<Expression>().is_err());
    }

    #[test]
    fn people_read_three_digits() {
        assert_eq!(Unit::BytesPerSecond.show(1_234_567_890.0), "1.23 GB/s");
        assert_eq!(Unit::CyclesPerByte.show(0.7234), "0.723 cycles/B");
        assert_eq!(Unit::Cycles.show(5.678), "5.68 cycles");
        assert_eq!(Unit::Nanoseconds.show(850.0), "850 ns");
        assert_eq!(Unit::Nanoseconds.show(8_000_000.0), "8.00 ms");
        assert_eq!(Unit::Iops.show(371_000.0), "371 kIOPS");
        assert_eq!(Unit::Iops.show(1_400_000.0), "1.40 MIOPS");
        assert_eq!(Unit::Cores.show(0.3742), "0.374 cores");
        assert_eq!(Unit::One.show(3.0), "3.00");
        assert_eq!(Unit::Celsius.show(-5.0), "−5.00 °C");
        assert_eq!(Unit::BytesPerSecond.show(-2.5e6), "−2.50 MB/s");
        assert_eq!(Unit::Cycles.show(123_456_789.0), "123456789 cycles");
        assert_eq!(Unit::BytesPerSecond.show(1.7e308), "1.70e296 TB/s");
    }
}
