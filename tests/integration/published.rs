//! Published sets are reproduced row by row, with all their irregularities, and people may overrule a row.

use std::fs;
use std::path::Path;

use riddlemill_benchmarks::notation;
use serde_json::{Value, json};

use crate::harness::{Workspace, reference};

/// A workspace with the settings of an example.
fn example(name: &str) -> Workspace {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples").join(name);
    Workspace::with(&fs::read_to_string(folder.join("pipeline.toml")).unwrap())
}

/// A row as its keys with the text of their values, without spaces: equal if keys, order and values are.
fn row(line: &str) -> Vec<(String, String)> {
    let members = notation::split_members(line).unwrap_or_else(|what| panic!("{what}: {line}"));
    let text = |text: &str| match serde_json::from_str::<Value>(text) {
        Ok(value) => value.to_string(),
        Err(_) => text.split_whitespace().collect::<Vec<_>>().join(""),
    };
    members.into_iter().map(|(key, value)| (key, text(value))).collect()
}

fn rows(text: &str) -> Vec<Vec<(String, String)>> {
    match notation::split_elements(text) {
        Ok(elements) => elements.into_iter().map(row).collect(),
        Err(_) => text.lines().map(row).collect(),
    }
}

/// Compares every row of a published file with the form written from it; reports the first difference.
fn assert_same(published: &str, written: &str, what: &str) {
    let (published, written) = (rows(published), rows(written));
    for (at, (theirs, ours)) in published.iter().zip(&written).enumerate() {
        assert_eq!(ours, theirs, "{what}: row {}", at + 1);
    }
    assert_eq!(written.len(), published.len(), "{what}");
}

