//! Records, their outcomes, and the reasons for them, without texts' rules, workspace files or tables.
//!
//! A record has an id and typed fields ([`Record`]); a stage turns each record that enters it into exactly
//! one [`Outcome`]; the ledger keeps that outcome as an [`Entry`], and links keep which record came from
//! which ([`Link`]). Nothing here depends on Parquet, folders or stages.

mod accounting;
mod cause;
mod cell;
mod declared;
mod evidence;
mod locator;
mod outcome;
mod post;
mod reason;
mod row;

pub use accounting::{Counts, Unbalanced};
pub use cause::{BatchStands, Cause, Request, RequestFault, Scope};
pub use cell::{
    Cell, CellKind, Cells, Column, ColumnDigest, Field, OwnedCell, Record, Typed, Values, digest_of, record,
    row_digest,
};
pub use declared::{Declared, with_fields};
pub use evidence::Evidence;
pub use locator::{Locator, NoLocator};
pub use outcome::{
    Caused, Entry, Link, Outcome, Overruled, State, Witness, is_passed_on, other_text, read_other_text,
};
pub use post::{Post, PostKind};
pub use reason::{OwnReason, Reason};
pub use row::Row;

use serde::{Deserialize, Serialize};

/// A language for which the text stages have rules, or none of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    /// Chinese.
    Zh,
    /// English.
    En,
    /// Another language, or too little to tell ("undetermined" in ISO 639).
    #[default]
    Und,
}

impl Language {
    /// The codes, for settings.
    pub const CODES: &'static [&'static str] = &["zh", "en", "und"];

    /// The code in rows and settings.
    pub const fn code(self) -> &'static str {
        match self {
            Language::Zh => "zh",
            Language::En => "en",
            Language::Und => "und",
        }
    }

    /// The language of a code.
    pub fn from_code(code: &str) -> Option<Language> {
        [Language::Zh, Language::En, Language::Und].into_iter().find(|language| language.code() == code)
    }
}

/// Null where nobody has determined it yet.
impl Field for Option<Language> {
    const KIND: CellKind = CellKind::Text;
    const FILLED: bool = false;
    fn cell(&self) -> Cell<'_> {
        self.map_or(Cell::Null, |language| Cell::Text(language.code()))
    }
    fn take(values: &mut dyn Values) -> Self {
        values.text().as_deref().and_then(Language::from_code)
    }
}

/// The id of a post without a native one: `text:` and 16 hex digits of the text's hash. Two posts
/// with the same text and no id of their own are one record.
pub fn text_id(text: &str) -> String {
    short_id("text", blake3::hash(text.as_bytes()))
}

/// Prefix of the ids of records from a published set: `published:flub:<id of its row>`.
const PUBLISHED: &str = "published:";

/// The id of a record from a published set, by the id it has there.
pub fn published_id(set: &str, name: &str) -> String {
    format!("{PUBLISHED}{set}:{name}")
}

/// Whether a record comes from a published set, with its annotations.
pub fn is_published(id: &str) -> bool {
    id.starts_with(PUBLISHED)
}

/// The id of a record made from others: a hash of its parents and its role. Lengths separate the parts, so that
/// no two lists of parents share an id.
pub fn derive_id(role: &str, parents: &[&str]) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in std::iter::once(&role).chain(parents) {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    short_id(role, hasher.finalize())
}

/// A person's name or id as it may leave raw/: the same person gets the same mark in one workspace, and
/// it cannot be reversed without the salt.
pub fn make_pseudonym(salt: &[u8; 32], name: &str) -> String {
    short_id("u", blake3::keyed_hash(salt, name.as_bytes()))
}

fn short_id(kind: &str, hash: blake3::Hash) -> String {
    [kind, ":", &hash.to_hex()[..16]].concat()
}

