//! Each drawing of a report as a file of its own.

mod latency;
mod published;

use std::collections::BTreeSet;

use anyhow::Result;
use clap::ValueEnum;

use super::scenario::{self, ScenarioRunView, ScenarioView};
use super::{Input, scenario_names, sweeps};
use crate::language::Language;
use crate::profile::Observed;
use crate::report::chart::{Band, Chart, Purpose};
use crate::report::curve::{CurveView, CurvesView};
use crate::report::dots::Dots;
use crate::report::flame;
use crate::report::heat::{HeatMap, HeatMaps};
use crate::report::histogram::{Histogram, HistogramRow};
use crate::report::language::TEXTS;
use crate::report::numbers::in_language;
use crate::report::phrase::{Phrase, called};
use crate::report::scale::CANVAS;
use crate::report::sheet::{
    BAD, FAULT, HEAT, INK, KEY_LINE, LINES, PAPER, Place, QUIET, RECOVERY, RULE, SMALL, Sheet, Stroke, TEXT, fitting,
    key_lines, width_of, wrapped_to,
};
use crate::report::timeline::{Flag, Timeline};

/// A kind of drawing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    /// Published figures beside the base's, as bars
    Published,
    /// Families of scenarios: matrices, and latency over throughput
    Sweeps,
    /// The repeats of each scenario with median and interval
    Repeats,
    /// How the values of the repeats are distributed
    Histograms,
    /// How long single operations took: histogram and percentiles
    Latencies,
    /// All that happened under a storage load, on one axis of time
    Timelines,
    /// Where the time goes, for scenarios that were profiled
    Flames,
    /// The samples of each metric, repeat after repeat: dozens for each scenario
    Samples,
}

impl Kind {
    /// What is drawn if nothing else is asked for: all but the samples of single metrics, which are more than all others together, and which
    /// the page shows better.
    pub(crate) const USUAL: [Self; 7] = [
        Self::Published,
        Self::Sweeps,
        Self::Repeats,
        Self::Histograms,
        Self::Latencies,
        Self::Timelines,
        Self::Flames,
    ];
}

/// A drawing as a file.
pub(crate) struct Figure {
    /// The file's name without its ending: the scenario and the kind, in letters that every file system has.
    pub(crate) name: String,
    /// The scenario, or the family of scenarios.
    pub(crate) of: String,
    /// What it shows.
    pub(crate) title: String,
    /// The file's contents.
    pub(crate) svg: String,
}

/// The width of every sheet, and what is left free at its sides: the axis' figures stand at the left.
const WIDTH: f64 = 900.0;
const LEFT: f64 = 96.0;
const RIGHT: f64 = 24.0;
const TITLE: f64 = 15.0;

/// The drawings of a report that are of these kinds, with the texts of one language.
///
/// # Errors
/// Only if memory runs out, or a profile that came from elsewhere is none.
pub(crate) fn figures(input: &Input, kinds: &[Kind], language: Language) -> Result<Vec<Figure>> {
    let wants = |kind: Kind| kinds.contains(&kind);
    let mut all = Figures { list: Vec::new(), names: BTreeSet::new(), language };
    if wants(Kind::Published) {
        all.published(input.table)?;
    }
    let (heat, curves) = if wants(Kind::Sweeps) { sweeps(input) } else { Default::default() };
    for maps in &heat {
        for map in &maps.maps {
            all.heat(maps, map)?;
        }
    }
    for curves in &curves {
        for view in &curves.views {
            all.curve(curves, view)?;
        }
    }
    for scenario in &scenario::scenarios(input, &scenario_names(input), Purpose::Files, Ok)? {
        if let Some(dots) = scenario.dots.as_ref().filter(|_| wants(Kind::Repeats)) {
            all.dots(scenario, dots)?;
        }
        if let Some(histogram) = scenario.histogram.as_ref().filter(|_| wants(Kind::Histograms)) {
            all.histogram(scenario, histogram)?;
        }
        for latencies in scenario.latencies.iter().filter(|_| wants(Kind::Latencies)) {
            all.latency(scenario, &latencies.view)?;
        }
        for run in &scenario.runs {
            if let Some(timeline) = run.timeline.as_ref().filter(|_| wants(Kind::Timelines)) {
                all.timeline(scenario, run, timeline)?;
            }
            for chart in run.charts.instrument.iter().chain(&run.charts.machine).filter(|_| wants(Kind::Samples)) {
                all.chart(scenario, run, chart)?;
            }
        }
        for data in input.runs.iter().filter(|_| wants(Kind::Flames)) {
            let profiles = data.profiles.iter().filter(|profile| profile.scenario == scenario.name);
            for profile in profiles {
                if let Observed::Stacks(stacks) = &profile.observed {
                    let title = format!("{}, {}", scenario.name, scenario::title(input.table, data));
                    all.add(&scenario.name, "flame", title.clone(), flame::standalone(stacks, &title)?);
                }
            }
        }
    }
    Ok(all.list)
}

