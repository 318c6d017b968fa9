//! A release as a table, and the rows that it finds as a file; the files of a release; its card.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, Query, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use futures_util::{StreamExt, stream};
use serde_json::json;
use tokio::io::AsyncReadExt;

use super::releases::find_version_folder;
use super::rows::{Part, RowsQuery, find_page};
use crate::app::{App, find_recipe, read_blocking};
use crate::error::PageError;
use crate::i18n::{self, Language};
use crate::markdown;
use crate::release::{export, list_entries};
use crate::store::Error;
use crate::tables::ReleaseTable;
use crate::view;
use crate::visitor::Visitor;
use riddlemill_files::fence;

/// The card.
const CARD: &str = "README.md";
/// The picture on it.
const FUNNEL: &str = "funnel.svg";
/// Bytes of a file sent at a time.
const CHUNK: usize = 64 << 10;

/// The table.
pub(crate) async fn show_table(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path((name, version)): Path<(String, String)>,
    Query(asked): Query<Vec<(String, String)>>,
) -> Result<Response, PageError> {
    let recipe = find_recipe(&name)?;
    let found = read_blocking(move || {
        let folder = find_version_folder(&app, recipe, &version)?;
        let table = app.tables.get(&app.workspace, recipe, &folder)?;
        find_page(&table, recipe, version, &RowsQuery::new(&asked))
    })
    .await?;
    view::render_page(&visitor, "table.html", found)
}

/// The forms in which the rows that were found can be downloaded, and what each is for a browser.
const FORMS: [(&str, &str); 3] = [
    ("csv", "text/csv; charset=utf-8"),
    ("jsonl", "application/jsonl; charset=utf-8"),
    ("parquet", "application/vnd.apache.parquet"),
];

/// The rows that the table's address finds, whole and in its order, as a file.
pub(crate) async fn download_rows(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path((name, version, form)): Path<(String, String, String)>,
    Query(asked): Query<Vec<(String, String)>>,
) -> Result<Response, PageError> {
    let recipe = find_recipe(&name)?;
    let (form, kind) =
        FORMS.into_iter().find(|(known, _)| *known == form).ok_or_else(PageError::not_found)?;
    let language = visitor.language;
    let (file, bytes) = read_blocking(move || {
        let folder = find_version_folder(&app, recipe, &version)?;
        let table = app.tables.get(&app.workspace, recipe, &folder)?;
        let part = Part::find_rows(&table, &RowsQuery::new(&asked))?;
        // A file with more rows than were asked for would pass for the part.
        if !part.missing.is_empty() {
            let comma = i18n::text_of_key(language, "list_comma").unwrap_or(", ");
            let names = part.missing.join(comma);
            return Err(PageError::bad_request(i18n::fill_text(language, "no_columns", &[&names])));
        }
        let config = &part.config.name;
        let places = part.rows.iter().filter_map(|at| part.config.places.get(*at).copied());
        let bytes = match form {
            "csv" => export::encode_csv(part.config.rows.first(), part.rows())
                .map_err(PageError::internal_error)?,
            "jsonl" => export::json_lines(part.rows()),
            _ => export::encode_parquet(&folder, config, places)?,
        };
        let (found, all) = (part.rows.len(), part.config.rows.len());
        let some = if found == all { String::new() } else { format!("-{found}-of-{all}") };
        Ok((format!("{}-{version}-{config}{some}.{form}", recipe.name), bytes))
    })
    .await?;
    let head = [
        (header::CONTENT_TYPE, kind.to_string()),
        (header::CONTENT_DISPOSITION, attachment_header(&file)),
        (header::CACHE_CONTROL, "no-store".to_string()),
    ];
    Ok((head, bytes).into_response())
}

/// Says that a file is stored, and under which name.
fn attachment_header(name: &str) -> String {
    // A quote or a control character would break the header.
    let plain: String = name.chars().filter(|c| c.is_ascii_graphic() && *c != '"').collect();
    format!("attachment; filename=\"{plain}\"")
}

/// A file of the version, unchanged.
pub(crate) async fn serve_file(
    State(app): State<Arc<App>>,
    Path((name, version, path)): Path<(String, String, String)>,
) -> Result<Response, PageError> {
    let recipe = find_recipe(&name)?;
    let wanted = path.clone();
    let (place, file) = read_blocking(move || {
        let folder = find_version_folder(&app, recipe, &version)?;
        // Only files in the folder: nothing else in a URL becomes a path, and no link out of the workspace.
        if !list_entries(&folder)?.contains(&(wanted.clone(), true)) {
            return Err(PageError::not_found());
        }
        // Files contain everything released; texts withdrawn since must not be downloaded.
        let table = app.tables.get(&app.workspace, recipe, &folder)?;
        let has_rows = !wanted.ends_with(".md") && wanted != FUNNEL;
        if table.withdrawn > 0 && (has_rows || wanted == CARD && quotes_withdrawn(&table)) {
            return Err(PageError::record_withdrawn());
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
    // As a picture of the card it is shown; opened by itself it is stored like every file.
    let kind = if path == FUNNEL { "image/svg+xml" } else { "application/octet-stream" };
    let head = [
        (header::CONTENT_TYPE, kind.to_string()),
        (header::CONTENT_DISPOSITION, attachment_header(short)),
        (header::CONTENT_LENGTH, length.to_string()),
        (header::CACHE_CONTROL, "no-store".to_string()),
    ];
    Ok((head, Body::from_stream(chunks)).into_response())
}

/// Whether the card quotes a row that was withdrawn since: it has the first of each config.
fn quotes_withdrawn(table: &ReleaseTable) -> bool {
    table.withdrawn > 0 && table.configs.iter().any(|config| config.places.first() != Some(&0))
}

/// The card of a version, rendered.
pub(crate) async fn show_card(
    State(app): State<Arc<App>>,
    visitor: Visitor,
    Path((name, version)): Path<(String, String)>,
) -> Result<Response, PageError> {
    let recipe = find_recipe(&name)?;
    let (of, language) = (version.clone(), visitor.language);
    let (text, card_lang, withdrawn) = read_blocking(move || {
        let folder = find_version_folder(&app, recipe, &of)?;
        let (path, card_lang) = card_in(language, &folder);
        let text = fence::read_to_string(&path).map_err(Error::io("read", &path))?;
        let table = app.tables.get(&app.workspace, recipe, &folder)?;
        Ok((text, card_lang, quotes_withdrawn(&table).then_some(table.withdrawn)))
    })
    .await?;
    let text = if withdrawn.is_some() { markdown::without_code(&text) } else { text };
    let found = json!({
        "recipe": recipe.name,
        "version": version,
        "contents": markdown::table_of_contents(&text),
        "card": text,
        "card_lang": card_lang,
        "withdrawn": withdrawn,
    });
    view::render_page(&visitor, "card.html", found)
}

/// The card of a version in a language, and the one that it is in: versions released before there was a Chinese card have
/// the English one alone.
fn card_in(language: Language, folder: &std::path::Path) -> (std::path::PathBuf, &'static str) {
    let chinese = folder.join("README.zh.md");
    match language {
        Language::Zh if chinese.is_file() => (chinese, "zh"),
        _ => (folder.join(CARD), "en"),
    }
}
