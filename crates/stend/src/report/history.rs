//! A machine's history of one metric: a line of blocks, the changes and what else changed then, and a line a run.

use std::fmt::Write as _;

use super::grid::{Grid, Style, piece, wrap, wrapped};
use super::text::{change, count, interval_beside, spread, width};
use super::{csv, markdown};
use crate::compare::table::Verdict;
use crate::history::{Change, Differences, History, LeftOut, Nearest, Point};
use crate::language::english_plural;
use crate::machine;
use stend_model::identity::short;
use stend_model::metric::{Better, three_digits};

/// Heights from the least value to the greatest.
const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// For a terminal of this width.
pub(crate) fn terminal(history: &History, limit: usize, colour: bool) -> String {
    let mut out = String::new();
    let title = piece(title(history), Style::Bold);
    wrap(&title.text, limit).iter().for_each(|line| out.push_str(&format!("{}\n", title.styled(line, colour))));
    let _ = writeln!(out, "{}", wrapped(&subject(history), limit));
    line_of_blocks(&mut out, history, limit, colour);
    for change in &history.changes {
        let style = style(change);
        let head = piece(headline(history, change), style);
        let mut lines = wrap(&head.text, limit.saturating_sub(2)).into_iter();
        let first = lines.next().unwrap_or_default();
        let _ = writeln!(out, "{}", head.styled(&first, colour));
        lines.for_each(|line| out.push_str(&format!("  {line}\n")));
        for cause in causes(change) {
            for (index, line) in wrap(&cause, limit.saturating_sub(6)).iter().enumerate() {
                let _ = writeln!(out, "{}{line}", if index == 0 { "    " } else { "      " });
            }
        }
    }
    if !history.changes.is_empty() {
        out.push('\n');
    }
    if !history.points.is_empty() {
        let full = grid(history, true);
        let widest = history.points.iter().map(|point| width(&point.run)).max().unwrap_or(0);
        // An id says when the run began, too.
        let shown = if widest + full.figures_width() <= limit { full } else { grid(history, false) };
        out.push_str(&shown.write(limit, colour));
        out.push('\n');
    }
    for note in notes(history) {
        wrap(&note, limit).iter().for_each(|line| out.push_str(&format!("{line}\n")));
    }
    out
}

/// A line a run, with the moment when it began or without.
fn grid(history: &History, began: bool) -> Grid {
    let shown = |place: &usize| began || *place != 1;
    let heads = ["run", "began (UTC)", "median", "95 % interval", "spread", "n", ""];
    let mut grid = Grid::new(heads.into_iter().enumerate().filter(|(place, _)| shown(place)).map(|(_, head)| head));
    for (index, point) in history.points.iter().enumerate() {
        let change = history.changes.iter().find(|change| change.point == index);
        let cells = columns(history, point).into_iter().map(|text| piece(text, Style::Plain));
        let last = change.map_or_else(|| "".into(), |change| piece(mark_and_size(change), style(change)));
        let cells = cells.chain([last]).enumerate().filter(|(place, _)| shown(place));
        grid.push(cells.map(|(_, cell)| cell).collect());
    }
    grid
}

/// For a page or a pull request.
pub(crate) fn markdown(history: &History) -> String {
    let mut out = String::new();
    markdown::heading(&mut out, &title(history), &subject(history));
    for change in &history.changes {
        let _ = writeln!(out, "- {}", markdown::escape(&headline(history, change)));
        for cause in causes(change) {
            let _ = writeln!(out, "  - {}", markdown::escape(&cause));
        }
    }
    if !history.changes.is_empty() {
        out.push('\n');
    }
    markdown::head(&mut out, ["run", "began (UTC)", "median", "95 % interval", "spread", "n", "change"]);
    for (index, point) in history.points.iter().enumerate() {
        let change = history.changes.iter().find(|change| change.point == index).map(mark_and_size);
        markdown::line(&mut out, columns(history, point).into_iter().chain([change.unwrap_or_default()]));
    }
    out.push('\n');
    for note in notes(history) {
        let _ = writeln!(out, "- {}", markdown::escape(&note));
    }
    out
}

/// For a spreadsheet: a line a run, numbers in the metric's unit and in full precision.
pub(crate) fn csv(history: &History) -> String {
    let mut out = String::new();
    csv::line(
        &mut out,
        [
            "scenario",
            "metric",
            "unit",
            "better",
            "run",
            "started_at",
            "median",
            "interval_low",
            "interval_high",
            "spread",
            "valid",
            "change_ratio",
            "change_p",
            "changed",
        ],
    );
    for (index, point) in history.points.iter().enumerate() {
        let change = history.changes.iter().find(|change| change.point == index);
        let optional = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
        csv::line(
            &mut out,
            [
                history.scenario.clone(),
                history.metric.clone(),
                history.unit.to_string(),
                super::text::direction(history.better).into(),
                point.run.clone(),
                point.started_at.to_string(),
                point.median.to_string(),
                optional(point.interval.map(|(low, _)| low)),
                optional(point.interval.map(|(_, high)| high)),
                optional(point.spread),
                point.valid.to_string(),
                optional(change.map(|change| change.ratio)),
                optional(change.map(|change| change.p)),
                change.map(|change| causes(change).join("; ")).unwrap_or_default(),
            ],
        );
    }
    out
}

fn title(history: &History) -> String {
    let better = match history.better {
        Better::Higher => "more is better",
        Better::Lower => "less is better",
    };
    format!("{}: {}, {better}", history.scenario, history.metric)
}

