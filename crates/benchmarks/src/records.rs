//! The kinds of records with columns, as folders declare them (`[columns.NAME]`). Records of a benchmark that names none
//! consist of a group for each step.

use std::sync::OnceLock;

use riddlemill_text::hint::unknown;
use riddlemill_text::record::{CellKind, Column};

use crate::ballot::Ballot;
use crate::draft::{ANSWERED, Draft, REPLIED};
use crate::expression::Expression;
use crate::figure::Report;
use crate::native::Native;
use crate::reader::{Keys, Problem, read};

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
    fn form(&self) -> String {
        let column = |column: &Column| format!("{} {:?} {}\n", column.name, column.kind, column.filled);
        self.columns.iter().map(column).collect()
    }

    /// The columns as text where no built-in folder declares the same: those of the built-in ones are known to the program,
    /// and stages made before they were declared are of the same form.
    pub(crate) fn own_form(&self) -> Option<String> {
        let form = self.form();
        let known = built_in().iter().any(|kind| kind.name == self.name && kind.form() == form);
        (!known).then_some(form)
    }
}

/// Where findings of drafts and ballots go.
const FLAGS: &str = "flags";

/// Parses `[columns]` of a benchmark.toml.
pub(crate) fn declared(keys: &Keys<'_>) -> Vec<&'static RecordKind> {
    keys.each("columns", |name, keys| {
        let columns: Vec<Column> = keys
            .names()
            .into_iter()
            .filter_map(|column| keys.table(column, |keys| of(column, keys))?)
            .collect();
        if !columns.first().is_some_and(|first| first.name == "id" && first.kind == CellKind::Text) {
            let first = columns.first().map_or("id", |first| first.name);
            keys.problem(first, format!("[columns.{name}]: the first column is `id`, of type \"text\""));
        }
        // The groups that steps make of records without a kind are in a column of this name.
        if keys.has(GROUPS) {
            keys.problem(GROUPS, format!("[columns.{name}]: no column may be named {GROUPS:?}"));
        }
        let columns: &'static [Column] = columns.leak();
        &*Box::leak(Box::new(RecordKind { name, columns }))
    })
}

/// `None` if there is a problem, which is reported.
fn of(name: &'static str, keys: &Keys<'_>) -> Option<Column> {
    if !name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_') {
        keys.problem("type", format!("{name}: a column's name has small letters, digits and `_`"));
    }
    let about = keys.needed("about");
    if !keys.has("type") {
        keys.needed("type");
    }
    let types = [
        ("text", CellKind::Text),
        ("count", CellKind::Count),
        ("number", CellKind::Real),
        ("flag", CellKind::Flag),
        ("list of text", CellKind::Texts),
    ];
    let kind = keys.one_of("type", &types)?;
    let null = keys.flag("null");
    if kind == CellKind::Texts && null.is_some() {
        keys.problem("null", "a list is never null: without texts it is empty");
    }
    let filled = name == "id" || kind == CellKind::Texts || null == Some(false);
    Some(Column { name, kind, filled, about })
}

/// The kinds that a file declares, whatever else is wrong with it.
pub(crate) fn of_file(text: &str) -> Vec<&'static RecordKind> {
    let mut kinds = Vec::new();
    // Its problems are told where the whole folder is read.
    drop(read("", text, |keys| kinds = declared(keys)));
    kinds
}

/// The kinds of the built-in folders: a copy of one that was made before kinds were declared names them, too.
pub(crate) fn built_in() -> &'static [&'static RecordKind] {
    static KINDS: OnceLock<Vec<&'static RecordKind>> = OnceLock::new();
    KINDS.get_or_init(|| {
        let files = crate::folders().into_iter().flat_map(|(_, files)| files);
        files.filter(|(path, _)| *path == "benchmark.toml").flat_map(|(_, text)| of_file(text)).collect()
    })
}

/// The kind of a name among those that a folder may use; one that there is not is reported.
pub(crate) fn find(
    name: &str,
    known: &[&'static RecordKind],
    keys: &Keys<'_>,
) -> Option<&'static RecordKind> {
    let found = known.iter().copied().find(|kind| kind.name == name);
    if found.is_none() {
        keys.problem("records", unknown("kind of records", name, known.iter().map(|kind| kind.name)));
    }
    found
}

/// Names in a ballot's expressions in addition to columns.
const SHOWN: [&str; 3] = ["it", "blind", "found"];
/// Names for the decision in a ballot's expressions.
const SAID: [&str; 6] = ["said", "given", "decisions", "standing", "basis", "it"];

