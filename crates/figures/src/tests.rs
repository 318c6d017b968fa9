use super::measures::{mean, percent};
use super::*;

fn chart(shape: Shape, rows: &[(&str, &[f64])]) -> Chart {
    let row = |(name, values): &(&str, &[f64])| ChartRow {
        name: (*name).to_owned(),
        values: values.iter().map(|value| Some(Datum::plain(*value))).collect(),
    };
    let count = rows.first().map_or(1, |(_, values)| values.len());
    Chart {
        name: "c".into(),
        title: "A <b> & 标题".into(),
        axes: ["kind".into(), "records".into()],
        shape,
        series: (0..count).map(|at| format!("series {at}")).collect(),
        rows: rows.iter().map(row).collect(),
        most: None,
        limits: vec![Limit { at: 1.0, name: "filter.max_chars 10".into() }],
    }
}

const ALL: [Shape; 7] = [
    Shape::Bars,
    Shape::Stacked,
    Shape::Columns,
    Shape::Piles,
    Shape::Lines,
    Shape::Points { log: false },
    Shape::Points { log: true },
];

#[test]
fn nothing_in_a_table_is_a_command_of_latex() {
    let rows = vec![
        vec!["[a] 50 % & {x}_y^2 \\input ~ <|> #$".to_owned(), "-3.2".to_owned()],
        vec!["*star".to_owned(), String::new()],
    ];
    let table = Table::of_texts("flub tasks".into(), "A_b".into(), &["name", "r"], rows);
    let tex = render_latex(&table);
    let line = "    {}[a] 50 \\% \\& \\{x\\}\\_y\\textasciicircum{}2 \\textbackslash{}input \\textasciitilde{} \
                \\textless{}\\textbar{}\\textgreater{} \\#\\$ & $-$3.2 \\\\\n";
    assert!(tex.contains(line), "{tex}");
    for part in [
        "\\begin{tabular}{lr}",
        "\\toprule",
        "\\bottomrule",
        "\\caption{A\\_b}",
        "\\label{tab:flub-tasks}",
        "{}*star",
    ] {
        assert!(tex.contains(part), "{part}: {tex}");
    }
}

#[test]
fn columns_of_numbers_stand_on_the_right_and_words_that_begin_with_digits_do_not() {
    let row = |cells: [&str; 4]| cells.map(str::to_owned).to_vec();
    let rows = vec![row(["1", "5-shot", "62.00 [59.10, 64.90]", "-"]), row(["2", "2024-01", "", "12.5 %"])];
    let table = Table::of_texts("t".into(), "T".into(), &["no", "setting", "score", "share"], rows);
    assert!(render_latex(&table).contains("\\begin{tabular}{llrr}"), "{}", render_latex(&table));
    let count = Column::of_counts("n");
    let columns = vec![Column::of_words("kind"), Column::of_words("of"), count];
    let rows = vec![vec![Cell::Text("a".into()), Cell::Text("3 of 4".into()), Cell::Empty]];
    let table = Table { name: "t".into(), columns, rows, ..Table::default() };
    assert!(render_latex(&table).contains("\\begin{tabular}{llr}"), "{}", render_latex(&table));
}

/// Two models with a share each, one of them without an interval, and a p-value.
fn scores() -> Table {
    let figure = |value: f64, ends: Option<[f64; 2]>| {
        Cell::Figure(Figure {
            value,
            ends,
            n: Some(9),
            from: Keys::from([("model", "a".into())]),
            unit: None,
        })
    };
    Table {
        name: "scores".into(),
        title: "Scores".into(),
        about: "Percent.".into(),
        columns: vec![
            Column::of_words("Model"),
            Column::of_numbers("All"),
            Column::of_numbers("p"),
            Column::of_numbers("None"),
        ],
        rows: vec![
            vec![
                Cell::Text("甲|b".into()),
                figure(-0.001, Some([-0.002, 0.5])),
                figure(0.000_12, None),
                Cell::Empty,
            ],
            vec![Cell::Text("c".into()), figure(62.0, Some([59.1, 64.9])), Cell::Empty, Cell::Empty],
        ],
        paper: "none".into(),
        heat: Some([0.0, 100.0]),
        plot: Some(Plot {
            shape: Shape::Bars,
            columns: vec![1],
            title: None,
            names: None,
            axes: ["model".into(), "percent".into()],
            most: Some(100.0),
        }),
    }
}

