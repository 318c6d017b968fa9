//! Figures as one JSON object, and as the lines of `report`.

use std::collections::BTreeMap;

use minijinja::Value;
use minijinja::value::Serde;
use riddlemill_benchmarks::figure::{Division, Figure, FigureKind, Line};
use riddlemill_benchmarks::{Benchmark, Expression, ExpressionError};
use serde_json::{Map, Value as Json, json};

use super::named::{division_of_figure, name_tables};
use super::numbers::numbers_of_parts;
use super::{Found, INDENT};
use crate::figures::Table;

/// What `report` shows of a benchmark below its funnel.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The figures by their names, as JSON; those of parts in a list under the name of the division.
    pub figures: Map<String, Json>,
    /// The same as lines of text.
    pub text: String,
    /// The same as tables, for files and pages.
    pub tables: Vec<Table>,
}

/// Names with their values, for templates.
type Names = BTreeMap<String, Value>;

impl Report {
    /// `found` has the values of each figure: one, or one a part.
    pub(super) fn put_together(
        benchmark: &Benchmark,
        found: &[Vec<Found>],
    ) -> Result<Report, ExpressionError> {
        let declared = &benchmark.report;
        let mut figures = Map::new();
        for (figure, found) in declared.figures.iter().zip(found) {
            let Some(division) = division_of_figure(declared, figure) else {
                found.iter().for_each(|found| add(&mut figures, figure, &found.value));
                continue;
            };
            let part = |part: &&str| json!({ division.key: part });
            let parts = figures
                .entry(division.name)
                .or_insert_with(|| division.values.iter().map(part).collect())
                .as_array_mut();
            for (part, found) in parts.into_iter().flatten().zip(found) {
                if let Json::Object(part) = part {
                    add(part, figure, &found.value);
                }
            }
        }
        let names = add_names(&Names::new(), &figures);
        let mut text = String::new();
        for (figure, found) in declared.figures.iter().zip(found) {
            text.push_str(&match (division_of_figure(declared, figure), &found[..]) {
                (Some(division), parts) => of_parts(figure, division, parts, &figures, &names)?,
                (None, [found]) => describe_figure(figure, found, &names)?,
                (None, _) => String::new(),
            });
        }
        Ok(Report { figures, text, tables: name_tables(benchmark, found) })
    }
}

fn add(figures: &mut Map<String, Json>, figure: &Figure, value: &Json) {
    match (&figure.kind, value) {
        (FigureKind::Lines(_) | FigureKind::OfAnswers(_), _) => {}
        (FigureKind::Numbers(_), Json::Object(numbers)) => figures.extend(numbers.clone()),
        _ => drop(figures.insert(figure.name.to_owned(), value.clone())),
    }
}

