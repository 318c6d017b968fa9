//! Benchmarks declared in a workspace's own `benchmarks/`: the examples, from dumps to releases and
//! evaluation.

use std::fs;
use std::path::Path;

use riddlemill::review::Vote;
use serde_json::{Value, json};

use crate::harness::Workspace;
use crate::own_columns::{LINES, vote_on_lines};

/// A copy of an example.
pub fn example(name: &str) -> Workspace {
    let ws = Workspace::folder();
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples").join(name);
    copy(&from, &from, &ws);
    ws.write("raw/salt", crate::harness::SALT);
    ws
}

fn copy(root: &Path, folder: &Path, to: &Workspace) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => copy(root, &path, to),
            false => to.write(path.strip_prefix(root).unwrap().to_str().unwrap(), fs::read(&path).unwrap()),
        }
    }
}

/// An annotator's sheet of a step, filled in by a function of what is shown, and imported.
pub fn vote(ws: &Workspace, recipe: &str, step: &str, who: &str, answers: impl Fn(&Value) -> Value) {
    ws.call(["review", "assign", step, "--recipe", recipe]).expect(0);
    let export = ["review", "export", step, "--recipe", recipe, "--annotator", who, "--format", "jsonl"];
    ws.call(export).expect(0);
    let sheet = format!("{recipe}.{step}.{who}.jsonl");
    let filled = ws.read(&sheet).lines().fold(String::new(), |mut lines, line| {
        let mut row: Value = serde_json::from_str(line).unwrap();
        // Without the seal of the displayed order, numbers follow the record's order, as on older sheets.
        row["content_hash"] = row["content_hash"].as_str().unwrap().split('.').next().into();
        let given = answers(&row["see"]);
        row["answers"].as_object_mut().unwrap().extend(given.as_object().unwrap().clone());
        lines += &format!("{row}\n");
        lines
    });
    ws.write(&sheet, filled);
    ws.call(["review", "import", step, &ws.path(&sheet).display().to_string(), "--recipe", recipe]).expect(0);
    ws.remove(&sheet);
}

pub const TWISTERS: &str = "brain-twisters";

/// Everybody's votes on the riddles of the example: two of three find one unfair.
fn vote_on_twisters(ws: &Workspace) {
    ws.run().expect(0);
    for (who, strict) in [("annotator-1", true), ("annotator-2", true), ("annotator-3", false)] {
        vote(ws, TWISTERS, "fair", who, |see| {
            match see["riddle"].as_str().unwrap().contains("author of this list") && strict {
                true => json!({ "fair": "no", "why": "unknowable" }),
                false => json!({ "fair": "yes" }),
            }
        });
    }
    ws.run().expect(0);
    for who in ["annotator-1", "annotator-2", "annotator-3"] {
        vote(ws, TWISTERS, "more", who, |_| json!({ "wrong_4": "A ghost.", "wrong_5": "A shoe." }));
    }
    ws.run().expect(0);
    vote(ws, TWISTERS, "best", "senior-1", |see| match see["riddle"].as_str().unwrap().contains("neck") {
        true => json!({ "wrong": "2; 3; 5", "verdict": "rewrite", "hint": "It is made of glass." }),
        false => json!({ "wrong": "1; 2; 4", "verdict": "accept" }),
    });
    ws.run().expect(0);
}

