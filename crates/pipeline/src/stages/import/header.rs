//! The row with the names of a table's columns: below a title of the whole table, or not there at all.

use super::files::Dump;
use super::known_columns::field_of;
use super::wanted::held_columns;
use crate::config::SourceKind;
use riddlemill_files::reading::column_name;

/// Rows above the names of columns that are looked for.
pub(super) const ABOVE: usize = 5;
/// A longer name of a column is a text.
const LONGEST: usize = 40;

/// How many rows are above the names of the columns: a title, a date, a blank row. `rows` are the first of the table.
pub(super) fn rows_above(rows: &[Vec<String>]) -> usize {
    let filled = |row: &[String]| row.iter().filter(|cell| !cell.trim().is_empty()).count();
    let at = rows.iter().take(ABOVE).position(|row| filled(row) > 1).unwrap_or(0);
    let has_names = || rows[at].iter().any(|cell| field_of(&column_name(cell)).is_some());
    let is_title = |row: &Vec<String>| row.iter().all(|cell| field_of(&column_name(cell)).is_none());
    if at > 0 && has_names() && rows[..at].iter().all(is_title) { at } else { 0 }
}

/// Why the first row of a table is none of names, and what to do; `None` if it is, or if a source reads one of its columns.
pub(super) fn missing_header(dump: &Dump, header: &[String], is_workbook: bool) -> Option<String> {
    if dump.kind == SourceKind::Published {
        return None;
    }
    let cells: Vec<&String> = header.iter().filter(|cell| !cell.trim().is_empty()).collect();
    let is_known =
        held_columns(dump, header).columns > 0 || cells.iter().any(|cell| field_of(cell).is_some());
    if is_known || !cells.iter().any(|cell| is_value(cell)) {
        return None;
    }
    let shown: String = cells.iter().max_by_key(|cell| cell.chars().count())?.chars().take(30).collect();
    if cells.len() == 1 && header.len() > 1 {
        return Some(format!(
            "the first row has one cell (`{shown}`), a title of the table and no names of its columns\n  hint: delete what is above the row with the names"
        ));
    }
    let names = proposed_names(header).join(",");
    let hint = match is_workbook {
        true => format!("insert a row above it, with names such as {names}"),
        false => format!(
            "a first line with names: `sed '1i {names}' FILE > posts.csv` writes one, with the delimiter of the file"
        ),
    };
    Some(format!(
        "the table has no row with the names of its columns: the first one has values (`{shown}`)\n  hint: {hint}"
    ))
}

/// Whether a cell looks like a value of a post and not like a name.
fn is_value(cell: &str) -> bool {
    let cell = cell.trim();
    let is_number = cell.bytes().any(|b| b.is_ascii_digit())
        && cell.bytes().all(|b| {
            b.is_ascii_digit() || matches!(b, b'.' | b',' | b'-' | b':' | b'/' | b' ' | b'T' | b'+')
        });
    let is_sentence = cell.ends_with(['？', '?', '！', '!', '。', '…', '～', '.', '”', '"'])
        || cell.contains(['，', '。', '？', '；', '、'])
        || cell.contains(", ")
        || cell.contains(": ");
    let words = cell.split_whitespace().count();
    is_number || is_sentence || words > 5 || cell.chars().count() > LONGEST || cell.contains("://")
}

/// Names for the columns of a row of values.
fn proposed_names(cells: &[String]) -> Vec<String> {
    let longest = (0..cells.len()).max_by_key(|at| cells[*at].chars().filter(|c| c.is_alphabetic()).count());
    let number = cells.iter().position(|cell| !cell.is_empty() && cell.bytes().all(|b| b.is_ascii_digit()));
    let name = |at: usize| match at {
        at if Some(at) == longest => "content".to_owned(),
        at if Some(at) == number => "id".to_owned(),
        at => format!("column{}", at + 1),
    };
    (0..cells.len()).map(name).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn row(cells: &[&str]) -> Vec<String> {
        cells.iter().map(|cell| cell.to_string()).collect()
    }

    #[test]
    fn a_title_above_the_names_is_passed_over() {
        let (title, names, post) =
            (row(&["2024 年合集", "", ""]), row(&["编号", "标题", "x"]), row(&["1", "云会恐高吗？", ""]));
        assert_eq!(rows_above(&[title.clone(), names.clone(), post.clone()]), 1);
        assert_eq!(rows_above(&[row(&["合集"]), row(&["2024-01-02"]), names.clone(), post.clone()]), 2);
        assert_eq!(rows_above(&[names, post.clone()]), 0);
        assert_eq!(rows_above(&[row(&["content"]), row(&["为什么", "鱼"])]), 0);
        assert_eq!(rows_above(&[title, post]), 0);
    }

    #[test]
    fn a_first_row_of_values_is_no_header() {
        let dump = Dump::looked_at(Path::new("none"));
        let missing = |cells: &[&str]| missing_header(&dump, &row(cells), false);
        let found = missing(&["1", "为什么鱼不会口渴？", "甲"]).unwrap();
        assert!(found.contains("sed '1i id,content,column3'"), "{found}");
        assert!(missing(&["Why do fish never get thirsty?"]).is_some());
        assert!(missing(&["2024 年合集，选", ""]).unwrap().contains("a title of the table"));
        for names in [&["id", "2023"][..], &["was", "sagt"], &["编码", "说法"], &["Column A"]] {
            assert_eq!(missing(names), None, "{names:?}");
        }
    }
}
