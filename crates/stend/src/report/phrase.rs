//! The same words in English and Russian, and how they stand in a page of HTML.

use std::borrow::Cow;
use std::fmt;

use serde::{Serialize, Serializer};

use super::numbers::russian;
use super::text;
use crate::compare::table::OfCeiling;

/// A text in both languages. In HTML both stand side by side and the style sheet shows one, so that switching takes no
/// reloading, and English is there without any script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Phrase {
    /// In English.
    pub(crate) en: Cow<'static, str>,
    /// In Russian.
    pub(crate) ru: Cow<'static, str>,
}

impl Phrase {
    /// A phrase of the table of texts.
    pub(crate) const fn fixed(en: &'static str, ru: &'static str) -> Self {
        Self { en: Cow::Borrowed(en), ru: Cow::Borrowed(ru) }
    }

    /// A phrase with something filled in.
    pub(crate) fn new(en: impl Into<String>, ru: impl Into<String>) -> Self {
        Self { en: Cow::Owned(en.into()), ru: Cow::Owned(ru.into()) }
    }
}

impl Serialize for Phrase {
    /// For the page's script: English and Russian, or one text where both say the same.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.en == self.ru { self.en.serialize(serializer) } else { [&self.en, &self.ru].serialize(serializer) }
    }
}

/// The share of a ceiling: `62 % of copy in L1`.
pub(super) fn of_ceiling(ceiling: &OfCeiling) -> Phrase {
    let OfCeiling { scenario, share } = ceiling;
    let share = text::percent(*share);
    Phrase::new(format!("{share} of {scenario}"), format!("{} от «{scenario}»", russian(&share)))
}

impl Phrase {
    /// The attributes from which the page's script takes the text of an element that cannot hold both languages, such as the
    /// title of a drawing; nothing where both say the same.
    pub(super) fn attributes(&self) -> Attributes<'_> {
        Attributes(self)
    }
}

impl Phrase {
    /// The attribute that makes this an element's tooltip, in both languages; nothing for an empty text.
    pub(super) fn title(&self) -> Title<'_> {
        Title(self)
    }
}

/// See [`Phrase::title`].
pub(super) struct Title<'a>(&'a Phrase);

impl fmt::Display for Title<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Phrase { en, ru } = self.0;
        if en.is_empty() {
            return Ok(());
        }
        write!(f, " title=\"{}\"", Escaped(en))?;
        if en == ru {
            Ok(())
        } else {
            write!(f, " data-title-en=\"{}\" data-title-ru=\"{}\"", Escaped(en), Escaped(ru))
        }
    }
}

// Its `Display` escapes what it prints.
impl askama::filters::HtmlSafe for Title<'_> {}

/// See [`Phrase::attributes`].
pub(super) struct Attributes<'a>(&'a Phrase);

impl fmt::Display for Attributes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Phrase { en, ru } = self.0;
        if en == ru {
            return Ok(());
        }
        write!(f, " data-en=\"{}\" data-ru=\"{}\"", Escaped(en), Escaped(ru))
    }
}

// Its `Display` escapes what it prints.
impl askama::filters::HtmlSafe for Attributes<'_> {}

impl fmt::Display for Phrase {
    /// As HTML, escaped; once where both languages say the same.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.en == self.ru {
            return write!(f, "{}", Escaped(&self.en));
        }
        write!(f, "<span lang=\"en\">{}</span><span lang=\"ru\">{}</span>", Escaped(&self.en), Escaped(&self.ru))
    }
}

// Its `Display` escapes what it prints.
impl askama::filters::HtmlSafe for Phrase {}

/// Text as HTML writes it, in elements and in attributes; no line ends between a number and its percent sign.
struct Escaped<'a>(&'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use fmt::Write;
        let mut after_digit = false;
        let mut characters = self.0.chars().peekable();
        while let Some(character) = characters.next() {
            match character {
                ' ' if after_digit && characters.peek() == Some(&'%') => f.write_char('\u{a0}')?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '&' => f.write_str("&amp;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                other => f.write_char(other)?,
            }
            after_digit = character.is_ascii_digit();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_ends_before_a_percent_sign() {
        let phrase = Phrase::new("of 5 % or 6, %", "5 %");
        assert_eq!(phrase.to_string(), "<span lang=\"en\">of 5\u{a0}% or 6, %</span><span lang=\"ru\">5\u{a0}%</span>");
    }

    #[test]
    fn a_phrase_escapes_what_is_filled_in() {
        let phrase = Phrase::new("<b> & \"x\"", "'я'");
        assert_eq!(
            phrase.to_string(),
            "<span lang=\"en\">&lt;b&gt; &amp; &quot;x&quot;</span><span lang=\"ru\">&#39;я&#39;</span>"
        );
    }
}