/// What is drawn so far.
struct Figures {
    list: Vec<Figure>,
    names: BTreeSet<String>,
    language: Language,
}

impl Figures {
    fn say<'a>(&self, phrase: &'a Phrase) -> &'a str {
        phrase.say(self.language)
    }

    fn sheet(&self, height: f64, title: &str, description: &str) -> Result<Sheet> {
        let mut sheet = Sheet::new(WIDTH, height, title, description, self.language)?;
        let shown = fitting(title, TITLE, WIDTH - LEFT - RIGHT);
        sheet.text((LEFT, 24.0), "start", TITLE, INK, &shown)?;
        Ok(sheet)
    }

    /// Keeps a figure under a name that no other has.
    fn add(&mut self, of: &str, kind: &str, title: String, svg: String) {
        let wanted = format!("{}-{}", file_name(of), file_name(kind));
        let mut name = wanted.clone();
        let mut number = 1;
        while !self.names.insert(name.clone()) {
            number += 1;
            name = format!("{wanted}-{number}");
        }
        self.list.push(Figure { name, of: of.to_owned(), title, svg });
    }

    /// The samples of one metric, repeat after repeat.
    fn chart(&mut self, scenario: &ScenarioView, run: &ScenarioRunView, chart: &Chart) -> Result<()> {
        let title = self.title(scenario, run, self.say(&chart.title));
        let caption = self.say(&chart.caption);
        let names: Vec<&str> =
            chart.lines.iter().filter_map(|line| line.name.as_ref()).map(|name| self.say(name)).collect();
        let below_key = key_lines(&names, LEFT, LEFT, WIDTH).saturating_sub(1) as f64 * KEY_LINE;
        let top = if names.is_empty() { 78.0 } else { 98.0 + below_key };
        let place = Place { left: LEFT, top, width: WIDTH - LEFT - RIGHT, height: 200.0 };
        let mut sheet = self.sheet(top + place.height + 30.0, &title, caption)?;
        sheet.text((LEFT, 43.0), "start", SMALL, QUIET, caption)?;
        sheet.key((LEFT, 63.0), LEFT, &names, false)?;
        bands(&mut sheet, &run.charts.bands, place, true)?;
        sheet.frame(&chart.ticks, place)?;
        for (number, line) in chart.lines.iter().enumerate() {
            sheet.path(&place.path(&line.path), Stroke::of_line(number))?;
        }
        let below = place.top + place.height + 18.0;
        sheet.text((LEFT, below), "start", SMALL, QUIET, "0")?;
        sheet.figure((LEFT + place.width, below), "end", SMALL, QUIET, &chart.length)?;
        self.add(&scenario.name, &chart.title.en.clone(), title, sheet.finish()?);
        Ok(())
    }

    /// All that happened while storage was loaded, on one axis of time.
    fn timeline(&mut self, scenario: &ScenarioView, run: &ScenarioRunView, timeline: &Timeline) -> Result<()> {
        const ROW: f64 = 110.0;
        const BETWEEN: f64 = 46.0;
        let title = self.title(scenario, run, self.say(&TEXTS.timeline));
        let top = 62.0 + timeline.levels as f64 * 16.0;
        // Of each row the names of its lines, where they begin, and how much lower its drawing is than below one line of them.
        let mut keys: Vec<(Vec<&str>, f64, f64)> = Vec::new();
        for row in &timeline.rows {
            let names: Vec<&str> =
                row.lines.iter().filter_map(|line| line.name.as_ref()).map(|name| self.say(name)).collect();
            let first = LEFT + width_of(self.say(&row.title), TEXT) + 20.0;
            let lower = key_lines(&names, first, LEFT, WIDTH).saturating_sub(1) as f64 * KEY_LINE;
            keys.push((names, first, lower));
        }
        let rows_end = top + keys.iter().map(|(.., lower)| ROW + BETWEEN + lower).sum::<f64>();
        let height = rows_end + 22.0 + timeline.flags.len() as f64 * 16.0 + 10.0;
        let happened: Vec<String> = timeline.flags.iter().map(|flag| self.happened(flag)).collect();
        let mut sheet = self.sheet(height, &title, &happened.join("; "))?;
        let width = WIDTH - LEFT - RIGHT;
        for flag in &timeline.flags {
            let (x, y) = (LEFT + flag.x / CANVAS.0 * width, 46.0 + flag.level as f64 * 16.0);
            sheet.rectangle(
                Place { left: x - 9.0, top: y - 11.0, width: 18.0, height: 14.0 },
                flag_colour(flag),
                1.0,
            )?;
            sheet.text((x, y), "middle", SMALL, PAPER, &flag.number.to_string())?;
        }
        let mut head = top;
        for (row, (names, first, lower)) in timeline.rows.iter().zip(keys) {
            let place = Place { left: LEFT, top: head + 24.0 + lower, width, height: ROW };
            sheet.text((LEFT, head + 15.0), "start", TEXT, INK, self.say(&row.title))?;
            sheet.key((first, head + 15.0), LEFT, &names, row.stacked)?;
            head += ROW + BETWEEN + lower;
            bands(&mut sheet, &timeline.bands, place, false)?;
            for (left, width) in &timeline.asides {
                let aside = Place { left: place.x(*left), width: place.x(*width) - place.left, ..place };
                sheet.rectangle(aside, QUIET, 0.1)?;
            }
            sheet.frame(&row.ticks, place)?;
            for moment in &timeline.moments {
                sheet.path(&place.path(&format!("M{} 0v1000", moment.x)), Stroke::plain(RULE, 1.0))?;
            }
            for (number, line) in row.lines.iter().enumerate().rev() {
                let path = place.path(&line.path);
                if row.stacked {
                    sheet.area(&path, LINES[number % LINES.len()].0, 1.0)?;
                } else {
                    sheet.path(&path, Stroke::of_line(number))?;
                }
            }
            for flag in &timeline.flags {
                let dash = if flag.class == "phase" { "4 3" } else { "" };
                let stroke = Stroke { colour: flag_colour(flag), width: 1.5, dash };
                sheet.path(&place.path(&format!("M{} 0v1000", flag.x)), stroke)?;
            }
        }
        for moment in &timeline.moments {
            let x = LEFT + moment.x / CANVAS.0 * width;
            sheet.figure((x, rows_end - 4.0), "middle", SMALL, QUIET, &moment.label)?;
        }
        for (line, happened) in happened.iter().enumerate() {
            let y = rows_end + 18.0 + line as f64 * 16.0;
            sheet.text((LEFT, y), "start", SMALL, INK, &fitting(happened, SMALL, width))?;
        }
        self.add(&scenario.name, "timeline", title, sheet.finish()?);
        Ok(())
    }

    fn happened(&self, flag: &Flag) -> String {
        let repeat = if flag.repeat.is_empty() {
            String::new()
        } else {
            format!("{} {}, ", self.say(&TEXTS.repeat_word), flag.repeat)
        };
        format!("{}. {repeat}{}: {}", flag.number, in_language(&flag.time, self.language), self.say(&flag.label))
    }

    /// The repeats of a scenario with median and interval.
    fn dots(&mut self, scenario: &ScenarioView, dots: &Dots) -> Result<()> {
        let title = format!("{}: {}", scenario.name, scenario.metric);
        let caption = self.say(&dots.caption);
        let width = WIDTH - LEFT - RIGHT;
        let lines = wrapped_to(caption, SMALL, width);
        let place = Place { left: LEFT, top: 66.0 + lines.len() as f64 * KEY_LINE, width, height: 240.0 };
        let mut sheet = self.sheet(place.top + place.height + 20.0, &title, caption)?;
        sheet.lines((LEFT, 43.0), &lines)?;
        for panel in &dots.panels {
            let at = Place { left: place.x(panel.left), width: place.x(panel.width) - place.left, ..place };
            let name = called(&panel.title);
            let name = fitting(self.say(&name), SMALL, at.width - 6.0);
            sheet.text((at.left + 4.0, place.top - 8.0), "start", SMALL, QUIET, &name)?;
            if let Some((top, height)) = panel.interval {
                let interval = Place { top: place.y(top), height: place.y(height) - place.top, ..at };
                sheet.rectangle(interval, LINES[0].0, 0.13)?;
            }
        }
        sheet.frame(&dots.ticks, place)?;
        for (number, panel) in dots.panels.iter().enumerate() {
            if let Some(y) = panel.median {
                let median = place.path(&format!("M{} {y}h{}", panel.left, panel.width));
                sheet.path(&median, Stroke::plain(LINES[0].0, 1.5))?;
            }
            if number > 0 {
                sheet.path(&place.path(&format!("M{} 0v1000", panel.left)), Stroke::plain(QUIET, 1.0))?;
            }
            for dot in &panel.dots {
                let colour = match dot.class {
                    "valid" => LINES[0].0,
                    "warmup" => LINES[4].0,
                    _ => BAD,
                };
                let at = (place.x(dot.x), place.y(dot.y));
                sheet.dot(at, colour, dot.class != "valid", self.say(&dot.title))?;
            }
        }
        self.add(&scenario.name, "repeats", title, sheet.finish()?);
        Ok(())
    }

    /// How the values of the repeats are distributed, a row of bars for each run.
    fn histogram(&mut self, scenario: &ScenarioView, histogram: &Histogram) -> Result<()> {
        const ROW: f64 = 100.0;
        const ABOVE: f64 = 30.0;
        const AXIS: f64 = 20.0;
        let title = format!("{}: {}. {}", scenario.name, scenario.metric, self.say(&TEXTS.histogram));
        let caption = self.say(&TEXTS.histogram_caption);
        let axis = |row: &HistogramRow| if row.across.is_empty() { 0.0 } else { AXIS };
        let height: f64 = histogram.rows.iter().map(|row| ABOVE + ROW + axis(row)).sum();
        let mut sheet = self.sheet(54.0 + height + 8.0, &title, caption)?;
        sheet.text((LEFT, 43.0), "start", SMALL, QUIET, caption)?;
        let mut head = 54.0;
        for row in &histogram.rows {
            let place = Place { left: LEFT, top: head + ABOVE, width: WIDTH - LEFT - RIGHT, height: ROW };
            if histogram.rows.len() > 1 {
                sheet.text((LEFT, place.top - 8.0), "start", SMALL, QUIET, self.say(&called(&row.title)))?;
            }
            sheet.frame(&row.ticks, place)?;
            for bar in &row.bars {
                let (left, top) = (place.x(bar.x), place.y(bar.y));
                let (width, height) = (place.x(bar.width) - place.left - 1.0, place.y(bar.height) - place.top);
                sheet.rectangle(Place { left, top, width, height }, LINES[0].0, 1.0)?;
            }
            sheet.across(&row.across, place)?;
            head = place.top + ROW + axis(row);
        }
        self.add(&scenario.name, "histogram", title, sheet.finish()?);
        Ok(())
    }

    /// Latency over throughput.
    fn curve(&mut self, curves: &CurvesView, view: &CurveView) -> Result<()> {
        let title = format!("{}: {}, {}", self.say(&TEXTS.curve_title), curves.title, view.run);
        let caption = self.say(&TEXTS.curve_caption);
        let names: Vec<&str> = view.lines.iter().map(|line| self.say(&line.name)).collect();
        let below_key = key_lines(&names, LEFT, LEFT, WIDTH).saturating_sub(1) as f64 * KEY_LINE;
        let place = Place { left: LEFT, top: 72.0 + below_key, width: WIDTH - LEFT - RIGHT, height: 320.0 };
        let mut sheet = self.sheet(place.top + place.height + 32.0, &title, caption)?;
        sheet.key((LEFT, 46.0), LEFT, &names, false)?;
        sheet.frame(&view.ticks, place)?;
        sheet.across(&view.across, place)?;
        for (number, line) in view.lines.iter().enumerate() {
            let stroke = Stroke::of_line(number);
            sheet.path(&place.path(&line.path), stroke)?;
            sheet.path(&place.path(&line.intervals), Stroke::plain(stroke.colour, 1.0))?;
            for dot in &line.dots {
                let at = (place.x(dot.x), place.y(dot.y));
                sheet.dot(at, stroke.colour, dot.closed, self.say(&dot.title))?;
            }
        }
        for label in &view.labels {
            let x = place.left + label.left / 100.0 * place.width;
            let y = place.top + label.top / 100.0 * place.height;
            // Beside the point: over it stands the bar of its interval.
            let text = self.say(&label.text);
            let is_at_the_edge = x + 7.0 + width_of(text, SMALL) > WIDTH - 4.0;
            let (x, anchor) = if is_at_the_edge { (x - 7.0, "end") } else { (x + 7.0, "start") };
            sheet.text((x, y - 7.0), anchor, SMALL, QUIET, text)?;
        }
        self.add(&curves.title, "curve", title, sheet.finish()?);
        Ok(())
    }

    /// A matrix of two axes.
    fn heat(&mut self, maps: &HeatMaps, map: &HeatMap) -> Result<()> {
        const TOP: f64 = 58.0;
        let title = format!("{}, {}", maps.title, map.run);
        let axes = self.say(&maps.axes);
        let (width, height) = (map.width as f64, map.height as f64);
        // Words of the title stand beside, not over each other, however few the columns.
        let sheet_width = (width + 40.0).max(width_of(&title, TITLE) + 40.0);
        let mut sheet = Sheet::new(sheet_width, TOP + height + 20.0, &title, axes, self.language)?;
        sheet.text((20.0, 24.0), "start", TITLE, INK, &title)?;
        let range = in_language(&format!("{} … {}", maps.lowest, maps.highest), self.language).into_owned();
        let range = format!("{axes}; {range}");
        sheet.text((20.0, 43.0), "start", SMALL, QUIET, &range)?;
        let at = |x: usize, y: usize| (20.0 + x as f64, TOP + y as f64);
        for text in &map.texts {
            sheet.text(at(text.x, text.y), text.anchor, TEXT, QUIET, &text.text)?;
        }
        for cell in &map.cells {
            let (left, top) = at(cell.x, cell.y);
            let (fill, ink) = cell.step.map_or((PAPER, QUIET), |step| HEAT[step]);
            // A pixel of paper on each side tells cells apart.
            let (width, height) = (cell.width as f64 - 2.0, cell.height as f64 - 2.0);
            sheet.rectangle(Place { left: left + 1.0, top: top + 1.0, width, height }, fill, 1.0)?;
            sheet.figure(at(cell.middle(), cell.text_y()), "middle", TEXT, ink, &cell.text)?;
            if !cell.verdict.is_empty() {
                sheet.figure(at(cell.middle(), cell.verdict_y()), "middle", SMALL, ink, &cell.verdict)?;
            }
        }
        self.add(&maps.title, "matrix", title, sheet.finish()?);
        Ok(())
    }

    /// What a drawing of a run is called; the run only where there are several.
    fn title(&self, scenario: &ScenarioView, run: &ScenarioRunView, what: &str) -> String {
        if scenario.runs.len() > 1 {
            format!("{}, {}: {what}", scenario.name, self.say(&called(&run.title)))
        } else {
            format!("{}: {what}", scenario.name)
        }
    }
}