/// Unknown columns used by a draft.
pub(crate) fn unknown_to_draft(fields: &[(&'static str, Expression)], draft: &Draft) -> Vec<Problem> {
    let keeps = (draft.leaves, draft.keeps.as_slice());
    let mut problems =
        unknown_to_step(draft.records, fields, draft.asked(), draft.said().chain(draft.checked()), keeps);
    let checks = draft.checked().next().is_some() || !draft.discards.is_empty();
    if let Some(kind) = draft.leaves.filter(|kind| checks && !has(kind, FLAGS)) {
        let what = format!("[columns.{}] has no list {FLAGS:?}, where findings go", kind.name);
        problems.push(Problem {
            place: format!("{}/benchmark.toml [step.{}]", draft.benchmark, draft.name),
            what,
        });
    }
    problems
}

fn has(kind: &RecordKind, column: &str) -> bool {
    kind.columns.iter().any(|known| known.name == column)
}

/// Unknown columns used by an operation's step.
pub(crate) fn unknown_to_native(fields: &[(&'static str, Expression)], native: &Native) -> Vec<Problem> {
    let keeps = (native.records, native.keeps.as_slice());
    unknown_to_step(native.records, fields, native.asked(), native.said(), keeps)
}

/// Unknown columns used by a step, in expressions over the record, in those over the record and the findings,
/// and as their targets.
fn unknown_to_step<'e>(
    records: Option<&'static RecordKind>,
    fields: &[(&'static str, Expression)],
    asked: impl Iterator<Item = &'e Expression>,
    behind: impl Iterator<Item = &'e Expression>,
    (kind, keeps): (Option<&'static RecordKind>, &[(&'static str, Expression)]),
) -> Vec<Problem> {
    let Some(known) = records.map(|kind| kind.columns) else { return Vec::new() };
    let names = || known.iter().map(|column| column.name).chain(fields.iter().map(|(name, _)| *name));
    let told =
        |e: &Expression, what: Option<String>| what.map(|what| Problem { place: e.place().to_owned(), what });
    let asked = asked.filter_map(|e| told(e, e.unknown("column", names())));
    let behind = behind.filter_map(|e| told(e, e.unknown("column", names().chain(REPLIED).chain(ANSWERED))));
    let columns = kind.map(|kind| kind.columns).unwrap_or_default();
    let strange = keeps.iter().filter(|(column, _)| !columns.iter().any(|known| known.name == *column));
    let strange = strange.filter_map(|(column, e)| {
        told(e, Some(unknown("column", column, columns.iter().map(|column| column.name))))
    });
    asked.chain(behind).chain(strange).collect()
}

/// Columns that the records of a benchmark have not, where its report names them.
/// `at` gives the kind of records behind a step, or behind the last one.
pub(crate) fn unknown_to_report(
    report: &Report,
    fields: &[(&'static str, Expression)],
    at: impl Fn(Option<&str>) -> Option<&'static RecordKind>,
) -> Vec<Problem> {
    let fields = || fields.iter().map(|(name, _)| *name);
    let mut problems = Vec::new();
    let mut check = |kind: Option<&RecordKind>, asked: &Expression| {
        let Some(columns) = kind.map(|kind| kind.columns) else { return };
        let known = || columns.iter().map(|column| column.name).chain(fields()).chain(["source_kind"]);
        let strange = asked.unknown("column", known());
        problems.extend(strange.map(|what| Problem { place: asked.place().to_owned(), what }));
    };
    report.parts.iter().for_each(|part| check(at(None), &part.of));
    for figure in &report.figures {
        let kind = figure.records.or_else(|| at(figure.step));
        figure.expressions().into_iter().for_each(|asked| check(kind, asked));
        figure.of_last().into_iter().for_each(|asked| check(at(None), asked));
    }
    problems
}

/// Columns that the records of a benchmark have not, where its ballots name them.
pub(crate) fn unknown_columns(
    kind: &RecordKind,
    fields: &[(&'static str, Expression)],
    ballots: &[Ballot],
) -> Vec<Problem> {
    let columns = || kind.columns.iter().map(|column| column.name);
    let fields = || fields.iter().map(|(name, _)| *name);
    let mut problems = Vec::new();
    for ballot in ballots {
        let Some(asked) = ballot.asked else { continue };
        let told = |e: &Expression, what: Option<String>| {
            what.map(|what| Problem { place: e.place().to_owned(), what })
        };
        for e in asked.expressions() {
            problems.extend(told(e, e.unknown("column", columns().chain(fields()).chain(SHOWN))));
        }
        for e in asked.decided() {
            problems.extend(told(e, e.unknown("column", columns().chain(fields()).chain(SAID))));
        }
        for (column, e) in asked.keeps.iter().filter(|(column, _)| !columns().any(|known| known == *column)) {
            problems.extend(told(e, Some(unknown("column", column, columns()))));
        }
        for column in ["status", "basis"].map(|end| format!("{}_{end}", asked.standing)) {
            if !columns().any(|known| known == column) {
                let place = format!("{}/ballots.toml [ballot.{}]", ballot.recipe, ballot.name);
                problems.push(Problem { place, what: unknown("column", &column, columns()) });
            }
        }
    }
    problems
}
