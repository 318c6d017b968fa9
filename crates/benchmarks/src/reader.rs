//! Reads TOML written by people and reports all problems at once, each with its place; unknown keys are
//! problems too. Of a lowered folder, a comment behind a line says where it was written: problems are told with that place.

use std::cell::RefCell;
use std::collections::BTreeMap;

use riddlemill_schema::json::value_json;
use riddlemill_schema::{Reader, start_of_table};
use toml_edit::{Item, TableLike, Value};

use crate::choice::Label;

pub use riddlemill_schema::problem::{Problem, Problems};

/// Parses a file with a function that asks for its keys.
///
/// # Errors
/// All problems of the file, in the order of its lines.
pub fn parse_file<T>(file: &str, text: &str, parse: impl FnOnce(&Keys<'_>) -> T) -> Result<T, Problems> {
    let reader = Reader::new(file, text);
    let read = reader.read_document(|table| keys_of(&reader, table, parse));
    let written = |problem: Problem| Problem { place: resolve_place(text, problem.place), ..problem };
    let problems: Vec<Problem> = reader.in_order().into_iter().map(written).collect();
    match read {
        Some(read) if problems.is_empty() => Ok(read),
        _ => Err(Problems(problems)),
    }
}

fn keys_of<T>(reader: &Reader<'_>, table: &dyn TableLike, parse: impl FnOnce(&Keys<'_>) -> T) -> T {
    let keys = Keys { reader, table, asked: RefCell::default() };
    let read = parse(&keys);
    keys.finish();
    read
}

/// A table being parsed. Texts are leaked, because declarations are read once and live as long as the
/// program.
pub struct Keys<'r> {
    reader: &'r Reader<'r>,
    table: &'r dyn TableLike,
    asked: RefCell<Vec<String>>,
}

