//! `evaluate`: the sample without a network, an endpoint without repeated requests, outputs and ballots from
//! elsewhere.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use crate::generate::Server;
use crate::harness::{CallResult, Tree, Workspace};

fn candidates(recipes: &[&str]) -> Workspace {
    let ws = Workspace::sample();
    let named = recipes.iter().flat_map(|recipe| ["--recipe", recipe]);
    ws.call(["run", "--offline"].into_iter().chain(named)).expect(0);
    ws
}

fn lines(ws: &Workspace, path: &str) -> Vec<Value> {
    ws.read(path).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn evaluation(ws: &Workspace, recipe: &str) -> Value {
    serde_json::from_str(&ws.read(&format!("output/{recipe}/evaluation/candidate/evaluation.json"))).unwrap()
}

fn table<'a>(evaluation: &'a Value, name: &str) -> &'a Value {
    let tables = evaluation["tables"].as_array().unwrap();
    tables.iter().find(|table| table["name"] == name).unwrap_or_else(|| panic!("no table {name}"))
}

fn cell<'a>(table: &'a Value, row: &str, column: &str) -> &'a Value {
    let at = table["columns"].as_array().unwrap().iter().position(|name| name == column).unwrap();
    let rows = table["rows"].as_array().unwrap();
    &rows.iter().find(|of| of["name"] == row).unwrap_or_else(|| panic!("no row {row}"))["cells"][at]
}

fn results(ws: &Workspace) -> Tree {
    ws.derived().into_iter().filter(|(path, _)| path.contains("/evaluation")).collect()
}

#[test]
fn the_sample_is_evaluated_without_a_network() {
    let sets = ["ruozhibench-gen", "ruozhibench-mc", "flub", "chumor", "brainteaser"];
    let ws = candidates(&sets);
    let args = [
        "evaluate",
        "--offline",
        "--model",
        "sample-solver",
        "--model",
        "random",
        "--model",
        "first-option",
        "--judge",
        "sample-marker",
        "--shots",
        "0,2",
        "--cot",
        "--resamples",
        "200",
    ];
    let call = || ws.call(args.iter().chain(&sets));
    let result = call().expect(0);
    assert!(!result.err.contains("missing"), "{}", result.err);
    let before = results(&ws);
    call().expect(0);
    crate::harness::assert_same(&before, &results(&ws), "a second call");

    let gen_scores = evaluation(&ws, "ruozhibench-gen");
    let score = cell(table(&gen_scores, "scores"), "sample-solver", "Micro average");
    assert_eq!(score["n"], ws.candidates("ruozhibench-gen").len());
    assert!(
        score["low"].as_f64() < score["value"].as_f64() && score["value"].as_f64() < score["high"].as_f64()
    );
    let mc = evaluation(&ws, "ruozhibench-mc");
    let orders = table(&mc, "orders");
    for (column, expected) in
        [("Good First", 100.0), ("Bad First", 0.0), ("Avg", 50.0), ("Positional Bias", 100.0)]
    {
        assert_eq!(cell(orders, "first-option", column)["value"], expected, "{column}");
    }
    let format = cell(orders, "sample-solver", "Format")["value"].as_f64().unwrap();
    assert!((70.0..100.0).contains(&format), "{format}");
    let flub = evaluation(&ws, "flub");
    let settings = ["sample-solver, 0-shot", "sample-solver, 2-shot", "sample-solver, cot"];
    for row in settings {
        assert!(cell(table(&flub, "tasks"), row, "Overall")["value"].as_f64().unwrap() > 5.0, "{row}");
    }
    let chumor = evaluation(&ws, "chumor");
    let winning = table(&chumor, "winning");
    let rows: Vec<&str> =
        winning["rows"].as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap()).collect();
    let expected = [
        "sample-solver, by judges",
        "sample-model-e, by people",
        "sample-model-e, by judges",
        "sample-model-f, by people",
        "sample-model-f, by judges",
    ];
    assert_eq!(rows, expected);
    let puzzles = evaluation(&ws, "brainteaser");
    let table_8 = table(&puzzles, "puzzles");
    assert_eq!(table_8["paper"], "BrainTeaser, table 8");
    for row in ["random, 0-shot", "random, 2-shot", "sample-solver, 0-shot", "sample-solver, 2-shot"] {
        assert_eq!(cell(table_8, row, "Overall")["n"], 93, "{row}");
        assert_eq!(cell(table_8, row, "Ori & Sem & Con")["n"], 31, "{row}");
    }
    assert!(!puzzles["comparisons"].as_array().unwrap().is_empty());

    // A pattern of a drawing is in the same page.
    let page = ws.read("output/flub/evaluation/candidate/report.html").replace("url(#", "");
    for banned in ["<script", "https://", "<link", "@import", "url("] {
        assert!(!page.contains(banned), "{banned}");
    }
    // A figure with its interval is under the pointer, in both languages.
    assert!(
        page.contains("<svg") && page.contains("<g><title>first-option") && page.contains(">百分比</text>")
    );
    every_share_is_made_of_its_answers(&ws, &["flub", "brainteaser"]);
}

