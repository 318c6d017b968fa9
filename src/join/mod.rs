//! The exact similarity join: every pair of texts at or over a threshold, none lost.
//!
//! [`self_join`] joins by a metric of strings ([`Metric`]), [`alike`] by the default similarity of
//! [`crate::text::sameness`]. Both filter by conditions that every pair they look for meets, and then
//! decide by the measure itself.

mod alike;
mod index;
mod keys;
mod memory;
mod metric;
mod pairs;
mod rows;
mod signature;
mod threshold;
mod verify;

pub use alike::{AlikePair, AlikePairs, alike};
pub use metric::{Metric, similarity};
pub use pairs::{Joined, Pair, Query, self_join};
pub use threshold::{Score, Threshold, ThresholdError};
