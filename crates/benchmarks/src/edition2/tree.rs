//! A folder's values with their places: what both editions are read into, and written from.

use std::ops::Range;

use riddlemill_schema::hint::{toml_key, toml_string};
use riddlemill_schema::problem::Problem;
use toml_edit::{Item, TableLike, Value};

/// The files of a folder that have values, in the order of `ValuePlace::file`.
pub(super) const FILES: [&str; 6] = [
    "benchmark.toml",
    "ballots.toml",
    "report.toml",
    "benchmark.zh.toml",
    "ballots.zh.toml",
    "report.zh.toml",
];

/// Where a value stands: a file of the folder, line and column from 1; line 0 of a value that nobody wrote.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ValuePlace {
    /// Its place in [`FILES`].
    pub(super) file: usize,
    pub(super) line: usize,
    pub(super) column: usize,
}

impl ValuePlace {
    /// `ballots.toml:3:1`.
    pub(super) fn format_place(self) -> String {
        format!("{}:{}:{}", FILES[self.file], self.line, self.column)
    }
}

/// A value.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) what: NodeValue,
    pub(super) at: ValuePlace,
}

/// What a value is. Numbers and times stay as they are written.
#[derive(Clone, Debug)]
pub(super) enum NodeValue {
    Text(String),
    Flag(bool),
    Raw(String),
    List(Vec<Node>),
    Table(Table),
}

impl Node {
    pub(super) fn new(what: NodeValue, at: ValuePlace) -> Node {
        Node { what, at }
    }

    pub(super) fn from_text(text: impl Into<String>, at: ValuePlace) -> Node {
        Node::new(NodeValue::Text(text.into()), at)
    }

    pub(super) fn from_flag(flag: bool, at: ValuePlace) -> Node {
        Node::new(NodeValue::Flag(flag), at)
    }

    pub(super) fn from_number(number: usize, at: ValuePlace) -> Node {
        Node::new(NodeValue::Raw(number.to_string()), at)
    }

    pub(super) fn from_list(list: Vec<Node>, at: ValuePlace) -> Node {
        Node::new(NodeValue::List(list), at)
    }

