//! Dedup in parts, for rows that are spread over many machines: each function reads lines and writes lines,
//! and the caller sorts, groups and joins them in between.
//!
//! | function | lines in | lines out |
//! |---|---|---|
//! | [`Keyer::copy_key`] | rows | a key that is shared by rows which are equal in every comparison |
//! | [`verify_line`] | these keys, sorted | copies: all rows of a key but the first by rank |
//! | [`PartStats`] | the other rows | how many rows contain each token; outputs can be combined by another call |
//! | [`Keyer::emit_keys`] | the same rows | keys: two similar rows share one |
//! | [`verify_line`] | these keys, sorted | pairs that may be similar; with texts, pairs that are, with figures |
//! | [`decide_merges`] | copies and pairs of duplicates | which row is merged into which |
//!
//! If the caller can transport bytes, for example in the columns of a data frame, [`Keyer::fill_blocks`] returns the keys of many
//! rows in blocks and [`pairs_of_blocks`] reads them: a key has 8 bytes there, and 170 as a line.
//!
//! # Why this is not the join on disk
//!
//! [`alike_on_disk`](crate::join::alike_on_disk) finds the same pairs on one machine, and shares everything that decides with
//! these functions: statistics, order, keys, and the comparison. The rest differs. The join on disk keeps one index in
//! memory and streams whole records past it, so it writes no keys, searches lists by what else their records share, and
//! has a record at hand when it reads its key. Here each process has only one group of rows in memory: every key is
//! written, sorted and brought to its group by the caller's shuffle, and only a sketch of each row is available there.
//! Used on one machine instead of the join on disk, these functions find the same pairs, but for 250,000 posts they
//! write 352 MB of keys, yield 1,497,081 candidate pairs instead of 346,111, and take 28 CPU seconds instead of 21.
//!
//! Whether two texts are reworded copies depends on how many rows hold what they share: whoever compares texts needs the
//! [`CommonPairs`] of the statistics.
//!
//! A row is identified by its [rank](rank_of), which also determines which of two rows is kept. All of this uses the
//! functions of [`crate::join`]; the result is what [`super::dedup_posts`] decides over all rows at once.

mod blocks;
mod keyer;
mod measure;
mod resolve;
mod stats;
mod verify;

pub use blocks::{BlockError, Heavy, KeyBlocks, heavy_of_blocks, pairs_of_blocks};
pub use keyer::{Keyer, NoShare, Share};
pub use measure::{CommonPairs, Compared, Measure, NoCommonPairs};
pub use resolve::{ResolveError, decide_merges};
pub use stats::{PartStats, StatError};
pub use verify::{Group, VerifyError, verify_line};

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::offline::dedup::{Standing, standing_of_post};
use crate::offline::settings::Keep;
use riddlemill_record::Post;

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
const PAIR: &str = "pair";

/// Copies: rows that compare equally with every other row.
const SAME: &str = "same";

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

/// Where a post is in the policy `keep`, as a text that sorts as [`ranks`](super::ranks) does: the
/// lower of two is kept. The post's id follows the first colon.
pub fn rank_of(post: &Post, keep: Keep) -> String {
    let Standing { shouts, chars, score, time, .. } = standing_of_post(post);
    // Subtracted, so that longer texts sort first.
    let long = |chars: u32| format!("{}{:08x}", u8::from(shouts), u32::MAX - chars);
    let id = &post.id;
    match keep {
        Keep::BestScored => {
            format!("{:016x}{}:{id}", !order_bits(score.unwrap_or(f64::NEG_INFINITY)), long(chars))
        }
        Keep::Earliest => {
            // With its sign bit flipped a time before 1970 sorts before the others.
            let seconds = (time.unwrap_or_default() as u64) ^ 1 << 63;
            format!("{}{seconds:016x}:{id}", u8::from(time.is_none()))
        }
        Keep::Longest => format!("{}:{id}", long(chars)),
    }
}

/// The id in a rank.
pub fn id_of(rank: &str) -> &str {
    rank.split_once(':').map_or(rank, |(_, id)| id)
}

/// The order of [`f64::total_cmp`] as that of integers.
fn order_bits(value: f64) -> u64 {
    let bits = value.to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::offline::dedup::rank_records;
    use proptest::prelude::*;

    fn posts() -> impl Strategy<Value = Vec<Post>> {
        let score = prop::option::of(prop::sample::select(vec![-1.5, -0.0, 0.0, 0.25, 3.0]));
        let time = prop::option::of(-3i64..3);
        prop::collection::vec(("[a:]{0,3}", "([鱼鸟]{0,3}|[AB]{4}|[Ab]{4})", score, time), 0..12).prop_map(
            |rows| {
                let post =
                    |(i, (id, text, score, time)): (usize, (String, String, Option<f64>, Option<i64>))| {
                        Post {
                            id: format!("{id}{i}"),
                            text,
                            score,
                            time: time.map(|time| time.to_string()),
                            ..Post::default()
                        }
                    };
                rows.into_iter().enumerate().map(post).collect()
            },
        )
    }

    proptest! {
        #[test]
        fn bytes_sort_as_the_policy_does(
            posts in posts(),
            keep in prop::sample::select(Keep::ALL),
        ) {
            let standings: Vec<Standing> = posts.iter().map(standing_of_post).collect();
            let ranks = rank_records(&standings, keep, |row| posts[row as usize].id.as_str());
            for (a, x) in posts.iter().zip(&ranks) {
                let rank = rank_of(a, keep);
                prop_assert_eq!(id_of(&rank), &a.id);
                for (b, y) in posts.iter().zip(&ranks) {
                    prop_assert_eq!(rank_of(a, keep).cmp(&rank_of(b, keep)), x.cmp(y));
                }
            }
        }
    }
}
