//! Runs that are sent in a file.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::Query;
use axum::http::StatusCode;
use axum::{Extension, Json};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::io::AsyncWriteExt as _;
use tokio_stream::StreamExt as _;

use stend_model::record::JSON_VERSION;

use super::{Answer, Served};
use crate::accounts::{Who, fresh_secret};
use crate::journal::Kind;
use crate::lab::Lab;
use crate::problem::Problem;
use crate::work;

/// No file is larger; what it unpacks to is bounded by `stend import`.
pub(crate) const LARGEST: u64 = 256 << 20;

/// A file that comes for longer is given up, and so is one of which nothing comes.
const LONGEST_UPLOAD: Duration = Duration::from_secs(600);
const LONGEST_SILENCE: Duration = Duration::from_secs(30);

/// What was imported.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Imported {
    schema_version: u32,
    /// What `stend import` said of it, in lines.
    said: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Of {
    /// The machine's name, for results that no lab made.
    host: Option<String>,
}

pub(crate) async fn import(
    lab: Served,
    who: Extension<Who>,
    Query(of): Query<Of>,
    body: Body,
) -> Answer<(StatusCode, Json<Imported>)> {
    let _place = lab.uploads.acquire().await.expect("nobody closes it");
    let file = uploaded(&lab, body).await?;
    // One at a time: each is read into memory.
    let _one = lab.one_import.lock().await;
    let said = read(&lab, &file.0, of.host).await?;
    let about = said.join("; ");
    lab.note(Kind::RunImported, who.0.name, about, String::new()).await?;
    Ok((StatusCode::CREATED, Json(Imported { schema_version: JSON_VERSION, said })))
}

/// A file that is gone when nobody needs it any more.
pub(crate) struct Upload(pub(crate) PathBuf);

impl Drop for Upload {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Takes a file that is sent. If this server is killed meanwhile, the next one removes what was sent.
pub(crate) async fn uploaded(lab: &Lab, body: Body) -> Answer<Upload> {
    let directory = lab.store.join("server-uploads");
    work::private_directory(&directory).map_err(failed)?;
    let file = Upload(directory.join(fresh_secret()));
    received(&file.0, body).await?;
    Ok(file)
}

/// Writes what is sent to a file, as long as it is not too long and does not come too slowly.
async fn received(path: &Path, body: Body) -> Answer<()> {
    let whole = tokio::time::timeout(LONGEST_UPLOAD, write(path, body)).await;
    whole.map_err(|_| Problem::new(StatusCode::REQUEST_TIMEOUT, "the file came too slowly"))?
}

fn failed(error: std::io::Error) -> Problem {
    Problem::new(StatusCode::INSUFFICIENT_STORAGE, error.to_string())
}

async fn write(path: &Path, body: Body) -> Answer<()> {
    let mut file = tokio::fs::File::create_new(path).await.map_err(failed)?;
    let mut parts = body.into_data_stream();
    let mut size = 0;
    let slow = |_| Problem::new(StatusCode::REQUEST_TIMEOUT, "nothing more came of the file");
    while let Some(part) = tokio::time::timeout(LONGEST_SILENCE, parts.next()).await.map_err(slow)? {
        let part = part.map_err(|error| Problem::new(StatusCode::BAD_REQUEST, error.to_string()))?;
        size += part.len() as u64;
        if size > LARGEST {
            let said = format!("a file has {} MiB at most", LARGEST >> 20);
            return Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, said));
        }
        file.write_all(&part).await.map_err(failed)?;
    }
    file.flush().await.map_err(failed)
}

async fn read(lab: &Arc<Lab>, path: &Path, host: Option<String>) -> Answer<Vec<String>> {
    let path = path.to_string_lossy().into_owned();
    let mut words = vec!["import".to_owned()];
    words.extend(host.map(|host| format!("--host={host}")));
    words.push(path.clone());
    let said = work::said(lab, words).await;
    // The file's name here says nothing to who sent it.
    let plain = |text: &str| text.replace(&format!("{path}: "), "").replace(&path, "the file");
    let said = said.map_err(|refused| Problem::new(StatusCode::UNPROCESSABLE_ENTITY, plain(refused.detail())))?;
    Ok(said.lines().map(plain).collect())
}

#[cfg(test)]
mod tests {
    use tokio::time::Instant;
    use tokio_stream::{Stream, pending};

    use super::*;
    use crate::testing::with_a_given_clock;

    #[test]
    fn a_file_of_which_nothing_comes_and_one_that_comes_too_slowly_are_given_up() {
        let directory = tempfile::tempdir().unwrap();
        let refused =
            |name: &str, parts: std::pin::Pin<Box<dyn Stream<Item = std::io::Result<&'static str>> + Send>>| {
                let path = directory.path().join(name);
                with_a_given_clock(async {
                    let began = Instant::now();
                    let refused = received(&path, Body::from_stream(parts)).await.unwrap_err();
                    assert_eq!(refused.status(), StatusCode::REQUEST_TIMEOUT);
                    (began.elapsed(), std::fs::metadata(&path).unwrap().len())
                })
            };
        let (after, size) = refused("stalled", Box::pin(tokio_stream::once(Ok("a")).chain(pending())));
        assert!((LONGEST_SILENCE..LONGEST_UPLOAD).contains(&after) && size <= 1, "{after:?}");
        let parts = tokio_stream::iter(std::iter::repeat_with(|| Ok("a"))).then(async |part| {
            tokio::time::sleep(LONGEST_SILENCE - Duration::from_secs(1)).await;
            part
        });
        let (after, _) = refused("slow", Box::pin(parts));
        assert!(after >= LONGEST_UPLOAD, "{after:?}");
    }
}
