//! A release that was made, or yanked.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;

use crate::recipe::Recipe;
use riddlemill_release::{CandidateManifest, LeftOut, Proposal, Version, Yanked};

/// A release that was made.
#[derive(Clone, Debug, Serialize)]
pub struct ReleasedVersion<'r> {
    recipe: &'static str,
    #[serde(flatten)]
    proposal: &'r Proposal,
    /// Rows by config.
    rows: &'r BTreeMap<String, u64>,
    folder: &'r Path,
    left_out: &'r [LeftOut],
    /// Released rows that became near and are in two splits.
    crossing: &'r [(String, String)],
}

/// A version that was yanked.
#[derive(Clone, Debug, Serialize)]
pub struct YankedVersion {
    pub recipe: &'static str,
    pub version: Version,
    pub yanked: Yanked,
}

impl<'r> ReleasedVersion<'r> {
    /// The version that was proposed, as its manifest in a folder states it.
    pub fn new(
        recipe: &'static Recipe,
        proposal: &'r Proposal,
        manifest: &'r CandidateManifest,
        folder: &'r Path,
    ) -> ReleasedVersion<'r> {
        let (rows, left_out) = (&manifest.configs, &manifest.left_out);
        let crossing = &manifest.crossing;
        ReleasedVersion { recipe: recipe.name, proposal, rows, folder, left_out, crossing }
    }
}
