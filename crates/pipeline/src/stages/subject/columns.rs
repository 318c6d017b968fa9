//! Records whose columns steps fill: what ballots show of them and where the answers go, as declared in their benchmark's folder.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use minijinja::Value as TemplateValue;
use minijinja::value::{Object, ValueKind};
use riddlemill_benchmarks::ballot::BallotSource;
use riddlemill_benchmarks::ballot_source::ElementList;
use riddlemill_benchmarks::native::NativeStep;
use riddlemill_benchmarks::requirement::OfAnswers;
use riddlemill_benchmarks::scope::{Scope, layer_variables, text_of_value as text_of, texts_of_value};
use riddlemill_benchmarks::{Expression, ExpressionError};
use riddlemill_record::{
    Cell, CellKind, Column, Language, OwnedCell, Record, Row, Standing, derive_id, flags_of, with_fields,
};
use riddlemill_review::ballot::{Ballot, Drafts};
use riddlemill_review::item::Content;
use riddlemill_review::{Digest, Item, Value, Values};

use super::{Decision, single_decision, votes_of};
use crate::stages::draft::answer_as_template;

/// What a ballot shows of a record.
pub(super) fn items_of_record(record: &Row, ballot: &Ballot, seed: u64) -> Vec<Item> {
    let Some(asked) = ballot.asked else { return Vec::new() };
    let found = flags_of(record.flags(), ballot.name);
    let names = BTreeMap::from([
        ("blind", TemplateValue::from(ballot.drafts == Drafts::Hidden)),
        ("found", TemplateValue::from(found)),
    ]);
    let row = layer_variables(names, &row_as_template(record));
    let whole = scope_of_names(&row, ballot.recipe);
    if !whole.is_true(asked.when.as_ref()).unwrap_or(true) {
        return Vec::new();
    }
    let Some(over) = &asked.over else {
        return vec![make_item(record, ballot, asked, &whole, record.id(), seed)];
    };
    let of_element = |element: Element| make_item(record, ballot, asked, &element.scope, &element.id, seed);
    // A list that cannot be computed has no elements, and the record waits for a decision on nothing.
    let elements = list_elements(&row, record.id(), over, ballot.recipe).unwrap_or_default();
    elements.into_iter().map(of_element).collect()
}

/// An element of a record about which a step asks separately.
pub(super) struct Element {
    /// What it is.
    pub it: TemplateValue,
    /// Its name in the record's list.
    pub called: String,
    /// The id of its item.
    pub id: String,
    /// The record as expressions see it, with the element as `it`.
    pub scope: Scope<'static>,
}

/// The elements about which a ballot or a draft asks one by one; null has none.
///
/// # Errors
/// [`ExpressionError`] where the list cannot be computed, or is none.
pub(super) fn list_elements(
    names: &TemplateValue,
    record: &str,
    over: &ElementList,
    benchmark: &str,
) -> Result<Vec<Element>, ExpressionError> {
    let elements = evaluate_list(&scope_of_names(names, benchmark), &over.list)?;
    let element = |it: TemplateValue| {
        let scope = scope_of_names(&layer_variables(BTreeMap::from([("it", it.clone())]), names), benchmark);
        let called = scope.compute_text(&over.called).ok().flatten().unwrap_or_default();
        Element { it, id: derive_id(over.role, &[record, &called]), called, scope }
    };
    Ok(elements.into_iter().map(element).collect())
}

/// The elements of a list; null has none.
///
/// # Errors
/// [`ExpressionError`] where it cannot be computed, or is none.
pub(in crate::stages) fn evaluate_list(
    scope: &Scope<'_>,
    expression: &Expression,
) -> Result<Vec<TemplateValue>, ExpressionError> {
    let list = scope.compute_value(expression)?;
    match list.kind() {
        ValueKind::None | ValueKind::Undefined => Ok(Vec::new()),
        ValueKind::Seq | ValueKind::Iterable => {
            Ok(list.try_iter().map_err(|e| expression.make_trouble(e.to_string()))?.collect())
        }
        // A text would give its letters.
        kind => Err(expression.make_trouble(format!("{} is a {kind}, not a list", expression.source()))),
    }
}

/// What annotators see of a record with columns, or of one of its elements.
fn make_item(
    record: &Row,
    step: &Ballot,
    asked: &BallotSource,
    scope: &Scope<'static>,
    id: &str,
    seed: u64,
) -> Item {
    let drafted = |(field, is): &(&'static str, Expression)| {
        Some((*field, scope.compute_value(is).ok().and_then(|value| value_for_people(&value))?))
    };
    let draft = asked.draft.iter().filter_map(drafted).collect();
    let mut item = new_item(step, asked, scope, id, draft, seed);
    item.written_in = step.not_by.map(|ballot| written_in(record, step.recipe, ballot)).unwrap_or_default();
    item
}

