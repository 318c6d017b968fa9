//! One row for its page: its values, the right option, and what changed since the version before.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::Value as Json;

use super::set::id_of;
use crate::release::KeptVersion;
use crate::release::layout::{AnswerForm, Layout};
use crate::release::read_rows::JsonRow;
use crate::release::shortcuts::place_of_letter;
use crate::view::is_hidden;

/// Bytes of texts on one page, as rendered: with the frame and the way it stays under 60 kB.
const BYTES: usize = 30_000;

/// How many times its bytes a text of a difference takes: every second character may be marked by itself.
const MARKED: usize = 4;

/// How much of a page is left for texts.
pub(super) struct Room(usize);

impl Room {
    /// That of an empty page.
    pub(super) fn new() -> Room {
        Room(BYTES)
    }

    /// As much of a text as the page has room for, and whether that is less than the whole.
    pub(super) fn fit_text(&mut self, text: &str) -> (String, bool) {
        self.take_times(text, 1)
    }

    /// The same where each character takes so many times its bytes: a difference that is marked.
    fn take_times(&mut self, text: &str, times: usize) -> (String, bool) {
        let mut shown = String::new();
        for c in text.chars() {
            let bytes = times
                * match c {
                    '<' | '>' | '&' | '"' | '\'' => 6,
                    c if is_hidden(c) && c != '\n' => 34,
                    c => c.len_utf8(),
                };
            if bytes > self.0 {
                return (shown, true);
            }
            self.0 -= bytes;
            shown.push(c);
        }
        (shown, false)
    }
}

/// A column of a row.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct ColumnCell {
    name: String,
    /// Its values; one unless it is a list, none where it is null.
    values: Vec<String>,
    /// The index of the right option, where these are the options.
    right: Option<usize>,
    /// Whether the page has no room for all of it.
    cut: bool,
}

impl ColumnCell {
    /// Whether the page has no room for all of it.
    pub(super) fn is_cut(&self) -> bool {
        self.cut
    }
}

/// The columns of a row, in order.
pub(super) fn row_cells(layout: Option<&Layout>, row: &JsonRow, room: &mut Room) -> Vec<ColumnCell> {
    let right = find_right_option(layout, row);
    let cell = |(name, value): (&String, &Json)| {
        let mut cut = false;
        let whole = value_texts(value);
        let values = whole.iter().map(|text| {
            let (shown, less) = room.fit_text(text);
            cut |= less;
            shown
        });
        let values = values.collect();
        ColumnCell {
            name: name.clone(),
            values,
            right: right.filter(|(column, _)| column == name).map(|(_, at)| at),
            cut,
        }
    };
    row.iter().map(cell).collect()
}

/// The column with the options, and the index of the right one.
fn find_right_option(layout: Option<&Layout>, row: &JsonRow) -> Option<(&'static str, usize)> {
    let AnswerForm::Choice { options, gold } = layout?.task?.answer else { return None };
    let at = match row.get(gold)? {
        Json::String(letter) => place_of_letter(letter)?,
        number => usize::try_from(number.as_u64()?).ok()?,
    };
    Some((options, at))
}

/// The texts of a value.
pub(super) fn value_texts(value: &Json) -> Vec<String> {
    match value {
        Json::Null => Vec::new(),
        Json::String(text) => vec![text.clone()],
        Json::Array(several) => several.iter().flat_map(value_texts).collect(),
        other => vec![other.to_string()],
    }
}

/// What happened to a row since the version before.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Change {
    /// `first`, `added`, `same` or `changed`.
    kind: &'static str,
    /// The version before; empty for the first.
    since: String,
    /// The columns that differ.
    columns: Vec<Changed>,
}

/// A column that differs between two versions.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Changed {
    pub(super) name: String,
    /// Its values before and after, those of a list one by one; none unless they are published.
    pub(super) pairs: Vec<(Option<String>, Option<String>)>,
}

impl Changed {
    /// A value before and after, as much of each as there is room for.
    fn cut_values(mut self, room: &mut Room) -> Changed {
        for text in self.pairs.iter_mut().flat_map(|(was, is)| [was, is]).flatten() {
            *text = room.take_times(text, MARKED).0;
        }
        self
    }
}

