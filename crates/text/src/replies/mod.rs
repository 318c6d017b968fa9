//! Signs that a text written by a model is unusable, checked before a person's time is spent on it.

mod translation;
mod unusable;

pub use translation::lost;
pub use unusable::unusable;
