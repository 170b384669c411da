//! Answers that a program has already are not sent again.

use axum::body::Body;
use axum::extract::Request;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use axum::http::{HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use sha2::{Digest as _, Sha256};

/// Gives each JSON document of the API the digest of its text as its `ETag`, and sends no text to who names it.
pub(crate) async fn tagged(request: Request, next: Next) -> Response {
    let is_asked = request.method() == Method::GET && request.uri().path().starts_with("/api/");
    let known = request.headers().get(IF_NONE_MATCH).cloned();
    let response = next.run(request).await;
    let is_json = response.headers().get(CONTENT_TYPE).is_some_and(|kind| kind == "application/json");
    if !is_asked || !is_json || response.status() != StatusCode::OK {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    // It was made as a whole, so it is in memory already.
    let Ok(text) = axum::body::to_bytes(body, usize::MAX).await else {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    let digest: String = Sha256::digest(&text)[..16].iter().map(|byte| format!("{byte:02x}")).collect();
    let tag = format!("\"{digest}\"");
    let is_known = known.and_then(|known| Some(has(known.to_str().ok()?, &tag))).unwrap_or(false);
    parts.headers.insert(ETAG, HeaderValue::from_str(&tag).expect("it is plain text"));
    parts.headers.insert(CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    if is_known {
        parts.status = StatusCode::NOT_MODIFIED;
        parts.headers.remove(CONTENT_TYPE);
        return Response::from_parts(parts, Body::empty());
    }
    Response::from_parts(parts, Body::from(text))
}

/// Whether a list of tags has this one.
fn has(list: &str, tag: &str) -> bool {
    list.split(',').map(str::trim).any(|known| known == "*" || known.trim_start_matches("W/") == tag)
}
