//! Where in a text something is, for errors that say so.

use serde::de::DeserializeOwned;

/// Reads TOML; what is wrong with it is one line: `file:line:column: what`.
pub(crate) fn parse_toml<T: DeserializeOwned>(text: &str, file: &str) -> Result<T, String> {
    toml::from_str(text).map_err(|error| {
        let (line, column) = line_and_column(text, error.span().map_or(0, |span| span.start));
        format!("{file}:{line}:{column}: {}", error.message().trim().replace('\n', "; "))
    })
}

/// Line and column, both from 1, of the byte at `offset`. The column counts characters.
pub(crate) fn line_and_column(text: &str, offset: usize) -> (usize, usize) {
    let before = &text.as_bytes()[..offset.min(text.len())];
    let line_start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |newline| newline + 1);
    let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
    (line, String::from_utf8_lossy(&before[line_start..]).chars().count() + 1)
}
