//! The rows that a recipe's stages give now, for a command that asks more than one thing about them.

use std::sync::OnceLock;

use rustc_hash::FxHashMap;

use super::numbered::{allot_numbers, records_by_row};
use super::registry::Ordinals;
use super::source::CandidateSource;
use crate::recipe::Recipe;
use crate::record::Post;
use crate::stages::StageRows;
use crate::store::{Error, StageReader, Workspace};

/// The end of a recipe with the numbers and splits of its rows. These compare every row with every other one where a set is
/// divided, so they are computed when they are first needed, and then once.
pub struct CurrentRows {
    pub(super) workspace: Workspace,
    pub(super) end: CandidateSource,
    numbers: OnceLock<Ordinals>,
}

impl CurrentRows {
    /// Those of a recipe; nothing is read yet.
    pub fn of_recipe(workspace: &Workspace, recipe: &'static Recipe) -> CurrentRows {
        let (workspace, end) = (workspace.clone(), CandidateSource::new(recipe));
        CurrentRows { workspace, end, numbers: OnceLock::new() }
    }

    /// The recipe at whose end they are.
    pub fn recipe(&self) -> &'static Recipe {
        self.end.recipe()
    }

    /// The stage whose records are the rows; `None` if it is not made.
    pub(super) fn open_last_stage(&self) -> Result<Option<StageReader>, Error> {
        let step = self.end.step();
        StageReader::open(&self.workspace.stage_folder(self.recipe().name, step.number, step.name))
    }

    /// The numbers and splits of the rows of that stage.
    pub(super) fn row_numbers(&self, last: &StageReader) -> Result<&Ordinals, Error> {
        if let Some(numbers) = self.numbers.get() {
            return Ok(numbers);
        }
        let numbers = allot_numbers(&self.workspace, self.end, last)?;
        Ok(self.numbers.get_or_init(|| numbers))
    }

    /// The record behind each row that would be released now, by the row's id. Empty if the last stage is not made.
    ///
    /// # Errors
    /// [`Error`] if a registry or the last stage cannot be read.
    pub fn find_records(&self) -> Result<FxHashMap<String, String>, Error> {
        let Some(last) = self.open_last_stage()? else { return Ok(FxHashMap::default()) };
        if self.end.row_kind() != StageRows::Posts {
            return records_by_row(self.end, &last, self.row_numbers(&last)?);
        }
        let mut found = FxHashMap::default();
        for part in last.read_parts::<Post>("rows") {
            found.extend(part?.into_iter().map(|post| (post.id.clone(), post.id)));
        }
        Ok(found)
    }
}
