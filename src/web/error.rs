//! What a route answers where it cannot answer.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};

use crate::pipeline::RunError;
use crate::stages::StageError;
use crate::store;

/// Why there is no page. `guard` dresses it as one.
#[derive(Clone, Debug)]
pub(super) struct Oops {
    pub(super) status: StatusCode,
    /// The key of what people read, in `words`.
    pub(super) key: &'static str,
    /// More, for whoever has to mend it; shown to readers and curators only.
    pub(super) detail: String,
}

impl Oops {
    pub(super) fn new(status: StatusCode, key: &'static str) -> Oops {
        Oops { status, key, detail: String::new() }
    }

    pub(super) fn not_found() -> Oops {
        Oops::new(StatusCode::NOT_FOUND, "not_found")
    }

    pub(super) fn withdrawn() -> Oops {
        Oops::new(StatusCode::GONE, "withdrawn")
    }

    pub(super) fn forbidden() -> Oops {
        Oops::new(StatusCode::FORBIDDEN, "forbidden")
    }

    pub(super) fn bad(detail: impl Into<String>) -> Oops {
        Oops { status: StatusCode::BAD_REQUEST, key: "bad_request", detail: detail.into() }
    }

    pub(super) fn broken(error: impl std::fmt::Display) -> Oops {
        Oops { status: StatusCode::INTERNAL_SERVER_ERROR, key: "broken", detail: error.to_string() }
    }
}

impl From<store::Error> for Oops {
    fn from(error: store::Error) -> Oops {
        Oops::broken(error)
    }
}

impl From<RunError> for Oops {
    fn from(error: RunError) -> Oops {
        Oops::broken(error)
    }
}

impl From<StageError> for Oops {
    fn from(error: StageError) -> Oops {
        Oops::broken(error)
    }
}

impl From<minijinja::Error> for Oops {
    fn from(error: minijinja::Error) -> Oops {
        Oops::broken(format!("{error:#}"))
    }
}

impl IntoResponse for Oops {
    fn into_response(self) -> Response {
        let mut response = self.status.into_response();
        response.extensions_mut().insert(self);
        response
    }
}
