//! Gates: why a repeat does not count, from what it reported and how the machine fared meanwhile.

use stend_model::metric::three_digits;
use stend_model::run::Series;
use stend_model::suite::{Gate, Scenario, Verification};
use stend_model::wire::{Check, Report, Usage};

/// The kernel counts a CPU's time in ticks of 10 ms and looks at each CPU once a tick, so that a sum over all CPUs may be wrong by two ticks
/// a CPU between two readings. A gate does not close for less than that.
const TICKS_OF_DOUBT_NS: f64 = 2.0 * 10e6;

/// A fall of the clock is not looked for in fewer samples.
const FEWEST_FREQUENCY_SAMPLES: usize = 9;

/// Each reason why the repeat does not count, as a sentence; none if it does.
pub(super) fn reasons(
    scenario: &Scenario,
    report: Option<&Report>,
    usage: Option<&Usage>,
    machine: &[Series],
) -> Vec<String> {
    let mut reasons = Vec::new();
    if let Some(report) = report {
        reasons.extend(verification(scenario, report));
        for metric in &scenario.metrics {
            if metric.of(report).is_none() {
                reasons.push(format!(
                    "the instrument did not report what the metric \"{}\" needs ({})",
                    metric.name, metric.value
                ));
            }
        }
        reasons.extend(calibration(scenario, report));
    }
    if let Some(usage) = usage {
        reasons.extend(interference(scenario, usage));
    }
    reasons.extend(frequency(scenario, machine));
    reasons
}

fn verification(scenario: &Scenario, report: &Report) -> Option<String> {
    let evidence = report.evidence.as_deref().map(|evidence| format!(": {evidence}")).unwrap_or_default();
    match report.check {
        Check::Passed => None,
        Check::Failed => Some(format!("the work was wrong{evidence}")),
        Check::None if scenario.verification == Verification::None => None,
        Check::None => Some("the work was not verified; if it cannot be, say verification = \"none\"".into()),
    }
}

/// The instrument's own calibrations before and after its measured part.
fn calibration(scenario: &Scenario, report: &Report) -> Option<String> {
    let (before, after) = (report.observed.get("clock_hz_before")?, report.observed.get("clock_hz_after")?);
    fall(scenario.gates.frequency_fall, *before, *after)
}

/// The machine's own frequency counters, CPU by CPU: the median of the last third against that of the first.
fn frequency(scenario: &Scenario, machine: &[Series]) -> Option<String> {
    let of_a_cpu = |series: &&Series| series.metric.starts_with("cpu") && series.metric.ends_with(".frequency_hz");
    machine.iter().filter(of_a_cpu).find_map(|series| {
        let third = series.values.len() / 3;
        if series.values.len() < FEWEST_FREQUENCY_SAMPLES {
            return None;
        }
        let first = stend_stats::median(&series.values[..third])?;
        let last = stend_stats::median(&series.values[series.values.len() - third..])?;
        fall(scenario.gates.frequency_fall, first, last)
    })
}

fn fall(gate: Option<Gate>, before: f64, after: f64) -> Option<String> {
    let fall = 1.0 - after / before;
    let closed = gate.is_some_and(|gate| gate.exceeded_by(fall));
    closed.then(|| {
        format!(
            "the clock fell by {} while it ran, from {} to {} GHz",
            percent(fall),
            three_digits(before / 1e9),
            three_digits(after / 1e9)
        )
    })
}

fn interference(scenario: &Scenario, usage: &Usage) -> Vec<String> {
    let counter = |name: &str| usage.machine.get(name).copied();
    let gates = &scenario.gates;
    let closed = |gate: Option<Gate>, value: f64| gate.is_some_and(|gate| gate.exceeded_by(value));
    let mut reasons = Vec::new();
    if let (Some(busy), Some(idle), Some(steal), Some(cpus)) =
        (counter("busy_ns"), counter("idle_ns"), counter("steal_ns"), counter("cpus"))
    {
        let total = busy + idle + steal;
        let doubt = TICKS_OF_DOUBT_NS * cpus;
        let foreign = busy - usage.cpu_ns() as f64;
        for (gate, time, what) in
            [(gates.steal, steal, "the hypervisor took away"), (gates.foreign_cpu, foreign, "other programs used")]
        {
            if total > 0.0 && time > doubt && closed(gate, time / total) {
                reasons.push(format!("{what} {} of the machine's CPU time", percent(time / total)));
            }
        }
    }
    for (gate, name, what) in [
        (gates.swapping, "swapped_pages", "pages were swapped"),
        (gates.throttling, "throttles", "times a CPU was throttled by heat"),
    ] {
        if let Some(value) = counter(name).filter(|value| closed(gate, *value)) {
            reasons.push(format!("{value} {what}"));
        }
    }
    reasons
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}
