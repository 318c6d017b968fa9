//! Why a file could not be fetched.

use riddlemill_text::text::count_with_noun;

/// Why a file could not be fetched.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// A file could not be read or written.
    #[error(transparent)]
    Store(#[from] riddlemill_files::Error),
    /// The address is not usable for a request.
    #[error("{url}: {why}")]
    Address {
        /// The address.
        url: String,
        /// What is wrong with it.
        why: String,
    },
    /// The server refused it.
    #[error("{url}: the server answered {status}")]
    Status {
        /// The address.
        url: String,
        /// The answer.
        status: u16,
    },
    /// Too many attempts in a row received nothing.
    #[error(
        "{url}: gave up after {}: {why}\n  hint: the part that was received is kept; the same command continues from there",
        count_with_noun(u64::from(*attempts), "attempt")
    )]
    GaveUp {
        /// The address.
        url: String,
        /// How many.
        attempts: u32,
        /// The error of the last one.
        why: String,
    },
    /// The file received is not the expected one.
    #[error("{url}: its SHA-256 is {found}, {by} {wanted}\n  hint: {hint}")]
    Other {
        /// The address.
        url: String,
        /// The hash received.
        found: String,
        /// Where the expectation is from: `the settings state`, `pipeline.lock has`.
        by: &'static str,
        /// The expected hash.
        wanted: String,
        /// What to do.
        hint: &'static str,
    },
    /// The existing file is not the pinned one.
    #[error(
        "{file}: its SHA-256 is {found}, {by} {wanted}\n  hint: move it away to fetch the pinned bytes, or `riddlemill fetch --update`"
    )]
    Edited {
        file: String,
        /// Its hash.
        found: String,
        /// Where the expectation is from.
        by: &'static str,
        /// The expected hash.
        wanted: String,
    },
}
