//! Error responses of routes.

use std::borrow::Cow;

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
    /// Details for fixing it; shown to readers and curators only, unless they are about what the visitor sent.
    pub(super) detail: String,
    /// Whether whoever sent the form sees the details, too.
    pub(super) is_for_sender: bool,
    /// The field of the form that it is about; empty where it is about all of it.
    pub(super) field: Cow<'static, str>,
    /// What its sender wrote into the form that was not stored, to be copied: without the script nothing else
    /// keeps it.
    pub(super) kept: String,
}

impl PageError {
    pub(super) fn new(status: StatusCode, key: &'static str) -> PageError {
        PageError {
            status,
            key,
            detail: String::new(),
            is_for_sender: false,
            field: Cow::Borrowed(""),
            kept: String::new(),
        }
    }

    /// The same with details for readers and curators.
    pub(super) fn with_detail(self, detail: impl std::fmt::Display) -> PageError {
        PageError { detail: detail.to_string(), ..self }
    }

    /// The same with details for whoever sent the form, in their language.
    pub(super) fn telling_sender(self, detail: String) -> PageError {
        PageError { detail, is_for_sender: true, ..self }
    }

    /// The same about a field of the form.
    pub(super) fn about(self, field: impl Into<Cow<'static, str>>) -> PageError {
        PageError { field: field.into(), ..self }
    }

    pub(super) fn not_found() -> PageError {
        PageError::new(StatusCode::NOT_FOUND, "not_found")
    }

    pub(super) fn record_withdrawn() -> PageError {
        PageError::new(StatusCode::GONE, "withdrawn")
    }

    pub(super) fn forbidden() -> PageError {
        PageError::new(StatusCode::FORBIDDEN, "forbidden")
    }

    pub(super) fn bad_request(detail: impl Into<String>) -> PageError {
        PageError::new(StatusCode::BAD_REQUEST, "bad_request").with_detail(detail.into())
    }

    pub(super) fn internal_error(error: impl std::fmt::Display) -> PageError {
        PageError::new(StatusCode::INTERNAL_SERVER_ERROR, "broken").with_detail(error)
    }
}

impl From<store::Error> for PageError {
    fn from(error: store::Error) -> PageError {
        PageError::internal_error(error)
    }
}

impl From<RunError> for PageError {
    fn from(error: RunError) -> PageError {
        PageError::internal_error(error)
    }
}

impl From<StageError> for PageError {
    fn from(error: StageError) -> PageError {
        PageError::internal_error(error)
    }
}

impl From<minijinja::Error> for PageError {
    fn from(error: minijinja::Error) -> PageError {
        PageError::internal_error(format!("{error:#}"))
    }
}

impl IntoResponse for PageError {
    fn into_response(self) -> Response {
        let mut response = self.status.into_response();
        response.extensions_mut().insert(self);
        response
    }
}
