//! Reads what people hand in: files in any usual compression, encoding and dialect, told by their content and never by
//! their name.
//!
//! # In reading order
//!
//! - [`sniff`]: what a file is, from its first bytes, and what to do with one that cannot be read.
//! - [`open_unpacked`]: its bytes without compression; [`zipped`]: what a zip holds.
//! - [`text_of`], [`decode_text`]: text in UTF-8, UTF-16, GB18030 or Big5 as UTF-8.
//! - [`Dialect`]: how a table of text is written; [`RowReader`]: its rows; [`workbook`]: spreadsheets.

mod dialect;
mod encoding;
mod packed;
mod quoting;
mod rows;
mod sniff;
mod text_forms;
pub mod workbook;
pub mod zipped;

pub use dialect::{ABOVE, Dialect, HEAD, column_name};
pub use encoding::{
    Decoded, OtherEncoding, decode_text, encoding_of, is_mostly_utf8, likely_encodings, other_encoding,
    read_head, text_of,
};
pub use packed::{Packing, open_unpacked};
pub use rows::{Row, RowFault, RowReader};
pub use sniff::{Foreign, Form, sniff_form};
