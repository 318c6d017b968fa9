//! Caches the rows of a release while its table is viewed.

use std::path::PathBuf;

use super::file_cache::Made;
use crate::release::read_rows::JsonRow;

/// The rows of the release viewed last, without those withdrawn since.
#[derive(Default)]
pub(in crate::web) struct Tables(pub(in crate::web) Made<(), (PathBuf, String, u64), Table>);

/// Its rows by config.
pub(in crate::web) struct Table {
    pub(in crate::web) configs: Vec<(String, Vec<JsonRow>)>,
    /// Number of rows withdrawn since.
    pub(in crate::web) withdrawn: usize,
}
