//! Each drawing of a report as a file of its own.

mod forest;
mod latency;
mod published;
mod repeats;
pub(super) mod series;
mod sweeps;

use std::collections::BTreeSet;

use anyhow::Result;
use clap::ValueEnum;

use super::scenario::{self, ScenarioRunView, ScenarioView};
use super::{Input, scenario_names, sweeps};
use crate::chart::Purpose;
use crate::flame;
use crate::phrase::{Phrase, called};
use crate::scene::Role;
use crate::sheet::{Sheet, fitting};
use crate::svg::TITLE;
use crate::words::language::Language;
use stend_model::profile::Observed;

/// A kind of drawing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// The changes of all scenarios with their intervals, as a forest plot
    Forest,
    /// Published figures beside the base's, as bars
    Published,
    /// Families of scenarios: matrices, and latency over throughput
    Sweeps,
    /// The repeats of each scenario with median and interval
    Repeats,
    /// Histograms of the repeats
    Histograms,
    /// Latency of single operations: histogram and percentiles
    Latencies,
    /// All series and events of a storage load, on one time axis
    Timelines,
    /// Flame graphs of profiled scenarios
    Flames,
    /// The samples of each metric, repeat after repeat: dozens for each scenario
    Samples,
}

impl Kind {
    /// What is drawn if nothing else is asked for: all but the samples of single metrics, which are more than all others together, and which
    /// the page shows better.
    pub const USUAL: [Self; 8] = [
        Self::Forest,
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
pub struct Figure {
    /// The file's name without its ending: the scenario and the kind, in letters that every file system has.
    pub name: String,
    /// Of which kind it is.
    pub kind: Kind,
    /// The scenario, or the family of scenarios.
    pub of: String,
    /// What it shows.
    pub title: String,
    /// The file's contents.
    pub svg: String,
}

/// The width of every sheet, and what is left free at its sides: the axis' figures stand at the left.
const WIDTH: f64 = 900.0;
const LEFT: f64 = 96.0;
const RIGHT: f64 = 24.0;

/// The drawings of a report that are of these kinds, with the texts of one language.
///
/// # Errors
/// Only if memory runs out, or a profile that came from elsewhere is none.
pub fn figures(input: &Input, kinds: &[Kind], language: Language) -> Result<Vec<Figure>> {
    let wants = |kind: Kind| kinds.contains(&kind);
    let mut all = Figures { list: Vec::new(), names: BTreeSet::new(), language };
    if wants(Kind::Forest) {
        all.forests(input.table);
    }
    if wants(Kind::Published) {
        all.published(input.table);
    }
    let (heat, curves) = if wants(Kind::Sweeps) { sweeps(input) } else { Default::default() };
    for maps in &heat {
        for map in &maps.maps {
            all.heat(maps, map);
        }
    }
    for curves in &curves {
        for view in &curves.views {
            all.curve(curves, view);
        }
    }
    for scenario in &scenario::scenarios(input, &scenario_names(input), Purpose::Files, Ok)? {
        for metric in &scenario.metrics {
            if wants(Kind::Repeats) {
                all.dots(scenario, &metric.dots);
            }
            if let Some(histogram) = metric.histogram.as_ref().filter(|_| wants(Kind::Histograms)) {
                all.histogram(scenario, histogram);
            }
        }
        for latencies in scenario.latencies.iter().filter(|_| wants(Kind::Latencies)) {
            all.latency(scenario, &latencies.view);
        }
        for run in &scenario.runs {
            if let Some(timeline) = run.timeline.as_ref().filter(|_| wants(Kind::Timelines)) {
                all.timeline(scenario, run, timeline);
            }
            for chart in run.charts.instrument.iter().chain(&run.charts.machine).filter(|_| wants(Kind::Samples)) {
                all.chart(scenario, run, chart);
            }
        }
        for data in input.runs.iter().filter(|_| wants(Kind::Flames)) {
            let profiles = data.profiles.iter().filter(|profile| profile.scenario == scenario.name);
            for profile in profiles {
                if let Observed::Stacks(stacks) = &profile.observed {
                    let title = format!("{}, {}", scenario.name, scenario::title(input.table, data));
                    all.add(Kind::Flames, &scenario.name, "flame", title.clone(), flame::standalone(stacks, &title)?);
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

    fn sheet(&self, height: f64, title: &str, description: &str) -> Sheet {
        titled(height, title, description, self.language)
    }

    /// Keeps a figure under a name that no other has.
    fn add(&mut self, kind: Kind, of: &str, what: &str, title: String, svg: String) {
        let wanted = format!("{}-{}", file_name(of), file_name(what));
        let mut name = wanted.clone();
        let mut number = 1;
        while !self.names.insert(name.clone()) {
            number += 1;
            name = format!("{wanted}-{number}");
        }
        self.list.push(Figure { name, kind, of: of.to_owned(), title, svg });
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

/// A sheet with its title.
fn titled(height: f64, title: &str, description: &str, language: Language) -> Sheet {
    let mut sheet = Sheet::new(WIDTH, height, title, description, language);
    sheet.text((LEFT, 24.0), "start", Role::Title, &fitting(title, TITLE, WIDTH - LEFT - RIGHT));
    sheet
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

    use super::*;
    use crate::example::{self, SampleRun};

    fn drawn(data: &SampleRun, language: Language) -> Vec<Figure> {
        drawn_of(data, Kind::value_variants(), language)
    }

    fn drawn_of(data: &SampleRun, kinds: &[Kind], language: Language) -> Vec<Figure> {
        let table = example::table();
        let runs = [data.data()];
        let input =
            Input { table: &table, runs: &runs, command: "stend report", generated_at: jiff::Timestamp::UNIX_EPOCH };
        figures(&input, kinds, language).unwrap()
    }

    #[test]
    fn a_drawing_is_written_as_before() {
        let drawing = drawn_of(&example::run(0), &[Kind::Repeats], Language::English).remove(0);
        insta::assert_snapshot!("drawing", drawing.svg);
    }

    #[test]
    fn what_dots_and_bands_mean_is_there_to_see() {
        for figure in drawn_of(&example::run(0), &[Kind::Repeats], Language::Russian) {
            let seen = figure.svg.split_once("</desc>").unwrap().1;
            for words in ["Точка — повтор", "Ось начинается"] {
                assert!(seen.contains(words), "{words}: {seen}");
            }
            // Five repeats count there, which give no interval.
            assert_eq!(seen.contains("интервал 95\u{a0}%"), !seen.contains("nginx"), "{seen}");
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
        let all = drawn(&example::run(50), Language::English);
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
        let data = example::run(50);
        let names = |kinds: &[Kind]| -> BTreeSet<String> {
            drawn_of(&data, kinds, Language::English).into_iter().map(|figure| figure.name).collect()
        };
        let (all, usual, samples) = (names(Kind::value_variants()), names(&Kind::USUAL), names(&[Kind::Samples]));
        assert!(usual.is_disjoint(&samples) && all == &usual | &samples);
        assert!(samples.contains("magma-parallel-available-memory") && samples.len() > usual.len());
        assert!(names(&[Kind::Repeats]).iter().all(|name| name.ends_with("-repeats")));
        let none = names(&[]);
        assert!(none.is_empty());
    }

    #[test]
    fn a_russian_drawing_has_russian_figures_on_its_axes() {
        let all = drawn(&example::run(50), Language::Russian);
        for (name, figure) in [
            ("magma-parallel-repeats", "ГБ/с"),
            ("magma-parallel-histogram", "ГБ/с"),
            ("4k-seq-read-timeline", "кIOPS"),
            ("4k-rand-read-latency-latency", "мкс"),
            ("magma-parallel-available-memory", "ГБ"),
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
            let all = drawn(&example::run(50), language);
            let figure =
                all.into_iter().find(|figure| figure.name.starts_with("magma-parallel-available-memory")).unwrap();
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
