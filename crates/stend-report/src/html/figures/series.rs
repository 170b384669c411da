//! What happened over time, as files: the samples of one metric, and all that a storage load did.

use anyhow::Result;

use super::{Figures, Kind, LEFT, RIGHT, WIDTH};
use crate::chart::{Band, Chart};
use crate::html::scenario::{ScenarioRunView, ScenarioView};
use crate::language::TEXTS;
use crate::numbers::in_language;
use crate::scale::CANVAS;
use crate::sheet::{
    BAD, FAULT, INK, KEY_LINE, LINES, PAPER, Place, QUIET, RECOVERY, RULE, SMALL, Sheet, Stroke, TEXT, fitting,
    key_lines, width_of,
};
use crate::timeline::{Flag, Timeline};

impl Figures {
    /// The samples of one metric, repeat after repeat.
    pub(super) fn chart(&mut self, scenario: &ScenarioView, run: &ScenarioRunView, chart: &Chart) -> Result<()> {
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
        self.add(Kind::Samples, &scenario.name, &chart.title.en.clone(), title, sheet.finish()?);
        Ok(())
    }

    /// All that happened while storage was loaded, on one axis of time.
    pub(super) fn timeline(
        &mut self,
        scenario: &ScenarioView,
        run: &ScenarioRunView,
        timeline: &Timeline,
    ) -> Result<()> {
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
        self.add(Kind::Timelines, &scenario.name, "timeline", title, sheet.finish()?);
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
