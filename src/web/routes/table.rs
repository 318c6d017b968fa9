//! A release as a table: columns, search, filters and sorting; a whole row; its files for download; its card.

use std::cmp::Ordering;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, Query, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use futures_util::{StreamExt, stream};
use serde::Serialize;
use serde_json::{Value, json};
use tokio::io::AsyncReadExt;

use super::releases::known;
use crate::pipeline::Withheld;
use crate::recipe::Recipe;
use crate::release::layout::{self, Layout};
use crate::release::read_rows::{self, JsonRow};
use crate::release::shortcuts::right_option;
use crate::release::{Candidate, listed};
use crate::stages::withdrawal::Withdrawals;
use crate::store::Error;
use crate::web::app::{App, reading, recipe};
use crate::web::error::PageError;
use crate::web::tables::Table;
use crate::web::view;
use crate::web::visitor::Visitor;
use riddlemill_benchmarks::data::Answer;
use riddlemill_files::fence;

/// Rows per page.
const PAGE: usize = 50;
/// Number of columns shown by default.
const FIRST: usize = 6;
/// Most values offered for a column's filter.
const VALUES: usize = 40;
/// Stands for null among the values of a filter.
const NULL: &str = "∅";
/// Bytes of a file sent at a time.
const CHUNK: usize = 64 << 10;

#[derive(Serialize)]
struct Found {
    recipe: &'static str,
    version: String,
    config: String,
    configs: Vec<String>,
    columns: Vec<Column>,
    rows: Vec<Row>,
    q: String,
    sort: String,
    descending: bool,
    found: usize,
    withdrawn: usize,
    number: usize,
    pages: usize,
    /// The query without the page, the sorted column and the row.
    query: String,
    /// One whole row.
    whole: Option<Row>,
}

#[derive(Serialize)]
struct Column {
    name: String,
    about: &'static str,
    shown: bool,
    /// The values to choose from, for a label column.
    values: Vec<String>,
    /// The chosen value.
    wanted: String,
}

#[derive(Serialize)]
struct Row {
    /// Its index in the config.
    at: usize,
    cells: Vec<Cell>,
    /// The record from which it was made.
    source: Option<String>,
}

#[derive(Serialize)]
struct Cell {
    column: String,
    text: String,
    null: bool,
    /// The options of a multiple-choice item, each with whether it is the right one.
    options: Vec<(String, bool)>,
}

impl Cell {
    fn of(row: &JsonRow, column: &str, layout: Option<&Layout>) -> Cell {
        let value = row.get(column);
        let mut options = Vec::new();
        if let Some(Answer::Choice { options: list, gold }) = layout.and_then(|l| Some(l.task?.answer))
            && list == column
        {
            let right = right_option(row, gold);
            let all = value.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
            options = all.iter().enumerate().map(|(at, one)| (shown(one), right == Some(at))).collect();
        }
        Cell {
            column: column.to_owned(),
            text: value.map(shown).unwrap_or_default(),
            null: value.is_some_and(Value::is_null),
            options,
        }
    }
}

/// The columns to be read first, as the set's folder declares them: the question, its options and answer, the
/// labels, and the standing.
fn first_columns(layout: &Layout) -> Vec<&'static str> {
    let mut first: Vec<&'static str> =
        layout.task.map(|task| task.question).or(layout.text()).into_iter().collect();
    match layout.task.map(|task| task.answer) {
        Some(Answer::Choice { options, gold }) => first.extend([options, gold]),
        Some(Answer::Words(answer)) => first.push(answer),
        None => {}
    }
    first.extend(layout.labels.iter().copied().chain(layout.standing));
    first
}

/// A value in a cell.
fn shown(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(list) if list.iter().all(Value::is_string) => {
            list.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" · ")
        }
        other => other.to_string(),
    }
}

fn order(a: &Value, b: &Value) -> Ordering {
    match (a.as_f64(), b.as_f64()) {
        (Some(a), Some(b)) => a.total_cmp(&b),
        _ => shown(a).cmp(&shown(b)),
    }
}

fn table(app: &App, recipe: &'static Recipe, folder: &std::path::Path) -> Result<Arc<Table>, PageError> {
    let manifest = Candidate::read(folder)?.ok_or_else(PageError::not_found)?;
    // The manifest has the hashes of all other files, so it identifies the content of the folder.
    let state = blake3::hash(&manifest.to_bytes()).to_hex().to_string();
    let key = (folder.to_path_buf(), state, Withdrawals::length(&app.workspace));
    app.tables.0.get((), key, || {
        let mut configs = read_rows::of_folder(folder)?;
        let withheld = Withheld::open(&app.workspace, recipe)?;
        let mut withdrawn = 0;
        for (_, rows) in &mut configs {
            let mut is_withdrawn = withheld.rows(rows)?.into_iter();
            let before = rows.len();
            rows.retain(|_| !is_withdrawn.next().unwrap_or_default());
            withdrawn += before - rows.len();
        }
        Ok::<_, PageError>(Table { configs, withdrawn })
    })
}

