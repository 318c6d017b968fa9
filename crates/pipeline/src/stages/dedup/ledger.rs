//! The outcome of a row, from the decision on it.

use super::pairs::NearPair;
use riddlemill_record::{Outcome, Post};
use riddlemill_tables::LedgerRecord;
use riddlemill_text::offline::dedup::parted::{PairLine, id_of};
use riddlemill_text::offline::dedup::{Keeper, merged};
use riddlemill_text::text::sameness::Predicate;

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
            merged(&post, &into, predicate.map(|predicate| Keeper { into: 0, score, predicate }))
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