#[test]
fn a_table_is_one_in_every_form() {
    let table = scores();
    let text = table.render_text(|text| text.chars().map(|c| if c.is_ascii() { 1 } else { 2 }).sum());
    let lines = [
        "Scores",
        "        All                       p",
        "  甲|b  0.00 [0.00, 0.50] n 9     1.2e-4 n 9",
        "  c     62.00 [59.10, 64.90] n 9",
    ];
    assert_eq!(text, lines.map(|line| format!("{line}\n")).concat(), "a column without figures is left out");
    let markdown = "## Scores\n\nPercent.\n\n| Model | All | p | None |\n| --- | --- | --- | --- |\n\
                    | 甲\\|b | 0.00 [0.00, 0.50] n 9 | 1.2e-4 n 9 |  |\n| c | 62.00 [59.10, 64.90] n 9 |  |  |\n";
    assert_eq!(table.render_markdown(), markdown);
    let csv = "row,column,value,low,high,n\n甲|b,All,-0.001,-0.002,0.5,9\n甲|b,p,0.00012,,,9\nc,All,62,59.1,64.9,9\n";
    assert_eq!(String::from_utf8(table.render_csv()).unwrap(), csv);
    let tex = render_latex(&table);
    assert!(tex.contains("c & 62.00 [59.10, 64.90] &  & ") && !tex.contains(" n 9"), "{tex}");
    let chart = table.plotted_chart().unwrap();
    assert_eq!((chart.name.as_str(), chart.series.as_slice()), ("scores-chart", &["All".to_owned()][..]));
    assert_eq!(chart.rows[1].values, [Some(Datum { value: 62.0, ends: Some([59.1, 64.9]) })]);
    let files: Vec<String> = table.files().into_iter().map(|(name, _)| name).collect();
    assert_eq!(files, ["scores.tex", "scores.csv", "scores-chart.svg", "scores-chart.csv"]);
}

#[test]
fn the_ends_of_an_interval_have_no_minus_zero_on_a_page() {
    let shown = serde_json::to_value(scores().on_page()).unwrap();
    let cell = |row: usize, at: usize| shown["rows"][row][1][at].clone();
    assert_eq!(
        (cell(0, 0)["value"].as_str(), cell(0, 0)["interval"].as_str()),
        (Some("0.00"), Some("0.00 – 0.50"))
    );
    assert_eq!(
        (cell(1, 0)["interval"].as_str(), cell(1, 0)["shade"].as_u64()),
        (Some("59.1 – 64.9"), Some(62))
    );
    assert_eq!(
        (cell(0, 1)["value"].as_str(), cell(0, 1)["from"].as_str()),
        (Some("1.2e-4"), Some("model = a"))
    );
    assert!(cell(0, 2).is_null());
}

/// Numbers of several units in one column: as text, in a paper, on a page and in JSON.
#[test]
fn a_cell_may_have_a_unit_of_its_own() {
    let row = |name: &str, cell: Cell| vec![Cell::Text(name.into()), cell];
    let with_ends = Figure { ends: Some([0.25, 0.5]), ..Cell::plain_number(0.375).figure().unwrap().clone() };
    let rows = vec![
        row("jokes", Cell::of_unit(Some(3.0), ColumnUnit::Count)),
        row("share", Cell::of_unit(Some(2.0 / 3.0), ColumnUnit::Share { digits: 2 })),
        row("none", Cell::of_unit(None, ColumnUnit::Count)),
        row(
            "kappa",
            Cell::Figure(Figure { unit: Some(ColumnUnit::Number { digits: 3 }), ..with_ends.clone() }),
        ),
        row("rule", Cell::Figure(Figure { unit: Some(ColumnUnit::Share { digits: 1 }), ..with_ends })),
    ];
    let name = Column::of_words("Figure").with_key("name").with_place(Place::align_left(8));
    let value = Column::of_numbers("Value").with_key("of.value");
    let value = value.with_place(Place::align_right(7, Digits::OfUnit).with_none("-"));
    let table = Table { name: "t".into(), columns: vec![name, value], rows, ..Table::default() };
    let lines = [
        "  jokes          3",
        "  share    66.67 %",
        "  none           -",
        "  kappa    0.375 [0.250, 0.500]",
        "  rule     37.5 % [25.0, 50.0]",
    ];
    assert_eq!(table.render_lines(2), lines.map(|line| format!("{line}\n")).concat());
    let tex = render_latex(&table);
    for cell in ["jokes & 3 ", "share & 66.67 \\% ", "none &  ", "kappa & 0.375 [0.250, 0.500] "] {
        assert!(tex.contains(cell), "{cell}: {tex}");
    }
    let shown = serde_json::to_value(table.on_page()).unwrap();
    assert_eq!(
        (&shown["rows"][4][1][0]["value"], &shown["rows"][4][1][0]["interval"]),
        (&"37.5 %".into(), &"25.0 – 50.0".into())
    );
    let objects = serde_json::json!([
        { "name": "jokes", "of": { "value": 3 } },
        { "name": "share", "of": { "value": 2.0 / 3.0 } },
        { "name": "none", "of": { "value": null } },
        { "name": "kappa", "of": { "value": [0.375, 0.25, 0.5] } },
        { "name": "rule", "of": { "value": [0.375, 0.25, 0.5] } },
    ]);
    assert_eq!(serde_json::to_value(table.row_objects()).unwrap(), objects);
    assert_eq!(
        (format_plain(0.0, 2), format_plain(-0.004, 2), format_plain(3.0, 0)),
        ("0.00".into(), "-4.0e-3".into(), "3".into())
    );
}

