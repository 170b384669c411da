//! A comparison as a forest plot in a file.

use super::{Figures, Kind, LEFT, RIGHT, WIDTH};
use crate::forest::Forest;
use crate::scene::{Place, Role};
use crate::sheet::{KEY_LINE, fitting, wrapped_to};
use crate::svg::SMALL;
use crate::texts::TEXTS;
use stend_compare::table::Table;

/// From where to where lines go; labels stand to the left, figures to the right.
const FROM: f64 = 270.0;
const TO: f64 = 640.0;
const LINE: f64 = 22.0;
const TOP: f64 = 48.0;

impl Figures {
    /// A figure for each other run.
    pub(super) fn forests(&mut self, table: &Table) {
        for forest in Forest::all(table) {
            let title = self.say(&forest.heading()).to_owned();
            let caption = self.say(&TEXTS.forest_caption).to_owned();
            let caption_lines = wrapped_to(&caption, SMALL, WIDTH - LEFT - RIGHT);
            let head = TOP + caption_lines.len() as f64 * KEY_LINE;
            let height = head + forest.lines.len() as f64 * LINE + 30.0;
            let mut sheet = self.sheet(height, &title, &caption);
            sheet.lines((LEFT, 43.0), &caption_lines);
            for (number, line) in forest.lines.iter().enumerate() {
                let top = head + number as f64 * LINE;
                let place = Place { left: FROM, top, width: TO - FROM, height: LINE };
                let label = self.say(&line.label);
                let role = if line.scenario.is_some() { Role::Said } else { Role::PartTitle };
                let text = top + LINE / 2.0 + 4.0;
                sheet.text((FROM - 12.0, text), "end", role, &fitting(label, SMALL, FROM - 24.0));
                sheet.draw_as_it_is(&forest.marks(line, place), (0.0, 0.0));
                sheet.figure((TO + 12.0, text), "start", role, &line.change());
                sheet.figure((TO + 110.0, text), "start", Role::Quiet, &line.interval());
            }
            let below = head + forest.lines.len() as f64 * LINE + 16.0;
            for tick in forest.ticks() {
                sheet.figure((FROM + tick.percent / 100.0 * (TO - FROM), below), "middle", Role::Quiet, &tick.label);
            }
            self.add(Kind::Forest, &forest.title, "forest", title, sheet.finish());
        }
    }
}
