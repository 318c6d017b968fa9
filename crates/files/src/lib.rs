//! Files that are written as a whole or not at all, and append-only logs. Everything that must not be lost is written here.
//!
//! # In reading order
//!
//! - [`durable`]: write to a temporary file, sync, rename; digests of files.
//! - [`Workspace`]: the paths of a workspace; [`path_inside`]: joins untrusted file names to a folder without leaving it.
//! - [`fence`]: opens files without leaving the workspace through a link, and no pipes or devices.
//! - [`open_frames`]: zstd with a limit on the unpacked size.
//! - [`reading`]: files that people hand in, in any usual compression, encoding and dialect.
//! - [`Lock`]: one process at a time; [`secret`]: random secrets, readable by their owner only.
//! - [`log`]: the append-only logs of raw/, with proof that no line is missing.
//! - [`digest`]: 128-bit hashes that identify a vote, or what an annotator saw.
//! - [`trust`]: what this machine's user allowed a workspace to do beyond its own folder.
//! - [`par_map`]: batches processed on all cores, with results in order.

pub mod digest;
pub mod durable;
mod error;
pub mod fence;
pub mod log;
pub mod par_map;
pub mod reading;
mod secret;
pub mod trust;
mod unpacked;
mod workspace;

pub use digest::{Digest, NotADigest};
pub use durable::sha256_of_file;
pub use error::{Error, find_file_in_the_way, hint_for};
pub use secret::{LOGS, find_secret, made_with, secret_fingerprint, secret_or_draw};
pub use trust::{Trust, Wish, shell_path, shell_word};
pub use unpacked::{Unpacked, open_frames};
pub use workspace::{Lock, Workspace, path_inside};
