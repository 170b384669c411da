//! The page of a machine: what it is, what runs on it, what waits, and its newest runs.

use std::sync::Arc;

use askama::Template;
use axum::extract::Path;
use axum::response::Response;
use stend_model::record::Summary;
use stend_report::numbers::in_language;
use stend_report::words::machine::five_lines_in;
use stend_stand::hosts::Hosts;
use stend_store::Store;

use super::{Reader, Served, page};
use crate::accounts::Role;
use crate::api::{blocking, known_machine};
use crate::error::ServerError;
use crate::jobs::Job;
use crate::lab::Lab;
use crate::metrics;
use crate::problem::Problem;
use crate::work;

/// So many of its runs are listed.
const RUNS: usize = 50;

#[derive(Template)]
#[template(path = "machine.html")]
struct Machine {
    reader: Reader,
    name: String,
    /// What the newest run found it to be.
    lines: Vec<String>,
    /// When that was.
    seen_at: Option<String>,
    scenarios: Vec<String>,
    jobs: Vec<Job>,
    runs: Vec<Summary>,
    /// Load averages and temperatures now, of this machine alone: others are looked at by their runs.
    load: Vec<String>,
    temperatures: Vec<(String, String)>,
    /// What `stend check` says of it, if it was asked.
    check: Option<String>,
}

pub(crate) async fn machine(lab: Served, reader: Reader, Path(name): Path<String>) -> Response {
    let machine = gathered(&lab, reader.clone(), name, None).await;
    page(reader, machine)
}

/// Looks whether the machine is fit to be measured now.
pub(crate) async fn check(lab: Served, reader: Reader, Path(name): Path<String>) -> Response {
    let checked = checked(&lab, reader.clone(), name).await;
    page(reader, checked)
}

async fn checked(lab: &Arc<Lab>, reader: Reader, name: String) -> Result<Machine, Problem> {
    known_machine(lab, &name).await?;
    let said = work::check(lab, &name).await?;
    gathered(lab, reader, name, Some(String::from_utf8_lossy(&said).into_owned())).await
}

async fn gathered(lab: &Arc<Lab>, reader: Reader, name: String, check: Option<String>) -> Result<Machine, Problem> {
    known_machine(lab, &name).await?;
    let mut jobs = lab.known().queue();
    jobs.retain(|job| job.machine() == name);
    let language = reader.language;
    let wanted = lab.name_here(&name).to_owned();
    let read = move |lab: &Lab| -> Result<_, ServerError> {
        let hosts = Hosts::read(&lab.store).map_err(|error| ServerError::Refused(error.to_string()))?;
        let all = lab.runs()?;
        let of_it = all.iter().rev().filter(|run| hosts.is_of((&run.machine, &run.host), &wanted));
        let runs: Vec<Summary> = of_it.take(RUNS).cloned().collect();
        // One that is damaged says nothing.
        let newest = runs.first().and_then(|run| Store::open_to_read(&lab.store).ok()?.run(&run.id).ok());
        Ok((runs, newest))
    };
    let (runs, newest) = blocking(lab, read).await??;
    let lines = newest.as_ref().map(|run| five_lines_in(&run.machine, language).to_vec()).unwrap_or_default();
    let scenarios = newest.as_ref().map(|run| run.suite.scenarios.iter().map(|one| one.name.clone()).collect());
    let seen_at = newest.map(|run| run.started_at.to_string());
    let (mut load, mut temperatures) = (Vec::new(), Vec::new());
    if name == lab.here() {
        let figure = |text: String| in_language(&text, language);
        let now = blocking(lab, |_| (metrics::load("/proc".as_ref()), metrics::temperatures("/sys".as_ref()))).await?;
        load = now.0.iter().map(|mean| figure(format!("{mean:.2}"))).collect();
        let of_sensor = |((sensor, what), degrees): ((String, String), f64)| {
            (format!("{sensor} {what}"), figure(format!("{degrees:.0} °C")))
        };
        temperatures = now.1.into_iter().map(of_sensor).collect();
    }
    Ok(Machine {
        load,
        temperatures,
        reader,
        name,
        lines,
        seen_at,
        scenarios: scenarios.unwrap_or_default(),
        jobs,
        runs,
        check,
    })
}
