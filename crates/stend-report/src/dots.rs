//! The repeats of a scenario as dots, with median and interval: one panel a run, all on one scale.

use stend_model::metric::Unit;

use super::language::{TEXTS, with_axis};
use super::phrase::Phrase;
use super::scale::{CANVAS, Scale, Tick, padded, ticks};

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

/// The drawing, ready for the template.
pub(super) struct Dots {
    pub(super) panels: Vec<Panel>,
    pub(super) ticks: Vec<Tick>,
    pub(super) caption: Phrase,
}

/// One run's part of the drawing.
pub(super) struct Panel {
    pub(super) title: String,
    /// How wide it is, in hundredths of the whole width.
    pub(super) percent: f64,
    pub(super) left: f64,
    pub(super) width: f64,
    /// The median's height.
    pub(super) median: Option<f64>,
    /// The interval's upper edge and height.
    pub(super) interval: Option<(f64, f64)>,
    pub(super) dots: Vec<Dot>,
}

/// One dot of a drawing.
pub(super) struct Dot {
    /// Where it is, in units of the canvas.
    pub(super) x: f64,
    pub(super) y: f64,
    /// Of a repeat whether it counts, of a point of a load whether that is closed; empty where dots are all alike.
    pub(super) class: &'static str,
    /// What is shown when the pointer rests on it.
    pub(super) title: Phrase,
}

impl Dot {
    /// Whether it is drawn hollow: it is not one of those that the drawing is about.
    pub(super) fn is_hollow(&self) -> bool {
        !matches!(self.class, "" | "valid")
    }
}

/// Draws the panels; none if there is no value at all.
pub(super) fn dots(panels: Vec<PanelData>, unit: Unit) -> Option<Dots> {
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
    let mut left = 0.0;
    let mut drawn = Vec::new();
    for (panel, share) in panels.into_iter().zip(shares) {
        let width = share / whole * CANVAS.0;
        let step = width / (panel.repeats.len() as f64 + 1.0);
        let dot = |(index, repeat): (usize, Repeated)| {
            let value = repeat.value.filter(|value| value.is_finite())?;
            let x = (left + step * (index as f64 + 1.0)).round();
            Some(Dot { x, y: height(value), class: repeat.class, title: repeat.title })
        };
        drawn.push(Panel {
            title: panel.title,
            percent: width / CANVAS.0 * 100.0,
            left: left.round(),
            width: width.round(),
            median: panel.median.map(height),
            interval: panel.interval.map(|(low, high)| (height(high), (height(low) - height(high)).max(2.0))),
            dots: panel.repeats.into_iter().enumerate().filter_map(dot).collect(),
        });
        left += width;
    }
    let has_band = drawn.iter().any(|panel| panel.interval.is_some());
    let caption =
        if has_band { &TEXTS.repeats_caption.followed_by(&TEXTS.repeats_band) } else { &TEXTS.repeats_caption };
    let caption = with_axis(caption, bottom);
    Some(Dots { panels: drawn, ticks: ticks(Scale::Unit(unit), bottom, top), caption })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeats_without_a_value_leave_a_gap() {
        let repeat = |value| Repeated { value, class: "valid", title: Phrase::fixed("", "") };
        let panel = |repeats| PanelData { title: "a".into(), repeats, median: Some(1.0), interval: None };
        let drawn = dots(vec![panel(vec![repeat(Some(1.0)), repeat(None), repeat(Some(2.0))])], Unit::Seconds).unwrap();
        assert_eq!(drawn.panels[0].dots.iter().map(|dot| dot.x).collect::<Vec<_>>(), [1000.0, 3000.0]);
        assert!(drawn.panels[0].dots[0].y > drawn.panels[0].dots[1].y, "more is higher");
        assert!(dots(vec![panel(vec![repeat(None), repeat(Some(f64::NAN))])], Unit::Seconds).is_none());
        assert!(dots(vec![], Unit::Seconds).is_none());
    }

    #[test]
    fn an_axis_that_begins_at_zero_is_not_said_to_begin_elsewhere() {
        let caption = |least| {
            let repeat = |value| Repeated { value: Some(value), class: "valid", title: Phrase::fixed("", "") };
            let panel = PanelData {
                title: "a".into(),
                repeats: vec![repeat(least), repeat(10.0)],
                median: None,
                interval: None,
            };
            dots(vec![panel], Unit::Seconds).unwrap().caption
        };
        for (least, is_said) in [(9.0, true), (0.1, false), (0.0, false), (-1.0, true)] {
            let caption = caption(least);
            assert_eq!(caption.en.contains("does not begin at zero"), is_said, "{least}");
            assert_eq!(caption.ru.contains("не с нуля"), is_said, "{least}");
        }
    }
}
