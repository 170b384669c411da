//! What happened over time, as files: the samples of one metric, and all that a storage load did.

use super::{Figures, Kind, LEFT, RIGHT, WIDTH, titled};
use crate::chart::{Band, Chart};
use crate::html::scenario::{ScenarioRunView, ScenarioView};
use crate::numbers::in_language;
use crate::scene::{Place, Role, Shape};
use crate::sheet::{KEY_LINE, fitting, key_lines, width_of};
use crate::svg::{SMALL, TEXT};
use crate::texts::TEXTS;
use crate::timeline::{Flag, Timeline};
use crate::words::language::Language;

impl Figures {
    /// The samples of one metric, repeat after repeat.
    pub(super) fn chart(&mut self, scenario: &ScenarioView, run: &ScenarioRunView, chart: &Chart) {
        let title = self.title(scenario, run, self.say(&chart.title));
        let svg = drawn(chart, &run.charts.bands, &title, self.language);
        self.add(Kind::Samples, &scenario.name, chart.title.english(), title, svg);
    }

    /// All that happened while storage was loaded, on one axis of time.
    pub(super) fn timeline(&mut self, scenario: &ScenarioView, run: &ScenarioRunView, timeline: &Timeline) {
        const ROW: f64 = 110.0;
        const BETWEEN: f64 = 46.0;
        let title = self.title(scenario, run, self.say(&TEXTS.timeline));
        let top = 62.0 + timeline.levels as f64 * 16.0;
        // Of each row the names of its lines, where they begin, and how much lower its drawing is than below one line of them.
        let mut keys: Vec<(Vec<&str>, f64, f64)> = Vec::new();
        for row in &timeline.rows {
            let names: Vec<&str> = row.names.iter().map(|name| self.say(name)).collect();
            let first = LEFT + width_of(self.say(&row.scene.title), TEXT) + 20.0;
            let lower = key_lines(&names, first, LEFT, WIDTH).saturating_sub(1) as f64 * KEY_LINE;
            keys.push((names, first, lower));
        }
        let rows_end = top + keys.iter().map(|(.., lower)| ROW + BETWEEN + lower).sum::<f64>();
        let height = rows_end + 22.0 + timeline.flags.len() as f64 * 16.0 + 10.0;
        let happened: Vec<String> = timeline.flags.iter().map(|flag| self.happened(flag)).collect();
        let mut sheet = self.sheet(height, &title, &happened.join("; "));
        let width = WIDTH - LEFT - RIGHT;
        let whole = Place { left: LEFT, top, width, height: rows_end - top };
        for flag in &timeline.flags {
            let (x, y) = (whole.x(flag.x), 46.0 + flag.level as f64 * 16.0);
            let ground = Place { left: x - 9.0, top: y - 11.0, width: 18.0, height: 14.0 };
            sheet.push(Role::FlagGround(flag.class), Shape::Rectangle(ground));
            sheet.text((x, y), "middle", Role::FlagNumber, &flag.number.to_string());
        }
        let mut head = top;
        for (row, (names, first, lower)) in timeline.rows.iter().zip(keys) {
            sheet.text((LEFT, head + 15.0), "start", Role::PartTitle, self.say(&row.scene.title));
            sheet.key((first, head + 15.0), LEFT, &names, row.stacked);
            sheet.draw(&row.scene, Place { left: LEFT, top: head + 24.0 + lower, width, height: ROW });
            head += ROW + BETWEEN + lower;
        }
        for moment in &timeline.moments {
            sheet.figure((whole.x(moment.x()), rows_end - 4.0), "middle", Role::Quiet, &moment.label);
        }
        for (line, happened) in happened.iter().enumerate() {
            let y = rows_end + 18.0 + line as f64 * 16.0;
            sheet.text((LEFT, y), "start", Role::Said, &fitting(happened, SMALL, width));
        }
        self.add(Kind::Timelines, &scenario.name, "timeline", title, sheet.finish());
    }

    fn happened(&self, flag: &Flag) -> String {
        let repeat = if flag.repeat.is_empty() {
            String::new()
        } else {
            format!("{} {}, ", self.say(&TEXTS.repeat_word), flag.repeat)
        };
        format!("{}. {repeat}{}: {}", flag.number, in_language(&flag.time, self.language), self.say(&flag.label))
    }
}

/// The samples of one metric as a file.
pub(in crate::html) fn drawn(chart: &Chart, bands: &[Band], title: &str, language: Language) -> String {
    let caption = chart.caption.say(language);
    let names: Vec<&str> =
        chart.lines.iter().filter_map(|line| line.name.as_ref()).map(|name| name.say(language)).collect();
    let below_key = key_lines(&names, LEFT, LEFT, WIDTH).saturating_sub(1) as f64 * KEY_LINE;
    let top = if names.is_empty() { 78.0 } else { 98.0 + below_key };
    let place = Place { left: LEFT, top, width: WIDTH - LEFT - RIGHT, height: 200.0 };
    let mut sheet = titled(top + place.height + 30.0, title, caption, language);
    sheet.text((LEFT, 43.0), "start", Role::Quiet, caption);
    sheet.key((LEFT, 63.0), LEFT, &names, false);
    for band in bands.iter().filter(|band| !band.label.is_empty()) {
        sheet.text((place.x(band.left) + 3.0, place.top - 5.0), "start", Role::Quiet, &band.label);
    }
    sheet.draw(&chart.scene(bands), place);
    let below = place.top + place.height + 18.0;
    sheet.text((LEFT, below), "start", Role::Quiet, "0");
    sheet.figure((LEFT + place.width, below), "end", Role::Quiet, &chart.length);
    sheet.finish()
}
