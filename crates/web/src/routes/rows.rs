//! The rows of a release that an address asks for: searched, filtered, sorted and paged.

use std::cmp::Ordering;

use serde::Serialize;
use serde_json::Value;

use super::columns::{Column, cell_text};
use crate::error::PageError;
use crate::recipe::Recipe;
use crate::release::layout::{self, AnswerForm, ColumnKind, Layout};
use crate::release::read_rows::JsonRow;
use crate::release::shortcuts::right_option;
use crate::tables::{ConfigRows, ReleaseTable};
use crate::view;

/// Rows per page.
const PAGE: usize = 50;
/// Number of columns shown by default.
const FIRST: usize = 6;

/// The page of the table.
#[derive(Serialize)]
pub(super) struct RowsPage {
    recipe: &'static str,
    version: String,
    config: String,
    configs: Vec<String>,
    columns: Vec<Column>,
    rows: Vec<TableRow>,
    q: String,
    sort: String,
    descending: bool,
    /// Rows that were found, and all rows.
    found: usize,
    all: usize,
    withdrawn: usize,
    number: usize,
    pages: usize,
    /// The query without the page, the sorted column and the row.
    query: String,
    /// The query of what a download holds: the rows that were found, in their order.
    part: String,
    /// The query of this view, without anything that is so without being asked for.
    address: String,
    /// Columns that are asked for and not there.
    missing: Vec<String>,
    /// One whole row.
    whole: Option<TableRow>,
}

#[derive(Serialize)]
struct TableRow {
    /// Its index in the config.
    at: usize,
    cells: Vec<RowCell>,
    /// Columns that are not shown and hold what was searched for.
    elsewhere: Vec<String>,
    /// The record from which it was made.
    source: Option<String>,
}

#[derive(Serialize)]
struct RowCell {
    column: String,
    text: String,
    null: bool,
    options: Vec<ItemOption>,
}

/// An option of a multiple-choice item.
#[derive(Serialize)]
struct ItemOption {
    text: String,
    right: bool,
    /// What other columns say of it: of `options`, the lists `option_…`, such as its model and its score.
    notes: Vec<String>,
}

impl RowCell {
    fn of_row(row: &JsonRow, column: &str, layout: Option<&Layout>) -> RowCell {
        let value = row.get(column);
        let mut options = Vec::new();
        if let Some(AnswerForm::Choice { options: list, gold }) = layout.and_then(|l| Some(l.task?.answer))
            && list == column
        {
            let right = right_option(row, gold);
            let all = value.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
            let of_each = format!("{}_", list.trim_end_matches('s'));
            let lists = row.iter().filter(|(name, _)| name.starts_with(&of_each));
            let lists: Vec<&Vec<Value>> = lists.filter_map(|(_, value)| value.as_array()).collect();
            let choice = |(at, one): (usize, &Value)| ItemOption {
                text: cell_text(one),
                right: right == Some(at),
                notes: lists
                    .iter()
                    .filter(|list| list.len() == all.len())
                    .map(|list| note_text(&list[at]))
                    .collect(),
            };
            options = all.iter().enumerate().map(choice).collect();
        }
        RowCell {
            column: column.to_owned(),
            text: value.map(cell_text).unwrap_or_default(),
            null: value.is_some_and(Value::is_null),
            options,
        }
    }
}

/// What stands beside an option: a score to two places, as everywhere on the page.
fn note_text(value: &Value) -> String {
    match value.as_f64().filter(|_| value.is_f64()) {
        Some(score) => ((score * 100.0).round() / 100.0).to_string(),
        None => cell_text(value),
    }
}

/// The columns to be read first, as the set's folder declares them: the question, its options and answer, the
/// labels, the standing, and the scores.
fn first_columns(layout: &Layout) -> Vec<&'static str> {
    let mut first: Vec<&'static str> =
        layout.task.map(|task| task.question).or(layout.text_column()).into_iter().collect();
    match layout.task.map(|task| task.answer) {
        Some(AnswerForm::Choice { options, gold }) => first.extend([options, gold]),
        Some(AnswerForm::Words(answer)) => first.push(answer),
        None => {}
    }
    let scores =
        layout.columns.iter().filter(|column| column.kind == ColumnKind::Real).map(|column| column.name);
    first.extend(layout.labels.iter().copied().chain(layout.standing).chain(scores));
    first
}

