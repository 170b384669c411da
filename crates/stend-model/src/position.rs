//! What is wrong with a text, and where, for errors that say so.

use serde::de::DeserializeOwned;
use thiserror::Error;

/// TOML that cannot be read, or does not have the form that is wanted.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{file}:{line}:{column}: {said}")]
pub struct TomlError {
    /// The file as the user knows it.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// What the parser said, in one line.
    pub said: String,
}

/// Reads TOML.
pub(crate) fn parse_toml<T: DeserializeOwned>(text: &str, file: &str) -> Result<T, TomlError> {
    toml::from_str(text).map_err(|error| {
        let (line, column) = line_and_column(text, error.span().map_or(0, |span| span.start));
        TomlError { file: file.into(), line, column, said: plain(error.message()) }
    })
}

/// What serde says of a value, in one line and in words for those who write it: types of Rust are none.
pub fn plain(message: &str) -> String {
    let message = message.trim().replace('\n', "; ");
    if let Some((value, expected)) =
        message.strip_prefix("unknown variant `").and_then(|rest| rest.split_once("`, expected "))
    {
        let words = expected.trim_start_matches("one of ").replace('`', "").replace(" or ", ", ");
        return format!("\"{value}\" is not known here; it may be {words}");
    }
    let Some((found, expected)) = message.rsplit_once(", expected ") else { return message };
    let wanted = match expected {
        "i8" | "i16" | "i32" | "i64" => "a whole number",
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number, 0 or more",
        "f32" | "f64" => "a number",
        "a boolean" => "true or false",
        "a string" => "a text in quotes",
        "a sequence" => "a list",
        "a map" => "a table",
        _ => return message,
    };
    format!("{found}, expected {wanted}")
}

/// Where the line of a key of TOML begins, or that of a table of this name; the beginning where there is none.
pub(crate) fn offset_of_key(text: &str, key: &str) -> usize {
    let mut lines = text.lines().scan(0, |at, line| Some((std::mem::replace(at, *at + line.len() + 1), line)));
    let is_key = |line: &str| {
        let line = line.trim_start_matches('[');
        line.strip_prefix(key).is_some_and(|rest| rest.starts_with([' ', '=', ']', '.']))
    };
    lines.find(|(_, line)| is_key(line)).map_or(0, |(at, _)| at)
}

/// Line and column, both from 1, of the byte at `offset`. The column counts characters.
pub(crate) fn line_and_column(text: &str, offset: usize) -> (usize, usize) {
    let before = &text.as_bytes()[..offset.min(text.len())];
    let line_start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |newline| newline + 1);
    let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
    (line, String::from_utf8_lossy(&before[line_start..]).chars().count() + 1)
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn what_was_expected_is_said_without_types_of_rust() {
        for (said, meant) in [
            ("unknown variant `raid6`, expected one of `stripe`, `mirror`, `raid10`", "stripe, mirror, raid10"),
            ("unknown variant `x`, expected `a` or `b`", "\"x\" is not known here; it may be a, b"),
            ("invalid type: string \"many\", expected u32", "string \"many\", expected a whole number, 0 or more"),
            ("invalid value: integer `-1`, expected u32", "integer `-1`, expected a whole number, 0 or more"),
            ("invalid type: integer `1`, expected a boolean", "expected true or false"),
            ("a\nb\n", "a; b"),
        ] {
            assert!(plain(said).ends_with(meant), "{}", plain(said));
        }
        assert!(plain("unknown field `colour`, expected `name`").starts_with("unknown field `colour`"));
    }
}
