//! The figures of `report` as files: the funnel, its reasons and the charts of the page; and what report.toml declares.

use serde_json::Value as Json;

use super::charts::{self, Bar, Figures, LENGTH_BIN};
use super::tables::tables;
use crate::config::Config;
use crate::figures::{self, Cell, Chart, ChartRow, Column, Datum, File, Limit, Row, Shape, Table, stem};
use crate::pipeline::RunError;
use crate::recipe::Recipe;
use crate::store::Workspace;

/// The settings that are drawn into the charts.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Limits {
    /// Texts of fewer characters are dropped.
    min_chars: Option<f64>,
    /// Texts of more characters are dropped.
    max_chars: Option<f64>,
    /// From this score on, two texts are one.
    threshold: Option<f64>,
}

/// The tables of a recipe as LaTeX and CSV, and its charts as SVG and CSV.
///
/// # Errors
/// [`RunError`] where a stage or the votes cannot be read.
pub fn figure_files(config: &Config, recipe: &'static Recipe) -> Result<Vec<File>, RunError> {
    let found = charts::compute_figures(&Workspace::new(&config.root), recipe, 0)?;
    let mut files: Vec<File> = Vec::new();
    let drawn = draw_charts(&found, &Limits::from_settings(config, recipe));
    files.extend(drawn.iter().flat_map(Chart::files));
    files.extend(reason_table(&found).files());
    files.extend(declared_tables(config, recipe)?.iter().flat_map(Table::files));
    Ok(files)
}

/// The figures that report.toml declares, each as a table: none where the recipe did not get to its end.
///
/// # Errors
/// [`RunError`] where a stage or the votes cannot be read.
pub fn declared_tables(config: &Config, recipe: &'static Recipe) -> Result<Vec<Table>, RunError> {
    Ok(tables(config, recipe)?.map(|report| report.tables).unwrap_or_default())
}

impl Limits {
    /// Those that the settings of a recipe state.
    pub(super) fn from_settings(config: &Config, recipe: &Recipe) -> Limits {
        let number =
            |section: &str, key: &str| config.stage_settings(Some(recipe.name), section).get(key)?.as_f64();
        // The default metric has rules of its own instead of one threshold.
        let metric = config.stage_settings(Some(recipe.name), "dedup").remove("metric");
        let has_threshold = metric.as_ref().and_then(Json::as_str).is_some_and(|metric| metric != "default");
        Limits {
            min_chars: number("filter", "min_chars"),
            max_chars: number("filter", "max_chars"),
            threshold: number("dedup", "threshold").filter(|_| has_threshold),
        }
    }
}

/// The charts of the page: the funnel, lengths, similarities, and the effect of other thresholds.
pub(super) fn draw_charts(found: &Figures, limits: &Limits) -> [Chart; 4] {
    let name = |what: &str| stem(&format!("{}-{what}", found.recipe));
    let words = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<_>>();
    let columns = |what: &str, title: &str, axis: &str, series: &[&str], bars: &[Bar]| Chart {
        name: name(what),
        title: format!("{}: {title}", found.recipe),
        axes: [axis.to_owned(), "records".to_owned()],
        shape: Shape::Columns,
        series: words(series),
        rows: chart_rows(bars, series.len()),
        most: None,
        limits: Vec::new(),
    };
    let read = found.stages.first().map(|first| first.counts.records_in);
    let left = found.stages.iter().map(|stage| (stage.stage.clone(), stage.counts.records_out));
    let funnel = figures::funnel(&found.recipe, read, left);
    let mut lengths =
        columns("lengths", "length of a text", "characters", &["at the end", "after import"], &found.lengths);
    let of_length = |at: Option<f64>, what: &str| {
        Some(Limit { at: at? / LENGTH_BIN as f64, name: format!("{what} {}", at?) })
    };
    // Limits beyond the last bar, which is open, would be drawn at its end.
    let shown = |limit: &Limit| limit.at < found.lengths.len() as f64;
    lengths.limits.extend(of_length(limits.min_chars, "filter.min_chars").filter(shown));
    lengths.limits.extend(of_length(limits.max_chars, "filter.max_chars").filter(shown));
    let threshold = limits.threshold.filter(|_| !found.likeness.is_empty()).map(|score| Limit {
        at: charts::place_of_score(score),
        name: format!("dedup.threshold {score:.2}"),
    });
    let mut likeness = columns(
        "similarity",
        "similarity of pairs",
        "score",
        &["merged", "near, not merged"],
        &found.likeness,
    );
    "pairs".clone_into(&mut likeness.axes[1]);
    likeness.limits.extend(threshold.clone());
    let title = format!("records merged if the score alone decided; now {}", found.merged);
    let mut sweep = columns("thresholds", &title, "threshold", &["merged"], &found.sweep);
    sweep.limits.extend(threshold);
    [funnel, lengths, likeness, sweep]
}

/// Bars without any record are no chart.
fn chart_rows(bars: &[Bar], series: usize) -> Vec<ChartRow> {
    if bars.iter().all(|bar| bar.value == 0 && bar.other == 0) {
        return Vec::new();
    }
    let row = |bar: &Bar| {
        let values = [bar.value, bar.other].into_iter().take(series);
        ChartRow { name: bar.label.clone(), values: values.map(|n| Some(Datum::plain(n as f64))).collect() }
    };
    bars.iter().map(row).collect()
}

/// What each stage did for which reason.
fn reason_table(found: &Figures) -> Table {
    let row = |of: &charts::ReasonRow| -> Row {
        let [stage, state, code, meaning] =
            [&of.stage, &of.state, &of.code, &of.definition].map(|text| Cell::Text(text.clone()));
        vec![stage, state, code, Cell::plain_number(of.count as f64), meaning]
    };
    let [stage, state, code, meaning] = ["Stage", "State", "Reason", "Meaning"].map(Column::of_words);
    Table {
        name: stem(&format!("{}-reasons", found.recipe)),
        title: format!("{}: what each stage did, and why", found.recipe),
        columns: vec![stage, state, code, Column::of_counts("Records"), meaning],
        rows: found.reasons.iter().map(row).collect(),
        ..Table::default()
    }
}
