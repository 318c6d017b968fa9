//! `[[compat]]`, `[compat.back]` and `[compat.labels]`: the files that a set's authors published.

use std::collections::BTreeMap;
use std::sync::Arc;

use minijinja::value::Value;
use riddlemill_text::hint::unknown;

use crate::expression::{Expression, ExpressionError, Language};
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

impl Compats {
    /// The set's label for one of a published file, if it is another one.
    pub fn label_for(&self, column: &str, theirs: &str) -> Option<&'static str> {
        self.renamed.iter().find(|(name, _)| *name == column)?.1.get(theirs).copied()
    }
}

/// A file in the form that the set's authors published.
#[derive(Debug)]
pub struct Compat {
    /// Its name under compat/.
    pub file: &'static str,
    /// How its rows are written, by the ending of its name.
    pub form: CompatFormat,
    /// Its name as a separate config for `load_dataset`. A file without rows is not one.
    pub config: Option<&'static str>,
    /// The condition for a row to be in it; none means all.
    pub when: Option<Expression>,
    /// Its keys in the published order, with their values over the columns.
    pub keys: Arc<Vec<(&'static str, Expression)>>,
}

/// How the rows of a published file are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompatFormat {
    /// Objects line by line.
    JsonLines,
    /// One array of objects.
    Json,
    /// A table with a header, its cells separated by commas.
    Csv,
    /// A table with a header, its cells separated by tabs.
    Tsv,
    /// Columns with types.
    Parquet,
}

impl CompatFormat {
    /// By the ending of a file's name.
    const ENDINGS: [(&'static str, CompatFormat); 5] = [
        (".jsonl", CompatFormat::JsonLines),
        (".json", CompatFormat::Json),
        (".csv", CompatFormat::Csv),
        (".tsv", CompatFormat::Tsv),
        (".parquet", CompatFormat::Parquet),
    ];

    fn from_file_name(file: &str) -> Option<CompatFormat> {
        CompatFormat::ENDINGS.iter().find(|(ending, _)| file.ends_with(ending)).map(|(_, form)| *form)
    }
}

impl Compat {
    /// A row in published form; `None` if it is not in this file.
    ///
    /// # Errors
    /// [`ExpressionError`] if a value cannot be computed.
    pub fn to_published_row(
        &self,
        row: &Value,
    ) -> Result<Option<serde_json::Map<String, serde_json::Value>>, ExpressionError> {
        if let Some(when) = &self.when
            && !when.is_true(row)?
        {
            return Ok(None);
        }
        let mut published = serde_json::Map::new();
        for (key, value) in self.keys.iter() {
            let value = serde_json::to_value(value.compute_value(row)?).unwrap_or_default();
            published.insert((*key).to_owned(), value);
        }
        Ok(Some(published))
    }
}

/// Parses the tables of a benchmark.toml; `columns` are those of the set.
pub(crate) fn parse_compats(language: Language, file: &str, keys: &Keys<'_>, columns: &[&str]) -> Compats {
    let mut published = Compats::default();
    keys.read_tables("compat", |keys| {
        let mut compat = parse_compat(language, file, keys);
        if published.files.iter().any(|other| other.file == compat.file) {
            keys.report_problem("file", format!("two published files are named {:?}", compat.file));
        }
        let like = keys.read_text("like");
        match like {
            Some(_) if keys.has_key("keys") => {
                keys.report_problem(
                    "like",
                    "`like` gives the keys of another file, and `keys` gives them here: one of the two",
                );
            }
            None if compat.keys.is_empty() => {
                keys.report_problem(
                    "keys",
                    "no keys, so that every row would be empty: `keys`, or `like` with another file's name",
                );
            }
            _ => {}
        }
        if let Some(like) = like {
            match published.files.iter().find(|other| other.file == like) {
                Some(other) => compat.keys = Arc::clone(&other.keys),
                None => {
                    let known = published.files.iter().map(|other| other.file);
                    keys.report_problem("like", unknown("file before this one", like, known));
                }
            }
        }
        let names = || columns.iter().copied().chain(["this"]);
        let asked = compat.keys.iter().map(|(_, value)| value).chain(&compat.when);
        for problem in asked.filter_map(|value| value.find_unknown_name("column", names())) {
            keys.report_problem("keys", problem);
        }
        let known = |keys: &Keys<'_>, name: &str| {
            if !columns.contains(&name) {
                keys.report_problem(name, unknown("column", name, columns.iter().copied()));
            }
        };
        let of_column = |keys: &Keys<'_>| -> Vec<_> {
            let names = keys.key_names().into_iter();
            let read = names.filter_map(|name| {
                known(keys, name);
                Some((name, Expression::parse_key(language, file, keys, name)?))
            });
            read.collect()
        };
        published.back.extend(keys.read_table("back", of_column).unwrap_or_default());
        keys.read_table("labels", |labels| {
            for column in labels.key_names() {
                known(labels, column);
                published.renamed.extend(labels.read_table(column, |keys| (column, parse_renames(keys))));
            }
        });
        published.files.push(compat);
    });
    published
}

fn parse_compat(language: Language, file: &str, keys: &Keys<'_>) -> Compat {
    let published = |keys: &Keys<'_>| -> Vec<_> {
        let value = |name: &'static str| Some((name, Expression::parse_key(language, file, keys, name)?));
        keys.key_names().into_iter().filter_map(value).collect()
    };
    let name = keys.require_text("file");
    Compat {
        file: name,
        form: parse_form(keys, name),
        config: keys.read_text("config"),
        when: Expression::parse_key(language, file, keys, "when"),
        keys: Arc::new(keys.read_table("keys", published).unwrap_or_default()),
    }
}

/// The form of a published file with this name.
fn parse_form(keys: &Keys<'_>, name: &str) -> CompatFormat {
    let lines = keys.read_flag("lines");
    let form = CompatFormat::from_file_name(name);
    if form.is_none() && !name.is_empty() {
        let endings = CompatFormat::ENDINGS.map(|(ending, _)| ending).join(", ");
        keys.report_problem(
            "file",
            format!("the ending of {name:?} says no form of the file; one of {endings} does"),
        );
    }
    if name.contains(['/', '\\']) {
        keys.report_problem(
            "file",
            format!("{name:?} is in a folder; published files are directly under compat/"),
        );
    }
    match (form, lines) {
        // Some authors published JSON Lines under this name.
        (Some(CompatFormat::Json), Some(true)) => CompatFormat::JsonLines,
        (Some(CompatFormat::Json), _) => CompatFormat::Json,
        (Some(CompatFormat::JsonLines), Some(true)) => CompatFormat::JsonLines,
        (Some(form), None) => form,
        (Some(form), Some(_)) => {
            keys.report_problem(
                "lines",
                "`lines` goes with a file that ends in .json; any other ending says the form alone",
            );
            form
        }
        (None, _) => CompatFormat::JsonLines,
    }
}

/// Labels of a published file, each with what this set writes instead.
fn parse_renames(keys: &Keys<'_>) -> BTreeMap<&'static str, &'static str> {
    keys.key_names().into_iter().filter_map(|theirs| Some((theirs, keys.read_text(theirs)?))).collect()
}
