//! A value that a setting cannot hold.

use std::fmt;

/// What was expected instead, and what was probably meant. Which setting it is, and where, is told by whoever reads it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected {expected}{beside}")]
pub struct Mismatch {
    /// What the setting may hold: `a number from 0 to 1`.
    pub expected: String,
    /// What can be said of the value.
    pub beside: Beside,
}

/// What can be said of a value that does not fit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Beside {
    /// Nothing.
    #[default]
    Nothing,
    /// It is close to this one, which fits.
    Near(String),
    /// This key of it is none of those that may be there.
    Strange(String),
}

impl Mismatch {
    /// A value that is not this.
    pub fn new(expected: impl Into<String>) -> Mismatch {
        Mismatch { expected: expected.into(), beside: Beside::Nothing }
    }

    /// With the value that was probably meant, if one is close.
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
