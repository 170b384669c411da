//! The repeats of a scenario, as files.

use super::{Figures, Kind, LEFT, RIGHT, WIDTH};
use crate::dots::Dots;
use crate::histogram::{Histogram, HistogramRow};
use crate::html::scenario::ScenarioView;
use crate::phrase::called;
use crate::scene::{Place, Role};
use crate::sheet::{KEY_LINE, fitting, wrapped_to};
use crate::svg::SMALL;
use crate::texts::TEXTS;

impl Figures {
    /// The repeats of a scenario with median and interval.
    pub(super) fn dots(&mut self, scenario: &ScenarioView, dots: &Dots) {
        let title = format!("{}: {}", scenario.name, scenario.metric);
        let caption = self.say(&dots.caption);
        let width = WIDTH - LEFT - RIGHT;
        let lines = wrapped_to(caption, SMALL, width);
        let place = Place { left: LEFT, top: 66.0 + lines.len() as f64 * KEY_LINE, width, height: 240.0 };
        let mut sheet = self.sheet(place.top + place.height + 20.0, &title, caption);
        sheet.lines((LEFT, 43.0), &lines);
        for panel in &dots.panels {
            let name = called(&panel.title);
            let room = place.x(panel.width) - place.left - 6.0;
            let at = (place.x(panel.left) + 4.0, place.top - 8.0);
            sheet.text(at, "start", Role::Quiet, &fitting(self.say(&name), SMALL, room));
        }
        sheet.draw(&dots.scene, place);
        self.add(Kind::Repeats, &scenario.name, "repeats", title, sheet.finish());
    }

    /// How the values of the repeats are distributed, a row of bars for each run.
    pub(super) fn histogram(&mut self, scenario: &ScenarioView, histogram: &Histogram) {
        const ROW: f64 = 100.0;
        const ABOVE: f64 = 30.0;
        const AXIS: f64 = 20.0;
        let title = format!("{}: {}. {}", scenario.name, scenario.metric, self.say(&TEXTS.histogram));
        let caption = self.say(&TEXTS.histogram_caption);
        let axis = |row: &HistogramRow| if row.scene.across.is_empty() { 0.0 } else { AXIS };
        let height: f64 = histogram.rows.iter().map(|row| ABOVE + ROW + axis(row)).sum();
        let mut sheet = self.sheet(54.0 + height + 8.0, &title, caption);
        sheet.text((LEFT, 43.0), "start", Role::Quiet, caption);
        let mut head = 54.0;
        for row in &histogram.rows {
            let place = Place { left: LEFT, top: head + ABOVE, width: WIDTH - LEFT - RIGHT, height: ROW };
            if histogram.rows.len() > 1 {
                sheet.text((LEFT, place.top - 8.0), "start", Role::Quiet, self.say(&called(&row.title)));
            }
            sheet.draw(&row.scene, place);
            head = place.top + ROW + axis(row);
        }
        self.add(Kind::Histograms, &scenario.name, "histogram", title, sheet.finish());
    }
}
