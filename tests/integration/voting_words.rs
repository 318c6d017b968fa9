//! One name for a reason and for verdicts on pairs, and agreement where the guide says it is.

use std::fs;

use serde_json::{Value, json};

use crate::browser::made;
use crate::harness::Workspace;

/// Two people's answers to the first items of a step: the first answers everything with `answer`, the second the
/// first item with `other`.
fn voted(workspace: &Workspace, step: &str, field: &str, [answer, other]: [&str; 2]) {
    let path = |who: &str| format!("ballots/ruozhibench-gen.{step}.{who}.jsonl");
    let people = [("annotator-1", answer), ("annotator-2", other)];
    // What one of them decided is on no sheet that is written later.
    for (who, _) in people {
        let place =
            ["--recipe", "ruozhibench-gen", "--annotator", who, "--format", "jsonl", "--out", "ballots"];
        workspace.call(["review", "export", step].iter().chain(&place)).expect(0);
    }
    for (who, first) in people {
        let path = path(who);
        let mut lines: Vec<Value> =
            workspace.read(&path).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        // Everybody has an order of their own.
        lines.sort_by_key(|line| line["item"].as_str().unwrap().to_owned());
        for (at, line) in lines.iter_mut().take(3).enumerate() {
            line["answers"][field] = json!(if at == 0 { first } else { answer });
        }
        let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
        fs::write(workspace.path(&path), lines.join("\n")).unwrap();
        let import = ["review", "import", step, path.as_str(), "--recipe", "ruozhibench-gen"];
        workspace.call(import).expect(0);
    }
}

#[test]
fn status_shows_agreement_and_why_a_coefficient_is_not_defined() {
    let workspace = made();
    let status = || workspace.call(["review", "status", "--recipe", "ruozhibench-gen"]).expect(0).out;
    assert!(!status().contains("alpha"), "a sample's votes are nobody's: {}", status());
    voted(&workspace, "translation", "verdict", ["accept", "accept"]);
    let alike = status();
    assert!(
        alike.contains("alpha not defined") && alike.contains("every vote gives the same answer"),
        "{alike}"
    );
}

#[test]
fn a_reason_and_a_verdict_have_one_name_and_the_old_ones_stay() {
    let workspace = made();
    let posts: Vec<String> = workspace
        .posts("chumor")
        .iter()
        .filter_map(|post| post["id"].as_str().map(str::to_owned))
        .take(2)
        .collect();
    let [one, other] = &posts[..] else { panic!("two posts are needed: {posts:?}") };
    let decide = |verb: &str, reason: &str| {
        workspace.call([
            "decide",
            verb,
            one,
            other,
            "--recipe",
            "chumor",
            "--by",
            "meta-1",
            reason,
            "two jokes",
        ])
    };
    decide("different", "--why").expect(0);
    let lines = || workspace.read("raw/decisions/000001.jsonl");
    assert_eq!((lines().lines().count(), lines().contains("\"two\"")), (1, true), "{}", lines());
    let again = decide("two", "--reason").expect(0);
    assert!(again.out.contains("already been decided"), "{}", again.out);
    decide("same", "--why").expect(0);
    assert!(lines().contains("\"one\""), "{}", lines());

    // An adjudication takes its reason under the same name.
    let adjudicate = |reason: &[&str]| {
        let base =
            ["review", "adjudicate", "screen", "--recipe", "chumor", "--item", "none", "--by", "meta-1"];
        workspace.call(base.iter().chain(reason))
    };
    for reason in [["--why", "x"], ["--answer", "reason=x"]] {
        let result = adjudicate(&reason);
        assert!(result.err.contains("none is not an item of screen"), "{}", result.err);
    }
}
