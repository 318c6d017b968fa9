//! What a benchmark of a folder may have besides steps and ballots: further columns of its table, its own
//! settings, tables of `evaluate`; and how they are checked.

use serde_json::{Value, json};

use crate::harness::Workspace;
use crate::own::{TWISTERS, example, vote};

pub const LINES: &str = "loan-lines";

/// Two annotators who disagree once, a third who settles that, and a senior.
pub fn vote_on_lines(ws: &Workspace) {
    let idiom = |see: &Value| {
        let english = see["target"].as_str().unwrap();
        ["one breath", "turns corners", "squid", "tall hat"].iter().any(|part| english.contains(part))
    };
    ws.run().expect(0);
    for (n, who) in ["annotator-1", "annotator-2"].into_iter().enumerate() {
        vote(ws, LINES, "rating", who, |see| match idiom(see) {
            true => json!({ "rating": (2 + n).to_string() }),
            false => json!({ "rating": "5" }),
        });
    }
    ws.run().expect(0);
    for who in ["annotator-1", "annotator-2"] {
        vote(ws, LINES, "errors", who, |see| {
            let overlooked = see["target"].as_str().unwrap().contains("breath") && who == "annotator-2";
            json!({ "kind": if idiom(see) && !overlooked { "literal" } else { "none" } })
        });
    }
    ws.run().expect(0);
    assert_eq!(ws.reasons(LINES)["held/disputed"], 1);
    let settle = ["review", "adjudicate", "errors", "--item", "line:1", "--by", "meta-1"];
    let answers = ["--answer", "kind=literal", "--answer", "reason=An idiom word by word."];
    ws.call(settle.into_iter().chain(answers)).expect(0);
    ws.run().expect(0);
    vote(ws, LINES, "better", "senior-1", |see| match see["target"].as_str().unwrap().contains("squid") {
        true => json!({ "verdict": "rewrite", "better": "The boss gave him the sack." }),
        false => json!({ "verdict": "accept" }),
    });
    ws.run().expect(0);
}

/// A copy of the example with votes of people.
fn lines_by_people() -> Workspace {
    let ws = example(LINES);
    let settings = ws.read("pipeline.toml").replace("sample = \"raw/sample/votes.jsonl\"", "");
    ws.write("pipeline.toml", settings);
    ws
}

