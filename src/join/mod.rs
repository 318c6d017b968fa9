//! The exact similarity join.

mod alike;

pub use alike::{AlikePair, AlikePairs, alike};