/// A cell's `from` selects lines of answers.jsonl; the share of correct ones among them is the cell's value.
fn every_share_is_made_of_its_answers(ws: &Workspace, recipes: &[&str]) {
    let mut checked = 0;
    for recipe in recipes {
        let answers = lines(ws, &format!("output/{recipe}/evaluation/candidate/answers.jsonl"));
        let evaluation = evaluation(ws, recipe);
        let all = evaluation["tables"].as_array().unwrap().iter();
        for (table, row) in
            all.flat_map(|table| table["rows"].as_array().unwrap().iter().map(move |row| (table, row)))
        {
            for (column, cell) in
                table["columns"].as_array().unwrap().iter().zip(row["cells"].as_array().unwrap())
            {
                let shares = ["Selection accuracy", "Original", "Semantic", "Context"];
                if cell.is_null() || !shares.contains(&column.as_str().unwrap()) {
                    continue;
                }
                let from = cell["from"].as_object().unwrap();
                let matches = |answer: &&Value| {
                    from.iter().all(|(key, value)| match key.as_str() {
                        "part" | "kind" => answer["parts"].as_array().unwrap().contains(value),
                        key => answer[key] == *value,
                    })
                };
                let picked: Vec<&Value> = answers.iter().filter(matches).collect();
                let right = picked.iter().filter(|answer| answer["correct"] == true).count();
                assert_eq!(cell["n"], picked.len(), "{} {column}: {from:?}", row["name"]);
                let share = 100.0 * right as f64 / picked.len() as f64;
                assert!((cell["value"].as_f64().unwrap() - share).abs() < 1e-9);
                checked += 1;
            }
        }
    }
    assert!(checked > 20, "{checked}");
}

/// Chooses the first option, and gives every seventh time an unreadable reply.
fn first(prompt: &str) -> (&'static str, String) {
    let odd = prompt.chars().map(|c| c as usize).sum::<usize>().is_multiple_of(7);
    ("solve", if odd { "Hard to say".into() } else { "A".into() })
}

