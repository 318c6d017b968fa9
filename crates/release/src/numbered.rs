//! From the records at a recipe's end to released rows and their numbers.

use std::collections::BTreeMap;
use std::path::Path;

use riddlemill_benchmarks::data::{Data, ItemNumber, PUBLISHED, Series};
use riddlemill_benchmarks::splits::WHOLE;
use rustc_hash::FxHashMap;

use super::division::{Division, MadeRow, comparison_settings};
use super::item::{NoRow, Optional, RowContext, Seen, error_of_trouble, series_of_numbers};
use super::layout::{self, Layout, oddity, post_row};
use super::read_rows::JsonRow;
use super::registry::{Ordinals, Registry};
use super::row::Row;
use super::source::{CandidateSource, published_rows};
use crate::recipe::{RECIPES, Recipe};
use crate::record::{self, Column, Post, PostKind, Record};
use crate::stages::StageRows;
use crate::stages::import::{kinds_of_files, source_kind};
use crate::stages::published::Published;
use crate::store::{Error, Lock, Manifest, StageReader, Workspace, json_parts};

/// Batch size for rows that had to be sorted first.
const BATCH: usize = 1 << 16;

/// Rows in batches.
type Batches<'a> = Box<dyn Iterator<Item = Result<Vec<Row>, Error>> + 'a>;

/// Assigns numbers to the rows of a step: registered ones, and new ones in the order of the step's records. A
/// release registers them; a candidate shows those that a release would register now.
pub(super) fn allot_numbers(
    workspace: &Workspace,
    end: CandidateSource,
    last: &StageReader,
) -> Result<Ordinals, Error> {
    let mut numbers = read_known_numbers(workspace, end.recipe())?;
    let items = numbered_items(workspace, end, last)?;
    // Numbers of a published set are kept; new ones follow them.
    let published = Published::load(workspace, end.recipe().name)?;
    for item in items.iter().filter(|item| record::is_published(&item.key)) {
        if let Some(number) = published.of_record(&item.key).find_map(|row| row.number) {
            numbers.assign_published(&item.series, &item.key, number);
        }
    }
    for item in items {
        numbers.assign_number(&item.series, item.first, &item.key);
    }
    if let Some(division) = divide_rows(workspace, end, last, &numbers)? {
        numbers.set_division(division);
    }
    Ok(numbers)
}

/// The splits of a set's rows, which a release registers; `None` if none are declared.
fn divide_rows(
    workspace: &Workspace,
    end: CandidateSource,
    last: &StageReader,
    numbers: &Ordinals,
) -> Result<Option<Division>, Error> {
    let recipe = end.recipe();
    let declared = data_of(recipe)
        .filter(|_| end.row_kind() != StageRows::Posts && end.row_kind() == recipe.kind_of_rows());
    let Some(splits) = declared.and_then(|data| data.splits.as_ref()) else { return Ok(None) };
    let Some(rows) = Declared::new(end, last, numbers)? else { return Ok(None) };
    let (mut stages, mut pairs) = (Vec::new(), Vec::new());
    for step in recipe.steps() {
        let place = workspace.stage_folder(recipe.name, step.number, step.name);
        let Some(made) = StageReader::open(&place)? else { continue };
        stages.push(made.manifest().settings.clone());
        if step.stage.compares_pairs() && made.manifest().tables.contains_key("pairs") {
            for part in json_parts(&made, "pairs", &["a", "b"]) {
                let side = |pair: &JsonRow, side: &str| Some(pair.get(side)?.as_str()?.to_owned());
                pairs.extend(part?.iter().filter_map(|pair| side(pair, "a").zip(side(pair, "b"))));
            }
        }
    }
    let known = Registry::open(workspace, recipe.name)?.allotted_splits();
    let made = rows.make_rows(end.row_kind().columns(), last)?;
    Ok(Some(Division::new(splits, &rows.layout, &made, &known, &pairs, &comparison_settings(&stages))))
}