#[test]
fn a_benchmark_by_declaration_alone_goes_from_dumps_to_a_release() {
    let ws = example(TWISTERS);
    let settings = ws.read("pipeline.toml").replace("sample = \"raw/sample/votes.jsonl\"", "");
    ws.write("pipeline.toml", settings);
    vote_on_twisters(&ws);
    ws.audit_clean();
    assert_eq!(ws.reasons(TWISTERS)["dropped/rejected"], 1);

    let rows = ws.candidates(TWISTERS);
    assert_eq!(rows.len(), 7);
    let bottle = rows.iter().find(|row| row["source_id"] == "riddle:1").unwrap();
    assert_eq!((&bottle["hint"], &bottle["standing"]), (&json!("It is made of glass."), &json!("confirmed")));
    let mut options: Vec<&str> =
        bottle["options"].as_array().unwrap().iter().map(|option| option.as_str().unwrap()).collect();
    let right = "ABCD".find(bottle["answer"].as_str().unwrap()).unwrap();
    assert_eq!(options[right], "A bottle.");
    options.sort_unstable();
    assert_eq!(options, ["A barrel.", "A bottle.", "A jar.", "A shoe."]);

    let out = ws.explain(TWISTERS, "riddle:8");
    assert!(out["way"].to_string().contains("unknowable"), "{out}");

    let result = ws.call(["release", TWISTERS]).expect(0);
    assert!(result.out.contains("brain-twisters 1.0.0: 7 rows"), "{}", result.out);
    ws.call(["verify", "output/brain-twisters/1.0.0", "--raw"]).expect(0);
    crate::audit::edits_of_a_release_are_seen(&ws, TWISTERS);
    let compat: Value =
        serde_json::from_str(&ws.read("output/brain-twisters/1.0.0/compat/brain_twisters.json")).unwrap();
    let first = &compat[0];
    assert_eq!((&first["number"], &first["riddle"]), (&json!(1), &json!("What has a neck and no head?")));
    assert!(first["choices"]["D"].is_string() && first["hint"].is_string(), "{first}");

    // The same raw/ makes the same bytes.
    let before = ws.derived();
    ws.remove_derived();
    ws.run().expect(0);
    crate::harness::assert_same(&before, &ws.derived(), "made anew");

    let call = ["evaluate", TWISTERS, "--model", "first-option", "--model", "random", "--json"];
    let evaluated = ws.call(call).expect(0);
    let report: Value = serde_json::from_str(&evaluated.out).unwrap();
    let table = &report[0]["report"]["tables"][0];
    assert_eq!(
        table["columns"],
        json!(["Without", "With", "Gain", "Format", "Cut", "Refused", "Unread"]),
        "{report}"
    );
    let first_option = &table["rows"][0];
    let firsts = rows.iter().filter(|row| row["answer"] == "A").count();
    let percent = first_option["cells"][0]["value"].as_f64().unwrap();
    assert!((percent - 100.0 * firsts as f64 / 7.0).abs() < 1e-9, "{table}");
}

/// Checks the votes that an example ships: written for it, and by no real person.
fn shipped(name: &str, ws: &Workspace) {
    let mut pack = String::new();
    let mut files: Vec<_> =
        fs::read_dir(ws.path("raw/votes")).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    for file in files.iter().filter(|file| file.extension().is_some_and(|kind| kind == "jsonl")) {
        for line in fs::read_to_string(file).unwrap().lines() {
            // The log's own lines are not votes.
            let Ok(vote) = serde_json::from_str::<Vote>(line) else { continue };
            let (at, source) = ("2026-01-01T00:00:00Z".to_owned(), "sample".to_owned());
            let vote = Vote { at, source, synthetic: true, supersedes: None, ..vote }.with_id();
            pack += &format!("{}\n", serde_json::to_string(&vote).unwrap());
        }
    }
    let shipped =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("examples").join(name).join("raw/sample/votes.jsonl");
    if std::env::var_os("RIDDLEMILL_WRITE_SAMPLE").is_some() {
        fs::write(&shipped, &pack).unwrap();
    }
    let there = fs::read_to_string(&shipped).unwrap_or_default();
    let set = |text: &str| text.lines().map(str::to_owned).collect::<std::collections::BTreeSet<_>>();
    assert_eq!(set(&there), set(&pack), "RIDDLEMILL_WRITE_SAMPLE=1 writes it");
}

#[test]
fn the_votes_of_the_examples_are_current() {
    let all = [
        (TWISTERS, vote_on_twisters as fn(&Workspace), 7),
        (KINDS, vote_on_kinds, 8),
        (LINES, vote_on_lines, 8),
        (ENGLISH, vote_on_english, 3),
    ];
    for (name, vote, items) in all {
        let ws = example(name);
        ws.write("raw/sample/votes.jsonl", "");
        vote(&ws);
        shipped(name, &ws);
        let ws = example(name);
        ws.run().expect(0);
        let rows = ws.candidates(name);
        assert_eq!((rows.len(), &rows[0]["standing"]), (items, &json!("synthetic")));
    }
}

const KINDS: &str = "joke-kinds";

