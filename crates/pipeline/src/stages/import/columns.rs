//! The columns that a source's records must have. A column is missing where no row of a file has it.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{Deserializer as _, IgnoredAny, MapAccess, Visitor};

use serde_json::Value;

use super::files::Dump;
use super::known_columns::field_of;
use super::wanted::{WantedColumn, in_braces, wanted_columns};
use super::{loose, rows};
use crate::config::{SourceKind, near_miss, toml_string};
use riddlemill_files::reading::column_name;
use riddlemill_text::notation;

/// Most columns that a message names.
const NAMED: usize = 30;
/// Names under which people store texts, to suggest one of a file's columns.
const TEXTS: [&str; 22] = [
    "text",
    "content",
    "body",
    "title",
    "selftext",
    "post",
    "message",
    "data",
    "sentence",
    "question",
    "prompt",
    "instruction",
    "input",
    "joke",
    "comment",
    "文本",
    "内容",
    "正文",
    "标题",
    "题目",
    "帖子",
    "问题",
];

/// Columns that no row of a file has although its source needs them.
pub(super) struct MissingColumns {
    /// Which, those that are there, and what to do.
    pub(super) what: String,
    /// Whether the rows are posts without them: one of title and content is there, nothing looks like the other, and keys of
    /// JSON without a value may be left out.
    pub(super) is_read: bool,
}

/// What no row of a file has; `None` where nothing is missing, or where the file has no rows. `limit` is the most bytes of a
/// row.
pub(super) fn find_missing_columns(dump: &Dump, limit: u64) -> Option<MissingColumns> {
    dump.piece.is_first().then(|| read_columns(dump, limit)).and_then(|columns| missing_of(dump, &columns))
}

/// The columns of a file or of a piece of one.
#[derive(Clone, Debug, Default)]
pub(super) struct FileColumns {
    /// In the order in which they come: as many as a message names, and those that the source needs.
    pub(super) names: Vec<String>,
    /// Whether they stand above the rows, as in a table.
    pub(super) is_header: bool,
}

/// The columns of a dump. Rows are read until they had all that its source needs; of a source that needs none, none is.
pub(super) fn read_columns(dump: &Dump, limit: u64) -> FileColumns {
    let mut open = wanted_columns(dump);
    let mut names: Vec<String> = Vec::new();
    if open.is_empty() {
        return FileColumns::default();
    }
    let mut known = BTreeSet::new();
    let mut take = |name: String, open: &mut Vec<WantedColumn>| {
        if known.contains(&name) {
            return;
        }
        let before = open.len();
        open.retain(|wanted| !wanted.is_column(&name));
        if names.len() < NAMED || open.len() < before {
            names.push(name.clone());
        }
        known.insert(name);
    };
    let needed = open.iter().flat_map(|wanted| &wanted.any);
    let inner: Vec<String> = needed.filter(|name| name.contains('.')).cloned().collect();
    let header = rows::read_header(dump);
    let is_header = header.is_some();
    match header {
        Some(header) => {
            header.into_iter().filter(|name| !name.is_empty()).for_each(|name| take(name, &mut open))
        }
        None => {
            'rows: for batch in rows::read_batches(dump, limit) {
                for at in 0..batch.len() {
                    let Some(Ok(bytes)) = batch.get(at).map(|item| item.bytes) else { continue };
                    for name in keys_of_object(bytes, &inner) {
                        take(name, &mut open);
                    }
                    if open.is_empty() {
                        break 'rows;
                    }
                }
            }
        }
    }
    FileColumns { names, is_header }
}

