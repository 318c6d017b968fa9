//! What a model chooses between: options in a drawn order, and pairs of answers that are far enough apart.
//!
//! Every choice is drawn from a seed, a purpose and the item's own id ([`Draw`]), so that one item more
//! changes no other item. Balance over a set is therefore a measured figure ([`crate::shortcuts`]) and no
//! constraint. Nothing here knows of records, tables or stages.

mod choices;
mod draw;
mod pair;

pub use choices::{Alike, Choices, LETTERS, choices, order, repetitions};
pub use draw::Draw;
pub use pair::{GapPair, Mean, gap_pair};

#[cfg(test)]
mod laws;
