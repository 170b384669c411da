//! Text on its way to a terminal. Names, titles, commands and what programs said may come from anybody; they must not move the cursor,
//! set colours, talk to the terminal or turn the direction of reading.

use std::borrow::Cow;

const ESCAPE: char = '\u{1b}';

/// Whether a character stands for itself alone.
fn is_plain(c: char) -> bool {
    // What turns the direction of reading: marks, embeddings, overrides and isolates.
    let turns = matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    // Separators end a line for some terminals.
    let ends_line = matches!(c, '\u{2028}' | '\u{2029}');
    !c.is_control() && !turns && !ends_line
}

/// Text of one line in which every other character is replaced.
pub fn one_line(text: &str) -> Cow<'_, str> {
    replaced(text, is_plain)
}

/// Text of several lines in which every other character is replaced.
pub fn lines(text: &str) -> Cow<'_, str> {
    replaced(text, |c| is_plain(c) || matches!(c, '\n' | '\t'))
}

/// The same of text with styles of this program's own: of the sequences that set them, these are left.
pub fn styled_lines<'t>(text: &'t str, own: &[&str]) -> Cow<'t, str> {
    if !text.contains(ESCAPE) {
        return lines(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(ESCAPE) {
        out.push_str(&lines(&rest[..at]));
        let sequence = own.iter().find(|sequence| rest[at..].starts_with(**sequence));
        let taken = sequence.map_or(ESCAPE.len_utf8(), |own| own.len());
        out.push_str(&sequence.map_or_else(|| lines(&rest[at..at + taken]), |own| (*own).into()));
        rest = &rest[at + taken..];
    }
    out.push_str(&lines(rest));
    out.into()
}

/// The last line that is not empty, without the space around it; of a program's error output it mostly says what went wrong.
pub fn last_line(text: &str) -> &str {
    text.lines().rev().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default()
}

fn replaced(text: &str, stays: impl Fn(char) -> bool) -> Cow<'_, str> {
    if text.chars().all(&stays) {
        return text.into();
    }
    text.chars().map(|c| if stays(c) { c } else { char::REPLACEMENT_CHARACTER }).collect::<String>().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_left_that_a_terminal_or_a_reader_would_obey() {
        for c in [
            '\u{1b}', '\u{7}', '\r', '\u{8}', '\u{7f}', '\u{9b}', '\u{90}', '\u{202e}', '\u{2066}', '\u{200f}',
            '\u{2028}',
        ] {
            assert_eq!(lines(&format!("a{c}b\n")), "a\u{fffd}b\n", "{c:?}");
        }
        assert_eq!(one_line("a\nb\tc"), "a\u{fffd}b\u{fffd}c");
        for text in ["Кузнечик, 4 КиБ\t— é 日本 👩\u{200d}💻\n", "זיכרון"] {
            assert_eq!(lines(text), text);
        }
    }

    #[test]
    fn only_styles_of_ones_own_are_left() {
        let own = ["\u{1b}[1m", "\u{1b}[0m"];
        assert_eq!(styled_lines("\u{1b}[1mA\u{1b}[0m b", &own), "\u{1b}[1mA\u{1b}[0m b");
        assert_eq!(
            styled_lines("\u{1b}[1mA\u{1b}[8mB\u{1b}]0;C\u{7}\u{1b}", &own),
            "\u{1b}[1mA\u{fffd}[8mB\u{fffd}]0;C\u{fffd}\u{fffd}"
        );
        assert_eq!(styled_lines("\u{202e}a\u{1b}[1mb\r", &own), "\u{fffd}a\u{1b}[1mb\u{fffd}");
    }
}
