//! A drawing as a file of its own, for papers and other people's pages: SVG 1.1 with its own colours, generic fonts and text as text.
//!
//! What a drawing shows is laid out for the page already. Here it is put on a sheet of a fixed size, without the page's style sheet and its
//! stretching: programs that make PDF of SVG know neither `vector-effect` nor CSS variables.

use std::borrow::Cow;
use std::fmt::Write as _;

use anyhow::{Context as _, Result};
use quick_xml::Writer;
use quick_xml::events::{BytesEnd, BytesStart, BytesText, Event};
use unicode_width::UnicodeWidthStr as _;

use super::numbers::in_language;
use super::scale::{CANVAS, Mark, Tick};
use crate::words::language::Language;

/// Colours of lines, and how they are dashed so that they differ in print too. The same as on the page, on paper.
pub(super) const LINES: [(&str, &str); 6] = [
    ("#0072b2", ""),
    ("#009e73", "6 2"),
    ("#b35c00", "3 2"),
    ("#8d4f77", "8 2 2 2"),
    ("#5b6570", "2 3"),
    ("#9b2d3a", "10 3"),
];
/// Colours of a heat map from the lowest to the highest, and of the text over each.
pub(super) const HEAT: [(&str, &str); 7] = [
    ("#f1f6fb", INK),
    ("#d6e6f4", INK),
    ("#abcfe6", INK),
    ("#6fb0d7", INK),
    ("#2b7bba", PAPER),
    ("#135a9f", PAPER),
    ("#08306b", PAPER),
];
pub(super) const INK: &str = "#1b2127";
pub(super) const QUIET: &str = "#56616c";
pub(super) const RULE: &str = "#d9dee3";
pub(super) const PAPER: &str = "#ffffff";
pub(super) const BAD: &str = "#e69f00";
pub(super) const FAULT: &str = "#7d4e00";
pub(super) const RECOVERY: &str = "#00654a";

/// The size of text, and of smaller text, in units of the sheet.
pub(super) const TEXT: f64 = 12.0;
pub(super) const SMALL: f64 = 11.0;

/// A line's look.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stroke {
    pub(super) colour: &'static str,
    pub(super) width: f64,
    pub(super) dash: &'static str,
}

impl Stroke {
    pub(super) const fn plain(colour: &'static str, width: f64) -> Self {
        Self { colour, width, dash: "" }
    }

    /// That of the line with this number.
    pub(super) fn of_line(number: usize) -> Self {
        let (colour, dash) = LINES[number % LINES.len()];
        Self { colour, width: 1.25, dash }
    }
}

/// Where on a sheet a drawing's canvas is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

impl Place {
    /// From units of the canvas to those of the sheet.
    pub(super) fn x(self, x: f64) -> f64 {
        self.left + x / CANVAS.0 * self.width
    }

    pub(super) fn y(self, y: f64) -> f64 {
        self.top + y / CANVAS.1 * self.height
    }

    /// A path of the canvas on the sheet, in tenths of its units. Errors of rounding do not add up along it.
    pub(super) fn path(self, path: &str) -> String {
        let mut placed = String::with_capacity(path.len());
        let mut here = (0.0, 0.0);
        let mut written = (0i64, 0i64);
        let mut rest = path;
        let mut command = 'M';
        while let Some(first) = rest.chars().next() {
            if first.is_ascii_alphabetic() {
                command = first;
                rest = &rest[1..];
                continue;
            }
            if first == ' ' {
                rest = &rest[1..];
                continue;
            }
            let Some(one) = number(&mut rest) else { break };
            here = match command {
                'H' => (one, here.1),
                'h' => (here.0 + one, here.1),
                'V' => (here.0, one),
                'v' => (here.0, here.1 + one),
                _ => {
                    let Some(two) = number(&mut rest) else { break };
                    if command == 'l' { (here.0 + one, here.1 + two) } else { (one, two) }
                }
            };
            let there = ((self.x(here.0) * 10.0).round() as i64, (self.y(here.1) * 10.0).round() as i64);
            let _ = if command == 'M' {
                write!(placed, "M{} {}", tenths(there.0), tenths(there.1))
            } else {
                write!(placed, "l{} {}", tenths(there.0 - written.0), tenths(there.1 - written.1))
            };
            written = there;
            // What follows a move without a command of its own is a line.
            if command == 'M' {
                command = 'L';
            }
        }
        placed
    }
}

/// The number at the beginning of a path's rest, which it is taken from.
fn number(rest: &mut &str) -> Option<f64> {
    let trimmed = rest.trim_start_matches([' ', ',']);
    let end = trimmed
        .char_indices()
        .find(|(place, character)| {
            !(character.is_ascii_digit() || *character == '.' || (*place == 0 && *character == '-'))
        })
        .map_or(trimmed.len(), |(place, _)| place);
    let (number, after) = trimmed.split_at(end);
    *rest = after;
    number.parse().ok()
}

