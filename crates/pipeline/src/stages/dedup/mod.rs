//! Dedup: one record per joke, as decided by [`riddlemill_text::offline::dedup`].
//!
//! [`decided`] applies people's decisions, [`outcomes`] determines the outcome of each post, and [`stage`] writes it. [`room`]
//! estimates what fits in memory, and [`posts`] contains what is in memory of posts. [`on_disk`] handles loose rows that do
//! not fit in memory, and [`ledger_record`](parted::ledger_record) records decisions that were made in parts.

mod decided;
mod on_disk;
mod outcomes;
mod posts;
mod room;
pub(super) mod stage;

pub use on_disk::{OnDiskError, Output, apply_on_disk};
pub use stage::dedup_posts;
pub(super) use stage::{decide_where, keep_published, of_over_length};

use std::path::Path;

use riddlemill_record::{Outcome, Post, record};
use riddlemill_tables::LedgerRecord;
use riddlemill_text::offline::dedup::parted::{PairLine, id_of};
use riddlemill_text::offline::dedup::{Keeper, merged_post};
use riddlemill_text::text::sameness::Predicate;

/// Dedup in parts, and the combination of the parts.
pub mod parted {
    pub use super::{MergeTarget, ledger_record, near_pair};
    pub use riddlemill_text::offline::dedup::parted::*;
}

record! {
    /// Two similar records, down to the margin under the threshold.
    pub struct NearPair {
        /// The record that ranks first.
        a: String,
        /// The other.
        b: String,
        /// What the predicate measured, 0 to 1.
        score: f64,
        /// `same` or `borderline`; where a person decided, `joined` or `split`.
        verdict: String,
        /// The predicate that decided.
        predicate: String,
        /// The veto that demoted the pair, if one did.
        veto: Option<String>,
        /// strsim's normalized Levenshtein of the two texts; this and the next two of their first 4,000 characters.
        levenshtein: f64,
        /// strsim's Jaro-Winkler of the two texts.
        jaro_winkler: f64,
        /// strsim's Sørensen-Dice of the two texts.
        sorensen_dice: f64,
    }
}

/// Where what does not fit in memory waits, and whether the disk is looked at before.
#[derive(Clone, Copy, Debug)]
pub struct DiskSpill<'a> {
    /// A new folder under this one.
    pub folder: &'a Path,
    /// Whether a disk without room for it ends the stage before it begins.
    pub check: bool,
}

/// The row that another is merged into, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct MergeTarget {
    /// The row that is kept.
    pub into: Post,
    /// As in [`Decision`](riddlemill_text::offline::dedup::parted::Decision).
    pub score: f64,
    /// As in [`Decision`](riddlemill_text::offline::dedup::parted::Decision).
    pub predicate: Option<String>,
}

/// The names of predicates and metrics, as ledgers write them.
const NAMES: [&str; 8] = [
    Predicate::Identical.name(),
    Predicate::Opening.name(),
    Predicate::Near.name(),
    Predicate::Sound.name(),
    Predicate::Reworded.name(),
    "levenshtein",
    "indel",
    "jaccard",
];

/// Books a row: merged where something was decided, else kept.
pub fn ledger_record(post: Post, decided: Option<MergeTarget>) -> LedgerRecord<Post> {
    let id = post.id.clone();
    let outcome = match decided {
        None => Outcome::Kept(post),
        Some(MergeTarget { into, score, predicate }) => {
            // A keeper has static names, and one from a file is owned.
            let predicate =
                predicate.map(|name| NAMES.into_iter().find(|known| *known == name).unwrap_or("none"));
            merged_post(&post, &into, predicate.map(|predicate| Keeper { into: 0, score, predicate }))
        }
    };
    LedgerRecord::new(id, outcome)
}

/// A compared pair as a row of the stage's table of pairs.
pub fn near_pair(pair: PairLine) -> NearPair {
    NearPair {
        a: id_of(&pair.into).into(),
        b: id_of(&pair.from).into(),
        score: pair.score.unwrap_or_default(),
        verdict: pair.verdict,
        predicate: pair.predicate.unwrap_or_default(),
        veto: pair.veto,
        levenshtein: pair.levenshtein.unwrap_or_default(),
        jaro_winkler: pair.jaro_winkler.unwrap_or_default(),
        sorensen_dice: pair.sorensen_dice.unwrap_or_default(),
    }
}
