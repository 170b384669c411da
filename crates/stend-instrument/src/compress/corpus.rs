//! The pages that are compressed: HTML as a forum serves it, made up from a seed.

use std::fmt::Write as _;
use std::ops::Range;
use std::sync::OnceLock;

use stend_model::identity::digest_of;
use stend_stats::SplitMix64;

/// As many as in "ARM wrestling".
pub(super) const PAGES: u32 = 441;

/// The pages' seed. Changing it, or anything else here, makes other figures: the corpus' digest is part of what is measured.
const SEED: u64 = 441;
/// About the mean length of a page of "ARM wrestling": 42 MB in 441 pages.
const PAGE_BYTES: usize = 95_000;

/// The first so many pages, with what is known of them.
#[derive(Debug)]
pub(super) struct Corpus {
    /// The pages one after the other.
    pub(super) bytes: Vec<u8>,
    /// Where each of them ends.
    ends: Vec<usize>,
    /// Their SHA-256.
    pub(super) sha256: String,
}

impl Corpus {
    /// The first `pages` pages, at most [`PAGES`]. Made once for each number that is asked for.
    pub(super) fn of(pages: u32) -> &'static Self {
        static MADE: [OnceLock<Corpus>; PAGES as usize] = [const { OnceLock::new() }; PAGES as usize];
        let pages = pages.clamp(1, PAGES);
        MADE[pages as usize - 1].get_or_init(|| Self::make(pages))
    }

    fn make(pages: u32) -> Self {
        let mut random = SplitMix64::new(SEED);
        let words = words(&mut random);
        let mut text = String::with_capacity(pages as usize * (PAGE_BYTES + 2_000));
        let mut ends = Vec::with_capacity(pages as usize);
        for number in 1..=pages {
            page(&mut text, &mut random, &words, number);
            ends.push(text.len());
        }
        let bytes = text.into_bytes();
        Self { sha256: digest_of(&bytes), bytes, ends }
    }

    /// Each page by itself.
    pub(super) fn pages(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.bytes[start..end])
    }
}

/// Made-up words of two to five syllables.
fn words(random: &mut SplitMix64) -> Vec<String> {
    const SYLLABLES: [&str; 32] = [
        "ar", "ben", "co", "dra", "el", "fi", "gor", "hu", "in", "ja", "ker", "lo", "mi", "nes", "or", "pla", "qui",
        "ro", "sta", "ti", "un", "ver", "wo", "xe", "yl", "za", "ing", "ter", "al", "e", "s", "ly",
    ];
    let word = |_| {
        let syllables = 2 + random.index(4);
        (0..syllables).map(|_| SYLLABLES[random.index(SYLLABLES.len())]).collect()
    };
    (0..4_000).map(word).collect()
}

/// A word; the first ones are much more frequent than the last, as in any language.
fn word<'a>(random: &mut SplitMix64, words: &'a [String]) -> &'a str {
    let below = random.index(words.len()) + 1;
    let below = random.index(below) + 1;
    &words[random.index(below)]
}

fn page(text: &mut String, random: &mut SplitMix64, words: &[String], number: u32) {
    let end = text.len() + PAGE_BYTES;
    let title = format!("{} {} {}", word(random, words), word(random, words), word(random, words));
    let _ = write!(
        text,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>{title} - page {number}</title>\n\
         <link rel=\"stylesheet\" href=\"/style/forum.css?v=7\">\n<script src=\"/js/forum.js\" defer></script>\n</head>\n<body>\n\
         <h1>{title}</h1>\n"
    );
    let mut quotable = 0..0;
    while text.len() < end {
        quotable = post(text, random, words, quotable);
    }
    text.push_str("<footer><a href=\"/rules\">Rules</a> <a href=\"/contact\">Contact</a></footer>\n</body>\n</html>\n");
}

/// One post. `quotable` is where a paragraph of the post before lies, which this one may quote; the result is the same of
/// this one.
fn post(text: &mut String, random: &mut SplitMix64, words: &[String], quotable: Range<usize>) -> Range<usize> {
    // Few people write most of it.
    let (id, author) = (random.index(9_000_000), random.index(200));
    let name = &words[author];
    let _ = write!(
        text,
        "<article class=\"post\" id=\"p{id}\">\n  <aside class=\"author\">\n    <a class=\"name\" href=\"/user/{author}\">{name}</a>\n    \
         <img class=\"avatar\" src=\"/avatars/{author}.jpg\" width=\"64\" height=\"64\" alt=\"{name}\">\n    \
         <dl><dt>Posts</dt><dd>{}</dd><dt>Registered</dt><dd>20{:02}</dd></dl>\n  </aside>\n  \
         <header><time datetime=\"2013-0{}-{:02}T{:02}:{:02}:{:02}+04:00\">#{}</time></header>\n  <div class=\"text\">\n",
        author * 37 % 5_000,
        author % 13,
        1 + random.index(9),
        1 + random.index(28),
        random.index(24),
        random.index(60),
        random.index(60),
        random.index(1_000),
    );
    if random.index(2) == 0 && !quotable.is_empty() {
        text.push_str("    <blockquote>");
        text.extend_from_within(quotable);
        text.push_str("</blockquote>\n");
    }
    let mut paragraph = 0..0;
    for _ in 0..=random.index(3) {
        text.push_str("    <p>");
        let start = text.len();
        for place in 0..8 + random.index(40) {
            if place > 0 {
                text.push(' ');
            }
            match random.index(60) {
                0 => {
                    let _ = write!(text, "<a href=\"/topic/{}\">{}</a>", random.index(100_000), word(random, words));
                }
                1 => {
                    let _ = write!(text, "<b>{}</b>", word(random, words));
                }
                2 => {
                    let _ = write!(text, "{}", random.index(1_000));
                }
                3 => text.push_str("&mdash;"),
                _ => text.push_str(word(random, words)),
            }
        }
        paragraph = start..text.len();
        text.push_str(".</p>\n");
    }
    let _ = write!(
        text,
        "  </div>\n  <p class=\"signature\">{} {} {}</p>\n  <footer>\n    <a href=\"/reply?to={id}\" class=\"button reply\">Reply</a>\n    \
         <a href=\"/quote?of={id}\" class=\"button quote\">Quote</a>\n    <a href=\"/report?post={id}\" class=\"button report\">Report</a>\n  \
         </footer>\n</article>\n",
        words[author * 3],
        words[author * 5],
        words[author * 7],
    );
    paragraph
}
