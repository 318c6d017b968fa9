//! `[[compat]]`, `[compat.back]` and `[compat.labels]`: the files that a set's authors published.

use std::collections::BTreeMap;
use std::sync::Arc;

use minijinja::value::Value;
use riddlemill_text::hint::unknown;

use crate::expression::{Expression, Language, Trouble};
use crate::reader::Keys;

/// The published files of a set, and how their rows are read.
#[derive(Debug, Default)]
pub struct Compats {
    pub files: Vec<Compat>,
    /// Columns computed from an object of a published file.
    pub back: Vec<(&'static str, Expression)>,
    /// Labels of published files that differ from those of these columns, by column: theirs and ours.
    pub renamed: Vec<(&'static str, BTreeMap<&'static str, &'static str>)>,
}

/// A file in the form that the set's authors published.
#[derive(Debug)]
pub struct Compat {
    /// Its name under compat/.
    pub file: &'static str,
    /// Objects line by line, or one array.
    pub lines: bool,
    /// Its name as a separate config for `load_dataset`. A file without rows is not one.
    pub config: Option<&'static str>,
    /// The condition for a row to be in it; none means all.
    pub when: Option<Expression>,
    /// Its keys in the published order, with their values over the columns.
    pub keys: Arc<Vec<(&'static str, Expression)>>,
}

impl Compat {
    /// A row in published form; `None` if it is not in this file.
    ///
    /// # Errors
    /// [`Trouble`] if a value cannot be computed.
    pub fn published(
        &self,
        row: &Value,
    ) -> Result<Option<serde_json::Map<String, serde_json::Value>>, Trouble> {
        if let Some(when) = &self.when
            && !when.holds(row)?
        {
            return Ok(None);
        }
        let mut published = serde_json::Map::new();
        for (key, value) in self.keys.iter() {
            let value = serde_json::to_value(value.value(row)?).unwrap_or_default();
            published.insert((*key).to_owned(), value);
        }
        Ok(Some(published))
    }
}

/// Parses the tables of a benchmark.toml; `columns` are those of the set.
pub(crate) fn read(language: Language, file: &str, keys: &Keys<'_>, columns: &[&str]) -> Compats {
    let mut published = Compats::default();
    keys.tables("compat", |keys| {
        let mut compat = one(language, file, keys);
        if let Some(like) = keys.text("like") {
            match published.files.iter().find(|other| other.file == like) {
                Some(other) => compat.keys = Arc::clone(&other.keys),
                None => {
                    let known = published.files.iter().map(|other| other.file);
                    keys.problem("like", unknown("file before this one", like, known));
                }
            }
        }
        let names = || columns.iter().copied().chain(["this"]);
        let asked = compat.keys.iter().map(|(_, value)| value).chain(&compat.when);
        for problem in asked.filter_map(|value| value.unknown("column", names())) {
            keys.problem("keys", problem);
        }
        let known = |keys: &Keys<'_>, name: &str| {
            if !columns.contains(&name) {
                keys.problem(name, unknown("column", name, columns.iter().copied()));
            }
        };
        let of_column = |keys: &Keys<'_>| -> Vec<_> {
            let names = keys.names().into_iter();
            let read = names.filter_map(|name| {
                known(keys, name);
                Some((name, Expression::at(language, file, keys, name)?))
            });
            read.collect()
        };
        published.back.extend(keys.table("back", of_column).unwrap_or_default());
        keys.table("labels", |labels| {
            for column in labels.names() {
                known(labels, column);
                published.renamed.extend(labels.table(column, |keys| (column, renames(keys))));
            }
        });
        published.files.push(compat);
    });
    published
}

fn one(language: Language, file: &str, keys: &Keys<'_>) -> Compat {
    let published = |keys: &Keys<'_>| -> Vec<_> {
        let value = |name: &'static str| Some((name, Expression::at(language, file, keys, name)?));
        keys.names().into_iter().filter_map(value).collect()
    };
    Compat {
        file: keys.needed("file"),
        lines: keys.flag("lines").unwrap_or(true),
        config: keys.text("config"),
        when: Expression::at(language, file, keys, "when"),
        keys: Arc::new(keys.table("keys", published).unwrap_or_default()),
    }
}

/// Labels of a published file, each with what this set writes instead.
fn renames(keys: &Keys<'_>) -> BTreeMap<&'static str, &'static str> {
    keys.names().into_iter().filter_map(|theirs| Some((theirs, keys.text(theirs)?))).collect()
}
