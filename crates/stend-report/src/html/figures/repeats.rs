//! The repeats of a scenario, as files.

use anyhow::Result;

use super::{Figures, Kind, LEFT, RIGHT, WIDTH};
use crate::dots::Dots;
use crate::histogram::{Histogram, HistogramRow};
use crate::html::scenario::ScenarioView;
use crate::language::TEXTS;
use crate::phrase::called;
use crate::sheet::{BAD, KEY_LINE, LINES, Place, QUIET, SMALL, Stroke, fitting, wrapped_to};

impl Figures {
    /// The repeats of a scenario with median and interval.
    pub(super) fn dots(&mut self, scenario: &ScenarioView, dots: &Dots) -> Result<()> {
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
                sheet.dot(at, colour, dot.is_hollow(), self.say(&dot.title))?;
            }
        }
        self.add(Kind::Repeats, &scenario.name, "repeats", title, sheet.finish()?);
        Ok(())
    }

    /// How the values of the repeats are distributed, a row of bars for each run.
    pub(super) fn histogram(&mut self, scenario: &ScenarioView, histogram: &Histogram) -> Result<()> {
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
        self.add(Kind::Histograms, &scenario.name, "histogram", title, sheet.finish()?);
        Ok(())
    }
}
