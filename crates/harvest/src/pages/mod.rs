//! Parsers from archived pages to rows: Tieba of both page generations, and any site that a [`profile`] describes.
//! No network and no clock.
//!
//! Reading order: [`charset`] decodes bytes, [`mojibake`] sees where that went wrong before, [`dom`] builds a tree from text of limited size, [`text`]
//! extracts text from a tree, then [`tieba`] and [`profile`]; [`parse`] dispatches to them and [`classify`] decides
//! a page's kind before anything is read from it; [`import`] runs over whole archives.
//!
//! Invariants: a field that a page lacks stays `None`; text is kept as people wrote it; IP location, portrait
//! and device are never read, so no later stage can leak them; ids are `u64`.

pub mod charset;
mod classify;
mod dom;
mod import;
pub mod mhtml;
pub mod mojibake;
mod parse;
pub mod pattern;
pub mod profile;
mod row;
mod text;
pub mod tieba;

pub use classify::Class;
pub use dom::{MAX_DEPTH, TooDeep, canonical_address, saved_address};
pub use import::read_page;
pub use import::{Imported, PageNote, for_each_page, import_archives};
pub use parse::{Facts, FloorComments, Parsed, Site, classify_page, parse_page};
pub use profile::Profile;
pub use row::{Post, PostKind};
pub use text::number_of;
pub use text::{decode_entities, text_of_html};

pub use riddlemill_text::text::time;

#[cfg(test)]
mod tests;
