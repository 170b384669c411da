//! Sizes, durations and shares as people write them: `64KiB`, `2400s`, `1%`.

use std::fmt;
use std::time::Duration;

use thiserror::Error;

/// A quantity that does not parse; the message says what would be right.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum QuantityError {
    /// The unit is not one of those that this quantity has.
    #[error("\"{text}\" has the unknown unit \"{unit}\"; a {kind} is written like {examples}")]
    UnknownUnit {
        /// The whole text.
        text: String,
        /// Its unit.
        unit: String,
        /// What was wanted.
        kind: &'static str,
        /// How it is written.
        examples: &'static str,
    },
    /// There is no number in front, or it is negative or too large.
    #[error("\"{text}\" is no {kind}; a {kind} is written like {examples}")]
    NotANumber {
        /// The whole text.
        text: String,
        /// What was wanted.
        kind: &'static str,
        /// How it is written.
        examples: &'static str,
    },
}

const SIZE: (&str, &str) = ("size", "4k, 64KiB, 1M, 1GiB (powers of 1024) or 64kB, 1MB, 1GB (powers of 1000)");
const DURATION: (&str, &str) = ("duration", "200ms, 30s, 7m, 1h");
const SHARE: (&str, &str) = ("share", "1%, 0.5% or 0.01");

/// Bytes from `4096`, `4k`, `64KiB`, `1MB`. `k`, `M`, `G`, `T` alone are powers of 1024, as in fio; `kB` and so on are
/// powers of 1000, after the SI.
pub fn parse_size(text: &str) -> Result<u64, QuantityError> {
    let (number, unit) = split(text, SIZE)?;
    let factor: f64 = match unit {
        "" | "B" => 1.0,
        "k" | "K" | "KiB" | "kiB" => 1024.0,
        "M" | "MiB" => 1024f64.powi(2),
        "G" | "GiB" => 1024f64.powi(3),
        "T" | "TiB" => 1024f64.powi(4),
        "kB" | "KB" => 1e3,
        "MB" => 1e6,
        "GB" => 1e9,
        "TB" => 1e12,
        _ => return Err(unknown_unit(text, unit, SIZE)),
    };
    let bytes = number * factor;
    // 2^53: above it a JSON number would not hold each byte count exactly.
    if bytes > 9_007_199_254_740_992.0 {
        return Err(not_a_number(text, SIZE));
    }
    Ok(bytes.round() as u64)
}

/// A length of time from `200ms`, `30s`, `7m`, `1h`; a bare number is seconds.
pub fn parse_duration(text: &str) -> Result<Duration, QuantityError> {
    let (number, unit) = split(text, DURATION)?;
    let seconds = match unit {
        "ns" => 1e-9,
        "us" | "µs" => 1e-6,
        "ms" => 1e-3,
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        "d" => 86_400.0,
        _ => return Err(unknown_unit(text, unit, DURATION)),
    };
    Duration::try_from_secs_f64(number * seconds).map_err(|_| not_a_number(text, DURATION))
}

/// A share of one from `1%` or `0.01`.
pub fn parse_share(text: &str) -> Result<f64, QuantityError> {
    let (number, unit) = split(text, SHARE)?;
    match unit {
        "%" => Ok(number / 100.0),
        "" => Ok(number),
        _ => Err(unknown_unit(text, unit, SHARE)),
    }
}

fn split<'a>(text: &'a str, (kind, examples): (&'static str, &'static str)) -> Result<(f64, &'a str), QuantityError> {
    let trimmed = text.trim();
    let end = trimmed.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(trimmed.len());
    let (number, unit) = trimmed.split_at(end);
    match number.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok((value, unit.trim_start())),
        _ => Err(not_a_number(text, (kind, examples))),
    }
}

fn unknown_unit(text: &str, unit: &str, (kind, examples): (&'static str, &'static str)) -> QuantityError {
    QuantityError::UnknownUnit { text: text.into(), unit: unit.into(), kind, examples }
}

fn not_a_number(text: &str, (kind, examples): (&'static str, &'static str)) -> QuantityError {
    QuantityError::NotANumber { text: text.into(), kind, examples }
}

/// Writes bytes so that [`parse_size`] gives the same number back, in the largest binary unit that divides it.
pub fn format_size(bytes: u64) -> String {
    for (unit, shift) in [("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)] {
        if bytes >= 1 << shift && bytes.trailing_zeros() >= shift {
            return format!("{}{unit}", bytes >> shift);
        }
    }
    bytes.to_string()
}

/// A share of one, read and written as text (`"1%"`) or as a number (`0.01`).
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Share(pub f64);

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Rounded to 12 digits, so that 0.07 is 7% and not 7.000000000000001%.
        write!(f, "{}%", (self.0 * 100.0 * 1e10).round() / 1e10)
    }
}

