//! Gates: why a repeat does not count, from what it reported and how the machine fared meanwhile.

use stend_model::cause::Cause;
use stend_model::run::Series;
use stend_model::run::fastest_clock;
use stend_model::suite::{Gate, Scenario, Verification};
use stend_model::wire::{Check, MachineCpu, Report, Usage};

use stend_stand::machine::TICKS_OF_DOUBT;

/// A tick of the kernel's CPU time.
const TICK_NS: f64 = 10e6;

/// A fall of the clock is not looked for in fewer samples.
const FEWEST_FREQUENCY_SAMPLES: usize = 9;

/// Why the repeat does not count; nothing if it does. `machine` is what was sampled while it ran, `of_server` the CPU time that its server used
/// meanwhile, in ns, which is neither the instrument's nor foreign; nothing where that is not known.
pub fn causes(
    scenario: &Scenario,
    report: &Report,
    usage: Option<&Usage>,
    machine: &[Series],
    of_server: Option<f64>,
) -> Vec<Cause> {
    let mut causes: Vec<_> = verification(scenario, report).into_iter().collect();
    for metric in &scenario.metrics {
        if !metric.optional && metric.of(report).is_none() {
            causes.push(Cause::MetricMissing { metric: metric.name.clone(), value: metric.value.to_string() });
        }
    }
    causes.extend(calibration(scenario, report));
    if let Some(usage) = usage {
        causes.extend(interference(scenario, usage, of_server));
    }
    causes.extend(frequency(scenario, machine));
    causes
}

fn verification(scenario: &Scenario, report: &Report) -> Option<Cause> {
    match report.check {
        Check::Passed => None,
        Check::Failed => {
            let evidence = report.evidence.clone().unwrap_or_default();
            let is_suite = scenario.instrument.runs_tests();
            Some(if is_suite { Cause::TestsCut { evidence } } else { Cause::WorkWrong { evidence } })
        }
        Check::None if scenario.verification == Verification::None => None,
        Check::None => Some(Cause::WorkUnverified),
    }
}

/// The instrument's own calibrations before and after its measured part.
fn calibration(scenario: &Scenario, report: &Report) -> Option<Cause> {
    let (before, after) = (report.observed.get("clock_hz_before")?, report.observed.get("clock_hz_after")?);
    fall(scenario.gates.frequency_fall, *before, *after)
}

/// The machine's own frequency counters while the command ran: the median of the last third against that of the first.
fn frequency(scenario: &Scenario, machine: &[Series]) -> Option<Cause> {
    let values = fastest_clock(machine);
    if values.len() < FEWEST_FREQUENCY_SAMPLES {
        return None;
    }
    let third = values.len() / 3;
    let first = stend_stats::median(&values[..third])?;
    let last = stend_stats::median(&values[values.len() - third..])?;
    fall(scenario.gates.frequency_fall, first, last)
}

fn fall(gate: Option<Gate>, before_hz: f64, after_hz: f64) -> Option<Cause> {
    let share = 1.0 - after_hz / before_hz;
    gate?.closed_by(share).map(|limit| Cause::ClockFell { share, limit, before_hz, after_hz })
}

/// The share of a machine's CPU time that something took, with the limit, if that is more than the gate allows.
pub(super) fn taken(gate: Option<Gate>, cpu: &MachineCpu, time: f64) -> Option<(f64, f64)> {
    let share = time / cpu.total_ns;
    let is_sure = cpu.total_ns > 0.0 && time > TICKS_OF_DOUBT * TICK_NS * cpu.cpus;
    Some((share, gate.filter(|_| is_sure)?.closed_by(share)?))
}

