//! The repeats of a scenario as dots, with median and interval: one panel a run, all on one scale.

use stend_model::metric::Unit;

use super::phrase::Phrase;
use super::scale::{CANVAS, Scale, padded, ticks};
use super::scene::{Description, Place, Role, Scene, Shape, level, upright};
use super::texts::{TEXTS, with_axis};

/// One repeat.
pub(super) struct Repeated {
    /// Its value; nothing is drawn without one.
    pub(super) value: Option<f64>,
    /// Its style: `valid`, `invalid`, `failed`, `warmup`.
    pub(super) class: &'static str,
    /// What its tooltip says.
    pub(super) title: Phrase,
}

/// The repeats of one run.
pub(super) struct PanelData {
    /// The run's title.
    pub(super) title: String,
    /// In the order in which they were made.
    pub(super) repeats: Vec<Repeated>,
    /// The median of those that count.
    pub(super) median: Option<f64>,
    /// The median's interval.
    pub(super) interval: Option<(f64, f64)>,
}

/// The drawing.
pub(super) struct Dots {
    pub(super) panels: Vec<Panel>,
    pub(super) caption: Phrase,
    pub(super) scene: Scene,
}

/// Where a run's part of the drawing is.
pub(super) struct Panel {
    pub(super) title: String,
    /// How wide it is, in hundredths of the whole width.
    pub(super) percent: f64,
    pub(super) left: f64,
    pub(super) width: f64,
}

/// Draws the panels; none if there is no value at all.
pub(super) fn dots(panels: Vec<PanelData>, unit: Unit, id: String, title: Phrase) -> Option<Dots> {
    let values = panels.iter().flat_map(|panel| panel.repeats.iter().filter_map(|repeat| repeat.value));
    let edges = panels.iter().filter_map(|panel| panel.interval).flat_map(|(low, high)| [low, high]);
    let finite = values.chain(edges).filter(|value| value.is_finite());
    let (low, high) =
        finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
    if low > high {
        return None;
    }
    let (bottom, top) = padded(low, high);
    let height = |value: f64| ((top - value) / (top - bottom) * CANVAS.1).round();
    // A panel with few repeats keeps some width, so that its title can be read.
    let shares: Vec<f64> = panels.iter().map(|panel| panel.repeats.len().max(4) as f64).collect();
    let whole: f64 = shares.iter().sum();
    let has_band = panels.iter().any(|panel| panel.interval.is_some());
    let mut scene = Scene::new(id, title, Description::Beside, ticks(Scale::Unit(unit), bottom, top));
    scene.rules();
    scene.axes();
    let mut left = 0.0_f64;
    let mut drawn = Vec::new();
    for (panel, share) in panels.into_iter().zip(shares) {
        let width = share / whole * CANVAS.0;
        let step = width / (panel.repeats.len() as f64 + 1.0);
        let (from, long) = (left.round(), width.round());
        if let Some((low, high)) = panel.interval {
            let (top, bottom) = (height(high), height(low));
            let place = Place { left: from, top, width: long, height: (bottom - top).max(2.0) };
            scene.push(Role::Interval, Shape::Rectangle(place));
        }
        if let Some(median) = panel.median {
            scene.push(Role::Median, level(from, from + long, height(median)));
        }
        if !drawn.is_empty() {
            scene.push(Role::Border, upright(from));
        }
        for (repeat, place) in panel.repeats.into_iter().zip(1..) {
            if let Some(value) = repeat.value.filter(|value| value.is_finite()) {
                let at = ((left + step * f64::from(place)).round(), height(value));
                scene.push_titled(Role::Repeat(repeat.class), Shape::Dot(at), repeat.title);
            }
        }
        drawn.push(Panel { title: panel.title, percent: width / CANVAS.0 * 100.0, left: from, width: long });
        left += width;
    }
    let caption = if has_band {
        &Phrase::joined(&[TEXTS.repeats_caption.clone(), TEXTS.repeats_band.clone()], " ")
    } else {
        &TEXTS.repeats_caption
    };
    let caption = with_axis(caption, bottom);
    Some(Dots { panels: drawn, caption, scene })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeats_without_a_value_leave_a_gap() {
        let repeat = |value| Repeated { value, class: "valid", title: Phrase::default() };
        let panel = |repeats| PanelData { title: "a".into(), repeats, median: Some(1.0), interval: None };
        let dots = |panels| dots(panels, Unit::Seconds, "d".into(), Phrase::default());
        let drawn = dots(vec![panel(vec![repeat(Some(1.0)), repeat(None), repeat(Some(2.0))])]).unwrap();
        let [one, other] = &drawn.scene.paths(Role::Repeat("valid"))[..] else { panic!("two have a value") };
        assert_eq!((one[0].0, other[0].0), (1000.0, 3000.0));
        assert!(one[0].1 > other[0].1, "more is higher");
        assert!(dots(vec![panel(vec![repeat(None), repeat(Some(f64::NAN))])]).is_none());
        assert!(dots(vec![]).is_none());
    }

    #[test]
    fn an_axis_that_begins_at_zero_is_not_said_to_begin_elsewhere() {
        let caption = |least| {
            let repeat = |value| Repeated { value: Some(value), class: "valid", title: Phrase::default() };
            let panel = PanelData {
                title: "a".into(),
                repeats: vec![repeat(least), repeat(10.0)],
                median: None,
                interval: None,
            };
            dots(vec![panel], Unit::Seconds, "d".into(), Phrase::default()).unwrap().caption
        };
        for (least, is_said) in [(9.0, true), (0.1, false), (0.0, false), (-1.0, true)] {
            let caption = caption(least);
            assert_eq!(caption.english().contains("does not start at zero"), is_said, "{least}");
            assert_eq!(caption.russian().contains("не с нуля"), is_said, "{least}");
        }
    }
}
