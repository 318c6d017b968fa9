//! The paths of a workspace.

use std::path::{Path, PathBuf};

/// The folder that holds pipeline.toml, raw/, staged/ and output/.
#[derive(Clone, Debug)]
pub struct Workspace {
    root: PathBuf,
}

impl Workspace {
    /// The workspace of a folder.
    pub fn new(root: impl Into<PathBuf>) -> Workspace {
        Workspace { root: root.into() }
    }

    /// The folder itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The folder of what cannot be recomputed.
    pub fn raw(&self) -> PathBuf {
        self.root.join("raw")
    }

    /// The folder of people's decisions about records and pairs.
    pub fn decisions(&self) -> PathBuf {
        self.raw().join("decisions")
    }

    /// A recipe's stages.
    pub fn recipe(&self, recipe: &str) -> PathBuf {
        self.root.join("staged").join(recipe)
    }

    /// A stage's folder: `staged/<recipe>/<NN_stage>`.
    pub fn stage(&self, recipe: &str, number: usize, stage: &str) -> PathBuf {
        self.recipe(recipe).join(format!("{number:02}_{}", stage.replace(':', "_")))
    }

    /// Where a run builds a recipe's candidate release.
    pub fn candidate(&self, recipe: &str) -> PathBuf {
        self.root.join("output").join(recipe).join("candidate")
    }
}
