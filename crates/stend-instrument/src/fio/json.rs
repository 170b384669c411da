//! Taking fio's JSON out of what fio writes around and into it.
//!
//! fio sends messages for people to the same place as its report: before it (`fio: io_u error on file …`, the line of an engine, what a
//! `exec_prerun` said), after it, and with `status-interval` between two lines of it. It prints its report one key a line, so a line
//! that begins like none of JSON's own is a message. Where a message stands within a line nothing can be sure any more.

use serde_json::Value;
use stend_model::cause::Cause;
use stend_model::wire::quote;

/// The documents of a report, and the messages that stood among them.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Parts {
    pub(super) documents: Vec<Value>,
    pub(super) messages: Vec<String>,
}

/// Separates them.
///
/// # Errors
/// A document is cut off, or a message stands within a line of it; with the line quoted.
pub(super) fn separate(text: &str) -> Result<Parts, Cause> {
    let mut json = Vec::new();
    let mut messages = Vec::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let mut opens = || lines.peek().is_some_and(|next| next.trim_start().starts_with("\"fio version\""));
        match line {
            // A message without a newline of its own, and the report's first brace behind it.
            _ if line.ends_with('{') && opens() => {
                messages.push(line[..line.len() - 1].to_owned());
                json.push("{".to_owned());
            }
            // The same at the report's end.
            _ if line.starts_with('}') => {
                messages.push(line[1..].to_owned());
                json.push("}".to_owned());
            }
            _ if is_json(line) => json.push(with_numbers_only(line)),
            _ => messages.push(line.to_owned()),
        }
    }
    messages.retain(|line| !line.trim().is_empty());
    let json = json.join("\n");
    let mut documents = Vec::new();
    for document in serde_json::Deserializer::from_str(&json).into_iter::<Value>() {
        // A truncated document fails the repeat also where complete ones come before it: those are interim reports.
        documents.push(document.map_err(|error| {
            let line = json.lines().nth(error.line().saturating_sub(1)).unwrap_or_default();
            let said = if line.is_empty() { String::new() } else { quote(line) };
            Cause::FioReportCut { error: error.to_string(), said }
        })?);
    }
    Ok(Parts { documents, messages })
}

/// Whether a line begins as a line of fio's JSON does. Within a document it is indented, or a single brace.
fn is_json(line: &str) -> bool {
    match line.trim_start().chars().next() {
        Some(first) if first.is_ascii_digit() || first == '-' => line.starts_with(' '),
        first => matches!(first, Some('{' | '}' | '[' | ']' | '"')),
    }
}

/// `nan` and `inf` are no JSON; C prints them for a mean of nothing. They become `null`, which is what they mean.
fn with_numbers_only(line: &str) -> String {
    let Some((key, value)) = line.split_once(" : ") else { return line.to_owned() };
    let number = value.trim_end_matches(',');
    if matches!(number.trim_start_matches('-'), "nan" | "inf") {
        format!("{key} : null{}", &value[number.len()..])
    } else {
        line.to_owned()
    }
}
