//! Styles and scripts: our own, and a library vendored from npm with its licence. All are part of the
//! binary; URLs contain a hash of the contents, so that browsers can cache them permanently.

use std::sync::LazyLock;

use axum::extract::Path;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

struct Asset {
    name: &'static str,
    kind: &'static str,
    bytes: &'static [u8],
}

const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";
const TEXT: &str = "text/plain; charset=utf-8";

/// htmx.org 2.0.11, as published on npm; see vendor/README.md.
const ASSETS: &[Asset] = &[
    Asset { name: "page.css", kind: STYLE, bytes: include_bytes!("assets/page.css") },
    Asset { name: "parts.css", kind: STYLE, bytes: include_bytes!("assets/parts.css") },
    Asset { name: "page.js", kind: SCRIPT, bytes: include_bytes!("assets/page.js") },
    Asset { name: "review.css", kind: STYLE, bytes: include_bytes!("assets/review.css") },
    Asset { name: "review.js", kind: SCRIPT, bytes: include_bytes!("assets/review.js") },
    Asset { name: "run.js", kind: SCRIPT, bytes: include_bytes!("assets/run.js") },
    Asset { name: "icon.svg", kind: "image/svg+xml", bytes: include_bytes!("assets/icon.svg") },
    Asset { name: "htmx.js", kind: SCRIPT, bytes: include_bytes!("assets/vendor/htmx.min.js") },
    Asset { name: "htmx.LICENSE", kind: TEXT, bytes: include_bytes!("assets/vendor/htmx.LICENSE") },
];

static HASHES: LazyLock<Vec<String>> = LazyLock::new(|| {
    ASSETS.iter().map(|asset| blake3::hash(asset.bytes).to_hex()[..12].to_string()).collect()
});

/// The URL of an asset; `None` if there is none of that name.
pub(super) fn address(name: &str) -> Option<String> {
    let at = ASSETS.iter().position(|asset| asset.name == name)?;
    Some(format!("/assets/{}/{name}", HASHES[at]))
}

/// The bytes of an asset; `None` if there is none of that name.
pub(super) fn bytes(name: &str) -> Option<&'static [u8]> {
    ASSETS.iter().find(|asset| asset.name == name).map(|asset| asset.bytes)
}

/// Serves an asset.
pub(super) async fn get(Path((hash, name)): Path<(String, String)>) -> Response {
    let found = ASSETS.iter().position(|asset| asset.name == name).filter(|at| HASHES[*at] == hash);
    let Some(at) = found else { return StatusCode::NOT_FOUND.into_response() };
    let head = [
        (header::CONTENT_TYPE, ASSETS[at].kind),
        (header::CACHE_CONTROL, "public, max-age=31536000, immutable"),
    ];
    (head, ASSETS[at].bytes).into_response()
}
