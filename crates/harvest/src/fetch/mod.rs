//! Downloads the dumps that sources name by url into raw/dumps, once.
//!
//! Reading order: [`lock`] is pipeline.lock, the downloads and their hashes; [`download`] gets one file
//! despite cut connections, wrong lengths and changing files; [`fetch_file`] decides whether it has to.
//!
//! Invariants: a file under its own name is complete and has its hash; an existing file is never overwritten
//! unless the user asks for an update.

mod download;
mod error;
mod get;
mod lock;

#[cfg(test)]
mod tests;

pub use download::{Meter, Patience, Silent};
pub use error::FetchError;
pub use get::{Fetched, Wanted, fetch_file};
pub use lock::{FilePins, LOCK, Pin};
