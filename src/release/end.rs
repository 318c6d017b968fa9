//! Where the rows of a candidate come from.

use super::candidate::reader;
use super::layout::{self, Layout};
use super::manifest::Link;
use super::rows_of::JsonRow;
use crate::pipeline::RunError;
use crate::recipe::Recipe;
use crate::stages::Rows;
use crate::store::{Error, StageReader, Workspace, json_parts};

/// The step whose rows are the items: a recipe's last one. Releases of an earlier program may end at posts.
#[derive(Clone, Copy)]
pub struct End {
    recipe: &'static Recipe,
    number: usize,
}

impl End {
    /// The end of a recipe.
    pub fn of(recipe: &'static Recipe) -> Self {
        Self { recipe, number: recipe.steps.len() }
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

    /// The layouts its rows are published in, given the stage that holds them.
    ///
    /// # Errors
    /// [`Error`] where a part cannot be read.
    pub fn layouts(self, last: &StageReader) -> Result<Vec<Layout>, Error> {
        let layouts = layout::of(self.recipe, self.rows());
        // What stands only sometimes stands in all rows of a set or in none: groups are split all of them or none.
        let names = layouts.first().map_or(&[][..], |layout| layout.sometimes);
        if names.is_empty() {
            return Ok(layouts);
        }
        let first = json_parts(last, "rows", names).next().transpose()?;
        let has =
            |row: &JsonRow| names.iter().any(|name| row.get(*name).is_some_and(|value| !value.is_null()));
        let split = first.is_some_and(|rows| rows.first().is_some_and(has));
        Ok(if split { layouts.into_iter().map(Layout::split).collect() } else { layouts })
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