impl serde::Serialize for Share {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for Share {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        parse_text_or_number(deserializer, |text| parse_share(text).map(Share))
    }
}

/// A number of bytes, read as text (`"64KiB"`) or as a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Size(pub u64);

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&format_size(self.0))
    }
}

impl serde::Serialize for Size {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for Size {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        parse_text_or_number(deserializer, |text| parse_size(text).map(Size))
    }
}

impl std::str::FromStr for Size {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Self, QuantityError> {
        parse_size(text).map(Self)
    }
}

/// A length of time, read as text (`"30s"`) or as a number of seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span(pub Duration);

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nanoseconds = self.0.as_nanos();
        for (unit, length) in
            [("h", 3_600_000_000_000), ("m", 60_000_000_000), ("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000)]
        {
            if nanoseconds >= length && nanoseconds.is_multiple_of(length) {
                return write!(f, "{}{unit}", nanoseconds / length);
            }
        }
        write!(f, "{nanoseconds}ns")
    }
}

impl serde::Serialize for Span {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for Span {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        parse_text_or_number(deserializer, |text| parse_duration(text).map(Span))
    }
}

fn parse_text_or_number<'de, D, T>(
    deserializer: D,
    parse: impl Fn(&str) -> Result<T, QuantityError>,
) -> Result<T, D::Error>
where
    D: serde::Deserializer<'de>,
{
    use serde::Deserialize;
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "expected a text in quotes or a number")]
    enum TextOrNumber {
        Text(String),
        Number(f64),
    }
    let text = match TextOrNumber::deserialize(deserializer)? {
        TextOrNumber::Text(text) => text,
        TextOrNumber::Number(number) => number.to_string(),
    };
    parse(&text).map_err(serde::de::Error::custom)
}

macro_rules! text_schema {
    ($type:ty, $name:literal, $description:literal) => {
        impl schemars::JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                $name.into()
            }
            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": ["string", "number"], "description": $description })
            }
        }
    };
}

text_schema!(Share, "Share", "A share of one: \"1%\" or 0.01");
text_schema!(
    Size,
    "Size",
    "A number of bytes: \"4k\", \"64KiB\", \"1GiB\" (powers of 1024), \"1GB\" (powers of 1000), or a number"
);
text_schema!(Span, "Span", "A length of time: \"200ms\", \"30s\", \"7m\", \"1h\", or a number of seconds");

/// A number and what follows it in English: `1 scenario`, `2 scenarios`.
pub fn english_plural(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sizes_as_fio_and_the_si_write_them() {
        assert_eq!(parse_size("4k"), Ok(4096));
        assert_eq!(parse_size("64KiB"), Ok(65536));
        assert_eq!(parse_size("1 MB"), Ok(1_000_000));
        assert_eq!(parse_size("1.5G"), Ok(1_610_612_736));
        assert_eq!(parse_size("17"), Ok(17));
    }

    #[test]
    fn a_bad_size_says_what_would_be_right() {
        let message = parse_size("4 parsecs").unwrap_err().to_string();
        assert!(message.contains("\"parsecs\"") && message.contains("64KiB"), "{message}");
        assert!(parse_size("").is_err());
        assert!(parse_size("-1k").is_err());
        assert!(parse_size("9999999999T").is_err());
    }

    #[test]
    fn durations_and_shares() {
        assert_eq!(parse_duration("7m"), Ok(Duration::from_secs(420)));
        assert_eq!(parse_duration("0.2s"), Ok(Duration::from_millis(200)));
        assert!(parse_duration("7 fortnights").is_err());
        assert_eq!(parse_share("1%"), Ok(0.01));
        assert_eq!(Share(0.07).to_string(), "7%");
        assert_eq!(Span(Duration::from_secs(90)).to_string(), "90s");
    }

    proptest! {
        #[test]
        fn a_written_size_reads_back(bytes in 0u64..1 << 52) {
            prop_assert_eq!(parse_size(&format_size(bytes)), Ok(bytes));
        }

        #[test]
        fn a_written_span_reads_back(milliseconds in 0u64..1 << 40) {
            let span = Duration::from_millis(milliseconds);
            let back = parse_duration(&Span(span).to_string()).unwrap();
            prop_assert!(back.abs_diff(span) <= Duration::from_micros(1));
        }

        #[test]
        fn no_text_makes_the_parsers_panic(text in ".{0,40}") {
            let _ = (parse_size(&text), parse_duration(&text), parse_share(&text));
        }
    }
}
