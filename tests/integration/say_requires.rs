//! `requires` with `[fields]` of the folder, and of replies that are about several records: what is required holds of each, or it
//! is refused with a sentence.

use serde_json::json;

use crate::harness::Workspace;
use crate::own::example;

const NAME: &str = "traps";
const TOML: &str = "benchmarks/traps/benchmark.toml";
const BALLOTS: &str = "benchmarks/traps/ballots.toml";
const LIMIT: &str = "Change at least one character and at most twelve.";

/// The example with fields of its own, and changes of its files.
fn changed(fields: &str, changes: &[(&str, &str, &str)]) -> Workspace {
    let ws = example(NAME);
    for (file, from, to) in changes {
        let text = ws.read(file);
        assert!(text.contains(from), "{file}: {from}");
        ws.write(file, text.replacen(from, to, 1));
    }
    ws.write(TOML, ws.read(TOML).replacen("[fields]\n", &format!("[fields]\n{fields}"), 1));
    ws
}

#[test]
fn a_field_of_the_folder_may_be_required_where_it_can_be_computed() {
    let ws = changed(
        "most = \"[12, characters(text)] | max\"\ndistance = \"edits(text, fair.edited)\"\n",
        &[
            (TOML, "edits(text, drafted.edited[0]) <= 12", "edits(text, drafted.edited[0]) <= most"),
            (
                BALLOTS,
                "edits(text, fair.edited) >= 1 and edits(text, fair.edited) <= 12",
                "distance >= 1 and distance <= 12",
            ),
        ],
    );
    ws.call(["benchmark", "check", NAME]).expect(0);
    ws.run();
    let reasons = ws.reasons(NAME);
    assert_eq!(reasons["held/votes_missing"], 6, "the drafts are within the field: {reasons:?}");
    // The ballot refuses what its field forbids, and takes what it allows.
    ws.call(["review", "assign", "fair", "--recipe", NAME]).expect(0);
    let who = "annotator-en";
    let export = ["review", "export", "fair", "--recipe", NAME, "--annotator", who, "--format", "jsonl"];
    ws.call(export).expect(0);
    let sheet = format!("{NAME}.fair.{who}.jsonl");
    let blank = ws.read(&sheet);
    let import = |answers: serde_json::Value| {
        let fill = |line: &str| {
            let mut row: serde_json::Value = serde_json::from_str(line).unwrap();
            row["answers"].as_object_mut().unwrap().extend(answers.as_object().unwrap().clone());
            format!("{row}\n")
        };
        ws.write(&sheet, blank.lines().map(fill).collect::<String>());
        let result = ws.call(["review", "import", "fair", &sheet, "--recipe", NAME]);
        (result.code, result.out + &result.err)
    };
    let far =
        json!({ "verdict": "rewrite", "edited": "Quite another question, which is long?", "tempting": 3 });
    let (code, told) = import(far);
    assert!(code != 0 && told.contains(LIMIT), "{told}");
    let (code, told) = import(json!({ "verdict": "accept", "tempting": 3 }));
    assert_eq!(code, 0, "{told}");
}

#[test]
fn a_field_over_what_is_not_there_yet_is_refused() {
    let told = |fields: &str, changes: &[(&str, &str, &str)]| {
        let ws = changed(fields, changes);
        let checked = ws.call(["benchmark", "check", NAME]).expect(2);
        checked.out + &checked.err
    };
    let first = (TOML, "edits(text, drafted.edited[0]) <= 12", "edits(text, first) <= 12");
    let own = told("first = \"changes.edited[0]\"\n", &[first]);
    assert!(own.contains("the field \"first\" is over what is not there when this is required"), "{own}");
    assert!(own.contains("unknown name \"changes\"") && own.contains("benchmark.toml:"), "{own}");
    let drafted = told("first = \"drafted.edited[0]\"\n", &[first]);
    assert!(drafted.contains("unknown name \"drafted\""), "{drafted}");
    let tally = (BALLOTS, "edits(text, fair.edited) >= 1", "votes >= 1");
    let votes = told("votes = \"fair.tally.tempting['5']\"\n", &[tally]);
    assert!(votes.contains("the field \"votes\" is over what is not there when this is required"), "{votes}");
}

/// A pack may have one reply for several records: it is the draft of those whose requirements it meets.
#[test]
fn a_reply_to_several_records_is_held_against_each() {
    let ws = changed("", &[(TOML, "[step.changes] # edits", "[step.changes]\npack_id = \"'all'\" # edits")]);
    let edited = "Which side of a square table is the front of the queue?";
    let line = json!({ "template": "traps/changes", "record": "all", "reply": { "edited": [edited] } });
    ws.write("raw/sample/replies.jsonl", ws.read("raw/sample/replies.jsonl") + &format!("{line}\n"));
    ws.call(["run", "--offline"]);
    let ended = |id: &str| {
        let explained = ws.explain(NAME, id);
        let mut way = explained["way"].as_array().unwrap().iter();
        way.rfind(|passage| passage["stage"] == "changes").cloned().unwrap_or_default()
    };
    assert_eq!(ended("en:1")["outcome"], "changed", "{}", ended("en:1"));
    let other = ended("en:3");
    assert_eq!(other["outcome"], "failed", "{other}");
    assert!(
        other["evidence"].as_str().unwrap().contains("The first edit changes more than twelve characters."),
        "{other}"
    );
    assert_eq!(ws.reasons(NAME)["failed/reply_unparseable"], 1, "{:?}", ws.reasons(NAME));
}
