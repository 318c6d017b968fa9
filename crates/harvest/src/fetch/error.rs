//! Why a file could not be fetched.

/// Why a file could not be fetched.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// A file could not be read or written.
    #[error(transparent)]
    Store(#[from] riddlemill_files::Error),
    /// No request could be made of the address.
    #[error("{url}: {why}")]
    Address {
        /// The address.
        url: String,
        /// What is wrong with it.
        why: String,
    },
    /// The server will not give it.
    #[error("{url}: the server answered {status}")]
    Status {
        /// The address.
        url: String,
        /// The answer.
        status: u16,
    },
    /// Too many attempts in a row brought nothing.
    #[error(
        "{url}: gave up after {attempts} attempts: {why}\n  hint: the part that was received is kept; the same command continues from there"
    )]
    GaveUp {
        /// The address.
        url: String,
        /// How many.
        attempts: u32,
        /// What the last one met.
        why: String,
    },
    /// What came is not what was wanted.
    #[error("{url}: its SHA-256 is {found}, {by} {wanted}\n  hint: {hint}")]
    Other {
        /// The address.
        url: String,
        /// Of what came.
        found: String,
        /// Who wants another: `the settings state`, `pipeline.lock has`.
        by: &'static str,
        /// What is wanted.
        wanted: String,
        /// What to do.
        hint: &'static str,
    },
    /// The file that lies there is not the pinned one.
    #[error(
        "{file}: its SHA-256 is {found}, {by} {wanted}\n  hint: move it away to fetch the pinned bytes, or `riddlemill fetch --update`"
    )]
    Edited {
        /// The file.
        file: String,
        /// What it has.
        found: String,
        /// Who wants another.
        by: &'static str,
        /// What is wanted.
        wanted: String,
    },
}
