//! The language of each record: from its source, from a setting, or from its text, and the rules that follow it.

use serde_json::{Value, json};

use crate::harness::Workspace;
use riddlemill::record::{Language, Post};
use riddlemill::store::StageReader;

const PAIRS: &str = include_str!("../../crates/text/fixtures/english-pairs.tsv");

fn submission(id: usize, title: &str, text: &str) -> String {
    json!({ "id": format!("t{id}"), "title": title, "selftext": text }).to_string()
}

fn submissions<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    let lines: Vec<String> = texts.into_iter().enumerate().map(|(n, text)| submission(n, text, "")).collect();
    lines.join("\n")
}

fn rows(ws: &Workspace, stage: &str) -> Vec<Post> {
    StageReader::open(&ws.path(&format!("staged/flub/{stage}"))).unwrap().unwrap().read_table("rows").unwrap()
}

fn run_to_dedup(ws: &Workspace) {
    ws.call(["run", "--offline", "--recipe", "flub", "--to", "dedup"]).expect(0);
}

fn source(name: &str, kind: &str, more: &str) -> String {
    format!(
        "[[source]]\nname = \"{name}\"\nkind = \"{kind}\"\npath = \"raw/{name}.jsonl\"\nlicence = \"CC0-1.0\"\n{more}\n"
    )
}

/// Pairs of dedup: the ids, and what was decided.
fn pairs(ws: &Workspace) -> Vec<(String, String, String, Option<String>)> {
    let reader = StageReader::open(&ws.path("staged/flub/05_dedup")).unwrap().unwrap();
    let pairs: Vec<riddlemill::stages::NearPair> = reader.read_table("pairs").unwrap();
    pairs.into_iter().map(|pair| (pair.a, pair.b, pair.verdict, pair.veto)).collect()
}

#[test]
fn distinct_questions_in_english_stay_apart_without_a_setting() {
    let ws = Workspace::with(&format!("version = 1\n{}", source("posts", "reddit", "")));
    // Of pairs that are not one joke, those without a near miss: each is a joke of its own.
    let distinct: Vec<&str> = PAIRS
        .lines()
        .map(|line| line.split('\t').collect::<Vec<_>>())
        .filter(|row| row[0] == "0" && ["frame", "topic", "distinct", "subject"].contains(&row[1]))
        .flat_map(|row| [row[2], row[3]])
        .collect();
    ws.write("raw/posts.jsonl", submissions(distinct.iter().copied()));
    run_to_dedup(&ws);
    let posts = rows(&ws, "01_import");
    assert_eq!(posts.len(), distinct.len());
    let english = posts.iter().filter(|post| post.language == Some(Language::En)).count();
    assert!(english * 100 >= posts.len() * 98, "{english} of {}", posts.len());
    assert!(posts.iter().all(|post| post.language_certainty.is_some_and(|c| (0.0..=1.0).contains(&c))));
    let kept = rows(&ws, "05_dedup").len();
    let before = rows(&ws, "04_filter").len();
    assert!(before - kept <= before / 50, "{} of {before} merged", before - kept);
}

#[test]
fn a_mixed_set_goes_by_the_language_of_each_record() {
    let settings = [
        source("english", "reddit", ""),
        source("chinese", "table", "fields = { id = \"id\", content = \"body\" }"),
        source("stated", "table", "language = \"und\"\nfields = { id = \"id\", content = \"body\" }"),
    ];
    let ws = Workspace::with(&format!("version = 1\n{}", settings.concat()));
    let english = [
        submission(1, "If the early bird gets the worm, should I sleep late?", ""),
        submission(2, "Should I sleep late, if the early bird gets the worm?", ""),
        submission(3, "Why do cats hate water so much?", ""),
        submission(4, "Why do dogs hate water so much?", ""),
    ];
    ws.write("raw/english.jsonl", english.join("\n"));
    let row = |id: &str, body: &str| json!({ "id": id, "body": body }).to_string();
    let chinese = [
        row("c1", "鱼在水里游了一辈子，为什么从来不洗澡？"),
        row("c2", "为什么鱼从不洗澡，明明一辈子都在水里游"),
        row("c3", "12345 67890"),
    ];
    ws.write("raw/chinese.jsonl", chinese.join("\n"));
    ws.write("raw/stated.jsonl", row("s1", "Pourquoi les chats dorment-ils toute la journée ?"));
    run_to_dedup(&ws);
    let language = |id: &str| {
        let post = rows(&ws, "01_import").into_iter().find(|post| post.id.ends_with(id)).unwrap();
        (post.language.unwrap().code(), post.language_certainty.unwrap())
    };
    assert_eq!(language("t3").0, "en");
    assert_eq!(language("c1").0, "zh");
    assert_eq!(language("c3"), ("und", 0.0));
    assert_eq!(language("s1"), ("und", 1.0));
    let cleaned = rows(&ws, "02_clean");
    let text = |id: &str| cleaned.iter().find(|post| post.id.ends_with(id)).unwrap().text.clone();
    assert_eq!(text("t1"), "If the early bird gets the worm, should I sleep late?");
    let verdict = |a: &str, b: &str| {
        let is = |x: &String, y: &String| x.ends_with(a) && y.ends_with(b);
        let found = pairs(&ws).into_iter().find(|(x, y, ..)| is(x, y) || is(y, x));
        found.map(|(.., verdict, veto)| (verdict, veto))
    };
    assert_eq!(verdict("t1", "t2"), Some(("same".into(), None)));
    assert_eq!(verdict("t3", "t4"), Some(("borderline".into(), Some("subject".into()))));
    assert_eq!(verdict("c1", "c2"), Some(("same".into(), None)));
    ws.audit_clean();
}

