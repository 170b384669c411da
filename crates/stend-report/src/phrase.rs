//! The same words in each language, and how they stand in a page of HTML.

use std::array;
use std::borrow::Cow;
use std::fmt;

use serde::{Serialize, Serializer};
use stend_model::side::AS_IT_IS;

use super::text;
use super::texts::Texts;
use crate::words::language::Language;
use crate::words::{self, Given};
use stend_compare::table::OfCeiling;

/// A text in each language. In HTML all stand side by side and the style sheet shows one, so that switching takes no reloading, and English is
/// there without any script.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Phrase([Cow<'static, str>; Language::ALL.len()]);

impl Phrase {
    /// What is said in each language.
    pub fn of(say: impl Fn(Language) -> String) -> Self {
        Self(array::from_fn(|place| say(Language::ALL[place]).into()))
    }

    /// Its text in a language.
    pub fn say(&self, language: Language) -> &str {
        &self.0[language as usize]
    }

    /// Its English text, as documents have it.
    pub fn english(&self) -> &str {
        self.say(Language::English)
    }

    /// All of them, with this in between.
    pub(super) fn joined(parts: &[Self], between: &str) -> Self {
        Self::of(|language| parts.iter().map(|part| part.say(language)).collect::<Vec<_>>().join(between))
    }

    /// The same with a name behind it.
    pub(super) fn before(&self, name: impl fmt::Display) -> Self {
        Self::of(|language| format!("{}: {name}", self.say(language)))
    }

    /// The same with a name before it.
    pub(super) fn after(&self, name: impl fmt::Display) -> Self {
        Self::of(|language| format!("{name}: {}", self.say(language)))
    }

    /// Whether all languages say the same, as of names.
    fn is_name(&self) -> bool {
        self.0.iter().all(|text| *text == self.0[0])
    }

    /// Each text behind its language.
    pub(super) fn texts(&self) -> impl Iterator<Item = (&'static str, &str)> {
        Language::ALL.iter().map(|language| (language.code(), self.say(*language)))
    }
}

/// A name, or what there are words for in one language only.
impl<T: Into<String>> From<T> for Phrase {
    fn from(text: T) -> Self {
        let text = text.into();
        Self::of(|_| text.clone())
    }
}

impl Serialize for Phrase {
    /// For the page's script: a text for each language, or one where all say the same.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.is_name() { self.0[0].serialize(serializer) } else { self.0[..].serialize(serializer) }
    }
}

/// What a run is called. The name of a side that sets nothing and was given none is translated; commands take it in English.
pub(super) fn called(title: &str) -> Phrase {
    if title == AS_IT_IS { words::say("side-as-it-is", &[]) } else { title.into() }
}

impl Texts {
    /// For the templates: see [`called`].
    #[allow(clippy::unused_self, reason = "templates reach functions through a value")]
    pub(super) fn called(&self, title: impl AsRef<str>) -> Phrase {
        called(title.as_ref())
    }
}

/// The share of a ceiling: `62 % of copy in L1`; of one that is a multiple also how many times: `× 1.87, 94 % of 2 × one process`.
pub(super) fn of_ceiling(ceiling: &OfCeiling) -> Phrase {
    let OfCeiling { scenario, times, share } = ceiling;
    let percent = text::percent(*share);
    let of = [("share", Given::Figure(&percent)), ("scenario", Given::Text(scenario))];
    if *times == 1 {
        return words::say("of-ceiling", &of);
    }
    let factor = text::factor(share * f64::from(*times));
    let multiple = [of[0], ("factor", Given::Figure(&factor)), ("scenario", Given::Text(&ceiling.name()))];
    words::say("of-multiple", &multiple)
}

impl Phrase {
    /// The attributes from which the page's script takes the text of an element that cannot hold several languages, such as the
    /// title of a drawing; nothing where all say the same.
    pub(super) fn attributes(&self) -> Attributes<'_> {
        Attributes(self, "data")
    }

    /// The attribute that makes this an element's tooltip, in each language; nothing for an empty text.
    pub(super) fn title(&self) -> Title<'_> {
        Title(self)
    }
}

/// See [`Phrase::title`].
pub(super) struct Title<'a>(&'a Phrase);

impl fmt::Display for Title<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let first = &self.0.0[0];
        if first.is_empty() {
            return Ok(());
        }
        write!(f, " title=\"{}\"{}", Escaped(first), Attributes(self.0, "data-title"))
    }
}

// Its `Display` escapes what it prints.
impl askama::filters::HtmlSafe for Title<'_> {}

/// See [`Phrase::attributes`].
pub(super) struct Attributes<'a>(&'a Phrase, &'static str);

impl fmt::Display for Attributes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_name() {
            return Ok(());
        }
        self.0.texts().try_for_each(|(code, text)| write!(f, " {}-{code}=\"{}\"", self.1, Escaped(text)))
    }
}

// Its `Display` escapes what it prints.
impl askama::filters::HtmlSafe for Attributes<'_> {}

impl fmt::Display for Phrase {
    /// As HTML, escaped, with what stands between backticks as code; once where all languages say the same.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_name() {
            return write!(f, "{}", WithCode(&self.0[0]));
        }
        self.texts().try_for_each(|(code, text)| write!(f, "<span lang=\"{code}\">{}</span>", WithCode(text)))
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
impl Phrase {
    pub(crate) fn new(english: &str, russian: &str) -> Self {
        Self::of(|language| if language == Language::Russian { russian } else { english }.to_owned())
    }

    pub(crate) fn russian(&self) -> &str {
        self.say(Language::Russian)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn html_of(phrase: &Phrase) -> String {
        crate::example::in_english_and_russian(&phrase.to_string())
    }

    #[test]
    fn no_line_ends_before_a_percent_sign() {
        let phrase = Phrase::new("of 5 % or 6, %", "5 %");
        assert_eq!(html_of(&phrase), "<span lang=\"en\">of 5\u{a0}% or 6, %</span><span lang=\"ru\">5\u{a0}%</span>");
    }

    #[test]
    fn a_command_stands_as_code_and_a_backtick_alone_as_it_is() {
        let phrase = Phrase::new("run `stend list -r <n>`, then ` and `x`", "`a`");
        let html = "run <code>stend list -r &lt;n&gt;</code>, then <code> and </code>x`";
        assert_eq!(html_of(&phrase), format!("<span lang=\"en\">{html}</span><span lang=\"ru\"><code>a</code></span>"));
        assert!(phrase.attributes().to_string().contains("`stend list"), "an attribute has no elements");
    }

    #[test]
    fn a_phrase_escapes_what_is_filled_in() {
        let phrase = Phrase::new("<b> & \"x\"", "'я'");
        assert_eq!(
            html_of(&phrase),
            "<span lang=\"en\">&lt;b&gt; &amp; &quot;x&quot;</span><span lang=\"ru\">&#39;я&#39;</span>"
        );
    }
}
