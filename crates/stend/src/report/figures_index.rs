//! What is in a directory of drawings, as a page of Markdown that shows them.

use std::fmt::Write as _;

use clap::ValueEnum as _;

use super::html::{Figure, Kind};

/// The page: the drawings of each scenario under its name, in the order in which they came, and which kinds there are beside these.
pub(crate) fn render(figures: &[Figure], kinds: &[Kind], runs: &[&str]) -> String {
    let mut page =
        format!("# Drawings of {}\n\nWritten by `stend report {} --format svg`.\n", runs.join(", "), runs.join(" "));
    let name = |kind: &Kind| kind.to_possible_value().map(|value| value.get_name().to_owned());
    let others: Vec<_> = Kind::value_variants().iter().filter(|kind| !kinds.contains(kind)).filter_map(name).collect();
    if !others.is_empty() {
        let _ =
            write!(page, "\nNot among them: {}; `--drawings {}` makes these.\n", others.join(", "), others.join(","));
    }
    if figures.is_empty() {
        page.push_str("\nThere is nothing to draw.\n");
    }
    let mut before = None;
    for figure in figures {
        if before != Some(&figure.of) {
            let _ = write!(page, "\n## {}\n", escaped(&figure.of));
        }
        before = Some(&figure.of);
        let _ = write!(page, "\n![{}]({}.svg)\n", escaped(&figure.title), figure.name);
    }
    page
}

/// Text in which nothing means anything to Markdown.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_ascii_punctuation() && !matches!(character, ',' | '.' | ':' | '-' | '/' | '%' | '(' | ')') {
            escaped.push('\\');
        }
        escaped.push(if character.is_control() { ' ' } else { character });
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_drawing_is_named_and_shown_under_its_scenario() {
        let figure = |name: &str, of: &str| Figure {
            name: name.into(),
            of: of.into(),
            title: format!("{of}: [x] *y*"),
            svg: String::new(),
        };
        let figures = [figure("a-1", "a|b"), figure("a-2", "a|b"), figure("c", "c")];
        let page = render(&figures, &Kind::USUAL, &["20261121-0555-3f9a"]);
        assert_eq!(page.matches("\n## ").count(), 2);
        assert!(page.contains("## a\\|b\n\n![a\\|b: \\[x\\] \\*y\\*](a-1.svg)\n"), "{page}");
        assert!(page.contains("Not among them: samples; `--drawings samples` makes these."), "{page}");
        let all = render(&[], Kind::value_variants(), &["r"]);
        assert!(all.contains("nothing to draw") && !all.contains("Not among them"), "{all}");
    }
}
