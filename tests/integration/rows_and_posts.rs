//! Which posts published rows are, and what became of the posts of rows that a set lacks.

use std::fs;

use serde_json::{Value, json};

use crate::harness::{Workspace, reference, source, title};

const PUBLISHED: &str = "[[published]]\nbenchmark = \"flub\"\npath = \"raw/published/FLUB.jsonl\"\n";

/// A thread whose owner numbers jokes, with a reply of somebody else.
fn thread(reply: &str) -> String {
    let post = |pid: u64, floor: u64, user: &str, text: &str| {
        json!({ "pid": pid, "tid": 77, "user_name": user, "user_id": 4_000_000 + pid, "text": text,
            "time": 1_700_000_000, "image_links": [], "is_comment": false, "floor": floor })
        .to_string()
            + "\n"
    };
    post(100, 1, "楼主甲", "年度精选")
        + &post(101, 2, "楼主甲", "1.第一把雨伞会不会羡慕晴天？")
        + &post(102, 3, "路人乙", reply)
}

fn row(id: &str, text: &str) -> String {
    let options = json!({ "A": "甲", "B": "乙", "C": "丙", "D": "丁" });
    json!({ "text": text, "is_question": true, "type": "悖论", "explanation": "甲", "id": id, "options": options, "answer": "A" })
        .to_string()
        + "\n"
}

fn published(ws: &Workspace) -> Value {
    let result = ws.call(["published", "--recipe", "flub", "--json"]).expect(0);
    let mut reports: Value = serde_json::from_str(&result.out).unwrap();
    reports[0].take()
}

/// Two rows are near each other: a post that equals one of them is that one, whichever comes first.
#[test]
fn a_post_is_the_row_that_it_equals() {
    let (ice, copy) = ("冰块是不是最怕热也最怕化呀？", "冰块是不是最怕热又最怕化呀？");
    let (cake, none) = ("做蛋糕之类的东西要用打蛋器吗？", "谁也没有说过这样的一句话吧？");
    for order in [[ice, copy], [copy, ice]] {
        let ws = Workspace::with(
            &(source("titles", "leymore-titles", "raw/dumps/titles.json")
                + &source("threads", "thread-dump", "raw/dumps/thread.jsonl")
                + PUBLISHED),
        );
        let rows = row("r1", order[0]) + &row("r2", order[1]) + &row("r3", cake) + &row("r4", none);
        ws.write("raw/published/FLUB.jsonl", rows);
        ws.write("raw/dumps/titles.json", title(5, copy) + "\n" + &title(6, "门铃半夜睡不睡觉？") + "\n");
        ws.write("raw/dumps/thread.jsonl", thread(cake));
        ws.call(["run", "--recipe", "flub", "--offline"]).expect(0);
        let report = published(&ws);
        let found = report["found"].as_array().unwrap();
        let of = |post: &str| found.iter().find(|found| found["post"] == post).cloned().unwrap_or_default();
        let equal = of("tieba:5");
        assert_eq!(
            (&equal["text"], &equal["how"], &equal["score"]),
            (&json!(copy), &json!("equal"), &json!(1.0)),
            "{report}"
        );
        // A reply that import set aside is searched like a post.
        let reply = of("tieba:77:102");
        assert_eq!(
            (&reply["published"], &reply["how"]),
            (&json!("published:flub:r3"), &json!("equal")),
            "{report}"
        );
        assert_eq!(reply["ended"], "import dropped (chatter)", "{report}");
        // The others are counted and listed, each with its nearest post.
        let without = report["without"].as_array().unwrap();
        let texts: Vec<&str> = without.iter().map(|row| row["text"].as_str().unwrap()).collect();
        assert_eq!(texts, [ice, none], "{report}");
        assert_eq!(without[0]["nearest"]["post"], "tieba:5");
        assert!(without.iter().all(|row| row["nearest"]["ended"].is_string()), "{report}");
        let result = ws.call(["published", "--recipe", "flub", "--html", "page.html"]).expect(0);
        let page = ws.read("page.html");
        assert!(
            result.out.contains("2  rows are no post") || result.out.contains("2 rows are no post"),
            "{}",
            result.out
        );
        for text in [ice, none, "tieba:5"] {
            assert!(result.out.contains(text) && page.contains(text), "{text}: {}", result.out);
        }
    }
}

