//! The lines between the functions, as JSON objects.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

/// A row under one of its keys. As bytes, lines sort by key, then the smaller rows before the larger, then by
/// rank: a sorted file is grouped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyLine<'a> {
    /// The key by which rows are compared: hex digits of a hash.
    pub key: String,
    /// 0 where larger rows look for this one, 1 where it looks for smaller ones.
    #[serde(default)]
    pub role: u8,
    /// The row.
    pub rank: Cow<'a, str>,
    /// What the key is of: `same`, `pair`, or a part of the measure.
    #[serde(default = "pair")]
    pub of: Cow<'a, str>,
    /// At least so much of the row is unshared in a pair that shares this key.
    #[serde(default)]
    pub skip: u32,
    /// The row's size.
    #[serde(default)]
    pub size: u32,
    /// Its [`Signature`](crate::join::Signature), where the key is of a join in which each token is worth 1.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub signature: Cow<'a, str>,
    /// Its text, where the pairs are to be compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<Cow<'a, str>>,
}

/// What a line without `of` is of: rows that were found to be compared.
pub(super) const PAIR: &str = "pair";
/// Copies: rows that compare equally with every other row.
pub(super) const SAME: &str = "same";

fn pair() -> Cow<'static, str> {
    PAIR.into()
}

/// Two rows that may be one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PairLine {
    /// The rank of the row that would go.
    pub from: String,
    /// The rank of the row that would be kept.
    pub into: String,
    /// `maybe` before the two are compared; then `same` or `borderline`; `copy` where they compare alike with
    /// every row.
    pub verdict: String,
    /// What decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub predicate: Option<String>,
    /// 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// What demoted them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub veto: Option<String>,
    /// strsim's normalized Levenshtein of the two texts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub levenshtein: Option<f64>,
    /// strsim's Jaro-Winkler of the two texts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jaro_winkler: Option<f64>,
    /// strsim's Sørensen-Dice of the two texts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sorensen_dice: Option<f64>,
}

/// A row that is merged into another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    pub id: String,
    /// The id of the row that it is merged into, which is kept.
    pub into: String,
    /// How like they are, 0 to 1.
    pub score: f64,
    /// The predicate that decided; none for copies.
    pub predicate: Option<String>,
}

/// A count of the corpus. Counts of one thing add up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatLine {
    /// The part of the measure.
    pub stats: String,
    /// A token in hex digits; none for the number of rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// Rows that hold it.
    pub rows: u64,
}
