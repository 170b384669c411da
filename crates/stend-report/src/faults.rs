//! What faults did to a repeat, in words.

use stend_model::run::{Repeat, Series};
use stend_model::wire::{Deed, Label};

use super::phrase::Phrase;
use super::text::{duration, percent};
use crate::words::{self, Given};
use stend_model::dips::{Dip, dips, rebuildings};

/// A line for each fault, and one for each disk that was rebuilt.
pub fn what_they_did(repeat: &Repeat, series: &[&Series]) -> Vec<Phrase> {
    let of_dips = dips(repeat, series).into_iter().map(|dip| dip_in_words(&dip));
    let of_rebuildings = rebuildings(repeat).into_iter().map(|(disk, nanoseconds)| {
        let time = duration(nanoseconds as f64);
        let errors = errors(repeat, disk);
        let rebuilt = words::label(&Label::Deed(Deed::DiskRebuilt { disk }));
        let (time, errors) = (("time", Given::Figure(&time)), ("errors", Given::Text(&errors)));
        words::say("rebuilt", &[("deed", Given::Said(&rebuilt)), time, errors])
    });
    of_dips.chain(of_rebuildings).collect()
}

fn dip_in_words(dip: &Dip) -> Phrase {
    let (before, lowest) = (dip.unit.show(dip.before), dip.unit.show(dip.lowest));
    let depth = percent(dip.depth());
    let fault = words::label(&dip.fault);
    let fell_after = dip.fell_after.as_ref().map(words::label).unwrap_or_default();
    let time = dip.length_ns.map(|length| duration(length as f64)).unwrap_or_default();
    let given = [
        ("fault", Given::Said(&fault)),
        ("before", Given::Figure(&before)),
        ("lowest", Given::Figure(&lowest)),
        ("depth", Given::Figure(&depth)),
        ("after", Given::Said(&fell_after)),
        ("time", Given::Figure(&time)),
    ];
    words::say(if dip.length_ns == Some(0) { "no-dip" } else { "dip" }, &given)
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
