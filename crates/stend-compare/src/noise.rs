//! How much a machine differs from itself, from a run that measured the same twice over, interleaved; and what went with it. Pure; nothing is
//! read or shown here.

use std::collections::BTreeMap;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use stend_model::condition::Condition;
use stend_model::machine::Machine;
use stend_model::metric::{Better, Metric, Unit};
use stend_model::run::{Repeat, Series};
use stend_model::suite::Scenario;
use stend_stats::{LEAST_PAIRS, benjamini_hochberg, median, rank_correlation, self_noise};

use crate::values_by_session;
use stend_model::record::Record;
use stend_model::run::fastest_clock;

/// The seed by which halves are drawn where there are too many ways to count; any would do.
const SEED: u64 = 0x006e_6f69_7365;

/// What goes with the values in fewer than one of a hundred cases by chance is named.
const SURE: f64 = 0.01;

/// Correlations weaker than this explain less than a tenth of the ranks' variance, and so nothing.
const LEAST_CORRELATION: f64 = 0.3;

/// A noise measurement.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Noise {
    /// The run.
    pub run: String,
    /// When it began.
    pub measured_at: Timestamp,
    /// The machine's name.
    pub machine: String,
    /// Its hardware's id.
    pub hardware_id: String,
    /// The suite's name.
    pub suite: String,
    /// Each scenario, in the suite's order.
    pub scenarios: Vec<OfScenario>,
    /// How each sensor went with the values of all scenarios together, the strongest first.
    pub sensors: Vec<OfSensor>,
    /// The sensors that the machine lacks, or that never moved.
    pub silent: Vec<Sensor>,
    /// What made the machine unfit when it was measured all the same.
    pub conditions: Vec<Condition>,
}

impl Noise {
    /// Whether it has a floor for any scenario's main metric.
    pub fn says_anything(&self) -> bool {
        self.scenarios.iter().any(|one| one.main.floor.is_some())
    }
}

/// How much one scenario differs from itself.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct OfScenario {
    /// Its name.
    pub scenario: String,
    /// By its main metric.
    #[serde(flatten)]
    pub main: OfMetric,
    /// The sensor that went with its main metric's values most surely, if one did.
    pub cause: Option<OfSensor>,
    /// By its further metrics, in the suite's order.
    pub other_metrics: Vec<OfMetric>,
}

impl OfScenario {
    /// By each of its metrics, the main one first.
    pub fn metrics(&self) -> impl Iterator<Item = &OfMetric> {
        [&self.main].into_iter().chain(&self.other_metrics)
    }
}

/// How much one metric of a scenario differs from itself.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct OfMetric {
    /// Its name.
    pub metric: String,
    /// Its unit.
    pub unit: Unit,
    /// Median of all repeats that count.
    pub median: Option<f64>,
    /// Repeats that count and have it, of both halves.
    pub valid: u32,
    /// Repeats that do not.
    pub invalid: u32,
    /// 19 of 20 interleaved comparisons of these repeats with themselves lie within this share: the noise floor δ. None with fewer than six pairs of
    /// neighbours.
    pub floor: Option<f64>,
    /// Why there is no floor.
    pub no_floor: Option<NoFloor>,
    /// By how much the first half of the time differs from the second.
    pub drift: Option<f64>,
}

/// Why a metric of a scenario has no noise floor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NoFloor {
    /// There are fewer than six pairs of neighbours.
    TooFewRepeats,
    /// Values are zero or negative, so that two halves have no ratio.
    NotPositive,
}

/// How a sensor went with values.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct OfSensor {
    /// The sensor.
    pub sensor: Sensor,
    /// Rank correlation of what it read with how bad the value was: 1 where the worst repeats are those with most of it.
    pub correlation: f64,
    /// One-sided p, after Benjamini and Hochberg over all that were tried.
    pub q: f64,
    /// Its greatest reading in a repeat: a share of the machine's CPU time, a fall from the fastest repeat's clock, or a load.
    pub most: f64,
}

impl OfSensor {
    /// Whether it may be named as what made the machine noisy.
    pub fn explains(&self) -> bool {
        self.q < SURE && self.correlation >= LEAST_CORRELATION
    }
}

/// What may have disturbed a repeat.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Sensor {
    /// CPU time that the hypervisor took away.
    Steal,
    /// CPU time of others than the instrument.
    ForeignCpu,
    /// How far the clock was below that of the fastest repeat.
    ClockFall,
    /// The load average.
    Load,
}

const SENSORS: [Sensor; 4] = [Sensor::Steal, Sensor::ForeignCpu, Sensor::ClockFall, Sensor::Load];

