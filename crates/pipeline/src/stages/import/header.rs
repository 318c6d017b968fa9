//! The row with the names of a table's columns: below a title of the whole table, or not there at all.

use super::files::Dump;
use super::known_columns::{COLUMNS, field_of};
use super::wanted::held_columns;
use crate::config::SourceKind;
use riddlemill_files::reading::{ABOVE, Packing, column_name};

/// What stands at the head of a table.
#[derive(Debug, Default)]
pub(super) struct TableHead {
    /// The names of the columns: an empty cell is a column, too.
    pub(super) names: Vec<String>,
    /// The first rows below them.
    pub(super) below: Vec<Vec<String>>,
    /// What parts the columns of a table of text; `None` of a workbook.
    pub(super) delimiter: Option<u8>,
}

/// A longer name of a column is a text.
const LONGEST: usize = 40;

/// How many rows are above the names of the columns: a title, a date, remarks, a blank row. `rows` are the first of the table.
pub(super) fn rows_above(dump: &Dump, rows: &[Vec<String>]) -> usize {
    let Some(first) = rows.first() else { return 0 };
    if count_filled(first) == 1 && has_known_name(dump, first) && !first.iter().any(|cell| is_value(cell)) {
        return 0;
    }
    // The rows below names have as many cells; what stands above them has fewer.
    let are_names = |at: &usize| {
        let (row, below) = (&rows[*at], &rows[*at + 1..]);
        let alike = below.iter().filter(|other| other.len() == row.len()).count();
        has_names(row) && has_known_name(dump, row) && alike * 2 >= below.len()
    };
    let Some(found) = (0..rows.len().min(ABOVE + 1)).find(are_names) else { return 0 };
    let filled = count_filled(&rows[found]);
    let is_remark = |row: &Vec<String>| row.first().is_some_and(|cell| cell.starts_with('#'));
    // A row that begins with a value is one of the table, in which a file without names comes first.
    let is_row = |row: &Vec<String>| count_filled(row) > 1 && row.first().is_some_and(|cell| is_value(cell));
    let is_title = |row: &Vec<String>| {
        is_remark(row) || (row.len() != rows[found].len() || count_filled(row) < filled) && !is_row(row)
    };
    if rows[..found].iter().all(is_title) { found } else { 0 }
}

/// How many columns a table has whose first row has their names: empty cells behind the last name are none, unless most rows have a
/// value there.
pub(super) fn count_columns(rows: &[Vec<String>]) -> usize {
    let Some((names, below)) = rows.split_first() else { return 0 };
    let last = |row: &[String]| row.iter().rposition(|cell| !cell.trim().is_empty()).map_or(0, |at| at + 1);
    let named = last(names);
    let longer = below.iter().filter(|row| last(row) > named).count();
    if named == 0 || longer * 2 > below.len() { names.len() } else { named }
}

/// How many names of columns the source reads, and how many columns of posts have.
pub(super) fn count_known_names(dump: &Dump, names: &[String]) -> (usize, usize) {
    (held_columns(dump, names).columns, names.iter().filter(|name| field_of(name).is_some()).count())
}

/// A row with the names of columns among the rows below them, as files that were put one behind the other have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NamesAgain {
    /// The names above.
    Same,
    /// Other names, or in another order.
    Other,
}

/// Whether a row has names of columns and no values. `columns` are those above it.
pub(super) fn find_names_again(columns: &[String], row: &[String]) -> Option<NamesAgain> {
    let filled = columns.iter().filter(|name| !name.is_empty()).count();
    let last = row.iter().rposition(|cell| !cell.trim().is_empty()).map_or(0, |at| at + 1);
    let row = &row[..last.max(columns.len()).min(row.len())];
    if row.iter().map(|cell| cell.trim()).eq(columns.iter().map(String::as_str)) {
        // A text may be called like the one column.
        return (filled > 1).then_some(NamesAgain::Same);
    }
    let is_name =
        |cell: &String| columns.contains(&column_name(cell)) || field_of(&column_name(cell)).is_some();
    let are_names = row.len() > 1 && count_filled(row) == row.len() && has_names(row);
    (are_names && row.iter().filter(|cell| is_name(cell)).count() * 2 > row.len())
        .then_some(NamesAgain::Other)
}

fn count_filled(row: &[String]) -> usize {
    row.iter().filter(|cell| !cell.trim().is_empty()).count()
}

/// Whether the cells of a row may be names of columns: several, each another, and none a value.
fn has_names(row: &[String]) -> bool {
    let cells: Vec<&str> = row.iter().map(|cell| cell.trim()).filter(|cell| !cell.is_empty()).collect();
    cells.len() > 1
        && cells.iter().enumerate().all(|(at, cell)| !is_value(cell) && !cells[..at].contains(cell))
}

