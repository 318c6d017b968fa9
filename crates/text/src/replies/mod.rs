//! What is suspicious about a text that a model wrote, before a person's time is spent on it.

mod translation;
mod unusable;

pub use translation::lost;
pub use unusable::unusable;
