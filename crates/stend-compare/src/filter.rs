//! Which figures are compared: an expression after benchstat's `-filter`.
//!
//! ```text
//! expression = all { "OR" all }
//! all        = one { ["AND"] one }
//! one        = "-" one | "(" expression ")" | "*" | key ":" values
//! values     = value | "(" value { "OR" value } ")"
//! ```
//!
//! A key is `scenario`, `family`, `metric`, `unit`, or an axis of a matrix. In a value `*` stands for any characters and `?` for one;
//! what is in double quotes or behind a backslash stands for itself.

use std::collections::BTreeSet;
use std::fmt;
use std::iter::Peekable;
use std::str::CharIndices;

use stend_model::metric::{Metric, Unit};
use stend_model::suite::Scenario;

/// Which figures are compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filter {
    text: String,
    term: Term,
}

/// What is wrong with an expression, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilterError {
    text: String,
    /// In bytes from the beginning of the text.
    place: usize,
    message: String,
}

impl fmt::Display for FilterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let character = self.text[..self.place].chars().count() + 1;
        write!(f, "the filter `{}`, character {character}: {}", self.text, self.message)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Term {
    Everything,
    Value { key: Key, place: usize, any_of: Vec<Pattern> },
    Not(Box<Term>),
    And(Vec<Term>),
    Or(Vec<Term>),
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Scenario,
    Family,
    Metric,
    Unit,
    Axis(String),
}

/// A value, piece by piece.
type Pattern = Vec<Piece>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Piece {
    Itself(char),
    /// `?`
    One,
    /// `*`
    Any,
}

/// As deep as expressions may nest: far deeper than anybody writes, and no deeper than the stack goes.
const MOST_NESTED: usize = 100;

impl Default for Filter {
    /// Everything is compared.
    fn default() -> Self {
        Self { text: String::new(), term: Term::Everything }
    }
}

impl Filter {
    /// Reads an expression.
    ///
    /// # Errors
    /// The place of what is wrong, and what would be right.
    pub fn parse(text: &str) -> Result<Self, FilterError> {
        let mut parser = Parser { text, rest: text.char_indices().peekable(), nested: 0 };
        let term = parser.expression()?;
        match parser.next_place() {
            Some(place) => Err(parser.error(place, "this \")\" closes nothing")),
            None => Ok(Self { text: text.into(), term }),
        }
    }

    /// The same, and only figures in this unit.
    pub fn and_unit(self, unit: Unit) -> Self {
        let any_of = vec![unit.symbol().chars().map(Piece::Itself).collect()];
        let place = self.text.len();
        let of_unit = Term::Value { key: Key::Unit, place, any_of };
        Self {
            text: format!("{} unit:\"{unit}\"", self.text).trim_start().into(),
            term: Term::And(vec![self.term, of_unit]),
        }
    }

    /// Whether a figure is compared.
    pub fn takes(&self, scenario: &Scenario, metric: &Metric) -> bool {
        self.term.takes(scenario, metric)
    }

    /// Whether any of a scenario's figures is compared.
    pub fn takes_any_of(&self, scenario: &Scenario) -> bool {
        scenario.metrics.iter().any(|metric| self.takes(scenario, metric))
    }

    /// Whether it says which metrics it means. Then these are shown, be they main ones or not.
    pub fn names_metrics(&self) -> bool {
        self.term.keys().iter().any(|(key, _)| matches!(key, Key::Metric | Key::Unit))
    }

    /// Checks that all keys are known, where the axes are those of these scenarios.
    ///
    /// # Errors
    /// The place of the first key that is not, and those that there are.
    pub fn check(&self, scenarios: &[Scenario]) -> Result<(), FilterError> {
        let families = scenarios.iter().filter_map(|scenario| scenario.family.as_ref());
        let axes: BTreeSet<&str> = families.flat_map(|family| family.point.keys().map(String::as_str)).collect();
        for (key, place) in self.term.keys() {
            if let Key::Axis(name) = key
                && !axes.contains(name.as_str())
            {
                let known: String = axes.iter().map(|axis| format!(", {axis}")).collect();
                let message =
                    format!("there is no key \"{name}\" here; there are: scenario, family, metric, unit{known}");
                return Err(FilterError { text: self.text.clone(), place, message });
            }
        }
        Ok(())
    }
}

impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Term {
    fn takes(&self, scenario: &Scenario, metric: &Metric) -> bool {
        match self {
            Self::Everything => true,
            Self::Not(term) => !term.takes(scenario, metric),
            Self::And(terms) => terms.iter().all(|term| term.takes(scenario, metric)),
            Self::Or(terms) => terms.iter().any(|term| term.takes(scenario, metric)),
            Self::Value { key, any_of, .. } => {
                let family = scenario.family.as_ref();
                let value = match key {
                    Key::Scenario => Some(scenario.name.as_str()),
                    Key::Family => family.map(|family| family.name.as_str()),
                    Key::Metric => Some(metric.name.as_str()),
                    Key::Unit => Some(metric.unit.symbol()),
                    Key::Axis(axis) => family.and_then(|family| family.point.get(axis)).map(String::as_str),
                };
                value.is_some_and(|value| any_of.iter().any(|pattern| fits(pattern, value)))
            }
        }
    }

    /// The keys, each with its place in the text.
    fn keys(&self) -> Vec<(&Key, usize)> {
        match self {
            Self::Everything => Vec::new(),
            Self::Value { key, place, .. } => vec![(key, *place)],
            Self::Not(term) => term.keys(),
            Self::And(terms) | Self::Or(terms) => terms.iter().flat_map(Self::keys).collect(),
        }
    }
}

/// Whether a pattern fits the whole of a text. A `*` takes as little as it may, and more only when what follows does not fit.
fn fits(pattern: &[Piece], text: &str) -> bool {
    let text: Vec<char> = text.chars().collect();
    let (mut at, mut place) = (0, 0);
    let mut last_any = None;
    while at < text.len() {
        match pattern.get(place) {
            Some(Piece::Any) => {
                last_any = Some((place, at));
                place += 1;
            }
            Some(piece) if *piece == Piece::One || *piece == Piece::Itself(text[at]) => {
                place += 1;
                at += 1;
            }
            _ => match &mut last_any {
                Some((any, taken)) => {
                    *taken += 1;
                    (place, at) = (*any + 1, *taken);
                }
                None => return false,
            },
        }
    }
    pattern[place..].iter().all(|piece| *piece == Piece::Any)
}

struct Parser<'a> {
    text: &'a str,
    rest: Peekable<CharIndices<'a>>,
    nested: usize,
}