/// The locks for registering numbers: the recipe's, and that of the recipe whose numbers it shares.
pub(super) fn lock_numbers(workspace: &Workspace, recipe: &'static Recipe) -> Result<Vec<Lock>, Error> {
    let shared = Some(recipe.origin_recipe().name).filter(|origin| *origin != recipe.name);
    let names = std::iter::once(recipe.name).chain(shared);
    names.map(|name| Lock::take_lock(&workspace.recipe_folder(name))).collect()
}

/// The numbers in the registries of all recipes made of the same records: an item of RuozhiBench-MC has the
/// number of its question in RuozhiBench-Gen, whichever of the two is released first.
pub(super) fn read_known_numbers(workspace: &Workspace, recipe: &'static Recipe) -> Result<Ordinals, Error> {
    let mut numbers = Registry::open(workspace, recipe.name)?.collect_ordinals();
    for other in RECIPES.iter().filter(|other| other.name != recipe.name) {
        if other.origin_recipe().name == recipe.origin_recipe().name {
            numbers.merge_known(&Registry::open(workspace, other.name)?.collect_ordinals());
        }
    }
    Ok(numbers)
}

/// An item with a number.
pub(super) struct Numbered {
    /// The series of the number.
    pub series: String,
    /// The first number of that series.
    pub first: u64,
    /// The record's key.
    pub key: String,
    /// The text by which the number is found in a published file.
    pub text: String,
}

/// The items of a step that have a number; empty if rows are identified otherwise.
pub(super) fn numbered_items(
    workspace: &Workspace,
    end: CandidateSource,
    last: &StageReader,
) -> Result<Vec<Numbered>, Error> {
    let none = || Ok(Vec::new());
    let Some(data) = data_of(end.recipe()).filter(|_| end.row_kind() != StageRows::Posts) else {
        return none();
    };
    match data.number.as_ref() {
        None => none(),
        Some(ItemNumber::Own(series)) => numbered_of(end.row_kind(), end.recipe(), data, series, last),
        // Including those that did not get so far here: the other benchmark counts them.
        Some(ItemNumber::Of(_)) => {
            let step =
                end.recipe().steps().first().and_then(|step| end.recipe().find_input(step.inputs.first()?));
            let Some(((recipe, number, step), series)) = step.zip(series_of_numbers(data)) else {
                return none();
            };
            let Some(questions) = StageReader::open(&workspace.stage_folder(recipe.name, number, step.name))?
            else {
                return none();
            };
            let Some(data) = data_of(recipe) else { return none() };
            numbered_of(step.stage.rows(), recipe, data, series, &questions)
        }
    }
}

fn numbered_of(
    rows: StageRows,
    recipe: &Recipe,
    data: &'static Data,
    series: &Series,
    step: &StageReader,
) -> Result<Vec<Numbered>, Error> {
    let Some(layout) = layout::find_layout(recipe.name) else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    for part in step.parts_of::<record::Row>(rows.columns(), "rows") {
        for record in part? {
            let seen = Seen::new(&record, data).map_err(error_of_trouble)?;
            let (name, key) = seen.series_and_key(series).map_err(error_of_trouble)?;
            let text = seen.key_text(series).map_err(error_of_trouble)?;
            if is_item(record.id(), seen, data, layout)? {
                found.push(Numbered { series: name, first: series.first, key, text });
            }
        }
    }
    Ok(found)
}

/// Whether a record is an item, whatever its number and standing.
fn is_item(id: &str, seen: Seen, data: &Data, layout: &Layout) -> Result<bool, Error> {
    Ok(row_of_record(id, seen, data, layout)?.is_ok())
}

