//! `raw merge`: workspaces that diverged are merged, once, and contradictions wait for a person.

use serde_json::{Value, json};

use crate::harness::{CallResult, Workspace, title};
use crate::reviewed::{GEN, Reviewed, item};

fn merge(ws: &Workspace, other: &Workspace, more: &[&str]) -> CallResult {
    ws.call(["raw", "merge", other.root().to_str().unwrap()].iter().chain(more))
}

fn people() -> Reviewed {
    let plain = "3(Erroneous Assumption), 5(Absurd Imagination)";
    let one = |zh, en, why| item(zh, en, why, None, plain);
    let mut people = Reviewed::new();
    people.add(&[
        one("风筝断了线会不会想家？", "Does a kite miss home once its string breaks?", "Kites miss nothing."),
        one("枕头晚上枕着什么睡？", "What does a pillow rest on at night?", "A pillow does not sleep."),
    ]);
    people
}

fn screen(people: &Reviewed, who: &str, zh: &str, why: &str) {
    let answers = if why == "keep" { json!("keep") } else { json!([why]) };
    people.vote_again("screen", who, zh, &json!({ "screen": answers }));
}

#[test]
fn votes_of_two_machines_come_together_and_what_contradicts_is_a_dispute() {
    const KITE: &str = "风筝断了线会不会想家？";
    const PILLOW: &str = "枕头晚上枕着什么睡？";
    let here = people();
    let there = here.copy();
    screen(&here, "annotator-1", KITE, "harmful");
    screen(&there, "annotator-1", KITE, "untranslatable");
    screen(&there, "annotator-2", PILLOW, "untranslatable");
    screen(&there, "annotator-3", PILLOW, "untranslatable");

    let look = merge(&here.ws, &there.ws, &["--dry-run"]).expect(0).out;
    assert!(look.contains("nothing was copied") && look.matches("\nvote ").count() + 1 == 3, "{look}");
    let result = merge(&here.ws, &there.ws, &[]).expect(0).out;
    let contradicting: Vec<&str> = result.lines().filter(|line| line.contains("contradicts")).collect();
    assert_eq!(contradicting.len(), 1, "{result}");
    assert!(
        contradicting[0].contains("annotator-1") && contradicting[0].contains("untranslatable"),
        "{result}"
    );
    assert!(merge(&here.ws, &there.ws, &[]).expect(0).out.contains("nothing is new there"));
    here.ws.call(["fsck"]).expect(0);

    // Neither of the two answers takes precedence.
    here.run();
    let disputes = here.ws.call(["review", "adjudicate", "screen", "--recipe", GEN]).expect(0).out;
    assert!(
        disputes.contains("one voter gave two different answers") && disputes.contains("harmful"),
        "{disputes}"
    );
    here.ws.audit_clean();

    // The person who gave both chooses one.
    screen(&here, "annotator-1", KITE, "keep");
    here.run();
    let disputes = here.ws.call(["review", "adjudicate", "screen", "--recipe", GEN]).expect(0).out;
    assert!(!disputes.contains("one voter gave two different answers"), "{disputes}");
    assert_eq!(here.ws.candidates(GEN).len(), 1);

    // In the other direction everything is copied, and both workspaces are equal.
    merge(&there.ws, &here.ws, &[]).expect(0);
    there.run();
    assert_eq!(there.ws.candidates(GEN), here.ws.candidates(GEN));
    assert!(merge(&there.ws, &here.ws, &[]).expect(0).out.contains("nothing is new there"));
}

const SETTINGS: &str = r#"
version = 1

[[source]]
name = "posts"
kind = "leymore-titles"
path = "raw/dumps/*.json"
licence = "CC0-1.0"

[[annotator]]
name = "meta-1"
role = "meta"
languages = ["zh", "en"]
"#;

