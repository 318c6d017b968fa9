//! An invalid value of a setting.

use std::fmt;

/// The expected values, with a suggestion. The caller adds the setting and its place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected {expected}{hint}")]
pub struct Mismatch {
    /// The valid values: `a number from 0 to 1`.
    pub expected: String,
    /// A hint about the value.
    pub hint: ValueHint,
}

/// A hint about an invalid value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ValueHint {
    /// Nothing.
    #[default]
    Nothing,
    /// It is close to this one, which fits.
    Near(String),
    /// This key in it is unknown.
    Strange(String),
}

impl Mismatch {
    /// A value that is not as expected.
    pub fn new(expected: impl Into<String>) -> Mismatch {
        Mismatch { expected: expected.into(), hint: ValueHint::Nothing }
    }

    /// Adds the closest valid value, if one is close.
    #[must_use]
    pub fn near(self, near: Option<&str>) -> Mismatch {
        let hint = near.map_or(ValueHint::Nothing, |near| ValueHint::Near(near.to_owned()));
        Mismatch { hint, ..self }
    }
}

impl fmt::Display for ValueHint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ValueHint::Nothing => Ok(()),
            ValueHint::Near(near) => write!(f, "; did you mean {near:?}?"),
            ValueHint::Strange(key) => write!(f, "; {key:?} is none of them"),
        }
    }
}