/// Reads a noise measurement off a run, with its series.
pub fn of(record: &Record, series: &[(u32, Series)]) -> Noise {
    let run = &record.run;
    let mut by_repeat: BTreeMap<u32, Vec<&Series>> = BTreeMap::new();
    for (sequence, series) in series {
        by_repeat.entry(*sequence).or_default().push(series);
    }
    let measured = || run.suite.scenarios.iter().enumerate().filter(|(_, scenario)| !scenario.is_precondition());
    let mut scenarios = Vec::new();
    let mut tries: Vec<(usize, OfSensor)> = Vec::new();
    let mut pools: BTreeMap<Sensor, Pool> = BTreeMap::new();
    for (place, scenario) in measured() {
        let Some(metric) = scenario.metrics.first() else { continue };
        let of_it: Vec<_> =
            record.repeats.iter().filter(|repeat| repeat.scenario == place && repeat.counts()).collect();
        let harm: Vec<f64> =
            of_it.iter().filter_map(|repeat| repeat.value(metric)).map(|value| harm(value, metric)).collect();
        for sensor in SENSORS {
            let read = |repeat: &&Repeat| {
                reading(sensor, repeat, by_repeat.get(&repeat.sequence).map_or(&[][..], Vec::as_slice))
            };
            let Some(readings) = of_it.iter().map(read).collect::<Option<Vec<f64>>>() else { continue };
            let readings = from_the_least(sensor, readings);
            if let Some(found) = gone_with(sensor, &harm, &readings) {
                tries.push((scenarios.len(), found));
            }
            pools.entry(sensor).or_default().add(&harm, &readings);
        }
        let mut metrics = scenario.metrics.iter().map(|metric| of_metric(record, scenario, metric));
        let Some(main) = metrics.next() else { continue };
        scenarios.push(OfScenario {
            scenario: scenario.name.clone(),
            main,
            cause: None,
            other_metrics: metrics.collect(),
        });
    }
    for (place, found) in adjusted(tries) {
        let cause: &mut Option<OfSensor> = &mut scenarios[place].cause;
        if found.explains() && cause.is_none_or(|known| found.q < known.q) {
            *cause = Some(found);
        }
    }
    let pooled = pools.iter().filter_map(|(sensor, pool)| Some((0, gone_with(*sensor, &pool.harm, &pool.readings)?)));
    let mut sensors: Vec<_> = adjusted(pooled.collect()).into_iter().map(|(_, found)| found).collect();
    for found in &mut sensors {
        found.most = pools[&found.sensor].most;
    }
    sensors.sort_by(|one, other| other.correlation.total_cmp(&one.correlation));
    let silent = SENSORS.into_iter().filter(|sensor| sensors.iter().all(|found| found.sensor != *sensor)).collect();
    Noise {
        run: run.id.clone(),
        measured_at: run.started_at,
        machine: run.machine.name.clone(),
        hardware_id: run.machine.hardware_id(),
        suite: run.suite.name.clone(),
        scenarios,
        sensors,
        silent,
        conditions: record.unfit_conditions(),
    }
}

fn of_metric(record: &Record, scenario: &Scenario, metric: &Metric) -> OfMetric {
    let sessions = values_by_session(record, &scenario.name, metric);
    let values = sessions.concat();
    let place = record.run.suite.scenarios.iter().position(|one| one.name == scenario.name);
    let made = record.repeats.iter().filter(|repeat| Some(repeat.scenario) == place);
    let measured = made.filter(|repeat| repeat.phase == stend_model::plan::Phase::Measured).count();
    let floor = floor(&sessions);
    let pairs: usize = sessions.iter().map(|session| session.len() / 2).sum();
    let why = if pairs < LEAST_PAIRS { NoFloor::TooFewRepeats } else { NoFloor::NotPositive };
    OfMetric {
        metric: metric.name.clone(),
        unit: metric.unit,
        median: median(&values),
        valid: values.len() as u32,
        invalid: measured.saturating_sub(values.len()) as u32,
        floor,
        no_floor: floor.is_none().then_some(why),
        drift: sessions.iter().filter_map(|session| stend_stats::half_drift(session)).reduce(f64::max),
    }
}

fn floor(sessions: &[Vec<f64>]) -> Option<f64> {
    self_noise(sessions.iter().map(Vec::as_slice), SEED)
}

/// Grows as the value gets worse.
fn harm(value: f64, metric: &Metric) -> f64 {
    match metric.better {
        Better::Higher => -value,
        Better::Lower => value,
    }
}

/// What a sensor read while a repeat ran; more is more disturbance. The clock is negative, and counted from the least by [`from_the_least`].
fn reading(sensor: Sensor, repeat: &Repeat, series: &[&Series]) -> Option<f64> {
    let usage = repeat.usage.as_ref();
    let counter = |name: &str| usage?.machine.get(name).copied();
    let total = || Some(counter("busy_ns")? + counter("idle_ns")? + counter("steal_ns")?).filter(|total| *total > 0.0);
    match sensor {
        Sensor::Steal => Some(counter("steal_ns")? / total()?),
        Sensor::ForeignCpu => Some((counter("busy_ns")? - usage?.cpu_ns() as f64).max(0.0) / total()?),
        Sensor::ClockFall => {
            let observed = repeat.report.as_ref().map(|report| &report.observed);
            let calibrated = || {
                let hertz = |name: &str| observed?.get(name).copied();
                Some(f64::midpoint(hertz("clock_hz_before")?, hertz("clock_hz_after")?))
            };
            calibrated().or_else(|| median(&fastest_clock(series.iter().copied()))).map(|hertz| -hertz)
        }
        Sensor::Load => {
            let load = series.iter().find(|series| series.metric == "load.1m")?;
            stend_stats::mean(&load.values)
        }
    }
}

