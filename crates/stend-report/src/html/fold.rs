//! What is behind a scenario, in English with a number where there is Russian too, and the Russian texts once for all scenarios.
//!
//! Most of a large report is this markup, and most of its texts are the same in each scenario. A reader without a script sees English alone, so
//! nothing is lost; the page's script puts both languages side by side when a scenario is looked into.

use std::collections::HashMap;

/// Where a text in both languages begins, what parts the two, and where it ends.
const ELEMENT: [&str; 3] = ["<span lang=\"en\">", "</span><span lang=\"ru\">", "</span>"];
/// The same of attributes of an element that holds the English text.
const ATTRIBUTES: [&str; 3] = [" data-en=\"", "\" data-ru=\"", "\">"];

/// The Russian texts of a page, each once.
#[derive(Debug, Default)]
pub(super) struct Folded {
    numbers: HashMap<String, usize>,
    /// As HTML, by number.
    texts: Vec<String>,
}

impl Folded {
    /// The markup of a scenario with what is in its `noscript` made shorter.
    pub(super) fn fold(&mut self, html: &str) -> String {
        let Some((head, body)) = html.split_once("<noscript>") else { return html.to_owned() };
        let elements =
            self.replaced(body, ELEMENT, |number, english, _| Some((format!("<i data-r={number}>{english}</i>"), 0)));
        let attributes = self.replaced(&elements, ATTRIBUTES, |number, english, after| {
            // What the attributes say in English stands in the element too.
            let said = after.strip_prefix(english)?.starts_with('<');
            said.then(|| (format!(" data-r={number}>{english}"), english.len()))
        });
        format!("{head}<noscript>{attributes}")
    }

    /// The Russian texts, a line each.
    pub(super) fn texts(&self) -> String {
        self.texts.join("\n")
    }

    /// Text in which pairs of texts are replaced by what `short` makes of the Russian one's number, the English one and what follows; it says too
    /// how much of what follows it has said already. `None` leaves the pair as it is.
    fn replaced(
        &mut self,
        html: &str,
        [begin, between, end]: [&str; 3],
        short: impl Fn(usize, &str, &str) -> Option<(String, usize)>,
    ) -> String {
        let mut out = String::with_capacity(html.len());
        let mut rest = html;
        while let Some((before, after)) = rest.split_once(begin) {
            out.push_str(before);
            rest = after;
            let pair = after.split_once(between).and_then(|(english, after)| {
                let (russian, after) = after.split_once(end)?;
                // A line of the texts is one text.
                (!english.contains('\n') && !russian.contains('\n')).then_some((english, russian, after))
            });
            let written = pair.and_then(|(english, russian, after)| {
                let next = self.numbers.get(russian).copied().unwrap_or(self.texts.len());
                let (text, said) = short(next, english, after)?;
                if next == self.texts.len() {
                    self.numbers.insert(russian.to_owned(), next);
                    self.texts.push(russian.to_owned());
                }
                Some((text, &after[said..]))
            });
            match written {
                Some((text, after)) => {
                    out.push_str(&text);
                    rest = after;
                }
                None => out.push_str(begin),
            }
        }
        out.push_str(rest);
        out
    }
}

/// What the page's script makes of a page: both languages beside each other everywhere.
#[cfg(test)]
pub(super) fn unfolded(page: &str) -> String {
    let texts =
        page.split_once("<template id=\"texts\">").map_or("", |(_, rest)| rest.split_once("</template>").unwrap().0);
    let texts: Vec<&str> = texts.split('\n').collect();
    let mut out = String::new();
    // The script speaks of such markup too.
    let (mut rest, script) = page.split_at(page.find("<script>").unwrap_or(page.len()));
    while let Some((before, after)) = rest.split_once(" data-r=") {
        let (number, after) = after.split_once('>').unwrap();
        let russian = texts[number.parse::<usize>().unwrap()];
        if let Some(before) = before.strip_suffix("<i") {
            let (english, after) = after.split_once("</i>").unwrap();
            out.extend([before, ELEMENT[0], english, ELEMENT[1], russian, ELEMENT[2]]);
            rest = after;
        } else {
            let english = after.split('<').next().unwrap();
            out.extend([before, ATTRIBUTES[0], english, ATTRIBUTES[1], russian, ATTRIBUTES[2]]);
            rest = after;
        }
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
        assert_eq!(folded.texts().lines().count(), 2, "each text once: {}", folded.texts());
        assert!(short.len() < html.len() && short.contains("data-r=0") && short.contains("data-r=1"), "{short}");
        assert!(short.starts_with(&phrase.to_string()), "only what is folded away is shortened");
        let page = format!("<template id=\"texts\">{}</template>", folded.texts());
        assert_eq!(unfolded(&format!("{page}{short}")), format!("{page}{html}"));
        assert_eq!(folded.fold("<p>nothing</p>"), "<p>nothing</p>");
    }
}