/// Objects with the keys that the folder gives them.
pub(super) fn rename_keys(value: Json, keys: &[(&'static str, Expression)]) -> Result<Json, ExpressionError> {
    Ok(match value {
        Json::Array(list) => list.into_iter().map(|one| rename_keys(one, keys)).collect::<Result<_, _>>()?,
        Json::Object(cells) => {
            let over = Value::from(add_names(&Names::new(), &cells));
            let mut renamed = Map::new();
            for (key, cell) in keys {
                let value = serde_json::to_value(cell.compute_value(&over)?).unwrap_or_default();
                renamed.insert((*key).to_owned(), value);
            }
            Json::Object(renamed)
        }
        other => other,
    })
}

/// The names with more before them.
fn add_names(names: &Names, cells: &Map<String, Json>) -> Names {
    let mut names = names.clone();
    names.extend(cells.iter().map(|(name, value)| (name.clone(), Value::from(Serde(value.clone())))));
    names
}

/// A figure of the whole set, or of one part.
fn describe_figure(figure: &Figure, found: &Found, names: &Names) -> Result<String, ExpressionError> {
    let value = match &figure.kind {
        FigureKind::Lines(of) => {
            serde_json::to_value(of.compute_value(&Value::from(names.clone()))?).unwrap_or_default()
        }
        _ => found.value.clone(),
    };
    let title = figure_title(figure, &value, names)?.map(|title| format!("  {title}\n")).unwrap_or_default();
    let body = match &figure.line {
        Line::None => String::new(),
        Line::Template(line) => figure_lines(figure, line, &value, names)?,
        Line::Usual => found.lines.clone(),
    };
    Ok(title + &body)
}

/// A figure of each part: numbers with a column a part, others behind each other.
fn of_parts(
    figure: &Figure,
    division: &Division,
    parts: &[Found],
    figures: &Map<String, Json>,
    names: &Names,
) -> Result<String, ExpressionError> {
    let of_part = |at: usize| match figures.get(division.name).and_then(|list| list.get(at)) {
        Some(Json::Object(part)) => add_names(names, part),
        _ => names.clone(),
    };
    let numbers: Vec<&Table> = parts.iter().filter_map(|part| part.numbers.as_ref()).collect();
    if matches!(figure.line, Line::Usual) && !numbers.is_empty() {
        let wide = division.values.iter().map(|part| format!(" {part:>10}")).collect::<String>();
        let title = figure_title(figure, &Json::Null, names)?;
        let title = title.map(|title| format!("  {title:<46}{wide}\n")).unwrap_or_default();
        let titles: Vec<String> = division.values.iter().map(|part| (*part).to_owned()).collect();
        return Ok(title + &numbers_of_parts(&titles, &numbers).render_lines(INDENT));
    }
    (0..).zip(parts).map(|(at, part)| describe_figure(figure, part, &of_part(at))).collect()
}

/// The line above a figure. Tables have their names there, where the folder says nothing else.
fn figure_title(figure: &Figure, value: &Json, names: &Names) -> Result<Option<String>, ExpressionError> {
    let Some(title) = &figure.title else {
        let table = matches!(
            figure.kind,
            FigureKind::Counts(_)
                | FigureKind::Bars(_)
                | FigureKind::Votes { .. }
                | FigureKind::Wins(_)
                | FigureKind::JudgePairs(_)
                | FigureKind::Ratings(_)
                | FigureKind::ScoresByPart { .. }
        );
        return Ok(table.then(|| figure.name.replace('_', " ")));
    };
    let mut names = names.clone();
    names.insert("value".to_owned(), Value::from(Serde(value.clone())));
    fill_template(title, names)
}

/// The words of a template; `None` where it leaves nothing.
fn fill_template(template: &Expression, names: Names) -> Result<Option<String>, ExpressionError> {
    let value = template.compute_value(&Value::from(names))?;
    Ok(value.as_str().map(str::to_owned).filter(|text| !text.is_empty()))
}

/// A line for each object of a figure's value.
fn figure_lines(
    figure: &Figure,
    line: &Expression,
    value: &Json,
    names: &Names,
) -> Result<String, ExpressionError> {
    let mut text = String::new();
    for cells in cells_by_line(figure, value) {
        if let Some(line) = fill_template(line, add_names(names, &cells))? {
            text.push_str(&format!("{:indent$}{line}\n", "", indent = figure.indent));
        }
    }
    Ok(text)
}

/// The cells of each line.
fn cells_by_line(figure: &Figure, value: &Json) -> Vec<Map<String, Json>> {
    let cells = |cells: Json| match cells {
        Json::Object(cells) => Some(cells),
        _ => None,
    };
    match (&figure.kind, value) {
        (FigureKind::Numbers(numbers), value) => numbers
            .iter()
            .filter_map(|number| {
                cells(json!({ "name": number.name, "label": number.label, "value": value[number.name] }))
            })
            .collect(),
        (FigureKind::WordsKept(_), value) => cells(json!({ "value": value })).into_iter().collect(),
        (_, Json::Array(list)) => list
            .iter()
            .filter_map(|one| match one {
                // A field with its agreement.
                Json::Array(pair) => {
                    let mut of_field = cells(pair.get(1)?.clone())?;
                    of_field.insert("field".to_owned(), pair[0].clone());
                    Some(of_field)
                }
                one => cells(one.clone()),
            })
            .collect(),
        (_, value) => cells(value.clone()).into_iter().collect(),
    }
}
