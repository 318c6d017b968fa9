//! The published rows of a workspace, and the values that each has for its record at a step.

use std::collections::BTreeMap;

use minijinja::Value as TemplateValue;
use minijinja::value::Serde;
use riddlemill_benchmarks::scope::group_name;
use riddlemill_benchmarks::{Benchmark, notation};
use serde_json::{Map, Value as Json};

use super::super::context::StageRows;
use super::super::subject::GROUPS;
use super::super::subject::declared::RecordGroups;
use riddlemill_record::{CellKind, OwnedCell, Record, Row, Standing, record, with_fields};
use riddlemill_tables::{Error, Manifest, StageReader, Workspace};

record! {
    /// A row of a published file.
    pub struct PublishedRow {
        /// What the row is called at the end of its benchmark: its record's id, with `_SR` or `_CR` behind it where it is
        /// a reconstruction.
        id: String,
        /// The record that it belongs to.
        record: String,
        /// The benchmark in whose published form it is written.
        benchmark: String,
        /// Which of its group it is; empty where each row is a record.
        role: String,
        /// The source's name.
        source: String,
        /// The file's name.
        file: String,
        /// Its place in the file, from 1.
        position: u64,
        /// The SHA-256 of the file.
        sha256: String,
        /// The number that the set gave it.
        number: Option<u64>,
        /// The row in the file's own form.
        json: String,
    }
}

impl PublishedRow {
    /// The basis of what is taken from it: the file by its hash, and the row's place.
    pub fn basis_of_row(&self) -> String {
        format!("published:{}:{}", self.sha256.get(..16).unwrap_or(&self.sha256), self.position)
    }

    /// Its members, in their order, each with the text of its value.
    pub fn members_of_row(&self) -> Vec<(String, &str)> {
        notation::split_members(&self.json).unwrap_or_default()
    }
}

/// All published rows that an import stage read.
#[derive(Debug, Default)]
pub struct Published {
    rows: Vec<PublishedRow>,
    by_record: BTreeMap<String, Vec<usize>>,
    by_id: BTreeMap<String, Vec<usize>>,
}