/// Three annotators who agree partly.
fn vote_on_kinds(ws: &Workspace) {
    ws.run().expect(0);
    let codes = ["pun", "paradox", "literal", "anthropomorphic", "absurd"];
    for n in 0..3 {
        vote(ws, KINDS, "kinds", &format!("annotator-{}", n + 1), |see| {
            let joke = see["joke"].as_str().unwrap().chars().count();
            let (first, own) = (codes[joke % 5], codes[(joke + n) % 5]);
            let mut kinds = vec![first, own];
            kinds.dedup();
            json!({ "kinds": kinds.join("; "), "rating": (1 + (joke + n) % 5).to_string() })
        });
    }
    ws.run().expect(0);
}

/// Labels and ratings by people alone: distributions in the release, agreement in the report, F1 and
/// correlation of models.
#[test]
fn a_benchmark_without_a_model_has_labels_and_ratings() {
    let ws = example(KINDS);
    let settings = ws.read("pipeline.toml").replace("sample = \"raw/sample/votes.jsonl\"", "");
    ws.write("pipeline.toml", settings);
    vote_on_kinds(&ws);
    ws.audit_clean();
    ws.call(["release", KINDS]).expect(0);
    ws.call(["verify", "output/joke-kinds/1.0.0", "--raw"]).expect(0);
    let rows = ws.candidates(KINDS);
    assert_eq!(rows.len(), 8);
    for row in &rows {
        let votes = |key: &str| -> Vec<u64> {
            row[key].as_array().unwrap().iter().map(|votes| votes.as_u64().unwrap()).collect()
        };
        assert_eq!((votes("kind_votes").len(), votes("rating_votes").iter().sum::<u64>()), (8, 3), "{row}");
        // Everybody chooses the first kind, and each a different second one.
        assert_eq!(row["kinds"].as_array().unwrap().len(), 1, "{row}");
        assert_eq!(votes("kind_votes").iter().sum::<u64>(), 5, "{row}");
        let mean: u64 = votes("rating_votes").iter().zip(1..).map(|(votes, rating)| votes * rating).sum();
        assert!((row["rating"].as_f64().unwrap() - mean as f64 / 3.0).abs() < 1e-9, "{row}");
    }

    // One model that gives people's answers, and one that always gives the same.
    let line = |model: &str, row: &Value, task: &str, text: String| {
        json!({ "item": row["id"], "task": format!("joke-kinds/{task}"), "model": model, "text": text })
            .to_string()
    };
    let mut outputs = String::new();
    for row in &rows {
        let kinds = row["kinds"][0].as_str().unwrap().to_owned();
        outputs += &(line("people-like", row, "kinds", kinds) + "\n");
        outputs +=
            &(line("people-like", row, "rating", row["rating"].as_f64().unwrap().round().to_string()) + "\n");
        outputs += &(line("constant", row, "kinds", "pun, absurd".into()) + "\n");
        outputs += &(line("constant", row, "rating", "3".into()) + "\n");
    }
    ws.write("answers.jsonl", outputs);
    let call = ["evaluate", "joke-kinds@1.0.0", "--outputs", "answers.jsonl", "--json"];
    let report: Value = serde_json::from_str(&ws.call(call).expect(0).out).unwrap();
    let table = &report[0]["report"]["tables"][0];
    assert_eq!(
        table["columns"],
        json!(["kinds exact", "kinds macro F1", "rating r × 100", "Format", "Cut", "Refused", "Unread"]),
        "{table}"
    );
    let cells = |model: &str| {
        let row = table["rows"].as_array().unwrap().iter().find(|row| row["name"] == model).unwrap().clone();
        row["cells"].as_array().unwrap().iter().map(|cell| cell["value"].as_f64()).collect::<Vec<_>>()
    };
    let like = cells("people-like");
    assert_eq!((like[0], like[1]), (Some(100.0), Some(100.0)));
    assert!(like[2].unwrap() > 80.0, "{like:?}");
    let constant = cells("constant");
    assert!(constant[0] == Some(0.0) && constant[1].unwrap() < 50.0 && constant[2].is_none(), "{constant:?}");
}

const ENGLISH: &str = "asked-in-english";

fn vote_on_english(ws: &Workspace) {
    ws.run().expect(0);
    for who in ["annotator-1", "annotator-2"] {
        vote(ws, ENGLISH, "trick", who, |see| match see["question"].as_str().unwrap().contains("seasick") {
            true => json!({ "keep": "plain" }),
            false => json!({ "keep": "keep", "why": "It takes a thing for a person." }),
        });
    }
    ws.run().expect(0);
}

