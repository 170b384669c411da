//! What Prometheus scrapes: the queue, the runs, the journal, deliveries, and how this machine is.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::path::Path;

use axum::extract::State as Shared;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse as _, Response};
use std::sync::Arc;

use crate::database::Records;
use crate::error::ServerError;
use crate::guard::now;
use crate::jobs::{Job, State};
use crate::journal::{Category, Kind};
use crate::lab::{Lab, Machine};
use crate::problem::Problem;
use crate::sensors::{self, Sensor, Zone};
use crate::tell::Place;

/// The text format of Prometheus.
const FORMAT: &str = "text/plain; version=0.0.4; charset=utf-8";

/// What is kept beside the store.
struct Counted {
    /// How many jobs are in each state.
    jobs: BTreeMap<&'static str, usize>,
    /// How many entries of each kind the journal has.
    kinds: HashMap<Kind, usize>,
    open: Vec<Job>,
    places: Vec<(String, Place)>,
}

impl Counted {
    fn of(known: &Records) -> Self {
        let mut jobs = BTreeMap::new();
        for job in known.jobs.values() {
            *jobs.entry(job.state.word()).or_default() += 1;
        }
        let places = known.places.iter().map(|(name, place)| (name.to_owned(), place.clone())).collect();
        Self { jobs, kinds: known.count_kinds(), open: known.queue(), places }
    }
}

pub(crate) async fn metrics(Shared(lab): Shared<Arc<Lab>>) -> Result<Response, Problem> {
    let counted = Counted::of(&lab.known());
    // A file of hosts that cannot be read is no reason to be blind for the rest.
    let machines = lab.machines().await.unwrap_or_default();
    let read = tokio::task::spawn_blocking(move || -> Result<String, ServerError> {
        let mut page = Page::default();
        page.queue(&counted, &machines, now());
        page.runs(&lab)?;
        page.journal(&counted);
        page.machine(Path::new("/proc"), Path::new("/sys"));
        Ok(page.0)
    });
    let text = read.await.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()))?;
    Ok(([(CONTENT_TYPE, FORMAT)], text).into_response())
}

#[derive(Default)]
struct Page(String);

impl Page {
    fn metric(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    fn value(&mut self, name: &str, labels: &[(&str, &str)], value: f64) {
        let escaped = |text: &str| text.replace('\\', r"\\").replace('"', "\\\"").replace('\n', r"\n");
        let labels: Vec<_> = labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escaped(value))).collect();
        let labels = if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
        let _ = writeln!(self.0, "{name}{labels} {value}");
    }

    fn queue(&mut self, counted: &Counted, machines: &[Machine], now: i64) {
        self.metric("stend_build_info", "gauge", "The version of the server; always 1.");
        self.value("stend_build_info", &[("version", env!("CARGO_PKG_VERSION"))], 1.0);
        self.metric("stend_jobs", "gauge", "Jobs of the queue by state, also those that have ended.");
        for state in State::ALL {
            let count = counted.jobs.get(state.word()).copied().unwrap_or_default();
            self.value("stend_jobs", &[("state", state.word())], count as f64);
        }
        let mut waiting: BTreeMap<&str, Vec<&Job>> =
            machines.iter().map(|machine| (machine.name.as_str(), Vec::new())).collect();
        for job in counted.open.iter().filter(|job| job.state == State::Waiting) {
            waiting.entry(job.machine()).or_default().push(job);
        }
        self.metric("stend_queue_jobs", "gauge", "Jobs that wait for a machine.");
        for (machine, jobs) in &waiting {
            self.value("stend_queue_jobs", &[("machine", machine)], jobs.len() as f64);
        }
        self.metric(
            "stend_queue_age_seconds",
            "gauge",
            "How long the oldest job has waited for a machine; 0 if none waits.",
        );
        for (machine, jobs) in &waiting {
            let asked = |job: &&Job| job.asked_at.parse::<jiff::Timestamp>().map_or(now, jiff::Timestamp::as_second);
            let age = jobs.iter().map(asked).min().map_or(0, |oldest| (now - oldest).max(0));
            self.value("stend_queue_age_seconds", &[("machine", machine)], age as f64);
        }
    }

    fn runs(&mut self, lab: &Lab) -> Result<(), ServerError> {
        let runs = lab.runs()?;
        self.metric("stend_runs", "gauge", "Stored runs by state.");
        for state in ["open", "finished", "damaged"] {
            let is_it = |found: Option<stend_model::run::RunState>| {
                found.map_or("damaged", stend_model::run::RunState::word) == state
            };
            let count = runs.iter().filter(|run| is_it(run.state)).count();
            self.value("stend_runs", &[("state", state)], count as f64);
        }
        self.metric("stend_repeats", "gauge", "Measured repeats of stored runs by outcome.");
        let sum = |of: fn(&stend_model::record::Summary) -> u32| runs.iter().map(|run| f64::from(of(run))).sum();
        self.value("stend_repeats", &[("outcome", "valid")], sum(|run| run.valid));
        self.value("stend_repeats", &[("outcome", "invalid")], sum(|run| run.invalid));
        self.value("stend_repeats", &[("outcome", "failed")], sum(|run| run.failed));
        Ok(())
    }

    fn journal(&mut self, counted: &Counted) {
        self.metric("stend_journal_entries_total", "counter", "Entries of the journal by category and gravity.");
        for category in Category::ALL {
            for is_grave in [false, true] {
                let of = Kind::ALL.iter().filter(|kind| kind.category() == category && kind.is_grave() == is_grave);
                let count: usize = of.filter_map(|kind| counted.kinds.get(kind)).sum();
                let labels = [("category", category.word()), ("grave", if is_grave { "true" } else { "false" })];
                self.value("stend_journal_entries_total", &labels, count as f64);
            }
        }
        // The rules have a place too, and are no destination.
        let places: Vec<_> = counted.places.iter().filter(|(name, _)| name != crate::rules::NAME).collect();
        self.metric("stend_deliveries_total", "counter", "Entries delivered and given up, and deliveries that failed.");
        for (name, place) in &places {
            for (result, count) in
                [("delivered", place.delivered), ("failed", place.failed), ("given_up", place.given_up)]
            {
                let labels = [("destination", name.as_str()), ("result", result)];
                self.value("stend_deliveries_total", &labels, count as f64);
            }
        }
        self.metric("stend_delivery_failing", "gauge", "Whether the last delivery to a destination failed.");
        for (name, place) in &places {
            let is_failing = f64::from(u8::from(place.since.is_some()));
            self.value("stend_delivery_failing", &[("destination", name)], is_failing);
        }
    }

    /// What this machine has of it.
    fn machine(&mut self, proc: &Path, sys: &Path) {
        let means = load(proc);
        if let [one, five, fifteen] = means[..] {
            for (name, minutes, mean) in [
                ("stend_load1", "one minute", one),
                ("stend_load5", "five minutes", five),
                ("stend_load15", "15 minutes", fifteen),
            ] {
                self.metric(name, "gauge", &format!("The load of the server's machine over {minutes}."));
                self.value(name, &[], mean);
            }
        }
        let found = temperatures(sys);
        if !found.is_empty() {
            self.metric("stend_temperature_celsius", "gauge", "Temperatures of the server's machine.");
            for ((chip, sensor), celsius) in found {
                self.value("stend_temperature_celsius", &[("chip", &chip), ("sensor", &sensor)], celsius);
            }
        }
    }
}

