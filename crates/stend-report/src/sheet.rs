//! A drawing as a file of its own, for papers and other people's pages: SVG 1.1 with its own colours, generic fonts and text as text.
//!
//! What a drawing shows is laid out for the page already. Here it is put on a sheet of a fixed size, with the texts that the page has beside
//! its drawings.

use std::borrow::Cow;

use unicode_width::UnicodeWidthStr as _;

use super::numbers::figure;
use super::phrase::Escaped;
use super::scene::{Mark, Place, Point, Role, Scene, Shape, level};
use super::svg::{Look, PAPER, SMALL, elements, valid};
use crate::words::language::Language;

/// The sheet. What is put on it later covers what was there.
pub(super) struct Sheet {
    marks: Vec<Mark>,
    size: [f64; 2],
    title: String,
    description: String,
    language: Language,
}

impl Sheet {
    /// An empty sheet of this size, with a title and a description that are read aloud, in this language.
    pub(super) fn new(width: f64, height: f64, title: &str, description: &str, language: Language) -> Self {
        let (title, description) = (title.to_owned(), description.to_owned());
        Self { marks: Vec::new(), size: [width.ceil(), height.ceil()], title, description, language }
    }

    pub(super) fn push(&mut self, role: Role, shape: Shape) {
        self.marks.push(Mark::new(role, shape));
    }

    /// Text at a place; `anchor` is `start`, `middle` or `end`.
    pub(super) fn text(&mut self, at: Point, anchor: &'static str, role: Role, text: &str) {
        self.marks.push(Mark::text(role, at, anchor, text.into()));
    }

    /// Text that is made of figures with their units, as the sheet's language writes them.
    pub(super) fn figure(&mut self, at: Point, anchor: &'static str, role: Role, text: &str) {
        self.marks.push(Mark::text(role, at, anchor, figure(text)));
    }

    /// Lines of quiet text, one below the other.
    pub(super) fn lines(&mut self, at: Point, lines: &[String]) {
        for (number, line) in lines.iter().enumerate() {
            self.text((at.0, at.1 + number as f64 * KEY_LINE), "start", Role::Quiet, line);
        }
    }

    /// A drawing at its place, with the figures of its axes.
    pub(super) fn draw(&mut self, scene: &Scene, place: Place) {
        self.marks.extend(scene.marks.iter().map(|mark| mark.moved(&|point| place.at(point))));
        for (at, label) in &scene.labels {
            // Over the point stands the bar of its interval.
            let (label, (x, y)) = (label.say(self.language), place.at(*at));
            let is_at_the_edge = x + 7.0 + width_of(label, SMALL) > self.size[0] - 4.0;
            let (x, anchor) = if is_at_the_edge { (x - 7.0, "end") } else { (x + 7.0, "start") };
            self.text((x, y - 7.0), anchor, Role::Quiet, label);
        }
        for tick in &scene.ticks {
            self.figure((place.left - 8.0, place.y(tick.y()) + 4.0), "end", Role::Quiet, &tick.label);
        }
        for notch in &scene.across {
            self.figure((place.x(notch.x()), place.top + place.height + 18.0), "middle", Role::Quiet, &notch.label);
        }
    }

    /// Marks that are as large here as they are laid out, from this place on.
    pub(super) fn draw_as_it_is(&mut self, marks: &[Mark], (left, top): Point) {
        self.marks.extend(marks.iter().map(|mark| mark.moved(&|(x, y)| (left + x, top + y))));
    }

    /// Names of lines with a piece of each, beginning at a place and going on in lines below it, from `left` on; `filled` for areas.
    /// [`key_lines`] says how many lines that takes. A name that is wider than the sheet is cut.
    pub(super) fn key(&mut self, at: Point, left: f64, names: &[&str], filled: bool) {
        let width = self.size[0];
        for (number, (name, (x, line))) in names.iter().zip(key_places(names, at.0, left, width)).enumerate() {
            let y = at.1 + line as f64 * KEY_LINE;
            if filled {
                let piece = Place { left: x, top: y - 9.0, width: 18.0, height: 9.0 };
                self.push(Role::KeyArea(number), Shape::Rectangle(piece));
            } else {
                self.push(Role::KeyLine(number), level(x, x + 22.0, y - 4.0));
            }
            let room = (width - x - KEY_PIECE - KEY_MARGIN).max(0.0);
            self.text((x + KEY_PIECE, y), "start", Role::Said, &fitting(name, SMALL, room));
        }
    }

    /// The sheet as a file.
    pub(super) fn finish(self) -> String {
        let [width, height] = self.size;
        let (language, [title, description]) = (self.language.code(), [valid(&self.title), valid(&self.description)]);
        let (title, description) = (Escaped(&title), Escaped(&description));
        let marks = elements(&self.marks, Look::Paper(self.language));
        format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
             <svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
             role=\"img\" aria-labelledby=\"title desc\" xml:lang=\"{language}\" \
             font-family=\"system-ui, 'Noto Sans', 'DejaVu Sans', Arial, sans-serif\" stroke-linejoin=\"round\">\
             <title id=\"title\">{title}</title><desc id=\"desc\">{description}</desc>\
             <rect width=\"100%\" height=\"100%\" fill=\"{PAPER}\"/>{marks}</svg>\n"
        )
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_a_text_holds_the_file_is_xml() {
        let mut sheet = Sheet::new(10.0, 10.0, "<a> & \"b\"", "\u{1}\u{ffff}я", Language::Russian);
        sheet.text((1.0, 2.0), "start", Role::Said, "]]> <script>");
        let text = sheet.finish();
        assert!(text.contains("&lt;a&gt; &amp;") && !text.contains("<script>") && !text.contains('\u{1}'), "{text}");
        let mut reader = quick_xml::Reader::from_str(&text);
        while !matches!(reader.read_event().unwrap(), quick_xml::events::Event::Eof) {}
    }

    #[test]
    fn a_key_goes_on_below_and_stays_on_the_sheet() {
        let names = ["short", "another one that is longer", "a name that is much longer than the sheet is wide"];
        let mut sheet = Sheet::new(220.0, 20.0, "a", "b", Language::English);
        sheet.key((100.0, 10.0), 10.0, &names, false);
        let text = sheet.finish();
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