#[test]
fn further_columns_own_settings_and_tables_are_declared() {
    let ws = lines_by_people();
    vote_on_lines(&ws);
    ws.audit_clean();
    let rows = ws.candidates(LINES);
    assert_eq!(rows.len(), 8);
    let row = |id: &str| rows.iter().find(|row| row["source_id"] == id).unwrap();
    assert_eq!(
        [&row("line:5")["system"], &row("line:5")["better"], &row("line:5")["rating"]],
        [&json!("alpha"), &json!("The boss gave him the sack."), &json!(2.5)]
    );
    assert_eq!((&row("line:2")["better"], &row("line:1")["kind"]), (&Value::Null, &json!("literal")));
    let phone = row("line:7")["en"].as_str().unwrap();
    assert!(!phone.contains("138") && phone.contains("Call him at"), "{phone}");
    assert!(rows.iter().all(|row| row["standing"] == "confirmed"));
    ws.call(["release", LINES]).expect(0);
    ws.call(["verify", "output/loan-lines/1.0.0", "--raw"]).expect(0);

    // Files for others, in the form that the ending says.
    let csv = ws.read("output/loan-lines/1.0.0/compat/loan_lines.csv");
    assert_eq!(csv.lines().next(), Some("src,mt,score,error"), "{csv}");
    assert!(csv.lines().count() == 9 && csv.contains(",5.0,none"), "{csv}");
    let parquet = std::fs::read(ws.path("output/loan-lines/1.0.0/compat/loan_lines.parquet")).unwrap();
    assert!(parquet.starts_with(b"PAR1"));

    // The report on the columns.
    let report = ws.call(["report"]).expect(0).out;
    for part in ["8 records at the end, 8 of them items", "literal", "zh, characters", "kind: 8 items"] {
        assert!(report.contains(part), "{part}: {report}");
    }

    // Tables that divide the set.
    let mut outputs = String::new();
    for row in &rows {
        let kind = if row["system"] == "alpha" { row["kind"].as_str().unwrap() } else { "grammar" };
        for (task, text) in [
            ("kind", format!("{kind}\nConfidence: 90")),
            ("rate", row["rating"].as_f64().unwrap().round().to_string()),
        ] {
            let line = json!({ "item": row["id"], "task": format!("loan-lines/{task}"), "model": "half", "text": text });
            outputs += &format!("{line}\n");
        }
    }
    ws.write("answers.jsonl", outputs);
    let call = ["evaluate", "loan-lines@1.0.0", "--outputs", "answers.jsonl", "--json"];
    let report: Value = serde_json::from_str(&ws.call(call).expect(0).out).unwrap();
    let table = &report[0]["report"]["tables"][0];
    let columns: Vec<&str> =
        table["columns"].as_array().unwrap().iter().map(|title| title.as_str().unwrap()).collect();
    assert_eq!(columns[..5], ["Kind", "Alpha", "Beta", "Gap", "Domain: books"]);
    let values: Vec<Option<f64>> =
        table["rows"][0]["cells"].as_array().unwrap().iter().map(|cell| cell["value"].as_f64()).collect();
    assert_eq!(values[..5], [Some(50.0), Some(100.0), Some(0.0), Some(100.0), Some(0.0)], "{table}");
    assert!(values[columns.iter().position(|title| *title == "r").unwrap()].unwrap() > 90.0, "{table}");
    // The kinds as classes, and how far confidences are from being right.
    let tables = report[0]["report"]["tables"].as_array().unwrap();
    let classes = tables.iter().find(|table| table["name"] == "errors").unwrap();
    let cell = |title: &str| {
        let titles = classes["columns"].as_array().unwrap();
        let place = titles.iter().position(|one| one == title).unwrap_or_else(|| panic!("no {title}"));
        classes["rows"][0]["cells"][place].clone()
    };
    assert_eq!(cell("F1, micro")["value"], json!(50.0), "{classes}");
    assert_eq!(cell("Right of attempted")["value"], json!(50.0), "{classes}");
    for title in ["Precision", "Recall", "MCC", "Taken for literal", "Literal missed"] {
        assert!(cell(title)["low"].is_number() && cell(title)["high"].is_number(), "{title}: {classes}");
    }
    let ece = cell("ECE × 100")["value"].as_f64().unwrap();
    assert!((ece - 40.0).abs() < 1e-6, "half are right, and all are stated to be 90 % sure: {classes}");
}

#[test]
fn its_columns_of_texts_and_of_records_have_any_name() {
    let ws = lines_by_people();
    let folder = "benchmarks/loan-lines/benchmark.toml";
    ws.write(folder, ws.read(folder).replace("source_id = [", "line = ["));
    vote_on_lines(&ws);
    ws.call(["release", LINES]).expect(0);
    let set = "output/loan-lines/1.0.0";
    // A file of the same lines in another order and without ids.
    let file = ws.read(&format!("{set}/data/{LINES}/test.jsonl"));
    let known = |line: &str| -> Value { serde_json::from_str(line).unwrap() };
    let foreign = |row: Value| format!("{}\n", json!({ "zh": row["zh"], "kind": row["kind"] }));
    ws.write("foreign.jsonl", file.lines().rev().map(known).map(foreign).collect::<String>());
    let compared = || {
        let result = ws.call(["compare", set, "foreign.jsonl", "--json"]);
        let found = known(&result.out);
        (found["items"].clone(), found["exact"].clone(), result.err)
    };
    assert_eq!(compared(), (json!(8), json!(8), String::new()));

    // A candidate with another text of a record that is withdrawn then.
    let phone = known(file.lines().find(|line| line.contains("line:7")).unwrap());
    let other = format!("{}\n", json!({ "id": "LL-1", "zh": "另一句。", "line": phone["line"] }));
    ws.write(
        "other.jsonl",
        other + &format!("{}\n", json!({ "id": "LL-2", "zh": "别的。", "line": "line:6" })),
    );
    ws.call(["withdraw", "line:7", "--reason", "asked"]).expect(0);
    let result = ws.call(["compare", "other.jsonl", "foreign.jsonl", "--recipe", LINES, "--json"]);
    assert_eq!(
        (&known(&result.out)["items"], result.err.matches("1 row left out: withdrawn").count()),
        (&json!(1), 1)
    );
}

