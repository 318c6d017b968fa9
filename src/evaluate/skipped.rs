//! Lines that were set aside.

/// A line that was set aside: the evaluation continues without it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct SetAside {
    /// File and line, or file and sample.
    pub place: String,
    /// What is wrong, with a hint.
    pub what: String,
}
