//! One record in two upstreams is one, whatever kind of step reads both; and what is said of posts is read once from each dump.

use serde_json::Value;

use crate::harness::{Workspace, source};

const POSTS: &str = "no,title\n1,云会不会恐高呀？\n2,影子会不会嫌我胖？\n3,鱼会不会觉得我们活在天上？\n";

/// Two recipes with the same three posts, and a third whose first step reads both.
fn both(steps: &str, tables: &str) -> Workspace {
    let ws = Workspace::with(
        &(source("jokes", "table", "raw/dumps/posts.csv")
            + "fields = { id = \"joke:{no}\", title = \"title\" }\nrecipes = [\"one\", \"two\"]\n"),
    );
    ws.write("raw/dumps/posts.csv", POSTS);
    for name in ["one", "two"] {
        ws.write(
            &format!("benchmarks/{name}/benchmark.toml"),
            "about = \"jokes\"\nsteps = [\"import\", \"clean\", \"anonymise\"]\n",
        );
    }
    ws.write(
        "benchmarks/zwei/benchmark.toml",
        format!("about = \"jokes of two\"\nsteps = {steps}\n{tables}"),
    );
    ws
}

/// What the step of the third recipe did: three records go on, and three are told.
fn is_one_each(ws: &Workspace, step: &str) {
    ws.call(["run", "--offline", "--recipe", "one", "--recipe", "two", "--recipe", "zwei"]).expect(0);
    let reasons = ws.reasons("zwei");
    assert_eq!(reasons.get("dropped/same_id"), Some(&3), "{step}: {reasons:?}");
    let shown = ws.call(["show", step, "--recipe", "zwei", "--outcome", "dropped"]).expect(0).out;
    assert!(shown.contains("it came from one/anonymise, and two/anonymise has it, too"), "{step}: {shown}");
    ws.call(["audit", "--recipe", "zwei"]).expect(0);
    let out = ws.call(["explain", "joke:1", "--recipe", "zwei"]).expect(0).out;
    assert!(out.contains("same_id"), "{step}: {out}");
}

#[test]
fn dedup_reads_a_record_of_two_recipes_once() {
    let ws = both("[\"dedup\"]", "[step.dedup]\nfrom = [\"one/anonymise\", \"two/anonymise\"]\n");
    is_one_each(&ws, "dedup");
    let merged =
        ws.call(["show", "dedup", "--recipe", "zwei", "--outcome", "merged", "--json"]).expect(0).out;
    let merged: Value = serde_json::from_str(&merged).unwrap();
    assert!(
        merged[0]["rows"].as_array().is_none_or(Vec::is_empty),
        "nothing is merged into itself: {merged}"
    );
}

#[test]
fn steps_of_posts_read_a_record_of_two_recipes_once() {
    let ws = both("[\"filter\"]", "[step.filter]\nfrom = [\"one/anonymise\", \"two/anonymise\"]\n");
    is_one_each(&ws, "filter");
}

#[test]
fn a_named_operation_reads_a_record_of_two_recipes_once() {
    let from = "from = [\"one/anonymise\", \"two/anonymise\"]\n";
    let same = "[step.same]\nkind = \"native\"\nop = \"same_riddle\"\nwith = { question = \"text\" }\n";
    let ws = both("[\"same\"]", &(same.to_owned() + from));
    is_one_each(&ws, "same");
}

/// A published row that a rule would merge into another one is explained with its own text.
#[test]
fn a_published_row_that_stays_has_its_text() {
    let ws = Workspace::with("[[published]]\nbenchmark = \"flub\"\npath = \"raw/published/FLUB.jsonl\"\n");
    let row = |id: &str, text: &str| {
        format!(
            "{{\"text\": \"{text}\", \"is_question\": true, \"type\": \"悖论\", \"explanation\": \"甲\", \"id\": \"{id}\", \
             \"options\": {{\"A\": \"甲\", \"B\": \"乙\", \"C\": \"丙\", \"D\": \"丁\"}}, \"answer\": \"A\"}}\n"
        )
    };
    let texts = ["冰块是不是最怕热也最怕化呀？", "冰块是不是最怕热也最怕化呀！"];
    ws.write("raw/published/FLUB.jsonl", row("r1", texts[0]) + &row("r2", texts[1]));
    ws.call(["run", "--recipe", "flub", "--offline"]).expect(0);
    for text in texts {
        let out = ws.call(["explain", text, "--recipe", "flub", "--json"]).expect(0).out;
        let explained: Value = serde_json::from_str(&out).unwrap();
        let of: Vec<&str> = explained["explained"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|found| found["text"].as_str())
            .collect();
        assert!(!of.is_empty() && of.iter().all(|of| texts.contains(of)), "{out}");
    }
}
