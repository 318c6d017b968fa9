//! The index that the browser searches: pieces that assign nothing and call one function, because a page that was opened
//! from a disk may load scripts and nothing else.

use serde::Serialize;
use serde_json::{Value as Json, json};

use super::names::row_page;
use super::set::id_of;
use super::shown::value_texts;
use crate::release::layout::{self, Layout};
use crate::release::read_rows::JsonRow;
use crate::view::is_hidden;

/// Bytes of a piece, about.
const PIECE: usize = 50_000;
/// Characters of a row's text in the table.
pub(super) const EXCERPT: usize = 100;
/// Characters of a row's text that are searched.
const SEARCHED: usize = 300;
/// Most values that a filter offers.
const VALUES: usize = 60;

/// A row in the table.
#[derive(Clone, Debug, Serialize)]
pub(super) struct ListedRow {
    id: String,
    page: String,
    /// The beginning of its text.
    text: String,
    /// The values of its labels, by column.
    labels: Vec<Vec<String>>,
}

/// A column whose values can be chosen.
#[derive(Clone, Debug, Serialize)]
pub(super) struct ColumnFilter {
    column: &'static str,
    values: Vec<String>,
}

/// A text on one line, with marks in the place of characters that reorder or hide text.
pub(super) fn plain_line(text: &str, most: usize) -> String {
    let mut out = String::new();
    for c in text.chars().take(most) {
        match c {
            '\n' | '\t' | '\r' => out.push(' '),
            c if is_hidden(c) => out.push_str(&format!("[U+{:04X}]", u32::from(c))),
            c => out.push(c),
        }
    }
    if text.chars().count() > most {
        out.push('…');
    }
    out
}

fn labels_of(layout: Option<&Layout>) -> &'static [&'static str] {
    layout.map_or(&[][..], |layout| layout.labels)
}

fn column_values(row: &JsonRow, column: &str) -> Vec<String> {
    let values = row.get(column).map(value_texts).unwrap_or_default();
    values.iter().map(|value| plain_line(value, EXCERPT)).collect()
}

/// The rows of a config for the table.
pub(super) fn list_rows(config: &str, rows: &[JsonRow]) -> Vec<ListedRow> {
    let labels = labels_of(layout::find_layout(config));
    let listed = |row: &JsonRow| ListedRow {
        id: plain_line(id_of(row), EXCERPT),
        page: row_page(id_of(row)),
        text: plain_line(&text_of(config, row), EXCERPT),
        labels: labels.iter().map(|column| column_values(row, column)).collect(),
    };
    rows.iter().map(listed).collect()
}

/// The text of a row; empty if it has none.
pub(super) fn text_of(config: &str, row: &JsonRow) -> String {
    layout::text_of(config, row).map(value_texts).unwrap_or_default().join(" ")
}

/// The filters of a config: its labels that have few values.
pub(super) fn list_filters(config: &str, rows: &[JsonRow]) -> Vec<ColumnFilter> {
    let filter = |column: &&'static str| {
        let mut found: Vec<String> = rows.iter().flat_map(|row| column_values(row, column)).collect();
        found.sort_unstable();
        found.dedup();
        ColumnFilter { column, values: if found.len() > VALUES { Vec::new() } else { found } }
    };
    labels_of(layout::find_layout(config)).iter().map(filter).collect()
}

/// The scripts of a config's rows, in order: each hands a list of rows to `riddlemill`: page, id, text, labels.
pub(super) fn split_scripts(config: &str, rows: &[JsonRow]) -> Vec<String> {
    let labels = labels_of(layout::find_layout(config));
    let mut pieces = Vec::new();
    let mut piece = String::new();
    for row in rows {
        let of_row: Vec<Json> = labels.iter().map(|column| json!(column_values(row, column))).collect();
        let text = plain_line(&text_of(config, row), SEARCHED);
        let line = json!([row_page(id_of(row)), plain_line(id_of(row), EXCERPT), text, of_row]).to_string();
        if !piece.is_empty() && piece.len() + line.len() > PIECE {
            pieces.push(wrap_call(&std::mem::take(&mut piece)));
        }
        piece.push_str(if piece.is_empty() { "" } else { ",\n" });
        piece.push_str(&line);
    }
    if !piece.is_empty() {
        pieces.push(wrap_call(&piece));
    }
    pieces
}

fn wrap_call(rows: &str) -> String {
    format!("riddlemill([\n{rows}\n]);\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(n: usize) -> Vec<JsonRow> {
        let row = |i: usize| {
            let text = format!("{i} \u{202e}</script>{}", "字".repeat(400));
            json!({ "id": format!("id{i}"), "text": text, "type": "a" }).as_object().cloned().unwrap()
        };
        (0..n).map(row).collect()
    }

    #[test]
    fn pieces_are_small_and_together_all_rows() {
        let all = rows(500);
        let pieces = split_scripts("flub", &all);
        assert!(pieces.len() > 1 && pieces.iter().all(|piece| piece.len() < PIECE + 4_000));
        let mut found = Vec::new();
        for piece in &pieces {
            let list = piece.strip_prefix("riddlemill(").unwrap().strip_suffix(");\n").unwrap();
            let list: Vec<(String, String, String, Vec<Vec<String>>)> = serde_json::from_str(list).unwrap();
            found.extend(list);
        }
        assert_eq!(found.len(), all.len());
        assert_eq!(found[0].0, "rows/id0.html");
        assert!(found.iter().all(|(_, _, text, _)| !text.contains('\u{202e}') && text.contains("[U+202E]")));
    }
}
