//! FLUB, Chumor and RuozhiBench-MC from dumps to items: complete, with half the votes, and with a text that
//! changes after it was explained.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::harness::{Workspace, title};
use crate::packs::response_id;

const FLUB: &str = "flub";
const CHUMOR: &str = "chumor";
const MC: &str = "ruozhibench-mc";

fn run(ws: &Workspace, recipe: &str) -> crate::harness::CallResult {
    ws.call(["run", "--offline", "--recipe", recipe])
}

fn lines(ws: &Workspace, path: &str) -> Vec<Value> {
    ws.read(path).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn keys(row: &Value) -> Vec<&str> {
    row.as_object().unwrap().keys().map(String::as_str).collect()
}

fn report(ws: &Workspace, recipe: &str) -> (String, Value) {
    let text = ws.call(["report", "--recipe", recipe]).expect(0).out;
    let json = ws.call(["report", "--recipe", recipe, "--json"]).expect(0).out;
    let json: Value = serde_json::from_str(&json).unwrap();
    (text, json[0]["tables"].clone())
}

#[test]
fn flub_ends_in_four_different_options() {
    let ws = Workspace::sample();
    run(&ws, FLUB).expect(0);
    ws.audit_clean();
    let rows = ws.candidates(FLUB);
    assert!(rows.len() >= 20, "{} rows", rows.len());
    let published = lines(&ws, "output/flub/candidate/compat/FLUB.jsonl");
    assert_eq!(published.len(), rows.len());
    for row in &published {
        assert_eq!(keys(row), ["text", "is_question", "type", "explanation", "id", "options", "answer"]);
        assert_eq!(keys(&row["options"]), ["A", "B", "C", "D"]);
        assert_eq!(row["options"][row["answer"].as_str().unwrap()], row["explanation"]);
        let options: BTreeSet<&str> =
            row["options"].as_object().unwrap().values().map(|option| option.as_str().unwrap()).collect();
        assert_eq!(options.len(), 4, "{row}");
        assert_eq!(row["id"].as_str().unwrap().len(), 40);
    }
    assert!(published.iter().any(|row| row["type"].is_null()), "Undefined is null");
    let (text, tables) = report(&ws, FLUB);
    assert!(text.contains("Fleiss' kappa") && text.contains("modified by seniors"), "{text}");
    assert_eq!(tables["types"].as_array().unwrap().len(), 9);
    assert_eq!(tables["shortcuts"]["items"], rows.len());
    assert_eq!(tables["agreement"]["sample"], true);

    let before = ws.derived();
    ws.remove_derived();
    run(&ws, FLUB).expect(0);
    crate::harness::assert_same(&before, &ws.derived(), "rebuilt from raw/");
}

#[test]
fn one_post_more_changes_no_other_item() {
    let ws = Workspace::sample();
    run(&ws, FLUB).expect(0);
    let before = ws.candidates(FLUB);
    let mut titles: Vec<Value> = serde_json::from_str(&ws.read("raw/sample/dumps/titles.json")).unwrap();
    titles
        .push(serde_json::from_str(&title(880_000_001, "梯子说它从来没有上进过，因为它一直站着。")).unwrap());
    ws.write("raw/sample/dumps/titles.json", serde_json::to_string(&titles).unwrap());
    run(&ws, FLUB).expect(0);
    let after = ws.candidates(FLUB);
    assert_eq!(before, after, "the new post waits for people, and the others stand as they stood");
    assert!(ws.reasons(FLUB)["held/votes_missing"] > 0);
}

#[test]
fn half_the_votes_bring_out_half_of_it() {
    for recipe in [FLUB, CHUMOR] {
        let ws = Workspace::sample();
        run(&ws, recipe).expect(0);
        let whole = ws.candidates(recipe);
        let all = ws.read("raw/sample/votes.jsonl");
        let some: String = all
            .lines()
            .enumerate()
            .filter(|(at, line)| at % 2 == 0 || !line.contains(&format!("\"recipe\":\"{recipe}\"")))
            .map(|(_, line)| format!("{line}\n"))
            .collect();
        ws.write("raw/sample/votes.jsonl", &some);
        run(&ws, recipe).expect(0);
        ws.audit_clean();
        let reasons = ws.reasons(recipe);
        assert!(reasons["held/votes_missing"] > 0, "{recipe}: {reasons:?}");
        let status = ws.call(["review", "status", "--recipe", recipe]).expect(0).out;
        assert!(status.contains(" still needed"), "{status}");
        ws.write("raw/sample/votes.jsonl", &all);
        run(&ws, recipe).expect(0);
        assert_eq!(ws.candidates(recipe), whole, "{recipe}");
    }
}

#[test]
fn a_text_that_is_rewritten_is_explained_again() {
    let ws = Workspace::sample();
    run(&ws, FLUB).expect(0);
    let rows = ws.candidates(FLUB);
    let item = rows[0]["source_id"].as_str().unwrap().to_owned();
    let args = [
        "review",
        "export",
        "clean",
        "--recipe",
        FLUB,
        "--annotator",
        "junior-2",
        "--format",
        "csv",
        "--out",
        "b",
    ];
    let file = ws.call(args).expect(0).out.trim().to_string();
    let ballot = ws.read(&file);
    let mut reader = csv::Reader::from_reader(ballot.trim_start_matches('\u{feff}').as_bytes());
    let headers = reader.headers().unwrap().clone();
    let column = |name: &str| headers.iter().position(|header| header == name).unwrap();
    let found = reader.records().map(|row| row.unwrap()).find(|row| row[column("item")] == item).unwrap();
    let mut row: Vec<String> = found.iter().map(Into::into).collect();
    row[column("verdict")] = "rewrite".into();
    row[column("text")] = "这是改写过的另一句话，为什么要再解释一遍？".into();
    row[column("is_question")] = "yes".into();
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(&headers).unwrap();
    writer.write_record(&row).unwrap();
    ws.write("votes.csv", writer.into_inner().unwrap());
    ws.call(["review", "import", "clean", "--recipe", FLUB, "votes.csv"]).expect(0);
    run(&ws, FLUB).expect(0);
    ws.audit_clean();
    let after = ws.candidates(FLUB);
    assert!(after.iter().all(|row| row["source_id"] != item.as_str()));
    assert_eq!(after.len(), rows.len() - 1);
    let actual = ws.explain(FLUB, &item);
    let way = actual["way"].as_array().unwrap();
    let last = way.last().unwrap().to_string();
    assert!(last.contains("outdated votes"), "{last}");
}

#[test]
fn chumor_ends_in_explanations_that_were_compared() {
    let ws = Workspace::sample();
    run(&ws, CHUMOR).expect(0);
    ws.audit_clean();
    let rows = ws.candidates(CHUMOR);
    assert!(rows.len() >= 20, "{} rows", rows.len());
    for row in &rows {
        assert_eq!(row["opponent_models"], json!(["sample-model-e", "sample-model-f"]));
        let votes: u64 = ["votes_human", "votes_model", "votes_tie"]
            .iter()
            .map(|column| row[column].as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).sum::<u64>())
            .sum();
        assert_eq!(votes, 6, "three on each opponent: {row}");
    }
    let kinds: BTreeSet<&str> = rows.iter().map(|row| row["source_kind"].as_str().unwrap()).collect();
    assert!(kinds.contains("recommended"), "{kinds:?}");
    let (text, tables) = report(&ws, CHUMOR);
    assert!(text.contains("winning rates") && text.contains("kinds of error"), "{text}");
    for one in tables["opponents"].as_array().unwrap() {
        let rates = ["human_wins", "llm_wins", "ties", "undecided"].map(|rate| one[rate].as_f64().unwrap());
        assert!((rates.iter().sum::<f64>() - 100.0).abs() < 1e-9, "{one}");
        assert!(one["agreement"].as_f64().unwrap() > 20.0);
    }
}

