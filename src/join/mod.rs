//! The exact similarity join.

mod index;
mod keys;
mod memory;
mod metric;
mod pairs;
mod rows;
mod signature;
mod threshold;
mod verify;

pub use metric::{Metric, similarity};
pub use pairs::{Joined, Pair, Query, self_join};
pub use threshold::{Score, Threshold, ThresholdError};