#[test]
fn what_is_stored_is_not_asked_again_and_a_cap_holds() {
    let ws = candidates(&["brainteaser"]);
    let server = Server::replying(first, None, Duration::ZERO);
    let settings = ws.read("pipeline.toml");
    let prices =
        "usd_per_million_in = 1.0\nusd_per_million_out = 2.0\nsampling = { max_tokens = 10 }\nsize_b = 7.0\n";
    ws.write("pipeline.toml", settings + &server.settings().replace("free = true\n", prices));
    let call = |more: &[&str]| -> CallResult {
        ws.call(["evaluate", "brainteaser", "--model", "loop"].iter().chain(more))
    };

    let estimate = call(&["--dry-run", "--json"]).expect(0).out;
    let estimate: Value = serde_json::from_str(&estimate).unwrap();
    let asked = estimate[0]["requests"].as_u64().unwrap();
    assert!(asked > 60 && estimate[0]["max_usd"].as_f64().unwrap() > 0.0, "{estimate}");
    let result = call(&["--offline"]).expect(0);
    assert!(result.err.contains("missing") && result.err.contains("offline"), "{}", result.err);
    assert_eq!(server.count(), 0, "an estimate and an offline call send nothing");

    let result = call(&["--max-usd", "0.0000001"]).expect(0);
    assert_eq!(server.count(), 0, "a cap is held before anything is sent");
    assert!(result.err.contains("spent, the next request could cost"), "{}", result.err);
    let least = estimate[0]["min_usd"].as_f64().unwrap();
    call(&["--max-usd", &(least / 2.0).to_string()]).expect(0);
    let some = u64::from(server.count());
    assert!(some > 0 && some < asked, "{some} of {asked}");

    call(&[]).expect(2);
    call(&["--yes"]).expect(0);
    assert_eq!(u64::from(server.count()), asked, "the rest, and nothing twice");
    let before = results(&ws);
    call(&[]).expect(0);
    assert_eq!(u64::from(server.count()), asked, "a second call asks nothing");
    crate::harness::assert_same(&before, &results(&ws), "a second call");
    let found = evaluation(&ws, "brainteaser");
    let errors = found["format_errors"].as_u64().unwrap();
    assert!(errors > 0 && errors < asked, "{errors}");
    let format = cell(table(&found, "puzzles"), "loop", "Format")["value"].as_f64().unwrap();
    assert!((format - 100.0 * (93 - errors) as f64 / 93.0).abs() < 1e-9);

    // A sample for another model, drawn by whole groups.
    let result =
        ws.call(["evaluate", "brainteaser", "--model", "random", "--limit", "9", "--out", "few"]).expect(0);
    assert!(result.out.contains("9 answers in few"), "{}", result.out);
    assert_eq!(server.count() as u64, asked);
}

/// BrainTeaser, appendix A.5: new situations answered freely, scored by a judge and by people; no answer scores 0.
#[test]
fn puzzles_are_answered_freely_where_that_is_asked_for() {
    let ws = candidates(&["brainteaser"]);
    let args =
        ["evaluate", "brainteaser", "--offline", "--model", "sample-solver", "--judge", "sample-marker"];
    ws.call(args).expect(0);
    let tables = evaluation(&ws, "brainteaser")["tables"].clone();
    assert!(tables.as_array().unwrap().iter().all(|table| table["name"] != "open-ended"), "on request alone");
    let open = |more: &[&str]| {
        ws.call(args.iter().chain(&["--task", "solve-open", "--limit", "20"]).chain(more)).expect(0)
    };
    let result = open(&["--write-ballots", "blank"]);
    assert!(!result.err.contains("missing"), "{}", result.err);
    let answers = lines(&ws, "output/brainteaser/evaluation/candidate/answers.jsonl");
    assert_eq!(answers.len(), 20);
    let up = answers.iter().filter(|answer| answer["text"] == "-").count();
    assert!(up > 0 && answers.iter().all(|answer| answer["item"].as_str().unwrap().ends_with("_CR")));
    let found = evaluation(&ws, "brainteaser");
    let actual = cell(table(&found, "open-ended"), "sample-solver", "Judges");
    let sum: f64 = answers
        .iter()
        .flat_map(|answer| answer["ratings"].as_array().unwrap())
        .map(|rating| rating["value"].as_str().unwrap().parse::<f64>().unwrap())
        .sum();
    assert!((actual["value"].as_f64().unwrap() - sum / 20.0).abs() < 1e-9 && actual["n"] == 20, "{actual}");
    let gave_up = &cell(table(&found, "open-ended"), "sample-solver", "Given up")["value"];
    assert!((gave_up.as_f64().unwrap() - up as f64 * 5.0).abs() < 1e-9);
    // A person writes answers; experts score these and the model's, blindly.
    let sheet = |name: &str| ws.read(&format!("blank/{name}.csv"));
    assert!(!sheet("score").contains("sample-solver"));
    let filled = |name: &str, answer: &str| {
        let sheet = sheet(name);
        let mut reader = csv::Reader::from_reader(sheet.trim_start_matches('\u{feff}').as_bytes());
        let rows = reader.records().map(Result::unwrap);
        rows.map(|row| format!("{}\n", json!({ "ballot": &row[0], "answer": answer }))).collect::<String>()
    };
    ws.write("written.jsonl", filled("write", "Somebody else did it."));
    ws.write("scores.jsonl", filled("score", "4"));
    open(&["--ballots", "reader=written.jsonl", "expert=scores.jsonl"]);
    let found = evaluation(&ws, "brainteaser");
    let experts = cell(table(&found, "open-ended"), "sample-solver", "Experts");
    let expected = 4.0 * (20 - up) as f64 / 20.0;
    assert!((experts["value"].as_f64().unwrap() - expected).abs() < 1e-9, "{experts}");
}

