//! Drafts that are not requested: for steps done by people alone, and those that no ballot would show.

use std::time::Duration;

use serde_json::json;

use crate::generate::{GEN, Server, served};
use crate::harness::Workspace;

fn reply(prompt: &str) -> (&'static str, String) {
    let mark = prompt.chars().map(|c| c as usize).sum::<usize>();
    if prompt.contains("\"wrong\"") {
        let three = ["甲", "乙", "丙"].map(|name| format!("{name}说是{mark}。"));
        ("wrong", json!({ "wrong": three }).to_string())
    } else if prompt.contains("写出正确的解释") {
        ("explanation", format!("这里说的是{mark}，并不合理。"))
    } else {
        ("type", json!({ "type": "推理错误", "reason": "。" }).to_string())
    }
}

#[test]
fn a_step_that_is_skipped_is_asked_of_nobody_and_left_to_people() {
    let server = Server::start(None);
    let ws = served(&server);
    let args = [
        "--recipe",
        GEN,
        "--set",
        "draft.endpoint=loop",
        "--set",
        "draft.skip=[\"screen\", \"translation\"]",
        "--set",
        "review.optional=[\"screen\"]",
    ];
    ws.call(["run"].iter().chain(&args)).expect(0);
    assert_eq!(server.count(), 0);
    let reasons = ws.reasons(GEN);
    assert!(
        !reasons.contains_key("changed/not_drafted") && reasons["held/votes_missing"] > 50,
        "{reasons:?}"
    );
    // People are asked, without a draft on their ballot.
    let result =
        ws.call(["review", "export", "translation", "--format", "jsonl", "--out", "b"].iter().chain(&args));
    let ballot = ws.read(result.expect(0).out.trim());
    assert!(ballot.lines().count() > 50 && !ballot.contains("natural"), "{ballot}");
    ws.audit_clean_with(&args);
    let result = ws.call(["status", "--set", "draft.skip=[\"pairr\"]"]).expect(2);
    assert!(result.err.contains("did you mean \"pair\"?"), "{}", result.err);
}

#[test]
fn what_no_ballot_shows_is_asked_for_where_it_is_wanted() {
    let server = Server::replying(reply, None, Duration::ZERO);
    let ws = served(&server);
    let run = |ws: &Workspace, more: &[&str]| {
        let base = [
            "run",
            "--recipe",
            "flub",
            "--set",
            "draft.endpoint=loop",
            "--set",
            "review.optional=[\"clean\", \"type\"]",
            "--set",
            "review.draft_ahead=[\"explanation\"]",
        ];
        ws.call(base.iter().chain(more)).expect(0);
    };
    run(&ws, &[]);
    let asked = server.take();
    assert!(asked["type"] > 50 && asked["explanation"] > 50 && !asked.contains_key("wrong"), "{asked:?}");
    let reasons = ws.reasons("flub");
    assert!(!reasons.contains_key("changed/not_drafted"), "{reasons:?}");
    // Up to date as it is: nothing is awaited.
    run(&ws, &[]);
    assert_eq!(server.count(), 0);
    run(&ws, &["--set", "draft.unseen=true"]);
    let wrong = server.take();
    assert_eq!(wrong.len(), 1, "{wrong:?}");
    assert_eq!(wrong["wrong"], 3 * asked["explanation"]);
    // Stored replies are used, whether or not they are still wanted.
    run(&ws, &[]);
    assert_eq!(server.count(), 0);
    let shown =
        ws.call(["show", "wrong-candidates", "--recipe", "flub", "--reason", "drafted"]).expect(0).out;
    assert!(shown.contains("甲说是"), "{shown}");
}