/// Clocks as shares below the fastest; other readings as they are.
fn from_the_least(sensor: Sensor, readings: Vec<f64>) -> Vec<f64> {
    let fastest = readings.iter().copied().fold(f64::INFINITY, f64::min);
    let fall = |hertz: f64| 1.0 - hertz / fastest;
    if sensor == Sensor::ClockFall { readings.into_iter().map(fall).collect() } else { readings }
}

/// How readings went with harm; one-sided, since only more disturbance with worse values explains anything.
fn gone_with(sensor: Sensor, harm: &[f64], readings: &[f64]) -> Option<OfSensor> {
    let found = rank_correlation(harm, readings)?;
    let p = if found.correlation > 0.0 { found.p / 2.0 } else { 1.0 - found.p / 2.0 };
    let most = readings.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    Some(OfSensor { sensor, correlation: found.correlation, q: p, most })
}

fn adjusted(mut tries: Vec<(usize, OfSensor)>) -> Vec<(usize, OfSensor)> {
    let q = benjamini_hochberg(&tries.iter().map(|(_, found)| found.q).collect::<Vec<_>>());
    tries.iter_mut().zip(q).for_each(|((_, found), q)| found.q = q);
    tries
}

/// All scenarios together: of each the ranks, as shares, so that scenarios of different size and unit go together.
#[derive(Default)]
struct Pool {
    harm: Vec<f64>,
    readings: Vec<f64>,
    most: f64,
}

impl Pool {
    fn add(&mut self, harm: &[f64], readings: &[f64]) {
        if harm.len() != readings.len() {
            return;
        }
        self.harm.extend(rank_shares(harm));
        self.readings.extend(rank_shares(readings));
        self.most = readings.iter().copied().fold(self.most, f64::max);
    }
}

/// Of each value the share of all that are below it, those that are equal counting half.
fn rank_shares(values: &[f64]) -> Vec<f64> {
    let share = |value: &f64| {
        let below = values.iter().filter(|other| *other < value).count();
        let equal = values.iter().filter(|other| *other == value).count();
        (below as f64 + equal as f64 / 2.0) / values.len() as f64
    };
    values.iter().map(share).collect()
}

/// The noise floors of machines, from their noise measurements.
#[derive(Debug, Default)]
pub struct Floors {
    /// By the hardware's id, the work's identity and the metric's name; of several measurements the newest, and in that the greatest.
    known: BTreeMap<(String, String, String), Floor>,
}

/// A noise floor, and where it comes from.
#[derive(Debug, Clone, PartialEq)]
pub struct Floor {
    /// δ as a fraction.
    pub share: f64,
    /// The noise measurement.
    pub run: String,
    /// When it began.
    pub measured_at: Timestamp,
}

impl Floors {
    /// From noise measurements, oldest first.
    pub fn of(records: &[Record]) -> Self {
        let mut known: BTreeMap<_, Floor> = BTreeMap::new();
        for record in records {
            let hardware = record.run.machine.hardware_id();
            for scenario in &record.run.suite.scenarios {
                let identity = scenario.identity();
                for metric in &scenario.metrics {
                    let Some(share) = floor(&values_by_session(record, &scenario.name, metric)) else { continue };
                    let floor = Floor { share, run: record.run.id.clone(), measured_at: record.run.started_at };
                    let key = (hardware.clone(), identity.clone(), metric.name.clone());
                    // A suite may do the same work in two places.
                    let alike = known.get(&key).filter(|other| other.run == floor.run);
                    if alike.is_none_or(|other| other.share < floor.share) {
                        known.insert(key, floor);
                    }
                }
            }
        }
        Self { known }
    }

    /// The greatest floor of these machines for the work of a scenario.
    pub fn get(&self, machines: [&Machine; 2], scenario: &Scenario, metric: &Metric) -> Option<&Floor> {
        let found = machines.into_iter().filter_map(|machine| self.of_machine(machine, scenario, metric));
        found.max_by(|one, other| one.share.total_cmp(&other.share))
    }

    /// The floor of one machine for the work of a scenario.
    pub fn of_machine(&self, machine: &Machine, scenario: &Scenario, metric: &Metric) -> Option<&Floor> {
        if self.known.is_empty() {
            return None;
        }
        self.known.get(&(machine.hardware_id(), scenario.identity(), metric.name.clone()))
    }
}
