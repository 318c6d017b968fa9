//! What `status` shows before a run that changes texts, and how votes are carried over to the new ones.

use serde_json::{Value, json};

use crate::browser::{Browser, Server, hidden};
use crate::harness::{WITHOUT_WORDNET, Workspace, source, title};

/// A workspace whose posts an annotator and a curator voted to keep.
fn voted(texts: &[&str]) -> Workspace {
    let ws = Workspace::with(
        &(source("dump", "leymore-titles", "raw/dumps/dump")
            + "[[annotator]]\nname = \"a1\"\nrole = \"annotator\"\n"
            + "[[annotator]]\nname = \"meta-1\"\nrole = \"meta\"\n"),
    );
    let rows = texts.iter().zip(1..).map(|(text, n)| title(n, text) + "\n");
    ws.write("raw/dumps/dump", rows.collect::<String>());
    ws.call(["run", "--recipe", "chumor", "--offline"]).expect(0);
    ws.call(["review", "export", "screen", "--recipe", "chumor", "--annotator", "a1", "--format", "jsonl"])
        .expect(0);
    let filled = |line: &str| {
        let mut row: Value = serde_json::from_str(line).unwrap();
        row["answers"] = json!({ "screen": "keep" });
        format!("{row}\n")
    };
    let filled: String = ws.read("chumor.screen.a1.jsonl").lines().map(filled).collect();
    ws.write("votes.jsonl", filled);
    ws.call(["review", "import", "screen", "--recipe", "chumor", "votes.jsonl"]).expect(0);
    ws.call(["run", "--recipe", "chumor", "--offline"]).expect(0);
    ws
}

#[test]
fn votes_are_brought_over_where_somebody_saw_both_texts() {
    let ws = voted(&["雨伞打13800138000会有人接吗？", "门铃半夜睡不睡觉？", "冰箱13900139000打喷嚏？"]);
    let kept = ["--set", "anonymise.contacts=\"keep\""];
    let run = || ws.call(["run", "--recipe", "chumor", "--offline"].iter().chain(&kept)).expect(0);
    let confirmed = || -> u64 {
        let result =
            ws.call(["review", "status", "--recipe", "chumor", "--json"].iter().chain(&kept)).expect(0);
        let steps: Vec<Value> = serde_json::from_str(&result.out).unwrap();
        steps.iter().find(|step| step["step"] == "screen").unwrap()["confirmed"].as_u64().unwrap()
    };
    let carry = |args: &[&str]| {
        ws.call(["review", "carry", "screen", "--recipe", "chumor"].iter().chain(args).chain(&kept))
    };
    let before = ws.read("raw/votes/000001.jsonl");
    run();
    assert_eq!(confirmed(), 1);
    let listed = carry(&[]).expect(0).out;
    for word in ["雨伞打", "13800138000", "a1 (vote): screen=keep", "2 items with 2 outdated votes"] {
        assert!(listed.contains(word), "no {word:?}: {listed}");
    }

    // Who may do it, and with a reason.
    let one = ["--item", "tieba:1"];
    for (by, why, code) in
        [("a1", "the number is back", 2), ("meta-1", " ", 2), ("meta-1", "the number is back", 0)]
    {
        carry(&[&one[..], &["--by", by, "--why", why]].concat()).expect(code);
    }
    carry(&[&one[..], &["--by", "meta-1", "--why", "again"]].concat()).expect(2);
    run();
    assert_eq!(confirmed(), 2);
    let actual = ws.call(["explain", "tieba:1", "--recipe", "chumor"].iter().chain(&kept)).expect(0).out;
    assert!(actual.contains("carried over from another text by meta-1: the number is back"), "{actual}");
    // Stored votes are unchanged.
    let after = ws.read("raw/votes/000001.jsonl");
    assert!(after.starts_with(&before) && after.lines().count() == 4, "{after}");
    let vote: Value = serde_json::from_str(after.lines().last().unwrap()).unwrap();
    assert_eq!((&vote["annotator"], &vote["carried"]["by"]), (&json!("a1"), &json!("meta-1")));

    // The other by a table, which is about the text it shows.
    carry(&["--out", "carry.csv"]).expect(0);
    let table = ws.read("carry.csv");
    assert_eq!(table.lines().count(), 2, "{table}");
    let columns: Vec<&str> = table.lines().next().unwrap().split(',').collect();
    let at = columns.iter().position(|column| *column == "carry").unwrap();
    let row: Vec<&str> = table.lines().nth(1).unwrap().split(',').collect();
    let fill = |word: &str| {
        let mut row = row.clone();
        row[at] = word;
        ws.write("filled.csv", format!("{}\r\n{}\r\n", table.lines().next().unwrap(), row.join(",")));
    };
    let take = ["filled.csv", "--by", "meta-1", "--why", "the number is back"];
    fill("perhaps");
    assert!(carry(&take).expect(3).err.contains("`carry` must be yes or no"));
    fill("yes");
    assert!(carry(&take).expect(0).out.contains("1 vote carried over"));
    assert!(carry(&take).expect(3).err.contains("have changed since"));
    run();
    assert_eq!(confirmed(), 3);
    ws.audit_clean_with(&["--recipe", "chumor", kept[0], kept[1]]);

    // And back.
    carry(&["--undo", "--item", "tieba:1", "--by", "meta-1", "--why", "a slip"]).expect(0);
    carry(&["--undo", "--item", "tieba:2", "--by", "meta-1", "--why", "a slip"]).expect(2);
    run();
    assert_eq!(confirmed(), 2);
    assert!(carry(&[]).expect(0).out.contains("1 item with 1 outdated vote"));
    // Derived files follow from raw/ including what was carried over.
    let all = ws.derived();
    ws.remove_derived();
    run();
    crate::harness::assert_same(&all, &ws.derived(), "with votes that were brought over");
}