    /// A list of texts.
    pub(super) fn from_texts<'t>(texts: impl IntoIterator<Item = &'t str>, at: ValuePlace) -> Node {
        Node::from_list(texts.into_iter().map(|text| Node::from_text(text, at)).collect(), at)
    }

    pub(super) fn from_table(table: Table, at: ValuePlace) -> Node {
        Node::new(NodeValue::Table(table), at)
    }

    pub(super) fn as_text(&self) -> Option<&str> {
        match &self.what {
            NodeValue::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn as_flag(&self) -> Option<bool> {
        match self.what {
            NodeValue::Flag(flag) => Some(flag),
            _ => None,
        }
    }

    pub(super) fn as_number(&self) -> Option<usize> {
        match &self.what {
            NodeValue::Raw(raw) => raw.parse().ok(),
            _ => None,
        }
    }

    pub(super) fn as_list(&self) -> Option<&[Node]> {
        match &self.what {
            NodeValue::List(list) => Some(list),
            _ => None,
        }
    }

    pub(super) fn as_table(&self) -> Option<&Table> {
        match &self.what {
            NodeValue::Table(table) => Some(table),
            _ => None,
        }
    }

    pub(super) fn into_list(self) -> Option<Vec<Node>> {
        match self.what {
            NodeValue::List(list) => Some(list),
            _ => None,
        }
    }

    pub(super) fn into_table(self) -> Option<Table> {
        match self.what {
            NodeValue::Table(table) => Some(table),
            _ => None,
        }
    }

    /// A text, or the texts of a list.
    pub(super) fn as_texts(&self) -> Vec<&str> {
        match &self.what {
            NodeValue::List(list) => list.iter().filter_map(Node::as_text).collect(),
            _ => self.as_text().into_iter().collect(),
        }
    }

    /// Whether it says that something is not: an empty text, or an empty table.
    pub(super) fn is_nothing(&self) -> bool {
        match &self.what {
            NodeValue::Text(text) => text.is_empty(),
            NodeValue::Table(table) => table.is_empty(),
            _ => false,
        }
    }

    /// A text in English and Chinese.
    pub(super) fn is_words(&self) -> bool {
        self.as_table()
            .is_some_and(|table| table.has_key("en") && table.keys().all(|key| key == "en" || key == "zh"))
    }

    /// A text in one language or in both.
    pub(super) fn is_text_or_words(&self) -> bool {
        self.as_text().is_some() || self.is_words()
    }

    /// The English of such a text.
    pub(super) fn english_text(&self) -> Option<&str> {
        self.as_text().or_else(|| self.as_table()?.text("en"))
    }

    /// The Chinese of a text in both languages.
    pub(super) fn chinese_text(&self) -> Option<&str> {
        self.as_table()?.text("zh")
    }

    /// Such a text with other words, made of those of each language.
    pub(super) fn map_languages(&self, mut with: impl FnMut(&str, bool) -> String) -> Node {
        match (self.as_text(), self.is_words()) {
            (Some(text), _) => Node::from_text(with(text, false), self.at),
            (None, true) => {
                let en = with(self.english_text().unwrap_or_default(), false);
                make_words(&en, self.chinese_text().map(|zh| with(zh, true)).as_deref(), self.at)
            }
            _ => self.clone(),
        }
    }
}

/// Whatever its place, and in whatever order the keys of its tables stand.
impl PartialEq for Node {
    fn eq(&self, other: &Node) -> bool {
        match (&self.what, &other.what) {
            (NodeValue::Text(one), NodeValue::Text(two)) => one == two,
            (NodeValue::Flag(one), NodeValue::Flag(two)) => one == two,
            (NodeValue::Raw(one), NodeValue::Raw(two)) => {
                one == two || one.parse::<f64>().is_ok_and(|x| two.parse() == Ok(x))
            }
            (NodeValue::List(one), NodeValue::List(two)) => one == two,
            (NodeValue::Table(one), NodeValue::Table(two)) => one == two,
            _ => false,
        }
    }
}

/// A text in both languages, or in English alone.
pub(super) fn make_words(en: &str, zh: Option<&str>, at: ValuePlace) -> Node {
    let Some(zh) = zh else { return Node::from_text(en, at) };
    let mut table = Table::default();
    table.set("en", Node::from_text(en, at));
    table.set("zh", Node::from_text(zh, at));
    Node::from_table(table, at)
}

/// Keys with values, in the order of the file.
#[derive(Clone, Debug, Default)]
pub(super) struct Table(Vec<(String, ValuePlace, Node)>);

impl Table {
    pub(super) fn get(&self, key: &str) -> Option<&Node> {
        self.0.iter().find(|(known, ..)| known == key).map(|(.., node)| node)
    }

    pub(super) fn get_mut(&mut self, key: &str) -> Option<&mut Node> {
        self.0.iter_mut().find(|(known, ..)| known == key).map(|(.., node)| node)
    }

    pub(super) fn has_key(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    pub(super) fn text(&self, key: &str) -> Option<&str> {
        self.get(key)?.as_text()
    }

    pub(super) fn table(&self, key: &str) -> Option<&Table> {
        self.get(key)?.as_table()
    }

    pub(super) fn list(&self, key: &str) -> Option<&[Node]> {
        self.get(key)?.as_list()
    }

    /// Removes a key.
    pub(super) fn take_node(&mut self, key: &str) -> Option<Node> {
        let at = self.0.iter().position(|(known, ..)| known == key)?;
        Some(self.0.remove(at).2)
    }

    pub(super) fn take_table(&mut self, key: &str) -> Option<Table> {
        self.table(key)?;
        self.take_node(key)?.into_table()
    }

    pub(super) fn take_list(&mut self, key: &str) -> Option<Vec<Node>> {
        self.list(key)?;
        self.take_node(key)?.into_list()
    }

    pub(super) fn take_text(&mut self, key: &str) -> Option<String> {
        match self.take_node(key)?.what {
            NodeValue::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Sets a key where it stands, or behind the others.
    pub(super) fn set(&mut self, key: &str, node: Node) {
        match self.get_mut(key) {
            Some(known) => *known = node,
            None => self.0.push((key.to_owned(), node.at, node)),
        }
    }

    /// Sets a key if it is not there.
    pub(super) fn set_default(&mut self, key: &str, node: Node) {
        if !self.has_key(key) {
            self.set(key, node);
        }
    }

    /// Gives a key another name, where it stands.
    pub(super) fn rename_key(&mut self, from: &str, to: &str) {
        if let Some(entry) = self.0.iter_mut().find(|(known, ..)| known == from) {
            to.clone_into(&mut entry.0);
        }
    }

    /// Gives keys the names of a map, where they stand.
    pub(super) fn rename_keys(&mut self, names: &[(&str, &str)], back: bool) {
        for (key, ..) in &mut self.0 {
            let found = names.iter().find(|(one, two)| *key == if back { *two } else { *one });
            if let Some((one, two)) = found {
                *key = (if back { *one } else { *two }).to_owned();
            }
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &Node)> {
        self.0.iter().map(|(key, _, node)| (key.as_str(), node))
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = (&str, &mut Node)> {
        self.0.iter_mut().map(|(key, _, node)| (key.as_str(), node))
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(key, ..)| key.as_str())
    }

    /// Each key with the place where it is written.
    pub(super) fn iter_with_places(&self) -> impl Iterator<Item = (&str, ValuePlace, &Node)> {
        self.0.iter().map(|(key, at, node)| (key.as_str(), *at, node))
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Without the keys whose values say that something is not.
    pub(super) fn without_nothing(mut self) -> Table {
        self.0.retain(|(.., node)| !node.is_nothing());
        self
    }

    /// The one key and value, if there is only one.
    pub(super) fn single_entry(&self) -> Option<(&str, &Node)> {
        match self.0.as_slice() {
            [(key, _, node)] => Some((key, node)),
            _ => None,
        }
    }

    fn push(&mut self, key: &str, at: ValuePlace, node: Node) {
        self.0.push((key.to_owned(), at, node));
    }
}

/// In whatever order the keys stand.
impl PartialEq for Table {
    fn eq(&self, other: &Table) -> bool {
        self.len() == other.len() && self.iter().all(|(key, node)| other.get(key) == Some(node))
    }
}

/// Parses a file of a folder, whose name for messages is `shown`.
///
/// # Errors
/// A syntax error, with its place.
pub(super) fn parse_table(file: usize, file_name: &str, text: &str) -> Result<Table, Problem> {
    let reader = riddlemill_schema::Reader::new(file_name, text);
    let read = reader.read_document(|table| PlaceReader::new(file, text).read_table(table));
    read.ok_or_else(|| reader.in_order().swap_remove(0))
}

/// Places of a text, without walking through it for each.
struct PlaceReader<'t> {
    file: usize,
    text: &'t str,
    starts: Vec<usize>,
}

impl<'t> PlaceReader<'t> {
    fn new(file: usize, text: &'t str) -> PlaceReader<'t> {
        let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        PlaceReader { file, text, starts }
    }

    fn place_of_span(&self, span: Option<Range<usize>>) -> ValuePlace {
        let Some(span) = span else { return ValuePlace { file: self.file, ..ValuePlace::default() } };
        let line = self.starts.partition_point(|start| *start <= span.start).max(1);
        let start = self.starts[line - 1];
        let column = self.text.get(start..span.start).map_or(1, |before| before.chars().count() + 1);
        ValuePlace { file: self.file, line, column }
    }

    fn read_table(&self, table: &dyn TableLike) -> Table {
        let mut read = Table::default();
        for (name, item) in table.iter() {
            let key = self.place_of_span(table.key(name).and_then(toml_edit::Key::span));
            let mut node = self.read_item(item);
            if node.at.line == 0 {
                node.at = key;
            }
            read.push(name, key, node);
        }
        read
    }

    fn read_item(&self, item: &Item) -> Node {
        let at = self.place_of_span(item.span());
        match item {
            Item::Value(value) => self.read_value(value),
            Item::Table(table) => Node::from_table(self.read_table(table), at),
            Item::ArrayOfTables(tables) => {
                let each = |table: &toml_edit::Table| {
                    Node::from_table(self.read_table(table), self.place_of_span(table.span()))
                };
                Node::from_list(tables.iter().map(each).collect(), at)
            }
            Item::None => Node::from_table(Table::default(), at),
        }
    }

    fn read_value(&self, value: &Value) -> Node {
        let at = self.place_of_span(value.span());
        match value {
            Value::String(text) => Node::from_text(text.value().clone(), at),
            Value::Boolean(flag) => Node::from_flag(*flag.value(), at),
            Value::Array(list) => {
                Node::from_list(list.iter().map(|value| self.read_value(value)).collect(), at)
            }
            Value::InlineTable(table) => Node::from_table(self.read_table(table), at),
            other => {
                let raw = other.clone().decorated("", "").to_string();
                Node::new(NodeValue::Raw(raw.trim().to_owned()), at)
            }
        }
    }
}

/// A text in TOML, in one line.
pub(super) fn quote_text(text: &str) -> String {
    if text.contains('\\') && !text.chars().any(|c| c == '\'' || c.is_control()) {
        return format!("'{text}'");
    }
    toml_string(text)
}

/// A key in TOML.
pub(super) fn format_key(key: &str) -> String {
    toml_key(key)
}

/// A value in TOML, in one line.
pub(super) fn format_inline(node: &Node) -> String {
    match &node.what {
        NodeValue::Text(text) => quote_text(text),
        NodeValue::Flag(flag) => flag.to_string(),
        NodeValue::Raw(raw) => raw.clone(),
        NodeValue::List(list) => {
            format!("[{}]", list.iter().map(format_inline).collect::<Vec<_>>().join(", "))
        }
        NodeValue::Table(table) if table.is_empty() => "{}".to_owned(),
        NodeValue::Table(table) => {
            let each: Vec<String> = table
                .iter()
                .map(|(k, node)| format!("{} = {}", format_key(k), format_inline(node)))
                .collect();
            format!("{{ {} }}", each.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_their_places_and_are_the_same_whatever_those_are() {
        let table =
            parse_table(1, "x/ballots.toml", "a = \"甲\" # said\n[b]\nc = [1, { d = true }]\n").unwrap();
        assert_eq!(table.get("a").unwrap().at.format_place(), "ballots.toml:1:5");
        let list = table.table("b").unwrap().list("c").unwrap();
        assert_eq!(list[1].at.format_place(), "ballots.toml:3:9");
        let other = parse_table(0, "x/benchmark.toml", "b = { c = [1, { d = true }] }\na = '甲'\n").unwrap();
        assert_eq!(table, other);
        assert_eq!(
            format_inline(&Node::from_table(other, ValuePlace::default())),
            "{ b = { c = [1, { d = true }] }, a = \"甲\" }"
        );
    }

    #[test]
    fn a_syntax_error_has_its_place() {
        let problem = parse_table(0, "x/benchmark.toml", "a = 1\nb = \n").unwrap_err();
        assert!(problem.place.starts_with("x/benchmark.toml:2:"), "{}", problem.place);
    }

    #[test]
    fn texts_are_quoted_so_that_they_are_read_back() {
        for text in ["plain", "a \"b\"", r"back\slash", "two\nlines\t'", "\u{1}", r"a\'b"] {
            let read = parse_table(0, "", &format!("x = {}\n", quote_text(text))).unwrap();
            assert_eq!(read.text("x"), Some(text));
        }
    }
}
