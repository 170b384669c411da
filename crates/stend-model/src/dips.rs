//! What faults and operations did to a load: how deep it fell, how long until it was back, how long the rebuilding took. Computed on reading,
//! from the marks and the series that were stored.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::cause::Cause;
use crate::metric::Unit;
use crate::run::{Origin, Repeat, Series};
use crate::wire::{Deed, Label, MarkKind};
use stend_stats::median;

/// What counts operations a second, as instruments call it. Reads and writes have a series each; both together are the load.
const RATES: [(&str, Unit); 4] = [
    ("iops", Unit::Iops),
    ("read_iops", Unit::Iops),
    ("write_iops", Unit::Iops),
    ("operations_per_s", Unit::OperationsPerSecond),
];
/// The load is back when it does so much of what it did before.
const BACK: f64 = 0.9;
/// Fewer windows before a fault say nothing of what the load did.
const LEAST_WINDOWS: usize = 3;

/// What became of the load after one fault, or one operation.
#[derive(Debug, Clone, PartialEq)]
pub struct Dip {
    /// What happened.
    pub fault: Label,
    /// The unit of both rates.
    pub unit: Unit,
    /// The median of the windows before it.
    pub before: f64,
    /// The lowest window after it, until the next one or to the load's end.
    pub lowest: f64,
    /// What had happened last when the load fell so low, if that was something else.
    pub fell_after: Option<Label>,
    /// How long after the fault the load was back from there, for two windows together. `None`: not before its end.
    pub length_ns: Option<i64>,
}

impl Dip {
    /// What was lost of the load, as a share of what it was before.
    pub fn depth(&self) -> f64 {
        (1.0 - self.lowest / self.before).max(0.0)
    }
}

/// The dips of a repeat, one for each fault and each operation that there are enough windows before.
pub fn dips(repeat: &Repeat, series: &[&Series]) -> Vec<Dip> {
    let (mut rates, mut unit): (BTreeMap<i64, f64>, _) = (BTreeMap::new(), Unit::Iops);
    for series in series.iter().filter(|series| series.origin == Origin::Instrument) {
        if let Some((_, of_series)) = RATES.iter().find(|(name, _)| *name == series.metric) {
            unit = *of_series;
            for (t_ns, value) in series.times_ns.iter().zip(&series.values) {
                *rates.entry(*t_ns).or_default() += value;
            }
        }
    }
    // What is read back later is another load.
    let measured = repeat.report.as_ref().and_then(|report| {
        let begin = report.t_ns?;
        Some((begin, begin.saturating_add(i64::try_from(report.wall_ns).ok()?)))
    });
    let (begin, end) = measured.unwrap_or((i64::MIN, i64::MAX));
    let windows: Vec<(i64, f64)> = rates.into_iter().filter(|(t_ns, _)| (begin..=end).contains(t_ns)).collect();
    let mut marks: Vec<_> = repeat.marks.iter().filter(|mark| mark.kind != MarkKind::Phase).collect();
    marks.sort_by_key(|mark| mark.t_ns);
    let faults = marks.iter().enumerate().filter(|(_, mark)| mark.kind.may_slow());
    let dip = |(place, fault): (usize, &&crate::wire::Mark)| {
        let since = place.checked_sub(1).map_or(i64::MIN, |before| marks[before].t_ns);
        let until = marks[place + 1..].iter().find(|mark| mark.kind.may_slow()).map_or(i64::MAX, |next| next.t_ns);
        let values: Vec<f64> =
            windows.iter().filter(|(t_ns, _)| (since..=fault.t_ns).contains(t_ns)).map(|(_, value)| *value).collect();
        let before =
            (values.len() >= LEAST_WINDOWS).then(|| median(&values)).flatten().filter(|before| *before > 0.0)?;
        let after: Vec<_> = windows.iter().filter(|(t_ns, _)| *t_ns > fault.t_ns && *t_ns <= until).collect();
        let lowest = |windows: &[&(i64, f64)]| windows.iter().map(|(_, value)| *value).fold(before, f64::min);
        let falls = (!after.is_empty()).then(|| falls(&after, BACK * before))?;
        // On a noisy machine the load may fall, and be back, before the fault shows.
        let deepest = falls
            .into_iter()
            .min_by(|one, other| lowest(&after[one.clone()]).total_cmp(&lowest(&after[other.clone()])));
        let Some(Range { start: fell, end: back }) = deepest else {
            let (fault, lowest) = (fault.label.clone(), lowest(&after));
            return Some(Dip { fault, unit, before, lowest, fell_after: None, length_ns: Some(0) });
        };
        // The window in which it fell began with the end of the one before it.
        let began_ns = fell.checked_sub(1).map_or(fault.t_ns, |place| after[place].0);
        let last = marks[place..].iter().take_while(|mark| mark.t_ns <= began_ns).last();
        let fell_after = last.filter(|mark| mark.t_ns != fault.t_ns).map(|mark| mark.label.clone());
        let length_ns = after.get(back).map(|(t_ns, _)| t_ns - fault.t_ns);
        Some(Dip {
            fault: fault.label.clone(),
            unit,
            before,
            lowest: lowest(&after[fell..back]),
            fell_after,
            length_ns,
        })
    };
    faults.filter_map(dip).collect()
}

