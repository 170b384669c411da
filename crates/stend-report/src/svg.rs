//! Marks as SVG, on the page and on paper.
//!
//! On the page what a mark stands for is its class, and the style sheet says how that looks on a light page, on a dark one and in print.
//! On paper it is the same look as attributes: programs that make PDF of SVG know neither style sheets with variables nor `vector-effect`.

use std::borrow::Cow;
use std::fmt::{self, Write as _};

use super::phrase::{Escaped, Phrase};
use super::scene::{Description, Mark, Path, Place, Point, Role, Scene, Shape};
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
const HEAT: [(&str, &str); 7] = [
    ("#f1f6fb", INK),
    ("#d6e6f4", INK),
    ("#abcfe6", INK),
    ("#6fb0d7", INK),
    ("#2b7bba", PAPER),
    ("#135a9f", PAPER),
    ("#08306b", PAPER),
];
const INK: &str = "#1b2127";
const QUIET: &str = "#56616c";
const RULE: &str = "#d9dee3";
pub(super) const PAPER: &str = "#ffffff";
const BAD: &str = "#e69f00";
const FAULT: &str = "#7d4e00";
const RECOVERY: &str = "#00654a";
const OTHER: &str = "#9aa6b2";

/// The size of a title, of text, and of smaller text, in units of a sheet.
pub(super) const TITLE: f64 = 15.0;
pub(super) const TEXT: f64 = 12.0;
pub(super) const SMALL: f64 = 11.0;

/// Where marks are written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Look {
    /// In a page, which has all languages.
    Page,
    /// In a file of its own, in one.
    Paper(Language),
}

/// The elements of these marks. What comes later covers what was there.
pub(super) fn elements(marks: &[Mark], look: Look) -> String {
    let mut pen = Pen { out: String::new(), look };
    marks.iter().for_each(|mark| pen.mark(mark));
    pen.out
}

impl Scene {
    /// What stands in its element on the page: what is heard of it, and its marks.
    pub(super) fn elements(&self) -> String {
        let mut pen = Pen { out: String::new(), look: Look::Page };
        pen.named("title", &format!("{}t", self.id), &self.title);
        if let Description::Within(words) = &self.description {
            pen.named("desc", &format!("{}d", self.id), words);
        }
        self.marks.iter().for_each(|mark| pen.mark(mark));
        pen.out
    }
}

struct Pen {
    out: String,
    look: Look,
}

impl Pen {
    fn mark(&mut self, mark: &Mark) {
        let title = mark.title.as_ref();
        match (&mark.shape, self.look) {
            // The borders of its place are the page's axes: they stay where they are when a part of a drawing is looked at closer.
            (_, Look::Page) if mark.role == Role::Axis => {}
            (Shape::Path(path), _) => {
                let data = data(path);
                if !data.is_empty() {
                    self.element("path", mark.role, format_args!(" d=\"{data}\""), title, "");
                }
            }
            (Shape::Rectangle(Place { left, top, width, height }), _) => {
                let [left, top, width, height] = [left, top, width, height].map(|size| short(*size));
                let place = format_args!(" x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{height}\"");
                self.element("rect", mark.role, place, title, "");
            }
            // The end of a line is round however the drawing is stretched, a circle is not.
            (Shape::Dot((x, y)), Look::Page) => {
                let dot = format!("d=\"M{} {}h.01\"/>", short(*x), short(*y));
                let hole = if mark.role.is_hollow() { format!("<path class=\"hole\" {dot}") } else { String::new() };
                self.element("g", mark.role, format_args!(""), title, &format!("<path {dot}{hole}"));
                self.out.push('\n');
            }
            (Shape::Dot((x, y)), Look::Paper(_)) => {
                let radius = if mark.role.is_hollow() { 3.25 } else { 4.0 };
                let place = format_args!(" cx=\"{}\" cy=\"{}\" r=\"{radius}\"", short(*x), short(*y));
                self.element("circle", mark.role, place, title, "");
            }
            (Shape::Text { at, anchor, text }, _) => self.text(*at, anchor, mark.role, text),
            (Shape::Group(marks), _) => {
                self.element("g", mark.role, format_args!(""), title, &elements(marks, self.look));
                self.out.push('\n');
            }
        }
    }

