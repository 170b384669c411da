//! How quiet a machine is: its noise floors.

use super::doc::{Doc, Frame, Line, Role, Row, Table, Value, figures};
use super::notes;
use super::text::percent;
use stend_compare::noise::{NoFloor, Noise, OfMetric, OfSensor, Sensor};
use stend_compare::table::Note;
use stend_model::identity::short;
use stend_model::metric::three_digits;
use stend_model::quantity::english_plural;

/// What a noise measurement found: of each scenario its main metric, or all of them.
pub fn document(noise: &Noise, all_metrics: bool) -> Doc {
    let mut doc = Doc::default();
    doc.heading(summary(noise), "");
    let (hardware, suite, run) = (short(&noise.hardware_id), &noise.suite, &noise.run);
    doc.say(Role::Fact, [format!("{} · hardware {hardware} · suite {suite} · run {run}", noise.machine)]);
    if !noise.scenarios.is_empty() {
        doc.table(table(noise, all_metrics));
    }
    doc.say_last(Role::Note, lines(noise, all_metrics));
    doc.say_last(Role::Legend, legend(noise, all_metrics));
    doc
}

fn table(noise: &Noise, all_metrics: bool) -> Table {
    let columns = [
        figures("median"),
        figures(FLOOR),
        figures(DRIFT).may_go(1),
        figures("n").may_go(2),
        figures(WENT_WITH).may_go(0),
    ];
    let corner = if all_metrics { &["scenario", "metric"][..] } else { &["scenario"] };
    let mut table = Table::new(corner, columns, Frame::Ruled);
    for one in &noise.scenarios {
        for (place, found) in one.metrics().take(if all_metrics { usize::MAX } else { 1 }).enumerate() {
            let cause = match (&one.cause, place) {
                (Some(cause), 0) => strength(cause).into(),
                (None, 0) => "–".into(),
                _ => Value::Nothing,
            };
            let or_dash = |value: Option<Value>| value.unwrap_or_else(|| "–".into());
            let cells = [
                or_dash(found.median.map(|median| Value::Quantity(found.unit, median))),
                or_dash(found.floor.map(Value::Share)),
                or_dash(found.drift.map(Value::Share)),
                Value::Count { valid: found.valid, invalid: found.invalid, outliers: 0 },
                cause,
            ];
            let metric = all_metrics.then(|| found.metric.clone());
            table.push(Row::new([one.scenario.clone()].into_iter().chain(metric), cells));
        }
    }
    table
}

const FLOOR: &str = "floor δ";
const DRIFT: &str = "drift";
const WENT_WITH: &str = "went with";

/// Floors up to this are those of a quiet machine, a restless one, and beyond of a noisy one.
const QUIET: f64 = 0.01;
const RESTLESS: f64 = 0.05;

fn summary(noise: &Noise) -> String {
    let mains = || noise.scenarios.iter().map(|one| &one.main);
    let others: String =
        without_floor(mains(), "scenario has", "scenarios have").map(|sentence| format!(" {sentence}")).collect();
    let mut floors: Vec<f64> = mains().filter_map(|one| one.floor).collect();
    floors.sort_by(f64::total_cmp);
    let (Some(median), Some(most)) = (stend_stats::median(&floors), floors.last()) else {
        let least = 2 * stend_stats::LEAST_PAIRS;
        let why = if mains().any(|one| one.no_floor == Some(NoFloor::NotPositive)) {
            format!("no scenario has a floor.{others}")
        } else {
            format!("no scenario has {least} valid repeats.")
        };
        return format!("The noise of {} cannot be determined: {why}", noise.machine);
    };
    let word = match median {
        _ if median <= QUIET => "quiet",
        _ if median <= RESTLESS => "restless",
        _ => "noisy",
    };
    let worst =
        noise.scenarios.iter().find(|one| one.main.floor == Some(*most)).map_or("", |one| one.scenario.as_str());
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

/// What has no floor, a sentence for each reason.
fn without_floor<'a>(
    found: impl Iterator<Item = &'a OfMetric> + Clone,
    one: &str,
    many: &str,
) -> impl Iterator<Item = String> {
    let reasons = [
        (NoFloor::TooFewRepeats, "too few valid repeats for a floor"),
        (NoFloor::NotPositive, "values of zero or less, which have no ratio and so no floor"),
    ];
    let lacking = move |why: NoFloor| found.clone().filter(|one| one.no_floor == Some(why)).count();
    let counted = reasons.map(|(why, what)| (lacking(why), what)).into_iter().filter(|(number, _)| *number > 0);
    counted.map(move |(number, what)| format!("{} {what}.", english_plural(number, one, many)))
}

/// What is to be said of metrics that are not main ones: why some have no floor, or where they are to be seen.
fn of_others(noise: &Noise, all_metrics: bool) -> Vec<String> {
    let others = noise.scenarios.iter().flat_map(|one| &one.other_metrics);
    if all_metrics {
        return without_floor(others, "further metric has", "further metrics have").collect();
    }
    let floors = others.filter(|one| one.floor.is_some()).count();
    let shown =
        english_plural(floors, "further metric has a floor of its own", "further metrics have floors of their own");
    let line = format!("{shown}: `stend noise --show={} --all-metrics` shows them.", noise.run);
    if floors > 0 { vec![line] } else { Vec::new() }
}

fn lines(noise: &Noise, all_metrics: bool) -> Vec<Line> {
    let mut lines: Vec<Line> = of_others(noise, all_metrics).into_iter().map(Line::from).collect();
    if !noise.conditions.is_empty() {
        let unfit = Note::Unfit { run: noise.run.clone(), conditions: noise.conditions.clone() };
        lines.push(Line::labelled("Note: ", notes::note(&unfit)));
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
            Line::from("The cause is unknown: no sensor changed.")
        } else {
            let of_single = if noise.scenarios.iter().any(|one| one.cause.is_some()) {
                "Over all scenarios no sensor explains it, only of single ones, as the table says"
            } else {
                "No sensor explains it"
            };
            format!("{of_single}: the worse repeats had no more {} than the others.", listed(&looked_at, "or")).into()
        });
    }
    lines.extend(explaining.into_iter().map(Line::from));
    if !noise.silent.is_empty() {
        lines
            .push(format!("Sensors that are missing here, or never changed: {}.", listed(&noise.silent, "and")).into());
    }
    lines
}

/// What the columns mean, each for itself.
fn legend(noise: &Noise, all_metrics: bool) -> Vec<Line> {
    let about = |head, said: &str| Line { about: Some(head), ..said.into() };
    let of_columns = [
        about(
            FLOOR,
            "δ: 19 of 20 interleaved comparisons of these repeats with themselves, half of them a side, lie within it; `stend compare` calls nothing on this hardware better or worse that does not lie beyond it",
        ),
        about(DRIFT, "drift: first half of the time against the second"),
        about(WENT_WITH, "went with: the sensor that read more in the worse repeats, with the rank correlation"),
    ];
    let several = all_metrics && noise.scenarios.iter().any(|one| !one.other_metrics.is_empty());
    let of_all = several.then(|| {
        "Of each scenario the first metric is the main one: the sentence above the table and the sensors speak of these".into()
    });
    of_columns.into_iter().chain(of_all).collect()
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
