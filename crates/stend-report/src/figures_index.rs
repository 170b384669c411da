//! What is in a directory of drawings, as a page of Markdown that shows them.

use std::fmt::Write as _;

use clap::ValueEnum as _;

use super::html::{Figure, Kind};
use super::phrase::Phrase;
use crate::words;
use crate::words::Given;
use crate::words::language::Language;

/// The page in the drawings' language: the drawings of each scenario under its name, in the order in which they came, and which kinds there
/// are beside these. No kind was asked for where `chosen` is empty. `command` is what writes a report of these runs.
pub fn render(figures: &[Figure], chosen: &[Kind], runs: &[&str], command: &str, language: Language) -> String {
    let kinds = if chosen.is_empty() { &Kind::USUAL[..] } else { chosen };
    let name = |kind: &Kind| kind.to_possible_value().map(|value| value.get_name().to_owned());
    let mut command = format!("{command} --format svg");
    if language != Language::English {
        let _ = write!(command, " --language {}", language.code());
    }
    if !chosen.is_empty() {
        let _ = write!(command, " --drawings {}", chosen.iter().filter_map(name).collect::<Vec<_>>().join(","));
    }
    let line = |name: &str, given: &[(&str, Given)]| words::say(name, given).say(language).to_owned();
    let mut page = format!(
        "# {}\n\n{}\n",
        line("drawings-head", &[("runs", Given::Text(&runs.join(", ")))]),
        line("drawings-by", &[("command", Given::Text(&command))])
    );
    let others: Vec<_> = Kind::value_variants().iter().filter(|kind| !kinds.contains(kind)).filter_map(name).collect();
    if !others.is_empty() {
        let (kinds, option) = (others.join(", "), others.join(","));
        let given = [("kinds", Given::Text(&kinds)), ("option", Given::Text(&option))];
        let _ = write!(page, "\n{}\n", line("drawings-beside", &given));
    }
    for kind in chosen.iter().filter(|kind| figures.iter().all(|figure| figure.kind != **kind)) {
        let (name, why) = (name(kind).unwrap_or_default(), why_none(*kind));
        let given = [("kind", Given::Text(&name)), ("why", Given::Said(&why))];
        let _ = write!(page, "\n{}\n", line("drawings-none", &given));
    }
    if figures.is_empty() {
        let _ = write!(page, "\n{}\n", line("drawings-nothing", &[]));
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

/// Why runs may have nothing to draw of a kind.
pub fn why_none(kind: Kind) -> Phrase {
    let name = match kind {
        Kind::Forest => "none-forest",
        Kind::Published => "none-published",
        Kind::Sweeps => "none-sweeps",
        Kind::Repeats | Kind::Histograms => "none-repeats",
        Kind::Latencies => "none-latencies",
        Kind::Timelines => "none-timelines",
        Kind::Flames => "none-flames",
        Kind::Samples => "none-samples",
    };
    words::say(name, &[])
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
            kind: Kind::Repeats,
            of: of.into(),
            title: format!("{of}: [x] *y*"),
            svg: String::new(),
        };
        let figures = [figure("a-1", "a|b"), figure("a-2", "a|b"), figure("c", "c")];
        let page = render(&figures, &[], &["20261121-0555-3f9a"], "stend report 20261121-0555-3f9a", Language::English);
        assert_eq!(page.matches("\n## ").count(), 2);
        assert!(page.contains("## a\\|b\n\n![a\\|b: \\[x\\] \\*y\\*](a-1.svg)\n"), "{page}");
        assert!(page.contains("`stend report 20261121-0555-3f9a --format svg`"), "{page}");
        assert!(page.contains("Not requested: samples; `--drawings samples` makes those"), "{page}");
        let all = render(&[], Kind::value_variants(), &["r"], "stend report r", Language::English);
        assert!(all.contains("nothing to draw") && !all.contains("Not requested"), "{all}");
    }

    #[test]
    fn the_page_is_in_the_drawings_language_and_names_its_options() {
        let page = render(&[], &[Kind::Repeats, Kind::Samples], &["r"], "stend report r", Language::Russian);
        assert!(page.contains("`stend report r --format svg --language ru --drawings repeats,samples`"), "{page}");
        assert!(page.contains("Нет samples: отсчёты не записаны."), "{page}");
        assert!(page.contains("Рисовать нечего") && page.contains("Не запрошены: forest, published, "), "{page}");
        for english in ["Drawings of", "Written by", "Not requested", "There is"] {
            assert!(!page.contains(english), "{page}");
        }
    }
}
