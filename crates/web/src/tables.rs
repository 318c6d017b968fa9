//! Caches of what is viewed: the rows of a release, and the stages with the similarities of their pairs.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use riddlemill_pipeline::stages::withdrawal::Withdrawals;

use super::error::PageError;
use super::file_cache;
use crate::audit::{LikenessChart, MadeStage, likeness_of};
use crate::pipeline::Withheld;
use crate::recipe::{Recipe, Step};
use crate::release::CandidateManifest;
use crate::release::read_rows::{self, JsonRow};
use crate::store::view::{SmallCache, StageView, Views};
use crate::store::{Error, StageReader, Workspace};

/// The rows of the release viewed last, without those withdrawn since.
#[derive(Default)]
pub(crate) struct Tables(file_cache::CachedValues<(), (PathBuf, String, u64), ReleaseTable>);

/// Its rows by config.
pub(crate) struct ReleaseTable {
    pub(crate) configs: Vec<ConfigRows>,
    /// Number of rows withdrawn since.
    pub(crate) withdrawn: usize,
}

/// The rows of one config.
pub(crate) struct ConfigRows {
    pub(crate) name: String,
    pub(crate) rows: Vec<JsonRow>,
    /// The place of each in the files of the release, which have the withdrawn ones, too.
    pub(crate) places: Vec<usize>,
}

impl Tables {
    /// The rows of a version's folder.
    ///
    /// # Errors
    /// [`PageError`] if the folder is no release, or rows or withdrawals cannot be read.
    pub(crate) fn get(
        &self,
        workspace: &Workspace,
        recipe: &'static Recipe,
        folder: &Path,
    ) -> Result<Arc<ReleaseTable>, PageError> {
        let manifest = CandidateManifest::read_manifest(folder)?.ok_or_else(PageError::not_found)?;
        // The manifest has the hashes of all other files, so it identifies the content of the folder.
        let state = blake3::hash(&manifest.to_bytes()).to_hex().to_string();
        let key = (folder.to_path_buf(), state, Withdrawals::log_length(workspace));
        self.0.get((), key, || {
            let withheld = Withheld::open(workspace, recipe)?;
            let mut table = ReleaseTable { configs: Vec::new(), withdrawn: 0 };
            for (name, rows) in read_rows::of_folder(folder)? {
                let withdrawn = withheld.withdrawn_rows(&rows)?;
                let all = rows.len();
                let shown = rows.into_iter().zip(withdrawn).enumerate().filter(|(_, (_, gone))| !gone);
                let (places, rows): (Vec<usize>, Vec<JsonRow>) =
                    shown.map(|(place, (row, _))| (place, row)).unzip();
                table.withdrawn += all - rows.len();
                table.configs.push(ConfigRows { name, rows, places });
            }
            Ok::<_, PageError>(table)
        })
    }
}

/// Most stages with cached similarities.
const LIKENESS: usize = 16;

/// The stages being viewed.
#[derive(Default)]
pub(crate) struct Stages {
    views: Views,
    likeness: SmallCache<Option<LikenessChart>>,
}

impl Stages {
    /// Opens a stage; `None` where it was not made.
    pub(crate) fn open_stage(
        &self,
        workspace: &Workspace,
        recipe: &'static Recipe,
        step: &Step,
    ) -> Result<Option<StageView<'_>>, Error> {
        let Some(MadeStage { stage, inputs }) = MadeStage::open(workspace, recipe, step)? else {
            return Ok(None);
        };
        Ok(Some(self.views.open(stage, inputs)?))
    }

    /// The similarities of a step's pairs, and what other thresholds would merge.
    pub(crate) fn stage_likeness(
        &self,
        workspace: &Workspace,
        recipe: &'static Recipe,
        step: &Step,
    ) -> Result<Arc<Option<LikenessChart>>, Error> {
        let Some((number, _)) = recipe.find_step(step.name) else { return Ok(Arc::default()) };
        let Some(stage) = StageReader::open(&workspace.stage_folder(recipe.name, number, step.name))? else {
            return Ok(Arc::default());
        };
        let key = format!("{} {}", stage.table("pairs").hash, stage.table("ledger").hash);
        self.likeness.get(&key, |_| 1, LIKENESS, || likeness_of(workspace, recipe, step))
    }
}