impl Keys<'_> {
    /// A text, or `None` if the key is missing.
    pub fn read_text(&self, key: &str) -> Option<&'static str> {
        self.read_value(key, "a text", |value| value.as_str().map(leak_text))
    }

    /// A required text.
    pub fn require_text(&self, key: &str) -> &'static str {
        self.report_if_missing(key);
        self.read_text(key).unwrap_or_default()
    }

    /// A whole number from 0.
    pub fn read_count(&self, key: &str) -> Option<usize> {
        let count = |value: &Value| value.as_integer().and_then(|count| usize::try_from(count).ok());
        self.read_value(key, "a whole number from 0", count)
    }

    /// A whole number.
    pub fn read_integer(&self, key: &str) -> Option<i32> {
        let integer = |value: &Value| value.as_integer().and_then(|integer| i32::try_from(integer).ok());
        self.read_value(key, "a whole number", integer)
    }

    /// A list of whole numbers.
    pub fn read_integers(&self, key: &str) -> Option<Vec<i64>> {
        let integers = |value: &Value| value.as_array()?.iter().map(Value::as_integer).collect();
        self.read_value(key, "a list of whole numbers", integers)
    }

    /// A share, from 0 to 1.
    pub fn read_share(&self, key: &str) -> Option<f64> {
        let share = |value: &Value| number_of_value(value).filter(|share| (0.0..=1.0).contains(share));
        self.read_value(key, "a share from 0.0 to 1.0", share)
    }

    /// A number, whole or not.
    pub fn read_number(&self, key: &str) -> Option<f64> {
        self.read_value(key, "a number", number_of_value)
    }

    /// A plain value, and its TOML source.
    pub fn read_json(&self, key: &str) -> Option<(serde_json::Value, &'static str)> {
        let plain = |value: &Value| {
            Some((
                value_json(value).filter(|value| !value.is_object())?,
                leak_text(value.clone().decorated("", "").to_string().trim()),
            ))
        };
        self.read_value(key, "a text, a number, true or false, or a list of texts", plain)
    }

    /// Yes or no.
    pub fn read_flag(&self, key: &str) -> Option<bool> {
        self.read_value(key, "true or false", Value::as_bool)
    }

    /// A list of texts.
    pub fn read_texts(&self, key: &str) -> Option<Vec<&'static str>> {
        let texts =
            |value: &Value| value.as_array()?.iter().map(|text| text.as_str().map(leak_text)).collect();
        self.read_value(key, "a list of texts", texts)
    }

    /// Required texts for people in both languages. Without Chinese, or as a plain text, the English is shown
    /// to everybody; a test checks that built-in folders have both.
    pub fn require_label(&self, key: &str) -> Label {
        self.report_if_missing(key);
        if self.is_text(key) {
            let en = self.require_text(key);
            return Label { en, zh: en };
        }
        let lacks =
            self.table.get(key).and_then(Item::as_table_like).is_some_and(|table| !table.contains_key("en"));
        if lacks {
            self.report_problem(key, format!("{key}: `en` is missing"));
        }
        let both = |keys: &Keys<'_>| match lacks {
            true => Label {
                en: "",
                zh: keys.read_text("en").or_else(|| keys.read_text("zh")).unwrap_or_default(),
            },
            false => keys.read_both_languages(),
        };
        self.read_table(key, both).unwrap_or(Label { en: "", zh: "" })
    }

    /// A table of such texts.
    pub fn read_both_languages(&self) -> Label {
        let en = self.require_text("en");
        Label { en, zh: self.read_text("zh").unwrap_or(en) }
    }

    /// One of several named values.
    pub fn one_of<T: Copy>(&self, key: &str, names: &[(&str, T)]) -> Option<T> {
        let name = self.read_text(key)?;
        self.find_named_value(key, name, names)
    }

    /// Some of several named values.
    pub fn some_of<T: Copy>(&self, key: &str, names: &[(&str, T)]) -> Option<Vec<T>> {
        let written = self.read_texts(key)?;
        Some(written.into_iter().filter_map(|name| self.find_named_value(key, name, names)).collect())
    }

    /// A subtable, inline or under its own header.
    pub fn read_table<T>(&self, key: &str, parse: impl FnOnce(&Keys<'_>) -> T) -> Option<T> {
        let item = self.find_item(key)?;
        let Some(table) = item.as_table_like() else {
            self.report_expected(key, item, "a table");
            return None;
        };
        Some(keys_of(self.reader, table, parse))
    }

    /// The tables of a list, inline or under their own headers.
    pub fn read_tables<T>(&self, key: &str, mut parse: impl FnMut(&Keys<'_>) -> T) -> Option<Vec<T>> {
        let item = self.find_item(key)?;
        if let Some(tables) = item.as_array_of_tables() {
            return Some(tables.iter().map(|table| keys_of(self.reader, table, &mut parse)).collect());
        }
        let tables: Option<Vec<_>> =
            item.as_array().and_then(|list| list.iter().map(Value::as_inline_table).collect());
        let Some(tables) = tables else {
            self.report_expected(key, item, "a list of tables");
            return None;
        };
        Some(tables.into_iter().map(|table| keys_of(self.reader, table, &mut parse)).collect())
    }

    /// Named subtables, `[key.NAME]`, in the order of the file.
    pub fn read_named_tables<T>(
        &self,
        key: &str,
        mut parse: impl FnMut(&'static str, &Keys<'_>) -> T,
    ) -> Vec<T> {
        let Some(item) = self.find_item(key) else { return Vec::new() };
        let Some(table) = item.as_table_like() else {
            self.report_expected(key, item, "tables with names of their own");
            return Vec::new();
        };
        let mut read = Vec::new();
        for (name, item) in table.iter() {
            match item.as_table_like() {
                Some(table) => read.push(keys_of(self.reader, table, |keys| parse(leak_text(name), keys))),
                None => self.report_expected(name, item, "a table"),
            }
        }
        read
    }

    /// Peeks into named subtables before they are parsed, without marking keys as used or reporting problems.
    pub(crate) fn peek_named_tables<T>(
        &self,
        key: &str,
        parse: impl Fn(&'static str, &Keys<'_>) -> Vec<T>,
    ) -> Vec<T> {
        let tables =
            self.table.get(key).and_then(Item::as_table_like).into_iter().flat_map(|table| table.iter());
        // Problems are reported when the table is parsed in earnest.
        let silent = Reader::new("", "");
        let read = |(name, item): (&str, &Item)| {
            let table = item.as_table_like()?;
            Some(parse(leak_text(name), &Keys { reader: &silent, table, asked: RefCell::default() }))
        };
        tables.filter_map(read).flatten().collect()
    }

    /// Named lists of tables, `[[key.NAME]]`.
    pub fn read_table_lists<T>(
        &self,
        key: &str,
        mut what: impl FnMut(&Keys<'_>) -> T,
    ) -> BTreeMap<&'static str, Vec<T>> {
        let names: Vec<&'static str> = self
            .table
            .get(key)
            .and_then(Item::as_table_like)
            .into_iter()
            .flat_map(|t| t.iter())
            .map(|(n, _)| leak_text(n))
            .collect();
        let read = |keys: &Keys<'_>| -> BTreeMap<_, _> {
            names.iter().map(|&name| (name, keys.read_tables(name, &mut what).unwrap_or_default())).collect()
        };
        self.read_table(key, read).unwrap_or_default()
    }

    /// Each key of this table with its value's TOML source.
    pub fn read_sources(&self) -> Vec<(&'static str, &'static str)> {
        let written = |(name, item): (&str, &Item)| {
            self.asked.borrow_mut().push(name.to_owned());
            let mut value = item.clone();
            if let Some(value) = value.as_value_mut() {
                value.decor_mut().clear();
            }
            (leak_text(name), leak_text(value.to_string().trim()))
        };
        self.table.iter().map(written).collect()
    }

    /// The names of the existing keys.
    pub fn key_names(&self) -> Vec<&'static str> {
        self.table.iter().map(|(name, _)| leak_text(name)).collect()
    }

    /// Whether a key exists.
    pub fn has_key(&self, key: &str) -> bool {
        self.table.contains_key(key)
    }

    /// Whether a value is a text.
    pub fn is_text(&self, key: &str) -> bool {
        self.table.get(key).is_some_and(Item::is_str)
    }

    /// Whether a value is a list.
    pub fn is_list(&self, key: &str) -> bool {
        self.table.get(key).is_some_and(Item::is_array)
    }

    /// Whether a value is a list of tables, inline or under their own headers.
    pub fn is_tables(&self, key: &str) -> bool {
        let inline =
            |item: &Item| item.as_array().is_some_and(|list| list.iter().any(Value::is_inline_table));
        self.table.get(key).is_some_and(|item| item.is_array_of_tables() || inline(item))
    }

    /// Whether a value is a table.
    pub fn is_table(&self, key: &str) -> bool {
        self.table.get(key).is_some_and(Item::is_table_like)
    }

    /// The place of a key's value.
    pub fn place_of_key(&self, key: &str) -> Option<String> {
        let start = self.table.get(key)?.span()?.start;
        Some(written_at(self.reader.text(), start, self.reader.place_of_offset(start)))
    }

    /// Reports a problem with a key, or with the table if it has no such key.
    pub fn report_problem(&self, key: &str, message: impl ToString) {
        let item = self.table.get(key).and_then(Item::span);
        self.reader.report_problem(item.or_else(|| start_of_table(self.table)), message.to_string());
    }

    fn report_if_missing(&self, key: &str) {
        if !self.has_key(key) {
            self.report_problem(key, format!("`{key}` is missing"));
        }
    }

    fn find_item(&self, key: &str) -> Option<&Item> {
        self.asked.borrow_mut().push(key.to_owned());
        self.table.get(key)
    }

    fn read_value<T>(&self, key: &str, kind: &str, read: impl Fn(&Value) -> Option<T>) -> Option<T> {
        let item = self.find_item(key)?;
        let value = item.as_value().and_then(read);
        if value.is_none() {
            self.report_expected(key, item, kind);
        }
        value
    }

    fn find_named_value<T: Copy>(&self, key: &str, name: &str, names: &[(&str, T)]) -> Option<T> {
        let found = names.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
        if found.is_none() {
            let known = names.iter().map(|(known, _)| *known);
            self.report_problem(key, riddlemill_text::hint::unknown(key, name, known));
        }
        found
    }

    fn report_expected(&self, key: &str, item: &Item, kind: &str) {
        self.reader.report_problem(item.span(), format!("{key}: expected {kind}"));
    }

    /// Reports keys that were not asked for.
    fn finish(&self) {
        let asked = self.asked.borrow();
        for (name, _) in self.table.iter().filter(|(name, _)| !asked.iter().any(|key| key == name)) {
            self.reader.unknown_key(self.table, name, asked.iter().map(String::as_str), None);
        }
    }
}