/// The values of a row: fields of a record with their values.
pub type PublishedValues = Vec<(&'static str, TemplateValue)>;

/// The table of an import stage that contains them.
pub(in crate::stages) const TABLE: &str = "published";

impl Published {
    /// The rows read by the import stage from which a benchmark's records come; none if that stage was not made.
    ///
    /// # Errors
    /// [`Error`] where the table is damaged.
    pub fn load(workspace: &Workspace, benchmark: &str) -> Result<Published, Error> {
        let Some(benchmark) = riddlemill_benchmarks::find_benchmark(benchmark) else {
            return Ok(Published::default());
        };
        let origin = benchmark.find_origin();
        let Some(first) = origin.steps.first() else { return Ok(Published::default()) };
        let Some(import) = StageReader::open(&workspace.stage_folder(origin.name, 1, first.name))? else {
            return Ok(Published::default());
        };
        if !import.manifest().tables.contains_key(TABLE) {
            return Ok(Published::default());
        }
        Ok(Published::index(import.read_table(TABLE)?))
    }

    /// The hash of what [`Published::load`] would read; `None` where there is nothing.
    ///
    /// # Errors
    /// [`Error`] where the stage's manifest is damaged.
    pub fn manifest_evidence(workspace: &Workspace, benchmark: &str) -> Result<Option<String>, Error> {
        let Some(benchmark) = riddlemill_benchmarks::find_benchmark(benchmark) else { return Ok(None) };
        let origin = benchmark.find_origin();
        let Some(first) = origin.steps.first() else { return Ok(None) };
        let manifest = Manifest::read_from_stage(&workspace.stage_folder(origin.name, 1, first.name))?;
        Ok(manifest.and_then(|manifest| Some(manifest.tables.get(TABLE)?.hash.clone())))
    }

    /// Rows in the order of their files.
    pub fn index(rows: Vec<PublishedRow>) -> Published {
        let mut published = Published { rows, ..Published::default() };
        for (at, row) in published.rows.iter().enumerate() {
            published.by_record.entry(row.record.clone()).or_default().push(at);
            published.by_id.entry(row.id.clone()).or_default().push(at);
        }
        published
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// All of them, in the order of their files.
    pub fn rows(&self) -> &[PublishedRow] {
        &self.rows
    }

    /// The rows of a record, in their order.
    pub fn of_record(&self, record: &str) -> impl Iterator<Item = &PublishedRow> {
        self.by_record.get(record).into_iter().flatten().map(|at| &self.rows[*at])
    }

    /// The row that is called so at the end of a benchmark and is written in its form, and its place among all.
    pub fn row_of(&self, id: &str, benchmark: &str) -> Option<(usize, &PublishedRow)> {
        let found = self.by_id.get(id)?.iter().map(|at| (*at, &self.rows[*at]));
        found.into_iter().find(|(_, row)| row.benchmark == benchmark)
    }

    /// The basis given by a record's rows.
    pub fn basis_of_record(&self, record: &str) -> String {
        self.of_record(record).map(PublishedRow::basis_of_row).collect::<Vec<_>>().join(" ")
    }

    /// The values that the rows of a record give it at a step.
    pub fn published_values(&self, record: &str, step: &str) -> PublishedValues {
        let rows: Vec<&PublishedRow> = self.of_record(record).collect();
        let mut values = PublishedValues::new();
        // If two files have values for one record, the first counts.
        let mut benchmarks: Vec<&str> = Vec::new();
        for row in &rows {
            if benchmarks.contains(&row.benchmark.as_str()) {
                continue;
            }
            benchmarks.push(&row.benchmark);
            let group: Vec<&PublishedRow> =
                rows.iter().copied().filter(|other| other.benchmark == row.benchmark).collect();
            for (field, value) in row_values(row, &group, step) {
                if values.iter().all(|(known, _)| *known != field) {
                    values.push((field, value));
                }
            }
        }
        values
    }

    /// The values of one row at a step, without the other rows of its record.
    pub fn values_of_row(&self, row: &PublishedRow, step: &str) -> PublishedValues {
        let group: Vec<&PublishedRow> =
            self.of_record(&row.record).filter(|other| other.benchmark == row.benchmark).collect();
        row_values(row, &group, step)
    }

    /// A record with the published values of its rows at a step.
    pub fn apply_to_record<R: Record>(&self, record: &R, step: &str) -> R {
        with_values(record, &self.published_values(record.id(), step), step)
    }

    /// A record at the end of its benchmark from its row alone, regardless of decisions in this workspace.
    pub fn record_from_row<R: Record>(&self, record: &R, row: &PublishedRow, benchmark: &str) -> R {
        let mut steps: Vec<&str> = Vec::new();
        if let Some(benchmark) = riddlemill_benchmarks::find_benchmark(benchmark) {
            steps.extend(benchmark.find_origin().steps.iter().map(|step| step.name));
            if benchmark.find_origin().name != benchmark.name {
                steps.extend(benchmark.steps.iter().map(|step| step.name));
            }
        }
        let start = with_fields(record, |_| None);
        steps
            .into_iter()
            .fold(start, |record, step| with_values(&record, &self.values_of_row(row, step), step))
    }
}

fn row_values(row: &PublishedRow, group: &[&PublishedRow], step: &str) -> PublishedValues {
    let Some(benchmark) = riddlemill_benchmarks::find_benchmark(&row.benchmark) else {
        return PublishedValues::new();
    };
    let declared = declared_at(benchmark, step);
    if declared.is_empty() {
        return PublishedValues::new();
    }
    let scope = scope_of_row(row, group);
    // A value that cannot be computed counts as missing.
    let value = |expression: &riddlemill_benchmarks::Expression| expression.compute_value(&scope).ok();
    declared.into_iter().filter_map(|(field, is)| Some((field, value(is)?))).collect()
}

/// What a benchmark's folder declares of a step, and the one that it is like.
fn declared_at(
    benchmark: &'static Benchmark,
    step: &str,
) -> Vec<(&'static str, &'static riddlemill_benchmarks::Expression)> {
    let Some(published) = &benchmark.published else { return Vec::new() };
    let mut declared: Vec<_> =
        published.values_at_step(step).iter().map(|(field, is)| (*field, is)).collect();
    let other =
        published.like.and_then(riddlemill_benchmarks::find_benchmark).and_then(|b| b.published.as_ref());
    for (field, is) in other.map(|other| other.values_at_step(step)).unwrap_or_default() {
        if declared.iter().all(|(known, _)| known != field) {
            declared.push((field, is));
        }
    }
    declared
}

/// A row as the expressions of `[published]` see it: its keys, `this`, `rows` of its group by their roles, the name of its
/// `file`, and what states how certain it is.
fn scope_of_row(row: &PublishedRow, group: &[&PublishedRow]) -> TemplateValue {
    let this = row_as_json(row);
    let rows: BTreeMap<String, TemplateValue> =
        group.iter().map(|row| (row.role.clone(), TemplateValue::from(Serde(row_as_json(row))))).collect();
    let mut names: BTreeMap<String, TemplateValue> =
        this.iter().map(|(key, value)| (key.clone(), TemplateValue::from(Serde(value.clone())))).collect();
    names.insert("this".into(), TemplateValue::from(Serde(this)));
    names.insert("file".into(), TemplateValue::from(row.file.as_str()));
    names.insert("rows".into(), TemplateValue::from(rows));
    names.insert("role".into(), TemplateValue::from(row.role.as_str()));
    names.insert("standing".into(), TemplateValue::from(Standing::Published.code()));
    let basis: Vec<String> = group.iter().map(|row| row.basis_of_row()).collect();
    names.insert("basis".into(), TemplateValue::from(basis));
    TemplateValue::from(names)
}

/// A row as JSON: null where it holds what JSON has no word for.
fn row_as_json(row: &PublishedRow) -> Map<String, Json> {
    let members = row.members_of_row().into_iter();
    members.filter_map(|(key, text)| Some((key, notation::parse_value(text)?))).collect()
}

/// A record with some of its fields replaced by published values. For declared records they are the step's group.
pub(super) fn with_values<R: Record>(record: &R, values: &PublishedValues, step: &str) -> R {
    if values.is_empty() {
        return with_fields(record, |_| None);
    }
    let columns = R::described(record.columns());
    let column = |name: &str| columns.iter().find(|column| column.name == name);
    if column(GROUPS).is_some() {
        let groups = groups_with_values(Row::from_record(StageRows::Groups.columns(), record), values, step);
        return with_fields(record, |name| (name == GROUPS).then(|| OwnedCell::Text(groups.clone())));
    }
    with_fields(record, |name| {
        let (_, value) = values.iter().find(|(field, _)| *field == name)?;
        Some(cell_of_value(column(name)?.kind, value))
    })
}

/// The published value of a field, as text; empty if there is none.
pub(super) fn text_of(values: &PublishedValues, field: &str) -> String {
    let value = values.iter().find(|(name, _)| *name == field);
    match value.map(|(_, value)| cell_of_value(CellKind::Text, value)) {
        Some(OwnedCell::Text(text)) => text,
        _ => String::new(),
    }
}

/// The groups of a record with the published values in that of a step.
fn groups_with_values(mut record: Row, values: &PublishedValues, step: &str) -> String {
    let mut all = RecordGroups::parse_groups(&record);
    let name = step.strip_prefix("review:").unwrap_or(step);
    let of_step = all.of_step(&group_name(name));
    for (field, value) in values {
        of_step.insert((*field).to_owned(), serde_json::to_value(value).unwrap_or_default());
    }
    all.write_into(&mut record);
    record.text(GROUPS).unwrap_or_default().to_owned()
}

/// A value as a cell of a type. A text that is none (a number) is written as it reads; in a list what is missing is an
/// empty text.
fn cell_of_value(kind: CellKind, value: &TemplateValue) -> OwnedCell {
    if value.is_none() || value.is_undefined() {
        return if kind == CellKind::Texts { OwnedCell::Texts(Vec::new()) } else { OwnedCell::Null };
    }
    let text = |value: &TemplateValue| match value.as_str() {
        Some(text) => text.to_owned(),
        None if value.is_none() || value.is_undefined() => String::new(),
        None => value.to_string(),
    };
    match kind {
        CellKind::Text => OwnedCell::Text(text(value)),
        CellKind::Count => {
            let whole = value.is_integer().then(|| u64::try_from(value.clone()).ok()).flatten();
            whole.map_or(OwnedCell::Null, OwnedCell::Count)
        }
        CellKind::Real => f64::try_from(value.clone()).map_or(OwnedCell::Null, OwnedCell::Real),
        CellKind::Flag => bool::try_from(value.clone()).map_or(OwnedCell::Null, OwnedCell::Flag),
        CellKind::Texts => {
            let list = value.as_str().is_none().then(|| value.try_iter().ok()).flatten();
            OwnedCell::Texts(list.map(|list| list.map(|one| text(&one)).collect()).unwrap_or_default())
        }
    }
}