/// The load averages over one, five and 15 minutes, if the system says them.
pub(crate) fn load(proc: &Path) -> Vec<f64> {
    let load = std::fs::read_to_string(proc.join("loadavg")).unwrap_or_default();
    load.split_whitespace().take(3).filter_map(|mean| mean.parse().ok()).collect()
}

/// The temperatures of this machine, by chip and sensor.
pub(crate) fn temperatures(sys: &Path) -> BTreeMap<(String, String), f64> {
    let named = |sensor: Sensor| {
        // Two chips of a kind have the same name.
        let parts = |of: [Option<String>; 2]| of.into_iter().flatten().collect::<Vec<_>>().join(" ");
        let chip = parts([Some(sensor.chip), sensor.name]);
        ((chip, parts([Some(sensor.input), sensor.label])), sensor.celsius)
    };
    let zone = |zone: Zone| ((zone.zone, zone.kind.unwrap_or_default()), zone.celsius);
    sensors::temperatures(sys).into_iter().map(named).chain(sensors::zones(sys).into_iter().map(zone)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_has_the_temperatures_that_its_files_say() {
        let sys = tempfile::tempdir().unwrap();
        for (path, text) in [
            ("class/hwmon/hwmon0/name", "coretemp\n"),
            ("class/hwmon/hwmon0/temp1_input", "45500\n"),
            ("class/hwmon/hwmon0/temp1_label", "Package \"id\" 0\n"),
            ("class/hwmon/hwmon0/temp2_input", "broken\n"),
            ("class/hwmon/hwmon0/fan1_input", "1200\n"),
            ("class/hwmon/hwmon1/name", "nvme\n"),
            ("class/hwmon/hwmon1/temp1_input", "-1000\n"),
            ("class/thermal/thermal_zone0/type", "acpitz\n"),
            ("class/thermal/thermal_zone0/temp", "30000\n"),
            ("class/thermal/cooling_device0/type", "Fan\n"),
        ] {
            let path = sys.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        std::fs::write(sys.path().join("loadavg"), "0.50 1.25 2.00 1/100 4242\n").unwrap();
        let mut page = Page::default();
        page.machine(sys.path(), sys.path());
        let values: Vec<_> = page.0.lines().filter(|line| !line.starts_with('#')).collect();
        assert_eq!(
            values,
            [
                "stend_load1 0.5",
                "stend_load5 1.25",
                "stend_load15 2",
                r#"stend_temperature_celsius{chip="hwmon0 coretemp",sensor="temp1 Package \"id\" 0"} 45.5"#,
                r#"stend_temperature_celsius{chip="hwmon1 nvme",sensor="temp1"} -1"#,
                r#"stend_temperature_celsius{chip="thermal_zone0",sensor="acpitz"} 30"#,
            ]
        );
        // A machine without sensors has no such metrics.
        let mut page = Page::default();
        page.machine(&sys.path().join("none"), &sys.path().join("none"));
        assert_eq!(page.0, "");
    }
}
