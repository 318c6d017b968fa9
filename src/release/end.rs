//! Where the rows of a candidate come from.

use super::candidate::reader;
use super::layout::{self, Layout};
use super::manifest::Link;
use crate::pipeline::RunError;
use crate::recipe::Recipe;
use crate::stages::Rows;
use crate::store::{StageReader, Workspace};

/// The step whose rows are the candidates: the last one; or the last that has posts, where every question
/// still waits for a model or a person.
#[derive(Clone, Copy)]
pub struct End {
    recipe: &'static Recipe,
    number: usize,
}

impl End {
    /// The end of a recipe whose last stage let so many records out.
    pub fn of(recipe: &'static Recipe, records_out: u64) -> Self {
        let posts = recipe.steps.iter().rposition(|step| step.stage.rows() == Rows::Posts);
        let number = match posts {
            Some(posts) if records_out == 0 => posts + 1,
            _ => recipe.steps.len(),
        };
        Self { recipe, number }
    }

    /// The end of a candidate or release whose manifest names so many stages.
    pub fn of_chain(recipe: &'static Recipe, stages: usize) -> Self {
        Self { recipe, number: stages.clamp(1, recipe.steps.len()) }
    }

    /// The recipe.
    pub fn recipe(self) -> &'static Recipe {
        self.recipe
    }

    /// The number of the step, from 1.
    pub fn number(self) -> usize {
        self.number
    }

    /// What its rows are.
    pub fn rows(self) -> Rows {
        self.recipe.steps[self.number - 1].stage.rows()
    }

    /// The layouts its rows are published in.
    pub fn layouts(self) -> Vec<Layout> {
        layout::of(self.recipe, self.rows())
    }

    /// The stages up to it, as they stand in `staged/`.
    ///
    /// # Errors
    /// [`RunError`] where one is missing or cannot be read.
    pub fn readers(self, workspace: &Workspace) -> Result<Vec<StageReader>, RunError> {
        (1..=self.number).map(|number| reader(workspace, self.recipe, number)).collect()
    }

    /// Those stages as a manifest names them.
    pub fn chain(readers: &[StageReader]) -> Vec<Link> {
        readers.iter().map(|reader| Link::of(reader.manifest())).collect()
    }
}
