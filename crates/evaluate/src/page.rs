//! The results as one self-contained page.

use minijinja::value::Serde;
use minijinja::{Environment, Value, context};
use serde::Serialize;

use super::chinese;
use super::results::{Results, number_charts, number_tables, report_head};
use super::tables::Comparison;
use crate::figures::{FileLink, ShownTable, TABLE_TEMPLATE, Table, format_plain};
use crate::markup::compact_template;
use crate::text::format_decimals;

const TEMPLATE: &str = include_str!("templates/evaluation.html");
const STYLE: &str = include_str!("templates/evaluation.css");

#[derive(Serialize)]
struct ShownChart<'a> {
    title: &'a str,
    /// What each file is, its name, and its address.
    files: Vec<FileLink>,
}

#[derive(Serialize)]
struct ShownComparison<'a> {
    task: String,
    first: &'a str,
    second: &'a str,
    difference: String,
    interval: String,
    p: String,
    mcnemar: String,
    holm: String,
    n: usize,
    /// Whether the interval excludes 0.
    apart: bool,
}

/// The page.
///
/// # Errors
/// If the template names what is not there.
pub fn render_page(results: &Results<'_>) -> Result<String, minijinja::Error> {
    let [table, style, template] = [TABLE_TEMPLATE, STYLE, TEMPLATE].map(compact_template);
    let mut env = Environment::new();
    env.add_filter("zh", |text: &str| chinese::translate_to_chinese(text));
    let report = results.report;
    let named = number_tables(&report.tables);
    let rendered: Vec<Table> = named.iter().map(|(name, table)| table.with_name(name)).collect();
    let tables: Vec<ShownTable<'_>> = rendered.iter().map(Table::on_page).collect();
    let drawn = number_charts(report);
    let charts: Vec<ShownChart<'_>> =
        drawn.iter().map(|figure| ShownChart { title: &figure.title, files: figure.links() }).collect();
    let drawings: Vec<Value> = drawn
        .iter()
        .map(|figure| Value::from_safe_string(figure.html(chinese::translate_to_chinese)))
        .collect();
    let comparisons: Vec<ShownComparison<'_>> = report.comparisons.iter().map(show_comparison).collect();
    let values = context! {
        set => &report.set, head => report_head(results), draft => &report.draft, withdrawn => report.describe_withdrawn(),
        sample => report.sample.as_ref().map(|sample| sample.describe_sample()), drawn => &report.drawn, version => crate::VERSION,
        tables => Value::from(Serde(&tables)), charts => Value::from(Serde(&charts)), drawings,
        comparisons => Value::from(Serde(&comparisons)),
    };
    env.add_template("table.html", &table)
        .and_then(|()| env.add_template("evaluation.css", &style))
        .and_then(|()| env.add_template("evaluation.html", &template))
        .and_then(|()| env.get_template("evaluation.html"))
        .and_then(|template| template.render(values))
}

/// A difference with its sign.
fn format_signed(difference: f64) -> String {
    let shown = format_decimals(difference, 2);
    if shown.starts_with('-') { shown } else { format!("+{shown}") }
}

fn show_comparison(one: &Comparison) -> ShownComparison<'_> {
    let apart = one.difference.difference;
    let mcnemar = one
        .mcnemar
        .map(|m| format!("{} : {}, p {}", m.only_first, m.only_second, format_plain(m.exact_p, 2)));
    ShownComparison {
        task: format!("{} {}", one.task, one.setting),
        first: &one.first,
        second: &one.second,
        difference: format_signed(apart.value),
        interval: format!("{} – {}", format_decimals(apart.low, 2), format_decimals(apart.high, 2)),
        p: format_plain(one.difference.p, 2),
        mcnemar: mcnemar.unwrap_or_default(),
        holm: format_plain(one.holm_p, 2),
        n: one.n,
        apart: apart.low > 0.0 || apart.high < 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_that_rounds_to_zero_is_no_loss() {
        assert_eq!([-0.004, 0.0, 0.4, -0.4].map(format_signed), ["+0.00", "+0.00", "+0.40", "-0.40"]);
    }
}