    /// The beginning of an element's tag.
    fn begin(&mut self, name: &str, role: Role, place: fmt::Arguments) {
        let (class, paint) = role.look();
        let _ = match self.look {
            Look::Page if class.is_empty() => write!(self.out, "<{name}{place}"),
            Look::Page => write!(self.out, "<{name} class=\"{class}\"{place}"),
            Look::Paper(_) => write!(self.out, "<{name}{paint}{place}"),
        };
    }

    /// An element with its title and what is in it.
    fn element(&mut self, name: &str, role: Role, place: fmt::Arguments, title: Option<&Phrase>, content: &str) {
        self.begin(name, role, place);
        if title.is_none() && content.is_empty() {
            self.out.push_str("/>");
            return;
        }
        self.out.push('>');
        if let Some(title) = title {
            self.out.push_str("<title");
            self.words(title);
            self.out.push_str("</title>");
        }
        let _ = write!(self.out, "{content}</{name}>");
    }

    fn named(&mut self, element: &str, id: &str, words: &Phrase) {
        let _ = write!(self.out, "<{element} id=\"{id}\"");
        self.words(words);
        let _ = write!(self.out, "</{element}>");
    }

    /// The end of a tag and the words in it: on a page those of all languages as attributes too.
    fn words(&mut self, words: &Phrase) {
        let _ = match self.look {
            Look::Page => write!(self.out, "{}>{}", words.attributes(), Escaped(words.english())),
            Look::Paper(language) => write!(self.out, ">{}", Escaped(&valid(words.say(language)))),
        };
    }

    fn text(&mut self, (x, y): Point, anchor: &str, role: Role, text: &Phrase) {
        self.begin("text", role, format_args!(" x=\"{}\" y=\"{}\"", short(x), short(y)));
        if anchor != "start" {
            let _ = write!(self.out, " text-anchor=\"{anchor}\"");
        }
        self.words(text);
        self.out.push_str("</text>");
    }
}

/// A path in tenths of the units it is in, as steps from point to point: about six bytes a point. Errors of rounding do not add up along it.
fn data(path: &Path) -> String {
    let mut data = String::new();
    for line in path {
        let mut here = None;
        for (number, (x, y)) in line.iter().map(|(x, y)| (tenths(*x), tenths(*y))).enumerate() {
            // A sign parts two numbers as a space does.
            let space = |number: i64| if number < 0 { "" } else { " " };
            let _ = match here {
                None => write!(data, "M{} {}", Tenths(x), Tenths(y)),
                Some((left, top)) => {
                    let (dx, dy) = (x - left, y - top);
                    let before = if number == 1 { "l" } else { space(dx) };
                    write!(data, "{before}{}{}{}", Tenths(dx), space(dy), Tenths(dy))
                }
            };
            here = Some((x, y));
        }
    }
    data
}

fn tenths(value: f64) -> i64 {
    (value * 10.0).round() as i64
}

/// So many tenths. A page has a hundred thousand of these, most of them whole.
struct Tenths(i64);

impl fmt::Display for Tenths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 % 10 == 0 { (self.0 / 10).fmt(f) } else { (self.0 as f64 / 10.0).fmt(f) }
    }
}

/// A coordinate without digits that nobody sees.
fn short(value: f64) -> Tenths {
    Tenths(tenths(value))
}

/// How a mark looks on paper.
#[derive(Default)]
struct Paint {
    /// The colour of an area or a text, and how much it covers, from 0 to 1.
    fill: Option<(&'static str, f64)>,
    /// The colour of a line, its width, and how it is dashed.
    stroke: Option<(&'static str, f64, &'static str)>,
    /// The size of a text.
    size: Option<f64>,
}

impl Paint {
    fn area(colour: &'static str, opacity: f64) -> Self {
        Self { fill: Some((colour, opacity)), ..Self::default() }
    }

    fn text(size: f64, colour: &'static str) -> Self {
        Self { size: Some(size), ..Self::area(colour, 1.0) }
    }

    fn line(colour: &'static str, width: f64) -> Self {
        Self::default().outlined(colour, width, "")
    }

    /// The line with this number.
    fn of_key(number: usize, width: f64) -> Self {
        Self::default().outlined(of_line(number).0, width, of_line(number).1)
    }

    fn outlined(self, colour: &'static str, width: f64, dash: &'static str) -> Self {
        Self { stroke: Some((colour, width, dash)), ..self }
    }

