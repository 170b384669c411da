//! References: published figures of machines that are out of reach. One TOML file a source.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::metric::Unit;
use crate::position::{TomlError, parse_toml};
use crate::weight::{FactError, Power, Price, Weight, check};

/// One source and its figures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "A reference of stend")]
pub struct Reference {
    /// Its short name, by which the command line knows it.
    pub name: String,
    /// The publication's title.
    pub title: String,
    /// Author, place and date.
    pub source: String,
    /// What the publication did, in a few sentences.
    pub method: String,
    /// The machines, in the order in which they are shown.
    pub machine: Vec<PublishedMachine>,
    /// The figures.
    #[serde(default)]
    pub figure: Vec<Figure>,
}

/// A machine as its publication describes it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PublishedMachine {
    /// Its short name.
    pub id: String,
    /// Its name in tables.
    pub name: String,
    /// Anything that a reader should know: cores, clock, caches, kernel.
    pub description: String,
    /// What it costs, as published.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
    /// What it draws, as published.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power: Option<Power>,
    /// What it weighs, as published.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<Weight>,
}

/// One published figure. Either a `value` with its `unit`, or `words` where the publication gives no number.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// The machine's short name.
    pub machine: String,
    /// What was measured, in the words that scenarios use in their `measures`.
    pub measures: String,
    /// The metric's name, as scenarios call it.
    pub metric: String,
    /// The number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// The number's unit, as suites write it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<Unit>,
    /// What the publication says instead of a number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub words: Option<String>,
    /// Anything that a reader should know about this figure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// A reference that cannot be used. The message is one line and says where.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum ReferenceError {
    /// It is no TOML, or no reference.
    #[error(transparent)]
    Toml(#[from] TomlError),
    /// A fact of a machine is none.
    #[error("{file}: machine \"{id}\": {source}")]
    Machine {
        /// The file as the user knows it.
        file: String,
        /// The machine's short name.
        id: String,
        /// What is wrong with the fact.
        source: FactError,
    },
    /// A figure of a machine that there is not.
    #[error("{file}: figure \"{measures}\" of \"{machine}\": there is no [[machine]] with this id")]
    NoMachine {
        /// The file as the user knows it.
        file: String,
        /// What was measured.
        measures: String,
        /// The machine's short name.
        machine: String,
    },
    /// A figure without a value, or with words beside it.
    #[error("{file}: figure \"{measures}\" of \"{machine}\": needs either \"value\" with \"unit\", or \"words\"")]
    NoValue {
        /// The file as the user knows it.
        file: String,
        /// What was measured.
        measures: String,
        /// The machine's short name.
        machine: String,
    },
}

impl Reference {
    /// Reads and checks a reference's text; `file` is its name for messages.
    ///
    /// # Errors
    /// One line: `file:line:column: what is wrong`.
    pub fn parse(text: &str, file: &str) -> Result<Self, ReferenceError> {
        let reference: Self = parse_toml(text, file)?;
        for machine in &reference.machine {
            let facts = check(machine.price.as_ref(), machine.power.as_ref(), machine.weight.as_ref());
            facts.map_err(|source| ReferenceError::Machine {
                file: file.to_owned(),
                id: machine.id.clone(),
                source,
            })?;
        }
        for figure in &reference.figure {
            let (file, measures, machine) = (file.to_owned(), figure.measures.clone(), figure.machine.clone());
            if !reference.machine.iter().any(|machine| machine.id == figure.machine) {
                return Err(ReferenceError::NoMachine { file, measures, machine });
            }
            match (figure.value, figure.unit, &figure.words) {
                (Some(_), Some(_), None) | (None, None, Some(_)) => {}
                _ => return Err(ReferenceError::NoValue { file, measures, machine }),
            }
        }
        Ok(reference)
    }

    /// The figure of a machine for a metric, if it was published.
    pub fn figure(&self, machine: &str, measures: &str, metric: &str) -> Option<&Figure> {
        self.figure
            .iter()
            .find(|figure| figure.machine == machine && figure.measures == measures && figure.metric == metric)
    }
}
