//! Numbers of a set: how many records, which share of them, means, lengths.

use minijinja::Value;
use riddlemill_benchmarks::ExpressionError;
use riddlemill_benchmarks::figure::{NumberFigure, NumberMeasure};
use serde_json::{Map, Value as Json, json};

use super::source::{Records, Source};
use super::{Found, votes};
use crate::error_of_trouble;
use crate::measures::{mean, percent};
use crate::pipeline::RunError;
use crate::text::format_decimals;

/// Each number under its name, and its line.
pub(super) fn compute_numbers(
    numbers: &[NumberFigure],
    records: &Records<'_>,
    source: &Source<'_>,
) -> Result<Found, RunError> {
    let (mut values, mut found) = (Map::new(), Found::default());
    for number in numbers {
        let (value, cell) = match &number.measure {
            NumberMeasure::Items => value_of_count(source.released_items()?.len()),
            NumberMeasure::Modified(ballot) => {
                let (modified, looked_at) = votes::count_modified(source, ballot)?;
                let percent = (looked_at > 0).then(|| percent(modified, looked_at));
                (json!(percent), percent.map(|percent| format!("{percent:.2} %")))
            }
            NumberMeasure::LookedAt(ballot) => value_of_count(votes::count_modified(source, ballot)?.1),
            of_records => measure_records(of_records, records).map_err(error_of_trouble)?,
        };
        match (&number.measure, &value) {
            // There are no lengths without texts.
            (NumberMeasure::Lengths(_), Json::Null) => {}
            (NumberMeasure::Lengths(_), lengths) => found.lines.push_str(&format!(
                "    {:<46} {:>7} {:>5} {:>5}\n",
                number.label,
                cell.as_deref().unwrap_or_default(),
                format_number(&lengths["max"]),
                format_number(&lengths["min"])
            )),
            _ => found.lines.push_str(&format!(
                "    {:<44} {:>10}\n",
                number.label,
                cell.as_deref().unwrap_or("-")
            )),
        }
        found.cells.push((number.label, cell.unwrap_or_else(|| "-".to_owned())));
        values.insert(number.name.to_owned(), value);
    }
    Ok(Found { value: Json::Object(values), ..found })
}

fn value_of_count(count: usize) -> (Json, Option<String>) {
    (json!(count), Some(count.to_string()))
}

/// A number as a table shows it: a whole one without a point.
pub(super) fn format_number(number: &Json) -> String {
    match number.as_f64() {
        Some(number) if number.fract() == 0.0 => format_decimals(number, 0),
        Some(number) => format_decimals(number, 2),
        None => "-".to_owned(),
    }
}

/// What is counted of records, as JSON and as a cell; no cell if it cannot be computed.
fn measure_records(
    measure: &NumberMeasure,
    records: &Records<'_>,
) -> Result<(Json, Option<String>), ExpressionError> {
    Ok(match measure {
        NumberMeasure::Count(condition) => value_of_count(
            records.values_of_expression(condition)?.iter().filter(|value| value.is_true()).count(),
        ),
        NumberMeasure::Share(condition) => {
            // Records without an answer are not part of the share.
            let answers: Vec<Value> = records
                .values_of_expression(condition)?
                .into_iter()
                .filter(|value| !value.is_none())
                .collect();
            let so = answers.iter().filter(|value| value.is_true()).count();
            let share = (!answers.is_empty()).then(|| so as f64 / answers.len() as f64);
            (json!(share), share.map(|share| format!("{:.2} %", share * 100.0)))
        }
        NumberMeasure::Mean(number) => {
            let mean = mean(&collect_reals(&records.values_of_expression(number)?));
            (json!(mean), mean.map(|mean| format_decimals(mean, 2)))
        }
        NumberMeasure::Lengths(number) => {
            let values = records.values_of_expression(number)?;
            let all = collect_reals(&values);
            let end = |of: fn(f64, f64) -> f64| {
                let end = all.iter().copied().reduce(of)?;
                let integers = values.iter().filter(|value| value.is_number()).all(Value::is_integer);
                Some(if integers { json!(end as i64) } else { json!(end) })
            };
            match mean(&all) {
                None => (Json::Null, None),
                Some(average) => (
                    json!({ "average": average, "max": end(f64::max), "min": end(f64::min) }),
                    Some(format_decimals(average, 2)),
                ),
            }
        }
        NumberMeasure::Items | NumberMeasure::Modified(_) | NumberMeasure::LookedAt(_) => (Json::Null, None),
    })
}

/// The numbers among some values.
pub(super) fn collect_reals(values: &[Value]) -> Vec<f64> {
    let number = |value: &Value| value.is_number().then(|| f64::try_from(value.clone()).ok()).flatten();
    values.iter().filter_map(number).collect()
}