/// Another language and forum: no Chinese rule applies, and English ones do.
#[test]
fn posts_in_english_are_read_by_english_rules() {
    let ws = example(ENGLISH);
    let settings = ws.read("pipeline.toml").replace("sample = \"raw/sample/votes.jsonl\"", "");
    ws.write("pipeline.toml", settings);
    vote_on_english(&ws);
    ws.audit_clean();
    let reasons = ws.reasons(ENGLISH);
    let of = |reason: &str| reasons.get(reason).copied().unwrap_or_default();
    assert_eq!(of("dropped/taken_away"), 1, "the removed text goes at import: {reasons:?}");
    assert_eq!(of("dropped/not_a_question"), 3, "a statement, an answered one and a quoted one: {reasons:?}");
    assert_eq!(of("dropped/rejected"), 1, "{reasons:?}");
    let merged: u64 = reasons.iter().filter(|(key, _)| key.starts_with("merged/")).map(|(_, n)| n).sum();
    assert_eq!(merged, 1, "the same question in other order: {reasons:?}");
    let rows = ws.candidates(ENGLISH);
    let texts: Vec<&str> = rows.iter().map(|row| row["question"].as_str().unwrap()).collect();
    assert!(texts.contains(&"how come nobody clocks in at the clock factory"), "{texts:?}");
    assert!(texts.iter().any(|text| text.contains("[e-mail]")), "{texts:?}");
    ws.call(["release", ENGLISH]).expect(0);

    // By Chinese rules the word order is not a question.
    let zh = "benchmarks/asked-in-english/benchmark.toml";
    ws.write(zh, ws.read(zh).replace("language = \"en\"", "language = \"zh\""));
    ws.call(["run", "--to", "filter"]).expect(0);
    assert!(ws.reasons(ENGLISH)["dropped/not_a_question"] > 3);
}

#[test]
fn a_benchmark_that_is_renamed_keeps_its_votes_tasks_and_decisions() {
    const NOW: &str = "kinds-of-jokes";
    let ws = example(KINDS);
    let settings = ws.read("pipeline.toml").replace("sample = \"raw/sample/votes.jsonl\"", "");
    ws.write(
        "pipeline.toml",
        settings + "\n[[annotator]]\nname = \"meta-1\"\nrole = \"meta\"\nlanguages = [\"zh\"]\n",
    );
    ws.run().expect(0);
    ws.call(["review", "assign", "kinds", "--recipe", KINDS]).expect(0);
    vote_on_kinds(&ws);
    let first = ws.candidates(KINDS)[0]["source_id"].as_str().unwrap().to_string();
    ws.call(["decide", "drop", &first, "--recipe", KINDS, "--by", "meta-1", "--why", "known"]).expect(0);
    ws.run().expect(0);
    let mut want = ws.candidates(KINDS);
    let tasks = |recipe: &str| {
        let result = ws.call(["review", "assign", "kinds", "--recipe", recipe]).expect(0);
        format!("{}{}", result.out, result.err)
    };
    let given = tasks(KINDS);

    std::fs::rename(ws.path(&format!("benchmarks/{KINDS}")), ws.path(&format!("benchmarks/{NOW}"))).unwrap();
    let file = format!("benchmarks/{NOW}/benchmark.toml");
    let actual = ws.read(&file);
    ws.write(&file, actual.replacen("about =", &format!("was = [{KINDS:?}]\nabout ="), 1));
    let settings = ws.read("pipeline.toml").replace(&format!("\"{KINDS}\""), &format!("{NOW:?}"));
    ws.write("pipeline.toml", settings);
    ws.run().expect(0);
    let mut now = ws.candidates(NOW);
    let without_number = |rows: &mut Vec<Value>| {
        rows.iter_mut().for_each(|row| drop(row.as_object_mut().unwrap().remove("id")));
    };
    without_number(&mut want);
    without_number(&mut now);
    assert_eq!(want, now);
    assert_eq!(tasks(NOW).replace(NOW, KINDS), given, "nothing is given out anew");
    // Voting again replaces the vote under the old name.
    vote(&ws, NOW, "kinds", "annotator-1", |_| json!({ "kinds": "pun", "rating": "5" }));
    ws.run().expect(0);
    ws.audit_clean();
    assert_ne!(ws.candidates(NOW)[0]["rating"], now[0]["rating"]);

    // A current benchmark's name cannot be another's former name.
    ws.write(&file, actual.replacen("about =", "was = [\"flub\"]\nabout =", 1));
    assert!(ws.call(["status"]).expect(2).err.contains("\"flub\" is the benchmark"));
}