fn interference(scenario: &Scenario, usage: &Usage, of_server: Option<f64>) -> Vec<Cause> {
    let gates = &scenario.gates;
    let mut causes = Vec::new();
    if let Some(cpu) = usage.machine_cpu() {
        let steal = taken(gates.steal, &cpu, cpu.steal_ns);
        causes.extend(steal.map(|(share, limit)| Cause::Steal { share, limit }));
        let foreign = of_server.and_then(|of_server| taken(gates.foreign_cpu, &cpu, cpu.foreign_ns - of_server));
        causes.extend(foreign.map(|(share, limit)| Cause::ForeignCpu { share, limit }));
    }
    let counted = |gate: Option<Gate>, name: &str| {
        let value = *usage.machine.get(name)?;
        Some((value, gate?.closed_by(value)?))
    };
    causes.extend(counted(gates.swapping, "swapped_pages").map(|(pages, limit)| Cause::Swapping { pages, limit }));
    causes.extend(counted(gates.throttling, "throttles").map(|(times, limit)| Cause::Throttling { times, limit }));
    causes
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use stend_model::run::Origin;
    use stend_model::suite::{Gates, Instrument};

    use super::*;

    fn clock(cpu: u32, hertz: impl Fn(usize) -> f64) -> Series {
        let times_ns: Vec<i64> = (0..30).map(|tick| 500 + tick * 100).collect();
        let values = (0..30).map(hertz).collect();
        Series { metric: format!("cpu{cpu}.frequency_hz"), origin: Origin::Machine, times_ns, values }
    }

    #[test]
    fn a_repeat_counts_without_what_only_an_optional_metric_needs() {
        let mut scenario = stend_testing::suite().scenarios[0].clone();
        let report = stend_testing::repeat(0, 0, 0, 1.0).report.unwrap();
        let mut other = scenario.metrics[0].clone();
        other.value = "operations/controllers_cpu".parse().unwrap();
        scenario.metrics.push(other);
        let missing = Cause::MetricMissing {
            metric: scenario.metrics[1].name.clone(),
            value: "operations/controllers_cpu".into(),
        };
        assert_eq!(causes(&scenario, &report, None, &[], Some(0.0)), [missing]);
        scenario.metrics[1].optional = true;
        assert!(causes(&scenario, &report, None, &[], Some(0.0)).is_empty());
    }

    #[test]
    fn work_that_is_wrong_or_unverified_does_not_count() {
        let mut scenario = stend_testing::suite().scenarios[0].clone();
        let mut report = stend_testing::repeat(0, 0, 0, 1.0).report.unwrap();
        let mut found = |check, instrument: &str, verification| {
            (report.check, scenario.instrument, scenario.verification) =
                (check, Instrument::Adapter(instrument.into()), verification);
            causes(&scenario, &report, None, &[], Some(0.0))
        };
        for verification in [Verification::Required, Verification::None] {
            assert_eq!(found(Check::Passed, "fio", verification), []);
            assert!(matches!(found(Check::Failed, "fio", verification)[..], [Cause::WorkWrong { .. }]));
            assert!(matches!(found(Check::Failed, "tests", verification)[..], [Cause::TestsCut { .. }]));
        }
        assert_eq!(found(Check::None, "fio", Verification::Required), [Cause::WorkUnverified]);
        assert_eq!(found(Check::None, "fio", Verification::None), []);
    }

    /// Ten seconds on two CPUs, of which the command used one; the counters as they are given.
    fn usage(counters: &[(&str, f64)]) -> Usage {
        let mut machine = BTreeMap::from([("busy_ns", 10e9), ("idle_ns", 10e9), ("steal_ns", 0.0), ("cpus", 2.0)]);
        machine.extend(counters.iter().copied());
        let usage = serde_json::json!({ "wall_ns": 10_000_000_000_u64, "user_ns": 10_000_000_000_u64, "system_ns": 0, "machine": machine });
        serde_json::from_value(usage).unwrap()
    }

    #[test]
    fn each_gate_closes_beyond_its_limit_and_no_other_one_does() {
        let report = stend_testing::repeat(0, 0, 0, 1.0).report.unwrap();
        let closed = |gates: Gates, counters: &[(&str, f64)]| {
            let mut scenario = stend_testing::suite().scenarios[0].clone();
            scenario.gates = gates;
            causes(&scenario, &report, Some(&usage(counters)), &[], Some(0.0)).len()
        };
        let limits = Gates::DEFAULT;
        assert_eq!(closed(limits, &[]), 0);
        type Counters<'a> = &'a [(&'a str, f64)];
        let cases: [(Gates, Counters, Counters); 4] = [
            (
                Gates { steal: Some(Gate::Off), ..limits },
                &[("steal_ns", 0.19e9), ("idle_ns", 9.81e9)],
                &[("steal_ns", 0.21e9), ("idle_ns", 9.79e9)],
            ),
            (
                Gates { foreign_cpu: Some(Gate::Off), ..limits },
                &[("busy_ns", 10.9e9), ("idle_ns", 9.1e9)],
                &[("busy_ns", 11.1e9), ("idle_ns", 8.9e9)],
            ),
            (Gates { swapping: Some(Gate::Off), ..limits }, &[("swapped_pages", 0.0)], &[("swapped_pages", 1.0)]),
            (Gates { throttling: Some(Gate::Off), ..limits }, &[("throttles", 0.0)], &[("throttles", 1.0)]),
        ];
        for (without, within, beyond) in cases {
            assert_eq!(closed(limits, within), 0, "{within:?}");
            assert_eq!(closed(limits, beyond), 1, "{beyond:?}");
            assert_eq!(closed(without, beyond), 0, "{beyond:?} with the gate off");
        }
    }

    /// A counter of a CPU's time may be a tick behind.
    #[test]
    fn a_share_that_counters_cannot_tell_closes_no_gate() {
        let mut scenario = stend_testing::suite().scenarios[0].clone();
        scenario.gates = Gates { steal: Some(Gate::Limit(0.0)), ..Gates::DEFAULT };
        let doubt = TICKS_OF_DOUBT * TICK_NS * 2.0;
        for (steal, closed) in [(doubt, 0), (doubt + 1.0, 1)] {
            let usage = usage(&[("steal_ns", steal), ("idle_ns", 10e9 - steal)]);
            assert_eq!(interference(&scenario, &usage, Some(0.0)).len(), closed, "{steal} ns");
        }
    }

    /// The command used half of two CPUs, its server a quarter: what is foreign is the rest.
    #[test]
    fn what_the_scenarios_server_used_is_not_foreign() {
        let scenario = stend_testing::suite().scenarios[0].clone();
        let usage = usage(&[("busy_ns", 16e9), ("idle_ns", 4e9)]);
        let report = stend_testing::repeat(0, 0, 0, 1.0).report.unwrap();
        let foreign = |of_server| {
            let causes = causes(&scenario, &report, Some(&usage), &[], of_server);
            causes.into_iter().filter(|cause| matches!(cause, Cause::ForeignCpu { .. })).count()
        };
        assert_eq!(foreign(Some(0.0)), 1);
        assert_eq!(foreign(None), 0, "without a control group that cannot be told");
        assert_eq!((foreign(Some(5.5e9)), foreign(Some(4e9))), (0, 1));
    }

    #[test]
    fn only_clocks_of_processors_are_looked_at() {
        let named = |metric: &str| Series { metric: metric.into(), ..clock(0, |_| 9e9) };
        let machine = [clock(0, |_| 3e9), named("gpu0.frequency_hz"), named("cpu0.temperature")];
        assert_eq!(fastest_clock(&machine), [3e9; 30]);
    }

    #[test]
    fn a_clock_that_falls_while_the_command_runs_closes_the_gate() {
        let scenario = &stend_testing::suite().scenarios[0];
        let report = stend_testing::repeat(0, 0, 0, 1.0).report.unwrap();
        let closed = |machine: &[Series]| !causes(scenario, &report, None, machine, Some(0.0)).is_empty();
        assert!(!closed(&[clock(0, |_| 3e9)]));
        assert!(closed(&[clock(0, |tick| if tick < 15 { 3e9 } else { 2e9 })]));
        assert!(!closed(&[clock(0, |_| 3e9), clock(1, |tick| 3e9 / (tick + 1) as f64)]), "another CPU goes to sleep");
    }
}