fn tenths(value: i64) -> f64 {
    value as f64 / 10.0
}

/// The sheet. What is put on it later covers what was there.
pub(super) struct Sheet {
    xml: Writer<Vec<u8>>,
    width: f64,
    language: Language,
}

impl Sheet {
    /// An empty sheet of this size, with a title and a description that are read aloud, in this language.
    pub(super) fn new(width: f64, height: f64, title: &str, description: &str, language: Language) -> Result<Self> {
        let mut sheet = Self { xml: Writer::new(Vec::new()), width, language };
        let mut root = BytesStart::new("svg");
        let size = [width, height].map(|size| size.ceil().to_string());
        root.extend_attributes([
            ("xmlns", "http://www.w3.org/2000/svg"),
            ("width", &*size[0]),
            ("height", &*size[1]),
            ("viewBox", &*format!("0 0 {} {}", size[0], size[1])),
            ("role", "img"),
            ("aria-labelledby", "title desc"),
            ("xml:lang", language.code()),
            ("font-family", "system-ui, 'Noto Sans', 'DejaVu Sans', Arial, sans-serif"),
        ]);
        sheet.xml.write_event(Event::Start(root))?;
        sheet.named("title", "title", title)?;
        sheet.named("desc", "desc", description)?;
        sheet
            .xml
            .create_element("rect")
            .with_attributes([("width", "100%"), ("height", "100%"), ("fill", PAPER)])
            .write_empty()?;
        Ok(sheet)
    }

    fn named(&mut self, element: &str, id: &str, text: &str) -> Result<()> {
        self.xml.create_element(element).with_attribute(("id", id)).write_text_content(BytesText::new(&valid(text)))?;
        Ok(())
    }

    /// A filled rectangle; `opacity` from 0 to 1.
    pub(super) fn rectangle(&mut self, place: Place, fill: &str, opacity: f64) -> Result<()> {
        let [x, y, width, height] = [place.left, place.top, place.width, place.height].map(short);
        let mut element = self.xml.create_element("rect").with_attributes([
            ("x", &*x),
            ("y", &*y),
            ("width", &*width),
            ("height", &*height),
            ("fill", fill),
        ]);
        if opacity < 1.0 {
            element = element.with_attribute(("fill-opacity", &*opacity.to_string()));
        }
        element.write_empty()?;
        Ok(())
    }

    /// A line along a path of the sheet.
    pub(super) fn path(&mut self, path: &str, stroke: Stroke) -> Result<()> {
        if path.is_empty() {
            return Ok(());
        }
        let mut element = self.xml.create_element("path").with_attributes([
            ("d", path),
            ("fill", "none"),
            ("stroke", stroke.colour),
            ("stroke-width", &*stroke.width.to_string()),
            ("stroke-linejoin", "round"),
        ]);
        if !stroke.dash.is_empty() {
            element = element.with_attribute(("stroke-dasharray", stroke.dash));
        }
        element.write_empty()?;
        Ok(())
    }

    /// What a path of the sheet encloses; `opacity` from 0 to 1.
    pub(super) fn area(&mut self, path: &str, fill: &str, opacity: f64) -> Result<()> {
        let mut element = self.xml.create_element("path").with_attributes([("d", path), ("fill", fill)]);
        if opacity < 1.0 {
            element = element.with_attribute(("fill-opacity", &*opacity.to_string()));
        }
        element.write_empty()?;
        Ok(())
    }

    /// A dot, hollow if it does not count; its title is shown where the pointer rests on it.
    pub(super) fn dot(&mut self, (x, y): (f64, f64), colour: &str, hollow: bool, title: &str) -> Result<()> {
        let (x, y) = (short(x), short(y));
        let circle = [
            ("cx", &*x),
            ("cy", &*y),
            ("r", if hollow { "3.25" } else { "4" }),
            ("fill", if hollow { PAPER } else { colour }),
            ("stroke", colour),
            ("stroke-width", if hollow { "1.5" } else { "0" }),
        ];
        self.xml.create_element("circle").with_attributes(circle).write_inner_content(|inner| {
            inner.create_element("title").write_text_content(BytesText::new(&valid(title)))?;
            Ok(())
        })?;
        Ok(())
    }

    /// Text at a place; `anchor` is `start`, `middle` or `end`.
    pub(super) fn text(&mut self, (x, y): (f64, f64), anchor: &str, size: f64, fill: &str, text: &str) -> Result<()> {
        let (x, y) = (short(x), short(y));
        let weight = if size > TEXT { "600" } else { "400" };
        self.xml
            .create_element("text")
            .with_attributes([
                ("x", &*x),
                ("y", &*y),
                ("text-anchor", anchor),
                ("font-size", &*size.to_string()),
                ("font-weight", weight),
                ("fill", fill),
            ])
            .write_text_content(BytesText::new(&valid(text)))?;
        Ok(())
    }