#[test]
fn a_changed_file_makes_the_steps_stale_that_use_it() {
    let ws = example(TWISTERS);
    ws.run().expect(0);
    let stale = || -> Vec<String> {
        let status: Value = serde_json::from_str(&ws.call(["status", "--json"]).expect(0).out).unwrap();
        let text = status.to_string();
        let steps = ["riddle", "review:fair", "ideas", "review:more", "review:best", "options"];
        assert!(steps.iter().all(|step| text.contains(&format!("\"{step}\""))), "{text}");
        let result = ws.call(["status"]).expect(0).out;
        result.lines().filter(|line| line.contains("stale")).map(str::to_owned).collect()
    };
    assert_eq!(stale(), Vec::<String>::new());
    let change = |file: &str, from: &str, to: &str| {
        let path = format!("benchmarks/brain-twisters/{file}");
        let text = ws.read(&path);
        assert!(text.contains(from), "{file} has no {from}");
        ws.write(&path, text.replace(from, to));
    };
    // Texts for people change no result.
    change("ballots.toml", "Is this riddle fair?", "Is this a fair riddle?");
    assert_eq!(stale(), Vec::<String>::new());
    change("ballots.toml", "drops = \"no\"", "drops = \"yes\"");
    let actual = stale();
    assert!(
        actual[0].contains("review:fair") && actual[0].contains("ballots.toml [ballot.fair]"),
        "{actual:?}"
    );
    change("ballots.toml", "drops = \"yes\"", "drops = \"no\"");
    change("prompts/ideas.jinja", "Write three short answers", "Write three brief answers");
    let actual = stale();
    assert!(actual[0].contains("ideas") && actual[0].contains("prompt brain-twisters/ideas"), "{actual:?}");
    change("prompts/ideas.jinja", "Write three brief answers", "Write three short answers");
    change(
        "benchmark.toml",
        "right = \"riddle.answer\"",
        "right = \"riddle.answer\"\npurpose = \"another draw\"",
    );
    let actual = stale();
    assert!(
        actual[0].contains("options") && actual[0].contains("benchmark.toml [step.options]"),
        "{actual:?}"
    );
    assert!(!actual.iter().any(|line| line.contains("review:best")), "{actual:?}");
}

#[test]
fn every_problem_of_a_folder_is_reported_at_once() {
    let ws = example(TWISTERS);
    let change = |file: &str, from: &str, to: &str| {
        let path = format!("benchmarks/brain-twisters/{file}");
        let text = ws.read(&path);
        assert!(text.contains(from), "{file} has no {from}");
        ws.write(&path, text.replacen(from, to, 1));
    };
    ws.call(["benchmark", "check"]).expect(0);
    change("benchmark.toml", "riddle = \"riddle.question\", answer", "riddle = \"riddle.qestion\", answer");
    change("benchmark.toml", "wrong = \"best.wrong\"", "wrong = \"bst.wrong\"");
    let result = ws.call(["benchmark", "check"]).expect(2).err;
    assert!(
        result.contains("benchmark.toml:") && result.contains("\"qestion\"") && result.contains("question"),
        "{result}"
    );
    assert!(result.contains("\"bst\"") && result.contains("best"), "{result}");
    change("benchmark.toml", "op = \"riddle\"", "op = \"ridle\"");
    let result = ws.call(["run"]).expect(2).err;
    assert!(result.contains("\"ridle\"") && result.contains("riddle"), "{result}");
    change("benchmark.toml", "for = \"best\"", "prompt = \"idea\"\ntempo = 3\nfor = \"best\"");
    change("ballots.toml", "pick = \"candidates\"", "pik = \"candidates\"");
    let result = ws.call(["status"]).expect(2).err;
    for part in ["\"idea\"", "\"tempo\"", "\"pik\""] {
        assert!(result.contains(part), "{part}: {result}");
    }
    let ws = example(ENGLISH);
    let path = "benchmarks/asked-in-english/benchmark.toml";
    ws.write(path, ws.read(path).replace("questions = true", "questions = \"maybe\", question = true"));
    let result = ws.call(["benchmark", "check"]).expect(2).err;
    for part in ["filter.questions: expected", "\"question\"", "did you mean"] {
        assert!(result.contains(part), "{part}: {result}");
    }
    // A folder that is not a benchmark, and a pipe instead of a file.
    ws.write("benchmarks/Riddles/benchmark.toml", "");
    let result = ws.call(["benchmark", "check"]).expect(2).err;
    assert!(result.contains("benchmarks/Riddles") && result.contains("small letters"), "{result}");
}

