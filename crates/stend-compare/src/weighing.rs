//! The weighing: what each machine does for a watt, for its price and for a kilogram of it, where these are known.
//!
//! Watts are what the machine's sensors said while each scenario ran, or given by hand, as prices are: single numbers without a spread. So a ratio keeps the interval of its figures alone, and has no verdict:
//! the test was made on what was measured, not on what it is divided by. Of two machines only facts of the same thing are held against each
//! other: watts of a processor say nothing beside watts of a whole machine, and dollars nothing beside roubles.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use stend_model::metric::{Better, Unit};
use stend_model::reference::Reference;
use stend_model::weight::{Known, Machines, Power, Price, Weight};

use super::table::{Cell, ColumnOrigin, Row, Table};
use stend_model::record::Record;

/// A table by one fact.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Weighing {
    /// What it is divided by.
    pub by: Divisor,
    /// Of what the watts or the price are.
    pub of: String,
    /// One for each of the table's columns: what is known of its machine.
    pub sides: Vec<Option<Side>>,
    /// The main metric of each scenario that a weighed machine has.
    pub rows: Vec<WeighedRow>,
}

/// What figures are divided by.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase", tag = "kind")]
pub enum Divisor {
    /// Watts under load.
    Watt,
    /// Money.
    Money {
        /// Of which currency.
        currency: String,
    },
    /// Kilograms.
    Kilogram,
}

/// What is known of a column's machine.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Side {
    /// Watts, the price, or kilograms.
    pub amount: f64,
    /// Who says so; empty where sensors do.
    pub source: String,
    /// Watts while each scenario ran, where sensors measured them; then the amount is the median of these.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub measured: BTreeMap<String, f64>,
}

impl Side {
    /// What figures of a scenario are divided by.
    fn amount_for(&self, scenario: &str) -> Option<f64> {
        if self.measured.is_empty() { Some(self.amount) } else { self.measured.get(scenario).copied() }
    }
}

/// A metric, weighed.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct WeighedRow {
    /// The scenario's name.
    pub scenario: String,
    /// The metric's name.
    pub metric: String,
    /// Its unit before it was weighed.
    pub unit: Unit,
    /// Which way is better, before and after.
    pub better: Better,
    /// One for each of the table's columns.
    pub cells: Vec<Option<WeighedCell>>,
}

/// A figure, weighed.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct WeighedCell {
    /// The figure over the watts or the price; where less is better, times it.
    pub value: f64,
    /// By what factor a run is better than the base, and the base better than a publication.
    pub factor: Option<f64>,
    /// The factor's 95 % interval, which knows of no error in the watts or the price.
    pub interval: Option<(f64, f64)>,
}

/// What is known of a column's machine, before it is known what of it can be held against what.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    price: Option<Price>,
    power: Option<Power>,
    weight: Option<Weight>,
    /// Who says so, where the fact itself does not.
    source: String,
    /// Watts that sensors measured while each scenario ran, by what they are of.
    measured: BTreeMap<String, BTreeMap<String, f64>>,
}

/// The files that say what is known of machines.
#[derive(Debug, Clone, Default)]
pub struct MachineFiles {
    /// Those that the user named.
    pub named: Vec<Machines>,
    /// The list of machines beside the store, and those of the user's configuration.
    pub kept: Vec<Machines>,
}

/// The fewest digits that pass for a hardware id.
const LEAST_DIGITS: usize = 8;

/// What is known of each column's machine. What files say that the user named counts first, then what the run keeps of its time, then what
/// is kept elsewhere; in each the first that knows it.
pub fn facts(table: &Table, records: &[&Record], references: &[Reference], files: &MachineFiles) -> Vec<Facts> {
    let of_run = |id: &str| {
        let record = records.iter().find(|record| record.run.id == id)?;
        if record.emulator().is_some() {
            return None;
        }
        let run = &record.run;
        let hardware = run.machine.hardware_id();
        let is_it = |known: &&Known| {
            known.name == run.machine.name || (known.name.len() >= LEAST_DIGITS && hardware.starts_with(&known.name))
        };
        let all = |files: &'_ [Machines]| -> Vec<Known> {
            files.iter().flat_map(|file| &file.machine).filter(is_it).cloned().collect()
        };
        let known = all(&files.named).into_iter().chain(run.known.clone()).chain(all(&files.kept));
        let mut facts = Facts { measured: measured_watts(record), ..Facts::default() };
        for Known { price, power, weight, .. } in known {
            facts.price = facts.price.or(price);
            facts.power = facts.power.or(power);
            facts.weight = facts.weight.or(weight);
        }
        Some(facts)
    };
    let published = |reference: &str, machine: &str, source: &str| {
        let reference = references.iter().find(|one| one.name == reference)?;
        let machine = reference.machine.iter().find(|one| one.id == machine)?;
        let (price, power, weight) = (machine.price.clone(), machine.power.clone(), machine.weight.clone());
        Some(Facts { price, power, weight, source: source.into(), measured: BTreeMap::new() })
    };
    let of = |origin: &ColumnOrigin| match origin {
        ColumnOrigin::Run { id, .. } => of_run(id),
        ColumnOrigin::Published { reference, machine, source, .. } => published(reference, machine, source),
    };
    table.columns.iter().map(|column| of(&column.origin).unwrap_or_default()).collect()
}

