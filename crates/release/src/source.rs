//! The source of a candidate's rows.

use super::layout::{self, Layout};
use super::manifest::Link;
use riddlemill_benchmarks::data::PUBLISHED;

use crate::pipeline::RunError;
use crate::recipe::{Recipe, Step};
use crate::stages::StageRows;
use crate::stages::published::Published;
use crate::store::{Error, StageReader, Workspace, json_parts};

/// The step whose rows are the items: a recipe's last one. Releases of an earlier version of the program may
/// end at posts.
#[derive(Clone, Copy)]
pub struct CandidateSource {
    recipe: &'static Recipe,
    step: &'static Step,
}

impl CandidateSource {
    /// The end of a recipe.
    pub fn new(recipe: &'static Recipe) -> Self {
        Self::of_chain(recipe, usize::MAX)
    }

    /// The end of a candidate or release whose manifest has this many stages. One more than the folder declares embedded
    /// the posts, and is at no end.
    pub fn of_chain(recipe: &'static Recipe, stages: usize) -> Self {
        let declared = recipe.declared_steps();
        Self { recipe, step: &declared[stages.clamp(1, declared.len()) - 1] }
    }

    /// The recipe whose records are released.
    pub fn recipe(self) -> &'static Recipe {
        self.recipe
    }

    /// The step whose rows are released.
    pub fn step(self) -> &'static Step {
        self.step
    }

    /// The kind of its rows.
    pub fn row_kind(self) -> StageRows {
        self.step.stage.rows()
    }

    /// The layouts in which its rows are published, given the stage that contains them.
    ///
    /// # Errors
    /// [`Error`] if a part cannot be read.
    pub fn published_layouts(self, last: &StageReader) -> Result<Vec<Layout>, Error> {
        let layouts = layout::layouts_of_recipe(self.recipe, self.row_kind());
        let Some(layout) = layouts.first().filter(|layout| !layout.sometimes.is_empty()) else {
            return Ok(layouts);
        };
        // An optional column is in all rows of a set or in none: groups are split all or none. The last one
        // marks published rows, and no record has it.
        let of_record = layout.sometimes.strip_suffix(&[PUBLISHED]).unwrap_or(layout.sometimes);
        let mut standing = Vec::new();
        if !of_record.is_empty() {
            let rows = json_parts(last, "rows", of_record).next().transpose()?.unwrap_or_default();
            let has =
                |name: &&&str| rows.first().and_then(|row| row.get(**name)).is_some_and(|v| !v.is_null());
            standing.extend(of_record.iter().filter(has));
        }
        if !published_rows(self.recipe, last)?.is_empty() {
            standing.push(PUBLISHED);
        }
        Ok(layouts.into_iter().map(|layout| layout.with_columns(&standing)).collect())
    }

    /// The stages up to it, in `staged/`.
    ///
    /// # Errors
    /// [`RunError`] if one is missing or cannot be read.
    pub fn open_stages(self, workspace: &Workspace) -> Result<Vec<StageReader>, RunError> {
        let steps = self.recipe.steps_made(workspace)?;
        let end = steps.iter().position(|step| step.name == self.step.name).map_or(steps.len(), |at| at + 1);
        steps[..end].iter().map(|step| open_stage(workspace, self.recipe, step)).collect()
    }

    /// These stages as listed in a manifest.
    pub fn links_of_stages(readers: &[StageReader]) -> Vec<Link> {
        readers.iter().map(|reader| Link::from_manifest(reader.manifest())).collect()
    }
}

pub(super) fn open_stage(
    workspace: &Workspace,
    recipe: &'static Recipe,
    step: &'static Step,
) -> Result<StageReader, RunError> {
    let place = workspace.stage_folder(recipe.name, step.number, step.name);
    StageReader::open(&place)?.ok_or(RunError::Missing { recipe: recipe.name, stage: step.name })
}

/// The published rows in a recipe's own form, from the stages next to its end.
pub(super) fn published_rows(recipe: &'static Recipe, last: &StageReader) -> Result<Published, Error> {
    let Some(root) = last.folder().ancestors().nth(3) else { return Ok(Published::default()) };
    let all = Published::load(&Workspace::new(root), recipe.name)?;
    let own = all.rows().iter().filter(|row| row.benchmark == recipe.name);
    Ok(Published::index(own.cloned().collect()))
}
