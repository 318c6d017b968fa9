//! riddlemill's rules over texts and its similarity join as functions over Arrow columns.
//!
//! Every decision is that of [`riddlemill_text::offline`], which the program's stages call too; here are columns,
//! threads and exceptions only. [`texts`] reads columns, [`table`] makes them; [`work`] runs what takes long without
//! the interpreter's lock and hears Ctrl-C; [`rules`] decides text by text, [`similarity_join`] over all texts at once,
//! [`parted`] where they are on many machines.

use pyo3::prelude::*;

mod parted;
mod rules;
mod similarity_join;
mod table;
mod texts;
mod words;
mod work;

/// The compiled functions of `riddlemill_text`.
#[pymodule]
mod _core {
    #[pymodule_export]
    use super::parted::{PartedDedup, PartedKeys};
    #[pymodule_export]
    use super::rules::{anonymise, clean, filter, judge, normalize};
    #[pymodule_export]
    use super::similarity_join::{compare, dedup, similar_pairs, similarity};

    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
}
