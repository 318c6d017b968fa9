//! Stage folders: Parquet parts, a manifest, and the promise that a folder is whole or absent.
//!
//! `staged/<recipe>/<NN_stage>/` holds `rows/`, `ledger/`, `links/` and further tables, each a
//! folder of parts of at most [`PART_ROWS`] rows, and `manifest.json`. A stage is written beside its final
//! place and renamed when every file is on the disk, so a reader never meets half a stage.
//!
//! A stage that decides record by record makes a part of every part before it, which may have fewer rows then. What
//! it does not touch it does not read: a column's pages, and its digest, pass from file to file as they are
//! (`edit`, `chunks`).
//!
//! # In reading order
//!
//! - [`Manifest`] and [`Part`]: what a folder holds, with the hash of every file; [`StageReader`] opens one.
//! - `row`, `values`, `column`, `frame`: records as columns. A column is one value repeated until a row differs.
//! - [`StageWriter`], [`Batch`], [`LedgerRecord`], [`TableWriter`]: outcomes become rows, ledger and links.
//! - `part`, `chunk_cache`, `chunks`, `pages`, `edit`: a part's Parquet file; see below.
//! - [`Filter`], [`select`], [`part_columns()`], `places`: looking into a table without reading all of it.
//!
//! # Why Parquet files are put together here
//!
//! Polars' writer takes whole columns of a data frame and writes a file. Between two stages nearly every column of
//! nearly every row is the same, so most of that work would be encoding once more what stands encoded on the disk.
//! Four parts do less; `measure` (an ignored test, whose head has the command) says what each brings over Polars'
//! writer for a million posts:
//!
//! - `edit` and `chunks`: the column chunks that a stage does not write are copied from the file before, bytes and digest.
//! - `pages`: texts go from the blocks they came in straight into PLAIN pages, without the dictionary that Polars tries
//!   first (posts differ) and without one joined buffer; a column without a value is one run of levels.
//! - `chunk_cache`: a column of one value is encoded once for all the parts of its length.
//! - equal columns of a part (a post without a title has a `content` that is its `text`) are encoded and stored once.
//!
//! Everything else of the format is Polars': numbers, flags, lists, the schema, compression, levels and reading. Any
//! Parquet reader opens the files; `stated` adds what pandas and pyarrow ask for.

mod batch;
mod chunk_cache;
mod chunks;
mod column;
mod disk;
mod edit;
mod filter;
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
mod stated;
mod table;
mod values;
mod widened;
mod writer;

pub use riddlemill_files::{Error, Lock, Workspace, durable, inside, secret, secret_or_draw, sha256};
pub use riddlemill_files::{Unpacked, unpack};

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
pub use scan::{fold_parts, json_parts, parquet_rows, rows_where, select, select_parts};
pub use stated::metadata as stated_types;
pub use table::TableWriter;
pub use writer::{CommitError, StageWriter, opening};
