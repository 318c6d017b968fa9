//! The rows of a ledger and of its links.

use super::cell::record;

record! {
    /// What one stage did with one record that entered it. A ledger has exactly one entry a record.
    pub struct Entry {
        /// The record that entered. In the import stage it is `source/file:position`.
        id: String,
        /// One of the eight states ([`super::State`]).
        outcome: String,
        /// The code of a [`super::Reason`], or of the text rule that changed it; null where it was kept.
        reason: Option<String>,
        /// What made the rule fire, or the error.
        evidence: Option<String>,
        /// The text before, where it changed.
        before: Option<String>,
        /// The text after, where it changed.
        after: Option<String>,
        /// The record it was merged or joined into; in the import stage also the post it became.
        into: Option<String>,
        /// The score of a merge, 0 to 1.
        score: Option<f64>,
    }
}

record! {
    /// A record out, and a record in that it was made of. A record that kept its id has no link:
    /// it is its own parent.
    pub struct Link {
        /// The record out.
        child: String,
        /// The record in.
        parent: String,
        /// What the parent is to the child: `question`, `response`, `original` …
        role: String,
    }
}

record! {
    /// Why a record of a stage waits, failed, or went on without something, as fields. Its entry in the ledger says the same
    /// in words. Stages that earlier versions wrote have none.
    pub struct Caused {
        /// The record that entered, as in the ledger.
        id: String,
        /// Its state, as in the ledger.
        outcome: String,
        /// The code of its reason, as in the ledger.
        reason: String,
        /// A [`super::Cause`] as JSON.
        cause: String,
    }
}