/// Whether a name is among them that columns of posts have, or that the source reads.
fn has_known_name(dump: &Dump, row: &[String]) -> bool {
    held_columns(dump, row).columns > 0 || row.iter().any(|cell| field_of(&column_name(cell)).is_some())
}

/// Why the first row of a table is none of names, and what to do; `None` if it is, or if a source reads one of its columns.
pub(super) fn missing_header(dump: &Dump, head: &TableHead) -> Option<String> {
    let header = &head.names;
    if dump.kind == SourceKind::Published {
        return None;
    }
    let cells: Vec<&String> = header.iter().filter(|cell| !cell.trim().is_empty()).collect();
    let is_known =
        held_columns(dump, header).columns > 0 || cells.iter().any(|cell| field_of(cell).is_some());
    if is_known || !cells.iter().any(|cell| is_value(cell)) && !has_text(head) {
        return None;
    }
    let shown: String = cells.iter().max_by_key(|cell| cell.chars().count())?.chars().take(30).collect();
    if cells.len() == 1 && header.len() > 1 {
        return Some(format!(
            "the first row has one cell (`{shown}`), a title of the table and no names of its columns\n  hint: delete what is above the row with the names"
        ));
    }
    let names = proposed_names(header);
    let hint = match head.delimiter {
        None => format!("insert a row above it, with names such as {}", names.join(",")),
        Some(delimiter) => {
            let parts = if delimiter == b'\t' { "\\t".to_owned() } else { char::from(delimiter).to_string() };
            let names = names.join(&parts);
            let (unpack, _) = Packing::of_file(&dump.path).feed_command(&dump.named);
            let from = if unpack.is_empty() { " FILE" } else { "" };
            format!(
                "a first line with names: `{unpack}sed '1i {names}'{from} > posts.csv` writes one; then name that file"
            )
        }
    };
    Some(format!(
        "the table has no row with the names of its columns: the first one has values (`{shown}`)\n  hint: {hint}"
    ))
}

/// Whether a cell of the first row is a text as those below it are: a question, or about as long as they are and longer than names.
fn has_text(head: &TableHead) -> bool {
    head.names.iter().enumerate().any(|(at, cell)| {
        let mut lengths: Vec<usize> =
            head.below.iter().filter_map(|row| row.get(at)).map(|cell| cell.chars().count()).collect();
        lengths.sort_unstable();
        let usual = lengths.get(lengths.len() / 2).copied().unwrap_or(0);
        is_question(cell) || is_longer_than_names(cell) && cell.chars().count() * 3 >= usual * 2
    })
}

/// Words that a question has, and hardly a name of a column; in English those that it begins with.
const ASKING: [&str; 12] = [
    "为什么",
    "为啥",
    "怎么",
    "什么",
    "难道",
    "是不是",
    "会不会",
    "能不能",
    "要不要",
    "為什麼",
    "怎麼",
    "什麼",
];
const ASKING_FIRST: [&str; 20] = [
    "why", "how", "what", "when", "where", "who", "which", "do", "does", "did", "is", "are", "was", "were",
    "can", "could", "would", "should", "if", "have",
];

/// Whether a cell asks something, without a mark at its end.
fn is_question(cell: &str) -> bool {
    let cell = cell.trim();
    let wide = count_wide(cell);
    let ends = cell.ends_with(['吗', '呢', '嗎', '吧', '啊']);
    let words: Vec<String> = cell.split_whitespace().map(str::to_lowercase).collect();
    // `为什么好笑` may well be what a column is called.
    wide >= 6 && (ends || ASKING.iter().any(|word| cell.contains(word)))
        || words.len() >= 4 && words.first().is_some_and(|first| ASKING_FIRST.contains(&first.as_str()))
}

/// Six characters of a script without blanks, or four words, that do not end with what columns are called.
fn is_longer_than_names(cell: &str) -> bool {
    let is_named =
        COLUMNS.iter().flat_map(|(_, names)| *names).any(|name| !name.is_ascii() && cell.ends_with(name));
    !is_named && (count_wide(cell) >= 6 || cell.split_whitespace().count() >= 4)
}

