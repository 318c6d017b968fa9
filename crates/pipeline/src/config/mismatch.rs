//! An invalid value of a setting.

use std::fmt;

/// The expected values, with a suggestion. The caller adds the setting and its place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected {expected}{beside}")]
pub struct Mismatch {
    /// The valid values: `a number from 0 to 1`.
    pub expected: String,
    /// A hint about the value.
    pub beside: Beside,
}

/// A hint about an invalid value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Beside {
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
        Mismatch { expected: expected.into(), beside: Beside::Nothing }
    }

    /// Adds the closest valid value, if one is close.
    #[must_use]
    pub fn near(self, near: Option<&str>) -> Mismatch {
        let beside = near.map_or(Beside::Nothing, |near| Beside::Near(near.to_owned()));
        Mismatch { beside, ..self }
    }
}

impl fmt::Display for Beside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Beside::Nothing => Ok(()),
            Beside::Near(near) => write!(f, "; did you mean {near:?}?"),
            Beside::Strange(key) => write!(f, "; {key:?} is none of them"),
        }
    }
}
