//! The reader of what people write in TOML: it reports all problems at once, each with its place, its key, and the
//! closest valid word or all of them.

use std::ops::Range;

use serde_json::{Map, Value};
use toml_edit::{Document, Item, Table, TableLike};

use crate::hint::unknown_key;
use crate::json::item_json;
use crate::kind::{Key, Kind};
use crate::problem::{Found, Problem, line_and_column, syntax_error};

/// A file being read, and its problems.
#[derive(Debug)]
pub struct Reader<'t> {
    found: Found<'t>,
    text: &'t str,
}

impl<'t> Reader<'t> {
    /// For a file with the content `text`.
    pub fn new(file: &'t str, text: &'t str) -> Reader<'t> {
        Reader { found: Found::new(file, text), text }
    }

    /// Reads the file's tables; `None` if it is no TOML, which is reported.
    pub fn read_document<T>(&self, read: impl FnOnce(&Table) -> T) -> Option<T> {
        match Document::parse(self.text) {
            Ok(document) => Some(read(document.as_table())),
            Err(error) => {
                let span = error.span();
                let at = span.as_ref().map_or(0, |span| span.start);
                let mut what = syntax_error(self.text, at, error.message());
                if let Some(span) = span.clone().filter(|_| what == "duplicate key")
                    && let Some(twice) = find_repeated_name(self.text, span)
                {
                    what = twice;
                }
                // `integer number overflowed` alone does not say of what.
                if what.contains("number")
                    && let Some(key) = key_before(self.text, at)
                {
                    what = format!("{key}: {what}");
                }
                self.report_problem(span, what);
                None
            }
        }
    }

    /// The content of the file.
    pub fn text(&self) -> &'t str {
        self.text
    }

    /// How many problems there are so far.
    pub fn count_problems(&self) -> usize {
        self.found.count_problems()
    }

    /// File, line and column of an offset.
    pub fn place_of_offset(&self, offset: usize) -> String {
        self.found.place_of_offset(offset)
    }

    /// The line of an item, from 1; 0 if it was not written.
    pub fn line_of_span(&self, span: Option<Range<usize>>) -> usize {
        span.map_or(0, |span| line_and_column(self.text, span.start).0)
    }

    /// All problems, in the order of the file.
    pub fn in_order(self) -> Vec<Problem> {
        self.found.in_order()
    }

    /// Reports a problem.
    pub fn report_problem(&self, span: Option<Range<usize>>, message: impl Into<String>) {
        self.found.add(span.map_or(0, |span| span.start), message.into());
    }

    /// Reports a key that a table does not have.
    pub fn unknown_key<'k>(
        &self,
        table: &dyn TableLike,
        name: &str,
        known: impl IntoIterator<Item = &'k str>,
        elsewhere: Option<String>,
    ) {
        self.report_problem(key_span(table, name), unknown_key(name, known, elsewhere));
    }

    /// The value of a key, if it is valid. `name` is the key as the message says it.
    pub fn valid_value(&self, name: &str, kind: Kind, item: &Item) -> Option<Value> {
        let Some(value) = item_json(item) else {
            // What is wrong may be deep inside a value that is read as a whole.
            let inside =
                if matches!(kind, Kind::Form(form) if !form.is_text) { ", no date and no nan" } else { "" };
            self.report_problem(
                item.span(),
                format!("{name}: expected {}{inside}", kind.describe_expected()),
            );
            return None;
        };
        match kind.check_value(&value) {
            Ok(()) => Some(value),
            Err(mismatch) => {
                self.report_problem(item.span(), format!("{name}: {mismatch}"));
                None
            }
        }
    }

    /// The valid values of a table with these keys, those of subtables as tables. `called` is the table in messages,
    /// `[[source]]`, and `span` its place; `elsewhere` says of a key that it does not have where it would be one.
    pub fn valid_values(
        &self,
        called: &str,
        keys: &[Key],
        table: &dyn TableLike,
        span: Option<Range<usize>>,
        elsewhere: &dyn Fn(&str) -> Option<String>,
    ) -> Map<String, Value> {
        self.values_below(&Level { called, prefix: "", keys, above: &[] }, table, span, elsewhere)
    }

    fn values_below(
        &self,
        level: &Level<'_>,
        table: &dyn TableLike,
        span: Option<Range<usize>>,
        elsewhere: &dyn Fn(&str) -> Option<String>,
    ) -> Map<String, Value> {
        let keys = level.keys;
        for key in keys.iter().filter(|key| key.is_required && !table.contains_key(key.name)) {
            let what = format!("{} lacks `{}`", level.called, key.name);
            self.report_problem(span.clone().or_else(|| start_of_table(table)), what);
        }
        let mut values = Map::new();
        for (name, item) in table.iter() {
            let Some(key) = keys.iter().find(|key| key.name == name) else {
                match level.place_of(name) {
                    // A key that is one of a table nearby is no misspelt one of this.
                    Some(place) => self.unknown_key(table, name, [], Some(place)),
                    None => self.unknown_key(table, name, keys.iter().map(|key| key.name), elsewhere(name)),
                }
                continue;
            };
            let called = format!("{}{name}", level.prefix);
            let value = match (key.kind, item.as_table_like()) {
                (Kind::Table(inner), Some(below)) => {
                    let prefix = format!("{called}.");
                    let level = Level { called: &called, prefix: &prefix, keys: inner, above: keys };
                    Some(Value::Object(self.values_below(&level, below, item.span(), &|_| None)))
                }
                (kind, _) => self.valid_value(&called, kind, item),
            };
            if let Some(value) = value {
                values.insert(name.to_owned(), value);
            }
        }
        values
    }
}