/// Where a row of another set ended is followed through merges and edits, and into the dumps.
#[test]
fn a_missing_row_is_followed_to_its_end() {
    let ws = Workspace::with(
        &(source("titles", "leymore-titles", "raw/dumps/titles.json")
            + &source("threads", "thread-dump", "raw/dumps/thread.jsonl")),
    );
    let (ice, copy, reply) = ("冰块怕热还是怕化？", "冰块怕热还是怕化", "楼主说得对，鱼在水里游来游去");
    let titles = [(1, ice), (2, copy), (3, "嗯"), (4, "3、  鱼在雨天会不会觉得天空也是海？\n\n")];
    let titles: String = titles.iter().map(|(id, text)| title(*id, text) + "\n").collect();
    ws.write("raw/dumps/titles.json", titles);
    ws.write("raw/dumps/thread.jsonl", thread(reply));
    ws.call(["run", "--recipe", "flub", "--offline"]).expect(0);
    let wanted = [copy, reply, "鱼在雨天会不会觉得天空也是海？", "谁也没有说过这样的一句话吧？"];
    let reference: String = wanted.iter().map(|text| json!({ "text": text }).to_string() + "\n").collect();
    ws.write("reference.jsonl", reference);
    ws.write("set.jsonl", "{\"text\": \"完全不相干的另外一行字在这里\"}\n");
    let args = ["compare", "set.jsonl", "reference.jsonl", "--recipe", "flub"];
    let result = ws.call(args.iter().chain(&["--json"])).expect(1);
    let found: Value = serde_json::from_str(&result.out).unwrap();
    let lost: Vec<&str> =
        found["missing"].as_array().unwrap().iter().map(|m| m["lost"].as_str().unwrap_or("none")).collect();
    let starts = [
        "tieba:2 (titles/titles.json:2): ",
        "tieba:77:102 (threads/thread.jsonl:3): import dropped chatter",
        "tieba:4 (titles/titles.json:4): ",
        "none",
    ];
    for (lost, start) in lost.iter().zip(starts) {
        assert!(lost.starts_with(start), "{lost}");
    }
    // Merged, and then what it was merged into waits for people: the merge alone is not the end.
    assert!(
        lost[0].contains("dedup merged exact_duplicate into tieba:1: identical")
            && lost[0].contains(" held "),
        "{}",
        lost[0]
    );
    assert!(lost[2].contains("clean changed") && lost[2].contains(" held "), "{}", lost[2]);
    let out = ws.call(args).expect(1).out;
    assert!(out.contains("in no dump that was read") && out.contains("import dropped chatter"), "{out}");
}

/// The halves of the published sets against the real dumps: every missing row is followed, in little time.
#[test]
fn real_rows_are_followed_and_attributed() {
    let Some(reference) = reference() else { return };
    let ws = Workspace::with(
        &(source("titles", "leymore-titles", "raw/dumps/titles.json")
            + &source("annual", "leymore-annual", "raw/dumps/annual.json")
            + PUBLISHED),
    );
    for (from, to) in [
        ("data/raw/leymore/ruozhiba-title-good.json", "raw/dumps/titles.json"),
        ("data/raw/leymore/ruozhiba-post-annual.json", "raw/dumps/annual.json"),
        ("data/reference/flub-dev.jsonl", "raw/published/FLUB.jsonl"),
    ] {
        ws.write(to, fs::read(reference.join(from)).unwrap());
    }
    ws.call(["run", "--recipe", "flub", "--offline"]);
    let report = published(&ws);
    let rows = report["rows"].as_u64().unwrap() as usize;
    let without = report["without"].as_array().unwrap();
    let found = report["found"].as_array().unwrap();
    assert!(without.iter().all(|row| row["nearest"]["post"].is_string()));
    let of_posts: std::collections::BTreeSet<&str> =
        found.iter().map(|found| found["published"].as_str().unwrap()).collect();
    assert_eq!(of_posts.len() + without.len(), rows);
    assert!(
        found.iter().filter(|found| found["how"] == "equal").all(|found| found["text"] == found["post_text"])
    );
}