#[test]
fn decisions_withdrawals_and_archives_of_two_machines_come_together() {
    let here = Workspace::with(SETTINGS);
    let posts =
        [(1, "云会恐高吗？"), (2, "镜子会不会看腻了我？"), (3, "影子会不会觉得累？"), (4, "雪人怕不怕冷？")];
    let dump: String = posts.iter().map(|(id, text)| title(*id, text) + "\n").collect();
    here.write("raw/dumps/1.json", dump);
    let run = |ws: &Workspace| drop(ws.call(["run", "--recipe", "flub", "--offline"]).expect(0));
    run(&here);
    let there = here.copy();
    let decide = |ws: &Workspace, args: &[&str]| {
        drop(
            ws.call(["decide"].iter().chain(args).chain(&["--by", "meta-1", "--why", "read twice"]))
                .expect(0),
        );
    };
    decide(&here, &["hold", "tieba:1"]);
    decide(&there, &["drop", "tieba:1"]);
    decide(&there, &["drop", "tieba:2"]);
    there.call(["withdraw", "tieba:3", "--reason", "its author asked"]).expect(0);
    there.write("raw/warc/ba/00001.warc.gz", "an archive");
    there.write("raw/dumps/2.json", title(9, "灯会不会怕黑？"));
    there.write("raw/replies/batches.jsonl", "{\"batch\":\"1-2-0\",\"endpoint\":\"mine\",\"at_ms\":1}\n");

    let result = merge(&here, &there, &[]).expect(0).out;
    for word in [
        "drop tieba:2",
        "contradicts one in this workspace",
        "1 withdrawal",
        "raw/warc/ba/00001.warc.gz: new",
    ] {
        assert!(result.contains(word), "no {word:?}: {result}");
    }
    assert!(result.contains("not copied: raw/dumps/2.json is not here"), "{result}");
    assert!(result.contains("1 of its batches are on their way"), "{result}");
    assert_eq!(here.read("raw/warc/ba/00001.warc.gz"), "an archive");
    assert!(merge(&here, &there, &[]).expect(0).out.starts_with("nothing is new there"));

    run(&here);
    let outcome = |id: &str| {
        let way = here.explain("flub", id)["way"].as_array().cloned().unwrap();
        way.last().map(|last| last["outcome"].to_string()).unwrap_or_default()
    };
    assert!(outcome("tieba:1").contains("held"), "what was decided here holds: {}", outcome("tieba:1"));
    assert!(outcome("tieba:2").contains("dropped"), "{}", outcome("tieba:2"));
    let list = here.call(["decide", "list", "tieba:1"]).expect(0).out;
    assert!(list.contains("contradicts a decision of this one"), "{list}");
    assert!(here.call(["explain", "tieba:3"]).out.contains("withdrawn"));
    // The next decision settles it, whether or not it is the same as before.
    decide(&here, &["drop", "tieba:1"]);
    run(&here);
    assert!(outcome("tieba:1").contains("dropped"), "{}", outcome("tieba:1"));
    here.audit_clean();
}

#[test]
fn what_is_no_workspace_or_damaged_is_taken_over_by_nobody() {
    let here = people();
    let there = here.copy();
    screen(&there, "annotator-2", "枕头晚上枕着什么睡？", "untranslatable");
    let empty = Workspace::folder();
    assert!(merge(&here.ws, &empty, &[]).expect(2).err.contains("is not a workspace"));
    assert!(merge(&here.ws, &here.ws, &[]).expect(2).err.contains("this workspace itself"));
    let votes = there.ws.read("raw/votes/000001.jsonl");
    there.ws.write("raw/votes/000001.jsonl", votes.replacen("untranslatable", "unharmful", 1));
    let before = here.ws.bytes("raw/votes/000001.jsonl");
    let result = merge(&here.ws, &there.ws, &[]).expect(4);
    assert!(result.err.contains("fsck"), "{}", result.err);
    assert_eq!(before, here.ws.bytes("raw/votes/000001.jsonl"));
    // Withdrawals are hashes: under another salt they match nothing.
    there.ws.write("raw/votes/000001.jsonl", votes);
    there.ws.call(["withdraw", "风筝断了线会不会想家？", "--text", "--reason", "its author asked"]).expect(0);
    there.ws.write("raw/salt", "11".repeat(32));
    let result = merge(&here.ws, &there.ws, &["--json"]).expect(3);
    let actual: Value = serde_json::from_str(&result.out).unwrap();
    assert_eq!(actual["votes"].as_array().unwrap().len(), 1, "{actual}");
    assert!(result.err.contains("another salt"), "{}", result.err);
}
