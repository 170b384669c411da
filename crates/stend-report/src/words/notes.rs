//! Notes on a table, and why a figure is missing, in words.

use fluent_bundle::{FluentArgs, FluentValue};
use serde_json::{Map, Value};
use stend_model::machine::Difference;
use stend_model::side::AS_IT_IS;

use super::{arguments, cause, condition, fact_fields, message, name, outcome_causes, plain, why};
use crate::target_of_run;
use crate::words::language::Language;
use stend_compare::notes::MOST_OF_LOADER;
use stend_compare::table::{Lack, Loss, Note};

/// A note as a sentence, without a full stop.
pub fn note(note: &Note, language: Language) -> String {
    let fields = fact_fields(note);
    let tag = fields.get("kind").and_then(Value::as_str).unwrap_or_default();
    let mut given = arguments(&fields, language);
    lists(&fields, &mut given, language);
    match note {
        Note::Side { run, settings, compiler, tools } => {
            return side(run, settings, compiler.as_deref(), tools, language);
        }
        Note::OfSuite { text, texts, .. } => {
            return texts.get(language.code()).unwrap_or(text).trim_end_matches('.').to_owned();
        }
        Note::Target { target, .. } => given.set("target", target_of_run(target).say(language).to_owned()),
        Note::Unfit { conditions, .. } => {
            let said: Vec<_> = conditions.iter().map(|one| condition(one, language).with_advice()).collect();
            given.set("conditions", said.join("; "));
        }
        Note::Lost { to, .. } => given.set("to", losses(to, language)),
        Note::OtherWork { differences, .. } | Note::OtherBuild { differences, .. } => {
            given.set("differences", differing(differences, language));
        }
        Note::OtherPlace { difference, .. } => {
            given.set("difference", differing(std::slice::from_ref(difference), language));
        }
        Note::LoaderBound { .. } => given.set("most", MOST_OF_LOADER),
        _ => {}
    }
    message(&name("note", tag), &given, language)
}

/// Lists of names as a sentence has them, each with how many there are: machines as the words that they are, what a suite names in quotes.
fn lists<'a>(fields: &'a Map<String, Value>, given: &mut FluentArgs<'a>, language: Language) {
    for (field, value) in fields {
        let Some(all) = value.as_array() else { continue };
        let names: Vec<&str> = all.iter().filter_map(Value::as_str).collect();
        let said = match field.as_str() {
            "scenarios" | "figures" => listed(&names, language),
            "machines" => joined(&names, language),
            _ => names.join(", "),
        };
        given.set(field.clone(), said);
        given.set(format!("{field}_count"), all.len());
    }
}

/// Names as a sentence has them: `a`, `a and b`, `a, b and c`, `a, b, c and 4 more`.
pub fn joined(names: &[&str], language: Language) -> String {
    const SHOWN: usize = 3;
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        _ if names.len() > SHOWN + 1 => {
            format!("{} {}", names[..SHOWN].join(", "), and_more(names.len() - SHOWN, language))
        }
        [before @ .., last] => {
            format!("{} {} {last}", before.join(", "), plain("and", language))
        }
    }
}

/// Names in quotes; of many the first ones.
pub fn listed(names: &[&str], language: Language) -> String {
    const SHOWN: usize = 3;
    let quoted =
        |text: &&str| message("in-quotes", &FluentArgs::from_iter([("text", FluentValue::from(*text))]), language);
    let said = names.iter().take(SHOWN).map(quoted).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(SHOWN) {
        0 => said,
        more => format!("{said} {}", and_more(more, language)),
    }
}

fn and_more(count: usize, language: Language) -> String {
    message("and-more", &FluentArgs::from_iter([("count", FluentValue::from(count))]), language)
}

/// Differences between machines or builds, one after the other.
pub(super) fn differing(differences: &[Difference], language: Language) -> String {
    let one = |difference: &Difference| {
        let or_none = |text: &str| match text {
            "" => plain("no-value", language),
            text => text.replace('\n', "; "),
        };
        let (before, after) = (or_none(&difference.before), or_none(&difference.after));
        // A value with spaces would run into its name.
        let colon = if before.contains(' ') || after.contains(' ') { ":" } else { "" };
        let given =
            [("key", difference.what.clone()), ("name", super::machine::part_called(&difference.what, language))];
        let what = message("differing", &given.into_iter().collect(), language);
        format!("{what}{colon} {before} → {after}")
    };
    differences.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn losses(to: &[(Loss, usize)], language: Language) -> String {
    let part = |(loss, count): &(Loss, usize)| {
        let tag = serde_json::to_value(loss).expect("a word");
        let given = FluentArgs::from_iter([("count", FluentValue::from(*count))]);
        message(&name("lost", tag.as_str().unwrap_or_default()), &given, language)
    };
    to.iter().map(part).collect::<Vec<_>>().join(", ")
}

/// What a side sets, and what was found of it.
fn side(
    run: &str,
    settings: &[String],
    compiler: Option<&str>,
    tools: &[(String, String)],
    language: Language,
) -> String {
    let one_line = |text: &str| text.lines().map(str::trim).collect::<Vec<_>>().join(" / ");
    let compiler = compiler.iter().map(|compiler| format!(" ({})", one_line(compiler)));
    let tools = tools.iter().map(|(name, version)| format!(" ({name}: {version})"));
    let found: String = compiler.chain(tools).collect();
    // A side without a name of its own is called by its settings.
    let label = run.split_once(':').map_or(run, |(_, label)| label);
    let settings = match settings.join("; ") {
        settings if settings == label || settings.is_empty() && label == AS_IT_IS => String::new(),
        settings if settings.is_empty() => format!(": {}", plain("as-it-is", language)),
        settings => format!(": {settings}"),
    };
    format!("{run}{settings}{found}")
}

/// Why there is no figure, in one line.
pub fn lack(lack: &Lack, language: Language) -> String {
    let word = lack_in_a_word(lack, language);
    let reason = match lack {
        Lack::Skipped { reason, remedy } => {
            let mut reason = cause(reason, language);
            if let Some(remedy) = remedy {
                let given = FluentArgs::from_iter([("remedy", FluentValue::from(remedy.as_str()))]);
                reason = format!("{reason}; {}", message("lack-remedy", &given, language));
            }
            reason
        }
        Lack::Invalid { causes } => outcome_causes(causes, language),
        Lack::Failed { cause: one } => cause(one, language),
        Lack::NotReported { reason: Some(reason), .. } => return why(reason, language),
        Lack::NotReported { value, reason: None } => {
            // Such a figure is of controllers, where there are some.
            let text = if value.contains("controllers_cpu") { "no-controllers" } else { "not-reported" };
            return message(text, &FluentArgs::from_iter([("value", FluentValue::from(value.as_str()))]), language);
        }
        Lack::NotYet => return word,
    };
    format!("{word}: {reason}")
}

/// The same without the reason, which stands elsewhere.
pub fn lack_in_a_word(lack: &Lack, language: Language) -> String {
    let fields = fact_fields(lack);
    let tag = fields.get("kind").and_then(Value::as_str).unwrap_or_default();
    plain(&name("lack", tag), language)
}
