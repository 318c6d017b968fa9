//! Several replies to a draft, of which the majority's is kept; several answers of a model to a row; confidences; and people
//! who answer every kind of task.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use crate::generate::{Guard, Server};
use crate::harness::Workspace;

const NAME: &str = "coin-sides";

const BENCHMARK: &str = r#"about = "riddles that are so or not, and their kinds"
steps = ["import", "riddle", "kind"]

[step.riddle]
op = "riddle"

[step.kind]
samples = 3
majority = "label"
with = { riddle = "riddle.question" }
reply = { label = ["pun", "logic"] }

[data]
about = "A riddle, its kind, and two answers."

[data.columns]
id = ["id", "Its name."]
riddle = ["riddle.question", "The riddle."]
kind = ["kind.label", "What most replies say that it is."]
replies = ["(kind.drafts or []) | length", "integer", "How many replies there were."]
options = ["['so', 'not so']", "list of text", "Two answers."]
answer = ["'A' if riddle.answer == 'So.' else 'B'", "The letter of the right one."]

[data.harness]
question = "riddle"
instruction = "Is it so?"
options = "options"
gold = "answer"

[task.solve]
about = "Whether it is so."
samples = 4
confidence = { scale = [0, 100], bins = 5 }
with = { riddle = "riddle" }
choose = { options = "options", gold = "answer" }

[task.why]
about = "Why it is so."
on_request = true
prompt = "solve"
with = { riddle = "riddle" }
free_text = {}
judge = { with = { riddle = "riddle", said = "said" }, scale = [1, 5], people = true }
people = { write = true }

[table.solved]
title = "Solved"
[table.solved.columns]
Mean = { accuracy = "solve" }
"pass@2" = { accuracy = "solve", pass_at = 2 }
Majority = { accuracy = "solve", majority = true }
ECE = { ece = "solve" }
Brier = { brier = "solve" }
Reasons = { score = "why" }

[paper]
set = "Coin sides"
title = "Coin sides"
authors = "nobody"
year = 2026
url = ""
key = "coins"
languages = ["en"]
"#;

const SETTINGS: &str = "version = 1\n[text]\nlanguage = \"en\"\n\
    [llm.sample]\nprovider = \"sample\"\npack = \"raw/sample/replies.jsonl\"\n\
    [[source]]\nname = \"riddles\"\nkind = \"table\"\npath = \"raw/dumps/riddles.csv\"\n\
    fields = { id = \"riddle:{no}\", title = \"riddle\", content = \"answer\" }\nrecipes = [\"coin-sides\"]\n";

fn line(template: &str, record: &str, sample: usize, reply: &str) -> String {
    format!(
        "{}\n",
        json!({ "template": format!("{NAME}/{template}"), "record": record, "sample": sample, "reply": reply })
    )
}