#[test]
fn mc_ends_in_a_good_and_a_bad_answer() {
    let ws = Workspace::sample();
    // It is based on the other recipe, and says so if that is missing.
    let result = run(&ws, MC).expect(2);
    assert!(result.err.contains("ruozhibench-gen"), "{}", result.err);
    run(&ws, "ruozhibench-gen").expect(0);
    run(&ws, MC).expect(0);
    ws.audit_clean();
    let rows = ws.candidates(MC);
    assert!(rows.len() >= 20, "{} rows", rows.len());
    let published = lines(&ws, &format!("output/{MC}/candidate/compat/ruozhibench_mc.jsonl"));
    let expected = [
        "question_zh",
        "question_en",
        "irrationality",
        "pair",
        "category",
        "index",
        "Good Answer",
        "Bad Answer",
        "Good Model",
        "Bad Model",
        "response_scores",
    ];
    for row in &published {
        assert_eq!(keys(row), expected);
        let scores = &row["response_scores"];
        let score = |model: &str| scores[row[model].as_str().unwrap()].as_f64().unwrap();
        assert_eq!(scores.as_object().unwrap().len(), 4);
        let gap = score("Good Model") - score("Bad Model");
        let all: Vec<f64> = scores.as_object().unwrap().values().map(|s| s.as_f64().unwrap()).collect();
        let (high, low) =
            (all.iter().copied().fold(f64::MIN, f64::max), all.iter().copied().fold(f64::MAX, f64::min));
        assert!(gap > 2.0 || (score("Good Model") == high && score("Bad Model") == low), "{row}");
    }
    let judges: BTreeSet<String> = rows
        .iter()
        .flat_map(|row| row["rating_judges"].as_array().unwrap())
        .map(ToString::to_string)
        .collect();
    assert_eq!(judges.len(), 3);
    let (text, tables) = report(&ws, MC);
    for part in ["table 3", "figures 5 and 6", "figure 4", "figure 14", "figure 15", "can be guessed"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert_eq!(tables["judges"].as_array().unwrap().len(), 3);
    let card = ws.read(&format!("output/{MC}/candidate/README.md"));
    assert!(card.contains("What can be guessed"), "{card}");
}

#[test]
fn responses_made_elsewhere_are_added_one_question_at_a_time() {
    let ws = Workspace::sample();
    run(&ws, "ruozhibench-gen").expect(0);
    run(&ws, MC).expect(0);
    let before: BTreeMap<String, Value> = ws
        .candidates(MC)
        .into_iter()
        .map(|row| (row["source_id"].as_str().unwrap().to_owned(), row))
        .collect();
    let item = before.keys().next().unwrap().clone();
    let made = [
        json!({ "item": item, "model": "another", "text": "It rests on a false premise." }),
        json!({ "item": item, "model": "another", "text": "Twice." }),
        json!({ "item": "tieba:1", "model": "another", "text": "To nobody." }),
    ];
    ws.write("raw/responses/more.jsonl", made.map(|line| format!("{line}\n")).concat());
    let replies = ws.read("raw/sample/replies.jsonl");
    let record = response_id(&item, false, "another");
    let judged = |judge: &str| {
        let reply = json!({ "rating": 4, "explanation": "Says what is wrong." });
        json!({ "model": judge, "template": "ruozhibench/judge", "record": record, "reply": reply })
    };
    let more: String = ["sample-judge-1", "sample-judge-2", "sample-judge-3"]
        .map(|judge| format!("{}\n", judged(judge)))
        .concat();
    ws.write("raw/sample/replies.jsonl", replies + &more);
    run(&ws, MC).expect(3);
    ws.audit_clean();
    for row in ws.candidates(MC) {
        let id = row["source_id"].as_str().unwrap();
        if id == item {
            assert!(row["rating_models"].as_array().unwrap().contains(&json!("another")));
        } else {
            assert_eq!(row, before[id]);
        }
    }
    let result = run(&ws, MC).expect(3);
    assert!(result.err.contains("more.jsonl:2") && result.err.contains("more.jsonl:3"), "{}", result.err);
}

#[test]
fn ratings_made_elsewhere_are_added_to_those_that_are_asked_for() {
    let ws = Workspace::sample();
    run(&ws, "ruozhibench-gen").expect(0);
    run(&ws, MC).expect(0);
    let item = ws.candidates(MC)[0]["source_id"].as_str().unwrap().to_owned();
    let response = json!({ "item": item, "model": "another", "text": "It rests on a false premise." });
    ws.write("raw/responses/more.jsonl", format!("{response}\n"));
    let rating = |judge: &str, rating: u8, model: &str| json!({ "item": item, "model": model, "judge": judge, "rating": rating, "explanation": "So." });
    let rated = [
        rating("sample-judge-1", 4, "another"),
        rating("sample-judge-2", 3, "another"),
        rating("sample-judge-3", 4, "another"),
        rating("sample-judge-3", 1, "another"),
        rating("sample-judge-3", 5, "another"),
        rating("sample-judge-3", 4, "nobody"),
    ];
    ws.write("raw/ratings/more.jsonl", rated.map(|line| format!("{line}\n")).concat());
    let result = run(&ws, MC).expect(3);
    ws.audit_clean();
    let row = ws.candidates(MC).into_iter().find(|row| row["source_id"] == item.as_str()).unwrap();
    let of_another: Vec<(&Value, &Value)> = (0..row["ratings"].as_array().unwrap().len())
        .filter(|at| row["rating_models"][*at] == "another")
        .map(|at| (&row["rating_judges"][at], &row["ratings"][at]))
        .collect();
    let want = [("sample-judge-1", 4), ("sample-judge-2", 3), ("sample-judge-3", 4)]
        .map(|(j, r)| (json!(j), json!(r)));
    assert_eq!(of_another, want.each_ref().map(|(judge, rating)| (judge, rating)));
    for (line, what) in
        [(4, "the same response and judge"), (5, "not a rating from 0 to 4"), (6, "no response of")]
    {
        let place = format!("raw/ratings/more.jsonl:{line}: ");
        assert!(
            result.err.lines().any(|actual| actual.contains(&place) && actual.contains(what)),
            "{}",
            result.err
        );
    }
    // Repeating it changes nothing.
    run(&ws, MC).expect(3);
}

/// A release's rows and its own published forms are equal in every respect.
#[test]
fn data_and_published_forms_of_one_set_compare_as_the_same() {
    let ws = Workspace::sample();
    for (recipe, forms) in [
        ("ruozhibench-gen", &["ruozhibench_gen.jsonl"][..]),
        (MC, &["ruozhibench_mc.jsonl"]),
        (FLUB, &["FLUB.jsonl"]),
        (CHUMOR, &["chumor_corpus.jsonl", "chumor_preferences.jsonl"]),
        ("brainteaser", &["sentence_puzzle.json", "word_puzzle.json"]),
    ] {
        ws.call(["run", "--offline", "--recipe", recipe]).expect(0);
        let candidate = format!("output/{recipe}/candidate");
        let rows = ws.candidates(recipe).len() as u64;
        let mut seen = 0;
        for form in forms {
            let form = format!("{candidate}/compat/{form}");
            for [set, reference] in [[&candidate, &form], [&form, &candidate], [&form, &form]] {
                let result = ws.call(["compare", set, reference, "--json"]);
                let found: Value = serde_json::from_str(&result.out).unwrap();
                for what in ["near", "differing"] {
                    assert_eq!(found[what], json!([]), "{recipe}: {set} beside {reference}");
                }
                let whole = found["missing"].as_array().unwrap().is_empty() && found["extra"] == 0;
                assert!(whole || forms.len() > 1, "{recipe}: {set} beside {reference}: {}", result.out);
            }
            let result = ws.call(["compare", &candidate, &form, "--json"]);
            let found: Value = serde_json::from_str(&result.out).unwrap();
            assert_eq!(found["missing"], json!([]), "{recipe}: {form}");
            seen += found["exact"].as_u64().unwrap();
        }
        assert!(seen >= rows, "{recipe}: {seen} of {rows}");
        ws.call(["compare", &candidate, &candidate, "--html", "page.html"]).expect(0);
        assert!(ws.read("page.html").contains("found exactly"));
    }
}

#[test]
fn a_strict_set_that_can_be_guessed_is_no_stable_release() {
    let ws = Workspace::sample();
    run(&ws, "ruozhibench-gen").expect(0);
    // So few items have a wide interval: the limit is set so that the sample's classifier passes it.
    let limit = ["--set", "release.above_chance=0.02"];
    let strict = ["run", "--offline", "--recipe", MC, "--set", "release.profile=strict"];
    ws.call(strict.iter().chain(&limit)).expect(0);
    let manifest = ws.read(&format!("output/{MC}/candidate/README.md"));
    assert!(manifest.contains("What can be guessed"));
    assert!(manifest.contains(" is right in ") && manifest.contains("Nothing was changed"), "{manifest}");
    // The guessable items keep the version a draft; with the papers' own profile they do not.
    let stable = |profile: &str| {
        let profile = format!("release.profile={profile}");
        ws.call(["run", "--offline", "--recipe", MC, "--set", &profile].iter().chain(&limit)).expect(0);
        let args = ["release", MC, "--date", "2026-01-02", "--version", "1.0.0", "--set", &profile];
        ws.call(args.iter().chain(&limit)).expect(2).err
    };
    let finding = "a classifier of the options alone is right in";
    let actual = stable("strict");
    assert!(actual.contains(finding) && actual.contains("RB-"), "{actual}");
    // The rule, its figure, its limit and three items; no unread line.
    assert!(actual.contains("baseline: a classifier") && actual.contains("(limit "), "{actual}");
    assert!(actual.lines().all(|line| line.len() < 600 && line.matches("RB-").count() <= 3), "{actual}");
    let actual = stable("paper");
    assert!(actual.contains("synthetic") && !actual.contains(finding), "{actual}");
    assert!(!ws.exists(&format!("output/{MC}/1.0.0")));
}
