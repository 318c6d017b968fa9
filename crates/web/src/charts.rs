//! Charts of pages: what a template states of one, drawn as the charts of reports are.

use minijinja::value::Serde;
use minijinja::{Error, ErrorKind, Value};
use serde::Deserialize;

use super::i18n::{self, Language};
use crate::audit::place_of_score;
use crate::figures::{Chart, ChartRow, Datum, Limit, Shape, Words, render_drawing, stem};

/// A chart as templates state it.
#[derive(Deserialize)]
struct Spec {
    kind: ChartKind,
    /// What the rows are: characters, scores.
    x: String,
    /// Values by the number of characters.
    #[serde(default)]
    series: Vec<Series>,
    /// Characters of a value; 1 if it is left out.
    #[serde(default)]
    bin: Option<u32>,
    /// Two values by score.
    #[serde(default)]
    bars: Vec<PairBar>,
    /// What the two are.
    #[serde(default)]
    labels: Vec<String>,
    /// Settings with their values, which are drawn across.
    #[serde(default)]
    limits: Vec<(String, Option<f64>)>,
}

#[derive(Clone, Copy, Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
enum ChartKind {
    /// Series piled up.
    Stacked,
    /// Series beside each other.
    Bins,
    /// A line a series.
    Lines,
    /// Two values of each score piled up.
    Pairs,
    /// A line of the first value of each score.
    Sweep,
}

#[derive(Deserialize)]
struct Series {
    label: String,
    values: Vec<f64>,
}

#[derive(Deserialize)]
struct PairBar {
    label: String,
    value: f64,
    other: f64,
}

/// The drawing of what a template states, in the language of its page.
///
/// # Errors
/// If it states something else than a chart.
pub(super) fn draw_chart(spec: &Value, title: &str, language: Language) -> Result<Value, Error> {
    let words = match language {
        Language::Zh => Words::CHINESE,
        Language::En => Words::ENGLISH,
    };
    Ok(Value::from_safe_string(render_drawing(&read_chart(spec, title, language)?, &words)))
}

/// Its files: what each is, its name, and its address.
///
/// # Errors
/// If it states something else than a chart.
pub(super) fn link_chart(spec: &Value, title: &str, language: Language) -> Result<Value, Error> {
    Ok(Value::from(Serde(read_chart(spec, title, language)?.links())))
}

fn read_chart(spec: &Value, title: &str, language: Language) -> Result<Chart, Error> {
    let broken = |error: serde_json::Error| Error::new(ErrorKind::BadSerialization, error.to_string());
    let spec: Spec = serde_json::from_value(serde_json::to_value(spec).map_err(broken)?).map_err(broken)?;
    let records = i18n::text_of_key(language, "records").unwrap_or("records");
    Ok(spec.build_chart(title, records))
}

impl Spec {
    fn build_chart(&self, title: &str, records: &str) -> Chart {
        let (series, rows) = match self.kind {
            ChartKind::Stacked | ChartKind::Bins | ChartKind::Lines => {
                (self.series_labels(), self.by_characters())
            }
            ChartKind::Pairs | ChartKind::Sweep => (self.labels.clone(), self.by_score()),
        };
        let place = |value: f64| match self.kind {
            ChartKind::Stacked | ChartKind::Bins | ChartKind::Lines => value / self.bin_width() as f64,
            ChartKind::Pairs | ChartKind::Sweep => place_of_score(value),
        };
        let limit = |(name, value): &(String, Option<f64>)| {
            let value = (*value)?;
            Some(Limit { at: place(value), name: format!("{name} {value}") })
        };
        // A limit beyond the last bar would be drawn at its end.
        let within = |limit: &Limit| (0.0..=rows.len() as f64).contains(&limit.at);
        Chart {
            name: stem(title),
            title: title.to_owned(),
            axes: [self.x.clone(), records.to_owned()],
            shape: match self.kind {
                ChartKind::Stacked | ChartKind::Pairs => Shape::Piles,
                ChartKind::Bins => Shape::Columns,
                ChartKind::Lines | ChartKind::Sweep => Shape::Lines,
            },
            limits: self.limits.iter().filter_map(limit).filter(within).collect(),
            series,
            rows,
            most: None,
        }
    }