/// The columns that differ between two versions of a row. What labels, numbers and yes or no were before is told; texts
/// as they were only where the settings publish them.
pub(super) fn differing_columns(
    layout: Option<&Layout>,
    old: &JsonRow,
    row: &JsonRow,
    originals: bool,
) -> Vec<Changed> {
    let names: BTreeSet<&String> = old.keys().chain(row.keys()).collect();
    let is_label =
        |name: &str| layout.is_some_and(|of| of.labels.contains(&name) || of.standing == Some(name));
    let is_text = |value: Option<&Json>| value.is_some_and(has_text);
    let mut columns = Vec::new();
    for name in names {
        let (was, is) = (old.get(name.as_str()), row.get(name.as_str()));
        if was == is {
            continue;
        }
        let told = originals || is_label(name) || !(is_text(was) || is_text(is));
        let values = |value: Option<&Json>| value.filter(|_| told).map(value_texts).unwrap_or_default();
        let (was, is) = (values(was), values(is));
        let pair = |at: usize| (was.get(at).cloned(), is.get(at).cloned());
        let pairs = (0..was.len().max(is.len())).map(pair).collect();
        columns.push(Changed { name: name.clone(), pairs });
    }
    columns
}

fn has_text(value: &Json) -> bool {
    match value {
        Json::Array(several) => several.iter().any(has_text),
        other => other.is_string() || other.is_object(),
    }
}

/// Compares a row with the version before. `old` is the row there, if it had one.
pub(super) fn compare_row(
    layout: Option<&Layout>,
    before: Option<&KeptVersion>,
    old: Option<&JsonRow>,
    row: &JsonRow,
    originals: bool,
    room: &mut Room,
) -> Change {
    let Some(before) = before else {
        return Change { kind: "first", since: String::new(), columns: Vec::new() };
    };
    let since = before.version.clone();
    let Some(old) = old else { return Change { kind: "added", since, columns: Vec::new() } };
    let columns: Vec<Changed> = differing_columns(layout, old, row, originals);
    let columns: Vec<Changed> = columns.into_iter().map(|column| column.cut_values(room)).collect();
    Change { kind: if columns.is_empty() { "same" } else { "changed" }, since, columns }
}

/// The rows of a version by id.
pub(super) fn by_id(version: Option<&KeptVersion>) -> rustc_hash::FxHashMap<&str, &JsonRow> {
    version.into_iter().flat_map(|version| &version.rows).map(|row| (id_of(row), row)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::release::layout::find_layout;

    fn row(json: serde_json::Value) -> JsonRow {
        json.as_object().cloned().unwrap_or_default()
    }

    #[test]
    fn the_right_option_is_marked() {
        let options = row(serde_json::json!({ "id": "a", "options": ["x", "y", "z", "w"], "answer": "C" }));
        let cells = row_cells(find_layout("flub"), &options, &mut Room::new());
        let marked: Vec<_> =
            cells.iter().filter_map(|cell| Some((cell.name.as_str(), cell.right?))).collect();
        assert_eq!(marked, [("options", 2)]);
    }

    #[test]
    fn texts_of_any_length_leave_a_page_small() {
        let text = "\u{202e}".repeat(BYTES);
        let mut room = Room::new();
        let (shown, cut) = room.fit_text(&text);
        assert!(cut && shown.chars().count() * 29 <= BYTES);
        assert!(!room.fit_text("short").1, "what fits beside it is shown");
    }

    #[test]
    fn values_of_an_earlier_version_need_the_setting() {
        let before = KeptVersion {
            version: "1.0.0".into(),
            date: "2026-01-02".into(),
            changes: Default::default(),
            yanked: None,
            rows: vec![row(
                serde_json::json!({ "id": "a", "text": "a name", "type": "悖论", "is_question": false }),
            )],
        };
        let now =
            row(serde_json::json!({ "id": "a", "text": "no name", "type": "歧义", "is_question": true }));
        let old = by_id(Some(&before));
        let old = old.get("a").copied();
        let told = |originals| {
            let change =
                compare_row(find_layout("flub"), Some(&before), old, &now, originals, &mut Room::new());
            let columns = change.columns.into_iter().map(|column| (column.name, column.pairs));
            columns.collect::<Vec<_>>()
        };
        let some = |text: &str| Some(text.to_owned());
        let labels = [
            ("is_question".to_owned(), vec![(some("false"), some("true"))]),
            ("type".to_owned(), vec![(some("悖论"), some("歧义"))]),
        ];
        let text = |pairs| ("text".to_owned(), pairs);
        let [question, kind] = labels;
        assert_eq!(told(false), [question.clone(), text(Vec::new()), kind.clone()]);
        assert_eq!(told(true), [question, text(vec![(some("a name"), some("no name"))]), kind]);
        let kind = |before, old| compare_row(None, before, old, &now, false, &mut Room::new()).kind;
        assert_eq!(kind(Some(&before), None), "added");
        assert_eq!(kind(None, None), "first");
        assert_eq!(kind(Some(&before), Some(&now)), "same");
    }
}
