//! What faults did to a repeat, in words of both languages.

use stend_model::metric::Unit;
use stend_model::run::{Repeat, Series};
use stend_model::wire::{Deed, Label};

use super::numbers::russian;
use super::phrase::Phrase;
use super::text::{duration, percent};
use crate::words;
use stend_model::dips::{Dip, dips, rebuildings};

/// A line for each fault, and one for each disk that was rebuilt.
pub fn what_they_did(repeat: &Repeat, series: &[&Series]) -> Vec<Phrase> {
    let of_dips = dips(repeat, series).into_iter().map(|dip| dip_in_words(&dip));
    let of_rebuildings = rebuildings(repeat).into_iter().map(|(disk, nanoseconds)| {
        let time = duration(nanoseconds as f64);
        let errors = errors(repeat, disk);
        let (en, ru) = if errors.is_empty() {
            (String::new(), String::new())
        } else {
            (format!("; btrfs counted before that: {errors}"), format!("; до этого btrfs насчитал: {errors}"))
        };
        let rebuilt = words::label(&Label::Deed(Deed::DiskRebuilt { disk }));
        Phrase::new(format!("{} in {time}{en}", rebuilt.en), format!("{} за {}{ru}", rebuilt.ru, russian(&time)))
    });
    of_dips.chain(of_rebuildings).collect()
}

fn dip_in_words(dip: &Dip) -> Phrase {
    let (before, lowest) = (Unit::Iops.show(dip.before), Unit::Iops.show(dip.lowest));
    let depth = percent(dip.depth());
    let fault = words::label(&dip.fault);
    let [before_ru, lowest_ru, depth_ru] = [&before, &lowest, &depth].map(|figure| russian(figure));
    let (late_en, late_ru) = dip.fell_after.as_ref().map_or_else(Default::default, |mark| {
        let mark = words::label(mark);
        (format!(", which began only after \"{}\"", mark.en), format!(", что началось лишь после «{}»", mark.ru))
    });
    let (en, ru) = match dip.length_ns {
        Some(0) => (format!("no window below 90 % of {before}"), format!("нет окна ниже 90 % от {before_ru}")),
        Some(length) => {
            let time = duration(length as f64);
            (
                format!("from {before} down to {lowest} ({depth} less){late_en}, back after {time}"),
                format!(
                    "с {before_ru} до {lowest_ru} (на {depth_ru} меньше){late_ru}, снова как было через {}",
                    russian(&time)
                ),
            )
        }
        None => (
            format!("from {before} down to {lowest} ({depth} less){late_en}, not back before the load ended"),
            format!(
                "с {before_ru} до {lowest_ru} (на {depth_ru} меньше){late_ru}, до конца нагрузки не восстановилось"
            ),
        ),
    };
    Phrase::new(format!("{}: {en}", fault.en), format!("{}: {ru}", fault.ru))
}

/// The errors of a disk that were counted, as btrfs calls them.
fn errors(repeat: &Repeat, disk: u32) -> String {
    let prefix = format!("disk{disk}_");
    let observed = repeat.report.iter().flat_map(|report| &report.observed);
    let counts = observed.filter_map(|(name, count)| {
        let name = name.strip_prefix(&prefix).filter(|name| name.ends_with("_errs") && *count > 0.0)?;
        Some(format!("{name} {count}"))
    });
    counts.collect::<Vec<_>>().join(", ")
}