    fn dot(colour: &'static str, hollow: bool) -> Self {
        if hollow { Self::area(PAPER, 1.0).outlined(colour, 1.5, "") } else { Self::area(colour, 1.0) }
    }
}

impl fmt::Display for Paint {
    /// As attributes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(size) = self.size {
            write!(f, " font-size=\"{size}\"{}", if size > TEXT { " font-weight=\"600\"" } else { "" })?;
        }
        match self.fill {
            Some((colour, 1.0)) => write!(f, " fill=\"{colour}\"")?,
            Some((colour, opacity)) => write!(f, " fill=\"{colour}\" fill-opacity=\"{opacity}\"")?,
            None if self.stroke.is_some() => f.write_str(" fill=\"none\"")?,
            None => {}
        }
        let Some((colour, width, dash)) = self.stroke else { return Ok(()) };
        write!(f, " stroke=\"{colour}\" stroke-width=\"{width}\"")?;
        if dash.is_empty() { Ok(()) } else { write!(f, " stroke-dasharray=\"{dash}\"") }
    }
}

impl Role {
    /// The class on the page, which is empty where the style sheet knows it by where it is, or it stands on sheets alone; and the look on
    /// paper.
    fn look(self) -> (Cow<'static, str>, Paint) {
        let blue = LINES[0].0;
        let class = |class: &str, of: &str| Cow::Owned(format!("{class} {of}"));
        let of_key = |class: &str, number: usize| Cow::Owned(format!("{class} k{}", number % LINES.len()));
        match self {
            Self::Axis => ("".into(), Paint::line(QUIET, 1.0)),
            Self::Border => ("border".into(), Paint::line(QUIET, 1.0)),
            Self::Rule => ("rule".into(), Paint::line(RULE, 1.0)),
            Self::Median => ("median".into(), Paint::line(blue, 1.5)),
            Self::Interval => ("interval".into(), Paint::area(blue, 0.13)),
            Self::Level => ("level".into(), Paint::default().outlined(QUIET, 1.5, "6 3")),
            Self::Aside => ("aside".into(), Paint::area(QUIET, 0.1)),
            Self::Count => ("count".into(), Paint::area(blue, 1.0).outlined(PAPER, 1.0, "")),
            Self::Bar { own } => {
                (if own { "whose own" } else { "whose" }.into(), Paint::area(if own { blue } else { OTHER }, 1.0))
            }
            Self::Effect { verdict, hollow } => (class("effect", verdict), Paint::dot(of_flag(verdict), hollow)),
            Self::EffectInterval(verdict) => (class("effect", verdict), Paint::line(of_flag(verdict), 2.0)),
            Self::BarInterval => ("reach".into(), Paint::line(INK, 1.5)),
            Self::Line(number) => (of_key("line", number), Paint::of_key(number, 1.25)),
            Self::Outline(number) => {
                let fill = Some((of_line(number).0, 0.15));
                (of_key("line filled", number), Paint { fill, ..Paint::of_key(number, 1.25) })
            }
            Self::Area(number) => (of_key("area", number), Paint::area(of_line(number).0, 1.0)),
            Self::Whisker(number) => (of_key("whisker", number), Paint::line(of_line(number).0, 1.0)),
            Self::KeyLine(number) => ("".into(), Paint::of_key(number, 1.75)),
            Self::KeyArea(number) => ("".into(), Paint::area(of_line(number).0, 1.0)),
            Self::Dot { line, hollow } => (of_key("dot", line), Paint::dot(of_line(line).0, hollow)),
            Self::Repeat(standing) => {
                let colour = match standing {
                    "valid" => blue,
                    "warmup" => LINES[4].0,
                    _ => BAD,
                };
                (class("dot", standing), Paint::dot(colour, self.is_hollow()))
            }
            Self::Band(standing) => {
                let paint = match standing {
                    "warmup" => Paint::area(QUIET, 0.06),
                    "invalid" | "failed" => Paint::area(BAD, 0.2),
                    _ => Paint::default(),
                };
                (class("band", standing), paint.outlined(RULE, 1.0, ""))
            }
            Self::Flag(what) => {
                let dash = match what {
                    "phase" => "4 3",
                    "recovery" => "9 3",
                    _ => "",
                };
                (class("flag", what), Paint::default().outlined(of_flag(what), 1.5, dash))
            }
            Self::FlagGround(what) => ("".into(), Paint::area(of_flag(what), 1.0)),
            Self::Heat(step) => (step.map_or("".into(), |step| format!("h{step}").into()), Paint::default()),
            // Paper between the figures.
            Self::HeatGround(step) => ("".into(), Paint::area(of_step(step).0, 1.0).outlined(PAPER, 2.0, "")),
            Self::HeatFigure(step) => ("".into(), Paint::text(TEXT, of_step(step).1)),
            Self::HeatVerdict(step) => ("small".into(), Paint::text(SMALL, of_step(step).1)),
            Self::HeatLabel => ("label".into(), Paint::text(TEXT, QUIET)),
            Self::Title => ("".into(), Paint::text(TITLE, INK)),
            Self::PartTitle => ("".into(), Paint::text(TEXT, INK)),
            Self::Said => ("".into(), Paint::text(SMALL, INK)),
            Self::Quiet => ("".into(), Paint::text(SMALL, QUIET)),
            Self::OnFlag => ("".into(), Paint::text(TEXT, PAPER)),
            Self::FlagNumber => ("".into(), Paint::text(SMALL, PAPER)),
        }
    }

