//! How long single operations took, as files.

use super::{Figures, Kind, LEFT, RIGHT, WIDTH};
use crate::html::scenario::ScenarioView;
use crate::latency::LatencyView;
use crate::phrase::{Phrase, called};
use crate::scene::{Place, Role, Scene};
use crate::sheet::{KEY_LINE, key_lines};
use crate::texts::TEXTS;

impl Figures {
    /// The histogram, and the percentiles.
    pub(super) fn latency(&mut self, scenario: &ScenarioView, view: &LatencyView) {
        let LatencyView { name, steps, curve, .. } = view;
        let short = &TEXTS.latency_steps_short;
        self.latency_drawing(scenario, view, steps, (&TEXTS.latency, short), name);
        if let Some(curve) = curve {
            let (what, short) = (&TEXTS.latency_percentiles, &TEXTS.latency_curve_short);
            self.latency_drawing(scenario, view, &curve.scene, (what, short), &format!("{name} percentiles"));
        }
    }

    /// One of them with its caption and, where there are several, the runs' names. The percentiles of every run are its description.
    fn latency_drawing(
        &mut self,
        scenario: &ScenarioView,
        view: &LatencyView,
        scene: &Scene,
        (what, caption): (&Phrase, &Phrase),
        file: &str,
    ) {
        let title = format!("{}: {}. {}", scenario.name, view.name, self.say(what));
        let names: Vec<_> = view.rows.iter().map(|row| called(&row.title)).collect();
        let names: Vec<&str> = names.iter().map(|name| self.say(name)).collect();
        let below_key = key_lines(&names, LEFT, LEFT, WIDTH).saturating_sub(1) as f64 * KEY_LINE;
        let top = if names.len() > 1 { 80.0 + below_key } else { 60.0 };
        let place = Place { left: LEFT, top, width: WIDTH - LEFT - RIGHT, height: 280.0 };
        let mut sheet = self.sheet(place.top + place.height + 32.0, &title, self.say(&scene.title));
        sheet.text((LEFT, 43.0), "start", Role::Quiet, self.say(caption));
        if names.len() > 1 {
            sheet.key((LEFT, 64.0), LEFT, &names, false);
        }
        sheet.draw(scene, place);
        self.add(Kind::Latencies, &scenario.name, file, title, sheet.finish());
    }
}