/// The row of a record, whatever its number and standing, or why it is none.
pub(super) fn row_of_record(
    id: &str,
    seen: Seen,
    data: &Data,
    layout: &Layout,
) -> Result<Result<Row, NoRow>, Error> {
    let any = Optional::new();
    // A row of a published file may lack values that others have.
    let layout = if record::is_published(id) { layout.with_columns(&[PUBLISHED]) } else { *layout };
    let beside =
        RowContext { number: Some(0), optional: &any, source_kind: Some(String::new()), published: None };
    seen.make_row(data, &layout, beside).map_err(error_of_trouble)
}

/// Whether a benchmark declares what is released of its records.
pub fn is_published(recipe: &Recipe) -> bool {
    data_of(recipe).is_some()
}

/// What is released of a benchmark's records.
pub(super) fn data_of(recipe: &Recipe) -> Option<&'static Data> {
    riddlemill_benchmarks::find_benchmark(recipe.name)?.data.as_ref()
}

/// Text and number of an item in the published form.
pub(super) fn published_number(recipe: &Recipe, item: &JsonRow) -> Option<(String, u64)> {
    let (text, number) = series_of_numbers(data_of(recipe)?)?.published?;
    Some((item.get(text)?.as_str()?.into(), item.get(number)?.as_u64()?))
}

/// The released rows of a candidate's last step, a part at a time, those of each split together: posts in the order of the
/// step, numbered items in the order of their numbers, so that old rows keep their places.
pub(super) fn released_rows<'a>(
    end: CandidateSource,
    last: &'a StageReader,
    numbers: &'a Ordinals,
) -> Batches<'a> {
    Box::new(rows_by_file(end, last, numbers).into_iter().flat_map(|(_, batches)| batches))
}

/// The rows of each file, by its name: those of each split, or all.
pub(super) fn rows_by_file<'a>(
    end: CandidateSource,
    last: &'a StageReader,
    numbers: &'a Ordinals,
) -> Vec<(&'static str, Batches<'a>)> {
    let Some(division) = numbers.division() else { return vec![(WHOLE, undivided_rows(end, last, numbers))] };
    // Read once, whatever the number of splits; the rows were all in memory when they were divided.
    let mut of_splits: Vec<Vec<Result<Vec<Row>, Error>>> =
        division.names.iter().map(|_| Vec::new()).collect();
    for batch in undivided_rows(end, last, numbers) {
        let mut of_batch: Vec<Vec<Row>> = division.names.iter().map(|_| Vec::new()).collect();
        match batch {
            Ok(rows) => rows.into_iter().for_each(|row| {
                if let Some(split) = division.split_of_row(row.id()) {
                    of_batch[split].push(row);
                }
            }),
            Err(e) => {
                of_splits[0].push(Err(e));
                break;
            }
        }
        // A file holds no empty batches.
        for (split, rows) in of_splits.iter_mut().zip(of_batch).filter(|(_, rows)| !rows.is_empty()) {
            split.push(Ok(rows));
        }
    }
    let boxed = |batches: Vec<Result<Vec<Row>, Error>>| -> Batches<'a> { Box::new(batches.into_iter()) };
    division.names.iter().copied().zip(of_splits.into_iter().map(boxed)).collect()
}

/// The rows, whatever their splits.
fn undivided_rows<'a>(end: CandidateSource, last: &'a StageReader, numbers: &'a Ordinals) -> Batches<'a> {
    if end.row_kind() == StageRows::Posts {
        let row = |part: Result<Vec<Post>, Error>| Ok(part?.into_iter().map(post_row).collect());
        return Box::new(last.read_parts::<Post>("rows").map(row));
    }
    match Declared::new(end, last, numbers) {
        Ok(Some(declared)) => declared.row_batches(end.row_kind().columns(), last),
        Ok(None) => Box::new(std::iter::empty()),
        Err(e) => Box::new(std::iter::once(Err(e))),
    }
}

