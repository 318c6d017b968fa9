//! The table of pairs, and where what does not fit in memory waits.

use std::path::Path;

use riddlemill_record::record;

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
pub struct OnDisk<'a> {
    /// A new folder under this one.
    pub folder: &'a Path,
    /// Whether a disk without room for it ends the stage before it begins.
    pub check: bool,
}