/// What RAPL counts besides processors, mostly as a part of them.
const WITHIN_RAPL: [&str; 4] = ["core", "uncore", "dram", "psys"];

/// Median watts of each scenario's repeats that count: of the processors, by RAPL, and of the one other sensor, if there is one only. Of
/// several nobody here knows which of them contains which.
fn measured_watts(record: &Record) -> BTreeMap<String, BTreeMap<String, f64>> {
    let mut watts: BTreeMap<&str, BTreeMap<&str, Vec<f64>>> = BTreeMap::new();
    for repeat in record.repeats.iter().filter(|repeat| repeat.counts()) {
        let (Some(report), Some(scenario)) = (&repeat.report, record.run.suite.scenarios.get(repeat.scenario)) else {
            continue;
        };
        for (name, joules) in &report.observed {
            let Some(sensor) = name.strip_suffix("_energy_joules") else { continue };
            let seconds = match (report.t_ns, &repeat.usage) {
                (None, Some(usage)) => usage.wall_ns,
                _ => report.wall_ns,
            } as f64
                * 1e-9;
            let of_scenario = watts.entry(sensor).or_default().entry(scenario.name.as_str()).or_default();
            of_scenario.extend(Some(joules / seconds).filter(|watts| watts.is_finite() && *watts > 0.0));
        }
    }
    let others = watts.keys().filter(|sensor| **sensor != "processor" && !WITHIN_RAPL.contains(*sensor)).count();
    let of = |sensor: &str| match sensor {
        "processor" => Some("processor, by RAPL".to_owned()),
        sensor if WITHIN_RAPL.contains(&sensor) || others != 1 => None,
        sensor => Some(format!("{sensor}, by its sensor")),
    };
    let medians = |scenarios: BTreeMap<&str, Vec<f64>>| -> BTreeMap<String, f64> {
        scenarios
            .into_iter()
            .filter_map(|(scenario, watts)| Some((scenario.to_owned(), stend_stats::median(&watts)?)))
            .collect()
    };
    watts.into_iter().filter_map(|(sensor, scenarios)| Some((of(sensor)?, medians(scenarios)))).collect()
}

