//! The report as one self-contained page, readable for years, from a mail or a disk.

use minijinja::value::Serde;
use minijinja::{Environment, Value, context};

use super::charts::{Bar, Figures};
use super::chinese;
use super::figures::{Limits, draw_charts};
use crate::config::Config;
use crate::figures::{Chart, FileLink, ShownTable, TABLE_TEMPLATE, Table};
use crate::markup::compact_template;
use crate::recipe;
use crate::text::group_digits;

const TEMPLATE: &str = include_str!("templates/report.html");
const STYLE: &str = include_str!("templates/report.css");

/// The page of these recipes, with the limits that the settings state in its charts; `tables` are their declared figures.
///
/// # Errors
/// If the template does not match the figures.
pub fn render_audit_page(
    config: &Config,
    figures: &[Figures],
    tables: &[Vec<Table>],
) -> Result<String, minijinja::Error> {
    let [table, style, template] = [TABLE_TEMPLATE, STYLE, TEMPLATE].map(compact_template);
    let mut env = Environment::new();
    env.add_filter("count", group_digits);
    env.add_function("stage_zh", |name: &str| {
        let (prefix, name) = name.strip_prefix("review:").map_or(("", name), |name| ("评审：", name));
        // Steps of a workspace's own benchmark have no Chinese name.
        format!("{prefix}{}", chinese::stage_names(name).map_or(name, |(_, zh)| zh))
    });
    env.add_function("reason_zh", |code: &str| {
        let (short, definition) = chinese::describe_reason(code).unwrap_or((code, ""));
        Value::from(vec![short.to_owned(), definition.to_owned()])
    });
    env.add_function("state_zh", |code: &str| chinese::state_name(code).unwrap_or(code).to_owned());
    env.add_filter("zh", |text: &str| chinese::translate_figure(text));
    env.add_template("table.html", &table)?;
    env.add_template("report.css", &style)?;
    env.add_template("report.html", &template)?;
    let empty = |bars: &[Bar]| bars.iter().all(|bar| bar.value == 0 && bar.other == 0);
    let pairs: Vec<bool> = figures.iter().map(|f| !empty(&f.likeness)).collect();
    let drawn: Vec<[Chart; 4]> = figures
        .iter()
        .map(|of| {
            let limits = recipe::find_recipe(&of.recipe).map(|recipe| Limits::from_settings(config, recipe));
            draw_charts(of, &limits.unwrap_or_default())
        })
        .collect();
    let files: Vec<Vec<Vec<FileLink>>> =
        drawn.iter().map(|charts| charts.iter().map(Chart::links).collect()).collect();
    let drawing = |chart: &Chart| Value::from_safe_string(chart.html(chinese::translate_figure));
    let drawings: Vec<Value> =
        drawn.iter().map(|charts| Value::from(charts.iter().map(drawing).collect::<Vec<_>>())).collect();
    let plot = |table: &Table| {
        table.plotted_chart().map(|chart| vec![drawing(&chart), Value::from(Serde(chart.links()))])
    };
    let plots: Vec<Vec<Option<Vec<Value>>>> = tables.iter().map(|of| of.iter().map(plot).collect()).collect();
    let tables: Vec<Vec<ShownTable<'_>>> =
        tables.iter().map(|of| of.iter().map(Table::on_page).collect()).collect();
    let [figures, files, tables] =
        [Value::from(Serde(figures)), Value::from(Serde(files)), Value::from(Serde(tables))];
    env.get_template("report.html")?
        .render(context! { figures, pairs, files, drawings, plots, tables, version => crate::VERSION })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::charts::FunnelStage;
    use crate::figures::{Cell, Column, Plot, Shape};
    use crate::record::Counts;

    fn figures() -> Figures {
        let counts = Counts { records_in: 12_345, records_out: 12_000, ..Counts::default() };
        let bar = |label: &str| Bar { label: label.into(), value: 3, other: 1 };
        Figures {
            recipe: "flub".into(),
            about: "a <b>bold</b> claim".into(),
            about_zh: "说明".into(),
            stages: vec![FunnelStage { stage: "import".into(), counts, names: None }],
            reasons: Vec::new(),
            lengths: vec![bar("0"), bar("10")],
            likeness: vec![bar("0.50")],
            sweep: vec![bar("0.50")],
            merged: 7,
        }
    }

    /// Declared figures: one of words, and one that is drawn.
    fn types() -> Vec<Table> {
        let rows = vec![vec!["pun".to_owned(), "<7>".to_owned()]];
        let words = Table::of_texts("flub-types".into(), "flub: types".into(), &["label", "texts"], rows);
        let columns = vec![Column::of_words("Value"), Column::of_counts("Count")];
        let axes = ["value".to_owned(), "count".to_owned()];
        let plot = Plot { shape: Shape::Bars, columns: vec![1], title: None, names: None, axes, most: None };
        let rows = vec![vec![Cell::Text("False Analogy".into()), Cell::plain_number(3.0)]];
        let (name, title, plot) = ("flub-kinds".into(), "FLUB: numbers".into(), Some(plot));
        vec![words, Table { name, title, columns, rows, plot, ..Table::default() }]
    }

    /// A declared figure is drawn in both languages, with its drawing, its data and the table as files.
    #[test]
    fn declared_figures_are_drawn_with_their_files() {
        let html = render_audit_page(&Config::defaults(), &[figures()], &[types()]).unwrap();
        for file in [
            "flub-kinds-chart.svg",
            "flub-kinds-chart.csv",
            "flub-kinds-chart.tex",
            "flub-kinds.tex",
            "flub-types.csv",
            "flub-lengths.tex",
        ] {
            assert_eq!(html.matches(&format!("download=\"{file}\"")).count(), 1, "{file}");
        }
        for shown in [
            ">False Analogy</text>",
            ">错误类比</text>",
            "FLUB：数值",
            "下载 LaTeX",
            ">值</text>",
            ">条数</text>",
        ] {
            assert!(html.contains(shown), "{shown}: {html}");
        }
    }

    #[test]
    fn a_page_holds_no_script_and_asks_nothing_of_the_network() {
        let html = render_audit_page(&Config::defaults(), &[figures()], &[types()]).unwrap();
        for banned in ["<script", "http://", "https://", "<link", "@import", "url("] {
            // A pattern of a drawing is in the same page.
            let known = html.replace("http://www.w3.org/2000/svg", "").replace("url(#", "");
            assert!(!known.contains(banned), "{banned}");
        }
        assert!(html.contains("12,345"));
        for landmark in ["<header>", "<main>", "<footer"] {
            assert_eq!(html.matches(landmark).count(), 1, "{landmark}");
        }
        assert!(html.contains("导入") && html.contains("漏斗"), "both languages");
        assert!(html.contains("a &lt;b&gt;bold"), "texts are escaped");
        assert!(html.contains("filter.min_chars "), "the limits are drawn");
        assert!(
            html.contains("<h4>flub: types</h4>") && html.contains("<td class=\"word\">&lt;7&gt;</td>"),
            "{html}"
        );
    }

    #[test]
    fn a_stage_without_records_has_no_bar() {
        let full = render_audit_page(&Config::defaults(), &[figures()], &[types()]).unwrap();
        let mut none = figures();
        none.stages[0].counts = Counts::default();
        none.lengths.iter_mut().for_each(|bar| (bar.value, bar.other) = (0, 0));
        let empty = render_audit_page(&Config::defaults(), &[none], &[types()]).unwrap();
        let bars =
            |html: &str| html.matches("fill=\"#08306b\" stroke=\"#08306b\" stroke-width=\".4\"").count();
        // What was read and what went on; two lengths at the end and after import, with their squares: in both languages.
        assert_eq!(bars(&full) - bars(&empty), 2 * (2 + 2 + 1), "{empty}");
        assert!(empty.contains(">没有数据</text>") && empty.contains(">no data</text>"), "{empty}");
        assert!(!full.contains(">no data</text>"), "{full}");
    }
}