/// A number, whole or not.
fn number_of_value(value: &Value) -> Option<f64> {
    value.as_float().or_else(|| value.as_integer().map(|n| n as f64))
}

/// Whether a text is of small letters, digits and `_` alone.
pub(crate) fn is_code(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

/// Leaks a text.
pub(crate) fn leak_text(text: &str) -> &'static str {
    Box::leak(text.into())
}

/// Begins such a comment.
pub(crate) const ORIGIN: &str = "#@second-edition ";

/// The place that a line of a text, from 1, says it comes from: `ballots.toml:3:1`.
pub(crate) fn origin_of_line(text: &str, line: usize) -> Option<&str> {
    let (_, place) = text.lines().nth(line.checked_sub(1)?)?.rsplit_once(ORIGIN)?;
    Some(place.trim_end())
}

/// The same of the line that an offset is in.
fn origin_at(text: &str, offset: usize) -> Option<&str> {
    let (before, behind) = (text.get(..offset)?, text.get(offset..)?);
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    let end = behind.find('\n').map_or(text.len(), |at| offset + at);
    let (_, place) = text.get(start..end)?.rsplit_once(ORIGIN)?;
    Some(place.trim_end())
}

/// A place of a file, `flub/ballots.toml:12:1`, or the one that its line comes from.
pub(crate) fn resolve_place(text: &str, place: String) -> String {
    if !text.contains(ORIGIN) {
        return place;
    }
    let behind = place.split_once(".toml:").map(|(_, behind)| behind);
    let line: Option<usize> = behind.and_then(|behind| behind.split(':').next()?.parse().ok());
    match line.and_then(|line| origin_of_line(text, line)) {
        Some(origin) => place_in_folder(&place, origin),
        None => place,
    }
}

