//! Texts with `{name}` in them.

use std::collections::BTreeMap;

use thiserror::Error;

/// A filled text is at most so long, in bytes: values may be put into one text many times.
const LONGEST: usize = 1 << 20;

/// A text that cannot be filled.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TemplateError {
    /// A brace that is not closed, or was not opened.
    #[error("\"{0}\" has a brace without its partner; write {{{{ or }}}} for a brace itself")]
    Brace(String),
    /// A name that has no value.
    #[error("\"{text}\" uses {{{name}}}, which is no variable or axis; there are: {}", .known.join(", "))]
    Unknown {
        /// The text.
        text: String,
        /// The name in it.
        name: String,
        /// The names that there are.
        known: Vec<String>,
    },
    /// The values make it too long.
    #[error("a text becomes longer than {LONGEST} bytes with the values in it")]
    TooLong,
}

/// Puts values in place of `{name}`; `{{` and `}}` stand for braces.
///
/// # Errors
/// A name that has no value, with the names that there are; or a brace that is not closed; or the text becomes too long.
pub(super) fn fill(text: &str, values: &BTreeMap<String, String>) -> Result<String, TemplateError> {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}']) {
        filled.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some(after) = rest.strip_prefix("{{").or_else(|| rest.strip_prefix("}}")) {
            filled.push_str(&rest[..1]);
            rest = after;
            continue;
        }
        let inside = rest.strip_prefix('{').and_then(|inner| inner.split_once('}'));
        let Some((name, after)) = inside else {
            return Err(TemplateError::Brace(text.into()));
        };
        match values.get(name) {
            Some(value) => filled.push_str(value),
            None => {
                let known = values.keys().cloned().collect();
                return Err(TemplateError::Unknown { text: text.into(), name: name.into(), known });
            }
        }
        if filled.len() > LONGEST {
            return Err(TemplateError::TooLong);
        }
        rest = after;
    }
    filled.push_str(rest);
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn values() -> BTreeMap<String, String> {
        BTreeMap::from([("size".into(), "4k".into())])
    }

    #[test]
    fn names_become_values_and_doubled_braces_stay() {
        assert_eq!(fill("a {size} b {{x}}", &values()), Ok("a 4k b {x}".into()));
        assert!(fill("{colour}", &values()).unwrap_err().to_string().contains("there are: size"));
        assert!(fill("{size", &values()).is_err());
        assert!(fill("size}", &values()).is_err());
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in ".{0,60}") {
            let _ = fill(&text, &values());
        }

        #[test]
        fn text_without_braces_is_left_alone(text in "[^{}]{0,60}") {
            prop_assert_eq!(fill(&text, &values()), Ok(text));
        }
    }
}
