//! The append-only logs of raw/: JSON lines that are added and never changed, with proof that none is
//! missing.
//!
//! A log is a file ([`Log`]) or a folder of segments ([`Segments`]). Every added line ends in a member
//! `chain`: the hash of the line and of the `chain` before it, so that a line that is changed, removed,
//! inserted or duplicated is detected at the next. Lines from before there was a chain have none; the first
//! one with a chain covers them.
//!
//! A chain cannot detect a truncated end. `raw/heads.jsonl`, a log of the same kind, records the length and
//! chain of every file; a head is written after its lines and may be lost in a power cut, so a file may be
//! longer than its head states, never shorter. An old log without chain and heads opens unchanged.
//!
//! Only the torn end of a line that was never reported as stored is cut off, by the next writer.

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

pub use error::{LineError, LogError};
pub use file::Log;
pub use salvage::{Salvaged, check, salvage};
pub use segments::Position;
pub use segments::Segments;
pub use strays::strays;