    fn bin_width(&self) -> usize {
        self.bin.unwrap_or(1).max(1) as usize
    }

    fn series_labels(&self) -> Vec<String> {
        self.series.iter().map(|series| series.label.clone()).collect()
    }

    /// An axis goes as far as there is something, and one further.
    fn by_characters(&self) -> Vec<ChartRow> {
        let last = |series: &Series| series.values.iter().rposition(|value| *value > 0.0);
        let Some(last) = self.series.iter().filter_map(last).max() else { return Vec::new() };
        let row = |at: usize| ChartRow {
            name: (at * self.bin_width()).to_string(),
            values: self.series.iter().map(|of| of.values.get(at).copied().map(Datum::plain)).collect(),
        };
        let all = self.series.iter().map(|series| series.values.len()).max().unwrap_or(0);
        (0..all.min(last + 2)).map(row).collect()
    }

    fn by_score(&self) -> Vec<ChartRow> {
        if self.bars.iter().all(|bar| bar.value == 0.0 && bar.other == 0.0) {
            return Vec::new();
        }
        let row = |bar: &PairBar| {
            let values = [bar.value, bar.other].into_iter().take(self.labels.len());
            ChartRow { name: bar.label.clone(), values: values.map(|n| Some(Datum::plain(n))).collect() }
        };
        self.bars.iter().map(row).collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn svg(spec: serde_json::Value, language: Language) -> String {
        draw_chart(&Value::from(Serde(spec)), "Lengths", language).unwrap().to_string()
    }

    #[test]
    fn limits_are_drawn_and_nothing_is_said_to_be_nothing() {
        let spec = |values: [u32; 4], least: u32| {
            json!({ "kind": "lines", "x": "characters", "series": [{ "label": "dropped", "values": values }],
                    "limits": [["filter.min_chars", least], ["filter.max_chars", null]] })
        };
        let drawn = svg(spec([0, 3, 1, 0], 2), Language::En);
        assert!(drawn.contains("filter.min_chars 2") && !drawn.contains("max_chars"), "{drawn}");
        assert_eq!(drawn.matches("stroke-dasharray=\"3 2\"").count(), 2, "named, and across: {drawn}");
        assert!(!svg(spec([0, 3, 1, 0], 400), Language::En).contains("filter.min_chars"), "beyond the axis");
        assert!(svg(spec([0; 4], 2), Language::Zh).contains(">没有数据</text>"));
    }

    #[test]
    fn bars_by_score_are_piled_up() {
        let bar =
            |label: &str, value: u32, other: u32| json!({ "label": label, "value": value, "other": other });
        let spec = json!({ "kind": "pairs", "x": "score", "labels": ["merged", "near"],
                           "bars": [bar("0.50", 1, 2), bar("0.52", 0, 0)], "limits": [["dedup.threshold", 0.5]] });
        let drawn = svg(spec, Language::En);
        for told in ["0.50, merged: 1", "0.50, near: 2", "dedup.threshold 0.5"] {
            assert!(drawn.contains(told), "{told}: {drawn}");
        }
        assert!(!drawn.contains("font-size=\"9\"") && drawn.contains("class=\"drawing\""), "{drawn}");
    }

    /// A chart of a page goes into a paper as one of a report does.
    #[test]
    fn a_chart_has_its_files() {
        let spec = json!({ "kind": "bins", "bin": 10, "x": "字符", "series": [{ "label": "行", "values": [3, 4] }] });
        let links = link_chart(&Value::from(Serde(spec)), "文本长度", Language::Zh).unwrap();
        let links: Vec<[String; 3]> = serde_json::from_value(serde_json::to_value(links).unwrap()).unwrap();
        let names = links.iter().map(|[kind, name, _]| format!("{kind} {name}")).collect::<Vec<_>>();
        assert_eq!(names, ["SVG 文本长度.svg", "CSV 文本长度.csv", "LaTeX 文本长度.tex"]);
        assert!(links[2][2].starts_with("data:application/x-tex") && links[2][2].contains("toprule"));
    }

    #[test]
    fn what_is_no_chart_is_refused() {
        let pie = json!({ "kind": "pie", "x": "" });
        assert!(draw_chart(&Value::from(Serde(pie)), "", Language::En).is_err());
    }
}