/// What the model says of each riddle, answer by answer. The right ones are A, B and B.
static ANSWERS: [[&str; 4]; 3] = [
    ["A\nConfidence: 90", r#"{"answer": "A", "confidence": 80}"#, "B\nConfidence: 60%", "A"],
    ["A\nConfidence: 30", "B\nConfidence: 100", "A\nConfidence: 50", "B\nConfidence: 70"],
    ["B\nConfidence: 100", "B\nConfidence: 90", "B\nConfidence: 80", "Hard to say"],
];

fn coin_sides(kinds: [[&str; 3]; 3]) -> Workspace {
    let ws = Workspace::folder();
    ws.write("raw/salt", crate::harness::SALT);
    ws.write(&format!("benchmarks/{NAME}/benchmark.toml"), BENCHMARK);
    for (name, asks, values) in [
        ("kind", "Pun or logic?", "riddle"),
        ("solve", "So (A) or not (B)?", "riddle"),
        ("judge", "From 1 to 5.", "said"),
    ] {
        let text = format!(
            "{{# It asks.\n   output: text #}}\n=== user ===\n{asks}\n{{{{ {values} | inside(\"{values}\") }}}}\n"
        );
        ws.write(&format!("benchmarks/{NAME}/prompts/{name}.jinja"), text);
    }
    ws.write(
        "raw/dumps/riddles.csv",
        "no,riddle,answer\n1,Has a bottle a neck?,So.\n2,Does a river sleep?,Not so.\n3,Is a coin one-sided?,Not so.\n",
    );
    let mut replies = String::new();
    for (at, (kinds, answers)) in kinds.iter().zip(ANSWERS).enumerate() {
        let record = format!("riddle:{}", at + 1);
        kinds.iter().enumerate().for_each(|(sample, kind)| replies += &line("kind", &record, sample, kind));
        let record = format!("{record} {NAME}/solve");
        answers
            .iter()
            .enumerate()
            .for_each(|(sample, answer)| replies += &line("solve", &record, sample, answer));
    }
    ws.write("raw/sample/replies.jsonl", replies);
    ws.write("pipeline.toml", SETTINGS);
    ws
}

const KINDS: [[&str; 3]; 3] = [["pun", "logic", "logic"], ["pun"; 3], ["logic", "pun", "logic"]];

fn evaluation(ws: &Workspace, folder: &str) -> Value {
    serde_json::from_str(&ws.read(&format!("{folder}/evaluation.json"))).unwrap()
}

/// A figure of a table, by row and column.
fn figure(evaluation: &Value, table: &str, row: &str, column: &str) -> f64 {
    let tables = evaluation["tables"].as_array().unwrap();
    let table = tables.iter().find(|one| one["name"] == table).unwrap_or_else(|| panic!("no table {table}"));
    let at = table["columns"].as_array().unwrap().iter().position(|one| one == column).unwrap();
    let rows = table["rows"].as_array().unwrap();
    let row = rows.iter().find(|one| one["name"] == row).unwrap_or_else(|| panic!("no row {row}: {table}"));
    row["cells"][at]["value"].as_f64().unwrap_or_else(|| panic!("no {column}: {row}"))
}

/// What the step that names kinds did with a record.
fn shown(ws: &Workspace, id: &str) -> Value {
    let told = ws.call(["show", "kind", "--recipe", NAME, "--json"]).expect(0).out;
    let told: Value = serde_json::from_str(&told).unwrap();
    let rows = told[0]["rows"].as_array().unwrap();
    rows.iter().find(|row| row["id"] == id).unwrap_or_else(|| panic!("no {id}: {told}")).clone()
}

fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-6, "{found} for {expected}");
}