/// The record behind each row, by the row's id.
pub(super) fn records_by_row(
    end: CandidateSource,
    last: &StageReader,
    numbers: &Ordinals,
) -> Result<FxHashMap<String, String>, Error> {
    let mut found = FxHashMap::default();
    let Some(declared) = Declared::new(end, last, numbers)? else { return Ok(found) };
    for part in last.parts_of::<record::Row>(end.row_kind().columns(), "rows") {
        for record in part? {
            if let Some((_, row)) = declared.row_with_place(&record)? {
                found.insert(row.id().to_owned(), record.id().to_owned());
            }
        }
    }
    Ok(found)
}

/// A row's sort key: its place in a published file, or its number after all of those.
type RowSortKey = (usize, u64);

/// The inputs of a declared set's rows, other than their records.
struct Declared<'a> {
    data: &'static Data,
    layout: Layout,
    series: Option<&'static Series>,
    numbers: &'a Ordinals,
    optional: Optional,
    /// The kinds of the imported files, if a column uses them.
    kinds: Option<BTreeMap<String, String>>,
    /// The published rows from which records come.
    published: Published,
    recipe: &'static Recipe,
}

impl<'a> Declared<'a> {
    fn new(end: CandidateSource, last: &StageReader, numbers: &'a Ordinals) -> Result<Option<Self>, Error> {
        let layout = end.published_layouts(last)?.into_iter().next();
        let Some((data, layout)) = data_of(end.recipe()).zip(layout) else { return Ok(None) };
        let kinds = match data.is_name_used("source_kind") {
            false => None,
            true => {
                // A recipe's stages are sibling folders.
                let stages = last.folder().parent().map(Path::to_path_buf).unwrap_or_default();
                let import = stages.join(format!("01_{}", end.recipe().steps()[0].name));
                Some(
                    StageReader::open(&import)?.as_ref().map(kinds_of_files).transpose()?.unwrap_or_default(),
                )
            }
        };
        let optional = optional_reviews(end, last)?;
        let (series, recipe) = (series_of_numbers(data), end.recipe());
        let published = published_rows(recipe, last)?;
        Ok(Some(Declared { data, layout, series, numbers, optional, kinds, published, recipe }))
    }

    fn row_batches(self, columns: &'static [Column], last: &'a StageReader) -> Batches<'a> {
        // Rows of published files keep their order, whichever of a group comes first.
        if self.series.is_some_and(|series| series.in_order) || !self.published.is_empty() {
            return in_order(&self, columns, last);
        }
        Box::new(last.parts_of::<record::Row>(columns, "rows").map(move |part| {
            let mut rows = Vec::new();
            for record in part? {
                rows.extend(self.row_with_place(&record)?.map(|(_, row)| row));
            }
            Ok(rows)
        }))
    }

    /// Every row with what it was made from, in the order of the set.
    fn make_rows(&self, columns: &'static [Column], last: &StageReader) -> Result<Vec<MadeRow>, Error> {
        let mut found = Vec::new();
        for part in last.parts_of::<record::Row>(columns, "rows") {
            for record in part? {
                if let Some((place, row)) = self.row_with_place(&record)? {
                    let post = post_of(&record);
                    found.push((place, MadeRow { row, record: record.id().to_owned(), post }));
                }
            }
        }
        found.sort_by_key(|(place, _)| *place);
        Ok(found.into_iter().map(|(_, made)| made).collect())
    }

    /// The row of a record, with its sort key: its place in a published file, else after those its number, or
    /// the stage's order.
    fn row_with_place(&self, record: &record::Row) -> Result<Option<(RowSortKey, Row)>, Error> {
        let row = self.row_with_number(record, None)?;
        let Some((at, of_file)) = self.published.row_of(record.id(), self.recipe.name) else {
            let numbered = self.series.is_some_and(|series| series.in_order);
            return Ok(row.map(|(number, row)| ((usize::MAX, if numbered { number } else { 0 }), row)));
        };
        let untouched =
            self.row_with_number(&self.published.record_from_row(record, of_file, self.recipe.name), None)?;
        let Some(((number, row), (_, untouched))) = row.zip(untouched) else { return Ok(None) };
        let form = |row: &Row| -> Result<Option<serde_json::Map<_, _>>, Error> {
            for compat in self.layout.compat {
                if let Some(form) = self.layout.published_form(compat, row).map_err(error_of_trouble)? {
                    return Ok(Some(form));
                }
            }
            Ok(None)
        };
        let Some((now, then)) = form(&row)?.zip(form(&untouched)?) else {
            return Ok(Some(((at, number), row)));
        };
        let beside = oddity::find_deviations(&of_file.members_of_row(), &now, &then);
        if beside.is_none() {
            return Ok(Some(((at, number), row)));
        }
        Ok(self.row_with_number(record, beside)?.map(|(number, row)| ((at, number), row)))
    }

    /// The row of a record, with its number and original text.
    fn row_with_number(
        &self,
        record: &record::Row,
        published: Option<String>,
    ) -> Result<Option<(u64, Row)>, Error> {
        let seen = Seen::new(record, self.data).map_err(error_of_trouble)?;
        let number = match self.series {
            None => None,
            Some(series) => {
                let (name, key) = seen.series_and_key(series).map_err(error_of_trouble)?;
                // Every item has a number: `allot` used the same records.
                let Some(number) = self.numbers.number_of_key(&name, &key) else { return Ok(None) };
                Some(number)
            }
        };
        let source_kind = self.kinds.as_ref().map(|kinds| {
            let text = |name: &str| seen.text_of_column(name).unwrap_or_default();
            let numbered = text("kind") == PostKind::Numbered.code();
            source_kind(kinds, numbered, &text("source"), &text("file"))
        });
        let beside = RowContext { number, optional: &self.optional, source_kind, published };
        let row = seen.row_if_item(self.data, &self.layout, beside).map_err(error_of_trouble)?;
        Ok(row.map(|row| (number.unwrap_or_default(), row)))
    }
}