/// The status of a reviewed field, from the lowest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Standing {
    /// Taken from a draft that people have not reviewed yet.
    Provisional,
    /// Decided by votes of a sample.
    Synthetic,
    /// Taken from a published file; whether people agreed on it there is not known here.
    Published,
    /// Decided by people.
    Confirmed,
}

impl Standing {
    /// Every standing, the least sure first.
    pub const ALL: [Standing; 4] =
        [Standing::Provisional, Standing::Synthetic, Standing::Published, Standing::Confirmed];

    /// The value in rows.
    pub fn code(self) -> &'static str {
        match self {
            Standing::Confirmed => "confirmed",
            Standing::Published => "published",
            Standing::Provisional => "provisional",
            Standing::Synthetic => "synthetic",
        }
    }

    /// The standing of a row: as sure as the least sure of its fields. A field without a standing has not
    /// been decided by anybody.
    pub fn least_sure<'a>(statuses: impl IntoIterator<Item = Option<&'a str>>) -> Standing {
        let standing = |status: Option<&str>| {
            let known = Standing::ALL.into_iter().find(|standing| Some(standing.code()) == status);
            known.unwrap_or(Standing::Provisional)
        };
        statuses.into_iter().map(standing).min().unwrap_or(Standing::Confirmed)
    }
}

/// The findings on one step's draft among `step: finding`, without the step's name.
pub fn flags_of(flags: &[String], step: &str) -> Vec<String> {
    let finding = |flag: &String| flag.strip_prefix(step)?.strip_prefix(": ").map(str::to_owned);
    flags.iter().filter_map(finding).collect()
}

/// Replaces the findings on one step's draft.
fn set_flags(flags: &mut Vec<String>, step: &str, findings: impl IntoIterator<Item = String>) {
    flags.retain(|flag| !flag.strip_prefix(step).is_some_and(|rest| rest.starts_with(": ")));
    flags.extend(findings.into_iter().map(|finding| format!("{step}: {finding}")));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ids stand in votes, ledgers and releases: they never change.
    #[test]
    fn the_same_text_has_the_same_id_in_every_version() {
        assert_eq!(text_id("云会恐高吗"), "text:e1e7a0a3cc85fff7");
        assert_eq!(derive_id("pair", &["tieba:1", "tieba:2"]), "pair:c359bc541eb1f957");
        assert_eq!(make_pseudonym(&[1; 32], "张三"), "u:dca5296f8b366bf6");
        let published = published_id("flub", "7");
        assert_eq!(published, "published:flub:7");
        assert!(is_published(&published) && !is_published("tieba:published:1") && !is_published(""));
    }

    #[test]
    fn parents_are_not_run_together() {
        assert_ne!(derive_id("pair", &["a", "bc"]), derive_id("pair", &["ab", "c"]));
        assert_ne!(derive_id("pair", &["a"]), derive_id("a", &["pair"]));
    }

    #[test]
    fn a_pseudonym_needs_its_salt() {
        assert_ne!(make_pseudonym(&[1; 32], "x"), make_pseudonym(&[2; 32], "x"));
        assert_eq!(make_pseudonym(&[1; 32], "x").len(), 18);
    }

    #[test]
    fn flags_are_replaced_step_by_step() {
        let mut flags = Vec::new();
        set_flags(&mut flags, "translation", ["the number 3 is lost".to_owned()]);
        set_flags(&mut flags, "pair", ["equals its question".to_owned()]);
        set_flags(&mut flags, "translation", ["is no question".to_owned()]);
        assert_eq!(flags, ["pair: equals its question", "translation: is no question"]);
        assert_eq!(flags_of(&flags, "pair"), ["equals its question"]);
    }

    #[test]
    fn a_row_is_as_sure_as_its_least_sure_field() {
        assert_eq!(Standing::least_sure([Some("confirmed"), Some("synthetic")]), Standing::Synthetic);
        assert_eq!(Standing::least_sure([Some("synthetic"), None]), Standing::Provisional);
        assert_eq!(Standing::least_sure([Some("confirmed")]), Standing::Confirmed);
    }
}