fn compare_values(a: &Value, b: &Value) -> Ordering {
    match (a.as_f64(), b.as_f64()) {
        (Some(a), Some(b)) => a.total_cmp(&b),
        _ => cell_text(a).cmp(&cell_text(b)),
    }
}

/// What an address asks for.
pub(super) struct RowsQuery<'a>(&'a [(String, String)]);

impl<'a> RowsQuery<'a> {
    pub(super) fn new(query: &'a [(String, String)]) -> RowsQuery<'a> {
        RowsQuery(query)
    }

    fn get(&self, key: &str) -> &'a str {
        self.0.iter().find(|(known, _)| known == key).map_or("", |(_, value)| value.as_str())
    }

    fn values_of(&self, key: &str) -> Vec<&'a str> {
        self.0.iter().filter(|(known, _)| known == key).map(|(_, value)| value.as_str()).collect()
    }

    /// The columns whose values are asked for.
    fn filtered_columns(&self) -> impl Iterator<Item = &'a str> {
        let wanted = self.0.iter().filter(|(_, value)| !value.is_empty());
        wanted.filter_map(|(key, _)| key.strip_prefix("is."))
    }

    /// The query with only those parts that are asked for and that `keeps` accepts.
    fn filter_query(&self, keeps: impl Fn(&str) -> bool) -> String {
        let known = |key: &str| {
            ["config", "q", "sort", "order", "col", "page", "row"].contains(&key) || key.starts_with("is.")
        };
        let kept = self.0.iter().filter(|(key, value)| !value.is_empty() && known(key) && keeps(key));
        kept.map(|(key, value)| part_of(key, value)).collect()
    }

    fn find_config<'t>(&self, table: &'t ReleaseTable) -> Result<&'t ConfigRows, PageError> {
        let wanted = self.get("config");
        let config = table.configs.iter().find(|config| config.name == wanted || wanted.is_empty());
        config.ok_or_else(PageError::not_found)
    }
}

/// A query that nothing is added to.
fn end_query(query: &str) -> String {
    query.trim_end_matches('&').to_owned()
}

fn part_of(key: &str, value: &str) -> String {
    format!("{}={}&", view::encode_segment(key), view::encode_segment(value))
}

/// The rows that are asked for, in their order, of all that a config has.
pub(super) struct Part<'t> {
    pub(super) config: &'t ConfigRows,
    columns: Vec<Column>,
    names: Vec<String>,
    /// The index of each in the config.
    pub(super) rows: Vec<usize>,
    /// Columns that are asked for and not there.
    pub(super) missing: Vec<String>,
}

impl<'t> Part<'t> {
    /// Searches, filters and sorts.
    ///
    /// # Errors
    /// [`PageError`] if there is no such config.
    pub(super) fn find_rows(table: &'t ReleaseTable, asked: &RowsQuery<'_>) -> Result<Part<'t>, PageError> {
        let config = asked.find_config(table)?;
        let (name, rows) = (&config.name, &config.rows);
        let layout = layout::find_layout(name);
        let mut names: Vec<String> =
            layout.map_or(&[][..], |l| l.columns).iter().map(|c| c.name.into()).collect();
        // Columns without a layout; empty ones are left out.
        if let Some(first) = rows.first() {
            names.extend(first.keys().filter(|key| !names.contains(key)).cloned().collect::<Vec<_>>());
        }
        names.retain(|name| rows.is_empty() || rows.iter().any(|row| row.contains_key(name)));
        // A stable sort: the others follow in the order of the layout.
        let first = layout.map(first_columns).unwrap_or_default();
        names.sort_by_key(|name| first.iter().position(|known| known == name).unwrap_or(first.len()));
        let chosen = asked.values_of("col");
        let column = |(at, name): (usize, &String)| {
            let shown = if chosen.is_empty() { at < FIRST } else { chosen.contains(&name.as_str()) };
            Column::of_rows(name, rows, layout, shown, asked.get(&format!("is.{name}")).to_owned())
        };
        let mut columns: Vec<Column> = names.iter().enumerate().map(column).collect();
        let wanted = asked.get("q").trim().to_lowercase();
        let mut found: Vec<usize> = Vec::new();
        for (at, row) in rows.iter().enumerate() {
            if !wanted.is_empty() && !row.values().any(|value| has_text(value, &wanted)) {
                continue;
            }
            // A bar says how many rows a click on it shows, so its own filter does not count.
            let fails: Vec<usize> = columns
                .iter()
                .enumerate()
                .filter(|(_, column)| !column.has_wanted_value(row))
                .map(|(at, _)| at)
                .take(2)
                .collect();
            match fails[..] {
                [] => {
                    columns.iter_mut().for_each(|column| column.count_row(row));
                    found.push(at);
                }
                [only] => columns[only].count_row(row),
                _ => {}
            }
        }
        let sort = asked.get("sort").to_owned();
        if names.contains(&sort) {
            let null = Value::Null;
            let value = |at: usize| rows[at].get(&sort).unwrap_or(&null);
            found.sort_by(|a, b| compare_values(value(*a), value(*b)));
            if asked.get("order") == "down" {
                found.reverse();
            }
        }
        let others = asked.filtered_columns().chain(asked.values_of("col")).chain([asked.get("sort")]);
        let others = others.filter(|name| !name.is_empty() && !names.iter().any(|known| known == name));
        let missing = others.map(str::to_owned).collect();
        Ok(Part { config, columns, names, rows: found, missing })
    }

    /// The rows themselves.
    pub(super) fn rows(&self) -> impl Iterator<Item = &'t JsonRow> {
        self.rows.iter().filter_map(|at| self.config.rows.get(*at))
    }
}

