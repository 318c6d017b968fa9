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
//!
//! Each crate registers its logs by [name](LogName); [`Logs`] checks and salvages them.
//!
//! # Two formats of segments, one mechanism
//!
//! The paid replies are segments in a format of their own, because hundreds of requests of several processes
//! are written at the same time. Both formats share what both do:
//!
//! - the names of files, the list of a folder with its strangers, and locks that follow no link (`disk`);
//! - writes at a place, cuts after it, torn ends, files of a seal that is complete, and what is moved aside (`disk`);
//! - the frames of a seal, cut and compressed by one packer with the sizes of each format (`pack`);
//! - frames, lines, and the parts of a damaged file that are salvaged one by one (`frames`);
//! - jobs that arrive during a write and share the next one ([`receive_batch`]).
//!
//! What a shared format would need stays apart:
//!
//! - **Chains and heads.** Replies have none in their lines: each process appends to a segment of its own, and a sealed
//!   segment has its hash in `segments.jsonl`, which is a [`Log`].
//! - **The list against the disk.** Here the first difference stops the reader. There each is a damage with the money
//!   that it costs, the other segments are used, and a segment that another process has just begun is none.
//! - **Reading on from a place.** Here whole sealed segments are read, whose lines must have the hash of their name, and
//!   the chain goes on. There the lock of the index keeps others from sealing meanwhile, and frames are kept as places.
//! - **Locks.** Here one lock file is held while lines are added; there each open segment is locked by its writer
//!   for as long as that lives, which also tells whether a lease on a request still counts.
//! - **Order of a write.** Here what is torn is cut first, so that its rest cannot follow the new lines. There the space
//!   after the end is reserved for replies on their way, and cutting first would free it.
//! - **Frames.** Here large ones without checksum, compressed on all cores, under the hash of the lines; there small
//!   ones that end with a line and have a checksum, so that one reply is read without the others.
//! - **The writer's thread.** Only replies and the server's votes have one: attempts that arrive while others are being
//!   synced share the next sync. Elsewhere a line is on disk when the call returns.
//! - **Salvage.** Here intact lines are copied beside the log, the damaged files moved, and the log is made anew: readers
//!   refuse it until then. There intact lines are copied into a new segment, the loss is accepted, with what it cost, and
//!   the damaged one moved: the other segments are used all the time.
//! - **Merging.** Lines of a file are merged by their text, votes and decisions by their ids, replies by what was
//!   asked, answered and charged: only their crates know what makes two lines one.

#[cfg(test)]
mod bench;
mod chain;
mod disk;
mod error;
mod file;
mod frames;
mod heads;
mod names;
mod pack;
mod salvage;
mod segments;
mod values;
mod writer;

#[cfg(test)]
mod laws;
#[cfg(test)]
mod margins;
#[cfg(test)]
mod salvages;
#[cfg(test)]
mod tests;

#[cfg(test)]
use bench::{check_logs, salvage_logs};
pub use disk::{
    Listing, SegmentFile, SegmentName, cut_after, cut_torn_tail, describe_cut, describe_stray, free_folder,
    list_segments, move_aside, open_locked, open_path, put_sealed, read_from, remove_if_there, sealed_path,
    sync_names, write_at,
};
pub use error::{LineError, LogError};
pub use file::Log;
pub use frames::{
    Frame, Piece, filled_lines, pieces_of_file, placed_lines, read_frame, read_frames, to_lines,
};
pub use names::{LogName, Logs};
pub use pack::{Packing, pack_frames};
pub use salvage::Salvaged;
pub use segments::Position;
pub use segments::Segments;
pub use values::{read_values, take_value};
pub use writer::receive_batch;
