//! The options a model chooses between: options in a drawn order, and pairs of answers whose ratings are far
//! enough apart.
//!
//! Every choice is drawn from a seed, a purpose and the item's own id ([`Draw`]), so that adding an item
//! changes no other. Balance over a set is therefore measured ([`crate::shortcuts`]), not enforced. Nothing
//! here depends on records, tables or stages.

mod choices;
mod draw;
mod pair;
mod splits;

pub use choices::{Choices, EqualOptions, LETTERS, choices, order, repetitions};
pub use draw::Draw;
pub use pair::{GapPair, Mean, gap_pair};
pub use splits::{InSplit, LeftApart, SplitRow, SplitSize, divide};

#[cfg(test)]
mod laws;
#[cfg(test)]
mod margins;
