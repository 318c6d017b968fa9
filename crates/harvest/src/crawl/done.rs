//! Facts about a fetched page, and errors in reading them.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use url::Url;

use crate::pages::tieba::Address;
use crate::pages::{Class, Facts, Site};

/// Why a page is fetched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// For its content.
    #[default]
    Page,
    /// For the addresses in it.
    Sitemap,
}

/// Facts about a finished page, stored in the archive as the page's metadata record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Done {
    /// The pass that fetched it.
    pub pass: u32,
    /// Canonical address.
    pub url: String,
    /// Why it was fetched; `None` for robots.txt.
    pub role: Option<Role>,
    /// Number of redirects before it.
    pub hops: u32,
    /// What kind of page it was.
    pub class: Class,
    /// HTTP status.
    pub status: u16,
    /// The target of its redirect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redirect: Option<String>,
    /// What it states about other pages.
    #[serde(default)]
    pub facts: Facts,
    /// The sitemaps that a sitemap names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sitemaps: Vec<String>,
    /// Whether the pass asked only for new pages.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub since: bool,
    /// Whether only part of it was received: that is kept, and the page is requested again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub undone: bool,
    /// `ETag`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub etag: Option<String>,
    /// `Last-Modified`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_modified: Option<String>,
    /// Digest of the payload.
    pub digest: String,
    /// Id of the response's WARC record.
    pub record: String,
    /// The record's date.
    pub date: String,
}

/// The canonical form of an address. Fragments are always removed, decorations for known sites.
pub(super) fn canonical_url(site: &Site, mut url: Url) -> Url {
    url.set_fragment(None);
    let address = if *site == Site::Tieba { Address::parse_address(&url) } else { None };
    address.and_then(|address| address.url_on_base(&url)).unwrap_or(url)
}

/// Why a crawl's state cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FrontierError {
    /// A file cannot be read or written.
    #[error("{}: {error}", path.display())]
    Io {
        /// Which.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// Damage in the middle of an archive.
    #[error("{}: damaged at byte {at}, with intact records after it, so it is not an incomplete end; restore the file (nothing was changed)", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where.
        at: u64,
    },
    /// Another crawl is running.
    #[error("{}: another crawl of this source is running", path.display())]
    Busy {
        /// The lock.
        path: PathBuf,
    },
}

impl FrontierError {
    pub(super) fn from_io(path: &Path, error: io::Error) -> Self {
        FrontierError::Io { path: path.into(), error }
    }
}