fn read(ws: &Workspace, path: &str) -> String {
    fs::read_to_string(ws.path(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

#[test]
fn the_published_halves_come_back_row_by_row() {
    let Some(reference) = reference() else { return };
    let half = |file: &str| fs::read_to_string(reference.join("data/reference").join(file)).unwrap();
    for (name, recipe, files) in [
        ("rebuild-flub", "flub", &[("flub-dev.jsonl", "FLUB.jsonl", "FLUB.jsonl")][..]),
        (
            "rebuild-ruozhibench-gen",
            "ruozhibench-gen",
            &[("ruozhibench-gen-dev.jsonl", "ruozhibench_gen.jsonl", "ruozhibench_gen.jsonl")],
        ),
        (
            "rebuild-brainteaser",
            "brainteaser",
            &[
                ("brainteaser-sentence-dev.jsonl", "sentence_puzzle.jsonl", "sentence_puzzle.json"),
                ("brainteaser-word-dev.jsonl", "word_puzzle.jsonl", "word_puzzle.json"),
            ],
        ),
    ] {
        let ws = example(name);
        for (from, to, _) in files {
            ws.write(&format!("raw/published/{to}"), half(from));
        }
        let start = std::time::Instant::now();
        ws.call(["run", "--recipe", recipe, "--offline"]).expect(0);
        eprintln!("{name}: {:?}", start.elapsed());
        for (from, _, compat) in files {
            let written = read(&ws, &format!("output/{recipe}/candidate/compat/{compat}"));
            assert_same(&half(from), &written, name);
        }
        ws.call(["verify", &ws.path(&format!("output/{recipe}/candidate")).display().to_string()]).expect(0);
        ws.call(["audit", "--recipe", recipe]).expect(0);
    }
}

/// Rows in FLUB's form with all irregularities seen in published files, and more.
fn odd() -> Vec<String> {
    let row = |id: &str, text: &str, kind: &str, options: &str| {
        format!(
            "{{\"text\": {text}, \"is_question\": true, \"type\": {kind}, \"explanation\": \"甲\", \"id\": {id}, \"options\": {options}, \"answer\": \"A\"}}"
        )
    };
    let four = r#"{"A": "甲", "B": "乙", "C": "丙", "D": "丁"}"#;
    vec![
        // A type of the paper, an unknown one, none, and a token that is not JSON.
        row("\"a1\"", "\"云朵会不会恐高？\"", "\"悖论\"", four),
        row("\"a2\"", "\"影子会不会嫌我胖？\"", "\"偷换词义/字义\"", four),
        row("\"a3\"", "\"闹钟由谁来叫醒？\"", "null", four),
        row("\"a4\"", "\"雨伞怕不怕晒太阳？\"", "NaN", four),
        // Rows that filter, clean, anonymise and dedup would change or drop.
        row("\"a5\"", "\"短\"", "\"悖论\"", four),
        row("\"a6\"", "\"3、  鱼在雨天会不会觉得天空也是海？\\n\\n\"", "\"悖论\"", four),
        row("\"a7\"", "\"打13800138000能接通我自己吗？\"", "\"悖论\"", four),
        row("\"a8\"", "\"云朵会不会恐高？\"", "\"悖论\"", four),
        // The same id twice, a numeric id, and no id.
        row("\"a1\"", "\"镜子里的我左撇子吗？\"", "\"悖论\"", four),
        row("12", "\"为什么昨天不叫明天的前天？\"", "\"悖论\"", four),
        "{\"text\": \"井盖为什么要盖住井？\", \"type\": \"悖论\"}".into(),
        // Two equal options, a blank one, a letter without an option, a missing option.
        row("\"b1\"", "\"电梯会不会累？\"", "\"悖论\"", r#"{"A": "甲", "B": "乙", "C": "乙", "D": "丁"}"#),
        row("\"b2\"", "\"秒针跑得过时针吗？\"", "\"悖论\"", r#"{"A": "甲", "B": NaN, "C": "丙", "D": "丁"}"#),
        row("\"b3\"", "\"门槛算不算门的一部分？\"", "\"悖论\"", r#"{"B": "乙", "A": "甲", "C": "丙"}"#),
        row("\"b4\"", "\"灯关了光去哪里了？\"", "\"悖论\"", four).replace("\"answer\": \"A\"", "\"answer\": \"E\""),
        // Options in another order.
        row("\"b5\"", "\"窗外的风景会不会看腻我？\"", "\"悖论\"", r#"{"D": "丁", "C": "丙", "B": "乙", "A": "甲"}"#),
        // Another order of keys, a misspelt key, an additional one, and letters in decomposed form.
        "{\"id\": \"c1\", \"text\": \"咖啡馆 cafe\u{301} 里有没有茶？\", \"is_question\": \"yes\", \"tpye\": \"悖论\", \"explanation\": \"甲\", \"options\": {\"A\": \"甲\", \"B\": \"乙\", \"C\": \"丙\", \"D\": \"丁\"}, \"answer\": \"A\", \"source\": [1.0, -Infinity]}".into(),
    ]
}

const ODD: &str = "version = 1\n[[published]]\nbenchmark = \"flub\"\npath = \"raw/published/FLUB.jsonl\"\n[[annotator]]\nname = \"owner\"\nrole = \"senior\"\n";

#[test]
fn whatever_a_published_file_holds_comes_back() {
    let ws = Workspace::with(ODD);
    let mut lines = odd();
    ws.write("raw/published/FLUB.jsonl", lines.join("\n") + "\n");
    ws.call(["run", "--recipe", "flub", "--offline"]).expect(0);
    let place = "output/flub/candidate";
    assert_same(&lines.join("\n"), &read(&ws, &format!("{place}/compat/FLUB.jsonl")), "odd");
    let data = read(&ws, &format!("{place}/data/flub/test.jsonl"));
    let data: Vec<Value> = data.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(data.iter().all(|row| row["standing"] == "published"));
    let types: Vec<&Value> = data.iter().map(|row| &row["type"]).take(4).collect();
    assert_eq!(types, [&json!("悖论"), &json!("偷换词义/字义"), &Value::Null, &Value::Null]);
    // A regular row needs nothing besides its columns.
    let beside: Vec<&Value> = data.iter().map(|row| &row["published"]).take(4).collect();
    assert_eq!(beside, [&Value::Null, &Value::Null, &Value::Null, &json!(r#"{"type": NaN}"#)]);
    ws.call(["verify", &ws.path(place).display().to_string()]).expect(0);
    ws.call(["audit", "--recipe", "flub"]).expect(0);
    // What the stages would have done is recorded for each row that they let through.
    for (stage, actual) in [
        ("filter", "by rule dropped (too_short)"),
        ("clean", "by rule changed (debris)"),
        ("anonymise", "by rule changed (personal_data_marked)"),
        ("dedup", "by rule merged into published:flub:a1 (exact_duplicate)"),
        ("options", "by rule held (options_missing)"),
    ] {
        let result = ws.call(["show", stage, "--recipe", "flub", "--outcome", "changed"]).expect(0);
        assert!(result.out.contains(actual), "{stage}: {}", result.out);
    }
    // Nobody is asked to vote, and no model is asked.
    let status = ws.call(["review", "status", "--recipe", "flub"]).expect(0);
    assert!(status.out.contains("17 as published") && !status.out.contains("still needed"), "{}", status.out);
    // An unreadable line only loses that line.
    lines.insert(2, "{\"text\": ".into());
    lines.insert(5, "{\"text\": NaN, \"id\": \"x\"}".into());
    ws.write("raw/published/FLUB.jsonl", lines.join("\n"));
    ws.call(["run", "--recipe", "flub", "--offline"]).expect(3);
    assert_same(&odd().join("\n"), &read(&ws, &format!("{place}/compat/FLUB.jsonl")), "with broken lines");
    let failed = ws.call(["show", "import", "--recipe", "flub", "--outcome", "failed"]).expect(0);
    assert!(failed.out.contains(":3") && failed.out.contains(":6"), "{}", failed.out);
}

/// Rows of a group in another order than ours, a group without its original, ids that do not show their kind,
/// and a missing one.
#[test]
fn puzzles_are_as_in_their_file() {
    let puzzle = |id: &str, question: &str| {
        json!({
            "id": id, "question": question, "answer": "An egg.", "distrator1": "A stone.", "distrator2": "A tree.",
            "distrator(unsure)": "None of above.", "label": 1, "choice_list": ["A stone.", "An egg.", "A tree.", "None of above."],
            "choice_order": [1, 0, 2, 3],
        })
    };
    let words = [
        puzzle("WP-0_CR", "What has ears and hears nothing?"),
        puzzle("WP-0", "What has a neck and no head?"),
        puzzle("WP-0_SR", "No head is on its neck. What is it?"),
        puzzle("extra 7", "What has hands and claps nothing?"),
        puzzle("WP-2_SR", "Of what are more left behind the more are taken?"),
        puzzle("", "What gets wetter the more it dries?"),
        puzzle("WP-0_sr", "A neck without a head, what is it?"),
        puzzle("WP-0_CR", "What has eyes and sees nothing?"),
    ];
    let sentences =
        [puzzle("SP-3_SR", "Whose is it, and others use it more?"), puzzle("SP-3", "What is yours?")];
    let ws = example("rebuild-brainteaser");
    ws.write("raw/published/word_puzzle.json", Value::from(words.to_vec()).to_string());
    ws.write("raw/published/sentence_puzzle.json", Value::from(sentences.to_vec()).to_string());
    // Published puzzles have distractors: no word is looked up for them.
    let nowhere = ["--set", "puzzles.wordnet=nowhere"];
    let call = |verb: &[&str]| ws.call(verb.iter().chain(&nowhere).copied());
    call(&["run", "--recipe", "brainteaser", "--offline"]).expect(0);
    let place = "output/brainteaser/candidate";
    for (file, rows) in [("word_puzzle.json", &words[..]), ("sentence_puzzle.json", &sentences[..])] {
        let written = read(&ws, &format!("{place}/compat/{file}"));
        assert_same(&Value::from(rows.to_vec()).to_string(), &written, file);
    }
    ws.call(["verify", &ws.path(place).display().to_string()]).expect(0);
    call(&["audit", "--recipe", "brainteaser"]).expect(0);
}

#[test]
fn numpys_arrays_are_read_as_their_json_is() {
    let fixture = |name: &str| {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/published");
        fs::read(folder.join(name)).unwrap()
    };
    let settings = |file: &str| {
        format!("version = 1\n[[published]]\nbenchmark = \"brainteaser\"\npath = \"raw/published/{file}\"\n")
    };
    let written = |file: &str| {
        let ws = Workspace::with(&settings(file));
        ws.write(&format!("raw/published/{file}"), fixture(file));
        ws.call(["run", "--recipe", "brainteaser", "--offline"]).expect(0);
        ws.call(["verify", &ws.path("output/brainteaser/candidate").display().to_string()]).expect(0);
        (read(&ws, "output/brainteaser/candidate/compat/sentence_puzzle.json"), ws)
    };
    let json = String::from_utf8(fixture("sentence_puzzle.json")).unwrap();
    let (of_json, _) = written("sentence_puzzle.json");
    let (of_array, ws) = written("sentence_puzzle.npy");
    assert_same(&json, &of_json, "JSON");
    assert_same(&json, &of_array, "an array");
    assert!(
        of_array.contains("NaN")
            && !read(&ws, "output/brainteaser/candidate/data/brainteaser/test.jsonl").contains(":NaN")
    );
    for protocol in ["protocol2.npy", "protocol5.npy"] {
        let (of_array, _) = written(protocol);
        assert_eq!(rows(&of_array), rows(&json)[..5], "{protocol}");
    }
    // An array of numbers contains no puzzle.
    let ws = Workspace::with(&settings("numbers.npy"));
    ws.write("raw/published/numbers.npy", fixture("numbers.npy"));
    ws.call(["run", "--recipe", "brainteaser", "--offline"]).expect(3);
    let failed = ws.call(["show", "import", "--recipe", "brainteaser", "--outcome", "failed"]).expect(0);
    assert!(failed.out.contains("contains numbers instead of objects"), "{}", failed.out);
}

#[test]
fn people_overrule_a_published_row() {
    let ws = Workspace::with(ODD);
    ws.write("raw/published/FLUB.jsonl", odd().join("\n"));
    ws.call(["run", "--recipe", "flub", "--offline"]).expect(0);
    // One is dropped by decision, another's text is changed.
    let by = ["--by", "owner", "--why", "as we see it"];
    let decide =
        |what: &[&str]| ws.call([&["decide"][..], what, &by, &["--recipe", "flub"]].concat()).expect(0);
    decide(&["drop", "published:flub:a3", "--stage", "filter"]);
    decide(&["text", "published:flub:a2", "影子会不会嫌我太胖？"]);
    ws.call(["run", "--recipe", "flub", "--offline"]).expect(0);
    let compat = read(&ws, "output/flub/candidate/compat/FLUB.jsonl");
    let (before, after) = (rows(&odd().join("\n")), rows(&compat));
    assert_eq!(after.len(), before.len() - 1);
    assert_eq!(after[0], before[0]);
    let value = |row: &[(String, String)], key: &str| {
        row.iter().find(|(known, _)| known == key).map(|(_, value)| value.clone()).unwrap()
    };
    assert_eq!(value(&after[1], "text"), "\"影子会不会嫌我太胖？\"");
    // Everything else is as published: the id, and a type that the paper does not have.
    assert_eq!(value(&after[1], "type"), value(&before[1], "type"));
    assert_eq!(value(&after[1], "id"), value(&before[1], "id"));
    assert_eq!(after[2..], before[3..]);
}

/// A form without an available published file is reproduced from our own rows.
fn rebuilt(benchmark: &str, recipes: &[&str], rows: &[Value], file: &str) -> Workspace {
    let ws = example(&format!("rebuild-{benchmark}"));
    let lines: String = rows.iter().map(|row| format!("{row}\n")).collect();
    ws.write(&format!("raw/published/{file}"), &lines);
    for recipe in recipes {
        ws.call(["run", "--recipe", recipe, "--offline"]).expect(0);
        ws.call(["audit", "--recipe", recipe]).expect(0);
    }
    let candidate = format!("output/{benchmark}/candidate");
    assert_same(&lines, &read(&ws, &format!("{candidate}/compat/{file}")), benchmark);
    ws.call(["verify", &ws.path(&candidate).display().to_string()]).expect(0);
    let data = read(&ws, &format!("{candidate}/data/{benchmark}/test.jsonl"));
    for row in data.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
        assert_eq!(row["standing"], "published", "{row}");
    }
    ws
}

#[test]
fn choices_of_ruozhibench_come_back_with_their_models_and_means() {
    let row = |index: u64, zh: &str, models: [&str; 2], scores: Value| {
        json!({
            "question_zh": zh, "question_en": format!("Why is it {index}?"), "irrationality": "It is not.", "pair": null,
            "category": "3(Erroneous Assumption), 4(Scientific Misconception)", "index": index,
            "Good Answer": format!("It is not {index}."), "Bad Answer": format!("It is {index}."),
            "Good Model": models[0], "Bad Model": models[1], "response_scores": scores,
        })
    };
    let rows = [
        row(0, "为什么鱼不会口渴？", ["m-1", "m-2"], json!({ "m-1": 3.67, "m-2": 0.33, "m-3": 1.0 })),
        row(1, "雨伞会不会淋湿？", ["m-3", "m-1"], json!({ "m-3": 4.0, "m-1": 0.0 })),
        row(5, "云会恐高吗？", ["m-2", "m-3"], json!({})),
    ];
    let ws = rebuilt("ruozhibench-mc", &["ruozhibench-gen", "ruozhibench-mc"], &rows, "ruozhibench_mc.jsonl");
    let rows = ws.candidates("ruozhibench-mc");
    let ids: Vec<&str> = rows.iter().map(|row| row["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["RB-0", "RB-1", "RB-5"]);
    let place = rows[0]["answer"].as_u64().unwrap() as usize;
    assert_eq!(
        (&rows[0]["options"][place], &rows[0]["option_models"][place]),
        (&json!("It is not 0."), &json!("m-1"))
    );
    assert_eq!(rows[0]["ratings"], json!([]), "whose they are is not published");
}

#[test]
fn jokes_of_chumor_come_back_as_the_corpus_alone() {
    let row = |id: &str, joke: &str| json!({ "id": id, "joke": joke, "explanation": "双关。先这样解释。", "source_kind": "annual" });
    let rows = [row("c1", "云会恐高吗？"), row("c2", "雨伞会不会淋湿？我问过它。")];
    let ws = rebuilt("chumor", &["chumor"], &rows, "chumor_corpus.jsonl");
    let card = read(&ws, "output/chumor/candidate/README.md");
    assert!(card.contains("- config_name: corpus") && !card.contains("- config_name: preferences"), "{card}");
}

#[test]
fn a_page_shows_published_rows_and_the_posts_that_they_are() {
    let dump = crate::harness::source("own", "leymore-titles", "raw/dumps/own.json");
    let ws = Workspace::with(&format!("{ODD}{dump}licence = \"CC0-1.0\"\n"));
    ws.write("raw/published/FLUB.jsonl", odd().join("\n") + "\n");
    let posts =
        [crate::harness::title(7, "影子会不会嫌我胖？"), crate::harness::title(8, "<b>井</b>的盖子盖着谁？")];
    ws.write("raw/dumps/own.json", format!("[{}]", posts.join(",")));
    ws.call(["run", "--recipe", "flub", "--offline"]).expect(0);
    let result = ws.call(["published", "--recipe", "flub", "--html", "page.html"]).expect(0);
    assert!(result.out.contains("17 rows published, 17 reproduced exactly"), "{}", result.out);
    assert!(result.out.contains("1  posts of the dumps are published rows: tieba:7"), "{}", result.out);
    let kept = "1  posts of the dumps are not published, although every rule keeps them: tieba:8";
    assert!(result.out.contains(kept), "{}", result.out);
    let page = ws.read("page.html");
    for shown in [
        "17 rows, 17 of them",
        "tieba:7",
        "影子会不会嫌我胖？",
        "own&#x2f;own.json:1",
        "exact_duplicate",
        "<code>tieba:8</code>",
        "1 posts of the dumps passed every rule",
    ] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    assert!(!page.contains("<b>") && !page.contains("<script"), "{page}");
    // Without a published set there is nothing to report.
    let none = Workspace::with(&format!("version = 1\n{dump}licence = \"CC0-1.0\"\n"));
    none.write("raw/dumps/own.json", "[]");
    let result = none.call(["published", "--html", "page.html"]);
    assert!(result.code == 1 && !none.exists("page.html"), "{} {}", result.code, result.err);
}
