//! Downloading the dumps that sources name by url into raw/dumps, once and for good.
//!
//! Reading order: [`lock`] is pipeline.lock, what was downloaded and its hash; [`download`] gets one file
//! through cut connections, wrong lengths and changing files; [`fetch`] decides whether it must.
//!
//! Invariants: a file under its own name is whole and has its hash, whatever happens; a file that is there
//! is never overwritten unless the user asks for an update.

mod download;
mod error;
mod get;
mod lock;

#[cfg(test)]
mod tests;

pub use download::{Meter, Patience, Silent};
pub use error::FetchError;
pub use get::{Fetched, Wanted, fetch};
pub use lock::{LOCK, Pin, Pins};
