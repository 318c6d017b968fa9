//! The sample under `raw/sample` is written by hand; these tests keep it consistent: every row of a content
//! bank belongs to a post or puzzle of the dumps, and every stage finds enough to work on.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use serde_json::Value;

const MODELS: [&str; 4] = ["sample-model-a", "sample-model-b", "sample-model-c", "sample-model-d"];
const JUDGES: [&str; 3] = ["sample-judge-1", "sample-judge-2", "sample-judge-3"];
const VOTERS: [&str; 4] = ["annotator-1", "annotator-2", "annotator-3", "senior-1"];
const FLUB_TYPES: [&str; 8] =
    ["错误类比", "冷笑话", "字音错误", "歧义", "悖论", "事实性错误", "推理错误", "文字游戏"];
const PLACEHOLDERS: [&str; 16] = [
    ".",
    "。",
    "．",
    "J",
    "，",
    "…",
    "RT",
    "！",
    "·",
    "⊙.⊙",
    "如题",
    "题如",
    "－－",
    "o_O",
    "——来自 示例贴吧客户端",
    "http://example.com/p/10086?pn=1",
];

fn read(path: &str) -> String {
    let full = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("raw/sample").join(path);
    fs::read_to_string(&full).unwrap_or_else(|error| panic!("{}: {error}", full.display()))
}

fn array(path: &str) -> Vec<Value> {
    serde_json::from_str(&read(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn lines(path: &str) -> Vec<Value> {
    let parse =
        |(n, line)| serde_json::from_str(line).unwrap_or_else(|error| panic!("{path}:{}: {error}", n + 1));
    read(path).lines().enumerate().map(parse).collect()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("not a string: {value}"))
}

fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap_or_else(|| panic!("not a list: {value}"))
}

fn distinct(texts: &[&str]) -> bool {
    texts.iter().collect::<BTreeSet<_>>().len() == texts.len()
}

/// The key of every post in the dumps, as spelt in `content.jsonl`.
fn posts() -> Vec<String> {
    let tid = |href: &str| {
        let id = href.strip_prefix("/p/").and_then(|rest| rest.strip_suffix("?fr=good"));
        id.unwrap_or_else(|| panic!("not a thread address: {href}")).to_owned()
    };
    let titles = array("dumps/titles.json");
    let annual = array("dumps/annual.json");
    let thread = lines("dumps/thread.jsonl");
    let titles = titles.iter().map(|row| format!("tieba:{}", tid(text(&row["href"]))));
    let annual = annual.iter().map(|row| text(&row["content"]).to_owned());
    let thread = thread.iter().map(|row| format!("tieba:{}:{}", row["tid"], row["pid"]));
    titles.chain(annual).chain(thread).collect()
}

/// The rows of the content bank that contain `part`, each with that part.
fn parts<'a>(rows: &'a [Value], part: &'a str) -> Vec<(&'a Value, &'a Value)> {
    rows.iter().filter_map(|row| row.get(part).map(|value| (row, value))).collect()
}

#[test]
fn dumps_cover_the_rules_of_the_three_formats() {
    assert!((200..=260).contains(&posts().len()));
    // One thread occurs twice, with other words the second time: import must keep both.
    assert_eq!(posts().len(), posts().iter().collect::<BTreeSet<_>>().len() + 1, "one key occurs twice");

    let titles = array("dumps/titles.json");
    let contents: Vec<&str> = titles.iter().filter_map(|row| row["abs"].as_str()).collect();
    for placeholder in PLACEHOLDERS {
        assert!(contents.contains(&placeholder), "no post with the content {placeholder}");
    }
    let cut = titles.iter().filter(|row| {
        let content = row["abs"].as_str().unwrap_or_default();
        content.starts_with(text(&row["title"])) && content != text(&row["title"])
    });
    assert!(cut.count() >= 10, "too few truncated titles");
    assert!(contents.iter().any(|content| content.chars().count() > 500));
    assert!(titles.iter().any(|row| text(&row["title"]).contains("\r\n")));

    let thread = lines("dumps/thread.jsonl");
    let result = |sign: &str| thread.iter().filter(|row| text(&row["text"]).contains(sign)).count();
    assert!(result("\n评分：") >= 25 && result("丨") >= 3 && result("*.") >= 2);
    assert_eq!(thread.iter().filter(|row| text(&row["text"]).starts_with("*:")).count(), 1);
    assert!(thread.iter().any(|row| row["is_comment"] == true && row["parent_pid"].is_u64()));
    for row in &thread {
        let name = text(&row["user_name"]);
        assert!(name.is_empty() || name.starts_with("示例") || name.starts_with("ShiLi"), "{name}");
    }
}

