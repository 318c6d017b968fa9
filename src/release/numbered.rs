//! From the records at a recipe's end to released rows, and the numbers they bear.

use super::end::End;
use super::groups::{series, variant_row};
use super::items::{self, Optional};
use super::layout::{self, post_row};
use super::registry::{Ordinals, Registry};
use super::row::Row;
use super::rows_of::JsonRow;
use crate::recipe::{RECIPES, Recipe};
use crate::record::{Post, Question, Record, Variant};
use crate::stages::import::kinds;
use crate::stages::{Rows, Stage};
use crate::store::{Error, Lock, Manifest, StageReader, Workspace};

/// The series of RuozhiBench-Gen's `index`.
const INDEX: &str = "index";
/// Rows handed on at once where they had to be put in order first.
const BATCH: usize = 1 << 16;

/// The numbers that the rows of a step bear: those the registries know, and new ones in the order of the
/// step's records. What a release enters; a candidate shows what a release would enter now.
pub(super) fn allot(workspace: &Workspace, end: End, last: &StageReader) -> Result<Ordinals, Error> {
    let mut numbers = known(workspace, end.recipe())?;
    for (series, key, _) in numbered(workspace, end, last)? {
        numbers.of(series, first(series), &key);
    }
    Ok(numbers)
}

/// The locks of who enters numbers: the recipe's, and that of the recipe it shares them with.
pub(super) fn numbering(workspace: &Workspace, recipe: &'static Recipe) -> Result<Vec<Lock>, Error> {
    let shared = Some(recipe.origin().name).filter(|origin| *origin != recipe.name);
    let names = std::iter::once(recipe.name).chain(shared);
    names.map(|name| Lock::take(&workspace.recipe(name))).collect()
}

/// The numbers in the registries of all recipes that are made of the same records: an item of RuozhiBench-MC
/// is called what RuozhiBench-Gen calls its question, whichever of the two is released first.
pub(super) fn known(workspace: &Workspace, recipe: &'static Recipe) -> Result<Ordinals, Error> {
    let mut numbers = Registry::open(workspace, recipe.name)?.ordinals();
    for other in RECIPES.iter().filter(|other| other.name != recipe.name) {
        if other.origin().name == recipe.origin().name {
            numbers.join(&Registry::open(workspace, other.name)?.ordinals());
        }
    }
    Ok(numbers)
}

/// The items of a step that bear a number: series, key, text; none where rows are called otherwise.
pub(super) fn numbered(
    workspace: &Workspace,
    end: End,
    last: &StageReader,
) -> Result<Vec<(&'static str, String, String)>, Error> {
    let mut found = Vec::new();
    match end.rows() {
        Rows::Questions => found = indexed(last)?,
        // Also those of questions without options: RuozhiBench-Gen counts them.
        Rows::Choices => {
            let step = end.recipe().steps.first().and_then(|step| end.recipe().input(step.inputs.first()?));
            let place = step.map(|(recipe, number, step)| workspace.stage(recipe.name, number, step.name));
            if let Some(place) = place
                && let Some(questions) = StageReader::open(&place)?
            {
                found = indexed(&questions)?;
            }
        }
        Rows::Variants => {
            for part in last.parts::<Variant>("rows") {
                // The three of a group share one number.
                found.extend(part?.into_iter().map(|v| (series(&v), v.group, v.question)));
            }
        }
        _ => {}
    }
    Ok(found)
}

fn indexed(questions: &StageReader) -> Result<Vec<(&'static str, String, String)>, Error> {
    let mut found = Vec::new();
    for part in questions.parts::<Question>("rows") {
        let any = Optional::new();
        let items = part?.into_iter().filter_map(|question| items::question(question, &any));
        found.extend(items.map(|item| (INDEX, item.source_id, item.question_zh)));
    }
    Ok(found)
}

/// Text and number of an item in the published form.
pub(super) fn published_number(rows: Rows, item: &JsonRow) -> Option<(String, u64)> {
    match rows {
        Rows::Questions | Rows::Choices => {
            Some((item.get("question_zh")?.as_str()?.into(), item.get("index")?.as_u64()?))
        }
        _ => None,
    }
}