#[test]
fn a_setting_of_its_own_is_known_checked_and_makes_its_steps_stale() {
    let ws = lines_by_people();
    vote_on_lines(&ws);
    let config = ws.call(["config"]).expect(0).out;
    let line = |part: &str| config.lines().find(|line| line.contains(part)).unwrap_or_default().to_owned();
    assert!(line("recipe.loan-lines.ask.tone = \"plain\"").contains("pipeline.toml:"), "{config}");
    assert!(line("recipe.loan-lines.ask.good = 4.5").contains("# recipe"), "{config}");
    let actual = ws.call(["config", "--explain", "recipe.loan-lines.ask.good"]).expect(0).out;
    assert!(actual.contains("from 1 to 5") && actual.contains("is asked no better one"), "{actual}");
    let shown = ws.call(["benchmark", "show", LINES]).expect(0).out;
    assert!(shown.contains("ask.tone = \"plain\""), "{shown}");

    let status = |flags: &[&str]| ws.call(flags.iter().copied().chain(["status"])).expect(0).out;
    assert!(!status(&[]).contains("stale"));
    let actual = status(&["--set", "recipe.loan-lines.ask.good=2"]);
    let stale: Vec<&str> = actual.lines().filter(|line| line.contains("stale")).collect();
    assert!(stale[0].contains("better") && stale[0].contains("ask.good 4.5 -> 2"), "{actual}");
    assert!(!stale.iter().any(|line| line.contains("review:rating")), "{actual}");
    // Nobody is asked about items that are good enough.
    ws.call(["--set", "recipe.loan-lines.ask.good=2", "run"]).expect(0);
    assert!(ws.candidates(LINES).iter().all(|row| row["better"].is_null()));

    let wrong = |set: &str| ws.call(["--set", set, "status"]).expect(2).err;
    assert!(wrong("recipe.loan-lines.ask.good=7").contains("a number from 1 to 5"));
    assert!(wrong("recipe.loan-lines.ask.tone=plan").contains("did you mean \"plain\""));
    let settings = ws.read("pipeline.toml");
    ws.write("pipeline.toml", settings.replace("tone = \"plain\"", "ton = \"plain\""));
    let result = ws.call(["status"]).expect(2).err;
    assert!(result.contains("unknown key \"ton\"") && result.contains("\"tone\""), "{result}");
    ws.write("pipeline.toml", settings.replace("[recipe.loan-lines.ask]", "[recipe.loan-lines.asks]"));
    let result = ws.call(["status"]).expect(2).err;
    assert!(result.contains("did you mean \"ask\""), "{result}");
}

