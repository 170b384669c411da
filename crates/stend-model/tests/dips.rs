//! What faults did to a load.

use std::collections::BTreeMap;

use stend_model::dips::*;
use stend_model::metric::Unit;
use stend_model::run::{Origin, Repeat, Series};
use stend_model::wire::{Deed, Label, Mark, MarkKind};

const SECOND: i64 = 1_000_000_000;

fn repeat(marks: &[(i64, MarkKind, Deed)]) -> Repeat {
    let mark = |&(seconds, kind, label): &(i64, MarkKind, Deed)| Mark {
        t_ns: seconds * SECOND,
        kind,
        label: Label::Deed(label),
    };
    let mut repeat = stend_testing::repeat(0, 0, 0, 100_000.0);
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
            unit: Unit::Iops,
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

/// What is done to a cluster may take its time, and its load is uneven.
#[test]
fn of_several_dips_after_a_fault_the_deepest_counts() {
    let marks = [(3, MarkKind::Fault, Deed::PowerLost), (6, MarkKind::Recovery, Deed::PowerLost)];
    let series = iops(&[100.0, 100.0, 100.0, 70.0, 100.0, 100.0, 0.0, 0.0, 95.0, 95.0, 80.0, 100.0, 100.0]);
    let found = dips(&repeat(&marks), &[&series]);
    assert_eq!((found.len(), found[0].lowest, found[0].length_ns), (1, 0.0, Some(6 * SECOND)));
    assert_eq!(found[0].fell_after, Some(Label::Deed(Deed::PowerLost)));
    let gone = dips(&repeat(&marks), &[&iops(&[100.0, 100.0, 100.0, 70.0, 100.0, 100.0, 0.0, 0.0])]);
    assert_eq!((gone[0].lowest, gone[0].length_ns), (0.0, None));
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
    repeat.begin = Some(stend_testing::begin("fio"));
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

#[test]
fn an_operation_is_held_against_the_load_as_a_fault_is() {
    let marks = [
        (4, MarkKind::Phase, Deed::PowerLost),
        (4, MarkKind::Operation, Deed::PowerLost),
        (6, MarkKind::Recovery, Deed::PowerLost),
    ];
    let rows = Series { metric: "operations_per_s".into(), ..iops(&[50.0, 50.0, 50.0, 50.0, 0.0, 20.0, 50.0, 50.0]) };
    let found = dips(&repeat(&marks), &[&rows]);
    assert_eq!((found.len(), found[0].lowest, found[0].unit), (1, 0.0, Unit::OperationsPerSecond));
    assert_eq!(found[0].length_ns, Some(3 * SECOND));
}
