//! What a person knows of a machine and no instrument measures: how it is reached, what it is called, what it costs and draws.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::position::{TomlError, line_and_column, parse_toml};

/// A price.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// How much, above zero.
    pub amount: f64,
    /// Of which currency: `USD`, `EUR`, `RUB`. Prices in different currencies are never held against each other.
    pub currency: String,
    /// Of what: `processor`, `the whole machine`. Prices of different things are never held against each other.
    pub of: String,
    /// Where it is from, and of when. A publication's machines need none: the publication is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

/// Electric power.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Power {
    /// Watts under load, above zero.
    pub loaded: f64,
    /// Watts when idle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle: Option<f64>,
    /// Of what: `processor`, `board and SSD`, `the whole machine, at the socket`. Watts of different things are never held against each other.
    pub of: String,
    /// Where it is from. A publication's machines need none: the publication is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

/// A weight, as scales say it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Weight {
    /// Kilograms, above zero.
    pub kilograms: f64,
    /// Of what: `board and SSD`, `the whole machine`. Weights of different things are never held against each other.
    pub of: String,
    /// Where it is from. A publication's machines need none: the publication is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

/// Machines with what is known of them, as a file has them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Machines, for stend")]
pub struct Machines {
    /// Each with the name that its runs have.
    #[serde(default)]
    pub machine: Vec<Known>,
}

/// What is known of one machine.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Known {
    /// The name that its runs have (`stend list`), or the first digits of its hardware id, which all such machines share.
    pub name: String,
    /// How it is reached: `user@host`, a name of ssh's configuration, or `local` for this machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destination: Option<String>,
    /// The C compiler that builds stend-probe there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cc: Option<String>,
    /// What that compiler is told beside `-std=c11 -O2`, words apart by spaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cflags: Option<String>,
    /// Words of the user's own: `rack = "3"`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// Where it stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// What it costs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
    /// What it draws.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power: Option<Power>,
    /// What it weighs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<Weight>,
}

/// A file of machines that cannot be used. The message is one line and says where.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum MachinesError {
    /// It is no TOML, or none of machines.
    #[error(transparent)]
    Toml(#[from] TomlError),
    /// A fact of one machine is none.
    #[error("{file}:{line}:{column}: machine \"{name}\": {source}")]
    Machine {
        /// The file as the user knows it.
        file: String,
        /// Line of the machine's name, from 1.
        line: usize,
        /// Column of it in characters, from 1.
        column: usize,
        /// The machine's name.
        name: String,
        /// What is wrong with the fact.
        source: FactError,
    },
}

/// A fact of a machine that is none.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum FactError {
    /// A price that nothing can be divided by.
    #[error("a price of {amount} {currency} is none; write an amount above 0")]
    Price {
        /// How much.
        amount: f64,
        /// Of which currency.
        currency: String,
    },
    /// A power that nothing can be divided by, in watts.
    #[error("a power of {0} W is none; write watts above 0")]
    Power(f64),
    /// A weight that nothing can be divided by, in kilograms.
    #[error("a weight of {0} kg is none; write kilograms above 0")]
    Weight(f64),
    /// More power when idle than under load.
    #[error("it draws {idle} W idle and {loaded} W loaded; loaded must be the more")]
    Idle {
        /// Watts when idle.
        idle: f64,
        /// Watts under load.
        loaded: f64,
    },
    /// Nobody is named who says so.
    #[error("its {0} needs a \"source\": who says so, and since when")]
    NoSource(&'static str),
}