#[test]
fn nothing_has_no_mean_and_is_no_part() {
    assert_eq!((mean(&[]), mean(&[1.0, 2.5])), (None, Some(1.75)));
    assert_eq!((percent(0, 0), percent(1, 8)), (0.0, 12.5));
}

#[test]
fn data_is_a_value_a_line() {
    let mut of = chart(Shape::Bars, &[("a, b", &[1.5, 0.0])]);
    of.rows[0].values[1] = Some(Datum { value: 2.0, ends: Some([1.0, 3.0]) });
    let csv = String::from_utf8(of.csv()).unwrap();
    assert_eq!(csv, "row,column,value,low,high\n\"a, b\",series 0,1.5,,\n\"a, b\",series 1,2,1,3\n");
}

/// A file is opened without a page: it brings its colours and fonts, and is well-formed.
#[test]
fn a_drawing_stands_alone() {
    for shape in ALL {
        let svg = render_svg(&chart(shape, &[("甲", &[40.0, 2.0]), ("b", &[60.0, 0.0])]));
        assert!(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"84mm\""), "{svg}");
        assert!(svg.contains("Noto Sans CJK SC") && svg.contains("A &lt;b&gt; &amp; 标题"), "{svg}");
        assert!(!svg.contains("class=") && !svg.contains("href") && !svg.contains("NaN"), "{shape:?}: {svg}");
        for tag in ["text", "svg", "title", "defs", "pattern", "tspan"] {
            let opened = svg.matches(&format!("<{tag}>")).count() + svg.matches(&format!("<{tag} ")).count();
            assert_eq!(opened, svg.matches(&format!("</{tag}>")).count(), "{tag} of {shape:?}: {svg}");
        }
        // A unit is a point: no letters below 8.
        let sizes = svg.split("font-size=\"").skip(1).filter_map(|rest| rest.split('"').next());
        assert!(sizes.map(|size| size.parse::<f64>().unwrap()).all(|size| size >= 8.0), "{svg}");
    }
}

#[test]
fn zero_has_no_sliver_and_nothing_says_so() {
    let bars = |rows: &[(&str, &[f64])]| {
        render_svg(&chart(Shape::Bars, rows)).matches("stroke-width=\".4\"").count()
    };
    assert_eq!(bars(&[("a", &[3.0])]), bars(&[("a", &[3.0]), ("b", &[0.0])]));
    for shape in ALL {
        assert!(render_svg(&chart(shape, &[])).contains(">no data</text>"), "{shape:?}");
    }
}

/// Every shape says what its rows and its values are.
#[test]
fn both_axes_have_their_titles() {
    for shape in ALL {
        let mut of = chart(shape, &[("a", &[40.0, 2.0]), ("b", &[60.0, 1.0])]);
        of.axes = ["kind of row".into(), "kind of value".into()];
        let svg = render_svg(&of);
        for axis in &of.axes {
            assert_eq!(svg.matches(&format!(">{axis}")).count(), 1, "{axis} of {shape:?}: {svg}");
        }
    }
}

/// What is drawn goes into a paper as a table, too.
#[test]
fn a_chart_has_its_drawing_its_data_and_its_table() {
    let mut of = chart(Shape::Bars, &[("a", &[40.0, 2.5]), ("b", &[60.0])]);
    of.name = "x".into();
    let links = of.links();
    let names: Vec<String> = links.iter().map(|[kind, name, _]| format!("{kind} {name}")).collect();
    assert_eq!(names, ["SVG x.svg", "CSV x.csv", "LaTeX x.tex"]);
    assert!(links[2][2].starts_with("data:application/x-tex;charset=utf-8,%25"), "{}", links[2][2]);
    let tex = render_latex(&of.to_table());
    assert!(tex.contains("a & 40 & 2.50 \\\\") && tex.contains("b & 60"), "{tex}");
    let links: Vec<String> = scores().links().into_iter().map(|[_, name, _]| name).collect();
    assert_eq!(links, ["scores.tex", "scores.csv"], "the chart's stand beside it");
}

