//! Facts in words: each language is one file, `en.ftl`, `ru.ftl`, in the format of Project Fluent.
//!
//! A fact's tag names its message (`foreign_cpu` is said by `cause-foreign-cpu`), and its fields are what the message may be filled with.

use std::sync::LazyLock;

use fluent_bundle::concurrent::FluentBundle;
use fluent_bundle::{FluentArgs, FluentResource, FluentValue};
use serde_json::{Map, Value};
use stend_model::cause::Cause;
use stend_model::metric::three_digits;
use stend_model::run::Outcome;

use crate::compare::table::Loss;
use crate::language::Language;
use crate::report::numbers::in_language;
use crate::report::phrase::Phrase;
use crate::report::recorded::checked;
use crate::report::text::percent;

type Bundle = FluentBundle<FluentResource>;

static ENGLISH: LazyLock<Bundle> = LazyLock::new(|| bundle(Language::English, include_str!("en.ftl")));
static RUSSIAN: LazyLock<Bundle> = LazyLock::new(|| bundle(Language::Russian, include_str!("ru.ftl")));

/// Why a repeat does not count, in one line; empty if it does.
pub(crate) fn outcome(outcome: &Outcome, language: Language) -> String {
    let causes: Vec<_> = outcome.causes().iter().map(|one| cause(one, language)).collect();
    causes.join("; ")
}

/// Causes as one phrase.
pub(crate) fn causes(causes: &[Cause]) -> Phrase {
    let say = |language| causes.iter().map(|one| cause(one, language)).collect::<Vec<_>>().join("; ");
    Phrase::new(say(Language::English), say(Language::Russian))
}

/// How many repeats of a run do not count, and what they were lost to.
pub(crate) fn lost(run: &str, repeats: usize, of: usize, to: &[(Loss, usize)]) -> Phrase {
    let say = |language| {
        let part = |(loss, count): &(Loss, usize)| {
            let tag = serde_json::to_value(loss).expect("a word");
            let tag = tag.as_str().unwrap_or_default();
            let arguments = FluentArgs::from_iter([("count", FluentValue::from(*count))]);
            message(&name("lost", tag), &arguments, language)
        };
        let arguments = FluentArgs::from_iter([
            ("run", run.into()),
            ("repeats", repeats.into()),
            ("of", of.into()),
            ("to", FluentValue::from(to.iter().map(part).collect::<Vec<_>>().join(", "))),
        ]);
        message("lost", &arguments, language)
    };
    Phrase::new(say(Language::English), say(Language::Russian))
}

/// A cause in words.
pub(crate) fn cause(cause: &Cause, language: Language) -> String {
    let value = serde_json::to_value(cause).expect("a cause can be written");
    value.as_object().map(|fields| said(fields, language)).unwrap_or_default()
}

fn said(fields: &Map<String, Value>, language: Language) -> String {
    let text = |name: &str| fields.get(name).and_then(Value::as_str).unwrap_or_default();
    let mut arguments = FluentArgs::new();
    for (name, value) in fields {
        match value {
            Value::String(text) => arguments.set(name.as_str(), text.as_str()),
            Value::Number(number) => arguments.set(name.as_str(), number.as_f64().unwrap_or(f64::NAN)),
            Value::Bool(flag) => arguments.set(name.as_str(), flag.to_string()),
            Value::Object(inner) => arguments.set(name.as_str(), said(inner, language)),
            Value::Null | Value::Array(_) => {}
        }
    }
    let mut line = message(&name("cause", text("cause")), &arguments, language);
    let evidence =
        Some(text("evidence")).filter(|text| !text.is_empty()).map(|text| checked(text).say(language).to_owned());
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
    let bundle: &Bundle = match language {
        Language::English => &ENGLISH,
        Language::Russian => &RUSSIAN,
    };
    let pattern = bundle.get_message(name).and_then(|message| message.value());
    // A test holds that there is one.
    let Some(pattern) = pattern else { return name.to_owned() };
    bundle.format_pattern(pattern, Some(arguments), &mut Vec::new()).into_owned()
}

fn bundle(language: Language, text: &str) -> Bundle {
    let resource = FluentResource::try_new(text.to_owned());
    let resource = resource.unwrap_or_else(|(_, errors)| panic!("{}.ftl: {errors:?}", language.code()));
    let mut bundle = Bundle::new_concurrent(vec![language.code().parse().expect("it is a code of a language")]);
    bundle.set_use_isolating(false);
    bundle.add_resource(resource).unwrap_or_else(|errors| panic!("{}.ftl: {errors:?}", language.code()));
    bundle.set_formatter(Some(match language {
        Language::English => |value, _| number(value, Language::English),
        Language::Russian => |value, _| number(value, Language::Russian),
    }));
    for (name, say) in [("PERCENT", percent as fn(f64) -> String), ("GIGAHERTZ", |hertz| three_digits(hertz / 1e9))] {
        let added = bundle.add_function(name, move |positional, _| match positional {
            [FluentValue::Number(number)] => in_language(&say(number.value), language).into_owned().into(),
            _ => FluentValue::Error,
        });
        added.expect("no two functions have one name");
    }
    bundle
}

/// A number as a language writes it.
fn number(value: &FluentValue, language: Language) -> Option<String> {
    let FluentValue::Number(number) = value else { return None };
    Some(in_language(&number.value.to_string(), language).into_owned())
}

#[cfg(test)]
mod tests;