/// The places of repeats, with their numbers over them if they are asked for.
fn bands(sheet: &mut Sheet, bands: &[Band], place: Place, labelled: bool) -> Result<()> {
    for band in bands {
        let at = Place { left: place.x(band.left), width: place.x(band.width) - place.left, ..place };
        match band.class {
            "warmup" => sheet.rectangle(at, QUIET, 0.06)?,
            "invalid" | "failed" => sheet.rectangle(at, BAD, 0.2)?,
            _ => {}
        }
        sheet.path(&place.path(&format!("M{} 0v1000", band.left)), Stroke::plain(RULE, 1.0))?;
        if labelled && !band.label.is_empty() {
            sheet.text((at.left + 3.0, place.top - 5.0), "start", SMALL, QUIET, &band.label)?;
        }
    }
    Ok(())
}

fn flag_colour(flag: &Flag) -> &'static str {
    match flag.class {
        "recovery" => RECOVERY,
        "fault" | "gate" => FAULT,
        _ => QUIET,
    }
}

/// A name in letters, digits and dashes alone, not too long for a file's.
fn file_name(text: &str) -> String {
    const LONGEST: usize = 60;
    let mut name = String::new();
    for character in text.chars().flat_map(char::to_lowercase) {
        if character.is_alphanumeric() {
            name.push(character);
        } else if !name.ends_with('-') && !name.is_empty() {
            name.push('-');
        }
    }
    let name: String = name.chars().take(LONGEST).collect();
    match name.trim_end_matches('-') {
        "" => "figure".into(),
        name => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use quick_xml::Reader;
    use quick_xml::events::Event;

    use super::super::RunData;
    use super::*;
    use crate::report::sample::{self, SampleRun};

    fn drawn(data: &SampleRun, language: Language) -> Vec<Figure> {
        drawn_of(data, Kind::value_variants(), language)
    }

    fn drawn_of(data: &SampleRun, kinds: &[Kind], language: Language) -> Vec<Figure> {
        let table = sample::table();
        let runs = [RunData {
            run: &data.run,
            sessions: &data.sessions,
            repeats: &data.repeats,
            series: &data.series,
            profiles: &data.profiles,
        }];
        let input =
            Input { table: &table, runs: &runs, command: "stend report", generated_at: jiff::Timestamp::UNIX_EPOCH };
        figures(&input, kinds, language).unwrap()
    }

    #[test]
    fn what_dots_and_bands_mean_is_there_to_see() {
        for figure in drawn_of(&sample::run(0), &[Kind::Repeats], Language::Russian) {
            let seen = figure.svg.split_once("</desc>").unwrap().1;
            for words in ["Точка – повтор", "интервал 95 %", "Ось начинается"] {
                assert!(seen.contains(words), "{words}: {seen}");
            }
        }
    }

    /// Reads a file to its end, and gives the names of its elements and all its text.
    fn read(svg: &str) -> (Vec<String>, String) {
        let mut reader = Reader::from_str(svg);
        let (mut elements, mut text) = (Vec::new(), String::new());
        loop {
            match reader.read_event().unwrap() {
                Event::Eof => break,
                Event::Start(tag) | Event::Empty(tag) => {
                    elements.push(String::from_utf8(tag.name().as_ref().to_vec()).unwrap());
                    tag.attributes().for_each(|attribute| drop(attribute.unwrap()));
                }
                Event::Text(part) => text.push_str(&part.decode().unwrap()),
                _ => {}
            }
        }
        (elements, text)
    }

    #[test]
    fn each_drawing_is_a_file_that_stands_alone() {
        let all = drawn(&sample::run(50), Language::English);
        let names: BTreeSet<_> = all.iter().map(|figure| figure.name.as_str()).collect();
        assert_eq!(names.len(), all.len(), "no file replaces another");
        for name in [
            "pipe-write-32-kib-repeats",
            "pipe-write-32-kib-flame",
            "4k-seq-read-timeline",
            "summit-published",
            "magma-parallel-histogram",
            "4k-rand-read-latency-latency",
            "4k-rand-read-latency-latency-percentiles",
            "сайт-на-nginx-1-киб-repeats",
        ] {
            assert!(names.contains(name), "{name}: {names:?}");
        }
        for figure in &all {
            let (elements, _) = read(&figure.svg);
            assert_eq!(elements[0], "svg", "{}", figure.name);
            assert!(figure.name.len() <= 255 && !figure.name.contains(['/', '.', ' ', '<']), "{}", figure.name);
            for foreign in ["var(", "vector-effect", "NaN", "inf\"", "currentColor"] {
                assert!(!figure.svg.contains(foreign), "{}: {foreign}", figure.name);
            }
            if !figure.name.contains("flame") {
                assert!(elements.starts_with(&["svg".into(), "title".into(), "desc".into()]), "{}", figure.name);
                assert!(
                    !elements.contains(&"script".into()) && figure.svg.contains("viewBox=\"0 0 "),
                    "{}",
                    figure.name
                );
            }
        }
    }

    #[test]
    fn only_the_kinds_that_are_asked_for_are_drawn() {
        let data = sample::run(50);
        let names = |kinds: &[Kind]| -> BTreeSet<String> {
            drawn_of(&data, kinds, Language::English).into_iter().map(|figure| figure.name).collect()
        };
        let (all, usual, samples) = (names(Kind::value_variants()), names(&Kind::USUAL), names(&[Kind::Samples]));
        assert!(usual.is_disjoint(&samples) && all == &usual | &samples);
        assert!(samples.contains("magma-parallel-memory-available-bytes") && samples.len() > usual.len());
        assert!(names(&[Kind::Repeats]).iter().all(|name| name.ends_with("-repeats")));
        let none = names(&[]);
        assert!(none.is_empty());
    }

    #[test]
    fn a_russian_drawing_has_russian_figures_on_its_axes() {
        let all = drawn(&sample::run(50), Language::Russian);
        for (name, figure) in [
            ("magma-parallel-repeats", "ГБ/с"),
            ("magma-parallel-histogram", "ГБ/с"),
            ("4k-seq-read-timeline", "кIOPS"),
            ("4k-rand-read-latency-latency", "мкс"),
            ("magma-parallel-memory-available-bytes", "ГБ"),
        ] {
            let (_, text) =
                read(&all.iter().find(|figure| figure.name == name).unwrap_or_else(|| panic!("{name}")).svg);
            assert!(text.contains(&format!("\u{a0}{figure}")), "{name}: {text}");
            assert!(!text.contains(" GB") && !text.contains(" µs") && !text.contains(" kIOPS"), "{name}: {text}");
        }
    }

    #[test]
    fn a_drawing_speaks_one_language() {
        let cyrillic = |text: &str| text.chars().any(|character| ('а'..='я').contains(&character));
        let of = |language| {
            let all = drawn(&sample::run(50), language);
            let figure =
                all.into_iter().find(|figure| figure.name.starts_with("magma-parallel-memory-available")).unwrap();
            read(&figure.svg).1
        };
        let (english, russian) = (of(Language::English), of(Language::Russian));
        assert!(english.contains("lowest") && !cyrillic(&english), "{english}");
        assert!(russian.contains("наименьшее") && !russian.contains("lowest"), "{russian}");
    }

    #[test]
    fn names_of_files_are_plain() {
        assert_eq!(file_name("pipe write, 32 KiB"), "pipe-write-32-kib");
        assert_eq!(file_name("../../etc/passwd"), "etc-passwd");
        assert_eq!(file_name("///"), "figure");
        assert_eq!(file_name(&"ы".repeat(300)).chars().count(), 60);
    }
}
