//! Files that are whole or absent, and what is only ever added to: the ground that nothing may be lost from.
//!
//! # In reading order
//!
//! - [`durable`]: write beside, sync, rename; digests of files.
//! - [`Workspace`]: where things live; [`inside`]: names that somebody else wrote, joined to a folder of ours.
//! - [`unpack`]: what zstd packed, as far as memory bears.
//! - [`Lock`]: one process at a time; [`secret`]: what is drawn once, for its owner alone.
//! - [`log`]: the append-only logs of raw/, and the proof that no line of them is gone.
//! - [`digest`]: 128 bits that name a vote, or what an annotator saw.
//! - [`par_map`]: batches worked on by all cores and taken in their order.

pub mod digest;
pub mod durable;
mod error;
mod inside;
mod lock;
pub mod log;
pub mod par_map;
mod secret;
mod unpacked;
mod workspace;

pub use digest::{Digest, NotADigest};
pub use durable::sha256;
pub use error::Error;
pub use inside::inside;
pub use lock::Lock;
pub use secret::{secret, secret_or_draw};
pub use unpacked::{Unpacked, unpack};
pub use workspace::Workspace;
