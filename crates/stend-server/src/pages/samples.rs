//! The series of a run as they are sampled: those of the newest repeats of one scenario, drawn as a report draws them.

use std::sync::{Arc, PoisonError};

use axum::Json;
use axum::extract::{Path, Query};
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::response::{IntoResponse as _, Response};
use serde::{Deserialize, Serialize};
use stend_report::html::sampled::{Drawing, drawings};
use stend_report::words::language::Language;
use stend_store::Store;

use super::{Reader, Served};
use crate::api::{blocking, known_run};
use crate::error::ServerError;
use crate::lab::Lab;
use crate::problem::Problem;

/// So many repeats before the newest one are looked through for others of its scenario.
const LOOKED_THROUGH: u32 = 20;

/// Which repeat is the newest that a viewer has heard of.
#[derive(Debug, Deserialize)]
pub(crate) struct Of {
    repeat: u32,
}

/// The drawings of a repeat: all who watch a run ask for the same.
pub(crate) struct Sampled {
    of: (String, u32, Language),
    drawings: Arc<Vec<Drawing>>,
}

/// What there is to see.
#[derive(Debug, Serialize)]
pub(crate) struct Titles {
    titles: Vec<String>,
}

/// What the drawings show, in their order.
pub(crate) async fn titles(
    lab: Served,
    reader: Reader,
    Path(run): Path<String>,
    Query(of): Query<Of>,
) -> Result<Json<Titles>, Problem> {
    let drawings = drawn(&lab, run, of.repeat, reader.language).await?;
    Ok(Json(Titles { titles: drawings.iter().map(|drawing| drawing.title.clone()).collect() }))
}

/// One of the drawings.
pub(crate) async fn drawing(
    lab: Served,
    reader: Reader,
    Path((run, place)): Path<(String, usize)>,
    Query(of): Query<Of>,
) -> Result<Response, Problem> {
    let drawings = drawn(&lab, run, of.repeat, reader.language).await?;
    let drawing = drawings.get(place).ok_or_else(|| Problem::not_found("there is no such drawing"))?;
    let headers = [
        (CONTENT_TYPE, "image/svg+xml"),
        // It has its colours in itself.
        (CONTENT_SECURITY_POLICY, "default-src 'none'; style-src 'unsafe-inline'; sandbox"),
        (CACHE_CONTROL, "private, max-age=60"),
    ];
    Ok((headers, drawing.svg.clone()).into_response())
}

async fn drawn(lab: &Arc<Lab>, run: String, repeat: u32, language: Language) -> Result<Arc<Vec<Drawing>>, Problem> {
    let run = known_run(lab, run).await?;
    Ok(blocking(lab, move |lab| {
        // With the lock held: of many who ask at once one draws.
        let mut kept = lab.sampled.lock().unwrap_or_else(PoisonError::into_inner);
        let of = (run, repeat, language);
        if let Some(sampled) = kept.as_ref().filter(|sampled| sampled.of == of) {
            return Ok(Arc::clone(&sampled.drawings));
        }
        let drawings = Arc::new(draw(lab, &of.0, repeat, language)?);
        *kept = Some(Sampled { of, drawings: Arc::clone(&drawings) });
        Ok::<_, ServerError>(drawings)
    })
    .await??)
}

fn draw(lab: &Lab, run: &str, newest: u32, language: Language) -> Result<Vec<Drawing>, ServerError> {
    let store = Store::open_to_read(&lab.store)?;
    let first = newest.saturating_sub(LOOKED_THROUGH);
    let mut repeats = store.repeats_after(run, first.checked_sub(1))?;
    repeats.retain(|repeat| repeat.sequence <= newest);
    let Some(scenario) = repeats.last().map(|repeat| repeat.scenario) else { return Ok(Vec::new()) };
    repeats.retain(|repeat| repeat.scenario == scenario);
    let mut series = store.series_from(run, first)?;
    let with_series = repeats.into_iter().map(|repeat| {
        let of_it =
            series.extract_if(.., |(sequence, _)| *sequence == repeat.sequence).map(|(_, series)| series).collect();
        (repeat, of_it)
    });
    let with_series: Vec<_> = with_series.collect();
    Ok(drawings(&store.run(run)?, &with_series, language))
}