#[test]
fn votes_are_brought_over_on_a_page_that_shows_both_texts() {
    let ws = voted(&["雨伞打13800138000会有人接吗？", "门铃半夜睡不睡觉？"]);
    let settings = ws.read("pipeline.toml");
    ws.write("pipeline.toml", settings + "[anonymise]\ncontacts = \"keep\"\n");
    ws.call(["run", "--recipe", "chumor", "--offline"]).expect(0);
    let confirmed = || -> u64 {
        let result = ws.call(["review", "status", "--recipe", "chumor", "--json"]).expect(0);
        let steps: Vec<Value> = serde_json::from_str(&result.out).unwrap();
        steps.iter().find(|step| step["step"] == "screen").unwrap()["confirmed"].as_u64().unwrap()
    };
    assert_eq!(confirmed(), 1);
    let server = Server::start(&ws, &[]);
    let place = "/curate/chumor/screen/carry";
    assert!(server.get("/curate/chumor/screen").body.contains(place));
    let mut browser = Browser::default();
    let page = browser.get(&server, place).body;
    for word in ["13800138000", "雨伞打", "a1 (vote): screen=keep", "<del>", "<ins>"] {
        assert!(page.contains(word), "no {word:?}: {page}");
    }
    let (csrf, old, new) = (hidden(&page, "csrf"), hidden(&page, "old"), hidden(&page, "new"));
    let mut send = |by: &str, why: &str, new: &str, undo: &str| {
        let fields = [
            ("csrf", csrf.as_str()),
            ("item", "tieba:1"),
            ("old", &old),
            ("new", new),
            ("as", by),
            ("why", why),
            ("undo", undo),
        ];
        browser.post(&server, place, &fields).status
    };
    assert_eq!(send("a1", "the number is back", &new, ""), 403);
    assert_eq!(send("meta-1", " ", &new, ""), 422);
    assert_eq!(send("meta-1", "the number is back", &old, ""), 409);
    assert_eq!(send("meta-1", "the number is back", &new, ""), 303);
    assert_eq!(confirmed(), 2);
    let vote = ws.read("raw/votes/000001.jsonl");
    let vote: Value = serde_json::from_str(vote.lines().last().unwrap()).unwrap();
    assert_eq!((&vote["annotator"], &vote["carried"]["by"]), (&json!("a1"), &json!("meta-1")));
    assert_eq!(send("meta-1", "again", &new, ""), 409, "it stands there no longer");
    assert_eq!(send("meta-1", "a slip", &new, "1"), 303);
    assert_eq!(confirmed(), 1);
}

