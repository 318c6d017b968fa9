//! Records, their outcomes, and the reasons for them, without texts' rules, workspace files or tables.
//!
//! A record has an id and typed fields ([`Record`]); a stage turns each record that enters it into exactly
//! one [`Outcome`]; the ledger keeps that outcome as an [`Entry`], and links keep which record came from
//! which ([`Link`]). Nothing here depends on Parquet, folders or stages.

mod accounting;
mod cause;
mod cell;
mod declared;
mod edit;
mod entry;
mod evidence;
mod id;
mod language;
mod locator;
mod outcome;
mod post;
mod reason;
mod row;
mod standing;
mod stated;

pub use accounting::{Counts, Unbalanced};
pub use cause::{BatchStands, Cause, Request, RequestFault, Scope};
pub use cell::{
    Cell, CellKind, Cells, Column, ColumnDigest, Field, OwnedCell, Record, Typed, Values, digest_of, record,
    row_digest,
};
pub use declared::Declared;
pub use edit::with_fields;
pub use entry::{Caused, Entry, Link};
pub use evidence::Evidence;
pub use id::{derived, is_published, pseudonym, published_id, text_id};
pub use language::Language;
pub use locator::{Locator, NoLocator};
pub use outcome::{Outcome, State, Witness, goes_on};
pub use post::{Post, PostKind};
pub use reason::{OwnReason, Reason};
pub use row::Row;
pub use standing::{Standing, flags_of};
pub use stated::{Overruled, other_text, read_other_text};