/// A weighing for each thing that is known of any column's machine.
pub fn weigh(table: &Table, facts: &[Facts]) -> Vec<Weighing> {
    let mut kinds: Vec<(Divisor, String)> = Vec::new();
    for (kind, _) in facts.iter().flat_map(known) {
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    let weighing = |(by, of): (Divisor, String)| {
        let side = |facts: &Facts| {
            known(facts).into_iter().find(|(kind, _)| (&kind.0, &kind.1) == (&by, &of)).map(|(_, side)| side)
        };
        let sides: Vec<Option<Side>> = facts.iter().map(side).collect();
        let rows: Vec<_> = table.rows.iter().filter(|row| row.main).filter_map(|row| weighed(row, &sides)).collect();
        (!rows.is_empty()).then_some(Weighing { by, of, sides, rows })
    };
    kinds.into_iter().filter_map(weighing).collect()
}

/// What is known of a machine, each with what it is of.
fn known(facts: &Facts) -> Vec<((Divisor, String), Side)> {
    let side = |amount, source: &Option<String>| Side {
        amount,
        source: source.clone().unwrap_or_else(|| facts.source.clone()),
        measured: BTreeMap::new(),
    };
    let sensors = facts.measured.iter().filter_map(|(of, measured)| {
        let amount = stend_stats::median(&measured.values().copied().collect::<Vec<_>>())?;
        let side = Side { amount, source: String::new(), measured: measured.clone() };
        Some(((Divisor::Watt, of.clone()), side))
    });
    let watts = facts.power.iter().map(|power| ((Divisor::Watt, power.of.clone()), side(power.loaded, &power.source)));
    let money = facts.price.iter().map(|price| {
        let by = Divisor::Money { currency: price.currency.clone() };
        ((by, price.of.clone()), side(price.amount, &price.source))
    });
    let kilograms = facts.weight.iter();
    let kilograms =
        kilograms.map(|weight| ((Divisor::Kilogram, weight.of.clone()), side(weight.kilograms, &weight.source)));
    sensors.chain(watts).chain(money).chain(kilograms).collect()
}

fn weighed(row: &Row, sides: &[Option<Side>]) -> Option<WeighedRow> {
    let base = sides.first().and_then(Option::as_ref).and_then(|side| side.amount_for(&row.scenario));
    let cell = |(cell, side): (&Cell, &Option<Side>)| {
        let own = side.as_ref()?.amount_for(&row.scenario)?;
        let value = match cell {
            Cell::Measured(measured) => measured.median,
            Cell::Published(published) => published.value?,
            Cell::Nothing { .. } | Cell::Absent => return None,
        };
        let value = match row.better {
            Better::Higher => value / own,
            Better::Lower => value * own,
        };
        // What is turned so that above 1 is better is divided by the watts either way.
        let (factor, interval) = match (cell, base) {
            (Cell::Measured(measured), Some(base)) => {
                let against = measured.against_base.as_ref();
                let lighter = base / own;
                (
                    against.and_then(|against| against.factor).map(|factor| factor * lighter),
                    against.and_then(|against| against.interval).map(|(low, high)| (low * lighter, high * lighter)),
                )
            }
            (Cell::Published(published), Some(base)) => (published.factor.map(|factor| factor * own / base), None),
            _ => (None, None),
        };
        Some(WeighedCell { value, factor, interval })
    };
    let cells: Vec<_> = row.cells.iter().zip(sides).map(cell).collect();
    cells.iter().any(Option::is_some).then(|| WeighedRow {
        scenario: row.scenario.clone(),
        metric: row.metric.clone(),
        unit: row.unit,
        better: row.better,
        cells,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare;
    use crate::table::Only;
    use stend_testing::record;

    const REFERENCE: &str = r#"
name = "r"
title = "t"
source = "s"
method = "m"
[[machine]]
id = "old"
name = "Old"
description = "an old one"
power = { loaded = 10, of = "board" }
[[figure]]
machine = "old"
measures = "kuznyechik, independent blocks"
metric = "throughput"
value = 5e8
unit = "B/s"
"#;

    fn machines(text: &str) -> MachineFiles {
        MachineFiles { named: vec![Machines::parse(text, "m.toml").unwrap()], kept: Vec::new() }
    }

    #[test]
    fn half_the_watts_are_twice_as_good_whichever_way_the_metric_goes() {
        let times = [1.0, 1.01, 0.99, 1.0, 1.02, 0.98, 1.0];
        let (base, mut other) = (record("a", &times), record("b", &times));
        other.run.machine.name = "light".into();
        let reference = Reference::parse(REFERENCE, "r.toml").unwrap();
        let (records, references) = ([&base, &other], [reference]);
        let table = compare(&records, &references);
        let files = machines(
            "[[machine]]\nname = \"testbed\"\npower = { loaded = 20, of = \"board\", source = \"s\" }\n\
             price = { amount = 100, currency = \"USD\", of = \"board\", source = \"s\" }\n\
             weight = { kilograms = 0.5, of = \"board\", source = \"s\" }\n\
             [[machine]]\nname = \"light\"\npower = { loaded = 10, of = \"board\", source = \"s\" }\n\
             weight = { kilograms = 0.1, of = \"board\", source = \"s\" }\n\
             price = { amount = 100, currency = \"EUR\", of = \"board\", source = \"s\" }\n",
        );
        let found = weigh(&table, &facts(&table, &records, &references, &files));
        let [watts, dollars, kilograms, euros] = &found[..] else { panic!("{found:?}") };
        assert_eq!(watts.by, Divisor::Watt);
        let cells = |weighing: &Weighing, row: usize| weighing.rows[row].cells.clone();
        // alpha: a megabyte in a millisecond is 1 GB/s, over 20 W; beta: a millisecond times 20 W.
        let [Some(alpha), Some(lighter), Some(published)] = &cells(watts, 0)[..] else { panic!() };
        assert!((alpha.value / 5e7 - 1.0).abs() < 1e-9 && alpha.factor.is_none());
        assert!((lighter.factor.unwrap() - 2.0).abs() < 1e-9);
        let (low, high) = lighter.interval.unwrap();
        assert!((1.9..=2.0).contains(&low) && (2.0..2.1).contains(&high));
        // Here 1 GB/s over 20 W, there 0.5 GB/s over 10 W.
        assert!((published.factor.unwrap() - 1.0).abs() < 1e-9 && published.interval.is_none());
        assert_eq!(watts.sides[2].as_ref().unwrap().source, "t, s");
        let [Some(beta), Some(lighter), None] = &cells(watts, 1)[..] else { panic!() };
        assert!((beta.value - 0.02).abs() < 1e-9 && (lighter.factor.unwrap() - 2.0).abs() < 1e-9);
        let [Some(alpha), Some(lighter), None] = &cells(kilograms, 0)[..] else { panic!() };
        assert!((alpha.value / 2e9 - 1.0).abs() < 1e-9 && (lighter.factor.unwrap() - 5.0).abs() < 1e-9);
        // Dollars and euros are not held against each other.
        for (weighing, column) in [(dollars, 0), (euros, 1)] {
            let known: Vec<_> = cells(weighing, 0).iter().map(Option::is_some).collect();
            assert_eq!(known, [column == 0, column == 1, false]);
            assert!(weighing.rows[0].cells.iter().flatten().all(|cell| cell.factor.is_none()));
        }
    }

    #[test]
    fn what_was_not_asked_for_is_not_weighed() {
        let (base, other) =
            (record("a", &[1.0, 1.01, 0.99, 1.0, 1.02, 0.98]), record("b", &[1.5, 1.51, 1.49, 1.5, 1.52, 1.48]));
        let records = [&base, &other];
        let table = compare(&records, &[]);
        let files =
            machines("[[machine]]\nname = \"testbed\"\npower = { loaded = 20, of = \"board\", source = \"s\" }\n");
        let weighed = |only: Only| {
            let mut table = table.clone();
            table.weighings = weigh(&table, &facts(&table, &records, &[], &files));
            table.show_only(only);
            let asked = table.rows.iter().filter(|row| row.main && table.is_asked_for(row)).count();
            (asked, table.weighings.iter().map(|weighing| weighing.rows.len()).sum::<usize>())
        };
        // Both scenarios take half as long again: the second run is worse in both.
        assert_eq!(weighed(Only::Worse), (2, 2));
        assert_eq!(weighed(Only::Better), (0, 0));
    }

    #[test]
    fn a_run_keeps_what_was_known_of_its_machine_and_a_file_that_is_named_corrects_it() {
        let watts = |watts: u32| {
            machines(&format!(
                "[[machine]]\nname = \"testbed\"\npower = {{ loaded = {watts}, of = \"board\", source = \"s\" }}\n"
            ))
        };
        let mut base = record("a", &[1.0]);
        base.run.known = watts(20).named.remove(0).machine.pop();
        let table = compare(&[&base], &[]);
        let amount = |files: &MachineFiles| {
            let found = weigh(&table, &facts(&table, &[&base], &[], files));
            found[0].sides[0].as_ref().unwrap().amount
        };
        assert_eq!(amount(&MachineFiles::default()), 20.0);
        assert_eq!(amount(&watts(30)), 30.0);
        assert_eq!(amount(&MachineFiles { named: Vec::new(), kept: watts(30).named }), 20.0);
    }

    #[test]
    fn a_machine_is_known_by_its_hardware_too_and_otherwise_not_weighed() {
        let base = record("a", &[1.0]);
        let table = compare(&[&base], &[]);
        let weighed = |name: &str| {
            let text =
                format!("[[machine]]\nname = \"{name}\"\npower = {{ loaded = 20, of = \"board\", source = \"s\" }}\n");
            weigh(&table, &facts(&table, &[&base], &[], &machines(&text))).len()
        };
        let id = base.run.machine.hardware_id();
        assert_eq!([weighed(&id[..12]), weighed("testbed"), weighed(&id[..3]), weighed("another")], [1, 1, 0, 0]);
        assert!(weigh(&table, &facts(&table, &[&base], &[], &MachineFiles::default())).is_empty());
    }
}