#[test]
fn every_content_row_belongs_to_a_post() {
    let posts: BTreeSet<String> = posts().into_iter().collect();
    let mut seen = BTreeSet::new();
    for row in lines("content.jsonl") {
        let copies = row.get("copies").map(list).unwrap_or_default();
        for key in std::iter::once(&row["key"]).chain(copies) {
            assert!(posts.contains(text(key)), "no post has the key {key}");
            assert!(seen.insert(text(key).to_owned()), "two rows for {key}");
        }
    }
}

#[test]
fn trick_questions_are_ready_for_every_step() {
    let rows = lines("content.jsonl");
    let all = parts(&rows, "ruozhibench");
    let (kept, rejected): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|(_, part)| part["screen"]["suits_english"] == true);
    assert!(kept.len() >= 55 && rejected.len() >= 15, "{} / {}", kept.len(), rejected.len());

    let mut categories = BTreeSet::new();
    for (row, part) in &kept {
        let irrationality = text(&part["irrationality"]);
        assert!(irrationality.split_whitespace().count() <= 100, "{}", row["key"]);
        assert!(!irrationality.to_lowercase().contains("irrationality"), "{}", row["key"]);
        let draft: Vec<&str> = text(&part["categories"]["draft"]).split(' ').collect();
        assert!(draft.len() == 3 && distinct(&draft), "{}", row["key"]);
        for category in list(&part["categories"]["final"]) {
            assert!(draft.contains(&category.to_string().as_str()), "{}", row["key"]);
            categories.insert(category.as_u64().unwrap_or_default());
        }
        if let Some(pair) = part["pair"].as_str() {
            let translation = &part["translation"];
            let question = translation["rewrite"].as_str().unwrap_or(text(&translation["draft"]));
            assert_ne!(pair, question, "{}", row["key"]);
        }
    }
    assert_eq!(categories, (1..=6).collect());
    let share = |count: usize| count as f64 / kept.len() as f64;
    let rewritten = kept.iter().filter(|(_, part)| part["translation"]["rewrite"].is_string());
    assert!((0.35..0.55).contains(&share(rewritten.count())));
    let paired = kept.iter().filter(|(_, part)| part["pair"].is_string());
    assert!((0.45..0.75).contains(&share(paired.count())));
}

#[test]
fn responses_come_from_four_models_and_three_judges() {
    let (rows, mut wide, mut narrow) = (lines("content.jsonl"), 0, 0);
    for (row, part) in parts(&rows, "ruozhibench") {
        let Some(responses) = part.get("responses") else { continue };
        assert_eq!(responses.get("pair").is_some(), part["pair"].is_string(), "{}", row["key"]);
        for which in ["question", "pair"].iter().filter_map(|which| responses.get(which)) {
            let field = |name: &str| -> Vec<&str> {
                list(which).iter().map(|response| text(&response[name])).collect()
            };
            assert_eq!(field("model"), MODELS);
            assert!(distinct(&field("text")), "{}", row["key"]);
        }
        let mean = |response: &Value| {
            let ratings = list(&response["ratings"]);
            assert!(ratings.iter().map(|rating| text(&rating["judge"])).eq(JUDGES));
            let sum: u64 = ratings.iter().filter_map(|rating| rating["rating"].as_u64()).sum();
            assert!(ratings.iter().all(|rating| rating["rating"].as_u64().is_some_and(|r| r <= 4)));
            sum as f64 / ratings.len() as f64
        };
        let means: Vec<f64> = list(&responses["question"]).iter().map(mean).collect();
        let gap =
            means.iter().copied().fold(f64::MIN, f64::max) - means.iter().copied().fold(f64::MAX, f64::min);
        *if gap > 2.0 { &mut wide } else { &mut narrow } += 1;
    }
    assert!(wide >= 24 && narrow >= 2, "{wide} questions with a gap over 2, {narrow} without");
}

#[test]
fn flub_rows_have_nine_wrong_candidates_and_every_type() {
    let rows = lines("content.jsonl");
    let flub = parts(&rows, "flub");
    assert!(flub.len() >= 24);
    let mut types = BTreeMap::new();
    for (row, part) in flub {
        *types.entry(part["type"].as_str()).or_insert(0) += 1;
        let mut options: Vec<&str> = list(&part["wrong"]).iter().map(|w| text(&w["text"])).collect();
        assert_eq!(options.len(), 9, "{}", row["key"]);
        options.push(text(&part["explanation"]));
        assert!(distinct(&options), "{}", row["key"]);
        let picked: BTreeSet<u64> = list(&part["picked"]).iter().filter_map(Value::as_u64).collect();
        assert!(picked.len() == 3 && picked.iter().all(|&n| n < 9), "{}", row["key"]);
    }
    let expected = FLUB_TYPES.into_iter().map(Some).chain([None]).collect::<BTreeSet<_>>();
    assert_eq!(types.into_keys().collect::<BTreeSet<_>>(), expected);
}