#[test]
fn a_built_in_benchmark_is_copied_out_and_changed() {
    let ws = Workspace::sample();
    ws.call(["init", "--benchmark", "flub"]).expect(0);
    ws.call(["init", "--benchmark", "flub"]).expect(2);
    ws.call(["init", "--benchmark", "flubb"]).expect(2);
    ws.call(["benchmark", "check", "flub"]).expect(0);
    let listed = ws.call(["benchmark", "list"]).expect(0).out;
    let flub = listed.lines().find(|line| line.starts_with("flub")).unwrap();
    assert!(flub.contains("benchmarks/"), "{flub}");
    ws.call(["run", "--recipe", "flub"]).expect(0);
    let before = ws.read("output/flub/candidate/compat/FLUB.jsonl");
    let path = "benchmarks/flub/benchmark.toml";
    ws.write(
        path,
        ws.read(path).replace("\"explanation\", \"id\", {", "{ why = \"explanation\" }, \"id\", {"),
    );
    ws.call(["run", "--recipe", "flub"]).expect(0);
    let after = ws.read("output/flub/candidate/compat/FLUB.jsonl");
    assert_eq!(after, before.replace("\"explanation\":", "\"why\":"));
}

#[test]
fn one_post_is_tried_without_asking_anybody() {
    let ws = example(TWISTERS);
    let result = ws
        .call(["benchmark", "try", TWISTERS, "--post", "What has keys?", "--answer", "A piano."])
        .expect(0)
        .out;
    for part in [
        "review:fair asks people",
        "ideas asks a model",
        "<puzzle>\nWhat has keys?\n</puzzle>",
        "answer: A piano.",
    ] {
        assert!(result.contains(part), "{part}: {result}");
    }
    assert!(!ws.exists("raw/replies") && !ws.exists("staged"), "it leaves nothing");
    let shown = ws.call(["benchmark", "show", TWISTERS, "--json"]).expect(0).out;
    let shown: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(shown["compat"], json!(["brain_twisters.json"]));
}

#[test]
fn a_release_is_given_back_and_verified_by_the_folder_it_was_made_with() {
    let ws = example(TWISTERS);
    ws.run().expect(0);
    ws.call(["release", TWISTERS, "--draft", "--date", "2026-01-02"]).expect(0);
    let version = "output/brain-twisters/1.0.0-draft.1";
    let compat = format!("{version}/compat/brain_twisters.json");
    let (sums, published) = (ws.read(&format!("{version}/SHA256SUMS")), ws.read(&compat));
    assert!(sums.contains(" benchmarks/brain-twisters/ballots.toml\n"), "{sums}");

    // The published form has another key now.
    let path = "benchmarks/brain-twisters/benchmark.toml";
    let actual = ws.read(path);
    let keys = actual.find("keys = [\n").unwrap() + "keys = [\n".len();
    ws.write(path, format!("{}  {{ now = \"id\" }},\n{}", &actual[..keys], &actual[keys..]));
    ws.call(["verify", version]).expect(0);
    std::fs::remove_dir_all(ws.path(version)).unwrap();
    let result = ws.run().expect(0);
    assert!(result.err.contains("restored from raw/releases"), "{}", result.err);
    assert_eq!(ws.read(&compat), published);
    assert_eq!(ws.read(&format!("{version}/SHA256SUMS")), sums);
    ws.call(["verify", version]).expect(0);
    assert!(ws.read("output/brain-twisters/candidate/compat/brain_twisters.json").contains("\"now\""));

    // A changed copy of the settings it was made with is reported.
    ws.write(&format!("{version}/{path}"), "about = \"\"");
    let result = ws.call(["verify", version]).expect(1);
    assert!(result.out.contains("benchmarks/brain-twisters/benchmark.toml"), "{}", result.out);
}