/// The same of an offset, which every expression asks for.
pub(crate) fn written_at(text: &str, offset: usize, place: String) -> String {
    match origin_at(text, offset) {
        Some(origin) => place_in_folder(&place, origin),
        None => place,
    }
}

/// A file's place in the folder of another one.
fn place_in_folder(place: &str, origin: &str) -> String {
    let file = place.split(".toml:").next().unwrap_or(place);
    file.rsplit_once('/').map_or_else(|| origin.to_owned(), |(folder, _)| format!("{folder}/{origin}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_where_it_comes_from() {
        let text = "a = 1 #@second-edition ballots.zh.toml:7:3\nb = 2\n";
        assert_eq!(resolve_place(text, "flub/ballots.toml:1:5".into()), "flub/ballots.zh.toml:7:3");
        assert_eq!(resolve_place(text, "flub/ballots.toml:2:5".into()), "flub/ballots.toml:2:5");
        assert_eq!(written_at(text, 4, "flub/ballots.toml:1:5".into()), "flub/ballots.zh.toml:7:3");
        assert_eq!(written_at(text, text.len() - 1, "flub/ballots.toml:2:6".into()), "flub/ballots.toml:2:6");
        assert_eq!(resolve_place("a = 1\n", "flub/ballots.toml:1:5".into()), "flub/ballots.toml:1:5");
    }
}
