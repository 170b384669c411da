//! Gates: conditions that make a repeat invalid.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::quantity::{Share, parse_share};

/// The limits beyond which a repeat does not count. What is not given is as the suite has it, and at last the default.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Gates {
    /// CPU time that the hypervisor took away, as a share of the machine's CPU time. Default 1%.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steal: Option<Gate>,
    /// CPU time that others than the instrument used, as a share of the machine's CPU time. Default 5%.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub foreign_cpu: Option<Gate>,
    /// Fall of the clock from the first to the last third of a repeat, as a share. Default 3%.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frequency_fall: Option<Gate>,
    /// Pages swapped in or out. Default: none may be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub swapping: Option<Gate>,
    /// Thermal throttle events. Default: none may happen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttling: Option<Gate>,
}

impl Gates {
    /// The limits that hold where nothing else is said; `docs/reference/gates.md` has the rules.
    pub const DEFAULT: Self = Self {
        steal: Some(Gate::Limit(0.01)),
        foreign_cpu: Some(Gate::Limit(0.05)),
        frequency_fall: Some(Gate::Limit(0.03)),
        swapping: Some(Gate::Limit(0.0)),
        throttling: Some(Gate::Limit(0.0)),
    };

    /// No limits.
    pub const OFF: Self = Self {
        steal: Some(Gate::Off),
        foreign_cpu: Some(Gate::Off),
        frequency_fall: Some(Gate::Off),
        swapping: Some(Gate::Off),
        throttling: Some(Gate::Off),
    };

    /// These limits, and `other`'s where these say nothing.
    pub fn or(self, other: Self) -> Self {
        Self {
            steal: self.steal.or(other.steal),
            foreign_cpu: self.foreign_cpu.or(other.foreign_cpu),
            frequency_fall: self.frequency_fall.or(other.frequency_fall),
            swapping: self.swapping.or(other.swapping),
            throttling: self.throttling.or(other.throttling),
        }
    }
}

/// One limit: a share or a number, or `"off"`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Gate {
    /// The condition is not looked at.
    Off,
    /// More than this makes the repeat invalid.
    Limit(f64),
}

impl Gate {
    /// The limit, if `value` is beyond it.
    pub fn closed_by(self, value: f64) -> Option<f64> {
        match self {
            Self::Limit(limit) if value > limit => Some(limit),
            _ => None,
        }
    }
}

impl Serialize for Gate {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Off => serializer.serialize_str("off"),
            Self::Limit(limit) => Share(*limit).serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Gate {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "expected a text in quotes or a number")]
        enum TextOrNumber {
            Text(String),
            Number(f64),
        }
        match TextOrNumber::deserialize(deserializer)? {
            TextOrNumber::Number(limit) if limit >= 0.0 => Ok(Self::Limit(limit)),
            TextOrNumber::Text(text) if text == "off" => Ok(Self::Off),
            TextOrNumber::Text(text) => parse_share(&text).map(Self::Limit).map_err(|_| {
                serde::de::Error::custom(format!(
                    "\"{text}\" is no limit; write a share like \"1%\", a number, or \"off\""
                ))
            }),
            TextOrNumber::Number(limit) => {
                Err(serde::de::Error::custom(format!("{limit} is no limit; a limit is at least 0")))
            }
        }
    }
}

impl JsonSchema for Gate {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Gate".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": ["string", "number"], "description": "A share like \"1%\", a number, or \"off\"" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_beyond_a_limit_exceeds_it() {
        assert_eq!(Gate::Limit(0.01).closed_by(0.011), Some(0.01));
        assert_eq!(Gate::Limit(0.01).closed_by(0.01), None);
        assert_eq!(Gate::Off.closed_by(1.0), None);
    }

    #[test]
    fn a_limit_is_a_share_or_a_number_that_is_not_below_zero() {
        let read = |text: &str| serde_json::from_str::<Gate>(text);
        assert_eq!(read("\"1%\"").unwrap(), Gate::Limit(0.01));
        assert_eq!(read("0").unwrap(), Gate::Limit(0.0));
        assert_eq!(read("\"off\"").unwrap(), Gate::Off);
        for wrong in ["-0.1", "\"-1%\"", "\"on\""] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
