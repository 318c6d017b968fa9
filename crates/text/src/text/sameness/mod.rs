//! Same joke or not: the verdict on two short posts.
//!
//! A pair gets a verdict if one of a few [all_predicates] matches: the same text, nearly the same text, the same
//! sounds, one the opening of the other, or the same weighty characters in other words. [Vetoes](Veto) then
//! look at the differences (an issue number, a `不`, another word in the same frame, a second joke next to the
//! first, nothing but the forum's name) and reject or demote. The result is [`Verdict::Same`], which merges;
//! [`Verdict::Borderline`], which a person sees; or [`Verdict::Different`].
//!
//! Invariants, each checked by a property test:
//! - a verdict depends only on the two texts; weights come from a dictionary, never from a corpus (a join over many
//!   posts asks besides, of a [reworded](Predicate::Reworded) pair, what few of them hold: see
//!   [`Metric::Reworded`](crate::join::Metric::Reworded));
//! - `compare(a, b)` equals `compare(b, a)`, and the score is in 0..=1;
//! - a text is the same as itself, and a text of nothing but spaces is similar to nothing;
//! - every pair that is not `Different` meets the [needs](PredicateSpec::needs) of one predicate, so that an
//!   index built on them loses no pair;
//! - thresholds are compared in integers, so that a pair exactly at a threshold is included.
//!
//! "Same" is not transitive: a compilation resembles each of its parts. Merging by these verdicts must not
//! take the transitive closure.
//!
//! In reading order: [view] folds a text, `prepared` weighs its characters and combines the two once per
//! text, `predicate` is what a predicate is made of, `measures` has the five of them, `vetoes`, `order` and `replaced` what rejects or demotes a pair;
//! for English [words] instead of characters and the vetoes of `english`, for any other language those of `other`;
//! `compare` decides.

mod compare;
mod english;
mod measures;
mod numbers;
mod order;
mod other;
mod predicate;
mod prepared;
mod replaced;
mod signs;
mod symbols;
mod vetoes;
pub mod view;
mod words;

pub use compare::{
    Comparison, Evidence, MOST_UNITS, all_predicates, compare, compare_prepared, find_veto, is_over_length,
};
pub(crate) use compare::{compare_among, holds_of, least_units};
pub(crate) use measures::{MOST_POSTS, PAIRS};
pub(crate) use predicate::Predicates;
pub use predicate::{Need, Predicate, PredicateSpec, Ratio, TextView, Verdict, ViewMetric};
pub use prepared::{BagToken, PreparedText, Reading, weight};
pub(crate) use prepared::{LEAST_WEIGHT, MOST_WEIGHT, SharedWeights};
pub use vetoes::Veto;

#[cfg(test)]
mod laws;
#[cfg(test)]
mod reference;
#[cfg(test)]
mod tests;