#[test]
fn status_says_how_many_votes_a_changed_rule_would_outdate() {
    let ws = voted(&["雨伞打13800138000会有人接吗？", "门铃半夜睡不睡觉？", "冰箱里的灯会不会打喷嚏？"]);
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
    let result = ws.call(["status", "--recipe", "chumor"].iter().chain(&kept)).expect(0).out;
    assert!(result.contains("outdates texts of 1 post; 1 vote and 0 replies"), "{result}");
    assert!(!ws.exists("raw/seen"));
    // The question changed nothing, and the prediction is correct.
    ws.audit_clean();
    ws.call(["run", "--recipe", "chumor", "--offline"].iter().chain(&kept)).expect(0);
    let actual = ws.explain("chumor", "tieba:1");
    assert!(actual["way"].to_string().contains("outdated votes"), "{actual}");
}

#[test]
fn status_says_how_many_votes_on_puzzles_a_changed_rule_would_outdate() {
    let ws = Workspace::with(
        &(source("riddles", "puzzles", "raw/dumps/riddles.jsonl")
            + "[[annotator]]\nname = \"a1\"\nrole = \"annotator\"\n"
            + WITHOUT_WORDNET),
    );
    let riddle = |id: u64, question: &str| json!({ "id": id, "question": question, "answer": "A swallow." });
    let riddles = [
        riddle(1, "Which bird answers letters to anna.swift@gmail.com at every bite?"),
        riddle(2, "Which bird goes down with every bite?"),
    ];
    ws.write("raw/dumps/riddles.jsonl", riddles.map(|line| format!("{line}\n")).concat());
    let run = |more: &[&str]| {
        ws.call(["run", "--recipe", "brainteaser", "--offline"].iter().chain(more)).expect(0);
    };
    run(&[]);
    let to = ["text", "--recipe", "brainteaser"];
    let export = ["--annotator", "a1", "--format", "jsonl"];
    ws.call(["review", "export"].iter().chain(&to).chain(&export)).expect(0);
    let filled = |line: &str| {
        let mut row: Value = serde_json::from_str(line).unwrap();
        row["answers"] = json!({ "verdict": "accept" });
        format!("{row}\n")
    };
    let filled: String = ws.read("brainteaser.text.a1.jsonl").lines().map(filled).collect();
    ws.write("votes.jsonl", filled);
    ws.call(["review", "import"].iter().chain(&to).chain(&["votes.jsonl"])).expect(0);
    run(&[]);
    let kept = ["--set", "anonymise.contacts=\"keep\""];
    let asked = ["status", "--recipe", "brainteaser", "--json"];
    let result: Vec<Value> = serde_json::from_str(&ws.call(asked.iter().chain(&kept)).expect(0).out).unwrap();
    let step = result.iter().find(|step| step["stage"] == "anonymise").unwrap();
    assert_eq!(step["outdates"], json!({ "step": "anonymise", "posts": 1, "votes": 1, "replies": 0 }));
    // The prediction is correct, and the vote is carried over by a person who saw both texts.
    run(&kept);
    let listed = ws.call(["review", "carry"].iter().chain(&to).chain(&kept)).expect(0).out;
    assert!(
        listed.contains("anna.swift@gmail.com") && listed.contains("1 item with 1 outdated vote"),
        "{listed}"
    );
}
