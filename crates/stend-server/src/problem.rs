//! What went wrong, as programs are told: problem details, RFC 9457.

use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::Serialize;

use crate::error::ServerError;

/// Problem details.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Problem {
    /// The status.
    status: u16,
    /// The status in words.
    title: &'static str,
    /// What went wrong, in one line.
    detail: String,
}

impl Problem {
    pub(crate) fn new(status: StatusCode, detail: impl Into<String>) -> Self {
        let title = status.canonical_reason().unwrap_or("problem");
        Self { status: status.as_u16(), title, detail: detail.into() }
    }

    pub(crate) fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.status).expect("it came from one")
    }

    /// The same, of something that was named in a body that was understood.
    pub(crate) fn unprocessable(self) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, self.detail)
    }

    pub(crate) fn detail(&self) -> &str {
        &self.detail
    }

    pub(crate) fn not_found(what: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, what)
    }
}

impl From<ServerError> for Problem {
    fn from(error: ServerError) -> Self {
        let status = match error {
            ServerError::Refused(_) => StatusCode::UNPROCESSABLE_ENTITY,
            ServerError::Missing(_) => StatusCode::NOT_FOUND,
            // A disk that is full, a store that is damaged: no fault of who asked.
            _ => StatusCode::SERVICE_UNAVAILABLE,
        };
        Self::new(status, error.to_string())
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = self.status();
        let body = serde_json::to_string(&self).expect("it can be written");
        (status, [(CONTENT_TYPE, "application/problem+json")], body).into_response()
    }
}
