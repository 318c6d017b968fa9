//! Styles and scripts: our own, and a library vendored from npm with its licence. All are part of the
//! binary; URLs contain a hash of all contents, so that browsers can cache them permanently, and modules
//! import their neighbours.

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
    Asset { name: "difference.js", kind: SCRIPT, bytes: include_bytes!("assets/difference.js") },
    Asset { name: "queue.js", kind: SCRIPT, bytes: include_bytes!("assets/queue.js") },
    Asset { name: "review.js", kind: SCRIPT, bytes: include_bytes!("assets/review.js") },
    Asset { name: "run.js", kind: SCRIPT, bytes: include_bytes!("assets/run.js") },
    Asset { name: "icon.svg", kind: "image/svg+xml", bytes: include_bytes!("assets/icon.svg") },
    Asset { name: "htmx.js", kind: SCRIPT, bytes: include_bytes!("assets/vendor/htmx.min.js") },
    Asset { name: "htmx.LICENSE", kind: TEXT, bytes: include_bytes!("assets/vendor/htmx.LICENSE") },
];

static HASH: LazyLock<String> = LazyLock::new(|| {
    let mut hasher = blake3::Hasher::new();
    for asset in ASSETS {
        hasher.update(asset.bytes);
    }
    hasher.finalize().to_hex()[..12].to_string()
});

/// The URL of an asset; `None` if there is none of that name.
pub(super) fn asset_url(name: &str) -> Option<String> {
    ASSETS.iter().find(|asset| asset.name == name).map(|_| format!("/assets/{}/{name}", *HASH))
}

/// The bytes of an asset; `None` if there is none of that name.
pub(super) fn asset_bytes(name: &str) -> Option<&'static [u8]> {
    ASSETS.iter().find(|asset| asset.name == name).map(|asset| asset.bytes)
}

/// Serves an asset.
pub(super) async fn serve_asset(Path((hash, name)): Path<(String, String)>) -> Response {
    let found = ASSETS.iter().find(|asset| asset.name == name && hash == *HASH);
    let Some(asset) = found else { return StatusCode::NOT_FOUND.into_response() };
    let head =
        [(header::CONTENT_TYPE, asset.kind), (header::CACHE_CONTROL, "public, max-age=31536000, immutable")];
    (head, asset.bytes).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_modules_import_is_an_asset() {
        let import = regex::Regex::new(r#"(?m)^import .* from "\./([^"]+)";$"#).unwrap();
        let mut imported = Vec::new();
        for asset in ASSETS.iter().filter(|asset| asset.kind == SCRIPT) {
            let text = std::str::from_utf8(asset.bytes).unwrap();
            imported.extend(import.captures_iter(text).map(|found| found[1].to_owned()));
        }
        assert!(!imported.is_empty());
        for name in imported {
            assert!(asset_url(&name).is_some(), "{name} is imported and not served");
        }
    }
}
