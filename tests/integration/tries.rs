//! `benchmark try` with example replies and votes: what each later step asks and makes of a post, and what is told of lines that
//! cannot be used.

use serde_json::{Value, json};

use crate::harness::{CallResult, Workspace};
use crate::own::example;

const POST: &str = "Which side of a round table is the front of the queue?";
const SQUARE: &str = "Which side of a square table is the front of the queue?";
const HOUSE: &str = "Which side of a round table is the front of the house?";

fn lines(lines: &[Value]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn reply(prompt: &str, reply: impl Into<Value>) -> Value {
    json!({ "template": format!("traps/{prompt}"), "record": "tried:1", "reply": reply.into() })
}

fn vote(item: &str, tempting: u32) -> Value {
    json!({
        "step": "fair", "item": item, "annotator": "annotator-en",
        "answers": { "verdict": "accept", "tempting": tempting },
    })
}

/// The replies that carry the post to its ballot: three models give the same answer, and each is graded three times.
fn replies() -> Vec<Value> {
    let grade = |model: &str, sample: u32| {
        json!({
            "template": "traps/grade", "record": format!("tried:1/{model}"), "sample": sample, "reply": { "noticed": sample == 1 },
        })
    };
    let grades = ["quick", "plain", "careful"].map(|model| [0, 1, 2].map(|sample| grade(model, sample)));
    let mut all = grades.concat();
    all.splice(0..0, [reply("tries", "The side that faces the door.")]);
    all.insert(2, reply("changes", json!({ "edited": [SQUARE, HOUSE] })));
    all
}

fn tried(ws: &Workspace, replies: &[Value], votes: &[Value], more: &[&str]) -> CallResult {
    ws.write("replies.jsonl", lines(replies));
    ws.write("votes.jsonl", lines(votes));
    let args =
        ["benchmark", "try", "traps", "--post", POST, "--replies", "replies.jsonl", "--votes", "votes.jsonl"];
    ws.call(args.iter().chain(more))
}

#[test]
fn every_later_prompt_ballot_option_and_row_follows_from_the_examples() {
    let ws = example("traps");
    let before = ws.tree(".");
    let votes = [vote("tried:1/1", 4), vote("tried:1/2", 2)];
    let out = tried(&ws, &replies(), &votes, &[]).expect(0).out;
    for shown in [
        "── grade asks a model traps/grade about tried:1/quick",
        // The answer of the step before is in the prompt.
        "The side that faces the door.",
        "── review:fair asks people",
        "  item tried:1/2",
        &format!("  change: {HOUSE}"),
        "── options gives",
        "── 1 row at the end",
        "  trap_id: tried:1",
        &format!("  edited: {SQUARE}"),
        "  tempting: 4",
        "  left out: [data] when dropped (not_tempting)",
    ] {
        assert!(out.contains(shown), "{shown}: {out}");
    }
    // Each of the three models is named, as in a run.
    for model in ["quick", "plain", "careful"] {
        assert!(out.contains(&format!("about tried:1/{model}")), "{model}: {out}");
    }
    // Nothing in the workspace changed, and nobody voted there.
    ws.remove("replies.jsonl");
    ws.remove("votes.jsonl");
    crate::harness::assert_same(&before, &ws.tree("."), "tried");

    let told = tried(&ws, &replies(), &votes, &["--json"]).expect(0).out;
    let parts: Vec<Value> = serde_json::from_str(&told).unwrap();
    let row = &parts.last().unwrap()["rows"][0];
    assert_eq!(
        (&row["trap"], &row["edited"], &row["standing"]),
        (&json!(POST), &json!(SQUARE), &json!("confirmed"))
    );
    assert_eq!(row["options"].as_array().unwrap().len(), 2);
}

#[test]
fn without_replies_it_ends_where_it_waits() {
    let ws = example("traps");
    let out = tried(&ws, &[], &[], &[]).expect(0).out;
    assert!(out.contains("── tries asks a model traps/tries about tried:1"), "{out}");
    assert!(out.contains("has no reply to traps/tries for tried:1"), "what the next line is about: {out}");
    assert!(out.contains("── grade asks a model\nis not reached by this post"), "{out}");
    // Without either flag everything is as before.
    let plain = ws.call(["benchmark", "try", "traps", "--post", POST]).expect(0).out;
    assert!(!plain.contains("tried:1"), "{plain}");
}

#[test]
fn replies_that_cannot_be_used_are_told_with_their_lines() {
    let ws = example("traps");
    let mut wrong = replies();
    wrong[2] =
        reply("changes", json!({ "edited": ["Quite another question, which has nothing to do with it?"] }));
    wrong.push(reply("chanegs", "x"));
    wrong.push(json!({ "template": "traps/tries", "record": "tried:2", "reply": "x" }));
    wrong.push(reply("tries_zh", "x"));
    let told = tried(&ws, &wrong, &[], &[]).expect(3).err;
    for what in [
        "replies.jsonl:3: traps/changes about tried:1: The first edit changes more than twelve characters.",
        "replies.jsonl:12: unknown prompt \"traps/chanegs\"\n  hint: did you mean \"traps/changes\"?",
        "replies.jsonl:13: unknown record \"tried:2\"\n  hint: traps/tries is asked about tried:1; --id gives the post another name",
        "replies.jsonl:14: traps/tries_zh was not asked",
    ] {
        assert!(told.contains(what), "{what}: {told}");
    }
    ws.write("replies.jsonl", "{\"template\": \"traps/tries\"}\n");
    let told =
        ws.call(["benchmark", "try", "traps", "--post", POST, "--replies", "replies.jsonl"]).expect(2).err;
    assert!(told.contains("replies.jsonl:1:") && told.contains("hint: a line is"), "{told}");
}

#[test]
fn votes_that_cannot_be_used_are_told_with_their_lines() {
    let ws = example("traps");
    let mut wrong = vec![vote("tried:1/1", 4), vote("tried:1/9", 4)];
    let with = |key: &str, value: Value| {
        let mut line = vote("tried:1/2", 4);
        line[key] = value;
        line
    };
    wrong.push(with("step", json!("fiar")));
    wrong.push(with("answers", json!({ "verdict": "acept", "tempting": 4 })));
    wrong.push(with("answers", json!({ "verdict": "accept", "temptin": 4 })));
    wrong.push(with("annotator", json!("nobody")));
    wrong.push(with(
        "answers",
        json!({ "verdict": "rewrite", "edited": "Quite another question, which is it?", "tempting": 3 }),
    ));
    wrong.push(with("item", Value::Null));
    wrong.push(with("round", json!("votes")));
    let result = tried(&ws, &replies(), &wrong, &[]).expect(3);
    for what in [
        "votes.jsonl: line 2: unknown item \"tried:1/9\"",
        "votes.jsonl: line 3: unknown ballot \"fiar\"\n  hint: did you mean \"fair\"?",
        "votes.jsonl: line 4: verdict: ",
        "votes.jsonl: line 5: unknown field \"temptin\"\n  hint: did you mean \"tempting\"?",
        "votes.jsonl: line 6: annotator: ",
        "votes.jsonl: line 8: `item` is missing, of which there are several\n  hint: tried:1/1, tried:1/2",
        "votes.jsonl: line 9: unknown round \"votes\"\n  hint: did you mean \"vote\"?",
    ] {
        assert!(result.err.contains(what), "{what}: {}", result.err);
    }
    let broken = result.err.lines().find(|line| line.contains("line 7: ")).unwrap_or_default();
    assert!(broken.contains("Change at least one character and at most twelve."), "{}", result.err);
    // The line that can be used is.
    assert!(result.out.contains("── 1 row at the end"), "{}", result.out);
    // A ballot that is not reached says so.
    let told = tried(&ws, &replies()[..1], &[vote("tried:1/1", 4)], &[]).expect(3).err;
    assert!(told.contains("votes.jsonl: line 1: traps fair was not reached in the round `vote`"), "{told}");
    let told = ws.call(["benchmark", "try", "traps", "--post", POST, "--votes", "votes.csv"]).expect(2).err;
    assert!(told.contains("expected JSON Lines"), "{told}");
}

/// A riddle with an answer, three voters, a second review and options of records that the folder declares, under a name of its own.
#[test]
fn a_riddle_under_another_name_goes_through_several_ballots() {
    let ws = example("brain-twisters");
    let reply = json!({
        "template": "brain-twisters/ideas", "record": "riddle:1",
        "reply": { "wrong": ["A ship.", "A map.", "A song."], "hint": "It is tuned." },
    });
    ws.write("replies.jsonl", lines(&[reply]));
    let fair = ["annotator-1", "annotator-2", "annotator-3"]
        .map(|who| json!({ "step": "fair", "annotator": who, "answers": { "fair": "yes" } }));
    let more = json!({ "step": "review:more", "annotator": "annotator-2", "answers": { "wrong_4": "A clock.", "wrong_5": "A river." } });
    let best = json!({ "step": "best", "annotator": "senior-1", "answers": { "wrong": "1; 2; 4", "verdict": "accept" } });
    ws.write("votes.jsonl", lines(&[&fair[..], &[more, best]].concat()));
    let args = [
        "benchmark",
        "try",
        "brain-twisters",
        "--post",
        "What has keys and opens no door?",
        "--answer",
        "A piano.",
        "--id",
        "riddle:1",
        "--replies",
        "replies.jsonl",
        "--votes",
        "votes.jsonl",
    ];
    let out = ws.call(args).expect(0).out;
    let row = |out: &str| out.split_once("at the end").map(|(_, row)| row.to_owned());
    assert_eq!(row(&ws.call(args).expect(0).out), row(&out), "the numbers that people pick by stay");
    assert!(out.contains("── ideas asks a model brain-twisters/ideas about riddle:1"), "{out}");
    assert!(out.contains("A clock.") && out.contains("── options gives"), "{out}");
    assert!(
        out.contains("── 1 row at the end") && out.contains("  riddle: What has keys and opens no door?"),
        "{out}"
    );
    let told = ws.call([
        "benchmark",
        "try",
        "brain-twisters",
        "--post",
        "x",
        "--id",
        "riddle",
        "--votes",
        "votes.jsonl",
    ]);
    assert!(told.expect(2).err.contains("--id riddle: expected SITE:NUMBER"));
}
