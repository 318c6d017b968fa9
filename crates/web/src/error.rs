//! Error responses of routes.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};

use crate::pipeline::RunError;
use crate::store;
use riddlemill_pipeline::stages::StageError;

/// The error of a page. `guard` renders it.
#[derive(Clone, Debug)]
pub(super) struct PageError {
    pub(super) status: StatusCode,
    /// The key of the message, in `i18n`.
    pub(super) key: &'static str,
    /// Details for fixing it; shown to readers and curators only.
    pub(super) detail: String,
    /// What its sender wrote into the form that was not stored, to be copied: without the script nothing else
    /// keeps it.
    pub(super) kept: String,
}

impl PageError {
    pub(super) fn new(status: StatusCode, key: &'static str) -> PageError {
        PageError { status, key, detail: String::new(), kept: String::new() }
    }

    /// The same with details for readers and curators.
    pub(super) fn with(self, detail: impl std::fmt::Display) -> PageError {
        PageError { detail: detail.to_string(), ..self }
    }

    pub(super) fn not_found() -> PageError {
        PageError::new(StatusCode::NOT_FOUND, "not_found")
    }

    pub(super) fn withdrawn() -> PageError {
        PageError::new(StatusCode::GONE, "withdrawn")
    }

    pub(super) fn forbidden() -> PageError {
        PageError::new(StatusCode::FORBIDDEN, "forbidden")
    }

    pub(super) fn bad(detail: impl Into<String>) -> PageError {
        PageError::new(StatusCode::BAD_REQUEST, "bad_request").with(detail.into())
    }

    pub(super) fn broken(error: impl std::fmt::Display) -> PageError {
        PageError::new(StatusCode::INTERNAL_SERVER_ERROR, "broken").with(error)
    }
}

impl From<store::Error> for PageError {
    fn from(error: store::Error) -> PageError {
        PageError::broken(error)
    }
}

impl From<RunError> for PageError {
    fn from(error: RunError) -> PageError {
        PageError::broken(error)
    }
}

impl From<StageError> for PageError {
    fn from(error: StageError) -> PageError {
        PageError::broken(error)
    }
}

impl From<minijinja::Error> for PageError {
    fn from(error: minijinja::Error) -> PageError {
        PageError::broken(format!("{error:#}"))
    }
}

impl IntoResponse for PageError {
    fn into_response(self) -> Response {
        let mut response = self.status.into_response();
        response.extensions_mut().insert(self);
        response
    }
}
