//! What faults did to a load: how deep it fell, how long until it was back, how long the rebuilding took. Computed on reading, from the marks
//! and the series that were stored.

use std::collections::BTreeMap;

use stend_model::cause::Cause;
use stend_model::run::{Origin, Repeat, Series};
use stend_model::wire::{Deed, Label, MarkKind};
use stend_stats::median;

/// The load is back when it does so much of what it did before.
const BACK: f64 = 0.9;
/// Fewer windows before a fault say nothing of what the load did.
const LEAST_WINDOWS: usize = 3;

/// What became of the load after one fault.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Dip {
    /// The fault.
    pub(crate) fault: Label,
    /// The median of the windows before it, in operations per second.
    pub(crate) before: f64,
    /// The lowest window after it, until the load was back, or to its end.
    pub(crate) lowest: f64,
    /// What had happened last when the load fell, if that was something else.
    pub(crate) fell_after: Option<Label>,
    /// How long after the fault the load was back for two windows together. `None`: not before its end.
    pub(crate) length_ns: Option<i64>,
}

impl Dip {
    /// What was lost of the load, as a share of what it was before.
    pub(crate) fn depth(&self) -> f64 {
        (1.0 - self.lowest / self.before).max(0.0)
    }
}

/// The dips of a repeat, one for each fault that there are enough windows before.
pub(crate) fn dips(repeat: &Repeat, series: &[&Series]) -> Vec<Dip> {
    // Reads and writes have a series each; both together are the load.
    let mut iops: BTreeMap<i64, f64> = BTreeMap::new();
    for series in series.iter().filter(|series| series.origin == Origin::Instrument) {
        if ["iops", "read_iops", "write_iops"].contains(&series.metric.as_str()) {
            for (t_ns, value) in series.times_ns.iter().zip(&series.values) {
                *iops.entry(*t_ns).or_default() += value;
            }
        }
    }
    // What is read back later is another load.
    let measured = repeat.report.as_ref().and_then(|report| {
        let begin = report.t_ns?;
        Some((begin, begin.saturating_add(i64::try_from(report.wall_ns).ok()?)))
    });
    let (begin, end) = measured.unwrap_or((i64::MIN, i64::MAX));
    let windows: Vec<(i64, f64)> = iops.into_iter().filter(|(t_ns, _)| (begin..=end).contains(t_ns)).collect();
    let mut marks: Vec<_> = repeat.marks.iter().filter(|mark| mark.kind != MarkKind::Phase).collect();
    marks.sort_by_key(|mark| mark.t_ns);
    let faults = marks.iter().enumerate().filter(|(_, mark)| mark.kind == MarkKind::Fault);
    let dip = |(place, fault): (usize, &&stend_model::wire::Mark)| {
        let since = place.checked_sub(1).map_or(i64::MIN, |before| marks[before].t_ns);
        let until =
            marks[place + 1..].iter().find(|mark| mark.kind == MarkKind::Fault).map_or(i64::MAX, |next| next.t_ns);
        let values: Vec<f64> =
            windows.iter().filter(|(t_ns, _)| (since..=fault.t_ns).contains(t_ns)).map(|(_, value)| *value).collect();
        let before =
            (values.len() >= LEAST_WINDOWS).then(|| median(&values)).flatten().filter(|before| *before > 0.0)?;
        let after: Vec<_> = windows.iter().filter(|(t_ns, _)| *t_ns > fault.t_ns && *t_ns <= until).collect();
        let fell = (!after.is_empty()).then(|| after.iter().position(|(_, value)| *value < BACK * before))?;
        let Some(fell) = fell else {
            let lowest = after.iter().map(|(_, value)| *value).fold(before, f64::min);
            return Some(Dip { fault: fault.label.clone(), before, lowest, fell_after: None, length_ns: Some(0) });
        };
        // The window in which it fell began with the end of the one before it.
        let began_ns = fell.checked_sub(1).map_or(fault.t_ns, |place| after[place].0);
        let last = marks[place..].iter().take_while(|mark| mark.t_ns <= began_ns).last();
        let fell_after = last.filter(|mark| mark.t_ns != fault.t_ns).map(|mark| mark.label.clone());
        let back = after[fell..].windows(2).position(|pair| pair.iter().all(|(_, value)| *value >= BACK * before));
        let back = back.map(|after_fall| fell + after_fall);
        let lowest = after[fell..back.unwrap_or(after.len())].iter().map(|(_, value)| *value).fold(before, f64::min);
        let length_ns = back.map(|back| after[back].0 - fault.t_ns);
        Some(Dip { fault: fault.label.clone(), before, lowest, fell_after, length_ns })
    };
    faults.filter_map(dip).collect()
}

