//! How long single operations took, as files.

use anyhow::Result;

use super::{Figures, Kind, LEFT, RIGHT, WIDTH};
use crate::html::scenario::ScenarioView;
use crate::language::TEXTS;
use crate::latency::{LatencyView, PercentileCurve};
use crate::phrase::called;
use crate::sheet::{KEY_LINE, LINES, Place, QUIET, SMALL, Sheet, Stroke, key_lines};

impl Figures {
    pub(super) fn latency(&mut self, scenario: &ScenarioView, view: &LatencyView) -> Result<()> {
        self.latency_steps(scenario, view)?;
        match &view.curve {
            Some(curve) => self.latency_percentiles(scenario, view, curve),
            None => Ok(()),
        }
    }

    /// The histogram.
    fn latency_steps(&mut self, scenario: &ScenarioView, view: &LatencyView) -> Result<()> {
        let title = format!("{}: {}. {}", scenario.name, view.name, self.say(&TEXTS.latency));
        let names: Vec<_> = view.steps.lines.iter().map(|line| called(&line.title)).collect();
        let names: Vec<&str> = names.iter().map(|name| self.say(name)).collect();
        let (mut sheet, place) = self.latency_sheet(view, &title, self.say(&TEXTS.latency_steps_short), &names)?;
        for (number, line) in view.steps.lines.iter().enumerate() {
            let path = place.path(&line.path);
            sheet.area(&path, LINES[number % LINES.len()].0, 0.15)?;
            sheet.path(&path, Stroke::of_line(number))?;
        }
        sheet.frame(&[], place)?;
        sheet.across(&view.steps.across, place)?;
        self.add(Kind::Latencies, &scenario.name, &view.name, title, sheet.finish()?);
        Ok(())
    }

    /// The percentiles.
    fn latency_percentiles(
        &mut self,
        scenario: &ScenarioView,
        view: &LatencyView,
        curve: &PercentileCurve,
    ) -> Result<()> {
        let title = format!("{}: {}. {}", scenario.name, view.name, self.say(&TEXTS.latency_percentiles));
        let names: Vec<&str> = curve.lines.iter().map(|line| self.say(&line.name)).collect();
        let (mut sheet, place) = self.latency_sheet(view, &title, self.say(&TEXTS.latency_curve_short), &names)?;
        sheet.frame(&curve.ticks, place)?;
        sheet.across(&curve.across, place)?;
        self.curve_lines(&mut sheet, &curve.lines, place)?;
        self.add(Kind::Latencies, &scenario.name, &format!("{} percentiles", view.name), title, sheet.finish()?);
        Ok(())
    }

    /// A sheet with its caption and, where there are several, the runs' names, and the place of the drawing below them. The percentiles of
    /// every run are its description.
    fn latency_sheet(&self, view: &LatencyView, title: &str, caption: &str, names: &[&str]) -> Result<(Sheet, Place)> {
        let below_key = key_lines(names, LEFT, LEFT, WIDTH).saturating_sub(1) as f64 * KEY_LINE;
        let top = if names.len() > 1 { 80.0 + below_key } else { 60.0 };
        let place = Place { left: LEFT, top, width: WIDTH - LEFT - RIGHT, height: 280.0 };
        let mut sheet = self.sheet(place.top + place.height + 32.0, title, self.say(&view.words()))?;
        sheet.text((LEFT, 43.0), "start", SMALL, QUIET, caption)?;
        if names.len() > 1 {
            sheet.key((LEFT, 64.0), LEFT, names, false)?;
        }
        Ok((sheet, place))
    }
}