/// What is missing among the columns of a dump, or of the file that it is a piece of.
pub(super) fn missing_of(dump: &Dump, columns: &FileColumns) -> Option<MissingColumns> {
    let FileColumns { names: columns, is_header: has_header } = columns;
    let has = |wanted: &WantedColumn| columns.iter().any(|name| wanted.is_column(name));
    let open: Vec<WantedColumn> = wanted_columns(dump).into_iter().filter(|wanted| !has(wanted)).collect();
    if columns.is_empty() {
        return None;
    }
    if open.is_empty() {
        return unread_people(dump, columns).or_else(|| unread_titles(dump, columns));
    }
    if let Some(what) = unread_types(dump, &open) {
        return Some(MissingColumns { what, is_read: false });
    }
    let columns = &columns[..columns.len().min(NAMED)];
    let there = columns.join(", ");
    let what = open.iter().map(|wanted| {
        let (name, own) =
            (wanted.any.first().map(String::as_str).unwrap_or_default(), dump.kind == SourceKind::Table);
        let names = if own {
            format!("`{name}`")
        } else {
            wanted.any.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" or ")
        };
        format!("{names} ({})", wanted.by)
    });
    let what = what.collect::<Vec<_>>().join(", ");
    let hints: Vec<String> = open.iter().filter_map(|wanted| suggest_column(dump, wanted, columns)).collect();
    let hint = match (dump.kind, hints.is_empty()) {
        (SourceKind::Table, false) => hints.join(", "),
        (SourceKind::Table, true) => format!(
            "name a column that is there, or, if rows may lack it, optional = [{}]",
            open.iter()
                .filter_map(|w| w.any.first())
                .map(|name| toml_string(name.as_str()))
                .collect::<Vec<_>>()
                .join(", ")
        ),
        _ => {
            let text =
                TEXTS.iter().find(|text| columns.iter().any(|name| name == *text)).unwrap_or(&"COLUMN");
            format!(
                "another kind; kind = \"table\" reads any columns, with fields = {{ content = {} }}",
                toml_string(text)
            )
        }
    };
    let texts = ["fields.title", "fields.content"];
    let one_is_there =
        dump.fields.contains_key("title") && dump.fields.contains_key("content") && open.len() == 1;
    let is_read = !has_header
        && hints.is_empty()
        && one_is_there
        && open.iter().all(|wanted| texts.contains(&wanted.by.as_str()));
    let without = if is_read { " and the rows are read without it" } else { "" };
    Some(MissingColumns {
        what: format!("no row has the column {what}{without}; the columns are {there}\n  hint: {hint}"),
        is_read,
    })
}

/// Columns that are there, with values of a type that is not read.
fn unread_types(dump: &Dump, open: &[WantedColumn]) -> Option<String> {
    let unread = rows::unread_columns(dump);
    let member = |name: &str| name.split('.').next().unwrap_or_default().to_owned();
    let is_wanted = |name: &String| {
        open.iter()
            .flat_map(|wanted| &wanted.any)
            .any(|any| column_name(any) == *name || member(any) == *name)
    };
    let found: Vec<&(String, String)> = unread.iter().filter(|(name, _)| is_wanted(name)).collect();
    let first = &found.first()?.0;
    let held: Vec<String> = found.iter().map(|(name, holds)| format!("`{name}` holds {holds}")).collect();
    Some(format!(
        "{}, which are not read\n  hint: with pandas, `df[{first:?}] = df[{first:?}].astype(str)` writes them as texts (of a struct, `pd.json_normalize` makes columns); or, if rows may lack it, optional = [{first:?}]",
        held.join(", ")
    ))
}

/// Records without the authors that their kind reads, but with a column of people that it does not: no name would be found in texts.
fn unread_people(dump: &Dump, columns: &[String]) -> Option<MissingColumns> {
    let author = match dump.kind {
        SourceKind::LeymoreTitles => "lz",
        SourceKind::LeymoreAnnual | SourceKind::Reddit => "author",
        _ => return None,
    };
    let person = columns.iter().find(|column| field_of(column) == Some("author"))?;
    if columns.iter().any(|column| column == author) {
        return None;
    }
    let kind = super::files::kind_name(dump.kind);
    Some(MissingColumns {
        what: format!(
            "kind = \"{kind}\" reads authors from `{author}`, which no row has, and not from `{person}`: their names would stay in texts; the columns are {}\n  hint: kind = \"table\", with fields = {{ {} }}",
            columns.join(", "),
            fields_of(columns).join(", ")
        ),
        is_read: false,
    })
}

