//! Families of scenarios, as files: latency over throughput, and matrices.

use anyhow::Result;

use super::{Figures, Kind, LEFT, RIGHT, TITLE, WIDTH};
use crate::curve::{CurveView, CurvesView};
use crate::heat::{HeatMap, HeatMaps};
use crate::language::TEXTS;
use crate::numbers::in_language;
use crate::sheet::{HEAT, INK, KEY_LINE, PAPER, Place, QUIET, SMALL, Sheet, TEXT, key_lines, width_of};

impl Figures {
    /// Latency over throughput.
    pub(super) fn curve(&mut self, curves: &CurvesView, view: &CurveView) -> Result<()> {
        let title = format!("{}: {}, {}", self.say(&TEXTS.curve_title), curves.title, view.run);
        let caption = self.say(&TEXTS.curve_caption);
        let names: Vec<&str> = view.lines.iter().map(|line| self.say(&line.name)).collect();
        let below_key = key_lines(&names, LEFT, LEFT, WIDTH).saturating_sub(1) as f64 * KEY_LINE;
        let place = Place { left: LEFT, top: 72.0 + below_key, width: WIDTH - LEFT - RIGHT, height: 320.0 };
        let mut sheet = self.sheet(place.top + place.height + 32.0, &title, caption)?;
        sheet.key((LEFT, 46.0), LEFT, &names, false)?;
        sheet.frame(&view.ticks, place)?;
        sheet.across(&view.across, place)?;
        self.curve_lines(&mut sheet, &view.lines, place)?;
        for label in &view.labels {
            let x = place.left + label.left / 100.0 * place.width;
            let y = place.top + label.top / 100.0 * place.height;
            // Beside the point: over it stands the bar of its interval.
            let text = self.say(&label.text);
            let is_at_the_edge = x + 7.0 + width_of(text, SMALL) > WIDTH - 4.0;
            let (x, anchor) = if is_at_the_edge { (x - 7.0, "end") } else { (x + 7.0, "start") };
            sheet.text((x, y - 7.0), anchor, SMALL, QUIET, text)?;
        }
        self.add(Kind::Sweeps, &curves.title, "curve", title, sheet.finish()?);
        Ok(())
    }

    /// A matrix of two axes.
    pub(super) fn heat(&mut self, maps: &HeatMaps, map: &HeatMap) -> Result<()> {
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
        self.add(Kind::Sweeps, &maps.title, "matrix", title, sheet.finish()?);
        Ok(())
    }
}