/// Adds to what was observed, where something broke: `dip_share`, what the deepest dip lost of the load, `dip_ns`, how long the longest one
/// lasted, and `rebuild_ns`, how long the longest rebuilding took. Of what cannot be known it is said why.
pub(crate) fn observe(repeat: &mut Repeat, series: &[Series]) {
    let faults = repeat.marks.iter().filter(|mark| mark.kind == MarkKind::Fault).count();
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
pub(crate) fn rebuildings(repeat: &Repeat) -> Vec<(u32, i64)> {
    let of = |(place, mark): (usize, &stend_model::wire::Mark)| {
        let Label::Deed(Deed::DiskRebuilt { disk }) = mark.label else { return None };
        let begin = Label::Deed(Deed::DiskReplaced { disk });
        let begun = repeat.marks[..place].iter().rfind(|earlier| earlier.label == begin)?;
        Some((disk, mark.t_ns - begun.t_ns))
    };
    repeat.marks.iter().enumerate().filter_map(of).collect()
}

#[cfg(test)]
mod tests {
    use stend_model::wire::Mark;

    use super::*;

    const SECOND: i64 = 1_000_000_000;

    fn repeat(marks: &[(i64, MarkKind, Deed)]) -> Repeat {
        let mark = |&(seconds, kind, label): &(i64, MarkKind, Deed)| Mark {
            t_ns: seconds * SECOND,
            kind,
            label: Label::Deed(label),
        };
        let mut repeat = crate::testing::repeat(0, 0, 0, 100_000.0);
        repeat.marks = marks.iter().map(mark).collect();
        repeat
    }

    /// A window ends each second, from the first on.
    fn iops(values: &[f64]) -> Series {
        let times_ns = (1..=values.len() as i64).map(|second| second * SECOND).collect();
        Series { metric: "iops".into(), origin: Origin::Instrument, times_ns, values: values.to_vec() }
    }

    #[test]
    fn a_dip_has_a_depth_and_a_length() {
        let marks =
            [(4, MarkKind::Fault, Deed::DiskDies { disk: 3 }), (6, MarkKind::Recovery, Deed::DiskReplaced { disk: 3 })];
        let series = iops(&[100.0, 102.0, 98.0, 100.0, 60.0, 25.0, 95.0, 80.0, 91.0, 99.0]);
        let found = dips(&repeat(&marks), &[&series]);
        let length_ns = Some(5 * SECOND);
        assert_eq!(
            found,
            [Dip {
                fault: Label::Deed(Deed::DiskDies { disk: 3 }),
                before: 100.0,
                lowest: 25.0,
                fell_after: None,
                length_ns
            }]
        );
        assert!((found[0].depth() - 0.75).abs() < 1e-12);
    }

    #[test]
    fn what_never_comes_back_has_no_length_and_what_never_falls_none_either() {
        let marks = [(3, MarkKind::Fault, Deed::ControllerKilled { controller: 0 })];
        let gone = dips(&repeat(&marks), &[&iops(&[100.0, 100.0, 100.0, 0.0, 0.0, 95.0])]);
        assert_eq!((gone[0].lowest, gone[0].length_ns), (0.0, None), "one window is not yet back");
        let steady = dips(&repeat(&marks), &[&iops(&[100.0, 100.0, 100.0, 95.0, 92.0])]);
        assert_eq!((steady[0].lowest, steady[0].length_ns), (92.0, Some(0)));
    }

    #[test]
    fn each_fault_is_held_against_what_was_between_it_and_the_mark_before() {
        let marks = [
            (3, MarkKind::Fault, Deed::DiskDies { disk: 0 }),
            (5, MarkKind::Recovery, Deed::DiskReplaced { disk: 0 }),
            (9, MarkKind::Fault, Deed::DiskDies { disk: 1 }),
        ];
        let series = iops(&[100.0, 100.0, 100.0, 50.0, 50.0, 200.0, 200.0, 200.0, 200.0, 20.0, 190.0, 195.0]);
        let found: Vec<_> = dips(&repeat(&marks), &[&series]).iter().map(|dip| (dip.before, dip.length_ns)).collect();
        assert_eq!(found, [(100.0, Some(3 * SECOND)), (200.0, Some(2 * SECOND))]);
    }

    #[test]
    fn a_load_that_falls_late_fell_after_what_happened_last() {
        let marks =
            [(3, MarkKind::Fault, Deed::DiskDies { disk: 0 }), (5, MarkKind::Recovery, Deed::DiskReplaced { disk: 0 })];
        let late = iops(&[100.0, 100.0, 100.0, 99.0, 98.0, 40.0, 100.0, 100.0]);
        let found = dips(&repeat(&marks), &[&late]);
        assert_eq!(
            (found[0].fell_after.clone(), found[0].length_ns),
            (Some(Label::Deed(Deed::DiskReplaced { disk: 0 })), Some(4 * SECOND))
        );
        // In the window in which it was replaced the load may have fallen before that.
        let at_once = iops(&[100.0, 100.0, 100.0, 99.0, 50.0, 40.0, 100.0, 100.0]);
        assert_eq!(dips(&repeat(&marks), &[&at_once])[0].fell_after, None);
    }

    #[test]
    fn nothing_is_said_without_a_load_before_or_after_its_end() {
        let marks = [(2, MarkKind::Fault, Deed::DiskDies { disk: 0 })];
        assert!(dips(&repeat(&marks), &[&iops(&[100.0, 100.0, 1.0])]).is_empty(), "two windows are too few");
        assert!(dips(&repeat(&marks), &[]).is_empty());
        // The report's part begins at 1 ns and lasts three seconds; the fourth is of what is read back.
        let mut short = repeat(&[(3, MarkKind::Fault, Deed::DiskDies { disk: 0 })]);
        short.report.as_mut().unwrap().wall_ns = 3 * SECOND as u64;
        assert!(dips(&short, &[&iops(&[100.0, 100.0, 100.0, 10.0])]).is_empty());
    }

    /// What is observed of a repeat with these marks and windows, and what is missing.
    fn observed(marks: &[(i64, MarkKind, Deed)], windows: &[f64]) -> (BTreeMap<String, f64>, Vec<String>) {
        let mut repeat = repeat(marks);
        repeat.begin = Some(crate::testing::begin("fio"));
        observe(&mut repeat, &[iops(windows)]);
        (repeat.report.unwrap().observed, repeat.begin.unwrap().missing.into_keys().collect())
    }

    #[test]
    fn what_faults_did_are_figures_of_the_repeat() {
        let marks = [
            (3, MarkKind::Fault, Deed::DiskDies { disk: 0 }),
            (4, MarkKind::Recovery, Deed::DiskReplaced { disk: 0 }),
            (7, MarkKind::Recovery, Deed::DiskRebuilt { disk: 0 }),
            (9, MarkKind::Fault, Deed::DiskDies { disk: 1 }),
        ];
        let back = [100.0, 100.0, 100.0, 50.0, 50.0, 100.0, 100.0, 100.0, 100.0, 20.0, 95.0, 95.0];
        let (figures, missing) = observed(&marks, &back);
        let wanted = [("dip_ns", 3e9), ("dip_share", 0.8), ("rebuild_ns", 3e9)];
        assert_eq!(figures, wanted.map(|(name, value)| (name.to_owned(), value)).into());
        assert!(missing.is_empty(), "{missing:?}");
        // The second fault's load is never back, so the longest length is not known.
        let (figures, missing) = observed(&marks, &back[..10]);
        assert_eq!((figures.get("dip_share"), figures.get("dip_ns")), (Some(&0.8), None));
        assert_eq!(missing, ["dip_ns"]);
        let (figures, missing) = observed(&[(2, MarkKind::Fault, Deed::DiskDies { disk: 0 })], &back);
        assert!(figures.is_empty());
        assert_eq!(missing, ["dip_ns", "dip_share"]);
        assert_eq!(observed(&[], &back), Default::default());
    }

    #[test]
    fn a_rebuilding_lasts_from_the_replacement_on() {
        let marks = [
            (2, MarkKind::Fault, Deed::DiskDies { disk: 3 }),
            (4, MarkKind::Recovery, Deed::DiskReplaced { disk: 3 }),
            (9, MarkKind::Recovery, Deed::DiskRebuilt { disk: 3 }),
            (9, MarkKind::Recovery, Deed::DiskRebuilt { disk: 4 }),
        ];
        assert_eq!(rebuildings(&repeat(&marks)), [(3, 5 * SECOND)]);
    }
}
