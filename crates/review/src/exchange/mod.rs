//! Ballots exported and votes imported: CSV, XLSX, JSON lines, Label Studio.
//!
//! Every format has the same columns, found by their header, never by position:
//!
//! ```text
//! item | see.<key>… | draft.<field>… | <field>… | annotator | round | recipe | step | vote | content_hash
//! ```
//!
//! `see.` and `draft.` are for reading only. `vote` is the id of the annotator's own latest vote, whose
//! answers are in the field columns; a row that comes back unchanged adds nothing. The hash comes last, so
//! that a truncated file loses it and the row is refused instead of half read. A blind ballot has no `draft.`
//! columns, and no ballot of the first round shows others' votes.

mod author;
mod cells;
mod contents;
mod csv;
mod entries;
mod export;
mod import;
mod jsonl;
mod label_studio;
mod problem;
mod sheet;
mod xlsx;

#[cfg(test)]
mod tests;

pub(crate) use cells::in_workbook;
pub use cells::{CsvFor, csv_table, disarm};
pub use contents::{BallotPlace, Contents, contents};
pub use csv::{SheetRow, sheet, table_columns, table_rows};
pub use export::{File, Format, export};
pub use import::{Import, ImportSettings, import, import_sheet};
pub(crate) use jsonl::value as json_value;
pub use problem::{Problem, Trouble};
pub use sheet::{BallotSheet, ExportError};