#[test]
fn limits_are_drawn_and_named() {
    let svg = render_svg(&chart(Shape::Columns, &[("0", &[3.0]), ("10", &[1.0])]));
    assert!(svg.contains("filter.max_chars 10"), "{svg}");
    assert_eq!(
        svg.matches("stroke-dasharray=\"3 2\"").count(),
        2,
        "in the legend and across the columns: {svg}"
    );
}

/// The columns of a drawing, by hand: two of 99 points each, 130 points high for 3 records.
#[test]
fn columns_are_where_their_values_say() {
    let svg = render_svg(&chart(Shape::Columns, &[("0", &[3.0, 1.0]), ("10", &[0.0, 2.0])]));
    let bar = |at: &str, wide: &str, tall: &str, fill: &str| {
        format!(
            "<rect {at} width=\"{wide}\" height=\"{tall}\" fill=\"{fill}\" stroke=\"#08306b\" stroke-width=\".4\"/>\n"
        )
    };
    for expected in [
        bar("x=\"34.0\" y=\"60.0\"", "49.00", "130.00", "#08306b"),
        bar("x=\"83.0\" y=\"146.7\"", "49.00", "43.33", "#c6dbef"),
        bar("x=\"182.0\" y=\"103.3\"", "49.00", "86.67", "#c6dbef"),
    ] {
        assert!(svg.contains(&expected), "{expected} in {svg}");
    }
    // Two squares of the legend, and no bar for the 0.
    assert_eq!(svg.matches("stroke-width=\".4\"/>\n<").count() - svg.matches("#bbb").count(), 5, "{svg}");
}

/// The same columns piled up: the second series begins where the first ends.
#[test]
fn piles_begin_where_the_value_before_ends() {
    let svg = render_svg(&chart(Shape::Piles, &[("0", &[3.0, 1.0]), ("10", &[0.0, 2.0])]));
    for bar in [
        "<rect x=\"34.0\" y=\"92.5\" width=\"98.00\" height=\"97.50\" fill=\"#08306b\"",
        "<rect x=\"34.0\" y=\"60.0\" width=\"98.00\" height=\"32.50\" fill=\"#c6dbef\"",
        "<rect x=\"133.0\" y=\"125.0\" width=\"98.00\" height=\"65.00\" fill=\"#c6dbef\"",
    ] {
        assert!(svg.contains(bar), "{bar} in {svg}");
    }
}

/// What a page shows is what its file shows, without the title and with the values under the pointer.
#[test]
fn a_page_shows_the_drawing_of_the_file() {
    for shape in ALL {
        let chart = chart(shape, &[("甲", &[40.0, 2.0]), ("b", &[60.0, 0.5])]);
        let (file, page) = (render_svg(&chart), render_drawing(&chart, &Words::ENGLISH));
        assert!(page.contains("class=\"drawing\"") && !page.contains("font-size=\"9\""), "{page}");
        let marks = |svg: &str| svg.matches("<rect x=").count() + svg.matches("<circle cx=").count();
        assert_eq!(marks(&page), marks(&file), "{shape:?}: {page}");
        assert_eq!(page.matches("<g><title>").count(), page.matches("</g>").count(), "{shape:?}: {page}");
        assert!(page.contains("<g><title>") && !file.contains("<g>"), "{shape:?}: {page}");
        // Two drawings of a page have patterns of their own.
        let other = render_drawing(&chart, &Words::CHINESE);
        let pattern =
            |svg: &str| svg.split("id=\"").nth(1).and_then(|rest| rest.split('"').next()).map(str::to_owned);
        assert_ne!(pattern(&page), pattern(&other));
        assert!(!page.contains("url(#stripes)"), "{page}");
    }
    let html = chart(Shape::Bars, &[("b", &[60.0])]).html(|word| (word == "b").then(|| "乙".to_owned()));
    assert!(html.contains("<div lang=\"en\">") && html.contains(">乙</text>"), "{html}");
}