    /// Lines of quiet text, one below the other.
    pub(super) fn lines(&mut self, at: (f64, f64), lines: &[String]) -> Result<()> {
        for (number, line) in lines.iter().enumerate() {
            self.text((at.0, at.1 + number as f64 * KEY_LINE), "start", SMALL, QUIET, line)?;
        }
        Ok(())
    }

    /// Text that is made of figures with their units, as the sheet's language writes them.
    pub(super) fn figure(&mut self, at: (f64, f64), anchor: &str, size: f64, fill: &str, text: &str) -> Result<()> {
        let text = in_language(text, self.language);
        self.text(at, anchor, size, fill, &text)
    }

    /// The two axes of a drawing, and the rules and figures of the upright one.
    pub(super) fn frame(&mut self, ticks: &[Tick], place: Place) -> Result<()> {
        for tick in ticks {
            self.path(&place.path(&format!("M0 {}h4000", tick.y)), Stroke::plain(RULE, 1.0))?;
            self.figure((place.left - 8.0, place.y(tick.y) + 4.0), "end", SMALL, QUIET, &tick.label)?;
        }
        self.path(&place.path("M0 0v1000h4000"), Stroke::plain(QUIET, 1.0))
    }

    /// The figures of the level axis below a drawing.
    pub(super) fn across(&mut self, marks: &[Mark], place: Place) -> Result<()> {
        for mark in marks {
            self.figure((place.x(mark.x), place.top + place.height + 18.0), "middle", SMALL, QUIET, &mark.label)?;
        }
        Ok(())
    }

    /// Names of lines with a piece of each, beginning at a place and going on in lines below it, from `left` on; `filled` for areas.
    /// [`key_lines`] says how many lines that takes. A name that is wider than the sheet is cut.
    pub(super) fn key(&mut self, at: (f64, f64), left: f64, names: &[&str], filled: bool) -> Result<()> {
        for (number, (name, (x, line))) in names.iter().zip(key_places(names, at.0, left, self.width)).enumerate() {
            let y = at.1 + line as f64 * KEY_LINE;
            let stroke = Stroke::of_line(number);
            if filled {
                self.rectangle(Place { left: x, top: y - 9.0, width: 18.0, height: 9.0 }, stroke.colour, 1.0)?;
            } else {
                self.path(&format!("M{} {}h22", short(x), short(y - 4.0)), Stroke { width: 1.75, ..stroke })?;
            }
            let room = (self.width - x - KEY_PIECE - KEY_MARGIN).max(0.0);
            self.text((x + KEY_PIECE, y), "start", SMALL, INK, &fitting(name, SMALL, room))?;
        }
        Ok(())
    }

    /// The sheet as a file.
    pub(super) fn finish(mut self) -> Result<String> {
        self.xml.write_event(Event::End(BytesEnd::new("svg")))?;
        let text = String::from_utf8(self.xml.into_inner()).context("a drawing is no text")?;
        Ok(format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{text}\n"))
    }
}

/// The distance of a key's lines.
pub(super) const KEY_LINE: f64 = 16.0;
/// What stands before a name of a key, with the space behind it; and what is left free at the sheet's edge.
const KEY_PIECE: f64 = 27.0;
const KEY_MARGIN: f64 = 8.0;

/// Where the names of a key stand that begins at `first`: from the left, and in which line.
fn key_places(names: &[&str], first: f64, left: f64, sheet_width: f64) -> Vec<(f64, usize)> {
    let (mut x, mut line) = (first, 0);
    let place = |name: &&str| {
        let width = KEY_PIECE + width_of(name, SMALL);
        if x + width > sheet_width - KEY_MARGIN && x > left {
            (x, line) = (left, line + 1);
        }
        let place = (x, line);
        x += width + 16.0;
        place
    };
    names.iter().map(place).collect()
}

/// How many lines [`Sheet::key`] takes.
pub(super) fn key_lines(names: &[&str], first: f64, left: f64, sheet_width: f64) -> usize {
    key_places(names, first, left, sheet_width).last().map_or(0, |(_, line)| line + 1)
}

/// About how wide a text is. What font it will be drawn with is not known, so a little more than most take.
pub(super) fn width_of(text: &str, size: f64) -> f64 {
    text.width() as f64 * size * 0.6
}

/// A text in lines that are no wider than so many units.
pub(super) fn wrapped_to(text: &str, size: f64, width: f64) -> Vec<String> {
    super::grid::wrap(text, (width / size / 0.6) as usize)
}

/// As much of a text as fits into so many units.
pub(super) fn fitting(text: &str, size: f64, width: f64) -> Cow<'_, str> {
    if width_of(text, size) <= width {
        return Cow::Borrowed(text);
    }
    let room = (width / size / 0.6) as usize;
    Cow::Owned(text.chars().take(room.saturating_sub(1)).chain(['…']).collect())
}

