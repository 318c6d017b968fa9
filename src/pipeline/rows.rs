//! The questions of a stage, and the items of a review.

use crate::config::{Config, sections};
use crate::llm::Ask;
use crate::recipe::{Recipe, Step};
use crate::record::{Post, Question};
use crate::review::Item;
use crate::review::ballot::Step as Ballot;
use crate::stages::{Rows, Stage, StageError, draft};
use crate::store::{StageReader, Workspace};

use super::RunError;

/// A stage's rows as questions: posts are questions nobody has looked at yet.
///
/// # Errors
/// [`crate::store::Error`] where a part is missing or damaged.
pub fn questions(reader: &StageReader, rows: Rows) -> Result<Vec<Question>, crate::store::Error> {
    Ok(match rows {
        Rows::Posts => reader.all::<Post>("rows")?.into_iter().map(Question::from).collect(),
        Rows::Questions => reader.all("rows")?,
    })
}

/// The questions of a step that was made; none where it was not.
pub(super) fn questions_of(
    workspace: &Workspace,
    recipe: &'static Recipe,
    step: &str,
) -> Result<Vec<Question>, StageError> {
    let Some((number, step)) = recipe.step(step) else { return Ok(Vec::new()) };
    match StageReader::open(&workspace.stage(recipe.name, number, step.name))? {
        Some(reader) => Ok(questions(&reader, step.stage.rows())?),
        None => Ok(Vec::new()),
    }
}

/// A review's ballot and its items, as they stand in the stage before it; `None` where the recipe has
/// no such review.
///
/// # Errors
/// [`RunError::Missing`] where that stage has not been made.
pub fn review_items(
    config: &Config,
    recipe: &'static Recipe,
    ballot: &str,
) -> Result<Option<(Ballot, Vec<Item>)>, RunError> {
    let Some((review, before)) = recipe.review(ballot) else { return Ok(None) };
    let settings: sections::Review = config.typed(Some(recipe.name), "review");
    let step = review.ballot(&settings);
    let reader = super::open(&Workspace::new(&config.root), recipe, before.name)?;
    let questions = questions(&reader, before.stage.rows())?;
    let items = questions.iter().map(|question| review.item(&step, question)).collect();
    Ok(Some((step, items)))
}

/// What a step would ask a model, from the rows that stand before it: `None` where the step asks nothing,
/// `Some(None)` where those rows have not been made.
///
/// # Errors
/// [`RunError`] where rows or prompts cannot be read.
pub fn draft_requests(
    config: &Config,
    recipe: &'static Recipe,
    step: &Step,
) -> Result<Option<Option<Vec<Ask>>>, RunError> {
    let Stage::Draft(kind) = step.stage else { return Ok(None) };
    let workspace = Workspace::new(&config.root);
    let prompts = draft::prompts(config)?;
    let mut asks = Vec::new();
    for input in step.inputs {
        let Some((number, before)) = recipe.step(input) else { continue };
        let Some(reader) = StageReader::open(&workspace.stage(recipe.name, number, before.name))? else {
            return Ok(Some(None));
        };
        let questions = questions(&reader, before.stage.rows())?;
        asks.append(&mut draft::requests(kind, &prompts, &questions)?);
    }
    Ok(Some(Some(asks)))
}
