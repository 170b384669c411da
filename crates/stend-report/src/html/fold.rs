//! What is behind a scenario, in English with a number where there is more, and the texts in other languages once for all scenarios.
//!
//! Most of a large report is this markup, and most of its texts are the same in each scenario. A reader without a script sees English alone, so
//! nothing is lost; the page's script puts all languages side by side when a scenario is looked into.

use std::collections::HashMap;

use crate::words::language::Language;

/// What stands before a text in each language, and behind the last one.
fn element() -> Vec<String> {
    between(|code| format!("<span lang=\"{code}\">"), "</span>", "</span>")
}

/// The same of attributes of an element that holds the English text.
fn attributes() -> Vec<String> {
    between(|code| format!(" data-{code}=\""), "\"", "\">")
}

fn between(open: impl Fn(&str) -> String, close: &str, end: &str) -> Vec<String> {
    let before = |(place, language): (usize, &Language)| {
        format!("{}{}", if place > 0 { close } else { "" }, open(language.code()))
    };
    Language::ALL.iter().enumerate().map(before).chain([end.to_owned()]).collect()
}

/// The texts of a page in other languages than English, each once.
#[derive(Debug, Default)]
pub(super) struct Folded {
    numbers: HashMap<Vec<String>, usize>,
    /// As HTML, by number, of each language.
    texts: [Vec<String>; Language::ALL.len() - 1],
}

impl Folded {
    /// The markup of a scenario with what is in its `noscript` made shorter.
    pub(super) fn fold(&mut self, html: &str) -> String {
        let Some((head, body)) = html.split_once("<noscript>") else { return html.to_owned() };
        let elements = self
            .replaced(body, &element(), |number, english, _| Some((format!("<i data-r={number}>{english}</i>"), 0)));
        let attributes = self.replaced(&elements, &attributes(), |number, english, after| {
            // What the attributes say in English stands in the element too.
            let said = after.strip_prefix(english)?.starts_with('<');
            said.then(|| (format!(" data-r={number}>{english}"), english.len()))
        });
        format!("{head}<noscript>{attributes}")
    }

    /// The texts with their languages, a line each.
    pub(super) fn texts(&self) -> Vec<(&'static str, String)> {
        let of_language = |(language, texts): (&Language, &Vec<String>)| (language.code(), texts.join("\n"));
        Language::ALL[1..].iter().zip(&self.texts).map(of_language).collect()
    }

    /// Text in which each sentence is replaced by what `short` makes of the number of its other texts, the English one and what follows; it says
    /// too how much of what follows it has said already. `None` leaves them as they are.
    fn replaced(
        &mut self,
        html: &str,
        parts: &[String],
        short: impl Fn(usize, &str, &str) -> Option<(String, usize)>,
    ) -> String {
        let mut out = String::with_capacity(html.len());
        let mut rest = html;
        while let Some((before, after)) = rest.split_once(&parts[0]) {
            out.push_str(before);
            let (text, behind) = self.shortened(after, parts, &short).unwrap_or_else(|| (parts[0].clone(), after));
            out.push_str(&text);
            rest = behind;
        }
        out.push_str(rest);
        out
    }

    /// What stands for the sentence at the beginning of some markup, and what follows it.
    fn shortened<'a>(
        &mut self,
        html: &'a str,
        parts: &[String],
        short: impl Fn(usize, &str, &str) -> Option<(String, usize)>,
    ) -> Option<(String, &'a str)> {
        let (english, mut after) = html.split_once(&parts[1])?;
        let mut others = Vec::new();
        for part in &parts[2..] {
            let (text, behind) = after.split_once(part)?;
            others.push(text.to_owned());
            after = behind;
        }
        // A line of the texts is one text.
        if english.contains('\n') || others.iter().any(|text| text.contains('\n')) {
            return None;
        }
        let next = self.numbers.len();
        let number = self.numbers.get(&others).copied().unwrap_or(next);
        let (text, said) = short(number, english, after)?;
        if number == next {
            self.texts.iter_mut().zip(&others).for_each(|(texts, text)| texts.push(text.clone()));
            self.numbers.insert(others, number);
        }
        Some((text, &after[said..]))
    }
}

/// What the page's script makes of a page: all languages beside each other everywhere.
#[cfg(test)]
pub(super) fn unfolded(page: &str) -> String {
    let texts = |language: &Language| -> Vec<&str> {
        let begin = format!("<template class=\"texts\" lang=\"{}\">", language.code());
        let texts = page.split_once(&begin).map_or("", |(_, rest)| rest.split_once("</template>").unwrap().0);
        texts.split('\n').collect()
    };
    let texts: Vec<_> = Language::ALL[1..].iter().map(texts).collect();
    let mut out = String::new();
    // The script speaks of such markup too.
    let (mut rest, script) = page.split_at(page.find("<script>").unwrap_or(page.len()));
    while let Some((before, after)) = rest.split_once(" data-r=") {
        let (number, after) = after.split_once('>').unwrap();
        let number = number.parse::<usize>().unwrap();
        let (before, parts, (english, behind)) = match before.strip_suffix("<i") {
            Some(before) => (before, element(), after.split_once("</i>").unwrap()),
            None => (before, attributes(), (after.split('<').next().unwrap(), after)),
        };
        out.push_str(before);
        let others = texts.iter().map(|texts| texts[number]);
        std::iter::once(english).chain(others).zip(&parts).for_each(|(text, part)| out.extend([part, text]));
        out.push_str(parts.last().unwrap());
        rest = behind;
    }
    out + rest + script
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phrase::Phrase;

    #[test]
    fn what_is_folded_comes_back() {
        let phrase = Phrase::new("a `b` <c>", "а `б` \"в\"");
        let several = Phrase::new("two\nlines", "две\nстроки");
        let title = format!("<title{}>{}</title>", Phrase::new("x & y", "х и y").attributes(), "x &amp; y");
        let other = format!("<text{}>something else</text>", Phrase::new("x", "х").attributes());
        let html = format!("{phrase}<noscript>{phrase}{several}{title}{other}{phrase}</noscript>");
        let mut folded = Folded::default();
        let short = folded.fold(&html);
        let mut page = String::new();
        for (code, texts) in folded.texts() {
            assert_eq!(texts.lines().count(), 2, "each text once: {texts}");
            page += &format!("<template class=\"texts\" lang=\"{code}\">{texts}</template>");
        }
        assert!(short.len() < html.len() && short.contains("data-r=0") && short.contains("data-r=1"), "{short}");
        assert!(short.starts_with(&phrase.to_string()), "only what is folded away is shortened");
        assert_eq!(unfolded(&format!("{page}{short}")), format!("{page}{html}"));
        assert_eq!(folded.fold("<p>nothing</p>"), "<p>nothing</p>");
    }
}