/// The table.
pub(in crate::web) async fn page(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path((name, version)): Path<(String, String)>,
    Query(asked): Query<Vec<(String, String)>>,
) -> Result<Response, PageError> {
    let recipe = recipe(&name)?;
    let found = reading(move || {
        let folder = known(&app, recipe, &version)?;
        find(&*table(&app, recipe, &folder)?, recipe, version, &asked)
    })
    .await?;
    view::page(&visitor, "table.html", found)
}

fn find(
    table: &Table,
    recipe: &'static Recipe,
    version: String,
    asked: &[(String, String)],
) -> Result<Found, PageError> {
    let get =
        |key: &str| asked.iter().find(|(known, _)| known == key).map_or("", |(_, value)| value.as_str());
    let all = |key: &str| asked.iter().filter(|(known, _)| known == key).map(|(_, v)| v.as_str()).collect();
    let wanted = get("config");
    let (config, rows) = table
        .configs
        .iter()
        .find(|(name, _)| name == wanted || wanted.is_empty())
        .ok_or_else(PageError::not_found)?;
    let layout = layout::find(config);
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
    let chosen: Vec<&str> = all("col");
    let labels = layout.map_or(&[][..], |layout| layout.labels);
    let column = |(at, name): (usize, &String)| {
        let mut values: Vec<String> = Vec::new();
        if labels.contains(&name.as_str()) {
            values = rows.iter().flat_map(|row| labels_of(row.get(name))).collect();
            values.sort();
            values.dedup();
            values.truncate(VALUES);
        }
        let about = layout.and_then(|l| l.columns.iter().find(|c| c.name == name)).map_or("", |c| c.about);
        let shown = if chosen.is_empty() { at < FIRST } else { chosen.contains(&name.as_str()) };
        let wanted = get(&format!("is.{name}")).to_string();
        Column { name: name.clone(), about, shown, values, wanted }
    };
    let columns: Vec<Column> = names.iter().enumerate().map(column).collect();
    let wanted = get("q").trim().to_lowercase();
    let fits = |(_, row): &(usize, &JsonRow)| {
        let holds =
            wanted.is_empty() || row.values().any(|value| shown(value).to_lowercase().contains(&wanted));
        let of_filter = |column: &Column| {
            column.wanted.is_empty() || labels_of(row.get(&column.name)).contains(&column.wanted)
        };
        holds && columns.iter().all(of_filter)
    };
    let mut found: Vec<(usize, &JsonRow)> = rows.iter().enumerate().filter(fits).collect();
    let (sort, descending) = (get("sort").to_string(), get("order") == "down");
    if names.contains(&sort) {
        found.sort_by(|(_, a), (_, b)| {
            let null = Value::Null;
            order(a.get(&sort).unwrap_or(&null), b.get(&sort).unwrap_or(&null))
        });
        if descending {
            found.reverse();
        }
    }
    let row = |at: usize, row: &JsonRow, every: bool| Row {
        at,
        cells: columns
            .iter()
            .filter(|column| every || column.shown)
            .map(|column| Cell::of(row, &column.name, layout))
            .collect(),
        source: ["source_id", "post_id"].iter().find_map(|key| row.get(*key)?.as_str().map(str::to_string)),
    };
    let pages = found.len().div_ceil(PAGE).max(1);
    let number = get("page").parse().unwrap_or(1_usize).clamp(1, pages);
    let whole = get("row").parse::<usize>().ok();
    let whole = whole.and_then(|at| Some(row(at, rows.get(at)?, true)));
    let kept = asked.iter().filter(|(key, value)| !value.is_empty() && key != "page" && key != "row");
    let unsorted = kept.clone().filter(|(key, _)| key != "sort" && key != "order");
    let query: String =
        unsorted.map(|(key, value)| format!("{}={}&", view::encoded(key), view::encoded(value))).collect();
    Ok(Found {
        recipe: recipe.name,
        version,
        config: config.clone(),
        configs: table.configs.iter().map(|(name, _)| name.clone()).collect(),
        rows: found
            .iter()
            .skip((number - 1) * PAGE)
            .take(PAGE)
            .map(|(at, found)| row(*at, found, false))
            .collect(),
        q: get("q").to_string(),
        sort,
        descending,
        found: found.len(),
        withdrawn: table.withdrawn,
        number,
        pages,
        query,
        whole,
        columns,
    })
}

/// The labels in a cell, separately.
fn labels_of(value: Option<&Value>) -> Vec<String> {
    match value {
        Some(Value::Null) => vec![NULL.to_owned()],
        Some(Value::Array(several)) => several.iter().map(shown).collect(),
        Some(one) => vec![shown(one)],
        None => Vec::new(),
    }
}

