//! Facts in words: each language is one file, such as `en.ftl`, in the format of Project Fluent.
//!
//! A fact's tag names its message (`foreign_cpu` is said by `cause-foreign-cpu`), and its fields are what the message may be filled with.

use std::sync::OnceLock;

use fluent_bundle::concurrent::FluentBundle;
use fluent_bundle::{FluentArgs, FluentResource, FluentValue};
use serde::Serialize;
use serde_json::{Map, Value};
use stend_model::cause::{Cause, Why};
use stend_model::checked::Checks;
use stend_model::condition::Condition;
use stend_model::metric::three_digits;
use stend_model::profile::NotSeen;
use stend_model::run::Outcome;
use stend_model::wire::Label;

use crate::numbers::in_language;
use crate::phrase::Phrase;
use crate::text::percent;
use crate::words::language::Language;

pub mod language;
pub mod machine;
mod notes;

pub use notes::{joined, lack, lack_in_a_word, listed, note};

type Bundle = FluentBundle<FluentResource>;

/// The messages of a language, read when it is first spoken.
fn bundle(language: Language) -> &'static Bundle {
    static ALL: [OnceLock<Bundle>; Language::ALL.len()] = [const { OnceLock::new() }; Language::ALL.len()];
    ALL[language as usize].get_or_init(|| bundle_of(language, language.messages()))
}

/// Why a repeat does not count, in one line; empty if it does.
pub fn outcome(outcome: &Outcome, language: Language) -> String {
    outcome_causes(outcome.causes(), language)
}

fn outcome_causes(causes: &[Cause], language: Language) -> String {
    causes.iter().map(|one| cause(one, language)).collect::<Vec<_>>().join("; ")
}

/// Causes as one phrase.
pub fn causes(causes: &[Cause]) -> Phrase {
    Phrase::of(|language| outcome_causes(causes, language))
}

/// A cause in words.
pub fn cause(cause: &Cause, language: Language) -> String {
    fact(cause, language)
}

/// What a profile lacks, and what would change that.
pub fn lack_of_profile(lack: &NotSeen) -> String {
    let remedy = lack.remedy.as_ref().map(|remedy| format!("; to have it: {remedy}")).unwrap_or_default();
    cause(&lack.why, Language::English) + &remedy
}

/// A condition in words: what was looked at, what was found, and what to do about it or what it means.
pub struct Told {
    pub name: String,
    pub value: String,
    pub advice: String,
}

impl Told {
    /// In one line, with what to do about it.
    pub fn with_advice(&self) -> String {
        let Self { name, value, advice } = self;
        if advice.is_empty() { format!("{name}: {value}") } else { format!("{name}: {value}; {advice}") }
    }

    /// In one line, without that.
    pub fn in_a_line(&self) -> String {
        format!("{}: {}", self.name, self.value)
    }
}

/// A condition in words.
pub fn condition(condition: &Condition, language: Language) -> Told {
    let value = serde_json::to_value(condition).expect("a condition can be written");
    let fields = value.as_object().expect("it has fields");
    let text = |field: &str| fields.get(field).and_then(Value::as_str).unwrap_or_default();
    let (tag, arguments) = (name("condition", text("condition")), arguments(fields, language));
    let advice = part(&tag, Some("advice"), &arguments, language).unwrap_or_default();
    if let Condition::Unread { why, .. } = condition {
        let name = part(&name("condition", text("of")), None, &arguments, language).unwrap_or_default();
        return Told { name, value: cause(why, language), advice };
    }
    let part = |attribute| part(&tag, attribute, &arguments, language).unwrap_or_default();
    Told { name: part(None), value: part(Some("value")), advice }
}

/// Conditions as one phrase, with what to do about them.
pub fn conditions(conditions: &[Condition]) -> Phrase {
    Phrase::of(|language| {
        let lines: Vec<_> = conditions.iter().map(|one| condition(one, language).with_advice()).collect();
        lines.join("; ")
    })
}