/// The post that a record was made from: its place in a dump, and its number there.
fn post_of(record: &record::Row) -> String {
    let text = |column: &str| record.text(column).unwrap_or_default();
    match record.count("position") {
        None => record.id().to_owned(),
        Some(position) => {
            let number = record.count("number").map(|number| number.to_string()).unwrap_or_default();
            format!("{} {} {position} {number}", text("source"), text("file"))
        }
    }
}

/// The reviews that were non-blocking when the stages were made, from the manifests of the recipe's stages.
fn optional_reviews(end: CandidateSource, last: &StageReader) -> Result<Optional, Error> {
    let mut optional = Optional::new();
    let Some(root) = last.folder().ancestors().nth(3) else { return Ok(optional) };
    let recipe = end.recipe();
    for step in recipe.steps() {
        let Some(review) = step.stage.declared_review() else { continue };
        let made = Manifest::read_from_stage(&Workspace::new(root).stage_folder(
            recipe.name,
            step.number,
            step.name,
        ))?;
        if made.is_some_and(|made| made.settings.get("optional") == Some(&true.into())) {
            optional.insert(review.benchmark_and_ballot().1);
        }
    }
    Ok(optional)
}

/// Rows sorted by their places.
fn in_order<'a>(declared: &Declared<'_>, columns: &'static [Column], last: &StageReader) -> Batches<'a> {
    let mut rows = Vec::new();
    for part in last.parts_of::<record::Row>(columns, "rows") {
        let part = part.and_then(|part| {
            part.iter().map(|record| declared.row_with_place(record)).collect::<Result<Vec<_>, _>>()
        });
        match part {
            Ok(part) => rows.extend(part.into_iter().flatten()),
            Err(e) => return Box::new(std::iter::once(Err(e))),
        }
    }
    rows.sort_by_key(|(place, _)| *place);
    let mut rows = rows.into_iter().map(|(_, row)| row);
    Box::new(std::iter::from_fn(move || {
        let batch: Vec<Row> = rows.by_ref().take(BATCH).collect();
        (!batch.is_empty()).then_some(Ok(batch))
    }))
}
