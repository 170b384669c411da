//! A history as a drawing: a dot a run with the interval of its median, a line for each level, and a numbered flag for each change.

use super::words::{causes, headline, notes, subject, title};
use super::{columns, mark_and_size};
use crate::numbers::{figure, in_language};
use crate::phrase::Phrase;
use crate::scale::{CANVAS, Scale, Tick, padded, ticks};
use crate::scene::{Description, Place, Role, Scene, Shape, upright};
use crate::sheet::{Sheet, fitting, width_of, wrapped_to};
use crate::svg::{SMALL, TEXT, TITLE};
use crate::texts::{TEXTS, with_axis};
use crate::words::language::Language;
use stend_compare::history::{Change, History, Point};

/// The drawing, laid out on the canvas.
pub(super) struct HistoryDrawing {
    pub(super) flags: Vec<HistoryFlag>,
    pub(super) caption: Phrase,
    pub(super) scene: Scene,
}

/// One change.
pub(super) struct HistoryFlag {
    pub(super) number: usize,
    pub(super) x: f64,
    /// The same in hundredths of the width.
    pub(super) percent: f64,
    /// `better` or `worse`.
    pub(super) class: &'static str,
    /// The mark and by how much.
    pub(super) size: String,
    pub(super) headline: Phrase,
    pub(super) causes: Vec<Phrase>,
}

/// Lays it out; `None` without any run. Runs stand at equal distances in the order of time: what changes is looked for between one run and
/// the next, however long nobody measured.
pub(super) fn drawing(history: &History) -> Option<HistoryDrawing> {
    let ends = |point: &Point| {
        let (low, high) = point.interval.unwrap_or((point.median, point.median));
        [low, high, point.median]
    };
    let values: Vec<f64> = history.points.iter().flat_map(ends).filter(|value| value.is_finite()).collect();
    let low = values.iter().copied().reduce(f64::min)?;
    let high = values.iter().copied().reduce(f64::max)?;
    let (bottom, top) = padded(low, high);
    let y = |value: f64| ((top - value) / (top - bottom) * CANVAS.1).round().clamp(0.0, CANVAS.1);
    let step = CANVAS.0 / history.points.len() as f64;
    let middle = |index: usize| ((index as f64 + 0.5) * step).round();
    let edge = |index: usize| (index as f64 * step).round();
    let caption = with_axis(&TEXTS.history_caption, bottom);
    let description = Description::Within(caption.clone());
    let mut scene = Scene::new("p".into(), title(history), description, ticks(Scale::Unit(history.unit), bottom, top));
    scene.across = days(&history.points).map(|(index, day)| Tick::at(middle(index) / CANVAS.0, day)).collect();
    scene.rules();
    scene.axes();
    let levels = levels(history).map(|(from, to, level)| vec![(edge(from), y(level)), (edge(to), y(level))]);
    scene.push(Role::Level, Shape::Path(levels.collect()));
    let interval = |(index, point): (usize, &Point)| {
        let (low, high) = point.interval?;
        Some(vec![(middle(index), y(high)), (middle(index), y(low))])
    };
    let intervals = history.points.iter().enumerate().filter_map(interval);
    scene.push(Role::Whisker(0), Shape::Path(intervals.collect()));
    let flag = |(place, change): (usize, &Change)| HistoryFlag {
        number: place + 1,
        x: edge(change.point),
        percent: edge(change.point) / CANVAS.0 * 100.0,
        class: if change.improved { "better" } else { "worse" },
        size: mark_and_size(change),
        headline: headline(history, change),
        causes: causes(change),
    };
    let flags: Vec<HistoryFlag> = history.changes.iter().enumerate().map(flag).collect();
    for flag in &flags {
        scene.push_titled(Role::Flag(flag.class), upright(flag.x), flag.headline.clone());
    }
    for (index, point) in history.points.iter().enumerate() {
        let at = (middle(index), y(point.median));
        scene.push_titled(Role::Dot { line: 0, hollow: false }, Shape::Dot(at), of_point(history, point));
    }
    Some(HistoryDrawing { flags, caption, scene })
}

/// The levels between changes: from which point to before which, and the mean of the medians.
fn levels(history: &History) -> impl Iterator<Item = (usize, usize, f64)> {
    let starts = || history.changes.iter().map(|change| change.point);
    let froms = std::iter::once(0).chain(starts());
    let tos = starts().chain([history.points.len()]);
    froms.zip(tos).map(|(from, to)| {
        let medians = history.points[from..to].iter().map(|point| point.median);
        (from, to, medians.sum::<f64>() / (to - from) as f64)
    })
}

