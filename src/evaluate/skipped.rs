//! What is set aside.

/// A line that is set aside: the rest goes on without it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct SetAside {
    /// File and line, or file and sample.
    pub place: String,
    /// What is wrong, and what would help.
    pub what: String,
}
