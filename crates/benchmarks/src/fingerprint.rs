//! Which declarations determine the rows of a step, so that a changed file makes exactly the steps stale that
//! use it.

use std::collections::BTreeMap;

use sha1::{Digest, Sha1};
use toml_edit::{Document, Item, TableLike, Value};

use crate::expression::Expression;

/// The tables of a file, by path: `step.ideas`, `ballot.fair`. Texts for people, comments, spaces and the
/// order of keys are left out.
pub(crate) type Tables = BTreeMap<String, String>;

/// Keys with texts for people.
const WORDS: [&str; 11] = [
    "about",
    "caption",
    "example",
    "examples",
    "guideline",
    "label",
    "languages",
    "means",
    "paper",
    "says",
    "title",
];

/// The tables below `kinds`, in canonical form.
pub(crate) fn collect_tables(text: &str, kinds: &[&str]) -> Tables {
    let Ok(document) = Document::parse(text) else { return Tables::new() };
    let mut tables = Tables::new();
    for kind in kinds {
        let Some(under) = document.get(kind).and_then(Item::as_table_like) else { continue };
        for (name, item) in under.iter() {
            tables.insert(format!("{kind}.{name}"), of_item(item));
        }
    }
    tables
}

/// A short hash of a declaration.
pub(crate) fn hash(text: &str) -> String {
    hex::encode(&Sha1::digest(text.as_bytes())[..8])
}

/// The `[fields]` used by expressions, last first.
pub(crate) fn find_used_fields<'e, 'f>(
    expressions: impl Iterator<Item = &'e Expression>,
    fields: &'f [(&'static str, Expression)],
) -> Vec<(&'static str, &'f Expression)> {
    let mut asked: std::collections::BTreeSet<String> =
        expressions.flat_map(Expression::names).cloned().collect();
    let mut reached = Vec::new();
    for (name, field) in fields.iter().rev() {
        if asked.contains(*name) {
            asked.extend(field.names().iter().cloned());
            reached.push((*name, field));
        }
    }
    reached
}

fn of_item(item: &Item) -> String {
    match (item.as_value(), item.as_table_like(), item.as_array_of_tables()) {
        (Some(value), _, _) => of_value(value),
        (None, Some(table), _) => of_table(table),
        (None, None, Some(tables)) => {
            let each: Vec<String> = tables.iter().map(|table| of_table(table)).collect();
            format!("[{}]", each.join(","))
        }
        _ => String::new(),
    }
}

fn of_value(value: &Value) -> String {
    if let Some(list) = value.as_array() {
        let each: Vec<String> = list.iter().map(of_value).collect();
        return format!("[{}]", each.join(","));
    }
    if let Some(table) = value.as_inline_table() {
        return of_table(table);
    }
    match value.as_str() {
        Some(text) => format!("{text:?}"),
        None => value.clone().decorated("", "").to_string(),
    }
}

fn of_table(table: &dyn TableLike) -> String {
    let mut keys: Vec<(&str, &Item)> = table.iter().filter(|(key, _)| !WORDS.contains(key)).collect();
    keys.sort_by_key(|(key, _)| *key);
    let each: Vec<String> = keys.into_iter().map(|(key, item)| format!("{key}={}", of_item(item))).collect();
    format!("{{{}}}", each.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_comments_and_the_order_of_keys_decide_nothing() {
        let one = "[step.a] # what it does\nkind = 'draft'\nprompt = \"b\"\nabout = 'x'\n";
        let same = "[step]\na = { prompt = 'b', kind = \"draft\", about = 'other words' }\n";
        let other = "[step.a]\nkind = 'draft'\nprompt = 'c'\n";
        let of = |text: &str| collect_tables(text, &["step"]);
        assert_eq!(of(one), of(same));
        assert_ne!(of(one), of(other));
        assert_eq!(of(one)["step.a"], r#"{kind="draft",prompt="b"}"#);
    }
}
