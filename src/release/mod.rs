//! The program's outputs: candidates built by a run, and versioned releases.
//!
//! In reading order: [`layout`] describes the rows of each set; [`data`] writes them as JSON Lines, Parquet
//! and in their published form; `facts` collects the data of the cards, which `templates` and `schema` write;
//! `folder` combines all of it with MANIFEST.json and SHA256SUMS. [`build`] does this for a recipe's
//! candidate. [`release`] refuses while a stage does not match raw/, assigns a version from the changes
//! ([`changes`]), enters it in the [`registry`], and [`restore`] restores every version from there.
//! [`outlet`] publishes a version as an archive or on the Hub.
//!
//! Invariants:
//! - a folder depends on rows, settings, the curator's texts and the registry; on no clock and no path;
//! - a version is registered once and never overwritten; everything needed to restore it is in raw/ before it
//!   is registered;
//! - null is null: a row has every key of its layout, in its order.

mod adopt;
mod alike;
mod candidate;
mod causes;
pub mod changes;
pub mod compare;
pub mod contamination;
mod croissant;
pub mod data;
pub mod diff;
mod diff_text;
mod division;
mod error;
mod eval_files;
mod eval_names;
pub mod export;
mod facts;
mod fates;
mod folder;
mod history;
mod holders;
mod item;
pub mod layout;
mod left_out;
mod licence;
mod licence_terms;
mod manifest;
mod notice;
mod numbered;
mod origin;
pub mod outlet;
mod parquet;
mod partial;
mod personal;
mod publish;
pub mod read_rows;
mod refusals;
pub mod registry;
mod relicensed;
mod restore;
mod row;
mod row_faults;
mod schema;
pub mod shortcuts;
mod since;
mod source;
mod stopped;
mod tabled;
mod templates;
#[cfg(test)]
mod tests;
pub mod verify;
mod version;
mod withdraw;
mod work;
mod yank;

pub use adopt::{Adopted, adopt};
pub use alike::{alike_pairs, alike_told};
pub use candidate::{build, rows_json, rows_sha256};
pub use causes::Causes;
pub use error::ReleaseError;
pub use facts::{Facts, SUBJECTS};
pub use fates::fates;
pub use folder::{files, listed};
pub use history::{KeptVersion, kept_versions};
pub use holders::{Holder, holders};
pub(crate) use item::damaged;
pub use manifest::{AlikePair, Candidate, LeftOut, Link, Raw, Yanked};
pub use numbered::{is_published, records_of_rows};
pub use origin::origin;
pub use partial::is_partial;
pub use publish::{Proposal, Wanted, current, due, release, unlicensed};
pub use refusals::refusals;
pub use restore::{Restored, restore, unsound};
pub use row::{Row, RowError, Value};
pub use shortcuts::Guessed;
pub use since::{ChangedRow, RowState, Since, since};
pub use source::CandidateSource;
pub use stopped::{last_stops, stop_without_row};
pub use version::{Bump, NoVersion, Version};
pub use withdraw::{Copy, Near, Place, Request, look_up, look_up_dump};
pub use work::{LlmUsage, ReviewCounts, Work, replies_of_records};
pub use yank::yank;