impl Machines {
    /// Reads and checks a file's text; `file` is its name for messages.
    ///
    /// # Errors
    /// One line: `file:line:column: what is wrong`.
    pub fn parse(text: &str, file: &str) -> Result<Self, MachinesError> {
        let machines: Self = parse_toml(text, file)?;
        for (number, machine) in machines.machine.iter().enumerate() {
            // Where its name stands, after those of the machines before it.
            let same = machines.machine[..number].iter().filter(|before| before.name == machine.name).count();
            let quoted = [format!("\"{}\"", machine.name), format!("'{}'", machine.name)];
            let mut places = quoted.iter().flat_map(|quoted| text.match_indices(quoted)).map(|(at, _)| at);
            let (line, column) = line_and_column(text, places.nth(same).unwrap_or(0));
            let (file, name) = (file.to_owned(), machine.name.clone());
            let wrong = |source| MachinesError::Machine { file, line, column, name, source };
            let sources = [
                machine.price.as_ref().map(|price| ("price", &price.source)),
                machine.power.as_ref().map(|power| ("power", &power.source)),
                machine.weight.as_ref().map(|weight| ("weight", &weight.source)),
            ];
            let without = sources.into_iter().flatten().find(|(_, source)| source.is_none());
            let sourced = without.map_or(Ok(()), |(fact, _)| Err(FactError::NoSource(fact)));
            check(machine.price.as_ref(), machine.power.as_ref(), machine.weight.as_ref())
                .and(sourced)
                .map_err(wrong)?;
        }
        Ok(machines)
    }
}

/// Checks that facts can be divided by.
pub(crate) fn check(price: Option<&Price>, power: Option<&Power>, weight: Option<&Weight>) -> Result<(), FactError> {
    let sound = |number: f64| number.is_finite() && number > 0.0;
    if let Some(price) = price.filter(|price| !sound(price.amount)) {
        return Err(FactError::Price { amount: price.amount, currency: price.currency.clone() });
    }
    if let Some(weight) = weight.filter(|weight| !sound(weight.kilograms)) {
        return Err(FactError::Weight(weight.kilograms));
    }
    if let Some(power) = power {
        let wrong = [Some(power.loaded), power.idle].into_iter().flatten().find(|watts| !sound(*watts));
        if let Some(watts) = wrong {
            return Err(FactError::Power(watts));
        }
        if let Some(idle) = power.idle.filter(|idle| *idle > power.loaded) {
            return Err(FactError::Idle { idle, loaded: power.loaded });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"
[[machine]]
name = "pc-7"
price = { amount = 52, currency = "USD", of = "processor", source = "price list, 2013" }
power = { loaded = 30, idle = 12, of = "board and SSD", source = "wattmeter" }
weight = { kilograms = 0.4, of = "board and SSD", source = "scales" }
[[machine]]
name = "pc-8"
"#;

    #[test]
    fn a_file_is_read() {
        let machines = Machines::parse(GOOD, "m.toml").unwrap();
        let price = machines.machine[0].price.as_ref().unwrap();
        assert_eq!((price.amount, price.currency.as_str()), (52.0, "USD"));
        assert_eq!(machines.machine[0].power.as_ref().unwrap().idle, Some(12.0));
        assert_eq!(machines.machine[1].price, None);
    }

    #[test]
    fn a_mistake_is_named() {
        for (from, to, said) in [
            ("amount = 52", "amount = 0", "a price of 0 USD is none"),
            ("amount = 52", "amount = nan", "a price of NaN USD is none"),
            ("loaded = 30", "loaded = -1", "a power of -1 W is none"),
            ("idle = 12", "idle = 31", "draws 31 W idle and 30 W loaded"),
            (", source = \"wattmeter\"", "", "its power needs a \"source\""),
            ("kilograms = 0.4", "kilograms = 0", "a weight of 0 kg is none"),
            (", source = \"scales\"", "", "its weight needs a \"source\""),
            ("idle = 12", "idel = 12", "m.toml:5:24: unknown field `idel`"),
            ("amount = 52", "amount = \"a lot\"", "m.toml:4:20"),
        ] {
            let error = Machines::parse(&GOOD.replacen(from, to, 1), "m.toml").unwrap_err().to_string();
            assert!(error.starts_with("m.toml") && error.contains(said), "{to}: {error}");
        }
    }
}