#[test]
fn the_reply_of_the_majority_is_the_draft_and_all_replies_stay() {
    let ws = coin_sides(KINDS);
    ws.call(["benchmark", "check"]).expect(0);
    ws.run().expect(0);
    let rows = ws.candidates(NAME);
    let kinds: Vec<&str> = rows.iter().map(|row| row["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["logic", "pun", "logic"]);
    assert!(rows.iter().all(|row| row["replies"] == 3), "{rows:?}");
    assert_eq!(shown(&ws, "riddle:1")["after"], "pun; logic; logic");
    ws.audit_clean();
}

#[test]
fn tied_replies_hold_the_record_until_another_one_decides() {
    let ws = coin_sides([["pun", "logic", "logic"], ["pun", "pun", "pun"], ["logic", "pun", "logic"]]);
    let folder = format!("benchmarks/{NAME}/benchmark.toml");
    ws.write(&folder, BENCHMARK.replace("samples = 3", "samples = 2"));
    ws.run().expect(0);
    assert_eq!(ws.reasons(NAME)["held/replies_tied"], 2, "{:?}", ws.reasons(NAME));
    assert_eq!(ws.candidates(NAME).len(), 1);
    let evidence = shown(&ws, "riddle:1")["evidence"].as_str().unwrap().to_owned();
    assert!(evidence.contains("label: 2 replies are tied, 1 each for logic, pun"), "{evidence}");
    assert!(evidence.contains("an odd number in `samples` of [step.kind]"), "{evidence}");
    // What is advised mends it.
    ws.write(&folder, BENCHMARK);
    ws.run().expect(0);
    assert_eq!(ws.candidates(NAME).len(), 3);
}

#[test]
fn what_several_answers_are_worth_is_told_with_confidences() {
    let ws = coin_sides(KINDS);
    ws.run().expect(0);
    ws.call(["evaluate", NAME, "--model", "sample", "--out", "results"]).expect(0);
    let answers: Vec<Value> =
        ws.read("results/answers.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers.len(), 12);
    let first = |answer: &&Value| answer.get("sample").is_none();
    assert_eq!(answers.iter().filter(first).count(), 3, "the first has no number, as a task with one answer");
    assert_eq!(answers.iter().filter(|answer| answer.get("confidence").is_some()).count(), 10);

    let found = evaluation(&ws, "results");
    for (table, columns) in
        [("solved", ["Mean", "pass@2", "Majority"]), ("samples", ["Mean", "pass@2", "Majority"])]
    {
        let of = |at: usize| figure(&found, table, "sample", columns[at]);
        close(of(0), 100.0 * 8.0 / 12.0);
        // Of two right of four, one of the six pairs has none.
        close(of(1), 100.0 * (1.0 + 5.0 / 6.0 + 1.0) / 3.0);
        close(of(2), 100.0 * (1.0 + 0.5 + 1.0) / 3.0);
    }
    close(figure(&found, "samples", "sample", "pass@4"), 100.0);
    close(figure(&found, "samples", "sample", "Tied"), 100.0 / 3.0);
    close(figure(&found, "samples", "sample", "Fewest answers"), 4.0);
    // By hand: confidences in fifths, of which each has its upper end.
    let stated =
        [(0.9, 1), (0.8, 1), (0.6, 0), (0.3, 0), (1.0, 1), (0.5, 0), (0.7, 1), (1.0, 1), (0.9, 1), (0.8, 1)];
    let brier: f64 = stated.iter().map(|(p, right)| (p - f64::from(*right)).powi(2)).sum::<f64>() / 10.0;
    let bins = [
        &[(0.3, 0)][..],
        &[(0.6, 0), (0.5, 0)],
        &[(0.8, 1), (0.7, 1), (0.8, 1)],
        &[(0.9, 1), (1.0, 1), (1.0, 1), (0.9, 1)],
    ];
    let apart = |bin: &&[(f64, i32)]| bin.iter().map(|(p, right)| p - f64::from(*right)).sum::<f64>().abs();
    let ece = bins.iter().map(apart).sum::<f64>() / 10.0;
    for table in ["solved", "calibration"] {
        let [of_ece, of_brier] =
            if table == "solved" { ["ECE", "Brier"] } else { ["ECE × 100", "Brier × 100"] };
        close(figure(&found, table, "sample", of_ece), 100.0 * ece);
        close(figure(&found, table, "sample", of_brier), 100.0 * brier);
    }
    close(figure(&found, "calibration", "sample", "Stated"), 100.0 * 10.0 / 12.0);
    let page = ws.read("results/report.html");
    assert!(page.contains("多次回答，") && page.contains("校准，") && page.contains("票数相同"), "Chinese");

    // The same from a file, by number and in order; what is beyond the number of the task is set aside.
    let texts = |at: usize| ANSWERS[at].iter().enumerate();
    let mut outputs = String::new();
    for (at, with_number) in [(0, true), (1, false), (2, true)] {
        for (sample, text) in texts(at) {
            let mut output = json!({ "item": format!("riddle:{}", at + 1), "model": "m", "task": format!("{NAME}/solve"), "text": text });
            if with_number {
                output["sample"] = sample.into();
            }
            outputs += &format!("{output}\n");
        }
    }
    let more = json!({ "item": "riddle:2", "model": "m", "task": format!("{NAME}/solve"), "text": "A" });
    let fifth = json!({ "item": "riddle:1", "model": "m", "task": format!("{NAME}/solve"), "text": "A", "sample": 4 });
    ws.write("outputs.jsonl", outputs + &format!("{more}\n{fifth}\n"));
    let result = ws.call(["evaluate", NAME, "--outputs", "outputs.jsonl", "--out", "elsewhere"]).expect(3);
    assert_eq!(result.err.matches("takes the first 4").count(), 2, "{}", result.err);
    let elsewhere = evaluation(&ws, "elsewhere");
    for column in ["Mean", "pass@2", "Majority", "Tied"] {
        close(figure(&elsewhere, "samples", "m", column), figure(&found, "samples", "sample", column));
    }
    // Results are joined answer by answer.
    ws.call(["evaluate", NAME, "--join", "results", "--out", "joined"]).expect(0);
    assert_eq!(ws.read("joined/answers.jsonl").lines().count(), 12);
}

#[test]
fn the_first_answer_is_paid_for_once_and_every_answer_is_estimated() {
    let ws = coin_sides(KINDS);
    ws.run().expect(0);
    let folder = format!("benchmarks/{NAME}/benchmark.toml");
    let one = BENCHMARK
        .replace("samples = 4\n", "")
        .lines()
        .filter(|line| !line.contains("pass_at") && !line.contains("majority = true"))
        .map(|line| format!("{line}\n"))
        .collect::<String>();
    ws.write(&folder, one);
    let server = Server::replying(|_| ("solve", "A\nConfidence: 80".into()), None, Duration::ZERO);
    ws.write(
        "pipeline.toml",
        SETTINGS.to_owned() + &server.settings() + "sampling = { temperature = 0.0, seed = 7 }\n",
    );
    let call = |more: &[&str]| {
        ws.call(["evaluate", NAME, "--model", "loop", "--out", "results"].iter().chain(more)).expect(0)
    };
    let told = call(&["--yes"]).err;
    assert!(!told.contains("temperature"), "{told}");
    assert_eq!(server.count(), 3);
    assert!(!ws.read("results/evaluation.json").contains("\"drawn\""));

    ws.write(&folder, BENCHMARK);
    let told = call(&["--dry-run", "--json"]);
    let rows: Vec<Value> = serde_json::from_str(&told.out).unwrap();
    assert_eq!(
        (&rows[0]["items"], &rows[0]["stored"], &rows[0]["requests"]),
        (&json!(12), &json!(3), &json!(9)),
        "{rows:?}"
    );
    let told = call(&["--yes"]).err;
    assert_eq!(server.count(), 12, "the first answers were there");
    let cold = "loop is asked for 4 answers to an item of coin-sides/solve at temperature 0, where further answers repeat the first";
    assert!(told.contains(cold), "{told}");
    let how = "loop gives up to 4 answers to an item, at temperature 0, with seeds from 7";
    assert!(told.contains(how) && ws.read("results/report.md").contains(how), "{told}");
    let page = ws.read("results/report.html");
    assert!(page.contains(how) && page.contains("种子自 7 起"), "both languages");
    call(&["--yes"]);
    assert_eq!(server.count(), 12, "nothing twice");
}

#[test]
fn people_answer_a_free_text_and_the_judge_rates_it() {
    let ws = coin_sides(KINDS);
    ws.run().expect(0);
    let server = Server::replying(|_| ("judge", "[[4]]".into()), None, Duration::ZERO);
    ws.write("pipeline.toml", SETTINGS.to_owned() + &server.settings());
    let why = format!("{NAME}/why");
    ws.call(["evaluate", NAME, "--model", "first-option", "--write-ballots", "sheets"]).expect(0);
    let guidelines = ws.read("sheets/guidelines.md");
    assert!(guidelines.contains("## write.csv") && guidelines.contains("## choose.csv"), "{guidelines}");
    for other in ["type", "joke", "absurd", "reference"] {
        assert!(!guidelines.contains(other), "{other}: {guidelines}");
    }
    let sheet = ws.read("sheets/write.csv");
    assert!(sheet.contains("Has a bottle a neck?"), "{sheet}");
    let mut reader = csv::Reader::from_reader(sheet.trim_start_matches('\u{feff}').as_bytes());
    let rows = reader.records().map(Result::unwrap);
    let votes: String = rows
        .map(|row| format!("{}\n", json!({ "ballot": &row[0], "answer": format!("By {}.", &row[0]) })))
        .collect();
    ws.write("votes.jsonl", votes);
    let args = [
        "evaluate",
        NAME,
        "--task",
        &why,
        "--ballots",
        "me=votes.jsonl",
        "--judge",
        "loop",
        "--out",
        "results",
        "--yes",
    ];
    ws.call(args).expect(0);
    assert_eq!(server.count(), 3);
    close(figure(&evaluation(&ws, "results"), "solved", "people", "Reasons"), 4.0);
    // A baseline that nobody rates is refused before anybody writes.
    let folder = format!("benchmarks/{NAME}/benchmark.toml");
    ws.write(&folder, BENCHMARK.replace("scale = [1, 5], people = true", "scale = [1, 5]"));
    let told = ws.call(["benchmark", "check"]).expect(2).err;
    assert!(told.contains("nobody rates what people answer"), "{told}");
}

/// A choice needs no judge and stands between two texts that do.
#[test]
fn what_people_write_goes_to_the_judge_at_once_whatever_stands_between() {
    let ws = coin_sides(KINDS);
    ws.run().expect(0);
    let refuses: Guard = Arc::new(|_, _| Some((401, "invalid api key")));
    let server = Server::guarded(|_| ("judge", "[[4]]".into()), None, Duration::ZERO, refuses);
    let settings = server.settings().replace("max_attempts = 1", "max_attempts = 1, leave_after = 1");
    ws.write("pipeline.toml", SETTINGS.to_owned() + &settings + "concurrency = 1\n");
    ws.call(["evaluate", NAME, "--model", "first-option", "--write-ballots", "sheets"]).expect(0);
    let ballots = |sheet: &str| -> Vec<String> {
        let sheet = ws.read(&format!("sheets/{sheet}.csv"));
        let mut reader = csv::Reader::from_reader(sheet.trim_start_matches('\u{feff}').as_bytes());
        reader.records().map(|row| row.unwrap()[0].to_owned()).collect()
    };
    let (written, chosen) = (ballots("write"), ballots("choose"));
    assert_eq!((written.len(), chosen.len()), (3, 3));
    let mut votes = String::new();
    for (write, choose) in written.iter().zip(&chosen) {
        votes += &format!("{}\n", json!({ "ballot": write, "answer": format!("By {write}.") }));
        votes += &format!("{}\n", json!({ "ballot": choose, "answer": "A" }));
    }
    ws.write("votes.jsonl", votes);
    let args =
        ["evaluate", NAME, "--ballots", "me=votes.jsonl", "--judge", "loop", "--out", "results", "--yes"];
    let told = ws.call(args).expect(3).err;
    assert_eq!(
        (told.matches("is disabled for this run").count(), server.count()),
        (1, 1),
        "one call: {told}"
    );
    let answers = ws.read("results/answers.jsonl");
    assert_eq!(answers.lines().filter(|line| line.contains("\"person\":true")).count(), 6, "{answers}");
    assert_eq!(ws.read("results/missing.jsonl").lines().count(), 3);
}

#[test]
fn a_file_of_outputs_that_is_given_twice_counts_once() {
    let ws = coin_sides(KINDS);
    ws.run().expect(0);
    let mut outputs = String::new();
    for (riddle, text) in [(1, "A"), (1, "B"), (2, "A"), (2, "A"), (3, "B"), (3, "B")] {
        let item = format!("riddle:{riddle}");
        let line = json!({ "item": item, "model": "m", "task": format!("{NAME}/solve"), "text": text });
        outputs += &format!("{line}\n");
    }
    ws.write("made/outputs.jsonl", &outputs);
    let evaluate = |files: &[&str], code: i32| {
        let args = ["evaluate", NAME, "--out", "results", "--outputs"];
        let told = ws.call(args.iter().chain(files)).expect(code).err;
        (told, ws.read("results/answers.jsonl").lines().count())
    };
    assert_eq!(evaluate(&["made"], 0).1, 6);
    for again in ["made/outputs.jsonl", "./made", "m=made/../made/outputs.jsonl"] {
        let (told, answers) = evaluate(&["made", again], 3);
        assert_eq!((told.matches("the file is given twice").count(), answers), (1, 6), "{again}: {told}");
    }
    // Of another model, and in another file, they are further answers.
    assert_eq!(evaluate(&["made", "n=made/outputs.jsonl"], 0).1, 12);
    ws.write("again.jsonl", &outputs);
    assert_eq!(evaluate(&["made", "again.jsonl"], 0).1, 12);
}

#[test]
fn mistakes_are_all_told_at_once() {
    let ws = coin_sides(KINDS);
    let folder = format!("benchmarks/{NAME}/benchmark.toml");
    let wrong = BENCHMARK
        .replace("samples = 3", "samples = 3\nreplies = 5")
        .replace("majority = \"label\"", "majority = \"lable\"")
        .replace("samples = 4", "samples = 0")
        .replace("scale = [0, 100], bins = 5", "scale = [1, 5], bins = 0")
        .replace("pass_at = 2", "pass_at = 9")
        .replace("people = { write = true }", "people = { write = true }\nconfidense = {}");
    ws.write(&folder, wrong);
    let told = ws.call(["benchmark", "check"]).expect(2).err;
    for what in [
        "`samples` and `replies` are one number",
        "unknown field of the reply \"lable\"",
        "samples: expected a whole number from 1 to 1000",
        "`scale` is [0, 1] or [0, 100]",
        "bins: expected a whole number from 1 to 100",
        "unknown key \"confidense\"",
        "did you mean \"confidence\"",
    ] {
        assert!(told.contains(what), "{what}: {told}");
    }
    ws.write(&folder, BENCHMARK.replace("pass_at = 2", "pass_at = 9"));
    let told = ws.call(["benchmark", "check"]).expect(2).err;
    assert!(told.contains("`pass_at` is between 1 and the `samples` of the task, which are 4"), "{told}");
    ws.write(
        &folder,
        BENCHMARK
            .replace("reply = { label = [\"pun\", \"logic\"] }", "reply = { text = [] }")
            .replace("\"label\"", "\"text\"")
            .replace("kind.label", "kind.text"),
    );
    let told = ws.call(["benchmark", "check"]).expect(2).err;
    assert!(told.contains("is a text, and hardly two replies have the same"), "{told}");
}

/// Other programs ask once, and their files say what they leave to `evaluate`.
#[test]
fn the_files_of_other_programs_say_that_they_ask_once() {
    let ws = coin_sides(KINDS);
    ws.run().expect(0);
    let file = |path: &str| ws.read(&format!("output/{NAME}/candidate/{path}"));
    let (several, confidence) = ("takes 4 answers to each item", "An answer states a confidence");
    for path in [
        "eval/lm_eval/coin_sides_solve.yaml",
        "eval/inspect/coin_sides.py",
        "eval/opencompass/datasets/coin_sides.py",
        "README.md",
    ] {
        let text = file(path);
        assert!(text.contains(several) && text.contains(confidence), "{path}: {text}");
        assert_eq!(text.matches(several).count(), 1, "`why` is asked once: {path}: {text}");
    }
    let tasks: Value = serde_json::from_str(&file("eval/tasks.json")).unwrap();
    assert_eq!(
        (&tasks["coin_sides_solve"]["samples"], &tasks["coin_sides_solve"]["confidence"]),
        (&json!(4), &json!(true))
    );
    assert!(tasks["coin_sides_why"].get("samples").is_none(), "{tasks}");
    let scoring = file("eval/scoring.py");
    assert!(scoring.contains("def without_confidence(text):"), "{scoring}");
    // The answer is read without its confidence, as by `evaluate`.
    let code = "import scoring\n\
        item = {'choices': ['A', 'B'], 'options': ['so', 'not so']}\n\
        said = ['A\\nConfidence: 90', '{\"answer\": \"B\", \"confidence\": 80}', 'B\\n**置信度**：70', 'Confidence: 20']\n\
        print([scoring.answer('coin_sides_solve', item, one) for one in said])";
    let python = std::process::Command::new("python3")
        .args(["-c", code])
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .current_dir(ws.path(&format!("output/{NAME}/candidate/eval")))
        .output();
    // Where there is no Python, nobody runs the file.
    let Ok(output) = python else { return };
    let said =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert_eq!(said.trim(), "['A', 'B', 'B', None]");
}
