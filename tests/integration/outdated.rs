//! What `status` says before a run that changes texts.

use serde_json::{Value, json};

use crate::harness::{Workspace, source, title};

#[test]
fn status_says_how_many_votes_a_changed_rule_would_outdate() {
    let ws = Workspace::with(
        &(source("dump", "leymore-titles", "raw/dumps/dump")
            + "[[annotator]]\nname = \"a1\"\nrole = \"annotator\"\n"),
    );
    let texts = ["雨伞打13800138000会有人接吗？", "门铃半夜睡不睡觉？", "冰箱里的灯会不会打喷嚏？"];
    ws.write(
        "raw/dumps/dump",
        texts.iter().zip(1..).map(|(text, n)| title(n, text) + "\n").collect::<String>(),
    );
    ws.call(["run", "--recipe", "chumor", "--offline"]).expect(0);
    ws.call(["review", "export", "screen", "--recipe", "chumor", "--annotator", "a1", "--format", "jsonl"])
        .expect(0);
    let filled: String = ws
        .read("chumor.screen.a1.jsonl")
        .lines()
        .map(|line| {
            let mut row: Value = serde_json::from_str(line).unwrap();
            row["answers"] = json!({ "screen": "keep" });
            format!("{row}\n")
        })
        .collect();
    ws.write("votes.jsonl", filled);
    ws.call(["review", "import", "screen", "--recipe", "chumor", "votes.jsonl"]).expect(0);
    ws.call(["run", "--recipe", "chumor", "--offline"]).expect(0);
    let status = |more: &[&str]| {
        let args = ["status", "--recipe", "chumor", "--json"].iter().chain(more);
        let steps: Vec<Value> = serde_json::from_str(&ws.call(args).expect(0).out).unwrap();
        steps.into_iter().find(|step| step["stage"] == "anonymise").unwrap()
    };
    assert!(status(&[])["outdates"].is_null());
    let kept = ["--set", "anonymise.contacts=\"keep\""];
    assert_eq!(
        status(&kept)["outdates"],
        json!({ "step": "anonymise", "posts": 1, "votes": 1, "replies": 0 })
    );
    let said = ws.call(["status", "--recipe", "chumor"].iter().chain(&kept)).expect(0).out;
    assert!(said.contains("1 post would read otherwise; 1 vote and 0 replies"), "{said}");
    // Nothing was changed by asking, and what is said comes true.
    ws.audit_clean();
    ws.call(["run", "--recipe", "chumor", "--offline"].iter().chain(&kept)).expect(0);
    let told = ws.explain("chumor", "tieba:1");
    assert!(told["way"].to_string().contains("outdated votes"), "{told}");
}