/// An item that shows what its ballot declares, or two texts to compare, with this draft and the other values that its ballot
/// declares.
pub(super) fn new_item(
    ballot: &Ballot,
    asked: &BallotSource,
    scope: &Scope<'static>,
    id: &str,
    draft: Values,
    seed: u64,
) -> Item {
    let mut content = Content::new();
    for (key, is) in &asked.shows {
        match scope.compute_value(is) {
            Ok(value) => content.extend(value_for_people(&value).map(|value| ((*key).to_owned(), value))),
            // Whoever votes sees that something lacks, and what.
            Err(trouble) => drop(content.insert((*key).to_owned(), Value::Text(trouble.to_string()))),
        }
    }
    let mut item = match &asked.compares {
        Some(compares) => {
            let side = |(code, is): &(&'static str, Expression)| {
                (*code, scope.compute_text(is).ok().flatten().unwrap_or_default())
            };
            let sides = [side(&compares.sides[0]), side(&compares.sides[1])];
            Item::from_sides(ballot, id, content, compares.key, sides, seed)
        }
        None => Item::new(ballot, id, content, draft),
    };
    for (field, is) in &asked.ranked {
        let codes = scope.compute_texts(is).unwrap_or_default();
        if !codes.is_empty() {
            item.ranked.insert(field, codes);
        }
    }
    item.language = ballot.of_its_language.then(|| language_of_scope(scope)).flatten();
    item.requires =
        ballot.asked.and_then(|asked| OfAnswers::select_for_group(&asked.requires, asked.group, scope));
    item.apart =
        asked.apart.as_ref().map(|apart| scope.compute_texts(apart).unwrap_or_default()).unwrap_or_default();
    item
}

/// The language of a record as expressions see it, if it is one that people can be said to read.
fn language_of_scope(scope: &Scope<'_>) -> Option<String> {
    let of_post = scope.find_variable("post").and_then(|post| post.get_attr("language").ok());
    let stated = of_post.or_else(|| scope.find_variable("language")).and_then(|language| text_of(&language));
    stated.filter(|language| language != Language::Und.code())
}

/// The votes of a ballot that a record's text was taken from.
fn written_in(record: &Row, benchmark: &str, ballot: &str) -> Vec<Digest> {
    let ballot =
        riddlemill_benchmarks::find_benchmark(benchmark).and_then(|benchmark| benchmark.find_ballot(ballot));
    let asked = ballot.and_then(|ballot| ballot.asked);
    asked.map(|asked| votes_of(record.list(&format!("{}_basis", asked.standing)))).unwrap_or_default()
}

/// Puts what was decided into the columns that the ballot names.
pub(super) fn write_decisions(
    record: &mut Row,
    ballot: &Ballot,
    decisions: &[Option<Decision>],
    standing: Standing,
    basis: Vec<String>,
) {
    let Some(asked) = ballot.asked else { return };
    let (status_column, basis_column) =
        (format!("{}_status", asked.standing), format!("{}_basis", asked.standing));
    let mut names = BTreeMap::from([
        ("standing", TemplateValue::from(standing.code())),
        ("basis", TemplateValue::from(basis.clone())),
    ]);
    match &asked.over {
        Some(_) => {
            let of_element = |decision: &Option<Decision>| match decision {
                Some(decision) => TemplateValue::from_pairs([
                    ("said", answers_as_template(&decision.values)),
                    ("given", decision.given.iter().map(answers_as_template).collect()),
                ]),
                None => TemplateValue::from_pairs([("said", TemplateValue::from_pairs::<_, &str, ()>([]))]),
            };
            names.insert("decisions", decisions.iter().map(of_element).collect());
        }
        None => {
            let Some(decision) = single_decision(decisions) else { return };
            names.insert("said", answers_as_template(&decision.values));
            names.insert("given", decision.given.iter().map(answers_as_template).collect());
        }
    }
    let before = scope_of_names(&layer_variables(names.clone(), &row_as_template(record)), ballot.recipe);
    let mut all = record.list(&basis_column).to_vec();
    all.extend(basis);
    let mut cells = BTreeMap::from([
        (status_column.as_str(), OwnedCell::Text(standing.code().to_owned())),
        (basis_column.as_str(), OwnedCell::Texts(all)),
    ]);
    let (kept, mut findings) = fill_kept_columns(record.columns(), &asked.keeps, &before);
    cells.extend(kept);
    *record = with_fields(record, |column| cells.remove(column));
    // Computed anew, because `finds` may use the columns that were filled just now.
    let behind = scope_of_names(&layer_variables(names, &row_as_template(record)), ballot.recipe);
    for find in &asked.finds {
        match behind.compute_value(find) {
            Ok(found) => findings.extend(texts_of_value(&found)),
            Err(trouble) => findings.push(trouble.to_string()),
        }
    }
    record.add_flags(findings.into_iter().map(|finding| format!("{}: {finding}", ballot.name)));
}

