//! Compares the options of two rows: contents and right answer by text, and separately their order.

use serde::Serialize;
use serde_json::Value as Json;

use super::plain;
use crate::read_rows::JsonRow;

/// How far the options of matched items are equal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct OptionFigures {
    /// Items with options on both sides.
    pub items: u64,
    /// Items whose options are equal in any order.
    pub contents: u64,
    /// Items whose right answer is equal, or missing on both sides.
    pub right: u64,
    /// Items whose options are equal in the same order.
    pub order: u64,
}

/// The options of one row, reduced by [`plain`].
struct Options {
    shown: Vec<String>,
    right: Option<usize>,
}

impl Options {
    fn parse(row: &JsonRow) -> Option<Self> {
        let (keys, shown): (Vec<String>, Vec<String>) = match row
            .get("options")
            .or_else(|| row.get("choice_list"))?
        {
            Json::Array(list) => (0..list.len()).map(letter_of_place).zip(list.iter().map(plain_of)).unzip(),
            Json::Object(map) => map.iter().map(|(key, value)| (key.clone(), plain_of(value))).unzip(),
            _ => return None,
        };
        // A puzzle's answer is a text, and its label the index of that.
        let gold = if row.contains_key("options") { "answer" } else { "label" };
        let right = match row.get(gold) {
            Some(Json::String(key)) => keys.iter().position(|k| k == key),
            Some(Json::Number(place)) => {
                place.as_u64().and_then(|p| usize::try_from(p).ok()).filter(|p| *p < shown.len())
            }
            _ => None,
        };
        Some(Self { shown, right })
    }

    fn sorted_texts(&self) -> Vec<&String> {
        let mut sorted: Vec<&String> = self.shown.iter().collect();
        sorted.sort();
        sorted
    }

    fn right_text(&self) -> Option<&String> {
        self.right.map(|place| &self.shown[place])
    }
}

/// The result of comparing two rows' options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Same {
    pub(super) contents: bool,
    pub(super) right: bool,
    order: bool,
}

/// Compares the options of two rows; `None` if one of them has none.
pub(super) fn compare_options(reference: &JsonRow, row: &JsonRow) -> Option<Same> {
    let (theirs, ours) = (Options::parse(reference)?, Options::parse(row)?);
    Some(Same {
        contents: theirs.sorted_texts() == ours.sorted_texts(),
        right: theirs.right_text() == ours.right_text(),
        order: theirs.shown == ours.shown,
    })
}

/// A column's values for each option, such as `option_models`, in any order.
pub(super) fn values_by_option(row: &JsonRow, column: &str) -> Option<Vec<(String, String)>> {
    let values = row.get(column)?.as_array()?;
    let shown = Options::parse(row)?.shown;
    let mut by_option: Vec<(String, String)> =
        shown.into_iter().zip(values.iter().map(ToString::to_string)).collect();
    by_option.sort();
    Some(by_option)
}

impl OptionFigures {
    pub(super) fn push(&mut self, same: Same) {
        self.items += 1;
        self.contents += u64::from(same.contents);
        self.right += u64::from(same.right);
        self.order += u64::from(same.order);
    }
}

fn letter_of_place(place: usize) -> String {
    u8::try_from(place)
        .ok()
        .filter(|p| *p < 26)
        .map_or_else(|| place.to_string(), |p| char::from(b'A' + p).into())
}

fn plain_of(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), plain)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn row(value: Json) -> JsonRow {
        value.as_object().cloned().unwrap()
    }

    #[test]
    fn contents_right_answer_and_order_are_distinguished() {
        let published =
            row(json!({ "options": { "A": "伞", "B": "雨", "C": "云", "D": "风" }, "answer": "C" }));
        let compared = |value: Json| {
            let same = compare_options(&published, &row(value)).unwrap();
            (same.contents, same.right, same.order)
        };
        let cases = [
            (json!({ "options": ["伞", "雨", "云", "风"], "answer": "C" }), (true, true, true)),
            (json!({ "options": ["伞", "雨", "云。", " 风"], "answer": 2 }), (true, true, true)),
            (
                json!({ "options": { "A": "云", "B": "风", "C": "伞", "D": "雨" }, "answer": "A" }),
                (true, true, false),
            ),
            (
                json!({ "options": { "A": "云", "B": "风", "C": "伞", "D": "雨" }, "answer": "C" }),
                (true, false, false),
            ),
            (json!({ "options": ["伞", "雨", "云", "雪"], "answer": "C" }), (false, true, false)),
            (json!({ "options": ["伞", "雨", "云", "风"], "answer": null }), (true, false, true)),
            (json!({ "options": ["伞", "伞", "云", "风"], "answer": "C" }), (false, true, false)),
        ];
        for (ours, want) in cases {
            assert_eq!(compared(ours.clone()), want, "{ours}");
        }
        assert!(compare_options(&published, &row(json!({ "answer": "C" }))).is_none());
        let models = |options: Json, models: Json| {
            values_by_option(&row(json!({ "options": options, "m": models })), "m")
        };
        let first = models(json!(["伞", "雨"]), json!(["a", "b"]));
        assert_eq!(first, models(json!(["雨", "伞"]), json!(["b", "a"])));
        assert_ne!(first, models(json!(["雨", "伞"]), json!(["a", "b"])));
    }
}
