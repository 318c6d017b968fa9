//! The kinds of records with columns, as folders declare them (`[columns.NAME]`). Records of a benchmark that names none
//! consist of a group for each step.

use std::sync::OnceLock;

use riddlemill_record::{CellKind, Column};
use riddlemill_text::hint::unknown;

use crate::reader::{Keys, parse_file};

/// A kind of records: a name, and columns in the order of the rows.
#[derive(Debug, PartialEq, Eq)]
pub struct RecordKind {
    /// What folders call it.
    pub name: &'static str,
    /// Its columns, the first of which is the id.
    pub columns: &'static [Column],
}

const GROUPS: &str = "groups";

impl RecordKind {
    /// What a row's form depends on: names, order and types of the columns.
    fn row_form(&self) -> String {
        let column = |column: &Column| format!("{} {:?} {}\n", column.name, column.kind, column.filled);
        self.columns.iter().map(column).collect()
    }

    /// The columns as text where no built-in folder declares the same: those of the built-in ones are known to the program,
    /// and stages made before they were declared are of the same form.
    pub(crate) fn own_form(&self) -> Option<String> {
        let form = self.row_form();
        let known = built_in().iter().any(|kind| kind.name == self.name && kind.row_form() == form);
        (!known).then_some(form)
    }
}

/// Parses `[columns]` of a benchmark.toml.
pub(crate) fn parse_record_kinds(keys: &Keys<'_>) -> Vec<&'static RecordKind> {
    keys.read_named_tables("columns", |name, keys| {
        let columns: Vec<Column> = keys
            .key_names()
            .into_iter()
            .filter_map(|column| keys.read_table(column, |keys| read_column(column, keys))?)
            .collect();
        if !columns.first().is_some_and(|first| first.name == "id" && first.kind == CellKind::Text) {
            let first = columns.first().map_or("id", |first| first.name);
            keys.report_problem(
                first,
                format!("[columns.{name}]: the first column is `id`, of type \"text\""),
            );
        }
        // The groups that steps make of records without a kind are in a column of this name.
        if keys.has_key(GROUPS) {
            keys.report_problem(GROUPS, format!("[columns.{name}]: no column may be named {GROUPS:?}"));
        }
        let columns: &'static [Column] = columns.leak();
        &*Box::leak(Box::new(RecordKind { name, columns }))
    })
}

/// `None` if there is a problem, which is reported.
fn read_column(name: &'static str, keys: &Keys<'_>) -> Option<Column> {
    if !name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_') {
        keys.report_problem("type", format!("{name}: a column's name has small letters, digits and `_`"));
    }
    let about = keys.require_text("about");
    if !keys.has_key("type") {
        keys.require_text("type");
    }
    let types = [
        ("text", CellKind::Text),
        ("count", CellKind::Count),
        ("number", CellKind::Real),
        ("flag", CellKind::Flag),
        ("list of text", CellKind::Texts),
    ];
    let kind = keys.one_of("type", &types)?;
    let null = keys.read_flag("null");
    if kind == CellKind::Texts && null.is_some() {
        keys.report_problem("null", "a list is never null: without texts it is empty");
    }
    let filled = name == "id" || kind == CellKind::Texts || null == Some(false);
    Some(Column { name, kind, filled, about })
}

/// The kinds that a file declares, whatever else is wrong with it.
pub(crate) fn of_file(text: &str) -> Vec<&'static RecordKind> {
    let mut kinds = Vec::new();
    // Its problems are reported when the whole folder is read.
    drop(parse_file("", text, |keys| kinds = parse_record_kinds(keys)));
    kinds
}

/// The kinds of the built-in folders: a copy of one that was made before kinds were declared names them, too.
pub(crate) fn built_in() -> &'static [&'static RecordKind] {
    static KINDS: OnceLock<Vec<&'static RecordKind>> = OnceLock::new();
    KINDS.get_or_init(|| {
        let files = crate::built_in_folders()
            .into_iter()
            .flat_map(|(name, files)| crate::edition2::read_folder(name, &files).0);
        files.filter(|(path, _)| *path == "benchmark.toml").flat_map(|(_, text)| of_file(text)).collect()
    })
}

/// The kind of a name among those that a folder may use; one that there is not is reported.
pub(crate) fn find_kind(
    name: &str,
    known: &[&'static RecordKind],
    keys: &Keys<'_>,
) -> Option<&'static RecordKind> {
    let found = known.iter().copied().find(|kind| kind.name == name);
    if found.is_none() {
        keys.report_problem("records", unknown("kind of records", name, known.iter().map(|kind| kind.name)));
    }
    found
}