#[test]
fn what_judges_will_be_asked_is_estimated_before_anybody_has_answered() {
    let ws = candidates(&["flub"]);
    let server = Server::replying(|_| ("explain", "[[7]]".into()), None, Duration::ZERO);
    let prices = "usd_per_million_in = 1.0\nusd_per_million_out = 2.0\nsampling = { max_tokens = 50 }\n";
    let settings = server.settings().replace("free = true\n", prices);
    let judge = settings.replace("[llm.loop]", "[llm.judge]").replace("model = \"m\"", "model = \"j\"");
    ws.write("pipeline.toml", ws.read("pipeline.toml") + &settings + &judge);
    let args = ["evaluate", "flub", "--task", "explain", "--model", "loop", "--judge", "judge"];
    let estimate = ws.call(args.iter().chain(&["--dry-run", "--json"])).expect(0).out;
    let estimate: Vec<Value> = serde_json::from_str(&estimate).unwrap();
    let ratings = estimate.iter().find(|row| row["stage"] == "ratings").unwrap();
    let rows = ws.candidates("flub").len() as u64;
    assert_eq!((&ratings["requests"], &ratings["min_usd"]), (&rows.into(), &0.0.into()), "{estimate:?}");
    let most: f64 = estimate.iter().map(|row| row["max_usd"].as_f64().unwrap()).sum();
    // A quote for the answers includes the ratings.
    let quoted = ws.call(args).expect(2).err;
    let most_told = if most < 0.1 { format!("{most:.4}") } else { format!("{most:.2}") };
    let all = format!("at most ${most_told} for up to {} requests until this evaluation ends", 2 * rows);
    assert!(quoted.contains(&format!(" for {rows} requests to loop")) && quoted.contains(&all), "{quoted}");
    assert_eq!(server.count(), 0, "nothing was sent");
    ws.call(args.iter().chain(&["--yes"])).expect(0);
    assert_eq!(u64::from(server.count()), 2 * rows);
    let stats: Value = serde_json::from_str(&ws.call(["replies", "stats", "--json"]).expect(0).out).unwrap();
    let spent: f64 = stats["models"].as_array().unwrap().iter().map(|m| m["usd"].as_f64().unwrap()).sum();
    assert!(spent > 0.0 && spent <= most, "{spent} of {most}");
}

