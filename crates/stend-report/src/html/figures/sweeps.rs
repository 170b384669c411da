//! Families of scenarios, as files: curves and matrices.

use super::{Figures, Kind, LEFT, RIGHT, WIDTH};
use crate::curve::{CurveView, CurvesView};
use crate::heat::{HeatMap, HeatMaps};
use crate::numbers::in_language;
use crate::scene::{Place, Role};
use crate::sheet::{KEY_LINE, Sheet, key_lines, width_of};
use crate::svg::TITLE;

impl Figures {
    /// A family's curves.
    pub(super) fn curve(&mut self, curves: &CurvesView, view: &CurveView) {
        let title = format!("{}, {}", self.say(&curves.title), view.run);
        let caption = self.say(&curves.caption);
        let names: Vec<&str> = view.names.iter().map(|name| self.say(name)).collect();
        let below_key = key_lines(&names, LEFT, LEFT, WIDTH).saturating_sub(1) as f64 * KEY_LINE;
        let place = Place { left: LEFT, top: 72.0 + below_key, width: WIDTH - LEFT - RIGHT, height: 320.0 };
        let mut sheet = self.sheet(place.top + place.height + 32.0, &title, caption);
        sheet.key((LEFT, 46.0), LEFT, &names, view.bars);
        sheet.draw(&view.scene, place);
        self.add(Kind::Sweeps, &curves.family, "curve", title, sheet.finish());
    }

    /// A matrix of two axes.
    pub(super) fn heat(&mut self, maps: &HeatMaps, map: &HeatMap) {
        const TOP: f64 = 58.0;
        let title = format!("{}, {}", maps.title, map.run);
        let axes = self.say(&maps.axes);
        // Words of the title stand beside, not over each other, however few the columns.
        let width = (map.width + 40.0).max(width_of(&title, TITLE) + 40.0);
        let mut sheet = Sheet::new(width, TOP + map.height + 20.0, &title, axes, self.language);
        sheet.text((20.0, 24.0), "start", Role::Title, &title);
        let range = format!("{} … {}", maps.lowest, maps.highest);
        let range = format!("{axes}; {}", in_language(&range, self.language));
        sheet.text((20.0, 43.0), "start", Role::Quiet, &range);
        sheet.draw_as_it_is(&map.marks, (20.0, TOP));
        self.add(Kind::Sweeps, &maps.title, "matrix", title, sheet.finish());
    }
}