/// What a sentence is filled with; it finds `none` where that is empty.
#[derive(Clone, Copy)]
pub enum Given<'a> {
    /// As it is.
    Text(&'a str),
    /// A figure or several, which each language writes in its way.
    Figure(&'a str),
    /// A number that decides the form of a word.
    Count(usize),
    /// The same with the decimals that it is written with.
    Number(&'a str),
    /// What is said in each language.
    Said(&'a Phrase),
}

/// A sentence by its name.
pub fn say(name: &str, given: &[(&str, Given)]) -> Phrase {
    Phrase::of(|language| {
        let value = |given: &Given| match *given {
            Given::Text(text) => none_if_empty(text.to_owned().into()),
            Given::Figure(text) => none_if_empty(in_language(text, language).into()),
            Given::Count(count) => FluentValue::from(count),
            Given::Number(text) => FluentValue::try_number(text).into_owned(),
            Given::Said(phrase) => none_if_empty(phrase.say(language).to_owned().into()),
        };
        message(name, &given.iter().map(|(name, given)| (*name, value(given))).collect(), language)
    })
}

/// A fixed text, by its name.
pub fn text(text: &str) -> Phrase {
    say(&name("text", text), &[])
}

/// What is sampled, by the last part of a metric's name, with what it is of behind it; none where there are no words for it.
pub fn sampled(metric: &str) -> Option<Phrase> {
    let name_of = metric.strip_suffix("_total").unwrap_or(metric);
    // A sensor's own name stands before its unit.
    let sensor = name_of.rsplit_once('_').filter(|(_, unit)| ["celsius", "joules", "watts"].contains(unit));
    let (of, what) = sensor.or_else(|| name_of.rsplit_once('.')).unwrap_or(("", name_of));
    // These say nothing beside what is said of them.
    let of = if ["memory", "swap", "pressure", "load"].contains(&of) { "" } else { of };
    let name = name("sampled", what);
    let in_words = |language| part(&name, None, &FluentArgs::new(), language);
    in_words(Language::English)?;
    Some(Phrase::of(|language| {
        let said = in_words(language).unwrap_or_default();
        if of.is_empty() { said } else { format!("{said}, {of}") }
    }))
}

/// What was checked.
pub fn checks(checks: &Checks) -> Phrase {
    match checks {
        Checks::Facts(facts) => {
            Phrase::of(|language| facts.iter().map(|one| fact(one, language)).collect::<Vec<_>>().join("; "))
        }
        Checks::Said(words) => words.into(),
    }
}

fn fact(fact: &impl Serialize, language: Language) -> String {
    said(&fact_fields(fact), language)
}

/// The fields of a fact.
fn fact_fields(fact: &impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(fact) {
        Ok(Value::Object(fields)) => fields,
        other => unreachable!("a fact is an object: {other:?}"),
    }
}

/// What a mark says.
pub fn label(label: &Label) -> Phrase {
    match label {
        Label::Deed(deed) => Phrase::of(|language| fact(deed, language)),
        Label::Said(words) => words.into(),
    }
}

/// Why something lacks.
pub fn reason(reason: &Why) -> Phrase {
    Phrase::of(|language| why(reason, language))
}

fn why(why: &Why, language: Language) -> String {
    match why {
        Why::Fact(one) => cause(one, language),
        Why::Said(words) => words.clone(),
    }
}

/// What something that is missing is called: a sensor, or a part of the fingerprint.
pub fn missing_called(what: &str) -> Phrase {
    Phrase::of(|language| {
        part(&name("missing", what), None, &FluentArgs::new(), language)
            .unwrap_or_else(|| machine::part_called(what, language))
    })
}

/// What a message may be filled with: the fields of a fact. A list is a text; `none` is what is empty or not known.
fn arguments<'a>(fields: &'a Map<String, Value>, language: Language) -> FluentArgs<'a> {
    let of = |value: &'a Value| match value {
        Value::String(text) => FluentValue::from(text.as_str()),
        Value::Number(number) => number.as_f64().unwrap_or(f64::NAN).into(),
        Value::Bool(flag) => flag.to_string().into(),
        Value::Object(inner) => said(inner, language).into(),
        Value::Array(all) => all.iter().map(|one| in_list(one, language)).collect::<Vec<_>>().join(", ").into(),
        Value::Null => "none".into(),
    };
    fields.iter().map(|(name, value)| (name.as_str(), none_if_empty(of(value)))).collect()
}

fn none_if_empty(value: FluentValue) -> FluentValue {
    if value == FluentValue::from("") { "none".into() } else { value }
}

fn in_list(one: &Value, language: Language) -> String {
    match one {
        Value::Object(fact) => said(fact, language),
        other => other.as_str().unwrap_or_default().to_owned(),
    }
}

