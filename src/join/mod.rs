//! The exact similarity join.
