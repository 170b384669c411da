//! Figures as each language writes them: with its decimal sign, its names of units, and its space between a number and a unit.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::phrase::Phrase;
use super::texts::Texts;
use crate::words::{self, language::Language};

/// How a language writes figures.
pub(super) struct Writing {
    /// Between a whole number and its decimals.
    pub(super) point: String,
    /// Between a number and its unit.
    pub(super) space: String,
    /// Units with their prefixes.
    units: HashMap<String, String>,
}

impl Writing {
    /// That of a language.
    pub(super) fn of(language: Language) -> &'static Self {
        static ALL: [OnceLock<Writing>; Language::ALL.len()] = [const { OnceLock::new() }; Language::ALL.len()];
        ALL[language as usize].get_or_init(|| {
            let [point, space, of_units, of_prefixes] =
                ["decimal-sign", "unit-space", "units", "prefixes"].map(|name| words::plain(name, language));
            let mut units = HashMap::new();
            for (prefix, prefix_said) in [("", "")].into_iter().chain(pairs(&of_prefixes)) {
                for (unit, said) in pairs(&of_units) {
                    // A whole name goes first: the `m` of `min` is no prefix.
                    units.entry(format!("{prefix}{unit}")).or_insert_with(|| format!("{prefix_said}{said}"));
                }
            }
            Self { point, space, units }
        })
    }

    /// A unit; `None` if it is no unit that has a prefix and a name known here.
    pub(super) fn unit(&self, unit: &str) -> Option<&str> {
        self.units.get(unit).map(String::as_str)
    }
}

/// Names and what a language has for them.
pub(super) fn pairs(list: &str) -> impl Iterator<Item = (&str, &str)> {
    list.split(',').filter_map(|pair| pair.trim().split_once(" = "))
}

/// A text that is made of figures, as a language writes it: `1.25 … 1.31 GB/s` becomes `1,25 … 1,31 ГБ/с`. Versions, dates and names keep
/// their points, because a point there has more than one number around it, or letters.
pub fn in_language(text: &str, language: Language) -> String {
    let writing = Writing::of(language);
    let mut out = String::with_capacity(text.len() + 8);
    // Whether a unit may stand here: after a number, or after `/` or `·` that binds it to another unit.
    let (mut after_number, mut after_unit) = (false, false);
    for (place, word) in text.split(' ').enumerate() {
        // A point behind a number ends a sentence.
        let (word, end) = match word.strip_suffix('.') {
            Some(bare) if is_number(bare) => (bare, "."),
            _ => (word, ""),
        };
        let number = is_number(word);
        let unit = word.trim_end_matches([')', ',', ';']);
        let name = writing.unit(unit).filter(|_| after_number);
        if place > 0 {
            out.push_str(if after_number && (name.is_some() || unit == "%" || unit == "°C") {
                &writing.space
            } else {
                " "
            });
        }
        let bound = after_unit && matches!(word, "/" | "·");
        after_unit = name.is_some() && unit == word;
        match name {
            Some(name) => out.extend([name, &word[unit.len()..]]),
            None if number => out.push_str(&word.replace('.', &writing.point)),
            None => out.push_str(word),
        }
        out.push_str(end);
        after_number = number || bound;
    }
    out
}

/// Whether a word is a number with at most one point, with signs and brackets about it.
fn is_number(word: &str) -> bool {
    const ABOUT: [char; 10] = ['+', '−', '-', '±', '(', ')', ',', ';', '≤', '≥'];
    let bare = word.trim_matches(ABOUT);
    let bare = match bare.split_once('e') {
        Some((digits, power)) if power.parse::<i32>().is_ok() => digits,
        _ => bare,
    };
    let digits = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_digit() || c == '\u{a0}');
    match bare.split_once('.') {
        Some((whole, decimals)) => digits(whole) && digits(decimals),
        None => digits(bare),
    }
}

/// A text that is made of figures.
pub(super) fn figure(text: &str) -> Phrase {
    Phrase::of(|language| in_language(text, language))
}

impl Texts {
    /// For the templates: see [`figure`].
    #[allow(clippy::unused_self, reason = "templates reach functions through a value")]
    pub(super) fn figure(&self, text: impl AsRef<str>) -> Phrase {
        figure(text.as_ref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn russian(text: &str) -> String {
        in_language(text, Language::Russian)
    }

    #[test]
    fn russian_figures_have_commas_and_units_of_their_own() {
        for (english, expected) in [
            ("1.25 GB/s", "1,25\u{a0}ГБ/с"),
            ("409.2 … 414.8 MB/s", "409,2 … 414,8\u{a0}МБ/с"),
            ("▲ +8.1 %", "▲ +8,1\u{a0}%"),
            ("× 0.057", "× 0,057"),
            ("±0.6 %", "±0,6\u{a0}%"),
            ("12.5 µs", "12,5\u{a0}мкс"),
            ("3.10 GHz", "3,10\u{a0}ГГц"),
            ("0.83 cycles/B", "0,83\u{a0}такт/Б"),
            ("64.0 KiB", "64,0\u{a0}КиБ"),
            ("12.0 kIOPS", "12,0\u{a0}кIOPS"),
            ("1\u{a0}234.5 ns · 3", "1\u{a0}234,5\u{a0}нс · 3"),
            ("9/10*", "9/10*"),
            ("q = 4.00e-4, floor 1.0 %", "q = 4,00e-4, floor 1,0\u{a0}%"),
            ("21.5 k", "21,5\u{a0}тыс."),
            ("1.20 M/s", "1,20\u{a0}млн/с"),
            ("0.83 kB/J", "0,83\u{a0}кБ/Дж"),
            ("× 2.39 … 2.43. Chance", "× 2,39 … 2,43. Chance"),
            ("0.5 /s", "0,5\u{a0}/с"),
            ("45.1 MB/s / W, × 2.41", "45,1\u{a0}МБ/с /\u{a0}Вт, × 2,41"),
            ("69.3 s · W", "69,3\u{a0}с ·\u{a0}Вт"),
            ("1.03 MB/s / USD", "1,03\u{a0}МБ/с / USD"),
        ] {
            assert_eq!(russian(english), expected);
        }
    }

    #[test]
    fn versions_dates_and_names_keep_their_points() {
        for text in ["6.12.3", "2026-11-21 07:00 UTC", "clang-18.1", "pc7.local", "v1.2", "M 3", "B s"] {
            assert_eq!(russian(text), text);
        }
    }
}