/// A fact in words, and what somebody said behind it.
fn said(fields: &Map<String, Value>, language: Language) -> String {
    const KINDS: [&str; 4] = ["cause", "deed", "check", "stood"];
    let text = |name: &str| fields.get(name).and_then(Value::as_str).unwrap_or_default();
    let kind = KINDS.into_iter().find(|kind| fields.contains_key(*kind)).unwrap_or_default();
    let mut line = message(&name(kind, text(kind)), &arguments(fields, language), language);
    let evidence = match fields.get("evidence") {
        Some(Value::Array(facts)) => {
            Some(facts.iter().map(|fact| in_list(fact, language)).collect::<Vec<_>>().join("; "))
        }
        other => other.and_then(Value::as_str).map(str::to_owned),
    };
    for words in evidence.into_iter().chain([text("said").to_owned()]).filter(|words| !words.is_empty()) {
        line.push_str(": ");
        line.push_str(&words);
    }
    line
}

/// The name of the message for a fact: those of Fluent have hyphens.
fn name(kind: &str, tag: &str) -> String {
    format!("{kind}-{}", tag.replace('_', "-"))
}

fn message(name: &str, arguments: &FluentArgs, language: Language) -> String {
    // A test holds that there is one.
    part(name, None, arguments, language).unwrap_or_else(|| name.to_owned())
}

/// A message that is filled with nothing.
pub(crate) fn plain(name: &str, language: Language) -> String {
    message(name, &FluentArgs::new(), language)
}

/// A message, or one of its attributes.
fn part(name: &str, attribute: Option<&str>, arguments: &FluentArgs, language: Language) -> Option<String> {
    let bundle = bundle(language);
    let message = bundle.get_message(name)?;
    let pattern = match attribute {
        None => message.value()?,
        Some(attribute) => message.get_attribute(attribute)?.value(),
    };
    Some(bundle.format_pattern(pattern, Some(arguments), &mut Vec::new()).into_owned())
}

fn bundle_of(language: Language, text: &str) -> Bundle {
    let resource = FluentResource::try_new(text.to_owned());
    let resource = resource.unwrap_or_else(|(_, errors)| panic!("{}.ftl: {errors:?}", language.code()));
    let mut bundle = Bundle::new_concurrent(vec![language.code().parse().expect("it is a code of a language")]);
    bundle.set_use_isolating(false);
    bundle.add_resource(resource).unwrap_or_else(|errors| panic!("{}.ftl: {errors:?}", language.code()));
    bundle.set_formatter(Some(language.formatter()));
    let functions = [
        ("PERCENT", percent as fn(f64) -> String),
        ("GIGAHERTZ", |hertz| three_digits(hertz / 1e9)),
        ("MEGAHERTZ", |hertz| format!("{:.0}", hertz / 1e6)),
        ("MIB", |bytes| (bytes as u64 >> 20).to_string()),
        ("SIZE", amount),
    ];
    let fixed = bundle.add_function("FIXED", move |positional, named| match (positional, named.get("digits")) {
        ([FluentValue::Number(number)], Some(FluentValue::Number(digits))) => {
            let text = format!("{:.*}", digits.value as usize, number.value);
            in_language(&text, language).into()
        }
        _ => FluentValue::Error,
    });
    fixed.expect("no two functions have one name");
    let with = bundle.add_function("WITH", move |positional, _| {
        let said = positional.iter().map(|value| match value {
            FluentValue::String(text) if text != "none" => Some(text.to_string()),
            other => number(other, language),
        });
        said.collect::<Option<String>>().unwrap_or_default().into()
    });
    with.expect("no two functions have one name");
    for (name, say) in functions {
        let added = bundle.add_function(name, move |positional, _| match positional {
            [FluentValue::Number(number)] => in_language(&say(number.value), language).into(),
            _ => FluentValue::Error,
        });
        added.expect("no two functions have one name");
    }
    bundle
}

/// Bytes as people say them.
fn amount(bytes: f64) -> String {
    let bytes = bytes as u64;
    if bytes < 10 << 30 { format!("{} MiB", bytes >> 20) } else { format!("{} GiB", bytes >> 30) }
}

/// A number as a language writes it.
fn number(value: &FluentValue, language: Language) -> Option<String> {
    let FluentValue::Number(number) = value else { return None };
    Some(in_language(&number.as_string(), language))
}

#[cfg(test)]
mod tests;
