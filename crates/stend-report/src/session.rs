//! A run's repeats in the order of time: how far each lies from its scenario's median, so that drift is seen at a glance.

use jiff::Timestamp;
use stend_model::metric::Unit;
use stend_model::run::{Repeat, Run};

use super::phrase::Phrase;
use super::scale::{CANVAS, Scale, Tick, ticks};
use super::scene::{Description, Role, Scene, Shape};
use super::text;

/// One repeat.
pub(super) struct Made {
    /// Its style: `valid`, `invalid`, `failed`, `warmup`.
    pub(super) class: &'static str,
    /// What its tooltip says.
    pub(super) title: Phrase,
}

/// Draws the main metric of every repeat that has a value, over this stretch of time; none where fewer than two do. `made` says how each looks.
pub(super) fn drawing(
    run: &Run,
    repeats: &[Repeat],
    id: String,
    title: Phrase,
    (began, ended): (Timestamp, Timestamp),
    made: impl Fn(&Repeat, &str) -> Made,
) -> Option<Scene> {
    let value = |repeat: &Repeat| {
        let metric = run.suite.scenarios.get(repeat.scenario)?.metrics.first()?;
        repeat.value(metric).filter(|value| value.is_finite() && *value > 0.0)
    };
    let median = |scenario: usize| {
        let of_it = repeats.iter().filter(|repeat| repeat.scenario == scenario && repeat.counts());
        stend_stats::median(&of_it.filter_map(value).collect::<Vec<_>>())
    };
    let medians: Vec<Option<f64>> = (0..run.suite.scenarios.len()).map(median).collect();
    let points: Vec<(&Repeat, f64)> = repeats
        .iter()
        .filter_map(|repeat| Some((repeat, (value(repeat)? / medians.get(repeat.scenario).copied()?? - 1.0) * 100.0)))
        .collect();
    let counted: Vec<f64> = points.iter().filter(|(repeat, _)| repeat.counts()).map(|(_, off)| off.abs()).collect();
    if counted.len() < 2 {
        return None;
    }
    // What is far off is at the edge: else it would hide a drift of all others.
    let usual = stend_stats::median(&counted).unwrap_or(0.0);
    let furthest = counted.iter().copied().fold(0.0, f64::max);
    let most = furthest.min(usual * 8.0).max(1.0) * 1.1;
    let seconds = |repeat: &Repeat| repeat.started_at.duration_since(began).as_secs_f64();
    let long = ended.duration_since(began).as_secs_f64().max(1e-3);
    let mut scene = Scene::new(id, title, Description::Beside, ticks(Scale::Unit(Unit::Percent), -most, most));
    scene.tall = false;
    scene.across = (0..=4_u8)
        .map(|part| {
            let share = f64::from(part) / 4.0;
            Tick::at(share, if part == 0 { "0".into() } else { text::duration(long * share * 1e9) })
        })
        .collect();
    scene.rules();
    scene.axes();
    for (repeat, off) in &points {
        let x = (seconds(repeat) / long * CANVAS.0).round();
        let y = ((most - off.clamp(-most, most)) / (2.0 * most) * CANVAS.1).round();
        let scenario = &run.suite.scenarios[repeat.scenario];
        let Made { class, title } = made(repeat, &format!("{}: {}", scenario.name, text::signed_percent(off / 100.0)));
        scene.push_titled(Role::Repeat(class), Shape::Dot((x, y)), title);
    }
    Some(scene)
}