/// The columns that a table of `keeps` fills, and what could not be computed.
pub(in crate::stages) fn fill_kept_columns(
    columns: &[Column],
    keeps: &[(&'static str, Expression)],
    scope: &Scope<'_>,
) -> (BTreeMap<&'static str, OwnedCell>, Vec<String>) {
    let (mut cells, mut troubles) = (BTreeMap::new(), Vec::new());
    for (column, is) in keeps {
        let kind = columns.iter().find(|known| known.name == *column).map(|column| column.kind);
        match (kind, scope.compute_value(is)) {
            (Some(kind), Ok(value)) => drop(cells.insert(*column, cell_of_value(kind, &value))),
            (None, Ok(_)) => {}
            (_, Err(trouble)) => troubles.push(trouble.to_string()),
        }
    }
    (cells, troubles)
}

/// Puts what a named operation found into the columns that its step names. Returns what could not be computed.
pub(super) fn write_findings(
    record: &mut Row,
    native: &NativeStep,
    values: &Values,
    basis: &[String],
) -> Vec<String> {
    let names = BTreeMap::from([
        ("said", answers_as_template(values)),
        ("basis", basis.iter().map(|basis| TemplateValue::from(basis.as_str())).collect()),
    ]);
    write_kept_columns(record, &native.keeps, names, native.benchmark)
}

/// Computes columns from a record and further names. Returns what could not be computed.
pub(super) fn write_kept_columns(
    record: &mut Row,
    keeps: &[(&'static str, Expression)],
    names: BTreeMap<&'static str, TemplateValue>,
    benchmark: &str,
) -> Vec<String> {
    let behind = scope_of_names(&layer_variables(names, &row_as_template(record)), benchmark);
    let (mut cells, troubles) = fill_kept_columns(record.columns(), keeps, &behind);
    *record = with_fields(record, |column| cells.remove(column));
    troubles
}

/// The value of a ballot's expression over a record, as text; empty if it has none.
pub(super) fn text_of_expression(
    record: &Row,
    ballot: &Ballot,
    which: fn(&BallotSource) -> Option<&Expression>,
) -> String {
    let Some(is) = ballot.asked.and_then(which) else { return String::new() };
    let in_words = |trouble: ExpressionError| Some(trouble.to_string());
    scope_of_names(&row_as_template(record), ballot.recipe)
        .compute_text(is)
        .unwrap_or_else(in_words)
        .unwrap_or_default()
}

/// These names, and the `[fields]` of a benchmark.
pub(super) fn scope_of_names(names: &TemplateValue, benchmark: &str) -> Scope<'static> {
    let fields =
        riddlemill_benchmarks::find_benchmark(benchmark).map(|found| found.fields()).unwrap_or_default();
    Scope::new(names.clone(), fields)
}

pub(in crate::stages) fn answers_as_template(values: &Values) -> TemplateValue {
    TemplateValue::from_pairs(
        values.iter().map(|(field, value)| (field.to_owned(), answer_as_template(value))),
    )
}

/// A value in the form that annotators see; `None` for null and an empty list.
pub(super) fn value_for_people(value: &TemplateValue) -> Option<Value> {
    match value.kind() {
        ValueKind::Seq | ValueKind::Iterable => {
            Some(texts_of_value(value)).filter(|list| !list.is_empty()).map(Value::List)
        }
        _ => text_of(value).map(Value::Text),
    }
}

/// A value in the form of a column.
pub(super) fn cell_of_value(kind: CellKind, value: &TemplateValue) -> OwnedCell {
    if value.is_none() || value.is_undefined() {
        return if kind == CellKind::Texts { OwnedCell::Texts(Vec::new()) } else { OwnedCell::Null };
    }
    let count = || value.as_usize().and_then(|count| u64::try_from(count).ok());
    match kind {
        CellKind::Text => text_of(value).map_or(OwnedCell::Null, OwnedCell::Text),
        CellKind::Texts => OwnedCell::Texts(texts_of_value(value)),
        CellKind::Flag => OwnedCell::Flag(value.is_true()),
        CellKind::Count => count().map_or(OwnedCell::Null, OwnedCell::Count),
        CellKind::Real => f64::try_from(value.clone()).map_or(OwnedCell::Null, OwnedCell::Real),
    }
}

/// A record's columns by their names. What is not asked for is not converted.
struct Named(Row);

impl fmt::Debug for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.id())
    }
}

impl Object for Named {
    fn get_value(self: &Arc<Self>, key: &TemplateValue) -> Option<TemplateValue> {
        Some(match self.0.cell(key.as_str()?)? {
            Cell::Null => TemplateValue::from(()),
            Cell::Text(text) => TemplateValue::from(text),
            Cell::Count(n) => TemplateValue::from(n),
            Cell::Real(x) => TemplateValue::from(x),
            Cell::Flag(flag) => TemplateValue::from(flag),
            Cell::Texts(list) => TemplateValue::from(list.to_vec()),
        })
    }
}

pub(super) fn row_as_template(record: &Row) -> TemplateValue {
    TemplateValue::from_object(Named(record.clone()))
}