impl Parser<'_> {
    fn expression(&mut self) -> Result<Term, FilterError> {
        let mut terms = vec![self.all()?];
        while self.takes_word("OR") {
            terms.push(self.all()?);
        }
        Ok(if terms.len() == 1 { terms.remove(0) } else { Term::Or(terms) })
    }

    fn all(&mut self) -> Result<Term, FilterError> {
        let mut terms = vec![self.one()?];
        loop {
            if self.takes_word("AND") {
                terms.push(self.one()?);
                continue;
            }
            match self.next_place().and_then(|place| self.text[place..].chars().next()) {
                None | Some(')') => break,
                _ if self.next_is_word("OR") => break,
                _ => terms.push(self.one()?),
            }
        }
        Ok(if terms.len() == 1 { terms.remove(0) } else { Term::And(terms) })
    }

    fn one(&mut self) -> Result<Term, FilterError> {
        const WANTED: &str = "here must be KEY:VALUE, such as scenario:\"4k*\" or metric:throughput";
        let Some(place) = self.next_place() else { return Err(self.error(self.text.len(), WANTED)) };
        self.nested += 1;
        if self.nested > MOST_NESTED {
            return Err(self.error(place, "it nests too deeply here"));
        }
        let next = self.text[place..].chars().next();
        let term = match next {
            Some('-') => {
                self.rest.next();
                Term::Not(Box::new(self.one()?))
            }
            Some('(') => {
                self.rest.next();
                let term = self.expression()?;
                self.closes(place)?;
                term
            }
            _ if self.next_is_word("AND") || self.next_is_word("OR") => return Err(self.error(place, WANTED)),
            Some('*') => {
                self.rest.next();
                Term::Everything
            }
            _ => self.value_of_key(place, WANTED)?,
        };
        self.nested -= 1;
        Ok(term)
    }

    fn value_of_key(&mut self, place: usize, wanted: &str) -> Result<Term, FilterError> {
        let is_key = |(_, character): &(usize, char)| !character.is_whitespace() && !"():\"".contains(*character);
        let mut name = String::new();
        while let Some((_, character)) = self.rest.next_if(is_key) {
            name.push(character);
        }
        if name.is_empty() || self.rest.next_if(|(_, character)| *character == ':').is_none() {
            return Err(self.error(place, wanted));
        }
        let key = match name.as_str() {
            "scenario" => Key::Scenario,
            "family" => Key::Family,
            "metric" => Key::Metric,
            "unit" => Key::Unit,
            _ => Key::Axis(name.clone()),
        };
        let Some((open, _)) = self.rest.next_if(|(_, character)| *character == '(') else {
            let any_of = vec![self.value(&name)?];
            return Ok(Term::Value { key, place, any_of });
        };
        let mut any_of = Vec::new();
        loop {
            self.next_place();
            any_of.push(self.value(&name)?);
            if !self.takes_word("OR") {
                break;
            }
        }
        self.closes(open)?;
        Ok(Term::Value { key, place, any_of })
    }

    fn value(&mut self, key: &str) -> Result<Pattern, FilterError> {
        let mut pattern = Vec::new();
        let mut quoted = None;
        let mut some = false;
        while let Some(&(place, character)) = self.rest.peek() {
            match character {
                '"' => {
                    quoted = if quoted.is_some() { None } else { Some(place) };
                    some = true;
                }
                '\\' => {
                    self.rest.next();
                    let Some(&(_, literal)) = self.rest.peek() else {
                        return Err(self.error(place, "behind a backslash must be the character that it is for"));
                    };
                    pattern.push(Piece::Itself(literal));
                }
                _ if quoted.is_some() => pattern.push(Piece::Itself(character)),
                _ if character.is_whitespace() || "()".contains(character) => break,
                '*' => pattern.push(Piece::Any),
                '?' => pattern.push(Piece::One),
                _ => pattern.push(Piece::Itself(character)),
            }
            self.rest.next();
        }
        if let Some(place) = quoted {
            return Err(self.error(place, "this quote is not closed"));
        }
        if pattern.is_empty() && !some {
            let place = self.rest.peek().map_or(self.text.len(), |(place, _)| *place);
            return Err(self.error(place, &format!("behind \"{key}:\" must be a value; with spaces in it, in quotes")));
        }
        Ok(pattern)
    }

    /// Takes the bracket that closes the one at a place.
    fn closes(&mut self, open: usize) -> Result<(), FilterError> {
        match self.next_place() {
            Some(place) if self.text[place..].starts_with(')') => {
                self.rest.next();
                Ok(())
            }
            Some(place) => Err(self.error(place, "here must be OR or \")\"")),
            None => Err(self.error(open, "this \"(\" is not closed")),
        }
    }

    /// The place of the next character that is no space.
    fn next_place(&mut self) -> Option<usize> {
        while self.rest.next_if(|(_, character)| character.is_whitespace()).is_some() {}
        self.rest.peek().map(|(place, _)| *place)
    }

    fn next_is_word(&mut self, word: &str) -> bool {
        let Some(place) = self.next_place() else { return false };
        let behind = self.text[place..].strip_prefix(word);
        behind.is_some_and(|behind| !behind.starts_with(|c: char| !c.is_whitespace() && !"()-".contains(c)))
    }

    fn takes_word(&mut self, word: &str) -> bool {
        let is_next = self.next_is_word(word);
        if is_next {
            self.rest.by_ref().take(word.len()).for_each(drop);
        }
        is_next
    }

    fn error(&self, place: usize, message: &str) -> FilterError {
        FilterError { text: self.text.into(), place, message: message.into() }
    }
}

#[cfg(test)]
#[path = "filter_tests.rs"]
mod tests;