/// The windows in which a load was below what counts as back, each time until it was back for two together, or to its end.
fn falls(windows: &[&(i64, f64)], enough: f64) -> Vec<Range<usize>> {
    let (mut falls, mut from) = (Vec::new(), 0);
    while let Some(fell) = windows[from..].iter().position(|(_, value)| *value < enough) {
        let fell = from + fell;
        let back = windows[fell..].windows(2).position(|pair| pair.iter().all(|(_, value)| *value >= enough));
        from = back.map_or(windows.len(), |back| fell + back);
        falls.push(fell..from);
    }
    falls
}

/// Adds to what was observed, where something broke or was done to what is loaded: `dip_share`, what the deepest dip lost of the load, `dip_ns`, how long the longest one
/// lasted, and `rebuild_ns`, how long the longest rebuilding took. Of what cannot be known it is said why.
pub fn observe(repeat: &mut Repeat, series: &[Series]) {
    let faults = repeat.marks.iter().filter(|mark| mark.kind.may_slow()).count();
    if faults == 0 {
        return;
    }
    let dips = dips(repeat, &series.iter().collect::<Vec<_>>());
    let lengths: Option<Vec<i64>> = dips.iter().map(|dip| dip.length_ns).collect();
    let of_all = (dips.len() == faults).then_some(());
    let deepest = of_all.and_then(|()| dips.iter().map(Dip::depth).reduce(f64::max));
    let longest = of_all.and_then(|()| lengths?.into_iter().max());
    let rebuild = rebuildings(repeat).into_iter().map(|(_, ns)| ns).max();
    let Repeat { report: Some(report), begin, .. } = repeat else { return };
    let figures =
        [("dip_share", deepest), ("dip_ns", longest.map(|ns| ns as f64)), ("rebuild_ns", rebuild.map(|ns| ns as f64))];
    report.observed.extend(figures.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
    let Some(begin) = begin else { return };
    if deepest.is_none() {
        for name in ["dip_share", "dip_ns"] {
            begin.missing.insert(name.into(), Cause::TooFewWindows.into());
        }
    } else if longest.is_none() {
        begin.missing.insert("dip_ns".into(), Cause::NotBack.into());
    }
}

/// The number of each disk that was replaced, and how long it took to be rebuilt, in nanoseconds.
pub fn rebuildings(repeat: &Repeat) -> Vec<(u32, i64)> {
    let of = |(place, mark): (usize, &crate::wire::Mark)| {
        let Label::Deed(Deed::DiskRebuilt { disk }) = mark.label else { return None };
        let begin = Label::Deed(Deed::DiskReplaced { disk });
        let begun = repeat.marks[..place].iter().rfind(|earlier| earlier.label == begin)?;
        Some((disk, mark.t_ns - begun.t_ns))
    };
    repeat.marks.iter().enumerate().filter_map(of).collect()
}