#[test]
fn chumor_rows_have_explanations_to_compare() {
    let rows = lines("content.jsonl");
    let chumor = parts(&rows, "chumor");
    assert!(chumor.len() >= 24);
    for (row, part) in chumor {
        assert_eq!(text(&part["explanation"]).matches('。').count(), 2, "{}", row["key"]);
        let models = list(&part["models"]);
        let mut texts: Vec<&str> = models.iter().map(|m| text(&m["explanation"])).collect();
        texts.push(text(&part["explanation"]));
        assert!(texts.len() == 3 && distinct(&texts), "{}", row["key"]);
        for model in models {
            let votes = &row["votes"]["chumor"]["preference"][text(&model["model"])];
            let votes = votes.as_object().map(|v| v.values().map(text).collect::<Vec<_>>());
            let votes = votes.unwrap_or_default();
            assert!(votes.len() == 3 && votes.iter().all(|v| ["human", "llm", "tie"].contains(v)));
        }
    }
}

#[test]
fn votes_are_synthetic_and_some_disagree() {
    let mut split = 0;
    for row in lines("content.jsonl") {
        let flows = row["votes"].as_object().into_iter().flatten();
        for (flow, steps) in flows {
            for (step, votes) in steps.as_object().into_iter().flatten() {
                if (flow.as_str(), step.as_str()) == ("chumor", "preference") {
                    continue;
                }
                let Some(votes) = votes.as_object() else { panic!("{flow}/{step}: {votes}") };
                assert!(votes.keys().all(|voter| VOTERS.contains(&voter.as_str())), "{flow}/{step}");
                let juniors: BTreeSet<String> = votes
                    .iter()
                    .filter(|(voter, _)| *voter != "senior-1")
                    .map(|(_, vote)| vote.to_string())
                    .collect();
                split += usize::from(juniors.len() > 1 && votes.contains_key("senior-1"));
            }
        }
    }
    assert!(split >= 40, "{split} steps were settled by the senior");
}

#[test]
fn puzzles_make_complete_groups() {
    let pages = ["list", "single-900106", "single-900107", "rd-article"]
        .map(|page| read(&format!("puzzles/{page}.html")))
        .join("\n");
    let ids: BTreeSet<String> =
        lines("puzzles/puzzles.jsonl").iter().map(|row| text(&row["id"]).to_owned()).collect();
    let mut kinds = BTreeMap::new();
    for row in lines("content-puzzles.jsonl") {
        let key = text(&row["key"]);
        let on_page = match key.strip_prefix("riddle:") {
            Some(id) => pages.contains(&format!("href=\"/riddle/{id}\"")),
            None => pages.contains(key),
        };
        assert!(on_page || ids.contains(key), "no puzzle has the key {key}");
        *kinds.entry(text(&row["kind"]).to_owned()).or_insert(0) += 1;
        if row["kind"] == "neither" {
            continue;
        }
        for (variant, wrong) in [(&row, "text"), (&row["context"], "")] {
            let wrong = list(&variant["distractors"])
                .iter()
                .map(|d| if wrong.is_empty() { text(d) } else { text(&d[wrong]) });
            let options: Vec<&str> = wrong.chain([text(&variant["answer"])]).collect();
            assert!(options.len() == 4 && distinct(&options), "{key}");
        }
        let rephrased = text(&row["semantic"]["question"]);
        let questions = [text(&row["question"]), rephrased, text(&row["context"]["question"])];
        assert!(distinct(&questions), "{key}");
        if row["kind"] == "sentence" {
            let context = &row["context"];
            let own = list(&row["distractors"])
                .iter()
                .map(|distractor| &distractor["overwrites"])
                .collect::<Vec<_>>();
            for (premises, overwrites) in [
                (&row["premises"], own),
                (&context["premises"], list(&context["overwrites"]).iter().collect()),
            ] {
                let premises = list(premises);
                let by_answer = |n: usize| premises[n]["overwritten_by_answer"] == true;
                assert!(premises.len() >= 4, "{key}");
                assert_eq!((0..premises.len()).filter(|&n| by_answer(n)).count(), 1, "{key}");
                for n in overwrites {
                    let n = n.as_u64().unwrap_or(u64::MAX) as usize;
                    assert!(n < premises.len() && !by_answer(n), "{key}");
                }
            }
        }
    }
    assert!(kinds["sentence"] >= 14 && kinds["word"] >= 14 && kinds["neither"] >= 1, "{kinds:?}");
}