    /// Whether a dot is drawn hollow: it is not one of those that the drawing is about.
    fn is_hollow(self) -> bool {
        match self {
            Self::Dot { hollow, .. } | Self::Effect { hollow, .. } => hollow,
            Self::Repeat(standing) => standing != "valid",
            _ => false,
        }
    }
}

fn of_line(number: usize) -> (&'static str, &'static str) {
    LINES[number % LINES.len()]
}

fn of_flag(what: &str) -> &'static str {
    match what {
        "recovery" | "better" => RECOVERY,
        "fault" | "gate" | "worse" => FAULT,
        _ => QUIET,
    }
}

fn of_step(step: Option<usize>) -> (&'static str, &'static str) {
    step.map_or((PAPER, QUIET), |step| HEAT[step])
}

/// A text without characters that XML cannot hold, such as what ends a line in an instrument's output.
pub(super) fn valid(text: &str) -> Cow<'_, str> {
    let invalid = |character: char| {
        (character < ' ' && !matches!(character, '\t' | '\n' | '\r')) || matches!(character, '\u{fffe}' | '\u{ffff}')
    };
    if text.contains(invalid) { Cow::Owned(text.replace(invalid, "\u{fffd}")) } else { Cow::Borrowed(text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_written_as_steps() {
        let corners = vec![(0.0, 1000.0), (2000.0, 0.0), (4000.0, 1000.0)];
        let others = vec![(0.5, 9.0), (0.0, 9.0), (0.0, 5.26)];
        assert_eq!(data(&vec![corners, others, vec![]]), "M0 1000l2000-1000 2000 1000M0.5 9l-0.5 0 0-3.7");
    }

    #[test]
    fn errors_of_rounding_do_not_add_up() {
        let line = (0..1000).map(|step| (f64::from(step) * 3.33, f64::from(step) * 1.77)).collect();
        let data = data(&vec![line]);
        let steps: Vec<f64> = data.trim_start_matches("M0 0l").split(' ').map(|step| step.parse().unwrap()).collect();
        let ends = steps.chunks(2).fold((0.0, 0.0), |end, step| (end.0 + step[0], end.1 + step[1]));
        assert!((ends.0 - 999.0 * 3.33).abs() < 0.06 && (ends.1 - 999.0 * 1.77).abs() < 0.06, "{ends:?}");
    }

    #[test]
    fn every_line_has_a_look_of_its_own_on_the_page_too() {
        let style = crate::html::STYLE;
        let looks: std::collections::BTreeSet<_> = LINES.iter().collect();
        assert_eq!(looks.len(), LINES.len());
        for (number, (colour, dash)) in LINES.iter().enumerate() {
            for class in ["line", "key", "area"] {
                assert!(style.contains(&format!(".{class}.k{number} {{")), "{class} {number}");
            }
            assert!(style.contains(&format!("--k{number}: {colour};")), "{colour}");
            assert!(dash.is_empty() || style.contains(&format!("stroke-dasharray: {dash};")), "{dash}");
        }
    }
}