/// What a table may have, and where it is.
struct Level<'k> {
    /// The table in messages: `[[source]]`, `sampling`.
    called: &'k str,
    /// What the names of its keys begin with in messages: `sampling.`.
    prefix: &'k str,
    keys: &'k [Key],
    /// The keys of the table that it is in.
    above: &'k [Key],
}

impl Level<'_> {
    /// Where a key that is not one of this table would be one: in a table below, or in the one above.
    fn place_of(&self, name: &str) -> Option<String> {
        let has = |keys: &[Key]| keys.iter().any(|key| key.name == name);
        let below = self.keys.iter().find(|key| matches!(key.kind, Kind::Table(inner) if has(inner)));
        match below {
            Some(below) => Some(format!("it is a key of `{}{}`", self.prefix, below.name)),
            None => has(self.above).then(|| "it belongs to the table above".to_owned()),
        }
    }
}

/// The place of a key's name.
pub fn key_span(table: &dyn TableLike, name: &str) -> Option<Range<usize>> {
    table.key(name).and_then(toml_edit::Key::span)
}

/// The start of a table: its first key, if it has one.
pub fn start_of_table(table: &dyn TableLike) -> Option<Range<usize>> {
    table.iter().find_map(|(name, _)| key_span(table, name))
}

/// The place of the longest existing prefix of a path of keys in a table.
pub fn path_span(table: &dyn TableLike, path: &[String]) -> Option<Range<usize>> {
    let (first, mut rest) = path.split_first()?;
    let mut last = table.key(first).and_then(toml_edit::Key::span);
    let mut item = table.get(first)?;
    last = item.span().filter(|_| !rest.is_empty() || last.is_none()).or(last);
    while let Some((key, more)) = rest.split_first() {
        rest = more;
        let (at, inner) = match item {
            Item::Value(toml_edit::Value::Array(list)) => {
                let inner = key.parse::<usize>().ok().and_then(|at| list.get(at));
                let Some(inner) = inner else { break };
                last = inner.span().or(last);
                // Items of an array are values; places in their tables are found from these.
                if let (Some(inner), false) = (inner.as_inline_table(), rest.is_empty()) {
                    return path_span(inner, rest).or(last);
                }
                break;
            }
            other => {
                let Some(table) = other.as_table_like() else { break };
                (table.key(key).and_then(toml_edit::Key::span), table.get(key))
            }
        };
        last = at.or(last);
        let Some(inner) = inner else { break };
        item = inner;
    }
    last
}

/// The innermost key whose name or value is at a line and column of a text, both from 1.
pub fn key_at(text: &str, line: usize, column: usize) -> Option<String> {
    let document = Document::parse(text).ok()?;
    let start: usize = text.split_inclusive('\n').take(line.checked_sub(1)?).map(str::len).sum();
    let before = text.get(start..)?.chars().take(column.checked_sub(1)?);
    key_in(document.as_table(), start + before.map(char::len_utf8).sum::<usize>())
}

fn key_in(table: &dyn TableLike, offset: usize) -> Option<String> {
    let is_at = |span: Option<Range<usize>>| span.is_some_and(|span| span.contains(&offset));
    table.iter().find_map(|(name, item)| {
        let below = match item {
            Item::Value(value) => key_in_value(value, offset),
            Item::Table(table) => key_in(table, offset),
            Item::ArrayOfTables(tables) => tables.iter().find_map(|table| key_in(table, offset)),
            Item::None => None,
        };
        let is_here = || is_at(key_span(table, name)) || is_at(item.span());
        below.or_else(|| is_here().then(|| name.to_owned()))
    })
}

fn key_in_value(value: &toml_edit::Value, offset: usize) -> Option<String> {
    match value {
        toml_edit::Value::InlineTable(table) => key_in(table, offset),
        toml_edit::Value::Array(list) => list.iter().find_map(|value| key_in_value(value, offset)),
        _ => None,
    }
}

/// The key whose value begins at an offset, on the same line.
fn key_before(text: &str, offset: usize) -> Option<&str> {
    let before = text.get(..offset)?;
    let (key, _) = before.get(before.rfind('\n').map_or(0, |at| at + 1)..)?.rsplit_once('=')?;
    key.rsplit(['{', ',']).next().map(str::trim).filter(|key| !key.is_empty())
}

/// The repeated name, and its first place.
fn find_repeated_name(text: &str, span: Range<usize>) -> Option<String> {
    let name = text.get(span.clone())?.trim().trim_matches(['[', ']']).trim();
    let (line, _) = line_and_column(text, span.start);
    let here = text.lines().nth(line - 1)?.trim();
    let is_table = here.starts_with('[');
    let whole = if is_table { here.trim_matches(['[', ']']).trim() } else { name };
    let is_line_of = |other: &str| match is_table {
        true => other.trim().split('#').next().is_some_and(|other| other.trim() == here),
        false => other.trim().split('=').next().is_some_and(|key| key.trim() == name),
    };
    let first = text.lines().take(line - 1).position(is_line_of)? + 1;
    Some(match is_table {
        true => format!(
            "[{whole}] is already in the file, at line {first}\n  hint: put its keys there, and leave this line out"
        ),
        false => format!("`{name}` is set already, at line {first}"),
    })
}
