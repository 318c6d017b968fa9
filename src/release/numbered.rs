//! From the records at a recipe's end to released rows, and the numbers they bear.

use super::end::End;
use super::groups::{series, variant_row};
use super::items;
use super::layout::post_row;
use super::registry::{Ordinals, Registry};
use super::row::Row;
use super::rows_of::JsonRow;
use crate::record::{Post, Question, Record, Variant};
use crate::stages::Rows;
use crate::store::{Error, StageReader};

/// The series of RuozhiBench-Gen's `index`.
const INDEX: &str = "index";
/// Rows handed on at once where they had to be put in order first.
const BATCH: usize = 1 << 16;

/// The numbers that the rows of a step bear: those the registry knows, and new ones in the order of the
/// step's records. What a release enters; a candidate shows what a release would enter now.
pub(super) fn allot(end: End, last: &StageReader, registry: &Registry) -> Result<Ordinals, Error> {
    let mut numbers = registry.ordinals();
    for (series, key, _) in numbered(end, last)? {
        numbers.of(series, first(series), &key);
    }
    Ok(numbers)
}

/// The items of a step that bear a number: series, key, text; none where rows are called otherwise.
pub(super) fn numbered(end: End, last: &StageReader) -> Result<Vec<(&'static str, String, String)>, Error> {
    let mut found = Vec::new();
    match end.rows() {
        Rows::Questions => {
            for part in last.parts::<Question>("rows") {
                let items = part?.into_iter().filter_map(items::question);
                found.extend(items.map(|item| (INDEX, item.source_id, item.question_zh)));
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

/// Text and number of an item in the published form.
pub(super) fn published_number(rows: Rows, item: &JsonRow) -> Option<(String, u64)> {
    match rows {
        Rows::Questions => Some((item.get("question_zh")?.as_str()?.into(), item.get("index")?.as_u64()?)),
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
    match end.rows() {
        Rows::Posts => each(last, |post: Post| Some(post_row(post))),
        Rows::Questions => in_order(questions(last, numbers)),
        Rows::Choices => each(last, items::choice),
        Rows::Texts => each(last, items::text),
        Rows::Jokes => each(last, |joke| Some(items::joke(joke))),
        Rows::Variants => each(last, |variant: Variant| variant_row(variant, numbers)),
        Rows::Responses | Rows::Puzzles => Box::new(std::iter::empty()),
    }
}

/// Rows with their numbers, by number.
fn in_order(rows: Result<Vec<(u64, Row)>, Error>) -> Box<dyn Iterator<Item = Result<Vec<Row>, Error>>> {
    let mut rows = match rows {
        Ok(rows) => rows,
        Err(e) => return Box::new(std::iter::once(Err(e))),
    };
    rows.sort_by_key(|(number, _)| *number);
    let mut rows = rows.into_iter().map(|(_, row)| row);
    Box::new(std::iter::from_fn(move || {
        let batch: Vec<Row> = rows.by_ref().take(BATCH).collect();
        (!batch.is_empty()).then_some(Ok(batch))
    }))
}

fn questions(last: &StageReader, numbers: &Ordinals) -> Result<Vec<(u64, Row)>, Error> {
    let mut rows = Vec::new();
    for part in last.parts::<Question>("rows") {
        for mut item in part?.into_iter().filter_map(items::question) {
            // Every item has one: `allot` went through the same records.
            item.index = numbers.find(INDEX, &item.source_id).unwrap_or_default();
            rows.push((item.index, item.row()));
        }
    }
    Ok(rows)
}