/// A run's figures, for who rests the pointer on it.
fn of_point(history: &History, point: &Point) -> Phrase {
    let [run, began, median, interval, _, count] = columns(history, point);
    let figures = match point.interval {
        Some(_) => format!("{median} (95 %: {interval}), n {count}"),
        None => format!("{median}, n {count}"),
    };
    Phrase::joined(&[format!("{run} · {began} UTC").into(), figure(&figures)], " · ")
}

/// At most seven points with their days, evenly taken; of points of one day the first alone, with the hour where all are of that day.
fn days(points: &[Point]) -> impl Iterator<Item = (usize, String)> {
    const MOST: usize = 7;
    let every = points.len().div_ceil(MOST).max(1);
    let day = |point: &Point| point.started_at.strftime("%Y-%m-%d").to_string();
    let one_day = points.first().map(day) == points.last().map(day);
    let mut before = String::new();
    points.iter().enumerate().step_by(every).filter_map(move |(index, point)| {
        let label = if one_day { point.started_at.strftime("%H:%M").to_string() } else { day(point) };
        let is_new = label != before;
        before.clone_from(&label);
        is_new.then_some((index, label))
    })
}

/// The drawing as a file, with the texts of one language.
pub fn svg(history: &History, language: Language) -> String {
    const WIDTH: f64 = 900.0;
    const LEFT: f64 = 96.0;
    const LINE: f64 = 16.0;
    let say = |phrase: &Phrase| phrase.say(language).to_owned();
    let width = WIDTH - LEFT - 24.0;
    let drawing = drawing(history);
    let flags = drawing.as_ref().map(|drawing| drawing.flags.as_slice()).unwrap_or_default();
    let mut told: Vec<(f64, Role, String)> = Vec::new();
    for flag in flags {
        told.push((0.0, Role::Said, format!("{}. {}", flag.number, say(&flag.headline))));
        told.extend(flag.causes.iter().map(|cause| (18.0, Role::Said, say(cause))));
    }
    let notes = notes(history);
    told.extend(notes.iter().map(|note| (0.0, Role::Quiet, say(note))));
    // A line that is too long goes on in the next, a little to the right.
    let told: Vec<_> = told
        .into_iter()
        .flat_map(|(indent, role, text)| {
            wrapped_to(&text, SMALL, width - indent)
                .into_iter()
                .enumerate()
                .map(move |(place, line)| (if place == 0 { indent } else { indent + 18.0 }, role, line))
        })
        .collect();
    let caption = drawing.as_ref().map(|drawing| say(&drawing.caption)).unwrap_or_default();
    let lines = wrapped_to(&caption, SMALL, width);
    let place = Place { left: LEFT, top: 78.0 + lines.len() as f64 * LINE, width, height: 260.0 };
    let below = place.top + place.height + 44.0;
    let description = lines.iter().chain(told.iter().map(|(.., line)| line));
    let description = description.map(String::as_str).collect::<Vec<_>>().join(" ");
    let title = say(&title(history));
    let mut sheet = Sheet::new(WIDTH, below + told.len() as f64 * LINE, &title, &description, language);
    sheet.text((LEFT, 24.0), "start", Role::Title, &fitting(&title, TITLE, width));
    sheet.text((LEFT, 43.0), "start", Role::Quiet, &fitting(&say(&subject(history)), SMALL, width));
    sheet.lines((LEFT, 43.0 + LINE), &lines);
    if let Some(drawing) = &drawing {
        sheet.draw(&drawing.scene, place);
        for flag in flags {
            let text = format!("{}  {}", flag.number, in_language(&flag.size, language));
            let wide = width_of(&text, TEXT) + 10.0;
            let left = (place.x(flag.x) - 9.0).min(LEFT + width - wide);
            let ground = Place { left, top: place.top - 20.0, width: wide, height: 17.0 };
            sheet.push(Role::FlagGround(flag.class), Shape::Rectangle(ground));
            sheet.text((left + 5.0, place.top - 7.0), "start", Role::OnFlag, &text);
        }
    }
    for (line, (indent, role, text)) in told.iter().enumerate() {
        sheet.text((LEFT + indent, below + line as f64 * LINE), "start", *role, text);
    }
    sheet.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use stend_compare::history::{Differences, LeftOut};
    use stend_model::machine::Difference;
    use stend_model::metric::{Better, Unit};

    /// Runs with these medians, and a change before the one with this number.
    fn history(medians: &[f64], change: Option<usize>) -> History {
        let point = |(index, median): (usize, &f64)| Point {
            run: format!("20260901-0600-{index:04x}"),
            started_at: "2026-09-01T06:00:00Z".parse::<jiff::Timestamp>().unwrap()
                + jiff::SignedDuration::from_hours(24 * index as i64),
            median: *median,
            interval: Some((median * 0.99, median * 1.01)),
            spread: None,
            valid: 6,
        };
        let points: Vec<_> = medians.iter().enumerate().map(point).collect();
        let of_change = |at: usize| Change {
            point: at,
            before_run: points[at - 1].run.clone(),
            after_run: points[at].run.clone(),
            before: medians[0],
            after: medians[at],
            ratio: medians[at] / medians[0],
            p: 1e-12,
            improved: medians[at] > medians[0],
            with: Differences {
                machine: vec![Difference { what: "kernel".into(), before: "6.1 <b>".into(), after: String::new() }],
                build: Vec::new(),
            },
            nearest: None,
        };
        History {
            scenario: "small".into(),
            metric: "throughput".into(),
            unit: Unit::BytesPerSecond,
            better: Better::Higher,
            machine: "pc-7".into(),
            hardware_id: "7d1f02c94e31".repeat(4),
            changes: change.map(of_change).into_iter().collect(),
            more_needed: 0,
            without_ratio: false,
            left_out: LeftOut::default(),
            points: points.clone(),
        }
    }

    fn dots(drawn: &HistoryDrawing) -> Vec<(f64, f64)> {
        drawn.scene.paths(Role::Dot { line: 0, hollow: false }).concat()
    }

    #[test]
    fn each_level_is_drawn_up_to_the_change() {
        let drawn = drawing(&history(&[10.0, 10.0, 10.0, 20.0], Some(3))).unwrap();
        assert_eq!(
            drawn.flags.iter().map(|flag| (flag.number, flag.x, flag.class)).collect::<Vec<_>>(),
            [(1, 3000.0, "better")]
        );
        let across = |line: &Vec<(f64, f64)>| (line[0].0, line[1].0);
        let levels: Vec<_> = drawn.scene.paths(Role::Level).iter().map(across).collect();
        assert_eq!(levels, [(0.0, 3000.0), (3000.0, 4000.0)]);
        let dots = dots(&drawn);
        assert!(dots[3].1 < dots[0].1, "more is higher");
        assert_eq!(drawn.scene.paths(Role::Whisker(0)).len(), 4);
    }

    #[test]
    fn a_drawing_says_in_words_what_changed_and_escapes_it() {
        let history = history(&[10.0, 10.0, 10.0, 20.0], Some(3));
        let english = svg(&history, Language::English);
        assert!(english.contains("▲ × 2.00 from 2026-09-04 06:00 UTC on, with run 20260901-0600-0003"), "{english}");
        assert!(english.contains("kernel: 6.1 &lt;b&gt; → none") && !english.contains("<b>"), "{english}");
        let russian = svg(&history, Language::Russian);
        assert!(russian.contains("▲ × 2,00 с 2026-09-04") && russian.contains("больше — лучше"), "{russian}");
        for text in [english, russian] {
            let mut reader = quick_xml::Reader::from_str(&text);
            while !matches!(reader.read_event().unwrap(), quick_xml::events::Event::Eof) {}
            assert!(!text.contains("NaN"));
        }
    }

    #[test]
    fn one_run_and_none_are_no_hindrance() {
        assert!(drawing(&history(&[], None)).is_none());
        assert!(svg(&history(&[], None), Language::English).contains("No run has a valid repeat."));
        let one = drawing(&history(&[10.0], None)).unwrap();
        assert_eq!((dots(&one).len(), one.scene.across.len()), (1, 1));
        assert!(one.caption.english().ends_with("The axis does not start at zero."));
        let drawn = svg(&history(&[10.0], None), Language::Russian);
        let seen = drawn.split_once("</desc>").unwrap().1;
        assert!(seen.contains("Точка — прогон") && seen.contains("не с нуля"), "{drawn}");
        let from_zero = drawing(&history(&[0.1, 10.0], None)).unwrap();
        assert!(!from_zero.caption.english().contains("zero") && !from_zero.caption.russian().contains("нуля"));
    }
}