/// A file of the version, unchanged.
pub(in crate::web) async fn file(
    State(app): State<Arc<App>>,
    Path((name, version, path)): Path<(String, String, String)>,
) -> Result<Response, PageError> {
    let recipe = recipe(&name)?;
    let wanted = path.clone();
    let (place, file) = reading(move || {
        let folder = known(&app, recipe, &version)?;
        // Only files in the folder: nothing else in a URL becomes a path, and no link out of the workspace.
        if !listed(&folder)?.contains(&(wanted.clone(), true)) {
            return Err(PageError::not_found());
        }
        // Files contain everything released; texts withdrawn since must not be downloaded.
        if table(&app, recipe, &folder)?.withdrawn > 0 && !wanted.ends_with(".md") {
            return Err(PageError::withdrawn());
        }
        let place = folder.join(wanted);
        let file = fence::open(&place).map_err(Error::io("read", &place))?;
        Ok((place, tokio::fs::File::from_std(file)))
    })
    .await?;
    let failed = |e: std::io::Error| PageError::from(Error::io("read", &place)(e));
    let length = file.metadata().await.map_err(failed)?.len();
    let chunks = stream::unfold(file, |mut file| async {
        let mut chunk = vec![0; CHUNK];
        match file.read(&mut chunk).await {
            Ok(0) => None,
            Ok(read) => {
                chunk.truncate(read);
                Some((Ok::<_, std::io::Error>(chunk), file))
            }
            Err(error) => Some((Err(error), file)),
        }
    });
    // The compression layer polls again after the end.
    let chunks = chunks.fuse();
    let short = path.rsplit('/').next().unwrap_or_default();
    // A quote or a control character would break the header.
    let plain: String = short.chars().filter(|c| c.is_ascii_graphic() && *c != '"').collect();
    let head = [
        (header::CONTENT_TYPE, "application/octet-stream".to_string()),
        (header::CONTENT_DISPOSITION, format!("attachment; filename=\"{plain}\"")),
        (header::CONTENT_LENGTH, length.to_string()),
        (header::CACHE_CONTROL, "no-store".to_string()),
    ];
    Ok((head, Body::from_stream(chunks)).into_response())
}

/// The card of a version, rendered.
pub(in crate::web) async fn card(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path((name, version)): Path<(String, String)>,
) -> Result<Response, PageError> {
    let recipe = recipe(&name)?;
    let of = version.clone();
    let text = reading(move || {
        let path = known(&app, recipe, &of)?.join("README.md");
        Ok(fence::read_to_string(&path).map_err(Error::io("read", &path))?)
    })
    .await?;
    let found = json!({ "recipe": recipe.name, "version": version, "card": text });
    view::page(&visitor, "card.html", found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_question_comes_first_and_the_right_option_is_marked() {
        let row =
            json!({ "id": "00ff", "text": "t", "options": ["a", "b", "c", "d"], "answer": 2, "type": null });
        let rows = [row.as_object().unwrap().clone()];
        let layout = layout::all()
            .find(|layout| matches!(layout.task.map(|task| task.answer), Some(Answer::Choice { .. })))
            .unwrap();
        let first = first_columns(layout);
        assert_eq!(first[0], layout.task.unwrap().question);
        assert_ne!(first[0], layout.columns[0].name, "the id is not what a reader looks for");
        assert_eq!(labels_of(rows[0].get("type")), [NULL], "null can be asked for");
        let Some(Answer::Choice { options, gold }) = layout.task.map(|task| task.answer) else { return };
        let row = json!({ options: ["a", "b", "c", "d"], gold: 2 });
        let cell = Cell::of(row.as_object().unwrap(), options, Some(layout));
        let right: Vec<bool> = cell.options.iter().map(|(_, right)| *right).collect();
        assert_eq!(right, [false, false, true, false]);
    }

    #[test]
    fn rows_are_searched_filtered_sorted_and_paged() {
        let row = |n: usize| {
            let kind = if n.is_multiple_of(2) { "pun" } else { "paradox" };
            let row = json!({ "id": format!("i{n}"), "text": format!("text {n}"), "type": kind, "size": n });
            row.as_object().unwrap().clone()
        };
        let table = Table { configs: vec![("none-known".into(), (0..120).map(row).collect())], withdrawn: 0 };
        let recipe = crate::recipe::find("flub").unwrap();
        let look = |asked: &[(&str, &str)]| {
            let asked: Vec<(String, String)> =
                asked.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect();
            find(&table, recipe, "candidate".into(), &asked).unwrap()
        };
        let all = look(&[]);
        assert_eq!((all.found, all.pages, all.rows.len()), (120, 3, PAGE));
        assert_eq!(look(&[("q", "TEXT 11")]).found, 11);
        assert_eq!(look(&[("is.type", "pun")]).found, 60);
        let sorted = look(&[("sort", "size"), ("order", "down"), ("page", "9")]);
        assert_eq!((sorted.number, sorted.rows[0].at), (3, 19), "numbers are sorted as numbers");
        assert_eq!(look(&[("is.type", NULL)]).found, 0, "no type is null");
        let whole = look(&[("row", "7"), ("col", "id")]);
        assert_eq!((whole.rows[0].cells.len(), whole.whole.unwrap().cells.len()), (1, 4));
    }
}