/// Where a series begins: `index` at 1, as in the published file.
fn first(series: &str) -> u64 {
    u64::from(series == INDEX)
}

/// The released rows of the step that ends a candidate, a part at a time: posts in the order of the step,
/// numbered items in the order of their numbers, so that old rows stay where they are.
pub(super) fn rows<'a>(
    end: End,
    last: &'a StageReader,
    numbers: &'a Ordinals,
) -> Box<dyn Iterator<Item = Result<Vec<Row>, Error>> + 'a> {
    fn each<'a, R: Record>(
        last: &'a StageReader,
        row: impl Fn(R) -> Option<Row> + 'a,
    ) -> Box<dyn Iterator<Item = Result<Vec<Row>, Error>> + 'a> {
        Box::new(last.parts::<R>("rows").map(move |part| Ok(part?.into_iter().filter_map(&row).collect())))
    }
    let optional = match optional(end, last) {
        Ok(optional) => optional,
        Err(e) => return Box::new(std::iter::once(Err(e))),
    };
    match end.rows() {
        Rows::Posts => each(last, |post: Post| Some(post_row(post))),
        // Every item has a number: `allot` went through the same records.
        Rows::Questions => in_order(last, numbers, |question, number| {
            items::question(question, &optional).map(|item| layout::Question { index: number, ..item }.row())
        }),
        Rows::Choices => in_order(last, numbers, items::choice),
        Rows::Texts => each(last, move |text| items::text(text, &optional)),
        Rows::Jokes => {
            // The stages of a recipe stand side by side.
            let stages = last.place().parent().map(std::path::Path::to_path_buf).unwrap_or_default();
            let import = StageReader::open(&stages.join(format!("01_{}", end.recipe().steps[0].name)));
            match import.and_then(|import| import.as_ref().map(kinds).transpose()) {
                Ok(kinds) => {
                    let kinds = kinds.unwrap_or_default();
                    each(last, move |joke| Some(items::joke(joke, &kinds, &optional)))
                }
                Err(e) => Box::new(std::iter::once(Err(e))),
            }
        }
        Rows::Variants => each(last, |variant: Variant| variant_row(variant, numbers)),
        Rows::Responses | Rows::Puzzles => Box::new(std::iter::empty()),
    }
}

/// The reviews that held nothing when the stages before a recipe's end were made; those stand beside it.
fn optional(end: End, last: &StageReader) -> Result<Optional, Error> {
    let mut optional = Optional::new();
    let Some(root) = last.place().ancestors().nth(3) else { return Ok(optional) };
    let recipe = end.recipe();
    for (at, step) in recipe.steps.iter().enumerate() {
        let Stage::Review(review) = step.stage else { continue };
        let made = Manifest::read(&Workspace::new(root).stage(recipe.name, at + 1, step.name))?;
        if made.is_some_and(|made| made.settings.get("optional") == Some(&true.into())) {
            optional.insert(review.place().1);
        }
    }
    Ok(optional)
}

/// Rows of records that bear an `index`, by number.
fn in_order<'a, R: Record>(
    last: &StageReader,
    numbers: &Ordinals,
    row: impl Fn(R, u64) -> Option<Row>,
) -> Box<dyn Iterator<Item = Result<Vec<Row>, Error>> + 'a> {
    let mut rows = Vec::new();
    for part in last.parts::<R>("rows") {
        let part = match part {
            Ok(part) => part,
            Err(e) => return Box::new(std::iter::once(Err(e))),
        };
        let numbered = part.into_iter().filter_map(|record| {
            let number = numbers.find(INDEX, record.id()).unwrap_or_default();
            Some((number, row(record, number)?))
        });
        rows.extend(numbered);
    }
    rows.sort_by_key(|(number, _)| *number);
    let mut rows = rows.into_iter().map(|(_, row)| row);
    Box::new(std::iter::from_fn(move || {
        let batch: Vec<Row> = rows.by_ref().take(BATCH).collect();
        (!batch.is_empty()).then_some(Ok(batch))
    }))
}