fn has_text(value: &Value, wanted: &str) -> bool {
    cell_text(value).to_lowercase().contains(wanted)
}

/// The page that is asked for.
///
/// # Errors
/// [`PageError`] if there is no such config.
pub(super) fn find_page(
    table: &ReleaseTable,
    recipe: &'static Recipe,
    version: String,
    asked: &RowsQuery<'_>,
) -> Result<RowsPage, PageError> {
    let Part { config, mut columns, names, rows: found, missing } = Part::find_rows(table, asked)?;
    let rows = &config.rows;
    let layout = layout::find_layout(&config.name);
    for column in &mut columns {
        let own = format!("is.{}", column.name);
        let others = asked.filter_query(|key| key != own && key != "page" && key != "row");
        column.finish(|_, value| match value {
            "" => others.clone(),
            value => others.clone() + &part_of(&own, value),
        });
    }
    let wanted = asked.get("q").trim().to_lowercase();
    let row = |at: usize, row: &JsonRow, every: bool| TableRow {
        at,
        cells: columns
            .iter()
            .filter(|column| every || column.shown)
            .map(|column| RowCell::of_row(row, &column.name, layout))
            .collect(),
        elsewhere: columns
            .iter()
            .filter(|column| !wanted.is_empty() && !every && !column.shown)
            .filter(|column| row.get(&column.name).is_some_and(|value| has_text(value, &wanted)))
            .map(|column| column.name.clone())
            .collect(),
        source: ["source_id", "post_id"].iter().find_map(|key| row.get(*key)?.as_str().map(str::to_string)),
    };
    let pages = found.len().div_ceil(PAGE).max(1);
    let number = asked.get("page").parse().unwrap_or(1_usize).clamp(1, pages);
    let whole = asked.get("row").parse::<usize>().ok();
    let whole = whole.and_then(|at| Some(row(at, rows.get(at)?, true)));
    let is_usual = asked.values_of("col").is_empty()
        || columns.iter().enumerate().all(|(at, column)| column.shown == (at < FIRST));
    let page = asked.get("page");
    Ok(RowsPage {
        recipe: recipe.name,
        version,
        config: config.name.clone(),
        configs: table.configs.iter().map(|config| config.name.clone()).collect(),
        rows: found
            .iter()
            .skip((number - 1) * PAGE)
            .take(PAGE)
            .filter_map(|at| Some(row(*at, rows.get(*at)?, false)))
            .collect(),
        q: asked.get("q").to_string(),
        sort: Some(asked.get("sort"))
            .filter(|sort| names.iter().any(|name| name == sort))
            .unwrap_or("")
            .into(),
        descending: asked.get("order") == "down",
        found: found.len(),
        all: rows.len(),
        withdrawn: table.withdrawn,
        number,
        pages,
        query: asked.filter_query(|key| !["page", "row", "sort", "order"].contains(&key)),
        part: end_query(&asked.filter_query(|key| !["page", "row", "col"].contains(&key))),
        address: end_query(
            &asked.filter_query(|key| (key != "col" || !is_usual) && (key != "page" || page != "1")),
        ),
        missing,
        whole,
        columns,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::columns::{NULL, labels_of};
    use super::*;

    #[test]
    fn the_question_comes_first_and_the_right_option_is_marked() {
        let row =
            json!({ "id": "00ff", "text": "t", "options": ["a", "b", "c", "d"], "answer": 2, "type": null });
        let rows = [row.as_object().unwrap().clone()];
        let layout = layout::finished_layouts()
            .find(|layout| matches!(layout.task.map(|task| task.answer), Some(AnswerForm::Choice { .. })))
            .unwrap();
        let first = first_columns(layout);
        assert_eq!(first[0], layout.task.unwrap().question);
        assert_ne!(first[0], layout.columns[0].name, "the id is not what a reader looks for");
        assert_eq!(labels_of(rows[0].get("type")), [NULL], "null can be asked for");
        let Some(AnswerForm::Choice { options, gold }) = layout.task.map(|task| task.answer) else { return };
        let of_each = format!("{}_scores", options.trim_end_matches('s'));
        let row = json!({ options: ["a", "b", "c", "d"], gold: 2, of_each: [1, 2.5, 3.6666666666666665, 4] });
        let cell = RowCell::of_row(row.as_object().unwrap(), options, Some(layout));
        let right: Vec<bool> = cell.options.iter().map(|option| option.right).collect();
        assert_eq!(right, [false, false, true, false]);
        let notes: Vec<&str> = cell.options.iter().map(|option| option.notes[0].as_str()).collect();
        assert_eq!(notes, ["1", "2.5", "3.67", "4"], "an option stands with its score");
    }

    #[test]
    fn rows_are_searched_filtered_sorted_and_paged() {
        let row = |n: usize| {
            let kind = if n.is_multiple_of(2) { "pun" } else { "paradox" };
            let row = json!({ "id": format!("i{n}"), "text": format!("text {n}"), "type": kind, "size": n });
            row.as_object().unwrap().clone()
        };
        let config = ConfigRows {
            name: "none-known".into(),
            rows: (0..120).map(row).collect(),
            places: (0..120).collect(),
        };
        let table = ReleaseTable { configs: vec![config], withdrawn: 0 };
        let recipe = crate::recipe::find_recipe("flub").unwrap();
        let look = |asked: &[(&str, &str)]| {
            let asked: Vec<(String, String)> =
                asked.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect();
            find_page(&table, recipe, "candidate".into(), &RowsQuery::new(&asked)).unwrap()
        };
        let all = look(&[]);
        assert_eq!((all.found, all.pages, all.rows.len()), (120, 3, PAGE));
        assert_eq!(look(&[("q", "TEXT 11")]).found, 11);
        assert_eq!(look(&[("is.type", "pun")]).found, 60);
        let sorted = look(&[("sort", "size"), ("order", "down"), ("page", "9")]);
        assert_eq!((sorted.number, sorted.rows[0].at), (3, 19), "numbers are sorted as numbers");
        assert_eq!(look(&[("is.type", NULL)]).found, 0, "no type is null");
        assert_eq!(look(&[("is.size", "10..20")]).found, 10, "a range of numbers");
        let both = look(&[("is.type", "pun"), ("is.size", "10..20")]);
        assert_eq!(both.found, 5);
        let whole = look(&[("row", "7"), ("col", "id")]);
        assert_eq!((whole.rows[0].cells.len(), whole.whole.unwrap().cells.len()), (1, 4));
        let hidden = look(&[("q", "pun"), ("col", "id")]);
        assert_eq!(hidden.rows[0].elsewhere, ["type"], "where it was found is said");
        assert_eq!(look(&[("is.nothing", "1"), ("sort", "x")]).missing, ["nothing", "x"]);
    }

    #[test]
    fn the_address_of_a_view_says_what_was_asked_for_and_no_more() {
        let config = ConfigRows {
            name: "none-known".into(),
            rows: vec![json!({ "id": "a", "text": "b" }).as_object().unwrap().clone()],
            places: vec![0],
        };
        let table = ReleaseTable { configs: vec![config], withdrawn: 0 };
        let asked = [("q", "灯"), ("is.type", ""), ("col", "id"), ("col", "text"), ("page", "1"), ("x", "y")];
        let asked: Vec<(String, String)> = asked.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect();
        let found = find_page(
            &table,
            crate::recipe::find_recipe("flub").unwrap(),
            "candidate".into(),
            &RowsQuery::new(&asked),
        );
        assert_eq!(found.unwrap().address, "q=%E7%81%AF");
    }
}
