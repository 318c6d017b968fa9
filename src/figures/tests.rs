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

const ALL: [Shape; 6] = [
    Shape::Bars,
    Shape::Stacked,
    Shape::Columns,
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
    let header = vec!["name".to_owned(), "r".to_owned()];
    let sheet = Sheet { name: "flub tasks".into(), title: "A_b".into(), header, rows };
    let tex = latex(&sheet);
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
        let svg = svg(&chart(shape, &[("甲", &[40.0, 2.0]), ("b", &[60.0, 0.0])]));
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
    let bars =
        |rows: &[(&str, &[f64])]| svg(&chart(Shape::Bars, rows)).matches("stroke-width=\".4\"").count();
    assert_eq!(bars(&[("a", &[3.0])]), bars(&[("a", &[3.0]), ("b", &[0.0])]));
    for shape in ALL {
        assert!(svg(&chart(shape, &[])).contains(">no data</text>"), "{shape:?}");
    }
}

#[test]
fn limits_are_drawn_and_named() {
    let svg = svg(&chart(Shape::Columns, &[("0", &[3.0]), ("10", &[1.0])]));
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
    let svg = svg(&chart(Shape::Columns, &[("0", &[3.0, 1.0]), ("10", &[0.0, 2.0])]));
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

#[test]
fn names_are_names_of_files() {
    assert_eq!(stem("flub@1.0.0-Both orders: a/b"), "flub-1.0.0-both-orders-a-b");
    assert_eq!(stem("../x"), "x");
}