#[test]
fn the_responses_of_the_sample_are_outputs() {
    let ws = candidates(&["ruozhibench-gen"]);
    let judges = ["1", "2", "3"].map(|n| format!("sample-judge-{n}"));
    let judges = judges.iter().flat_map(|judge| ["--judge", judge.as_str()]);
    let args = ["evaluate", "ruozhibench-gen", "--offline", "--outputs", "raw/sample/responses.jsonl"];
    let result = ws.call(args.into_iter().chain(judges));
    assert!(result.code == 0 || result.code == 3, "{}", result.err);
    let found = evaluation(&ws, "ruozhibench-gen");
    assert!(table(&found, "scores")["rows"].as_array().unwrap().len() == 5, "four models and their average");
    assert_eq!(table(&found, "judges")["rows"].as_array().unwrap().len(), 3);
    assert!(ws.read("output/ruozhibench-gen/evaluation/candidate/report.html").contains("figure 6"));
}

#[test]
fn outputs_made_elsewhere_are_scored_and_bad_lines_set_aside() {
    let ws = candidates(&["flub"]);
    let rows = ws.candidates("flub");
    let mut plain: Vec<String> = rows
        .iter()
        .map(|row| {
            json!({ "item": row["id"], "model": "mine", "task": "select", "text": row["answer"] }).to_string()
        })
        .collect();
    plain.push("{\"item\": \"nobody\", \"model\": \"mine\", \"task\": \"select\", \"text\": \"A\"}".into());
    ws.write("mine.jsonl", plain.join("\n"));
    let likelihoods: Vec<String> = rows
        .iter()
        .map(|row| json!({ "doc": { "id": row["id"] }, "filtered_resps": [[-1.0, true], [-2.0, false], [-2.0, false], [-2.0, false]] }).to_string())
        .collect();
    ws.write("org__other/samples_flub_1.jsonl", likelihoods.join("\n"));
    let samples: Vec<Value> = rows
        .iter()
        .map(|row| json!({ "id": row["id"], "choices": row["options"], "output": { "completion": format!("ANSWER: {}", row["answer"].as_str().unwrap()) } }))
        .collect();
    ws.write("log.json", json!({ "eval": { "model": "third" }, "samples": samples }).to_string());
    let outputs = ["--outputs", "mine.jsonl", "org__other/samples_flub_1.jsonl", "log.json"];
    let result = ws.call(["evaluate", "output/flub/candidate"].iter().chain(&outputs)).expect(3);
    assert!(result.err.contains(&format!("mine.jsonl:{}", plain.len())), "{}", result.err);
    let found = evaluation(&ws, "flub");
    let accuracy =
        |model: &str| cell(table(&found, "tasks"), model, "Selection accuracy")["value"].as_f64().unwrap();
    assert_eq!((accuracy("mine"), accuracy("third")), (100.0, 100.0));
    let first = rows.iter().filter(|row| row["answer"] == "A").count();
    assert!((accuracy("org/other") - 100.0 * first as f64 / rows.len() as f64).abs() < 1e-9);
    assert_eq!(lines(&ws, "output/flub/evaluation/candidate/set_aside.jsonl").len(), 1);
}

/// Submitters of outputs choose their model's name, and tables are opened in a spreadsheet.
#[test]
fn a_model_that_is_called_like_a_formula_is_none_in_a_spreadsheet() {
    let ws = candidates(&["flub"]);
    let names = ["=HYPERLINK(\"http://a\")", "@SUM(A1)", "+cmd|' /C calc'!A0"];
    let of = |row: &Value, model: &str| {
        json!({ "item": row["id"], "model": model, "task": "select", "text": "A" }).to_string()
    };
    let rows = ws.candidates("flub");
    let outputs: Vec<String> = names.iter().flat_map(|name| rows.iter().map(|row| of(row, name))).collect();
    ws.write("outs.jsonl", outputs.join("\n"));
    ws.call(["evaluate", "flub", "--offline", "--outputs", "outs.jsonl", "--resamples", "50"]).expect(0);
    let folder = ws.path("output/flub/evaluation/candidate/tables");
    let mut cells = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let mut table = csv::Reader::from_path(entry.unwrap().path()).unwrap();
        for cell in
            table.records().flat_map(|record| record.unwrap().iter().map(str::to_owned).collect::<Vec<_>>())
        {
            let figure = cell.parse::<f64>().is_ok();
            assert!(figure || !cell.starts_with(['=', '+', '-', '@']), "{cell}");
            cells += usize::from(names.iter().any(|name| cell == format!("'{name}")));
        }
    }
    assert!(cells > 6, "{cells}");
}