#[test]
fn a_setting_holds_unless_the_source_says_otherwise() {
    let settings = [
        source("tieba", "leymore-titles", ""),
        source("foreign", "leymore-titles", "language = \"en\""),
        source("posts", "reddit", ""),
    ];
    let title = |id: u64, text: &str| {
        json!([{ "title": text, "abs": null, "href": format!("/p/{id}?fr=good"), "lz": "u", "n_reply": "1" }])
            .to_string()
    };
    let codes = |settings: &str| {
        let ws = Workspace::with(settings);
        ws.write("raw/tieba.jsonl", title(9_700_000_001, "Why do cats sleep all day long?"));
        ws.write("raw/foreign.jsonl", title(9_700_000_002, "Why do cats sleep all night long?"));
        ws.write("raw/posts.jsonl", submission(1, "Why do cats sleep in the sun?", ""));
        run_to_dedup(&ws);
        let mut codes: Vec<(String, &str)> = rows(&ws, "01_import")
            .into_iter()
            .map(|post| (post.source, post.language.unwrap().code()))
            .collect();
        codes.sort();
        codes.into_iter().map(|(_, code)| code).collect::<Vec<_>>()
    };
    // In the order of their names: foreign, posts, tieba.
    assert_eq!(codes(&format!("version = 1\n{}", settings.concat())), ["en", "en", "zh"]);
    let set =
        |language: &str| format!("version = 1\n[text]\nlanguage = \"{language}\"\n{}", settings.concat());
    assert_eq!(codes(&set("zh")), ["en", "zh", "zh"]);
    assert_eq!(codes(&set("en")), ["en", "en", "en"]);
}

#[test]
fn a_source_in_no_known_language_is_refused() {
    let ws =
        Workspace::with(&format!("version = 1\n{}", source("posts", "reddit", "language = \"english\"")));
    let result = ws.call(["config"]).expect(2);
    assert!(result.err.contains("zh, en, und"), "{}", result.err);
}

#[test]
fn loose_rows_follow_their_language_too() {
    let ws = Workspace::with("version = 1\n");
    let rows = [
        json!({ "a": "Why do cats hate water so much?", "b": "Why do dogs hate water so much?" }),
        json!({ "a": "医生的手会不会给自己看病？", "b": "病会不会给医生的手看自己？" }),
        json!({ "a": "为什么1506号公路没有1507号公路长？", "b": "为什么1508号公路没有1509号公路长？" }),
    ];
    ws.write("pairs.jsonl", rows.map(|row| row.to_string()).join("\n"));
    let out = ws.shell("\"$0\" apply similarity < pairs.jsonl").expect(0).out;
    let found: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for (row, veto) in found.iter().zip(["subject", "order", "number"]) {
        assert_eq!(
            (&row["verdict"], &row["evidence"]),
            (&json!("borderline"), &json!(format!("veto {veto}")))
        );
    }
    let questions =
        ["Name a fruit that is never lonely.", "Warum schlafen Katzen?", "鱼会口渴吗", "I like trains."];
    ws.write("texts.jsonl", questions.map(|text| json!({ "text": text }).to_string()).join("\n"));
    let out = ws.shell("\"$0\" apply interrogative < texts.jsonl").expect(0).out;
    let asks: Vec<bool> = out
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["is_question"].as_bool().unwrap())
        .collect();
    assert_eq!(asks, [true, true, true, false]);
}

#[test]
fn another_word_in_its_place_is_listed_and_not_merged() {
    let ws = Workspace::with(&format!("version = 1\n{}", source("posts", "reddit", "")));
    let texts = [
        "为什么飞机不能倒着飞呢",
        "为什么汽车不能倒着飞呢",
        "冰箱里的灯关门以后还亮着吗",
        "冰箱里的灯开门以后还亮着吗",
    ];
    ws.write("raw/posts.jsonl", submissions(texts));
    run_to_dedup(&ws);
    assert_eq!(rows(&ws, "05_dedup").len(), texts.len());
    let listed = pairs(&ws);
    assert_eq!(listed.iter().filter(|(.., verdict, _)| verdict == "borderline").count(), 2, "{listed:?}");
}