#[test]
fn columns_settings_prompts_and_tables_are_checked() {
    let problems = |file: &str, from: &str, to: &str| {
        let ws = example(LINES);
        let path = match file {
            "pipeline.toml" => file.to_owned(),
            _ => format!("benchmarks/loan-lines/{file}"),
        };
        let text = ws.read(&path);
        assert!(text.contains(from), "{file} has no {from}");
        ws.write(&path, text.replacen(from, to, 1));
        ws.call(["status"]).expect(2).err
    };
    let benchmark = "benchmark.toml";
    for (file, from, to, parts) in [
        (
            "pipeline.toml",
            "system = \"system\"",
            "System = \"system\"",
            ["columns: expected", "small letters"],
        ),
        ("pipeline.toml", "system = \"system\",", "", ["\"system\"", "columns = {"]),
        (
            "pipeline.toml",
            "recipes = [\"loan-lines\"]",
            "recipes = [\"flub\"]",
            ["flub has no place", "columns"],
        ),
        (benchmark, "[\"table.system\"", "[\"table.sistem\"", ["\"sistem\"", "\"system\""]),
        (benchmark, "< settings.ask.good", "< settings.ask.god", ["\"god\"", "good"]),
        (benchmark, "max = 5", "max = 4", ["default: expected a number from 1 to 4", "benchmark.toml:"]),
        (
            benchmark,
            "[\"errors.kind\"",
            "[\"settings.ask.tone\"",
            ["follows from the record alone", "benchmark.toml:"],
        ),
        (
            benchmark,
            "[setting.ask.tone]",
            "[setting.draft.endpoint]",
            ["draft.endpoint is already", "[setting.draft.endpoint]"],
        ),
        (benchmark, "accuracy = \"kind\" }", "accuracy = \"kinds\" }", ["unknown task", "\"kind\""]),
        (
            benchmark,
            "f1 = \"kind\"",
            "f1 = \"rate\"",
            ["`f1` measures tasks with `label`", "benchmark.toml:"],
        ),
        (benchmark, "[\"Alpha\", \"Beta\"]", "[\"Alpha\", \"Bta\"]", ["column before this one", "\"Beta\""]),
        (benchmark, "each = \"domain\"", "each = \"domains\"", ["unknown column", "\"domain\""]),
        (
            benchmark,
            "rests_on = [\"rating\"",
            "rests_on = [\"ratings\"",
            ["rests_on: unknown ballot", "\"rating\""],
        ),
        (
            benchmark,
            "target = \"table.en\" }\nreply",
            "goal = \"table.en\" }\nreply",
            ["does not give \"target\"", "\"goal\""],
        ),
        (
            benchmark,
            "\"better\", \"review:better\"",
            "\"post\", \"review:better\"",
            ["[step.post] is missing", "unknown step"],
        ),
        (
            "prompts/errors.jinja",
            "{{ source | inside(\"source\") }}",
            "{{ source }}",
            ["is sent without delimiters", "inside("],
        ),
        (
            "prompts/errors.jinja",
            "{# Loan-Lines: the worst error.",
            "Loan-Lines",
            ["opens with a comment", "errors.jinja"],
        ),
        ("ballots.toml", "options = \"better\"", "options = \"beter\"", ["unknown list", "\"better\""]),
        (
            "ballots.toml",
            "rule = \"unanimous\"",
            "rule = \"mean\"",
            ["is for the kind \"score\"", "ballots.toml:"],
        ),
        (
            "ballots.toml",
            "drafts = \"shown\"",
            "drafts = \"shown\"\nnot_by = \"eror\"",
            ["not_by: unknown ballot", "errors"],
        ),
    ] {
        let result = problems(file, from, to);
        assert!(parts.iter().all(|part| result.contains(part)), "{to}: {result}");
    }
}

#[test]
fn whoever_wrote_the_wrong_answers_does_not_choose_among_them() {
    let ws = example(TWISTERS);
    let settings = ws.read("pipeline.toml").replace("sample = \"raw/sample/votes.jsonl\"", "");
    ws.write("pipeline.toml", settings);
    let ballots = "benchmarks/brain-twisters/ballots.toml";
    ws.write(
        ballots,
        ws.read(ballots).replace(
            "[ballots]\nvoters = [\"annotator\"]",
            "[ballots]\nvoters = [\"annotator\", \"senior\"]",
        ),
    );
    ws.run().expect(0);
    for who in ["senior-1", "annotator-1", "annotator-2", "annotator-3"] {
        vote(&ws, TWISTERS, "fair", who, |_| json!({ "fair": "yes" }));
    }
    ws.run().expect(0);
    // The senior writes for the riddle of the bottle, an annotator for the others.
    ws.call(["review", "assign", "more"]).expect(0);
    let given = |who: &str| {
        ws.call(["review", "export", "more", "--annotator", who, "--format", "jsonl"]).expect(0);
        ws.read(&format!("brain-twisters.more.{who}.jsonl")).lines().count()
    };
    assert!(given("senior-1") > 0, "seniors write, too");
    for who in ["senior-1", "annotator-1", "annotator-2", "annotator-3"] {
        vote(&ws, TWISTERS, "more", who, |_| json!({ "wrong_4": "A ghost.", "wrong_5": "A shoe." }));
    }
    ws.run().expect(0);
    let actual = ws.call(["review", "assign", "best"]).expect(0);
    ws.call(["review", "export", "best", "--annotator", "senior-1", "--format", "jsonl"]).expect(0);
    let best = ws.read("brain-twisters.best.senior-1.jsonl").lines().count();
    assert!(best < 8, "{best} of 8, though the senior wrote for some: {}{}", actual.out, actual.err);
}
