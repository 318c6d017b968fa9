//! Stage folders: Parquet parts and a manifest, written as a whole or not at all.
//!
//! `staged/<recipe>/<NN_stage>/` contains `rows/`, `ledger/`, `links/`, `causes/` where records wait or failed, and further tables, each a folder of parts of at most
//! [`PART_ROWS`] rows, and `manifest.json`. A stage is written to a temporary folder and renamed once every file is on disk, so
//! a reader never sees an incomplete stage.
//!
//! A stage that decides record by record writes one part for every part of its input, possibly with fewer rows. Columns that it
//! does not change are not decoded: their pages and digests are copied from file to file (`edit`, `chunks`).
//!
//! # In reading order
//!
//! - [`Manifest`] and [`Part`]: the contents of a folder, with the hash of every file; [`StageReader`] opens one.
//! - `row`, `values`, `column`, `frame`: records as columns. A column is stored as one repeated value until a row differs.
//! - [`StageWriter`], [`Batch`], [`LedgerRecord`], [`TableWriter`]: outcomes become rows, ledger and links.
//! - `part`, `chunk_cache`, `chunks`, `pages`, `edit`: a part's Parquet file; see below.
//! - [`Filter`], [`select_rows`], [`part_columns()`], `places`: queries that do not read the whole table. [`view`]: pages of a stage.
//!
//! # Why this crate writes Parquet itself
//!
//! Polars' writer encodes whole columns of a data frame. Between two stages nearly every column of nearly every row is the
//! same, so most of that work would be encoding data again that is already encoded on disk. Four mechanisms avoid it. The seconds are
//! those of two cores for a million posts of 17 columns; `measure` (an ignored test, because only this crate sees these modules;
//! its header has the command) measures them anew:
//!
//! - `pages`: texts are copied from their blocks directly into PLAIN pages, without the dictionary that Polars tries first
//!   (posts differ) and without joining them in one buffer; a column of nulls is one run of levels. 0.17 s for Polars' 0.32.
//! - `chunk_cache`: a column with a single value is encoded once for all parts of its length. 0.12 s for 0.17.
//! - Equal columns of a part (a post without a title has a `content` equal to its `text`) are encoded and stored once. 0.11 s
//!   for 0.12.
//! - `edit` and `chunks`: column chunks that a stage does not change are copied from the previous file, bytes and digest. A stage
//!   that changes one text in ten takes 0.26 s for 0.97 by rows.
//!
//! Everything else of the format comes from Polars: numbers, flags, lists, the schema, compression, levels and reading. Any
//! Parquet reader opens the files; `stated` adds what pandas and pyarrow need.

mod arrow_metadata;
mod batch;
mod chunk_cache;
mod chunks;
mod column;
mod disk;
mod edit;
mod filter;
mod foreign_types;
mod frame;
mod ledger_record;
mod manifest;
#[cfg(test)]
mod measure;
mod pages;
mod part;
mod part_columns;
mod places;
mod reader;
mod row;
mod scan;
mod table;
mod values;
pub mod view;
mod writer;

pub use riddlemill_files::{
    Error, Lock, Workspace, durable, find_secret, made_with, path_inside, secret_fingerprint, secret_or_draw,
    sha256_of_file,
};
pub use riddlemill_files::{Unpacked, open_frames};

pub use arrow_metadata::schema_metadata as stated_types;
pub use batch::Batch;
pub use edit::ColumnAccess;
pub use filter::Filter;
pub use frame::{from_frame, to_frame};
pub use ledger_record::{LedgerRecord, LedgerRecordError, LedgerRecordLine};
pub use manifest::{FORMAT, InputRef, MANIFEST, Manifest, Part, Table};
pub use part::{PART_ROWS, write_parquet};
pub use part_columns::{part_columns, part_rows};
pub use reader::StageReader;
pub use row::Plain;
pub use scan::{
    fold_parts, json_parts, parquet_rows, rows_where, select_of, select_parts, select_rows,
    unread_parquet_columns,
};
pub use table::TableWriter;
pub use writer::{CAUSES, CommitError, StageWriter, expected_manifest};