/// Posts with titles under a kind whose posts have none: those of an annual thread are numbered (`l_num`) and have no title of their own.
fn unread_titles(dump: &Dump, columns: &[String]) -> Option<MissingColumns> {
    let title = columns.iter().find(|column| field_of(column) == Some("title"))?;
    if dump.kind != SourceKind::LeymoreAnnual || columns.iter().any(|column| column == "l_num") {
        return None;
    }
    Some(MissingColumns {
        what: format!(
            "kind = \"leymore-annual\" reads posts of annual threads, which have no `{title}`; the columns are {}\n  hint: kind = \"table\", with fields = {{ {} }}",
            columns.join(", "),
            fields_of(columns).join(", ")
        ),
        is_read: false,
    })
}

/// Fields of a table whose columns these are, as settings have them.
fn fields_of(columns: &[String]) -> Vec<String> {
    let fields = ["id", "title", "content", "author", "time", "score"].into_iter().filter_map(|field| {
        let column = columns.iter().find(|column| field_of(column) == Some(field))?;
        Some(format!("{field} = {column:?}"))
    });
    fields.collect()
}

/// The setting with a column that is there and was probably meant.
fn suggest_column(dump: &Dump, wanted: &WantedColumn, columns: &[String]) -> Option<String> {
    if dump.kind != SourceKind::Table {
        return None;
    }
    let name = wanted.any.first()?;
    let used: Vec<&str> =
        dump.fields.values().flat_map(|pattern| in_braces(pattern).chain([pattern.as_str()])).collect();
    let free = || columns.iter().map(String::as_str).filter(|column| !used.contains(column));
    let folded = free().find(|column| column.eq_ignore_ascii_case(name));
    let is_text = matches!(wanted.by.as_str(), "fields.title" | "fields.content");
    let like = || free().find(|column| is_text && TEXTS.iter().any(|text| column.eq_ignore_ascii_case(text)));
    let meant = folded.or_else(|| near_miss(name, free())).or_else(like);
    // A person's name under another name would stay in texts, were the column only optional.
    let is_author = meant.is_none() && wanted.by == "fields.author";
    if let Some(person) = free().find(|column| is_author && field_of(column) == Some("author")) {
        return Some(format!(
            "fields.author = {}, in a [[source]] of its own where other files have {name:?}; or, if that is nobody's name, optional = [{name:?}]",
            toml_string(person)
        ));
    }
    let meant = meant?;
    Some(match dump.fields.values().any(|pattern| pattern == name) {
        true => format!("{} = {}", wanted.by, toml_string(meant)),
        // Between quotes, because that is where braces are written.
        false => format!("{} in {}", toml_string(&format!("{{{meant}}}")), wanted.by),
    })
}

/// The keys of an object, and of these names with points (`author.name`) those that objects in it have; none of anything
/// else.
fn keys_of_object(bytes: &[u8], inner: &[String]) -> Vec<String> {
    struct Keys<'i>(&'i [String]);
    impl<'de> Visitor<'de> for Keys<'_> {
        type Value = Vec<String>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Vec<String>, A::Error> {
            let mut keys = Vec::new();
            while let Some(key) = map.next_key::<String>()? {
                let paths = loose::paths_within(self.0.iter().map(String::as_str), &key);
                match paths.is_empty() {
                    true => drop(map.next_value::<IgnoredAny>()?),
                    false => {
                        let value: Value = map.next_value()?;
                        let is_there =
                            |path: &&str| value.pointer(&format!("/{}", path.replace('.', "/"))).is_some();
                        let found = paths.into_iter().filter(is_there);
                        keys.extend(found.map(|path| format!("{key}.{path}")));
                    }
                }
                keys.push(column_name(&key));
            }
            Ok(keys)
        }
    }
    let Ok(text) = simdutf8::basic::from_utf8(bytes) else { return Vec::new() };
    let read = |text: &str| serde_json::Deserializer::from_str(text).deserialize_map(Keys(inner));
    read(text).or_else(|_| read(&notation::strict_json(text))).unwrap_or_default()
}
