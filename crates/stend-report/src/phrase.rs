//! The same words in English and Russian, and how they stand in a page of HTML.

use std::borrow::Cow;
use std::fmt;

use serde::{Serialize, Serializer};
use stend_model::side::AS_IT_IS;

use super::language::Texts;
use super::numbers::russian;
use super::text;
use crate::words::language::Language;
use stend_compare::table::OfCeiling;

/// A text in both languages. In HTML both stand side by side and the style sheet shows one, so that switching takes no
/// reloading, and English is there without any script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Phrase {
    /// In English.
    pub en: Cow<'static, str>,
    /// In Russian.
    pub ru: Cow<'static, str>,
}

impl Phrase {
    /// A phrase of the table of texts.
    pub const fn fixed(en: &'static str, ru: &'static str) -> Self {
        Self { en: Cow::Borrowed(en), ru: Cow::Borrowed(ru) }
    }

    /// Its text in a language.
    pub fn say(&self, language: Language) -> &str {
        match language {
            Language::English => &self.en,
            Language::Russian => &self.ru,
        }
    }

    /// What is said in each language.
    pub fn of(say: impl Fn(Language) -> String) -> Self {
        Self::new(say(Language::English), say(Language::Russian))
    }

    /// Two sentences, one after the other.
    pub(super) fn followed_by(&self, next: &Self) -> Self {
        Self::new(format!("{} {}", self.en, next.en), format!("{} {}", self.ru, next.ru))
    }

    /// A phrase with something filled in.
    pub fn new(en: impl Into<String>, ru: impl Into<String>) -> Self {
        Self { en: Cow::Owned(en.into()), ru: Cow::Owned(ru.into()) }
    }
}

/// A name, or what there are words for in English only.
impl<T: Into<String>> From<T> for Phrase {
    fn from(text: T) -> Self {
        let text = text.into();
        Self::new(text.clone(), text)
    }
}

impl Serialize for Phrase {
    /// For the page's script: English and Russian, or one text where both say the same.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.en == self.ru { self.en.serialize(serializer) } else { [&self.en, &self.ru].serialize(serializer) }
    }
}

/// What a run is called. A side that sets nothing and was given no name has one in English alone, as commands take it.
pub(super) fn called(title: &str) -> Phrase {
    if title == AS_IT_IS { Phrase::fixed(AS_IT_IS, "без изменений") } else { Phrase::new(title, title) }
}

impl Texts {
    /// For the templates: see [`called`].
    #[allow(clippy::unused_self, reason = "templates reach functions through a value")]
    pub(super) fn called(&self, title: impl AsRef<str>) -> Phrase {
        called(title.as_ref())
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
    /// As HTML, escaped, with what stands between backticks as code; once where both languages say the same.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.en == self.ru {
            return write!(f, "{}", WithCode(&self.en));
        }
        write!(f, "<span lang=\"en\">{}</span><span lang=\"ru\">{}</span>", WithCode(&self.en), WithCode(&self.ru))
    }
}

/// Text as HTML writes it in an element: what stands between two backticks is code.
struct WithCode<'a>(&'a str);

impl fmt::Display for WithCode<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0;
        while let Some((before, (code, after))) =
            rest.split_once('`').and_then(|(before, behind)| Some((before, behind.split_once('`')?)))
        {
            write!(f, "{}<code>{}</code>", Escaped(before), Escaped(code))?;
            rest = after;
        }
        write!(f, "{}", Escaped(rest))
    }
}

// Its `Display` escapes what it prints.
impl askama::filters::HtmlSafe for Phrase {}

/// Text as HTML writes it, in elements and in attributes; no line ends between a number and its percent sign.
pub(super) struct Escaped<'a>(pub(super) &'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.0.as_bytes();
        // All that is replaced is ASCII, so what lies between is written whole.
        let mut written = 0;
        for (place, byte) in bytes.iter().enumerate() {
            let text = match byte {
                b' ' if place > 0 && bytes[place - 1].is_ascii_digit() && bytes.get(place + 1) == Some(&b'%') => {
                    "\u{a0}"
                }
                b'<' => "&lt;",
                b'>' => "&gt;",
                b'&' => "&amp;",
                b'"' => "&quot;",
                b'\'' => "&#39;",
                _ => continue,
            };
            f.write_str(&self.0[written..place])?;
            f.write_str(text)?;
            written = place + 1;
        }
        f.write_str(&self.0[written..])
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
    fn a_command_stands_as_code_and_a_backtick_alone_as_it_is() {
        let phrase = Phrase::new("run `stend noise -r <n>`, then ` and `x`", "`a`");
        let html = "run <code>stend noise -r &lt;n&gt;</code>, then <code> and </code>x`";
        assert_eq!(
            phrase.to_string(),
            format!("<span lang=\"en\">{html}</span><span lang=\"ru\"><code>a</code></span>")
        );
        assert!(phrase.attributes().to_string().contains("`stend noise"), "an attribute has no elements");
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
