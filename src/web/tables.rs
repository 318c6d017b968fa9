//! The rows of a release between two pages of its table.

use std::path::PathBuf;

use super::file_cache::Made;
use crate::release::read_rows::JsonRow;

/// The rows of the release that somebody looked at last, without those that were withdrawn since.
#[derive(Default)]
pub(in crate::web) struct Tables(pub(in crate::web) Made<(), (PathBuf, String, u64), Table>);

/// Its rows by configuration.
pub(in crate::web) struct Table {
    pub(in crate::web) configs: Vec<(String, Vec<JsonRow>)>,
    /// Rows that are about what was withdrawn since.
    pub(in crate::web) withdrawn: usize,
}
