//! How quiet a machine is: its noise floors for a terminal.

use std::fmt::Write as _;

use super::grid::{Grid, Style, piece, wrap, wrapped};
use super::notes;
use super::text::{count, percent};
use crate::compare::table::Note;
use crate::language::english_plural;
use crate::noise::{NoFloor, Noise, OfSensor, Sensor};
use stend_model::identity::short;
use stend_model::metric::three_digits;

/// A noise measurement for a terminal of this width.
pub(crate) fn terminal(noise: &Noise, limit: usize, colour: bool) -> String {
    let mut out = String::new();
    let head = piece(summary(noise), Style::Bold);
    wrap(&head.text, limit).iter().for_each(|line| out.push_str(&format!("{}\n", head.styled(line, colour))));
    let (hardware, suite, run) = (short(&noise.hardware_id), &noise.suite, &noise.run);
    let subject = format!("{} · hardware {hardware} · suite {suite} · run {run}", noise.machine);
    let _ = writeln!(out, "{}", wrapped(&subject, limit));
    let mut grid = Grid::new(["scenario", "median", "floor δ", "drift", "n", "went with"]);
    for one in &noise.scenarios {
        let share = |share: Option<f64>| share.map_or_else(|| "–".into(), percent);
        grid.push(vec![
            one.scenario.as_str().into(),
            one.median.map_or_else(|| "–".into(), |median| one.unit.show(median)).into(),
            share(one.floor).into(),
            share(one.drift).into(),
            count(one.valid, one.invalid, 0).into(),
            one.cause.map_or_else(|| "–".into(), |cause| strength(&cause)).into(),
        ]);
    }
    if !noise.scenarios.is_empty() {
        out.push_str(&grid.write(limit, colour));
        out.push('\n');
    }
    for line in lines(noise) {
        wrap(&line, limit).iter().for_each(|line| out.push_str(&format!("{line}\n")));
    }
    out
}

/// Floors up to this are those of a quiet machine, a restless one, and beyond of a noisy one.
const QUIET: f64 = 0.01;
const RESTLESS: f64 = 0.05;

fn summary(noise: &Noise) -> String {
    let lacking = |why: NoFloor| noise.scenarios.iter().filter(|one| one.no_floor == Some(why)).count();
    let others: String = [
        (NoFloor::TooFewRepeats, "too few repeats that count for a floor"),
        (NoFloor::NotPositive, "values of zero or less, which have no ratio and so no floor"),
    ]
    .into_iter()
    .filter(|(why, _)| lacking(*why) > 0)
    .map(|(why, what)| format!(" {} {what}.", english_plural(lacking(why), "scenario has", "scenarios have")))
    .collect();
    let mut floors: Vec<f64> = noise.scenarios.iter().filter_map(|one| one.floor).collect();
    floors.sort_by(f64::total_cmp);
    let (Some(median), Some(most)) = (stend_stats::median(&floors), floors.last()) else {
        let least = 2 * stend_stats::LEAST_PAIRS;
        let why = match lacking(NoFloor::NotPositive) {
            0 => format!("no scenario has {least} repeats that count."),
            _ => format!("no scenario has a floor.{others}"),
        };
        return format!("How quiet {} is cannot be said: {why}", noise.machine);
    };
    let word = match median {
        _ if median <= QUIET => "quiet",
        _ if median <= RESTLESS => "restless",
        _ => "noisy",
    };
    let worst = noise.scenarios.iter().find(|one| one.floor == Some(*most)).map_or("", |one| one.scenario.as_str());
    let most = percent(*most);
    if floors.len() == 1 {
        return format!("{} is {word}: “{worst}” differs from itself by {most}.{others}", noise.machine);
    }
    format!(
        "{} is {word}: of {} scenarios half differ from themselves by {} or less, and the worst, “{worst}”, by {most}.{others}",
        noise.machine,
        floors.len(),
        percent(median)
    )
}

fn lines(noise: &Noise) -> Vec<String> {
    let mut lines = Vec::new();
    if !noise.conditions.is_empty() {
        let unfit = Note::Unfit { run: noise.run.clone(), conditions: noise.conditions.clone() };
        lines.push(format!("Note: {}", notes::note(&unfit).en));
    }
    let explaining: Vec<String> = noise.sensors.iter().filter(|sensor| sensor.explains()).map(explanation).collect();
    let listed = |sensors: &[Sensor], last: &str| match sensors {
        [] => String::new(),
        [one] => name(*one).to_owned(),
        [first @ .., end] => {
            let first: Vec<_> = first.iter().map(|sensor| name(*sensor)).collect();
            format!("{} {last} {}", first.join(", "), name(*end))
        }
    };
    if explaining.is_empty() {
        let looked_at: Vec<Sensor> = noise.sensors.iter().map(|found| found.sensor).collect();
        lines.push(if looked_at.is_empty() {
            "What made it so cannot be said: no sensor moved.".into()
        } else {
            format!(
                "No sensor explains it: the worse repeats had no more {} than the others.",
                listed(&looked_at, "or")
            )
        });
    }
    lines.extend(explaining);
    if !noise.silent.is_empty() {
        lines.push(format!("Sensors that are missing here, or never moved: {}.", listed(&noise.silent, "and")));
    }
    lines.push(
        "δ: 19 of 20 interleaved comparisons of these repeats with themselves, half of them a side, lie within it; `stend compare` \
         calls nothing on this hardware better or worse that does not lie beyond it. drift: first half of the time against the second. \
         went with: the sensor that read more in the worse repeats, with the rank correlation."
            .into(),
    );
    lines
}

/// `Steal went with the worse repeats …`.
fn explanation(found: &OfSensor) -> String {
    let what = match found.sensor {
        Sensor::Load => format!("a higher load average, up to {}", three_digits(found.most)),
        Sensor::Steal | Sensor::ForeignCpu => {
            format!("more {}, up to {} of the CPU time", name(found.sensor), percent(found.most))
        }
        Sensor::ClockFall => format!("a lower clock, by up to {}", percent(found.most)),
    };
    format!("The worse repeats had {what}: rank correlation {:.2} over all scenarios.", found.correlation)
}

fn strength(cause: &OfSensor) -> String {
    format!("{} {:.2}", name(cause.sensor), cause.correlation)
}

fn name(sensor: Sensor) -> &'static str {
    match sensor {
        Sensor::Steal => "steal",
        Sensor::ForeignCpu => "foreign CPU time",
        Sensor::ClockFall => "clock fall",
        Sensor::Load => "load",
    }
}
