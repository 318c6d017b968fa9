//! The append-only logs of raw/: lines of JSON that are added and never changed, and the proof that none is gone.
//!
//! A log is a file ([`Log`]) or a folder of segments ([`Segments`]). Every line that is added ends in a member `chain`:
//! the hash of the line and of the `chain` before it, so that a line that is changed, taken out, put in or doubled is
//! seen by the next. Lines from before there was a chain have none; the first that has one covers them.
//!
//! What a chain cannot see is an end that was cut off. `raw/heads.jsonl`, such a log itself, says about every file how long
//! it was and what its chain was; a head is written after its lines and may be lost with the power, so a file may be
//! longer than its head says, never shorter. A log without chain and heads is as old as it may be and opens unchanged.
//!
//! Only the torn end of a line that was never told to be stored is cut off, by whoever adds the next.

mod chain;
mod error;
mod file;
mod heads;
mod merge;
mod salvage;
mod segments;
mod stopped;
mod strays;
mod writer;

#[cfg(test)]
mod tests;

pub use error::LogError;
pub use file::Log;
pub use salvage::{Salvaged, check, salvage};
pub use segments::Position;
pub use segments::Segments;
pub use strays::strays;
