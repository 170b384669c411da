use super::*;
use crate::compare;
use stend_model::record::Record;
use stend_model::suite::Instrument;
use stend_testing::{record, repeat};

fn steady(middle: f64) -> Vec<f64> {
    [-4.0, -3.0, -2.0, -1.0, 0.0, 0.0, 1.0, 2.0, 3.0, 4.0].iter().map(|step| middle * (1.0 + step / 1000.0)).collect()
}

/// A run whose scenarios take times of their own: `alpha` is a throughput, `beta` a time.
fn of_times(id: &str, alpha: f64, beta: f64) -> Record {
    let mut record = record(id, &[]);
    for (number, (alpha, beta)) in steady(alpha).into_iter().zip(steady(beta)).enumerate() {
        for (scenario, time) in [alpha, beta].into_iter().enumerate() {
            record.repeats.push(repeat(record.repeats.len() as u32, scenario, number as u32, time));
        }
    }
    record
}

#[test]
fn ratios_are_turned_before_they_are_averaged() {
    // alpha takes half the time: twice the throughput. beta takes eight times as long: an eighth as good.
    let (base, other) = (of_times("a", 2.0, 1.0), of_times("b", 1.0, 8.0));
    let [standing] = &standings(&compare(&[&base, &other], &[]))[..] else { panic!() };
    let mean = standing.mean.as_ref().unwrap();
    assert!((mean.factor - 0.5).abs() < 1e-6, "√(2 × 1/8) = {}", mean.factor);
    let (low, high) = mean.interval.unwrap();
    assert!(0.49 < low && low < mean.factor && mean.factor < high && high < 0.51);
    assert_eq!((mean.scenarios, mean.missing.as_slice()), (2, &[][..]));
    assert_eq!((standing.better, standing.worse, standing.visible), (1, 1, None));
    assert!(standing.speeds && standing.judged() == 2);
    // The other way round it is the reciprocal.
    let [back] = &standings(&compare(&[&other, &base], &[]))[..] else { panic!() };
    assert!((back.mean.as_ref().unwrap().factor * mean.factor - 1.0).abs() < 1e-9);
}

#[test]
fn scenarios_of_several_instruments_are_counted_by_instrument_too() {
    let (mut base, mut other) = (of_times("a", 2.0, 1.0), of_times("b", 1.0, 1.0));
    let [of_one] = &standings(&compare(&[&base, &other], &[]))[..] else { panic!() };
    assert!(of_one.parts.is_empty(), "{:?}", of_one.parts);
    for record in [&mut base, &mut other] {
        record.run.suite.scenarios[1].instrument = Instrument::Command(["./site", "-k"].map(str::to_owned).into());
    }
    let [standing] = &standings(&compare(&[&base, &other], &[]))[..] else { panic!() };
    let [alpha, beta] = &standing.parts[..] else { panic!("{:?}", standing.parts) };
    assert_ne!(alpha.instrument, "./site");
    assert_eq!(beta.instrument, "./site", "the program alone");
    let counts = |standing: &Standing| [standing.better, standing.worse, standing.same, standing.unresolved];
    assert_eq!((counts(&alpha.standing), counts(&beta.standing)), ([1, 0, 0, 0], [0, 0, 1, 0]));
    assert!((alpha.standing.mean.as_ref().unwrap().factor - 2.0).abs() < 0.01);
    assert!((standing.mean.as_ref().unwrap().factor - 2f64.sqrt()).abs() < 0.01, "the whole is of both");
}

