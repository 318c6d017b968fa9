//! Figures that go into a paper: right, and as files that stand alone.

use std::fs;

use riddlemill::review::Vote;
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
    for shown in [
        "filter.min_chars ",
        "<g><title>",
        ">记录</text>",
        "<span lang=\"en\">FLUB: Texts by type</span>",
        "<span lang=\"zh-Hans\">FLUB：各类型的文本数</span>",
        "False Analogy",
        "download=\"flub-types-chart.svg\"",
        "download=\"flub-types.tex\"",
        "download=\"flub-funnel.tex\"",
    ] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    // What the folder calls the columns, and the caption in words.
    let types = ws.read("paper/flub-types.tex");
    assert!(types.contains("\\caption{FLUB: Texts by type}"), "{types}");
    assert!(
        types.contains("Name & Chinese & Texts") && types.contains("False Analogy & 错误类比 & "),
        "{types}"
    );
    // A candidate's own drawing is the same one.
    let funnel = ws.read("output/flub/candidate/funnel.svg");
    assert!(funnel == ws.read("paper/flub-funnel.svg"), "{funnel}");
}

/// Lists and objects were written as JSON into cells, captions and rows were keys, and numbers had sixteen digits.
#[test]
fn the_tables_of_a_report_are_of_words_and_rounded_numbers() {
    let ws = Workspace::sample();
    for recipe in ["ruozhibench-gen", "ruozhibench-mc", "chumor", "brainteaser"] {
        ws.call(["run", "--recipe", recipe, "--offline", "-q"]).expect(0);
        ws.call(["report", "--recipe", recipe, "--figures", "paper", "-q"]).expect(0);
    }
    stand_alone(&ws, "paper");
    for name in names(&ws, "paper").into_iter().filter(|name| name.ends_with(".tex")) {
        let text = ws.read(&format!("paper/{name}"));
        assert!(!text.contains("\\{") && !text.contains("\""), "JSON in {name}: {text}");
        let digits = |part: &str| part.split_once('.').is_some_and(|(_, behind)| behind.len() > 6);
        let long = text.split([' ', '[', ']', ',']).find(|part| part.parse::<f64>().is_ok() && digits(part));
        assert_eq!(long, None, "{name}: {text}");
        let caption = text.split_once("\\caption{").unwrap().1;
        assert!(
            caption.contains(": ") && !caption.split('}').next().unwrap().contains("\\_"),
            "{name}: {caption}"
        );
    }
    let table = |name: &str| ws.read(&format!("paper/{name}.tex"));
    // As an evaluation has it, and by the names of the categories.
    let judges = table("ruozhibench-mc-judges");
    assert!(
        judges.contains("Judges & Pearson, individual & Pearson, mean & Mean difference, individual"),
        "{judges}"
    );
    let means = table("ruozhibench-mc-means");
    assert!(means.contains("Model & Logical Error & ") && means.contains(" & All "), "{means}");
    let opponents = table("chumor-opponents");
    assert!(opponents.contains("Model & Jokes & Human wins, \\% & LLM wins, \\% & "), "{opponents}");
    let validity = table("brainteaser-validity");
    let interval = validity.lines().find(|line| line.trim_start().starts_with("context")).unwrap();
    assert!(
        interval.contains(" [$-$") || interval.contains(" [-") || interval.contains(" [0."),
        "{interval}"
    );
    // Kinds beside each other, as in table 3 of the paper.
    let numbers = table("brainteaser-kinds-numbers");
    assert!(numbers.contains("\\caption{BrainTeaser: numbers}"), "{numbers}");
    assert!(
        numbers.contains("Figure & Sentence & Word") && numbers.contains("average question tokens & "),
        "{numbers}"
    );
    let rules = table("brainteaser-sentence-shortcuts");
    assert!(rules.contains("the longest & ") && rules.contains("Right, \\% & By chance, \\%"), "{rules}");
}

/// Section 3.5 is of all groups that were voted on, also of those that leave the set behind it.
#[test]
fn validity_is_of_all_groups_that_were_voted_on() {
    let ws = Workspace::sample();
    let path = "raw/sample/puzzles/votes.jsonl";
    let cast = |line: &str| {
        let mut vote: Value = serde_json::from_str(line).unwrap();
        if vote["step"] == "validity" && vote["item"] == "riddle:900307" {
            vote["values"]["context"] = json!("no");
        }
        let vote: Vote = serde_json::from_value(vote).unwrap();
        format!("{}\n", serde_json::to_string(&vote.with_id()).unwrap())
    };
    let votes = ws.read(path).lines().map(cast).collect::<String>();
    ws.write(path, votes);
    ws.call(["run", "--recipe", "brainteaser", "--offline", "-q"]).expect(0);
    let report = ws.call(["report", "--recipe", "brainteaser", "--json"]).expect(0).out;
    let report: Value = serde_json::from_str(&report).unwrap();
    let stages = report[0]["stages"].as_array().unwrap();
    let counts = &stages.iter().find(|stage| stage["stage"] == "review:validity").unwrap()["counts"];
    let [voted_on, left] = ["records_in", "records_out"].map(|key| counts[key].as_u64().unwrap());
    assert_eq!((voted_on - left, &counts["states"]["dropped"]), (1, &json!(1)), "{counts}");
    assert_eq!(ws.candidates("brainteaser").len() as u64, 3 * left);
    let tables = &report[0]["tables"];
    assert_eq!(tables["rated"]["groups"], voted_on, "{tables}");
    for field in tables["validity"].as_array().unwrap() {
        assert_eq!(field[1]["items"], voted_on, "{field}");
    }
    let of_context = tables["rated"]["shares"][2][1].as_f64().unwrap() * voted_on as f64;
    assert!(
        (of_context - of_context.round()).abs() < 1e-9 && of_context.round() < voted_on as f64,
        "{tables}"
    );
}

/// A set without any answer told of 0 files, though those of the other set were written.
#[test]
fn the_files_of_a_call_are_counted_once() {
    let ws = Workspace::sample();
    for recipe in ["ruozhibench-gen", "ruozhibench-mc"] {
        ws.call(["run", "--recipe", recipe, "--offline", "-q"]).expect(0);
    }
    let sets = ["output/ruozhibench-gen/candidate", "output/ruozhibench-mc/candidate"];
    let args = ["--model", "first-option", "--resamples", "10", "--figures", "paper", "--out", "results"];
    let done = ws.call(["evaluate"].iter().chain(&sets).chain(&args)).expect(0);
    let files = names(&ws, "paper").len();
    assert!(done.err.contains(&format!("{files} files in paper")), "{}", done.err);
    assert!(!done.err.contains("0 files in"), "{}", done.err);
    let said = "ruozhibench-gen@candidate has no figures: none of its tasks was answered";
    assert!(done.err.contains(said), "{}", done.err);
}