/// A coordinate without digits that nobody sees.
fn short(value: f64) -> String {
    ((value * 10.0).round() / 10.0).to_string()
}

/// A text without characters that XML cannot hold, such as what ends a line in an instrument's output.
fn valid(text: &str) -> Cow<'_, str> {
    let invalid = |character: char| {
        (character < ' ' && !matches!(character, '\t' | '\n' | '\r')) || matches!(character, '\u{fffe}' | '\u{ffff}')
    };
    if text.contains(invalid) { Cow::Owned(text.replace(invalid, "\u{fffd}")) } else { Cow::Borrowed(text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_of_the_canvas_keeps_its_shape_on_the_sheet() {
        let place = Place { left: 100.0, top: 50.0, width: 400.0, height: 200.0 };
        assert_eq!(place.path("M0 1000l2000-1000 2000 1000"), "M100 250l200 -200l200 200");
        assert_eq!(place.path("M1992 500h16"), "M299.2 150l1.6 0");
        assert_eq!(place.path("M0 0L4000 500M1000 250V750H2000"), "M100 50l400 100M200 100l0 100l100 0");
        assert_eq!(place.path(""), "");
    }

    #[test]
    fn errors_of_rounding_do_not_add_up() {
        let place = Place { left: 0.0, top: 0.0, width: 333.0, height: 77.0 };
        let steps = "1 1 ".repeat(999);
        let placed = place.path(&format!("M0 0l{steps}"));
        let ends = placed.split('l').skip(1).fold((0.0, 0.0), |sum, step| {
            let (dx, dy) = step.split_once(' ').unwrap();
            (sum.0 + dx.parse::<f64>().unwrap(), sum.1 + dy.parse::<f64>().unwrap())
        });
        assert!((ends.0 - place.x(999.0)).abs() < 0.06 && (ends.1 - place.y(999.0)).abs() < 0.06, "{ends:?}");
    }

    #[test]
    fn whatever_a_text_holds_the_file_is_xml() {
        let mut sheet = Sheet::new(10.0, 10.0, "<a> & \"b\"", "\u{1}\u{ffff}я", Language::Russian).unwrap();
        sheet.text((1.0, 2.0), "start", TEXT, INK, "]]> <script>").unwrap();
        let text = sheet.finish().unwrap();
        assert!(text.contains("&lt;a&gt; &amp;") && !text.contains("<script>") && !text.contains('\u{1}'), "{text}");
        let mut reader = quick_xml::Reader::from_str(&text);
        while !matches!(reader.read_event().unwrap(), Event::Eof) {}
    }

    #[test]
    fn every_line_has_a_look_of_its_own_on_the_page_too() {
        let looks: std::collections::BTreeSet<_> = LINES.iter().collect();
        assert_eq!(looks.len(), LINES.len());
        for (number, (colour, dash)) in LINES.iter().enumerate() {
            let of = |class: &str| format!(".{class}.k{number} {{");
            for class in ["line", "key", "area"] {
                assert!(crate::html::STYLE.contains(&of(class)), "{}", of(class));
            }
            assert!(crate::html::STYLE.contains(&format!("--k{number}: {colour};")), "{colour}");
            assert!(dash.is_empty() || crate::html::STYLE.contains(&format!("stroke-dasharray: {dash};")), "{dash}");
        }
    }

    #[test]
    fn a_key_goes_on_below_and_stays_on_the_sheet() {
        let names = ["short", "another one that is longer", "a name that is much longer than the sheet is wide"];
        let mut sheet = Sheet::new(220.0, 20.0, "a", "b", Language::English).unwrap();
        sheet.key((100.0, 10.0), 10.0, &names, false).unwrap();
        let text = sheet.finish().unwrap();
        assert_eq!(key_lines(&names, 100.0, 10.0, 220.0), 3);
        assert!(text.contains(">short<") && text.contains(">another one that is longer<"), "{text}");
        assert!(text.contains("y=\"42\"") && text.contains("…<") && !text.contains("wide"), "{text}");
        assert_eq!(key_lines(&[], 100.0, 10.0, 220.0), 0);
    }

    #[test]
    fn a_text_that_is_too_long_is_cut() {
        assert_eq!(fitting("short", 10.0, 100.0), "short");
        assert_eq!(fitting("much too long", 10.0, 36.0), "much …");
    }
}
