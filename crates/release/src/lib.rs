//! The program's outputs, candidates built by a run and versioned releases, and the proof of where their rows come from.
//!
//! # In reading order
//!
//! - [`layout`]: the rows of each set; [`data`] writes them as JSON Lines, Parquet and in their published form.
//! - `facts`: the data of the cards, which `templates` and `schema` write.
//! - `folder`: all of it with MANIFEST.json and SHA256SUMS; [`build_candidate`] does this for a recipe's candidate.
//! - [`make_release`] refuses while a stage does not match raw/, assigns a version from the changes ([`changes`]), and enters it in
//!   the [`registry`]; [`restore`] restores every version from there.
//! - [`outlet`]: publishes a version as an archive or on the Hub. [`verify`]: proves a folder by itself, and from raw/.
//! - [`audit`]: proves from the files that every record is accounted for, and explains one record's path.
//!
//! # Invariants
//!
//! - A folder depends on rows, settings, the curator's texts and the registry; on no clock and no path.
//! - A version is registered once and never overwritten; everything needed to restore it is in raw/ before it is registered.
//! - Null is null: a row has every key of its layout, in its order.

mod adopt;
mod alike;
pub mod audit;
mod candidate;
mod causes;
pub mod changes;
pub mod compare;
pub mod contamination;
mod croissant;
mod current_rows;
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
mod item;
pub mod layout;
mod left_out;
mod licence;
mod manifest;
mod numbered;
mod origin;
pub mod outlet;
mod parquet;
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

use riddlemill_figures::{self as figures, markup, measures};
use riddlemill_files::log::LogName;
use riddlemill_harvest::pages;
use riddlemill_llm as llm;
use riddlemill_pipeline::{config, pipeline, recipe, search, stages};
use riddlemill_record as record;
use riddlemill_review::{self as review, decisions};
use riddlemill_tables as store;
use riddlemill_text::{join, offline, options, puzzle, text};

pub use adopt::{Adopted, adopt_numbers};
pub use alike::{alike_pairs, alike_told};
pub use candidate::{build_candidate, rows_json, rows_sha256};
pub use causes::{Causes, DifferenceCause};
pub use current_rows::CurrentRows;
pub use division::is_partial;
pub use error::ReleaseError;
pub use facts::{Facts, SUBJECTS};
pub use fates::fates_of_texts;
pub use folder::{list_entries, list_files};
pub use history::{Holder, KeptVersion, find_holders, kept_versions};
pub(crate) use item::error_of_trouble;
pub use manifest::{AlikePair, CandidateManifest, LeftOut, Link, Raw, Yanked};
pub use numbered::is_published;
pub use origin::find_origin_record;
pub use publish::{Proposal, Wanted, is_release_due, make_release, require_fresh_candidate};
pub use refusals::{find_licence_problem, list_refusals, list_rowless_records};
pub use restore::{Restored, registry_problems, restore_versions};
pub use row::{Row, RowError, Value};
pub use shortcuts::Guessed;
pub use since::{ChangedRow, RowState, Since, compare_releases};
pub use source::CandidateSource;
pub use stopped::{last_stops, stop_without_row};
pub use version::{Bump, NoVersion, Version};
pub use withdraw::{Copy, NearPost, PostPlace, Request, look_up, look_up_dump, yank_version};
pub use work::{LlmUsage, ReviewCounts, Work, replies_of_records};

/// The program's version.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The logs of raw/ that are written here.
pub const LOGS: &[LogName] = &[LogName::InEach("releases", "registry.jsonl")];