fn count_wide(cell: &str) -> usize {
    cell.chars().filter(|c| c.is_alphabetic() && *c >= '\u{2e80}').count()
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
    let is_number = |cell: &String| {
        cell.bytes().any(|b| b.is_ascii_digit()) && cell.bytes().all(|b| b.is_ascii_alphanumeric())
    };
    let number = cells.iter().position(is_number);
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
        let dump = Dump::looked_at(Path::new("none"));
        let above =
            |rows: &[&[&str]]| rows_above(&dump, &rows.iter().map(|cells| row(cells)).collect::<Vec<_>>());
        let (names, post): (&[&str], &[&str]) = (&["编号", "标题", "x"], &["1", "云会恐高吗？", ""]);
        assert_eq!(above(&[&["2024 年合集", "", ""], names, post]), 1);
        assert_eq!(above(&[&["合集"], &["2024-01-02"], names, post]), 2);
        assert_eq!(
            above(&[&["# exported, by hand"], &["时间", "2024-01-02"], &["标题", "合集"], names, post]),
            3
        );
        let long: Vec<&[&str]> = std::iter::repeat_n(&["x"][..], 15).chain([names, post]).collect();
        assert_eq!(above(&long), 15);
        for no_title in
            [&[names, post][..], &[&["content"], &["为什么", "鱼"]], &[&["2024 年合集", "", ""], post]]
        {
            assert_eq!(above(no_title), 0, "{no_title:?}");
        }
        assert_eq!(above(&[&["# exported", "by hand", "v2"], names, post]), 1);
        // A file without names before one with names.
        assert_eq!(above(&[&["1", "鱼会口渴吗", ""], &["2", "云会恐高吗", ""], names, post]), 0);
        // What looks like other names below rows of values is none of this table.
        assert_eq!(above(&[&["编码", "说法"], &["a", "云会恐高吗"], &["id", "title"], &["b", "鱼"]]), 0);
        let fields = [("content".to_owned(), "说法".to_owned())].into();
        let dump = Dump { fields, ..Dump::looked_at(Path::new("none")) };
        assert_eq!(rows_above(&dump, &[row(&["合集"]), row(&["编码", "说法"]), row(&["a", "云"])]), 1);
    }

    #[test]
    fn names_among_the_rows_are_no_row() {
        let names = row(&["id", "title", "author"]);
        let again = |cells: &[&str]| find_names_again(&names, &row(cells));
        assert_eq!(again(&["id", " title", "author"]), Some(NamesAgain::Same));
        assert_eq!(again(&["id", "title", "author", ""]), Some(NamesAgain::Same));
        assert_eq!(again(&["title", "author", "id"]), Some(NamesAgain::Other));
        assert_eq!(again(&["tid", "标题", "x"]), Some(NamesAgain::Other));
        for post in [
            &["7", "title", "author"][..],
            &["a", "标题", "x"],
            &["id", "", ""],
            &["a", "云会恐高吗？", "甲"],
        ] {
            assert_eq!(again(post), None, "{post:?}");
        }
        assert_eq!(find_names_again(&row(&["title"]), &row(&["title"])), None);
    }

    #[test]
    fn a_first_row_of_values_is_no_header() {
        let dump = Dump::looked_at(Path::new("none"));
        let below = |cells: &[&str], below: &[&[&str]]| {
            let below = below.iter().map(|cells| row(cells)).collect();
            missing_header(&dump, &TableHead { names: row(cells), below, delimiter: Some(b',') })
        };
        let missing = |cells: &[&str]| below(cells, &[]);
        // A text without a mark at its end is one by what it asks, or by its length beside those below it.
        for (first, text) in [
            ("为什么蚊子不睡觉", "为什么月亮是圆的"),
            ("蚊子其实只喝露水", "月亮每天都在减肥"),
            ("why do fish never sleep", "how does a cloud land"),
        ] {
            let found = below(&[first], &[&[text]]).unwrap();
            assert!(found.contains("sed '1i content' FILE"), "{found}");
        }
        let found = below(&["q1", "没有表头的第一行为什么"], &[&["q2", "没有表头的第二行为啥呢"]]).unwrap();
        assert!(found.contains("sed '1i id,content' FILE"), "{found}");
        assert_eq!(below(&["笑话的文本内容"], &[&["为什么月亮是圆的"]]), None);
        assert_eq!(below(&["编码", "为什么好笑"], &[&["a", "因为云也会怕高"]]), None);
        assert_eq!(
            below(&["Text of the joke"], &[&["Why does a cloud never come down to have a drink?"]]),
            None
        );
        let found = missing(&["1", "为什么鱼不会口渴？", "甲"]).unwrap();
        assert!(found.contains("sed '1i id,content,column3'"), "{found}");
        assert!(missing(&["Why do fish never get thirsty?"]).is_some());
        assert!(missing(&["2024 年合集，选", ""]).unwrap().contains("a title of the table"));
        for names in [&["id", "2023"][..], &["was", "sagt"], &["编码", "说法"], &["Column A"]] {
            assert_eq!(missing(names), None, "{names:?}");
        }
    }
}