fn subject(history: &History) -> String {
    let runs = english_plural(history.points.len(), "run", "runs");
    let day = |point: &Point| point.started_at.strftime("%Y-%m-%d").to_string();
    let ends = history.points.first().zip(history.points.last());
    let days = ends.map(|(first, last)| (day(first), day(last)));
    let when = match days {
        None => String::new(),
        Some((first, last)) if first == last => format!(", {first}"),
        Some((first, last)) => format!(", {first} … {last}"),
    };
    format!("{} · hardware {} · {runs}{when}", history.machine, short(&history.hardware_id))
}

/// The newest values that find room as blocks, with a mark under the first run after each change.
fn line_of_blocks(out: &mut String, history: &History, limit: usize, colour: bool) {
    let medians = history.points.iter().map(|point| point.median);
    let (least, most) = medians
        .clone()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
    if history.points.len() < 2 {
        return;
    }
    let ends = super::text::interval(history.unit, least, most);
    let room = limit.saturating_sub(width(&ends) + 4).max(10);
    let first = history.points.len().saturating_sub(room);
    let height = |value: f64| {
        let share = if most > least { (value - least) / (most - least) } else { 0.5 };
        BLOCKS[((share * 8.0) as usize).min(7)]
    };
    let blocks: String = medians.skip(first).map(height).collect();
    let _ = writeln!(out, "  {blocks}  {ends}");
    let marks = (first..history.points.len()).map(|index| {
        let change = history.changes.iter().find(|change| change.point == index);
        change.map_or_else(
            || " ".into(),
            |change| {
                let mark = piece(mark(change).to_string(), style(change));
                mark.styled(&mark.text, colour)
            },
        )
    });
    let marks: String = marks.collect();
    if !marks.trim().is_empty() {
        let _ = writeln!(out, "  {}", marks.trim_end());
    }
    if first > 0 {
        let _ = writeln!(out, "  ({} are not drawn)", english_plural(first, "older run", "older runs"));
    }
    out.push('\n');
}

fn columns(history: &History, point: &Point) -> [String; 6] {
    [
        point.run.clone(),
        point.started_at.strftime("%Y-%m-%d %H:%M").to_string(),
        history.unit.show(point.median),
        point
            .interval
            .map_or_else(|| "too few repeats".into(), |ends| interval_beside(history.unit, point.median, ends)),
        spread(point.spread),
        count(point.valid, 0, 0),
    ]
}

fn mark(change: &Change) -> char {
    super::text::mark(if change.improved { Verdict::Better } else { Verdict::Worse })
}

fn style(change: &Change) -> Style {
    if change.improved { Style::Better } else { Style::Worse }
}

fn mark_and_size(change_: &Change) -> String {
    format!("{} {}", mark(change_), change(change_.ratio))
}

fn headline(history: &History, change: &Change) -> String {
    let at = history.points[change.point].started_at.strftime("%Y-%m-%d %H:%M UTC");
    let from_to = super::text::from_to(history.unit, change.before, change.after);
    format!("{} from {at} on, with run {}: {from_to} (p {})", mark_and_size(change), change.after_run, p(change.p))
}

/// p as people read it: `= 0.0004`, `< 10⁻⁹`.
fn p(p: f64) -> String {
    if p < 1e-9 { "< 10⁻⁹".into() } else { format!("= {}", three_digits(p)) }
}

/// What else changed between the last run before and the first after, or near them.
fn causes(change: &Change) -> Vec<String> {
    if !change.with.is_empty() {
        return in_words(&change.with);
    }
    let mut words =
        vec![format!("nothing of the fingerprint changed between {} and {}", change.before_run, change.after_run)];
    if let Some(Nearest { before_run, after_run, with }) = &change.nearest {
        words.push(format!("but near it, between {before_run} and {after_run}: {}", in_words(with).join("; ")));
    }
    words
}

fn in_words(differences: &Differences) -> Vec<String> {
    let machine = differences.machine.iter().map(machine::in_words);
    let build = differences.build.iter().map(|difference| match difference.what.as_str() {
        "stend" => machine::in_words(difference),
        _ => format!("build, {}", machine::in_words(difference)),
    });
    machine.chain(build).collect()
}

fn notes(history: &History) -> Vec<String> {
    let mut notes = Vec::new();
    if history.points.is_empty() {
        notes.push("No run has a repeat that counts.".into());
    } else if history.more_needed > 0 {
        let runs = english_plural(history.more_needed, "run more is", "runs more are");
        notes.push(format!("Changes of level are looked for from ten runs on: {runs} needed."));
    } else if history.without_ratio {
        notes.push("Changes of level are not looked for: some value is not above zero.".into());
    } else if history.changes.is_empty() {
        notes.push("The level never changed for good.".into());
    } else {
        notes.push(
            "▲ better, ▼ worse. A change is one for good, p < 0.001 and more than 2 %, from and to the means of the medians on either side."
                .into(),
        );
    }
    let LeftOut { other_machine, other_work, emulated, no_value, two_sides } = history.left_out;
    let mut left_out = |count: usize, one: &str, many: &str| {
        if count > 0 {
            notes.push(format!("Left out: {}.", english_plural(count, one, many)));
        }
    };
    left_out(
        other_machine,
        "run of other hardware (--machine NAME shows it)",
        "runs of other hardware (--machine NAME shows them)",
    );
    left_out(
        other_work,
        "run in which a scenario of this name did other work than in the newest",
        "runs in which a scenario of this name did other work than in the newest",
    );
    left_out(emulated, "run that an emulator made", "runs that an emulator made");
    left_out(
        two_sides,
        "run of two sides, which are different things on purpose",
        "runs of two sides, which are different things on purpose",
    );
    left_out(no_value, "run without a repeat that counts", "runs without a repeat that counts");
    notes
}