#[test]
fn what_one_of_the_runs_lacks_is_named_and_one_scenario_is_its_own_mean() {
    let (base, mut other) = (of_times("a", 2.0, 1.0), of_times("b", 1.0, 1.0));
    other.run.suite.scenarios[1].name = "gamma".into();
    let [standing] = &standings(&compare(&[&base, &other], &[]))[..] else { panic!() };
    let mean = standing.mean.as_ref().unwrap();
    assert_eq!((standing.judged(), mean.scenarios), (1, 1));
    assert!((mean.factor - 2.0).abs() < 0.01);
    let mut third = other.run.suite.scenarios[0].clone();
    third.name = "delta".into();
    let mut base = base;
    for record in [&mut base, &mut other] {
        record.run.suite.scenarios.push(third.clone());
        let more: Vec<_> = record.repeats.iter().filter(|one| one.scenario == 0).cloned().collect();
        record.repeats.extend(more.into_iter().map(|one| stend_model::run::Repeat { scenario: 2, ..one }));
    }
    let [standing] = &standings(&compare(&[&base, &other], &[]))[..] else { panic!() };
    let mean = standing.mean.as_ref().unwrap();
    assert_eq!((mean.scenarios, mean.missing.clone()), (2, vec!["beta".to_owned(), "gamma".into()]));
}

#[test]
fn without_an_interval_of_each_there_is_none_of_the_mean() {
    let (base, other) = (record("a", &[1.0, 1.0, 1.0]), record("b", &[2.0, 2.0, 2.0]));
    let [standing] = &standings(&compare(&[&base, &other], &[]))[..] else { panic!() };
    let mean = standing.mean.as_ref().unwrap();
    assert!((mean.factor - 0.5).abs() < 1e-9);
    assert_eq!((mean.interval, mean.verdict, standing.unresolved), (None, Verdict::Unresolved, 2));
}

#[test]
fn a_scenario_with_too_few_repeats_is_not_in_a_mean_of_others() {
    let (mut base, mut other) = (of_times("a", 1.0, 1.0), of_times("b", 2.0, 1.0));
    for record in [&mut base, &mut other] {
        let mut third = record.run.suite.scenarios[0].clone();
        third.name = "gamma".into();
        record.run.suite.scenarios.push(third);
    }
    base.repeats.push(repeat(100, 2, 0, 1.0));
    other.repeats.push(repeat(100, 2, 0, 50.0));
    let [standing] = &standings(&compare(&[&base, &other], &[]))[..] else { panic!() };
    let mean = standing.mean.as_ref().unwrap();
    assert!((mean.factor - 0.5_f64.sqrt()).abs() < 1e-3 && mean.interval.is_some(), "{mean:?}");
    assert_eq!((mean.scenarios, mean.missing.as_slice()), (2, &["gamma".to_owned()][..]));
}

#[test]
fn what_has_no_ratio_is_unresolved_and_not_in_the_mean() {
    let mut base = of_times("a", 1.0, 1.0);
    let mut other = of_times("b", 1.0, 1.0);
    for record in [&mut base, &mut other] {
        let mut third = record.run.suite.scenarios[0].clone();
        third.name = "gamma".into();
        record.run.suite.scenarios.push(third);
        let more: Vec<_> = record.repeats.iter().filter(|one| one.scenario == 0).cloned().collect();
        record.repeats.extend(more.into_iter().map(|one| stend_model::run::Repeat { scenario: 2, ..one }));
    }
    // One value of many, so that the medians have a ratio; and all, so that they have none.
    for count in [1, 10] {
        let mut other = other.clone();
        for repeat in other.repeats.iter_mut().filter(|repeat| repeat.scenario == 0).take(count) {
            repeat.report.as_mut().unwrap().work.insert("bytes".into(), -1e6);
        }
        for pair in [[&base, &other], [&other, &base]] {
            let table = compare(&pair, &[]);
            let against = against(&table.rows[0], 1).unwrap();
            assert_eq!((against.factor, against.interval, against.verdict), (None, None, Verdict::Unresolved));
            let [standing] = &standings(&table)[..] else { panic!() };
            let mean = standing.mean.as_ref().unwrap();
            assert_eq!((standing.judged(), standing.unresolved, mean.scenarios), (3, 1, 2));
            assert!((mean.factor - 1.0).abs() < 1e-9 && mean.missing == ["alpha"]);
        }
    }
}