#[test]
fn people_are_a_baseline_through_ballots() {
    let ws = candidates(&["brainteaser", "flub"]);
    let write = ["evaluate", "brainteaser", "--write-ballots", "ballots"];
    ws.call(write).expect(0);
    assert!(ws.call(write).expect(2).err.contains("it was not changed"));
    let gold: BTreeMap<String, String> = ws
        .candidates("brainteaser")
        .iter()
        .map(|row| {
            let option = &row["choice_list"][usize::try_from(row["label"].as_u64().unwrap()).unwrap()];
            (row["question"].as_str().unwrap().to_string(), option.as_str().unwrap().to_string())
        })
        .collect();
    let sheet = ws.read("ballots/choose.csv");
    let mut reader = csv::Reader::from_reader(sheet.trim_start_matches('\u{feff}').as_bytes());
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(reader.headers().unwrap()).unwrap();
    let mut right = 0;
    for record in reader.records().map(Result::unwrap) {
        let option = record[2].lines().find(|line| line[3..] == gold[&record[1]]);
        right += usize::from(option.is_some());
        let letter = option.map_or("", |line| &line[..1]);
        writer.write_record([&record[0], &record[1], &record[2], letter, "reader-1"]).unwrap();
    }
    ws.write("filled.csv", writer.into_inner().unwrap());
    ws.call(["evaluate", "brainteaser", "--model", "random", "--ballots", "filled.csv"]).expect(0);
    let found = evaluation(&ws, "brainteaser");
    assert_eq!((right, &cell(table(&found, "puzzles"), "people", "Overall")["value"]), (93, &json!(100.0)));

    // FLUB's ratings from 1 to 5 are doubled to compare with the marker's from 1 to 10 (table 2).
    let solver = ["--model", "sample-solver", "--judge", "sample-marker", "--task", "explain"];
    ws.call(["evaluate", "flub", "--write-ballots", "rate"].iter().chain(&solver)).expect(0);
    let sheet = ws.read("rate/rate.csv");
    assert!(!sheet.contains("sample-solver"), "a ballot does not say whose response it is");
    let mut reader = csv::Reader::from_reader(sheet.trim_start_matches('\u{feff}').as_bytes());
    let votes: String = reader
        .records()
        .map(Result::unwrap)
        .enumerate()
        .map(|(at, record)| format!("{}\n", json!({ "ballot": &record[0], "answer": at % 5 + 1 })))
        .collect();
    ws.write("votes.jsonl", votes);
    ws.call(["evaluate", "flub", "--ballots", "reader=votes.jsonl"].iter().chain(&solver)).expect(0);
    let found = evaluation(&ws, "flub");
    let people = table(&found, "people");
    let mean = cell(people, "sample-solver, 0-shot", "People")["value"].as_f64().unwrap();
    assert!((5.0..7.0).contains(&mean), "{mean}");
    assert!(!cell(people, "sample-solver, 0-shot", "Spearman").is_null());
}

#[test]
fn what_cannot_be_evaluated_says_why() {
    let ws = candidates(&["flub"]);
    for (args, word) in [
        (&["evaluate", "flub"][..], "no model was given"),
        (&["evaluate", "flub", "--model", "no-such"], "no [llm.no-such]"),
        (&["evaluate", "no-such", "--model", "random"], "is not a folder, a file or a recipe"),
        (&["evaluate", "flub@9.9.9", "--model", "random"], "9.9.9"),
        (&["evaluate", "flub", "--model", "random", "--task", "sing"], "no task"),
    ] {
        let result = ws.call(args).expect(2);
        assert!(result.err.contains(word), "{args:?}: {}", result.err);
    }
}
