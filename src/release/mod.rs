//! What leaves the workspace: candidates that a run builds, and releases with versions.
//!
//! In reading order: [`layout`] says what the rows of each set look like; [`data`] writes them as JSON
//! Lines, Parquet and in their published form; `facts` gathers what the cards say and `templates` and
//! `schema` say it; `folder` puts all of it together with MANIFEST.json and SHA256SUMS. [`build`] does
//! so for a recipe's candidate. [`release`] refuses while a stage does not follow from raw/, allots a version by what changed ([`changes`]), enters it in
//! the [`registry`], and [`restore`] restores every version from there. [`outlet`] hands a version to an archive or the Hub.
//!
//! Invariants:
//! - a folder depends on rows, settings, the curator's words and the registry; on no clock and no path;
//! - a version is entered once and never written over; what it takes to give it back lies in raw/
//!   before it is entered;
//! - null is null: a row has every key of its layout, in its order.

mod adopt;
mod candidate;
mod causes;
pub mod changes;
pub mod compare;
mod croissant;
pub mod data;
pub mod diff;
mod diff_text;
mod error;
pub mod export;
mod facts;
mod folder;
mod holders;
mod item;
pub mod layout;
mod left_out;
mod licence;
mod manifest;
mod notice;
mod numbered;
mod origin;
pub mod outlet;
mod parquet;
mod publish;
pub mod read_rows;
pub mod registry;
mod restore;
mod row;
mod schema;
pub mod shortcuts;
mod since;
mod source;
mod templates;
#[cfg(test)]
mod tests;
pub mod verify;
mod version;
mod withdraw;
mod work;
mod yank;

pub use adopt::{Adopted, adopt};
pub use candidate::{build, rows_json, rows_sha256};
pub use causes::{Causes, lost};
pub use error::ReleaseError;
pub use facts::{Facts, SUBJECTS};
pub use folder::files;
pub use holders::{Holder, holders};
pub(crate) use item::damaged;
pub use manifest::{Candidate, LeftOut, Link, Raw, Yanked};
pub use numbered::is_published;
pub use origin::origin;
pub use publish::{Proposal, Wanted, current, due, release};
pub use restore::{Restored, restore, unsound};
pub use row::{Row, RowError, Value};
pub use shortcuts::Guessed;
pub use since::{Fate, Otherwise, Since, since};
pub use source::CandidateSource;
pub use version::{Bump, NoVersion, Version};
pub use withdraw::{Copy, Near, Place, Request, look_up, look_up_dump};
pub use work::{LlmUsage, ReviewCounts, Work};
pub use yank::yank;
