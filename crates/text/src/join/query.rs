//! What a join is asked for.

use super::{Metric, Threshold};

/// What to find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Query {
    /// How two rows are compared.
    pub metric: Metric,
    /// Pairs at or over it are found, all of them.
    pub threshold: Threshold,
}
