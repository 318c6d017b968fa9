//! What the records of a source must have, as its kind or its settings say.

use super::files::Dump;
use crate::config::{SourceKind, TABLE};
use riddlemill_files::reading::column_name;

/// A column that is needed.
pub(super) struct WantedColumn {
    /// Where that is said: a setting, or the kind of the source.
    pub(super) by: String,
    /// It or another one.
    pub(super) any: Vec<String>,
}

impl WantedColumn {
    /// Whether it is the column of this name.
    pub(super) fn is_column(&self, name: &str) -> bool {
        self.any.iter().any(|any| column_name(any) == name)
    }
}

/// What the records of a dump must have.
pub(super) fn wanted_columns(dump: &Dump) -> Vec<WantedColumn> {
    let of_kind = |columns: &[&[&str]]| -> Vec<WantedColumn> {
        let kind = super::files::kind_name(dump.kind);
        let any = |any: &&[&str]| WantedColumn {
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
                    |name: &str| WantedColumn { by: by.clone(), any: vec![name.to_owned(), pattern.clone()] };
                let names: Vec<WantedColumn> = in_braces(pattern).map(single).collect();
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

/// How much of what a source's records have these names are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Held {
    /// Whether a text is among them, or what shows a record of the kind.
    pub(super) texts: bool,
    /// How many of the columns.
    pub(super) columns: usize,
}

/// What these names of columns hold of a dump's records. A member counts for what is in it (`author` for `author.name`).
pub(super) fn held_columns(dump: &Dump, names: &[String]) -> Held {
    let is_there = |name: &str| {
        let member = name.split('.').next().unwrap_or_default();
        names.iter().any(|known| column_name(known) == column_name(name) || known == member)
    };
    if dump.kind == SourceKind::Table {
        let mut held = Held::default();
        for (field, pattern) in &dump.fields {
            let inner: Vec<&str> = in_braces(pattern).collect();
            let all = is_there(pattern) || !inner.is_empty() && inner.into_iter().all(is_there);
            held.columns += usize::from(all);
            held.texts |= all && matches!(field.as_str(), "title" | "content");
        }
        return held;
    }
    let found: Vec<bool> =
        wanted_columns(dump).iter().map(|wanted| wanted.any.iter().any(|name| is_there(name))).collect();
    let texts = match dump.kind {
        // Their posts are known by two ids.
        SourceKind::ThreadDump | SourceKind::Aiotieba => found.iter().all(|found| *found),
        _ => found.last() == Some(&true),
    };
    Held { texts, columns: found.into_iter().filter(|found| *found).count() }
}

/// The columns with the texts of a dump's records.
pub(super) fn text_columns(dump: &Dump) -> Vec<String> {
    if dump.kind == SourceKind::Table {
        let patterns = ["title", "content"].iter().filter_map(|field| dump.fields.get(*field));
        return patterns
            .flat_map(|pattern| {
                let inner: Vec<String> = in_braces(pattern).map(str::to_owned).collect();
                if inner.is_empty() { vec![pattern.clone()] } else { inner }
            })
            .collect();
    }
    wanted_columns(dump).pop().map(|wanted| wanted.any).unwrap_or_default()
}
