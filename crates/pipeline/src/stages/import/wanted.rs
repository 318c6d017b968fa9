//! What the records of a source must have, as its kind or its settings say.

use super::files::Dump;
use crate::config::{SourceKind, TABLE};
use riddlemill_files::reading::column_name;

/// A column that is needed.
pub(super) struct Wanted {
    /// Where that is said: a setting, or the kind of the source.
    pub(super) by: String,
    /// It or another one.
    pub(super) any: Vec<String>,
}

impl Wanted {
    /// Whether it is the column of this name.
    pub(super) fn is(&self, name: &str) -> bool {
        self.any.iter().any(|any| column_name(any) == name)
    }
}

/// What the records of a dump must have.
pub(super) fn wanted(dump: &Dump) -> Vec<Wanted> {
    let of_kind = |columns: &[&[&str]]| -> Vec<Wanted> {
        let kind = super::files::kind_name(dump.kind);
        let any = |any: &&[&str]| Wanted {
            by: format!("kind = \"{kind}\""),
            any: any.iter().map(|name| (*name).to_owned()).collect(),
        };
        columns.iter().map(any).collect()
    };
    match dump.kind {
        SourceKind::Table => {
            let needed = dump.fields.iter().flat_map(|(field, pattern)| {
                let by = match field.strip_prefix(TABLE) {
                    Some(column) => format!("columns.{column}"),
                    None => format!("fields.{field}"),
                };
                let single =
                    |name: &str| Wanted { by: by.clone(), any: vec![name.to_owned(), pattern.clone()] };
                let names: Vec<Wanted> = in_braces(pattern).map(single).collect();
                if names.is_empty() { vec![single(pattern)] } else { names }
            });
            needed.filter(|wanted| !wanted.any.iter().any(|name| dump.optional.contains(name))).collect()
        }
        SourceKind::LeymoreTitles => of_kind(&[&["title", "abs"]]),
        SourceKind::LeymoreAnnual => of_kind(&[&["content"]]),
        SourceKind::ThreadDump | SourceKind::Aiotieba => of_kind(&[&["tid"], &["pid"]]),
        SourceKind::Reddit => of_kind(&[&["id"], &["title", "selftext", "body"]]),
        SourceKind::Cqia => of_kind(&[&["instruction"]]),
        SourceKind::Puzzles => of_kind(&[&["question"]]),
        SourceKind::Published | SourceKind::Warc | SourceKind::Profile => Vec::new(),
    }
}

/// The columns of a template, without the blanks around their names.
pub(super) fn in_braces(pattern: &str) -> impl Iterator<Item = &str> {
    pattern.split('{').skip(1).filter_map(|rest| rest.split_once('}')).map(|(name, _)| name.trim())
}

/// Whether one of these is a column that records of a dump must have, or the member that goes on to it. Of a table it is one of texts: what is around a list of
/// posts may have an id and a date, too.
pub(super) fn any_of(dump: &Dump, names: &[String]) -> bool {
    let is_of_texts = |wanted: &&Wanted| {
        dump.kind != SourceKind::Table || matches!(wanted.by.as_str(), "fields.title" | "fields.content")
    };
    let is_there = |name: &String| {
        let member = name.split('.').next().unwrap_or_default();
        names.contains(name) || names.iter().any(|known| known == member)
    };
    wanted(dump).iter().filter(is_of_texts).flat_map(|wanted| &wanted.any).any(is_there)
}
