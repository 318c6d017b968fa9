//! Figures that go into a paper: right, and as files that stand alone.

use std::fs;

use serde_json::{Value, json};

use crate::harness::Workspace;

/// Rows of FLUB as a rebuilt set has them: two keep the labels of the published file.
fn cunning_texts(ws: &Workspace) {
    let row = |at: usize, kind: Option<&str>| {
        json!({
            "id": format!("t{at}"), "text": format!("第{at}句"), "is_question": true, "type": kind, "explanation": "双关。",
            "options": ["双关。", "甲", "乙", "丙"], "answer": "A", "wrong_from": "people", "source_id": format!("p{at}"),
            "standing": "published",
        })
    };
    let rows = [row(1, Some("违反常识")), row(2, Some("谐音")), row(3, Some("字音错误")), row(4, None)];
    ws.write("rows.jsonl", rows.iter().map(|row| format!("{row}\n")).collect::<String>());
}

fn names(ws: &Workspace, folder: &str) -> Vec<String> {
    let names = fs::read_dir(ws.path(folder)).unwrap();
    let mut names: Vec<String> =
        names.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Every drawing brings its own fonts and colours, every table its rules.
fn stand_alone(ws: &Workspace, folder: &str) {
    for name in names(ws, folder) {
        let text = ws.read(&format!("{folder}/{name}"));
        match name.rsplit_once('.').unwrap().1 {
            "svg" => {
                assert!(
                    text.starts_with("<svg xmlns=") && text.contains("Noto Sans CJK SC"),
                    "{name}: {text}"
                );
                assert!(text.contains("width=\"84mm\"") && !text.contains("NaN"), "{name}: {text}");
                assert!(ws.exists(&format!("{folder}/{}.csv", name.trim_end_matches(".svg"))), "{name}");
            }
            "tex" => assert!(text.contains("\\toprule") && text.contains("\\bottomrule"), "{name}: {text}"),
            "csv" => assert!(text.lines().next().unwrap().contains(','), "{name}: {text}"),
            other => panic!("{other}"),
        }
    }
}

#[test]
fn an_evaluation_writes_its_figures_as_files() {
    let ws = Workspace::sample();
    cunning_texts(&ws);
    let args = [
        "evaluate",
        "rows.jsonl",
        "--model",
        "random,first-option",
        "--out",
        "results",
        "--figures",
        "paper",
    ];
    let done = ws.call(args).expect(0);
    assert!(done.err.contains("in paper"), "{}", done.err);
    let files = names(&ws, "paper");
    for file in [
        "flub-rows-tasks.tex",
        "flub-rows-tasks.csv",
        "flub-rows-chart-tasks.svg",
        "flub-rows-chart-tasks.csv",
        "flub-rows-models.tex",
        "flub-rows-models.csv",
    ] {
        assert!(files.iter().any(|name| name == file), "{file}: {files:?}");
    }
    stand_alone(&ws, "paper");
    // The page has the same files at each chart, and still asks nothing of the network.
    let page = ws.read("results/report.html");
    assert!(page.contains("download=\"chart-tasks.svg\"") && page.contains("下载 SVG"), "{page}");
    assert!(!page.replace("http://www.w3.org/2000/svg", "").contains("http://"), "nothing from outside");
    let before: Vec<Vec<u8>> = files.iter().map(|name| ws.bytes(&format!("paper/{name}"))).collect();
    ws.call(args).expect(0);
    let after: Vec<Vec<u8>> = files.iter().map(|name| ws.bytes(&format!("paper/{name}"))).collect();
    assert_eq!(before, after);
}

/// Rows with published labels were of no type, and left out of the F1.
#[test]
fn published_labels_of_a_rebuilt_set_are_types() {
    let ws = Workspace::sample();
    cunning_texts(&ws);
    ws.call(["evaluate", "rows.jsonl", "--model", "first-option", "--task", "classify", "--out", "results"])
        .expect(0);
    let report: Value = serde_json::from_str(&ws.read("results/evaluation.json")).unwrap();
    let tables = report["tables"].as_array().unwrap();
    let table = tables.iter().find(|table| table["name"] == "tasks").unwrap();
    let columns = table["columns"].as_array().unwrap();
    let at = columns.iter().position(|column| column == "Classification F1").unwrap();
    assert_eq!(table["rows"][0]["cells"][at]["n"], 3, "{table}");
}

#[test]
fn a_report_writes_its_figures_as_files() {
    let ws = Workspace::sample();
    ws.call(["run", "--recipe", "flub", "-q"]).expect(0);
    let plain = ws.call(["report", "--recipe", "flub"]).expect(0).out;
    let done = ws.call(["report", "--recipe", "flub", "--figures", "paper"]).expect(0);
    assert_eq!(done.out, plain, "what is printed stays");
    let files = names(&ws, "paper");
    for file in [
        "flub-funnel.svg",
        "flub-lengths.svg",
        "flub-reasons.tex",
        "flub-types.tex",
        "flub-types-chart.svg",
        "flub-numbers.csv",
    ] {
        assert!(files.iter().any(|name| name == file), "{file}: {files:?}");
    }
    stand_alone(&ws, "paper");
    assert!(ws.read("paper/flub-lengths.svg").contains("filter.min_chars"), "the limit is drawn");
    let quiet = ws.call(["report", "--recipe", "flub", "--figures", "paper", "-q"]).expect(0);
    assert_eq!(quiet.err, "");
    ws.call(["report", "--recipe", "flub", "--html", "page.html"]).expect(0);
    let page = ws.read("page.html");
    assert!(page.contains("download=\"flub-lengths.svg\""), "each chart has its files");
    // The page has the drawings of the files, with the limits, and the declared figures as tables.
    for shown in ["filter.min_chars ", "<g><title>", ">记录</text>", "<h4>flub: types</h4>", "False Analogy"]
    {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    // A candidate's own drawing is the same one.
    let funnel = ws.read("output/flub/candidate/funnel.svg");
    assert!(funnel == ws.read("paper/flub-funnel.svg"), "{funnel}");
}