/// The ends, and what is between them if it is a whole number.
#[test]
fn no_axis_of_counts_has_a_half() {
    let lines = |rows: &[(&str, &[f64])]| render_svg(&chart(Shape::Columns, rows)).matches("#bbb").count();
    assert_eq!(lines(&[("0", &[3.0])]), 2);
    assert_eq!(lines(&[("0", &[26.0])]), 3);
    assert_eq!(lines(&[("0", &[8.0])]), 5);
    assert_eq!(lines(&[("0", &[2.5])]), 5);
}

#[test]
fn an_empty_funnel_has_no_bar() {
    let stages = |count: u64| [("import".to_owned(), count), ("clean".to_owned(), 0)];
    let bars = |svg: &str| svg.matches("<rect x=").count();
    let svg_of = |read: u64, count: u64| render_svg(&funnel("flub", Some(read), stages(count)));
    assert_eq!((bars(&svg_of(0, 0)), bars(&svg_of(12_345, 3))), (0, 2));
    assert!(svg_of(12_345, 3).contains(">12,345</text>"), "counts are read by their thousands");
    assert!(render_svg(&funnel("flub", None, [])).contains("no data"));
}

#[test]
fn names_are_names_of_files() {
    assert_eq!(stem("flub@1.0.0-Both orders: a/b"), "flub-1.0.0-both-orders-a-b");
    assert_eq!(stem("../x"), "x");
}

#[test]
fn a_table_of_named_rows_is_json_with_intervals_and_origins() {
    let json = serde_json::to_value(scores()).unwrap();
    assert_eq!((json["of"].as_str(), json["columns"][1].as_str()), (Some("Model"), Some("p")));
    let figure =
        serde_json::json!({ "value": 62.0, "low": 59.1, "high": 64.9, "n": 9, "from": { "model": "a" } });
    assert_eq!(json["rows"][1], serde_json::json!({ "name": "c", "cells": [figure, null, null] }));
    assert_eq!(json["look"], serde_json::json!({ "heat": { "low": 0.0, "high": 100.0 } }));
}

/// What is for JSON alone is in no file, and what is drawn is still the same column.
#[test]
fn columns_without_a_heading_are_in_json_alone() {
    let columns = vec![
        Column::of_key("code"),
        Column::of_words("Kind"),
        Column::of_words("Chinese").with_key("zh"),
        Column::of_counts("First").with_key("counts[]"),
        Column::of_counts("Second").with_key("counts[]"),
    ];
    let [pun, kind] = ["pun", "Pun"].map(|text| Cell::Text(text.into()));
    let rows = vec![vec![pun, kind, Cell::Empty, Cell::plain_number(3.0), Cell::plain_number(0.0)]];
    let axes = ["kind".into(), "count".into()];
    let plot = Plot { shape: Shape::Bars, columns: vec![4], title: None, names: None, axes, most: None };
    let table = Table { name: "t".into(), columns, rows, plot: Some(plot), ..Table::default() };
    let objects = serde_json::json!([{ "code": "pun", "counts": [3, 0] }]);
    assert_eq!(serde_json::to_value(table.row_objects()).unwrap(), objects);
    let shown = table.without_hidden();
    assert_eq!(shown.column_titles(), ["Kind", "First", "Second"], "nor a column without any cell");
    assert_eq!(shown.plotted_chart().unwrap().series, ["Second"]);
    assert_eq!(String::from_utf8(shown.render_csv()).unwrap(), "Kind,First,Second\nPun,3,0\n");
}

#[test]
fn lines_have_the_columns_that_have_a_place() {
    let columns = vec![
        Column::of_words("kind").with_place(Place::align_left(6)),
        Column::of_words("label_zh"),
        Column::of_counts("n").with_place(Place::align_right(4, Digits::Fixed(0))),
        Column::of_numbers("percent").with_place(Place::align_right(5, Digits::Fixed(1)).with_unit(" %")),
        Column::of_numbers("mean").with_place(Place::align_right(5, Digits::Fitting).with_prefix(" mean ")),
    ];
    let row = |kind: &str, n: f64, percent: f64, mean: f64| {
        let [kind, zh] = [kind, "类"].map(|text| Cell::Text(text.to_owned()));
        vec![kind, zh, Cell::plain_number(n), Cell::plain_number(percent), Cell::plain_number(mean)]
    };
    let rows = vec![row("pun", 12.0, 37.46, 4.0), row("甲", 3.0, -0.01, 2.346)];
    let table = Table { columns, rows, ..Table::default() };
    let lines = ["  pun      12  37.5 % mean     4", "  甲        3   0.0 % mean  2.35"];
    assert_eq!(table.render_lines(2), lines.map(|line| format!("{line}\n")).concat());
}
